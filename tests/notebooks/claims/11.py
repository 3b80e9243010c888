"""What the sentences of chapter 11 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    for start in (-3.0, 0.0, 1.0, 7.0):                          # one step of the steep task, from anywhere
        w = torch.tensor(start, dtype=torch.float64, requires_grad=True)
        (g,) = torch.autograd.grad((w - 2)**2 * (1 + 2**2), w)
        assert abs((w - 0.1 * g).item() - 2) < 1e-12

    x = torch.tensor(1.0, requires_grad=True)                    # recall 2
    (first,) = torch.autograd.grad(x**4, x, create_graph=True)
    assert first.item() == 4 and torch.autograd.grad(first, x)[0].item() == 12

_claims()
