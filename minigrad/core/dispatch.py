"""The state of this thread: is a graph recorded, is this inference, and the stack of handlers that operations are dispatched to.

`state`, `Handler` and the base of the switches. The switches themselves, such as no_grad, are in grad_mode.py.

`state.handlers` is a stack. While it is empty an operation takes its fast path. Otherwise the newest handler is called as
`handler(op, inputs, params)` *instead of* the operation, with itself and everything above it taken off the stack; it runs the
operation by calling `op(*inputs, *params)`. Forward mode, vmap, autocast, the profiler, anomaly mode, inference mode, hooks on
saved tensors, compilation and the recorders of the views are handlers: subclasses of `Handler`.
"""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


class Running(list):
    """A backward pass while it runs: its nodes in order. Compared by identity, so two passes over the same nodes differ."""

    __slots__ = ("__weakref__", "callbacks", "node", "outer")
    __hash__, __eq__ = object.__hash__, object.__eq__  # type: ignore[assignment]
    node: Any  # the node that runs now, set by the loop in autograd/engine.py
    outer: Running | None  # the pass that started this one; set, as the next, in autograd/backward.py
    callbacks: Sequence[Callable[[], object]]  # called when it is done (autograd/variable.py)


NOT_RUNNING = Running()
NOT_RUNNING.node = NOT_RUNNING.outer = None
NOT_RUNNING.callbacks = ()


class State(threading.local):
    """Set in `__init__`, which runs once in each thread: a default on the class would take three times as long to read."""

    def __init__(self) -> None:
        self.grad = True  # is a graph recorded?
        self.inference = False
        self.anomaly: bool | str = (
            False  # False, True (check NaN and remember the forward lines), "inf too" or "no check"
        )
        self.inputs_given = False  # is this a backward pass to given inputs (autograd.grad)?
        self.profiler: Any = None  # who times nodes and custom Functions (profiler.py)
        self.handlers: tuple = ()
        self.no_saved_hooks: str | None = None  # why saved_tensors_hooks is forbidden (autograd/graph.py)
        self.running = NOT_RUNNING  # the backward pass that runs now (engine.py)
        self.transforms = 0  # how many torch.func transforms are running
        self.vmap: Any = None  # the innermost of them that is a vmap (batching.py)


state = State()


class Mode:
    """Base of the switches: usable as a context manager and as a decorator (of generator functions too: on while the body runs)."""

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *exc: Any) -> None:
        raise NotImplementedError

    def clone(self) -> Any:
        return self.__class__()

    def __call__(self, function: Any) -> Callable[..., Any]:
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or methods. "
                "To preserve the current behavior of class decoration, you can directly decorate the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
        elif inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Iterator[Any]:
            generator = function(*args, **kwargs)
            send, value = generator.send, None
            try:
                while True:
                    with self.clone():  # only while the body runs: between two items the caller's own mode counts
                        item = send(value)
                    try:
                        value, send = (yield item), generator.send
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException as error:
                        value, send = error, generator.throw
            except StopIteration as stop:
                return stop.value

        return wrapped


class Handler:
    """Base of all handlers of operations: a context manager inside which every operation of this thread calls the handler."""

    needs_tensors = (
        False  # a backward pass inside must run on Tensors, because this handler handles its operations as well
    )
    packs = False  # what nodes save goes through its hooks
    in_second_run = False  # a checkpoint's second run happens under it, too
    before: Any = None  # the handlers outside, for each time that it was entered, innermost first
    rule: Any = (
        None  # rule(node, g, edges): what runs a node's rule in its place, in a pass on Tensors that is not recorded
    )

    def __enter__(self) -> Self:
        self.before = state.handlers, self.before
        state.handlers = (*[h for h in state.handlers if not self.replaces(h)], self)
        return self

    def __exit__(self, *exc: Any) -> None:
        if self.before is not None:
            outer, self.before = self.before
            if len(outer) <= len(state.handlers):  # else an outer context was left first, and has restored the stack
                state.handlers = outer

    def __call__(self, op: Any, inputs: Any, params: Any) -> Any:
        """Run op(*inputs, *params), or a replacement, and return the result."""
        raise NotImplementedError

    def tangent(self, x: Any) -> Any:
        """Forward mode: the tangent that `x` carries here, or None."""
        return None

    # Side effects that are not operations. Handlers are notified before or after, as each method says.

    def writes(self, x: Tensor) -> None:
        """The numbers of `x` are about to be overwritten."""

    def written(self, x: Tensor, out: Tensor) -> None:
        """The numbers of `out` have been written into `x`."""

    def accumulated(self, x: Tensor, g: Tensor) -> None:
        """`g` is about to be added to x.grad, outside of any graph."""

    def schedules(self, scheduler: Any, args: Any) -> None:
        """A learning rate scheduler begins to set the rates of its optimiser, in a step with these arguments, or (None) has done so."""

    def updates(self, optimizer: Any, begins: bool) -> None:
        """`optimizer` is about to change its parameters, or (begins False) has done so."""

    def replaces(self, other: Any) -> bool:
        """True if this handler hides operations from the outer handler `other`."""
        return False


class handling(Handler):
    """Context manager: every operation of this thread calls the function (op, inputs, params) instead."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, op: Any, inputs: tuple[Tensor, ...], params: tuple[Any, ...]) -> Tensor | tuple[Tensor, ...]:
        return self.function(op, inputs, params)


class handling_none:
    """Context manager: operations inside call no handler (the engine's own bookkeeping)."""

    def __enter__(self) -> None:
        self.before, state.handlers = state.handlers, ()

    def __exit__(self, *exc: Any) -> None:
        state.handlers = self.before
