"""Your engine as it grows: each piece that is kept, whose it is, and which of its operations agree with differences in random graphs.

What lives here: `growth()`, and the table of pieces with the chapters that use them. What does not: my_engine.py and who passes
(minigrad.course).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from minigrad.course import check

from ..show import Table
from .kit import Figure, lesson
from .lesson import label, svg, tag

GRAPHS = 10  # random graphs for each operation


class Piece(NamedTuple):
    """An answer that can be kept: its exercise, its name, the later chapters that use it, and the operations that it brings."""

    id: str
    name: str
    used: tuple[str, ...]
    operations: tuple[str, ...] = ()


PIECES = (
    Piece("02.c", "walk", ("10", "13")),
    Piece("05.a", "Value", ("06", "07", "08", "09", "14", "17", "18", "19"), ("a + b", "a · b", "a³", "relu")),
    Piece("05.b", "backward", ("06", "07", "08", "09", "14", "17", "18", "19")),
    Piece("06.b", "teach", ("14",), ("exp", "log", "tanh", "atan2")),
    Piece("06.c", "gradcheck", ("09", "19")),
    Piece("08.c", "jacobian", ("14",)),
    Piece("09.c", "unbroadcast", ("14", "17", "18", "19")),
    Piece("09.e", "Tensor", ("14", "17", "18", "19"), ("A + b", "A · b", "A @ B", "Aᵀ", "relu A", "exp A", "log A", "A³", "sum A")),
    Piece("09.f", "Network, fit", ("14", "17", "18")),
    Piece("14.b2", "cross-entropy", ("17", "18")),
    Piece("14.c", "RMSNorm backward", ("17", "18")),
    Piece("14.c2", "two operations", ("17", "18"), ("cross-entropy", "RMSNorm")),
    Piece("17.b", "step", ("19",)),
    Piece("19.b", "your own operation", ()),
)  # fmt: skip

SCALAR: dict[str, Callable] = {
    "a + b": lambda a, b: a + b, "a · b": lambda a, b: a * b, "a³": lambda a, b: a**3 * b, "relu": lambda a, b: (a + -0.9 * b).relu(),
    "exp": lambda a, b: (a * b).exp(), "log": lambda a, b: (a * b).log(), "tanh": lambda a, b: (a + b).tanh(),
    "atan2": lambda a, b: a.atan2(b),
}  # fmt: skip
TENSOR: dict[str, Callable] = {
    "A + b": lambda A, b: A + b.T, "A · b": lambda A, b: A * b.T, "A @ B": lambda A, b: A @ b, "Aᵀ": lambda A, b: A.T @ A,
    "relu A": lambda A, b: (A + -0.9).relu(), "exp A": lambda A, b: A.exp(), "log A": lambda A, b: A.log(), "A³": lambda A, b: A**3,
    "sum A": lambda A, b: A.sum(1) * A,
}  # fmt: skip


def _program(name: str) -> Callable:
    """The operation as a function of six Values that gives one number, on the learner's classes."""
    if name in SCALAR:
        return lambda *v: SCALAR[name](v[0] * v[1], v[2]) * v[3] + SCALAR[name](v[4], v[5])
    from minigrad.course.growing import frame, of_values

    Tensor = frame(check.piece("05.a")[0])
    check.piece("09.e")[0](Tensor)

    def program(*v: Any) -> Any:
        A, b = of_values(Tensor, v[:4], (2, 2)), of_values(Tensor, v[4:], (2, 1))
        if name in TENSOR:
            return (TENSOR[name](A, b) * 3).sum()
        cross_entropy, rms_norm = check.piece("14.c2")[0](Tensor)
        return cross_entropy(A * 2, [0, 1]) * 3 if name == "cross-entropy" else (rms_norm(A, b.T.sum(0)) * 3).sum()

    return program


def agreeing(name: str) -> int:
    """In how many of GRAPHS random graphs the gradients of an operation agree with central differences."""
    Value, backward = check.piece("05.a")[0], check.piece("05.b")[0]
    rng, good = random.Random(name), 0
    before = set(vars(Value))
    check.piece("06.b")[0](Value)  # attaches its operations, and only for as long as this takes
    try:
        for _ in range(GRAPHS):
            try:
                good += _agrees(_program(name), [rng.uniform(0.4, 1.6) for _ in range(6)], Value, backward)
            except Exception:
                continue
    finally:
        for added in set(vars(Value)) - before:
            delattr(Value, added)
    return good


def _agrees(f: Callable, numbers: list[float], Value: Any, backward: Callable) -> bool:
    leaves = [Value(x) for x in numbers]
    backward(f(*leaves))
    for i, leaf in enumerate(leaves):
        up, down = (f(*(Value(x + h * (i == j)) for j, x in enumerate(numbers))).data for h in (1e-5, -1e-5))
        slope = float(up - down) / 2e-5
        if not abs(float(leaf.grad) - slope) <= 1e-4 * max(1.0, abs(slope)):
            return False
    return True


@lesson
class growth(Figure):
    """Your engine as it grows: what is yours, which of its operations are right in random graphs, and where each piece is used."""

    def setup(self) -> None:
        self.rows = [
            (piece, check.piece(piece.id)[1], {name: agreeing(name) for name in piece.operations}) for piece in PIECES
        ]

    def sentence(self) -> str:
        mine = sum(where.startswith("yours") for _, where, _ in self.rows)
        lit = [good == GRAPHS for _, _, operations in self.rows for good in operations.values()]
        return f"{mine} of {len(PIECES)} pieces are yours. {sum(lit)} of {len(lit)} operations agree with differences in all random graphs."

    def table(self) -> Table:
        return Table(
            ("chapter", "piece", "whose", "operations", "used in"),
            [
                (p.id[:2], p.name, where.partition(",")[0],
                 ", ".join(f"{'✓' if good == GRAPHS else '✗'} {name}" for name, good in operations.items()), ", ".join(p.used))
                for p, where, operations in self.rows
            ],
        )  # fmt: skip

    def draw(self) -> str:
        out, y, high = label(20, 30, "chapter", "t soft") + label(620, 30, "used in chapters", "t soft"), 46.0, 27.0
        for piece, where, operations in self.rows:
            mine = where.startswith("yours")
            tall = high * max(1, -(-len(operations) // 5))
            out += label(34, y + 18, str(int(piece.id[:2])), "num v b", "middle")
            style = "fill:var(--fwd);fill-opacity:0.22" if mine else "fill:none;stroke-dasharray:4 3"
            out += tag("rect", "card", x=60, y=y, width=150, height=23, rx=6, style=style)
            out += label(72, y + 16, piece.name, "t b" if mine else "t")
            for k, (name, good) in enumerate(operations.items()):
                x, at = 226 + (130.0 if len(operations) < 3 else 76.0) * (k % 5), y + high * (k // 5)
                fine = good == GRAPHS
                out += tag("circle", cx=x + 6, cy=at + 12, r=5, style=f"fill:var(--{'good' if fine else 'bad'})")
                out += label(x + 16, at + 16, name, "t")
            out += label(620, y + 16, ", ".join(str(int(c)) for c in piece.used), "num t soft")
            y += tall
        y += 6
        out += tag("rect", "card", x=60, y=y, width=26, height=16, rx=4, style="fill:var(--fwd);fill-opacity:0.22")
        out += label(94, y + 13, "yours", "t soft")
        out += tag("rect", "card", x=150, y=y, width=26, height=16, rx=4, style="fill:none;stroke-dasharray:4 3")
        out += label(184, y + 13, "the course's, until you keep your own", "t soft")
        out += tag("circle", cx=470, cy=y + 8, r=5, style="fill:var(--good)")
        out += label(482, y + 13, f"right in {GRAPHS} of {GRAPHS} random graphs", "t soft")
        return svg(820, y + 34, out, self.sentence())
