"""torch.nn.grad: the two gradients of a convolution, as functions."""

from collections.abc import Sequence
from typing import Any

from ..core import errors
from ..ops import convolution as rows
from ..tensors.tensor import Tensor
from .functional._arguments import several


def _options(n: int, dimensions: dict[str, int], **options: Any) -> list[tuple[int, ...]]:
    for name, size in dimensions.items():
        if size != n + 2:
            raise errors.new(
                RuntimeError,
                f"{name} has {size} dimensions, but conv{n}d's has {n + 2}",
                instead="give a batch: x.unsqueeze(0) is a batch of one sample.",
            )
    return [several(value, n, name) for name, value in options.items()]


def _input(
    n: int,
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    dims = {"input_size": len(input_size), "weight": weight.ndim, "grad_output": grad_output.ndim}
    options = _options(n, dims, stride=stride, padding=padding, dilation=dilation)
    return rows.conv_transpose(grad_output, weight, tuple(input_size)[2:], *options, groups)


def _weight(
    n: int,
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    dims = {"input": input.ndim, "weight_size": len(weight_size), "grad_output": grad_output.ndim}
    options = _options(n, dims, stride=stride, padding=padding, dilation=dilation)
    return rows.conv_weight(grad_output, input, tuple(weight_size), *options, groups)


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv1d with respect to its input, of the shape `input_size`: weight (O, C / groups, k), grad_output (N, O, L').
    Raises RuntimeError for other numbers of dimensions."""
    return _input(1, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """As conv1d_input, with two spatial dimensions."""
    return _input(2, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """As conv1d_input, with three spatial dimensions."""
    return _input(3, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv1d with respect to its weight, of the shape `weight_size`: input (N, C, L), grad_output (N, O, L').
    Raises RuntimeError for other numbers of dimensions."""
    return _weight(1, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """As conv1d_weight, with two spatial dimensions."""
    return _weight(2, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """As conv1d_weight, with three spatial dimensions."""
    return _weight(3, input, weight_size, grad_output, stride, padding, dilation, groups)
