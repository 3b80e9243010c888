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


# ---- broken engines, for tests that learners write ----------------------------------------------------------------------------------

OPERATIONS_OF_05: dict[
    str, tuple[Callable, Callable]
] = {  # value and derivatives; the last argument of a power is a plain number
    "+": (lambda a, b: a + b, lambda a, b: (1.0, 1.0)),
    "*": (lambda a, b: a * b, lambda a, b: (b, a)),
    "**": (lambda a, n: a**n, lambda a, n: (n * a ** (n - 1),)),
    "relu": (lambda a: max(a, 0.0), lambda a: (float(a > 0),)),
}
IN_WORDS = {"+": "the sum", "*": "the product", "**": "the power", "relu": "relu"}
FORMS = {"1 + x": "__radd__", "3 * x": "__rmul__", "-x": "__neg__", "x - y": "__sub__", "1 - x": "__rsub__", "x / y": "__truediv__",
         "1 / x": "__rtruediv__"}  # fmt: skip


def broken_engines() -> dict[str, dict[str, Any]]:
    """Each broken engine: what is wrong with it, in words, and the settings of `engine_with` that make it."""
    found: dict[str, dict[str, Any]] = {}
    for op, word in IN_WORDS.items():
        many = op in "+*"
        found |= {
            f"{word} computes another value, with a rule that fits it": {"op": op, "value": True},
            f"{word} forgets the gradient from above": {"op": op, "upstream": True},
            f"{word} replaces a gradient in place of adding to it": {"op": op, "replaces": True},
            f"{word} does not remember what it was made from": {"op": op, "parents": True},
            f"{word} gives {'its first operand' if many else 'its operand'} no gradient": {"op": op, "missing": 0},
        }
        if many:
            found[f"{word} gives its second operand no gradient"] = {"op": op, "missing": 1}
    found |= {
        "the product gives each operand its own value for a derivative": {"op": "*", "rule": lambda a, b: (a, b)},
        "the power leaves out its exponent as a factor": {"op": "**", "rule": lambda a, n: (a ** (n - 1),)},
        "the power keeps its exponent as it is": {"op": "**", "rule": lambda a, n: (n * a**n,)},
        "relu passes everything": {"op": "relu", "rule": lambda a: (1.0,)},
        "relu passes at zero, too": {"op": "relu", "rule": lambda a: (float(a >= 0),)},
        "relu passes where it should not, and only there": {"op": "relu", "rule": lambda a: (float(a < 0),)},
        "the root starts with no gradient": {"seed": 0.0},
        "the root starts with another gradient than 1": {"seed": None},
        "the backward pass begins at the leaves": {"order": "leaves first"},
        "each node passes its gradient on as soon as it is met": {"order": "as met"},
        "a node that is used twice goes twice": {"order": "every path"},
    }
    for form, method in FORMS.items():
        found[f"{form} makes a number without a past"] = {"form": method, "past": True}
    for form, method in (("-x", "__neg__"), ("x - y", "__sub__"), ("1 - x", "__rsub__")):
        found[f"{form} has a sign the wrong way round"] = {"form": method, "sign": True}
    for form, method in (("x / y", "__truediv__"), ("1 / x", "__rtruediv__")):
        found[f"{form} multiplies"] = {"form": method, "times": True}
    return found


def engine_with(
    factor: float, op: str = "", form: str = "", seed: float | None = 1.0, order: str = "", **fault: Any
) -> tuple[Any, Callable]:
    """A Value class as in chapter 05 and its backward, with one fault, or right ones. `factor` is by how much wrong numbers are wrong."""

    class Value(Number):
        def _backward(self) -> None:
            here = self._op == op
            for k, (parent, local) in enumerate(zip(self._prev, self._locals, strict=False)):
                part = 0.0 if here and fault.get("missing") == k else local
                part *= 1.0 if here and fault.get("upstream") else self.grad
                parent.grad = part if here and fault.get("replaces") else parent.grad + part

    def compute(name: str, *operands: Any) -> Any:
        inputs = tuple(o for o in operands if isinstance(o, Value))
        numbers = [o.data if isinstance(o, Value) else o for o in operands]
        value, rule = OPERATIONS_OF_05[name]
        data, local = value(*numbers), (fault.get("rule", rule) if name == op else rule)(*numbers)
        if name == op and fault.get("value"):
            data, local = factor * data, tuple(factor * d for d in local)
        return Value(data, () if name == op and fault.get("parents") else inputs, name, local)

    def of(x: Any) -> Any:
        return x if isinstance(x, Value) else Value(x)

    forms: dict[str, Callable] = {
        "__add__": lambda a, b: compute("+", a, of(b)),
        "__mul__": lambda a, b: compute("*", a, of(b)),
        "__pow__": lambda a, n: compute("**", a, n),
        "relu": lambda a: compute("relu", a),
        "__radd__": lambda a, b: a + b,
        "__rmul__": lambda a, b: a * b,
        "__neg__": lambda a: a * -1.0,
        "__sub__": lambda a, b: a + of(b) * -1.0,
        "__rsub__": lambda a, b: a * -1.0 + b,
        "__truediv__": lambda a, b: a * of(b) ** -1,
        "__rtruediv__": lambda a, b: a**-1 * b,
    }
    if fault.get("past"):
        right = forms[form]
        forms[form] = lambda a, *b: Value(right(a, *b).data)
    if fault.get("sign"):
        signs: dict[str, Callable] = {
            "__neg__": lambda a: a * 1.0,
            "__sub__": lambda a, b: a + b,
            "__rsub__": lambda a, b: a - b,
        }
        forms[form] = signs[form]
    if fault.get("times"):
        forms[form] = lambda a, b: a * b
    for name, method in forms.items():
        setattr(Value, name, method)

    def backward(root: Any) -> None:
        root.grad = factor if seed is None else seed
        nodes = users_first(root)
        if order == "leaves first":
            nodes = nodes[::-1]
        elif order:
            nodes, todo = [], [root]
            for node in todo:
                if order == "every path" or node not in nodes:
                    nodes.append(node)
                    todo.extend(node._prev)
        for node in nodes:
            node._backward()

    return Value, backward


def survivors(entry: Any, factor: float) -> Any:
    """Which broken engines a learner's test accepts, and whether it accepts the right one. An exception is a rejection."""

    def accepts(settings: dict[str, Any]) -> bool:
        try:
            return bool(entry(*engine_with(factor, **settings)))
        except Exception:
            return False

    broken = broken_engines()
    return {
        "the right engine": accepts({}),
        "survive": [what for what, settings in broken.items() if accepts(settings)],
    }
