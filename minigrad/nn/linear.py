"""Layers that multiply: Linear, Bilinear, Identity."""

import math
from typing import Any

from ..tensors.create import empty
from ..tensors.tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


class Identity(Module):
    """Returns its input. Takes any arguments and ignores them: a placeholder."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Module):
    """y = x @ weight.T + bias.

    weight (out_features, in_features), bias (out_features,), both uniform in ±1 / sqrt(in_features).
    Input (*, in_features), result (*, out_features).

    >>> import minigrad as torch
    >>> torch.nn.Linear(3, 2)(torch.ones(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))  # the same as uniform in ±1 / sqrt(in_features)
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class LazyLinear(Linear):
    """Linear whose in_features is the size of the last dimension of the first input. It is a Linear from then on.

    Run one batch before the optimizer is made and before numbers are loaded: until then the parameters are empty.

    >>> import minigrad as torch
    >>> layer = torch.nn.LazyLinear(2)
    >>> layer(torch.ones(5, 3)).shape, layer
    (torch.Size([5, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__(0, 0, bias, device, dtype)
        self.out_features = out_features

    def reset_parameters(self) -> None:
        if self.in_features:
            super().reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        self.in_features = input.shape[-1]
        self.weight.data = empty(self.out_features, self.in_features, dtype=self.weight.dtype)
        if self.bias is not None:
            self.bias.data = empty(self.out_features, dtype=self.bias.dtype)
        self.__class__ = Linear  # type: ignore[assignment]
        self.reset_parameters()
        return self(input)

    def extra_repr(self) -> str:
        return f"in_features=0, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """y_k = x1 @ weight_k @ x2 + bias_k. weight (out_features, in1_features, in2_features). Raises ValueError for in1_features below 1."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got ({in1_features=})")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(empty(out_features, in1_features, in2_features, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
