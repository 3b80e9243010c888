"""The device "meta": tensors with a shape and a dtype, and no numbers.

What lives here: `MetaArray`, which stands where other tensors have an ndarray, and `run`, which finds the shape and the dtype of an
operation's result. minigrad has no rules for shapes: an operation is run on zeros, which are dropped afterwards. So it takes the time and,
for a moment, the memory of the real one; what is saved is what the tensors would hold. There is no backward pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors

if TYPE_CHECKING:
    from .op import Op


SHAPED_BY_NUMBERS = {"bincount", "masked_select", "nonzero", "unique", "unique_consecutive", "unique_dim"}


class NoNumbersError(NotImplementedError, TypeError):
    """The numbers of a meta tensor are asked for: PyTorch's NotImplementedError, and a TypeError, which operations take as the sign that
    their inputs are not plain."""


NoNumbersError.__name__ = NoNumbersError.__qualname__ = "NotImplementedError"  # what a traceback says
NoNumbersError.__module__ = "builtins"


def no_numbers(what: str = "its numbers were asked for") -> NoNumbersError:
    """The error of an operation that needs numbers; `what` says, as a clause, which."""
    return errors.new(
        NoNumbersError,
        "Cannot copy out of meta tensor; no data!",
        f'A tensor on the device "meta" has a shape and a dtype only, and {what}.',
        "",
        'make the tensor without device="meta"; a module gets numbers with module.to_empty(device="cpu"), then load_state_dict.',
    )


class MetaArray:
    """A shape and a dtype, with those attributes of a contiguous ndarray that depend on nothing else."""

    __slots__ = ("dtype", "shape")
    base = None

    def __init__(self, shape: Sequence[int], dtype: np.dtype) -> None:
        self.shape, self.dtype = tuple(shape), dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(math.prod(self.shape[d + 1 :]) * self.itemsize for d in range(self.ndim))

    @property
    def flags(self) -> Any:
        return np.empty(0).flags

    def __len__(self) -> int:
        return self.shape[0]

    def astype(self, dtype: Any, copy: bool = True) -> MetaArray:
        return MetaArray(self.shape, np.dtype(dtype))

    def copy(self, order: str = "C") -> MetaArray:
        return self

    def zeros(self) -> np.ndarray:
        return np.zeros(self.shape, self.dtype)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise no_numbers()

    __array__ = __array_ufunc__ = __getitem__ = __setitem__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = (
        _refuse
    )
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__array_interface__":
            raise AttributeError(name)
        raise no_numbers()


def run(op: Op, arrays: Sequence[Any], params: Sequence[Any]) -> Any:
    """op.forward where some arrays are meta: a MetaArray, or a tuple of them."""
    if op.name in SHAPED_BY_NUMBERS:
        raise no_numbers(f"the shape of {op.name}'s result depends on them")
    zeros = [a.zeros() if isinstance(a, MetaArray) else a for a in arrays]
    with np.errstate(all="ignore"):
        r = op.forward(zeros, *params) if op.tensor_list else op.forward(*zeros, *params)
    return tuple(map(_dropped, r)) if isinstance(r, (tuple, list)) else _dropped(r)


def _dropped(r: Any) -> MetaArray:
    r = np.asarray(r)
    return MetaArray(r.shape, r.dtype)


def asarray(r: Any) -> Any:
    """np.asarray of what an operation has computed, which may be a MetaArray."""
    return r if isinstance(r, MetaArray) else np.asarray(r)
