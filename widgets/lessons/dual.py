"""Dual numbers: a program runs forward once, and each value carries its tangent, how fast it moves when the inputs move along u.

What lives here: `dual(f, u, **inputs)`, one line of the program at a time, with a slider for each input and each entry of u.
What does not: local slopes and gradients (minigrad.Value, minigrad.trace), typed programs (stepper.py), the whole Jacobian (pick_v.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minigrad import Value
from minigrad.tracing.text import differential
from minigrad.tracing.trace import trace

from ..show import Table
from .kit import Entry, Field, Figure, Given, Inputs, Moments, ProgramText, lesson
from .lesson import bracketed, label, number, svg, tag
from .stepper import inputs_of, run_program, started

CANNED = "p = a*b; s = p + a; y = s**2"
START = {"a": 1.0, "b": 2.0}
MOST = 12  # lines that have room in the picture
INPUTS = 4
LETTER = 7.6  # the width of a letter in a formula
ROW = 40.0


@dataclass(frozen=True)
class TangentLine:
    """One value of the program: how it is computed, and what its tangent is made of, (formula of the slope, slope, name, tangent) each."""

    name: str
    expr: str  # "" for an input
    value: float
    parts: list[tuple[str, float, str, float]]
    tangent: float

    def formula(self) -> str:
        """dp = b · da + a · db"""
        return " + ".join(f"{_factor(text)}{_d(source)}" for text, _, source, _ in self.parts) or "0"

    def numbers(self) -> str:
        """2 · 1 + 1 · 0"""
        return " + ".join(f"{bracketed(slope, 4)} · {bracketed(tangent, 4)}" for _, slope, _, tangent in self.parts)


def _factor(text: str) -> str:
    """A local slope as a factor: in brackets if it is a sum, a product or negative."""
    if text == "1":
        return ""
    depth, bare = 0, ""
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        bare += sign if not depth else ""
    return f"({text}) · " if any(sign in bare for sign in " +−") else f"{text} · "


def _d(name: str) -> str:
    return f"d{name}" if name[-1:] in "₀₁₂₃₄₅₆₇₈₉" else differential(name)


@lesson
class dual(Figure):
    """Run a program forward on dual numbers, one operation at a time: each value with its tangent, for the direction u that you choose.

    f: a program as text, which can then be edited in the widget, or your own function of 1 to 4 Values; u: one number for each input, how
    fast it moves (at first only the first input does); inputs: where to start, for example a=3; what is not given is 1 (2 for b).
    Returns a widget; where there is nothing to show, a widget with one sentence that says why.

    >>> print(dual(u=[0, 1]).text())
    line       value  tangent  made of
    a          1      0        chosen
    b          2      1        chosen
    p = a × b  2      1        b · da + a · db = 2 · 0 + 1 · 1
    s = p + a  3      1        dp + da = 1 · 1 + 1 · 0
    y = s²     9      6        2s · ds = 6 · 1
    y = 9, and dy = 2s · ds = 6 · 1 = 6. One reverse pass gives the gradient: 18 for a, 6 for b. Along u, 18 · 0 + 6 · 1 = 6: the same.
    """

    f = ProgramText(CANNED, "a program such as 'p = a*b; p + a', or a function of Values")
    u = Given(None)
    inputs = Inputs()
    step = Moments("operation", "start")

    def fields(self) -> dict[str, Field]:
        result = super().fields()
        step = result.pop("step")
        u = (
            {f"d{n}": Entry("u", n, f"d{n}", w, 2.0, 0.1).named(f"d{n}") for n, w in self.u.items()}
            if isinstance(self.u, dict)
            else {}
        )
        return {"f": result.pop("f"), "step": step, **u, **result}

    @property
    def presets(self) -> dict[str, dict[str, Any]]:  # type: ignore[override]
        return {f"only {n}": {f"d{m}": float(m == n) for m in self.inputs} for n in self.inputs if len(self.inputs) > 1}

    def setup(self) -> None:
        names = inputs_of(self.f)
        if not 1 <= len(names) <= INPUTS:
            raise ValueError(f"the program must take 1 to {INPUTS} inputs, and this one takes {len(names)}.")
        self.inputs = started(self.f, self.inputs, START)
        self.u = self._direction(names, self.u)
        self.run()

    def moved(self, name: str) -> None:
        if name == "f":
            names = inputs_of(self.f)
            self.inputs = {n: v for n, v in self.inputs.items() if n in names}
            saved = {n: w for n, w in self.u.items() if n in names}
            self.u, self.step = saved if any(saved.values()) else None, 0
        self.setup()

    @staticmethod
    def _direction(names: list[str], u: Any) -> dict[str, float]:
        if u is None:
            return {n: float(k == 0) for k, n in enumerate(names)}
        if isinstance(u, Mapping):
            if unknown := [n for n in u if n not in names]:
                raise ValueError(f"u names {unknown[0]}, and the program takes {', '.join(names)}.")
            return {n: float(u.get(n, 0.0)) for n in names}
        weights = [float(w) for w in (u if isinstance(u, Sequence) else [u])]
        if len(weights) != len(names):
            raise ValueError(f"u needs one number for each input: {len(names)}, not {len(weights)}.")
        return dict(zip(names, weights, strict=True))

    def run(self) -> None:
        """One pass forward, values and tangents together. Raises where a number is not finite; then the old picture stays."""
        root, named = run_program(self.f, self.inputs)
        t = trace(root, named)
        arriving: dict[int, list] = {}
        for edge in t["edges"]:
            if edge["carries_grad"]:
                arriving.setdefault(edge["target"], []).append(edge)
        tangents: dict[int, float] = {}
        lines = []
        for node in t["nodes"]:
            if node["kind"] == "constant":
                continue
            parts = []
            if node["kind"] == "leaf":
                tangents[node["id"]] = self.u.get(node["label"], 0.0)
            else:
                for edge in arriving.get(node["id"], ()):
                    slope = float(edge["local"] or 0.0)
                    text = edge["local_text"] or number(slope, 4)
                    parts.append((text, slope, t["nodes"][edge["source"]]["label"], tangents[edge["source"]]))
                tangents[node["id"]] = math.fsum(slope * tangent for _, slope, _, tangent in parts)
            expr = node["expr"] if node["kind"] == "operation" and node["expr"] != node["label"] else ""
            lines.append(TangentLine(node["label"], expr, float(node["value"]), parts, tangents[node["id"]]))
        if len(lines) > MOST:
            raise ValueError(f"this program has {len(lines)} values, and there is room for {MOST}: take a shorter one.")
        if not all(math.isfinite(line.value) and math.isfinite(line.tangent) for line in lines):
            raise ValueError("the program has no finite value and slope there.")
        leaves = {n.label: n for n in _leaves(root)}
        root.backward()
        self.grad = {n: float(leaves[n].grad) if n in leaves else 0.0 for n in self.inputs}
        self.lines, self.first = lines, sum(not line.parts and not line.expr for line in lines)
        self.tangent = tangents[t["root"]]
        self.last = len(lines) - self.first  # at step 0 only the inputs are there

    def sentence(self) -> str:
        return self._sentence(self.step)

    def _sentence(self, step: int) -> str:
        seeds = ", ".join(f"d{n} = {number(w, 4)}" for n, w in self.u.items())
        if step <= 0:
            return f"The inputs carry the direction: {seeds}. Step forward."
        line = self.lines[self.first + min(step, self.last) - 1]
        sums = line.numbers()
        worth = f" = {sums}" if sums and sums != number(line.tangent, 4) else ""
        sentence = f"{line.name} = {number(line.value, 4)}, and {_d(line.name)} = {line.formula()}{worth} = {number(line.tangent, 4)}."
        if step < self.last:
            return sentence
        return f"{sentence} {self._reverse()}"

    def _reverse(self) -> str:
        back = ", ".join(f"{number(g, 4)} for {n}" for n, g in self.grad.items())
        sums = " + ".join(f"{bracketed(self.grad[n], 4)} · {bracketed(self.u[n], 4)}" for n in self.grad)
        if len(self.grad) == 1:
            return f"One reverse pass gives the derivative {number(next(iter(self.grad.values())), 4)}. Along u, {sums}: the same."
        return f"One reverse pass gives the gradient: {back}. Along u, {sums} = {number(self.tangent, 4)}: the same."

    def draw(self) -> str:
        return self._picture(self.step)

    def still(self) -> str:
        return self._picture(self.last)

    def _picture(self, step: int) -> str:
        done = self.first + step
        # Formulas of the learner's own program may be long: they move the columns of values to the right
        made = [f"{_d(line.name)} = {line.formula()}" for line in self.lines if line.parts]
        longest = max(
            [len(text) for text in (*made, *(f"= {line.numbers()}" for line in self.lines if line.parts))], default=0
        )
        wide = min(max(LETTER * longest - 250, 0.0), 220.0)
        room = int((250 + wide) / LETTER)
        out = label(24, 32, "the program", "h") + label(318, 32, "how the tangent is made", "h")
        out += label(628 + wide, 32, "value", "h fwd", "middle") + label(746 + wide, 32, "tangent", "h fwd", "middle")
        for k, line in enumerate(self.lines):
            y = 48 + ROW * k
            middle = y + 24
            ran = k < done
            if k == done - 1 and step:
                style = "fill:var(--panel);stroke:var(--fwd);stroke-width:2"
                out += tag("rect", x=12, y=y + 1, width=796 + wide, height=ROW - 2, rx=7, style=style)
            text = f"{line.name} = {line.expr}" if line.expr else line.name
            out += label(24, middle, _cut(text, 34), "num v" + (" b" if ran else " gone"))
            if not ran:
                out += label(628 + wide, middle, "·", "num v soft", "middle") + label(
                    746 + wide, middle, "·", "num v soft", "middle"
                )
                continue
            if not line.parts:
                out += label(318, middle, "your choice" if not line.expr else "0", "t soft")
            else:
                formula, sums = f"{_d(line.name)} = {line.formula()}", line.numbers()
                out += label(318, y + 17, _cut(formula, room), "num t") + label(
                    318, y + 33, _cut(f"= {sums}", room), "num t soft"
                )
            out += tag("rect", "box", x=578 + wide, y=y + 5, width=100, height=30, rx=6) + label(
                690 + wide, middle, "+", "v", "middle"
            )
            out += label(628 + wide, middle, number(line.value, 5), "num v b fwd", "middle")
            style = "fill:var(--fwd-soft);stroke:var(--fwd);stroke-dasharray:3 2"
            out += tag("rect", x=702 + wide, y=y + 5, width=88, height=30, rx=6, style=style)
            out += label(746 + wide, middle, f"{number(line.tangent, 5)} ε", "num v b fwd", "middle")
        y = 48 + ROW * len(self.lines) + 12
        out += tag("line", "rule", x1=24, x2=796 + wide, y1=y, y2=y)
        if step >= self.last:
            one = f"one forward pass: the derivative along u, {number(self.tangent, 5)}"
            back = ", ".join(f"{n}: {number(g, 5)}" for n, g in self.grad.items())
            out += label(24, y + 26, one, "t b fwd") + label(
                430, y + 26, f"one reverse pass: the gradient, {back}", "t b bwd"
            )
        else:
            out += label(24, y + 26, f"{step} of {self.last} operations have run", "t soft")
        return svg(820 + wide, y + 44, out, self._sentence(step))

    def table(self) -> Table:
        return self._table(self.step)

    def _table(self, step: int) -> Table:
        rows = []
        for line in self.lines[: self.first + step]:
            text = "chosen" if not line.parts else f"{line.formula()} = {line.numbers()}"
            rows.append(
                (
                    f"{line.name} = {line.expr}" if line.expr else line.name,
                    number(line.value),
                    number(line.tangent),
                    text,
                )
            )
        return Table(("line", "value", "tangent", "made of"), rows)

    def text(self) -> str:
        """The whole pass, for a page that cannot step."""
        return f"{self._table(self.last).text()}\n{self._sentence(self.last)}"


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _leaves(root: Value) -> Iterator[Any]:
    seen, todo = {id(root)}, [root]
    while todo:
        node = todo.pop()
        if not node._prev:
            yield node
        for parent in node._prev:
            if id(parent) not in seen:
                seen.add(id(parent))
                todo.append(parent)
