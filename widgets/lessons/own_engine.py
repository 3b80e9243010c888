"""S8, your own engine: the learner's class runs a program, and a duel with minigrad's Value shows the first place where they part.

What lives here: `own_engine(cls, backward)`: the menu of programs, the inputs, the steps through what the learner's backward pass did.
What does not: running and judging (listen.py), drawing (duel.py), the programs (programs.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from minigrad import Value

from ..show import Table
from .duel import Duel
from .kit import END, Choice, Control, Field, Figure, Given, Inputs, LessonView, Moments, lesson
from .listen import Observation, listen
from .programs import PROGRAMS

OWN = "your program"


class _Steps(Moments):
    """Where the learner's pass made changes."""

    def shown(self, figure: Any) -> bool:
        return figure.last > 0


@lesson
class own_engine(Figure):
    """Run your own class of numbers, forward and backward, beside minigrad's Value, and see the first place where they part.

    cls: your class; its objects need data, grad and _prev, and the operators that the program uses.
    backward: your function backward(root); leave it out if your class has a method backward().
    f, inputs: your own program and its numbers, for example own_engine(Value, backward, lambda x: x * x + x, x=3).
    Returns a widget. A class that cannot run yet gets one sentence that says what is missing.
    """

    cls = Given(Value)
    backward = Given(None)
    f = Given(None)
    program = Choice(list(PROGRAMS), "program", "diamond")
    step = _Steps("step")
    inputs = Inputs(4.0, 0.1)
    menu: dict[str, tuple[Callable, dict[str, float]]] = PROGRAMS
    duel: Any = None  # a Duel; None until setup

    def fields(self) -> dict[str, Field]:
        return {**super().fields(), "program": Choice(list(self.menu), "program", "diamond").named("program")}

    def controls(self) -> list[Control]:
        result = super().controls()
        return sorted(result, key=lambda control: isinstance(control, Moments), reverse=True)

    def setup(self) -> None:
        if not inspect.isclass(self.cls):
            what = type(self.cls).__name__
            raise TypeError(
                f"it needs your class itself, for example own_engine(Value, backward). It was given an object: {what}."
            )
        if self.backward is not None and not callable(self.backward):
            what = type(self.backward).__name__
            raise TypeError(
                f"backward must be a function of the root, as in own_engine(Value, backward). It was given {what}."
            )
        if self.f is not None:
            try:
                numbers = {n: float(self.inputs.get(n, 1.0)) for n in inspect.signature(self.f).parameters}
                self.f(**{n: Value(v) for n, v in numbers.items()})
            except Exception as error:
                raise ValueError(
                    f"your program stops even with minigrad's Value: {type(error).__name__}: {error}"
                ) from None
            self.menu, self.program = {OWN: (self.f, numbers), **PROGRAMS}, OWN
        self.moved("program")

    def moved(self, name: str) -> None:
        program, numbers = self.menu[self.program]
        if name == "program":
            self.inputs = dict(numbers)
        self.duel = Duel(self.cls, self.backward, program, self.inputs)
        self.last = len(self.duel.r.writes)
        self.step = END

    def _now(self) -> Duel:
        self.duel.at = min(self.step, self.last)
        return self.duel

    def sentence(self) -> str:
        return self._now().event()

    def draw(self) -> str:
        return self._now().svg()

    def table(self) -> Table | None:
        return self.duel.table()

    def text(self) -> str:
        return self._now().text()


def first_fault(answer: Callable) -> LessonView | None:
    """A learner's class, or backward function, on the first program that it gets wrong, at the step where it goes wrong."""
    cls, backward = _engine_of(answer)
    for name, observed in _wrong_on(cls, backward):
        view = own_engine(cls, backward, program=name)  # type: ignore[call-arg]  # mypy does not see that @lesson makes a function
        assert isinstance(view, LessonView)
        if observed.wrong_write is not None:
            view.set(step=observed.wrong_write + 1)
        return view
    return None


def fault_in_words(answer: Callable) -> str:
    """The first mistake in one sentence, with the program that shows it, "" if there is none. `check` uses it for mistakes that are not in
    the exercise's bank."""
    name, observed = next(_wrong_on(*_engine_of(answer)), ("", None))
    return f"In the program “{name}” of %where: {observed.verdict}" if observed else ""


def _engine_of(answer: Callable) -> tuple[Any, Callable | None]:
    if not inspect.isclass(answer):
        return Value, answer
    return answer, None if hasattr(answer, "backward") else in_order


def _wrong_on(cls: Any, backward: Callable | None) -> Iterator[tuple[str, Observation]]:
    """The programs that an engine computes wrongly, with the recording of each."""
    for name, (program, numbers) in PROGRAMS.items():
        observed = listen(cls, program, numbers, backward)
        if not observed.good:
            yield name, observed


def in_order(root: Any) -> None:
    """A backward pass for a class that has only rules yet: each rule once, users before their operands."""
    order, seen = [], set()
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack += [(node, True), *((p, False) for p in node._prev)]
    root.grad = 1.0
    for node in reversed(order):
        node._backward()
