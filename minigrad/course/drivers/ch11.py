"""Drivers of chapter 11: products with the Hessian, and the largest step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..plain import plain
from .calls import import_torch


def _hvp_setup(n: int, seed: int) -> tuple[Any, Any, Any]:
    """x, v and a for f(x) = sum(x⁴)/12 + (a·x)²/2: its gradient is x³/3 + (a·x) a, its Hessian diag(x²) + a aᵀ."""
    import numpy as np

    a, x, v = np.random.default_rng(seed).normal(size=(3, n))
    return x, v, a


def _hvp_function(a: Any, passes: list[int]) -> Callable:
    """The f of _hvp_setup for tensors. Every backward pass through it is noted."""
    torch = import_torch()
    a = torch.tensor(a)

    def f(x: Any) -> Any:
        y = x * 1.0
        if y.requires_grad:
            y.register_hook(lambda g: passes.append(1))
        return (y**4).sum() / 12 + (a @ y) ** 2 / 2

    return f


def hvp_autograd(entry: Any, n: int, seed: int) -> Any:
    """What the learner's hvp returns, and whether x and its .grad are as they were."""
    torch = import_torch()
    x, v, a = _hvp_setup(n, seed)
    leaf = torch.tensor(x, requires_grad=True)
    product = entry(_hvp_function(a, []), leaf, torch.tensor(v))
    return {"H v": product, "x is as it was": leaf.tolist() == x.tolist() and leaf.requires_grad, "x.grad": leaf.grad}


def hvp_work(entry: Any, n: int, seed: int) -> Any:
    """How often the learner's hvp goes backward through f, and how much memory it takes at its peak, in rows of n numbers."""
    import tracemalloc

    torch = import_torch()
    x, v, a = _hvp_setup(n, seed)
    passes: list[int] = []
    leaf, f, v = torch.tensor(x, requires_grad=True), _hvp_function(a, passes), torch.tensor(v)
    tracemalloc.start()
    try:
        entry(f, leaf, v)
        return {"passes": len(passes), "rows": tracemalloc.get_traced_memory()[1] // (8 * n)}
    finally:
        tracemalloc.stop()


def _nudged(entry: Any) -> Any:
    """The second function of the same cell."""
    return entry.__globals__.get("hvp_nudged") or (lambda *_: None)


def hvp_nudged(entry: Any, n: int, seed: int) -> Any:
    """The result of the learner's hvp_nudged for a gradient in numpy, the number of its gradient calls, whether x and v are unchanged."""
    x, v, a = _hvp_setup(n, seed)
    before, calls = (x.tolist(), v.tolist()), []

    def grad(t: Any) -> Any:
        calls.append(1)
        return t**3 / 3 + (a @ t) * a

    product = _nudged(entry)(grad, x, v)
    return {"H v": product, "calls of grad": len(calls), "x and v are as they were": (x.tolist(), v.tolist()) == before}


def bowl(eigenvalues: list[float], seed: int) -> tuple[Any, Any]:
    """A quadratic loss with these eigenvalues, and where to begin: turned into any direction, or along the axes when there are many."""
    import numpy as np

    torch, n = import_torch(), len(eigenvalues)
    rng = np.random.default_rng(seed)
    start = torch.tensor(rng.normal(size=n), requires_grad=True)
    if n > 100:
        d = torch.tensor(rng.permutation(eigenvalues))
        return (lambda w: (d * w * w).sum() / 2 - w.sum()), start
    q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    h = torch.tensor((q * np.array(eigenvalues)) @ q.T)
    return (lambda w: w @ (h @ w) / 2 - w.sum()), start


def largest_step(entry: Any, eigenvalues: list[float], seed: int) -> Any:
    """The learner's learning rate for a bowl, also in units of the largest stable one, and how many products it took, and columns of H."""
    torch, products, columns = import_torch(), [], set()

    def hvp(f: Any, x: Any, v: Any) -> Any:
        products.append(1)
        if int((v != 0).sum()) == 1:
            columns.add(int(v.abs().argmax()))
        return torch.autograd.functional.hvp(f, x.detach(), v)[1]

    state = torch.get_rng_state()
    torch.manual_seed(seed)
    try:
        lr = entry(*bowl(eigenvalues, seed), hvp)
    finally:
        torch.set_rng_state(state)
    lr = plain(lr)
    return {
        "lr": lr,
        "of the largest": lr * max(eigenvalues) / 2 if isinstance(lr, float) else None,
        "products": len(products),
        "columns": len(columns),
    }
