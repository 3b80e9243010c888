"""Four trainings with one fault each, as pairs of curves, for exercise 17.d.

The runs are here and not in the chapter, so that its page does not reveal the faults.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import minigrad as torch
from minigrad import datasets, nn
from minigrad.nn import functional as F

from .lessons.kit import LessonView
from .plots import plot


@dataclass(frozen=True)
class Run:
    """The loss on each batch and on the validation set, step by step, and in the end on digits that were kept apart."""

    train: list[float]
    validation: list[float]
    new: float


@cache
def moved() -> tuple[Any, Any]:
    """All digits, each shifted by up to one pixel: 1,000 for training, 297 for validation, and 500 that no run uses."""
    images, labels = datasets.digits(shift=1)
    return images.double() / 16, labels


def run(images: Any, labels: Any, held: Any, held_labels: Any, order: Any, optimizer: Any) -> Run:
    """Train a hidden layer of 64 units; `order` has the rows of each batch."""
    new, new_labels = (x[1297:] for x in moved())
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Flatten(), nn.Linear(100, 64), nn.Tanh(), nn.Linear(64, 10)).double()
    optimizer = optimizer(model.parameters())
    train, validation = [], []
    for rows in order:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[rows]), labels[rows])
        loss.backward()
        optimizer.step()
        train.append(loss.item())
        with torch.no_grad():
            validation.append(F.cross_entropy(model(held), held_labels).item())
    with torch.no_grad():
        return Run(train, validation, F.cross_entropy(model(new), new_labels).item())


def runs(steps: int = 150) -> dict[str, Run]:
    """The four, in the order of the picture."""
    images, labels = moved()
    held, held_labels = images[1000:1297], labels[1000:1297]
    with torch.random.fork_rng():
        torch.manual_seed(1)
        drawn = [torch.randint(0, 1000, (64,)) for _ in range(steps)]
        shuffled = torch.randperm(800)
    adam = partial(torch.optim.Adam, lr=1e-2)
    by_label = labels[:1000].argsort()
    in_order = [by_label[k % 50 * 20 :][:20] for k in range(steps)]
    copies, their_labels = images[:200].repeat(4, 1, 1, 1)[shuffled], labels[:200].repeat(4)[shuffled]
    return {
        "A": run(images, labels, held, held_labels, in_order, partial(torch.optim.SGD, lr=0.1)),
        "B": run(
            copies[:640], their_labels[:640], copies[640:], their_labels[640:], [rows % 640 for rows in drawn], adam
        ),
        "C": run(images, labels, held, held_labels, [rows[:32] % 60 for rows in drawn], adam),
        "D": run(images, labels, held, held_labels, drawn, partial(torch.optim.SGD, lr=1.9)),
    }


def four_runs() -> LessonView:
    """Training loss and validation loss of four runs, and the loss of each on new digits."""
    import matplotlib.pyplot as plt

    result = runs()
    figure, axes = plt.subplots(2, 2, figsize=(8.4, 5.2), sharex=True)
    for (name, its), ax in zip(result.items(), axes.flat, strict=True):
        ax.plot(its.train, "C0", linewidth=1, label="training")
        ax.plot(its.validation, "C1", label="validation")
        ax.set(title=f"{name}: {its.new:.1f} on new digits", ylim=(0, 6 if max(its.validation) < 10 else None))
    axes[0, 0].legend()
    for ax in axes[1]:
        ax.set_xlabel("step")
    figure.tight_layout()
    return plot(
        figure,
        "Training loss and validation loss over 150 steps. A: the training loss is a saw, up to 4 and down to 0.5 about every "
        "five steps, and validation swings around 3. B: both fall together and end near 0.1. C: the training loss falls to 0; validation "
        "falls a little until step 20 and then rises to 4. D, on an axis ten times as long: both jump to 20 and more and do not settle. "
        f"Loss on new digits: {', '.join(f'{name} {its.new:.1f}' for name, its in result.items())}.",
    )
