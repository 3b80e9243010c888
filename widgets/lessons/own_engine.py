"""S8, your own engine: the learner's class runs a program, and a duel with minigrad's Value shows the first place where they part.

What lives here: `own_engine(cls, backward)`: the menu of programs, the inputs, the steps through what the learner's backward pass did.
What does not: running and judging (listen.py), drawing (duel.py), the programs (programs.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import ipywidgets

from minigrad import Value

from .duel import Duel
from .lesson import Lesson, Sentence, verdict, wrap
from .listen import listen
from .programs import PROGRAMS


def own_engine(cls: type = Value, backward: Callable | None = None, f: Callable | None = None, **inputs: float) -> Lesson:
    """Run your own class of numbers, forward and backward, beside minigrad's Value, and see the first place where they part.

    cls: your class; its objects need data, grad and _prev, and the operators that the program uses.
    backward: your function backward(root); leave it out if your class has a method backward().
    f, inputs: your own program and its numbers, for example own_engine(Value, backward, lambda x: x * x + x, x=3).
    Returns a widget. A class that cannot run yet gets one sentence that says what is missing.
    """
    if not inspect.isclass(cls):
        what = type(cls).__name__
        return Sentence(f"own_engine needs your class itself, for example own_engine(Value, backward). It was given an object: {what}.")
    if backward is not None and not callable(backward):
        what = type(backward).__name__
        return Sentence(f"backward must be a function of the root, as in own_engine(Value, backward). It was given {what}.")
    menu: dict[str, tuple[Callable, dict[str, float]]] = dict(PROGRAMS)
    if f is not None:
        try:
            numbers = {n: float(inputs.get(n, 1.0)) for n in inspect.signature(f).parameters}
            f(**{n: Value(v) for n, v in numbers.items()})
        except Exception as error:
            return Sentence(f"Your program stops even with minigrad's Value: {type(error).__name__}: {error}")
        menu = {"your program": (f, numbers), **menu}
    return _OwnEngine(cls, backward, menu, "your program" if f is not None else "diamond")


def first_fault(answer: Callable) -> Lesson | None:
    """A learner's class, or backward function, on the first program that it gets wrong, at the step where it goes wrong."""
    cls, backward = (answer, None) if inspect.isclass(answer) else (Value, answer)
    if backward is None and not hasattr(cls, "backward"):
        backward = in_order
    for name, (program, numbers) in PROGRAMS.items():
        heard = listen(cls, program, numbers, backward)
        if not heard.good:
            lesson = _OwnEngine(cls, backward, dict(PROGRAMS), name)
            if heard.wrong_write is not None:
                lesson.step.value = heard.wrong_write + 1
            return lesson
    return None


def in_order(root) -> None:
    """The backward pass of a class that has rules and no pass of its own yet: each rule once, users before what they used."""
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


class _OwnEngine(Lesson):
    def __init__(self, cls: type, backward: Callable | None, menu: dict[str, tuple[Callable, dict[str, float]]], start: str):
        self.cls, self.backward, self.menu, self.quiet = cls, backward, menu, False
        self.choice = ipywidgets.Dropdown(options=list(menu), value=start, description="program", layout={"width": "290px"})
        self.choice.style.description_width = "66px"
        self.sliders = wrap()
        self.shown, self.words, self.table = ipywidgets.HTML(), ipywidgets.HTML(), ipywidgets.HTML()
        self.step = ipywidgets.IntSlider(min=0, max=0, description="step", layout={"width": "420px", "max_width": "100%"})
        self.step.style.description_width = "40px"
        self.play = ipywidgets.Play(min=0, max=0, interval=900, show_repeat=False)
        self.back = ipywidgets.Button(description="◀ back", tooltip="one change back", layout={"width": "76px"})
        self.ahead = ipywidgets.Button(description="step ▶", tooltip="one change on", layout={"width": "76px"})
        self.steps = wrap(self.back, self.ahead, self.step, self.play)
        self.link = ipywidgets.jslink((self.play, "value"), (self.step, "value"))
        self._switch()
        self.choice.observe(self._switch, names=["value"])
        self.step.observe(self._move, names=["value"])
        self.back.on_click(lambda _button: self._go(-1))
        self.ahead.on_click(lambda _button: self._go(+1))
        children = [wrap(self.choice), self.sliders, self.shown, self.words, self.steps, self.table]
        super().__init__(children, picture=lambda: self.duel.svg(), text=lambda: self.duel.text())
        self.add_class("mg-own-engine")

    def _switch(self, _change=None) -> None:
        """Another program: its inputs get sliders."""
        for old in self.sliders.children:
            old.close()
        sliders = []
        for name, start in self.menu[self.choice.value][1].items():
            slider = ipywidgets.FloatSlider(
                value=start, min=min(-4.0, start - 2), max=max(4.0, start + 2), step=0.1, description=name, continuous_update=False
            )
            slider.layout.width, slider.style.description_width = "260px", "30px"
            slider.observe(self._run, names=["value"])
            sliders.append(slider)
        self.sliders.children = tuple(sliders)
        self._run()

    def _run(self, _change=None) -> None:
        numbers = {slider.description: slider.value for slider in self.sliders.children}
        self.duel = Duel(self.cls, self.backward, self.menu[self.choice.value][0], numbers)
        count = len(self.duel.r.writes)
        self.quiet = True
        for control in (self.step, self.play):
            control.max = count
            control.value = count
        self.quiet = False
        self.steps.layout.display = "" if count else "none"
        self.table.value = self.duel.table()
        self._draw()

    def _move(self, change) -> None:
        if not self.quiet:
            self.duel.at = change["new"]
            self._draw()

    def _go(self, by: int) -> None:
        self.step.value = min(max(self.step.value + by, 0), self.step.max)

    def _draw(self) -> None:
        self.shown.value = self.duel.svg()
        self.words.value = verdict(self.duel.event())
