"""torch.nn.init: starting values for weights, in place and unrecorded.

What lives here: the usual distributions and how their width follows from a layer's size. Each function changes its tensor and returns it.
"""

import math
import warnings
from typing import Any

import numpy as np

from ..core.grad_mode import no_grad
from ..tensors.create import rand_like, randn, randn_like, randperm
from ..tensors.tensor import Tensor

_LINEAR = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
)


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """How much a layer's weights must be enlarged so that the following nonlinearity keeps the variance.
    Raises ValueError for another name or parameter.

    >>> calculate_gain("relu")
    1.4142135623730951
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output has, and how many outputs each input has."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    cells = math.prod(tensor.shape[2:])
    return tensor.shape[1] * cells, tensor.shape[0] * cells


_calculate_fan_in_and_fan_out = _fans  # under PyTorch's name, which teaching code uses


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform in [a, b)."""
    if tensor.is_meta:
        return tensor
    return _set(tensor, rand_like(tensor, generator=generator).array * (b - a) + a)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers with that mean and standard deviation."""
    if tensor.is_meta:
        return tensor
    return _set(tensor, randn_like(tensor, generator=generator).array * std + mean)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal, drawn again until in [a, b]."""
    normal_(tensor, mean, std, generator)
    if tensor.is_meta:
        return tensor
    while (outside := (tensor.array < a) | (tensor.array > b)).any():
        tensor.array[outside] = randn(int(outside.sum()), generator=generator, dtype=tensor.dtype).array * std + mean
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """The same number everywhere."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones everywhere."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros everywhere."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """The unit matrix. Raises ValueError unless the tensor is a matrix."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _set(tensor, np.eye(*tensor.shape))


def _set(tensor: Tensor, numbers: np.ndarray) -> Tensor:
    if not tensor.is_meta:
        tensor.array[...] = numbers
    tensor.version[0] += 1
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution kernel that copies its input channels.
    Raises ValueError unless the weight is one of conv1d, conv2d or conv3d and `groups` divides its first size."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = tensor.shape[0] // groups
    out = np.zeros(tensor.shape)
    middle = [n // 2 for n in tensor.shape[2:]]
    for group in range(groups):
        for channel in range(min(per_group, tensor.shape[1])):
            out[(group * per_group + channel, channel, *middle)] = 1
    return _set(tensor, out)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform with variance 2 / (fan_in + fan_out) * gain**2. Glorot and Bengio 2010."""
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(sum(_fans(tensor)))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal with variance 2 / (fan_in + fan_out) * gain**2."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(_fans(tensor)))), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return calculate_gain(nonlinearity, a) / math.sqrt(_fans(tensor)[mode == "fan_out"])


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform with variance gain**2 / fan. He et al. 2015, https://arxiv.org/abs/1502.01852. `a`: the slope of leaky_relu."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Normal with variance gain**2 / fan."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """A random matrix whose rows (or columns, whichever are fewer) are orthogonal unit vectors, times gain. Saxe et al. 2013.
    Raises ValueError for fewer than two dimensions."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    flat = normal_(
        Tensor._wrap(np.empty((rows, tensor.numel() // rows), tensor.array.dtype)), generator=generator
    ).array
    q, r = np.linalg.qr(flat.T if flat.shape[0] < flat.shape[1] else flat)
    q = q * np.sign(np.diag(r))  # makes the result uniform over all orthogonal matrices
    return _set(tensor, gain * (q.T if flat.shape[0] < flat.shape[1] else q).reshape(tensor.shape))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal, with this part of each column set to zero. Raises ValueError unless the tensor is a matrix."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    normal_(tensor, 0, std, generator)
    for column in range(columns):
        tensor.array[randperm(rows).array[: math.ceil(sparsity * rows)], column] = 0
    return tensor
