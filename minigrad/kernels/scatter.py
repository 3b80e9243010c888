"""Adding rows where an index says, on ndarrays; the same place may come often.

What lives here: the numpy twin, and the choice between it and the compiled loop (scatter_numba.py). Both add in the order of the index, so
the results are equal to the last bit. What does not: reading of keys (indexing.py) and recording (ops/index.py, ops/lookup.py).
"""

import numpy as np

from .loading import Compiled
from .positions import sums_from

compiled = Compiled("minigrad.kernels.scatter_numba")
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
INT64 = np.dtype(np.int64)


def warm() -> bool:
    return compiled.load()


def add_at(out, indices, values):
    """out[indices] += values, and each repetition counts. `indices`: whatever numpy takes; a place must exist."""
    index = indices[0] if type(indices) is not np.ndarray and len(indices) == 1 else None
    if type(index) is np.ndarray and index.dtype is INT64 and (kernels := compiled.get(values.size)):
        if (
            out.dtype in FLOATS
            and values.dtype is out.dtype
            and index.flags.carray
            and values.flags.carray
            and out.flags.carray
        ):
            if values.shape == index.shape + out.shape[1:] and values.size:
                if out.ndim == 1:
                    kernels.add_numbers(out, index.reshape(-1), values.reshape(-1))
                else:
                    kernels.add_rows(out.reshape(out.shape[0], -1), index.reshape(-1), values.reshape(index.size, -1))
                return
    np.add.at(out, indices, values)


def rows(index, values, count):
    """Zeros (count, features) with each row of values added at its index."""
    index, values = index.reshape(-1), values.reshape(index.size, values.shape[-1])
    out = np.zeros((count, values.shape[-1]), values.dtype)
    if len(index) < 64 or compiled.kernels is not None:
        add_at(out, (index,), values)
        return out
    compiled.get(values.size)
    # Equal indices side by side: one sum per index, three times as fast as add.at
    order = np.argsort(index, kind="stable")
    in_order = index[order]
    starts = np.flatnonzero(np.r_[True, in_order[1:] != in_order[:-1]])
    out[in_order[starts]] = sums_from(values[order], starts)
    return out
