"""The recap picture of chapter 9: a gradient has the shape of its tensor, in a matrix product, a broadcast and the two reductions.

What lives here: its drawing function, listed in recap.py; every array comes from a real backward pass.
"""

from __future__ import annotations

import minigrad as torch
from minigrad.tensors.create import tensor

from .lesson import label, number, svg, tag
from .shape_flow import CANNED, draw_table, table


def tensors() -> tuple[str, str]:
    W, x, b = (tensor(CANNED[name], dtype=torch.float64, requires_grad=True) for name in ("W", "x", "b"))
    (x @ W + b).sum().backward()
    out = tag("rect", "panel", x=14, y=14, width=330, height=312, rx=9) + label(30, 40, "Matrix product", "h")
    out += label(30, 62, "xᵀ @ g for W, g @ Wᵀ for x", "t soft")
    out += (
        draw_table(30, 88, f"W {tuple(W.shape)}", table(W), "fwd")[0]
        + draw_table(192, 88, "its gradient", table(W.grad), "bwd")[0]
    )
    out += draw_table(30, 188, f"x {tuple(x.shape)}: its gradient", table(x.grad), "bwd")[0]
    out += label(30, 316, "y = x @ W + b, L = y.sum()", "num t soft")

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
