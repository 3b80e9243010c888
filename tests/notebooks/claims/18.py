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

    inf = torch.tensor(float("inf"))
    assert all(t.isnan() for t in (0 * inf, inf - inf, torch.zeros(()) / 0, torch.log(-torch.ones(())), torch.sqrt(-torch.ones(()))))
    assert signature(torch.autograd.gradcheck).parameters["eps"].default == 0.000001

_claims()
