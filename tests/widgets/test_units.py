"""Networks found by their operations: units in plain lists, dicts and classes, in every engine; none where the structure is not sure."""

import math
import random
from types import SimpleNamespace

import numpy as np
import pytest

from minigrad import Value, micro, scalar
from minigrad.core.call_log import VALUES
from minigrad.course.exercises import ch05
from minigrad.tracing.scalar_trace import groups_of, record
from widgets import graph, network
from widgets.network_steps import Numbers

POINTS = [(0.5, -1.0), (1.5, 0.25), (-0.75, 2.0), (0.1, 0.2), (-1.0, -2.0)]
LABELS = [1, -1, -1, 1, -1]


@pytest.fixture(params=[False, True], ids=["calls not noted", "calls noted"])
def noted(request):
    scalar.record_lines(request.param, VALUES)
    yield
    scalar.record_lines(False)


def own_engine():
    space = {}
    exec(ch05.SOLUTION_A, space)
    return space["Value"]


def micrograd():
    return pytest.importorskip("micrograd.engine").Value


ENGINES = {"of exercise 05.a": own_engine, "minigrad": lambda: Value, "micrograd": micrograd}
engines = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)


def hinge(scores, labels):
    return sum((1 - y * s).relu() for y, s in zip(labels, scores, strict=True)) * (1 / len(scores))


def divided(scores, labels):
    return sum((1 + -y * s).relu() for y, s in zip(labels, scores, strict=True)) / len(scores)


def squared(scores, labels):
    return sum((s - y) ** 2 for y, s in zip(labels, scores, strict=True))


def added(scores, labels):
    return sum(scores)


LOSSES = {"hinge": hinge, "divided": divided, "squared": squared, "sum": added}
losses = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def found(names):
    graph_ = record(names["loss"], names)
    return network.find(graph_, groups_of(graph_, names), names), graph_


def shape(net):
    return [(len(c["cells"]), c["about"]) for c in net.plan["columns"]], net.plan["samples"], len(net.plan["wires"])


def numbers(net, graph_):
    values, grads = np.array(graph_.data), np.array([math.nan if g is None else g for g in graph_.gradients()])
    return Numbers(net.plan, net.numbers(values, grads))


def differences(f, parameters, h=1e-5):
    """d loss / d parameter, by running the program again."""
    out = []
    for p in parameters:
        kept = p.data
        p.data = kept + h
        above = f().data
        p.data = kept - h
        below = f().data
        p.data = kept
        out.append((above - below) / (2 * h))
    return out


@engines
@losses
@pytest.mark.parametrize("samples", [1, 2, 5])
def test_the_network_of_exercise_05c(noted, engine, loss, samples):
    """Eight units in plain lists, and an output that begins with its bias."""
    random.seed(samples)
    space = {"Value": engine()}
    exec(ch05.SOLUTION_C, space)
    model = space["MLP"]()

    def run():
        scores = [model(*p) for p in POINTS[:samples]]
        return scores, loss(scores, LABELS[:samples])

    scores, result = run()
    net, graph_ = found({"model": model, "scores": scores, "loss": result})
    assert shape(net) == ([(2, "2 numbers"), (8, "8 × relu"), (1, "linear")], samples, 16 + 8)
    plan, seen = net.plan, numbers(net, graph_)
    assert seen.values[:, :2].tolist() == [list(p) for p in POINTS[:samples]]
    assert [float(x) for x in seen.values[:, -1]] == pytest.approx([s.data for s in scores], rel=1e-12)
    for k, (w1, w2, b) in enumerate(model.units):
        hidden = [max(0.0, w1.data * x + w2.data * y + b.data) for x, y in POINTS[:samples]]
        assert [float(v) for v in seen.values[:, 2 + k]] == pytest.approx(hidden, rel=1e-12)
        assert plan["cells"][2 + k]["name"] == f"model.units[{k}]"
    assert [p["name"] for p in plan["parameters"][-9:]] == [f"model.output[{k}]" for k in range(9)]
    by_name = dict(zip([p["name"] for p in plan["parameters"]], seen.parameter_grads, strict=True))
    flat = {f"model.units[{k}][{j}]": p for k, unit in enumerate(model.units) for j, p in enumerate(unit)}
    flat |= {f"model.output[{k}]": p for k, p in enumerate(model.output)}
    truth = differences(lambda: run()[1], flat.values())
    for name, d in zip(flat, truth, strict=True):
        assert (0.0 if math.isnan(by_name[name]) else by_name[name]) == pytest.approx(d, rel=1e-5, abs=1e-8), name


def uniform(kind, *shape_):
    if len(shape_) == 1:
        return [kind(random.uniform(-1, 1)) for _ in range(shape_[0])]
    return [uniform(kind, *shape_[1:]) for _ in range(shape_[0])]


class Dicts:
    def __init__(self, kind):
        self.hidden = [{"w": uniform(kind, 2), "b": kind(0.1)} for _ in range(5)]
        self.out = uniform(kind, 5)

    def __call__(self, a, b):
        h = [(unit["w"][0] * a + unit["w"][1] * b + unit["b"]).relu() for unit in self.hidden]
        return sum(v * x for v, x in zip(self.out, h, strict=True))


class Wrapped:
    """Inputs are wrapped once, and stand before the weight."""

    def __init__(self, kind):
        self.kind, self.p, self.o = kind, uniform(kind, 5, 3), uniform(kind, 6)

    def __call__(self, a, b):
        a, b, o = self.kind(a), self.kind(b), self.o
        h = [(a * w + b * v + c).relu() for w, v, c in self.p]
        return h[0] * o[0] + h[1] * o[1] + h[2] * o[2] + h[3] * o[3] + h[4] * o[4] + o[5]


class Layers:
    def __init__(self, kind):
        self.l = [
            [(uniform(kind, a), kind(random.uniform(-1, 1))) for _ in range(b)] for a, b in ((2, 5), (5, 3), (3, 1))
        ]

    def act(self, z):
        return z.relu()

    def __call__(self, *x):
        for layer in self.l:
            x = [self.act(sum((wi * xi for wi, xi in zip(w, x, strict=True)), b)) for w, b in layer]
        return x[0]


class Sigmoid(Layers):
    def act(self, z):
        return 1 / (1 + (-z).exp())


class Micro:
    def __init__(self, kind):
        self.net = micro.MLP(2, [5, 1])

    def __call__(self, *x):
        return self.net(list(x))


TWO = [(2, "2 numbers"), (5, "5 × relu")]
STYLES = [(Dicts, own_engine, [*TWO, (1, "linear")], 15), (Dicts, lambda: Value, [*TWO, (1, "linear")], 15),
          (Wrapped, own_engine, [*TWO, (1, "linear")], 15), (Wrapped, lambda: Value, [*TWO, (1, "linear")], 15),
          (Layers, own_engine, [*TWO, (3, "3 × relu"), (1, "relu")], 28), (Layers, lambda: Value, [*TWO, (3, "3 × relu"), (1, "relu")], 28),
          (Layers, micrograd, [*TWO, (3, "3 × relu"), (1, "relu")], 28), (Micro, lambda: Value, None, 15)]  # fmt: skip


@pytest.mark.parametrize("model, engine, columns, wires", STYLES)
@losses
@pytest.mark.parametrize("samples", [1, 5])
def test_networks_that_are_typed_in_other_ways(noted, model, engine, columns, wires, loss, samples):
    random.seed(3)
    net = model(engine())
    scores = [net(*p) for p in POINTS[:samples]]
    names = {"net": net, "scores": scores, "loss": loss(scores, LABELS[:samples])}
    one, graph_ = found(names)
    if columns is not None:
        assert shape(one) == (columns, samples, wires)
    assert [float(x) for x in numbers(one, graph_).values[:, -1]] == pytest.approx([s.data for s in scores], rel=1e-12)


@pytest.mark.parametrize("samples", [2, 5])
def test_an_activation_that_is_written_out(noted, samples):
    random.seed(3)
    net = Sigmoid(Value)
    scores = [net(*p) for p in POINTS[:samples]]
    one, graph_ = found({"net": net, "scores": scores, "loss": squared(scores, LABELS[:samples])})
    assert [len(c["cells"]) for c in one.plan["columns"]] == [2, 5, 3, 1] and one.plan["samples"] == samples
    assert [float(x) for x in numbers(one, graph_).values[:, -1]] == pytest.approx([s.data for s in scores], rel=1e-12)


def recurrent(kind):
    w, u, b = uniform(kind, 2), uniform(kind, 2), uniform(kind, 2)
    h = [kind(0.0), kind(0.0)]
    for x in (0.5, -1.0, 2.0):
        h = [(w[k] * x + u[k] * h[k] + b[k]).relu() for k in range(2)]
    return {"w": w, "u": u, "b": b, "loss": h[0] + h[1]}


def tied(kind):
    w = uniform(kind, 3)
    h = (w[0] * 1.5 + w[1]).relu()
    return {"w": w, "loss": (w[0] * h + w[2]) ** 2}


def polynomial(kind):
    p = uniform(kind, 3)
    return {"p": p, "loss": sum((p[0] * x * x + p[1] * x + p[2] - y) ** 2 for (x, y) in POINTS)}


def one_neuron(kind):
    x1, x2, w1, w2, b = (kind(x) for x in (2.0, 0.0, -3.0, 1.0, 6.9))
    return {"x1": x1, "x2": x2, "w1": w1, "w2": w2, "b": b, "loss": (x1 * w1 + x2 * w2 + b).relu()}


def scalars(kind):
    a, b, c = kind(2.0), kind(-3.0), kind(10.0)
    return {"a": a, "b": b, "c": c, "loss": (a * b + c) * a + (b * c + a) * c}


@engines
@pytest.mark.parametrize("program", [recurrent, tied, polynomial, one_neuron, scalars])
def test_no_network_where_the_structure_is_not_sure(noted, engine, program):
    random.seed(0)
    assert found(program(engine()))[0] is None


def test_a_sample_is_no_neuron(noted):
    """Calls of one model are samples, also where nothing inside them is a unit."""
    w = Value(0.5)

    def model(x):
        return (w * x * x).relu() + w

    scores = [model(x) for x in (1.0, 2.0, -1.0)]
    assert found({"model": model, "w": w, "loss": sum((s - 1) ** 2 for s in scores)})[0] is None


def test_the_view_opens_as_that_network(noted):
    random.seed(1)
    space = {"Value": own_engine()}
    exec(ch05.SOLUTION_C, space)
    model = space["MLP"]()
    scores = [model(*p) for p in POINTS]
    view = graph(hinge(scores, LABELS), names={"model": model, "scores": scores})
    assert view._level == "network" and "8 × relu" in view.svg() and view.network["plan"]
    trace, ids = view._subject.look(4, 2)
    assert trace["nodes"][trace["root"]]["label"] == "out" and len(ids) == len(trace["nodes"])


class Labelled:
    """The lecture's classes, with a label on each parameter."""

    def __init__(self, kind, labels):
        def value(text):
            made = kind(random.uniform(-1, 1))
            if labels:
                made.label = text
            return made

        self.layers = [
            [SimpleNamespace(w=[value("w") for _ in range(n)], b=value("b")) for _ in range(m)]
            for n, m in ((2, 4), (4, 1))
        ]

    def __call__(self, x):
        for layer in self.layers:
            x = [sum((w * v for w, v in zip(n.w, x, strict=True)), n.b).relu() for n in layer]
        return x[0]


@engines
@pytest.mark.parametrize("samples", [1, 3])
def test_labels_never_cost_a_network_its_picture(noted, engine, samples):
    found_ = []
    for labels in (False, True):
        random.seed(0)
        net = Labelled(engine(), labels)
        outs = [net(list(p)) for p in POINTS[:samples]]
        for out in outs:
            if labels:
                out.label = "out"
        names = {"net": net, "outs": outs, "loss": squared(outs, LABELS[:samples])}
        if labels:
            names["loss"].label = "the loss"
        one, graph_ = found(names)
        assert labels is False or graph_.names[graph_.root] == "the loss"
        found_.append((shape(one), [c["name"] for c in one.plan["cells"]], [p["name"] for p in one.plan["parameters"]]))
        if samples > 1:
            assert {graph_.names[i] for i in one.outs[:, -1]} == {f"outs[{k}]" for k in range(samples)}
    assert found_[0] == found_[1] and "net.layers[0][2].w[1]" in found_[1][2]


@engines
def test_the_variable_of_a_loop_is_no_name_of_a_parameter(noted, engine):
    random.seed(0)
    space = {"Value": engine()}
    exec(ch05.SOLUTION_C, space)
    model = space["MLP"]()
    p = [*model.parameters()][-1]  # what `for p in model.parameters()` leaves behind
    score = model(0.5, 1.0)
    graph_ = found({"p": p, "model": model, "loss": score})[1]
    assert "p" not in graph_.names and "model.output[8]" in graph_.names
    a, b = space["Value"](1.0), space["Value"](2.0)
    names = {"a": a, "b": b, "p": b, "both": [a, b], "loss": a * b}
    assert {"a", "b"} <= set(found(names)[1].names)  # inputs with names of their own keep them, in a list or not


@engines
def test_an_input_that_begins_a_list_keeps_its_name(noted, engine):
    """`hs = [x]`, and then a recurrence appends to it."""
    Value = engine()
    x, w = Value(0.5), Value(0.9)
    hs = [x]
    for _ in range(6):
        hs.append(hs[-1] * w + x)
    names = set(found({"x": x, "w": w, "hs": hs, "loss": hs[-1] * w})[1].names)
    assert {"x", "w", "hs[1]"} <= names and "hs[0]" not in names


@pytest.mark.parametrize("loss", ["hinge", "decayed"])
def test_micrograds_own_network_behind_a_long_name(loss):
    """Its parents are sets, its inputs are numbers of the class, and no name leads as deep as its weights."""
    engine, nets = pytest.importorskip("micrograd.engine"), pytest.importorskip("micrograd.nn")
    random.seed(4)
    net = nets.MLP(2, [16, 16, 1])

    class Holds:
        def __init__(self, inner):
            self.inner = inner

    model = Holds(net)
    scores = [net([engine.Value(v) for v in p]) for p in POINTS]
    total = hinge(scores, LABELS)
    if loss == "decayed":
        total = total + 1e-4 * sum(p * p for p in net.parameters())
    total.backward()
    shown = graph(total, names={"model": model, "total": total})
    plan = shown._subject.network.plan
    assert [len(column["cells"]) for column in plan["columns"]] == [2, 16, 16, 1] and plan["samples"] == len(POINTS)
    assert len(plan["parameters"]) == 337
