"""Images: larger, smaller, and channels exchanged for cells."""

import itertools
import warnings
from typing import Any

import numpy as np

from ...core import errors
from ...ops.resample import ROWS, pixel_shuffle_, pixel_unshuffle_
from ...tensors.tensor import Tensor
from ._arguments import check_floating, constant
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
    Raises ValueError for options that exclude each other, NotImplementedError for a mode that does not fit the dimensions, RuntimeError
    for an empty input or result.
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
            )
    elif mode == "lanczos":
        raise NotImplementedError(
            "interpolate(mode='lanczos') is not supported; mode='bicubic' with antialias=True is."
        )
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
        before, after = (
            ", ".join(f"{d}: {m}" for d, m in zip("DHW"[3 - n :], size, strict=True)) for size in (input.shape[2:], out)
        )
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({before}) {'and ' * (n == 1)}output ({after})"
        )
    if 0 in input.shape[1:]:
        raise RuntimeError(f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {list(input.shape)}")
    if input.array.dtype != np.uint8 or n != 2 and "nearest" not in mode:
        check_floating(
            input, "compute_index_ranges_weights" if antialias else _KERNELS.get((mode, n)) or _KERNELS[mode]
        )
    maps = [
        _map(*along, mode, bool(align_corners), antialias) for along in zip(input.shape[2:], out, factors, strict=True)
    ]
    return row(input, tuple(maps))  # type: ignore[misc]


_KERNELS: dict[Any, str] = {
    "nearest": "compute_indices_weights_nearest", "nearest-exact": "compute_indices_weights_nearest",
    ("nearest", 2): "upsample_nearest2d_channels_last", ("nearest-exact", 2): "upsample_nearest2d_channels_last",
    "linear": "compute_indices_weights_linear", "bilinear": "upsample_bilinear2d_channels_last",
    "trilinear": "compute_indices_weights_linear", "bicubic": "compute_indices_weights_cubic",
}  # fmt: skip


def _sizes(
    input: Tensor, size: Any, scale_factor: Any, recompute: bool
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
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
    if max(out, default=0) >= 1 << 63:
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return out, (None,) * n if recompute else factors


def _map(
    n: int, out: int, factor: float | None, mode: str, align_corners: bool, antialias: bool
) -> tuple[np.ndarray, np.ndarray | None]:
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


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Channels as a table of `groups` rows, transposed: (N, C, ...).
    Raises RuntimeError for fewer dimensions, and unless `groups` divides C."""
    if input.ndim < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if input.shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input.shape[1]} channels and {groups} groups."
        )
    n, c, *image = input.shape
    return input.reshape(n, groups, c // groups, *image).transpose(1, 2).reshape(*input.shape)


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """Where grid_sample should read for an affine map: theta (N, 2, 3), size (N, C, H, W) -> (N, H, W, 2); or (N, 3, 4) for volumes.
    Raises ValueError for other shapes or integers, NotImplementedError for other numbers of dimensions."""
    size = tuple(size)
    n = len(size) - 2
    if theta.array.dtype.kind != "f":
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if n not in (2, 3):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {size}."
        )
    if theta.ndim != 3 or tuple(theta.shape[-2:]) != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {theta.size()}."
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is not an intended "
            "use case of affine_grid. See the documentation of affine_grid for details.",
            stacklevel=3,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if align_corners is None:
        _warn_about_corners()
    lines = [
        np.linspace(-1, 1, m) * (1 if align_corners else (m - 1) / m) if m > 1 else np.zeros(1) for m in size[:1:-1]
    ]
    grid = np.stack([*np.meshgrid(*lines[::-1], indexing="ij")[::-1], np.ones(size[2:])], -1).astype(theta.array.dtype)
    flat = constant(
        np.ascontiguousarray(np.broadcast_to(grid.reshape(1, -1, n + 1), (size[0], grid.size // (n + 1), n + 1)))
    )
    return flat.bmm(theta.transpose(1, 2)).view(size[0], *size[2:], n)


def _warn_about_corners() -> None:
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify align_corners=True "
        "if the old behavior is desired. See the documentation of grid_sample for details.",
        stacklevel=4,
    )


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """The image (N, C, H, W) read at the places (x, y) of `grid` (N, H', W', 2), where -1 and 1 are its edges; volumes likewise.

    mode           "bilinear", "nearest", or for images "bicubic"
    padding_mode   what is outside: "zeros", "border" (the nearest cell) or "reflection"
    align_corners  -1 and 1 are the centres of the corner cells, not their outer edges
    Raises ValueError for another mode, padding_mode or shape.
    """
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            + f"'{padding_mode}'"
        )
    if align_corners is None:
        _warn_about_corners()
    n = input.ndim - 2
    _check_grid(input, grid, n, mode)
    corners = bool(align_corners)
    sizes = input.shape[:1:-1]  # the grid's last dimension counts x first
    places = [
        (grid[..., i] + 1) * ((m - 1) / 2) if corners else ((grid[..., i] + 1) * m - 1) / 2 for i, m in enumerate(sizes)
    ]
    if mode != "bicubic":
        places = [_inside(p, m, padding_mode, corners) for p, m in zip(places, sizes, strict=True)]
    lows = [np.round(p.array) if mode == "nearest" else np.floor(p.array) for p in places]
    lows = [np.where(np.isfinite(low), low, -100).astype(np.int64) for low in lows]  # far outside
    taps = {"nearest": (0,), "bilinear": (0, 1), "bicubic": (-1, 0, 1, 2)}[mode]
    batch = np.arange(input.shape[0]).reshape(-1, *[1] * n)
    out: Any = None
    for cell in itertools.product(taps, repeat=n):
        index: list = []
        weight, inside = None, np.ones((), bool)
        for p, low, tap, m in zip(places, lows, cell, sizes, strict=True):
            at = low + tap
            if mode == "bicubic":
                at = _inside(constant(at.astype(p.array.dtype)), m, padding_mode, corners).array
                at = np.where(np.isfinite(at), at, -100).astype(np.int64)
            inside = inside & (at >= 0) & (at < m)
            index.insert(0, np.clip(at, 0, m - 1))
            if mode != "nearest":
                part = p - constant(low.astype(p.array.dtype))
                factor = _cubic_weight(part, tap) if mode == "bicubic" else part if tap else 1 - part
                weight = factor if weight is None else weight * factor
        values = input.movedim(1, -1)[(constant(batch), *map(constant, index))]
        values = values * constant(inside[..., None].astype(input.array.dtype))
        if weight is None:  # the places are rounded: a gradient of 0
            nothing = constant(np.ones(places[0].array.shape, bool))
            values = values + places[0].masked_fill(nothing, 0.0).unsqueeze(-1)
        part = values if weight is None else values * weight.unsqueeze(-1)
        out = part if out is None else out + part
    return out.movedim(-1, 1)


def _check_grid(input: Tensor, grid: Tensor, n: int, mode: str) -> None:
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got input with sizes {list(input.shape)} and grid with "
            f"sizes {list(grid.shape)}"
        )
    if grid.shape[-1] != n:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with sizes {list(grid.shape)}"
        )
    if min(input.shape[2:]) < 1:
        empty = next(i for i, m in enumerate(input.shape) if i > 1 and m < 1)
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {list(input.shape)} with dimension "
            f"{empty} being empty"
        )
    if n not in (2, 3) or input.ndim != grid.ndim:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if n == 3 and mode == "bicubic":
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input.array.dtype != grid.array.dtype:
        a, b = (f"{errors.TYPE_NAMES[x.array.dtype.name].removesuffix('Tensor').lower()}" for x in (input, grid))
        raise RuntimeError(
            f"grid_sampler(): expected input and grid to have same dtype, but input has {a} and grid has {b}"
        )


def _inside(place: Tensor, m: int, padding_mode: str, corners: bool) -> Tensor:
    """Places along m cells, moved inside as the padding mode says. The gradient at and beyond a border is 0."""
    if padding_mode == "zeros":
        return place
    if padding_mode == "reflection":
        low, span = (0, m - 1) if corners else (-0.5, m)
        if span == 0:
            return place * 0
        away = (place - low).abs()
        flips = np.floor(away.array / span)
        rest = away - constant((flips * span).astype(away.array.dtype))
        even = constant(flips % 2 == 0)
        place = rest.where(even, span - rest) + low
    edge = constant((place.array > 0) & (place.array < m - 1))
    return place.where(edge, constant(np.clip(np.nan_to_num(place.array, nan=0.0), 0, m - 1)))


def _cubic_weight(part: Tensor, tap: int) -> Tensor:
    x, a = (part - tap).abs(), -0.75
    return ((a + 2) * x - (a + 3)) * x * x + 1 if tap in (0, 1) else (((x - 5) * x + 8) * x - 4) * a


_AREA = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """The old name of interpolate."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """An old name of interpolate(mode="nearest")."""
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3
    )
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """An old name of interpolate(mode="bilinear", align_corners=True)."""
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _check_shuffled(function, input, name, factor):
    if input.ndim < 3:
        raise RuntimeError(
            f"{function} expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{function} expects a positive {name}, but got {factor}")


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(N, C * r * r, H, W) -> (N, C, H * r, W * r). Raises RuntimeError unless r * r divides the channels."""
    r = upscale_factor
    _check_shuffled("pixel_shuffle", input, "upscale_factor", r)
    c = input.shape[-3]
    if c % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={c} is not divisible by {r * r}"
        )
    return pixel_shuffle_(input, r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(N, C, H * r, W * r) -> (N, C * r * r, H, W). Raises RuntimeError unless r divides height and width."""
    _check_shuffled("pixel_unshuffle", input, "downscale_factor", downscale_factor)
    for at, name in ((-2, "height"), (-1, "width")):
        if input.shape[at] % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({at})={input.shape[at]} is not "
                f"divisible by {downscale_factor}"
            )
    return pixel_unshuffle_(input, downscale_factor)


__all__ = [
    "affine_grid", "channel_shuffle", "grid_sample", "interpolate", "pixel_shuffle", "pixel_unshuffle", "upsample", "upsample_bilinear",
    "upsample_nearest",
]  # fmt: skip
