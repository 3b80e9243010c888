"""S1, the stepper: values flow forward through a program, then gradients flow back, one event at a time.

What lives here: `stepper(f, **inputs)`, which takes a formula or a few assignments as text (and then offers a box to edit them) or a
function of Values, and hands the result to the graph view.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import ipywidgets

from minigrad import Value, scalar
from minigrad.tracing.trace import replay_steps
from widgets import page, static
from widgets.graph import FirstLook, GraphView

from .kit import Figure, Given, Inputs, ProgramText, lesson
from .lesson import number
from .programs import run_named

CANNED = "p = 3*x; u = p + 2; y = u**2"
FUNCTIONS = ("exp", "log", "sin", "cos", "tanh", "sigmoid", "relu", "sqrt", "abs")
LONGEST = 400  # characters of a typed program
_NODES = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Load, ast.Constant,
          ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.UAdd)  # fmt: skip


class ProgramError(ValueError):
    """A program that cannot be shown; the message is for the learner."""


def parse(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """A typed program as [(name, formula)], and the names of its inputs in order of appearance.

    Raises ProgramError with one plain sentence.

    >>> parse("q = x*y; sin(q) + x")
    ([('q', 'x*y'), ('y2', 'sin(q) + x')], ['x', 'y'])
    """
    text = text.replace("^", "**").replace("−", "-").replace("·", "*").replace("\n", ";")
    if len(text) > LONGEST:
        raise ProgramError(f"This program has {len(text)} characters: take one with at most {LONGEST}.")
    lines: list[tuple[str, str]] = []
    inputs: list[str] = []
    used: set[str] = set()
    pieces = [piece.strip() for piece in text.split(";") if piece.strip()]
    if not pieces:
        raise ProgramError("Write a formula of x, for example (3*x + 2)**2.")
    for k, piece in enumerate(pieces):
        name, equals, formula = piece.rpartition("=")
        name, formula = name.strip(), formula.strip()
        if equals and not (name.isidentifier() and formula):
            raise ProgramError(f"{piece!r} is not an assignment such as u = 3*x + 2.")
        if not equals and k < len(pieces) - 1:
            raise ProgramError(f"Give {piece!r} a name: u = {piece}. Only the last formula can do without.")
        names = _names_in(formula)
        known = [n for n, _ in lines]
        inputs += [n for n in names if n not in known and n not in inputs]
        used.update(names)
        if not name:
            name = next(n for n in ("y", "y2", "out", "out2") if n not in used and n not in known)
        if name in FUNCTIONS or name in known or name in inputs:
            raise ProgramError(f"{name} is taken already: choose another name for {formula!r}.")
        lines.append((name, formula))
    if not inputs:
        raise ProgramError("A program without an input has nothing to differentiate: use x somewhere.")
    return lines, inputs


def _names_in(formula: str) -> list[str]:
    """The variables of one formula, in order. Raises ProgramError for anything but arithmetic."""
    try:
        tree = ast.parse(formula, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ProgramError(
            f"Python cannot read {formula!r}. Write times as *, powers as **, and close every parenthesis."
        ) from None
    calls = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if not (
                isinstance(node.func, ast.Name)
                and node.func.id in FUNCTIONS
                and len(node.args) == 1
                and not node.keywords
            ):
                called = ast.unparse(node.func)
                raise ProgramError(
                    f"{called}(…) is not known here. Write times as *, or use one of {', '.join(FUNCTIONS)}."
                )
            calls.add(id(node.func))
        elif isinstance(node, ast.Constant) and (
            isinstance(node.value, bool) or not isinstance(node.value, (int, float))
        ):
            raise ProgramError(f"{node.value!r} is not a number.")
        elif not isinstance(node, _NODES):
            raise ProgramError(f"Only numbers, names, + - * / ** and {', '.join(FUNCTIONS)} are allowed here.")
    results = sorted(
        (n for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in calls),
        key=lambda n: (n.lineno, n.col_offset),
    )
    for n in results:
        if n.id in FUNCTIONS:
            raise ProgramError(f"{n.id} is a function: write {n.id}(x).")
    return list(dict.fromkeys(n.id for n in results))


class _Methods(ast.NodeTransformer):
    """sin(w) becomes w.sin(), and sin(2) becomes Value(2).sin(). All of it runs in the program: made by a function of this file, a value
    would have a line of this file, and the view would show that."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        as_value = cast(ast.Expr, ast.parse("(_v if isinstance(_v := 0, Value) else Value(_v))").body[0]).value
        parts = [ast.copy_location(n, node) for n in ast.walk(as_value)]
        next(n for n in parts if isinstance(n, ast.NamedExpr)).value = node.args[0]
        method = ast.Attribute(as_value, cast(ast.Name, node.func).id, ast.Load())
        return ast.copy_location(ast.Call(ast.copy_location(method, node), [], []), node)


_files: dict[str, str] = {}  # typed program -> the file name under which its lines can be looked up


def run_text(text: str, inputs: dict[str, float]) -> tuple[Value, dict[str, Value]]:
    """Run a typed program on Values: the result, and every named Value. Inputs that are not given start at 1."""
    lines, expected = parse(text)
    source = "\n".join(f"{name} = {formula}" for name, formula in lines)
    file = _files.setdefault(source, "your program" if not _files else f"your program {len(_files) + 1}")
    linecache.cache[file] = (len(source), None, [line + "\n" for line in source.splitlines()], file)
    leaves = _leaves(expected, inputs)
    space: dict[str, Any] = {"__builtins__": {}, "Value": Value, "isinstance": isinstance, **leaves}
    program = ast.fix_missing_locations(_Methods().visit(ast.parse(source)))
    with _recorded(True):
        exec(compile(program, file, "exec"), space)  # parsed above: only arithmetic is left
    root = space[lines[-1][0]]
    if not isinstance(root, Value) or not root._prev:
        raise ProgramError("This program does nothing to its input yet: multiply it, add to it, square it.")
    if not math.isfinite(root.data):
        at = ", ".join(f"{n} = {number(v.data)}" for n, v in leaves.items())
        raise ProgramError(f"At {at} this program has no finite value.")
    return root, {**leaves, **{name: space[name] for name, _ in lines if isinstance(space[name], Value)}}


def run_function(f: Callable[..., Value], inputs: dict[str, float]) -> tuple[Value, dict[str, Value]]:
    """Run a learner's function on Values: the result, and every named Value, the function's own variables included."""
    requested = list(inspect.signature(f).parameters)
    if unknown := [n for n in inputs if n not in requested]:
        raise ProgramError(
            f"{getattr(f, '__name__', 'the function')} has no input {unknown[0]}; it takes {', '.join(requested) or 'none'}."
        )
    leaves = _leaves(requested, inputs)
    with _recorded(True):
        root, named = run_named(f, leaves)
    if not isinstance(root, Value):
        raise ProgramError(
            f"the function must return a Value made from its inputs, but it returned {type(root).__name__}."
        )
    if not root._prev:
        raise ProgramError("the function gives its input back unchanged: let it compute something.")
    named = {name: v for name, v in named.items() if isinstance(v, Value)}
    if "y" not in named and not any(v is root for v in named.values()):
        named["y"] = root
    return root, named


def inputs_of(f: str | Callable) -> list[str]:
    """The names of a program's inputs, in order.

    >>> inputs_of("u = w*x; u + 1")
    ['w', 'x']
    """
    return parse(f)[1] if isinstance(f, str) else list(inspect.signature(f).parameters)


def started(f: str | Callable, given: Mapping[str, Any], start: Mapping[str, float] = {}) -> dict[str, float]:  # noqa: B006
    """A number for each input of the program: the given one, else where the lesson starts, else 1. Raises ProgramError for others."""
    names = inputs_of(f)
    if unknown := [n for n in given if n not in names]:
        raise ProgramError(f"the program has no input {unknown[0]}; it takes {', '.join(names) or 'none'}.")
    return {n: float(given.get(n, start.get(n, 1.0))) for n in names}


def run_program(f: str | Callable, inputs: dict[str, float]) -> tuple[Value, dict[str, Value]]:
    """Run a program at these inputs: a result that is finite, and every named Value; the result has a name in any case."""
    root, named = run_text(f, inputs) if isinstance(f, str) else run_function(f, inputs)
    if not math.isfinite(root.data):
        raise ProgramError("the program has no finite value there.")
    # x = tanh(x): x is the leaf
    named = {n: v for n, v in named.items() if isinstance(v, Value) and (n not in inputs or not v._prev)}
    if not any(v is root for v in named.values()):
        named["y" if "y" not in {*named, *inputs} else "out"] = root
    return root, named


class _Program(ProgramText):
    """Text that can be edited, but not at a first look."""

    def shown(self, figure: Any) -> bool:
        return not figure.brief and super().shown(figure)


@lesson
class stepper(Figure):
    """Step through a computation: first its values, then its gradients.

    f: a program as text, which can then be edited in the widget, or your own function of one or more Values.
    at: where to begin: "start", "forward" (all values known), "end", or a number of events.
    brief: show the rest of the view, and the box for another program, only when asked for.
    inputs: the numbers to start from, for example x=2; what is not given is 1.
    Returns a widget; where there is nothing to step through, a widget with one sentence that says why.

        stepper()
        stepper("x*x + 5*x", x=3)
        stepper(my_function, x=0.5)
    """

    f = _Program(
        CANNED, "a formula such as '(3*x + 2)**2', or a function of Values", hint="type your own and press Enter"
    )
    at = Given("start")
    brief = Given(False)
    inputs = Inputs(fixed=True)  # the graph view has their sliders
    graph: Any = None  # a GraphView; None until setup

    def setup(self) -> None:
        if not (isinstance(self.at, int) or (isinstance(self.at, str) and self.at in ("start", "forward", "end"))):
            raise ValueError(f"at is 'start', 'forward', 'end' or a number of events. It was given {self.at!r}.")
        self.root, named = (
            run_text(self.f, self.inputs) if isinstance(self.f, str) else run_function(self.f, self.inputs)
        )
        step = None if self.at == "forward" else self.at
        self.graph = (FirstLook if self.brief else GraphView)(self.root, named, step)  # it holds the root weakly
        title = (
            self.f
            if isinstance(self.f, str)
            else f"{self.f.__name__}({', '.join(inspect.signature(self.f).parameters)})"
        )
        self.graph.trace = {**self.graph.trace, "title": "y = f(x)" if title.startswith("<lambda>") else title}

    def below(self) -> list[ipywidgets.Widget]:
        return [self.graph]

    def _known(self) -> int:
        """As far as the view has stepped, at least all values."""
        return max(self.graph.step, sum(event["phase"] == "forward" for event in self.graph.trace["steps"]))

    def draw(self) -> str:
        return ""

    def caption(self) -> str:
        return ""

    def sentence(self) -> str:
        return self.text().splitlines()[-1]

    def still(self) -> str:
        return self._drawn(page.WIDTH)

    def wide(self) -> str | None:
        return self._drawn(page.WIDE)

    def _drawn(self, width: float) -> str:
        trace, picture = page.fitting(lambda cards: None, (self.graph.trace, (), None), width, self.graph.picture)
        return static.svg(trace, picture, self._known())

    def text(self) -> str:
        """The events so far, one line each: at least the forward half."""
        rows = replay_steps(self.graph.trace)[: self._known()]
        return "\n".join(
            [
                self.graph.trace["title"],
                *(f"{k:>2}  {row['sentence'].replace('**', '')}" for k, row in enumerate(rows, 1)),
            ]
        )


def _leaves(names: list[str], inputs: dict[str, float]) -> dict[str, Value]:
    with _recorded(False):  # a line of this file is not a line of the learner's
        return {name: Value(float(inputs.get(name, 1.0)), label=name) for name in names}


@contextlib.contextmanager
def _recorded(on: bool) -> Iterator[None]:
    """While it lasts, the engine remembers (or not) which line made what: the view shows it beside the graph."""
    before = scalar._recording
    scalar.record_lines(on)
    try:
        yield
    finally:
        scalar.record_lines(before)
