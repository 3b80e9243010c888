"""The duel of two computations: what is compared, what is named, and that two views have one step."""

import json
import random
import re
import xml.etree.ElementTree as ET

import pytest

import minigrad as torch
from minigrad import Value, scalar
from minigrad.core.call_log import VALUES
from tests.widgets.test_network import Neuron, lecture
from widgets import duel
from widgets.duel import first_difference
from widgets.layout import layout


class WrongTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y)  # should be y ** 2


class RightTanh(WrongTanh):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y * y)


def rows(view):
    """The one marked card: the label of its node, and its lines."""
    (card,) = [c for c in view.picture["cards"] if "rows" in c]
    plain = next(c for c in layout(view.trace)["cards"] if c["id"] == card["id"])
    assert card["h"] > plain["h"] and card["w"] >= plain["w"] and card["at"] == view.step
    return view.trace["nodes"][card["id"]]["label"], card["rows"]


def program(tanh, x):
    return (tanh(x * 2) * 3).sum()


def test_a_wrong_rule_is_named():
    x = torch.tensor([0.5, -1.0], requires_grad=True)
    d = duel(program(torch.tanh, x), program(WrongTanh.apply, x), names={"x": x})
    assert d.difference is not None and d.left.trace["nodes"][d.difference.left]["op"] == "TanhBackward0"
    assert d.sentence.startswith("They part in the backward pass at") and "WrongTanhBackward" in d.sentence
    assert "Up to there they agree" in d.sentence
    assert d.left.step == d.difference.step == d.right.step
    assert rows(d.left) == ("tanh(2x)", [("≠ passes to 2x", "[1.25992, 0.211952]"), ("there", "[0.715217, 5.89208]")])
    assert rows(d.right) == ("v1", [("≠ passes to 2x", "[0.715217, 5.89208]"), ("there", "[1.25992, 0.211952]")])
    assert "≠ passes to 2x" in d.left.svg()


def test_a_right_rule_agrees():
    x = torch.tensor([0.5, -1.0], requires_grad=True)
    d = duel(program(torch.tanh, x), program(RightTanh.apply, x), names={"x": x})
    assert d.difference is None and d.sentence == "They agree: every value and every gradient, at every step."
    assert not any("rows" in card for view in (d.left, d.right) for card in view.picture["cards"])


def test_two_views_have_one_step():
    x = Value(2.0)
    d = duel(x * x + 1, x * x + 2, names={"x": x})
    d.left.step = 2
    assert d.right.step == 2
    d.right.step = 3
    assert d.left.step == 3


@pytest.mark.parametrize("other, sentence", [
    (lambda x: x * x + 2, "They part at x × x + 1: the first computes 5, the second 6"),
    (lambda x: (x * x).tanh(), "They part at"),
    (lambda x: x * 3 + 1, "They part at"),
    (lambda x: x * x, "The first has 3 nodes, the second 2."),
])  # fmt: skip
def test_what_differs_in_the_forward_pass(other, sentence):
    x = Value(2.0)
    d = duel(x * x + 1, other(x), names={"x": x})
    assert sentence in d.sentence
    (_, here), (_, there) = rows(d.left), rows(d.right)
    assert here[0][1] == there[1][1] != here[1][1] == there[0][1] and here[0][1] in d.sentence


@pytest.mark.parametrize("first, then, other, after, say", [
    (lambda a, b: a * b, lambda c: c * 2, lambda a, b: b * a, lambda c: c * 3,
     "p: the first computes −12, the second −18 (c × 2 against C × 3). The first multiplies by 2, the second by 3."),
    (lambda a, b: a + b, lambda c: c.tanh(), lambda a, b: b + a, lambda c: c.exp(),
     "p: the first computes −0.761594, the second 0.367879 (tanh(c) against exp(C))."),
    (lambda a, b: a * b + a, lambda c: c * c + c, lambda a, b: a + a * b, lambda c: c * c - c,
     "p: the first computes 12, the second 20 (c × c + c against C × C − C)."),
    (lambda a, b: a * b + a, lambda c: c * c + c, lambda a, b: a * b + a, lambda c: c * c - c,
     "p: the first computes 12, the second 20 (c × c + c against C × C − C)."),
    (lambda a, b: a * b + a, lambda c: c**2, lambda a, b: a * b + b, lambda c: c**2,
     "c: the first computes −4, the second −9 (a × b + a against A × B + B). The first adds a, the second B."),
    (lambda a, b: a * b - a, lambda c: c**2, lambda a, b: b * a - b, lambda c: c**2,
     "c: the first computes −8, the second −3 (a × b − a against B × A − B). The first subtracts a, the second B."),
])  # fmt: skip
@pytest.mark.parametrize("order", [1, -1])
def test_the_real_difference_is_named_whatever_is_swapped(first, then, other, after, say, order):
    """Neither the sides of a product nor the order in which inputs were made are a difference."""
    a, b = Value(2.0), Value(-3.0)
    made = {k: Value(x) for k, x in [("A", 2.0), ("B", -3.0)][::order]}
    c, C = first(a, b), other(made["A"], made["B"])
    p, q = then(c), after(C)
    shown = duel(p, q, names={"a": a, "b": b, "c": c, "p": p, "C": C, "q": q, **made})
    assert shown.sentence == f"They part at {say}"
    assert "not part of" not in shown.left.notice + shown.right.notice


@pytest.mark.parametrize("data", [(2.0, 2.0, -3.0), (2.0, -3.0, 2.0), (0.5, 1.5, -1.0), (2.0, 2.0, 2.0)])
@pytest.mark.parametrize("seed", range(12))
def test_one_changed_operation_is_found_in_any_program(data, seed):
    """A random program against itself with its operands swapped at random: no difference. With one constant changed: that one."""

    def run(swaps, constant):
        rng, swap = random.Random(seed), random.Random(swaps)
        pool = [Value(x) for x in data]
        marked = None
        for k in range(8):
            x, y = rng.choice(pool), rng.choice(pool)
            x, y = (y, x) if swap.random() < 0.5 else (x, y)
            made = x * y if rng.random() < 0.5 else x + y
            if k == 5:
                made = marked = made * constant
            pool.append(made)
        out = pool[3]
        for part in pool[4:]:
            out = part + out if swap.random() < 0.5 else out + part
        return out, marked

    (out, marked), (again, _), (wrong, _) = run(1, 1.5), run(2, 1.5), run(2, 2.5)
    assert duel(out, again, names={"marked": marked}).difference is None
    found = duel(out, wrong, names={"marked": marked}).sentence
    assert (
        found.startswith("They part at marked")
        and found.endswith("The first multiplies by 1.5, the second by 2.5.")
        or marked.data == 0
    )


def test_different_inputs_are_named():
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 2.5], requires_grad=True)
    d = duel((x * 2).sum(), (y * 2).sum(), names={"x": x, "y": y})
    assert d.sentence == "They part at x: the first starts with [1, 2], the second [1, 2.5]."


def test_text_and_comparison_of_a_trace_with_itself():
    x = Value(2.0)
    d = duel(x * x, x * x, names={"x": x})
    assert first_difference(d.left.trace, d.left.trace) is None
    text = d._repr_mimebundle_()[0]["text/plain"]
    assert text.startswith("They agree") and text.count("x × x") >= 2


class Mine:
    """A learner's class; its product overwrites one gradient instead of adding to it."""

    def __init__(self, data, parents=(), op=""):
        self.data, self.grad, self._prev, self._op, self._backward = data, 0.0, parents, op, lambda: None

    def __add__(self, other):
        out = Mine(self.data + other.data, (self, other), "+")

        def backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = backward
        return out

    def __mul__(self, other):
        out = Mine(self.data * other.data, (self, other), "*")

        def backward():
            self.grad += other.data * out.grad
            other.grad = self.data * out.grad

        out._backward = backward
        return out


def backward(root, order):
    root.grad = 1.0
    for node in order:
        node._backward()


def test_what_the_learners_own_backward_left_is_compared():
    def run(cls):
        a, b = cls(2.0), cls(-3.0)
        c = a * b
        d = c + b
        return {"a": a, "b": b, "c": c, "d": d}

    mine, right = run(Mine), run(Value)
    right["d"].backward()
    d = duel(mine["d"], right["d"], names=mine)
    said = "The backward() of the first has not been called, so what it would write into grad was not compared."
    assert d.sentence == f"They agree in every value and every rule. {said}"
    backward(mine["d"], [mine["d"], mine["c"]])
    d = duel(mine["d"], right["d"], names=mine)
    assert d.sentence == "They part in the backward pass at b: the first left 2 in its grad, and right is 3."
    assert d.difference and d.left.step == d.difference.step == d.right.step > 4
    assert rows(d.left) == ("b", [("✗ wrote", "2"), ("✓ right is", "3")])
    assert rows(d.right)[1] == [("✗ other wrote", "2"), ("✓ right is", "3")]
    turned = duel(right["d"], mine["d"], names=mine)
    assert rows(turned.right) == rows(d.left) and rows(turned.left)[1] == rows(d.right)[1]
    mine["a"].data = 5.0
    d.left.reopen()
    assert not any("rows" in card for card in d.left.picture["cards"]), (
        "the numbers of a view that was read again are others"
    )
    mine["a"].data = 2.0
    mine["b"].grad = 3.0
    assert duel(mine["d"], right["d"], names=mine).difference is None


class Loud(Neuron):
    """Another activation."""

    def __call__(self, x):
        return sum((wi * xi for wi, xi in zip(self.w, x, strict=True)), self.b).sigmoid()


@pytest.fixture
def noted():
    """Calls are noted, as in a notebook."""
    scalar.record_lines(True, VALUES)
    yield
    scalar.record_lines(False)


@pytest.mark.parametrize("other", [{"seed": 1}, {"neuron": Loud}])
def test_networks_that_part_stay_networks_and_the_neuron_is_marked(noted, other):
    (one, _), (two, _) = lecture(), lecture(**other)
    d = duel(one["loss"], two["loss"], names=one)
    for view, node in ((d.left, d.difference.left), (d.right, d.difference.right)):
        mark = view.network["mark"]
        assert view._level == "network" and mark["rows"][0][0] == "≠ here"
        plan = json.loads(view.network["plan"])
        if "seed" in other:  # a weight
            assert next(p["cell"] for p in plan["parameters"] if p["node"] == node) == mark["cell"]
        else:
            assert node == view._subject.network.outs[mark["sample"], mark["cell"]]
        assert mark["cell"] == 3 and mark["at"] == 2  # the first neuron, at its layer's event
        assert [view.svg(step).count("≠ here") for step in (1, 2, view.total)] == [0, 1, 1]
    assert d.left.step == d.right.step == 6, "all numbers are there"
    svg = d.left.svg()
    x, y, w, h = map(
        float, re.search(r'<rect class="z" x="(.+?)" y="(.+?)" width="(.+?)" height="(.+?)"', svg).groups()
    )
    cells = [tuple(map(float, found)) for found in re.findall(r"translate\(([-\d.]+)[ ,]([-\d.]+)\)", svg)]
    hidden = [(cx, cy) for cx, cy in cells if x < cx + 15 and cx - 15 < x + w and y < cy + 8 and cy - 8 < y + h]
    assert len(cells) > 12 and not hidden, "the mark hides no number"


def test_networks_that_part_at_the_loss_have_the_mark_there(noted):
    names, outs = lecture()
    other = sum((out - y) ** 2 for out, y in zip(outs, [0.5, 1, 1, 1], strict=True))
    d = duel(names["loss"], other, names=names)
    found = d.left.network["mark"]
    assert found["part"] in ("error", "loss") and found["cell"] == -1 and found["at"] > 4
    assert "≠ here" in d.left.svg()


def test_a_stored_duel_shows_both_pictures_and_the_marks(noted):
    """Without a kernel: the sentence, and both graphs with both numbers, legible in a narrow column."""
    a, b = Value(2.0), Value(-3.0)
    c, d = Value(2.0), Value(-3.0)
    names = {"a": a, "b": b, "c": c, "d": d}
    shown = duel((a * b + a) ** 2, (c * d + d) ** 2, names=names)
    drawn = shown._repr_mimebundle_()[0]["image/svg+xml"]
    root = ET.fromstring(drawn)
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("≠ here") == 2 and texts.count("there") == 2 and {"a", "b", "c", "d"} <= set(texts)
    assert "They part at a × b + a: the first computes −4" in texts[0]
    assert float(root.get("width")) <= 664 and drawn.count("<style>") == 1
    inner = [e for e in root if e.tag.endswith("svg")]
    ends = [float(e.get("y")) + float(e.get("height")) for e in inner]
    assert len(inner) == 2 and ends[0] < float(inner[1].get("y")) and ends[1] <= float(root.get("height"))


def test_the_marks_band_is_that_of_the_view(noted):
    """A violet band at the card's foot, from the event on at which the numbers differ."""
    x, y = Value(2.0), Value(2.0)
    shown = duel(x * 3, y * 4, names={"x": x, "y": y})
    at = shown.difference.step
    assert at > 0
    drawn = [shown.left.svg(k) for k in (at - 1, at)]
    assert [text.count('class="z"') for text in drawn] == [0, 1] and ["≠ here" in text for text in drawn] == [
        False,
        True,
    ]
