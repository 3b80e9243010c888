"""What a trace holds, in a few characters: arrays, differentials, and numbers as JSON can carry them."""

from __future__ import annotations

import math

from ..words import number
from .schema import Number, Numbers


def array_text(a: Numbers) -> str:
    """An array in a few characters: its one number, or the range of its entries.

    >>> array_text({"shape": [9], "low": -1.0, "high": 3.0, "odd": 1})
    '−1 … 3, 1 not finite'
    >>> array_text({"shape": [2], "low": -1.0, "high": 3.0, "odd": 0, "cells": [3.0, -1.0]})
    '[3, −1]'
    """
    if math.prod(a["shape"]) == 1:
        return number(a["cells"][0])
    if len(a["shape"]) == 1 and 1 < a["shape"][0] <= 4:
        return f"[{', '.join(number(c) for c in a['cells'])}]"
    if a["low"] is None:
        return "empty" if 0 in a["shape"] else "nothing finite"
    text = number(a["low"]) if a["low"] == a["high"] else f"{number(a['low'])} … {number(a['high'])}"
    return text + (f", {a['odd']} not finite" if a["odd"] else "")


def differential(text: str) -> str:
    """The differential of a name or a formula: dx, d(3x + 2)."""
    return f"d{text}" if text.isidentifier() else f"d({text})"


def json_number(x: float | None) -> Number | None:
    """JSON has no nan and no infinity."""
    return x if x is None or math.isfinite(x) else str(x)


def as_float(x: Number | None) -> float | None:
    return None if x is None else float(x)
