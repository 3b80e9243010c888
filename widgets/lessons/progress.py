"""A progress bar for training loops: how many steps are done, how long the rest will take, and the curves so far.

It is drawn at most ten times a second, so that it costs nothing; a saved notebook keeps one line of text, the same on every machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from IPython.display import display

from .kit import Figure, LessonView
from .lesson import label, number, svg, tag

EVERY = 0.1  # seconds between two drawings
WIDE, HIGH = 800.0, 10.0
LEFT = 48.0  # room for the numbers beside the curves
CURVES = 90.0  # the height of the curves below the bar
POINTS = 200  # of a curve at most
COLOURS = ("fwd", "bwd")


class progress(Figure):  # noqa: N801 - used like a function
    """Go through `iterable` and show a bar; `note` is a sentence beside it, and may be set at any time. `curves` are lists that the loop
    appends to, under their names: they are drawn while it runs.

    >>> for step in progress(range(3), "three steps"):
    ...     print(step)
    three steps: 3 in all
    0
    1
    2
    """

    def __init__(self, iterable: Iterable, name: str = "training"):
        super().__init__()
        self.items = list(iterable) if not hasattr(iterable, "__len__") else iterable
        self.total, self.name, self.note, self.done = len(self.items), name, "", 0  # type: ignore[arg-type]
        self.began, self.busy = time.monotonic(), True
        self.curves: Mapping[str, Sequence[float]] = {}

    def __len__(self) -> int:
        return self.total

    def __iter__(self) -> Iterator[Any]:
        self.began = last = time.monotonic()
        self.done, self.busy = 0, True
        view = LessonView(self)
        display(view)
        for item in self.items:
            yield item
            self.done += 1
            if (now := time.monotonic()) - last >= EVERY:
                last = now
                view.refresh()
        self.busy = False
        view.refresh()

    def draw(self) -> str:
        full = WIDE * (self.done / self.total if self.total else 1.0)
        bar = tag("rect", "panel", width=WIDE, height=HIGH, rx=5) + tag(
            "rect", width=full, height=HIGH, rx=5, style="fill:var(--fwd)"
        )
        alt = f"{self.done} of {self.total} done"
        drawn = {name: result for name, values in self.curves.items() if len(result := thinned(values)) > 1}
        if not drawn:
            return svg(WIDE, HIGH, bar, alt)
        top = max(max(values) for values in drawn.values()) or 1.0
        for k, (name, values) in enumerate(drawn.items()):
            step = max(0.0, full - LEFT) / len(values)  # the curves end where the bar ends
            points = " ".join(
                f"{LEFT + (i + 1) * step:.1f},{HIGH + 8 + CURVES * (1 - v / top):.1f}" for i, v in enumerate(values)
            )
            bar += tag("polyline", points=points, style=f"fill:none;stroke:var(--{COLOURS[k % 2]});stroke-width:1.5")
            bar += label(WIDE, HIGH + 22 + 18 * k, f"{name} {number(values[-1], 3)}", f"t {COLOURS[k % 2]} halo", "end")
            alt += f"; {name} from {number(values[0], 3)} to {number(values[-1], 3)}"
        bar += label(4, HIGH + 22, number(top, 3)) + label(4, HIGH + CURVES + 6, "0")
        return svg(WIDE, HIGH + CURVES + 12, bar, alt)

    def still(self) -> str:
        return ""

    def sentence(self) -> str:
        return f"{self.name}: {self.total:,} in all"

    def caption(self) -> str:
        spent = time.monotonic() - self.began
        parts = [f"{self.name}: {self.done:,} of {self.total:,}"]
        if 0 < self.done < self.total and spent > 1:
            parts.append(f"{spent * (self.total - self.done) / self.done:.0f} s left")
        elif self.done == self.total:
            parts.append(f"{spent:.1f} s")
        return " · ".join([*parts, *([self.note] if self.note else [])])


def thinned(values: Sequence[float]) -> list[float]:
    """At most POINTS of the finite ones, the last one among them."""
    results = [float(v) for v in values if math.isfinite(v)]
    return results[:: -max(1, len(results) // POINTS)][::-1]
