"""%memory: what the graph behind a result holds, node by node.

What lives here: the walk and the table. What does not: how nodes save (op.py). Numbers that several nodes hold count once, at the first.
"""

from __future__ import annotations

import sys
from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class

from minigrad.core.errors import a_kind
from minigrad.scalar import Value, backward_order
from minigrad.tracing.trace import is_tensor
from minigrad.words import plural, size

from ..show import Line, Panel, Table
from .reading import Sorry, evaluate, in_a_sentence, is_number_with_graph, named

SHOWN = 60


def storage(array: Any) -> Any:
    """The array that owns the numbers."""
    while getattr(array, "base", None) is not None and hasattr(array.base, "nbytes"):
        array = array.base
    return array


def nodes_of(root: Any) -> list:
    """The nodes behind a tensor, oldest first."""
    start = root.grad_fn
    seen, todo = {start}, [start] if start is not None else []
    for node in todo:  # grows
        for edge in node.edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                todo.append(edge[0])
    return sorted(todo, key=lambda n: n.number)


def saved_arrays(node: Any) -> list[tuple[str, Any]]:
    """(name, array) of what a node keeps for its rule: tensors, and parameters that are arrays (an index, a mask)."""
    results = []
    for name in (*node.saves, *getattr(node.op, "params", ())):
        saved = getattr(node, name, None)
        for k, thing in enumerate(saved if isinstance(saved, (list, tuple)) else (saved,)):
            array = getattr(thing, "array", thing)
            if hasattr(array, "nbytes") and hasattr(array, "shape"):
                results.append((name + (f"[{k}]" if isinstance(saved, (list, tuple)) else ""), array))
    return results


def of_tensor(shell: Any, root: Any) -> Panel:
    nodes = nodes_of(root)
    names = {id(storage(t.array)): text for text, t in named(shell) if is_tensor(t)}
    counted: dict[int, str] = {}
    rows: list[list[Any]] = []
    total = alive = 0
    for node in nodes:
        if type(node).__name__ == "AccumulateGrad":
            continue
        node_bytes, held = 0, []
        for name, array in saved_arrays(node):
            base = storage(array)
            called = names.get(id(base))
            shape = "×".join(map(str, array.shape)) or "one number"
            if id(base) in counted:
                held.append(f"{name}: {shape} (already at {counted[id(base)]})")
                continue
            counted[id(base)] = type(node).__name__
            node_bytes += base.nbytes
            alive += base.nbytes if called else 0
            held.append(f"{name}: {shape}" + (f" (your {called})" if called else ""))
        total += node_bytes
        rows.append(
            [
                type(node).__name__,
                "; ".join(held) or ("freed" if node.saves and node.status else "nothing"),
                (size(node_bytes), node_bytes),
            ]
        )
    if not rows:
        return Panel("There is no graph: nothing is held", Line("A leaf holds only its own numbers."))
    cut = len(rows) > SHOWN
    visible = sorted(rows, key=lambda r: -r[2][1])[:SHOWN] if cut else rows
    title = f"{plural(len(rows), 'node')} hold {size(total)}"
    say = f"Of these, {size(alive)} are numbers of your own variables, which would be there anyway. " if alive else ""
    say += "A backward pass frees what the nodes saved; `retain_graph=True` keeps it. With no_grad nothing is held."
    return Panel(title, Table(("node", "holds", "bytes"), visible, sortable=True, wide="holds"),
                Line(f"Shown are the {SHOWN} largest of {len(rows)}.", soft=True) if cut else None, Line(say, soft=True))  # fmt: skip


def of_value(root: Value) -> Panel:
    order = backward_order(root)
    reached = {id(n): n for node in order for n in (node, *node._prev)}
    reached[id(root)] = root
    kinds: dict[str, list[int]] = {}
    for node in reached.values():
        weight = sys.getsizeof(node) + sum(sys.getsizeof(x) for x in (node.data, node.grad) if isinstance(x, float))
        weight += sum(sys.getsizeof(x) for x in node.slopes if isinstance(x, float) and x != 1.0)
        kinds.setdefault(node._op or "leaf or constant", []).append(weight)
    rows: list[list[str | tuple[str, float]]]
    rows = [
        [op, (str(len(w)), len(w)), (size(sum(w)), sum(w))]
        for op, w in sorted(kinds.items(), key=lambda item: -sum(item[1]))
    ]
    total = sum(sum(w) for w in kinds.values())
    return Panel(f"{plural(len(reached), 'Value')} hold {size(total)}", Table(("operation", "how many", "bytes"), rows, sortable=True),
                Line("Each Value keeps its number, its gradient, its parents and the local derivative of each: about as much as "
                     "its numbers "
                     "times ten, because Python's objects are large. A Tensor keeps a node for a whole array.", soft=True))  # fmt: skip


@magics_class
class MemoryMagics(Magics):
    """%memory."""

    shell: Any

    @line_magic
    @in_a_sentence
    def memory(self, line: str) -> Any:
        """What the graph behind a result holds in memory, node by node.

            %memory loss             of a Tensor or a Value
            %memory model(x)         of any expression

        What is yours anyway (a parameter that a node also saved) is marked; numbers that two nodes hold count once.
        """
        root = evaluate(self.shell, line, "%memory")
        if is_tensor(root):
            return of_tensor(self.shell, root)
        if isinstance(root, Value):
            return of_value(root)
        if is_number_with_graph(root):
            sentence = f"{line.strip()} is of a class of your own: %graph shows its graph"
            raise Sorry(f"%memory knows what minigrad's Value and Tensor keep, and {sentence}.")
        raise Sorry(f"%memory looks at a Tensor or a Value, and {line.strip()} is {a_kind(root)}.")
