"""`operation`: a custom operation from its derivatives."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from . import lines
from .custom import connect
from .node import ScalarNode, checked_number, leaf, numbers


def operation(name: str, value: float, operands: Iterable[tuple[Any, float | None]]) -> Any:
    """The result `value` of an operation that Value does not have, from each operand and the derivative with respect to it.

    A derivative of None blocks the gradient. Backward, graph view and copies treat the result as any other.
    Raises ValueError without operands.

    >>> import math
    >>> from minigrad import Value
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
    out = leaf(class_of_result([p for p, _ in pairs]), checked_number(value), next(numbers))
    out._op = name
    slopes = [None if d is None else checked_number(d) for _, d in pairs]
    connect(out, [out._as_operand(p) for p, _ in pairs], slopes, custom=True)
    if out._seq <= lines.last:
        lines.record_made(out, sys._getframe(1))
    return out


def class_of_result(operands: Iterable[Any]) -> type:
    """That of the first operand which is of a subclass of Value, else Value."""
    return next((type(x) for x in operands if isinstance(x, ScalarNode.kinds.subclassed)), ScalarNode.kinds.value)
