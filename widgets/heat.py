"""Heat maps as SVG, of cards, figures and lessons, and the texts of a tensor's card. The browser's versions are front/src/forms/canvas.js
and front/src/model/arrays.js.

The sign of a cell is its class and a mark, its magnitude the opacity. Colours are in the style sheets, so the same paths serve light and
dark themes, and readers who do not see hues.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from minigrad.tracing.trace import Numbers, Trace, fmt

LEVELS = 8  # steps of opacity
LARGEST = 15.0  # pixels of a cell on a card
NUMBERS, MINUS = (33, 17), 9  # pixels of a cell that has its number, or a minus, in it


def short(x: float | None, digits: int = 3) -> str:
    """A number in few characters.

    >>> short(-0.123456), short(1234567.0), short(2.0), short(0.00025)
    ('−0.123', '1.23e6', '2', '2.5e−4')
    """
    return fmt(x, digits, x is not None and x != 0 and abs(x) < 1e-3)


def between(a: Numbers, room: int = 20) -> str:
    """The range of an array's entries in `room` characters, if three digits or fewer allow it: "−2.5…1.21"."""
    if a["low"] is None or a["high"] is None:
        return "empty" if 0 in a["shape"] else "not finite"
    if len(a["shape"]) == 1 and a["shape"][0] <= 4 and not a["odd"] and a["low"] != a["high"]:  # few: all of them
        for digits in (4, 3, 2):
            text = " ".join(short(float(c or 0), digits) for c in a["cells"])
            if len(text) <= room:
                return text
    for digits in (3, 2, 1):
        low, high = short(a["low"], digits), short(a["high"], digits)
        text = low if a["low"] == a["high"] else f"{low}…{high}"
        if len(text) <= room:
            break
    return text


def most(a: Numbers) -> float:
    """The largest magnitude: where the scale of the colours ends."""
    return 0.0 if a["low"] is None or a["high"] is None else max(abs(a["low"]), abs(a["high"]))


def size(rows: int, cols: int, width: float, height: float, largest: float = LARGEST) -> tuple[float, float]:
    """Width and height of a cell, such that all fit and none is larger than `largest` pixels or stretched beyond three to one."""
    w, h = min(largest, width / max(1, cols)), min(largest, height / max(1, rows))
    return min(w, 3 * h), min(h, 3 * w)


def cells(
    box: tuple[float, float, float, float], rows: int, cols: int, number: Callable[[int, int], float | None], kind: str, top: float,
    written: Callable[[float], str] | None = None,
) -> list[str]:  # fmt: skip
    """The cells of a heat map, as one path for each strength and sign. box: left, top, width and height of a cell. number: of a cell, None
    where there is none. kind: "value", "gradient" or "part" of one, "prob", "truth", or "count" of whole numbers. top: the magnitude of the
    strongest colour. written: how a number is written in a cell that has room for it."""
    left, up, w, h = box
    inset = 0.5 if w > 6 and h > 6 else 0.0
    paths: dict[str, list[str]] = {}
    marks, words = "", []
    for i, j in itertools.product(range(rows), range(cols)):
        v = number(i, j)
        if v is None:
            continue
        odd = not math.isfinite(v) or kind == "truth" and v != 0
        level = 0 if odd or not top or kind == "count" else min(LEVELS, math.ceil(abs(v) / top * LEVELS))
        x, y = left + j * w, up + i * h
        if odd:
            path = f"M{digit(x + 1)} {digit(y + h - 1)}L{digit(x + w - 1)} {digit(y + 1)}"
        else:
            wide = digit(w - 2 * inset)
            path = f"M{digit(x + inset)} {digit(y + inset)}h{wide}v{digit(h - 2 * inset)}h-{wide}z"
        paths.setdefault("x" if odd else "0" if not level else f"{'n' if v < 0 else 'p'}{level}", []).append(path)
        if written and w >= NUMBERS[0] and h >= NUMBERS[1]:
            dark = " dk" if level > 5 else ""
            words.append(
                f'<text class="cell{dark}" x="{digit(x + w / 2)}" y="{digit(y + h / 2 + 4)}">{written(v)}</text>'
            )
        elif v < 0 and level > 1 and min(w, h) >= MINUS:
            marks += f"M{digit(x + w / 2 - 2.5)} {digit(y + h / 2)}h5"
    out = []
    for key, parts in paths.items():
        look = f'class="h{key}"'
        if key not in "x0":
            colour = "r" if kind == "prob" else ("g" if kind in ("gradient", "part") else "") + key[0]
            look = f'class="h{colour}" fill-opacity="{0.06 + 0.94 * (int(key[1:]) / LEVELS) ** 1.15:.2f}"'
        out.append(f'<path {look} d="{"".join(parts)}"/>')
    return [*out, *([f'<path class="hm" d="{marks}"/>'] if marks else ()), *words]


def digit(v: float) -> str:
    """A coordinate with one digit."""
    return f"{v:.1f}".removesuffix(".0")


def svg(
    a: Numbers, x: float, y: float, width: float, height: float, largest: float = LARGEST, kind: str = "value"
) -> str:
    """The heat map, centred in the box at (x, y). largest: pixels of a cell at most."""
    rows, cols = a["rows"], a["cols"]
    w, h = size(rows, cols, width, height, largest)
    values = [None if cell is None else float(cell) for cell in a["cells"]]
    box = x + (width - w * cols) / 2, y + (height - h * rows) / 2, w, h
    return "".join(cells(box, rows, cols, lambda i, j: values[i * cols + j], kind, most(a)))


def norm(a: Numbers) -> float:
    """The norm of the finite entries."""
    mean, std = a["mean"] or 0.0, a["std"] or 0.0
    return math.sqrt((math.prod(a["shape"]) - a["odd"]) * (mean * mean + std * std))


def shape_text(shape: list[int]) -> str:
    """A shape as Python prints it."""
    return str(tuple(shape))


def array_of(trace: Trace, index: int | None) -> Numbers | None:
    """The array with this index, None if there is none or it is a single number."""
    if index is None:
        return None
    a = trace["arrays"][index]
    return a if math.prod(a["shape"]) != 1 else None


def tall(node: Any) -> bool:
    """Has this node a card with heat maps?"""
    return math.prod(node.get("shape") or [1]) != 1
