"""Rows: each new cell of the last dimensions is a sum of a few old ones. Padding, and enlarging or shrinking images.

What lives here: one computation under PyTorch's several names. `maps` has, for each of the last dimensions, (places, weights): the old cells
that each new one sums, an index array (k, new size), and the weight of each, an array of that shape, or None for a plain copy (k = 1).
What does not: how `maps` comes about (nn/functional).
"""

# ruff: noqa: E501  (a row is one line)
import numpy as np

from ..core.op import LINEAR, Op
from ..kernels.positions import picked


def _sum_cells(x, maps):
    if x.dtype == np.uint8 and maps[0][1] is not None:
        return _sum_bytes(x, maps)
    for axis, (places, weights) in enumerate(maps, x.ndim - len(maps)):
        if weights is None:
            x = picked(x, places[0], axis)
        else:
            along = (-1, *[1] * (x.ndim - axis - 1))
            weights = weights.astype(x.dtype, copy=False)
            x = sum(picked(x, place, axis) * w.reshape(along) for place, w in zip(places, weights, strict=True))
    return x


def _sum_bytes(x, maps):
    """The same for bytes as PyTorch computes it: weights of 16 bits, the last dimension first, each result rounded to a byte."""
    for axis, (places, weights) in reversed([*enumerate(maps, x.ndim - len(maps))]):
        bits = next((b for b in range(22) if int(0.5 + weights.max() * 2 ** (b + 1)) >= 2**15), 22)
        rounded = np.trunc(weights * 2**bits + np.copysign(0.5, weights)).astype(np.int64)
        along = (-1, *[1] * (x.ndim - axis - 1))
        total = sum(picked(x, place, axis) * w.reshape(along) for place, w in zip(places, rounded, strict=True))
        x = np.clip((total + 2 ** (bits - 1)) >> bits, 0, 255).astype(np.uint8)
    return x


def _spread_cells(g, maps, size):
    """The transpose: each old cell gets the sum over the new ones that it is part of. One dimension after the other."""
    for axis, ((places, weights), n) in enumerate(zip(maps, size, strict=True), g.ndim - len(maps)):
        along = (-1, *[1] * (g.ndim - axis - 1))
        out = np.zeros((*g.shape[:axis], n, *g.shape[axis + 1 :]), g.dtype)
        for k, place in enumerate(places):
            part = g if weights is None else g * weights[k].astype(g.dtype, copy=False).reshape(along)
            np.add.at(out, (*[slice(None)] * axis, place), part)
        g = out
    return g


def _row(name, node):
    if "_pad" in name:
        words = "g, with the gradients of copied cells added to their originals"
    elif "nearest" in name:
        words = "g summed over the copies of each cell"
    else:
        words = "g summed over the new cells that each old one is part of, with its weights"
    return Op(name, _sum_cells, LINEAR, node=node, x=lambda g, x_shape, maps: spread_cells(g, maps, x_shape[len(x_shape) - len(maps) :]),
              words={"x": words}, batch="same")  # fmt: skip


spread_cells = Op(
    "resample_backward",
    _spread_cells,
    LINEAR,
    args="grad_output",
    g_out=lambda g, maps: ROWS["nearest", 2](g, maps),
    words={"g_out": "g read at the cells that were summed"},
)
_NAMES = {"reflect": ("reflection_pad", "ReflectionPad"), "replicate": ("replication_pad", "ReplicationPad"),
          "nearest": ("upsample_nearest", "UpsampleNearest"), "nearest-exact": ("_upsample_nearest_exact", "UpsampleNearestExact")}  # fmt: skip
ROWS = {
    (mode, n): _row(f"{name}{n}d", f"{node}{n}DBackward0") for mode, (name, node) in _NAMES.items() for n in (1, 2, 3)
}
# PyTorch writes into a larger tensor
ROWS |= {("circular", n): _row(f"circular_pad{n}d", "CopySlices") for n in (1, 2, 3)}
ROWS |= {
    (mode, n): _row(f"upsample_{mode}{n}d", f"Upsample{mode.capitalize()}{n}DBackward0")
    for mode, n in (("linear", 1), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3))
}
ROWS |= {
    (f"{mode} antialias", 2): _row(f"_upsample_{mode}2d_aa", f"Upsample{mode.capitalize()}2DAaBackward0")
    for mode in ("bilinear", "bicubic")
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
