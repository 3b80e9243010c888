"""Small neural networks over `Value`: `Neuron`, `Layer`, `MLP`, with micrograd's names.

What lives here: modules that hold Values and compute with them, one number at a time. What does not: training loops, losses and data
(the course writes those), layers over tensors (minigrad/nn).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any
from weakref import ref

from .scalar import Value
from .tracing import module_calls

__all__ = ["Module", "Neuron", "Layer", "MLP"]


class Module:
    """Something with parameters."""

    def parameters(self) -> list[Value]:
        """Every Value that training may change, in a fixed order."""
        return []

    def zero_grad(self) -> None:
        """Empty every parameter's `grad`: `backward()` adds to its present value."""
        for p in self.parameters():
            p.grad = 0.0


class Neuron(Module):
    """activation(w[0] * x[0] + ... + b), with `nin` weights drawn from -1 to 1 and b = 0.

    nonlin: True (or "relu"), "tanh", "sigmoid", or False (or None) for a plain sum. rng: where the weights are drawn from, a
    `random.Random` or a seed; by default the `random` module, as in micrograd.

    >>> n = Neuron(2, rng=0)
    >>> n
    ReLUNeuron(2)
    >>> len(n.parameters()), n([1.0, 2.0]).data == (n.w[0].data * 1 + n.w[1].data * 2)
    (3, True)

    Raises ValueError for an unknown nonlin, and when called with another number of inputs than `nin`.
    """

    def __init__(self, nin: int, nonlin: bool | str | None = True, rng: random.Random | int | None = None):
        draw = _rng(rng).uniform
        self.w = [Value(draw(-1, 1)) for _ in range(_size(nin, "inputs"))]
        self.b = Value(0.0)
        self.nonlin = nonlin
        self._activation = _activation(nonlin)

    def __call__(self, x: Sequence[Value | float]) -> Value:
        if len(x) != len(self.w):
            raise ValueError(
                f"this neuron has {len(self.w)} weights, one for each input, but was given {len(x)} inputs."
            )
        out = self.b
        for w, v in zip(self.w, x, strict=True):
            out = out + w * v
        return getattr(out, self._activation)() if self._activation else out

    def parameters(self) -> list[Value]:
        return [*self.w, self.b]

    def __repr__(self) -> str:
        return f"{_SHOWN[self._activation]}Neuron({len(self.w)})"


class Layer(Module):
    """`nout` neurons that look at the same `nin` inputs. Called with a list, returns a list of `nout` Values (one Value for nout = 1)."""

    def __init__(self, nin: int, nout: int, nonlin: bool | str | None = True, rng: random.Random | int | None = None):
        rng = _rng(rng)
        self.neurons = [Neuron(nin, nonlin, rng) for _ in range(_size(nout, "neurons"))]

    def __call__(self, x: Sequence[Value | float]) -> Value | list[Value]:
        out = [neuron(x) for neuron in self.neurons]
        module_calls.VALUES.append((out[0]._seq, out[-1]._seq, ref(self)))  # so that a graph can be folded by module
        return out[0] if len(out) == 1 else out

    def parameters(self) -> list[Value]:
        return [p for neuron in self.neurons for p in neuron.parameters()]

    def __repr__(self) -> str:
        return f"Layer of [{', '.join(map(str, self.neurons))}]"


class MLP(Module):
    """Layers one after the other: `nin` inputs, then `nouts[0]`, `nouts[1]`, ... neurons. The last layer has no activation.

    >>> model = MLP(2, [16, 16, 1], rng=1337)
    >>> len(model.parameters())
    337
    >>> type(model([1.0, -2.0])).__name__
    'Value'
    """

    def __init__(
        self, nin: int, nouts: Sequence[int], nonlin: bool | str | None = True, rng: random.Random | int | None = None
    ):
        rng = _rng(rng)
        sizes = [nin, *nouts]
        if not nouts:
            raise ValueError("an MLP needs at least one layer: MLP(2, [16, 16, 1]) has three.")
        last = len(nouts) - 1
        self.layers = [
            Layer(a, b, nonlin if i < last else False, rng) for i, (a, b) in enumerate(zip(sizes, nouts, strict=False))
        ]

    def __call__(self, x: Sequence[Value | float]) -> Value | list[Value]:
        out: Any = x
        for layer in self.layers:
            out = layer([out] if isinstance(out, Value) else out)  # a layer of one neuron returns the bare Value
        return out

    def parameters(self) -> list[Value]:
        return [p for layer in self.layers for p in layer.parameters()]

    def __repr__(self) -> str:
        return f"MLP of [{', '.join(map(str, self.layers))}]"


_SHOWN = {"relu": "ReLU", "tanh": "Tanh", "sigmoid": "Sigmoid", "": "Linear"}


def _activation(nonlin: bool | str | None) -> str:
    name = "relu" if nonlin is True else nonlin or ""
    if name not in _SHOWN:
        raise ValueError(f"nonlin={nonlin!r} is not known: use 'relu', 'tanh', 'sigmoid', or None for no activation.")
    return name


def _rng(rng: random.Random | int | None) -> Any:
    return random if rng is None else random.Random(rng) if isinstance(rng, int) else rng


def _size(n: int, what: str) -> int:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"the number of {what} must be a whole number from 1 up, but is {n!r}.")
    return n
