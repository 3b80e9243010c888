"""The order game: choose which node passes its gradient on next, and see what a wrong order costs.

What lives here: `order_game(f, **inputs)`. Every move runs the engine's own rule of that node, `node._backward()`, in the order
that the player chose. What does not: the drawing and the judging (duel.py, listen.py).
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from typing import Any

from minigrad import Value

from .duel import Duel
from .kit import Figure, Given, Inputs, lesson
from .lesson import number
from .listen import order_of
from .programs import diamond

LIMIT = 14  # more senders than this are no game


def _in_order(moves: list[int]) -> Callable[[Value], None]:
    def backward(root: Value) -> None:
        nodes = order_of(root)
        root.grad = 1.0
        for i in moves:
            nodes[i]._backward()

    return backward


@lesson
class order_game(Figure):
    """Choose the order of a backward pass by hand.

    f: a function of numbers, yours or the course's diamond. inputs: its numbers; what is not given is 1, and for the diamond a = 2,
    b = 3. Returns a widget, or one sentence where there is nothing to play.
    """

    f = Given(diamond)
    inputs = Inputs(fixed=True)
    duel: Any = None  # a Duel; None until setup
    moves: list[int] = []

    def setup(self) -> None:
        if not callable(self.f):
            raise TypeError(
                f"it needs a function of numbers, such as lambda x: x * x + x. It was given {type(self.f).__name__}."
            )
        numbers = {"a": 2.0, "b": 3.0} if self.f is diamond else {n: 1.0 for n in inspect.signature(self.f).parameters}
        if unknown := [n for n in self.inputs if n not in numbers]:
            raise ValueError(f"this program has no input {unknown[0]}; it takes {', '.join(numbers)}.")
        self.inputs = numbers | {n: float(v) for n, v in self.inputs.items()}
        try:
            self.duel = Duel(Value, _in_order([]), self.f, self.inputs)
        except Exception as error:
            raise ValueError(f"this program cannot be played: {type(error).__name__}: {error}") from error
        self.senders = [n.id for n in self.duel.r.nodes if n.parents]
        if not self.senders:
            raise ValueError(f"this program cannot be played. {self.duel.r.verdict}")
        if len(self.senders) > LIMIT:
            raise ValueError(f"this program has {len(self.senders)} operations: take one with at most {LIMIT}.")
        self.offered = self.senders[:-1]
        random.Random(len(self.senders)).shuffle(self.offered)
        # First and last, the result would begin a right order
        self.offered.insert(len(self.offered) // 2, self.senders[-1])
        self._play([])

    def actions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for i in self.offered:
            yield f"send{i}", {
                "label": self._name(i), "hint": f"{self._name(i)} passes its gradient to its parents",
                "when": lambda f, i=i: i not in f.moves, "run": lambda f, i=i: f._play([*f.moves, i]),
            }  # fmt: skip
        for name, hint, when, run in (
            ("undo", "take the last move back", lambda f: f.moves, lambda f: f._play(f.moves[:-1])),
            ("start again", "forget all moves", lambda f: True, lambda f: f._play([])),
        ):
            yield name, {"label": name, "hint": hint, "when": when, "run": run}

    def _name(self, i: int) -> str:
        return self.duel.r.nodes[i].label

    def _play(self, moves: list[int]) -> None:
        self.moves = moves
        self.duel = Duel(Value, _in_order(moves), self.f, self.inputs)
        self.duel.judged = len(moves) == len(self.senders)

    def _results(self) -> str:
        inputs = [n for n in self.duel.r.nodes if not n.parents and not n.constant]
        return ", ".join(
            f"{n.label}.grad = {number(n.grad)}" + ("" if n.grad_ok else f" (right: {number(n.right_grad)})")
            for n in inputs
        )

    def sentence(self) -> str:
        r = self.duel.r
        if self.duel.judged:
            why = "Every node waited until its gradient was complete" if r.good else "Some node did not wait"
            return f"{'✓' if r.good else '✗'} {why}: {self._results()}.{'' if r.good else ' ' + r.verdict}"
        if self.moves:
            return f"So far: {', '.join(map(self._name, self.moves))}. Which node passes its gradient on next?"
        return f"{r.nodes[-1].label} starts with gradient 1. Which node passes its gradient on first?"

    def draw(self) -> str:
        return self.duel.svg(self.sentence())
