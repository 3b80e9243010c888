"""Drivers of chapter 16: checkpointing and half precision."""

from __future__ import annotations

import math
from typing import Any


class _Activation(tuple):
    """A pair of numbers that counts how many of its kind are alive."""

    alive = peak = 0

    def __new__(cls, pair: Any) -> _Activation:
        cls.alive += 1
        cls.peak = max(cls.peak, cls.alive)
        return tuple.__new__(cls, pair)

    def __del__(self) -> None:
        type(self).alive -= 1


def layer_weights(i: int) -> list[list[float]]:
    """A turn and a stretch, another one in every layer: no two of these Jacobians commute."""
    angle, stretch = 0.3 + 0.5 * (i % 7), 1.2 + 0.3 * (i % 3)
    return [[stretch * math.cos(angle), -math.sin(angle)], [stretch * math.sin(angle), math.cos(angle)]]


class _Layer:
    """y = tanh(W x) for pairs x and y. Notes which layer runs, and refuses when all of them together have run too often."""

    def __init__(self, i: int, forwards: list[int], backwards: list[int], most: float = math.inf):
        self.i, self.w, self.forwards, self.backwards, self.most = i, layer_weights(i), forwards, backwards, most

    def _y(self, x: Any) -> list[float]:
        return [math.tanh(a * x[0] + b * x[1]) for a, b in self.w]

    def forward(self, x: Any) -> Any:
        if len(self.forwards) >= self.most:
            raise RuntimeError(
                f"the layers have run forward {len(self.forwards):,} times, and the backward pass is not done yet"
            )
        self.forwards.append(self.i)
        return _Activation(self._y(x))

    def backward(self, x: Any, g: Any) -> list[float]:
        self.backwards.append(self.i)
        inner = [(1 - y * y) * float(gi) for y, gi in zip(self._y(x), g, strict=True)]
        return [self.w[0][j] * inner[0] + self.w[1][j] * inner[1] for j in (0, 1)]


def checkpoint_result(entry: Any, n: int, x: list[float], g: list[float]) -> Any:
    return entry([_Layer(i, [], []) for i in range(n)], x, g)


def checkpoint_alive(entry: Any, n: int, x: list[float], g: list[float]) -> Any:
    """How many activations are alive at most, how often a layer runs forward, and in which order the layers run backward.

    Who recomputes a thousand layers from the start each time needs half a million runs, and is stopped early.
    """
    forwards: list[int] = []
    backwards: list[int] = []
    _Activation.alive = _Activation.peak = 0
    entry([_Layer(i, forwards, backwards, max(6000, 20 * n)) for i in range(n)], x, g)
    return {"alive": _Activation.peak, "forwards": len(forwards), "order": backwards[: 2 * n]}


def half_precision_steps(
    entry: Any, w: list[float], terms: list[list[float]], scale: float, lr: float, steps: int
) -> Any:
    """Weights and scale after each of several steps. Each gradient is a sum of two terms, and all arithmetic of backward is float16."""
    import numpy as np

    def backward(seed: Any) -> Any:
        with np.errstate(all="ignore"):
            first, second = (
                np.float16(seed) * np.array(column, dtype=np.float64) for column in zip(*terms, strict=True)
            )
            return first.astype(np.float16) + second.astype(np.float16)

    weights, path = np.array(w, dtype=np.float32), []
    for _ in range(steps):
        with np.errstate(all="ignore"):
            weights, scale = entry(weights, backward, scale, lr)
        path.append([[float(v) for v in weights], float(scale)])
    return path


def budget_of(entry: Any, parameters: int, block: int, layers: int, settings: dict[str, int]) -> Any:
    """The learner's budget in bytes."""
    return entry(parameters, block, layers, **settings)
