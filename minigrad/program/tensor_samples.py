"""The program of one sample of a network of Tensors, as rows of single numbers: what samples.py reads out of a graph of numbers.

What lives here: `TensorProgram`. The model is called on one point, and each operation of that call is written out number by number; the
loss is the one of a few known losses that gives the recorded number and gradients. What does not: recording (film.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import float64
from ..core.grad_mode import no_grad
from ..core.variable import wrap
from ..tensors.create import tensor
from ..tracing.recording import Graph, Item, parameters
from .samples import BINARY, LEAVES, UNARY, Data, Row, UnclearError, operands, units

MOST_ROWS = 20_000  # a larger program is not run in a page
MOVES = {
    "t",
    "transpose",
    "permute",
    "view",
    "reshape",
    "select",
    "squeeze",
    "unsqueeze",
    "expand",
    "slice",
    "clone",
    "flatten",
}
NAMES = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "maximum": "max", "minimum": "min"}


class TensorProgram:
    """parameters: the Tensors that training changes; names: of their numbers, one after the other. Raises UnclearError."""

    shape: tuple = ()

    def __init__(self, model: Callable, parameters: Sequence[Any], names: Sequence[str], data: Data) -> None:
        self.data, self.tape, self.rest = data, list[Row](), list[Row]()
        self.coefficient, self.all_points = 1.0, True
        self.rows = list(range(len(data.points)))
        first = parameters[0]
        x = tensor(data.points[0].reshape(1, *data.shape).tolist(), dtype=first.dtype, requires_grad=True)
        mode = getattr(model, "training", None)
        try:
            if mode:
                model.eval()  # type: ignore[attr-defined]
            out = model(x)
        except Exception as error:
            raise UnclearError(f"the model cannot be called with points: {error}") from error
        finally:
            if mode:
                model.train(mode)  # type: ignore[attr-defined]
        if getattr(out, "grad_fn", None) is None:
            raise UnclearError("what the model returns has no graph")
        scores = self._written(Graph([out], None), x, parameters)
        self.scores = [int(i) for i in np.ravel(scores)]
        self.units = units(self.tape, names)
        if not self.units:
            raise UnclearError("its operations are not those of layers of units")

    # Rows

    def _row(self, name: str, *of: Any) -> int:
        if len(self.tape) >= MOST_ROWS:
            raise UnclearError("it has too many operations")
        self.tape.append([name, *of])
        return len(self.tape) - 1

    def _written(self, graph: Graph, x: Any, parameters_: Sequence[Any]) -> np.ndarray:
        """The rows of the model's result: an array of the numbers of rows, of the result's shape."""
        start, at = 0, dict[int, int]()
        for p in parameters_:
            at[id(p)] = start
            start += p.numel()
        known: list[np.ndarray] = []
        for item in graph.items:
            if item.kind == "operation":
                known.append(self._operation(item, [known[k] for k in item.parents]))
            elif item.live is x:
                known.append(self._leaves(["x", c] for c in range(x.numel())).reshape(x.shape))
            elif item.live is not None and id(item.live) in at:
                first = at[id(item.live)]
                known.append(self._leaves(["w", first + k] for k in range(item.live.numel())).reshape(item.live.shape))
            elif item.array is not None:
                known.append(self._leaves(["c", float(v)] for v in item.array.ravel()).reshape(item.array.shape))
            else:
                raise UnclearError("one of its inputs is not known")
        return known[graph.root]

    def _leaves(self, rows: Iterator[Any]) -> np.ndarray:
        return np.array([self._row(*row) for row in rows], float)

    def _each(self, name: str, *of: Any) -> np.ndarray:
        arrays = np.broadcast_arrays(*of)
        rows = [self._row(name, *map(int, row)) for row in zip(*(a.ravel() for a in arrays), strict=True)]
        return np.array(rows, float).reshape(arrays[0].shape)

    def _product(self, a: np.ndarray, b: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        if a.ndim != 2 or b.ndim not in (1, 2):
            raise UnclearError("it multiplies more than two matrices at once")
        columns = b[:, None] if b.ndim == 1 else b
        out = np.zeros((len(a), columns.shape[1]))
        starts = None if start is None else np.broadcast_to(start, out.shape)
        for i, j in np.ndindex(out.shape):
            total = -1 if starts is None else int(starts[i, j])
            for k in range(a.shape[1]):
                product = self._row("*", int(columns[k, j]), int(a[i, k]))
                total = product if total < 0 else self._row("+", total, product)
            out[i, j] = total
        return out[:, 0] if b.ndim == 1 else out

    def _operation(self, item: Item, of: list[np.ndarray]) -> np.ndarray:
        if item.op is None:
            return self._each(_own_function(item.node), of[0])
        name = item.op.name
        params = parameters(item.node) or ()
        if name in MOVES:  # the same operation on the numbers of the rows
            with no_grad():
                return np.array(item.op(wrap(np.ascontiguousarray(of[0])), *params).array)
        if name in ("mm", "matmul", "mv"):
            return self._product(of[0], of[1])
        if name in ("addmm", "addmv") and len(of) == 3:
            return self._product(of[1], of[2], of[0])
        if name == "linear":
            return self._product(of[0], of[1].T, of[2] if len(of) > 2 else None)
        if name in UNARY and len(of) == 1:
            return self._each(name, of[0])
        if NAMES.get(name, name) in BINARY and len(of) == 2 and not any(params):
            return self._each(NAMES.get(name, name), *of)
        raise UnclearError(f"its operation {name} is not written out number by number")

    # The loss

    def with_loss(self, value: float, gradients: np.ndarray, weights: np.ndarray, rows: list[int]) -> bool:
        """Look for the loss that gives this value and these gradients; the program of one sample then ends with it. If only the value is
        right, because a backward rule is not the derivative, that has to do."""
        exact = self._with_loss(value, gradients, weights, rows)
        return exact or self._with_loss(value, None, weights, rows)

    def _with_loss(self, value: float, gradients: Any, weights: np.ndarray, rows: list[int]) -> bool:
        model = len(self.tape)
        for loss in (self._hinge, self._squared, self._cross_entropy, self._binary):
            try:
                loss()
            except UnclearError:
                continue
            self.coefficient = 1.0
            total, grads = run(self, weights, rows)
            for self.coefficient in (1 / len(rows), 1.0):  # a mean, a sum
                if gradients is not None:
                    apart = np.abs(self.coefficient * grads - gradients).max()
                    near = apart <= 1e-4 * (np.abs(gradients).max() + 1e-12)
                else:
                    near = True
                if near and math.isclose(self.coefficient * total, value, rel_tol=1e-4, abs_tol=1e-6):
                    return True
            del self.tape[model:]
        return False

    def _label(self) -> int:
        return self._row("y", 1.0, 0.0)

    def _sum(self, rows: Sequence[int]) -> int:
        total = rows[0]
        for k in rows[1:]:
            total = self._row("+", total, k)
        return total

    def _hinge(self) -> None:
        if len(self.scores) > 1:
            raise UnclearError("one score")
        margin = self._row("*", self._label(), self.scores[0])
        self._row("relu", self._row("-", self._row("c", 1.0), margin))

    def _squared(self) -> None:
        if len(self.scores) > 1:
            raise UnclearError("one score")
        self._row("power", self._row("-", self.scores[0], self._label()), 2.0)

    def _cross_entropy(self) -> None:
        """−score of the label + log Σ exp(score), without a shift: scores of a film are small enough, and the maximum would be one more row
        for each class."""
        if len(self.scores) < 2:
            raise UnclearError("several scores")
        total = self._sum([self._row("exp", s) for s in self.scores])
        right = self._sum([self._row("*", self._row("is", k), s) for k, s in enumerate(self.scores)])
        self._row("-", self._row("log", total), right)

    def _binary(self) -> None:
        """Binary cross-entropy of a logit: log(1 + exp(s)) − y × s."""
        if len(self.scores) > 1:
            raise UnclearError("one score")
        s = self.scores[0]
        soft = self._row("log", self._row("+", self._row("c", 1.0), self._row("exp", s)))
        self._row("-", soft, self._row("*", self._label(), s))


PROBES = np.array([-2.6, -1.0, -0.4, 0.0, 0.3, 0.7, 1.0, 2.5])


def _own_function(node: Any) -> str:
    """The name of what a Function of the learner's computes in its forward pass, number by number; its backward rule may be another."""
    kind = getattr(node, "_forward_cls", None)
    if kind is None or len(node.edges) != 1:
        raise UnclearError(f"its operation {node.name()} is a function of your own")
    try:
        with no_grad():
            out = np.asarray(kind.apply(tensor(PROBES.tolist(), dtype=float64)), dtype=float)
    except Exception as error:
        raise UnclearError(f"its operation {node.name()} is a function of your own") from error
    for name in UNARY:
        with np.errstate(all="ignore"):
            value = _value([name, 0], PROBES[None], None, None, None)
        if out.shape == value.shape and np.allclose(out, value, equal_nan=True):
            return name
    raise UnclearError(f"its operation {node.name()} is a function of your own")


def run(program: Any, weights: np.ndarray, rows: Sequence[int]) -> tuple[float, np.ndarray]:
    """Loss and gradients of a program, computed row by row for all samples at once: what the page does in tape.js."""
    points, labels = program.data.points[rows], program.data.labels[rows]
    total, grads = _forward_and_back(program.tape, weights, program.coefficient, points, labels)
    if program.rest:
        more, extra = _forward_and_back(program.rest, weights, 1.0, points[:1], labels[:1])
        total, grads = total + more, grads + extra
    return total, grads


def _forward_and_back(
    tape: list[Row], weights: np.ndarray, coefficient: float, points: np.ndarray, labels: np.ndarray
) -> tuple[float, np.ndarray]:
    count = len(points)
    value = np.zeros((len(tape), count))
    with np.errstate(all="ignore"):
        for i, row in enumerate(tape):
            value[i] = _value(row, value, weights, points, labels)
        grad, out = np.zeros_like(value), np.zeros(len(weights))
        grad[-1] = coefficient
        for i in range(len(tape) - 1, -1, -1):
            row = tape[i]
            if row[0] == "w":
                out[row[1]] += grad[i].sum()
            elif row[0] not in LEAVES:
                for p, d in zip(operands(row), _locals(row, value, i), strict=True):
                    grad[p] += d * grad[i]
    return float(value[-1].sum() * coefficient), out


def _value(row: Row, value: Any, weights: Any, points: Any, labels: Any) -> Any:
    kind = row[0]
    if kind == "w":
        return weights[row[1]]
    if kind == "x":
        return points[:, row[1]]
    if kind == "y":
        return row[1] * labels + row[2]
    if kind == "is":
        return (labels == row[1]).astype(float)
    if kind == "c":
        return row[1]
    a, *rest = (value[p] for p in operands(row))
    if kind == "power":
        return a ** row[2]
    if kind == "**":
        return a ** rest[0]
    if rest:
        b = rest[0]
        return {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "max": np.maximum, "min": np.minimum}[
            kind
        ](a, b)
    if kind == "relu":
        return np.where(a > 0, a, 0.0)
    if kind == "sigmoid":
        return 1 / (1 + np.exp(-a))
    if kind == "step":
        return (a > 0) + 0.0
    return -a if kind == "neg" else getattr(np, kind)(a)


def _locals(row: Row, value: np.ndarray, i: int) -> list:
    kind, out = row[0], value[i]
    a, *rest = (value[p] for p in operands(row))
    b: Any = rest[0] if rest else None
    if kind == "power":
        return [row[2] * a ** (row[2] - 1)]
    table: dict[str, Callable[[], list]] = {
        "+": lambda: [1.0, 1.0],
        "-": lambda: [1.0, -1.0],
        "*": lambda: [b, a],
        "/": lambda: [1 / b, -a / b**2],
        "**": lambda: [b * a ** (b - 1), out * np.log(a)],
        "max": lambda: [a > b, b > a],
        "min": lambda: [a < b, b < a],
        "neg": lambda: [-1.0],
        "abs": lambda: [np.sign(a)],
        "exp": lambda: [out],
        "log": lambda: [1 / a],
        "sin": lambda: [np.cos(a)],
        "cos": lambda: [-np.sin(a)],
        "tanh": lambda: [1 - out**2],
        "sigmoid": lambda: [out * (1 - out)],
        "sqrt": lambda: [0.5 / out],
        "relu": lambda: [a > 0],
    }
    return table[kind]() if kind in table else [0.0]  # step, sign, round: flat wherever there is a derivative
