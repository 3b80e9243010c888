"""Running a flat tape of scalar operations, forward and backward: the reference implementation, in numpy, of tape_numba.py.

What lives here: `run`, which takes equal operations at equal depth together, and all points of a sweep at once. Arrays in, arrays out.
What does not: Values (minigrad/tape.py flattens them), the compiled loop over the nodes (tape_numba.py, which alone imports numba).
Node i computes code[i] from nodes a[i] and b[i]; n[i] is a fixed exponent. Parents come before children. A
local derivative of None adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

# Operations with two inputs are before FIXED, and from MAX on.
LEAF, ADD, MUL, SUB, DIV, POW, FIXED, NEG, ABS, EXP, LOG, SIN, COS, TANH, SIGMOID, SQRT, RELU, MAX, MIN = range(19)
ROW = MIN + 1  # from here on: rows of the derivatives table, in the order of the tape's list
CODES = {
    "+": ADD, "*": MUL, "-": SUB, "/": DIV, "**": POW, "neg": NEG, "abs": ABS, "exp": EXP, "log": LOG, "sin": SIN, "cos": COS,
    "tanh": TANH, "sigmoid": SIGMOID, "sqrt": SQRT, "relu": RELU, "max": MAX, "min": MIN,
}  # fmt: skip


# The numpy twin


class Row(NamedTuple):
    """A row of the derivatives table, on arrays."""

    inputs: int
    forward: Callable[..., np.ndarray]
    slopes: Callable[..., list]  # (inputs, result) -> the derivative with respect to each input, None for none


class Batch(NamedTuple):
    """Nodes at one depth with one operation: indices as arrays, or as plain ints when there is only one (a view instead of a gather)."""

    code: int
    n: float
    out: np.ndarray | int
    a: np.ndarray | int
    b: np.ndarray | int
    edge_a: np.ndarray | int
    edge_b: np.ndarray | int
    a_twice: bool  # some parent occurs more than once: adding needs np.add.at
    b_twice: bool


def batches(code: np.ndarray, a: np.ndarray, b: np.ndarray, n: np.ndarray, edge: np.ndarray) -> list[Batch]:
    """The numpy plan: operations grouped by depth, so that each group depends only on earlier groups."""
    depth = [0] * len(code)
    for i, (k, left, right) in enumerate(zip(code.tolist(), a.tolist(), b.tolist(), strict=True)):
        if k:
            depth[i] = 1 + max(depth[left], depth[right])
    groups: dict[tuple[int, int, str], list[int]] = {}
    for i, k in enumerate(code.tolist()):
        if k:
            groups.setdefault((depth[i], k, repr(n[i])), []).append(i)
    plan = []
    for (_, k, _), nodes in sorted(groups.items()):
        here = np.array(nodes)
        columns = [here, a[here].astype(np.intp), b[here].astype(np.intp), edge[here], edge[here] + 1]
        twice = [len(set(column.tolist())) < len(nodes) for column in columns[1:3]]
        at = [int(column[0]) if len(nodes) == 1 else column for column in columns]
        plan.append(Batch(k, float(n[nodes[0]]), at[0], at[1], at[2], at[3], at[4], *twice))
    return plan


def run(
    plan: list[Batch], v: np.ndarray, root: int, local: np.ndarray | None = None, rows: Sequence[Row] = ()
) -> np.ndarray:
    """Fill `v` (nodes, points) forward from its leaves' rows, `local` (edges, points) if given; return the gradients (nodes, points).

    rows: what the codes from ROW on compute.
    """
    with np.errstate(all="ignore"):
        for t in plan:
            if t.code >= ROW:
                row = rows[t.code - ROW]
                v[t.out] = row.forward(*(v[t.a], v[t.b])[: row.inputs])
            else:
                v[t.out] = _compute(t.code, v[t.a], v[t.b], t.n)
        g = np.zeros_like(v)
        g[root] = 1.0
        for t in reversed(plan):
            arrived = g[t.out]
            if t.code >= ROW:
                row = rows[t.code - ROW]
                slopes = row.slopes((v[t.a], v[t.b])[: row.inputs], v[t.out])
                for slope, at, edge, twice in zip(
                    slopes, (t.a, t.b), (t.edge_a, t.edge_b), (t.a_twice, t.b_twice), strict=False
                ):
                    if slope is not None:
                        _add(g, at, slope * arrived, twice)
                    if local is not None:
                        local[edge] = 0.0 if slope is None else slope
                continue
            d, shut = _slope_a(t.code, v[t.a], v[t.b], v[t.out], t.n)
            _add(g, t.a, _sent(d, shut, arrived), t.a_twice)
            if local is not None:
                local[t.edge_a] = d
            if t.code <= POW or t.code >= MAX:
                d, shut = _slope_b(t.code, v[t.a], v[t.b], v[t.out])
                _add(g, t.b, _sent(d, shut, arrived), t.b_twice)
                if local is not None:
                    local[t.edge_b] = d
    return g


def _sent(d, shut, arrived):
    return d * arrived if shut is None else np.where(shut, 0.0, d * arrived)


def _add(g, at, sent, twice) -> None:
    if twice:
        np.add.at(g, at, sent)
    else:
        g[at] += sent


def _compute(code, x, y, n):
    if code == ADD:
        return x + y
    if code == MUL:
        return x * y
    if code == SUB:
        return x - y
    if code == DIV:
        return x / y
    if code == POW:
        return np.power(x, y)
    if code == FIXED:
        return np.power(x, n)
    if code == NEG:
        return -x
    if code == ABS:
        return np.abs(x)
    if code == EXP:
        return np.exp(x)
    if code == LOG:
        return np.log(x)
    if code == SIN:
        return np.sin(x)
    if code == COS:
        return np.cos(x)
    if code == TANH:
        return np.tanh(x)
    if code == SIGMOID:
        e = np.exp(-np.abs(x))
        return np.where(x >= 0.0, 1.0, e) / (1.0 + e)
    if code == SQRT:
        return np.sqrt(x)
    if code == RELU:
        return np.where(x <= 0.0, 0.0, x)
    return np.maximum(x, y) if code == MAX else np.minimum(x, y)


def _slope_a(code, x, y, out, n):
    """The local derivative with respect to a, and where it blocks the gradient (None: nowhere)."""
    if code == ADD or code == SUB:
        return 1.0, None
    if code == MUL:
        return y, None
    if code == DIV:
        return 1.0 / y, None
    if code == POW:
        shut = y == 0.0
        return np.where(shut, 0.0, y * np.power(x, y - 1.0)), shut
    if code == FIXED:
        return (0.0, True) if n == 0.0 else (n * np.power(x, n - 1.0), None)
    if code == NEG:
        return -1.0, None
    if code == ABS:
        return np.where(x != x, 0.0, np.sign(x)), None
    if code == EXP:
        return out, None
    if code == LOG:
        return 1.0 / x, None
    if code == SIN:
        return np.cos(x), None
    if code == COS:
        return -np.sin(x), None
    if code == TANH:
        return (1.0 - out) * (1.0 + out), None
    if code == SIGMOID:
        return out * (1.0 - out), None
    if code == SQRT:
        return 0.5 / out, None
    if code == RELU:
        shut = x <= 0.0
        return np.where(shut, 0.0, 1.0), shut
    return _share(y, x) if code == MAX else _share(x, y)


def _slope_b(code, x, y, out):
    if code == ADD:
        return 1.0, None
    if code == SUB:
        return -1.0, None
    if code == MUL:
        return x, None
    if code == DIV:
        return -(out / y), None
    if code == POW:
        return np.where((x == 0.0) & (y >= 0.0), 0.0, out * np.log(x)), None
    return _share(x, y) if code == MAX else _share(y, x)


def _share(low, high):
    shut = high < low
    return np.where(shut, 0.0, np.where(high == low, 0.5, 1.0)), shut
