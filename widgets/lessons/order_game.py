"""The order game: choose which node sends its gradient next, and see what a wrong order costs.

What lives here: `order_game(f, **inputs)`. Every move runs the engine's own rule of that node, `node._backward()`, in the order
that the player chose. What does not: the drawing and the judging (duel.py, listen.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import ipywidgets

from minigrad import Value

from .duel import Duel
from .lesson import Lesson, Sentence, number, say, verdict, wrap
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


def _plain_recursion(path: list[int]) -> Callable[[Value], None]:
    """Send, then go on to each parent at once: what most people write first. `path` collects who sent."""

    def backward(root: Value) -> None:
        index = {id(node): i for i, node in enumerate(order_of(root))}

        def go(node: Value) -> None:
            if node._prev:
                path.append(index[id(node)])
            node._backward()
            for parent in node._prev:
                go(parent)

        root.grad = 1.0
        go(root)

    return backward


def order_game(f: Callable = diamond, **inputs: float) -> Lesson:
    """Choose the order of a backward pass by hand.

    f: a function of numbers, yours or the course's diamond. inputs: its numbers; what is not given is 1, and for the diamond a = 2,
    b = 3. Returns a widget, or one sentence where there is nothing to play.
    """
    if not callable(f):
        return Sentence(f"order_game needs a function of numbers, such as lambda x: x * x + x. It was given {type(f).__name__}.")
    try:
        numbers = {"a": 2.0, "b": 3.0} if f is diamond else {n: 1.0 for n in inspect.signature(f).parameters}
    except ValueError as error:
        return Sentence(f"This program cannot be played: {error}")
    if unknown := [n for n in inputs if n not in numbers]:
        return Sentence(f"This program has no input {unknown[0]}; it takes {', '.join(numbers)}.")
    try:
        numbers |= {n: float(v) for n, v in inputs.items()}
        empty = Duel(Value, _in_order([]), f, numbers)
    except Exception as error:
        return Sentence(f"This program cannot be played: {type(error).__name__}: {error}")
    senders = [n.id for n in empty.r.nodes if n.parents]
    if not senders:
        return Sentence(f"This program cannot be played. {empty.r.verdict}")
    if len(senders) > LIMIT:
        return Sentence(f"This program has {len(senders)} operations: take one with at most {LIMIT}.")
    return _OrderGame(f, numbers, empty, senders)


class _OrderGame(Lesson):
    def __init__(self, f: Callable, numbers: dict[str, float], empty: Duel, senders: list[int]):
        self.f, self.numbers, self.duel, self.senders = f, numbers, empty, senders
        self.moves: list[int] = []
        self.recursion = ""  # who sent in plain recursion, while that is shown
        self.send = {self._name(i): _button(self._name(i), f"{self._name(i)} sends its gradient to its parents") for i in senders[::-1]}
        self.undo, self.again = _button("undo", "take the last move back"), _button("start again", "forget all moves", "104px")
        self.naive = _button("plain recursion", "every node passes on at once", "130px")
        for i in senders:
            self.send[self._name(i)].on_click(lambda _button, i=i: self._play([*self.moves, i]))
        self.undo.on_click(lambda _button: self._play(self.moves[:-1]))
        self.again.on_click(lambda _button: self._play([]))
        self.naive.on_click(lambda _button: self._recurse())
        self.shown, self.words = ipywidgets.HTML(), ipywidgets.HTML()
        self._play([])
        who = ipywidgets.HTML(say("send next:", "plain"))
        children = [self.shown, wrap(who, *self.send.values()), self.words, wrap(self.undo, self.again, self.naive)]
        super().__init__(children, picture=lambda: self.duel.svg(self.sentence()), text=self.sentence)
        self.add_class("mg-order-game")

    def _name(self, i: int) -> str:
        return self.duel.r.nodes[i].label

    def _play(self, moves: list[int]) -> None:
        self.moves, self.recursion = moves, ""
        self.duel = Duel(Value, _in_order(moves), self.f, self.numbers)
        self.duel.judged = len(moves) == len(self.senders)
        self._draw()

    def _recurse(self) -> None:
        path: list[int] = []
        self.moves = []
        self.duel = Duel(Value, _plain_recursion(path), self.f, self.numbers)
        self.recursion = " ".join(map(self._name, path))
        self._draw()

    def _draw(self) -> None:
        self.shown.value = self.duel.svg(self.sentence())
        self.words.value = verdict(self.sentence())
        for i in self.senders:
            self.send[self._name(i)].disabled = i in self.moves
        self.undo.disabled = not self.moves

    def _results(self) -> str:
        inputs = [n for n in self.duel.r.nodes if not n.parents and not n.constant]
        return ", ".join(f"{n.label}.grad = {number(n.grad)}" + ("" if n.grad_ok else f" (right: {number(n.right_grad)})") for n in inputs)

    def sentence(self) -> str:
        r = self.duel.r
        if self.recursion:
            end = "" if r.good else f" {r.verdict}"
            return f"{'✓' if r.good else '✗'} Plain recursion sent in the order {self.recursion}. Result: {self._results()}.{end}"
        if self.duel.judged:
            why = "Every node waited until its gradient was complete" if r.good else "Some node did not wait"
            return f"{'✓' if r.good else '✗'} {why}: {self._results()}.{'' if r.good else ' ' + r.verdict}"
        if self.moves:
            return f"Sent so far: {' '.join(map(self._name, self.moves))}. Who goes next?"
        return f"{r.nodes[-1].label} starts with gradient 1. Who goes first?"


def _button(text: str, tip: str, width: str = "62px") -> ipywidgets.Button:
    return ipywidgets.Button(description=text, tooltip=tip, layout={"width": width})
