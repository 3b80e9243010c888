"""What the sentences of chapter 02 state and no cell of it shows. Runs after its last cell, in the same kernel."""


def _claims():
    from minigrad.scalar import backward_order

    w, h = Value(1.01), Value(1.0)
    for _ in range(3):
        h = w * h
    assert len(backward_order(h)) == 3 and sum(v._prev.count(w) for v in backward_order(h)) == 3
    for _ in range(97):
        h = w * h
    assert len(backward_order(h)) == 100

    def way(x):
        taken = ""
        for _ in range(4):
            taken += "LH"[x > 1]
            x = x / 2 if x > 1 else 3 * x + 1
        return taken

    assert len({way(n / 64) for n in range(-6400, 6400)}) == 10, "four_times has ten ways, not sixteen: after half of a number comes no 3x + 1 twice"


_claims()
