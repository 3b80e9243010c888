"""Layers that only change shapes."""

from typing import Any

from ..tensors.tensor import Tensor
from . import functional as F
from .layer import Layer
from .module import Module


class Flatten(Layer, function=Tensor.flatten):
    """The dimensions start_dim to end_dim as one: images (N, C, H, W) become rows (N, C * H * W)."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__(start_dim=start_dim, end_dim=end_dim)


class Unflatten(Module):
    """One dimension as several. Raises TypeError if the new sizes are not integers."""

    def __init__(self, dim: int, unflattened_size: Any):
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )
        for i, n in enumerate(unflattened_size):
            if not isinstance(n, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type {type(n).__name__} at pos {i}"
                )
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class PixelShuffle(Layer, function=F.pixel_shuffle):
    """(N, C * r * r, H, W) -> (N, C, H * r, W * r)."""

    def __init__(self, upscale_factor: int):
        super().__init__(upscale_factor=upscale_factor)


class PixelUnshuffle(Layer, function=F.pixel_unshuffle):
    """(N, C, H * r, W * r) -> (N, C * r * r, H, W)."""

    def __init__(self, downscale_factor: int):
        super().__init__(downscale_factor=downscale_factor)


class ChannelShuffle(Layer, function=F.channel_shuffle):
    """Channels dealt out over `groups`, so that the next grouped convolution mixes them."""

    def __init__(self, groups: int):
        super().__init__(groups=groups)


class Upsample(Module):
    """Images in another size; see F.interpolate."""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ):  # fmt: skip
        super().__init__()
        self.recompute_scale_factor = recompute_scale_factor
        self.size, self.mode, self.align_corners = size, mode, align_corners
        self.scale_factor = (
            tuple(map(float, scale_factor))
            if isinstance(scale_factor, (tuple, list))
            else scale_factor and float(scale_factor)
        )

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        factor = f"scale_factor={self.scale_factor!r}" if self.scale_factor is not None else f"size={self.size!r}"
        return f"{factor}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    def __init__(self, size: Any = None, scale_factor: Any = None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    def __init__(self, size: Any = None, scale_factor: Any = None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class _Pad(Module):
    spatial = 1
    mode = "constant"

    def __init__(self, padding: Any):
        super().__init__()
        self.padding = tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * (2 * self.spatial)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ConstantPad1d(_Pad):
    def __init__(self, padding: Any, value: float):
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad2d(ConstantPad1d):
    spatial = 2


class ConstantPad3d(ConstantPad1d):
    spatial = 3


class ZeroPad1d(_Pad):
    value = 0.0


class ReflectionPad1d(_Pad):
    """(N, C, L): the border mirrors the inside, without the edge itself."""

    mode = "reflect"


class ReplicationPad1d(_Pad):
    """(N, C, L): the border repeats the edge."""

    mode = "replicate"


class CircularPad1d(_Pad):
    """(N, C, L): the border continues at the other end. Raises ValueError for other shapes."""

    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        n = self.spatial
        if input.ndim not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {input.ndim}D input)")
        return super().forward(input)


class ZeroPad2d(ZeroPad1d):
    spatial = 2


class ZeroPad3d(ZeroPad1d):
    spatial = 3


class ReflectionPad2d(ReflectionPad1d):
    spatial = 2


class ReflectionPad3d(ReflectionPad1d):
    spatial = 3


class ReplicationPad2d(ReplicationPad1d):
    spatial = 2


class ReplicationPad3d(ReplicationPad1d):
    spatial = 3


class CircularPad2d(CircularPad1d):
    spatial = 2


class CircularPad3d(CircularPad1d):
    spatial = 3
