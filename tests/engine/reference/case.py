"""How a case is written, and where its numbers come from. Imports neither torch nor minigrad: both get the same arrays.

    Case("mul", "x * y", x=N(2, 3), y=N(3))

is a name, an expression (or statements, the last an expression) in which `torch`, `np` and the inputs are bound, and the inputs. What is
recorded for it is in record.py. A line of cases_*.py adds one; then `python -m tests.engine.reference.make`.
"""

from itertools import product
from math import inf, nan
from typing import Any
from zlib import crc32

import numpy as np


class Input:
    """A seeded random array, or given numbers. Floating-point inputs require grad unless `grad=False`."""

    def __init__(
        self, kind: Any, shape: tuple[int, ...] = (), dtype: str = "float64", grad: bool | None = None, high: int = 9
    ):
        self.kind, self.shape, self.dtype, self.high = kind, shape, dtype, high
        self.grad = dtype.startswith("float") if grad is None else grad

    def array(self, seed: str) -> np.ndarray:
        rng = np.random.RandomState(crc32(seed.encode()))  # the stream that numpy has promised never to change
        match self.kind:
            case "normal":
                a = rng.randn(*self.shape)
            case "unit":
                a = rng.uniform(-0.95, 0.95, self.shape)
            case "positive":
                a = rng.uniform(0.2, 3, self.shape)
            case "above one":
                a = rng.uniform(1.1, 3, self.shape)
            case "probability":
                a = rng.uniform(0.05, 0.95, self.shape)
            case "invertible":  # dominated by its diagonal
                a = rng.randn(*self.shape) + 4 * np.eye(self.shape[-1])
            case "distinct":  # in random order, at least 1/2 apart: nothing ties, nothing is near a kink
                a = (rng.permutation(int(np.prod(self.shape))).reshape(self.shape) + 0.25) / 2 - np.prod(self.shape) / 4
            case "integer":
                a = rng.randint(-self.high, self.high + 1, self.shape)
            case "index":
                a = rng.randint(0, self.high, self.shape)
            case "bool":
                a = rng.rand(*self.shape) < 0.5
            case _:
                a = self.kind
        return np.array(a).astype(self.dtype)


def N(*shape: int, **more: Any) -> Input:
    return Input("normal", shape, **more)


def U(*shape: int, **more: Any) -> Input:
    return Input("unit", shape, **more)


def POS(*shape: int, **more: Any) -> Input:
    return Input("positive", shape, **more)


def ABOVE1(*shape: int, **more: Any) -> Input:
    return Input("above one", shape, **more)


def P(*shape: int, **more: Any) -> Input:
    return Input("probability", shape, **more)


def M(*shape: int, **more: Any) -> Input:
    return Input("invertible", shape, **more)


def D(*shape: int, **more: Any) -> Input:
    return Input("distinct", shape, **more)


def I(*shape: int, **more: Any) -> Input:  # noqa: E743
    return Input("integer", shape, **{"dtype": "int64", **more})


def IDX(*shape: int, high: int, **more: Any) -> Input:
    return Input("index", shape, **{"dtype": "int64", "high": high, **more})


def B(*shape: int) -> Input:
    return Input("bool", shape, dtype="bool")


def A(numbers: Any, dtype: str | None = None, **more: Any) -> Input:
    """Given numbers: floats become float64, the others what numpy makes of them."""
    return Input(numbers, dtype=dtype or np.array(numbers).dtype.name, **more)


_SPECIAL = [-inf, -2.0, -1.0, -0.0, 0.0, 0.5, 1.0, inf, nan]
KINKS = A([-inf, -3.0, -2.0, -1.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, inf, nan])
KINKS_X, KINKS_Y = (A(list(side)) for side in zip(*product(_SPECIAL, _SPECIAL), strict=True))


class Case:
    """`second`, `jvp`, `dtypes`, `text` turned off leave out that part of the record (text: an error's message).

    composed  minigrad composes the operation of others: the names of its nodes and what they save are left out
    """

    def __init__(
        self,
        name: str,
        code: str,
        *,
        second: bool = True,
        jvp: bool = True,
        dtypes: bool = True,
        text: bool = True,
        composed: bool = False,
        **inputs: Input,
    ):
        self.name, self.code, self.inputs = name, code, inputs
        self.second, self.jvp, self.dtypes, self.text, self.composed = second, jvp, dtypes, text, composed
        self.family = ""

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: spec.array(f"{self.name} {name}") for name, spec in self.inputs.items()}

    def __repr__(self) -> str:
        return f"{self.family}/{self.name}: {self.code}"


FAMILIES = [
    "elementwise",
    "reduce",
    "shape",
    "index",
    "linalg",
    "neural",
    "factory",
    "inplace",
    "autograd",
    "hooks",
    "errors",
]


def all_cases() -> dict[str, Case]:
    """family/name: case"""
    from importlib import import_module

    found: dict[str, Case] = {}
    for family in FAMILIES:
        for case in import_module(f"{__package__}.cases_{family}").CASES:
            case.family = family
            key = f"{family}/{case.name}"
            if key in found:
                raise ValueError(f"two cases are called {key}")
            found[key] = case
    return found
