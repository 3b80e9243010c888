"""Normalisation: mean 0 and variance 1 over a batch, a layer, a group. The derivatives are in ops/normalization.py."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...autograd.forward_mode import Level
from ...core import dtypes
from ...core.dispatch import state
from ...ops import normalization as rows
from ...tensors.tensor import Tensor
from ._arguments import check_floating, constant
from .conv import pad
from .pooling import avg_pool2d


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    dtype = x.array.dtype
    return (
        constant(np.ones(shape, dtype)) if weight is None else weight,
        constant(np.zeros(shape, dtype)) if bias is None else bias,
    )


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) * weight + bias, with mean and variance over the last dimensions, those of normalized_shape.
    Raises RuntimeError unless weight and bias have the shape normalized_shape, and the input ends in it."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []"
        )
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(p.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    _check_last(input, shape)
    check_floating(input, "LayerNormKernelImpl")
    weight, bias = _affine(input, weight, bias, shape)
    axes = tuple(range(input.ndim - len(shape), input.ndim))
    return rows.layer_norm_(input, weight, bias, input.array.shape, axes, shape, eps)[0]


def _check_last(input: Tensor, shape: tuple[int, ...]) -> None:
    if tuple(input.shape[input.ndim - len(shape) :]) != shape or input.ndim < len(shape):
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but got input of "
            f"size{list(input.shape)}"
        )


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """x / sqrt(mean(x * x) + eps) * weight over the last dimensions. eps: by default the dtype's.

    Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467
    """
    shape = tuple(normalized_shape)
    _check_last(input, shape)
    if input.array.dtype == np.float16:  # squares are computed in float32, and its eps is the default
        return rms_norm(input.to(dtypes.float32), shape, None if weight is None else weight.to(dtypes.float32), eps).to(
            dtypes.float16
        )
    if eps is None:
        eps = dtypes.finfo(input.dtype).eps
    dims = tuple(range(input.ndim - len(shape), input.ndim))
    out = input * (input.pow(2).mean(dims, keepdim=True) + eps).rsqrt()
    return out if weight is None else out * weight


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """(x - mean) / sqrt(variance + eps) * weight + bias for each channel (dimension 1).

    training: mean and variance over all other dimensions of this batch; running_mean and running_var, if given, move towards them by
    `momentum`. Otherwise running_mean and running_var are used. Raises ValueError for a batch with one value per channel,
    RuntimeError for statistics that are missing or of another size.

    Ioffe and Szegedy 2015, https://arxiv.org/abs/1502.03167
    """
    if training and input.ndim >= 2 and input.numel() // max(1, input.shape[1]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.size()}")
    if input.ndim == 1 and not input.numel():
        return input * 1
    channels = input.shape[1]
    if not training:
        for name, p in (("running_mean", running_mean), ("running_var", running_var)):
            if p is None:
                raise RuntimeError(f"{name} must be defined in evaluation mode")
    for name, p in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
        if p is not None and p.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {p.numel()}")
    check_floating(input, "batch_norm")
    if training and input.batched and any(p is not None and not p.batched for p in (running_mean, running_var)):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, "
            "were not batched."
        )
    weight, bias = _affine(input, weight, bias, (channels,))
    affine = (channels,) + (1,) * (input.ndim - 2)
    if not training:
        for level in [h for h in state.handlers if isinstance(h, Level)]:
            if level.tangent(input) is not None and (level.tangent(running_mean), level.tangent(running_var)) != (
                None,
                None,
            ):
                raise RuntimeError(
                    "batch_norm is not differentiable wrt running_mean and running_var, they cannot have forward grad defined"
                )
        mean, variance = (
            s.detach().to(input.dtype).reshape(affine) for s in (running_mean, running_var) if s is not None
        )
        return rows.batch_norm_eval(input, weight, bias, mean, variance, affine, eps)
    axes = (0, *range(2, input.ndim))
    out, mean, rstd = rows.batch_norm_(input, weight, bias, input.array.shape, axes, affine, eps)
    if input.numel() and (running_mean is not None or running_var is not None):  # an empty batch moves nothing
        follow(running_mean, running_var, mean, rstd, momentum, eps, input.numel() // channels)
    return out


def follow(
    running_mean: Tensor | None,
    running_var: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
    momentum: float,
    eps: float,
    n: int,
) -> None:
    """Running statistics move towards those of a batch of n numbers per channel: not counted as a write, as in PyTorch."""
    if mean.is_meta:
        return
    if running_mean is not None:
        running_mean.array[...] = (1 - momentum) * running_mean.array + momentum * mean.array.reshape(-1)
    if running_var is not None:
        variance = (1 / np.square(rstd.array.reshape(-1)) - eps) * (n / (n - 1))  # unbiased, as PyTorch keeps it
        running_var.array[...] = (1 - momentum) * running_var.array + momentum * variance


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalises each sample over groups of channels; weight and bias are per channel. Wu and He 2018, https://arxiv.org/abs/1803.08494.
    Raises RuntimeError for other shapes or groups, ValueError if one value is left to normalise."""
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    n, channels = input.shape[:2]
    if num_groups and n * channels // num_groups * math.prod(input.shape[2:]) == 1:
        size = [n * channels // num_groups, num_groups, *input.shape[2:]]
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.shape) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape {list(p.shape)} "
                f"and input of shape {list(input.shape)}"
            )
    if channels % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(input.shape)} and "
            f"num_groups={num_groups}"
        )
    weight, bias = _affine(input, weight, bias, (channels,))
    affine = (channels,) + (1,) * (input.ndim - 2)
    return rows.group_norm_(
        input, weight, bias, (n, num_groups, input.numel() // max(1, n * num_groups)), (2,), affine, eps
    )[0]


def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None,
    bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalises each channel of each sample: batch_norm with every sample's channels as channels of one.
    Raises ValueError if one value is left to normalise."""
    n, channels = input.shape[:2]
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")

    def repeated(p: Any) -> Any:
        return None if p is None else p.repeat(n)

    statistics = [repeated(running_mean), repeated(running_var)]
    folded = input.reshape(1, n * channels, *input.shape[2:])
    out = batch_norm(
        folded, statistics[0], statistics[1], repeated(weight), repeated(bias), use_input_stats, momentum, eps
    )
    for running, many in zip((running_mean, running_var), statistics, strict=True):
        if running is not None and use_input_stats:
            running.array[...] = many.array.reshape(n, channels).mean(0)
    return out.view(*input.shape)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x / (k + alpha * mean of squares over `size` neighbouring channels) ** beta. Raises ValueError for fewer than three dimensions."""
    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {input.ndim} dimensions)"
        )
    if not input.numel():
        return input
    n, c = input.shape[:2]
    squares = pad((input * input).reshape(n, 1, c, -1), (0, 0, size // 2, (size - 1) // 2))
    means = avg_pool2d(squares, (size, 1), stride=1).reshape(*input.shape)
    return input / (means * alpha + k) ** beta


__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]
