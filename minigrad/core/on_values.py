"""A row on Values: the function and the rules that tensors use, applied to single numbers.

What lives here: the step from a row to a node of a Value's graph, and to what the tape replays. What does not: the operations that Value
has of its own (scalar.py). A row of two inputs at most, with a formula and without parameters, is also known to formulas and tapes, which
find it in `scalar.ROWS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scalar import ROWS, Value, operation

if TYPE_CHECKING:
    from .op import Op


def on_values(op: Op, inputs: tuple[Value, ...], params: tuple[Any, ...]) -> Value:
    """The result of a row, of which some inputs are Values. Raises TypeError for a row of sequences, or with several outputs."""
    if op.tensor_list or not op.single:
        raise TypeError(f"{op.name}() of Values is not supported: it takes or returns several tensors.")
    arrays = [np.asarray(x.data if isinstance(x, Value) else x, np.float64) for x in inputs]
    with np.errstate(all="ignore"):
        out = np.asarray(op.forward(*arrays, *params))
        slopes = slopes_of(op, arrays, out, params)
    if op.formula is not None and not params and len(op.inputs) <= 2 and out.ndim == 0:
        ROWS[op.name] = op
    return operation(
        op.name, out.item(), [(x, None if d is None else d.item()) for x, d in zip(inputs, slopes, strict=True)]
    )


def slopes_of(
    op: Op, arrays: Sequence[np.ndarray], out: np.ndarray, params: tuple[Any, ...] = ()
) -> list[np.ndarray | None]:
    """The derivative of the result with respect to each input, from the row's rules at g = 1. None: it has no derivative."""
    scope = dict(zip(op.inputs, arrays, strict=True)) | {
        f"{i}_shape": a.shape for i, a in zip(op.inputs, arrays, strict=True)
    }
    scope |= {"out": out, **dict(zip(op.params, params, strict=False))}
    g = np.ones_like(out)
    results = [
        None if rule is None else rule(g, *[scope[name] for name in op.saves_of(rule)]) for rule in op.rules.values()
    ]
    return [None if d is None else np.broadcast_to(np.asarray(d, np.float64), out.shape) for d in results]
