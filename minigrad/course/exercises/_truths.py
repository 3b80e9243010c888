"""Oracles that need numpy: what the judge compares with, and what must not travel into the worker with the drivers."""

from __future__ import annotations

from ..drivers.calls import import_torch
from ..drivers.ch11 import _hvp_setup
from ..drivers.ch14 import _network


def hvp_truth(n: int, seed: int) -> list[float]:
    """H v for the function of drivers.ch11._hvp_setup, from the closed form of its Hessian."""
    x, v, a = _hvp_setup(n, seed)
    return (x * x * v + (a @ v) * a).tolist()


def network_truth(name: str, seed: int, top: float) -> list:
    """One gradient of the network of exercise 14.d, by autograd."""
    torch = import_torch()
    chars, targets, *parameters = (torch.tensor(a) for a in _network(seed, top))
    C, W1, b1, gamma, beta, W2, b2 = (p.requires_grad_() for p in parameters)
    e = C[chars].reshape(len(chars), -1)
    h = e @ W1.T + b1
    y = torch.nn.functional.batch_norm(h, None, None, gamma, beta, training=True)
    a = torch.tanh(y)
    z = a @ W2.T + b2
    at = {
        "z": z,
        "W2": W2,
        "b2": b2,
        "a": a,
        "y": y,
        "gamma": gamma,
        "beta": beta,
        "h": h,
        "W1": W1,
        "b1": b1,
        "e": e,
        "C": C,
    }
    return torch.autograd.grad(torch.nn.functional.cross_entropy(z, targets), at[name])[0].tolist()
