"""Forward mode: tangents pushed through operations by the same rows.

What lives here: `push`, the tangent of one operation's result, and `Level`, the handler that pushes through everything computed while it is
active. What does not: PyTorch's names for it (autograd/forward_ad.py, transforms.py).

A rule of an ELEMENTWISE row multiplies by the local derivative, whichever way the factor comes: given the tangent it yields the result's
tangent. A LINEAR or MULTILINEAR operation is its own derivative. For the rest there is `jvp=`, or reverse over reverse: the rule is linear
in g, so the derivative of <rule(g), tangent> by g is the tangent of the result.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.constants import zeros_like
from ..core.dispatch import Handler, state
from ..core.grad_mode import enable_grad
from ..core.op import DISCRETE, ELEMENTWISE, LINEAR, MULTILINEAR
from ..core.variable import Variable, alias, set_tangent, wrap
from ..ops.shape import clone
from . import inplace
from .backward import grad
from .engine import fit_tensor

if TYPE_CHECKING:
    from ..core.op import Op
    from ..core.variable import ViewFunc
    from ..tensors.tensor import Tensor


def push(
    op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...], tangents: list[Any]
) -> Any:
    """The tangents of the outputs as a list (None: no dependence), from those of the inputs (None: constant)."""
    if op.kind == DISCRETE:
        return [None] * len(outs)
    if op.tensor_list:
        inputs, tangents = inputs[0], tangents[0]
    if op.kind == LINEAR:
        return _push_linear(op, inputs, params, tangents)
    values = _values(op, inputs, params, outs)
    if op.jvp is not None:
        argument = tangents if _first_name(op.jvp) == "ts" else tangents[0]
        return _padded([op.jvp(argument, *[values[name] for name in op.saves_of(op.jvp)])], outs)
    if op.kind == MULTILINEAR:
        parts = [op(*inputs[:i], t, *inputs[i + 1 :], *params) for i, t in enumerate(tangents) if t is not None]
        return [_sum(parts)]
    if op.kind == ELEMENTWISE:
        parts = []
        for name, t in zip(op.inputs, tangents, strict=True):
            if t is not None and op.rules[name] is not None:
                part = op.rules[name](t, *[values[n] for n in op.saves_of(op.rules[name])])
                shape = outs[0].array.shape
                parts.append(part.expand(shape) if part.array.shape != shape else part)
        tangent = _sum(parts)
        return [tangent.to(outs[0].dtype) if tangent is not None else None]
    return _push_by_reverse(op, inputs, values, outs, tangents)


def _push_linear(
    op: Op, inputs: Sequence[Tensor], params: tuple[Any, ...], tangents: list[Tensor | None]
) -> list[Tensor]:
    filled = []
    for i, (x, t) in enumerate(zip(inputs, tangents, strict=True)):
        constant = not op.tensor_list and op.rules[op.inputs[i]] is None  # an index, not a linear input
        filled.append(t if t is not None else x if constant else zeros_like(x if isinstance(x, Variable) else wrap(x)))
    result = op(filled, *params) if op.tensor_list else op(*filled, *params)
    return list(result) if isinstance(result, tuple) else [result]


def _push_by_reverse(op: Op, inputs: Any, values: dict[str, Any], outs: Any, tangents: Any) -> list[Tensor | None]:
    with enable_grad():
        gs = [zeros_like(o, requires_grad=True) if o.array.dtype.kind == "f" else None for o in outs]
        sent, ts = [], []
        for i, name in enumerate(op.inputs):
            t = tangents if op.tensor_list else tangents[i]
            rule = op.rules[name]
            if rule is None or t is None:
                continue
            g = gs if _first_name(rule) == "gs" else gs[0]
            result = rule(g, *[values[n] for n in op.saves_of(rule)])
            triples = zip(inputs, result, t, strict=True) if op.tensor_list else [(inputs[i], result, t)]
            for x, r, tangent in triples:
                if tangent is not None and r is not None and r.requires:
                    sent.append(fit_tensor(r, x.array.shape, x.array.dtype, None))
                    ts.append(tangent)
    roots = [g for g in gs if g is not None]
    grads = grad(sent, roots, ts, create_graph=state.grad, allow_unused=True) if sent else [None] * len(roots)
    remaining = iter(grads)
    return [None if g is None else next(remaining) for g in gs]


def _values(op: Op, inputs: Any, params: Any, outs: Any) -> dict[str, Any]:
    """All values that a rule may have as parameters, by name."""
    values = dict(zip(op.params, params, strict=False))
    if op.tensor_list:
        values[op.inputs[0]] = inputs
        values[f"{op.inputs[0]}_shape"] = [x.array.shape for x in inputs]
    else:
        for name, x in zip(op.inputs, inputs, strict=True):
            values[name] = x
            values[f"{name}_shape"] = x.array.shape if isinstance(x, Variable) else np.shape(x)
    if op.outputs is not ...:
        values.update(zip(op.outputs, outs, strict=True))
    return values


def _first_name(rule: Callable[..., Any]) -> str:
    return next(iter(inspect.signature(rule).parameters))


def _sum(parts: list[Tensor]) -> Any:
    total = None
    for part in parts:
        total = part if total is None else total + part
    return total


def _padded(tangents: list[Tensor], outs: tuple[Tensor, ...]) -> list[Tensor | None]:
    return tangents + [None] * (len(outs) - len(tangents))


def base_of(x: Tensor) -> Tensor:
    """The tensor that owns the storage: `x` itself unless it is a view."""
    return x if x.view_meta is None else x.view_meta.base


class Level(Handler):
    """Handler that propagates tangents. Levels may nest: the operations on the inner level's tangents are seen by the outer level."""

    needs_tensors = True  # a backward pass inside must run on Tensors, so that tangents flow through it
    _numbers = itertools.count()

    def __init__(self) -> None:
        self.number = next(self._numbers)
        self.nodes: dict[Any, Any] = {}  # (node, output number): tangent of a result that the node saved as an array

    def __call__(self, op: Any, inputs: tuple[Any, ...], params: tuple[Any, ...]) -> Tensor | tuple[Tensor, ...]:
        out = op(*inputs, *params)
        flat = inputs[0] if op.tensor_list else inputs
        tangents = [self.tangent(x) for x in flat]
        root = self.root(flat[0]) if op.view else None
        outs = out if isinstance(out, tuple) else (out,)
        if all([t is None for t in tangents]):
            if root is not None and root.meta is not None and root.meta.tangents and self.number in root.meta.tangents:
                for t in outs:  # a view of a primal has no tangent, though its base may
                    set_tangent(t, self.number, None, root)
            return out
        pushed = tangents
        tangents = [tangents] if op.tensor_list else tangents  # type: ignore[list-item]  # one argument, a list
        # The rules get aliases: a tangent's graph must not hold the tensor that will hold the tangent.
        for t, tangent in zip(outs, push(op, inputs, params, tuple([alias(t) for t in outs]), tangents), strict=True):
            if tangent is not None:
                # Or a write into the one would change the other
                is_new = root is not None or not any([tangent is x for x in pushed])
                self.attach(t, tangent if is_new else clone(tangent), root)
        return out

    def root(self, x: Any) -> Tensor:
        """The tensor that owns the tangent of `x`: a view has a part of that of the dual that it is a view of."""
        entry = x.meta.tangents.get(self.number) if x.meta is not None and x.meta.tangents else None
        if entry is not None:
            return x if entry.root is None else entry.root
        return base_of(x)

    def tangent(self, x: Any) -> Tensor | None:
        """The tangent of `x` at this level, or None. That of a view, once the storage was written to, is the view of its root's tangent."""
        if not isinstance(x, Variable) or state.inference:  # inference mode has no derivatives of any kind
            return None
        entry = x.meta.tangents.get(self.number) if x.meta is not None and x.meta.tangents else None
        if entry is not None and (entry.root is None or entry.version == x.version[0]):
            return entry.value
        if x.view_meta is None:
            return None
        root = self.root(x)
        tangent = self.tangent(root)
        if tangent is None:
            return None
        tangent = self.steps(x, root)(tangent)
        set_tangent(x, self.number, tangent, root)
        return tangent

    def none(self, outs: list[Tensor]) -> None:
        """Results of inputs without tangents have none, though they may be views of a primal whose base has one."""
        for t in outs:
            if isinstance(t, Variable) and t.view_meta is not None and self.tangent(t) is not None:
                set_tangent(t, self.number, None, self.root(t))

    def steps(self, x: Any, root: Tensor) -> ViewFunc:
        """The view operations that lead from `root` to its view `x`."""
        return x.view_meta.view_func.after(
            None if root.view_meta is None else root.view_meta.view_func, root.array.strides
        )

    def written(self, x: Tensor, new: Tensor) -> None:
        """`x` was overwritten by the numbers of `new`: so is its tangent, and where `x` is a view, that part of its root's tangent."""
        tangent = self.tangent(new)
        if tangent is not None or self.tangent(self.root(x)) is not None:
            # Or the write to `x` had been refused
            self.replace(x, zeros_like(x) if tangent is None else tangent, idempotent=True)

    def replace(self, x: Tensor, tangent: Tensor, idempotent: bool = False) -> None:
        """`tangent` is that of `x` from now on: written into the tensor that is its tangent, as PyTorch does it. `idempotent`: of places
        that are one, all get the same."""
        root = self.root(x)
        # Zeros like the tangent, which inside vmap may be one for each sample where `root` is not
        if self.tangent(root) is None:
            set_tangent(root, self.number, tangent.new_zeros(root.array.shape, dtype=root.dtype))
        own_tangent = self.tangent(x)
        if own_tangent is not tangent:
            inplace.copy_(own_tangent, tangent, idempotent=idempotent)

    def attach(self, x: Tensor, tangent: Tensor, root: Tensor | None = None) -> None:
        if state.inference:
            return
        if root is None and x.array.flags.c_contiguous and not (tangent.batched or tangent.array.flags.c_contiguous):
            tangent = clone(tangent, "C")  # or a view that exists of `x` would not exist of it
        set_tangent(x, self.number, tangent, root)
        if x.edge is not None and x.edge[0].saves:
            self.nodes[x.edge] = tangent
            restorers = x.edge[0].metadata.setdefault("tangents", [])
            if self.restore not in restorers:
                restorers.append(self.restore)

    def restore(self, x: Tensor) -> None:
        """Attach its tangent to a saved output that was rebuilt from its array."""
        if x.edge in self.nodes:
            set_tangent(x, self.number, self.nodes[x.edge])

    def close(self) -> None:
        """Break the ties between nodes and this level."""
        for node, _ in self.nodes:
            if node.info is not None:
                node.info.pop("tangents", None)
        self.nodes.clear()
