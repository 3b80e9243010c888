"""Drivers of chapter 06: new operations, and checking their rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .ch05 import own_engine, users_first, value_forward, value_grads


class Number:
    """What chapter 05's Value is: data, grad, _prev, _op and _backward, with the arithmetic of that chapter. `backwards` counts the passes.

    Operations that an answer makes are `Value(data, (self,), "name")` with a function as `_backward`, so a subclass stays itself.
    """

    backwards = 0

    def __init__(self, data: float, _prev: tuple = (), _op: str = "", _locals: tuple = ()):
        self.data, self.grad = data, 0.0
        self._prev, self._op, self._locals = _prev, _op, _locals

    def _backward(self) -> None:
        for parent, local in zip(self._prev, self._locals, strict=False):
            parent.grad += local * self.grad

    def _of(self, other: Any) -> Number:
        return other if isinstance(other, Number) else type(self)(other)

    def __add__(self, other: Any) -> Number:
        other = self._of(other)
        return type(self)(self.data + other.data, (self, other), "+", (1.0, 1.0))

    def __mul__(self, other: Any) -> Number:
        other = self._of(other)
        return type(self)(self.data * other.data, (self, other), "*", (other.data, self.data))

    def __pow__(self, n: float) -> Number:
        return type(self)(self.data**n, (self,), "**", (n * self.data ** (n - 1),))

    def __neg__(self) -> Number:
        return self * -1.0

    def __sub__(self, other: Any) -> Number:
        return self + -self._of(other)

    def __rsub__(self, other: Any) -> Number:
        return -self + other

    def __truediv__(self, other: Any) -> Number:
        return self * self._of(other) ** -1

    def __rtruediv__(self, other: Any) -> Number:
        return self**-1 * other

    __radd__, __rmul__ = __add__, __mul__

    def backward(self) -> None:
        Number.backwards += 1
        self.grad = 1.0
        for v in users_first(self):
            v._backward()


def _taught(entry: Any) -> Any:
    """A new Value class with the answer's operations: what an answer attaches to it is gone with it."""
    fresh = type("Value", (Number,), {"__module__": "exercise"})
    entry(fresh)
    return fresh


def taught_forward(entry: Any, expression: str, inputs: dict[str, float]) -> Any:
    """The number that an expression with the learner's operations gives, such as "a.exp() * b"."""
    return value_forward(_taught(entry), expression, inputs)


def taught_grads(entry: Any, expression: str, inputs: dict[str, float]) -> Any:
    """The gradients of the inputs of such an expression, by the learner's rules in a correct order."""
    return value_grads(_taught(entry), expression, inputs)


RULES: dict[str, tuple[Callable, Callable]] = {  # a function of numbers, and its derivatives
    "a square": (lambda x: x * x, lambda x: [2 * x]),
    "a product": (lambda x, y: x * y, lambda x, y: [y, x]),
    "a quotient": (lambda x, y: x / y, lambda x, y: [1 / y, -x / y**2]),
    "a product of three": (lambda x, y, z: x * y * z, lambda x, y, z: [y * z, x * z, x * y]),
    "a wave at its top": (lambda x, a: a * math.cos(x), lambda x, a: [-a * math.sin(x), math.cos(x)]),
    "a logarithm very close to zero": (math.log, lambda x: [1 / x]),
    "a cube of something tiny": (lambda x: x**3, lambda x: [3 * x * x]),
    "something huge times something tiny": (lambda x, y: x * y, lambda x, y: [y, x]),
    "relu below zero": (lambda x: max(x, 0.0), lambda x: [1.0 if x > 0 else 0.0]),
    "a third": (lambda x: x / 3, lambda x: [1 / 3]),
}
FAULTS: dict[str, Callable] = {  # what a wrong rule does with the right derivatives
    "half of it": lambda *d: [d[0] / 2, *d[1:]],
    "exchanged": lambda *d: d[::-1],
    "last sign": lambda *d: [*d[:-1], -d[-1]],
    "last is missing": lambda *d: [*d[:-1], 0.0],
    "one hundredth more": lambda *d: [d[0] * 1.01 or 0.01, *d[1:]],
    "nan": lambda *d: [math.nan, *d[1:]],
}  # fmt: skip


def _operation(Value: Any, name: str, fault: str = "") -> Callable:
    """A function of Values with a rule of its own, right or with a fault."""
    forward, derivatives = RULES[name]

    def f(*inputs: Any) -> Any:
        xs = [v.data for v in inputs]
        out = Value(forward(*xs), tuple(inputs), "f")

        def _backward() -> None:
            for v, d in zip(inputs, FAULTS.get(fault, lambda *d: d)(*derivatives(*xs)), strict=True):
                part = d if fault == "forgets g" else d * out.grad
                v.grad = part if fault == "replaces" else v.grad + part

        out._backward = _backward
        return out

    return f


def gradcheck_on(entry: Any, name: str, fault: str, xs: list[float]) -> Any:
    """What a learner's gradcheck says about a right rule and about a wrong one."""
    Value, _ = own_engine(entry)
    return {
        f"the {what} rule": entry(_operation(Value, name, its), list(xs))
        for what, its in (("right", ""), ("wrong", fault))
    }
