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
from ..core.storage import array_at, place_of
from ..kernels.positions import bincount
from .index import index_, index_backward
from .shape import copy_slices, reshape

# fmt: off
as_strided  = Op("as_strided",  lambda x, replay: replay(x),                      LINEAR, view=True, x=lambda g, x_shape, replay: _place(g, x_shape, replay))  # a view after a write
strided     = Op("strided",     lambda x, size, stride, start, steps: _strided(x, size, stride, start, steps), LINEAR, view=True, node="AsStridedBackward0",
                 x=lambda g, x_shape, size, stride, start, steps: _strided_rule(g, x_shape, size, stride, start, steps),
                 words={"x": "g added back at the places that were read"})
# fmt: on


def _place(g, x_shape, replay):
    """Zeros of `x_shape` with `g` added where the view is; an expanded or unfolded view has several elements in one place."""
    if any([op.name in ("expand", "unfold", "strided") for op, _, _ in replay]):
        places = replay(np.arange(math.prod(x_shape)).reshape(x_shape)).reshape(-1)
        return reshape(index_backward(reshape(g, (-1,)), (places,), (math.prod(x_shape),)), x_shape)
    return copy_slices(np.zeros(x_shape, getattr(g, "array", g).dtype), g, replay)


def _strided(x, size, stride, start, steps):
    """The view of the storage that begins `start` elements behind `x`. ValueError if `x` does not lie in memory as it did (`steps`)."""
    if 0 in size:  # nothing of the storage
        return np.lib.stride_tricks.as_strided(x.reshape(-1)[:0], size, [s * x.itemsize for s in stride])
    owner, offset, strides = place_of(x)
    if _used(x.shape, strides) != _used(x.shape, steps) or (owner is not x and not np.may_share_memory(owner, x)):
        raise ValueError("strides are those of one storage")
    return array_at(owner, offset + start, size, stride)


def _used(shape, strides):
    return [s for n, s in zip(shape, strides, strict=True) if n > 1]


def _places(shape, strides, start=0):
    """Where the elements lie, counted in elements of the storage."""
    positions = np.array(start)
    for n, s in zip(shape, strides, strict=True):
        positions = positions[..., None] + np.arange(n) * s
    return positions.reshape(-1)


def _strided_rule(g, x_shape, size, stride, start, steps):
    """Each element goes back to its place in the storage, and from there to the elements of the input that lie there, in equal parts."""
    inside, outside = _places(x_shape, steps), _places(size, stride, start)
    lowest = min(inside.min(initial=0), outside.min(initial=0))
    n = int(max(inside.max(initial=0), outside.max(initial=0)) - lowest) + 1
    storage = index_backward(reshape(g, (-1,)), (outside - lowest,), (n,))
    shares = bincount(inside - lowest, minlength=n)[inside - lowest]
    gathered = index_(storage, (inside - lowest,))
    if (shares > 1).any():
        weights = 1 / shares.astype(getattr(g, "array", g).dtype)
        gathered = gathered * (variable.wrap(weights) if isinstance(g, variable.Variable) else weights)
    return reshape(gathered, x_shape)


def as_strided_(input, size, stride, storage_offset=None):
    """The view with these sizes and strides (in elements) over the storage of `input`; elements may come more than once.
    Raises RuntimeError if they reach beyond it."""
    size, stride = tuple(size), tuple(stride)
    owner, offset, steps = place_of(input.array)
    if not np.may_share_memory(owner, input.array) and input.array.size:
        raise RuntimeError(
            "minigrad's as_strided() needs a tensor whose storage is one dense array. Write x.contiguous().as_strided(...)."
        )
    start = 0 if storage_offset is None else storage_offset - offset
    first = offset + start
    needed = (
        first + 1 + builtins.sum([(n - 1) * s for n, s in zip(size, stride, strict=True)]) if math.prod(size) else 0
    )
    if needed > owner.size:
        itemsize = input.array.itemsize
        raise errors.new(
            RuntimeError,
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {first}, and itemsize {itemsize} requiring a storage size of "
            f"{needed * itemsize} are out of bounds for storage of size {owner.nbytes}",
            instead="choose sizes and strides that stay within the storage.",
        )
    return strided(input, size, stride, start, steps)


def _view_again(base, replay):
    """The view that `replay` makes of `base`, with its history starting at the base's. If it has none, the view keeps a node all the same."""
    if not base.requires:
        base = variable.alias(base)
        base.requires = True
    with enable_grad(), handling_none():
        return as_strided(base, replay)


variable.view_again = _view_again
