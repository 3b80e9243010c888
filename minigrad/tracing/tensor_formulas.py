"""What each row of the derivatives table computes and looks like, as text in which labels are filled in.

What lives here: `expression`, what an operation computes ("x @ w", "sum(h, dim=1)"), and `flow`, what its rule does to the upstream
gradient g ("g @ wᵀ"). A rule's text is read from the row's own source, so nothing is written twice.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..core.op import Op
from ..core.rule_text import parameters_of, rule_body
from .formulas import Rule, rule_for
from .notation import ATOM, NoFormula, Text, Tree, formula, number, number_text, read, words

_USUAL = {"weight": None, "reduction": "mean", "ignore_index": -100}  # defaults that the losses' functions fill in
_SHORT = {"linalg_inv_ex": "inv", "linalg_det": "det", "linalg_vector_norm": "norm",
          "threshold_backward": "relu_slope",
          "nll_loss": "nll_loss", "to": "to", "index": "index", "_unsafe_view": "view", "linalg_solve_ex": "solve"}  # fmt: skip


def friendly(op: Any) -> str:
    """The everyday name of a row: "mul", "inv"."""
    return _SHORT.get(op.name, op.name.strip("_"))


def _power(op: Any, params: tuple | None) -> Rule | None:
    """The row of formulas.py for a power with a fixed exponent."""
    if op.name == "pow" and params is not None and len(params) == 1 and isinstance(params[0], (int, float)):
        return rule_for(f"**{params[0]}", 1)
    return rule_for("**2", 1) if op.name == "square" else None


def numeric(text: Text) -> bool:
    """Is this the label of a plain number?"""
    return re.match(r"−?[\d.]+(e−?\d+)?$", text.text) is not None


def expression(op: Any, params: tuple | None, of: list[Text]) -> Text:
    """What the operation computes, with the labels of its inputs."""
    name = friendly(op)
    if (rule := _power(op, params)) is not None:
        return rule.write(rule.expr, *of)
    # Their name says more than their formula
    if op.formula is not None and not op.name.endswith(("_backward", "_backward_data")):
        if op.name == "mul" and numeric(of[1]) and not numeric(of[0]):  # 3 * x is recorded as x * 3
            of = of[::-1]
            if re.match(r"[^\W\d]\w*$", of[1].text) and of[0].level == ATOM:
                return formula("times", *of)  # 3x
        params_text = {key: number(_short(value)) for key, value in zip(op.params, params or (), strict=False)}
        return read(
            ast.parse(op.formula, mode="eval").body, params_text | dict(zip(op.inputs, of, strict=True)), _transposed
        )
    if name == "pow" and len(of) == 2:
        return formula("^", *of)
    if name in ("addmm", "addmv") and len(of) == 3 and params in ((1, 1), (1.0, 1.0), (), None):
        return formula("+", formula("@", of[1], of[2]), of[0])
    if name == "select" and params is not None and len(params) == 2:
        dim, index = params
        return formula("[]", of[0], f"{':, ' * dim}{index}")
    if name == "slice" and params is not None and len(params) == 4:
        dim, start, stop, step = params
        return formula("[]", of[0], f"{':, ' * dim}{start}:{stop}{'' if step in (1, None) else f':{step}'}")
    if name == "to" and params:
        return formula("method", of[0], "to", words(str(params[0])))
    if name == "index":
        return formula("[]", of[0], "…")
    if name == "as_strided":
        return formula("view", of[0])
    if name == "copy_slices":
        return formula("written", *of)
    operands = list(of)
    if params is not None:
        for key, value in zip(op.params, params, strict=False):
            default = op.params[key]
            if key == "out":  # numpy's own
                continue
            if key in _USUAL and repr(_USUAL[key]) == repr(value):
                continue
            if default is inspect.Parameter.empty or repr(default) != repr(value):
                operands.append(words(f"{key}={_short(value)}"))
    return formula("call", name, *operands)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, (int, str, bool, type(None))) or (
        isinstance(value, tuple) and all(isinstance(v, int) for v in value)
    ):
        return repr(value)
    return "…"


def flow(op: Any, rule: Any, labels: Mapping[str, Text], shapes: Mapping[str, tuple], params: tuple | None) -> str:
    """The text of `flow_formula`; "" if there is none."""
    result = flow_formula(op, rule, labels, shapes, params)
    return result.text if result else ""


def flow_formula(
    op: Any, rule: Any, labels: Mapping[str, Text], shapes: Mapping[str, tuple], params: tuple | None
) -> Text | None:
    """What a rule makes of the upstream gradient: "g × cos(x)". None if its source does not say it in one short expression."""
    tree = rule_body(rule)
    if tree is None:
        return None
    given = parameters_of(rule)
    scope = getattr(rule, "__globals__", {})
    known = dict(zip(op.params, params, strict=False)) if params is not None else {}
    names: dict[str, Text] = {given[0]: Text("g")}
    values = {}
    for name in given[1:]:
        if name in labels:
            names[name] = labels[name]
        elif name.endswith("_shape") and shapes.get(name[:-6]) is not None:
            values[name] = shapes[name[:-6]]
        elif name in known:
            values[name] = known[name]
    try:
        text = read(tree, names, partial(_of_a_row, scope, names, values))
    except NoFormula:
        return None
    return text if len(text.text) <= 90 else None


def without_g(tree: Tree) -> Tree | None:
    """The factor of g in a rule that multiplies: "g × y" is y, "−g" is −1. None if the rule does something else."""
    head, *parts = tree
    if tree == ["name", "g"]:
        return ["number", "1"]
    if head == "neg" and (rest := without_g(parts[0])) is not None:
        return ["number", "−1"] if rest == ["number", "1"] else ["neg", rest]
    if head in ("×", "/") and (rest := without_g(parts[0])) is not None:
        if head == "×" and rest in (["number", "1"], ["number", "−1"]):
            return parts[1] if rest[1] == "1" else ["neg", parts[1]]
        return [head, rest, parts[1]]
    return None


def _transposed(e: ast.expr, inner: Callable[[ast.expr], Text]) -> Text | None:
    return formula("T", inner(e.value)) if isinstance(e, ast.Attribute) and e.attr == "T" else None


def _of_a_row(
    scope: Mapping, names: Mapping[str, Text], values: dict, e: ast.expr, inner: Callable[[ast.expr], Text]
) -> Text | None:
    """What rows write in a way of their own: parameters whose value is known, shapes, and calls of other rows (found in `scope`)."""
    match e:
        case ast.Name(name) if name in values:
            value = values[name]
            return (
                number(_short(value))
                if isinstance(value, (int, float)) and not isinstance(value, bool)
                else words(_short(value))
            )
        case ast.BinOp(ast.Name(name), ast.Sub(), ast.Constant(less)) if isinstance(values.get(name), (int, float)):
            return number(_short(values[name] - less))
        case ast.IfExp(ast.Compare(ast.Name(name), [ast.Eq()], [ast.Constant(value)]), body, orelse) if name in values:
            return inner(body if values[name] == value else orelse)
        case ast.IfExp():
            raise NoFormula
        case ast.Call(ast.Name(name), args, []):
            row = scope.get(name)
            if isinstance(row, Op) and row.formula is not None:
                arguments = dict(zip((*row.inputs, *row.params), map(inner, args), strict=False))
                return read(ast.parse(row.formula, mode="eval").body, {**names, **arguments}, _transposed)
            return _call_of_a_row(name.rstrip("_"), args, names, values, inner)
        case ast.Call(ast.Attribute(of, "permute" | "sum" as name), args, []):
            return formula("method", inner(of), name, *map(inner, args))
    return None


def _call_of_a_row(
    name: str, args: list[ast.expr], names: Any, values: dict, inner: Callable[[ast.expr], Text]
) -> Text | None:
    match name, args:
        case "mT", [x]:
            return formula("T", inner(x))
        case "pow_number", [x, y]:
            n = inner(y)
            return inner(x) if n.text == "1" else formula("^", inner(x), n)
        case "size_of", [ast.Name(of), *over] if of in values:
            return number(str(_size(values[of], over, values)))
        case "expand" | "spread", [x, over, *_]:
            return formula("spread", inner(x), inner(over))
        case "reshape", [x, shape, *_]:
            return formula("in", inner(x), inner(shape))
        case "embed" | "_place" | "index_backward", [x, *_]:
            return formula("zeros", inner(x))
        case "relu_slope", [x, y, *_]:
            return formula("where", inner(x), inner(y))
    return None


def _size(shape: tuple, over: list[ast.expr], values: dict) -> int:
    """How many numbers a shape has, or some of its dimensions."""
    if not over:
        return math.prod(shape)
    dims = values.get(over[0].id) if isinstance(over[0], ast.Name) else None
    if dims is None:
        raise NoFormula
    return math.prod(shape[d] for d in ((dims,) if isinstance(dims, int) else dims))
