"""What the sentences of chapter 14 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    from importlib import import_module

    z = torch.tensor([0.3, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
    s = torch.softmax(z, 0)
    s.backward(torch.full_like(s, 7.0))
    assert z.grad.abs().max().item() < 1e-12                     # recall 3
    J = torch.func.jacrev(lambda z: torch.softmax(z, 0))(z.detach())
    assert all(J[i, j] < 0 for i in range(3) for j in range(3) if i != j)    # recall 1
    assert import_module("widgets.lessons.jacobian_heat").MOST == 24

_claims()
