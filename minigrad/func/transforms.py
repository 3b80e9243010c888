"""torch.func: function transforms grad, vjp, jvp, Jacobians and vmap.

What lives here: the transforms and their arguments. What does not: how a batch runs (batching.py), how tangents move
(autograd/forward_mode.py) and the backward pass (autograd/engine.py).

A reverse transform runs the function on fresh leaves (or on aliases of tensors that are differentiated outside) and runs a backward pass to
exactly these. Its results must not stay attached to its own leaves. So it marks these as closed in their nodes' metadata, and a result
whose graph leads to closed leaves only is detached:

    outer tensor -> alias -> function -> output     an open end outside: the output stays in the outer graph
                    leaf  -> function -> output     closed ends only: the output is detached, its graph freed

Transforms nest in any order.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .. import autograd
from ..autograd.forward_mode import Level
from ..autograd.graph import saved_tensors_hooks
from ..core import errors
from ..core.dispatch import Handler, state
from ..core.facts import NotDifferentiable
from ..core.grad_mode import leave_inference
from ..core.node import AccumulateGrad
from ..core.storage import owner_of
from ..core.variable import INFERENCE, alias, edge_of, leaf_edge, wrap
from ..ops import joins, shape
from ..random import get_rng_state, set_rng_state
from ..tensors.create import zeros_like
from ..tensors.tensor import Tensor
from .batching import BatchLevel, NumbersNeeded
from .pytree import broadcast_to, flatten, map_tree, unflatten

if TYPE_CHECKING:
    from ..core.node import Node
    from ..core.op import Op
    from .pytree import Spec

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


# Reverse mode: the leaves of one transform -----------------------------------------------------------------------------


class _Transform:
    """Context of a running transform: recording is on, inference mode is off; both are restored at the end.

    hooks: saved-tensor hooks may be used; record: forward mode records only if that was on outside."""

    def __init__(self, hooks: bool = True, record: bool = True) -> None:
        self.hooks, self.record = hooks, record

    def __enter__(self) -> Self:
        if not self.hooks and any([isinstance(h, saved_tensors_hooks) for h in state.handlers]):
            raise RuntimeError(_NO_HOOKS)
        self.outer = state.grad
        self.before = state.grad, state.transforms, state.no_saved_hooks, state.inference, state.handlers
        state.grad, state.transforms = self.record or state.grad, state.transforms + 1
        if state.inference:
            leave_inference()
        if not self.hooks:
            state.no_saved_hooks = _NO_HOOKS
        return self

    def __exit__(self, *exc: Any) -> None:
        state.grad, state.transforms, state.no_saved_hooks, state.inference, state.handlers = self.before


_NO_HOOKS = "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use case."


def _leaf(x: Tensor) -> Tensor:
    """A fresh leaf, or an alias of `x` if an outer transform or graph already differentiates it."""
    if not isinstance(x, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
    if x.array.dtype.kind != "f":
        raise errors.new(
            RuntimeError,
            "only Tensors of floating point dtype can require gradients",
            facts=NotDifferentiable(str(x.dtype)),
        )
    if _has_open_end(x):
        return shape.alias(x)
    new = alias(x)
    new.view_meta = new.edge = None
    new.requires = True
    if x.version is INFERENCE:  # its leaf counts its writes
        new.version = [0]
    return new


def _nodes_of(leaves: list[Tensor]) -> list[Node]:
    return [leaf_edge(x)[0] for x in leaves if x.edge is None]


def _ends(node: Node, seen: set, found: set) -> None:
    """The ends of the graph below `node`, apart from closed ones."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if type(node) is AccumulateGrad:
            if not (node.info and node.info.get("closed")):
                found.add(node)
        else:
            stack += [edge[0] for edge in node.edges if edge is not None]


def _open_ends(x: Tensor) -> set:
    """The leaves, not closed, that `x` depends on."""
    ends: set[Any] = set()
    seen: set[Any] = set()
    edge = edge_of(x)
    if edge is not None:
        _ends(edge[0], seen, ends)
    return ends


def _has_open_end(x: Tensor) -> bool:
    """Does `x` depend on a leaf that is not closed? (A result may depend on none: of a view made under no_grad, say.)"""
    edge = edge_of(x)
    seen, stack = set(), [edge[0]] if edge is not None else []
    while stack:
        node = stack.pop()
        if type(node) is AccumulateGrad:
            if not (node.info and node.info.get("closed")):
                return True
        elif node not in seen:
            seen.add(node)
            stack += [edge[0] for edge in node.edges if edge is not None]
    return False


def _close(own_nodes: list[Node]) -> None:
    for node in own_nodes:
        node.metadata["closed"] = True


def _released(x: Any, outer: bool = True) -> Tensor:
    """`x` without the part of its graph that leads to closed leaves only; without any graph unless recording was on outside."""
    if not isinstance(x, Tensor):
        return x
    if not outer:  # detached, but for tangents
        value = alias(x)
        value.edge = value.view_meta = None
        value.requires = False
        if x.batched:
            value.value = _released(x.value, False)
        if value.meta is not None and value.meta.tangents:
            value.meta.tangents = {
                level: t._replace(value=_released(t.value, False)) for level, t in value.meta.tangents.items()
            }
        return value
    value = x
    if x.batched:
        inner = _released(x.value)
        if inner is not x.value:
            value = alias(x)
            value.value = inner
    if x.requires_grad and not _open_ends(x):
        value = alias(value)
        value.edge = value.view_meta = None
        value.requires = False
    if value.meta is not None and value.meta.tangents:
        value.meta.tangents = {level: t._replace(value=_released(t.value)) for level, t in value.meta.tangents.items()}
    return value


def _pull(
    outputs: list[Tensor],
    leaves: list[Tensor],
    cotangents: list[Tensor | None],
    own_nodes: Any,
    outer: bool,
    keep: bool = False,
) -> list[Tensor]:
    """The gradients at `leaves`, recorded only if an outer transform or graph may differentiate them (`outer`: is recording on there?)."""
    own_nodes = set(own_nodes)
    record = bool(state.handlers) or (
        outer
        and (
            any([_open_ends(o) - own_nodes for o in outputs])
            or any([c is not None and c.requires_grad for c in cotangents])
        )
    )
    used = [(o, c) for o, c in zip(outputs, cotangents, strict=True) if o.requires_grad]
    if not used or not leaves:
        return [zeros_like(x) for x in leaves]
    grads = autograd.grad(
        [o for o, _ in used],
        leaves,
        [c for _, c in used],
        retain_graph=keep or record,
        create_graph=record,
        allow_unused=True,
    )
    return [zeros_like(x) if g is None else g for x, g in zip(leaves, grads, strict=True)]


def _check_aux(aux: Any) -> None:
    for x in flatten(aux)[0]:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")


def _argnums(argnums: int | tuple[int, ...], args: tuple[Any, ...]) -> tuple[int, ...]:
    """The positions as a tuple, counted from the front."""
    n = len(args)
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    nums = (argnums,) if isinstance(argnums, int) else argnums
    if not nums:
        raise RuntimeError("argnums must be non-empty")
    for a in nums:
        if not isinstance(a, int):
            raise RuntimeError(f"argnum must be int, got: {type(a)}")
        if not -n <= a < n:
            raise RuntimeError(f"Got argnum={a}, but only {n} positional inputs")
    nums = tuple([a % n for a in nums])
    if len(set(nums)) != len(nums):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return nums


def _chosen(args: tuple[Any, ...], argnums: int | tuple[int, ...]) -> Any:
    nums = _argnums(argnums, args)
    return args[nums[0]] if isinstance(argnums, int) else tuple([args[i] for i in nums])


def _with(args: Any, argnums: int | tuple[int, ...], new: Any) -> Any:
    """`args` with those at argnums replaced."""
    nums = _argnums(argnums, args)
    new = (new,) if isinstance(argnums, int) else new
    args = list(args)
    for i, value in zip(nums, new, strict=True):
        args[i] = value
    return args


def _of_chosen(
    func: Callable[..., Any], argnums: int | tuple[int, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """`func` as a function of the chosen arguments alone, and these as a tuple."""
    chosen = _chosen(args, argnums)
    one = isinstance(argnums, int)
    return lambda *new: func(*_with(args, argnums, new[0] if one else new), **kwargs), (chosen,) if one else chosen


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns (gradient, value) of `func`, which returns one number; with has_aux (gradient, (value, aux)).
    Raises RuntimeError unless the value is one 0-d tensor.

    >>> import minigrad as torch
    >>> torch.func.grad_and_value(lambda x: (x ** 3).sum())(torch.tensor([1., 2.]))
    (tensor([ 3., 12.]), tensor(9.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with _Transform(hooks=False) as t:
            flat, spec = flatten(_chosen(args, argnums))
            leaves = [_leaf(x) for x in flat]
            own_nodes = _nodes_of(leaves)
            output = func(*_with(args, argnums, unflatten(leaves, spec)), **kwargs)
            aux = None
            if has_aux:
                if not (isinstance(output, tuple) and len(output) == 2):
                    raise RuntimeError(
                        "grad_and_value(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True"
                    )
                output, aux = output
                _check_aux(aux)
            if not isinstance(output, Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
                )
            if output.dim() != 0:
                raise errors.new(
                    RuntimeError,
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?",
                    f"The function returned a tensor of shape {tuple(output.shape)}.",
                    "A gradient says how one number changes, and here are several.",
                    "reduce it in the function (.sum() or .mean()); jacrev(f) gives the derivative of every output.",
                    "chapter 12, Forward mode and reverse mode",
                )
            grads = _pull([output], leaves, [None], own_nodes, t.outer)
            _close(own_nodes)
            gradient = unflatten([_released(g, t.outer) for g in grads], spec)
            output = _released(output, t.outer)
            aux = map_tree(lambda a: _released(a, t.outer), aux) if has_aux else None
        return (gradient, (output, aux)) if has_aux else (gradient, output)

    return wrapper


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of `func`, which returns one number, by the argument(s) at `argnums`.

    argnums  an int, or a tuple of ints (then a tuple of gradients); an argument may be a dict or list of tensors
    has_aux  `func` returns (value, aux), and so the result is (gradient, aux)

    >>> import minigrad as torch
    >>> from minigrad.func import grad
    >>> grad(lambda x: (x ** 3).sum())(torch.tensor([1., 2., 3.]))
    tensor([ 3., 12., 27.])
    >>> grad(grad(torch.sin))(torch.tensor(0.5)) == -torch.sin(torch.tensor(0.5))
    tensor(True)
    """
    inner = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = inner(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """(func(*primals), vjp_fn): vjp_fn takes one cotangent for each output and returns a tuple with one gradient for each primal.

    >>> import minigrad as torch
    >>> out, vjp_fn = torch.func.vjp(lambda x: x ** 2, torch.tensor([1., 2.]))
    >>> vjp_fn(torch.tensor([1., 10.]))
    (tensor([ 2., 40.]),)
    """
    output, pull, aux = _vjp(func, primals, has_aux)
    return (output, pull, aux) if has_aux else (output, pull)


def _vjp(func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool = False) -> tuple[Any, ...]:
    with _Transform(hooks=False) as t:
        flat, spec = flatten(tuple(primals))
        leaves = [_leaf(x) for x in flat]
        own_nodes = _nodes_of(leaves)
        output = func(*unflatten(leaves, spec))
        aux = None
        if has_aux:
            if not (isinstance(output, tuple) and len(output) == 2):
                raise RuntimeError(
                    "vjp(f, *primals): output of function f should be a tuple: (output, aux) if has_aux is True"
                )
            output, aux = output
            _check_aux(aux)
        outs, out_spec = flatten(output)
        if not outs or outs == [None]:
            raise RuntimeError(
                f"vjp(f, *primals): Expected f to be a function that has non-empty output (got output = {outs})"
            )
        for o in outs:
            if not isinstance(o, Tensor):
                raise RuntimeError(
                    f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type {type(o)}"
                )
        _close(own_nodes)
        result = unflatten([_released(o, t.outer) for o in outs], out_spec)
        aux = map_tree(lambda a: _released(a, t.outer), aux) if has_aux else None

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        passed, given_spec = flatten(cotangents)
        if given_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. cotangents: "
                f"{given_spec}, primal output: {out_spec}"
            )
        with _Transform() as inner:
            gradients = [
                _released(g, inner.outer) for g in _pull(outs, leaves, passed, own_nodes, inner.outer, keep=True)
            ]
        return unflatten(gradients, spec)

    return result, pull, aux


# Forward mode --------------------------------------------------------------------------------------------------------------


def jvp(
    func: Any,
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """(func(*primals), the derivative along `tangents`), in one forward pass.
    Raises RuntimeError where primals and tangents differ in structure or shape, or `func` returns no tensors, ValueError for whole numbers.

    >>> import minigrad as torch
    >>> torch.func.jvp(torch.sin, (torch.tensor(0.),), (torch.tensor(2.),))
    (tensor(0.), tensor(2.))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    flat, spec = flatten(primals)
    passed, given_spec = flatten(tangents)
    if spec != given_spec:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with structure {given_spec}"
        )
    _check_tensors(flat, "primals")
    _check_tensors(passed, "tangents")
    for x, t in zip(flat, passed, strict=True):
        if x.shape != t.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
                f"Tensor is of size {list(x.shape)} while the given forward gradient is of size {list(t.shape)}."
            )
        if x.array.dtype.kind != "f":
            raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")
    level = Level()
    with _Transform(record=False), level:
        duals = [shape.alias(x) for x in flat]
        for x, t in zip(duals, passed, strict=True):
            level.attach(x, t)
        output = func(*unflatten(duals, spec))
    aux = None
    if has_aux:
        if not (isinstance(output, tuple) and len(output) == 2):
            raise RuntimeError(
                "jvp(f, primals, tangents): output of function f should be a tuple: (output, aux) if has_aux is True"
            )
        output, aux = output
        _check_aux(aux)
    outs, out_spec = flatten(output)
    if not outs or outs == [None]:
        raise RuntimeError(
            f"jvp(f, primals, tangents): Expected f to be a function that has non-empty output (got output = {outs})"
        )
    for o in outs:
        if not isinstance(o, Tensor):
            raise RuntimeError(
                f"jvp(f, primals, tangents): expected f(*primals) to return only tensors, got unsupported type {type(o)}"
            )
    with _Transform(record=False):
        pushed = [level.tangent(o) for o in outs]
    if strict and None in pushed:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with strict=True."
        )
    level.close()
    plain = unflatten([alias(o) for o in outs], out_spec)
    pushed = unflatten([zeros_like(o) if t is None else t for o, t in zip(outs, pushed, strict=True)], out_spec)
    return (plain, pushed, aux) if has_aux else (plain, pushed)


def _check_tensors(values: list[Tensor], argument: str) -> None:
    if not values:
        raise RuntimeError(f"jvp(f, primals, tangents): Expected {argument} to contain at least one Tensor.")
    for x in values:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"jvp(f, primals, tangents): Expected {argument} to only contain Tensors, got {type(x)}")


def linearize(func: Callable[..., Any], *primals: Any) -> Any:
    """(func(*primals), jvp_fn): jvp_fn(*tangents) is the derivative along tangents at these primals, without running `func` again.

    The recorded graph is pulled back once with a cotangent u; the result is linear in u, and its transpose is the jvp.
    `jvp_fn` raises RuntimeError for tangents of another structure, shape or dtype.
    """
    flat, spec = flatten(tuple(primals))
    with _Transform() as t:
        leaves = [_leaf(x) for x in flat]
        own_nodes = _nodes_of(leaves)
        outs, out_spec = flatten(func(*unflatten(leaves, spec)))
        us = [zeros_like(o, requires_grad=True) for o in outs]
        used = [(o, u) for o, u in zip(outs, us, strict=True) if o.requires_grad]
        pulled: Sequence[Any] = [None] * len(leaves)
        if used:
            pulled = autograd.grad(
                [o for o, _ in used], leaves, [u for _, u in used], create_graph=True, allow_unused=True
            )
        _close(own_nodes)
        output = unflatten([_released(o, t.outer) for o in outs], out_spec)
    own_us = _nodes_of(us)
    _close(own_us)

    def jvp_fn(*tangents: Any) -> Any:
        passed, given_spec = flatten(tangents)
        if given_spec != spec:
            raise RuntimeError(f"Expected the tangents {given_spec} to have the same argspec as the primals {spec}")
        for i, (x, v) in enumerate(zip(flat, passed, strict=True)):
            if x.shape != v.shape:
                raise RuntimeError(
                    f"tangent:{i} with shape {v.shape} in flattened pytree doesn't match the shape {x.shape} of the corresponding primal."
                )
            if x.dtype != v.dtype:
                raise RuntimeError(
                    f"tangent:{i} with dtype {v.dtype} in flattened pytree doesn't match the dtype {x.dtype} of the corresponding primal."
                )
        pairs = [(g, v) for g, v in zip(pulled, passed, strict=True) if g is not None and g.requires_grad]
        with _Transform() as inner:
            grads = _pull([g for g, _ in pairs], us, [v for _, v in pairs], own_us, inner.outer, keep=True)
            return unflatten([_released(v, inner.outer) for v in grads], out_spec)

    return output, jvp_fn


# Jacobians -----------------------------------------------------------------------------------------------------------------


def _basis(tensors: list[Tensor]) -> list[Tensor]:
    """The unit vectors of all tensors together, one row each: for each tensor (rows, *shape)."""
    sizes = [x.numel() for x in tensors]
    total, start, out = sum(sizes), 0, []
    for x, n in zip(tensors, sizes, strict=True):
        rows = np.zeros((total, n), x.array.dtype)
        rows[np.arange(start, start + n), np.arange(n)] = 1
        out.append(wrap(rows.reshape(total, *x.array.shape)))
        start += n
    return out


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func` by reverse mode: shape (*output shape, *input shape), one pullback per output number.
    Raises ValueError for a chunk_size below 1.

    >>> import minigrad as torch
    >>> from minigrad.func import jacrev
    >>> jacrev(lambda x: torch.stack([x[0] ** 2 + x[1], x[0] * x[1]]))(torch.tensor([2., 3.]))
    tensor([[4., 1.],
            [3., 2.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        f, primals = _of_chosen(func, argnums, args, kwargs)
        output, pull, aux = _vjp(f, primals, has_aux)
        outs, out_spec = flatten(output)
        ins, in_spec = flatten(primals)
        rows = vmap(lambda *basis: tuple(flatten(pull(unflatten(basis, out_spec)))[0]), chunk_size=chunk_size)(
            *_basis(outs)
        )
        starts = np.cumsum([0, *[o.numel() for o in outs]])
        jacobian = []
        for o, start, stop in zip(outs, starts, starts[1:], strict=False):
            blocks = [r[int(start) : int(stop)].reshape(*o.shape, *x.shape) for r, x in zip(rows, ins, strict=True)]
            tree = unflatten(blocks, in_spec)
            jacobian.append(tree[0] if isinstance(argnums, int) else tree)
        jacobian = unflatten(jacobian, out_spec)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """As jacrev, by forward mode: one pass per input number."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        f, primals = _of_chosen(func, argnums, args, kwargs)
        ins, in_spec = flatten(primals)
        aux_outputs: list[Any] = []

        def push(*basis: Tensor) -> tuple[Tensor, ...]:
            out = jvp(f, primals, unflatten(basis, in_spec), has_aux=has_aux)
            flat, spec = flatten(out[1])
            aux_outputs[:] = [spec, flatten(out[0])[0], out[2] if has_aux else None]
            return tuple(flat)

        columns = vmap(push, randomness=randomness)(*_basis(ins))
        out_spec, outs, aux = aux_outputs
        starts = np.cumsum([0, *[x.numel() for x in ins]])
        jacobian = []
        for column in columns:
            blocks = []
            for x, start, stop in zip(ins, starts, starts[1:], strict=False):
                block = column[int(start) : int(stop)]
                blocks.append(block.movedim(0, -1).reshape(*column.shape[1:], *x.shape))
            tree = unflatten(blocks, in_spec)
            jacobian.append(tree[0] if isinstance(argnums, int) else tree)
        jacobian = unflatten(jacobian, out_spec)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """A function that returns the second derivatives of `func`: forward over reverse."""
    return jacfwd(jacrev(func, argnums), argnums)


# vmap ----------------------------------------------------------------------------------------------------------------------


def _name(func: Any) -> str:
    if hasattr(func, "__name__"):
        return func.__name__
    return f"functools.partial({_name(func.func)}, ...)" if isinstance(func, functools.partial) else repr(func)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that runs `func`, written for one sample, on a whole batch at once.

    in_dims     which dimension of each argument counts the samples: an int for all, a tuple (nested like the arguments); None: not batched
    out_dims    where the results have the samples
    randomness  random numbers inside: "error" (not allowed), "same" or "different" for each sample
    chunk_size  run so many samples at once (default: all)
    Raises RuntimeError for another `randomness`, ValueError for a chunk_size below 1.

    >>> import minigrad as torch
    >>> torch.vmap(torch.dot)(torch.ones(3, 2), torch.arange(6.).reshape(3, 2))
    tensor([1., 5., 9.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        call = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>)"
        size, dims, flat, spec = _batched_inputs(func, call, in_dims, args)
        if chunk_size is None or size <= chunk_size:
            return _run(func, size, dims, flat, spec, out_dims, randomness, kwargs)
        pieces, random_state = [], get_rng_state() if randomness == "same" else None
        for start in range(0, size, chunk_size):
            if random_state is not None:
                set_rng_state(random_state)
            n = min(chunk_size, size - start)
            part = [x if d is None else x.narrow(d, start, n) for x, d in zip(flat, dims, strict=True)]
            pieces.append(flatten(_run(func, n, dims, part, spec, out_dims, randomness, kwargs)))
        out_spec = pieces[0][1]
        joined = [
            joins.cat(column, d)
            for column, d in zip(
                zip(*[p[0] for p in pieces], strict=True), broadcast_to(out_dims, out_spec), strict=True
            )
        ]
        return unflatten(joined, out_spec)

    return wrapped


def _batched_inputs(func: Any, call: str, in_dims: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The batch size, the batch dimension of each tensor, the tensors and their structure. Raises PyTorch's errors."""
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function "
            "with no inputs. The latter is unsupported."
        )
    flat, spec = flatten(args)
    dims = broadcast_to(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`. in_dims has structure {flatten(in_dims)[1]} but inputs "
            f"has structure {spec}."
        )
    for i, (x, d) in enumerate(zip(flat, dims, strict=True)):
        if d is None:
            continue
        if not isinstance(d, int):
            raise ValueError(
                f"{call}: Got in_dim={d} for an input but in_dim must be either an integer dimension or None."
            )
        if not isinstance(x, Tensor):
            raise ValueError(
                f"{call}: Got in_dim={d} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor arguments, "
                "please use None as the respective in_dim"
            )
        if not -x.dim() <= d < x.dim():
            raise ValueError(
                f"{call}: Got in_dim={d} for some input, but that input is a Tensor of dimensionality {x.dim()} so expected in_dim to "
                f"satisfy -{x.dim()} <= in_dim < {x.dim()}."
            )
        dims[i] = d % x.dim()
    sizes = [x.shape[d] for x, d in zip(flat, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(n != sizes[0] for n in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension"
        )
    return sizes[0], dims, flat, spec


def _run(
    func: Any,
    size: int,
    dims: list[int | None],
    flat: list[Any],
    spec: Any,
    out_dims: Any,
    randomness: str,
    kwargs: dict[str, Any],
) -> Any:
    level = BatchLevel(size, randomness)
    random_state = None if randomness == "error" else get_rng_state()
    passed = [x if d is None else level.wrap(x, d) for x, d in zip(flat, dims, strict=True)]
    try:
        with level:
            output = func(*unflatten(passed, spec), **kwargs)
        outs, out_spec, where = _outputs(func, output, out_dims)
        return unflatten([_unwrapped(func, level, o, d) for o, d in zip(outs, where, strict=True)], out_spec)
    except NumbersNeeded:
        if random_state is not None:
            set_rng_state(random_state)
    return _sample_by_sample(func, level, dims, flat, spec, out_dims, random_state, kwargs)


def _outputs(func: Any, output: Any, out_dims: Any) -> tuple[Any, ...]:
    outs, spec = flatten(output)
    where = (
        [out_dims[0]]
        if isinstance(output, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1
        else broadcast_to(out_dims, spec)
    )
    if where is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. "
            f"out_dims has structure {flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    for o, d in zip(outs, where, strict=True):
        if d is not None and not isinstance(d, int):
            raise ValueError(
                f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
                "representing where in the outputs the vmapped dimension should appear."
            )
        if d is not None and not isinstance(o, Tensor):
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(o)}. Did you mean to set out_dims= "
                "to None for output?"
            )
    return outs, spec, where


def _unwrapped(func: Any, level: BatchLevel, out: Tensor, dim: int) -> Tensor:
    if dim is None:
        if isinstance(out, Tensor) and level.holds(out):
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None"
            )
        return out
    return level.unwrap(out, dim)


class _OwnWrites(Handler):
    """While a function runs sample after sample: what two samples write into was made by neither, and the later would see the earlier."""

    def __init__(self, batches: list[Tensor]) -> None:
        self.batches = {id(owner_of(x.array)) for x in batches}  # each sample has a part of its own
        self.earlier: dict[int, Any] = {}
        self.own_memory: dict[int, Any] = {}  # by id, which a reference keeps from being given to another one

    def __call__(self, op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...]) -> Any:
        return op(*inputs, *params)

    def next_sample(self) -> None:
        self.earlier.update(self.own_memory)
        self.own_memory = {}

    def writes(self, x: Tensor) -> None:
        memory = owner_of(x.array)
        if id(memory) in self.earlier:
            raise RuntimeError(
                "vmap: index_put_(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more "
                "elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. Please "
                "try to use out-of-place operators instead of index_put_. If said operator is being called inside the PyTorch framework, "
                "please file a bug report instead."
            )
        if id(memory) not in self.batches:
            self.own_memory[id(memory)] = memory


def _sample_by_sample(
    func: Callable[..., Any],
    level: Any,
    dims: list[int | None],
    flat: list[Tensor],
    spec: Spec,
    out_dims: Any,
    random_state: Any,
    kwargs: dict[str, Any],
) -> Any:
    """Run a function that reads the numbers themselves once for each sample, and stack the results."""
    level.looping = True
    results, writes = [], _OwnWrites([x for x, d in zip(flat, dims, strict=True) if d is not None])
    for i in range(level.size):
        if level.randomness == "same":
            set_rng_state(random_state)
        before = state.vmap, state.transforms
        state.vmap, state.transforms = level, state.transforms + 1
        writes.next_sample()
        try:
            with writes:
                output = func(
                    *unflatten([x if d is None else x.select(d, i) for x, d in zip(flat, dims, strict=True)], spec),
                    **kwargs,
                )
        finally:
            state.vmap, state.transforms = before
        results.append(_outputs(func, output, out_dims))
    columns = zip(*[r[0] for r in results], strict=True)
    return unflatten(
        [column[0] if d is None else joins.stack(column, d) for column, d in zip(columns, results[0][2], strict=True)],
        results[0][1],
    )


# Modules -------------------------------------------------------------------------------------------------------------------


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Sequence[Any] | dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module` with other tensors in the places of its parameters and buffers.

    parameter_and_buffer_dicts  {name: tensor} as in module.named_parameters(), or a sequence of such dicts
    tie_weights                 a tensor that the module has under several names is replaced under all of them
    strict                      raise RuntimeError for names that are missing or unknown
    Raises ValueError for what is no dict, and for a name in two dicts.
    """
    passed = parameter_and_buffer_dicts
    if isinstance(passed, (list, tuple)):
        keys = list(itertools.chain.from_iterable(passed))
        repeated = [key for key in dict.fromkeys(keys) if keys.count(key) > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        passed = {k: v for d in passed for k, v in d.items()}
    elif not isinstance(passed, dict):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(passed)}"
        )
    places = _places(module)
    unknown = [key for key in passed if key not in places]
    missing = [key for key in places if key not in passed]
    if strict and (unknown or missing):
        parts = [f"Unexpected key(s): {', '.join(unknown)}."] * bool(unknown) + [
            f"Missing key(s): {', '.join(missing)}."
        ] * bool(missing)
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(parts))
    passed = {key: value for key, value in passed.items() if key in places}
    replace = dict(passed)
    if tie_weights:
        new = {id(places[key][0][places[key][1]]): (key, value) for key, value in passed.items()}
        for key, (table, name) in places.items():
            tied = new.get(id(table[name]))
            if tied is not None and key not in replace:
                replace[key] = tied[1]
    old = {key: places[key][0][places[key][1]] for key in replace}
    try:
        for key, value in replace.items():
            places[key][0][places[key][1]] = value
        return module(*(args if isinstance(args, tuple) else () if args is None else (args,)), **(kwargs or {}))
    finally:
        for key, value in old.items():
            places[key][0][places[key][1]] = value


def _places(module: Any) -> dict[str, tuple]:
    """{full name: (the dict that holds it, its name there)} of all parameters and buffers, under all their names."""
    item = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for table in (part._parameters, part._buffers):
            for name, value in table.items():
                if value is not None:
                    item[f"{prefix}.{name}" if prefix else name] = (table, name)
    return item


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """`root`, whose batch norms keep no running statistics from now on: a function inside vmap could not write them."""
    for module in root.modules():
        if any(cls.__name__ == "_BatchNorm" for cls in type(module).__mro__) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def stack_module_state(models: list[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """({name: parameters stacked}, {name: buffers stacked}) of several modules of one class, for vmap over functional_call.
    Raises RuntimeError for no modules, and for modules that differ in class, mode or requires_grad."""
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or not any(m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(dicts: list[Any], leaves: bool) -> dict[str, Tensor]:
        out = {}
        for name in dicts[0]:
            tensors = [d[name] for d in dicts]
            new = joins.stack([t.detach() for t in tensors])
            requires = {t.requires_grad for t in tensors}
            if len(requires) > 1:
                raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
            out[name] = new.requires_grad_(requires.pop()) if leaves else new
        return out

    return stacked([dict(m.named_parameters()) for m in models], True), stacked(
        [dict(m.named_buffers()) for m in models], False
    )
