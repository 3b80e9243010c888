"""The duel: one program run by a learner's class beside minigrad's Value, as a picture, a table and a text.

`Duel` is drawn up to its first `at` events. Running and judging is in listen.py, the controls are in own_engine.py and order_game.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from minigrad.tracing.trace import Edge, Node, Trace

from ..show import Table
from .cards import card, pill, places, wire
from .lesson import Judgement, number, same, svg
from .listen import Observation, Write, listen

TIMES = {"*": " × ", "+": " + ", "-": " − ", "/": " / "}
SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
HEAD = ("node", "computes", "your value", "right value", "your grad", "right grad", "")
Wire = tuple[int, int]  # (node, parent): the gradient goes from the node to its parent


def expression(r: Observation, i: int) -> str:
    """What a node computes, with its parents' names; "" for an input."""
    node = r.nodes[i]
    names = [r.nodes[p].label for p in node.parents]
    if not names:
        return ""
    if node.op.startswith("**") and len(names) == 1:
        return names[0] + node.op[2:].translate(SUPERSCRIPT)
    if len(names) == 1:
        return f"{node.op}({names[0]})"
    return TIMES.get(node.op, f" {node.op} ").join(names)


def as_trace(r: Observation) -> Trace:
    """The learner's graph in the form that the layout reads: positions need names and links, no rules and no steps."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    for n in r.nodes:
        kind: Literal["leaf", "constant", "operation"] = (
            "operation" if n.parents else "constant" if n.constant else "leaf"
        )
        node = Node(
            id=n.id, kind=kind, op=n.op, label=n.label, named=True, expr=expression(r, n.id), value=0.0, grad=None,
            requires_grad=not n.constant, rule="", saved=[], source=None, scope="",
        )  # fmt: skip
        nodes.append(node)
        for slot, p in enumerate(n.parents):
            carries = not r.nodes[p].constant
            edge = Edge(
                id=len(edges), source=p, target=n.id, slot=slot, local=None, local_text="+00 +00", carries_grad=carries
            )
            edges.append(edge)
    return Trace(version=1, engine="value", title="", root=len(nodes) - 1, nodes=nodes, edges=edges, steps=[])


class Duel:
    """A recording of both runs, and how to show it.

    at: how many writes to a grad have happened. judged: whether right and wrong are marked.
    """

    def __init__(self, cls: type, backward: Callable | None, program: Callable, inputs: dict[str, float]):
        self.r = listen(cls, program, inputs, backward)
        self.at = len(self.r.writes)
        self.judged = True
        self.drawn = places(as_trace(self.r)) if self.r.nodes else None

    @property
    def finished(self) -> bool:
        return self.at >= len(self.r.writes)

    @property
    def fault(self) -> Write | None:
        """The first wrong write, once it has happened."""
        k = self.r.wrong_write
        return self.r.writes[k] if self.judged and k is not None and self.at > k else None

    def _state(self) -> tuple[dict[int, object], dict[Wire, list[str]]]:
        """Every gradient, and what each wire has carried, after the first `at` writes."""
        grads = {n.id: n.grad if self.finished else 0.0 for n in self.r.nodes}
        sent: dict[Wire, list[str]] = {}
        for w in self.r.writes[: self.at]:
            grads[w.node] = w.after
            cleared = not w.added and same(w.before, 0.0) and same(w.after, 0.0)  # nothing was sent
            if w.sender is not None and isinstance(w.after, (int, float)) and not cleared:
                sent.setdefault((w.sender, w.node), []).append(carried(w))
        return grads, sent

    # --- the picture

    def svg(self, words: str | None = None) -> str:
        """The picture; `words` is its text alternative."""
        if self.drawn is None:
            return ""
        return svg(
            self.drawn["w"],
            self.drawn["h"],
            self.body(),
            f"The graph with its values and gradients. {words or self.event()}",
        )

    def body(self) -> str:
        """Wires, cards and pills, without the frame around them."""
        assert self.drawn is not None
        grads, sent = self._state()
        now = self.r.writes[self.at - 1] if 0 < self.at < len(self.r.writes) else None
        ends: list[Wire] = [(n.id, p) for n in self.r.nodes for p in n.parents]  # by edge id
        wires, pills = [], []
        for w in self.drawn["wires"]:
            key = ends[w["id"]]
            twins = [i for i, end in enumerate(ends) if end == key]
            turn = twins.index(w["id"])
            shares = sent.get(key, [])[turn :: len(twins)]  # of a + a, each wire shows its own
            off = self.fault is not None and key == (self.fault.sender, self.fault.node)
            wires.append(
                wire(w["d"], bool(shares), "off" if off else "at" if now and key == (now.sender, now.node) else "")
            )
            local = self.r.locals.get(key)
            if shares:
                text = ("✗ " if off else "") + ("… " if len(shares) > 2 else "") + " ".join(shares[-2:])
                pills.append(pill(w["px"], w["py"], text, "off" if off else "sent", "bad b" if off else "bwd b"))
            elif local:  # not sent yet: what will be multiplied
                pills.append(pill(w["px"], w["py"], "× " + number(local[turn % len(local)], 4), "idle", "soft"))
        cards = [self._card(place, grads, now) for place in self.drawn["cards"]]
        return "".join(wires + cards + pills)

    def _card(self, place: Any, grads: dict[int, object], now: Write | None) -> str:
        n = self.r.nodes[place["id"]]
        blamed = (
            self.judged
            and n.id == self.r.wrong_node
            and (self.fault is not None or (self.r.wrong_write is None and self.finished))
        )
        kind = " off" if blamed else " at" if now and now.node == n.id else ""
        look = "constant" if n.constant else "leaf" if not n.parents else ""
        wrong = f"✗ {number(n.value)}, not {number(n.right_value)}"
        rows = [("value", number(n.value), "fwd") if n.value_ok else ("value", wrong, "bad")]
        final = self.judged and self.finished and self.r.phase in ("backward", "done")
        if final and not n.grad_ok:
            rows.append(("grad", f"✗ {number(grads[n.id])}, not {number(n.right_grad)}", "bad"))
        elif not n.constant:
            rows.append(("grad", ("✓ " if final and n.right_grad is not None else "") + number(grads[n.id]), "bwd"))
        return card(place, rows[: 1 if n.constant else 2], look + kind)

    # --- as a table and as text

    def rows(self) -> list[tuple[str, ...]]:
        """One row for each node, under HEAD; the last column says whether all of it is right."""
        out: list[tuple[str, ...]] = []
        for n in self.r.nodes:
            ran = self.r.phase in ("backward", "done") and n.right_grad is not None
            ok = n.value_ok and (n.grad_ok or not ran)
            right = "–" if n.right_value is None else number(n.right_value)
            grads = (number(n.grad), number(n.right_grad)) if ran else ("–", "–")
            out.append((n.label, expression(self.r, n.id), number(n.value), right, *grads, "✓" if ok else "✗"))
        return out

    def table(self) -> Table | None:
        bad = frozenset((i, len(HEAD) - 1) for i, row in enumerate(self.rows()) if row[-1] == "✗")
        return (
            Table(HEAD, self.rows(), caption="The duel: your class beside minigrad's Value", bad=bad)
            if self.r.nodes
            else None
        )

    def event(self) -> str:
        """The sentence for this moment: the last write, or the verdict."""
        r = self.r
        if not r.nodes:
            return r.verdict
        if self.finished:
            return Judgement(r.good, r.verdict)
        if self.fault:
            return Judgement(False, r.verdict)
        if self.at == 0:
            return f"Forward is done: {len(r.nodes)} values. Your backward pass made {len(r.writes)} changes; step through them."
        w = r.writes[self.at - 1]
        node = r.nodes[w.node].label
        if w.sender is None:
            return f"{node}.grad becomes {number(w.after)}."
        goes = f"{node}.grad goes from {number(w.before)} to {number(w.after)}"
        return f"{r.nodes[w.sender].label} passes its gradient back to {node}: {goes}."

    def text(self) -> str:
        if not self.r.nodes:
            return self.event()
        rows = [HEAD, *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEAD))]
        lines = [self.event(), ""]
        for row in rows:
            cells = [c.ljust(w) if k < 2 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)


def carried(w: Write) -> str:
    """The label of a write on its wire: +7 added, =1 replaced the gradient."""
    if not w.added and not same(w.before, 0.0):
        return "=" + number(w.after, 4)
    amount = w.after - w.before
    return number(amount, 4) if amount < 0 else "+" + number(amount, 4)
