"""The recap pictures of the chapters on tensors (7 and 8), their numbers computed by the engine when they are drawn.

What lives here: one drawing function for each chapter, listed in recap.py.
"""

from __future__ import annotations

from typing import Any

import minigrad as torch
from minigrad.tensors.create import tensor

from .bucket import EIGHT, Pour, draw_bucket, mean_loss
from .lesson import label, number, svg, tag


def _panel(x: float, width: float, title: str, *lines: str) -> str:
    out = tag("rect", "panel", x=x, y=14, width=width, height=292, rx=9) + label(x + 16, 40, title, "h")
    for k, line in enumerate(lines):
        out += label(x + 16, 62 + 18 * k, line, "t soft")
    return out


def _pours(losses: Any) -> tuple[list[Pour], float]:
    """Run backward on each loss; `losses` is a function of one leaf that gives them, at x = 1."""
    x = tensor(1.0, dtype=torch.float64, requires_grad=True)
    pours = []
    for loss in losses(x):
        before = 0.0 if x.grad is None else x.grad.item()
        loss.backward()
        pours.append(Pour(before, x.grad.item()))
    return pours, pours[-1].after


def accumulation() -> tuple[str, str]:
    passes, level = _pours(lambda x: (3 * x**2 for _ in range(3)))
    out = _panel(14, 250, "Every backward adds", "3x² at x = 1, three passes")
    out += draw_bucket(passes, level, 66, 106, 176, 150, room=3) + label(
        154, 290, f"x.grad = {number(level)}", "num t b bwd", "middle"
    )

    out += _panel(282, 250, "Clear it yourself", "once in each step, before backward")
    for k, line in enumerate(("optimizer.zero_grad()", "loss = loss_of(batch)", "loss.backward()", "optimizer.step()")):
        out += label(304, 114 + 26 * k, line, "num t b" if k == 0 else "num t")
    out += tag("line", "rule", x1=304, x2=510, y1=214, y2=214)
    x = tensor(1.0, requires_grad=True)
    texts = []
    (3 * x).backward()
    optimizer = torch.optim.SGD([x], lr=0.1)
    optimizer.zero_grad()
    texts.append(str(x.grad))
    (3 * x).backward()
    optimizer.zero_grad(set_to_none=False)
    texts.append(str(x.grad))
    for k, (text, grad) in enumerate(zip(("zero_grad()", "set_to_none=False"), texts, strict=True)):
        out += label(304, 242 + 26 * k, text, "t") + label(516, 242 + 26 * k, grad, "num t bwd", "end")

    w = tensor(2.0, dtype=torch.float64, requires_grad=True)
    small = []
    for k in range(0, 8, 2):
        before = 0.0 if w.grad is None else w.grad.item()
        (mean_loss(w, EIGHT[k : k + 2]) / 4).backward()
        small.append(Pour(before, w.grad.item()))
    full = tensor(2.0, dtype=torch.float64, requires_grad=True)
    mean_loss(full, EIGHT).backward()
    out += _panel(550, 256, "Micro-batches", "4 equal ones, each loss ÷ 4")
    out += draw_bucket(small, w.grad.item(), 588, 106, 204, 150, target=full.grad.item())
    out += label(692, 290, f"w.grad = {number(w.grad.item())}", "num t b bwd", "middle")
    words = (
        f"Every backward adds: three passes of 3x² at x = 1 leave {', '.join(number(p.after) for p in passes)}. "
        f"Clear it yourself: zero_grad() leaves {texts[0]}, with set_to_none=False {texts[1]}. "
        f"Micro-batches: 4 of them with each loss divided by 4 leave {number(w.grad.item())}, one batch {number(full.grad.item())}."
    )
    return svg(820, 320, out, words), words


def non_scalar() -> tuple[str, str]:
    from .pick_v import canned

    f = canned(2)
    leaf = tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = f(leaf)
    J = [torch.autograd.grad(y[i], leaf, retain_graph=True)[0].tolist() for i in range(2)]

    def pulled(v: list[float]) -> list[float]:
        x = tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
        f(x).backward(tensor(v, dtype=torch.float64))
        return x.grad.tolist()

    out = tag("rect", "panel", x=14, y=14, width=262, height=252, rx=9) + label(30, 40, "Two outputs, two inputs", "h")
    out += label(30, 62, "the Jacobian: a row for each output", "t soft")
    for j in range(2):
        out += label(152 + 74 * j, 98, f"x{j}", "num t", "middle")
    for i in range(2):
        out += label(96, 131 + 46 * i, f"y{i}", "num t", "end")
        for j in range(2):
            left, top = 118 + 74 * j, 108 + 46 * i
            out += tag("rect", "box", x=left, y=top, width=68, height=38, rx=6)
            out += label(left + 34, top + 24, number(J[i][j]), "num v b fwd", "middle")
    out += label(30, 232, "backward never builds it", "t soft") + label(
        30, 250, "10⁶ outputs: 10⁶ passes for all rows", "t soft"
    )

    rows = (
        ("v = [1, 1]", [1.0, 1.0], "y.sum()"),
        ("v = [½, ½]", [0.5, 0.5], "y.mean()"),
        ("v = [1, 0]", [1.0, 0.0], "y[0]"),
    )
    out += tag("rect", "panel", x=294, y=14, width=512, height=252, rx=9)
    out += label(310, 40, "You say how much each output counts", "h")
    out += label(310, 62, "y.backward(v): one pass, the weighted sum of the rows", "t soft")
    sentences = []
    for k, (name, v, same) in enumerate(rows):
        grad = pulled(v)
        y0 = 84 + 60 * k
        out += tag("rect", "pill", x=310, y=y0, width=116, height=42, rx=6) + label(
            368, y0 + 26, name, "num v b bwd", "middle"
        )
        out += label(442, y0 + 26, "leaves", "t soft")
        text = f"[{number(grad[0])}, {number(grad[1])}]"
        out += tag("rect", "pill", x=498, y=y0, width=120, height=42, rx=6) + label(
            558, y0 + 26, text, "num v b bwd", "middle"
        )
        out += label(638, y0 + 26, f"{same}.backward()", "num t")
        sentences.append(f"{name} leaves {text}, as {same}.backward()")
    words = (
        f"The Jacobian of two outputs has the rows {J[0]} and {J[1]}. backward(v) adds the rows, weighted by v: {'; '.join(sentences)}. "
        "For one number v is 1."
    ).replace(".0", "")
    return svg(820, 280, out, words), words
