"""Mutants of a program: its source with one thing broken in the way learners break it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

TURNED = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
INCOMING = ("g", "v", "upstream", "grad_output")


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """(what was broken, the broken source) for every place where `source` can be broken. The first is stable: `old -> new`, numbered."""
    tree, seen = ast.parse(source), {}
    original = ast.unparse(tree)
    for path, node in _walk(tree):
        for new in _breaks(node):
            broken = copy.deepcopy(tree)
            _replace(broken, path, new)
            text = ast.unparse(ast.fix_missing_locations(broken))
            if text == original or text in seen.values():
                continue
            what = f"{_short(node)} -> {_short(new)}"
            number = sum(name.partition(" #")[0] == what for name in seen)
            name = f"{what} #{number + 1}" if number else what
            seen[name] = text
            yield name, text


def _breaks(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.AugAssign(target, _, value):
            yield ast.Assign([target], value)  # = for +=
            yield ast.Pass()
        case ast.BinOp(left, ast.Mult(), right):  # a factor dropped
            yield left
            yield right
        case ast.BinOp(left, ast.Sub() | ast.Add() as op, right):  # a sign lost, a term dropped, operands swapped
            yield ast.BinOp(left, ast.Add() if isinstance(op, ast.Sub) else ast.Sub(), right)
            yield left
            if isinstance(op, ast.Sub):
                yield ast.BinOp(right, op, left)
        case ast.BinOp(left, op, right):
            yield ast.BinOp(right, op, left)
            yield left
        case ast.UnaryOp(ast.USub(), operand) if not isinstance(operand, ast.Constant):
            yield operand
        case ast.Compare(left, [op], right):
            yield ast.Compare(left, [TURNED[type(op)]()], right)
        case ast.BoolOp(_, [left, right]):
            yield left
            yield right
        case ast.Attribute(value, "T"):
            yield value
        case ast.Attribute(_, "grad", ast.Load()) | ast.Name(id="g" | "v" | "upstream" | "grad_output", ctx=ast.Load()):
            yield ast.Constant(1.0)  # the incoming gradient ignored
        case ast.Expr(ast.Call()):
            yield ast.Pass()
        case ast.Call(ast.Attribute(value, "pop"), [], []):
            yield ast.Call(ast.Attribute(value, "pop", ast.Load()), [ast.Constant(0)], [])
        case ast.Call(ast.Attribute(value, "pop"), [_], []):
            yield ast.Call(ast.Attribute(value, "pop", ast.Load()), [], [])
        case ast.Call(ast.Name(), [argument], []) if not isinstance(argument, ast.Starred):  # f(x) -> x: reversed, cos, abs, ...
            yield argument
        case ast.Call(ast.Attribute(value), [], []) if not isinstance(value, ast.Name) or value.id not in ("torch", "np", "math"):
            yield value  # x.relu() -> x
        case ast.Subscript(value, ast.Slice(None, None, ast.UnaryOp())):  # x[::-1] -> x
            yield value
        case ast.Return(ast.Tuple([first, second])):
            yield ast.Return(ast.Tuple([second, first], ast.Load()))
        case ast.Try(body=body) if len(body) == 1:
            yield body[0]
        case ast.With(body=[body]):
            yield body


def _walk(node: ast.AST, path: tuple = ()) -> Iterator[tuple[tuple, ast.AST]]:
    yield path, node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for i, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                yield from _walk(child, (*path, (name, i)))


def _replace(tree: ast.AST, path: tuple, new: ast.AST) -> None:
    for name, i in path[:-1]:
        tree = getattr(tree, name) if i is None else getattr(tree, name)[i]
    name, i = path[-1]
    if i is None:
        setattr(tree, name, new)
    else:
        getattr(tree, name)[i] = new


def _short(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())[:70]
