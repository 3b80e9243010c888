"""What each row of the derivatives table computes and looks like, as text in which labels are filled in.

What lives here: `expression`, what an operation computes ("x @ w", "sum(h, dim=1)"), and `flow`, what its rule does to the arriving
gradient g ("g @ wᵀ"). What does not: derivatives. A rule's text is read from the row's own source, so nothing is written twice.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import math
import re
import textwrap
from functools import cache

from .formulas import ATOM, POWER, PRODUCT, Rule, Text, number_text, rule_for

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "neg": "neg", "maximum": "max", "minimum": "min"}
_PRODUCTS = {"mm", "mv", "bmm", "matmul", "bmm_n"}
_TRANSPOSED = {"t", "mT"}
_SHORT = {"linalg_inv_ex": "inv", "linalg_det": "det", "linalg_vector_norm": "norm",
          "threshold_backward": "relu_slope",
          "nll_loss": "nll_loss", "to": "to", "index": "index", "_unsafe_view": "view", "linalg_solve_ex": "solve"}  # fmt: skip


def friendly(op) -> str:
    """The everyday name of a row: "mul", "inv"."""
    return _SHORT.get(op.name, op.name.strip("_"))


def scalar_rule(op, params: tuple | None, count: int) -> Rule | None:
    """The row of formulas.py that says the same about single numbers, if there is one."""
    if op.name == "pow" and params is not None and len(params) == 1 and isinstance(params[0], (int, float)):
        return rule_for(f"**{params[0]}", 1)
    if op.name == "square":
        return rule_for("**2", 1)
    return rule_for(_SIGNS.get(op.name, op.name), count) if op.name != "max" else None


def numeric(text: Text) -> bool:
    """Is this the label of a plain number?"""
    return re.match(r"−?[\d.]+(e−?\d+)?$", text.text) is not None


def expression(op, params: tuple | None, of: list[Text]) -> Text:
    """What the operation computes, with the labels of its inputs."""
    name = friendly(op)
    if (rule := scalar_rule(op, params, len(of))) is not None:
        if rule.name in ("*", "+") and numeric(of[1]) and not numeric(of[0]):  # 3 * x is recorded as x * 3
            of = of[::-1] if rule.name == "*" else of
            if rule.name == "*" and re.match(r"[^\W\d]\w*$", of[1].text) and of[0].level == ATOM:
                return Text(of[0].text + of[1].text, PRODUCT)  # 3x
        return rule.write(rule.expr, *of)
    if name == "pow" and len(of) == 2:
        return Text(f"{of[0]:4}^{of[1]:4}", POWER)
    if name == "rsub" and len(of) == 2:
        return Text(f"{of[1]} − {of[0]:2}", 1)
    if name in _PRODUCTS and len(of) == 2:
        return Text(f"{of[0]:2} @ {of[1]:3}", PRODUCT)
    if name in ("addmm", "addmv") and len(of) == 3 and params in ((1, 1), (1.0, 1.0), (), None):
        return Text(f"{of[1]:2} @ {of[2]:3} + {of[0]:2}", 1)
    if name in _TRANSPOSED and len(of) == 1:
        return Text(f"{of[0]:4}ᵀ", ATOM)
    if name == "select" and params is not None and len(params) == 2:
        dim, index = params
        return Text(f"{of[0]:4}[{':, ' * dim}{index}]", ATOM)
    if name == "slice" and params is not None and len(params) == 4:
        dim, start, stop, step = params
        return Text(f"{of[0]:4}[{':, ' * dim}{start}:{stop}{'' if step in (1, None) else f':{step}'}]", ATOM)
    if name == "to" and params:
        return Text(f"{of[0]:4}.to({params[0]})", ATOM)
    if name == "index":
        return Text(f"{of[0]:4}[…]", ATOM)
    if name == "as_strided":
        return Text(f"view of {of[0]}", 1)
    if name == "copy_slices":
        return Text(f"{of[0]} with {of[1]} written in", 1)
    given = [t.text for t in of]
    if params is not None:
        for key, value in zip(op.params, params, strict=False):
            default = op.params[key]
            if key == "out":  # numpy's own
                continue
            if default is inspect.Parameter.empty or repr(default) != repr(value):
                given.append(f"{key}={_short(value)}")
    return Text(f"{name}({', '.join(given)})", ATOM)


def _short(value) -> str:
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, (int, str, bool, type(None))) or (isinstance(value, tuple) and all(isinstance(v, int) for v in value)):
        return repr(value)
    return "…"


def flow(op, rule, labels: dict[str, Text], shapes: dict[str, tuple], params: tuple | None) -> str:
    """What a rule makes of the arriving gradient: "g × cos(x)". "" if its source does not say it in one expression."""
    tree = _body(rule)
    if tree is None:
        return ""
    given = _parameters(rule)
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
        text = _write(tree, names, values)
    except _Unsaid:
        return ""
    return text.text if len(text.text) <= 90 else ""


@cache
def _parameters(rule) -> list[str]:
    return list(inspect.signature(rule).parameters)


class _Unsaid(Exception):
    """A piece of Python that is no formula."""


@cache
def _body(rule) -> ast.expr | None:
    """The expression that a rule returns, from its source: a lambda's body, or the one `return` of a function."""
    try:
        if rule.__name__ != "<lambda>":
            tree = ast.parse(textwrap.dedent(inspect.getsource(rule))).body[0]
            body = [b for b in tree.body if not (isinstance(b, ast.Expr) and isinstance(b.value, ast.Constant))]  # type: ignore[attr-defined]
            return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
        code = rule.__code__
        spans = [p for p in code.co_positions() if None not in p and p[3] > 0]
        first, last = min(p[0] for p in spans), max(p[1] for p in spans)
        if first != last:
            return None
        line = linecache.getline(code.co_filename, first).encode()
        text = line[min(p[2] for p in spans) : max(p[3] for p in spans)].decode()
        while text.count("(") > text.count(")"):  # a closing bracket belongs to no instruction
            text += ")"
        return ast.parse(text, mode="eval").body
    except (OSError, SyntaxError, TypeError, ValueError, IndexError):
        return None


_OPERATORS = {
    ast.Add: (" + ", 1, 1, 1),
    ast.Sub: (" − ", 1, 1, 2),
    ast.Mult: (" × ", 2, 2, 3),
    ast.Div: (" / ", 2, 2, 3),
    ast.MatMult: (" @ ", 2, 2, 3),
    ast.BitOr: (" or ", 1, 1, 1),
    ast.BitAnd: (" and ", 1, 1, 1),
}
_COMPARED = {ast.Gt: ">", ast.Lt: "<", ast.GtE: "≥", ast.LtE: "≤", ast.Eq: "=", ast.NotEq: "≠"}

_BACKWARDS = {  # rows with a kernel: what it computes from the arriving gradient x and the saved y
    "softmax_slope": "y * (x - sum(x * y, dim))",
    "log_softmax_slope": "x - exp(y) * sum(x, dim)",
    "gelu_slope": "x * (normal_cdf(y) + y * exp(y * y * -0.5) * _INV_SQRT_2PI)",
}


def _write(e: ast.expr, names: dict[str, Text], values: dict) -> Text:
    """A Python expression as a formula."""

    def write(x):
        return _write(x, names, values)

    if isinstance(e, ast.Name):
        if e.id in values:
            return Text(_short(values[e.id]))
        return names.get(e.id) or Text(e.id.strip("_").lower().replace("_", " ") if e.id.isupper() else e.id)
    if isinstance(e, ast.Constant):
        return Text(number_text(e.value) if isinstance(e.value, (int, float)) and not isinstance(e.value, bool) else str(e.value))
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub):
        return Text(f"−{write(e.operand):3}", 2)
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Pow):
        return Text(f"{write(e.left):4}^{write(e.right):4}", POWER)
    if isinstance(e, ast.BinOp) and type(e.op) in _OPERATORS:
        if isinstance(e.left, ast.Name) and isinstance(e.right, ast.Constant) and isinstance(values.get(e.left.id), (int, float)):
            if isinstance(e.op, ast.Sub):
                return Text(_short(values[e.left.id] - e.right.value))
        sign, level, left, right = _OPERATORS[type(e.op)]
        return Text(f"{write(e.left):{left}}{sign}{write(e.right):{right}}", level)
    if isinstance(e, ast.IfExp):
        test = e.test
        if (
            isinstance(test, ast.Compare)
            and isinstance(test.left, ast.Name)
            and test.left.id in values
            and isinstance(test.comparators[0], ast.Constant)
        ):
            if isinstance(test.ops[0], ast.Eq):
                return write(e.body if values[test.left.id] == test.comparators[0].value else e.orelse)
        raise _Unsaid
    if isinstance(e, ast.Compare) and len(e.ops) == 1 and type(e.ops[0]) in _COMPARED:
        return Text(f"{write(e.left)} {_COMPARED[type(e.ops[0])]} {write(e.comparators[0])}", 1)
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and not e.keywords:
        name, args = e.func.id.rstrip("_"), e.args
        if name in _TRANSPOSED and len(args) == 1:
            return Text(f"{write(args[0]):4}ᵀ")
        if name in _PRODUCTS and len(args) == 2:
            return Text(f"{write(args[0]):2} @ {write(args[1]):3}", PRODUCT)
        if name == "pow_number" and len(args) == 2:
            n = write(args[1])
            return Text(
                f"{write(args[0]):4}" + ("" if n.text == "1" else "²" if n.text == "2" else "³" if n.text == "3" else f"^{n:4}"), POWER
            )
        if name == "size_of" and isinstance(args[0], ast.Name) and args[0].id in values:
            shape = values[args[0].id]
            over = args[1] if len(args) > 1 else None
            if over is None:
                return Text(str(math.prod(shape)))
            dims = values.get(over.id) if isinstance(over, ast.Name) else None
            dims = (dims,) if isinstance(dims, int) else dims
            if dims is None:
                raise _Unsaid
            return Text(str(math.prod(shape[d] for d in dims)))
        if name in ("expand", "spread"):
            return Text(f"{write(args[0])} spread over {write(args[1])}", 1)
        if name == "reshape":
            return Text(f"{write(args[0]):4} in {write(args[1])}", 1)
        if name in ("embed", "_place", "index_backward"):
            return Text(f"{write(args[0]):4} put back into zeros", 1)
        if name == "tanh_slope":
            return Text(f"{write(args[0]):2} × (1 − {write(args[1]):4}²)", PRODUCT)
        if name == "sigmoid_slope":
            return Text(f"{write(args[0]):2} × {write(args[1]):3} × (1 − {write(args[1]):2})", PRODUCT)
        if name in _BACKWARDS and len(args) >= 2:
            given = dict(zip(("x", "y", "dim"), [write(a) for a in args], strict=False))
            return _write(ast.parse(_BACKWARDS[name], mode="eval").body, {**names, **given}, {})
        if name == "relu_slope":
            return Text(f"{write(args[0])} where {write(args[1])} > 0, else 0", 1)
        if any(isinstance(a, ast.Starred) for a in args):
            raise _Unsaid
        return Text(f"{name.strip('_')}({', '.join(write(a).text for a in args)})")
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and e.func.attr in ("permute", "sum") and not e.keywords:
        return Text(f"{write(e.func.value):4}.{e.func.attr}({', '.join(write(a).text for a in e.args)})")
    if isinstance(e, ast.Subscript):
        return Text(f"{write(e.value):4}[…]")
    if isinstance(e, ast.Attribute):
        return Text(f"{write(e.value):4}.{e.attr}")
    if isinstance(e, ast.Tuple):
        return Text(f"({', '.join(write(x).text for x in e.elts)})")
    raise _Unsaid
