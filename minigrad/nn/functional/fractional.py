"""Fractional pooling: windows of one size at random distances, so that the result can have any size."""

from typing import Any

from ...ops.pooling import FRACTIONAL_MAX_POOL
from ...ops.shape import unsqueeze
from ...tensors.create import rand
from ...tensors.tensor import Tensor
from ._arguments import check_floating, several


def _sizes(n: int, input: Tensor, output_size: Any, output_ratio: Any) -> Any:
    name = f"fractional_max_pool{n}d"
    if output_size is not None:
        return output_size
    if output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    ratios = (output_ratio,) * n if isinstance(output_ratio, (int, float)) else tuple(output_ratio)
    if len(ratios) > n:
        raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
    return tuple([int(m * r) for m, r in zip(input.shape[-n:], ratios, strict=True)])


def _check_samples(n: int, input: Tensor, samples: Tensor) -> None:
    """Raise PyTorch's errors about the random numbers: (N, C, n), of the input's dtype."""
    if samples.dtype is not input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    batch, channels, numbers = samples.shape
    if batch < input.shape[0]:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if channels != input.shape[1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if numbers != n:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {n}; got {numbers}.")


def _pool(
    n: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Tensor | None
) -> tuple[Tensor, Tensor]:
    output_size = _sizes(n, input, output_size, output_ratio)
    check_floating(input, "check_uniform_bounds")
    if samples is None:
        samples = rand(1 if input.ndim == n + 1 else input.shape[0], input.shape[-n - 1], n, dtype=input.dtype)
    for what, value in (("kernel_size", kernel_size), ("output_size", output_size)):
        if not isinstance(value, int) and len(value) != n:
            several_ = "tuple of Ints" if n == 2 else "tuple of three Ints"
            raise RuntimeError(f"fractional_max_pool{n}d: {what} must either be a single Int or {several_}")
    kernel, out = several(kernel_size, n, "kernel_size"), several(output_size, n, "output_size")
    name = "fractional_max_pool2d()" if n == 2 else "fractional_max_pool3d_out()"
    if input.ndim not in (n + 1, n + 2):
        raise RuntimeError(f"{name}: Expected {n + 1}D or {n + 2}D tensor, but got: {list(input.shape)}")
    batched = input.ndim == n + 2
    for d, m in enumerate(input.shape):
        if m == 0 and d >= batched:
            raise RuntimeError(
                f"{name}: Expected input to have non-zero size for non-batch dimensions, but got{list(input.shape)} with dimension {d} "
                "being empty."
            )
    for which, o, k, m in zip(("time", "height", "width")[-n:], out, kernel, input.shape[-n:], strict=True):
        if o + k - 1 > m - (n == 3):  # PyTorch wants a cell more in three dimensions
            raise RuntimeError(f"{name}: pool {which} {k} too large relative to input {which} {m}")
    if min(out) < 0:
        shape = [*input.shape[:-n], *out]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(out)}: {shape}")
    input = input if batched else unsqueeze(input, 0)
    _check_samples(n, input, samples)
    values, indices = FRACTIONAL_MAX_POOL[n](input, samples, kernel, out)
    return (values, indices) if batched else (values.squeeze(0), indices.squeeze(0))


def fractional_max_pool2d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """The largest value of windows at random distances: (N, C, H, W) or (C, H, W) to any smaller size.

    output_size     how many windows; or output_ratio, their number as a part of the input's size
    _random_samples  (N, C, 2): where the windows of each channel lie, in [0, 1)
    Raises ValueError without a size, RuntimeError for windows that do not fit.
    """
    out, indices = _pool(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return (out, indices) if return_indices else out


def fractional_max_pool3d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """As fractional_max_pool2d, of (N, C, D, H, W) or (C, D, H, W)."""
    out, indices = _pool(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return (out, indices) if return_indices else out
