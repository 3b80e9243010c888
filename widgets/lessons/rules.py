"""`rules(op, x, y, g)`: an operation of either engine, its curve with the tangent at x, its gradients, and the saved values.

Values and gradients are those of a forward and a backward pass, and each gradient is compared with a central difference. Formulas are
written by minigrad/tracing/ from the rows of minigrad/ops/.
"""

from __future__ import annotations

import copy
import inspect
import math
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.core.op import TABLE, Op
from minigrad.tensors.create import tensor
from minigrad.tracing.formulas import RULES, Rule, Text, rule_for
from minigrad.tracing.tensor_formulas import flow

from ..rule_card import SPAN, at, table_row
from ..show import Table
from .kit import Choice, Control, Field, Figure, Given, Slider, lesson
from .lesson import Judgement, label, number, svg, tag

NUMBERS, TENSORS = "numbers (Value)", "tensors"
LEFT, TOP, WIDE, HIGH = 20, 20, 430, 240
STEP = 1e-5  # of the central differences
LEAST = {"log": 0.05, "sqrt": 0.0, "log2": 0.05, "log10": 0.05, "rsqrt": 0.05, "acosh": 1.0, "logit": 0.02}
KINDS = {
    "elementwise": "each entry of the result depends on one entry of each input", "linear": "linear: its rule needs no values",
    "multilinear": "linear in each input", "discrete": "no derivative anywhere: nothing flows back", "general": "a rule of its own",
}  # fmt: skip


class _Numbers:
    """A row of the scalar engine: always a curve."""

    curve = True

    def __init__(self, rule: Rule):
        self.rule, self.name = rule, rule.name
        self.inputs = ["x", "y"][: len(rule.locals)]
        self.texts = [Text(name) for name in self.inputs]
        written = rule.write(rule.expr, *self.texts)
        self.formula = written.text
        self.slopes = [rule.write(one, *self.texts, out=written).text for one in rule.locals]

    def value(self, *values: float) -> float:
        return at(self.rule, list(values))[0]

    def sent(self, values: list[float], g: float) -> list[float | None]:
        return [None if slope is None else slope * g for slope in at(self.rule, values)[1]]

    def rows(self) -> list[tuple[str, str, str]]:
        keeps = [
            "this slope, one number" if saved else "nothing: it is the same everywhere" for saved in self.rule.saves
        ]
        return [
            (n, "g" if s == "1" else f"g × {s}" if s.isalnum() else f"g × ({s})", k)
            for n, s, k in zip(self.inputs, self.slopes, keeps, strict=True)
        ]


class _Row:
    """A row of the derivatives table of tensors: a curve if it can be called with plain numbers only."""

    def __init__(self, op: Op, key: str):
        self.op, self.name = op, key
        self.inputs = [name for name, rule in op.rules.items() if rule is not None]
        self.formula = f"{key}({', '.join(op.inputs)})"
        self.curve = op.kind == "elementwise" and 1 <= len(op.inputs) <= 2 and len(self.inputs) == len(op.inputs)
        if self.curve:
            try:
                self.curve = all(
                    math.isfinite(s) for s in self.sent([0.5, 2.0][: len(self.inputs)], 1.0) if s is not None
                )
            except Exception:  # the row wants more than numbers, such as an exponent or a bound
                self.curve = False

    def value(self, *values: float) -> float:
        with np.errstate(all="ignore"):
            return float(self.op.forward(*[np.float64(v) for v in values]))

    def sent(self, values: list[float], g: float) -> list[float | None]:
        leaves = [tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
        with np.errstate(all="ignore"):
            self.op(*leaves).backward(tensor(g, dtype=torch.float64))
        return [None if leaf.grad is None else leaf.grad.item() for leaf in leaves]

    def rows(self) -> list[tuple[str, str, str]]:
        labels = {name: Text(name) for name in (*self.op.inputs, *(() if self.op.outputs is ... else self.op.outputs))}
        rows = []
        for name, rule in self.op.rules.items():
            if rule is not None:
                message = flow(self.op, rule, labels, {}, None) or _typed(rule, name)
                message = "an error: this has no derivative" if message.startswith("missing(") else message
                rows.append((name, message, ", ".join(self.op.saves_of(rule)) or "nothing"))
        return rows


def _typed(rule: Callable, name: str) -> str:
    """A rule as it is typed in the table, or where it stands."""
    try:
        lines = inspect.getsource(rule).strip().splitlines()
    except (OSError, TypeError):
        return "a rule of its own"
    first = lines[0]
    if len(lines) == 1 and f"{name}=lambda" in first:
        body = first.split(f"{name}=lambda", 1)[1].split(":", 1)[1].strip()
        depth = 0
        for k, sign in enumerate(body):
            depth += (sign in "([{") - (sign in ")]}")
            if depth < 0 or (depth == 0 and sign == ","):
                return body[:k]
        return body
    return f"the function {getattr(rule, '__name__', '')}".replace("<lambda>", "in its row")


def _find(name: str, engine: str | None) -> _Numbers | _Row:
    if engine != TENSORS:
        if (rule := rule_for(name, 2) or rule_for(name, 1)) is not None:
            return _Numbers(rule)
        if engine == NUMBERS:
            raise ValueError(f"numbers have no operation {name!r}. They have {', '.join(RULES)}; tensors have more.")
    op = table_row(name)
    if op is None:
        raise ValueError(
            f"there is no operation {name!r}. Numbers have {', '.join(RULES)}; for tensors choose from the menu."
        )
    return _Row(op, next(key for key, row in TABLE.items() if row is op))


class _Rules:
    def __init__(self, name: str, x: float, y: float, g: float, engine: str | None = None):
        self.row = _find(name, engine)
        self.move(x, y, g)

    @property
    def engine(self) -> str:
        return NUMBERS if isinstance(self.row, _Numbers) else TENSORS

    def move(self, x: float, y: float, g: float) -> None:
        self.x, self.y, self.g = float(x), float(y), float(g)
        if not all(map(math.isfinite, (self.x, self.y, self.g))):
            raise ValueError("x, y and g must be finite numbers.")
        self.values = [self.x, self.y][: len(self.row.inputs)]
        self.out, self.sent, self.differences = math.nan, [], []
        if self.row.curve:
            self.out = self._value(*self.values)
            if math.isfinite(self.out):
                self.sent = self.row.sent(self.values, self.g)
                self.differences = [self.g * self._difference(k) for k in range(len(self.values))]

    def span(self) -> tuple[float, float]:
        low, high = SPAN.get(self.row.name, (-3.0, 3.0))
        return LEAST.get(self.row.name, low), high

    def _value(self, *values: float) -> float:
        try:
            return float(self.row.value(*values))
        except (ArithmeticError, ValueError):  # outside of where the operation is defined
            return math.nan

    def _difference(self, k: int) -> float:
        ends = [self._value(*(v + sign * STEP * (i == k) for i, v in enumerate(self.values))) for sign in (1, -1)]
        return (ends[0] - ends[1]) / (2 * STEP)

    def agrees(self, k: int) -> bool:
        sent, nudged = self.sent[k] or 0.0, self.differences[k]
        return math.isfinite(nudged) and math.isclose(sent, nudged, rel_tol=1e-5, abs_tol=1e-7)

    # Words ----------------------------------------------------------------------------------------------------------------------------
    def sentence(self) -> str:
        if not self.row.curve:
            kind = KINDS[str(self.row.op.kind)] if isinstance(self.row, _Row) else ""
            return f"{self.row.formula}: {kind}."
        place = ", ".join(f"{n} = {number(v, 4)}" for n, v in zip(self.row.inputs, self.values, strict=True))
        if not math.isfinite(self.out):
            return Judgement(False, f"{self.row.formula} has no finite value at {place}. Move the slider.")
        gets = ", ".join(f"{n} receives {self._sent(k)}" for k, n in enumerate(self.row.inputs))
        kink = not all(map(self.agrees, range(len(self.sent))))
        end = " Differences disagree, because at a kink or an edge the rule is a convention." if kink else ""
        return f"At {place}, out is {number(self.out, 4)}. With g = {number(self.g, 4)} from upstream, {gets}.{end}"

    def _sent(self, k: int) -> str:
        return number(self.sent[k] or 0.0, 4)

    def text(self) -> str:
        lines = [f"{self.row.formula}    engine: {self.engine}"]
        for name, rule, keeps in self.row.rows():
            lines.append(f"  {name} gets {rule}    keeps {keeps}")
        for k, name in enumerate(self.row.inputs if self.sent else []):
            lines.append(f"  {name}: by the rule {self._sent(k)}, by differences {number(self.differences[k], 4)}")
        return "\n".join([*lines, self.sentence()])

    # The picture ----------------------------------------------------------------------------------------------------------------------
    def svg(self) -> str:
        left = LEFT + WIDE + 30 if self.row.curve else LEFT
        out = self._curve() if self.row.curve else ""
        rows = self.row.rows()
        out += label(left, 40, f"out = {self.row.formula}", "num h")
        y = 68
        if self.row.curve:
            out += label(left, y, f"out is {number(self.out, 4)}", "num t fwd b")
            out += label(left + 150, y, f"g = {number(self.g, 4)} from upstream", "num t bwd b")
            y += 14
        width = 350 if self.row.curve else 760
        for k, (name, rule, keeps) in enumerate(rows):
            parts = ((f"{name} gets {rule}", "num t"), (f"keeps {keeps}", "num t soft"))
            lines = [(line, cls) for part, cls in parts for line in textwrap.wrap(part, width // 8)]
            live = k < len(self.sent)
            high = 20 + 18 * len(lines) + 40 * live
            out += tag("rect", "panel", x=left, y=y, width=width, height=high, rx=8)
            for n, (line, cls) in enumerate(lines):
                out += label(left + 14, y + 22 + 18 * n, line, cls)
            if live:
                below = y + 26 + 18 * len(lines)
                out += label(left + 14, below, f"now {self._sent(k)}", "num v b bwd")
                mark = "✓ the same" if self.agrees(k) else "✗ not the same"
                out += label(
                    left + 14, below + 19, f"by differences {number(self.differences[k], 4)}  {mark}", "num t soft"
                )
            y += high + 10
        if not rows:
            out += label(left, y, "no rule: nothing flows back", "t")
            y += 24
        return svg(left + width + 20, max(y + 8, 300 if self.row.curve else 100), out, self.sentence())

    def _curve(self) -> str:
        low, high = self.span()
        low, high = min(low, self.x), max(high, self.x)
        xs = [low + (high - low) * k / 200 for k in range(201)]
        ys = [self._value(x, *self.values[1:]) for x in xs]
        finite = sorted(y for y in ys if math.isfinite(y))
        frame = tag("rect", "panel", x=LEFT, y=TOP, width=WIDE, height=HIGH, rx=6)
        if not finite:
            return frame
        bottom, top = finite[len(finite) // 40], finite[-1 - len(finite) // 40]
        if math.isfinite(self.out):
            bottom, top = min(bottom, self.out), max(top, self.out)
        pad = (top - bottom) * 0.12 or 1.0
        bottom, top = bottom - pad, top + pad

        def place(x: float, y: float) -> tuple[float, float]:
            return LEFT + (x - low) / (high - low) * WIDE, TOP + HIGH - (y - bottom) / (top - bottom) * HIGH

        out = frame + tag(
            "defs", "", tag("clipPath", "", tag("rect", x=LEFT, y=TOP, width=WIDE, height=HIGH), id="mgl-rule")
        )
        zero = place(0, 0)
        if low < 0 < high:
            out += tag("path", "grid", d=f"M{zero[0]:.1f} {TOP}V{TOP + HIGH}")
        if bottom < 0 < top:
            out += tag("path", "grid", d=f"M{LEFT} {zero[1]:.1f}H{LEFT + WIDE}")
        d, pen, room = "", False, 2 * (top - bottom)
        for x, y in zip(xs, ys, strict=True):
            inside = math.isfinite(y) and bottom - room < y < top + room
            if inside:
                px, py = place(x, y)
                d += f"{'L' if pen else 'M'}{px:.1f} {py:.1f}"
            pen = inside
        inner = tag("path", "curve central", d=d)
        slope = (self.row.sent(self.values, 1.0)[0] or 0.0) if self.sent else math.nan
        if math.isfinite(slope):
            reach = (high - low) * 0.2 / math.hypot(1, slope * (high - low) / (top - bottom) * HIGH / WIDE)
            (x1, y1), (x2, y2), (px, py) = (place(self.x + s * reach, self.out + s * slope * reach) for s in (-1, 1, 0))
            inner += tag("path", "curve forward", d=f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}")
            inner += tag("circle", "forward dot", cx=px, cy=py, r=6)
        out += tag("g", "", inner, clip_path="url(#mgl-rule)")
        foot = TOP + HIGH + 18
        out += label(LEFT, foot, f"x = {number(low, 3)}", "t soft") + label(
            LEFT + WIDE, foot, number(high, 3), "t soft", "end"
        )
        if math.isfinite(slope):
            out += label(LEFT + WIDE / 2, foot, f"dashed: the tangent, slope {number(slope, 4)}", "t bwd", "middle")
        return out


# Numbers' names: tensors'
_FIRST = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "**": "pow",
    "max": "maximum",
    "min": "minimum",
}
_BACK = {plain: name for name, plain in _FIRST.items()}


class _At(Slider):
    """x, where the operation is defined."""

    def expand(self, figure: Any) -> dict:
        at = self._stretched(figure)
        if figure.state is not None:
            at = copy.copy(at)
            at.low, at.high = (
                min(low, figure.x) if k == 0 else max(low, figure.x) for k, low in enumerate(figure.state.span())
            )
        return {self.name: at}


@lesson
class rules(Figure):
    """The card of an operation: formula, curve and tangent at x, the gradient of each input for the upstream gradient g, saved values.

    op: a name such as "tanh", "*", "matmul"; x, y: the inputs; g: the upstream gradient. engine: "numbers" or "tensors"; unless given, the
    first of the two that has the operation. Returns a widget, or one sentence that says what is wrong.

    >>> print(rules("*", 3, 2, g=10).text().splitlines()[-1])
    At x = 3, y = 2, out is 6. With g = 10 from upstream, x receives 20, y receives 30.
    """

    op = Given("tanh")
    x = _At("x", 0.5, -4.0, 4.0, 0.05, stretch=True)
    y = Slider("y", 2.0, -4.0, 4.0, 0.05, stretch=True)
    g = Slider("g", 1.0, -3.0, 3.0, 0.1, stretch=True)
    engine = Given(None)
    state: Any = None  # a _Rules; None until setup

    def fields(self) -> dict[str, Field]:
        result = super().fields()
        if self.state is not None:
            result["engine"] = Choice({NUMBERS: "numbers", TENSORS: "tensors"}, "engine", "numbers").named("engine")
            result["op"] = Choice(self._names(), "operation", "tanh").named("op")
        return {name: result[name] for name in ("op", "x", "y", "g", "engine")}

    def controls(self) -> list[Control]:
        """Only sliders that matter to the operation."""
        curve = self.state.row.curve
        moving = {"x": curve, "y": curve and len(self.state.row.inputs) > 1, "g": curve}
        results = {control.name: control for control in super().controls() if moving.get(control.name, True)}
        return [results[name] for name in ("engine", "op", "x", "y", "g") if name in results]

    def _names(self) -> list[str]:
        # Last in the menu
        inner = [key for key in TABLE if "Backward" in key or key.startswith("_") or key.endswith("_backward")]
        names = list(RULES) if self.engine == "numbers" else [*(key for key in TABLE if key not in inner), *inner]
        return names if self.state.row.name in names else [self.state.row.name, *names]

    def setup(self) -> None:
        if not isinstance(self.op, str):
            raise TypeError(
                f"it needs the name of an operation, for example rules('tanh'). It was given {type(self.op).__name__}."
            )
        if self.engine not in (None, "numbers", "tensors"):
            raise ValueError(f"it knows two engines, 'numbers' and 'tensors', not {self.engine!r}.")
        self._run(self.op.strip())

    def _run(self, op: str) -> None:
        chosen = {"numbers": NUMBERS, "tensors": TENSORS, None: None}[self.engine]
        self.state = _Rules(op, self.x, self.y, self.g, chosen)
        self.op, self.engine = self.state.row.name, "numbers" if self.state.engine == NUMBERS else "tensors"

    def moved(self, name: str) -> None:
        if name == "engine":  # the other engine's operation of this name
            expected = (_FIRST if self.engine == "tensors" else _BACK).get(self.op, self.op)
            self.op = expected if expected in (TABLE if self.engine == "tensors" else RULES) else "tanh"
        self._run(self.op)
        if name in ("engine", "op"):  # x is kept if the next operation is defined there
            low, high = self.state.span()
            if not low <= self.x <= high:
                self.x = min(max(self.x, low), high)
                self._run(self.op)

    def sentence(self) -> str:
        return self.state.sentence()

    def draw(self) -> str:
        return self.state.svg()

    def table(self) -> Table:
        return Table(("input", "gets", "keeps"), self.state.row.rows())

    def text(self) -> str:
        return self.state.text()
