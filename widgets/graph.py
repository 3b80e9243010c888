"""`graph(y)`: the live view of a recorded computation.

What lives here: the widget's state and the kernel's half of its life: names, layout, sweeps for the sliders, writing a moved slider
back into the learner's own Value. What does not: derivatives (the engine), drawing (front/ in the browser, static.py without one).
The browser needs the kernel for nothing that it has already been sent, so the view replays with the kernel busy, dead or absent.
"""
from __future__ import annotations

import contextlib
import inspect
import json
import math
import re
import weakref
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import anywidget
import numpy
import traitlets

from minigrad.scalar import Value, backward_order, copy_newest, recompute
from minigrad.tape import Tape
from minigrad.tracing.trace import Trace, is_tensor, record, to_text, trace, unused_inputs, unused_words

from . import cells, static
from .fold import Folded, Folds, at_point, notice
from .front_end import LOADER, built, key, packed
from .layout import Framed, Mark, Picture, layout

LIMIT = 120  # a graph with more nodes than this opens folded
MOST = 400  # more cards than this are never drawn at once: unreadable, and slow to lay out
TRACED = 12_000  # of a graph with more operations than this, only the newest are traced
KINDS = {"html": "text/html", "svg": "image/svg+xml", "png": "image/png", "gif": "image/gif", "apng": "image/apng", "dot": "text/plain"}
FIRST_SWEEPS = 6  # sliders shown at once; others are computed when someone looks for them
SWEEP_SECONDS = 0.3  # what computing the tables of a Tensor graph's first sliders may take
SWEEP_BYTES = 3_000_000  # what all tables together may weigh; fewer points for bigger graphs


# --- names ----------------------------------------------------------------------------------------------------------------------


def _cell_name(filename: str) -> str | None:
    """"In [4]" for the file name under which IPython compiled a cell, else None."""
    shell = cells.ipython()
    number = getattr(shell.compile, "_filename_map", {}).get(filename) if shell else None
    return f"In [{number}]" if number is not None else None


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


def _weak(thing) -> Callable[[], Any]:
    """A weak reference; a strong one to an object of a class whose __slots__ forbid weak ones."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: thing


def newest(order: list[Value], names: Mapping[str, object]) -> tuple[Value, dict[str, object]]:
    """A copy of the newest operations of a graph too big to be traced, and the names as they apply to the copy."""
    copies = copy_newest(order, TRACED)
    return copies[id(order[0])], {name: copies[id(thing)] for name, thing in names.items() if id(thing) in copies and name[:1] != "_"}


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


def _text(value, _widget) -> str:
    """A large trait travels as one string: ipywidgets looks into every dict and list that it is given, for binary buffers."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


KERNELS_OWN = {"code", "code_key", "trace", "leaves", "recorded", "sweeps", "notice", "picture", "quiz", "can_fold", "version"}  # no page


# --- the widget -----------------------------------------------------------------------------------------------------------------


class GraphView(anywidget.AnyWidget):
    """The live view of one traced graph. Make one with `graph(y)`.

    What matters from Python: `step` (how many events have happened; set it to move the view), `total` (how many there are), `inputs`
    (node id -> where its slider stands), `svg(step)`, `save(path)`. Holds weak references to the learner's Values, never strong ones.
    """

    _esm, _css = LOADER, built("graph.css")
    code = traitlets.Bytes(packed("graph.js")).tag(sync=True)
    code_key = traitlets.Unicode(key("graph.js")).tag(sync=True)
    trace = traitlets.Dict().tag(sync=True, to_json=_text)
    step = traitlets.Int(0).tag(sync=True)
    leaves = traitlets.List(traitlets.Int()).tag(sync=True)  # ids of the nodes that can have a slider
    recorded = traitlets.Dict().tag(sync=True)  # id -> value, as the trace was made
    inputs = traitlets.Dict().tag(sync=True)  # id -> value, where the sliders stand now
    sweeps = traitlets.List(traitlets.Dict()).tag(sync=True)  # [{node, base, xs, table}], see `_sweep`
    notice = traitlets.Unicode("").tag(sync=True)  # a sentence about the whole view
    picture = traitlets.Dict().tag(sync=True, to_json=_text)  # positions
    quiz = traitlets.Bool(False).tag(sync=True)  # the ledger is to be filled in
    can_fold = traitlets.Bool(False).tag(sync=True)
    version = traitlets.Int(0).tag(sync=True)  # grows when all of the above belong together again: the browser then draws anew

    def __init__(
        self, root, names: Mapping[str, object] | None = None, step: int | str | None = None, limit: int = LIMIT, second: bool = False,
        quiz: bool = False,
    ):  # fmt: skip
        explain = not_a_graph(root)
        if explain:
            raise TypeError(explain)
        self._limit, self._second, self._own = limit, second, False
        self._mark: Mark | None = None
        self._root = _weak(root)
        self.cells: set[str] = set()
        self._labels: dict[str, Callable[[], Any]] = {}
        super().__init__(quiz=quiz)
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
        shell = cells.ipython()
        names = {**held, **(shell.user_ns if shell else {}), **(names or {})}
        words: list[str] = []
        self.grads: list[float | None] = []  # of a learner's own class: what stands in each node's grad
        self._tape: Any = None
        leaves: list[int] = []
        if is_tensor(root):
            from minigrad.tracing.tensor_trace import Recording

            recording = Recording(root, names, self._second, TRACED)
            whole = recording.trace(cell_name=_cell_name, later=len(recording.graph.items) > self._limit)
            things = [item.live for item in recording.graph.items]
            words += [*whole.get("notices", ()), *unused_words(whole)]
            if len(things) <= MOST:
                self._tape = recording.sweeper()
                leaves = self._tape.leaves if self._tape else []
            if leaves and SWEEP_SECONDS / min(FIRST_SWEEPS, len(leaves)) < 11 * self._tape.seconds:  # too slow for even a coarse slider
                leaves, self._tape = [], None
        else:
            count, outdated = 0, False
            if isinstance(root, Value) and len(order := backward_order(root)) > TRACED:
                count = len({id(root)}.union(id(parent) for node in order for parent in node._prev))
                root, names = newest(order, names)
                words.append(f"This graph has {count:,} nodes; only the newest {TRACED:,} operations were traced, and what enters them.")
            graph = record(root, names)  # one for the picture and the tape: parents in a set are ordered once
            things = graph.objects
            if not isinstance(root, Value):
                self.grads = [float(g) if isinstance(g := getattr(thing, "grad", None), (int, float)) else None for thing in things]
            if not count and (outdated := recompute(things)):
                graph = record(root, names)
            whole = trace(graph, names, cell_name=_cell_name)
            words += whole.get("notices", ())
            if isinstance(root, Value) and not count:
                words += unused_words(whole, unused_inputs(things, names))
            if outdated:
                result = whole["nodes"][whole["root"]]["label"]
                words.append(f"An input was changed after {result} was computed, so the recorded operations were computed again.")
            if len(things) <= 4 * MOST:
                with contextlib.suppress(ValueError):  # an operation that the tape does not know: no sliders, everything else works
                    self._tape = Tape(graph)
                    leaves = [n["id"] for n in whole["nodes"] if n["kind"] == "leaf" and math.isfinite(static.number(n["value"]))]
        self._objects = [_weak(thing) for thing in things]
        self._labels = {n["label"]: ref for n, ref in zip(whole["nodes"], self._objects, strict=True) if n["named"]}
        self._whole, self._ids, self._words = whole, leaves, words
        self._start = {leaf: static.number(whole["nodes"][leaf]["value"]) for leaf in leaves}
        self._at = dict(self._start)
        self._seen = self._stand(leaves)
        self._folds = Folds(whole)
        self._open = self._folds.everything() if len(whole["nodes"]) <= self._limit else self._folds.opening()
        self._present()

    @property
    def whole(self) -> Trace:
        """The trace of every node, whatever is folded in the picture."""
        return self._whole

    def _present(self) -> None:
        """Send what is to be seen: the trace with its closed folds as single cards, laid out, and the tables of the sliders."""
        plain = self._open >= self._folds.everything() and len(self._whole["nodes"]) <= self._limit
        part = Folded(self._whole, self._folds, self._open)
        if self._at != self._start and not self._alone(part):
            part = Folded(self._now(), self._folds, self._open)  # no slider is left that would say where the inputs stand
        self._part = part
        shown = self._whole if plain else part.trace
        self._at_id = self._alone(part)
        frames = [] if plain else self._frames()
        with self._quiet(), self.hold_trait_notifications():
            self.trace, self.leaves = dict(shown), [*self._at_id]
            self.recorded = {str(k): self._start[i] for k, i in self._at_id.items()}
            self.inputs = {str(k): self._at[i] for k, i in self._at_id.items()}
            self.notice = " ".join([*self._words, "" if plain else notice(self._whole, shown)]).strip()
            self.can_fold = bool(self._folds.root.folds)
        self.sweeps = [self._sweep(leaf) for leaf in self.leaves[:FIRST_SWEEPS]]
        mark = self._mark and self._mark._replace(node=part.new[self._mark.node], at=self._mark.at if plain else 0)
        self.picture = dict(layout(shown, frames, mark=mark))
        self.version += 1

    def _alone(self, part: Folded) -> dict[int, int]:
        """The inputs that have a card, and so a slider, of their own: shown leaf -> leaf of the whole trace."""
        return {part.new[i]: i for i in self._ids if part.trace["nodes"][part.new[i]]["kind"] == "leaf"}

    def _frames(self) -> list[Framed]:
        """The open folds, outer ones first, by the nodes that are shown of them."""
        folds = self._folds.frames(self._open)
        place = {fold.key: k for k, fold in enumerate(folds)}
        return [Framed(f.key, f.name, sorted({self._part.new[m] for m in f.members}), place.get(f.parent, -1)) for f in folds]

    @contextlib.contextmanager
    def _quiet(self):
        """Inside, inputs are set by the view itself: nobody has moved a slider."""
        self._own = True
        try:
            yield
        finally:
            self._own = False

    def fold(self, *what: str | int) -> None:
        """Open or close folds: `fold("all")` closes all that can be, `fold("none")` opens as many as can be drawn, a number toggles one."""
        keys = self._folds.everything()
        open_ = set(self._open)
        for one in what:
            if one == "all":
                open_ = self._folds.opening(8)
            elif one == "none":
                open_ = keys if self._folds.count(keys) <= MOST else self._folds.opening(MOST)
            elif one in keys:
                open_ = open_ - {one, *self._inner(cast(int, one))} if one in open_ else open_ | {cast(int, one)}
        if (count := self._folds.count(open_)) > MOST:
            self.notice = f"That would be {count:,} cards, and at most {MOST} are drawn at once. Close another fold first."
            return
        now, self._open = self.step / max(1, self.total), open_
        forward = self.step == sum(event["phase"] == "forward" for event in self.trace["steps"])
        self._present()
        events = self.trace["steps"]
        self.step = sum(event["phase"] == "forward" for event in events) if forward else round(now * len(events))

    def mark(self, node: int, rows: list[tuple[str, str]], at: int) -> None:
        """Write lines, each a caption and a number, at the foot of a node's card, to be seen from event `at` on."""
        self._mark = Mark(node, rows, at)
        self._present()

    def _inner(self, key: int) -> set[int]:
        return {f.key for f in self._folds.folds if key in self._folds.outside(f)}

    def show(self, node: int) -> None:
        """Open what is folded around a node of the whole graph."""
        keys = self._folds.path(node)
        if any(key not in self._open for key in keys):
            self._open |= set(keys)
            self._present()

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
        rows = self._part.columns(*self._tape.sweep(self._at_id[leaf], points))
        xs, table = (numpy.ascontiguousarray(x, "<f8").tobytes() for x in (points, rows))
        return {"node": leaf, "base": dict(self.inputs), "xs": xs, "table": table}

    def _now(self) -> Trace:
        """The whole trace with the numbers of where the sliders stand."""
        if self._at == self._start:
            return self._whole
        leaf = self._ids[0]
        return at_point(self._whole, *(rows[0] for rows in self._tape.sweep(leaf, [self._at[leaf]])))

    def _shown_now(self) -> Trace:
        """The trace that is shown, with the numbers that are shown."""
        if self._at == self._start:
            return cast(Trace, self.trace)
        whole = self._now()
        return whole if len(self.trace["nodes"]) == len(whole["nodes"]) else Folded(whole, self._folds, self._open).trace

    # Messages from the browser

    def _on_inputs(self, change) -> None:
        """A slider came to rest: write it into the learner's own inputs, compute the recorded graph again, renew the other tables."""
        if self._own or not self._tape:
            return
        for shown, leaf in self._at_id.items():
            self._at[leaf] = value = float(self.inputs[str(shown)])
            thing = self._objects[leaf]()
            if thing is not None and not is_tensor(thing):
                thing.data = value
            self._tape.set(leaf, value)
        things = [thing for ref in self._objects if (thing := ref()) is not None]
        root = self._root()
        if is_tensor(root):
            from minigrad.tracing.recording import write_back

            names = {name: thing for name, ref in self._labels.items() if (thing := ref()) is not None}
            write_back(root, names, self._tape.program, self._at)
        else:
            recompute(things)
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

    def _on_message(self, _widget, content: Any, _buffers) -> None:
        """Rare requests: a slider that has no table yet; a fold to open or close; a file. What is none of these is no page of ours."""
        try:
            kind = content.get("type")
            hash(content.get("what")), hash(content.get("kind"))
        except (AttributeError, TypeError):
            return
        if kind == "want" and content.get("node") in self.leaves:
            if all(old["node"] != content["node"] for old in self.sweeps):
                self.sweeps = [*self.sweeps[-FIRST_SWEEPS + 1 :], self._sweep(content["node"])]
        elif kind == "fold":
            self.fold(content.get("what", ""))
        elif kind == "find":
            self.send({"type": "found", **self.find(str(content.get("text", "")))})
        elif kind == "open":
            if type(node := content.get("node")) is int and 0 <= node < len(self._whole["nodes"]):
                self.show(node)
        elif kind == "save" and (what := content.get("kind")) in KINDS:
            name = re.sub(r"\W+", "_", self.trace["nodes"][self.trace["root"]]["label"]).strip("_") or "graph"
            self.send({"type": "file", "name": f"{name}.{what}", "mime": KINDS[what]}, [self._file(what, dark=bool(content.get("dark")))])

    def find(self, text: str) -> dict[str, Any]:
        """Nodes whose name, operation, formula or module has `text` in it: `total` in the whole graph, `nodes` the cards they are on."""
        text = text.lower()
        hits = [n["id"] for n in self._whole["nodes"] if text and n["kind"] != "constant"
                and any(text in str(n.get(key, "")).lower() for key in ("label", "op", "function", "expr", "scope"))]  # fmt: skip
        first: dict[int, int] = {}
        for i in hits:
            first.setdefault(self._part.new[i], i)
        return {"text": text, "total": len(hits), "nodes": [*first], "hits": [*first.values()]}

    # Out

    def _again(self) -> None:
        """Before showing: if the learner has changed an input since, or the view had been put away, make it true and live."""
        root = self._root()
        away = self.comm is None
        if root is not None and (away or self._seen != self._stand(self._ids)):
            self._mark = None
            self._read(root)
        if away:
            self.code = packed("graph.js")
            self.layout.open()
            self.open()

    def close(self) -> None:
        """Take the view out of the browser and its tables out of memory. Showing it again brings it back."""
        self.code, self.sweeps = b"", []  # the browser keeps what a closed model had last: then it should be little
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets hides it on a closed widget
        self.layout.close()

    def svg(self, step: int | None = None) -> str:
        """The picture after `step` events (by default all of them) as an SVG document."""
        shown = self._shown_now()
        return static.svg(shown, cast(Picture, self.picture), step, to_text(shown))

    def save(self, path: str | Path, step: int | None = None, dark: bool = False) -> Path:
        """Write the view to a file; its ending says what: `.svg` or `.png` (the picture after `step` events, by default as it stands),
        `.gif` or `.apng` (the whole run), `.html` (a page that still steps and slides, alone), `.dot` (Graphviz source).
        """
        path = Path(path)
        kind = path.suffix.lower().lstrip(".").replace("htm", "html").replace("htmll", "html")
        if kind not in KINDS:
            raise ValueError(f"save writes {', '.join('.' + k for k in KINDS)} files, and the name {path.name!r} is none of them. "
                             "Try view.save('graph.html').")  # fmt: skip
        path.write_bytes(self._file(kind, step, dark))
        return path

    def _file(self, kind: str, step: int | None = None, dark: bool = False) -> bytes:
        """The content of a file of this kind."""
        from . import export

        at = self.step if step is None else step
        if kind == "svg":
            return self.svg(at).encode()
        if kind == "png":
            return export.png(self.svg(at), dark=dark)
        if kind == "dot":
            return export.dot(self._shown_now()).encode()
        if kind == "html":
            state = {name: getattr(self, name) for name in ("trace", "picture", "leaves", "inputs", "recorded", "sweeps", "step", "notice")}
            state |= {"standalone": True, "quiz": self.quiz} | ({} if step is None else {"step": step})
            return static.page(self.trace["title"], state).encode()
        return export.animation(self._shown_now(), cast(Picture, self.picture), kind, dark)

    def __repr__(self) -> str:
        return to_text(cast(Trace, self.trace))

    def _repr_mimebundle_(self, **kwargs):
        self._again()
        cells.shown(self)
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/plain": repr(self), "image/svg+xml": self.svg()}, metadata


def graph(
    root, *, step: int | str | None = None, names: Mapping[str, object] | None = None, limit: int = LIMIT, second: bool = False,
    quiz: bool = False,
) -> GraphView:  # fmt: skip
    """Show how `root` was computed: every number, every local derivative, step by step, with a slider for every input.

    root: a Value or a Tensor, the result whose gradient is taken (or an object of your own class with data, _prev and _op). step: where
    the view starts: a number of events, "start" or "end"; by default after the forward pass. names: variable names for the nodes; by
    default the notebook's, or the caller's. limit: a graph with more nodes than this opens folded. second: of a Tensor, also the graph
    of its gradient (what create_graph=True records). quiz: the ledger is empty and yours to fill in. Raises TypeError for anything else.
    """
    if names is None:
        caller = inspect.currentframe().f_back  # type: ignore[union-attr]
        names = {**caller.f_globals, **caller.f_locals} if caller else {}
    return GraphView(root, names, step, limit, second, quiz)
