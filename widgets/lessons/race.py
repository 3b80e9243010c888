"""The race: optimisers go down the same surface from the same start, step by step, at every learning rate of a slider.

What lives here: `race(surface)`, the surfaces, and Adam without its bias correction, a slip that runs and looks right. All paths at all
learning rates are computed when the race is made and sent at once: stepping, playing and changing lr ask the kernel for nothing. A race is
fair if each optimizer has the rate that suits it, so that is where the slider starts; uncorrected Adam runs at Adam's.
What does not: the optimisers (minigrad.optim), the player (frames.py), lines of equal height (widgets/contours.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import minigrad as torch
from minigrad.core.errors import a_kind
from minigrad.tensors.create import tensor

from ..contours import contour
from ..show import Table
from .frames import SLOT, Frames
from .kit import Choice, Control, Given, Moments, Steps, lesson
from .lesson import label, number, svg, tag

STEPS = 60
RATES = (0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.9)
COLUMNS, ROWS = 57, 43
X0, Y0, WIDTH, HEIGHT = 16.0, 16.0, 448.0, 336.0
BEST = "best"  # of the learning rates: for each optimizer the one that takes it lowest
YOURS = "yours"


@dataclass(frozen=True)
class Surface:
    """A function of two numbers, the part of the plane that is drawn (left, right, bottom, top), and where the race starts."""

    f: Callable
    box: tuple[float, float, float, float]
    start: tuple[float, float]
    formula: str


SURFACES = {
    "valley": Surface(lambda x, y: x**2 / 20 + y**2, (-8, 4, -4.5, 4.5), (-7.0, 3.0), "x²/20 + y²"),
    "banana": Surface(
        lambda x, y: (1 - x) ** 2 / 4 + (y - x**2) ** 2, (-2.2, 2.2, -1.2, 3.2), (-1.6, 2.6), "(1 − x)²/4 + (y − x²)²"
    ),
    "saddle": Surface(
        lambda x, y: x**2 / 2 - y**2 / 4 + y**4 / 16, (-3, 3, -2.4, 2.4), (-2.5, 0.02), "x²/2 − y²/4 + y⁴/16"
    ),
}


class UncorrectedAdam(torch.optim.Optimizer):
    """Adam without bias correction: the averages m and v start at 0 and are not divided by 1 − βᵗ."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                state["m"] = b1 * state.get("m", 0.0) + (1 - b1) * p.grad
                state["v"] = b2 * state.get("v", 0.0) + (1 - b2) * p.grad**2
                p -= group["lr"] * state["m"] / (state["v"].sqrt() + group["eps"])


RACERS: dict[str, Callable] = {
    "SGD": lambda p, lr: torch.optim.SGD(p, lr=lr),
    "momentum 0.9": lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9),
    "Adam": lambda p, lr: torch.optim.Adam(p, lr=lr),
    "Adam, uncorrected": lambda p, lr: UncorrectedAdam(p, lr=lr),
}
LOOKS = {  # colour, dashes of the trail, shape
    "SGD": ("fwd", "", "circle"), "momentum 0.9": ("good", "8 3", "square"), "Adam": ("bwd", "", "triangle"),
    "Adam, uncorrected": ("bad", "3 4", "cross"), YOURS: ("ink", "10 3 2 3", "diamond"),
}  # fmt: skip


@dataclass(frozen=True)
class Path:
    """Where an optimiser was before the first step and after each, and how high."""

    points: list[tuple[float, float]]
    heights: list[float]


def run(make: Callable, surface: Surface, lr: float, steps: int = STEPS) -> Path:
    """Real steps on real tensors in float64, until the end or until a number is no longer finite."""
    p = tensor(list(surface.start), dtype=torch.float64, requires_grad=True)
    optimizer = make([p], lr)
    if not (hasattr(optimizer, "step") and hasattr(optimizer, "zero_grad")):
        raise TypeError(f"your optimizer must have step() and zero_grad(), but {a_kind(optimizer)} came.")
    points, heights = [], []
    for k in range(steps + 1):
        optimizer.zero_grad()
        height = surface.f(p[0], p[1])
        if not isinstance(height, torch.Tensor) or not height.requires_grad:
            raise TypeError(f"the surface must compute a tensor from x and y, but it returned {type(height).__name__}.")
        x, y = p.tolist()
        if not all(map(math.isfinite, (x, y, height.item()))) or max(abs(x), abs(y)) > 1e12:
            break
        points.append((x, y))
        heights.append(height.item())
        if k < steps:
            height.backward()
            optimizer.step()
    if not points:
        raise ValueError("the surface has no finite height where the race starts.")
    return Path(points, heights)


class _Surface(Choice):
    """One of the course's surfaces, or the learner's own function, which has no control."""

    def __init__(self) -> None:
        super().__init__(list(SURFACES), "surface", "banana")

    def accept(self, value: Any) -> Any:
        if not callable(value) and not (isinstance(value, str) and value in SURFACES):
            raise ValueError(
                f"it has the surfaces {', '.join(SURFACES)}, not {value!r}; or give it a function of x and y."
            )
        return value

    def shown(self, figure: Any) -> bool:
        return isinstance(figure.surface, str)


class _Rate(Steps):
    """The best rate of each, or one of the films' rates for all; of another one the nearest."""

    def __init__(self) -> None:
        super().__init__((BEST, *RATES), "lr", BEST, show=lambda lr: "each its best" if lr == BEST else number(lr))

    def accept(self, value: Any) -> Any:
        return BEST if value == BEST else min(RATES, key=lambda rate: abs(math.log(rate / float(value))))


@lesson
class race(Frames):
    """Let SGD, momentum, Adam, and Adam without its correction run down a surface, each at its best learning rate or all at the same.

    surface: "valley", "banana" or "saddle"; or your own function f(x, y) of two tensors, with box = (left, right, bottom, top) and a start.
    optimizer: your own racer, a function (parameters, lr) → optimizer, for example an Optimizer class. lr: where the slider
    starts, "best" or the nearest of its eight rates. Returns a widget, or one sentence that says what is wrong.

    >>> race().text().splitlines()[-2:]
    ['Adam               lr 0.5  first step 0.707  height 0.00253', 'Adam, uncorrected  lr 0.5  first step 2.24   height 0.0188']
    """

    surface = _Surface()
    optimizer = Given(None)
    box = Given((-4, 4, -3, 3))
    start = Given((-3, 2))
    lr = _Rate()
    step = Moments("step")
    take = "lr"

    def controls(self) -> list[Control]:
        return [*reversed(super().controls())]

    def setup(self) -> None:
        if self.optimizer is not None and not callable(self.optimizer):
            what = type(self.optimizer).__name__
            raise TypeError(
                f"it needs a function (parameters, lr) → optimizer, for example torch.optim.RMSprop. It was given {what}."
            )
        if isinstance(self.surface, str):
            self.on = SURFACES[self.surface]
        else:
            left, right, bottom, top = map(float, self.box)
            if not (left < right and bottom < top):
                raise ValueError("box must be (left, right, bottom, top), with left < right and bottom < top.")
            self.on = Surface(
                self.surface, (left, right, bottom, top), (float(self.start[0]), float(self.start[1])), "f(x, y)"
            )
        optimizer = self.optimizer
        self.racers = {**RACERS, **({} if optimizer is None else {YOURS: lambda p, lr: optimizer(p, lr=lr)})}
        self.paths: dict[Any, dict[str, Path]] = {
            lr: {name: run(make, self.on, lr) for name, make in self.racers.items()} for lr in RATES
        }
        self.best = {name: min(RATES, key=lambda lr: _end(self.paths[lr][name])) for name in self.racers}  # noqa: B023
        self.best["Adam, uncorrected"] = self.best["Adam"]
        self.paths[BEST] = {name: self.paths[lr][name] for name, lr in self.best.items()}
        self.roll(self.ground(), {lr: self.one_take(lr) for lr in (BEST, *RATES)})

    def moved(self, name: str) -> None:
        if name != "lr":
            self.setup()

    def ground(self) -> str:
        s = self.on
        left, right, bottom, top = s.box
        xs = [left + (right - left) * c / (COLUMNS - 1) for c in range(COLUMNS)]
        ys = [bottom + (top - bottom) * r / (ROWS - 1) for r in range(ROWS)]
        with torch.no_grad():
            flat = s.f(
                tensor([x for _ in ys for x in xs], dtype=torch.float64),
                tensor([y for y in ys for _ in xs], dtype=torch.float64),
            )
            values = flat.tolist()
        table = [values[r * COLUMNS : (r + 1) * COLUMNS] for r in range(ROWS)]
        finite = [v for v in values if math.isfinite(v)]
        low, high = min(finite), max(finite)
        table = [[v if math.isfinite(v) else high for v in row] for row in table]

        def place(c: float, r: float) -> tuple[float, float]:
            return X0 + c / (COLUMNS - 1) * WIDTH, Y0 + HEIGHT - r / (ROWS - 1) * HEIGHT

        out = tag("rect", "panel", x=X0, y=Y0, width=WIDTH, height=HEIGHT, rx=4)
        for k in range(1, 13):  # closer together near the bottom, where the race is decided
            d = contour(table, low + (high - low) * (k / 13) ** 3, place)
            out += tag(
                "path", d=d, style=f"fill:none;stroke:var(--soft);stroke-width:1.1;stroke-opacity:{0.9 - 0.055 * k:.2f}"
            )
        over = ""  # read over the trails
        for at, v in enumerate(values):
            if v <= low + 1e-9 * (high - low):  # a surface may have two lowest places
                x, y = place(at % COLUMNS, at // COLUMNS)
                out += tag("path", "rule", d=f"M{x - 5:.1f} {y:.1f}h10M{x:.1f} {y - 5:.1f}v10", stroke_width=1.6)
                over += label(x, y + 24, "lowest", "t soft halo", "middle")
        x, y = self._at(s.start)
        out += tag("circle", cx=x, cy=y, r=7.0, style="fill:none;stroke:var(--ink);stroke-width:1.4")
        out += label(x, y - 12, "start", "t soft halo", "middle")
        out += label(482, 36, f"height = {s.formula}", "num t b")
        out += label(518, 78, "optimizer", "t soft") + label(690, 78, "lr", "t soft", "end")
        out += label(756, 78, "height", "t soft", "end") + label(828, 78, "first step", "t soft", "end")
        out += tag("line", "rule", x1=482, x2=828, y1=86, y2=86)
        return svg(844, 368, out + SLOT + over, f"Optimizers on their way down the surface {s.formula}")

    def _at(self, point: tuple[float, float]) -> tuple[float, float]:
        """In the picture, or beside it."""
        left, right, bottom, top = self.on.box
        x, y = (point[0] - left) / (right - left), (point[1] - bottom) / (top - bottom)
        return X0 + x * WIDTH, Y0 + (1 - y) * HEIGHT

    def rate(self, name: str, lr: Any) -> str:
        return number(self.best[name] if lr == BEST else lr)

    def one_take(self, lr: Any) -> dict:
        paths = self.paths[lr]
        trails, heads, table = "", "", ""
        for row, (name, path) in enumerate(paths.items()):
            colour, dash, shape = LOOKS[name]
            course = Course([*map(self._at, path.points)])
            spots = [f"{x:.1f},{y:.1f}" for x, y in course.trail]
            stroke = f"fill:none;stroke:var(--{colour});stroke-width:2.2;stroke-linejoin:round"
            trails += tag(
                "polyline", style=stroke, data_points=" ".join(spots), **({"stroke_dasharray": dash} if dash else {})
            )
            heads += tag(
                "g", "", _shape(shape, colour), data_move=" ".join(f"{x:.1f},{y:.1f}" for x, y in course.heads)
            )
            for (x, y), angle, since, last in course.exits:
                tip = tag("path", d="M-13 -5L-2 0L-13 5", style=f"fill:none;stroke:var(--{colour});stroke-width:2.2")
                heads += tag(
                    "g", "", tip, transform=f"translate({x:.1f},{y:.1f}) rotate({angle:.0f})", data_on=f"{since}-{last}"
                )
            y = 112.0 + 34 * row
            table += tag(
                "line", style=stroke, x1=482, x2=512, y1=y - 4, y2=y - 4, **({"stroke_dasharray": dash} if dash else {})
            )
            table += tag("g", "", _shape(shape, colour), transform=f"translate(497,{y - 4:g})")
            table += label(518, y, name, "t b") + label(690, y, self.rate(name, lr), "num t", "end")
            texts = [number(h, 3) for h in path.heights] + ["gone"] * (len(path.points) <= STEPS)
            table += tag("text", "num t", "", x=756.0, y=y, text_anchor="end", data_text="|".join(texts))
            left = [f"left the map at step {n}" if n else "" for n in course.left]
            table += tag("text", "t soft", "", x=518.0, y=y + 14, data_text="|".join(left))
            first = math.dist(*path.points[:2]) if len(path.points) > 1 else math.inf
            table += label(828, y, number(first, 3), "num t", "end")
        trails = tag("svg", "", trails, x=X0, y=Y0, width=WIDTH, height=HEIGHT, overflow="hidden",
                     viewBox=f"{X0:g} {Y0:g} {WIDTH:g} {HEIGHT:g}")  # fmt: skip
        facts = [
            "First step: how far it goes at once.",
            "Adam moves about lr in each direction,",
            "uncorrected Adam 3.16 times as far.",
        ]
        for k, line in enumerate(facts):
            table += label(482, 300 + 19 * k, line, "t soft")
        table += label(482, 56, "each at its best lr" if lr == BEST else f"lr = {number(lr)} for all", "num t")
        return {"body": trails + heads + table, "says": [self._says(lr, k) for k in range(STEPS + 1)]}

    def _says(self, lr: Any, k: int) -> str:
        parts = []
        for name, path in self.paths[lr].items():
            left = Course([*map(self._at, path.points[: k + 1])]).left[-1]
            where = f" (left the map at step {left})" if left else ""
            parts.append((f"{name} {number(path.heights[k], 3)}" if k < len(path.heights) else f"{name} gone") + where)
        rate = "Each at its best lr" if lr == BEST else f"lr = {number(lr)}"
        return f"{rate}, after {k} step{'s' * (k != 1)}: height {', '.join(parts)}."

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Each optimizer, its learning rate, how far its first step went, and how high it is now."""
        out = []
        for name, path in self.paths[self.lr].items():
            first = math.dist(*path.points[:2]) if len(path.points) > 1 else math.inf
            height = number(path.heights[self.step], 3) if self.step < len(path.heights) else "gone"
            out.append((name, self.rate(name, self.lr), number(first, 3), height))
        return out

    def table(self) -> Table:
        return Table(["optimizer", "lr", "first step", "height"], self.rows())

    def text(self) -> str:
        rows = [f"height = {self.on.formula}, after {self.step} steps"]
        rows += [
            f"{name:<19}lr {lr:<4} first step {first:<6} height {height}" for name, lr, first, height in self.rows()
        ]
        return "\n".join(rows)


FAR = 1e5  # pixels beside the map; a path that is farther away is followed no longer


class Course:
    """A path in the picture, and where it leaves the map.

    trail: its points, clipped far outside the map, which shows those inside. heads: the position of its marker, which stays at the exit
    while the path is outside. exits: (place, direction in degrees, first step, last step). left: for each step the step of the exit; 0
    inside.
    """

    def __init__(self, points: list[tuple[float, float]]):
        self.trail: list[tuple[float, float]] = []
        self.heads: list[tuple[float, float]] = []
        self.exits: list[tuple[tuple[float, float], float, int, int]] = []
        self.left: list[int] = []
        here, out = points[0], 0
        for k, point in enumerate(points):
            inside = X0 <= point[0] <= X0 + WIDTH and Y0 <= point[1] <= Y0 + HEIGHT
            before = points[max(k - 1, 0)]
            gone = self.trail and max(map(abs, self.trail[-1])) >= FAR / 2
            self.trail.append(self.trail[-1] if gone else _cut(before, point, -FAR, -FAR, FAR, FAR))
            if inside:
                here, out = point, 0
            elif not out or k == 0:
                here, out = _cut(before, point, X0, Y0, X0 + WIDTH, Y0 + HEIGHT), max(k, 1)
                angle = math.degrees(math.atan2(point[1] - before[1], point[0] - before[0]))
                self.exits.append((here, angle, k, k))
            if out:
                self.exits[-1] = (*self.exits[-1][:3], k if k < len(points) - 1 else max(k, STEPS))
            self.heads.append(here)
            self.left.append(out)


def _cut(
    a: tuple[float, float], b: tuple[float, float], left: float, low: float, right: float, high: float
) -> tuple[float, float]:
    """b, or where the way from a to b leaves a box in which a lies."""
    t = 1.0
    for x, y, least, most in ((a[0], b[0], left, right), (a[1], b[1], low, high)):
        if not least <= y <= most and x != y:
            t = min(t, ((most if y > most else least) - x) / (y - x))
    t = max(t, 0.0)
    return a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])


def _end(path: Path) -> float:
    """How high a whole run ends; infinite if it flew away."""
    return path.heights[-1] if len(path.heights) > STEPS else math.inf


def _shape(kind: str, colour: str) -> str:
    style = f"fill:var(--{colour});stroke:var(--bg);stroke-width:1.3"
    if kind == "circle":
        return tag("circle", r=5.5, style=style)
    if kind == "square":
        return tag("rect", x=-5, y=-5, width=10, height=10, style=style)
    if kind == "cross":
        return tag("path", d="M-5 -5L5 5M5 -5L-5 5", style=f"fill:none;stroke:var(--{colour});stroke-width:3")
    return tag("path", d="M0 -6.5L6 4.5H-6z" if kind == "triangle" else "M0 -7L6 0L0 7L-6 0z", style=style)
