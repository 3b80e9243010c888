"""The pictures in README.md, made from the code beside them: `python -m tools.pictures`.

What lives here: that one program, and its files in .github/images/. What does not: how pictures are drawn (widgets/export.py). They are
committed because a README cannot run code; a test holds that they still belong to the README's program.
"""

import random
from pathlib import Path

from minigrad import Value, datasets
from minigrad.tape import Tape
from widgets import graph
from widgets.export import png
from widgets.film import ShownFilm, picture
from widgets.film.export import SCALE

FOLDER = Path(__file__).parents[1] / ".github" / "images"


def view():
    """The README's program, run."""
    x = Value(1.0)
    y = (3 * x + 2) ** 2
    y.backward()
    return graph(y, names={"x": x, "y": y}, step="start")


def film() -> ShownFilm:
    """Two moons, learnt by 2-16-16-1 numbers: micrograd's demo, replayed on a tape."""
    points, kinds = datasets.moons(100, seed=1)
    xs, labels = [tuple(p) for p in points.tolist()], [2 * k - 1 for k in kinds.tolist()]
    model = Network(random.Random(5))
    losses = [(1 - y * model(*p)).relu() for p, y in zip(xs, labels, strict=True)]
    loss = sum(losses) * (1 / len(losses)) + 1e-4 * sum(p * p for p in model.parameters())
    tape, found = Tape(loss), ShownFilm(model, xs, labels)
    for k in range(100):
        tape.replay()
        found.step(loss)
        for p in model.parameters():
            p.data -= (1 - 0.009 * k) * p.grad
    return found


class Network:
    """Layers of relu units, and a score."""

    def __init__(self, rng: random.Random, sizes: tuple[int, ...] = (2, 16, 16, 1)):
        pairs = zip(sizes, sizes[1:], strict=False)
        self.layers = [
            [[Value(rng.uniform(-1, 1)) for _ in range(a)] + [Value(0.0)] for _ in range(b)] for a, b in pairs
        ]

    def parameters(self) -> list[Value]:
        return [p for layer in self.layers for unit in layer for p in unit]

    def __call__(self, *x):
        for layer in self.layers:
            sums = [sum((w * v for w, v in zip(unit, x, strict=False)), unit[-1]) for unit in layer]
            x = sums if layer is self.layers[-1] else [z.relu() for z in sums]
        return x[0]


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    shown = view()
    for theme in ("light", "dark"):
        shown.save(FOLDER / f"stepping-{theme}.gif", dark=theme == "dark", width=900)
        shown.save(FOLDER / f"still-{theme}.png", step=shown.total, dark=theme == "dark", width=900)
    shown.close()
    moons = film()
    for theme in ("light", "dark"):
        moons.save(FOLDER / f"film-{theme}.gif", dark=theme == "dark")
        (FOLDER / f"film-{theme}.png").write_bytes(png(picture.svg(moons), SCALE, theme == "dark"))


if __name__ == "__main__":
    main()
