"""Drivers of chapter 18: hooks that watch a model, and anomalies."""

from __future__ import annotations

from typing import Any

from ..plain import odd, safe_name
from .calls import import_torch
from .ch05 import Node

WATCHED_WEIGHTS = (  # (weight, bias) of the two linear layers of the model that is watched
    ([[1.0, -0.5], [-1.5, 0.5], [0.25, 1.0]], [0.1, -0.2, 0.3]),
    ([[1.5, -2.0, 0.5], [-1.0, 0.75, 2.0], [2.0, 1.0, -1.5]], [0.2, -0.4, 0.1]),
)


def watched_model(rows: list[list[float]]) -> tuple[Any, Any]:
    """Sequential(Linear, ReLU, Sequential(Linear, Tanh)) in float64, and the rows as its input."""
    torch = import_torch()
    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 3), nn.Tanh())).double()
    with torch.no_grad():
        for layer, (weight, bias) in zip((model[0], model[2][0]), WATCHED_WEIGHTS, strict=True):
            layer.weight.copy_(torch.tensor(weight, dtype=torch.float64))
            layer.bias.copy_(torch.tensor(bias, dtype=torch.float64))
    return model, torch.tensor(rows, dtype=torch.float64)


def _hooks_of(model: Any) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) + len(m._backward_hooks) for m in model.modules())


def watched_once(entry: Any, rows: list[list[float]]) -> Any:
    """The record of each layer after one run: the numbers of its only entry."""
    model, x = watched_model(rows)
    with entry(model) as seen:
        model(x)
    if not isinstance(seen, dict):
        return odd(f"`with watch(model) as seen` must give a dict, and it gives {safe_name(type(seen))}")
    return {name: list(entries[0]) if len(entries) == 1 else entries for name, entries in seen.items()}


def watched_twice(entry: Any, rows: list[list[float]]) -> Any:
    model, x = watched_model(rows)
    with entry(model) as seen:
        model(x)
        model(x * 0.5)
    names, last = sorted(map(str, seen)), {name: entries[-1] for name, entries in seen.items()}
    pairs = [seen[name] for name in seen if len(seen[name]) == 2]
    differs = bool(pairs) and any(list(first) != list(second) for first, second in pairs)
    results = {"names": names, "entries": [len(seen[name]) for name in names], "the second differs": differs}
    with entry(model) as alone:
        model(x * 0.5)
    return results | {
        "the last entry is the last run's": all(list(alone[name][-1]) == list(last[name]) for name in last)
    }


def watched_output(entry: Any, rows: list[list[float]]) -> Any:
    model, x = watched_model(rows)
    before = model(x).detach()
    with entry(model):
        after = model(x)
    after.sum().backward()
    return {
        "same output": bool((after == before).all()),
        "gradients arrive": all(p.grad is not None for p in model.parameters()),
    }


def watched_types(entry: Any, rows: list[list[float]]) -> Any:
    model, x = watched_model(rows)
    with entry(model) as seen:
        model(x)
    noted = [number for entries in seen.values() for row in entries for number in row]
    return {"all of them are floats": bool(noted) and all(type(number) is float for number in noted)}


def watched_after(entry: Any, rows: list[list[float]]) -> Any:
    model, x = watched_model(rows)
    with entry(model) as seen:
        model(x)
    entries = sum(map(len, seen.values()))
    model(x)
    return {"entries added": sum(map(len, seen.values())) - entries, "hooks left": _hooks_of(model)}


class _OfTheBlock(Exception):
    """The error that ends a watched block."""


def watched_error(entry: Any, rows: list[list[float]]) -> Any:
    model, x = watched_model(rows)
    through = False
    try:
        with entry(model):
            model(x)
            raise _OfTheBlock
    except _OfTheBlock:
        through = True
    return {"the error gets through": through, "hooks left": _hooks_of(model)}


def _anomaly_on(entry: Any, nodes: list[list]) -> tuple[Any, dict[str, Node]]:
    """The learner's pass on a graph of [name, parents, local derivatives]; the last node is the root."""
    results: dict[str, Node] = {}
    for name, parents, slopes in nodes:
        results[name] = Node(1.0, tuple(results[p] for p in parents), name, tuple(slopes), name)
    got = entry(results[nodes[-1][0]])
    returned = (
        got.name
        if isinstance(got, Node)
        else "None"
        if got is None
        else "a text"
        if isinstance(got, str)
        else safe_name(type(got))
    )
    return returned, results


def anomaly_clean(entry: Any, nodes: list[list]) -> Any:
    returned, result = _anomaly_on(entry, nodes)
    return {"returned": returned, "at the leaf": result[nodes[0][0]].grad}


def anomaly_named(entry: Any, nodes: list[list]) -> Any:
    """Which node was returned, and which ran their rules. Leaves have none to run."""
    returned, result = _anomaly_on(entry, nodes)
    return {"returned": returned, "ran": sorted(name for name, node in result.items() if node.calls and node._prev)}
