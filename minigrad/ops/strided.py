"""Rows: views by strides over the storage of another tensor, and a view that is made again after a write.

What does not live here: views that keep the order of the elements (shape.py).
"""

import builtins
import math

import numpy as np

from ..core import errors, variable
from ..core.dispatch import handling_none
from ..core.grad_mode import enable_grad
from ..core.op import LINEAR, Op
from .index import index_backward
from .shape import copy_slices, reshape

# fmt: off
as_strided  = Op("as_strided",  lambda x, replay: replay(x),                      LINEAR, view=True, x=lambda g, x_shape, replay: _place(g, x_shape, replay))  # a view after a write
strided     = Op("strided",     lambda x, size, stride, offset: _strided(x, size, stride, offset), LINEAR, view=True, node="AsStridedBackward0",
                 x=lambda g, x_shape, size, stride, offset: _strided_rule(g, x_shape, size, stride, offset),
                 words={"x": "g added back at the places that were read"})
# fmt: on


def _place(g, x_shape, replay):
    """Zeros of `x_shape` with `g` added where the view is; an expanded or unfolded view has several elements in one place."""
    if any([op.name in ("expand", "unfold") for op, _, _ in replay]):
        places = replay(np.arange(math.prod(x_shape)).reshape(x_shape)).reshape(-1)
        return reshape(index_backward(reshape(g, (-1,)), (places,), (math.prod(x_shape),)), x_shape)
    return copy_slices(np.zeros(x_shape, getattr(g, "array", g).dtype), g, replay)


def _strided(x, size, stride, offset):
    if not x.flags.c_contiguous:
        raise ValueError("strides are those of a contiguous array")
    return np.lib.stride_tricks.as_strided(x.reshape(-1)[offset:], size, [n * x.itemsize for n in stride])


def _strided_rule(g, x_shape, size, stride, offset):
    """Each element goes back to its place; several may share one."""
    n = math.prod(x_shape)
    places = _strided(np.arange(n), size, stride, offset).reshape(-1)
    return reshape(index_backward(reshape(g, (-1,)), (places,), (n,)), x_shape)


def as_strided_(input, size, stride, storage_offset=None):
    """The view with these sizes and strides (in elements) over the storage of a contiguous `input`; elements may come more than once."""
    size, stride, offset = tuple(size), tuple(stride), storage_offset or 0
    if not input.array.flags.c_contiguous:
        raise RuntimeError("minigrad's as_strided() needs a contiguous tensor. Write x.contiguous().as_strided(...).")
    needed = offset + 1 + builtins.sum([(n - 1) * s for n, s in zip(size, stride, strict=True)]) if math.prod(size) else 0
    if needed > input.numel():
        itemsize = input.array.itemsize
        raise errors.new(
            RuntimeError,
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {itemsize} requiring a storage size of "
            f"{needed * itemsize} are out of bounds for storage of size {input.numel() * itemsize}",
            instead="choose sizes and strides that stay within the tensor.",
        )
    return strided(input, size, stride, offset)


def _view_again(base, replay):
    """The view that `replay` makes of `base`, with its history starting at the base's. If it has none, the view keeps a node all the same."""
    if not base.requires:
        base = variable.alias(base)
        base.requires = True
    with enable_grad(), handling_none():
        return as_strided(base, replay)


variable.view_again = _view_again
