"""A formula as a tree, and the tree as text or as MathML.

What lives here: `Text`, a formula that carries both; `formula`, which puts formulas together; `read`, which makes one of Python source;
`mathml`. What does not: which formula an operation has (formulas.py, tensor_formulas.py).

A tree is plain data, [head, *parts], and travels in a trace (JSON). Heads and their parts:
    ["name", "w"]  ["number", "−2.5"]  ["words", "g rolled back"]   a leaf: how it is written
    ["node", 4]                                                     a leaf: the label of a node of the trace
    ["+" "−" "×" "/" "@" "^" "neg" "abs" "T" "times", …]            operators on trees; "times" is a number before a name, 3x
    ["call", "tanh", x, …]  ["method", x, "sum", dim, …]  [".", x, "values"]  ["[]", x, "0:2"]  ["tuple", x, …]
    [">" "<" "≥" "≤" "=" "≠" "or" "and", x, y]  ["if", x, condition, y]  ["where", x, y]   x where y > 0, else 0
    ["spread", x, over]  ["in", x, shape]  ["zeros", x]  ["view", x]  ["written", x, value]
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any, NamedTuple

from ..words import number as number_text

SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4  # how tightly a text holds together
NEGATIVE = 1.5  # −x may stand before × and /, and not after + and −

Tree = list[Any]


class Text(NamedTuple):
    """A formula that knows when it needs parentheses: `f"{text:4}"` puts them around anything looser than an atom."""

    text: str
    level: float = ATOM
    given: Tree | None = None

    def __format__(self, level: str) -> str:
        return self.text if self.level >= float(level or 0) else f"({self.text})"

    @property
    def tree(self) -> Tree:
        return ["name", self.text] if self.given is None else self.given


_LAID_OUT = {  # head: (what its parts are put into; a digit is the level that the place needs, its own level)
    "+": ("{} + {:2}", SUM), "−": ("{} − {:2}", SUM), "×": ("{:1.5} × {:3}", PRODUCT), "/": ("{:1.5} / {:3}", PRODUCT),
    "@": ("{:1.5} @ {:3}", PRODUCT), "neg": ("−{:3}", NEGATIVE), "times": ("{}{:3}", PRODUCT), "^": ("{:4}^{:4}", POWER),
    "abs": ("|{}|", ATOM), "T": ("{:4}ᵀ", ATOM), ".": ("{:4}.{}", ATOM), "[]": ("{:4}[{}]", ATOM),
    **{sign: (f"{{}} {sign} {{}}", SUM) for sign in (">", "<", "≥", "≤", "=", "≠", "or", "and")},
    "if": ("{} if {}, else {}", SUM), "where": ("{} where {} > 0, else 0", SUM), "spread": ("{} spread over {}", SUM),
    "in": ("{:4} in {}", SUM), "zeros": ("{:4} put back into zeros", ATOM), "view": ("view of {}", SUM),
    "written": ("{} with {} written into it", SUM),
}  # fmt: skip


def formula(head: str, *parts: Any) -> Text:
    """Compose formulas with the operator `head`. Some heads take plain strings, too.

    >>> x = Text("x")
    >>> formula("×", formula("+", x, number("2")), formula("neg", x))
    Text(text='(x + 2) × (−x)', level=2, given=['×', ['+', ['name', 'x'], ['number', '2']], ['neg', ['name', 'x']]])
    """
    tree = [head, *(part.tree if isinstance(part, Text) else part for part in parts)]
    if head in ("call", "method", "tuple"):
        first = {"call": 1, "method": 2, "tuple": 0}[head]
        inner = ", ".join(part.text if isinstance(part, Text) else part for part in parts[first:])
        before = {
            "call": parts[0] if head == "call" else "",
            "method": f"{parts[0]:4}.{parts[1]}" if head == "method" else "",
            "tuple": "",
        }
        return Text(f"{before[head]}({inner})", ATOM, tree)
    if head == "^" and isinstance(parts[1], Text) and re.fullmatch(r"−?\d{1,14}", parts[1].text):
        return Text(f"{parts[0]:4}{parts[1].text.translate(RAISED)}", POWER, tree)
    layout, level = _LAID_OUT[head]
    if head in "+−" and parts[1].text.startswith("−"):  # x + (−2 × y)
        parts = parts[0], parts[1]._replace(level=0)
    return Text(layout.format(*parts), level, tree)


RAISED = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def number(text: str) -> Text:
    """A number as it is written."""
    return Text(text, NEGATIVE if text.startswith("−") else ATOM, ["number", text])


def words(text: str, level: float = ATOM) -> Text:
    """Plain text in place of a formula."""
    return Text(text, level, ["words", text])


def node(label: Text, i: int) -> Text:
    """The label of a node as a part of another node's formula: the tree refers to the node."""
    return Text(label.text, label.level, ["node", i])


def write(tree: Tree, label: Callable[[int], Text]) -> Text:
    """The text of a tree. `label` gives that of a node."""
    head, *parts = tree
    if head == "node":
        return node(label(parts[0]), parts[0])
    if head in ("name", "number", "words"):
        return {"name": Text, "number": number, "words": words}[head](parts[0])
    return formula(head, *(write(part, label) if isinstance(part, list) else part for part in parts))


def operands(tree: Tree) -> list[int]:
    """The nodes that a tree refers to."""
    return [tree[1]] if tree[0] == "node" else [i for part in tree if isinstance(part, list) for i in operands(part)]


def with_nodes(tree: Tree, leaf: Callable[[int], Tree]) -> Tree:
    """The tree with another leaf for each node that it refers to."""
    if tree[0] == "node":
        return leaf(tree[1])
    return [with_nodes(part, leaf) if isinstance(part, list) else part for part in tree]


# Python source as a formula

_BINARY = {
    ast.Add: "+",
    ast.Sub: "−",
    ast.Mult: "×",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.Pow: "^",
    ast.BitOr: "or",
    ast.BitAnd: "and",
}
_COMPARED = {ast.Gt: ">", ast.Lt: "<", ast.GtE: "≥", ast.LtE: "≤", ast.Eq: "=", ast.NotEq: "≠"}


class NoFormula(Exception):
    """A piece of Python that is no formula."""


def read(e: ast.expr, names: Mapping[str, Text], special: Callable[..., Text | None] | None = None) -> Text:
    """A Python expression as a formula. `special(e, inner)` answers first, where `inner` reads a part of `e`. Raises NoFormula."""

    def inner(x: ast.expr) -> Text:
        return read(x, names, special)

    if special and (answer := special(e, inner)) is not None:
        return answer
    match e:
        case ast.Name(name):
            return names.get(name) or Text(name.strip("_").lower().replace("_", " ") if name.isupper() else name)
        case ast.Constant(value):
            return (
                number(number_text(value))
                if isinstance(value, (int, float)) and not isinstance(value, bool)
                else words(str(value))
            )
        case ast.UnaryOp(ast.USub(), ast.Constant(float() | int() as value)):
            return number(number_text(-value))
        case ast.UnaryOp(ast.USub(), operand):
            return formula("neg", inner(operand))
        case ast.BinOp(left, op, right) if type(op) in _BINARY:
            return formula(_BINARY[type(op)], inner(left), inner(right))
        case ast.IfExp(test, body, orelse):
            return formula("if", inner(body), inner(test), inner(orelse))
        case ast.Compare(left, [op], [right]) if type(op) in _COMPARED:
            return formula(_COMPARED[type(op)], inner(left), inner(right))
        case ast.Call(ast.Name("abs"), [x], []):
            return formula("abs", inner(x))
        case ast.Call(ast.Name(name), args, []) if not any(isinstance(a, ast.Starred) for a in args):
            return formula("call", name.strip("_"), *map(inner, args))
        case ast.Subscript(value):
            return formula("[]", inner(value), "…")
        case ast.Attribute(value, name):
            return formula(".", inner(value), name)
        case ast.Tuple(items):
            return formula("tuple", *map(inner, items))
    raise NoFormula


# MathML

_NEEDS = {"+": (0, 2), "−": (0, 2), "×": (1.5, 3), "/": (0, 0), "@": (1.5, 3), "neg": (3,), "times": (0, 3), "^": (4, 0), "T": (4,),
          ".": (4,), "[]": (4,), "in": (4, 0), "zeros": (4,)}  # fmt: skip
_INFIX = {
    "+": "+",
    "−": "−",
    "×": "×",
    "@": "\u2062",
    "=": "=",
    ">": "&gt;",
    "<": "&lt;",
    "≥": "≥",
    "≤": "≤",
    "≠": "≠",
    "times": "\u2062",
}


def mathml(tree: Tree, label: Callable[[int], Text] = lambda i: Text(f"v{i}")) -> str:
    """A tree as presentation MathML, without the <math> around it. `label` gives the text of a node.

    >>> mathml(["/", ["number", "1"], ["^", ["name", "x"], ["number", "2"]]])
    '<mfrac><mn>1</mn><msup><mi>x</mi><mn>2</mn></msup></mfrac>'
    """
    head, *parts = tree

    def part(k: int) -> str:
        text = mathml(parts[k], label)
        needs = _NEEDS.get(head, ())
        loose = (
            k < len(needs)
            and level_of(parts[k], label) < needs[k]
            or k == 1
            and head in "+−"
            and _starts_with_minus(parts[k], label)
        )
        return _row("<mo>(</mo>", text, "<mo>)</mo>") if loose else text

    def listed(items: list[Tree]) -> str:
        return "<mo>,</mo>".join(mathml(item, label) for item in items)

    if head in ("name", "node", "number", "words"):
        text = label(parts[0]).text if head == "node" else parts[0]
        return f"<{_LEAVES[head]}>{escape(text, quote=False)}</{_LEAVES[head]}>"
    if head in _INFIX:
        return _row(part(0), f"<mo>{_INFIX[head]}</mo>", part(1))
    if head == "/":
        return f"<mfrac>{part(0)}{part(1)}</mfrac>"
    if head == "^" or head == "T":
        return f"<msup>{part(0)}{part(1) if head == '^' else '<mo>⊤</mo>'}</msup>"
    if head == "neg":
        return _row("<mo>−</mo>", part(0))
    if head == "abs":
        return _row("<mo>|</mo>", part(0), "<mo>|</mo>")
    if head == "call" and parts[0] == "sqrt" and len(parts) == 2:
        return f"<msqrt>{mathml(parts[1], label)}</msqrt>"
    if head == "call" and parts[0] == "exp" and len(parts) == 2:
        return f"<msup><mi>e</mi>{mathml(parts[1], label)}</msup>"
    if head == "call":
        return _row(f"<mi>{escape(parts[0])}</mi>", "<mo>(</mo>", listed(parts[1:]), "<mo>)</mo>")
    if head == "method":
        of = (
            mathml(parts[0], label)
            if level_of(parts[0], label) >= ATOM
            else _row("<mo>(</mo>", mathml(parts[0], label), "<mo>)</mo>")
        )
        return _row(of, f"<mo>.</mo><mi>{escape(parts[1])}</mi><mo>(</mo>", listed(parts[2:]), "<mo>)</mo>")
    if head == "tuple":
        return _row("<mo>(</mo>", listed(parts), "<mo>)</mo>")
    if head in (".", "[]"):
        name = f"<mi>{escape(parts[1])}</mi>"
        return _row(part(0), f"<mo>.</mo>{name}" if head == "." else f"<mo>[</mo>{name}<mo>]</mo>")
    pieces = re.split(r"\{[^}]*\}", _LAID_OUT[head][0])  # words around formulas: "… where … > 0, else 0"
    out = [f"<mtext>{escape(pieces[0])}</mtext>" if pieces[0] else ""]
    for k, words_after in enumerate(pieces[1:]):
        out += [part(k), f"<mtext>{escape(words_after)}</mtext>" if words_after else ""]
    return _row(*out)


_LEAVES = {"name": "mi", "node": "mi", "number": "mn", "words": "mtext"}


def _row(*items: str) -> str:
    return f"<mrow>{''.join(items)}</mrow>"


def _starts_with_minus(tree: Tree, label: Callable[[int], Text]) -> bool:
    return write(tree, label).text.startswith("−")


def level_of(tree: Tree, label: Callable[[int], Text]) -> float:
    """How tightly the text of a tree holds together."""
    head = tree[0]
    if head == "node":
        return label(tree[1]).level
    if head == "number":
        return NEGATIVE if tree[1].startswith("−") else ATOM
    return _LAID_OUT[head][1] if head in _LAID_OUT else ATOM
