"""torch.autograd.forward_ad: dual numbers. Tangents are propagated in forward_mode.py."""

from __future__ import annotations

import threading
from collections import namedtuple
from typing import TYPE_CHECKING, Any

from ..core import errors
from ..core.dispatch import state
from ..core.storage import place_of
from ..core.variable import Variable, set_tangent
from ..ops.shape import alias, clone
from .forward_mode import Level

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ("primal", "tangent"))


class _Levels(threading.local):
    """The level that is open in this thread; handlers are thread-local as well."""

    def __init__(self) -> None:
        self.open: list[Level] = []


_levels = _Levels()


def __getattr__(name: str) -> int:
    if name == "_current_level":  # PyTorch keeps it in the module: -1 where no level is open
        return len(_levels.open) - 1
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def enter_dual_level() -> int:
    """Start forward mode; prefer `with dual_level():`. Returns the level's number. Raises RuntimeError if one is open already."""
    if _levels.open:
        raise errors.new(RuntimeError, "Nested forward mode AD is not supported at the moment")
    level = Level()
    _levels.open.append(level)
    state.handlers = (*state.handlers, level)
    return 0


def exit_dual_level(*, level: Any = None) -> None:
    """End forward mode: all tangents are forgotten. Raises RuntimeError if no level is open."""
    if not _levels.open:
        raise errors.new(
            RuntimeError,
            "Trying to exit a forward AD level that was not the last one that was created: no level is open.",
        )
    closed = _levels.open.pop()
    closed.close()
    state.handlers = tuple([h for h in state.handlers if h is not closed])


class dual_level:
    """Context manager: inside, `make_dual` gives a tensor a tangent, every operation pushes it on, `unpack_dual` reads it.

    >>> import minigrad as torch
    >>> import minigrad.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor([1., 2.]), torch.tensor([1., 0.]))
    ...     fwAD.unpack_dual(x * x).tangent
    tensor([2., 0.])
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: Any = None) -> Tensor:
    """A view of `tensor` that carries `tangent` (same shape and dtype). Raises RuntimeError outside of a dual level and for
    another shape, ValueError for integers."""
    if not _levels.open:
        raise errors.new(
            RuntimeError,
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.",
        )
    if tensor.array.dtype.kind != "f":
        raise errors.new(ValueError, f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if tangent.array.dtype.kind != "f":
        raise errors.new(ValueError, f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    if tensor.array.shape != tangent.array.shape:
        raise errors.new(
            RuntimeError,
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor "
            f"is of size {list(tensor.shape)} while the given forward gradient is of size {list(tangent.shape)}.",
        )
    if _levels.open[-1].tangent(tensor) is not None:
        raise errors.new(
            RuntimeError,
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not supported.",
        )
    if _levels.open[-1].tangent(tangent) is not None:
        raise errors.new(
            RuntimeError,
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported.",
        )
    if not (tensor.batched or tangent.batched) and place_of(tensor.array)[0].size != place_of(tangent.array)[0].size:
        tangent = clone(tangent)  # or a view that exists of one storage would not exist of the other
    dual = alias(tensor)
    _levels.open[-1].attach(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: Any = None) -> UnpackedDualTensor:
    """A named tuple (primal, tangent); the tangent is None if the tensor carries none. Raises TypeError for anything else."""
    if not _levels.open:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Variable):
        raise errors.new(
            TypeError, f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}"
        )
    tangent = _levels.open[-1].tangent(tensor)
    handlers, state.handlers = state.handlers, tuple([h for h in state.handlers if h is not _levels.open[-1]])
    try:
        primal = alias(tensor)
        if tangent is not None:
            set_tangent(primal, _levels.open[-1].number, None)  # though a view of one that has a tangent
        return UnpackedDualTensor(primal, tangent)
    finally:
        state.handlers = handlers
