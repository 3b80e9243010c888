"""The backward pass: one loop over the nodes, newest first.

What lives here: `steps`, which alone sums fan-in and undoes broadcasting; `plan`, the order; the end at the leaves. What does not: the
derivative rules (ops/), hooks and anomaly mode (hooks.py), the arguments of `backward` and `grad` (autograd/).

The loop is a generator that yields after each node, `(node, what arrived, what it sent)`; running it to the end is `backward()`,
so what a learner steps through is what really runs.
"""
import sys
from operator import attrgetter

import numpy as np

from ..core import errors
from ..core.dispatch import state
from ..core.grad_mode import set_grad_enabled
from ..core.node import ALONE, AccumulateGrad
from ..core.variable import wrap
from ..ops.reduce import sum_dim
from ..ops.shape import cast, reshape
from .accumulate import accumulate
from .anomaly import find_nan, show_forward
from .hooks import after, before, run_hooks


def steps(roots, *, keep_graph=False, create_graph=False, wanted=None, capture=None):
    """Run the backward pass from `roots`, pairs of an edge and the gradient that arrives there (a Tensor, or an ndarray of its own).

    keep_graph    do not give back what the nodes saved
    create_graph  run the rules on Tensors, so that the pass itself is recorded
    wanted        a set of nodes: run only what leads to them
    capture       {edge: None}: put the gradients that arrive there in, and do not add them to leaves
    """
    handlers = state.handlers
    graph = create_graph or (handlers and any([getattr(h, "needs_tensors", False) for h in handlers]))
    fit = fit_tensor if graph else fit_array
    nodes, closes, needed = plan([edge[0] for edge, _ in roots], wanted)
    inner = capture is not None and any([type(node) is not AccumulateGrad for node, _ in capture])
    watched = needed is not None or inner or state.anomaly
    outer = state.grad
    arrived = {}  # node: the sum of what has arrived (for a node with several outputs a list of sums)
    for (node, number), g in roots:
        own = type(g) is np.ndarray
        _arrive(arrived, node, number, (wrap(g) if own else g) if graph else g if own else g.array)
    try:
        if None in closes:  # roots that are leaves
            yield from serve(closes.pop(None), arrived, capture, graph, create_graph)
        for node in nodes:
            g, edges, sent = arrived.pop(node, None), node.edges, ()
            if graph:
                outer, state.grad = state.grad, create_graph
            if g is not None or node.runs_without_gradient:
                if watched or node.hooks is not None:
                    g, edges, sent = run_watched(node, g, needed, capture, graph, create_graph)
                else:
                    sent = node.run_graph(g, edges) if graph else node.run(g, edges)
                if (node.saves or node.frees) and not keep_graph:
                    node.release()
                    if node.info:  # what hooks packed goes, too: a checkpoint's inputs hang on it
                        node.info.pop("packed", None), node.info.pop("unpack", None)
            for edge, out in zip(edges, sent):  # noqa: B905  strict=True costs as much as the loop
                if out is None or edge is None:
                    continue
                target, number = edge
                shape = target.shape
                array = out.array if graph else out
                if array.shape != shape or array.dtype is not target.dtype:
                    if type(shape) is list:
                        _arrive(arrived, target, number, fit(out, shape[number], target.dtype[number], node))
                        continue
                    out = fit(out, shape, target.dtype, node)
                arrived[target] = arrived[target] + out if target in arrived else out
            if graph:
                state.grad = outer
            yield node, g, sent
            if node in closes:  # the last node that feeds these leaves: their gradients are complete
                g = sent = out = array = None  # hold no gradient: a leaf may keep an array that nobody else holds
                yield from serve(closes[node], arrived, capture, graph, create_graph)
    finally:
        if graph:
            state.grad = outer


def plan(roots, wanted=None):
    """The nodes to run, newest first; for each node the leaves that no older node feeds; with `wanted`, the nodes on the way there.

    An edge points to an older node, so from newest to oldest each node comes after all that feed it.
    """
    seen = set(roots)
    nodes: list = []
    last: dict = {}  # leaf: the oldest node that feeds it, None if none does
    for root in seen:
        if type(root) is AccumulateGrad:
            last[root] = None
        else:
            nodes.append(root)
    for node in nodes:  # grows
        for edge in node.edges:
            if edge is not None:
                target = edge[0]
                if type(target) is AccumulateGrad:
                    oldest = last.get(target)
                    if oldest is None or node.number < oldest.number:
                        last[target] = node
                elif target not in seen:
                    seen.add(target)
                    nodes.append(target)
    nodes.sort(key=_number, reverse=True)
    needed = None
    if wanted is not None and not last.keys() <= wanted:  # else everything leads there: each node is on the way to some leaf
        needed = {node for node in wanted if node in seen or node in last}
        for node in reversed(nodes):
            if node not in needed and any([edge is not None and edge[0] in needed for edge in node.edges]):
                needed.add(node)
        if len(needed) == len(nodes) + len(last):  # everything leads there
            needed = None
        else:
            nodes = [node for node in nodes if node in needed]
    closes: dict = {}
    several = False
    for leaf, node in last.items():
        if needed is None or leaf in needed:
            if node in closes:
                closes[node].append(leaf)
                several = True
            else:
                closes[node] = [leaf]
    for node, leaves in closes.items() if several else ():
        if len(leaves) > 1 and node is not None:
            leaves.sort(key=[edge and edge[0] for edge in node.edges].index)
    return nodes, closes, needed


_number = attrgetter("number")


def serve(leaves, arrived, capture, graph, create_graph):
    """Finish leaves whose gradients are complete."""
    for leaf in leaves:
        g = arrived.pop(leaf, None)
        if g is not None:
            mine = type(g) is np.ndarray and sys.getrefcount(g) <= ALONE and (g.base is None or _holds_alone(g))
            finish(leaf, g, mine, capture, graph, create_graph)
            yield leaf, g, ()


def _holds_alone(view):
    """Is the view a whole array, in order, that nobody but the view holds: the transpose of a transpose?"""
    base = view.base
    return type(base) is np.ndarray and base.size == view.size and view.flags.carray and sys.getrefcount(base) <= ALONE + 1


def run_watched(node, g, needed, capture, graph, create_graph):
    """Run one node with its hooks, capture what arrives, follow only needed edges, and stop at NaN in anomaly mode."""
    hooks, edges = node.hooks, node.edges
    if hooks is not None and g is not None:
        g = before(node, hooks, g, graph, create_graph)
    if capture is not None:
        _capture(capture, node, g, graph)
    if needed is not None:
        edges = [edge if edge is not None and edge[0] in needed else None for edge in edges]
        if not any(edges):
            return g, edges, ()
    try:
        sent = node.run_graph(g, edges) if graph else node.run(g, edges)
    except Exception:
        if state.anomaly:
            show_forward(node)
        raise
    if hooks is not None and hooks.post:
        sent = after(node, hooks, g, sent, graph, create_graph)
    if state.anomaly in (True, "inf too"):
        find_nan(node, sent)
    return g, edges, sent


def _arrive(arrived, node, number, g):
    """Add `g` to what has arrived for one output of `node`."""
    if type(node.shape) is not list:
        arrived[node] = g if node not in arrived else arrived[node] + g
        return
    sums = arrived.setdefault(node, [None] * len(node.shape))
    sums[number] = g if sums[number] is None else sums[number] + g


# Gradients fit their tensor ----------------------------------------------------------------------------------------------


def _summed_axes(g_shape, shape, node):
    """The axes along which a gradient of shape `g_shape` is summed to get back to `shape`, which was broadcast to it."""
    extra = len(g_shape) - len(shape)
    if extra < 0 or any([n != g_shape[extra + i] and n != 1 for i, n in enumerate(shape)]):
        raise RuntimeError(
            errors.explain(
                f"Function {node.name()} returned an invalid gradient at index 0 - got {list(g_shape)} but expected shape compatible "
                f"with {list(shape)}",
                why="A gradient has the shape of the tensor it belongs to.",
                instead="look at the backward rule of this operation: it must return a gradient of the input's shape.",
            )
        )
    return (*range(extra), *[extra + i for i, n in enumerate(shape) if n == 1 and g_shape[extra + i] != 1])


def fit_array(g, shape, dtype, node):
    """`g` summed to `shape` (the tensor was broadcast in the forward pass) and cast to `dtype`."""
    if g.shape != shape:
        extra = g.ndim - len(shape)
        if shape and extra > 0 and g.shape[extra:] == shape:  # a bias: only repeated in front
            g = np.add.reduce(g, axis=tuple(range(extra)))
        else:
            g = np.add.reduce(g, axis=_summed_axes(g.shape, shape, node)).reshape(shape)
    return g if g.dtype is dtype else g.astype(dtype, copy=False)


def fit_tensor(g, shape, dtype, node):
    if g.array.shape != shape:
        axes = _summed_axes(g.array.shape, shape, node)
        g = reshape(sum_dim(g, axes) if axes else g, shape)
    return g if g.array.dtype is dtype else cast(g, dtype)


# Leaves ------------------------------------------------------------------------------------------------------------------


def finish(node, g, mine, capture, graph, create_graph):
    """The gradient of a leaf is complete: run its hooks, then capture it or add it to `.grad`."""
    leaf = node.variable
    extra = leaf.extra
    if extra.hooks or node.hooks is not None:
        mine = False
        g = run_hooks((extra.hooks or {}).values(), g, graph, create_graph)
        if node.hooks is not None:
            g = before(node, node.hooks, g, graph, create_graph)
    if capture is not None and (node, 0) in capture:
        _capture(capture, node, g, graph)
        return
    accumulate(leaf, g, mine, graph, create_graph)
    if node.hooks is not None and node.hooks.post:
        after(node, node.hooks, g, (), graph, create_graph)
    if extra.post_hooks:
        for hook in list(extra.post_hooks.values()):
            with set_grad_enabled(create_graph):
                hook(leaf)


def _capture(capture, node, g, graph):
    several = type(g) is list
    for number in range(len(g)) if several else (0,):
        edge = (node, number)
        value = g[number] if several else g
        if edge in capture and value is not None:
            capture[edge] = value if graph else wrap(np.asarray(value))
