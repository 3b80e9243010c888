"""The recap picture of chapter 11, derivatives of derivatives, its numbers computed by the engine when it is drawn.

What lives here: `second_order`, listed in recap.py. What does not: anything to operate (stacked.py, hvp_cost.py).
"""

from __future__ import annotations

import minigrad as torch
from minigrad.tensors.create import tensor

from .cards import straight
from .hvp_cost import Cost, canned
from .lesson import label, number, svg, tag

_NAMES = (
    ("y.retain_grad()", "one tensor", "keeps its .grad", "to look at a value in the middle"),
    ("backward(retain_graph=True)", "the graph", "keeps the saved values", "for a second backward pass"),
    ("grad(y, x, create_graph=True)", "the backward pass", "is recorded", "to differentiate a gradient"),
)


def second_order() -> tuple[str, str]:
    """x³ at 5 differentiated three times; the three names; H v; the largest stable step."""
    x = tensor(5.0, dtype=torch.float64, requires_grad=True)
    values = [x**3]
    for _ in range(3):
        values.append(torch.autograd.grad(values[-1], x, create_graph=True)[0])
    names = ("y = x³", "dy/dx = 3x²", "d²y/dx² = 6x", "d³y/dx³ = 6")
    out = label(30, 38, "Each gradient is a program too, if its backward pass was recorded (x = 5)", "h")
    for k, (name, value) in enumerate(zip(names, values, strict=True)):
        left = 30 + 204.0 * k
        out += tag("rect", "card", x=left, y=54, width=150, height=58, rx=8) + label(left + 12, 78, name, "num t b")
        out += label(left + 138, 100, number(value.item()), "num v b fwd" if k == 0 else "num v b bwd", "end")
        if k:
            out += straight(left - 54, left, 83, back=True) + label(left - 27, 76, "grad", "t bwd halo", "middle")
    out += tag("line", "rule", x1=30, x2=800, y1=136, y2=136) + label(30, 162, "Three names", "h")
    for k, (name, what, does, use) in enumerate(_NAMES):
        y = 190 + 28.0 * k
        out += (
            label(30, y, name, "num t b fwd")
            + label(270, y, what, "t")
            + label(408, y, does, "t b")
            + label(592, y, use, "t soft")
        )
    cost = Cost(canned, 200)
    s = cost.steps
    out += tag("line", "rule", x1=30, x2=800, y1=266, y2=266) + label(30, 292, "Hessian of 200 parameters", "h")
    facts = f"all of H: 40,000 numbers, {s['the whole H']:,} steps", f"H v: 200 numbers, {s['H v']} steps, two passes"
    out += label(270, 292, facts[0], "num t b") + label(270, 314, facts[1], "num t b bwd")
    out += tag("line", "rule", x1=30, x2=800, y1=336, y2=336) + label(30, 362, "Gradient descent", "h")
    rule = "each step multiplies the distance by 1 − lr·λ", "the largest λ of H decides: stable below lr = 2/λ"
    out += label(270, 362, rule[0], "t") + label(270, 384, rule[1], "t b")
    slopes = ", ".join(number(v.item()) for v in values[1:])
    words = (
        f"x³ at 5 has the value {number(values[0].item())} and the derivatives {slopes}: each backward "
        f"pass is recorded with create_graph=True. {' '.join(f'{a}: {b} {c}, {d}.' for a, b, c, d in _NAMES)} "
        f"Hessian of 200 parameters: {facts[0]}; {facts[1]}. "
        f"Gradient descent: {rule[0]}, and {rule[1]}."
    )
    return svg(830, 402, out, words), words
