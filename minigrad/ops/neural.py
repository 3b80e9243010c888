"""Rows: what networks add to mathematics.

What does not live here: layers and losses (nn/), and the arithmetic, which has a compiled twin (kernels/neural.py).
"""

import numpy as np

from ..core import errors
from ..core.op import GENERAL, Op
from ..kernels import neural as kernels
from .dims import wrap_dim
from .elementwise import exp
from .reduce import sum_dim


def _sum(g, dim):
    return sum_dim(g, (dim,), True) if g.ndim else g  # a 0-d tensor has dimension 0 as far as softmax goes


def _safe_softmax(x, dim):
    out = kernels.softmax(x, dim)
    if out.size:
        blind = np.maximum.reduce(x, axis=dim, keepdims=True) == -np.inf
        if blind.any():
            out = np.where(blind, out.dtype.type(0), out)
    return out


# fmt: off
# name          forward                             kind     rules and, for forward mode, jvp
softmax_     = Op("softmax",     kernels.softmax,     GENERAL, x=lambda g, out, dim: softmax_slope(g, out, dim),
                  jvp=lambda t, out, dim: out * (t - _sum(t * out, dim)), batch="dims")
safe_softmax_ = Op("safe_softmax", _safe_softmax,     GENERAL, x=lambda g, out, dim: softmax_slope(g, out, dim),
                  jvp=lambda t, out, dim: out * (t - _sum(t * out, dim)), batch="dims")
log_softmax_ = Op("log_softmax", kernels.log_softmax, GENERAL, x=lambda g, out, dim: log_softmax_slope(g, out, dim),
                  jvp=lambda t, out, dim: t - _sum(exp(out) * t, dim), batch="dims")

# Their backward: `x` is the gradient that arrived, `y` the result.
softmax_slope     = Op("softmax_backward_data",     kernels.softmax_slope,     GENERAL, args="grad_output output",
                  saved_as={"x": "grad_output", "y": "output"},
                  x=lambda g, y, dim: softmax_slope(g, y, dim),
                  y=lambda g, x, y, dim: g * (x - _sum(x * y, dim)) - x * _sum(g * y, dim), formula="y * (x - sum(x * y, dim))")
log_softmax_slope = Op("log_softmax_backward_data", kernels.log_softmax_slope, GENERAL, args="grad_output output",
                  saved_as={"x": "grad_output", "y": "output"},
                  x=lambda g, y, dim: g - _sum(g * exp(y), dim),
                  y=lambda g, x, y, dim: -g * exp(y) * _sum(x, dim), formula="x - exp(y) * sum(x, dim)")
# fmt: on


def softmax(input, dim, dtype=None):
    """exp(x) / sum(exp(x)) along `dim`: positive numbers with sum 1."""
    return softmax_(_floats(input, dtype, "softmax_lastdim_kernel_impl"), wrap_dim(dim, input.ndim))


def safe_softmax(input, dim):
    """softmax for scores with a mask: zeros, not nan, where all along `dim` is -inf, and no gradient."""
    return safe_softmax_(input, wrap_dim(dim, input.ndim))


def log_softmax(input, dim, dtype=None):
    """The logarithm of softmax, computed without overflow."""
    return log_softmax_(_floats(input, dtype, "log_softmax_lastdim_kernel_impl"), wrap_dim(dim, input.ndim))


def _floats(input, dtype, kernel):
    if dtype is not None:
        return input.to(dtype)
    if input.array.dtype.kind != "f":
        raise errors.no_kernel(kernel, input.array.dtype)
    return input
