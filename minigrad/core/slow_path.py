"""The slow path of an operation: handlers, ndarrays, Python numbers, mixed dtypes, sequences, and the errors of PyTorch.

The source that is written for each row (row_source.py) handles Tensors of one dtype itself and calls `general` for everything else.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from ..scalar import Value
from . import dtypes, errors, meta, permissions
from .constants import constant
from .dispatch import NOT_RUNNING, state
from .facts import ArgumentType
from .on_values import on_values
from .row_source import DISCRETE, ELEMENTWISE
from .variable import Variable, wrap

if TYPE_CHECKING:
    from .op import Op

_PACKAGE = __package__.partition(".")[0] + "."
# Files between a caller and these functions
_CALLERS = (
    __file__,
    os.path.join(os.path.dirname(__file__), "op.py"),
    "<minigrad",
)


def general(op: Op, inputs: Any, params: tuple[Any, ...]) -> Any:
    """The way of everything that is not plain: handlers, ndarrays, Python numbers, mixed dtypes, sequences."""
    flat = inputs[0] if op.tensor_list else inputs
    if not any([isinstance(x, Variable) for x in flat]):
        if any([isinstance(x, Value) for x in flat]):
            return on_values(op, inputs, params)
        if any([isinstance(x, (ndarray, np.generic)) for x in flat]):
            return on_ndarrays(op, *inputs, *params)
    handlers = state.handlers
    if handlers:
        state.handlers = handlers[:-1]
        try:
            return handlers[-1](op, inputs, params)
        finally:
            state.handlers = handlers
    tensors, arrays = prepare(op, flat)
    try:
        if any([type(a) is meta.MetaArray for a in arrays]):
            r = meta.run(op, arrays, params)
        else:
            r = op.forward(arrays, *params) if op.tensor_list else op.forward(*arrays, *params)
    except (ValueError, TypeError) as error:
        raise failed(op, arrays, error) from None
    return op.record(r, tensors, *params) if op.tensor_list else op.record(r, *tensors, *params)


def on_ndarrays(op: Op, *arguments: Any) -> Any:
    """The numbers alone: for rules in the fast backward pass, and for forward() of another row. Raises TypeError for anybody else:
    PyTorch's functions take no arrays, and a result without a graph would go unnoticed."""
    if op.ours and state.running is NOT_RUNNING and _called_by_others():
        arrays = arguments[0] if op.tensor_list else arguments[: len(op.inputs)]
        raise wrong_type(op, *next((i, x) for i, x in enumerate(arrays) if isinstance(x, (ndarray, np.generic))))
    return op.forward(*arguments)


def _called_by_others() -> bool:
    """Is the code that called the operation outside of this package, and no rule or forward() that the package runs?"""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_CALLERS):
        frame = frame.f_back
    if is_ours(frame, ""):
        return False
    return not (frame.f_back and (is_ours(frame.f_back, "core.") or is_ours(frame.f_back, "kernels.")))


def is_ours(frame: FrameType, room: str) -> bool:
    return frame.f_globals.get("__name__", "").startswith(_PACKAGE + room)


def prepare(op: Op, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Tensors for the record and arrays, promoted to their common dtype, for the computation."""
    if not any([isinstance(x, Variable) for x in inputs]):
        raise wrong_type(op, 0, inputs[0] if inputs else None)
    if op.promoted or op.floats:
        names = op.inputs
        chosen = [x for x, name in zip(inputs, names, strict=True) if name in op.promoted] if op.promoted else inputs
        for position, x in enumerate(inputs):
            if not isinstance(x, (Variable, np.generic, builtins.bool, int, float)):
                raise wrong_type(op, position, x)
            if op.tensors_only and not isinstance(x, Variable) and _called_by_others():
                permissions.allow("number for a tensor", wrong_type(op, position, x))
        if not op.bools:
            bools = [
                (x.array.dtype.kind == "b") if isinstance(x, Variable) else isinstance(x, builtins.bool) for x in inputs
            ]
            if any(bools):
                raise errors.no_bools(op.name, all(bools))
        common = dtypes.result_type(*chosen)
        _check_kernel(op, common.numpy)
        if op.floats and not common.is_floating_point:
            common = dtypes.get_default_dtype()
        tensors, arrays = [], []
        for x, name in zip(inputs, names, strict=True):
            kind = common if name in op.promoted or not op.promoted else None
            t = x if isinstance(x, Variable) else constant(x, kind)
            a = t.array
            tensors.append(t)
            arrays.append(a.astype(kind.numpy) if kind is not None and a.dtype is not kind.numpy else a)
        return tensors, arrays
    tensors = []
    for position, x in enumerate(inputs):
        if isinstance(x, Variable):
            tensors.append(x)
        elif (
            isinstance(x, (ndarray, np.generic)) and not _called_by_others()
        ):  # a constant in a rule under create_graph
            tensors.append(wrap(np.asarray(x)))
        else:
            raise wrong_type(op, position, x)
    arrays = [t.array for t in tensors]
    _check_kernel(op, arrays[0].dtype)
    if op.one_dtype:
        _check_one_dtype(op, dict(zip(op.inputs, arrays, strict=True)))
    return tensors, arrays


def _check_kernel(op: Op, dtype: np.dtype) -> None:
    """Raise PyTorch's error if its kernel does not have the dtype."""
    if op.refuses and dtype.char in op.refuses[0]:
        raise errors.no_kernel(op.refuses[1], dtype)


def _check_one_dtype(op: Op, arrays: dict[str, np.ndarray]) -> None:
    """Raise if inputs that must share a dtype do not. Here, after the handlers: autocast may have given them one."""
    for pair, sentence in (op.one_dtype or {}).items():
        a, b = pair.split()
        if arrays[a].dtype != arrays[b].dtype:
            raise errors.dtypes_differ(sentence, {i: array.dtype.name for i, array in arrays.items()})


def wrong_type(op: Op, position: int, x: Any) -> BaseException:
    name = op.args[min(position, len(op.args) - 1)]
    sentence = f"{op.name}(): argument '{name}' (position {position + 1}) must be Tensor, not {errors.type_name(x)}"
    facts = ArgumentType(op.name, position + 1, type(x).__name__)
    if isinstance(x, ndarray):
        why = "Functions and methods take tensors; only operators, x * array, take an ndarray."
        return errors.new(TypeError, sentence, why=why, instead="torch.from_numpy(array).", facts=facts)
    return errors.new(TypeError, sentence, facts=facts)


def failed(op: Op, arrays: Sequence[np.ndarray], error: BaseException) -> BaseException:
    """The error to raise for numpy's `error`: about broadcasting or about bools, if that was it."""
    if isinstance(error, meta.NoNumbersError):
        return error
    if isinstance(error, TypeError):
        bools = [a.dtype.kind == "b" for a in arrays]
        if any(bools):
            return errors.no_bools(op.name, all(bools))
        if "ufunc" in str(error):
            kind = errors.TYPE_NAMES.get(arrays[0].dtype.name, "").removesuffix("Tensor")
            return errors.new(
                NotImplementedError,
                f"\"{op.name}_cpu\" not implemented for '{kind}'",
                instead="compare first, (x > 0) & (x < 1), or convert with .long().",
            )
        return error
    if op.kind in (ELEMENTWISE, DISCRETE):
        return errors.broadcast(arrays, error)
    return error
