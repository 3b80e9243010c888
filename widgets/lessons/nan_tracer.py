"""The nan tracer: where a computation first stops being finite, on the way forward and on the way back, and what anomaly mode says.

What lives here: `nan_tracer(f, **inputs)`. It listens to the engine: a handler sees each operation, and the backward loop is driven node
by node. Each local derivative in a reason is the node's own rule, asked with 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import minigrad as torch
from minigrad.autograd import engine
from minigrad.core.dispatch import handling
from minigrad.core.node import AccumulateGrad
from minigrad.tensors.create import tensor
from widgets.layout import shorten

from ..show import Table
from .kit import Figure, Inputs, ProgramText, lesson
from .lesson import label, number, svg, tag
from .stepper import ProgramError
from .tensor_program import inputs_of, run

CANNED = "a = sqrt(x); y = a * 0"
MOST = 40  # operations that have room
SHORT = 4  # a vector of at most so many entries is shown whole
ROW = 25.0
HALF, FULL = 20, 80  # characters of a computation in half the width, and in all of it
_SIGN = {"add": "+", "sub": "−", "mul": "×", "div": "÷"}
_LOOK = (
    "<style>.mgl .first{fill:var(--bad-soft);stroke:var(--bad);stroke-width:1.5}"
    ".mgl .later{fill:none;stroke:var(--bad);stroke-dasharray:3 3}</style>"
)


def kind_of(array: Any) -> str:
    """Which of nan and inf is in it: the word, or "" for finite numbers. nan is the worse one."""
    a = np.asarray(array)
    if a.dtype.kind != "f":
        return ""
    return "nan" if np.isnan(a).any() else "inf" if np.isinf(a).any() else ""


def short(array: Any) -> bool:
    """Whether there is room for all of it: a number, or a vector of a few entries."""
    a = np.asarray(array)
    return a.size == 1 or a.ndim == 1 and a.size <= SHORT


def show(array: Any, at: tuple = ()) -> str:
    """A number; of several the one at `at`, or all of a short vector, or the shape."""
    a = np.asarray(array)
    if a.size == 1:
        value = float(a.reshape(-1)[0])
    elif not at and short(a):
        return "[" + ", ".join(show(entry) for entry in a) + "]"
    else:
        index = tuple(i if n > 1 else 0 for i, n in zip(at[len(at) - a.ndim :], a.shape, strict=False))
        if not at or len(index) != a.ndim:
            return "shape (" + ", ".join(map(str, a.shape)) + ("," if a.ndim == 1 else "") + ")"
        try:
            value = float(a[index])
        except IndexError:
            return "several"
    return "∞" if value == np.inf else "−∞" if value == -np.inf else "nan" if value != value else number(value, 4)


def place(array: Any, bad: str) -> tuple:
    """The first position of a nan, or of an inf."""
    a = np.asarray(array)
    if a.size == 1 or not bad:
        return ()
    wrong = np.isnan(a) if bad == "nan" else np.isinf(a)
    return tuple(int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape))


class Event(NamedTuple):
    name: str  # the learner's name of the result, or the edge
    what: str  # "log([1, 0]) = [0, −∞]", "0 × ∞ = nan"
    bad: str  # "", "inf", "nan"
    fresh: bool  # nothing that came in was bad in the same way
    why: str  # one sentence where fresh
    entry: str = ""  # of a tensor, the first entry that is bad: "1", "(0, 2)"
    there: str = ""  # the same computation at that entry: "log(0) = −∞"

    @property
    def spot(self) -> str:
        """The single computation that produced the first nan or inf."""
        return f"entry {self.entry}: {self.there}" if self.entry else self.what


def _event(name: str, say: Callable[[tuple], str], arrays: list, at: tuple, bad: str, fresh: bool, why: str) -> Event:
    """An event whose computation `say(at)` words at one entry, and `say(())` as a whole."""
    if not at:
        return Event(name, say(()), bad, fresh, why)
    entry = str(at[0]) if len(at) == 1 else str(at)
    text = say(at)
    return Event(name, say(()) if all(map(short, arrays)) else f"entry {entry}: {text}", bad, fresh, why, entry, text)


def _why_forward(op: str, inputs: list, at: tuple, bad: str) -> str:
    numbers = [show(a, at) for a in inputs]
    if bad == "nan" and op == "mul" and {"0", "−0"} & set(numbers) and {"∞", "−∞"} & set(numbers):
        return "0 times infinity has no value."
    if bad == "nan" and op in ("add", "sub", "rsub") and all("∞" in n for n in numbers):
        return "Infinity minus infinity has no value."
    if bad == "nan" and op == "div":
        return (
            "Zero divided by zero has no value."
            if "∞" not in "".join(numbers)
            else "Infinity divided by infinity has no value."
        )
    if op == "log":
        return "The logarithm of 0 is minus infinity." if bad == "inf" else "A negative number has no logarithm."
    if bad == "nan" and op in ("sqrt", "rsqrt"):
        return "A negative number has no square root."
    if bad == "inf" and op in ("div", "reciprocal", "rsqrt"):
        return "A division by 0."
    if bad == "inf":
        return f"The result is too large for {np.asarray(inputs[0]).dtype}." if inputs else "The result is too large."
    return ""


class Tracer:
    """One program at one point: the events forward and backward, the first bad one of each kind, and anomaly mode's word."""

    def __init__(self, program: str | Callable, inputs: dict[str, Any]):
        self.program, self.inputs = program, {name: inputs.get(name, 1.0) for name in inputs_of(program)}
        if unknown := [name for name in inputs if name not in self.inputs]:
            raise ProgramError(f"the program has no input {unknown[0]}; it takes {', '.join(self.inputs)}.")
        with np.errstate(all="ignore"):
            self._trace()
            self.fires, self.message = self._anomaly()

    def _trace(self) -> None:
        seen: list[tuple[str, list, Any]] = []

        def listen(op: Any, inputs: Any, params: Any) -> Any:
            out = op(*inputs, *params)
            operands = inputs[0] if op.tensor_list else inputs
            seen.append(
                (
                    op.name,
                    [*(getattr(x, "array", x) for x in operands), *(p for p in params if isinstance(p, (int, float)))],
                    out,
                )
            )
            return out

        with handling(listen):
            root, named = run(self.program, self.inputs)
        if len(seen) > MOST:
            raise ProgramError(f"it runs {len(seen)} operations, and there is room for {MOST}: trace a smaller part.")
        self.result = root.detach()
        names = {id(thing): name for name, thing in reversed(list(named.items()))}
        self.forward: list[Event] = []
        of_node: dict[Any, str] = {}
        for op, inputs, out in seen:
            first = out[0] if isinstance(out, tuple) else out
            name = names.get(id(first), "·")
            if first.grad_fn is not None:
                of_node.setdefault(first.grad_fn, name if name != "·" else op)
            bad, at = kind_of(first.array), place(first.array, kind_of(first.array))
            fresh = bool(bad) and not any(kind_of(a) == bad for a in inputs)
            why = _why_forward(op, inputs, at, bad) if fresh else ""
            say = partial(_computation, op, inputs, first.array)
            self.forward.append(_event(name, say, [*inputs, first.array], at, bad, fresh, why))
        self.backward = list(
            self._back(root, of_node, {t.edge[0]: n for n, t in named.items() if t.edge} | _leaves(named))
        )
        self.grads = {name: named[name].grad for name in self.inputs if name in named}

    def _back(self, root: Any, of_node: dict, names: dict) -> Iterable[Event]:
        tainted: dict[Any, set[str]] = {}
        one = torch.ones_like(root.detach())
        for node, g, sent in engine.steps([(root.edge, one)], keep_graph=True):
            name = names.get(node) or of_node.get(node, node.name())
            bad = kind_of(g) if g is not None and not isinstance(g, list) else ""
            if bad and bad not in tainted.get(node, set()):
                total = show(g, place(g, bad))
                yield Event(
                    f"at {name}",
                    f"the contributions add up to {total}",
                    bad,
                    True,
                    "Infinity minus infinity has no value.",
                )
            if isinstance(node, AccumulateGrad) or isinstance(g, list) or not sent:
                continue
            local = node.run(np.ones_like(g), node.edges)
            for slot, (edge, out) in enumerate(zip(node.edges, sent, strict=True)):
                if edge is None or out is None:
                    continue
                to = names.get(edge[0]) or of_node.get(edge[0], edge[0].name())
                now, at = kind_of(out), place(out, kind_of(out))
                if now:
                    tainted.setdefault(edge[0], set()).add(now)
                fresh = bool(now) and now != bad
                came, factor = show(g, at), show(local[slot], at)
                why = ""
                if fresh and now == "nan":
                    zero = came in ("0", "−0") and "∞" in factor or factor in ("0", "−0") and "∞" in came
                    why = f"The rule of {node.name()} has " + ("0 times infinity." if zero else "no value here.")
                elif fresh:
                    why = (
                        f"The slope of {node.name()} is infinite here."
                        if "∞" in factor
                        else "The product is too large."
                    )
                say = partial(_product, g, local[slot], out)
                yield _event(f"{name} → {to}", say, [g, local[slot], out], at, now, fresh, why)

    def _anomaly(self) -> tuple[bool, str]:
        """The same program in a real run of anomaly mode."""
        with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
            warnings.simplefilter("ignore")
            root, _ = run(self.program, self.inputs)
            try:
                root.backward(tensor(1.0))
            except RuntimeError as error:
                return True, str(error).splitlines()[0]
        return False, ""

    # Words ------------------------------------------------------------------------------------------------------------------------
    def first(self, bad: str) -> tuple[str, Event] | None:
        """Where the first nan or inf was made: which way, and the event."""
        for way, events in (("forward", self.forward), ("backward", self.backward)):
            for event in events:
                if event.bad == bad and event.fresh:
                    return way, event
        return None

    def sentences(self) -> list[str]:
        out = []
        for bad, what in (("inf", "infinity"), ("nan", "nan")):
            result = self.first(bad)
            if result:
                way, event = result
                where = (
                    f"at {event.name}"
                    if way == "forward" and event.name != "·"
                    else event.name
                    if way == "backward"
                    else ""
                )
                out.append(f"First {what}: {way} {where}, {event.spot}. {event.why}".replace(" ,", ",").strip())
        if not out:
            out.append("Every value and every gradient is finite.")
        return out

    def verdict(self) -> str:
        if self.fires:
            return f"Anomaly mode raises: {self.message}"
        if any(kind_of(g.array) == "nan" for g in self.grads.values() if g is not None):
            return "Anomaly mode does not raise: no backward rule returned nan; the sum did."
        nan, inf = self.first("nan"), self.first("inf")
        if nan:
            return "Anomaly mode does not raise: the nan is in a value, and no backward rule returned one."
        return "Anomaly mode does not raise: " + (
            "it looks for nan only, and inf is none." if inf else "there is nothing to report."
        )

    def mark(self, way: str, event: Event) -> str:
        """The remark beside an event: that it produced the first nan or inf, or that it has one."""
        if not event.bad:
            return ""
        return f"✗ first {event.bad}" if self.is_first(way, event) else f"· {event.bad}"

    def is_first(self, way: str, event: Event) -> bool:
        """Whether the first nan, or inf, of the run arises in this event."""
        return bool(event.bad) and event.fresh and self.first(event.bad) == (way, event)

    def text(self) -> str:
        lines = []
        for title, events in (("forward", self.forward), ("backward", self.backward)):
            lines.append(title)
            wide = max((len(e.name) for e in events), default=0)
            for e in events:
                mark = self.mark(title, e)
                lines.append(f"  {e.name.ljust(wide)}  {e.what}{'   ' + mark if mark else ''}")
        return "\n".join([*lines, *self.sentences(), self.verdict()])

    def svg(self, words: bool = True) -> str:
        """The picture, with the sentences below it where no kernel says them. Vectors need the whole width, numbers half of it."""
        wide = any(len(e.what) > HALF for e in (*self.forward, *self.backward))
        out, bottom = _LOOK, 14.0
        for way, events, colour in (("forward", self.forward, "fwd"), ("backward", self.backward, "bwd")):
            beside = way == "backward" and not wide
            rows = len(events) if wide else max(len(self.forward), len(self.backward))
            x, y, width = 18.0 + 400 * beside, 14.0 if beside else bottom, 776.0 if wide else 376.0
            out += tag("rect", "panel", x=x - 8, y=y, width=width + 16, height=44 + ROW * rows + 8, rx=9)
            out += label(x + 6, y + 24, f"{way}, in order", f"h {colour}")
            for k, event in enumerate(events):
                out += self._row(way, event, x, y + 44 + ROW * k, width, wide)
            bottom = y + 44 + ROW * rows + 8 + (12 if wide and way == "forward" else 0)
        y = bottom + 24
        lines = [*((s, "t b") for s in self.sentences()), (self.verdict(), "t soft")] if words else []
        for k, (line, cls) in enumerate(lines):
            out += label(18, y + 21 * k, line[:118], cls)
        return svg(
            818, y + 21 * len(lines) - (14 if not words else 0), out, " ".join([*self.sentences(), self.verdict()])
        )

    def _row(self, way: str, event: Event, x: float, y: float, width: float, wide: bool) -> str:
        mark = self.mark(way, event)
        room = HALF if not wide else FULL - len(mark) - 2 * bool(mark)
        first = self.is_first(way, event)
        out = (
            tag("rect", "first" if first else "later", x=x, y=y - 3, width=width, height=ROW - 4, rx=5) if mark else ""
        )
        out += label(x + 8, y + 12, shorten(event.name, 17), "num t b") + label(
            x + 144, y + 12, shorten(event.what, room), "num t"
        )
        return out + (label(x + width - 8, y + 12, mark, "t b bad" if first else "t bad", "end") if mark else "")


def _leaves(named: dict[str, Any]) -> dict:
    """The nodes that gather the leaves' gradients, by the leaves' names."""
    return {
        torch.autograd.graph.get_gradient_edge(t)[0]: name for name, t in named.items() if t.is_leaf and t.requires_grad
    }


def _call(op: str, inputs: list, at: tuple) -> str:
    numbers = [show(a, at) for a in inputs]
    if op == "rsub" and len(numbers) == 2:
        op, numbers = "sub", numbers[::-1]
    if op in _SIGN and len(numbers) == 2:
        second = f"({numbers[1]})" if numbers[1][0] == "−" and len(numbers[1]) > 1 else numbers[1]
        return f"{numbers[0]} {_SIGN[op]} {second}"
    return f"{op}({', '.join(numbers)})"


def _computation(op: str, inputs: list, out: Any, at: tuple) -> str:
    return f"{_call(op, inputs, at)} = {show(out, at)}"


def _product(upstream: Any, local: Any, downstream: Any, at: tuple) -> str:
    return f"{show(upstream, at)} × {show(local, at)} = {show(downstream, at)}"


@lesson
class nan_tracer(Figure):
    """Run a program and name the first operation that made an infinity or a nan, forward and backward, and why.

    f: a program as text, which can then be edited in the widget, or your own function of Tensors that returns one number.
    inputs: numbers or lists to start from, for example x=0; what is not given is 1. Numbers are float32, as torch.tensor makes them.

        nan_tracer()
        nan_tracer("p = exp(x); y = p - p", x=100)
    """

    f = ProgramText(CANNED, "a program such as 'y = log(x)', or a function of Tensors")
    inputs = Inputs(typed=True)
    tracer: Any = None  # a Tracer; None until setup

    def setup(self) -> None:
        if self.f == CANNED and not self.inputs:
            self.inputs = {"x": 0.0}
        self.tracer = Tracer(self.f, self.inputs)
        self.inputs = self.tracer.inputs

    def moved(self, name: str) -> None:
        if name == "f":
            self.inputs = {n: value for n, value in self.inputs.items() if n in inputs_of(self.f)}
        self.tracer = Tracer(self.f, self.inputs)
        self.inputs = self.tracer.inputs

    def sentence(self) -> str:
        return " ".join([*self.tracer.sentences(), self.tracer.verdict()])

    def draw(self) -> str:
        return self.tracer.svg(words=False)

    def still(self) -> str:
        return self.tracer.svg()

    def table(self) -> Table:
        ways = (("forward", self.tracer.forward), ("backward", self.tracer.backward))
        rows = [(way, e.name, e.what, self.tracer.mark(way, e)) for way, events in ways for e in events]
        return Table(("way", "where", "what", ""), rows)

    def text(self) -> str:
        return self.tracer.text()
