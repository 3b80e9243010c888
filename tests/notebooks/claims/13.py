"""What the sentences of chapter 13 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    x = torch.tensor(5.0, requires_grad=True)
    (3 * x).backward(torch.tensor(14.0))
    assert x.grad.item() == 42                                   # recall 5
    assert hasattr(x.exp().grad_fn, "_saved_result")             # recall 2: the output

_claims()
