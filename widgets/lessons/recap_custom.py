"""The recap picture of chapter 13, your own function, its numbers computed by the engine when it is drawn.

What lives here: `own_function`, listed in recap.py. What does not: anything to operate (surrogate.py).
"""

from __future__ import annotations

import minigrad as torch
from minigrad.tensors.create import tensor

from .lesson import label, number, svg, tag
from .surrogate import MyClamp, StraightRound


class Square(torch.autograd.Function):
    """x², with its own rule."""

    @staticmethod
    def forward(x):
        return x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x


def _ran(f, x: float) -> tuple[float, float]:
    leaf = tensor(x, dtype=torch.float64, requires_grad=True)
    y = f(leaf)
    y.backward()
    return y.item(), leaf.grad.item()


def own_function() -> tuple[str, str]:
    out = tag("rect", "panel", x=14, y=14, width=420, height=300, rx=9) + label(
        30, 40, "Three methods, one context object", "h"
    )
    boxes = (
        (54.0, "fwd", "forward(x, low, high)", "→ output"),
        (126.0, "", "setup_context(ctx, inputs, output)", ""),
        (210.0, "bwd", "backward(ctx, g)", "→ gradient of x, None, None"),
    )
    for y, colour, name, what in boxes:
        style = (
            f"fill:var(--{colour}-soft);stroke:var(--{colour})"
            if colour
            else "fill:var(--bg);stroke:var(--line);stroke-dasharray:4 3"
        )
        out += tag("rect", x=30, y=y, width=388, height=42, rx=7, style=style)
        out += label(44, y + 26, name, f"num v b {colour}".strip()) + label(404, y + 26, what, "num t", "end")
    out += label(44, 114, "↓ apply runs it without recording", "t soft")
    out += label(44, 186, "↓ ctx.save_for_backward(tensors), ctx.low = a number;", "t soft")
    out += label(54, 203, "only what the rule needs", "t soft")
    out += label(30, 280, "one result for each input of forward, in order:", "t")
    out += label(30, 300, "None for a number, or for an input that needs no gradient", "t")

    rows = (
        ("square at 3", Square.apply, 3.0, "the exact derivative"),
        ("clamp to [−1, 1] at 2.7", lambda x: MyClamp.apply(x, -1.0, 1.0), 2.7, "exact: it is flat outside"),
        ("straight-through at 2.7", StraightRound.apply, 2.7, "derivative 0, replaced by 1"),
    )
    out += tag("rect", "panel", x=452, y=14, width=354, height=300, rx=9) + label(
        468, 40, "backward returns what you write", "h"
    )
    sentences = []
    for k, (name, f, x, why) in enumerate(rows):
        value, passed = _ran(f, x)
        y = 62.0 + 66 * k
        out += label(468, y + 16, name, "t b") + label(468, y + 36, why, "t soft")
        out += label(700, y + 26, number(value), "num v b fwd", "end")
        out += tag("rect", "pill", x=722, y=y + 4, width=68, height=34, rx=6) + label(
            756, y + 26, number(passed), "num v b bwd", "middle"
        )
        sentences.append(f"{name} gives {number(value)} and passes {number(passed)} on ({why})")
    points = tensor([0.3, 1.2], dtype=torch.float64, requires_grad=True)
    once, twice = (
        torch.autograd.gradcheck(Square.apply, (points,)),
        torch.autograd.gradgradcheck(Square.apply, (points,)),
    )
    replaced = torch.autograd.gradcheck(StraightRound.apply, (points,), raise_exception=False)
    out += label(468, 280, f"square: gradcheck {once}, gradgradcheck {twice}", "num t b")
    out += label(468, 300, f"straight-through: gradcheck {replaced}", "num t b")
    words = (
        "A Function has three methods: forward computes, setup_context saves on ctx what the rule needs, and backward returns one result "
        "for each input of forward, None for a number or for an input that needs no gradient. "
        f"{'; '.join(sentences)}. Square: gradcheck {once}, gradgradcheck {twice}; straight-through: gradcheck {replaced}."
    )
    return svg(820, 328, out, words), words
