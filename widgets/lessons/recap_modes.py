"""The recap picture of chapter 12, forward mode and reverse mode, its numbers computed by the engine when it is drawn.

What lives here: `two_modes`, listed in recap.py. What does not: anything to operate (dual.py, passes.py, pick_v.py).
"""

from __future__ import annotations

import minigrad as torch
from minigrad.tensors.create import tensor

from .lesson import label, number, svg, tag


def two_modes() -> tuple[str, str]:
    def f(x):
        return torch.stack([x[0] ** 2 + x[1], x[0] * x[1]])

    x = tensor([2.0, 3.0], dtype=torch.float64)
    u, v = ([1.0, 0.0], [1.0, 0.0])
    J = torch.func.jacrev(f)(x).tolist()
    _, column = torch.func.jvp(f, (x,), (tensor(u, dtype=torch.float64),))
    _, pull = torch.func.vjp(f, x)
    (row,) = pull(tensor(v, dtype=torch.float64))
    column, row = column.tolist(), row.tolist()
    lanes = (
        ("Forward mode: J u", 14.0, "fwd", ("values and tangents run together", "no graph is kept"),
         ("u at the inputs", u), ("the outputs move", column), ("one pass: one column", "all of J: n passes", "for few inputs")),
        ("Reverse mode: vᵀJ", 548.0, "bwd", ("run and record, then a reverse pass", "the graph is kept"),
         ("v at the outputs", v), ("x.grad", row), ("one pass: one row", "all of J: m passes", "for few outputs, such as a loss")),
    )  # fmt: skip
    out = ""
    for title, left, colour, how, start, end, cost in lanes:
        out += tag("rect", "panel", x=left, y=14, width=258, height=292, rx=9) + label(
            left + 16, 40, title, f"h {colour}"
        )
        for k, text in enumerate(how):
            out += label(left + 16, 64 + 18 * k, text, "t soft")
        for k, (name, vector) in enumerate((start, end)):
            y = 98.0 + 58 * k
            style = f"fill:var(--{colour}-soft);stroke:var(--{colour})"
            out += label(left + 16, y + 26, name, "t") + tag(
                "rect", x=left + 142, y=y, width=98, height=40, rx=6, style=style
            )
            out += label(left + 191, y + 25, _vector(vector), f"num v b {colour}", "middle")
        for k, text in enumerate(cost):
            out += label(left + 16, 240 + 21 * k, text, "t b" if k == 0 else "t")
    out += tag("rect", "panel", x=286, y=14, width=248, height=292, rx=9) + label(302, 40, "One Jacobian", "h")
    out += label(302, 64, "y₀ = x₀² + x₁,  y₁ = x₀ · x₁", "num t") + label(302, 84, "at x = [2, 3]", "num t soft")
    for j in range(2):
        out += label(378 + 76 * j, 115, f"x{'₀₁'[j]}", "num t", "middle")
    for i in range(2):
        out += label(329, 152 + 50 * i, f"y{'₀₁'[i]}", "num t", "end")
        for j in range(2):
            out += tag("rect", "box", x=344 + 76 * j, y=126 + 50 * i, width=68, height=42, rx=6)
            out += label(378 + 76 * j, 152 + 50 * i, number(J[i][j]), "num v b", "middle")
    out += tag("rect", x=340, y=122, width=76, height=100, rx=8, style="fill:none;stroke:var(--fwd);stroke-width:2.5")
    style = "fill:none;stroke:var(--bwd);stroke-width:2.5"
    out += tag("rect", x=336, y=118 + 6, width=160, height=46, rx=8, style=style, stroke_dasharray="6 3")
    out += label(302, 252, "a row is one output's gradient", "t bwd") + label(
        302, 273, "a column is one input's effect", "t fwd"
    )
    words = (
        f"One Jacobian, rows {J[0]} and {J[1]}. Forward mode with u = {u} gives the column {column} in one pass, and all of J in n. "
        f"Reverse mode with v = {v} gives the row {row} in one pass, and all of J in m. "
        "Few inputs: forward. Few outputs, such as one loss: reverse."
    ).replace(".0", "")
    return svg(820, 320, out, words), words


def _vector(entries: list[float]) -> str:
    return f"[{', '.join(number(entry) for entry in entries)}]"
