"""%audit: what a class's own backward pass left, its first wrong rule, and the usual cause; the picture says the same."""

import pytest

from minigrad import Value
from minigrad.tracing.scalar_trace import record
from tests.engine.styles import LECTURE, NAMES, operators, sources
from widgets import graph
from widgets.audit import audit


def engine(**changes):
    text = LECTURE
    for old, new in changes.pop("text", {}).items():
        assert old in text
        text = text.replace(old, new)
    return operators(sources(text, **NAMES | changes)["V"])


def ordered(root):
    out, seen = [], set()

    def visit(v):
        if id(v) not in seen:
            seen.add(id(v))
            for p in v._prev:
                visit(p)
            out.append(v)

    visit(root)
    return out[::-1]


def backward(root, order=ordered):
    root.grad = 1.0
    for v in order(root):
        v._backward()


def by_levels(root):
    """A wrong order: what is nearest to the result first."""
    out, seen = [root], {id(root)}
    for v in out:
        for p in v._prev:
            if id(p) not in seen:
                seen.add(id(p))
                out.append(p)
    return out


def program(s):
    x, w = s.make(0.5), s.make(-2.0)
    h = s.mul(x, w)
    t = s.act(h)
    u = s.mul(s.add(t, h), h)
    y = s.mul(u, x)
    return y, {"x": x, "w": w, "h": h, "t": t, "u": u, "y": y}


def said(y, names):
    found = audit(record(y, names))
    words = graph(y, names=names)._subject.words
    assert (found.say in words) is not found.right, "the picture says what is wrong, and only that"
    return found.say


def test_a_right_engine():
    y, names = program(engine())
    assert said(y, names) == "No backward pass of y has run yet, so there is nothing to compare. Its rules are right."
    backward(y)
    assert said(y, names) == "All 7 gradients behind y are right."
    assert said(names["u"], names).endswith(
        "the backward pass was run from another result, so nothing was compared. Its rules are right."
    )


@pytest.mark.parametrize("run", [True, False])
def test_a_wrong_rule(run):
    y, names = program(engine(text={"(1 - t * t)": "(1 - t)"}))
    if run:
        backward(y)
    rule = "The rule of t (tanh) is wrong: for a gradient of 1 it passes 1.76159 to h, and right is 0.419974."
    assert said(y, names).endswith(rule) and said(y, names).startswith("h.grad is" if run else "The rule")


def test_an_assignment():
    y, names = program(engine(text={"other.<grad> += out.<grad>": "other.<grad> = out.<grad>"}))
    backward(y)
    assert " writes its operands' gradients with =, which loses what was there; write +=." in said(y, names)


def test_a_wrong_order():
    y, names = program(engine())
    backward(y, by_levels)
    assert " The order is wrong: h passed its gradient on before all of it had arrived." in said(y, names)


@pytest.mark.parametrize("count", [2, 3])
def test_several_passes(count):
    y, names = program(engine())
    for _ in range(count):
        backward(y)
    assert f"That is what {count} backward passes leave together" in said(y, names)


def test_what_an_earlier_pass_left():
    s = engine()
    y, names = program(s)
    backward(s.mul(names["x"], names["w"]))
    backward(y)
    assert "Only inputs differ: they still hold what an earlier pass left. Set their gradients to 0" in said(y, names)


def test_weights_that_have_moved():
    y, names = program(engine())
    backward(y)
    names["w"].data += 0.25
    assert said(y, names).startswith("Inputs have moved since the backward pass")


def test_values_can_be_audited():
    x = Value(3.0)
    y = x * x
    y.backward()
    assert audit(record(y, {"x": x, "y": y})).say == "All 2 gradients behind y are right."
    y.backward()
    assert "2 backward passes leave together" in audit(record(y, {"x": x, "y": y})).say
