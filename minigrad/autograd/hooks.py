"""What the backward loop calls at a node besides its rule: hooks, and anomaly mode's look for NaN.

What does not live here: the loop (engine.py) and the registering of hooks (node.py, tensor.py). Hooks see Tensors; in the fast pass the
arrays are wrapped for them, so a pass without hooks pays nothing.
"""
import warnings

import numpy as np

from ..core import errors, modes
from ..core.modes import state
from ..core.variable import Variable, wrap


def run_hooks(hooks, g, graph, create_graph):
    """Each hook sees the gradient as a Tensor and may return another one instead."""
    t = g if graph else wrap(np.asarray(g))
    with modes.set_grad_enabled(create_graph):
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
    from . import engine

    gs = list(g) if type(g) is list else [g]
    for number, by_key in hooks.tensor.items():
        if gs[number] is not None:
            gs[number] = run_hooks(by_key.values(), gs[number], graph, create_graph)
    for number, ref in hooks.retain.items():
        tensor = ref()
        if tensor is not None and gs[number] is not None:
            engine.accumulate(tensor, gs[number], False, graph, create_graph)
    if hooks.pre:
        ts = tuple([t if graph or t is None else wrap(np.asarray(t)) for t in gs])
        with modes.set_grad_enabled(create_graph):
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
    with modes.set_grad_enabled(create_graph):
        for hook in list(hooks.post.values()):
            new = hook(grad_inputs, grad_outputs)
            if new is not None:
                grad_inputs = (new,) if isinstance(new, Variable) else tuple(new)
    return tuple([t if graph or t is None else t.array for t in grad_inputs])


def find_nan(node, sent):
    for position, g in enumerate(sent):
        array = getattr(g, "array", g)
        if g is None:
            continue
        bad = "nan" if np.isnan(array).any() else "inf" if state.anomaly == "inf too" and np.isinf(array).any() else None
        if bad:
            show_forward(node)
            raise RuntimeError(
                errors.explain(
                    f"Function '{node.name()}' returned {bad} values in its {position}th output.",
                    f"The gradient for input {position} of {node.name()} is {'not a number' if bad == 'nan' else 'infinite'}.",
                    "Typical origins: 0/0, inf - inf, log or sqrt at 0, 0 times inf.",
                    "the warning above shows the forward line; clamp its input, or use torch.where on the input and not only on the "
                    "result.",
                    "chapter 18, Instruments",
                )
            )


def show_forward(node):
    """Warn with the lines of the forward pass that made `node`, as far as anomaly mode kept them."""
    trace = (node.info or {}).get("traceback_")
    if trace:
        text = f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(trace)}"
    else:
        text = (
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during forward pass for more "
            "information."
        )
    warnings.warn(text, UserWarning, stacklevel=2)
