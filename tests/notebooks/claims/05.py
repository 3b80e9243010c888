"""What the sentences of chapter 05 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    import sys

    from minigrad.course import exercises

    engine = exercises["05.a"].solution + exercises["05.b"].solution
    assert 55 <= sum(bool(line.strip()) for line in engine.splitlines()) <= 65
    runs = []
    def f(*inputs):
        runs.append(inputs)
        return sum(inputs)
    base = f(*[0.0] * 1000)
    slopes = [f(*[float(i == j) for j in range(1000)]) - base for i in range(1000)]
    assert len(slopes) == 1000 and len(runs) == 1001             # recall 5

    assert 500 < sys.getrecursionlimit() < 5000

    programs = {
        (2.0, 12.0): lambda x: x * x * x,
        (3.0, 6.0): lambda x: (x + 1) * (x - 1),
        (1.0, 0.0): lambda x: (x - 2).relu(),
        (5.0, 1.0): lambda x: (x - 2).relu(),
    }
    for (at, slope), f in programs.items():
        x = minigrad.Value(at)
        f(x).backward()
        assert x.grad == slope

_claims()
