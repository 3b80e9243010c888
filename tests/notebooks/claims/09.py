"""What the sentences of chapter 09 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    table = {(3,): (2, 3), (2, 1): (2, 3), (): (2, 3), (2, 1, 3): (5, 1, 2, 4, 3)}
    summed = {(3,): (0,), (2, 1): (1,), (): (0, 1), (2, 1, 3): (0, 1, 3)}
    for shape, result in table.items():
        operand, g = torch.zeros(shape, requires_grad=True), torch.randn(result)
        (operand + torch.zeros(result)).backward(g)
        assert torch.allclose(operand.grad, g.sum(dim=summed[shape]).reshape(shape), atol=1e-5)

    W, x = torch.ones(5, 3, requires_grad=True), torch.ones(3, 7)
    (W @ x).backward(torch.ones(5, 7))
    assert W.grad.shape == (5, 3)

_claims()
