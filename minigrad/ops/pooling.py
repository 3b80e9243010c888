"""Rows: many neighbouring cells become one.

What lives here: maximum and mean over windows. What does not: PyTorch's arguments, and 1-d pooling, which is 2-d pooling of one row
(nn/functional.py). Shapes: x (N, C, *size), result (N, C, *out); numbers of several dimensions are tuples.
"""

# ruff: noqa: E501  (a row is one line)
import itertools
import math
from typing import Any

import numpy as np

from ..core import errors
from ..core.op import GENERAL, LINEAR, Op
from ..kernels import windows as kernels
from ..kernels.positions import bincount
from .convolution import out_size, padded


def _flat_positions(offsets, sizes):
    """Positions given per dimension (broadcastable arrays) as positions in the flattened image."""
    flat = offsets[0]
    for position, n in zip(offsets[1:], sizes[1:], strict=True):
        flat = flat * n + position
    return flat


def _max_pool(x, kernel, stride, padding, dilation, ceil_mode):
    """The largest value of each window, and its index in the flattened image. Padding is -inf and never chosen; a window of
    nothing else has the position -1."""
    size = x.shape[2:]
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    out = (
        ceil_size(size, kernel, stride, padding, dilation)
        if ceil_mode
        else out_size(size, kernel, stride, padding, dilation)
    )
    if pooled := kernels.max_pool(x, kernel, stride, padding, dilation, out):
        return pooled
    x = padded(x, padding, lowest)
    short = [
        max(0, (o - 1) * s + d * (k - 1) + 1 - n)
        for o, s, d, k, n in zip(out, stride, dilation, kernel, x.shape[2:], strict=True)
    ]
    if any(short):
        x = np.pad(x, [(0, 0), (0, 0), *[(0, n) for n in short]], constant_values=lowest)
    # Cell by cell of the window, for all windows at once: no copy of the windows is made.
    values, winner = None, np.zeros((*x.shape[:2], *out), np.uint8 if np.prod(kernel) < 256 else np.intp)
    for number, cell in enumerate(itertools.product(*map(range, kernel))):
        spans = [
            slice(i * d, i * d + (o - 1) * s + 1, s) for i, d, o, s in zip(cell, dilation, out, stride, strict=True)
        ]
        local = x[(..., *spans)]
        if values is None:
            values = local.copy()
            continue
        better = local > values
        if x.dtype.kind == "f":
            better |= local != local  # nan wins
        np.copyto(values, local, where=better)
        np.copyto(winner, number, where=better)
    starts = np.ogrid[tuple([slice(n) for n in out])]
    inside = np.unravel_index(winner, kernel)
    places = [o * s + i * d - p for o, s, i, d, p in zip(starts, stride, inside, dilation, padding, strict=True)]
    index = _flat_positions(places, size)
    if any(padding):
        skipped = [
            -(np.minimum(o * s - p, 0) // d) for o, s, p, d in zip(starts, stride, padding, dilation, strict=True)
        ]
        firsts = [o * s - p + a * d for o, s, p, a, d in zip(starts, stride, padding, skipped, dilation, strict=True)]
        outside, empty = np.zeros((2, *index.shape), bool)
        for place, first, a, n, k in zip(places, firsts, skipped, size, kernel, strict=True):
            outside |= (place < 0) | (place >= n)
            empty |= (a >= k) | (first >= n)
        # Outside: where all in the image is -inf
        index = np.where(empty, -1, np.where(outside, _flat_positions(firsts, size), index))
    return values, index


def ceil_size(size, kernel, stride, padding, dilation):
    """The spatial size of the result when incomplete windows count: one that starts within the image or its left padding."""
    out = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        o = -((-(n + 2 * p - d * (k - 1) - 1)) // s) + 1
        out.append(o - 1 if (o - 1) * s >= n + p else o)
    return tuple(out)


def _adaptive_bounds(n, out):
    """Where the windows begin and end that share n cells among `out` results as evenly as they can."""
    return [(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]


def _adaptive_max_pool(x, out):
    size = x.shape[2:]
    values = np.empty((*x.shape[:2], *out), x.dtype)
    index = np.empty(values.shape, np.int64)
    bounds = [_adaptive_bounds(n, o) for n, o in zip(size, out, strict=True)]
    for cell in itertools.product(*map(range, out)):
        spans = [b[i] for b, i in zip(bounds, cell, strict=True)]
        window = x[(..., *[slice(*span) for span in spans])]
        flat = window.reshape(*x.shape[:2], math.prod(window.shape[2:]))
        winner = flat.argmax(2)
        inside = np.unravel_index(winner, window.shape[2:])
        place: Any = (..., *cell)
        values[place] = np.take_along_axis(flat, winner[..., None], 2)[..., 0]
        index[place] = _flat_positions([i + span[0] for i, span in zip(inside, spans, strict=True)], size)
    return values, index


def _starts(sample, n, out, kernel):
    """Where `out` windows begin in n cells, at distances that random numbers decide: (N, C, out). The last one ends with the cells."""
    if out < 2:
        return np.full((*sample.shape, out), n - kernel)
    step = sample.dtype.type(n - kernel) / sample.dtype.type(out - 1)
    place = np.arange(out - 1, dtype=sample.dtype)
    starts = np.trunc((place + sample[..., None]) * step) - np.trunc(sample * step)[..., None]
    return np.concatenate([starts.astype(np.intp), np.full((*sample.shape, 1), n - kernel)], 2)


def _fractional_max_pool(x, samples, kernel, out):
    size, d = x.shape[2:], len(kernel)
    # PyTorch's order: in two dimensions the first number is that of the width
    columns = (1, 0) if d == 2 else (0, 1, 2)
    starts = [_starts(samples[: len(x), :, c], n, o, k) for c, n, o, k in zip(columns, size, out, kernel, strict=True)]
    starts = [
        s.reshape(*s.shape[:2], *[s.shape[2] if i == along else 1 for i in range(d)]) for along, s in enumerate(starts)
    ]
    index = np.broadcast_to(_flat_positions(starts, size), (*x.shape[:2], *out))
    flat = x.reshape(*x.shape[:2], math.prod(size))
    values = np.full(index.shape, -np.inf, x.dtype)
    for cell in itertools.product(*map(range, kernel)):
        places = _flat_positions([s + i for s, i in zip(starts, cell, strict=True)], size)
        local = np.take_along_axis(flat, places.reshape(*x.shape[:2], math.prod(out)), 2).reshape(index.shape)
        better = (local > values) | (local != local)  # nan wins
        values, index = np.where(better, local, values), np.where(better, places, index)
    return values, index.astype(np.int64)


def _put(g, index, size):
    """Zeros of the image with g added at the flat positions; a position may be the winner of several windows."""
    if (out := kernels.put(g, index, size)) is not None:
        return out
    n, c = g.shape[:2]
    cells = int(np.prod(size))
    rows = np.arange(n * c)[:, None] * cells
    if index.size and index.min() < 0:
        g, index = np.where(index < 0, 0, g), np.maximum(index, 0)
    flat = bincount((rows + index.reshape(n * c, math.prod(index.shape[2:]))).ravel(), g.ravel(), n * c * cells)
    return flat.astype(g.dtype, copy=False).reshape(n, c, *size)


def _put_last(x, index, size):
    """Zeros of the image with x written at the flat positions, in order. Raises RuntimeError for a position outside."""
    out = np.zeros((*x.shape[:2], math.prod(size)), x.dtype)
    if x.size:
        wrong = (index < 0) | (index >= out.shape[2])
        if wrong.any():
            across = "x".join(map(str, size if len(size) > 1 else (*size, 1)))
            raise errors.new(
                RuntimeError, f"Found an invalid max index: {index[wrong][0]} (output volumes are of size {across})"
            )
        np.put_along_axis(out, index.reshape(*x.shape[:2], -1), x.reshape(*x.shape[:2], -1), 2)
    return out.reshape(*x.shape[:2], *size)


def _take(x, index):
    flat, places = (a.reshape(*x.shape[:2], math.prod(a.shape[2:])) for a in (x, index))
    used = np.take_along_axis(flat, places, 2).reshape(index.shape)
    return np.where(index < 0, 0, used) if index.size and index.min() < 0 else used


class Windows:
    """The averages of equal windows, summed one by one, for sizes whose matrix in `averages` would be large."""

    def __init__(self, n, kernel, stride, padding, divisors, transposed=False):
        self.given = n, kernel, stride, padding, divisors
        self.transposed = transposed

    @property
    def T(self):
        return Windows(*self.given, not self.transposed)

    def along(self, x, axis):
        n, kernel, stride, padding, divisors = self.given
        x = np.moveaxis(x, axis, -1)
        span = (len(divisors) - 1) * stride + 1
        padded = np.zeros((*x.shape[:-1], max(n + 2 * padding, span + kernel - 1)), x.dtype)
        if self.transposed:
            shared = x / divisors.astype(x.dtype)
            for first in range(kernel):
                padded[..., first : first + span : stride] += shared
            return np.moveaxis(padded[..., padding : padding + n], -1, axis)
        padded[..., padding : padding + n] = x
        total = sum(
            [padded[..., first : first + span : stride] for first in range(1, kernel)], padded[..., :span:stride]
        )
        return np.moveaxis(total / divisors.astype(x.dtype), -1, axis)


def averages(n, bounds, dtype, divisors=None):
    """The matrix (out, n) whose rows average the cells between each pair of bounds."""
    matrix = np.zeros((len(bounds), n), np.float32 if dtype == np.float16 else dtype)
    for i, (a, b) in enumerate(bounds):
        matrix[i, max(a, 0) : min(b, n)] = 1 / (b - a if divisors is None else divisors[i])
    return matrix


def _average(x, matrices):
    """Means over boxes are separable: one small matrix per dimension."""
    first = x.ndim - len(matrices)
    out = wide = x.astype(np.float32) if x.dtype == np.float16 else x
    for axis, matrix in enumerate(matrices, first):
        if isinstance(matrix, Windows):
            out = matrix.along(out, axis)
        elif axis == x.ndim - 1:
            out = np.matmul(out, matrix.T)
        else:
            shape = out.shape
            flat = np.matmul(matrix, out.reshape(*shape[:axis], shape[axis], math.prod(shape[axis + 1 :])))
            out = flat.reshape(*shape[:axis], len(matrix), *shape[axis + 1 :])
    if not np.isfinite(out).all():  # 0 * inf in a window that does not contain the inf: sum each window separately
        out = wide
        for axis, matrix in enumerate(matrices, first):
            if isinstance(matrix, Windows):
                out = matrix.along(out, axis)
            else:
                out = np.stack(
                    [np.tensordot(row[row != 0], out.compress(row != 0, axis), (0, axis)) for row in matrix], axis
                )
    return out.astype(x.dtype, copy=False)


def _transposed(matrices):
    return tuple([m.T for m in matrices])


# fmt: off
_winner = lambda g, x_shape, indices: max_put(g, indices, x_shape[2:])  # noqa: E731


def _largest(name, forward, node):
    return Op(name, forward, GENERAL, outputs=("out", "indices"), node=node, x=_winner, jvp=lambda t, indices: max_take(t, indices),
              words={"x": "g at the place of each window's maximum, else 0"})


def _mean(name, node):
    return Op(name, _average, LINEAR, node=node, x=lambda g, matrices: avg_pool(g, _transposed(matrices)),
              words={"x": "g divided by each window's size, spread over it"}, batch="same")


MAX_POOL          = {n: _largest(f"max_pool{n}d_with_indices", _max_pool, f"MaxPool{n}DWithIndicesBackward0") for n in (2, 3)}
ADAPTIVE_MAX_POOL = {n: _largest(f"adaptive_max_pool{n}d", _adaptive_max_pool, f"AdaptiveMaxPool{n}DBackward0") for n in (2, 3)}
FRACTIONAL_MAX_POOL = {
    n: Op(f"fractional_max_pool{n}d", _fractional_max_pool, GENERAL, outputs=("out", "indices"), node=f"FractionalMaxPool{n}DBackward0", x=_winner, samples=None,
          args="input _random_samples", jvp=lambda ts, indices: max_take(ts[0], indices), words={"x": "g at the place of each window's maximum, else 0"})
    for n in (2, 3)
}
AVG_POOL          = {n: _mean(f"avg_pool{n}d", f"AvgPool{n}DBackward0") for n in (2, 3)}
ADAPTIVE_AVG_POOL = {n: _mean(f"adaptive_avg_pool{n}d", f"AdaptiveAvgPool{n}DBackward0") for n in (2, 3)}
avg_pool          = AVG_POOL[2]
max_unpool        = Op("max_unpool2d", _put_last, LINEAR, args="input indices", node="MaxUnpool2DBackward0", x=lambda g, indices: max_take(g, indices), indices=None,
                       words={"x": "g read at the places that were filled"})
max_put           = Op("max_pool_backward", _put, LINEAR, args="input indices", x=lambda g, indices: max_take(g, indices), indices=None,
                       words={"x": "g read at the places that were filled"})
max_take          = Op("max_pool_take", _take, LINEAR, args="input indices", x=lambda g, x_shape, indices: max_put(g, indices, x_shape[2:]), indices=None,
                       words={"x": "g at the places that were read, else 0"})
# fmt: on
