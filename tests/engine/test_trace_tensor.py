"""The trace of a Tensor: its numbers against independent computations, its words, and that looking changes nothing."""

import importlib
import inspect
import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad as torch
from minigrad.core import provenance
from minigrad.core.call_log import not_the_learners
from minigrad.tracing.recording import CELLS, numbers
from minigrad.tracing.tensor_formulas import flow

of = importlib.import_module("minigrad.tracing.trace")  # minigrad.trace is PyTorch's function
trace, replay_steps, to_text = of.trace, of.replay_steps, of.to_text


@pytest.fixture(autouse=True)
def noted():
    """Notes are on, as in a notebook with the extension."""
    provenance.record_lines(True)
    yield
    provenance.record_lines(False)


def node(t, label):
    return next(n for n in t["nodes"] if n["label"] == label)


def cells(t, index):
    a = t["arrays"][index]
    return np.array([math.nan if c is None else float(c) for c in a["cells"]]).reshape(a["rows"], a["cols"])


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values[0] if len(values) == 1 else list(values), dtype=dtype, requires_grad=True)


def test_the_first_text_of_the_course():
    x, y = leaf(1.0, 2.0, 3.0), leaf(0.5, -1.0, 2.0)
    z = torch.sin(x.dot(y))
    t = trace(z, {"x": x, "y": y, "z": z})
    assert [n["label"] for n in t["nodes"]] == ["x", "y", "dot(x, y)", "z"]
    assert [n["op"] for n in t["nodes"]] == ["", "", "DotBackward0", "SinBackward0"]
    u = 1 * 0.5 - 2 + 6
    assert node(t, "dot(x, y)")["value"] == u and node(t, "z")["value"] == math.sin(u)
    assert node(t, "dot(x, y)")["grad"] == pytest.approx(math.cos(u), rel=1e-15)
    assert cells(t, node(t, "x")["grad_array"]) == pytest.approx(math.cos(u) * np.array([[0.5, -1.0, 2.0]]), rel=1e-5)
    assert t["edges"][2]["local"] == pytest.approx(math.cos(u)) and t["edges"][2]["local_text"] == "cos(dot(x, y))"
    assert x.grad is None and y.grad is None
    assert [s["kind"] for s in t["steps"]] == [
        "input",
        "input",
        "compute",
        "compute",
        "seed",
        "send",
        "send",
        "send",
        "accumulate",
        "accumulate",
    ]
    json.dumps(t, allow_nan=False)


def test_broadcasting_is_on_the_edge_and_in_the_sentence():
    x, w, b = (
        torch.arange(12, dtype=torch.float64).reshape(4, 3),
        torch.full((3, 2), 0.5, dtype=torch.float64, requires_grad=True),
        leaf(1.0, -40.0),
    )
    h = torch.relu(x @ w + b)
    t = trace(h, {"x": x, "w": w, "b": b, "h": h})
    edge = next(e for e in t["edges"] if e["source"] == node(t, "b")["id"])
    assert edge["broadcast"] == {"shape": [2], "to": [4, 2], "axes": [0]}
    X = np.arange(12.0).reshape(4, 3)
    mask = (X @ np.full((3, 2), 0.5) + [1, -40]) > 0
    assert cells(t, node(t, "b")["grad_array"])[0].tolist() == mask.sum(0).tolist()
    assert (cells(t, node(t, "w")["grad_array"]) == X.T @ mask).all()
    assert (
        cells(t, node(t, "x @ w + b")["array"]) == X @ np.full((3, 2), 0.5) + [1, -40]
    ).all()  # computed again: no node kept it
    said = [r["sentence"] for r in replay_steps(t) if r["edge"] == edge["id"]]
    assert said == [
        "**x @ w + b passes a gradient of shape (2,) back to b, [4, 0]:** the upstream gradient, summed over dim 0 because b was "
        "broadcast from (2,) to (4, 2)."
    ]
    raw = next(s["raw"] for s in t["steps"] if s["edge"] == edge["id"])
    assert t["arrays"][raw]["shape"] == [4, 2] and (cells(t, raw) == mask).all()
    assert "starts with ones of shape (4, 2)" in " ".join(s["say"] for s in t["steps"])
    stop = next(e for e in t["edges"] if e["source"] == node(t, "x")["id"])
    assert not stop["carries_grad"] and "x does not require gradients" in stop["stops"]


def test_what_is_saved_and_what_is_stale():
    x = leaf(1.0, 2.0)
    y = torch.exp(x)
    y.add_(1)
    r = (y * 2).sum()
    t = trace(r, {"x": x, "y": y, "r": r})
    made = node(t, "y₁")
    kept = dict(name="_saved_result", shape=[2], dtype="float64", bytes=16, version=0, stale=True, now=1)
    assert made["saved"] == [kept]
    # The value it had, not what stands there now
    assert cells(t, made["array"]) == pytest.approx(np.exp([[1.0, 2.0]]), rel=1e-5)
    assert node(t, "y")["version"] == 1
    assert t["steps"][-1]["kind"] == "error" and t["steps"][-1]["node"] == made["id"]
    assert "is at version 1; expected version 0" in t["steps"][-1]["say"]
    assert any("was overwritten since" in s for s in t["notices"])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        r.backward()


def test_views_are_views_of_their_base():
    x = leaf(*range(6))
    a = x * 1
    v = a.view(2, 3).t()
    t = trace(v.sum(), {"x": x, "a": a, "v": v})
    assert node(t, "v")["view"]["base"] == node(t, "a")["id"]
    assert "It is a view: it shares the numbers of a." in " ".join(s["say"] for s in t["steps"])
    assert "view" not in node(t, "a")


def test_a_view_has_the_version_of_what_it_shares():
    """Also where nobody holds it any more, or its base: the count stands with whoever holds the same numbers."""
    w = leaf(1.0, 2.0, 3.0, 4.0)
    a = w * 1
    part = a[:2]
    part.zero_()
    t = trace(a.sum(), {"w": w, "a": a, "part": part})
    made = next(n for n in t["nodes"] if "view" in n)
    assert made["view"] == {"base": node(t, "a₁")["id"], "version": 1}
    h = torch.sigmoid(w)
    left, right = h.chunk(2)
    y = left @ right
    h.add_(1)
    t = trace(y, {"w": w, "y": y})
    assert [n["view"]["version"] for n in t["nodes"] if "view" in n] == [1, 1, 1]
    assert t["notices"][1:] == [
        "What DotBackward0 saved (_saved_self, shape (2,) and _saved_other, shape (2,)) was overwritten since: it was at version 0, and is "
        "at version 1 now. The backward pass cannot go through y."
    ]


def test_arguments_that_are_as_usual_are_left_out():
    x, y = leaf([[1.0, 2.0], [0.5, 3.0]]), torch.tensor([0, 1])
    for more, said in (
        ({}, ""),
        ({"reduction": "sum"}, ", reduction='sum'"),
        ({"ignore_index": 1}, ", ignore_index=1"),
    ):
        t = trace(torch.nn.functional.nll_loss(x, y, **more), {"x": x, "y": y})
        assert t["nodes"][t["root"]]["expr"] == f"nll_loss(x, y{said})"


def test_where_gradients_stop_and_what_is_unused():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    h = x * w
    whole = torch.tensor([5, 6])
    y = (h.detach() * x + whole).sum()
    t = trace(y, {"x": x, "h": h, "w": w, "y": y})
    assert (
        node(t, "h.detach()")["stops"]
        == "h.detach() was detached from h: it shares the numbers of h, and the graph does not see behind it."
    )
    assert t["unused"] == ["w"] and node(t, "h.detach()")["requires_grad"] is False
    assert any("holds int64" in n.get("stops", "") for n in t["nodes"])
    assert "w is not part of y, so no gradient reaches it." in to_text(t)
    used, spare, other = (torch.nn.Linear(2, 1).double() for _ in range(3))
    optimizer = torch.optim.SGD([leaf(7.0)], lr=0.1)  # it and `other` belong to another program of the session
    names = {"net": {"used": used, "spare": spare}, "other": other, "optimizer": optimizer}
    assert trace(used(x).sum(), names)["unused"] == ["net['spare'].weight", "net['spare'].bias"]


def test_each_gradient_that_stops_has_its_one_reason():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    frozen = torch.nn.Parameter(torch.ones(2, dtype=torch.float64), requires_grad=False)
    plain, whole = torch.ones(2, dtype=torch.float64), torch.tensor([1, 2])
    with torch.no_grad():
        later = (x * w).exp()  # made of what was made there: neither input requires gradients
        top, _ = torch.max(x * w, 0)
    with torch.inference_mode():
        aside = x * 3
    apart = (x * w).detach()  # from what nobody holds

    class Marked(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_non_differentiable(y)
            return y

    marked, again = Marked.apply(x), apart * 2
    with torch.no_grad():
        own = Marked.apply(x)
    names = dict(x=x, later=later, top=top, aside=aside, apart=apart, frozen=frozen, plain=plain, whole=whole, marked=marked, again=again,
                 own=own)  # fmt: skip
    for name in ("later", "top", "apart", "marked", "again", "own"):
        assert not names[name].requires_grad
    t = trace(
        (x + later + top + apart + plain + whole + marked + again + own + aside) * frozen * (x * w).sum().detach(),
        names,
    )
    off = "was computed where recording was off (no_grad): no gradient goes back to what it was made of."
    said = "does not require gradients: its requires_grad is False, and no recorded operation made it."
    behind = (
        "was detached: it shares the numbers of a tensor that requires gradients, and the graph does not see behind it."
    )
    line = inspect.getsourcelines(test_each_gradient_that_stops_has_its_one_reason)[1] + 9
    cut = f"was made of what detach() cut off in line {line}: no gradient goes back."
    expected = dict(
        later=off, top=off, own=off, apart=behind, plain=said, again=cut, aside="was made in inference mode, where nothing is recorded.",
        whole="holds int64: whole numbers and truth values have no derivative.",
        marked="came out of a Function that marked it as not differentiable.",
        frozen="is frozen: its requires_grad is False, so no gradient is computed for it.",
    )  # fmt: skip
    stops = {n["label"]: n["stops"] for n in t["nodes"] if "stops" in n}
    # One number, detached, without a name: not a constant like a 2
    alone = next(label for label in stops if label not in expected)
    assert stops.pop(alone) == f"{alone} {behind}"
    assert stops == {name: f"{name} {why}" for name, why in expected.items()}
    assert set(stops.values()) <= {e["stops"] for e in t["edges"] if "stops" in e}


def test_a_reason_outlives_its_tensor():
    """What a function computed with recording off, and nobody holds any more."""
    x = leaf(1.0, 2.0)

    def centred(x):
        with torch.no_grad():
            mean = x.mean()
        return x - mean

    t = trace(centred(x), {"x": x})
    cut = next(n for n in t["nodes"] if n["kind"] == "leaf" and n["label"] != "x")
    assert cut["value"] == 1.5 and "recording was off (no_grad)" in cut["stops"]


@pytest.mark.parametrize("pieces", [lambda x: x.chunk(3, -1), lambda x: x.split([1, 5], 1), lambda x: x.unbind(0)])
def test_a_rule_is_told_in_words_and_not_as_a_call_of_our_own(pieces):
    x = torch.randn(2, 6, requires_grad=True)
    a, b, *_ = pieces(x)
    t = trace((a * 2).sum() + b.sum(), {"x": x})
    assert "of the pieces, joined" in to_text(t) or "of the slices, stacked" in to_text(t)
    assert "_rule(" not in to_text(t) and not [s["say"] for s in t["steps"] if "_rule(" in s["say"]]


@pytest.mark.parametrize("size", [3, 300])
def test_a_slice_of_what_was_detached_is_told_as_a_cut(size):
    w = leaf(np.arange(float(size)))
    h = w * 2
    target = h.detach() * 3
    t = trace(((h[1:] - target[1:]) ** 2).sum(), {"w": w, "h": h, "target": target})
    cut = next(n for n in t["nodes"] if "cut" in n)
    assert (
        cut["cut"] == {"sources": [node(t, "h")["id"]], "how": "h.detach()"}
        and "no gradient goes back to h" in cut["stops"]
    )
    if size == 3:  # few enough numbers to be kept
        assert cells(t, cut["array"])[0].tolist() == [6.0, 12.0]


def test_a_gradient_is_titled_by_its_own_name():
    a = leaf(2.0)
    (a * a).backward(create_graph=True)
    assert trace(a.grad, {"a": a, "a.grad": a.grad})["title"] == "a.grad"


def test_a_used_up_graph_is_run_once_more_and_says_so():
    x = leaf(1.0, 2.0)
    y = (x * x * 3).sum()
    before = trace(y, {"x": x, "y": y})
    y.backward()
    after = trace(y, {"x": x, "y": y})
    assert x.grad.tolist() == [6.0, 12.0]
    assert after["notices"][0].startswith("This graph was used up") and "on the same numbers" in after["notices"][0]
    assert [n["grad_array"] is not None for n in after["nodes"]] == [
        n["grad_array"] is not None for n in before["nodes"]
    ]
    assert cells(after, node(after, "x")["grad_array"])[0].tolist() == [6.0, 12.0]
    with torch.no_grad():
        x -= 1.0
    moved = trace(y, {"x": x, "y": y})
    assert "inputs have changed" in moved["notices"][0] and node(moved, "y")["value"] == 3.0


def test_without_notes_what_is_not_known_is_not_kept():
    provenance.record_lines(False)
    x = leaf(1.0, 2.0)
    y = ((x + 3) + 4).sum()
    t = trace(y, {"x": x})
    assert node(t, "x + v1")["value"] == "not kept" and node(t, "x + v1")["array"] is None
    assert t["nodes"][-1]["value"] == 17.0 and cells(t, node(t, "x")["grad_array"])[0].tolist() == [1.0, 1.0]
    y.backward()
    assert trace(y)["steps"][-1]["phase"] == "backward"  # nothing was saved, so nothing was freed


def test_what_has_no_name_is_called_something():
    """Also what nobody holds any more and what takes no gradient: a letter that nothing else has, never a question mark."""
    w = torch.ones(3, 60, requires_grad=True)
    v1 = torch.full((), 2.0)
    y = (
        (w * torch.full((1, 60), 2.0) + torch.ones(3, 400)[:, :60]) * torch.full((3, 1), 7.0)
        + torch.rand(900, 60)[:3]
        - v1
    ).sum()
    t = trace(y, {"w": w, "y": y, "v1": v1})
    text, labels = to_text(t), [n["label"] for n in t["nodes"]]
    assert (
        "?" not in text and "?" not in "".join(labels) and len(set(labels)) == len(labels) and labels.count("v1") == 1
    )
    gone = [n for n in t["nodes"] if n["kind"] == "constant" and n["array"] is None]
    assert len(gone) == 2 and all(
        re.fullmatch(r"v\d+", n["label"]) and n["expr"] == "constant" and n["label"] in text for n in gone
    )
    assert any(gone[0]["label"] in n["expr"] for n in t["nodes"] if n["kind"] == "operation")
    assert any(
        e["stops"] == f"{gone[0]['label']} is a constant, whose numbers were not kept."
        for e in t["edges"]
        if "stops" in e
    )
    held = next(n for n in t["nodes"] if n["kind"] == "leaf" and not n["named"])
    assert held["stops"].startswith(f"{held['label']} does not require gradients")
    a = torch.ones(2, requires_grad=True)  # the gradient's own graph, of a result and of inputs without a name
    t = trace((a * torch.tensor(2.0, requires_grad=True)).pow(3).sum(), {}, second=True)
    labels = [n["label"] for n in t["nodes"]]
    root = labels[t["root"]]
    assert {f"d{root}/dv1", f"d{root}/dv2"} <= {*labels} and "?" not in "".join(labels)


def test_notes_give_each_node_its_line_and_its_constants():
    x = leaf(1.0, 2.0)
    y = (x + 3).sum()
    t = trace(y, {"x": x})
    assert t["nodes"][-1]["source"]["text"] == "y = (x + 3).sum()" and t["title"] == "y = (x + 3).sum()"
    assert [n["value"] for n in t["nodes"] if n["kind"] == "constant"] == [3.0]


def test_notes_end_and_are_free_when_off():
    x = leaf(1.0)
    provenance.record_lines(True, kept=2)
    made = [(x * k).grad_fn for k in range(4)]
    assert [provenance.read(n) is not None for n in made] == [True, True, False, False]
    provenance.record_lines(False)
    from minigrad.ops.elementwise import mul

    assert "leave_note" not in mul.call.__globals__ and "leave_note" not in mul.call.__code__.co_names


def test_each_call_of_a_module_has_a_name_of_its_own():
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.cell(self.cell(x).tanh())

    model = Twice()
    made = model(torch.ones(1, 2)).sum()
    t = trace(made, {"model": model, "made": made})
    assert [n.get("inside") for n in t["nodes"] if n["op"] in ("AddmmBackward0", "TanhBackward0", "SumBackward0")] == [
        ["model", "model.cell"],
        ["model"],
        ["model", "model.cell (call 2)"],
        None,
    ]
    del model
    t = trace(made, {"made": made})  # the log holds no module alive
    assert {n["inside"][0] for n in t["nodes"] if n.get("inside")} == {"a module that is gone"}


def test_arrays_that_nobody_looks_at_are_not_summed_up():
    from minigrad.tracing.tensor_trace import TensorRecording

    y = (torch.ones(3, requires_grad=True) * 2).sum()
    t = TensorRecording(y).trace(later=True)
    assert all(type(a) is np.ndarray for a in list.__iter__(t["arrays"]))
    assert t["arrays"][0]["shape"] == [3] and list(t["arrays"]) == TensorRecording(y).trace()["arrays"]


def test_modules_give_their_parameters_names_and_nodes_their_scope():
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    x = torch.ones(4, 3)
    loss = model(x).mean()
    t = trace(loss, {"model": model, "x": x, "loss": loss})
    assert {n["label"] for n in t["nodes"] if n["kind"] == "leaf"} >= {
        "model[0].weight",
        "model[0].bias",
        "model[2].weight",
        "x",
    }
    assert {n["scope"] for n in t["nodes"]} == {"", "model[0]", "model[1]", "model[2]"}
    tanh = next(n for n in t["nodes"] if n["op"] == "TanhBackward0")
    assert tanh["inside"] == ["model", "model[1]"]
    loss.backward()
    for name, p in model.named_parameters():
        where, _, kind = name.partition(".")
        shown = cells(t, node(t, f"model[{where}].{kind}")["grad_array"])
        assert shown.ravel() == pytest.approx(p.grad.numpy().ravel(), rel=1e-5)


def test_several_outputs():
    x = leaf(*range(6))
    a, b = x.reshape(2, 3).unbind(0)
    y = (a * b).sum()
    t = trace(y, {"x": x, "a": a, "b": b, "y": y})
    assert cells(t, node(t, "a")["grad_array"])[0].tolist() == [3.0, 4.0, 5.0]
    assert cells(t, node(t, "x")["grad_array"]).ravel().tolist() == [3.0, 4.0, 5.0, 0.0, 1.0, 2.0]
    said = [r["sentence"] for r in replay_steps(t) if "the gradient of this output" in r["sentence"]]
    assert len(said) == 2


def test_second_order_is_a_layer():
    x = leaf(2.0)
    y = x**3
    t = trace(y, {"x": x, "y": y}, second=True)
    edge = t["edges"][0]
    made = [t["nodes"][i] for i in edge["makes"]]
    assert all(n["layer"] == 1 and n["made_by"] == [edge["id"]] for n in made) and made[-1]["label"] == "dy/dx"
    assert made[-1]["value"] == 12.0 and node(t, "y")["layer"] == 0
    assert x.grad is None
    # The gradient is a constant: no second layer
    assert trace(x.sum(), {"x": x}, second=True)["nodes"][-1]["layer"] == 0


def test_looking_changes_nothing():
    x, seen = leaf(1.0, 2.0), []
    h = x * 2
    h.retain_grad()
    h.register_hook(lambda g: seen.append(g.shape))
    y = (h * h).sum()
    trace(y, {"x": x, "h": h})
    assert x.grad is None and h.grad is None
    y.backward()
    assert x.grad.tolist() == [8.0, 16.0] and h.grad.tolist() == [4.0, 8.0]
    trace(y, {"x": x, "h": h})
    assert x.grad.tolist() == [8.0, 16.0] and h.grad.tolist() == [4.0, 8.0] and y.grad_fn is not None


def test_a_constant_and_a_leaf_alone():
    t = trace(torch.ones(2), {})
    assert len(t["nodes"]) == 1 and t["steps"][-1]["phase"] == "forward" and t["nodes"][0]["stops"]
    x = leaf(3.0)
    assert [s["kind"] for s in trace(x, {"x": x})["steps"]] == ["input", "seed", "accumulate"]
    assert trace(x, {"x": x})["steps"][-1]["say"].startswith("**The gradient of x")


def test_numbers_of_an_array():
    big = np.random.default_rng(0).normal(size=(100, 37))
    n = numbers(big)
    assert (n["rows"], n["cols"], n["block"]) == (15, 13, [7, 3]) and max(n["rows"], n["cols"]) <= CELLS
    assert (
        n["low"] == big.min()
        and n["high"] == big.max()
        and n["mean"] == pytest.approx(big.mean())
        and n["std"] == pytest.approx(big.std())
    )
    block = big[:7, :3]
    assert n["cells"][0] == pytest.approx(block.ravel()[np.abs(block).argmax()], rel=1e-5)
    odd = numbers(np.array([1.0, math.nan, math.inf, -2.0]))
    assert odd["odd"] == 2 and odd["cells"] == [1.0, "nan", "inf", -2.0] and (odd["low"], odd["high"]) == (-2.0, 1.0)
    assert numbers(np.zeros((0, 3)))["cells"] == [] and numbers(np.zeros((0, 3)))["low"] is None
    long = numbers(np.arange(1000.0))
    assert long["rows"] <= CELLS and long["cols"] <= CELLS and long["high"] == 999.0
    wrapped = numbers(np.arange(20.0))
    assert [c for c in wrapped["cells"] if c is not None] == list(range(20))


def test_most_rules_say_what_they_do():
    from minigrad.core.op import TABLE
    from minigrad.tracing.formulas import Text

    said = total = 0
    for op in TABLE.values():
        for rule in op.rules.values():
            if rule is not None:
                total += 1
                said += bool(
                    flow(op, rule, {i: Text(i) for i in (*op.inputs, "out")}, {i: (2, 3) for i in op.inputs}, None)
                )
    assert said / total > 0.8


OPS = [
    lambda a, b: a * b,
    lambda a, b: a + b,
    lambda a, b: (a - b).tanh(),
    lambda a, b: a.sin() * 2,
    lambda a, b: a @ b.t(),
    lambda a, b: a.sum(0) + b,
]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(range(len(OPS))), min_size=1, max_size=6), st.integers(0, 1000))
def test_any_program_has_the_gradients_that_backward_gives(program, seed):
    provenance.record_lines(True)
    rng = np.random.default_rng(seed)
    x = torch.tensor(rng.normal(size=(3, 3)), requires_grad=True)
    w = torch.tensor(rng.normal(size=3), requires_grad=True)
    made = [x, x + w]
    for k in program:
        made.append(OPS[k](made[-1], made[-2] if made[-2].ndim == 2 else x))
        if made[-1].ndim != 2:
            made[-1] = made[-1].reshape(3, -1) if made[-1].ndim else x * made[-1]
    y = (made[-1] * w.sum()).sum()
    names = {"x": x, "w": w, "y": y}
    t = trace(y, names)
    assert t == trace(y, names)  # deterministic
    assert all(e["source"] < e["target"] for e in t["edges"])
    y.backward(retain_graph=True)
    for label, p in (("x", x), ("w", w)):
        assert cells(t, node(t, label)["grad_array"]).ravel() == pytest.approx(
            p.grad.numpy().ravel(), rel=1e-4, abs=1e-6
        )
    for n in t["nodes"]:  # what is computed again is what it was: the root's own numbers come from the learner's tensor
        assert n["array"] is not None
    last = {}
    for s in t["steps"]:
        if s["kind"] == "send":
            last[t["edges"][s["edge"]]["source"]] = s["after"]
    for i, a in last.items():  # the sums of what arrived are what the engine handed to the node
        assert t["arrays"][a]["cells"] == t["arrays"][t["nodes"][i]["grad_array"]]["cells"]


def test_the_same_program_gives_the_same_trace_in_every_process():
    program = """
import importlib, json, minigrad as torch
from minigrad.core import provenance as notes
notes.record_lines()
x = torch.ones(2, 3, requires_grad=True); w = torch.ones(3, requires_grad=True)
y = ((x * w).exp() + x).mean()
print(json.dumps(importlib.import_module("minigrad.tracing.trace").trace(y, {"w": w, "x": x}), sort_keys=True))
"""
    runs = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 1 and len(runs.pop()) > 1000


def test_as_text():
    x, b = leaf(1.0, 2.0), leaf(1.0)
    y = (x * b).sum()
    assert (
        to_text(trace(y, {"x": x, "b": b, "y": y}, title="y"))
        == """\
y

node   made by       computes    shape  value   dy/dnode
x                    input       (2,)   [1, 2]  [1, 1]
b                    input       ()     1       3
x × b  MulBackward0  x × b       (2,)   [1, 2]  [1, 1]
y      SumBackward0  sum(x × b)  ()     3       1

backward   rule                  downstream  shape  sum
y → x × b  g spread over (2,)    [1, 1]      (2,)   [1, 1]
x × b → x  g × b                 [1, 1]      (2,)   [1, 1]
x × b → b  g × x, summed over 0  3           ()     3"""
    )


def rows():
    from .samples import samples

    return sorted(key for key, found in samples().items() if any(s.differentiable() for s in found))


def test_every_row_has_a_trace_and_runs_again_exactly():
    """Whatever a row computes: the trace's gradients are backward()'s, and a used-up graph, run once more, gives the same trace."""
    from .samples import samples

    again = 0
    for key in rows():
        for sample in samples()[key]:
            if not sample.differentiable():
                continue
            provenance.record_lines(True)
            leaves = [torch.tensor(a, requires_grad=True) for a in sample.arrays()]
            given = iter(leaves)
            try:
                outs = [o for o in sample.call(sample.arrays(), lambda _, given=given: next(given)) if o.requires_grad]
            except RuntimeError:
                continue
            if not outs or outs[0].grad_fn is None:
                continue
            names = {f"x{k}": t for k, t in enumerate(leaves)}
            t = trace(outs[0], names)
            if t["steps"][-1]["kind"] == "error":  # a derivative that PyTorch does not have either
                assert "not implemented" in t["steps"][-1]["say"], (key, t["steps"][-1]["say"])
                continue
            outs[0].backward(torch.ones_like(outs[0]))
            for name, x in names.items():
                found = [n for n in t["nodes"] if n["label"] == name]
                if x.grad is not None:
                    assert found and t["arrays"][found[0]["grad_array"]] == numbers(x.grad.array), (key, name)
            assert all(n["array"] is not None for n in t["nodes"] if n["label"] in names), key
            used = trace(outs[0], names)
            if used["notices"] and "a constant of the computation was not kept" in used["notices"][0]:
                continue  # a big index tensor that nobody holds any more
            if used["notices"]:
                assert "on the same numbers" in used["notices"][0], (key, used["notices"])
                again += 1
            assert used["arrays"] == t["arrays"], key
    assert again > 100


def test_saved_tensors_hooks_hooks_and_custom_functions():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        h = x * x
    h.register_hook(lambda g: g * 10)
    y = Twice.apply(h).sum()
    t = trace(y, {"x": x, "h": h, "y": y})
    assert [n["op"] for n in t["nodes"] if n["kind"] == "operation"] == [
        "MulBackward0",
        "TwiceBackward",
        "SumBackward0",
    ]
    assert cells(t, node(t, "x")["grad_array"])[0].tolist() == [40.0, 80.0]
    assert any("A hook of yours had changed the gradient of h" in s["say"] for s in t["steps"])


def test_a_custom_function_says_what_it_is():
    class Round(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale, digits):
            ctx.save_for_backward(scale)
            return torch.round(x * scale, decimals=digits)

        @staticmethod
        def backward(ctx, g):
            (scale,) = ctx.saved_tensors
            return g * scale, None, None

    provenance.record_lines()
    try:
        x = torch.tensor(2.7, requires_grad=True)
        scale = torch.tensor(2.0)
        y = Round.apply(x, scale, 0)
        z = 3 * y
    finally:
        provenance.record_lines(False)
    t = trace(z, {"x": x, "scale": scale, "y": y, "z": z})
    made = node(t, "y")
    assert (
        made["expr"] == "Round(x, scale)"
        and made["source"]["text"].startswith("y = Round.apply")
        and made["value"] == 5.0
    )
    assert made["rule"] == "to x: Round.backward(g)"
    assert [(kept["name"], kept["bytes"], kept["stale"]) for kept in made["saved"]] == [("saved_tensors[0]", 4, False)]
    (said,) = [r["sentence"] for r in replay_steps(t) if "y passes" in r["sentence"]]
    assert "passes 6 back to x" in said and "what Round.backward makes of the upstream gradient 3 from z" in said, said
    assert "nothing here compares it with the true derivative of Round(x, scale)" in said
    assert node(t, "x")["grad"] == 6.0
    scale.add_(1)
    assert node(trace(z, {"y": y}), "y")["saved"][0]["stale"]


def test_a_custom_function_of_a_vector_in_words():
    class Pass(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sign()

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(1.0, -2.0)
    t = trace(Pass.apply(x).sum(), {"x": x})
    assert any("what Pass.backward makes of the upstream gradient" in step["say"] for step in t["steps"])


def test_code_under_a_name_to_look_around_has_the_line_that_called_it():
    """Answers that the course lends: what they make belongs to the learner's line."""
    space = {}
    exec(compile("def lent(x):\n    return x * 2", "<lent>", "exec"), space)
    provenance.record_lines(True)
    try:
        x = torch.ones(2, requires_grad=True)
        assert provenance.read(space["lent"](x).grad_fn).code.co_filename == "<lent>"
        not_the_learners.add("<lent>")
        assert provenance.read(space["lent"](x).grad_fn).code.co_filename == __file__
    finally:
        provenance.record_lines(False)
        not_the_learners.discard("<lent>")
