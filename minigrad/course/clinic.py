"""One of several faults in a training loop that runs on the learner's own engine, to be found with as few measurements as possible.

`check.sicken()` makes a Patient. A fault changes an object (a rule, a parameter, the data, the update), so no line of the learner's
program looks any different. Nothing is graded.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from .growing import frame
from .result import Note

STEPS, CLASSES = 400, 10


class Patient:
    """A trained network with one fault somewhere in its loop. `measure(instrument)`, then `diagnose(fault)`."""

    def __init__(self, pieces: dict[str, Any], number: int):
        from ..datasets import digits

        self.Tensor = frame(pieces["Value"])
        pieces["teach_tensors"](self.Tensor)
        network, _ = pieces["trainer"](self.Tensor, pieces["backward"])
        self._cross_entropy = pieces["dense_operations"](self.Tensor)[0]
        self._backward = pieces["backward"]
        images, labels = digits(seed=None)
        self.x, self.y = images.numpy().reshape(-1, 64) / 16.0, labels.numpy().copy()
        self.rng, self.lr = np.random.default_rng(number), 0.2
        self.model = network(64, 32, CLASSES, self.rng)
        self.updated, self.cleared = list(self.model.parameters()), list(self.model.parameters())
        self.losses: list[float] = []
        self.measured = self.wrong = 0
        self._fault = list(FAULTS)[number % len(FAULTS)]
        FAULTS[self._fault](self)
        for _ in range(STEPS):
            self._step()

    def parameters(self) -> dict[str, Any]:
        return dict(zip(("W1", "b1", "W2", "b2"), self.model.parameters(), strict=True))

    def _gradients(self, x: Any, y: Any) -> Any:
        loss = self._cross_entropy(self.model(x), y)
        self._backward(loss)
        return loss

    def _step(self) -> None:
        rows = self.rng.choice(1287, 32, replace=False)
        self.last = self.x[rows], self.y[rows]
        for p in self.cleared:
            p.grad = np.zeros(p.shape)
        self.losses.append(float(self._gradients(*self.last).data))
        self.before = {name: p.data.copy() for name, p in self.parameters().items()}
        self.used = {name: p.grad.copy() for name, p in self.parameters().items()}
        for p in self.updated:
            p.data = p.data - self.lr * p.grad

    def _fresh(self, x: Any, y: Any) -> None:
        for p in self.model.parameters():
            p.grad = np.zeros(p.shape)
        self._gradients(x, y)

    def measure(self, instrument: str = "") -> Note:
        """What one instrument says. Each counts as a measurement."""
        if instrument not in INSTRUMENTS:
            return Note(
                "The instruments",
                rows=(("measure(…)", "what it tells"), *((k, f.__doc__ or "") for k, f in INSTRUMENTS.items())),
            )
        self.measured += 1
        return Note(f"measurement {self.measured}, {instrument}", INSTRUMENTS[instrument](self))

    def diagnose(self, fault: str = "") -> Note:
        """Name the fault. A wrong name counts as another measurement."""
        if fault not in FAULTS:
            return Note(
                "The faults",
                rows=(("diagnose(…)", "what was done"), *((k, f.__doc__ or "") for k, f in FAULTS.items())),
            )
        if fault != self._fault:
            self.wrong += 1
            return Note(
                f"✗ It is not {fault!r}",
                "A wrong name counts as a measurement. Which reading would that fault explain?",
            )
        spent = self.measured + self.wrong
        stars = "★★★" if spent <= 2 else "★★" if spent <= 4 else "★"
        return Note(
            f"✓ {stars} Yes, {fault}: {FAULTS[fault].__doc__}",
            f"You needed {spent} measurement{'s' * (spent != 1)}. Two are enough.",
        )


# ---- the faults -----------------------------------------------------------------------------------------------------------------------


def _stale(p: Patient) -> None:
    """the gradient of one parameter is never cleared"""
    p.cleared.remove(p.model.b1)


def _older(p: Patient) -> None:
    """the update has a list of parameters that is older than the model"""
    p.model.W1 = p.Tensor(p.model.W1.data)
    p.cleared = list(p.model.parameters())


def _rule(p: Patient) -> None:
    """the backward rule of relu passes everything"""

    def relu(self: Any) -> Any:
        out = p.Tensor(np.maximum(self.data, 0), (self,), "relu")

        def _backward() -> None:
            self.grad += out.grad

        out._backward = _backward
        return out

    p.Tensor.relu = relu


def _labels(p: Patient) -> None:
    """the labels of one digit belong to the row before"""
    fours = np.flatnonzero(p.y[:1287] == 4)
    p.y[fours] = p.y[fours - 1]


def _dead(p: Patient) -> None:
    """most of the hidden units never fire"""
    p.model.b1.data = p.model.b1.data - np.where(np.arange(32) < 26, 8.0, 0.0)


FAULTS: dict[str, Callable[[Patient], None]] = {
    "stale gradient": _stale, "old list": _older, "wrong rule": _rule, "wrong labels": _labels, "dead units": _dead,
}  # fmt: skip


# ---- what can be measured -------------------------------------------------------------------------------------------------------------


def _loss(p: Patient) -> str:
    """the loss of the first ten steps and of the last forty"""
    return f"{np.mean(p.losses[:10]):.2f} → {np.mean(p.losses[-40:]):.3f} (a healthy loop: 0.11)"


def _held_out(p: Patient) -> str:
    """how many of 510 digits by other hands are read"""
    return f"{int((p.model(p.x[1287:]).data.argmax(axis=1) == p.y[1287:]).sum())} of 510 (healthy: about 460)"


def _by_class(p: Patient) -> str:
    """the same for each digit"""
    read, there = p.model(p.x[1287:]).data.argmax(axis=1), p.y[1287:]
    return ", ".join(f"{c}: {100 * (read[there == c] == c).mean():.0f} %" for c in range(CLASSES))


def _moved(p: Patient) -> str:
    """how far each parameter moved in the last step, relative to its size"""
    return ", ".join(
        f"{name} {np.linalg.norm(t.data - p.before[name]) / np.linalg.norm(t.data):.0e}"
        for name, t in p.parameters().items()
    )


def _firing(p: Patient) -> str:
    """how many of the hidden units never fire"""
    h = p.x[1287:] @ p.model.W1.data.T + p.model.b1.data > 0
    return f"{int((h.mean(axis=0) == 0).sum())} of 32 (healthy: about 2)"


def _fresh_gradient(p: Patient) -> str:
    """the gradient that the last step used, divided by that of a fresh pass (lengths)"""
    now = {name: t.data for name, t in p.parameters().items()}
    for name, t in p.parameters().items():
        t.data = p.before[name]
    p._fresh(*p.last)
    said = ", ".join(
        f"{name} {np.linalg.norm(p.used[name]) / np.linalg.norm(t.grad):.2f}" for name, t in p.parameters().items()
    )
    for name, t in p.parameters().items():
        t.data = now[name]
    return said


def _nudged(p: Patient) -> str:
    """for each parameter: the length of its gradient, divided by how fast the loss rises in that direction"""
    x, y, said = p.x[:64], p.y[:64], []
    p._fresh(x, y)
    for name, t in p.parameters().items():
        value, g = t.data, t.grad
        found = []
        for step in (1e-5, -1e-5):
            t.data = value + step * g / np.linalg.norm(g)
            found.append(float(p._cross_entropy(p.model(x), y).data))
        t.data = value
        slope = (found[0] - found[1]) / 2e-5
        said.append(f"{name} {np.linalg.norm(g) / slope:.2f}" if slope else f"{name} the loss does not move")
    return ", ".join(said)


INSTRUMENTS: dict[str, Callable[[Patient], str]] = {
    "loss": _loss, "held out": _held_out, "by class": _by_class, "moved": _moved, "firing": _firing, "fresh": _fresh_gradient,
    "nudged": _nudged,
}  # fmt: skip


def any_number() -> int:
    """The number of a patient, drawn at random."""
    return random.SystemRandom().randrange(1000)
