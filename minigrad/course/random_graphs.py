"""An operation inside random graphs of Values, compared with central differences.

What lives here: the judge's side of the capstone. The answer only says what its operation gives at the places where the graphs need it; the
graphs are built here, so that an answer cannot replace what measures it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

Truth = Callable[[list[float]], float]  # the value of an operation
# The operation's inputs, from three numbers or Values and a tanh
Into = Callable[[list[Any], Callable[[Any], Any]], list[Any]]


def as_they_are(values: list[Any], _tanh: Callable[[Any], Any]) -> list[Any]:
    return values


def their_sum(values: list[Any], _tanh: Callable[[Any], Any]) -> list[Any]:
    return [values[0] + values[1] + values[2]]


def _grow(seed: int, leaves: list[Any], tanh: Callable[[Any], Any], op: Callable[[list[Any]], Any]) -> Any:
    """A random graph of six steps over `leaves`, numbers or Values, with `op` on three of its values here and there, and at its end."""
    rng, pool = random.Random(seed), list(leaves)
    for _ in range(6):
        a, b, c = (rng.choice(pool) for _ in range(3))
        kind = rng.randrange(4)
        pool.append(a * b * 0.5 if kind == 0 else a - b if kind == 1 else tanh(a) if kind == 2 else op([a, b, c]))
    return op(pool[-3:])


def _leaves(seed: int) -> list[float]:
    rng = random.Random(f"leaves {seed}")
    return [rng.uniform(-1.5, 1.5) for _ in range(3)]


def _seeds(count: int, seed: int) -> range:
    return range(1000 * seed, 1000 * seed + count)


def points(truth: Truth, count: int, seed: int, into: Into = as_they_are) -> list[list[float]]:
    """Where `count` random graphs evaluate their operation, in order."""
    results: list[list[float]] = []

    def op(values: list[float]) -> float:
        results.append(into(values, math.tanh))
        return truth(results[-1])

    for n in _seeds(count, seed):
        _grow(n, _leaves(n), math.tanh, op)
    return results


def errors(given: Sequence[Any], truth: Truth, count: int, seed: int, into: Into = as_they_are) -> list[float]:
    """For each graph the largest error of a gradient, relative to central differences of `truth` where those are larger than 1.

    `given` holds (value, derivatives) for each of `points`. Raises TypeError or ValueError when something else was given.
    """
    from ..scalar import Value

    answers, h, hit = iter(given), 1e-5, []

    def op(values: list[Any]) -> Any:
        out, slopes = next(answers)
        result = Value(float(out))
        for parent, slope in zip(into(values, lambda v: v.tanh()), slopes, strict=True):
            result = result + (parent - parent.data) * float(slope)
        return result

    def plain(values: list[float]) -> float:
        return truth(into(values, math.tanh))

    for n in _seeds(count, seed):
        numbers = _leaves(n)
        leaves = [Value(x) for x in numbers]
        _grow(n, leaves, lambda v: v.tanh(), op).backward()
        worst = 0.0
        for i, leaf in enumerate(leaves):
            up, down = (
                _grow(n, [x + s * h * (i == j) for j, x in enumerate(numbers)], math.tanh, plain) for s in (1, -1)
            )
            numeric = (up - down) / (2 * h)
            error = abs(leaf.grad - numeric) / max(1.0, abs(numeric))
            worst = worst if error <= worst else error if error == error else math.inf  # nan is no small error
        hit.append(worst)
    return hit


def op_in_random_graphs(f: Callable[..., Any], count: int, seed: int, one: bool = False) -> list[float]:
    """The errors of an operation that returns (value, derivatives), compared with differences of its own values.

    An operation on `one` number gets the sum of three, and has one derivative.
    """
    into = their_sum if one else as_they_are

    def call(xs: list[float]) -> Any:
        if not one:
            return f(xs)
        value, slope = f(xs[0])
        return value, [slope]

    def value(xs: list[float]) -> float:
        return float(call(xs)[0])

    return errors([call(xs) for xs in points(value, count, seed, into)], value, count, seed, into)
