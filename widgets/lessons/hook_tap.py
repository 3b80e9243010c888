"""`hook_tap(f, at, do, amount)`: a hook on one edge of the learner's graph, and its effect on all gradients computed after it.

Each picture is a backward pass with the engine's hooks: one on every node, which records the gradient, and one on the tapped edge, which
scales, clips or replaces it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad.tracing.tensor_trace import TensorRecording
from minigrad.tracing.trace import Edge, Trace

from ..show import Table
from .cards import card, pill, places, wire
from .kit import Choice, Field, Figure, Given, Inputs, Number, lesson
from .lesson import number, svg
from .stepper import ProgramError
from .tensor_program import run

CANNED = "u = w*x; q = u**2; y = q + x"
MOST = 24  # operations that have room
DOES = {"look": "only look", "scale": "multiply by", "clip": "clip to ±", "replace": "replace by"}
_LOOK = (
    ".mgl .pill.tapped{fill:var(--bwd);stroke:var(--bwd)}.mgl .tapped+text{fill:var(--bg)}"
    ".mgl .pill.before{fill:var(--bg);stroke-dasharray:3 2}"
)


def size(g: Any) -> float | None:
    """The number that a picture shows for a gradient: the gradient itself, or its norm if it has several entries."""
    return None if g is None else g.item() if g.numel() == 1 else float(g.norm().item())


def differ(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is not b
    return not (a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9))


def _typed(name: str) -> str:
    """How code gets at a tensor: by its name; a result without one is given one first."""
    return name if name.isidentifier() else f"p = {name.replace('×', '*').replace('−', '-').replace('÷', '/')}; p"


class Tap:
    """A program, its graph, and one tapped edge. `edges` are those that carry gradients, newest first."""

    def __init__(self, program: str | Callable, inputs: dict[str, Any], hook: Callable | None):
        self.program, self.inputs, self.hook = program, inputs, hook
        root, named = run(program, inputs, torch.float64)
        recording = TensorRecording(root, named)
        self.trace: Trace = recording.trace()
        items = recording.graph.items
        if sum(item.kind == "operation" for item in items) > MOST:
            raise ProgramError(f"this graph has more than {MOST} operations: tap a smaller one.")
        self.links = recording.edges  # (parent, target, slot) by id
        carries = [e for e, (parent, _, _) in enumerate(self.links) if items[parent].node is not None]
        self.edges = sorted(carries, key=lambda e: (-self.links[e][1], self.links[e][2]))
        self.leaves = [i for i, item in enumerate(items) if item.kind == "leaf" and item.node is not None]
        self.at, self.do, self.amount = self.edges[0], "look", 0.5
        room = [Edge(**{**edge, "local": None, "local_text": "room for a number"}) for edge in self.trace["edges"]]  # type: ignore[typeddict-item]
        self.drawn = places(Trace(**{**self.trace, "edges": room}))  # type: ignore[typeddict-item]
        self.plain = self.passed(tapped=False)
        self.now = self.plain

    def name(self, e: int) -> str:
        """An edge by its ends, in the direction in which the gradient goes."""
        parent, target, slot = self.links[e]
        nodes = self.trace["nodes"]
        twice = [k for k, (p, t, _) in enumerate(self.links) if (p, t) == (parent, target)]
        return f"{nodes[target]['label']} → {nodes[parent]['label']}" + (f" (slot {slot})" if len(twice) > 1 else "")

    # One backward pass with hooks ------------------------------------------------------------------------------------------------
    def act(self, g: Any) -> Any:
        if self.do == "scale":
            return g * self.amount
        if self.do == "clip":
            return g.clamp(-abs(self.amount), abs(self.amount))
        if self.do == "replace":
            return torch.full_like(g, self.amount)
        if self.do == "yours" and self.hook is not None:
            new = self.hook(g)
            if new is not None and not isinstance(new, torch.Tensor):
                raise ProgramError(f"a hook returns a Tensor or None, and yours returned {type(new).__name__}.")
            if new is not None and tuple(new.shape) != tuple(g.shape):
                raise ProgramError(
                    f"a hook must keep the shape: {tuple(g.shape)} arrived, yours returned {tuple(new.shape)}."
                )
            return g if new is None else new
        return g

    def passed(self, tapped: bool = True) -> dict[str, dict[int, float | None]]:
        """Run forward and backward: what reached each edge and what left it, and what each card has got. All by hooks."""
        root, named = run(self.program, self.inputs, torch.float64)
        graph = TensorRecording(root, named).graph
        out: dict[str, dict[int, float | None]] = {"in": {}, "out": {}, "grad": {graph.root: 1.0}}
        at = {(target, slot): e for e, (_, target, slot) in enumerate(self.links)}

        def node_hook(target: int) -> Callable:
            def hook(grad_inputs: Any, grad_outputs: Any) -> Any:
                out["grad"][target] = size(grad_outputs[0])
                sent = list(grad_inputs)
                for slot, g in enumerate(sent):
                    if g is None or (e := at.get((target, slot))) is None:
                        continue
                    out["in"][e] = size(g)
                    if tapped and e == self.at:
                        sent[slot] = self.act(g)
                    out["out"][e] = size(sent[slot])
                return tuple(sent)

            return hook

        for i, item in enumerate(graph.items):
            if item.kind == "operation" and item.node is not None:
                item.node.register_hook(node_hook(i))
        root.backward()
        for i in self.leaves:
            out["grad"][i] = size(graph.items[i].live.grad)
        return out

    def set(self, at: int | None = None, do: str | None = None, amount: float | None = None) -> None:
        """Tap another edge, or change the action there. Raises ProgramError and leaves the state unchanged."""
        before = self.at, self.do, self.amount
        self.at = self.at if at is None else at
        self.do = self.do if do is None else do
        self.amount = self.amount if amount is None else float(amount)
        try:
            if self.do == "replace" and not math.isfinite(self.amount):
                raise ProgramError("give a finite number to replace the gradient by.")
            self.now = self.passed()
        except Exception:
            self.at, self.do, self.amount = before
            raise

    # Words ------------------------------------------------------------------------------------------------------------------------
    def code(self) -> str:
        """The line that a learner would type for the same tap."""
        parent, target, slot = self.links[self.at]
        nodes = self.trace["nodes"]
        g = {
            "look": "print(g)",
            "scale": f"g * {self.amount:g}",
            "clip": f"g.clamp({-abs(self.amount):g}, {abs(self.amount):g})",
            "replace": f"torch.full_like(g, {self.amount:g})",
            "yours": f"{getattr(self.hook, '__name__', 'hook')}(g)",
        }[self.do]
        # The only way to this tensor: a hook on the tensor is the same
        if sum(p == parent for p, _, _ in self.links) == 1:
            return f"{_typed(nodes[parent]['label'])}.register_hook(lambda g: {g})"
        slots = [s for _, t, s in self.links if t == target]
        parts = [g.replace("g)", f"gi[{s}])").replace("g *", f"gi[{s}] *").replace("g.", f"gi[{s}].").replace("(g,", f"(gi[{s}],")
                 if s == slot else f"gi[{s}]" for s in slots]  # fmt: skip
        body = parts[slots.index(slot)] if self.do == "look" else f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        return f"{_typed(nodes[target]['label'])}.grad_fn.register_hook(lambda gi, go: {body})"

    def sentence(self) -> str:
        came, went = self.now["in"].get(self.at), self.now["out"].get(self.at)
        what = "norm " if self._several() else ""
        if self.do == "look":
            return f"Edge {self.name(self.at)}: {what}{number(came)} flows here. The hook only looks; nothing changes."
        changed = []
        for i in self.leaves:
            old, new = self.plain["grad"].get(i), self.now["grad"].get(i)
            if differ(old, new):
                changed.append(f"{self.trace['nodes'][i]['label']}.grad is {number(new)} in place of {number(old)}")
        effect = f"so {' and '.join(changed)}" if changed else "and no leaf's gradient changes"
        return f"Edge {self.name(self.at)}: the hook turned {what}{number(came)} into {number(went)}, {effect}. All values are as before."

    def _several(self) -> bool:
        return any(math.prod(node.get("shape", [])) > 1 for node in self.trace["nodes"] if node["kind"] != "constant")

    def rows(self) -> list[tuple[str, str, str]]:
        """Each edge, the gradient that comes to it, and the one that its hooks return."""
        tapped = {self.at: " ◀ tapped"}
        return [
            (self.name(e), number(self.now["in"].get(e)), number(self.now["out"].get(e)) + tapped.get(e, ""))
            for e in self.edges
        ]

    def text(self) -> str:
        rows = [("edge", "before hooks", "after hooks"), *self.rows()]
        wide = [max(len(row[k]) for row in rows) for k in (0, 1)]
        lines = [f"{a.ljust(wide[0])}  {b.rjust(wide[1])}  {c}" for a, b, c in rows]
        return "\n".join([*lines, self.sentence(), f"As code: {self.code()}"])

    # The picture ------------------------------------------------------------------------------------------------------------------
    def svg(self) -> str:
        out, pills = f"<style>{_LOOK}</style>", ""
        for w in self.drawn["wires"]:
            e, tapped = w["id"], w["id"] == self.at
            ran = e in self.now["out"]
            out += wire(w["d"], ran, "at" if tapped else "" if ran else "gone")
            if tapped and ran:
                pills += pill(w["px"], w["py"] - 23, "in " + number(self.now["in"][e], 5), "before")
            if ran:
                pills += pill(w["px"], w["py"], number(self.now["out"][e], 5), "tapped" if tapped else "sent")
        out += pills + "".join(self._card(place) for place in self.drawn["cards"])
        return svg(max(self.drawn["w"], 560), self.drawn["h"] + 6, out, self.sentence())

    def _card(self, place: Any) -> str:
        node, i = self.trace["nodes"][place["id"]], place["id"]
        value = node["value"]
        if value is not None and node["kind"] == "constant":
            return card(place, [], "constant")
        # of several numbers: their shape
        rows = [("value", value.split(" ")[0] if isinstance(value, str) else number(value, 5), "fwd")]
        new, old = self.now["grad"].get(i), self.plain["grad"].get(i)
        if new is not None or old is not None:
            rows.append(("grad", (f"was {number(old, 4)} → " if differ(new, old) else "") + number(new, 5), "bwd"))
        return card(place, rows, "leaf" if i in self.leaves else "")


class _Amount(Number):
    """Only where something is done with it."""

    def shown(self, figure: Any) -> bool:
        return figure.do not in ("look", "yours")


@lesson
class hook_tap(Figure):
    """Tap an edge of a computation's graph: see, scale, clip or replace the gradient that flows there, by a real hook.

    f: a program as text, or your own function of Tensors that returns one number.
    at: the edge to tap first, as the menu writes it, for example "y → q". do: "look", "scale", "clip", "replace".
    hook: your own hook, a function of the gradient; the menu then offers it, and it is on from the start.
    inputs: numbers or lists to start from, for example x=2; what is not given is 1.

        hook_tap()
        hook_tap("y = sin(x*w)", x=2, w=3, hook=half)
    """

    f = Given(CANNED)
    at = Given(None)
    do = Choice({text: do for do, text in DOES.items()}, "and", "look")
    amount = _Amount("amount", 0.5)
    hook = Given(None)
    inputs = Inputs(fixed=True)
    tap: Any = None  # a Tap; None until setup

    def fields(self) -> dict[str, Field]:
        result = super().fields()
        if self.hook is not None:
            ways = {**{text: do for do, text in DOES.items()}, "your hook": "yours"}
            result["do"] = Choice(ways, "and", "yours").named("do")
        if self.tap is not None:
            result["at"] = Choice({self.tap.name(e): self.tap.name(e) for e in self.tap.edges}, "tap edge", "").named(
                "at"
            )
        return result

    def setup(self) -> None:
        if not isinstance(self.f, str) and not callable(self.f):
            raise TypeError(
                f"it needs a program such as 'y = x*w', or a function of Tensors. It was given {type(self.f).__name__}."
            )
        if self.hook is not None and not callable(self.hook):
            raise TypeError(f"its hook is a function of the gradient. It was given {type(self.hook).__name__}.")
        inputs = {"x": 2.0, "w": 3.0} if self.f == CANNED and not self.inputs else self.inputs
        tap = Tap(self.f, inputs, self.hook)
        names = [tap.name(e) for e in tap.edges]
        self.at = names[0] if self.at is None else self.at
        if self.at not in names:
            raise ProgramError(f"there is no edge {self.at!r}. The edges are {', '.join(names)}.")
        self.do = "yours" if self.hook is not None else self.do
        self.tap = tap
        self.moved("at")

    def moved(self, _name: str) -> None:
        tap = copy.copy(self.tap)
        tap.set(next(e for e in tap.edges if tap.name(e) == self.at), self.do, self.amount)
        self.tap = tap

    def sentence(self) -> str:
        return self.tap.sentence()

    def draw(self) -> str:
        return self.tap.svg()

    def code(self) -> str:
        return self.tap.code()

    def table(self) -> Table:
        return Table(("edge", "before hooks", "after hooks"), self.tap.rows())

    def text(self) -> str:
        return self.tap.text()
