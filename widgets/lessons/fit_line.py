"""A straight line through a few points, and a slider: make the loss small by hand.

What lives here: `fit_line(points)`, the picture of chapter 0.
"""

from __future__ import annotations

from typing import Any

from ..show import Table
from .kit import Figure, Given, Slider, lesson
from .lesson import Judgement, label, number, svg, tag

POINTS = ((1.0, 3.0), (2.0, 4.0), (3.0, 7.0))
LEFT, RIGHT, TOP, BOTTOM = 50.0, 430.0, 16.0, 226.0


@lesson
class fit_line(Figure):
    """The line y = w·x through a few points: move w until it misses them as little as possible.

    points: pairs of numbers (x, y), with x above 0. w: where the slider starts. Returns a widget, or one sentence that says what is wrong.

    >>> print(fit_line(w=2.0).sentence())
    w = 2: the line misses the points by 1, 0 and 1. Squared and averaged, the loss is 0.667.
    """

    points = Given(POINTS)
    w = Slider("w", 0.5, -1, 5, 0.05)

    def setup(self) -> None:
        try:
            pairs = [(float(x), float(y)) for x, y in self.points]
        except (TypeError, ValueError):
            raise ValueError(
                "fit_line needs pairs of numbers, for example fit_line([(1, 3), (2, 4), (3, 7)])."
            ) from None
        if not 2 <= len(pairs) <= 12 or any(not 0 < x < 1e6 or not abs(y) < 1e6 for x, y in pairs):
            raise ValueError("fit_line draws 2 to 12 points, with x above 0.")
        self.points = tuple(pairs)
        self.misses = [y - self.w * x for x, y in pairs]
        self.loss = sum(m * m for m in self.misses) / len(pairs)
        self.best = sum(x * y for x, y in pairs) / sum(x * x for x, _ in pairs)

    @property
    def there(self) -> bool:
        """Whether the slider cannot do better."""
        return abs(self.w - self.best) <= 0.026

    def sentence(self) -> str:
        misses = [number(abs(m), 3) for m in self.misses]
        said = f"{', '.join(misses[:-1])} and {misses[-1]}" if len(misses) <= 4 else f"up to {max(misses, key=float)}"
        text = f"w = {number(self.w, 3)}: the line misses the points by {said}. Squared and averaged, the loss is {number(self.loss, 3)}."
        return Judgement(True, f"{text} No other place of the slider gives less.") if self.there else text

    def table(self) -> Table:
        rows = [
            [number(x), number(y), number(self.w * x, 3), number(m, 3)]
            for (x, y), m in zip(self.points, self.misses, strict=True)
        ]
        return Table(("x", "y", "w·x", "miss"), rows)

    def draw(self) -> str:
        far = max(x for x, _ in self.points) * 1.15
        low, high = min(0.0, *(y for _, y in self.points)), max(y for _, y in self.points)
        low, high = low - 0.25 * (high - low), high + 0.35 * (high - low)

        def at(x: Any, y: Any) -> Any:
            y = min(max(y, low), high)
            return LEFT + (RIGHT - LEFT) * x / far, BOTTOM - (BOTTOM - TOP) * (y - low) / (high - low)

        out = self._axes(at, far, low, high)
        edge = far if low <= self.w * far <= high else (high if self.w > 0 else low) / self.w
        (x1, y1), (x2, y2) = at(0, 0), at(edge, self.w * edge)
        out += tag("line", x1=x1, y1=y1, x2=x2, y2=y2, style="stroke:var(--fwd);stroke-width:2.5")
        for (x, y), miss in zip(self.points, self.misses, strict=True):
            (cx, cy), (_, hit) = at(x, y), at(x, self.w * x)
            out += tag(
                "line", x1=cx, x2=cx, y1=cy, y2=hit, style="stroke:var(--bwd);stroke-width:2", stroke_dasharray="4 3"
            )
            if abs(hit - cy) > 12:
                out += label(cx + 7, (cy + hit) / 2 + 4, number(abs(miss), 3), "num t bwd")
            out += tag("circle", cx=cx, cy=cy, r=5.5, style="fill:var(--ink);stroke:var(--bg);stroke-width:1.5")
        out += label(470, 38, "y = w·x", "num h fwd") + label(470, 64, f"w = {number(self.w, 3)}", "num t")
        out += label(470, 108, "loss", "h") + label(470, 135, number(self.loss, 3), "num h bwd")
        out += label(470, 156, "the mean of the", "t soft") + label(470, 172, "squared misses", "t soft")
        full = sum(y * y for _, y in self.points) / len(self.points) or 1.0  # the loss at w = 0 fills the bar
        share = min(self.loss / full, 1.0)
        out += tag("rect", "box", x=600, y=TOP, width=34, height=BOTTOM - TOP, rx=4)
        style = "fill:var(--good)" if self.there else "fill:var(--bwd)"
        high_bar = max((BOTTOM - TOP) * share, 2.0)
        out += tag("rect", x=600, y=BOTTOM - high_bar, width=34, height=high_bar, rx=4, style=style)
        if self.there:
            out += label(470, 202, "✓ as small as", "t b") + label(470, 219, "it gets", "t b")
        return svg(660, 256, out, self.sentence())

    @staticmethod
    def _axes(at: Any, far: Any, low: Any, high: Any) -> str:
        out = ""
        for x in range(int(far) + 1):
            px, py = at(x, 0)
            out += tag("line", "grid", x1=px, x2=px, y1=TOP, y2=BOTTOM)
            out += label(px, BOTTOM + 18, str(x), "t soft", "middle") if far < 20 else ""
        for y in range(int(low), int(high) + 1, max(1, int((high - low) / 6))):
            px, py = at(0, y)
            out += tag("line", "grid", x1=LEFT, x2=RIGHT, y1=py, y2=py) + label(
                LEFT - 8, py + 4, number(y), "t soft", "end"
            )
        return out
