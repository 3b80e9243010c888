"""Is what a backward pass left in an engine's objects right? In one sentence: the first wrong rule, and the usual cause.

What lives here: `audit`, which compares the gradients in the objects of a recorded graph with the true ones. What does not: the true ones
(tracing/scalar_trace.py), the duel of two computations (duel.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from minigrad.scalar import Value
from minigrad.tracing.own_classes import Reader
from minigrad.tracing.scalar_trace import ScalarRecording
from minigrad.tracing.trace import trace
from minigrad.words import listed, number

CLOSE = 1e-4
PASSES = (2, 3, 4, 5)
ORDER = "Visit a result after everything that was computed from it."
MOST = 12_000  # nodes, up to which those without a name are called by their expression
SMALL = 2_000  # operations, up to which wrong orders are tried


class Audit(NamedTuple):
    right: bool
    say: str


def audit(graph: ScalarRecording, labels: Sequence[str] | None = None) -> Audit:
    """What the objects of a graph hold in their gradients, against the true ones. labels: what its nodes are called."""
    return _Audit(graph, labels).result()


def _close(a: float, b: float) -> bool:
    return a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE * 1e-3)


class _Audit:
    def __init__(self, graph: ScalarRecording, labels: Sequence[str] | None):
        self.graph = graph
        if labels is None and len(graph.ops) <= MOST:
            labels = [node["label"] for node in trace(graph)["nodes"]]
        self.labels = labels or [name or op or "a number" for name, op in zip(graph.names, graph.ops, strict=True)]
        self.true = graph.gradients()
        grads = graph.grads or [getattr(thing, "grad", None) for thing in graph.objects]
        self.own = grads
        self.told = [
            i for i, (g, t) in enumerate(zip(grads, self.true, strict=True)) if g is not None and t is not None
        ]
        self.users: list[list[tuple[int, float]]] = [[] for _ in graph.parents]  # (result, its slope)
        for i in graph.order:
            for p, slope in zip(graph.parents[i], graph.locals[i], strict=True):
                if slope is not None:
                    self.users[p].append((i, slope))

    def result(self) -> Audit:
        graph, name = self.graph, self.labels[self.graph.root]
        rule = self._wrong_rule()
        if not self.told:
            return Audit(not rule, rule or f"The objects behind {name} hold no gradients that could be compared.")
        if not any(self.own[i] for i in self.told):
            return Audit(
                not rule,
                rule or f"No backward pass of {name} has run yet, so there is nothing to compare. Its rules are right.",
            )
        if not _close(self.own[graph.root] or 0.0, 1.0):
            other = (
                f"{name}.grad is {number(self.own[graph.root])}, not 1: the backward pass was run from another result"
            )
            return Audit(not rule, rule or f"{other}, so nothing was compared. Its rules are right.")
        if graph.outdated:
            return Audit(not rule, rule or "Inputs have moved since the backward pass, so the gradients in the objects belong to the "
                         "numbers before. Run the forward and the backward pass again. The rules are right.")  # fmt: skip
        wrong = [i for i in self.told if not _close(self.own[i], self.true[i])]  # type: ignore[arg-type]
        if not wrong:
            return Audit(not rule, rule or f"All {len(self.told)} gradients behind {name} are right.")
        if not rule and not any(self.own[i] or graph.parents[i] for i in wrong):
            zero = listed([f"{self.labels[i]}.grad" for i in wrong], 3, "gradients of inputs")
            return Audit(True, f"{zero}: set to 0 after the backward pass. All others are right.")
        place = {node: k for k, node in enumerate(graph.order)}
        first = min(wrong, key=lambda i: place.get(i, len(place)))
        say = f"{self.labels[first]}.grad is {number(self.own[first])}, and right is {number(self.true[first])}. "
        return Audit(False, say + (rule or self._overwriting() or self._cause(wrong)))

    def _called(self, i: int) -> str:
        """ "h (tanh)" if its label does not tell the operation."""
        return self.labels[i] + (f" ({self.graph.ops[i]})" if self.graph.ops[i] and self.graph.names[i] else "")

    def _wrong_rule(self) -> str:
        """The first operation, as the backward pass comes by, whose own derivatives are not the true ones."""
        graph = self.graph
        for i in graph.order:
            report = graph.told[i] if graph.told else None
            if report is None or None in graph.locals[i]:
                continue
            for p in dict.fromkeys(graph.parents[i]):
                slots = [k for k, q in enumerate(graph.parents[i]) if q == p]
                told, true = (sum(of[k] or 0.0 for k in slots) for of in (report, graph.locals[i]))
                if not _close(told, true) and not isinstance(graph.objects[p], Value):
                    return (f"The rule of {self._called(i)} is wrong: for a gradient of 1 it passes {number(told)} to {self.labels[p]}, "
                            f"and right is {number(true)}.")  # fmt: skip
        return ""

    def _overwriting(self) -> str:
        graph = self.graph
        if isinstance(graph.objects[graph.root], Value):
            return ""
        reader = Reader(graph.objects[graph.root])
        for i in graph.order:
            thing = graph.objects[i]
            if reader.overwrites(thing, reader.operands(thing)):
                return f"The rule of {self._called(i)} writes its operands' gradients with =, which loses what was there; write +=."
        return ""

    def _cause(self, wrong: list[int]) -> str:
        for count in PASSES:
            run = self._after(count)
            if all(run[i] is None or _close(self.own[i], run[i]) for i in self.told):  # type: ignore[arg-type]
                return f"That is what {count} backward passes leave together: gradients add up until they are cleared."
        for order in (self._by_levels(), self._by_depth()) if len(self.graph.order) <= SMALL else ():
            run = self._after(1, order)
            if all(run[i] is None or _close(self.own[i], run[i]) for i in self.told):  # type: ignore[arg-type]
                early = next((i for i in order if any(order.index(u) > order.index(i) for u, _ in self.users[i])), None)
                which = "A result" if early is None else self.labels[early]
                return f"The order is wrong: {which} passed its gradient on before all of it had arrived. {ORDER}"
        if all(not self.graph.parents[i] for i in wrong):
            return "Only inputs differ: they still hold what an earlier pass left. Set their gradients to 0 before each pass."
        for i in self.graph.order:
            of = self.users[i]
            if of and self.own[i] is not None and all(self.own[u] is not None for u, _ in of):
                if not _close(self.own[i], sum(slope * self.own[u] for u, slope in of)):  # type: ignore[arg-type, operator, misc]
                    users = listed([*dict.fromkeys(self.labels[u] for u, _ in of)], 3, "results")
                    return f"The order is wrong: {users} passed a gradient on to {self.labels[i]} before all of it had arrived. {ORDER}"
        return "Its rules are right, so look at the order of the pass and at what the gradients were before it."

    def _by_levels(self) -> list[int]:
        order = [self.graph.root]
        for i in order:
            order += [p for p in dict.fromkeys(self.graph.parents[i]) if p not in order and self.graph.parents[p]]
        return order

    def _by_depth(self) -> list[int]:
        order: list[int] = []
        stack = [self.graph.root]
        while stack:
            i = stack.pop()
            if i not in order and self.graph.parents[i]:
                order.append(i)
                stack += self.graph.parents[i][::-1]
        return order

    def _after(self, count: int, order: Sequence[int] | None = None) -> list[float | None]:
        """The gradients after `count` backward passes in this order, if all of them accumulate, those of results too."""
        held = [0.0 if g is not None else None for g in self.true]
        for _ in range(count):
            held[self.graph.root] = 1.0
            for i in order or self.graph.order:
                for p, slope in zip(self.graph.parents[i], self.graph.locals[i], strict=True):
                    if held[p] is not None and held[i] is not None and slope is not None:
                        held[p] = held[p] + slope * held[i]  # type: ignore[operator]
        return held
