"""A cell as a function of its sliders: the widget of %%explore.

What lives here: reading the sliders from the line, running the cell again when one moves, and the view around it. The cell runs in a copy
of the notebook's names, so that exploring changes nothing outside. It really runs each time, so branches and loops change the graph; moves
that come faster than it runs are skipped, only the newest counts.
"""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import ipywidgets

from minigrad.scalar import Value
from minigrad.tracing.own_classes import why_no_graph
from minigrad.tracing.trace import is_tensor
from minigrad.words import number

from .graph import not_a_graph
from .magics.graphs import view_of
from .magics.reading import CellProgram, Sorry
from .stored import Stored

EXAMPLE = "For example: %%explore x=1.0 w=(-2.0, 2.0, 0.1)"
PAUSE = 0.02  # seconds in which further moves of a slider are gathered


class Input:
    """One slider: a whole number stays a plain int (for branches and loops), anything else becomes a Value or a tensor."""

    def __init__(self, name: str, node: ast.expr):
        try:
            spec = ast.literal_eval(node)
        except ValueError:
            raise Sorry(f"{name} needs a number or a range, not {ast.unparse(node)!r}. {EXAMPLE}") from None
        self.name = name
        numbers = spec if isinstance(spec, tuple) else (spec,)
        if (
            not all(isinstance(n, (int, float)) and not isinstance(n, bool) and n - n == 0 for n in numbers)
            or not 1 <= len(numbers) <= 3
        ):
            raise Sorry(f"{name} needs a number, (low, high) or (low, high, step), not {ast.unparse(node)}. {EXAMPLE}")
        self.whole = all(isinstance(n, int) for n in numbers)
        if len(numbers) == 1:
            at = numbers[0]
            span = max(abs(at) * 2, 1) if not self.whole else max(abs(at) * 2, 5)
            low, high = (min(at, 0), max(at, 0) + span) if self.whole else (at - span, at + span)
            step = 1 if self.whole else span / 50
        else:
            low, high = numbers[:2]
            if not low < high:
                raise Sorry(f"The range of {name} runs from {low} to {high}: the first number must be the smaller one.")
            step = numbers[2] if len(numbers) == 3 else (1 if self.whole else (high - low) / 100)
            if step <= 0:
                raise Sorry(f"The step of {name} must be larger than 0, not {step}.")
            at = (low + high) // 2 if self.whole else low + round((high - low) / 2 / step) * step
        kind = ipywidgets.IntSlider if self.whole else ipywidgets.FloatSlider
        more = {} if self.whole else {"readout_format": ".4g"}
        self.slider = kind(value=at, min=low, max=high, step=step, description=name, continuous_update=True, **more)

    def make(self, tensors: bool, kind: type | None = None) -> Any:
        """The input at its slider's place. kind: the learner's own scalar class, if the cell computes with one."""
        x = self.slider.value
        if self.whole:
            return x
        if kind is not None:
            return _made(kind, float(x), self.name)
        if tensors:
            from minigrad import api

            return api.tensor(float(x), requires_grad=True)
        result = Value(x, label=self.name)
        if hasattr(result, "_code"):
            del result._code  # no line of the learner's made it
        return result


def own_class(program: CellProgram, names: Mapping[str, Any]) -> type | None:
    """The learner's own scalar class with which a cell computes: that of an object or a class that the cell names, or one called Value."""
    for name in (*program.reads, "Value"):
        thing = names.get(name)
        kind = thing if isinstance(thing, type) else type(thing)
        if kind in (bool, int, float, str) or thing is None or issubclass(kind, Value) or is_tensor(thing):
            continue
        if thing is kind and isinstance(getattr(kind, "__add__", None) or getattr(kind, "__mul__", None), FunctionType):
            return kind
        if thing is not kind and not why_no_graph(thing):
            return kind
    return None


def _made(kind: type, x: float, name: str) -> Any:
    try:
        result = kind(x)
    except Exception as error:
        raise Sorry(f"%%explore makes {name} with {kind.__name__}({x:g}), and that failed: {error}. Give the class a constructor that "
                    "takes one number, or compute with minigrad's Value.") from None  # fmt: skip
    if hasattr(result, "label") and not result.label:
        result.label = name
    return result


def read_inputs(line: str) -> list[Input]:
    """The sliders of a line like `x=1.0 w=(-2, 2, 0.1)`. Raises Sorry."""
    source, depth = "", 0
    for c in line.strip():  # spaces outside brackets separate
        depth += (c in "([{") - (c in ")]}")
        source += ", " if c == " " and depth == 0 and not source.rstrip().endswith((",", "=")) else c
    source = source.replace(" ,", ",").rstrip(", ")
    try:
        call = ast.parse(f"f({source})", mode="eval").body
    except SyntaxError:
        raise Sorry(f"%%explore cannot read {line.strip()!r}. {EXAMPLE}") from None
    if not isinstance(call, ast.Call) or call.args or not call.keywords or any(k.arg is None for k in call.keywords):
        raise Sorry(f"%%explore needs at least one slider on its line, written name=number. {EXAMPLE}")
    if len({k.arg for k in call.keywords}) < len(call.keywords):
        raise Sorry(f"A name occurs twice on the line of %%explore. {EXAMPLE}")
    return [Input(str(k.arg), k.value) for k in call.keywords]


class Exploration(Stored, ipywidgets.VBox):
    """Sliders, and below them the graph of what the cell computes now."""

    def __init__(self, shell: Any, program: CellProgram, inputs: list[Input], tensors: bool) -> None:
        self.shell, self.program, self.inputs, self.tensors = shell, program, inputs, tensors
        self.says = ipywidgets.HTML()
        self.view: Any = None
        self.runs = 0
        self._waiting = False
        super().__init__()
        self.run(first=True)
        for i in inputs:
            i.slider.observe(self._moved, names=["value"])

    def _moved(self, _change: Any) -> None:
        """Run soon; many moves in the meantime are one run."""
        if self._waiting:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no kernel around
            self.run()
            return
        self._waiting = True
        loop.call_later(PAUSE, self._later)

    def _later(self) -> None:
        self._waiting = False
        self.run()

    def run(self, first: bool = False) -> None:
        """Run the cell at the sliders' place and show its graph. Afterwards an error is a sentence, and the last good graph stays."""
        self.runs += 1
        kind = None if self.tensors else own_class(self.program, self.shell.user_ns)
        names = {**self.shell.user_ns, **{i.name: i.make(self.tensors, kind) for i in self.inputs}}
        try:
            root = self.program.shown(names)
            if root is None:
                raise Sorry("The cell computed nothing that has a graph here. End it with the name of a result.")
            if self.view is None:
                self.view = view_of(root, names=names, sliders=False)  # the sliders here run the whole cell
                self.children = (*(i.slider for i in self.inputs), self.says, self.view)
            elif explain := not_a_graph(root):
                raise Sorry(explain)
            else:
                self.view.retrace(root, names)
        except Exception as error:
            if first:
                raise
            at = ", ".join(f"{i.name} = {number(i.slider.value)}" for i in self.inputs)
            say = (
                str(error)
                if isinstance(error, Sorry)
                else f"{type(error).__name__}: {str(error).split(chr(10) + chr(10))[0]}"
            )
            self._say(f"At {at}: {say} The graph below is the last one that could be computed.")
            return
        self._root = root  # keeps the graph alive as long as it is shown
        self._say("")

    def _say(self, text: str) -> None:
        from html import escape

        self.says.value = f'<p role="status">{escape(text)}</p>' if text else ""
        self.sentence = text

    def __repr__(self) -> str:
        at = ", ".join(f"{i.name} = {number(i.slider.value)}" for i in self.inputs)
        return f"at {at}\n{self.view!r}" + (f"\n{self.sentence}" if self.sentence else "")

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        result = super()._repr_mimebundle_(**kwargs)
        data = result[0] if isinstance(result, tuple) else result or {}
        return {**data, "text/plain": repr(self), "image/svg+xml": self.view.svg()}
