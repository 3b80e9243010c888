"""The network level: what is found in a learner's program, that every number is the engine's, and that the picture fits."""

import gc
import json
import math
import random
import re
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from minigrad import Value, scalar
from minigrad.core.call_log import VALUES
from minigrad.tracing.scalar_trace import groups_of, record
from minigrad.tracing.trace import replay_steps
from tests.engine.test_groups import MLP, XS, YS, ListNeuron, LoopNeuron, Neuron
from widgets import graph, network
from widgets.network_picture import geometry
from widgets.network_steps import Numbers, parts


@pytest.fixture
def noted():
    """Calls are noted, as in a notebook."""
    scalar.record_lines(True, VALUES)
    yield
    scalar.record_lines(False)


def lecture(samples=4, neuron=Neuron, sizes=(4, 4, 1), seed=0):
    rng = random.Random(seed)
    net = MLP(3, list(sizes), rng, neuron)
    xs = XS[:samples] if samples <= 4 else [[rng.uniform(-2, 2) for _ in range(3)] for _ in range(samples)]
    ys = [YS[k % 4] for k in range(samples)]
    outs = [net(x) for x in xs]
    loss = sum((out - y) ** 2 for out, y in zip(outs, ys, strict=True))
    return {"net": net, "xs": xs, "loss": loss}, outs


def found(names, root="loss"):
    recorded = record(names[root], names)
    return network.find(recorded, groups_of(recorded, names), names), recorded


@pytest.mark.parametrize("neuron", [Neuron, LoopNeuron, ListNeuron])
@pytest.mark.parametrize("samples", [1, 2, 4, 40])
def test_the_lectures_network(noted, neuron, samples):
    names, outs = lecture(samples, neuron)
    net, recorded = found(names)
    plan = net.plan
    assert [(c["name"], len(c["cells"])) for c in plan["columns"]] == [
        ("inputs", 3),
        ("layers[0]", 4),
        ("layers[1]", 4),
        ("layers[2]", 1),
    ]
    assert [c["about"] for c in plan["columns"]] == ["3 numbers", "4 × tanh", "4 × tanh", "tanh"] and plan[
        "samples"
    ] == samples
    assert len(plan["wires"]) == 12 + 16 + 4 and plan["cells"][-1]["name"] == "net.layers[2].neurons[0]"
    assert plan.get("error") == ("(out − y)²" if samples > 1 else None)
    names["loss"].backward()
    values, grads = np.array(recorded.data), np.array([math.nan if g is None else g for g in recorded.gradients()])
    numbers = Numbers(plan, net.numbers(values, grads))
    assert numbers.loss == names["loss"].data
    assert [float(v) for v in numbers.values[:, -1]] == [out.data for out in outs]
    assert [float(g) for g in numbers.grads[:, -1]] == pytest.approx([out.grad for out in outs], rel=1e-12)
    assert numbers.values[:, :3].tolist() == names["xs"]
    for k, p in enumerate(plan["parameters"]):
        layer, neuron_, short = re.fullmatch(r"net\.layers\[(\d)\]\.neurons\[(\d)\]\.(.*)", p["name"]).groups()
        owner = names["net"].layers[int(layer)].neurons[int(neuron_)]
        one = owner.b if short == "b" else owner.w[int(short[2:-1])]
        assert (numbers.parameters[k], numbers.parameter_grads[k]) == (one.data, pytest.approx(one.grad, rel=1e-12))
    # What a wire sends back: weight × the gradient at its neuron's sum; all of them are its source's gradient
    for wire in plan["wires"]:
        p, source, target = (
            plan["parameters"][wire["parameter"]],
            plan["cells"][wire["source"]],
            plan["cells"][wire["target"]],
        )
        assert (
            p["name"].startswith(target["name"])
            and p["short"] == f"w[{source['short'][source['short'].index('[') + 1 : -1]}]"
        )
    for s in range(samples):
        for cell in plan["columns"][1]["cells"]:
            wires = [w for w in plan["wires"] if w["source"] == cell]
            sent = sum(numbers.parameters[w["parameter"]] * numbers.deltas[s, w["target"]] for w in wires)
            assert sent == pytest.approx(float(numbers.grads[s, cell]), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("sizes", [(4, 4, 1), (16, 16, 1)])
def test_a_stored_network_can_be_read_in_a_narrow_column(noted, sizes):
    names, _ = lecture(sizes=sizes)
    view = graph(names["loss"], names=names)
    stored = view._repr_mimebundle_()[0]["image/svg+xml"]
    root = ElementTree.fromstring(stored)
    texts = [e for e in root.iter("{http://www.w3.org/2000/svg}text")]
    sizes_ = [float(found[1]) for e in texts if (found := re.search(r"font-size:([\d.]+)px", e.get("style", "")))]
    assert min([11.0, *sizes_]) * min(1, 530 / float(root.get("width"))) >= 9
    assert all(0 <= float(e.get("x")) <= float(root.get("width")) for e in texts)


def test_functions_without_classes(noted):
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

    names = {"loss": sum((model(x) - y) ** 2 for x, y in zip(XS, YS, strict=True))}
    net, _ = found(names)
    assert (
        [len(c["cells"]) for c in net.plan["columns"]] == [3, 3, 1]
        and net.plan["samples"] == 4
        and len(net.plan["wires"]) == 12
    )
    assert net.plan["name"] == "model" and [c["about"] for c in net.plan["columns"]][1:] == ["3 × tanh", "tanh"]


def test_what_stands_between_and_after_the_layers(noted):
    """An activation outside the neuron belongs to it; a sum of squared weights is a box of its own."""

    class Bare(Neuron):
        def __call__(self, x):
            return sum((wi * xi for wi, xi in zip(self.w, x, strict=True)), self.b)

    class Layers(MLP):
        def __call__(self, x):
            for layer in self.layers[:-1]:
                x = [h.relu() for h in layer(x)]
            return self.layers[-1](x)

    net = Layers(3, [4, 4, 1], random.Random(0), Bare)
    outs = [net(x) for x in XS]
    weights = [w for layer in net.layers for n in layer.neurons for w in n.w]
    reg_loss = 0.01 * sum(w * w for w in weights)
    loss = sum((1 - out * y).relu() for out, y in zip(outs, YS, strict=True)) * 0.25 + reg_loss
    one, _ = found({"net": net, "loss": loss, "reg_loss": reg_loss})
    plan = one.plan
    assert [c["about"] for c in plan["columns"]] == ["3 numbers", "4 × relu", "4 × relu", "linear"]
    assert plan["rest"] == "reg_loss" and parts(plan) == ["0", "1", "2", "3", "error", "rest", "loss"]
    assert plan["error"] == "relu(1 − out × y)"


def test_a_class_that_notes_no_calls():
    engine, nn = pytest.importorskip("micrograd.engine"), pytest.importorskip("micrograd.nn")
    random.seed(1)
    net = nn.MLP(3, [4, 4, 1])
    names = {"net": net, "loss": sum(((net(x) - y) ** 2 for x, y in zip(XS, YS, strict=True)), engine.Value(0.0))}
    one, _ = found(names)
    columns = [(c["name"], c["about"]) for c in one.plan["columns"]]
    assert columns[1:] == [("layers[0]", "4 × relu"), ("layers[1]", "4 × relu"), ("layers[2]", "linear")]
    assert len(one.plan["wires"]) == 32 and sorted(w["source"] for w in one.plan["wires"][:3]) == [0, 1, 2]


@pytest.mark.parametrize("samples, sizes", [(4, (4, 4, 1)), (40, (16, 16, 1))])
def test_a_network_whose_object_is_gone(noted, samples, sizes):
    loss = lecture(samples, sizes=sizes)[0]["loss"]
    gc.collect()
    net, _ = found({"loss": loss})
    assert [c["about"] for c in net.plan["columns"][1:]] == [f"{sizes[0]} × tanh", f"{sizes[1]} × tanh", "tanh"]
    assert net.plan["samples"] == samples and net.plan["error"] == "(out − y)²" and net.plan["name"] == "MLP"


class InASet:
    """A class as in the lecture: it keeps its parents in a set, and subtracting is adding the negative."""

    def __init__(self, data, parents=(), op=""):
        self.data, self.grad, self._prev, self._op, self._backward = data, 0.0, set(parents), op, lambda: None

    def __add__(self, other):
        other = other if isinstance(other, InASet) else InASet(other)
        return InASet(self.data + other.data, (self, other), "+")

    def __mul__(self, other):
        other = other if isinstance(other, InASet) else InASet(other)
        return InASet(self.data * other.data, (self, other), "*")

    def __pow__(self, n):
        return InASet(self.data**n, (self,), f"**{n}")

    def __sub__(self, other):
        return self + (-other)

    __radd__, __rmul__ = __add__, __mul__


class SetNeuron:
    def __init__(self, nin, rng):
        self.w, self.b = [InASet(rng.uniform(-1, 1)) for _ in range(nin)], InASet(rng.uniform(-1, 1))

    def __call__(self, x):
        return sum((w * v for w, v in zip(self.w, x, strict=True)), self.b)


@pytest.mark.parametrize("seed", range(4))
def test_parents_in_a_set_come_in_the_order_of_the_program(seed):
    rng = random.Random(seed)
    net = MLP(3, [4, 4, 1], rng, SetNeuron)
    names = {"net": net, "loss": sum((net(x) - y) ** 2 for x, y in zip(XS, YS, strict=True))}
    one, recorded = found(names)
    assert one.plan["error"] == "(out − y)²"  # which this class computes as out + (−y)
    assert [[recorded.data[i] for i in row[:3]] for row in one.outs] == XS


@pytest.mark.parametrize("program", ["(x * 3 + 2) ** 2", "sum(k * x.tanh() for k in range(30))"])
def test_no_network_where_there_is_none(noted, program):
    x = Value(1.0)
    view = graph(eval(program, {"x": x, "sum": sum, "range": range}), names={"x": x})
    assert view._level == "operations" and view.network == {}


def test_the_view_opens_at_its_network_and_goes_to_its_operations(noted):
    names, _ = lecture()
    view = graph(names["loss"], names=names)
    plan = json.loads(view.network["plan"])
    labels = [n["label"] for n in view.trace["nodes"]]
    assert plan["columns"] and labels == ["inputs", "layers[0]", "layers[1]", "layers[2]", "(out − y)²", "loss"]
    assert view.step == 6 and view.total == 12  # six columns; then 1 at the loss and five times back
    assert len(view.network["numbers"]) == 8 * (3 + 2 * 41 + 4 * (4 * 12 + 2))
    view.fold("operations")
    assert view.network == {"level": "operations"} and view.picture["cards"] and len(view.trace["nodes"]) > 20
    forward = sum(s["phase"] == "forward" for s in view.trace["steps"])
    assert view.step == forward
    view.fold("network")
    assert view.network["plan"] and view.step == 6
    assert "net.layers[0].neurons[3]" in repr(view)


@pytest.mark.parametrize("width", [480, 640, 853, 1280, 1600])
@pytest.mark.parametrize("sizes", [(4, 4, 1), (16, 16, 1), (64, 10)])
def test_it_fits_every_width(noted, width, sizes):
    names, _ = lecture(1 if len(sizes) == 2 else 4, sizes=sizes) if sizes[-1] == 1 else lecture_of(sizes)
    net, _ = found(names)
    at = geometry(net.plan, width)
    assert at.x[0] - at.r > 0 and at.x[-1] + at.box[0] <= width and at.r >= 5
    assert min(y - at.r for y in at.y) >= 0 and max(y + at.r for y in at.y) <= at.h
    assert all(b - a >= 2 * at.r for a, b in zip(at.x, at.x[1:], strict=False))


def lecture_of(sizes):
    net = MLP(3, list(sizes), random.Random(0))
    return {"net": net, "loss": sum(net(XS[0]))}, []


def test_the_still_picture(noted):
    names, _ = lecture()
    view = graph(names["loss"], names=names)
    assert view.svg() == view.svg()
    for step in range(view.total + 1):
        root = ElementTree.fromstring(view.svg(step))
        texts = [e for e in root.iter() if e.tag.endswith("text")]
        assert len([e for e in root.iter() if e.tag.endswith("circle")]) >= 12 and texts
        for e in texts:
            assert 0 <= float(e.get("x")) <= 900
    whole = view.svg()
    # As below the live one
    assert ">backward, step 3 of 6: " in view.svg(9) and ">forward, step 2 of 6: " in view.svg(2)
    assert (
        "layers[1]" in whole and "(out − y)²" in whole and 'class="w b"' in whole and 'class="w b"' not in view.svg(6)
    )


def test_saved_as_a_page_and_as_pictures(noted, tmp_path):
    names, _ = lecture(2)
    view = graph(names["loss"], names=names)
    for kind in ("html", "svg", "png", "gif", "dot"):
        assert view.save(tmp_path / f"n.{kind}").stat().st_size > 100
    assert '"network"' in (tmp_path / "n.html").read_text()


def test_a_neuron_opens_into_its_own_operations(noted):
    names, outs = lecture()
    names["loss"].backward()
    view = graph(names["loss"], names=names)
    plan = json.loads(view.network["plan"])
    cell = next(i for i, c in enumerate(plan["cells"]) if c["name"] == "net.layers[1].neurons[2]")
    view.step = 3  # layers[1] has computed
    view.look(cell, 1)
    inner = json.loads(view.network["inner"])
    assert (inner["cell"], inner["sample"], inner["first"]) == (cell, 1, 6) and len(inner["products"]) == 4
    # Its nine operations come before its layer
    assert view.trace["steps"][view.step - 1]["node"] == 2 and view.step == 3 + 9
    assert view.total == 12 + 9 + 1 + 17  # and its gradient, then each of its edges
    neuron = names["net"].layers[1].neurons[2]
    nodes, sums = view.trace["nodes"], replayed(view.trace)
    for k, p in enumerate(inner["products"]):
        assert nodes[p["weight"]]["value"] == neuron.w[k].data and nodes[p["product"]]["op"] == "*"
        assert nodes[p["product"]]["value"] == neuron.w[k].data * nodes[p["input"]]["value"]
    whole = view.whole["nodes"]
    same = next(n for n in whole if n["value"] == nodes[inner["out"]]["value"] and n["op"] == "tanh")
    assert sums[inner["out"]] == pytest.approx(same["grad"], rel=1e-12)
    each = []  # a weight's gradient is the sum of what each sample sends it
    for s in range(4):
        view.look(cell, s)
        inner = json.loads(view.network["inner"])
        each.append([replayed(view.trace)[p["weight"]] for p in inner["products"]])
    assert np.sum(each, axis=0) == pytest.approx([w.grad for w in neuron.w], rel=1e-9)
    view.step = view.total - 3  # inside the neuron
    view.look(-1)
    assert "inner" not in view.network and view.total == 12


def replayed(t):
    """The gradient that each node has at the end, by its id."""
    out = {}
    for row in replay_steps(t):
        if row["phase"] == "backward":
            out[row["node"] if row["to"] is None else row["to"]] = row["after"]
    return out


def test_messages_that_open_and_close(noted):
    names, _ = lecture()
    view = graph(names["loss"], names=names)
    for content in ({"type": "look", "cell": 8, "sample": 2}, {"type": "look", "cell": 8, "sample": "2"}):
        view._on_message(view, content, [])
        assert json.loads(view.network["inner"])["cell"] == 8
    for wrong in (2, 99, -5):  # an input, and no cells
        view.look(8)
        view._on_message(view, {"type": "look", "cell": wrong, "sample": 0}, [])
        assert "inner" not in view.network
    view._on_message(view, {"type": "look", "cell": "8"}, [])
    view.fold("operations")
    view.look(8)
    assert view.network == {"level": "operations"}


def test_a_step_of_65_000_operations_opens_without_a_trace_of_them(noted):
    rng = random.Random(0)
    net = MLP(2, [16, 16, 1], rng)
    loss = sum((net([rng.uniform(-1, 1), rng.uniform(-1, 1)]) - (-1.0) ** k) ** 2 for k in range(100))
    names = {"net": net, "loss": loss}
    start = time.process_time()
    view = graph(loss, names=names)
    took = time.process_time() - start
    assert view._level == "network" and not view._subject.traced and took < 3.0  # 0.8 s on a quiet core
    plan = json.loads(view.network["plan"])
    assert plan["samples"] == 100 and plan["nodes"] > 65_000 and plan["error"] == "(out − y)²"
    assert len(view.network["plan"]) < 60_000 and len(view.network["numbers"]) < 130_000
    loss.backward()
    numbers = Numbers(plan, np.frombuffer(view.network["numbers"], "<f8"))
    for k, p in enumerate(plan["parameters"]):
        layer, neuron, short = re.fullmatch(r"net\.layers\[(\d)\]\.neurons\[(\d+)\]\.(.*)", p["name"]).groups()
        owner = net.layers[int(layer)].neurons[int(neuron)]
        one = owner.b if short == "b" else owner.w[int(short[2:-1])]
        assert numbers.parameter_grads[k] == pytest.approx(one.grad, rel=1e-9)
    assert float(numbers.errors.sum()) == pytest.approx(loss.data)
    view.look(34, 99)  # of a sample that was not recorded
    assert len(view.trace["nodes"]) > 30 and not view._subject.traced
    assert "moved" not in view.network
    k = next(i for i, p in enumerate(plan["parameters"]) if p["name"] == "net.layers[0].neurons[3].w[1]")
    view._on_message(view, {"type": "slide", "parameter": k}, [])
    points = np.frombuffer(view.network["moved"]["points"], "<f8")
    rows = np.frombuffer(view.network["moved"]["rows"], "<f8").reshape(len(points), -1)
    w = net.layers[0].neurons[3].w[1]
    kept, w.data = w.data, float(points[2])
    xs = [view._subject._graph.data[int(i)] for row in view._subject.network.outs[:, :2] for i in row]
    moved = sum((net(x) - (-1.0) ** k) ** 2 for k, x in enumerate(zip(xs[::2], xs[1::2], strict=True)))
    w.data = kept
    assert Numbers(plan, rows[2]).loss == pytest.approx(moved.data, rel=1e-9) and len(points) > 20
    assert len(view.network["moved"]["rows"]) < 4_000_000 and not view._subject.traced


def test_the_slider_of_a_weight(noted):
    """All numbers at all its places are the engine's: at the middle those of the recording, elsewhere those of a new run."""
    names, _ = lecture()
    net = names["net"]
    view = graph(names["loss"], names=names)
    plan = json.loads(view.network["plan"])
    k = next(i for i, p in enumerate(plan["parameters"]) if p["name"] == "net.layers[0].neurons[1].w[2]")
    view._on_message(view, {"type": "slide", "parameter": k}, [])
    moved = view.network["moved"]
    points = np.frombuffer(moved["points"], "<f8")
    rows = np.frombuffer(moved["rows"], "<f8").reshape(len(points), -1)
    w = net.layers[0].neurons[1].w[2]
    home = rows[points.tolist().index(w.data)]
    assert moved["parameter"] == k and np.allclose(
        home, np.frombuffer(view.network["numbers"], "<f8"), rtol=1e-12, equal_nan=True
    )
    kept = w.data
    for p in (0, len(points) // 3, len(points) - 1):
        w.data = float(points[p])
        loss = sum((net(x) - y) ** 2 for x, y in zip(XS, YS, strict=True))
        for layer in net.layers:
            for one in (q for n in layer.neurons for q in (*n.w, n.b)):
                one.grad = 0.0
        loss.backward()
        numbers = Numbers(plan, rows[p])
        assert numbers.loss == pytest.approx(loss.data, rel=1e-12) and numbers.parameter_grads[k] == pytest.approx(
            w.grad, rel=1e-9
        )
    w.data = kept
    view._on_message(view, {"type": "slide", "parameter": 999}, [])
    assert view.network["moved"]["parameter"] == k
