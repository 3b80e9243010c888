"""Drivers of chapter 08: Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ch06 import Number

MANY_OUTPUTS: dict[str, Callable] = {
    "product and sum": lambda x: [x[0] * x[1], x[0] + x[1] * x[1]],
    "three to two": lambda x: [x[0] * x[1] + 3.0 * x[2], x[2] * x[2] * x[0] + -1.0 * x[1]],
    "two to three": lambda x: [x[0] * x[0] * x[0], x[0] * x[1], 2.0 * x[0] + -5.0 * x[1]],
    "shared": lambda x: (lambda h: [h * h, h + x[0], h])(x[0] * x[1]),
    "an input is an output": lambda x: [x[1], x[0] * x[1], x[1]],
    "one output": lambda x: [2.0 * x[0] * x[1]],
}


def jacobian_of(entry: Any, name: str, xs: list[float]) -> Any:
    """What the learner's jacobian makes of a function of Numbers."""
    return entry(MANY_OUTPUTS[name], list(xs), Number, Number.backward)


def jacobian_passes(entry: Any, name: str, xs: list[float]) -> Any:
    before = Number.backwards
    jacobian_of(entry, name, xs)
    return {"backward passes": Number.backwards - before}
