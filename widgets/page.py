"""What a still page shows of a graph: the cards and the layout that are legible in a column of a given width.

What lives here: choosing: the graph as it is, else as lower or narrower cards, else downwards, else with fewer cards. Of pictures of the
same cards `choice` takes the one that the live view takes on a stage of that width (front/src/picture/viewport.js;
tests/front/picture.test.mjs compares them). What does not: making these pictures (layout.py, rows.py), drawing (static.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from minigrad.tracing.trace import Trace

from .layout import PAGE_WIDTH as WIDTH
from .layout import TALL, WIDE, Framed, Mark, Picture, layout
from .rows import narrower

__all__ = ["MOST", "WIDE", "WIDTH", "Scene", "choice", "fitting", "pictures"]

MOST = 48  # more cards than these hardly ever fit, and are not laid out

Scene = tuple[Trace, Sequence[Framed], Mark | None]  # the trace, the frames around cards, the mark on one of them


def pictures(scene: Scene, drawn: Picture | None = None) -> list[Picture]:
    """The same cards, in the order in which they are tried: each next picture is narrower or lower, and says less. drawn: the first one."""
    trace, frames, mark = scene
    full = drawn or layout(trace, frames, mark=mark)
    return [full, *narrower(trace, full, frames, mark)]


def choice(pictures: Sequence[Picture], width: float) -> int:
    """Which of these pictures a page of this width shows: the first that is seen whole and legible, else of those that run down and are no
    wider than the page the lowest, else the narrowest of them, else the one that needs to shrink least."""
    every = range(len(pictures))
    if whole := [k for k in every if zoom(pictures[k], width) >= 1]:
        return whole[0]
    columns = [k for k in every if pictures[k].get("column", False)]
    if running := [k for k in columns if pictures[k]["w"] <= width]:
        return min(running, key=lambda k: pictures[k]["h"])
    if columns:
        return min(columns, key=lambda k: pictures[k]["w"])
    return max(every, key=lambda k: zoom(pictures[k], width))


def zoom(picture: Picture, width: float) -> float:
    """How much larger a picture may be on a page of this width; below 1 its words are too small there."""
    return min(width / picture["w"], TALL / picture["h"])


def fitting(
    fewer: Callable[[int], Scene | None], first: Scene, width: float, drawn: Picture | None = None
) -> tuple[Trace, Picture]:
    """The cards of `first` in the first picture that fits, or fewer of them. fewer: the graph with at most so many cards, if there is
    such a one."""
    scene: Scene | None = first
    if len(first[0]["nodes"]) > MOST:
        scene = fewer(MOST) or first
    while True:
        assert scene is not None
        of = pictures(scene, drawn if scene is first else None)
        best = of[choice(of, width)]
        less = fewer(len(scene[0]["nodes"]) * 3 // 4) if zoom(best, width) < 1 else None
        if less is None:
            return scene[0], best
        scene = less
