"""Folds: by module and by repetition, what they show is exact, whatever is open; ten thousand nodes open folded."""

import inspect
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad as torch
from minigrad import Value, scalar
from minigrad.core import provenance
from minigrad.core.call_log import VALUES
from minigrad.micro import MLP
from minigrad.tracing.trace import replay_steps, to_text, trace
from tests.widgets.test_narrower import cards
from widgets import graph
from widgets.fold import Folded, Folds, longest_run
from widgets.layout import layout
from widgets.static import svg


@pytest.fixture
def noted():
    """Lines, constants and parameters are noted, as in a notebook."""
    provenance.record_lines(True, 20_000)
    yield
    provenance.record_lines(False)


def moons(samples):
    model, rng = MLP(2, [8, 4, 1], rng=1), random.Random(1)
    outs = [model([rng.random(), rng.random()]) for _ in range(samples)]
    return sum(((out - i % 2) ** 2 for i, out in enumerate(outs)), Value(0.0)) * (1 / samples)


def program(seed, count):
    rng = random.Random(seed)
    values = [Value(rng.uniform(-1, 1)) for _ in range(20)]
    for k in range(count):
        a, b = rng.choices(values[-15:], k=2)
        values.append((a * b + values[k % 20]).tanh() if rng.random() < 0.6 else a - b)
    return sum(values[20:], Value(0.0))


def grads(t):
    """The gradient of each shown node by its name, as the steps of the trace add it up."""
    out = {}
    for row in replay_steps(t):
        if row["phase"] == "backward":
            out[t["nodes"][row["node"] if row["to"] is None else row["to"]]["label"]] = row["after"]
    return out


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 90), st.data())
def test_whatever_is_open_every_number_is_exact(seed, count, data):
    whole = trace(program(seed, count))
    folds = Folds(whole)
    open_ = {f.key for f in folds.folds if data.draw(st.booleans())} | {folds.root.key}
    part = Folded(whole, folds, open_)
    t = part.trace
    assert len(t["nodes"]) == folds.count(open_)
    for e in t["edges"]:  # sources come before targets: no cycle, in any state of the folds
        assert e["source"] < e["target"]
    true = {n["label"]: n["grad"] for n in whole["nodes"] if n["kind"] != "constant"}
    plain = {n["label"] for n in t["nodes"] if n["kind"] not in ("fold", "constant")}
    for label, got in grads(t).items():
        if label in plain:
            assert got == pytest.approx(true[label], rel=1e-9, abs=1e-12)
    for n in t["nodes"]:
        if n["kind"] == "fold" and n["outs"] == 1:
            assert (n["value"], n["grad"]) == (
                whole["nodes"][part.of[n["id"]]]["value"],
                whole["nodes"][part.of[n["id"]]]["grad"],
            )
    assert t["steps"][-1]["phase"] == "backward" and to_text(t)


def test_everything_open_is_the_trace_itself():
    whole = trace(program(3, 40))
    folds = Folds(whole)
    t = Folded(whole, folds, folds.everything()).trace
    assert t["nodes"] == whole["nodes"] and t["edges"] == whole["edges"] and t["steps"] == whole["steps"]


def test_repeated_structure_becomes_folds_of_equal_blocks():
    whole = trace(moons(20))
    folds = Folds(whole)
    names = [f.name for f in folds.folds]
    assert any(name.startswith("20 × ") for name in names)
    blocks = next(f for f in folds.folds if f.name.startswith("20 × "))
    sizes = {len(c.members) for part in blocks.folds for c in part.folds if part.name.startswith(("1–", "13–"))}
    assert len(sizes) <= 2, "equal samples are equal blocks"
    assert Folded(whole, folds, folds.opening()).trace["nodes"][-1]["kind"] != "constant"


def model(depth, width=4):
    torch.manual_seed(0)
    layers = [layer for _ in range(depth) for layer in (torch.nn.Linear(width, width), torch.nn.Tanh())]
    return torch.nn.Sequential(*layers)


def test_a_single_block_opens_and_equal_blocks_open_together(noted):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.qkv, self.out = torch.nn.LayerNorm(4), torch.nn.Linear(4, 12), torch.nn.Linear(4, 4)

        def forward(self, x):
            q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
            return x + self.out(torch.softmax(q @ k.transpose(-2, -1) / 2, -1) @ v)

    for blocks, opens in ((1, True), (2, True), (6, False)):
        net = torch.nn.Sequential(*[Block() for _ in range(blocks)], torch.nn.Linear(4, 2))
        view = cards(net(torch.randn(1, 5, 4)).mean(), names={"net": net})
        open_ = [k for k in range(blocks) if f"net[{k}]" in [f["name"] for f in view.picture["frames"]]]
        assert open_ == (list(range(blocks)) if opens else [])


def test_modules_are_folds_with_their_names(noted):
    net = torch.nn.Sequential(
        *[torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0) for _ in range(3)]
    )
    y = net(torch.randn(2, 5, 8)).pow(2).mean()
    view = cards(y, names={"net": net, "y": y})
    names = [f.name for f in view._folds.folds]
    assert {"net", "net[0]", "net[1]", "net[2]", "net[0].self_attn"} <= set(names)
    assert any(n["label"] == "net[1]" and n["kind"] == "fold" for n in view.trace["nodes"])
    before = grads_of(view)
    key = next(f.key for f in view._folds.folds if f.name == "net[1]")
    view.fold(key)
    assert {f["name"] for f in view.picture["frames"]} >= {"net", "net[1]"}
    shared = before.keys() & grads_of(view).keys()
    assert shared and all(before[k] == grads_of(view)[k] for k in shared)
    y.backward()
    for name, p in net.named_parameters():
        label = "net[" + name.replace(".", "].", 1)
        if label in grads_of(view):
            assert grads_of(view)[label] == pytest.approx(
                (float(p.grad.min()), float(p.grad.max())), rel=1e-4, abs=1e-7
            )
    net.zero_grad()


def grads_of(view):
    t = view.trace
    of = {n["label"]: n["grad_array"] for n in t["nodes"] if n.get("grad_array") is not None and n["kind"] == "leaf"}
    of |= {f"{n['label']}.{held['name']}": held["grad_array"] for n in t["nodes"] for held in n.get("parameters", ())}
    return {label: (t["arrays"][k]["low"], t["arrays"][k]["high"]) for label, k in of.items()}


def test_numbers_at_another_point():
    x, w = Value(0.5), Value(-1.5)
    y = (x * w + x).tanh() * w
    view = cards(y, names={"x": x, "w": w, "y": y})
    moved = {n["label"]: str(n["id"]) for n in view.trace["nodes"]}
    view.inputs = {**view.inputs, moved["x"]: 1.0}
    x, w = Value(1.0), Value(-1.5)
    y = (x * w + x).tanh() * w
    fresh = trace(y, {"x": x, "w": w, "y": y})
    t = view.shown_now()
    assert [n["value"] for n in t["nodes"]] == [n["value"] for n in fresh["nodes"]]
    assert [n["grad"] for n in t["nodes"]] == pytest.approx([n["grad"] for n in fresh["nodes"]], rel=1e-12)
    drawn = svg(fresh | {"title": t["title"]}, view.picture, None, to_text(fresh | {"title": t["title"]}), width=2000)
    assert view.svg(width=2000) == drawn


def test_a_tensors_arrays_at_another_point(noted):
    a = torch.tensor(2.0, requires_grad=True)
    x = torch.linspace(-1, 1, 6)
    y = ((a * x - 1) ** 2).mean()
    view = cards(y, names={"a": a, "x": x, "y": y})
    leaf = next(n["id"] for n in view.trace["nodes"] if n["label"] == "a")
    view.inputs = {**view.inputs, str(leaf): 1.5}
    t = view.shown_now()
    node = {n["label"]: n for n in t["nodes"]}
    assert node["y"]["value"] == pytest.approx(float(((1.5 * x - 1) ** 2).mean()), rel=1e-6)
    inner = t["arrays"][node["a × x"]["array"]]["cells"]
    assert inner == pytest.approx((1.5 * x).numpy().tolist(), rel=1e-5)


def test_a_moved_slider_changes_nothing_of_the_learners_tensors(noted):
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor([1.0, -1.0])
    h = (a * b).exp()
    y = h.sum()
    view = cards(y, names={"a": a, "b": b, "h": h, "y": y})
    leaf = next(n["id"] for n in view.trace["nodes"] if n["label"] == "a")
    view.inputs = {**view.inputs, str(leaf): 0.5}
    shown = {n["label"]: n["value"] for n in view.shown_now()["nodes"]}
    assert shown["a"] == 0.5 and shown["y"] == pytest.approx(2 * np.cosh(0.5), rel=1e-6)
    assert a.item() == 2.0 and h.detach().numpy() == pytest.approx(np.exp([2.0, -2.0]), rel=1e-6)
    assert y.item() == pytest.approx(2 * np.cosh(2), rel=1e-6) and a._version == 0 and a.grad is None
    y.backward(retain_graph=True)
    assert a.grad.item() == pytest.approx(2 * np.sinh(2), rel=1e-6)
    with torch.no_grad():
        a.fill_(3.0)
    view.reopen()  # and the other way
    assert view.recorded[str(leaf)] == 3.0


def test_a_tensor_whose_saved_values_are_stale_is_left_alone(noted):
    a = torch.tensor(2.0, requires_grad=True)
    y = a.exp()
    y.add_(1)
    z = y * a
    view = cards(z, names={"a": a})
    for leaf in view.leaves:
        view.inputs = {**view.inputs, str(leaf): 0.5}
    assert a.item() == 2.0 and y._version == 1


@pytest.mark.parametrize("n", [200, 600])
def test_layout_of_folded_graphs_is_deterministic(n):
    pictures = []
    for _ in range(2):
        x = Value(0.3)
        h = x
        for _ in range(n):
            h = (h * 0.99 + x).tanh()
        view = cards(h, names={"h": h, "x": x})
        view.fold(next(k["fold"] for k in view.trace["nodes"] if k["kind"] == "fold"))
        pictures.append((view.picture, view.svg()))
    assert pictures[0] == pictures[1]
    assert len(pictures[0][0]["cards"]) < 80


def test_ten_thousand_tensors_open_folded(noted):
    net = model(1600)
    y = net(torch.randn(2, 4)).pow(2).mean()
    view = cards(y, names={"net": net, "y": y})
    assert int(view.notice.split(" nodes")[0].replace(",", "")) > 8000 and len(view.trace["nodes"]) < 60
    assert len(view.trace["arrays"]) < 400, "only what is shown is summed up"
    y.backward()
    assert len(repr(view)) < 20_000


def test_a_long_loop_of_single_numbers_opens_from_its_figure(noted):
    w, h = torch.tensor(0.9, requires_grad=True), torch.tensor(1.0)
    for _ in range(100):
        h = torch.tanh(w * h)
    view = graph(h**2, names={"w": w, "h": h})
    assert view.forms, "it has a figure"
    view.fold("operations")
    assert 1 < len(view.trace["nodes"]) < 60 and view.get_state()["trace"]


def test_a_fold_that_would_show_too_much_is_refused():
    xs = [Value(float(i)) for i in range(210)]
    view = cards(sum((x * x for x in xs), Value(0.0)), names={"xs": xs})
    before = view.revision
    view.fold(*[f.key for f in view._folds.folds if f.key not in view._open])
    assert len(view.trace["nodes"]) < 60 and view.revision == before and "at most 400" in view.notice
    assert layout(view.trace)["cards"]


def test_longest_run():
    assert longest_run(np.array([1, 1, 1, 1])) == (0, 1, 4)
    assert longest_run(np.array([1, 2, 3, 4]))[2] == 1
    assert longest_run(np.array([5, 1, 2, 1, 2, 1, 2])) == (1, 2, 3)


def folds_of(root, names):
    whole = trace(root, names)
    return {f.name: f for f in Folds(whole).folds}, whole


@pytest.mark.parametrize("nonlin", ["tanh", "relu", None])
@pytest.mark.parametrize("sizes", [[3, 2, 1], [1], [2], [1, 1], [4, 1, 2]])
def test_networks_of_values_fold_by_module(sizes, nonlin):
    """Every operation is in the neuron whose weights it uses: a network, its layers, their neurons, call for call."""
    model = MLP(2, sizes, nonlin, rng=1)
    outs = [model([Value(0.3), 0.7]), model([0.1, Value(-0.2)])]
    flat = [v for out in outs for v in (out if isinstance(out, list) else [out])]
    loss = sum((v.tanh() for v in flat), Value(0.0))
    whole = trace(loss, {"model": model, "loss": loss})
    owner = {n["label"]: n["label"].rpartition(".")[0] for n in whole["nodes"] if n["kind"] == "leaf"}
    parents = {
        n["id"]: [whole["nodes"][e["source"]] for e in whole["edges"] if e["target"] == n["id"]] for n in whole["nodes"]
    }
    inside = [n for n in whole["nodes"] if n.get("inside")]
    sums = sum(
        2 * a * b + (bool(nonlin) and k < len(sizes) - 1) * b
        for k, (a, b) in enumerate(zip([2, *sizes], sizes, strict=False))
    )
    assert len(inside) == 2 * sums, "all of both calls, and nothing of the loss"
    for n in inside:
        path = n["scope"].removesuffix(" (call 2)")
        outer = [c.removesuffix(" (call 2)") for c in n["inside"][:2]]
        assert n["inside"][-1] == n["scope"] and outer == ["model", path.rpartition(".")[0]]
        used = {owner[p["label"]] for p in parents[n["id"]] if p["kind"] == "leaf" and "neurons" in p["label"]}
        assert used <= {path}, n
    assert {n["inside"][0] for n in inside} == {"model", "model (call 2)"}


def test_a_network_that_nobody_named_folds_by_layer_and_one_that_is_gone_by_repetition():
    out = MLP(2, [4, 4, 1], rng=1)([1.0, 2.0])
    names, _ = folds_of(out, {})
    assert not any("neurons" in name for name in names)
    model = MLP(2, [4, 4, 1], rng=1)
    out = model([1.0, 2.0])
    names, _ = folds_of(out, {"layers": [model]})
    assert {"layers[0]", "layers[0].layers[1]", "layers[0].layers[0].neurons[2]"} <= set(names)
    view = cards(out, limit=10, names={"model": model})
    assert {"model", "model.layers[0]"} <= {f.name for f in view._folds.folds}
    view.fold("operations")  # it opens as a network
    folds = [n for n in view.trace["nodes"] if n["kind"] == "fold" and n["expr"].endswith("operations")]
    assert folds and all(n["label"].startswith("model.layers[") for n in folds)


def test_a_fold_of_inputs_has_no_slider_for_one_of_them():
    model = MLP(2, [8, 8, 1], "tanh", rng=1)
    view = cards(model([0.5, -0.5]), names={"model": model})
    kinds = {n["id"]: n["kind"] for n in view.trace["nodes"]}
    assert "fold" in kinds.values() and all(kinds[leaf] == "leaf" for leaf in view.leaves)
    view.fold("all")
    assert all(view.trace["nodes"][leaf]["kind"] == "leaf" for leaf in view.leaves)


@pytest.mark.parametrize(
    "y", [moons(4), program(1, 90), moons(1)], ids=["twelve units", "a long program", "one sample"]
)
def test_small_folds_open_first(y):
    """Where there is room for one more fold, it is the one with the fewest parts; then no more cards are there than were asked for."""
    folds = Folds(trace(y))
    least = folds.opening(0)
    shut = [fold for key in least for fold in folds.by_key[key].folds if fold.key not in least]
    small = min(shut, key=lambda fold: (len(fold.children), fold.key))
    assert len({len(fold.children) for fold in shut}) > 1
    alike = {fold.key for fold in shut if fold.parent == small.parent and folds._token(fold) == folds._token(small)}
    cards = folds.count({*least, *alike})
    assert alike <= folds.opening(cards) and folds.count(folds.opening(cards)) <= cards


# What folds are called


@pytest.fixture
def lines():
    """Lines and calls of Values are noted, as in a notebook."""
    scalar.record_lines(True, VALUES)
    yield
    scalar.record_lines(False)


def expression(kind):
    """micrograd's README."""
    a, b = kind(-4.0), kind(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    return {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g}


def named(names, result):
    whole = trace(names[result], names)
    folds = Folds(whole)
    for open_ in ({folds.root.key}, folds.opening(8), folds.everything()):
        closed = folds.closed(open_)
        inside = sum(len(fold.members) for fold in closed)
        assert (
            folds.count(open_)
            == len(whole["nodes"]) - inside + len(closed)
            == len(Folded(whole, folds, open_).trace["nodes"])
        )
    return [fold.name for fold in folds.folds if fold is not folds.root]


def test_the_folds_of_a_class_without_lines_are_called_after_variables():
    engine = pytest.importorskip("micrograd.engine", reason="the dev extra has it: pip install -e .[dev]")
    assert named(expression(engine.Value), "g") == ["c", "d", "e", "g"]


def test_a_fold_is_called_after_its_variable_and_its_line(lines):
    first = inspect.getsourcelines(expression)[1] + 3
    found = named(expression(Value), "g")
    assert found == [f"d, line {first + 1}", f"c, line {first + 2}", "c", f"d, line {first + 4}", "d", "g"]


def softplus(x):
    return (1 + x.exp()).log()


def test_a_fold_is_called_after_the_turn_or_the_function_that_made_it(lines):
    w, h = Value(0.9), Value(1.0)
    for _ in range(12):
        h = (w * h + 0.1).tanh()
    found = named({"w": w, "h": h}, "h")
    assert {"h, turn 1", "h, turn 11", "h"} <= set(found)
    hs = [Value(0.5)]
    for _ in range(40):
        hs.append((hs[-1] * w + hs[0]).tanh())
    found = named({"w": w, "hs": hs, "y": hs[-1]}, "y")
    assert {"hs[1]", "hs[39]", "hs[1] … hs[12]", "hs[13] … hs[24]"} <= set(found) and not any(
        "×" in name for name in found
    )
    a, b = softplus(w), softplus(h)
    c = a * 2 + b * 3
    d = softplus(c - a) * b
    e = d.tanh() + c * a - b / 2
    f = softplus(e * e + d)
    g = f - a * b * c
    y = (g * f - g) ** 2 + e
    found = named({"w": w, "y": y}, "y")
    assert found.count("softplus") == 4 and "y" in found


def test_attention_in_a_block_is_told_by_its_statements(noted):
    torch.manual_seed(0)

    def attention(q, k, v):
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        return scores.softmax(-1) @ v

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.qkv, self.out = torch.nn.LayerNorm(4), torch.nn.Linear(4, 12), torch.nn.Linear(4, 4)

        def forward(self, x):
            q, k, v = (z.reshape(2, 3, 1, 4).transpose(1, 2) for z in self.qkv(self.norm(x)).chunk(3, -1))
            return x + self.out(attention(q, k, v).transpose(1, 2).reshape(2, 3, 4))

    block, x = Block(), torch.randn(2, 3, 4)
    y = block(x).pow(2).mean()
    names, _ = folds_of(y, {"block": block, "y": y})
    assert any(name.startswith("q, k, v, line ") for name in names) and any(
        name.startswith("scores, line ") for name in names
    )
    assert "scores.softmax(-1) @ v" in names and not any("×" in name for name in names)
