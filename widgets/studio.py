"""The data of the two studios, and what can be measured there. Nothing is judged: there are no points and no right answer.

scene = Picture()                    after chapter 9: a picture of which half of the points are known
sums = Sums(500)                     after chapter 17: 500 sums of the 10,000 that two numbers below 100 have
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .lessons.kit import LessonView
from .plots import plot

Array = np.ndarray


def _numbers(result: Any, n: int, name: str) -> Array:
    """What a learner's function returned, as n numbers: an array, a list, or a tensor with one number in each row."""
    for attribute in ("detach", "numpy"):
        if hasattr(result, attribute):
            result = getattr(result, attribute)()
    values = np.asarray(getattr(result, "data", result) if not isinstance(result, np.ndarray) else result)
    if values.dtype.kind not in "biuf" or values.size != n:
        what = f"the shape {values.shape}" if values.dtype.kind in "biuf" else f"{type(result).__name__}"
        raise ValueError(
            f"{name} has to return {n} numbers, one for each row that it is given, and it returned {what}."
        )
    return values.reshape(n).astype(float)


class Picture:
    """A grey picture of 40 by 40 points, of which you know 800.

    seen: (x, y) of those. x has a row for each point, from the left, -1, to the right, 1, and from the top, -1, to the bottom, 1.
    y is how bright the points are, from 0 to 1. known: the picture, (40, 40), with nan where it is hidden. all: x of every point, row by
    row. limit: how many numbers a network may have.
    """

    side, limit = 40, 1000

    def __init__(self) -> None:
        line = np.linspace(-1, 1, self.side)
        down, across = np.meshgrid(line, line, indexing="ij")
        self.all = np.stack([across.ravel(), down.ravel()], axis=1)
        self._bright = self._scene(across, down).ravel()
        order = np.random.default_rng(9).permutation(self.side**2)
        known, self._hidden = order[:800], order[800:]
        self.seen = self.all[known], self._bright[known]
        self.known = np.full((self.side, self.side), np.nan)
        self.known.flat[known] = self._bright[known]
        self._errors: list[float] = []

    @staticmethod
    def _scene(across: Array, down: Array) -> Array:
        """A moon over water."""
        sky = 0.45 + 0.25 * down
        sky = np.where((across - 0.35) ** 2 + (down + 0.5) ** 2 < 0.075, 1.0, sky)
        depth = np.clip((down - 0.1) / 0.9, 0, 1)
        waves = 0.3 + 0.2 * np.sin(2 * np.pi * 3 * depth**0.7 + 3 * across)
        glint = np.exp(-(((across - 0.35) / (0.12 + 0.2 * depth)) ** 2))
        water = waves + 0.45 * glint * (0.6 + 0.4 * np.cos(2 * np.pi * 4 * depth))
        return np.clip(np.where(down < 0.1, sky, water), 0, 1)

    def measure(self, predict: Callable[[Array], Any], parameters: Iterable[Any]) -> LessonView:
        """The root of the mean squared error on the 800 hidden points, and the picture beside yours.

        predict(x) gives a brightness for each row of x. parameters: arrays or tensors, whose numbers are counted.
        Raises ValueError if predict returns another number of values.
        """
        import matplotlib.pyplot as plt

        mine = _numbers(predict(self.all.copy()), len(self.all), "predict")
        size = sum(int(np.asarray(getattr(p, "data", p)).size) for p in parameters)
        error = float(np.sqrt(((mine - self._bright)[self._hidden] ** 2).mean()))
        one_grey = float(self._bright[self._hidden].std())
        self._errors.append(error)
        over = f", {size - self.limit:,} more than the studio allows" if size > self.limit else ""
        print(f"error on the hidden points: {error:.3f} (a single grey: {one_grey:.3f})")
        print(f"numbers in the network: {size:,}{over}")
        if len(self._errors) > 1:
            print("so far:", ", ".join(f"{e:.3f}" for e in self._errors))
        figure, axes = plt.subplots(1, 3, figsize=(7, 2.5))
        parts = (("the picture", self._bright), ("yours", mine), ("the difference", mine - self._bright))
        for ax, (title, values) in zip(axes, parts, strict=True):
            grey = title != "the difference"
            ax.imshow(
                values.reshape(self.side, self.side),
                cmap="gray" if grey else "coolwarm",
                vmin=0 if grey else -0.5,
                vmax=1 if grey else 0.5,
            )
            ax.set_title(title, fontsize=10)
            ax.set_axis_off()
        worst = np.abs(mine - self._bright).reshape(self.side, self.side)
        half = self.side // 2
        places = {"at the top": worst[:half].mean(), "at the bottom": worst[half:].mean()}
        return plot(
            figure,
            f"The picture, the one that your network draws, and their difference, red where yours is too bright and blue where it is too "
            f"dark. The mean error is {error:.3f}, and it is larger {max(places, key=lambda p: places[p])}.",
        )


class Sums:
    """The sums of two numbers below 100. You know n of the 10,000, and 1,000 others are hidden.

    seen: (a, b), two arrays of n whole numbers each.
    """

    def __init__(self, n: int = 500) -> None:
        if not 1 <= n <= 9000:
            raise ValueError(f"there are 10,000 sums, of which 1,000 are hidden: n must be from 1 to 9000, not {n}.")
        order = np.random.default_rng(17).permutation(10_000)
        self.seen = order[1000 : 1000 + n] // 100, order[1000 : 1000 + n] % 100
        self._hidden = order[:1000] // 100, order[:1000] % 100
        self._rights: list[int] = []

    def measure(self, add: Callable[[Array, Array], Any]) -> LessonView:
        """How many of 1,000 hidden sums are right, in which place the others are wrong, and what carrying has to do with it.

        add(a, b) gives a whole number for each pair of the two arrays. Raises ValueError if it returns another number of values.
        """
        import matplotlib.pyplot as plt

        a, b = self._hidden
        mine = np.rint(_numbers(add(a.copy(), b.copy()), len(a), "add")).astype(int)
        right = mine == a + b
        self._rights.append(int(right.sum()))
        print(f"right: {right.sum():,} of {len(a):,}")
        for name, power in (("hundreds", 100), ("tens", 10), ("ones", 1)):
            share = (mine // power % 10 == (a + b) // power % 10).mean()
            print(f"  the {name} are right in {100 * share:.0f} %")
        ones = a % 10 + b % 10 >= 10
        tens = a // 10 + b // 10 + ones >= 10
        carries = ones.astype(int) + tens
        for count, words in ((0, "nothing is carried"), (1, "one is carried once"), (2, "one is carried twice")):
            print(f"  where {words}, {100 * right[carries == count].mean():.0f} % are right")
        if len(self._rights) > 1:
            print("so far:", ", ".join(map(str, self._rights)))
        figure, ax = plt.subplots(figsize=(4.6, 4.2))
        ax.plot(a[right], b[right], "C0.", markersize=3, label="right", rasterized=True)
        ax.plot(a[~right], b[~right], "C1x", markersize=5, label="wrong", rasterized=True)
        ax.set(xlabel="a", ylabel="b", xlim=(-2, 101), ylim=(-2, 101), aspect="equal")
        ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False)
        return plot(
            figure,
            f"Each hidden sum at its a and b: a dot where it is right, {right.sum():,} of them, and a cross where it is wrong.",
        )
