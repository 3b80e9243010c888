"""One step's loss as coefficient × (sum over samples of one small program) + a program of the parameters alone.

What lives here: `SampleProgram`, read out of the graph of a loss: the program of one sample as rows, which points the loss was computed
from, and the units of the network. What does not: the film that stores one for a training run (film.py), Tensors (tensor_samples.py).

A row is ["w", k] (parameter k), ["x", column], ["y", a, b] (a × label + b), ["is", class] (1 for a label of that class, else 0),
["c", number], ["power", operand, exponent], or [operation, operand, ...].
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..tracing.formulas import exponent
from ..tracing.scalar_trace import record
from ..tracing.units import units_among

LEAVES = ("w", "x", "y", "is", "c")
UNARY = ("neg", "abs", "exp", "log", "sin", "cos", "tanh", "sigmoid", "sqrt", "relu", "step", "sign", "round")
BINARY = ("+", "-", "*", "/", "**", "max", "min")
Row = list[Any]


class UnclearError(ValueError):
    """The structure of a program is not sure. The message says why, as the end of a sentence after "because"."""


def operands(row: Row) -> list[int]:
    if row[0] in LEAVES:
        return []
    return row[1:2] if row[0] in UNARY or row[0] == "power" else row[1:3]


class Data(NamedTuple):
    """What a network learns from."""

    points: np.ndarray  # (count, columns)
    labels: np.ndarray  # one number for each point
    where: dict[tuple[float, ...], int]  # the first row with these coordinates
    shape: tuple[int, ...]  # of one point, as a model of Tensors takes it

    @classmethod
    def of(cls, points: Any, labels: Any) -> Data:
        table = np.asarray(points, float)
        shape = table.shape[1:]
        table = table.reshape(len(table), -1)
        if len(labels) != len(table):
            raise ValueError(
                f"watch needs one label for each point, and got {len(table)} points and {len(labels)} labels."
            )
        where = {tuple(p): i for i, p in reversed(list(enumerate(table.tolist())))}
        return cls(table, np.asarray(labels, float).reshape(len(table), -1)[:, 0], where, shape)


class SampleProgram:
    """The program of one sample, found in the graph of a loss. parameters: the objects that training changes; names: of these.

    Raises UnclearError where anything is not sure."""

    def __init__(self, loss: Any, parameters: Sequence[Any], names: Sequence[str], data: Data) -> None:
        self.graph, self.data, self.names = record(loss), data, names
        graph = self.graph
        index = {id(p): k for k, p in enumerate(parameters)}
        self._param = [index.get(id(obj), -1) for obj in graph.objects]
        self._parents = [*graph.parents]
        if any(self._in_a_set(obj) for obj in graph.objects):
            self._order_by_shape()
        self._uses = [k >= 0 for k in self._param]
        for i in reversed(graph.order):
            self._uses[i] = self._uses[i] or any(self._uses[p] for p in self._parents[i])
        self._spine: list[tuple[str, int]] = []  # how to come to the terms again: "both", "left", "right" or "term"
        by_shape: dict[tuple, list[tuple[float, int, list[int]]]] = {}
        for coefficient, node in self._terms():
            if self._uses[node]:
                shape, leaves = self._shape(node)
                by_shape.setdefault(shape, []).append((coefficient, node, leaves))
        if not by_shape:
            raise UnclearError("the loss does not depend on the model's parameters")
        key, samples = max(by_shape.items(), key=lambda of: len(of[1]) * len(of[1][0][2]))
        self.shape, self.coefficient = key, samples[0][0]
        if any(c != self.coefficient for c, _, _ in samples):
            raise UnclearError("the samples of the loss have different weights")
        self._sample_nodes = {node for _, node, _ in samples}
        columns = np.array([[graph.data[leaf] for leaf in leaves] for _, _, leaves in samples])
        self.rows, self._slots = _matched(columns, data)
        first = samples[0]
        self.tape, _ = self._rows_of(first[1], dict(zip(first[2], self._slots, strict=True)))
        self.rest = self._rest([(c, n) for k, of in by_shape.items() if k != key for c, n, _ in of])
        self.all_points = sorted(self.rows) == list(range(len(data.points)))
        self.units = units(self.tape, names)
        self._paths = self._paths_to_columns(first)
        self._loss, self._parameters = loss, parameters
        self.gradients = self._gradients()
        self._quick = self._finds_batch_quickly(loss)
        del self._loss, self._parameters, self.graph

    # The graph as it is read

    @staticmethod
    def _in_a_set(obj: Any) -> bool:
        return any(
            isinstance(getattr(obj, n, None), (set, frozenset)) for n in ("_prev", "_children", "parents", "inputs")
        )

    def _order_by_shape(self) -> None:
        """Operands in a set have no order. One that depends on operations and parameters alone is the same for all samples."""
        known: dict[tuple, int] = {}
        key = [0] * len(self._parents)
        graph = self.graph
        for i, of in enumerate(self._parents):  # operands before results
            rule = graph.rules[i]
            if rule and rule.name in ("+", "*"):
                self._parents[i] = of = tuple(sorted(of, key=lambda p: key[p]))
            shape = ("w", self._param[i]) if self._param[i] >= 0 else (graph.ops[i], *(key[p] for p in of))
            key[i] = known.setdefault(shape, len(known))

    def _name(self, i: int) -> str:
        rule = self.graph.rules[i]
        return rule.name if rule else ""

    def _terms(self) -> list[tuple[float, int]]:
        """The summands of the loss as (coefficient, node), through +, − and factors without parameters."""
        out: list[tuple[float, int]] = []
        stack = [(self.graph.root, 1.0)]
        while stack:
            i, c = stack.pop()
            name, of, data = self._name(i), self._parents[i], self.graph.data
            if name in ("+", "-") and len(of) == 2 and of[0] != of[1]:
                self._spine.append(("both", i))
                stack += [(of[1], -c if name == "-" else c), (of[0], c)]
            elif name in ("*", "/") and len(of) == 2 and not self._uses[of[1]]:
                self._spine.append(("left", i))
                stack.append((of[0], c * data[of[1]] if name == "*" else c / data[of[1]]))
            elif name == "*" and len(of) == 2 and not self._uses[of[0]]:
                self._spine.append(("right", i))
                stack.append((of[1], c * data[of[0]]))
            else:
                self._spine.append(("term", i))
                out.append((c, i))
        return out

    def _order(self, node: int) -> list[int]:
        seen, out, stack = set(), [], [node]
        while stack:
            i = stack[-1]
            before = [p for p in reversed(self._parents[i]) if p not in seen]
            if i in seen:
                stack.pop()
            elif before:
                stack += before
            else:
                seen.add(i)
                out.append(i)
                stack.pop()
        return out

    def _shape(self, node: int) -> tuple[tuple, list[int]]:
        """The operations of a term and its parameters, whatever its numbers are; and its leaves that are no parameters."""
        place: dict[int, int] = {}
        key: list[tuple] = []
        leaves: list[int] = []
        for k, i in enumerate(self._order(node)):
            place[i] = k
            if self._param[i] >= 0:
                key.append(("w", self._param[i]))
            elif not self._parents[i]:
                key.append(("d",))
                leaves.append(i)
            else:
                key.append((self.graph.ops[i], *(place[p] for p in self._parents[i])))
        return tuple(key), leaves

    # Rows

    def _rows_of(self, node: int, slots: dict[int, Row], rows: list[Row] | None = None) -> tuple[list[Row], dict]:
        """The rows of a term, and for each of its nodes the row."""
        rows = [] if rows is None else rows
        leaves = {tuple(row): k for k, row in enumerate(rows) if row[0] in LEAVES}
        place: dict[int, int] = {}
        for i in self._order(node):
            if self._param[i] >= 0:
                row: Row = ["w", self._param[i]]
            elif not self._parents[i]:
                row = slots.get(i, ["c", self.graph.data[i]])
            else:
                row = self._operation(i, place)
            if row[0] in LEAVES:  # the same leaf at the same place of the program
                place[i] = leaves.setdefault(tuple(row), len(rows))
                if place[i] == len(rows):
                    rows.append([*row])
            else:
                place[i] = len(rows)
                rows.append(row)
        return rows, place

    def _operation(self, i: int, place: dict[int, int]) -> Row:
        name, of = self._name(i), self._parents[i]
        row: Row = [name, *(place[p] for p in of)]
        if name == "**" and len(of) == 1:
            return ["power", place[of[0]], exponent(self.graph.ops[i])]
        if name in UNARY and len(of) == 1 or name in BINARY and len(of) == 2:
            return row
        if not self.graph.ops[i]:
            raise UnclearError(
                "its class does not name its operations; give each result its sign, such as out._op = '+'"
            )
        raise UnclearError(f"nothing is known about its operation {self.graph.ops[i]!r}")

    def _rest(self, terms: list[tuple[float, int]]) -> list[Row]:
        """The summands that depend on the parameters alone, such as weight decay, as one program; empty if there are none."""
        rows: list[Row] = []
        total = -1
        for coefficient, node in terms:
            rows, place = self._rows_of(node, {}, rows)
            rows += [["c", coefficient], ["*", place[node], len(rows)]]
            if total >= 0:
                rows.append(["+", total, len(rows) - 1])
            total = len(rows) - 1
        return rows

    def _gradients(self) -> list[float | None]:
        """The gradients that the graph itself gives for the parameters."""
        known = dict(zip(self._param, self.graph.gradients(), strict=True))
        return [known.get(k) for k in range(len(self._parameters))]

    # The points of a step

    def _paths_to_columns(self, sample: tuple[float, int, list[int]]) -> list[tuple[int, ...]]:
        """The path from a sample's term to each of its coordinates: which operand to take at each operation."""
        leaf_of = {slot[1]: leaf for leaf, slot in zip(sample[2], self._slots, strict=True) if slot[0] == "x"}
        found: dict[int, tuple[int, ...]] = {}
        stack: list[tuple[int, tuple[int, ...]]] = [(sample[1], ())]
        seen: set[int] = set()
        while stack:
            i, path = stack.pop()
            if i not in seen:
                seen.add(i)
                found[i] = path
                stack += [(p, (*path, k)) for k, p in enumerate(self._parents[i])]
        return [found[leaf_of[c]] for c in sorted(leaf_of)]

    def _finds_batch_quickly(self, loss: Any) -> Callable[[Any], list[int]] | None:
        """A function that reads the rows of a step out of its graph, without recording it; None if the class hides the way there."""
        kinds = ["sample" if kind == "term" and node in self._sample_nodes else kind for kind, node in self._spine]
        paths, where = self._paths, self.data.where

        def read(root: Any) -> list[int]:
            rows, stack = [], [root]
            for kind in kinds:
                node = stack.pop()
                if kind == "both":
                    left, right = node._prev
                    stack += [right, left]
                elif kind == "left":
                    stack.append(node._prev[0])
                elif kind == "right":
                    stack.append(node._prev[1])
                elif kind == "sample":
                    point = []
                    for path in paths:
                        at = node
                        for k in path:
                            at = at._prev[k]
                        point.append(at.data)
                    rows.append(where[tuple(point)])
            if stack:
                raise LookupError("another graph")
            return rows

        try:
            return read if read(loss) == self.rows else None
        except Exception:  # a class that keeps its operands elsewhere, in sets, or without the constants
            return None

    def batch(self, loss: Any, parameters: Sequence[Any]) -> list[int]:
        """The points of another step's loss. Raises UnclearError if its graph is not that of the first step."""
        if self._quick is not None:
            try:
                return self._quick(loss)
            except Exception:  # a graph of another size or order: record it
                pass
        again = SampleProgram(loss, parameters, self.names, self.data)
        if again.tape != self.tape or not np.isclose(again.coefficient, self.coefficient) or again.rest != self.rest:
            raise UnclearError("its graph is not the same at every step")
        return again.rows


def _matched(columns: np.ndarray, data: Data) -> tuple[list[int], list[Row]]:
    """Which points the samples are, and what each of their numbers is: a coordinate, something of the label, or a constant."""
    points, labels, where, _ = data
    count, width = columns.shape[1], points.shape[1]
    fitting = [[s for s in range(count) if np.isin(columns[:, s], points[:, c]).all()] for c in range(width)]
    varied = [len(set(columns[:, s])) > 1 for s in range(count)]
    for of in fitting:
        of.sort(key=lambda s: not varied[s])
    if width > 4:  # too many to try: the first numbers that differ are the coordinates, in their order
        first = [s for s in range(count) if varied[s]][:width]
        tried: Any = [first] if len(first) == width else []
    else:
        tried = itertools.islice(itertools.product(*fitting), 500)
    rows: list[int] | None = None
    for at in tried:
        found = [where.get(key, -1) for key in map(tuple, columns[:, list(at)].tolist())]
        if -1 not in found and len(set(at)) == width:
            rows = found
            break
    if rows is None:
        raise UnclearError("the numbers that go into it are not those of `points`")
    target, slots = labels[rows], list[Row]()
    for s in range(count):
        v = columns[:, s]
        column = next((c for c in range(width) if np.array_equal(v, points[rows, c])), None)
        if column is not None:
            slots.append(["x", column])
        elif np.ptp(v) == 0:
            slots.append(["c", float(v[0])])
        elif np.ptp(target) == 0 or (line := _line(target, v)) is None:
            raise UnclearError("a number that goes into it is neither a coordinate, a label nor a constant")
        else:
            slots.append(["y", *line])
    return rows, slots


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float] | None:
    """a and b with y = a × x + b everywhere, or None."""
    i, j = int(x.argmin()), int(x.argmax())
    a = float((y[j] - y[i]) / (x[j] - x[i]))
    b = float(y[i] - a * x[i])
    return (a, b) if np.allclose(a * x + b, y, rtol=1e-12, atol=1e-12) else None


def units(tape: list[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    """The units of the network in the program of one sample, layer by layer; [] if there is none to be sure of.

    Of each: its affine sum `z`, the result `out`, the activation, the parameter that is the bias (or −1) and how many products stand
    before it, its layer from 1, a name, and inputs as [column, unit, parameter], of which one of the first two is −1."""
    parents = [tuple(operands(row)) for row in tape]
    params = {i for i, row in enumerate(tape) if row[0] == "w"}
    known = [names[row[1]] if row[0] == "w" else "" for row in tape]
    columns = units_among(parents, [row[0] for row in tape], params, known)
    if not columns:
        return []
    out: list[dict[str, Any]] = []
    at: dict[int, int] = {}
    for layer, column in enumerate(columns, 1):
        same = len({unit.name for unit in column}) < len(column)
        for k, unit in enumerate(column):
            biases = [p for p in unit.fixed if p not in unit.products]
            inputs = [
                [c, s, tape[p][1]] for p, (_, other) in unit.products.items() for c, s in _sources(tape, other, at)
            ]
            if any(c < 0 and s < 0 for c, s, _ in inputs):
                return []  # a signal from nowhere known
            name = unit.name.removeprefix("model.") or ("output" if len(column) == 1 else "")
            if same or not name:
                name = f"unit {k} of {name}" if name else f"unit {k}"
            out.append({"z": unit.z, "out": unit.out, "act": _activation(tape, unit.z, unit.out), "layer": layer, "name": name,
                        "bias": tape[biases[0]][1] if biases else -1, "after": unit.bias_at, "inputs": inputs})  # fmt: skip
        at.update((unit.out, len(out) - len(column) + k) for k, unit in enumerate(column))
    return out


def _sources(tape: list[Row], i: int, at: dict[int, int]) -> list[tuple[int, int]]:
    """The sources of a signal, each as (column, unit). A sum of signals, as in a skip connection, has several."""
    if i in at:
        return [(-1, at[i])]
    if tape[i][0] == "+":
        return [*_sources(tape, tape[i][1], at), *_sources(tape, tape[i][2], at)]
    return [(tape[i][1] if tape[i][0] == "x" else -1, -1)]


def _activation(tape: list[Row], z: int, out: int) -> str:
    if z == out:
        return "linear"
    return tape[out][0] if z in operands(tape[out]) and tape[out][0] in UNARY else "sigmoid"
