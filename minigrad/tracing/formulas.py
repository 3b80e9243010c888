"""What each operation on scalars is called, computes and looks like.

What lives here: one row per operation of `Value` (and of a learner's own class with micrograd's names): how to compute it, and its
formula and local derivatives as Python source, read as formulas with labels filled in. What does not: any derivative as a number
(scalar.py computes those), how a formula is written (notation.py). Rows of the derivatives table are read from the table
(`_of_the_table`); those of `Value` stand here as well, because a page without numpy cannot load it, and a test compares them with it.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from ..core.rule_text import factor_of, parameters_of, rule_body
from ..scalar import ROWS, Value
from .notation import ATOM, POWER, PRODUCT, SUM, Text, formula, number_text, read

__all__ = ["ATOM", "POWER", "PRODUCT", "SUM", "Text", "number_text", "Rule", "RULES", "rule_for", "exponent"]


class Rule(NamedTuple):
    name: str  # the trace's name of the operation
    compute: Callable[..., Value]
    expr: str  # Python source over a, b, out
    locals: tuple[str, ...]  # d out / d a, d out / d b
    saves: tuple[bool, ...]  # is that derivative a number that had to be kept, or the same everywhere?
    row: Any = None  # the row of the derivatives table that this was read from, if Value has no operation of that name

    def write(self, source: str, *parents: Text, out: Text | None = None) -> Text:
        names = dict(zip("ab", parents, strict=False))
        return read(_parsed(source), names if out is None else {**names, "out": out}, _factor)


@cache
def _parsed(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


def _factor(e: ast.expr, inner: Callable[[ast.expr], Text]) -> Text | None:
    """3a² for 3.0 * a ** 2.0: a whole number stands before a name or a power without a sign between."""
    match e:
        case ast.BinOp(
            ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant()) as left,
            ast.Mult(),
            ast.Name() | ast.BinOp() as right,
        ):
            factor = inner(left)
            if re.fullmatch(r"−?\d+", factor.text):
                return formula("times", factor, inner(right))
    return None


def _row(name: str, compute: Any, expr: Any, *local: Any, saves: Any = True) -> Rule:
    return Rule(name, compute, expr, local, (saves,) * len(local))


RULES = {
    "+": _row("+", operator.add, "a + b", "1", "1", saves=False),
    "-": _row("-", operator.sub, "a - b", "1", "-1", saves=False),
    "*": _row("*", operator.mul, "a * b", "b", "a"),
    "/": _row("/", operator.truediv, "a / b", "1 / b", "-a / b**2"),
    "**": _row("**", operator.pow, "a**b", "b * a ** (b - 1)", "out * log(a)"),
    "neg": _row("neg", operator.neg, "-a", "-1", saves=False),
    "abs": _row("abs", operator.abs, "abs(a)", "sign(a)"),
    "exp": _row("exp", Value.exp, "exp(a)", "exp(a)"),
    "log": _row("log", Value.log, "log(a)", "1 / a"),
    "sin": _row("sin", Value.sin, "sin(a)", "cos(a)"),
    "cos": _row("cos", Value.cos, "cos(a)", "-sin(a)"),
    "tanh": _row("tanh", Value.tanh, "tanh(a)", "1 - tanh(a) ** 2"),
    "sigmoid": _row("sigmoid", Value.sigmoid, "sigmoid(a)", "sigmoid(a) * (1 - sigmoid(a))"),
    "sqrt": _row("sqrt", Value.sqrt, "sqrt(a)", "1 / (2 * sqrt(a))"),
    "relu": _row("relu", Value.relu, "relu(a)", "1 if a > 0 else 0"),
    "max": _row("max", Value.max, "max(a, b)", "1 if a > b else 0", "1 if b > a else 0"),
    "min": _row("min", Value.min, "min(a, b)", "1 if a < b else 0", "1 if b < a else 0"),
}

_OTHER_NAMES = {
    "add": "+", "sub": "-", "−": "-", "mul": "*", "×": "*", "·": "*", "div": "/", "truediv": "/", "÷": "/", "pow": "**", "^": "**",
    "ln": "log", "sigm": "sigmoid", "σ": "sigmoid", "logistic": "sigmoid", "maximum": "max", "minimum": "min", "negative": "neg",
}  # fmt: skip


def rule_for(op: str, parents: int) -> Rule | None:
    """The row for an operation's name as `Value`, micrograd or a learner writes it ("relu", "ReLU", "**3", "add"); None if unknown."""
    result = _known(op, parents)
    if result is None and (row := ROWS.get(op)) is not None and len(row.inputs) == parents:
        return _of_the_table(row)
    return result


@cache
def _of_the_table(row: Any) -> Rule | None:
    """A row of the derivatives table as one of this table; None if its rules do not multiply by a factor that can be written."""
    names = dict(zip(row.inputs, "ab", strict=False))
    texts = [row.formula]
    for rule in row.rules.values():
        tree = None if rule is None else rule_body(rule)
        factor = None if tree is None else factor_of(tree, parameters_of(rule)[0])
        if factor is None:
            return None
        texts.append(ast.unparse(factor))
    expr, *local = (re.sub(r"\b\w+\b", lambda m: names.get(m[0], m[0]), text) for text in texts)
    return Rule(row.name, row, expr, tuple(local), (True,) * len(local), row)


@cache
def _known(op: str, parents: int) -> Rule | None:
    name = op.strip().lower()
    name = _OTHER_NAMES.get(name, name)
    if parents == 1:
        if name in ("-", "−"):
            name = "neg"
        if power := re.fullmatch(r"(?:\*\*|\^|pow)\s*\(?\s*([-+]?(?:[\d.]+(?:e[-+]?\d+)?|inf|nan))\s*\)?", name):
            return _fixed_power(float(power[1]))
    row = RULES.get(name)
    return row if row and len(row.locals) == parents else None


def exponent(op: str) -> float:
    """The 3 of "**3"."""
    return float(op.strip().lower().lstrip("*^pow( ").rstrip(") "))


def _fixed_power(n: float) -> Rule:
    """The row of a ** n. Its derivative is written as people do: 2a, 3a², −a⁻², 0.5 × a^(−0.5)."""
    power = "1" if n == 1 else "a" if n == 2 else f"a ** {n - 1!r}"
    local = "0" if n == 0 else power if n == 1 else f"-{power}" if n == -1 else f"{n!r} * {power}"
    return Rule("**", lambda x: x**n, f"a ** {n!r}", (local,), (n not in (0.0, 1.0),))
