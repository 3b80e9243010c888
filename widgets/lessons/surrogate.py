"""S7, the surrogate gradient: a function's curve, its true slope at x, and the gradient that its backward returns instead.

What lives here: `surrogate(f, x)` for ReLU and four operations written as autograd.Function, or the learner's own. The gradient comes from
the engine's backward pass, the true slope from the function's own values on both sides of x, so that a rule that differs is seen.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad.tensors.create import tensor

from .kit import Choice, Figure, Slider, lesson
from .lesson import label, number, svg, tag
from .tensor_program import MOST, operations

REACH = 3.0
POINTS = 121
H = 1e-6  # of the differences
STEEP = 1e4  # a slope beyond this is a jump


class MyReLU(torch.autograd.Function):
    """max(x, 0); its mask lets the gradient pass at 0."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x < 0, torch.zeros_like(g), g)


class StraightReLU(torch.autograd.Function):
    """max(x, 0) forward, the identity backward."""

    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g


class StraightRound(torch.autograd.Function):
    """round(x) forward, the identity backward."""

    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, g):
        return g


class MyClamp(torch.autograd.Function):
    """x kept between low and high; the gradient passes inside, limits included."""

    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x)
        ctx.low, ctx.high = low, high
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where((x >= ctx.low) & (x <= ctx.high), g, torch.zeros_like(g)), None, None


FUNCTIONS: dict[str, Callable] = {
    "torch.relu": torch.relu, "MyReLU": MyReLU.apply, "straight-through ReLU": StraightReLU.apply, "torch.round": torch.round,
    "straight-through round": StraightRound.apply, "clamp": lambda x: MyClamp.apply(x, -1.0, 1.0),
}  # fmt: skip


class Compared:
    """f between −REACH and REACH: values, the slope of the values, and what backward returns for the upstream gradient 1."""

    def __init__(self, f: Callable, name: str, x: float):
        self.f, self.name = f, name
        self.xs = [round(-REACH + 2 * REACH * k / (POINTS - 1), 6) for k in range(POINTS)]
        self.known: dict[float, tuple[float, float | None, float, float, float]] = {}
        probe = self._one(f(tensor(float(x), dtype=torch.float64, requires_grad=True)))
        if operations(probe, MOST) > MOST:
            raise ValueError(f"one call runs more than {MOST} operations, and the picture takes hundreds of calls.")
        for at in self.xs:
            self.measure(at)
        self.move(x)

    def value(self, x: float) -> float:
        with torch.no_grad():
            return float(self._one(self.f(tensor(x, dtype=torch.float64))).item())

    @staticmethod
    def _one(y: Any) -> Any:
        if not isinstance(y, torch.Tensor) or y.numel() != 1:
            what = f"a tensor of shape {tuple(y.shape)}" if isinstance(y, torch.Tensor) else type(y).__name__
            raise TypeError(f"the function must make one number from one number, and it returned {what}.")
        return y

    def measure(self, x: float) -> tuple[float, float | None, float, float, float]:
        """(value, true slope or None, slope on the left, on the right, gradient from backward)"""
        if x not in self.known:
            leaf = tensor(x, dtype=torch.float64, requires_grad=True)
            y = self._one(self.f(leaf))
            sent = 0.0
            if y.requires_grad:
                y.backward(torch.ones_like(y))
                sent = 0.0 if leaf.grad is None else float(leaf.grad.item())
            value = float(y.item())
            left, right = (value - self.value(x - H)) / H, (self.value(x + H) - value) / H
            if all(map(math.isfinite, (value, left, right, sent))):
                smooth = abs(left - right) <= 1e-3 * (1 + abs(left) + abs(right))
                self.known[x] = value, _clean((left + right) / 2) if smooth else None, _clean(left), _clean(right), sent
            else:  # outside of the function's domain: a gap in the picture
                self.known[x] = math.nan, None, math.nan, math.nan, math.nan
        return self.known[x]

    def move(self, x: float) -> None:
        if math.isnan(self.measure(float(x))[0]):
            raise ValueError(f"the function has no finite value and gradient at x = {number(float(x))}.")
        self.x = float(x)

    @property
    def agree(self) -> bool:
        _, true, _, _, sent = self.measure(self.x)
        return true is not None and abs(true - sent) <= 1e-4 * (1 + abs(true))

    def _sides(self) -> str:
        _, _, left, right, _ = self.measure(self.x)
        if max(abs(left), abs(right)) > STEEP:
            return "no slope, the function jumps here"
        return f"no slope, {number(left, 3)} on the left and {number(right, 3)} on the right"

    def sentence(self) -> str:
        y, true, _, _, sent = self.measure(self.x)
        at = f"{self.name} at x = {number(self.x, 4)}: value {number(y, 4)}."
        if true is None:
            return f"{at} The function has {self._sides()}; backward returns {number(sent, 4)}. That is a convention."
        if self.agree:
            return f"{at} Its slope is {number(true, 4)}, and backward returns {number(sent, 4)}: the same."
        return f"{at} Its slope is {number(true, 4)}, but backward returns {number(sent, 4)}: a surrogate."

    def differing(self) -> int:
        """At how many of the points that have a slope backward returns something else."""
        rows = [self.known[x] for x in self.xs]
        return sum(true is not None and abs(true - sent) > 1e-3 * (1 + abs(true)) for _, true, _, _, sent in rows)

    # the picture -----------------------------------------------------------------------------------------------------------------
    def svg(self) -> str:
        y, true, _, _, sent = self.measure(self.x)
        rows = [self.known[x] for x in self.xs]
        out = _panel(20, "the function")
        low, high = _range([row[0] for row in rows], 0.8)
        across, up = _axes(20, low, high)
        out += _frame(20, low, high)
        out += tag("path", "curve", d=_path(self.xs, [row[0] for row in rows], across, up), style="stroke:var(--ink)")
        if true is not None:
            out += _line(self.x, y, true, across, up, low, high, "central")
        out += _line(self.x, y, sent, across, up, low, high, "forward")
        out += tag(
            "circle", cx=across(self.x), cy=up(y), r=5.5, style="fill:var(--ink);stroke:var(--bg);stroke-width:1.5"
        )

        out += _panel(424, "its slope, and what backward returns")
        slopes = [row[1] if row[1] is not None else math.nan for row in rows]
        low, high = _range([*slopes, *(row[4] for row in rows)], 0.35)
        across, up = _axes(424, low, high)
        out += _frame(424, low, high)
        out += tag("path", "curve central", d=_path(self.xs, slopes, across, up), stroke_width=3)
        out += tag("path", "curve forward", d=_path(self.xs, [row[4] for row in rows], across, up))
        out += tag("line", "now", x1=across(self.x), x2=across(self.x), y1=54, y2=254)
        if true is not None:
            out += tag("circle", "central dot", cx=across(self.x), cy=up(true), r=6)
        out += tag("rect", "forward dot", x=across(self.x) - 5, y=up(sent) - 5, width=10, height=10)
        true_text = number(true, 4) if true is not None else self._sides().split(",")[0]
        out += tag("line", "curve central", x1=40, x2=74, y1=294, y2=294) + label(
            82, 298, f"true slope: {true_text}", "t b fwd"
        )
        out += tag("line", "curve forward", x1=444, x2=478, y1=294, y2=294) + label(
            486, 298, f"backward returns: {number(sent, 4)}", "t b bwd"
        )
        return svg(820, 316, out, self.sentence())

    def text(self) -> str:
        count = self.differing()
        return f"{self.sentence()} At {count} of {POINTS} places between −3 and 3 the two differ."


def _clean(slope: float) -> float:
    """Rounding noise of the differences is dropped: they have about nine digits."""
    return round(slope, 7) + 0.0 if abs(slope) < STEEP else slope


def _range(values: list[float], margin: float) -> tuple[float, float]:
    finite = [v for v in values if math.isfinite(v)]
    low, high = min(finite), max(finite)
    return low - margin, high + margin


def _panel(left: float, title: str) -> str:
    return tag("rect", "panel", x=left, y=14, width=376, height=256, rx=9) + label(left + 16, 38, title, "h")


def _axes(left: float, low: float, high: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
    def across(x: float) -> float:
        return left + 48 + (x + REACH) / (2 * REACH) * 308

    def up(y: float) -> float:
        return 250 - (y - low) / (high - low) * 196

    return across, up


def _frame(left: float, low: float, high: float) -> str:
    """Whole numbers on both axes."""
    across, up = _axes(left, low, high)
    out = ""
    step = max(1, math.ceil((high - low) / 7))
    for k in range(math.ceil(low / step) * step, math.floor(high) + 1, step):
        out += tag("line", "grid", x1=across(-REACH), x2=across(REACH), y1=up(k), y2=up(k)) + label(
            left + 40, up(k) + 4, number(k), "t soft", "end"
        )
    for k in range(-3, 4):
        out += label(across(k), 265, number(k), "t soft", "middle")
    return out


def _path(xs: list[float], ys: list[float], across, up) -> str:
    """A line through the points, lifted where the function jumps and where there is no number."""
    d, before = "", math.nan
    wide = xs[1] - xs[0]
    spread = max((y for y in ys if math.isfinite(y)), default=0) - min((y for y in ys if math.isfinite(y)), default=0)
    for x, y in zip(xs, ys, strict=True):
        if math.isfinite(y):
            broken = not math.isfinite(before) or abs(y - before) > max(6 * wide, 0.1 * spread)
            d += f"{'M' if broken else 'L'}{across(x):.1f} {up(y):.1f}"
        before = y
    return d or "M0 0"


def _line(x: float, y: float, slope: float, across, up, low: float, high: float, cls: str) -> str:
    """The line through (x, y) with this slope, as far as it stays in the frame."""
    half = 1.3 / math.sqrt(1 + slope * slope)
    ends = [min(max(half, 0.0), REACH - x), min(max(half, 0.0), REACH + x)]
    for k, sign in enumerate((1, -1)):
        room = (high - y if sign * slope > 0 else y - low) / abs(slope) if slope else half
        ends[k] = min(ends[k], room)
    right, left = x + ends[0], x - ends[1]
    return tag(
        "line",
        f"curve {cls}",
        x1=across(left),
        x2=across(right),
        y1=up(y - slope * ends[1]),
        y2=up(y + slope * ends[0]),
        stroke_width=3,
    )


def _callable(f: Any) -> Callable:
    """What to call for f. Raises TypeError."""
    if isinstance(f, type):
        if issubclass(f, torch.autograd.Function):
            return f.apply
        raise TypeError(
            f"{f.__name__} is a class without apply. Write class {f.__name__}(torch.autograd.Function), and pass it again."
        )
    if callable(f):
        return f
    raise TypeError(f"it needs an autograd.Function or a function of one number, and not {type(f).__name__}.")


@lesson
class surrogate(Figure):
    r"""Drag x along a function: its true slope, and the gradient that backward returns, which may be another.

    f: your own torch.autograd.Function (the class itself), a function of one number, or one of the names on the buttons; x: where to start,
    between −3 and 3. Returns a widget, or one sentence that says what is wrong.

    >>> print(surrogate("straight-through round").text().replace(". At", ".\nAt"))
    straight-through round at x = 2.7: value 3. Its slope is 0, but backward returns 1: a surrogate.
    At 115 of 121 places between −3 and 3 the two differ.
    """

    f = Choice({}, "function", "straight-through ReLU")
    x = Slider("x", 2.7, -REACH, REACH, 0.1)
    compared: Any = None  # a Compared; None until setup

    def fields(self):
        return {**super().fields(), "f": _Functions(getattr(self, "own", None))}

    def setup(self) -> None:
        if not isinstance(self.f, str):  # the learner's own: offered first, beside the others
            name = getattr(self.f, "__name__", "yours").replace("<lambda>", "yours")
            self.own = {f"your {name}" if name in FUNCTIONS else name: _callable(self.f)}
            self.f = next(iter(self.own))
        choices = self.fields()["f"].options
        if self.compared is None or self.compared.name != self.f:
            self.compared = Compared(choices[self.f], self.f, self.x)
        self.compared = copy.copy(self.compared)
        self.compared.move(self.x)

    def sentence(self) -> str:
        return self.compared.sentence()

    def draw(self) -> str:
        return self.compared.svg()

    def text(self) -> str:
        return self.compared.text()


class _Functions(Choice):
    """The course's functions by name, and the learner's own."""

    def __init__(self, own: dict[str, Callable] | None):
        super().__init__({**(own or {}), **FUNCTIONS}, "function", "straight-through ReLU")
        self.named("f")

    def accept(self, value: Any) -> Any:
        if isinstance(value, str) and value not in self.options:
            raise ValueError(
                f"it does not know {value!r}. It knows {', '.join(self.options)}, or takes your own autograd.Function."
            )
        return "straight-through ReLU" if value is None else value

    def places(self, value: Any) -> list[str]:
        return list(self.options)
