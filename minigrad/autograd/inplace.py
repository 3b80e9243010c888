"""Writing into a tensor that others may share: in-place operations, with and without views.

What lives here: what a write does to numbers, version and history, and the errors that forbid it. What does not: the trailing-underscore
methods (tensor.py), which all call `write`.

A write runs the ordinary row on the old value, copies the result over the storage, bumps the version and gives the tensor the result's
place in the graph. Through a view, the base gets a `copy_slices` node and the view's own place is made again from it when asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import dtypes, errors, facts, variable
from ..core.dispatch import state
from ..core.meta import MetaArray, no_numbers
from ..core.node import move_retained
from ..core.ownership import holders
from ..core.variable import INFERENCE, Variable, alias, refresh, refusal, requires
from ..ops.activations import threshold_
from ..ops.index import masked_fill
from ..ops.shape import cast, clone, copy, copy_slices, fill, fill_tensor, zero

if TYPE_CHECKING:
    from ..core.node import Edge
    from ..tensors.tensor import Tensor


def write(x: Any, op: Any, *args: Any) -> Tensor:
    """`x.op_(*args)`: replace the numbers of `x` by op(x, *args). Returns x."""
    check(x, *args)
    if isinstance(x.array, MetaArray):
        return _same_shape(x, op(x.detach(), *args))
    _check_overlap(x, () if op is fill_tensor else args, op in IDEMPOTENT)  # the one number is read before
    if not state.grad:
        return overwrite(x, op(x, *args))
    old = _value_before(x)
    if old.batched:  # inside vmap an outer level may have saved the numbers below
        old.unshare()
    packs = bool(state.handlers) and any([h.packs for h in state.handlers])
    if packs:  # the hooks must see numbers that stay
        _keep(old)
    out = op(old, *[alias(x) if a is x else a for a in args])
    if not packs and holders(old):  # a node saved the old numbers
        _keep(old)
    return overwrite(x, out)


def _keep(old: Tensor) -> None:
    """Let an operand have a copy of its numbers, before the storage is overwritten."""
    if not old.batched:
        old.array = old.array.copy()
    old.version, old.view_meta = [old.version[0]], None


def check(x: Tensor, *sources: Any) -> None:
    """Raise PyTorch's error if recording makes a write of `sources` into `x` meaningless."""
    involved = requires(x) or any([isinstance(s, Variable) and requires(s) for s in sources])
    if not state.grad or not involved:
        if x.version is INFERENCE and not state.inference:
            raise errors.new(
                RuntimeError,
                "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor "
                "before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.",
                facts=facts.InferenceTensor(),
            )
        return
    view = x.view_meta
    if view is not None:
        if view.creation_meta:
            several = facts.MultipleViewWritten() if view.creation_meta == "multiple" and x.edge is not None else None
            raise errors.new(RuntimeError, refusal(x), facts=several)
        variable.check_base(view)
        refresh(x)
        if x.requires and view.base.edge is None:
            raise errors.new(
                RuntimeError,
                "a view of a leaf Variable that requires grad is being used in an in-place operation.",
                "You wrote into a view (a slice, a reshape, ...) of a leaf that requires gradients.",
                "The leaf is where the graph starts: the write would become part of its history, and it has none.",
                "wrap updates of parameters in torch.no_grad(), or write into a clone: y = x.clone(); y[0] = 1.",
                "chapter 15, Bug clinic",
                facts.LeafViewWritten(),
            )
    if x.requires and x.edge is None:
        raise errors.new(
            RuntimeError,
            "a leaf Variable that requires grad is being used in an in-place operation.",
            f"You wrote into a leaf of shape {tuple(x.array.shape)} that requires gradients.",
            "Its gradient belongs to the value it had when the graph was recorded; a recorded write would leave it no place in the graph.",
            "wrap updates of parameters in torch.no_grad(), or make a new tensor: y = x * 2.",
            "chapter 15, Bug clinic",
            facts.LeafWritten(),
        )


# Each writes the same into places that are one: PyTorch lets them
IDEMPOTENT = {
    zero,
    fill,
    fill_tensor,
    masked_fill,
    threshold_,
}


def _check_overlap(x: Tensor, sources: tuple[Any, ...], idempotent: bool = False) -> None:
    """Raise if elements of `x` share a place, or some of `sources` lies partly where `x` is written: the result would be chance."""
    array = x.array
    if not (array.flags.c_contiguous or idempotent) and array.size > 1:
        reach = array.itemsize  # of the dimensions with smaller strides
        for stride, n in sorted([(abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1]):
            if stride < reach:
                raise errors.new(
                    RuntimeError,
                    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
                    "clone() the tensor before performing the operation.",
                    facts=facts.OverlapWritten(),
                )
            reach += stride * (n - 1)
    for source in sources:
        if (
            isinstance(source, Variable)
            and (source.version is x.version or _owner(source.array) is _owner(array))
            and source is not x
            and _partly(array, source.array)
        ):
            raise errors.new(
                RuntimeError,
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. "
                "Please clone() the tensor before performing the operation.",
            )


def _owner(array: np.ndarray) -> np.ndarray:
    return array if array.base is None else array.base


def _partly(a: np.ndarray, b: np.ndarray) -> bool:
    """Do two dense arrays share some memory, and are not the same elements in the same order? Others are not looked at, as in PyTorch."""
    (start, end), (start_b, end_b) = np.lib.array_utils.byte_bounds(a), np.lib.array_utils.byte_bounds(b)
    if end - start != a.nbytes or end_b - start_b != b.nbytes or end <= start_b or end_b <= start:
        return False
    return (start, end, _steps(a)) != (start_b, end_b, _steps(b))


def _steps(a: np.ndarray) -> list[int]:
    return [s for s, n in zip(a.strides, a.shape, strict=True) if n > 1]


def _same_shape(x: Any, out: Any) -> Tensor:
    """x, if a result of this shape can be written into it."""
    if out.array.shape != x.array.shape:
        raise errors.new(
            RuntimeError,
            f"output with shape {list(x.array.shape)} doesn't match the broadcast shape {list(out.array.shape)}",
            why="An in-place operation keeps the shape of its tensor; only the other operand may be broadcast.",
            instead="use the operation that makes a new tensor.",
            facts=facts.ShapeWritten(tuple(x.array.shape), tuple(out.array.shape)),
        )
    return x


def overwrite(x: Any, out: Any) -> Tensor:
    """Put the numbers of `out` into the storage of `x`, and its history behind `x`."""
    _same_shape(x, out)
    if isinstance(out.array, MetaArray):
        if isinstance(x.array, MetaArray):
            return x
        raise no_numbers("they cannot be written into another tensor")
    if out.array.dtype is not x.array.dtype:
        fitting(x, out)
        out.array = out.array.astype(x.array.dtype)
        if out.edge is not None:
            out.edge[0].dtype = x.array.dtype  # gradients arrive in the dtype that the result now has
    for handler in state.handlers:
        handler.writes(x)
    if x.batched or out.batched:
        (x if x.batched else out).store(x, out)
    else:
        np.copyto(x.array, out.array)
    if x.version is INFERENCE:
        return x
    x.version[0] += 1
    for handler in state.handlers:
        handler.written(x, out)
    if not out.requires or x.array.dtype.kind != "f":  # whole numbers carry no gradient
        return x
    node = out.edge[0]
    if getattr(node, "out_counter", None) is out.version:  # the row saved its output: that is now the storage of x
        node.out, node.out_counter, node.out_version = x.shell() if x.batched else x.array, x.version, x.version[0]
    if x.view_meta is None:
        old, x.edge, x.requires = x.edge, out.edge, True
        move_retained(x, old)
        if x.meta is not None:
            x.meta.hooks = None
        return x
    base = x.view_meta.base
    new = copy_slices.record(base.array, alias(base), out, x.view_meta.view_func)
    old, base.edge, base.requires = base.edge, new.edge, True
    move_retained(base, old)
    refresh(x)
    return x


def fitting(x: Tensor, out: Tensor) -> Tensor:
    """The result `out`. Raises RuntimeError if its dtype cannot be written into `x`."""
    if not dtypes.can_cast(out.dtype, x.dtype):
        result, desired = (errors.TYPE_NAMES[t.array.dtype.name].removesuffix("Tensor") for t in (out, x))
        raise errors.new(
            RuntimeError,
            f"result type {result} can't be cast to the desired output type {desired}",
            facts=facts.CastWritten(result, desired),
        )
    return out


def reshape_(x: Any, view: Callable[..., Any]) -> Tensor:
    """x.t_() and its kind: `x` becomes the view of itself that `view` makes; its numbers stay where they are. Returns x."""
    check(x)
    old = alias(x)
    new = view(old)
    if new.array.base is None and new.array is not old.array:
        raise errors.new(RuntimeError, "an in-place change of the shape cannot copy the numbers.")
    before, x.array = x.edge, new.array
    if x.batched:
        with x.level.below():
            reshape_(x.value, lambda _: new.value)
    if x.version is not INFERENCE:
        x.edge, x.requires = new.edge, new.requires
        x.version[0] += 1
    if new.meta is not None and new.meta.tangents:
        variable.meta_of(x).tangents = {
            level: t._replace(version=x.version[0], root=None) for level, t in new.meta.tangents.items()
        }
    if x.view_meta is not None:
        x.view_meta = new.view_meta
        if x.version is not INFERENCE:
            x.view_meta.version = x.version[0]
    if before is not None:
        move_retained(x, before)
    return x


def _value_before(x: Tensor) -> Tensor:
    """What `x` is before it is written to, as an operand."""
    old = alias(x)
    old.edge = edge_before(x, old.edge)
    if old.meta is not None:  # alias() has copied the tangents, which will be written to as well: nodes may save these
        old.meta.tangents = {
            level: t._replace(value=None if t.value is None else clone(t.value))
            for level, t in old.meta.tangents.items()
        }
    return old


def edge_before(x: Any, edge: Edge | None) -> Edge | None:
    """The edge of `x` for a write. A view where hooks wait gets a new place: in PyTorch they wait for a value that is no more."""
    if x.view_meta is None or x.edge is None or x.edge[0].hooks is None:
        return edge
    return variable.view_again(x.view_meta.base, x.view_meta.view_func).edge


def copy_(x: Any, source: Tensor, sentence: str | None = None, idempotent: bool = False) -> Tensor:
    """Replace the numbers of `x` by those of `source`, broadcast and cast to x's dtype. Returns x.

    idempotent  what is written into places that are one is the same
    """
    check(x, source)
    if isinstance(x.array, MetaArray):
        return _same_shape(x, source.detach().to("meta").expand(x.array.shape))
    _check_overlap(x, (source,), source is x or idempotent)
    if isinstance(source.array, MetaArray):
        raise no_numbers("they cannot be written into another tensor")
    try:
        np.broadcast_to(source.array, x.array.shape)
    except ValueError:
        raise errors.broadcast_to(source.array.shape, x.array.shape, sentence) from None
    if source.array.dtype is not x.array.dtype:
        source = cast(source, x.array.dtype)
    return overwrite(x, copy(_value_before(x) if state.grad else x, source))
