"""Drivers of chapter 14: cross-entropy."""

from __future__ import annotations

from typing import Any

from ..plain import MISSING, odd
from .calls import by_hand
from .ch05 import own_engine, users_first
from .ch09 import call_arrays


def cross_entropy_value(entry: Any, numbers: list[float], target: int, seed: float, places: list[int] | None) -> Any:
    """The loss of scores on the learner's engine, and their gradients. `places`: which score goes where, if one is used twice."""
    Value, _ = own_engine(entry)
    scores = [Value(x) for x in numbers]
    loss = entry([scores[k] for k in places or range(len(scores))], target)
    order = users_first(loss)
    loss.grad = seed
    for node in order:
        node._backward()
    return {"loss": loss.data, "gradients": [s.grad for s in scores]}


def cross_entropy_records(entry: Any, numbers: list[float]) -> Any:
    """What the loss remembers."""
    Value, _ = own_engine(entry)
    scores = [Value(x) for x in numbers]
    loss = entry(scores, 0)
    return {
        "a Value": isinstance(loss, Value),
        "parents are the scores": {id(p) for p in loss._prev} == {id(s) for s in scores},
    }


def cross_entropy_rows(entry: Any, z: list[list[float]], targets: list[int], smoothing: float) -> Any:
    import numpy as np

    return call_arrays(lambda rows, part: entry(rows, np.array(targets), part), z, smoothing)


def vocabulary(rows: int, classes: int, seed: int) -> Any:
    """Scores for a large vocabulary, and targets."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return 5 * rng.normal(size=(rows, classes)), rng.integers(0, classes, rows)


def cross_entropy_vocabulary(entry: Any, rows: int, classes: int, seed: int) -> Any:
    """Loss and gradient for many classes, of which a few numbers are enough."""
    z, targets = vocabulary(rows, classes, seed)
    with by_hand():
        loss, at_z = entry(z, targets, 0.1)
    return {
        "loss": float(loss),
        "gradient at the targets": [float(at_z[i, t]) for i, t in enumerate(targets)],
        "length of the gradient": float((at_z**2).sum() ** 0.5),
    }


def _network(seed: int, top: float) -> tuple[Any, ...]:
    """Letters, targets and parameters of the network of exercise 14.d. `top` is added to some scores."""
    import numpy as np

    rng = np.random.default_rng(seed)
    chars, targets = rng.integers(0, 4, (7, 3)), rng.integers(0, 4, 7)
    shapes = ((4, 2), (5, 6), (5,), (5,), (5,), (4, 5), (4,))  # C, W1, b1, gamma, beta, W2, b2
    parameters = [rng.normal(size=shape) for shape in shapes]
    parameters[-1][0] += top
    return chars, targets, *parameters


def network_gradient(entry: Any, name: str, seed: int, top: float) -> Any:
    """One of the gradients that the learner's function gives."""
    with by_hand():
        grads = entry(*_network(seed, top))
    if not isinstance(grads, dict):
        return odd("a dict is needed, with an array for each name")
    return grads[name] if name in grads else odd(MISSING)
