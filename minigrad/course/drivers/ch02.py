"""Drivers of chapter 02: walking over a graph."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..plain import odd
from .calls import import_torch
from .ch05 import Node


def walk_names(entry: Any, leaves: int, steps: list) -> Any:
    """Run the learner's walk on the Tensor graph of a program: each step is (operation, indices of the values that it uses)."""
    torch = import_torch()
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
    """Run the learner's walk down a chain of n nodes. Returns a summary of its result."""
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
