"""First mistakes in Python itself: a call that is missing, or one too many, a function without return, a cell that cannot be read.

Only where they meet the engine's objects or the learner's own functions; an error of any other program is shown as IPython shows it.
"""

from __future__ import annotations

import ast
import re

from minigrad.scalar import Value
from minigrad.tracing.trace import is_tensor

from ..show import Code, Facts, Line, Panel
from . import history
from .answers import Answer, Explainer, row
from .failure import Failure

ROWS: list[Explainer] = []

UNCALLED = {"function", "method", "builtin_function_or_method", "type", "generator"}
OPERANDS = r"^unsupported operand type\(s\) for [^:]+: '(\w+)' and '(\w+)'"


@row(TypeError, r"^must be real number, not (Value|Tensor)")
def into_math(m: Failure, match: re.Match[str]) -> Answer | None:
    calls = (
        [n for n in ast.walk(m.tree) if isinstance(n, ast.Call) and ast.unparse(n.func).startswith("math.")]
        if m.tree is not None
        else []
    )
    if len(calls) != 1 or len(calls[0].args) != 1:
        return None
    name, owner = ast.unparse(calls[0].func), m.owner(calls[0].args[0])
    method = name.removeprefix("math.")
    return Answer(f"{name} takes a plain number", f"It would return a plain number, too: no gradient could pass through it. A {match[1]} has "
                  "operations of its own.", "Call the method of that name:",
                  ("`.data` inside the parentheses", "the error goes away, and the result does not know what it was made from"),
                  chapter=6, code=f"{owner}.{method}()") if hasattr(Value, method) else None  # fmt: skip


@row(TypeError, r"^'(\w+)' object is not callable")
def attribute_called(m: Failure, match: re.Match[str]) -> Answer | None:
    for name in ("grad", "data"):
        owner = m.calls(name)
        thing = m.value(owner)
        if owner is not None and (is_tensor(thing) or isinstance(thing, Value)):
            text = f"{m.owner(owner)}.{name}"
            return Answer(f".{name} is no method", f"`{text}` holds a {'gradient' if name == 'grad' else 'number'}; it cannot be called.",
                          "Leave the parentheses away:", chapter=2, code=text)  # fmt: skip
    return None


@row(TypeError, OPERANDS)
def not_called(m: Failure, match: re.Match[str]) -> Answer | None:
    return uncalled(m, next((kind for kind in match.groups() if kind in UNCALLED), ""))


def uncalled(m: Failure, kind: str) -> Answer | None:
    """The answer if a function, a class or a generator is used where its result is needed."""
    if not kind:
        return None
    if kind == "generator":
        return Answer("A generator is not a number", "`(… for … in …)` by itself computes nothing; `sum` or `list` goes through it.",
                      "Write `sum(… for … in …)` for the total, or `[… for … in …]` for a list.", chapter=2)  # fmt: skip
    called = {n.func for n in ast.walk(m.tree) if isinstance(n, ast.Call)} if m.tree is not None else set()
    nodes = (
        [n for n in ast.walk(m.tree) if isinstance(n, (ast.Name, ast.Attribute)) and n not in called]
        if m.tree is not None
        else []
    )
    name = next((ast.unparse(n) for n in nodes if type(m.value(n)).__name__ == kind), "")
    sentence = f"`{name}` is" if name else "One of the two is"
    return Answer("A function stands where its result is needed", f"{sentence} a {'class' if kind == 'type' else 'function'}, not what it returns.",
                  f"Call it: `{name}(...)`." if name else "Put parentheses with its arguments behind its name.", chapter=2)  # fmt: skip


@row(TypeError, OPERANDS)
def computes_with_none(m: Failure, match: re.Match[str]) -> Answer | None:
    if "NoneType" not in match.groups():
        return None
    operations = [n for n in ast.walk(m.tree) if isinstance(n, ast.BinOp)] if m.tree is not None else []
    answers = (returned_none(m, n.left if match[1] == "NoneType" else n.right) for n in operations)
    return next((answer for answer in answers if answer), None)


def returned_none(m: Failure, owner: ast.expr) -> Answer | None:
    """The answer where `owner` is None because a function of the learner's own ended without return."""
    call = made_by(m, owner)
    code = getattr(m.value(call.func), "__code__", None) if call is not None else None
    # A function that can end without return has this constant
    if call is None or code is None or None not in code.co_consts:
        return None
    return Answer("The function returned None", f"`{ast.unparse(call.func)}` has no `return` on the way that was taken, so Python returns None.",
                  "End it with `return` and the result.", chapter=2)  # fmt: skip


def made_by(m: Failure, owner: ast.expr) -> ast.Call | None:
    """The call that `owner` is, or whose result the variable of that name is."""
    if isinstance(owner, ast.Name) and m.names.get(owner.id, m) is None:
        for s in reversed(history.statements(m)):
            if (
                isinstance(s, ast.Assign)
                and isinstance(s.value, ast.Call)
                and any(ast.unparse(t) == owner.id for t in s.targets)
            ):
                return s.value
    return owner if isinstance(owner, ast.Call) else None


READ = (  # (pattern of Python's message, explanation)
    (r"expected ':'", "A line that begins with def, class, if, else, for, while or with ends with a colon."),
    (r"never closed|incomplete input|unexpected EOF", "A bracket is opened there and never closed."),
    (r"unmatched|does not match opening", "This bracket closes none that is open, or one of another kind."),
    (r"expected an indented block", "The lines that belong to the one before are moved four blanks to the right."),
    (
        r"unexpected indent",
        "This line is further to the right than the one before, though nothing begins there: begin it in the same column.",
    ),
    (
        r"unindent does not match",
        "This line stands in a column where no line above it begins: move it below one of them.",
    ),
    (r"tabs and spaces", "Tabs and blanks are mixed: use four blanks everywhere."),
    (r"unterminated", "A text ends with the quotation mark that it begins with, on the same line."),
    (r"Maybe you meant '=='|cannot assign", "One = gives a value to the name on its left; == compares."),
    (r"forgot a comma", "Between two things in brackets a comma is missing, or an operator such as *."),
    (
        r"outside function|outside loop",
        "This word belongs inside a function, or a loop: is the line moved far enough to the right?",
    ),
)
READ_ELSE = "Something is missing, or too much, at the marked place or just before it: a colon, a bracket, an operator, a comma."


def unreadable(error: SyntaxError) -> Panel:
    """The card for a cell that Python cannot read."""
    message = next((text for pattern, text in READ if re.search(pattern, error.msg or "")), READ_ELSE)
    text = (error.text or "").rstrip("\n")
    line = text.strip()
    span = None
    if line and error.offset and error.end_offset and error.lineno == error.end_lineno:
        indent = len(text) - len(text.lstrip())
        first, last = error.offset - 1 - indent, error.end_offset - 1 - indent
        span = (first, last) if 0 <= first < last <= len(line) and (first, last) != (0, len(line)) else None
    return Panel(
        "Python cannot read this cell",
        Line(
            "None of its lines has run: Python reads a whole cell before it begins. What the cell defined earlier is still the older version."
        ),
        Code(line, span, f"Line {error.lineno}") if line else None,
        Facts(("How to fix it", message, "")),
        warn=True,
    )
