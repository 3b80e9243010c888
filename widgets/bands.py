"""A wide picture in bands, one below the other, as a long line of text is set: for a stage or a page that is narrower than the picture.

What lives here: where a picture is cut, and what its pieces and the wires between them look like. What does not: the layout (layout.py),
which of several widths is shown (front/src/picture/viewport.js, static pictures). A cut goes between two columns, through no card and no
pill; a wire that it cuts goes on around the end of its band to the beginning of the next one, and no two such ways cross.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from .layout import FRAME_SIDE, FRAME_TOP, MANY, Card, Frame, Picture

WIDTHS = 1400.0, 840.0, 500.0  # of a band, at most: a stage takes the one that it shows largest and whole
STAGE = 1078.0, 448.0  # pixels of a stage that shows such an overview
ROUND = 7.0  # of the corners of a way from band to band
SIDES = 96.0, 44.0  # what the ways between bands take of the width, many and few
# Of a stage's width: bands that are narrower than the stage may be lower, because they cut elsewhere
PARTS = (
    0.87,
    0.8,
    0.73,
)
NEARLY = 1.15  # of the narrowest bands: so much wider they may be where that cuts fewer wires
LONE = 10_000  # as bad as so many cut wires is a band without a card
LANE, CLEAR = 7.0, 12.0  # between two such ways, and between them and the cards

Point = tuple[float, float]
Piece = tuple[Point, Point, Point, Point]  # a cubic


def bands(picture: Picture, also: float = 0.0, widths: Sequence[float] = WIDTHS) -> list[Picture]:
    """The picture in fewer and fewer columns, of these widths at most; [] if it is narrow already. also: a further width that is wanted."""
    if len(picture["cards"]) > MANY:
        return []
    out: dict[int, Picture] = {}
    spans = _columns(picture)
    crossing, carded = _crossing(picture, spans), _carded(picture, spans)
    requested = (
        {also - side for side in (0.0, *SIDES)} | {also * part for part in PARTS} if also > max(SIDES) else set()
    )
    for width in sorted({*widths, *requested}, reverse=True):
        cuts = _cuts(spans, width, crossing, carded) if picture["w"] > width else []
        if cuts and len(cuts) not in out:
            out[len(cuts)] = _banded(picture, cuts)
    return [*out.values()]


def overview(picture: Picture) -> list[Picture]:
    """A picture of very many cards in as many bands as show it largest on a whole stage; [] if that is not much larger than one band."""
    spans, ends = _columns(picture), sorted((c["x"], c["y"], c["y"] + c["h"]) for c in picture["cards"])

    def zoom(count: int) -> float:
        """With so many bands of equal width."""
        width, high = picture["w"] / count, 0.0
        for _, band in itertools.groupby(ends, lambda end: end[0] // width):
            _, tops, lows = zip(*band, strict=True)
            high += max(lows) - min(tops) + 4 * CLEAR
        return min(STAGE[0] / width, STAGE[1] / high)

    count = max(range(1, len(spans) + 1), key=zoom)
    if zoom(count) < 1.5 * zoom(1):
        return []
    return [_banded(picture, _cuts(spans, picture["w"] / count, _crossing(picture, spans), _carded(picture, spans)))]


def _columns(picture: Picture) -> list[tuple[float, float]]:
    """From where to where cards and pills reach that stand above each other, from left to right."""
    reach = [(c["x"], c["x"] + c["w"]) for c in picture["cards"]]
    pills: list[Any] = [*picture["wires"], *picture.get("cuts", ())]
    reach += [(w["px"] - w["pw"] / 2, w["px"] + w["pw"] / 2) for w in pills if w["pw"]]
    # Nothing is cut between tag and card
    reach += [(w["tag"]["x"], _pieces(w["d"])[-1][3][0]) for w in picture["wires"] if "tag" in w]
    out: list[tuple[float, float]] = []
    for left, right in sorted(reach):
        if out and left < out[-1][1] + 4:
            out[-1] = out[-1][0], max(out[-1][1], right)
        else:
            out.append((left, right))
    return out


def _crossing(picture: Picture, spans: list[tuple[float, float]]) -> list[int]:
    """How many wires go through each gap between two columns."""
    ends = [
        (points[0], points[-2]) for w in [*picture["wires"], *picture.get("cuts", ())] if (points := _numbers(w["d"]))
    ]
    return [sum(start <= right and end >= left for start, end in ends)
            for (_, right), (left, _) in zip(spans, spans[1:], strict=False)]  # fmt: skip


def _carded(picture: Picture, spans: list[tuple[float, float]]) -> list[bool]:
    """Are there cards in each column, or only pills?"""
    return [any(left <= c["x"] <= right for c in picture["cards"]) for left, right in spans]


def _cuts(spans: list[tuple[float, float]], width: float, crossing: list[int], carded: list[bool]) -> list[float]:
    """Where to cut so that there are as few bands of this width as possible, and these nearly as narrow as they can be: there, where the
    fewest wires are cut, and so that no band has only pills."""
    low, high = max(right - left for left, right in spans), max(width, *(right - left for left, right in spans))
    count = len(_packed(spans, high))
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if len(_packed(spans, middle)) <= count else (middle, high)
    room = min(max(width, high), high * NEARLY)
    # The best way to end a band at each column: its cost, and where the band before it ended.
    best: list[dict[int, tuple[int, float, int]]] = [{} for _ in spans]
    for k, (_, right) in enumerate(spans):
        for start in range(k, -1, -1):
            long, lone = right - spans[start][0], 0 if any(carded[start : k + 1]) else LONE
            if long > room:
                break
            for number, (cost, longest, _) in best[start - 1].items() if start else [(0, (0, 0.0, -1))]:
                if number <= count:
                    now = (cost + lone + (crossing[start - 1] if start else 0), max(longest, long), start - 1)
                    best[k][number + 1] = min(best[k].get(number + 1, now), now)
    cuts: list[float] = []
    k = len(spans) - 1
    for number in range(count + 1, 1, -1):
        k = best[k][number][2]
        cuts.insert(0, float(round((spans[k][1] + spans[k + 1][0]) / 2)))  # whole pixels make a shorter message
    return cuts


def _packed(spans: list[tuple[float, float]], room: float) -> list[int]:
    """After which columns a band is full."""
    out, start = [], spans[0][0]
    for k, (left, right) in enumerate(spans[1:]):
        if right - start > room:
            out.append(k)
            start = left
    return out


class _Way:
    """The part of a wire inside one band."""

    def __init__(self, pieces: list[Piece]):
        self.pieces = pieces

    @property
    def start(self) -> Point:
        return self.pieces[0][0]

    @property
    def end(self) -> Point:
        return self.pieces[-1][3]


def _banded(picture: Picture, cuts: list[float]) -> Picture:
    edges = [0.0, *cuts, picture["w"]]
    count = len(edges) - 1

    def band(x: float) -> int:
        return sum(x > cut for cut in cuts)

    lines: list[Any] = [*picture["wires"], *picture.get("cuts", ())]
    tags = [wire["tag"] for wire in picture["wires"] if "tag" in wire]
    ways = [_split(_pieces(wire["d"]), cuts) for wire in lines]
    for b in range(count):
        _pull_in([parts[b] for parts in ways if b in parts], _reach(picture, lines, tags, b, band))
    crossing = [[k for k, parts in enumerate(ways) if b in parts and b + 1 in parts] for b in range(count - 1)]
    margin = CLEAR + ROUND + LANE * max(len(result) for result in crossing)
    tops: list[float] = []
    lows: list[float] = []
    for b in range(count):
        heights = [*_reach(picture, lines, tags, b, band)]
        heights += [point[1] for parts in ways if b in parts for piece in parts[b].pieces for point in piece]
        heights += [y for f in _framed(picture, edges, b) for y in (f["y"], f["y"] + f["h"])]
        tops.append(min(heights))
        lows.append(max(heights))
    dx, dy, gutters, y = [], [], [], 14.0
    for b in range(count):
        dx.append(margin - edges[b])
        dy.append(float(round(y - tops[b])))
        y = float(math.ceil(y + lows[b] - tops[b] + CLEAR))
        gutters.append(y)
        y += LANE * max(0, len(crossing[b]) - 1) + CLEAR if b < count - 1 else 0.0
    cards: list[Card] = []
    wires: list[Any] = []
    for card in picture["cards"]:
        b = band(card["x"])
        cards.append(Card(**{**card, "x": round(card["x"] + dx[b], 1), "y": round(card["y"] + dy[b], 1)}))  # type: ignore[typeddict-item]
    for k, (wire, parts) in enumerate(zip(lines, ways, strict=True)):
        line: list[Piece] = []
        for b, way in parts.items():
            moved = [tuple((px + dx[b], py + dy[b]) for px, py in piece) for piece in way.pieces]
            if line:
                lane = _lane(k, crossing[b - 1], ways, b - 1)
                line += _around(line[-1][3], moved[0][0], gutters[b - 1], lane, len(crossing[b - 1]))
            line += moved  # type: ignore[arg-type]
        b = band(wire["px"])
        wires.append(
            {**wire, "d": written(line), "px": round(wire["px"] + dx[b], 1), "py": round(wire["py"] + dy[b], 1)}
        )
        if tag := wire.get("tag"):
            wires[-1]["tag"] = {**tag, "x": round(tag["x"] + dx[b], 1), "y": round(tag["y"] + dy[b], 1)}
    w = max(right - left for left, right in zip(edges, edges[1:], strict=False)) + 2 * margin
    out = Picture(
        w=round(w, 1), h=round(y + 2, 1), cards=cards, wires=wires[: len(picture["wires"])], prog=picture["prog"]
    )
    if "cuts" in picture:
        out["cuts"] = wires[len(picture["wires"]) :]
    if "frames" in picture:
        out["frames"] = [Frame(**{**f, "x": round(f["x"] + dx[b], 1), "y": round(f["y"] + dy[b], 1)})  # type: ignore[typeddict-item]
                         for b in range(count) for f in _framed(picture, edges, b)]  # fmt: skip
    return out


def _reach(
    picture: Picture, lines: list[Any], tags: list[Any], b: int, band: Callable[[float], int]
) -> tuple[float, float]:
    """From where to where the cards, pills and tags of a band reach."""
    heights = [y for c in picture["cards"] if band(c["x"]) == b for y in (c["y"], c["y"] + c["h"])]
    heights += [y for w in lines if w["pw"] and band(w["px"]) == b for y in (w["py"] - 10, w["py"] + 10)]
    heights += [y for tag in tags if band(tag["x"]) == b for y in (tag["y"] - 10, tag["y"] + 10)]
    return min(heights), max(heights)


def _pull_in(ways: list[_Way], reach: tuple[float, float]) -> None:
    """A wire that was made for cards in other bands need not run far above or below those of its own."""
    for sign, edge in ((1, reach[1]), (-1, -reach[0])):
        far = [
            way
            for way in ways
            if max(sign * p[1] for piece in way.pieces for p in (piece[0], piece[3])) > edge + 2 * CLEAR
        ]
        # In their order, so that none crosses another
        for k, way in enumerate(sorted(far, key=lambda way: sign * way.start[1])):
            most = edge + CLEAR + LANE * k
            way.pieces = [tuple((x, sign * min(sign * y, most)) for x, y in piece) for piece in way.pieces]  # type: ignore[misc]


def _framed(picture: Picture, edges: list[float], b: int) -> list[Frame]:
    """The frames of one band. A frame that is cut by the band's end continues in the next one."""
    out = []
    for frame in picture.get("frames", ()):
        left, right = max(frame["x"], edges[b] + 3), min(frame["x"] + frame["w"], edges[b + 1] - 3)
        inside = [
            c for c in picture["cards"] if left < c["x"] < right and frame["y"] < c["y"] < frame["y"] + frame["h"]
        ]
        if not inside:
            continue
        top, bottom = frame["y"], frame["y"] + frame["h"]
        if right - left < frame["w"] - 0.2:  # the cards that made it high may be in another band
            top = max(top, min(c["y"] for c in inside) - FRAME_TOP * _deep(picture, frame))
            bottom = min(bottom, max(c["y"] + c["h"] for c in inside) + FRAME_SIDE * _deep(picture, frame))
        part = {**frame, "x": left, "y": top, "w": round(right - left, 1), "h": round(bottom - top, 1)}
        out.append(Frame(**part))  # type: ignore[typeddict-item]
    return out


def _deep(picture: Picture, frame: Frame) -> int:
    """The depth of nesting, counted from this frame inwards."""
    x, y, right, low = frame["x"], frame["y"], frame["x"] + frame["w"], frame["y"] + frame["h"]
    inner = [
        f for f in picture["frames"] if f["x"] > x and f["y"] > y and f["x"] + f["w"] < right and f["y"] + f["h"] < low
    ]
    return 1 + max((_deep(picture, f) for f in inner), default=0)


def _numbers(d: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?[\d.]+", d)]


def _pieces(d: str) -> list[Piece]:
    n = _numbers(d)
    points = list(zip(n[::2], n[1::2], strict=True))
    return [(points[k], points[k + 1], points[k + 2], points[k + 3]) for k in range(0, len(points) - 1, 3)]


def _split(pieces: list[Piece], cuts: list[float]) -> dict[int, _Way]:
    """The pieces of a wire by band, from left to right."""
    out: dict[int, list[Piece]] = {}
    for piece in pieces:
        rest, b = piece, sum(piece[0][0] >= cut for cut in cuts)
        b = max([b, *out])  # where a line swings back over the cut it stays in its band
        while b < len(cuts) and rest[3][0] > cuts[b]:
            head, rest = _halves(rest, _where(rest, cuts[b]))
            out.setdefault(b, []).append(head)
            b += 1
        out.setdefault(b, []).append(rest)
    return {b: _Way(result) for b, result in out.items()}


def _at(piece: Piece, t: float) -> Point:
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = piece
    a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
    return a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3


def _where(piece: Piece, x: float) -> float:
    """At which t a piece that goes to the right passes x."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if _at(piece, middle)[0] < x else (low, middle)
    return low


def _halves(piece: Piece, t: float) -> tuple[Piece, Piece]:
    def between(a: Point, b: Point) -> Point:
        return a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t

    p0, p1, p2, p3 = piece
    a, b, c = between(p0, p1), between(p1, p2), between(p2, p3)
    d, e = between(a, b), between(b, c)
    f = between(d, e)
    return (p0, a, d, f), (f, e, c, p3)


def _lane(k: int, crossing: list[int], ways: list[dict[int, _Way]], b: int) -> int:
    """The way that leaves its band lowest turns first; one that leaves above it goes around it."""
    return sorted(crossing, key=lambda j: (-ways[j][b].end[1], j)).index(k)


def _around(start: Point, end: Point, gutter: float, lane: int, lanes: int) -> list[Piece]:
    """From the end of a band down, back to the left and into the next band."""
    right, left, y = start[0] + LANE * lane, end[0] - LANE * (lanes - 1 - lane), gutter + LANE * lane
    r = ROUND
    return rounded([start, (right + r, start[1]), (right + r, y), (left - r, y), (left - r, end[1]), end])


def rounded(corners: list[Point], r: float = ROUND) -> list[Piece]:
    """A way along these corners."""
    out: list[Piece] = []
    at, end = corners[0], corners[-1]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        near, off = _toward(corner, before, r), _toward(corner, after, r)
        out += [(at, at, near, near), (near, corner, corner, off)]
        at = off
    return [*out, (at, at, end, end)]


def _toward(a: Point, b: Point, by: float) -> Point:
    """A point `by` away from a on the way to b, or halfway if that is nearer."""
    long = abs(b[0] - a[0]) + abs(b[1] - a[1])
    share = min(by, long / 2) / long if long else 0.0
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


def written(pieces: list[Piece]) -> str:
    def pair(p: Point) -> str:
        return " ".join(f"{v:.1f}".removesuffix(".0") for v in p)

    return f"M{pair(pieces[0][0])}C" + " ".join(pair(p) for piece in pieces for p in piece[1:])
