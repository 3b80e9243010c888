"""Pick v: the Jacobian of a function drawn entry by entry, and the one row that backward(v) makes of it.

What lives here: `pick_v(f, x, v)`, where sliders weight the outputs; `pick_u(f, x, u)`, where they weight the inputs (forward mode);
`jacobian_size(n, m)`, what the whole Jacobian would cost. The Jacobian is computed row by row, the result in one pass of its own: the two
ways must agree, and both are the engine's.
What does not: derivatives (minigrad), the recap picture (recap_tensors.py).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import minigrad as torch
from minigrad.autograd import forward_ad
from minigrad.tensors.create import tensor
from minigrad.words import size as in_bytes

from .kit import Field, Figure, Given, Slider, lesson
from .lesson import bracketed, label, number, svg, tag

MOST = 6  # inputs and outputs that have room in the picture


def canned(m: int) -> Callable:
    """y0 = x0·x1, y1 = x0 + 2·x1, and so on round the inputs: m outputs of as many inputs as there are."""

    def f(x):
        n = len(x)
        outputs = [x[i % n] * x[(i + 1) % n] if i % 2 == 0 else x[(i - 1) % n] + 2 * x[i % n] for i in range(m)]
        return torch.stack(outputs)

    return f


def _formula(i: int, n: int) -> str:
    """The formula of output i of the course's function."""
    if i % 2 == 0:
        return f"y{_sub(i)} = x{_sub(i % n)} · x{_sub((i + 1) % n)}"
    return f"y{_sub(i)} = x{_sub((i - 1) % n)} + 2 · x{_sub(i % n)}"


class _PickV:
    letter = "v"

    def __init__(self, f: Callable | None, x: Sequence[float], m: int, v: Sequence[float] | None):
        self.own = f is not None
        self.f = f if f is not None else canned(m)
        self.rows(x)
        self.weigh(v if v is not None else [1.0] * self.count)

    @property
    def count(self) -> int:
        """How many numbers the learner picks: one for each output."""
        return self.m

    @property
    def weights(self) -> list[float]:
        return self.v

    def presets(self) -> list[tuple[str, list[float], str]]:
        """Buttons: (name, weights, tip)."""
        m = self.m
        if m == 1:
            return [("all 1", [1.0], "as y.sum() would do")]
        rows = [(f"only y{_sub(i)}", [float(i == k) for k in range(m)], f"row {i} of J") for i in range(m)]
        return [("all 1", [1.0] * m, "as y.sum() would do"), (f"all 1/{m}", [1 / m] * m, "as y.mean() would do"), *rows]

    def _run(self) -> tuple[Any, Any]:
        x = tensor(self.x, dtype=torch.float64, requires_grad=True)
        y = self.f(x)
        if not isinstance(y, torch.Tensor) or not y.requires_grad:
            raise TypeError(f"the function must compute a tensor from x, but it returned {type(y).__name__}.")
        return x, y.reshape(-1)

    def rows(self, x: Sequence[float]) -> None:
        """The whole Jacobian at x: one backward pass for each output."""
        self.x = [float(number) for number in x]
        leaf, y = self._run()
        self.n, self.m = len(self.x), len(y)
        if not (1 <= self.n <= MOST and 1 <= self.m <= MOST):
            raise ValueError(f"there is room for 1 to {MOST} inputs and outputs, not for {self.n} and {self.m}.")
        self.y = y.detach().tolist()
        self.J = []
        for i in range(self.m):
            (row,) = torch.autograd.grad(y[i], leaf, retain_graph=True, allow_unused=True)
            self.J.append([0.0] * self.n if row is None else row.tolist())
        if not all(math.isfinite(entry) for row in [self.y, *self.J] for entry in row):
            raise ValueError("the function has no finite value and slope there.")

    def weigh(self, v: Sequence[float]) -> None:
        """One backward pass with v."""
        self.v = [float(weight) for weight in v]
        leaf, y = self._run()
        y.backward(tensor(self.v, dtype=torch.float64))
        self.grad = leaf.grad.tolist()

    @property
    def L(self) -> float:
        return sum(weight * y for weight, y in zip(self.v, self.y, strict=True))

    def _kind(self) -> str:
        ones = [weight for weight in self.v if weight]
        if self.m > 1 and all(weight == 1 for weight in self.v):
            return " This is y.sum().backward()."
        if self.m > 1 and all(math.isclose(weight, 1 / self.m) for weight in self.v):
            return " This is y.mean().backward()."
        if ones == [1.0]:
            return f" This is y[{self.v.index(1.0)}].backward(): one row of J."
        return " No output counts, so every gradient is 0." if not ones else ""

    def sentence(self) -> str:
        vector = ", ".join(number(weight, 4) for weight in self.v)
        result = ", ".join(number(entry, 4) for entry in self.grad)
        return f"y.backward(v) with v = [{vector}] leaves x.grad = [{result}].{self._kind()}"

    def _sum(self, j: int) -> str:
        terms = " + ".join(f"{bracketed(w, 4)}·{bracketed(row[j], 4)}" for w, row in zip(self.v, self.J, strict=True))
        return f"{terms} = {number(self.grad[j], 4)}"

    def svg(self) -> str:
        w, h = min(92.0, 400 / self.n), min(52.0, 230 / self.m)
        left, top = 176.0, 72.0
        most = max(abs(entry) for row in self.J for entry in row) or 1.0
        out = label(58, 32, "v", "h bwd", "middle") + label(168, 32, "outputs", "t soft", "end")
        out += label(left + w * self.n / 2, 32, "J", "h fwd", "middle")
        for j in range(self.n):
            out += label(left + w * (j + 0.5), top - 12, f"x{_sub(j)}={number(self.x[j], 3)}", "num t", "middle")
        for i in range(self.m):
            y = top + h * i
            middle = y + h / 2 + 5
            out += tag("rect", "pill", x=24, y=y + 4, width=68, height=h - 8, rx=6)
            out += label(58, middle, number(self.v[i], 4), "num v b bwd", "middle")
            out += label(98, middle, "×", "t soft") + label(
                168, middle, f"y{_sub(i)}={number(self.y[i], 3)}", "num t", "end"
            )
            for j in range(self.n):
                out += _cell(left + w * j, y, w, h, self.J[i][j], most)
        y = top + h * self.m + 14
        out += tag("line", "rule", x1=24, x2=left + w * self.n, y1=y - 8, y2=y - 8)
        out += label(168, y + 27, "vᵀJ = x.grad", "t b bwd", "end")
        for j in range(self.n):
            x = left + w * j
            out += tag("rect", "pill", x=x + 2, y=y + 2, width=w - 4, height=40, rx=6)
            out += label(x + w / 2, y + 27, number(self.grad[j], 4), "num v b bwd", "middle")
        height = y + 58
        panel = left + w * self.n + 28
        width = max(760.0, panel + 256)
        if width - panel > 330:  # room for the sums themselves
            lines = [f"x{_sub(j)}.grad = {self._sum(j)}" for j in range(min(self.n, 3))]
            if not self.own:
                lines = [*(_formula(i, self.n) for i in range(self.m)), "", *lines]
            for k, line in enumerate(lines[:8]):
                out += label(panel, top - 14 + 22 * k, line, "num t")
        facts = (
            (f"J: {self.m} × {self.n} = {self.m * self.n} numbers, {self.m} pass{'es' * (self.m > 1)}", "t fwd"),
            (f"x.grad: {self.n} number{'s' * (self.n > 1)}, 1 pass", "t bwd"),
        )
        for k, (text, colour) in enumerate(facts):
            out += label(panel, y + 18 + 20 * k, text, colour)
        return svg(width, max(height, 180), out, self.sentence())

    def text(self) -> str:
        head = f"{'v':>8}{'output':>12} │" + "".join(f"{f'x{j} = {number(x, 4)}':>12}" for j, x in enumerate(self.x))
        rows = [head]
        for i, row in enumerate(self.J):
            line = f"{number(self.v[i], 4):>8}{f'y{i} = {number(self.y[i], 4)}':>12} │"
            rows.append(line + "".join(f"{number(entry, 4):>12}" for entry in row))
        rows.append(f"{'x.grad':>20} │" + "".join(f"{number(entry, 4):>12}" for entry in self.grad))
        return "\n".join([*rows, self.sentence()])


class _PickU(_PickV):
    """The same Jacobian from its other side: weights for the inputs, one forward pass, a column as the result."""

    letter = "u"

    @property
    def count(self) -> int:
        return self.n

    @property
    def weights(self) -> list[float]:
        return self.u

    def presets(self) -> list[tuple[str, list[float], str]]:
        n = self.n
        columns = [
            (f"only x{_sub(j)}", [float(j == k) for k in range(n)], f"column {j} of the Jacobian") for j in range(n)
        ]
        return [("all 1", [1.0] * n, "all inputs move alike"), *(columns if n > 1 else [])]

    def weigh(self, v: Sequence[float]) -> None:
        """One forward pass with u."""
        self.u = [float(weight) for weight in v]
        with forward_ad.dual_level():
            x = forward_ad.make_dual(tensor(self.x, dtype=torch.float64), tensor(self.u, dtype=torch.float64))
            moved = forward_ad.unpack_dual(self.f(x)).tangent
            self.push = [0.0] * self.m if moved is None else moved.reshape(-1).tolist()

    def sentence(self) -> str:
        vector = ", ".join(number(weight, 4) for weight in self.u)
        result = ", ".join(number(entry, 4) for entry in self.push)
        only = f" This is column {self.u.index(1.0)} of the Jacobian." if [w for w in self.u if w] == [1.0] else ""
        return f"x moves along u = [{vector}]: one forward pass says that y moves along Ju = [{result}].{only}"

    def svg(self) -> str:
        w, h = min(92.0, 400 / self.n), min(52.0, 230 / self.m)
        left, top = 96.0, 104.0
        most = max(abs(entry) for row in self.J for entry in row) or 1.0
        result = left + w * self.n + 26
        out = label(left - 12, 34, "u", "h fwd", "end") + label(left - 12, 62, "×", "t soft", "end")
        out += label(result + 40, top - 14, "Ju", "h fwd", "middle")
        for j in range(self.n):
            x = left + w * j
            out += tag(
                "rect", x=x + 2, y=12, width=w - 4, height=36, rx=6, style="fill:var(--fwd-soft);stroke:var(--fwd)"
            )
            out += label(x + w / 2, 35, number(self.u[j], 4), "num v b fwd", "middle")
            out += label(x + w / 2, top - 14, f"x{_sub(j)}={number(self.x[j], 3)}", "num t", "middle")
        for i in range(self.m):
            y = top + h * i
            middle = y + h / 2 + 5
            out += label(left - 8, middle, f"y{_sub(i)}={number(self.y[i], 3)}", "num t", "end")
            for j in range(self.n):
                out += _cell(left + w * j, y, w, h, self.J[i][j], most)
            out += tag(
                "rect", x=result, y=y + 3, width=80, height=h - 6, rx=6, style="fill:var(--fwd-soft);stroke:var(--fwd)"
            )
            out += label(result + 40, middle, number(self.push[i], 4), "num v b fwd", "middle")
        out += tag("line", "rule", x1=result - 13, x2=result - 13, y1=top - 4, y2=top + h * self.m + 4)
        panel, bottom = result + 108, top + h * self.m
        facts = (
            f"the Jacobian: {self.n} forward pass{'es' * (self.n > 1)}",
            f"Ju: {self.m} number{'s' * (self.m > 1)}, 1 pass",
        )
        for k, text in enumerate(facts):
            out += label(panel, bottom - 24 + 20 * k, text, "t fwd" if k else "t soft")
        return svg(max(760.0, panel + 300), bottom + 22, out, self.sentence())

    def text(self) -> str:
        rows = [f"{'u':>12} │" + "".join(f"{number(weight, 4):>12}" for weight in self.u)]
        rows.append(
            f"{'':>12} │" + "".join(f"{f'x{j} = {number(x, 4)}':>12}" for j, x in enumerate(self.x)) + f"{'Ju':>12}"
        )
        for i, row in enumerate(self.J):
            entries = "".join(f"{number(entry, 4):>12}" for entry in row)
            rows.append(f"{f'y{i} = {number(self.y[i], 4)}':>12} │{entries}{number(self.push[i], 4):>12}")
        return "\n".join([*rows, self.sentence()])


def _cell(x: float, y: float, w: float, h: float, entry: float, most: float) -> str:
    """One entry of the Jacobian: the larger, the darker."""
    shade = 0.08 + 0.42 * abs(entry) / most if entry else 0.0
    out = tag(
        "rect", x=x + 2, y=y + 2, width=w - 4, height=h - 4, rx=4, style=f"fill:var(--fwd);fill-opacity:{shade:.2f}"
    )
    out += tag("rect", "grid", x=x + 2, y=y + 2, width=w - 4, height=h - 4, rx=4, fill="none")
    return out + label(x + w / 2, y + h / 2 + 5, number(entry, 4), "num v b halo" if entry else "num v soft", "middle")


def _sub(i: int) -> str:
    return "₀₁₂₃₄₅₆₇₈₉"[i]


class _Picking(Figure):
    """What both sides of the Jacobian share: a slider for each weight, and two for the sizes of the course's function."""

    side: type[_PickV]
    core: Any = None  # the side's Jacobian; None until setup
    n, m = 2, 2

    def begin(self, f: Any, x: Any, weights: Any) -> None:
        if f is not None and not callable(f):
            raise TypeError(f"it needs a function of one tensor, such as lambda x: x**2, and not {type(f).__name__}.")
        outputs = len(weights) if weights is not None and self.side is _PickV else 2
        self._take(self.side(f, list(x) if x is not None else [2.0, 3.0], outputs, weights))

    def _take(self, core: _PickV) -> None:
        self.core, self.n, self.m = core, core.n, core.m
        for i, weight in enumerate(core.weights):
            setattr(self, f"w{i}", weight)

    def fields(self) -> dict[str, Field]:
        result = super().fields()
        if self.core is None:
            return result
        results: list[Field] = []
        for i, weight in enumerate(self.core.weights):
            low, high = min(-2.0, weight), max(2.0, weight)
            results.append(
                Slider(f"{self.core.letter}{_sub(i)}", 1.0, low, high, 0.1, show=lambda w: number(w, 4)).named(f"w{i}")
            )
        if not self.core.own:
            results += [Slider("n inputs", 2, 1, MOST).named("n"), Slider("m outputs", 2, 1, MOST).named("m")]
        return {**result, **{field.name: field for field in results}}

    @property
    def presets(self) -> dict[str, dict[str, Any]]:  # type: ignore[override]
        return {
            name: {f"w{i}": weight for i, weight in enumerate(weights)} for name, weights, _tip in self.core.presets()
        }

    def moved(self, _name: str) -> None:
        if (self.n, self.m) != (self.core.n, self.core.m):
            self._take(self.side(None, [2.0 + j for j in range(self.n)], self.m, None))
            return
        self.core = copy.copy(self.core)
        self.core.weigh([getattr(self, f"w{i}") for i in range(self.core.count)])

    def sentence(self) -> str:
        return self.core.sentence()

    def draw(self) -> str:
        return self.core.svg()

    def text(self) -> str:
        return self.core.text()


@lesson
class pick_v(_Picking):
    """Weight the outputs of a function with v and see what backward(v) leaves in x.grad, beside the whole Jacobian.

    f: a function of one tensor of shape (n,) that returns a tensor of m entries, yours or the course's; x: n numbers; v: m numbers. n and m
    may be 1 to 6; with the course's function two sliders change them. Returns a widget, or one sentence that says what is wrong.

    >>> print(pick_v(v=[1, 0]).text())
           v      output │      x0 = 2      x1 = 3
           1      y0 = 6 │           3           2
           0      y1 = 8 │           1           2
                  x.grad │           3           2
    y.backward(v) with v = [1, 0] leaves x.grad = [3, 2]. This is y[0].backward(): one row of J.
    """

    side = _PickV
    f, x, v = Given(None), Given(None), Given(None)

    def setup(self) -> None:
        self.begin(self.f, self.x, self.v)


@lesson
class pick_u(_Picking):
    """The other side of `pick_v`: weight the inputs with u and see what one forward pass says, beside the whole Jacobian.

    f, x: as in pick_v; u: one number for each input. Returns a widget, or one sentence that says what is wrong.

    >>> print(pick_u(u=[1, 0]).text().splitlines()[-1])
    x moves along u = [1, 0]: one forward pass says that y moves along Ju = [3, 1]. This is column 0 of the Jacobian.
    """

    side = _PickU
    f, x, u = Given(None), Given(None), Given(None)

    def setup(self) -> None:
        self.begin(self.f, self.x, self.u)


# ---- what the whole Jacobian costs -----------------------------------------------------------------------------------------------

LAPTOP = 16e9  # bytes
WIDEST = 16  # powers of ten on the axis of bytes


def _count(amount: int, what: str) -> str:
    return f"{amount:,} {what}{'s' * (amount != 1)}"


@lesson
class jacobian_size(Figure):
    """How much memory and how many backward passes the whole Jacobian takes, and how little vᵀJ.

    n, m: numbers of inputs and outputs, 1 to 10,000,000. Returns a widget, or one sentence that says what is wrong.

    >>> "4 TB in float32" in jacobian_size(10**6, 10**6).text()
    True
    """

    n = Slider("n inputs", 1000, 1, 10**7, 0.5, log=True, show=lambda n: f"{n:,.0f}")
    m = Slider("m outputs", 1000, 1, 10**7, 0.5, log=True, show=lambda m: f"{m:,.0f}")

    def setup(self) -> None:
        self.n, self.m = round(self.n), round(self.m)
        self.bytes, self.row = 4 * self.n * self.m, 4 * self.n

    def sentence(self) -> str:
        fit = "more than a laptop's 16 GB" if self.bytes > LAPTOP else "it fits into a laptop"
        return (
            f"{_count(self.n, 'input')}, {_count(self.m, 'output')}: the whole Jacobian has {_count(self.n * self.m, 'number')}, "
            f"{in_bytes(self.bytes)} in float32 ({fit}), and takes {self.m:,} backward pass{'es' * (self.m > 1)}. "
            f"x.grad has {_count(self.n, 'number')}, {in_bytes(self.row)}, in one pass."
        )

    def draw(self) -> str:
        x0, x1 = 150.0, 560.0

        def at(count: float) -> float:
            return x0 + min(math.log10(max(count, 1)), WIDEST) / WIDEST * (x1 - x0)

        out = label(24, 30, f"n = {_count(self.n, 'input')},  m = {_count(self.m, 'output')}", "h")
        for e in range(0, WIDEST + 1, 3):
            out += tag("line", "grid", x1=at(10**e), x2=at(10**e), y1=62, y2=170)
            out += label(at(10**e), 188, in_bytes(10**e).replace("1 bytes", "1 byte"), "t soft", "middle")
        rows = (("the Jacobian J", self.bytes, self.m, "fwd", 74), ("vᵀJ = x.grad", self.row, 1, "bwd", 124))
        for name, count, passes, colour, y in rows:
            dash = {} if colour == "fwd" else {"stroke_dasharray": "6 3"}
            style = f"fill:var(--{colour}-soft);stroke:var(--{colour});stroke-width:2"
            out += label(x0 - 12, y + 23, name, f"t b {colour}", "end")
            out += tag("rect", x=x0, y=y, width=max(at(count) - x0, 2.0), height=36, rx=4, style=style, **dash)
            out += label(x1 + 22, y + 15, in_bytes(count), f"num v b {colour}")
            out += label(x1 + 22, y + 32, f"{passes:,} backward pass{'es' * (passes > 1)}", "t soft")
        out += tag("line", "now", x1=at(LAPTOP), x2=at(LAPTOP), y1=60, y2=170)
        out += label(at(LAPTOP), 56, "a laptop's memory", "t soft", "middle")
        return svg(790, 206, out, self.sentence())
