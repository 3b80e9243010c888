"""Rows: picking elements by position and putting them back.

What does not live here: `x[...]` itself, which takes a key apart (indexing.py), and plain slices (shape.py).
"""

import numpy as np

from ..core import dtypes, errors
from ..core.facts import ClassOutOfRange, IndexOutOfBounds
from ..core.op import GENERAL, LINEAR, Op
from ..core.variable import INFERENCE, wrap
from ..kernels.positions import picked, repeat
from ..kernels.scatter import add_at
from .dims import wrap_dim
from .elementwise import nothing, where
from .shape import clone, embed, expand, reshape, unsafe_view, unsqueeze, view


class Positions(tuple):
    """The ndarrays and slices that an index consists of.

    sources  the tensors that they were read from, and their versions: what a node that keeps the positions has saved
    """

    sources: tuple

    def __new__(cls, positions, tensors=(), saved=False):
        self = super().__new__(cls, positions)
        self.sources = tuple([(t, t.version[0]) for t in tensors if saved or t.version is not INFERENCE])
        return self

    def tensors(self):
        """PyTorch's `_saved_indices`: a tensor or None for each dimension."""
        return tuple([None if isinstance(p, slice) else wrap(p) for p in self])


def unchanged(indices):
    """`indices`, for rules that need the positions of the forward pass. Raises if a tensor that they were read from was written to since."""
    for tensor, version in getattr(indices, "sources", ()):
        if tensor.version[0] != version:
            raise errors.modified("IndexBackward0", "indices", tensor.array, tensor.version[0], version, "")
    return indices


def _pick(x, indices):
    if len(indices) == 1 and type(indices[0]) is np.ndarray and indices[0].dtype.kind == "i":
        return picked(x, indices[0], 0)  # twice as fast
    return x[indices]


def _index_add(g, indices, shape):
    """Zeros of `shape` with `g` added at `indices`; the same place may be named more than once."""
    out = np.zeros(shape, g.dtype)
    if len(indices) == 1 and isinstance(indices[0], np.ndarray) and indices[0].dtype == bool:
        out[indices] = g  # a mask names no place twice
    else:
        add_at(out, indices, g)
    return out


def _index_put(x, values, indices, accumulate):
    out = np.array(x)
    if accumulate:
        np.add.at(out, indices, values)
    else:
        out[indices] = values
    return out


def _put_along(x, index, dim, shape):
    out = np.zeros(shape, x.dtype)
    np.put_along_axis(out, index, x, dim)
    return out


def _scatter_add(x, index, source, dim):
    out = np.array(x, np.float32 if x.dtype == np.float16 else None, ndmin=1)  # PyTorch adds float16 in float32, too
    np.add.at(out, _places(index, dim), np.atleast_1d(source)[tuple([slice(n) for n in index.shape])])
    return out.reshape(x.shape).astype(x.dtype, copy=False)


# fmt: off
# name       forward                                                      kind    rules
index_     = Op("index",     _pick,                       LINEAR, tensor_params=("indices",), x=lambda g, x_shape, indices: index_backward(g, unchanged(indices), x_shape))
index_backward = Op("index_backward", _index_add,         LINEAR, tensor_params=("indices",), x=lambda g, indices: index_(g, indices))
index_put  = Op("index_put", _index_put,                  LINEAR, tensor_params=("indices",), args="input values",
                x=lambda g, indices, accumulate: g if accumulate else index_put(g, np.zeros((), "float32"), unchanged(indices), False),
                values=lambda g, indices: index_(g, unchanged(indices)),
                words={"x": "g with zeros at the places that were written", "values": "g at the places that were written"})
take_along_dim_ = Op("gather", lambda x, index, dim: np.take_along_axis(x, index, dim), LINEAR, args="input index",
                x=lambda g, x_shape, index, dim: put_along_dim(g, index, dim, x_shape), index=None,
                     words={"x": "g added back at the places that were read"}, batch="full dims")
put_along_dim = Op("scatter", _put_along,                                 LINEAR, args="input index",  # one place per element: no repetitions
                x=lambda g, index, dim: take_along_dim_(g, index, dim), index=None,
                   words={"x": "g with zeros at the places that were written"})
scatter_add_ = Op("scatter_add", _scatter_add,                            LINEAR, args="input index src",  # a place may be named more than once
                x=lambda g: g, index=None, source=lambda g, index, dim: gather_(g, index, dim), batch="full dims")
scatter_   = Op("scatter", lambda x, index, source, dim: _scatter(x, index, source, dim), LINEAR, args="input index src", node="ScatterBackward0",
                x=lambda g, index, dim: scatter_value(g, index, dim, 0), index=None, source=lambda g, index, dim: gather_(g, index, dim),
                words={"x": "g with zeros at the places that were written"}, batch="full dims")
scatter_value = Op("scatter", lambda x, index, dim, value: _scatter(x, index, _fitting(x, value), dim), GENERAL, args="input index", node="ScatterBackward1",
                x=lambda g, index, dim: scatter_value(g, index, dim, 0), index=None,
                   words={"x": "g with zeros at the places that were written"}, batch="full dims")
scatter_reduce_ = Op("scatter_reduce", lambda x, index, source, dim, reduce: _scatter_reduce(x, index, source, dim, reduce), GENERAL, args="input index src", node="ScatterReduceBackward0",
                x=lambda g, x, index, source, out, dim, reduce: _scatter_reduce_rule(g, x, index, source, out, dim, reduce)[0], index=None,
                source=lambda g, x, index, source, out, dim, reduce: _scatter_reduce_rule(g, x, index, source, out, dim, reduce)[1], batch="full dims")
gather_    = Op("gather", lambda x, index, dim: _gather(x, index, dim),   LINEAR, args="input index",  # index may be smaller than x
                x=lambda g, x_shape, index, dim: scatter_add_(zeros(x_shape, g), index, g, dim), index=None,
                words={"x": "g added back at the places that were read"}, batch="full dims")
index_select_ = Op("index_select", lambda x, index, dim: picked(x, index.reshape(-1), dim) if x.ndim else x.copy(), LINEAR, args="input index",
                x=lambda g, x_shape, index, dim: index_add_(zeros(x_shape, g), g, index, dim), index=None,
                   words={"x": "g added back at the rows that were read"})
index_add_ = Op("index_add", lambda x, source, index, dim: _index_add_along(x, source, index, dim), LINEAR, args="input source index",
                x=lambda g: g, source=lambda g, index, dim: index_select_(g, index, dim), index=None)
index_copy_ = Op("index_copy", lambda x, source, index, dim: _index_copy(x, source, index, dim), LINEAR, args="input source index",
                x=lambda g, index, dim: index_fill_(g, index, dim, 0), source=lambda g, index, dim: index_select_(g, index, dim), index=None,
                 words={"x": "g with zeros at the places that were written"})
index_fill_ = Op("index_fill", lambda x, index, dim, value: _index_copy(x, _fitting(x, value), index, dim), GENERAL, args="input index",
                x=lambda g, index, dim: index_fill_(g, index, dim, 0), index=None,
                 words={"x": "g with zeros at the places that were written"})
index_fill_tensor = Op("index_fill", lambda x, index, value, dim: _index_copy(x, value, index, dim), LINEAR, args="input index value", node="IndexFillBackward1",
                x=lambda g, index, dim: index_fill_(g, index, dim, 0), index=None, value=lambda g, index, dim: _filled(g, index, dim),
                       words={"x": "g with zeros at the places that were written"})  # the engine sums
take_      = Op("take", lambda x, index: x.ravel()[index],                LINEAR, args="input index", x=lambda g, x_shape, index: take_back(g, index, x_shape), index=None,
                words={"x": "g added back at the places that were read"})
take_back  = Op("take_backward", lambda x, index, shape: _index_add(x, (index,), int(np.prod(shape))).reshape(shape), LINEAR, args="input index", x=lambda g, index: take_(g, index), index=None)

# Masks
masked_fill_number = Op("masked_fill", lambda x, mask, value: np.where(mask, _fitting(x, value), x), GENERAL, args="input mask",
                x=lambda g, mask: where(mask, 0, g), mask=None, fused=("value if mask else x",))
masked_fill_tensor = Op("masked_fill", lambda x, mask, value: np.where(mask, value.astype(x.dtype), x), LINEAR, args="input mask value", node="MaskedFillBackward1",
                x=lambda g, mask: where(mask, 0, g), mask=None, value=lambda g, mask: where(mask, g, 0))
masked_select_ = Op("masked_select", lambda x, mask: np.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape))[np.broadcast_to(mask, np.broadcast_shapes(x.shape, mask.shape))],
                LINEAR, args="input mask", x=lambda g, x_shape, mask: masked_back(g, mask, np.broadcast_shapes(x_shape, mask.shape)), mask=None,
                    words={"x": "g put back where the mask is true, else 0"})
masked_back = Op("masked_select_backward", lambda x, mask, shape: _masked_back(x, mask, shape), LINEAR, args="input mask",
                x=lambda g, mask: masked_select_(g, mask), mask=None)
masked_scatter_ = Op("masked_scatter", lambda x, mask, source: _masked_scatter(x, mask, source), LINEAR, args="input mask source",
                x=lambda g, mask: where(mask, 0, g), mask=None, source=lambda g, mask, source_shape: _first(masked_select_(g, mask), source_shape),
                     words={"source": "g at the places that were written"})
# fmt: on


def _fitting(x, value):
    """A number as the dtype of the array `x`. Raises RuntimeError if it does not fit."""
    return dtypes.fitting(value, dtypes.FROM_NUMPY[x.dtype])


def zeros(shape, g):
    """Zeros of a shape, of the dtype of g: what an operation that adds or writes starts from."""
    return np.zeros(shape, getattr(g, "array", g).dtype)


def _places(index, dim):
    """The positions that gather and scatter name: index along `dim`, each its own along the others."""
    index = np.atleast_1d(index)
    places = list(np.ix_(*[np.arange(n) for n in index.shape]))
    places[dim] = index
    return tuple(places)


def _gather(x, index, dim):
    if x.ndim == 0:
        return np.full(index.shape, x)
    return x[_places(index, dim)].reshape(index.shape)


def _scatter_reduce(x, index, source, dim, reduce):
    out = np.array(x, ndmin=1)
    ufunc = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}[reduce]
    ufunc.at(out, _places(index, dim), np.atleast_1d(source)[tuple([slice(n) for n in index.shape])])
    return out.reshape(x.shape)


def _scatter_reduce_rule(g, x, index, source, out, dim, reduce):
    """The gradients of prod, amax and amin by the input and the source."""
    sizes = tuple([slice(n) for n in index.shape])
    part = source[sizes] if source.shape != index.shape else source
    if reduce == "prod":  # the others' product: by division where no factor is 0
        zeros_ = scatter_add_(where(x == 0, 1.0, 0.0), index, where(part == 0, 1.0, 0.0), dim)
        # Of all that are not 0
        rest = scatter_reduce_(where(x == 0, 1, x), index, where(part == 0, 1, part), dim, "prod")
        to_x = where(x == 0, where(zeros_ == 1, g * rest, 0), where(zeros_ == 0, g * rest, 0) / where(x == 0, 1, x))
        alone, none = (
            gather_(where(zeros_ == 1, g * rest, 0), index, dim),
            gather_(where(zeros_ == 0, g * rest, 0), index, dim),
        )
        to_source = where(part == 0, alone, none / where(part == 0, 1, part))
    else:  # shared evenly among the largest
        extreme, source_extreme = x == out, part == gather_(out, index, dim)
        each = g / scatter_add_(where(extreme, 1.0, 0.0), index, where(source_extreme, 1.0, 0.0), dim)
        to_x, to_source = where(extreme, each, 0), where(source_extreme, gather_(each, index, dim), 0)
    return to_x, to_source if source.shape == index.shape else embed(to_source, source.shape, sizes)


def _scatter(x, index, source, dim):
    out = np.array(x)
    if x.ndim == 0:
        out[...] = source.ravel()[-1] if isinstance(source, np.ndarray) else source
        return out
    out[_places(index, dim)] = (
        source[tuple([slice(n) for n in index.shape])] if isinstance(source, np.ndarray) else source
    )
    return out


def _along(x, index, dim):
    """The array, with a 0-d one as a vector of one element, and the key of the slices that `index` names along `dim`."""
    return np.array(x, ndmin=1), (slice(None),) * dim + (index.reshape(-1),)


def _index_add_along(x, source, index, dim):
    out, places = _along(x, index, dim)
    add_at(out, places, np.atleast_1d(source))
    return out.reshape(x.shape)


def _index_copy(x, source, index, dim):
    out, places = _along(x, index, dim)
    out[places] = source
    return out.reshape(x.shape)


def _filled(g, index, dim):
    """`g` at the places that were filled, once each, zeros elsewhere."""
    return where(index_fill_(np.zeros(g.shape, np.int8), index, dim, 1) != 0, g, 0)


def _masked_back(x, mask, shape):
    out = np.zeros(shape, x.dtype)
    out[np.broadcast_to(mask, shape)] = x
    return out


def _masked_scatter(x, mask, source):
    shape = np.broadcast_shapes(x.shape, mask.shape)
    mask = np.broadcast_to(mask, shape)
    out = np.array(np.broadcast_to(x, shape))
    out[mask] = source.ravel()[: np.count_nonzero(mask)]
    return out


def _first(g, shape):
    """`g` as the first elements of zeros of a shape."""
    return take_back(g, np.arange(g.shape[0]), shape)


# Functions that check their arguments ----------------------------------------------------------------------------------------


def _check_bounds(index, size, dim, name):
    a = index.array
    if a.size and (a.min() < 0 or a.max() >= size):
        bad = a[(a < 0) | (a >= size)].flat[0]
        raise errors.new(RuntimeError, f"index {bad} is out of bounds for dimension {dim} with size {size}")


def _size(input, dim):
    return input.array.shape[dim] if input.ndim else 1


def gather(input, dim, index, *, sparse_grad=False):
    """Along `dim` the element that `index` names, everywhere else the element of the same place. The result has index's shape.
    Raises RuntimeError unless `index` holds integers, has as many dimensions, and is no longer but along `dim`.

    >>> import minigrad as torch
    >>> torch.gather(torch.tensor([[1., 2.], [3., 4.]]), 1, torch.tensor([[1], [0]]))
    tensor([[2.],
            [3.]])
    """
    dim = wrap_dim(dim, input.ndim)
    if index.array.dtype.kind != "i":
        if index.numel():
            raise errors.new(RuntimeError, "gather(): Expected dtype int32/int64 for index")
        index = wrap(index.array.astype(np.int64))
    if not index.numel() and input.ndim != index.ndim:  # nothing is looked up
        return reshape(index_(reshape(input, (-1,)), (index.array.reshape(-1),)), index.array.shape)
    if (input.ndim or 1) != (index.ndim or 1):
        raise errors.new(RuntimeError, "Index tensor must have the same number of dimensions as input tensor")
    for d in range(input.ndim):
        if d != dim and index.array.shape[d] > input.array.shape[d]:
            raise errors.new(
                RuntimeError,
                f"Size does not match at dimension {d} expected index {list(index.array.shape)} to be no larger than self "
                f"{list(input.array.shape)} apart from dimension {dim}",
            )
    _check_bounds(index, _size(input, dim), dim, "gather")
    return gather_(input, index, dim)


def _long(indices):
    if indices.array.dtype != np.int64:
        kind = errors.TYPE_NAMES[indices.array.dtype.name].removesuffix("Tensor")
        raise errors.new(RuntimeError, f"torch.take_along_dim(): dtype of indices should be Long but got {kind}")


def take_along_dim(input, indices, dim=None):
    """As gather, but `indices` is broadcast against the input; without `dim` positions in the flattened tensor.
    Raises RuntimeError for different numbers of dimensions."""
    if dim is None:
        _long(indices)
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    dim = wrap_dim(wrap_dim(dim, input.ndim), input.ndim, scalar=False)
    if input.ndim != indices.ndim:
        raise errors.new(
            RuntimeError,
            f"torch.take_along_dim(): input and indices should have the same number of dimensions, but got {input.ndim} dimensions for input, "
            f"and {indices.ndim} dimensions for indices",
            instead="reshape the indices; a dimension of size 1 is broadcast.",
        )
    _long(indices)
    a, b = input.array.shape, indices.array.shape
    if (indices.array < 0).any() and (indices.array >= -a[dim]).all():
        indices = where(indices < 0, indices + a[dim], indices)
    wide = [max(n, m) for n, m in zip(a, b, strict=True)]
    return gather(
        input.expand(*wide[:dim], a[dim], *wide[dim + 1 :]), dim, indices.expand(*wide[:dim], b[dim], *wide[dim + 1 :])
    )


def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """A copy of `input` with elements of `src` (or a number) written at the places that gather would read."""
    source = value if src is None else src
    dim = wrap_dim(dim, input.ndim)
    _check_scatter(input, dim, index, source, "scatter")
    if reduce == "add":
        return scatter_add_(
            input,
            index,
            source if hasattr(source, "array") else wrap(np.full(index.array.shape, source, input.array.dtype)),
            dim,
        )
    if reduce == "multiply":
        ones = nothing(input) + 1
        return input * (
            scatter_(ones, index, source, dim) if hasattr(source, "array") else scatter_value(ones, index, dim, source)
        )
    return scatter_(input, index, source, dim) if hasattr(source, "array") else scatter_value(input, index, dim, source)


def _check_scatter(input, dim, index, source, name):
    if index.array.dtype.kind != "i":
        raise errors.new(RuntimeError, f"{name}(): Expected dtype int32/int64 for index")
    if index.numel() and (index.ndim or 1) != (input.ndim or 1):
        raise errors.new(RuntimeError, "Index tensor must have the same number of dimensions as self tensor")
    for d in range(input.ndim if index.numel() and input.ndim == index.ndim else 0):
        if d != dim and index.array.shape[d] > input.array.shape[d]:
            more = f" and to be no larger size than src {list(source.array.shape)}" if hasattr(source, "array") else ""
            raise errors.new(
                RuntimeError,
                f"Expected index {list(index.array.shape)} to be no larger than self {list(input.array.shape)} apart from dimension {dim}{more}",
            )
    if hasattr(source, "array"):
        if index.numel() and (index.ndim or 1) != (source.ndim or 1):
            raise errors.new(RuntimeError, "Index tensor must have the same number of dimensions as src tensor")
        if source.array.dtype is not input.array.dtype:
            raise errors.new(RuntimeError, f"{name}(): Expected self.dtype to be equal to src.dtype")
        for d in range(index.ndim):
            if index.array.shape[d] > source.array.shape[d]:
                raise errors.new(
                    RuntimeError,
                    f"Expected index {list(index.array.shape)} to be no larger than self {list(input.array.shape)} apart from dimension {dim} and to "
                    f"be no larger size than src {list(source.array.shape)}",
                )
    _check_bounds(index, _size(input, dim), dim, name)


def scatter_add(input, dim, index, src):
    """A copy of `input` with the elements of `src` added at the places that gather would read; a place may come more than once."""
    dim = wrap_dim(dim, input.ndim)
    _check_scatter(input, dim, index, src, "scatter")
    return scatter_add_(input, index, src, dim)


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """A copy of `input` with the elements of `src` reduced ("sum", "prod", "mean", "amax" or "amin") into the places that gather would read.

    include_self  False: a place that is named at all starts without its old element
    Raises RuntimeError for another `reduce`.
    """
    dim = wrap_dim(dim, input.ndim)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise errors.new(RuntimeError, f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}.")
    _check_scatter(input, dim, index, src, "scatter")
    if not include_self:
        starts = {"sum": 0, "mean": 0, "prod": 1, "amax": _limit(input, -1), "amin": _limit(input, 1)}
        input = scatter_value(input, index, dim, starts[reduce])
    if reduce in ("sum", "mean"):
        total = scatter_add_(input, index, src, dim)
        if reduce == "sum":
            return total
        ones = wrap(np.ones(src.array.shape, input.array.dtype))
        start = wrap(np.ones(input.array.shape, input.array.dtype))
        count = scatter_add_(start if include_self else scatter_value(start, index, dim, 0), index, ones, dim)
        count = where(count == 0, 1, count)
        return total / count if input.array.dtype.kind == "f" else wrap(total.array // count.array)
    return scatter_reduce_(input, index, src, dim, reduce)


def _limit(x, sign):
    """The number that loses against every other: of floats an infinity, of integers the smallest or largest."""
    if x.array.dtype.kind == "f":
        return sign * float("inf")
    if x.array.dtype.kind == "b":
        return sign > 0
    info = np.iinfo(x.array.dtype)
    return info.max if sign > 0 else info.min


def put(input, index, source, accumulate=False):
    """A copy with the numbers of `source` written (or added) at positions in the flattened tensor. IndexError unless there are as many."""
    if index.numel() != source.numel():
        raise errors.new(
            IndexError,
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.numel()}, index.numel() = {index.numel()}",
        )
    return unsafe_view(
        reshape(input, (-1,)).index_put((reshape(index, (-1,)),), reshape(source, (-1,)), accumulate), input.array.shape
    )


def unravel_index(indices, shape):
    """Positions in a flattened tensor of a shape, as a tuple of positions in each dimension.

    Raises TypeError unless both are whole numbers, ValueError for a negative size.
    """
    if indices.array.dtype.kind not in "iu":
        raise errors.new(TypeError, f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        raise errors.new(TypeError, f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in shape:
        if not isinstance(n, int):
            raise errors.new(TypeError, f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any([n < 0 for n in shape]):
        raise errors.new(ValueError, f"'shape' cannot have negative values, but got {shape}")
    return tuple([wrap(np.asarray(a)) for a in np.unravel_index(indices.array, shape)])


def index_select(input, dim, index):
    """The slices along `dim` that a vector of positions names, in its order (a copy).
    Raises RuntimeError unless `index` holds integers, IndexError if it is no vector or out of range."""
    dim = wrap_dim(dim, input.ndim)
    if index.array.dtype.kind != "i":
        raise errors.new(RuntimeError, "index_select(): Expected dtype int32 or int64 for index")
    if index.ndim > 1:
        raise errors.new(IndexError, "index_select(): Index is supposed to be a vector")
    if index.array.size and (index.array.min() < 0 or index.array.max() >= _size(input, dim)):
        raise errors.new(IndexError, "index out of range in self", facts=ClassOutOfRange())
    return index_select_(input, index, dim)


def index_add(input, dim, index, source, *, alpha=1):
    """A copy of `input` with slices of `source` added at the positions along `dim`.
    Raises RuntimeError for different dtypes or shapes and for positions that are none, IndexError for a matrix of positions."""
    dim = wrap_dim(dim, input.ndim)
    if index.ndim > 1:
        kind = errors.TYPE_NAMES[index.array.dtype.name].removesuffix("Tensor")
        raise errors.new(
            IndexError,
            f"index_add_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {kind} and size: {list(index.array.shape)}",
        )
    if index.array.dtype.kind != "i" or index.array.dtype.itemsize < 4:
        kind = errors.TYPE_NAMES[index.array.dtype.name].removesuffix("Tensor")
        raise errors.new(
            RuntimeError, f"index_add_(): Expected dtype int32/int64 for index but got: {kind}", instead="index.long()."
        )
    if input.array.dtype is not source.array.dtype:
        own_dtype, source_dtype = (
            errors.TYPE_NAMES[t.array.dtype.name].removesuffix("Tensor") for t in (input, source)
        )
        raise errors.new(
            RuntimeError,
            f"index_add_(): self ({own_dtype}) and source ({source_dtype}) must have the same scalar type",
            instead="source.to(input.dtype).",
        )
    _as_many(index, source, dim, "index_add_")
    if _without(input, dim) != _without(source, dim) or input.ndim != source.ndim:
        raise errors.new(
            RuntimeError,
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(input.array.shape)} source.shape = {list(source.array.shape)}",
            why="Each position gets one slice; slices are not broadcast.",
            instead="source.expand(...) to the shape of the slices.",
        )
    _check_bounds(index, _size(input, dim), dim, "index_add")
    return index_add_(input, source if alpha == 1 else source * alpha, index, dim)


def index_copy(input, dim, index, source):
    """A copy of `input` with slices of `source` written at the positions along `dim`.
    Raises RuntimeError for different dtypes, IndexError for another number of positions."""
    dim = wrap_dim(dim, input.ndim)
    if input.array.dtype is not source.array.dtype:
        own_dtype, source_dtype = (
            errors.TYPE_NAMES[t.array.dtype.name].removesuffix("Tensor") for t in (input, source)
        )
        raise errors.new(
            RuntimeError,
            f"index_copy_(): self and source expected to have the same dtype, but got (self) {own_dtype} and (source) {source_dtype}",
            instead="source.to(input.dtype).",
        )
    if index.array.dtype != np.int64:
        kind = errors.TYPE_NAMES[index.array.dtype.name].removesuffix("Tensor")
        raise errors.new(
            RuntimeError, f"index_copy_(): Expected a long tensor for index, but got {kind}", instead="index.long()."
        )
    if index.ndim > 1:
        raise errors.new(IndexError, f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if input.ndim and source.ndim and input.ndim != source.ndim:
        raise errors.new(
            IndexError,
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source dimensionality "
            f"({source.ndim}), destination dimensionality ({input.ndim})",
        )
    if _without(input, dim) != _without(source, dim):
        source_shape, own_shape = (" ".join(map(str, _without(x, dim))) for x in (source, input))
        raise errors.new(
            RuntimeError,
            f"index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: {own_shape} at dimension {dim} and "
            f"source slice shape: {source_shape} at dimension 0.",
        )
    count = source.array.shape[dim] if source.ndim else 1
    if index.numel() != count:
        raise errors.new(
            IndexError,
            f"index_copy_(): Number of indices ({index.numel()}) should be equal to source.size(dim) ({count})",
        )
    size = _size(input, dim)
    if index.array.size and (index.array.min() < 0 or index.array.max() >= size):
        bad = index.array[(index.array < 0) | (index.array >= size)].flat[0]
        raise errors.new(
            IndexError, f"index_copy_(): index {bad} is out of bounds for dimension {dim} with size {size}"
        )
    return index_copy_(input, source, index, dim)


def _without(x, dim):
    """The shape of one slice along `dim`."""
    return x.array.shape[:dim] + x.array.shape[dim + 1 :]


def _as_many(index, source, dim, name):
    """One position for each slice."""
    n = source.array.shape[dim] if source.ndim else 1
    if index.numel() != n:
        raise errors.new(
            RuntimeError,
            f"{name}(): Number of indices ({index.numel()}) should be equal to source.size(dim): ({n}), for dim: {dim}",
            why="Each position says where one slice of `source` goes.",
            instead="pass as many positions as `source` has slices.",
        )


def index_fill(input, dim, index, value):
    """A copy of `input` with a number (or 0-d tensor) written at the positions along `dim`.
    Raises IndexError unless `index` is int64, RuntimeError for a value with dimensions."""
    dim = wrap_dim(dim, input.ndim)
    if index.array.dtype != np.int64:
        raise errors.new(IndexError, "index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise errors.new(RuntimeError, "Index has to be a vector/scalar")
    size = _size(input, dim)
    if index.array.size and (index.array.min() < -size or index.array.max() >= size):
        bad = index.array[(index.array < -size) | (index.array >= size)].flat[0]
        raise errors.new(
            IndexError,
            f"index {bad} is out of bounds for dimension {dim} with size {size}",
            facts=IndexOutOfBounds(int(bad), dim, size),
        )
    if not hasattr(value, "array"):
        return index_fill_(input, index, dim, value)
    if value.ndim:
        raise errors.new(
            RuntimeError,
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s).",
        )
    return index_fill_tensor(input, index, value.to(input.dtype), dim)


def take(input, index):
    """The elements at positions in the flattened tensor. Raises IndexError if one is out of range."""
    a, n = index.array, input.numel()
    if a.size and (a.min() < -n or a.max() >= n):
        bad = a[(a < -n) | (a >= n)].flat[0]
        raise errors.new(IndexError, f"out of range: tried to access index {bad} on a tensor of {n} elements.")
    return take_(input, index)


def require_mask(mask):
    """Raise PyTorch's error if `mask` is not one of bools."""
    if mask.array.dtype != bool:
        raise errors.new(
            RuntimeError,
            f"masked_fill_ only supports boolean masks, but got mask with dtype {errors.SCALAR_NAMES[mask.array.dtype.name]}",
        )


def masked_fill(input, mask, value):
    """A copy of `input` with a number (or 0-d tensor) where `mask` is True.
    Raises RuntimeError for a mask that does not broadcast, and for a value with dimensions or beyond the dtype."""
    require_mask(mask)
    try:
        np.broadcast_shapes(input.array.shape, mask.array.shape)
    except ValueError as error:
        raise errors.broadcast([mask.array, input.array], error) from None
    if not hasattr(value, "array"):
        return masked_fill_number(input, mask, value)
    if value.ndim:
        raise errors.new(
            RuntimeError,
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s).",
        )
    return masked_fill_tensor(input, mask, value)


def masked_select(input, mask):
    """The elements where `mask` is True, as a vector. Raises RuntimeError unless `mask` is boolean."""
    if mask.array.dtype != bool:
        raise errors.new(RuntimeError, "masked_select: expected BoolTensor for mask")
    return masked_select_(input, mask)


def masked_scatter(input, mask, source):
    """A copy of `input` with the elements of `source`, in order, where `mask` is True.
    Raises RuntimeError if `source` has too few or another dtype, and for a mask that is not of bools."""
    names = [errors.TYPE_NAMES[x.array.dtype.name].removesuffix("Tensor") for x in (input, mask, source)]
    if names[1] != "Bool":
        raise errors.new(
            RuntimeError, f"masked_scatter_ only supports boolean masks, but got mask with dtype {names[1]}"
        )
    if names[0] != names[2]:  # PyTorch has no space between got and the first dtype
        raise errors.new(
            RuntimeError,
            f"masked_scatter: expected self and source to have same dtypes but got{names[0]} and {names[2]}",
            instead="convert the source: source.to(x.dtype).",
        )
    if (
        np.count_nonzero(np.broadcast_to(mask.array, np.broadcast_shapes(mask.array.shape, input.array.shape)))
        > source.numel()
    ):
        raise errors.new(RuntimeError, "Number of elements of source < number of ones in mask")
    return masked_scatter_(input, mask, source)


def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Each element `repeats` times in a row, along `dim` (default: of the flattened tensor); `repeats` may be a tensor, one number each.

    With one tensor, it is the repeats: the result holds the position of each. `output_size` is the size that comes out, if you know it.
    Raises RuntimeError if output_size is not the sum of `repeats`.
    """
    if repeats is None:
        return wrap(repeat(np.arange(input.numel()), input.array))
    if (
        output_size is not None
        and hasattr(repeats, "array")
        and repeats.numel() > 1
        and int(repeats.array.sum()) != output_size
    ):
        raise errors.new(RuntimeError, "allocated size does not match required size")
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    dim = wrap_dim(dim if input.ndim else 1, input.ndim)
    if isinstance(repeats, int):
        shape = input.array.shape
        wide = expand(unsqueeze(input, dim + 1), (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
        return view(clone(wide, "C"), (*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]))
    return index_select_(input, wrap(repeat(np.arange(input.array.shape[dim]), repeats.array)), dim)
