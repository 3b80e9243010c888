"""What a `Value` is made of: its slots, its operands and local derivatives, comparisons and its text.

The engine itself (operations and the backward pass) is in scalar.py. Its class `Value` derives from `ScalarNode`, so that the files of this
folder can handle nodes without importing the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from .custom import CustomRule, Junction, junction

if TYPE_CHECKING:
    from types import CodeType

numbers = count()  # creation numbers, of all nodes
creation_number = attrgetter("_seq")
new = object.__new__


class Kinds(NamedTuple):
    """The engine's classes: of a result, of a plain number in a graph, and the base of Value's subclasses."""

    value: type
    constant: type
    subclassed: type


class ScalarNode:
    """One number in a graph.

    `data` is the number, `grad` the derivative of the last `backward()`'s output with respect to it, `_op` the name of the operation.
    """

    # Two pairs of slots, not two tuples: a third of the objects for Python's garbage collector to visit, half the time of a training step.
    # Attributes that users set (an optimizer's `p.m`) are in a __dict__ that is created with the first of them.
    __slots__ = ("data", "grad", "label", "_op", "_a", "_da", "_b", "_db", "_k", "_seq", "_seen", "_code", "_offset", "__weakref__",
                 "__dict__")  # fmt: skip
    data: float
    grad: float
    label: str
    _op: str
    _seq: int  # creation number; that of a constant is half a step before its result
    _seen: int  # the number of the last backward pass that visited this node
    _a: Any  # first operand, or None: a leaf
    _b: Any  # second operand, or None
    _da: Any  # the derivative with respect to _a: a float, None (no gradient passes), or a CustomRule, and then _a is a Junction
    _db: Any
    _k: Any  # a plain number that is an operand: (it or its constant node, its derivative, is it first?); of a leaf, its `_backward`
    _code: CodeType  # the line that made it, if lines are recorded (lines.py)
    _offset: int
    __array_ufunc__ = None  # numpy scalars on the left of an operator leave the operation to us
    kinds: ClassVar[Kinds]  # set by scalar.py

    @property
    def _prev(self) -> tuple[Any, ...]:
        """The operands, in argument order. A plain number becomes a node when it is looked at."""
        if self._a is None:
            return ()
        if self._b is not None:
            return self._a, self._b
        if self._k is None:
            return self._da.operands if type(self._a) is Junction else (self._a,)
        number, local, first = self._k
        if not isinstance(number, ScalarNode):
            number = self._constant(number, self._seq - 0.5)
            self._k = number, local, first
        return (number, self._a) if first else (self._a, number)

    @_prev.setter
    def _prev(self, operands: Iterable[Any]) -> None:
        self._join(operands, self._op)

    @property
    def _local(self) -> tuple[float | None, ...]:
        if self._a is None:
            return ()
        if self._b is not None:
            return self._da, self._db
        if self._k is None:
            return self._da.slopes_at(self) if type(self._a) is Junction else (self._da,)
        _, local, first = self._k
        return (local, self._da) if first else (self._da, local)

    @property
    def operands(self) -> tuple[Any, ...]:
        """What this number was computed from, in argument order; plain numbers as `Constant`s. () for a leaf."""
        return self._prev

    @property
    def slopes(self) -> tuple[float | None, ...]:
        """The derivative of this number with respect to each of `operands`, as recorded; None lets nothing through."""
        return self._local

    @property
    def age(self) -> float:
        """The creation number: later Values have larger ones. A Constant's is half a step before its result's."""
        return self._seq

    @property
    def _backward(self) -> Callable[[], object]:
        """Called, it adds local * upstream to each operand: the chain rule for this one node. Set it to define a custom operation."""
        if type(self._a) is Junction:
            return self._da.function or partial(self._da.__mul__, self.grad)
        return partial(_apply_rule, self)

    @_backward.setter
    def _backward(self, function: Callable[[], None]) -> None:
        if self._a is None:
            self._k = function  # it applies once `_prev` is set
            return
        if type(self._a) is not Junction:
            self._join(self._prev, self._op)
        self._da = CustomRule(self._da.operands, function)

    def _join(self, operands: Iterable[Any], op: str) -> None:
        """Make this the result of a custom operation. Until its `_backward` is set it passes no gradient on, as in micrograd."""
        ordered = sorted(operands, key=creation_number) if isinstance(operands, (set, frozenset)) else operands
        values = tuple(self._as_operand(p) for p in ordered)
        for operand in values:
            if operand._seq >= self._seq:
                raise ValueError("an operand must have been made before its result: make the result's node last.")
        function, self._k = self._k if self._a is None else None, None
        if not values:
            self._a = self._da = self._b = self._db = None
            return
        self._op = op or "operation"
        self._b = self._db = None
        self._a, self._da = junction(values, self._seq), CustomRule(values, function)

    def _constant(self, number: float, seq: float) -> Any:
        return leaf(self.kinds.constant, number, seq)

    def _as_operand(self, x: Any) -> Any:
        return x if isinstance(x, ScalarNode) else self._constant(checked_number(x), self._seq - 0.5)

    # Comparisons look at the numbers; == and hash stay by identity, so that a Value can be a key and be found in a list

    def __lt__(self, other: Any) -> bool:
        return self.data < number_of(operand(other))

    def __le__(self, other: Any) -> bool:
        return self.data <= number_of(operand(other))

    def __gt__(self, other: Any) -> bool:
        return self.data > number_of(operand(other))

    def __ge__(self, other: Any) -> bool:
        return self.data >= number_of(operand(other))

    def __bool__(self) -> bool:
        return self.data != 0.0

    def __repr__(self) -> str:
        details = f", label={self.label!r}" if self.label else ""
        details += f", op={self._op!r}" if self._op else ""
        return f"{type(self).__name__}(data={self.data!r}, grad={self.grad!r}{details})"

    def __format__(self, spec: str) -> str:
        return format(self.data, spec) if spec else repr(self)


def _apply_rule(node: ScalarNode) -> None:
    if node._da is not None:
        node._a.grad += node._da * node.grad
    if node._db is not None:
        node._b.grad += node._db * node.grad


def leaf(kind: type, data: float, seq: float) -> Any:
    """A node without operands, made without `__init__`, which would record the line of the code that looks at it."""
    out: Any = new(kind)
    out.data = data
    out.grad = 0.0
    out.label = out._op = ""
    out._a = out._da = out._b = out._db = out._k = None
    out._seq = out._seen = seq
    return out


def operand(x: Any) -> Any:
    """`x` itself if it is a node, else a float."""
    if type(x) is int:
        return float(x)
    return x if type(x) is float or isinstance(x, ScalarNode) else checked_number(x)


def number_of(x: Any) -> float:
    return x if type(x) is float else x.data


def operands_of(node: Any) -> tuple[Any, ...]:
    """The operands that are nodes already: `_prev` would create nodes for plain numbers."""
    if type(node._a) is Junction:
        return node._da.operands
    return () if node._a is None else (node._a,) if node._b is None else (node._a, node._b)


def checked_number(x: Any) -> float:
    """`x` as a float. Raises TypeError for anything that is not one plain number."""
    if isinstance(x, (float, int)):
        return float(x)
    kind = type(x).__name__
    # numpy's scalars, Fraction, Decimal; not arrays, tensors
    is_number = hasattr(x, "__float__") and not hasattr(x, "__setitem__")
    if is_number and not isinstance(x, ScalarNode) and not kind.startswith("complex"):
        return float(x)
    if isinstance(x, ScalarNode):
        advice = "Use the Value itself, or Value(x.data) for a new leaf without its history."
    elif isinstance(x, str):
        advice = "Convert text first: Value(float(text))."
    elif x is None:
        advice = "None usually comes from a function that forgot its return."
    elif kind.startswith("complex"):
        advice = "The engine is real: keep two Values, one for the real and one for the imaginary part."
    elif hasattr(x, "__len__"):
        advice = "A Value holds a single number: wrap each one, [Value(v) for v in data], or use minigrad.tensor(data) for arrays."
    else:
        advice = "Pass an int or a float."
    from ..core import errors, facts  # loaded only once something went wrong

    text = repr(x)
    text = text if len(text) <= 60 else text[:57] + "..."
    sentence = f"a Value needs one plain number, but got {kind} {text}. {advice}"
    raise errors.new(TypeError, sentence, facts=facts.NotANumber(kind, advice))
