"""What the sentences of chapter 07 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    x = torch.tensor(-1.0, requires_grad=True)
    (x**2).backward()
    assert x.grad.item() == -2.0                # below zero, the pass takes out

    x = torch.tensor(2.0, requires_grad=True)
    ((3 * x)**2).backward()
    assert x.grad.item() == 36.0

_claims()
