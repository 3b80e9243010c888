"""A program of Tensors as a figure: what a view of it needs, as plain data and one buffer of numbers.

What lives here: `Figured`, which is made where a graph is read, while its arrays are there, and keeps nothing of the learner's alive.
Arrays travel exactly, unless one has more than MOST numbers: then a cell stands for a block of entries, the largest in magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NotRequired, TypedDict, cast

import numpy

from minigrad.core.dispatch import handling_none
from minigrad.core.grad_mode import no_grad
from minigrad.core.variable import wrap
from minigrad.tracing import forms
from minigrad.tracing.forms import Finder, Forms
from minigrad.tracing.recording import _shrunk, parameters
from minigrad.tracing.schema import Node, Trace

from .figures import Figure, Figures
from .names import Names
from .stages import Stage, Stages, steps_of

MOST = 4096  # numbers of an array that is sent as it is; where there is a larger one, long axes are shortened in all
SIDES = (64, 32, 16)  # rows and columns then, at most; the next where all would be too much
SLIDE, LEAST = 41, 9  # points of a slider, at most and at least
WEIGHT = 250_000  # numbers that a figure may have
WIDTHS = (330, 400, 480, 560, 640, 720, 806, 920, 1040, 1180, 1320, 1480)  # pixels that a figure is laid out for


class FormNode(TypedDict):
    """A tensor of the program, as the figure shows it."""

    name: str
    kind: str  # "input", "parameter", "constant", "operation"
    function: str
    expr: str
    shape: list[int]  # of the numbers that are sent
    parents: list[int]  # by slot
    stage: int  # that makes it, or -1
    array: int  # its numbers, or -1
    # [stage, array]: what its gradient is once that stage has gone back; the last one is complete
    grads: list[list[int]]
    # Of a view: the tensor that it shows, and the array of places in that one, -1 if they are the same
    base: NotRequired[list[int]]
    block: NotRequired[list[int]]  # how many entries each number stands for, down and across
    full: NotRequired[list[int]]  # the shape of the tensor, if it is another one
    line: NotRequired[int]
    rules: NotRequired[list[str]]  # by slot: what the backward rule sends there, in words
    free: NotRequired[bool]  # it only changes the shape
    seen: NotRequired[
        int
    ]  # of such a node, the stage that makes its numbers, or -1: they are there before the stage that it is in
    log: NotRequired[int]  # it is the logarithm of what is shown, probabilities; the node of the targets
    whole: NotRequired[str]  # "truth" values, or a "count": whole numbers, whose cells have no colour


class FormPlan(TypedDict):
    kind: str  # of the figure
    root: int
    nodes: list[FormNode]
    stages: list[Stage]
    figures: list[Figure]  # the same for stages of different widths, narrow ones first
    parts: dict[str, list[Figure]]  # what opens: "link0" is a branch of a lane
    names: dict[str, str]  # of the parts
    lists: dict[str, list[int]]  # parts that are shown as a list of operations: "turn3" is a step of a recurrence
    samples: int
    heads: int
    starts: list[int]  # where each array begins in the buffer
    places: list[int]  # which arrays are places in another tensor
    double: bool  # are the numbers float64?


class Figured:
    """The figure of a recorded program; `find` says whether there is one."""

    def __init__(self, recording: Any, trace: Trace, found: Forms, side: int = 0):
        self.finder = finder = Finder(trace)
        self.forms = found
        values = recording.values
        names = Names(finder, found)
        self.stages = Stages(trace, found, finder, names, values)
        self.arrays: list[numpy.ndarray] = []
        self.made: list[
            tuple[Any, Any, Sequence[int]]
        ] = []  # of each: ("value", node), ("held", place) or ("", itself); and its blocks
        self.places: list[int] = []
        self._known: dict[int, int] = {}
        blocks = [_block(v, side) for v in values]
        bases = self._bases(recording, values, blocks)
        nodes = [self._node(n, names, values, bases, blocks[n["id"]]) for n in trace["nodes"]]
        self._gradients(trace, nodes, recording.arrays.held, blocks)
        for e in trace["edges"]:
            if e["carries_grad"] and (said := e.get("words") or e["local_text"]):
                rules = nodes[e["target"]].setdefault("rules", [""] * len(nodes[e["target"]]["parents"]))
                rules[e["slot"]] = names._expression(said)
        figures = Figures(finder, found, names, [n["shape"] for n in nodes])
        every = figures.all(WIDTHS)
        double = any(
            a.dtype == numpy.float64 or a.dtype.kind in "iu" and a.size and abs(a).max() > 2**24 for a in self.arrays
        )
        starts = [0, *numpy.cumsum([a.size for a in self.arrays]).tolist()]
        self.plan = FormPlan(
            kind=found.kind, root=trace["root"], nodes=nodes, stages=self.stages.list, figures=every.pop(""), parts=every,
            names=figures.titles, lists=figures.lists, samples=figures.samples, heads=figures.heads, starts=starts, places=self.places,
            double=double,
        )  # fmt: skip
        flat = numpy.concatenate([a.ravel() for a in self.arrays]) if self.arrays else numpy.zeros(0)
        self.numbers = flat.astype("<f8" if double else "<f4").tobytes()
        self.recorded = values
        self.mover = recording.mover()
        self.title = trace["title"]
        self.trace = self._coarse(trace, names)

    def _array(
        self, array: numpy.ndarray | None, block: Sequence[int] = (1, 1), made: tuple[str, Any] = ("", 0)
    ) -> int:
        """The place of an array among those that are sent. made: what it is, where it can be another one."""
        if array is None:
            return -1
        if id(array) not in self._known:
            self._known[id(array)] = len(self.arrays)
            self._held.append(array)
            self.arrays.append(_reduced(array, block))
            self.made.append((*(made if made[0] else ("", self.arrays[-1])), block))
        return self._known[id(array)]

    _held: list[Any]

    def _bases(
        self, recording: Any, values: list[Any], blocks: list[list[int]]
    ) -> dict[int, tuple[int, numpy.ndarray]]:
        """Of each view the tensor that it shows, and where each of its numbers is in that one: the view's own operations, run on places."""
        self._held = []
        out: dict[int, tuple[int, numpy.ndarray]] = {}
        items = recording.graph.items
        for i in self.finder.operations:
            if not self.finder.free(i) or values[i] is None or blocks[i] != [1, 1]:
                continue
            below = self.finder.parents[i][0]
            item = items[i]
            if item.number >= 0 and items[below].number < 0 and items[below].parents and items[below].node is item.node:
                below = self.finder.parents[below][0]  # one of several outputs
            if values[below] is None or blocks[below] != [1, 1]:
                continue
            base, places = out.get(below, (below, numpy.arange(values[below].size).reshape(values[below].shape)))
            params = parameters(item.node)
            if item.op is None or params is None or item.op.tensor_list:
                continue
            try:
                with no_grad(), handling_none():
                    result = item.op(wrap(places.astype(numpy.float64)), *params)
            except Exception:  # the row takes something else: then this view is not looked through
                continue
            if isinstance(result, tuple):
                result = result[max(item.number, 0)]
            if result.array.shape == values[i].shape:
                out[i] = base, result.array.astype(numpy.int64)
        return out

    def _node(
        self, n: Node, names: Names, values: list[Any], bases: dict[int, tuple[int, numpy.ndarray]], block: list[int]
    ) -> FormNode:
        i = n["id"]
        value = values[i]
        kind = n["kind"] if n["kind"] in ("operation", "constant") else "parameter" if n["requires_grad"] else "input"
        shape = list(value.shape) if value is not None else list(n.get("shape") or [])
        node = FormNode(
            name=names.all[i], kind=kind, function=self.finder.functions[i], expr=names.expression(i) if kind == "operation" else "",
            shape=_shape(shape, block), parents=self.finder.parents[i], stage=self.stages.of.get(i, -1), array=-1, grads=[],
        )  # fmt: skip
        if block != [1, 1]:
            node["block"], node["full"] = block, shape
        if n["source"]:
            node["line"] = n["source"]["line"]
        if value is not None and value.dtype.kind in "biu":
            node["whole"] = "truth" if value.dtype.kind == "b" else "count"
        if self.finder.free(i):
            node["free"] = True
            node["seen"] = self.stages.of.get(self.finder.peel(i), -1)
        if self.forms.loss and i == self.forms.loss.logp:
            node["log"] = self.forms.loss.target
        if i in bases:
            base, places = bases[i]
            same = numpy.array_equal(places.ravel(), numpy.arange(math.prod(values[base].shape)))
            at = -1
            if not same:
                at = self._array(places)
                self.places.append(at)
            node["base"] = [base, at]
        else:
            node["array"] = self._array(value, block, ("value", i))
        return node

    def _gradients(self, trace: Trace, nodes: list[FormNode], held: list[Any], blocks: list[list[int]]) -> None:
        """Of each node what its gradient is after which stage: of the events in the engine's order, the last one whose sender has gone."""
        last = len(self.stages.list) - 1
        arrived: dict[int, list[tuple[int, int]]] = {}
        for step in trace["steps"]:
            if step["phase"] == "backward" and "after" in step and step["kind"] in ("send", "seed"):
                to = step["node"] if step["edge"] is None else trace["edges"][step["edge"]]["source"]
                sender = last + 1 if step["edge"] is None else self.stages.of.get(step["node"], last)
                arrived.setdefault(to, []).append((sender, step["after"]))
        for i, sums in arrived.items():
            at = len(self.stages.list) + 1
            for sender, after in sums:
                at = min(at, sender)  # a sum is shown once all that is in it was sent
                nodes[i]["grads"].append([at, self._array(held[after], blocks[i], ("held", after))])

    # One number of a leaf on a slider

    def steepest(self) -> int | None:
        """The number of a parameter that the result depends on most, by its place in the buffer; None without one."""
        flat = numpy.frombuffer(self.numbers, "<f8" if self.plan["double"] else "<f4")
        best: tuple[float, int] | None = None
        free = [
            n
            for n in self.plan["nodes"]
            if n["kind"] == "parameter" and n["grads"] and "block" not in n and n["array"] >= 0
        ]
        for node in [n for n in free if len(n["shape"]) > 1] or free:  # a weight before a bias
            starts, at = self.plan["starts"], node["grads"][-1][1]
            grad = numpy.nan_to_num(abs(flat[starts[at] : starts[at + 1]]))
            if grad.size and (best is None or grad.max() > best[0]):
                best = float(grad.max()), starts[node["array"]] + int(grad.argmax())
        return best[1] if best else None

    def moved(
        self, number: int, most: float, seconds: float, points_of: Callable[[float, int], list[float]]
    ) -> dict[str, Any] | None:
        """All numbers of the figure as one of a leaf's moves; None if it cannot, or if that would weigh or take too much.
        points_of: where a slider can stand, by where it stands now and how many points it may have."""
        starts = self.plan["starts"]
        found = (n for n, node in enumerate(self.plan["nodes"]) if node["kind"] in ("parameter", "input") and "block" not in node
                 and node["array"] >= 0 and starts[node["array"]] <= number < starts[node["array"] + 1])  # fmt: skip
        leaf = next(found, -1)
        mover, count = self.mover, int(min(SLIDE, most / max(1, len(self.numbers))))
        value = self.recorded[leaf] if leaf >= 0 else None
        if (
            mover is None
            or value is None
            or value.dtype.kind != "f"
            or min(count, int(seconds / mover.seconds)) < LEAST
        ):
            return None
        at = number - starts[self.plan["nodes"][leaf]["array"]]
        here = float(value.ravel()[at])
        if not math.isfinite(here):
            return None
        room = min(count, int(seconds / mover.seconds))
        points = points_of(here, room)
        while len(points) > room + 2:
            k = points.index(here)
            points = points[k % 2 :: 2]
        kind: str = "<f8" if self.plan["double"] else "<f4"
        rows: list[numpy.ndarray] = []
        for x in points:
            changed = value.copy()
            changed.ravel()[at] = x
            values, held = mover.run({leaf: changed})
            of = {"value": values, "held": held}
            parts = [a if not made else _reduced(of[made][a], block) for made, a, block in self.made]
            rows.append(numpy.concatenate([part.ravel() for part in parts]).astype(kind))
        own = numpy.frombuffer(self.numbers, kind)
        same = rows[min(range(len(points)), key=lambda k: abs(points[k] - here))]
        if same.shape != own.shape or not numpy.allclose(same, own, rtol=1e-4, atol=1e-6, equal_nan=True):
            return None  # it is random, or depends on what is not recorded
        return {
            "number": number,
            "points": numpy.array(points, "<f8").tobytes(),
            "rows": b"".join(r.tobytes() for r in rows),
        }

    def _coarse(self, trace: Trace, names: Names) -> Trace:
        """A trace whose nodes are the stages."""
        nodes = []
        for k, stage in enumerate(self.stages.list):
            n = trace["nodes"][stage["main"]]
            made = dict(id=k, kind="operation", op="", label=names.all[stage["main"]], named=False, expr="", value="nan", grad=None,
                        requires_grad=True, rule="", saved=[], source=n["source"], scope="")  # fmt: skip
            nodes.append(cast(Node, made))
        steps = steps_of(self.stages.list, names.all[trace["root"]])
        title, root = trace["title"], len(nodes) - 1
        return Trace(version=1, engine="tensor", title=title, root=root, nodes=nodes, edges=[], steps=steps, arrays=[], notices=[],
                     unused=[])  # fmt: skip


def _block(array: Any, side: int) -> list[int]:
    """How many entries a cell stands for, down and across: by the length of the axes alone, so that sheets stay aligned."""
    if array is None or array.ndim == 0 or not side:
        return [1, 1]
    rows, columns = array.shape[-2] if array.ndim > 1 else 1, array.shape[-1]
    return [max(1, math.ceil(rows / side)), max(1, math.ceil(columns / side))]


def _weight(array: Any, side: int) -> int:
    """How many numbers of an array travel."""
    return math.prod(_shape(list(array.shape), _block(array, side)))


def _shape(shape: list[int], block: list[int]) -> list[int]:
    tail = [math.ceil(n / b) for n, b in zip(shape[-2:], block[2 - len(shape[-2:]) :], strict=True)]
    return [*shape[:-2], *tail]


def _reduced(array: numpy.ndarray, block: Sequence[int]) -> numpy.ndarray:
    if list(block) == [1, 1]:
        return array
    planes = array.reshape(-1, *(array.shape[-2:] if array.ndim > 1 else (1, array.shape[-1]))).astype(float)
    return numpy.stack([_shrunk(plane, list(block)) for plane in planes])


def find(recording: Any, trace: Trace) -> Figured | None:
    """The figure of a recording; None if it has no form, or no complete backward pass."""
    plain = recording.ran is not None and recording.layers is None and not recording.graph.total
    if (
        not plain
        or any(s["kind"] == "error" for s in trace["steps"])
        or any(v is not None and v.dtype.kind == "c" for v in recording.values)
    ):
        return None
    # What was detached is seen among the operations only
    if any(n.get("cut", {}).get("sources") for n in trace["nodes"]):
        return None
    found = forms.find(trace)
    held = recording.arrays.held
    for side in (SIDES if any(a.size > MOST for a in held) else (0, *SIDES)) if found else ():
        if sum(_weight(a, side) for a in held) <= WEIGHT:
            return Figured(recording, trace, cast(Forms, found), side)
    return None
