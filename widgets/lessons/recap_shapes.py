"""The recap picture of chapter 9: a gradient has the shape of its tensor, in a matrix product, a broadcast and the two reductions.

What lives here: its drawing function, listed in recap.py; every array comes from a real backward pass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import minigrad as torch
from minigrad.tensors.create import tensor

from .lesson import label, number, svg, tag

CELL_W, CELL_H = 48.0, 24.0  # room for four digits
ROOM = 5  # rows and columns that are drawn with their numbers
LAYER = {
    "W": [[1.0, 0.0, -1.0], [2.0, 1.0, 0.5]], "x": [[1.0, 3.0, 0.0], [0.0, 1.0, 2.0], [2.0, -1.0, 1.0], [1.0, 0.0, 1.0]],
    "b": [0.5, -0.5],
}  # fmt: skip


class Table(NamedTuple):
    """An array as it is drawn: its shape, and its entries as rows of a table (leading axes one below the other)."""

    shape: tuple[int, ...]
    rows: list[list[float]]


def table(tensor: Any) -> Table:
    """A tensor as rows of numbers."""
    shape = tuple(tensor.shape)
    wide = shape[-1] if shape else 1
    flat = tensor.detach().reshape(-1).tolist()
    return Table(shape, [flat[k : k + wide] for k in range(0, len(flat), wide)] if wide else [])


def draw_table(x: float, y: float, name: str, made: Table, colour: str) -> tuple[str, float, float]:
    """An array with its numbers, the larger the darker; its width and height."""
    out = label(x, y, name, f"num t b {colour}")
    rows = [row[:ROOM] for row in made.rows[:ROOM]]
    most = max((abs(v) for row in made.rows for v in row if v == v), default=0.0) or 1.0
    for i, row in enumerate(rows):
        for j, v in enumerate(row):
            left, top = x + CELL_W * j, y + 10 + CELL_H * i
            shade = 0.06 + 0.34 * min(1.0, abs(v) / most) if v == v and v else 0.0
            fill = f"fill:var(--{colour});fill-opacity:{shade:.2f}"
            out += tag("rect", x=left, y=top, width=CELL_W, height=CELL_H, style=fill)
            out += tag("rect", "grid", x=left, y=top, width=CELL_W, height=CELL_H, fill="none")
            out += label(left + CELL_W / 2, top + 16.5, number(v, 4), "num t", "middle")
    wide, high = CELL_W * max((len(row) for row in rows), default=1), 10 + CELL_H * max(1, len(rows))
    if not rows or len(made.rows) > ROOM or any(len(row) > ROOM for row in made.rows):
        out += label(x, y + high + 16, "… and more", "t soft")
        high += 20
    return out, max(wide, 7.8 * len(name)), high + 14


def tensors() -> tuple[str, str]:
    W, x, b = (tensor(LAYER[name], dtype=torch.float64, requires_grad=True) for name in ("W", "x", "b"))
    (x @ W.T + b).sum().backward()
    out = tag("rect", "panel", x=14, y=14, width=330, height=312, rx=9) + label(30, 40, "Matrix product", "h")
    out += label(30, 62, "gᵀ x for W, g W for x", "t soft")
    out += (
        draw_table(30, 88, f"W {tuple(W.shape)}", table(W), "fwd")[0]
        + draw_table(186, 88, "its gradient", table(W.grad), "bwd")[0]
    )
    out += draw_table(30, 188, f"x {tuple(x.shape)}: its gradient", table(x.grad), "bwd")[0]
    out += label(30, 316, "y = x Wᵀ + b, L = y.sum()", "num t soft")

    out += tag("rect", "panel", x=356, y=14, width=236, height=312, rx=9) + label(372, 40, "Broadcast", "h")
    out += label(372, 62, "forward a copy, backward a sum", "t soft")
    out += draw_table(372, 88, f"b {tuple(b.shape)}", table(b), "fwd")[0]
    out += draw_table(372, 180, "its gradient: Σ over axis 0", table(b.grad), "bwd")[0]
    out += label(372, 302, "one contribution from every copy", "t soft")

    out += tag("rect", "panel", x=604, y=14, width=202, height=312, rx=9) + label(620, 40, "sum and mean", "h")
    out += label(620, 62, "g, and g / n, for every entry", "t soft")
    texts = []
    for k, name in enumerate(("sum", "mean")):
        a = tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
        getattr(a, name)().backward()
        out += draw_table(620, 88 + 92 * k, f"after {name}()", table(a.grad), "bwd")[0]
        texts.append(f"{name} leaves {number(a.grad.reshape(-1).tolist()[0])}")
    words = (
        f"A gradient has the shape of its tensor. W {tuple(W.shape)}: {W.grad.tolist()}. b {tuple(b.shape)}, broadcast over 4 rows: "
        f"{b.grad.tolist()}. In a 2 by 2 tensor {' and '.join(texts)} in every entry."
    )
    return svg(820, 340, out, words), words
