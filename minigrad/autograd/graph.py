"""torch.autograd.graph: looking at the graph, and what its nodes keep.

What lives here: hooks on what nodes save, hooks on several gradients, `get_gradient_edge`, `saved_rows` and `saved_bytes`. What
does not: nodes themselves (node.py), and running hooks in the backward pass (hooks.py).
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..core import errors
from ..core.constants import number_of
from ..core.dispatch import Handler, state
from ..core.grad_mode import no_grad
from ..core.node import FREED, PACKED, AccumulateGrad, GradientEdge, Node, RemovableHandle
from ..core.storage import address, owner_of
from ..core.variable import INFERENCE, Variable, edge_of, wrap
from . import engine

if TYPE_CHECKING:
    from ..core.node import Edge
    from ..core.op import Op
    from ..tensors.tensor import Tensor


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of `tensor` goes, as (node, output_nr). Raises RuntimeError if it requires none."""
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*edge)


def increment_version(tensor: Tensor) -> None:
    """Count a write to the storage of `tensor` that no operation made."""
    for t in (tensor,) if isinstance(tensor, Variable) else tensor:
        if t.version is not INFERENCE:
            t.version[0] += 1


class _Packed(NamedTuple):
    """What hooks made of one saved value."""

    hooks: saved_tensors_hooks
    values: list  # one, or one for each tensor of a sequence
    edges: list  # where the tensors were in the graph
    several: bool


class saved_tensors_hooks(Handler):
    """Context manager: tensors that nodes save inside are passed to `pack_hook`; the backward pass reads them through `unpack_hook`.

    pack_hook(tensor) returns anything and must not write to the tensor; unpack_hook(that) must return a tensor of the same shape and
    dtype. Of several around each other the innermost is called. Raises RuntimeError inside disable_saved_tensors_hooks.
    Raises TypeError when unpack_hook returns anything but a tensor.
    """

    packs = True

    def __init__(self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def replaces(self, other: Any) -> bool:
        return isinstance(other, saved_tensors_hooks)

    def __enter__(self) -> Self:
        if state.no_saved_hooks is not None:
            raise RuntimeError(state.no_saved_hooks)
        return super().__enter__()

    def __call__(self, op: Op, inputs: tuple[Tensor, ...], params: tuple[Any, ...]) -> Any:
        """Pack what the operation's node has just saved."""
        out = op(*inputs, *params)
        first = out[0] if isinstance(out, tuple) and out else out
        edge = first.edge if isinstance(first, Variable) else None
        if edge is not None and edge[0].op is op and edge[0].saves and not edge[0].status:
            for name in edge[0].saves:
                _pack(edge[0], name, self)
        return out

    def packed(self, tensor: Any) -> Any:
        """What pack_hook makes of a tensor. Raises RuntimeError if it wrote to it."""
        version = tensor.version[0]
        with no_grad():
            value = self.pack_hook(tensor)
        if tensor.version[0] != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified by "
                "in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform in-place "
                "operations on the input to a pack hook."
            )
        return value

    def unpacked(self, value: Any, edge: Edge | None) -> Any:
        """The numbers that unpack_hook finds again, as a tensor at the saved one's old place in the graph."""
        outer = state.handlers, self.before
        try:
            tensor = self.unpack_hook(value)
        finally:
            state.handlers, self.before = outer  # whatever the hook entered or left
        if not isinstance(tensor, Variable):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                + type(tensor).__name__
            )
        if edge is None and not tensor.requires:
            return tensor  # the very object, as in PyTorch
        out = wrap(tensor.array)
        out.edge, out.requires = edge, edge is not None
        return out


def _pack(node: Node, name: str, hooks: saved_tensors_hooks) -> None:
    """Put what hooks make of a saved value in its place."""
    value = getattr(node, name)
    if value is None or number_of(value) is not None:  # a number is no tensor that hooks could move
        return
    several = isinstance(value, (list, tuple))
    values = [v if isinstance(v, Variable) else wrap(v) for v in (value if several else [value])]
    edges = [edge_of(v) for v in values] if name in node.op.inputs else [None]
    node.metadata.setdefault("packed", {})[name] = _Packed(hooks, [hooks.packed(v) for v in values], edges, several)
    node.metadata["unpack"] = _unpack
    setattr(node, name, None)
    node.status = PACKED


def _unpack(node: Node) -> Node:
    """A copy of the node with the saved tensors unpacked, for one use."""
    unpacked = object.__new__(type(node))
    for slot in (*Node.__slots__[1:], *type(node).__slots__):
        if hasattr(node, slot):
            setattr(unpacked, slot, getattr(node, slot))
    unpacked.status = 0
    unpacked.info = {**node.metadata, "original": node}
    for name, (hooks, values, edges, several) in node.metadata["packed"].items():
        tensors = [hooks.unpacked(v, edge) for v, edge in zip(values, edges, strict=True)]
        if name in node.op.inputs:
            setattr(unpacked, name, tensors if several else tensors[0])
            # A hook may return a tensor that was written to before it was saved
            versions = [t.version[0] for t in tensors]
            setattr(unpacked, name + "_version", versions if several else versions[0])
        else:
            setattr(unpacked, name, tensors[0].array)
            setattr(unpacked, name + "_version", getattr(node, name + "_counter")[0])
    return unpacked


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors are copied (there is only one device): what a node saved survives in-place writes."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: t.clone(), lambda t: t)


class disable_saved_tensors_hooks:
    """Context manager: inside, saved_tensors_hooks raises RuntimeError with `error_message`; so does entering it inside of them."""

    def __init__(self, error_message: str) -> None:
        self.message = error_message

    def __enter__(self) -> None:
        if any([isinstance(h, saved_tensors_hooks) for h in state.handlers]):
            raise RuntimeError(self.message)
        self.before, state.no_saved_hooks = state.no_saved_hooks, self.message

    def __exit__(self, *exc: Any) -> None:
        state.no_saved_hooks = self.before


class _Handle:
    __slots__ = ("__weakref__",)


class _Kept(Handler):
    """What nodes saved inside allow_mutation_on_saved_tensors: copied before it is written to. The names are PyTorch's."""

    in_second_run = True

    def __init__(self) -> None:
        # Handle that nodes hold: the copy
        self.cloned: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()
        # Handle: (the tensor itself, its version)
        self.original: weakref.WeakKeyDictionary[_Handle, tuple[Tensor, int]] = weakref.WeakKeyDictionary()
        # Place in memory and version: handle
        self.tid_to_weakhandle: weakref.WeakValueDictionary[Any, _Handle] = weakref.WeakValueDictionary()

    def __call__(self, op: Op, inputs: tuple[Tensor, ...], params: tuple[Any, ...]) -> Any:
        return op(*inputs, *params)

    def clear(self) -> None:
        """Forget it: the graphs recorded so far cannot be gone through any more."""
        self.cloned.clear()
        self.original.clear()
        self.tid_to_weakhandle.clear()

    def pack(self, tensor: Tensor) -> _Handle:
        """The handle of `tensor` as it is now: one for all nodes that save it."""
        if tensor.batched:
            handle = _Handle()
            self.cloned[handle] = tensor.clone()
            return handle
        array = tensor.array
        place = (address(array), array.shape, array.strides, array.dtype, tensor.version[0])
        entry = self.tid_to_weakhandle.get(place)
        if entry is None or entry not in self.original or self.original[entry][0].version is not tensor.version:
            entry = self.tid_to_weakhandle[place] = _Handle()
            value = wrap(array)
            value.version = tensor.version
            self.original[entry] = value, tensor.version[0]
        return entry

    def unpack(self, handle: _Handle) -> Tensor:
        if handle in self.cloned:
            return self.cloned[handle]
        if handle not in self.original:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally recorded."
            )
        value, version = self.original[handle]
        if value.version[0] != version:  # written by something that tells no handler, such as numpy
            raise errors.modified(
                "allow_mutation_on_saved_tensors", "a saved tensor", value.array, value.version[0], version, ""
            )
        return value

    def writes(self, x: Tensor) -> None:
        if not x.batched:
            self._copy(lambda value: value.version is x.version or owner_of(value.array) is owner_of(x.array))

    def updates(self, optimizer: Any, begins: bool) -> None:
        if begins:
            self._copy(lambda value: True)

    def accumulated(self, x: Any, g: Any) -> None:
        if x._grad is not None:
            self.writes(x._grad)

    def _copy(self, concerned: Callable[..., Any]) -> None:
        for handle, (value, version) in list(self.original.items()):
            if concerned(value) and value.version[0] == version:
                self.cloned[handle] = wrap(value.array.copy())
                del self.original[handle]


class allow_mutation_on_saved_tensors:
    """Context manager: inside, what a node saved may be written to, and gradients are those of the numbers as they were.

    They are copied before the first write. The backward pass must run inside. Raises RuntimeError inside another one; `as kept` gives an
    object with clear().
    """

    def __enter__(self) -> _Kept:
        if any([isinstance(h, _Kept) for h in state.handlers]):
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        self.kept = _Kept()
        self.hooks = saved_tensors_hooks(self.kept.pack, self.kept.unpack)
        self.kept.__enter__()
        self.hooks.__enter__()
        return self.kept

    def __exit__(self, *exc: Any) -> None:
        self.kept.clear()
        self.hooks.__exit__(*exc)
        self.kept.__exit__(*exc)


class SavedTensor:
    """One value that a node saved (`grad_fn._raw_saved_*`), to hang hooks on."""

    def __init__(self, node: Node, name: str) -> None:
        self.node, self.name = node, name

    def register_hooks(self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        """As saved_tensors_hooks, for this value. Raises RuntimeError if it is None, was freed, or has hooks."""
        node, name = self.node, self.name
        if node.status == FREED:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when "
                "you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second "
                "time or if you need to access saved variables after calling backward."
            )
        if name in (node.info or {}).get("packed", ()):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed at a "
                "time."
            )
        if getattr(node, name) is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        _pack(node, name, saved_tensors_hooks(pack_hook, unpack_hook))


Node.raw_saved = SavedTensor


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all") -> _Handles:
    """Call `fn` when the gradients of several tensors are there. Returns a handle with remove().

    mode "all"  fn(list of gradients), once in each backward pass, after the last of those that the pass reaches; None for the others
    mode "any"  fn(gradient) for the first one in each pass
    Raises ValueError for another mode, AssertionError for a tensor without gradient.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    if mode == "all" and any([edge_of(t) is None for t in tensors]):
        raise AssertionError("Expected gradient function to be set")
    # Backward pass: [how many are to come, gradients so far]
    buffers: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
    lock = threading.Lock()

    def hook(i: int, g: Tensor) -> None:
        running = state.running
        with lock:
            if running not in buffers:
                coming = running if mode == "all" else ()
                buffers[running] = [
                    sum([edge_of(t)[0] in coming for t in tensors]) if mode == "all" else 1,
                    [None] * len(tensors),
                ]
            waiting = buffers[running]
            waiting[0] -= 1
            waiting[1][i] = g
            remaining = waiting[0]
        if remaining == 0:
            fn(waiting[1] if mode == "all" else g)

    return _Handles([t.register_hook(functools.partial(hook, i)) for i, t in enumerate(tensors) if t.requires_grad])


class _Handles(RemovableHandle):
    """One handle for several."""

    def __init__(self, handles: list[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


# What memory a graph holds -------------------------------------------------------------------------------------------------


class SavedRow(NamedTuple):
    """One value that a node has saved."""

    node: str  # the node's name
    number: int  # its place in the order of creation
    name: str  # the rule's name for it
    shape: tuple
    dtype: str
    bytes: int  # of its storage
    counted: bool  # False: the same storage is in an earlier row, or is that of a leaf
    why: str  # "", "shared", "leaf" (it would be in memory anyway) or "checkpoint"


def saved_rows(tensors: Any) -> list[SavedRow]:
    """What the nodes behind `tensors` hold for the backward pass, newest node first: a list of SavedRow. minigrad's own.

    Each storage is counted once. Parameters and other leaves are listed, but not counted: they are in memory anyway.
    """
    tensors = (tensors,) if isinstance(tensors, Variable) else tuple(tensors)
    roots = [edge[0] for edge in map(edge_of, tensors) if edge is not None]
    nodes = engine.topological_order(roots)
    leaves = {id(owner_of(node.variable.array)) for node in nodes if type(node) is AccumulateGrad}
    seen, rows = set(), []
    for node in nodes:
        if type(node) is AccumulateGrad:
            continue
        for name, value, why in _held(node):
            array = getattr(value, "array", value)
            storage = owner_of(array)
            why = why or ("leaf" if id(storage) in leaves else "shared" if id(storage) in seen else "")
            counted = id(storage) not in leaves and id(storage) not in seen
            seen.add(id(storage))
            rows.append(
                SavedRow(
                    node.name(), node.number, name, tuple(array.shape), str(array.dtype), storage.nbytes, counted, why
                )
            )
    return rows


def saved_bytes(tensors: Any) -> int:
    """How many bytes the graph behind `tensors` holds for the backward pass, every storage counted once, leaves not. minigrad's own.

    >>> import minigrad as torch
    >>> x = torch.ones(1000, requires_grad=True)
    >>> saved_bytes(x + 2), saved_bytes(x.exp()), saved_bytes(x.exp().sin().cos())
    (0, 4000, 8000)
    """
    return sum(row.bytes for row in saved_rows(tensors) if row.counted)


def _held(node: Node) -> Iterator[Any]:
    """(name, array or tensor, why) for everything that a node keeps alive."""
    if hasattr(node, "saved_rows"):  # a custom Function
        yield from _flat(node.saved_rows())
        return
    packed = (node.info or {}).get("packed", {}) if node.status == PACKED else {}
    for name, (_, values, _, several) in packed.items():
        yield from _flat([(name, values if several else values[0])])
    if node.status == FREED:
        return
    for slot in type(node).__dict__.get("__slots__", ()):
        if not slot.endswith(("_version", "_counter", "_shape")) and slot not in packed:
            yield from _flat([(slot, getattr(node, slot, None))])


def _flat(pairs: list[Any]) -> Iterator[Any]:
    for name, value in pairs:
        if isinstance(value, (Variable, np.ndarray)):
            yield name, value, ""
        elif isinstance(value, (list, tuple)):
            yield from _flat([(f"{name}[{i}]", v) for i, v in enumerate(value)])
        elif hasattr(value, "region"):  # checkpoint's note: the inputs wait for the second run
            for i, x in enumerate(value.region.held()):
                yield f"checkpoint input {i}", x, "checkpoint"
            for position, x in (value.region.again or {}).items():
                yield f"recomputed {position}", x, "checkpoint"
