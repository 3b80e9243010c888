"""The source of a gradient rule as a tree: what pictures, `minigrad.compile` and the formulas of Values read.

What lives here: finding the one expression that a rule returns, and the factor that it multiplies g by. What does not: how it is drawn
(tracing/). Needs no numpy.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def parameters_of(rule: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(rule).parameters)


@cache
def rule_body(rule: Callable[..., Any]) -> ast.expr | None:
    """The expression that a rule returns, from its source: a lambda's body, or the one `return` of a function."""
    try:
        if rule.__name__ != "<lambda>":
            tree = ast.parse(textwrap.dedent(inspect.getsource(rule))).body[0]
            body = [b for b in tree.body if not (isinstance(b, ast.Expr) and isinstance(b.value, ast.Constant))]  # type: ignore[attr-defined]
            return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
        code = rule.__code__
        # Of ints, or of None where the compiler made an instruction up
        positions: list[Any] = list(code.co_positions())
        spans = [p for p in positions if None not in p and p[3] > 0]
        first, last = min(p[0] for p in spans), max(p[1] for p in spans)
        if first != last:
            return None
        line = linecache.getline(code.co_filename, first).encode()
        text = line[min(p[2] for p in spans) : max(p[3] for p in spans)].decode()
        while text.count("(") > text.count(")"):  # no instruction covers a closing bracket
            text += ")"
        return ast.parse(text, mode="eval").body
    except (OSError, SyntaxError, TypeError, ValueError, IndexError):
        return None


def factor_of(e: ast.expr, g: str) -> ast.expr | None:
    """The factor that a rule multiplies the gradient `g` by: y in g * y, 1 / y in g / y, -1 in -g. None if it does something else.

    >>> ast.unparse(factor_of(ast.parse("-g * x / y", mode="eval").body, "g"))
    '-x / y'
    """
    match e:
        case ast.Name(name) if name == g:
            return ast.Constant(1)
        case ast.UnaryOp(ast.USub(), operand) if (rest := factor_of(operand, g)) is not None:
            return ast.UnaryOp(ast.USub(), rest)
        case ast.BinOp(left, ast.Mult() | ast.Div() as op, right) if (rest := factor_of(left, g)) is not None:
            if isinstance(op, ast.Mult):
                if isinstance(rest, ast.Constant):
                    return right
                if isinstance(rest, ast.UnaryOp) and isinstance(rest.operand, ast.Constant):
                    return ast.UnaryOp(ast.USub(), right)
            return ast.BinOp(rest, op, right)
    return None
