"""Oracles that need numpy: what the judge compares with, and what must not travel into the worker with drivers.py."""

from __future__ import annotations

from ..drivers import _hvp_setup


def hvp_truth(n: int, seed: int) -> list[float]:
    """H v for the function of drivers._hvp_setup, from the closed form of its Hessian."""
    _, x, v, a = _hvp_setup(n, seed)
    return (x * x * v + (a @ v) * a).tolist()


def hvp_complaint(got: object, n: int, seed: int) -> str | None:
    """None when `got` is H v to four digits, otherwise what is wrong."""
    want = hvp_truth(n, seed)
    if not isinstance(got, list) or len(got) != n or not all(isinstance(g, float) for g in got):
        return "one number per parameter is needed"
    scale = max(abs(w) for w in want)
    return None if max(abs(g - w) for g, w in zip(got, want, strict=True)) <= 1e-5 * scale else "not the product of Hessian and v"
