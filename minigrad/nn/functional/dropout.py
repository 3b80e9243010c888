"""Dropout: numbers set to zero at random, the others enlarged so that the mean stays."""

import warnings

import numpy as np

from ...tensors.create import bernoulli
from ...tensors.tensor import Tensor
from ._arguments import constant


def _check(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _dropped(input: Tensor, p: float, training: bool, inplace: bool, shape: tuple[int, ...]) -> Tensor:
    if p == 0 or not training or not input.numel():
        return input
    noise = bernoulli(constant(np.empty(shape, input.array.dtype)), 1 - p)
    if p < 1:
        noise = noise / (1 - p)
    return input.mul_(noise) if inplace else input * noise


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training each number becomes 0 with probability p, and otherwise x / (1 - p). In evaluation nothing happens.

    Srivastava et al. 2014, https://jmlr.org/papers/v15/srivastava14a.html
    """
    _check(p)
    return _dropped(input, p, training, inplace, input.array.shape)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """As dropout, but whole channels at once: (N, C, L) or (C, L)."""
    return _channels(input, p, training, inplace, 1)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """As dropout, but whole channels at once: (N, C, H, W)."""
    return _channels(input, p, training, inplace, 2)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """As dropout, but whole channels at once: (N, C, D, H, W)."""
    return _channels(input, p, training, inplace, 3)


def _channels(input: Tensor, p: float, training: bool, inplace: bool, n: int) -> Tensor:
    _check(p)
    if n == 1 and input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to provide channel-wise "
            "dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    if input.ndim not in (n + 1, n + 2):
        warnings.warn(
            f"dropout{n}d: Received a {input.ndim}-D input to dropout{n}d, which is deprecated and will result in an error in a future "
            "release. To retain the behavior and silence this warning, please use dropout instead. Note that dropout"
            f"{n}d exists to provide channel-wise dropout on inputs with {n} spatial dimensions, a channel dimension, and an optional "
            f"batch dimension (i.e. {n + 1}D or {n + 2}D inputs).",
            stacklevel=3,
        )
    if n == 2 and input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is "
            "interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to interpret the "
            "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch "
            "to using dropout1d instead.",
            stacklevel=3,
        )
    leading = 1 if n != 2 and input.ndim == n + 1 else 2
    return _dropped(input, p, training, inplace, tuple([m if i < leading else 1 for i, m in enumerate(input.shape)]))


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout for selu: dropped numbers become selu's lower limit, then mean and variance are restored."""
    return _alpha(input, p, training, inplace, input.array.shape)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """As alpha_dropout, but whole channels at once: (N, C, ...)."""
    return _alpha(input, p, training, inplace, tuple(input.shape[:2]) + (1,) * (input.ndim - 2))


def _alpha(input: Tensor, p: float, training: bool, inplace: bool, shape: tuple[int, ...]) -> Tensor:
    _check(p)
    if p == 0 or not training:
        return input
    noise = bernoulli(constant(np.empty(shape, input.array.dtype)), 1 - p)
    if p == 1:
        return input * noise
    low = 1.7580993408473766
    a = 1 / ((low * low * p + 1) * (1 - p)) ** 0.5
    out = input * (noise * a) + ((noise - 1) * (low * a) + low * a * p)
    return input.copy_(out) if inplace else out


__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]
