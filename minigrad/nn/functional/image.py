"""Images: larger, and channels exchanged for cells."""

from typing import Any

import numpy as np

from ...ops.resample import ROWS, pixel_shuffle_, pixel_unshuffle_
from ...tensors.tensor import Tensor


def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """(N, C, *size) in another size, each new cell a copy of the nearest old one. Only mode="nearest"."""
    if mode != "nearest":
        raise NotImplementedError(f"interpolate(mode='{mode}') is not supported; mode='nearest' is.")
    n = input.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "either size or scale_factor should be defined" if size is None else "only one of size or scale_factor should be defined"
        )
    if size is None:
        factors = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * n
        size = tuple([int(m * f) for m, f in zip(input.shape[2:], factors, strict=True)])
    else:
        size = tuple(size) if isinstance(size, (tuple, list)) else (size,) * n
        factors = tuple([o / m for o, m in zip(size, input.shape[2:], strict=True)])
    places = tuple([
        np.minimum((np.arange(o) / f).astype(np.int64), m - 1) for o, f, m in zip(size, factors, input.shape[2:], strict=True)
    ])  # fmt: skip
    return ROWS["nearest", min(n, 2)](input, places)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(N, C * r * r, H, W) -> (N, C, H * r, W * r)."""
    r = upscale_factor
    c = input.shape[-3]
    if c % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={c} is not divisible by {r * r}"
        )
    return pixel_shuffle_(input, r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(N, C, H * r, W * r) -> (N, C * r * r, H, W)."""
    return pixel_unshuffle_(input, downscale_factor)


__all__ = ["interpolate", "pixel_shuffle", "pixel_unshuffle"]
