"""Numbers as tensors: the constants that operations and writes make of Python numbers and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes
from .variable import Variable, meta_of, wrap

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

numbers: dict = {}  # type of the number: {(number, dtype character or None): its 0-d Tensor}; 1, 1.0 and True are equal, but not the same


def constant(value: Any, dtype: Any = None) -> Tensor:
    """A number as a 0-d Tensor of `dtype`, which cannot be written to. Cached, because `x * 0.5` in a loop should not make one each time.

    It never leaves the engine: who asks a node for what it saved gets `number_of` it.
    """
    key = (value, None if dtype is None else dtype.numpy.char)
    hash(key)  # what cannot be hashed is no number, and must not become one of the known types
    tensors = numbers.setdefault(type(value), {})
    tensor = tensors.get(key)
    if tensor is not None and value:  # 0.0 == -0.0, so zeros are not looked up
        return tensor
    array = np.array(value) if dtype is None else dtypes.wrapped(value, dtype)
    array.flags.writeable = False
    t = wrap(array)
    t.version = [0]  # a normal tensor even in inference mode
    meta_of(t).number = value.item() if isinstance(value, np.generic) else value
    if len(tensors) > 1000:
        tensors.clear()
    tensors[key] = t
    return t


def number_of(x: Any) -> float | None:
    """The Python number that was wrapped as the operand `x`, or None if `x` is an ordinary tensor."""
    return x.meta.number if isinstance(x, Variable) and x.meta is not None else None


def as_tensor_like(value: Any, x: Tensor) -> Any:
    """A value to write into `x`: as it is if a Tensor, else made one of x's dtype."""
    if isinstance(value, Variable):
        return value
    if isinstance(value, (int, float)):
        return wrap(np.array(dtypes.fitting(value, x.dtype)))
    return wrap(dtypes.native(np.asarray(value, dtype=x.array.dtype)))


def zeros_like(x: Tensor, requires_grad: bool = False) -> Tensor:
    """Zeros of the shape and dtype of `x`."""
    zeros = wrap(np.zeros_like(x.array))
    zeros.requires = requires_grad
    return zeros
