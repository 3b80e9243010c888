"""What the sentences of chapter 09 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    table = {(3,): (2, 3), (2, 1): (2, 3), (): (2, 3), (2, 1, 3): (5, 1, 2, 4, 3)}
    summed = {(3,): (0,), (2, 1): (1,), (): (0, 1), (2, 1, 3): (0, 1, 3)}
    for shape, result in table.items():
        operand, g = torch.zeros(shape, requires_grad=True), torch.randn(result)
        (operand + torch.zeros(result)).backward(g)
        assert torch.allclose(operand.grad, g.sum(dim=summed[shape]).reshape(shape), atol=1e-5)

    W, X = torch.tensor([[2.0, 3.0], [5.0, 7.0]], requires_grad=True), torch.tensor([[11.0, 12.0], [21.0, 22.0]], requires_grad=True)
    (W @ X).backward(torch.tensor([[1.0, 10.0], [100.0, 1000.0]]))             # the two-by-two case, by its uses
    assert W.grad[0, 0] == 1 * 11 + 10 * 12 and X.grad[0, 0] == 2 * 1 + 5 * 100

    W, b, x = torch.ones(5, 3, requires_grad=True), torch.ones(5, requires_grad=True), torch.ones(7, 3)     # recall 1
    y = x @ W.T + b
    y.backward(torch.ones(7, 5))
    assert y.shape == (7, 5) and W.grad.shape == (5, 3) and b.grad.shape == (5,)
    assert 10 - 3 + 1 == 8                                       # recall 3

    assert round(((predicted - target)**2).mean().item(), 2) == 1.33 and target.shape == (3,)
    assert round(yours[0]) == 8 and round(yours[-1], 2) == 0.01  # what the plot says

_claims()
