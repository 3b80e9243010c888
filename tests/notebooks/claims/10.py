"""What the sentences of chapter 10 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    x = torch.tensor(5.0, requires_grad=True)
    y = x**2
    (y * y.detach()).backward()
    assert x.grad.item() == 25 * (2 * 5) == 250                  # recall 1

    assert torch.nn.Linear(1, 1).eval()(torch.ones(1)).requires_grad        # eval() switches no recording off

_claims()
