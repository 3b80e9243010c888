"""Softmax, log_softmax, layer normalisation and gelu, forward and backward, on ndarrays.

What lives here: the numpy twins, and the choice between them and the compiled kernels (neural_numba.py), which take rows of float32. What
does not: recording (ops/neural.py, ops/normalization.py, ops/activations.py). float64 is for checking gradients and stays with numpy.
"""

import math

import numpy as np

from .loading import Compiled
from .special import erf

compiled = Compiled("minigrad.kernels.neural_numba")
FLOAT32, HALF = np.dtype(np.float32), np.dtype(np.float16)
# Whose mean the kernels take: they add up in one float32 per lane, and numpy by halves, which errs less in long rows
LONGEST_ROW = 1 << 14
FROM = 2048  # numbers: below, numpy's calls cost a few µs and small programs print the same digits whether or not numba is there
_INV_SQRT_2PI = 1 / math.sqrt(2 * math.pi)


def warm() -> bool:
    return compiled.load()


def _kernels(*arrays):
    """The compiled kernels if they are loaded and take these arrays: contiguous float32, not small."""
    if arrays[0].size < FROM:
        return None
    kernels = compiled.get(arrays[0].size)
    if kernels is not None:
        for a in arrays:
            if a.dtype is not FLOAT32 or not a.flags.carray:
                return None
    return kernels


def _rows(a):
    return a.reshape(-1, a.shape[-1])


# Softmax along `dim`


def softmax(x, dim):
    if not x.size or not x.ndim:
        return np.ones_like(x)
    if dim == x.ndim - 1 and (kernels := _kernels(x)):
        out = np.empty(x.shape, FLOAT32)
        kernels.softmax(_rows(x), _rows(out))
        return out
    e = np.exp(x - np.maximum.reduce(x, axis=dim, keepdims=True))
    e /= np.add.reduce(e, axis=dim, keepdims=True)
    return e


def softmax_slope(g, y, dim):
    """From the gradient of the result `y` that of what went in."""
    if not y.ndim:
        return y * (g - g * y)
    if dim == y.ndim - 1 and g.shape == y.shape and (kernels := _kernels(y, g)):
        out = np.empty(y.shape, FLOAT32)
        kernels.softmax_slope(_rows(g), _rows(y), _rows(out))
        return out
    return y * (g - np.add.reduce(g * y, axis=dim, keepdims=True))


def log_softmax(x, dim):
    if not x.size or not x.ndim:
        return np.zeros_like(x)
    if dim == x.ndim - 1 and (kernels := _kernels(x)):
        out = np.empty(x.shape, FLOAT32)
        kernels.log_softmax(_rows(x), _rows(out))
        return out
    x = x - np.maximum.reduce(x, axis=dim, keepdims=True)
    x -= np.log(np.add.reduce(np.exp(x), axis=dim, keepdims=True))
    return x


def log_softmax_slope(g, y, dim):
    if not y.ndim:
        return g - np.exp(y) * g
    if dim == y.ndim - 1 and g.shape == y.shape and (kernels := _kernels(y, g)):
        out = np.empty(y.shape, FLOAT32)
        kernels.log_softmax_slope(_rows(g), _rows(y), _rows(out))
        return out
    return g - np.exp(y) * np.add.reduce(g, axis=dim, keepdims=True)


# Normalisation: `arranged` is the shape of x for averaging over `axes`; weight and bias broadcast against x as `affine`


def _are_rows(x, arranged, axes, affine):
    """Are the numbers that are averaged together side by side, each with a weight of its own?"""
    first = x.ndim - len(axes)
    row = x.shape[first:]
    return (
        math.prod(row) <= LONGEST_ROW and arranged == x.shape and axes == tuple(range(first, x.ndim)) and affine == row
    )


def _as_rows(x, count):
    return x.reshape(-1, count)


def normalize(x, weight, bias, arranged, axes, affine, eps):
    """The result, and mean and 1 / standard deviation of each group."""
    if x.size >= FROM and _are_rows(x, arranged, axes, affine) and (kernels := _kernels(x, weight, bias)):
        out = np.empty(x.shape, FLOAT32)
        mean, rstd = np.empty((2, x.size // weight.size), FLOAT32)
        kernels.layer_norm(
            _as_rows(x, weight.size), weight.reshape(-1), bias.reshape(-1), eps, _as_rows(out, weight.size), mean, rstd
        )
        shape = x.shape[: x.ndim - len(axes)] + (1,) * len(axes)
        return out, mean.reshape(shape), rstd.reshape(shape)
    if x.dtype == HALF:
        return _in_float32(normalize, x, weight, bias, arranged, axes, affine, eps)
    v = x.reshape(arranged)
    n = 1
    for axis in axes:
        n *= v.shape[axis]
    mean = np.add.reduce(v, axis=axes, keepdims=True) / v.dtype.type(n)
    d = v - mean
    rstd = 1 / np.sqrt(np.add.reduce(d * d, axis=axes, keepdims=True) / v.dtype.type(n) + v.dtype.type(eps))
    d *= rstd
    out = d.reshape(x.shape)
    out *= weight.reshape(affine)
    out += bias.reshape(affine)
    return out, mean, rstd


def _in_float32(function, *args):
    """For float16, in which squares soon are inf: computed in float32, and rounded once."""
    found = function(*[a.astype(FLOAT32) if isinstance(a, np.ndarray) else a for a in args])
    return tuple([a.astype(HALF) for a in found])


def _mean(v, axes):
    n = 1
    for axis in axes:
        n *= v.shape[axis]
    return np.add.reduce(v, axis=axes, keepdims=True) / v.dtype.type(n)


def normalize_backward(g, x, weight, arranged, axes, affine, eps):
    """The gradients of x, weight and bias.

    With ĝ = g * weight that of x is (ĝ - mean(ĝ) - x̂ * mean(ĝ * x̂)) / σ, because every x moves the mean and the deviation, too.
    """
    if (
        x.size >= FROM
        and _are_rows(x, arranged, axes, affine)
        and g.shape == x.shape
        and (kernels := _kernels(x, g, weight))
    ):
        out, n = np.empty(x.shape, FLOAT32), weight.size
        by_weight, by_bias = np.empty((2, n), FLOAT32)
        kernels.layer_norm_backward(
            _as_rows(g, n), _as_rows(x, n), weight.reshape(-1), eps, _as_rows(out, n), by_weight, by_bias
        )
        return out, by_weight.reshape(weight.shape), by_bias.reshape(weight.shape)
    if x.dtype == HALF:
        return _in_float32(normalize_backward, g, x, weight, arranged, axes, affine, eps)
    v = x.reshape(arranged)
    x_hat = v - _mean(v, axes)
    rstd = 1 / np.sqrt(_mean(x_hat * x_hat, axes) + v.dtype.type(eps))
    x_hat *= rstd
    g_hat = (g * weight.reshape(affine)).reshape(arranged)
    out = ((g_hat - _mean(g_hat, axes) - x_hat * _mean(g_hat * x_hat, axes)) * rstd).reshape(x.shape)
    axes = _repeated(x.shape, affine)
    by_weight = np.add.reduce(g * x_hat.reshape(x.shape), axis=axes, keepdims=True)
    return out, by_weight.reshape(weight.shape), np.add.reduce(g, axis=axes, keepdims=True).reshape(weight.shape)


def _repeated(shape, affine):
    """The dimensions of `shape` in which a weight of shape `affine` is repeated."""
    affine = (1,) * (len(shape) - len(affine)) + tuple(affine)
    return tuple([i for i, n in enumerate(affine) if n == 1 and shape[i] != 1])


# Gelu: x times the normal distribution function


def gelu(x):
    if kernels := _kernels(x):
        out = np.empty(x.shape, FLOAT32)
        kernels.gelu(x.reshape(-1), out.reshape(-1))
        return out
    return x * ((erf(x * math.sqrt(0.5)) + 1) * 0.5)


def gelu_slope(g, x):
    if g.shape == x.shape and (kernels := _kernels(x, g)):
        out = np.empty(x.shape, FLOAT32)
        kernels.gelu_slope(g.reshape(-1), x.reshape(-1), out.reshape(-1))
        return out
    return g * ((erf(x * math.sqrt(0.5)) + 1) * 0.5 + x * np.exp(x * x * -0.5) * _INV_SQRT_2PI)
