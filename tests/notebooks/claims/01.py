"""What the sentences of chapter 01 state and no cell of it shows. Runs after its last cell, in the same kernel."""


def _claims():
    def descent(rate, steps=200):
        w, seen = 0.5, []
        for _ in range(steps):
            seen.append(loss(w))
            w -= rate * (loss(w + 1e-6) - loss(w)) / 1e-6
        return seen

    best = loss(32 / 14)
    assert descent(0.2)[-1] < best + 1e-3 and descent(0.2)[2] < descent(0.2)[0]
    grows = descent(0.22)
    assert all(b > a for a, b in zip(grows, grows[1:], strict=False))
    assert 16 < -(loss(0.5 + 1e-6) - loss(0.5)) / 1e-6 < 17
    central = ((2 + 1e-5) ** 3 - (2 - 1e-5) ** 3) / 2e-5
    assert abs(central - 12) < 1e-9  # "right to ten digits"


_claims()
