"""The playground: a model learns where two or three kinds of points lie, while you watch its boundary and its loss.

What lives here: `playground(model, optimizer, data)`. Training runs in small slices on the kernel's event loop, so that other cells run in
between; it can be paused at any step, and the graph of one batch can be shown. Steps, loss and boundary are the model's own.
What does not: layers and optimisers (minigrad), the graph view (widgets.graph), lines of equal height (contours.py).
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
import numpy as np

import minigrad as torch
from minigrad import datasets, nn
from minigrad.nn import functional as F
from minigrad.tensors.create import tensor

from ..graph import graph
from ..show import Table
from .contours import contour
from .kit import Choice, Control, Figure, Given, LessonView, Slider, action, lesson
from .lesson import Judgement, label, number, svg, tag

POINTS = 200  # to learn from, and as many new ones to judge by
GRID = 45  # the model is evaluated at GRID × GRID places for the picture
SLICE = 0.04  # seconds of training before the kernel may do something else
PAUSE = 0.03  # seconds between two slices
LIMIT = 3000  # steps after which a run pauses
LEVELS = 5  # of certainty, as opacity
KINDS = ("fwd", "bwd", "good")
MARKS = ("●", "▲", "■")
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
    """2 inputs, two hidden layers of 16, one output for each class. The same numbers each time; the learner's random state stays."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, classes)).double()


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
        self.kind = YOURS if optimizer is not None and not isinstance(optimizer, str) else (optimizer or "Adam")
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
        self.low, self.high = _box(self.x)
        ticks = [np.linspace(a, b, GRID) for a, b in zip(self.low, self.high, strict=True)]
        places = np.stack(np.meshgrid(*ticks), -1).reshape(-1, 2)
        self.places = tensor(places.tolist(), dtype=self.dtype)
        self.order: list[int] = []
        self.random = random.Random(0)
        self.losses: list[float] = []
        self.trouble = ""
        self._measure()

    # What the model says

    def _ask(self, x) -> np.ndarray:
        """Probabilities (points, classes)."""
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
        return np.asarray(F.softmax(out, 1).tolist())

    def _measure(self) -> None:
        self.map = self._ask(self.places)
        with torch.no_grad():
            self.loss = F.cross_entropy(self.model(self.x), self.y).item()
        self.right = int((self._ask(self.x).argmax(1) == np.asarray(self.y.tolist())).sum())
        self.new_right = int((self._ask(self.new_x).argmax(1) == np.asarray(self.new_y.tolist())).sum())

    # Training

    def next_batch(self):
        """The next points, in an order that is shuffled again for each epoch."""
        size = min(self.batch, POINTS)
        if len(self.order) < size:
            self.order = list(range(POINTS))
            self.random.shuffle(self.order)
        at, self.order = self.order[:size], self.order[size:]
        return self.x[at], self.y[at]

    def steps(self, count: int, seconds: float = math.inf) -> None:
        """Train for at most `count` steps and about `seconds`; trouble stops it, and is told in `trouble`."""
        end = time.monotonic() + seconds
        try:
            for _ in range(count):
                loss = self.step_function(self.model, self.optimizer, *self.next_batch())
                value = loss.item() if isinstance(loss, torch.Tensor) else loss
                if isinstance(value, bool) or not isinstance(value, (int, float)):
                    raise Trouble(f"your step must return the loss, but it returned {type(value).__name__}.")
                self.losses.append(float(value))
                if not math.isfinite(value):
                    raise Trouble(
                        "the loss is no finite number any more: the steps are too large. Reset, and take a smaller lr."
                    )
                if time.monotonic() >= end:
                    break
            self._measure()
        except Exception as error:  # the learner's model may raise anything: say it, show no traceback of ours
            self.trouble = f"step {len(self.losses) + 1} stopped: {_first_line(error)}"

    def one_batch(self):
        """The loss of the next batch, with its graph, and names for its tensors. Makes no step."""
        order, state = list(self.order), self.random.getstate()
        x, y = self.next_batch()
        self.order = order
        self.random.setstate(state)
        loss = F.cross_entropy(self.model(x), y)
        names = {name.replace(".", "_").removeprefix("_"): p for name, p in self.model.named_parameters()}
        return loss, {"loss": loss, "x": x, "y": y, **{f"p{n}" if n[:1].isdigit() else n: p for n, p in names.items()}}

    # What is shown

    def sentence(self) -> str:
        if self.trouble:
            return Judgement(False, self.trouble)
        return (
            f"After {len(self.losses)} step{'s' * (len(self.losses) != 1)}: loss {number(self.loss, 3)}, {self.right} of {POINTS} points "
            f"right, {self.new_right} of {POINTS} new ones right."
        )

    def svg(self) -> str:
        left, top, side = 14.0, 14.0, 346.0
        cell = side / (GRID - 1)

        def place(c: float, r: float) -> tuple[float, float]:
            return left + c * cell, top + side - r * cell

        out = tag("rect", "box", x=left, y=top, width=side, height=side, rx=4)
        sure = self.map.reshape(GRID, GRID, self.classes)
        best = sure.argmax(-1)
        level = (
            np.ceil((sure.max(-1) - 1 / self.classes) / (1 - 1 / self.classes) * LEVELS - 1e-9)
            .clip(0, LEVELS)
            .astype(int)
        )
        runs: dict[tuple[int, int], list[str]] = {}
        for r in range(GRID - 1):
            c = 0
            while c < GRID - 1:
                key, start = (int(best[r, c]), int(level[r, c])), c
                while c < GRID - 1 and (int(best[r, c]), int(level[r, c])) == key:
                    c += 1
                x, y = place(start, r + 1)
                runs.setdefault(key, []).append(
                    f"M{x:.1f} {y:.1f}h{(c - start) * cell:.1f}v{cell + 0.3:.1f}h-{(c - start) * cell:.1f}z"
                )
        for (kind, depth), pieces in sorted(runs.items()):
            if depth:
                out += tag(
                    "path", d="".join(pieces), style=f"fill:var(--{KINDS[kind]})", fill_opacity=f"{0.07 * depth:.2f}"
                )
        for kind in range(self.classes if self.classes > 2 else 1):
            others = np.delete(sure, kind, -1).max(-1)
            d = contour((sure[..., kind] - others).tolist(), 0.0, place)
            if d:
                out += tag("path", "curve", d=d, style="stroke:var(--ink);stroke-width:2.2;fill:none")
        for (px, py), kind in zip(self.x.tolist(), self.y.tolist(), strict=True):
            x, y = place(
                *((p - a) / (b - a) * (GRID - 1) for p, a, b in zip((px, py), self.low, self.high, strict=True))
            )
            out += _mark(x, y, kind)
        out += self._curve(408.0, 34.0, 366.0, 196.0)
        for k in range(self.classes):
            out += _mark(416.0 + 108 * k, 272, k) + label(428 + 108 * k, 276.5, f"kind {k}", "t soft")
        out += tag("line", "curve", x1=410, x2=436, y1=296, y2=296, style="stroke:var(--ink);stroke-width:2.2")
        out += label(444, 300.5, "the border; stronger colour: more certain", "t soft")
        facts = f"{self.right} of {POINTS} points right · {self.new_right} of {POINTS} new ones"
        out += label(410, 334, f"step {len(self.losses)}", "h") + label(
            500, 334, f"loss {number(self.loss, 3)}", "num h fwd"
        )
        out += label(410, 356, facts, "t")
        return svg(800, 374, out, self.sentence())

    def _curve(self, x0: float, y0: float, width: float, height: float) -> str:
        """The loss of each batch, on a scale of powers of ten."""
        out = label(x0 - 24, y0 - 14, "loss of each batch", "t")
        seen = [v for v in self.losses if math.isfinite(v) and v > 0]
        low = math.floor(math.log10(max(min([*seen, 0.3]), 1e-6)) + 1e-9)
        high = max(0, math.ceil(math.log10(max([*seen, 1.0])) - 1e-9))

        def y(v: float) -> float:
            e = min(max(math.log10(v), low), high) if v > 0 and math.isfinite(v) else (low if v == 0 else high)
            return y0 + (high - e) / (high - low) * height

        for e in range(low, high + 1):
            out += tag("line", "grid", x1=x0, x2=x0 + width, y1=y(10.0**e), y2=y(10.0**e))
            out += label(x0 - 6, y(10.0**e) + 4, number(10.0**e), "t soft", "end")
        total = len(self.losses)
        span = max(total, 50)
        for k in (0, span // 2, span):
            out += label(x0 + k / span * width, y0 + height + 18, str(k), "t soft", "middle")
        if not total:
            return out + label(x0 + width / 2, y0 + height / 2, "no step yet", "t soft", "middle")
        chunk = max(1, math.ceil(total / 180))  # as many points as there is room for: means of neighbouring steps
        means = [sum(self.losses[i : i + chunk]) / len(self.losses[i : i + chunk]) for i in range(0, total, chunk)]
        points = " ".join(
            f"{x0 + min((i + 0.5) * chunk, total) / span * width:.1f},{y(v):.1f}" for i, v in enumerate(means)
        )
        return out + tag("polyline", "curve central", points=points)

    def text(self) -> str:
        how = f"{self.kind}, lr = {number(self.lr)}" if self.kind != YOURS else "your optimizer"
        return f"{self.data}, {how}, batches of {min(self.batch, POINTS)}.\n{self.sentence()}"


def _box(x) -> tuple[list[float], list[float]]:
    """The square around the points."""
    a = np.asarray(x.tolist())
    middle, half = (a.min(0) + a.max(0)) / 2, (a.max(0) - a.min(0)).max() / 2 * 1.12
    return (middle - half).tolist(), (middle + half).tolist()


def _mark(x: float, y: float, kind: int) -> str:
    """A point, whose class has a shape and a colour."""
    style = f"fill:var(--{KINDS[kind]});stroke:var(--bg);stroke-width:1"
    if kind == 0:
        return tag("circle", cx=x, cy=y, r=4.0, style=style)
    if kind == 1:
        return tag("path", d=f"M{x:.1f} {y - 5:.1f}l4.8 8.6h-9.6z", style=style)
    return tag("rect", x=x - 3.7, y=y - 3.7, width=7.4, height=7.4, style=style)


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


_training: weakref.WeakSet[LessonView] = weakref.WeakSet()  # one at a time: a start pauses the others


@lesson
class playground(Figure):
    """Train a small network on points in the plane, and watch its boundary, its loss, and the graph of one batch.

    model: your Module, from 2 coordinates to one number for each kind of point; without it, two hidden layers of 16. optimizer: "SGD",
    "momentum" or "Adam"; or your own optimizer, made for model.parameters(); or a function that makes one from parameters. data: "moons",
    "circles" or "spirals" (three kinds). step: your own iteration, step(model, optimizer, x, y), which returns the loss. lr, batch: where
    the controls start. steps: how many steps have been taken already. Returns a widget, or one sentence that says what is wrong.

    >>> print(playground(steps=100).text())
    moons, Adam, lr = 0.03, batches of 32.
    After 100 steps: loss 0.0759, 195 of 200 points right, 194 of 200 new ones right.
    """

    model = Given(None)
    optimizer = Given(None)
    data = Choice(list(DATA), "data", "moons")
    step = Given(None)
    lr = Slider("lr", 0.03, 1e-4, 10.0, 0.1, log=True, show=lambda lr: number(lr, 3))
    batch = Given(32)
    steps = Given(0)
    kind = Choice(list(OPTIMIZERS), "optimizer", "Adam")
    pace = Slider("steps per picture", 4, 1, 50)
    run: Any = None  # a _Run, the same in every copy of the figure
    task: asyncio.Task | None = None
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
            result["kind"] = Choice(kinds, "optimizer", "Adam").named("kind")
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
        self.task, self.busy = None, False
        if self.view is not None:
            _training.discard(self.view)

    @action("one step")
    def once(self) -> None:
        self.pause()
        if not self.run.trouble:
            self.run.steps(1)

    @action("reset")
    def reset(self) -> None:
        self.pause()
        try:
            self.run.reset()
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
            loss, names = self.run.one_batch()
            self.batch_view = graph(loss, names=names)
        except Exception as error:
            raise Trouble(f"this batch has no graph to show: {_first_line(error)}") from error

    def below(self) -> list[ipywidgets.Widget]:
        return [] if self.batch_view is None else [self.batch_view]

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
        return self.run.svg()

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
        view.refresh()
        await asyncio.sleep(PAUSE)
    view.figure.rest()
    view.refresh()
