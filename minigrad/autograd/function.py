"""torch.autograd.Function: an operation with a backward pass of your own.

What lives here: `Function`, its `ctx` and what `apply` does with them. What does not: the rows of the derivatives table (op.py), which are
how minigrad's own operations are written.

`ctx` is the node of the graph itself, as in PyTorch: what you keep on it, you find again as `y.grad_fn`. Tensors belong into
`save_for_backward`: it checks versions, keeps no reference cycle for a saved output, and gives the memory back after the backward pass.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import errors, provenance
from ..core.constants import zeros_like
from ..core.dispatch import handling_none, state
from ..core.facts import FunctionCalled, GradientCount, GradientShape, LeafWritten, OnceDifferentiable, SavedType
from ..core.grad_mode import no_grad
from ..core.node import FREED, LIVE, Node, move_retained, next_number, short_name
from ..core.saved import view_of
from ..core.variable import INFERENCE, alias, edge_of, leaf_edge, refresh, requires, wrap
from ..ops.shape import alias as view_as_self
from ..ops.shape import copy_slices
from . import inplace
from .anomaly import _lines
from .forward_mode import Level, base_of
from .graph import saved_tensors_hooks
from .profiler import record_function

if TYPE_CHECKING:
    from ..core.node import Edge
    from ..tensors.tensor import Tensor
    from ..tensors.tensor import Tensor as Variable  # its only direct subclass, with all the methods
else:
    from ..core.variable import Variable

_NAMES = ("dtype", "edges", "hooks", "info", "number", "provenance", "shape", "status")  # attributes of every node
VmapInfo = namedtuple("VmapInfo", ("batch_size", "randomness"))


class FunctionCtx:
    """What `forward` and `setup_context` may do with `ctx`."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (inputs, outputs, others; None is allowed) for `backward`, where they are `ctx.saved_tensors`. Call it once.

        Raises TypeError for anything but tensors.
        """
        for t in tensors:
            if t is not None and not isinstance(t, Variable):
                index, kind = [t is u for u in tensors].index(True), type(t).__name__
                raise errors.new(
                    TypeError,
                    f"save_for_backward can only save variables, but argument {index} is of type {kind}",
                    instead="keep numbers, shapes and flags as attributes: ctx.min_val = min_val.",
                    chapter="chapter 13, Your own function",
                    facts=SavedType(index, kind),
                )
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor) -> None:
        """Keep tensors for `jvp`, where they are `ctx.saved_tensors`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Mark the inputs that `forward` wrote to; they must be returned as outputs."""
        self.dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Mark the outputs that have no gradient (indices, masks)."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """False: `backward` gets None, not zeros, for outputs that no gradient arrived at."""
        self.materialize_grads = value


class BackwardCFunction(FunctionCtx, Node):
    """The node of a custom Function: one subclass for each, `<Name>Backward`. It has attributes, so `ctx.anything = ...` works."""

    saves = frees = ("saved",)  # the engine gives the saved tensors back after use
    runs_without_gradient = True
    materialize_grads = _materialize_non_diff_grads = True
    dirty: Any = ()
    non_differentiable: Any = ()
    to_save: tuple[Any, ...] = ()
    saved_for_forward: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()
    # What save_for_backward was given: None, a tensor with its version, an output's number, or what hooks packed
    saved: list[Any]
    is_tensor: list[bool]  # of the arguments
    constant_outputs: Any  # numbers of the outputs without gradient
    recorded: bool
    _forward_cls: Any  # the Function
    user_fields: dict = {}  # user attributes on ctx that collide with fields of Node (ctx.shape); set while backward runs

    # Saved tensors ------------------------------------------------------------------------------------------------------

    def keep(self, outputs: list[Tensor]) -> None:
        """After forward: take over what save_for_backward was given. An output is kept as an array and its number: no cycle."""
        hooks = next((h for h in reversed(state.handlers) if isinstance(h, saved_tensors_hooks)), None)
        # First: a hook that raises must not leave a cycle behind
        tensors, self.saved, self.to_save = (
            self.to_save,
            [],
            (),
        )
        for t in tensors:
            number = next((i for i, out in enumerate(outputs) if out is t), None) if t is not None else None
            if t is None:
                self.saved.append(None)
            elif hooks is not None:
                with handling_none():
                    packed = hooks.packed(t)
                self.saved.append((hooks, packed, edge_of(t) if number is None else number))
            elif number is not None:
                shell = alias(t)
                shell.edge, shell.requires, shell.view_meta = None, False, None
                self.saved.append((shell, t.version[0], number))
            else:
                self.saved.append((t, t.version[0], None))

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors of save_for_backward, in order. Raises RuntimeError if one was written to since, or if they were freed."""
        if self.status == FREED:
            raise errors.freed()
        if self.to_save:  # still in forward
            return tuple(self.to_save)
        return tuple([None if entry is None else self._opened(entry, i) for i, entry in enumerate(self.saved)])

    @property
    def saved_variables(self) -> Any:
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[_SavedEntry, ...]:
        """The saved values in order, to hang hooks on."""
        if self.status == FREED:
            raise errors.freed()
        return tuple([_SavedEntry(self, i) for i in range(len(self.saved))])

    def _opened(self, entry: tuple[Any, ...], position: int) -> Tensor:
        if isinstance(entry[0], saved_tensors_hooks):
            hooks, packed, place = entry
            out = hooks.unpacked(packed, place if isinstance(place, tuple) else None)
            return self._attached(out, place) if isinstance(place, int) else out
        t, version, number = entry
        if t.version[0] != version:
            origin = f"{number} of {short_name(self)}" if number is not None else ""
            if number is None:
                edge = edge_of(t)
                origin = f"{edge[1]} of {short_name(edge[0])}" if edge is not None and edge[0].edges else ""
            raise errors.modified(self.name(), f"saved_tensors[{position}]", t.array, t.version[0], version, origin)
        return t if number is None else self._attached(alias(t), number)

    def _attached(self, t: Tensor, number: int) -> Tensor:
        if t.array.dtype.kind == "f" and number not in self.constant_outputs:
            t.edge, t.requires = (self, number), self.recorded
        return t

    def release(self) -> None:
        self.status = FREED
        self.saved = []

    def saved_rows(self) -> list[Any]:
        """(name, tensor or array) for each saved tensor: what graph.saved_bytes counts."""
        return [
            (f"saved_tensors[{i}]", e[1] if isinstance(e[0], saved_tensors_hooks) else e[0])
            for i, e in enumerate(self.saved)
            if e is not None
        ]

    # Running ------------------------------------------------------------------------------------------------------------

    def run(self, g: Any, edges: Any) -> list[np.ndarray | None]:
        gs = g if type(self.shape) is list else [g]
        with no_grad():
            sent = self._backward(gs and [None if a is None else wrap(np.asarray(a)) for a in gs], edges)
        return [None if t is None else t.array for t in sent]

    def run_graph(self, g: Any, edges: Sequence[Any]) -> list[Tensor | None]:
        return self._backward(g if type(self.shape) is list else [g], edges)

    def _backward(self, gs: Any, edges: Any) -> list[Tensor | None]:
        several = type(self.shape) is list
        shapes, kinds = (self.shape, self.dtype) if several else ([self.shape], [self.dtype])
        if gs is None:
            gs = [None] * len(shapes)
        if self.materialize_grads:
            without_gradient = () if self._materialize_non_diff_grads else self.constant_outputs
            gs = [
                wrap(np.zeros(n, kind)) if g is None and kind is not None and i not in without_gradient else g
                for i, (g, n, kind) in enumerate(zip(gs, shapes, kinds, strict=True))
            ]
        function = self._forward_cls
        if function.backward is not Function.backward and function.vjp is not Function.vjp:
            raise errors.new(
                RuntimeError,
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them.",
            )
        rule = (
            function.vjp
            if function.backward is Function.backward and function.vjp is not Function.vjp
            else function.backward
        )
        if self.user_fields:
            with self._as_forward_left_it():
                sent = rule(self, *gs)
        else:
            sent = rule(self, *gs)
        sent = tuple(sent) if isinstance(sent, (tuple, list)) else (sent,)
        expected = len(self.is_tensor)
        if len(sent) > expected and all(s is None for s in sent[expected:]):
            sent = sent[:expected]
        if len(sent) != expected:
            raise errors.new(
                RuntimeError,
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, got {len(sent)})",
                f"{function.__name__}.forward takes {expected} input{'s' * (expected != 1)} (besides ctx); its backward returned "
                f"{len(sent)} value{'s' * (len(sent) != 1)}.",
                "backward returns one gradient for each input of forward, in order.",
                "return None in the places of inputs that need no gradient (numbers, flags, shapes).",
                "chapter 13, Your own function",
                GradientCount(function.__name__, expected, len(sent)),
            )
        out: list[Any] = []
        for position, (value, tensor) in enumerate(zip(sent, self.is_tensor, strict=True)):
            if tensor:
                out.append(self._checked(value, len(out), edges))
            elif value is not None:
                raise errors.new(
                    RuntimeError,
                    f"function {self.name()} returned a gradient different than None at position {position + 1}, but the "
                    "corresponding forward input was not a Variable",
                    instead="return None in that place: only tensors have gradients.",
                    chapter="chapter 13, Your own function",
                )
        return out

    @contextlib.contextmanager
    def _as_forward_left_it(self) -> Iterator[Any]:
        node_fields = {name: getattr(self, name) for name in self.user_fields if hasattr(self, name)}
        for name, value in self.user_fields.items():
            setattr(self, name, value)
        try:
            yield
        finally:
            for name, value in node_fields.items():
                setattr(self, name, value)

    def _checked(self, value: Tensor | None, index: int, edges: Sequence[Any]) -> Tensor | None:
        edge = edges[index]
        if value is None or edge is None:
            return None
        if not isinstance(value, Variable):
            raise RuntimeError(f"expected Variable or None (got {type(value).__name__})")
        node, number = edge
        shape = node.shape[number] if type(node.shape) is list else node.shape
        extra = value.array.ndim - len(shape)
        if extra < 0 or any(n != value.array.shape[extra + i] and n != 1 for i, n in enumerate(shape)):
            raise errors.new(
                RuntimeError,
                f"Function {self.name()} returned an invalid gradient at index {index} - got {list(value.array.shape)} but expected shape "
                f"compatible with {list(shape)}",
                why="A gradient has the shape of the tensor it belongs to.",
                instead="look at what backward returns in that place: a sum or a transpose is missing.",
                chapter="chapter 13, Your own function",
                facts=GradientShape(
                    type(self).__name__.removesuffix("Backward"), index, value.array.shape, tuple(shape)
                ),
            )
        return value

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"


class _SavedEntry:
    """One value that a custom Function saved (`grad_fn._raw_saved_tensors`)."""

    def __init__(self, node: Any, position: int) -> None:
        self.node, self.position = node, position

    def register_hooks(self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        """As saved_tensors_hooks, for this value. Raises RuntimeError if it is None, was freed, or has hooks."""
        entry = self.node.saved[self.position] if self.node.status != FREED else None
        if entry is None:
            why = "with value None is forbidden" if self.node.status != FREED else "after it has been freed."
            raise errors.new(RuntimeError, f"Calling register_hooks on a saved tensor {why}")
        if isinstance(entry[0], saved_tensors_hooks):
            raise errors.new(
                RuntimeError,
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed at a "
                "time.",
            )
        t, _, number = entry
        hooks = saved_tensors_hooks(pack_hook, unpack_hook)
        self.node.saved[self.position] = hooks, hooks.packed(t), edge_of(t) if number is None else number


class FunctionMeta(type):
    """Gives every Function the class of its nodes."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        cls._backward_cls = type(
            name + "Backward", (BackwardCFunction,), {"_forward_cls": cls, "__module__": "torch.autograd.function"}
        )
        super().__init__(name, bases, attrs)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base of operations with a backward pass of their own. Write `forward` and `backward` as static methods and call `apply`.

    What is asked for and not written raises NotImplementedError.

    >>> import minigrad as torch
    >>> class Square(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         x, = ctx.saved_tensors
    ...         return grad_output * 2 * x
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    generate_vmap_rule = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """forward(ctx, *inputs), or forward(*inputs) beside a `setup_context`. Runs without recording."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> Any:
        """Keep on ctx what backward needs, apart from `forward`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """One gradient for each input of forward, from one for each output."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Forward mode: the tangents of the outputs, from those of the inputs (zeros for tensors without, None for the rest)."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """vmap: returns (outputs, out_dims), from physical inputs whose batch dimension is at in_dims (None: not batched)."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap static method or set generate_vmap_rule=True."
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the "
            "class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        raise errors.new(
            RuntimeError,
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static "
            "forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)",
            facts=FunctionCalled(),
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, and record a node whose rule is `backward` if a tensor among the arguments requires gradients."""
        separate = cls.setup_context is not Function.setup_context
        if separate or kwargs:
            args = _positional(cls, args, kwargs, separate)
        if state.transforms:
            level = _transformed(cls, args, separate)
            if level is not None:
                named = {k: v for k, v in kwargs.items() if isinstance(v, Variable)}
                if named and cls.vmap is not Function.vmap:
                    raise NotImplementedError(
                        "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only Tensors to "
                        f"autograd.Function. Got: {named}"
                    )
                return _batched(cls, args, level)
        if state.profiler is not None:
            with record_function(cls.__name__):
                return _apply(cls, args, separate)
        return _apply(cls, args, separate)


def _positional(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], separate: bool) -> tuple[Any, ...]:
    """All arguments of forward in order, defaults filled in."""
    signature = inspect.signature(cls.forward)
    bound = signature.bind(*(args if separate else (None, *args)), **kwargs)
    bound.apply_defaults()
    return bound.args if separate else bound.args[1:]


def _transformed(cls: Any, args: Any, separate: bool) -> Any:
    """Under torch.func: raise where PyTorch does; return the vmap level if it must run `vmap` itself."""
    if not separate:
        raise errors.new(
            RuntimeError,
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the "
            "setup_context staticmethod. For more details, please see https://pytorch.org/docs/main/notes/extending.func.html",
            instead=f"write {cls.__name__} with forward(*inputs) and setup_context(ctx, inputs, output).",
        )
    levels = [a.level for a in args if isinstance(a, Variable) and a.batched]
    if not levels:
        return None
    more = " For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
    if cls.vmap is not Function.vmap:
        if cls.generate_vmap_rule:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap staticmethod. "
                "Please set "
                "generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity." + more
            )
    elif not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the vmap "
            "staticmethod or set "
            "generate_vmap_rule=True." + more
        )
    return max(levels, key=lambda level: level.number)


def _batched(cls: Any, args: Any, level: Any) -> Any:
    """Under vmap: compute all samples at once, outside of the level; and one sample inside if a transform there differentiates."""
    inside = [a.value if level.holds(a) else a for a in args]
    in_dims = tuple([0 if level.holds(a) else None for a in args])
    with level.below():
        if cls.vmap is not Function.vmap:
            values, out_dims = _vmap_returns(cls.vmap(VmapInfo(level.size, level.randomness), in_dims, *inside))
            several = isinstance(values, tuple)
            out_dims = out_dims if isinstance(out_dims, tuple) else (out_dims,) * (len(values) if several else 1)
            values = [
                level.full(v) if d is None else v.movedim(d, 0) if d else v
                for v, d in zip(values if several else (values,), out_dims, strict=True)
            ]  # fmt: skip
        else:
            values = _Vmapped.apply(cls, level, in_dims, *inside)
            several = isinstance(values, tuple)
            values = list(values) if several else [values]
    tensors = [a for a in args if isinstance(a, Variable)]
    dual = any([h.tangent(a) is not None for h in state.handlers if isinstance(h, Level) for a in tensors])
    if dual or (state.grad and any([a.requires_grad for a in tensors])):
        outs = _apply(cls, args, True)
        outs = list(outs) if several else [outs]
        for out, value in zip(outs, values, strict=True):
            out.value = value
    else:
        outs = [level.wrap(v, 0) for v in values]
    return tuple(outs) if several else outs[0]


def _vmap_returns(returned: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a vmap staticmethod returned, as (output, out_dims). Raises RuntimeError unless it is that."""
    what = f"{len(returned)} returns" if isinstance(returned, tuple) else f"a {type(returned)}"
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise errors.new(
            RuntimeError,
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the output. "
            f"Got {what} instead",
        )
    output, out_dims = returned
    count = len(output) if isinstance(output, tuple) else None
    if isinstance(out_dims, tuple) and len(out_dims) != count:
        returned_dim, requested = [
            "*" if n is None else "TreeSpec(tuple, None, [" + ",\n  ".join("*" * n) + "])"
            for n in (len(out_dims), count)
        ]
        raise errors.new(
            RuntimeError,
            f"The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected out_dims={out_dims} to "
            f"be compatible with the structure of `output`. out_dims has structure {returned_dim} but output has structure {requested}. "
            "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html",
        )
    return output, out_dims


def _apply(cls: Any, args: Any, separate: bool) -> Any:
    tensors = [a for a in args if isinstance(a, Variable)]
    node = object.__new__(cls._backward_cls)
    node.status, node.hooks, node.info = LIVE, None, None
    node.is_tensor = [isinstance(a, Variable) for a in args]
    node.needs_input_grad = tuple([isinstance(a, Variable) and a.requires_grad for a in args])
    node.constant_outputs, node.saved = (), []
    node.recorded = state.grad and any(node.needs_input_grad)
    node.edges = tuple([edge_of(t) for t in tensors]) if node.recorded else ()
    node.number = next_number()  # after the edges, which may have made nodes of views: an edge points to an older node
    node_fields = {name: getattr(node, name) for name in _NAMES if hasattr(node, name)}
    levels = [h for h in state.handlers if isinstance(h, Level)]
    tangents = {level: [level.tangent(a) if isinstance(a, Variable) else None for a in args] for level in levels}
    outer = state.handlers
    # Tangents are propagated by jvp, not by the operations of forward
    state.handlers = tuple([h for h in outer if not isinstance(h, Level)])
    try:
        with no_grad():
            if separate:
                output = cls.forward(*args)
                cls.setup_context(node, args, output)
            else:
                output = cls.forward(node, *args)
    finally:
        state.handlers = outer
        user_fields = {
            name: getattr(node, name) for name in _NAMES if getattr(node, name, None) is not node_fields.get(name)
        }
        if user_fields:
            node.user_fields = user_fields
            for name in user_fields:
                setattr(node, name, node_fields.get(name))
    several = isinstance(output, tuple)
    raw = output if several else (output,)
    if separate:
        _check_saved(node, tensors, raw)
    for t in node.dirty:
        if not any(t is a for a in tensors):
            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be passed to "
                "ctx.mark_dirty().",
                UserWarning,
                stacklevel=3,
            )
        if not any(t is out for out in raw):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace "
                "must all be outputs of the Function."
            )
        if t.version is not INFERENCE:
            t.version[0] += 1
    if node.dirty and node.recorded:
        pairs = zip(tensors, node.edges, strict=True)
        node.edges = tuple(
            [inplace.edge_before(t, edge) if any(t is d for d in node.dirty) else edge for t, edge in pairs]
        )
        node.number = next_number()
    outs = [_as_output(out, tensors, node) if isinstance(out, Variable) else out for out in raw]
    shapes = [out.array.shape if isinstance(out, Variable) else () for out in outs]
    kinds = [out.array.dtype if isinstance(out, Variable) else None for out in outs]
    node.shape, node.dtype = (shapes, kinds) if several else (shapes[0], kinds[0])
    for out in () if state.grad else outs:
        if isinstance(out, Variable):
            out.detached_by = "no_grad"
    node.constant_outputs = {
        i
        for i, (out, kind) in enumerate(zip(raw, kinds, strict=True))
        if kind is None or kind.kind != "f" or any(out is m for m in node.non_differentiable)
    }
    if node.recorded:
        provenance.leave(node, tensors)
        for number, out in enumerate(outs):
            if number not in node.constant_outputs:
                _set_history(out, node, number, any(out is d for d in node.dirty), len(outs))
            elif isinstance(out, Variable):
                out.edge, out.requires, out.detached_by = None, False, "marked"
        node.keep(outs)
        if state.anomaly:
            node.metadata.setdefault("traceback_", _lines())
    elif any(any(t is not None for t in ts) for ts in tangents.values()):
        node.keep(outs)
    _mark_views(node, outs)
    for level, ts in tangents.items():
        if any(t is not None for t in ts):
            _push(cls, node, level, args, ts, outs)
        else:
            level.none(outs)
    return tuple(outs) if several else outs[0]


def _check_saved(node: Any, inputs: Any, outputs: tuple[Tensor, ...]) -> None:
    """setup_context sees the input that forward returned as it is, and apply returns another tensor: it must not be saved."""
    for t in (*node.to_save, *node.saved_for_forward):
        if any(t is i for i in inputs) and any(t is o for o in outputs) and not any(t is d for d in node.dirty):
            raise RuntimeError(
                "An input that has been returned as-is as output is being saved for backward. This is not supported if you override "
                "setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside the "
                "forward function itself."
            )


def _as_output(out: Any, inputs: Any, node: Any) -> Tensor:
    """What `apply` returns for an output of forward: a view of an input that forward handed on as it is."""
    if any(out is d for d in node.dirty) or not any(out is i for i in inputs):
        return out
    shell = alias(out)
    shell.edge, shell.meta, shell.view_meta, shell.requires = None, None, None, False
    # Else PyTorch detaches it
    if not requires(out) or (node.recorded and not any(out is m for m in node.non_differentiable)):
        with no_grad():
            view_of(shell, out, view_as_self, (), None)
    return shell


def _mark_views(node: Any, outs: list[Tensor]) -> None:
    """No write may go around the custom backward: views that forward returned are created "in a custom Function"."""
    outs = [out for out in outs if isinstance(out, Variable)]
    differentiable = sum(out.edge is not None and out.edge[0] is node for out in outs)
    for out in outs:
        if out.view_meta is not None and not any(out is d for d in node.dirty):
            out.view_meta.creation_meta = "multiple" if differentiable > 1 else "function"
            if out.edge is not None and out.edge[0] is node:
                out.view_meta.version = out.version[0]


def _set_history(out: Tensor, node: Any, number: int, dirty: bool, count: int) -> None:
    if not dirty:
        out.edge, out.requires = (node, number), True
        return
    if requires(out) and out.edge is None:
        raise errors.new(
            RuntimeError,
            "a leaf Variable that requires grad has been used in an in-place operation.",
            facts=LeafWritten(),
        )
    if out.view_meta is not None and count > 1:
        raise errors.new(
            RuntimeError,
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one "
            "Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view (using "
            ".clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one doing "
            "the inplace that returns a single Tensor and a second one that does the other operations). You can ask on the forum "
            "https://discuss.pytorch.org/ if you need help to do this change.",
        )
    inplace.check(out)
    if out.view_meta is None:
        old, out.edge, out.requires = out.edge, (node, number), True
        move_retained(out, old)
        return
    value = wrap(out.array)
    value.edge, value.requires = (node, number), True
    base = out.view_meta.base  # the base gets the history, and the view its place in it
    new = copy_slices.record(base.array, alias(base), value, out.view_meta.view_func)
    old, base.edge, base.requires = base.edge, new.edge, True
    move_retained(base, old)
    out.view_meta.version = -1
    refresh(out)


def _push(
    cls: Any, node: Any, level: Level, inputs: tuple[Any, ...], tangents: list[Tensor | None], outs: list[Tensor]
) -> None:
    """Forward mode: the tangents that `jvp` gives to the outputs."""
    outer = state.handlers
    state.handlers = outer[: outer.index(level)]
    saved, node.saved = node.saved, [(t, t.version[0], None) for t in node.saved_for_forward]
    versions = [None if t is None else t.version[0] for t in tangents]
    passed = tangents
    if node.materialize_grads:
        passed = [zeros_like(x) if t is None and _continuous(x) else t for x, t in zip(inputs, tangents, strict=True)]
    try:
        result = cls.jvp(node, *passed)
    finally:
        state.handlers, node.saved = outer, saved
    result = result if isinstance(result, tuple) else (result,)
    if len(result) != len(outs):
        raise errors.new(
            RuntimeError,
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outs)} but got {len(result)})",
        )
    for i, (out, t) in enumerate(zip(outs, result, strict=True)):
        if t is not None and not isinstance(t, Variable):
            raise errors.new(RuntimeError, f"expected Variable or None (got {type(t).__name__}) for grad output {i}.")
        if not _continuous(out) or any(out is m for m in node.non_differentiable):
            if t is not None:
                raise errors.new(
                    RuntimeError,
                    f"Function's jvp returned a gradient at position {i}, but  the corresponding forward output is not a differentiable "
                    "Tensor.You should return None at that position instead.",
                )
        elif t is not None:
            _attach(node, level, out, t, inputs, tangents, versions)


def _continuous(x: Any) -> bool:
    return isinstance(x, Variable) and x.array.dtype.kind == "f"


def _check_view(tangent: Tensor, before: Tensor) -> None:
    """forward returned a view: jvp must return a view of the input's tangent `before`, or of the same base where that is a view."""
    if tangent.view_meta is None:
        raise errors.new(
            RuntimeError,
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view.",
        )
    if tangent.view_meta.base is not base_of(before):
        same = "of the given grad input" if before.view_meta is None else "of the same base as the given grad input"
        raise errors.new(
            RuntimeError, f"A custom Function is returning a view but the jvp is not returning a view {same}."
        )


def _attach(
    node: Any,
    level: Level,
    out: Tensor,
    tangent: Any,
    inputs: tuple[Any, ...],
    tangents: list[Tensor | None],
    versions: list[int | None],
) -> None:
    """Give an output the tangent that jvp returned, if that is what forward did to the numbers: written in place, or a view."""
    if out.array.shape != tangent.array.shape:
        raise errors.new(
            RuntimeError,
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is "
            f"of size {list(out.array.shape)} while the given forward gradient is of size {list(tangent.array.shape)}.",
        )
    if any(out is d for d in node.dirty):
        for x, before, version in zip(inputs, tangents, versions, strict=True):
            if x is out and before is not None:
                if tangent.version[0] == version:
                    raise errors.new(
                        RuntimeError,
                        "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an "
                        "input inplace, then the jvp function must modify the corresponding gradient inplace.",
                    )
                if tangent is not before:
                    raise errors.new(
                        RuntimeError,
                        "An inplace custom Function is not returning the forward mode gradients as-is. If the forward is modifying an "
                        "input inplace, then the jvp function must modify the gradient inplace and return it as-is.",
                    )
        level.replace(out, tangent)
        return
    root = None
    for x, before in zip(inputs, tangents, strict=True):
        if before is not None and out.view_meta is not None and out.view_meta.base is base_of(x):
            _check_view(tangent, before)
            root = level.root(x)
    level.attach(out, tangent, root)


class _Saved(FunctionCtx):
    """The ctx of one sample, behind the node of all samples."""

    materialize_grads = True
    dirty = non_differentiable = to_save = saved_for_forward = ()

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        return self.to_save


class _Vmapped(Function):
    """A custom Function on all samples of a vmap level: forward and backward run inside the level."""

    generate_vmap_rule = True  # of an outer level, whose samples these are

    @staticmethod
    def forward(cls: Any, level: Any, in_dims: Any, *values: Any) -> Any:
        inputs = [v if d is None else level.wrap(v, 0) for v, d in zip(values, in_dims, strict=True)]
        with level:
            output = cls.forward(*inputs)
        return tuple([level.unwrap(o, 0) for o in output]) if isinstance(output, tuple) else level.unwrap(output, 0)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        cls, level, in_dims, *values = inputs
        inputs = tuple([v if d is None else level.wrap(v, 0) for v, d in zip(values, in_dims, strict=True)])
        several = isinstance(output, tuple)
        results = output if several else (output,)
        outs = [level.wrap(v, 0) for v in results]
        ctx.inner, ctx.level, ctx.in_dims = _Saved(), level, in_dims
        ctx.inner.needs_input_grad = ctx.needs_input_grad[3:]
        with level:
            cls.setup_context(ctx.inner, inputs, tuple(outs) if several else outs[0])
        saved, ctx.inner.to_save = ctx.inner.to_save, ()
        ctx.cls, ctx.batched = cls, [t is not None and level.holds(t) for t in saved]
        ctx.save_for_backward(
            *[
                next((v for o, v in zip(outs, results, strict=True) if o is t), t.value) if b else t
                for t, b in zip(saved, ctx.batched, strict=True)
            ]
        )
        ctx.mark_non_differentiable(
            *[v for o, v in zip(outs, results, strict=True) if any(o is m for m in ctx.inner.non_differentiable)]
        )

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        level = ctx.level
        inner: Any = _Saved()
        inner.__dict__.update(ctx.inner.__dict__)
        inner.to_save = tuple(
            [level.wrap(t, 0) if b else t for t, b in zip(ctx.saved_tensors, ctx.batched, strict=True)]
        )
        with level:
            sent = ctx.cls.backward(inner, *[None if g is None else level.wrap(g, 0) for g in grads])
        sent = sent if isinstance(sent, tuple) else (sent,)
        unwrapped = [None if g is None else level.unwrap(g, 0) for g in sent]
        return (
            None,
            None,
            None,
            *[g if d is not None or g is None else g.sum(0) for g, d in zip(unwrapped, ctx.in_dims, strict=True)],
        )

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        level = ctx.level
        inner: Any = _Saved()
        inner.__dict__.update(ctx.inner.__dict__)
        inner.to_save = tuple(inner.saved_for_forward)
        with level:
            wrapped = [
                t if t is None or d is None else level.wrap(t, 0)
                for t, d in zip(tangents[3:], ctx.in_dims, strict=True)
            ]
            result = ctx.cls.jvp(inner, *wrapped)
        result = result if isinstance(result, tuple) else (result,)
        return tuple([None if t is None else level.unwrap(t, 0) for t in result])


class Error(Node):
    """The node behind gradients that must not be differentiated again."""

    __slots__ = ("message",)

    def __init__(self, message: str, edges: list[Any]) -> None:
        self.message, self.status, self.hooks, self.info = message, LIVE, None, None
        self.edges = tuple(edges)
        self.number = next_number()

    def name(self) -> str:
        return "torch::autograd::Error"

    def run(self, g: Any, edges: tuple[Any, ...]) -> None:
        raise errors.new(RuntimeError, self.message, facts=OnceDifferentiable())

    run_graph = run


def _leaf_edge(t: Tensor) -> Edge:
    """Where the gradient of a new leaf with the numbers of `t` goes. (requires_grad_() would refuse inside a transform.)"""
    leaf = t.detach()
    leaf.view_meta, leaf.requires = None, True
    return leaf_edge(leaf)


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates `backward`: it runs without recording, and differentiating its results raises RuntimeError."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not state.grad or not any(isinstance(a, Variable) and a.requires_grad for a in args):
            return outputs
        several = isinstance(outputs, tuple)
        outputs = outputs if several else (outputs,)
        shells = [None if t is None else alias(t) for t in outputs]
        error = Error(
            "trying to differentiate twice a function that was marked with @once_differentiable",
            [None if t is None else _leaf_edge(t) for t in outputs],
        )
        stored = [t for t in shells if t is not None]
        error.shape, error.dtype = [t.array.shape for t in stored], [t.array.dtype for t in stored]
        for number, t in enumerate(stored):
            t.edge, t.requires = (error, number), True
        return tuple(shells) if several else shells[0]

    return wrapper


class InplaceFunction(Function):
    """PyTorch's name for Functions with an `inplace` flag."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
