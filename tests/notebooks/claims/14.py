"""What the sentences of chapter 14 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    J = torch.func.jacrev(lambda z: torch.softmax(z, 0))(torch.tensor([0.3, -1.0, 2.0], dtype=torch.float64))
    assert all(J[i, j] < 0 for i in range(3) for j in range(3) if i != j)            # recall 1

    x, step = np.array([0.3, 2.0, -1.0, 0.7]), 1e-6                                  # section 4: the two small derivatives
    moved = x + step * np.eye(4)[1]
    sigma, then = (np.sqrt(at.var() + 1e-5) for at in (x, moved))
    assert abs((moved.mean() - x.mean()) / step - 1 / 4) < 1e-6
    assert abs((then - sigma) / step - (x[1] - x.mean()) / sigma / 4) < 1e-5

    names = {name: gradient for name, gradient in network_gradients(*_letters()).items()}      # laboratory: one of twelve surprises
    assert len(names) == 12 and np.abs(names["b1"]).max() < 1e-15 < np.abs(names["beta"]).max()

    rows = np.array([[1000.0, 1001.0], [-1000.0, -999.0]])                           # the note: one maximum for the whole batch
    assert np.exp(rows - rows.max()).sum(1)[1] == 0.0

    from minigrad.autograd.graph import saved_bytes

    twelve = torch.zeros(12, dtype=torch.float64, requires_grad=True)                # section 2: what the built-in softmax saves
    assert saved_bytes(torch.softmax(twelve, 0)) == 96

    scores = torch.zeros(1, 3).requires_grad_()                                      # "It learns, only slowly": softmax twice
    scores.data[0, 0] = 8.0
    gradients = []
    for f in (lambda z: z, lambda z: torch.softmax(z, -1)):
        loss = torch.nn.functional.cross_entropy(f(scores), torch.tensor([1]))
        gradients.append(torch.autograd.grad(loss, scores)[0].abs().max().item())
    assert gradients[1] < 0.01 * gradients[0]


def _letters():
    rng = np.random.default_rng(0)
    shapes = ((4, 2), (5, 6), (5,), (5,), (5,), (4, 5), (4,))
    return rng.integers(0, 4, (7, 3)), rng.integers(0, 4, 7), *(rng.normal(size=shape) for shape in shapes)


_claims()
