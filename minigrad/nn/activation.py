"""Activation functions as modules. The functions themselves are in functional/activation.py."""

import warnings
from typing import Any

from ..tensors.create import full
from ..tensors.tensor import Tensor
from . import functional as F
from .layer import Layer
from .module import Module
from .parameter import Parameter


class _Inplace(Layer):
    """A layer whose one option is to write into its input."""

    def __init__(self, inplace: bool = False):
        super().__init__(inplace=inplace)


class ReLU(_Inplace, function=F.relu):
    pass


class SELU(_Inplace, function=F.selu):
    pass


class SiLU(_Inplace, function=F.silu):
    pass


class Mish(_Inplace, function=F.mish):
    pass


class Hardsigmoid(_Inplace, function=F.hardsigmoid):
    def extra_repr(self) -> str:
        return ""


class Hardswish(_Inplace, function=F.hardswish):
    def extra_repr(self) -> str:
        return ""


class Sigmoid(Layer, function=F.sigmoid):
    pass


class Tanh(Layer, function=F.tanh):
    pass


class LogSigmoid(Layer, function=F.logsigmoid):
    pass


class Softsign(Layer, function=F.softsign):
    pass


class Tanhshrink(Layer, function=F.tanhshrink):
    pass


class LeakyReLU(Layer, function=F.leaky_relu):
    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False):
        super().__init__(negative_slope=negative_slope, inplace=inplace)


class _Alpha(Layer):
    def __init__(self, alpha: float = 1.0, inplace: bool = False):
        super().__init__(alpha=alpha, inplace=inplace)


class ELU(_Alpha, function=F.elu):
    pass


class CELU(_Alpha, function=F.celu):
    pass


class GELU(Layer, function=F.gelu):
    def __init__(self, approximate: str = "none"):
        super().__init__(approximate=approximate)


class Softplus(Layer, function=F.softplus):
    def __init__(self, beta: float = 1.0, threshold: float = 20.0):
        super().__init__(beta=beta, threshold=threshold)


class Hardtanh(Layer, function=F.hardtanh):
    """x limited to [min_val, max_val]; the slope at both ends is 0. Raises AssertionError unless min_val < max_val."""

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value: float | None = None,
        max_value: float | None = None,
    ):  # fmt: skip
        for name, value in (("min", min_value), ("max", max_value)):
            if value is not None:
                warnings.warn(
                    f"keyword argument `{name}_value` is deprecated and rename to `{name}_val`",
                    FutureWarning,
                    stacklevel=2,
                )
        min_val, max_val = min_val if min_value is None else min_value, max_val if max_value is None else max_value
        super().__init__(min_val=min_val, max_val=max_val, inplace=inplace)
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")


class ReLU6(Hardtanh):
    def __init__(self, inplace: bool = False):
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Threshold(Layer, function=F.threshold):
    def __init__(self, threshold: float, value: float, inplace: bool = False):
        super().__init__(threshold=threshold, value=value, inplace=inplace)


class Hardshrink(Layer, function=F.hardshrink):
    def __init__(self, lambd: float = 0.5):
        super().__init__(lambd=lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(Hardshrink, function=F.softshrink):
    pass


class RReLU(Layer, function=F.rrelu):
    """LeakyReLU with a random slope from [lower, upper] in training, their mean in evaluation."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False):
        super().__init__(lower=lower, upper=upper, inplace=inplace)


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W). Raises ValueError for other shapes."""

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


class PReLU(Module):
    """LeakyReLU whose slope (one, or one per channel) is trained."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(full((num_parameters,), float(init), device=device, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class GLU(Layer, function=F.glu):
    def __init__(self, dim: int = -1):
        super().__init__(dim=dim)


class _Along(Layer):
    """A function along one dimension."""

    def __init__(self, dim: int | None = None):
        super().__init__(dim=dim)


class Softmax(_Along, function=F.softmax):
    pass


class LogSoftmax(_Along, function=F.log_softmax):
    pass


class Softmin(_Along, function=F.softmin):
    pass
