"""`versions(program, x)`: run a program line by line, and show each tensor's version counter beside the saved tensors.

The program is a text or a function of one tensor, traced by Python's line events. If it does not call backward, `sum().backward()` of its
newest result is appended, and x.grad is compared with central differences. Counters and errors are the engine's (autograd/inplace.py,
core/node.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import minigrad as torch
from minigrad.core.node import FREED
from minigrad.tensors.create import tensor
from minigrad.tracing.recording import kept_by
from minigrad.tracing.trace import walk

from ..show import Table
from .kit import END, Choice, Control, Figure, Given, Moments, Text, action, lesson
from .lesson import Judgement, label, number, svg, tag
from .line_by_line import HERE, TooLong, follow, listing, source

PATIENTS = {
    "exp, then add_": "y = x.exp()\ny.add_(1)",
    "times 2, then add_": "y = x * 2\ny.add_(1)",
    "a new tensor": "y = x.exp()\ny = y + 1",
    "behind its back": "y = x.exp()\ny.data.add_(1)",
    "through a view": "y = x.exp()\nz = y[0:1]\nz.mul_(3)",
}
MOST = 8  # tensors, and nodes, that have room in the picture
STEPS = 60  # lines that run
LENGTH = 1000  # characters of typed text
_run = itertools.count(1)
LOOK = (
    f"<style>{HERE}.mgl .over{{fill:var(--bad-soft);stroke:var(--bad);stroke-width:2.6;stroke-dasharray:7 3}}"
    ".mgl .wire.cut{stroke:var(--bad);stroke-width:2.4;stroke-dasharray:3 5}</style>"
)


@dataclass(frozen=True)
class Counter:
    """The tensors that share one version counter: their names, their numbers, the count."""

    id: int
    names: str
    shown: str
    count: int


@dataclass(frozen=True)
class Kept:
    """One saved value of a node: of whose counter, the count then and now."""

    name: str
    counter: int
    then: int
    now: int

    @property
    def stale(self) -> bool:
        return self.then != self.now


@dataclass
class CounterState:
    """The state after one line. line: its index, None at the start."""

    line: int | None
    counters: list[Counter] = field(default_factory=list)
    # (name, saved tensors, whether they were freed)
    nodes: list[tuple[str, list[Kept], bool]] = field(default_factory=list)
    error: str = ""


class Run:
    """One run of a program, noted line by line, and its picture after `at` lines."""

    def __init__(self, program: str | Callable, x: Sequence[float], base: dict[str, Any] | None = None):
        self.program, self.base, self.x = program, base or {}, [float(v) for v in x]
        if not 1 <= len(self.x) <= 6:
            raise ValueError(f"there is room for 1 to 6 numbers in x, not for {len(self.x)}.")
        if isinstance(program, str):
            if len(program) > LENGTH:
                raise ValueError(f"this program has more than {LENGTH:,} characters.")
            self.lines, self.first = program.splitlines(), 1
        else:
            self.lines, self.first = source(program)
            if not hasattr(program, "__code__"):
                raise TypeError("this callable is not a Python function whose lines can be followed.")
        self.own_pass = any(".backward(" in line or "grad(" in line.replace("no_grad(", "") for line in self.lines)
        self.moments: list[CounterState] = []
        self._keep: list[Any] = []  # so that no id is given twice
        self._nodes: list[Any] = []
        self._ids: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._versions: list[list[int]] = []
        self._last: dict[str, Any] = {}
        self.before: dict[str, Any] = {}
        self.grad: list[float] | None = None
        self.check: list[float] | None = None
        self.leaf = tensor(self.x, dtype=torch.float64, requires_grad=True)
        self._go()
        if not any(m.nodes or m.error for m in self.moments):
            raise ValueError("no operation on x was recorded. Compute something from x, a tensor.")
        self.at = len(self.moments) - 1

    # running ---------------------------------------------------------------------------------------------------------------------
    def _call(self, x: Any, noted: bool) -> Any:
        """Run the program on x; the variables that it leaves, or of a function its result."""
        program = self.program
        if not isinstance(program, str):
            out: list[Any] = []
            if noted:
                follow(program.__code__, lambda: out.append(program(x)), self._line)
            else:
                out.append(program(x))
            return {"result": out[0]}
        space: dict[str, Any] = {**self.base, "torch": torch, "x": x}
        self.before = {k: v for k, v in space.items() if k != "x"}
        code = compile(program, f"<versions {next(_run)}>", "exec")
        if noted:
            follow(code, lambda: exec(code, space), self._line)
        else:
            exec(code, space)
        return {k: v for k, v in space.items() if k != "x" and v is not self.before.get(k, self)}

    def _go(self) -> None:
        try:
            left = self._call(self.leaf, noted=True)
        except RuntimeError as error:
            self.moments[-1].error = str(error)
            return
        if self.own_pass:
            self.grad = None if self.leaf.grad is None else self.leaf.grad.tolist()
            return
        name, root = self._root(left)
        self.lines = [*self.lines, f"{name}.sum().backward()"]
        try:
            root.sum().backward()
        except RuntimeError as error:
            self._note(len(self.lines) - 1, {})
            self.moments[-1].error = str(error)
            return
        self._note(len(self.lines) - 1, {})
        self.grad = None if self.leaf.grad is None else self.leaf.grad.tolist()
        self.check = self._differences()

    @staticmethod
    def _root(left: dict[str, Any]) -> tuple[str, Any]:
        """The newest result that has a graph, and its name."""
        results = [(n, t) for n, t in walk(left) if isinstance(t, torch.Tensor) and t.grad_fn is not None]
        if not results:
            raise ValueError("nothing that it computed from x has a graph, so backward has no place to start.")
        return max(results, key=lambda pair: pair[1].grad_fn.number)

    def _differences(self, h: float = 1e-6) -> list[float]:
        """The slopes of the same program by central differences."""
        out = []
        for k in range(len(self.x)):
            ends = []
            for sign in (1, -1):
                moved = [v + sign * h * (j == k) for j, v in enumerate(self.x)]
                _, root = self._root(self._call(tensor(moved, dtype=torch.float64, requires_grad=True), noted=False))
                ends.append(root.detach().sum().item())
            out.append((ends[0] - ends[1]) / (2 * h))
        return out

    @property
    def agree(self) -> bool | None:
        """Whether x.grad is what central differences say; None where there is nothing to compare."""
        if self.check is None:
            return None
        grad = self.grad or [0.0] * len(self.check)
        return all(abs(a - b) <= 1e-5 * max(1.0, abs(b)) for a, b in zip(grad, self.check, strict=True))

    def _line(self, frame: FrameType, last: int | None, result: object) -> None:
        new_names = {
            n: v for n, v in frame.f_locals.items() if n != "__builtins__" and v is not self.before.get(n, self)
        }
        if isinstance(result, torch.Tensor) and all(result is not other for other in new_names.values()):
            new_names.setdefault("result", result)
        self._note(None if last is None else last - self.first, new_names)

    def _note(self, line: int | None, variables: dict[str, Any]) -> None:
        if len(self.moments) > STEPS:
            raise TooLong(f"more than {STEPS} lines have run and the program has not ended. Show a shorter run.")
        if self.moments and not variables:  # after the backward pass: the same tensors again
            variables = self._last
        self._last = variables
        moment = CounterState(line)
        tensors: dict[int, Any] = {}
        names: dict[int, dict[str, None]] = {}
        for name, thing in [("x", self.leaf), *walk(variables)]:
            if isinstance(thing, torch.Tensor):
                key = self._counter(thing.version)
                self._keep.append(thing)
                names.setdefault(key, {}).setdefault(name)
                tensors[key] = (
                    thing if key not in tensors or thing.array.size >= tensors[key].array.size else tensors[key]
                )
                self._collect(thing.grad_fn)
        for node in self._nodes:
            remaining = []
            for name, array, counter, then in kept_by(node):
                key = self._counter(counter)
                if key not in tensors and (array.ndim or key in self._names):
                    tensors[key] = torch.from_numpy(array.copy())
                if key in tensors:
                    remaining.append(Kept(name.removeprefix("_saved_"), key, then, counter[0]))
            moment.nodes.append((node.name().removeprefix("torch::autograd::"), remaining, node.status == FREED))
        for key in sorted(tensors):
            if key in names:
                self._names[key] = " and ".join(names[key])
            text = (
                self._names.get(key, "no name")
                if key in names
                else f"old {self._names[key]}"
                if key in self._names
                else "no name"
            )
            moment.counters.append(Counter(key, text, _numbers(tensors[key]), self._versions[key][0]))
        if len(moment.counters) > MOST or len(moment.nodes) > MOST:
            raise TooLong(f"there is room for {MOST} tensors and {MOST} nodes. Show a shorter run.")
        self.moments.append(moment)

    def _counter(self, version: list[int]) -> int:
        """The number of a version counter, in the order in which they were seen."""
        if id(version) not in self._ids:
            self._ids[id(version)] = len(self._versions)
            self._versions.append(version)
        return self._ids[id(version)]

    def _collect(self, node: Any) -> None:
        """The node and all behind it, oldest first; leaves' accumulators not."""
        todo, seen = [node], {id(other) for other in self._nodes}
        while todo:
            current = todo.pop()
            if current is None or id(current) in seen or current.name().endswith("AccumulateGrad"):
                continue
            seen.add(id(current))
            self._nodes.append(current)
            todo += [parent for parent, _ in current.next_functions]
        self._nodes.sort(key=lambda other: other.number)

    # words -----------------------------------------------------------------------------------------------------------------------
    @property
    def finished(self) -> bool:
        return self.at == len(self.moments) - 1

    def sentence(self, at: int | None = None) -> str:
        return " ".join(self.sentences(at))

    def sentences(self, at: int | None = None) -> list[str]:
        """What the last line did; verdicts come last."""
        at = self.at if at is None else at
        m = self.moments[at]
        if m.line is None:
            return ["Nothing has run yet. x is a leaf, at version 0."]
        line = self.lines[m.line].strip() if m.line < len(self.lines) else ""
        if m.error:
            text = m.error.splitlines()[0].split(" Hint:")[0]
            return [Judgement(False, f"{line.rstrip(':')}: RuntimeError: {text}")]
        old = self.moments[at - 1] if at else CounterState(None)
        before = {c.id: c for c in old.counters}
        names = {c.id: c.names for c in m.counters}
        verdicts: list[Judgement] = []
        out = [f"{c.names} is new, at version {c.count}." for c in m.counters if c.id not in before]
        out += [
            f"{c.names} {'were' if ' and ' in c.names else 'was'} written to: version {before[c.id].count} is now {c.count}."
            for c in m.counters
            if c.id in before and before[c.id].count != c.count
        ]
        grown = [c.names for c in m.counters if c.id in before and c.names.startswith(before[c.id].names + " and ")]
        out += [f"{shared} share one storage and one counter." for shared in grown]
        for name, saved, _ in m.nodes[len(old.nodes) :]:
            listed = " and ".join(f"{names.get(k.counter, 'a value')} at version {k.then}" for k in saved)
            out.append(f"{name} saves {listed or 'no tensor'}.")
        was = {(i, k.name) for i, (_, saved, _) in enumerate(old.nodes) for k in saved if k.stale}
        for i, (name, saved, _) in enumerate(m.nodes):
            if any(k.stale and (i, k.name) not in was for k in saved):
                verdicts.append(Judgement(False, f"What {name} saved is overwritten."))
        if at == len(self.moments) - 1 and not self.own_pass:
            verdicts.append(self._outcome())
        elif at == len(self.moments) - 1 and self.grad is not None:
            out.append(f"x.grad = {_list(self.grad)}.")
        if not out and not verdicts:
            return [f"{line.rstrip(':')}: no counter moved."]
        return [f"{line.rstrip(':')}:", *out, *verdicts]

    def _outcome(self) -> Judgement:
        grad = "None" if self.grad is None else _list(self.grad)
        if self.agree:
            return Judgement(True, f"backward goes through: x.grad = {grad}, and central differences agree.")
        return Judgement(
            False,
            f"backward goes through without an error, and x.grad = {grad} is wrong: central differences say {_list(self.check or [])}.",
        )

    def text(self) -> str:
        """Every line that has run, in its order."""
        return "\n".join(f"{k:>2}  {self.sentence(k)}" for k in range(self.at + 1))

    HEAD = ("tensor", "version now", "saved by", "as", "version then", "state")

    def table(self) -> Table:
        m = self.moments[self.at]
        rows = []
        for c in m.counters:
            uses = [(name, k) for name, saved, _ in m.nodes for k in saved if k.counter == c.id]
            for name, k in uses:
                rows.append(
                    (c.names, str(c.count), name, k.name, str(k.then), "✗ overwritten" if k.stale else "✓ as saved")
                )
            if not uses:
                rows.append((c.names, str(c.count), "–", "–", "–", "not needed"))
        return Table(self.HEAD, rows)

    # the picture -----------------------------------------------------------------------------------------------------------------
    def svg(self, words: bool = True) -> str:
        """The picture; `words`: with the sentence below it."""
        m = self.moments[self.at]
        ran = [past.line for past in self.moments[: self.at + 1]]
        code, width, height = listing(self.lines, ran, self.finished and not m.error, bool(m.error))
        out, left = LOOK + code, max(width, 190.0) + 10
        right = left + 330
        spot: dict[int, tuple[float, float]] = {}
        out += label(left, 26, "tensors", "h") + label(right, 26, "what the graph saved", "h")
        for i, c in enumerate(m.counters):
            y = 42.0 + 70 * i
            spot[c.id] = (left + 214, y + 27)
            out += tag("rect", "card", x=left, y=y, width=214, height=56, rx=9)
            out += label(left + 12, y + 22, c.names[:17], "d b") + label(left + 12, y + 44, c.shown, "num t fwd")
            out += tag(
                "rect", "pill idle" if not c.count else "pill", x=left + 150, y=y + 6, width=56, height=22, rx=11
            )
            out += label(left + 178, y + 21, f"v {c.count}", "num t b" + (" bwd" if c.count else ""), "middle")
        y = 42.0
        for name, saved, freed in m.nodes:
            high = 32.0 + 34 * len(saved)
            out += tag("rect", "card", x=right, y=y, width=290, height=high, rx=9) + label(
                right + 12, y + 21, name, "d b"
            )
            if not saved:
                out += label(right + 280, y + 21, "used up" if freed else "saves no tensor", "t soft", "end")
            for i, k in enumerate(saved):
                top = y + 30 + 34 * i
                out += tag("rect", "over" if k.stale else "pill idle", x=right + 8, y=top, width=274, height=27, rx=7)
                mark, mood = (f"✗ is v {k.now}", "bad") if k.stale else (f"✓ is v {k.now}", "good")
                out += label(
                    right + 16, top + 18, f"{k.name}, saved at v {k.then}", "num t" + (" bad" if k.stale else "")
                )
                out += label(right + 276, top + 18, mark, f"t b {mood}", "end")
                if k.counter in spot:
                    x0, y0 = spot[k.counter]
                    wire = f"M{x0:.1f} {y0:.1f}C{x0 + 50:.1f} {y0:.1f} {right - 50:.1f} {top + 13:.1f} {right + 8:.1f} {top + 13:.1f}"
                    out += tag("path", "wire cut" if k.stale else "wire", d=wire)
            y += high + 10
        bottom = max(height, 42 + 70 * len(m.counters), y) + 8
        for i, line in enumerate(_folded(self.sentence(), int((right + 262) / 7.4)) if words else ()):
            out += label(24, bottom + 18 + 20 * i, line, "t b" if i == 0 else "t")
            high = bottom + 38 + 20 * i
        return svg(right + 310, high if words else bottom, out, self.sentence())


def _folded(text: str, wide: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= wide:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _list(values: Sequence[float]) -> str:
    return "[" + ", ".join(number(v, 4) for v in values) + "]"


def _numbers(thing: Any) -> str:
    flat = thing.detach().reshape(-1).tolist()
    text = ", ".join(number(v, 3) if isinstance(v, float) else str(v) for v in flat[:4]) + (
        ", …" if len(flat) > 4 else ""
    )
    return text if len(text) <= 27 else text[:26] + "…"


def _said(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"Python cannot read line {error.lineno}: {error.msg}."
    return str(error) if isinstance(error, (ValueError, TooLong)) else f"{type(error).__name__}: {error}"


class _Patient(Choice):
    """The chapter's cases, where the learner gave no program."""

    def shown(self, figure: Any) -> bool:
        return figure.patients


class _Lines(Text):
    """Lines of Python, which can be edited, or a function, which has no control."""

    def shown(self, figure: Any) -> bool:
        return isinstance(figure.program, str)


@lesson
class versions(Figure):
    """Run a program line by line and watch the version counters of its tensors beside what the graph has saved.

    program: lines of Python as text that compute something from x, or your own function of one tensor. In text your notebook's functions
    can be called. x: 1 to 6 numbers, a leaf. at: where to begin: "start", "end", or a number of lines.
    Returns a widget, or one sentence that says what is wrong.

    >>> print(versions("y = x * 2\\ny.add_(1)", [1.0]).text().splitlines()[-1])
     3  y.sum().backward(): ✓ backward goes through: x.grad = [2], and central differences agree.
    """

    program = _Lines("program", None, rows=3)
    x = Given((0.0, 1.0, -2.0))
    at = Moments("line", on="run next line ▸")
    patient = _Patient(list(PATIENTS), "patient", next(iter(PATIENTS)))
    patients = False
    space: dict[str, Any] | None = {}
    run: Any = None  # a Run; None until setup

    def controls(self) -> list[Control]:
        results = {control.name: control for control in super().controls()}
        return [results[name] for name in ("patient", "at", "program") if name in results]

    def setup(self) -> None:
        if self.program is None:
            self.patients, self.program = True, PATIENTS[self.patient]
        if not isinstance(self.program, str) and not callable(self.program):
            what = type(self.program).__name__
            raise TypeError(
                f"it needs lines of Python such as 'y = x.exp()', or a function of one tensor. It was given {what}."
            )
        try:
            self.run = Run(self.program, self.x, self.space if isinstance(self.program, str) else {})
        except Exception as error:
            raise ValueError(_said(error)) from error
        self.last = len(self.run.moments) - 1

    def moved(self, name: str) -> None:
        self.program = PATIENTS[self.patient] if name == "patient" else self.program.replace("−", "-").replace("·", "*")
        self.at = END
        self.setup()

    @action("run it", "as Shift+Enter in the program does", when=lambda self: isinstance(self.program, str))
    def again(self) -> None:
        self.moved("program")

    def actions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        return super().actions() if isinstance(self.program, str) else iter(())

    def _now(self) -> Run:
        self.run.at = self.at
        return self.run

    def _shown(self) -> Run:
        """For a page without a kernel: the present moment; the last one if nothing has run yet."""
        self.run.at = self.at or self.last
        return self.run

    def sentence(self) -> str:
        return self._now().sentence()

    def caption(self) -> str:
        sentences = self._now().sentences()
        verdicts = [sentence.good for sentence in sentences if isinstance(sentence, Judgement)]
        text = " ".join(getattr(sentence, "plain", sentence) for sentence in sentences)
        return Judgement(all(verdicts), text) if verdicts else text

    def draw(self) -> str:
        return self._now().svg(words=False)

    def still(self) -> str:
        return self._shown().svg()

    def table(self) -> Table:
        return self._now().table()

    def text(self) -> str:
        return self._shown().text()
