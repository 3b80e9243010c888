"""What runs at a node besides its rule, in PyTorch's order: tensor hooks, retain_grad, pre-hooks, the node, post-hooks.

What does not live here: the loop (engine.py) and the registering of hooks (node.py, tensor.py). Hooks see Tensors; in a pass on ndarrays
these are wrapped for them, so a pass without hooks pays nothing. Each function takes and returns gradients as the pass has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import errors
from ..core.dispatch import state
from ..core.grad_mode import set_grad_enabled
from ..core.variable import Variable, wrap
from .accumulate import accumulate

if TYPE_CHECKING:
    from ..core.node import Node
    from ..tensors.tensor import Tensor


def tensor_hooks(node: Node, g: Any, graph: bool) -> Any:
    """Each hook of an output sees its gradient (None if none arrived) and may return another; then retain_grad keeps it."""
    hooks, gs = node.hooks, _as_list(node, g)
    with _recording(graph):
        for number, by_key in hooks.tensor.items():
            t = _tensor(gs[number])
            for hook in list(by_key.values()):
                new = hook(t)
                t = t if new is None else _checked(hook, new, t)
            gs[number] = t if graph or t is None else t.array
        for number, ref in hooks.retain.items():
            tensor = ref()
            if tensor is not None and gs[number] is not None:
                accumulate(tensor, gs[number])
    return gs if type(node.shape) is list else gs[0]


def pre_hooks(node: Node, g: Any, graph: bool) -> list[Any] | np.ndarray | None:
    """`hook(grad_outputs)` may return other grad_outputs."""
    gs = _run(node.hooks.pre, _as_list(node, g), graph)
    return gs if type(node.shape) is list else gs[0]


def post_hooks(node: Node, g: Any, sent: Sequence[Any], graph: bool) -> tuple[Any, ...]:
    """`hook(grad_inputs, grad_outputs)` may return other grad_inputs."""
    return tuple(_run(node.hooks.post, sent, graph, tuple([_tensor(t) for t in _as_list(node, g)])))


def _run(hooks: dict[int, Callable[..., Any]], values: Sequence[Any], graph: bool, *more: Any) -> list[Any]:
    ts = tuple([_tensor(t) for t in values])
    with _recording(graph):
        for hook in list(hooks.values()):
            new = hook(ts, *more)
            if new is None:
                continue
            if not isinstance(new, tuple):
                raise TypeError(f"expected tuple, but hook returned '{type(new).__name__}'")
            if len(new) != len(ts):
                raise RuntimeError(
                    f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(new)}, but expected {len(ts)})"
                )
            ts = tuple([None if t is None else _checked(hook, t, old) for t, old in zip(new, ts, strict=True)])
    return [t if graph or t is None else t.array for t in ts]


def _recording(graph: bool) -> set_grad_enabled:
    """A pass on Tensors has set whether it is recorded itself; one on ndarrays never is."""
    return set_grad_enabled(graph and state.grad)


def _as_list(node: Node, g: Any) -> list[Any]:
    if type(node.shape) is not list:
        return [g]
    return [None] * len(node.shape) if g is None else list(g)


def _tensor(g: Tensor | np.generic | np.ndarray | None) -> Tensor | None:
    return g if g is None or isinstance(g, Variable) else wrap(np.asarray(g))


def _name(hook: Callable[..., Any]) -> str:
    return getattr(hook, "__name__", type(hook).__name__)


def _checked(hook: Callable[..., Any], new: Any, old: Tensor | None) -> Any:
    """What a hook returned instead of `old`. Raises PyTorch's error unless it is a tensor of the same dtype and shape."""
    if old is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(new, Variable):
        raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}'")
    if new.array.dtype != old.array.dtype:
        was, got = (errors.TYPE_NAMES[t.array.dtype.name] for t in (old, new))
        raise RuntimeError(f"hook '{_name(hook)}' has changed the type of value (was torch.{was} got torch.{got})")
    if new.array.shape != old.array.shape:
        raise errors.new(
            RuntimeError,
            f"hook '{_name(hook)}' has changed the size of value",
            f"The hook was given a gradient of shape {tuple(old.array.shape)} and returned one of shape {tuple(new.array.shape)}.",
            "A gradient has the shape of the tensor it belongs to, also after a hook.",
            "return a tensor of the same shape: scale the entries, clamp them, or set some to 0 (g * mask).",
            "chapter 18, Instruments",
        )
    return new
