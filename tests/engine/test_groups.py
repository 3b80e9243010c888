"""The tree of groups of a learner's network: calls, columns, layers, samples, loops, with the names that the notebook has."""

import gc
import random
import sys
import time
import weakref

import pytest

from minigrad import Value, micro, scalar
from minigrad.core.call_log import VALUES, CallLog
from minigrad.tracing.groups import groups, operations
from minigrad.tracing.trace import trace


class Neuron:
    """As typed from the lecture: a sum with a start, and a generator expression."""

    def __init__(self, nin, rng):
        self.w = [Value(rng.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(rng.uniform(-1, 1))

    def __call__(self, x):
        act = sum((wi * xi for wi, xi in zip(self.w, x, strict=True)), self.b)
        return act.tanh()


class LoopNeuron(Neuron):
    def __call__(self, x):
        act = self.b
        for k in range(len(self.w)):
            act = act + self.w[k] * x[k]
        return act.tanh()


class ListNeuron(Neuron):
    def __call__(self, x):
        return (sum([w * v for w, v in zip(self.w, x, strict=True)]) + self.b).tanh()


class Layer:
    def __init__(self, nin, nout, rng, neuron):
        self.neurons = [neuron(nin, rng) for _ in range(nout)]

    def __call__(self, x):
        outs = [n(x) for n in self.neurons]
        return outs[0] if len(outs) == 1 else outs


class MLP:
    def __init__(self, nin, nouts, rng, neuron=Neuron):
        sizes = [nin, *nouts]
        self.layers = [Layer(sizes[i], sizes[i + 1], rng, neuron) for i in range(len(nouts))]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@pytest.fixture
def recording():
    log = CallLog()
    scalar.record_lines(True, log)
    yield log
    scalar.record_lines(False)


XS = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
YS = [1.0, -1.0, -1.0, 1.0]


def tree(found, i, depth=9):
    """A group as (kind, name, how many operations in it, [groups inside])."""
    g = found[i]
    inner = [tree(found, k, depth - 1) for k in g["groups"]] if depth else []
    return g["kind"], g["name"], len(g["members"]), inner


def tops(found):
    return [g["id"] for g in found if g["parent"] is None]


def check(found, of):
    """Each operation is in one group at most, parents come before children, and the two directions agree."""
    members = [i for g in found for i in g["members"]]
    assert len(members) == len(set(members)) and set(members) <= set(range(len(of.nodes)))
    for g in found:
        assert found[g["id"]] is g and all(found[k]["parent"] == g["id"] > -1 for k in g["groups"])
        assert g["parent"] is None or g["parent"] < g["id"] and g["id"] in found[g["parent"]]["groups"]


@pytest.mark.parametrize("neuron", [Neuron, LoopNeuron, ListNeuron])
def test_the_lectures_network_on_four_samples(recording, neuron):
    net = MLP(3, [4, 4, 1], random.Random(0), neuron)
    outs = [net(x) for x in XS]
    loss = sum((out - y) ** 2 for out, y in zip(outs, YS, strict=True))
    found = groups(loss, {"net": net}, recording)
    check(found, operations(loss))
    (samples,) = tops(found)
    assert (
        found[samples]["kind"] == "samples"
        and found[samples]["name"] == "net, 4 samples"
        and len(found[samples]["groups"]) == 4
    )
    for call in found[samples]["groups"]:
        kind, name, own, (layers,) = tree(found, call)
        assert (kind, name, own) == ("call", "net", 0) and found[call]["function"] == "MLP.__call__"
        assert layers[:3] == ("layers", "3 × Layer in a row", 0)
        for i, (kind, name, own, inner) in enumerate(layers[3]):
            assert (kind, name, own) == ("call", f"net.layers[{i}]", 0)
            neurons = inner[0][3] if i < 2 else inner
            assert i == 2 or inner[0][:2] == ("column", f"4 × {neuron.__name__}")
            width = 3 if i == 0 else 4
            assert [n[:3] for n in neurons] == [("call", f"net.layers[{i}].neurons[{k}]", 2 * width + 1 + (neuron is ListNeuron))
                                                for k in range(4 if i < 2 else 1)]  # fmt: skip


def test_functions_without_classes(recording):
    rng = random.Random(0)
    parameters = [
        [([Value(rng.uniform(-1, 1)) for _ in range(n)], Value(0.0)) for _ in range(m)] for n, m in ((3, 3), (3, 1))
    ]

    def neuron(w, b, x):
        return (sum(wi * xi for wi, xi in zip(w, x, strict=True)) + b).tanh()

    def layer(neurons, x):
        return [neuron(w, b, x) for w, b in neurons]

    def model(x):
        for neurons in parameters:
            x = layer(neurons, x)
        return x[0]

    loss = sum((model(x) - y) ** 2 for x, y in zip(XS, YS, strict=True))
    found = groups(loss, {}, recording)
    check(found, operations(loss))
    (samples,) = tops(found)
    assert tree(found, samples, 1)[:2] == ("samples", "model, 4 samples")
    one = found[samples]["groups"][1]
    line = neuron.__code__.co_firstlineno + 1
    assert tree(found, one, 4) == ("call", "model (call 2 of 4)", 0, [("steps", "layer, 2 steps", 0, [
        ("call", "layer (call 1 of 2)", 0, [("samples", "neuron, 3 samples", 0, [
            ("call", f"neuron (call {k} of 3)", 2, []) for k in (1, 2, 3)])]),
        ("call", "layer (call 2 of 2)", 0, [("call", "neuron", 2, [("loop", f"loop, line {line}", 0, [])])])])])  # fmt: skip
    loop = next(g for g in found if g["kind"] == "loop")  # of `sum`, in a function: three products, three additions
    assert found[loop["parent"]]["name"] == "neuron (call 1 of 3)" and [
        len(found[k]["members"]) for k in loop["groups"]
    ] == [2, 2, 2]


def test_loops_without_functions(recording):
    code = """
w = [Value(0.1 * k + 0.1) for k in range(3)]
out = Value(0.0)
for x in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]):
    act = Value(0.5)
    for k in range(3):
        act = act + w[k] * x[k]
    out = out + act.tanh()
out = out * 2
"""
    names = {"Value": Value}
    exec(compile(code, "<cell>", "exec"), names)
    found = groups(names["out"], names, recording)
    check(found, operations(names["out"]))
    (loop,) = tops(found)
    assert tree(found, loop, 0)[:2] == ("loop", "loop") and [found[k]["kind"] for k in found[loop]["groups"]] == [
        "turn",
        "turn",
    ]
    for turn in found[loop]["groups"]:
        inner = [("turn", f"turn {k} of 3", 2, []) for k in (1, 2, 3)]
        assert tree(found, turn) == ("turn", found[turn]["name"], 2, [("loop", "loop", 0, inner)])


def inside(found, i):
    return [*found[i]["members"], *(m for k in found[i]["groups"] for m in inside(found, k))]


def test_a_loop_over_the_data_and_the_network_of_micro(recording):
    model = micro.MLP(3, [4, 1], rng=0)
    loss = Value(0.0)
    for x, y in zip(XS, YS, strict=True):
        out = model(x)
        loss = loss + (out - y) ** 2
    found = groups(loss, {"model": model}, recording)
    check(found, operations(loss))
    (samples,) = tops(found)
    assert tree(found, samples, 1)[:2] == ("samples", "model, 4 samples")
    layers = tree(found, found[samples]["groups"][0])[3]
    assert layers[0][:2] == ("layers", "2 × Layer in a row")
    assert layers[0][3][0] == ("call", "model.layers[0]", 0, [("column", "4 × Neuron", 0, [
        ("call", f"model.layers[0].neurons[{k}]", 7, []) for k in range(4)])])  # fmt: skip


def test_a_recurrent_cell_makes_steps(recording):
    class Cell:
        def __init__(self):
            self.w, self.u = Value(0.5), Value(-0.3)

        def __call__(self, h, x):
            return (self.w * h + self.u * x).tanh()

    cell, h = Cell(), Value(0.0)
    for x in (1.0, 2.0, 3.0):
        h = cell(h, x) * 1.5  # an operation between two steps
    found = groups(h, {"cell": cell}, recording)
    assert [tree(found, i) for i in tops(found)] == [("steps", "cell, 3 steps", 0, [("call", "cell", 4, [])] * 3)]


def test_own_operations_belong_to_the_call_that_uses_them(recording):
    class Tanh(Value):
        def squash(self):
            return scalar.operation("squash", self.data / 2, [(self, 0.5)])

    def by_hand(x):
        out = Value(x.data * 3, (x,), "triple")
        out._backward = lambda: None
        return out * 1.0

    def outer(x):
        return by_hand(x * 2) + Tanh(1.0).squash()

    y = outer(Value(1.0)) + 1.0
    found = groups(y, {}, recording)
    names = {g["name"]: sorted(operations(y).nodes[i]._op for i in g["members"]) for g in found}
    assert names["outer"] == ["*", "+", "squash"] and names["by_hand"] == ["*", "triple"]


def test_the_trace_carries_groups_by_node_ids():
    scalar.record_lines(True, VALUES)
    try:
        net = MLP(3, [2, 1], random.Random(0))
        out = net(XS[0]) * 2
    finally:
        scalar.record_lines(False)
    t = trace(out, {"net": net, "out": out})
    neuron = next(g for g in t["groups"] if g["name"] == "net.layers[0].neurons[1]")
    assert {t["nodes"][i]["op"] for i in neuron["members"]} == {"*", "+", "tanh"} and len(neuron["members"]) == 7
    labels = {t["nodes"][e["source"]]["label"] for e in t["edges"] if e["target"] in neuron["members"]}
    assert {"net.layers[0].neurons[1].w[0]", "net.layers[0].neurons[1].b"} <= labels
    assert "groups" not in trace(Value(1.0) * 2)


def test_a_step_of_65_000_operations(recording):
    """5,000 operations are recorded, the other samples are found to repeat; no trace is made."""
    rng = random.Random(0)
    net = MLP(2, [16, 16, 1], rng)
    xs = [[Value(rng.uniform(-1, 1)), Value(rng.uniform(-1, 1))] for _ in range(100)]
    outs = [net(x) for x in xs]
    loss = sum(((out - 1.0) ** 2 for out in outs), Value(0.0))
    start = time.process_time()
    found = groups(loss, {"net": net, "xs": xs}, recording)
    took = time.process_time() - start
    of = operations(loss)
    assert len(of.nodes) > 60_000 and took < 3.0  # under one on a quiet core
    (samples,) = tops(found)
    group = found[samples]
    assert group["name"] == "net, 100 samples" and len(group["groups"]) + group["repeats"]["count"] == 100
    first, period, count = group["repeats"]["first"], group["repeats"]["period"], group["repeats"]["count"]
    assert first + count * period == len(of.nodes) - 300  # what is left is the loss: three operations for each sample
    assert len(inside(found, group["groups"][0])) == period
    assert len(found) < 7 * 50 and len(str(found)) < 100_000


def test_where_the_program_goes_on_differently_the_repeats_end(recording):
    def f(x, k):
        for _ in range(60):
            x = x * 0.9 + 0.1
        return x.tanh() if k == 90 else x.sin()

    w = Value(0.3)
    parts = []
    for k in range(100):
        parts.append(f(w, k))
    found = groups(sum(parts, Value(0.0)), {}, recording)
    repeats = found[tops(found)[0]]["repeats"]
    assert len(found[tops(found)[0]]["groups"]) + repeats["count"] == 90


def test_nothing_of_a_finished_call_is_kept_alive(recording):
    class Big:
        pass

    def f(x):
        local = Big()
        kept.append(weakref.ref(local))
        return x * 2

    kept: list = []
    x = Value(1.0)
    y = f(x)
    assert kept[0]() is not None  # until the next node of another call, or:
    scalar.release_frames()
    gc.collect()
    assert kept[0]() is None
    f(x)
    (y * 1).backward()
    gc.collect()
    assert kept[1]() is None
    f(x)
    for _ in range(scalar.LINES_KEPT):
        y = y * 1.0
    assert kept[2]() is None


def test_old_calls_are_forgotten():
    log = CallLog()
    scalar.record_lines(True, log)
    try:

        def f(x):
            return x * 2

        x = Value(1.0)
        for _ in range(12):
            for _ in range(2000):
                y = f(x)
            y.backward()
        assert len(log.calls) <= 30_000 and len(log.turns) <= 30_000 and log.forgotten
        assert log.call_of(1) == -1 and groups(f(y), {}, log) is not None
    finally:
        scalar.record_lines(False)


def test_no_calls_without_a_log():
    scalar.record_lines(True)
    try:
        before = len(VALUES.calls)
        (lambda x: x * 2)(Value(1.0))
        assert len(VALUES.calls) == before and sys.getrefcount(sys._getframe()) < 6
    finally:
        scalar.record_lines(False)


def test_a_class_that_records_nothing_is_grouped_by_whose_parameters_it_uses():
    engine, nn = pytest.importorskip("micrograd.engine"), pytest.importorskip("micrograd.nn")
    random.seed(1)
    net = nn.MLP(3, [4, 4, 1])
    loss = sum(((net(x) - y) ** 2 for x, y in zip(XS, YS, strict=True)), engine.Value(0.0))
    t = trace(loss, {"net": net, "loss": loss})
    found = t["groups"]
    (samples,) = tops(found)
    assert tree(found, samples, 0)[:2] == ("samples", "net, 4 samples") and len(found[samples]["groups"]) == 4
    for call in found[samples]["groups"]:
        kind, name, own, (layers,) = tree(found, call)
        assert (kind, name, own) == ("call", "net", 0) and layers[:3] == ("layers", "3 × Layer in a row", 0)
        for i, (kind, name, own, inner) in enumerate(layers[3]):
            neurons = inner[0][3] if i < 2 else inner
            width = 3 if i == 0 else 4
            operations_of_one = 2 * width + (i < 2)  # products, sums from b on, ReLU; the last neuron is linear
            assert (kind, name, own) == ("call", f"net.layers[{i}]", 0)
            assert neurons == [
                ("call", f"net.layers[{i}].neurons[{k}]", operations_of_one, []) for k in range(4 if i < 2 else 1)
            ]
    members = {i for g in found for i in g["members"]}
    # The loss
    assert {n["op"] for n in t["nodes"] if n["kind"] == "operation" and n["id"] not in members} == {
        "+",
        "**",
    }
    x = engine.Value(2.0)
    assert "groups" not in trace(x * 3 + 1, {"x": x})


def test_the_modules_of_a_tensors_graph():
    import minigrad as torch

    nn = torch.nn

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x):
            return self.inner(self.inner(x).tanh()) + x

    net = nn.Sequential(nn.Linear(3, 2), Twice(), nn.ReLU())
    loss = (net(torch.ones(4, 3)) ** 2).sum()
    t = trace(loss, {"net": net})
    found = t["groups"]
    ops = {g["name"]: [t["nodes"][i]["op"] for i in g["members"]] for g in found}
    assert (
        [g["parent"] for g in found[:2]] == [None, 0]
        and found[0]["function"] == "Sequential.forward"
        and ops["net"] == []
    )
    assert ops["net[1].inner"] == ops["net[1].inner (call 2)"] == ["TBackward0", "AddmmBackward0"]
    assert ops["net[1]"] == ["TanhBackward0", "AddBackward0"] and ops["net[2]"] == ["ReluBackward0"]
    assert found[[g["name"] for g in found].index("net[1]")]["function"] == "Twice.forward"
    outside = {n["op"] for n in t["nodes"] if n["kind"] == "operation"} - {op for of in ops.values() for op in of}
    assert outside == {"PowBackward0", "SumBackward0"}


def test_a_loop_variable_is_not_the_name_of_its_last_layer(recording):
    net = MLP(3, [4, 4, 1], random.Random(0))
    layer = net.layers[-1]  # as `for layer in net.layers` leaves it behind
    loss = sum((net(x) - y) ** 2 for x, y in zip(XS, YS, strict=True))
    names = {g["name"] for g in groups(loss, {"layer": layer, "net": net}, recording)}
    assert {
        "net.layers[0]",
        "net.layers[1]",
        "net.layers[2]",
        "net.layers[2].neurons[0]",
    } <= names and "layer" not in names
    first, second = net.layers[:2]  # names of one's own for all of them are names
    net.layers = [first, second]
    loss = sum((net(x)[0] - y) ** 2 for x, y in zip(XS, YS, strict=True))
    names = {g["name"] for g in groups(loss, {"first": first, "second": second, "net": net}, recording)}
    assert {"first", "second", "first.neurons[0]"} <= names


def test_nor_of_a_class_that_notes_no_calls():
    nn = pytest.importorskip("micrograd.nn")
    n = nn.MLP(3, [4, 4, 1])
    layer = n.layers[-1]
    loss = sum((n(x) - y) ** 2 for x, y in zip(XS, YS, strict=True))
    found = trace(loss, {"layer": layer, "n": n})["groups"]
    (samples,) = tops(found)
    for call in found[samples]["groups"]:
        ((_, name, _, layers),) = tree(found, call)[3]
        assert name == "3 × Layer in a row" and [one[1] for one in layers] == [
            "n.layers[0]",
            "n.layers[1]",
            "n.layers[2]",
        ]
