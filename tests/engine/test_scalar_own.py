"""Operations that Value does not have, as followers of the micrograd lecture write them; subclasses; copies and pickles."""

import copy
import math
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from minigrad import Value, scalar
from minigrad.scalar import Constant, backward_order, copy_newest, is_own_operation, operation, recompute
from minigrad.tape import Tape
from minigrad.tracing.trace import fmt, replay_steps, trace


class V2(Value):
    """A subclass in the lecture's style: its tanh is its own."""

    def tanh(self):
        t = (math.exp(2 * self.data) - 1) / (math.exp(2 * self.data) + 1)
        out = V2(t, (self,), "tanh")

        def _backward():
            self.grad += (1 - t**2) * out.grad

        out._backward = _backward
        return out


def lecture_tanh(x):
    t = math.tanh(x.data)
    out = Value(t, (x,), "tanh")

    def _backward():
        x.grad += (1 - t**2) * out.grad

    out._backward = _backward
    return out


def by_operation(x):
    t = math.tanh(x.data)
    return operation("tanh", t, [(x, 1 - t**2)])


def by_setting_each_part(x):
    out = Value(math.tanh(x.data))
    out._backward = lambda: setattr(x, "grad", x.grad + (1 - out.data**2) * out.grad)
    out._prev, out._op = [x], "tanh"
    return out


tanhs = pytest.mark.parametrize("tanh", [lecture_tanh, by_operation, by_setting_each_part, V2.tanh])


@tanhs
def test_an_own_operation_is_differentiated_like_any_other(tanh):
    def program(f):
        x, w = Value(0.3, label="x"), Value(-0.7, label="w")
        h = f(x * w + 0.5)
        y = h * h + f(h * x) - x
        y.backward()
        y.backward()  # leaves get it twice, intermediate results once
        return y.data, x.grad, w.grad, h.grad

    assert program(tanh) == pytest.approx(program(Value.tanh), rel=1e-12)


@tanhs
def test_an_own_operation_shows_as_any_other(tanh):
    x = Value(0.3)
    h = tanh(x * 2)
    y = h * h
    x.grad = h.grad = 7.0
    t, plain = trace(y, {"x": x, "h": h}), trace((g := (x * 2).tanh()) * g, {"x": x, "h": g})
    assert x.grad == h.grad == 7.0 and (h._prev[0].grad, y.grad) == (0.0, 0.0)  # looking changes no gradient
    for ours, theirs in zip(t["edges"], plain["edges"], strict=True):
        assert ours["local"] == pytest.approx(theirs["local"], rel=1e-12) and ours["local_text"] == theirs["local_text"]
    for key in ("label", "expr", "op", "kind"):
        assert [n[key] for n in t["nodes"]] == [n[key] for n in plain["nodes"]]
    assert [fmt(n["grad"]) for n in t["nodes"]] == [fmt(n["grad"]) for n in plain["nodes"]]
    tape = Tape(y)
    tape.set(0, 0.3)
    values, grads, _ = tape.sweep(x, [0.9])
    assert values[0, t["root"]] == pytest.approx(math.tanh(1.8) ** 2)
    tape.replay()
    assert x.grad == pytest.approx(plain["nodes"][0]["grad"])


def test_an_operation_of_three_operands_and_of_unknown_name():
    a, b, c = Value(2.0, label="a"), Value(-3.0, label="b"), Value(0.5, label="c")
    y = 2 * operation("muladd", 2.0 * -3.0 + 0.5, [(a, -3.0), (b, 2.0), (c, 1.0)])
    y.backward()
    assert (a.grad, b.grad, c.grad) == (-6.0, 4.0, 2.0)
    assert (
        backward_order(y) == [y, y._prev[1]] and y._prev[1]._prev == (a, b, c) and y._prev[1]._local == (-3.0, 2.0, 1.0)
    )
    t = trace(y, {"y": y})
    assert t["nodes"][3]["expr"] == "muladd(a, b, c)" and [n["grad"] for n in t["nodes"] if n["kind"] == "leaf"] == [
        -6.0,
        4.0,
        2.0,
    ]
    assert replay_steps(t)[-1]["sends"] == 2.0
    with pytest.raises(ValueError, match="muladd"):
        Tape(y)
    assert operation("f", 1.0, [(a, None)])._local == (None,)
    with pytest.raises(ValueError, match="at least one operand"):
        operation("f", 1.0, [])
    with pytest.raises(TypeError, match="one plain number"):
        operation("f", 1.0, [(a, [1.0])])


def test_a_function_set_as_backward_is_called_by_backward_and_its_mistakes_count():
    calls = []
    x = Value(3.0)
    out = Value(9.0, (x, x), "square")
    out._backward = lambda: (calls.append(out.grad), setattr(x, "grad", 6.0 * out.grad))  # "=", where "+=" is right
    (out + x).backward()
    assert calls == [1.0] and x.grad in (6.0, 7.0)  # overwritten or added to, by the order of the two edges
    assert out._local == (3.0, 3.0)  # what a function tells of x used twice, shared by both uses
    out.grad = 5.0
    out._backward()
    assert calls[-1] == 5.0 and x.grad == 30.0


def test_without_a_rule_nothing_is_passed_on_and_the_view_says_so():
    x = Value(2.0, label="x")
    y = Value(1.76, (x,), "swish") * 3
    y.backward()
    assert x.grad == 0.0
    t = trace(y)
    assert t["edges"][0]["local"] is None and t["nodes"][0]["grad"] is None
    assert "does not know an operation called “swish”" in replay_steps(t)[-1]["sentence"]


def test_a_wrong_or_failing_rule_is_not_shown_as_the_right_formula():
    x = Value(0.5, label="x")
    wrong = operation("tanh", math.tanh(0.5), [(x, 1 - math.tanh(0.5))])
    (edge,) = trace(wrong)["edges"]
    assert edge["local"] == 1 - math.tanh(0.5) and edge["local_text"] == ""
    failing = Value(1.0, (x,), "fails")
    failing._backward = lambda: 1 / 0
    x.grad = 4.0
    assert trace(failing)["edges"][0]["local"] is None and (x.grad, failing.grad) == (4.0, 0.0)
    with pytest.raises(ZeroDivisionError):
        failing.backward()


def test_what_the_constructor_takes():
    assert Value(1.0, "x").label == "x" == Value(1.0, label="x").label == Value(1.0, (), "", "x").label
    a, b = Value(1.0), Value(2.0)
    assert Value(3.0, {b, a}, "+")._prev == (a, b) and Value(3.0, [a, 2.0], "+")._prev[1].data == 2.0
    assert is_own_operation(Value(3.0, (a,))) and not is_own_operation(a + b) and not is_own_operation(a)
    with pytest.raises(TypeError, match="one plain number"):
        Value(3.0, (a, "b"), "+")
    with pytest.raises(ValueError, match="before its result"):
        a._prev = (b,)
    y = a * b
    y._backward = lambda: setattr(a, "grad", a.grad + 100.0)  # a rule of one's own for an operation that exists
    y.backward()
    assert (a.grad, b.grad) == (100.0, 0.0)


@pytest.mark.parametrize("compute", [
    lambda x: x * 3, lambda x: 3 * x, lambda x: x + x, lambda x: 1 - x, lambda x: 2 / x, lambda x: 2**x, lambda x: x**2, lambda x: -x,
    lambda x: abs(x), lambda x: x.exp().log().sin().cos(), lambda x: x.relu(), lambda x: x.tanh(), lambda x: x.max(Value(9.0)),
    lambda x: scalar.max(1.0, Value(3.0), x), lambda x: scalar.exp(x), lambda x: Value(2.0) * x, lambda x: Value(2.0) - x,
    lambda x: operation("f", 1.0, [(x, 1.0)]), lambda x: sum([x, x]),
])  # fmt: skip
def test_a_subclass_stays_itself(compute):
    x, plain = V2(2.0), Value(2.0)
    y, z = compute(x), compute(plain)
    y.backward()
    z.backward()
    assert type(y) is V2 and y._op == z._op and (y.data, x.grad) == pytest.approx((z.data, plain.grad))


def test_subclasses_of_all_shapes():
    class Slotted(Value):
        __slots__ = ("note",)

    class Louder(V2):
        def __mul__(self, other):
            out = super().__mul__(other)
            out.loud = True
            return out

    assert type(Slotted(1.0) + 1) is Slotted and type(Louder(1.0) + 1) is Louder and (Louder(2.0) * 3).loud
    assert type(Value(1.0) + 1) is Value and type((V2(1.0) * 2)._prev[1]) is Constant
    y = Slotted(2.0, label="s") * 3
    y.note = "kept"
    for again in (copy.deepcopy(y), copy.copy(y)):
        assert type(again) is Slotted and again.note == "kept"
    assert V2(2.0).tanh()._op == "tanh" and trace(V2(0.5, label="x").tanh())["nodes"][1]["expr"] == "tanh(x)"


# Copies and pickles


def deep(n):
    x = Value(1.0, label="x")
    y = x
    for _ in range(n):
        y = y * 0.999 + x * 1e-4
    return x, y


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_a_copy_is_the_whole_graph_again(again):
    x = Value(0.3, label="x")
    h = lecture_tanh(x * 2 + 1)
    y = h.relu() * x + operation("three", 1.0, [(x, 2.0), (h, -1.0), (x, 0.5)])
    first, (y2, x2, h2, also) = [y, x, h, {"h": h}], again([y, x, h, {"h": h}])
    assert also["h"] is h2 and x2 is not x and y2 is not y and x2.label == "x"
    for out in (y, y2):
        out.backward()
    assert (y2.data, y2.grad, x2.grad, h2.grad) == pytest.approx((y.data, y.grad, x.grad, h.grad), rel=1e-12)
    assert [n["expr"] for n in trace(y2)["nodes"]] == [n["expr"] for n in trace(y)["nodes"]]
    grad = x.grad
    (y2 * 2).backward()
    assert x.grad == grad and first[0] is y  # nothing of the copy reaches the original
    h3, y3 = again([h, y])
    assert h3 in backward_order(y3)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_a_chain_of_any_length_can_be_copied(again):
    x, y = deep(33_334)  # 100,002 operations
    x2, y2 = again((x, y))
    assert len(backward_order(y2)) == len(backward_order(y)) > 100_000
    y.backward()
    y2.backward()
    assert (y2.data, x2.grad) == (y.data, x.grad)


class Tree(Value):
    """A subclass that knows its parents once more, and so refers to the graph that it is in."""

    def __init__(self, data, inputs=()):
        super().__init__(data)
        self.inputs = list(inputs)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_what_a_subclass_keeps_is_copied_with_it(again):
    x = Tree(2.0)
    y = x * 3
    y.inputs = [x, y]
    x.inputs = [y]
    y2 = again(y)
    assert type(y2) is Tree and y2.inputs == [y2._prev[0], y2] and y2._prev[0].inputs == [y2]


def test_a_shallow_copy_shares_its_operands():
    x = Value(2.0)
    y = x * 3
    z = copy.copy(y)
    assert z is not y and z._prev[0] is x and z.age == y.age and z._local == y._local
    z.backward()
    assert x.grad == 3.0 and y.grad == 0.0
    assert copy.copy(x) is not x and copy.copy(x).data == 2.0


# Doors for the views


def test_operands_slopes_and_age_can_be_read_and_not_written():
    x = Value(2.0)
    y = 3 * x
    assert y.operands == y._prev and y.slopes == (2.0, 3.0) and x.operands == x.slopes == ()
    assert x.age < y.operands[0].age < y.age
    for name in ("operands", "slopes", "age"):
        with pytest.raises(AttributeError):
            setattr(y, name, 1)


def test_recompute_runs_every_operation_on_the_present_numbers():
    def program(x, w):
        h = (x * w + 3).tanh() / w - 2 / x
        u = h.exp().relu() + scalar.max(h, x) - abs(w) ** 1.5 + (-h).sigmoid() * 2**w
        return u + scalar.min(x, 1.0) + (x + 5).log().sqrt().sin().cos()

    x, w = Value(0.5), Value(2.0)
    y = program(x, w)
    assert not recompute(reversed(backward_order(y)))
    x.data, w.data = 1.5, 0.75
    assert recompute(reversed(backward_order(y)))
    p, q = Value(1.5), Value(0.75)
    fresh = program(p, q)
    fresh.backward()
    y.backward()
    assert (y.data, x.grad, w.grad) == (fresh.data, p.grad, q.grad)
    own = operation("swish", 1.0, [(x, 2.0)])
    assert not recompute([own, x, "no Value"]) and own.data == 1.0


def test_copy_newest_cuts_a_graph_off():
    x, y = deep(10)
    order = backward_order(y)
    copies = copy_newest(order, 6)
    top = copies[id(y)]
    assert len(backward_order(top)) == 6 and top.age == y.age and top is not y
    entering = order[6] if id(order[6]) in copies else order[7]
    assert copies[id(entering)]._prev == () and copies[id(entering)].data == entering.data
    top.backward()
    assert x.grad == 0.0 and copies[id(x)].grad != 0.0


def test_the_engine_stands_alone(tmp_path):
    """minigrad/scalar.py and values/, copied elsewhere as a package, need no other file. The first is short enough to read at once."""
    assert len(Path(scalar.__file__).read_text().splitlines()) <= 350
    engine = tmp_path / "engine"
    engine.mkdir()
    shutil.copy(scalar.__file__, engine)
    shutil.copytree(Path(scalar.__file__).parent / "values", engine / "values")
    code = (
        "from engine import scalar; import pickle; y = pickle.loads(pickle.dumps(scalar.Value(2.0) * 3)); print(y.data)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "6.0\n", done.stderr


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "deepcopy", "pickle"]
)
def test_a_value_takes_attributes_of_its_owner(again):
    """An optimizer keeps its moments on the parameter, a drawing its colour."""
    w = Value(2.0)
    w.m, w.v, w._vis_color = 0.5, [1.0], "red"
    y = w * 3
    y.note = "kept"
    y2 = again(y)
    w2 = y2._prev[0]
    assert (y2.note, w2.m, w2.v, w2._vis_color) == ("kept", 0.5, [1.0], "red") and y2.data == 6.0
    if again is copy.deepcopy:
        assert w2.v is not w.v
    trained = [w]
    for p in trained:
        p.m = 0.9 * p.m + 0.1 * p.grad
    assert w.m == 0.45
    h = V2(1.0)
    h.seen = True
    assert (h * 2)._prev[0].seen and not hasattr(h * 2, "seen")
