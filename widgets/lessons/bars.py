"""A list of numbers that depends on one whole number: its bars, and a slider.

What lives here: `bars(f, low, high)`. It calls the learner's function once for each place of the slider, so that the axis can stand still.
"""

from __future__ import annotations

from typing import Any

from ..show import Table
from .kit import Field, Figure, Given, Slider, lesson
from .lesson import label, number, svg, tag

LEFT, RIGHT, TOP, BOTTOM = 84.0, 660.0, 34.0, 204.0
MOST = 40  # bars, and places of the slider


@lesson
class bars(Figure):
    """The numbers that f(k) returns, as bars, for each k from low to high.

    f: a function of one whole number that returns a list of 1 to 40 numbers that are not negative. name: what the slider is called.
    xlabel, ylabel: what the axes mean. Returns a widget, or one sentence that says what is wrong.

    >>> print(bars(lambda k: [1] * k, 1, 3).text().splitlines()[0])
    k = 1: 1 bar is above 0, and the highest is 1.
    """

    f: Any = Given()
    low: Any = Given(1)
    high: Any = Given(10)
    name: Any = Given("k")
    xlabel: Any = Given("")
    ylabel: Any = Given("")
    k: Any = Slider("k", 0, 0, 10**6)
    results: dict[int, list[float]] = {}

    def setup(self) -> None:
        if self.results:
            return
        if not callable(self.f):
            raise ValueError("bars needs a function, for example bars(lambda k: [1] * k, 1, 10).")
        if not 0 <= self.low < self.high < self.low + MOST:
            raise ValueError(f"low and high are whole numbers with at most {MOST} places from one to the other.")
        self.results = {k: [float(y) for y in self.f(k)] for k in range(self.low, self.high + 1)}
        for k, heights in self.results.items():
            if not 1 <= len(heights) <= MOST or not all(0 <= y < float("inf") for y in heights):
                raise ValueError(f"f({k}) has to return 1 to {MOST} numbers from 0 on.")
        self.k = min(max(self.k, self.low), self.high)

    def fields(self) -> dict[str, Field]:
        place = Slider(self.name, self.low, self.low, self.high).named("k")
        return {**super().fields(), **({"k": place} if self.results else {})}

    def sentence(self) -> str:
        heights = self.results[self.k]
        above = sum(y > 0 for y in heights)
        are = "1 bar is" if above == 1 else f"{above} bars are"
        return f"{self.name} = {self.k}: {are} above 0, and the highest is {number(max(heights), 2)}."

    def table(self) -> Table:
        heights = self.results[self.k]
        return Table(
            (self.xlabel or "place", self.ylabel or "height"),
            [[str(n + 1), number(y, 3)] for n, y in enumerate(heights)],
        )

    def draw(self) -> str:
        heights = self.results[self.k]
        most = max(y for row in self.results.values() for y in row) or 1.0
        step = (RIGHT - LEFT) / len(heights)
        out = label(LEFT, TOP - 14, self.ylabel, "t")
        for part in (0.0, 0.5, 1.0):
            y = BOTTOM - (BOTTOM - TOP) * part
            out += tag("line", "grid", x1=LEFT, x2=RIGHT, y1=y, y2=y) + label(
                LEFT - 10, y + 4, number(most * part, 2), "t soft", "end"
            )
        for n, y in enumerate(heights):
            x, high = LEFT + step * n, (BOTTOM - TOP) * y / most
            out += tag(
                "rect", x=x + step * 0.1, y=BOTTOM - high, width=step * 0.8, height=high, style="fill:var(--bwd)"
            )
            out += label(x + step / 2, BOTTOM + 18, str(n + 1), "t soft", "middle")
        out += label((LEFT + RIGHT) / 2, BOTTOM + 40, self.xlabel, "t", "middle")
        return svg(690, BOTTOM + 54, out, self.sentence())
