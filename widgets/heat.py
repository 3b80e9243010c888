"""Heat maps of small arrays as SVG, and the texts of a tensor's card. The browser's version is front/src/model/arrays.js.

The sign of a cell is its class and a mark, its magnitude the opacity. Colours are in the style sheets, so the same paths serve light and
dark themes, and readers who do not see hues.
"""

from __future__ import annotations

import math
from typing import Any

from minigrad.tracing.trace import Numbers, Trace, fmt

LEVELS = 8  # steps of opacity
MARKED = 7.0  # negative cells of at least this many pixels carry a minus


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


def size(rows: int, cols: int, width: float, height: float, largest: float = 15.0) -> tuple[float, float]:
    """Width and height of a cell, such that all fit and none is larger than `largest` pixels or stretched beyond three to one."""
    w, h = min(largest, width / max(1, cols)), min(largest, height / max(1, rows))
    return min(w, 3 * h), min(h, 3 * w)


def svg(a: Numbers, x: float, y: float, width: float, height: float, largest: float = 15.0) -> str:
    """The heat map, centred in the box at (x, y). largest: pixels of a cell at most."""
    rows, cols = a["rows"], a["cols"]
    if not rows or not cols:
        return ""
    w, h = size(rows, cols, width, height, largest)
    top = most(a)
    by: dict[str, list[tuple[int, int]]] = {}
    for k, cell in enumerate(a["cells"]):
        if cell is None:
            continue
        v = float(cell)
        if not math.isfinite(v):
            key = "x"
        elif v == 0 or not top:
            continue
        else:
            key = f"{'n' if v < 0 else 'p'}{min(LEVELS, math.ceil(abs(v) / top * LEVELS))}"
        by.setdefault(key, []).append((k % cols, k // cols))
    left, up = x + (width - w * cols) / 2, y + (height - h * rows) / 2
    last = cols * rows - sum(1 for c in a["cells"] if c is None)
    out = [
        f'<g transform="translate({left:.1f},{up:.1f})">',
        f'<path class="h0" d="{_ground(cols, rows, last, w, h)}"/>',
    ]
    for key in sorted(by):
        d = "".join(f"M{c * w:.1f} {r * h:.1f}h{w:.1f}v{h:.1f}h-{w:.1f}z" for c, r in by[key])
        opacity = "" if key == "x" else f' fill-opacity="{round(0.08 + 0.92 * int(key[1:]) / LEVELS, 2)}"'
        out.append(f'<path class="h{key[0]}" d="{d}"{opacity}/>')
    if min(w, h) >= MARKED:
        marks = [cell for key in by if key[0] == "n" for cell in by[key]]
        d = "".join(f"M{(c + 0.32) * w:.1f} {(r + 0.5) * h:.1f}h{0.36 * w:.1f}" for c, r in sorted(marks))
        out += [f'<path class="hm" d="{d}"/>'] if d else []
    return "".join([*out, "</g>"])


def _ground(cols: int, rows: int, count: int, w: float, h: float) -> str:
    """The outline of the first `count` cells."""
    full, rest = divmod(count, cols)
    d = f"M0 0h{cols * w:.1f}v{full * h:.1f}h-{cols * w:.1f}z" if full else ""
    return d + (f"M0 {full * h:.1f}h{rest * w:.1f}v{h:.1f}h-{rest * w:.1f}z" if rest else "")


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
