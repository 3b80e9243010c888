"""What a still page shows of a graph: the cards and the layout that are legible in a column of a given width.

What lives here: choosing, as the live view chooses for a stage of that width (front/src/picture/viewport.js): the graph as it is, else in
bands, else as flat cards, else with fewer cards. What does not: making these pictures (layout.py, bands.py, rows.py), drawing (static.py).
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from minigrad.tracing.trace import Trace

from .bands import bands
from .layout import PAGE_WIDTH as WIDTH
from .layout import TALL, Framed, Mark, Picture, layout
from .rows import rows

__all__ = ["WIDTH", "Scene", "banded", "fitting", "pictures"]

MOST = 24  # more cards than these never fit, and are not laid out
SIDES = 96.0, 44.0  # what the ways between bands take of the width, many and few

Scene = tuple[Trace, Sequence[Framed], Mark | None]  # what is drawn: the cards, the frames around them, a mark on one of them


def pictures(scene: Scene, width: float, drawn: Picture | None = None) -> Iterator[Picture]:
    """The same cards, in the order in which they are tried: each next picture is narrower or lower, and says less. drawn: the first one."""
    trace, frames, mark = scene
    whole = drawn or layout(trace, frames, mark=mark)
    yield whole
    yield from bands(whole, widths=_widths(width))
    flat = layout(trace, frames, mark=mark, flat=True)
    yield flat
    yield from bands(flat, widths=_widths(width))


def banded(picture: Picture, width: float = WIDTH) -> Picture:
    """The same cards in as many bands as the width needs."""
    return next((p for p in (picture, *bands(picture, widths=_widths(width))) if p["w"] <= width), picture)


def _widths(width: float) -> tuple[float, ...]:
    return (*(width - sides for sides in reversed(SIDES)), width * 0.7)


def fitting(fewer: Callable[[int], Scene | None], first: Scene, width: float, drawn: Picture | None = None) -> tuple[Trace, Picture]:
    """The cards of `first` in the first picture that fits, or fewer of them. fewer: the graph with at most so many cards, if there is
    such a one. Where nothing fits, a column, or what is narrowest."""
    found: list[tuple[Trace, Picture]] = []
    scene: Scene | None = first
    if len(first[0]["nodes"]) > MOST:
        scene = fewer(MOST) or first
    while scene is not None:
        for picture in pictures(scene, width, drawn if scene is first else None):
            if picture["w"] <= width and picture["h"] <= TALL or len(picture["cards"]) == 1:
                return scene[0], picture
            found.append((scene[0], picture))
        last, scene = scene, fewer(len(scene[0]["nodes"]) * 3 // 4)
    found.append((last[0], rows(last[0], found[-1][1])))
    return min(found, key=lambda pair: (max(width, pair[1]["w"]), pair[1]["h"]))
