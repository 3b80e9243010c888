"""Drivers of chapter 01: a slope by differences, and descending along it."""

from __future__ import annotations

import math
from typing import Any

from ..plain import odd

FUNCTIONS = {
    "x²": lambda x: x * x,
    "x³": lambda x: x * x * x,
    "sin": math.sin,
    "exp": math.exp,
    "1/x": lambda x: 1.0 / x,
    "(3x + 2)²": lambda x: (3.0 * x + 2.0) ** 2,
}


def slope(entry: Any, name: str, x: float) -> Any:
    return entry(FUNCTIONS[name], x)


def slopes_over_h(entry: Any, name: str, x: float, hs: list[float]) -> Any:
    """The estimates for several steps h."""
    return [entry(FUNCTIONS[name], x, h) for h in hs]


THREE_POINTS = ((1.0, 3.0), (2.0, 4.0), (3.0, 7.0))
LOSSES = {
    "a parabola": lambda w: (w[0] - 3) ** 2,
    "a bowl": lambda w: (w[0] - 3) ** 2 + 2 * (w[1] + 1) ** 2,
    "a slanted bowl": lambda w: (w[0] + 2 * w[1] - 4) ** 2 + (w[0] - w[1]) ** 2,
    "a line through three points": lambda w: sum((w[0] * x + w[1] - y) ** 2 for x, y in THREE_POINTS) / 3,
    "three weights": lambda w: math.sin(w[0] * w[1]) + w[1] ** 2 + (w[2] - 1) ** 2,
}


def descends(entry: Any, name: str, ws: list[float], lr: float, steps: int) -> Any:
    """Where the answer arrives on one of the losses."""
    return entry(LOSSES[name], list(ws), lr, steps)


def descends_from(entry: Any, name: str, ws: list[float], lr: float, steps: int) -> Any:
    """What the list of weights that was handed over holds afterwards."""
    start = list(ws)
    entry(LOSSES[name], start, lr, steps)
    return start


class NotSmooth(Exception):
    """The function asked for something that a smooth one does not."""


class Smooth:
    """A number with its derivative, for smooth functions only: comparisons, absolute values and the like are refused."""

    def __init__(self, value: float, slope: float = 0.0):
        self.value, self.slope = value, slope

    @staticmethod
    def of(x: Any) -> Smooth:
        return x if isinstance(x, Smooth) else Smooth(float(x))

    def __add__(self, other: Any) -> Smooth:
        other = Smooth.of(other)
        return Smooth(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other: Any) -> Smooth:
        other = Smooth.of(other)
        return Smooth(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def __pow__(self, n: Any) -> Smooth:
        if isinstance(n, Smooth):
            return (n * self.log()).exp()
        return Smooth(self.value**n, n * self.value ** (n - 1) * self.slope)

    def __rpow__(self, base: float) -> Smooth:
        return (self * math.log(base)).exp()

    def __neg__(self) -> Smooth:
        return self * -1

    def __sub__(self, other: Any) -> Smooth:
        return self + -Smooth.of(other)

    def __rsub__(self, other: Any) -> Smooth:
        return Smooth.of(other) - self

    def __truediv__(self, other: Any) -> Smooth:
        return self * Smooth.of(other) ** -1

    def __rtruediv__(self, other: Any) -> Smooth:
        return Smooth.of(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def exp(self) -> Smooth:
        return Smooth(math.exp(self.value), math.exp(self.value) * self.slope)

    def log(self) -> Smooth:
        return Smooth(math.log(self.value), self.slope / self.value)

    def sin(self) -> Smooth:
        return Smooth(math.sin(self.value), math.cos(self.value) * self.slope)

    def cos(self) -> Smooth:
        return Smooth(math.cos(self.value), -math.sin(self.value) * self.slope)

    def tanh(self) -> Smooth:
        return Smooth(math.tanh(self.value), (1 - math.tanh(self.value) ** 2) * self.slope)

    def _refuse(self, *_: Any) -> Any:
        raise NotSmooth("it compares x, rounds it or takes an absolute value")

    __lt__ = __gt__ = __le__ = __ge__ = __bool__ = __int__ = __abs__ = __round__ = __mod__ = __floordiv__ = _refuse

    def __float__(self) -> Any:
        raise NotSmooth("a function of the module math makes a plain number of x; write x.sin() for math.sin(x)")

    relu = abs = clamp = sign = floor = _refuse

    @property
    def data(self) -> Any:
        raise NotSmooth("it reads x.data")


def fooled(entry: Any, x: float, h: float = 1e-5) -> Any:
    """The slope of the answer near x three ways: exactly, by AD, and by nudging; or why the function is not smooth.

    Of several points the one where nudging does best: a pole or a steep step beside x fools it in one place only.
    """
    results = [_slopes_at(entry, at, h) for at in (1.0, x, x - 0.03, x + 0.04)]
    if changes := [got for got in results if "changes" in got]:
        return changes[0]
    errors = [
        abs(got["nudged"] / got["exact"] - 1) if got.get("exact") and math.isfinite(got["nudged"]) else -1.0
        for got in results
    ]
    return results[errors.index(min(errors))] | {"largest error": max(errors)}


def _slopes_at(entry: Any, x: float, h: float) -> dict[str, Any]:
    from minigrad import Value

    try:
        exact = Smooth.of(entry(Smooth(x, 1.0))).slope
    except NotSmooth as error:
        return {"not smooth": str(error)}
    at = Value(x)
    y = entry(at)
    if not isinstance(y, Value):
        return odd("a number that does not depend on x")
    y.backward()
    once, twice = ([entry(Value(t)).data for t in (x - h, x, x + h)] for _ in range(2))
    if repr(once) != repr(twice) or repr(once[1]) != repr(y.data):  # repr, because nan is not equal to itself
        return {"changes": True}
    left, _, right = once
    return {"exact": exact, "ad": at.grad, "nudged": (right - left) / (2 * h)}
