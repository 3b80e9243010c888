"""`duel(a, b)`: show two computations side by side, step them together, and report the first difference.

This file compares two traces and combines two graph views (graph.py) in a widget. The duel of a learner's own backward() with minigrad's
is lessons/duel.py, which observes what that function writes.
"""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from collections import Counter
from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

import ipywidgets
import traitlets

from minigrad.tracing.trace import Trace, array_text, fmt

from .graph import GraphView
from .stored import Stored


class Difference(NamedTuple):
    """The first place where two computations part: the node of each trace, the event at which it shows, and a sentence."""

    left: int
    right: int
    step: int
    say: str
    caption: str = "here"  # what the two numbers are
    numbers: tuple[str, str] = ("", "")  # as they stand on the two cards


def first_difference(left: Trace, right: Trace, rtol: float = 1e-4) -> Difference | None:
    """The first node of `left` that has no equal in `right`; None if the two agree, values and gradients, to a relative `rtol`.

    Nodes are equal if they have one value and are made from equal nodes. Names do not count, neither those of variables nor those of
    operations: a rule of your own against the built-in one is what a duel is for. Operands of a sum or a product may change sides.
    """
    pairs = _Pairs(left, right, rtol)
    result = pairs.first_difference()
    return result if result is not None else _first_gradient(left, right, pairs.twin, rtol)


COMMUTE = {"+", "*", "max", "min", "AddBackward0", "MulBackward0", "MaximumBackward0", "MinimumBackward0"}
VERBS = {"+": ("adds", ""), "-": ("subtracts", ""), "*": ("multiplies", "by "), "/": ("divides", "by ")}
HOPS = 8  # operations around a node that tell it from others which are made alike
ROUNDS = 20  # so many nodes that have one number and were computed in two ways are passed by, in search of a number that differs


class _Pairs:
    """The matching of two graphs' nodes. `twin`: node on the left -> node on the right."""

    def __init__(self, left: Trace, right: Trace, rtol: float):
        self.traces, self.rtol = (left, right), rtol
        self.parents = _parents(left), _parents(right)
        self.users = tuple(_users(of) for of in self.parents)
        self.nodes = _nodes(left), _nodes(right)
        self.values = tuple([_value(trace, n["id"]) for n in trace["nodes"]] for trace in self.traces)
        self.same: dict[
            tuple[int, int], int
        ] = {}  # (side, node) -> its number among those that were computed in two ways
        self._match()

    def _match(self) -> None:
        """Match nodes that are computed in the same way from the same numbers; among several candidates, those with the same users."""
        keys: dict[Any, int] = {}
        numbers = _clusters(self.values, self.rtol)
        self.made = tuple(self._made(side, keys, numbers[side]) for side in (0, 1))
        self.around = [*zip(*(self._around(side, keys, self.made[side]) for side in (0, 1)), strict=True)]
        named = tuple(self._made(side, keys, numbers[side], names=True) for side in (0, 1))
        self.twin: dict[int, int] = {}
        self.back: dict[int, int] = {}
        for result in (named, self.made):  # 2 + 2 and 2 × 2 are told apart, if there are both
            candidates: dict[int, list[int]] = {}
            for j in self.nodes[1]:
                candidates.setdefault(result[1][j], []).append(j)
            for i in reversed(self.nodes[0]):
                free = [j for j in candidates.get(result[0][i], ()) if j not in self.back]
                if i not in self.twin and free:
                    self._pair(i, max(free, key=lambda j: (*self._likeness(i, j), j)), result)

    def _made(self, side: int, keys: dict[Any, int], numbers: list[Any], names: bool = False) -> list[int]:
        """For each node a number that identifies its value and the values it is computed from, in both graphs. names: and the operation."""
        out: list[int] = []
        for n in self.traces[side]["nodes"]:
            of = [out[p] for p in self.parents[side][n["id"]]]
            of = sorted(of) if n["op"] in COMMUTE else of
            what: tuple = (
                n["op"] if names else n["kind"] == "operation",
                tuple(n.get("shape") or ()),
                numbers[n["id"]],
                *of,
            )
            if (side, n["id"]) in self.same:
                what = "same", self.same[side, n["id"]]
            out.append(keys.setdefault(what, len(keys)))
        return out

    def _used(self, side: int, keys: dict[Any, int], made: list[int]) -> list[int]:
        """For each node a number that identifies its users."""
        nodes, uses, used = self.traces[side]["nodes"], [[] for _ in made], [0] * len(made)  # type: ignore[var-annotated]
        for i in reversed(range(len(made))):
            used[i] = keys.setdefault(("used", made[i], *sorted(uses[i])), len(keys))
            for slot, p in enumerate(self.parents[side][i]):
                uses[p].append(keys.setdefault(("use", used[i], 0 if nodes[i]["op"] in COMMUTE else slot), len(keys)))
        return used

    def _around(self, side: int, keys: dict[Any, int], made: list[int]) -> list[list[int]]:
        """For each node numbers that identify its neighbourhood up to one, two, three, ... operations away."""
        nodes, out = self.traces[side]["nodes"], [made]
        for _ in range(HOPS):
            before = out[-1]
            near: list[list[int]] = [[] for _ in made]
            for i, parents in enumerate(self.parents[side]):
                for slot, p in enumerate(parents):
                    place = 0 if nodes[i]["op"] in COMMUTE else slot
                    near[p].append(keys.setdefault(("use", before[i], place), len(keys)))
                    near[i].append(keys.setdefault(("operand", before[p], place), len(keys)))
            out.append([keys.setdefault((x, *sorted(of)), len(keys)) for x, of in zip(before, near, strict=True)])
        return out[1:]

    def _likeness(self, i: int, j: int) -> tuple[int, int]:
        """How much two nodes that are made alike have in common: how far around them all is equal, and how many of their uses are."""
        far = next((k for k, (first, second) in enumerate(self.around) if first[i] != second[j]), HOPS)
        uses, other = (Counter(self.made[side][u] for u in self.users[side][n]) for side, n in ((0, i), (1, j)))
        return far, (uses & other).total()

    def _pair(self, i: int, j: int, made: tuple[list[int], ...]) -> None:
        """Match two nodes that are computed alike, and then their operands."""
        stack = [(i, j)]
        while stack:
            i, j = stack.pop()
            if i in self.twin or j in self.back:
                continue
            self.twin[i], self.back[j] = j, i
            if (0, i) in self.same:
                continue
            first, other = self.parents[0][i], self._turned(i, j, made)
            stack += [(p, q) for p, q in zip(first, other, strict=False) if made[0][p] == made[1][q]]

    def _turned(self, i: int, j: int, made: tuple[list[int], ...]) -> list[int]:
        """The operands of j, in the order in which they fit those of i."""
        first, other = self.parents[0][i], self.parents[1][j]
        if len(first) != 2 or len(other) != 2 or not {n["op"] for n in (self._node(0, i), self._node(1, j))} <= COMMUTE:
            return other

        def fits(order: list[int]) -> tuple[int, ...]:
            pairs = [*zip(first, order, strict=True)]
            alike = [self._likeness(p, q) for p, q in pairs]
            return (
                sum(made[0][p] == made[1][q] for p, q in pairs),
                sum(self.twin.get(p) == q for p, q in pairs),
                -sum(p in self.twin and self.twin[p] != q for p, q in pairs),
                sum(far for far, _ in alike),
                sum(n for _, n in alike),
            )

        return other[::-1] if fits(other[::-1]) > fits(other) else other

    def _node(self, side: int, i: int) -> Any:
        return self.traces[side]["nodes"][i]

    def first_difference(self) -> Difference | None:
        """The first place where the values part; if none does, the first where they are computed in two ways."""
        first, turns = None, 0
        while turns < ROUNDS and len(self.same) < 20 * ROUNDS:
            result, pair = self._parting()
            if result is None:
                return first
            if pair is None:
                return first or result
            i, j = pair
            if not _close(self.values[0][i], self.values[1][j], self.rtol) or self._node(0, i)["kind"] != "operation":
                return result
            if not self._alike(i, j):  # else a number is not kept in one of the two, or the operation has another name
                first, turns = first or result, turns + 1
            self.same[0, i] = self.same[1, j] = len(self.same)
            self._match()
        return first

    def _alike(self, i: int, j: int) -> bool:
        a, b = self._node(0, i), self._node(1, j)
        return a.get("shape") == b.get("shape") and a["kind"] == b["kind"] and self._operands_pair(i, j)

    def _operands_pair(self, i: int, j: int) -> bool:
        first, other = [self.twin.get(p, -1) for p in self.parents[0][i]], self.parents[1][j]
        commute = {self._node(0, i)["op"], self._node(1, j)["op"]} <= COMMUTE
        return sorted(first) == sorted(other) if commute else first == other

    def _parting(self) -> tuple[Difference | None, tuple[int, int] | None]:
        left, right = self.traces
        inputs = self._inputs()
        skipped = {i for i in self.nodes[0] if i not in self.twin and not self.parents[0][i]}
        skipped_there = {j for j in self.nodes[1] if j not in self.back and not self.parents[1][j]}
        edge = [j for j in self.nodes[1] if j not in self.back and j not in skipped_there
                and all(q in self.back or q in skipped_there for q in self.parents[1][j])]  # fmt: skip
        for i in self.nodes[0]:
            if i in inputs:
                return self._part(i, inputs[i]), (i, inputs[i])
            if i in skipped or not all(p in self.twin or p in skipped for p in self.parents[0][i]):
                continue
            if i in self.twin:
                if (0, i) not in self.same and not self._operands_pair(i, self.twin[i]):
                    return self._part(i, self.twin[i]), (i, self.twin[i])  # a × a against a × b of two equal numbers
            elif edge:
                j = max(edge, key=lambda j: self._nearness(i, j))
                return self._part(i, j), (i, j)
            else:
                break
        first, other = (len(of) for of in self.nodes)
        if len(self.twin) == first == other:
            return None, None
        if edge or first == other:
            i = next((i for i in self.nodes[0] if i not in self.twin), left["root"])
            j = next((j for j in self.nodes[1] if j not in self.back), right["root"])
            return self._part(i, j), None
        say = f"**The first has {first} nodes, the second {other}.**"
        counts = f"{first} nodes", f"{other} nodes"
        return Difference(left["root"], right["root"], len(left["steps"]), say, numbers=counts), None

    def _inputs(self) -> dict[int, int]:
        """Inputs without an equal one, matched by their place in the two graphs."""
        keys: dict[Any, int] = {}
        shapes = [self._used(side, keys, self._made(side, keys, [None] * len(self.values[side]))) for side in (0, 1)]
        free = [
            [i for i in self.nodes[side] if not self.parents[side][i] and i not in (self.twin, self.back)[side]]
            for side in (0, 1)
        ]
        out: dict[int, int] = {}
        for same in (lambda i, j: shapes[0][i] == shapes[1][j], lambda i, j: self._node(0, i)["label"] == self._node(1, j)["label"],
                     lambda i, j: len(free[0]) == len(free[1]) == 1):  # fmt: skip
            for i in free[0]:
                j = next((j for j in free[1] if j not in out.values() and same(i, j)), None) if i not in out else None
                if j is not None:
                    out[i] = j
        return out

    def _nearness(self, i: int, j: int) -> tuple:
        """How likely two nodes without an equal are meant to be the same: by their operands, operation and number."""
        first, other = [self.twin.get(p, -1) for p in self.parents[0][i]], self.parents[1][j]
        a, b = self._node(0, i), self._node(1, j)
        return len(set(first) & set(other)), len(first) == len(other), a["op"] == b["op"], a["label"] == b["label"], -j

    def _part(self, i: int, j: int) -> Difference:
        """The sentence about two nodes that part."""
        (left, right), a, b = self.traces, self._node(0, i), self._node(1, j)
        at, operations = _event(left, i), [n["kind"] == "operation" for n in (a, b)]
        if (
            _close(self.values[0][i], self.values[1][j], self.rtol)
            or operations[0] != operations[1]
            or a.get("shape") != b.get("shape")
        ):
            say = f"**They part at {a['label']}:** the first computes {_made(a)}, the second {_made(b)}."
            return Difference(i, j, at, say, numbers=(_made(a), _made(b)))
        what = "computes" if operations[0] else "starts with"
        texts = _text(left, a.get("array"), a["value"]), _text(right, b.get("array"), b["value"])
        say = f"**They part at {a['label']}:** the first {what} {texts[0]}, the second {texts[1]}"
        if not operations[0]:
            return Difference(i, j, at, f"{say}.", numbers=texts)
        return Difference(i, j, at, f"{say} ({_made(a)} against {_made(b)}).{self._other_operand(i, j)}", numbers=texts)

    def _other_operand(self, i: int, j: int) -> str:
        """Of two sums, products, ... with one operand in common: what the other one is."""
        ops = self._node(0, i)["op"], self._node(1, j)["op"]
        first, other = (_operands(trace, n) for trace, n in zip(self.traces, (i, j), strict=True))
        if ops[0] != ops[1] or ops[0] not in VERBS or len(first) != 2 or len(other) != 2:
            return ""
        for k in (0, 1) if ops[0] in COMMUTE else (0,):
            for m in (0, 1) if ops[0] in COMMUTE else (0,):
                if self.twin.get(first[k]) == other[m] and self.twin.get(first[1 - k]) != other[1 - m]:
                    names = self._node(0, first[1 - k])["label"], self._node(1, other[1 - m])["label"]
                    verb, by = VERBS[ops[0]]
                    return f" The first {verb} {by}{names[0]}, the second {by}{names[1]}."
        return ""


def _clusters(values: Any, rtol: float) -> tuple[list[Any], ...]:
    """For each node of both graphs a key of its numbers: those that differ by rounding have one."""
    flat = sorted({x for side in values for of in side for x in of[:4] if x is not None and math.isfinite(x)})
    key: dict[float, int] = {}
    for k, x in enumerate(flat):
        near = k > 0 and abs(x - flat[k - 1]) <= rtol * max(abs(x), abs(flat[k - 1]))
        key[x] = key[flat[k - 1]] if near else k
    return tuple(
        [tuple(key.get(x, str(x)) if x is not None else None for x in of[:4]) for of in side] for side in values
    )


def _users(parents: list[list[int]]) -> list[list[int]]:
    out: list[list[int]] = [[] for _ in parents]
    for i, of in enumerate(parents):
        for p in of:
            out[p].append(i)
    return out


def _operands(trace: Trace, node: int) -> list[int]:
    """By slot, plain numbers too."""
    return [e["source"] for e in sorted((e for e in trace["edges"] if e["target"] == node), key=lambda e: e["slot"])]


def _first_gradient(left: Trace, right: Trace, twin: Mapping[int, int], rtol: float) -> Difference | None:
    from minigrad.tracing.trace import replay_steps

    def sent(trace: Trace) -> dict:
        results: dict = {}
        for row, step in zip(replay_steps(trace), trace["steps"], strict=True):
            if step["edge"] is not None:
                edge = trace["edges"][step["edge"]]
                key = (edge["target"], edge["source"], sum(k[:2] == (edge["target"], edge["source"]) for k in results))
                results[key] = (row["step"], step, row)
        return results

    first, second = sent(left), sent(right)
    for (target, source, turn), (at, step, row) in first.items():
        other = second.get((twin[target], twin[source], turn))
        to, by = left["nodes"][source], left["nodes"][target]
        if other is None:
            say = f"**They part in the backward pass at {by['label']}:** only the first passes a gradient back to {to['label']}."
            return Difference(target, twin[target], at, say, f"passes to {to['label']}", ("a gradient", "nothing"))
        a, b = (_numbers(t, s.get("sends"), r["sends"]) for t, s, r in ((left, step, row), (right, other[1], other[2])))
        if not _close(a, b, rtol):
            texts = _text(left, step.get("sends"), row["sends"]), _text(right, other[1].get("sends"), other[2]["sends"])
            rules = left["nodes"][target]["op"], right["nodes"][twin[target]]["op"]
            say = (f"**They part in the backward pass at {by['label']}:** to {to['label']} the first passes {texts[0]} ({rules[0]}), "
                   f"the second {texts[1]} ({rules[1]}). Up to there they agree.")  # fmt: skip
            return Difference(target, twin[target], at, say, f"passes to {to['label']}", texts)
    for key in second:
        back = {j: i for i, j in twin.items()}
        if (back[key[0]], back[key[1]], key[2]) not in first:
            i = back[key[0]]
            say = f"**They part in the backward pass at {left['nodes'][i]['label']}:** only the second passes a gradient back from there."
            to = right["nodes"][key[1]]["label"]
            return Difference(i, key[0], len(left["steps"]), say, f"passes to {to}", ("nothing", "a gradient"))
    return None


def first_wrong_grad(
    trace: Trace, grads: list[float | None], which: str, rtol: float = 1e-4
) -> Difference | str | None:
    """Where the backward() of a learner's own class first left something else than the gradient; a sentence if it has not run; or None.

    A picture of such a class shows what the rules of its operations call for. What its backward() really wrote is in `grads`.
    """
    nodes = trace["nodes"]
    lines = [
        i
        for i, n in enumerate(nodes)
        if n["kind"] != "constant" and isinstance(n["grad"], float) and grads[i] is not None
    ]
    if not any(grads[i] for i in lines):
        return (
            f"The backward() of {which} has not been called, so what it would write into grad was not compared."
            if lines
            else None
        )
    last: dict[int, int] = {}  # node -> the event that completes its gradient
    for k, step in enumerate(trace["steps"], 1):
        if step["phase"] == "backward":
            last[step["node"] if step["edge"] is None else trace["edges"][step["edge"]]["source"]] = k
    for i in sorted(lines, key=lambda i: last.get(i, 0)):
        node, grad = nodes[i], grads[i]
        if not _close([float(node["grad"])], [grad], rtol):  # type: ignore[arg-type]
            say = f"**They part in the backward pass at {node['label']}:** {which} left {fmt(grad)} in its grad, "
            say += f"and right is {fmt(node['grad'])}."
            return Difference(i, i, last.get(i, len(trace["steps"])), say, "wrote", (fmt(grad), fmt(node["grad"])))
    return None


def _nodes(trace: Trace) -> list[int]:
    return [n["id"] for n in trace["nodes"] if n["kind"] != "constant"]


def _parents(trace: Trace) -> list[list[int]]:
    """For each node its parents by slot, without plain numbers."""
    out: list[list[int]] = [[] for _ in trace["nodes"]]
    for e in trace["edges"]:
        if trace["nodes"][e["source"]]["kind"] != "constant":
            out[e["target"]].append(e["source"])
    return out


def _event(trace: Trace, node: int) -> int:
    return next((k for k, s in enumerate(trace["steps"], 1) if s["phase"] == "forward" and s["node"] == node), 0)


def _made(node: Any) -> str:
    return node["expr"] or "an input"


def _value(trace: Trace, node: int) -> list[float | None]:
    return _numbers(trace, trace["nodes"][node].get("array"), trace["nodes"][node]["value"])


def _numbers(trace: Trace, index: int | None, number: Any) -> list[float | None]:
    """The numbers to compare: of an array its statistics and cells."""
    if index is None:
        return [] if number is None or number == "not kept" else [float(number)]
    a = trace["arrays"][index]
    return [
        a["low"],
        a["high"],
        a["mean"],
        a["std"],
        float(a["odd"]),
        *(None if c is None else float(c) for c in a["cells"]),
    ]


def _close(a: list[float | None], b: list[float | None], rtol: float) -> bool:
    if not a or not b:  # not kept: nothing to compare
        return True
    if len(a) != len(b):
        return False
    largest = max((abs(x) for x in a if x is not None and math.isfinite(x)), default=0.0)
    for x, y in zip(a, b, strict=True):
        if x is None or y is None or (x != x and y != y) or x == y:
            continue
        if not abs(x - y) <= rtol * max(abs(x), abs(y), 1e-3 * largest):
            return False
    return True


def _text(trace: Trace, index: int | None, number: Any) -> str:
    return (
        array_text(trace["arrays"][index]) if index is not None else fmt(number) if number != "not kept" else "not kept"
    )


class Duel(Stored, ipywidgets.VBox):
    """Two graph views whose steps are one, under a sentence that names the first difference. `difference` is None if there is none."""

    def __init__(self, left: GraphView, right: GraphView):
        self.left, self.right = left, right
        self.difference = first_difference(left.whole, right.whole)
        say = (
            self.difference.say if self.difference else "**They agree:** every value and every gradient, at every step."
        )
        wrong = None  # the view whose own backward() left another number
        for view, which in ((left, "the first"), (right, "the second")):
            if self.difference is None and view.grads:
                result = first_wrong_grad(view.whole, view.grads, which)
                if isinstance(result, Difference):
                    pairs = _Pairs(left.whole, right.whole, 1e-4)
                    at = result.left if view is left else pairs.back[result.left]
                    self.difference, say, wrong = result._replace(left=at, right=pairs.twin[at]), result.say, view
                elif result:
                    say = f"**They agree** in every value and every rule. {result}"
        if self.difference:
            self._mark(self.difference, wrong)
        self.sentence = say.replace("**", "")
        bold = say.split("**")
        words = ipywidgets.HTML(f"<p role='status' style='font-size:15px;margin:4px 2px 8px'>{_html(bold)}</p>")
        for view in (left, right):
            view.without_missed()  # the inputs of one graph are not part of the other, which is expected
        traitlets.link((left, "step"), (right, "step"))
        if self.difference and left.trace == left.whole:  # else it is folded, and has steps of its own
            left.step = self.difference.step
        elif mark := left.network.get("mark"):
            left.step = max(left.step, mark["at"])
        for view in (left, right):
            view.layout.flex, view.layout.min_width = "1 1 380px", "0"  # beside each other, or each as wide as there is
        both = ipywidgets.HBox(
            [left, right], layout=ipywidgets.Layout(flex_flow="row wrap", align_items="flex-start", grid_gap="0 14px")
        )
        super().__init__([words, both])

    def _mark(self, d: Difference, wrong: GraphView | None) -> None:
        """Both numbers on both cards. `wrong`: the view whose own backward() wrote the first of them."""
        for view, node, (first, other) in ((self.left, d.left, d.numbers), (self.right, d.right, d.numbers[::-1])):
            rows = [(f"≠ {d.caption}", first), ("there", other)]
            if wrong is not None:
                rows = [("✗ wrote" if view is wrong else "✗ other wrote", d.numbers[0]), ("✓ right is", d.numbers[1])]
            view.mark(node, rows, d.step)

    def __repr__(self) -> str:
        return f"{self.sentence}\n\n{repr(self.left)}\n\n{repr(self.right)}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, *metadata = bundle if isinstance(bundle, tuple) else (bundle,)
        return {**data, "text/plain": repr(self), "image/svg+xml": self.svg()}, *(metadata or [{}])

    def svg(self) -> str:
        """Both pictures after all events, one below the other, under the sentence: what a saved notebook shows."""
        # Their style sheets share names
        both = [
            self.left.svg(),
            self.right.svg() if self.left._level == self.right._level else "",
        ]
        sizes = [
            tuple(map(int, re.findall(r'(?:width|height)="(\d+)"', drawn)[:2])) if drawn else (0, 0) for drawn in both
        ]
        wide = max(440, *(w + 24 for w, _ in sizes))
        words = textwrap.wrap(self.sentence, int((wide - 36) / 7.7))
        out = [f'<text class="q" x="18" y="{30 + 20 * k}">{escape(line)}</text>' for k, line in enumerate(words)]
        top = 24 + 20 * len(words)
        for drawn, (_, high) in zip(both, sizes, strict=True):
            out.append(re.sub(r"<style>.*?</style>", "", drawn.replace("<svg ", f'<svg x="12" y="{top}" ', 1)))
            top += high + 12 if drawn else 0
        look = re.search("<style>.*?</style>", both[0])
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{top}" viewBox="0 0 {wide} {top}" role="img">'
        head += f"<title>{escape(self.sentence)}</title>{look[0] if look else ''}"
        return (
            f'{head}<rect class="g" x=".5" y=".5" width="{wide - 1}" height="{top - 1}" rx="12"/>{"".join(out)}</svg>'
        )


def _html(pieces: list[str]) -> str:
    return "".join(f"<b>{escape(p)}</b>" if k % 2 else escape(p) for k, p in enumerate(pieces))


def duel(a: Any, b: Any, *, names: Mapping[str, object] | None = None) -> Duel:
    """Show two computations side by side, stepped together, and name the first node in which they differ.

    a, b: two results, each a Value, a Tensor or an object of your own class: the same program with your rule and with the built-in one,
    or before and after a change. names: variable names for the nodes; by default the notebook's, or the caller's.
    Raises TypeError for anything that has no graph.
    """
    if names is None:
        caller = inspect.currentframe().f_back  # type: ignore[union-attr]
        names = {**caller.f_globals, **caller.f_locals} if caller else {}
    return Duel(GraphView(a, names), GraphView(b, names))
