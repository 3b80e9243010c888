"""Where everything in a figure stands, for stages of different widths.

A figure is laid out for a width and never scaled to it: the cells get smaller, from one list of sizes, until it fits. The browser
(front/src/forms/) and the stored picture (picture.py) draw what is said here, and decide nothing about places themselves.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict, cast

from minigrad.tracing.forms import Attention, CrossEntropy, Finder, Forms, Lane, Layer, Layers, Link, Recurrence

from .names import Names, branch_name, counted, module_of, short

SIZES = (30, 28, 26, 24, 22, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1.5, 1)
MONO, SANS = 7.3, 6.2  # pixels of a character
NARROW = 560  # pixels; a narrower figure runs down


class Sheet(TypedDict):
    """The numbers of a tensor as a heat map."""

    n: int | list[int]  # the node; one for each head, if heads are tensors of their own
    x: float
    y: float
    cw: float  # of a cell
    ch: float
    r: int
    c: int
    off: int  # where it begins in the tensor
    lead: NotRequired[list[int]]  # how much further the next sample begins, how many there are, and the same for heads
    turn: NotRequired[bool]  # rows are drawn as columns
    label: NotRequired[tuple[float, float, str, str]]  # x, y, anchor, text
    plain: NotRequired[bool]  # no ∂ before the name: there is no room
    ghosts: NotRequired[int]  # sheets behind it
    wrap: NotRequired[list[int]]  # rows and columns of a tensor that is stretched over the sheet
    prob: NotRequired[list[int]]  # probabilities, as blue: the node of the targets, and how many rows a sample has


class Wire(TypedDict):
    d: str
    a: int  # what flows along it
    b: int  # what it flows into
    thick: NotRequired[bool]


class Words(TypedDict):
    x: float
    y: float
    t: str
    c: NotRequired[str]  # "s" soft and small, "m" a name
    a: NotRequired[str]  # anchor
    added: NotRequired[list[int]]  # shown going back only: how many of the uses of these parameters were added
    room: NotRequired[bool]
    skipped: NotRequired[list[int]]  # states that are not drawn: the one that a step has come to is named here


class Sign(TypedDict):
    """Anything else: "loss" a card, "plus" an addition, "curve" an activation, "branch" of a lane, "bars" of a loss, "row" which of
    the rows is the chosen sample, "norms" of the gradients: a chart that is there in the backward phase only, and its title."""

    kind: str
    x: float
    y: float
    n: int
    w: NotRequired[float]
    h: NotRequired[float]
    t: NotRequired[str]
    part: NotRequired[str]
    rows: NotRequired[list[float]]
    xs: NotRequired[list[float]]
    nodes: NotRequired[list[list[int]]]


class Figure(TypedDict):
    w: float
    h: float
    sheets: list[Sheet]
    wires: list[Wire]
    words: list[Words]
    signs: list[Sign]
    alike: NotRequired[list[list[int]]]  # nodes whose colours have one scale: the same state at each step


@dataclass
class Place:
    """A sheet that was put down."""

    n: int
    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def mid(self) -> float:
        return self.y + self.h / 2

    @property
    def centre(self) -> float:
        return self.x + self.w / 2


def largest(fits: Callable[[float], float], room: float, sizes: Sequence[float] = SIZES) -> float:
    """The largest cell with which something fits."""
    return next((c for c in sizes if fits(c) <= room), sizes[-1])


def product(sizes: Sequence[int]) -> int:
    return math.prod(sizes)


class Draw:
    """A figure that is being laid out."""

    def __init__(self, owner: Figures, w: float):
        self.o, self.w, self.h = owner, w, 0.0
        self.sheets: list[Sheet] = []
        self.wires: list[Wire] = []
        self.words: list[Words] = []
        self.signs: list[Sign] = []
        self.alike: list[list[int]] = []

    def text(self, x: float, y: float, t: str, c: str = "", a: str = "", **more: Any) -> None:
        said = Words(x=round(x, 1), y=round(y, 1), t=t)
        said.update(cast(Words, {k: v for k, v in (("c", c), ("a", a)) if v} | more))
        self.words.append(said)
        self.h = max(self.h, y + 4)

    def wire(self, d: str, a: int, b: int, thick: bool = False) -> None:
        self.wires.append({"d": d, "a": self.o.finder.peel(a), "b": b} | ({"thick": True} if thick else {}))  # type: ignore[arg-type]

    def sign(self, kind: str, x: float, y: float, n: int, **more: Any) -> None:
        self.signs.append(Sign(kind=kind, x=round(x, 1), y=round(y, 1), n=n, **more))  # type: ignore[typeddict-item]

    def sheet(
        self, n: int, x: float, y: float, cw: float, ch: float = 0, *, label: str | None = None, sub: str | None = None, mid: bool = False,
        right: bool = False, side: str = "", plane: int = -1, strip: bool = False, turn: bool = False, alone: bool = False,
        others: Sequence[int] = (), part: tuple[int, int] | None = None,
    ) -> Place:  # fmt: skip
        """Put the numbers of a node down. label: None its name, "" none; sub: the words below, None its shape, "" none; plane: one of
        the leading planes, where each sample has several; strip: one row, upright; turn: rows as columns; alone: no other sheets behind;
        part: of a strip, where it begins in the row and how long it is."""
        ch = ch or cw
        shape = self.o.shapes[n]
        r, c, off, lead = self._lead(shape, plane)
        if strip:
            rows = product(shape[:-1]) if shape else 1
            c, r, off = 1, (shape[-1] if shape else 1), 0
            lead = [r, rows, 0, 1] if rows > 1 else []
            off, r = part or (off, r)
        rows, columns = (c, r) if turn else (r, c)
        w, h = columns * cw, rows * ch
        sheet = self.put([n, *others] if others else n, x, y, cw, ch, rows, columns, off)
        if lead:
            sheet["lead"] = lead
        if turn:
            sheet["turn"] = True
        count = len(others) + 1 if others else 1
        if lead and plane < 0 and not strip:
            count *= lead[1] * lead[3]
        ghosts = 0 if alone else min(2, count - 1)
        if ghosts:
            sheet["ghosts"] = ghosts
        lift = ghosts * (4 if cw > 8 else 3)
        name = short(self.o.name(n)) if label is None else label
        if name:
            at = x + (w / 2 if mid else w if right else 0)
            sheet["label"] = (
                round(at, 1),
                round(y - 6 - lift, 1),
                "middle" if mid else "end" if right else "start",
                name,
            )
        self.h = max(self.h, y + h + 3)
        if side:
            self.text(x + w + 7 + lift, y + h / 2 + 4, side, "s")
        elif sub != "":
            self.text(
                x + (w / 2 if mid else 0),
                y + h + 14,
                sub if sub is not None else f"{rows} × {columns}",
                "s",
                "middle" if mid else "",
            )
        return Place(n, x, y, w, h)

    def put(
        self, n: int | list[int], x: float, y: float, cw: float, ch: float, r: int, c: int, off: int = 0, **more: Any
    ) -> Sheet:
        """A sheet of so many cells, as it is."""
        sheet = Sheet(n=n, x=round(x, 1), y=round(y, 1), cw=round(cw, 2), ch=round(ch, 2), r=r, c=c, off=off)
        sheet.update(cast(Sheet, {name: v for name, v in more.items() if v}))
        self.sheets.append(sheet)
        return sheet

    def _lead(self, shape: Sequence[int], plane: int) -> tuple[int, int, int, list[int]]:
        """Rows and columns of one sheet, where it begins, and how the sample and the head move it."""
        r, c = (shape[-2] if len(shape) > 1 else 1), (shape[-1] if shape else 1)
        outer, size = list(shape[:-2]), r * c
        if not outer:
            return r, c, 0, []
        if plane >= 0:  # of a convolution: planes of a sample
            samples, planes = product(outer[:-1]), outer[-1]
            return r, c, plane * size, ([planes * size, samples, 0, 1] if samples > 1 else [])
        if len(outer) == 1:
            return r, c, 0, [size, outer[0], 0, 1] if outer[0] > 1 else []
        heads, samples = outer[-1], product(outer[:-1])
        return r, c, 0, [heads * size, samples, size, heads] if heads * samples > 1 else []

    def loss(self, x: float, y: float, w: float = 92) -> None:
        """The card of the result."""
        self.sign("loss", x, y - 25, self.o.finder.root, w=round(w, 1), h=50, t=self.o.name(self.o.finder.root))
        self.h = max(self.h, y + 28)

    def figure(self) -> Figure:
        figure = Figure(
            w=round(self.w),
            h=math.ceil(self.h + 2),
            sheets=self.sheets,
            wires=self.wires,
            words=self.words,
            signs=self.signs,
        )
        if self.alike:
            figure["alike"] = self.alike
        return figure


def p(*numbers: float | str) -> str:
    """A path."""
    return "".join(x if isinstance(x, str) else f" {round(x, 1):g}" for x in numbers).strip()


class Figures:
    """Lays out the figures of a program."""

    def __init__(self, finder: Finder, forms: Forms, names: Names, shapes: list[list[int]]):
        self.finder, self.forms, self.names, self.shapes = finder, forms, names, shapes
        self.titles: dict[str, str] = {}
        self.lists: dict[str, list[int]] = {}
        self.samples, self.heads = 1, 1

    def name(self, i: int) -> str:
        return self.names.all[i]

    def all(self, widths: Sequence[float]) -> dict[str, list[Figure]]:
        """The figures of the whole ("") and of what opens, each for these widths; where nothing changes, once."""
        figure = self.forms.figure
        wholes: dict[str, Callable[[float], Figure]] = {"": self.whole}
        if isinstance(figure, Lane):
            for k, link in enumerate(figure.links):
                self.titles[f"link{k}"] = branch_name(figure, k)
                if link.form:
                    wholes[f"link{k}"] = lambda w, link=link: self.branch(link, w)  # type: ignore[misc]
                else:
                    self.lists[f"link{k}"] = [i for i in link.operations if not self.finder.free(i)]
        elif isinstance(figure, Recurrence):
            state = self.name(figure.turns[-1].state)
            for t, turn in enumerate(figure.turns):
                self.titles[f"turn{t}"] = f"{counted(state, t + 1)}, step {t + 1} of {len(figure.turns)}"
                kept = [i for i in turn.operations if not self.finder.free(i) or i in self.names.parts]
                self.lists[f"turn{t}"] = kept
        out: dict[str, list[Figure]] = {}
        for key, make in wholes.items():
            out[key] = []
            for w in widths if not key else widths[::2]:
                new = make(w)
                if out[key] and new["w"] > w and out[key][-1]["w"] > w:
                    out[key][-1] = new
                elif not out[key] or _content(new) != _content(out[key][-1]):
                    out[key].append(new)
        for sheet in (s for fs in out.values() for f in fs[:1] for s in f["sheets"]):
            if lead := sheet.get("lead"):
                self.samples, self.heads = max(self.samples, lead[1]), max(self.heads, lead[3])
            if isinstance(sheet["n"], list):
                self.heads = max(self.heads, len(sheet["n"]))
        return out

    def whole(self, w: float) -> Figure:
        figure, loss, tail = self.forms.figure, self.forms.loss, self.forms.tail
        if isinstance(figure, Attention):
            return self.attention(figure, w)
        if isinstance(figure, Recurrence):
            return self.recurrence(figure, w, tail, loss)
        if isinstance(figure, Lane):
            return self.lane(figure, w, tail, loss)
        return self.layers(figure, w, loss)

    def branch(self, link: Link, w: float) -> Figure:
        if isinstance(link.form, Attention):
            return self.attention(link.form, w, inner=True)
        assert link.form
        return self.layers(link.form, w, None, inner=True)

    def wider(self, layer: Layer) -> int:
        """Of the same numbers in several shapes, the one that says which sample a row belongs to."""
        return self.finder.wider(layer)

    def weight_of(self, i: int) -> int:
        """The weight of a product, as the product reads it."""
        of = [
            k
            for k in self.finder.parents[i]
            if self.finder.parameter(self.finder.peel(k)) and len(self.finder.shape(self.finder.peel(k))) == 2
        ]
        return of[0] if of else -1

    # Attention: x, q, scores, masked, weights, out in one row, kᵀ above the scores, v above out

    def attention(self, a: Attention, w: float, inner: bool = False) -> Figure:
        return AttentionFigure(self, a, w, inner).figure()

    # Layers: rows are samples, through all of them

    def layers(self, f: Layers, w: float, loss: CrossEntropy | None, inner: bool = False) -> Figure:
        if any(x.kind == "conv" for x in f.layers):
            return PlanesFigure(self, f, w, loss, inner).figure()
        return LayersFigure(self, f, w, loss, inner).figure()

    def recurrence(self, f: Recurrence, w: float, tail: Layers | None, loss: CrossEntropy | None) -> Figure:
        return RecurrenceFigure(self, f, w, tail, loss).figure()

    def lane(self, f: Lane, w: float, tail: Layers | None, loss: CrossEntropy | None) -> Figure:
        return LaneFigure(self, f, w, tail, loss).figure()


def _content(figure: Figure) -> str:
    return json.dumps({**figure, "w": 0})


class AttentionFigure(Draw):
    GAPS = dict(x=44, q=18, mask=48, weights=20, out=20, then=64)

    def __init__(self, o: Figures, a: Attention, w: float, inner: bool):
        super().__init__(o, w)
        self.a, self.inner, finder = a, inner, o.finder
        scaled = [
            i for i in a.between if i not in a.masking and i < a.weights and finder.functions[i] not in ("exp", "sum")
        ]
        self.scores = scaled[-1] if scaled else a.scores
        self.masked = a.masked[-1] if a.masked else -1
        if self.masked >= 0 and self.scores > self.masked:
            self.scores, self.masked = a.scores, max(self.scores, self.masked)
        self.rows, self.keys = o.shapes[self.scores][-2:]
        self.d, self.dv = o.shapes[a.q][-1], o.shapes[a.v][-1]
        self.x = self._input()
        self.one = len(set(a.made_by.values())) == 1 and len(a.made_by) == 3  # one product makes q, k and v
        self.last = a.then[-1] if a.then else None
        self.end = o.wider(self.last) if self.last else a.joined
        self.joined = o.names.joined(a) if self.last else -1
        self.wide = {
            "x": o.shapes[self.x][-1] if self.x >= 0 else 0,
            "then": o.shapes[self.end][-1] if self.end >= 0 else 0,
            "joined": o.shapes[self.joined][-1] if self.joined >= 0 else 0,
        }
        self.gs = 8 if len(o.shapes[a.scores]) > 2 or a.heads else 0
        self.narrow = w < NARROW
        self._place()

    def _input(self) -> int:
        """What q is made of."""
        finder = self.o.finder
        if "q" not in self.a.made_by:
            return -1
        of = [k for k in finder.parents[self.a.made_by["q"]] if not finder.parameter(finder.peel(k))]
        if not of:
            return -1
        x, below = of[0], finder.peel(of[0])
        x = below if len(finder.shape(below)) > len(finder.shape(x)) else x
        return x if self.o.shapes[x][-2:-1] == [self.rows] else -1  # else its rows are no queries

    def _others(self, role: str) -> list[int]:
        """The same tensor of the other heads."""

        def of(head: Attention) -> int:
            if role == "scores":
                at = self.a.between.index(self.scores) if self.scores in self.a.between else -1
                return head.between[at] if at >= 0 else head.scores
            if role == "masked":
                return head.between[self.a.between.index(self.masked)]
            return int(getattr(head, role))

        return [of(head) for head in self.a.heads]

    def _over(self, n: int, role: str, columns: int, c: float) -> float:
        """How far the name of a sheet reaches beyond it."""
        return max(0.0, (len(self._called(n, role)) + 2) * MONO - columns * c)

    def _gaps(self, c: float) -> dict[str, float]:
        """What is between the sheets of a row: at least as much as their names need."""
        g: dict[str, float] = {**self.GAPS, **({"x": 46, "q": 22, "out": 34, "then": 46} if self.narrow else {})}
        over = self._over(self.scores, "scores", self.keys, c)
        g["q"] = max(g["q"], self._over(self.a.q, "q", self.d, c) + 2)
        if self.masked >= 0:
            g["mask"] = max(g["mask"], 2 * (over + 19))
            over = self._over(self.masked, "masked", self.keys, c)
        else:
            g["mask"] = 0
        g["weights"] = max(g["weights"], over + 4)
        g["out"] = max(g["out"], self._over(self.a.weights, "weights", self.keys, c) + 4)
        g["joined"] = max(26, self._over(self.a.out, "out", self.dv, c) + 10 + self.gs) if self.wide["joined"] else 0
        g["then"] = max(g["then"], 2 * (self._over(self.a.out, "out", self.dv, c) + 14)) if self.wide["then"] else 0
        g["x"] = g["x"] if self.wide["x"] else 0
        return g

    def _total(self, c: float) -> float:
        cells = self.wide["x"] + self.d + self.keys * (3 if self.masked >= 0 else 2) + self.dv
        cells += self.wide["joined"] + self.wide["then"]
        return cells * c + sum(self._gaps(c).values()) + 14

    def _first_row(self, c: float) -> float:
        g, masked = self._gaps(c), self.masked >= 0
        columns = self.wide["x"] + self.d + self.keys * (2 if masked else 1)
        over = (
            self._over(self.masked, "masked", self.keys, c)
            if masked
            else self._over(self.scores, "scores", self.keys, c)
        )
        return columns * c + g["x"] + g["q"] + g["mask"] + max(over, 10) + 4

    def _second_row(self, c: float) -> float:
        g = self._gaps(c)
        cells = self.keys + self.dv + self.wide["joined"] + self.wide["then"]
        return cells * c + g["out"] + g["joined"] + g["then"] + 48

    def _place(self) -> None:
        narrow = self.narrow
        c = (
            largest(lambda c: max(self._first_row(c), self._second_row(c)), self.w - 6, SIZES[15:])
            if narrow
            else largest(self._total, self.w - 8)
        )
        gaps = 5 + bool(self.wide["x"]) + bool(self.wide["joined"])
        stretch = 0.0 if narrow else min(34.0, max(0.0, (self.w - 8 - self._total(c)) / gaps))
        g = {k: v + stretch for k, v in self._gaps(c).items()}
        half = 26 if not self.one and self.x >= 0 else 8
        d, gs, keys = self.d, self.gs, self.keys
        above = 48 + 2 * gs
        y = max(above + d * c, 30 + gs + d * c / 2 + half) if narrow else max(above + keys * c, above + d * c + half)
        self.y, self.c, self.gap = y + 6, c, g
        x = 4.0
        first = None
        if self.x >= 0:
            first = self.sheet(self.x, x, self.y, c, sub=f"{self.rows} × {self.wide['x']}")
            x = first.right + g["x"]
        q = self.sheet(self.a.q, x, self.y, c, label=self._called(self.a.q, "q"), others=self._others("q"))
        x = q.right + g["q"]
        kt = self.sheet(
            self.a.kt, x, self.y - 28 - gs - d * c, c, label=self._kt(), side=f"{d} × {keys}", others=self._others("kt")
        )
        scores = self.sheet(
            self.scores, x, self.y, c, label=self._called(self.scores, "scores"), others=self._others("scores")
        )
        x = scores.right
        mid = scores.mid
        left, before = scores, self.scores
        if self.masked >= 0:
            left = self._mask(x, mid, g["mask"])
            x, before = left.right, self.masked
        below = self.y
        if narrow:
            below = self.y + self.rows * c + max(keys * c + 78 + 2 * gs, 84)
            turn, end = self.y + self.rows * c + 26, below + self.rows * c / 2 - 6
            way = p("M", x + 2, mid, "h5q5 0 5 5V", turn - 6, "q0 6 -6 6H20q-6 0 -6 6V", end, "q0 6 6 6H22")
            self.wire(way, before, self.a.weights)
            x = 24.0
        else:
            self.wire(p("M", x + 3, mid, "H", x + g["weights"] - 3), before, self.a.weights)
            x += g["weights"]
        weights = self.sheet(
            self.a.weights, x, below, c, label=self._called(self.a.weights, "weights"), others=self._others("weights")
        )
        x = weights.right + g["out"]
        v = self.sheet(
            self.a.v,
            x,
            below - 28 - gs - keys * c,
            c,
            label=self._called(self.a.v, "v"),
            sub="",
            others=self._others("v"),
        )
        role = "heads" if self.end >= 0 and self.o.name(self.end) == "out" else "out"
        out = self.sheet(self.a.out, x, below, c, label=self._called(self.a.out, role), others=self._others("out"))
        self.wire(p("M", q.right + 3, mid, "H", scores.x - 4), self.a.q, self.scores)
        self.wire(p("M", kt.centre, kt.y + kt.h + 3, "V", self.y - 19 - gs), self.a.kt, self.scores)
        self.wire(p("M", weights.right + 3, weights.mid, "H", out.x - 4), self.a.weights, self.a.out)
        self.wire(p("M", v.centre, v.y + v.h + 3, "V", below - 19 - gs), self.a.v, self.a.out)
        if first:
            self._projections(first, q, kt, v, scores, mid)
        self._ends(out, below)

    def _called(self, n: int, role: str) -> str:
        return short(self.o.name(n)) if self.o.finder.nodes[n]["named"] else role

    def _kt(self) -> str:
        k = self.a.k
        return (self.o.name(k) if self.o.finder.nodes[k]["named"] else "k") + "ᵀ"

    def _mask(self, x: float, mid: float, gap: float) -> Place:
        if self.a.mask >= 0:
            r, c = ([1, 1, *self.o.shapes[self.a.mask]])[-2:]
            cell = min(self.c * 0.5, 9, (self.GAPS["mask"] - 12) / max(c, 1), 9 * 6 / max(r, 1))
            at = x + (gap - c * cell) / 2
            self.sheet(self.a.mask, at, mid - r * cell - 14, cell, label="mask", sub="", mid=True, alone=True)
            self.wire(p("M", at + c * cell / 2, mid - 13, "V", mid - 3), self.a.mask, self.masked)
        self.wire(p("M", x + 3, mid, "H", x + gap - 4), self.scores, self.masked)
        return self.sheet(
            self.masked,
            x + gap,
            self.y,
            self.c,
            label=self._called(self.masked, "masked"),
            others=self._others("masked"),
        )

    def _chip(self, n: int, x: float, y: float, cell: float, label: str, room: float = 0) -> Place:
        """A small sheet on a wire, its middle at (x, y). room: for its name, if it is little."""
        r, c = self.o.shapes[n][-2:]
        self.sign(
            "ground", x - c * cell / 2 - 4, y - r * cell / 2 - 4, n, w=round(c * cell + 8, 1), h=round(r * cell + 8, 1)
        )
        place = self.sheet(n, x - c * cell / 2, y - r * cell / 2, cell, label=label, sub="", mid=True, alone=True)
        if (len(label) + 2) * MONO > (room or 1e9):
            self.sheets[-1]["plain"] = True
        return place

    def _projections(self, first: Place, q: Place, kt: Place, v: Place, scores: Place, mid: float) -> None:
        a, o, gs = self.a, self.o, self.gs
        made = a.made_by
        over = kt.mid
        high = min(kt.y - 26 - gs, v.y + 14)
        if self.one:
            i = made["q"]
            weight = o.weight_of(i)
            if weight < 0:
                return
            r, c = o.shapes[weight][-2:]
            cell = min(5.0, first.w / c, (self.y - 60) / r)
            name = self._weight(weight, "qkv")
            self.sheet(weight, first.x, self.y - 32 - gs - r * cell, cell, label=name, sub="", alone=True)
            self.wire(p("M", first.x + c * cell / 2, self.y - 21 - gs, "V", self.y - 29 - gs), weight, i)
            self.wire(p("M", first.right + 3, mid, "H", q.x - 4), i, a.q)
            at, far = first.right + (q.x - first.right) * 0.55, first.right + (q.x - first.right) * 0.25
            self.wire(p("M", at, mid, "V", over + 7, "q0 -7 7 -7H", kt.x - 4), i, a.k)
            if not self.narrow:
                self.wire(p("M", far, mid, "V", high + 7, "q0 -7 7 -7H", v.x - 4), i, a.v)
            return
        weights = {role: o.weight_of(i) for role, i in made.items()}
        weights = {role: i for role, i in weights.items() if i >= 0}
        size = max((max(o.shapes[i][-2:]) for i in weights.values()), default=1)
        cell = max(1.6, min(7.0, self.c * 0.45, 30 / size if size else 7, 56 / size))
        if "q" in weights:
            at = (first.right + q.x) / 2
            self._through(p("M", first.right + 3, mid), at, mid, q.x - 4, weights["q"], made["q"])
            room = q.x - first.right + 6
            self._chip(weights["q"], at, mid, cell, self._weight(weights["q"], "q"), room)
        if "k" in weights:
            at = first.right - self.c * 1.5
            chip = (max(at, q.x - 20) + kt.x) / 2
            way = p("M", at, self.y - 3, "V", over + 7, "q0 -7 7 -7")
            self._through(way, chip, over, kt.x - 4, weights["k"], made["k"])
            self._chip(weights["k"], chip, over, cell, self._weight(weights["k"], "k"))
        if "v" in weights and not self.narrow:
            at = first.x + self.c * 1.5 + 12
            chip = (scores.right + v.x) / 2
            way = p("M", at, self.y - 3, "V", high + 7, "q0 -7 7 -7")
            self._through(way, chip, high, v.x - 4, weights["v"], made["v"])
            self._chip(weights["v"], chip, max(high, 40), cell, self._weight(weights["v"], "v"))
        elif "v" in weights:
            r, c = o.shapes[weights["v"]][-2:]
            at = v.right + 34 + c * cell / 2
            self._through(p("M", at + c * cell / 2 + 24, v.mid), at, v.mid, v.right + 4, weights["v"], made["v"])
            self._chip(weights["v"], at, v.mid, cell, self._weight(weights["v"], "v"))
            self.text(at + c * cell / 2 + 28, v.mid + 4, "x", "m")

    def _through(self, way: str, x: float, y: float, to: float, weight: int, made: int) -> None:
        """A wire through the weight at (x, y): before it runs what the rows are made of, after it what the weight makes of them."""
        self.wire(way + p("H", x), self.x, made)
        self.wire(p("M", x, y, "H", to), weight, made)

    def _weight(self, n: int, role: str) -> str:
        name = short(self.o.name(n)).replace(".weight", "").removeprefix("…").removesuffix("ᵀ").split(".")[-1]
        return name if len(name) <= 6 and name != "parameter" else f"W{role}"

    def _ends(self, out: Place, below: float) -> None:
        o, c = self.o, self.c
        mid = below + self.rows * c / 2
        if self.end >= 0:
            if self.joined >= 0:  # all heads beside each other, which the projection reads
                self.wire(p("M", out.right + 3, mid, "H", out.right + self.gap["joined"] - 4), self.a.out, self.joined)
                name = short(self.o.name(self.joined))
                name = name if (len(name) + 2) * MONO < self.wide["joined"] * c + 12 else "joined"
                out = self.sheet(self.joined, out.right + self.gap["joined"], below, c, label=name)
            gap = self.gap["then"]
            x = out.right
            op = self.last.op if self.last else self.end
            self.wire(p("M", x + 3, mid, "H", x + gap - 4), out.n, op)
            if self.last and self.last.factor >= 0:
                r, k = o.shapes[self.last.factor][-2:]
                self._chip(
                    self.last.factor,
                    x + gap / 2 + self.gs / 2,
                    mid,
                    max(1.6, min(5.0, (gap - self.gs - 20) / k, 56 / r)),
                    self._weight(self.last.factor, "o"),
                    gap - self.gs + 4,
                )
            out = self.sheet(self.end, x + gap, below, c, sub=f"{self.rows} × {self.wide['then']}")
        if self.inner:
            return
        x = min(self.w - 94, max(4.0, out.centre - 46))
        y = below + self.rows * c + 60
        self.wire(p("M", out.centre, below + self.rows * c + 20, "V", y - 28), out.n, o.finder.root)
        self.loss(x, y, 92)


class LayersFigure(Draw):
    GAP = 15

    def __init__(self, o: Figures, f: Layers, w: float, loss: CrossEntropy | None, inner: bool):
        super().__init__(o, w)
        self.cross, self.inner = loss, inner
        self.columns = self._columns(f)
        first = self.columns[0][0]
        self.rows = o.shapes[first][-2] if len(o.shapes[first]) > 1 else 1
        self.classes = o.shapes[loss.logits][-1] if loss else 0
        self.table = self._table(first)
        tall = [o.shapes[x.factor][-2] for _, x, _ in self.columns if x and x.kind == "linear"]
        tall += [2 * len(self._scales(x)) for _, x, _ in self.columns if x and x.kind == "norm"]
        self.tallest = max([*tall, o.shapes[self.table][0] if self.table >= 0 else 0], default=0)
        self.place()

    def _table(self, first: int) -> int:
        """The embedding that the first sheet's rows were looked up in, if it is no higher than a weight may be; or -1."""
        finder = self.o.finder
        made = finder.peel(first)
        below = [finder.peel(i) for i in finder.parents[made] if finder.functions[made] in ("embedding", "index")]
        found = [i for i in below if finder.parameter(i) and len(self.o.shapes[i]) == 2 and self.o.shapes[i][0] <= 32]
        return found[0] if found and self.o.shapes[found[0]][1] <= self.o.shapes[first][-1] else -1

    def _scales(self, layer: Layer) -> list[int]:
        """What a norm scales and shifts each column by; of one in plain operations also the statistics that it takes."""
        finder, ops = self.o.finder, [*layer.inner, layer.op]
        of = [i for i in layer.inner if finder.functions[i] in ("mean", "std", "var", "sqrt")]
        of += [i for op in ops for i in finder.parents[op] if finder.parameter(finder.peel(i))]
        return [
            i
            for i in of
            if self.o.shapes[i][-1:] == self.o.shapes[layer.op][-1:] and product(self.o.shapes[i][:-1]) == 1
        ]

    def _columns(self, f: Layers) -> list[tuple[int, Layer | None, str]]:
        """Sheet, layer and name of each column; a bias belongs to the product before it."""
        o, finder = self.o, self.o.finder
        below = finder.peel(f.x)
        x = (
            below
            if len(finder.shape(below)) >= len(finder.shape(f.x))
            and product(finder.shape(below)) == product(finder.shape(f.x))
            else f.x
        )
        if finder.shape(x)[-1:] != finder.shape(f.x)[-1:]:
            x = f.x
        out: list[tuple[int, Layer | None, str]] = [(x, None, short(o.name(x)))]
        for layer in f.layers:
            if layer.kind == "bias" and len(out) > 1:
                before = out[-1][1]
                assert before
                layer = Layer(
                    "linear", layer.op, layer.out, before.x, before.function, before.weight, before.factor, layer.bias
                )
                out.pop()
            wider = o.wider(layer)
            out.append((wider, layer, self._named(layer, wider)))
        return out

    def _named(self, layer: Layer, n: int) -> str:
        node = self.o.finder.nodes[n]
        module = module_of(self.o.finder.nodes[layer.op]).split(".")[-1]
        if node["named"]:
            return node["label"]
        return layer.function if layer.kind == "activation" else module or {"linear": "z"}.get(layer.kind, layer.kind)

    def wide(self, k: int, c: float) -> float:
        n, _, name = self.columns[k]
        columns = self.o.shapes[n][-1]
        return max(
            columns * c, (len(name) + 2) * MONO - self.GAP / 2, len(f"{self.rows} × {columns}") * SANS - self.GAP / 2
        )

    def total(self, c: float) -> float:
        cells = sum(self.wide(k, c) for k in range(len(self.columns))) + self.classes * c
        ends = max(0.0, 60 - self.classes * 9) + 80 if self.cross else 0 if self.inner else 110
        return cells + (len(self.columns) - 1 + (1 if self.cross else 0)) * self.GAP + ends + 8

    def place(self) -> None:
        if len(self.columns) > 3 and self.total(9) > self.w - 8:
            return self.downwards()
        o, rows, tall = self.o, self.rows, self.tallest
        c = largest(lambda c: 1e9 if (rows + tall + 3) * c > 430 and c > 4 else self.total(c), self.w - 8)
        gap = self.GAP + min(34.0, max(0.0, (self.w - 8 - self.total(c)) / (len(self.columns) + 1)))
        y = 24 + (tall + 1) * c + 42 + (0 if tall else -30)
        used = [o.finder.peel(i) for i in (self.table, *(x.factor for _, x, _ in self.columns if x)) if i >= 0]
        y += 20 if len(set(used)) < len(used) else 0  # a line over those that are the same
        mid, x = y + rows * c / 2, 4.0
        before: Place | None = None
        long_ = any(
            x
            and x.kind == "linear"
            and len(short(self.o.name(x.factor))) * MONO > self.o.shapes[x.factor][-1] * c + gap
            for _, x, _ in self.columns
        )
        for k, (n, layer, name) in enumerate(self.columns):
            here = self.sheet(n, x, y, c, label=name)
            if not before and self.table >= 0:  # rows looked up: its columns stand above theirs
                rows_, _ = o.shapes[self.table]
                label = short(o.name(self.table)).split(".")[-1] if long_ else short(o.name(self.table))
                above = self.sheet(self.table, x, y - 30 - rows_ * c, c, label=label, sub="", alone=True)
                self.wire(p("M", above.centre, y - 26, "V", y - 18), self.table, o.finder.peel(n))
            if before and layer:
                self.wire(p("M", before.right + 3, mid, "H", here.x - 4), before.n, layer.op)
                self._above(layer, here, y, c, long_)
            before = here
            x += self.wide(k, c) + gap
        assert before
        self._shared()
        if self.cross:
            self.probabilities(x, y, c, self.rows, before)
        elif not self.inner:
            self._result(before, x, mid)
        self.h = max(self.h, y + rows * c + 20)

    def _shared(self) -> None:
        """A line over the sheets of one parameter that is used more than once."""
        peel = self.o.finder.peel
        sheets = [(s["n"], s) for s in self.sheets if isinstance(s["n"], int)]
        for n, first in sheets:
            same = [(i, s) for i, s in sheets if i != n and peel(i) == n]
            if not self.o.finder.parameter(n) or not same:
                continue
            tops = [(s["x"] + s["c"] * s["cw"] / 2, s["y"] - 20) for _, s in ((n, first), *same)]  # above their names
            over = min(y for _, y in tops) - 8
            stubs = "".join(p("M", x, y, "V", over) for x, y in tops)
            self.wire(stubs + p("M", tops[0][0], over, "H", tops[-1][0]), n, same[-1][0])
            transposed = all((s["r"], s["c"]) != (first["r"], first["c"]) for _, s in same)
            self.text(
                (tops[0][0] + tops[1][0]) / 2,
                over - 6,
                "the same weights" + (", transposed" if transposed else ""),
                "s",
                "middle",
            )

    def _result(self, before: Place, x: float, mid: float) -> None:
        at = min(max(x, before.right + 12), self.w - 94)
        self.wire(p("M", before.right + 3, mid, "H", at - 2), before.n, self.o.finder.root)
        self.loss(at, mid, 92)

    def _above(self, layer: Layer, here: Place, y: float, c: float, long_: bool) -> None:
        o = self.o
        if layer.kind == "linear":
            r = o.shapes[layer.factor][-2]
            top = y - 30 - (c + 8 if layer.bias >= 0 else 0) - r * c
            name = short(o.name(layer.factor))
            self.sheet(layer.factor, here.x, top, c, label=name.split(".")[-1] if long_ else name, sub="", alone=True)
            if layer.bias >= 0:
                self.sheet(layer.bias, here.x, y - 28 - c, c, label="", sub="", alone=True)
            self.wire(p("M", here.centre, y - 26, "V", y - 18), layer.factor, layer.op)
        elif layer.kind == "activation":
            self.sign("curve", here.centre, y - 52, layer.op, t=layer.function)
        elif layer.kind == "norm":
            for k, i in enumerate(self._scales(layer)[::-1]):
                name = short(o.name(i)).split(".")[-1]
                self.sheet(i, here.x, y - 28 - c - k * (c + 20), c, label=name, sub="", alone=True)
                if not k:
                    self.wire(p("M", here.centre, y - 26, "V", y - 18), i, layer.op)

    def probabilities(self, x: float, y: float, c: float, rows: int, before: Place | None, near: float = 56) -> None:
        """Softmax rows against their targets, a bar for each row, and the loss."""
        cross = self.cross
        assert cross
        total = product(self.o.shapes[cross.logp][:-1])
        k = self.classes
        lead = [rows * k, total // rows, 0, 1] if rows < total else []
        said = (x, y - 6, "start", "softmax")
        self.put(cross.logp, x, y, c, c, rows, k, prob=[cross.target, rows], label=said, lead=lead)
        if before:
            self.wire(p("M", before.right + 3, y + rows * c / 2, "H", x - 4), before.n, cross.logp)
        self.text(x, y + rows * c + 14, "ring: target", "s")
        bars = x + max(k * c + 12, 60)
        room = max(30.0, min(70.0, self.w - bars - 6))
        self.sign("bars", bars, y, cross.logp, w=round(room, 1), h=c, rows=[cross.target, rows, k, total])
        self.text(bars, y - 6, "−log p", "m")
        at = min(self.w - 90, bars)
        end = y + rows * c + near
        self.wire(p("M", min(bars + room / 2, at + 76), y + rows * c + 4, "V", end - 28), cross.logp, cross.loss)
        self.loss(at, end, 86)

    def downwards(self) -> None:
        """Where there is no room for columns: each layer below the one before, its weight to the right."""
        o = self.o
        y = 26.0

        def wide(c: float) -> float:
            return (
                max(
                    o.shapes[n][-1] + (o.shapes[x.factor][-1] if x and x.kind == "linear" else 0)
                    for n, x, _ in self.columns
                )
                * c
                + 60
            )

        c = largest(wide, self.w, SIZES[16:])
        weights = [o.shapes[x.factor][-1] for _, x, _ in self.columns if x and x.kind == "linear"]
        weights += [o.shapes[self.table][-1]] if self.table >= 0 else []
        beside = 4 + max(o.shapes[n][-1] for n, *_ in self.columns) * c + 76  # after the widest one and its curve
        beside = min(beside, self.w - 8 - max(weights, default=0) * c)
        before: Place | None = None
        for n, layer, name in self.columns:
            tall = self.rows
            here = self.sheet(n, 4, y, c, label=name)
            if not before and self.table >= 0:
                tall = max(tall, self._beside(self.table, o.finder.peel(n), beside, here, c))
            if layer and layer.kind == "linear":
                tall = max(tall, self._beside(layer.factor, layer.op, beside, here, c))
                if layer.bias >= 0:
                    r = o.shapes[layer.factor][-2]
                    self.sheet(layer.bias, beside, y + r * c + 5, c, label="", sub="", alone=True)
                    tall = max(tall, r + 1)
            elif layer and layer.kind == "activation" and self.w - here.right > 76:
                self.sign("curve", min(self.w - 30, here.right + 46), here.mid, layer.op, t=layer.function)
            if before and layer:
                self.wire(p("M", 16, before.y + before.h + 18, "V", y - 19), before.n, layer.op)
            before = here
            y += tall * c + 46
        assert before
        if self.cross:
            self.probabilities(4, y, c, self.rows, None)
            self.wire(p("M", 16, before.y + before.h + 18, "V", y - 19), before.n, self.cross.logp)
        elif not self.inner:
            self.wire(p("M", 16, before.y + before.h + 18, "V", y - 8), before.n, o.finder.root)
            self.loss(4, y + 18, 92)

    def _beside(self, weight: int, op: int, x: float, here: Place, c: float) -> int:
        """Draw a weight to the right of the operation that uses it. Returns its number of rows."""
        at = self.sheet(weight, x, here.y, c, label=short(self.o.name(weight)).split(".")[-1], sub="", alone=True)
        self.wire(p("M", x - 4, here.y + min(at.h, here.h) / 2, "H", here.right + 4), weight, op)
        return self.o.shapes[weight][-2]


class PlanesFigure(LayersFigure):
    """A sheet for each channel, kernels at their planes; what follows a flatten is a standing weight."""

    def _columns(self, f: Layers) -> list[tuple[int, Layer | None, str]]:
        self.source = self.o.finder.peel(f.x) if len(self.o.shapes[self.o.finder.peel(f.x)]) == 4 else f.x
        columns = super()._columns(f)
        return [(self.source, None, short(self.o.name(self.source))), *columns[1:]]

    between = 34.0  # pixels between columns of planes

    def place(self) -> None:
        shape = self.o.shapes
        self.planes = [(n, x, name) for n, x, name in self.columns if len(shape[n]) == 4]
        self.dense = [(n, x, name) for n, x, name in self.columns if len(shape[n]) < 4]
        self.shown = {n: min(shape[n][1], 8) for n, *_ in self.planes}
        (self.down if self.w < 700 else self.across)()

    def _kernel(self, layer: Layer | None) -> list[int]:
        return self.o.shapes[layer.weight] if layer and layer.kind == "conv" else []

    def _name(self, layer: Layer | None, name: str, n: int) -> str:
        return (
            {"pool": "max pool" if layer and "max" in layer.function else "mean pool"}.get(layer.kind, name)
            if layer
            else name
        )

    def _sub(self, n: int) -> str:
        k, h, w = self.o.shapes[n][1:]
        return f"{k} × {h} × {w}" + (f", {self.shown[n]} shown" if self.shown[n] < k else "")

    def across(self) -> None:
        shape = self.o.shapes
        tail = sum(
            44 + max(9 * shape[x.factor][-1], min(14 * shape[x.factor][-1], 140))
            for _, x, _ in self.dense
            if x is not None and x.kind == "linear"
        )

        ends = 96 + max(self.classes * self._cross_cell() + 12, 60) if self.cross else 120

        def wide(c: float) -> float:
            if max(self.shown[n] * (shape[n][2] * c + 14) for n, *_ in self.planes) > 440 and c > 4:
                return 1e9
            gaps = sum(
                self.between + (self._kernel(x)[3] * c + 24 if self._kernel(x) else 0) for _, x, _ in self.planes[1:]
            )
            return sum(self._column_wide(n, x, name, c) for n, x, name in self.planes) + gaps + tail + ends

        c = largest(wide, self.w - 8, SIZES[9:])
        if wide(c) > self.w - 8:
            self.between = 18.0
            c = largest(wide, self.w - 8, SIZES[9:])
        if wide(c) > self.w - 8:
            return self.down()
        extra = min(30.0, max(0.0, (self.w - 8 - wide(c)) / (len(self.planes) + len(self.dense))))
        high = max(self.shown[n] * (shape[n][2] * c + 14) - 14 for n, *_ in self.planes)
        x, top = 4.0, 26.0
        before: list[Place] = []
        for n, layer, name in self.planes:
            kernel = self._kernel(layer)
            if before:
                x += self.between + extra + (kernel[3] * c + 24 if kernel else 0)
            before = self._column(n, layer, name, x, top, c, high, before)
            x += self._column_wide(n, layer, name, c)
        self._dense(x, top, high, before, extra)

    def _column_wide(self, n: int, layer: Layer | None, name: str, c: float) -> float:
        """Pixels of a column of planes: its words must have room."""
        words = max((len(self._name(layer, name, n)) + 2) * MONO, len(self._sub(n)) * SANS) + 6 - self.between
        return max(self.o.shapes[n][3] * c, words)

    def _cross_cell(self) -> float:
        return 18 if self.cross and product(self.o.shapes[self.cross.logp][:-1]) <= 4 else 10

    def _column(
        self, n: int, layer: Layer | None, name: str, x: float, top: float, c: float, high: float, before: list[Place]
    ) -> list[Place]:
        """The planes of one layer, above each other."""
        h = self.o.shapes[n][2] * c
        count = self.shown[n]
        y = top + (high - count * (h + 14) + 14) / 2
        kernel = self._kernel(layer)
        out = []
        for k in range(count):
            label = self._name(layer, name, n) if not k else ""
            here = self.sheet(
                n, x, y + k * (h + 14), c, plane=k, label=label, sub=self._sub(n) if k == count - 1 else "", alone=True
            )
            out.append(here)
            at = here.x - 4
            if kernel:
                assert layer
                size = kernel[3] * c
                at = here.x - size - 14
                first = k == 0
                self._kernel_sheet(layer, k, at + 4, here.mid - kernel[2] * c / 2, c, "kernel" if first else "")
                at -= 2
            one_each = len(before) == count and layer is not None and layer.kind != "conv"
            for a in [before[k]] if one_each else before:
                assert layer
                way = p("M", a.right + 3, a.mid, "C", a.right + 14, a.mid, at - 12, here.mid, at, here.mid)
                self.wire(way, a.n, layer.op)
        return out

    def _kernel_sheet(self, layer: Layer, k: int, x: float, y: float, c: float, label: str) -> None:
        shape = self.o.shapes[layer.weight]
        said = (round(x + shape[3] * c, 1), round(y - 6, 1), "end", label) if label else None
        behind = min(1, shape[1] - 1)  # there is one for each plane that is read
        self.put(layer.weight, x, y, c, c, shape[2], shape[3], k * product(shape[1:]), label=said, ghosts=behind)

    def _dense(self, x: float, top: float, high: float, before: list[Place], extra: float) -> None:
        shape = self.o.shapes
        last: Place | None = None
        for n, layer, name in self.dense:
            if not layer or layer.kind != "linear":
                continue
            r, k = shape[layer.factor][-2:]
            ch = max(2.0, min(12.0, (high - 60) / r))
            cw = max(9.0, min(14.0, 140 / k))
            x += 44 + extra
            y = top + max(0.0, (high - r * ch - 52) / 2)
            self.sheet(
                layer.factor, x, y, cw, ch, label=short(self.o.name(layer.factor)).split(".")[-1], sub="", alone=True
            )
            channels = shape[before[0].n][1] if last is None and r % shape[before[0].n][1] == 0 else 0
            for plane, a in enumerate(before if last is None else [last]):
                at = min(y + r * ch, max(y, a.mid))
                if channels:  # flattened, each channel has rows of its own
                    at = y + (plane + 0.5) * r / channels * ch
                self.wire(p("M", a.right + 3, a.mid, "C", a.right + 16, a.mid, x - 18, at, x - 4, at), a.n, layer.op)
            self.wire(p("M", x + k * cw / 2, y + r * ch + 2, "V", y + r * ch + 12), layer.factor, layer.op)
            rows = shape[n][-2] if len(shape[n]) > 1 else 1
            if last is None and self._flattened(layer):
                self.text(x - 5, y + r * ch + 14, "flatten", "s", "end")
            last = self.sheet(n, x, y + r * ch + 30, cw, 18 if rows <= 4 else 10, label=name)
            self._chosen(last, rows)
            x += k * cw
        self._finish(x, last or before[-1])

    def _flattened(self, layer: Layer) -> bool:
        """Does a layer read the planes as one row?"""
        finder = self.o.finder
        return finder.peel(layer.x) == finder.peel(self.planes[-1][0]) != layer.x

    def _chosen(self, at: Place, rows: int) -> None:
        """Which row is that of the sample that the planes show."""
        if rows > 1 and rows == self.o.shapes[self.source][0]:
            self.sign("row", at.x - 11, at.y, -1, h=round(at.h / rows, 2), rows=[rows])

    def _finish(self, x: float, last: Place) -> None:
        if self.cross:
            rows = product(self.o.shapes[self.cross.logp][:-1])
            self.probabilities(max(last.right, x) + 40, last.y, self._cross_cell(), rows, last)
        elif not self.inner:
            at = min(self.w - 94, last.right + 34)
            self.wire(p("M", last.right + 3, last.mid, "H", at - 2), last.n, self.o.finder.root)
            self.loss(at, last.mid, 90)

    def _bus(self, before: list[Place], y: float, aims: list[tuple[float, float]], op: int) -> None:
        """Everything in a row goes into a line below it, and from there to each of these points."""
        xs = [*(a.centre for a in before), *(x for x, _ in aims)]
        if len(before) == len(aims) == 1:
            return self.wire(p("M", aims[0][0], before[0].y + before[0].h + 3, "V", aims[0][1] - 4), before[0].n, op)
        stubs = "".join(p("M", a.centre, a.y + a.h + 3, "V", y) for a in before)
        self.wire(stubs + p("M", min(xs), y, "H", max(xs)), before[0].n, op)
        for x, foot in aims:
            self.wire(p("M", x, y, "V", foot - 4), before[0].n, op)

    def down(self) -> None:
        shape = self.o.shapes

        def wide(c: float) -> float:
            return (
                max(
                    self.shown[n] * (shape[n][3] * c + 12 + (self._kernel(x)[3] * c + 6 if self._kernel(x) else 0))
                    for n, x, _ in self.planes
                )
                + 8
            )

        tall = sum(shape[n][2] for n, *_ in self.planes)
        c = largest(lambda c: wide(c) if tall * c <= 400 or c <= 4 else 1e9, self.w, SIZES[15:])
        y, before = 26.0, list[Place]()
        for n, layer, name in self.planes:
            x, here = 4.0, list[Place]()
            kernel = self._kernel(layer)
            called, sized = self._name(layer, name, n), self._sub(n)
            words = max((len(called) + 2) * MONO, len(sized) * SANS)
            row = 4 + self.shown[n] * (shape[n][3] * c + 12 + (kernel[3] * c + 6 if kernel else 0))
            beside = words > shape[n][3] * c - 16 and row + words < self.w  # else a wire would run through them
            if n == self.columns[-1][0]:  # its wires come from above and leave at the right
                called, sized, beside = "", f"{called}, {sized}", False
            over, label_at = (
                f"{called}, {sized}",
                None,
            )  # else at the right end of the bus, where the row above it has ended
            if kernel and before and not beside and row - 12 - (len(over) + 2) * MONO > before[-1].right:
                label_at = (round(row - 12, 1), round(y - 30, 1), "end", over)
                called = sized = ""
            for k in range(self.shown[n]):
                if kernel:
                    assert layer
                    self._kernel_sheet(layer, k, x, y + shape[n][2] * c / 2 - kernel[2] * c / 2, c, "")
                    x += kernel[3] * c + 6
                one = self.sheet(
                    n,
                    x,
                    y,
                    c,
                    plane=k,
                    label="" if k or beside else called,
                    sub="" if k or beside else sized,
                    alone=True,
                )
                here.append(one)
                x = one.right + 12
            if label_at:
                self.sheets[-1]["label"] = label_at
            if beside:
                self.sheets[-1]["label"] = (round(x, 1), round(here[-1].mid - 3, 1), "start", called)
                self.text(x, here[-1].mid + 13, sized, "s")
            if before and len(before) == len(here) and not kernel:
                for one, to in zip(before, here, strict=True):
                    assert layer
                    at, to_x, foot = one.right - 6, to.right - 8, one.y + one.h
                    self.wire(
                        p("M", at, foot + 3, "C", at, foot + 26, to_x, to.y - 30, to_x, to.y - 4), one.n, layer.op
                    )
            elif before:
                assert layer
                aims = [
                    (to.x - 6 - kernel[3] * c / 2, to.mid - kernel[2] * c / 2) if kernel else (to.centre, to.y)
                    for to in here
                ]
                self._bus(before, before[0].y + before[0].h + 24, aims, layer.op)
            before = here
            y += shape[n][2] * c + 46
        last = before[-1]
        for n, layer, name in self.dense:
            if not layer or layer.kind != "linear":
                continue
            r, k = shape[layer.factor][-2:]
            cw = min(10.0, (self.w - 8) / r)
            self.sheet(
                layer.factor,
                4,
                y,
                cw,
                12,
                turn=True,
                label=short(self.o.name(layer.factor)).removesuffix("ᵀ").split(".")[-1],
                sub=f"{k} × {r}",
                alone=True,
            )
            self._bus(before, last.y + last.h + 12, [(last.right - 6, y)], layer.op)
            if self._flattened(layer):
                self.text(max(last.right, 4 + (len(self.sheets[-1]["label"][3]) + 3) * MONO), y - 8, "flatten", "s")
            y += k * 12 + 50
            rows = shape[n][-2] if len(shape[n]) > 1 else 1
            last = self.sheet(n, 14, y, min(22, (self.w - 230) / k), 18 if rows <= 4 else 10, label=name, sub="")
            self._chosen(last, rows)
            before = [last]
            self.wire(p("M", last.right - 6, y - 46, "V", y - 4), layer.factor, layer.op)
            y += last.h + 40
        self._finish(last.right, last)


class RecurrenceFigure(Draw):
    """One row in time: states as strips, their inputs below, the shared weights once above, and the sizes of the gradients below it all."""

    def __init__(self, o: Figures, f: Recurrence, w: float, tail: Layers | None, loss: CrossEntropy | None):
        super().__init__(o, w)
        self.f, self.tail, self.cross = f, tail, loss
        rows = [product(o.shapes[i][:-1]) for i in (loss.logp, f.turns[-1].state)] if loss else [0, 1]
        self.single = loss if rows[0] == rows[1] else None  # one row of probabilities for the last state of each sample
        self.small = w < NARROW
        self._order()
        exact = f.start < 0 or o.shapes[f.start] == o.finder.shape(
            f.start
        )  # not in blocks: then the places would be others
        self.joined = f.joined if exact and not f.stacked else None
        if not f.stacked:
            self.start = f.start if exact or not f.joined else -1
        self._measure()
        self._weights()
        self._row()
        self._norms()
        self._after()

    def _order(self) -> None:
        """The states that read x, at the bottom; and above them further states, or the layers that read them, the last one first."""
        f = self.f
        states, lanes = [turn.state for turn in f.turns], [row for row in f.lanes if len(row) == len(f.turns)]
        self.bottom, self.start, self.lanes, self.starts = states, f.start, lanes, f.starts
        if f.stacked:
            self.bottom, self.start = lanes[0], f.starts[0]
            self.lanes, self.starts = [states, *lanes[:0:-1]], [f.start, *f.starts[:0:-1]]
        self.other = lanes  # beside the main one
        self.highest: Place | None = None

    SKIP = 3  # places of the steps that are not drawn

    def _long(self, n: int) -> int:
        shape = self.o.shapes[n]
        return shape[-1] if shape else 1

    def _measure(self) -> None:
        f, w = self.f, self.w
        n = len(f.turns)
        self.long = self._long(f.turns[0].state)
        self.given = [turn.x if turn.x >= 0 else turn.given for turn in f.turns]
        self.xs = self.given[1] if self.given[1] >= 0 else self.given[0]
        self.right = 12 if self.small else (96 if w < 700 else 146) if self.cross else 100
        self.left = 34 if self.small else 52
        room = w - self.left - self.right
        # As many as will fit; of more no fewer than in a narrower stage
        least, usual = (17, int(room / 24)) if self.small else (16, max(int(room / 26), int((NARROW - 46) / 24)))
        head = n if n * least <= room else math.ceil((usual - self.SKIP) / 2)
        tail = 0 if head == n else usual - self.SKIP - head
        self.list = [*range(head), *[-1] * self.SKIP, *range(n - tail, n)] if tail else list(range(n))
        self.hidden = n - head - tail
        self.pitch = min(110.0, room / len(self.list))
        tall = 96 if self.lanes else 118
        self.c = max(5.0, min(15.0, tall // self.long)) if self.long <= 24 else max(3.0, tall / self.long)
        self.cw = max(8.0, min(22.0, self.pitch * 0.5))
        self.kx = self._long(self.xs) if self.xs >= 0 else 0
        self.cx = max(3.0, min(self.c, 84 // self.kx)) if self.kx else 0.0

    def _at(self, k: int) -> float:
        return self.left + k * self.pitch + self.pitch * 0.18

    def _weights(self) -> None:
        f, o, small = self.f, self.o, self.small
        shapes = [(i, (o.shapes[i][-2] if len(o.shapes[i]) > 1 else 1), self._long(i)) for i in f.parameters]
        x = self.left + (0 if small else 6.0)
        gap, end = (14, self.w - 4) if small else (30, self.w - self.right)
        full = [short(o.name(i)).removeprefix("…") for i, *_ in shapes]

        def row(cell: float, names: list[str]) -> float:
            words = [(len(name) + 2) * MONO if name else 0.0 for name in names]
            return x + sum(max(c * cell, word) + gap for (_, _, c), word in zip(shapes, words, strict=True)) - gap

        tallest = max((r for _, r, _ in shapes), default=1)
        sizes = [
            min(size, max(2.0, 96 / tallest))
            for size in ((5, 4, 3, 2, 1.5) if small else (9, 8, 7, 6, 5, 4, 3, 2, 1.5))
        ]
        calls = [full, [".".join(name.split(".")[-2:]) for name in full], [""] * len(full)]
        names = next(names for names in calls if row(sizes[-1], names) <= end or not any(names))
        cell = next((size for size in sizes if row(size, names) <= end), sizes[-1])
        self.cell = cell
        self.top, self.foot = 22.0, 22.0 + tallest * cell
        self.bus = self.foot + 30
        state = f.turns[0].state
        self.last_weight = x
        for (i, r, c), name in zip(shapes, names, strict=True):
            self.sheet(i, x, self.foot - r * cell, cell, label=name, sub="", alone=True)
            self.wire(p("M", x + c * cell / 2, self.foot + 3, "V", self.bus), i, state)
            self.last_weight = x + c * cell / 2
            x += max(c * cell, (len(name) + 2) * MONO if name else 0) + gap
        room = min(self.w - 12, self.left + len(self.list) * self.pitch if self.tail else self.w - 12) - x
        n = len(f.turns)
        if room > 92:
            long_ = room > 185
            self.text(
                x + 2, self.foot - 2, f"the same weights in all {n} steps" if long_ else f"used in {n} steps", "s"
            )
            self.text(x + 2, self.foot - 18, "", "s", added=list(f.parameters), room=long_)

    def _label(self, name: str, t: int) -> str:
        n = len(self.f.turns)
        every = math.ceil((len(counted(name, n)) + 2) * MONO / self.pitch)
        return (name if t == n - 1 else counted(name, t + 1)) if (n - 1 - t) % every == 0 else ""

    def _row(self) -> None:
        f, o, c, cw = self.f, self.o, self.c, self.cw
        tall = self.long * c + 32
        self.y = y = self.bus + 40 + tall * len(self.lanes)
        self.below = y + self.long * c + 26
        state = o.name(self.bottom[-1])
        shown = [t for t in self.list if t >= 0]
        self.alike = [[self.bottom[t] for t in shown], *([row[t] for t in shown] for row in self.lanes)]
        end = self._at(len(self.list) - 1) + cw / 2
        self.wire(
            p("M", min(self._at(0) + cw / 2, self.left + 3), self.bus, "H", max(end, self.last_weight)),
            f.parameters[0] if f.parameters else f.turns[0].state,
            f.turns[0].state,
        )
        mid = y + self.long * c / 2
        if self.start >= 0 and self._at(0) > 34:
            self._first(state, mid, tall)
        self.before: Place | None = None
        self.x_of: dict[int, float] = {}
        for k, t in enumerate(self.list):
            x = self._at(k)
            self.x_of[t] = x + cw / 2
            if t < 0:
                if self.before:
                    x += self.pitch
                    self.text(x + cw / 2, mid + 4, "…", "", "middle")
                    states = [turn.state for k, turn in enumerate(f.turns) if k not in self.list]
                    self.text(x + cw / 2, mid + 20, f"{self.hidden} steps", "s", "middle", skipped=states)
                self.before = None
                continue
            turn = f.turns[t]
            here = self.sheet(self.bottom[t], x, y, cw, c, strip=True, label=self._label(state, t), sub="")
            self._lanes(k, t, x, tall)
            self._into_lanes(k, t, x, mid, tall)
            self.wire(
                p("M", x + cw / 2, self.bus, "V", (self.bus + 40 if self.lanes else y) - 20),
                f.parameters[0] if f.parameters else turn.state,
                turn.state,
            )
            if self.before:
                self.wire(p("M", self.before.right + 3, mid, "H", x - 4), self.before.n, self.bottom[t])
            part = (self.joined[0], self.kx) if self.joined and not t else None
            given = self.given[t]
            if given >= 0 and (part or self._long(given) == self.kx):
                self.sheet(given, x, self.below, cw, self.cx, strip=True, label="", sub="", part=part)
                self.wire(p("M", x + cw / 2, self.below - 3, "V", y + self.long * c + 4), given, self.bottom[t])
            self.before = here
        if self.kx:
            name = short(o.finder.nodes[self.xs]["label"]).split("[")[0]
            name = "x" if name.startswith("v") and name[1:].isdigit() else name
            name = "x @ W" if f.turns[1].given == self.xs else name
            if self.small and len(name) > 3:  # there it has no room beside them
                self.text(4, self.below + self.kx * self.cx + 14, name, "m")
                self.h += 4
                self.below += 10
                name = ""
            self.text(self.left - 8, self.below + self.kx * self.cx / 2 + 4, name[: 3 if self.small else 5], "m", "end")

    def _first(self, state: str, mid: float, tall: float) -> None:
        """The states that the first step reads."""
        f, o, c, cw, y = self.f, self.o, self.c, self.cw, self.y
        wide = min(cw, 16.0)
        it = self.sheet(
            self.start,
            4 if self.small else 8,
            y,
            wide,
            c,
            strip=True,
            label=counted(state, 0) if len(state) < 4 and self.pitch > 21 else "",
            sub="",
            part=(self.joined[1], self.long) if self.joined else None,
        )
        self.wire(p("M", it.right + 3, mid, "H", self._at(0) - 4), self.start, self.bottom[0])
        for q, (row, first) in enumerate(zip(self.lanes, self.starts, strict=False)):
            if first >= 0:
                name, at = o.name(row[-1]), self.bus + 40 + q * tall
                label = counted(name, 0) if len(name) < 4 and self.pitch > 21 else ""
                self.sheet(first, it.x, at, wide, c, strip=True, label=label, sub="")
                way = p("M", it.right + 3, at + self.long * c / 2, "H", self._at(0) - 4)
                self.wire(way, first, row[0], thick=not f.stacked)

    def _lanes(self, k: int, t: int, x: float, tall: float) -> None:
        f, o, cw = self.f, self.o, self.cw
        for q, row in enumerate(self.lanes):
            y = self.bus + 40 + q * tall
            here = self.sheet(row[t], x, y, cw, self.c, strip=True, label=self._label(o.name(row[-1]), t), sub="")
            self.highest = self.highest if q else here
            if k and self.list[k - 1] >= 0:
                self.wire(
                    p("M", self.x_of[self.list[k - 1]] + cw / 2 + 3, y + self.long * self.c / 2, "H", x - 4),
                    row[t - 1],
                    row[t],
                    thick=not f.stacked,
                )
            if f.stacked:
                below = self.lanes[q + 1] if q + 1 < len(self.lanes) else self.bottom
                self.wire(p("M", x + cw / 2, y + tall - 19, "V", y + self.long * self.c + 3), below[t], row[t])
            else:
                self.wire(p("M", x + cw / 2, y + self.long * self.c + 3, "V", self.y - 19), row[t], f.turns[t].state)

    def _into_lanes(self, k: int, t: int, x: float, mid: float, tall: float) -> None:
        """What the further states of a step are made from besides their own last one: the input, and the state before."""
        f, given = self.f, self.given[t]
        before = self.before.n if self.before else self.start if not k else -1
        for q, row in enumerate(self.lanes if not f.stacked else ()):
            at = self.bus + 40 + q * tall + self.long * self.c * 0.8
            turn, finder = x - min(9.0, self.pitch * 0.2), self.o.finder
            if before >= 0 and finder.depends(row[t], before):
                self.wire(p("M", turn, mid, "V", at + 4, "q0 -4 4 -4H", x - 3), before, row[t])
            if given >= 0 and finder.depends(row[t], given) and (self.joined and not t or self._long(given) == self.kx):
                foot = self.below - 8
                self.wire(p("M", x + self.cw / 2, foot, "H", turn, "V", at + 4, "q0 -4 4 -4H", x - 3), given, row[t])

    def _norms(self) -> None:
        f, o = self.f, self.o
        y = self.below + (self.kx * self.cx if self.kx else 0) + 46
        name = o.name(f.turns[-1].state)
        said = f"size of ∂{short(o.name(o.finder.root))}/∂{name}" + (
            ", log scale" if self.small else " at each step, log scale"
        )
        if self.lanes and not self.small:
            said += f"; ring: ∂{short(o.name(o.finder.root))}/∂{o.name(self.other[0][-1])}"
        shown = [t for t in self.list if t >= 0]
        if self.hidden and not self.lanes:  # bars of all steps, closer where the steps are not drawn
            last = self.list[len(self.list) - self.list[::-1].index(-1)]
            first = last - self.hidden - 1
            apart = (self.x_of[last] - self.x_of[first]) / (self.hidden + 1)
            self.x_of |= {t: self.x_of[first] + apart * (t - first) for t in range(first + 1, last)}
            shown = list(range(len(f.turns)))
        rows = [[f.turns[t].state for t in shown], *([row[t] for t in shown] for row in self.other)]
        xs = [round(self.x_of[t], 1) for t in shown]
        bars: list[float] = [round(self.cw, 1), int(self.pitch >= 42 and not self.lanes)]
        wide = round(self.pitch * len(self.list) - self.pitch * 0.2, 1)
        self.sign("norms", self.left, y, f.turns[-1].state, w=wide, h=64, xs=xs, nodes=rows, rows=bars, t=said)
        self.h = max(self.h, y + 64 + 8)

    def _after(self) -> None:
        o, w = self.o, self.w
        last = self.highest if self.f.stacked else self.before
        assert last
        mid = last.mid
        layer = next((x for x in reversed(self.tail.layers) if x.factor >= 0), None) if self.tail else None
        if self.small and layer:
            return self._below(last, mid, layer)
        if self.small:
            y = self.h + 34
            self.wire(p("M", last.right + 3, mid, "H", w - 4, "V", y - 28), last.n, o.finder.root)
            return self.loss(w - 92, y, 88)
        if not layer:
            self.wire(p("M", last.right + 3, mid, "H", w - 90), last.n, o.finder.root)
            return self.loss(w - 88, mid, 86)
        x = self.left + len(self.list) * self.pitch + 4
        k = self._long(layer.op)
        c = max(4.0, min(15.0, self.long * self.c / k))
        y = mid - k * c / 2
        self.wire(p("M", last.right + 3, mid, "H", x - 4), last.n, layer.op)
        r, columns = o.shapes[layer.factor][-2:]
        cell = min(self.cell, (w - x - 8) / columns, (self.foot - 22) / r)
        name = short(o.name(layer.factor)).split(".")[-1]
        room = w - x > (len(name) + 2) * MONO
        self.sheet(layer.factor, x, self.foot - r * cell, cell, label=name if room else "", sub="", alone=True)
        self.wire(p("M", x + 8, self.foot + 3, "V", y - 20), layer.factor, layer.op)
        here = self.sheet(
            layer.op,
            x,
            y,
            18,
            c,
            strip=True,
            label=short(o.name(layer.op).split(".")[-1], 8)
            if len(o.name(layer.op).split(".")[-1]) < (9 if w >= 700 else 4)
            else "",
            sub="",
        )
        if w < 700:
            self.sheets[-1]["plain"] = True
        if self.single:
            x += 18 + (18 if w < 700 else 56)
            said = (x - 6, y - 6, "start", "softmax")
            self.put(
                self.single.logp,
                x,
                y,
                18,
                c,
                k,
                1,
                prob=[self.single.target, -1],
                label=said,
                lead=self._samples(layer.op),
            )
            self.wire(p("M", here.right + 3, mid, "H", x - 4), layer.op, self.single.logp)
            self.loss(min(w - 92, x - 36), y + k * c + 44, 90)
            self.wire(p("M", x + 9, y + k * c + 3, "V", y + k * c + 17), self.single.logp, o.finder.root)
        else:
            end = y + k * c + 48
            at = min(w - 92, here.x - 10)
            self.wire(p("M", here.centre, y + k * c + 4, "V", end - 28), layer.op, o.finder.root)
            self.loss(at, end, 88)

    def _below(self, last: Place, mid: float, layer: Layer) -> None:
        """On a narrow stage: the layer that reads the last state, in a row below all of it."""
        o, w = self.o, self.w
        turn, y = self.h + 16, self.h + 52
        r, k = o.shapes[layer.factor][-2:]
        cell, cw, ch = min(4.0, 40 / r, 44 / k), min(14.0, 56 / k), 18.0
        along = y + max(r * cell, ch) / 2
        self.wire(p("M", last.right + 3, mid, "H", w - 4, "V", turn, "H", 8, "V", along, "H", 18), last.n, layer.op)
        name = short(o.name(layer.factor)).split(".")[-1]
        weight = self.sheet(layer.factor, 22, along - r * cell / 2, cell, label=name, sub="", alone=True)
        x = max(weight.right, 22 + (len(name) + 2) * MONO) + 12
        self.wire(p("M", weight.right + 3, along, "H", x - 4), layer.factor, layer.op)
        named, y = short(o.name(layer.op).split(".")[-1], 8), along - ch / 2
        self.put(layer.op, x, y, cw, ch, 1, k, label=(x, y - 6, "start", named), lead=self._samples(layer.op))
        end, at = layer.op, x
        if self.single:
            at = x + max(k * cw, (len(named) + 2) * MONO) + 12
            said = (at, y - 6, "start", "softmax")
            self.put(
                self.single.logp,
                at,
                y,
                cw,
                ch,
                1,
                k,
                prob=[self.single.target, 1],
                label=said,
                lead=self._samples(layer.op),
            )
            self.wire(p("M", x + k * cw + 3, along, "H", at - 4), layer.op, self.single.logp)
            end = self.single.logp
        if at + max(k * cw, 7 * MONO) + 14 < w - 92:
            self.wire(p("M", at + k * cw + 3, along, "H", w - 92), end, o.finder.root)
            return self.loss(w - 90, along, 86)
        self.wire(p("M", at + 8, y + ch + 3, "V", y + ch + 22), end, o.finder.root)
        self.loss(min(w - 90, at), y + ch + 50, 86)

    def _samples(self, n: int) -> list[int]:
        """How the sample moves a row."""
        *outer, k = self.o.shapes[n]
        return [k, product(outer), 0, 1] if product(outer) > 1 else []


class LaneFigure(LayersFigure):
    """The residual stream as one straight lane, and each branch beside it."""

    LEAST = 74  # pixels of a branch

    def __init__(self, o: Figures, f: Lane, w: float, tail: Layers | None, loss: CrossEntropy | None):
        Draw.__init__(self, o, w)
        self.f, self.tail, self.cross, self.inner = f, tail, loss, False
        shape = o.shapes[f.start]
        self.planes = shape[-3] if len(shape) == 4 else 0
        self.rows, self.columns_ = (shape[-2] if len(shape) > 1 else 1), (shape[-1] if shape else 1)
        self.classes = o.shapes[loss.logits][-1] if loss else 0
        self.ends = [x for x in (tail.layers if tail else []) if x.kind in ("linear", "norm", "activation")]
        links = len(f.links)  # not so narrow a stage that more of them must be folded than below each other
        (self.downwards if w < 600 or self._room() / links < self.LEAST and links <= 10 else self.across)()

    def _room(self) -> float:
        """Pixels for all branches beside each other."""
        return self.w - 8 - max(40, self.columns_ * 4) * (1 + len(self.ends)) - 110

    def _blocks(self) -> list[tuple[str, list[int]]]:
        out: list[tuple[str, list[int]]] = []
        for k, link in enumerate(self.f.links):
            if out and out[-1][0] == link.block and link.block:
                out[-1][1].append(k)
            else:
                out.append((link.block, [k]))
        return out

    def _branches(self, fits: Callable[[int], bool], most: int) -> list[list[int]]:
        """What stands beside the lane: each link; where there is no room each block; in the end the middle ones as one."""
        links = [[k] for k in range(len(self.f.links))]
        if fits(len(links)):
            return links
        rows = [block for _, block in self._blocks()]
        if not fits(len(rows)) and len(rows) > 3:
            keep = max(3, most)
            head = math.ceil((keep - 1) / 2)
            tail = keep - 1 - head
            rows = [*rows[:head], [k for row in rows[head : len(rows) - tail] for k in row], *rows[len(rows) - tail :]]
        return rows

    def _title(self, row: list[int], w: float) -> str:
        links = [self.f.links[k] for k in row]
        blocks = {x.block for x in links}
        if len(row) > 1 and len(blocks) > 1:
            return f"{len(blocks)} blocks"
        name = links[0].block if len(row) > 1 and links[0].block else branch_name(self.f, row[0])
        name = name.split(".")[-1]
        if len(row) > 1 and not links[0].block:
            name = f"{len(row)} branches"
        return name if len(name) * MONO < w - 6 else name[: max(3, int((w - 6) / MONO) - 1)] + "…"

    def across(self) -> None:
        f, o, w = self.f, self.o, self.w
        t, wide = self.rows, self.columns_
        ends = len(self.ends)
        room = self._room()
        rows = self._branches(lambda n: room / n >= self.LEAST, int(room / self.LEAST))
        side = max(60.0, min(112.0, room / len(rows) * 0.3))  # pixels of a sheet on the lane, at most
        c = max(2.0, min(15.0, side // wide if wide <= side else side / wide, side // t if t <= side else side / t))
        gap_end = 22 if w < 900 else 34

        def fixed(c: float) -> float:
            return (
                max(0.0, 46 - wide * c / 2)
                + wide * c * (1 + len(rows))
                + sum(o.shapes[x.op][-1] * c for x in self.ends)
                + ends * gap_end
                + (30 if self.cross else 100)
            )

        while c > 3 and fixed(c) + len(rows) * 44 > w - 8:
            c -= 1
        gap = min(170.0 + 2 * (side - 60), (w - 8 - fixed(c)) / len(rows))
        sw, high = wide * c, t * c
        y = 30.0
        mid, below = y + high / 2, y + high + 40
        bw = max(30.0, min(gap + sw - 12, 240 + 2 * (side - 60)))
        sizes = [size for size in SIZES if size <= max(c, 3)]
        inner = next((size for size in sizes if max(self._tall(row, bw, size) for row in rows) <= 250), sizes[-1])
        h = max(self._tall(row, bw, inner) for row in rows)
        start = self._lane_sheet(f.start, max(4.0, 50 - sw / 2), y, c, short(o.name(f.start)), f"{t} × {wide}")
        x, before = start.right, f.start
        on_lane = [(f.start, start.centre)]
        spans: list[tuple[str, float, float]] = []
        for row in rows:
            first, last = f.links[row[0]], f.links[row[-1]]
            to = x + gap
            self.wire(p("M", x + 3, mid, "H", to - 4), before, last.add, thick=True)
            bx = x + gap / 2 - bw / 2 - sw * 0.06
            self.branch(row, bx, below, bw, h, inner)
            self.wire(
                p("M", x + 3, mid, "h6q7 0 7 7V", below - 2), before, first.norm if first.norm >= 0 else first.end
            )
            self.wire(p("M", to - 12, below - 2, "V", mid + 9), last.end, last.add)
            self.sign("plus", to - 12, mid, last.add)
            self._lane_sheet(last.add, to, y, c, "", "")
            on_lane.append((last.add, to + sw / 2))
            if self._title(row, w) == first.block.split(".")[-1]:
                pass  # the box has the name of the block
            elif first.block and spans and spans[-1][0] == first.block:
                spans[-1] = (first.block, spans[-1][1], to + sw)
            elif first.block and first.block == last.block:
                spans.append((first.block, x + 2, to + sw))
            x, before = to + sw, last.add
        for name, a, b in spans:
            self._span(name, a, b, below + h + 8)
        self._norms(on_lane, below + h + (62 if spans else 40))
        self._end(before, x, y, c, gap_end, below)

    def _end(self, before: int, x: float, y: float, c: float, gap_end: float, below: float) -> None:
        """What follows the lane: its last layers, and the loss."""
        o, w, t = self.o, self.w, self.rows
        high = t * c
        mid = y + high / 2
        for layer in self.ends:
            n = o.wider(layer)
            self.wire(p("M", x + 3, mid, "H", x + gap_end - 4), before, layer.op)
            name = self._named(layer, n)
            here = self._lane_sheet(
                n, x + gap_end, y, c, name if len(name) * MONO < o.shapes[n][-1] * c + gap_end else "", None
            )
            x, before = here.right, n
        if not self.cross:
            at = min(w - 94, x + 30)
            self.wire(p("M", x + 3, mid, "H", at - 2), before, o.finder.root)
            return self.loss(at, mid, 90)
        k = self.classes
        px = x - k * c
        c2 = max(5.0, min(14.0, (w - px - 78) // k, 11, 120 // t))
        self.wire(p("M", x - k * c / 2, y + high + 19, "V", below + 2), before, self.cross.logits)
        self.probabilities(min(px, w - max(k * c2, 50) - 92), below + 24, c2, t, None, 46)

    def _lane_sheet(self, n: int, x: float, y: float, c: float, label: str, sub: str | None) -> Place:
        return self.sheet(
            n,
            x,
            y,
            c,
            label=label,
            sub=sub,
            plane=0 if self.planes and len(self.o.shapes[n]) == 4 else -1,
            alone=bool(self.planes),
        )

    def _norms(self, on_lane: list[tuple[int, float]], y: float) -> None:
        """The sizes of the gradients along the lane: whether they vanish or explode on the way back."""
        o = self.o
        on_lane = [(n, x) for n, x in on_lane if o.finder.live[n]]
        if len(on_lane) < 2:
            return
        xs = [round(x, 1) for _, x in on_lane]
        said = f"size of ∂{short(o.name(o.finder.root))} along the lane, log scale"
        shape = o.shapes[on_lane[-1][0]]
        said += ", of all samples" if product(shape[:1] if self.planes else shape[:-2]) > 1 else ""
        if 36 + SANS * len(said) > self.w:
            said = said.replace(" along the lane", "")
        wide = min(22.0, (xs[-1] - xs[0]) / len(xs) * 0.5)
        left = min(xs[0] - 14, 36.0)
        self.sign("norms", left, y, on_lane[-1][0], w=xs[-1] + wide - left, h=52, xs=xs, nodes=[[n for n, _ in on_lane]],
                  rows=[round(wide, 1), int((xs[-1] - xs[0]) / len(xs) >= 46)], t=said)  # fmt: skip
        self.h = max(self.h, y + 60)

    def _span(self, name: str, a: float, b: float, y: float) -> None:
        said = short(name, 22)
        if len(said) * MONO > b - a:
            said = name.split(".")[-1]
        if len(said) * MONO > b - a:
            return
        self.sign("span", a + 6, y - 4, -1, w=round(b - a - 12, 1))
        self.text((a + b) / 2, y + 16, said, "m", "middle")

    def _inside(self, row: list[int]) -> list[tuple[str, list[tuple[int, int]]]]:
        """The contents of a branch's box: pairs of a name and its tensors, each with a plane or -1. [] where the row has several blocks."""
        links = [self.f.links[k] for k in row]
        if len({x.block for x in links}) > 1:
            return []
        if len(row) > 1:
            return [self._main(x) for x in links if x.form]
        link = links[0]
        named = self.o.finder.nodes[link.end]["named"]
        end = (short(self.o.name(link.end)).split(".")[-1] if named else "", [(link.end, self._plane(link.end))])
        norm = [
            (module_of(self.o.finder.nodes[link.norm]).split(".")[-1] or "norm", [(link.norm, self._plane(link.norm))])
        ]
        out = norm if link.norm >= 0 else []
        if not link.form:
            return [*out, end]
        if isinstance(link.form, Layers):
            layers = [x for x in self._columns(link.form)[1:] if x[1] and x[1].op != link.norm]
            return [*out, *((name, [(n, self._plane(n))]) for n, _, name in layers)]
        a = link.form
        read = [(self._called(i, role), [(i, -1)]) for role, i in (("q", a.q), ("k", a.k), ("v", a.v))]
        last = a.then[-1].op if a.then else a.joined
        heads = "heads" if a.heads or len(self.o.shapes[a.out]) == 4 else "out"
        joined = a.joined if a.joined >= 0 else next((i for i in self._views(a) if self._rows(i)), a.out)
        end = (
            self._named(a.then[-1], last).split(".")[-1] if a.then else "",
            [(self.o.wider(a.then[-1]) if a.then else last, -1)],
        )
        return [
            *out,
            *read,
            self._main(link),
            (self._called(joined, heads), [(joined, -1)]),
            *([end] if a.then else []),
        ]

    def _called(self, n: int, role: str) -> str:
        node = self.o.finder.nodes[n]
        return node["label"] if node["named"] and len(node["label"]) <= len(role) + 4 else role

    def _plane(self, n: int) -> int:
        """Of planes the first one is drawn."""
        return 0 if len(self.o.shapes[n]) == 4 and self.planes else -1

    def _views(self, a: Attention) -> list[int]:
        """The result of the heads in the shapes that follow it."""
        i, out = a.out, list[int]()
        while len(self.o.finder.users[i]) == 1 and self.o.finder.free(self.o.finder.users[i][0]):
            i = self.o.finder.users[i][0]
            out.append(i)
        return out

    def _rows(self, n: int) -> bool:
        """Does a tensor have the rows of the lane?"""
        return self.o.shapes[n][-2:] == [self.rows, self.columns_] and len(self.o.shapes[n]) < 4

    def _main(self, link: Link) -> tuple[str, list[tuple[int, int]]]:
        """The most telling sheets of a branch: the weights of its heads, or the widest layer in its middle."""
        if isinstance(link.form, Attention):
            apart = [head.weights for head in (link.form, *link.form.heads)]  # tensors of their own
            shape = self.o.shapes[apart[0]]
            several = len(shape) == 4 and shape[-3] > 1
            some = [(apart[0], k) for k in range(2)] if several else [(i, -1) for i in apart[:2]]
            return "weights 1, 2" if len(some) > 1 else "weights", some
        assert link.form
        inner = [z for z in link.form.layers if z.kind != "norm"]
        n = self.o.wider(inner[-2]) if len(inner) > 1 else inner[-1].op
        return "", [(n, 0 if len(self.o.shapes[n]) == 4 else -1)]

    def _made_apart(self, row: list[int]) -> set[int]:
        """k and v, which are made beside q and not of it."""
        form = self.f.links[row[0]].form
        return {form.k, form.v} if isinstance(form, Attention) else set()

    GAP_IN, NAME_IN = 12, 16  # pixels between the sheets in a box, and above each for its name

    def _size(self, n: int) -> tuple[int, int]:
        shape = self.o.shapes[n]
        return (shape[-2] if len(shape) > 1 else 1), (shape[-1] if shape else 1)

    def _wrapped(self, row: list[int], w: float, c: float) -> list[list[tuple[str, list[tuple[int, int]], float]]]:
        """The sheets of a box in lines, each with its width."""
        lines: list[list[tuple[str, list[tuple[int, int]], float]]] = []
        left = 0.0
        for name, some in self._inside(row):
            wide = sum(self._size(n)[1] for n, _ in some) * c + 4 * (len(some) - 1)
            wide = min(w - 16, max(wide, len(name) * MONO))
            if not lines or left + self.GAP_IN + wide > w - 16:
                lines.append([])
                left = -self.GAP_IN
            left += self.GAP_IN + wide
            lines[-1].append((name, some, wide))
        return lines

    def _tall(self, row: list[int], w: float, c: float) -> float:
        """How high a box of this width is with cells of this size."""
        lines = self._wrapped(row, w, c)
        return 30 + sum(
            self.NAME_IN + 8 + c * max(self._size(n)[0] for _, some, _ in line for n, _ in some) for line in lines
        )

    def branch(self, row: list[int], x: float, y: float, w: float, h: float, c: float) -> None:  # type: ignore[override]
        """Draw the box of a residual branch with its main tensors; a click opens it."""
        part = f"link{row[0]}" if len(row) == 1 else ""
        end = self.f.links[row[-1]].end
        self.sign(
            "branch", x, y, end, w=round(w, 1), h=round(h, 1), t=self._title(row, w), **({"part": part} if part else {})
        )
        self.h = max(self.h, y + h)
        if w < 26:
            return
        top = y + 26 + (h - self._tall(row, w, c)) / 2
        before: Place | None = None
        lines = self._wrapped(row, w, c)
        total = max((sum(wide + self.GAP_IN for *_, wide in line) for line in lines), default=0) - self.GAP_IN
        for line in lines:
            at, tall = x + max(8.0, (w - total) / 2), max(self._size(n)[0] for _, some, _ in line for n, _ in some) * c
            top += self.NAME_IN
            for k, (name, some, wide) in enumerate(line):
                columns = sum(self._size(n)[1] for n, _ in some)
                cw = min(c, (wide - 4 * (len(some) - 1)) / columns)
                if k and before and some[0][0] not in self._made_apart(row):
                    self.wire(p("M", before.right + 2, top + tall / 2, "H", at - 2), before.n, some[0][0])
                for q, (n, plane) in enumerate(some):
                    high = self._size(n)[0] * c
                    before = self.sheet(
                        n, at, top + (tall - high) / 2, cw, c, plane=plane, label="" if q else name, sub="", alone=True
                    )
                    if not q and name:
                        self.sheets[-1]["label"] = (round(at, 1), round(top - 4, 1), "start", name)
                        self.sheets[-1]["plain"] = True
                    at = before.right + 4
                at += max(0.0, wide - (columns * cw + 4 * (len(some) - 1))) - 4 + self.GAP_IN
            top += tall + 8

    def downwards(self) -> None:
        f, o, w = self.f, self.o, self.w
        wide, t = self.columns_, self.rows
        c = max(2.0, min(8.0, 64 // wide if wide <= 64 else 64 / wide, 60 / t))
        sw, x = wide * c, 16.0
        rows = self._branches(lambda n: n <= 10, 10)
        bx = x + sw + 26
        bw = w - bx - 8
        sizes = [size for size in SIZES if size <= max(c * 1.5, 3)]
        inner = next((size for size in sizes if max(self._tall(row, bw, size) for row in rows) <= 140), sizes[-1])
        y = 26.0
        self._lane_sheet(f.start, x, y, c, short(o.name(f.start)), "")
        before = f.start
        for row in rows:
            first, last = f.links[row[0]], f.links[row[-1]]
            tall = self._tall(row, bw, inner)
            to = y + max(t * c + 44, tall + 22)
            self.wire(p("M", x + sw / 2, y + t * c + 3, "V", to - 4), before, last.add, thick=True)
            self.branch(row, bx, y + t * c / 2 + 8, bw, max(tall, t * c + 22), inner)
            self.wire(
                p("M", x + sw + 3, y + t * c / 2, "h10q6 0 6 6V", y + t * c / 2 + 18, "h8"),
                before,
                first.norm if first.norm >= 0 else first.end,
            )
            self.wire(p("M", bx, to + 4, "H", x + sw + 3), last.end, last.add)
            self._lane_sheet(last.add, x, to, c, "", "")
            self.sign("plus", x + sw + 13, to + 4, last.add)
            before, y = last.add, to
        self.h = y + t * c + 10
        y += t * c + 40
        x2, from_ = x, x + sw / 2
        for layer in self.ends:
            n = o.wider(layer)
            here = self._lane_sheet(n, x2, y, c, self._named(layer, n), "")
            if layer is self.ends[0]:
                self.wire(p("M", from_, y - 36, "V", y - 20), before, layer.op)
            else:
                self.wire(p("M", x2 - 30, here.mid, "H", x2 - 4), before, layer.op)
            before, x2 = n, max(here.right + 34, here.x + (len(self._named(layer, n)) + 3) * MONO)
        if self.cross:
            c2 = max(5.0, min(10.0, (w - x2 - 110) // self.classes))
            self.probabilities(x2, y, c2, t, Place(before, x2 - 34, y, 0, t * c2), 50)
        else:
            mid = y + t * c / 2
            way = p("M", x2 - 30, mid, "H", x2 + 18) if self.ends else p("M", from_, y - 36, "V", y - 14)
            self.wire(way, before, o.finder.root)
            self.loss(x2 + 20, mid, 90) if self.ends else self.loss(x, y + 14, 90)
        lane = [n for n in (f.start, *(f.links[row[-1]].add for row in rows)) if o.finder.live[n]]
        self._norms([(n, 64 + (w - 96) * k / max(1, len(lane) - 1)) for k, n in enumerate(lane)], self.h + 36)
