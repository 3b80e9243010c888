"""A progress bar for training loops: how many steps are done, and how long the rest will take.

What lives here: `progress(iterable)`. What does not: training. The bar is drawn at most ten times a second, so that it costs nothing; a
saved notebook keeps one line of text that is the same on every machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

import ipywidgets
from IPython.display import display

from .lesson import Lesson, say

EVERY = 0.1  # seconds between two drawings


class progress:  # noqa: N801 - used like a function
    """Go through `iterable` and show a bar; `note` is a sentence beside it, and may be set at any time.

    >>> for step in progress(range(3), "three steps"):
    ...     print(step)
    three steps: 3 in all
    0
    1
    2
    """

    def __init__(self, iterable: Iterable, name: str = "training"):
        self.items = list(iterable) if not hasattr(iterable, "__len__") else iterable
        self.total, self.name, self.note, self.done = len(self.items), name, "", 0  # type: ignore[arg-type]
        self.bar = ipywidgets.IntProgress(value=0, min=0, max=max(self.total, 1), layout={"width": "260px"})
        self.words = ipywidgets.HTML()
        row = ipywidgets.HBox([self.bar, self.words], layout={"align_items": "center"})
        self.lesson = Lesson([row], picture=lambda: "", text=self.text)
        self.lesson.add_class("mg-progress")

    def text(self) -> str:
        return f"{self.name}: {self.total:,} in all"

    def __len__(self) -> int:
        return self.total

    def __iter__(self) -> Iterator[Any]:
        display(self.lesson)
        began = last = time.monotonic()
        self.done = 0
        self._draw(began)
        for item in self.items:
            yield item
            self.done += 1
            if (now := time.monotonic()) - last >= EVERY:
                last = now
                self._draw(began)
        self._draw(began)

    def _draw(self, began: float) -> None:
        spent = time.monotonic() - began
        parts = [f"{self.name}: {self.done:,} of {self.total:,}"]
        if 0 < self.done < self.total and spent > 1:
            parts.append(f"{spent * (self.total - self.done) / self.done:.0f} s left")
        elif self.done == self.total:
            parts.append(f"{spent:.1f} s")
        self.bar.value = self.done
        self.words.value = say(" · ".join([*parts, *([self.note] if self.note else [])]), "plain").replace(' aria-live="polite"', "")
