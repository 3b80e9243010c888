"""`Value`: one number that remembers how it was computed, and so can be differentiated.

What lives here: the scalar engine, whole. Each operation keeps its one or two parents and, for each, the local derivative, a plain number
computed in the forward pass. `backward()` walks from the newest operation to the oldest and adds local * upstream to each parent.
What does not: tensors (tensor.py), pictures (tracing/), replaying a graph at speed (tape.py). Needs only `math`.

The seventeen operations are written out here although the derivatives table (ops/) has a row for each: this file is read from top to
bottom, as in the lecture that it follows; a call of a row would take over a hundred times as long; and pages without numpy run it.
`test_an_operation_and_its_row_of_the_derivatives_table_are_one` holds both to the same numbers and formulas. Every further row works on
Values as it stands (`minigrad.core.on_values`). What is not an operation of the lecture comes after them, each part under its title:
operations of one's own, copies and pickles, and the lines of code that pictures show.

Numbers are float64, and at the edges (log(0), 1/0, overflow, nan, ties) values and gradients are those of PyTorch's float64 scalars.
"""

from __future__ import annotations

import copy
import math
import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial, reduce
from itertools import count, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from types import CodeType

__all__ = ["Value", "Constant", "operation", "backward_order", "recompute", "copy_newest", "record_lines"]
__all__ += ["exp", "log", "sin", "cos", "tanh", "sigmoid", "relu", "sqrt", "max", "min"]

_numbers = count()
_new = object.__new__


class Value:
    """One number, its gradient, and how it was made.

    `data` is the number, `grad` the derivative of the last `backward()`'s root with respect to it. `_op` names the operation ("" for
    a leaf), `_prev` holds its parents in argument order, `_local` the derivative of the result with respect to each parent. A local
    of None is a shut gate: nothing flows there, whatever the upstream gradient (`relu` below zero, the smaller argument of `max`).

    >>> x = Value(1.0, label="x")
    >>> y = (3 * x + 2) ** 2
    >>> y.backward()
    >>> y.data, x.grad
    (25.0, 30.0)

    An operation of your own is written as in micrograd, `out = Value(number, (self, other), "name")` with a function as `out._backward`
    that adds to the operands' gradients; or, without a function, with `operation`. A subclass stays itself: its operations return it.
    Raises TypeError if `data` is not one plain number.
    """

    # Two pairs of slots, not two tuples: a third of the objects for Python's garbage collector to visit, half the time of a training step.
    # Attributes of the learner's (an optimizer's `p.m`) live in a __dict__ that comes into being with the first of them.
    __slots__ = ("data", "grad", "label", "_op", "_a", "_da", "_b", "_db", "_k", "_seq", "_seen", "_code", "_offset", "__weakref__",
                 "__dict__")  # fmt: skip
    data: float
    grad: float
    label: str
    _seq: int  # creation number; that of a Constant lies half a step before its result
    _a: Any  # a Value, or None: a leaf
    _b: Any  # a Value, or None: only one took part
    _da: Any  # the derivative with respect to _a: a float, None (a shut gate), or an _OwnRule, and then _a is a _Junction
    _k: Any  # a plain number that took part (a Constant once looked at), its local, "it stood first"; of a leaf, its `_backward`
    _code: CodeType  # only with record_lines()
    _offset: int
    __array_ufunc__ = None  # numpy scalars on the left of an operator leave the operation to us

    def __init__(self, data: float, _children: Iterable[Value] | str = (), _op: str = "", label: str = ""):
        self.data = data if type(data) is float else checked_number(data)
        self.grad = 0.0
        self.label = label
        self._op = ""
        self._a = self._da = self._b = self._db = self._k = None
        self._seq = self._seen = next(_numbers)
        if self._seq <= _last_line:
            _keep_line(self, sys._getframe(1))
        if _children:
            if isinstance(_children, str):  # Value(1.0, "x")
                self.label = _children
            else:
                _join(self, _children, _op)
                if self._seq <= _last_line:
                    _note_call(self._seq, sys._getframe(1))

    def __init_subclass__(cls, returns_value: bool = False, **more):
        super().__init_subclass__(**more)
        if not returns_value and Value in cls.__bases__:
            cls.__bases__ = tuple(_Subclassed if base is Value else base for base in cls.__bases__)

    # The graph: who made this number, and with which local derivatives

    @property
    def _prev(self) -> tuple[Value, ...]:
        if self._a is None:
            return ()
        if self._b is not None:
            return self._a, self._b
        if self._k is None:
            return self._da.operands if type(self._a) is _Junction else (self._a,)
        number, local, first = self._k
        if not isinstance(number, Constant):
            number = _constant(number, self._seq - 0.5)  # it was there just before the result
            self._k = number, local, first
        return (number, self._a) if first else (self._a, number)

    @_prev.setter
    def _prev(self, operands: Iterable[Value]) -> None:
        _join(self, operands, self._op)

    @property
    def _local(self) -> tuple[float | None, ...]:
        if self._a is None:
            return ()
        if self._b is not None:
            return self._da, self._db
        if self._k is None:
            return self._da.slopes_at(self) if type(self._a) is _Junction else (self._da,)
        _, local, first = self._k
        return (local, self._da) if first else (self._da, local)

    @property
    def operands(self) -> tuple[Value, ...]:
        """What this number was computed from, in argument order; plain numbers as `Constant`s. () for a leaf."""
        return self._prev

    @property
    def slopes(self) -> tuple[float | None, ...]:
        """The derivative of this number with respect to each of `operands`, as recorded; None lets nothing through."""
        return self._local

    @property
    def age(self) -> float:
        """A number that is larger for what was made later; it counts all Values. A Constant's lies half a step before its result's."""
        return self._seq

    @property
    def _backward(self) -> Callable[[], None]:
        """Called, it adds local * upstream to each parent: the chain rule for this one node. Set it for an operation of your own."""
        if type(self._a) is _Junction:
            return self._da.function or partial(self._da.__mul__, self.grad)
        return partial(_pass_on, self)

    @_backward.setter
    def _backward(self, function: Callable[[], None]) -> None:
        if self._a is None:
            self._k = function  # nothing to pass on yet; it counts once `_prev` is set
            return
        if type(self._a) is not _Junction:
            _join(self, self._prev, self._op)
        self._da = _OwnRule(self._da.operands, function)

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
            _start_recording()

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
        return _result(
            _power_name(other), out, self, slope
        )  # "**2": a fixed exponent is part of the operation, as in micrograd

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
        return _result(
            "tanh", out, self, (1.0 - out) * (1.0 + out)
        )  # 1 - out², in the form that keeps its digits near 1

    def sigmoid(self):
        out = _sigmoid(self.data)
        return _result("sigmoid", out, self, out * (1.0 - out))

    def sqrt(self):
        out = math.sqrt(self.data) if self.data >= 0.0 else math.nan
        return _result("sqrt", out, self, _divide(0.5, out))

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
        details = f", label={self.label!r}" if self.label else ""
        details += f", op={self._op!r}" if self._op else ""
        return f"{type(self).__name__}(data={self.data!r}, grad={self.grad!r}{details})"

    def __format__(self, spec):
        return format(self.data, spec) if spec else repr(self)

    # Copies: a graph is walked in the order in which it was made, so a chain of any length can be copied and pickled

    def __copy__(self):
        """The same operation on the same operands."""
        twin = _as_old_as(self, _rebuilt(_described(self)))
        _set_state(twin, _state(self))
        return twin

    def __deepcopy__(self, memo):
        """A copy of everything that this number was computed from. A function set as `_backward` becomes the derivatives that it gives."""
        nodes = [node for node in _behind(self) if id(node) not in memo]
        for node in nodes:
            memo[id(node)] = _with_line_of(node, _rebuilt(_described(node, lambda operand: memo[id(operand)])))
        for node in nodes:
            _set_state(memo[id(node)], copy.deepcopy(_state(node), memo))
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        if self._a is None:
            return _rebuilt, (_described(self),), _state(self), None, None, _set_state
        graph = _pickled.get(id(self)) or _Pickled(self)
        return operator.getitem, (graph, graph.place[id(self)])


class Constant(Value, returns_value=True):
    """The 3 of `3 * x` as a node: created when `_prev` is read. It gets no gradient: it does not vary."""

    __slots__ = ()


class _Subclassed(Value, returns_value=True):
    """Stands between `Value` and a class that is made from it: the results of its operations are of that class, too.

    They are created without calling its `__init__`, whose arguments are unknown here.
    """

    __slots__ = ()


def _returning_its_own_class(name: str):
    plain = getattr(Value, name)

    def method(self, *others):
        return _of_class(type(self), plain(self, *others))

    method.__name__, method.__qualname__, method.__doc__ = name, f"Value.{name}", plain.__doc__
    return method


for _name in "add sub mul truediv pow radd rsub rmul rtruediv rpow neg pos abs".split():
    setattr(_Subclassed, f"__{_name}__", _returning_its_own_class(f"__{_name}__"))
for _name in "exp log sin cos tanh sigmoid sqrt relu abs max min".split():
    setattr(_Subclassed, _name, _returning_its_own_class(_name))


def backward_order(root: Value) -> list[Value]:
    """The operations behind `root`, newest first: the order in which `backward()` visits them.

    A number can only be used by operations that come after it. So when the newest is handled first, every node has received all of
    its gradient before it passes any of it on. No recursion: a chain of a million operations is as good as one of ten.
    """
    return [node for node in _visited(root) if type(node) is not _Junction]


def _visited(root: Value) -> list[Value]:
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


# Operations of one's own


def operation(name: str, value: float, operands: Iterable[tuple[Value, float | None]]) -> Value:
    """A new operation that Value does not have: its result `value`, and each operand with the derivative of the result with respect to it.

    A derivative of None lets nothing through. Backward, graph view and copies treat the result as any other.
    Raises ValueError without operands.

    >>> def softplus(x):
    ...     return operation("softplus", math.log(1 + math.exp(x.data)), [(x, 1 / (1 + math.exp(-x.data)))])
    >>> x = Value(0.0)
    >>> softplus(x).backward()
    >>> x.grad
    0.5
    """
    pairs = list(operands)
    if not pairs:
        raise ValueError("an operation needs at least one operand. A number that depends on nothing is Value(number).")
    kind = next((type(p) for p, _ in pairs if isinstance(p, _Subclassed)), Value)
    out = _of_class(kind, _result(name, checked_number(value), None, None))
    slopes = [None if d is None else checked_number(d) for _, d in pairs]
    _connect(
        out,
        [p if isinstance(p, Value) else _constant(checked_number(p), out._seq - 0.5) for p, _ in pairs],
        slopes,
        own=True,
    )
    return out


ROWS: dict[str, Any] = {}  # rows of the derivatives table that were used on Values, by name (core/on_values.py)


def is_own_operation(node: Value) -> bool:
    """Was this result made with `operation`, or as `Value(number, (operands), "name")`?"""
    return type(node._a) is _Junction


class _Junction(Value, returns_value=True):
    """Stands between an operation of one's own and its operands, however many. It passes nothing on; `_visited` finds them through it."""

    __slots__ = ()


class _OwnRule:
    """How an operation of one's own passes its gradient on: with a function, or by derivatives.

    It stands in `_da` with a junction in `_a`. So the loop of `backward()`, which has no branch for it, computes `_a.grad += _da * grad`:
    that runs the rule, and adds 0 to the junction.
    """

    __slots__ = ("operands", "function", "slopes")

    def __init__(
        self,
        operands: tuple[Value, ...],
        function: Callable[[], None] | None = None,
        slopes: Sequence[float | None] = (),
    ):
        self.operands, self.function, self.slopes = operands, function, slopes

    def __mul__(self, upstream: float) -> float:
        if self.function is not None:
            self.function()
        else:
            for operand, slope in zip(self.operands, self.slopes, strict=False):
                if slope is not None:
                    operand.grad += slope * upstream
        return 0.0

    def slopes_at(self, node: Value) -> tuple[float | None, ...]:
        """The derivatives, as they were given or as the function tells them."""
        if self.function is None:
            return tuple(self.slopes) or (None,) * len(self.operands)
        return tuple(slope + 0.0 for slope in slopes_by_calling(self.function, node, self.operands))


def slopes_by_calling(function: Callable[[], None], node: Any, operands: Sequence[Any]) -> tuple[float, ...]:
    """The derivatives that a `_backward` tells when it is called with a gradient of 1; −0.0 for an operand to which it added nothing.

    Every gradient is put back afterwards.
    """
    touched = {id(value): value for value in (node, *operands)}
    kept = {key: value.grad for key, value in touched.items()}
    try:
        for value in operands:
            value.grad = -0.0  # adding 0.0 makes it 0.0
        node.grad = 1.0
        function()
        times = {key: sum(operand is value for operand in operands) for key, value in touched.items()}
        return tuple(operand.grad / times[id(operand)] for operand in operands)  # of x used twice, each use gets half
    finally:
        for key, value in touched.items():
            value.grad = kept[key]


def _join(node: Value, operands: Iterable[Value], op: str) -> None:
    """Make `node` the result of an operation of the learner's own. Until its `_backward` is set it passes nothing on, as in micrograd."""
    ordered = sorted(operands, key=_creation_number) if isinstance(operands, (set, frozenset)) else operands
    values = tuple(p if isinstance(p, Value) else _constant(checked_number(p), node._seq - 0.5) for p in ordered)
    for operand in values:
        if operand._seq >= node._seq:
            raise ValueError("an operand must have been made before its result: make the result's node last.")
    function, node._k = node._k if node._a is None else None, None
    if not values:
        node._a = node._da = node._b = node._db = None
        return
    node._op = op or "operation"
    node._b = node._db = None
    node._a, node._da = _junction(values, node._seq), _OwnRule(values, function)


def _junction(operands: Sequence[Value], number: float) -> Value | None:
    out: Value | None = None
    for operand in reversed(operands):
        below, out = out, _constant(0.0, number - 0.25, _Junction)
        out._a, out._b = operand, below
    return out


def _connect(node: Value, operands: Sequence[Value], slopes: Sequence[float | None], own: bool) -> None:
    """Write operands and derivatives into a node."""
    if own:
        node._a, node._da = _junction(operands, node._seq), _OwnRule(tuple(operands), None, tuple(slopes))
    elif operands:
        node._a, node._b = [*operands, None][:2]
        node._da, node._db = [*slopes, None][:2]  # type: ignore[assignment]


def _pass_on(node: Value) -> None:
    if node._da is not None:
        node._a.grad += node._da * node.grad
    if node._db is not None:
        node._b.grad += node._db * node.grad


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


def _constant(data, seq, kind=Constant):
    out = _new(kind)  # not Constant(data), which would note the line of whoever looks
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


def _of_class(kind: type, out):
    """A fresh result as one of another class."""
    if type(out) is not Value or kind is Value:
        return out
    twin: Any = _new(kind)
    for slot in _SLOTS:
        if hasattr(out, slot):  # _code and _offset only with record_lines()
            setattr(twin, slot, getattr(out, slot))
    return twin


_SLOTS = [slot for slot in Value.__slots__ if slot not in ("__weakref__", "__dict__")]


def checked_number(x) -> float:
    """`x` as a float. Raises TypeError for anything that is not one plain number."""
    if isinstance(x, (float, int)):
        return float(x)
    kind = type(x).__name__
    if (
        hasattr(x, "__float__")
        and not hasattr(x, "__setitem__")
        and not isinstance(x, Value)
        and not kind.startswith("complex")
    ):
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
    from .core import errors, facts  # loaded only once something went wrong

    text = repr(x)
    raise errors.new(
        TypeError,
        f"a Value needs one plain number, but got {kind} {text if len(text) <= 60 else text[:57] + '...'}. {do}",
        facts=facts.NotANumber(kind, do),
    )


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
    return reduce(partial(_in_class, _larger), (first, second, *more))


def min(first, second, *more):
    """The smallest of two or more Values or numbers, compared pair by pair from the left."""
    return reduce(partial(_in_class, _smaller), (first, second, *more))


def _in_class(function, a, b):
    return _of_class(next((type(x) for x in (a, b) if isinstance(x, _Subclassed)), Value), function(a, b))


# Computing again, and copying


_BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow}


def recompute(nodes: Iterable[Any]) -> bool:
    """Run the recorded operations again on their operands' present numbers, and renew their `data` and derivatives. True if any changed.

    nodes: operands before results. Leaves, operations of one's own and what is no Value stay as they are.
    """
    changed = False
    for node in nodes:
        if not isinstance(node, Value) or node._a is None or type(node._a) is _Junction:
            continue
        first, *others = (
            operand.data if type(operand) is Constant else _constant(operand.data, 0.0) for operand in node._prev
        )
        op = node._op
        if op in _BINARY and others:
            fresh = _BINARY[op](first, others[0])
        elif op.startswith("**"):
            fresh = first ** float(op[2:])
        elif op == "neg":
            fresh = -first
        elif others:
            fresh = max(first, *others) if op == "max" else min(first, *others)
        else:
            fresh = getattr(first, op.lower())()
        changed = changed or (fresh.data != node.data and (fresh.data == fresh.data or node.data == node.data))
        node.data, node._da, node._db = fresh.data, fresh._da, fresh._db
        if node._k is not None:
            node._k = node._k[0], fresh._k[1], node._k[2]
    return changed


def copy_newest(order: Sequence[Value], n: int) -> dict[int, Value]:
    """A copy of the `n` newest operations of a graph; what enters them from outside becomes a leaf. Returns id of the original -> copy.

    order: what `backward_order` returned.
    """
    copies: dict[int, Value] = {}

    def copied(node: Value) -> Value:
        if id(node) not in copies:  # a leaf, or what was computed before the part that is copied
            copies[id(node)] = _as_old_as(
                node, _rebuilt([type(node), node.data, node.grad, node.label, "", (), (), False, None])
            )
        return copies[id(node)]

    for node in reversed(order[:n]):
        copies[id(node)] = _as_old_as(node, _rebuilt(_described(node, copied)))
    return copies


def _as_old_as(node: Value, twin: Value) -> Value:
    twin._seq = node._seq
    return _with_line_of(node, twin)


def _with_line_of(node: Value, twin: Value) -> Value:
    if getattr(node, "_code", None) is not None:
        twin._code, twin._offset = node._code, node._offset
    return twin


def operands_of(node: Value) -> tuple[Value, ...]:
    """Without plain numbers: those of `_prev` come into being when they are looked at."""
    if type(node._a) is _Junction:
        return node._da.operands
    return () if node._a is None else (node._a,) if node._b is None else (node._a, node._b)


def _behind(root: Value) -> list[Value]:
    """Everything that a number was computed from, and the number itself, in the order in which it was made."""
    found = {id(root): root}
    todo = [root]
    for node in todo:  # which grows meanwhile
        for operand in operands_of(node):
            if id(operand) not in found:
                found[id(operand)] = operand
                todo.append(operand)
    return sorted(todo, key=_creation_number)


def _described(node: Value, refer: Callable[[Value], Any] = lambda operand: operand) -> list:
    """A node as plain data, each operand as `refer` says: what `_rebuilt` takes."""
    own = type(node._a) is _Junction
    slopes = () if node._a is None else node._da.slopes_at(node) if own else (node._da, node._db)
    k = None if own or node._a is None or node._k is None else (getattr(node._k[0], "data", node._k[0]), *node._k[1:])
    return [
        type(node),
        node.data,
        node.grad,
        node.label,
        node._op,
        tuple(refer(p) for p in operands_of(node)),
        slopes,
        own,
        k,
    ]


def _rebuilt(fields: list, find: Callable[[Any], Value] = lambda operand: operand) -> Value:
    kind, data, grad, label, op, operands, slopes, own, k = fields
    out = _new(kind)
    out.data, out.grad, out.label, out._op, out._k = data, grad, label, op, k
    out._a = out._da = out._b = out._db = None
    out._seq = out._seen = next(_numbers)
    _connect(out, [find(operand) for operand in operands], slopes, own)
    return out


def _state(node: Value) -> dict[str, Any] | None:
    """What a Value, or one of a subclass, keeps beside its own slots."""
    if type(node) is Constant:
        return None
    if type(node) is Value:
        return node.__dict__ or None
    state: Any = object.__getstate__(node)  # (its __dict__, its slots)
    return {**(state[0] or {}), **{name: x for name, x in state[1].items() if name not in Value.__slots__}} or None


def _set_state(node: Value, state: dict[str, Any] | None) -> None:
    for name, value in (state or {}).items():
        setattr(node, name, value)


class _Pickled:
    """The part of a graph that one number brings into a pickle. A pickle keeps it, so that a second number of the same graph finds it."""

    def __init__(self, root: Value):
        self.nodes = [node for node in _behind(root) if node._a is not None and id(node) not in _pickled]
        self.place = {id(node): k for k, node in enumerate(self.nodes)}
        for node in self.nodes:
            _pickled[id(node)] = self

    def __reduce__(self):
        rows = [_described(node, lambda operand: self.place.get(id(operand), operand)) for node in self.nodes]
        states = {k: state for k, node in enumerate(self.nodes) if (state := _state(node))}
        return _unpickled, (rows,), states or None, None, None, _set_states


_pickled: WeakValueDictionary[int, _Pickled] = WeakValueDictionary()


def _unpickled(rows: list[list]) -> list[Value]:
    """The nodes of a pickle, operands before results."""
    nodes: list[Value] = []
    for fields in rows:
        nodes.append(_rebuilt(fields, lambda operand: nodes[operand] if type(operand) is int else operand))
    return nodes


def _set_states(nodes: list[Value], states: dict[int, dict[str, Any]]) -> None:
    for k, state in states.items():
        _set_state(nodes[k], state)


# Which line of the learner's code made a node: off unless asked for

LINES_KEPT = (
    5_000  # after each call and each backward(). It makes a node a quarter slower, so it is not for all of a big graph
)

_recording = False
_numbers_with_line = islice(_numbers, 0)  # runs out after as many numbers as lines are kept
_last_line = 0  # the last of them
_plain_result = _result
_frame = sys._getframe
_engine_files = {__file__, __file__.replace("scalar.py", "micro.py")}  # lines in here are not the learner's
_calls: Any = None  # what is told in which call a node was made (core/call_log.py), if anything
_here = _inner = None  # the frames of the last node: nearly always one of them is that of the next one, too


def record_lines(on: bool = True, calls: Any = None) -> None:
    """Remember the line of code behind each of the next 5,000 Values, and after each `backward()` again; or stop doing so.

    calls: a `CallLog`, which then notes the calls of functions in which they were made. The notebook extension calls this before every
    cell. `trace` then shows each node's line, and its groups. Off by default.
    """
    global _recording, _calls
    release_frames()
    _recording, _calls = on, calls if on else None
    _start_recording()


def _start_recording() -> None:
    global _numbers_with_line, _last_line, _result
    release_frames()
    _numbers_with_line = islice(_numbers, LINES_KEPT)
    _last_line = next(_numbers) + LINES_KEPT if _recording else 0
    _result = _result_with_line if _recording else _plain_result


def release_frames() -> None:
    """Let go of the last call's frame, and so of its variables. The notebook extension calls it after every cell."""
    global _here, _inner
    _here = _inner = None
    if _calls is not None:
        _calls.release(next(_numbers))


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
        release_frames()
        _result = _plain_result
        return _result(op, data, a, da, b, db, k)
    frame = _frame(2)
    out._code = frame.f_code
    out._offset = frame.f_lasti
    if frame is not _here and frame is not _inner:
        _look_closer(out, frame)
    return out


def _look_closer(node: Value, frame) -> None:
    """Is the frame the learner's? If it is the engine's, the line is further out."""
    global _here, _inner
    if frame.f_code.co_filename in _engine_files:
        del node._code, node._offset
        _keep_line(node, frame)
        _note_call(node._seq, frame)
    elif _calls is not None:
        _here, _inner = _calls.note(node._seq, frame)
    else:
        _here, _inner = frame, None


def _note_call(number: int, frame) -> None:
    global _here, _inner
    _here = _inner = None
    if _calls is not None:
        _calls.note(number, frame)


def _keep_line(node: Value, frame) -> None:
    code = frame.f_code
    while code.co_filename in _engine_files:
        frame = frame.f_back
        if frame is None:
            return
        code = frame.f_code
    node._code = code
    node._offset = frame.f_lasti
