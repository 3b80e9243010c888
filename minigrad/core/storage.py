"""Where an array lies: the memory that it shares with others, so that copies and files can share it again.

What does not live here: views as the graph knows them (variable.py).
"""

import numpy as np

from .dtypes import native


def place_of(array):
    """(owner of the memory, offset, strides), in elements. An array that is alone, or cannot be placed, is its own owner."""
    owner = array
    while type(owner.base) is np.ndarray:
        owner = owner.base
    dense = owner.flags.c_contiguous or owner.flags.f_contiguous
    if type(owner) is not np.ndarray or not dense or owner.dtype != array.dtype or not array.size:
        owner = np.array(array)
        return owner, 0, tuple([s // owner.itemsize for s in owner.strides])
    offset = array.ctypes.data - owner.ctypes.data
    return owner, offset // array.itemsize, tuple([s // array.itemsize for s in array.strides])


def array_at(owner, offset, shape, strides):
    """The array of `shape` in the memory of `owner`. Raises ValueError if it would reach beyond."""
    owner = native(owner)
    flat = owner.reshape(-1) if owner.flags.c_contiguous else owner.T.reshape(-1)
    size = owner.itemsize
    return np.ndarray(tuple(shape), flat.dtype, flat, offset * size, [s * size for s in strides])
