"""`graph(y)`: the live view of a recorded computation.

What lives here: the widget's state and the kernel's half of its life: names, layout, sweeps for the sliders, writing a moved slider
back into the learner's own Value. What does not: derivatives (the engine), drawing (front/ in the browser, static.py without one).
The browser needs the kernel for nothing that it has already been sent, so the view replays with the kernel busy, dead or absent.
"""
from __future__ import annotations

import contextlib
import copy
import inspect
import math
import operator
import re
import sys
import weakref
from array import array
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import anywidget
import numpy
import traitlets

from minigrad.scalar import Value, backward_order
from minigrad.tape import Tape
from minigrad.trace import Trace, is_tensor, record, to_text, trace

from . import static
from .layout import Picture, layout

LIMIT = 400  # more cards than this are not drawn at once: unreadable, and slow to lay out
NEAR = 60  # of a graph beyond the limit that has no scopes to fold, this many nodes nearest the result are drawn
TRACED = 3000  # of a graph with more operations than this, only the newest are traced
FIRST_SWEEPS = 6  # sliders shown at once; others are computed when someone looks for them
SWEEP_SECONDS = 0.3  # what computing the tables of a Tensor graph's first sliders may take
SWEEP_BYTES = 3_000_000  # what all tables together may weigh; fewer points for bigger graphs


@cache
def front() -> tuple[str, str]:
    """The browser's module and style sheet. Two files are one module: the import goes, the second file's text comes."""
    pure = "".join((static.FRONT / name).read_text(encoding="utf-8") for name in ("state.js", "tensor.js"))
    view = (static.FRONT / "graph.js").read_text(encoding="utf-8")
    code = re.sub(r'^import \{[^}]*\} from "\./\w+\.js";\n', "", re.sub(r"^export ", "", pure, flags=re.M) + view, flags=re.M)
    return _lean(code), _lean((static.FRONT / "graph.css").read_text(encoding="utf-8"))


def _lean(text: str) -> str:
    """Without comments and indentation: the module travels with every view."""
    text = re.sub(r"^\s*/\*(?:(?!\*/).)*\*/[ \t]*\n", "", text, flags=re.S | re.M)
    return re.sub(r"^[ \t]+|^\s*//.*\n|^\n", "", text, flags=re.M)


# --- names ----------------------------------------------------------------------------------------------------------------------


def _ipython():
    """The running IPython, or None; never imports it."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module else None


def _cell_name(filename: str) -> str | None:
    """"In [4]" for the file name under which IPython compiled a cell, else None."""
    shell = _ipython()
    number = getattr(shell.compile, "_filename_map", {}).get(filename) if shell else None
    return f"In [{number}]" if number is not None else None


# A browser never forgets a module, and anywidget makes a new one for every widget. So the module itself is this small, and loads the
# real one, which travels as an ordinary trait, once for each page.
LOADER = """
const loaded = (globalThis.minigradViews ??= new Map());
async function render(context) {
  const code = context.model.get("code"), key = context.model.get("code_key");
  if (!loaded.has(key)) {
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    loaded.set(key, import(address).finally(() => URL.revokeObjectURL(address)));
  }
  return (await loaded.get(key)).default.render(context);
}
export default { render };
"""


# --- cells ----------------------------------------------------------------------------------------------------------------------

_shown: dict[str, tuple[str, list[GraphView]]] = {}  # cell -> the run that last showed views in it, and these views


def _cell() -> tuple[str, str] | None:
    """The cell that is running and the run, as the front end names them; None outside a notebook."""
    kernel = getattr(_ipython(), "kernel", None)
    parent = kernel.get_parent() if kernel is not None and hasattr(kernel, "get_parent") else {}
    cell, run = (parent.get("metadata") or {}).get("cellId"), (parent.get("header") or {}).get("msg_id")
    return (cell, run) if cell and run else None


# --- the learner's graph --------------------------------------------------------------------------------------------------------


def not_a_graph(thing: object) -> str:
    """Why `thing` has no graph to show, and what to do instead; "" if it has one."""
    if is_tensor(thing):
        return ""
    if isinstance(thing, Value) or (not isinstance(thing, type) and all(hasattr(thing, name) for name in ("data", "_prev", "_op"))):
        return ""
    kind = type(thing).__name__
    if isinstance(thing, (int, float)):
        return (f"There is no graph behind a plain number ({thing!r}). "
                f"Compute it from a Value, for example x = Value({thing!r}); y = x * x, and show y.")
    if isinstance(thing, (list, tuple, set, dict)):
        items = thing.values() if isinstance(thing, dict) else thing
        if any(isinstance(item, Value) for item in items):
            return f"A {kind} of Values has no single graph. Show one of them, or their sum: sum(values)."
        return f"A {kind} has no graph. Show a Value or a Tensor: the result of a computation."
    if isinstance(thing, type) or callable(thing):
        what = "class" if isinstance(thing, type) else "function"
        return f"{getattr(thing, '__name__', kind)} is a {what}, not a result. Call it with a Value and show what it returns."
    return f"A {kind} has no graph to show. Show a Value or a Tensor: the result of a computation."


_BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow}


def refresh(nodes: list) -> bool:
    """Compute the recorded operations again, by the engine's own operations, from their parents' present numbers. True if any changed.

    Only Values: the numbers inside a learner's own class are the learner's.
    """
    changed = False
    for node in nodes:
        if not isinstance(node, Value) or not node._op:
            continue
        op = node._op
        first, *others = node._prev
        if op in _BINARY and others:
            fresh = _BINARY[op](first, others[0])
        elif op.startswith("**"):
            fresh = first ** float(op[2:])
        elif op == "neg":
            fresh = -first
        else:
            fresh = getattr(first, op)(*others)
        changed = changed or (fresh.data != node.data and (fresh.data == fresh.data or node.data == node.data))
        node.data, node._da, node._db = fresh.data, fresh._da, fresh._db
    return changed


def _weak(thing) -> Callable[[], Any]:
    """A weak reference; a strong one to an object of a class whose __slots__ forbid weak ones."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: thing


def newest(order: list[Value], names: Mapping[str, object]) -> tuple[Value, dict[str, object]]:
    """A copy of the newest operations of a graph too big to be traced, and the names as they apply to the copy.

    What enters the copied part from outside becomes an input. `order`: the operations, newest first.
    """
    copies: dict[int, Value] = {}

    def copied(node: Value) -> Value:
        if id(node) not in copies:
            copies[id(node)] = twin = copy.copy(node)
            twin._op, twin._a, twin._da, twin._b, twin._db = "", None, None, None, None
        return copies[id(node)]

    for node in reversed(order[:TRACED]):
        parents = [copied(parent) for parent in node._prev]
        twin = copied(node)
        twin._op, twin._da, twin._db = node._op, node._da, node._db
        twin._a, twin._b = (*parents, None)[:2]  # type: ignore[assignment]
    return copies[id(order[0])], {name: copies[id(thing)] for name, thing in names.items() if id(thing) in copies and name[:1] != "_"}


def near_root(whole: Trace, limit: int, count: int = 0) -> tuple[Trace, str]:
    """The part of a trace that is drawn: all of it, or, beyond `limit` nodes, the newest, which are nearest the result.

    Every consumer of a node is newer than the node. So the newest nodes have all of their gradient among themselves, and the part is
    exact; only the values that enter it from outside are shown as they stand. Returns the part, and a sentence that says so.
    `count`: how many nodes the graph has, if `whole` is already less than that.
    """
    here = len(whole["nodes"])
    count = max(count, here)
    if count <= limit:
        return whole, ""
    inner = set(range(here - min(NEAR, limit), here))
    edges = [e for e in whole["edges"] if e["target"] in inner]
    kept = sorted(inner | {e["source"] for e in edges})
    new = {old: i for i, old in enumerate(kept)}
    new_edge = {e["id"]: i for i, e in enumerate(edges)}
    nodes: list[dict[str, Any]] = []
    for old in kept:
        node: dict[str, Any] = {**whole["nodes"][old], "id": new[old]}
        if old not in inner and node["kind"] == "operation":
            node = {**node, "kind": "leaf", "expr": "… computed earlier", "folded": True}
        nodes.append(node)
    steps = []
    for step in whole["steps"]:
        if step["kind"] == "send":
            if step["edge"] in new_edge:
                steps.append({**step, "node": new[step["node"]], "edge": new_edge[step["edge"]]})
        elif step["node"] in new:
            steps.append({**step, "node": new[step["node"]]})
    for node in nodes:  # what a tensor's node says about others
        if "view" in node and node["view"]["base"] not in new:
            node.pop("view")
        elif "view" in node:
            node["view"] = {**node["view"], "base": new[node["view"]["base"]]}
        if "made_by" in node:
            node["made_by"] = [new_edge[e] for e in node["made_by"] if e in new_edge]
    kept_edges: list[Any] = [{**e, "id": i, "source": new[e["source"]], "target": new[e["target"]]} for i, e in enumerate(edges)]
    part: dict[str, Any] = {**whole, "root": new[whole["root"]], "nodes": nodes, "steps": steps, "edges": kept_edges}
    notice = (f"This graph has {count:,} nodes, too many to draw at once (the limit is {limit}). Shown are the {len(inner)} nearest the "
              "result and what enters them; their numbers are exact. To see another part, show an intermediate result.")
    for edge in kept_edges:
        if "makes" in edge:
            edge["makes"] = [new[n] for n in edge["makes"] if n in new]
    _slim(part)
    return part, notice  # type: ignore[return-value]


_ARRAYS = (("nodes", ("array", "grad_array")), ("steps", ("sends", "raw", "after")))


def _slim(part: dict) -> None:
    """Keep only the arrays that the part still shows."""
    if "arrays" not in part:
        return
    used = sorted({x[key] for group, keys in _ARRAYS for x in part[group] for key in keys if x.get(key) is not None})
    at = {old: i for i, old in enumerate(used)}
    part["arrays"] = [part["arrays"][old] for old in used]
    for group, keys in _ARRAYS:
        part[group] = [{**x, **{key: at[x[key]] for key in keys if x.get(key) is not None}} for x in part[group]]


def slider_points(recorded: float, now: float, room: int = 121) -> list[float]:
    """The points of a slider: a round range around the recorded value in round steps, and always the recorded and the present value.

    >>> points = slider_points(1.0, 1.0)
    >>> points[0], points[1], points[-1], 1.0 in points
    (-3.0, -2.95, 3.0, True)
    """
    want = 2.5 * abs(recorded) if 1e-100 < abs(recorded) < 1e100 else 1.0
    if abs(recorded) >= 1e100:
        return sorted({abs(recorded) * k / 20 for k in range(-20, 21)} | {recorded, now})
    power = math.floor(math.log10(want))
    mantissa, steps = next((m, k) for m, k in ((1, 50), (2, 40), (3, 60), (5, 50), (10, 50)) if want <= m * 10.0**power * (1 + 1e-12))
    while 2 * steps + 1 > max(room, 11) and steps % 2 == 0:
        steps //= 2
    scale = 10.0 ** abs(power)
    points = {mantissa * k * scale / steps if power >= 0 else mantissa * k / (steps * scale) for k in range(-steps, steps + 1)}
    return sorted(points | {recorded, now})


def _same(sweep: dict, inputs: Mapping[str, float]) -> bool:
    """Does this table still hold: do all other inputs stand where it was computed, and is this one on one of its points?"""
    others = all(sweep["base"][key] == value for key, value in inputs.items() if int(key) != sweep["node"])
    return others and inputs[str(sweep["node"])] in array("d", sweep["xs"])


KERNELS_OWN = {"code", "code_key", "trace", "leaves", "recorded", "sweeps", "notice", "picture", "version"}  # no page may change them


# --- the widget -----------------------------------------------------------------------------------------------------------------


class GraphView(anywidget.AnyWidget):
    """The live view of one traced graph. Make one with `graph(y)`.

    What matters from Python: `step` (how many events have happened; set it to move the view), `total` (how many there are), `inputs`
    (node id -> where its slider stands), `svg(step)`, `save(path)`. Holds weak references to the learner's Values, never strong ones.
    """

    _esm, _css = LOADER, front()[1]
    code = traitlets.Unicode(front()[0]).tag(sync=True)
    code_key = traitlets.Unicode(blake2b(front()[0].encode(), digest_size=8).hexdigest()).tag(sync=True)
    trace = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    leaves = traitlets.List(traitlets.Int()).tag(sync=True)  # ids of the nodes that can have a slider
    recorded = traitlets.Dict().tag(sync=True)  # id -> value, as the trace was made
    inputs = traitlets.Dict().tag(sync=True)  # id -> value, where the sliders stand now
    sweeps = traitlets.List(traitlets.Dict()).tag(sync=True)  # [{node, base, xs, table}], see `_sweep`
    notice = traitlets.Unicode("").tag(sync=True)  # a sentence about the whole view
    picture = traitlets.Dict().tag(sync=True)  # positions
    version = traitlets.Int(0).tag(sync=True)  # grows when all of the above belong together again: the browser then draws anew

    def __init__(
        self, root, names: Mapping[str, object] | None = None, step: int | str | None = None, limit: int = LIMIT, second: bool = False
    ):
        explain = not_a_graph(root)
        if explain:
            raise TypeError(explain)
        self._limit, self._second = limit, second
        self._root = _weak(root)
        self._cells: set[str] = set()
        self._labels: dict[str, Callable[[], Any]] = {}
        super().__init__()
        self._read(root, names)
        forward = sum(event["phase"] == "forward" for event in self.trace["steps"])
        self.step = {None: forward, "start": 0, "end": self.total}.get(step, step)  # type: ignore[arg-type, assignment]
        self.observe(self._on_inputs, names=["inputs"])
        self.on_msg(self._on_message)

    @property
    def total(self) -> int:
        """How many events the computation has, forward and backward."""
        return len(self.trace["steps"])

    # The learner's graph

    def _read(self, root, names: Mapping[str, object] | None = None) -> None:
        """Trace `root` as it stands now and lay it out. Names are looked up now; nothing of the learner's is kept alive."""
        held = {name: value for name, ref in self._labels.items() if (value := ref()) is not None}
        shell = _ipython()
        names = {**held, **(shell.user_ns if shell else {}), **(names or {})}
        if is_tensor(root):
            return self._read_tensor(root, names)
        count, outdated = 0, False
        if isinstance(root, Value) and len(order := backward_order(root)) > TRACED:
            count = len({id(root)}.union(id(parent) for node in order for parent in node._prev))
            root, names = newest(order, names)
        objects = record(root).objects
        if not count:
            outdated = refresh(objects)
        whole = trace(root, names, cell_name=_cell_name)
        shown, notice = near_root(whole, self._limit, count)
        if outdated:
            result = whole["nodes"][whole["root"]]["label"]
            notice = f"An input was changed after {result} was computed, so the recorded operations were computed again. {notice}".strip()
        self._objects = [_weak(thing) for thing in objects]
        self._labels = {n["label"]: ref for n, ref in zip(whole["nodes"], self._objects, strict=True) if n["named"]}
        self._tape: Any = None
        leaves = []
        if shown is whole and not count:
            with contextlib.suppress(ValueError):  # an operation that the tape does not know: no sliders, everything else works
                self._tape = Tape(root)
                leaves = [n["id"] for n in shown["nodes"] if n["kind"] == "leaf" and math.isfinite(static.number(n["value"]))]
        at = {str(leaf): static.number(shown["nodes"][leaf]["value"]) for leaf in leaves}
        self._ids, self._seen = leaves, self._stand(leaves)
        with self.hold_trait_notifications():
            self.trace, self.leaves, self.recorded, self.inputs, self.notice = dict(shown), leaves, at, at, notice
        self.sweeps = [self._sweep(leaf) for leaf in leaves[:FIRST_SWEEPS]]
        self.picture = dict(layout(shown))
        self.version += 1

    def _read_tensor(self, root, names: Mapping[str, object]) -> None:
        """The same for a Tensor. Its sliders try other numbers on the recorded operations; the learner's tensors stay as they are."""
        from minigrad.trace_tensor import Recording

        recording = Recording(root, names, self._second)
        whole = recording.trace(cell_name=_cell_name)
        shown, notice = near_root(whole, self._limit, recording.graph.cut)
        self._objects = [_weak(item.live) for item in recording.graph.items]
        self._labels = {n["label"]: ref for n, ref in zip(whole["nodes"], self._objects, strict=True) if n["named"]}
        self._tape = recording.sweeper() if shown is whole else None
        leaves = self._tape.leaves if self._tape else []
        if leaves and SWEEP_SECONDS / min(FIRST_SWEEPS, len(leaves)) < 11 * self._tape.seconds:  # too slow for even a coarse slider
            leaves, self._tape = [], None
        at = {str(leaf): static.number(shown["nodes"][leaf]["value"]) for leaf in leaves}
        self._ids, self._seen = leaves, self._stand(leaves)
        words = " ".join([*shown.get("notices", ()), notice]).strip()
        with self.hold_trait_notifications():
            self.trace, self.leaves, self.recorded, self.inputs, self.notice = dict(shown), leaves, at, at, words
        self.sweeps = [self._sweep(leaf) for leaf in leaves[:FIRST_SWEEPS]]
        self.picture = dict(layout(shown))
        self.version += 1

    def _stand(self, leaves: list[int]) -> list[float | None]:
        """Where the learner's own inputs stand; None for one that is gone."""
        things = [self._objects[leaf]() for leaf in leaves]
        return [float(t.array.ravel()[0]) if is_tensor(t) else getattr(t, "data", None) for t in things]

    def _sweep(self, leaf: int) -> dict:
        """Everything a slider can reach while the other inputs stand still: its points, and for each a row of values, gradients, locals."""
        nodes, edges = len(self.trace["nodes"]), len(self.trace["edges"])
        more = sum(5 + len(a["cells"]) for a in self.trace.get("arrays", ()))
        room = SWEEP_BYTES // (FIRST_SWEEPS * 8 * (2 * nodes + edges + more))
        if more:
            room = min(room, int(SWEEP_SECONDS / min(FIRST_SWEEPS, len(self.leaves)) / self._tape.seconds))
        points = slider_points(self.recorded[str(leaf)], self.inputs[str(leaf)], room)
        rows = numpy.concatenate(self._tape.sweep(leaf, points), axis=1)
        xs, table = (numpy.ascontiguousarray(x, "<f8").tobytes() for x in (points, rows))
        return {"node": leaf, "base": dict(self.inputs), "xs": xs, "table": table}

    # Messages from the browser

    def _on_inputs(self, change) -> None:
        """A slider came to rest: write it into the learner's Values, compute the recorded graph again, renew the other sliders' tables."""
        for leaf in self._ids:
            value = float(self.inputs[str(leaf)])
            thing = self._objects[leaf]()
            if thing is not None and not is_tensor(thing):
                thing.data = value
            self._tape.set(leaf, value)
        refresh([thing for ref in self._objects if (thing := ref()) is not None])
        self._seen = self._stand(self._ids)
        self.sweeps = [old if _same(old, self.inputs) else self._sweep(old["node"]) for old in self.sweeps]

    def set_state(self, sync_data: dict) -> None:
        """What a page may change: the step and where the sliders stand, to what they can be. The rest is the kernel's, and is dropped."""
        state = {key: value for key, value in sync_data.items() if key not in KERNELS_OWN}
        step, inputs = state.pop("step", None), state.pop("inputs", None)
        if type(step) is int:
            state["step"] = min(max(step, 0), self.total)
        if isinstance(inputs, dict) and inputs.keys() == self.inputs.keys():
            if all(type(x) in (int, float) and math.isfinite(x) for x in inputs.values()):
                state["inputs"] = inputs
        super().set_state(state)

    def _on_message(self, _widget, content: object, _buffers) -> None:
        """Rare requests: a slider that has no table yet; a folded group to open."""
        if isinstance(content, dict) and content.get("type") == "want" and content.get("node") in self.leaves:
            if all(old["node"] != content["node"] for old in self.sweeps):
                self.sweeps = [*self.sweeps[-FIRST_SWEEPS + 1 :], self._sweep(content["node"])]

    # Out

    def _again(self) -> None:
        """Before showing: if the learner has changed an input since, or the view had been put away, make it true and live."""
        root = self._root()
        away = self.comm is None
        if root is not None and (away or self._seen != self._stand(self._ids)):
            self._read(root)
        if away:
            self.code = front()[0]
            self.layout.open()
            self.open()

    def _register(self) -> None:
        """Note which cell shows this view. When the cell runs again its old output is gone: views seen nowhere else are put away."""
        at = _cell()
        if at is None:
            return
        cell, run = at
        last, views = _shown.get(cell, ("", []))
        if last != run:
            _shown[cell] = (run, [self])
            self._cells.add(cell)
            for view in views:
                if view is not self:
                    view._cells.discard(cell)
                    if not view._cells:
                        view.close()
        elif self not in views:
            views.append(self)
            self._cells.add(cell)

    def close(self) -> None:
        """Take the view out of the browser and its tables out of memory. Showing it again brings it back."""
        self.code, self.sweeps = "", []  # the browser keeps what a closed model had last: then it should be little
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets hides it on a closed widget
        self.layout.close()

    def svg(self, step: int | None = None) -> str:
        """The picture after `step` events (by default all of them) as an SVG document."""
        return static.svg(cast(Trace, self.trace), cast(Picture, self.picture), step, repr(self))

    def save(self, path: str | Path, step: int | None = None) -> Path:
        """Write the view to a file: `.svg` (the picture after `step` events) or `.html` (a page that still steps and slides, alone)."""
        path = Path(path)
        if path.suffix == ".svg":
            path.write_text(self.svg(self.step if step is None else step), encoding="utf-8")
        elif path.suffix in (".html", ".htm"):
            state = {name: getattr(self, name) for name in ("trace", "picture", "leaves", "inputs", "recorded", "sweeps", "step", "notice")}
            state |= {"standalone": True} if step is None else {"standalone": True, "step": step}
            path.write_text(static.page(self.trace["title"], state, *front()), encoding="utf-8")
        else:
            raise ValueError(f"save writes .html or .svg files, and the name {path.name!r} is neither. Try view.save('graph.html').")
        return path

    def __repr__(self) -> str:
        return to_text(cast(Trace, self.trace))

    def _repr_mimebundle_(self, **kwargs):
        self._again()
        self._register()
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/plain": repr(self), "image/svg+xml": self.svg()}, metadata


def graph(
    root, *, step: int | str | None = None, names: Mapping[str, object] | None = None, limit: int = LIMIT, second: bool = False
) -> GraphView:
    """Show how `root` was computed: every number, every local derivative, step by step, with a slider for every input.

    root: a Value or a Tensor, the result whose gradient is taken (or an object of your own class with data, _prev and _op). step: where
    the view starts: a number of events, "start" or "end"; by default after the forward pass. names: variable names for the nodes; by
    default the notebook's, or the caller's. limit: how many nodes are drawn at once. second: of a Tensor, also the graph of its gradient
    (what create_graph=True records). Raises TypeError for anything else.
    """
    if names is None:
        caller = inspect.currentframe().f_back  # type: ignore[union-attr]
        names = {**caller.f_globals, **caller.f_locals} if caller else {}
    return GraphView(root, names, step, limit, second)
