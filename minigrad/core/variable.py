"""Internal representation of a tensor: array, autograd metadata, version counter, view relation.

What lives here: the fields of a tensor, how its place in the graph is found, its version counter and its view relation. What does not: the
methods that people call (tensor.py) and the graph's nodes (node.py).

- `array`     the numbers: an ndarray, for a view a strided ndarray over its base's storage.
- `requires`  does it take part in a graph?
- `edge`      (node, output number): where its gradient goes. None for constants and for leaves (a leaf's edge is made on demand).
- `version`   a list with one int, shared by a base, its views and its detached aliases: how often the storage was written to. (After it
              come the counts at which detach_() was called, a false alarm for all but the nodes that saved that tensor.)
- `view_meta` None, or how the view is computed from its base.
- `meta`      None, or the rarely used rest: hooks, tangents, the leaf's AccumulateGrad.
- `detached_by`  not set, or why no gradient flows back from here: "no_grad", "detach" or "marked". Only pictures read it.
- `cut`          not set, or what it was made from outside of the graph, and where (provenance.py). Only pictures read it.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import errors
from .dispatch import state
from .facts import InferenceTensor
from .node import AccumulateGrad, move_retained, short_name

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


class Size(tuple):
    """A shape: a tuple that prints as PyTorch's and counts its elements."""

    __slots__ = ()

    def numel(self) -> int:
        n = 1
        for size in self:
            n *= size
        return n

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, key: Any) -> Any:
        item = tuple.__getitem__(self, key)
        return Size(item) if isinstance(key, slice) else item

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other: Any) -> Any:
        return Size(tuple(other) + tuple(self))

    def __mul__(self, n: Any) -> Any:
        return Size(tuple.__mul__(self, n))

    __rmul__ = __mul__


class InferenceVersion:
    """The version counter of a tensor made in inference mode: it counts nothing and refuses to be saved."""

    def __getitem__(self, _: int) -> int:
        if state.transforms:  # a transform of torch.func may save it, because its nodes do not outlive the transform
            return 0
        raise errors.new(
            RuntimeError,
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked by "
            "autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
            "instead of `torch.inference_mode()`.",
            facts=InferenceTensor(),
        )

    def __setitem__(self, _: Any, value: Any) -> None:
        pass


INFERENCE = InferenceVersion()


class ViewFunc:
    """ViewMeta operations in order, as (op, params, number of the output or None). Called on a tensor or ndarray shaped like the base, it
    gives the view.

    Linked, each to the one before it: a view of a view adds one step and copies none. The first knows how its base lies in memory, for
    some views exist only there: what is laid out otherwise (a gradient) is copied into that order.
    """

    __slots__ = ("before", "step", "strides")

    def __init__(self, step: tuple[Any, ...], before: Any = None, strides: tuple[int, ...] | None = None) -> None:
        self.step, self.before = step, before
        self.strides = before.strides if strides is None else strides  # of the base

    def __iter__(self) -> Any:
        steps, at = [], self
        while at is not None:
            steps.append(at.step)
            at = at.before
        return reversed(steps)

    def __call__(self, x: Any) -> Any:
        try:
            return self._run(x)
        except ValueError:  # no such view of these strides
            axes, back = self._axes()
            return self._run(
                x.permute(axes).contiguous().permute(back) if not isinstance(x, np.ndarray) else self.laid_out(x)
            )

    def _run(self, x: Any) -> Any:
        for op, params, number in self:
            x = op(x, *params)
            if number is not None:  # the operation returns several views
                x = x[number]
        return x

    def _axes(self) -> tuple[Any, ...]:
        """The dimensions as they lie in memory, and how to undo that order."""
        axes = sorted(range(len(self.strides)), key=lambda d: -self.strides[d])
        return axes, sorted(axes, key=axes.__getitem__)

    def laid_out(self, array: np.ndarray) -> np.ndarray:
        """A copy of an ndarray, laid out as the base is."""
        axes, back = self._axes()
        return np.array(np.transpose(array, axes), order="C").transpose(back)

    def after(self, start: Any, strides: tuple[int, ...]) -> Any:
        """The steps that lead from the view of the replay `start`, laid out so, to this view; all of them if it is None."""
        if start is None:
            return self
        steps, at = [], self
        while at is not start:
            steps.append(at.step)
            at = at.before
        rest = None
        for step in reversed(steps):
            rest = ViewFunc(step, rest, strides)
        return rest


class ViewMeta:
    """The relation of a view to its base."""

    __slots__ = ("base", "creation_meta", "leaf", "version", "view_func")

    def __init__(self, base: Tensor, view_func: ViewFunc, version: int, creation_meta: str = "") -> None:
        self.base = base  # never itself a view
        self.view_func = view_func
        self.version = version  # of the storage when the view's edge was last right
        self.creation_meta = (
            creation_meta  # "no_grad", "inference", "multiple" or "function": no writes while recording
        )
        self.leaf = False  # requires_grad_() was called on the view itself


ANY = object()


class AutogradMeta:
    __slots__ = ("accumulator", "detached_at", "grad_dtype", "hooks", "number", "tangents")

    def __init__(self) -> None:
        self.accumulator: Any = None  # weak: the node holds the leaf, so the leaf must not hold the node
        self.hooks: Any = None  # a leaf's Hooks, shared with its AccumulateGrad
        self.detached_at = -1  # the version of the last detach_(), for the nodes that saved this very tensor
        self.grad_dtype = ANY  # of a leaf's gradient: None for any, ANY for the leaf's own
        self.number: Any = None  # the Python number that this tensor was made from, as an operand (constants.py)
        self.tangents: dict[int, Tangent] | None = None  # forward mode: {level: Tangent}


class Tangent(NamedTuple):
    """The tangent of a tensor at one level of forward mode."""

    value: Any
    version: int  # of the tensor when the value was right
    root: Any = None  # of a view: the tensor whose tangent this is a part of, and is made from again after a write; None: its own


class Variable:
    __slots__ = (
        "__weakref__",
        "_grad",
        "array",
        "cut",
        "detached_by",
        "edge",
        "meta",
        "requires",
        "version",
        "view_meta",
    )
    batched = False  # True: one tensor per sample, inside vmap (batching.py)
    array: Any  # the numbers: a numpy array
    requires: bool  # does a gradient reach it?
    edge: Any  # (the node of its operation, output number); None: a leaf or a constant
    _grad: Any  # what `.grad` gives: a Tensor or None
    view_meta: Any  # the ViewMeta that it is, or None
    version: Any  # list[int] or INFERENCE: one counter for all views of a storage
    meta: Any  # an AutogradMeta, or None
    detached_by: str
    cut: Any
    shell: Any  # this and the next: of a tensor inside vmap (batching.py)
    unshare: Any
    store: Any
    value: Any
    level: Any


TENSOR = Variable  # the class of new tensors; tensor.py sets it
view_again: Any = None  # (base, ViewFunc): records the view again from its base; ops/strided.py sets it
_new = object.__new__


def wrap(array: Any) -> Any:
    """A constant tensor around an ndarray (not a copy)."""
    t = _new(TENSOR)
    t.array = array
    t._grad = t.edge = t.view_meta = t.meta = None
    t.requires = False
    t.version = INFERENCE if state.inference else [0]
    return t


def alias(x: Tensor) -> Tensor:
    """A second Tensor that shares storage, version counter, tangents and edge with `x`, taken before an in-place write."""
    out = x.shell() if x.batched else wrap(x.array)
    out.version, out.view_meta, out.edge, out.requires = x.version, x.view_meta, x.edge, x.requires
    if x.meta is not None and x.meta.tangents:
        meta_of(out).tangents = x.meta.tangents
    if x.requires and x.edge is None:  # a leaf: its gradients must reach the leaf itself
        out.edge = leaf_edge(x)
    return out


def meta_of(x: Variable) -> AutogradMeta:
    if x.meta is None:
        x.meta = AutogradMeta()
    return x.meta


def set_tangent(x: Any, level: int, value: Any, root: Any = None) -> None:
    """Forward mode: `value` is the tangent of `x` at a level. With `root` it is a part of the tangent of `root`, which `x` is a view of."""
    meta = meta_of(x)
    # A new dict: aliases keep theirs
    meta.tangents = {
        **(meta.tangents or {}),
        level: Tangent(value, x.version[0], root),
    }


def leaf_edge(x: Variable) -> Any:
    """The edge of a leaf that requires gradients: its one AccumulateGrad, created again once the old one has been freed.

    None for a view that requires gradients only because its base does: it was made where nothing is recorded.
    """
    meta = x.meta or meta_of(x)
    node = meta.accumulator and meta.accumulator()
    if node is None:
        if x.view_meta is not None and not x.view_meta.leaf:
            return None
        node = AccumulateGrad(x)
        if meta.grad_dtype is not ANY:
            node.dtype = meta.grad_dtype
        meta.accumulator = weakref.ref(node)
    return (node, 0)


def edge_of(x: Variable) -> Any:
    """Where the gradient of `x` goes: (node, output number), or None for a constant."""
    if x.view_meta is not None:
        refresh(x, always=True)
    if not x.requires:
        return None
    return x.edge if x.edge is not None else leaf_edge(x)


_SURROUNDING = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the "
    "inplace either both inside the {mode} block (if you don't want the inplace to be tracked) or both outside (if you want the inplace "
    "to be tracked)."
)
_WHY_REFUSED = {
    "multiple": " This view is the output of a function that returns multiple views. Such functions do not allow the output views to be "
    "modified inplace. You should replace the inplace operation by an out-of-place one.",
    "no_grad": _SURROUNDING.format(mode="no_grad"),
    "inference": _SURROUNDING.format(mode="inference_mode"),
    "function": " This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle "
    "view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. This behavior "
    "is forbidden. You can fix this by cloning the output of the custom Function.",
}


def refusal(x: Variable, written: str = "is being") -> str:
    """PyTorch's sentence why the view `x` must not be written to while recording. `written`: the tensor written to, and when."""
    created = x.view_meta.creation_meta
    output = None if x.edge is None else f"Output {x.edge[1]} of {short_name(x.edge[0])} is a view"
    if output is not None and created in ("multiple", "function"):
        start = f"{output} and {written} modified inplace."
    else:
        start = "A view was created in" if output is None else f"{output} of a view which was created in"
        start += (
            f" inference mode and {written} modified inplace in normal mode."
            if created == "inference"
            else (f" no_grad mode and {written} modified inplace with grad mode enabled.")
        )
    return start + _WHY_REFUSED[created]


def only_detached(counter: list[int], version: int) -> bool:
    """Is what happened since `version` no write, but detach_()? It is noted behind the counter."""
    return counter[0] - version == sum([at > version for at in counter[1:]])


def check_base(view: ViewMeta) -> None:
    """Raise if the base has changed its shape in place since the view was made: the operations that made the view no longer apply to it."""
    if view.base.array.strides != view.view_func.strides:
        raise errors.new(
            RuntimeError,
            "the base of this view has changed its shape in place (t_(), squeeze_(), ...) since the view was made.",
            why="minigrad makes a view's history again from its base after a write, and no longer knows how.",
            instead="make the view after the change of shape, or change the shape of a new tensor: x = x.t().",
        )


def requires(x: Any) -> bool:
    """Does a gradient reach `x`? A view requires gradients if its base does."""
    view = x.view_meta
    return (
        x.requires if view is None or x.version is INFERENCE else x.edge is not None or view.leaf or view.base.requires
    )


def refresh(x: Variable, always: bool = False) -> None:
    """Bring a view's place in the graph up to date: if its storage was written to, its history starts at its base's new history.

    Raises RuntimeError if it must not have one: while recording, or `always`.
    """
    view = x.view_meta
    base = view.base
    if x.version is INFERENCE:  # it has no history to follow
        return
    if x.edge is None and not base.requires:
        x.requires = view.leaf
        return
    x.requires = True
    if view.version == x.version[0]:
        return
    if only_detached(x.version, view.version):
        return
    if view.creation_meta:
        if always or state.grad:
            raise errors.new(RuntimeError, refusal(x, "its base or another view of its base has been"))
        return
    check_base(view)
    again = view_again(base, view.view_func)
    old, x.edge, x.requires = x.edge, again.edge, again.requires
    move_retained(x, old)
    view.version = x.version[0]  # last: if it raises above, the next access raises again
