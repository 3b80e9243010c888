"""torch.utils.checkpoint: forget what a part of the forward pass saved, and compute it again in the backward pass.

What lives here: `checkpoint` (both variants) and `checkpoint_sequential`. What does not: the hooks that the newer variant is made of
(autograd/graph.py).

use_reentrant=False  nodes stay,
what they save is replaced by a note; the first note that is read runs the function again and fills them all
use_reentrant=True   one node replaces the whole part; its backward runs the function again, recorded, and a backward pass through that
"""

import contextlib
import contextvars
import warnings
import weakref
from typing import TYPE_CHECKING, Any

from .. import autograd
from ..autograd.function import Function
from ..autograd.graph import saved_tensors_hooks
from ..core import errors
from ..core.dispatch import NOT_RUNNING, state
from ..core.grad_mode import enable_grad, set_grad_enabled
from ..core.variable import wrap
from ..random import fork_rng, get_rng_state, set_rng_state

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor as Variable  # its only direct subclass, with all the methods
else:
    from ..core.variable import Variable

_EXPLICIT = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling checkpoint without "
    "use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to preserve the current default behavior, "
    "you can pass use_reentrant=True. Refer to docs for more details on the differences between the two variants."
)


_early_stop: contextvars.ContextVar[bool | None] = contextvars.ContextVar("early_stop", default=None)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool):
    """Context manager: `enable` is the early_stop of the checkpoints made inside."""
    before = _early_stop.set(enable)
    try:
        yield
    finally:
        _early_stop.reset(before)


class CheckpointError(RuntimeError):
    """The second run of the function was not like the first."""


class _Done(Exception):
    """Everything has been computed again: the rest of the function need not run."""


def noop_context_fn():
    """Two contexts, for the first and for the second run, that change nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def _metadata(x):
    return {"shape": x.shape, "dtype": x.dtype, "device": x.device}


class _Note:
    """What a node holds in place of a tensor: where the tensor will be."""

    __slots__ = ("__weakref__", "position", "region")

    def __init__(self, region, position):
        self.region, self.position = region, position


class _Region:
    """One checkpointed call: how to run it again, and what that gave."""

    def __init__(self, function, args, kwargs, preserve, check, early_stop, context):
        self.function, self.args, self.kwargs = function, args, kwargs
        self.check, self.early_stop, self.context = check, early_stop, context
        self.random_state = get_rng_state() if preserve else None
        self.grad, self.casts = state.grad, [h for h in state.handlers if h.in_second_run]
        self.completed = False  # has the first run ended?
        self.saved = []  # metadata of the saved tensors, in order
        self.again: Any = None  # {position: tensor}, what the backward pass has not read yet
        self.running: Any = lambda: None  # weak, for it holds the nodes that hold this: that backward pass

    def pack(self, x):
        self.saved.append(_metadata(x))
        return _Note(self, len(self.saved) - 1)

    def unpack(self, note):
        # Each pass computes once; outside of one, each look does
        if state.running is not self.running() or state.running is NOT_RUNNING:
            self.recompute()
            self.running = weakref.ref(state.running)
        if note.position not in self.again:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you are calling "
                "ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with details on your use case."
            )
        result = self.again.pop(note.position)
        if state.running is NOT_RUNNING:
            self.again = None
        return result

    def recompute(self):
        again: list[Any] = []

        def pack(x):
            if len(again) == len(self.saved):
                if not self.completed:  # a gradient was asked for inside of the function itself
                    return x
                raise self._new(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass.\n"
                )
            again.append(wrap(x.array) if x.requires else x)
            if self.early_stop and len(again) == len(self.saved):
                raise _Done
            return x

        handlers, state.handlers = (
            state.handlers,
            tuple([h for h in state.handlers if h.needs_tensors]) + tuple(self.casts),
        )
        try:
            with fork_rng(enabled=self.random_state is not None), set_grad_enabled(self.grad), self.context:
                if self.random_state is not None:
                    set_rng_state(self.random_state)
                with saved_tensors_hooks(pack, lambda x: x), contextlib.suppress(_Done):
                    self.function(*self.args, **self.kwargs)
        finally:
            state.handlers = handlers
        if self.check:
            if len(again) != len(self.saved):
                raise self._new(
                    "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                    f"Number of tensors saved during forward: {len(self.saved)}\n"
                    f"Number of tensors saved during recomputation: {len(again)}."
                )
            self._compare(again)
        self.again = dict(enumerate(again))

    def _new(self, sentence):
        return errors.new(
            CheckpointError,
            sentence,
            why="The function did something else the second time: it depends on what changed in between (a counter, a flag).",
            instead="make the function depend on its arguments only.",
            chapter="chapter 16, Memory and checkpointing",
        )

    def _compare(self, again):
        lines = ""
        for i, (old, x) in enumerate(zip(self.saved, again, strict=True)):
            new = _metadata(x)
            if old != new:
                lines += f"tensor at position {i}:\nsaved metadata: {old}\nrecomputed metadata: {new}\n"
        if lines:
            raise errors.new(
                CheckpointError,
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward "
                "pass.\n"
                f"{lines}.",
                why="The function did something else the second time: it depends on something that changed in between.",
                instead="make the function depend on its arguments only.",
                chapter="chapter 16, Memory and checkpointing",
            )

    def held(self):
        """The tensors that wait for the second run."""
        return [x for x in (*self.args, *self.kwargs.values()) if isinstance(x, Variable)]


class CheckpointFunction(Function):
    """The reentrant variant: forward without recording, backward through a second, recorded run."""

    @staticmethod
    def forward(ctx, function, preserve, *args):
        ctx.function = function
        ctx.random_state = get_rng_state() if preserve else None
        ctx.casts = [h for h in state.handlers if h.in_second_run]
        ctx.places = [isinstance(a, Variable) for a in args]
        ctx.others = [None if isinstance(a, Variable) else a for a in args]
        ctx.save_for_backward(*[a for a in args if isinstance(a, Variable)])
        return function(*args)

    @staticmethod
    def backward(ctx, *grads):
        """Raises RuntimeError when gradients are asked for by `grad` or `inputs`, and if nothing needs one."""
        if state.inputs_given:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to "
                ".backward(). To resolve "
                "this error, you can either set use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )
        saved = iter(ctx.saved_tensors)
        args = [next(saved) if tensor else other for tensor, other in zip(ctx.places, ctx.others, strict=True)]
        fresh = [a.detach().requires_grad_(a.requires_grad) if isinstance(a, Variable) else a for a in args]
        handlers, state.handlers = state.handlers, (*state.handlers, *ctx.casts)
        try:
            with fork_rng(enabled=ctx.random_state is not None), enable_grad():
                if ctx.random_state is not None:
                    set_rng_state(ctx.random_state)
                outputs = ctx.function(*fresh)
        finally:
            state.handlers = handlers
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, Variable) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return None, None, *[a._grad if isinstance(a, Variable) else None for a in fresh]


def checkpoint(
    function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False, early_stop=True,
    preserve_rng_state=True,
    **kwargs,
):  # fmt: skip
    """function(*args), without keeping what its operations save: the backward pass computes it again. The gradients are the same.

    use_reentrant       False is recommended; True is the older variant (no keyword arguments, no autograd.grad)
    preserve_rng_state  the second run draws the same random numbers (dropout)
    determinism_check   "default": raise CheckpointError if the second run saves other shapes or dtypes; "none": do not look
    early_stop          end the second run as soon as everything that is needed is there
    Raises ValueError for other keywords, and for context_fn or debug with use_reentrant.

    >>> import minigrad as torch
    >>> from minigrad.utils.checkpoint import checkpoint
    >>> x = torch.ones(2, requires_grad=True)
    >>> checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False).sum().backward()
    >>> torch.allclose(x.grad, x.cos() * x.sin().exp())
    True
    """
    if use_reentrant is None:
        warnings.warn(_EXPLICIT, UserWarning, stacklevel=2)
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        if not any(isinstance(a, Variable) and a.requires_grad for a in args):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=2
            )
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of the following: ['default', 'none']. Received {determinism_check}"
        )
    first, second = context_fn()
    if not state.grad:
        with first:
            return function(*args, **kwargs)
    early_stop = early_stop if _early_stop.get() is None else _early_stop.get()
    region = _Region(function, args, kwargs, preserve_rng_state, determinism_check == "default", early_stop, second)
    with saved_tensors_hooks(region.pack, region_unpack), first:
        out = function(*args, **kwargs)
    region.completed = True
    return out


def region_unpack(note):
    """What saved_tensors_hooks calls for a value of a checkpointed region: run the region again, and take the value."""
    return note.region.unpack(note)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """A sequence of modules in `segments` parts, all but the last checkpointed: about len/segments + segments activations are kept at a
    time. Raises ValueError for other keywords."""
    if use_reentrant is None:
        warnings.warn(
            _EXPLICIT.replace("checkpoint: the", "checkpoint.checkpoint_sequential: the"), UserWarning, stacklevel=2
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)

    def run(part):
        def forward(x):
            for function in part:
                x = function(x)
            return x

        return forward

    size = len(functions) // segments
    last = size * (segments - 1)
    for start in range(0, last, size or 1):
        input = checkpoint(
            run(functions[start : start + size]), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
    return run(functions[last:])(input)
