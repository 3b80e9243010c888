"""What the sentences of chapter 18 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    from inspect import signature

    def grads(edge):
        """x.grad and w.grad of y = (w·x)² + x at w = 2, x = 3, with 0 in place of what flows along one edge."""
        zero = (lambda g: g * 0).__call__
        x, w = torch.tensor(3.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
        to = {"x, by the product": x * 1, "w": w * 1, "x, by the sum": x * 1}
        u = to["w"] * to["x, by the product"]
        q = u**2
        for tensor, name in ((u, "u"), (q, "q"), *((t, name) for name, t in to.items())):
            if name == edge:
                tensor.register_hook(zero)
        (q + to["x, by the sum"]).backward()
        return x.grad.item(), w.grad.item()

    edges = "q", "u", "x, by the product", "w", "x, by the sum"
    assert [e for e in edges if grads(e)[0] == 1] == ["q", "u", "x, by the product"]      # three edges
    assert [e for e in edges if grads(e)[1] == grads(None)[1]] == ["x, by the product", "x, by the sum"]      # two edges
    assert 2 * 3**2 * 2 == 36                 # what flows along u → x in the picture, where x = 2 and w = 3

    inf = torch.tensor(float("inf"))
    assert all(t.isnan() for t in (0 * inf, inf - inf, torch.zeros(()) / 0, torch.log(-torch.ones(())), torch.sqrt(-torch.ones(()))))
    assert inf + 1 == inf and 1 / inf == 0
    assert signature(torch.autograd.gradcheck).parameters["eps"].default == 0.000001

    assert fatal == 1190 and fatal - 1 == 1189 and 3.5 < 12 * fatal / 3600 < 4.5       # four hours
    assert (np.float32(1) + np.float32(2.0**-24) == 1) and np.float32(1) + np.float32(2.0**-23.9) > 1
    edge = 24 * np.log(2)
    before, after = torch.sigmoid(torch.tensor([edge - 0.01, edge + 0.001], dtype=torch.float32)).tolist()
    assert before < 1 == after and abs(edge - 16.636) < 1e-3
    assert max(largest[:-1]) < edge + 0.01 and len(largest) == 1189 and largest[-1] > edge - 0.01

    z = torch.tensor(16.64, requires_grad=True)                # sure, and wrong: with a tiny number in the logarithm nothing is learnt
    (-torch.log(1 - torch.sigmoid(z) + 1e-12)).backward()
    assert z.grad == 0
    z = torch.tensor(16.64, requires_grad=True)
    nn.functional.binary_cross_entropy_with_logits(z, torch.tensor(0.0)).backward()
    assert z.grad > 0.99

    assert nn.init.calculate_gain("tanh") == 5 / 3
    for gain, spread, steep in ((0.5, 0.02, 10), (4.0, 0.8, 1)):
        outputs, gradients = listen(deep(gain), batch)
        assert outputs[5].std() < spread if gain < 1 else (np.abs(outputs[5]) > 0.97).mean() > 0.5      # more than half are saturated
        assert gradients[5].std() > steep * gradients[0].std() if gain < 1 else True
    outputs, gradients = listen(deep(5 / 3), batch)
    assert 0.8 < outputs[5].std() / outputs[0].std() < 1.2

    ratios, losses = zip(*(update_ratios(lr) for lr in (0.0006, 0.06, 0.6)), strict=True)
    assert all(3e-5 < r < 5e-5 for r in ratios[0]) and all(1e-3 < r < 5e-3 for r in ratios[1]) and ratios[2][0] > 0.03
    assert round(ratios[2][-1], 3) == 0.004 and min(losses) == losses[2]


_claims()
