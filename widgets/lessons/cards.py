"""The graph view's cards, wires and pills, for the graphs in lessons.

What lives here: how they look, and where they stand so that their words are legible on a page. What does not: what a lesson writes on
them, the picture of a whole trace (static.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from minigrad.tracing.trace import Trace

from ..layout import CARD_PAD, Picture, layout
from ..static import arrow
from .lesson import label, tag

ROOM = 850.0  # a wider picture's words of 12 pixels would be lower than 9 in a column of page.WIDTH


def places(trace: Trace) -> Picture:
    """Where cards and wires stand: in one row where there is room, if need be with columns that stand closer, else downwards."""
    wide = layout(trace, tagged=False)
    near = wide if wide["w"] <= ROOM else layout(trace, tagged=False, close=True)
    return near if near["w"] <= ROOM else layout(trace, tagged=False, down=True)


def wire(d: str, back: bool = False, kind: str = "") -> str:
    """A wire and its head. back: something has gone back over it."""
    line, head = arrow(d, back)
    looks = " ".join(["", *["sent"] * back, *kind.split()])
    return tag("path", f"wire{looks}", d=line) + tag("path", f"tip{looks}", d=head)


def straight(start: float, end: float, y: float, back: bool = False) -> str:
    """A level wire whose head is at `end`."""
    first, last = (end, start) if back else (start, end)  # a wire runs from the operand to the result
    middle = (start + end) / 2
    return wire(f"M{first:.1f} {y:.1f}C{middle:.1f} {y:.1f} {middle:.1f} {y:.1f} {last:.1f} {y:.1f}", back)


def card(place: Mapping[str, Any], rows: Iterable[tuple[str, str, str]], kind: str = "", group: str = "") -> str:
    """A card at its place (x, y, w, h, name, expr). rows: caption, text, colour; group: the class of all of it."""
    right = place["w"] - CARD_PAD
    out = tag("rect", f"card {kind}".strip(), width=place["w"], height=place["h"], rx=9) + label(
        CARD_PAD, 21, place["name"], "v b"
    )
    if place["expr"]:
        out += label(right, 21, place["expr"], "num s soft", "end")
    for k, (caption, text, colour) in enumerate(rows):
        y = (38 if "constant" in kind else 42) + 18 * k
        if not text:
            out += label(CARD_PAD, y, caption, f"s {colour or 'soft'}")
            continue
        if 8.2 * len(text) + 7 * len(caption) + 2 * CARD_PAD + 6 < place["w"]:
            out += label(CARD_PAD, y, caption, "s soft")
        out += label(right, y, text, f"num v b {colour}".strip(), "end")
    return tag("g", group, out, transform=f"translate({place['x']:.1f},{place['y']:.1f})")


def pill(x: float, y: float, text: str, kind: str = "", colour: str = "bwd b") -> str:
    """What a wire multiplies by, or has carried."""
    wide = 15 + 6.9 * len(text)
    out = tag("rect", f"pill {kind}".strip(), x=x - wide / 2, y=y - 10, width=wide, height=20, rx=10)
    return out + label(x, y + 4, text, f"num s {colour}", "middle")
