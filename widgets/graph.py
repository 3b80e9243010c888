"""`graph(y)`: the live view of a recorded computation.

This is the widget: its traits, which folds are open, how messages are handled. Reading the learner's graph, sweeps, the validation of
messages and files are in view/; drawing is in front/ for the browser and in static.py without one.
The browser replays from data that it has received, so the view works while the kernel is busy, dead or absent.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import math
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy
import traitlets

from minigrad.tracing.trace import Trace, to_text

from . import cells, export, network_picture, page
from .contract import Sweep, sent
from .fold import CARDS as FOLDED
from .fold import Folded, Folds, notice
from .forms import picture as still
from .forms.plan import Figured
from .forms.stages import stops
from .front_end import Fronted
from .layout import Framed, Mark, Picture, layout
from .network import Network
from .network_steps import Numbers, network_text, network_trace, opened, parts
from .rows import narrower
from .view import files, messages, sweeps
from .view.subject import Subject, no_collection, not_a_graph

__all__ = ["GraphView", "graph", "not_a_graph"]

LIMIT = 48  # a graph with more nodes than this opens folded
CARDS = 12  # a graph with more operations, or nodes made by modules, opens as a network, or as layers
LAYERS = 24  # about so many cards a graph of modules opens with
SLIDE, MOVED = 41, 1_500_000  # points of a network's slider, and what all numbers at all of them may weigh
SLIDES = 300_000  # of a figure, where nobody has asked for a slider
ASKED = 3_000_000  # the same for a big network, whose slider is made on demand
WIDE = 1000  # pixels; for stages that are narrower than that a picture is laid out only when the page requests it
LEAST = 8  # cards that a still page shows
USED_UP = "This graph was used up by backward()"  # on the same numbers: see TensorRecording
MOST = 400  # more cards than this are never drawn at once: unreadable, and slow to lay out


def _bytes(value: Any, _widget: Any) -> bytes:
    """A large trait travels as one buffer: ipywidgets looks into every dict and list that it is given, and a text would be quoted twice."""
    text = json.loads(json.dumps(value), parse_float=_whole)  # JavaScript reads 14 and 14.0 as the same number
    return json.dumps(text, separators=(",", ":"), ensure_ascii=False).encode()


def _whole(text: str) -> float:
    return int(text[:-2]) if text.endswith(".0") and text != "-0.0" else float(text)


def _trace_bytes(value: Any, widget: Any) -> bytes:
    return _bytes(sent(value), widget)


def _forward(trace: Mapping[str, Any]) -> int:
    """How many events the forward pass has."""
    return sum(event["phase"] == "forward" for event in trace["steps"])


class GraphView(Fronted):
    """The live view of one traced graph. Make one with `graph(y)`.

    The Python interface: `step` (the number of events so far; assign it to move the view), `total` (the number of events), `inputs`
    (node id -> position of its slider), `svg(step)`, `save(path)`. The view holds only weak references to the learner's Values, and
    sliders change numbers of the view, not of these.
    """

    trace = traitlets.Dict().tag(sync=True, to_json=_trace_bytes)
    step = traitlets.Int(0).tag(sync=True)
    leaves = traitlets.List(traitlets.Int()).tag(sync=True)  # ids of the nodes that can have a slider
    recorded = traitlets.Dict().tag(sync=True)  # id -> value, as the trace was made
    inputs = traitlets.Dict().tag(sync=True)  # id -> value, where the sliders stand now
    sweeps: Any = traitlets.List(traitlets.Dict()).tag(sync=True)  # see contract.Sweep
    notice = traitlets.Unicode("").tag(sync=True)  # a sentence about the whole view
    picture = traitlets.Dict().tag(sync=True, to_json=_bytes)  # positions
    # Its plan and numbers; at the level of operations only that there is one
    network: Any = traitlets.Dict().tag(sync=True)
    forms: Any = traitlets.Dict().tag(sync=True)  # the figure of a program of Tensors; or only that there is one
    quiz = traitlets.Bool(False).tag(sync=True)  # the ledger is to be filled in
    can_fold = traitlets.Bool(False).tag(sync=True)
    revision = traitlets.Int(0).tag(sync=True)  # incremented after a consistent update: triggers a redraw

    def __init__(
        self, root: Any, names: Mapping[str, object] | None = None, step: int | str | None = None, limit: int = LIMIT, second: bool = False,
        quiz: bool = False, sliders: bool = True,
    ) -> None:  # fmt: skip
        explain = not_a_graph(root)
        if explain:
            raise TypeError(explain)
        self._limit, self._second, self._sliders, self._own = limit, second, sliders, False
        self._mark: Mark | None = None
        self._narrow = False  # has the page asked for the layouts of narrower stages?
        self.cells: set[str] = set()
        with no_collection():
            self._subject = Subject(root, names, second, limit)
            self._level = self._opening_level()
            self._looked: tuple[int, int] | None = None  # a neuron that is open, and its sample
            self._slid = self._steepest()  # the parameter that has a slider
            self._folds: Any = None
            self._open: set[int] = set()
            self._at_first: set[int] = set()  # the folds that were open before the reader changed any
            self._last = -1  # the fold that was opened last, as long as it is open
            self._take_folds()
            state = self._state()
        trace = state["trace"]
        first = len(trace["steps"]) if self._subject.differentiated else _forward(trace)
        at = {None: first, "start": 0, "end": len(trace["steps"])}.get(step, step)  # type: ignore[arg-type]
        super().__init__(part="graph", quiz=quiz, step=at, revision=1, **state)
        self.observe(self._on_inputs, names=["inputs"])
        self.on_msg(self._on_message)

    @property
    def total(self) -> int:
        """How many events the computation has, forward and backward."""
        return len(self.trace["steps"])

    @property
    def stops(self) -> list[int]:
        """The steps at which one stops: of a figure, once for each part."""
        if self._level == "figure":
            return stops(cast(Figured, self._subject.figured).plan["stages"])
        return list(range(self.total + 1))

    @property
    def whole(self) -> Trace:
        """The trace of every node, whatever is folded in the picture."""
        return self._subject.whole

    @property
    def grads(self) -> list[float | None]:
        """Of a foreign class: the gradient that each object holds."""
        return self._subject.grads

    # What is shown of it

    def _opening_level(self) -> str:
        """ "network" if there is one that is no smaller picture as cards, "figure" if there is one, else "operations"."""
        result = self._subject.network
        if self._subject.figured and self._limit == LIMIT:
            return "figure"
        return "network" if result and result.operations > CARDS else "operations"

    def _same_level(self) -> str:
        """The level that was shown, if the graph has it still."""
        there = {"network": self._subject.network, "figure": self._subject.figured}.get(self._level, True)
        return self._level if there else "operations"

    def _steepest(self) -> int | None:
        """The parameter that the result of a network depends on most."""
        result, subject = self._subject.network, self._subject
        if result is None or not subject.tape or not result.plan["parameters"]:
            return None
        return int(
            numpy.nanargmax(numpy.abs(numpy.nan_to_num(Numbers(result.plan, subject.network_row()).parameter_grads)))
        )

    def slide(self, parameter: int) -> None:
        """Put a parameter of the network on the slider, by its number in the plan; or a number of a figure, by its place in the buffer."""
        result = self._subject.network
        figure = self._level == "figure" and self._subject.figured is not None
        if (
            figure
            or result is not None
            and self._level == "network"
            and 0 <= parameter < len(result.plan["parameters"])
        ):
            self._slid = parameter
            self._present(self.step)

    def _network_state(self) -> dict[str, Any]:
        """The state of the network level: its columns as a trace, its plan and its numbers."""
        subject = self._subject
        result = cast(Network, subject.network)
        row = subject.network_row()
        trace = network_trace(result, Numbers(result.plan, row), subject.title, subject.sources)
        drawn: dict[str, Any] = {"plan": _bytes(result.plan, None), "numbers": row.astype("<f8").tobytes()}
        if self._slid is not None:
            with contextlib.suppress(ValueError):  # an operation that the tape does not know
                drawn["moved"] = self._moved(self._slid)
        if self._mark:
            drawn["mark"] = self._mark_on_network(result, self._mark, trace)
        if self._looked:
            cell, sample = self._looked
            trace, inner = opened(trace, result, cell, sample, *subject.look(cell, sample))
            drawn["inner"] = _bytes(inner, None)
        return {
            "trace": dict(trace), "leaves": [], "recorded": {}, "inputs": {}, "sweeps": [], "can_fold": False,
            "notice": " ".join(subject.words).strip(), "picture": dict(w=0, h=0, cards=[], wires=[]),
            "network": drawn, "forms": {},
        }  # fmt: skip

    def _figure_state(self) -> dict[str, Any]:
        """The state of the figure: its stages as a trace, its plan and its numbers."""
        figured = cast(Figured, self._subject.figured)
        # The normal order of work: a sign says it
        about = [words for words in self._subject.words if words.startswith(USED_UP)]
        drawn: dict[str, Any] = {
            "plan": _bytes(figured.plan, None),
            "numbers": figured.numbers,
            "about": " ".join(about),
        }
        number = figured.steepest() if self._slid is None else self._slid
        if self._sliders and number is not None:
            asked = self._slid is not None
            most, seconds = (ASKED, 2.0) if asked else (SLIDES, sweeps.SECONDS)
            if moved := figured.moved(
                number, most, seconds, lambda at, room: sweeps.slider_points(at if abs(at) > 0.4 else 0.4, at, room)
            ):
                drawn["moved"] = moved
        return {
            "trace": dict(figured.trace), "leaves": [], "recorded": {}, "inputs": {}, "sweeps": [], "can_fold": False,
            "notice": " ".join(words for words in self._subject.words if words not in about).strip(),
            "picture": dict(w=0, h=0, cards=[], wires=[]), "network": {},
            "forms": drawn,
        }  # fmt: skip

    def _moved(self, parameter: int) -> dict[str, Any]:
        """All numbers of the network as one of its parameters moves: a slider, and the curve of the result."""
        subject = self._subject
        most = MOVED if subject.tape else ASKED
        result = subject.sweep_parameter(parameter, min(SLIDE, most // (8 * len(subject.network_row()))))
        packed = [numpy.asarray(x, "<f8").tobytes() for x in result]
        return {"parameter": parameter, "points": packed[0], "rows": packed[1]}

    def _take_folds(self) -> None:
        """Read the folds, except of a big network whose operations were not traced yet."""
        if self._level == "operations" or self._level == "network" and self._subject.traced:
            self._read_folds()

    def _read_folds(self) -> None:
        self._folds = Folds(self.whole)
        few = len(self.whole["nodes"]) <= self._limit and not self._layered
        self._open = self._folds.everything() if few else self._opening(LAYERS if self._layered else FOLDED)
        self._at_first, self._last = set(self._open), -1

    @property
    def _layered(self) -> bool:
        """Is it a graph of modules, shown as layers?"""
        return bool(self._folds.modules) and len(self.whole["nodes"]) > CARDS

    def _opening(self, cards: int, at_most: bool = False) -> set[int]:
        """Which folds are open at first, so that there are about so many cards."""
        return self._folds.opening(cards, at_most, self._layered)

    def _state(self) -> dict[str, Any]:
        """The state of the view: the trace with closed folds as single cards, its layout, and the tables of the sliders."""
        if self._level == "network":
            return self._network_state()
        if self._level == "figure":
            return self._figure_state()
        subject, full = self._subject, self.whole
        plain = self._open >= self._folds.everything() and len(full["nodes"]) <= self._limit
        part = Folded(full, self._folds, self._open)
        if subject.moved and not self._alone(part):
            # No slider is left that would say where the inputs stand
            part = Folded(subject.now(), self._folds, self._open)
        self._part = part
        visible = full if plain else part.trace
        self._at_id = self._alone(part) if self._sliders else {}
        mark = self._mark and self._mark._replace(node=part.new[self._mark.node], at=self._mark.at if plain else 0)
        inputs = {str(k): subject.at[i] for k, i in self._at_id.items()}
        leaves, recorded = [*self._at_id], {str(k): subject.start[i] for k, i in self._at_id.items()}
        return {
            "trace": dict(visible), "leaves": leaves, "recorded": recorded, "inputs": inputs,
            "sweeps": [self._sweep(leaf, visible, recorded, inputs) for leaf in leaves[: sweeps.FIRST]],
            "notice": " ".join([*subject.words, "" if plain else notice(full, visible)]).strip(),
            "picture": self._laid_out(visible, [] if plain else self._frames(), mark),
            "can_fold": bool(self._folds.root.folds), "network": {"level": "operations"} if subject.network else {},
            "forms": {"level": "operations"} if subject.figured else {},
        }  # fmt: skip

    def _laid_out(self, visible: Trace, frames: list[Framed], mark: Mark | None) -> dict[str, Any]:
        """Where everything stands, also on narrower stages."""
        picture = layout(visible, frames, mark=mark)
        self._framing = frames, mark
        wraps = [*narrower(visible, picture, frames, mark)] if self._narrow or picture["w"] > WIDE else []
        more = {"wraps": wraps, "trail": self._trail()}
        return {**picture, **{key: x for key, x in more.items() if x}}

    def narrower(self) -> list[Picture]:
        """The picture for narrower and lower stages."""
        return [*narrower(cast(Trace, self.trace), cast(Picture, self.picture), *self._framing)]

    def _present(self, step: int | None = None) -> None:
        """Send the state, and optionally a new step, in one message."""
        with self._quiet(), self.hold_sync():
            for name, value in self._state().items():
                setattr(self, name, value)
            if step is not None:
                self.step = min(max(step, 0), self.total)
            self.revision += 1

    def _alone(self, part: Folded) -> dict[int, int]:
        """The inputs that have a card, and so a slider, of their own: shown leaf -> leaf of the whole trace."""
        return {part.new[i]: i for i in self._subject.leaves if part.trace["nodes"][part.new[i]]["kind"] == "leaf"}

    def _trail(self) -> list[tuple[int, str]]:
        """The folds around the fold that was opened last."""
        if self._last not in self._open:
            self._last = -1
        if self._last < 0:
            return []
        fold = self._folds.by_key[self._last]
        around = [self._folds.by_key[key] for key in self._folds.outside(fold)[:-1]]
        return [(f.key, f.name) for f in (*reversed(around), fold)]

    def back(self, key: int = -1) -> None:
        """Undo what the reader opened inside a fold; with a negative key, everything that was opened or closed."""
        if self._level != "operations" or key >= 0 and key not in self._folds.by_key:
            return
        inside = {k for k in self._open - self._at_first if key in self._folds.outside(self._folds.by_key[k])}
        self._open, self._last = (
            (self._open - inside, -1 if key in self._at_first else key) if key >= 0 else (set(self._at_first), -1)
        )
        self._keeping_place()

    def _frames(self) -> list[Framed]:
        return self._framed(self._part, self._open)

    def _framed(self, part: Folded, open_: set[int]) -> list[Framed]:
        """The open folds, outer ones first, by the nodes that are shown of them."""
        folds = self._folds.frames(open_)
        place = {fold.key: k for k, fold in enumerate(folds)}
        return [Framed(f.key, f.name, sorted({part.new[m] for m in f.members}), place.get(f.parent, -1)) for f in folds]

    def _sweep(self, leaf: int, visible: Any, recorded: Mapping[str, float], inputs: Mapping[str, float]) -> Sweep:
        """Everything a slider can reach while the other inputs stand still."""
        tape = self._subject.tape
        room = sweeps.room(visible, len(self._at_id), tape.seconds if "arrays" in visible else None)
        ends = recorded[str(leaf)], inputs[str(leaf)]
        points = sweeps.slider_points(*ends, room)
        rows = self._part.columns(*self._subject.sweep(self._at_id[leaf], points))
        part = sweeps.in_sight(rows[:, visible["root"]], *(points.index(at) for at in ends))
        return sweeps.pack(leaf, inputs, visible, points[part], rows[part])

    def _sweep_now(self, leaf: int) -> Sweep:
        return self._sweep(leaf, self.trace, self.recorded, self.inputs)

    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        """Ignore our own writes to `inputs`."""
        self._own = True
        try:
            yield
        finally:
            self._own = False

    def without_missed(self) -> None:
        """Remove the notice about inputs that are not part of the graph."""
        subject = self._subject
        for text in subject.missed:
            self.notice = self.notice.replace(text, "").replace("  ", " ").strip()
        subject.words = [text for text in subject.words if text not in subject.missed]

    def fold(self, *what: str | int) -> None:
        """Open or close folds: `fold("all")` closes all that can be, `fold("none")` opens as many as can be drawn, a number toggles one."""
        if what and what[0] in ("network", "figure", "operations"):
            return self._go_to(cast(str, what[0]))
        if self._level != "operations":
            self._go_to("operations")
        keys = self._folds.everything()
        open_, last = set(self._open), -1
        for one in what:
            if one == "all":
                open_ = self._folds.opening(8)
            elif one == "none":
                open_ = keys if self._folds.count(keys) <= MOST else self._folds.opening(MOST)
            elif one in keys:
                opens = one not in open_
                open_ = open_ | {cast(int, one)} if opens else open_ - {one, *self._inner(cast(int, one))}
                last = cast(int, one) if opens else self._folds.by_key[cast(int, one)].parent
        if (count := self._folds.count(open_)) > MOST:
            self.notice = (
                f"That would be {count:,} cards, and at most {MOST} are drawn at once. Close another fold first."
            )
            return
        self._open, self._last = open_, -1 if last in self._at_first else last
        self._keeping_place()

    def _go_to(self, level: str) -> None:
        """Show the network or the figure, or its operations."""
        if level == "operations" or getattr(self._subject, {"network": "network", "figure": "figured"}[level]):
            if level == "operations" and (self._folds is None or not self._subject.traced):
                self._read_folds()
            if (
                level == "operations" and self._level == "network" and self._limit == LIMIT
            ):  # all of them, down to the weights: somebody asked for them
                folds = self._folds
                self._open = folds.everything() if len(folds.nodes) <= MOST else folds.opening(MOST, at_most=True)
            self._level = level
            self._keeping_place()

    def look(self, cell: int, sample: int = 0) -> None:
        """Open a neuron of the network in its place, with the numbers of one sample; a number below 0 closes it."""
        result = self._subject.network
        if result is None or self._level != "network":
            return
        inside = (
            result.plan["columns"][0]["cells"][-1] < cell < len(result.plan["cells"])
            and 0 <= sample < result.plan["samples"]
        )
        event = self.trace["steps"][self.step - 1] if self.step else None
        self._looked = (cell, sample) if inside else None
        with self.hold_sync():
            self._present()
            self.step = self._same_event(event, len(parts(result.plan)))

    def _same_event(self, event: Any, columns: int) -> int:
        """The index of the equivalent event after the state has changed. An event inside a neuron that was closed becomes its layer's."""
        if event is None:
            return 0
        steps = self.trace["steps"]
        requested = (event["phase"], event["kind"], event["node"], event["edge"])
        results = [k for k, s in enumerate(steps, 1) if (s["phase"], s["kind"], s["node"], s["edge"]) == requested]
        return results[0] if results and event["node"] < columns else _forward(self.trace)

    def _keeping_place(self) -> None:
        """Send the new state at the equivalent event: at the end of the forward pass, or at the same fraction of all events."""
        now, forward = self.step / max(1, self.total), self.step == _forward(self.trace)
        with self.hold_sync():
            self._present()
            self.step = _forward(self.trace) if forward else round(now * self.total)

    def retrace(self, root: Any, names: Mapping[str, object] | None = None) -> None:
        """Show another run of the program, in the same place: step, open folds, zoom and tab stay as far as they still exist."""
        explain = not_a_graph(root)
        if explain:
            raise TypeError(explain)
        self._subject, self._mark = Subject(root, names, self._second, self._limit), None
        self._level, self._looked = self._same_level(), None
        self._slid = self._steepest()
        saved, old, step, total = (self._open, self._at_first, self._last), self._folds, self.step, self.total
        self._take_folds()
        if old and self._folds and [f.name for f in old.folds] == [f.name for f in self._folds.folds]:
            self._open, self._at_first, self._last = saved
        with self.hold_sync():
            self._keeping_place()
            if self.total == total:
                self.step = step

    def mark(self, node: int, rows: list[tuple[str, str]], at: int) -> None:
        """Write lines, each a caption and a number, at the foot of a node's card, to be seen from event `at` on."""
        self._mark = Mark(node, rows, at)
        if self._level == "figure":
            self._go_to("operations")
        self._present()

    def _place(self, result: Network, node: int) -> tuple[str, int, int]:
        """The part, the cell (-1: none) and the sample of a network picture in which a node is, or the first result that uses it is."""
        users: dict[int, list[int]] = {}
        for e in self.whole["edges"]:
            users.setdefault(e["source"], []).append(e["target"])
        near = [node]
        for n in near:
            if place := result.place(n):
                return place
            near += [user for user in users.get(n, ()) if user not in near]
        return parts(result.plan)[-1], -1, 0

    def _mark_on_network(self, result: Network, mark: Mark, visible: Trace) -> dict[str, Any]:
        """The lines beside a neuron, or beside the error or the loss, in one sample, from its layer's event on."""
        part, cell, sample = self._place(result, mark.node)
        backward = mark.at > _forward(self.whole)
        at = parts(result.plan).index(part)
        same = [k for k, s in enumerate(visible["steps"], 1) if s["phase"] == ("backward" if backward else "forward")
                and at == (s["node"] if s["edge"] is None else visible["edges"][s["edge"]]["source"])]  # fmt: skip
        return {"part": part, "cell": cell, "sample": sample, "rows": mark.rows, "at": min(same, default=0)}

    def _inner(self, key: int) -> set[int]:
        return {f.key for f in self._folds.folds if key in self._folds.outside(f)}

    def show(self, node: int) -> None:
        """Open the folds around a node of the complete graph."""
        if self._level != "operations":
            self._go_to("operations")
        keys = self._folds.path(node)
        if any(key not in self._open for key in keys):
            self._open |= set(keys)
            self._last = keys[0]
            self._present()

    def shown_now(self) -> Trace:
        """The trace that is shown, with the numbers that are shown."""
        if not self._subject.moved or self._level != "operations":
            return cast(Trace, self.trace)
        full = self._subject.now()
        return full if len(self.trace["nodes"]) == len(full["nodes"]) else Folded(full, self._folds, self._open).trace

    # Messages from the browser

    def _on_inputs(self, change: Any) -> None:
        """A slider came to rest: the other sliders' tables are renewed."""
        if self._own or not self._subject.tape:
            return
        self._subject.put({leaf: float(self.inputs[str(visible)]) for visible, leaf in self._at_id.items()})
        self.sweeps = [old if sweeps.holds(old, self.inputs) else self._sweep_now(old["node"]) for old in self.sweeps]

    def set_state(self, sync_data: dict) -> None:
        super().set_state(messages.allowed(sync_data, self.total, self.inputs))

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Rare requests: a slider that has no table yet; a fold to open or close; a search; a file."""
        kind, what = messages.request(content)
        if kind == "want" and what in self.leaves:
            if all(old["node"] != what for old in self.sweeps):
                self.sweeps = [*self.sweeps[-sweeps.FIRST + 1 :], self._sweep_now(what)]
        elif kind == "fold":
            self.fold(what)
        elif kind == "narrow":
            self._narrow = True
            self._present()
        elif kind == "back" and type(what) is int:
            self.back(what)
        elif kind == "slide" and type(what) is int:
            self.slide(what)
        elif kind == "look" and type(what) is int:
            sample = content.get("sample")
            self.look(what, sample if type(sample) is int else 0)
        elif kind == "find":
            self.send({"type": "found", **self.find(str(what))})
        elif kind == "open" and type(what) is int and 0 <= what < len(self.whole["nodes"]):
            self.show(what)
        elif kind == "save" and what in files.KINDS:
            result = files.content(self, what, dark=bool(content.get("dark")))
            self.send(
                {"type": "file", "name": files.name_of(cast(Trace, self.trace), what), "mime": files.KINDS[what]},
                [result],
            )

    def find(self, text: str) -> dict[str, Any]:
        """Nodes whose name, operation, formula or module has `text` in it: `total` in the whole graph, `nodes` the cards they are on."""
        text = text.lower()
        if self._level != "operations":
            return {"text": text, "total": 0, "nodes": [], "hits": []}
        hits = [n["id"] for n in self.whole["nodes"] if text and n["kind"] != "constant"
                and any(text in str(n.get(key, "")).lower() for key in ("label", "op", "function", "expr", "scope"))]  # fmt: skip
        first: dict[int, int] = {}
        for i in hits:
            first.setdefault(self._part.new[i], i)
        return {"text": text, "total": len(hits), "nodes": [*first], "hits": [*first.values()]}

    # Out

    def reopen(self) -> None:
        """Prepare for display: read the graph again if an input has changed, and reopen a closed view."""
        root, away = self._subject.root, self.comm is None
        if root is not None and (away or self._subject.changed):
            self._mark = None
            self._subject.read(root)
            self._level, self._looked = self._same_level(), None
            self._slid = self._steepest()
            self._take_folds()
            self._present()
        super().reopen()

    def close(self) -> None:
        """Take the view out of the browser and its tables out of memory. Showing it again brings it back."""
        self.sweeps = []  # the browser keeps what a closed model had last: then it should be little
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets hides it on a closed widget

    def svg(self, step: int | None = None, width: float = page.WIDTH) -> str:
        """The picture after `step` events (by default all of them) as an SVG document, for a page of this width."""
        return self.drawing(width)(
            step, description=repr(self) if self._level != "operations" else to_text(self.shown_now())
        )

    def wide_picture(self) -> str | None:
        """Of a graph that folds more on a narrow page than on a wide one."""
        if self._level != "operations" or len(self.shown_now()["nodes"]) > page.MOST:
            return None
        return self.svg(width=page.WIDE) if cast(Picture, self.picture)["w"] > page.WIDTH else None

    def drawing(self, width: float = page.WIDTH) -> export.Draw:
        """How the picture is drawn after some events, for a page of this width."""
        if self._level == "network":
            plan, mark = cast(Network, self._subject.network).plan, self.network.get("mark")
            row = Numbers(plan, self._subject.network_row())
            draw = partial(network_picture.svg, plan, row, cast(Trace, self.trace), w=width, mark=mark)
            return partial(draw, sample=mark["sample"]) if mark else draw
        if self._level == "figure":
            return partial(still.svg, cast(Figured, self._subject.figured), w=width)
        visible = self.shown_now()
        first = visible, *self._framing
        trace, picture = page.fitting(partial(self._fewer, visible), first, width, cast(Picture, self.picture))
        result = self.whole["nodes"][self.whole["root"]]["label"]
        return export.drawing(trace, picture, result, width, visible)

    def _fewer(self, visible: Trace, cards: int) -> page.Scene | None:
        """The picture with more folds closed, so that it has at most `cards` cards."""
        open_ = self._opening(max(cards, LEAST), at_most=True)
        part = Folded(self._subject.now() if self._subject.moved else self.whole, self._folds, open_)
        if cards < LEAST or len(part.trace["nodes"]) >= len(visible["nodes"]):
            return None
        return (
            part.trace,
            self._framed(part, open_),
            self._mark and self._mark._replace(node=part.new[self._mark.node], at=0),
        )

    def save(self, path: str | Path, step: int | None = None, dark: bool = False, width: float = page.WIDTH) -> Path:
        """Write the view to a file. The suffix chooses the format: `.svg` or `.png` (the picture after `step` events, by default the
        present one), `.gif` or `.apng` (an animation of all events), `.html` (a page that steps and slides without a kernel), `.dot`
        (Graphviz source).
        width: pixels of the page or slide that a picture is for. Text is 11 pixels high there, and a wider picture is wrapped.
        Raises ValueError for a width that is not a positive number.
        """
        if not (isinstance(width, int | float) and 0 < width < math.inf):
            raise ValueError(
                f"width is {width!r}, but a page has a positive number of pixels: save({str(path)!r}, width=640)."
            )
        path = Path(path)
        path.write_bytes(files.content(self, files.kind_of(path), step, dark, width))
        return path

    def __repr__(self) -> str:
        if self._level == "network":
            plan = cast(Network, self._subject.network).plan
            return network_text(plan, Numbers(plan, self._subject.network_row()), self._subject.title)
        if self._level == "figure":
            return still.text(cast(Figured, self._subject.figured))
        return to_text(cast(Trace, self.trace))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        self.reopen()
        cells.shown(self)
        data, metadata = cast(Any, super()._repr_mimebundle_(**kwargs))
        return {**data, "text/plain": repr(self), "image/svg+xml": self.svg()}, metadata


class FirstLook(GraphView):
    """A view that shows search, zoom, files, the ledger and the program only when asked for."""

    brief = traitlets.Bool(True).tag(sync=True)


def graph(
    root: Any, *, step: int | str | None = None, names: Mapping[str, object] | None = None, limit: int = LIMIT, second: bool = False,
    quiz: bool = False,
) -> GraphView:  # fmt: skip
    """Show how `root` was computed: every number, every local derivative, step by step, with a slider for every input.

    root: a Value or a Tensor, the result whose gradient is taken (or an object of your own class with data, _prev and _op); or a compiled
    step, whose cards say which loop of the program they became. step: where the view starts: a number of events, "start" or "end"; by
    default after the forward pass, or at the end if backward() has been called from root. names: variable names for the nodes; by
    default the notebook's, or the caller's. limit: a graph with more nodes than this opens folded. second: of a Tensor, also the graph
    of its gradient (what create_graph=True records). quiz: the ledger is empty and yours to fill in. Raises TypeError for anything else.
    """
    if names is None:
        caller = inspect.currentframe().f_back  # type: ignore[union-attr]
        names = {**caller.f_globals, **caller.f_locals} if caller else {}
    return GraphView(root, names, step, limit, second, quiz)
