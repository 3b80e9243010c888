"""micrograd's own Value and learners' classes with tuples, lists and sets: picture, sliders and duel show their true numbers."""

import inspect
import random

import pytest

from minigrad import Value
from minigrad.tape import Tape
from minigrad.tracing.trace import record, trace
from widgets import duel, graph

micrograd = pytest.importorskip("micrograd.engine", reason="the dev extra has it: pip install -e .[dev]")
nn = pytest.importorskip("micrograd.nn")


def own(container):
    """micrograd's class with another container for its parents."""
    names: dict = {}
    exec(inspect.getsource(micrograd).replace("set(_children)", f"{container}(_children)"), names)
    return names["Value"]


KINDS = {"micrograd": micrograd.Value, "tuple": own("tuple"), "list": own("list"), "Value": Value}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def program(rng, inputs, length=7):
    """A random expression of + × − and powers, with shared parts; the last line uses all that is left over."""
    pool = list(inputs)
    for _ in range(length):
        a, b = rng.choice(pool), rng.choice(pool)
        step = rng.choice(
            [lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - b, lambda a, b: a * a + 3, lambda a, b: b**2]
        )
        pool.append(step(a, b))
    out = pool[len(inputs)]
    for part in pool[len(inputs) + 1 :]:
        out = out + part
    return out


def numbers(shown):
    """What a trace says of each named node."""
    return {n["label"]: (n["value"], n["grad"]) for n in shown["nodes"] if n["named"]}


@kinds
@pytest.mark.parametrize("seed", range(12))
def test_the_picture_has_the_numbers_of_the_objects(kind, seed):
    rng = random.Random(seed)
    data = [rng.choice([-3.0, -2.0, 2.0, 0.5, 1.5]) for _ in range(3)]
    a, b, c = map(kind, data)
    out = program(rng, [a, b, c])
    names = {"out": out, "c": c, "b": b, "a": a}
    view = graph(out, names=names)
    out.backward()
    for label, (value, grad) in numbers(view.whole).items():
        assert value == names[label].data, label
        if grad is not None:  # a part that nothing of the result depends on
            assert grad == pytest.approx(names[label].grad, rel=1e-12), label
    # at the recorded point a slider's table says the same as the picture, and elsewhere the same as a new run
    for label in "abc":
        shown = {n["label"]: n["id"] for n in view.whole["nodes"] if n["kind"] == "leaf"}
        if label not in shown:
            continue
        for moved in (names[label].data, 0.75):
            values, grads, _ = view._subject.sweep(shown[label], [moved])
            again = [kind(moved if name == label else x) for name, x in zip("abc", data, strict=True)]
            rng = random.Random(seed)
            [rng.choice([-3.0, -2.0, 2.0, 0.5, 1.5]) for _ in range(3)]
            new = program(rng, again)
            new.backward()
            assert values[0, view.whole["root"]] == pytest.approx(new.data, rel=1e-12)
            for name, leaf in zip("abc", again, strict=True):
                if name in shown:
                    assert values[0, shown[name]] == leaf.data and grads[0, shown[name]] == pytest.approx(
                        leaf.grad, rel=1e-12
                    )


def test_the_first_example_of_a_comparer():
    a, b = micrograd.Value(2.0), micrograd.Value(-3.0)
    d = a * b
    d.backward()
    names = {"d": d, "b": b, "a": a}
    assert numbers(graph(d, names=names).trace) == {"a": (2.0, -3.0), "b": (-3.0, 2.0), "d": (-6.0, 1.0)}
    assert numbers(graph(d, names=dict(reversed(names.items()))).trace) == {
        "a": (2.0, -3.0),
        "b": (-3.0, 2.0),
        "d": (-6.0, 1.0),
    }


@pytest.mark.parametrize("seed", range(4))
def test_a_network_of_micrograd(seed):
    random.seed(seed)
    model = nn.MLP(3, [4, 4, 1])
    xs = [micrograd.Value(x) for x in (1.0, -2.0, 0.5)]
    loss = (model(xs) - 1) ** 2
    view = graph(loss, names={"model": model, "xs": xs, "loss": loss})
    assert view.network["plan"]  # it opens as a network; this is about its operations
    view.fold("operations")
    loss.backward()
    truth = {f"model.layers[{i}].neurons[{j}].w[{k}]": w for i, layer in enumerate(model.layers)
             for j, neuron in enumerate(layer.neurons) for k, w in enumerate(neuron.w)}  # fmt: skip
    shown = numbers(view.whole)
    assert truth.keys() <= shown.keys() and view.inputs
    for label, w in truth.items():
        assert shown[label][0] == w.data and (shown[label][1] or 0.0) == pytest.approx(w.grad, rel=1e-12)
    ids = {n["label"]: n["id"] for n in view.whole["nodes"]}
    values, grads, _ = view._subject.sweep(ids["xs[0]"], [1.0])
    assert values[0, view.whole["root"]] == pytest.approx(loss.data)
    assert grads[0, ids["xs[2]"]] == pytest.approx(xs[2].grad)


def test_a_slider_leaves_the_objects_as_they_were():
    """It cannot compute all of their graph again, and a half that is new beside a half that is old would be a false picture."""
    a, b = micrograd.Value(2.0), micrograd.Value(-3.0)
    c = a * b
    y = (c + a) ** 2
    names = {"y": y, "c": c, "b": b, "a": a}
    view = graph(y, names=names)
    at = next(n["id"] for n in view.trace["nodes"] if n["label"] == "a")
    view.inputs = {**view.inputs, str(at): 5.0}
    assert numbers(view._subject.now())["y"][0] == pytest.approx(100.0)
    assert (a.data, b.data, c.data, y.data) == (2.0, -3.0, -6.0, 16.0)
    assert numbers(graph(y, names=names).whole) == {
        "a": (2.0, 16.0),
        "b": (-3.0, -16.0),
        "c": (-6.0, -8.0),
        "y": (16.0, 1.0),
    }


@kinds
def test_after_a_step_the_graph_is_computed_again_and_says_so(kind):
    w, x = kind(2.0), kind(3.0)
    y = w * w * x
    loss = (y - 1) ** 2
    loss.backward()
    w.data -= 0.1
    view = graph(loss, names={"w": w, "x": x, "y": y, "loss": loss})
    assert numbers(view.whole)["w"] == (1.9, pytest.approx(2 * (1.9**2 * 3 - 1) * 2 * 1.9 * 3))
    assert numbers(view.whole)["y"][0] == pytest.approx(10.83)
    assert any("An input was changed after loss was computed" in text for text in view._subject.words)
    w.data += 0.1
    if kind is not Value:
        assert not any("was changed" in text for text in graph(loss, names={"w": w, "x": x})._subject.words)


def test_a_network_after_a_step():
    random.seed(3)
    model = nn.MLP(3, [4, 4, 1])
    xs = [[1.0, -2.0, 0.5], [0.3, 0.1, -1.0]]
    loss = sum((model(x) - y) ** 2 for x, y in zip(xs, (1.0, -1.0), strict=True))
    loss.backward()
    for p in model.parameters():
        p.data -= 0.1 * p.grad
    view = graph(loss, names={"model": model, "loss": loss})
    again = sum((model(x) - y) ** 2 for x, y in zip(xs, (1.0, -1.0), strict=True))
    model.zero_grad()
    again.backward()
    shown = {n["label"]: n["grad"] for n in view.whole["nodes"]}
    for i, layer in enumerate(model.layers):
        for j, neuron in enumerate(layer.neurons):
            for k, w in enumerate(neuron.w):
                assert (shown[f"model.layers[{i}].neurons[{j}].w[{k}]"] or 0.0) == pytest.approx(w.grad, rel=1e-9)
    assert view.whole["nodes"][view.whole["root"]]["value"] == pytest.approx(again.data)


def test_one_recording_for_trace_and_tape_also_without_names():
    a, b = micrograd.Value(2.0), micrograd.Value(-3.0)
    d = a * b
    names = {"b": b, "a": a}
    recording = record(d, names)
    by_name = {n["label"]: n["id"] for n in trace(recording, names)["nodes"]}
    assert Tape(recording).sweep(by_name["a"], [10.0])[0][0, by_name["b"]] == -3.0


def test_a_set_with_one_parent_twice():
    a = micrograd.Value(3.0)
    d = micrograd.Value(0.0, (a, a), "-")  # a − a, not −a
    t = trace(d, {"a": a, "d": d})
    assert [n["expr"] for n in t["nodes"]] == ["", "a − a"] and t["nodes"][0]["grad"] == 0.0
    e = micrograd.Value(-3.0, (a,), "-")
    assert trace(e, {"a": a})["nodes"][1]["expr"] == "−a"


@kinds
@pytest.mark.parametrize("seed", range(12))
def test_a_duel_of_equal_programs_finds_nothing(kind, seed):
    def run(order):
        rng = random.Random(seed)
        made = {}
        for k in order:
            made[k] = kind([2.0, 2.0, -3.0][k])
        inputs = [made[k] for k in range(3)]
        return program(rng, inputs), inputs

    out, (a, b, c) = run([0, 1, 2])
    again, (p, q, r) = run([2, 1, 0])
    names = {"a": a, "b": b, "c": c, "r": r, "q": q, "p": p}
    assert duel(out, again, names=names).difference is None


@kinds
def test_a_duel_of_two_orders_of_a_sum_and_of_a_mistake(kind):
    def run(f):
        a, b = kind(2.0), kind(-3.0)
        return f(a, b), {"a": a, "b": b}

    (left, names), (right, others) = run(lambda a, b: a * b + a), run(lambda a, b: a + b * a)
    names |= {k.upper(): v for k, v in others.items()}
    assert duel(left, right, names=names).difference is None
    wrong, others = run(lambda a, b: a * b + b)
    found = duel(left, wrong, names=names | {k.upper(): v for k, v in others.items()}).difference
    assert found is not None
    other, others = run(lambda a, b: a * a + b)
    assert duel(left, other, names=names | {k.upper(): v for k, v in others.items()}).difference is not None


def test_a_duel_across_two_classes():
    a, b, p, q = micrograd.Value(2.0), micrograd.Value(-3.0), Value(2.0), Value(-3.0)
    assert duel((a * b + a) * b, (q * p + p) * q, names={"a": a, "b": b, "p": p, "q": q}).difference is None
    found = duel((a * b + a) * b, (q * p + p) * p, names={"a": a, "b": b, "p": p, "q": q}).difference
    assert found is not None


def test_of_a_big_graph_the_newest_operations_are_traced_with_true_numbers_and_names():
    kind = own("list")
    weights = [kind(0.9), kind(0.1)]
    y = kind(1.0)
    for _ in range(13_000):
        y = y * weights[0] + weights[1]
    loss = y * weights[1]
    loss.grad = 1.0
    view = graph(loss, names={"weights": weights, "loss": loss})
    shown = view.whole["nodes"]
    assert any("only the newest 12,000 operations" in text for text in view._subject.words)
    assert sum(n["kind"] == "operation" for n in shown) == 12_000 and len(view.grads) == len(shown)
    labels = {n["label"]: n for n in shown if n["named"]}
    assert {"weights[0]", "weights[1]", "loss"} == set(labels) and labels["loss"]["value"] == loss.data
    assert view.grads[labels["loss"]["id"]] == 1.0
    # loss = y w₁ with y → w₁ / (1 − w₀): what was computed before the newest part has vanished from the gradients
    assert labels["weights[1]"]["grad"] == pytest.approx(y.data + 0.1 / (1 - 0.9), rel=1e-6)
    assert labels["weights[0]"]["grad"] == pytest.approx(0.1 * 0.1 / (1 - 0.9) ** 2, rel=1e-6)
