"""S1, the stepper: values flow forward through a program, then gradients flow back, one event at a time.

What lives here: `stepper(f, **inputs)`, which takes a formula or a few assignments as text (and then offers a box to edit them) or a
function of Values, and hands the result to the graph view. What does not: drawing, stepping and sliders (widgets.graph), derivatives.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import math
from collections.abc import Callable
from typing import Any

import ipywidgets

from minigrad import Value, scalar
from minigrad.tracing.trace import replay_steps
from widgets import graph, static

from .lesson import Lesson, Names, Sentence, number, say, wrap
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
        raise ProgramError(f"Python cannot read {formula!r}. Write times as *, powers as **, and close every parenthesis.") from None
    calls = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if not (isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and len(node.args) == 1 and not node.keywords):
                called = ast.unparse(node.func)
                raise ProgramError(f"{called}(…) is not known here. Write times as *, or use one of {', '.join(FUNCTIONS)}.")
            calls.add(id(node.func))
        elif isinstance(node, ast.Constant) and (isinstance(node.value, bool) or not isinstance(node.value, (int, float))):
            raise ProgramError(f"{node.value!r} is not a number.")
        elif not isinstance(node, _NODES):
            raise ProgramError(f"Only numbers, names, + - * / ** and {', '.join(FUNCTIONS)} are allowed here.")
    found = sorted((n for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in calls), key=lambda n: (n.lineno, n.col_offset))
    for n in found:
        if n.id in FUNCTIONS:
            raise ProgramError(f"{n.id} is a function: write {n.id}(x).")
    return list(dict.fromkeys(n.id for n in found))


_files: dict[str, str] = {}  # typed program -> the file name under which its lines can be looked up


def run_text(text: str, inputs: dict[str, float]) -> tuple[Value, dict[str, Value]]:
    """Run a typed program on Values: the result, and every named Value. Inputs that are not given start at 1."""
    lines, wanted = parse(text)
    source = "\n".join(f"{name} = {formula}" for name, formula in lines)
    file = _files.setdefault(source, "your program" if not _files else f"your program {len(_files) + 1}")
    linecache.cache[file] = (len(source), None, [line + "\n" for line in source.splitlines()], file)
    leaves = _leaves(wanted, inputs)
    functions = {name: (lambda v, name=name: getattr(v if isinstance(v, Value) else Value(v), name)()) for name in FUNCTIONS}
    space: dict[str, Any] = {"__builtins__": {}, **functions, **leaves}
    with _recorded(True):
        exec(compile(source, file, "exec"), space)  # parsed above: only arithmetic is left
    root = space[lines[-1][0]]
    if not isinstance(root, Value) or not root._prev:
        raise ProgramError("This program does nothing to its input yet: multiply it, add to it, square it.")
    if not math.isfinite(root.data):
        at = ", ".join(f"{n} = {number(v.data)}" for n, v in leaves.items())
        raise ProgramError(f"At {at} this program has no finite value.")
    return root, {**leaves, **{name: space[name] for name, _ in lines if isinstance(space[name], Value)}}


def run_function(f: Callable[..., Value], inputs: dict[str, float]) -> tuple[Value, dict[str, Value]]:
    """Run a learner's function on Values: the result, and every named Value, the function's own variables included."""
    wanted = list(inspect.signature(f).parameters)
    if unknown := [n for n in inputs if n not in wanted]:
        raise ProgramError(f"{getattr(f, '__name__', 'the function')} has no input {unknown[0]}; it takes {', '.join(wanted) or 'none'}.")
    leaves = _leaves(wanted, inputs)
    with _recorded(True):
        root, named = run_named(f, leaves)
    if not isinstance(root, Value):
        raise ProgramError(f"the function must return a Value made from its inputs, but it returned {type(root).__name__}.")
    if not root._prev:
        raise ProgramError("the function gives its input back unchanged: let it compute something.")
    named = {name: v for name, v in named.items() if isinstance(v, Value)}
    if "y" not in named and not any(v is root for v in named.values()):
        named["y"] = root
    return root, named


def stepper(f: str | Callable[..., Value] = CANNED, *, at: int | str = "start", **inputs: float) -> Lesson:
    """Step through a computation: first its values, then its gradients.

    f: a program as text, which can then be edited in the widget, or your own function of one or more Values.
    at: where to begin: "start", "forward" (all values known), "end", or a number of events.
    inputs: the numbers to start from, for example x=2; what is not given is 1.
    Returns a widget; where there is nothing to step through, a widget with one sentence that says why.

        stepper()
        stepper("x*x + 5*x", x=3)
        stepper(my_function, x=0.5)
    """
    if not isinstance(f, str) and not callable(f):
        return Sentence(f"stepper needs a formula such as '(3*x + 2)**2', or a function of Values. It was given {type(f).__name__}.")
    if not (isinstance(at, int) or (isinstance(at, str) and at in ("start", "forward", "end"))):
        return Sentence(f"at is 'start', 'forward', 'end' or a number of events. It was given {at!r}.")
    try:
        view, root = _view(f, inputs, at)
    except Exception as error:  # whatever the learner's code raises is shown as a sentence, not as a traceback of ours
        return Sentence(f"stepper cannot run this: {error}")
    lesson = Lesson([view], picture=lambda: _picture(lesson.view), text=lambda: _text(lesson.view))
    lesson.view, lesson.root = view, root  # the view holds its root weakly
    lesson.add_class("mg-stepper")
    if not isinstance(f, str):
        return lesson

    box = ipywidgets.Text(value=f, description="program", continuous_update=False, layout={"width": "420px", "max_width": "100%"})
    box.style.description_width = "64px"
    note = ipywidgets.HTML(say("Type your own and press Enter.", "plain"))

    def retype(_change) -> None:
        try:
            view, root = _view(box.value, inputs, at)
        except Exception as error:  # keep the picture that works, say what is wrong with the new program
            note.value = say(str(error), "bad")
            return
        old, lesson.view, lesson.root = lesson.view, view, root
        lesson.children = [row, view, names]
        note.value = ""
        old.close()

    box.observe(retype, names=["value"])
    row, names = wrap(box, note), Names()
    lesson.children = [row, view, names]
    lesson.program, lesson.note = box, note
    return lesson


def _view(f: str | Callable, inputs: dict[str, float], at: int | str):
    """The graph view of a program, and the root that keeps its sliders alive."""
    root, named = run_text(f, inputs) if isinstance(f, str) else run_function(f, inputs)
    view = graph(root, names=named, step=None if at == "forward" else at)
    title = f if isinstance(f, str) else f"{f.__name__}({', '.join(inspect.signature(f).parameters)})"
    view.trace = {**view.trace, "title": "y = f(x)" if title.startswith("<lambda>") else title}
    return view, root


def _leaves(names: list[str], inputs: dict[str, float]) -> dict[str, Value]:
    with _recorded(False):  # a line of this file is not a line of the learner's
        return {name: Value(float(inputs.get(name, 1.0)), label=name) for name in names}


@contextlib.contextmanager
def _recorded(on: bool):
    """While it lasts, the engine remembers (or not) which line made what: the view shows it beside the graph."""
    before = scalar._recording
    scalar.record_lines(on)
    try:
        yield
    finally:
        scalar.record_lines(before)


def _forward(view) -> int:
    return sum(event["phase"] == "forward" for event in view.trace["steps"])


def _picture(view) -> str:
    """The picture for a saved notebook: as far as the view has stepped, at least all values."""
    return static.svg(view.trace, view.picture, max(view.step, _forward(view)))


def _text(view) -> str:
    """The events so far, one line each: at least the forward half."""
    steps = max(view.step, _forward(view))
    rows = replay_steps(view.trace)[:steps]
    return "\n".join([view.trace["title"], *(f"{k:>2}  {row['sentence'].replace('**', '')}" for k, row in enumerate(rows, 1))])
