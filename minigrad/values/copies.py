"""Copies and pickles of graphs, and computing a graph again.

Every function traverses a graph in the order of creation, without recursion, so a chain of any length can be copied and pickled.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from .custom import connect, is_custom
from .node import ScalarNode, creation_number, new, numbers, operands_of

_BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow}


def recompute(nodes: Iterable[Any]) -> bool:
    """Run the recorded operations again on their operands' present numbers, and renew their `data` and derivatives. True if any changed.

    nodes: operands before results. Leaves, custom operations and objects that are no Values stay unchanged.
    """
    changed = False
    for node in nodes:
        if not isinstance(node, ScalarNode) or node._a is None or is_custom(node):
            continue
        kind: Any = ScalarNode.kinds.constant
        first, *others = (p.data if isinstance(p, kind) else node._constant(p.data, 0.0) for p in node._prev)
        op = node._op
        if op in _BINARY and others:
            fresh = _BINARY[op](first, others[0])
        elif op.startswith("**"):
            fresh = first ** float(op[2:])
        elif op == "neg":
            fresh = -first
        else:
            fresh = getattr(kind, op.lower())(first, *others)  # max and min also take a plain number first
        changed = changed or (fresh.data != node.data and (fresh.data == fresh.data or node.data == node.data))
        node.data, node._da, node._db = fresh.data, fresh._da, fresh._db
        if node._k is not None:
            node._k = node._k[0], fresh._k[1], node._k[2]
    return changed


def copy_newest(order: Sequence[Any], n: int) -> dict[int, Any]:
    """A copy of the `n` newest operations of a graph; their operands from outside become leaves. Returns id of the original -> copy.

    order: what `backward_order` returned.
    """
    copies: dict[int, Any] = {}

    def copied(node: Any) -> Any:
        if id(node) not in copies:  # a leaf, or older than the part that is copied
            copies[id(node)] = _with_number(
                node, _rebuilt([type(node), node.data, node.grad, node.label, "", (), (), False, None])
            )
        return copies[id(node)]

    for node in reversed(order[:n]):
        copies[id(node)] = _with_number(node, _rebuilt(_described(node, copied)))
    return copies


def copied_node(node: Any) -> Any:
    """`Value.__copy__`: the same operation on the same operands."""
    out = _with_number(node, _rebuilt(_described(node)))
    _set_state(out, _state(node))
    return out


def copied_graph(node: Any, memo: dict[int, Any]) -> Any:
    """`Value.__deepcopy__`: a copy of everything that this number was computed from. Of a function set as `_backward`, the copy has
    the derivatives that it adds."""
    nodes = [n for n in _ancestors(node) if id(n) not in memo]
    for n in nodes:
        memo[id(n)] = _with_line_of(n, _rebuilt(_described(n, lambda operand: memo[id(operand)])))
    for n in nodes:
        _set_state(memo[id(n)], copy.deepcopy(_state(n), memo))
    return memo[id(node)]


def reduced(node: Any, protocol: Any) -> tuple[Any, ...]:
    """`Value.__reduce_ex__`: a leaf as its fields, a result as its place in a pickled graph."""
    if node._a is None:
        return _rebuilt, (_described(node),), _state(node), None, None, _set_state
    graph = _pickled.get(id(node)) or _PickledGraph(node)
    return operator.getitem, (graph, graph.place[id(node)])


def _with_number(node: Any, out: Any) -> Any:
    out._seq = node._seq
    return _with_line_of(node, out)


def _with_line_of(node: Any, out: Any) -> Any:
    if getattr(node, "_code", None) is not None:
        out._code, out._offset = node._code, node._offset
    return out


def _ancestors(root: Any) -> list[Any]:
    """Everything that a number was computed from, and the number itself, in the order of creation."""
    seen = {id(root)}
    nodes = [root]
    for node in nodes:  # grows
        for operand in operands_of(node):
            if id(operand) not in seen:
                seen.add(id(operand))
                nodes.append(operand)
    return sorted(nodes, key=creation_number)


def _described(node: Any, refer: Callable[[Any], Any] = lambda operand: operand) -> list:
    """A node as plain data, with `refer(operand)` for each operand: the argument of `_rebuilt`."""
    custom = is_custom(node)
    slopes = () if node._a is None else node._da.slopes_at(node) if custom else (node._da, node._db)
    k = None
    if not custom and node._a is not None and node._k is not None:
        k = (getattr(node._k[0], "data", node._k[0]), *node._k[1:])
    operands = tuple(refer(p) for p in operands_of(node))
    return [type(node), node.data, node.grad, node.label, node._op, operands, slopes, custom, k]


def _rebuilt(fields: list, find: Callable[[Any], Any] = lambda operand: operand) -> Any:
    kind, data, grad, label, op, operands, slopes, custom, k = fields
    out: Any = new(kind)
    out.data, out.grad, out.label, out._op, out._k = data, grad, label, op, k
    out._a = out._da = out._b = out._db = None
    out._seq = out._seen = next(numbers)
    connect(out, [find(operand) for operand in operands], slopes, custom)
    return out


def _state(node: Any) -> dict[str, Any] | None:
    """The attributes of a Value, or of a subclass, besides the slots of a node."""
    if type(node) is ScalarNode.kinds.constant:
        return None
    state: Any = object.__getstate__(node)  # type: ignore[attr-defined]  # typeshed has it on classes only; (its __dict__, its slots)
    return {**(state[0] or {}), **{name: x for name, x in state[1].items() if name not in ScalarNode.__slots__}} or None


def _set_state(node: Any, state: dict[str, Any] | None) -> None:
    for name, value in (state or {}).items():
        setattr(node, name, value)


class _PickledGraph:
    """The part of a graph that one number brings into a pickle. A pickle refers to it, so that a second number of the graph finds it."""

    def __init__(self, root: Any):
        self.nodes = [node for node in _ancestors(root) if node._a is not None and id(node) not in _pickled]
        self.place = {id(node): k for k, node in enumerate(self.nodes)}
        for node in self.nodes:
            _pickled[id(node)] = self

    def __reduce__(self) -> tuple[Any, ...]:
        rows = [_described(node, lambda operand: self.place.get(id(operand), operand)) for node in self.nodes]
        states = {k: state for k, node in enumerate(self.nodes) if (state := _state(node))}
        return _unpickled, (rows,), states or None, None, None, _set_states


_pickled: WeakValueDictionary[int, _PickledGraph] = WeakValueDictionary()


def _unpickled(rows: list[list]) -> list[Any]:
    """The nodes of a pickle, operands before results."""
    nodes: list[Any] = []
    for fields in rows:
        nodes.append(_rebuilt(fields, lambda operand: nodes[operand] if type(operand) is int else operand))
    return nodes


def _set_states(nodes: list[Any], states: dict[int, dict[str, Any]]) -> None:
    for k, state in states.items():
        _set_state(nodes[k], state)
