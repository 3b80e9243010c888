"""Rows: cells copied to other places along the last dimensions. Padding by reflection, repetition or wrapping; nearest-neighbour enlargement.

What lives here: one computation under PyTorch's several names: `places` holds, for each of the last dimensions, which old cell each new cell
copies (a tuple of index arrays). What does not: how `places` comes about (nn/functional).
"""
# ruff: noqa: E501  (a row is one line)
import numpy as np

from ..core.op import LINEAR, Op


def _copy_cells(x, places):
    return x[(..., *np.ix_(*places))]


def _add_cells(g, places, size):
    """The transpose: a cell that was copied several times gets the sum. One dimension after the other."""
    for i, (place, n) in enumerate(zip(places, size, strict=True)):
        axis = g.ndim - len(places) + i
        out = np.zeros((*g.shape[:axis], n, *g.shape[axis + 1 :]), g.dtype)
        np.add.at(out, (*[slice(None)] * axis, place), g)
        g = out
    return g


def _row(name, node):
    return Op(name, _copy_cells, LINEAR, node=node, x=lambda g, x_shape, places: add_cells(g, places, x_shape[len(x_shape) - len(places) :]))


add_cells = Op("upsample_nearest_backward", _add_cells, LINEAR, args="grad_output", g_out=lambda g, places: ROWS["nearest", 2](g, places))
ROWS = {
    ("reflect", 1): _row("reflection_pad1d", "ReflectionPad1DBackward0"),
    ("reflect", 2): _row("reflection_pad2d", "ReflectionPad2DBackward0"),
    ("replicate", 1): _row("replication_pad1d", "ReplicationPad1DBackward0"),
    ("replicate", 2): _row("replication_pad2d", "ReplicationPad2DBackward0"),
    ("circular", 1): _row("circular_pad1d", "CopySlices"),  # PyTorch writes into a larger tensor
    ("circular", 2): _row("circular_pad2d", "CopySlices"),
    ("nearest", 1): _row("upsample_nearest1d", "UpsampleNearest1DBackward0"),
    ("nearest", 2): _row("upsample_nearest2d", "UpsampleNearest2DBackward0"),
}


def _shuffle(x, factor):
    r = factor
    *n, c, h, w = x.shape
    k = len(n)
    split = x.reshape(*n, c // (r * r), r, r, h, w).transpose(*range(k), k, k + 3, k + 1, k + 4, k + 2)
    return split.reshape(*n, c // (r * r), h * r, w * r)


def _unshuffle(x, factor):
    r = factor
    *n, c, h, w = x.shape
    k = len(n)
    split = x.reshape(*n, c, h // r, r, w // r, r).transpose(*range(k), k, k + 2, k + 4, k + 1, k + 3)
    return split.reshape(*n, c * r * r, h // r, w // r)


pixel_shuffle_ = Op("pixel_shuffle", _shuffle, LINEAR, x=lambda g, factor: pixel_unshuffle_(g, factor))
pixel_unshuffle_ = Op("pixel_unshuffle", _unshuffle, LINEAR, x=lambda g, factor: pixel_shuffle_(g, factor))
