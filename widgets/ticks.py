"""The boxes below "Explain it" remember: what is ticked is written to the progress file, and into the output that is stored.

Without a kernel, and on a page, they are the HTML of `Comparison`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import ipywidgets

from minigrad.course import progress
from minigrad.course.result import Comparison, Note

from .stored import Stored


class Ticks(Stored, ipywidgets.VBox):
    """A comparison whose boxes are connected to this kernel."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        boxes = []
        for k, idea in enumerate(comparison.ticks):
            room = ipywidgets.Layout(width="auto", margin="0 0 0 16px")
            box = ipywidgets.Checkbox(value=k in comparison.ticked, description=idea, indent=False, layout=room)
            box.observe(partial(self._tick, k), "value")
            boxes.append(box)
        head, answers = Note(comparison.head)._repr_html_(), Note("", comparison.body)._repr_html_()
        super().__init__([ipywidgets.HTML(head), *boxes, ipywidgets.HTML(answers)])

    def moves(self) -> bool:
        return False

    def _tick(self, k: int, change: Any) -> None:
        ticked = tuple(sorted({*self._comparison.ticked, k} if change["new"] else {*self._comparison.ticked} - {k}))
        self._comparison = replace(self._comparison, ticked=ticked)
        progress.update(self._comparison.entry, ticks=list(ticked))
        self.store_again(None, repr(self._comparison), self._comparison._repr_html_())

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/plain": repr(self._comparison), "text/html": self._comparison._repr_html_()}


def show(comparison: Comparison) -> None:
    """How IPython displays a comparison."""
    Ticks(comparison)._ipython_display_()
