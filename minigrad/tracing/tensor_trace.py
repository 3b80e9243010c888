"""The trace of a Tensor: what `trace` (trace.py) does where the root is a minigrad Tensor.

What lives here: how a recorded graph (recording.py) becomes plain data: labels, formulas, sentences, steps. What does not: the contract
(trace.py), where numbers come from (recording.py), what rows look like (tensor_formulas.py).
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping
from typing import Any, cast, overload

import numpy as np

from ..autograd import engine
from ..autograd.function import BackwardCFunction
from ..core import provenance
from ..core.dtypes import from_numpy_dtype
from ..core.node import FREED
from ..core.op import ELEMENTWISE
from ..core.variable import Variable, edge_of
from ..ops.shape import copy_slices
from ..words import listed
from . import module_calls
from .formula_words import said
from .groups import groups_of_modules
from .naming import former_names, headline, source_of, twin_label, walk
from .notation import Text, formula, number_text, write
from .notation import node as node_in
from .notation import number as number_as_text
from .recording import (
    TRACED,
    Graph,
    Item,
    Layers,
    Pass,
    Replay,
    equal,
    kind_of,
    local_of,
    numbers,
    parameters,
    row_of,
    run_pass,
    saved_by,
    values_of,
)
from .schema import Cut, Edge, Node, Saved, Source, Step, Trace
from .tensor_formulas import expression, flow_formula, friendly, without_g
from .text import differential, json_number

NOT_KEPT = "not kept"


def trace_tensor(
    root: Variable, names: Mapping[str, object] | None = None, title: str | None = None,
    cell_name: Mapping[str, str] | Callable[[str], str | None] | None = None, second: bool = False,
) -> Trace:  # fmt: skip
    """Everything that was computed on the way to a Tensor. See `minigrad.tracing.trace.trace`."""
    return TensorRecording(root, names, second).trace(title, cell_name)


class TensorRecording:
    """A graph with its numbers. The trace is written from it, and sliders recompute it. It holds tensors, so keep it only briefly."""

    def __init__(
        self, root: Variable, names: Mapping[str, object] | None = None, second: bool = False, traced: int = TRACED
    ):
        self.notices: list[str] = []
        self.names = names
        self.layers = Layers(root) if second and root.requires else None
        roots = [root, *(self.layers.gradients if self.layers else ())]
        self.graph = graph = Graph(roots, names, traced)
        self.values = values_of(graph)
        self.edges: list[tuple[int, int, int]] = []  # (parent, target, slot), by edge id
        self.edge_at: dict[tuple[int, int], int] = {}
        for target, item in enumerate(graph.items):
            for slot, parent in enumerate(item.parents):
                self.edge_at[target, slot] = len(self.edges)
                self.edges.append((parent, target, slot))
        self.program: Replay | None = None
        self.ran: Pass | None = None
        self.tensors: list | None = None
        self.same_again = False  # a used-up graph that was run again, on the same numbers
        if root.requires:
            self._run(root)
        if self.layers and self.layers.gradients:
            self.notices.append(
                "The cards with a dashed outline and a line at the bottom are the graph of the gradient itself, which create_graph=True "
                "records. Choose an edge of the first graph to see which of them its rule makes."
            )
        if graph.total:
            self.notices.append(
                f"This graph has {graph.total:,} nodes. Only the newest {len(graph.order):,} operations were traced."
            )

    def _run(self, root: Variable) -> None:
        graph = self.graph
        if any(node.status == FREED and (node.saves or node.frees) for node in graph.order):
            self.program = program = Replay(graph, self.values)
            if not program.reason:
                try:
                    self.tensors = program.run({})
                except Exception as error:  # an input has changed so that the operations do not fit together any more
                    program.reason = f"it cannot be run again ({type(error).__name__}: {error})"
            if program.reason:
                self.notices.append(
                    "This graph was used up: a backward pass has already gone through it and freed what its nodes had saved, and "
                    f"{program.reason}. "
                    "So there is no backward half to show. Show the graph before backward(), or call backward(retain_graph=True)."
                )
                return
            self.tensors = program.run({})
            self.ran = run_pass(graph, self.edge_at, self.tensors)
            self.values = [
                v if v is not None else getattr(t, "array", None)
                for v, t in zip(self.values, self.tensors, strict=True)
            ]
            self.same_again = equal(self.tensors[graph.root].array, root.array)
            if self.same_again:
                say = (
                    "This graph was used up by backward(), so its backward half was run once more, on the same numbers."
                )
            else:
                say = "This graph was used up: backward() has gone through it and freed what its nodes had saved. "
                self.values = [getattr(t, "array", None) for t in self.tensors]
                say += (
                    "Its inputs have changed since, so all numbers below come from running the recorded operations once more, on the "
                    "inputs as they are now."
                )
            self.notices.append(say)
            return
        self.ran = run_pass(graph, self.edge_at)

    # Words

    def sweeper(self) -> Sweeper | None:
        """What computes the tables of sliders (after `trace`); None if no leaf is a single number or the operations cannot be run again."""
        program = self.program or Replay(self.graph, self.values)
        leaves = [
            i
            for i, item in enumerate(self.graph.items)
            if item.kind == "leaf" and item.node is not None and size_of(item) == 1
        ]
        if (
            not leaves
            or program.reason
            or self.ran is None
            or self.layers
            or any(e[0] == "error" for e in self.ran.events)
        ):
            return None
        return Sweeper(self, program, leaves)

    def mover(self) -> Mover | None:
        """What runs the operations again with other numbers in its leaves (after `trace`); None if they cannot be run again."""
        program = self.program or Replay(self.graph, self.values)
        errors = self.ran is None or any(e[0] == "error" for e in self.ran.events)
        return None if program.reason or errors else Mover(self, program)

    def _labels(self, sources: list[Source | None]) -> tuple[list[Text], list[bool], list[Text | None]]:
        items = self.graph.items
        notes = map(_note, items)
        former = former_names(
            [item.name or item.path for item in items], [note and note.code for note in notes], sources
        )
        occupied, used = {i.name for i in items if i.name}, set[str]()
        texts: list[Text] = []
        named: list[bool] = []
        exprs: list[Text | None] = []
        made_up = 0
        gradient_of = {}
        if self.layers:
            for leaf, g in zip(self.layers.leaves, self.layers.gradients, strict=True):
                gradient_of[edge_of(g)] = leaf
        for item, before in zip(items, former, strict=True):
            text = expr = None
            if item.kind == "operation":
                expr = self._expression(item, texts)
            if item.name:
                text = Text(twin_label(item.name, used, occupied))
            elif item.kind == "leaf" and item.path:
                text = Text(twin_label(item.path, used, occupied))
            elif item.kind == "constant" and item.array is not None:
                text = number_as_text(_number(item.array))
            elif (item.node, item.number) in gradient_of:
                leaf = gradient_of[item.node, item.number]
                by = next(t.text for x, t in zip(items, texts, strict=False) if x.live is leaf)
                text = Text(
                    twin_label(f"{differential(texts[self.graph.root].text)}/{differential(by)}", used, occupied)
                )
            elif before and before not in occupied | used:
                text = Text(before)
            elif item.kind == "operation":
                text = expr if expr and len(expr.text) <= 10 else None
            if text is None or (item.kind != "constant" and text.text in used | (set() if item.name else occupied)):
                made_up += 1
                while f"v{made_up}" in occupied | used:
                    made_up += 1
                text = Text(f"v{made_up}")
            if item.kind != "constant" or item.array is None:
                used.add(text.text)
            texts.append(text)
            named.append(bool(item.name))
            exprs.append(expr)
        return texts, named, exprs

    def _expression(self, item: Item, texts: list[Text]) -> Text:
        of = [node_in(texts[p], p) for p in item.parents]
        if item.op is None:
            return formula("call", kind_of(item).removesuffix("Backward"), *of)
        parent = self.graph.items[item.parents[0]] if item.parents else None
        if parent is not None and parent.node is item.node and parent.number < 0:
            outputs = item.op.outputs
            return (
                formula("[]", of[0], str(item.number))
                if outputs is ...
                else formula(".", of[0], str(outputs[item.number]))
            )
        return expression(item.op, parameters(item.node), of)

    def trace(
        self,
        title: str | None = None,
        cell_name: Callable[[str], str | None] | Mapping[str, str] | None = None,
        later: bool = False,
    ) -> Trace:
        """The recording as plain data. `later`: an array is summed up only when it is read, for views that fold."""
        graph, items = self.graph, self.graph.items
        sources = [_line(item, cell_name) for item in items]
        texts, named, exprs = self._labels(sources)
        if self.layers:
            sources = [
                None if item.node is not None and item.node.number >= self.layers.start else s
                for item, s in zip(items, sources, strict=True)
            ]
        self.arrays = Arrays(later)
        cuts = {i: self._cut(i, texts) for i, item in enumerate(items) if item.node is None and item.cut is not None}
        for i, cut in cuts.items():
            if not items[i].detached_by:
                items[i].why = self._cut_words(cut, texts[i], sources[i], [texts[k].text for k in cut["sources"]])
        edges = [self._edge(e, texts) for e in range(len(self.edges))]
        scopes, inside = self._scopes()
        nodes: list[Node] = []
        for i in range(len(items)):
            node = self._traced(i, texts, exprs, edges)
            node["named"], node["source"], node["scope"] = named[i], sources[i], scopes[i]
            if i in inside:
                node["inside"] = inside[i]
            if i in cuts:
                node["cut"] = cuts[i]
            nodes.append(node)
        if self.layers:
            self._mark_layers(self.layers, nodes, edges)
        steps = self._forward(nodes) + self._backward(nodes, edges, self.arrays)
        if title is None:
            line, label = sources[graph.root], texts[graph.root].text
            called = line is not None and headline(line)
            # A line that only passes the result on, or backward(), which makes gradients, says nothing of a result that has a name.
            title = label if not called or named[graph.root] and re.match(r"return |.*\.backward\(", called) else called
        notices = [*self.notices, *self._stale(nodes)]
        result = Trace(version=1, engine="tensor", title=title, root=graph.root, nodes=nodes, edges=edges, steps=steps,
                     arrays=self.arrays.table, notices=notices, unused=[text for text, _ in graph.unused()])  # fmt: skip
        if inside:
            result["groups"] = groups_of_modules(inside, self.classes)
        return result

    def _traced(self, i: int, texts: list[Text], exprs: list[Text | None], edges: list[Edge]) -> Node:
        """A node, without its name, its line and its module."""
        item, value, computes = self.graph.items[i], self.values[i], exprs[i]
        grad = self.ran.grads[i] if self.ran else None
        node = Node(
            id=i, kind=cast(Any, item.kind), op=kind_of(item), label=texts[i].text, named=False,
            expr=computes.text if computes else "" if item.kind != "constant" else "constant" if item.array is None else texts[i].text,
            value=_value(value), grad=None if grad is None else json_number(float(grad.ravel()[0])) if grad.size == 1 else None,
            requires_grad=self._requires(item), rule=self._rules(i, texts, exprs, edges),
            saved=_saved(item) if item.number >= 0 and item.kind == "operation" else [],
            source=None, scope="",
        )  # fmt: skip
        if item.shape is not None:
            node["shape"], node["dtype"] = list(item.shape), from_numpy_dtype(cast(np.dtype, item.dtype)).name
        node["array"], node["grad_array"] = self.arrays.add(value, ("value", i)), self.arrays.add(grad, ("grad", i))
        if computes:
            node["formula"] = computes.tree
        if item.op is not None:
            node["function"] = friendly(item.op)
        if item.folded:
            node["folded"] = True
            node["expr"] = "… computed earlier"
        if item.why:
            node["stops"] = _called(item.why, texts[i])
        if (view := self._view_of(i)) is not None:
            node["view"] = view  # type: ignore[typeddict-item]
        if item.live is not None and type(item.live.version) is list and item.live.version[0]:
            node["version"] = item.live.version[0]
        return node

    def _mark_layers(self, layers: Any, nodes: list[Node], edges: list[Edge]) -> None:
        """Mark the nodes that the backward pass created, and the edge whose rule created each."""
        of_node = self.graph.of_node
        for i, item in enumerate(self.graph.items):
            made_by = [self.edge_at[of_node[n], slot] for n, slot in layers.made_by.get(item.node, ()) if n in of_node]
            for e in made_by:
                edges[e].setdefault("makes", []).append(i)
            second = item.node is not None and item.node.number >= layers.start and item.kind == "operation"
            nodes[i]["layer"] = int(second)
            if made_by:
                nodes[i]["made_by"] = made_by

    def _cut(self, i: int, texts: list[Text]) -> Cut:
        """Where the history of a tensor was cut off."""
        sources = self.graph.cut_from(i)
        how = cast(provenance.Cut, self.graph.items[i].cut).how
        name = texts[sources[0]].text if len(sources) == 1 else ""
        return Cut(sources=sources, how=f"{name}.detach()" if how == "detach" and name.isidentifier() else f"{how}()")

    @staticmethod
    def _cut_words(cut: Cut, label: Text, source: Source | None, names: list[str]) -> str:
        """The same in a sentence, of a tensor that was made of the one that was cut off."""
        where = f" in line {source['line']}" if source else ""
        to = f" to {listed(names)}" if names else ""
        return f"{label.text} was made of what {cut['how']} cut off{where}: no gradient goes back{to}."

    def _requires(self, item: Item) -> bool:
        return item.node is not None

    def _edge(self, e: int, texts: list[Text]) -> Edge:
        parent, target, slot = self.edges[e]
        source, item = self.graph.items[parent], self.graph.items[target]
        carries = source.node is not None
        inner = item.node is source.node and source.number < 0
        node = self._node(target)
        local, text, custom = None, "", ""
        slope: Text | None = None
        if carries and item.op is not None and not inner:
            slope = self._flow(target, slot, texts)
            if size_of(item) == 1 and size_of(source) == 1:
                local = local_of(node, slot) if node is not None else None
                if slope and (factor := without_g(slope.tree)) is not None:
                    slope = write(factor, texts.__getitem__)
            text = slope.text if slope else ""
        elif carries and not inner and (custom := _own_rule(item)):
            text = f"{custom}.backward(g)"
        edge = Edge(
            id=e,
            source=parent,
            target=target,
            slot=slot,
            local=None if local is None else json_number(local),
            local_text=text,
            carries_grad=carries,
        )
        if slope:
            edge["slope"] = slope.tree
        if custom:
            edge["custom"] = True
        wide, narrow = item.shape, source.shape
        if (
            source.kind != "constant"
            and item.op is not None
            and not inner
            and wide is not None
            and narrow is not None
            and narrow != wide
        ):
            if item.op.kind == ELEMENTWISE or item.op.name == "expand":
                edge["broadcast"] = dict(
                    shape=list(narrow), to=list(wide), axes=list(engine.summed_axes(wide, narrow, item.node))
                )  # type: ignore[typeddict-item]
        if (
            carries
            and item.op is not None
            and not inner
            and local is None
            and (words := self._words(target, slot, text, texts))
        ):
            edge["words"] = words
        if not carries:
            constant = "is a constant" if source.array is not None else "is a constant, whose numbers were not kept"
            edge["stops"] = _called(source.why, texts[parent]) or f"{texts[parent].text} {constant}."
        return edge

    def _node(self, i: int) -> Any:
        """The node that holds the numbers: the learner's, or its recomputed copy if the graph was freed."""
        if self.tensors is not None:
            return None if isinstance(self.tensors[i], tuple) else (edge_of(self.tensors[i]) or (None,))[0]
        return self.graph.items[i].node

    def _flow(self, target: int, slot: int, texts: list[Text]) -> Text | None:
        item = self.graph.items[target]
        op = item.op
        rule = None if op.tensor_list else op.rules[op.inputs[slot]]
        if rule is None:
            return None
        labels = {name: node_in(texts[p], p) for name, p in zip(op.inputs, item.parents, strict=False)}
        if op.outputs is not ...:
            labels.update({name: node_in(texts[target], target) for name in op.outputs})
        shapes = {name: self.graph.items[p].shape for name, p in zip(op.inputs, item.parents, strict=False)}
        return flow_formula(op, rule, labels, cast(dict[str, tuple], shapes), parameters(item.node))

    def _words(self, target: int, slot: int, text: str, texts: list[Text]) -> str:
        """A sentence about the rule if its formula (`text`) is empty or unhelpful; else ""."""
        item = self.graph.items[target]
        op = item.op
        if op.tensor_list:
            return said(op, op.inputs[0], "", {op.inputs[0]: texts[item.parents[slot]]})
        labels = {name: texts[p] for name, p in zip(op.inputs, item.parents, strict=False)}
        if op.outputs is not ...:
            labels.update({name: texts[target] for name in op.outputs})
        words = said(op, op.inputs[slot], text, labels)
        return "" if words == text else words

    def _rules(self, i: int, texts: list[Text], exprs: list[Text | None], edges: list[Edge]) -> str:
        item, lines = self.graph.items[i], []
        for slot, parent in enumerate(item.parents):
            edge = edges[self.edge_at[i, slot]]
            if not edge["carries_grad"] or not edge["local_text"]:
                continue
            to = texts[parent].text
            if size_of(item) == 1 and size_of(self.graph.items[parent]) == 1 and not _own_rule(item):
                lines.append(f"{differential((exprs[i] or texts[i]).text)}/{differential(to)} = {edge['local_text']}")
            else:
                lines.append(f"to {to}: {edge.get('words') or edge['local_text']}")
        return "; ".join(dict.fromkeys(lines))

    def _scopes(self) -> tuple[list[str], dict[int, list[str]]]:
        """For each item the innermost module whose call made it (for a parameter, whose it is), and the names of all calls around it.

        A layer that is called twice has two calls, the second called "layer (call 2)". Where no call is known, the module is the one
        whose parameters an operation uses.
        """
        items, result = self.graph.items, {}
        self.classes: dict[str, str] = {}  # of the modules, by name
        numbers = {
            i: item.node.number for i, item in enumerate(items) if item.kind == "operation" and item.node is not None
        }
        around = module_calls.around(numbers.values())
        if around:
            paths = {
                id(thing): text
                for text, thing in walk(self.names)
                if hasattr(thing, "_parameters") and hasattr(thing, "_modules")
            }
            called: dict[str, int] = {}
            texts: dict[tuple[int, int], tuple[str, str]] = {}  # call -> (path, a name of its own)
            for i, number in numbers.items():
                for first, last, module in around.get(number, ()):
                    if (first, last) not in texts:
                        live = module()
                        path = (
                            paths.get(id(live)) or type(live).__name__ if live is not None else "a module that is gone"
                        )
                        if live is not None:
                            self.classes[path] = type(live).__name__
                        called[path] = turn = called.get(path, 0) + 1
                        texts[first, last] = path, path if turn == 1 else f"{path} (call {turn})"
                if number in around:
                    result[i] = [texts[first, last] for first, last, _ in around[number]]
        out: list[str] = []
        for i, item in enumerate(items):
            if item.kind == "leaf":
                out.append(
                    item.path.rpartition(".")[0] if type(item.live).__name__ == "Parameter" and "." in item.path else ""
                )
                continue
            if i in result:
                out.append(result[i][-1][0])
                continue
            inner = {
                out[p]
                for p in item.parents
                if out[p] and (items[p].kind == "leaf" or (items[p].op and items[p].op.view))
            }
            out.append(inner.pop() if len(inner) == 1 else "")
        return out, {i: [name for _, name in texts_of] for i, texts_of in result.items()}

    def _view_of(self, i: int) -> dict | None:
        item = self.graph.items[i]
        if item.op is None or not item.op.view or item.kind != "operation" or not item.parents:
            return None
        base = item.parents[0]
        while (
            self.graph.items[base].kind == "operation"
            and self.graph.items[base].op is not None
            and self.graph.items[base].op.view
        ):
            base = self.graph.items[base].parents[0]
        same = [
            base,
            *(k for k, other in enumerate(self.graph.items) if other.op is copy_slices and base in other.parents[:1]),
        ]
        counters = [x.version for x in (item.live, *(self.graph.items[k].live for k in same)) if x is not None]
        counters.append(getattr(self.graph.items[base].node, "out_counter", None))  # it saved its own numbers
        counter = next((c for c in counters if type(c) is list), None)
        return {"base": base, **({"version": counter[0]} if counter is not None else {})}

    def _stale(self, nodes: list[Node]) -> list[str]:
        out = []
        for node in nodes:
            stale = [saved for saved in node["saved"] if saved.get("stale")]
            if stale:
                what = listed([f"{saved['name']}, shape {_shape(saved['shape'])}" for saved in stale])
                then, now = ({saved[key] for saved in stale} for key in ("version", "now"))  # type: ignore[literal-required]
                out.append(
                    f"What {node['op']} saved ({what}) was overwritten since: it was at version {listed([str(v) for v in sorted(then)])}, "
                    f"and is at version {listed([str(v) for v in sorted(now)])} now. The backward pass cannot go through {node['label']}."
                )
        return out

    # Events

    def _forward(self, nodes: list[Node]) -> list[Step]:
        steps = []
        for node in nodes:
            if node.get("layer"):
                continue
            shape = "" if _one(node) else f", shape {_shape(node.get('shape'))}"
            if node["kind"] == "leaf":
                what = "without gradient" if node.get("stops") else "nothing to compute"
                say = f"**{node['label']} is {{value}}**{shape}: an input, {what}."
                steps.append(Step(phase="forward", kind="input", node=node["id"], edge=None, say=say))
            elif node["kind"] == "operation":
                what = f": it is {node['expr']}." if node["expr"] != node["label"] else "."
                if "view" in node:
                    what += f" It is a view: it shares the numbers of {nodes[node['view']['base']]['label']}."
                say = f"**{node['label']} becomes {{value}}**{shape}{what}"
                steps.append(Step(phase="forward", kind="compute", node=node["id"], edge=None, say=say))
        return steps

    def _backward(self, nodes: list[Node], edges: list[Edge], arrays: Arrays) -> list[Step]:
        if self.ran is None:
            return []
        steps: list[Step] = []
        senders: list[list[int]] = [[] for _ in nodes]
        for k, event in enumerate(self.ran.events):
            if event[0] == "seed":
                node = nodes[event[1]]
                how = f"**The gradient of {node['label']} starts at 1:** how fast {node['label']} changes with itself."
                if event[2].size != 1:
                    how = (
                        f"**The gradient of {node['label']} starts with ones of shape {_shape(node.get('shape'))}:** as if its entries "
                        f"were summed. To do the same: {node['label']}.backward(torch.ones_like({node['label']}))."
                    )
                seed = arrays.add(event[2], ("event", k, 2))
                steps.append(Step(phase="backward", kind="seed", node=event[1], edge=None, after=seed, say=how))
            elif event[0] in ("send", "output"):
                edge = edges[event[1]]
                target, parent = edge["target"], edge["source"]
                if event[0] == "output":
                    sent = after = event[2]
                    say = f"**{nodes[target]['label']} passes {{sends}} back to {nodes[parent]['label']}:** the gradient of this output."
                    at = arrays.add(sent, ("event", k, 2))
                    step = Step(
                        phase="backward", kind="send", node=target, edge=edge["id"], sends=at, after=at, say=say
                    )
                else:
                    _, _, raw, sent, after = event
                    where = _place(raw.shape, sent.shape)
                    if where and "broadcast" not in edge:
                        edge["broadcast"] = dict(shape=list(sent.shape), to=list(raw.shape), axes=where)  # type: ignore[typeddict-item]
                    say = self._say(nodes, edge, senders, raw, sent, where)
                    step = Step(
                        phase="backward",
                        kind="send",
                        node=target,
                        edge=edge["id"],
                        sends=arrays.add(sent, ("event", k, 3)),
                        after=arrays.add(after, ("event", k, 4)),
                        say=say,
                    )
                    if where:
                        step["raw"] = arrays.add(raw, ("event", k, 2))  # type: ignore[typeddict-item]
                if target not in senders[parent]:
                    senders[parent].append(target)
                steps.append(step)
            elif event[0] == "accumulate":
                steps.append(self._accumulate(nodes[event[1]], event[1], arrays))
            else:
                sentence = str(event[2]).split("\n")[0].split(" Hint:")[0]
                node = nodes[event[1]]
                say = f"**The backward pass stops at {node['label']} ({node['op']}):** {type(event[2]).__name__}: {sentence}"
                steps.append(Step(phase="backward", kind="error", node=event[1], edge=None, say=say))
        return steps

    def _accumulate(self, node: Node, i: int, arrays: Arrays) -> Step:
        held = self.graph.items[i].live
        label = node["label"]
        shape = "" if _one(node) else f" of shape {_shape(node.get('shape'))}"
        say = f"**The gradient of {label}{shape} is complete, {{after}}.** "
        if held is None or held._grad is None:
            say += f"backward() puts it into {label}.grad, which is None now."
        else:
            say += f"backward() adds it to what {label}.grad already holds."
        if i in (self.ran.changed if self.ran else ()):
            say += " A hook of yours has changed it on the way."
        grad = cast(np.ndarray, cast(Pass, self.ran).grads[i])
        return Step(
            phase="backward", kind="accumulate", node=i, edge=None, after=arrays.add(grad, ("grad", i)), say=say
        )

    def _say(
        self, nodes: list[Node], edge: Edge, senders: list[list[int]], raw: Any, sent: Any, where: list[int]
    ) -> str:
        node, parent = nodes[edge["target"]], nodes[edge["source"]]
        to = parent["label"]
        upstream = (
            "the {incoming} it started with"
            if edge["target"] == self.graph.root
            else f"the upstream gradient {{incoming}} from {listed([nodes[s]['label'] for s in senders[edge['target']]], 4, 'nodes')}"
        )
        custom, one = _own_rule(self.graph.items[edge["target"]]), sent.size == 1 and raw.size == 1
        if one and edge["local"] is not None:
            say = f"**{node['label']} passes {{sends}} back to {to}:** the local derivative of {node['expr']} with respect to {to} is "
            say += f"{{local}}, times {upstream}."
        elif one and custom:
            say = f"**{node['label']} passes {{sends}} back to {to}:** what {custom}.backward makes of {upstream}. "
            say += f"It is a rule of its own, and nothing here compares it with the true derivative of {node['expr']}."
        else:
            say = f"**{node['label']} passes a gradient of shape {_shape(sent.shape)} back to {to}, {{sends}}:**"
            phrase = (
                "the upstream gradient"
                if edge["local_text"] == "g"
                else _in_words(edge.get("words") or edge["local_text"])
            )
            if custom:
                phrase = f"what {custom}.backward makes of the upstream gradient"
            say += (
                f" {phrase}"
                if phrase
                else f" what the rule of {node.get('function') or node['op']} makes of the upstream gradient"
            )
            if where:
                dims = f"dim {where[0]}" if len(where) == 1 else f"dims {listed([str(w) for w in where])}"
                say += (
                    f", summed over {dims} because {to} was broadcast from {_shape(sent.shape)} to {_shape(raw.shape)}."
                )
            else:
                say += "."
        if edge["target"] in (self.ran.changed if self.ran else ()):
            say += f" A hook of yours had changed the gradient of {node['label']} before."
        if senders[edge["source"]]:
            say += f" Added to what was already there, {to} now has {{after}}."
        return say


class Mover:
    """Runs the recorded operations again, forward and backward, with other numbers in the leaves. Their tensors stay as they are."""

    def __init__(self, recording: TensorRecording, program: Replay):
        self.program, self.graph = program, recording.graph
        self.edge_at, self.where = recording.edge_at, recording.arrays.where
        held = recording.arrays.held
        self.seconds = 1e-4 + 1.5e-5 * len(held) + 3e-8 * sum(a.size for a in held)  # about what one run takes

    def run(self, changed: Mapping[int, Any]) -> tuple[list, list]:
        """The values of all nodes, and the arrays of the trace in its order. changed: leaf -> its numbers."""
        tensors = self.program.run(changed)
        ran = run_pass(self.graph, self.edge_at, tensors)
        results = {"value": [getattr(t, "array", None) for t in tensors], "grad": ran.grads}
        return results["value"], [
            ran.events[w[1]][w[2]] if w[0] == "event" else results[w[0]][w[1]] for w in self.where
        ]


class Sweeper:
    """Runs the recorded operations again, forward and backward, with another number in one leaf. The leaves' tensors stay as they are."""

    def __init__(self, recording: TensorRecording, program: Replay, leaves: list[int]):
        self.leaves, self.program = leaves, program
        self.graph, self.edge_at, self.where = recording.graph, recording.edge_at, recording.arrays.where
        self.edges = recording.edges
        arrays = recording.arrays.held
        self.seconds = 1e-4 + 8e-5 * len(arrays) + 3e-8 * sum(a.size for a in arrays)  # about what one point takes
        self.graph.forget()
        self.at: dict[int, float] = {}

    def set(self, leaf: int, value: float) -> None:
        """Let this leaf stand at `value` while others are swept."""
        self.at[leaf] = value

    def sweep(self, leaf: int, points: list[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """For each point a row: values and gradients of all nodes, local derivatives of all edges, and the arrays (see `row_of`)."""
        rows = [self._row({**self.at, leaf: x}) for x in points]
        return tuple(np.array([row[k] for row in rows], np.float64).reshape(len(rows), -1) for k in range(4))  # type: ignore[return-value]

    def _row(self, changed: Mapping[int, float]) -> tuple[list, list, list, list]:
        tensors = self.program.run(changed)
        ran = run_pass(self.graph, self.edge_at, tensors)
        values = [getattr(t, "array", None) for t in tensors]
        results = {"value": values, "grad": ran.grads}
        arrays = [ran.events[w[1]][w[2]] if w[0] == "event" else results[w[0]][w[1]] for w in self.where]
        locals_ = []
        for parent, target, slot in self.edges:
            source, item = self.graph.items[parent], self.graph.items[target]
            recorded = (
                source.node is not None
                and size_of(source) == size_of(item) == 1
                and not isinstance(tensors[target], tuple)
            )
            edge = edge_of(tensors[target]) if recorded else None
            locals_.append(_or_nan(local_of(edge[0], slot)) if edge else math.nan)
        return (
            [_one_or_nan(v) for v in values],
            [_one_or_nan(g) for g in ran.grads],
            locals_,
            row_of([numbers(a) for a in arrays]),
        )


def _own_rule(item: Item) -> str:
    """The name of the autograd.Function that made an operation, "" for one of the table's rows."""
    return (
        cast(Any, item.node)._forward_cls.__name__
        if item.kind == "operation" and isinstance(item.node, BackwardCFunction)
        else ""
    )


def _saved(item: Item) -> list[Saved]:
    """What the node keeps: the named values of a row, or what a Function gave to save_for_backward."""
    if not _own_rule(item):
        return [cast(Saved, saved) for saved in saved_by(item.node)]
    out = []
    for k, entry in enumerate(item.node.saved):
        if entry is not None and isinstance(entry[0], Variable):  # not one that hooks have packed
            t, then, _ = entry
            shape, dtype, now = list(t.array.shape), from_numpy_dtype(t.array.dtype).name, t.version[0]
            saved = Saved(name=f"saved_tensors[{k}]", shape=shape, dtype=dtype, bytes=t.array.nbytes)
            out.append(Saved(**saved, version=then, stale=now != then, now=now))  # type: ignore[typeddict-item]
    return out


def _or_nan(x: float | None) -> float:
    return math.nan if x is None else x


def _one_or_nan(array: np.ndarray | None) -> float:
    return float(array.ravel()[0]) if array is not None and array.size == 1 else math.nan


class Later(list):
    """A table whose arrays are summed up when they are looked at."""

    def __getitem__(self, i: Any) -> Any:
        thing = super().__getitem__(i)
        if isinstance(thing, np.ndarray | np.generic):  # a result of single numbers is a NumPy scalar
            self[i] = thing = numbers(np.asarray(thing))
        return thing

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))


class Arrays:
    """The arrays of a trace, each once."""

    def __init__(self, later: bool = False):
        self.table: list = Later() if later else []
        self.index: dict[int, int] = {}
        self.held: list[np.ndarray] = []  # so that no id is given twice
        self.where: list[
            tuple
        ] = []  # what each is: ("value", item), ("grad", item), or ("event", number, place in the event)

    @overload
    def add(self, array: np.ndarray, where: tuple = ()) -> int: ...

    @overload
    def add(self, array: None, where: tuple = ()) -> None: ...

    def add(self, array: np.ndarray | None, where: tuple = ()) -> int | None:
        if array is None:
            return None
        if id(array) not in self.index:
            self.index[id(array)] = len(self.table)
            self.held.append(array)
            self.where.append(where)
            self.table.append(array if type(self.table) is Later else numbers(array))
        return self.index[id(array)]


def _note(item: Item) -> provenance.Note | provenance.Cut | None:
    return provenance.read(item.node) if item.kind == "operation" else item.cut if item.node is None else None


def _line(item: Item, cell_name: Callable[[str], str | None] | Mapping[str, str] | None) -> Any:
    note = _note(item)
    return (
        None
        if note is None or note.code is None
        else source_of(types.SimpleNamespace(_code=note.code, _offset=note.offset), cell_name)
    )


def size_of(item: Item) -> int:
    return -1 if item.shape is None else math.prod(item.shape)


def _one(node: Node) -> bool:
    return math.prod(node.get("shape", [1])) == 1


def _called(why: str, label: Text) -> str:
    """The reason with the name that a tensor without one was given here."""
    return why.replace("This tensor", label.text, 1)


def _shape(shape: Any) -> str:
    return "several" if shape is None else str(tuple(shape))


def _place(wide: tuple, narrow: tuple) -> list[int]:
    return [] if wide == narrow else list(engine.summed_axes(wide, narrow, None))


def _number(array: np.ndarray) -> str:
    value = array.ravel()[0].item()
    return str(value) if isinstance(value, bool) or array.dtype.kind == "c" else number_text(value)


def _value(array: np.ndarray | None) -> Any:
    if array is None:
        return NOT_KEPT
    if array.size == 1 and array.dtype.kind != "c":
        return json_number(float(array.ravel()[0]))
    return f"{tuple(array.shape)} {from_numpy_dtype(array.dtype).name}"


def _in_words(text: str) -> str:
    """A rule's text as part of a sentence: "upstream × x"."""
    words = []
    for word in text.split(" "):
        bare = word.strip("()ᵀ²³−,")
        words.append(word.replace("g", "upstream") if bare == "g" else word)
    return " ".join(words)
