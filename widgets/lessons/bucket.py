"""The bucket: what backward adds to .grad, who clears it, and what a training loop does with it.

What lives here: `bucket(f, x)`, one leaf's .grad under several backward passes; `micro_batches(data, w)`, one batch in
parts; `two_loops(train)`, a right training loop beside one that clears the gradient at a wrong time. The loops that it shows are the loops
that it runs.
What does not: derivatives (minigrad), the recap picture (recap_tensors.py).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import minigrad as torch
from minigrad import Value
from minigrad.tensors.create import tensor  # minigrad.tensor is also a module: type checkers take that one

from ..show import Table
from .kit import Choice, Figure, Given, Moments, Slider, Steps, Toggle, action, lesson
from .lesson import Judgement, esc, label, number, svg, tag

Pairs = Sequence[tuple[float, float]]

SHOWN = 8  # passes in the picture; earlier ones are combined into one block
LONGEST = 60  # steps of a training loop


# ---- the drawing of a bucket ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pour:
    """One backward pass: .grad before and after it."""

    before: float
    after: float

    @property
    def share(self) -> float:
        return self.after - self.before


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from below `low` to above `high`, four to seven of them."""
    span = max(high - low, 1e-12)
    step = 10.0 ** math.floor(math.log10(span / 4))
    step *= next(m for m in (1, 2, 5, 10) if span / (step * m) <= 5.0001)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [k * step for k in range(first, last + 1)]


def draw_bucket(
    pours: Sequence[Pour],
    level: float | None,
    x: float,
    y: float,
    width: float,
    height: float,
    target: float | None = None,
    room: int = 4,
) -> str:
    """A bucket that holds .grad: its water stands at `level`, each pour is a block from the level before to the level after.

    level None: no bucket yet. target: a dashed line to compare with. room: how many pours have a column of their own at least.
    """
    early, late = pours[:-SHOWN], pours[-SHOWN:]
    amounts = [0.0, level or 0.0, target or 0.0, *(p.before for p in late), *(p.after for p in late)]
    low, high = min(amounts), max(amounts)
    if low == high:
        low, high = 0.0, 1.0
    ticks = _ticks(low, high)
    low, high = ticks[0], ticks[-1]
    if level is None and not pours:
        ticks = []

    def at(amount: float) -> float:
        return y + height - (amount - low) / (high - low) * height

    out = ""
    for t in ticks:
        out += tag("line", "grid", x1=x, x2=x + width, y1=at(t), y2=at(t)) + label(
            x - 8, at(t) + 4, number(t), "t soft", "end"
        )
    if level is not None and level:
        top, bottom = sorted((at(level), at(0.0)))
        out += tag("rect", x=x, y=top, width=width, height=bottom - top, style="fill:var(--bwd-soft)")
    column = width / max(room, len(late) + bool(early))
    if early:
        out += _block(x, column, at(0.0), at(late[0].before), number(late[0].before, 4), f"{len(early)} earlier")
    for k, p in enumerate(late):
        left = x + column * (k + bool(early))
        sign = "+" if p.share >= 0 else ""
        out += _block(left, column, at(p.before), at(p.after), sign + number(p.share, 4), f"pass {len(early) + k + 1}")
    if target is not None:
        out += tag(
            "line", "central curve", x1=x - 6, x2=x + width + 6, y1=at(target), y2=at(target), stroke_dasharray="2 4"
        )
    dash = {"stroke_dasharray": "4 5"} if level is None else {}
    rim, floor = y - 10, y + height + (6 if low == 0 else 0)
    out += tag(
        "path",
        "rule",
        d=f"M{x - 3:.1f} {rim:.1f}V{floor:.1f}H{x + width + 3:.1f}V{rim:.1f}",
        fill="none",
        stroke_width=2.5,
        **dash,
    )
    if low < 0:
        out += tag("line", "rule", x1=x - 3, x2=x + width + 3, y1=at(0.0), y2=at(0.0))
    return out


def _block(left: float, column: float, start: float, end: float, amount: str, under: str) -> str:
    top, size = min(start, end), max(abs(end - start), 2.0)
    width = min(column - 5, 74)
    x = left + (column - width) / 2
    out = tag("rect", "pill", x=x, y=top, width=width, height=size, rx=3, stroke_width=1.5)
    inside = size >= 20
    y = (start + end) / 2 + 4.5 if inside else (top - 5 if end <= start else top + size + 15)
    return out + tag("title", "", esc(under)) + label(x + width / 2, y, amount, "num t b bwd halo", "middle")


# ---- one leaf, several passes --------------------------------------------------------------------------------------------------


def three_x_squared(x):
    return 3 * x**2


@lesson
class bucket(Figure):
    """Run backward several times on one leaf x, and watch what x.grad holds.

    f: a function of one tensor, yours or the course's 3x². x: the number to start with. passes: how many backward passes have run already.
    Returns a widget; where f cannot be differentiated at x, a widget with one sentence that says why.

    >>> print(bucket(passes=2).text())
    what ran                        x.grad
    y = 3 * x**2; y.backward()      6
    y = 3 * x**2; y.backward()      12
    This pass computed dy/dx = 6; the bucket held 6, so x.grad is now 6 + 6 = 12.
    """

    f = Given(three_x_squared)
    x = Slider("x", 1.0, -3.0, 3.0, 0.1, stretch=True)
    passes = Given(0)
    pours: list[Pour]  # since the bucket was last emptied
    log: list[tuple[str, float | None]]  # what ran, and what .grad was then

    def setup(self) -> None:
        if not callable(self.f):
            raise TypeError(
                f"it needs a function of one tensor, for example bucket(lambda x: x**2, x=3), and not {type(self.f).__name__}."
            )
        self.name, self.start = "3 * x**2" if self.f is three_x_squared else "f(x)", self.x
        for count in (1, min(int(self.passes), 100)):  # the first: does it run at all?
            self.again()
            for _ in range(count):
                self.backward()

    def moved(self, _name: str) -> None:
        """The next pass is at another x; .grad keeps its value."""

    def _ran(self, code: str, level: float | None, pours: list[Pour], failed: bool = False) -> None:
        self.failed = failed
        self.log, self.level, self.pours, self.at = [*self.log, (code, level)], level, pours, self.x

    def _leaf(self):
        leaf = tensor(self.x, dtype=torch.float64, requires_grad=True)
        if self.level is not None:
            leaf.grad = tensor(self.level, dtype=torch.float64)
        return leaf

    @action("y.backward()", "run y = f(x) and then y.backward()")
    def backward(self) -> None:
        leaf = self._leaf()
        y = self.f(leaf)
        if not isinstance(y, torch.Tensor) or not y.requires_grad:
            raise TypeError(f"the function must compute a tensor from x, but it returned {type(y).__name__}.")
        y.backward()
        level = math.nan if leaf.grad is None else leaf.grad.item()
        if not math.isfinite(level):
            raise ValueError(f"at x = {number(self.x)} the function has no finite slope.")
        self._ran(f"y = {self.name}; y.backward()", level, [*self.pours, Pour(self.level or 0.0, level)])

    @action("x.grad.zero_()", "fill the gradient with zeros")
    def zero(self) -> None:
        if self.level is None:
            self._ran("x.grad.zero_()  # error", None, [], failed=True)
        else:
            self._ran("x.grad.zero_()", 0.0, [])

    @action("optimizer.zero_grad()", "what an optimizer does: x.grad = None")
    def drop(self) -> None:
        leaf = self._leaf()
        torch.optim.SGD([leaf], lr=0.1).zero_grad()
        assert leaf.grad is None
        self._ran("optimizer.zero_grad()", None, [])

    @action("start again", "forget everything")
    def again(self) -> None:
        self.x, self.level = self.start, None
        self.pours = []
        self.log = []
        self.at = self.x  # where the last line ran

    def caption(self) -> str:
        return self.sentence() + ("" if self.x == self.at else f" The next pass takes x = {number(self.x)}.")

    def sentence(self) -> str:
        if not self.log:
            return "x.grad is None: no backward has run yet, so there is no bucket."
        if self.failed:
            return Judgement(
                False,
                "AttributeError: 'NoneType' object has no attribute 'zero_'. x.grad is None: there is nothing to set to zero.",
            )
        level = self.log[-1][1]
        if level is None:
            return "x.grad is None: the bucket is gone. The next backward brings a new one."
        if not self.pours:
            return "x.grad is 0: the bucket is there, and empty."
        p = self.pours[-1]
        if len(self.pours) == 1:
            return f"This pass computed dy/dx = {number(p.share)} at x = {number(self.at)}, and x.grad is {number(p.after)}."
        held = f"the bucket held {number(p.before)}"
        total = f"{number(p.before)} + {number(p.share)} = {number(p.after)}"
        return f"This pass computed dy/dx = {number(p.share)}; {held}, so x.grad is now {total}."

    def draw(self) -> str:
        out = label(24, 34, "what ran", "t soft") + label(372, 34, "x.grad", "t soft", "end")
        out += tag("line", "rule", x1=24, x2=372, y1=42, y2=42)
        rows = self.log[-SHOWN:]
        for k, (code, level) in enumerate(rows):
            y = 64.0 + 25 * k
            last = "b" if k == len(rows) - 1 else ""
            text = "None" if level is None else number(level)
            out += label(24, y, code, f"num t {last}") + label(372, y, text, f"num t {last} bwd", "end")
        if not rows:
            out += label(24, 64, "nothing yet", "t soft") + label(372, 64, "None", "num t", "end")
        out += draw_bucket(self.pours, self.level, 470, 56, 240, 190)
        text = "None" if self.level is None else number(self.level)
        out += label(590, 34, f"x.grad = {text}", "num h bwd" if self.level else "num h", "middle")
        if self.level is None:
            out += label(590, 156, "no bucket yet", "t soft", "middle")
        return svg(760, 272, out, self.sentence())

    def text(self) -> str:
        return f"{self.table().text()}\n{self.sentence()}"

    def table(self) -> Table:
        rows = [(code.ljust(30), "None" if level is None else number(level)) for code, level in self.log]
        return Table(["what ran", "x.grad"], rows or [("nothing yet".ljust(30), "None")])


# ---- one batch in micro-batches ---------------------------------------------------------------------------------------------------

EIGHT: Pairs = ((1.0, 1.0), (2.0, 2.0), (1.0, 0.0), (2.0, 3.0), (3.0, 4.0), (1.0, 1.0), (2.0, 1.0), (4.0, 6.0))


def mean_loss(w, pairs):
    return sum((w * x - y) ** 2 for x, y in pairs) / len(pairs)


@lesson
class micro_batches(Figure):
    """The gradient of one batch, collected from several micro-batches, with and without dividing each loss by their number.

    data: pairs (x, y) for the model y = w·x with the mean squared error. w: the parameter. parts: how many micro-batches (a divisor of the
    number of pairs). divide: whether each loss is divided by that number. Returns a widget, or one sentence that says what is wrong.
    """

    data = Given(EIGHT)
    w = Given(2.0)
    parts = Given(None)
    divide = Toggle("divide each loss by their number", True)

    def fields(self):
        result = super().fields()
        if choices := getattr(self, "choices", None):
            result["parts"] = Steps(choices, "micro-batches", choices[0]).named("parts")
        return {name: result[name] for name in ("data", "w", "parts", "divide")}

    def setup(self) -> None:
        try:
            self.data, self.w = [(float(x), float(y)) for x, y in self.data], float(self.w)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"it needs pairs of numbers, for example [(1, 2), (2, 3)], and a number w: {error}"
            ) from None
        if not self.data:
            raise ValueError("the batch is empty.")
        n = len(self.data)
        self.choices = [k for k in range(1, n + 1) if n % k == 0 and k <= SHOWN]
        if self.parts is None:
            self.parts = max(k for k in self.choices if k <= 4)
        if not isinstance(self.parts, int) or self.parts not in self.choices:
            raise ValueError(
                f"{n} pairs can be cut into {', '.join(map(str, self.choices))} equal parts, not into {self.parts}."
            )
        full = self._leaf()
        mean_loss(full, self.data).backward()
        assert full.grad is not None
        self.whole = full.grad.item()
        if not math.isfinite(self.whole):
            raise ValueError(f"at w = {number(self.w)} the gradient is no finite number.")
        self._pour()

    def _leaf(self):
        return tensor(self.w, dtype=torch.float64, requires_grad=True)

    def _pour(self) -> None:
        """Run backward once for each of `parts` equal micro-batches."""
        parts = self.parts
        w, size = self._leaf(), len(self.data) // parts
        self.pours: list[Pour] = []
        for k in range(parts):
            loss = mean_loss(w, self.data[k * size : (k + 1) * size])
            before = 0.0 if w.grad is None else w.grad.item()
            (loss / parts if self.divide else loss).backward()
            self.pours.append(Pour(before, w.grad.item()))
        self.level = self.pours[-1].after

    def sentence(self) -> str:
        n, size = self.parts, len(self.data) // self.parts
        how = f", each loss divided by {n}" if self.divide else ""
        what = f"{n} micro-batch{'es' * (n > 1)} of {size}{how}: w.grad = {number(self.level)}"
        full = f"One batch of {len(self.data)} gives {number(self.whole)}."
        if math.isclose(self.level, self.whole, rel_tol=1e-9, abs_tol=1e-12):
            return Judgement(True, f"{what}. {full} The same.")
        times = f" {number(self.level / self.whole)} times too much." if self.whole else ""
        return Judgement(False, f"{what}. {full}{times}")

    def draw(self) -> str:
        size = len(self.data) // self.parts
        lines = ["w.grad = None", "for batch in batches:", "    loss = mean_loss(w, batch)"]
        lines += ["    (loss / len(batches)).backward()" if self.divide else "    loss.backward()"]
        out = label(24, 34, f"{self.parts} × {size} pairs", "h")
        for k, line in enumerate(lines):
            text = line.replace(" ", "\u00a0")
            out += label(24, 66 + 23 * k, text, "num t b" if k == 3 else "num t")
        out += tag("line", "central curve", x1=24, x2=54, y1=176, y2=176, stroke_dasharray="2 4")
        out += label(62, 180, f"one batch of {len(self.data)} pairs: {number(self.whole)}", "t fwd")
        out += tag("rect", "pill", x=24, y=196, width=30, height=14, rx=3) + label(
            62, 208, "what one backward adds", "t bwd"
        )
        out += draw_bucket(self.pours, self.level, 420, 56, 300, 190, target=self.whole, room=max(self.parts, 2))
        out += label(570, 34, f"w.grad = {number(self.level)}", "num h bwd", "middle")
        return svg(760, 272, out, self.sentence())

    def table(self) -> Table:
        rows = [(str(k), (number(p.share), p.share), (number(p.after), p.after)) for k, p in enumerate(self.pours, 1)]
        return Table(["backward", "adds", "w.grad"], rows)


# ---- two training loops --------------------------------------------------------------------------------------------------------

PAIRS: Pairs = ((1.0, 2.0), (2.0, 4.5), (3.0, 5.5))


def right(optimizer, loss_of):
    optimizer.zero_grad()
    loss = loss_of()
    loss.backward()
    optimizer.step()


def never(optimizer, loss_of):
    loss = loss_of()
    loss.backward()
    optimizer.step()


def between(optimizer, loss_of):
    loss = loss_of()
    loss.backward()
    optimizer.zero_grad(set_to_none=False)
    optimizer.step()


def after(optimizer, loss_of):
    loss = loss_of()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


LOOPS: dict[str, Callable] = {"no zero_grad": never, "zero_grad before step": between, "zero_grad after step": after}
YOURS = "your train"


@dataclass(frozen=True)
class Run:
    """A training loop, step by step: the parameter before each step, its loss, and the gradient that the update read."""

    w: list[float]
    loss: list[float]
    grad: list[float]


def _loss(w, pairs: Pairs):
    return sum((w * x - y) ** 2 for x, y in pairs)


def _lines(f: Callable) -> list[str]:
    return [
        line.strip().replace("loss_of()", "loss_of(batch)")
        for line in inspect.getsource(f).splitlines()[1:]
        if line.strip()
    ]


def run_loop(body: Callable, lr: float, steps: int, pairs: Pairs = PAIRS) -> Run:
    """Run `body(optimizer, loss_of)` `steps` times on w = 0."""
    w = tensor(0.0, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=lr)
    seen: list[float] = []  # the gradient at the moment when the optimizer reads it
    optimizer.register_step_pre_hook(lambda *_: seen.append(0.0 if w.grad is None else w.grad.item()))
    run = Run([], [], seen)
    for _ in range(steps):
        run.w.append(w.item())
        with torch.no_grad():
            run.loss.append(_loss(w, pairs).item())
        body(optimizer, lambda: _loss(w, pairs))
    run.w.append(w.item())
    with torch.no_grad():
        run.loss.append(_loss(w, pairs).item())
    return run


def run_train(train: Callable, lr: float, steps: int, pairs: Pairs = PAIRS) -> Run:
    """Run the learner's `train(w, data, steps, lr)` for 0, 1, 2, ... steps, each time from w = 0."""
    run = Run([], [], [])
    for k in range(steps + 1):
        w = Value(0.0)
        if k:
            train(w, [tuple(p) for p in pairs], k, lr)
        run.w.append(float(w.data))
        run.loss.append(float(_loss(run.w[-1], pairs)))
        if k:
            run.grad.append((run.w[-2] - run.w[-1]) / lr)
    return run


@lesson
class two_loops(Figure):
    """A right training loop beside another one, step by step: loss, and the gradient that each update reads; later steps are hidden.

    train: your own loop, train(w, data, steps, lr) on a `Value`, as in exercise 07.b; without it the menu has the course's loops only.
    lr, steps: the learning rate and the number of steps to start with. Returns a widget, or one sentence that says what is wrong.
    """

    X0, X1, Y0, Y1 = 56, 430, 40, 262

    train = Given(None)
    lr = Slider("lr", 0.01, 0.002, 0.08, 0.002, stretch=True)
    steps = Given(30)
    loop = Choice(list(LOOPS), "the other loop", "no zero_grad")
    at = Moments("step")

    def fields(self):
        result = super().fields()
        if self.train is not None:
            result["loop"] = Choice([YOURS, *LOOPS], "the other loop", YOURS).named("loop")
        return {name: result[name] for name in ("train", "lr", "steps", "loop", "at")}

    def setup(self) -> None:
        if self.train is not None and not callable(self.train):
            raise TypeError(f"it needs your function train(w, data, steps, lr), and not {type(self.train).__name__}.")
        self.steps = int(self.steps)
        if not 1 <= self.steps <= LONGEST or not 0 < self.lr <= 1:
            raise ValueError(f"steps must lie between 1 and {LONGEST}, lr between 0 and 1.")
        self.last = self.steps
        self.loop = YOURS if self.train else self.loop
        self.moved("loop")

    def moved(self, _name: str) -> None:
        self.good = run_loop(right, self.lr, self.steps)
        if self.loop == YOURS:
            self.other = run_train(self.train, self.lr, self.steps)
        else:
            self.other = run_loop(LOOPS[self.loop], self.lr, self.steps)

    @property
    def agree(self) -> bool:
        return all(
            math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) for a, b in zip(self.good.w, self.other.w, strict=True)
        )

    def sentence(self) -> str:
        g, o = self.good, self.other
        if self.agree:
            return Judgement(
                True,
                f"{self.loop}: the same numbers in all {self.steps} steps. Both loops end at loss {number(g.loss[-1], 4)}.",
            )
        if not all(map(math.isfinite, o.loss)):
            return Judgement(False, f"{self.loop}: the loss is no finite number any more.")
        if all(w == o.w[0] for w in o.w):
            return Judgement(
                False, f"{self.loop}: w stays at {number(o.w[0])}, because every update reads a gradient of 0."
            )
        k = min(self.at, self.steps)
        if k == 0:
            return f"{self.loop}: both loops start with loss {number(g.loss[0], 4)}."
        read = f"the update of step {k} reads {number(o.grad[k - 1], 4)}, the right one {number(g.grad[k - 1], 4)}"
        return Judgement(
            False, f"{self.loop}: {read}. Loss after it: {number(o.loss[k], 4)} against {number(g.loss[k], 4)}."
        )

    def _y(self, loss: float) -> float:
        """The loss axis: powers of ten from 0.1 to 1000. Values outside are drawn at the edge."""
        e = min(max(math.log10(loss), -1.0), 3.0) if math.isfinite(loss) and loss > 0 else (3.0 if loss != 0 else -1.0)
        return self.Y1 - (e + 1) / 4 * (self.Y1 - self.Y0)

    def _x(self, k: int) -> float:
        return self.X0 + k / self.steps * (self.X1 - self.X0)

    def _curve(self, run: Run, kind: str) -> str:
        # Later steps stay hidden
        points = [(self._x(k), self._y(loss)) for k, loss in enumerate(run.loss[: self.at + 1])]
        out = tag("polyline", f"curve {kind}", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points))
        x, y = points[-1]
        if kind == "central":
            return out + tag("rect", "central dot", x=x - 5, y=y - 5, width=10, height=10)
        return out + tag("circle", "forward dot", cx=x, cy=y, r=5.5)

    def draw(self) -> str:
        out = label(self.X0 - 44, self.Y0 - 16, "loss", "t")
        for e in range(-1, 4):
            y = self._y(10.0**e)
            out += tag("line", "grid", x1=self.X0, x2=self.X1, y1=y, y2=y) + label(
                self.X0 - 7, y + 4, number(10.0**e), "t soft", "end"
            )
        for k in range(0, self.steps + 1, 5 if self.steps <= 30 else 10):
            out += label(self._x(k), self.Y1 + 18, str(k), "t soft", "middle")
        out += label((self.X0 + self.X1) / 2, self.Y1 + 36, "step", "t", "middle")
        x = self._x(self.at)
        out += tag("line", "now", x1=x, x2=x, y1=self.Y0, y2=self.Y1)
        out += self._curve(self.good, "central") + self._curve(self.other, "forward")
        out += self._code(462, 20, "right", _lines(right), self.good, "central", "fwd")
        lines = ["train(w, data, steps, lr)"] if self.loop == YOURS else _lines(LOOPS[self.loop])
        out += self._code(462, 160, self.loop, lines, self.other, "forward", "bwd")
        return svg(800, 306, out, self.sentence())

    def _code(self, x: float, y: float, title: str, lines: list[str], run: Run, kind: str, colour: str) -> str:
        out = tag("rect", "panel", x=x, y=y, width=324, height=132, rx=8)
        out += tag("line", f"curve {kind}", x1=x + 12, x2=x + 40, y1=y + 16, y2=y + 16) + label(
            x + 48, y + 21, title, f"t b {colour}"
        )
        for k, line in enumerate(lines):
            out += label(x + 14, y + 42 + 18 * k, line, "num t b" if "zero_grad" in line else "num t")
        k = self.at
        read = f"read {number(run.grad[k - 1], 4)}, " if k else ""
        return out + label(x + 14, y + 120, f"step {k}: {read}loss {number(run.loss[k], 4)}", f"t {colour}")

    def table(self) -> Table:
        rows = []
        for k in sorted({0, 1, 2, 3, 4, 5, self.steps // 2, self.steps} & set(range(self.at + 1)) | {self.at}):
            both = (
                (number(run.grad[k - 1], 4) if k else "·", number(run.loss[k], 4)) for run in (self.good, self.other)
            )
            rows.append([str(k), *((text, 0.0) for pair in both for text in pair)])
        return Table(["step", "right: read", "loss", "other: read", "loss"], rows)
