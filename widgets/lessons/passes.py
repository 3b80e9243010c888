"""How many passes a whole Jacobian takes: one for each column in forward mode, one for each row in reverse mode.

What lives here: `passes(n, m)`, two sliders and the cheaper way. What does not: its memory (`jacobian_size` in pick_v.py), any derivative.
"""

from __future__ import annotations

import math

import ipywidgets

from .lesson import Lesson, Sentence, label, svg, tag, verdict, wrap

SIZES = (1, 2, 3, 5, 10, 30, 100, 300, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 117_000_000, 1_000_000_000)
PRESETS = (
    ("3 → 1000", 3, 1000, "few inputs, many outputs"),
    ("a training loss", 117_000_000, 1, "GPT-2: 117 million parameters, one loss"),
    ("square", 1000, 1000, "as many outputs as inputs"),
    ("one number", 1, 1, "a function of one number"),
)


def _passes(count: int) -> str:
    return f"{count:,} pass{'es' * (count != 1)}"


class Passes:
    def __init__(self, n: int, m: int):
        if not (1 <= n <= SIZES[-1] and 1 <= m <= SIZES[-1]):
            raise ValueError(f"n and m may be 1 to {SIZES[-1]:,}.")
        self.n, self.m = n, m

    @property
    def cheaper(self) -> str:
        return "either" if self.n == self.m else "forward" if self.n < self.m else "reverse"

    def sentence(self) -> str:
        both = f"forward mode {_passes(self.n)}, one for each input; reverse mode {_passes(self.m)}, one for each output"
        if self.cheaper == "either":
            return f"J with {self.m:,} × {self.n:,} entries: {both}. As many both ways; forward mode keeps no graph."
        times = max(self.n, self.m) / min(self.n, self.m)
        ratio = f"{times:,.0f}" if times == round(times) else f"{times:,.1f}"
        return f"J with {self.m:,} × {self.n:,} entries: {both}. {self.cheaper.capitalize()} mode needs {ratio} times fewer."

    def svg(self) -> str:
        w, h = (30 + 190 * math.log10(k) / 9 for k in (self.n, self.m))
        left, top = 40.0, 74.0
        out = label(24, 32, f"n = {self.n:,} input{'s' * (self.n != 1)},  m = {self.m:,} output{'s' * (self.m != 1)}", "h")
        out += tag("rect", "box", x=left, y=top, width=w, height=h, rx=3)
        style = "fill:var(--{0}-soft);stroke:var(--{0});stroke-width:2"
        out += tag("rect", x=left + 3, y=top + 3, width=12, height=h - 6, rx=2, style=style.format("fwd"))
        out += tag("rect", x=left + 3, y=top + h - 15, width=w - 6, height=12, rx=2, style=style.format("bwd"), stroke_dasharray="6 3")
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
        out += label(x0, 272, "as many both ways" if self.cheaper == "either" else "the axis counts powers of ten", "t soft")
        return svg(820, 336, out, self.sentence())


def passes(n: int = 3, m: int = 1000) -> Lesson:
    """How many passes the whole Jacobian of n inputs and m outputs takes in each mode, and which mode is cheaper.

    n, m: numbers of inputs and outputs, 1 to 1,000,000,000. Returns a widget, or one sentence that says what is wrong.

    >>> passes(3, 1000).text().split(". ")[1]
    'Forward mode needs 333.3 times fewer.'
    """
    try:
        state = Passes(int(n), int(m))
    except Exception as error:
        return Sentence(f"passes cannot draw this: {error}")
    return _Live(state)


class _Live(Lesson):
    def __init__(self, state: Passes):
        self.state, self.quiet = state, False
        self.picked, self.words = ipywidgets.HTML(), ipywidgets.HTML()
        self.inputs, self.outputs = (self._slider(name, at) for name, at in (("n inputs", state.n), ("m outputs", state.m)))
        buttons = []
        for name, n, m, tip in PRESETS:
            button = ipywidgets.Button(description=name, tooltip=tip, layout={"width": "128px"})
            button.on_click(lambda _button, n=n, m=m: self.set(n, m))
            buttons.append(button)
        rows = [self.picked, self.words, wrap(self.inputs, self.outputs), wrap(*buttons)]
        super().__init__(rows, picture=lambda: self.state.svg(), text=lambda: self.state.sentence())
        self.add_class("mg-passes")
        self._draw()

    def _slider(self, name: str, at: int) -> ipywidgets.SelectionSlider:
        options = [(f"{size:,}", size) for size in sorted({*SIZES, at})]
        slider = ipywidgets.SelectionSlider(options=options, value=at, description=name, layout={"width": "380px", "max_width": "100%"})
        slider.style.description_width = "70px"
        slider.observe(self._move, names=["value"])
        return slider

    def set(self, n: int, m: int) -> None:
        """Move both sliders at once."""
        self.quiet = True
        self.inputs.value, self.outputs.value = n, m
        self.quiet = False
        self._move()

    def _move(self, _change=None) -> None:
        if not self.quiet:
            self.state = Passes(self.inputs.value, self.outputs.value)
            self._draw()

    def _draw(self) -> None:
        self.picked.value, self.words.value = self.state.svg(), verdict(self.state.sentence())
