"""How many passes a whole Jacobian takes: one for each column in forward mode, one for each row in reverse mode.

What lives here: `passes(n, m)`, two sliders and the cheaper way. What does not: its memory (`jacobian_size` in pick_v.py), any derivative.
"""

from __future__ import annotations

import math

from .kit import Figure, Steps, lesson
from .lesson import label, svg, tag

SIZES = (1, 2, 3, 5, 10, 30, 100, 300, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 124_439_808, 1_000_000_000)


def _passes(count: int) -> str:
    return f"{count:,} pass{'es' * (count != 1)}"


def _count(n: int) -> str:
    return f"{n:,}"


@lesson
class passes(Figure):
    """How many passes the whole Jacobian of n inputs and m outputs takes in each mode, and which mode is cheaper.

    n, m: numbers of inputs and outputs, 1 to 1,000,000,000. Returns a widget, or one sentence that says what is wrong.

    >>> passes(3, 1000).text().split(". ")[1]
    'Forward mode needs 333.3 times fewer.'
    """

    n = Steps(SIZES, "n inputs", 3, between=True, show=_count)
    m = Steps(SIZES, "m outputs", 1000, between=True, show=_count)
    presets = {
        "few inputs, many outputs": {"n": 3, "m": 1000}, "a training loss (GPT-2)": {"n": 124_439_808, "m": 1},
        "square": {"n": 1000, "m": 1000}, "one input": {"n": 1, "m": 1000},
    }  # fmt: skip

    @property
    def cheaper(self) -> str:
        return "either" if self.n == self.m else "forward" if self.n < self.m else "reverse"

    def sentence(self) -> str:
        both = (
            f"forward mode {_passes(self.n)}, one for each input; reverse mode {_passes(self.m)}, one for each output"
        )
        if self.cheaper == "either":
            return f"J with {self.m:,} × {self.n:,} entries: {both}. As many both ways; forward mode keeps no graph."
        times = max(self.n, self.m) / min(self.n, self.m)
        ratio = f"{times:,.0f}" if times == round(times) else f"{times:,.1f}"
        return f"J with {self.m:,} × {self.n:,} entries: {both}. {self.cheaper.capitalize()} mode needs {ratio} times fewer."

    def draw(self) -> str:
        w, h = (30 + 190 * math.log10(k) / 9 for k in (self.n, self.m))
        left, top = 40.0, 74.0
        out = label(
            24, 32, f"n = {self.n:,} input{'s' * (self.n != 1)},  m = {self.m:,} output{'s' * (self.m != 1)}", "h"
        )
        out += tag("rect", "box", x=left, y=top, width=w, height=h, rx=3)
        style = "fill:var(--{0}-soft);stroke:var(--{0});stroke-width:2"
        out += tag("rect", x=left + 3, y=top + 3, width=12, height=h - 6, rx=2, style=style.format("fwd"))
        out += tag(
            "rect",
            x=left + 3,
            y=top + h - 15,
            width=w - 6,
            height=12,
            rx=2,
            style=style.format("bwd"),
            stroke_dasharray="6 3",
        )
        out += label(left, top - 10, "J u: a column a pass", "t fwd")
        out += label(left, top + h + 22, "vᵀJ: a row a pass", "t bwd")
        x0, x1 = 400.0, 700.0
        for k, (name, count, colour) in enumerate((("forward", self.n, "fwd"), ("reverse", self.m, "bwd"))):
            y = 92.0 + 86 * k
            mark = "  ✓ cheaper" if self.cheaper == name else ""
            dash = {"stroke_dasharray": "6 3"} if colour == "bwd" else {}
            out += label(x0, y - 10, f"{name} mode: {_passes(count)}{mark}", f"d b {colour}")
            wide = 6 + (x1 - x0 - 6) * math.log10(count) / 9
            out += tag("rect", x=x0, y=y, width=wide, height=30, rx=4, style=style.format(colour), **dash)
        for e in (0, 3, 6, 9):
            x = x0 + 6 + (x1 - x0 - 6) * e / 9
            out += tag("line", "grid", x1=x, x2=x, y1=216, y2=224)
            out += label(x, 242, ("1", "1,000", "a million", "a billion")[e // 3], "t soft", "middle")
        out += label(
            x0, 272, "as many both ways" if self.cheaper == "either" else "the axis counts powers of ten", "t soft"
        )
        return svg(820, 336, out, self.sentence())
