"""The graph inspector: a walk through the nodes behind a Tensor, one next_functions at a time, with the code that gets there.

What lives here: `inspector(y)`. It uses nothing but what any learner can type: grad_fn, name(), next_functions, variable.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from minigrad.tracing.trace import Edge, Node, Trace, is_tensor

from ..show import Table
from .cards import card, pill, places, wire
from .kit import Figure, Given, lesson
from .lesson import svg

MOST = 60  # nodes that are drawn


def short(node: Any) -> str:
    """What the node is called, without the C++ namespace that PyTorch puts before AccumulateGrad."""
    return node.name().rpartition("::")[2]


class Walk:
    """The graph behind `root`, and a place in it: `path` holds which of the next_functions were taken."""

    def __init__(self, root: Any, name: str, names: Mapping[str, object]):
        self.name = name
        self.path: list[int] = []
        self.nodes: list[Any] = [root.grad_fn]
        todo = [root.grad_fn]
        while todo:
            for parent, _ in todo.pop(0).next_functions:
                if parent is not None and not any(parent is n for n in self.nodes):
                    self.nodes.append(parent)
                    todo.append(parent)
                    if len(self.nodes) > MOST:
                        raise ValueError(
                            f"this graph has more than {MOST} nodes: show the result of a smaller computation."
                        )
        self.leaves = {id(thing): n for n, thing in reversed(list(names.items())) if is_tensor(thing) and n[:1] != "_"}
        self.drawn = places(self._as_trace())

    def index(self, node: object) -> int:
        return next(i for i, n in enumerate(self.nodes) if n is node)

    @property
    def here(self) -> Any:
        node = self.nodes[0]
        for k in self.path:
            node = node.next_functions[k][0]
        return node

    @property
    def code(self) -> str:
        return f"{self.name}.grad_fn" + "".join(f".next_functions[{k}][0]" for k in self.path)

    def leaf(self, node: Any) -> str:
        """The learner's name of the leaf behind an AccumulateGrad; "" for other nodes."""
        return self.leaves.get(id(node.variable), "a leaf without a name") if hasattr(node, "variable") else ""

    def _as_trace(self) -> Trace:
        """Nodes and links in the form that the layout reads, parents first; each None is a card of its own."""
        self.ends: list[tuple[int, int, int]] = []  # by edge: node, which of its next_functions, card that it leads to
        cards = [short(n) for n in self.nodes]
        for i, node in enumerate(self.nodes):
            for k, (parent, _) in enumerate(node.next_functions):
                if parent is None:
                    cards.append("None")
                self.ends.append((i, k, len(cards) - 1 if parent is None else self.index(parent)))
        nodes = [
            Node(
                id=i, kind="constant" if text == "None" else "operation", op="", label=text + "  ", named=True, value=0.0, grad=None,
                expr="", requires_grad=True, rule="", saved=[], source=None, scope="",
            )
            for i, text in enumerate(cards)
        ]  # fmt: skip
        edges = [
            Edge(id=j, source=to, target=i, slot=k, local=None, local_text="[0]", carries_grad=True)
            for j, (i, k, to) in enumerate(self.ends)
        ]
        return Trace(version=1, engine="value", title="", root=0, nodes=nodes, edges=edges, steps=[])

    # The picture --------------------------------------------------------------------------------------------------------------
    def svg(self) -> str:
        at, used, node = self.index(self.here), set(), self.nodes[0]
        for k in self.path:
            used.add((self.index(node), k))
            node = node.next_functions[k][0]
        out, pills = "", ""
        for w in self.drawn["wires"]:
            i, k, _ = self.ends[w["id"]]
            taken_here = (i, k) in used
            out += wire(w["d"], True, "at" if taken_here else "")
            if i == at or taken_here:
                pills += pill(w["px"], w["py"], f"[{k}]", "sent")
        for place in self.drawn["cards"]:
            text = place["name"].strip()
            leaf = "" if text == "None" else self.leaf(self.nodes[place["id"]])
            kind = ("constant" if text == "None" else "leaf" if leaf else "") + (" at" if place["id"] == at else "")
            sentence = (
                f"→ {leaf}.grad"
                if leaf
                else f"{self.name}.grad_fn"
                if not place["id"]
                else "nothing to visit"
                if text == "None"
                else ""
            )
            out += card(
                {**place, "name": text}, [(sentence, "", "bwd" if leaf else "")] if sentence else [], kind.strip()
            )
        out += pills
        return svg(max(self.drawn["w"], 480), self.drawn["h"], out, self.sentence())

    # Text alternative ----------------------------------------------------------------------------------------------------------
    def sentence(self) -> str:
        node = self.here
        ways = [short(p) if p is not None else "None" for p, _ in node.next_functions]
        if leaf := self.leaf(node):
            return f"{short(node)}: the end of a path. It adds the gradient it receives to {leaf}.grad; .variable is the leaf itself."
        return f"{short(node)}: gradients go from here to {' and '.join(ways)}."

    def rows(self) -> list[tuple[str, str]]:
        return [
            (short(n), ", ".join("None" if p is None else short(p) for p, _ in n.next_functions) or "–")
            for n in self.nodes
        ]

    def text(self) -> str:
        wide = max(len(a) for a, _ in self.rows())
        return "\n".join(
            [f"{self.code}: {self.sentence()}", "", *(f"{a.ljust(wide)}  ->  {b}" for a, b in self.rows())]
        )


@lesson
class inspector(Figure):
    """Walk from a Tensor's grad_fn along next_functions to the leaves; each button press shows the code that does the same.

    y: a Tensor that was computed from something that requires gradients.
    Returns a widget; where there is no graph, a widget with one sentence that says why.
    """

    y = Given()
    space: dict[str, Any] | None = {}
    walk: Any = None  # a Walk; None until setup

    def setup(self) -> None:
        y, names = self.y, self.space or {}
        if not is_tensor(y):
            raise TypeError(
                f"it walks the graph of a Tensor. It was given {type(y).__name__}; for a Value, use %graph."
            )
        if y.grad_fn is None:
            why = (
                "is a leaf: nothing computed it"
                if y.requires_grad
                else "was computed from nothing that requires gradients"
            )
            raise ValueError(f"this tensor {why}, so its grad_fn is None and there is nothing to walk. Show a result.")
        self.walk = Walk(y, next((n for n, thing in names.items() if thing is y and n[:1] != "_"), "y"), names)
        self.space = None  # nothing of the learner's is kept alive

    def go(self, way: int | None) -> None:
        """Follow one of the next_functions; None: back to the root."""
        self.walk = copy.copy(self.walk)
        self.walk.path = [] if way is None else [*self.walk.path, way]

    def actions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        yield (
            "root",
            {"label": "◂ root", "hint": "back to the root", "when": lambda f: f.walk.path, "run": lambda f: f.go(None)},
        )
        for k, (parent, _) in enumerate(self.walk.here.next_functions):
            text = f"next_functions[{k}] → {'None' if parent is None else short(parent)}"
            may = parent is not None
            yield (
                f"next{k}",
                {"label": text, "hint": "", "when": lambda _f, may=may: may, "run": lambda f, k=k: f.go(k)},
            )

    def sentence(self) -> str:
        return self.walk.sentence()

    def code(self) -> str:
        return self.walk.code

    def draw(self) -> str:
        return self.walk.svg()

    def table(self) -> Table:
        return Table(("node", "its next_functions"), self.walk.rows())

    def text(self) -> str:
        return self.walk.text()
