"""Shape flow: shapes going forward through a program on tensors, gradient shapes coming back, and each broadcast undone by a sum.

What lives here: `shape_flow(f, **inputs)`. Every array is the engine's: values from the recorded forward pass, gradients from hooks on a
real backward pass, before and after a broadcast is undone. What does not: the rules (minigrad), the graph as cards and wires (graph.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import minigrad as torch
from minigrad.tracing.tensor_trace import TensorRecording

from .. import show
from .kit import Figure, Given, Inputs, Moments, lesson
from .lesson import label, number, svg, tag
from .stepper import ProgramError
from .tensor_program import run

MOST = 12  # operations that have room
CELL_W, CELL_H = 58.0, 24.0  # room for four digits
WIDE = 886.0  # a wider picture's words would be lower than 9 pixels on a page
ROOM = 5  # rows and columns that are drawn with their numbers


def canned(W, x, b):
    """A linear layer on four samples, one in each row of x: the course's own program."""
    y = x @ W
    z = y + b
    L = z.sum()
    return L


CANNED = {
    "W": [[1.0, 2.0], [0.0, 1.0], [-1.0, 0.5]], "x": [[1.0, 3.0, 0.0], [0.0, 1.0, 2.0], [2.0, -1.0, 1.0], [1.0, 0.0, 1.0]],
    "b": [0.5, -0.5],
}  # fmt: skip


class Table(NamedTuple):
    """An array as it is drawn: its shape, and its entries as rows of a table (leading axes one below the other)."""

    shape: tuple[int, ...]
    rows: list[list[float]]


def table(tensor: Any) -> Table:
    """A tensor as rows of numbers."""
    shape = tuple(tensor.shape)
    wide = shape[-1] if shape else 1
    flat = tensor.detach().reshape(-1).tolist()
    return Table(shape, [flat[k : k + wide] for k in range(0, len(flat), wide)] if wide else [])


def summed_axes(raw: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes over which a gradient of shape `raw` is summed to have shape `shape`, counted as in `raw`.

    >>> summed_axes((5, 1, 2, 4, 3), (2, 1, 3)), summed_axes((2, 3), (2, 3))
    ((0, 1, 3), ())
    """
    new = len(raw) - len(shape)
    return tuple(axis for axis, size in enumerate(raw) if axis < new or (shape[axis - new] == 1 and size != 1))


class Share(NamedTuple):
    """What one operation sends to one operand."""

    to: str
    rule: str
    raw: Table
    axes: tuple[int, ...]
    fits: Table


class Event(NamedTuple):
    back: bool
    name: str
    expr: str
    node: int
    operands: list[tuple[str, Table]]
    result: Table
    shares: list[Share]


class _Flow:
    def __init__(self, f: str | Callable, inputs: dict[str, Any]):
        root, named = run(f, inputs, torch.float64)
        recording = TensorRecording(root, named)
        trace, items = recording.trace(), recording.graph.items
        self.nodes = trace["nodes"]
        operations = [i for i, item in enumerate(items) if item.kind == "operation"]
        if len(operations) > MOST:
            raise ProgramError(f"this program has {len(operations)} operations, and there is room for {MOST}.")
        results = {i: self._value(trace, i) for i in range(len(items))}
        self.made = results
        arrived: dict[int, Table] = {}
        sent: dict[tuple[int, int], Any] = {}

        def hook_of(target: int) -> Callable:
            def hook(grad_inputs, grad_outputs):
                arrived[target] = table(grad_outputs[0])
                sent.update({(target, slot): g.detach() for slot, g in enumerate(grad_inputs) if g is not None})

            return hook

        for i in operations:
            if items[i].node is not None:
                items[i].node.register_hook(hook_of(i))
        root.backward()
        self.grads = dict(arrived)
        for i, item in enumerate(items):
            if item.kind == "leaf" and item.live is not None and item.live.grad is not None:
                self.grads[i] = table(item.live.grad)
        operands: dict[int, list[tuple[str, Table]]] = {i: [] for i in operations}
        shares: dict[int, list[Share]] = {i: [] for i in operations}
        for e, (parent, target, slot) in enumerate(recording.edges):
            operands[target].append((self._name(parent), results[parent]))
            if (g := sent.get((target, slot))) is not None:
                raw, shape = table(g), results[parent].shape
                axes = summed_axes(raw.shape, shape)
                fits = table(g.sum(axes).reshape(shape)) if axes else raw
                rule = str(trace["edges"][e].get("local_text") or "g")
                shares[target].append(Share(self._name(parent), rule, raw, axes, fits))
        forward = [
            Event(False, self._name(i), self.nodes[i]["expr"], i, operands[i], results[i], []) for i in operations
        ]
        backward = [
            Event(True, self._name(i), self.nodes[i]["expr"], i, operands[i], arrived[i], shares[i])
            for i in sorted(operations, reverse=True)
            if i in arrived
        ]
        self.events = forward + backward
        self.turn = len(forward)
        self.at = 0

    def _name(self, i: int) -> str:
        return str(self.nodes[i]["label"])

    def _value(self, trace: Any, i: int) -> Table:
        node = trace["nodes"][i]
        shape = tuple(node.get("shape") or ())
        if (index := node.get("array")) is None:
            value = node["value"]
            return Table(shape, [[float(value)]] if isinstance(value, (int, float)) else [])
        a = trace["arrays"][index]
        if tuple(a["block"]) != (1, 1):  # means of blocks, and not the entries
            return Table(shape, [])
        cells = [float("nan") if c is None else float(c) for c in a["cells"]]
        return Table(shape, [cells[k : k + a["cols"]] for k in range(0, len(cells), a["cols"])])

    # Words ----------------------------------------------------------------------------------------------------------------------------
    def sentence(self) -> str:
        event = self.events[self.at]
        if not event.back:
            shapes = " and ".join(f"{name} {shape.shape}" for name, shape in event.operands)
            stretched = [name for name, one in event.operands if self._stretched(event, one)]
            more = (
                f" {' and '.join(stretched)} {'is' if len(stretched) == 1 else 'are'} stretched to {event.result.shape}."
                if stretched
                else ""
            )
            makes = "make" if len(event.operands) > 1 else "makes"
            return f"Forward, {event.name} = {event.expr}: {shapes} {makes} {event.result.shape}.{more}"
        parts = []
        for share in event.shares:
            step = f"{share.to} gets {share.rule}, {share.raw.shape}"
            if share.axes:
                axes = "axis" if len(share.axes) == 1 else "axes"
                step += f", summed over {axes} {', '.join(map(str, share.axes))} to {share.fits.shape}"
            parts.append(step)
        return f"Back through {event.expr}: g has {event.name}'s shape {event.result.shape}. {'; '.join(parts)}."

    def _stretched(self, event: Event, operand: Table) -> bool:
        """Was this operand broadcast? Its share has the result's shape and not its own."""
        twin = next((e for e in self.events if e.back and e.node == event.node), None)
        return twin is not None and any(s.axes and s.fits.shape == operand.shape for s in twin.shares)

    def shapes(self) -> list[tuple[str, str, str]]:
        """Each tensor in the order of the program: name, shape, shape of its gradient if the walk has come that far."""
        event = self.events[self.at]
        seen = self.at if event.back else -1
        reached: set[str] = set()
        for k in range(self.turn, seen + 1):
            reached |= {self.events[k].name, *(share.to for share in self.events[k].shares)}
        known = {e.node for e in self.events[: min(self.at + 1, self.turn)]}
        rows = []
        for i, result in self.made.items():
            if self.nodes[i]["kind"] == "constant":
                continue
            leaf = self.nodes[i]["kind"] == "leaf"
            grad = str(self.grads[i].shape) if i in self.grads and self._name(i) in reached else ""
            rows.append((self._name(i), str(result.shape) if leaf or i in known else "", grad))
        return rows

    def text(self) -> str:
        every = self.at
        self.at = len(self.events) - 1
        rows = [("tensor", "shape", "shape of its gradient"), *self.shapes()]
        wide = [max(len(row[k]) for row in rows) for k in (0, 1)]
        lines = [f"{a.ljust(wide[0])}  {b.ljust(wide[1])}  {c}".rstrip() for a, b, c in rows]
        for at in range(len(self.events)):
            self.at = at
            lines.append(self.sentence())
        self.at = every
        return "\n".join(lines)

    # The picture ----------------------------------------------------------------------------------------------------------------------
    def svg(self) -> str:
        event = self.events[self.at]
        out = (
            label(20, 34, "tensor", "t soft")
            + label(120, 34, "shape", "t soft")
            + label(214, 34, "its gradient", "t soft")
        )
        for k, (name, shape, grad) in enumerate(self.shapes()):
            line = 60.0 + 24 * k
            if name == event.name:
                out += tag("rect", "panel", x=12, y=line - 17, width=296, height=24, rx=5)
            out += (
                label(20, line, name[:12], "num t b")
                + label(120, line, shape, "num t fwd")
                + label(214, line, grad, "num t bwd")
            )
        bottom = 60.0 + 24 * len(self.made)
        left = 336.0
        head = f"{'◂ backward:' if event.back else 'forward ▸'} {event.expr}"
        out += label(left, 34, head, f"h {'bwd' if event.back else 'fwd'}")
        if not event.back:
            x, y = left, 64.0
            for name, operand in event.operands:
                body, w, h = draw_table(x, y, f"{name} {operand.shape}", operand, "fwd")
                out, x, bottom = out + body, x + w + 40, max(bottom, y + h)
            out += label(x - 26, 96, "→", "h", "middle")
            body, w, h = draw_table(x, y, f"{event.name} {event.result.shape}", event.result, "fwd")
            out += body
            right, bottom = x + w, max(bottom, y + h)
        else:
            body, w, h = draw_table(left, 64, f"g {event.result.shape}", event.result, "bwd")
            out, bottom, right = out + body, max(bottom, 64 + h), left + w
            x, y = left + w + 50, 64.0
            for share in event.shares:
                body, w, h = draw_table(x, y, f"to {share.to}: {share.rule} {share.raw.shape}", share.raw, "bwd")
                out, right = out + body, max(right, x + w)
                if share.axes:
                    name = f"Σ over {', '.join(map(str, share.axes))} → {share.fits.shape}"
                    beside = x + w + 40 + max(CELL_W * len(share.fits.rows[0]), 7.8 * len(name)) <= WIDE - 24
                    at, under = (x + w + 40, y) if beside else (x + 40, y + h + 14)
                    body, more, tall = draw_table(at, under, name, share.fits, "bwd")
                    out += body + label(at - 20, under + 34, "→", "h", "middle")
                    h, right = max(h, under - y + tall), max(right, at + more)
                y += h + 20
            bottom = max(bottom, y)
        return svg(max(820.0, right + 24), bottom + 18, out, self.sentence())


def draw_table(x: float, y: float, name: str, made: Table, colour: str) -> tuple[str, float, float]:
    """An array with its numbers, the larger the darker; its width and height."""
    out = label(x, y, name, f"num t b {colour}")
    rows = [row[:ROOM] for row in made.rows[:ROOM]]
    most = max((abs(v) for row in made.rows for v in row if v == v), default=0.0) or 1.0
    for i, row in enumerate(rows):
        for j, v in enumerate(row):
            left, top = x + CELL_W * j, y + 10 + CELL_H * i
            shade = 0.06 + 0.34 * min(1.0, abs(v) / most) if v == v and v else 0.0
            fill = f"fill:var(--{colour});fill-opacity:{shade:.2f}"
            out += tag("rect", x=left, y=top, width=CELL_W, height=CELL_H, style=fill)
            out += tag("rect", "grid", x=left, y=top, width=CELL_W, height=CELL_H, fill="none")
            out += label(left + CELL_W / 2, top + 16.5, number(v, 4), "num t", "middle")
    wide, high = CELL_W * max((len(row) for row in rows), default=1), 10 + CELL_H * max(1, len(rows))
    if not rows or len(made.rows) > ROOM or any(len(row) > ROOM for row in made.rows):
        out += label(x, y + high + 16, "… and more", "t soft")
        high += 20
    return out, max(wide, 7.8 * len(name)), high + 14


@lesson
class shape_flow(Figure):
    """Step through a program on tensors: shapes forward, then gradient shapes backward, with every broadcast undone by a sum.

    f: your own function of Tensors that ends in one number, or a program as text; the course's linear layer unless given.
    inputs: a number or nested lists for each name. step: where to stand first (negative counts from the end).
    Returns a widget, or one sentence that says what is wrong.

    >>> print(shape_flow("y = x * 2; L = y", x=3).text().splitlines()[1])
    x       ()     ()
    """

    f = Given(None)
    step = Moments("step", "start")
    inputs = Inputs(fixed=True)
    flow: Any = None

    def setup(self) -> None:
        if self.f is not None and not isinstance(self.f, str) and not callable(self.f):
            raise TypeError(
                f"it needs a function of Tensors that ends in one number. It was given {type(self.f).__name__}."
            )
        f, inputs = (canned, {**CANNED, **self.inputs}) if self.f is None else (self.f, self.inputs)
        self.flow = _Flow(
            f, {name: value.tolist() if hasattr(value, "tolist") else value for name, value in inputs.items()}
        )
        self.last = len(self.flow.events) - 1

    def _now(self) -> _Flow:
        self.flow.at = self.step
        return self.flow

    def sentence(self) -> str:
        return self._now().sentence()

    def draw(self) -> str:
        return self._now().svg()

    def table(self) -> show.Table:
        return show.Table(("tensor", "shape", "shape of its gradient"), self._now().shapes())

    def text(self) -> str:
        return self.flow.text()
