"""The six operations of the capstone as the judge knows them: their values from the definition, and where random graphs use them.

What lives here: plain numbers only. Derivatives are central differences of these values, so no rule is written down that an answer could
agree with by chance. What does not: how an answer is run (drivers/ch19.py), and the exercise (ch19.py).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import random_graphs
from ..drivers import mixed

NEAR = 1e-6  # how far a right derivative may be from a central difference, relative to the larger of it and 1


@dataclass(frozen=True)
class Operation:
    """Its outputs for a list of inputs, inputs from three values of a random graph, ordinary inputs, and inputs that break a naive rule."""

    values: Callable[[list[float]], list[float]]
    into: random_graphs.Into
    ordinary: Callable[[random.Random], list[float]]
    extreme: Callable[[random.Random], list[float]]


def _logsumexp(xs: list[float]) -> list[float]:
    top = max(xs)
    return [top + math.log(math.fsum(math.exp(x - top) for x in xs))]


def _gelu(xs: list[float]) -> list[float]:
    return [xs[0] * 0.5 * math.erfc(-xs[0] / math.sqrt(2))]


def _conv1d(xs: list[float]) -> list[float]:
    size = (len(xs) + 1) // 3
    x, k = xs[:-size], xs[-size:]
    return [math.fsum(k[j] * x[i + j] for j in range(size)) for i in range(len(x) - size + 1)]


def _batch_norm(xs: list[float]) -> list[float]:
    mean = math.fsum(xs) / len(xs)
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in xs) / len(xs) + 0.1)
    return [(x - mean) / deviation for x in xs]


def _fixed_point(xs: list[float]) -> list[float]:
    a, x = xs[0], 1.0
    for _ in range(30):  # Newton's method on x - cos(ax), which needs about six
        step = (x - math.cos(a * x)) / (1 + a * math.sin(a * x))
        x -= step
        if abs(step) < 1e-15:
            break
    return [x]


def _sigmoid(x: float) -> float:
    return 0.5 * (1 + math.tanh(x / 2))


def _lstm_cell(xs: list[float]) -> list[float]:
    c, f, i, g, o = xs
    new = _sigmoid(f) * c + _sigmoid(i) * math.tanh(g)
    return [new, _sigmoid(o) * math.tanh(new)]


def _numbers(n: int, size: float = 2.0, around: float = 0.0) -> Callable[[random.Random], list[float]]:
    return lambda r: [round(around + r.uniform(-size, size), 2) for _ in range(n)]


def _saturated(r: random.Random) -> list[float]:
    return [round(r.uniform(-1, 1), 2), *(s * round(r.uniform(750, 900), 1) for s in (1, -1, 1, -1))]


OPERATIONS: dict[str, Operation] = {
    "logsumexp": Operation(
        _logsumexp,
        random_graphs.as_they_are,
        _numbers(4),
        lambda r: [round(2000 + r.uniform(-2, 2), 2), -1000.0, 1999.0, -1000.0],  # far from their mean, too
    ),
    "gelu": Operation(_gelu, random_graphs.their_sum, _numbers(1), lambda r: [-round(r.uniform(20, 45), 1)]),
    "conv1d": Operation(
        _conv1d,
        lambda v, tanh: [*map(tanh, v), tanh(v[2]), tanh(v[0])],
        _numbers(8),
        lambda r: [0.0, *_numbers(7, 900.0)(r)],
    ),
    "batch_norm": Operation(
        _batch_norm, random_graphs.as_they_are, _numbers(5), lambda r: [round(r.uniform(5, 9), 2)] * 4
    ),
    "fixed_point": Operation(
        _fixed_point, lambda v, tanh: [tanh(v[0] + v[1] + v[2]) * 0.8], _numbers(1, 0.9), lambda r: [0.0]
    ),
    "lstm_cell": Operation(_lstm_cell, lambda v, _: [v[0], v[1], v[2], v[1], v[0]], _numbers(5), _saturated),
}


def inputs(case: str, seed: Any, twice: bool = False) -> dict[str, list[float]]:
    """Inputs for each of the six operations. With `twice` the last input is the first one again."""
    rng = random.Random(f"{case} {seed}")
    drawn = {name: getattr(op, case)(rng) for name, op in OPERATIONS.items()}
    return {name: [*xs[:-1], xs[0]] if twice else xs for name, xs in drawn.items()}


def points(seed: int, graphs: int) -> dict[str, list[list[float]]]:
    """Where random graphs use each of the six."""
    return {name: random_graphs.points(_mixed(op), graphs, seed, op.into) for name, op in OPERATIONS.items()}


def _mixed(op: Operation, scale: float = 1.0) -> random_graphs.Truth:
    return lambda xs: mixed(op.values(xs), scale)


def _at(xs: list[float]) -> str:
    return ", ".join(f"{x:g}" for x in xs)


def value_complaint(got: Any, given: dict[str, list[float]]) -> str | None:
    """What is wrong with the values, or None."""
    name, xs = got["operation"], given[got["operation"]]
    want = OPERATIONS[name].values(xs)
    if len(got["values"]) != len(want):
        return (
            f"{name} of {_at(xs)} has {len(want)} result{'s' if len(want) > 1 else ''}, and yours {len(got['values'])}"
        )
    for k, (mine, right) in enumerate(zip(got["values"], want, strict=True)):
        if not abs(mine - right) <= 1e-9 * max(1.0, abs(right)):
            which = f"result {k} of {name}" if len(want) > 1 else name
            return f"{which} at {_at(xs)} gives {mine:.6g}, which is not what the table defines"
    return None


def gradient_complaint(got: Any, given: dict[str, list[float]], scale: float, old: float, twice: bool) -> str | None:
    """What is wrong with the gradients, or None. The oracle is a central difference of the definition."""
    name, xs, h = got["operation"], given[got["operation"]], 1e-5
    truth = _mixed(OPERATIONS[name], scale)
    for i, mine in enumerate(got["gradients"]):
        same = {0, len(xs) - 1} if twice and i in (0, len(xs) - 1) else {i}
        up, down = (truth([x + s * h * (j in same) for j, x in enumerate(xs)]) for s in (1, -1))
        numeric = (up - down) / (2 * h)
        largest = max(1.0, abs(numeric), 1e-4 * abs(truth(xs)))  # a large value loses digits in the difference
        if not abs(mine - old - numeric) <= NEAR * largest:
            held = f", of which {old:g} were there before" if old else ""
            return f"{name} at {_at(xs)}: input {i} ends with the gradient {mine:.6g}{held}, and nudging it says {numeric:.6g}"
    return None


def node_complaint(got: Any, given: dict[str, list[float]]) -> str | None:
    """Whether the operation is one node for each result, and knows its inputs."""
    if got["nodes"] > got["results"]:
        return f"{got['operation']} adds {got['nodes']} nodes for {got['results']} result(s), so it is composed of other operations"
    if got["inputs found"] < len(given[got["operation"]]):
        return "not every input is among the parents, so no gradient would reach it in a larger program"
    return None


def graph_complaint(got: Any, _points: Any, seed: int, graphs: int) -> str | None:
    """Whether all random graphs have right gradients."""
    op = OPERATIONS[got["operation"]]
    found = random_graphs.errors(got["given"], _mixed(op), graphs, seed, op.into)
    right = sum(error <= NEAR for error in found)
    return (
        None
        if right == graphs
        else f"in {graphs - right} of the {graphs} graphs the gradient differs from central differences"
    )
