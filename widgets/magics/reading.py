"""Shared by all magics: parse the line, run the cell, report errors in a sentence.

`Sorry` is the error that is shown as a sentence, `evaluate` the value of an expression, `CellProgram` a cell that runs once or many times.
"""

from __future__ import annotations

import ast
import difflib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from minigrad.scalar import Value
from minigrad.tracing.own_classes import Reader, why_no_graph
from minigrad.tracing.trace import is_tensor, walk


class Sorry(Exception):
    """What the learner is told in place of a traceback."""


def in_a_sentence(magic: Callable[..., Any]) -> Any:
    """Print a Sorry; let everything else through."""

    @functools.wraps(magic)
    def call(self: Any, *args: Any) -> Any:
        __tracebackhide__ = True
        try:
            return magic(self, *args)
        except Sorry as sorry:
            print(sorry)

    return call


def is_number_with_graph(thing: object) -> bool:
    """A Value, a Tensor, or an object of another scalar class."""
    return isinstance(thing, Value) or is_tensor(thing) or not why_no_graph(thing)


def evaluate(shell: Any, text: str, magic: str) -> Any:
    """Evaluate an expression. Raises Sorry."""
    text = text.strip().rstrip("; ")
    if not text:
        raise Sorry(f"{magic} needs a result to look at, for example: {magic} loss. Type {magic}? for help.")
    try:
        code = compile(ast.parse(text, mode="eval"), f"<{magic}>", "eval")
    except SyntaxError as error:
        raise Sorry(
            f"{magic} cannot read {text!r} as an expression: {error.msg}. Write the name of a result, for example: {magic} loss."
        ) from None
    try:
        return eval(code, shell.user_global_ns, shell.user_ns)
    except NameError as error:
        raise Sorry(unknown_name(shell, error.name or "that name")) from None
    except Exception as error:
        first = str(error).split("\n\n")[0]
        raise Sorry(f"{text!r} could not be computed: {type(error).__name__}: {first}") from None


def unknown_name(shell: Any, name: str) -> str:
    near = close(name, shell.user_ns)
    advice = f"Did you mean {near[0]!r}?" if near else "Run the cell that defines it, then this one again."
    return f"There is no variable {name!r} yet. {advice}"


def close(name: str, names: Any) -> list[str]:
    """Those of `names` that are spelled most like this one, capitals aside; the nearest first."""
    by_lower = {n.lower(): n for n in names if not n.startswith("_")}
    return [by_lower[n] for n in difflib.get_close_matches(name.lower(), by_lower, 3, 0.75)]


def named(shell: Any, own: bool = False) -> Iterator[tuple[str, Any]]:
    """Every Value and Tensor that a name leads to, with the text that leads there; each object once, by its shortest name. own: objects
    of other scalar classes, too."""
    seen: set[int] = set()
    for text, thing in walk(shell.user_ns):
        if id(thing) not in seen and (isinstance(thing, Value) or is_tensor(thing) or own and not why_no_graph(thing)):
            seen.add(id(thing))
            yield text, thing


def offered(shell: Any, accept: Callable[[Any], bool] = is_number_with_graph) -> list[str]:
    """Names to offer when the tab key is pressed: the newest first."""
    return [name for name, thing in reversed(shell.user_ns.items()) if not name.startswith("_") and accept(thing)]


class CellProgram:
    """A cell's code, compiled once. Running it gives the result: its last expression, or else what its last line assigned."""

    def __init__(self, shell: Any, cell: str, magic: str) -> None:
        self.shell = shell
        source = "\n" + shell.transform_cell(cell)  # the magic's own line is line 1
        try:
            tree = ast.parse(source)
        except SyntaxError as error:
            raise Sorry(f"Line {error.lineno} of this cell is not Python yet: {error.msg}.") from None
        if not tree.body:
            raise Sorry(f"The cell is empty. Write the computation below the line with {magic}.")
        number = len(shell.user_ns.get("In", ())) - 1  # of the running cell; execution_count is already the next one's
        self.filename = shell.compile.cache(source, number if number > 0 else shell.execution_count, raw_code=cell)
        self.name = ""  # of the result, if the cell gives it one
        last = tree.body[-1]
        self.last = None
        if isinstance(last, ast.Expr):
            tree.body.pop()
            self.last = compile(ast.Expression(last.value), self.filename, "eval")
            self.name = last.value.id if isinstance(last.value, ast.Name) else ""
        elif isinstance(last, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            target = last.targets[-1] if isinstance(last, ast.Assign) else last.target
            self.name = target.id if isinstance(target, ast.Name) else ""
        self.body = compile(tree, self.filename, "exec")
        named = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name)]
        # The last ones first
        self.reads = list(dict.fromkeys(n.id for n in sorted(named, key=lambda n: (-n.lineno, -n.col_offset))))

    def run(self, names: dict[str, Any]) -> Any:
        """The result of the code with these names, which it changes. The learner's exceptions pass through."""
        __tracebackhide__ = True
        exec(self.body, names)
        if self.last is not None:
            return eval(self.last, names)
        if self.name:
            return names.get(self.name)
        return newest_result(names, self.reads)

    def shown(self, names: dict[str, Any]) -> Any:
        """What the code computed that has a graph: its result; if that has none (`loss.backward()`, `print(loss.data)`), the newest one."""
        __tracebackhide__ = True
        result = self.run(names)
        if result is not None and not isinstance(result, (bool, int, float, str)):
            return result
        newest = newest_result(names, self.reads)
        return result if newest is None else newest


def newest_result(names: Mapping[str, Any], among: Sequence[str]) -> Any:
    """The result of an operation that was computed last, of the names the cell mentions (a cell may end in an `if` or a loop). among: the
    name that is mentioned last comes first."""
    results = [
        names[name] for name in among if name in names and is_number_with_graph(names[name]) and _age(names[name]) >= 0
    ]
    if not results or not (isinstance(results[0], Value) or is_tensor(results[0])):
        return results[0] if results else None  # objects of another class do not tell when they were made
    return max((thing for thing in results if isinstance(thing, Value) or is_tensor(thing)), key=_age)


def _age(thing: Any) -> float:
    """When a result was computed; -1 for an input."""
    if isinstance(thing, Value):
        return thing.age if thing._op else -1
    if is_tensor(thing):
        return thing.edge[0].number if thing.edge is not None else -1
    return 0 if Reader(thing).operands(thing) else -1
