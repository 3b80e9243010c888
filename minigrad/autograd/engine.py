"""The backward pass: a graph is gone through in topological order, newest node first.

    what arrives at the roots is given
    for each node, newest first:
        what it sends = its rule, applied to the sum of what has arrived
        add each part to what has arrived at the older node that it goes to

What lives here: that loop, the order, and how a gradient gets the shape and dtype of the tensor it belongs to. What does not: the
derivative rules (ops/), the end of the graph at a leaf (accumulate.py), hooks (hooks.py), the arguments of `backward` and `grad`
(backward.py).

The loop is a generator that yields after each node, `(node, what arrived, what it sent)`; running it to the end is `backward()`,
so what a learner steps through is what really runs.
"""
import math

import numpy as np

from ..core import errors
from ..core.dispatch import state
from ..core.node import AccumulateGrad
from ..core.variable import wrap
from ..ops.reduce import sum_dim
from ..ops.shape import cast, reshape
from .anomaly import find_nan, show_forward
from .hooks import post_hooks, pre_hooks, tensor_hooks


def steps(roots, *, keep_graph=False, create_graph=False, wanted=None, capture=None):
    """A backward pass as a generator, as `begin` says."""
    return begin(roots, keep_graph=keep_graph, create_graph=create_graph, wanted=wanted, capture=capture)[1]


def begin(roots, *, keep_graph=False, create_graph=False, wanted=None, capture=None):
    """The nodes of a backward pass in their order, and the pass as a generator.

    roots         pairs of an edge and the gradient that arrives there, a Tensor or an ndarray of its own
    keep_graph    do not give back what the nodes saved
    create_graph  run the rules on Tensors, so that the pass itself is recorded
    wanted        a set of nodes: run only what leads to them
    capture       {edge: None}: put the gradients that arrive there in, and do not add them to leaves
    """
    graph = create_graph or (state.handlers and any([h.needs_tensors for h in state.handlers]))
    nodes = topological_order([edge[0] for edge, _ in roots])
    needed = None if wanted is None else _leading_to(wanted, nodes)
    if needed is not None:
        nodes = [node for node in nodes if node in needed]
    watched = set(nodes) if needed is not None or state.anomaly else {node for node, _ in capture} if capture else ()
    arrived = {}
    for (node, number), g in roots:
        _arrive(arrived, node, number, (wrap(g) if type(g) is np.ndarray else g) if graph else getattr(g, "array", g), node, graph)
    loop = _loop(nodes, arrived, graph, keep_graph, watched, needed, capture)
    return nodes, _with_recording(loop, create_graph) if graph else loop


def _loop(nodes, arrived, graph, keep_graph, watched, needed, capture):
    """The loop at the top of this file.

    arrived  {node: the sum of what has arrived; a list of sums if the node has several outputs}
    watched  nodes that are more than their rule; those with hooks are, too
    """
    for node in nodes:
        g, edges, sent = arrived.pop(node, None), node.edges, ()
        if g is not None or node.runs_without_gradient:
            if node.hooks is not None or (watched and node in watched):
                g, edges, sent = _run_watched(node, g, graph, needed, capture)
                if not sent:  # the pass ends here: what the node saved is for another one
                    yield node, g, sent
                    g = None
                    continue
            else:
                sent = node.run_graph(g, edges) if graph else node.run(g, edges)
            if node.frees and not keep_graph:
                node.release()
        for edge, out in zip(edges, sent):  # noqa: B905  strict=True costs as much as the loop
            if out is None or edge is None:
                continue
            target, number = edge
            array = out.array if graph else out
            if array.shape == target.shape and array.dtype is target.dtype:
                arrived[target] = arrived[target] + out if target in arrived else out
            else:  # it was broadcast, its dtype is another, or the target has several outputs
                _arrive(arrived, target, number, out, node, graph)
        yield node, g, sent
        g = sent = out = array = None  # hold no gradient: a leaf may keep an array that nobody else holds


def _arrive(arrived, target, number, g, sender, graph):
    """Add `g` to what has arrived for one output of `target`, in the shape and dtype of that output."""
    several = type(target.shape) is list
    shape, dtype = (target.shape[number], target.dtype[number]) if several else (target.shape, target.dtype)
    g = (fit_tensor if graph else fit_array)(g, shape, dtype, sender)
    if several:
        sums = arrived.setdefault(target, [None] * len(target.shape))
        sums[number] = g if sums[number] is None else sums[number] + g
    else:
        arrived[target] = arrived[target] + g if target in arrived else g


def _with_recording(loop, on):
    """The pass on Tensors, recorded or not; between two steps the caller's own mode counts."""
    while True:
        outer, state.grad = state.grad, on
        try:
            step = next(loop, None)
        finally:
            state.grad = outer
        if step is None:
            return
        yield step


# The order ---------------------------------------------------------------------------------------------------------------


def topological_order(roots):
    """Every node that the roots lead to, after all the nodes that feed it.

    An edge points to an older node, so newest first is such an order. A leaf comes right behind the oldest node that feeds it, in the
    order of that node's edges: its gradient is complete there.
    """
    place: dict = {}  # node: its number; a leaf has that of the oldest node that feeds it, and is found after it
    nodes = []
    for root in roots:
        if root not in place:
            place[root] = math.inf if type(root) is AccumulateGrad else root.number
            nodes.append(root)
    for node in nodes:  # grows
        number = node.number
        for edge in node.edges:
            if edge is not None:
                target = edge[0]
                if type(target) is AccumulateGrad:
                    found = place.get(target)
                    if found is None:
                        place[target] = number
                    elif number < found:
                        del place[target]  # to stand behind this node, and there in the order of its edges
                        place[target] = number
                elif target not in place:
                    place[target] = target.number
                    nodes.append(target)
    return sorted(place, key=place.__getitem__, reverse=True)  # equal ones stay as they were found


def _leading_to(wanted, nodes):
    """The nodes on the way to `wanted`, with these; None if all are."""
    if wanted.issuperset([node for node in nodes if type(node) is AccumulateGrad]):  # every node is on the way to some leaf
        return None
    needed = set()
    for node in reversed(nodes):
        if node in wanted or any([edge is not None and edge[0] in needed for edge in node.edges]):
            needed.add(node)
    return needed if len(needed) < len(nodes) else None


# Nodes that are more than their rule -----------------------------------------------------------------------------------------


def _run_watched(node, g, graph, needed, capture):
    """Run one node with its hooks, capture what arrives, follow only needed edges, and stop at NaN in anomaly mode.

    Returns the gradient that it ran on, the edges to follow and what it sends along them.
    """
    hooks, edges = node.hooks, node.edges
    if hooks is not None:
        g = tensor_hooks(node, g, graph)
    if capture and _capture(capture, node, g, graph) and type(node) is AccumulateGrad:
        return g, edges, ()
    if needed is not None and edges:
        edges = [edge if edge is not None and edge[0] in needed else None for edge in edges]
        if not any(edges):
            return g, edges, ()
    if hooks is not None and hooks.pre:
        g = pre_hooks(node, g, graph)
    try:
        sent = node.run_graph(g, edges) if graph else node.run(g, edges)
    except Exception:
        if state.anomaly:
            show_forward(node)
        raise
    if hooks is not None and hooks.post:
        sent = post_hooks(node, g, sent, graph)
    if state.anomaly in (True, "inf too"):
        find_nan(node, sent)
    return g, edges, sent


def _capture(capture, node, g, graph):
    """Put what arrived at the node where it was asked for. Was it?"""
    asked = False
    for number, value in enumerate(g if type(g) is list else [g]):
        if (node, number) in capture:
            asked = True
            if value is not None:
                capture[node, number] = value if graph else wrap(np.asarray(value))
    return asked


# Gradients fit their tensor ----------------------------------------------------------------------------------------------


def summed_axes(g_shape, shape, node):
    """The axes along which a gradient of shape `g_shape` is summed to get back to `shape`, which was broadcast to it."""
    front = len(g_shape) - len(shape)
    if front < 0 or any([n != g_shape[front + i] and n != 1 for i, n in enumerate(shape)]):
        raise errors.new(
            RuntimeError,
            f"Function {node.name()} returned an invalid gradient at index 0 - got {list(g_shape)} but expected shape compatible "
            f"with {list(shape)}",
            why="A gradient has the shape of the tensor it belongs to.",
            instead="look at the backward rule of this operation: it must return a gradient of the input's shape.",
        )
    return (*range(front), *[front + i for i, n in enumerate(shape) if n == 1 and g_shape[front + i] != 1])


def fit_array(g, shape, dtype, node):
    """`g` summed to `shape` (the tensor was broadcast in the forward pass) and cast to `dtype`."""
    if g.shape != shape:
        front = g.ndim - len(shape)
        if shape and front > 0 and g.shape[front:] == shape:  # a bias: only repeated in front
            g = np.add.reduce(g, axis=tuple(range(front)))
        else:
            g = np.add.reduce(g, axis=summed_axes(g.shape, shape, node)).reshape(shape)
    return g if g.dtype is dtype else g.astype(dtype, copy=False)


def fit_tensor(g, shape, dtype, node):
    """fit_array on Tensors, recorded."""
    if g.array.shape != shape:
        axes = summed_axes(g.array.shape, shape, node)
        g = reshape(sum_dim(g, axes) if axes else g, shape)
    return g if g.array.dtype is dtype else cast(g, dtype)
