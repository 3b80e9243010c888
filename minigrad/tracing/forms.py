"""Which well-known structures a recorded computation of Tensors has: attention, a recurrence, a residual lane, layers, cross-entropy.

What lives here: finding them in a trace, by what is recorded in it and nothing else: functions, parents by slot, shapes, module calls,
lines. Modules and hand-written code are found by the same rules. What does not: drawing them (widgets/forms/). Every rule says no where
it is not certain: a figure is taken only if every operation has a place in it, in what comes before it, or on the way to the root.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from .schema import Node, Trace

# The numbers stay, the shape changes
SHAPES = frozenset(
    "view reshape transpose permute t split chunk clone expand unsqueeze squeeze contiguous select slice unbind reshape_alias alias mT "
    "flatten _unsafe_view unflatten movedim".split()
)
PRODUCTS = frozenset("mm matmul bmm addmm linear baddbmm".split())
ACTIVATIONS = frozenset("tanh relu gelu sigmoid silu leaky_relu elu softplus exp neg".split())
NORMS = frozenset("native_layer_norm layer_norm rms_norm native_batch_norm batch_norm".split())
# Scores and softmax, element by element
PLAIN = frozenset("add sub mul div pow sqrt rsqrt square mean var std sum".split())  # that a norm is written in
BETWEEN = frozenset("mul div masked_fill where add sub dropout native_dropout".split())
TURNS = 3  # a recurrence has at least so many


@dataclass
class Layer:
    """One operation of a chain of layers. `op` makes its numbers, `out` is what the next one reads: the same numbers in another shape."""

    kind: str  # "linear", "bias", "activation", "norm", "conv" or "pool"
    op: int
    out: int
    x: int
    function: str
    weight: int = -1  # the parameter
    factor: int = -1  # the weight as the product reads it, perhaps transposed
    bias: int = -1
    inner: list[int] = field(default_factory=list)  # of a norm written in plain operations: the others of them


@dataclass
class Layers:
    x: int
    layers: list[Layer]


@dataclass
class Attention:
    q: int
    k: int
    kt: int
    scores: int
    between: list[int]  # the operations from the scores to the softmax, and from it to the product with v
    mask: int  # or -1
    weights: int
    v: int
    out: int
    made_by: dict[str, int]  # the products that make q, k and v
    heads: list[Attention] = field(default_factory=list)  # further ones beside it, whose results are joined by `joined`
    joined: int = -1
    then: list[Layer] = field(default_factory=list)  # the projection that follows

    @property
    def masked(self) -> list[int]:
        """Of the operations between, those that put the mask in."""
        return [i for i in self.between if i in self.masking]

    masking: set[int] = field(default_factory=set)


@dataclass
class Turn:
    """One step of a recurrence."""

    state: int
    operations: list[int]
    leaves: list[int]
    x: int  # its own input, or -1
    given: int = -1  # the slice of a product over all inputs (x @ W) that this step adds, or -1


@dataclass
class Recurrence:
    parameters: list[int]
    start: int  # the first state, or -1
    turns: list[Turn]
    lanes: list[list[int]]  # further states of the same size, such as c of an LSTM
    starts: list[int]  # their first ones, or -1
    stacked: bool  # are they layers below, of which the first one reads x?
    # Where the first input and the first state begin in one leaf: cat(x, h0) needs no gradient, so that only its result is recorded
    joined: tuple[int, int] | None = None


@dataclass
class Link:
    """x + f(x) on a residual lane."""

    x: int  # the sum before it, or that sum's norm or activation
    add: int
    end: int  # what f returns
    operations: list[int]
    norm: int  # the norm at the entrance of f, or -1
    form: Attention | Layers | None  # what f is
    name: str  # the module that f is
    block: str  # the module around the addition


@dataclass
class Lane:
    start: int
    links: list[Link]


@dataclass
class CrossEntropy:
    logits: int
    logp: int
    target: int
    loss: int


@dataclass
class Forms:
    """What was found: one figure, the layers that follow it, and the loss at the end."""

    figure: Attention | Recurrence | Lane | Layers
    tail: Layers | None
    loss: CrossEntropy | None

    @property
    def kind(self) -> str:
        return type(self.figure).__name__.lower()


class Finder:
    """Looks for structures in one trace."""

    def __init__(self, trace: Trace):
        self.nodes, self.root = trace["nodes"], trace["root"]
        count = len(self.nodes)
        self.parents: list[list[int]] = [[] for _ in range(count)]
        self.users: list[list[int]] = [[] for _ in range(count)]
        for e in sorted(trace["edges"], key=lambda e: e["slot"]):
            self.parents[e["target"]].append(e["source"])
            if e["target"] not in self.users[e["source"]]:
                self.users[e["source"]].append(e["target"])
        self.live = [n["requires_grad"] for n in self.nodes]
        self.functions = [n.get("function", "") for n in self.nodes]
        self.behind: list[int] = []  # what each node depends on, itself included, as bits
        for i in range(count):
            bits = 1 << i
            for p in self.parents[i]:
                bits |= self.behind[p]
            self.behind.append(bits)
        self.operations = [i for i in range(count) if self.operation(i)]

    def operation(self, i: int) -> bool:
        return self.nodes[i]["kind"] == "operation"

    def shape(self, i: int) -> list[int]:
        return cast(Node, self.nodes[i]).get("shape") or []

    def parameter(self, i: int) -> bool:
        return self.live[i] and not self.operation(i)

    def free(self, i: int) -> bool:
        return self.operation(i) and self.functions[i] in SHAPES

    def peel(self, i: int) -> int:
        """Back through what only changes the shape."""
        while self.free(i) and self.parents[i]:
            i = self.parents[i][0]
        return i

    def wider(self, layer: Layer) -> int:
        """Of the same numbers in several shapes, the one that says which sample a row belongs to."""
        i = best = layer.out
        while i != layer.op and self.free(i):
            i = self.parents[i][0]
            best = i if len(self.shape(i)) > len(self.shape(best)) else best
        return best if len(self.shape(best)) > len(self.shape(layer.op)) else layer.op

    def depends(self, i: int, on: int) -> bool:
        return bool(self.behind[i] >> on & 1)

    def onward(self, i: int) -> int:
        """Forward through shapes as long as there is one user: that user, or -1."""
        while len(self.users[i]) == 1:
            i = self.users[i][0]
            if not self.free(i):
                return i
        return -1

    def region(self, start: int, end: int) -> list[int]:
        """The operations between two nodes and what only they use; none if anything in there is used elsewhere: these two are its doors."""
        inside = {
            i for i in range(start + 1, end) if self.operation(i) and self.depends(end, i) and self.depends(i, start)
        }
        also = {
            i
            for i in range(end)
            if self.operation(i)
            and i not in inside
            and i != start
            and self.depends(end, i)
            and not self.depends(start, i)
        }
        for i in inside:
            if any(u not in inside and u != end for u in self.users[i]):
                return []
            if any(self.operation(p) and p != start and p not in inside and p not in also for p in self.parents[i]):
                return []
        return sorted(inside | {i for i in also if all(u in inside or u in also for u in self.users[i])})

    # Attention: a softmax over the last axis between two products, of which the first has a transposed factor

    def _exponents(self, s: int) -> tuple[int, list[int]]:
        """What a softmax is taken of, and the operations that it consists of besides `s`; (-1, []) if `s` is none over the last axis."""
        parents = self.parents[s]
        if self.functions[s] == "div" and len(parents) == 2:  # e / e.sum(-1, keepdim=True)
            e, total = parents
            axis = rf"dim=\(?(-1|{len(self.shape(e)) - 1}),?\)?\b|, -1"
            if (
                self.functions[e] == "exp"
                and self.functions[total] == "sum"
                and self.parents[total][:1] == [e]
                and self.shape(total)[-1:] == [1]
            ):
                return (
                    (self.parents[e][0], [e, total])
                    if re.search(axis, self.nodes[total]["expr"]) or len(self.shape(e)) == 2
                    else (-1, [])
                )
            return -1, []
        last = rf"dim=(-1|{len(self.shape(s)) - 1})\b"
        return (
            (parents[0], []) if self.functions[s] == "softmax" and re.search(last, self.nodes[s]["expr"]) else (-1, [])
        )

    def attention(self, s: int) -> Attention | None:
        i, between = self._exponents(s)
        mask, masking = -1, set[int]()
        if i < 0:
            return None
        while self.functions[i] not in PRODUCTS:
            main = [p for p in self.parents[i] if self.live[p]]
            if self.functions[i] not in BETWEEN | SHAPES or len(main) != 1 or len(self.users[i]) != 1:
                return None
            for p in self.parents[i]:
                if (
                    not self.live[p]
                    and len(self.shape(p)) >= 2
                    and math.prod(self.shape(p)) > 1
                    and "dropout" not in self.functions[i]
                ):
                    mask = p
                    masking.add(i)
            between.append(i)
            i = main[0]
        scores, out = i, self.onward(s)
        while (
            out >= 0
            and self.functions[out] in ("dropout", "native_dropout", "mul")
            and self.shape(out) == self.shape(s)
        ):
            between.append(out)
            out = self.onward(out)
        if (
            out < 0
            or self.functions[out] not in PRODUCTS
            or self.peel(self.parents[out][0]) not in (s, *between)
            or len(self.users[scores]) != 1
        ):
            return None
        q, kt = self.parents[scores][-2:]
        v, k = self.parents[out][-1], kt
        given = [self.peel(i) for i in (q, kt, v)]
        # A leaf v may be a layer's weight, and softmax its activation, unless q and k are leaves that need gradients, too
        if not self._sizes_agree(s, scores, q, kt, v) or not (
            self.operation(given[2]) or all(self.parameter(i) for i in given)
        ):
            return None
        while self.free(k) and self.shape(self.parents[k][0])[-2:] != self.shape(kt)[-2:][::-1]:
            k = self.parents[k][0]
        if not self.free(k) or self.shape(kt)[-2:] == self.shape(kt)[-2:][::-1] and not self._turned(kt):
            return None  # k is not transposed
        made_by = {
            role: p
            for role, p in (("q", self._unscaled(q)), ("k", self.peel(k)), ("v", self.peel(v)))
            if self.functions[p] in PRODUCTS
        }
        return Attention(q, self.parents[k][0], kt, scores, sorted(between), mask, s, v, out, made_by, masking=masking)

    def _unscaled(self, i: int) -> int:
        """The factor with more than one entry of a product with a scalar, as in nn.MultiheadAttention's scaled q; else the node itself."""
        i = self.peel(i)
        alive = [p for p in self.parents[i] if math.prod(self.shape(p)) > 1]
        return self.peel(alive[0]) if self.functions[i] in ("mul", "div") and len(alive) == 1 else i

    def _turned(self, i: int) -> bool:
        """Is a square transposed on its way?"""
        while self.free(i):
            if self.functions[i] in ("t", "transpose", "permute", "mT", "movedim"):
                return True
            i = self.parents[i][0]
        return False

    def _sizes_agree(self, s: int, scores: int, q: int, kt: int, v: int) -> bool:
        shape = self.shape
        if min(len(shape(i)) for i in (s, scores, q, kt, v)) < 2:
            return False
        return shape(s)[-2:] == shape(scores)[-2:] and shape(s)[-1] == shape(v)[-2] and shape(q)[-1] == shape(kt)[-2]

    def _side_by_side(self, found: list[Attention]) -> Attention | None:
        """Heads that are alike and whose results are joined by one cat."""
        joined = {self.onward(a.out) for a in found}
        cat = joined.pop() if len(joined) == 1 else -1
        if (
            cat < 0
            or self.functions[cat] != "cat"
            or [self.peel(p) for p in self.parents[cat]] != [a.out for a in found]
        ):
            return None
        if (
            len(
                {
                    (tuple(self.shape(a.out)), tuple(self.shape(a.scores)), len(a.between), tuple(sorted(a.made_by)))
                    for a in found
                }
            )
            > 1
        ):
            return None
        first = found[0]
        first.heads, first.joined = found[1:], cat
        return first

    # Recurrence: the same operations again and again, with the same parameters, each turn on the result of the last one

    def _anchors(self) -> list[int]:
        """The operations at which turns begin."""
        alike: dict[tuple, list[int]] = {}
        for i in self.operations:
            shared = tuple((slot, p) for slot, p in enumerate(map(self.peel, self.parents[i])) if self.parameter(p))
            if shared and self.live[i] and not self.free(i) and self.nodes[i].get("shape") is not None:
                inside = tuple(re.sub(r" \(call \d+\)$", "", x) for x in self.nodes[i].get("inside", []))
                source = self.nodes[i]["source"]
                line = source["line"] if source else 0
                alike.setdefault((line, self.functions[i], shared, inside), []).append(i)
        found = [
            v
            for v in alike.values()
            if len(v) >= TURNS and all(self.depends(b, a) for a, b in zip(v, v[1:], strict=False))
        ]
        longest = max(map(len, found), default=0)
        return min((v for v in found if len(v) == longest), key=lambda v: v[0], default=[])

    def _handed_on(self, windows: list[list[int]]) -> dict[int, bool]:
        """The places in a turn of what the next turn reads: is it read by a product or a cat?"""
        first, second = windows[0], windows[1]
        at: dict[int, bool] = {}
        for i in first:
            for u in self.users[i] if self.operation(self.peel(i)) else ():
                if u in second:
                    for s in map(self.peel, [i] if self.functions[i] != "cat" else self.parents[i]):
                        if s not in first:
                            continue
                        place = first.index(s)
                        at[place] = at.get(place, False) or self.functions[u] in PRODUCTS or self.functions[i] == "cat"
        # Operations that depend on inputs only are left out
        at = {k: read for k, read in at.items() if any(self.depends(second[k], first[j]) for j in at)}
        like, last = [self.functions[i] for i in first], [self.functions[i] for i in windows[-1]]
        return {k: read for k, read in at.items() if len(last) > k and last[: k + 1] == like[: k + 1]}

    def recurrence(self) -> Recurrence | None:
        """The windows from one use of a shared parameter to its next one must be alike, and hand something on."""
        ops = [i for i in self.operations if self.live[i] and self.nodes[i].get("shape") is not None]
        anchors = self._anchors()
        windows = [
            [i for i in ops if a <= i < b] for a, b in zip(anchors, [*anchors[1:], len(self.nodes)], strict=False)
        ]
        if not windows or len({tuple(self.functions[i] for i in w) for w in windows[:-1]}) != 1:
            return None
        at = self._handed_on(windows)
        if not at:
            return None
        size = {k: math.prod(self.shape(windows[0][k])) for k in at}
        main = max(at, key=lambda k: (at[k], size[k], k))
        states = [w[main] for w in windows]
        if len({tuple(self.shape(s)) for s in states}) != 1:
            return None
        others = sorted(k for k in at if k != main and len(windows[-1]) > k and size[k] == size[main])
        stacked = any(at[k] for k in others)  # layers above each other: the state of each is read by a product
        if stacked and not all(at[k] for k in others):
            return None
        turns = []
        for t, state in enumerate(states):
            bits = self.behind[state] & ~(self.behind[states[t - 1]] if t else 0)
            mine = [i for i in range(state + 1) if bits >> i & 1]
            turns.append(
                Turn(state, [i for i in mine if self.operation(i)], [i for i in mine if not self.operation(i)], -1)
            )
        used = [{p for i in t.operations for p in map(self.peel, self.parents[i]) if self.parameter(p)} for t in turns]
        parameters = sorted(set.intersection(*used))
        start = self._first(turns, states[0])
        lanes = [[w[k] for w in windows] for k in others]
        starts = [self._first(turns, row[0]) for row in lanes]
        first, joined = self._joined(turns, parameters)
        if joined:
            start = first
        for turn in turns:
            given = [i for i in turn.leaves if i not in (start, *starts) and self.nodes[i]["kind"] == "leaf"]
            own = [i for i in given if i not in parameters and not self.parameter(i)]
            turn.x = own[0] if own else -1
        if joined:
            turns[0].x = first
        elif all(turn.x < 0 for turn in turns[1:]):
            turns[
                0
            ].x = -1  # one product over the inputs of all steps, as in nn.RNN: it is not the input of the first step
        self._parts(turns)
        return Recurrence(parameters, start, turns, lanes, starts, stacked, joined)

    def _parts(self, turns: list[Turn]) -> None:
        """Give each turn its part of one result that all turns read a part of, as nn.RNN multiplies the inputs of all steps at once."""
        read: list[
            dict[int, set[int]]
        ] = []  # of each turn: for each such result the views that all lie on its way to the turn
        for turn in turns:
            of: dict[int, set[int]] = {}
            for p in (p for i in turn.operations if not self.free(i) for p in self.parents[i] if self.free(p)):
                views = set()
                while self.free(p):
                    views.add(p)
                    p = self.parents[p][0]
                if self.operation(p):
                    of[p] = of.get(p, views) & views
            read.append(of)
        for base in set.intersection(*map(set, read)):
            own = [
                views - set().union(*(of[base] for of in read if of[base] is not views))
                for views in (of[base] for of in read)
            ]
            parts = [max((v for v in views if self.nodes[v].get("shape") is not None), default=-1) for views in own]
            if -1 not in parts:
                for turn, part in zip(turns, parts, strict=True):
                    turn.given = part

    def _first(self, turns: list[Turn], state: int) -> int:
        """The leaf that the first turn reads where the second one reads this state; -1 if that is not certain."""

        def use(i: int, slot: int) -> tuple[str, int, tuple[int, ...]]:
            others = [self.peel(p) for k, p in enumerate(self.parents[i]) if k != slot]
            return self.functions[i], slot, tuple(p for p in others if self.parameter(p))

        reads = {
            use(i, slot) for i in turns[1].operations for slot, p in enumerate(self.parents[i]) if self.peel(p) == state
        }
        found = {
            self.peel(p)
            for i in turns[0].operations
            for slot, p in enumerate(self.parents[i])
            if use(i, slot) in reads and not self.free(i) and not self.operation(self.peel(p))
        }
        found = {i for i in found if math.prod(self.shape(i)) == math.prod(self.shape(state))}
        return found.pop() if len(found) == 1 else -1

    def _joined(self, turns: list[Turn], parameters: list[int]) -> tuple[int, tuple[int, int] | None]:
        """The leaf of the first turn that holds the concatenated input and state, and the offsets of both in it."""
        state = turns[0].state
        for cat in turns[1].operations:
            parts = self.parents[cat]
            places = [k for k, p in enumerate(parts) if self.peel(p) == state]
            given = [k for k, p in enumerate(parts) if not self.operation(self.peel(p))]
            if self.functions[cat] != "cat" or len(parts) != 2 or len(places) != 1 or len(given) != 1:
                continue
            wide = [self.shape(p)[-1] for p in parts]
            leaves = [i for i in turns[0].leaves if i not in parameters and self.shape(i) == self.shape(cat)]
            if sum(wide) == self.shape(cat)[-1] and len(leaves) == 1:
                starts = [0, wide[0]]
                return leaves[0], (starts[given[0]], starts[places[0]])
        return -1, None

    # A residual lane: x + f(x), again and again, with no other door into f

    def _links(self) -> list[tuple[int, int, int, list[int]]]:
        links = []
        heavy = sum(
            1 << i for i in self.operations if self.functions[i] in PRODUCTS or self.functions[i].startswith("conv")
        )
        for i in self.operations:
            if self.functions[i] != "add" or len(self.parents[i]) != 2:
                continue
            for a, b in (self.parents[i], self.parents[i][::-1]):
                if (
                    a == b
                    or not self.operation(b)
                    or not self.depends(b, a)
                    or not heavy & self.behind[b] & ~self.behind[a]
                ):
                    continue
                if (
                    self.shape(a) == self.shape(i) == self.shape(b)
                    and (region := self.region(a, i))
                    and any(heavy >> k & 1 for k in region)
                ):
                    links.append((a, i, b, region))
        return links

    def lane(self) -> Lane | None:
        links, chains, used = self._links(), [], set[int]()
        for link in links:
            if link[1] in used:
                continue
            chain = [link]
            while follow := [k for k in links if k[0] == chain[-1][1] or self._after(k[0], chain[-1][1])]:
                chain.append(follow[0])
            used |= {k[1] for k in chain}
            chains.append(chain)
        chain = max(chains, key=len, default=[])
        if len(chain) < 2:
            return None
        weights = [
            {p for i in region for p in map(self.peel, self.parents[i]) if self.parameter(p)} for *_, region in chain
        ]
        if set.intersection(*weights):  # h = h + f(h) with the same weights: that is a recurrence
            return None
        out = []
        for a, add, end, region in chain:
            norm = next((k for k in region if self.functions[k] in NORMS and self.peel(self.parents[k][0]) == a), -1)
            block = (self.nodes[add].get("inside") or [""])[-1]
            out.append(Link(a, add, end, region, norm, self._inside(region), self._common(region), block))
        return Lane(chain[0][0], out)

    def _after(self, i: int, add: int) -> bool:
        """Is it a norm or an activation of the sum?"""
        return self.functions[i] in NORMS | ACTIVATIONS and self.parents[i][0] == add

    def _common(self, region: Iterable[int]) -> str:
        """The innermost module call around all of them."""
        paths = [self.nodes[i].get("inside") or [] for i in region if self.functions[i] not in NORMS]
        same = ""
        for level in zip(*paths, strict=False):
            if len(set(level)) > 1:
                break
            same = level[0]
        return same

    def _inside(self, region: list[int]) -> Attention | Layers | None:
        if heads := [a for s in region if (a := self.attention(s))]:
            found = heads[0] if len(heads) == 1 else self._side_by_side(heads)
            if found:
                last = found.joined if found.heads else found.out
                after = {i for i in region if self.depends(i, last) and i != last}
                rest = self.layers(after, max(after)) if after else None
                found.then = rest.layers if rest else []
            return found
        return self.layers(set(region), max(region))

    # Layers: products with a parameter, activations, norms, planes, one after the other

    def layers(self, among: set[int], end: int) -> Layers | None:
        """Back from `end` as long as each has one user."""
        out: list[Layer] = []
        i = end
        while (op := self.peel(i)) in among and (
            layer := self._layer(op, i) or (None if out else self._softmax(op, i))
        ):
            out.append(layer)
            i = layer.x
            if len(self.users[i]) != 1 and self.operation(i) and not set(self.users[i]) <= {*layer.inner, layer.op}:
                break
        out.reverse()
        return Layers(out[0].x, out) if any(x.kind in ("linear", "conv") for x in out) else None

    def _layer(self, op: int, out: int) -> Layer | None:
        f, parents = self.functions[op], self.parents[op]
        params = [p for p in map(self.peel, parents) if self.parameter(p)]
        data = [p for p in parents if not self.parameter(self.peel(p)) and self.nodes[p]["kind"] != "constant"]
        if f in PRODUCTS:
            return self._product(op, out, params, data)
        if (
            f == "add"
            and len(params) == len(data) == 1
            and len(self.shape(params[0])) == 1
            and self.functions[self.peel(data[0])] in PRODUCTS
        ):
            return Layer("bias", op, out, data[0], f, bias=params[0])
        if f in ACTIVATIONS and len(parents) == 1:
            return Layer("activation", op, out, parents[0], f)
        alive = [p for p in data if self.live[p]]
        if (
            f == "mul"
            and not params
            and len(data) == 2
            and len(alive) == 1
            and self.shape(data[0]) == self.shape(data[1])
        ):
            if all(not self.operation(p) for p in data if p not in alive):
                return Layer("activation", op, out, alive[0], "dropout")
        if f in NORMS and (alive or data):
            return Layer("norm", op, out, (alive or data)[0], f)
        if f.startswith("conv") and len(data) == 1 and params and len(self.shape(op)) == 4:
            return Layer("conv", op, out, data[0], f, weight=params[0], bias=params[1] if len(params) > 1 else -1)
        if "pool" in f and len(data) == 1:
            return Layer("pool", op, out, data[0], f)
        return self._normed(op, out)

    def _softmax(self, op: int, out: int) -> Layer | None:
        """Probabilities at the end of a chain, also in plain operations."""
        logits, inner = self._exponents(op)
        if logits < 0 or not self.operation(logits) or self.shape(logits) != self.shape(op):
            return None
        return Layer("activation", op, out, logits, "softmax", inner=sorted(inner))

    def _normed(self, op: int, out: int) -> Layer | None:
        """A norm in plain operations: (x - x.mean(0)) / x.std(0), perhaps scaled and shifted by parameters; x has no other use."""
        seen, todo = {op}, [op]
        while todo:
            for p in self.parents[todo.pop()]:
                if self.operation(p) and p not in seen and (self.functions[p] in PLAIN or self.free(p)):
                    seen.add(p)
                    todo.append(p)
        shape = self.shape(op)
        means = [self.peel(self.parents[i][0]) for i in seen if self.functions[i] == "mean"]
        x = min((i for i in means if self.shape(i) == shape and len(shape) > 1), default=-1)
        if x < 0 or not self.operation(x) or self.functions[op] not in PLAIN:
            return None
        inner = {i for i in seen if self.depends(i, x) and i != x}
        names = {self.functions[i] for i in inner}
        given = {p for i in inner for p in self.parents[i]} - inner - {x}
        closed = all(set(self.users[i]) <= inner for i in (inner - {op}) | {x})
        leaves = all(self.parameter(self.peel(p)) or self.nodes[p]["kind"] == "constant" for p in given)
        if op not in inner or not closed or not leaves or not names & {"std", "var", "sqrt", "rsqrt", "pow"}:
            return None
        if not names & {"sub", "add"} or not names & {"div", "mul"}:
            return None
        return Layer("norm", op, out, x, "norm", inner=sorted(inner - {op}))

    def _product(self, op: int, out: int, params: list[int], data: list[int]) -> Layer | None:
        parents = self.parents[op]
        if not params and len(parents) >= 2 and self.live[parents[-2]] and not self.operation(self.peel(parents[-1])):
            params, data = [self.peel(parents[-1])], [parents[-2]]  # frozen weights
        weight = next((p for p in params if len(self.shape(p)) == 2), -1)
        if weight < 0 or len(data) != 1:
            return None
        factor = next(p for p in parents if self.peel(p) == weight)
        if factor != parents[-1]:  # the weight is the left factor: rows are no samples
            return None
        return Layer(
            "linear", op, out, data[0], self.functions[op], weight, factor, next((p for p in params if p != weight), -1)
        )

    # The whole

    def loss(self) -> CrossEntropy | None:
        if self.functions[self.root] == "nll_loss":
            logp = self.peel(self.parents[self.root][0])
            if self.functions[logp] == "log_softmax" and len(self.shape(logp)) == 2:
                return CrossEntropy(self.parents[logp][0], logp, self.parents[self.root][1], self.root)
        return None

    def find(self) -> Forms | None:
        """The forms of the whole program; None if it has none, or if that is not certain."""
        loss = self.loss()
        end = loss.logits if loss else self.root
        ends = PRODUCTS | ACTIVATIONS | NORMS
        while (
            not loss
            and self.operation(end)
            and (self.functions[end] == "neg" or self.functions[self.peel(end)] not in ends)
        ):
            alive = [p for p in self.parents[end] if self.live[p]]
            if len(alive) != 1:
                break
            end = alive[0]  # sum, mean, a squared difference: how a number is made of what came out
        everything = {i for i in self.operations if self.operation(self.peel(i))}  # without views of leaves
        figure: Attention | Recurrence | Lane | Layers | None
        if figure := self.lane():
            last = figure.links[-1].add
            placed = {i for k in figure.links for i in (*k.operations, k.x, k.add)}
            before = self.behind[figure.start]
        elif figure := self.recurrence():
            last = figure.turns[-1].state
            placed = {i for t in figure.turns for i in t.operations} | self._from_states(figure)
            before = 0
        else:
            return self._chain(everything, end, loss)
        after = {i for i in everything if self.depends(i, last) and i != last}
        if any(i not in placed and i not in after and i != last and not before >> i & 1 for i in everything):
            return None
        return Forms(figure, self.layers(after, end), loss)

    def _from_states(self, figure: Recurrence) -> set[int]:
        """What is made of single states, such as a loss at every step, and of nothing else that needs gradients but parameters."""
        return {i for i in self.operations if any(self.depends(i, t.state) for t in figure.turns) or not self.live[i]}

    def _chain(self, everything: set[int], end: int, loss: CrossEntropy | None) -> Forms | None:
        found = [a for s in sorted(everything) if (a := self.attention(s))]
        attention = found[0] if len(found) == 1 else self._side_by_side(found) if found else None
        if attention:
            last = attention.joined if attention.heads else attention.out
            after = {i for i in everything if self.depends(i, last) and i != last}
            if any(i not in after and not self.depends(last, i) for i in everything):
                return None
            tail = self.layers(after, end) if end in after else None
            attention.then = tail.layers if tail else []
            return Forms(attention, None, loss)
        chain = None if found else self.layers(everything, end)
        if chain is None:
            return None
        x = self.peel(chain.x)
        looked_up = self.functions[x] in ("embedding", "index") and not any(self.operation(p) for p in self.parents[x])
        inside = {i for layer in chain.layers for i in (*layer.inner, layer.op, layer.out)}
        loose = [
            i
            for i in everything - inside
            if not self.free(i) and not self.depends(i, chain.layers[-1].op) and not self.depends(chain.x, i)
        ]
        if (self.operation(x) and not looked_up) or any(self.live[i] for i in loose):
            return None
        return Forms(chain, None, loss)


def find(trace: Trace) -> Forms | None:
    """The forms that a trace has; None if there are none, or if that is not certain."""
    return Finder(trace).find()
