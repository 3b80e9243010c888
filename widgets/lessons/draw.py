"""A curve that is drawn before it is computed, and then lies beside the real one.

What lives here: `draw(x, real)`, with a slider for each place, which the browser also moves when somebody drags across the picture.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from minigrad.course import progress

from ..show import Table
from .kit import Entry, Field, Figure, Given, action, lesson
from .lesson import label, number, svg, tag

LEFT, RIGHT, TOP, BOTTOM = 84.0, 620.0, 18.0, 250.0
EDGE = 60.0  # a stroke may begin beside the axis
STEPS = 100  # places from the bottom of the picture to its top
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Height(Entry):
    """How high the drawn curve is at one place: a slider over the range of the vertical axis."""

    def __init__(self, key: int, name: str, low: float, high: float, show: Callable[[Any], str]):
        super().__init__("drawn", key, name, 0.0, 1.0)
        self.low, self.high, self.step, self.show = low, high, (high - low) / STEPS, show

    def put(self, figure: Any, value: Any) -> None:
        super().put(figure, value)
        figure.touched = True


@lesson
class draw(Figure):
    """Draw what you expect: drag across the picture from left to right, or move the sliders. Then look at what happens.

    x: the places, as texts or numbers, 3 to 12 of them. real: a function without arguments that computes the heights there; it is called
    when the button is pressed. low, high: the vertical axis. log: the axis has powers of ten, and low and high are exponents; real gives
    ordinary numbers. xlabel, ylabel: what the axes mean. Returns a widget, or one sentence that says what is wrong.

    >>> guess = draw([1, 2, 3], lambda: [1, 4, 9], high=10)
    >>> guess.press("show")
    >>> print(guess.text().splitlines()[0])
    You have not drawn anything. It is 1, 4 and 9 at 1, 2 and 3.
    """

    x: Any = Given(())
    real: Any = Given(None)
    low: Any = Given(0.0)
    high: Any = Given(1.0)
    xlabel: Any = Given("")
    ylabel: Any = Given("")
    log: Any = Given(False)
    drawn: Any = Given(None)
    names: Sequence[str] = ()
    keeps = True
    touched = False  # whether anything was drawn
    heights: list[float] | None = None  # the real ones, once the button was pressed

    def setup(self) -> None:
        self.names = [x if isinstance(x, str) else number(x) for x in self.x]
        if not 3 <= len(self.names) <= 12:
            raise ValueError(f"draw needs 3 to 12 places, and x has {len(self.names)}.")
        if not callable(self.real):
            raise ValueError(
                "draw needs a function that computes the curve, for example draw([1, 2, 3], lambda: [1, 4, 9], high=10)."
            )
        if not float(self.low) < float(self.high):
            raise ValueError(f"The axis has to go upwards: low is {self.low!r} and high is {self.high!r}.")
        self.low, self.high = float(self.low), float(self.high)
        if self.drawn is None:
            kept = progress.load()[0].get(self.key, {}).get("drawn")  # before the kernel was restarted
            self.touched = isinstance(kept, list) and [type(y) for y in kept] == [float] * len(self.names)
            self.drawn = kept if self.touched else [(self.low + self.high) / 2] * len(self.names)
        if len(self.drawn) != len(self.names):
            raise ValueError(f"There are {len(self.names)} places, and drawn has {len(self.drawn)} heights.")

    @property
    def key(self) -> str:
        """Of this picture in the progress file: a hash of its axes."""
        axes = json.dumps([self.names, self.low, self.high, self.xlabel, self.ylabel])
        return "draw " + hashlib.sha256(axes.encode()).hexdigest()[:12]

    def fields(self) -> dict[str, Field]:
        if self.heights is not None:
            return super().fields()
        heights = [Height(k, name, self.low, self.high, self.said) for k, name in enumerate(self.names)]
        return {**super().fields(), **{f"at {k}": one.named(f"at {k}") for k, one in enumerate(heights)}}

    def moved(self, name: str) -> None:
        """Nothing is computed before the button is pressed."""

    @action("Show what happens", when=lambda figure: figure.heights is None)
    def show(self) -> None:
        try:
            results = [float(y) for y in self.real()]
        except NameError as error:
            raise ValueError(f"{error}. Run the cell above that defines it, then press again.") from error
        if len(results) != len(self.names):
            raise ValueError(f"There are {len(self.names)} places, and real() gave {len(results)} numbers.")
        if self.touched:
            progress.update(self.key, drawn=self.drawn)
        self.heights = [math.log10(y) if y > 0 else self.low for y in results] if self.log else results

    @action("Draw again", when=lambda figure: figure.heights is not None)
    def again(self) -> None:
        self.heights = None

    def said(self, height: float) -> str:
        """A height as people write it."""
        if not self.log:
            return number(height, 3)
        return f"10{str(int(height)).translate(RAISED)}" if height == int(height) else number(10**height, 2)

    def sentence(self) -> str:
        if self.heights is None:
            return f"Draw the {self.ylabel or 'curve'}: drag across the picture, or move the sliders. Then press “Show what happens”."
        if not self.touched:
            values = [self.said(y) for y in self.heights]
            return (f"You have not drawn anything. It is {', '.join(values[:-1])} and {values[-1]} at "
                    f"{', '.join(self.names[:-1])} and {self.names[-1]}.")  # fmt: skip
        gaps = [abs(y - d) for y, d in zip(self.heights, self.drawn, strict=True)]
        k = max(range(len(gaps)), key=gaps.__getitem__)
        if gaps[k] <= 0.08 * (self.high - self.low):
            return "That is the curve, as far as a hand can draw it."
        shape, mine = _shape(self.heights), _shape(self.drawn)
        same = mine[0] == shape[0]
        forms = f"Both {_both(shape[1])}." if same else f"Yours {mine[1]}. The real one {shape[1]}."
        return (f"The largest difference is at {self.names[k]}: you drew {self.said(self.drawn[k])}, and it is "
                f"{self.said(self.heights[k])}. {forms}")  # fmt: skip

    def table(self) -> Table:
        real = [self.said(y) for y in self.heights] if self.heights is not None else ["·"] * len(self.names)
        rows = [[name, self.said(y), r] for name, y, r in zip(self.names, self.drawn, real, strict=True)]
        return Table((self.xlabel or "x", "drawn", "it is"), rows)

    def draw(self) -> str:
        n = len(self.names)

        def at(k: int, y: float) -> tuple[float, float]:
            y = min(max(y, self.low), self.high) if math.isfinite(y) else self.high
            return LEFT + (RIGHT - LEFT) * k / (n - 1), BOTTOM - (BOTTOM - TOP) * (y - self.low) / (
                self.high - self.low
            )

        out = ""
        for k, name in enumerate(self.names):
            x, _ = at(k, self.low)
            out += tag("line", "grid", x1=x, x2=x, y1=TOP, y2=BOTTOM) + label(x, BOTTOM + 18, name, "t soft", "middle")
        for y in self._ticks():
            _, place = at(0, y)
            out += tag("line", "grid", x1=LEFT, x2=RIGHT, y1=place, y2=place)
            out += label(LEFT - 10, place + 4, self.said(y), "t soft", "end")
        out += label((LEFT + RIGHT) / 2, BOTTOM + 40, self.xlabel, "t", "middle") + label(
            LEFT, TOP - 6, self.ylabel, "t"
        )
        out += self._curve([at(k, y) for k, y in enumerate(self.drawn)], "fwd", "5 4" if not self.touched else "")
        if self.heights is not None:
            out += self._curve([at(k, y) for k, y in enumerate(self.heights)], "bwd", "")
            out += label(RIGHT + 12, at(n - 1, self.heights[-1])[1] + 4, "it is", "t b bwd")
        if self.touched:
            yours = at(n - 1, self.drawn[-1])[1] + 4
            if self.heights is not None and abs(yours - (its := at(n - 1, self.heights[-1])[1] + 4)) < 16:
                yours = its + (16 if yours >= its else -16)
            out += label(RIGHT + 12, yours, "yours", "t b fwd")
        else:
            out += label(
                (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2 - 12, "" if self.heights else "drag here", "t soft", "middle"
            )
        board = {
            "names": [f"at {k}" for k in range(n)],
            "low": self.low,
            "high": self.high,
            "step": (self.high - self.low) / STEPS,
        }
        if self.heights is None:
            out += tag("rect", x=LEFT - EDGE, y=TOP, width=RIGHT - LEFT + 2 * EDGE, height=BOTTOM - TOP, data_draw=json.dumps(board),
                       data_edge=EDGE, style="fill:transparent;cursor:crosshair")  # fmt: skip
        return svg(690, BOTTOM + 54, out, self.sentence())

    def _ticks(self) -> list[float]:
        """Heights with a line across: whole powers of ten, or five places."""
        if not self.log:
            return [self.low + (self.high - self.low) * part / 4 for part in range(5)]
        first, last = math.ceil(self.low), math.floor(self.high)
        return [float(y) for y in range(first, last + 1, max(1, math.ceil((last - first) / 4)))]

    @staticmethod
    def _curve(points: list[tuple[float, float]], owner: str, dashes: str) -> str:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        style = f"fill:none;stroke:var(--{owner});stroke-width:2.5"
        out = tag("polyline", points=path, style=style, **({"stroke_dasharray": dashes} if dashes else {}))
        return out + "".join(tag("circle", cx=x, cy=y, r=4.5, style=f"fill:var(--{owner})") for x, y in points)


def _shape(heights: Sequence[float]) -> tuple[str, str]:
    """What a curve does, as a key and in words."""
    finite = [y for y in heights if math.isfinite(y)] or [0.0]
    small = 0.05 * (max(finite) - min(finite))
    falls = all(b <= a + small for a, b in zip(heights, heights[1:], strict=False))
    rises = all(b >= a - small for a, b in zip(heights, heights[1:], strict=False))
    if falls and rises:
        return "flat", "stays where it is"
    if falls or rises:
        return ("falls", "falls all the way") if falls else ("rises", "rises all the way")
    least, most = min(range(len(heights)), key=heights.__getitem__), max(range(len(heights)), key=heights.__getitem__)
    if 0 < least < len(heights) - 1:
        return "valley", "falls first and then rises"
    return ("hill", "rises first and then falls") if 0 < most < len(heights) - 1 else ("", "goes up and down")


def _both(words: str) -> str:
    """The same for two curves: 'fall first and then rise'."""
    for one, two in (("stays", "stay"), ("it is", "they are"), ("falls", "fall"), ("rises", "rise"), ("goes", "go")):
        words = words.replace(one, two)
    return words
