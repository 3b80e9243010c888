"""The nodes of the graph: what `grad_fn` is.

What lives here: Node (one recorded operation), AccumulateGrad (the end of the graph at a leaf), their hooks and saved values. What does
not: how a row becomes a node class (op.py) and the loop that runs nodes (engine.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from . import dtypes

next_number = itertools.count().__next__  # creation order; the backward pass runs from high to low
Edge = tuple["Node", int]  # where a gradient goes: to a node, as the gradient of its output with this number
LIVE, FREED, PACKED = 0, 1, 2  # of a node's saved values: as recorded; freed; packed by saved_tensors_hooks


class Node:
    """One recorded operation. Subclasses are made from the rows of the derivatives table (`MulBackward0`, ...).

    `run(g, edges)` takes the gradient of the output as an ndarray and returns one gradient per edge (None where `edges` has None, because
    no gradient is needed there); `run_graph(g, edges)` does the same with Tensors, and its operations are recorded. For a node with several
    outputs `shape` and `dtype` are lists, and so is `g` (None where there is no gradient). Edges lead to older nodes only.
    Without a `run` of its own a subclass raises NotImplementedError.
    """

    __slots__ = ("__weakref__", "dtype", "edges", "hooks", "info", "number", "provenance", "shape", "status")
    op: Any = None  # the row
    saves: tuple = ()  # names of the slots that hold tensors
    frees: tuple = ()  # names of what release() frees: these, and parameters that hold tensors (the indices of index)
    number: int  # creation order
    edges: tuple  # (node, output number) for each input, or None
    shape: Any  # of the output, or a list of those of all outputs
    dtype: Any
    hooks: Any  # a Hooks, or None
    provenance: Any  # set only while provenance.py records
    info: dict | None  # what `metadata` gives
    raw_saved: Any = None  # the class of what `_raw_saved_x` gives (autograd/graph.py)
    runs_without_gradient = False  # True: without a gradient, run with zeros (custom Functions)

    def run(self, g: Any, edges: Any) -> Any:
        raise NotImplementedError

    def run_graph(self, g: Any, edges: Any) -> Any:
        raise NotImplementedError

    def release(self) -> None:
        """Free the saved values: the graph can be used only once."""
        self.status = FREED
        for slot in self.saves:
            setattr(self, slot, None)

    def __call__(self, *grads: Any) -> Any:
        """Run this one node: the gradients of its outputs in (None: none), those of its inputs out; Tensors. Raises TypeError for
        another number of gradients than it has outputs."""
        several = type(self.shape) is list
        expected = len(self.shape) if several else 1
        if len(grads) != expected:
            raise TypeError(f"expected {expected} arguments, got {len(grads)} instead")
        if not self.runs_without_gradient and all([g is None for g in grads]):
            return None if len(self.edges) == 1 else (None,) * len(self.edges)
        sent = tuple(self.run_graph(list(grads) if several else grads[0], self.edges))
        return sent[0] if len(sent) == 1 else sent

    def name(self) -> str:
        name = type(self).__name__
        return "torch::autograd::" + name if name in ("AccumulateGrad", "CopySlices", "NotImplemented") else name

    @property
    def next_functions(self) -> tuple[Any, ...]:
        """The nodes that gradients go to, each with the number of the output it was; (None, 0) for constants."""
        return tuple([(None, 0) if edge is None else edge for edge in self.edges])

    @property
    def metadata(self) -> dict:
        if self.info is None:
            self.info = {}
        return self.info

    def _sequence_nr(self) -> int:
        return self.number

    requires_grad = True

    @property
    def _input_metadata(self) -> tuple[InputMetadata, ...]:
        several = type(self.shape) is list
        kinds, shapes = (self.dtype, self.shape) if several else ([self.dtype], [self.shape])
        return tuple(
            [
                InputMetadata(kind and dtypes.from_numpy_dtype(kind), shape)
                for kind, shape in zip(kinds, shapes, strict=True)
            ]
        )

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(grad_inputs, grad_outputs)` runs after the node; a result other than None replaces grad_inputs."""
        return hooks_of(self).add("post", hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(grad_outputs)` runs before the node; a result other than None replaces grad_outputs."""
        return hooks_of(self).add("pre", hook)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class GradientEdge(NamedTuple):
    """A place in the graph: where the gradient of one output of a node arrives. `grad` and `backward` take it for the tensor."""

    node: Node
    output_nr: int
    ownership_token: Any = None


class InputMetadata(NamedTuple):
    """What a node knows of one of its outputs (PyTorch's name: the inputs of the backward pass)."""

    dtype: Any
    shape: tuple


class Hooks:
    """The hooks of one node. Order: tensor hooks (each for one output), retain_grad, node pre-hooks, the node (at a leaf then those after
    accumulation), node post-hooks."""

    __slots__ = ("__weakref__", "accumulated", "post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, dict[int, Any]] = {}  # output number: {key: hook}
        self.pre: dict[int, Any] = {}
        self.post: dict[int, Any] = {}
        self.accumulated: dict[int, Any] = {}
        self.retain: dict[int, Any] = {}  # output number: weak reference to the tensor whose .grad is kept

    def add(self, kind: str, hook: Callable[..., Any]) -> RemovableHandle:
        return add_hook(getattr(self, kind), hook)


def hooks_of(node: Node) -> Hooks:
    if node.hooks is None:
        node.hooks = Hooks()
        if type(node) is AccumulateGrad:
            node.variable.meta.hooks = node.hooks
    return node.hooks


def move_retained(x: Any, old: Edge | None) -> None:
    """`x` got a new place in the graph. If its `.grad` is retained, that goes along; hooks stay at the `old` place."""
    if old is None or x.edge is None or old[0].hooks is None:
        return
    ref = old[0].hooks.retain.get(old[1])
    if ref is not None and ref() is x:
        del old[0].hooks.retain[old[1]]
        hooks_of(x.edge[0]).retain[x.edge[1]] = ref


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook off again; also a context manager."""

    def __init__(self, hooks: dict, key: int) -> None:
        self.hooks, self.id = hooks, key
        self.marks: list[set] = []  # the sets that hold the hook's number and so tell how to call it

    def hooks_dict_ref(self) -> dict:
        """The hooks among which this one was registered, by number."""
        return self.hooks

    def remove(self) -> None:
        self.hooks.pop(self.id, None)
        for marked in self.marks:
            marked.discard(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.remove()


_hook_number = itertools.count()


def add_hook(hooks: dict, hook: Callable[..., Any] | int) -> RemovableHandle:
    key = next(_hook_number)
    hooks[key] = hook
    return RemovableHandle(hooks, key)


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds the gradient to the leaf's `.grad` (accumulate.py) and passes nothing on.

    It holds the leaf; the leaf holds it weakly, and keeps the hooks for the next one.
    """

    __slots__ = ("variable",)
    variable: Any

    def __init__(self, variable: Any) -> None:
        self.variable = variable
        self.number = next_number()
        self.edges = ()
        self.hooks, self.info = variable.meta.hooks, None
        self.status = LIVE
        array = variable.array
        self.shape, self.dtype = array.shape, array.dtype


def short_name(node: Node) -> str:
    """The operation that made the node: Exp for ExpBackward0."""
    return node.name().rpartition("Backward")[0] or node.name()
