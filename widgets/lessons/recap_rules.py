"""The recap picture of chapter 6: the rules sorted by what they save, with numbers that the engine computes during drawing."""

from __future__ import annotations

import minigrad as torch
from minigrad.core.op import TABLE
from minigrad.tensors.create import tensor

from .lesson import label, number, svg, tag

COLUMNS = (
    ("keeps nothing", "the derivative is a constant", ("add", "sub")),
    ("keeps the output", "it is there already", ("exp", "sigmoid", "tanh", "sqrt")),
    ("keeps the input", "the output does not tell", ("log", "sin")),
    ("keeps both inputs", "each is the other's derivative", ("mul", "matmul")),
    ("keeps a shape", "to pass g back to every entry", ("sum", "mean")),
)


def kept(name: str) -> set[str]:
    """Everything that the rules of a row keep."""
    op = TABLE[name]
    return {one for rule in op.rules.values() if rule is not None for one in op.saves_of(rule)}


def rule_book() -> tuple[str, str]:
    requested: tuple[set[str], ...] = (set(), {"out"}, {"x"}, {"x", "y"}, {"x_shape"})
    out, words = "", []
    for k, ((title, why, names), want) in enumerate(zip(COLUMNS, requested, strict=True)):
        assert all(kept(name) == want for name in names)
        left = 14 + 166 * k
        out += tag("rect", "panel", x=left, y=14, width=156, height=196, rx=9) + label(left + 12, 40, title, "t b")
        for n, line in enumerate(
            (why[: why.rfind(" ", 0, 22)], why[why.rfind(" ", 0, 22) + 1 :]) if len(why) > 21 else (why,)
        ):
            out += label(left + 12, 62 + 17 * n, line, "t soft")
        for n, name in enumerate(names):
            out += label(left + 12, 112 + 24 * n, name, "num v b fwd")
        words.append(f"{title}: {', '.join(names)}")
    x = tensor(0.5, dtype=torch.float64, requires_grad=True)
    y = torch.tanh(x)
    y.backward(tensor(2.0, dtype=torch.float64))
    parts = (
        (32, "", f"x = {number(x.item())}"),
        (140, "", f"tanh keeps out = {number(y.item(), 4)}"),
        (370, "bwd", "upstream g = 2"),
        (536, "bwd", f"x receives 2 × (1 − out²) = {number(x.grad.item(), 4)}"),
    )
    out += tag("rect", "badge", x=14, y=226, width=820, height=44, rx=9)
    for left, colour, text in parts:
        out += label(left, 253, text, f"num t b {colour}".rstrip())
    sentence = f"Rules by what they keep. {'; '.join(words)}. At {', '.join(text for *_, text in parts)}."
    return svg(848, 284, out, sentence), sentence
