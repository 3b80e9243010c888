"""Pooling layers. The functions are in functional/pooling.py."""

from typing import Any

from ..tensors.tensor import Tensor
from . import functional as F
from .layer import Layer, as_tuple


class _Pool(Layer):
    shown: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.shown)


class _MaxPool(_Pool):
    shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
        ceil_mode: bool = False,
    ):  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.return_indices, self.ceil_mode = padding, dilation, return_indices, ceil_mode


class MaxPool1d(_MaxPool, function=F.max_pool1d):
    pass


class MaxPool2d(_MaxPool, function=F.max_pool2d):
    """The largest value of each window: (N, C, H, W) -> (N, C, H', W')."""


class MaxPool3d(_MaxPool, function=F.max_pool3d):
    pass


class _MaxUnpool(_Pool):
    spatial = 1
    shown = ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0):
        super().__init__()
        n = self.spatial
        self.kernel_size, self.padding = as_tuple(kernel_size, n), as_tuple(padding, n)
        self.stride = self.kernel_size if stride is None else as_tuple(stride, n)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:  # type: ignore[override]
        return self._run(input, indices, output_size=output_size)


class MaxUnpool1d(_MaxUnpool, function=F.max_unpool1d):
    pass


class MaxUnpool2d(_MaxUnpool, function=F.max_unpool2d):
    """Each value back where MaxPool2d(return_indices=True) found it."""

    spatial = 2


class MaxUnpool3d(_MaxUnpool, function=F.max_unpool3d):
    spatial = 3


class AvgPool1d(_Pool, function=F.avg_pool1d):
    shown = ("kernel_size", "stride", "padding")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        super().__init__()
        self.kernel_size, self.padding = as_tuple(kernel_size, 1), as_tuple(padding, 1)
        self.stride = self.kernel_size if stride is None else as_tuple(stride, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad


class AvgPool2d(_Pool, function=F.avg_pool2d):
    """The mean of each window."""

    shown = ("kernel_size", "stride", "padding")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ):  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override


class AvgPool3d(AvgPool2d, function=F.avg_pool3d):
    pass


class _LPPool(_Pool):
    shown = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode


class LPPool1d(_LPPool, function=F.lp_pool1d):
    """The p-norm of each window."""


class LPPool2d(_LPPool, function=F.lp_pool2d):
    pass


class LPPool3d(_LPPool, function=F.lp_pool3d):
    pass


class _AdaptiveAvgPool(_Pool):
    """output_size: how many windows, whatever the input's size."""

    shown = ("output_size",)

    def __init__(self, output_size: Any):
        super().__init__()
        self.output_size = output_size


class _AdaptiveMaxPool(_Pool):
    shown = ("output_size",)

    def __init__(self, output_size: Any, return_indices: bool = False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices


class AdaptiveAvgPool1d(_AdaptiveAvgPool, function=F.adaptive_avg_pool1d):
    pass


class AdaptiveAvgPool2d(_AdaptiveAvgPool, function=F.adaptive_avg_pool2d):
    pass


class AdaptiveAvgPool3d(_AdaptiveAvgPool, function=F.adaptive_avg_pool3d):
    pass


class AdaptiveMaxPool1d(_AdaptiveMaxPool, function=F.adaptive_max_pool1d):
    pass


class AdaptiveMaxPool2d(_AdaptiveMaxPool, function=F.adaptive_max_pool2d):
    pass


class AdaptiveMaxPool3d(_AdaptiveMaxPool, function=F.adaptive_max_pool3d):
    pass


class _FractionalMaxPool(Layer):
    """Raises ValueError unless either output_size or output_ratio is given, and for ratios outside of (0, 1)."""

    spatial = 2

    def __init__(
        self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ):  # fmt: skip
        super().__init__()
        n, name = self.spatial, f"FractionalMaxPool{self.spatial}d"
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        self.kernel_size, self.return_indices = as_tuple(kernel_size, n), return_indices
        self.output_size = None if output_size is None else as_tuple(output_size, n)
        self.output_ratio = None if output_ratio is None else as_tuple(output_ratio, n)
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        self.register_buffer("_random_samples", _random_samples)

    def extra_repr(self) -> str:
        return ""


class FractionalMaxPool2d(_FractionalMaxPool, function=F.fractional_max_pool2d):
    """The largest value of windows at random distances: (N, C, H, W) -> (N, C, *output_size), or output_ratio times the input's size."""


class FractionalMaxPool3d(_FractionalMaxPool, function=F.fractional_max_pool3d):
    spatial = 3
