"""Drivers of chapter 13: custom Functions and fixed points."""

from __future__ import annotations

from typing import Any

from .calls import import_torch


def _tensors64(inputs: list, needs: list[bool] | None = None) -> list[Any]:
    """Lists become float64 leaves, which need a gradient or not; everything else stays as it is."""
    torch = import_torch()
    pairs = zip(inputs, needs or [True] * len(inputs), strict=True)
    return [torch.tensor(x, dtype=torch.float64, requires_grad=need) if isinstance(x, list) else x for x, need in pairs]


def custom(cls: Any, inputs: list, g: list[float]) -> Any:
    """A custom Function in the real engine: its result, and the gradients of its tensors when `g` is the upstream gradient."""
    torch = import_torch()
    tensors = _tensors64(inputs)
    out = cls.apply(*tensors)
    out.backward(torch.tensor(g, dtype=torch.float64))
    return {"out": out.tolist(), "gradients": [t.grad.tolist() for t in tensors if isinstance(t, torch.Tensor)]}


def custom_multiplications(cls: Any, inputs: list, g: list[float], needs: list[bool]) -> Any:
    """The gradients that are needed, and how many multiplications the backward pass runs for them."""
    from minigrad.profiler import profile

    torch = import_torch()
    tensors = _tensors64(inputs, needs)
    out = cls.apply(*tensors)
    with profile() as ran:
        out.backward(torch.tensor(g, dtype=torch.float64))
    counted = sum(row.count for row in ran.key_averages() if row.key == "aten::mul")
    return {"gradients": [None if t.grad is None else t.grad.tolist() for t in tensors], "multiplications": counted}


def custom_saved(cls: Any, inputs: list) -> Any:
    """How many tensors are saved for the backward pass."""
    return {"saved tensors": len(cls.apply(*_tensors64(inputs)).grad_fn.saved_tensors)}


def custom_transformed(cls: Any, inputs: list) -> Any:
    """The gradients under torch.func.grad, for the sum of the results."""
    grad = import_torch().func.grad(lambda *xs: cls.apply(*xs).sum(), argnums=tuple(range(len(inputs))))
    return [g.tolist() for g in grad(*[t.detach() for t in _tensors64(inputs)])]


def custom_twice(cls: Any, inputs: list) -> Any:
    """The gradients of the first input's gradient, for the sum of the squared results."""
    torch = import_torch()
    leaves = _tensors64(inputs)
    (first,) = torch.autograd.grad((cls.apply(*leaves) ** 2).sum(), leaves[:1], create_graph=True)
    return [g.tolist() for g in torch.autograd.grad(first.sum(), leaves)]


FIXED_POINTS = {  # x = f(x, a): all of them stand still when they are repeated from x = 1
    "exp(-a x)": lambda x, a: (-a * x).exp(),
    "a + sin(x) / 2": lambda x, a: a + 0.5 * x.sin(),
    "(x + a / x) / 2": lambda x, a: 0.5 * (x + a / x),
    "0.9 x + a": lambda x, a: 0.9 * x + a,
}


def _at_rest(entry: Any, name: str, a: float) -> tuple[Any, Any]:
    torch = import_torch()
    leaf = torch.tensor(a, dtype=torch.float64, requires_grad=True)
    return leaf, entry(FIXED_POINTS[name], leaf)


def fixed_point(entry: Any, name: str, a: float, k: float) -> Any:
    """Where f stands still, and the derivative of k times that place with respect to a."""
    leaf, x = _at_rest(entry, name, a)
    (k * x).backward()
    return {"x": x.item(), "derivative": leaf.grad.item()}


def fixed_point_nodes(entry: Any, *cases: tuple[str, float]) -> Any:
    """How many nodes the graph behind the result has, for each case."""
    results = []
    for name, a in cases:
        nodes, todo = set(), [_at_rest(entry, name, a)[1].grad_fn]
        while todo:
            node = todo.pop()
            if node is not None and node not in nodes:
                nodes.add(node)
                todo += [parent for parent, _ in node.next_functions]
        results.append(len(nodes))
    return {"nodes": results}
