"""The playground: a model learns where two or three kinds of points lie, and its film is shown while it does.

What lives here: `playground(model, optimizer, data)`. Training runs in small slices on the kernel's event loop, so that other cells run in
between; it can be paused at any step, and the graph of one batch can be shown.
What does not: layers and optimisers (minigrad), the film (minigrad/film.py, widgets/film), the graph view (widgets.graph).
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import math
import random
import time
import weakref
from collections.abc import Callable
from typing import Any

import ipywidgets

import minigrad as torch
from minigrad import datasets, nn
from minigrad.film import Film
from minigrad.nn import functional as F
from minigrad.tensors.create import tensor

from ..film import picture
from ..film.view import FilmView
from ..graph import graph
from ..show import Table
from .kit import Choice, Control, Figure, Given, LessonView, Slider, action, lesson
from .lesson import Judgement, number

POINTS = 200  # to learn from, and as many new ones to judge by
SLICE = 0.04  # seconds of training before the kernel may do something else
PAUSE = 0.03  # seconds between two slices
LIMIT = 3000  # steps after which a run pauses
DATA: dict[str, tuple[Callable, int]] = {
    "moons": (lambda seed: datasets.moons(POINTS, 0.2, seed), 2),
    "circles": (lambda seed: datasets.circles(POINTS, 0.1, seed), 2),
    "spirals": (lambda seed: datasets.spirals(POINTS, 0.03, seed), 3),
}
OPTIMIZERS: dict[str, Callable] = {
    "SGD": lambda p, lr: torch.optim.SGD(p, lr=lr),
    "momentum": lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9),
    "Adam": lambda p, lr: torch.optim.Adam(p, lr=lr),
}
YOURS = "yours"


def default_model(classes: int) -> nn.Module:
    """2 inputs, two hidden layers of 8, one output for each class. The same numbers each time; the learner's random state stays."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, classes)).double()


def one_step(model, optimizer, x, y):
    """One iteration, as the chapter writes it."""
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


class Trouble(ValueError):
    """What cannot be trained; the message is for the learner."""


class _Run:
    """A model, an optimiser, data, and the history of a training."""

    def __init__(self, model: Any, optimizer: Any, step: Callable, data: str, lr: float, batch: int):
        self.own_model, self.own_optimizer, self.step_function = model, optimizer, step
        self.data, self.lr, self.batch = data, lr, batch
        self.kind = YOURS if optimizer is not None and not isinstance(optimizer, str) else (optimizer or "SGD")
        self.first = copy.deepcopy(model.state_dict()) if model is not None else None
        self.first_optimizer = copy.deepcopy(optimizer.state_dict()) if hasattr(optimizer, "state_dict") else None
        self.reset()

    def reset(self) -> None:
        """Back to the first step, with the present settings."""
        make, self.classes = DATA[self.data]
        self.model = self.own_model if self.own_model is not None else default_model(self.classes)
        if self.first is not None:
            self.model.load_state_dict(self.first)
        parameters = list(self.model.parameters())
        if not parameters:
            raise Trouble(
                "the model has no parameters: there is nothing to train. Assign layers in __init__ as attributes: self.a = …"
            )
        self.dtype = parameters[0].dtype
        (self.x, self.y), (self.new_x, self.new_y) = (
            (tensor(points.tolist(), dtype=self.dtype), labels) for points, labels in (make(0), make(1))
        )
        if self.kind != YOURS:
            self.optimizer = OPTIMIZERS[self.kind](parameters, self.lr)
        elif hasattr(self.own_optimizer, "step"):
            self.optimizer = self.own_optimizer
            if self.first_optimizer is not None:
                self.optimizer.load_state_dict(copy.deepcopy(self.first_optimizer))
        else:
            self.optimizer = self.own_optimizer(parameters)
        for p in parameters:
            p.grad = None
        self.order: list[int] = []
        self.random = random.Random(0)
        self.losses: list[float] = []
        self.trouble = ""
        self._measure()
        self.film = self._preview()

    def _preview(self) -> Film:
        """A film of one step that is not taken: the network before it learns."""
        loss, _, rows = self.one_batch()
        film = Film(self.model, self.x, self.y)
        loss.backward()
        film.step(loss, rows=rows)
        for p in self.model.parameters():
            p.grad = None
        return film

    # What the model says

    def _right(self, x, y) -> int:
        """For how many points the largest number is that of their kind."""
        mode = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                out = self.model(x)
        finally:
            self.model.train(mode)
        if not isinstance(out, torch.Tensor):
            raise Trouble(f"the model must return a tensor, but it returned {type(out).__name__}.")
        if tuple(out.shape) != (len(x), self.classes):
            raise Trouble(
                f"for {len(x)} points of 2 coordinates the model returned shape {tuple(out.shape)}; {self.data} needs "
                f"{(len(x), self.classes)}, one number for each kind of point. End it with Linear(…, {self.classes})."
            )
        return int((out.argmax(1) == y).sum().item())

    def _measure(self) -> None:
        self.right, self.new_right = self._right(self.x, self.y), self._right(self.new_x, self.new_y)
        with torch.no_grad():
            self.loss = F.cross_entropy(self.model(self.x), self.y).item()

    # Training

    def next_batch(self) -> list[int]:
        """The next rows, in an order that is shuffled again for each epoch."""
        size = min(self.batch, POINTS)
        if len(self.order) < size:
            self.order = list(range(POINTS))
            self.random.shuffle(self.order)
        at, self.order = self.order[:size], self.order[size:]
        return at

    def steps(self, count: int, seconds: float = math.inf) -> None:
        """Train for at most `count` steps and about `seconds`; trouble stops it, and is told in `trouble`."""
        end = time.monotonic() + seconds
        try:
            for _ in range(count):
                film = self.film if self.losses else Film(self.model, self.x, self.y)
                rows = self.next_batch()
                loss = self.step_function(self.model, self.optimizer, self.x[rows], self.y[rows])
                value = loss.item() if isinstance(loss, torch.Tensor) else loss
                if isinstance(value, bool) or not isinstance(value, (int, float)):
                    raise Trouble(f"your step must return the loss, but it returned {type(value).__name__}.")
                self.losses.append(float(value))
                if not math.isfinite(value):
                    raise Trouble(
                        "the loss is no finite number any more: the steps are too large. Reset, and take a smaller lr."
                    )
                film.step(loss, rows=rows)
                self.film = film
                if time.monotonic() >= end:
                    break
            self._measure()
        except Exception as error:  # the learner's model may raise anything: say it, show no traceback of ours
            self.trouble = f"step {len(self.losses) + 1} stopped: {_first_line(error)}"

    def one_batch(self):
        """The loss of the next batch, with its graph, and names for its tensors. Makes no step."""
        order, state = list(self.order), self.random.getstate()
        rows = self.next_batch()
        self.order = order
        self.random.setstate(state)
        x, y = self.x[rows], self.y[rows]
        loss = F.cross_entropy(self.model(x), y)
        names = {name.replace(".", "_").removeprefix("_"): p for name, p in self.model.named_parameters()}
        named = {"loss": loss, "x": x, "y": y, **{f"p{n}" if n[:1].isdigit() else n: p for n, p in names.items()}}
        return loss, named, rows

    # What is shown

    def sentence(self) -> str:
        if self.trouble:
            return Judgement(False, self.trouble)
        return (
            f"After {len(self.losses)} step{'s' * (len(self.losses) != 1)}: loss {number(self.loss, 3)}, {self.right} of {POINTS} points "
            f"right, {self.new_right} of {POINTS} new ones right."
        )

    def text(self) -> str:
        how = f"{self.kind}, lr = {number(self.lr)}" if self.kind != YOURS else "your optimizer"
        return f"{self.data}, {how}, batches of {min(self.batch, POINTS)}.\n{self.sentence()}"


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


_training: weakref.WeakSet[LessonView] = weakref.WeakSet()  # one at a time: a start pauses the others


@lesson
class playground(Figure):
    """Train a small network on points in the plane, and watch its film: each unit's map, the boundary, the loss, any step again.

    model: your Module, from 2 coordinates to one number for each kind of point; without it, two hidden layers of 8. optimizer: "SGD",
    "momentum" or "Adam"; or your own optimizer, made for model.parameters(); or a function that makes one from parameters. data: "moons",
    "circles" or "spirals" (three kinds). step: your own iteration, step(model, optimizer, x, y), which returns the loss. lr, batch: where
    the controls start. steps: how many steps have been taken already. Returns a widget, or one sentence that says what is wrong.

    >>> print(playground(steps=100).text())
    moons, SGD, lr = 0.5, batches of 32.
    After 100 steps: loss 0.271, 178 of 200 points right, 171 of 200 new ones right.
    """

    model = Given(None)
    optimizer = Given(None)
    data = Choice(list(DATA), "data", "moons")
    step = Given(None)
    lr = Slider("lr", 0.5, 1e-4, 10.0, 0.1, log=True, show=lambda lr: number(lr, 3))
    batch = Given(32)
    steps = Given(0)
    kind = Choice(list(OPTIMIZERS), "optimizer", "SGD")
    pace = Slider("steps at a time", 4, 1, 50)
    run: Any = None  # a _Run, the same in every copy of the figure
    task: asyncio.Task | None = None
    film_view: Any = None
    batch_view: Any = None  # the graph of one batch, while it is shown

    def fields(self):
        result = super().fields()
        if self.run is not None:
            sizes = sorted({1, 8, 32, POINTS, min(self.run.batch, POINTS)})
            visible = {"all points" if n == POINTS else "1 point" if n == 1 else f"{n} points": n for n in sizes}
            result["batch"] = Choice(visible, "batch", 32).named("batch")
            kinds = [
                *OPTIMIZERS,
                *([YOURS] if self.optimizer is not None and not isinstance(self.optimizer, str) else []),
            ]
            result["kind"] = Choice(kinds, "optimizer", "SGD").named("kind")
        return result

    def controls(self) -> list[Control]:
        results = {control.name: control for control in super().controls()}
        return [results[name] for name in ("pace", "data", "kind", "lr", "batch") if name in results]

    def setup(self) -> None:
        model, optimizer = self.model, self.optimizer
        if inspect.isclass(model):
            raise TypeError(f"it needs a model, not the class {model.__name__}: make one with {model.__name__}().")
        if model is not None and not isinstance(model, nn.Module):
            raise TypeError(
                f"it needs an nn.Module with 2 inputs, for example nn.Linear(2, 2). It was given {type(model).__name__}."
            )
        if isinstance(optimizer, str) and optimizer not in OPTIMIZERS:
            raise ValueError(
                f"it knows the optimizers {', '.join(OPTIMIZERS)}, not {optimizer!r}; or give it one of your own."
            )
        if (
            optimizer is not None
            and not isinstance(optimizer, str)
            and not callable(getattr(optimizer, "step", optimizer))
        ):
            raise TypeError(f"it needs an optimizer or its name. It was given {type(optimizer).__name__}.")
        if hasattr(optimizer, "step") and not inspect.isclass(optimizer) and model is None:
            raise ValueError(
                "an optimizer belongs to parameters: give playground the model, too, or a function p → optimizer."
            )
        if self.step is not None and not callable(self.step):
            raise TypeError(
                f"step must be a function step(model, optimizer, x, y). It was given {type(self.step).__name__}."
            )
        if int(self.batch) < 1 or not 0 <= int(self.steps) <= LIMIT:
            raise Trouble(f"batch must be at least 1, and steps between 0 and {LIMIT}.")
        try:
            run = _Run(model, optimizer, self.step or one_step, self.data, self.lr, int(self.batch))
        except Exception as error:  # the learner's model may raise anything
            raise Trouble(_first_line(error)) from error
        run.steps(int(self.steps))
        if run.trouble:
            raise Trouble(run.trouble)
        self.run, self.kind, self.batch = run, run.kind, min(run.batch, POINTS)

    # Buttons

    @property
    def running(self) -> bool:
        return self.task is not None

    @action(lambda self: "pause" if self.running else "start", "train until you pause it; other cells run in between")
    def toggle(self) -> None:
        self.pause() if self.running else self.start()

    def start(self) -> None:
        """Train on the event loop until paused; where none runs (a plain program), train LIMIT steps now."""
        for other in list(_training):
            other.figure.pause()
            other.refresh()
        if self.run.trouble:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.run.steps(LIMIT)
            self.show_film(ended=True)
            return
        assert self.view is not None
        _training.add(self.view)
        self.task, self.busy = loop.create_task(_train(self.view, self.run)), True

    def pause(self) -> None:
        if self.task is not None:
            self.task.cancel()
        self.rest()

    close = pause  # a hidden lesson does not train

    def rest(self) -> None:
        """Training is paused: the film gets all its frames."""
        if self.task is not None:
            self.show_film(ended=True)
        self.task, self.busy = None, False
        if self.view is not None:
            _training.discard(self.view)

    @action("one step")
    def once(self) -> None:
        self.pause()
        if not self.run.trouble:
            self.run.steps(1)
            self.show_film(ended=True)

    @action("reset")
    def reset(self) -> None:
        self.pause()
        try:
            self.run.reset()
            self.show_film()
        except Exception as error:
            self.run.trouble = _first_line(error)

    @action(
        lambda self: "hide the graph" if self.batch_view else "graph of one batch",
        "what the engine records for the next batch",
    )
    def show_graph(self) -> None:
        """Put the graph of the next batch below; the second time, put it away."""
        self.pause()
        if self.batch_view is not None:
            self.batch_view = None
            return
        try:
            loss, names, _ = self.run.one_batch()
            self.batch_view = graph(loss, names=names)
        except Exception as error:
            raise Trouble(f"this batch has no graph to show: {_first_line(error)}") from error

    def show_film(self, ended: bool = False) -> None:
        """Let the view of the film follow: another one after a reset, else the frames since the last time."""
        view, film = self.film_view, self.run.film
        if view.of[0] is not film:
            view.turn_to(film)
        elif ended:
            view.finish()
        else:
            view.advance()

    def below(self) -> list[ipywidgets.Widget]:
        if self.film_view is None:
            self.film_view = FilmView([self.run.film], ["playground"])
        return [self.film_view] if self.batch_view is None else [self.film_view, self.batch_view]

    # Controls

    def moved(self, name: str) -> None:
        if name == "lr":  # a new learning rate counts from the next step on
            self.run.lr = self.lr
            for group in getattr(self.run.optimizer, "param_groups", ()):
                group["lr"] = self.lr
        elif name == "batch":  # the batches change; the parameters stay
            self.pause()
            self.run.batch, self.run.order = self.batch, []
        elif name in ("data", "kind"):
            setattr(self.run, name, getattr(self, name))
            self.reset()

    # What is shown

    def sentence(self) -> str:
        return self.run.sentence()

    def draw(self) -> str:
        return ""  # the film is the picture

    def still(self) -> str:
        return picture.svg(self.run.film)

    def table(self) -> Table:
        losses = self.run.losses
        visible = sorted({0, len(losses) // 4, len(losses) // 2, len(losses) - 1} & set(range(len(losses))))
        return Table(("step", "loss of its batch"), [(str(k + 1), (number(losses[k], 3), losses[k])) for k in visible])

    def text(self) -> str:
        return self.run.text()


async def _train(view: LessonView, run: _Run) -> None:
    """In small slices, so that others can have a turn in between. What the view shows is a copy of the figure that began."""
    end = len(run.losses) + LIMIT
    while len(run.losses) < end and not run.trouble:
        run.steps(min(view.figure.pace, end - len(run.losses)), SLICE)
        view.figure.show_film()
        view.refresh()
        await asyncio.sleep(PAUSE)
    view.figure.rest()
    view.refresh()
