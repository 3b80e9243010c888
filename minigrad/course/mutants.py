"""Mutants of a program: its source with one typical mistake, and a sentence about each kind of mistake.

The tests demand that every mutant of a reference solution loses points, and symptoms.py recognises an answer with the results of a mutant.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from textwrap import indent
from typing import TypeGuard

TURNED = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


def mutants(source: str) -> Iterator[tuple[str, str, str]]:
    """(the change, the broken source, a description) for every place where `source` can be broken.

    The first is stable: `old -> new`, numbered. The third completes "a right answer in which ...".
    """
    tree = ast.parse(source)
    seen: dict[str, str] = {}
    text_of = _Text(tree)
    original, upstream = text_of(tree), _upstream(tree)
    for path, node in _walk(tree):
        for new, kind in _breaks(node, upstream):
            text = text_of(_replaced(tree, path, new))
            if text == original or text in seen.values():
                continue
            what = f"{_short(node)} -> {_short(new)}"
            number = sum(name.partition(" #")[0] == what for name in seen)
            name = f"{what} #{number + 1}" if number else what
            seen[name] = text
            yield name, text, kind


UPSTREAM = {"g", "v", "grad", "upstream", "grad_output"}  # names of the gradient that a backward rule receives
OTHER = {"sin": "cos", "cos": "sin", "exp": "log", "log": "exp", "max": "min", "min": "max", "data": "grad", "grad": "data",
         "any": "all", "all": "any", "std": "var", "var": "std"}  # fmt: skip


def confusions(source: str, most: int = 450) -> Iterator[tuple[str, str]]:
    """(a broken source, a description): off by one, a factor 2, one name for another, a mean for a sum. At most `most` of them.

    They describe an answer. Many are harmless in some programs, so the tests do not demand that each loses points.
    """
    tree = ast.parse(source)
    text_of = _Text(tree)
    seen = {text_of(tree)}

    for broken, kind in _candidates(source, tree):
        text = text_of(broken)
        if text not in seen:
            seen.add(text)
            yield text, kind
            if len(seen) > most:
                return


def _candidates(source: str, tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """The broken programs of `confusions`, with repetitions."""

    def once(path: tuple, new: ast.AST) -> ast.AST:
        return _replaced(tree, path, new)

    def renamed(names: dict[str, str], methods: dict[str, str] | None = None) -> ast.AST:
        return _Renamed(names, methods).visit(ast.parse(source))

    for methods in ({"sum": "mean"}, {"mean": "sum"}):
        yield renamed({}, methods), "sums and means are exchanged"
    yield _Started().visit(ast.parse(source)), "every sum starts at 1 in place of 0"
    for path, node in _walk(tree):
        for new, kind in (*_slips(node), *_more_slips(node)):
            yield once(path, new), kind
    for path, block in _walk(tree):
        for other, kind in _rearranged(block):
            yield once(path, other), kind
    for path, new in _other_attributes(tree):
        yield once(path, new), "two attributes of self are confused in one place"
    for path, early in _early_returns(tree):
        yield once(path, early), "a return is inside a loop, and ends it in its first round"
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        bound = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        computed = {n.targets[0].id: n.value.left for n in ast.walk(function) if _is_computed(n)}  # type: ignore[attr-defined]
        loads = [(p, n) for p, n in _walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        for path, node in loads:
            if node.id in computed:
                kind = "a value is used in one place as it was before the last thing was done to it"
                yield once(path, computed[node.id]), kind
        names = sorted(bound | {a.arg for a in function.args.args} - {"self", "ctx"})
        for a, b in itertools.permutations(names, 2):
            yield renamed({a: b}), "two variables are confused"
            if a < b:
                yield renamed({a: b, b: a}), "two variables are confused"
        for path, node in loads:
            if node.id in {*names, "self"}:
                for b in [*names, *["self"] * any(a.arg == "self" for a in function.args.args)]:
                    yield once(path, ast.Name(b, ast.Load())), "two variables are confused in one place"


def _other_attributes(tree: ast.Module) -> Iterator[tuple[tuple, ast.AST]]:
    """Each attribute of self that is read, under the name of another one."""
    names = sorted({n.attr for n in ast.walk(tree) if _of_self(n) and isinstance(n.ctx, ast.Store)})
    for path, node in _walk(tree):
        if _of_self(node) and isinstance(node.ctx, ast.Load) and node.attr in names:
            for name in names:
                yield path, ast.Attribute(node.value, name, ast.Load())


def _early_returns(tree: ast.Module) -> Iterator[tuple[tuple, ast.AST]]:
    """Each loop of a function with the function's last return at its end."""
    for path, node in _walk(tree):
        if isinstance(node, ast.FunctionDef) and isinstance(node.body[-1], ast.Return):
            for inner, loop in _walk(node):
                if isinstance(loop, (ast.For, ast.While)):
                    fields = {**dict(ast.iter_fields(loop)), "body": [*loop.body, node.body[-1]]}
                    yield (*path, *inner), type(loop)(**fields)


def _is_computed(node: ast.AST) -> bool:
    """`g = p.grad * factor`"""
    return (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.BinOp) and not isinstance(node.value.left, ast.Constant))  # fmt: skip


def _of_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _slips(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    one = ast.Constant(1)
    match node:
        case ast.Call(ast.Name("range"), [ast.expr() as end], []):
            ends: list[list[ast.expr]] = [
                [ast.BinOp(end, ast.Sub(), one)],
                [one, end],
                [ast.BinOp(end, ast.Add(), one)],
            ]
            for bounds in ends:
                yield ast.Call(ast.Name("range", ast.Load()), bounds, []), "a loop starts or ends one place off"
        case ast.Subscript(value, ast.Name() | ast.BinOp() as index, context):
            for op in (ast.Sub(), ast.Add()):
                yield ast.Subscript(value, ast.BinOp(index, op, one), context), "an index is off by one"
            yield ast.Subscript(value, ast.Constant(0), context), "the first entry is always taken"
        case ast.Subscript(value, ast.Tuple([ast.Call(ast.Attribute(_, "arange")), which]), context):
            yield (
                ast.Subscript(value, ast.Tuple([ast.Slice(), which]), context),
                "whole columns are chosen, not one entry of each row",
            )
        case ast.AugAssign(target, ast.Sub() | ast.Add() as op, value):
            turned = ast.Add() if isinstance(op, ast.Sub) else ast.Sub()
            yield (
                ast.AugAssign(target, turned, value),
                "something is added that should be subtracted, or the other way round",
            )
        case ast.Constant(int() | float() as number) if number in (0, 1) and not isinstance(number, bool):
            yield ast.Constant(1 - number), "a 0 and a 1 are exchanged"
        case ast.BinOp(left, ast.Mult() | ast.Div() as op, right):
            other = ast.Div() if isinstance(op, ast.Mult) else ast.Mult()
            yield ast.BinOp(left, other, right), "a multiplication and a division are exchanged"
            yield (
                ast.BinOp(right, ast.Div(), left),
                "a division is made that should be a multiplication, or the wrong way round",
            )
            yield ast.BinOp(ast.Constant(2), ast.Mult(), node), "there is a factor 2 too many"
            yield ast.BinOp(ast.Constant(0.5), ast.Mult(), node), "a factor 2 is missing"
            if isinstance(op, ast.Mult):
                yield ast.BinOp(left, ast.Add(), right), "something is added that should be multiplied"
        case ast.BinOp(left, ast.Add() as op, right):
            yield ast.BinOp(left, ast.Mult(), right), "something is multiplied that should be added"
        case ast.BinOp(_, ast.Sub(), right):
            yield ast.UnaryOp(ast.USub(), right), "one term is missing"
            match node:  # 1 - t * t, or 1 - t ** 2
                case ast.BinOp(ast.Constant(1), _, ast.BinOp(t, ast.Mult() | ast.Pow(), _)):
                    sigmoid = ast.BinOp(t, ast.Mult(), ast.BinOp(one, ast.Sub(), t))
                    yield sigmoid, "the derivative of sigmoid is used in place of that of tanh"
        case ast.BinOp(left, ast.Pow(), right):
            yield ast.BinOp(left, ast.Mult(), right), "a power is taken for a product"
        case ast.Attribute(value, "sum" | "mean" as name):
            yield ast.Attribute(value, "mean" if name == "sum" else "sum", ast.Load()), "a sum and a mean are exchanged"
        case ast.Attribute(value, name, ast.Load()) if name in OTHER:
            what = (
                "a value and a gradient"
                if name in ("data", "grad")
                else f"{min(name, OTHER[name])} and {max(name, OTHER[name])}"
            )
            yield ast.Attribute(value, OTHER[name], ast.Load()), f"{what} are exchanged"
        case ast.Call(ast.Name(name), arguments, []) if name in OTHER:
            what = f"{min(name, OTHER[name])} and {max(name, OTHER[name])} are exchanged"
            yield ast.Call(ast.Name(OTHER[name], ast.Load()), arguments, []), what
        case ast.keyword("max" | "min" as name, value):
            yield ast.keyword("min" if name == "max" else "max", value), "max and min are exchanged"
        case ast.Call(ast.Attribute(_, "sum" | "mean") as method, arguments, [_, *_]):
            yield ast.Call(method, arguments, []), "the axis of a sum, or of a mean, is missing"
        case ast.Call(ast.Attribute(ast.Name("np" | "math" | "torch"), name), [argument], []):
            yield argument, f"{name} is missing"
        case ast.If(_, body, []) if len(body) == 1 or not isinstance(body[-1], (ast.Return, ast.Continue, ast.Raise)):
            yield ast.If(ast.Constant(True), body, []), "a condition is missing"
        case ast.Continue():
            yield ast.Break(), "a loop ends where it should only skip something"
        case ast.Return(ast.expr() as value):
            yield ast.Return(ast.UnaryOp(ast.USub(), value)), "the sign of the result is reversed"


def _more_slips(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """What _slips has no room for: parts of lists, arguments, matrix products, a softmax."""
    one = ast.Constant(1)
    match node:
        case ast.Subscript(value, ast.Slice(lower, upper, None), context):
            yield value, "a slice is missing: the whole of a list is used"
            if (lower is None) != (upper is None):
                yield ast.Subscript(value, ast.Slice(upper, lower), context), "the other part of a list is taken"
            for op in (ast.Sub(), ast.Add()):
                if lower is not None:
                    yield (
                        ast.Subscript(value, ast.Slice(ast.BinOp(lower, op, one), upper), context),
                        "a slice begins one place off",
                    )
                if upper is not None:
                    yield (
                        ast.Subscript(value, ast.Slice(lower, ast.BinOp(upper, op, one)), context),
                        "a slice ends one place off",
                    )
        case ast.BinOp(left, ast.MatMult(), right):
            yield ast.BinOp(left, ast.Mult(), right), "entries are multiplied one by one where a matrix product belongs"
        case ast.BinOp(ast.Call(ast.Name("sum") as total, [ast.GeneratorExp(part, loops)]), ast.Pow(), power):
            each = ast.GeneratorExp(ast.BinOp(part, ast.Pow(), power), loops)
            yield ast.Call(total, [each], []), "a root, or a power, is taken of each part and not of the sum"
        case ast.Compare(ast.BinOp(_, ast.Mod(), every) as left, [ast.Eq()], [ast.Constant(0)]):
            yield ast.Compare(left, [ast.Eq()], [ast.BinOp(every, ast.Sub(), one)]), "what is kept is one place off"
        case ast.Constant(bool() as value):
            yield ast.Constant(not value), "True and False are exchanged"
        case ast.Constant(int() as number) if number > 1:
            for other in (number - 1, number + 1):
                yield ast.Constant(other), "a constant is off by one"
        case ast.Call(function, arguments, keywords):
            for i in range(len(arguments) - 1):
                swapped = [*arguments[:i], arguments[i + 1], arguments[i], *arguments[i + 2 :]]
                yield ast.Call(function, swapped, keywords), "two arguments of a call are exchanged"
            for keyword in keywords:
                rest = [k for k in keywords if k is not keyword]
                yield ast.Call(function, arguments, rest), f"{keyword.arg} is left out of a call"
            match function:
                case ast.Attribute(value, "transpose" | "swapaxes" | "permute"):
                    yield value, "a transpose is missing"
                case ast.Attribute(value, "softmax"):
                    scores = (
                        arguments[0]
                        if isinstance(value, ast.Name) and value.id in ("torch", "F") and arguments
                        else value
                    )
                    for name in ("exp", "sigmoid"):
                        yield (
                            ast.Call(ast.Attribute(scores, name, ast.Load()), [], []),
                            f"{name} stands where softmax belongs",
                        )


def _rearranged(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """A block of statements with two lines exchanged, one left out, or one on the wrong side of the end of a loop."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or isinstance(node, (ast.Module, ast.ClassDef)):
        return

    def with_body(block: ast.AST, statements: list) -> ast.AST:
        return type(block)(**{**dict(ast.iter_fields(block)), "body": statements or [ast.Pass()]})

    for i, statement in enumerate(body):
        if i + 1 < len(body) and not isinstance(body[i + 1], ast.Return):
            yield (
                with_body(node, [*body[:i], body[i + 1], statement, *body[i + 2 :]]),
                "two lines are in the wrong order",
            )
        if isinstance(statement, ast.Assign) and not isinstance(statement.targets[0], ast.Name):
            yield with_body(node, [*body[:i], *body[i + 1 :]]), "something is computed and not stored"
        if isinstance(statement, (ast.For, ast.While)):
            *first, last = statement.body
            out = [*body[:i], with_body(statement, first), last, *body[i + 1 :]]
            yield with_body(node, out), "a line comes after a loop that belongs inside it"
            if i + 1 < len(body) and not isinstance(body[i + 1], ast.Return):
                within = [*body[:i], with_body(statement, [*statement.body, body[i + 1]]), *body[i + 2 :]]
                yield with_body(node, within), "a line is inside a loop that belongs after it"


def _upstream(tree: ast.AST) -> set[str]:
    """The arguments of functions and methods, not of functions inside them, that hold an upstream gradient."""
    tops = [
        n
        for c in ast.walk(tree)
        if isinstance(c, (ast.Module, ast.ClassDef))
        for n in c.body
        if isinstance(n, ast.FunctionDef)
    ]
    return {a.arg for function in tops for a in function.args.args} & UPSTREAM


class _Started(ast.NodeTransformer):
    """0.0 becomes 1.0 everywhere."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if type(node.value) is float and node.value == 0:
            node.value = 1.0
        return node


class _Renamed(ast.NodeTransformer):
    """Other names wherever a variable is read, or a method called."""

    def __init__(self, names: dict[str, str], methods: dict[str, str] | None = None):
        self.names, self.methods = names, methods or {}

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self.methods.get(node.attr, node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if isinstance(node.ctx, ast.Load):
            node.id = self.names.get(node.id, node.id)
        return node


def _breaks(node: ast.AST, upstream: set[str]) -> Iterator[tuple[ast.AST, str]]:
    match node:
        case ast.Call(ast.Name("Value") as made, [data, ast.Tuple([_, *_]), *rest], []):
            yield (
                ast.Call(made, [data, ast.Tuple([], ast.Load()), *rest], []),
                "a result does not remember what it was made from",
            )
        case ast.FunctionDef(
            name, ast.arguments(args=[ast.arg(this), _]), [ast.Return(ast.BinOp(left, op, right))]
        ) if name[:2] == "__":
            number = ast.BinOp(_number_of(left), op, _number_of(right))
            plain = ast.Call(ast.Call(ast.Name("type", ast.Load()), [ast.Name(this, ast.Load())], []), [number], [])
            yield (
                type(node)(**{**dict(ast.iter_fields(node)), "body": [ast.Return(plain)]}),
                f"{name} makes a number without a past",
            )
        case ast.Call(ast.Name("list"), [ast.Name() as given], []):
            yield given, "a list of the caller's is changed"
        case ast.For(
            ast.Tuple([ast.Name(i), ast.Name(item)]), ast.Call(ast.Name("enumerate"), [ast.Name() as items], [])
        ):
            yield (
                _Identity(i, item, items).visit(copy.deepcopy(node)),
                "entries are compared by identity, not by their place",
            )
        case ast.AugAssign(target, _, value):
            yield ast.Assign([target], value), "something is overwritten that should be added to"
            yield ast.Pass(), "one update is missing"
        case ast.BinOp(left, ast.Mult(), right):
            yield left, "one factor is missing"
            yield right, "one factor is missing"
        case ast.BinOp(left, ast.Sub() | ast.Add() as op, right):
            yield (
                ast.BinOp(left, ast.Add() if isinstance(op, ast.Sub) else ast.Sub(), right),
                "a plus and a minus are exchanged",
            )
            yield left, "one term is missing"
            yield right, "one term is missing"
            if isinstance(op, ast.Sub):
                yield ast.BinOp(right, op, left), "one difference is taken the wrong way round"
        case ast.BinOp(left, op, right):
            yield ast.BinOp(right, op, left), "two operands are exchanged"
            yield left, "one operation is missing"
        case ast.UnaryOp(ast.USub(), operand) if not isinstance(operand, ast.Constant):
            yield operand, "a minus sign is missing"
        case ast.Compare(left, [op], right):
            yield ast.Compare(left, [TURNED[type(op)]()], right), "a comparison is turned round"
        case ast.BoolOp(_, [left, right]):
            yield left, "a condition is missing"
            yield right, "a condition is missing"
        case ast.Attribute(value, "T"):
            yield value, "a transpose is missing"
        case ast.Attribute(_, "grad", ast.Load()):
            yield ast.Constant(1.0), "a gradient is left out in one place"
        case ast.Name(name, ast.Load()) if name in upstream:
            yield ast.Constant(1.0), f"{name} is left out in one place"
        case ast.Expr(ast.Call()):
            yield ast.Pass(), "one statement is missing"
        case ast.Call(ast.Attribute(value, "pop"), [], []):
            yield (
                ast.Call(ast.Attribute(value, "pop", ast.Load()), [ast.Constant(0)], []),
                "a list is used from the wrong end",
            )
        case ast.Call(ast.Attribute(value, "pop"), [_], []):
            yield ast.Call(ast.Attribute(value, "pop", ast.Load()), [], []), "a list is used from the wrong end"
        # f(x) -> x: reversed, cos, abs, ...
        case ast.Call(ast.Name(), [argument], []) if not isinstance(argument, ast.Starred):
            yield argument, "a function is not applied in one place"
        case ast.Call(ast.Attribute(value), [], []) if not isinstance(value, ast.Name) or value.id not in (
            "torch",
            "np",
            "math",
        ):
            yield value, "a method is not called in one place"  # x.relu() -> x
        case ast.Subscript(value, ast.Slice(None, None, ast.UnaryOp())):  # x[::-1] -> x
            yield value, "an order is not reversed"
        case ast.Return(ast.Tuple([first, second])):
            yield ast.Return(ast.Tuple([second, first], ast.Load())), "two results are exchanged"
        case ast.Try(body=body) if len(body) == 1:
            yield body[0], "an exception is not caught"
        case ast.With(body=[body]):
            yield body, "a `with` block is missing"


def _number_of(node: ast.expr) -> ast.expr:
    """The plain number behind an operand: `x.data` where it has one."""
    if isinstance(node, ast.Constant):
        return node
    return ast.Call(ast.Name("getattr", ast.Load()), [node, ast.Constant("data"), node], [])


class _Identity(ast.NodeTransformer):
    """In a loop over enumerate(items), `i == k` becomes `item is items[k]`."""

    def __init__(self, i: str, item: str, items: ast.Name):
        self.i, self.item, self.items = i, item, items

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        match node:
            case ast.Compare(ast.Name(name), [ast.Eq()], [place]) if name == self.i:
                entry = ast.Subscript(self.items, place, ast.Load())
                return ast.Compare(ast.Name(self.item, ast.Load()), [ast.Is()], [entry])
        return node


def _walk(node: ast.AST, path: tuple = ()) -> Iterator[tuple[tuple, ast.AST]]:
    yield path, node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for i, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                yield from _walk(child, (*path, (name, i)))


def _replaced(tree: ast.AST, path: tuple, new: ast.AST) -> ast.AST:
    """The tree with `new` at the end of `path`. Only what lies on the path is copied: a solution has hundreds of mutants."""
    if not path:
        # ast.unparse needs a line number, and puts parentheses around a node that occurs twice
        return ast.fix_missing_locations(copy.deepcopy(new))
    (name, i), rest = path[0], path[1:]
    above, old = copy.copy(tree), getattr(tree, name)
    if i is None:
        setattr(above, name, _replaced(old, rest, new))
    else:
        setattr(above, name, [*old[:i], _replaced(old[i], rest, new), *old[i + 1 :]])
    return above


class _Text:
    """The source of a tree. Subtrees shared with the original program are not unparsed again, because usually one method differs."""

    def __init__(self, tree: ast.Module):
        self._known: dict[int, str] = {}
        for node in tree.body:
            for part in node.body if isinstance(node, ast.ClassDef) else [node]:
                self._known[id(part)] = ast.unparse(part)

    def __call__(self, node: ast.AST) -> str:
        if id(node) in self._known:
            return self._known[id(node)]
        if isinstance(node, ast.Module):
            return "\n".join(map(self, node.body))
        if isinstance(node, ast.ClassDef):
            head = copy.copy(node)
            head.body = []
            return ast.unparse(head) + indent("\n" + "\n".join(map(self, node.body)), "    ")
        return ast.unparse(node)


def _short(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())[:70]
