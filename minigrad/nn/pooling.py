"""Pooling layers. The functions are in functional/pooling.py; `spatial` says which of them a class calls."""

from typing import Any

from ..tensors.tensor import Tensor
from . import functional as F
from .module import Module


def _tuple(value: Any, n: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


class _Pool(Module):
    """A layer that calls one function of F, chosen by its name and its number of spatial dimensions."""

    spatial = 1
    function = ""
    shown: tuple[str, ...] = ()

    def _run(self, input: Tensor, *options: Any) -> Any:
        return getattr(F, f"{self.function}{self.spatial}d")(input, *options)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.shown)


class _MaxPool(_Pool):
    function, shown = "max_pool", ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
        ceil_mode: bool = False,
    ):  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.return_indices, self.ceil_mode = padding, dilation, return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        return self._run(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)


class MaxPool1d(_MaxPool):
    pass


class MaxPool2d(_MaxPool):
    """The largest value of each window: (N, C, H, W) -> (N, C, H', W')."""

    spatial = 2


class MaxPool3d(_MaxPool):
    spatial = 3


class _MaxUnpool(_Pool):
    function, shown = "max_unpool", ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0):
        super().__init__()
        n = self.spatial
        self.kernel_size, self.padding = _tuple(kernel_size, n), _tuple(padding, n)
        self.stride = self.kernel_size if stride is None else _tuple(stride, n)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return self._run(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    pass


class MaxUnpool2d(_MaxUnpool):
    """Each value back where MaxPool2d(return_indices=True) found it."""

    spatial = 2


class MaxUnpool3d(_MaxUnpool):
    spatial = 3


class AvgPool1d(_Pool):
    function, shown = "avg_pool", ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True):
        super().__init__()
        self.kernel_size, self.padding = _tuple(kernel_size, 1), _tuple(padding, 1)
        self.stride = self.kernel_size if stride is None else _tuple(stride, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return self._run(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_Pool):
    """The mean of each window."""

    spatial, function, shown = 2, "avg_pool", ("kernel_size", "stride", "padding")

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ):  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        options = (self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)
        return self._run(input, *options)


class AvgPool3d(AvgPool2d):
    spatial = 3


class _LPPool(_Pool):
    function, shown = "lp_pool", ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return self._run(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool):
    """The p-norm of each window."""


class LPPool2d(_LPPool):
    spatial = 2


class LPPool3d(_LPPool):
    spatial = 3


class _AdaptiveAvgPool(_Pool):
    """output_size: how many windows, whatever the input's size."""

    function, shown = "adaptive_avg_pool", ("output_size",)

    def __init__(self, output_size: Any):
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return self._run(input, self.output_size)


class _AdaptiveMaxPool(_Pool):
    function, shown = "adaptive_max_pool", ("output_size",)

    def __init__(self, output_size: Any, return_indices: bool = False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        return self._run(input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    pass


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    spatial = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    spatial = 3


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    pass


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    spatial = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    spatial = 3
