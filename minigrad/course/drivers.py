"""How a probe's inputs become a call of the learner's code.

What lives here: functions `driver(entry, *inputs)` that build what the answer needs, call it and return plain data, and the small
`Node` that backward exercises are given. What does not: expected results, solutions, hints. This file travels with a submission into
the grading worker, so nothing in it may give an answer away.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

from .plain import MISSING, odd, plain, safe_name


def _torch() -> Any:
    """The Tensor engine, loaded when a driver needs it."""
    import minigrad

    return minigrad


@cache
def load_engine() -> None:
    """Import the engine and use it once, which imports the rest of it: no answer pays for that."""
    if not find_spec("numpy"):  # a page in a browser that cannot fetch it: exercises about single numbers answer there
        return
    torch = _torch()
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (torch.sin(torch.exp(x) @ x) + (x**2).mean() + (x * 2).sum()).backward()
    x.grad.tolist()


def modes() -> dict[str, Any]:
    """The engine's modes in this thread, such as whether it records, as a dict that can be written to."""
    from minigrad.core.dispatch import state

    return vars(state)


class ByHand(Exception):
    """The answer asks the engine for what the exercise asks to be written by hand."""


@contextmanager
def by_hand(*, tensors: bool = False) -> Iterator[None]:
    """While it lasts nothing differentiates: `backward` of a Value, any operation on Tensors (with `tensors` they compute, without a
    backward pass), and the optimizers raise ByHand.
    """
    from minigrad import scalar
    from minigrad.core.dispatch import Handler

    def refuse(*_: Any, **__: Any) -> Any:
        raise ByHand(
            f"this is written by hand: {'backward and torch.optim' if tensors else 'Tensors and backward'} are switched off here"
        )

    class Off(Handler):
        def __call__(self, op: Any, inputs: Any, params: Any) -> Any:
            return op(*inputs, *params) if tensors else refuse()

        def updates(self, optimizer: Any, begins: bool) -> None:
            refuse()

    replaced = [(scalar.Value, "backward")]
    if tensors:
        torch = _torch()
        replaced += [
            (torch.nn.utils, "clip_grad_norm_"),
            (torch.nn.utils, "clip_grad_value_"),
            (torch.Tensor, "backward"),
        ]
    before = [(of, name, getattr(of, name)) for of, name in replaced]
    try:
        for of, name in replaced:
            setattr(of, name, refuse)
        with Off():
            yield
    finally:
        for of, name, function in before:
            setattr(of, name, function)


class Mutated:
    """A driver's way to report that the answer changed its inputs."""

    def __init__(self, out: Any):
        self.out = out


def value(entry: Any) -> Any:
    """The answer is a value: hand it over as it is."""
    return entry


def call(entry: Any, *args: Any) -> Any:
    """The answer is a function: call it."""
    return entry(*args)


def letters(entry: Any) -> Any:
    """An order given as "ABC", "a, b, c" or ["A", "B", "C"]."""
    text = "".join(entry) if isinstance(entry, (list, tuple)) else entry
    return "".join(ch for ch in text.upper() if ch.isalnum()) if isinstance(text, str) else text


def answer(entry: Any) -> Any:
    """The answer is a value or a dict of values; texts count whatever their case and the blanks around them."""
    data = plain(entry)
    if isinstance(data, dict) and "!" not in data:
        return {k: _tidy(v) for k, v in data.items()}
    return _tidy(data)


def call_by_hand(entry: Any, *args: Any) -> Any:
    """The same, while nothing differentiates for the answer."""
    with by_hand():
        return entry(*args)


def entry(answer: Any, key: str, none_counts: bool = False) -> Any:
    """One entry of an answer that is a dict. Where None can be right, it counts as "none" once another entry is filled in."""
    data = plain(answer)
    if not isinstance(data, dict) or "!" in data:
        return odd("a dict is needed, with an entry for each question")
    if key not in data:
        return odd(MISSING)
    if data[key] is None and none_counts and any(v is not None for v in data.values()):
        return "none"
    return _tidy(data[key])


def _tidy(x: Any) -> Any:
    """A text without blanks around it, the dot and the parentheses of a method, and capitals."""
    return x.strip().strip(".").removesuffix("()").lower() if isinstance(x, str) else x


# ---- chapter 01 -----------------------------------------------------------------------------------------------------------------

FUNCTIONS = {
    "x²": lambda x: x * x,
    "x³": lambda x: x * x * x,
    "sin": math.sin,
    "exp": math.exp,
    "1/x": lambda x: 1.0 / x,
    "(3x + 2)²": lambda x: (3.0 * x + 2.0) ** 2,
}


def slope(entry: Any, name: str, x: float) -> Any:
    return entry(FUNCTIONS[name], x)


def slopes_over_h(entry: Any, name: str, x: float, hs: list[float]) -> Any:
    """The estimates for several steps h."""
    return [entry(FUNCTIONS[name], x, h) for h in hs]


THREE_POINTS = ((1.0, 3.0), (2.0, 4.0), (3.0, 7.0))
LOSSES = {
    "a parabola": lambda w: (w[0] - 3) ** 2,
    "a bowl": lambda w: (w[0] - 3) ** 2 + 2 * (w[1] + 1) ** 2,
    "a slanted bowl": lambda w: (w[0] + 2 * w[1] - 4) ** 2 + (w[0] - w[1]) ** 2,
    "a line through three points": lambda w: sum((w[0] * x + w[1] - y) ** 2 for x, y in THREE_POINTS) / 3,
    "three weights": lambda w: math.sin(w[0] * w[1]) + w[1] ** 2 + (w[2] - 1) ** 2,
}


def descends(entry: Any, name: str, ws: list[float], lr: float, steps: int) -> Any:
    """Where the answer arrives on one of the losses."""
    return entry(LOSSES[name], list(ws), lr, steps)


def descends_from(entry: Any, name: str, ws: list[float], lr: float, steps: int) -> Any:
    """What the list of weights that was handed over holds afterwards."""
    given = list(ws)
    entry(LOSSES[name], given, lr, steps)
    return given


class NotSmooth(Exception):
    """The function asked for something that a smooth one does not."""


class Smooth:
    """A number with its derivative, for smooth functions only: comparisons, absolute values and the like are refused."""

    def __init__(self, value: float, slope: float = 0.0):
        self.value, self.slope = value, slope

    @staticmethod
    def of(x: Any) -> Smooth:
        return x if isinstance(x, Smooth) else Smooth(float(x))

    def __add__(self, other: Any) -> Smooth:
        other = Smooth.of(other)
        return Smooth(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other: Any) -> Smooth:
        other = Smooth.of(other)
        return Smooth(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def __pow__(self, n: Any) -> Smooth:
        if isinstance(n, Smooth):
            return (n * self.log()).exp()
        return Smooth(self.value**n, n * self.value ** (n - 1) * self.slope)

    def __rpow__(self, base: float) -> Smooth:
        return (self * math.log(base)).exp()

    def __neg__(self) -> Smooth:
        return self * -1

    def __sub__(self, other: Any) -> Smooth:
        return self + -Smooth.of(other)

    def __rsub__(self, other: Any) -> Smooth:
        return Smooth.of(other) - self

    def __truediv__(self, other: Any) -> Smooth:
        return self * Smooth.of(other) ** -1

    def __rtruediv__(self, other: Any) -> Smooth:
        return Smooth.of(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def exp(self) -> Smooth:
        return Smooth(math.exp(self.value), math.exp(self.value) * self.slope)

    def log(self) -> Smooth:
        return Smooth(math.log(self.value), self.slope / self.value)

    def sin(self) -> Smooth:
        return Smooth(math.sin(self.value), math.cos(self.value) * self.slope)

    def cos(self) -> Smooth:
        return Smooth(math.cos(self.value), -math.sin(self.value) * self.slope)

    def tanh(self) -> Smooth:
        return Smooth(math.tanh(self.value), (1 - math.tanh(self.value) ** 2) * self.slope)

    def _refuse(self, *_: Any) -> Any:
        raise NotSmooth("it compares x, rounds it or takes an absolute value")

    __lt__ = __gt__ = __le__ = __ge__ = __bool__ = __int__ = __abs__ = __round__ = __mod__ = __floordiv__ = _refuse

    def __float__(self) -> Any:
        raise NotSmooth("a function of the module math makes a plain number of x; write x.sin() for math.sin(x)")

    relu = abs = clamp = sign = floor = _refuse

    @property
    def data(self) -> Any:
        raise NotSmooth("it reads x.data")


def fooled(entry: Any, x: float, h: float = 1e-5) -> Any:
    """The slope of the answer near x three ways: exactly, by AD, and by nudging; or why the function is not smooth.

    Of several points the one where nudging does best: a pole or a steep step beside x fools it in one place only.
    """
    found = [_slopes_at(entry, at, h) for at in (1.0, x, x - 0.03, x + 0.04)]
    if changes := [got for got in found if "changes" in got]:
        return changes[0]
    errors = [
        abs(got["nudged"] / got["exact"] - 1) if got.get("exact") and math.isfinite(got["nudged"]) else -1.0
        for got in found
    ]
    return found[errors.index(min(errors))] | {"largest error": max(errors)}


def _slopes_at(entry: Any, x: float, h: float) -> dict[str, Any]:
    from minigrad import Value

    try:
        exact = Smooth.of(entry(Smooth(x, 1.0))).slope
    except NotSmooth as error:
        return {"not smooth": str(error)}
    at = Value(x)
    y = entry(at)
    if not isinstance(y, Value):
        return odd("a number that does not depend on x")
    y.backward()
    once, twice = ([entry(Value(t)).data for t in (x - h, x, x + h)] for _ in range(2))
    if repr(once) != repr(twice) or repr(once[1]) != repr(y.data):  # repr, because nan is not equal to itself
        return {"changes": True}
    left, _, right = once
    return {"exact": exact, "ad": at.grad, "nudged": (right - left) / (2 * h)}


# ---- chapter 03 -----------------------------------------------------------------------------------------------------------------


def edges(program: str, numbers: list[float]) -> dict[str, list[tuple[str, float]]]:
    """A graph as exercise 03.b receives it: for each name its inputs, with these local slopes."""
    if program == "diamonds":
        graph: dict[str, list[tuple[str, float]]] = {"y0": []}
        for k, (a, b, c, d) in enumerate(zip(*[iter(numbers)] * 4, strict=True)):
            graph |= {f"l{k}": [(f"y{k}", a)], f"r{k}": [(f"y{k}", c)], f"y{k + 1}": [(f"l{k}", b), (f"r{k}", d)]}
        return graph
    p, q, r, s, t = (*numbers, *[0.0] * 5)[:5]
    return {
        "chain": {"x": [], "a": [("x", p)], "b": [("a", q)], "y": [("b", r)]},
        "two paths": {"x": [], "a": [("x", p)], "b": [("x", q)], "y": [("a", r), ("b", s)]},
        "twice": {"x": [], "y": [("x", p), ("x", q)]},
        "long and short": {
            "x": [],
            "a": [("x", p)],
            "b": [("a", q)],
            "c": [("b", r), ("a", s)],
            "y": [("c", 1.0), ("x", t)],
        },
        "beside": {
            "x": [],
            "w": [],
            "a": [("x", p)],
            "z": [("x", q), ("w", t)],
            "y": [("a", r)],
            "later": [("y", s), ("z", t)],
        },
    }[program]


def slope_on(entry: Any, program: str, root: str, leaf: str, numbers: list[float]) -> Any:
    """Run the learner's sum over paths on a graph of plain numbers."""
    with by_hand():
        return entry(edges(program, numbers), root, leaf)


# ---- chapter 05 -----------------------------------------------------------------------------------------------------------------


class Node:
    """A recorded value as exercise 05.b receives it: data, grad, _prev, _op and _backward(), and a count of how often that was called."""

    def __init__(self, data: float, _prev: tuple = (), _op: str = "", _locals: tuple = (), name: str = ""):
        self.data, self.grad, self._prev, self._op, self.name = data, 0.0, _prev, _op, name
        self._edges, self.calls = (
            tuple(zip(_prev, _locals, strict=True)),
            0,
        )  # as a rule holds its inputs, whatever becomes of _prev

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
    """y = 1 - x²: the results are smaller than what they are made from."""
    x = Node(x_data, name="x")
    p = mul(x, x, "p")
    q = mul(p, Node(-1.0, name="-1"), "q")
    return [add(q, Node(1.0, name="1"), "y"), q, p, x]


def _written_twice(a_data: float, b_data: float) -> list[Node]:
    """y = (a + b) * (a + b): two sums that hold the same number and name the same operation."""
    a, b = Node(a_data, name="a"), Node(b_data, name="b")
    s, t = add(a, b, "s"), add(a, b, "t")
    return [mul(s, t, "y"), s, t, b, a]


GRAPHS: dict[str, Any] = {
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


def _order(root: Any) -> list[Any]:
    """Every node of a learner's graph, users before what they use."""
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
    order = _order(out)
    out.grad = seed
    for node in order:
        node._backward()
    return {name: leaf.grad for name, leaf in leaves.items()}


DRAWN = (
    backward_on,
    value_grads,
)  # their answers can be run beside minigrad's own engine, node by node (widgets.lessons.own_engine)


def value_records(cls: Any, expression: str, inputs: dict[str, float]) -> Any:
    """What a result remembers: which leaves it was made from, and that it names its operation."""
    out, leaves = _apply(cls, expression, inputs)
    parents = {name: any(p is leaf for p in out._prev) for name, leaf in leaves.items()}
    return {**parents, "_op is a text": isinstance(out._op, str) and bool(out._op), "grad starts at": out.grad}


# ---- chapter 05: a network that learns ------------------------------------------------------------------------------------------


def _own_engine(entry: Any) -> tuple[Any, dict[str, Any]]:
    """The Value that an answer trains with, and the names it sees. Where its cell stands alone, the engine's own are put in."""
    from ..scalar import Value

    names = entry.__globals__
    names.setdefault("Value", Value)
    names.setdefault("backward", Value.backward)
    return names["Value"], names


def _moons(seed: int) -> tuple[list[tuple[float, float]], list[int]]:
    from ..datasets import moons

    points, labels = moons(100, seed=seed)
    return [tuple(p) for p in points.tolist()], [2 * label - 1 for label in labels.tolist()]


def _trained(entry: Any, seed: int, luck: int = 0, **more: int) -> Any:
    import random

    _own_engine(entry)
    state = random.getstate()
    random.seed(seed + 100_000 * luck)
    try:
        return entry(*_moons(seed), **more)
    finally:
        random.setstate(state)


def score_of(entry: Any, seed: int) -> Any:
    """What the model returns for a point."""
    Value, _ = _own_engine(entry)
    score = _trained(entry, seed, steps=1)(0.5, 0.2)
    return {"a Value": isinstance(score, Value), "made from others": bool(score._prev)}


def first_steps(entry: Any, seed: int) -> Any:
    """Watch the first three backward passes of the training: which leaves stay, what they hold when a pass begins, how they move."""
    _, names = _own_engine(entry)
    passes: list[dict[int, tuple[Any, float, float]]] = []
    slopes: list[dict[int, float]] = []
    run = names["backward"]

    def watched(root: Any) -> None:
        leaves = [node for node in _order(root) if not node._prev]
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


def two_moons(entry: Any, seed: int) -> Any:
    """Train the learner's model, and count the points that it puts on the right side. A start that is only unlucky gets two more."""
    tries = []
    for luck in range(3):
        tries.append(_judged(_trained(entry, seed, luck), seed))
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


# ---- chapter 02 -----------------------------------------------------------------------------------------------------------------


def walk_names(entry: Any, leaves: int, steps: list) -> Any:
    """Run the learner's walk on the Tensor graph of a program: each step is (operation, indices of the values that it uses)."""
    torch = _torch()
    operations = {
        "sin": torch.sin,
        "exp": torch.exp,
        "dot": torch.dot,
        "pow": lambda x: x**2,
        "add": lambda x, y: x + y,
        "mul": lambda x, y: x * y,
        "times 3": lambda x: 3 * x,
        "plus 1": lambda x: x + 1,
    }
    values = [torch.tensor([0.1, 0.2], requires_grad=True) for _ in range(leaves)]
    for operation, *inputs in steps:
        values.append(operations[operation](*(values[i] for i in inputs)))
    return entry(values[-1])


def shape_of(entry: Any, p: float, q: float) -> Any:
    """The graph of a program on two Values: the parents of each node by number, and whether it is a leaf, a constant or an operation."""
    from minigrad import Value

    leaves = (Value(p), Value(q))
    root = entry(*leaves)
    if not isinstance(root, Value):
        return odd("a value that was computed from p and q is needed")
    nodes: list[Value] = []
    todo = [root]
    while todo:
        node = todo.pop()
        if not any(node is other for other in nodes):
            nodes.append(node)
            todo.extend(node._prev)
    number = {id(node): n for n, node in enumerate(nodes)}
    kinds = ["leaf" if node in leaves else "operation" if node._op else "constant" for node in nodes]
    return {"parents": [[number[id(parent)] for parent in node._prev] for node in nodes], "kinds": kinds}


class ChainNode:
    """A node of a long backward graph, as far as a walk looks at it."""

    def __init__(self, label: str, next_functions: tuple):
        self._label, self.next_functions = label, next_functions

    def name(self) -> str:
        return self._label


@cache
def chain_of_nodes(n: int) -> ChainNode:
    node = None
    for k in reversed(range(n)):
        node = ChainNode(f"Add{k}", ((node, 0), (None, 0)))
    assert node is not None
    return node


class Ended:
    """A result with a grad_fn, and nothing else of a tensor."""

    def __init__(self, grad_fn: Any):
        self.grad_fn = grad_fn


def walk_chain(entry: Any, n: int) -> Any:
    """Run the learner's walk down a chain of n nodes; what it found, in short."""
    names = entry(Ended(chain_of_nodes(n)))
    if not isinstance(names, list):
        return names
    return {"names": len(names), "first": names[0] if names else None, "last": names[-1] if names else None}


def values_found(entry: Any, parents: list[list[int]]) -> Any:
    """Run the learner's values_of on a graph of Nodes, given by each one's parents; the last one is the root. Returns their numbers."""
    nodes = [Node(1.0, name=str(n)) for n in range(len(parents))]
    for node, of in zip(nodes, parents, strict=True):
        node._prev = tuple(nodes[p] for p in of)
    places = {id(node): n for n, node in enumerate(nodes)}
    return [places.get(id(node)) for node in entry(nodes[-1])]


# ---- chapter 06 -----------------------------------------------------------------------------------------------------------------


class Number:
    """What chapter 05's Value is: data, grad, _prev, _op and _backward, with the arithmetic of that chapter. `backwards` counts the passes.

    Operations that an answer makes are `Value(data, (self,), "name")` with a function as `_backward`, so a subclass stays itself.
    """

    backwards = 0

    def __init__(self, data: float, _prev: tuple = (), _op: str = "", _locals: tuple = ()):
        self.data, self.grad = data, 0.0
        self._prev, self._op, self._locals = _prev, _op, _locals

    def _backward(self) -> None:
        for parent, local in zip(self._prev, self._locals, strict=False):
            parent.grad += local * self.grad

    def _of(self, other: Any) -> Number:
        return other if isinstance(other, Number) else type(self)(other)

    def __add__(self, other: Any) -> Number:
        other = self._of(other)
        return type(self)(self.data + other.data, (self, other), "+", (1.0, 1.0))

    def __mul__(self, other: Any) -> Number:
        other = self._of(other)
        return type(self)(self.data * other.data, (self, other), "*", (other.data, self.data))

    def __pow__(self, n: float) -> Number:
        return type(self)(self.data**n, (self,), "**", (n * self.data ** (n - 1),))

    def __neg__(self) -> Number:
        return self * -1.0

    def __sub__(self, other: Any) -> Number:
        return self + -self._of(other)

    def __rsub__(self, other: Any) -> Number:
        return -self + other

    def __truediv__(self, other: Any) -> Number:
        return self * self._of(other) ** -1

    def __rtruediv__(self, other: Any) -> Number:
        return self**-1 * other

    __radd__, __rmul__ = __add__, __mul__

    def backward(self) -> None:
        Number.backwards += 1
        self.grad = 1.0
        for v in _order(self):
            v._backward()


def _taught(entry: Any) -> Any:
    """A new Value class with the answer's operations: what an answer attaches to it is gone with it."""
    fresh = type("Value", (Number,), {"__module__": "exercise"})
    entry(fresh)
    return fresh


def taught_forward(entry: Any, expression: str, inputs: dict[str, float]) -> Any:
    """The number that an expression with the learner's operations gives, such as "a.exp() * b"."""
    return value_forward(_taught(entry), expression, inputs)


def taught_grads(entry: Any, expression: str, inputs: dict[str, float]) -> Any:
    """The gradients of the inputs of such an expression, by the learner's rules in a correct order."""
    return value_grads(_taught(entry), expression, inputs)


RULES: dict[str, tuple[Callable, Callable]] = {  # a function of numbers, and its derivatives
    "a square": (lambda x: x * x, lambda x: [2 * x]),
    "a product": (lambda x, y: x * y, lambda x, y: [y, x]),
    "a quotient": (lambda x, y: x / y, lambda x, y: [1 / y, -x / y**2]),
    "a product of three": (lambda x, y, z: x * y * z, lambda x, y, z: [y * z, x * z, x * y]),
    "a wave at its top": (lambda x, a: a * math.cos(x), lambda x, a: [-a * math.sin(x), math.cos(x)]),
    "a logarithm very close to zero": (math.log, lambda x: [1 / x]),
    "a cube of something tiny": (lambda x: x**3, lambda x: [3 * x * x]),
    "something huge times something tiny": (lambda x, y: x * y, lambda x, y: [y, x]),
    "relu below zero": (lambda x: max(x, 0.0), lambda x: [1.0 if x > 0 else 0.0]),
    "a third": (lambda x: x / 3, lambda x: [1 / 3]),
}
FAULTS: dict[str, Callable] = {  # what a wrong rule does with the right derivatives
    "half of it": lambda *d: [d[0] / 2, *d[1:]],
    "exchanged": lambda *d: d[::-1],
    "last sign": lambda *d: [*d[:-1], -d[-1]],
    "last is missing": lambda *d: [*d[:-1], 0.0],
    "one hundredth more": lambda *d: [d[0] * 1.01 or 0.01, *d[1:]],
    "nan": lambda *d: [math.nan, *d[1:]],
}  # fmt: skip


def _operation(Value: Any, name: str, fault: str = "") -> Callable:
    """A function of Values with a rule of its own, right or with a fault."""
    forward, derivatives = RULES[name]

    def f(*inputs: Any) -> Any:
        xs = [v.data for v in inputs]
        out = Value(forward(*xs), tuple(inputs), "f")

        def _backward() -> None:
            for v, d in zip(inputs, FAULTS.get(fault, lambda *d: d)(*derivatives(*xs)), strict=True):
                part = d if fault == "forgets g" else d * out.grad
                v.grad = part if fault == "replaces" else v.grad + part

        out._backward = _backward
        return out

    return f


def gradcheck_on(entry: Any, name: str, fault: str, xs: list[float]) -> Any:
    """What a learner's gradcheck says about a right rule and about a wrong one."""
    Value, _ = _own_engine(entry)
    return {
        f"the {what} rule": entry(_operation(Value, name, its), list(xs))
        for what, its in (("right", ""), ("wrong", fault))
    }


# ---- chapter 07 -----------------------------------------------------------------------------------------------------------------


def train_value(entry: Any, start: float, data: list, *numbers: float) -> Any:
    """Run a training loop on a Value, with these steps, learning rate and what else it takes, and look at the Value itself afterwards."""
    Value, _ = _own_engine(entry)
    w = Value(start)
    returned = entry(w, [tuple(pair) for pair in data], *numbers)
    return {"w.data": w.data, "returned": list(returned) if isinstance(returned, tuple) else returned}


def accumulate_value(entry: Any, start: float, batches: list, old: float = 0.0) -> Any:
    """Run a gradient accumulation on a Value that may hold an old gradient, and look at its grad afterwards."""
    Value, _ = _own_engine(entry)
    w = Value(start)
    w.grad = old
    entry(w, [[tuple(pair) for pair in batch] for batch in batches])
    return w.grad


def accumulate_passes(entry: Any, start: float, batches: list) -> Any:
    """How many backward passes were run, and whether any of their graphs was larger than that of the largest micro-batch may be."""
    Value, names = _own_engine(entry)
    run, uses = names["backward"], []

    def watched(root: Any) -> None:
        uses.append(sum(parent is w for node in _order(root) for parent in node._prev))
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


# ---- chapter 08 -----------------------------------------------------------------------------------------------------------------


MANY_OUTPUTS: dict[str, Callable] = {
    "product and sum": lambda x: [x[0] * x[1], x[0] + x[1] * x[1]],
    "three to two": lambda x: [x[0] * x[1] + 3.0 * x[2], x[2] * x[2] * x[0] + -1.0 * x[1]],
    "two to three": lambda x: [x[0] * x[0] * x[0], x[0] * x[1], 2.0 * x[0] + -5.0 * x[1]],
    "shared": lambda x: (lambda h: [h * h, h + x[0], h])(x[0] * x[1]),
    "an input is an output": lambda x: [x[1], x[0] * x[1], x[1]],
    "one output": lambda x: [2.0 * x[0] * x[1]],
}


def jacobian_of(entry: Any, name: str, xs: list[float]) -> Any:
    """What the learner's jacobian makes of a function of Numbers."""
    return entry(MANY_OUTPUTS[name], list(xs), Number, Number.backward)


def jacobian_passes(entry: Any, name: str, xs: list[float]) -> Any:
    before = Number.backwards
    jacobian_of(entry, name, xs)
    return {"backward passes": Number.backwards - before}


# ---- chapter 09 and others with arrays ------------------------------------------------------------------------------------------


def call_arrays(entry: Any, *args: Any) -> Any:
    """Call with every list as a numpy array, and notice when one of them is changed."""
    import numpy as np

    given = [np.array(a, dtype=float) if isinstance(a, (list, tuple)) else a for a in args]
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in given]
    with by_hand():
        out = plain(entry(*given))
    changed = any(
        isinstance(a, np.ndarray) and not np.array_equal(a, b, equal_nan=True)
        for a, b in zip(given, before, strict=True)
    )
    return Mutated(out) if changed else out


def ramp(n: int) -> float:
    """Numbers that are all different, for gradients in a probe."""
    return float((7 * n) % 31 - 11)


def unbroadcast_ramp(entry: Any, big: tuple, small: tuple) -> Any:
    """Hand a gradient of shape `big` to the learner's unbroadcast. A result of another shape is shown as its shape."""
    import numpy as np

    g = np.array([ramp(n) for n in range(int(np.prod(big)))]).reshape(big)
    out = entry(g, tuple(small))
    return out


# ---- chapters 10 and 11 ---------------------------------------------------------------------------------------------------------


def ema_numbers(entry: Any, teacher: list, student: list, m: float, times: int) -> Any:
    """The teacher's tensors after some updates. Between two of them the student's numbers grow by 1."""
    ts, ss = [_leaf64(t) for t in teacher], [_leaf64(s) for s in student]
    own = list(ts)
    for k in range(times):
        for s in ss if k else ():
            s.detach().add_(1.0)
        entry(ts, ss, m)
    return [t.tolist() for t in own]


def ema_tensors(entry: Any, teacher: list, student: list, m: float) -> Any:
    """What became of the teacher's tensors in one update, and whether autograd could notice the writes."""
    import numpy as np

    ts, ss = [_leaf64(t) for t in teacher], [_leaf64(s) for s in student]
    own, before, versions = list(ts), [s.tolist() for s in ss], [t._version for t in ts]
    entry(ts, ss, m)
    recorded = any(t.grad_fn is not None for t in ts)
    return {
        "they are the same tensors": all(t is o for t, o in zip(ts, own, strict=True)),
        "they are leaves that require gradients": all(t.is_leaf and t.requires_grad for t in ts),
        "they share memory with the student": any(
            np.shares_memory(t.detach().numpy(), s.detach().numpy())
            for t, s in zip(ts, ss, strict=True)  # data_ptr needs ctypes
        ),
        "the student is as it was": [s.tolist() for s in ss] == before,
        "noticed": "recorded" if recorded else all(t._version > v for t, v in zip(own, versions, strict=True)),
    }


MEMORY = 0.3  # the h that a sequence begins with


def _cell(w: Any, u: Any) -> Callable:
    """A recurrent cell with two weights, as exercise 10.d receives it: (h, x) -> (next h, loss)."""

    def step(h: Any, x: float) -> Any:
        h = (w * h + u * x).tanh()
        return h, (h - 0.5 * x) ** 2

    return step


def truncated_result(entry: Any, w: float, u: float, xs: list[float], k: int) -> Any:
    """Both gradients after the learner's windows, and the h that is left."""
    leaves = _leaf64(w), _leaf64(u)
    h = entry(_cell(*leaves), _leaf64(MEMORY).detach(), list(xs), k)
    there = isinstance(h, _torch().Tensor)
    return {
        **{
            f"{name}.grad": None if leaf.grad is None else leaf.grad.item()
            for name, leaf in zip("wu", leaves, strict=True)
        },
        "last h": h.item() if there else None,
        "h has a graph": h.requires_grad if there else None,
    }


def truncated_work(entry: Any, w: float, u: float, xs: list[float], k: int) -> Any:
    """How often the learner calls backward, and over how many steps the longest graph reaches."""
    Tensor, steps = _torch().Tensor, []
    backward = Tensor.backward

    def watched(self: Any, *args: Any, **named: Any) -> None:
        seen, todo = set(), [self.grad_fn]
        while todo:
            node = todo.pop()
            if node is not None and node not in seen:
                seen.add(node)
                todo += [parent for parent, _ in node.next_functions]
        steps.append(sum(node.name() == "TanhBackward0" for node in seen))
        backward(self, *args, **named)

    Tensor.backward = watched
    try:
        entry(_cell(_leaf64(w), _leaf64(u)), _leaf64(MEMORY).detach(), list(xs), k)
    finally:
        Tensor.backward = backward
    return {"backward passes": len(steps), "steps in the longest graph": max(steps, default=0)}


def _hvp_setup(n: int, seed: int) -> tuple[Any, Any, Any]:
    """x, v and a for f(x) = sum(x⁴)/12 + (a·x)²/2: its gradient is x³/3 + (a·x) a, its Hessian diag(x²) + a aᵀ."""
    import numpy as np

    a, x, v = np.random.default_rng(seed).normal(size=(3, n))
    return x, v, a


def _hvp_function(a: Any, passes: list[int]) -> Callable:
    """The f of _hvp_setup for tensors. Every backward pass through it is noted."""
    torch = _torch()
    a = torch.tensor(a)

    def f(x: Any) -> Any:
        y = x * 1.0
        if y.requires_grad:
            y.register_hook(lambda g: passes.append(1))
        return (y**4).sum() / 12 + (a @ y) ** 2 / 2

    return f


def hvp_autograd(entry: Any, n: int, seed: int) -> Any:
    """What the learner's hvp returns, and whether x and its .grad are as they were."""
    torch = _torch()
    x, v, a = _hvp_setup(n, seed)
    leaf = torch.tensor(x, requires_grad=True)
    product = entry(_hvp_function(a, []), leaf, torch.tensor(v))
    return {"H v": product, "x is as it was": leaf.tolist() == x.tolist() and leaf.requires_grad, "x.grad": leaf.grad}


def hvp_work(entry: Any, n: int, seed: int) -> Any:
    """How often the learner's hvp goes backward through f, and how much memory it takes at its peak, in rows of n numbers."""
    import tracemalloc

    torch = _torch()
    x, v, a = _hvp_setup(n, seed)
    passes: list[int] = []
    leaf, f, v = torch.tensor(x, requires_grad=True), _hvp_function(a, passes), torch.tensor(v)
    tracemalloc.start()
    try:
        entry(f, leaf, v)
        return {"passes": len(passes), "rows": tracemalloc.get_traced_memory()[1] // (8 * n)}
    finally:
        tracemalloc.stop()


def _nudged(entry: Any) -> Any:
    """The second function of the same cell."""
    return entry.__globals__.get("hvp_nudged") or (lambda *_: None)


def hvp_nudged(entry: Any, n: int, seed: int) -> Any:
    """What the learner's hvp_nudged makes of a gradient in numpy, how often it asks for one, and whether x and v are as they were."""
    x, v, a = _hvp_setup(n, seed)
    before, calls = (x.tolist(), v.tolist()), []

    def grad(t: Any) -> Any:
        calls.append(1)
        return t**3 / 3 + (a @ t) * a

    product = _nudged(entry)(grad, x, v)
    return {"H v": product, "calls of grad": len(calls), "x and v are as they were": (x.tolist(), v.tolist()) == before}


def bowl(eigenvalues: list[float], seed: int) -> tuple[Any, Any]:
    """A quadratic loss with these eigenvalues, and where to begin: turned into any direction, or along the axes when there are many."""
    import numpy as np

    torch, n = _torch(), len(eigenvalues)
    rng = np.random.default_rng(seed)
    start = torch.tensor(rng.normal(size=n), requires_grad=True)
    if n > 100:
        d = torch.tensor(rng.permutation(eigenvalues))
        return (lambda w: (d * w * w).sum() / 2 - w.sum()), start
    q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    h = torch.tensor((q * np.array(eigenvalues)) @ q.T)
    return (lambda w: w @ (h @ w) / 2 - w.sum()), start


def largest_step(entry: Any, eigenvalues: list[float], seed: int) -> Any:
    """The learner's learning rate for a bowl, also in units of the largest stable one, and how many products it took, and columns of H."""
    torch, products, columns = _torch(), [], set()

    def hvp(f: Any, x: Any, v: Any) -> Any:
        products.append(1)
        if int((v != 0).sum()) == 1:
            columns.add(int(v.abs().argmax()))
        return torch.autograd.functional.hvp(f, x.detach(), v)[1]

    state = torch.get_rng_state()
    torch.manual_seed(seed)
    try:
        lr = entry(*bowl(eigenvalues, seed), hvp)
    finally:
        torch.set_rng_state(state)
    lr = plain(lr)
    return {
        "lr": lr,
        "of the largest": lr * max(eigenvalues) / 2 if isinstance(lr, float) else None,
        "products": len(products),
        "columns": len(columns),
    }


# ---- chapter 12 -----------------------------------------------------------------------------------------------------------------


def dual(cls: Any, expression: str, x: float) -> Any:
    """Value and derivative of an expression over the learner's dual numbers."""
    out = eval(expression, {"__builtins__": {}, "sin": lambda d: d.sin(), "exp": lambda d: d.exp()}, {"x": cls(x, 1.0)})
    return [out.value, out.derivative]


def dual_loop(cls: Any, x: float, steps: int) -> Any:
    """The same for a program with a loop and an `if` in it."""
    x = y = cls(x, 1.0)
    for _ in range(steps):
        y = y / 3 - 1 if y > 2 else y**2 + x if y < 1 else 3 - x * y
    return [y.value, y.derivative]


def dual_side(cls: Any, x: float, y: float) -> Any:
    """A comparison of two dual numbers, whose derivatives say the opposite."""
    a, b = cls(x, -x), cls(y, -y)
    return [bool(a < b), bool(a > b), bool(b < a), bool(b > a)]


def _knobs(torch: Any, x: Any) -> Any:
    return torch.cat([x[0] * torch.sin(x[1:2] + torch.arange(0.0, 6.0, dtype=x.dtype)), x[2:]])


JACOBIANS = {
    "three to seven": _knobs,
    "four to two": lambda torch, x: torch.stack([x[0] * x[1] + x[3], x[2] ** 2 * x[0]]),
    "five to one": lambda torch, x: (x**3).sum().reshape(1),
    "two to three": lambda torch, x: torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]]),
}


def jacobian_by(entry: Any, name: str, x: list[float]) -> Any:
    """The learner's Jacobian, and which mode it took. The library's own Jacobians are switched off meanwhile."""
    torch = _torch()
    modes = []

    def watched(x: Any) -> Any:
        modes.append("reverse" if x.requires_grad else "forward")
        return JACOBIANS[name](torch, x)

    def off(*args: Any, **more: Any) -> Any:
        raise RuntimeError("here the Jacobian is built from jvp, vjp and vmap")

    library = {key: getattr(torch.func, key) for key in ("jacrev", "jacfwd")}
    try:
        for key in library:
            setattr(torch.func, key, off)
        J = entry(watched, torch.tensor(x, dtype=torch.float64))
    finally:
        for key, function in library.items():
            setattr(torch.func, key, function)
    return {"J": J.tolist(), "mode": modes[-1]}


def clipped(entry: Any, inputs: list, targets: list, most: float) -> Any:
    """The learner's sum of clipped gradients, for a small network with fixed weights."""
    torch = _torch()
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2)).double()
    with torch.no_grad():
        for k, p in enumerate(model.parameters()):
            p.copy_((torch.arange(p.numel(), dtype=p.dtype) * 0.7 + k).sin().reshape(p.shape))
    f64 = {"dtype": torch.float64}
    out = entry(model, torch.tensor(inputs, **f64), torch.tensor(targets, **f64), most)
    return {name: out[name].tolist() for name, _ in model.named_parameters()}


# ---- chapter 14 -----------------------------------------------------------------------------------------------------------------


def cross_entropy_value(entry: Any, numbers: list[float], target: int, seed: float, places: list[int] | None) -> Any:
    """The loss of scores on the learner's engine, and their gradients. `places`: which score goes where, if one is used twice."""
    Value, _ = _own_engine(entry)
    scores = [Value(x) for x in numbers]
    loss = entry([scores[k] for k in places or range(len(scores))], target)
    order = _order(loss)
    loss.grad = seed
    for node in order:
        node._backward()
    return {"loss": loss.data, "gradients": [s.grad for s in scores]}


def cross_entropy_records(entry: Any, numbers: list[float]) -> Any:
    """What the loss remembers."""
    Value, _ = _own_engine(entry)
    scores = [Value(x) for x in numbers]
    loss = entry(scores, 0)
    return {
        "a Value": isinstance(loss, Value),
        "parents are the scores": {id(p) for p in loss._prev} == {id(s) for s in scores},
    }


def cross_entropy_rows(entry: Any, z: list[list[float]], targets: list[int], smoothing: float) -> Any:
    import numpy as np

    return call_arrays(lambda rows, part: entry(rows, np.array(targets), part), z, smoothing)


def vocabulary(rows: int, classes: int, seed: int) -> Any:
    """Scores for a large vocabulary, and targets."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return 5 * rng.normal(size=(rows, classes)), rng.integers(0, classes, rows)


def cross_entropy_vocabulary(entry: Any, rows: int, classes: int, seed: int) -> Any:
    """Loss and gradient for many classes, of which a few numbers are enough."""
    z, targets = vocabulary(rows, classes, seed)
    with by_hand():
        loss, at_z = entry(z, targets, 0.1)
    return {
        "loss": float(loss),
        "gradient at the targets": [float(at_z[i, t]) for i, t in enumerate(targets)],
        "length of the gradient": float((at_z**2).sum() ** 0.5),
    }


def _network(seed: int, top: float) -> tuple[Any, ...]:
    """Letters, targets and parameters of the network of exercise 14.d. `top` is added to some scores."""
    import numpy as np

    rng = np.random.default_rng(seed)
    chars, targets = rng.integers(0, 4, (7, 3)), rng.integers(0, 4, 7)
    shapes = ((4, 2), (5, 6), (5,), (5,), (5,), (4, 5), (4,))  # C, W1, b1, gamma, beta, W2, b2
    parameters = [rng.normal(size=shape) for shape in shapes]
    parameters[-1][0] += top
    return chars, targets, *parameters


def network_gradient(entry: Any, name: str, seed: int, top: float) -> Any:
    """One of the gradients that the learner's function gives."""
    with by_hand():
        grads = entry(*_network(seed, top))
    if not isinstance(grads, dict):
        return odd("a dict is needed, with an array for each name")
    return grads[name] if name in grads else odd(MISSING)


# ---- chapter 13 -----------------------------------------------------------------------------------------------------------------


def _tensors64(inputs: list, needs: list[bool] | None = None) -> list[Any]:
    """Lists become float64 leaves, which need a gradient or not; everything else stays as it is."""
    torch = _torch()
    pairs = zip(inputs, needs or [True] * len(inputs), strict=True)
    return [torch.tensor(x, dtype=torch.float64, requires_grad=need) if isinstance(x, list) else x for x, need in pairs]


def custom(cls: Any, inputs: list, g: list[float]) -> Any:
    """A custom Function in the real engine: its result, and the gradients of its tensors when `g` is the upstream gradient."""
    torch = _torch()
    given = _tensors64(inputs)
    out = cls.apply(*given)
    out.backward(torch.tensor(g, dtype=torch.float64))
    return {"out": out.tolist(), "gradients": [t.grad.tolist() for t in given if isinstance(t, torch.Tensor)]}


def custom_multiplications(cls: Any, inputs: list, g: list[float], needs: list[bool]) -> Any:
    """The gradients that are needed, and how many multiplications the backward pass runs for them."""
    from minigrad.profiler import profile

    torch = _torch()
    given = _tensors64(inputs, needs)
    out = cls.apply(*given)
    with profile() as ran:
        out.backward(torch.tensor(g, dtype=torch.float64))
    counted = sum(row.count for row in ran.key_averages() if row.key == "aten::mul")
    return {"gradients": [None if t.grad is None else t.grad.tolist() for t in given], "multiplications": counted}


def custom_saved(cls: Any, inputs: list) -> Any:
    """How many tensors are saved for the backward pass."""
    return {"saved tensors": len(cls.apply(*_tensors64(inputs)).grad_fn.saved_tensors)}


def custom_transformed(cls: Any, inputs: list) -> Any:
    """The gradients under torch.func.grad, for the sum of the results."""
    grad = _torch().func.grad(lambda *xs: cls.apply(*xs).sum(), argnums=tuple(range(len(inputs))))
    return [g.tolist() for g in grad(*[t.detach() for t in _tensors64(inputs)])]


def custom_twice(cls: Any, inputs: list) -> Any:
    """The gradients of the first input's gradient, for the sum of the squared results."""
    torch = _torch()
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
    torch = _torch()
    leaf = torch.tensor(a, dtype=torch.float64, requires_grad=True)
    return leaf, entry(FIXED_POINTS[name], leaf)


def fixed_point(entry: Any, name: str, a: float, k: float) -> Any:
    """Where f stands still, and the derivative of k times that place with respect to a."""
    leaf, x = _at_rest(entry, name, a)
    (k * x).backward()
    return {"x": x.item(), "derivative": leaf.grad.item()}


def fixed_point_nodes(entry: Any, *cases: tuple[str, float]) -> Any:
    """How many nodes the graph behind the result has, for each case."""
    found = []
    for name, a in cases:
        nodes, todo = set(), [_at_rest(entry, name, a)[1].grad_fn]
        while todo:
            node = todo.pop()
            if node is not None and node not in nodes:
                nodes.add(node)
                todo += [parent for parent, _ in node.next_functions]
        found.append(len(nodes))
    return {"nodes": found}


# ---- chapter 16 ----------------------------------------------------------------------------------------------------------------


class _Activation(tuple):
    """A pair of numbers that counts how many of its kind are alive."""

    alive = peak = 0

    def __new__(cls, pair: Any) -> _Activation:
        cls.alive += 1
        cls.peak = max(cls.peak, cls.alive)
        return tuple.__new__(cls, pair)

    def __del__(self) -> None:
        type(self).alive -= 1


def layer_weights(i: int) -> list[list[float]]:
    """A turn and a stretch, another one in every layer: no two of these Jacobians commute."""
    angle, stretch = 0.3 + 0.5 * (i % 7), 1.2 + 0.3 * (i % 3)
    return [[stretch * math.cos(angle), -math.sin(angle)], [stretch * math.sin(angle), math.cos(angle)]]


class _Layer:
    """y = tanh(W x) for pairs x and y. Notes which layer runs, and refuses when all of them together have run too often."""

    def __init__(self, i: int, forwards: list[int], backwards: list[int], most: float = math.inf):
        self.i, self.w, self.forwards, self.backwards, self.most = i, layer_weights(i), forwards, backwards, most

    def _y(self, x: Any) -> list[float]:
        return [math.tanh(a * x[0] + b * x[1]) for a, b in self.w]

    def forward(self, x: Any) -> Any:
        if len(self.forwards) >= self.most:
            raise RuntimeError(
                f"the layers have run forward {len(self.forwards):,} times, and the backward pass is not done yet"
            )
        self.forwards.append(self.i)
        return _Activation(self._y(x))

    def backward(self, x: Any, g: Any) -> list[float]:
        self.backwards.append(self.i)
        inner = [(1 - y * y) * float(gi) for y, gi in zip(self._y(x), g, strict=True)]
        return [self.w[0][j] * inner[0] + self.w[1][j] * inner[1] for j in (0, 1)]


def checkpoint_result(entry: Any, n: int, x: list[float], g: list[float]) -> Any:
    return entry([_Layer(i, [], []) for i in range(n)], x, g)


def checkpoint_alive(entry: Any, n: int, x: list[float], g: list[float]) -> Any:
    """How many activations are alive at most, how often a layer runs forward, and in which order the layers run backward.

    Who recomputes a thousand layers from the start each time needs half a million runs, and is stopped early.
    """
    forwards: list[int] = []
    backwards: list[int] = []
    _Activation.alive = _Activation.peak = 0
    entry([_Layer(i, forwards, backwards, max(6000, 20 * n)) for i in range(n)], x, g)
    return {"alive": _Activation.peak, "forwards": len(forwards), "order": backwards[: 2 * n]}


def half_precision_steps(
    entry: Any, w: list[float], terms: list[list[float]], scale: float, lr: float, steps: int
) -> Any:
    """Weights and scale after each of several steps. Each gradient is a sum of two terms, and all arithmetic of backward is float16."""
    import numpy as np

    def backward(seed: Any) -> Any:
        with np.errstate(all="ignore"):
            first, second = (
                np.float16(seed) * np.array(column, dtype=np.float64) for column in zip(*terms, strict=True)
            )
            return first.astype(np.float16) + second.astype(np.float16)

    weights, path = np.array(w, dtype=np.float32), []
    for _ in range(steps):
        with np.errstate(all="ignore"):
            weights, scale = entry(weights, backward, scale, lr)
        path.append([[float(v) for v in weights], float(scale)])
    return path


# ---- chapter 17 -----------------------------------------------------------------------------------------------------------------


def _adamw_run(entry: Any, params: list, grads: list, settings: dict[str, Any]) -> Any:
    """The parameters, as tensors, and after each step what they are, as one list of numbers."""
    tensors, state, path = [_leaf64(p) for p in params], {}, []  # type: ignore[var-annotated]
    mine = list(tensors)
    for at_step in grads:
        for p, g in zip(tensors, at_step, strict=True):
            p.grad = _leaf64(g).detach()
        with by_hand(tensors=True):
            entry(mine, state, **settings)
        path.append([n for p in tensors for n in p.detach().reshape(-1).tolist()])
    return tensors, mine, path


def adamw_steps(entry: Any, params: list, grads: list, settings: dict[str, Any]) -> Any:
    """The learner's step, once for each list of gradients: all parameters after each step."""
    return _adamw_run(entry, params, grads, settings)[2]


def adamw_leaves(entry: Any, params: list, grads: list) -> Any:
    """What became of the tensors themselves."""
    tensors, mine, path = _adamw_run(entry, params, grads, {})
    changed = all(a is b for a, b in zip(tensors, mine, strict=True)) and path[0] != path[1]
    recorded, seen = any(p.grad_fn is not None for p in tensors), all(p._version for p in tensors)
    return {
        "changed in place": changed,
        "still leaves": all(p.is_leaf for p in tensors),
        "still require gradients": all(p.requires_grad for p in tensors),
        "nothing recorded": not recorded and (seen or "hidden from autograd"),
    }


class Borrowed(Exception):
    """The answer calls the library's function instead of computing."""


def attention_of(entry: Any, q: Any, k: Any, v: Any, causal: bool, g: Any) -> Any:
    """The learner's attention, and the gradients of its product with g at q, k and v. The library's own is switched off meanwhile."""
    functional = _torch().nn.functional
    library = functional.scaled_dot_product_attention

    def refuse(*_: Any, **__: Any) -> Any:
        raise Borrowed("the library's attention; this exercise asks for its parts")

    leaves = [_leaf64(x) for x in (q, k, v)]
    functional.scaled_dot_product_attention = refuse
    try:
        out = entry(*leaves, causal)
    finally:
        functional.scaled_dot_product_attention = library
    if not getattr(out, "requires_grad", False):
        return odd("an output without a graph") if hasattr(out, "requires_grad") else out
    if tuple(out.shape) != tuple(_leaf64(g).shape):
        return odd(f"an output of shape {tuple(out.shape)}")
    out.backward(_leaf64(g).detach())
    return [
        out.detach().tolist(),
        *((x * 0 if x.grad is None else x.grad).tolist() for x in leaves),
    ]  # what is not used has no slope


@cache
def _forms_of_digits() -> tuple[Any, Any, Any, Any]:
    """Ten forms of moved digits to train on; of the four others, 500 digits that are not moved yet, with a rim of two pixels."""
    from ..datasets import digits

    images, labels = digits(seed=None, shift=1)
    others = _torch().nn.functional.pad(digits(seed=None)[0][-500:], (2, 2, 2, 2))
    return images[:1287] / 16, labels[:1287], others / 16, labels[-500:]


def small_model(entry: Any, seed: int) -> Any:
    """Train the learner's model, count its parameters, and how many digits it reads that it has never seen."""
    torch = _torch()
    images, labels, others, wanted = _forms_of_digits()
    model = entry(images.clone(), labels.clone())
    places = random.Random(seed)
    new = torch.stack(
        [image[:, (y := places.randint(0, 2)) : y + 10, (x := places.randint(0, 2)) : x + 10] for image in others]
    )
    with torch.no_grad():
        model.eval()
        right = (model(new).argmax(1) == wanted).sum().item()
    return {"parameters": sum(p.numel() for p in model.parameters()), "right": right}


# ---- chapter 15 ----------------------------------------------------------------------------------------------------------------


def _leaf64(numbers: Any) -> Any:
    torch = _torch()

    return torch.tensor(numbers, dtype=torch.float64, requires_grad=True)


def first_losses(entry: Any, seed: int) -> Any:
    """The losses of patient 3 while everything trains, and the one that its last step leads to."""
    return entry(seed)[0][:16]


def last_losses(entry: Any, seed: int) -> Any:
    losses = entry(seed)[0]
    return {"before": losses[15], "after": losses[-1]}


def moved_in_the_end(entry: Any, seed: int) -> Any:
    return entry(seed)[1]


# ---- chapter 18 -----------------------------------------------------------------------------------------------------------------

WATCHED_WEIGHTS = (  # (weight, bias) of the two linear layers of the model that is watched
    ([[1.0, -0.5], [-1.5, 0.5], [0.25, 1.0]], [0.1, -0.2, 0.3]),
    ([[1.5, -2.0, 0.5], [-1.0, 0.75, 2.0], [2.0, 1.0, -1.5]], [0.2, -0.4, 0.1]),
)


def watched_model(rows: list[list[float]]) -> tuple[Any, Any]:
    """Sequential(Linear, ReLU, Sequential(Linear, Tanh)) in float64, and the rows as its input."""
    torch = _torch()
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
    """What was noted for each layer in one run: the numbers of its only entry."""
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
    found = {"names": names, "entries": [len(seen[name]) for name in names], "the second differs": differs}
    with entry(model) as alone:
        model(x * 0.5)
    return found | {"the last entry is the last run's": all(list(alone[name][-1]) == list(last[name]) for name in last)}


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
    made: dict[str, Node] = {}
    for name, parents, slopes in nodes:
        made[name] = Node(1.0, tuple(made[p] for p in parents), name, tuple(slopes), name)
    got = entry(made[nodes[-1][0]])
    returned = (
        got.name
        if isinstance(got, Node)
        else "None"
        if got is None
        else "a text"
        if isinstance(got, str)
        else safe_name(type(got))
    )
    return returned, made


def anomaly_clean(entry: Any, nodes: list[list]) -> Any:
    returned, made = _anomaly_on(entry, nodes)
    return {"returned": returned, "at the leaf": made[nodes[0][0]].grad}


def anomaly_named(entry: Any, nodes: list[list]) -> Any:
    """Which node was returned, and which ran their rules. Leaves have none to run."""
    returned, made = _anomaly_on(entry, nodes)
    return {"returned": returned, "ran": sorted(name for name, node in made.items() if node.calls and node._prev)}


# ---- chapter 19 -----------------------------------------------------------------------------------------------------------------


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
    """The mixed outputs at some numbers, and what the inputs' gradients are after a backward pass. `old` is what they were before."""
    leaves = [Value(x) for x in numbers]
    if twice:
        leaves[-1] = leaves[0]
    root = mixed(_outputs(name, operation, Value, leaves), scale)
    for leaf in leaves:
        leaf.grad = old
    order = _order(root)
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
    nodes = {id(v) for out in outputs for v in _order(out)}
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
