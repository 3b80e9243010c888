"""Running hooks: what the backward loop calls at a node besides its rule.

What does not live here: the loop (engine.py) and the registering of hooks (node.py, tensor.py). Hooks see Tensors; in the fast pass the
arrays are wrapped for them, so a pass without hooks pays nothing.
"""
import numpy as np

from ..core.grad_mode import set_grad_enabled
from ..core.variable import Variable, wrap
from .accumulate import accumulate


def run_hooks(hooks, g, graph, create_graph):
    """Each hook sees the gradient as a Tensor and may return another one instead."""
    t = g if graph else wrap(np.asarray(g))
    with set_grad_enabled(create_graph):
        for hook in list(hooks):
            new = hook(t)
            if new is None:
                continue
            if not isinstance(new, Variable):
                raise TypeError(f"expected hook to return a Tensor or None, but got '{type(new).__name__}' instead")
            if new.array.shape != t.array.shape:
                raise RuntimeError(
                    f"hook '{getattr(hook, '__name__', type(hook).__name__)}' has changed the size of value"
                )
            t = new
    return t if graph else t.array


def before(node, hooks, g, graph, create_graph):
    """Tensor hooks, then retain_grad, then the node's pre-hooks."""
    gs = list(g) if type(g) is list else [g]
    for number, by_key in hooks.tensor.items():
        if gs[number] is not None:
            gs[number] = run_hooks(by_key.values(), gs[number], graph, create_graph)
    for number, ref in hooks.retain.items():
        tensor = ref()
        if tensor is not None and gs[number] is not None:
            accumulate(tensor, gs[number], False, graph, create_graph)
    if hooks.pre:
        ts = tuple([t if graph or t is None else wrap(np.asarray(t)) for t in gs])
        with set_grad_enabled(create_graph):
            for hook in list(hooks.pre.values()):
                new = hook(ts)
                if new is not None:
                    ts = (new,) if isinstance(new, Variable) else tuple(new)
        gs = [t if graph or t is None else t.array for t in ts]
    return gs if type(g) is list else gs[0]


def after(node, hooks, g, sent, graph, create_graph):
    """The node's post-hooks: `hook(grad_inputs, grad_outputs)`."""
    def tensors(values):
        return tuple([t if graph or t is None else wrap(np.asarray(t)) for t in values])

    grad_outputs, grad_inputs = tensors(g if type(g) is list else [g]), tensors(sent)
    with set_grad_enabled(create_graph):
        for hook in list(hooks.post.values()):
            new = hook(grad_inputs, grad_outputs)
            if new is not None:
                grad_inputs = (new,) if isinstance(new, Variable) else tuple(new)
    return tuple([t if graph or t is None else t.array for t in grad_inputs])
