"""A recorded graph of Tensors by items, with its numbers: what the trace of a Tensor is written from.

What lives here: which tensors there are (`Graph`), where their numbers come from (`values_of`), the recorded operations run again
(`Replay`), one pass of the engine's own loop that is listened to (`Pass`), the graph that such a pass records (`Layers`). What does not:
words (tensor_trace.py), derivatives and the loop (engine.py), rows (ops/).

A graph keeps what the backward pass needs and nothing else. The numbers of an intermediate result are, in this order: those of a living
tensor that stands there (the root, or one with a name); a saved value whose version still counts; the row run again on known inputs.
Each is exact. Where none is possible they are "not kept". Line, constants and parameters come from the notes of provenance.py, if on.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..autograd import engine
from ..core import provenance
from ..core.dispatch import handling_none
from ..core.dtypes import from_numpy_dtype
from ..core.grad_mode import enable_grad, no_grad
from ..core.node import LIVE, AccumulateGrad, next_number
from ..core.variable import INFERENCE, Variable, edge_of, wrap
from .naming import walk
from .text import json_number

CELLS = 16  # a heat map has at most this many rows and columns
TRACED = 3000  # of a graph with more operations than this, only the newest are traced


# --- the graph as a list of items ---------------------------------------------------------------------------------------


class Item:
    """One tensor of the graph: a leaf, a constant, an output of an operation. `key` is (node, number of the output) or None."""

    __slots__ = (
        "array", "cut", "detached_by", "dtype", "folded", "key", "kind", "label", "live",
        "name", "node", "number", "parents", "path", "shape", "why",
    )  # fmt: skip

    def __init__(
        self, kind: str, node: Any = None, number: int = 0, live: Any = None, array: Any = None, detached_by: str = ""
    ) -> None:
        self.kind, self.node, self.number, self.live, self.array, self.detached_by = (
            kind,
            node,
            number,
            live,
            array,
            detached_by,
        )
        self.parents: list[int] = []  # by slot
        self.name = self.path = self.why = ""
        self.cut = getattr(live, "cut", None)
        self.folded = False
        self.shape = self.dtype = None
        if array is not None:
            self.shape, self.dtype = array.shape, array.dtype
        elif node is not None:
            several = type(node.shape) is list
            self.shape, self.dtype = (node.shape[number], node.dtype[number]) if several else (node.shape, node.dtype)

    @property
    def op(self) -> Any:
        return None if self.node is None else self.node.op


class Graph:
    """The items behind some roots, parents first."""

    def __init__(self, roots: list[Variable], names: Mapping[str, object] | None, traced: int = TRACED):
        self.items: list[Item] = []
        self.at: dict[Any, int] = {}  # (node, output number) -> its item; an AccumulateGrad's key is (node, 0)
        self.of_node: dict[Any, int] = {}  # node -> the item that passes its gradients back
        self.found: list[tuple[str, Variable]] = []
        for text, thing in walk(names):
            if isinstance(thing, Variable):
                self.found.append((text, thing))
        edges = [edge_of(root) for root in roots]
        nodes, self.total = _newest([edge[0] for edge in edges if edge is not None], traced)
        self.order = nodes
        used: dict[Any, set] = {}
        for edge in [*edges, *(edge for node in nodes for edge in node.edges)]:
            if edge is not None:
                used.setdefault(edge[0], set()).add(edge[1])
        self.named = {id(thing) for _, thing in self.found}
        constants: dict[int, int] = {}
        self.inside = set(nodes)
        for node in nodes:
            self._add(node, sorted(used.get(node, {0})), constants)
        for root, edge in zip(roots, edges, strict=True):
            if edge is None:
                self._new(Item("leaf", live=root, array=root.array))
            else:
                self._target(edge)
                self.items[self.at[edge]].live = root
        self.root = len(self.items) - 1 if edges[0] is None else self.at[edges[0]]
        self._name(roots)

    def _new(self, item: Item) -> int:
        self.items.append(item)
        return len(self.items) - 1

    def _target(self, edge: Any) -> int:
        """The item that a gradient along `edge` goes to; a leaf comes into being here."""
        if edge not in self.at:
            node, number = edge
            if type(node) is AccumulateGrad:
                item = Item("leaf", node, 0, node.variable, node.variable.array)
            else:  # beyond the part that is traced
                item = Item("leaf", node, number)
                item.folded = True
            self.at[edge] = self._new(item)
            self.of_node.setdefault(node, self.at[edge])
        return self.at[edge]

    def _add(self, node: Any, numbers: list[int], constants: dict[int, int]) -> None:
        if type(node) is AccumulateGrad:
            self._target((node, 0))
            return
        note = provenance.read(node)
        parents = []
        for slot, edge in enumerate(node.edges):
            parents.append(self._constant(node, slot, note, constants) if edge is None else self._target(edge))
        item = Item("operation", node, numbers[0])
        item.parents = parents
        if len(numbers) > 1:  # several outputs are used: the operation, and an item for each
            item.shape = item.dtype = None
        self.of_node[node] = first = self._new(item)
        if len(numbers) == 1:
            self.at[node, numbers[0]] = first
            return
        item.number = -1
        for number in numbers:
            output = Item("operation", node, number)
            output.parents = [first]
            self.at[node, number] = self._new(output)

    def _constant(self, node: Any, slot: int, note: Any, constants: dict[int, int]) -> int:
        """The item of an input that no gradient goes to."""
        name, detached_by, cut = _slot_name(node, slot), "", None
        result = None
        if node.op is not None and node.status == LIVE and name.split("[")[0] in node.saves:
            result = getattr(node, node.op.inputs[0])[slot] if node.op.tensor_list else getattr(node, name, None)
        if result is None and note is not None and note.inputs is not None and slot < len(note.inputs):
            alive, array, detached_by, cut = note.inputs[slot] or (lambda: None, None, "", None)
            result = alive()
            if result is None and array is not None:
                item = Item(
                    "constant" if array.size == 1 and not detached_by and not cut else "leaf",
                    array=array,
                    detached_by=detached_by,
                )
                item.cut = cut
                return self._new(item)
        if result is None:
            item = Item("constant", detached_by=detached_by)
            item.cut = cut
            return self._new(item)
        detached_by = getattr(result, "detached_by", "")
        number = (
            result.array.size == 1
            and id(result) not in self.named
            and not detached_by
            and getattr(result, "cut", None) is None
        )
        if number:  # the 2 of x * 2, once for each use
            return self._new(Item("constant", live=result, array=result.array))
        if id(result) not in constants:
            constants[id(result)] = self._new(Item("leaf", live=result, array=result.array, detached_by=detached_by))
        return constants[id(result)]

    def _name(self, roots: Any) -> None:
        """Give items the names that lead to their tensors, and say why gradients stop."""
        leaves = {id(item.live): item for item in self.items if item.live is not None}
        for text, thing in self.found:
            item = leaves.get(id(thing))
            if item is None and thing.requires:
                edge = _edge(thing)
                item = self.items[self.at[edge]] if edge in self.at else None
                if item is not None and item.live is None:
                    item.live = thing
            if item is not None and not item.name:
                item.name = item.path = text
                if item.kind == "constant":
                    item.kind = "leaf"
        storages = {}
        for text, thing in reversed(self.found):
            if thing.requires and type(thing.version) is list:
                storages[id(thing.version)] = text
        for item in self.items:
            if item.node is None and (
                item.detached_by or (item.kind == "leaf" and item.live is not None and not item.live.requires)
            ):
                source = storages.get(id(item.live.version)) if item.live is not None else None
                if source and not item.name:
                    item.path = f"{source}.detach()"
                item.why = _why_it_stops(item, source)

    def cut_from(self, i: int) -> list[int]:
        """The items that a tensor outside of the graph was made from, as far as they are in it."""
        item, out = self.items[i], []
        for tensor, node, number in item.cut.sources if item.cut else ():
            live = tensor()
            edge = (node(), number) if node is not None else _edge(live) if live is not None else None
            if edge is not None and edge in self.at:
                out.append(self.at[edge])
        return [*dict.fromkeys(out)]

    def forget(self) -> None:
        """Release the learner's tensors. Shapes and the order of operations remain."""
        self.found, self.order = [], []
        for item in self.items:
            item.live = item.array = None

    def unused(self) -> list[tuple[str, Variable]]:
        """Named leaves that require gradients and that the root does not depend on. One inside another object (a module, an optimizer)
        counts only if the root depends on something else in it: otherwise the object belongs to another program of the session."""
        reached = {id(item.live) for item in self.items}
        taking_part = {_first_name(text) for text, t in self.found if id(t) in reached}
        return [(text, t) for text, t in self.found
                if t.requires and t.edge is None and t.view_meta is None and id(t) not in reached
                and (_first_name(text) in taking_part or _first_name(text) == text)]  # fmt: skip


def _first_name(text: str) -> str:
    """The variable that the text begins with: "model" of "model[0].weight"."""
    return re.split(r"[.\[]", text, maxsplit=1)[0]


def _edge(t: Variable) -> Any:
    try:
        return edge_of(t)
    except RuntimeError:  # a view whose history may not be made again
        return None


def _newest(roots: list, limit: int) -> tuple[list, int]:
    """The nodes behind the roots, oldest first, and how many there are in all if only the newest `limit` are among them."""
    seen = set(roots)
    todo = list(seen)
    for node in todo:  # grows
        for edge in node.edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                todo.append(edge[0])
    operations = sorted((n for n in seen if type(n) is not AccumulateGrad), key=lambda n: n.number)
    if not operations:
        return roots, 0
    return operations[-limit:], len(seen) if len(operations) > limit else 0


def _slot_name(node: Any, slot: int) -> str:
    """What the row calls this input; for several tensors in one, "x[0]"."""
    if node.op is None:
        return f"input {slot}"
    return f"{node.op.inputs[0]}[{slot}]" if node.op.tensor_list else node.op.inputs[slot]


_CUTS = {
    "no_grad": "was computed where recording was off (no_grad): no gradient goes back to what it was made of.",
    "detach": "was detached: it shares the numbers of a tensor that requires gradients, and the graph does not see behind it.",
    "marked": "came out of a Function that marked it as not differentiable.",
}


def _why_it_stops(item: Item, detached_from: str | None) -> str:
    """Why no gradient passes a tensor that does not require gradients."""
    label = item.path or "This tensor"
    if item.array is not None and item.array.dtype.kind != "f":
        return f"{label} holds {from_numpy_dtype(item.array.dtype).name}: whole numbers and truth values have no derivative."
    if detached_from and detached_from != item.name:
        return f"{label} was detached from {detached_from}: it shares the numbers of {detached_from}, and the graph does not see behind it."
    if item.live is not None and item.live.version is INFERENCE:
        return f"{label} was made in inference mode, where nothing is recorded."
    if item.detached_by:
        return f"{label} {_CUTS[item.detached_by]}"
    if type(item.live).__name__ == "Parameter":
        return f"{label} is frozen: its requires_grad is False, so no gradient is computed for it."
    return f"{label} does not require gradients: its requires_grad is False, and no recorded operation made it."


def kind_of(item: Item) -> str:
    return "" if item.kind != "operation" or item.node is None else item.node.name().removeprefix("torch::autograd::")


# --- numbers ------------------------------------------------------------------------------------------------------------


def numbers(array: np.ndarray) -> dict:
    """What a picture needs of an array: its true statistics, and at most 16 by 16 cells.

    Leading dimensions are rows, the last is columns; a long vector is wrapped. A cell for a block of entries shows the
    one of the largest magnitude. Statistics are those of the finite entries; `odd` counts the others.
    """
    flat = array.astype(np.float64, copy=False) if array.dtype.kind != "c" else np.abs(array)
    if flat.ndim == 1 and flat.size > CELLS:
        wide = math.ceil(flat.size / math.ceil(math.sqrt(flat.size)))
        table = np.full(math.ceil(flat.size / wide) * wide, np.nan)
        table[: flat.size] = flat
        table, empty = table.reshape(-1, wide), math.ceil(flat.size / wide) * wide - flat.size
    else:
        table, empty = flat.reshape(-1, flat.shape[-1] if flat.ndim else 1) if flat.size else np.zeros((0, 0)), 0
    block = [max(1, math.ceil(n / CELLS)) for n in table.shape]
    cells = _shrunk(table, block) if block != [1, 1] else table
    finite = flat[np.isfinite(flat)] if not np.isfinite(flat).all() else flat
    some = finite.size > 0
    rounded = (cells if flat.size == 1 else _six_digits(cells)).ravel().tolist()
    if finite.size < flat.size or empty:
        rounded = [json_number(v) for v in rounded]
    if empty and block == [1, 1]:
        rounded[len(rounded) - empty :] = [None] * empty
    return dict(
        shape=list(array.shape), dtype=from_numpy_dtype(array.dtype).name,
        low=float(finite.min()) if some else None, high=float(finite.max()) if some else None,
        mean=float(finite.mean()) if some else None, std=float(finite.std()) if some else None,
        odd=int(flat.size - finite.size), rows=cells.shape[0], cols=cells.shape[1], block=block, cells=rounded,
    )  # fmt: skip


def _six_digits(x: np.ndarray) -> np.ndarray:
    """The entries rounded to six significant digits: what a reader compares, and a third of the text of all digits."""
    with np.errstate(all="ignore"):
        power = np.where(np.isfinite(x) & (np.abs(x) > 1e-300), np.floor(np.log10(np.abs(x))), 0.0)
        up = np.clip(5 - power, 0, 22)  # powers of ten up to 22 are exact
        down = np.clip(power - 5, 0, 22)
        return np.where(down > 0, np.rint(x / 10**down) * 10**down, np.where(up < 22, np.rint(x * 10**up) / 10**up, x))


def _shrunk(table: np.ndarray, block: list[int]) -> np.ndarray:
    """The entry of the largest magnitude of each block; nan only where all is nan."""
    rows, cols = (math.ceil(n / b) for n, b in zip(table.shape, block, strict=True))
    padded = np.full((rows * block[0], cols * block[1]), np.nan)
    padded[: table.shape[0], : table.shape[1]] = table
    blocks = padded.reshape(rows, block[0], cols, block[1]).swapaxes(1, 2).reshape(rows, cols, -1)
    size = np.where(np.isnan(blocks), -1.0, np.abs(blocks))
    return np.take_along_axis(blocks, size.argmax(-1)[..., None], -1)[..., 0]


def row_of(arrays: list[dict]) -> list[float]:
    """Arrays as one row of doubles: low, high, mean, std, odd and the cells of each. What a sweep ships for every point."""
    out: list[float] = []
    for a in arrays:
        out += [math.nan if a[k] is None else a[k] for k in ("low", "high", "mean", "std")]
        out.append(a["odd"])
        out += [math.nan if c is None else float(c) for c in a["cells"]]
    return out


# --- values -------------------------------------------------------------------------------------------------------------


def values_of(graph: Graph) -> list[np.ndarray | None]:
    """The numbers of every item, None where they were not kept."""
    saved: dict[Any, np.ndarray] = {}
    for node in graph.order:
        if node.op is None or node.status != LIVE:
            continue
        for name in node.saves:
            stored = getattr(node, name)
            if name in node.op.inputs and isinstance(stored, Variable):
                slot = node.op.inputs.index(name)
                if stored.version[0] == getattr(node, name + "_version") and node.edges[slot] is not None:
                    saved.setdefault(node.edges[slot], stored.array)
            elif (
                stored is not None
                and name in node.op.outputs
                and getattr(node, name + "_counter")[0] == getattr(node, name + "_version")
            ):
                saved[node, node.op.outputs.index(name)] = stored
    out: list[np.ndarray | None] = []
    for item in graph.items:
        key = (item.node, item.number)
        if item.kind != "operation":
            out.append(item.array if item.array is not None else saved.get(key))
        elif item.live is not None and key == _edge(item.live):
            out.append(item.live.array)
        elif key in saved:
            out.append(saved[key])
        else:
            out.append(_again(graph, item, out))
    return out


def _again(graph: Graph, item: Item, values: list) -> np.ndarray | None:
    """Recompute an operation from the arrays of its inputs. None if an input, a parameter or the row is unknown."""
    if item.number < 0 or item.op is None:
        return None
    parents = (
        graph.items[item.parents[0]].parents
        if graph.items[item.parents[0]].number < 0 and item.parents
        else item.parents
    )
    inputs = [values[p] for p in parents]
    params = parameters(item.node)
    if params is None or any(x is None for x in inputs) or _overwritten(graph, item.node, parents):
        return None
    tensors = [wrap(x) for x in inputs]
    try:
        with no_grad(), handling_none():
            result = item.op(tensors, *params) if item.op.tensor_list else item.op(*tensors, *params)
    except Exception:  # whatever a row has against its inputs now: then the numbers are not known
        return None
    return (result[item.number] if isinstance(result, tuple) else result).array


def _overwritten(graph: Graph, node: Any, parents: list[int]) -> bool:
    """Was a leaf among the inputs written to since?"""
    note = provenance.read(node)
    if note is None:
        return any(x["stale"] for x in saved_by(node))
    now = [graph.items[p].live for p in parents]
    return any(
        t is not None and graph.items[p].kind == "leaf" and t.version[0] != v
        for t, p, v in zip(now, parents, note.versions, strict=False)
    )


def parameters(node: Any) -> tuple | None:
    """The parameters with which a row ran, None if they are not all known."""
    note = provenance.read(node)
    if note is not None:
        return note.params
    if node.op is None:
        return None
    values = []
    for name in node.op.params:
        if node.status != LIVE and name in node.op.tensor_params:
            return None
        if hasattr(node, name) and name not in ("shape", "dtype"):
            values.append(getattr(node, name))
        elif name == "shape":
            values.append(node.shape)
        elif name == "dtype":
            values.append(node.dtype)
        else:
            return None
    return tuple(values)


def kept_by(node: Any) -> Iterator[tuple[str, Any, Any, Any]]:
    """What a node keeps for its backward rule: (name, numbers, the version counter, its count then). Tensors only: shapes weigh nothing."""
    if node.op is None or node.status != LIVE:
        return
    attributes = {slot: name for name, slot in node.op.saved_as.items() if slot in node.saves}
    for name in node.saves:
        saved = getattr(node, name)
        version: Any = getattr(node, name + "_version", None)
        if saved is None:
            continue
        several = isinstance(saved, (list, tuple))
        for k, thing in enumerate(saved if several else (saved,)):
            counter = thing.version if isinstance(thing, Variable) else getattr(node, name + "_counter")
            text = "_saved_" + attributes.get(name, name) + (f"[{k}]" if several else "")
            yield text, getattr(thing, "array", thing), counter, version[k] if several else version


def saved_by(node: Any) -> list[dict]:
    """The saved values of a node as plain data, for the trace."""
    return [
        dict(
            name=name, shape=list(array.shape), dtype=from_numpy_dtype(array.dtype).name, bytes=array.nbytes, version=then,
            stale=counter[0] != then, now=counter[0],
        )
        for name, array, counter, then in kept_by(node)
    ]  # fmt: skip


# --- recomputing the graph from new inputs -------------------------------------------------------------------------------


class Replay:
    """The recorded operations, ready to run again on other inputs: for sliders, and for graphs that were used up.

    Holds numbers, no tensors. `reason` says why it cannot run, if it cannot."""

    def __init__(self, graph: Graph, values: list):
        self.steps: list[tuple] = []  # per item: ("leaf" | "constant", array) or (op, params, parents, output number)
        self.reason = ""
        for item, array in zip(graph.items, values, strict=True):
            if item.kind != "operation":
                if array is None:
                    self.reason = "a constant of the computation was not kept"
                self.steps.append(("leaf" if item.node is not None and not item.folded else "constant", array))
                continue
            params = None if item.op is None else parameters(item.node)
            if params is None:
                self.reason = f"{kind_of(item)} cannot be run again: its parameters were not kept"
            self.steps.append((item.op, params, item.parents, item.number))
        self.root = graph.root
        if any(item.folded for item in graph.items):
            self.reason = "only a part of the graph was traced"

    def run(self, changed: Mapping[int, Any]) -> list:
        """Tensors for all items, with a graph of their own. `changed`: item -> number, or as many as it has."""
        results: list = []
        with enable_grad(), handling_none():
            for i, step in enumerate(self.steps):
                if step[0] in ("leaf", "constant"):
                    array = step[1]
                    t = wrap(np.full(array.shape, changed[i], array.dtype) if i in changed else array)
                    t.requires = step[0] == "leaf"
                    results.append(t)
                    continue
                op, params, parents, number = step
                if number >= 0 and len(parents) == 1 and isinstance(results[parents[0]], tuple):
                    results.append(results[parents[0]][number])
                    continue
                inputs = [results[p] for p in parents]
                out = op(inputs, *params) if op.tensor_list else op(*inputs, *params)
                results.append(out[number] if isinstance(out, tuple) and number >= 0 else out)
        return results


# --- one backward pass, listened to -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _grads_kept(nodes: Any) -> Iterator[None]:
    """Inside, `retain_grad()` writes nothing into the learner's .grad."""
    remaining = []
    for node in nodes:
        for ref in node.hooks.retain.values() if node.hooks is not None else ():
            if (t := ref()) is not None:
                remaining.append((t, t._grad))
                t._grad = None
    try:
        yield
    finally:
        for t, grad in remaining:
            t._grad = grad


class Pass:
    """What happened in one run of the engine's loop, by items.

    events: ("seed", item, array) | ("send", edge, raw, fitted, after) | ("output", edge, array) | ("accumulate", item, array)
    | ("error", item, exception). grads: the complete gradient of each item, None where none arrived. Leaves' .grad are not touched.
    """

    def __init__(
        self, root_edge: Any, at: Mapping, of_node: Mapping, edges: Mapping, count: int, run: bool = True
    ) -> None:
        self.at, self.of_node, self.edges = at, of_node, edges
        self.events: list[tuple] = []
        self.grads: list[np.ndarray | None] = [None] * count
        self.sums: dict[int, np.ndarray] = {}
        self.changed: set[int] = set()  # whose gradient a hook has changed
        node, number = root_edge
        several = type(node.shape) is list
        seed = np.ones(node.shape[number], node.dtype[number]) if several else np.ones(node.shape, node.dtype)
        root = at[root_edge]
        self.sums[root] = seed
        self.events.append(("seed", root, seed))
        leaves = {key: None for key in at if type(key[0]) is AccumulateGrad}
        todo = engine.topological_order([node])
        with _grads_kept(todo):
            try:
                for done, g, sent in engine.steps([(root_edge, wrap(seed))], keep_graph=True, capture=leaves):
                    todo = todo[1:]
                    self._event(done, g, sent)
            except Exception as error:  # the learner's graph is broken, and the picture shows this error
                self.events.append(("error", of_node.get(todo[0], root) if todo else root, error))

    def _event(self, node: Any, g: Any, sent: Any) -> None:
        item = self.of_node.get(node)
        if item is None or g is None:
            return
        if type(g) is list:
            for n, array in enumerate(g):
                output = self.at.get((node, n))
                if output is not None and array is not None:
                    self.grads[output] = array
                    if output != item:
                        self.events.append(("output", self.edges[output, 0], array))
        else:
            if item in self.sums and not equal(self.sums[item], g):
                self.changed.add(item)
            self.grads[item] = g
        if type(node) is AccumulateGrad:
            self.events.append(("accumulate", item, g))
            return
        for slot, (edge, out) in enumerate(zip(node.edges, sent, strict=False)):
            if edge is None or out is None or edge not in self.at:
                continue
            target, number = edge
            several = type(target.shape) is list
            shape, dtype = (target.shape[number], target.dtype[number]) if several else (target.shape, target.dtype)
            fitted, to = engine.fit_array(out, shape, dtype, node), self.at[edge]
            self.sums[to] = fitted if to not in self.sums else self.sums[to] + fitted
            self.events.append(("send", self.edges[item, slot], np.asarray(out), fitted, self.sums[to]))


def equal(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())


def run_pass(graph: Graph, edges: Mapping, tensors: list | None = None) -> Pass:
    """A pass through the learner's own graph, or through one that a Program has made again."""
    if tensors is None:
        return Pass(_root_edge(graph), graph.at, graph.of_node, edges, len(graph.items))
    at: dict[Any, int] = {}
    of_node: dict[Any, int] = {}
    for i, (item, t) in enumerate(zip(graph.items, tensors, strict=True)):
        if item.kind == "constant" or isinstance(t, tuple) or (edge := edge_of(t)) is None:
            continue
        at[edge] = i
        of_node.setdefault(edge[0], i)
    for i, t in enumerate(tensors):
        if isinstance(t, tuple):  # an operation with several outputs
            of_node[next(edge_of(x)[0] for x in t if edge_of(x))] = i
    return Pass(edge_of(tensors[graph.root]), at, of_node, edges, len(graph.items))


def _root_edge(graph: Graph) -> Any:
    item = graph.items[graph.root]
    return item.node, item.number


def local_of(node: Any, slot: int) -> float | None:
    """d out / d input where both are single numbers: the row's own rule on g = 1."""
    if node.op is None or node.op.tensor_list or node.status != LIVE:
        return None
    try:
        edges = [edge if k == slot else None for k, edge in enumerate(node.edges)]
        with no_grad():
            return float(np.asarray(node.run(np.ones(node.shape, node.dtype), edges)[slot]).sum())
    except Exception:  # a saved value was overwritten; the backward pass reports it
        return None


# --- second order -------------------------------------------------------------------------------------------------------


class Layers:
    """The graph that the backward pass itself records with create_graph=True.

    gradients: those of the leaves, as tensors with a graph. start: nodes with this number or a higher one were made by the pass.
    made_by: node -> [(node that ran, slot of the edge whose rule made it)].
    """

    def __init__(self, root: Variable):
        self.made_by: dict[Any, list] = {}
        self.leaves: list[Variable] = []
        self.gradients: list[Variable] = []
        if root.edge is None:
            self.start = next_number()
            return
        was_on = provenance.recording()
        provenance.record_lines(True)
        capture: dict = {}
        nodes = engine.topological_order([edge_of(root)[0]])
        capture.update({(node, 0): None for node in nodes if type(node) is AccumulateGrad})
        self.start = next_number()
        seed = wrap(np.ones(root.array.shape, root.array.dtype))
        try:
            with _grads_kept(nodes), contextlib.suppress(RuntimeError):
                before = self.start
                for node, _, sent in engine.steps(
                    [(edge_of(root), seed)], keep_graph=True, create_graph=True, capture=capture
                ):
                    for slot, t in enumerate(sent):
                        if t is not None and t.requires and t.edge is not None:
                            self._mark(t.edge[0], before, node, slot)
                    before = next_number()
        finally:
            if not was_on:
                provenance.record_lines(False)
        for (leaf, _), g in capture.items():
            if g is not None and g.requires and g.edge is not None:
                self.leaves.append(leaf.variable)
                self.gradients.append(g)

    def _mark(self, gradients: Any, since: int, by: Any, slot: int) -> None:
        todo = [gradients]
        while todo:
            node = todo.pop()
            if (
                node.number >= since
                and type(node) is not AccumulateGrad
                and (by, slot) not in self.made_by.get(node, ())
            ):
                self.made_by.setdefault(node, []).append((by, slot))
                todo += [edge[0] for edge in node.edges if edge is not None]
