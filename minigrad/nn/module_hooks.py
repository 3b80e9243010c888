"""Calling a module that has hooks.

What lives here: `call`, the slow way of `Module.__call__`, and `BackwardHook`, which brackets a module between two identity nodes so that
its full backward hooks see the gradients of its inputs and outputs; the hooks of every module at once. What does not: registering the
hooks of one module (module.py).
"""

import itertools
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.dispatch import state
from ..core.grad_mode import no_grad
from ..core.node import RemovableHandle
from ..core.op import LINEAR, Op
from ..core.saved import view_of
from ..core.variable import wrap
from ..ops.shape import alias as view_as_self
from ..tensors.tensor import Tensor


def _filled(gs, kinds):
    """Zeros where no gradient arrived: so PyTorch's brackets, which are Functions, hand them on."""
    graph = any([isinstance(g, Tensor) for g in gs])
    zeros = [None if g is not None else np.zeros(*kind) for g, kind in zip(gs, kinds, strict=True)]
    return tuple([g if z is None else wrap(z) if graph else z for g, z in zip(gs, zeros, strict=True)])


# The nodes around a module with backward hooks. Their results are views that must not be written to while recording: a write would
# bypass the hooks.
backward_hook_function = Op(
    "backward_hook_function",
    lambda tensors, kinds: tuple([t.view() for t in tensors]),
    LINEAR,
    node="BackwardHookFunctionBackward",
    tensor_list=True,
    outputs=...,
    tensors=_filled,
    words={"tensors": "g, as the hooks leave it"},
)


class Everywhere(NamedTuple):
    """A hook of every module, and how it wants to be called."""

    kind: str
    hook: Callable
    with_kwargs: bool = False
    always_call: bool = False


every_module: OrderedDict[int, Everywhere] = OrderedDict()  # hooks around calls, in order
_at_registration: OrderedDict[int, Everywhere] = OrderedDict()
_numbers = itertools.count(-1, -1)  # negative: never the number of a module's own hook


def _register(hooks: OrderedDict, *entry: Any) -> RemovableHandle:
    key = next(_numbers)
    hooks[key] = Everywhere(*entry)
    return RemovableHandle(hooks, key)


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """`hook(module, args)` runs before the forward of every module."""
    return _register(every_module, "forward pre", hook)


def register_module_forward_hook(
    hook: Callable, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """`hook(module, args, output)` runs after the forward of every module."""
    return _register(every_module, "forward", hook, with_kwargs, always_call)


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """`hook(module, grad_output)` runs before the backward of every module."""
    return _register(every_module, "backward pre", hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """`hook(module, grad_input, grad_output)` runs when the gradients of any module's inputs are known."""
    return _backward_everywhere("full backward", hook, "regular backward")


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """The old form: sees only the gradients of the last operation. Use register_module_full_backward_hook."""
    return _backward_everywhere("regular backward", hook, "full backward")


def _backward_everywhere(kind: str, hook: Callable, other: str) -> RemovableHandle:
    if any(entry.kind == other for entry in every_module.values()):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them."
        )
    return _register(every_module, kind, hook)


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """`hook(module, name, parameter)` runs when a parameter is registered; a result replaces the parameter."""
    return _register(_at_registration, "parameter", hook)


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    return _register(_at_registration, "buffer", hook)


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    return _register(_at_registration, "module", hook)


def registered(kind: str, module: Any, name: str, value: Any) -> Any:
    """The value to register, after the hooks have run."""
    for entry in [*_at_registration.values()]:
        if entry.kind == kind:
            changed = entry.hook(module, name, value)
            value = value if changed is None else changed
    return value


def _everywhere(kind: str) -> list[Callable]:
    return [entry.hook for entry in every_module.values() if entry.kind == kind]


def call(module: Any, args: tuple, kwargs: dict) -> Any:
    """Forward pre-hooks, forward, forward hooks, with the backward hooks set up around them."""
    done: set[int] = set()
    result = None
    try:
        for key, hook in [*((-1, hook) for hook in _everywhere("forward pre")), *module._forward_pre_hooks.items()]:
            if key in module._forward_pre_hooks_with_kwargs:
                changed = hook(module, args, kwargs)
                if changed is not None:
                    if not (isinstance(changed, tuple) and len(changed) == 2):
                        raise RuntimeError(
                            f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                        )
                    args, kwargs = changed
            else:
                changed = hook(module, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)

        own_hooks = [*module._backward_hooks.values()]
        full = _everywhere("full backward") + (own_hooks if module._is_full_backward_hook else [])
        partial = _everywhere("regular backward") + (own_hooks if module._is_full_backward_hook is False else [])
        pre = _everywhere("backward pre") + [*module._backward_pre_hooks.values()]
        bracket = None
        if full or pre:
            bracket = BackwardHook(module, full, pre)
            args = bracket.around_inputs(args)

        result = module.forward(*args, **kwargs)

        for key, hook in _forward_hooks(module):
            done.add(key)
            result = _forward_hook(module, key, hook, args, kwargs, result)
        if bracket is not None:
            if not isinstance(result, (Tensor, tuple)):
                warnings.warn(
                    f"For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received {type(result)}",
                    stacklevel=3,
                )
            result = bracket.around_outputs(result)
        if partial:
            node = _first_tensor(result).grad_fn
            if node is not None:
                _warn_of_missing(args, result, node)
                for hook in partial:
                    node.register_hook(lambda gi, go, hook=hook: hook(module, gi, go))
        return result
    except Exception:
        for key, hook in _forward_hooks(module):
            if key in done or not (
                every_module[key].always_call if key < 0 else key in module._forward_hooks_always_called
            ):
                continue
            try:
                changed = _forward_hook(module, key, hook, args, kwargs, result)
                result = changed if changed is not None else result
            except Exception as e:
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was silenced as another error was raised in "
                    f"forward: {e}",
                    stacklevel=2,
                )
        raise


def _forward_hooks(module):
    return [(k, entry.hook) for k, entry in every_module.items() if entry.kind == "forward"] + [
        *module._forward_hooks.items()
    ]


def _forward_hook(module, key, hook, args, kwargs, result):
    with_kwargs = every_module[key].with_kwargs if key < 0 else key in module._forward_hooks_with_kwargs
    changed = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
    return result if changed is None else changed


def _warn_of_missing(args, result, node):
    """Warn where hooks of the old form miss gradients: they are attached to the node of the first result only."""
    results = result if isinstance(result, tuple) else (result,)
    input_nodes = {x.grad_fn for x in args if isinstance(x, Tensor) and x.grad_fn is not None}
    if not all(isinstance(x, Tensor) for x in results):
        start, lost = (
            "non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors",
            "of the grad_output",
        )
    elif not all(isinstance(x, Tensor) for x in args):
        start = "non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors"
        lost = "of the grad_input"
    elif {x.grad_fn for x in results} - {None} != {node}:
        start, lost = "a non-full backward hook when outputs are generated by different autograd Nodes", "grad_output"
    elif {n for n, _ in node.next_functions if n is not None} != input_nodes:
        start, lost = "a non-full backward hook when the forward contains multiple autograd Nodes", "grad_input"
    else:
        return
    warnings.warn(
        f"Using {start} is deprecated and will be removed in future versions. This hook will be missing some {lost}. Please use "
        "register_full_backward_hook to get the documented behavior.",
        FutureWarning,
        stacklevel=3,
    )


def _first_tensor(x):
    while not isinstance(x, Tensor):
        x = next(v for v in x.values() if isinstance(v, Tensor)) if isinstance(x, dict) else x[0]
    return x


class BackwardHook:
    """The brackets of one call. The outer one keeps what arrives until the inner one knows the gradients of the inputs."""

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs = None
        self.inputs: Any = None  # positions of the arguments that require gradients; None: there is none
        self.n_inputs = 0

    def around_inputs(self, args: tuple) -> tuple:
        args, self.inputs, node = _bracket(args)
        self.n_inputs = len(args)
        if node is not None:
            node.register_hook(self._inputs_known)
        return args

    def around_outputs(self, result):
        outputs = result if isinstance(result, tuple) else (result,)
        outputs, self.outputs, node = _bracket(outputs)
        self.n_outputs = len(outputs)
        if node is not None:
            node.register_prehook(self._outputs_known)
        if not isinstance(result, tuple):
            return outputs[0]
        return type(result)(*outputs) if hasattr(result, "_fields") else outputs

    def _outputs_known(self, grads: Any) -> Any:
        self.grad_outputs = _spread(self.outputs, grads, self.n_outputs)
        for hook in self.pre_hooks:
            changed = hook(self.module, self.grad_outputs)
            if changed is not None:
                if not isinstance(changed, tuple):
                    changed = (changed,)
                if len(changed) != self.n_outputs:
                    raise RuntimeError(
                        f"Backward pre hook returned an invalid number of grad_output, got {len(changed)}, but expected {self.n_outputs}"
                    )
                self.grad_outputs = changed
        grads = self.grad_outputs
        if self.inputs is None and self.hooks:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
                "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
                "#torch.nn.Module.register_full_backward_hook for more details.",
                stacklevel=5,
            )
            for hook in self.hooks:
                changed = hook(self.module, (None,) * self.n_inputs, grads)
                if changed is not None and not (isinstance(changed, tuple) and all(g is None for g in changed)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for all gradients."
                    )
            self.grad_outputs = None
        return tuple([grads[i] for i in self.outputs])

    def _inputs_known(self, grad_inputs, _):
        if self.grad_outputs is None:
            return None  # the gradient reached the inputs another way than through the outputs, as in double backward
        grads = _spread(self.inputs, grad_inputs, self.n_inputs)
        for hook in self.hooks:
            changed = hook(self.module, grads, self.grad_outputs)
            if changed is not None:
                if not isinstance(changed, tuple):
                    changed = (changed,)
                if len(changed) != len(grads):
                    raise RuntimeError(
                        f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but expected {len(grads)}"
                    )
                grads = changed
        self.grad_outputs = None
        return tuple([grads[i] for i in self.inputs])


def _bracket(values: tuple):
    """The values with an identity node behind those that require gradients; their positions; the node. None for these if none does."""
    positions = [i for i, x in enumerate(values) if isinstance(x, Tensor) and x.requires_grad] if state.grad else []
    if not positions:
        return values, None, None
    inside = [values[i] for i in positions]
    bracketed = backward_hook_function(inside, [(x.array.shape, x.array.dtype) for x in inside])
    with no_grad():
        for x, out in zip(inside, bracketed, strict=True):
            if not x.batched:
                view_of(out, x, view_as_self, (), None)
                if out.view_meta is not None:
                    out.view_meta.creation_meta = "function"
    changed = list(values)
    for i, x in zip(positions, bracketed, strict=True):
        changed[i] = x
    return tuple(changed), positions, bracketed[0].grad_fn


def _spread(positions, grads, n):
    spread = [None] * n
    for i, g in zip(positions, grads, strict=True):
        spread[i] = g
    return tuple(spread)
