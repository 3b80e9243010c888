"""Pooling: the largest or mean value of each window. 1-d pooling is 2-d pooling of an image with one row, as in PyTorch."""

from typing import Any

from ...ops import pooling as rows
from ...ops.convolution import out_size
from ...ops.reduce import mean_dim
from ...ops.shape import unsqueeze, wrap_dim
from ...tensors.tensor import Tensor
from ._arguments import check_mean, several


def _batched(n: int, input: Tensor) -> tuple[Tensor, bool]:
    """Samples in front, or the error for a wrong number of dimensions."""
    if input.ndim not in (n + 1, n + 2):
        if n == 1:
            raise RuntimeError(f"Expected 2D or 3D (batch mode) tensor for input, but got: {list(input.shape)}")
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    return (input, True) if input.ndim == n + 2 else (unsqueeze(input, 0), False)


def _check_out(input: Tensor, out: tuple[int, ...]) -> None:
    if min(out) < 1:
        c = input.shape[1]
        before, after = ("x".join(map(str, (c, *size))) for size in (input.shape[2:], out))
        raise RuntimeError(f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small")


def _max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode):
    input, batched = _batched(2, input)
    kernel, padding, dilation = several(kernel_size, 2, "kernel_size"), several(padding, 2, "padding"), several(dilation, 2, "dilation")
    stride = kernel if stride is None or stride == [] else several(stride, 2, "stride")
    for p, k in zip(padding, kernel, strict=True):
        if p > k // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={dilation[0]}"
            )
    size = rows.ceil_size if ceil_mode else out_size
    _check_out(input, size(input.shape[2:], kernel, stride, padding, dilation))
    out, indices = rows.max_pool(input, kernel, stride, padding, dilation, ceil_mode)
    return (out, indices) if batched else (out.squeeze(0), indices.squeeze(0))


def max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest value of each window. (N, C, H, W) or (C, H, W).

    stride          default: kernel_size, so that windows do not overlap
    padding         cells around the image that never win
    ceil_mode       also windows that stick out at the end
    return_indices  also where the winners lie in the flattened image
    """
    out, indices = _max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)
    return (out, indices) if return_indices else out


def max_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest value of each window. (N, C, L) or (C, L)."""
    _batched(1, input)
    kernel, padding, dilation = (several(v, 1, "size") for v in (kernel_size, padding, dilation))
    stride = kernel if stride is None or stride == [] else several(stride, 1, "stride")
    out, indices = _max_pool2d(_as_image(input), (1, *kernel), (1, *stride), (0, *padding), (1, *dilation), ceil_mode)
    return (out.squeeze(-2), indices.squeeze(-2)) if return_indices else out.squeeze(-2)


def _as_image(input: Tensor) -> Tensor:
    return unsqueeze(input, wrap_dim(-2, input.ndim + 1))


def _mean_matrix(n, kernel, stride, padding, out, dtype, count_include_pad):
    """The rows of averages along one dimension, before division; and what each is divided by."""
    bounds = [(i * stride - padding, min(i * stride - padding + kernel, n + padding)) for i in range(out)]
    counts = [b - a if count_include_pad else min(b, n) - max(a, 0) for a, b in bounds]
    return rows.averages(n, bounds, dtype, counts)


def avg_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window. count_include_pad: padded zeros count. divisor_override: divide the sum by this instead."""
    if input.ndim < 3:
        wrap_dim(-3, input.ndim)
    input, batched = _batched(2, input)
    kernel, padding = several(kernel_size, 2, "kernel_size"), several(padding, 2, "padding")
    stride = kernel if stride is None or stride == [] else several(stride, 2, "stride")
    for p, k in zip(padding, kernel, strict=True):
        if p > k // 2:
            raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation=1")
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    size = rows.ceil_size if ceil_mode else out_size
    out = size(input.shape[2:], kernel, stride, padding, (1, 1))
    _check_out(input, out)
    dtype = input.array.dtype
    matrices = [_mean_matrix(*along, dtype, count_include_pad) for along in zip(input.shape[2:], kernel, stride, padding, out, strict=True)]
    if divisor_override is not None:
        matrices = [(m != 0).astype(dtype) for m in matrices]
        matrices[0] /= divisor_override
    result = rows.avg_pool(input, *matrices)
    return result if batched else result.squeeze(0)


def avg_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> Tensor:
    """The mean of each window. (N, C, L) or (C, L)."""
    _batched(1, input)
    kernel, padding = several(kernel_size, 1, "kernel_size"), several(padding, 1, "padding")
    stride = kernel if stride is None or stride == [] else several(stride, 1, "stride")
    return avg_pool2d(_as_image(input), (1, *kernel), (1, *stride), (0, *padding), ceil_mode, count_include_pad).squeeze(-2)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm of each window."""
    k = several(kernel_size, 2, "kernel_size")
    out = avg_pool2d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return (out.sign() * out.abs().relu() * (k[0] * k[1])) ** (1.0 / norm_type)


def _adaptive_out(output_size: Any, size: tuple[int, ...]) -> tuple[int, ...]:
    n = len(size)
    given = (output_size,) * n if output_size is None or isinstance(output_size, int) else tuple(output_size)
    if len(given) != n:
        raise RuntimeError(f"output_size must be {n}")
    return tuple([m if o is None else o for o, m in zip(given, size, strict=True)])


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over as many equal (or nearly equal) windows as the result shall have cells; None keeps that size."""
    out = _adaptive_out(output_size, input.shape[-2:])
    if out == (1, 1):
        check_mean(input)
        return mean_dim(input, (input.ndim - 2, input.ndim - 1), True)
    input, batched = _batched(2, input)
    matrices = [rows.averages(n, rows._adaptive_bounds(n, o), input.array.dtype) for n, o in zip(input.shape[2:], out, strict=True)]
    result = rows.adaptive_avg_pool(input, *matrices)
    return result if batched else result.squeeze(0)


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    out = _adaptive_out(output_size, input.shape[-1:])
    return adaptive_avg_pool2d(_as_image(input), (1, *out)).squeeze(-2)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest values of equal (or nearly equal) windows."""
    out = _adaptive_out(output_size, input.shape[-2:])
    input, batched = _batched(2, input)
    values, indices = rows.adaptive_max_pool(input, out)
    if not batched:
        values, indices = values.squeeze(0), indices.squeeze(0)
    return (values, indices) if return_indices else values


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    out = _adaptive_out(output_size, input.shape[-1:])
    values, indices = adaptive_max_pool2d(_as_image(input), (1, *out), True)
    return (values.squeeze(-2), indices.squeeze(-2)) if return_indices else values.squeeze(-2)


def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """The partial inverse of max_pool2d: each value back where it came from, zeros elsewhere."""
    kernel, padding = several(kernel_size, 2, "kernel_size"), several(padding, 2, "padding")
    stride = kernel if stride is None else several(stride, 2, "stride")
    if output_size is None:
        size = tuple([(n - 1) * s - 2 * p + k for n, s, p, k in zip(input.shape[-2:], stride, padding, kernel, strict=True)])
    else:
        size = tuple(output_size)[-2:]
    return (
        rows.max_unpool(input, indices, size)
        if input.ndim == 4
        else rows.max_unpool(unsqueeze(input, 0), unsqueeze(indices, 0), size).squeeze(0)
    )


__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d", "avg_pool1d", "avg_pool2d", "lp_pool2d",
    "max_pool1d", "max_pool2d", "max_unpool2d",
]  # fmt: skip
