"""What the course gives to the learner's own tensor engine: the frame of its class, and two bridges. The rules are the learner's.

`frame(Value)` is a Tensor class that cannot compute yet (exercise 09.e teaches it), `of_values` lets a gradcheck for single numbers judge
it, and `on_your_tensors` lets the optimiser of 17.b move it. Chapter 09 shows the first two to learners as they are here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def frame(Value: type) -> Any:
    """A class of tensors with the five attributes of Value. Its `data` and `grad` are arrays; it has no operations yet."""

    class Tensor(Value):
        __array_ufunc__ = None  # array * tensor: numpy leaves it to Tensor.__rmul__

        def unwritten(self, *_):
            raise NotImplementedError("a Tensor cannot do this yet: the rule is yours to write, in 09.e")

        __add__ = __mul__ = __pow__ = __matmul__ = relu = exp = log = sum = unwritten

        @property
        def shape(self):
            return self.data.shape

        @property
        def grad(self):
            return self._grad

        @grad.setter
        def grad(self, g):  # a copy, and only of the right shape
            g = np.array(g, dtype=float)
            if g.shape != self.data.shape:
                raise ValueError(f"a gradient has the shape of its tensor: {self.data.shape}, not {g.shape}")
            self._grad = g

        def __init__(self, data, _prev=(), _op=""):
            self.data = np.array(data, dtype=float)
            self.grad = np.zeros(self.data.shape)
            self._prev = _prev
            self._op = _op
            self._backward = lambda: None

        def __radd__(self, other):
            return self + other

        def __rmul__(self, other):
            return self * other

        def __neg__(self):
            return self * -1

        def __sub__(self, other):
            return self + -1 * other

        def __rsub__(self, other):
            return -self + other

        def __truediv__(self, other):
            return self * other**-1.0

        def __rtruediv__(self, other):
            return self**-1 * other

    return Tensor


def of_values(Tensor: Any, values: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """A Tensor made of single Values, which receive their entries of its gradient: so a graph may contain both."""
    out = Tensor(np.reshape([v.data for v in values], shape), tuple(values), "of values")

    def _backward():
        for v, g in zip(values, out.grad.ravel(), strict=True):
            v.grad += float(g)

    out._backward = _backward
    return out


def on_your_tensors(step: Callable, **settings: Any) -> Callable:
    """The `step` of 17.b as an update for `fit`: it is given tensors that hold your arrays, and what it leaves in them goes back."""
    from minigrad import api as torch

    state: dict = {}

    def update(params: Sequence[Any], lr: float) -> None:
        shared = [torch.from_numpy(p.data).requires_grad_() for p in params]
        for t, p in zip(shared, params, strict=True):
            t.grad = torch.from_numpy(p.grad)
        step(shared, state, lr=lr, **settings)
        for t, p in zip(shared, params, strict=True):
            p.data = t.detach().numpy()  # the same array, unless `step` gave the tensor another one
            p.grad = np.zeros_like(p.data)

    return update
