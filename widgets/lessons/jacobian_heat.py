"""`jacobian_heat(f, x, n)`: the heat map of a Jacobian, with the memory of the full matrix and of one backward pass.

f is softmax, layer norm, tanh, or the learner's function of a tensor. The matrix is computed row by row; vᵀJ is computed from the matrix
and in a single backward pass. Bytes are those of the tensors that the engine's nodes saved. pick_v.py has the matrix with numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import minigrad as torch
from minigrad.autograd.graph import saved_bytes
from minigrad.tensors.create import tensor
from minigrad.tracing.trace import Numbers
from widgets import heat

from ..show import Table
from .kit import Choice, Control, Field, Figure, Given, Slider, lesson
from .lesson import label, number, svg, tag
from .pick_v import in_bytes
from .tensor_program import operations

OPERATIONS = 2000  # each entry of the matrix is a pass through all of them
MOST = 24  # rows and columns that have room in the picture
NUMBERED = 6  # up to here each cell shows its number
SIZES = (4, 16, 64, 256)  # where the memory of a function of any size is measured
BOX = 346.0  # pixels of the heat map

# Sign by hue and by a dash in each negative cell, magnitude by opacity: the colours of the heat maps on cards.
LOOK = (
    "<style>.mgl .h0{fill:var(--panel);stroke:var(--line);stroke-width:.7}.mgl .hp{fill:var(--pos)}.mgl .hn{fill:var(--neg)}"
    ".mgl .hx{stroke:var(--ink)}.mgl .hm{stroke:var(--bg);stroke-width:1.6}.mgl .row{fill:none;stroke:var(--ink);stroke-width:2.4}</style>"
)


def softmax(x: Any) -> Any:
    return torch.softmax(x, dim=0)


def layer_norm(x: Any) -> Any:
    return torch.nn.functional.layer_norm(x, (x.shape[0],))


FUNCTIONS: dict[str, Callable] = {"softmax": softmax, "layer norm": layer_norm, "tanh": torch.tanh}


def inputs(n: int) -> list[float]:
    """n numbers between −1.5 and 1.5 without a pattern that the eye would take for one of the function."""
    return [round(1.5 * math.sin(0.7 + 2.3 * k), 2) for k in range(n)]


class Heat:
    """The Jacobian of f at x, and its cost compared with one vᵀJ."""

    def __init__(self, f: Callable, name: str, x: Sequence[float], fixed: bool = False):
        self.f, self.name, self.x, self.fixed = f, name, [float(v) for v in x], fixed
        self.n = len(self.x)
        if not 2 <= self.n <= MOST:
            raise ValueError(f"there is room for 2 to {MOST} inputs, not for {self.n}.")
        leaf, y = self._run(self.x)
        if operations(y, OPERATIONS) > OPERATIONS:
            raise ValueError(
                f"this function runs more than {OPERATIONS:,} operations for {self.n} numbers: take a smaller one."
            )
        self.m = len(y)
        if not 1 <= self.m <= MOST:
            raise ValueError(f"there is room for 1 to {MOST} outputs, and this function has {self.m}.")
        self.J, self.table_bytes, self.saved_bytes = self._table(leaf, y)
        if not all(math.isfinite(entry) for line in [y.tolist(), *self.J] for entry in line):
            raise ValueError("the function has no finite value and slope there.")
        self.v = [((7 * i + 3) % 5 - 2) / 2 for i in range(self.m)]
        self.dense = [math.fsum(v * line[j] for v, line in zip(self.v, self.J, strict=True)) for j in range(self.n)]
        leaf, y = self._run(self.x)
        y.backward(tensor(self.v, dtype=torch.float64))
        self.product = [0.0] * self.n if leaf.grad is None else leaf.grad.tolist()
        self.costs = [(self.n, self.table_bytes, self.saved_bytes)] if fixed else self._costs()

    # numbers ---------------------------------------------------------------------------------------------------------------------
    def _run(self, x: Sequence[float]) -> tuple[Any, Any]:
        leaf = tensor(x, dtype=torch.float64, requires_grad=True)
        y = self.f(leaf)
        if not isinstance(y, torch.Tensor) or not y.requires_grad:
            raise TypeError(f"the function must compute a tensor from x, but it returned {type(y).__name__}.")
        return leaf, y.reshape(-1)

    @staticmethod
    def _table(leaf: Any, y: Any) -> tuple[list[list[float]], int, int]:
        """Row by row, one pass back for each: the matrix, its bytes, and the bytes that the recorded nodes keep for their rules."""
        saved = saved_bytes(y)
        rows = []
        for i in range(len(y)):
            (line,) = torch.autograd.grad(y[i], leaf, retain_graph=True, allow_unused=True)
            rows.append(torch.zeros_like(leaf) if line is None else line)
        table = torch.stack(rows)
        return table.tolist(), table.numel() * table.element_size(), saved

    def _costs(self) -> list[tuple[int, int, int]]:
        """(n, bytes of the matrix, bytes that the nodes keep), measured at each size that the function takes."""
        out = []
        for n in sorted({*SIZES, self.n}):
            try:
                _, table, saved = self._table(*self._run(inputs(n)))
            except Exception:  # a function may take only some sizes: the picture has fewer points then
                continue
            out.append((n, table, saved))
        return out

    @property
    def most(self) -> float:
        return max(abs(entry) for line in self.J for entry in line)

    @property
    def full(self) -> int:
        """How many entries are not zero (rounding noise is)."""
        return sum(abs(entry) > 1e-12 * self.most for line in self.J for entry in line)

    def row_sum(self, i: int) -> float:
        total = math.fsum(self.J[i])
        return 0.0 if abs(total) <= 1e-9 * (self.most or 1.0) else total

    @property
    def agree(self) -> bool:
        scale = max(map(abs, self.dense), default=0.0) or 1.0
        return all(abs(a - b) <= 1e-9 * scale for a, b in zip(self.dense, self.product, strict=True))

    # words -----------------------------------------------------------------------------------------------------------------------
    def sentence(self, row: int = 0) -> str:
        return (
            f"{self.name} of {self.n} numbers: {self.full} of the {self.m * self.n} entries are not zero. "
            f"Row {row} adds up to {number(self.row_sum(row), 4)}."
        )

    def cost(self) -> str:
        same = "the same numbers" if self.agree else "other numbers, so one of the two is wrong"
        return (
            f"The whole Jacobian: {in_bytes(self.table_bytes)}, {_passes(self.m)}. "
            f"vᵀJ directly: {in_bytes(self.saved_bytes)} saved by the graph, 1 pass, {same}."
        )

    def text(self, row: int = 0) -> str:
        lines = [f"{'J':>5} │" + "".join(f"{f'x{j}':>10}" for j in range(self.n))] if self.n <= NUMBERED else []
        if self.n <= NUMBERED:
            for i, line in enumerate(self.J):
                lines.append(
                    f"{f'y{i}':>5} │" + "".join(f"{heat.short(_clean(entry, self.most)):>10}" for entry in line)
                )
        return "\n".join([*lines, self.sentence(row), self.cost()])

    # the picture -----------------------------------------------------------------------------------------------------------------
    def svg(self, row: int = 0) -> str:
        left, top = 62.0, 66.0
        w, h = heat.size(self.m, self.n, BOX, BOX, BOX / 2)
        wide, high = w * self.n, h * self.m
        out = (
            LOOK
            + label(24, 30, f"J of {self.name}", "h")
            + label(left + wide, 30, f"{self.m} × {self.n}", "num t soft", "end")
        )
        step = 1 if self.n <= 12 else 4
        for j in range(0, self.n, step):
            out += label(left + w * (j + 0.5), top - 8, f"x{j}", "num t soft", "middle")
        for i in range(0, self.m, 1 if self.m <= 12 else 4):
            out += label(left - 8, top + h * (i + 0.5) + 4, f"y{i}", "num t soft", "end")
        out += heat.svg(cells_of(self.J), left, top, wide, high, BOX / 2)
        if max(self.n, self.m) <= NUMBERED:
            for i, line in enumerate(self.J):
                for j, entry in enumerate(line):
                    text = heat.short(_clean(entry, self.most), 2)
                    # A number that touches its neighbour reads as one with it
                    size = "t" if 7.7 * len(text) < w - 6 else "s"
                    look = f"num {size} b halo" if entry else f"num {size} soft"
                    out += label(left + w * (j + 0.5), top + h * (i + 0.5) + 4.5, text, look, "middle")
        out += tag("rect", "row", x=left - 2, y=top + h * row - 1, width=wide + 4, height=h + 2, rx=3)
        y = top + high + 22
        total = number(self.row_sum(row), 4)
        out += label(left, y, f"row {row} adds up to {total}", "num t b")
        out += label(left, y + 20, f"{self.full} of {self.m * self.n} entries are not zero", "t soft")
        out += label(
            left, y + 38, "dash in a cell: negative" if max(self.n, self.m) > NUMBERED else "darker: larger", "t soft"
        )
        right = left + BOX + 22
        out += self._two_ways(right) + self._memory(right, 214.0)
        return svg(right + 420, max(y + 56, 468), out, f"{self.sentence(row)} {self.cost()}")

    def _two_ways(self, x: float) -> str:
        """v, and vᵀJ from the matrix and from one pass: three strips of one scale."""
        out = label(x, 30, "vᵀJ, two ways", "h")
        most = max(map(abs, [*self.dense, *self.product])) or 1.0
        sign = "=" if self.agree else "≠"
        strips = (
            ("v", self.v, max(map(abs, self.v)) or 1.0, "t", f"{self.m} numbers"),
            ("from the matrix", self.dense, most, "t fwd", _passes(self.m)),
            ("directly", self.product, most, "t bwd", "1 pass"),
        )
        for k, (name, line, scale, colour, cost) in enumerate(strips):
            y = 50.0 + 44 * k
            out += label(x, y + 17, name, f"{colour} b")
            w = min(24.0, 178.0 / len(line))
            values = cells_of([[entry / scale for entry in line]], 1.0)
            out += heat.svg(values, x + 118, y, w * len(line), 24.0, 24.0)
            out += label(x + 118 + 192, y + 17, cost, f"num {colour}")
        return out + label(x + 40, 50 + 44 + 39, sign, "v b")

    def _memory(self, x: float, y: float) -> str:
        """Bytes against n, both axes by powers: the matrix's line is twice as steep."""
        out = label(x, y, "memory", "h") + label(x + 76, y, "measured, in float64", "t soft")
        x0, x1, y0, y1 = x + 58, x + 248, y + 206, y + 18
        ns = [n for n, _, _ in self.costs]
        low, high = math.log2(min(ns)) - (len(ns) < 2), math.log2(max(ns)) + (len(ns) < 2)
        # powers of ten in between which all the bytes lie
        all_bytes = [b for _, table, saved in self.costs for b in (table, saved) if b]
        bottom, ceiling = math.floor(math.log10(min(all_bytes))), math.ceil(math.log10(max(all_bytes)) + 1e-9)

        def at(n: float, count: float) -> tuple[float, float]:
            across = (math.log2(n) - low) / (high - low)
            up = (math.log10(max(count, 10.0**bottom)) - bottom) / max(ceiling - bottom, 1)
            return x0 + across * (x1 - x0), y0 - up * (y0 - y1)

        for e in range(bottom, ceiling + 1):
            level = at(ns[0], 10.0**e)[1]
            out += tag("line", "grid", x1=x0, x2=x1, y1=level, y2=level)
            out += label(x0 - 6, level + 4, in_bytes(10**e).replace("1 bytes", "1 byte"), "t soft", "end")
        for n in ns if self.fixed else [n for n in ns if n in SIZES]:
            out += label(at(n, 1)[0], y0 + 17, str(n), "num t soft", "middle")
        out += label(x1 + 20, y0 + 17, "= n", "num t soft")
        now = at(self.n, 1)[0]
        out += tag("line", "now", x1=now, x2=now, y1=y1, y2=y0)
        # name, slot, curve's class, text's class, dy of the name
        for name, k, curve, colour in (
            ("the matrix J", 1, "central", "fwd"),
            ("what the graph keeps", 2, "forward", "bwd"),
        ):
            points = [at(row[0], row[k]) for row in self.costs]
            if len(points) > 1:
                out += tag("path", f"curve {curve}", d="M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points))
            for (a, b), row in zip(points, self.costs, strict=True):
                out += tag("circle", f"{curve} dot", cx=a, cy=b, r=5.5 if row[0] == self.n else 3.5)
            a, b = points[-1][0], min(points[-1][1], y0 - 22)
            out += label(a + 12, b + 1, name, f"t b {colour}") + label(
                a + 12, b + 17, _law(self.costs, k), f"t {colour}"
            )
        return out


def _law(costs: Sequence[tuple[int, int, int]], k: int) -> str:
    """How the bytes grow from the first measured size to the last: "×4096 for n × 64"."""
    if len(costs) < 2 or not costs[0][k]:
        return in_bytes(costs[-1][k])
    return f"n × {number(costs[-1][0] / costs[0][0])}: bytes × {costs[-1][k] / costs[0][k]:,.4g}"


def _passes(count: int) -> str:
    return f"{count} pass{'es' * (count > 1)}"


def _clean(entry: float, most: float) -> float:
    """Show rounding noise as zero."""
    return 0.0 if abs(entry) <= 1e-12 * most else entry


def cells_of(table: Sequence[Sequence[float]], scale: float | None = None) -> Numbers:
    """The matrix as a heat map reads it, every entry a cell."""
    most = scale or max(abs(entry) for line in table for entry in line) or 1.0
    cells = [float(f"{_clean(entry, most):.9g}") for line in table for entry in line]
    return cast(Numbers, {"rows": len(table), "cols": len(table[0]), "cells": cells, "low": -most, "high": most})


class _Row(Slider):
    """A row of the matrix; a smaller matrix has fewer."""

    def __init__(self) -> None:
        super().__init__("row", 0, 0, MOST - 1)

    def expand(self, figure: Any) -> dict:
        if figure.state is None:
            return {self.name: self}
        row = _Row()
        row.high = figure.state.m - 1
        return {self.name: row.named(self.name)}


@lesson
class jacobian_heat(Figure):
    """The Jacobian of softmax, layer norm, tanh or your own function as a heat map, beside what one vᵀJ costs.

    f: a function of one tensor of shape (n,), or one of the names "softmax", "layer norm", "tanh"; x: the n numbers where, 2 to 24 of them
    (without x a slider sets n). Returns a widget, or one sentence that says what is wrong.

    >>> print(jacobian_heat("softmax", [0.0, 0.0]).text())
        J │        x0        x1
       y0 │      0.25     −0.25
       y1 │     −0.25      0.25
    softmax of 2 numbers: 4 of the 4 entries are not zero. Row 0 adds up to 0.
    The whole Jacobian: 32 bytes, 2 passes. vᵀJ directly: 16 bytes saved by the graph, 1 pass, the same numbers.
    """

    f = Given(None)
    x = Given(None)
    n = Given(6)
    row = _Row()
    state: Any = None  # a Heat; None until setup
    choices: dict[str, Callable] = FUNCTIONS

    def fields(self) -> dict[str, Field]:
        result = super().fields()
        if self.state is not None:
            result["f"] = Choice(list(self.choices), "function", "softmax").named("f")
            result["n"] = Slider("n", 6, 2, MOST).named("n")
        return result

    def controls(self) -> list[Control]:
        return [control for control in super().controls() if control.name != "n" or self.x is None]

    def setup(self) -> None:
        if self.f is not None and not isinstance(self.f, str):
            if not callable(self.f):
                what = type(self.f).__name__
                raise TypeError(
                    f"it needs a function of one tensor, for example jacobian_heat(lambda x: x**2). It was given {what}."
                )
            name = getattr(self.f, "__name__", "f").replace("<lambda>", "your function")
            name = name if name not in FUNCTIONS else f"your {name}"
            self.choices, self.f = {name: self.f, **FUNCTIONS}, name
        self.f = self.f or "softmax"
        if self.f not in self.choices:
            names = ", ".join(f'"{names}"' for names in FUNCTIONS)
            raise ValueError(f"it does not know {self.f!r}. It knows {names}, or takes your own function of a tensor.")
        self.moved("f")

    def moved(self, name: str) -> None:
        if name == "row":
            return
        start = inputs(int(self.n)) if self.x is None else [float(v) for v in self.x]
        self.state = Heat(self.choices[self.f], self.f, start, fixed=self.x is not None)
        self.row = min(self.row, self.state.m - 1)

    def sentence(self) -> str:
        return f"{self.state.sentence(self.row)} {self.state.cost()}"

    def draw(self) -> str:
        return self.state.svg(self.row)

    def table(self) -> Table:
        rows = [[f"y{i}", *((number(entry, 3), entry) for entry in line)] for i, line in enumerate(self.state.J)]
        return Table(["J", *(f"x{j}" for j in range(self.state.n))], rows)

    def text(self) -> str:
        return self.state.text(self.row)
