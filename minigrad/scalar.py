"""`Value`: one number that records how it was computed, and so can be differentiated. The engine of chapter 05, from top to bottom.

Each operation stores its one or two operands and, for each, the local derivative, a plain number computed in the forward pass.
`backward()` goes from the newest operation to the oldest and adds local * upstream to the gradient of each operand.

Numbers are float64, and at the edges (log(0), 1/0, overflow, nan, ties) values and gradients are those of PyTorch's float64 scalars.
The operations are written out although the derivatives table (ops/) has a row for each: a call of a row would take over a hundred times
as long, and this file needs only `math`. A test compares both. Further rows work on Values as they are (core/on_values.py).
Nodes, custom operations, copies and pickles, and recorded lines have files of their own in values/.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from .values import copies, lines, real
from .values.copies import copy_newest, recompute
from .values.custom import is_custom as is_own_operation
from .values.lines import LINES_KEPT, record_lines, recording, release_frames
from .values.node import Kinds, ScalarNode, creation_number, new, number_of, numbers, operand
from .values.node import checked_number as checked_number
from .values.node import operands_of as operands_of
from .values.operation import class_of_result, operation
from .values.subclasses import in_class, returning_subclass

__all__ = ["Value", "Constant", "operation", "backward_order", "recompute", "copy_newest", "record_lines"]
__all__ += ["exp", "log", "sin", "cos", "tanh", "sigmoid", "relu", "sqrt", "max", "min"]
__all__ += ["LINES_KEPT", "checked_number", "is_own_operation", "operands_of", "recording", "release_frames"]

ROWS: dict[str, Any] = {}  # rows of the derivatives table that were used on Values, by name (core/on_values.py)


class Value(ScalarNode):
    """One number, its gradient, and how it was computed.

    `data` is the number, `grad` the derivative of the last `backward()`'s output with respect to it. `_op` names the operation ("" for
    a leaf), `_prev` holds its operands in order, `_local` the derivative of the result with respect to each. A local of None blocks the
    gradient: it contributes nothing, even if the upstream gradient is infinite (`relu` below zero, the smaller argument of `max`).

    >>> x = Value(1.0, label="x")
    >>> y = (3 * x + 2) ** 2
    >>> y.backward()
    >>> y.data, x.grad
    (25.0, 30.0)

    A custom operation is written as in micrograd, `out = Value(number, (self, other), "name")` with a function as `out._backward`
    that adds to the operands' gradients; or, without a function, with `operation`. The operations of a subclass return the subclass.
    Raises TypeError if `data` is not one plain number.
    """

    __slots__ = ()

    def __init__(self, data: float, _children: Iterable[Value] | str = (), _op: str = "", label: str = ""):
        self.data = data if type(data) is float else checked_number(data)
        self.grad = 0.0
        self.label = label
        self._op = ""
        self._a = self._da = self._b = self._db = self._k = None
        self._seq = self._seen = next(numbers)
        if _children:
            if isinstance(_children, str):  # Value(1.0, "x")
                self.label = _children
            else:
                self._join(_children, _op)
        if self._seq <= _last_line:
            lines.record_made(self, sys._getframe(1))

    def __init_subclass__(cls, returns_value: bool = False, **more: Any) -> None:
        super().__init_subclass__(**more)
        if not returns_value and Value in cls.__bases__:
            cls.__bases__ = tuple(_Subclassed if base is Value else base for base in cls.__bases__)

    def backward(self) -> None:
        """Compute the derivative of this number with respect to everything that it was computed from.

        Leaves accumulate: a second call adds the gradient again, as in PyTorch. Intermediate results have that of the last pass.

        >>> x = Value(3.0)
        >>> y = x * x + x
        >>> y.backward(); y.backward()
        >>> x.grad
        14.0
        """
        if self._a is None:
            self.grad += 1.0
            return
        order = _visited(self)
        for node in order:
            node.grad = 0.0
        self.grad = 1.0
        for node in order:  # node._backward(), written out: the call would be a tenth of the time
            upstream = node.grad
            local = node._da
            if local is not None:
                node._a.grad += local * upstream
            local = node._db
            if local is not None:
                node._b.grad += local * upstream
        if _recording:
            lines.start()

    # Arithmetic: each result is written as (name, value, parent, local derivative, parent, local derivative)

    def __add__(self, other):
        if type(other) is not Value and type(other := operand(other)) is float:
            return _result("+", self.data + other, self, 1.0, None, None, (other, 1.0, False))
        return _result("+", self.data + other.data, self, 1.0, other, 1.0)

    def __sub__(self, other):
        if type(other) is not Value and type(other := operand(other)) is float:
            return _result("-", self.data - other, self, 1.0, None, None, (other, -1.0, False))
        return _result("-", self.data - other.data, self, 1.0, other, -1.0)

    def __mul__(self, other):
        if type(other) is not Value and type(other := operand(other)) is float:
            return _result("*", self.data * other, self, other, None, None, (other, self.data, False))
        return _result("*", self.data * other.data, self, other.data, other, self.data)

    def __truediv__(self, other):
        if type(other) is not Value and type(other := operand(other)) is float:
            out, slope, slope_of_other = real.quotient(self.data, other)
            return _result("/", out, self, slope, None, None, (other, slope_of_other, False))
        out, slope, slope_of_other = real.quotient(self.data, other.data)
        return _result("/", out, self, slope, other, slope_of_other)

    def __pow__(self, other):
        if type(other := operand(other)) is not float:
            return _raised(self, other)
        out, slope = real.power_and_slope(self.data, other)
        # "**2": a fixed exponent is part of the operation, as in micrograd
        return _result(real.power_name(other), out, self, slope)

    # A number on the left. (A Value only if a subclass defines the reflected operators.)

    def __radd__(self, other):
        if type(other := operand(other)) is not float:
            return Value.__add__(other, self)
        return _result("+", other + self.data, self, 1.0, None, None, (other, 1.0, True))

    def __rsub__(self, other):
        if type(other := operand(other)) is not float:
            return Value.__sub__(other, self)
        return _result("-", other - self.data, self, -1.0, None, None, (other, 1.0, True))

    def __rmul__(self, other):
        if type(other := operand(other)) is not float:
            return Value.__mul__(other, self)
        return _result("*", other * self.data, self, other, None, None, (other, self.data, True))

    def __rtruediv__(self, other):
        if type(other := operand(other)) is not float:
            return Value.__truediv__(other, self)
        out, slope_of_other, slope = real.quotient(other, self.data)
        return _result("/", out, self, slope, None, None, (other, slope_of_other, True))

    def __rpow__(self, other):
        return _raised(operand(other), self)

    def __neg__(self):
        return _result("neg", -self.data, self, -1.0)

    def __pos__(self):
        return self

    def __abs__(self):
        x = self.data
        return _result("abs", abs(x), self, 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0)

    # Functions

    def exp(self):
        out = real.exp(self.data)
        return _result("exp", out, self, out)

    def log(self):
        return _result("log", real.log(self.data), self, real.divide(1.0, self.data))

    def sin(self):
        return _result("sin", real.trig(math.sin, self.data), self, real.trig(math.cos, self.data))

    def cos(self):
        return _result("cos", real.trig(math.cos, self.data), self, -real.trig(math.sin, self.data))

    def tanh(self):
        out = math.tanh(self.data)
        # 1 - out², in the form that keeps its digits near 1
        return _result("tanh", out, self, (1.0 - out) * (1.0 + out))

    def sigmoid(self):
        out = real.sigmoid(self.data)
        return _result("sigmoid", out, self, out * (1.0 - out))

    def sqrt(self):
        out = real.sqrt(self.data)
        return _result("sqrt", out, self, real.divide(0.5, out))

    def relu(self):
        if self.data <= 0.0:
            return _result("ReLU", 0.0, self, None)
        return _result("ReLU", self.data, self, 1.0)

    def abs(self):
        return self.__abs__()

    def max(self, other):
        """The larger of the two. A tie gives each half of the gradient."""
        return _larger(self, other)

    def min(self, other):
        """The smaller of the two. A tie gives each half of the gradient."""
        return _smaller(self, other)

    __copy__, __deepcopy__, __reduce_ex__ = copies.copied_node, copies.copied_graph, copies.reduced


class Constant(Value, returns_value=True):
    """The 3 of `3 * x` as a node, created when `_prev` is read. It gets no gradient, because it does not vary."""

    __slots__ = ()


# The backward order: newest first


def backward_order(root: Value) -> list[Value]:
    """The operations that `root` was computed with, newest first: the order in which `backward()` visits them.

    A number can only be used by operations that come after it. If the newest is handled first, every node has received all of its
    gradient before it passes any of it on. There is no recursion, so a chain may have a million operations.
    """
    return [node for node in _visited(root) if isinstance(node, ScalarNode)]


def _visited(root: Value) -> list[Value]:
    if root._a is None:
        return []
    this_pass = next(numbers)
    root._seen = this_pass
    nodes = [root]
    add = nodes.append
    for node in nodes:  # grows
        parent = node._a
        if parent._a is not None and parent._seen != this_pass:
            parent._seen = this_pass
            add(parent)
        parent = node._b
        if parent is not None and parent._a is not None and parent._seen != this_pass:
            parent._seen = this_pass
            add(parent)
    nodes.sort(key=creation_number, reverse=True)
    return nodes


# Making nodes


_recording = False  # are lines recorded? Then lines.py exchanges `_result`
_last_line = -1  # the last creation number whose line is recorded


def _result(op, data, a, da, b=None, db=None, k=None) -> Value:
    """The node for `data` = op(a, b), whose local derivatives are `da` and `db`; or of `a` and the number in `k`."""
    out = new(Value)
    out.data = data
    out.grad = 0.0
    out.label = ""
    out._op = op
    out._a = a
    out._da = da
    out._b = b
    out._db = db
    out._k = k
    out._seq = out._seen = next(numbers)
    return out


def _either(op, data, a, da, b, db):
    """The node for `data` = op(a, b), of which one may be a plain number. Of two numbers, the number."""
    if type(b) is float:
        return data if type(a) is float else _result(op, data, a, da, None, None, (b, db, False))
    return _result(op, data, b, db, None, None, (a, da, True)) if type(a) is float else _result(op, data, a, da, b, db)


def _raised(a, b):
    x, y = number_of(a), number_of(b)
    out = real.power(x, y)
    return _either("**", out, a, real.power_slope(x, y), b, 0.0 if x == 0.0 <= y else out * real.log(x))


def _larger(a, b):
    a, b = operand(a), operand(b)
    x, y = number_of(a), number_of(b)
    return _either("max", x if x > y or x != x else y, a, real.share_of_larger(y, x), b, real.share_of_larger(x, y))


def _smaller(a, b):
    a, b = operand(a), operand(b)
    x, y = number_of(a), number_of(b)
    return _either("min", x if x < y or x != x else y, a, real.share_of_larger(x, y), b, real.share_of_larger(y, x))


# Functions of numbers and Values alike: f(2.0) is a float, f(Value(2.0)) a Value, so the same program runs with and without gradients


def _function(name: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return getattr(x, name)() if isinstance(x, Value) else getattr(Value(x), name)().data

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(x): a Value for a Value, a float for a plain number."
    return function


exp, log, sin, cos = _function("exp"), _function("log"), _function("sin"), _function("cos")
tanh, sigmoid, relu, sqrt = _function("tanh"), _function("sigmoid"), _function("relu"), _function("sqrt")


def max(first: Any, second: Any, *more: Any) -> Any:
    """The largest of two or more Values or numbers, compared pair by pair from the left."""
    return reduce(lambda a, b: in_class(class_of_result((a, b)), _larger(a, b)), (first, second, *more))


def min(first: Any, second: Any, *more: Any) -> Any:
    """The smallest of two or more Values or numbers, compared pair by pair from the left."""
    return reduce(lambda a, b: in_class(class_of_result((a, b)), _smaller(a, b)), (first, second, *more))


_Subclassed = type("_Subclassed", (Value,), returning_subclass(Value), returns_value=True)
ScalarNode.kinds = Kinds(Value, Constant, _Subclassed)
lines.attach(globals(), Value)
