"""The recap picture of chapter 14, softmax, cross-entropy and layer norm, its numbers computed by the engine when it is drawn.

What lives here: `softmax_and_layernorm`, listed in recap.py. What does not: anything to operate (jacobian_heat.py).
"""

from __future__ import annotations

from widgets import heat

from .jacobian_heat import LOOK, Heat, cells_of, inputs, layer_norm, softmax
from .lesson import label, svg, tag
from .pick_v import in_bytes


def softmax_and_layernorm() -> tuple[str, str]:
    both = [Heat(softmax, "softmax", inputs(6)), Heat(layer_norm, "layer norm", inputs(6))]
    rules = (
        ("s = softmax(z)", "J = diag(s) − s sᵀ", "z.grad = s ⊙ (g − ⟨s, g⟩)"),
        (
            "y = γ ⊙ x̂ + β,  ĝ = γ ⊙ g",
            "x.grad = (ĝ − mean(ĝ)",
            "\xa0\xa0\xa0− x̂ · mean(ĝ ⊙ x̂)) / std",
            "γ.grad = Σ g ⊙ x̂,  β.grad = Σ g",
        ),
    )
    out = LOOK
    for k, (state, lines) in enumerate(zip(both, rules, strict=True)):
        left = 14 + 302.0 * k
        out += tag("rect", "panel", x=left, y=14, width=288, height=300, rx=9) + label(left + 16, 40, state.name, "h")
        out += heat.svg(cells_of(state.J), left + 64, 54, 160, 160, 160)
        for i, line in enumerate(lines):
            size = "num t b bwd" if ".grad" in line or line.startswith("\xa0") else "t"
            out += label(left + 16, 238 + 21 * i, line, size)
    left = 618.0
    out += tag("rect", "panel", x=left, y=14, width=252, height=300, rx=9) + label(left + 16, 40, "cross-entropy", "h")
    n, table, saved = both[0].costs[-1]
    facts = (
        ("L = log Σ exp(z) − z of the target", "t"),
        ("z.grad = p − y", "num t b bwd"),
        ("N rows and their mean: (p − y) / N", "t"),
        ("take max(z) off each row first", "t"),
        ("", "t"),
        ("No Jacobian is formed.", "t"),
        (f"softmax of n = {n}:", "t"),
        (f"J  {in_bytes(table)}, {n} passes", "num t b fwd"),
        (f"vᵀJ  {in_bytes(saved)}, 1 pass", "num t b bwd"),
    )
    for i, (text, kind) in enumerate(facts):
        out += label(left + 16, 72 + 25 * i, text, kind)
    words = (
        "Softmax and layer norm: each output depends on each input, so both Jacobians are dense. "
        "Softmax: z.grad = s ⊙ (g − ⟨s, g⟩). Layer norm, with ĝ = γ ⊙ g: x.grad = (ĝ − mean(ĝ) − x̂ · mean(ĝ ⊙ x̂)) / std, and over the "
        "rows γ.grad = Σ g ⊙ x̂, β.grad = Σ g. Cross-entropy on top of softmax: z.grad = p − y, and (p − y) / N for the mean of N rows. "
        f"For softmax of {n} numbers the Jacobian takes {in_bytes(table)} and {n} passes, the product {in_bytes(saved)} and one pass."
    )
    return svg(884, 330, out, words), words
