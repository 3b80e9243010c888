"""Rows: what networks add to mathematics.

What does not live here: layers and losses (nn/). Large inputs may use a fused kernel (kernels/) behind the same row.
"""
import numpy as np

from .. import dtypes
from ..op import GENERAL, Op
from .elementwise import exp
from .reduce import sum_dim
from .shape import wrap_dim


def _softmax(x, dim):
    if not x.size or not x.ndim:
        return np.ones_like(x)
    e = np.exp(x - np.maximum.reduce(x, axis=dim, keepdims=True))
    return e / np.add.reduce(e, axis=dim, keepdims=True)


def _log_softmax(x, dim):
    if not x.size or not x.ndim:
        return np.zeros_like(x)
    x = x - np.maximum.reduce(x, axis=dim, keepdims=True)
    return x - np.log(np.add.reduce(np.exp(x), axis=dim, keepdims=True))


def _sum(g, dim):
    return sum_dim(g, (dim,), True) if g.ndim else g  # a 0-d tensor has dimension 0 as far as softmax goes


# fmt: off
# name          forward                     kind     rule and, for forward mode, jvp
softmax_     = Op("softmax",     _softmax,     GENERAL, x=lambda g, out, dim: out * (g - _sum(g * out, dim)),
                  jvp=lambda t, out, dim: out * (t - _sum(t * out, dim)))
log_softmax_ = Op("log_softmax", _log_softmax, GENERAL, x=lambda g, out, dim: g - exp(out) * _sum(g, dim),
                  jvp=lambda t, out, dim: t - _sum(exp(out) * t, dim))
# fmt: on


def softmax(input, dim, dtype=None):
    """exp(x) / sum(exp(x)) along `dim`: positive numbers with sum 1."""
    return softmax_(_floats(input, dtype), wrap_dim(dim, input.ndim))


def log_softmax(input, dim, dtype=None):
    """The logarithm of softmax, computed without overflow."""
    return log_softmax_(_floats(input, dtype), wrap_dim(dim, input.ndim))


def _floats(input, dtype):
    if dtype is not None:
        return input.to(dtype)
    return input if input.array.dtype.kind == "f" else input.to(dtypes.get_default_dtype())
