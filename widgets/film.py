"""A picture whose every moment is sent at once: the browser steps, plays and scrubs it without asking the kernel.

What lives here: `Film` (a ground that stands still, takes over it, a sentence for each moment) and `moment`, the same in Python for the
static twin. What does not: what a film shows. In a take's SVG, attributes say what changes: `data-points` (a trail, up to the moment),
`data-move` (positions, separated by spaces), `data-text` (texts, separated by |), `data-on` (spans of moments such as "0-3 7-9").
"""

from __future__ import annotations

import re

import traitlets

from .front_end import Fronted

SLOT = '<g class="film"></g>'  # where a take goes in the ground


def moment(ground: str, take: str, k: int) -> str:
    """The picture at moment k, as a plain SVG."""

    def on(m: re.Match) -> str:
        spans = [span.split("-") for span in m[1].split()]
        return "" if any(int(a) <= k <= int(b) for a, b in spans) else ' visibility="hidden"'

    take = re.sub(r' data-points="([^"]*)"', lambda m: f' points="{" ".join(m[1].split()[: k + 1])}"', take)
    take = re.sub(r' data-move="([^"]*)"', lambda m: f' transform="translate({_at(m[1].split(), k)})"', take)
    take = re.sub(r' data-text="([^"]*)">', lambda m: f">{_at(m[1].split('|'), k)}", take)
    return ground.replace(SLOT, re.sub(r' data-on="([^"]*)"', on, take))


def _at(items: list[str], k: int) -> str:
    return items[min(k, len(items) - 1)]


class Film(Fronted):
    """`takes`: dicts with `label` (what the second slider says), `body` (SVG) and `says` (a sentence for each moment)."""

    ground = traitlets.Unicode("").tag(sync=True)
    takes = traitlets.List(traitlets.Dict()).tag(sync=True)
    take = traitlets.Int(0).tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    names = traitlets.List(traitlets.Unicode(), ["step", "take"]).tag(sync=True)  # what the two sliders are called

    def __init__(self, **state):
        super().__init__(part="film", **state)

    @traitlets.validate("take", "at")
    def _exists(self, proposal):
        """A moment that there is: the numbers come from a page."""
        most = len(self.takes) - 1 if proposal["trait"].name == "take" else self.last
        return max(0, min(proposal["value"], most))

    def show(self, ground: str, takes: list[dict], take: int = 0, at: int | None = None) -> None:
        """Put in another film: all of it, then where it stands (by default at its end)."""
        with self.hold_sync():
            self.ground, self.takes, self.take = ground, takes, take
            self.at = self.last if at is None else at

    @property
    def last(self) -> int:
        return len(self.takes[self.take]["says"]) - 1 if self.takes else 0

    def picture(self) -> str:
        return moment(self.ground, self.takes[self.take]["body"], min(self.at, self.last))

    def sentence(self) -> str:
        return _at(self.takes[self.take]["says"], self.at)
