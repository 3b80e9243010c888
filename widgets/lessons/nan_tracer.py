"""The nan tracer: where a computation first stops being finite, on the way forward and on the way back, and what anomaly mode says.

What lives here: `nan_tracer(f, **inputs)`. It listens to the engine: a handler sees each operation, and the backward loop is driven node by
node. Each local derivative in a reason is the node's own rule, asked with 1. What does not: anomaly mode (minigrad.autograd.anomaly).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import minigrad as torch
from minigrad.autograd import engine
from minigrad.core.dispatch import handling
from minigrad.core.node import AccumulateGrad
from minigrad.tensors.create import tensor
from widgets.layout import shorten

from ..show import Table
from .kit import Figure, Inputs, Program, lesson
from .lesson import label, number, svg, tag
from .stepper import ProgramError
from .tensor_program import inputs_of, run

CANNED = "a = sqrt(x); y = a * 0"
MOST = 40  # operations that have room
ROW = 25.0
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


def show(array: Any, at: tuple = ()) -> str:
    """A number; of several the one at `at`, or a few of them."""
    a = np.asarray(array)
    if a.size == 1:
        value = float(a.reshape(-1)[0])
    else:
        index = tuple(i if n > 1 else 0 for i, n in zip(at[len(at) - a.ndim :], a.shape, strict=False))
        if not at and a.size <= 3 and a.ndim == 1:
            return "[" + ", ".join(show(entry) for entry in a) + "]"
        if not at or len(index) != a.ndim:
            return "shape (" + ", ".join(map(str, a.shape)) + ("," if a.ndim == 1 else "") + ")"
        try:
            value = float(a[index])
        except IndexError:
            return "several"
    return "∞" if value == np.inf else "−∞" if value == -np.inf else "nan" if value != value else number(value, 4)


def place(array: Any, bad: str) -> tuple:
    """The first position of what is bad."""
    a = np.asarray(array)
    if a.size == 1 or not bad:
        return ()
    wrong = np.isnan(a) if bad == "nan" else np.isinf(a)
    return tuple(int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape))


class Event(NamedTuple):
    name: str  # the learner's name of the result, or the edge
    what: str  # "log(0) = −∞", "0 × ∞ = nan"
    bad: str  # "", "inf", "nan"
    fresh: bool  # nothing that came in was bad in the same way
    why: str  # one sentence where fresh


def _why_forward(op: str, inputs: list, at: tuple, bad: str) -> str:
    numbers = [show(a, at) for a in inputs]
    if bad == "nan" and op == "mul" and {"0", "−0"} & set(numbers) and {"∞", "−∞"} & set(numbers):
        return "0 times infinity has no value."
    if bad == "nan" and op in ("add", "sub", "rsub") and all("∞" in n for n in numbers):
        return "Infinity minus infinity has no value."
    if bad == "nan" and op == "div":
        return "Zero divided by zero has no value." if "∞" not in "".join(numbers) else "Infinity divided by infinity has no value."
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

        def listen(op, inputs, params):
            out = op(*inputs, *params)
            operands = inputs[0] if op.tensor_list else inputs
            seen.append((op.name, [*(getattr(x, "array", x) for x in operands), *(p for p in params if isinstance(p, (int, float)))], out))
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
            self.forward.append(Event(name, f"{_call(op, inputs, at)} = {show(first.array, at)}", bad, fresh, why))
        self.backward = list(self._back(root, of_node, {t.edge[0]: n for n, t in named.items() if t.edge} | _leaves(named)))
        self.grads = {name: named[name].grad for name in self.inputs if name in named}

    def _back(self, root: Any, of_node: dict, names: dict) -> Iterable[Event]:
        tainted: dict[Any, set[str]] = {}
        one = torch.ones_like(root.detach())
        for node, g, sent in engine.steps([(root.edge, one)], keep_graph=True):
            here = names.get(node) or of_node.get(node, node.name())
            bad = kind_of(g) if g is not None and not isinstance(g, list) else ""
            if bad and bad not in tainted.get(node, set()):
                total = show(g, place(g, bad))
                yield Event(f"at {here}", f"what arrives adds up to {total}", bad, True, "Infinity minus infinity has no value.")
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
                came, factor, went = show(g, at), show(local[slot], at), show(out, at)
                why = ""
                if fresh and now == "nan":
                    zero = came in ("0", "−0") and "∞" in factor or factor in ("0", "−0") and "∞" in came
                    why = f"The rule of {node.name()} has " + ("0 times infinity." if zero else "no value here.")
                elif fresh:
                    why = f"The slope of {node.name()} is infinite here." if "∞" in factor else "The product is too large."
                yield Event(f"{here} → {to}", f"{came} × {factor} = {went}", now, fresh, why)

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
            found = self.first(bad)
            if found:
                way, event = found
                where = f"at {event.name}" if way == "forward" and event.name != "·" else event.name if way == "backward" else ""
                out.append(f"First {what}: {way} {where}, {event.what}. {event.why}".replace(" ,", ",").strip())
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
        return "Anomaly mode does not raise: " + ("it looks for nan only, and inf is none." if inf else "there is nothing to report.")

    def text(self) -> str:
        lines = []
        for title, events in (("forward", self.forward), ("backward", self.backward)):
            lines.append(title)
            wide = max((len(e.name) for e in events), default=0)
            for e in events:
                mark = f"   ✗ first {e.bad}" if e.fresh and self.first(e.bad) == (title, e) else "   · " + e.bad if e.bad else ""
                lines.append(f"  {e.name.ljust(wide)}  {e.what}{mark}")
        return "\n".join([*lines, *self.sentences(), self.verdict()])

    def svg(self, words: bool = True) -> str:
        """The picture; with the sentences below it where no kernel says them."""
        rows = max(len(self.forward), len(self.backward))
        top, bottom = 58.0, 58.0 + ROW * rows + 8
        out = _LOOK
        ways = (("forward, in order", 18.0, self.forward, "fwd"), ("backward, in order", 418.0, self.backward, "bwd"))
        for title, x, events, colour in ways:
            out += tag("rect", "panel", x=x - 8, y=14, width=392, height=bottom - 14, rx=9) + label(x + 6, 38, title, f"h {colour}")
            way = title.split(",")[0]
            for k, event in enumerate(events):
                y = top + ROW * k
                first = event.fresh and self.first(event.bad) == (way, event)
                if event.bad:
                    out += tag("rect", "first" if first else "later", x=x, y=y - 3, width=376, height=ROW - 4, rx=5)
                out += label(x + 8, y + 12, shorten(event.name, 17), "num t b") + label(x + 144, y + 12, shorten(event.what, 20), "num t")
                if event.bad:
                    mark = f"✗ first {event.bad}" if first else f"· {event.bad}"
                    out += label(x + 368, y + 12, mark, "t b bad" if first else "t bad", "end")
        y = bottom + 24
        lines = [*((s, "t b") for s in self.sentences()), (self.verdict(), "t soft")] if words else []
        for k, (line, cls) in enumerate(lines):
            out += label(18, y + 21 * k, line[:118], cls)
        return svg(818, y + 21 * len(lines) - (14 if not words else 0), out, " ".join([*self.sentences(), self.verdict()]))


def _leaves(named: dict[str, Any]) -> dict:
    """The nodes that gather the leaves' gradients, by the leaves' names."""
    return {torch.autograd.graph.get_gradient_edge(t)[0]: name for name, t in named.items() if t.is_leaf and t.requires_grad}


def _call(op: str, inputs: list, at: tuple) -> str:
    numbers = [show(a, at) for a in inputs]
    if op == "rsub" and len(numbers) == 2:
        op, numbers = "sub", numbers[::-1]
    if op in _SIGN and len(numbers) == 2:
        second = f"({numbers[1]})" if numbers[1][0] == "−" and len(numbers[1]) > 1 else numbers[1]
        return f"{numbers[0]} {_SIGN[op]} {second}"
    return f"{op}({', '.join(numbers)})"


@lesson
class nan_tracer(Figure):
    """Run a program and name the first operation that made an infinity or a nan, forward and backward, and why.

    f: a program as text, which can then be edited in the widget, or your own function of Tensors that returns one number.
    inputs: numbers or lists to start from, for example x=0; what is not given is 1. Numbers are float32, as torch.tensor makes them.

        nan_tracer()
        nan_tracer("p = exp(x); y = p - p", x=100)
    """

    f = Program(CANNED, "a program such as 'y = log(x)', or a function of Tensors")
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
        rows = []
        for way, events in (("forward", self.tracer.forward), ("backward", self.tracer.backward)):
            for e in events:
                rows.append((way, e.name, e.what, f"✗ first {e.bad}" if e.fresh and self.tracer.first(e.bad) == (way, e) else e.bad))
        return Table(("way", "where", "what", ""), rows)

    def text(self) -> str:
        return self.tracer.text()
