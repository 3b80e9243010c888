"""What the sentences of chapter 06 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = x + 2
    y.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]

    x = torch.tensor(0.0, requires_grad=True)
    x.tanh().backward()
    assert x.grad.item() == 1.0

_claims()
