"""Convolution layers. The functions are in functional/conv.py."""

import math
from typing import Any

from ..tensors.create import empty
from ..tensors.tensor import Tensor
from . import functional as F
from . import init
from .layer import Layer, as_tuple
from .module import Module
from .parameter import Parameter


class _Conv(Module):
    """What all convolutions share. Subclasses set the number of spatial dimensions and whether they are transposed.

    Raises ValueError for groups that do not divide the channels, an unknown padding or padding_mode, and padding='same' with a stride.
    """

    spatial = 2
    transposed = False

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, output_padding: Any,
        groups: int, bias: bool, padding_mode: str, device: Any, dtype: Any,
    ):  # fmt: skip
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        n = self.spatial
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in as_tuple(stride, n)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        else:
            padding = as_tuple(padding, n)
        modes = ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in modes:
            raise ValueError(f"padding_mode must be one of {set(modes)}, but got padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, as_tuple(kernel_size, n)
        self.stride, self.padding, self.dilation = as_tuple(stride, n), padding, as_tuple(dilation, n)
        self.output_padding = as_tuple(output_padding, n)
        self.groups, self.padding_mode = groups, padding_mode
        channels = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(empty(*channels, *self.kernel_size, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform in ±1 / sqrt(channels per group * cells of the kernel)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._fans(self.weight)
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def _padded(self, input: Tensor) -> tuple[Tensor, Any]:
        """The input with its border filled in, and the zero padding that is left to do."""
        if self.padding_mode == "zeros":
            return input, self.padding
        if self.padding == "valid":
            return input, 0
        if self.padding == "same":
            totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            pairs = [(t // 2, t - t // 2) for t in totals]
        else:
            pairs = [(p, p) for p in self.padding]
        return F.pad(input, [p for pair in reversed(pairs) for p in pair], self.padding_mode), 0

    def extra_repr(self) -> str:
        n = self.spatial
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * n:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * n:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * n:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Forward(_Conv):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ):  # fmt: skip
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            0,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        input, padding = self._padded(input)
        function = (F.conv1d, F.conv2d, F.conv3d)[self.spatial - 1]
        return function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Forward):
    """Convolution over sequences: (N, in_channels, L) -> (N, out_channels, L')."""

    spatial = 1


class Conv2d(_Forward):
    """Convolution over images: (N, in_channels, H, W) -> (N, out_channels, H', W'); weight (out_channels, in_channels / groups, kH, kW).

    >>> import minigrad as torch
    >>> torch.nn.Conv2d(1, 6, kernel_size=5, padding=2)(torch.zeros(8, 1, 28, 28)).shape
    torch.Size([8, 6, 28, 28])
    """


class Conv3d(_Forward):
    """Convolution over volumes: (N, in_channels, D, H, W) -> (N, out_channels, D', H', W')."""

    spatial = 3


class _ConvTranspose(_Conv):
    transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ):  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _extra(self, input: Tensor, output_size: Any) -> Any:
        """The output_padding that gives this output size; several sizes are possible when stride > 1."""
        if output_size is None:
            return self.output_padding
        n, dims = self.spatial, self.spatial + (2 if input.ndim == self.spatial + 2 else 1)
        if len(output_size) not in (n, dims):
            sentence = f"{n} or {dims} elements (got {len(output_size)})"
            raise ValueError(f"ConvTranspose{n}D: for {dims}D input, output_size must have {sentence}")
        output_size = size = tuple(output_size)[-n:]
        smallest = [
            (m - 1) * s - 2 * p + d * (k - 1) + 1
            for m, s, p, d, k in zip(
                input.shape[-n:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        largest = [low + s - 1 for low, s in zip(smallest, self.stride, strict=True)]
        if any(not low <= m <= high for m, low, high in zip(size, smallest, largest, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {smallest} to {largest} (for an input of "
                f"{input.size()[2:]})"
            )
        return tuple([m - low for m, low in zip(size, smallest, strict=True)])

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        more = self._extra(input, output_size)
        function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.spatial - 1]
        return function(input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation)


class ConvTranspose1d(_ConvTranspose):
    spatial = 1


class ConvTranspose2d(_ConvTranspose):
    """The transpose of Conv2d, which makes images larger; weight (in_channels, out_channels / groups, kH, kW)."""


class ConvTranspose3d(_ConvTranspose):
    spatial = 3


class Unfold(Layer, function=F.unfold):
    """Every window as a column."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1):
        super().__init__(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)


class Fold(Layer, function=F.fold):
    """Columns added up where their windows lie."""

    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1):
        super().__init__(
            output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
        )
