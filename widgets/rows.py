"""The layouts for narrower and lower stages, all in one direction; the last one is a column of low cards, each below its operands.

This file orders the rows of a column and routes its wires in lanes at their left. The other layouts are in layout.py; which one is shown is
decided in front/src/picture/viewport.js. Text has the same size on all of them. A row is lower because it has no heat maps and no pills on
its wires; the table below the picture has their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from minigrad.tracing.trace import Trace

from .layout import (
    BAND,
    CARD_PAD,
    HIGH,
    LINE,
    LOW,
    MANY,
    STACK,
    Card,
    CutWire,
    Frame,
    Framed,
    Mark,
    Picture,
    Wire,
    computes,
    fitted,
    layout,
    mention,
    short_count,
    shorten,
)

WIDE, THIN = 284.0, 190.0  # of a column; of the narrowest one
UPRIGHT = 700.0  # pixels of the height of a picture that runs down and has all: a higher one is not seen whole
PILLED = 12  # cards of single numbers whose wires keep their pills on a narrow stage
# Between cards; inside a frame; of a frame's name; of a detach line
GAP, SIDE, LID, CUT = (
    10.0,
    6.0,
    25.0,
    24.0,
)
# Between two lanes, and between the first of them and the cards; how many lanes there are at most
LANE, NEAR, MOST = (
    7.0,
    17.0,
    8,
)
# Where wires leave a card's left side, as a fraction of its height; where the first one arrives
LEAVES, ARRIVES = (
    0.76,
    11.0,
)


ROUND = 7.0  # of the corners of a way

Point = tuple[float, float]
Piece = tuple[Point, Point, Point, Point]  # a cubic


def narrower(
    trace: Trace, picture: Picture, frames: Sequence[Framed] = (), mark: Mark | None = None
) -> Iterator[Picture]:
    """The same for narrower and lower stages: closer; from top to bottom, if that is not high; of slim cards, at first with the heat
    maps of tensors or the pills on the wires between a few numbers; as a column. None for a single card; of very many only a column."""
    if 2 <= len(picture["cards"]) <= MANY:
        numbers = "arrays" not in trace
        if numbers:
            yield layout(trace, frames, mark=mark, close=True)
        if (upright := layout(trace, frames, mark=mark, down=True))["h"] <= UPRIGHT:
            yield upright
        for more in (True, False) if not numbers or len(picture["cards"]) <= PILLED else (False,):
            for down in (False, True):
                yield layout(trace, frames, mark=mark, slim=True, down=down, pills=more and numbers, sheets=more)
        yield rows(trace, picture)
        yield rows(trace, picture, THIN)
    elif picture["cards"][1:]:
        yield rows(trace, picture)


def rows(trace: Trace, picture: Picture, wide: float = WIDE) -> Picture:
    """The picture of a trace in one column, with the frames of the picture."""
    inside = _inside(picture)
    order = _order(trace, picture, inside)
    cuts = picture.get("cuts", [])
    deep = max((len(of) for of in inside.values()), default=0)
    lanes = 1
    for _ in range(2):  # the lanes are counted first, then there is room for them
        left = 6 + NEAR + LANE * (lanes - 1) + SIDE * deep
        cards, frames, low = _stacked(trace, picture, order, inside, left, wide)
        at = {card["id"]: card for card in cards}
        lane = _lanes(trace, cuts, at)
        lanes = max(lane.values(), default=0) + 1

    def x(source: int) -> float:
        return left - SIDE * deep - NEAR - LANE * lane[source]

    wires: list[Wire] = []
    arriving: dict[int, int] = {}
    for wire in picture["wires"]:
        edge = trace["edges"][wire["id"]]
        source, target = at[edge["source"]], at[edge["target"]]
        k = arriving[edge["target"]] = arriving.get(edge["target"], -1) + 1
        way, y0, y1 = x(edge["source"]), _leaves(source), target["y"] + min(target["h"] - 6, ARRIVES + 6 * k)
        d = written(rounded([(source["x"], y0), (way, y0), (way, y1), (target["x"], y1)]))
        wires.append(Wire(id=wire["id"], d=d, px=round(way, 1), py=round((y0 + y1) / 2, 1), pw=0.0))
    out = Picture(w=wide, h=round(low + 4, 1), cards=[at[card["id"]] for card in picture["cards"]], wires=wires, prog=picture["prog"],
                  column=True)  # fmt: skip
    if cuts:
        out["cuts"] = [_cut(cut, at, x(-1 - k)) for k, cut in enumerate(cuts)]
    if frames:
        out["frames"] = frames
    return out


def _inside(picture: Picture) -> dict[int, list[int]]:
    """The frames around each card, as places in the picture's list, outer ones first."""
    frames = picture.get("frames", [])

    def around(card: Card, f: Frame) -> bool:
        return f["x"] < card["x"] < f["x"] + f["w"] and f["y"] < card["y"] < f["y"] + f["h"]

    outer = sorted(range(len(frames)), key=lambda k: -frames[k]["w"] * frames[k]["h"])
    return {card["id"]: [k for k in outer if around(card, frames[k])] for card in picture["cards"]}


def _order(trace: Trace, picture: Picture, inside: dict[int, list[int]]) -> list[int]:
    """The nodes from top to bottom: operations in their order, an input just before its first use, outside of frames that it is not in."""
    parents: dict[int, list[int]] = {}
    for e in trace["edges"]:
        parents.setdefault(e["target"], []).append(e["source"])
    out: list[int] = []
    placed: set[int] = set()

    def put(node: int, user: int) -> None:
        if node in placed:
            return
        placed.add(node)
        other = next((f for f in inside[user] if f not in inside[node]), None)
        out.insert(next((k for k, n in enumerate(out) if other is not None and other in inside[n]), len(out)), node)

    for node in (n["id"] for n in trace["nodes"] if n["id"] in parents or n["kind"] == "fold"):
        for parent in parents.get(node, ()):
            put(parent, node)
        put(node, node)
    for n in trace["nodes"]:
        put(n["id"], n["id"])
    return out


def _stacked(
    trace: Trace, picture: Picture, order: list[int], inside: dict[int, list[int]], left: float, column: float
) -> tuple[list[Card], list[Frame], float]:
    """The cards and frames one below the other, and where they end."""
    cut = {c["target"] for c in picture.get("cuts", ())}
    old = {card["id"]: card for card in picture["cards"]}
    deep = max((len(of) for of in inside.values()), default=0)
    wide = column - left - SIDE * deep - 6
    tops: dict[int, float] = {}
    lows: dict[int, float] = {}
    cards: dict[int, Card] = {}
    y, before = 4.0, list[int]()
    for node in order:
        kind = trace["nodes"][node]["kind"]
        y += 4 * sum(f not in inside[node] for f in before)
        for f in inside[node]:
            if f not in tops:
                tops[f] = y
                y += LID
        y += CUT if node in cut else 0
        short = short_count(trace["nodes"][node])
        name, expr = fitted(trace["nodes"][node]["label"], computes(trace["nodes"][node]), wide - 2 * CARD_PAD, short)
        if "…" in name and not old[node]["name"].startswith("…"):
            name, expr = fitted(old[node]["name"], computes(trace["nodes"][node]), wide - 2 * CARD_PAD, short)
        more = STACK if kind == "fold" else 0.0
        card = Card(id=node, x=round(left, 1), y=round(y, 1), w=round(wide, 1), h=(LOW if kind == "constant" else HIGH) + more, name=name,
                    expr=expr, flat=True)  # fmt: skip
        mention(card, trace["nodes"][node])
        if lines := old[node].get("rows"):
            card["rows"], card["at"] = lines, old[node]["at"]
            card["h"] += BAND + LINE * len(lines)
        cards[node] = card
        y += card["h"] + GAP
        before = inside[node]
        lows |= {f: y - GAP + SIDE for f in before}
    frames = []
    for k, frame in enumerate(picture.get("frames", ())):
        if k in tops:
            depth = max(inside[n].index(k) for n in order if k in inside[n])
            x, w = left - SIDE * (deep - depth), wide + 2 * SIDE * (deep - depth)
            low = max(
                lows[j]
                for j in tops
                if j == k or any(k in of and j in of and of.index(j) > of.index(k) for of in inside.values())
            )
            name = shorten(frame["name"], int((w - 40) / 7.4))
            frames.append(Frame(fold=frame["fold"], name=name, x=round(x, 1), y=round(tops[k], 1), w=round(w, 1),
                                h=round(low - tops[k], 1)))  # fmt: skip
    return [*cards.values()], frames, y - GAP


def _leaves(card: Card) -> float:
    """Where on a card's left side its wires begin."""
    return round(card["y"] + card["h"] * LEAVES, 1)


def _lanes(trace: Trace, cuts: list[CutWire], at: dict[int, Card]) -> dict[int, int]:
    """The lane of each card's wires, and of cut k as of a card -1 - k: short ways nearest to the cards."""
    spans: dict[int, tuple[float, float]] = {}
    for e in trace["edges"]:
        ends = _leaves(at[e["source"]]), at[e["target"]]["y"] + ARRIVES
        low, high = spans.get(e["source"], ends)
        spans[e["source"]] = min(low, *ends), max(high, *ends)
    for k, c in enumerate(cuts):
        ends = _leaves(at[c["source"]]), at[c["target"]]["y"]
        spans[-1 - k] = min(ends), max(ends)
    lanes: list[list[tuple[float, float]]] = []
    out: dict[int, int] = {}
    for key, (low, high) in sorted(spans.items(), key=lambda item: (item[1][1] - item[1][0], item[0])):
        free = (k for k, others in enumerate(lanes) if all(high < a or b < low for a, b in others))
        out[key] = min(next(free, len(lanes)), MOST - 1)
        if out[key] == len(lanes):
            lanes.append([])
        lanes[out[key]].append((low, high))
    return out


def _cut(cut: CutWire, at: dict[int, Card], x: float) -> CutWire:
    """Route a cut wire: from its source down a lane to a separate line, and from there down into the result."""
    source, target = at[cut["source"]], at[cut["target"]]
    y0, y1, end = _leaves(source), target["y"] - CUT / 2 - 4, target["x"] + cut["pw"] + 14
    corners: list[Point] = [(source["x"], y0), (x, y0), (x, y1), (end, y1), (end, target["y"])]
    return CutWire(
        **{**cut, "d": written(rounded(corners)), "px": round(target["x"] + 4 + cut["pw"] / 2, 1), "py": round(y1, 1)}
    )  # type: ignore[typeddict-item]


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
