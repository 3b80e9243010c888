"""The kernel's half of the view: names, sweeps, what a moved slider does, what is kept alive, what is refused."""

import gc
import json
import math
import weakref

import comm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad as torch
from minigrad import Value, scalar
from minigrad.tracing.trace import fmt
from widgets import GraphView, cells, front_end, graph
from widgets.front_end import packed
from widgets.graph import not_a_graph
from widgets.view.sweeps import slider_points, unpack


@pytest.fixture(autouse=True)
def no_lines():
    """Whatever another file's extension has left on: recorded lines keep values, and name what has no part."""
    scalar.record_lines(False)


def table(view, leaf):
    """One sweep as arrays: points, values, gradients, locals."""
    sweep = next(s for s in view.sweeps if s["node"] == leaf)
    nodes, edges = len(view.trace["nodes"]), len(view.trace["edges"])
    xs, rows = unpack(sweep)
    assert rows.shape[1] == 2 * nodes + edges
    return xs, rows[:, :nodes], rows[:, nodes : 2 * nodes], rows[:, 2 * nodes :]


def neuron():
    x, w, b = Value(0.5), Value(-1.5), Value(0.25)
    n = x * w + b
    y = n.tanh()
    return x, w, b, n, y


def test_names_come_from_the_caller():
    x, w, b, n, y = neuron()
    weights = [Value(1.0), Value(2.0)]
    out = y * weights[0] + weights[1]
    labels = {node["label"] for node in graph(out).trace["nodes"]}
    assert {"x", "w", "b", "n", "y", "weights[0]", "weights[1]", "out"} <= labels


def test_starts_after_the_forward_pass():
    x = Value(1.0)
    y = (3 * x + 2) ** 2
    assert (
        graph(y).step,
        graph(y).total,
        graph(y, step="start").step,
        graph(y, step="end").step,
        graph(y, step=2).step,
    ) == (4, 8, 0, 8, 2)


def test_sweeps_hold_the_true_function():
    x, w, b, n, y = neuron()
    view = graph(y)
    ids = {node["label"]: node["id"] for node in view.trace["nodes"]}
    xs, values, grads, _ = table(view, ids["x"])
    np.testing.assert_allclose(values[:, ids["y"]], np.tanh(xs * -1.5 + 0.25), rtol=1e-13)
    slope = 1 - np.tanh(xs * -1.5 + 0.25) ** 2
    np.testing.assert_allclose(grads[:, ids["x"]], slope * -1.5, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(grads[:, ids["w"]], slope * xs, rtol=1e-12, atol=1e-15)
    base = {str(ids["x"]): 0.5, str(ids["w"]): -1.5, str(ids["b"]): 0.25}
    assert len(view.sweeps) == 3 and all(s["base"] == base for s in view.sweeps)


def test_a_moved_slider_changes_the_view_and_nothing_of_the_learners():
    x, w, b, n, y = neuron()
    y.backward()
    held = [(v.data, v.grad) for v in (x, w, b, n, y)]
    view = graph(y)
    ids = {node["label"]: node["id"] for node in view.trace["nodes"]}
    before = {s["node"]: s for s in view.sweeps}
    view.inputs = {**view.inputs, str(ids["x"]): 1.0}
    assert [(v.data, v.grad) for v in (x, w, b, n, y)] == held
    now = {n["label"]: n for n in view.shown_now()["nodes"]}
    assert [now[name]["value"] for name in "xy"] == [1.0, math.tanh(-1.25)]
    assert now["w"]["grad"] == pytest.approx(1 - math.tanh(-1.25) ** 2)
    assert {n["label"]: n["value"] for n in graph(y).whole["nodes"]}["x"] == 0.5, (
        "a new view starts where the learner's inputs stand"
    )
    after = {s["node"]: s for s in view.sweeps}
    assert after[ids["x"]] is before[ids["x"]], "the moved input's own table still holds"
    view.inputs = {**view.inputs, str(ids["x"]): 0.123456}
    now = {s["node"]: s for s in view.sweeps}
    assert 0.123456 in unpack(now[ids["x"]])[0], "but not from a place that is none of its points"
    view.inputs = {**view.inputs, str(ids["x"]): 1.0}
    xs, values, _, _ = table(view, ids["w"])
    np.testing.assert_allclose(values[:, ids["y"]], np.tanh(xs + 0.25), rtol=1e-13)
    view.reopen()
    assert view.inputs[str(ids["x"])] == 1.0, "shown again, the sliders stand where they stood"
    x.data = 2.0
    view.reopen()
    assert view.inputs[str(ids["x"])] == 2.0 and view.recorded[str(ids["x"])] == 2.0


def test_what_the_learner_changes_is_shown_when_shown_again():
    x = Value(1.0)
    y = (3 * x + 2) ** 2
    view = graph(y)
    x.data = 2.0
    bundle, _ = view._repr_mimebundle_()
    assert "64" in bundle["text/plain"] and "48" in bundle["text/plain"] and ">64<" in bundle["image/svg+xml"]
    assert y.data == 64.0 and "computed again" in view.notice
    assert graph(y).notice == ""


def test_the_bundle():
    x = Value(1.0)
    view = graph(3 * x)
    bundle, _ = view._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/plain", "image/svg+xml"}
    assert "0x" not in bundle["text/plain"] and repr(view) == bundle["text/plain"]


def test_everything_sent_is_json():
    x = Value(-1.0)
    view = graph(x.log() + x.sqrt() + 1 / (x + 1))
    state = view.get_state(["inputs", "recorded", "leaves", "step", "notice"])
    json.dumps(state, allow_nan=False)
    for name in ("trace", "picture"):
        json.loads(view.get_state([name])[name], parse_constant=pytest.fail)


def test_nothing_of_the_learners_is_kept_alive():
    def made():  # a frame of its own: CPython keeps what was in a frame whose variables have been looked at
        x, w, b, n, y = neuron()
        return graph(y), [weakref.ref(v) for v in (x, w, b, n, y)]

    view, refs = made()
    gc.collect()
    assert [r() for r in refs] == [None] * 5
    leaf = view.leaves[0]
    view.inputs = {**view.inputs, str(leaf): 2.0}  # no learner's value left: the tables are renewed all the same
    _, values, _, _ = table(view, view.leaves[1])
    assert np.isfinite(values).all() and (values[:, leaf] == 2.0).all()


def test_a_variable_that_has_no_part_at_all_is_named_once():
    x, other, pair = Value(2.0), {"w": [Value(1.0), Value(2.0)], "b": Value(3.0)}, [Value(4.0), Value(5.0), Value(6.0)]
    y = x * pair[0]
    view = graph(y, names={"x": x, "other": other, "pair": pair, "y": y})
    assert view.notice == "other, pair[1] and pair[2] are not part of y, so no gradient reaches them."


def test_inputs_without_a_part_are_named_in_the_view_alone():
    old = Value(1.0)
    x, b = Value(2.0), Value(3.0)
    unseen = b.data
    more = {"w": [Value(4.0)], "twice": b}
    y = x * x + unseen
    late = Value(5.0)
    view = graph(y, names={"old": old, "x": x, "b": b, **more, "y": y, "late": late})
    assert view.notice == "b and w[0] are not part of y, so no gradient reaches them."
    assert "No part" not in repr(view) and "No part" not in view.svg()
    b_is_gone = weakref.ref(b)
    del b, more
    assert b_is_gone() is None
    assert graph(x * x, names={"x": x}).notice == ""


def test_an_input_that_stands_first_in_its_cell_is_named_too():
    scalar.record_lines(True)
    try:
        names: dict = {"Value": Value}
        exec(compile("old = Value(0.)", "<cell 1>", "exec"), names)  # noqa: S102
        exec(compile("b, x = Value(3.), Value(2.)\ny = x * x", "<cell 2>", "exec"), names)  # noqa: S102
        assert graph(names["y"], names=names).notice == "b is not part of y, so no gradient reaches it."
    finally:
        scalar.record_lines(False)


def test_a_hundred_runs_of_a_cell_leave_nothing_behind(monkeypatch):
    import ipywidgets

    x, w, b, n, y = neuron()

    def once(at):
        monkeypatch.setattr(cells, "running", lambda: ("cell 7", f"run {at}"))
        graph(y)._repr_mimebundle_()

    once(0)
    gc.collect()
    kinds = (GraphView, Value)
    before = [sum(isinstance(o, k) for o in gc.get_objects()) for k in kinds]
    models = len(ipywidgets.widgets.widget._instances)
    for at in range(1, 101):
        once(at)
    gc.collect()
    after = [sum(isinstance(o, k) for o in gc.get_objects()) for k in kinds]
    assert after == before and len(ipywidgets.widgets.widget._instances) == models


def test_a_view_that_its_cell_no_longer_shows_can_be_shown_again(monkeypatch):
    cell = ["cell 1", "run 1"]
    monkeypatch.setattr(cells, "running", lambda: tuple(cell))
    x, w, b, n, y = neuron()
    first = graph(y)
    first._repr_mimebundle_()
    cell[:] = "cell 2", "run 2"
    first._repr_mimebundle_()
    cell[:] = "cell 1", "run 3"
    graph(y)._repr_mimebundle_()
    assert first.comm is not None, "the other cell still shows it"
    cell[:] = "cell 2", "run 4"
    graph(n)._repr_mimebundle_()
    assert first.comm is None and first.sweeps == []
    cell[:] = "cell 3", "run 5"
    bundle, _ = first._repr_mimebundle_()
    assert first.comm is not None and len(first.sweeps) == 3 and first.front.code == packed("views.js")
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == first.model_id


@pytest.fixture
def sent(monkeypatch):
    """The messages to the browser, each as (kind, bytes)."""
    found = []

    def publish(self, kind, data=None, metadata=None, buffers=None, **keys):
        text = json.dumps({"data": data, "metadata": metadata, **keys}, ensure_ascii=False)
        found.append((kind, len(text.encode()) + sum(memoryview(b).nbytes for b in buffers or ())))

    monkeypatch.setattr(comm.DummyComm, "publish_msg", publish)
    return found


def test_the_code_is_sent_once_and_a_view_is_small(sent, monkeypatch):
    monkeypatch.setattr(front_end, "_here", {})
    x = Value(1.0)
    y = (3 * x + 2) ** 2
    graph(y, names={"x": x, "y": y})
    assert sum(size for _, size in sent) > 30_000
    sent.clear()
    view = graph(y, names={"x": x, "y": y})
    assert [kind for kind, _ in sent] == ["comm_open"] and sent[0][1] < 12_100
    sent.clear()
    view.fold("all")
    assert len(sent) == 1, "a new trace, its picture and its tables belong together"


def test_a_forgotten_zero_grad_is_noticed():
    def train(clear, steps=3):
        w = Value(1.0)
        for _ in range(steps):
            loss = (w - 3) ** 2
            if clear:
                w.grad = 0.0
            loss.backward()
            w.data -= 0.1 * w.grad
        return graph(loss, names={"w": w, "loss": loss}).notice

    says = "Gradients add up until you clear them, so it probably still holds"
    assert says in train(clear=False) and says not in train(clear=True)
    assert says not in train(clear=False, steps=1)
    v, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    for notices in ("", "w.grad and v.grad are not what this backward pass alone"):
        loss = (w * v).sum()
        assert "add up" not in graph(loss, names={"w": w, "v": v, "loss": loss}).notice, (
            "backward() was not called from this one"
        )
        loss.backward()
        shown = graph(loss, names={"w": w, "v": v, "loss": loss}).notice
        assert notices in shown and ("Gradients add up" in shown) == bool(notices)


def test_another_run_of_the_program_keeps_the_place(sent):
    def run(at):
        x = Value(at)
        return x, (3 * x + 2) ** 2

    x, y = run(1.0)
    view = GraphView(y, names={"x": x, "y": y}, sliders=False)
    assert view.sweeps == [] and view.leaves == []
    view.step = 7
    for at in (2.0, -1.5, 0.0):
        sent.clear()
        x, y = run(at)
        view.retrace(y, {"x": x, "y": y})
        assert sum(size for _, size in sent) < 4_000
        assert view.step == 7 and view.trace["nodes"][view.trace["root"]]["value"] == y.data
    view.step = 4  # the end of the forward pass of a program that grows
    x = Value(3.0)
    y = (3 * x + 2) ** 2 + x
    view.retrace(y, {"x": x, "y": y})
    assert view.step == 5 and view.trace["title"] == "y"
    with pytest.raises(TypeError, match="plain number"):
        view.retrace(3.0)
    assert view.step == 5


def test_open_folds_stay_open_in_another_run():
    def run(at):
        x = Value(at)
        h = x
        for _ in range(60):
            h = (h * 0.9 + x).tanh()
        return x, h

    x, h = run(0.5)
    view = graph(h, names={"x": x, "h": h})
    closed = next(n["fold"] for n in view.trace["nodes"] if n["kind"] == "fold")
    view.fold(closed)
    cards = len(view.trace["nodes"])
    x, h = run(0.75)
    view.retrace(h, {"x": x, "h": h})
    assert len(view.trace["nodes"]) == cards and closed not in [n.get("fold") for n in view.trace["nodes"]]
    assert view.trace["nodes"][view.trace["root"]]["value"] == h.data


def test_a_front_end_that_was_closed_is_sent_again(sent):
    x = Value(1.0)
    first = graph(x * x)
    first.front.close()
    sent.clear()
    again = graph(x * x)
    assert again.front is not first.front and sum(size for _, size in sent) > 30_000
    assert graph(x).front is again.front


def test_a_large_graph_opens_folded_and_says_so():
    x = Value(1.0)
    h = x
    for _ in range(1000):
        h = h * 1.001 + 0.01
    view = graph(h)
    assert view.notice.startswith("4,001 nodes on ") and view.can_fold
    assert len(view.picture["cards"]) == len(view.trace["nodes"]) < 60
    root = view.trace["nodes"][view.trace["root"]]
    assert root["value"] == h.data and root["grad"] == 1.0
    view.svg(), view._repr_mimebundle_()
    first = next(n for n in view.trace["nodes"] if n["kind"] == "fold")
    view.fold(first["fold"])
    assert [f["fold"] for f in view.picture["frames"]].count(first["fold"]) == 1
    view.fold(first["fold"])
    assert first["fold"] in [n.get("fold") for n in view.trace["nodes"]]


def test_a_large_graph_is_not_traced_whole():
    x = Value(0.5)
    h = x
    for _ in range(10_000):
        h = h * 0.9999 + x
    view = graph(h)
    assert "30,001 nodes" in view.notice and len(view.trace["nodes"]) < 60
    labels = {n["label"]: n for n in view.trace["nodes"]}
    assert labels["h"]["value"] == h.data and labels["h"]["grad"] == 1.0
    assert h._prev and x._prev == (), "the learner's own graph is as it was"


def test_a_slider_in_a_folded_graph_and_after_its_fold_is_opened():
    x, w = Value(0.5), Value(-1.5)
    h = x
    for _ in range(60):
        h = (h * w + x).tanh()
    view = graph(h)
    leaf = next(n["id"] for n in view.trace["nodes"] if n["label"] == "x")
    view.inputs = {**view.inputs, str(leaf): 1.25}

    def shown():
        sweep = next(s for s in view.sweeps if s["base"] == view.inputs)
        xs, rows = unpack(sweep)
        row = rows[list(xs).index(view.inputs[str(sweep["node"])])]
        return {n["label"]: (row[n["id"]], row[len(view.trace["nodes"]) + n["id"]]) for n in view.trace["nodes"]}

    value, grad = shown()["h"][0], shown()["x"][1]
    y = Value(1.25)
    g = y
    for _ in range(60):
        g = (g * -1.5 + y).tanh()
    g.backward()
    assert value == g.data and grad == pytest.approx(y.grad, rel=1e-12)
    fold = next(n["fold"] for n in view.trace["nodes"] if n["kind"] == "fold" and n["expr"].endswith("operations"))
    view.fold(fold)
    assert shown()["h"][0] == g.data and shown()["x"][1] == pytest.approx(y.grad, rel=1e-12)
    assert f"h = {fmt(g.data)}" in view.svg()


def test_a_class_of_the_learners_own():
    class Mine:
        def __init__(self, data, prev=(), op=""):
            self.data, self.grad, self._prev, self._op = data, 0.0, prev, op

        def __mul__(self, other):
            return Mine(self.data * other.data, (self, other), "*")

    p, q = Mine(2.0), Mine(3.0)
    r = p * q
    view = graph(r)
    ids = {n["label"]: n["id"] for n in view.trace["nodes"]}
    assert {"p", "q", "r"} <= set(ids) and len(view.sweeps) == 2
    view.inputs = {**view.inputs, str(ids["p"]): 5.0}
    # The objects of another class are left alone
    assert p.data == 2.0 and view._subject.now()["nodes"][ids["r"]]["value"] == 15.0


def test_an_operation_that_the_engine_does_not_know_has_no_sliders():
    class Mine:
        def __init__(self, data, prev=(), op=""):
            self.data, self._prev, self._op = data, prev, op

    x = Mine(2.0)
    view = graph(Mine(7.0, (x,), "mystery"))
    assert view.sweeps == [] and "mystery" in view.svg()


@pytest.mark.parametrize(
    "thing, says",
    [
        (3, "plain number"),
        (2.5, "x = Value(2.5)"),
        ([Value(1.0)], "sum(values)"),
        ({"a": Value(1.0)}, "sum(values)"),
        ([1, 2], "list"),
        ("y", "str"),
        (None, "NoneType"),
        (math.sin, "function"),
        (Value, "class"),
        (type("Scalar", (), {})(), "no attributes"),
        (type("Scalar", (), {"__init__": lambda self: vars(self).update(data=2.0)})(), "`_prev`"),
        (object(), "a scalar class of your own"),
    ],
)
def test_what_has_no_graph(thing, says):
    with pytest.raises(TypeError) as error:
        graph(thing)
    assert says in str(error.value) and len(str(error.value)) < 200


def test_values_have_graphs():
    assert not_a_graph(Value(1.0)) == ""


@pytest.mark.parametrize(
    "program",
    [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a**b,
        lambda a, b: a**-2 + 3**b,
        lambda a, b: -a,
        lambda a, b: abs(a - b),
        lambda a, b: a.exp() + b.log(),
        lambda a, b: a.sin() * b.cos(),
        lambda a, b: a.tanh() + b.sigmoid() + a.relu() + b.sqrt(),
        lambda a, b: a.max(b) + a.min(b) + a**0.5,
        lambda a, b: 1 / a - 2 * b,
    ],
)
def test_a_slider_runs_every_operation_again(program):
    a, b = Value(0.7), Value(1.3)
    y = program(a, b)
    view = graph(y)
    keys = {n["label"]: str(n["id"]) for n in view.trace["nodes"]}
    new = {**view.inputs, keys["a"]: 2.25}
    if "b" in keys and keys["b"] in new:
        new[keys["b"]] = 0.4
    held = y.data
    view.inputs = new
    fresh = program(Value(2.25), Value(0.4))
    now = view.shown_now()
    assert now["nodes"][now["root"]]["value"] == pytest.approx(fresh.data, rel=1e-15) and (a.data, b.data, y.data) == (
        0.7,
        1.3,
        held,
    )


@settings(max_examples=300, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(5, 300))
def test_slider_points(value, room):
    points = slider_points(value, value, room)
    assert points == sorted(set(points)) and value in points
    assert points[0] <= value <= points[-1] and points[0] < points[-1] and len(points) <= max(room, 51) + 1
    assert 0.0 in points


def test_sliders_stand_on_round_numbers():
    assert slider_points(1.0, 1.0)[:3] == [-3.0, -2.95, -2.9]
    assert slider_points(0.5, 0.5)[-2:] == [1.95, 2.0]
    assert slider_points(0.0, 0.0)[-2:] == [0.98, 1.0]


def compiled_step():
    import minigrad as torch

    w = torch.ones(3, requires_grad=True)

    def step(x):
        w.grad = None
        loss = (torch.tanh(x @ w) - 1).abs().mean()
        loss.backward()
        return loss

    return torch.compile(step), torch.arange(6.0).reshape(2, 3), torch


def test_the_cards_of_a_compiled_step_say_which_loop_they_became():
    pytest.importorskip("numba")
    step, x, torch = compiled_step()
    with pytest.raises(TypeError, match="step has no program yet. Call it"):
        graph(step)
    for _ in range(4):
        step(x)
    view = graph(step)
    nodes = {n["label"]: n for n in view.trace["nodes"]}
    found = {n["op"]: (n["became"]["forward"], n["became"]["backward"]) for n in nodes.values() if "became" in n}
    assert found["MvBackward0"] == (["matmul"], ["mv_back_y"]) and found["TanhBackward0"] == (["loop1"], ["loop1"])
    assert found["MeanBackward0"][0] == ["loop1"] and "became" not in nodes["w"]
    assert nodes["loss"]["became"]["lines"][-1] in step.source
    assert ("loop1", "loop1") in [c.get("became") for c in view.picture["cards"]]
    at = next(
        k for k, s in enumerate(view.trace["steps"], 1) if s["kind"] == "compute" and s["node"] == nodes["loss"]["id"]
    )
    assert view.trace["steps"][at - 1]["say"].endswith("In the program: loop1.")
    assert ">loop1</text>" in view.svg() and ") (compiled: loop1; going back loop1)" in repr(view)
    assert "says what became of it in the program" in view.notice and "used up" not in view.notice + repr(view)
    assert all(
        "became" not in n for n in graph((torch.tanh(x @ torch.ones(3, requires_grad=True))).sum()).trace["nodes"]
    )


def test_a_layer_of_a_compiled_step_says_what_became_of_its_operations():
    pytest.importorskip("numba")
    import minigrad as torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), *[torch.nn.Linear(4, 4) for _ in range(3)])

    def step(x):
        model.zero_grad()
        model(x).pow(2).mean().backward()

    fast = torch.compile(step)
    for _ in range(4):
        fast(torch.ones(2, 3))
    view = graph(fast, limit=1)
    folds = [n["became"] for n in view.trace["nodes"] if n["kind"] == "fold" and "became" in n]
    assert folds and all("view" not in f["forward"] and not f["lines"] for f in folds if len(f["forward"]) > 1)
    assert any("matmul" in f["forward"] for f in folds)


def test_a_compiled_step_that_runs_as_it_is_says_why_in_place_of_a_graph():
    import minigrad as torch

    def step(x):
        x.grad = None
        return x.detach() * x.sum().item()

    fast = torch.compile(step)
    with pytest.warns(UserWarning):
        for _ in range(3):
            fast(torch.ones(3))
    assert not_a_graph(fast) == fast.why and "item" in fast.why


def test_of_a_graph_that_is_traced_in_part_parameters_keep_their_names():
    """Names below the top level, too, in the part of the graph that is traced."""
    state_dict = {"wte": [[Value(0.5), Value(-0.5)]], "deep": {"b": [Value(0.1)]}}
    y = Value(1.0)
    for _ in range(6_500):
        y = y * 0.5 + state_dict["wte"][0][1] * 0.25 + state_dict["deep"]["b"][0]
    loss = y * state_dict["wte"][0][0]
    view = graph(loss, names={"state_dict": state_dict, "loss": loss})
    assert any("only the newest" in text for text in view._subject.words)
    labels = {n["label"] for n in view.whole["nodes"] if n["named"]}
    assert {"state_dict['wte'][0][0]", "state_dict['wte'][0][1]", "state_dict['deep']['b'][0]", "loss"} <= labels


def test_a_graph_opens_with_its_gradients_once_backward_has_run():
    x = Value(2.0)
    y = (x * 3 + 1) ** 2
    assert graph(y).step < graph(y).total
    y.backward()
    assert graph(y).step == graph(y).total and graph(y, step="start").step == 0
    a = pytest.importorskip("micrograd.engine").Value(2.0)
    b = a * a
    assert graph(b).step < graph(b).total
    b.backward()
    assert graph(b).step == graph(b).total


def test_a_curve_with_a_spike_is_shown_where_it_is_seen():
    y = x = Value(1.1)
    for _ in range(6):
        y = y * 0.5 * (y + 1)
    view = graph(y, names={"x": x, "y": y})
    (sweep,) = view.sweeps
    points, rows = unpack(sweep)
    results = np.abs(rows[:, view.trace["root"]])
    assert 1.1 in points and len(points) > 11 and points[0] < 1.1 < points[-1]
    assert results.max() < 300 * abs(y.data), "else the curve is a flat line and a spike"


def test_what_a_second_pass_left_is_told_with_both_numbers():
    x = Value(3.0)
    y = x * x + x
    y.backward()
    y.backward()
    assert (
        "x.grad is 14, but this backward pass alone gives 7. Gradients add up"
        in graph(y, names={"x": x, "y": y}).notice
    )
