"""What the heads of an attention layer look at, from the position under the pointer, and which character they make likely.

What lives here: `heads(line, weights, following)`. The weights and the probabilities are the learner's model's own.
"""

from __future__ import annotations

from typing import Any

from ..show import Table
from .kit import Field, Figure, Given, Slider, Toggle, lesson
from .lesson import label, svg, tag

LEFT, TOP, CELL, ROW = 88.0, 24.0, 21.0, 34.0
MOST = 40  # characters that have room in a row
BEST = 5  # characters that may follow
SEEN = {"\n": "¶", " ": "␣"}


class Head(Toggle):
    """Is a head at work? All of them are one field of the figure, `on`."""

    def __init__(self, key: int):
        super().__init__(f"head {key + 1}", True)
        self.key = key

    def get(self, figure: Any) -> bool:
        return figure.on[self.key]

    def put(self, figure: Any, value: Any) -> None:
        figure.on = [*figure.on[: self.key], self.accept(value), *figure.on[self.key + 1 :]]


@lesson
class heads(Figure):
    """What each head looks at: move over the characters of a line, and switch heads off.

    line: up to 40 characters. weights: for each head a row for each character, with the weights of it and of those before it, as nested
    lists, an array or a tensor. following: None, or a function of a position and the list of heads that are off, which returns the
    probability of each character that may come next, as a dict; it is called at each move. at: the first position. Returns a widget,
    or one sentence that says what is wrong.

    >>> view = heads("aba", [[[1, 0, 0], [0.9, 0.1, 0], [0.8, 0.1, 0.1]]])
    >>> print(view.text().splitlines()[0])
    At character 3, “a”, head 1 looks most at “a”, 2 back (80 %).
    """

    line: Any = Given()
    weights: Any = Given()
    following: Any = Given(None)
    at = Slider("position", -1, -1, MOST)
    on: Any = ()
    rows: Any = ()

    def setup(self) -> None:
        rows = self.weights.tolist() if hasattr(self.weights, "tolist") else self.weights
        self.rows = [[[float(w) for w in row] for row in head] for head in rows]
        n = len(self.line)
        if not 2 <= n <= MOST:
            raise ValueError(f"The line needs 2 to {MOST} characters, and it has {n}.")
        if not self.rows or any([len(row) for row in head] != [n] * n for head in self.rows):
            raise ValueError(f"Each head needs {n} rows of {n} weights, one for each character of the line.")
        self.on = self.on or [True] * len(self.rows)
        self.at = n - 1 if self.at < 0 else min(self.at, n - 1)
        off = [head for head, on in enumerate(self.on) if not on]
        likely = self.following(self.at, off) if self.following else {}
        self.likely = sorted(((float(p), c) for c, p in likely.items()), key=lambda pair: -pair[0])

    def fields(self) -> dict[str, Field]:
        if not self.on:  # before setup
            return super().fields()
        place = Slider("position", 0, 0, len(self.line) - 1, show=lambda k: f"{k + 1} of {len(self.line)}").named("at")
        heads = [Head(k) for k in range(len(self.rows))] if self.following else []
        return {**super().fields(), "at": place, **{one.label: one.named(one.label) for one in heads}}

    @property
    def next(self) -> str:
        """The character that the line goes on with."""
        return self.line[self.at + 1] if self.at + 1 < len(self.line) else ""

    def most(self, head: int) -> tuple[int, float]:
        """How far back the character stands that gets the most attention, and how much it gets."""
        row = self.rows[head][self.at][: self.at + 1]
        place = max(range(len(row)), key=row.__getitem__)
        return self.at - place, row[place]

    def sentence(self) -> str:
        looks = []
        for head, on in enumerate(self.on):
            back, weight = self.most(head)
            where = f"“{seen(self.line[self.at - back])}”, {back} back" if back else "the character itself"
            looks.append(
                f"head {head + 1} looks most at {where} ({100 * weight:.0f} %)" if on else f"head {head + 1} is off"
            )
        said = f"At character {self.at + 1}, “{seen(self.line[self.at])}”, {'; '.join(looks)}."
        if self.likely:
            p, best = self.likely[0]
            said += f" Most likely to follow: “{seen(best)}” ({100 * p:.0f} %)."
            if self.next and self.next != best:
                chance = next((p for p, c in self.likely if c == self.next), 0.0)
                said += f" The verse goes on with “{seen(self.next)}” ({100 * chance:.0f} %)."
        return said

    def table(self) -> Table:
        rows = [
            [f"head {head + 1}, %", *(f"{100 * w:.0f}" for w in self.rows[head][self.at])]
            for head in range(len(self.rows))
        ]
        return Table(("", *map(seen, self.line)), rows)

    def draw(self) -> str:
        n = len(self.line)
        height = TOP + ROW * len(self.rows)
        out = ""
        for head, on in enumerate(self.on):
            y = TOP + ROW * head
            out += label(LEFT - 12, y + 19, f"head {head + 1}", "t" if on else "t soft", "end")
            for k, character in enumerate(self.line):
                x, weight = LEFT + CELL * k, self.rows[head][self.at][k] if on and k <= self.at else 0.0
                out += tag("rect", x=x + 1, y=y, width=CELL - 2, height=28.0, rx=3,
                           style=f"fill:var(--fwd);fill-opacity:{max(weight, 0):.3f};stroke:var(--line)")  # fmt: skip
                style = "num t b" if weight > 0.65 else "num t" if k <= self.at and on else "num t soft"
                ink = ' style="fill:var(--bg)"' if weight > 0.65 else ""
                out += label(x + CELL / 2, y + 19, seen(character), style, "middle").replace("<text", f"<text{ink}", 1)
        x = LEFT + CELL * self.at
        out += tag(
            "rect",
            x=x,
            y=TOP - 4,
            width=CELL,
            height=height - TOP + 2,
            rx=4,
            style="fill:none;stroke:var(--bwd);stroke-width:2",
        )
        if self.likely:
            out += label(LEFT - 12, height + 34, "next", "t", "end")
            best = self.likely[:BEST]
            if self.next and self.next not in [c for _, c in best]:
                best = [*best[:-1], *(pair for pair in self.likely if pair[1] == self.next)]
            for k, (p, character) in enumerate(best):
                x, owner = LEFT + 128 * k, "bwd" if character == self.next else "fwd"
                out += label(x + 10, height + 34, seen(character), f"num t b {owner}", "middle")
                out += tag(
                    "rect",
                    x=x + 24,
                    y=height + 22,
                    width=max(56 * p, 1),
                    height=16.0,
                    rx=3,
                    style=f"fill:var(--{owner})",
                )
                out += label(x + 30 + 56 * p, height + 34, f"{100 * p:.0f} %", "num t")
            height += 52
        places = f'{{"name": "at", "count": {n}}}'
        out += tag("rect", x=LEFT, y=TOP - 6, width=CELL * n, height=ROW * len(self.rows) + 4, data_point=places,
                   style="fill:transparent;cursor:pointer")  # fmt: skip
        return svg(max(LEFT + CELL * n + 16, LEFT + 128 * BEST + 16), height + 12, out, self.sentence())


def seen(character: str) -> str:
    """A character as it can be seen."""
    return SEEN.get(character, character)
