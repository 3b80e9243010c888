"""The backward pass: the nodes of a graph run in reverse topological order, newest first.

    the cotangents of the roots are given
    for each node, newest first:
        g = the sum of the cotangents that its output has received
        grad_inputs = its rule, applied to g
        add each of them to the cotangent of the older node that its edge leads to

This file holds that loop, the order, and the code that gives a gradient the shape and dtype of its tensor. The derivative rules are in
ops/, the end of the graph at a leaf in accumulate.py, hooks in hooks.py, the arguments of `backward` and `grad` in backward.py.

The loop is a generator that yields `(node, g, grad_inputs)` after each node. `backward()` runs it to the end, so a learner who steps
through it sees what `backward()` does.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import errors
from ..core.dispatch import Running, state
from ..core.node import AccumulateGrad
from ..core.variable import wrap
from ..ops.reduce import sum_dim
from ..ops.shape import cast, reshape
from .accumulate import accumulated
from .anomaly import find_nan, show_forward
from .hooks import post_hooks, pre_hooks, tensor_hooks

if TYPE_CHECKING:
    from ..core.node import Node
    from ..tensors.tensor import Tensor


class Captured(dict):
    """{edge: the gradient that arrives there, or None}. `runs`: also run their nodes and hooks, as backward(inputs=...) of results does."""

    def __init__(self, edges: list[Any], runs: bool = False) -> None:
        super().__init__(dict.fromkeys(edges))
        self.runs = runs


def steps(
    roots: Any,
    *,
    keep_graph: bool = False,
    create_graph: bool = False,
    inputs: set[Node] | None = None,
    capture: Any = None,
) -> Iterator[tuple[Node, Any, Sequence[Any]]]:
    """A backward pass as a generator, as `begin` says."""
    return begin(roots, keep_graph=keep_graph, create_graph=create_graph, inputs=inputs, capture=capture)[1]


def begin(
    roots: list[Any],
    keep_graph: bool = False,
    create_graph: bool = False,
    inputs: set[Node] | None = None,
    capture: Any = None,
) -> tuple[Running, Iterator[tuple[Node, Any, Sequence[Any]]]]:
    """A backward pass as its nodes in their order (a Running), and as the generator that runs them.

    roots         pairs of an edge and its gradient, a Tensor or an ndarray that nothing else refers to
    keep_graph    do not free what the nodes saved
    create_graph  run the rules on Tensors, so that the pass itself is recorded
    inputs        a set of nodes: run only the nodes on a path to them
    capture       a Captured: store the gradient of each edge here instead of adding it to a leaf
    """
    graph: Any = create_graph
    if state.handlers and not create_graph:
        listening = [h for h in state.handlers if h.needs_tensors]
        graph = (len(listening) == 1 and listening[0].rule) or bool(listening)
    cotangents: dict[Node, Any] = {}
    for (node, number), g in roots:
        g = getattr(g, "array", g) if not graph else wrap(g) if type(g) is np.ndarray else g
        _add_cotangent(cotangents, node, number, g, node, graph)
    nodes = topological_order(cotangents)
    needed = None if inputs is None else _leading_to(inputs, nodes)
    if needed is not None:
        # Their tensors' hooks run in any case
        starts = {node for node in cotangents if type(node) is not AccumulateGrad}
        nodes = [node for node in nodes if node in needed or node in starts]
    nodes = Running(nodes)
    observed = set(nodes) if needed is not None or state.anomaly else {node for node, _ in capture} if capture else ()
    loop = run_nodes(nodes, cotangents, graph, keep_graph, observed, needed, capture)
    return nodes, _with_recording(loop, create_graph) if graph else loop


def run_nodes(
    nodes: Running,
    cotangents: dict[Node, Any],
    graph: Any,
    keep_graph: bool,
    observed: Collection[Node],
    needed: set[Node] | None,
    capture: Any,
) -> Iterator[tuple[Node, Any, Sequence[Any]]]:
    """The loop at the top of this file.

    cotangents  {node: the sum so far; a list of sums if the node has several outputs}
    observed    nodes where more happens than the rule: a gradient is captured, an edge skipped, NaN looked for. (Those with hooks, too.)
    """
    for node in nodes:
        nodes.node = node  # for handlers, which see operations but not the node whose rule calls them
        g, edges = cotangents.pop(node, None), node.edges
        grad_inputs: Sequence[Any] = ()
        if g is not None or node.runs_without_gradient or node.hooks is not None:  # hooks are called with None, too
            if node.hooks is not None or (observed and node in observed):
                g, edges, grad_inputs = _run_observed(node, g, graph, needed, capture)
                if not grad_inputs:  # the pass ends at this node, so its saved tensors are not freed
                    yield node, g, grad_inputs
                    g = None
                    continue
            else:
                grad_inputs = (
                    node.run(g, edges)
                    if not graph
                    else node.run_graph(g, edges)
                    if graph is True
                    else graph(node, g, edges)
                )
            if node.frees and not keep_graph:
                node.release()
        for edge, out in zip(edges, grad_inputs):  # noqa: B905  strict=True costs as much as the loop
            if out is None or edge is None:
                continue
            target, number = edge
            array = out.array if graph else out
            if array.shape == target.shape and array.dtype is target.dtype:
                cotangents[target] = cotangents[target] + out if target in cotangents else out
            else:  # broadcast, of another dtype, or the target has several outputs
                _add_cotangent(cotangents, target, number, out, node, graph)
        yield node, g, grad_inputs
        out = array = (
            None  # drop these references, as the next node drops g: then a leaf can keep the array instead of copying it
        )


def _add_cotangent(
    cotangents: dict[Node, Any],
    target: Node,
    number: int,
    g: Any,
    sender: Node,
    graph: Any,
) -> None:
    """Add `g` to the cotangent of one output of `target`, in the shape and dtype of that output."""
    several = type(target.shape) is list
    shape, dtype = (target.shape[number], target.dtype[number]) if several else (target.shape, target.dtype)
    array = g.array if graph else g
    if array.shape != shape or array.dtype is not dtype:
        g = (fit_tensor if graph else fit_array)(g, shape, dtype, sender)
    if several:
        sums = cotangents.setdefault(target, [None] * len(target.shape))
        sums[number] = g if sums[number] is None else sums[number] + g
    else:
        cotangents[target] = cotangents[target] + g if target in cotangents else g


def _with_recording(loop: Iterator[Any], on: bool) -> Iterator[tuple[Node, Any, Sequence[Any]]]:
    """The pass on Tensors, recorded or not. Between two steps the caller's own grad mode is restored."""
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


def topological_order(roots: Iterable[Node]) -> list[Node]:
    """Every node that the roots lead to, each after all the nodes that pass it a gradient.

    Edges point to older nodes, so newest first is such an order. A leaf comes right after the oldest node that passes it a gradient, in the
    order of that node's edges, because its gradient is complete there.
    """
    place: dict = {}  # node: its number; for a leaf, the number of the oldest node with an edge to it
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
                    number_of_leaf = place.get(target)
                    if number_of_leaf is None:
                        place[target] = number
                    elif number < number_of_leaf:
                        del place[target]  # insert it again, after this node and in the order of its edges
                        place[target] = number
                elif target not in place:
                    place[target] = target.number
                    nodes.append(target)
    return sorted(place, key=place.__getitem__, reverse=True)  # the sort is stable


def _leading_to(inputs: set[Node], nodes: list[Node]) -> set[Node] | None:
    """The nodes on a path to `inputs`, and these; None if all are."""
    leaves = [node for node in nodes if type(node) is AccumulateGrad]
    if leaves and inputs.issuperset(leaves):  # every node is on a path to some leaf
        return None
    needed = set()
    for node in reversed(nodes):
        if node in inputs or any([edge is not None and edge[0] in needed for edge in node.edges]):
            needed.add(node)
    return needed if len(needed) < len(nodes) else None


# Nodes where more happens than the rule -----------------------------------------------------------------------------------------


def _run_observed(
    node: Node,
    g: Any,
    graph: Any,
    needed: set[Node] | None,
    capture: Any,
) -> tuple[Any, Any, Any]:
    """Run one node with its hooks, capture its gradient, follow only needed edges, and stop at NaN in anomaly mode.

    Returns the gradient that it ran on, the edges to follow and the gradients of its inputs.
    """
    hooks, edges = node.hooks, node.edges
    if hooks is not None:
        g = tensor_hooks(node, g, graph)
    captured = capture and _capture(capture, node, g, graph)
    if (captured and type(node) is AccumulateGrad) or (needed is not None and node not in needed):
        return g, edges, ()
    if needed is not None and edges:
        edges = tuple([edge if edge is not None and edge[0] in needed else None for edge in edges])
        if not any(edges) and not (captured and capture is not None and capture.runs):
            return g, edges, ()
    if hooks is not None and hooks.pre:
        g = pre_hooks(node, g, graph)
    try:
        if g is None and not node.runs_without_gradient:
            grad_inputs = accumulated(node) if type(node) is AccumulateGrad else (None,) * len(edges)
        else:
            grad_inputs = node.run_graph(g, edges) if graph else node.run(g, edges)
    except Exception:
        if state.anomaly:
            show_forward(node)
        raise
    if hooks is not None and hooks.post:
        if needed is not None:
            grad_inputs = tuple([None if edge is None else out for edge, out in zip(edges, grad_inputs, strict=True)])
        grad_inputs = post_hooks(node, g, grad_inputs, graph)
    if state.anomaly in (True, "inf too"):
        find_nan(node, grad_inputs)
    return g, edges, grad_inputs


def _capture(
    capture: Captured,
    node: Any,
    g: Any,
    graph: Any,
) -> bool:
    """Store the gradients of the node that were asked for. Returns whether there were any."""
    requested = False
    for number, value in enumerate(g if type(g) is list else [g]):
        if (node, number) in capture:
            requested = True
            if value is not None:
                capture[node, number] = value if graph else wrap(np.asarray(value))
    return requested


# Gradients fit their tensor ----------------------------------------------------------------------------------------------


def summed_axes(g_shape: tuple[int, ...], shape: tuple[int, ...], node: Any) -> tuple[int, ...]:
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


def fit_array(g: Any, shape: tuple[int, ...], dtype: np.dtype | None, node: Any) -> np.ndarray:
    """`g` summed to `shape` (the tensor was broadcast in the forward pass) and cast to `dtype`."""
    if g.shape != shape:
        front = g.ndim - len(shape)
        if shape and front > 0 and g.shape[front:] == shape:  # a bias: only repeated in front
            g = np.add.reduce(g, axis=tuple(range(front)))
        else:
            g = np.add.reduce(g, axis=summed_axes(g.shape, shape, node)).reshape(shape)
    return g if g.dtype is dtype or dtype is None else g.astype(dtype, copy=False)


def fit_tensor(g: Any, shape: tuple[int, ...], dtype: np.dtype | None, node: Any) -> Tensor:
    """fit_array on Tensors, recorded."""
    if g.array.shape != shape:
        axes = summed_axes(g.array.shape, shape, node)
        g = reshape(sum_dim(g, axes) if axes else g, shape)
    return g if g.array.dtype is dtype or dtype is None else cast(g, dtype)
