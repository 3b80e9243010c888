"""`Value`: one number that remembers how it was computed, and so can be differentiated.

What lives here: the scalar engine, whole. Each operation keeps its one or two parents and, for each, the local derivative, a plain number
computed in the forward pass. `backward()` walks from the newest operation to the oldest and adds local * incoming to each parent.
What does not: tensors (tensor.py), pictures (tracing/), replaying a graph at speed (tape.py). Needs only `math`.
Numbers are float64, and at the edges (log(0), 1/0, overflow, nan, ties) values and gradients are those of PyTorch's float64 scalars.
"""
from __future__ import annotations

import math
import sys
from functools import lru_cache, reduce
from itertools import count, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType

__all__ = ["Value", "Constant", "backward_order", "record_lines"]
__all__ += ["exp", "log", "sin", "cos", "tanh", "sigmoid", "relu", "sqrt", "max", "min"]

_numbers = count()
_new = object.__new__


class Value:
    """One number, its gradient, and how it was made.

    `data` is the number, `grad` the derivative of the last `backward()`'s root with respect to it. `_op` names the operation ("" for
    a leaf), `_prev` holds its parents in argument order, `_local` the derivative of the result with respect to each parent. A local
    of None is a shut gate: nothing flows there, not even when infinity arrives (`relu` below zero, the smaller argument of `max`).

    >>> x = Value(1.0, label="x")
    >>> y = (3 * x + 2) ** 2
    >>> y.backward()
    >>> y.data, x.grad
    (25.0, 30.0)

    Raises TypeError if `data` is not one plain number.
    """

    # Two pairs of slots, not two tuples: a third of the objects for Python's garbage collector to visit, half the time of a training step.
    __slots__ = ("data", "grad", "label", "_op", "_a", "_da", "_b", "_db", "_k", "_seq", "_seen", "_code", "_offset", "__weakref__")
    data: float
    grad: float
    label: str
    _seq: int  # creation number; that of a Constant lies half a step before its result
    _a: Any  # a Value, or None: a leaf
    _b: Any  # a Value, or None: only one took part
    _k: tuple[float | Constant, float, bool] | None  # a plain number that took part (a node once looked at), its local, "stood first"
    _code: CodeType  # only with record_lines()
    _offset: int
    __array_ufunc__ = None  # numpy scalars on the left of an operator leave the operation to us

    def __init__(self, data: float, label: str = ""):
        self.data = data if type(data) is float else checked_number(data)
        self.grad = 0.0
        self.label = label
        self._op = ""
        self._a = self._da = self._b = self._db = self._k = None
        self._seq = self._seen = next(_numbers)
        if self._seq <= _last_line:
            _keep_line(self, sys._getframe(1))

    # The graph: who made this number, and with which local derivatives

    @property
    def _prev(self) -> tuple[Value, ...]:
        if self._a is None:
            return ()
        if self._b is not None:
            return self._a, self._b
        if self._k is None:
            return (self._a,)
        number, local, first = self._k
        if not isinstance(number, Constant):
            number = _constant(number, self._seq - 0.5)  # it was there just before the result
            self._k = number, local, first
        return (number, self._a) if first else (self._a, number)

    @property
    def _local(self) -> tuple[float | None, ...]:
        if self._a is None:
            return ()
        if self._b is not None:
            return self._da, self._db
        if self._k is None:
            return (self._da,)
        _, local, first = self._k
        return (local, self._da) if first else (self._da, local)

    def _backward(self) -> None:
        """Add local * incoming to each parent: the chain rule for this one node."""
        if self._da is not None:
            self._a.grad += self._da * self.grad
        if self._db is not None:
            self._b.grad += self._db * self.grad

    def backward(self) -> None:
        """Compute the derivative of this number with respect to everything it was made from.

        Leaves accumulate: a second call adds the gradient once more, as in PyTorch. Intermediate results show the last pass.

        >>> x = Value(3.0)
        >>> y = x * x + x
        >>> y.backward(); y.backward()
        >>> x.grad
        14.0
        """
        if self._a is None:
            self.grad += 1.0
            return
        order = backward_order(self)
        for node in order:
            node.grad = 0.0
        self.grad = 1.0
        for node in order:  # node._backward(), written out: the call would be a tenth of the time
            incoming = node.grad
            local = node._da
            if local is not None:
                node._a.grad += local * incoming
            local = node._db
            if local is not None:
                node._b.grad += local * incoming
        if _recording:
            record_lines()

    # Arithmetic: each result is written as (name, value, parent, local derivative, parent, local derivative)

    def __add__(self, other):
        if type(other) is not Value and type(other := _operand(other)) is float:
            return _result("+", self.data + other, self, 1.0, None, None, (other, 1.0, False))
        return _result("+", self.data + other.data, self, 1.0, other, 1.0)

    def __sub__(self, other):
        if type(other) is not Value and type(other := _operand(other)) is float:
            return _result("-", self.data - other, self, 1.0, None, None, (other, -1.0, False))
        return _result("-", self.data - other.data, self, 1.0, other, -1.0)

    def __mul__(self, other):
        if type(other) is not Value and type(other := _operand(other)) is float:
            return _result("*", self.data * other, self, other, None, None, (other, self.data, False))
        return _result("*", self.data * other.data, self, other.data, other, self.data)

    def __truediv__(self, other):
        if type(other) is not Value and type(other := _operand(other)) is float:
            out, slope, slope_of_other = _quotient(self.data, other)
            return _result("/", out, self, slope, None, None, (other, slope_of_other, False))
        out, slope, slope_of_other = _quotient(self.data, other.data)
        return _result("/", out, self, slope, other, slope_of_other)

    def __pow__(self, other):
        if type(other := _operand(other)) is not float:
            return _raised(self, other)
        out, slope = _power_and_slope(self.data, other)
        return _result(_power_name(other), out, self, slope)  # "**2": a fixed exponent is part of the operation, as in micrograd

    # A number on the left. (A Value only if a class of one's own answers for its reflected operators.)

    def __radd__(self, other):
        if type(other := _operand(other)) is not float:
            return Value.__add__(other, self)
        return _result("+", other + self.data, self, 1.0, None, None, (other, 1.0, True))

    def __rsub__(self, other):
        if type(other := _operand(other)) is not float:
            return Value.__sub__(other, self)
        return _result("-", other - self.data, self, -1.0, None, None, (other, 1.0, True))

    def __rmul__(self, other):
        if type(other := _operand(other)) is not float:
            return Value.__mul__(other, self)
        return _result("*", other * self.data, self, other, None, None, (other, self.data, True))

    def __rtruediv__(self, other):
        if type(other := _operand(other)) is not float:
            return Value.__truediv__(other, self)
        out, slope_of_other, slope = _quotient(other, self.data)
        return _result("/", out, self, slope, None, None, (other, slope_of_other, True))

    def __rpow__(self, other):
        return _raised(_operand(other), self)

    def __neg__(self):
        return _result("neg", -self.data, self, -1.0)

    def __pos__(self):
        return self

    def __abs__(self):
        x = self.data
        return _result("abs", abs(x), self, 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0)

    # Functions

    def exp(self):
        out = _exp(self.data)
        return _result("exp", out, self, out)

    def log(self):
        return _result("log", _log(self.data), self, _divide(1.0, self.data))

    def sin(self):
        return _result("sin", _trig(math.sin, self.data), self, _trig(math.cos, self.data))

    def cos(self):
        return _result("cos", _trig(math.cos, self.data), self, -_trig(math.sin, self.data))

    def tanh(self):
        out = math.tanh(self.data)
        return _result("tanh", out, self, (1.0 - out) * (1.0 + out))  # 1 - out², in the form that keeps its digits near 1

    def sigmoid(self):
        out = _sigmoid(self.data)
        return _result("sigmoid", out, self, out * (1.0 - out))

    def sqrt(self):
        out = math.sqrt(self.data) if self.data >= 0.0 else math.nan
        return _result("sqrt", out, self, _divide(0.5, out))

    def relu(self):
        if self.data <= 0.0:
            return _result("relu", 0.0, self, None)
        return _result("relu", self.data, self, 1.0)

    def abs(self):
        return self.__abs__()

    def max(self, other):
        """The larger of the two. A tie gives each half of the gradient."""
        return _larger(self, other)

    def min(self, other):
        """The smaller of the two. A tie gives each half of the gradient."""
        return _smaller(self, other)

    # Comparisons look at the numbers; == and hash stay by identity, so that a Value can be a key and be found in a list

    def __lt__(self, other):
        return self.data < _data(_operand(other))

    def __le__(self, other):
        return self.data <= _data(_operand(other))

    def __gt__(self, other):
        return self.data > _data(_operand(other))

    def __ge__(self, other):
        return self.data >= _data(_operand(other))

    def __bool__(self):
        return self.data != 0.0

    def __repr__(self):
        made = f", label={self.label!r}" if self.label else ""
        made += f", op={self._op!r}" if self._op else ""
        return f"{type(self).__name__}(data={_plain(self.data)}, grad={_plain(self.grad)}{made})"

    def __format__(self, spec):
        return format(self.data, spec) if spec else repr(self)


class Constant(Value):
    """The 3 of `3 * x` as a node: made when somebody looks at `_prev`. It gets no gradient: it does not vary."""

    __slots__ = ()


def backward_order(root: Value) -> list[Value]:
    """The operations behind `root`, newest first: the order in which `backward()` visits them.

    A number can only be used by operations that come after it. So when the newest is handled first, every node has received all of
    its gradient before it passes any of it on. No recursion: a chain of a million operations is as good as one of ten.
    """
    if root._a is None:
        return []
    this_pass = next(_numbers)
    root._seen = this_pass
    found = [root]
    add = found.append
    for node in found:  # which grows meanwhile
        parent = node._a
        if parent._a is not None and parent._seen != this_pass:
            parent._seen = this_pass
            add(parent)
        parent = node._b
        if parent is not None and parent._a is not None and parent._seen != this_pass:
            parent._seen = this_pass
            add(parent)
    found.sort(key=_creation_number, reverse=True)
    return found


_creation_number = attrgetter("_seq")


# Making nodes


def _result(op, data, a, da, b=None, db=None, k=None) -> Value:
    """The node for `data` = op(a, b), whose local derivatives are `da` and `db`; or of `a` and the number in `k`."""
    out = _new(Value)
    out.data = data
    out.grad = 0.0
    out.label = ""
    out._op = op
    out._a = a
    out._da = da
    out._b = b
    out._db = db
    out._k = k
    out._seq = out._seen = next(_numbers)
    return out


def _constant(data, seq) -> Constant:
    out = _new(Constant)  # not Constant(data), which would note the line of whoever looks
    out.data = data
    out.grad = 0.0
    out.label = out._op = ""
    out._a = out._da = out._b = out._db = out._k = None
    out._seq = out._seen = seq
    return out


def _either(op, data, a, da, b, db):
    """The node for `data` = op(a, b), of which one may be a plain number. Of two numbers, the number."""
    if type(b) is float:
        return data if type(a) is float else _result(op, data, a, da, None, None, (b, db, False))
    return _result(op, data, b, db, None, None, (a, da, True)) if type(a) is float else _result(op, data, a, da, b, db)


def _raised(a, b):
    x, y = _data(a), _data(b)
    out = _power(x, y)
    return _either("**", out, a, _power_slope(x, y), b, 0.0 if x == 0.0 <= y else out * _log(x))


def _larger(a, b):
    a, b = _operand(a), _operand(b)
    x, y = _data(a), _data(b)
    return _either("max", x if x > y or x != x else y, a, _share(y, x), b, _share(x, y))


def _smaller(a, b):
    a, b = _operand(a), _operand(b)
    x, y = _data(a), _data(b)
    return _either("min", x if x < y or x != x else y, a, _share(x, y), b, _share(y, x))


def _operand(x) -> Value | float:
    """`x` itself if it is a Value, else a float."""
    if type(x) is int:
        return float(x)
    return x if type(x) is float or isinstance(x, Value) else checked_number(x)


def _data(x) -> float:
    return x if type(x) is float else x.data


def checked_number(x) -> float:
    """`x` as a float. Raises TypeError for anything that is not one plain number."""
    if isinstance(x, (float, int)):
        return float(x)
    kind = type(x).__name__
    if hasattr(x, "__float__") and not hasattr(x, "__setitem__") and not isinstance(x, Value) and not kind.startswith("complex"):
        return float(x)  # numpy's scalars, Fraction, Decimal; not arrays and tensors, which can be assigned into
    if isinstance(x, Value):
        do = "Use the Value itself, or Value(x.data) for a new leaf without its history."
    elif isinstance(x, str):
        do = "Convert text first: Value(float(text))."
    elif x is None:
        do = "None usually comes from a function that forgot its return."
    elif kind.startswith("complex"):
        do = "The engine is real: keep two Values, one for the real and one for the imaginary part."
    elif hasattr(x, "__len__"):
        do = "A Value holds a single number: wrap each one, [Value(v) for v in data], or use minigrad.tensor(data) for arrays."
    else:
        do = "Pass an int or a float."
    shown = repr(x)
    raise TypeError(f"a Value needs one plain number, but got {kind} {shown if len(shown) <= 60 else shown[:57] + '...'}. {do}")


# Real functions that answer as IEEE arithmetic (and PyTorch) does, where Python's would raise


def _divide(x: float, y: float) -> float:
    try:
        return x / y
    except ZeroDivisionError:
        return math.nan if x == 0.0 or x != x else math.copysign(math.inf, x) * math.copysign(1.0, y)


def _quotient(x: float, y: float) -> tuple[float, float, float]:
    """x / y, and its derivatives with respect to x and to y."""
    try:
        out = x / y
        return out, 1.0 / y, -out / y
    except ZeroDivisionError:
        out = _divide(x, y)
        return out, _divide(1.0, y), -_divide(out, y)


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _log(x: float) -> float:
    if x == 0.0:
        return -math.inf
    return math.nan if x < 0.0 else math.log(x)


def _trig(f, x: float) -> float:
    return math.nan if math.isinf(x) else f(x)


def _sigmoid(x: float) -> float:
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)  # never of a large positive number
    return e / (1.0 + e)


def _power(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0.0 and y % 2.0 == 1.0 else math.inf
    except ValueError:
        if x != 0.0:
            return math.nan  # a negative base with a fractional exponent
        return math.copysign(math.inf, x) if y % 2.0 == 1.0 else math.inf


def _power_and_slope(x: float, n: float) -> tuple[float, float | None]:
    """x ** n for a fixed n, and its derivative."""
    try:
        return math.pow(x, n), n * math.pow(x, n - 1.0) if n else None
    except (OverflowError, ValueError):
        return _power(x, n), _power_slope(x, n)


@lru_cache(1000)
def _power_name(n: float) -> str:
    return "**" + _plain(n)


def _power_slope(x: float, y: float) -> float | None:
    """d(x ** y) / dx; shut for y = 0, where the power does not depend on x."""
    return None if y == 0.0 else y * _power(x, y - 1.0)


def _share(low: float, high: float) -> float | None:
    """What `high` gets of the gradient of the larger of both: all, half in a tie, none."""
    return None if high < low else 0.5 if high == low else 1.0


def _plain(x: float) -> str:
    """The number as Python would type it, without ".0"."""
    return str(int(x)) if -1e15 < x < 1e15 and x == int(x) else repr(x)


# Functions of numbers and Values alike: f(2.0) is a float, f(Value(2.0)) a Value, so the same program runs with and without gradients


def _function(name: str):
    def function(x):
        return getattr(x, name)() if isinstance(x, Value) else getattr(Value(x), name)().data

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(x): a Value for a Value, a float for a plain number."
    return function


exp, log, sin, cos = _function("exp"), _function("log"), _function("sin"), _function("cos")
tanh, sigmoid, relu, sqrt = _function("tanh"), _function("sigmoid"), _function("relu"), _function("sqrt")


def max(first, second, *more):
    """The largest of two or more Values or numbers, compared pair by pair from the left."""
    return reduce(_larger, (first, second, *more))


def min(first, second, *more):
    """The smallest of two or more Values or numbers, compared pair by pair from the left."""
    return reduce(_smaller, (first, second, *more))


# Which line of the learner's code made a node: off unless asked for

LINES_KEPT = 5_000  # after each call and each backward(). It makes a node a quarter slower, so it is not for all of a big graph

_recording = False
_numbers_with_line = islice(_numbers, 0)  # runs out after as many numbers as lines are kept
_last_line = 0  # the last of them
_plain_result = _result
_frame = sys._getframe
_engine_files = {__file__, __file__.replace("scalar.py", "micro.py")}  # lines in here are not the learner's
_learners = None  # the code of the last line that was kept: nearly always that of the next one, too


def record_lines(on: bool = True) -> None:
    """Remember the line of code behind each of the next 5,000 Values, and after each `backward()` again; or stop doing so.

    The notebook extension calls it before every cell. `trace` then shows each node's line. Off by default.
    """
    global _recording, _numbers_with_line, _last_line, _result
    _recording = on
    _numbers_with_line = islice(_numbers, LINES_KEPT)
    _last_line = next(_numbers) + LINES_KEPT if on else 0
    _result = _result_with_line if on else _plain_result


def recording() -> bool:
    """Are lines being remembered?"""
    return _recording


def _result_with_line(op, data, a, da, b=None, db=None, k=None) -> Value:
    out = _new(Value)  # _result, written out: the call would be a third of what a line costs
    out.data = data
    out.grad = 0.0
    out.label = ""
    out._op = op
    out._a = a
    out._da = da
    out._b = b
    out._db = db
    out._k = k
    try:
        out._seq = out._seen = next(_numbers_with_line)
    except StopIteration:
        global _result
        _result = _plain_result
        return _result(op, data, a, da, b, db, k)
    frame = _frame(2)
    code = out._code = frame.f_code
    out._offset = frame.f_lasti
    if code is not _learners:
        _look_closer(out, frame)
    return out


def _look_closer(node: Value, frame) -> None:
    """Is the frame the learner's? If it is the engine's, the line is further out."""
    global _learners
    if frame.f_code.co_filename in _engine_files:
        del node._code, node._offset
        _keep_line(node, frame)
    else:
        _learners = frame.f_code


def _keep_line(node: Value, frame) -> None:
    code = frame.f_code
    while code.co_filename in _engine_files:
        frame = frame.f_back
        if frame is None:
            return
        code = frame.f_code
    node._code = code
    node._offset = frame.f_lasti
