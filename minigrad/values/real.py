"""Real functions and their derivatives, with the answers of IEEE arithmetic (and PyTorch) where Python's functions raise an error."""

import math
from collections.abc import Callable
from functools import lru_cache


def divide(x: float, y: float) -> float:
    try:
        return x / y
    except ZeroDivisionError:
        return math.nan if x == 0.0 or x != x else math.copysign(math.inf, x) * math.copysign(1.0, y)


def quotient(x: float, y: float) -> tuple[float, float, float]:
    """x / y, and its derivatives with respect to x and to y."""
    try:
        out = x / y
        return out, 1.0 / y, -out / y
    except ZeroDivisionError:
        out = divide(x, y)
        return out, divide(1.0, y), -divide(out, y)


def exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def log(x: float) -> float:
    if x == 0.0:
        return -math.inf
    return math.nan if x < 0.0 else math.log(x)


def sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else math.nan


def trig(f: Callable[[float], float], x: float) -> float:
    return math.nan if math.isinf(x) else f(x)


def sigmoid(x: float) -> float:
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)  # x < 0: cannot overflow
    return e / (1.0 + e)


def power(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0.0 and y % 2.0 == 1.0 else math.inf
    except ValueError:
        if x != 0.0:
            return math.nan  # a negative base with a fractional exponent
        return math.copysign(math.inf, x) if y % 2.0 == 1.0 else math.inf


def power_slope(x: float, y: float) -> float | None:
    """d(x ** y) / dx. None for y = 0, where the power does not depend on x."""
    return None if y == 0.0 else y * power(x, y - 1.0)


def power_and_slope(x: float, n: float) -> tuple[float, float | None]:
    """x ** n for a fixed n, and its derivative."""
    try:
        return math.pow(x, n), n * math.pow(x, n - 1.0) if n else None
    except (OverflowError, ValueError):
        return power(x, n), power_slope(x, n)


@lru_cache(1000)
def power_name(n: float) -> str:
    return "**" + plain(n)


def share_of_larger(low: float, high: float) -> float | None:
    """The derivative of max(low, high) with respect to `high`: 1, half in a tie, or None."""
    return None if high < low else 0.5 if high == low else 1.0


def plain(x: float) -> str:
    """The number as it is typed in Python, without ".0"."""
    return str(int(x)) if -1e15 < x < 1e15 and x == int(x) else repr(x)
