"""What each operation on scalars is called, computes and looks like.

What lives here: one row per operation of `Value` (and of a learner's own class with micrograd's names): how to compute it, and its
formula and local derivatives as text in which labels are filled in. What does not: any derivative as a number (scalar.py computes those).
"""
from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ..scalar import Value

SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4  # how tightly a text holds together


class Text(NamedTuple):
    """A formula that knows when it needs parentheses: `f"{text:4}"` puts them around anything looser than an atom."""

    text: str
    level: int = ATOM

    def __format__(self, level: str) -> str:
        return self.text if self.level >= int(level or 0) else f"({self.text})"


class Rule(NamedTuple):
    name: str  # the trace's name of the operation
    compute: Callable[..., Value]
    expr: str  # templates over {a}, {b}, {out}; a digit is the level that the place needs
    level: int
    locals: tuple[str, ...]  # d out / d a, d out / d b
    saves: tuple[bool, ...]  # is that derivative a number that had to be kept, or the same everywhere?

    def write(self, template: str, *parents: Text, out: Text | None = None) -> Text:
        names = dict(zip("ab", parents, strict=False))
        return Text(template.format(out=out, **names), self.level)


def _row(name, compute, expr, level, *local, saves=True) -> Rule:
    return Rule(name, compute, expr, level, local, (saves,) * len(local))


RULES = {
    "+": _row("+", operator.add, "{a} + {b:2}", SUM, "1", "1", saves=False),
    "-": _row("-", operator.sub, "{a} − {b:2}", SUM, "1", "−1", saves=False),
    "*": _row("*", operator.mul, "{a:2} × {b:3}", PRODUCT, "{b}", "{a}"),
    "/": _row("/", operator.truediv, "{a:2} / {b:3}", PRODUCT, "1 / {b:3}", "−{a:3} / {b:4}²"),
    "**": _row("**", operator.pow, "{a:4}^{b:4}", POWER, "{b:2} × {a:4}^({b} − 1)", "{out:2} × log({a})"),
    "neg": _row("neg", operator.neg, "−{a:3}", SUM, "−1", saves=False),
    "abs": _row("abs", operator.abs, "|{a}|", ATOM, "sign({a})"),
    "exp": _row("exp", Value.exp, "exp({a})", ATOM, "exp({a})"),
    "log": _row("log", Value.log, "log({a})", ATOM, "1 / {a:3}"),
    "sin": _row("sin", Value.sin, "sin({a})", ATOM, "cos({a})"),
    "cos": _row("cos", Value.cos, "cos({a})", ATOM, "−sin({a})"),
    "tanh": _row("tanh", Value.tanh, "tanh({a})", ATOM, "1 − tanh({a})²"),
    "sigmoid": _row("sigmoid", Value.sigmoid, "sigmoid({a})", ATOM, "sigmoid({a}) × (1 − sigmoid({a}))"),
    "sqrt": _row("sqrt", Value.sqrt, "sqrt({a})", ATOM, "1 / (2 × sqrt({a}))"),
    "relu": _row("relu", Value.relu, "relu({a})", ATOM, "1 if {a} > 0, else 0"),
    "max": _row("max", Value.max, "max({a}, {b})", ATOM, "1 if {a} > {b}, else 0", "1 if {b} > {a}, else 0"),
    "min": _row("min", Value.min, "min({a}, {b})", ATOM, "1 if {a} < {b}, else 0", "1 if {b} < {a}, else 0"),
}

_OTHER_NAMES = {
    "add": "+", "sub": "-", "−": "-", "mul": "*", "×": "*", "·": "*", "div": "/", "truediv": "/", "÷": "/", "pow": "**", "^": "**",
    "ln": "log", "sigm": "sigmoid", "σ": "sigmoid", "logistic": "sigmoid", "maximum": "max", "minimum": "min", "negative": "neg",
}  # fmt: skip


@cache
def rule_for(op: str, parents: int) -> Rule | None:
    """The row for an operation's name as `Value`, micrograd or a learner writes it ("relu", "ReLU", "**3", "add"); None if unknown."""
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
    def power(k: float) -> str:
        return "{a}" if k == 1 else "{a:4}" + _raised(k)

    factor = "" if n == 1 else "−" if n == -1 else number_text(n) if n == int(n) else number_text(n) + " × "
    local = "0" if n == 0 else "1" if n == 1 else factor + ("{a:4}" if n == 2 else power(n - 1))
    return Rule("**", lambda x: x**n, "{a:4}" + _raised(n), POWER, (local,), (n not in (0.0, 1.0),))


def _raised(n: float) -> str:
    if n == n and abs(n) < 1e15 and n == int(n):
        return str(int(n)).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
    return "^" + (number_text(n) if n > 0 else f"({number_text(n)})")


def number_text(x: float) -> str:
    """A constant as its label: all digits that matter to a reader, a true minus sign."""
    return f"{x:.6g}".replace("-", "−").replace("e+", "e")


# LaTeX: a translation of the text, so that no formula is written twice

_FUNCTIONS = {"exp", "log", "sin", "cos", "tanh", "max", "min"}
_OPERATORS = {"sigmoid", "relu", "sqrt", "sign"}
_FLAT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_POWER = re.compile(r"\^(\([^()]*\)|[\w.−]+)")
_NAME = re.compile(r"[^\W\d_]\w*(?:\[[^\]]*\]|\.\w+)*")


def latex(text: str) -> str:
    """The same formula for a LaTeX renderer."""
    text = _RAISED.sub(lambda m: "^{" + m[0].translate(_FLAT) + "}", text)
    if "^" in text:
        text = _POWER.sub(lambda m: "^{" + m[1] + "}", text)
    text = _NAME.sub(_latex_name, text)
    return text.replace("−", "-").replace("×", r"\cdot").replace(", ", r",\ ")


def _latex_name(match: re.Match) -> str:
    name = match[0]
    if len(name) == 1:
        return name
    if name in _FUNCTIONS:
        return "\\" + name
    if name in _OPERATORS:
        return rf"\operatorname{{{name}}}"
    if name in ("if", "else"):
        return rf"\ \text{{{name}}}\ "
    return r"\mathit{" + name.replace("_", r"\_") + "}"
