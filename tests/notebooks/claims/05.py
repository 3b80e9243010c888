"""What the sentences of chapter 05 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    import sys

    from minigrad.course import drivers, exercises

    engine = exercises["05.a"].solution + exercises["05.b"].solution
    assert 65 <= sum(bool(line.strip()) for line in engine.splitlines()) <= 75      # "about seventy lines"
    network = exercises["05.c"].solution
    assert 25 <= sum(bool(line.strip()) for line in network.splitlines()) <= 35     # "about thirty lines"
    runs = []
    def f(*inputs):
        runs.append(inputs)
        return sum(inputs)
    base = f(*[0.0] * 1000)
    slopes = [f(*[float(i == j) for j in range(1000)]) - base for i in range(1000)]
    assert len(slopes) == 1000 and len(runs) == 1001                                # recall 5
    assert 500 < sys.getrecursionlimit() < 5000

    nodes = drivers.GRAPHS["diamond"](2.0, 3.0)
    backward_seen(nodes[0])
    assert [n.grad for n in nodes[-2:]] == [3, 4]                                   # the bug
    nodes = drivers.GRAPHS["diamond"](2.0, 3.0)
    backward_by_recursion(nodes[0])
    assert (nodes[-1].grad, nodes[4].grad) == (29, 7)

    stuck = exercises["05.c"].load(network)
    drivers.own_engine(stuck)
    model = drivers.ch05._trained(stuck, 4243)                                           # "a run that stops at 88 or so"
    assert 80 < drivers.ch05._judged(model, 4243)["of 100 it was trained on"] < 95

_claims()
