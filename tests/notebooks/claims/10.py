"""What the sentences of chapter 10 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    assert sizes(4, "retain_graph") == [6, 9, 12, 15] and sizes(4, "detach") == [6, 6, 6, 6]
    assert all(isinstance(sizes(4, edit)[-1], str) for edit in ("no_grad", "clone"))
    assert [sum(v > 0 for v in arrives(k)) for k in (1, 4, 12)] == [1, 4, 12] and arrives(12)[0] < arrives(12)[-1]

    def leaves(tool, at):
        state = scissors(tool=tool, at=at, passes=1).figure.state
        grad = state.leaves["x"].grad
        return None if grad is None else grad.item()

    assert leaves("nothing", "a") == 39 == 36 + 3
    assert {leaves(tool, "b") for tool in ("no_grad", "detach", "inference_mode")} == {3}
    assert {leaves(tool, "a") for tool in ("no_grad", "detach", "inference_mode")} == {None}

    x = torch.tensor(3.0, requires_grad=True)                     # the question of 10.a2 gives this number
    ((x**2) * (x**2)).backward()
    assert x.grad.item() == 108

    x = torch.tensor(5.0, requires_grad=True)                     # recall 1
    y = x**2
    (y * y.detach()).backward()
    assert x.grad.item() == 25 * (2 * 5) == 250

    whole, cut = values(lambda t: t), values(lambda t: t.detach())
    assert cut == [0.5, 1.0, 0.0] and whole == [0.5, 0.75, 0.25]

    late = {name: sum(abs(v - 1) for v in found[-150:]) / 150 for name, found in path.items()}    # the teacher stays closer to 1
    assert late["teacher"] < 0.75 * late["student"], late
    assert path["teacher"][15] < path["student"][15]

    ends = {k: sum(learn(k)[-10:]) / 10 for k in (1, 4, 8, 16)}   # the windows
    assert min(ends[1], ends[4]) > 0.5 > 0.1 > max(ends[8], ends[16])

_claims()
