"""Folds: one card for many nodes of a big graph, by module and by repeated structure, and the trace that such cards make.

What lives here: `Folds`, the tree of what can be folded in a trace; `folded`, the trace with the closed folds as single nodes; `column`,
which says how the numbers of the small trace follow from those of the whole one. What does not: where cards stand (layout.py), who opens
a fold (graph.py), pixels. A fold is a run of operations without a gap in creation order, so folding never makes a cycle.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy

from minigrad.tracing.groups import without_count
from minigrad.tracing.notation import Text, operands, with_nodes, write
from minigrad.tracing.schema import FREE, Became
from minigrad.tracing.trace import Edge, Node, Number, Trace

from .contract import array_widths

AT_ONCE = 12  # a fold with more children than this folds them in turn
COLUMNS, END = 10, 3  # of more layers than these in a row the middle ones are one card; so many stay at each end
CARDS = 36  # how many cards a big graph opens with, about


class Title(NamedTuple):
    """What a block of operations is called, in parts: blocks in a row are named by what their titles have in common."""

    subject: str
    detail: str = ""  # "line 8", "turn 3"
    turn: int = 0  # of a loop, from 1
    first: str = ""  # of "h1 … h4" the two ends
    last: str = ""
    part_of: str = ""  # the variable of "part of loss"
    open: bool = False  # "up to v7": no variable follows

    @property
    def text(self) -> str:
        return f"{self.subject}, {self.detail}" if self.detail else self.subject


@dataclass
class Fold:
    key: int
    name: str
    members: list[int]  # all nodes in it, ascending
    children: list[Fold | int] = field(default_factory=list)  # folds and operations, in creation order
    parent: int = -1

    @property
    def folds(self) -> list[Fold]:
        return [c for c in self.children if isinstance(c, Fold)]


class Folds:
    """Everything that can be folded in a trace. `root` is not a fold that anybody sees: it is always open."""

    def __init__(self, trace: Trace):
        self.nodes, self.result = trace["nodes"], trace["root"]
        calls = [(g["name"], g["function"].partition(".forward")) for g in trace.get("groups", ())]
        # The calls of modules, and their classes
        self.modules = {name: kind for name, (kind, forward, _) in calls if forward}
        self.tokens = [
            (n["op"], (s := n["source"]) and (s["line"], s["text"]), tuple(n.get("shape", ()))) for n in self.nodes
        ]
        operations = [n["id"] for n in self.nodes if n["kind"] == "operation" and not n.get("layer")]
        with_lines = [m for m in operations if self.nodes[m]["source"]]
        self.next = dict(itertools.pairwise(with_lines))  # of those whose line is known
        self.parents: list[list[int]] = [[] for _ in self.nodes]
        users: list[list[int]] = [[] for _ in self.nodes]
        for e in trace["edges"]:
            self.parents[e["target"]].append(e["source"])
            users[e["source"]].append(e["target"])
        self.users = users
        self.folds: list[Fold] = []
        self._token_of: dict[int, Any] = {}
        self._folds_alike: dict[tuple, int] = {}
        self._runs: dict[bytes, tuple[int, int, int]] = {}
        self.own: set[int] = set()  # folds that are not the call of a module
        self.statements: set[int] = set()  # and those that are one statement
        self.toward: dict[int, int] = {}
        self.middles: set[int] = set()  # of many layers in a row; they open only when a reader opens them
        self._read_calls(trace)
        children = self._loss(self._children(operations, 0))
        self.root = self._fold("", children)
        self._of_leaves()
        self._token_of.clear()  # folds have inputs as well now
        self.by_key = {f.key: f for f in self.folds}
        for fold in self.folds:
            for child in fold.folds:
                child.parent = fold.key
        self.home: dict[int, int] = {}  # node -> the innermost fold it is in
        # Inner folds are smaller, and made first
        for fold in sorted(self.folds, key=lambda f: (len(f.members), f.key)):
            for member in fold.members:
                self.home.setdefault(member, fold.key)

    def _fold(self, name: str, children: list[Fold | int], own: bool = False) -> Fold:
        fold = Fold(len(self.folds), name, _members(children), children)
        self.folds.append(fold)
        if own:
            self.own.add(fold.key)
        return fold

    # By module ----------------------------------------------------------------------------------------------------------------

    def _children(self, operations: Sequence[int], depth: int) -> list[Fold | int]:
        """The operations of one level: those made in a module's call become that call's fold, the others stay; both in order."""
        out: list[Fold | int] = []
        at = 0
        while at < len(operations):
            inside = self.nodes[operations[at]].get("inside", ())
            end = at + 1
            if len(inside) > depth:
                while (
                    end < len(operations)
                    and self.nodes[operations[end]].get("inside", ())[: depth + 1] == inside[: depth + 1]
                ):
                    end += 1
                inner = self._children(operations[at:end], depth + 1)
                if len(inner) == 1 and isinstance(inner[0], Fold):  # a module that only calls another one
                    out.append(inner[0])
                else:
                    out.append(self._fold(inside[depth], inner))
            else:
                out.append(operations[at])
            at = end
        many = depth and len(out) > AT_ONCE and any(isinstance(c, Fold) for c in out)
        return self._repeats(self._statements(out) if many else out)

    def _loss(self, children: list[Fold | int]) -> list[Fold | int]:
        """Beside modules, the two operations of cross_entropy are one card, under the name of its result."""
        for k in range(len(children) - 1) if self.modules else ():
            pair = [c for c in children[k : k + 2] if isinstance(c, int)]
            if [self.nodes[c].get("function") for c in pair] == ["log_softmax", "nll_loss"]:
                name = self.nodes[pair[1]]["label"]
                self.modules[name] = "cross_entropy"
                return [*children[:k], self._fold(name, [*pair]), *children[k + 2 :]]
        return children

    # By repeated structure ----------------------------------------------------------------------------------------------------

    def _token(self, child: Fold | int) -> Any:
        if isinstance(child, int):
            return self.tokens[child]
        if child.key not in self._token_of:  # equal folds have equal numbers
            key = tuple([self._token(c) for c in child.children])
            self._token_of[child.key] = "fold", self._folds_alike.setdefault(key, len(self._folds_alike))
        return self._token_of[child.key]

    def _repeats(self, children: list[Fold | int]) -> list[Fold | int]:
        """Children by the dozen: the longest run of equal blocks becomes a fold of blocks; what repeats nothing becomes statements, and
        these are cut into equal parts."""
        if len(children) <= AT_ONCE:
            return self._ends(children)
        kinds: dict[Any, int] = {}
        row = numpy.array([kinds.setdefault(self._token(c), len(kinds)) for c in children])
        key = row.tobytes()
        if key not in self._runs:  # equal blocks have equal rows
            self._runs[key] = longest_run(row)
        start, period, times = self._runs[key]
        by_chance = times == 2 and not any(isinstance(c, Fold) or self.nodes[c]["source"] for c in children)
        if times < 2 or by_chance:
            return children if len(children) <= 2 * AT_ONCE else self._few(self._statements(children))
        blocks: list[Fold | int] = []
        for k in range(times):
            block = children[start + k * period : start + (k + 1) * period]
            blocks.append(
                block[0]
                if period == 1
                else self._fold(self._result(block).text, self._repeats(block), not self._modules(block))
            )
        ends = self._ends(blocks)
        outside = not self._modules(blocks[:1])
        run = self._fold(
            self._run_name(blocks), self._parts(ends, times=times) if len(ends) > AT_ONCE else ends, outside
        )
        before, after = children[:start], children[start + times * period :]
        return self._repeats([*before, run, *after]) if before or after else run.children

    def _ends(self, layers: list[Fold | int]) -> list[Fold | int]:
        """Many modules in a row: the first ones, one fold for those in the middle, the last ones."""
        if len(layers) <= COLUMNS or not all(self._modules([x]) for x in layers):
            return layers
        inner = layers[END:-END]
        outside = not self._modules(inner[:1])
        middle = self._fold(
            self._run_name(inner), self._parts(inner, times=len(inner)) if len(inner) > AT_ONCE else inner, outside
        )
        self.middles.add(middle.key)
        return [*layers[:END], middle, *layers[-END:]]

    def _few(self, children: list[Fold | int]) -> list[Fold | int]:
        return self._parts(children) if len(children) > AT_ONCE else children

    def _parts(self, children: list[Fold | int], first: int = 1, times: int = 0) -> list[Fold | int]:
        """At most a dozen parts of equal length, each again in parts. `times`: the children are that many equal blocks."""
        size = AT_ONCE ** max(1, math.ceil(math.log(len(children), AT_ONCE) - 1e-9) - 1)
        out: list[Fold | int] = []
        for k in range(0, len(children), size):
            part = children[k : k + size]
            name = (
                self._run_name(part, f"{first + k:,}–{first + k + len(part) - 1:,} of {times:,}")
                if times
                else self._result(part).text
            )
            inner = self._parts(part, first + k, times) if len(part) > AT_ONCE else part
            out.append(part[0] if len(part) == 1 else self._fold(name, inner, not self._modules(part)))
        return out

    # By statement --------------------------------------------------------------------------------------------------------------------

    def _statements(self, children: list[Fold | int]) -> list[Fold | int]:
        """Operations one after the other that are one statement, in one call or turn of a loop. A class that notes no lines says only
        which results are variables."""
        out: list[Fold | int] = []
        run: list[Fold | int] = []

        def end() -> None:
            if len(run) > 1:
                out.append(self._fold(self._result(run).text, [*run], own=True))
                self.statements.add(self.folds[-1].key)
            else:
                out.extend(run)
            run.clear()

        for child in children:
            if isinstance(child, Fold):
                end()
                out.append(child)
                continue
            if run and self._statement(cast(int, run[-1])) != self._statement(child):
                end()
            run.append(child)
            if self.nodes[child]["named"]:
                end()
        end()
        return out if len(out) > 1 else children

    def _statement(self, node: int) -> Any:
        source = self.nodes[node]["source"]
        return source and (source["cell"], source["line"], self.made_in.get(node))

    def _read_calls(self, trace: Trace) -> None:
        """The recorded calls and turns of loops: which one each node was made in, and what the nodes of each are called."""
        self.made_in: dict[int, int] = {}
        self.calls: dict[frozenset[int], Title] = {}
        inside: dict[int, list[int]] = {}
        groups = trace.get("groups", ())
        turns = {inner: k for group in groups if group["kind"] == "loop" for k, inner in enumerate(group["groups"], 1)}
        for group in reversed(groups):  # inner ones first
            inside[group["id"]] = [*group["members"], *(m for g in group["groups"] for m in inside[g])]
            self.made_in |= dict.fromkeys(group["members"], group["id"])
            if group["kind"] in ("call", "turn"):
                turn = turns.get(group["id"], 0)
                title = Title(f"turn {turn}", turn=turn) if turn else Title(without_count(group["name"]))
                self.calls[frozenset(inside[group["id"]])] = title

    def _modules(self, block: Sequence[Fold | int]) -> list[Title]:
        """The modules whose calls a block consists of, among other operations."""
        return [Title(c.name) for c in block if isinstance(c, Fold) and c.key not in self.own]

    def _result(self, block: Sequence[Fold | int]) -> Title:
        """A block is called after the modules it consists of; else, if it has statements in it, after the first and the last of them."""
        titles = self._modules(block)
        if not titles and any(isinstance(c, Fold) for c in block):
            titles = [self._called(_members([c])) for c in (block[0], block[-1])]
        if not titles:
            return self._called(_members(block))
        first, last = titles[0], titles[-1]
        return (
            last
            if first.subject == last.subject
            else Title(f"{first.subject} … {last.subject}", first=first.subject, last=last.subject)
        )

    def _called(self, members: Sequence[int]) -> Title:
        """Operations are called after the variable that the last of them is, or was; after the function or the turn of a loop that made
        them; after their lines; or after the next variable that they are a part of."""
        results = [m for m in members if self.nodes[m]["kind"] == "operation"] or [*members]
        last = self.nodes[results[-1]]
        if last["named"]:
            return Title(last["label"])
        call, source = self.calls.get(frozenset(results)), last["source"]
        after = self.next.get(results[-1], -1)
        complete = after < 0 or self._statement(after) != self._statement(results[-1])
        if source and (variable := _variable(source["text"], None if complete else source.get("span", (0, 0)))):
            turn = call.turn if call is not None else 0
            return Title(variable, f"turn {turn}" if turn else f"line {source['line']}", turn=turn)
        if call is not None:
            return Title(call.subject)
        if (
            source
            and (returned := re.match(r"return (.{1,22})$", source["text"]))
            and source.get("span", (0, 0))[0] <= 8
        ):
            return Title(returned[1])
        lines = [result["line"] for m in results if (result := self.nodes[m]["source"])]
        if lines:
            return Title(f"line {lines[0]}" if len({*lines}) == 1 else f"lines {min(lines)}–{max(lines)}")
        next_ = self._variable_after(results[-1])
        if next_ < 0:
            return Title(f"up to {last['label']}", open=True)
        label = self.nodes[next_]["label"]
        return Title(f"part of {label}", part_of=label)

    def _variable_after(self, node: int) -> int:
        """The first variable that a node is a part of; -1 if there is none."""
        if not self.toward:
            for n in range(len(self.nodes) - 1, -1, -1):
                users = sorted(self.users[n])
                named = (u for u in users if self.nodes[u]["named"])
                self.toward[n] = next(named, self.toward[users[0]] if users else -1)
        return self.toward[node]

    def _run_name(self, blocks: Sequence[Fold | int], which: str = "") -> str:
        """The name of repeated blocks: the first and the last module or variable, or their number. which: "1–12 of 60", of a part."""
        first, last = (self._result([b]) for b in (blocks[0], blocks[-1]))
        if isinstance(blocks[0], int) and self.nodes[blocks[0]]["kind"] != "operation":
            return which
        if self._modules(blocks[:1]):
            return f"{first.first or first.text} … {last.last or last.text}"
        if first.open:
            count = sum(self.nodes[m]["kind"] == "operation" for m in _members(blocks[:1]))
            return which or f"{len(blocks):,} × {count} operation{'s' * (count > 1)}"
        if first.subject != last.subject:
            return f"{first.subject} … {last.subject}"
        if first.turn and last.turn:
            return f"{first.subject}, turns {first.turn}–{last.turn}"
        if which:
            return f"{first.subject}, {which}"
        return f"{len(blocks):,} parts of {first.part_of}" if first.part_of else f"{len(blocks):,} × {first.subject}"

    # Leaves and constants -----------------------------------------------------------------------------------------------------

    def _of_leaves(self) -> None:
        """A leaf goes into the innermost fold that holds everything that uses it."""
        around: dict[int, list[int]] = {}
        for fold in sorted(self.folds, key=lambda f: (-len(f.members), -f.key)):  # outer folds first
            for member in fold.members:
                around.setdefault(member, []).append(fold.key)
        inside: dict[int, list[int]] = {}
        for node in self.nodes:
            if node["kind"] == "operation" or not self.users[node["id"]]:
                continue
            paths = [around.get(u, [self.root.key]) for u in self.users[node["id"]]]
            common = [k for level in zip(*paths, strict=False) if len(set(level)) == 1 for k in level[:1]]
            common = [k for k in common if not self._comes_in(node, self.folds[k])]
            common = [k for k in common if not (node["named"] and k in self.statements)]
            for key in common:
                inside.setdefault(key, []).append(node["id"])
        homes: dict[int, list[int]] = {}
        deeper = {key: set(leaves) for key, leaves in inside.items()}
        for key, leaves in inside.items():
            fold = self.folds[key]
            fold.members = sorted([*fold.members, *leaves])
            for leaf in leaves:
                if self.nodes[leaf]["kind"] == "leaf" and not any(leaf in deeper.get(c.key, ()) for c in fold.folds):
                    homes.setdefault(key, []).append(leaf)
        for key, leaves in homes.items():
            if len(leaves) > AT_ONCE:
                parts = self._leaf_parts(leaves)
                self.folds[key].children = [*parts, *self.folds[key].children]

    def _comes_in(self, node: Node, fold: Fold) -> bool:
        """Is it data that a module's call is given? Its own parameters, masks and constants are part of it."""
        if fold.name not in self.modules or node["kind"] != "leaf" or node["requires_grad"]:
            return False
        return (
            node["named"] or self._first(fold) in self.users[node["id"]] or self.modules[fold.name] == "cross_entropy"
        )

    def _first(self, fold: Fold) -> int:
        """The first operation in a module's call that has an operand other than parameters: the input of the call."""
        alone = {
            p
            for m in fold.members
            for p in self.parents[m]
            if self.nodes[p]["kind"] == "leaf" and self.nodes[p]["requires_grad"]
        }
        for m in fold.members:
            if self.nodes[m]["kind"] == "operation":
                if not alone.issuperset(self.parents[m]):
                    return m
                alone.add(m)
        return -1

    def _leaf_parts(self, leaves: list[int]) -> list[Fold | int]:
        """Many inputs of one level in one fold."""
        parts = self._parts([*leaves], times=len(leaves))
        return [self._fold(f"{len(leaves):,} inputs", parts)]

    # Open and closed ----------------------------------------------------------------------------------------------------------

    def opening(self, cards: int = CARDS, at_most: bool = False, layers: bool = False) -> set[int]:
        """Which folds are open at first: those around the result, then from the outside in, equal ones together, while there are no more
        than `cards` cards. at_most: if there would be more, the innermost around the result stay closed too. layers: modules are shown as
        layers, and none that consists of operations alone is opened."""
        around = [] if layers else self.path(self.result)
        while at_most and around and self.count({self.root.key, *around}) > cards:
            around = around[1:]
        open_ = {self.root.key, *around}
        todo = [f for key in open_ for f in self.by_key[key].folds if f.key not in open_]
        while todo:
            first = min(todo, key=lambda f: (len(f.children), f.key))
            # The turns of a loop open together
            alike = [f for f in todo if f is first or f.parent == first.parent and self._token(f) == self._token(first)]
            keys = {f.key for f in alike}
            todo = [f for f in todo if f.key not in keys]
            shut = keys & self.middles or layers and all(f.key in self.own for f in first.folds)
            if not shut and self.count(open_ | keys) <= cards:
                open_ |= keys
                todo += [inner for f in alike for inner in f.folds]
        return open_

    def count(self, open_: set[int]) -> int:
        """How many cards there are if just these folds are open."""
        return len(self.nodes) - sum(len(f.members) - 1 for f in self.closed(open_))

    def closed(self, open_: set[int]) -> list[Fold]:
        """The folds that are cards: closed ones in open ones, in order."""
        out: list[Fold] = []
        todo: list[Fold] = [self.root]
        while todo:
            fold = todo.pop()
            if fold.key in open_:
                todo += reversed(fold.folds)
            else:
                out.append(fold)
        return sorted(out, key=lambda f: f.members[-1])

    def frames(self, open_: set[int]) -> list[Fold]:
        """The open folds that have a frame: those with a name, outer ones first."""
        visible = [f for f in self.folds if f.key in open_ and f is not self.root and all(k in open_ for k in self.outside(f))
                 and (len(f.children) > 1 or f.folds)]  # fmt: skip
        return sorted(visible, key=lambda f: (-len(f.members), -f.key))

    def outside(self, fold: Fold) -> list[int]:
        """The folds around a fold, innermost first, with the root."""
        out, key = [], fold.parent
        while key != -1:
            out.append(key)
            key = self.by_key[key].parent
        return out

    def within(self, fold: Fold) -> tuple[list[str], list[str]]:
        """What a closed card must not hide: where its history is cut and where numbers are written in place; and the learner's own views.

        Views that minigrad's modules make for themselves are left out.
        """
        nn = sys.modules.get("minigrad.nn")
        cuts, writes, views = dict[str, None](), dict[str, None](), dict[str, None]()  # places in the code, in order
        for m in fold.members:
            node = self.nodes[m]
            inner = node.get("inside", [""])[-1]
            place = f" in line {node['source']['line']}" if node["source"] else ""
            if "cut" in node:
                cuts[node["cut"]["how"] + place] = None
            elif node["op"] == "CopySlices" or node.get("version") and node["kind"] == "operation":
                writes[place] = None
            elif "view" in node and node["kind"] == "operation" and not hasattr(nn, self.modules.get(inner, "")):
                views[place] = None
        changes = [*cuts, *(f"written in place{place}" for place in writes)]
        return changes, [f"view{place}" for place in views if place not in writes]

    def everything(self) -> set[int]:
        return {f.key for f in self.folds}

    def path(self, node: int) -> list[int]:
        """The folds around a node, innermost first, without the root."""
        out, key = [], self.home.get(node, -1)
        while key not in (-1, self.root.key):
            out.append(key)
            key = self.by_key[key].parent
        return out


def _members(children: Iterable[Fold | int]) -> list[int]:
    return sorted(m for c in children for m in (c.members if isinstance(c, Fold) else [c]))


def _variable(text: str, span: Sequence[int] | None) -> str:
    """The variable that a line assigns to; "" if `span`, an expression in it, is not all of its right side.

    >>> _variable("h = w * h", (4, 9)), _variable("c += 1", (0, 6)), _variable("c = a + b", (4, 5)), _variable("q, k = two(x)", None)
    ('h', 'c', '', 'q, k')
    """
    one = r"[\w.]+(?:\[\w+\])?"
    match = re.match(rf"({one}(?:, ?{one})*)\s*(?:[-+*/@]|//|\*\*)?=(?!=)\s*", text)
    if (
        not match
        or span
        and (span[1] < len(text.rstrip(") ;")) or text[: span[0]].rstrip("( ") not in ("", match[0].rstrip()))
    ):
        return ""
    return match[1]


LONGEST = 1_000  # of a long row, no longer blocks are looked for: that would be quadratic


def longest_run(row: numpy.ndarray) -> tuple[int, int, int]:
    """Where equal blocks follow each other, covering most of the row: (start, length of a block, how many); how many is 1 if none do.

    Of runs that cover equally much, the one with the shortest block; one that repeats a single kind thrice counts, a mere pair does not.

    >>> longest_run(numpy.array([7, 1, 2, 3, 1, 2, 3, 1, 2, 3, 9]))
    (1, 3, 3)
    """
    best, most = (0, 1, 1), 0
    n = len(row)
    for period in range(1, (n // 2 if n <= 4 * LONGEST else LONGEST) + 1):
        if most >= n - n % period and most:  # nothing longer can cover more
            break
        # So long must a run of equal kinds be: it covers three neighbours of every need // 4 places
        need = max(period, most - period + 1)
        apart = max(1, need // 4)
        hits = row[: n - period : apart] == row[period::apart]
        if not (hits[:-2] & hits[1:-1] & hits[2:] if apart > 1 else hits).any():
            continue
        same = row[:-period] == row[period:]
        edges = numpy.flatnonzero(numpy.diff(numpy.concatenate(([0], same.view(numpy.int8), [0]))))
        starts, ends = edges[::2], edges[1::2]
        times = (ends - starts) // period + 1
        covered = numpy.where((times >= 3) | ((times == 2) & (period >= 3)), times * period, 0)
        k = int(covered.argmax())
        if covered[k] > most:
            best, most = (int(starts[k]), period, int(times[k])), int(covered[k])
    return best


# --- the trace with closed folds -------------------------------------------------------------------------------------------------


class Folded:
    """The trace that is shown, and how its numbers follow from those of the whole one."""

    def __init__(self, whole: Trace, folds: Folds, open_: Iterable[int]):
        self.whole, self.folds = whole, folds
        nodes = whole["nodes"]
        closed = folds.closed(set(open_))
        self.owner: dict[int, Fold] = {m: f for f in closed for m in f.members}  # node -> the closed fold it is in
        self.last = {  # fold -> the operation whose place the card takes
            f.key: max((m for m in f.members if nodes[m]["kind"] == "operation"), default=f.members[-1]) for f in closed
        }
        self.of = [  # shown node -> the whole trace's node whose numbers it has
            n["id"] for n in nodes if n["id"] not in self.owner or self.last[self.owner[n["id"]].key] == n["id"]
        ]
        self.new: dict[int, int] = {}  # node -> the shown node that it is, or is in
        for i, old in enumerate(self.of):
            for member in self.owner[old].members if old in self.owner else (old,):
                self.new[member] = i
        self.arrays: list[int] = []  # shown array -> the whole trace's
        crossing = [e for e in whole["edges"] if self.new[e["source"]] != self.new[e["target"]]]
        visible = self._shown_nodes(crossing)
        self.shown_edges = self._merged_edges(crossing, visible)
        part: dict[str, Any] = {**whole, "root": self.new[whole["root"]], "nodes": visible, "edges": self.shown_edges}
        part.pop("groups", None)  # its members are nodes of the whole trace
        part["steps"] = self._steps(visible)
        self._renumber(visible)
        if "arrays" in part:
            self._slim(part)
        self.trace = cast(Trace, part)

    def _shown_nodes(self, crossing: list[Edge]) -> list[dict[str, Any]]:
        """The nodes that stay, and one for each closed fold."""
        nodes = self.whole["nodes"]
        leaving: dict[int, set[int]] = {}  # fold -> the results that leave it
        for old in [*(e["source"] for e in crossing), self.whole["root"]]:
            if old in self.owner:
                leaving.setdefault(self.owner[old].key, set()).add(old)
        modules = {m: f.name for m, f in self.owner.items() if f.name in self.folds.modules}
        visible: list[dict[str, Any]] = []
        for i, old in enumerate(self.of):
            if old in self.owner:
                visible.append(self._fold_node(i, self.owner[old], leaving.get(self.owner[old].key, set())))
                continue
            visible.append({**nodes[old], "id": i})
            if "formula" in nodes[old]:
                visible[-1]["formula"] = with_nodes(nodes[old]["formula"], self._operand)
                self._speak(visible[-1], nodes[old], modules)
        labels: dict[str, int] = {}
        for node in visible:  # two folds may have one name
            if node["kind"] == "fold":
                labels[node["label"]] = turn = labels.get(node["label"], 0) + 1
                node["label"] += "" if turn == 1 else f" ({turn})"
        return visible

    def _operand(self, i: int) -> list:
        """A node in a formula: by its name where its card is closed."""
        return ["name", self.whole["nodes"][i]["label"]] if i in self.owner else ["node", self.new[i]]

    def _fold_node(self, i: int, fold: Fold, outs: set[int]) -> dict[str, Any]:
        """The node of a closed fold. outs: the results that leave it; if it is one, the fold has its numbers."""
        if len(outs) == 1:
            (self.of[i],) = outs
        nodes = [self.whole["nodes"][m] for m in fold.members]
        out = self.whole["nodes"][self.of[i]]
        count = sum(n["kind"] == "operation" for n in nodes)
        node: dict[str, Any] = dict(
            id=i, kind="fold", op="", label=fold.name, named=False,
            expr=f"{count or len(nodes)} {'operations' if count > 1 else 'operation' if count else 'inputs'}",
            value=out["value"], grad=out["grad"], requires_grad=any(n["requires_grad"] for n in nodes), rule="", saved=[],
            source=out["source"], scope=out["scope"], fold=fold.key, members=len(nodes), operations=count, outs=len(outs),
        )  # fmt: skip
        node |= {key: out[key] for key in ("array", "grad_array") if key in out}  # type: ignore[literal-required]
        changes, views = self.folds.within(fold)
        if changes or views:
            node |= {"within": changes + views, "views": len(views)}
        if any("became" in n for n in nodes):
            node["became"] = _became(nodes)
        if fold.name in self.folds.modules:
            node["function"] = self.folds.modules[fold.name]
        if len(outs) == 1 and "shape" in out:
            node |= {"shape": out["shape"], "dtype": out.get("dtype", "")}
        return node

    def _merged_edges(self, crossing: list[Edge], visible: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """One edge for all those between the same two cards, unless neither is a fold."""
        edges = self.whole["edges"]
        merged: dict[tuple[int, int, int], list[int]] = {}
        for e in crossing:
            plain = e["source"] not in self.owner and e["target"] not in self.owner
            ends = self.new[e["source"]], self.new[e["target"]], e["slot"] if plain else -1
            merged.setdefault(ends, []).append(e["id"])
        self.edges: list[list[int]] = list(merged.values())  # shown edge -> the whole trace's edges
        self.new_edge = {old: i for i, group in enumerate(self.edges) for old in group}
        out: list[dict[str, Any]] = []
        for i, ((source, target, slot), group) in enumerate(merged.items()):
            edge: dict[str, Any] = {**edges[group[0]], "id": i, "source": source, "target": target}
            edge["carries_grad"] = any(edges[e]["carries_grad"] for e in group)
            if "slope" in edge:
                edge["slope"] = with_nodes(edge["slope"], self._operand)
            if slot < 0:
                edge["slot"] = 0
                if visible[target]["kind"] == "fold" or len({edges[e]["source"] for e in group}) > 1:
                    edge["amount"] = True
                if len(group) > 1 or "amount" in edge:
                    edge["local_text"] = ""
                    for key in ("custom", "broadcast", "makes", "shut", "words", "slope"):
                        edge.pop(key, None)
            out.append(edge)
        self.shown_edges = out
        whole_locals = numpy.array([[_f(e["local"]) for e in edges]])
        whole_grads = numpy.array([[_f(n["grad"]) for n in self.whole["nodes"]]])
        for edge, local in zip(out, self.locals(whole_locals, whole_grads)[0], strict=True):
            if edge.get("amount") or len(self.edges[edge["id"]]) > 1:
                edge["local"] = _json(local) if self.whole["engine"] == "value" else None
        return out

    def _renumber(self, visible: list[dict[str, Any]]) -> None:
        """Give what nodes and edges say about other nodes the numbers of the shown ones."""
        for node in visible:
            if "cut" in node:
                sources = dict.fromkeys(self.new[s] for s in node["cut"]["sources"])
                node["cut"] = {**node["cut"], "sources": [k for k in sources if k != node["id"]]}
            if "view" in node:
                node["view"] = {**node["view"], "base": self.new[node["view"]["base"]]}
                if node["view"]["base"] == node["id"]:
                    node.pop("view")
            if "made_by" in node:
                node["made_by"] = sorted({self.new_edge[e] for e in node["made_by"] if e in self.new_edge})
        for edge in self.shown_edges:
            if "makes" in edge:
                edge["makes"] = sorted({self.new[n] for n in edge["makes"]})

    def _speak(self, visible: dict[str, Any], node: Node, modules: dict[int, str]) -> None:
        """Write a node's formula with the names of the modules that its operands are folded into."""
        if modules.keys().isdisjoint(operands(node["formula"])):
            return
        tree = with_nodes(node["formula"], lambda i: ["name", modules.get(i) or self.whole["nodes"][i]["label"]])
        text = write(tree, lambda i: Text("")).text
        if node["label"] == node["expr"]:
            visible["label"] = text
        visible["expr"] = text

    def _steps(self, visible: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The events of the shown trace. A fold computes, and passes a gradient along an edge, when its last operation does."""
        new_edge, steps = self.new_edge, self.whole["steps"]
        out: list[dict[str, Any]] = []
        final = {new_edge[s["edge"]]: k for k, s in enumerate(steps) if s["edge"] is not None and s["edge"] in new_edge}
        for k, step in enumerate(steps):
            at = self.new[step["node"]]
            node = visible[at]
            event: dict[str, Any] = {**step, "node": at}
            if step["edge"] is not None:
                edge = new_edge.get(step["edge"])
                if edge is None or final[edge] != k:
                    continue
                out.append(self._sent(event, edge, node, visible[self.shown_edges[edge]["source"]]))
            elif node["kind"] != "fold" or step["kind"] in ("seed", "error"):
                out.append(event)
            elif (
                step["kind"] != "accumulate" and step["node"] == self.last[self.owner[step["node"]].key]
            ):  # "compute" or "input"
                out.append({**event, "say": self._computed(node)})
        return out

    def _sent(self, event: dict[str, Any], edge: int, sender: dict[str, Any], to: dict[str, Any]) -> dict[str, Any]:
        """The event of a gradient that goes along a shown edge."""
        event["edge"] = edge
        if sender["kind"] == "fold" or to["kind"] == "fold":
            one = len(self.edges[edge]) == 1
            if not one:
                event.pop("sends", None)
                event.pop("raw", None)
            event["say"] = self._say(sender, to, self.shown_edges[edge], one)
        return event

    def _computed(self, fold: dict[str, Any]) -> str:
        if not fold["operations"]:
            return f"**{fold['label']} have their values:** nothing to compute."
        inside = f" Inside: {', '.join(fold['within'])}." if "within" in fold else ""
        if "function" in fold and fold["outs"] == 1:
            say = f"**{fold['label']} gives {{value}}:** {fold['function']}, in {fold['expr']}. Open the card to see each."
            return say + inside
        result = "its result becomes {value}" if fold["outs"] == 1 else f"it has {fold['outs']} results"
        return f"**{fold['label']} computes:** {fold['expr']}, folded into one card; {result}. Open it to see each.{inside}"

    def _say(self, sender: dict[str, Any], to: dict[str, Any], edge: dict[str, Any], one: bool) -> str:
        if sender["kind"] != "fold":
            if one and not edge.get("amount"):
                return f"**{sender['label']} passes {{sends}} back into {to['label']}:** a fold of {to['expr']}."
            return f"**{sender['label']} passes its gradients back into {to['label']}:** {to['expr']}."
        what = "{sends}" if one or edge.get("amount") and self.whole["engine"] == "value" else "its gradients"
        say = f"**{sender['label']} passes {what} back to {to['label']}:** the backward pass has gone through {sender['expr']}, edge by "
        return say + "edge." + (" There the sum is {after}." if to["kind"] != "fold" else "")

    def _slim(self, part: dict[str, Any]) -> None:
        """Keep only the arrays that the part still shows."""
        groups = ((part["nodes"], ("array", "grad_array")), (part["steps"], ("sends", "raw", "after")))
        self.arrays = sorted({x[key] for xs, keys in groups for x in xs for key in keys if x.get(key) is not None})
        at = {old: i for i, old in enumerate(self.arrays)}
        part["arrays"] = [self.whole["arrays"][old] for old in self.arrays]
        for xs, keys in groups:
            for x in xs:
                for key in keys:
                    if x.get(key) is not None:
                        x[key] = at[x[key]]

    # Numbers at another point ---------------------------------------------------------------------------------------------------

    def locals(self, locals_: numpy.ndarray, grads: numpy.ndarray) -> numpy.ndarray:
        """Columns for the shown edges out of columns for the whole trace's: factors, or at folds the amounts that are sent."""
        out = numpy.full((len(locals_), len(self.edges)), numpy.nan)
        targets = numpy.array([e["target"] for e in self.whole["edges"]], int)
        for i, (group, edge) in enumerate(zip(self.edges, self.shown_edges, strict=True)):
            if edge.get("amount"):
                carried = [e for e in group if self.whole["edges"][e]["carries_grad"]]
                out[:, i] = (locals_[:, carried] * grads[:, targets[carried]]).sum(axis=1)
            else:
                out[:, i] = locals_[:, group].sum(axis=1)
        return out

    def columns(self, values: Any, grads: Any, locals_: Any, arrays: Any = None) -> numpy.ndarray:
        """Rows as the browser wants them, out of rows of the whole trace: values, gradients, locals, arrays."""
        parts = [values[:, self.of], grads[:, self.of], self.locals(locals_, grads)]
        if arrays is not None and arrays.shape[1]:
            starts = numpy.cumsum([0, *array_widths(self.whole)])
            parts.append(arrays[:, [k for a in self.arrays for k in range(starts[a], starts[a + 1])]])
        return numpy.concatenate(parts, axis=1)


def _became(nodes: list[Node]) -> Became:
    """What became of the operations of a fold in a compiled step, in their order. What costs nothing counts only where it is all."""
    parts = [n["became"] for n in nodes if "became" in n]

    def of(result: Iterable[list[str]]) -> list[str]:
        names = dict.fromkeys(name for one in result for name in one)
        return [name for name in names if name not in FREE] or [*names]

    return Became(
        forward=of(p["forward"] for p in parts), backward=of(p["backward"] for p in reversed(parts)), lines=[]
    )


def _f(x: Number | None) -> float:
    return math.nan if x is None else float(x)


def _json(x: float) -> Number | None:
    return None if x != x else float(x) if math.isfinite(x) else str(float(x))


def _value(x: float) -> Number:
    return "nan" if x != x else cast(Number, _json(x))


def at_point(trace: Trace, values: Any, grads: Any, locals_: Any, arrays: Any = ()) -> Trace:
    """The same trace with other numbers: rows as a tape or a Sweeper gives them."""
    nodes = [{**n, "value": _value(float(v)) if not isinstance(n["value"], str) or n["value"] in ("nan", "inf", "-inf") else n["value"],
              "grad": None if n["grad"] is None else _value(float(g))}
             for n, v, g in zip(trace["nodes"], values, grads, strict=True)]  # fmt: skip
    edges = [
        {**e, "local": None if e["local"] is None else _value(float(x))}
        for e, x in zip(trace["edges"], locals_, strict=True)
    ]
    out: dict[str, Any] = {**trace, "nodes": nodes, "edges": edges}
    if "arrays" in trace:
        out["arrays"], at = [], 0
        for a, wide in zip(trace["arrays"], array_widths(trace), strict=True):
            low, high, mean, std, odd, *cells = (_json(float(x)) for x in arrays[at : at + wide])
            at += wide
            remaining = [
                None if old is None else "nan" if x is None else x for old, x in zip(a["cells"], cells, strict=True)
            ]
            out["arrays"].append(
                {
                    **a,
                    "low": low,
                    "high": high,
                    "mean": mean,
                    "std": std,
                    "odd": int(cast(float, odd)),
                    "cells": remaining,
                }
            )
    return cast(Trace, out)


def notice(whole: Trace, visible: Trace) -> str:
    """A sentence about a view that is folded, "" if nothing is."""
    folds = [n for n in visible["nodes"] if n["kind"] == "fold"]
    if not folds:
        return ""
    counts = f"{len(whole['nodes']):,} nodes on {len(visible['nodes'])} cards."
    return f"{counts} A stacked card stands for many nodes: click it, or press Enter, to open it; click its frame to close it again."
