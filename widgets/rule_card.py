"""The card of %rule: an operation's formula, its derivative, its curve with a movable tangent, and the saved values.

Formulas and derivatives are read from the rules of Value and from the derivatives table (ops/).
"""

from __future__ import annotations

import math
from typing import Any

import ipywidgets

from minigrad.scalar import Value
from minigrad.tracing.formulas import Rule, Text
from minigrad.words import number

from .show import Facts, Line, Panel, Table
from .stored import Stored

SPAN = {"log": (0.05, 4.0), "sqrt": (0.0, 4.0), "exp": (-3.0, 3.0), "/": (-4.0, 4.0)}
WIDE, HIGH = 440, 220
SECOND = 2.0  # default of the second input


class Raw:
    """A part that is markup in HTML and something else as text."""

    def __init__(self, text: str, html: str):
        self._text, self._html = text, html

    def text(self) -> str:
        return self._text

    def html(self) -> str:
        return self._html


def at(rule: Rule, inputs: list[float]) -> tuple[float, list[float | None]]:
    """The value and the local derivatives there, by the engine."""
    out = rule.compute(*[Value(x) for x in inputs])
    return out.data, list(out.slopes)


def curve(rule: Rule, inputs: list[float]) -> str:
    """The curve over the first input and its tangent at the present place, as an SVG in the colours of the card."""
    low, high = SPAN.get(rule.name, (-3.0, 3.0))
    low, high = min(low, inputs[0] - 0.5) if low < 0 else low, max(high, inputs[0] + 0.5)
    xs = [low + (high - low) * k / 240 for k in range(241)]
    ys = [at(rule, [x, *inputs[1:]])[0] for x in xs]
    finite = sorted(y for y in ys if math.isfinite(y))
    if not finite:
        return ""
    bottom, top = finite[len(finite) // 50], finite[-1 - len(finite) // 50]
    y0, slopes = at(rule, inputs)
    if math.isfinite(y0):
        bottom, top = min(bottom, y0), max(top, y0)
    pad = (top - bottom) * 0.12 or 1.0
    bottom, top = bottom - pad, top + pad

    def place(x: float, y: float) -> tuple[float, float]:
        return (x - low) / (high - low) * WIDE, HIGH - (y - bottom) / (top - bottom) * HIGH

    parts, pen = [], False
    for x, y in zip(xs, ys, strict=True):
        inside = math.isfinite(y) and bottom - 3 * (top - bottom) < y < top + 3 * (top - bottom)
        if inside:
            px, py = place(x, y)
            parts.append(f"{'L' if pen else 'M'}{px:.1f} {py:.1f}")
        pen = inside
    out = [f'<svg viewBox="-30 -4 {WIDE + 40} {HIGH + 28}" width="{WIDE + 40}" role="img"><title>{rule.name}: curve and tangent</title>'
           f'<g clip-path="inset(0)"><rect x="0" y="0" width="{WIDE}" height="{HIGH}" fill="none" stroke="var(--l)"/>']  # fmt: skip
    for zero, line in ((low < 0 < high, "v"), (bottom < 0 < top, "h")):
        if zero:
            px, py = place(0, 0)
            d = f"M{px:.1f} 0V{HIGH}" if line == "v" else f"M0 {py:.1f}H{WIDE}"
            out.append(f'<path d="{d}" stroke="var(--l)" fill="none"/>')
    out.append(f'<path d="{"".join(parts)}" stroke="var(--f)" stroke-width="2.2" fill="none"/>')
    slope = 0.0 if slopes[0] is None else slopes[0]
    if math.isfinite(y0) and math.isfinite(slope):
        reach = (high - low) * 0.22 / math.hypot(1, slope * (high - low) / (top - bottom) * HIGH / WIDE)
        (x1, y1), (x2, y2), (px, py) = (place(inputs[0] + s * reach, y0 + s * slope * reach) for s in (-1, 1, 0))
        out.append(
            f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="var(--w)" stroke-width="2.2" stroke-dasharray="6 3" fill="none"/>'
        )
        out.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4.5" fill="var(--w)"/>')
    style = 'fill="var(--s)" font-size="12" font-family="var(--m)"'
    out.append(f'</g><text x="0" y="{HIGH + 18}" {style}>{number(low)}</text>')
    out.append(f'<text x="{WIDE}" y="{HIGH + 18}" text-anchor="end" {style}>{number(high)}</text>')
    out.append(f'<text x="{WIDE / 2}" y="{HIGH + 18}" text-anchor="middle" {style}>x</text></svg>')
    return "".join(out)


def scalar_parts(rule: Rule, inputs: list[float]) -> list:
    names = [Text("x"), Text("y")][: len(rule.locals)]
    out = rule.write(rule.expr, *names)
    value, locals_ = at(rule, inputs)
    rows = []
    for k, name in enumerate(names):
        formula = rule.write(rule.locals[k], *names, out=out).text
        local_text = "shut: nothing flows" if locals_[k] is None else number(locals_[k])  # type: ignore[arg-type]
        rows.append(
            [f"d out / d {name.text}", formula, local_text, "yes" if rule.saves[k] else "no: it is the same everywhere"]
        )
    values = ", ".join(f"{n.text} = {number(v)}" for n, v in zip(names, inputs, strict=True))
    return [Line(f"out = {out.text}; at {values} out is {number(value)}."), Raw("", curve(rule, inputs)),
            Table(("slope", "formula", f"at {values}", "has to be saved"), rows),
            Line("Backward, each input gets slope × the upstream gradient of out. Dashed: the tangent, whose slope is the "
                 "first row.", soft=True)]  # fmt: skip


def table_row(name: str) -> Any:
    """The row of the derivatives table, by PyTorch's or the everyday name; None if there is none."""
    import minigrad.api  # noqa: F401  the table is full once the API is there
    from minigrad.core.op import TABLE
    from minigrad.tracing.tensor_formulas import friendly

    other = {"+": "add", "-": "sub", "*": "mul", "/": "div", "**": "pow"}.get(name, name)
    if other in TABLE:
        return TABLE[other]
    return next(
        (
            op
            for op in TABLE.values()
            if friendly(op) == other or op.node_name.lower() in (other.lower(), other.lower() + "backward0")
        ),
        None,
    )


def tensor_parts(op: Any) -> list:
    from minigrad.tracing.tensor_formulas import flow

    labels = {name: Text(name) for name in (*op.inputs, *(() if op.outputs is ... else op.outputs))}
    rows = []
    for name, rule in op.rules.items():
        if rule is None:
            rows.append([name, "none: no derivative by this input", ""])
            continue
        says = flow(op, rule, labels, {}, None) or "see the source of the row"
        rows.append([name, says, ", ".join(op.saves_of(rule)) or "nothing"])
    kinds = {"elementwise": "each entry of the result depends on one entry of each input", "linear": "linear: the rule needs no numbers",
             "multilinear": "linear in each input", "discrete": "no derivative anywhere", "general": "a rule of its own"}  # fmt: skip
    return [
        Table(
            ("input", "what it gets, from the upstream gradient g", "saves"),
            rows,
            caption=f"Tensors: {op.node_name} ({kinds[op.kind]})",
        )
    ]


def card(name: str, rule: Rule | None, op: Any, inputs: list[float]) -> Panel:
    parts = (scalar_parts(rule, inputs) if rule is not None else []) + (tensor_parts(op) if op is not None else [])
    return Panel(
        f"The rule of {name}",
        *parts,
        Facts(
            (
                "In code",
                f"`print(minigrad.ops.TABLE[{op.name!r}].source)` shows the row as Python" if op is not None else "",
            )
        ),
    )


class RuleCard(Stored, ipywidgets.VBox):
    """The card with a slider for each input of the operation on numbers."""

    def __init__(self, name: str, rule: Rule, op: Any, inputs: list[float]) -> None:
        self.name, self.rule, self.op = name, rule, op
        low, high = SPAN.get(rule.name, (-3.0, 3.0))
        self.sliders = [
            ipywidgets.FloatSlider(
                value=x, min=min(low, x), max=max(high, x), step=0.05, description=n, readout_format=".2f"
            )
            for n, x in zip("xy", inputs, strict=False)
        ]
        self.text = ipywidgets.HTML()
        super().__init__([*self.sliders, self.text])
        for s in self.sliders:
            s.observe(self._draw, names=["value"])
        self._draw()

    @property
    def card(self) -> Panel:
        return card(self.name, self.rule, self.op, [s.value for s in self.sliders])

    def _draw(self, _change: Any = None) -> None:
        self.text.value = self.card._repr_html_()

    def __repr__(self) -> str:
        return repr(self.card)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        result = super()._repr_mimebundle_(**kwargs)
        data = result[0] if isinstance(result, tuple) else result or {}
        return {**data, "text/plain": repr(self), "text/html": self.card._repr_html_()}
