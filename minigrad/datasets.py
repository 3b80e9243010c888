"""Small data to learn with: shapes in the plane, handwritten digits, a public-domain text.

What lives here: `moons`, `circles` and `spirals`, each made from a seed with numpy's generator (the same numbers everywhere), and
`digits` and `sonnets`, which ship with the package (data/). Nothing is downloaded, and every function returns tensors (or a string).
"""

from importlib.resources import files
from typing import Any

import numpy as np

from .kernels.positions import repeat
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
    return _pair(points + noise * rng.standard_normal((n, 2)), repeat([0, 1], [upper, lower]), rng)


def circles(n: int = 100, noise: float = 0.05, seed: int = 0, factor: float = 0.5) -> tuple[Tensor, Tensor]:
    """A circle (label 0) around a smaller one (label 1) whose radius is `factor`: points (n, 2), labels (n,)."""
    _check(n)
    rng = np.random.default_rng(seed)
    outer, inner = _shares(n, 2)
    angle = 2 * np.pi * np.concatenate([np.arange(outer) / outer, np.arange(inner) / max(inner, 1)])
    radius = repeat([1.0, factor], [outer, inner])[:, None]
    points = radius * np.stack([np.cos(angle), np.sin(angle)], 1)
    return _pair(points + noise * rng.standard_normal((n, 2)), repeat([0, 1], [outer, inner]), rng)


def spirals(
    n: int = 300, noise: float = 0.05, seed: int = 0, arms: int = 3, turns: float = 1.0
) -> tuple[Tensor, Tensor]:
    """`arms` spirals around the origin, one class each: points (n, 2), labels (n,)."""
    _check(n)
    rng = np.random.default_rng(seed)
    counts = _shares(n, arms)
    points = []
    for arm, count in enumerate(counts):
        radius = np.linspace(0.05, 1, count)
        angle = 2 * np.pi * (turns * radius + arm / arms)
        points.append(radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1))
    return _pair(np.concatenate(points) + noise * rng.standard_normal((n, 2)), repeat(np.arange(arms), counts), rng)


def digits(n: int = 1797, seed: int | None = 0, shift: int = 0) -> tuple[Tensor, Tensor]:
    """Handwritten digits: images (n, 1, 8, 8) with ink from 0 to 16, and labels (n,) from 0 to 9. Thirteen people wrote them on forms.

    There are 1,797, of which you get n, in an order drawn from `seed`. With `seed=None` they come in the order of the file, one filled-in
    form of about 130 digits after the other, fourteen in all: the last 510 digits are four forms.

    With `shift`, each image lies at a random place of a larger canvas, (n, 1, 8 + 2 * shift, 8 + 2 * shift): it is moved by up to so many
    pixels to any side, and no ink is lost.

    From E. Alpaydin and C. Kaynak, *Optical Recognition of Handwritten Digits* (1998), UCI Machine Learning Repository,
    https://doi.org/10.24432/C50P49, licence CC BY 4.0: the test set, its numbers unchanged. More is in data/digits.txt.
    Raises ValueError for a larger n.

    >>> images, labels = digits(20)
    >>> images.shape, labels[:3].tolist()
    (torch.Size([20, 1, 8, 8]), [6, 6, 6])
    """
    _check(n, shift)
    with files("minigrad").joinpath("data/digits.npz").open("rb") as file, np.load(file) as stored:
        images, labels = stored["images"].astype(np.float32)[:, None], stored["labels"].astype(np.int64)
    if n > len(images):
        raise ValueError(f"there are {len(images)} digits, so n cannot be {n}")
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(len(images))[:n]
    images, labels = images[order], labels[order]
    if shift:
        canvas = np.zeros((n, 1, 8 + 2 * shift, 8 + 2 * shift), np.float32)
        moves = np.random.default_rng([seed or 0, shift]).integers(0, 2 * shift + 1, (n, 2))
        for place, image, (y, x) in zip(canvas, images, moves, strict=True):
            place[:, y : y + 8, x : x + 8] = image
        images = canvas
    return Tensor._wrap(images), Tensor._wrap(labels)


def sonnets() -> str:
    """The 154 sonnets of William Shakespeare (1609, modern spelling; public domain), for a character model: 95,000 characters, 61 of
    them different. A blank line stands between two sonnets. Where the text is from: data/sonnets-source.txt.

    >>> print(sonnets()[:46])
    From fairest creatures we desire increase,
    Tha
    """
    return files("minigrad").joinpath("data/sonnets.txt").read_text(encoding="utf-8")
