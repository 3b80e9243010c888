"""A progress bar for training loops: how many steps are done, and how long the rest will take.

It is drawn at most ten times a second, so that it costs nothing; a saved notebook keeps one line of text, the same on every machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from IPython.display import display

from .kit import Figure, LessonView
from .lesson import svg, tag

EVERY = 0.1  # seconds between two drawings
WIDE, HIGH = 800.0, 10.0


class progress(Figure):  # noqa: N801 - used like a function
    """Go through `iterable` and show a bar; `note` is a sentence beside it, and may be set at any time.

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
        bar = tag("rect", "panel", width=WIDE, height=HIGH, rx=5) + tag("rect", width=full, height=HIGH, rx=5, style="fill:var(--fwd)")
        return svg(WIDE, HIGH, bar, f"{self.done} of {self.total} done")

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
