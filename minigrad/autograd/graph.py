"""torch.autograd.graph: looking at the graph, and what its nodes keep.

What lives here: `saved_tensors_hooks`, `save_on_cpu`, `Node`, `get_gradient_edge`, `saved_rows` and `saved_bytes`. What
does not: nodes themselves (node.py).
"""
from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ..core.constants import number_of
from ..core.dispatch import state
from ..core.grad_mode import no_grad
from ..core.node import FREED, PACKED, AccumulateGrad, Node  # noqa: F401
from ..core.variable import INFERENCE, Variable, edge_of, wrap
from . import engine

GradientEdge = namedtuple("GradientEdge", ("node", "output_nr"))


def get_gradient_edge(tensor):
    """Where the gradient of `tensor` goes, as (node, output_nr). Raises RuntimeError if it requires none."""
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*edge)


def increment_version(tensor):
    """Say that the storage of `tensor` was written to by other means."""
    for t in (tensor,) if isinstance(tensor, Variable) else tensor:
        if t.version is not INFERENCE:
            t.version[0] += 1


class saved_tensors_hooks:
    """Context manager: what nodes save inside goes through `pack_hook`, and comes back through `unpack_hook` when the backward pass asks.

    pack_hook(tensor) returns anything; unpack_hook(that) must return a tensor of the same shape and dtype.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        self.before = state.handlers
        state.handlers = (*self.before, self)

    def __exit__(self, *exc):
        state.handlers = self.before

    def __call__(self, op, inputs, params):
        """Handler: pack what the operation's node has just saved."""
        out = op(*inputs, *params)
        first = out[0] if isinstance(out, tuple) and out else out
        edge = first.edge if isinstance(first, Variable) else None
        if edge is not None and edge[0].op is op and edge[0].saves and not edge[0].status:
            self.pack(edge[0])
        return out

    def pack(self, node):
        packed, edges = {}, {}
        for name in node.saves:
            value = getattr(node, name)
            if value is None or number_of(value) is not None:  # a number is no tensor that hooks could move
                continue
            if isinstance(value, (list, tuple)):
                edges[name] = [edge_of(v) for v in value]
            else:
                edges[name] = edge_of(value) if name in node.op.inputs else None
            with no_grad():
                if isinstance(value, Variable):
                    packed[name] = self.pack_hook(value)
                elif isinstance(value, (list, tuple)):
                    packed[name] = [self.pack_hook(v) for v in value]
                else:
                    packed[name] = self.pack_hook(wrap(value))
            setattr(node, name, None)
        node.metadata["packed"] = packed
        node.metadata["unpack"] = lambda node: self.unpack(node, packed, edges)
        node.status = PACKED

    def unpack(self, node, packed, edges):
        """A twin of the node with the saved tensors unpacked, for one use."""
        twin = object.__new__(type(node))
        for slot in (*Node.__slots__[1:], *type(node).__slots__):
            if hasattr(node, slot):
                setattr(twin, slot, getattr(node, slot))
        twin.status = 0
        twin.info = {**(node.info or {}), "original": node}
        for name, value in packed.items():
            if isinstance(value, list):
                setattr(twin, name, [self.unpack_one(v, edge) for v, edge in zip(value, edges[name], strict=True)])
                setattr(twin, name + "_version", [0] * len(value))
            elif name in node.op.inputs:
                setattr(twin, name, self.unpack_one(value, edges[name]))
                setattr(twin, name + "_version", 0)
            else:
                setattr(twin, name, self.unpack_one(value, None).array)
                setattr(twin, name + "_version", getattr(node, name + "_counter")[0])
        return twin


    def unpack_one(self, value, edge):
        """The unpacked numbers at the saved tensor's old place in the graph."""
        tensor = self.unpack_hook(value)
        if not isinstance(tensor, Variable):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type " + type(tensor).__name__)
        out = wrap(tensor.array)
        out.edge, out.requires = edge, edge is not None
        return out


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors are copied (there is only one device): what a node saved survives in-place writes."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: t.clone(), lambda t: t)


# What memory a graph holds -------------------------------------------------------------------------------------------------


class SavedRow(NamedTuple):
    """One thing that a node holds."""

    node: str  # the node's name
    number: int  # its place in the order of creation
    name: str  # under which the rule finds it
    shape: tuple
    dtype: str
    bytes: int  # of its storage
    counted: bool  # False: the same storage is in an earlier row, or belongs to a leaf
    why: str  # "", "shared", "leaf" (it would be in memory anyway) or "checkpoint"


def saved_rows(tensors):
    """What the nodes behind `tensors` hold for the backward pass, newest node first: a list of SavedRow. minigrad's own.

    Each storage is counted once. Parameters and other leaves are listed, but not counted: they are in memory anyway.
    """
    tensors = (tensors,) if isinstance(tensors, Variable) else tuple(tensors)
    roots = [edge[0] for edge in map(edge_of, tensors) if edge is not None]
    nodes = engine.topological_order(roots)
    leaves = {id(_storage(node.variable.array)) for node in nodes if type(node) is AccumulateGrad}
    seen, rows = set(), []
    for node in nodes:
        if type(node) is AccumulateGrad:
            continue
        for name, value, why in _held(node):
            array = getattr(value, "array", value)
            storage = _storage(array)
            why = why or ("leaf" if id(storage) in leaves else "shared" if id(storage) in seen else "")
            counted = id(storage) not in leaves and id(storage) not in seen
            seen.add(id(storage))
            rows.append(SavedRow(node.name(), node.number, name, tuple(array.shape), str(array.dtype), storage.nbytes, counted, why))
    return rows


def saved_bytes(tensors):
    """How many bytes the graph behind `tensors` holds for the backward pass, every storage counted once, leaves not. minigrad's own.

    >>> import minigrad as torch
    >>> x = torch.ones(1000, requires_grad=True)
    >>> saved_bytes(x + 2), saved_bytes(x.exp()), saved_bytes(x.exp().sin().cos())
    (0, 4000, 8000)
    """
    return sum(row.bytes for row in saved_rows(tensors) if row.counted)


def _storage(array):
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _held(node):
    """(name, array or tensor, why) for everything that a node keeps alive."""
    if hasattr(node, "saved_rows"):  # a custom Function
        yield from _flat(node.saved_rows())
        return
    packed = (node.info or {}).get("packed", {}) if node.status == PACKED else {}
    yield from _flat(packed.items())
    if node.status == FREED:
        return
    for slot in type(node).__dict__.get("__slots__", ()):
        if not slot.endswith(("_version", "_counter", "_shape")) and slot not in packed:
            yield from _flat([(slot, getattr(node, slot, None))])


def _flat(pairs):
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
