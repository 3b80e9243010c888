"""A training that needs it, for each operation of the capstone (19.b): the same run without the learner's operation and with it.

Everything runs on the learner's engine: their Tensor and Value in one graph, their backward, their optimiser. `trained` is what chapter 19
calls. What does not live here: the operations (exercises/ch19.py) and how they are judged (exercises/_capstone.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .growing import of_values, on_your_tensors


class Engine(NamedTuple):
    """The learner's classes and functions, as check.engine and check.mine return them."""

    Value: Any
    Tensor: Any
    backward: Callable
    step: Callable


class Trained(NamedTuple):
    """What one training shows: a question, two lines over the same x by name, and a sentence with what was measured."""

    question: str
    x: list[float]
    lines: dict[str, list[float]]
    axes: tuple[str, str]
    says: str
    points: tuple[list[float], list[float]] | None = None


def entries(Value: Any, tensor: Any) -> list[Any]:
    """The numbers of a tensor as single Values, which pass their gradients back into it."""

    def one(k: int, number: float) -> Any:
        out = Value(float(number), (tensor,), "entry")

        def _backward() -> None:
            tensor.grad.reshape(-1)[k] += out.grad

        out._backward = _backward
        return out

    return [one(k, number) for k, number in enumerate(tensor.data.ravel())]


def each(engine: Engine, operation: Callable) -> Callable:
    """An operation on one Value as an operation on all numbers of a tensor."""
    return lambda tensor: of_values(
        engine.Tensor, [operation(v) for v in entries(engine.Value, tensor)], tensor.data.shape
    )


def _parameters(Tensor: Any, rng: Any, *shapes: tuple[int, ...], scale: float = 1.0) -> list[Any]:
    return [Tensor(rng.normal(0, scale / math.sqrt(shape[-1]), shape)) for shape in shapes]


def _gelu(engine: Engine, gelu: Callable) -> Trained:
    """Ten units through sixteen points of a wave."""
    x = np.linspace(-1, 1, 16)[:, None]
    fine, wave = np.linspace(-1, 1, 201)[:, None], lambda v: np.sin(4 * v)
    lines, off = {}, {}
    for name, act in (("with relu", lambda h: h.relu()), ("with your gelu", each(engine, gelu))):
        rng = np.random.default_rng(0)
        W, V = _parameters(engine.Tensor, rng, (10, 1), (1, 10), scale=3.0)
        b, c = (engine.Tensor(rng.normal(0, 0.5, n)) for n in (10, 1))
        net = lambda v, W=W, V=V, b=b, c=c, act=act: act(engine.Tensor(v) @ W.T + b) @ V.T + c  # noqa: E731
        update = on_your_tensors(engine.step, decay=0.0)
        for _ in range(1500):
            engine.backward(((net(x) - wave(x)) ** 2).sum() / 16)
            update([W, V, b, c], 0.02)
        lines[name] = net(fine).data[:, 0].tolist()
        off[name] = float(np.sqrt(((net(fine).data - wave(fine)) ** 2).mean()))
    says = ", ".join(f"{name} {error:.3f}" for name, error in off.items())
    return Trained(
        "Ten units learn sixteen points of a wave. What happens between the points?",
        fine[:, 0].tolist(), lines, ("x", "output"), f"How far the network is from the wave between the points: {says}.",
        (x[:, 0].tolist(), wave(x)[:, 0].tolist()),
    )  # fmt: skip


PATTERN = np.array([-1.0, -0.5, 0.5, 2.0, 0.5, -0.5, -1.0])


def _signal(rng: Any, there: bool, length: int = 24) -> tuple[Any, int]:
    x, at = rng.normal(0, 0.6, length), int(rng.integers(0, length - 6))
    x[at : at + 7] += PATTERN if there else 0.0
    return x, at


def _conv1d(engine: Engine, conv1d: Callable) -> Trained:
    """Where is the pattern? A kernel learns it from noisy signals in which its place is told."""
    rng = np.random.default_rng(0)
    k = [engine.Value(float(v)) for v in rng.normal(0, 0.1, 7)]
    tests = [_signal(rng, True) for _ in range(200)]

    def found() -> int:
        kernel = np.array([v.data for v in k])
        return sum(int(np.correlate(x, kernel, "valid").argmax()) == at for x, at in tests)

    seen, first = [], np.array([v.data for v in k])
    for number in range(201):
        if number % 20 == 0:
            seen.append(found())
        x, at = _signal(rng, True)
        scores = conv1d([engine.Value(float(v)) for v in x], k)
        engine.backward(_picked(engine, scores, at))
        for v in k:
            v.data -= 0.1 * v.grad
            v.grad = 0.0
    learnt = np.array([v.data for v in k])
    like = float(np.corrcoef(learnt, PATTERN)[0, 1])
    return Trained(
        "A pattern of seven numbers is hidden in noise. Which kernel finds it?", list(range(7)),
        {"before": first.tolist(), "learnt": learnt.tolist(), "the pattern": PATTERN.tolist()}, ("entry", "kernel"),
        f"The pattern is found in {seen[0]} of 200 new signals before the training and in {seen[-1]} after it. "
        f"Kernel and pattern correlate with {like:.2f}.",
    )  # fmt: skip


def _picked(engine: Engine, scores: Sequence[Any], right: int) -> Any:
    """−log of the probability of the right one among some scores, as one node."""
    top = max(s.data for s in scores)
    p = np.exp([s.data - top for s in scores])
    p /= p.sum()
    out = engine.Value(-math.log(p[right]), tuple(scores), "cross-entropy")

    def _backward() -> None:
        for k, s in enumerate(scores):
            s.grad += (float(p[k]) - (k == right)) * out.grad

    out._backward = _backward
    return out


def _logsumexp(engine: Engine, logsumexp: Callable) -> Trained:
    """The same pattern, told only whether it is there: what pools the scores of all places?"""
    pools: dict[str, Callable] = {
        "their mean": lambda zs: sum(zs[1:], zs[0]) * (1 / len(zs)),
        "your logsumexp": logsumexp,
    }
    lines, rights = {}, {}
    for name, pool in pools.items():
        rng = np.random.default_rng(1)
        k, b = engine.Tensor(rng.normal(0, 0.3, (1, 7))), engine.Tensor(np.zeros(1))
        update, losses = on_your_tensors(engine.step, decay=0.0), []

        def scores(count: int, rng: Any = rng, k: Any = k, b: Any = b, pool: Any = pool) -> tuple[Any, Any]:
            there = rng.integers(0, 2, count)
            x = np.stack([_signal(rng, bool(yes))[0] for yes in there])
            windows = np.lib.stride_tricks.sliding_window_view(x, 7, axis=1)
            z = entries(engine.Value, engine.Tensor(windows.reshape(-1, 7)) @ k.T)
            size = windows.shape[1]
            pooled = [pool(z[i * size : (i + 1) * size]) for i in range(count)]
            return of_values(engine.Tensor, pooled, (count,)) + b, there * 2.0 - 1

        for _ in range(120):
            z, sign = scores(16)
            loss = (1 + (z * -sign).exp()).log().sum() / 16
            engine.backward(loss)
            update([k, b], 0.05)
            losses.append(float(loss.data))
        lines[name] = [float(np.mean(losses[max(0, i - 9) : i + 1])) for i in range(len(losses))]
        z, sign = scores(200)
        rights[name] = int(((z.data > 0) == (sign > 0)).sum())
    says = ", ".join(f"{right} of 200 with {name}" for name, right in rights.items())
    return Trained(
        "Is the pattern there? Nobody says where. What makes one answer of the scores of all places?",
        list(range(120)), lines, ("step", "loss"), f"Right answers about new signals: {says}.",
    )  # fmt: skip


def _batch_norm(engine: Engine, batch_norm: Callable) -> Trained:
    """Eight layers of tanh with small first weights: does anything arrive at the first layer?"""
    from ..datasets import moons

    points, labels = moons(32, seed=0)
    x, sign = points.numpy().astype(float), labels.numpy() * 2.0 - 1

    def tanh(h: Any) -> Any:
        return 2 / (1 + (h * -2).exp()) - 1

    def normed(h: Any) -> Any:
        columns = [batch_norm(entries(engine.Value, row), 1e-3) for row in _rows(engine, h.T)]
        return of_values(engine.Tensor, [v for column in columns for v in column], h.T.shape).T

    lines = {}
    for name, norm in (("without", lambda h: h), ("with your batch_norm", normed)):
        rng = np.random.default_rng(0)
        weights = _parameters(engine.Tensor, rng, (6, 2), *[(6, 6)] * 7, (1, 6), scale=0.5)
        losses = []
        for _ in range(60):
            h = engine.Tensor(x)
            for W in weights[:-1]:
                h = tanh(norm(h @ W.T))
            score = (h @ weights[-1].T).sum(1)
            loss = (1 + (score * -sign[:, None]).exp()).log().sum() / len(x)
            engine.backward(loss)
            for W in weights:
                W.data, W.grad = W.data - 0.5 * W.grad, np.zeros(W.data.shape)
            losses.append(float(loss.data))
        lines[name] = losses
    says = " and ".join(f"{losses[-1]:.2f} {name}" for name, losses in lines.items())
    return Trained(
        "Eight layers of tanh with small first weights have to separate two moons. Do they learn?",
        list(range(60)), lines, ("step", "loss"), f"The loss ends at {says}. Guessing costs {math.log(2):.2f}.",
    )  # fmt: skip


def _rows(engine: Engine, tensor: Any) -> list[Any]:
    """The rows of a tensor as tensors that pass their gradients back into it."""

    def one(i: int) -> Any:
        out = engine.Tensor(tensor.data[i], (tensor,), "row")

        def _backward() -> None:
            tensor.grad[i] += out.grad

        out._backward = _backward
        return out

    return [one(i) for i in range(len(tensor.data))]


def _fixed_point(engine: Engine, fixed_point: Callable) -> Trained:
    """A calculator is set to press cos of a times the number, again and again. Which a was it, from where it settled?"""
    rng, truth = np.random.default_rng(0), 0.62
    factors = np.linspace(0.3, 1.4, 12)

    def settles(a: float) -> float:
        x = 1.0
        for _ in range(300):
            x = math.cos(a * x)
        return x

    seen = [settles(truth * f) + float(rng.normal(0, 0.01)) for f in factors]
    a, path = engine.Value(0.1), []
    for _ in range(60):
        path.append(a.data)
        loss = engine.Value(0.0)
        for f, x in zip(factors, seen, strict=True):
            loss = loss + (fixed_point(a * float(f)) - x) ** 2
        engine.backward(loss)
        a.data -= 0.15 * a.grad
        a.grad = 0.0
    return Trained(
        "A calculator settles where x = cos(a·x). Which a was it, if you only see where it settled?",
        list(range(60)), {"your a": path, "the true a": [truth] * 60}, ("step", "a"),
        f"From 12 noisy resting places, a = {path[-1]:.3f}. It was {truth}. No round of the calculator is in the graph.",
    )  # fmt: skip


def _lstm_cell(engine: Engine, lstm_cell: Callable) -> Trained:
    """A sign, then noise, then the question which sign it was."""
    long, samples, units = 40, 8, 4

    def tanh(h: Any) -> Any:
        return 2 / (1 + (h * -2).exp()) - 1

    lines = {}
    for name, gates in (("a tanh cell", 1), ("your lstm_cell", 4)):
        rng = np.random.default_rng(0)
        W = _parameters(engine.Tensor, rng, *[(units, units)] * gates)
        U = [engine.Tensor(rng.normal(0, 0.5, (units, 1))) for _ in range(gates)]
        b = [engine.Tensor(np.full(units, 5.0 if gates == 4 and k == 0 else 0.0)) for k in range(gates)]
        V, v = engine.Tensor(rng.normal(0, 0.5, (1, units))), engine.Tensor(np.zeros(1))
        params, update, losses = [*W, *U, *b, V, v], on_your_tensors(engine.step, decay=0.0), []
        for _ in range(80):
            signal = rng.normal(0, 0.5, (long, samples, 1))
            sign = signal[0] = rng.integers(0, 2, (samples, 1)) * 2.0 - 1
            h = c = engine.Tensor(np.zeros((samples, units)))
            for s in signal:
                z = [engine.Tensor(s) @ u.T + h @ w.T + bias for u, w, bias in zip(U, W, b, strict=True)]
                if gates == 1:
                    h = tanh(z[0])
                else:
                    parts = zip(*(entries(engine.Value, t) for t in (c, *z)), strict=True)
                    pairs = [lstm_cell(*five) for five in parts]
                    c, h = (of_values(engine.Tensor, list(part), (samples, units)) for part in zip(*pairs, strict=True))
            loss = ((h @ V.T + v - sign) ** 2).sum() / samples
            engine.backward(loss)
            update(params, 0.05)
            losses.append(float(loss.data))
        lines[name] = [float(np.mean(losses[max(0, i - 9) : i + 1])) for i in range(len(losses))]
    says = " and ".join(f"{losses[-1]:.2f} with {name}" for name, losses in lines.items())
    return Trained(
        f"A sign is shown once, then {long - 1} steps of noise, then the question which sign it was. Who remembers?",
        list(range(80)), lines, ("step", "loss"), f"The loss ends at {says}. Guessing costs 1.",
    )  # fmt: skip


TRAININGS = {
    "gelu": _gelu, "conv1d": _conv1d, "logsumexp": _logsumexp, "batch_norm": _batch_norm, "fixed_point": _fixed_point,
    "lstm_cell": _lstm_cell,
}  # fmt: skip


def trained(name: str, operation: Callable, engine: Engine) -> Trained:
    """The training of the operation with this name. Raises KeyError for another name."""
    return TRAININGS[name](engine, operation)
