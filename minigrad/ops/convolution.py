"""Rows: convolutions of any number of spatial dimensions.

What lives here: three rows, each linear in both of its inputs, and each the derivative of the other two: a convolution, its transpose (the
gradient of the input) and the gradient of its weight. What does not: PyTorch's arguments (nn/functional.py).

Shapes: x (N, C, *size), w (O, C / groups, *kernel), result (N, O, *out). stride, padding and dilation are tuples, one number per spatial
dimension. Windows are unfolded into columns, so that the work is one matrix product.
"""

# ruff: noqa: E501  (a row is one line)
import itertools
import math
from typing import Any

import numpy as np

from ..core.op import GENERAL, MULTILINEAR, Op
from ..kernels import windows as kernels
from .elementwise import nothing
from .reduce import sum_dim


def out_size(size, kernel, stride, padding, dilation):
    """The spatial size of a convolution's result."""
    return tuple(
        [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
        ]
    )


def padded(x, padding, value=0):
    """x with `padding` cells on both sides of each spatial dimension."""
    if not any(padding):
        return x
    n = x.ndim - len(padding)
    shape = x.shape[:n] + tuple([size + 2 * p for size, p in zip(x.shape[n:], padding, strict=True)])
    out = np.full(shape, value, x.dtype) if value else np.zeros(shape, x.dtype)
    inside: Any = [slice(p, p + size) for size, p in zip(x.shape[n:], padding, strict=True)]
    out[(..., *inside)] = x
    return out


def windows(x, kernel, stride, dilation):
    """Every window of x as a strided view, not a copy: (N, C, *kernel, *out)."""
    size = x.shape[2:]
    out = out_size(size, kernel, stride, (0,) * len(size), dilation)
    steps = x.strides[2:]
    strides = (
        x.strides[:2]
        + tuple([s * d for s, d in zip(steps, dilation, strict=True)])
        + tuple([a * b for a, b in zip(steps, stride, strict=True)])
    )
    return np.lib.stride_tricks.as_strided(x, x.shape[:2] + tuple(kernel) + out, strides, writeable=False)


def unfold(x, kernel, stride, padding, dilation, groups):
    """The windows as columns, a matrix per sample and group: (N, groups, C / groups * cells, positions)."""
    n, c = x.shape[:2]
    out = out_size(x.shape[2:], kernel, stride, padding, dilation)
    columns = kernels.unfold(x, kernel, stride, padding, dilation, out)
    if columns is None:
        columns = windows(padded(x, padding), kernel, stride, dilation)
    return columns.reshape(n, groups, c // groups * math.prod(kernel), math.prod(out))


def fold(columns, channels, size, kernel, stride, padding, dilation):
    """The transpose of unfold: columns (N, ..., positions) added up where their cells lie in (N, channels, *size)."""
    out = out_size(size, kernel, stride, padding, dilation)
    columns = columns.reshape(columns.shape[0], channels, *kernel, *out)
    if (x := kernels.fold(columns, size, kernel, stride, padding, dilation)) is not None:
        return x
    x = np.zeros((columns.shape[0], channels, *[n + 2 * p for n, p in zip(size, padding, strict=True)]), columns.dtype)
    for cell in itertools.product(*map(range, kernel)):
        places: Any = [slice(i * d, i * d + s * o, s) for i, d, s, o in zip(cell, dilation, stride, out, strict=True)]
        x[(..., *places)] += columns[(slice(None), slice(None), *cell)]
    inside: Any = [slice(p, p + n) for n, p in zip(size, padding, strict=True)]
    return x[(..., *inside)]


def _convolution(x, w, stride, padding, dilation, groups):
    columns = unfold(x, w.shape[2:], stride, padding, dilation, groups)
    out = np.matmul(w.reshape(groups, w.shape[0] // groups, columns.shape[2]), columns)
    return out.reshape(x.shape[0], w.shape[0], *out_size(x.shape[2:], w.shape[2:], stride, padding, dilation))


def _transposed(x, w, size, stride, padding, dilation, groups):
    """From (N, O, *out) back to (N, C, *size)."""
    flat = x.reshape(x.shape[0], groups, x.shape[1] // groups, math.prod(x.shape[2:]))
    columns = np.matmul(w.reshape(groups, w.shape[0] // groups, math.prod(w.shape[1:])).swapaxes(1, 2), flat)
    return fold(columns, w.shape[1] * groups, size, w.shape[2:], stride, padding, dilation)


def _weight(g, x, shape, stride, padding, dilation, groups):
    """The gradient of the weight, of `shape`, from that of the result."""
    columns = unfold(x, shape[2:], stride, padding, dilation, groups)
    n, _, cells, positions = columns.shape
    g = g.reshape(n, groups, shape[0] // groups, positions)
    if n == 1:
        return np.matmul(g[0], columns[0].swapaxes(1, 2)).reshape(shape)
    if n * math.prod(shape) <= columns.size:  # a product for each sample, and their sum: nothing is copied
        return np.add.reduce(np.matmul(g, columns.swapaxes(2, 3)), axis=0).reshape(shape)
    # One product over samples and positions together.
    g = g.transpose(1, 2, 0, 3).reshape(groups, shape[0] // groups, -1)
    columns = columns.transpose(1, 0, 3, 2).reshape(groups, -1, cells)
    return np.matmul(g, columns).reshape(shape)


def _bias_shape(x):
    return (-1,) + (1,) * (x.ndim - 2)


def _plus(out, bias):
    out += bias
    return out


def _sum_but_channels(g):
    return sum_dim(g, (0, *range(2, g.ndim)))


def _with_bias(ts, x, w, stride, padding, dilation, groups):
    """Forward mode of a convolution with bias: the tangent in each slot in turn."""
    tx, tw, tb = ts
    parts = [] if tx is None else [convolution(tx, w, stride, padding, dilation, groups)]
    parts += [] if tw is None else [convolution(x, tw, stride, padding, dilation, groups)]
    out = parts[0] + parts[1] if len(parts) == 2 else parts[0] if parts else None
    if tb is None:
        return out
    tb = tb.reshape(_bias_shape(x))
    return nothing(convolution(x, w, stride, padding, dilation, groups)) + tb if out is None else out + tb


def _pad(x, shape, key, value):
    out = np.full(shape, value, x.dtype)
    out[key] = x
    return out


# fmt: off
_x_rule = lambda g, w, x_shape, stride, padding, dilation, groups: conv_transpose(g, w, x_shape[2:], stride, padding, dilation, groups)  # noqa: E731
_w_rule = lambda g, x, w_shape, stride, padding, dilation, groups: conv_weight(g, x, w_shape, stride, padding, dilation, groups)  # noqa: E731
_ONE_DTYPE = {"x w": "expected scalar type {x} but found {w}"}

convolution    = Op("convolution", _convolution, MULTILINEAR, x=_x_rule, w=_w_rule, args="input weight", one_dtype=_ONE_DTYPE, saved_as={"x": "input", "w": "weight"},
                    words={"x": "g convolved with {w} turned round", "w": "{x} convolved with g"})
conv_transpose = Op("conv_transpose", _transposed, MULTILINEAR, args="input weight", one_dtype=_ONE_DTYPE, node="ConvolutionBackward0", saved_as={"x": "input", "w": "weight"},
                    x=lambda g, w, stride, padding, dilation, groups: convolution(g, w, stride, padding, dilation, groups),
                    w=lambda g, x, w_shape, stride, padding, dilation, groups: conv_weight(x, g, w_shape, stride, padding, dilation, groups),
                    words={"w": "g convolved with {x}"})
conv_weight    = Op("conv_weight", _weight, MULTILINEAR, args="grad_output input", node="ConvolutionBackwardBackward0",
                    g_out=lambda g, x, stride, padding, dilation, groups: convolution(x, g, stride, padding, dilation, groups),
                    x=lambda g, g_out, x_shape, stride, padding, dilation, groups: conv_transpose(g_out, g, x_shape[2:], stride, padding, dilation, groups),
                    words={"x": "what comes from outside convolved with g"})
convolution_bias = Op("convolution_bias", lambda x, w, b, stride, padding, dilation, groups: _plus(_convolution(x, w, stride, padding, dilation, groups), b.reshape(_bias_shape(x))),
                    GENERAL, args="input weight bias", node="ConvolutionBackward0",
                    one_dtype={"x b": "Input type ({x_c}) and bias type ({b_c}) should be the same", **_ONE_DTYPE}, saved_as={"x": "input", "w": "weight", "b": "bias"},
                    x=_x_rule, w=_w_rule, b=_sum_but_channels, jvp=_with_bias,
                  words={"x": "g convolved with {w} turned round", "w": "{x} convolved with g", "b": "g summed over all but the channels"})
# Windows as columns, for people: (N, C, *size) -> (N, C * cells, positions), and back.
im2col = Op("im2col", lambda x, kernel, stride, padding, dilation: unfold(x, kernel, stride, padding, dilation, 1)[:, 0], MULTILINEAR, node="Im2ColBackward0",
            x=lambda g, x_shape, kernel, stride, padding, dilation: col2im(g, x_shape[1], x_shape[2:], kernel, stride, padding, dilation))
col2im = Op("col2im", fold, MULTILINEAR, node="Col2ImBackward0",
            columns=lambda g, kernel, stride, padding, dilation: im2col(g, kernel, stride, padding, dilation), args="input")
constant_pad = Op("constant_pad_nd", lambda x, shape, key, value: _pad(x, shape, key, value), GENERAL, x=lambda g, key: g[key],
            jvp=lambda t, shape, key: constant_pad(t, shape, key, 0))
# fmt: on
