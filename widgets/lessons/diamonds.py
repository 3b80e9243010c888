"""Paths double and edges do not: x = x + x, n times, followed path by path or added up at each node.

What lives here: `diamonds(n, way)`. What does not: paths of the learner's own program (chain.py), the backward pass (ledger.py).
"""

from __future__ import annotations

from .kit import Choice, Figure, Slider, lesson
from .lesson import label, svg, tag

PATHS, MERGED = "follow every path", "add up at each node"
DRAWN = 7  # doublings whose paths can still be told apart
LEFT, RIGHT, TOP, HEIGHT = 56.0, 764.0, 70.0, 150.0


def duration(steps: int) -> str:
    """How long so many steps take at a million a second, as text."""
    seconds = steps / 1e6
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds")):
        if seconds >= 2 * unit or (unit == 1 and seconds >= 1):
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds * 1000:.0f} milliseconds" if seconds >= 1e-3 else f"{steps} microseconds"


@lesson
class diamonds(Figure):
    """The program x = x + x, n times: how many paths lead from x to y, and how many edges.

    n: 1 to 30 doublings; way: "follow every path" or "add up at each node". Returns a widget, or one sentence that says what is wrong.

    >>> diamonds(3).text().split(". ")[0]
    'n = 3: 8 paths lead from x to y'
    """

    n = Slider("n", 3, 1, 30)
    way = Choice([PATHS, MERGED], "way", PATHS)

    @property
    def paths(self) -> int:
        return 2**self.n

    @property
    def visits(self) -> int:
        """Edges that are passed on the way chosen: each path has n of them, and the graph has 2 n in all."""
        return 2 * self.n if self.way == MERGED else self.n * self.paths

    def sentence(self) -> str:
        begin = f"n = {self.n}: {self.paths:,} paths lead from x to y."
        took = f"At a million multiplications a second that takes {duration(self.visits)}."
        if self.way == PATHS:
            return f"{begin} Each has {self.n} edge{'s' * (self.n > 1)}: {self.visits:,} multiplications to follow them all. {took}"
        return (
            f"{begin} But the graph has only {self.visits} edges. Each is used once, because each node adds up its two contributions "
            f"and passes on only the sum. {took}"
        )

    def draw(self) -> str:
        out = label(24, 32, f"x = x + x, {self.n} time{'s' * (self.n > 1)}", "h")
        unfolded = "a way from left to right, without turning back, is one path"
        out += label(24, 54, unfolded if self.way == PATHS else "the same program, each result drawn once", "t soft")
        out += self._fan() if self.way == PATHS else self._graph()
        colour = "bwd" if self.way == PATHS else "fwd"
        for k, (name, count) in enumerate((("paths", self.paths), ("multiplications", self.visits))):
            out += label(24 + 250 * k, 268, f"{count:,}", f"num h b {colour if k else ''}".strip())
            out += label(24 + 250 * k, 288, name, "t soft")
        out += label(524, 268, duration(self.visits), f"h b {colour}") + label(
            524, 288, "at a million multiplications a second", "t soft"
        )
        return svg(820, 304, out, self.sentence())

    def _fan(self) -> str:
        """Every path as a line of its own: a tree that opens from x, with y at the end of each branch."""
        visible, step = min(self.n, DRAWN), (RIGHT - LEFT) / self.n
        lines = ""
        for depth in range(visible):
            rows, next_rows = 2**depth, 2 ** (depth + 1)
            for row in range(next_rows):
                y0, y1 = TOP + HEIGHT * (row // 2 + 0.5) / rows, TOP + HEIGHT * (row + 0.5) / next_rows
                lines += f"M{LEFT + depth * step:.1f} {y0:.1f}L{LEFT + (depth + 1) * step:.1f} {y1:.1f}"
        out = tag("path", d=lines, style="fill:none;stroke:var(--bwd);stroke-width:1.2")
        end = LEFT + visible * step
        if visible < self.n:
            style = "fill:var(--bwd-soft);stroke:var(--bwd);stroke-dasharray:4 3"
            out += tag("rect", x=end, y=TOP, width=RIGHT - end, height=HEIGHT, style=style)
            out += label((end + RIGHT) / 2, TOP + HEIGHT / 2 + 5, "too many to draw", "t bwd halo", "middle")
        out += label(LEFT - 12, TOP + HEIGHT / 2 + 5, "x", "num h", "end")
        return out + label(RIGHT + 12, TOP + HEIGHT / 2 + 5, "y", "num h")

    def _graph(self) -> str:
        """Each result once, with two edges to the next, and below it the gradient that has accumulated, from the end."""
        step, middle = (RIGHT - LEFT) / self.n, TOP + HEIGHT / 2
        bend = min(0.5 * step, 46.0)
        lines = "".join(
            f"M{LEFT + k * step:.1f} {middle:.1f}q{step / 2:.1f} {sign * bend:.1f} {step:.1f} 0"
            for k in range(self.n)
            for sign in (-1, 1)
        )
        out = tag("path", d=lines, style="fill:none;stroke:var(--fwd);stroke-width:1.6")
        every = 1 if self.n <= 10 else 2 if self.n <= 15 else 5
        for k in range(self.n + 1):
            x = LEFT + k * step
            out += tag("circle", cx=x, cy=middle, r=5.0, style="fill:var(--fwd);stroke:var(--bg)")
            if (self.n - k) % every == 0 or k == 0:
                out += label(x, middle + bend / 2 + 26, f"{2 ** (self.n - k):,}", "num t b bwd halo", "middle")
        out += label(LEFT, middle - 14, "x", "num h", "middle") + label(RIGHT, middle - 14, "y", "num h", "middle")
        words = "below each result: the derivative of y with respect to it, added up from the end"
        return out + label(24, TOP + HEIGHT + 4, words, "t bwd")
