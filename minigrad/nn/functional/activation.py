"""Functions of one number, softmax and their relatives, with PyTorch's arguments. The derivatives are in ops/."""

import warnings
from typing import Any

from ...autograd import inplace as writing
from ...core import errors
from ...core.arguments import forgiving
from ...ops import activations, elementwise, neural
from ...ops.dims import wrap_dim
from ...tensors.create import default_generator, empty_like
from ...tensors.tensor import Tensor
from ._arguments import check_floating, constant, kind_of


def _run(row: Any, input: Tensor, inplace: bool, *options: Any) -> Tensor:
    return writing.write(input, row, *options) if inplace else row(input, *options)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x). The slope at 0 is 0. Raises RuntimeError for booleans."""
    if input.array.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return _run(elementwise.relu, input, inplace)


def relu_(input: Tensor) -> Tensor:
    """relu in place."""
    return relu(input, True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """elu in place."""
    return elu(input, alpha, True)


def selu_(input: Tensor) -> Tensor:
    """selu in place."""
    return selu(input, True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """celu in place."""
    return celu(input, alpha, True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """leaky_relu in place."""
    return leaky_relu(input, negative_slope, True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """hardtanh in place."""
    return hardtanh(input, min_val, max_val, True)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """threshold in place."""
    return _run(activations.threshold_, input, True, threshold, value)


def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Tensor:
    """rrelu in place."""
    return rrelu(input, lower, upper, training, True)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)), element by element."""
    return elementwise.sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent, element by element."""
    return elementwise.tanh(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where it is positive, else negative_slope * x."""
    check_floating(input, "leaky_relu_cpu")
    return _run(activations.leaky_relu_, input, inplace, negative_slope)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """As leaky_relu, with a slope that is learnt: one number, or one per channel (dimension 1).
    Raises RuntimeError for another size, and for a weight of more than one dimension."""
    if weight.array.dtype is not input.array.dtype:
        raise errors.new(
            RuntimeError,
            f"prelu: Type promoting not supported. Got {kind_of(input)} and {kind_of(weight)}",
            instead="weight.to(input.dtype).",
        )
    check_floating(input, "prelu_cpu")
    if weight.numel() != 1:
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and channel size = "
                f"{channels}."
            )
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if input.ndim == 0:
        return activations.prelu_(input, weight.reshape(()))
    shape = (
        (1,) * min(1, input.ndim - 1) + (weight.numel(),) + (1,) * (input.ndim - 2)
        if input.ndim > 1
        else (weight.numel(),)
    )
    return activations.prelu_(input, weight if weight.shape == shape[1:] else weight.reshape(shape))


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, else alpha * (exp(x) - 1)."""
    check_floating(input, "elu_cpu")
    return _run(activations.elu_, input, inplace, alpha, 1.0, 1.0)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu scaled so that activations keep mean 0 and variance 1. Klambauer et al. 2017, https://arxiv.org/abs/1706.02515"""
    check_floating(input, "elu_cpu")
    return _run(
        activations.elu_, input, inplace, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0
    )


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, else alpha * (exp(x / alpha) - 1): smooth at 0 for every alpha. Raises RuntimeError for alpha 0."""
    check_floating(input, "elu_cpu")
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _run(activations.celu_, input, inplace, alpha)


@forgiving
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the probability that a standard normal number is below x; approximate="tanh" uses a formula with tanh.

    Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415
    Raises RuntimeError for another approximation.
    """
    check_floating(input, "GeluKernelImpl")
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return activations.gelu_(input) if approximate == "none" else activations.gelu_tanh(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x), also called swish."""
    check_floating(input, "silu_cpu")
    return _run(activations.silu_, input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    check_floating(input, "mish_cpu")
    return _run(activations.mish_, input, inplace)


@forgiving
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta: relu with a rounded corner. Above `threshold` simply x."""
    check_floating(input, "softplus_cpu")
    return activations.softplus_(input, beta, threshold)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x limited to [min_val, max_val]; the slope at both ends is 0. Raises ValueError if min_val > max_val, RuntimeError for booleans."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input.array.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    return _run(activations.hardtanh_, input, inplace, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """relu, but at most 6."""
    return hardtanh(input, 0, 6, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Straight lines in place of sigmoid: (x + 3) / 6 limited to [0, 1]."""
    check_floating(input, "hardsigmoid_cpu")
    return _run(activations.hardsigmoid_, input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x)."""
    check_floating(input, "hardswish_cpu")
    return _run(activations.hardswish_, input, inplace)


@forgiving
def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)), computed without overflow."""
    check_floating(input, "log_sigmoid_cpu")
    return activations.logsigmoid_(input)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + abs(x))."""
    if input.array.dtype.kind == "b":
        check_floating(input, "abs_cpu")
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - input.tanh()


@forgiving
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by lambd, or 0 if it is nearer. Raises RuntimeError for a negative lambd."""
    check_floating(input, "softshrink_check")
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd:g}.")
    return activations.softshrink_(input, lambd)


@forgiving
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x, or 0 where abs(x) is at most lambd."""
    check_floating(input, "hardshrink_cpu")
    return activations.hardshrink_(input, lambd)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it is above `threshold`, else `value`."""
    return _run(activations.threshold_, input, inplace, threshold, value)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim` times the sigmoid of the second. Raises RuntimeError if there are no equal halves."""
    if input.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = wrap_dim(dim, input.ndim)
    if input.shape[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}")
    check_floating(input, "glu_cpu")
    return activations.glu_(input, dim)


def _implicit_dim(name: str, ndim: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=5,
    )
    return 0 if ndim in (0, 1, 3) else 1


def _softmax_input(name: str, input: Tensor, dim: int | None, dtype: Any) -> tuple[Tensor, int]:
    if dim is None:
        dim = _implicit_dim(name, input.ndim)
    if dtype is None:
        check_floating(
            input, f"{'log_softmax_lastdim_kernel_impl' if name == 'log_softmax' else 'softmax_lastdim_kernel_impl'}"
        )
    return input, dim


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`: positive numbers with sum 1."""
    input, dim = _softmax_input("softmax", input, dim, dtype)
    return neural.softmax(input, dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of softmax, computed without overflow."""
    input, dim = _softmax_input("log_softmax", input, dim, dtype)
    return neural.log_softmax(input, dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax of -x."""
    input, dim = _softmax_input("softmin", input, dim, dtype)
    return neural.softmax(-input, dim, dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random choice that can be differentiated: softmax of (logits + Gumbel noise) / tau; `hard` rounds it, with the soft gradient."""
    noise = -empty_like(logits.detach()).exponential_().log()  # the draws of PyTorch
    soft = neural.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    winner = soft.array == soft.array.max(dim, keepdims=True)
    return constant(winner.astype(soft.array.dtype)) - soft.detach() + soft


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """leaky_relu with a random slope from [lower, upper]; in evaluation their mean."""
    check_floating(input, "rrelu")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    slopes = constant(default_generator.numpy.uniform(lower, upper, input.shape).astype(input.array.dtype))
    return _run(activations.prelu_, input, inplace, slopes)
