"""The two ways to start a backward pass: `backward` and `grad`.

What lives here: their arguments. What does not: the loop (engine.py).
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import errors
from ..core.constants import zeros_like
from ..core.dispatch import state
from ..core.facts import InputWithoutGradient, NoGraph, SeedMissing, SeedShape, SeedType, UnusedInputs
from ..core.grad_mode import set_grad_enabled
from ..core.meta import MetaArray, no_numbers
from ..core.node import AccumulateGrad, GradientEdge
from ..core.variable import Size, edge_of, requires
from ..ops.joins import stack
from . import engine
from .accumulate import accumulate

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor
    from ..tensors.tensor import Tensor as Variable  # its only direct subclass, with all the methods
else:
    from ..core.variable import Variable

_warned = False  # PyTorch says it once


def _as_tuple(x: Any) -> tuple[Any, ...]:
    return (x,) if isinstance(x, (Variable, GradientEdge)) else tuple(x)


def _place(x: Any) -> tuple[Any, ...]:
    """Of a tensor or GradientEdge: its edge, the shape and the dtype there."""
    if isinstance(x, Variable):
        return edge_of(x), x.array.shape, x.array.dtype
    if not isinstance(x, tuple):
        raise errors.new(AssertionError, "Expected output to be a torch.Tensor", f"It is {errors.a_kind(x)}.")
    node, number = edge = tuple(x[:2])
    return (
        (edge, node.shape[number], node.dtype[number]) if type(node.shape) is list else (edge, node.shape, node.dtype)
    )


def roots_of(
    tensors: Any,
    grad_tensors: tuple[Tensor | None, ...],
    create_graph: bool = False,
    batched: bool = False,
) -> list[Any]:
    """Pairs of an edge and the gradient to start with. Raises RuntimeError for a non-scalar without gradient, or one without graph."""
    if len(tensors) > len(grad_tensors):
        raise errors.new(RuntimeError, f"got {len(tensors)} tensors and {len(grad_tensors)} gradients")
    roots = []
    for i, (t, g) in enumerate(zip(tensors, grad_tensors, strict=False)):
        edge, shape, dtype = (edge_of(t), t.array.shape, t.array.dtype) if isinstance(t, Variable) else _place(t)
        if g is None:
            if edge is not None and math.prod(shape) != 1:
                raise errors.new(
                    RuntimeError,
                    "grad can be implicitly created only for scalar outputs",
                    f"You started a backward pass from a tensor of shape {shape}.",
                    "Gradients say how one number changes; here are several.",
                    "reduce it (loss.mean().backward()), or say how much each counts: y.backward(gradient=torch.ones_like(y)).",
                    "chapter 08, When the output is not one number",
                    SeedMissing(tuple(shape)),
                )
        elif not isinstance(g, Variable):
            kind = type(g).__name__
            raise errors.new(
                TypeError, f"gradients can be either Tensors or None, but got {kind}", facts=SeedType(kind)
            )
        elif shape != g.array.shape:
            raise errors.new(
                RuntimeError,
                f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {Size(shape)}.",
                facts=SeedShape(tuple(shape), tuple(g.shape)),
            )
        if edge is None:
            raise errors.new(
                RuntimeError,
                f"element {i} of tensors does not require grad and does not have a grad_fn",
                f"You asked for gradients of a tensor of shape {shape} that no graph leads to.",
                "None of the tensors it was computed from requires gradients, or recording was off (no_grad, detach).",
                "make the inputs with requires_grad=True before computing with them.",
                "chapter 10, Controlling the graph",
                NoGraph(),
            )
        if isinstance(t, Variable) and isinstance(t.array, MetaArray):
            raise no_numbers("a gradient needs numbers")
        if g is None:
            one = _ONE[dtype].copy() if shape == () and dtype in _ONE else np.ones(shape, dtype)
        roots.append((edge, one if g is None else g))
    return roots


# np.ones takes as long as a small operation
_ONE = {np.dtype(kind): np.ones((), kind) for kind in ("float32", "float64")}


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | Sequence[Tensor | GradientEdge] | None = None,
) -> None:
    """Add to the `.grad` of the leaves the gradient of the sum of `tensors`, each weighted by its `grad_tensors` of the same shape.

    tensors and inputs may be GradientEdges, too.

    retain_graph  keep what the nodes saved, for another pass (default: create_graph)
    create_graph  record the pass itself, for higher derivatives
    inputs        only for these tensors (default: all leaves that the graph reaches)
    grad_variables  PyTorch's old name of grad_tensors
    Raises RuntimeError if a tensor requires no gradient, is not a scalar and has no grad_tensor, or the graph was freed.
    """
    if state.transforms:
        raise errors.new(
            RuntimeError,
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp instead or "
            "call backward() outside of functorch transforms.",
        )
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=3)
        if grad_tensors is not None:
            raise errors.new(
                RuntimeError,
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`.",
            )
        grad_tensors = grad_variables
    tensors = _as_tuple(tensors)
    if inputs is not None:
        inputs = _as_tuple(inputs)
        if not inputs:
            raise errors.new(RuntimeError, "`inputs` argument to `backward()` cannot be empty.")
    if isinstance(grad_tensors, (int, float)):
        kind = type(grad_tensors).__name__
        raise errors.new(TypeError, f"'{kind}' object is not iterable", facts=SeedType(kind))
    grads = (None,) * len(tensors) if grad_tensors is None else _as_tuple(grad_tensors)
    roots = roots_of(tensors, grads, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    global _warned
    if create_graph and not _warned:
        _warned = True
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can cause "
            "a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this function, "
            "make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak.",
            UserWarning,
            stacklevel=3,
        )
    if inputs is None:
        _run(roots, keep, create_graph)
        return
    retained = {id(x) for x in inputs if isinstance(x, Variable) and x.retains_grad}  # the pass itself adds to these
    gradients = _capture(roots, inputs, keep, create_graph, leaves=False)
    for x, g in {id(x): (x, g) for x, g in zip(inputs, gradients, strict=True) if isinstance(x, Variable)}.values():
        if g is not None and id(x) not in retained:
            with set_grad_enabled(create_graph):
                accumulate(x, g)
        if x.edge is not None:  # as in PyTorch, from now on
            x.retain_grad()


def grad(
    outputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of the sum of `outputs` (each weighted by its `grad_outputs`) by the `inputs`, as a tuple. No `.grad` is touched.

    allow_unused       None for an input that the outputs do not depend on, instead of an error
    materialize_grads  zeros instead of that None
    is_grads_batched   grad_outputs have one dimension more, at the front; so have the results
    only_inputs        ignored, as in PyTorch
    Raises RuntimeError if `inputs` is empty, an input requires no gradient or was not used, or an output cannot be differentiated.
    """
    outputs, inputs = _as_tuple(outputs), _as_tuple(inputs)
    if not inputs:
        raise errors.new(RuntimeError, "`inputs` argument to `grad()` cannot be empty.")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of the "
            "graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    grads = (None,) * len(outputs) if grad_outputs is None else _as_tuple(grad_outputs)
    if allow_unused is None:
        allow_unused = materialize_grads
    elif not allow_unused and materialize_grads:
        raise errors.new(
            ValueError,
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.",
        )
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        for i, (x, g) in enumerate(zip(outputs, grads, strict=True)):
            if g is not None and tuple(g.shape[1:]) != tuple(_place(x)[1]):
                raise errors.new(
                    RuntimeError,
                    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The sizes of "
                    "the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was detected: "
                    f"grad_output[{i}] has a shape of {Size(g.shape[1:])} and output[{i}] has a shape of {Size(_place(x)[1])}. If you "
                    "only want some tensors in `grad_output` to be considered batched, consider using vmap.",
                )
        n = next(g for g in grads if g is not None).shape[0]
        rows = []
        for i in range(n):
            rows.append(
                grad(outputs, inputs, [None if g is None else g[i] for g in grads], keep or i + 1 < n, create_graph, only_inputs,
                     allow_unused, False, materialize_grads)
            )  # fmt: skip
        return tuple([None if column[0] is None else stack(column) for column in zip(*rows, strict=True)])
    gradients = _capture(roots_of(outputs, grads, create_graph), inputs, keep, create_graph)
    if any([g is None for g in gradients]):
        if not allow_unused:
            unused = [g is None for g in gradients].index(True)
            raise errors.new(
                RuntimeError,
                f"The differentiated Tensor at index {unused} appears to not have been used in the graph. Set allow_unused=True if "
                "this is the desired behavior.",
                instead="check that the outputs were computed from this very tensor, or pass allow_unused=True (you get None) or "
                "materialize_grads=True (zeros).",
                facts=UnusedInputs(tuple(inputs), tuple([g is not None for g in gradients])),
            )
        if materialize_grads:
            if any([g is None and isinstance(x, GradientEdge) for x, g in zip(inputs, gradients, strict=True)]):
                raise errors.new(
                    RuntimeError, "materialize_grads cannot be used when the given input is a GradientEdge"
                )
            gradients = [
                zeros_like(x, requires_grad=create_graph) if g is None else g
                for x, g in zip(inputs, gradients, strict=True)
            ]
    return tuple(gradients)


def _run(roots: list[Any], keep_graph: bool, create_graph: bool, inputs: Any = None, capture: Any = None) -> None:
    """Run a backward pass to its end."""
    running, steps = engine.begin(roots, keep_graph, create_graph, inputs, capture)
    running.outer, running.callbacks, state.running = state.running, (), running
    try:
        if state.profiler is None:
            deque(steps, maxlen=0)
        else:
            state.profiler.backward(steps)
        while running.callbacks:  # one may queue another
            callback, *running.callbacks = running.callbacks
            callback()
    finally:
        state.running = running.outer


def _capture(roots: list[Any], inputs: Any, keep: bool, create_graph: bool, leaves: bool = True) -> list[Tensor | None]:
    """The gradients that arrive at `inputs` (None where none does). With leaves=False those of leaves go to their `.grad` as always."""
    edges = []
    for x in inputs:
        if not isinstance(x, (Variable, GradientEdge)):
            raise errors.new(TypeError, f"grad() inputs must be Tensors, not {type(x).__name__}")
        edge = edge_of(x) if isinstance(x, Variable) else tuple(x[:2])
        if edge is None and not requires(x):  # a view made under no_grad requires gradients, but none reaches it
            raise errors.new(
                RuntimeError,
                "One of the differentiated Tensors does not require grad",
                instead="make it with requires_grad=True before computing with it.",
                facts=InputWithoutGradient(),
            )
        edges.append(edge)
    reached = [edge for edge in edges if edge is not None]
    capture = engine.Captured(
        [edge for edge in reached if leaves or type(edge[0]) is not AccumulateGrad], runs=not leaves
    )
    inputs_only = {edge[0] for edge in reached}
    before, state.inputs_given = state.inputs_given, True
    try:
        _run(roots, keep, create_graph, inputs_only, capture)
    finally:
        state.inputs_given = before
    return [capture.get(edge) for edge in edges]
