"""The step-size lesson: the error of a difference quotient against its step h, and why smaller is not always better.

What lives here: `step_size(f, x)`, the log-log picture with a slider for h and the subtraction written out digit by digit. Every number is
real float arithmetic: the quotients call `f` at x + h and x - h, the reference slope is the engine's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from minigrad import Value

from ..show import Table
from .kit import Figure, Given, Slider, lesson
from .lesson import label, number, svg, tag

MOST = 2000  # values made by one call: the picture takes hundreds of calls
EXPONENTS = [k / 4 for k in range(0, -65, -1)]  # h = 1 down to 1e-16, four points for each power of ten
_LOW, _HIGH = -16.0, 2.0  # the error axis, as powers of ten; smaller errors, such as 0, are drawn at the lower edge


@dataclass(frozen=True)
class Quotient:
    """Both difference quotients at one h, with the numbers they were made from. None: f has no finite value there."""

    h: float
    left: float | None  # f(x - h)
    middle: float  # f(x)
    right: float | None  # f(x + h)
    slope: float  # the engine's derivative: the reference

    @property
    def forward(self) -> float | None:
        return None if self.right is None else (self.right - self.middle) / self.h

    @property
    def central(self) -> float | None:
        return None if self.right is None or self.left is None else (self.right - self.left) / (2 * self.h)

    def error(self, kind: str) -> float | None:
        estimate = getattr(self, kind)
        return None if estimate is None else abs(estimate - self.slope)


def cube(x):
    return x * x * x


def _number_of(f: Callable, x: float) -> float | None:
    try:
        y = f(Value(x))
        y = y.data if isinstance(y, Value) else float(y)
    except (ArithmeticError, ValueError):
        return None
    return y if math.isfinite(y) else None


def quotient(f: Callable, x: float, h: float) -> Quotient:
    """Both quotients of `f` at `x` with step `h`. Raises ValueError where `f` has no finite value or slope at `x` itself."""
    leaf = Value(float(x))
    y = f(leaf)
    if not isinstance(y, Value):
        raise TypeError(
            f"step_size needs a function that returns a Value made from its argument, but it returned {type(y).__name__}."
        )
    if (result := y.age - leaf.age) > MOST:
        raise ValueError(
            f"one call makes {result:,} values, and the picture takes hundreds of calls: show a shorter function."
        )
    y.backward()
    if not (math.isfinite(y.data) and math.isfinite(leaf.grad)):
        raise ValueError(f"the function has no finite value and slope at x = {number(x)}: choose another x.")
    return Quotient(h, _number_of(f, x - h), y.data, _number_of(f, x + h), leaf.grad)


def _digits_left(q: Quotient) -> int:
    """How many significant digits of the difference f(x+h) - f(x-h) are above the last digit of f."""
    if q.right is None or q.left is None:
        return 0
    difference = abs(q.right - q.left)
    last = math.ulp(max(abs(q.right), abs(q.left)))
    return 0 if difference < last else min(16, 1 + math.floor(math.log10(difference / last)))


def _correct_digits(estimate: float | None, slope: float) -> int:
    if estimate is None:
        return 0
    if estimate == slope:
        return 16
    relative = abs(estimate - slope) / max(abs(slope), 1e-300)
    return max(0, min(16, math.floor(-math.log10(relative)))) if relative < 1 else 0


def _dot(kind: str, x: float, y: float, size: float) -> str:
    """Round for the forward, square for the central difference."""
    if kind == "forward":
        return tag("circle", "forward dot", cx=x, cy=y, r=size)
    return tag("rect", "central dot", x=x - size, y=y - size, width=2 * size, height=2 * size)


def _power(e: int) -> str:
    return "1" if e == 0 else f'10<tspan dy="-5" font-size="11.5">{str(e).replace("-", "−")}</tspan>'


def _plain(h: float) -> str:
    return number(h, 2, power=h < 0.05)


def _short(error: float | None) -> str:
    return "no value" if error is None else number(error, 2, power=0 < error < 1e-3)


@lesson
class step_size(Figure):
    """Show the error of the forward and the central difference of `f` at `x`, for every h from 1 down to 1e-16.

    f: a function of one Value (the course starts with x³). x: where to differentiate. h: where the slider starts.
    Returns a widget; where it cannot draw, a widget with one sentence that says why.

    >>> from widgets.lessons import step_size
    >>> print(step_size(h=1e-5).text().splitlines()[0][:46])
    Slope of x³ at x = 2: with h = 1e−5 the centra
    """

    f = Given(cube)
    x = Given(2.0)
    h = Slider("step h", 0.1, 1e-16, 1.0, 0.25, log=True, show=_plain)

    def setup(self) -> None:
        if not callable(self.f):
            raise TypeError(
                f"it needs a function of one Value, such as lambda x: x.sin(), and not {type(self.f).__name__}."
            )
        self.x = float(self.x)
        name = getattr(self.f, "__name__", "f")
        self.label = "x³" if self.f is cube else "f(x)" if name in ("<lambda>", "f") else f"{name}(x)"
        self.steps = [quotient(self.f, self.x, 10.0**e) for e in EXPONENTS]
        self.moved("h")

    def moved(self, _name: str) -> None:
        self.now = quotient(self.f, self.x, self.h)

    def best(self, kind: str) -> Quotient | None:
        """The h of the table with the smallest error; of equals, the largest h."""
        errors = [(max(error, 1e-16), -q.h, q) for q in self.steps if (error := q.error(kind)) is not None]
        return min(errors, key=lambda e: e[:2])[2] if errors else None

    X0, X1, Y0, Y1 = 62, 500, 34, 286

    def _x(self, h: float) -> float:
        return self.X0 + (math.log10(h) + 16) / 16 * (self.X1 - self.X0)

    def _y(self, error: float) -> float:
        e = min(max(math.log10(error), _LOW), _HIGH) if error > 0 else _LOW
        return self.Y1 - (e - _LOW) / (_HIGH - _LOW) * (self.Y1 - self.Y0)

    def _curve(self, kind: str) -> str:
        """One line for each unbroken run of points: it breaks where the function has no value."""
        runs: list[list[str]] = [[]]
        for q in self.steps:
            error = q.error(kind)
            if error is None:
                runs.append([])
            else:
                runs[-1].append(f"{self._x(q.h):.1f},{self._y(error):.1f}")
        return "".join(tag("polyline", f"curve {kind}", points=" ".join(points)) for points in runs if points)

    def _axes(self) -> str:
        out = []
        for e in range(-16, 1, 4):
            x = self._x(10.0**e)
            out.append(tag("line", "grid", x1=x, x2=x, y1=self.Y0, y2=self.Y1))
            out.append(tag("text", "soft t", _power(e), x=x, y=self.Y1 + 17, text_anchor="middle"))
        for e in range(-16, 3, 4):
            y = self._y(10.0**e)
            out.append(tag("line", "grid", x1=self.X0, x2=self.X1, y1=y, y2=y))
            out.append(tag("text", "soft t", _power(e), x=self.X0 - 7, y=y + 4, text_anchor="end"))
        out.append(label((self.X0 + self.X1) / 2, self.Y1 + 36, "step h", "t", "middle"))
        out.append(label(self.X0 - 48, self.Y0 - 14, "error of the slope"))
        return "".join(out)

    def _marks(self) -> str:
        """The chosen h, and a round or a square mark on each curve."""
        x = self._x(self.now.h)
        out = tag("line", "now", x1=x, x2=x, y1=self.Y0, y2=self.Y1)
        for kind in ("forward", "central"):
            error = self.now.error(kind)
            if error is not None:
                out += _dot(kind, x, self._y(error), 5.5)
        return out

    def _legend(self) -> str:
        x, y = self.X0 + 10.0, self.Y1 - 34.0
        out = tag("rect", "panel", x=x - 6, y=y - 13, width=176, height=40, rx=5)
        for kind in ("forward", "central"):
            out += (
                tag("line", f"curve {kind}", x1=x, x2=x + 26, y1=y, y2=y)
                + _dot(kind, x + 13, y, 4)
                + label(x + 34, y + 4, f"{kind} difference")
            )
            y += 17
        return out

    def _sum(self) -> str:
        """The subtraction as a pupil would write it; leading zeros, the digits that cancelled, are pale."""
        q, x, y = self.now, 522.0, self.Y0 + 34.0
        out = label(x, self.Y0 + 4, f"Central difference, h = {_plain(q.h)}", "b t")
        rows = [("Value", q.slope, "bwd b")]
        if q.right is None or q.left is None or q.central is None:
            out += label(x, y, "f has no value on one side of x", "bad t")
            y += 34
        else:
            rows = [
                ("f(x+h)", q.right, ""),
                ("f(x−h)", q.left, ""),
                ("minus", q.right - q.left, "b"),
                ("÷ 2h", q.central, "fwd b"),
                *rows,
            ]
        for name, amount, colour in rows:
            if name in ("minus", "Value"):
                out += tag("line", "rule", x1=x, x2=x + 248, y1=y - 18, y2=y - 18)
            digits = f"{amount:.15f}"[:19].replace("-", "−")
            zeros = re.match(r"−?[0.]*", digits)
            gone = zeros.end() if zeros and name == "minus" else 0
            label_text = (tag("tspan", "gone", digits[:gone]) if gone else "") + digits[gone:]
            out += label(x, y, name, "t soft") + tag("text", f"num d {colour}".strip(), label_text, x=x + 62, y=y)
            y += 28
        if q.central is not None:
            for text, count in (
                ("digits left after minus", _digits_left(q)),
                ("correct digits of the slope", _correct_digits(q.central, q.slope)),
            ):
                out += tag("text", "t", f"{text}: {tag('tspan', 'b', str(count))} of 16", x=x, y=y + 10)
                y += 22
        return out

    # Names for the three straight parts of the curves: (curve, h, name, colour, where beside the curve)
    TRENDS = (
        ("forward", 10**-4.5, "error ~ h", "bwd", (-8, -8)),
        ("central", 10**-4.2, "error ~ h²", "fwd", (12, 16)),
        ("central", 10**-11.5, "error ~ 1/h", "soft", (16, -16)),
    )

    def _trends(self) -> str:
        out = []
        for kind, h, name, colour, (dx, dy) in self.TRENDS:
            q = min(self.steps, key=lambda q: abs(math.log10(q.h / h)))
            error = q.error(kind)
            if error and error > 1e-15:
                out.append(
                    label(
                        self._x(q.h) + dx, self._y(error) + dy, name, f"t halo {colour}", "end" if dx < 0 else "start"
                    )
                )
        return "".join(out)

    def draw(self) -> str:
        curves = self._curve("forward") + self._curve("central")
        return svg(
            800,
            328,
            self._axes() + curves + self._trends() + self._marks() + self._legend() + self._sum(),
            self.sentence(),
        )

    def sentence(self) -> str:
        q = self.now
        if q.central is None:
            return f"At h = {_plain(q.h)} the function has no value on one side of x = {number(self.x)}."
        lost = "rounding" if (best := self.best("central")) and q.h < best.h else "the coarse step"
        tail = "" if q.central == q.slope else f" What is left is the error of {lost}."
        good = _correct_digits(q.central, q.slope)
        return (
            f"Slope of {self.label} at x = {number(self.x)}: with h = {_plain(q.h)} the central difference "
            f"has {good} correct digit{'s' * (good != 1)}, the forward difference {_correct_digits(q.forward, q.slope)}; "
            f"Value gives {number(q.slope, 10)}.{tail}"
        )

    def table(self) -> Table:
        errors = [(q.h, q.error("forward"), q.error("central")) for q in self.steps[::8]]
        rows: list[list[str | tuple[str, float]]] = [
            [_plain(h), *((_short(e), e or 0.0) for e in both)] for h, *both in errors
        ]
        return Table(["h", "forward error", "central error"], rows)
