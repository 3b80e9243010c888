"""Loss scaling: gradients on the number line of float16, and what a factor before the backward pass saves or ruins.

What lives here: `loss_scaling(gradients)`, a film of 25 factors, 1 to 2²⁴; each gradient is really rounded to float16 at each factor.
What does not: automatic mixed precision (minigrad.amp), the player (frames.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

import minigrad as torch
from minigrad import nn

from ..show import Table
from .frames import SLOT, Frames
from .kit import Given, Moments, lesson
from .lesson import label, number, svg, tag

POWERS = 25  # factors 2⁰ to 2²⁴
DOTS = 60  # gradients that have room in the picture
LOW, HIGH = -13, 7  # powers of ten on the line
X0, X1, LINE = 30.0, 790.0, 250.0
TINY, SMALL, LARGE = 2.0**-24, 2.0**-14, 65504.0  # float16: smallest number, smallest with full precision, largest


def canned() -> list[float]:
    """Gradients of a net of eight sigmoid layers, whose slopes shrink from layer to layer."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = nn.Sequential(*[part for _ in range(8) for part in (nn.Linear(8, 8), nn.Sigmoid())]).double()
        x = torch.randn(4, 8, dtype=torch.float64)
    ((model(x) - 0.2) ** 2).mean().backward()
    return [g for p in model.parameters() for g in p.grad.flatten().tolist()]


def read(gradients: Any) -> list[float]:
    """The numbers in a tensor, a list, or the parameters of a model after backward."""
    if isinstance(gradients, nn.Module):
        grads = [p.grad for p in gradients.parameters() if p.grad is not None]
        if not grads:
            raise ValueError("the model has no gradients yet: run backward first.")
        return [g for grad in grads for g in grad.double().flatten().tolist()]
    if isinstance(gradients, torch.Tensor):
        return gradients.detach().double().flatten().tolist()
    if not isinstance(gradients, Iterable) or isinstance(gradients, str):
        raise TypeError(f"it needs a tensor of gradients, or a model after backward, not {type(gradients).__name__}.")
    return [float(g) for g in gradients]


@lesson
class loss_scaling(Frames):
    """See gradients on the number line of float16 while the loss, and so each of them, is multiplied by 1 to 2²⁴.

    gradients: a tensor of yours, a list of numbers, or a model after backward; without it, those of a net of eight sigmoid layers. scale:
    where the slider starts, a power of 2. Returns a widget, or one sentence that says what is wrong.

    >>> print(loss_scaling([1e-8, 0.5]).text())
          loss ×    become 0   come back     inf
               1           1           1       0
              16           0           1       0
             256           0           1       0
           4,096           0           2       0
          65,536           0           2       0
       1,048,576           0           1       1
      16,777,216           0           1       1
    2 gradients, from 1e−8 to 0.5
    """

    gradients = Given(None)
    scale = Given(1.0)
    doublings = Moments("doublings", "start")

    def setup(self) -> None:
        gradients = canned() if self.gradients is None else read(self.gradients)
        power = math.log2(float(self.scale)) if float(self.scale) > 0 else -1.0
        if power != int(power) or not 0 <= power < POWERS:
            raise ValueError(f"scale must be a power of 2 from 1 to 2^{POWERS - 1}, not {self.scale}.")
        self.doublings = int(power)
        remaining = sorted(abs(g) for g in gradients if g and math.isfinite(g))
        if not remaining:
            raise ValueError("none of these gradients is a finite number other than 0.")
        self.all = np.array(remaining)
        self.dots = (
            [remaining[round(i * (len(remaining) - 1) / max(DOTS - 1, 1))] for i in range(DOTS)]
            if len(remaining) > DOTS
            else remaining
        )
        self.counts = [self.count(2.0**k) for k in range(POWERS)]
        self.roll(self.ground(), {None: self.one_take()})

    def count(self, scale: float) -> tuple[int, int, int]:
        """How many gradients are 0 and how many inf in float16; and how many are within 0.1 % after unscaling in float32."""
        with np.errstate(over="ignore"):
            half = (self.all * scale).astype(np.float16)
        back = half.astype(np.float64) / scale
        with np.errstate(invalid="ignore"):
            good = np.abs(back - self.all) <= 1e-3 * self.all
        return int((half == 0).sum()), int(np.isinf(half).sum()), int(good.sum())

    @property
    def best(self) -> int:
        """The smallest factor that keeps most."""
        return max(range(POWERS), key=lambda k: (self.counts[k][2], -k))

    @staticmethod
    def _x(value: float) -> float:
        return X0 + (min(max(math.log10(value), LOW), HIGH) - LOW) / (HIGH - LOW) * (X1 - X0)

    def ground(self) -> str:
        tiny, small, large = map(self._x, (TINY / 2, SMALL, LARGE))
        out = ""
        for a, b, style in (
            (X0, tiny, "fill:var(--bad-soft)"), (tiny, small, "fill:var(--bwd-soft)"), (small, large, "fill:var(--fwd-soft)"),
            (large, X1, "fill:var(--bad-soft)"),
        ):  # fmt: skip
            out += tag("rect", x=a, y=84, width=b - a, height=LINE - 84, style=style)
        heads = (
            (X0, tiny, "becomes 0", "bad"), (tiny, small, "loses digits", "bwd"), (small, large, "three good digits", "fwd"),
            (large, X1, "inf", "bad"),
        )  # fmt: skip
        for a, b, text, colour in heads:
            out += label((a + b) / 2, 102, text, f"t b {colour}", "middle")
        for value, text in ((TINY / 2, "3e−8"), (SMALL, "6e−5"), (LARGE, "65504")):
            x = self._x(value)
            out += tag("line", "rule", x1=x, x2=x, y1=84, y2=LINE) + label(x, 78, text, "num t", "middle")
        for e in range(LOW + 1, HIGH, 2):
            x = self._x(10.0**e)
            out += tag("line", "rule", x1=x, x2=x, y1=LINE, y2=LINE + 5) + label(
                x, LINE + 20, f"10{_power(e)}", "t soft", "middle"
            )
        out += tag("line", "rule", x1=X0, x2=X1, y1=LINE, y2=LINE)
        return svg(820, 330, out + SLOT, "Gradients on the number line of float16")

    def one_take(self) -> dict:
        out = ""
        for i, g in enumerate(self.dots):
            y = 122 + (i * 37) % 116  # spread out, so that neighbours do not hide each other
            spots = " ".join(f"{self._x(g * 2.0**k):.1f},{y}" for k in range(POWERS))
            out += tag("g", "", tag("circle", r=3.6, style="fill:var(--ink);stroke:var(--bg)"), data_move=spots)
        heads = "|".join(f"loss × {2**k:,}" for k in range(POWERS))
        out += tag("text", "num h", "", x=X0, y=40.0, data_text=heads)
        n = len(self.all)
        rows = (
            (X0, "bad", "|".join(f"{zero} of {n} are 0" for zero, _, _ in self.counts)),
            (X0 + 250, "fwd", "|".join(f"{good} of {n} come back to 0.1 %" for _, _, good in self.counts)),
            (X0 + 580, "bad", "|".join(f"{many} of {n} are inf" for _, many, _ in self.counts)),
        )
        for x, colour, text in rows:
            out += tag("text", f"t b {colour}", "", x=x, y=304.0, data_text=text)
        return {"body": out, "says": [self.says(k) for k in range(POWERS)]}

    def says(self, k: int) -> str:
        zero, many, good = self.counts[k]
        n = len(self.all)
        return f"Loss × {2**k:,}: of {n} gradients {zero} become 0 in float16, {many} become inf, and {good} come back to 0.1 %."

    def table(self) -> Table:
        rows = [[f"{2**k:,}", *((str(n), float(n)) for n in self.counts[k])] for k in range(0, POWERS, 4)]
        return Table(["loss ×", "become 0", "inf", "come back"], rows)

    def text(self) -> str:
        rows = [f"{'loss ×':>12}{'become 0':>12}{'come back':>12}{'inf':>8}"]
        for k in range(0, POWERS, 4):
            zero, many, good = self.counts[k]
            rows.append(f"{2**k:>12,}{zero:>12}{good:>12}{many:>8}")
        return "\n".join(
            [
                *rows,
                f"{len(self.all)} gradients, from {number(self.all[0].item(), 3)} to {number(self.all[-1].item(), 3)}",
            ]
        )


def _power(e: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(c)] if c.isdigit() else "⁻" for c in str(e))
