"""Two graphs, one above the other: a program's, and the one that create_graph=True records during its backward pass.

What lives here: `stacked(program, **inputs)`; choosing an edge of the first graph shows the nodes of the second that its rule made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad.tracing.trace import Node, trace

from ..layout import CARD_PAD, fitted
from ..show import Table
from .cards import card, pill, wire
from .kit import Choice, Field, Figure, Given, Inputs, lesson
from .lesson import Judgement, label, number, svg, tag
from .tensor_program import inputs_of, run

CANNED = "a = sin(x); y = a*x"
W, H, GAP = 152.0, 62.0, 46.0
MOST = 26  # cards that have room
_LOOK = (
    "<style>.mgl .card.second{stroke-dasharray:8 3}.mgl .hang{fill:none;stroke:var(--soft);stroke-width:1.8;stroke-dasharray:2 3}"
    "</style>"
)


class Stack:
    """Both graphs of one program, the gradients, and their derivatives."""

    def __init__(self, program: str | Callable, inputs: dict[str, float]):
        names = inputs_of(program)
        root, named = run(program, {name: float(inputs.get(name, 2.0)) for name in names} | {
            name: value for name, value in inputs.items() if name not in names}, dtype=torch.float64)  # fmt: skip
        self.trace = trace(root, named, second=True)
        self.nodes: list[Node] = self.trace["nodes"]
        visible = [n for n in self.nodes if n["kind"] != "constant"]
        if len(visible) > MOST:
            raise ValueError(
                f"both graphs together have {len(visible)} nodes, and there is room for {MOST}: show a shorter program."
            )
        self.first = [n["id"] for n in visible if not n.get("layer")]
        self.second = [n["id"] for n in visible if n.get("layer")]
        self.edges = [
            e
            for e in self.trace["edges"]
            if e["source"] in self.first and e["target"] in self.first and e["carries_grad"]
        ]
        self.name = self.nodes[self.trace["root"]]["label"]
        self.chosen, self.create = 0, True
        self.leaves = {name: named[name] for name in names if name in named}
        self.slopes: dict[str, float | None] = {}
        self.bends: dict[str, float | None] = {}
        for name, leaf in self.leaves.items():
            (g,) = torch.autograd.grad(root, leaf, create_graph=True, allow_unused=True)
            self.slopes[name] = None if g is None else g.item()
            h = None
            if g is not None and g.requires_grad:
                (h,) = torch.autograd.grad(g, leaf, retain_graph=True, allow_unused=True)
            self.bends[name] = None if g is None else 0.0 if h is None else h.item()
        self.error = self._without(root, next(iter(self.leaves.values())))

    @staticmethod
    def _without(root: torch.Tensor, leaf: torch.Tensor) -> str:
        """What the engine says when a gradient that was not recorded is differentiated."""
        (g,) = torch.autograd.grad(root, leaf, retain_graph=True, allow_unused=True)
        try:
            torch.autograd.grad(g, leaf)
        except RuntimeError as error:
            return f"RuntimeError: {str(error).splitlines()[0]}"
        return ""

    def ends(self, k: int) -> str:
        edge = self.edges[k]
        return f"{self.nodes[edge['source']]['label']} → {self.nodes[edge['target']]['label']}"

    @property
    def made(self) -> list[int]:
        return [i for i in self.edges[self.chosen].get("makes", []) if i in self.second] if self.create else []

    def results(self) -> list[str]:
        y = self.name
        return [
            f"d{y}/d{n} = {number(self.slopes[n], 5)},  d²{y}/d{n}² = {number(self.bends[n], 5)}" for n in self.leaves
        ]

    def sentence(self) -> str:
        if not self.create:
            return Judgement(
                False,
                f"Without create_graph=True the gradient is a plain number. To differentiate it once more gives: {self.error}.",
            )
        local = self.edges[self.chosen].get("local_text") or number(self.edges[self.chosen]["local"])
        results = [self.nodes[i]["expr"] or self.nodes[i]["label"] for i in self.made]
        if not results:
            return f"The edge {self.ends(self.chosen)} multiplies by {local}. That depends on no input, so its rule makes no node."
        count = f"{len(results)} node{'s' * (len(results) > 1)}"
        return f"The edge {self.ends(self.chosen)} multiplies by {local}. Its rule makes {count}: {', '.join(results)}."

    # The picture -------------------------------------------------------------------------------------------------------------------
    def _shelf(self, ids: list[int], top: float) -> tuple[dict[int, tuple[float, float]], float]:
        depth: dict[int, int] = {}
        rows: dict[int, int] = {}
        places = {}
        for i in ids:
            before = [depth[e["source"]] + 1 for e in self.trace["edges"] if e["target"] == i and e["source"] in depth]
            depth[i] = max(before, default=0)
        for i in ids:
            places[i] = 40 + depth[i] * (W + GAP), top + rows.get(depth[i], 0) * (H + 22)
            rows[depth[i]] = rows.get(depth[i], 0) + 1
        return places, top + max(rows.values(), default=1) * (H + 22)

    def svg(self) -> str:
        upper, below = self._shelf(self.first, 74.0)
        lower, bottom = self._shelf(self.second, below + 62) if self.create else ({}, below + 110)
        width = max(790.0, *(x + W + 40 for x, _ in [*upper.values(), *lower.values()]))
        out = _LOOK + tag("rect", "panel", x=10, y=12, width=width - 20, height=below - 14, rx=10)
        out += label(24, 34, "the first graph: the program", "h fwd")
        out += tag("rect", "panel", x=10, y=below + 20, width=width - 20, height=bottom - below - 14, rx=10)
        out += label(
            24,
            below + 44,
            "the second graph: the backward pass, recorded" if self.create else "no second graph",
            "h bwd",
        )
        result = self.made
        places = {**upper, **lower}
        if self.create:
            for e in self.trace["edges"]:
                if e["source"] in upper and e["target"] in result:  # what the rule saved
                    (x0, y0), (x1, y1) = upper[e["source"]], lower[e["target"]]
                    a, b, drop = x0 + 16, y1 + H / 2, 70
                    d = f"M{a:.0f} {y0 + H:.0f}C{a:.0f} {y0 + H + drop:.0f} {x1 - 26:.0f} {b - 40:.0f} {x1:.0f} {b:.0f}"
                    out += tag("path", "hang", d=d)
        marks = ""
        for e in self.trace["edges"]:
            if e["source"] in places and e["target"] in places and (e["source"] in upper) == (e["target"] in upper):
                line, mark = self._wire(places[e["source"]], places[e["target"]], e["source"] in upper, e)
                out, marks = out + line, marks + mark
        for i, (x, y) in places.items():
            out += self._card(i, result, x, y)
        out += marks
        y = bottom + 26
        if self.create:
            for text in self.results():
                out += label(24, y, text, "num v b")
                y += 22
        else:
            slope = self.results()[0].split(",")[0]
            out += label(24, below + 70, f"The gradient is a plain number, {slope}: it has no grad_fn.", "num t")
            out += label(24, below + 90, "✗ " + self.error, "t b bad")
        return svg(width, y - 4, out, self.sentence())

    def _wire(self, a: tuple[float, float], b: tuple[float, float], first: bool, edge: Any) -> tuple[str, str]:
        over = b[0] - a[0] > W + GAP + 1 and a[1] == b[1]
        if over:  # over the cards between
            x0, x1, y = a[0] + W - 30, b[0] + 30, a[1]
            d, middle = (
                f"M{x0:.0f} {y:.0f}C{x0 + 30:.0f} {y - 34:.0f} {x1 - 30:.0f} {y - 34:.0f} {x1:.0f} {y:.0f}",
                ((x0 + x1) / 2, y - 25),
            )
        else:
            x0, x1, y0, y1 = a[0] + W, b[0], a[1] + H / 2, b[1] + H / 2
            half = (x0 + x1) / 2
            d, middle = (
                f"M{x0:.0f} {y0:.0f}C{half:.0f} {y0:.0f} {half:.0f} {y1:.0f} {x1:.0f} {y1:.0f}",
                (half, (y0 + y1) / 2),
            )
        if not first:
            return tag("path", "wire", d=d) if over else wire(d), ""
        at = next((k for k, e in enumerate(self.edges) if e["id"] == edge["id"]), None)
        if at is None:
            return "", ""
        chosen = at == self.chosen
        kind = "sent at" if chosen else ""
        line = tag("path", f"wire {kind}".strip(), d=d) if over else wire(d, kind=kind)
        return line, pill(*middle, str(at + 1), "" if chosen else "idle", "b")

    def _card(self, i: int, made: list[int], x: float, y: float) -> str:
        node = self.nodes[i]
        name, expr = fitted(node["label"], node["expr"] if node["expr"] != node["label"] else "", W - 2 * CARD_PAD)
        kind = ("second " if i in self.second else "") + (
            "at" if i in made else "leaf" if node["kind"] == "leaf" else ""
        )
        sentence = "made" if i in made else "leaf" if node["kind"] == "leaf" else "value"
        return card(
            {"x": x, "y": y, "w": W, "h": H, "name": name, "expr": expr},
            [(sentence, number(node["value"], 5), "fwd")],
            kind.strip(),
        )

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Each edge of the first graph: its number, its ends, its factor, the nodes that its rule created."""
        rows = []
        for k, edge in enumerate(self.edges):
            results = [
                self.nodes[i]["expr"] or self.nodes[i]["label"] for i in edge.get("makes", []) if i in self.second
            ]
            rows.append((str(k + 1), self.ends(k), str(edge.get("local_text")), ", ".join(results) or "nothing"))
        return rows


@lesson
class stacked(Figure):
    """The graph of a program above the graph of its gradient; choose an edge of the first to see what its rule made in the second.

    program: formulas such as "a = sin(x); y = a*x", or a function of Tensors that are single numbers; inputs: their values (2 if left out);
    edge: the edge that is chosen at first, as numbered in the picture. Returns a widget, or one sentence that says what is wrong.

    >>> print(stacked("y = x**3", x=2).text().splitlines()[1])
    dy/dx = 12,  d²y/dx² = 12
    """

    program = Given(None)
    edge = Given(1)
    create_graph = Choice({"create_graph=True": True, "create_graph=False": False}, "differentiate with", True)
    inputs = Inputs(fixed=True)
    state: Stack | None = None

    def fields(self) -> dict[str, Field]:
        result = super().fields()
        if self.state is not None:
            ends = {f"{k + 1}: {self.state.ends(k)}": k + 1 for k in range(len(self.state.edges))}
            result["edge"] = Choice(ends, "edge", 1).named("edge")
        return result

    def setup(self) -> None:
        if self.program is not None and not isinstance(self.program, str) and not callable(self.program):
            kind = type(self.program).__name__
            raise TypeError(f"it needs a function, or formulas such as 'a = sin(x); y = a*x'. It was given {kind}.")
        state = Stack(CANNED if self.program is None else self.program, self.inputs)
        if self.edge not in range(1, len(state.edges) + 1):
            raise ValueError(f"there is no edge {self.edge!r}; the first graph has the edges 1 to {len(state.edges)}.")
        state.chosen, state.create = self.edge - 1, self.create_graph
        self.state = state

    def sentence(self) -> str:
        assert self.state is not None
        return self.state.sentence()

    def draw(self) -> str:
        assert self.state is not None
        return self.state.svg()

    def table(self) -> Table:
        assert self.state is not None
        return Table(("", "edge", "multiplies by", "its rule makes"), self.state.rows())

    def text(self) -> str:
        assert self.state is not None
        rows = (f"{k}  {ends}  × {by}  makes: {result}" for k, ends, by, result in self.state.rows())
        return "\n".join([*rows, *self.state.results(), self.sentence()])
