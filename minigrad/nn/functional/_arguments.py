"""Checks and conversions that several functions share."""

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.facts import ArgumentType, CastWritten
from ...core.variable import Variable
from ...ops.reduce import mean, sum
from ...tensors.tensor import Tensor

DTYPE_NAMES = {
    "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "float64": "Double",
    "float32": "Float", "float16": "Half",
}  # fmt: skip


def old_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """What the two old switches of a loss mean: by default the mean, with size_average=False the sum, with reduce=False every value."""
    reduction = "none" if not (reduce is None or reduce) else "mean" if size_average is None or size_average else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=4
    )
    return reduction


def understanding_old_switches(function: Callable[..., Any]) -> Callable[..., Any]:
    """The loss; size_average and reduce, where they are given, decide its reduction."""
    signature = inspect.signature(function)
    place = [*signature.parameters].index("size_average")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > place or "size_average" in kwargs or "reduce" in kwargs:
            arguments = signature.bind(*args, **kwargs).arguments
            switches = arguments.pop("size_average", None), arguments.pop("reduce", None)
            if switches != (None, None):
                arguments["reduction"] = old_reduction(*switches)
            return function(**arguments)
        return function(*args, **kwargs)

    return call


def refusing_others(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; where it fails because a list or a number was passed for a tensor, the error says so. A correct call costs nothing."""
    if "size_average" in inspect.signature(function).parameters:
        function = understanding_old_switches(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (AttributeError, TypeError, ValueError):
            if error := _no_tensor(function, args, kwargs):
                raise error from None
            raise

    call.__module__ = __package__  # where pickle finds it
    return call


def _no_tensor(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception | None:
    arguments: dict[str, Any] = (
        dict(zip(signature := inspect.signature(function).parameters, args, strict=False)) | kwargs
    )
    for position, (name, parameter) in enumerate(signature.items(), 1):
        value = arguments.get(name)
        if parameter.annotation in (Tensor, Tensor | None) and not isinstance(value, Variable):
            if value is not None or (name in arguments and parameter.annotation is Tensor):
                place = "" if name in kwargs else f" (position {position})"
                item = f"{function.__name__}(): argument '{name}'{place} must be Tensor, not {errors.type_name(value)}"
                return errors.new(
                    TypeError,
                    item,
                    instead="minigrad.tensor(...) makes a tensor of numbers, lists and numpy arrays.",
                    facts=ArgumentType(function.__name__, position, type(value).__name__),
                )
    return None


def kind_of(x: Tensor) -> str:
    """The dtype under the name that PyTorch's messages use: Long, Float, ..."""
    return DTYPE_NAMES[x.array.dtype.name]


def check_floating(x: Tensor, kernel: str) -> None:
    """Raise NotImplementedError, as PyTorch's kernels do, unless `x` holds floating-point numbers."""
    if x.array.dtype.kind != "f":
        sentence = f"\"{kernel}\" not implemented for '{kind_of(x)}'"
        raise errors.new(NotImplementedError, sentence, instead="convert the tensor first: x.float().")


def check_result(result: dtypes.dtype, out: dtypes.dtype) -> None:
    """Raise PyTorch's error if a loss that is computed in place in the dtype `out` has a result that does not fit into it."""
    if not dtypes.can_cast(result, out):
        raise errors.new(
            RuntimeError,
            f"result type {DTYPE_NAMES[result.name]} can't be cast to the desired output type {DTYPE_NAMES[out.name]}",
            why="The loss is a decimal number, and PyTorch computes it in the dtype of this tensor.",
            instead="convert it first: target.float().",
            facts=CastWritten(DTYPE_NAMES[result.name], DTYPE_NAMES[out.name]),
        )


def check_mean(x: Tensor) -> None:
    """Raise the error of `mean()` for integers, where PyTorch's composition ends in one."""
    if x.array.dtype.kind != "f":
        mean(x)


def check_reduction(reduction: str) -> None:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def reduce(values: Tensor, reduction: str) -> Tensor:
    """All values, their mean or their sum."""
    check_reduction(reduction)
    return values if reduction == "none" else mean(values) if reduction == "mean" else sum(values)


def promoted(*tensors: Tensor) -> list[Tensor]:
    """The tensors in their common dtype."""
    common = dtypes.result_type(*tensors)
    return [t if t.array.dtype is common.numpy else t.to(common) for t in tensors]


def broadcast_shape(*tensors: Tensor) -> tuple[int, ...]:
    """The shape that the tensors have together. Raises PyTorch's RuntimeError if they do not fit."""
    try:
        return np.broadcast_shapes(*[t.array.shape for t in tensors])
    except ValueError as e:
        raise errors.broadcast([t.array for t in tensors], e) from None


def several(value: Any, n: int, name: str) -> tuple[int, ...]:
    """One number per dimension, from one for all or a sequence of n. Raises RuntimeError for another count."""
    if isinstance(value, (int, np.integer)):
        return (int(value),) * n
    sizes = tuple([int(v) for v in value])
    if len(sizes) == 1:
        return sizes * n
    if len(sizes) != n:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {n} values to match the convolution dimensions, but got "
            f"{name}={list(sizes)}"
        )
    return sizes


def constant(array: np.ndarray) -> Tensor:
    return Tensor._wrap(array)
