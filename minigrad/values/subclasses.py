"""Subclasses of `Value`: the results of their operations are of the subclass.

The operations of `Value` make Values, because looking up the class of an operand would slow every operation down. A class that derives
from `Value` gets a base class in between, whose operations turn the result into the subclass.
"""

from __future__ import annotations

from typing import Any

from .node import ScalarNode, new

_OPERATORS = "add sub mul truediv pow radd rsub rmul rtruediv rpow neg pos abs".split()
_FUNCTIONS = "exp log sin cos tanh sigmoid sqrt relu abs max min".split()
_SLOTS = [slot for slot in ScalarNode.__slots__ if slot not in ("__weakref__", "__dict__")]


def in_class(kind: type, out: Any) -> Any:
    """A fresh result as one of another class, made without its `__init__`, whose arguments are unknown."""
    if not isinstance(out, ScalarNode) or type(out) is kind:
        return out
    converted: Any = new(kind)
    for slot in _SLOTS:
        if hasattr(out, slot):  # _code and _offset are set only while lines are recorded
            setattr(converted, slot, getattr(out, slot))
    return converted


def returning_subclass(value: type) -> dict[str, Any]:
    """The body of the class in between: every operation of `value`, with its result in the class of the operand."""

    def method(name: str) -> Any:
        plain = getattr(value, name)

        def in_own_class(self: Any, *others: Any) -> Any:
            out = plain(self, *others)
            return in_class(type(self), out) if type(out) is value else out

        in_own_class.__name__, in_own_class.__qualname__, in_own_class.__doc__ = name, f"Value.{name}", plain.__doc__
        return in_own_class

    names = [*[f"__{name}__" for name in _OPERATORS], *_FUNCTIONS]
    return {"__slots__": (), **{name: method(name) for name in names}}
