"""The scalar engine: values and gradients against PyTorch's stored answers, central differences and the complex step; the graph; memory."""

import cmath
import gc
import json
import math
import operator
import re
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad.scalar as scalar
from minigrad.scalar import Constant, Value, backward_order

inf, nan = math.inf, math.nan
# Made by make_reference_scalar.py
REFERENCE = json.loads(Path(__file__).with_name("reference_scalar.json").read_text())
BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow, "max": Value.max, "min": Value.min,
}  # fmt: skip
UNARY = {
    "neg": operator.neg, "abs": abs, "exp": Value.exp, "log": Value.log, "sin": Value.sin, "cos": Value.cos, "tanh": Value.tanh,
    "sigmoid": Value.sigmoid, "sqrt": Value.sqrt, "relu": Value.relu,
}  # fmt: skip


def same(a: float, b: float, tolerance: float = 1e-14) -> bool:
    return (a != a and b != b) or a == b or abs(a - b) <= tolerance * max(abs(a), abs(b))


# Values and gradients


@pytest.mark.parametrize("name", REFERENCE)
def test_every_operation_answers_as_pytorch_does_also_at_the_edges(name):
    for operands, incoming, value, grads in REFERENCE[name]:
        operands, incoming, value, grads = (
            [float(v) for v in operands],
            float(incoming),
            float(value),
            [float(v) for v in grads],
        )
        if name == "log" and 0 < abs(operands[0]) < 1e-308 and incoming == 0:
            continue  # 1/x overflows to inf, and 0 * inf is nan; torch divides the gradient 0 by x instead
        values = [Value(v) for v in operands]
        if name == "x ** number":
            n = grads.pop()
            if operands[0] == -inf and n % 1 == 0.5:
                continue  # torch takes square roots there, nan; its own pow of two tensors and IEEE 754 say inf
            y = values[0] ** n
        elif name == "number ** x":
            y = grads.pop() ** values[0]
        else:
            y = (BINARY | UNARY)[name](*values)
        y.grad = incoming
        y._backward()
        assert same(y.data, value), (name, operands, y.data, value)
        for v, grad in zip(values, grads, strict=True):
            assert same(v.grad, grad), (name, operands, incoming, v.grad, grad)


@pytest.mark.parametrize("name", [*UNARY, *BINARY, "r+", "r-", "r*", "r/", "r**", "**3", "**-0.5"])
def test_every_operation_against_central_differences(name):
    if name.startswith("r"):
        functions = [lambda x: BINARY[name[1:]](1.7, x)] if name != "relu" else [Value.relu]
    elif name.startswith("**") and name != "**":
        functions = [lambda x: x ** float(name[2:])]
    elif name in UNARY:
        functions = [UNARY[name]]
    else:
        functions = [
            lambda x: BINARY[name](x, 1.3),
            lambda x: BINARY[name](Value(1.3), x),
            lambda x: BINARY[name](x, x * x),
        ]
    h = 1e-6
    for f in functions:
        for at in (0.35, 0.8, 1.9, 2.6):
            x = Value(at)
            f(x).backward()
            numerical = (f(Value(at + h)).data - f(Value(at - h)).data) / (2 * h)
            assert x.grad == pytest.approx(numerical, rel=1e-7, abs=1e-8)


COMPLEX = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": lambda x, y: x / (y * y + 1), "sin": cmath.sin, "cos": cmath.cos,
    "tanh": cmath.tanh, "sigmoid": lambda x: 1 / (1 + cmath.exp(-x)), "exp": lambda x: cmath.exp(cmath.sin(x)), "neg": operator.neg,
    "log": lambda x: cmath.log(x * x + 1), "sqrt": lambda x: cmath.sqrt(x * x + 1), "square": lambda x: (x / 3) ** 2,
}  # fmt: skip
ENGINE = {
    **BINARY, "/": lambda x, y: x / (y * y + 1), "sin": Value.sin, "cos": Value.cos, "tanh": Value.tanh, "sigmoid": Value.sigmoid,
    "exp": lambda x: x.sin().exp(), "neg": operator.neg, "log": lambda x: (x * x + 1).log(), "sqrt": lambda x: (x * x + 1).sqrt(),
    "square": lambda x: (x / 3) ** 2,
}  # fmt: skip


def run(program, numbers, ops):
    for name, i, j in program:
        f = ops[name]
        a, b = numbers[i % len(numbers)], numbers[j % len(numbers)]
        numbers.append(f(a, b) if name in BINARY else f(a))
    return numbers[-1]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(list(COMPLEX)), st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=12
    ),
    st.lists(st.floats(-2, 2), min_size=1, max_size=4),
)
def test_random_programs_against_the_complex_step(program, at):
    """f(x + ih) = f(x) + ih f'(x) + ...: with h = 1e-30 the derivative to the last digits, without any rule of ours."""
    leaves = [Value(v) for v in at]
    y = run(program, list(leaves), ENGINE)
    if abs(y.data) > 1e6:
        return
    y.backward()
    for k, leaf in enumerate(leaves):
        step = run(program, [complex(v, 1e-30 if i == k else 0.0) for i, v in enumerate(at)], COMPLEX)
        assert y.data == pytest.approx(step.real, rel=1e-9, abs=1e-9)
        assert leaf.grad == pytest.approx(step.imag / 1e-30, rel=1e-8, abs=1e-8)


def test_the_readme_of_micrograd():
    a, b = Value(-4.0), Value(2.0)
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
    g.backward()
    assert (round(g.data, 4), round(a.grad, 4), round(b.grad, 4)) == (24.7041, 138.8338, 645.5773)


def test_a_diamond_waits_until_all_of_the_gradient_has_arrived():
    a, b = Value(2), Value(3)
    c, d = a + b, a * b
    e, f = c + d, c * d
    y = e + f
    y.backward()
    assert (a.grad, b.grad) == (25.0, 19.0)
    assert (c.grad, d.grad, e.grad, f.grad, y.grad) == (7.0, 6.0, 1.0, 1.0, 1.0)


def test_overflow_and_undefined_are_numbers_not_exceptions():
    assert Value(1000.0).exp().data == inf
    assert (Value(10.0) ** 400).data == inf and (Value(-10.0) ** 401).data == -inf
    assert (
        math.isnan((Value(-8.0) ** (1 / 3)).data)
        and math.isnan(Value(-1.0).sqrt().data)
        and math.isnan(Value(inf).sin().data)
    )
    assert (1 / Value(0.0)).data == inf and (1 / Value(-0.0)).data == -inf and math.isnan((Value(0.0) / 0).data)
    x = Value(0.0)
    y = x.log()
    y.backward()
    assert (y.data, x.grad) == (-inf, inf)
    assert Value(1000.0).tanh().data == 1.0 and Value(-1000.0).sigmoid().data == 0.0


def test_a_shut_gate_stops_even_infinity():
    x = Value(-1.0)
    (x.relu() + 0).sqrt().backward()  # d sqrt(0) is infinite, and torch's relu passes 0
    assert x.grad == 0.0


def test_ties_share_the_gradient():
    a, b = Value(2.0), Value(2.0)
    a.max(b).backward()
    assert (a.grad, b.grad) == (0.5, 0.5)
    a, b, c = Value(1.0), Value(4.0), Value(4.0)
    assert scalar.max(a, b, c).data == 4.0 and scalar.min(a, b, c).data == 1.0 and scalar.max(1, 3, 2) == 3.0
    scalar.max(a, b, c).backward()
    assert (a.grad, b.grad, c.grad) == (0.0, 0.5, 0.5)


def test_functions_take_numbers_and_values_alike():
    for name in ("exp", "log", "sin", "cos", "tanh", "sigmoid", "relu", "sqrt"):
        f = getattr(scalar, name)
        assert (
            type(f(0.7)) is float
            and type(f(Value(0.7))) is Value
            and f(0.7) == f(Value(0.7)).data == getattr(Value(0.7), name)().data
        )


# The graph


def test_both_arrows_of_a_plus_a():
    a = Value(3.0)
    y = a + a
    assert y._prev == (a, a) and y._local == (1.0, 1.0) and y._op == "+"
    y.backward()
    assert a.grad == 2.0


def test_constants_are_nodes_and_can_be_told_from_leaves():
    x = Value(1.0)
    y = 3 * x
    three, same_x = y._prev
    assert (
        same_x is x
        and type(three) is Constant
        and isinstance(three, Value)
        and three.data == 3.0
        and three._op == "" == x._op
    )
    assert type(x) is Value and y._local == (1.0, 3.0)
    assert [type(p) for p in (x - 1)._prev] == [Value, Constant] and [type(p) for p in (2**x)._prev] == [
        Constant,
        Value,
    ]
    # A fixed exponent is no input, as in micrograd
    assert (x**2)._prev == (x,) and (x**2)._op == "**2" and (x**-0.5)._op == "**-0.5"
    assert (x ** Value(2))._op == "**"


def test_a_constant_has_no_line_of_whoever_looks_at_it():
    x = Value(2.0)
    scalar.record_lines()
    try:
        y = 3 * x
        three = y._prev[0]
    finally:
        scalar.record_lines(False)
    assert hasattr(y, "_code") and not hasattr(three, "_code")


def test_a_constant_is_made_when_it_is_looked_at_and_stands_before_its_result():
    x = Value(2.0)
    for y, values, local in ((x - 5, (2.0, 5.0), (1.0, -1.0)), (5 - x, (5.0, 2.0), (1.0, -1.0)), (x / 4, (2.0, 4.0), (0.25, -0.125)),
                             (4 / x, (4.0, 2.0), (0.5, -1.0)), (3**x, (3.0, 2.0), (6.0, 9 * math.log(3))),
                             (x.max(1), (2.0, 1.0), (1.0, None)), (scalar.min(3, x), (3.0, 2.0), (None, 1.0))):  # fmt: skip
        x.grad = 0.0
        y.backward()
        assert tuple(p.data for p in y._prev) == values and y._local == local
        constant = next(p for p in y._prev if p is not x)
        # The same one every time
        assert type(constant) is Constant and constant is y._prev[values.index(constant.data)]
        assert x._seq < constant._seq < y._seq and x.grad == local[1 - values.index(constant.data)]
        y.backward()
        assert constant.grad == 0.0  # it does not vary, so no gradient flows into it


def test_backward_by_hand_is_backward():
    """`backward()` writes `_backward()` out, for speed: this holds the two together, gates and ties included."""

    def build():
        x, w = Value(0.5), Value(-1.5)
        h = (x * w + 2).tanh()
        return x, w, (h * x - w / h).exp().max(h)

    x, w, y = build()
    y.backward()
    x2, w2, y2 = build()
    y2.grad = 1.0
    for node in backward_order(y2):
        node._backward()
    assert (x.grad, w.grad) == (x2.grad, w2.grad) != (0.0, 0.0)


def test_order_is_newest_first_each_once():
    x = Value(2.0)
    late = Value(1.0)
    a = x * late
    b = a + x
    y = b * a + a
    order = backward_order(y)
    assert order == [y, y._prev[0], b, a]
    assert backward_order(x) == []


def test_a_second_backward_adds_the_true_gradient_once_more_to_the_leaves():
    x = Value(3.0)
    a = x * x
    y = a * a  # through an intermediate: micrograd's own answer here would be 540
    y.backward()
    assert x.grad == 108.0
    y.backward()
    assert x.grad == 216.0 and a.grad == 18.0 and y.grad == 1.0
    z = a + 1  # another root over the same part
    z.backward()
    assert x.grad == 222.0 and a.grad == 1.0
    x.backward()
    assert x.grad == 223.0


def test_local_derivatives_belong_to_the_forward_pass():
    x = Value(3.0)
    y = x * x
    x.data = 100.0
    y.backward()
    assert x.grad == 6.0


def test_an_interrupted_backward_spoils_nothing():
    class Interrupting(float):
        def __mul__(self, other):
            raise KeyboardInterrupt

    x = Value(1.0)
    nodes = [x]
    for _ in range(50):
        nodes.append(nodes[-1] * 1.5 + nodes[-1])
    y, middle = nodes[-1], nodes[20]
    middle._da = Interrupting(1.0)
    with pytest.raises(KeyboardInterrupt):
        y.backward()
    assert nodes[30].grad != 0.0 == nodes[10].grad
    middle._da = 1.0
    y.backward()
    assert x.grad == pytest.approx(2.5**50, rel=1e-12)


def test_a_million_operations_neither_recurse_nor_stay():
    gc.disable()
    try:
        x = Value(1.0)
        y = x
        for _ in range(1_000_000):
            y = y + 0.5
        inside = weakref.ref(y._prev[0])
        y.backward()
        assert (x.grad, y.data) == (1.0, 500_001.0)
        del y  # a million nodes go, one holding the next
        assert inside() is None
    finally:
        gc.enable()


def test_reference_counting_frees_everything():
    w = Value(0.3)

    def step():
        y = sum((w * i + w.tanh()).relu() ** 2 for i in range(20)) / 7 - w.max(0.1)
        y.backward()
        w.grad = 0.0

    step()
    gc.collect()
    gc.disable()
    try:
        before = sys.getallocatedblocks()
        for _ in range(1000):
            step()
        assert sys.getallocatedblocks() - before < 200
        assert gc.collect() == 0
    finally:
        gc.enable()


# Python's manners


def test_comparisons_look_at_data_equality_at_identity():
    a, b = Value(1.0), Value(1.0)
    assert (
        a <= b
        and a >= b
        and not a < b
        and a < 2
        and 0.5 < a
        and a > -1
        and sorted([Value(3), Value(1), Value(2)])[0].data == 1
    )
    assert a != b and a == a and len({a, b}) == 2 and {a: "x"}[a] == "x" and [a, b].index(b) == 1
    assert Value(2.0) and not Value(0.0)


def test_repr_and_format():
    x = Value(2, label="x")
    y = x * 0.5
    y.backward()
    assert repr(x) == "Value(data=2.0, grad=0.5, label='x')"
    assert repr(y) == "Value(data=1.0, grad=1.0, op='*')" and repr(y._prev[1]) == "Constant(data=0.5, grad=0.0)"
    assert f"{x:.3f}" == "2.000" and f"{x}" == repr(x) and repr(Value(nan)) == "Value(data=nan, grad=0.0)"


def test_numbers_of_all_kinds_are_taken_as_floats():
    from decimal import Decimal
    from fractions import Fraction

    for number in (2, 2.0, np.float64(2), np.float32(2), np.int8(2), Fraction(2), Decimal(2)):
        x = Value(number)
        assert type(x.data) is float and x.data == 2.0
        for y in (x * number, number * x, number + x, x - number, number / x, x**number, number**x):
            assert type(y) is Value and type(y.data) is float
    assert Value(True).data == 1.0 and (np.bool_(True) + Value(1)).data == 2.0 and (Value(1.0) < np.float64(2)) is True


BAD = ["3", [1, 2], None, (1,), {1: 2}, 1j, np.complex64(1), np.ones(3), np.array(1.0), object(), max, Value]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: type(bad).__name__)
def test_anything_else_gets_an_error_that_says_what_to_do(bad):
    x = Value(1.0)
    attempts = [
        lambda: Value(bad),
        lambda: x + bad,
        lambda: bad - x,
        lambda: x**bad,
        lambda: x < bad,
        lambda: x.max(bad),
    ]
    for attempt in attempts:
        with pytest.raises(TypeError, match="a Value needs one plain number, but got .*") as error:
            attempt()
        assert str(error.value).rstrip().endswith((".", ")."))
    assert x.grad == 0.0


def test_advice_fits_the_mistake():
    advices = [
        ("3", "float(text)"),
        ([1, 2], "[Value(v) for v in data]"),
        (None, "forgot its return"),
        (Value(1), "Value(x.data)"),
    ]
    for bad, advice in advices:
        with pytest.raises(TypeError) as error:
            Value(bad)
        assert advice in str(error.value)
    with pytest.raises(TypeError):
        math.sin(Value(1.0))  # would lose the gradient in silence; Value has no __float__


def test_scalar_needs_only_the_standard_library():
    code = (
        "import sys, minigrad.scalar; print([m for m in ('numpy', 'numba', 'IPython', 'decimal') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# Source lines


def test_lines_are_remembered_only_when_asked_for():
    x = Value(1.0)
    assert not hasattr(x * 2, "_code")
    scalar.record_lines()
    try:
        y = x * 2
        here = sys._getframe().f_code
        assert y._code is here and list(here.co_positions())[y._offset // 2][0] == here.co_firstlineno + 5
        assert scalar.max(x, y, 3)._code is here  # functions inside the engine are looked through
        for _ in range(scalar.LINES_KEPT):
            y = y * 1.0
        assert not hasattr(y, "_code")  # a big graph: no more lines, no more cost
        y.backward()
        assert (x + 1)._code is here
    finally:
        scalar.record_lines(False)
    assert not hasattr(x * 2, "_code")


def test_a_class_of_ones_own_may_answer_for_reflected_operators():
    class Own(Value):
        __slots__ = ()

        def __radd__(self, other):
            return super().__radd__(other)

        def __rsub__(self, other):
            return super().__rsub__(other)

        def __rmul__(self, other):
            return super().__rmul__(other)

        def __rtruediv__(self, other):
            return super().__rtruediv__(other)

    a, b = Value(3.0), Own(2.0)  # Python asks b first
    results = [
        (a + b, 5.0, (1.0, 1.0)),
        (a - b, 1.0, (1.0, -1.0)),
        (a * b, 6.0, (2.0, 3.0)),
        (a / b, 1.5, (0.5, -0.75)),
    ]
    for result, wanted, slopes in results:
        a.grad = b.grad = 0.0
        result.backward()
        assert (result.data, (a.grad, b.grad), result._prev) == (wanted, slopes, (a, b))


# Value's operations are written out in scalar.py, because that file is read as a lecture and needs only `math`. The rows of the
# derivatives table must agree with them:
ROW = {"+": "add", "-": "sub", "*": "mul", "/": "div", "**": "PowBackward1", "max": "maximum", "min": "minimum"}
POINTS = [(0.5, 2.0), (-1.5, 0.25), (3.0, -2.0), (2.0, 2.0), (0.0, 1.0), (-0.25, -0.25)]


@pytest.mark.parametrize("name", [*BINARY, *UNARY])
def test_an_operation_and_its_row_of_the_derivatives_table_are_one(name):
    """Value, derivatives, formula, and the formulas of the derivatives: what is written twice agrees."""
    import minigrad.ops.elementwise  # noqa: F401
    from minigrad.core.on_values import slopes_of
    from minigrad.core.op import TABLE
    from minigrad.tracing.formulas import RULES

    row, rule, count = TABLE[ROW.get(name, name)], RULES[name], 2 if name in BINARY else 1
    if row.formula is not None:
        names = dict(zip(row.inputs, "ab", strict=False))
        assert rule.expr == re.sub(r"\b\w+\b", lambda m: names.get(m[0], m[0]), row.formula)
    scope = {key: getattr(np, key) for key in ("abs", "exp", "log", "sin", "cos", "tanh", "sqrt", "sign")}
    scope |= {"max": max, "min": min, "relu": lambda x: max(x, 0.0), "sigmoid": lambda x: 1 / (1 + np.exp(-x))}
    for point in POINTS:
        operands = [Value(x) for x in point[:count]]
        out = (BINARY | UNARY)[name](*operands)
        arrays = [np.asarray(x, np.float64) for x in point[:count]]
        with np.errstate(all="ignore"):
            expected = np.asarray(row.forward(*arrays))
            slopes = slopes_of(row, arrays, expected)
            known = scope | dict(zip("ab", arrays, strict=False)) | {"out": expected}
            written = [eval(text, {}, known) for text in rule.locals]  # noqa: S307
        np.testing.assert_allclose(out.data, expected, rtol=1e-15)
        for own, by_row, text in zip(out._local, slopes, written, strict=True):
            # tanh: (1 - t)(1 + t) here, 1 - t² there
            np.testing.assert_allclose(0.0 if own is None else own, by_row, rtol=1e-13)
            # A tie is said in words, 0 * log(0) too
            if np.isfinite(text) and not (name in ("max", "min") and point[0] == point[1]):
                np.testing.assert_allclose(text, by_row, rtol=1e-13)
