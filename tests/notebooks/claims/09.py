"""What the sentences of chapter 09 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    table = {(3,): (2, 3), (2, 1): (2, 3), (): (2, 3), (2, 1, 3): (5, 1, 2, 4, 3)}
    summed = {(3,): (0,), (2, 1): (1,), (): (0, 1), (2, 1, 3): (0, 1, 3)}
    for shape, result in table.items():
        operand, g = torch.zeros(shape, requires_grad=True), torch.randn(result)
        (operand + torch.zeros(result)).backward(g)
        assert torch.allclose(operand.grad, g.sum(dim=summed[shape]).reshape(shape), atol=1e-5)

    W, b = torch.ones(5, 3, requires_grad=True), torch.ones(5, requires_grad=True)      # recall 1
    out = torch.ones(7, 3) @ W.T + b
    out.backward(torch.ones(7, 5))
    assert out.shape == (7, 5) and W.grad.shape == (5, 3) and b.grad.shape == (5,)
    assert round(((predicted - target)**2).mean().item(), 2) == 1.33 and target.shape == (3,)
    assert images.shape[2:] == (8, 8) and len(model.W1.data) == 32 and len(model.W2.data) == 10
    assert scalar_nodes > 200_000 and step_nodes < 20 and (read == y[1297:]).sum() >= 460 and len(x) == 1297 + 500

_claims()
