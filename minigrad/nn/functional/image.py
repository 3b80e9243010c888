"""Images: larger, smaller, and channels exchanged for cells."""

import warnings
from typing import Any

import numpy as np

from ...ops.resample import ROWS, pixel_shuffle_, pixel_unshuffle_
from ...tensors.tensor import Tensor
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d


def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """(N, C, *size) in another size, given by `size` or `scale_factor` (one number, or one per dimension).

    mode                    nearest, nearest-exact (as other libraries round), area; linear (N, C, L); bilinear, bicubic (N, C, H, W);
                            trilinear (N, C, D, H, W)
    align_corners           the corners' centres keep their places, not the corners' outer edges
    recompute_scale_factor  interpolate with the ratio of the sizes, not with scale_factor as given
    antialias               when shrinking, average over all old cells (bilinear and bicubic)
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
            )
    elif mode == "lanczos":
        raise NotImplementedError("interpolate(mode='lanczos') is not supported; mode='bicubic' with antialias=True is.")
    n = input.ndim - 2
    out, factors = _sizes(input, size, scale_factor, bool(recompute_scale_factor) or mode == "area")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if antialias and not (mode in ("bilinear", "bicubic") and n == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    needs = {"linear": 1, "bilinear": 2, "trilinear": 3}
    if 1 <= n <= 3 and needs.get(mode, n) != n:
        raise NotImplementedError(f"Got {n + 2}D input, but {mode} mode needs {needs[mode] + 2}D input")
    row = ROWS.get((mode + " antialias" * antialias, n))
    if not 1 <= n <= 3 or row is None and mode != "area":
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the modes: nearest | linear | bilinear | "
            f"bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )
    if mode == "area":
        return _AREA[n](input, out)
    if min(out) < 1 or min(input.shape[2:]) < 1:
        before, after = (", ".join(f"{d}: {m}" for d, m in zip("DHW"[3 - n :], size, strict=True)) for size in (input.shape[2:], out))
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({before}) {'and ' * (n == 1)}output ({after})"
        )
    maps = [_map(*along, mode, bool(align_corners), antialias) for along in zip(input.shape[2:], out, factors, strict=True)]
    return row(input, tuple(maps))


def _sizes(input: Tensor, size: Any, scale_factor: Any, recompute: bool) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """The result's size, and the scale factors that PyTorch computes with (None: the ratio of the sizes)."""
    n = input.ndim - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (tuple, list)):
            return (int(size),) * n, (None,) * n
        if len(size) != n:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of "
                f"{list(input.shape[2:])} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                "output size in (o1, o2, ...,oK) format."
            )
        if any(not isinstance(m, (int, np.integer)) for m in size):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size with types "
                f"{[type(m) for m in size]}"
            )
        return tuple(map(int, size)), (None,) * n
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    factors = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * n
    if len(factors) != n:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{list(input.shape[2:])} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) "
            "format and scale_factor in (s1, s2, ...,sK) format."
        )
    out = tuple([int(m * f) for m, f in zip(input.shape[2:], factors, strict=True)])
    return out, (None,) * n if recompute else factors


def _map(n: int, out: int, factor: float | None, mode: str, align_corners: bool, antialias: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """Along one dimension: which of n old cells each of `out` new ones sums, and their weights."""
    scale = 1 / factor if factor else n / out
    new = np.arange(out)
    if mode.startswith("nearest"):
        shift = 0.5 if mode == "nearest-exact" else 0.0
        return np.minimum(np.floor((new + shift) * scale).astype(np.int64), n - 1)[None], None
    if align_corners:
        scale = (n - 1) / (out - 1) if out > 1 else 0.0
    if antialias:
        return _antialiased(n, scale, new, mode)
    at = new * scale if align_corners else (new + 0.5) * scale - 0.5
    if mode == "bicubic":
        low = np.floor(at).astype(np.int64)
        return np.clip(low + np.arange(-1, 3)[:, None], 0, n - 1), _cubic(np.arange(-1, 3)[:, None] - (at - low), -0.75)
    at = np.maximum(at, 0)
    low = np.minimum(at.astype(np.int64), n - 1)
    part = np.clip(at - low, 0, 1)
    return np.stack([low, low if n == out else np.minimum(low + 1, n - 1)]), np.stack([1 - part, part])


def _cubic(x: np.ndarray, a: float) -> np.ndarray:
    """Keys' cubic convolution kernel. Keys 1981, https://doi.org/10.1109/TASSP.1981.1163711"""
    x = np.abs(x)
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _antialiased(n: int, scale: float, new: np.ndarray, mode: str) -> tuple[np.ndarray, np.ndarray]:
    """The filter as wide as `scale` old cells, its weights with sum 1."""
    wide = max(scale, 1.0)
    reach = (1 if mode == "bilinear" else 2) * wide
    centre = (new + 0.5) * scale
    low = np.maximum((centre - reach + 0.5).astype(np.int64), 0)
    high = np.minimum((centre + reach + 0.5).astype(np.int64), n)
    cells = low + np.arange((high - low).max())[:, None]
    x = (cells - centre + 0.5) / wide
    weights = np.where(cells < high, np.maximum(1 - np.abs(x), 0) if mode == "bilinear" else _cubic(x, -0.5), 0)
    return np.minimum(cells, high - 1), weights / weights.sum(0)


_AREA = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}


def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None) -> Tensor:
    """The old name of interpolate."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


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


__all__ = ["interpolate", "pixel_shuffle", "pixel_unshuffle", "upsample", "upsample_bilinear", "upsample_nearest"]
