"""Compositions of rows: quantiles, covariances, differences, what reads a sorted sequence.

What lives here: no row of its own. What does not: sums and extrema (reduce.py), sorting (order.py).
"""

import math
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.return_types import named
from ..core.variable import wrap
from .dims import wrap_dim
from .elementwise import clamp, isnan, lerp, logical_not, logical_xor, where
from .index import gather
from .joins import cat
from .linalg import matmul
from .order import consecutive_, sort
from .reduce import mean, median, nansum, sum
from .scan import cumsum
from .shape import reshape, unsqueeze
from .views import movedim, narrow, squeeze_checked, t_checked, unsqueeze_checked


def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean of the elements that are no nan. Raises RuntimeError for whole numbers."""
    if input.array.dtype.kind != "f":
        kind = errors.TYPE_NAMES[input.array.dtype.name].removesuffix("Tensor")
        raise errors.new(
            RuntimeError,
            f"nanmean(): expected input to have floating point or complex dtype but got {kind}",
            instead="x.float().",
        )
    return nansum(input, dim, keepdim, dtype=dtype) / sum(logical_not(isnan(input)), dim, keepdim)


def nanmedian(input, dim=None, keepdim=False) -> Any:
    """The median of the elements that are no nan; with `dim` a named tuple (values, indices) along it."""
    if dim is None:
        flat = reshape(input, (-1,))
        return median(_balanced(flat).to(input.dtype) if input.array.dtype.kind == "f" else flat)
    axis = wrap_dim(dim, input.ndim)
    values, indices = sort(input, axis)
    place = clamp((sum(logical_not(isnan(input)), axis, True) - 1) // 2, 0)  # nan is sorted to the end
    results = [gather(part, axis, place) for part in (values, indices)]
    if not keepdim:
        results = [squeeze_checked(part, axis) for part in results]
    return named("nanmedian", "values", "indices")(*results)


def _balanced(x):
    """A vector with each nan replaced by -inf or inf, so that the median of all is the median of the rest."""
    lost = isnan(x)
    n = sum(logical_not(lost))
    below = (x.shape[0] - 1) // 2 - clamp((n - 1) // 2, 0)
    return where(lost & (n > 0), where(cumsum(lost, 0) <= below, -math.inf, math.inf), x)


def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """The number below which the part `q` (0 to 1, or a vector of such) of the elements lies, over all or along `dim`.

    interpolation  between two elements: "linear", "lower", "higher", "nearest" or "midpoint"
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """As quantile, of the elements that are no nan."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)


def _quantile(name, input, q, dim, keepdim, interpolation):
    if input.array.dtype not in (np.float32, np.float64):
        raise errors.new(
            RuntimeError, f"{name}() input tensor must be either float or double dtype", instead="x.float()."
        )
    q = q if hasattr(q, "array") else wrap(np.asarray(q, input.array.dtype))
    if input.array.dtype.kind != "f":
        raise errors.new(RuntimeError, f"{name}() input tensor must be either float or double dtype")
    if ((q.array < 0) | (q.array > 1)).any():
        raise errors.new(RuntimeError, f"{name}() q values must be in the range [0, 1]")
    if interpolation not in ("linear", "lower", "higher", "nearest", "midpoint"):
        kinds = "linear, lower, higher, midpoint or nearest"
        raise errors.new(RuntimeError, f"{name}() interpolation must be one of {kinds}, but got {interpolation}")
    x = reshape(input, (-1,)) if dim is None or not input.ndim else movedim(input, dim, -1)
    values, n = sort(x, -1).values, x.shape[-1]
    count = (~np.isnan(values.array)).sum(-1, keepdims=True)
    last = np.maximum((count if name == "nanquantile" else n) - 1, 0)
    place = q.array.reshape(-1) * last
    # A nan, sorted to the end, is the answer
    place = np.where((count < n) & (name == "quantile"), n - 1, place).astype(input.array.dtype)
    place = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}.get(interpolation, np.array)(place)
    place = np.broadcast_to(place, (*x.shape[:-1], place.shape[-1]))
    below, above = (
        gather(values, x.ndim - 1, wrap(rounded(place).astype(np.int64))) for rounded in (np.floor, np.ceil)
    )
    weight = wrap((place - np.floor(place)) if interpolation != "midpoint" else np.full_like(place, 0.5))
    if interpolation == "linear":  # the only one of which q has a derivative
        weight = reshape(q, (-1,)) * wrap(np.asarray(last, place.dtype)) - wrap(np.floor(place))
    out = movedim(lerp(below, above, weight), -1, 0)
    if keepdim:
        out = (
            reshape(out, (-1, *(1,) * input.ndim))
            if dim is None or not input.ndim
            else unsqueeze_checked(out, wrap_dim(dim, input.ndim) + 1)
        )
    return out if q.ndim else squeeze_checked(out, 0)


def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariances of the variables: the rows of a matrix, whose columns are observations. `fweights` counts them, `aweights` weighs them.
    Raises RuntimeError for more than two dimensions, and for weights that are negative, of another dtype or not one per observation."""
    if input.ndim > 2:
        raise errors.new(
            RuntimeError,
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions",
        )
    x = reshape(input, (1, -1)) if input.ndim < 2 else input
    _check_weights("fweights", fweights, x.shape[1], "iu", "integral")
    _check_weights("aweights", aweights, x.shape[1], "f", "floating point")
    weights = None
    for w in (fweights, aweights):
        weights = w if weights is None else weights if w is None else weights * w
    if weights is None:
        total, norm = x.shape[1], x.shape[1] - correction
        centred = x - mean(x if x.array.dtype.kind == "f" else x.to(dtypes.get_default_dtype()), 1, True)
        product = matmul(centred, t_checked(centred))
    else:
        total = sum(weights)
        centred = x - unsqueeze(sum(x * weights, 1), 1) / total
        norm = total - correction * (sum(weights * aweights) / total if aweights is not None else 1)
        product = matmul(centred, t_checked(centred * weights))
    out = product / clamp(norm, 0) if hasattr(norm, "array") else product / max(norm, 0)
    return squeeze_checked(out)


def _check_weights(name, weights, observations, kinds, word):
    if weights is None:
        return
    problem = None
    if weights.ndim > 1:
        problem = f"expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} dimensions"
    elif weights.array.dtype.kind not in kinds:
        dtype_name = errors.TYPE_NAMES[weights.array.dtype.name].removesuffix("Tensor")
        problem = f"expected {name} to have {word} dtype but got {name} with {dtype_name} dtype"
    elif weights.numel() != observations:
        problem = f"expected {name} to have the same numel as there are observations in the input but got {weights.numel()} != {observations}"
    elif (weights.array < 0).any():
        problem = f"{name} cannot be negative"
    if problem:
        what = "how often each observation counts" if name == "fweights" else "how much each observation weighs"
        raise errors.new(
            RuntimeError,
            f"cov(): {problem}",
            instead=f"{name} says {what}: one {word} number >= 0 for each column of the input.",
        )


def corrcoef(input):
    """The correlations of the variables: the rows of a matrix, whose columns are observations."""
    c = cov(input)
    if not c.ndim:
        return c / c
    deviation = c.diagonal().sqrt()
    return clamp(c / unsqueeze(deviation, 1) / unsqueeze(deviation, 0), -1, 1)


def diff(input, n=1, dim=-1, prepend=None, append=None):
    """The differences of neighbours along `dim`, `n` times; `prepend` and `append` are joined to the input first.
    Raises RuntimeError for a 0-d tensor and for negative `n`."""
    dim = wrap_dim(dim, input.ndim)
    if not input.ndim:
        raise errors.new(RuntimeError, "diff expects input to be at least one-dimensional")
    if n < 0:
        raise errors.new(RuntimeError, f"order must be non-negative but got {n}")
    parts = [x for x in (prepend, input, append) if x is not None]
    x = cat(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, x.shape[dim])):
        later, earlier = narrow(x, dim, 1, x.shape[dim] - 1), narrow(x, dim, 0, x.shape[dim] - 1)
        x = logical_xor(later, earlier) if x.array.dtype.kind == "b" else later - earlier
    return x if n else input.clone()


def trapezoid(y, x=None, *, dx=None, dim=-1):
    """The integral along `dim` by the trapezoidal rule: at the places `x`, or `dx` (default 1) apart.
    Raises RuntimeError for bools."""
    if y.array.dtype.kind == "b" or (x is not None and x.array.dtype.kind == "b"):
        what = "`y`, but bool is not supported" if x is None else "`x` or `y`, but bool is not supported"
        raise errors.new(RuntimeError, f"trapezoid: received a bool input for {what}", instead="y.float().")
    n = y.shape[dim]
    if not n:
        return sum(y, dim)
    pairs = narrow(y, dim, 0, n - 1) + narrow(y, dim, 1, n - 1)
    if x is None:
        return sum(pairs / 2, dim) * (1 if dx is None else dx)
    steps = diff(x, dim=-1 if x.ndim == 1 else dim)
    if x.ndim == 1 and y.ndim > 1:
        steps = reshape(steps, tuple([-1 if i == wrap_dim(dim, y.ndim) else 1 for i in range(y.ndim)]))
    return sum(pairs * steps, dim) / 2


def bucketize(input, boundaries, *, out_int32=False, right=False):
    """For each number the index of the bucket between the sorted `boundaries` that it falls into. Raises RuntimeError unless they are a
    vector."""
    if boundaries.ndim != 1:
        raise errors.new(RuntimeError, f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def searchsorted(sorted_sequence, values, *, out_int32=False, right=False, side=None, sorter=None):
    """Where each value would have to go into the sorted last dimension; `right`: behind equal elements.
    Raises RuntimeError if the first dimensions differ, or `side` and `right` contradict each other."""
    if not sorted_sequence.ndim:
        raise errors.new(
            RuntimeError, "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        )
    order, sought = sorted_sequence.array, values.array if hasattr(values, "array") else np.asarray(values)
    if order.dtype.kind == sought.dtype.kind == "b":
        raise errors.no_kernel("searchsorted_out_cpu", order.dtype)
    if side is not None and right and side == "left":
        raise errors.new(
            RuntimeError,
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True",
        )
    if sorter is not None:
        order = np.take_along_axis(order, sorter.array, -1)
    side = "right" if right or side == "right" else "left"
    if order.ndim == 1:
        positions = np.searchsorted(order, sought, side)
    else:
        if order.shape[:-1] != sought.shape[:-1]:
            raise RuntimeError(
                "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value "
                f"tensor must match, but we got boundaries tensor {list(order.shape)} and input value tensor {list(sought.shape)}"
            )
        rows = zip(order.reshape(-1, order.shape[-1]), sought.reshape(-1, sought.shape[-1]), strict=True)
        positions = np.array([np.searchsorted(row, value, side) for row, value in rows]).reshape(sought.shape)
    return wrap(np.asarray(positions, np.int32 if out_int32 else np.int64))


def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Is each element one of the `test_elements`? Either may be a number. Raises RuntimeError for bools."""
    first, second = [x.array if hasattr(x, "array") else np.asarray(x) for x in (elements, test_elements)]
    if "b" in (first.dtype.kind, second.dtype.kind):
        kind = errors.TYPE_NAMES["bool"].removesuffix("Tensor")
        raise errors.new(RuntimeError, f"Unsupported input type encountered for isin(): {kind}", instead="x.long().")
    return wrap(np.asarray(np.isin(first, second, invert=invert)))


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Estimates of the derivative along each of `dim` (default: all), from neighbours: a tuple. `spacing` is the distance of two samples,
    a number for all (None: 1) or one for each dimension, or the samples' coordinates, a tensor for each.
    Raises RuntimeError for fewer than edge_order + 1 samples, and for a `spacing` or an edge_order that does not fit."""
    dims = (
        list(range(input.ndim))
        if dim is None
        else [wrap_dim(d, input.ndim) for d in (dim if isinstance(dim, (tuple, list)) else [dim])]
    )
    steps = list(spacing) if isinstance(spacing, (tuple, list)) else [1 if spacing is None else spacing] * len(dims)
    if len(steps) != len(dims):
        count = (
            f"equal to 'self.dim() = {len(dims)}', since dim argument was not given," if dim is None else f"{len(dims)}"
        )
        sentence = f"torch.gradient expected spacing to be unspecified, a scalar, or a list of length {count} but got a list of length {len(steps)}"
        raise errors.new(RuntimeError, sentence)
    if edge_order not in (1, 2):
        raise errors.new(RuntimeError, "torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(input.shape[d] <= edge_order for d in dims):
        raise errors.new(RuntimeError, "torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple([_slope(input, h, d, edge_order) for h, d in zip(steps, dims, strict=True)])


def _slope(x, spacing, dim, edge_order):
    """The derivative of the parabola through each point and its neighbours; at the ends that of a line, or of the last parabola."""
    n, one = x.shape[dim], [1] * x.ndim
    one[dim] = -1
    even = not hasattr(spacing, "array") or not spacing.array.ndim
    gaps = np.full(n - 1, float(spacing)) if even else np.diff(spacing.array).astype(float)

    def factor(a):
        return wrap(
            a.astype(x.array.dtype if x.array.dtype.kind == "f" else dtypes.get_default_dtype().numpy).reshape(one)
        )

    slopes = diff(x, 1, dim) / factor(gaps)  # of the lines between neighbours
    left, right = narrow(slopes, dim, 0, max(n - 2, 0)), narrow(slopes, dim, min(1, n - 1), max(n - 2, 0))
    ends = [narrow(slopes, dim, 0, 1), narrow(slopes, dim, n - 2, 1)]
    if n > 2:
        before, after = gaps[:-1], gaps[1:]
        inner = [(left * factor(after) + right * factor(before)) / factor(before + after)]
        if edge_order == 2:
            bend = (right - left) / factor(before + after)  # of each parabola, half its second derivative
            ends[0] = ends[0] - narrow(bend, dim, 0, 1) * factor(gaps[:1])
            ends[1] = ends[1] + narrow(bend, dim, n - 3, 1) * factor(gaps[-1:])
    else:
        inner = []
    return cat([ends[0], *inner, ends[1]], dim)


def histc(input, bins=100, min=0, max=0):
    """How many elements fall into each of `bins` intervals of equal size from `min` to `max` (both 0: of the elements).
    Raises RuntimeError for integers."""
    a = input.array
    if a.dtype.kind != "f":
        raise errors.new(
            RuntimeError,
            f"\"histogram_cpu\" not implemented for '{errors.TYPE_NAMES[a.dtype.name].removesuffix('Tensor')}'",
        )
    low, high = (a.min(), a.max()) if min == max and a.size else (min, max)
    if low == high:
        low, high = low - 1, high + 1
    return wrap(np.histogram(a, bins, (low, high))[0].astype(a.dtype))


def histogram(input, bins, *, range=None, weight=None, density=False) -> Any:
    """How many elements fall into each interval, and the edges of the intervals: a named tuple (hist, bin_edges).

    bins     how many of equal size, or the edges, a sorted vector
    range    (lowest, highest) edge; by default those of the elements
    weight   what each element counts
    density  divide, so that the integral over all intervals is 1
    Raises NotImplementedError for whole numbers, RuntimeError for a weight of another shape.
    """
    a = input.array
    if a.dtype.kind != "f":
        raise errors.no_kernel("histogramdd", a.dtype)
    if weight is not None and weight.array.shape != a.shape:
        raise errors.new(
            RuntimeError,
            "torch.histogramdd(): if weight tensor is provided it should have the same shape as the input tensor excluding its innermost "
            "dimension",
        )
    if hasattr(bins, "array"):
        edges = bins.array
    else:
        low, high = range if range is not None else (a.min(), a.max()) if a.size else (0, 1)
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges = np.linspace(low, high, bins + 1).astype(a.dtype)
    inside = (a >= edges[0]) & (a <= edges[-1])
    counts, _ = np.histogram(a[inside], edges, weights=None if weight is None else weight.array[inside])
    counts = counts.astype(a.dtype)
    if density:
        counts = counts / (counts.sum() * np.diff(edges)).astype(a.dtype)
    return named("histogram", "hist", "bin_edges")(wrap(counts), wrap(np.array(edges)))


def mode(input, dim=-1, keepdim=False) -> Any:
    """The most frequent element along `dim` (the smallest of several), and a position of it: a named tuple (values, indices)."""
    axis = wrap_dim(dim, input.ndim)
    x = np.atleast_1d(input.array)
    equal = (np.expand_dims(x, axis) == np.expand_dims(x, axis + 1)).sum(axis + 1)  # how often each occurs
    most = equal == equal.max(axis, keepdims=True)
    smallest = np.where(most, x, np.where(most, x, x.max()).max() + 1 if x.dtype.kind != "f" else np.inf).min(
        axis, keepdims=True
    )
    last = x.shape[axis] - 1 - np.argmax(np.flip(most & (x == smallest), axis), axis)
    place = wrap(np.expand_dims(last, axis) if input.ndim else np.zeros((), np.int64))
    values = gather(input, axis, place)
    if not keepdim and input.ndim:
        values, place = squeeze_checked(values, axis), squeeze_checked(place, axis)
    return named("mode", "values", "indices")(values, place)


def renorm(input, p, dim, maxnorm):
    """The slices along `dim` whose p-norm is larger than `maxnorm`, made that long; the others as they are.
    Raises RuntimeError for fewer than two dimensions."""
    if input.ndim < 2:
        raise errors.new(RuntimeError, f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    rest = tuple([d for d in range(input.ndim) if d != wrap_dim(dim, input.ndim)])
    norm = input.norm(p, rest, True)
    return input * (norm > maxnorm).to(input.dtype) * (maxnorm / (norm + 1e-7)) + input * (norm <= maxnorm).to(
        input.dtype
    )


def dist(input, other, p=2):
    """The p-norm of the difference."""
    return (input - other).norm(p)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None) -> Any:
    """The elements without repetitions of the one before; on request also where each element went, and how many there are of each."""
    x = input.reshape(-1) if dim is None else movedim(input, dim, 0)
    a = x.array
    new = np.ones(len(a), bool)
    if len(a) > 1:
        new[1:] = (a[1:] != a[:-1]).reshape(len(a) - 1, a[0].size).any(1)
    values = consecutive_(input, a[new] if dim is None else np.moveaxis(a[new], 0, dim))
    out = [values]
    if return_inverse:
        inverse = np.cumsum(new) - 1
        out.append(wrap(inverse.reshape(input.array.shape) if dim is None else inverse))
    if return_counts:
        out.append(wrap(np.diff(np.append(np.flatnonzero(new), len(a)))))
    return tuple(out) if len(out) > 1 else values


def msort(input):
    """Sorted along the first dimension."""
    return sort(input, 0).values
