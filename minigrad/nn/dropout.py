"""Dropout layers: active in training, nothing in evaluation."""

from ..tensors.tensor import Tensor
from . import functional as F
from .layer import Layer


class _Dropout(Layer):
    """What all dropouts share. Raises ValueError for a p outside [0, 1]."""

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__(p=p, inplace=inplace)
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout, function=F.dropout):
    pass


class Dropout1d(_Dropout, function=F.dropout1d):
    pass


class Dropout2d(_Dropout, function=F.dropout2d):
    pass


class Dropout3d(_Dropout, function=F.dropout3d):
    pass


class FeatureAlphaDropout(_Dropout):
    """AlphaDropout of whole channels; like it never in place, as in PyTorch."""

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)


class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance of SELU's outputs."""

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)
