"""Drivers of chapter 07: gradients that add up."""

from __future__ import annotations

from typing import Any

from .ch05 import GRAPHS, own_engine, users_first


def train_value(entry: Any, start: float, data: list, *numbers: float) -> Any:
    """Run a training loop on a Value, with these steps, learning rate and what else it takes, and look at the Value itself afterwards."""
    Value, _ = own_engine(entry)
    w = Value(start)
    returned = entry(w, [tuple(pair) for pair in data], *numbers)
    return {"w.data": w.data, "returned": list(returned) if isinstance(returned, tuple) else returned}


def accumulate_value(entry: Any, start: float, batches: list, old: float = 0.0) -> Any:
    """Run a gradient accumulation on a Value that may hold an old gradient, and look at its grad afterwards."""
    Value, _ = own_engine(entry)
    w = Value(start)
    w.grad = old
    entry(w, [[tuple(pair) for pair in batch] for batch in batches])
    return w.grad


def accumulate_passes(entry: Any, start: float, batches: list) -> Any:
    """How many backward passes were run, and whether any of their graphs was larger than that of the largest micro-batch may be."""
    Value, names = own_engine(entry)
    run, uses = names["backward"], []

    def watched(root: Any) -> None:
        uses.append(sum(parent is w for node in users_first(root) for parent in node._prev))
        run(root)

    w = Value(start)
    names["backward"] = watched
    try:
        entry(w, [[tuple(pair) for pair in batch] for batch in batches])
    finally:
        names["backward"] = run
    return {"backward passes": len(uses), "pairs in the largest graph": max(uses, default=0)}


def backward_repeated(entry: Any, graph: str, calls: int, *inputs: Any) -> Any:
    """The gradients after several calls of the learner's backward on one and the same graph."""
    nodes = GRAPHS[graph](*inputs)
    for _ in range(calls):
        entry(nodes[0])
    return {n.name: n.grad for n in nodes}
