"""Drivers of chapter 14: cross-entropy."""

from __future__ import annotations

from typing import Any

from ..plain import MISSING, odd
from .calls import by_hand, import_torch
from .ch05 import own_engine, users_first
from .ch09 import call_arrays, lend, library_tensor, run_tensors


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


def library_cross_entropy(z: Any, targets: Any, smoothing: float = 0.0) -> Any:
    """What 14.b2 returns, from the library."""
    torch = import_torch()
    scores = torch.tensor(z, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(scores, torch.tensor(targets), label_smoothing=smoothing)
    loss.backward()
    return loss.item(), scores.grad.numpy()


def library_rms_norm(x: Any, gamma: Any, eps: float = 1e-5, g: Any = None) -> Any:
    """RMSNorm of rows from the library; with the gradient g at the result, the gradients at x and gamma."""
    torch = import_torch()
    leaves = [torch.tensor(a, requires_grad=True) for a in (x, gamma)]
    out = torch.nn.functional.rms_norm(leaves[0], (x.shape[1],), weight=leaves[1], eps=eps)
    if g is None:
        return out.detach().numpy()
    out.backward(torch.tensor(g))
    return tuple(leaf.grad.numpy() for leaf in leaves)


def library_operations(Tensor: Any) -> Any:
    """The two operations of 14.c2 with the library's derivatives: what an answer is compared with."""

    def cross_entropy(z: Any, targets: Any, smoothing: float = 0.0) -> Any:
        loss, at_z = library_cross_entropy(z.data, targets, smoothing)
        out = Tensor(loss, (z,), "cross_entropy")

        def _backward() -> None:
            z.grad += out.grad * at_z

        out._backward = _backward
        return out

    def rms_norm(x: Any, gamma: Any, eps: float = 1e-5) -> Any:
        out = Tensor(library_rms_norm(x.data, gamma.data, eps), (x, gamma), "rms_norm")

        def _backward() -> None:
            for a, g in zip((x, gamma), library_rms_norm(x.data, gamma.data, eps, out.grad), strict=True):
                a.grad += g

        out._backward = _backward
        return out

    return cross_entropy, rms_norm


def two_operations(
    entry: Any, which: str, inputs: dict[str, list], settings: dict[str, Any], weights: float, uses: int
) -> Any:
    """Value and gradients of one of the two, on tensors that are results; see run_tensors."""
    import numpy as np

    lend(
        entry,
        cross_entropy_rows=library_cross_entropy,
        rms_norm_backward=lambda g, x, gamma, eps=1e-5: library_rms_norm(x, gamma, eps, g),
    )
    Tensor = library_tensor()
    cross_entropy, rms_norm = entry(Tensor)
    given = {key: np.array(value) if isinstance(value, list) else value for key, value in settings.items()}
    operation = cross_entropy if which == "cross-entropy" else rms_norm
    return run_tensors(Tensor, lambda *operands: operation(*operands, **given), inputs, weights, uses)
