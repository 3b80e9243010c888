"""What the sentences of chapter 08 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    for samples, factor in ((4, 0.28), (20, -2.6)):              # one step changes the distance from 2 by this factor
        path = fit(samples, with_ones)
        assert all(abs((b - 2) - factor * (a - 2)) <= 1e-9 * abs(a - 2) + 1e-15 for a, b in zip(path[:6], path[1:7], strict=True))
    path = fit(20, lambda losses: losses.mean().backward())
    assert all(abs((b - 2) - 0.82 * (a - 2)) < 1e-12 for a, b in zip(path[:-1], path[1:], strict=True))
    assert 1e8 < 2.6**20 < 3e8 and sum(x * x for x in (1, 2, 3, 2)) == 18 and 5 * 18 == 90 and 18 / 4 == 90 / 20 == 4.5
    assert abs(1 - 0.04 * 18 - 0.28) < 1e-12

    assert abs(four[-1] - 2) < 3e-11 and 3e8 < abs(twenty[-1] - 2) < 5e8      # what the plots say
    assert round(abs(path[-1] - 2), 2) == 0.04

    x = torch.tensor([2.0, 3.0], requires_grad=True)             # outputs that share no input
    J = torch.func.jacrev(lambda x: x**3)(x.detach())
    assert J[0, 1] == J[1, 0] == 0

_claims()
