"""Switches: is gradient recording on, is this inference, who listens to operations. Per thread, as in PyTorch.

What lives here: `state` and the context managers that set it. What does not: what recording means (op.py).

`state.handlers` is a stack of listeners. While it is empty an operation takes its fast path. Otherwise the newest handler is called as
`handler(op, inputs, params)` *instead of* the operation, with itself and everything above it taken off the stack; it runs the
operation by calling `op(*inputs, *params)`. Forward mode, autocast, the profiler, anomaly mode and inference mode are handlers.
"""
import functools
import inspect
import threading


class State(threading.local):
    """Set in `__init__`, which runs once in each thread: a default on the class would take three times as long to read."""

    def __init__(self):
        self.grad = True  # is a graph recorded?
        self.inference = False
        self.anomaly: bool | str = False  # False, True (check NaN and remember the forward lines), "inf too" or "no check"
        self.inputs_given = False  # is this a backward pass to given inputs (autograd.grad)?
        self.profiler = None  # who times nodes and custom Functions (profiler.py)
        self.handlers: tuple = ()
        self.transforms = 0  # how many torch.func transforms are running
        self.vmap = None  # the innermost of them that is a vmap (batching.py)


state = State()


class Mode:
    """Base of the switches: usable as a context manager and as a decorator (of generator functions too: on while the body runs)."""

    def __enter__(self):
        raise NotImplementedError

    def __exit__(self, *exc):
        raise NotImplementedError

    def clone(self):
        return self.__class__()

    def __call__(self, function):
        if inspect.isclass(function):
            raise TypeError(f"{type(self).__name__} decorates functions and methods; decorate the methods of {function.__name__} instead")
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
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


class _Bare(Mode):
    """`@no_grad` works without parentheses, too."""

    def __new__(cls, function=None):
        return object.__new__(cls) if function is None else cls()(function)


class no_grad(_Bare):
    """Nothing is recorded inside: results do not require gradients.

    >>> import minigrad as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    def __enter__(self):
        self.before, state.grad = state.grad, False

    def __exit__(self, *exc):
        state.grad = self.before


class enable_grad(_Bare):
    """Recording is on inside, even within `no_grad`."""

    def __enter__(self):
        self.before, state.grad = state.grad, True

    def __exit__(self, *exc):
        state.grad = self.before


class set_grad_enabled(Mode):
    """Switch recording on or off; as a plain call it stays, as a context manager it is undone at the end."""

    def __init__(self, mode: bool):
        self.mode, self.before = bool(mode), state.grad
        state.grad = self.mode

    def __enter__(self):
        state.grad = self.mode

    def __exit__(self, *exc):
        state.grad = self.before

    def __call__(self, function):
        state.grad = self.before  # used as a decorator: the construction must not change anything
        return super().__call__(function)

    def clone(self):
        return set_grad_enabled(self.mode)

    def __repr__(self):
        return f"set_grad_enabled(mode={self.mode})"


def _mark(op, inputs, params):
    """Handler: what an operation makes in inference mode, unless it is a view of a normal tensor, is an inference tensor."""
    from .variable import INFERENCE, Variable

    out = op(*inputs, *params)
    for t in out if isinstance(out, tuple) else (out,):
        if isinstance(t, Variable) and t.origin is None and state.inference:
            t.version = INFERENCE
    return out


class inference_mode(Mode):
    """Like `no_grad`, and what is made inside can never be recorded later: such tensors have no version counter."""

    def __new__(cls, mode=True):
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True):
        self.mode = mode

    def __enter__(self):
        self.before = state.grad, state.inference, state.handlers
        state.inference, state.grad = self.mode, not self.mode
        if self.mode:
            state.handlers = (*state.handlers, _mark)

    def __exit__(self, *exc):
        state.grad, state.inference, state.handlers = self.before

    def clone(self):
        return inference_mode(self.mode)


def is_grad_enabled() -> bool:
    """Is a graph recorded in this thread now?"""
    return state.grad


def is_inference_mode_enabled() -> bool:
    return state.inference


class handling:
    """Context manager: `handler` hears every operation of this thread (see the top of this file)."""

    def __init__(self, handler):
        self.handler = handler

    def __enter__(self):
        self.before = state.handlers
        state.handlers = (*state.handlers, self.handler)
        return self.handler

    def __exit__(self, *exc):
        state.handlers = self.before


class handling_none:
    """Context manager: no handler hears what happens inside (the engine's own bookkeeping)."""

    def __enter__(self):
        self.before, state.handlers = state.handlers, ()

    def __exit__(self, *exc):
        state.handlers = self.before
