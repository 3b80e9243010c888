"""What a view shows: a learner's recorded computation, under the learner's names, and where its inputs stand.

What lives here: reading the graph, and its numbers where the sliders stand. Nothing here keeps anything of the learner's alive, and no
slider changes anything of it.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import math
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy

from minigrad.core.errors import a_kind
from minigrad.scalar import Value, backward_order, copy_newest, recompute
from minigrad.tape import Tape
from minigrad.tracing.naming import headline, source_of
from minigrad.tracing.notation import number_text
from minigrad.tracing.own_classes import NO_OBJECT, why_no_graph
from minigrad.tracing.scalar_trace import ScalarRecording, groups_of, newest, part, trace_value
from minigrad.tracing.schema import Source
from minigrad.tracing.trace import Trace, is_tensor, record, trace, unused_inputs, unused_words
from minigrad.words import listed

from .. import cells, network
from ..audit import audit
from ..fold import at_point
from ..forms.plan import Figured, find
from ..network import Network
from ..static import number
from . import sweeps

TRACED = 12_000  # of a graph with more operations than this, only the newest are traced
READ = 300_000  # operations; of a graph with more not even the network is looked for
AT_ONCE = 3_000  # nodes; the operations of a larger network are traced on demand
NEWEST = "This graph has {:,} nodes; only the newest {:,} operations were traced, and what enters them."
UNFIGURED = "The figure of this program could not be laid out"  # an error under pytest: see pyproject.toml
OUTDATED = "An input was changed after {} was computed, so the recorded operations were computed again."
TABLES = 400  # nodes of a Tensor graph, four times as many of a Value graph, up to which there are sliders


def compiled_step(root: object) -> Any:
    """`root` if it is a step compiled by minigrad.compile, else None."""
    module = sys.modules.get("minigrad.program.step")
    return root if module is not None and isinstance(root, module.CompiledStep) else None


def not_a_graph(root: object) -> str:
    """Why `root` has no graph, and what to show instead, as sentences; "" if it has a graph."""
    if is_tensor(root):
        return ""
    if step := compiled_step(root):
        if step.shown is None:
            return (
                step.why
                or f"{step.__name__} has no program yet. Call it until it has one: four calls are enough for most steps."
            )
        if step.shown.pictured is None:
            return f"{step.__name__} has a program, but kept no graph that could be shown. Show a result of the step that you wrote."
        return ""
    if isinstance(root, Value) or not (why := why_no_graph(root)):
        return ""
    kind = type(root).__name__
    if isinstance(root, (int, float)):
        return (
            f"There is no graph behind a plain number ({root!r}). "
            f"Compute it from a Value, for example x = Value({root!r}); y = x * x, and show y."
        )
    if isinstance(root, (list, tuple, set, dict)):
        items = root.values() if isinstance(root, dict) else root
        if any(isinstance(item, Value) for item in items):
            return f"A {kind} of Values has no single graph. Show one of them, or their sum: sum(values)."
        return f"A {kind} has no graph. Show a Value or a Tensor: the result of a computation."
    if isinstance(root, type) or callable(root):
        what = "class" if isinstance(root, type) else "function"
        return f"{getattr(root, '__name__', kind)} is a {what}, not a result. Call it with a Value and show what it returns."
    if why != NO_OBJECT:
        return f"This {kind} has no graph to show: {why}."
    return (f"A{a_kind(root)[1:]} has no graph to show. Show the result of a computation: a Value, a Tensor, or an object of a "
            "scalar class of your own, which keeps its number and the objects that it was computed from.")  # fmt: skip


def _cell_name(filename: str) -> str | None:
    """ "In [4]" for the file name under which IPython compiled a cell, else None."""
    shell = cells.ipython()
    number = getattr(shell.compile, "_filename_map", {}).get(filename) if shell else None
    return f"In [{number}]" if number is not None else None


def _of_this_program(unused: list[str], whole: Trace, things: list, names: Mapping[str, object]) -> list[str]:
    """Those of the inputs without a part that a cell made beside variables of this graph. A local variable in it may be called like one."""
    visible = {n["label"] for n in whole["nodes"]}
    named = zip(whole["nodes"], things, strict=True)
    beside = {
        n["label"]
        for n, thing in named
        if n["named"] and (not n["label"].isidentifier() or names.get(n["label"]) is thing)
    }
    return [name for name in cells.made_beside(unused, beside) if name not in visible]


def _weak(thing: Any) -> Callable[[], Any]:
    """A weak reference; a strong one to an object of a class whose __slots__ forbid weak ones."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: thing


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Suspend garbage collection: reading a big graph creates a million live objects, and traversing them takes a quarter of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class Subject:
    """One recorded computation. After `read` it has everything that a view needs."""

    sources: dict[str, Source | None]  # of a network: the line behind each part of its picture
    title: str  # of a network
    leaves: list[int]  # ids of the inputs that can have a slider
    words: list[str]  # sentences about the whole graph
    grads: list[float | None]  # of a foreign class: the gradient that each object holds
    network: Network | None  # if the calls of the learner's program show one
    figured: Figured | None  # if a program of Tensors has a form

    def __init__(self, root: Any, names: Mapping[str, object] | None, second: bool, limit: int) -> None:
        self._second, self._limit = second, limit
        self._labels: dict[str, Callable[[], Any]] = {}
        self.read(root, names)

    @property
    def root(self) -> Any:
        """The learner's own result; None if it is gone."""
        return self._root()

    def read(self, root: Any, names: Mapping[str, object] | None = None) -> None:
        """Trace the present state of `root`. Names are looked up in the argument, the notebook and the previous result."""
        held = {name: value for name, ref in self._labels.items() if (value := ref()) is not None}
        shell = cells.ipython()
        names = {**held, **(shell.user_ns if shell else {}), **(names or {})}
        self._root = _weak(root)
        step = compiled_step(root)
        pictured = step.shown.pictured if step else None
        if pictured:
            root = pictured.root
            names = {**names, **{name: t for name, t in pictured.names.items() if name not in names or t is root}}
        self.words, self.grads, self.leaves = [], [], []
        self.differentiated = False
        self.missed: list[str] = []  # of the words: which inputs have no part in the graph
        self._value_name = "data"
        self.tape: Any = None
        self._slow_tape: Any = None
        self.network = self.figured = None
        self._whole: Trace | None = None
        with no_collection():
            things = self._tensors(root, names, pictured) if is_tensor(root) else self._values(root, names)
        self._objects = [_weak(thing) for thing in things]
        if self._whole is None:
            self._labels = {name: _weak(thing) for name, thing in zip(self._graph.names, things, strict=True) if name}
        else:
            self._labels = {
                n["label"]: ref for n, ref in zip(self.whole["nodes"], self._objects, strict=True) if n["named"]
            }
        self._graph_done()
        self.start = {leaf: number(self.whole["nodes"][leaf]["value"]) for leaf in self.leaves}
        self.at = dict(self.start)
        self._seen = self._stand()

    def _graph_done(self) -> None:
        """Keep nothing of the learner's alive."""
        if self.network:
            self._graph.objects = []

    def _tensors(self, root: Any, names: Mapping[str, object], pictured: Any = None) -> list:
        from minigrad.tracing.tensor_trace import TensorRecording

        recording = TensorRecording(root, names, self._second, TRACED)
        self._whole = recording.trace(cell_name=_cell_name, later=len(recording.graph.items) > self._limit)
        things = [item.live for item in recording.graph.items]
        if pictured:
            self._say_what_became(pictured.became, recording)
        else:
            self.figured = self._figure(recording, self._whole)
        unused = _of_this_program(self.whole.get("unused", []), self.whole, things, names)
        self.words += [*self.whole.get("notices", ()), *self._missed(unused, self.whole)]
        if recording.same_again and recording.ran and not pictured:
            result = zip(self.whole["nodes"], things, recording.ran.grads, strict=True)
            self.differentiated = any(t is not None and getattr(t, "_grad", None) is not None for t in things)
            inputs = [(n["label"], t, g) for n, t, g in result if n["kind"] == "leaf" and g is not None]
            self._compare_grads([(name, t._grad.array, g) for name, t, g in inputs if t._grad is not None])
        if not pictured and len(things) <= TABLES and (tape := recording.sweeper()) and tape.leaves:
            if not sweeps.too_slow(len(tape.leaves), tape.seconds):
                self.tape, self.leaves = tape, tape.leaves
        if self.figured:
            recording.graph.forget()
        return things

    @staticmethod
    def _figure(recording: Any, whole: Trace) -> Figured | None:
        """Its figure. One that cannot be laid out is an error of ours, which fails the tests, and no reason to show a learner nothing."""
        try:
            return find(recording, whole)
        except Exception as error:
            kind = type(error).__name__
            warnings.warn(f"{UNFIGURED} ({kind}: {error}), so it is shown as cards. Please report it.", stacklevel=2)
            return None

    def _say_what_became(self, became: Mapping[Any, Any], recording: Any) -> None:
        """Of a compiled step: on each node, what its operation is in the program; and in its sentence."""
        nodes = self.whole["nodes"]
        for node, item in zip(nodes, recording.graph.items, strict=True):
            if node["kind"] == "operation" and item.node in became:
                node["became"] = became[item.node]
        for step in self.whole["steps"]:
            if step["kind"] == "compute" and (result := nodes[step["node"]].get("became")) and result["forward"]:
                step["say"] += f" In the program: {', '.join(result['forward'])}."
        sentence = (
            "The bottom line of a card says what became of it in the program: on the left of the operation, on the right of its backward "
            "rule. The graph is that of a recorded call"
        )
        sentence += "; its numbers are computed again, from the tensors as they are now." if recording.ran else (
            ". Its numbers cannot be computed again, because its constants were not noted: run %load_ext minigrad before the step is "
            "recorded.")  # fmt: skip
        self.whole["notices"][:1] = [sentence]  # in place of the notice that the graph was used up

    def _values(self, root: Any, names: Mapping[str, object]) -> list:
        outdated = False
        if isinstance(root, Value) and len(order := backward_order(root)) > READ:
            return self._trace(self._newest(root, order, names), names).objects
        graph = record(root, names)  # one for the picture and the tape: parents in a set are ordered once
        things = graph.objects
        if not isinstance(root, Value):
            self.grads = [*graph.grads]
            self.differentiated = bool(self.grads and self.grads[-1])
            self._say_how_read(graph)
        elif root.grad == 1.0 and root._op and len(things) <= TRACED:  # backward() was called from it
            self.differentiated = True
            leaves = zip(graph.kinds, graph.names, things, graph.gradients(), strict=True)
            self._compare_grads(
                [(name, thing.grad, g) for kind, name, thing, g in leaves if kind == "leaf" and name and g is not None]
            )
        if isinstance(root, Value) and len(things) <= TRACED and (outdated := recompute(things)):
            graph = record(root, names)
        self._find_network(graph, groups_of(graph, names), names)
        if self.network is None or len(things) <= AT_ONCE:
            traced = self._trace(graph, names)
            if not isinstance(root, Value):
                hit = audit(graph, [n["label"] for n in self.whole["nodes"]] if traced is graph else None)
                self.words += [] if hit.right else [hit.say]
            graph = traced
        if outdated:
            result = graph.names[graph.root] or "the result"
            self.words.append(OUTDATED.format(result))
        if self._whole and len(things) <= 4 * TABLES:
            # An operation that the tape does not know: no sliders, everything else works
            with contextlib.suppress(ValueError):
                self.tape = Tape(graph)
                self.leaves = [
                    n["id"] for n in self._whole["nodes"] if n["kind"] == "leaf" and math.isfinite(number(n["value"]))
                ]
        return graph.objects

    def _missed(self, unused: list[str], whole: Trace) -> list[str]:
        self.missed = unused_words(whole, unused)
        return self.missed

    def _say_how_read(self, graph: ScalarRecording) -> None:
        """Of a class of the learner's: where its parts were found, and what its numbers here rest on."""
        self._value_name = graph.value_name
        self.words += [graph.said] * bool(graph.said)
        texts = [graph.names[i] or graph.ops[i] or "a result" for i in range(len(graph.ops))]
        if graph.outdated:
            name = graph.names[graph.root] or "the result"
            self.words.append(f"{OUTDATED.format(name)} Your objects keep the old numbers and gradients.")
        if graph.lost:
            lost = listed([*dict.fromkeys(texts[i] for i in graph.lost)], 4, "results")
            self.words.append(f"{lost} could not be computed again on the inputs as they are now: the operation is not defined there, or "
                              "the class does not remember it. The numbers shown there are the old ones, and no gradient passes through. "
                              "Run the computation again.")  # fmt: skip
        if graph.unchecked:
            unchecked = listed([*dict.fromkeys(texts[i] for i in graph.unchecked)], 4, "results")
            self.words.append(f"The slopes of {unchecked} are those that the name of the operation calls for. They could not be checked: "
                              "the class has no rule for them, and it could not be run again.")  # fmt: skip

    def _compare_grads(self, leaves: list[tuple[str, Any, Any]]) -> None:
        """Report the inputs whose .grad is not what this backward pass alone gives. leaves: (name, its .grad, the gradient here)."""
        odd = [(f"{name}.grad", held, grad) for name, held, grad in leaves if numpy.isfinite(grad).all()
               and not numpy.allclose(held, grad, rtol=1e-3, atol=1e-5 * float(numpy.abs(grad).max(initial=0)))]  # fmt: skip
        if odd:
            name, held, grad = odd[0]
            one = len(odd) == 1
            they, hold = ("it", "holds") if one else ("they", "hold")
            if one and numpy.ndim(grad) == numpy.ndim(held) == 0:
                fact = f"{name} is {number_text(float(held))}, but this backward pass alone gives {number_text(float(grad))}."
            else:
                names, are = listed([name for name, *_ in odd], 3, "gradients"), "is" if one else "are"
                fact = f"{names} {are} not what this backward pass alone would give."
            self.words.append(f"{fact} Gradients add up until you clear them, so {they} probably still {hold} what an earlier pass "
                              "left.")  # fmt: skip

    def _trace(self, graph: ScalarRecording, names: Mapping[str, object]) -> ScalarRecording:
        """Trace a recording, or the newest part of a big one. Returns the recording that was traced."""
        root, count = graph.objects[graph.root], len(graph.objects)
        if count > 2 * TRACED:
            if isinstance(root, Value):
                called = {name: thing for name, thing in zip(graph.names, graph.objects, strict=True) if name}
                graph = self._newest(root, backward_order(root), called)
            else:
                self.words.append(NEWEST.format(count, TRACED))
                graph = newest(graph, TRACED)
                self.grads, graph.ids = [self.grads[i] for i in graph.ids], ()
            names = {name: thing for name, thing in zip(graph.names, graph.objects, strict=True) if name}
        # Values that are not finite are reported with their step (live.js)
        self._whole = full = trace(graph, names, cell_name=_cell_name)
        if isinstance(root, Value) and count == len(graph.objects):
            unused = _of_this_program(unused_inputs(graph.objects, names), full, graph.objects, names)
            self.words += self._missed(unused, full)
        return graph

    def _newest(self, root: Value, order: list[Value], names: Mapping[str, object]) -> ScalarRecording:
        """The newest operations of a big graph."""
        count = len({id(root)}.union(id(parent) for node in order for parent in node._prev))
        copies = copy_newest(order, TRACED)
        self.words.append(NEWEST.format(count, TRACED))
        return record(
            copies[id(root)], {n: copies[id(x)] for n, x in names.items() if id(x) in copies and n[:1] != "_"}
        )

    @property
    def traced(self) -> bool:
        return self._whole is not None

    @property
    def whole(self) -> Trace:
        """The trace of all nodes, also of folded ones. For a big network it is made on first use."""
        if self._whole is None:
            root = self.root
            if root is None:
                raise ValueError("The result is gone, so its operations cannot be shown any more. Run the cell again.")
            names = {name: value for name, ref in self._labels.items() if (value := ref()) is not None}
            self._objects = [_weak(thing) for thing in self._trace(record(root, names), names).objects]
        assert self._whole is not None
        return self._whole

    def _find_network(self, graph: ScalarRecording, groups: Any, names: Mapping[str, object]) -> None:
        self.network = result = network.find(graph, groups, names)
        if result is None:
            return
        data = numpy.array([graph.data, [math.nan if g is None else g for g in graph.gradients()]])
        self._network_row = result.numbers(data[0], data[1])
        plan = result.plan
        ends = {str(k): int(result.outs[0, column["cells"][-1]]) for k, column in enumerate(plan["columns"]) if k}
        ends |= {"error": int(result.errors[0]), "rest": result.rest, "loss": result.root}
        self.sources = {name: source_of(graph.objects[at], _cell_name) for name, at in ends.items() if at >= 0}
        line = source_of(graph.objects[graph.root], _cell_name) or self.sources.get("error")
        self.title = headline(line) if line else plan.get("loss", plan["name"])
        self._graph, self._grads = graph, data[1]
        self._lines = [_weak(thing) for thing in graph.objects]

    def sweep_parameter(self, parameter: int, points: list[float] | int) -> tuple[list[float], numpy.ndarray]:
        """The numbers of the network picture at these points of one of its parameters, or at so many around its present value. The tape of
        a big network is made when somebody asks for this."""
        result, graph = self.network, self._graph
        assert result is not None
        node = result.plan["parameters"][parameter]["node"]
        if self.tape is None and self._slow_tape is None:
            graph.objects = [ref() for ref in self._lines]
            try:
                self._slow_tape = Tape(graph)
            finally:
                graph.objects = []
        if isinstance(points, int):
            at = self.at.get(node, graph.data[node])
            points = sweeps.slider_points(at, at, points)
        values, grads, *_ = (self.tape or self._slow_tape).sweep(node, points)
        return points, result.numbers(values, grads)

    def look(self, cell: int, sample: int) -> tuple[Trace, list[int]]:
        """One neuron of the network in one sample, as a trace of its own operations; and what its nodes are called in the whole."""
        result, graph, grads = self.network, self._graph, self._grads
        assert result is not None
        if self.moved:
            values, all_grads, slopes = (rows[0] for rows in self.sweep(self.leaves[0], [self.at[self.leaves[0]]]))
            graph, grads = copy.copy(graph), all_grads
            graph.data, left = values.tolist(), iter(slopes.tolist())
            graph.locals = [tuple(next(left) for _ in of) for of in graph.parents]
        out = int(result.outs[sample, cell])
        arrived = float(grads[out])
        one = part(graph, result.members[sample][cell], out, 0.0 if math.isnan(arrived) else arrived)
        one.objects = [self._lines[i]() for i in one.ids]
        names = {p["node"]: p["short"] for p in result.plan["parameters"] if p["cell"] == cell}
        names |= {int(result.outs[sample, w["source"]]): result.plan["cells"][w["source"]]["short"] for w in result.plan["wires"]
                  if w["target"] == cell}  # fmt: skip
        names[out] = "out"
        one.names = [names.get(i, "") for i in one.ids]
        for k, i in enumerate(one.ids):
            if i in names and one.kinds[k] == "constant":
                one.kinds[k] = "leaf"
        return trace_value(one, None, result.plan["cells"][cell]["name"], _cell_name), [*one.ids]

    def network_row(self) -> numpy.ndarray:
        """The numbers of the network picture where the inputs stand."""
        assert self.network is not None
        if not self.moved:
            return self._network_row
        values, grads, *_ = self.sweep(self.leaves[0], [self.at[self.leaves[0]]])
        return self.network.numbers(values[0], grads[0])

    # Where the inputs stand

    def _stand(self) -> list[float | None]:
        """Where the learner's own inputs stand; None for one that is gone."""
        things = [self._objects[leaf]() for leaf in self.leaves]
        return [float(t.array.ravel()[0]) if is_tensor(t) else getattr(t, self._value_name, None) for t in things]

    @property
    def changed(self) -> bool:
        """Has the learner changed an input since it was read?"""
        return self._seen != self._stand()

    @property
    def moved(self) -> bool:
        """Does any input stand elsewhere than where the graph was recorded?"""
        return self.at != self.start

    def put(self, at: Mapping[int, float]) -> None:
        """Sliders came to rest here. The view computes with these values; the learner's objects stay as they are."""
        for leaf, value in at.items():
            self.at[leaf] = value
            self.tape.set(leaf, value)

    def sweep(self, leaf: int, points: list[float]) -> tuple[numpy.ndarray, ...]:
        """Values, gradients, locals (and arrays) at each of these points of one input."""
        return self.tape.sweep(leaf, points)

    def now(self) -> Trace:
        """The whole trace with the numbers of where the inputs stand."""
        if not self.moved:
            return self.whole
        leaf = self.leaves[0]
        return at_point(self.whole, *(rows[0] for rows in self.sweep(leaf, [self.at[leaf]])))
