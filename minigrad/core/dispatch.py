"""The state of this thread: is a graph recorded, is this inference, and the stack of handlers that operations are dispatched to.

What lives here: `state`, `handling` and the base of the switches. What does not: no_grad and its kin (grad_mode.py), what recording
means (op.py).

`state.handlers` is a stack of listeners. While it is empty an operation takes its fast path. Otherwise the newest handler is called as
`handler(op, inputs, params)` *instead of* the operation, with itself and everything above it taken off the stack; it runs the
operation by calling `op(*inputs, *params)`. Forward mode, autocast, the profiler, anomaly mode and inference mode are handlers.
"""
import functools
import inspect
import threading
import warnings


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
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or methods. "
                "To preserve the current behavior of class decoration, you can directly decorate the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
        elif inspect.isgeneratorfunction(function):
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
