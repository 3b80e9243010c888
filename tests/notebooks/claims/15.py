"""What the sentences of chapter 15 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    x = torch.tensor([1.0, 2.0], requires_grad=True)             # recall 1
    y = x * 2
    y.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]

    x = torch.tensor(1.0, requires_grad=True)                    # recall 4
    for _ in range(2):
        (3 * x**2).backward()
    assert x.grad.item() == 12

    assert hasattr(x.exp().grad_fn, "_saved_result")             # recall 5: exp saves its output, sin its input
    assert hasattr(x.sin().grad_fn, "_saved_self") and not hasattr(x.sin().grad_fn, "_saved_result")
    assert not any(hasattr((x + 1).grad_fn, name) for name in ("_saved_self", "_saved_other", "_saved_result"))

_claims()
