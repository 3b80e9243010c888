"""torch.autograd.Variable: what tensors with gradients were called before PyTorch 0.4."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core import variable
from ..core.dispatch import NOT_RUNNING, state

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


class _TensorsAreVariables(type):
    def __instancecheck__(cls, instance: Tensor) -> bool:
        return isinstance(instance, variable.Variable)


class _Engine:
    """The part of PyTorch's engine object that programs use."""

    @staticmethod
    def queue_callback(callback: Callable[..., Any]) -> None:
        """Call `callback()` when the backward pass that runs now is done. Raises RuntimeError outside of one."""
        if state.running is NOT_RUNNING:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        state.running.callbacks = (*state.running.callbacks, callback)


class Variable(metaclass=_TensorsAreVariables):
    """Variable(tensor, requires_grad=False): another tensor with the same numbers, a leaf. Every tensor is an instance."""

    _execution_engine = _Engine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        if volatile is not None:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        if not isinstance(data, variable.Variable):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        tensor: Any = data
        return tensor.data.requires_grad_(requires_grad)
