"""Small data to learn with: shapes in the plane, drawn digits, a public-domain text.

What lives here: `moons`, `circles`, `spirals` and `digits`, each made from a seed with numpy's generator (the same numbers everywhere), and
`sonnets`, which ships with the package. Nothing is downloaded, and every function returns tensors (or a string).
"""

from importlib.resources import files
from typing import Any

import numpy as np

from .tensors.tensor import Tensor


def _pair(points: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Float32 points and int64 labels, in random order."""
    order = rng.permutation(len(points))
    return Tensor._wrap(points[order].astype(np.float32)), Tensor._wrap(labels[order].astype(np.int64))


def _shares(n: int, parts: int) -> list[int]:
    """n in `parts` numbers that differ by at most one."""
    return [n // parts + (i < n % parts) for i in range(parts)]


def _check(n: Any, shift: Any = 0) -> None:
    if not isinstance(n, int) or n < 1:
        raise ValueError(f"the number of points must be a positive whole number, not {n!r}")
    if not isinstance(shift, int) or not 0 <= shift <= 7:
        raise ValueError(f"shift must be a whole number of pixels from 0 to 7, not {shift!r}")


def moons(n: int = 100, noise: float = 0.1, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Two interleaving half circles: points (n, 2) and labels (n,), 0 or 1. No straight line separates them.

    >>> points, labels = moons(100)
    >>> points.shape, labels.sum()
    (torch.Size([100, 2]), tensor(50))
    """
    _check(n)
    rng = np.random.default_rng(seed)
    upper, lower = _shares(n, 2)
    a, b = np.linspace(0, np.pi, upper), np.linspace(0, np.pi, lower)
    points = np.concatenate([np.stack([np.cos(a), np.sin(a)], 1), np.stack([1 - np.cos(b), 0.5 - np.sin(b)], 1)])
    return _pair(points + noise * rng.standard_normal((n, 2)), np.repeat([0, 1], [upper, lower]), rng)


def circles(n: int = 100, noise: float = 0.05, seed: int = 0, factor: float = 0.5) -> tuple[Tensor, Tensor]:
    """A circle (label 0) around a smaller one (label 1) whose radius is `factor`: points (n, 2), labels (n,)."""
    _check(n)
    rng = np.random.default_rng(seed)
    outer, inner = _shares(n, 2)
    angle = 2 * np.pi * np.concatenate([np.arange(outer) / outer, np.arange(inner) / max(inner, 1)])
    radius = np.repeat([1.0, factor], [outer, inner])[:, None]
    points = radius * np.stack([np.cos(angle), np.sin(angle)], 1)
    return _pair(points + noise * rng.standard_normal((n, 2)), np.repeat([0, 1], [outer, inner]), rng)


def spirals(n: int = 300, noise: float = 0.05, seed: int = 0, arms: int = 3, turns: float = 1.0) -> tuple[Tensor, Tensor]:
    """`arms` spirals around the origin, one class each: points (n, 2), labels (n,)."""
    _check(n)
    rng = np.random.default_rng(seed)
    counts = _shares(n, arms)
    points = []
    for arm, count in enumerate(counts):
        radius = np.linspace(0.05, 1, count)
        angle = 2 * np.pi * (turns * radius + arm / arms)
        points.append(radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1))
    return _pair(np.concatenate(points) + noise * rng.standard_normal((n, 2)), np.repeat(np.arange(arms), counts), rng)


# Digits. Each is drawn as lines in the unit square (x to the right, y down); "o" parts are ellipses: centre x, y, radius x, y.
_STROKES: dict[int, list[Any]] = {
    0: [("o", 0.5, 0.5, 0.3, 0.43)],
    1: [[(0.32, 0.25), (0.55, 0.07), (0.55, 0.93)]],
    2: [[(0.2, 0.27), (0.3, 0.1), (0.5, 0.05), (0.72, 0.13), (0.77, 0.32), (0.6, 0.55), (0.2, 0.92), (0.82, 0.92)]],
    3: [[(0.2, 0.12), (0.5, 0.05), (0.75, 0.15), (0.75, 0.35), (0.45, 0.47), (0.78, 0.6), (0.8, 0.8), (0.5, 0.95), (0.2, 0.87)]],
    4: [[(0.62, 0.95), (0.62, 0.05), (0.15, 0.65), (0.88, 0.65)]],
    5: [[(0.78, 0.07), (0.28, 0.07), (0.24, 0.45), (0.55, 0.4), (0.78, 0.55), (0.75, 0.82), (0.5, 0.95), (0.2, 0.87)]],
    6: [[(0.7, 0.06), (0.38, 0.25), (0.24, 0.55), (0.25, 0.75)], ("o", 0.5, 0.7, 0.27, 0.24)],
    7: [[(0.17, 0.08), (0.82, 0.08), (0.42, 0.95)]],
    8: [("o", 0.5, 0.27, 0.23, 0.21), ("o", 0.5, 0.71, 0.28, 0.24)],
    9: [("o", 0.5, 0.3, 0.27, 0.24), [(0.77, 0.3), (0.72, 0.6), (0.5, 0.95)]],
}


def _segments(digit: int) -> np.ndarray:
    """The drawing as straight pieces (pieces, 2 ends, 2 coordinates)."""
    pieces = []
    for part in _STROKES[digit]:
        if part[0] == "o":
            _, x, y, rx, ry = part
            angle = np.linspace(0, 2 * np.pi, 13)
            line = np.stack([x + rx * np.cos(angle), y + ry * np.sin(angle)], 1)
        else:
            line = np.array(part)
        pieces.append(np.stack([line[:-1], line[1:]], 1))
    return np.concatenate(pieces)


def _warped(segments: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The drawing as another hand would do it: turned, slanted, stretched, shifted, its points a little off."""
    angle, slant = rng.normal(0, 0.12), rng.normal(0, 0.15)
    stretch = rng.normal(1, 0.08, 2)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix = turn @ np.array([[1, -slant], [0, 1]]) @ np.diag(stretch)
    wobble = rng.normal(0, 0.02, (len(segments) + 1, 2))
    ends = np.stack([wobble[:-1], wobble[1:]], 1)
    return (segments - 0.5 + ends) @ matrix.T + 0.5 + rng.normal(0, 0.04, 2)


def _distances(points: np.ndarray, segments: np.ndarray) -> np.ndarray:
    """From each point (p, 2) to the nearest piece of the drawing."""
    start, along = segments[:, 0], segments[:, 1] - segments[:, 0]
    rest = points[:, None] - start
    t = np.clip((rest * along).sum(-1) / np.maximum((along * along).sum(-1), 1e-12), 0, 1)
    return np.sqrt(((rest - t[..., None] * along) ** 2).sum(-1).min(1))


def digits(n: int = 1000, seed: int = 0, shift: int = 0) -> tuple[Tensor, Tensor]:
    """Images of digits (n, 1, 8, 8) with ink from 0 to 16, and their labels (n,): in the manner of the well-known 8x8 set of handwritten
    digits, but drawn by this function from a seed, so that they are free for any use. A linear model gets some of them wrong.

    With `shift`, the same images, each moved by up to so many pixels to any side. A linear model then fails, a convolution does not.

    >>> images, labels = digits(20)
    >>> images.shape, labels[:3].tolist()
    (torch.Size([20, 1, 8, 8]), [8, 6, 5])
    """
    _check(n, shift)
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, n)
    grid = (np.arange(24) + 0.5) / 24  # three by three points per pixel
    points = np.stack(np.meshgrid(grid, grid, indexing="xy"), -1).reshape(-1, 2)
    points = (points - 0.5) * 1.25 + 0.5  # a margin around the digit
    drawings = {d: _segments(d) for d in range(10)}
    images = np.empty((n, 1, 8, 8), np.float32)
    for image, label in zip(images, labels, strict=True):
        width = rng.uniform(0.06, 0.1)
        ink = np.clip((width - _distances(points, _warped(drawings[label], rng))) / 0.05 + 0.5, 0, 1)
        pixels = ink.reshape(8, 3, 8, 3).mean((1, 3)) * 16 * rng.uniform(1.1, 1.5) + rng.normal(0, 0.4, (8, 8))
        image[0] = np.clip(np.round(pixels), 0, 16)
    if shift:
        wide = np.pad(images, ((0, 0), (0, 0), (shift, shift), (shift, shift)))
        moves = np.random.default_rng([seed, shift]).integers(0, 2 * shift + 1, (n, 2))
        images = np.stack([image[:, y : y + 8, x : x + 8] for image, (y, x) in zip(wide, moves, strict=True)])
    return Tensor._wrap(images), Tensor._wrap(labels.astype(np.int64))


def sonnets() -> str:
    """37 sonnets by William Shakespeare (1609, modern spelling; public domain), for a character model: 23,000 characters, 59 of them
    different. A blank line stands between two sonnets.

    >>> print(sonnets()[:46])
    From fairest creatures we desire increase,
    Tha
    """
    return files("minigrad").joinpath("data/sonnets.txt").read_text(encoding="utf-8")
