"""Pooling: the largest or mean value of each window. 1-d pooling is 2-d pooling of an image with one row, as in PyTorch."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops import pooling as rows
from ...ops.convolution import out_size
from ...ops.dims import wrap_dim
from ...ops.reduce import mean_dim
from ...ops.shape import unsqueeze
from ...tensors.tensor import Tensor
from ._arguments import check_floating, check_mean, several


def _batched(name: str, n: int, input: Tensor) -> tuple[Tensor, bool]:
    """Samples in front, or the error for a wrong number of dimensions."""
    if input.ndim not in (n + 1, n + 2):
        if name == "max_pool1d":
            raise RuntimeError(
                f"{name}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(input.shape)}"
            )
        if n == 1:
            raise RuntimeError(
                f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' (while checking arguments for "
                f"{name})"
            )
        if name.startswith("adaptive"):
            colon = ":" * ("max" in name)
            raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got{colon} {list(input.shape)}")
        raise RuntimeError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    adaptive = name.startswith("adaptive")
    if 0 in input.shape[1 if adaptive else input.ndim - n - 1 :]:
        if name.startswith("adaptive"):
            empty = next(i for i, m in enumerate(input.shape) if m == 0 and i)
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(input.shape)} with "
                f"dimension {empty} being empty"
            )
        raise RuntimeError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(input.shape)}"
        )
    return (input, True) if input.ndim == n + 2 else (unsqueeze(input, 0), False)


def _check_out(input: Tensor, out: tuple[int, ...]) -> None:
    if min(out) < 1:
        c = input.shape[1]
        before, after = ("x".join(map(str, (c, *size))) for size in (input.shape[2:], out))
        raise RuntimeError(f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small")


def _windows(
    name: str, n: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any = 1
) -> tuple[tuple[int, ...], ...]:
    """Kernel, stride, padding and dilation, a number for each of n dimensions. Raises PyTorch's errors about them."""
    arguments = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
    if stride is None or stride in ([], ()):
        arguments["stride"] = kernel_size
    for what, value in arguments.items():
        if not isinstance(value, (int, np.integer)) and len(value) not in (1, n):
            may = {"stride": "either be omitted, a single int", "padding": "be a single int"}.get(
                what, "either be a single int"
            )
            raise RuntimeError(f"{name}: {what} must {may}, or a tuple of {_NUMBERS[n]} ints")
    kernel, stride, padding, dilation = (several(value, n, what) for what, value in arguments.items())
    if n == 1 and name[0] == "m":
        for what, value in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
            if value[0] < 1:
                raise RuntimeError(f"{name}() {what} must be greater than zero, but got {value[0]}")
        if padding[0] < 0:
            raise RuntimeError(f"{name}() padding must be non-negative, but got {padding[0]}")
        if padding[0] > kernel[0] // 2:
            half = f"got padding={padding[0]} and kernel_size={kernel[0]}"
            raise RuntimeError(f"{name}() padding should be at most half of kernel size, but {half}")
        return kernel, stride, padding, dilation
    letters = "TDHW"[4 - n :] if n < 3 else "THW"
    for what, value in (("stride", stride), ("kernel size", kernel), ("dilation", dilation)):
        if min(value) < 1:
            if what == "stride":
                raise RuntimeError("stride should not be zero")
            short = "k" if what == "kernel size" else "dilation"
            which = [f"{short}{d}: {v}" for d, v in zip(letters, value, strict=True)]
            raise RuntimeError(
                f"{what} should be greater than zero, but got {', '.join(which) if short == 'k' else ' '.join(which)}"
            )
    for p, k, d in zip(padding, kernel, dilation, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
            )
    return kernel, stride, padding, dilation


_NUMBERS = {1: "one", 2: "two", 3: "three"}


def _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    input, batched = _batched(f"max_pool{n}d", n, input)
    windows = _windows(f"max_pool{n}d", n, kernel_size, stride, padding, dilation)
    size = rows.ceil_size if ceil_mode else out_size
    _check_out(input, size(input.shape[2:], *windows))
    out, indices = rows.MAX_POOL[n](input, *windows, ceil_mode)
    if not batched:
        out, indices = out.squeeze(0), indices.squeeze(0)
    return (out, indices) if return_indices else out


def max_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest value of each window. (N, C, D, H, W) or (C, D, H, W)."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


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
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest value of each window. (N, C, L) or (C, L). Raises RuntimeError for other shapes, and if no window fits."""
    _batched("max_pool1d", 1, input)
    kernel, stride, padding, dilation = _windows("max_pool1d", 1, kernel_size, stride, padding, dilation)
    size = (rows.ceil_size if ceil_mode else out_size)(input.shape[-1:], kernel, stride, padding, dilation)
    if size[0] < 1 and not return_indices:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {size[0]}")
    out, indices = _max_pool(
        2, _as_image(input), (1, *kernel), (1, *stride), (0, *padding), (1, *dilation), ceil_mode, True
    )
    return (out.squeeze(-2), indices.squeeze(-2)) if return_indices else out.squeeze(-2)


def _as_image(input: Tensor) -> Tensor:
    return unsqueeze(input, wrap_dim(-2, input.ndim + 1))


_LARGE = 2**22  # entries of a matrix of averages


def _mean_matrix(n, kernel, stride, padding, out, dtype, count_include_pad, divisor):
    """The averages along one dimension, or the sums divided by `divisor`."""
    begins = np.arange(out) * stride - padding
    ends = np.minimum(begins + kernel, n + padding)
    counts = ends - begins if count_include_pad else np.minimum(ends, n) - np.maximum(begins, 0)
    if divisor is not None:
        counts = np.full(out, divisor)
    if n * out > _LARGE:
        return rows.Windows(n, kernel, stride, padding, counts)
    return rows.averages(n, list(zip(begins.tolist(), ends.tolist(), strict=True)), dtype, counts)


def _avg_pool(n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    if n == 2 and input.ndim < 3:
        wrap_dim(-3, input.ndim)
    input, batched = _batched(f"avg_pool{n}d", n, input)
    kernel, stride, padding, dilation = _windows(f"avg_pool{n}d", n, kernel_size, stride, padding)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    size = rows.ceil_size if ceil_mode else out_size
    out = size(input.shape[2:], kernel, stride, padding, dilation)
    _check_out(input, out)
    kind = input.array.dtype
    dtype = kind if kind.kind == "f" else np.dtype(np.float64)  # means of whole numbers are cut off
    divisors = [None] * n if divisor_override is None else [divisor_override, *[1] * (n - 1)]
    dims: Any = zip(input.shape[2:], kernel, stride, padding, out, divisors, strict=True)
    matrices = [_mean_matrix(size, k, s, p, o, dtype, count_include_pad, divisor) for size, k, s, p, o, divisor in dims]
    if dtype is kind:
        result = rows.AVG_POOL[n](input, tuple(matrices))
    else:
        means = rows.AVG_POOL[n](input.double(), tuple(matrices))
        result = (means + means.sign() * 1e-9).trunc().to(input.dtype)
    return result if batched else result.squeeze(0)


def avg_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window. (N, C, D, H, W) or (C, D, H, W)."""
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window. count_include_pad: padded zeros count. divisor_override: divide the sum by this instead."""
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window. (N, C, L) or (C, L)."""
    _batched("avg_pool1d", 1, input)
    kernel, stride, padding, _ = _windows("avg_pool1d", 1, kernel_size, stride, padding)
    return avg_pool2d(
        _as_image(input), (1, *kernel), (1, *stride), (0, *padding), ceil_mode, count_include_pad
    ).squeeze(-2)


def _lp_pool(n, pool, input, norm_type, kernel_size, stride, ceil_mode):
    if math.isinf(norm_type):  # the largest, or the smallest, absolute value
        sign, largest = math.copysign(1, norm_type), (max_pool1d, max_pool2d, max_pool3d)[n - 1]
        return largest(input.abs() * sign, kernel_size, stride, 0, 1, ceil_mode) * sign
    cells = math.prod(several(kernel_size, n, "kernel_size"))
    out = pool(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return (out.sign() * out.abs().relu() * cells) ** (1.0 / norm_type)


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm of each window."""
    return _lp_pool(1, avg_pool1d, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """As lp_pool1d, of (N, C, H, W) or (C, H, W)."""
    return _lp_pool(2, avg_pool2d, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """As lp_pool1d, of (N, C, D, H, W) or (C, D, H, W)."""
    return _lp_pool(3, avg_pool3d, input, norm_type, kernel_size, stride, ceil_mode)


def _adaptive_out(name: str, output_size: Any, size: tuple[int, ...]) -> tuple[int, ...]:
    n = len(size)
    argument = (output_size,) * n if output_size is None or isinstance(output_size, int) else tuple(output_size)
    if len(argument) != n:
        raise RuntimeError(
            f"{name}{'(): internal error' * ('max' in name)}: output_size{'.size()' * ('max' in name)} must be {n}"
        )
    return tuple([m if o is None else o for o, m in zip(argument, size, strict=True)])


def _check_adaptive(n: int, input: Tensor, out: tuple[int, ...], largest: bool) -> None:
    """Raise PyTorch's errors about output sizes that cannot be: below 0, or beyond what an address can say."""
    sizes = [*input.shape[:2], *out]
    if min(out) < 0:
        if largest:
            raise RuntimeError(f"Trying to create tensor with negative dimension {min(out)}: {sizes}")
        received = ", ".join(map(str, out[:2])) + "".join(f",{o}" for o in out[2:])
        sentence = "elements of output_size must be greater than or equal to 0"
        raise RuntimeError(f"adaptive_avg_pool{n}d: {sentence} but received {{{received}}}")
    if math.prod(sizes) * input.array.itemsize >= 2**63:
        numel = not largest and math.prod(sizes) >= 2**63
        raise RuntimeError(
            "numel: integer multiplication overflow"
            if numel
            else f"Storage size calculation overflowed with sizes={sizes}"
        )


def _without_gradient(result: Tensor, name: str) -> Tensor:
    """Let the backward pass refuse a result of size 0, as PyTorch's does."""

    def refuse(grad):
        raise RuntimeError(
            f"{name}_backward(): Expected grad_output to have non-zero size for non-batch dimensions, but grad_output has sizes "
            f"{list(grad.shape)} with dimension {list(grad.shape).index(0, 1)} being empty"
        )

    if 0 in result.shape[1:] and result.requires_grad:
        result.register_hook(refuse)
    return result


def _adaptive_avg_pool(n, input, output_size):
    name = f"adaptive_avg_pool{n}d"
    out = _adaptive_out(name, output_size, (0,) * (n - input.ndim) + tuple(input.shape[-n:]))
    if out == (1,) * n:
        check_mean(input)
        return mean_dim(input, tuple(range(input.ndim - n, input.ndim)), True)
    input, batched = _batched(name, n, input)
    check_floating(input, "adaptive_avg_pool2d" if n == 2 else "adaptive_avg_pool3d_cpu")
    _check_adaptive(n, input, out, False)
    matrices = [
        rows.averages(m, rows._adaptive_bounds(m, o), input.array.dtype)
        for m, o in zip(input.shape[2:], out, strict=True)
    ]
    result = rows.ADAPTIVE_AVG_POOL[n](input, tuple(matrices))
    return _without_gradient(result if batched else result.squeeze(0), name)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """As adaptive_avg_pool2d, of (N, C, D, H, W) or (C, D, H, W)."""
    return _adaptive_avg_pool(3, input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Average over one window per output element; windows have equal or nearly equal size. None keeps the input's size."""
    return _adaptive_avg_pool(2, input, output_size)


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """As adaptive_avg_pool2d, of (N, C, L) or (C, L)."""
    if input.ndim not in (2, 3):
        _batched("adaptive_avg_pool1d", 1, input)
    out = _adaptive_out("adaptive_avg_pool1d", output_size, input.shape[-1:])
    return adaptive_avg_pool2d(_as_image(input), (1, *out)).squeeze(-2)


def _adaptive_max_pool(n, input, output_size, return_indices):
    name = f"adaptive_max_pool{n}d"
    input, batched = _batched(name, n, input)
    check_floating(input, "adaptive_max_pool2d" if n == 2 else "adaptive_max_pool3d_cpu")
    out = _adaptive_out(name, output_size, input.shape[-n:])
    _check_adaptive(n, input, out, True)
    values, indices = rows.ADAPTIVE_MAX_POOL[n](input, out)
    if not batched:
        values, indices = values.squeeze(0), indices.squeeze(0)
    _without_gradient(values, name)
    return (values, indices) if return_indices else values


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """As adaptive_max_pool2d, of (N, C, D, H, W) or (C, D, H, W)."""
    return _adaptive_max_pool(3, input, output_size, return_indices)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest value of one window per output element; windows have equal or nearly equal size."""
    return _adaptive_max_pool(2, input, output_size, return_indices)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """As adaptive_max_pool2d, of (N, C, L) or (C, L)."""
    _batched("adaptive_max_pool1d", 1, input)
    out = _adaptive_out("adaptive_max_pool1d", output_size, input.shape[-1:])
    values, indices = adaptive_max_pool2d(_as_image(input), (1, *out), True)
    return (values.squeeze(-2), indices.squeeze(-2)) if return_indices else values.squeeze(-2)


def _max_unpool(n, input, indices, kernel_size, stride, padding, output_size):
    kernel, padding = several(kernel_size, n, "kernel_size"), several(padding, n, "padding")
    stride = kernel if stride is None else several(stride, n, "stride")
    size = tuple(
        [(m - 1) * s - 2 * p + k for m, s, p, k in zip(input.shape[-n:], stride, padding, kernel, strict=True)]
    )
    if output_size is not None:
        expected = tuple(output_size)[-n:]
        if len(output_size) not in (n, n + 2):
            raise ValueError(
                f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of '{len(output_size)}'"
            )
        for d, (argument, default, s) in enumerate(zip(expected, size, stride, strict=True)):
            if not default - s < argument < default + s:
                raise ValueError(
                    f'invalid output_size "{expected}" (dim {d} must be between {default - s} and {default + s})'
                )
        size = expected
    if indices.array.dtype != np.int64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {indices.type().rpartition('.')[2].removesuffix('Tensor')}"
        )
    if tuple(indices.shape) != tuple(input.shape):
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got indices tensor with shape: "
            f"{list(indices.shape)}"
        )
    if input.ndim == n + 2:
        return rows.max_unpool(input, indices, size)
    return rows.max_unpool(unsqueeze(input, 0), unsqueeze(indices, 0), size).squeeze(0)


def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """As max_unpool2d, of (N, C, L) or (C, L)."""
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The partial inverse of max_pool2d: each value back where it came from, zeros elsewhere."""
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """As max_unpool2d, of (N, C, D, H, W) or (C, D, H, W)."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _with_indices(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with return_indices=True, under PyTorch's second name for it."""

    @functools.wraps(function)
    def with_indices(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{**kwargs, "return_indices": True})

    with_indices.__name__ = with_indices.__qualname__ = function.__name__ + "_with_indices"
    with_indices.__doc__ = f"{function.__name__} with return_indices=True: the values and where they lie."
    return with_indices


max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(
    _with_indices, (max_pool1d, max_pool2d, max_pool3d)
)

__all__ = [name for name in dir() if "_pool" in name and name[0] != "_"] + [
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]
