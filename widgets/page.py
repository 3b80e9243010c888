"""What a still page shows of a graph: the cards and the layout that are legible in a column of a given width.

What lives here: choosing: the graph as it is, else in bands, else as flat cards, else with fewer cards. Of pictures of the same cards
`choice` takes the one that the live view takes on a stage of that width (front/src/picture/viewport.js; tests/front/picture.test.mjs
compares them). What does not: making these pictures (layout.py, bands.py, rows.py), drawing (static.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from minigrad.tracing.trace import Trace

from .bands import SIDES, bands
from .layout import ENOUGH, NARROW, PADDING, TALL, Framed, Mark, Picture, layout
from .layout import PAGE_WIDTH as WIDTH
from .rows import rows

__all__ = ["WIDTH", "Scene", "banded", "choice", "fitting", "pictures"]

MOST = 24  # more cards than these never fit, and are not laid out

Scene = tuple[Trace, Sequence[Framed], Mark | None]  # the trace, the frames around cards, the mark on one of them


def pictures(scene: Scene, width: float, drawn: Picture | None = None) -> Iterator[Picture]:
    """The same cards, in the order in which they are tried: each next picture is narrower or lower, and says less. drawn: the first one."""
    trace, frames, mark = scene
    full = drawn or layout(trace, frames, mark=mark)
    yield full
    yield from bands(full, widths=_widths(width))
    flat = layout(trace, frames, mark=mark, flat=True)
    yield flat
    yield from bands(flat, widths=_widths(width))


def banded(picture: Picture, width: float = WIDTH) -> Picture:
    """The same cards in as many bands as the width needs."""
    return next((p for p in (picture, *bands(picture, widths=_widths(width))) if p["w"] <= width), picture)


def _widths(width: float) -> tuple[float, ...]:
    return (*(width - sides for sides in reversed(SIDES)), width * 0.7)


def choice(pictures: Sequence[Picture], width: float) -> int:
    """Which of these pictures a page of this width shows: the first that can be read, else the one that needs to shrink least; a column
    only where the page is narrow, or where the column is whole and nothing else can be read."""
    narrow = width < (NARROW - PADDING) / ENOUGH
    full = [_zoom(p, width) for p in pictures]
    column = [p.get("column", False) for p in pictures]
    legible = {c for z, c in zip(full, column, strict=True) if z >= 1}
    zooms = [max(z, 1.0) if c and narrow else z for z, c in zip(full, column, strict=True)]
    some = [k for k, c in enumerate(column) if not c or narrow or legible == {True}]
    best = min(1.0, max(zooms[k] for k in some))
    return next(k for k in some if zooms[k] >= best)


def _zoom(picture: Picture, width: float) -> float:
    """How much larger a picture may be on a page of this width; below 1 its words are too small there."""
    return min(width / picture["w"], TALL / picture["h"])


def fitting(
    fewer: Callable[[int], Scene | None], first: Scene, width: float, drawn: Picture | None = None
) -> tuple[Trace, Picture]:
    """The cards of `first` in the first picture that fits, or fewer of them. fewer: the graph with at most so many cards, if there is
    such a one, and in the end as a column."""
    results: list[tuple[Trace, Picture]] = []
    scene: Scene | None = first
    if len(first[0]["nodes"]) > MOST:
        scene = fewer(MOST) or first
    while scene is not None:
        for picture in pictures(scene, width, drawn if scene is first else None):
            if _zoom(picture, width) >= 1 or len(picture["cards"]) == 1:
                return scene[0], picture
            results.append((scene[0], picture))
        last, scene = scene, fewer(len(scene[0]["nodes"]) * 3 // 4)
    results.append((last[0], rows(last[0], results[-1][1])))
    return results[choice([picture for _, picture in results], width)]
