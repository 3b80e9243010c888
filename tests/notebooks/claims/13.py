"""What the sentences of chapter 13 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    import math

    assert exact_losses[-1] < 0.1 and min(flat_losses) > 2       # what the plots say
    assert four_losses[-1] < 3 * exact_losses[-1]
    assert 8 * -1 == -8 and 7 / 8 < 1 and len({four_bits(torch.tensor(k / 100)).item() for k in range(-150, 150)}) == 16
    assert all(torch.equal(w.detach(), first) for w, first in zip(flat_weights, starts(), strict=True))        # only the biases learn

    levels = {round(Quantise.apply(torch.tensor(k / 100, dtype=torch.float64), 2).item(), 9) for k in range(-150, 150)}
    assert levels == {-1.0, round(-1 / 3, 9), round(1 / 3, 9), 1.0}

    class Undecorated(NumpySin):                                 # a wrong second derivative, and no error
        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return g * torch.from_numpy(np.cos(x.detach().numpy()))

    x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    first, = torch.autograd.grad((Undecorated.apply(x)**2).sum(), x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x)
    assert abs(first.item() - math.sin(1.0)) < 1e-12 and abs(second.item() - 2 * math.cos(1.0)) > 0.1

    x = 1.0
    for _ in range(200):
        x = math.cos(x)                                          # the calculator: 0.739
    assert round(x, 3) == 0.739
    assert 6 * 2 == 12 and 2 * 2 == 12 - 8                       # the bug: what is missing of x³'s second derivative

    assert 0.5 * 4 + 2 == 4                                      # recall 5
    x = torch.tensor(5.0, requires_grad=True)
    (3 * x).backward(torch.tensor(14.0))
    assert x.grad.item() == 42                                   # recall 6
    assert hasattr(x.exp().grad_fn, "_saved_result")             # recall 2: the output

def starts():
    torch.manual_seed(0)
    return [torch.rand(*shape, dtype=torch.float64) - 0.5 for shape in ((32, 64), (10, 32))]

_claims()
