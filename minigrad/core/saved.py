"""Results and saved values: views, several outputs, and the checks that a saved tensor was neither freed nor overwritten.

The source that is written for each row (row_source.py) calls these functions where a plain assignment is not enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy import ndarray

from . import errors
from .dispatch import state
from .meta import asarray
from .node import PACKED, Node, short_name
from .variable import INFERENCE, ViewFunc, ViewMeta, edge_of, only_detached, wrap

if TYPE_CHECKING:
    import numpy as np

    from ..tensors.tensor import Tensor
    from .op import Op


def view_of(out: Tensor, x: Tensor, op: Op, params: tuple[Any, ...], number: int | None) -> None:
    """Make `out` a view of `x`: it shares the storage and the version, and knows how to be made again from the base."""
    out.version = x.version
    if x.version is INFERENCE:  # as in PyTorch, its base is never asked for
        return
    step = (op, params, number)
    created = "inference" if state.inference else "no_grad" if not state.grad else "" if number is None else "multiple"
    if x.view_meta is None:
        out.view_meta = ViewMeta(x, ViewFunc(step, None, x.array.strides), x.version[0], created)
    else:
        view = x.view_meta
        out.view_meta = ViewMeta(view.base, ViewFunc(step, view.view_func), x.version[0], created or view.creation_meta)


def record_several(op: Op, arrays: Any, node: Node | None, source: tuple[Any, ...] | None) -> tuple[Tensor, ...]:
    """The outputs of an operation with several, as a tuple; integer outputs have no gradient."""
    arrays = [asarray(a) for a in arrays]
    outs = []
    for number, a in enumerate(arrays):
        out = wrap(a)
        if source is not None:
            view_of(out, source[0], op, source[1], number)
        if node is not None and a.dtype.kind == "f" and out.version is not INFERENCE:
            out.edge, out.requires = (node, number), True
        elif source is not None:  # a view made in no_grad is to PyTorch a leaf like its base
            out.requires = out.view_meta is not None and out.view_meta.base.requires
        if not state.grad:
            out.detached_by = "no_grad"
        outs.append(out)
    if node is not None:
        node.shape, node.dtype = [a.shape for a in arrays], [a.dtype for a in arrays]
        for name in node.saves:
            if op.outputs is not ... and name in op.outputs:
                number = op.outputs.index(name)
                setattr(node, name, arrays[number])
                setattr(node, name + "_counter", outs[number].version)
                setattr(node, name + "_version", outs[number].version[0])
    return tuple(outs)


def output_of(node: Node, name: str) -> Tensor:
    """A saved output as a Tensor, attached to its own node.

    The node keeps only the array: a Tensor would create a reference cycle with its node.
    """
    value = getattr(node, name)
    out = wrap(value) if type(value) is ndarray else value.shell()  # inside vmap
    out.version = getattr(node, name + "_counter")
    number = node.op.outputs.index(name)
    if out.array.dtype.kind == "f":
        out.edge, out.requires = ((node.info or {}).get("original", node), number), True
    if node.info is not None and "tangents" in node.info:
        for restore in node.info["tangents"]:  # forward mode is on: the saved output has a tangent
            restore(out)
    return out


def check_saved(node: Node, slot: str, tensor: Tensor, version: int) -> None:
    """Raise if the saved input was detached in place or written to since."""
    if tensor.version[0] != version:
        if tensor.meta is not None and tensor.meta.detached_at > version and tensor.edge is None:
            raise errors.new(
                RuntimeError,
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use "
                "out-of-place `.detach()` instead",
                why="the derivative formula needs this tensor with its history, and detach_() has removed that.",
                instead="y = x.detach() makes a new tensor and leaves x in its graph.",
            )
        if only_detached(tensor.version, version):  # another tensor with this storage
            return
        edge = edge_of(tensor)
        origin = f"{edge[1]} of {short_name(edge[0])}" if edge is not None and edge[0].edges else ""
        raise errors.modified(node.name(), slot, tensor.array, *_writes(tensor.version, version), origin)


def _writes(counter: list[int], version: int) -> tuple[int, int]:
    """How many writes there were until now, and until `version`: both without the detach_() calls, which PyTorch does not count."""
    now, then = [at - sum([call <= at for call in counter[1:]]) for at in (counter[0], version)]
    return now, then


def as_floats(x: Tensor | np.ndarray, dtype: np.dtype) -> Tensor | np.ndarray:
    """A saved input of whole numbers in the dtype of the result."""
    return x.astype(dtype) if isinstance(x, ndarray) else wrap(x.array.astype(dtype))


def check_output(node: Node, name: str) -> None:
    if only_detached(getattr(node, name + "_counter"), getattr(node, name + "_version")):
        return
    raise errors.modified(
        node.name(), name, getattr(node, name), *_writes(getattr(node, name + "_counter"), getattr(node, name + "_version")),
        f"{node.op.outputs.index(name)} of {short_name(node)}",
    )  # fmt: skip


def open_saved(node: Node) -> Any:
    """The node with its saved tensors readable: raises if they were freed, unpacks them if hooks packed them."""
    if node.status == PACKED:
        return node.metadata["unpack"](node)
    raise errors.freed()


def drop_packed(node: Node) -> None:
    """Free what hooks have packed, too: it holds a checkpoint's inputs."""
    node.metadata.pop("packed", None), node.metadata.pop("unpack", None)
