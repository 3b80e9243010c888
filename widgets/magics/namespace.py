"""%grads and %reset_grads: all Values and Tensors of the notebook at a glance.

What lives here: the table and the reset. Only names are read: nothing is computed or kept.
"""

from __future__ import annotations

import re
from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class

from minigrad.scalar import Value, backward_order
from minigrad.tracing.own_classes import Reader, as_number
from minigrad.tracing.trace import is_tensor
from minigrad.words import number, plural

from ..show import Line, Panel, Table
from .reading import Sorry, evaluate, in_a_sentence, is_number_with_graph, named

COLUMNS = ("name", "value", "gradient", "leaf", "grad_fn", "version", "in the graph of")
SHOWN = 200
WALKED = 20_000  # nodes; bigger graphs are left out of the column "in the graph of"


def summary(array: Any) -> tuple[str, float]:
    """An array in a few words, and a number to sort by."""
    if array.size == 1:
        x = float(array.reshape(-1)[0])
        return number(x), x
    shape = "×".join(map(str, array.shape))
    if not array.size:
        return f"{shape}, empty", 0.0
    if array.dtype.kind not in "fiub":
        return shape, 0.0
    flat = array.astype(float).reshape(-1)
    largest = float(abs(flat).max())
    if array.size <= 4 and array.ndim == 1:
        return "[" + ", ".join(number(float(x)) for x in flat) + "]", largest
    if not flat.any():
        return f"{shape}, all 0", 0.0
    return f"{shape}, mean {number(float(flat.mean()))}", largest


def parents_of(thing: Any) -> list[int]:
    """The ids of everything with a name of its own that a result's graph holds."""
    if is_own(thing):
        reader, todo = Reader(thing), [thing]
        seen = {id(thing)}
        for node in todo:  # grows
            for operand in reader.operands(node):
                if id(operand) not in seen and len(todo) < WALKED:
                    seen.add(id(operand))
                    todo.append(operand)
        return [id(node) for node in todo]
    if isinstance(thing, Value):
        order = backward_order(thing)[:WALKED]
        return [id(node) for node in order] + [id(p) for node in order for p in node._prev]
    start = thing.edge
    if start is None:
        return []
    seen, todo = {start[0]}, [start[0]]
    results = [start]
    for node in todo:  # grows
        for edge in node.edges:
            if edge is not None:
                results.append(edge)
                if edge[0] not in seen and len(todo) < WALKED:
                    seen.add(edge[0])
                    todo.append(edge[0])
    return [id(getattr(node, "variable", None)) for node in todo] + [hash((id(node), n)) for node, n in results]


def key_of(thing: Any) -> int:
    return (
        id(thing)
        if isinstance(thing, Value) or is_own(thing) or thing.edge is None
        else hash((id(thing.edge[0]), thing.edge[1]))
    )


def holders(things: list[tuple[str, Any]]) -> dict[str, list[str]]:
    """name -> the other names in whose graph it stands, and which so keep it alive. Nearest results of results first."""
    keys = {name: key_of(thing) for name, thing in things}
    results: dict[str, list[str]] = {name: [] for name, _ in things}
    for other, thing in things:
        inside = set(parents_of(thing))
        for name, _ in things:
            if name != other and keys[name] in inside:
                results[name].append(other)
    return results


def is_own(thing: Any) -> bool:
    """An object of another scalar class?"""
    return not isinstance(thing, Value) and not is_tensor(thing)


def row_of(name: str, thing: Any, held: list[str]) -> list:
    if is_own(thing):
        reader = Reader(thing)
        value, grad = as_number(reader.number(thing)) or 0.0, reader.grad(thing)
        gradient_cell = ("None", float("-inf")) if grad is None else (number(grad), grad)
        leaf = "no" if reader.operands(thing) else "yes"
        return [
            name,
            (number(value), value),
            gradient_cell,
            leaf,
            reader.op(thing) or "–",
            ("–", -1.0),
            ", ".join(held) or "–",
        ]
    if isinstance(thing, Value):
        gradient: Any = (number(thing.grad), thing.grad)
        return [
            name,
            (number(thing.data), thing.data),
            gradient,
            "no" if thing._op else "yes",
            thing._op or "–",
            ("–", -1.0),
            ", ".join(held) or "–",
        ]
    gradient = ("None", float("-inf")) if thing._grad is None else summary(thing._grad.array)
    if not thing.requires_grad:
        gradient = ("None (constant)", float("-inf"))
    text = "–" if thing.edge is None else type(thing.edge[0]).__name__
    version = thing.version[0] if isinstance(thing.version, list) else -1
    writes = (str(version) if version >= 0 else "–", float(version))
    return [
        name,
        summary(thing.array),
        gradient,
        "yes" if thing.edge is None else "no",
        text,
        writes,
        ", ".join(held) or "–",
    ]


@magics_class
class NamespaceMagics(Magics):
    """%grads and %reset_grads."""

    shell: Any

    @line_magic
    @in_a_sentence
    def grads(self, line: str) -> Any:
        """A table of every named Value, Tensor and object of a scalar class of your own: value, gradient, leaf, grad_fn, version, and in
        whose graph it stands.

            %grads                     all of them; a click on a column's head sorts
            %grads --sort gradient     sorted by a column: name, value, gradient, leaf, grad_fn, version

        None is not 0: None says that no gradient was ever computed, 0 that one was computed and is zero. A tensor stays in memory as long
        as a graph that it stands in.
        """
        match = re.fullmatch(r"\s*(?:--sort[ =](\w+))?\s*", line)
        if match is None:
            raise Sorry(f"%grads takes no names, but got {line.strip()!r}. Write %grads, or %grads --sort gradient.")
        if match[1] and match[1] not in COLUMNS:
            raise Sorry(f"There is no column {match[1]!r}. The columns are {', '.join(COLUMNS[:-1])}.")
        things = list(named(self.shell, own=True))
        if not things:
            return Panel(
                "No Values and no Tensors have a name yet",
                Line("Make one, for example `x = Value(2.0)`, then `%grads` again."),
            )
        held = holders(things[:SHOWN])
        rows = [row_of(name, thing, held[name]) for name, thing in things[:SHOWN]]
        if match[1]:
            at = COLUMNS.index(match[1])
            rows.sort(key=lambda r: r[at] if isinstance(r[at], str) else -r[at][1])
        never = sum(r[2][0] == "None" and r[3] == "yes" for r in rows)
        zero = sum(r[2][1] == 0 for r in rows)  # the largest absolute value
        title = f"{plural(len(things), 'name')}: {never} leaves without a gradient (None), {zero} with a gradient of 0"
        more = Line(f"Shown are the first {SHOWN} of {len(things)}.", soft=True) if len(things) > SHOWN else None
        return Panel(title, Table(COLUMNS, rows, sortable=True, wide=COLUMNS[-1]), more)

    @line_magic
    @in_a_sentence
    def reset_grads(self, line: str) -> None:
        """Take away all gradients, as zero_grad() does for one model.

            %reset_grads               of every named Value (to 0) and Tensor (to None)
            %reset_grads w b           only of these
            %reset_grads --zero        Tensors to zeros as well

        Graphs and values stay as they are.
        """
        words = line.split()
        zero = "--zero" in words
        names = [w for w in words if w != "--zero"]
        things = (
            [(n, evaluate(self.shell, n, "%reset_grads")) for n in names]
            if names
            else list(named(self.shell, own=True))
        )
        wrong = [n for n, thing in things if not is_number_with_graph(thing)]
        if wrong:
            raise Sorry(f"{wrong[0]} is neither a Value nor a Tensor, so it has no gradient to reset.")
        readers = {n: Reader(thing) for n, thing in things if is_own(thing)}
        values = [
            n
            for n, thing in things
            if (readers[n].grad(thing) if n in readers else isinstance(thing, Value) and thing.grad)
        ]
        tensors = [n for n, thing in things if is_tensor(thing) and thing._grad is not None]
        for name, thing in things:
            if name in readers:
                if readers[name].layout.grad:
                    setattr(thing, readers[name].layout.grad, 0.0)
            elif isinstance(thing, Value):
                thing.grad = 0.0
            elif thing._grad is not None:
                if zero:
                    thing._grad = thing._grad.detach() * 0
                else:
                    thing._grad = None
        sentences = [f"set to 0: {', '.join(values)}"] * bool(values) + [
            f"set to {'zeros' if zero else 'None'}: {', '.join(tensors)}"
        ] * bool(tensors)
        print("; ".join(sentences) + "." if sentences else "There was no gradient to reset.")
