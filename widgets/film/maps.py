"""The outputs of a network's units over the plane of two inputs, for still pictures; front/src/film/maps.js computes them in a page."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.film import Film
from minigrad.kernels import positions

WIDE, HIGH = 56, 44  # places of the grid

ACTIVATIONS: dict[str, Any] = {
    "relu": lambda z: np.maximum(z, 0),
    "tanh": np.tanh,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "exp": np.exp,
    "sin": np.sin,
    "cos": np.cos,
    "abs": np.abs,
    "step": lambda z: (z > 0) + 0.0,
    "sign": np.sign,
    "round": np.round,
}


def box(points: np.ndarray) -> tuple[float, float, float, float]:
    """The part of the plane that is drawn: x from and to, y from and to."""
    low, high = points.min(0), points.max(0)
    margin = np.where(high > low, 0.14 * (high - low), 1.0)
    (x0, y0), (x1, y1) = low - margin, high + margin
    w, h = x1 - x0, y1 - y0
    if w < 5 * h and h < 5 * w:
        more = w * HIGH / WIDE - h
        if more > 0:
            y0, y1 = y0 - more / 2, y1 + more / 2
        else:
            x0, x1 = x0 + more * WIDE / HIGH / 2, x1 - more * WIDE / HIGH / 2
    return float(x0), float(x1), float(y0), float(y1)


def grid(points: np.ndarray) -> np.ndarray:
    """The two inputs at each place of the grid, from the top left: (HIGH × WIDE, 2)."""
    x0, x1, y0, y1 = box(points)
    x = x0 + (np.arange(WIDE) + 0.5) / WIDE * (x1 - x0)
    y = y1 - (np.arange(HIGH) + 0.5) / HIGH * (y1 - y0)
    return np.stack([np.tile(x, HIGH), positions.repeat(y, WIDE)], 1)


def computed(film: Film, weights: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sums of all units and their results, for each row of x: two arrays (units, rows)."""
    assert film.program is not None
    units, w = film.program.units, np.asarray(weights, float)
    sums, out = np.zeros((2, len(units), len(x)))
    with np.errstate(all="ignore"):
        for k, u in enumerate(units):
            sums[k] = 0.0 if u["bias"] < 0 else w[u["bias"]]
            for column, unit, p in u["inputs"]:
                sums[k] += w[p] * (out[unit] if unit >= 0 else x[:, column])
            out[k] = ACTIVATIONS.get(u["act"], lambda z: z)(sums[k])
    return sums, out


def right(film: Film, weights: Any) -> tuple[int, int] | None:
    """How many points are on the right side, and of how many; None if the film has no such sides."""
    if film.program is None or film.data_of is None or not film.outputs or not film.classes:
        return None
    sums, _ = computed(film, weights, film.data_of.points)
    scores, kinds, labels = sums[-len(film.outputs) :], np.array(film.classes), film.data_of.labels
    if len(scores) == 1 and len(kinds) != 2:
        return None
    found = kinds[(scores[0] > film.boundary).astype(int)] if len(scores) == 1 else kinds[scores.argmax(0)]
    return int((found == labels).sum()), len(labels)
