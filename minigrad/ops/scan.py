"""Rows: running sums, products and extrema along a dimension.

What does not live here: what leaves one number per row (reduce.py). `recurrence` is what makes the gradients of products right where
numbers are zero, where dividing the product by a factor is not possible.
"""

from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.op import GENERAL, LINEAR, Op
from ..core.return_types import named
from .dims import wrap_dim
from .elementwise import exp, where
from .index import scatter_add_, zeros
from .shape import cat_, flip_, reshape, slice_


def backwards(op, x, dim, *more):
    """`op` along `dim` from the end to the start."""
    return flip_(op(flip_(x, (dim,)), *[flip_(m, (dim,)) for m in more], dim), (dim,))


def before(x, dim, first):
    """`x` moved on by one place along `dim`: each place holds its predecessor, the first place holds `first`."""
    shape = tuple([1 if i == dim else n for i, n in enumerate(x.shape)])
    head = np.full(shape, first, getattr(x, "array", x).dtype)
    return cat_([head, slice_(x, dim, 0, x.shape[dim] - 1, 1)], dim)


def after(x, dim, last):
    """Each place holds its successor, the last place holds `last`."""
    return flip_(before(flip_(x, (dim,)), dim, last), (dim,))


def _recurrence(b, a, dim):
    """s[i] = b[i] + a[i] * s[i - 1]"""
    b, a = np.moveaxis(b, dim, 0), np.moveaxis(a, dim, 0)
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), np.result_type(a, b))
    last = 0
    for i in range(len(b)):
        last = out[i] = b[i] + (a[i] * last if i else 0)
    return np.moveaxis(out, 0, dim)


# As in PyTorch on a CPU
_ACCUMULATED_IN = {
    np.dtype(np.float16): np.dtype(np.float32),
    np.dtype(np.float32): np.dtype(np.float64),
}


def _accumulate(ufunc, x, dim):
    """Running results in the next wider dtype: a thousand roundings one after the other would show in the last ones."""
    if x.ndim == 0:
        return x
    wide = _ACCUMULATED_IN.get(x.dtype)
    return ufunc.accumulate(x, dim) if wide is None else ufunc.accumulate(x, dim, dtype=wide).astype(x.dtype)


def _cumsum(x, dim):
    return _accumulate(np.add, x, dim)


def _cumprod(x, dim):
    return _accumulate(np.multiply, x, dim)


def _logcumsumexp(x, dim):
    if x.dtype == np.float16:
        return _logcumsumexp(x.astype(np.float32), dim).astype(np.float16)
    return np.logaddexp.accumulate(x, dim) if x.ndim else x


def _cumprod_rule(g, x, dim):
    """x[i] is a factor of out[i], out[i + 1], ...: the product before it times what the later ones make of g."""
    if x.ndim == 0:
        return g
    earlier = before(cumprod_(x, dim), dim, 1)
    later = backwards(lambda b, a, d: recurrence(b, a, d), g, dim, after(x, dim, 0))
    return earlier * later


def _cumextreme(ufunc):
    def forward(x, dim):
        if x.ndim == 0:
            return x, np.zeros((), np.int64)
        values = ufunc.accumulate(x, dim)
        places = np.arange(x.shape[dim]).reshape([-1 if i == dim else 1 for i in range(x.ndim)])
        is_extreme = (x == values) | np.isnan(x)  # the newest of equals
        return values, np.maximum.accumulate(np.where(is_extreme, places, 0), dim)

    return forward


# fmt: off
# name        forward                                       kind               rules
cumsum_     = Op("cumsum",  _cumsum,                        LINEAR,            x=lambda g, dim: backwards(cumsum_, g, dim) if g.ndim else g,
                 words={"x": "g summed from each place to the end"}, batch="dims")
recurrence  = Op("recurrence", _recurrence,                 GENERAL, args="b a",
                 b=lambda g, a, dim: backwards(lambda s, c, d: recurrence(s, c, d), g, dim, after(a, dim, 0)),
                 a=lambda g, a, out, dim: backwards(lambda s, c, d: recurrence(s, c, d), g, dim, after(a, dim, 0)) * before(out, dim, 0),
                 words={"b": "g carried back through the recurrence", "a": "g carried back, times the value one step before"})
cumprod_    = Op("cumprod", _cumprod,                       GENERAL,           x=_cumprod_rule,
                 words={"x": "g times the later products, summed from each place to the end"}, batch="dims")
cummax_     = Op("cummax",  _cumextreme(np.maximum),        GENERAL, outputs=("values", "indices"), x=lambda g, x_shape, indices, dim: _gather_back(g, indices, x_shape, dim),
                 words={"x": "g added back at the place of each maximum"}, batch="dims")
cummin_     = Op("cummin",  _cumextreme(np.minimum),        GENERAL, outputs=("values", "indices"), x=lambda g, x_shape, indices, dim: _gather_back(g, indices, x_shape, dim),
                 words={"x": "g added back at the place of each minimum"}, batch="dims")
logcumsumexp_ = Op("logcumsumexp", _logcumsumexp, GENERAL, x=lambda g, x, out, dim: _logcumsumexp_rule(g, x, out, dim), batch="dims")
# fmt: on


def _logcumsumexp_rule(g, x, out, dim):
    """sum over j >= i of g[j] exp(x[i] - out[j]), from the end: no exponent is positive, so nothing overflows."""
    if x.ndim == 0:
        return g
    steps = exp(where(out == -np.inf, -np.inf, out) - after(out, dim, np.inf))
    return exp(x - out) * backwards(lambda b, a, d: recurrence(b, a, d), g, dim, where(steps != steps, 0, steps))


def _gather_back(g, indices, x_shape, dim):
    return scatter_add_(zeros(x_shape, g), indices, g, dim) if x_shape else g


def _accumulating(input, dtype):
    if dtype is not None:
        return input.to(dtype)
    return input if input.array.dtype.kind == "f" else input.to(dtypes.int64)


def cumsum(input, dim, *, dtype=None):
    """The sums of the elements so far along `dim`.

    >>> import minigrad as torch
    >>> torch.cumsum(torch.tensor([1., 2., 3.]), 0)
    tensor([1., 3., 6.])
    """
    return cumsum_(_accumulating(input, dtype), wrap_dim(dim, input.ndim))


def cumprod(input, dim, *, dtype=None):
    """The products of the elements so far along `dim`."""
    return cumprod_(_accumulating(input, dtype), wrap_dim(dim, input.ndim))


def logcumsumexp(input, dim):
    """The logarithms of the sums of the exponentials so far along `dim`, without overflow."""
    dim = wrap_dim(dim, input.ndim)
    if input.array.dtype.kind != "f":
        raise errors.no_kernel("logcumsumexp_out_cpu", input.array.dtype)
    return logcumsumexp_(input, dim)


def cumulative_trapezoid(y, x=None, *, dx=None, dim=-1):
    """The integrals so far along `dim` by the trapezoidal rule: at the places `x`, or `dx` (default 1) apart."""
    n, axis = y.shape[dim], wrap_dim(dim, y.ndim)
    means = (slice_(y, axis, 1, n, 1) + slice_(y, axis, 0, n - 1, 1)) / 2
    if x is None:
        return cumsum(means, axis) * (1 if dx is None else dx)
    along = 0 if x.ndim == 1 else axis
    steps = slice_(x, along, 1, n, 1) - slice_(x, along, 0, n - 1, 1)
    if x.ndim == 1:
        steps = reshape(steps, tuple([-1 if i == axis else 1 for i in range(y.ndim)]))
    return cumsum(means * steps, axis)


def cummax(input, dim) -> Any:
    """The largest element so far along `dim`, and where it was: a named tuple (values, indices)."""
    return named("cummax", "values", "indices")(*cummax_(input, wrap_dim(dim, input.ndim)))


def cummin(input, dim) -> Any:
    """The smallest element so far along `dim`, and where it was: a named tuple (values, indices)."""
    return named("cummin", "values", "indices")(*cummin_(input, wrap_dim(dim, input.ndim)))
