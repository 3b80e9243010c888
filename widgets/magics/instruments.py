"""%%gradcheck and %%profile: is the gradient right, and where does the time go?

What lives here: both magics. What does not: the profiler (autograd/profiler.py). The check needs no derivative of the engine's to compare
with: it moves each entry of each input up and down in float64 and looks at what the cell's result does.
"""

from __future__ import annotations

import math
import time
from typing import Any

from IPython.core.magic import Magics, cell_magic, magics_class

from minigrad.core.errors import a_kind
from minigrad.scalar import Value
from minigrad.tracing.trace import is_tensor
from minigrad.words import number, plural

from ..show import Line, Panel, Table
from .reading import CellProgram, Sorry, in_a_sentence, is_number_with_graph, unknown_name

ENTRIES = 500  # more would take long: each costs two runs of the cell
STEP = 6e-6  # about the cube root of float64's precision
TOLERANCE = 1e-5


class InputNumbers:
    """The inputs of a check as float64 numbers that can be moved one by one, and remade as Values or Tensors."""

    def __init__(self, inputs: dict[str, Any]):
        self.inputs = inputs
        self.flat: dict[str, list[float]] = {}
        for name, thing in inputs.items():
            self.flat[name] = [thing.data] if isinstance(thing, Value) else [float(x) for x in thing.array.reshape(-1)]

    def made(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, thing in self.inputs.items():
            if isinstance(thing, Value):
                out[name] = Value(self.flat[name][0], label=name)
            else:
                from minigrad import api

                out[name] = api.tensor(self.flat[name], dtype=api.float64).reshape(thing.array.shape).requires_grad_()
        return out


def total(result: Any) -> Any:
    """One number of a result: every entry with another weight, so that no mistake cancels."""
    if isinstance(result, Value) or result.array.size == 1:
        return result if isinstance(result, Value) else result.reshape(())
    import minigrad

    weights = minigrad.cos(minigrad.arange(result.array.size, dtype=result.dtype)).reshape(result.array.shape)
    return (result * weights).sum()


def data(result: Any) -> float:
    return result.data if isinstance(result, Value) else float(result.array)


@magics_class
class InstrumentMagics(Magics):
    """%%gradcheck and %%profile."""

    shell: Any

    @cell_magic
    @in_a_sentence
    def gradcheck(self, line: str, cell: str) -> Any:
        """Check the gradient of the cell's result against differences, in float64, entry by entry.

            %%gradcheck w b
            loss = ((x @ w + b - y)**2).mean()

        The names on the line are the inputs (Values or Tensors that exist); without names, every one that the cell reads and that requires
        gradients. The cell runs in a copy of your names; nothing outside changes.
        """
        __tracebackhide__ = True
        program = CellProgram(self.shell, cell, "%%gradcheck")
        ns = self.shell.user_ns
        names = line.replace(",", " ").split()
        for name in names:
            if name not in ns:
                raise Sorry(unknown_name(self.shell, name))
            if not (isinstance(ns[name], Value) or is_tensor(ns[name])):
                raise Sorry(f"{name} is {a_kind(ns[name])}; %%gradcheck moves Values and Tensors.")
        names = names or [n for n, t in ns.items() if n in program.reads and n[:1] != "_" and _is_input(t)]
        if not names:
            raise Sorry(
                "The cell reads no Value and no Tensor that requires gradients. Name the inputs on the line: %%gradcheck w b"
            )
        numbers = InputNumbers({n: ns[n] for n in names})
        count = sum(map(len, numbers.flat.values()))
        if count > ENTRIES:
            raise Sorry(
                f"The inputs have {count:,} entries, and each needs two runs of the cell. Check a smaller example (up to {ENTRIES})."
            )
        output = numbers.made()
        result = program.run({**ns, **output})
        if not is_number_with_graph(result):
            raise Sorry(f"The cell's result is {a_kind(result)}, not a Value or Tensor. End the cell with the result.")
        if is_tensor(result) and not result.requires_grad:
            raise Sorry(
                f"The result does not depend on {', '.join(names)} by any graph: there is no gradient to check."
            )
        total(result).backward()
        rows: list[list[Any]] = []
        worst = (0.0, "", 0.0, 0.0)
        bad = set()
        for i, (name, x) in enumerate(output.items()):
            errors, worst = self._errors(program, numbers, name, x, worst)
            off, largest = sum(e > TOLERANCE for e in errors), max(errors, default=0.0)
            if off:
                bad.add((i, 2))
            rows.append(
                [name, (str(len(errors)), len(errors)), f"{off} wrong" if off else "right", (f"{largest:.0e}", largest)]
            )
        right, more = not bad, None
        title = f"The gradient is right: {plural(count, 'entry', 'entries')} agree with differences"
        if bad:
            title = "The gradient is not what differences say"
            sentence = (
                f"The worst is {worst[1]}: your rule gives {number(worst[2])}, differences give {number(worst[3])}."
            )
            more = Line(sentence + _hint(worst[2], worst[3]))
        return Panel(
            title, Table(("input", "entries", "verdict", "largest relative error"), rows, bad=bad), more, warn=not right
        )

    def _errors(self, program: Any, numbers: Any, name: str, x: Any, worst: Any) -> Any:
        """The relative error of each entry's gradient, and the worst so far: (error, which entry, gradient, slope by differences)."""
        values = isinstance(x, Value)
        count = 1 if values else len(numbers.flat[name])
        computed = (
            [x.grad] if values else [0.0] * count if x.grad is None else [float(g) for g in x.grad.array.reshape(-1)]
        )
        errors = []
        for k, g in enumerate(computed):
            slope = self._slope(program, numbers, name, k)
            error = abs(g - slope) / max(1.0, abs(slope)) if math.isfinite(slope) and math.isfinite(g) else math.inf
            errors.append(error)
            if error > worst[0]:
                place = name if len(computed) == 1 else f"{name}, entry {_index(k, x.array.shape)}"
                worst = (error, place, g, slope)
        return errors, worst

    def _slope(self, program: CellProgram, numbers: InputNumbers, name: str, k: int) -> float:
        """The central difference by one entry."""
        at = numbers.flat[name][k]
        h = STEP * max(1.0, abs(at))
        ends = []
        for x in (at + h, at - h):
            numbers.flat[name][k] = x
            ends.append(data(total(program.run({**self.shell.user_ns, **numbers.made()}))))
        numbers.flat[name][k] = at
        return (ends[0] - ends[1]) / ((at + h) - (at - h))

    @cell_magic
    @in_a_sentence
    def profile(self, line: str, cell: str) -> Any:
        """Run the cell and show where its time went, operation by operation, forward and backward.

            %%profile
            for _ in range(100):
                loss = model(x).pow(2).mean()
                loss.backward()

        Operations on Tensors are timed one by one; for Values only the number of new nodes is known. The cell runs in the notebook as any
        other. Times differ from run to run.
        """
        __tracebackhide__ = True
        if line.strip():
            raise Sorry(f"%%profile takes nothing on its line, but got {line.strip()!r}.")
        from minigrad.autograd import profiler
        from minigrad.values.node import numbers

        program = CellProgram(self.shell, cell, "%%profile")
        before = next(numbers)
        start = time.perf_counter()
        with profiler.profile() as prof:
            program.run(self.shell.user_ns)
        seconds = time.perf_counter() - start
        values = next(numbers) - before - 1
        events = sorted(prof.key_averages(), key=lambda e: -e.self_cpu_time_total)
        inside = sum(e.self_cpu_time_total for e in events)
        rows = [[e.key.removeprefix("aten::"), (f"{e.count:,}", e.count), (f"{e.self_cpu_time_total / 1000:.3f}", e.self_cpu_time_total),
                 (f"{100 * e.self_cpu_time_total / 1e6 / seconds:.1f} %", e.self_cpu_time_total)] for e in events]  # fmt: skip
        rest = max(seconds * 1e6 - inside, 0.0)
        rows.append(
            [
                "everything else (Python)",
                ("", 0),
                (f"{rest / 1000:.3f}", rest),
                (f"{100 * rest / 1e6 / seconds:.1f} %", rest),
            ]
        )
        more = (
            Line(f"About {values:,} numbers were handed out to Values and their passes.", soft=True)
            if values > 10 and not events
            else None
        )
        return Panel(
            f"{seconds * 1000:.1f} ms",
            Table(("operation", "calls", "own time, ms", "share"), rows, sortable=True),
            more,
        )


def _is_input(thing: Any) -> bool:
    if isinstance(thing, Value):
        return not thing._op
    return is_tensor(thing) and thing.requires_grad and thing.edge is None


def _index(k: int, shape: Any) -> str:
    out = []
    for n in reversed(shape):
        out.append(k % n)
        k //= n
    return "[" + ", ".join(map(str, reversed(out))) + "]"


def _hint(mine: float, theirs: float) -> str:
    if not math.isfinite(mine):
        return " A gradient that is no number: look for 0/0, or log and sqrt at 0."
    if theirs and abs(mine + theirs) <= 1e-4 * abs(theirs):
        return " They differ by the sign: look for a forgotten minus."
    if theirs and mine:
        ratio = mine / theirs
        if abs(ratio - round(ratio)) < 1e-4 and 1 < abs(round(ratio)) < 1000:
            return f" Yours is {round(ratio)} times as large."
        if abs(1 / ratio - round(1 / ratio)) < 1e-4 and 1 < abs(round(1 / ratio)) < 1000:
            return f" Yours is {round(1 / ratio)} times too small."
    if mine == 0.0:
        return " Yours is 0: was this input detached, or its gradient overwritten?"
    return " At a kink (relu at 0, a maximum of equals) differences mislead: try other numbers."
