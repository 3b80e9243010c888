"""Custom operations: a result with any number of operands, whose rule is a function or a list of derivatives.

A node has two slots for parents (node.py), and the loop of `backward()` computes `parent.grad += local * upstream` for each. A custom
operation fits into that loop without a branch. Its parent is a `Junction`, a chain of pairs through which the traversal reaches all
operands, and its local derivative is a `CustomRule`, whose `*` applies the rule and returns 0 for the junction's own gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class Junction:
    """A node without a number: two parents, one of them possibly the next junction of the chain. It passes no gradient on."""

    __slots__ = ("grad", "_a", "_da", "_b", "_db", "_seq", "_seen")

    def __init__(self, a: Any, b: Any, seq: float):
        self._a, self._b = a, b
        self._da = self._db = None
        self._seq = self._seen = seq
        self.grad = 0.0


def junction(operands: Sequence[Any], seq: float) -> Junction | None:
    """The chain that leads to all operands of the result with the creation number `seq`."""
    first: Junction | None = None
    for operand in reversed(operands):
        first = Junction(operand, first, seq - 0.25)
    return first


class CustomRule:
    """The backward rule of one custom operation: a function that adds to the operands' gradients, or the derivatives."""

    __slots__ = ("operands", "function", "slopes")

    def __init__(
        self,
        operands: tuple[Any, ...],
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

    def slopes_at(self, node: Any) -> tuple[float | None, ...]:
        """The derivatives, as recorded or as the function adds them."""
        if self.function is None:
            return tuple(self.slopes) or (None,) * len(self.operands)
        return tuple(slope + 0.0 for slope in slopes_by_calling(self.function, node, self.operands))


def slopes_by_calling(function: Callable[[], None], node: Any, operands: Sequence[Any]) -> tuple[float, ...]:
    """The derivatives that a `_backward` adds when it is called with a gradient of 1; −0.0 for an operand to which it added nothing.

    Every gradient is restored afterwards.
    """
    touched = {id(value): value for value in (node, *operands)}
    saved = {key: value.grad for key, value in touched.items()}
    try:
        for value in operands:
            value.grad = -0.0  # adding 0.0 makes it 0.0
        node.grad = 1.0
        function()
        times = {key: sum(operand is value for operand in operands) for key, value in touched.items()}
        return tuple(operand.grad / times[id(operand)] for operand in operands)  # of x used twice, each use gets half
    finally:
        for key, value in touched.items():
            value.grad = saved[key]


def connect(node: Any, operands: Sequence[Any], slopes: Sequence[float | None], custom: bool) -> None:
    """Write operands and derivatives into a node."""
    if custom:
        node._a, node._da = junction(operands, node._seq), CustomRule(tuple(operands), None, tuple(slopes))
    elif operands:
        node._a, node._b = [*operands, None][:2]
        node._da, node._db = [*slopes, None][:2]


def is_custom(node: Any) -> bool:
    """Was this result made with `operation`, or as `Value(number, (operands), "name")`?"""
    return type(node._a) is Junction
