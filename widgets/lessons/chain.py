"""S3, the chain: the local slopes of a program, and their running product along every path from its input to its result.

What lives here: `chain(f, x)`, with a slider for each input; a few steps are drawn as cards, one lane for each path; a long chain as a
curve. What does not: derivatives (minigrad.Value), formulas of local slopes (minigrad.tracing.trace), typed programs (stepper.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from minigrad import Value
from minigrad.tracing.text import differential
from minigrad.tracing.trace import Trace, trace

from ..show import Table
from .cards import card, pill, straight
from .kit import Choice, Figure, Inputs, ProgramText, lesson
from .lesson import bracketed, label, number, svg, tag
from .stepper import inputs_of, run_program, started

CANNED = "p = 3*x; u = p + 2; y = u**2"
LANES = 4  # more paths than this are not drawn
CARDS = 5  # a path with more steps than this is drawn as a curve
LONGEST = 2000  # steps
BACK, ON = "from the end", "from the start"


@dataclass(frozen=True)
class Factor:
    """One step of a path: from the value called `source` to the one called `target`, multiplied by `slope`."""

    source: str
    target: str
    expr: str  # what the step computes
    before: float  # the value that goes in
    after: float  # the value that comes out
    formula: str  # of the local slope; "" where it is the number itself
    slope: float


@dataclass(frozen=True)
class Path:
    factors: list[Factor]

    def running(self, direction: str) -> list[float]:
        """The product so far at each value of the path, input first: d root / d value from the end, d value / d input from the start."""
        slopes = [f.slope for f in self.factors]
        out = [1.0]
        for slope in reversed(slopes) if direction == BACK else slopes:
            out.append(out[-1] * slope)
        return out[::-1] if direction == BACK else out

    @property
    def product(self) -> float:
        return self.running(ON)[-1]


def _formula(text: str, slope: float) -> str:
    try:
        return "" if float(text.replace("−", "-")) == slope else text
    except ValueError:
        return text


def paths_of(t: Trace, source: int, limit: int = LANES) -> list[Path]:
    """The first `limit` paths from one input to the root, and one more if there are more, the input's end first."""
    inside: dict[int, list] = {}
    for e in t["edges"]:
        if e["carries_grad"]:
            inside.setdefault(e["target"], []).append(e)
    reaches = {source}  # only values that the input has a part in
    for node in t["nodes"]:
        if any(e["source"] in reaches for e in inside.get(node["id"], ())):
            reaches.add(node["id"])
    results: list[Path] = []
    todo: list[tuple[int, list]] = [(t["root"], [])]
    while todo and len(results) <= limit:
        at, tail = todo.pop()
        if at == source:
            results.append(Path([_factor(t, e) for e in reversed(tail)]))
            continue
        todo += [(e["source"], [*tail, e]) for e in reversed(inside.get(at, [])) if e["source"] in reaches]
    return results


def _factor(t: Trace, e: Any) -> Factor:
    a, b = t["nodes"][e["source"]], t["nodes"][e["target"]]
    slope = 0.0 if e["local"] is None else float(e["local"])
    return Factor(
        a["label"], b["label"], b["expr"], float(a["value"]), float(b["value"]), _formula(e["local_text"], slope), slope
    )


@lesson
class chain(Figure):
    """Show the local slope of every step of a program, and their product so far, while you move its inputs.

    f: a program as text, which can then be edited in the widget, or your own function of one or more Values. The slope is the one with
    respect to its first input. direction: "from the end" or "from the start", where the multiplying begins.
    inputs: the numbers to start from, for example x=0.5; what is not given is 1.
    Returns a widget; where there is nothing to show, a widget with one sentence that says why.

    >>> from widgets.lessons import chain
    >>> print(chain().text().splitlines()[0])
    At x = 1: dy/dx = 10 × 1 × 3 = 30.
    """

    f = ProgramText(CANNED, "a program such as 'u = x**2; sin(u)', or a function of Values")
    direction = Choice([BACK, ON], "multiply", BACK)
    inputs = Inputs()

    def setup(self) -> None:
        names = inputs_of(self.f)
        if not names:
            raise ValueError("the function must take at least one input.")
        self.inputs = started(self.f, self.inputs)
        self.of = names[0]  # the input whose slope this is
        root, named = run_program(self.f, self.inputs)
        if len({id(n) for n in _all(root)}) > LONGEST:
            raise ValueError(f"this program has more than {LONGEST:,} steps: show a shorter one.")
        leaf = next((n for n in _all(root) if not n._prev and n.label == self.of), None)
        if leaf is None:
            raise ValueError(f"{self.of} has no part in the result.")
        t = trace(root, {**named, self.of: leaf})
        source = next(n["id"] for n in t["nodes"] if n["kind"] == "leaf" and n["label"] == self.of)
        paths = paths_of(t, source)
        if len(paths) > LANES:
            raise ValueError(
                f"from {self.of} to the result there are more than {LANES} paths, too many to draw one by one."
            )
        if len(paths) > 1 and max(len(p.factors) for p in paths) > CARDS:
            raise ValueError(
                f"this program has {len(paths)} paths, and one is longer than {CARDS} steps: too much for one picture."
            )
        root.backward()
        self.paths, self.root, self.slope = paths, t["nodes"][t["root"]]["label"], leaf.grad

    def moved(self, name: str) -> None:
        if name == "f":
            self.inputs = {n: v for n, v in self.inputs.items() if n in inputs_of(self.f)}
        if name != "direction":
            self.setup()

    # The picture ------------------------------------------------------------------------------------------------------------
    def draw(self) -> str:
        if len(self.paths[0].factors) > CARDS:
            return svg(820, 330, self._curve(self.paths[0]), self.sentence())
        out, top = DEFS, 12.0
        steps = max(len(path.factors) for path in self.paths)
        wide = max(820, 48 + 88 * (steps + 1) + 72 * steps)
        for k, path in enumerate(self.paths):
            out += self.lane(path, top, k, wide)
            top += 196
        if len(self.paths) > 1:
            out += tag("line", "rule", x1=24, x2=wide - 24, y1=top, y2=top)
            shares = " + ".join(bracketed(p.product) for p in self.paths)
            out += label(24, top + 26, "added over all paths:", "t soft")
            out += label(176, top + 26, f"d{self.root}/d{self.of} = {shares} = {number(self.slope)}", "num d b bwd")
            top += 42
        return svg(wide, top, out, self.sentence())

    def lane(self, path: Path, top: float, k: int, wide: float) -> str:
        """Values on cards above, local slopes between them, the running product below."""
        count = len(path.factors) + 1
        width = min(150.0, (wide - 48 - 72 * (count - 1)) / count)
        gap = (wide - 48 - width * count) / (count - 1)
        many = f"path {k + 1}:  " if len(self.paths) > 1 else ""
        out = label(24, top + 12, many + "values", "t fwd") + label(24, top + 106, "product so far", "t bwd")
        products = path.running(self.direction)
        most = max(max(abs(p) for p in products), 1e-300)
        names = [path.factors[0].source, *(f.target for f in path.factors)]
        texts = ["input", *(f.expr for f in path.factors)]
        values = [path.factors[0].before, *(f.after for f in path.factors)]
        for i in range(count):
            x = 24 + i * (width + gap)
            room = int(width / 8.2)
            name = names[i] if len(names[i]) <= 8 else ""
            if len(texts[i]) + len(name) + 2 > room and not name:
                name = names[i][: max(room - 1, 1)] + "…"
            expr = texts[i] if name != texts[i] and len(name) + len(texts[i]) + 1 <= room else ""
            place = {
                "x": x,
                "y": top + 20,
                "w": width,
                "h": 52.0,
                "name": name or names[i][:room],
                "expr": expr if i else "",
            }
            out += card(place, [("value", number(values[i], 5), "fwd")], "" if i else "leaf")
            out += self._product(names, i, products, most, x, top + 112, width)
            if i:
                out += self._between(path.factors[i - 1], x - gap, x, top)
        return out

    def _product(
        self, names: list[str], i: int, products: list[float], most: float, x: float, y: float, width: float
    ) -> str:
        """One running product: its name, its number, and a bar as long as the number is large."""
        first, last = names[0], names[-1]
        over, under = (last, names[i]) if self.direction == BACK else (names[i], first)
        done = i == 0 if self.direction == BACK else i == len(products) - 1
        name = "begins at" if over == under else f"{differential(over)}/{differential(under)}"
        if done and len(self.paths) > 1:
            name = "this path gives"
        if len(name) * 7 > width - 16:
            name = "so far"
        out = tag("rect", "box" + (" goal" if done else ""), x=x, y=y, width=width, height=58, rx=9)
        out += label(x + 10, y + 19, name, "t soft") + label(x + 10, y + 39, number(products[i], 5), "num v bwd b")
        size = abs(products[i]) / most * (width - 20)
        out += tag("rect", "track", x=x + 10, y=y + 46, width=width - 20, height=5, rx=2)
        if math.isfinite(size) and size > 0.2:
            out += tag("rect", "bar", x=x + 10, y=y + 46, width=size, height=5, rx=2)
        return out

    def _between(self, factor: Factor, left: float, right: float, top: float) -> str:
        """What stands between two cards: the arrow on, the local slope, and the arrow along which the product grows."""
        middle = (left + right) / 2
        ends = (right, left) if self.direction == BACK else (left, right)
        out = straight(left, right, top + 38) + straight(*ends, top + 158, back=True)
        slope_text = number(factor.slope, 4)
        if factor.formula and len(factor.formula) <= 12:
            out += label(middle, top + 121, factor.formula, "t soft", "middle")
        return out + pill(middle, top + 138, f"× {slope_text}", "sent")

    X0, X1, Y0, Y1 = 72.0, 780.0, 46.0, 270.0

    def _curve(self, path: Path) -> str:
        """A long chain: the size of every local slope and of the running product, on a logarithmic axis."""
        products, slopes = path.running(self.direction), [f.slope for f in path.factors]
        sizes = [math.log10(abs(v)) for v in [*products, *slopes] if v and math.isfinite(v)]
        low, high = math.floor(min([*sizes, -1.0])), math.ceil(max([*sizes, 0.0]))
        zero = 0.0 in products or 0.0 in slopes
        low -= zero  # the lowest line is then zero itself
        count = len(slopes)

        def across(i: float) -> float:
            return self.X0 + i / count * (self.X1 - self.X0)

        def up(v: float) -> float:
            e = low if v == 0 else high if not math.isfinite(v) else math.log10(abs(v))
            return self.Y1 - (e - low) / (high - low) * (self.Y1 - self.Y0)

        out = ""
        ticks = max(1, math.ceil((high - low) / 6))
        for e in range(high, low - 1, -ticks):
            y = self.Y1 - (e - low) / (high - low) * (self.Y1 - self.Y0)
            out += tag("line", "grid", x1=self.X0, x2=self.X1, y1=y, y2=y)
            out += label(self.X0 - 8, y + 4, _power(e), "t soft", "end") if e > low or not zero else ""
        out += label(self.X0 - 8, self.Y1 + 4, "zero", "t bad b", "end") if zero else ""
        out += label(24, 24, "size of each number, in powers of ten", "t soft")
        out += label(self.X0, self.Y1 + 20, self.of, "d b", "middle") + label(
            self.X1, self.Y1 + 20, self.root, "d b", "middle"
        )
        out += label((self.X0 + self.X1) / 2, self.Y1 + 20, f"{count} steps", "t soft", "middle")
        for i, slope in enumerate(slopes):
            out += tag("circle", "central dot", cx=across(i + 0.5), cy=up(slope), r=3.2)
        out += tag(
            "polyline", "curve forward", points=" ".join(f"{across(i):.1f},{up(p):.1f}" for i, p in enumerate(products))
        )
        end = 0 if self.direction == BACK else count
        out += tag("circle", "forward dot", cx=across(end), cy=up(products[end]), r=5.5)
        out += tag("circle", "central dot", cx=self.X0, cy=self.Y1 + 44, r=3.2)
        out += label(self.X0 + 12, self.Y1 + 48, "local slope of each step", "t fwd")
        out += tag("line", "curve forward", x1=300, x2=330, y1=self.Y1 + 44, y2=self.Y1 + 44)
        out += label(
            338, self.Y1 + 48, f"product so far; at the end d{self.root}/d{self.of} = {number(self.slope)}", "t bwd"
        )
        return out

    # Text alternative --------------------------------------------------------------------------------------------------------
    def sentence(self) -> str:
        at = ", ".join(f"{n} = {number(v)}" for n, v in self.inputs.items())
        name = f"d{self.root}/d{self.of}"
        if len(self.paths) == 1 and len(self.paths[0].factors) > CARDS:
            slopes = [abs(f.slope) for f in self.paths[0].factors]
            low, high = number(min(slopes), 4), number(max(slopes), 4)
            return f"At {at}: {name} is the product of {len(slopes)} local slopes between {low} and {high} in size: {number(self.slope)}."
        shares = []
        for path in self.paths:
            order = path.factors[::-1] if self.direction == BACK else path.factors
            shares.append(" × ".join(bracketed(f.slope, 5) for f in order))
        return f"At {at}: {name} = {' + '.join(shares)} = {number(self.slope)}."

    def rows(self) -> list[tuple[str, ...]]:
        """One row for each step of each path; the running product is the one after this step."""
        out: list[tuple[str, ...]] = []
        for k, path in enumerate(self.paths, 1):
            products = path.running(self.direction)
            for i, f in enumerate(path.factors):
                so_far = products[i] if self.direction == BACK else products[i + 1]
                formula = f.formula or number(f.slope)
                step = f.expr if f.expr == f.target else f"{f.target} = {f.expr}"
                cells = (
                    step,
                    number(f.after),
                    f"{differential(f.target)}/{differential(f.source)} = {formula}",
                    number(f.slope),
                    number(so_far),
                )
                out.append((str(k), *cells) if len(self.paths) > 1 else cells)
        return out

    def table(self) -> Table:
        head = ("step", "value", "local slope", "number", f"product {self.direction}")
        return Table(("path", *head) if len(self.paths) > 1 else head, self.rows())

    def text(self) -> str:
        rows = self.rows()
        if len(rows) > 12:
            return self.sentence()
        return f"{self.sentence()}\n\n{self.table().text()}"


_LOOK = ".mgl .bar{fill:var(--bwd)}.mgl .track{fill:var(--line);opacity:.45}.mgl .box.goal{fill:var(--bwd-soft);stroke:var(--bwd)}"
DEFS = f"<style>{_LOOK}</style>"  # what lanes need besides the lessons' own sheet


def _all(root: Value) -> Iterator[Any]:
    seen, todo = {id(root)}, [root]
    while todo:
        node = todo.pop()
        yield node
        for parent in node._prev:
            if id(parent) not in seen:
                seen.add(id(parent))
                todo.append(parent)


def _power(e: int) -> str:
    return {0: "1", 1: "10", -1: "0.1", -2: "0.01"}.get(e, f"1e{e}".replace("-", "−"))
