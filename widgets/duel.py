"""`duel(a, b)`: two computations side by side, stepped together, and the first place where they part, in words.

What lives here: the comparison of two traces and the widget of two graph views. What does not: the views (graph.py), and the duel of a
learner's own backward() with minigrad's (lessons/duel.py), which listens to what that function writes.
"""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

import ipywidgets
import traitlets

from minigrad.tracing.trace import Trace, array_text, fmt, to_text

from .graph import GraphView


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

    Compared are structure (which node is computed from which), then values in the order of computing, then what each edge passes back in
    the order of the backward pass. Names of operations may differ: a rule of your own against the built-in one is what a duel is for.
    Operands of + and × may be swapped, because some classes keep them in a set.
    """
    ours, theirs, parents_of = _paired(left, right)
    places = {i: k for k, i in enumerate(ours)}, {j: k for k, j in enumerate(theirs)}
    for i, j in zip(ours, theirs, strict=False):
        a, b = left["nodes"][i], right["nodes"][j]
        at = _event(left, i)
        parents = [[place[p] for p in of[n] if p in place] for of, n, place in zip(parents_of, (i, j), places, strict=True)]
        kinds = [n["kind"] == "operation" for n in (a, b)]
        if kinds[0] != kinds[1] or parents[0] != parents[1] or a.get("shape") != b.get("shape"):
            say = f"**They part at {a['label']}:** the first computes {_made(a)}, the second {_made(b)}."
            return Difference(i, j, at, say, numbers=(_made(a), _made(b)))
        if not _close(_value(left, i), _value(right, j), rtol):
            what = "starts with" if a["kind"] == "leaf" else "computes"
            texts = _text(left, a.get("array"), a["value"]), _text(right, b.get("array"), b["value"])
            say = f"**They part at {a['label']}:** the first {what} {texts[0]}, the second {texts[1]}"
            return Difference(i, j, at, say + (f" ({_made(a)} against {_made(b)})." if kinds[0] else "."), numbers=texts)
    if len(ours) != len(theirs):
        say = f"**The first has {len(ours)} nodes, the second {len(theirs)}.**"
        return Difference(left["root"], right["root"], len(left["steps"]), say, numbers=(f"{len(ours)} nodes", f"{len(theirs)} nodes"))
    return _first_gradient(left, right, dict(zip(ours, theirs, strict=True)), rtol)


def _first_gradient(left: Trace, right: Trace, twin: Mapping[int, int], rtol: float) -> Difference | None:
    from minigrad.tracing.trace import replay_steps

    def sent(trace: Trace) -> dict:
        found: dict = {}
        for row, step in zip(replay_steps(trace), trace["steps"], strict=True):
            if step["edge"] is not None:
                edge = trace["edges"][step["edge"]]
                key = (edge["target"], edge["source"], sum(k[:2] == (edge["target"], edge["source"]) for k in found))
                found[key] = (row["step"], step, row)
        return found

    ours, theirs = sent(left), sent(right)
    for (target, source, turn), (at, step, row) in ours.items():
        other = theirs.get((twin[target], twin[source], turn))
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
    for key in theirs:
        back = {j: i for i, j in twin.items()}
        if (back[key[0]], back[key[1]], key[2]) not in ours:
            i = back[key[0]]
            say = f"**They part in the backward pass at {left['nodes'][i]['label']}:** only the second passes a gradient back from there."
            to = right["nodes"][key[1]]["label"]
            return Difference(i, key[0], len(left["steps"]), say, f"passes to {to}", ("nothing", "a gradient"))
    return None


def first_wrong_grad(trace: Trace, grads: list[float | None], which: str, rtol: float = 1e-4) -> Difference | str | None:
    """Where the backward() of a learner's own class first left something else than the gradient; a sentence if it has not run; or None.

    A picture of such a class shows what the rules of its operations call for. What its backward() really wrote is in `grads`.
    """
    nodes = trace["nodes"]
    told = [i for i, n in enumerate(nodes) if n["kind"] != "constant" and isinstance(n["grad"], float) and grads[i] is not None]
    if not any(grads[i] for i in told):
        return f"The backward() of {which} has not been called, so what it would write into grad was not compared." if told else None
    last: dict[int, int] = {}  # node -> the event that completes its gradient
    for k, step in enumerate(trace["steps"], 1):
        if step["phase"] == "backward":
            last[step["node"] if step["edge"] is None else trace["edges"][step["edge"]]["source"]] = k
    for i in sorted(told, key=lambda i: last.get(i, 0)):
        node, own = nodes[i], grads[i]
        if not _close([float(node["grad"])], [own], rtol):  # type: ignore[arg-type]
            say = f"**They part in the backward pass at {node['label']}:** {which} left {fmt(own)} in its grad, "
            say += f"and right is {fmt(node['grad'])}."
            return Difference(i, i, last.get(i, len(trace["steps"])), say, "wrote", (fmt(own), fmt(node["grad"])))
    return None


COMMUTE = {"+", "*"}


def _paired(left: Trace, right: Trace) -> tuple[list[int], list[int], tuple[list[list[int]], list[list[int]]]]:
    """The nodes of both graphs in an order in which equal programs have equal nodes at equal places, and each graph's parents by slot.

    Where the two multiply or add, the right's two operands are swapped if they fit the left's better that way round.
    """
    parents = _parents(left), _parents(right)
    keys: dict[Any, int] = {}  # what is known about a node -> a number, the same in both graphs
    looks = [(_looks(left, parents[0], keys, numbers), _looks(right, parents[1], keys, numbers)) for numbers in (False, True)]
    pairs, seen = [], set()
    stack = [(left["root"], right["root"], False)]
    while stack:
        i, j, parents_done = stack.pop()
        if parents_done:
            pairs.append((i, j))
        if parents_done or i in seen:
            continue
        seen.add(i)
        ours, theirs = parents[0][i], parents[1][j]
        if len(ours) == len(theirs) == 2 and {left["nodes"][i]["op"], right["nodes"][j]["op"]} <= COMMUTE:
            straight, swapped = ([sum(of_left[p] == of_right[q] for p, q in zip(ours, order, strict=True)) for of_left, of_right in looks]
                                 for order in (theirs, theirs[::-1]))  # fmt: skip
            if swapped > straight:
                theirs.reverse()
        stack.append((i, j, True))
        stack += [(p, q, False) for p, q in zip(reversed(ours), reversed(theirs), strict=False)]
    if len(pairs) == len(_nodes(left)) == len(_nodes(right)) and len({j for _, j in pairs}) == len(pairs):
        pairs.sort()
        return [i for i, _ in pairs], [j for _, j in pairs], parents
    return _nodes(left), _nodes(right), parents


def _looks(trace: Trace, parents: list[list[int]], keys: dict[Any, int], numbers: bool) -> list[int]:
    """For each node a number that stands for what it is made from and what is made from it; with or without values."""

    def key(*what) -> int:
        return keys.setdefault(what, len(keys))

    made: list[int] = []
    for n in trace["nodes"]:
        of = [made[p] for p in parents[n["id"]]]
        value = (n["value"] if isinstance(n["value"], str) else f"{n['value']:.3g}") if numbers else ""
        made.append(key(n["kind"] == "operation", value, *(sorted(of) if n["op"] in COMMUTE else of)))
    uses: list[list[int]] = [[] for _ in made]
    used = [0] * len(made)
    for i in reversed(range(len(made))):
        used[i] = key("used", made[i], *sorted(uses[i]))
        for slot, p in enumerate(parents[i]):
            uses[p].append(key("use", used[i], 0 if trace["nodes"][i]["op"] in COMMUTE else slot))
    return used


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


def _made(node) -> str:
    return node["expr"] or "an input"


def _value(trace: Trace, node: int) -> list[float | None]:
    return _numbers(trace, trace["nodes"][node].get("array"), trace["nodes"][node]["value"])


def _numbers(trace: Trace, index: int | None, number: Any) -> list[float | None]:
    """The numbers to compare: of an array its statistics and cells."""
    if index is None:
        return [] if number is None or number == "not kept" else [float(number)]
    a = trace["arrays"][index]
    return [a["low"], a["high"], a["mean"], a["std"], float(a["odd"]), *(None if c is None else float(c) for c in a["cells"])]


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
    return array_text(trace["arrays"][index]) if index is not None else fmt(number) if number != "not kept" else "not kept"


class Duel(ipywidgets.VBox):
    """Two graph views whose steps are one, under a sentence that names the first difference. `difference` is None if there is none."""

    def __init__(self, left: GraphView, right: GraphView):
        self.left, self.right = left, right
        self.difference = first_difference(left.whole, right.whole)
        say = self.difference.say if self.difference else "**They agree:** every value and every gradient, at every step."
        wrong = None  # the view whose own backward() left another number
        for view, which in ((left, "the first"), (right, "the second")):
            if self.difference is None and view.grads:
                found = first_wrong_grad(view.whole, view.grads, which)
                if isinstance(found, Difference):
                    ours, theirs, _ = _paired(left.whole, right.whole)
                    at = (ours if view is left else theirs).index(found.left)
                    self.difference, say, wrong = found._replace(left=ours[at], right=theirs[at]), found.say, view
                elif found:
                    say = f"**They agree** in every value and every rule. {found}"
        if self.difference:
            self._mark(self.difference, wrong)
        self.sentence = say.replace("**", "")
        bold = say.split("**")
        words = ipywidgets.HTML(f"<p role='status' style='font-size:15px;margin:4px 2px 8px'>{_html(bold)}</p>")
        traitlets.link((left, "step"), (right, "step"))
        if self.difference and left.trace == left.whole:  # else it is folded, and has steps of its own
            left.step = self.difference.step
        elif mark := left.network.get("mark"):
            left.step = max(left.step, mark["at"])
        for view in (left, right):
            view.layout.flex, view.layout.min_width = "1 1 380px", "0"  # beside each other, or each as wide as there is
        both = ipywidgets.HBox([left, right], layout=ipywidgets.Layout(flex_flow="row wrap", align_items="flex-start", grid_gap="0 14px"))
        super().__init__([words, both])

    def _mark(self, d: Difference, wrong: GraphView | None) -> None:
        """Both numbers on both cards. `wrong`: the view whose own backward() wrote the first of them."""
        for view, node, (ours, theirs) in ((self.left, d.left, d.numbers), (self.right, d.right, d.numbers[::-1])):
            rows = [(f"≠ {d.caption}", ours), ("there", theirs)]
            if wrong is not None:
                rows = [("✗ wrote" if view is wrong else "✗ other wrote", d.numbers[0]), ("✓ right is", d.numbers[1])]
            view.mark(node, rows, d.step)

    def __repr__(self) -> str:
        return f"{self.sentence}\n\n{to_text(self.left.trace)}\n\n{to_text(self.right.trace)}"  # type: ignore[arg-type]

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data, *metadata = bundle if isinstance(bundle, tuple) else (bundle,)
        return {**data, "text/plain": repr(self), "image/svg+xml": self.svg()}, *(metadata or [{}])

    def svg(self) -> str:
        """Both pictures after all events, one below the other, under the sentence: what a saved notebook shows."""
        both = [self.left.svg(), self.right.svg() if self.left._level == self.right._level else ""]  # their style sheets share names
        sizes = [tuple(map(int, re.findall(r'(?:width|height)="(\d+)"', drawn)[:2])) if drawn else (0, 0) for drawn in both]
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
        return f'{head}<rect class="g" x=".5" y=".5" width="{wide - 1}" height="{top - 1}" rx="12"/>{"".join(out)}</svg>'



def _html(pieces: list[str]) -> str:
    return "".join(f"<b>{escape(p)}</b>" if k % 2 else escape(p) for k, p in enumerate(pieces))


def duel(a, b, *, names: Mapping[str, object] | None = None) -> Duel:
    """Show two computations side by side, stepped together, and name the first node in which they differ.

    a, b: two results, each a Value, a Tensor or an object of your own class: the same program with your rule and with the built-in one,
    or before and after a change. names: variable names for the nodes; by default the notebook's, or the caller's.
    Raises TypeError for anything that has no graph.
    """
    if names is None:
        caller = inspect.currentframe().f_back  # type: ignore[union-attr]
        names = {**caller.f_globals, **caller.f_locals} if caller else {}
    return Duel(GraphView(a, names), GraphView(b, names))
