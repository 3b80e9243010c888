"""The card of an operation that the learner wrote: formula, curve and tangent, derivatives against differences, random graphs.

What lives here: `op_card(f, x, latex, doc)`. The curve and the tangent are the learner's own numbers; beside them stand central differences
of the same function, and the verdict of random graphs. What does not: the cards of minigrad's own operations (rule_card.py), the exercise.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

from minigrad.course.random_graphs import op_in_random_graphs

from ..show import Table
from .kit import Entry, Field, Figure, Given, lesson
from .lesson import Judgement, label, number, svg, tag
from .stepper import ProgramError

MOST = 5  # inputs that have room
GRAPHS = 200
NEAR = 1e-6  # how far a right derivative may be from differences
SPAN = 4.0  # the curve is drawn from −SPAN to SPAN; sliders end at REACH, so that the tangent has room
REACH = 3.0


def example(x: float) -> tuple[float, float]:
    """softplus(x) = log(1 + exp(x)), and its derivative: what a card looks like."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x))), 1 / (1 + math.exp(-x)) if x > -700 else 0.0


class Operation:
    """A function of a number or of a list of numbers that returns (value, derivative or list of derivatives)."""

    def __init__(self, f: Callable, x: float | Sequence[float], name: str, latex: str, doc: str):
        self.f, self.name, self.latex, self.doc = f, name, latex, doc
        self.one = isinstance(x, (int, float))
        self.x = [float(x)] if isinstance(x, (int, float)) else [float(v) for v in x]
        if not 1 <= len(self.x) <= MOST:
            raise ProgramError(f"there is room for 1 to {MOST} inputs, not for {len(self.x)}.")
        self.at(self.x)
        self.graphs = self._graphs()

    def at(self, x: list[float]) -> tuple[float, list[float]]:
        """Value and derivatives by the learner's function. Raises ProgramError where it gives something else."""
        try:
            value, slopes = self.f(x[0] if self.one else list(x))
            slopes = [float(slopes)] if self.one else [float(d) for d in slopes]
            value = float(value)
        except (TypeError, ValueError) as error:
            many = "derivative" if self.one else "list of derivatives"
            raise ProgramError(f"{self.name} must return (value, {many}): {error}.") from None
        if len(slopes) != len(x):
            raise ProgramError(f"{self.name} has {len(x)} inputs and returned {len(slopes)} derivatives.")
        return value, slopes

    def differences(self, h: float = 1e-5) -> list[float]:
        out = []
        for i in range(len(self.x)):
            up, down = ([v + s * h * (i == j) for j, v in enumerate(self.x)] for s in (1, -1))
            out.append((self.at(up)[0] - self.at(down)[0]) / (2 * h))
        return out

    def rows(self) -> list[tuple[str, float, float, float, bool]]:
        """(input, where, derivative, difference, whether they agree)."""
        slopes, near = self.at(self.x)[1], self.differences()
        names = ["x"] if self.one else [f"x{i}" for i in range(len(self.x))]
        return [
            (n, v, d, w, abs(d - w) <= NEAR * max(1.0, abs(w)))
            for n, v, d, w in zip(names, self.x, slopes, near, strict=True)
        ]

    def _graphs(self) -> tuple[int, str]:
        """How many random graphs have right gradients, and what stopped the others."""
        try:
            errors = op_in_random_graphs(self.f, GRAPHS, 7, self.one)
        except Exception as error:  # the learner's function may raise anything
            return 0, f"{type(error).__name__}: {error}"
        return sum(e < NEAR for e in errors), ""

    # Words ------------------------------------------------------------------------------------------------------------------------
    def sentence(self) -> Judgement:
        agree, stopped = self.graphs
        off = [name for name, *_, ok in self.rows() if not ok]
        if stopped:
            return Judgement(False, f"{self.name} stopped in a random graph: {stopped}")
        if off:
            return Judgement(
                False,
                f"The derivative by {' and '.join(off)} is not what differences say. Random graphs: {agree} of {GRAPHS} right.",
            )
        if agree < GRAPHS:
            return Judgement(
                False,
                f"Right here, but only {agree} of {GRAPHS} random graphs are: move the sliders to find where it breaks.",
            )
        return Judgement(
            True, f"The derivatives agree with differences here, and in {agree} of {GRAPHS} random graphs."
        )

    def text(self) -> str:
        lines = [f"{self.name}: {self.doc}" if self.doc else self.name]
        value, _ = self.at(self.x)
        lines.append(f"value {number(value)}")
        for name, x, d, w, ok in self.rows():
            lines.append(
                f"  d/d{name} at {number(x)}: yours {number(d)}, differences {number(w, 5)} {'✓' if ok else '✗'}"
            )
        return "\n".join([*lines, self.sentence()])

    # The picture ------------------------------------------------------------------------------------------------------------------
    def svg(self) -> str:
        left, top, wide, high = 44.0, 52.0, 350.0, 220.0
        xs = [-SPAN + 2 * SPAN * k / 120 for k in range(121)]
        ys = [self.at([x, *self.x[1:]])[0] for x in xs]
        value, slopes = self.at(self.x)
        finite = [y for y in [*ys, value] if math.isfinite(y)] or [0.0]
        low, high_y = min(finite), max(finite)
        pad = 0.1 * (high_y - low) or 1.0
        low, high_y = low - pad, high_y + pad

        def place(x: float, y: float) -> tuple[float, float]:
            return left + (x + SPAN) / (2 * SPAN) * wide, top + (high_y - y) / (high_y - low) * high

        out = label(24, 32, self.name, "h") + label(430, 32, "at the sliders' places", "h")
        out += tag("rect", "panel", x=left, y=top, width=wide, height=high, rx=6)
        px, _ = place(0, 0)
        out += tag("line", "grid", x1=px, x2=px, y1=top, y2=top + high)
        if low < 0 < high_y:
            _, py = place(0, 0)
            out += tag("line", "grid", x1=left, x2=left + wide, y1=py, y2=py)
        points = [place(x, y) for x, y in zip(xs, ys, strict=True) if math.isfinite(y)]
        out += tag("path", "curve central", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points))
        if math.isfinite(value) and math.isfinite(slopes[0]):
            reach = 1.1 / math.hypot(1, slopes[0] * 2 * SPAN / (high_y - low) * high / wide)
            x0 = min(max(self.x[0], -SPAN), SPAN)
            ends = [place(x0 + s * reach, value + s * reach * slopes[0]) for s in (-1, 1)]
            out += tag(
                "line", "forward", x1=ends[0][0], y1=ends[0][1], x2=ends[1][0], y2=ends[1][1], stroke_width="2.5"
            )
            cx, cy = place(x0, value)
            out += tag("circle", "forward dot", cx=cx, cy=cy, r=5)
        out += label(left, top + high + 18, number(-SPAN), "t soft") + label(
            left + wide, top + high + 18, number(SPAN), "t soft", "end"
        )
        out += label(
            left + wide / 2, top + high + 18, "x" if self.one else "x0, the others as they are", "t soft", "middle"
        )
        for place_x, head, anchor in ((450, "input", ""), (600, "yours", "end"), (696, "differences", "end")):
            out += label(place_x, 64, head, "t soft", anchor)
        y = 88.0
        for name, x, d, w, ok in self.rows():
            out += label(450, y, f"{name} = {number(x, 3)}", "num t") + label(
                600, y, number(d, 5), "num t b bwd", "end"
            )
            out += label(696, y, number(w, 5), "num t", "end") + label(
                708, y, "✓" if ok else "✗", "t b good" if ok else "t b bad"
            )
            y += 26
        out += label(450, y + 4, "value", "t soft") + label(600, y + 4, number(value, 5), "num t b fwd", "end")
        right, stopped = self.graphs
        done = 250.0 * right / GRAPHS
        out += tag("rect", "box", x=450, y=y + 26, width=250, height=16, rx=8)
        out += (
            tag("rect", x=450, y=y + 26, width=done, height=16, rx=8, style="fill:var(--fwd-soft);stroke:var(--fwd)")
            if done
            else ""
        )
        sentence = "stopped" if stopped else f"{right} of {GRAPHS} random graphs right"
        out += label(450, y + 60, sentence, "t b bad" if right < GRAPHS else "t b")
        return svg(740, max(top + high + 32, y + 78), out, f"{self.name}: curve and tangent. {self.sentence()}")


@lesson
class op_card(Figure):
    r"""The card of your own operation: formula, curve and tangent, derivatives against differences, 200 random graphs.

    f: takes a number (or a list) and returns (value, derivative) (or (value, list of derivatives)).
    x: where to start: a number, or a list if f takes a list. latex: its formula. doc: one sentence on what it is for.

        op_card(logsumexp, [1.0, 0.0, -1.0], latex=r"\log\sum_i e^{x_i}", doc="A smooth maximum.")
    """

    f = Given(example)
    x = Given(1.0)
    name = Given("")
    latex = Given("")
    doc = Given("")
    operation: Any = None  # an Operation; None until setup
    formula: list[ipywidgets.Widget] = []

    def fields(self) -> dict[str, Field]:
        result = super().fields()
        if self.operation is not None:
            for i, start in enumerate(self.operation.x if isinstance(self.x, list) else ()):
                name = "x" if self.operation.one else f"x{i}"
                result[f"x{i}"] = Entry("x", i, name, start, REACH, 0.1).named(f"x{i}")
        return result

    def setup(self) -> None:
        if not callable(self.f):
            raise TypeError(
                f"it needs your operation, a function of a number or of a list. It was given {type(self.f).__name__}."
            )
        for what in ("name", "latex", "doc"):
            if not isinstance(formula := getattr(self, what), str):
                raise TypeError(f"it needs {what} as text. It was given {type(formula).__name__}.")
        self.name = self.name or ("softplus" if self.f is example else getattr(self.f, "__name__", "your operation"))
        self.operation = Operation(self.f, self.x, self.name, self.latex, self.doc)
        self.x = self.operation.x
        if self.latex:
            self.formula = [
                ipywidgets.HTMLMath(f"$$\\text{{{self.name}}} = {self.latex}$$", layout={"padding": "0 16px"})
            ]

    def moved(self, _name: str) -> None:
        operation = copy.copy(self.operation)
        operation.x = self.x
        operation.svg()
        self.operation = operation

    def below(self) -> list[ipywidgets.Widget]:
        return self.formula

    def sentence(self) -> str:
        return self.operation.sentence()

    def caption(self) -> str:
        verdict = self.operation.sentence()
        return Judgement(verdict.good, f"{self.doc} {verdict.plain}") if self.doc else verdict

    def draw(self) -> str:
        return self.operation.svg()

    def table(self) -> Table:
        marks = {True: "✓", False: "✗"}
        rows = [
            (f"{n} = {number(x, 3)}", (number(d), d), (number(w, 5), w), marks[ok])
            for n, x, d, w, ok in self.operation.rows()
        ]
        return Table(("input", "yours", "differences", ""), rows)

    def text(self) -> str:
        return self.operation.text()
