"""Rows: order along a dimension. Sorting, the k largest, where the non-zeros are.

What does not live here: maxima and medians (reduce.py). A sort picks each element once, so its gradient puts each one back.
"""

from typing import Any

import numpy as np

from ..core import errors
from ..core.op import GENERAL, Op
from ..core.return_types import named
from ..core.variable import wrap
from ..kernels import positions
from .dims import wrap_dim
from .index import put_along_dim
from .reduce import put


def _sorted_places(x, dim, descending):
    """The positions that sort the elements, stable for equal ones; nan is larger than every number."""
    if x.ndim == 0:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(x, dim, kind="stable")
    n = x.shape[dim]
    return n - 1 - np.flip(np.argsort(np.flip(x, dim), dim, kind="stable"), dim)


def _sort(x, dim, descending):
    places = _sorted_places(x, dim, descending)
    return (x.copy() if x.ndim == 0 else np.take_along_axis(x, places, dim)), places


def _topk(x, k, dim, largest):
    values, places = _sort(x, dim, largest)
    if x.ndim == 0:
        return values, places
    first = (slice(None),) * dim + (slice(k),)
    return values[first], places[first]


def _kth(x, k, dim, keepdim):
    places = _sorted_places(x, dim, False)
    if x.ndim == 0:
        return x.copy(), places
    place = positions.picked(places, [k - 1], dim)
    values = np.take_along_axis(x, place, dim)
    return (values, place) if keepdim else (values.squeeze(dim), place.squeeze(dim))


def _put_back(g, indices, x_shape, dim):
    return put_along_dim(g, indices, dim, x_shape) if x_shape else g


# fmt: off
sort_        = Op("sort", _sort,       GENERAL, outputs=("values", "indices"), x=lambda g, x_shape, indices, dim: _put_back(g, indices, x_shape, dim),
                  words={"x": "g put back into the order of {x}"}, batch="dims")
sort_stable_ = Op("sort", _sort,       GENERAL, outputs=("values", "indices"), x=lambda g, x_shape, indices, dim: _put_back(g, indices, x_shape, dim), node="SortBackward1",
                  words={"x": "g put back into the order of {x}"}, batch="dims")
topk_        = Op("topk", _topk,       GENERAL, outputs=("values", "indices"), x=lambda g, x_shape, indices, dim: _put_back(g, indices, x_shape, dim),
                  words={"x": "g put back at the places of the largest, else 0"}, batch="dims")
unique_      = Op("unique",      lambda x, found: found, GENERAL, x=lambda g: _no_derivative("_unique2"), node="Unique2Backward0")
unique_dim_  = Op("unique_dim",  lambda x, found: found, GENERAL, x=lambda g: _no_derivative("unique_dim"))
consecutive_ = Op("unique_consecutive", lambda x, found: found, GENERAL, x=lambda g: _no_derivative("unique_consecutive"))
kthvalue_    = Op("kthvalue", _kth,    GENERAL, outputs=("values", "indices"), x=lambda g, x_shape, indices, dim, keepdim: put(g, indices, x_shape, dim, keepdim),
                  words={"x": "g at the place of that value, else 0"}, batch="dims")
argsort_     = Op("argsort", _sorted_places, GENERAL, x=None, batch="dims")
nonzero_     = Op("nonzero", lambda x: np.array(np.nonzero(np.atleast_1d(x)))[: x.ndim].T, GENERAL, x=None)
bincount_    = Op("bincount", lambda x, minlength: positions.bincount(x, minlength=minlength), GENERAL, x=None)
# fmt: on


def sort(input, dim=-1, descending=False, *, stable=None) -> Any:
    """The elements in order along `dim`, and where they were: a named tuple (values, indices). Equal ones keep their order; nan is largest.

    >>> import minigrad as torch
    >>> torch.sort(torch.tensor([3., 1., 2.])).values
    tensor([1., 2., 3.])
    """
    row = sort_ if stable is None else sort_stable_
    return named("sort", "values", "indices")(*row(input, wrap_dim(dim, input.ndim), descending))


def argsort(input, dim=-1, descending=False, *, stable=False):
    """Where the elements of the sorted tensor are."""
    return argsort_(input, wrap_dim(dim, input.ndim), descending)


def topk(input, k, dim=-1, largest=True, sorted=True) -> Any:
    """The k largest (or smallest) elements along `dim`, in order, and where they were: a named tuple (values, indices).
    Raises RuntimeError if k is out of range, and for booleans."""
    dim = wrap_dim(dim, input.ndim)
    if input.array.dtype.kind == "b":
        raise errors.new(RuntimeError, "topk does not support bool dtypes on CPU")
    if not 0 <= k <= (input.array.shape[dim] if input.ndim else 1):
        raise errors.new(RuntimeError, "selected index k out of range")
    return named("topk", "values", "indices")(*topk_(input, k, dim, largest))


def kthvalue(input, k, dim=-1, keepdim=False) -> Any:
    """The k-th smallest element along `dim` (k counts from 1), and where it was: a named tuple (values, indices).
    Raises RuntimeError if k is out of range."""
    dim = wrap_dim(dim, input.ndim)
    if input.array.dtype.kind == "b":
        raise errors.no_kernel("kthvalue_cpu", input.array.dtype)
    if not 1 <= k <= (input.array.shape[dim] if input.ndim else 1):
        raise errors.new(RuntimeError, f"kthvalue(): selected number k out of range for dimension {dim}")
    return named("kthvalue", "values", "indices")(*kthvalue_(input, k, dim, keepdim))


def nonzero(input, *, as_tuple=False) -> Any:
    """The positions of the elements that are not 0: one row for each; with as_tuple one vector for each dimension."""
    if as_tuple:
        return nonzero_(input if input.ndim else input.reshape(1)).unbind(1)
    return nonzero_(input)


def argwhere(input):
    """The positions of the elements that are not 0, one row for each."""
    return nonzero_(input)


def bincount(input, weights=None, minlength=0):
    """How often each number from 0 on occurs in a vector of whole numbers. Raises RuntimeError for negative ones, and for a matrix."""
    if input.array.dtype.kind not in "iu":
        raise errors.no_kernel("bincount_cpu", input.array.dtype)
    if input.ndim != 1 or (input.array < 0).any():
        raise errors.new(RuntimeError, "bincount only supports 1-d non-negative integral inputs.")
    if weights is not None:
        kind = np.float32 if weights.array.dtype == np.float32 else np.float64
        return wrap(positions.bincount(input.array, weights.array, minlength).astype(kind))
    return bincount_(input, minlength)


def _no_derivative(name):
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None) -> Any:
    """The different elements, in order; on request also where each element went, and how many there are of each.

    As in PyTorch the elements have no derivative: a backward pass through them raises NotImplementedError."""
    values, inverse, counts = np.unique(input.array, return_inverse=True, return_counts=True, axis=dim)
    out = [values]
    if return_inverse:
        out.append(inverse.reshape(input.array.shape if dim is None else (-1,)))
    if return_counts:
        out.append(counts)
    tensors = (unique_(input, values) if dim is None else unique_dim_(input, values), *map(wrap, out[1:]))
    return tensors if len(tensors) > 1 else tensors[0]
