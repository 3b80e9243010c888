"""Where everything stands: cards, pills and wires of a traced graph, as plain numbers.

What lives here: card sizes, the Graphviz layout (in process, through pygraphviz) and a pure-Python layout for machines without it. Sizes
come from character counts, never from fonts, so that the same trace gives the same picture on every machine. Coordinates are pixels, y
grows downwards, rounded to one digit.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NotRequired, TypedDict

from minigrad.tracing.trace import Edge, Node, Trace

from .heat import array_of, shape_text, size, tall

CARD_HEIGHT = 70.0
CONSTANT_HEIGHT = 48.0
SHEET, SHEET_HIGH, SHEET_FOOT = (
    46.0,
    50.0,
    26.0,
)  # of a tensor's heat map: its top, its height at most, the room below it
MARKED_MIN = 184.0  # width of a tensor's card that has a remark beside its shape
HIGH, LOW, SLIM_ROW = 46.0, 28.0, 12.0  # of a flat card, and of a constant's; between two slim ones in a column
SLIM, SLIM_MIN, SLIM_MAX, SLIM_PAD, SLIM_GAP = (
    62.0,
    74.0,
    112.0,
    9.0,
    15.0,
)  # of a slim card: height, width, sides; between columns
SLIM_SHEET, SLIM_SHEET_HIGH, SLIM_TENSOR_MIN = (
    29.0,
    40.0,
    88.0,
)  # of the heat map of a slim card: its top, its height; width of the card
CARD_MIN, CARD_MAX = 136.0, 216.0
CARD_PAD = 12.0
TEXT_GAP = 14.0  # between the two texts of a card's top line
# Pixels a character takes at the sizes of graph.css (DejaVu, the widest common fallback)
NAME_CHAR, EXPR_CHAR = (
    8.7,
    7.0,
)
PILL_HEIGHT, PILL_CHAR, PILL_MIN, PILL_USUAL = 20.0, 6.9, 40.0, 70.0
MARGIN = 14.0
# Limits of legibility, used by page.py, by graph.py, and in the browser by schema.js and viewport.js.
MANY = 90  # a picture of more cards than this is cut for an overview only: folds make it smaller
ENOUGH = 1.0  # the zoom below which the smallest words are lower than 11 pixels
TALL = 1300.0  # pixels: a picture on a narrow stage or a page is no higher
PADDING = 22  # of a stage, both sides
PAGE_WIDTH = (
    640.0  # of a picture on a page: in a notebook's narrow column, some 530 pixels, words of 11 pixels are still 9 high
)
WIDE = 1000.0  # and beside JupyterLab's list of files in a window of 1280, some 850 pixels
# An input that each of many steps uses makes long wires. Where they pass this many columns all together, Graphviz is told to try less hard
# (816 columns, 48 cards: 0.1 s instead of 0.5 s); beyond the second number it would take minutes, and the plain layout draws.
SPANS_QUICK, SPANS = 600, 1500
LANES = 3000  # and beyond this many, the plain layout keeps no lane free for long wires
COLUMN_GAP, ROW_GAP = 26.0, 20.0
CLOSE_GAP, CLOSE = 16.0, 46.0  # between columns that stand close, and between rows; the pills of the former
# In a picture of more columns than this, a wire over more than FAR of them is a tag; and one over more than NEAR, if its source has OFTEN.
COLUMNS, FAR, NEAR, OFTEN = 4, 6, 2, 3
TAG_NAME, TAG_SIDES, TAG_GAP = 12, 22.0, 12.0  # characters on a tag; its edges and its point; before a pill
STALE = "⚠ stale"  # on a card whose saved values were written over
NOTHING = "0 comes back"  # over a cut
LINE, BAND = 17.0, 8.0  # of a mark: height of a line, and the room around its lines
BECAME = 24.0  # height of a card's line about a compiled step
STACK = 8.0  # how far the cards beneath a folded one stick out
FRAME_SIDE, FRAME_TOP = 9.0, 25.0  # between a frame and its contents
PILL_NODES_LIMIT = 250  # above this many cards, pills stop taking part in the layout: they cost Graphviz half its time


class Card(TypedDict):
    id: int  # node id
    x: float
    y: float
    w: float
    h: float
    name: str  # the label, shortened to fit the card
    expr: str  # its formula, shortened to fit
    rows: NotRequired[list[tuple[str, str]]]  # further lines at its foot, caption and number: see `Mark`
    at: NotRequired[int]  # the event from which on they are to be seen
    within: NotRequired[str]  # a line at its foot: see the node's `within`
    sheet: NotRequired[float]  # of a tensor: the height of its heat map; 0: there is no room for one
    flat: NotRequired[bool]  # one low row, without a heat map
    slim: NotRequired[bool]  # a narrow card without formula, whose numbers stand below each other
    tags: NotRequired[int]  # how many of its wires begin at a tag
    # The last line at its foot: what its forward and its backward half are in a compiled step
    became: NotRequired[tuple[str, str]]


class Tag(TypedDict):
    """The end of a long wire that is not drawn: a label with the name of its source, shortly before its target."""

    name: str
    x: float  # its left side
    y: float  # its middle
    w: float


class Wire(TypedDict):
    id: int  # edge id
    d: str  # SVG path from the parent's right side, or its tag's, to the child's left side
    px: float  # centre of the pill that carries the local derivative
    py: float
    pw: float
    # Of a tensor: what the pill says forward and backward, in place of the local derivative
    text: NotRequired[list[str]]
    tag: NotRequired[Tag]


class CutWire(TypedDict):
    """A wire that no gradient passes: from the tensor that was detached to the result."""

    source: int
    target: int
    d: str
    px: float
    py: float
    pw: float
    text: list[str]  # the call that detached; the text in the backward pass


class Frame(TypedDict):
    """The outline of an open fold."""

    fold: int
    name: str
    x: float
    y: float
    w: float
    h: float


class Picture(TypedDict):
    w: float
    h: float
    cards: list[Card]
    wires: list[Wire]
    prog: str  # "dot" or "plain"
    frames: NotRequired[list[Frame]]
    cuts: NotRequired[list[CutWire]]
    wraps: NotRequired[list[Picture]]  # the same for narrower and lower stages: see rows.py
    column: NotRequired[bool]  # it runs down, and may be higher than its stage
    # (key, name) of the folds around the one that was opened last, outer ones first
    trail: NotRequired[list[tuple[int, str]]]


class Mark(NamedTuple):
    """Lines at the foot of a card about how it differs from the card in another picture."""

    node: int
    rows: list[tuple[str, str]]  # caption and number
    at: int  # from this event on


class Framed(NamedTuple):
    """What a frame goes around: the nodes of an open fold, among them those of the frames inside it."""

    fold: int
    name: str
    nodes: list[int]
    parent: int  # place of the frame around it in the list of frames, or -1


def shorten(text: str, room: int) -> str:
    """Cut `text` to `room` characters, marking the cut. A path keeps its end, which tells it apart.

    >>> shorten("a_very_long_name", 8), shorten("model.layers[0].w[1]", 8)
    ('a_very_…', '…0].w[1]')
    """
    room = max(2, room)
    if len(text) <= room:
        return text
    return (
        "…" + text[1 - room :]
        if re.fullmatch(r"[\w.\[\]'\"]+", text) and re.search(r"[.\[]", text)
        else text[: room - 1] + "…"
    )


def card_text(name: str, expr: str, short: str = "") -> tuple[float, str, str]:
    """Width of a card and the two texts of its top line, shortened so that they fit side by side: `short` may replace `expr`."""
    want = 2 * CARD_PAD + NAME_CHAR * len(name) + (TEXT_GAP if expr else 0.0) + EXPR_CHAR * len(expr)
    width = min(CARD_MAX, max(CARD_MIN, 4.0 * round(want / 4 + 0.5)))
    if want > CARD_MAX:
        name, expr = fitted(name, expr, width - 2 * CARD_PAD, short)
    return width, name, expr


def fitted(name: str, expr: str, room: float, short: str = "") -> tuple[str, str]:
    """Two texts shortened so that they fit side by side. An `expr` with a `short` form is less important than the name."""
    if short:
        fits = (
            x for x in (expr, short, "") if NAME_CHAR * len(name) + (TEXT_GAP + EXPR_CHAR * len(x)) * bool(x) <= room
        )
        expr = next(fits, "")
    gap = TEXT_GAP if expr else 0.0
    if NAME_CHAR * len(name) + gap + EXPR_CHAR * len(expr) > room:
        spared = room - gap - EXPR_CHAR * len(expr)  # where the right text is short, the name has more than its share
        name = shorten(name, int(max(room * 0.62, spared) / NAME_CHAR))
        expr = shorten(expr, int((room - gap - NAME_CHAR * len(name)) / EXPR_CHAR))
    return name, expr


def stale(node: Node) -> bool:
    """Was something that its backward rule has saved written over?"""
    return any(s.get("stale") for s in node.get("saved", ()))


def pill_width(text: str) -> float:
    """Room for "× 3" where the local derivative is a plain number or a short formula; for any other, room for the number it has."""
    return round(PILL_USUAL if len(text) > 7 else max(PILL_MIN, 18 + PILL_CHAR * (len(text) + 2)), 1)


def short_count(node: Node) -> str:
    """The short form of what a card `computes`, if that is the number of operations in a fold."""
    return f"{node['operations']} ops" if node.get("operations") and not node.get("function") else ""


_SIGNS = {"*": "×", "-": "−", "/": "÷", "**": "power", "neg": "−", "mul": "×", "add": "+", "sub": "−", "div": "÷", "pow": "power",
          "mm": "@", "matmul": "@", "copy_slices": "written"}  # fmt: skip


def computes(node: Node) -> str:
    """The right text of a card: its formula, or only the operation's sign if its name is the formula ("3x + 2")."""
    if node["kind"] == "fold":
        return node.get("function") or node["expr"]
    if node["kind"] != "operation":
        return "constant" if node["kind"] == "constant" else node["expr"] or "input"
    if _is_name(node):
        return node["expr"]
    return _sign(node)


def _is_name(node: Node) -> bool:
    """Is an operation's label a name, such as v1 or h₁, and not its formula?"""
    return bool(node["named"] or re.fullmatch(r"v\d+|[^\W\d]\w*[₁-₉][₀-₉]*", node["label"]))


def _sign(node: Node) -> str:
    """An operation's sign, or its name."""
    op = node.get("function") or node["op"]
    return _SIGNS.get(op, op)


def pill_texts(trace: Trace, edge: Edge) -> list[str]:
    """What flows along a tensor's edge: its shape; where it was broadcast, from which shape to which, and what the way back sums."""
    source, target = trace["nodes"][edge["source"]], trace["nodes"][edge["target"]]
    if edge.get("custom") and not tall(source) and not tall(target):
        return [edge["local_text"].removesuffix("(g)")] * 2
    if "shape" not in source and source["kind"] == "operation" and "shape" in target and trace["engine"] == "tensor":
        return [shape_text(target["shape"])] * 2  # one of several results
    if "shape" not in source or (edge["local"] is not None or not tall(source)) and not tall(target):
        return []
    wide = edge.get("broadcast")
    if wide is None:
        return [shape_text(source["shape"])] * 2
    dims = ", ".join(map(str, wide["axes"]))
    return [
        f"{shape_text(wide['shape'])} ⇉ {shape_text(wide['to'])}",
        f"Σ over {'dim' if len(wide['axes']) == 1 else 'dims'} {dims}",
    ]


def _sheet(trace: Trace, node: Node, width: float, high: float) -> float:
    """The height of the heat map of a tensor on a card: no more than its rows take."""
    a = array_of(trace, node.get("array"))
    return round(a["rows"] * size(a["rows"], a["cols"], width, high)[1], 1) if a and a["rows"] else SLIM_ROW


def mention(card: Card, node: Node) -> None:
    """Add the lines at a card's foot: detach and in-place writes inside a fold, and the card's place in a compiled step."""
    within = node.get("within", [])
    if changes := within[: len(within) - node.get("views", 0)]:
        more = f" +{len(changes) - 1}" if len(changes) > 1 else ""
        if not card.get("flat"):
            want = STACK + 2 * CARD_PAD + 18 + PILL_CHAR * len(changes[0] + more)
            card["w"] = max(card["w"], min(CARD_MAX + STACK, 4.0 * round(want / 4 + 0.5)))
        card["within"] = (
            shorten(changes[0], int((card["w"] - STACK - 2 * CARD_PAD - 16) / PILL_CHAR) - len(more)) + more
        )
        card["h"] += LINE
    if "became" in node:
        sides = STACK * (node["kind"] == "fold") + 2 * CARD_PAD + 16
        if not card.get("flat"):
            want = sides + PILL_CHAR * len(", ".join(node["became"]["forward"] + node["became"]["backward"]))
            card["w"] = max(card["w"], min(CARD_MAX, 4.0 * round(want / 4 + 0.5)))
        card["became"] = _sides(
            node["became"]["forward"], node["became"]["backward"], int((card["w"] - sides) / PILL_CHAR)
        )
        card["h"] += BECAME


def _sides(forward: list[str], backward: list[str], room: int) -> tuple[str, str]:
    """Two lists in one line: in full, or a loop if there is one, and how many more there are."""
    texts = [", ".join(names) for names in (forward, backward)]
    if sum(map(len, texts)) > room:
        loops = [sorted(names, key=lambda name: not name.startswith("loop")) for names in (forward, backward)]
        texts = [f"{names[0]} +{len(names) - 1}" if len(names) > 1 else "".join(names) for names in loops]
    if sum(map(len, texts)) > room:
        short = min(len(texts[0]), max(room // 2, room - len(texts[1])))
        texts = [shorten(texts[0], short), shorten(texts[1], room - short)]
    return texts[0], texts[1]


def shorter_names(trace: Trace, frames: Sequence[Framed]) -> dict[int, str]:
    """What a card in an open fold may be called where its name is too long: without the path that is on the frame around it."""
    out: dict[int, str] = {}
    for frame in frames:  # outer ones first
        last = frame.name.rpartition(".")[2]
        for node in frame.nodes:
            label = trace["nodes"][node]["label"]
            if re.fullmatch(re.escape(frame.name) + r"[.\[][\w.\[\]]+", label):
                rest = label[len(frame.name) :]
                out[node] = rest[1:] if rest[0] == "." else last + rest
    return out


def _slim(node: Node, name: str) -> Card:
    """A card of its name and its numbers, below each other, or its heat map."""
    constant, most = node["kind"] == "constant", CARD_MIN if node["kind"] == "fold" else SLIM_MAX
    least = 36.0 if constant else SLIM_TENSOR_MIN if tall(node) else SLIM_MIN
    width = min(most, max(least, 2 * SLIM_PAD + NAME_CHAR * len(name)))
    name, sign = shorten(name, int((width - 2 * SLIM_PAD + 0.1) / NAME_CHAR)), STALE[:1] if stale(node) else ""
    if not sign and node["kind"] == "operation" and _is_name(node):
        sign = _sign(node)
        width = float(math.ceil(max(width, 2 * SLIM_PAD + NAME_CHAR * len(name) + TEXT_GAP + EXPR_CHAR * len(sign))))
    else:
        width += 16.0 if sign else 0.0
    return Card(
        id=node["id"], x=0, y=0, w=round(width, 1), h=LOW if constant else SLIM, name=name, expr=sign, slim=True
    )


def _boxes(trace: Trace, mark: Mark | None, slim: bool, sheets: bool, shorter: Mapping[int, str]) -> list[Card]:
    """The cards without positions, in the order of the nodes."""
    cards: list[Card] = []
    for node in trace["nodes"]:
        if slim:
            card = _slim(node, shorter.get(node["id"], node["label"]))
        else:
            width, name, expr = card_text(node["label"], computes(node), short_count(node))
            if "…" in name and node["id"] in shorter:
                width, name, expr = card_text(shorter[node["id"]], computes(node), short_count(node))
            if tall(node) and (stale(node) or "view" in node or node.get("version")):
                width = max(width, MARKED_MIN)
            height = CONSTANT_HEIGHT if node["kind"] == "constant" else CARD_HEIGHT
            card = Card(id=node["id"], x=0, y=0, w=width, h=height, name=name, expr=expr)
        if tall(node):
            side, top, high = (SLIM_PAD, SLIM_SHEET, SLIM_SHEET_HIGH) if slim else (CARD_PAD, SHEET, SHEET_HIGH)
            card["sheet"] = _sheet(trace, node, card["w"] - 2 * side, high) if sheets else 0.0
            card["h"] = round(top + card["sheet"] + SHEET_FOOT, 1) if sheets else HIGH
        if node["kind"] == "fold":
            card["w"], card["h"] = round(card["w"] + STACK, 1), round(card["h"] + STACK, 1)
        mention(card, node)
        cards.append(card)
    if mark is not None:
        card = cards[mark.node]
        card["rows"], card["at"] = mark.rows, mark.at
        card["w"] = max(
            card["w"],
            *(2 * CARD_PAD + 14 + EXPR_CHAR * len(caption) + NAME_CHAR * len(text) for caption, text in mark.rows),
        )
        card["h"] += BAND + LINE * len(mark.rows)
    return cards


def _links(
    trace: Trace, texts: list[list[str]], pills: bool, close: bool
) -> tuple[list[tuple[int, int, int, float]], list[tuple[int, int, list[str]]]]:
    """(edge id, source card, target card, pill width) of each wire, those of cuts last, and the cuts with their words."""
    links: list[tuple[int, int, int, float]] = []
    for edge in trace["edges"]:
        message = texts[edge["id"]]
        room = (
            max((18 + PILL_CHAR * len(t) for t in message), default=0.0) if message else pill_width(edge["local_text"])
        )
        kinds = {trace["nodes"][edge["source"]]["kind"], trace["nodes"][edge["target"]]["kind"]}
        # Many edges in one: no single factor
        quiet = not pills or "fold" in kinds and (edge.get("amount") or edge["local"] is None)
        room = min(room, CLOSE) if close else room
        links.append(
            (edge["id"], edge["source"], edge["target"], round(room, 1) if edge["carries_grad"] and not quiet else 0.0)
        )
    cut = [node for node in trace["nodes"] if "cut" in node]
    cuts = [(source, node["id"], [node["cut"]["how"], NOTHING]) for node in cut for source in node["cut"]["sources"]]
    for k, (source, target, words) in enumerate(cuts):
        links.append((len(texts) + k, source, target, round(30 + PILL_CHAR * max(map(len, words)), 1)))
    return links, cuts


def layout(
    trace: Trace, frames: Sequence[Framed] = (), prog: str | None = None, mark: Mark | None = None, tagged: bool = True,
    close: bool = False, slim: bool = False, down: bool = False, pills: bool = True, sheets: bool = True,
) -> Picture:  # fmt: skip
    """Positions for every card and wire of `trace`.

    frames: outlines to be drawn around some cards, outer ones first. prog: "dot" (Graphviz) or "plain" (pure Python, which draws no
    frames); by default Graphviz where pygraphviz can be imported. mark: lines for one of the cards. tagged: may long wires begin at
    tags? close: the columns stand closer, with room for short pills. slim: of narrow cards without formulas. down: it runs from top to
    bottom. pills: are there any on the wires? sheets: have tensors heat maps?
    """
    cards = _boxes(trace, mark, slim, sheets, shorter_names(trace, frames))
    for card in (
        cards if down else ()
    ):  # it is laid out from left to right, with the sides of all cards swapped, and turned in the end
        card["w"], card["h"] = card["h"], card["w"]
    texts = [pill_texts(trace, edge) if pills else [] for edge in trace["edges"]]
    links, cuts = _links(trace, texts, pills, close)
    if prog is None:
        prog = "dot" if _pygraphviz() else "plain"
    column = _columns(len(cards), links)
    tags = _tags(trace, links[: len(texts)], column) if tagged and not down else {}
    spans = (
        sum(column[target] - column[source] for number, source, target, _ in links if number not in tags)
        if prog == "dot"
        else 0
    )
    if spans > SPANS:
        prog = "plain"
    gaps = (SLIM_GAP if slim else CLOSE_GAP if close or down else COLUMN_GAP), (SLIM_ROW if slim else ROW_GAP)
    quick = spans > SPANS_QUICK
    drawn = (
        _dot(cards, links, tags, frames, quick, slim, gaps, down)
        if prog == "dot"
        else _plain(cards, links, tags, slim, gaps, down)
    )
    size, corners, curves = drawn
    for card, (x, y) in zip(cards, corners, strict=True):
        card["x"], card["y"] = x, y
    _spread_ends(cards, links, curves, tags)
    wires = []
    for (number, source, target, _), (points, _) in zip(links, curves, strict=True):
        if number not in tags:
            # Graphviz ends a wire up to two pixels off
            points[0] = (
                cards[source]["x"] + cards[source]["w"],
                points[0][1],
            )
        points[-1] = (cards[target]["x"], points[-1][1])
        _soften(points, close)
    if down:
        size = size[1], size[0]
        for card in cards:
            card["x"], card["y"], card["w"], card["h"] = card["y"], card["x"], card["h"], card["w"]
        curves = [([(y, x) for x, y in _upright(points)], (pill[1], pill[0])) for points, pill in curves]
    ways = list(zip(links, curves, strict=True))
    for (number, source, _, width), (points, pill) in ways[: len(texts)]:
        wire = Wire(id=number, d=_path(points), px=round(pill[0], 1), py=round(pill[1], 1), pw=width)
        if texts[number]:
            wire["text"] = texts[number]
        if number in tags:
            (x, y), wide = points[0], tags[number]
            name = shorten(trace["nodes"][source]["label"], TAG_NAME)
            wire["tag"] = Tag(name=name, x=round(x - wide, 1), y=round(y, 1), w=wide)
            cards[source]["tags"] = cards[source].get("tags", 0) + 1
        wires.append(wire)
    picture = Picture(w=round(size[0], 1), h=round(size[1], 1), cards=cards, wires=wires, prog=prog)
    if down:
        picture["column"] = True
    if cuts:
        picture["cuts"] = [
            CutWire(
                source=source,
                target=target,
                d=_path(points),
                px=round(pill[0], 1),
                py=round(pill[1], 1),
                pw=width,
                text=words,
            )
            for (source, target, words), ((_, _, _, width), (points, pill)) in zip(
                cuts, ways[len(texts) :], strict=True
            )
        ]
    if frames and prog == "dot":
        picture["frames"] = _frames(
            cards, frames, [(trace["edges"][w["id"]]["target"], w["tag"]) for w in wires if "tag" in w]
        )
    return picture


def _tags(trace: Trace, links: list, column: list[int]) -> dict[int, float]:
    """The wires of which only the end is drawn, with the width of the tag that names their source.

    The wires of a weight that many steps use would run in parallel past all cards between."""
    if max(column, default=0) <= COLUMNS:
        return {}
    late = list(column)  # an input, or a result of inputs alone, is placed beside its first user
    for source, targets in reversed(_users(links)):
        late[source] = min(late[target] for target in targets) - 1
    far = Counter(source for _, source, target, _ in links if late[target] - late[source] > NEAR)
    out = {}
    for number, source, target, _ in links:
        span = late[target] - late[source]
        if span > FAR or span > NEAR and far[source] >= OFTEN:
            half = (TAG_SIDES + PILL_CHAR * len(shorten(trace["nodes"][source]["label"], TAG_NAME))) / 2
            out[number] = 2 * round(half, 1)  # its middle, where the name is written, is a whole tenth, too
    return out


def _users(links: list) -> list[tuple[int, list[int]]]:
    """What uses each card, in the order of the cards."""
    results: dict[int, list[int]] = {}
    for _, source, target, _ in links:
        results.setdefault(source, []).append(target)
    return sorted(results.items())


def _frames(cards: list[Card], frames: Sequence[Framed], tags: list[tuple[int, Tag]]) -> list[Frame]:
    """Outlines around cards, each a little wider than those inside it."""
    inner = [0] * len(frames)
    for k in reversed(range(len(frames))):
        if (up := frames[k].parent) >= 0:
            inner[up] = max(inner[up], inner[k] + 1)
    out = []
    for frame, deep in zip(frames, inner, strict=True):
        inside = [cards[n] for n in frame.nodes]
        side, top = FRAME_SIDE * (1 + deep), FRAME_TOP * (1 + deep)
        left = min([c["x"] for c in inside] + [tag["x"] for target, tag in tags if target in frame.nodes])
        x, y = left - side, min(c["y"] for c in inside) - top
        w, h = max(c["x"] + c["w"] for c in inside) + side - x, max(c["y"] + c["h"] for c in inside) + side - y
        name = shorten(frame.name, int((w - 40) / 7.4))
        out.append(Frame(fold=frame.fold, name=name, x=round(x, 1), y=round(y, 1), w=round(w, 1), h=round(h, 1)))
    return out


def _columns(count: int, links: list) -> list[int]:
    """The column of every card: one after the last of its parents."""
    children: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for _, source, target, _ in links:
        children[source].append(target)
        waiting[target] += 1
    column = [0] * count
    ready = [n for n in range(count) if not waiting[n]]
    while ready:
        n = ready.pop()
        for child in children[n]:
            column[child] = max(column[child], column[n] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return column


Points = list[tuple[float, float]]  # start, then three control points per cubic piece


def _path(points: Points) -> str:
    head, *rest = [" ".join(f"{v:.1f}".removesuffix(".0") for v in point) for point in points]
    return f"M{head}C" + " ".join(rest)


def _spread_ends(
    cards: list[Card], links: list, curves: list[tuple[Points, tuple[float, float]]], tags: Mapping[int, float]
) -> None:
    """Move the ends of wires that share a side of a card apart, so that a + a shows two arrows."""
    for side in (2, 1):  # 2: arriving at the target's left; 1: leaving the source's right
        sharing: dict[int, list[int]] = {}
        for number, link in enumerate(links):
            if side == 2 or link[0] not in tags:
                sharing.setdefault(link[side], []).append(number)
        for at, numbers in sharing.items():
            if len(numbers) < 2:
                continue
            # By the height of the pill, then by edge id: no crossings
            numbers.sort(key=lambda n: (curves[n][1][1], links[n][0]))
            step = min(16.0, (cards[at]["h"] - 22) / (len(numbers) - 1))
            for k, n in enumerate(numbers):
                shift = round((k - (len(numbers) - 1) / 2) * step, 1)
                points = curves[n][0]
                for p in (-1, -2) if side == 2 else (0, 1):
                    points[p] = (points[p][0], points[p][1] + shift)


def _soften(points: Points, close: bool) -> None:
    """Short pieces become plain S curves: Graphviz draws them too steep. Long ones, which avoid something, stay."""
    for k in range(0, len(points) - 1, 3):
        (x0, y0), (x1, y1) = points[k], points[k + 3]
        if 0 < x1 - x0 < 2.5 * COLUMN_GAP:
            # Between close columns steep ones turn at once, so that two that cross form an X and not one vertical line
            bend = (x1 - x0) * (0.1 if close and abs(y1 - y0) > 2 * (x1 - x0) else 0.5)
            points[k + 1], points[k + 2] = (x0 + bend, y0), (x1 - bend, y1)


def _upright(points: Points) -> Points:
    """The same with level ends, however short: what turns with the picture tells from them that it runs down."""
    (x0, y0), (x1, _), (x2, _), (x3, y3) = points[0], points[1], points[-2], points[-1]
    return [points[0], (max(x0 + 2, x1), y0), *points[2:-2], (min(x3 - 2, x2), y3), points[-1]]


def _middle(points: Points) -> tuple[float, float]:
    """A point halfway along a chain of cubic pieces."""
    pieces = (len(points) - 1) // 3
    p = points[3 * (pieces // 2) : 3 * (pieces // 2) + 4] if pieces % 2 else None
    if p is None:
        return points[3 * (pieces // 2)]
    return tuple((p[0][i] + 3 * p[1][i] + 3 * p[2][i] + p[3][i]) / 8 for i in (0, 1))  # type: ignore[return-value]


# --- Graphviz, in process -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Silence C-level stderr: the bundled Fontconfig prints one line per process, and a notebook would store it in a cell's output."""
    sys.stderr.flush()
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


@functools.cache
def _pygraphviz() -> Any:
    """The module after one quiet warm-up drawing, or None where it is not installed."""
    try:
        import pygraphviz
    except ImportError:
        return None
    with _quiet_stderr():
        warm = pygraphviz.AGraph(directed=True)
        warm.add_node("w")
        warm.draw(format="plain", prog="dot")
    return pygraphviz


def _dot(
    cards: list[Card], links: list, tags: Mapping[int, float], frames: Sequence[Framed], quick: bool, slim: bool,
    gaps: tuple[float, float], down: bool,
) -> Any:  # fmt: skip
    """Graphviz layout. Each pill, or tag with its pill, is a small node of its own: Graphviz keeps it clear of cards and other wires."""
    graph = _pygraphviz().AGraph(directed=True, strict=False, rankdir="LR", ranksep=gaps[0] / 72, nodesep=gaps[1] / 72)
    graph.graph_attr.update(nslimit="1", nslimit1="1")  # on 365 cards 0.6 s instead of 1.0 s, and no taller
    if quick:
        graph.graph_attr.update(nslimit="0.2", nslimit1="0.2", mclimit="0.1")
    graph.node_attr.update(shape="box", fixedsize="true", label="")
    # dir=none, or splines stop short to leave room for dot's own arrow
    graph.edge_attr.update(dir="none", tailport="e", headport="w")
    for number, card in enumerate(cards):
        graph.add_node(f"n{number}", width=card["w"] / 72, height=card["h"] / 72)
    pills = len(cards) <= PILL_NODES_LIMIT
    clusters: list = []
    inside: list[set[int]] = []
    for k, frame in enumerate(frames):
        around = clusters[frame.parent] if frame.parent >= 0 else graph
        clusters.append(around.add_subgraph([f"n{n}" for n in frame.nodes], name=f"cluster_{k}", margin=str(FRAME_TOP)))
        inside.append(set(frame.nodes))
    for edge, source, target, width in links:
        if edge in tags:
            graph.add_node(f"e{edge}", width=_block(tags[edge], width) / 72, height=PILL_HEIGHT / 72)
            for cluster, nodes in zip(clusters, inside, strict=True):
                if target in nodes:
                    cluster.add_node(f"e{edge}")
            graph.add_edge(f"e{edge}", f"n{target}", weight=3)
        elif width and pills:
            sides = (PILL_HEIGHT, width) if down else (width, PILL_HEIGHT)
            graph.add_node(f"e{edge}", width=sides[0] / 72, height=sides[1] / 72)
            for cluster, nodes in zip(clusters, inside, strict=True):
                if source in nodes and target in nodes:
                    cluster.add_node(f"e{edge}")
            graph.add_edge(f"n{source}", f"e{edge}", weight=3)
            graph.add_edge(f"e{edge}", f"n{target}", weight=3)
        else:
            # Pills have own ranks
            graph.add_edge(f"n{source}", f"n{target}", key=f"e{edge}", minlen=1 if slim else 2, comment=edge)
    (width, height), at, splines = _read(graph.draw(format="plain", prog="dot").decode())
    corners = []
    for number, card in enumerate(cards):
        x, y = at[f"n{number}"]
        corners.append((round(x - card["w"] / 2, 1), round(y - card["h"] / 2, 1)))
    curves = []
    for edge, source, target, pill in links:
        if edge in tags:
            curves.append(_stub(at[f"e{edge}"], tags[edge], pill, splines[f"e{edge}", f"n{target}"][0]))
        elif pill and pills:
            centre = at[f"e{edge}"]
            first, second = splines[f"n{source}", f"e{edge}"][0], splines[f"e{edge}", f"n{target}"][0]
            through = [
                ((first[-1][0] * 2 + second[0][0]) / 3, centre[1]),
                ((first[-1][0] + second[0][0] * 2) / 3, centre[1]),
            ]
            curves.append(([*first, *through, *second], centre))
        else:
            points = splines[f"n{source}", f"n{target}"].pop(0)
            curves.append((points, _middle(points)))
    return (width + 2 * MARGIN, height + 2 * MARGIN), corners, curves


def _read(text: str) -> tuple[tuple[float, float], dict[str, tuple[float, float]], dict[tuple[str, str], list[Points]]]:
    """What dot says in its plain format, in pixels: the size, the centres of the nodes by name, the curves by their two ends."""
    width = height = 0.0
    at: dict[str, tuple[float, float]] = {}
    splines: dict[tuple[str, str], list[Points]] = {}
    for line in text.replace("\\\n", "").splitlines():
        word = line.split()
        if word[0] == "graph":
            width, height = float(word[2]) * 72, float(word[3]) * 72
        elif word[0] == "node":
            at[word[1]] = (float(word[2]) * 72 + MARGIN, height - float(word[3]) * 72 + MARGIN)
        elif word[0] == "edge":
            numbers = [float(z) * 72 for z in word[4 : 4 + 2 * int(word[3])]]
            points = [(numbers[i] + MARGIN, height - numbers[i + 1] + MARGIN) for i in range(0, len(numbers), 2)]
            splines.setdefault((word[1], word[2]), []).append(points)
    return (width, height), at, splines


def _block(tag: float, pill: float) -> float:
    """Room for a tag, and for the pill after it."""
    return tag + (TAG_GAP + pill if pill else 0.0)


def _stub(centre: tuple[float, float], tag: float, pill: float, rest: Points) -> tuple[Points, tuple[float, float]]:
    """The wire from a tag to a card, through its pill, and where the pill is. centre: of both; rest: from there to the card."""
    (x, y), half = centre, _block(tag, pill) / 2
    start = (x - half + tag, y)
    return [start, start, rest[0], *rest] if pill else [start, *rest[1:]], (x + half - pill / 2, y)


# --- pure Python ----------------------------------------------------------------------------------------------------------------


def _plain(
    cards: list[Card], links: list, tags: Mapping[int, float], slim: bool, gaps: tuple[float, float], down: bool
) -> Any:
    """A layered layout: cards in even columns, pills and bends of long wires in odd and passed columns; heights relaxed by averaging."""
    parents: list[list[int]] = [[] for _ in cards]
    children: list[list[int]] = [[] for _ in cards]
    for _, source, target, _ in links:
        parents[target].append(source)
        children[source].append(target)
    column = _layers(parents, children)
    slots, size, paths = _slots(cards, links, tags, column, down)
    columns: list[list[int]] = [[] for _ in range(max(slots, default=0) + 1)]
    for n, c in enumerate(slots):
        columns[c].append(n)
    y = _heights(columns, size, paths, gaps[1])
    top = min((y[n] - size[n][1] / 2 for n in range(len(slots))), default=0.0) - MARGIN
    height = max((y[n] + size[n][1] / 2 for n in range(len(slots))), default=0.0) - top + MARGIN
    gap = gaps[0] / 2 if slim else gaps[0]  # without pills two of them are between two columns of cards
    left, middle = MARGIN, []  # the middle of each column
    widths = [max((size[n][0] for n in members), default=0.0) for members in columns]
    for wide in widths:
        middle.append(left + wide / 2)
        left += wide + gap
    corners = [
        (round(middle[column[n]] - size[n][0] / 2, 1), round(y[n] - top - size[n][1] / 2, 1)) for n in range(len(cards))
    ]
    curves = []
    for (number, _, _, pill), path in zip(links, paths, strict=True):
        at = [(middle[slots[n]], y[n] - top) for n in path]
        # A wire passes a column in a straight line: a bent one would meet the corners of its cards
        passed = [widths[slots[n]] for n in path[1:-1]]
        points = _through(at, [size[path[0]][0], *passed, size[path[-1]][0]])
        if number in tags:
            curves.append(_stub(at[0], tags[number], pill, points))
        else:
            curves.append((points, at[1] if len(path) > 2 else at[0]))
    return (left - gap + MARGIN, height), corners, curves


def _layers(parents: list[list[int]], children: list[list[int]]) -> list[int]:
    """The column of each card, an even number: after all its parents. An input is just before its first use, not at the far left."""
    column = [0] * len(parents)
    waiting = [len(p) for p in parents]
    ready = [n for n, count in enumerate(waiting) if not count]
    while ready:
        n = ready.pop()
        for child in children[n]:
            column[child] = max(column[child], column[n] + 2)
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    for n in range(len(column)):
        if not parents[n] and children[n]:
            column[n] = min(column[c] for c in children[n]) - 2
    return column


def _slots(
    cards: list[Card], links: list, tags: Mapping[int, float], column: list[int], down: bool
) -> tuple[list[int], list[tuple[float, float]], list[list[int]]]:
    """The cards, and a slot in each column that a wire passes: the column and size of each, and the slots along each wire."""
    slots, size, paths = [*column], [(c["w"], c["h"]) for c in cards], []
    direct = sum(column[target] - column[source] for number, source, target, _ in links if number not in tags) > LANES
    for number, source, target, pill in links:
        if number in tags:
            paths.append([len(slots), target])
            slots.append(column[target] - 1)
            size.append((_block(tags[number], pill), PILL_HEIGHT))
            continue
        path = [source]
        for c in range(column[source] + 1, column[source] + 2 if direct else column[target]):
            path.append(len(slots))
            slots.append(c)
            sides = (pill or 8.0, PILL_HEIGHT)
            size.append((sides[::-1] if down else sides) if c == column[source] + 1 else (8.0, 12.0))
        paths.append([*path, target])
    return slots, size, paths


def _heights(
    columns: list[list[int]], size: list[tuple[float, float]], paths: list[list[int]], gap: float
) -> list[float]:
    """The height of each slot's middle: near the average of its neighbours in the columns before and after. Sorts the columns."""
    before: list[list[int]] = [[] for _ in size]
    after: list[list[int]] = [[] for _ in size]
    for path in paths:
        for a, b in zip(path, path[1:], strict=False):
            before[b].append(a)
            after[a].append(b)
    y = [0.0] * len(size)

    def settle(members: list[int], wish: list[float]) -> None:
        """Stack the members in order, each as near its wish as its neighbours allow."""
        order = sorted(range(len(members)), key=lambda k: (wish[k], members[k]))
        members[:] = [members[k] for k in order]
        wish = [wish[k] for k in order]
        top = -1e18
        places = []
        for n, w in zip(members, wish, strict=True):
            top = max(top, w - size[n][1] / 2)
            places.append(top + size[n][1] / 2)
            top += size[n][1] + gap
        drift = sum(p - w for p, w in zip(places, wish, strict=True)) / max(1, len(members))
        for n, p in zip(members, places, strict=True):
            y[n] = p - drift

    for members in columns:
        settle(members, [float(i * 60) for i in range(len(members))])
    for sweep in range(6):
        near = before if sweep % 2 == 0 else after
        for members in columns if sweep % 2 == 0 else columns[::-1]:
            settle(members, [sum(y[m] for m in near[n]) / len(near[n]) if near[n] else y[n] for n in members])
    return y


def _through(at: list[tuple[float, float]], width: list[float]) -> Points:
    """A Bézier curve through slots of these middles and widths: flat inside a slot, bent between two."""
    points: Points = []
    for k in range(len(at) - 1):
        xa, xb = at[k][0] + width[k] / 2, at[k + 1][0] - width[k + 1] / 2
        ya, yb = at[k][1], at[k + 1][1]
        points += [points[-1], (xa, ya), (xa, ya)] if points else [(xa, ya)]
        points += [((xa + xb) / 2, ya), ((xa + xb) / 2, yb), (xb, yb)]
    return points
