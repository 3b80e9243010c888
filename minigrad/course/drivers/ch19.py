"""Drivers of chapter 19: a new operation, judged in random graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ch05 import Foreign, users_first
from .ch06 import Number

CAPSTONES: dict[str, Callable] = {  # how each operation is called, from the list of all its inputs
    "logsumexp": lambda f, xs: f(xs),
    "gelu": lambda f, xs: f(*xs),
    "conv1d": lambda f, xs: f(xs[: -((len(xs) + 1) // 3)], xs[-((len(xs) + 1) // 3) :]),
    "batch_norm": lambda f, xs: f(xs, 0.1),
    "fixed_point": lambda f, xs: f(*xs),
    "lstm_cell": lambda f, xs: f(*xs),
}


def mixed(outputs: list[Any], scale: float) -> Any:
    """One number or Value that depends on every output of an operation, on each in another way."""
    total = outputs[0] * scale
    for k, out in enumerate(outputs[1:], 2):
        total = total + out * (scale / k if k % 2 else -scale / k)
    return total


def _capstone(entry: Any) -> tuple[str, Callable, type]:
    """The operation that was chosen, the function, and the class of Values that it was written for."""
    fresh = type("Value", (Number,), {"__module__": "exercise"})
    chosen = entry(fresh)
    if not (isinstance(chosen, tuple) and len(chosen) == 2 and isinstance(chosen[0], str) and callable(chosen[1])):
        raise Foreign("capstone must return the name of the operation and the function")
    if chosen[0] not in CAPSTONES:
        raise LookupError(f"{chosen[0][:20]!r} is none of {', '.join(CAPSTONES)}")
    return chosen[0], chosen[1], fresh


def _outputs(name: str, operation: Callable, Value: type, leaves: list[Any]) -> list[Any]:
    out = CAPSTONES[name](operation, leaves)
    outputs = list(out) if isinstance(out, (list, tuple)) else [out]
    if not outputs or not all(isinstance(v, Value) for v in outputs):
        raise Foreign("the operation must return a Value, or several, of the class that capstone was given")
    return outputs


def _pulled(
    name: str, operation: Callable, Value: type, numbers: list[float], scale: float, old: float, twice: bool
) -> Any:
    """The mixed outputs at some numbers, and the inputs' gradients after a backward pass. `old` is their value before it."""
    leaves = [Value(x) for x in numbers]
    if twice:
        leaves[-1] = leaves[0]
    root = mixed(_outputs(name, operation, Value, leaves), scale)
    for leaf in leaves:
        leaf.grad = old
    order = users_first(root)
    root.grad = 1.0
    for node in order:
        node._backward()
    return root.data, [leaf.grad for leaf in leaves]


def capstone_values(entry: Any, inputs: dict[str, list[float]]) -> Any:
    """What the chosen operation gives for its part of the inputs."""
    name, operation, Value = _capstone(entry)
    return {
        "operation": name,
        "values": [v.data for v in _outputs(name, operation, Value, [Value(x) for x in inputs[name]])],
    }


def capstone_gradients(entry: Any, inputs: dict[str, list[float]], scale: float, old: float, twice: bool) -> Any:
    """The gradients of its inputs, for upstream gradients that depend on `scale`."""
    name, operation, Value = _capstone(entry)
    return {"operation": name, "gradients": _pulled(name, operation, Value, inputs[name], scale, old, twice)[1]}


def capstone_nodes(entry: Any, inputs: dict[str, list[float]]) -> Any:
    """How many nodes the operation adds to the graph, and how many results it has."""
    name, operation, Value = _capstone(entry)
    leaves = [Value(x) for x in inputs[name]]
    outputs = _outputs(name, operation, Value, leaves)
    nodes = {id(v) for out in outputs for v in users_first(out)}
    return {
        "operation": name,
        "nodes": len(nodes - {id(v) for v in leaves}),
        "results": len(outputs),
        "inputs found": len(nodes & {id(v) for v in leaves}),
    }


def capstone_in_graphs(entry: Any, points: dict[str, list[list[float]]], *graphs: Any) -> Any:
    """The operation at every place where the judge's random graphs need it: its mixed outputs and their derivatives."""
    name, operation, Value = _capstone(entry)
    return {
        "operation": name,
        "given": [_pulled(name, operation, Value, point, 1.0, 0.0, False) for point in points[name]],
    }
