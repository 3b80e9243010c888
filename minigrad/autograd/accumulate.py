"""The end of the graph: adding a gradient to `.grad`, at leaves and at tensors that retain theirs."""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dispatch import state
from ..core.grad_mode import no_grad
from ..core.node import AccumulateGrad
from ..core.ownership import LENT, holders
from ..core.variable import Variable, wrap
from ..ops.shape import copied

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


def accumulate(x: Any, g: Tensor | np.generic | np.ndarray, keep: bool = False) -> None:
    """Add `g` to `x.grad`: a Tensor while recording is on, or an ndarray. keep: the array may become the gradient as it is."""
    old = x._grad
    if isinstance(g, Variable):
        if state.grad:
            x._grad = copied(g) if old is None else old + g
            return
        for handler in state.handlers:
            handler.accumulated(x, g)
        g = g.array
    if old is None:
        x._grad = wrap(g if keep else np.array(g))
    else:
        array = old.array
        array += g
        old.version[0] += 1


def _run(node: Any, g: np.generic | np.ndarray, edges: tuple[Any, ...]) -> tuple[Any, ...]:
    """`run` of AccumulateGrad: a leaf passes nothing on. If nothing else refers to the gradient, it becomes `.grad` without a copy."""
    leaf = node.variable
    if leaf.requires:
        keep = type(g) is np.ndarray and getrefcount(g) <= LENT and (g.base is None or _is_whole(g))
        accumulate(leaf, g, keep)
    if node.hooks is not None:
        with no_grad():
            accumulated(node)
    return ()


def _run_graph(node: Any, g: Tensor, edges: tuple[Any, ...]) -> tuple[Any, ...]:
    if node.variable.requires:
        accumulate(node.variable, g)
    return accumulated(node)


def accumulated(node: Any) -> tuple[Any, ...]:
    """Call the hooks of a leaf that wait for its new `.grad`. Nothing flows on: ()."""
    for hook in list(node.hooks.accumulated.values()) if node.hooks is not None else ():
        if hook(node.variable) is not None:
            raise RuntimeError("Tensor post accumulate grad hooks should return None.")
    return ()


def _is_whole(view: np.ndarray) -> bool:
    """Does `view` cover its whole base contiguously, and hold the only reference to it (the transpose of a transpose)?"""
    base = view.base
    return type(base) is np.ndarray and base.size == view.size and view.flags.carray and holders(base) <= 1


AccumulateGrad.run, AccumulateGrad.run_graph = _run, _run_graph  # type: ignore[method-assign, assignment]  # the functions are below tensors' methods
