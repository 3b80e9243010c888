"""no_grad, enable_grad, set_grad_enabled, inference_mode: is a graph recorded in this thread?

What lives here: the switches that people use, as in torch/autograd/grad_mode.py. What does not: the state that they set (dispatch.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .dispatch import Mode, handling, state
from .variable import INFERENCE, Variable

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor
    from .op import Op


class _Bare(Mode):
    """`@no_grad` works without parentheses, too."""

    def __new__(cls, function: Any = None) -> Any:
        return object.__new__(cls) if function is None else cls()(function)


class no_grad(_Bare):
    """Nothing is recorded inside: results do not require gradients.

    >>> import minigrad as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    def __enter__(self) -> None:
        self.before, state.grad = state.grad, False

    def __exit__(self, *exc: Any) -> None:
        state.grad = self.before


class enable_grad(_Bare):
    """Recording is on inside, even within `no_grad`."""

    def __enter__(self) -> None:
        self.before, state.grad = state.grad, True

    def __exit__(self, *exc: Any) -> None:
        state.grad = self.before


class set_grad_enabled(Mode):
    """Switch recording on or off; as a plain call it stays, as a context manager it is undone at the end."""

    def __init__(self, mode: bool) -> None:
        self.mode, self.before = bool(mode), state.grad
        state.grad = self.mode

    def __enter__(self) -> None:
        state.grad = self.mode

    def __exit__(self, *exc: Any) -> None:
        state.grad = self.before

    def __call__(self, function: Any) -> Any:
        state.grad = self.before  # used as a decorator: the construction must not change anything
        return super().__call__(function)

    def clone(self) -> Any:
        return set_grad_enabled(self.mode)

    def __repr__(self) -> str:
        return f"set_grad_enabled(mode={self.mode})"


@handling
def _mark(op: Op, inputs: Any, params: Any) -> Tensor | tuple[Tensor, ...]:
    """What an operation makes in inference mode, unless it is a view of a normal tensor, is an inference tensor."""
    out = op(*inputs, *params)
    for t in out if isinstance(out, tuple) else (out,):
        if isinstance(t, Variable) and t.view_meta is None and state.inference:
            t.version = INFERENCE
    return out


def leave_inference() -> None:
    """End inference mode; who calls this puts `state.inference` and `state.handlers` back."""
    state.inference, state.handlers = False, tuple([h for h in state.handlers if h is not _mark])


class inference_mode(Mode):
    """Like `no_grad`, and tensors made inside can never be recorded later, because they have no version counter."""

    def __new__(cls, mode: bool = True) -> Any:
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self.before = state.grad, state.inference, state.handlers
        state.inference, state.grad = self.mode, not self.mode
        if self.mode:
            state.handlers = (*state.handlers, _mark)

    def __exit__(self, *exc: Any) -> None:
        state.grad, state.inference, state.handlers = self.before

    def clone(self) -> Any:
        return inference_mode(self.mode)


class set_multithreading_enabled(Mode):
    """PyTorch's switch for a backward pass in several threads, as a context manager or a call. minigrad's runs in one: nothing changes but
    what is_multithreading_enabled() says."""

    on = True

    def __init__(self, mode: bool) -> None:
        self.mode, self.before = mode, set_multithreading_enabled.on
        set_multithreading_enabled.on = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        set_multithreading_enabled.on = self.before

    def clone(self) -> Any:
        return set_multithreading_enabled(self.mode)


def is_multithreading_enabled() -> bool:
    """The mode that set_multithreading_enabled was last called with."""
    return set_multithreading_enabled.on


def is_grad_enabled() -> bool:
    """Is a graph recorded in this thread now?"""
    return state.grad


def is_inference_mode_enabled() -> bool:
    """Is inference mode on in this thread?"""
    return state.inference
