"""What a row computes for one number, as Python source: the text of a loop's lines.

What lives here: the formulas of rows and of their rules, read from the rows themselves. What does not: loops of a function (compiler.py),
loops of a step (loops.py), and how their text is compiled (kernels/fused_numba.py).
"""

from __future__ import annotations

import ast
import copy
import functools
from typing import Any

from ..core.op import ELEMENTWISE, Op
from ..core.rule_text import parameters_of, rule_body
from ..ops import elementwise as E

COSTLY = ("exp(", "log(", "sin(", "cos(", "tanh(", "sigmoid(", "cdf(", "power(")
# What a loop may call (kernels/fused_numba.py)
CALLS = {call[:-1] for call in COSTLY} | {
    "abs",
    "sqrt",
    "gelu_derivative",
}


class NotCompilable(Exception):
    """The step or function cannot become a program or a loop; the text has the reason."""


@functools.cache
def loop_source(op: Op) -> tuple[str, ...] | None:
    """What a row computes for one number, and the gradient of each input, as Python source; None if it cannot be fused.

    The names are the row's: its inputs, `out` and `g`. A row with a formula and rules in one expression needs no source of its own.
    """
    if op.fused is not None:
        return op.fused if len(op.fused) == 1 + len(op.rules) else None
    if op.formula is None or op.kind != ELEMENTWISE or op.params:
        return None
    texts = [op.formula]
    for rule in op.rules.values():
        tree = None if rule is None else rule_body(rule)
        if tree is None:
            return None
        g = parameters_of(rule)[0]
        try:
            texts.append(ast.unparse(_Inline(rule.__globals__, {g: ast.Name("g")}).visit(copy.deepcopy(tree))))
        except NotCompilable:
            return None
    return tuple(texts)


@functools.cache
def value_source(op: Op) -> str | None:
    """What a row computes for one number, over the names of its inputs and parameters; None where its function is not so simple."""
    text = (
        op.fused[0]
        if op.fused is not None
        else op.formula
        if op.formula is not None and op.kind == ELEMENTWISE
        else None
    )
    if text is None:
        return None
    allowed, tree = {*op.inputs, *op.params}, ast.parse(text, mode="eval")
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - called
    return text if called <= CALLS and names <= allowed else None


class _Inline(ast.NodeTransformer):
    """Put the formulas of other rows in the place of their calls, and numbers in the place of their names."""

    def __init__(self, scope: dict[str, Any], names: dict[str, Any]) -> None:
        self.scope, self.names = scope, names

    def visit_Name(self, node: Any) -> Any:
        if isinstance(value := self.scope.get(node.id), (int, float)):
            return ast.Constant(value)
        return self.names.get(node.id, node)

    def visit_Call(self, node: Any) -> Any:
        args = [self.visit(a) for a in node.args]
        row = self.scope.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if isinstance(row, Op) and row.formula is not None and len(args) == len(row.inputs) and not row.params:
            tree = ast.parse(row.formula, mode="eval").body
            if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in CALLS:
                return ast.Call(tree.func, args, [])
            return _Inline({}, dict(zip(row.inputs, args, strict=True))).visit(tree)
        raise NotCompilable


def power(n: float) -> tuple[str, str]:
    """x ** n and its derivative; small whole numbers are products."""

    def written(k: float) -> str:
        if k in (0.0, 1.0, 2.0, 3.0, 4.0):
            return " * ".join(["x"] * int(k)) or "1"
        return {0.5: "sqrt(x)", -0.5: "1 / sqrt(x)", -1.0: "1 / x"}.get(k) or f"power(x, {k!r})"

    return written(n), f"g * ({n!r} * ({written(n - 1)}))" if n else "g * 0"


def filled(source: str, words: dict[str, str]) -> str:
    """The source with other texts in the place of its names."""
    trees = {name: ast.parse(text, mode="eval").body for name, text in words.items()}
    return ast.unparse(_Fill(trees).visit(ast.parse(source, mode="eval")))


class _Fill(ast.NodeTransformer):
    def __init__(self, words: dict[str, Any]) -> None:
        self.words = words

    def visit_Name(self, node: Any) -> Any:
        return self.words.get(node.id, node)

    def visit_BinOp(self, node: Any) -> Any:
        node = self.generic_visit(node)
        if isinstance(node.op, ast.Pow) and ast.unparse(node.right) == "2":  # no call of pow
            return ast.BinOp(node.left, ast.Mult(), node.left)
        return node


def number_row(op: Op, params: Any) -> Any:
    """`value_source` with the parameters of one call put in, where they are numbers."""
    if op is E.pow_number:
        return power(float(params[0]))[0] if type(params[0]) in (int, float) else None
    text = value_source(op)
    if text is None or not all([type(p) in (int, float) for p in params]):
        return None
    names = list(op.params)[: len(params)]
    return (
        filled(text, {name: f"({p!r})" if p < 0 else repr(p) for name, p in zip(names, params, strict=True)})
        if names
        else text
    )
