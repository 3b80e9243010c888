"""What the sentences of chapter 10 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    steps = sizes(60)
    assert steps == [6 + 3 * k for k in range(60)]                # three nodes more in every step, so after a thousand steps:
    assert 6 + 3 * 999 == 3_003 and sum(6 + 3 * k for k in range(1000)) == 1_504_500

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

    late = {name: sum(found[-10:]) / 10 for name, found in scores.items()}           # the curves of the contrastive run
    assert scores["student"][0] < 12 and late["teacher"] > late["student"] > 80
    assert scores["teacher"][12] < scores["student"][12]
    rough = {name: sum(abs(b - a) for a, b in zip(found[-15:], found[-14:], strict=False)) for name, found in scores.items()}
    assert rough["teacher"] < rough["student"]

    ends = {k: learn(k)[-1] for k in (1, 4, 16)}                  # the LSTM
    assert round(29 / 32, 1) == 0.9                               # a guess of 0: the first three wanted numbers are 0, all others 1 or -1
    assert 0.85 < ends[1] < 0.95 and ends[4] < 0.15 and ends[16] < 0.03

    saw = sizes(32, after=lambda h, step: h.detach() if step % 8 == 7 else h)
    assert max(saw) == 27 and saw[8] == 6 and sizes(32)[-1] == 99

_claims()
