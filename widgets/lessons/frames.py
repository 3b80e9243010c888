"""A picture whose every moment is sent at once: the browser steps, plays and scrubs it without asking the kernel.

Frames are a ground that stands still, takes over it, and a sentence for each moment; `moment` is what front/src/frames.js does, for the
stored twin. In a take's SVG, attributes say what changes: `data-points` (a trail, up to the moment),
`data-move` (positions, separated by spaces), `data-text` (texts, separated by |), `data-on` (spans of moments such as "0-3 7-9").
"""

from __future__ import annotations

import re
from typing import Any

from .kit import END, Figure, Moments, declared
from .lesson import STYLE

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


class Frames(Figure):
    """A figure whose moments are sent at once (`roll`); `take` names the control that chooses among the takes, if there is one."""

    take = ""

    def roll(self, ground: str, takes: dict[Any, dict[str, Any]]) -> None:
        """Put in another film. takes: for each value of the control `take`, `body` (SVG) and `says` (a sentence for each moment)."""
        at = next(field.name for field in declared(type(self)) if isinstance(field, Moments))
        self._ground, self.takes = ground, takes
        self.film = {"ground": ground.replace(STYLE, ""), "takes": [*takes.values()], "at": at, "take": self.take}

    @property
    def _take(self) -> dict[str, Any]:
        return self.takes[getattr(self, self.take) if self.take else None]

    @property
    def last(self) -> int:  # type: ignore[override]
        return len(self._take["says"]) - 1 if self.film else END

    def draw(self) -> str:
        return moment(self._ground, self._take["body"], getattr(self, self.film["at"]))

    def sentence(self) -> str:
        return self._take["says"][getattr(self, self.film["at"])]
