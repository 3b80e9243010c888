"""The units of a network in a recorded graph, by its operations alone: whatever class, list or function holds its weights.

What lives here: `units_of`, for a recorded graph whose parameters have to be found, and `units_among`, for one whose parameters are known
(the film of a training run). A unit is an affine sum, parameter × signal + parameter × signal + ... (+ bias), and the function of one
number that follows. Units with the same parameters are one unit in several samples. What does not: units that the calls of the program
show, the plan of a picture (widgets/network.py). If anything is unclear there are no units.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .scalar_trace import ScalarRecording

ACTIVATIONS = {
    "relu",
    "tanh",
    "sigmoid",
    "sin",
    "cos",
    "abs",
    "softplus",
    "gelu",
    "silu",
    "elu",
    "leaky_relu",
    "step",
    "sign",
    "round",
}
# Written out
SIGMOIDS = {
    ("neg", "exp", "+", "**"),
    ("neg", "exp", "+", "/"),
    ("*", "exp", "+", "**"),
    ("*", "exp", "+", "/"),
}


class Unit(NamedTuple):
    out: int
    members: set[int]
    products: dict[int, tuple[int, int]]  # parameter -> (product, the other factor), in the order of the sum
    fixed: list[int]  # its parameters, those without a product last
    name: str
    z: int  # the affine sum
    bias_at: int  # how many products stand before the bias


def units_of(graph: ScalarRecording) -> list[list[list[Unit]]] | None:
    """For each sample its units by columns, in the order of the program; None if the operations show no network."""
    ops = [rule.name if rule else op for rule, op in zip(graph.rules, graph.ops, strict=True)]
    order = graph.order[::-1]
    return _Units(graph.parents, ops, order, _parameters(graph, ops, order), graph.paths).samples()


def units_among(
    parents: Sequence[tuple[int, ...]], ops: Sequence[str], params: set[int], names: Sequence[str]
) -> list[list[Unit]] | None:
    """The units of one sample by columns; None if its operations show no network. The nodes are in the order of the program, operands
    before results. names: of the parameters, by node."""
    order = [i for i, of in enumerate(parents) if of]
    result = _Units(parents, ops, order, params, names).samples()
    return result[0] if result and len(result) == 1 else None


def _parameters(graph: ScalarRecording, ops: Sequence[str], order: Sequence[int]) -> set[int]:
    """Leaves that are used like weights and biases: once for each sample, beside a computed value or a plain number; or that are attributes
    of the same object as such a leaf."""

    def root_of(leaf: int) -> str:
        return re.split(r"\W", graph.paths[leaf])[0]

    counts, sure = Counter[int](), set[int]()
    partners: dict[int, set[int]] = {}  # of a leaf: the leaves that it is multiplied by
    for i in order:
        of = graph.parents[i]
        if ops[i] not in ("+", "*") or len(of) != 2 or of[0] == of[1]:
            continue
        for leaf, other in (of, of[::-1]):
            if graph.kinds[leaf] == "leaf":
                counts[leaf] += 1
                if ops[i] == "*" and graph.kinds[other] == "leaf":
                    partners.setdefault(leaf, set()).add(other)
                if graph.kinds[other] != "leaf" and (ops[i] == "*" or graph.requires_grad[other]):
                    sure.add(leaf)
    if not sure:
        return set()
    (samples, _), *_ = Counter(counts[leaf] for leaf in sure).most_common()
    fitting = {leaf for leaf in sure if counts[leaf] == samples}
    roots = Counter(root_of(leaf) for leaf in fitting)
    if samples == 1:  # a label looks like a weight of the loss, so the leaf must be stored with most of the others
        roots = Counter(dict(roots.most_common(1)))
    results = {
        leaf
        for leaf in counts
        if counts[leaf] == samples and root_of(leaf) in roots and (root_of(leaf) or leaf in fitting)
    }
    if samples > 1:  # weights of the first layer that no name leads to: each meets as many inputs as there are samples
        for leaf, others in partners.items():
            if (
                counts[leaf] == samples == len(others)
                and not root_of(leaf)
                and all(counts[x] != samples for x in others)
            ):
                results.add(leaf)
    return results


class _Units:
    def __init__(
        self,
        parents: Sequence[tuple[int, ...]],
        ops: Sequence[str],
        order: Sequence[int],
        params: set[int],
        names: Sequence[str],
    ):
        self.parents, self.ops, self.order, self.params, self.names = parents, ops, order, params, names
        self.users: list[list[int]] = [[] for _ in parents]
        for i, of in enumerate(parents):
            for p in of:
                self.users[p].append(i)
        self.uses = [False] * len(parents)  # is a parameter behind it?
        for p in params:
            self.uses[p] = True
        for i in order:
            self.uses[i] = any(self.uses[p] for p in parents[i])

    # One unit

    def _product(self, i: int) -> tuple[int, int] | None:
        """(parameter, the other factor), if this is their product."""
        of = self.parents[i]
        if self.ops[i] == "*" and len(of) == 2 and (of[0] in self.params) != (of[1] in self.params):
            return (of[0], of[1]) if of[0] in self.params else (of[1], of[0])
        return None

    def _sum(self, i: int) -> tuple[dict[int, tuple[int, int]], list[int], set[int], int] | None:
        """Products, biases and operations of the affine sum that ends here, and how many products stand before the bias; None if it is
        none."""
        products: dict[int, tuple[int, int]] = {}
        biases: list[int] = []
        bias_at = 0
        members: set[int] = set()
        stack = [i]
        while stack:
            k = stack.pop()
            if result := self._product(k):
                if result[0] in products:
                    return None
                products[result[0]] = k, result[1]
                members.add(k)
            elif self.ops[k] == "+" and len(self.parents[k]) == 2 and (k == i or len(self.users[k]) == 1):
                members.add(k)
                stack += self.parents[k][::-1]
            elif k in self.params:
                biases.append(k)
                bias_at = len(products)
            elif self.uses[k]:
                return None
        return (products, biases, members, bias_at) if products and len(set(biases)) == len(biases) <= 1 else None

    def _units(self) -> list[Unit]:
        units: list[Unit] = []
        inside: set[int] = set()
        for i in reversed(self.order):
            if i in inside or not (self.ops[i] == "+" or self._product(i)):
                continue
            if self.ops[i] == "*" and any(self.ops[u] == "+" for u in self.users[i]):
                continue  # a part of a sum that is no unit
            z = self._without_constants(i)
            if (result := self._sum(z)) is None:
                continue
            products, biases, members, bias_at = result
            inside |= members | {i}
            out, after = self._activation(z)
            fixed = [*sorted(products, key=lambda p: self._place(p)), *biases]
            units.append(Unit(out, members | after, products, fixed, self._name(fixed), z, bias_at))
        place = {node: k for k, node in enumerate(self.order)}
        return sorted(units, key=lambda unit: place[unit.out])

    def _place(self, p: int) -> list:
        return [(int(x), "") if x.isdigit() else (0, x) for x in re.split(r"(\d+)", self.names[p])] + [(p, "")]

    def _without_constants(self, i: int) -> int:
        """What a number is added to: the 0 with which sum() begins, a label that is subtracted."""
        while self.ops[i] == "+" and len(of := self.parents[i]) == 2 and self.uses[of[0]] != self.uses[of[1]]:
            inner = of[0] if self.uses[of[0]] else of[1]
            if self.ops[inner] != "+" and not self._product(inner):
                break
            i = inner
        return i

    def _activation(self, z: int) -> tuple[int, set[int]]:
        """The function of one number after a sum: its result, and its operations."""
        chain: list[int] = []
        at = z
        while len(self.users[at]) == 1 and len(chain) < 4:
            at = self.users[at][0]
            of = [p for p in self.parents[at] if self.uses[p]]
            if len(of) != 1:
                break
            chain.append(at)
            if len(chain) == 1 and self.ops[at] in ACTIVATIONS and len(self.parents[at]) == 1:
                return at, {at}
            if tuple(self.ops[k] for k in chain) in SIGMOIDS:
                return at, set(chain)
        return z, set()

    def _name(self, fixed: list[int]) -> str:
        """What its parameters' names have in common: "model.units[3]" of "model.units[3][0]" and "model.units[3][1]"."""
        names = [self.names[p] for p in fixed]
        parts = [re.findall(r"\w+|\[[^\]]*\]|\.", name) for name in names]
        common: list[str] = []
        for of in zip(*parts, strict=False):
            if len(set(of)) > 1:
                break
            common.append(of[0])
        return "".join(common[:-1] if common and common[-1] == "." or len(parts) == 1 else common).rstrip(".")

    # Samples and columns

    def samples(self) -> list[list[list[Unit]]] | None:
        units = self._units() if self.params else None
        if not units:
            return None
        same: dict[frozenset[int], list[Unit]] = {}
        for unit in units:
            same.setdefault(frozenset(unit.fixed), []).append(unit)
        used = Counter(p for key in same for p in key)
        count = len(units) // len(same)
        if any(len(of) != count for of in same.values()) or max(used.values()) > 1:
            return None
        sample: dict[int, int] = {}  # operation -> its sample; -2 if it uses several
        depth: dict[int, int] = {}
        owner = {m: (k, unit) for of in same.values() for k, unit in enumerate(of) for m in unit.members}
        for i in self.order:
            if not self.uses[i]:
                continue
            behind = {sample[p] for p in self.parents[i] if p in sample}
            before = max((depth.get(p, 0) for p in self.parents[i]), default=0)
            if i in owner:
                k, unit = owner[i]
                if behind - {k}:
                    return None  # a sample that uses another's result: steps of a recurrence
                sample[i], depth[i] = k, before + (i == unit.out)
            elif behind:
                sample[i], depth[i] = behind.pop() if len(behind) == 1 else -2, before
        columns: dict[int, list[frozenset[int]]] = {}
        for key, of in same.items():
            columns.setdefault(depth[of[0].out], []).append(key)
            if any(depth[unit.out] != depth[of[0].out] for unit in of):
                return None
        return [[[same[key][k] for key in columns[d]] for d in sorted(columns)] for k in range(count)]
