"""Rows: many elements become one. Sums, means, extrema.

What does not live here: softmax (neural.py). `sum()` and the other functions at the end check arguments and choose a row.
"""

import builtins
import math
import warnings
from typing import Any

import numpy as np

from ..core import dtypes, errors, permissions
from ..core.op import GENERAL, LINEAR, Op
from ..core.return_types import named
from ..core.slow_path import wrong_type
from ..kernels.positions import picked
from . import elementwise
from .dims import dims_of, wrap_dim
from .elementwise import abs, exp, sign, where
from .index import put_along_dim
from .scan import backwards, before, cumprod_
from .shape import expand, reshape


def spread(g, x_shape, dim, keepdim):
    """`g`, which lost the dimensions `dim`, stretched back over `x_shape`."""
    return expand(with_dims(g, x_shape, dim, keepdim), x_shape)


def with_dims(g, x_shape, dim, keepdim):
    """`g` with the reduced dimensions back, of size 1."""
    return g if keepdim else reshape(g, tuple([1 if i in dim else n for i, n in enumerate(x_shape)]))


def size_of(x_shape, dim=None):
    n = 1
    for i in range(len(x_shape)) if dim is None else dim:
        n *= x_shape[i]
    return n


def even(g, chosen, dim):
    """`g` shared evenly among the chosen elements: PyTorch's choice for ties in amax and amin."""
    return chosen * (g / _sum(chosen, dim))


def even_alone(g, chosen, dim):
    """The same for max, min and median of everything, where nothing reaches the others even if g is infinite."""
    return where(chosen, g / _sum(chosen, dim), 0)


def same(x, y):
    """Where x equals y, or both are nan."""
    return (x == y) | ((x != x) & (y != y))


def _sum(x, dim):
    return sum_dim(x, dim, True)


# fmt: off
# name      forward                                                                          kind             rule
sum_all  = Op("sum",  lambda x: np.add.reduce(x, axis=None),                                 LINEAR,          x=lambda g, x_shape: expand(g, x_shape))
sum_dim  = Op("sum",  lambda x, dim, keepdim=False: np.add.reduce(x, axis=dim, keepdims=keepdim), LINEAR,     x=lambda g, x_shape, dim, keepdim: spread(g, x_shape, dim, keepdim), node="SumBackward1", batch="dims")
mean_all = Op("mean", lambda x: np.add.reduce(x, axis=None) / x.dtype.type(x.size) if x.dtype.char != "e" else _wide(_mean, x), LINEAR,          x=lambda g, x_shape: expand(g / size_of(x_shape), x_shape),
              words={"x": "g divided by the count, spread over {x}"})
mean_dim = Op("mean", lambda x, dim, keepdim=False: _mean(x, dim, keepdim) if x.dtype.char != "e" else _wide(_mean, x, dim, keepdim), LINEAR,
              x=lambda g, x_shape, dim, keepdim: spread(g, x_shape, dim, keepdim) / size_of(x_shape, dim), node="MeanBackward1",
              words={"x": "g divided by the count, spread over {x}"}, batch="dims")

amax_    = Op("amax", lambda x, dim, keepdim=False: np.maximum.reduce(x, axis=dim, keepdims=keepdim), GENERAL,
              x=lambda g, x, out, dim, keepdim: even(with_dims(g, x.shape, dim, keepdim), x == with_dims(out, x.shape, dim, keepdim), dim),
              words={"x": "g shared evenly by the entries that are the maximum"}, batch="dims")
amin_    = Op("amin", lambda x, dim, keepdim=False: np.minimum.reduce(x, axis=dim, keepdims=keepdim), GENERAL,
              x=lambda g, x, out, dim, keepdim: even(with_dims(g, x.shape, dim, keepdim), x == with_dims(out, x.shape, dim, keepdim), dim),
              words={"x": "g shared evenly by the entries that are the minimum"}, batch="dims")
max_all  = Op("max",  lambda x: np.maximum.reduce(x, axis=None), GENERAL, x=lambda g, x, out: even_alone(g, same(x, out), tuple(range(x.ndim))), node="MaxBackward1",
              words={"x": "g at the place of the maximum, else 0"})
min_all  = Op("min",  lambda x: np.minimum.reduce(x, axis=None), GENERAL, x=lambda g, x, out: even_alone(g, same(x, out), tuple(range(x.ndim))), node="MinBackward1",
              words={"x": "g at the place of the minimum, else 0"})
max_dim  = Op("max",  lambda x, dim, keepdim: _pick(x, np.argmax, dim, keepdim), GENERAL, outputs=("values", "indices"),
              x=lambda g, x_shape, indices, dim, keepdim: put(g, indices, x_shape, dim, keepdim),
              words={"x": "g at the place of the maximum, else 0"}, batch="dims")
min_dim  = Op("min",  lambda x, dim, keepdim: _pick(x, np.argmin, dim, keepdim), GENERAL, outputs=("values", "indices"),
              x=lambda g, x_shape, indices, dim, keepdim: put(g, indices, x_shape, dim, keepdim),
              words={"x": "g at the place of the minimum, else 0"}, batch="dims")
logsumexp_ = Op("logsumexp", lambda x, dim, keepdim: _logsumexp(x, dim, keepdim), GENERAL,
              x=lambda g, x, out, dim, keepdim: with_dims(g, x.shape, dim, keepdim) * exp(x - with_dims(out, x.shape, dim, keepdim)),
                words={"x": "g × exp({x} − {out})"}, batch="dims")
var_     = Op("var", lambda x, dim, correction, keepdim: _var(x, dim, correction, keepdim), GENERAL,
              x=lambda g, x, dim, correction, keepdim: with_dims(g, x.shape, dim, keepdim) * _var_slope(x, dim, correction),
              words={"x": "g × 2 × ({x} − mean({x})) / (n − correction)"}, batch="dims")
std_     = Op("std", lambda x, dim, correction, keepdim: _std(x, dim, correction, keepdim), GENERAL,
              x=lambda g, x, out, dim, correction, keepdim: with_dims(where(out == 0, 0, g / (2 * out)), x.shape, dim, keepdim) * _var_slope(x, dim, correction),
              words={"x": "g × ({x} − mean({x})) / ({out} × (n − correction))"}, batch="dims")
var_mean_ = Op("var_mean", lambda x, dim, correction, keepdim: (_var(x, dim, correction, keepdim), mean_dim.forward(x, dim, keepdim)), GENERAL, outputs=("var", "mean"),
              x=lambda gs, x, dim, correction, keepdim: _moments(gs[0], gs[1], x, dim, correction, keepdim),
               words={"x": "both gradients through ({x} − mean({x})) and 1 / n"}, batch="dims")
std_mean_ = Op("std_mean", lambda x, dim, correction, keepdim: (_std(x, dim, correction, keepdim), mean_dim.forward(x, dim, keepdim)), GENERAL, outputs=("std", "mean"),
              x=lambda gs, x, std, dim, correction, keepdim: _moments(None if gs[0] is None else where(std == 0, 0, gs[0] / (2 * std)), gs[1], x, dim, correction, keepdim),
               words={"x": "both gradients through ({x} − mean({x})) and 1 / n"}, batch="dims")
prod_all = Op("prod", lambda x: np.multiply.reduce(x, axis=None), GENERAL, x=lambda g, x: g * reshape(_others(reshape(x, (-1,)), 0), x.shape),
              words={"x": "g × the product of all other entries"})
prod_dim = Op("prod", lambda x, dim, keepdim: np.multiply.reduce(x, axis=dim, keepdims=keepdim), GENERAL, node="ProdBackward1",
              x=lambda g, x, dim, keepdim: with_dims(g, x.shape, (dim,), keepdim) * _others(x, dim),
              words={"x": "g × the product of all other entries"}, batch="dims")
median_all = Op("median", lambda x: _median_all(x), GENERAL, refuses=("?", "median_cpu"), x=lambda g, x, out: even_alone(g, same(x, out), tuple(range(x.ndim))),
                words={"x": "g at the place of the median, else 0"})
median_dim = Op("median", lambda x, dim, keepdim: _pick(x, _median_place, dim, keepdim), GENERAL, refuses=("?", "median_out"), outputs=("values", "indices"), node="MedianBackward1",
              x=lambda g, x_shape, indices, dim, keepdim: put(g, indices, x_shape, dim, keepdim),
                words={"x": "g at the place of the median, else 0"}, batch="dims")
aminmax_ = Op("aminmax", lambda x, dim, keepdim: (np.minimum.reduce(x, axis=dim, keepdims=keepdim), np.maximum.reduce(x, axis=dim, keepdims=keepdim)), GENERAL, outputs=("min", "max"),
              x=lambda gs, x, min, max, dim, keepdim: _aminmax_rule(gs, x, (min, max), dim, keepdim),
              words={"x": "each gradient at the places of its extreme, else 0"}, batch="dims")
nansum_  = Op("nansum", lambda x, dim, keepdim: np.nansum(x, axis=dim, keepdims=keepdim), GENERAL,
              x=lambda g, x, dim, keepdim: where(x != x, 0, spread(g, x.shape, dim, keepdim)),
              words={"x": "g where {x} is a number, else 0"}, batch="dims")
norm_    = Op("linalg_vector_norm", lambda x, ord, dim, keepdim: _norm(x, ord, dim, keepdim), GENERAL,
              x=lambda g, x, out, ord, dim, keepdim: _norm_rule(with_dims(g, x.shape, dim, keepdim), x, with_dims(out, x.shape, dim, keepdim), ord, dim),
              words={"x": "g × {x} / {out}, for the norm of order 2"}, batch="dims")
any_     = Op("any", lambda x, dim, keepdim: np.logical_or.reduce(x, axis=dim, keepdims=keepdim), GENERAL, x=None, batch="dims")
all_     = Op("all", lambda x, dim, keepdim: np.logical_and.reduce(x, axis=dim, keepdims=keepdim), GENERAL, x=None, batch="dims")
argmax_  = Op("argmax", lambda x, dim, keepdim: np.argmax(x, dim, keepdims=keepdim), GENERAL, x=None, batch="dims")
argmin_  = Op("argmin", lambda x, dim, keepdim: np.argmin(x, dim, keepdims=keepdim), GENERAL, x=None, batch="dims")
count_nonzero_ = Op("count_nonzero", lambda x, dim: np.count_nonzero(x, axis=dim), GENERAL, x=None)
# fmt: on


def _wide(function, x, *args):
    """Computed in float32, for numbers in float16: squares and sums of a few thousand are beyond its 65,504."""
    return function(x.astype(np.float32), *args).astype(np.float16)


def _mean(x, dim=None, keepdim=False):
    return np.add.reduce(x, axis=dim, keepdims=keepdim) / x.dtype.type(size_of(x.shape, dim))


def _std(x, dim, correction, keepdim):
    if x.dtype == np.float16:
        return _wide(_std, x, dim, correction, keepdim)
    return np.sqrt(_var(x, dim, correction, keepdim))


def _var(x, dim, correction, keepdim):
    if x.dtype == np.float16:
        return _wide(_var, x, dim, correction, keepdim)
    n = size_of(x.shape, dim) - correction
    d = x - mean_dim.forward(x, dim, True)
    return np.add.reduce(d * d, axis=dim, keepdims=keepdim) / x.dtype.type(n if n > 0 else 0)


def _var_slope(x, dim, correction):
    n = size_of(x.shape, dim) - correction
    return (x - mean_dim(x, dim, True)) * (2 / n if n > 0 else math.inf)


def _moments(g_var, g_mean, x, dim, correction, keepdim):
    """The rule of var_mean: either gradient may be missing."""
    parts = []
    if g_var is not None:
        parts.append(with_dims(g_var, x.shape, dim, keepdim) * _var_slope(x, dim, correction))
    if g_mean is not None:
        parts.append(spread(g_mean, x.shape, dim, keepdim) / size_of(x.shape, dim))
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def _others(x, dim):
    """For each element the product of all others along `dim`; no division, so zeros are fine."""
    if x.ndim == 0:
        return np.ones((), getattr(x, "array", x).dtype)
    if not x.shape[dim]:
        return x
    product = before(cumprod_(x, dim), dim, 1) * backwards(lambda y, d: before(cumprod_(y, d), d, 1), x, dim)
    lost = product != product
    if not getattr(lost, "array", lost).any():
        return product
    # inf * 0 where the numbers before overflow and one behind is 0: their product is 0, unless one of them is inf or nan itself.
    is_zero, infinite = where(x == 0, 1, 0), where(x - x == 0, 0, 1)
    return where(lost & (_sum(is_zero, (dim,)) - is_zero > 0) & (_sum(infinite, (dim,)) == 0), 0, product)


def _median_all(x):
    flat = x.ravel()
    if not flat.size or (x.dtype.kind == "f" and np.isnan(flat).any()):
        return x.dtype.type(np.nan) if x.dtype.kind == "f" else x.dtype.type(-(2**63) if x.dtype == np.int64 else 0)
    return np.partition(flat, (flat.size - 1) // 2)[(flat.size - 1) // 2]


def _median_place(x, dim, keepdims):
    """Where the lower median is along `dim`; a nan if there is one."""
    place = picked(np.argsort(x, dim, kind="stable"), [(x.shape[dim] - 1) // 2], dim)
    if x.dtype.kind == "f":
        nan = np.isnan(x)
        place = np.where(nan.any(dim, keepdims=True), nan.argmax(dim, keepdims=True), place)
    return place


def _aminmax_rule(gs, x, extremes, dim, keepdim):
    parts = [
        even(with_dims(g, x.shape, dim, keepdim), x == with_dims(e, x.shape, dim, keepdim), dim)
        for g, e in zip(gs, extremes, strict=True)
        if g is not None
    ]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def _norm(x, ord, dim, keepdim):
    if x.dtype == np.float16:
        return _wide(_norm, x, ord, dim, keepdim)
    a = np.abs(x)
    if ord == 0:
        return np.add.reduce((x != 0).astype(x.dtype), axis=dim, keepdims=keepdim)
    if ord == 1:
        return np.add.reduce(a, axis=dim, keepdims=keepdim)
    if ord == 2:
        return np.sqrt(np.add.reduce(x * x, axis=dim, keepdims=keepdim))
    if ord in (math.inf, -math.inf):
        ufunc = np.maximum if ord > 0 else np.minimum
        return ufunc.reduce(a, axis=dim, keepdims=keepdim)
    return np.add.reduce(a**ord, axis=dim, keepdims=keepdim) ** (1 / ord)


def _norm_rule(g, x, norm, ord, dim):
    """d (sum |x|^p)^(1/p) / dx = sign(x) |x|^(p-1) / norm^(p-1), with PyTorch's 0 where the norm is 0."""
    if ord == 0:
        return None  # a count: no gradient arrives at all
    if ord == 1:
        return g * sign(x)
    if ord == 2:
        return g * where(norm == 0, 0, x / norm)
    if ord in (math.inf, -math.inf):
        return sign(x) * even(g, same(abs(x), norm), dim)
    power = sign(x) * abs(x) ** (ord - 1) if ord < 2 else x * abs(x) ** (ord - 2)
    if ord < 1:
        power = where(x == 0, 0, power)
    return power * g * where(norm == 0, 0, 1 / where(norm == 0, 1, norm) ** (ord - 1))


def _pick(x, place, dim, keepdim):
    """The element that `place` names along `dim`, and its position; a 0-d tensor is its own."""
    if not x.ndim:
        return x.copy(), np.zeros((), np.int64)
    index = place(x, dim, keepdims=True)
    values = np.take_along_axis(x, index, dim)
    return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))


def put(g, indices, x_shape, dim, keepdim):
    """Zeros of a shape with `g` where it was picked along `dim`."""
    if not x_shape:
        return g
    if not keepdim:
        shape = tuple([1 if i == dim else n for i, n in enumerate(x_shape)])
        g, indices = reshape(g, shape), reshape(indices, shape)
    return put_along_dim(g, indices, dim, x_shape)


def _logsumexp(x, dim, keepdim):
    top = np.maximum.reduce(x, axis=dim, keepdims=True, initial=-math.inf)
    top = np.where(np.isfinite(top), top, 0)  # a row of -inf: exp(-inf - -inf) would be nan
    out = np.log(np.add.reduce(np.exp(x - top), axis=dim, keepdims=True)) + top
    return out if keepdim else out.squeeze(dim)


def _floating(input, name):
    if input.array.dtype.kind != "f":
        names = {"int64": "Long", "int32": "Int", "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short"}
        kind = names[input.array.dtype.name]
        raise errors.new(
            RuntimeError,
            f"{name}(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {kind}",
        )


def sum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum over the dimensions `dim` (default: over all). Integers and bools are summed as int64.

    >>> import minigrad as torch
    >>> torch.sum(torch.ones(2, 3), dim=1)
    tensor([3., 3.])
    """
    if dtype is not None:
        input = input.to(dtype)
    elif input.array.dtype.kind != "f":  # numpy sums uint8 as uint64, which no tensor holds
        input = input.to(dtypes.int64)
    if dim is None and not keepdim:
        out = sum_all.call(input)
    else:
        out = sum_dim.call(input, dims_of(dim, input.ndim) if dim != () else tuple(range(input.ndim)), keepdim)
    return out if dtype is None else out.to(dtype)


def mean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean over the dimensions `dim` (default: over all) of a floating-point tensor."""
    if dtype is not None:
        input = input.to(dtype)
    _floating(input, "mean")
    if dim is None and not keepdim:
        return mean_all(input)
    return mean_dim(input, dims_of(dim, input.ndim) if dim != () else tuple(range(input.ndim)), keepdim)


def max(input, dim=None, keepdim=False) -> Any:
    """The largest element; with `dim` a named tuple (values, indices) along it; with a tensor as second argument `maximum`."""
    return _extremum(input, dim, keepdim, "max", max_all, max_dim)


def min(input, dim=None, keepdim=False) -> Any:
    """The smallest element; with `dim` a named tuple (values, indices) along it; with a tensor as second argument `minimum`."""
    return _extremum(input, dim, keepdim, "min", min_all, min_dim)


def _extremum(input, dim, keepdim, name, all_row, dim_row):
    if dim is None:
        if not input.array.size:
            raise errors.new(
                RuntimeError,
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.",
            )
        return all_row(input)
    if isinstance(dim, builtins.bool):
        raise errors.new(
            TypeError, f"{name}(): argument 'dim' must be int, not bool", instead=f"{name}(x, dim, keepdim=True)."
        )
    if isinstance(dim, int):
        _reduced(input, dim, name)
    else:
        row = getattr(elementwise, name + "imum")
        if not hasattr(dim, "array"):
            permissions.allow("number for a tensor", wrong_type(row, 1, dim))
        return row(input, dim)
    return named(name, "values", "indices")(*dim_row(input, wrap_dim(dim, input.ndim), keepdim))


def logsumexp(input, dim, keepdim=False):
    """log(sum(exp(input))) over `dim`, computed without overflow."""
    if input.array.dtype.kind != "f":
        input = input.to(dtypes.get_default_dtype())
    return logsumexp_(input, dims_of(dim, input.ndim), keepdim)


def _reduced(input, dim, name):
    """The dimensions to reduce, for reductions that need at least one element."""
    dims = dims_of(None if dim in (None, (), []) else dim, input.ndim)
    for d in dims if input.ndim else ():
        if not input.array.shape[d]:
            if dim in (None, (), []):
                sentence = f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
                if name.startswith("arg"):
                    raise errors.new(IndexError, sentence)
                raise errors.new(RuntimeError, f"{sentence} Specify the reduction dim with the 'dim' argument.")
            raise errors.new(IndexError, f"{name}(): Expected reduction dim {d} to have non-zero size.")
    return dims


def _correction(name, input, unbiased, correction, dims):
    if input.array.dtype.kind != "f":
        raise errors.new(RuntimeError, "std and var only support floating point and complex dtypes")
    if correction is None:
        correction = 1 if unbiased in (None, True) else 0
    if size_of(input.array.shape, dims) <= correction:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided by output "
            "numel).",
            UserWarning,
            stacklevel=3,
        )
    return correction


def _moment(name, row, input, dim, unbiased, keepdim, correction):
    if isinstance(dim, builtins.bool):  # var(x, False)
        dim, unbiased = None, dim
    dims = dims_of(None if dim == () else dim, input.ndim)
    return row(input, dims, _correction(name, input, unbiased, correction, dims), keepdim)


def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The variance over `dim` (default: over all), divided by n - correction (default 1; unbiased=False means 0)."""
    return _moment("var", var_, input, dim, unbiased, keepdim, correction)


def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The standard deviation: the square root of `var`."""
    return _moment("std", std_, input, dim, unbiased, keepdim, correction)


def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """A tuple (var, mean)."""
    return _moment("var_mean", var_mean_, input, dim, unbiased, keepdim, correction)


def std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """A tuple (std, mean)."""
    return _moment("std_mean", std_mean_, input, dim, unbiased, keepdim, correction)


def prod(input, dim=None, keepdim=False, *, dtype=None):
    """The product of all elements, or along one dimension. Integers and bools are multiplied as int64."""
    if dtype is not None:
        input = input.to(dtype)
    if input.array.dtype.kind != "f":
        input = input.to(dtypes.int64)
    out = prod_all(input) if dim is None else prod_dim(input, wrap_dim(dim, input.ndim), keepdim)
    return out if dtype is None else out.to(dtype)


def median(input, dim=None, keepdim=False) -> Any:
    """The middle element, the lower of two; with `dim` a named tuple (values, indices) along it."""
    if dim is None:
        return median_all(input)
    return named("median", "values", "indices")(*median_dim(input, wrap_dim(dim, input.ndim), keepdim))


def aminmax(input, *, dim=None, keepdim=False) -> Any:
    """The smallest and the largest element: a named tuple (min, max)."""
    return named("aminmax", "min", "max")(*aminmax_(input, _reduced(input, dim, "aminmax"), keepdim))


def nansum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum, with nan counted as 0."""
    if dtype is not None:
        input = input.to(dtype)
    elif input.array.dtype.kind != "f":
        return sum(input, dim, keepdim)
    return nansum_(input, dims_of(dim, input.ndim), keepdim)


def any(input, dim=None, keepdim=False):
    """Is any element true (not 0)?"""
    return _truth(any_, input, dim, keepdim)


def all(input, dim=None, keepdim=False):
    """Are all elements true (not 0)?"""
    return _truth(all_, input, dim, keepdim)


def _truth(row, input, dim, keepdim):
    """The result is a bool; of uint8, which was PyTorch's type for masks, it is a uint8."""
    out = row(input, dims_of(dim, input.ndim), keepdim)
    return out.to(dtypes.uint8) if input.array.dtype == np.uint8 else out


def argmax(input, dim=None, keepdim=False):
    """Where the largest element is: its place in the flattened tensor, or along `dim`. The first of equals."""
    return _argument("argmax", argmax_, input, dim, keepdim)


def argmin(input, dim=None, keepdim=False):
    """Where the smallest element is: its place in the flattened tensor, or along `dim`. The first of equals."""
    return _argument("argmin", argmin_, input, dim, keepdim)


def _argument(name, row, input, dim, keepdim):
    if input.array.dtype.kind == "b":
        raise errors.new(RuntimeError, f"\"{name}_cpu\" not implemented for 'Bool'")
    _reduced(input, dim, name)
    return row(input, dim if dim is None or not input.ndim else wrap_dim(dim, input.ndim), keepdim)


def count_nonzero(input, dim=None):
    """How many elements are not 0."""
    return count_nonzero_(input, None if dim is None else dims_of(dim, input.ndim))


def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    """The p-norm of the elements over `dim` (default: over all): (sum |x|^p)^(1/p); "fro" is p = 2.
    Raises RuntimeError for another word."""
    if isinstance(p, str) and p != "fro":
        raise errors.new(
            RuntimeError, f"linalg.matrix_norm: Order {p} not supported.", instead="use a number, or 'fro'."
        )
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The norm of the elements over `dim` (default: over all), seen as one vector. `ord` may be inf, -inf or 0 (count of non-zeros).
    Raises RuntimeError for integers."""
    if dtype is not None:
        x = x.to(dtype)
    if x.array.dtype.kind != "f":
        kind = {"int64": "Long", "int32": "Int", "bool": "Bool"}.get(x.array.dtype.name, x.array.dtype.name)
        raise errors.new(
            RuntimeError, f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {kind}"
        )
    return norm_(x, ord, dims_of(dim, x.ndim), keepdim)


def amax(input, dim=(), keepdim=False):
    """The largest elements over `dim` (default: over all); ties share the gradient evenly."""
    return amax_(input, _reduced(input, dim, "amax"), keepdim)


def amin(input, dim=(), keepdim=False):
    """The smallest elements over `dim` (default: over all); ties share the gradient evenly."""
    return amin_(input, _reduced(input, dim, "amin"), keepdim)
