"""The recap picture of chapter 13, your own function, its numbers computed by the engine when it is drawn.

What lives here: `own_function`, listed in recap.py. What does not: anything to operate (surrogate.py).
"""

from __future__ import annotations

import minigrad as torch
from minigrad.tensors.create import tensor

from .lesson import label, number, svg, tag
from .surrogate import MyClamp, MyReLU, StraightRound


def _ran(f, x: float) -> tuple[float, float]:
    leaf = tensor(x, dtype=torch.float64, requires_grad=True)
    y = f(leaf)
    y.backward()
    return y.item(), leaf.grad.item()


def own_function() -> tuple[str, str]:
    out = tag("rect", "panel", x=14, y=14, width=420, height=300, rx=9) + label(30, 40, "Two methods and a bag", "h")
    boxes = (
        (58.0, "fwd", "forward(ctx, x, low, high)", "→ out"),
        (136.0, "", "ctx", "save_for_backward(tensors)"),
        (214.0, "bwd", "backward(ctx, g)", "→ gradient of x, None, None"),
    )
    for y, colour, name, what in boxes:
        style = f"fill:var(--{colour}-soft);stroke:var(--{colour})" if colour else "fill:var(--bg);stroke:var(--line);stroke-dasharray:4 3"
        out += tag("rect", x=30, y=y, width=388, height=46, rx=7, style=style)
        out += label(44, y + 28, name, f"num v b {colour}".strip()) + label(404, y + 28, what, "num t", "end")
    out += label(44, 125, "↓ keeps the least that backward needs", "t soft")
    out += label(44, 203, "↓ gives it back; ctx.low for numbers", "t soft")
    out += label(30, 286, "one result for each argument of forward, in order;", "t")
    out += label(30, 304, "None for what is not a tensor", "t")

    rows = (
        ("MyReLU", MyReLU.apply, 0.0, "no slope there: a convention"),
        ("clamp to [−1, 1]", lambda x: MyClamp.apply(x, -1.0, 1.0), 2.7, "true: 0 outside"),
        ("straight-through", StraightRound.apply, 2.7, "true slope 0: a useful lie"),
    )
    out += tag("rect", "panel", x=452, y=14, width=354, height=300, rx=9) + label(468, 40, "backward says what you write", "h")
    said = []
    for k, (name, f, x, why) in enumerate(rows):
        value, sent = _ran(f, x)
        y = 62.0 + 66 * k
        out += label(468, y + 16, f"{name} at {number(x)}", "t b") + label(468, y + 36, why, "t soft")
        out += label(700, y + 26, number(value), "num v b fwd", "end")
        out += tag("rect", "pill", x=722, y=y + 4, width=68, height=34, rx=6) + label(756, y + 26, number(sent), "num v b bwd", "middle")
        said.append(f"{name} at {number(x)} gives {number(value)} and sends {number(sent)} ({why})")
    x = tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
    honest = torch.autograd.gradcheck(MyReLU.apply, (x,))
    x = tensor([0.3, 1.2], dtype=torch.float64, requires_grad=True)
    caught = not torch.autograd.gradcheck(StraightRound.apply, (x,), raise_exception=False)
    out += label(468, 286, "gradcheck, in float64, compares the two:", "t")
    out += label(468, 304, f"MyReLU {honest}, straight-through {not caught}", "num t b")
    words = (
        "A Function has forward, which keeps on ctx the least that backward needs, and backward, which returns one result for each "
        f"argument of forward, None for what is not a tensor. {'; '.join(said)}. gradcheck: MyReLU {honest}, straight-through {not caught}."
    )
    return svg(820, 328, out, words), words
