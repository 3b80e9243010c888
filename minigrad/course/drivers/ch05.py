"""Drivers of chapter 05: backward passes over given graphs, a learner's class of values, a network that learns."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from ..plain import plain

watcher: Callable[[Any, Any, Any], Any] | None = None  # makes a film of a model that learns, where a notebook shows it


class Node:
    """A recorded value as exercise 05.b receives it: data, grad, _prev, _op and _backward(), and a count of how often that was called."""

    def __init__(self, data: float, _prev: tuple = (), _op: str = "", _locals: tuple = (), name: str = ""):
        self.data, self.grad, self._prev, self._op, self.name = data, 0.0, _prev, _op, name
        # As a rule holds its inputs, whatever becomes of _prev
        self._edges, self.calls = (
            tuple(zip(_prev, _locals, strict=True)),
            0,
        )

    def _backward(self) -> None:
        self.calls += 1
        for parent, local in self._edges:
            parent.grad += local * self.grad

    def __repr__(self) -> str:
        return f"Node({self.name or self._op}, data={self.data}, grad={self.grad})"


def add(a: Node, b: Node, name: str = "") -> Node:
    return Node(a.data + b.data, (a, b), "+", (1.0, 1.0), name)


def mul(a: Node, b: Node, name: str = "") -> Node:
    return Node(a.data * b.data, (a, b), "*", (b.data, a.data), name)


def _chain(x: float) -> list[Node]:
    n = Node(x, name="x")
    p = mul(Node(3.0, name="3"), n, "p")
    u = add(p, Node(2.0, name="2"), "u")
    return [mul(u, u, "y"), u, p, n]


def _diamond(a_data: float, b_data: float) -> list[Node]:
    a, b = Node(a_data, name="a"), Node(b_data, name="b")
    c, d = add(a, b, "c"), mul(a, b, "d")
    e, f = add(c, d, "e"), mul(c, d, "f")
    return [add(e, f, "y"), f, e, d, c, b, a]


def _twice(data: float) -> list[Node]:
    a = Node(data, name="a")
    return [add(a, a, "y"), a]


def _leaf(x: float) -> list[Node]:
    return [Node(x, name="x")]


def _long_and_short(data: float) -> list[Node]:
    x = Node(data, name="x")
    p = mul(x, x, "p")
    q = mul(p, x, "q")
    r = add(q, x, "r")
    return [add(p, r, "y"), r, q, p, x]


def _ladder(data: float, rungs: int) -> list[Node]:
    x = top = Node(data, name="x")
    for i in range(rungs):
        top = add(top, top, f"s{i + 1}")
    return [top, x]


def _falling(x_data: float) -> list[Node]:
    """y = 1 - x²: the results are smaller than their operands."""
    x = Node(x_data, name="x")
    p = mul(x, x, "p")
    q = mul(p, Node(-1.0, name="-1"), "q")
    return [add(q, Node(1.0, name="1"), "y"), q, p, x]


def _written_twice(a_data: float, b_data: float) -> list[Node]:
    """y = (a + b) * (a + b): two sums that hold the same number and name the same operation."""
    a, b = Node(a_data, name="a"), Node(b_data, name="b")
    s, t = add(a, b, "s"), add(a, b, "t")
    return [mul(s, t, "y"), s, t, b, a]


def _square_and_more(data: float) -> list[Node]:
    """u goes twice into a square and once into a sum, in both orders: a backward that waits for u's users has to count its uses."""
    x = Node(data, name="x")
    u, one = mul(x, Node(3.0, name="3"), "u"), Node(1.0, name="1")
    s, t, s2, t2 = mul(u, u, "s"), add(u, one, "t"), mul(u, u, "s2"), add(u, one, "t2")
    y, z = mul(s, t, "y"), mul(t2, s2, "z")
    return [add(y, z, "L"), z, y, t2, s2, t, s, u, x]


GRAPHS: dict[str, Any] = {
    "square and more": _square_and_more,
    "chain": _chain,
    "falling": _falling,
    "written twice": _written_twice,
    "diamond": _diamond,
    "a + a": _twice,
    "leaf": _leaf,
    "long and short": _long_and_short,
    "ladder": _ladder,
}


def backward_on(entry: Any, graph: str, *inputs: Any) -> Any:
    """Run the learner's backward on a fresh graph. Returns the gradients by name, the root's first."""
    nodes = GRAPHS[graph](*inputs)
    entry(nodes[0])
    return {n.name: n.grad for n in nodes}


def backward_calls(entry: Any, graph: str, *inputs: Any) -> Any:
    """How often each node's _backward was called."""
    nodes = GRAPHS[graph](*inputs)
    entry(nodes[0])
    return {n.name: n.calls for n in nodes}


def backward_again(entry: Any, graph: str, *inputs: Any) -> Any:
    """The gradients of a second call on the same graph, after all of them were set back to zero."""
    nodes = GRAPHS[graph](*inputs)
    entry(nodes[0])
    for n in nodes:
        n.grad = 0.0
    entry(nodes[0])
    return {n.name: n.grad for n in nodes}


def backward_leaves_alone(entry: Any, x: float) -> Any:
    """A gradient that was there before, in a graph that the root does not depend on."""
    nodes, other = _chain(x), mul(Node(2.0), Node(3.0), "other")
    other.grad = 7.0
    entry(nodes[0])
    return {"other": other.grad, "other's parent": other._prev[0].grad}


def backward_long_chain(entry: Any, length: int) -> Any:
    """A chain of `length` additions of 1 under one product: x, then the sum, then y = sum * x."""
    x = Node(2.0, name="x")
    one, top = Node(1.0, name="1"), x
    for _ in range(length):
        top = add(top, one)
    root = mul(top, x, "y")
    entry(root)
    return {"y": root.grad, "sum": top.grad, "x": x.grad, "1": one.grad}


class Foreign(Exception):
    """An operation of the learner's class returned an object of minigrad's."""


def _apply(cls: Any, expression: str, inputs: dict[str, float]) -> tuple[Any, dict[str, Any]]:
    leaves = {name: cls(number) for name, number in inputs.items()}
    out = eval(expression, {"__builtins__": {}, "relu": lambda v: v.relu()}, dict(leaves))
    if type(out).__module__.partition(".")[0] == "minigrad":
        raise Foreign("the result is minigrad's own Value, not one of your class")
    return out, leaves


def users_first(root: Any) -> list[Any]:
    """Every node of a learner's graph, users before their operands."""
    seen, order, stack = set(), [], [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((p, False) for p in node._prev)
    return order[::-1]


def value_forward(cls: Any, expression: str, inputs: dict[str, float]) -> Any:
    """The number that an expression over the learner's class gives."""
    out, _ = _apply(cls, expression, inputs)
    return out.data


def value_grads(cls: Any, expression: str, inputs: dict[str, float]) -> Any:
    """Run an expression over the learner's class, then their local rules in a correct order. Returns the leaves' gradients."""
    return value_grads_from(cls, expression, inputs, 1.0)


def value_grads_from(cls: Any, expression: str, inputs: dict[str, float], seed: float) -> Any:
    """The same with another gradient than 1 at the result."""
    out, leaves = _apply(cls, expression, inputs)
    order = users_first(out)
    out.grad = seed
    for node in order:
        node._backward()
    return {name: leaf.grad for name, leaf in leaves.items()}


# Their answers can be run beside minigrad's own engine, node by node (widgets.lessons.own_engine)
DRAWN = (
    backward_on,
    value_grads,
)


def value_records(cls: Any, expression: str, inputs: dict[str, float]) -> Any:
    """What a result remembers: which leaves it was made from, and that it names its operation."""
    out, leaves = _apply(cls, expression, inputs)
    parents = {name: any(p is leaf for p in out._prev) for name, leaf in leaves.items()}
    return {**parents, "_op is a text": isinstance(out._op, str) and bool(out._op), "grad starts at": out.grad}


def own_engine(entry: Any) -> tuple[Any, dict[str, Any]]:
    """The Value that an answer trains with, and the names it sees. Where its cell stands alone, the engine's own are put in."""
    from ...scalar import Value

    names = entry.__globals__
    names.setdefault("Value", Value)
    names.setdefault("backward", Value.backward)
    return names["Value"], names


def _moons(seed: int) -> tuple[list[tuple[float, float]], list[int]]:
    from ...datasets import moons

    points, labels = moons(100, seed=seed)
    return [tuple(p) for p in points.tolist()], [2 * label - 1 for label in labels.tolist()]


def _trained(entry: Any, seed: int, luck: int = 0, **more: int) -> Any:
    import random

    own_engine(entry)
    state = random.getstate()
    random.seed(seed + 100_000 * luck)
    try:
        return entry(*_moons(seed), **more)
    finally:
        random.setstate(state)


def score_of(entry: Any, seed: int) -> Any:
    """What the model returns for a point."""
    Value, _ = own_engine(entry)
    score = _trained(entry, seed, steps=1)(0.5, 0.2)
    return {"a Value": isinstance(score, Value), "made from others": bool(score._prev)}


def first_steps(entry: Any, seed: int) -> Any:
    """Observe the first three backward passes of a training: which leaves persist, their gradients before each pass, how they move."""
    _, names = own_engine(entry)
    passes: list[dict[int, tuple[Any, float, float]]] = []
    slopes: list[dict[int, float]] = []
    run = names["backward"]

    def watched(root: Any) -> None:
        leaves = [node for node in users_first(root) if not node._prev]
        passes.append({id(leaf): (leaf, leaf.data, leaf.grad) for leaf in leaves})
        run(root)
        slopes.append({id(leaf): leaf.grad for leaf in leaves})

    names["backward"] = watched
    try:
        _trained(entry, seed, steps=3)
    finally:
        names["backward"] = run
    stay = set.intersection(*(set(p) for p in passes)) if len(passes) == 3 else set()
    moves = [(passes[k + 1][i][1] - passes[k][i][1], slopes[k][i]) for i in stay for k in range(2)]
    moved = {i for i in stay if passes[2][i][1] != passes[0][i][1]}
    return {
        "the gradients are cleared before each pass": all(p[i][2] == 0 for p in passes for i in stay),
        "the parameters move": len(moved) >= 8,
        "downhill": sum(step * slope for step, slope in moves) < 0,
    }


def _watched(entry: Any, seed: int) -> contextlib.AbstractContextManager[None]:
    """A film of the training, where a notebook shows one. What goes wrong in it is not the answer's fault, and only ends the film."""
    if watcher is None:
        return contextlib.nullcontext()
    from ...film import each_backward, model_among

    films: list[Any] = []

    def step(loss: Any, variables: Any) -> None:
        try:
            if not films and watcher is not None:
                films.append(watcher(model_among(variables), *_moons(seed)))
            if films[0] is not None:
                films[0].step(loss)
        except Exception:
            films[:] = [None]

    return each_backward(entry, step)


def two_moons(entry: Any, seed: int) -> Any:
    """Train the learner's model, and count the points that it puts on the right side. A start that is only unlucky gets two more."""
    tries = []
    for luck in range(3):
        with _watched(entry, seed):
            model = _trained(entry, seed, luck)
        tries.append(_judged(model, seed))
        if not 80 <= tries[-1]["of 100 it was trained on"] < 97:
            break
    return max(tries, key=lambda t: t["of 100 it was trained on"])


def _judged(model: Any, seed: int) -> dict[str, Any]:
    def score(p: tuple[float, float]) -> float:
        return float(model(*p).data)

    def right(points: list, labels: list) -> int:
        return sum(score(p) * label > 0 for p, label in zip(points, labels, strict=True))

    far = [(x / 2, y / 2) for x in range(-4, 7) for y in range(-4, 5)]
    scores = [score(p) for p in far]
    bends = [score((x, y)) - (score((x - 1.0, y)) + score((x + 1.0, y))) / 2 for x, y in far]
    return {
        "of 100 it was trained on": right(*_moons(seed)),
        "of 100 others": right(*_moons(seed + 1)),
        "lowest score": min(scores),
        "scores differ": max(scores) - min(scores) > 1e-9,
        "straight": max(map(abs, bends)) < 1e-9 < max(scores) - min(scores),
    }


def same(x: Any, y: Any) -> bool:
    """Whether two answers are the same plain data."""
    return repr(plain(x)) == repr(plain(y))
