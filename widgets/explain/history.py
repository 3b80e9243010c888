"""What the learner's code did to a name before the line at fault: as the engine recorded it, else as its source reads.

What lives here: the engine's note of where a tensor's history was cut; the statements of the cells so far (or of the function), the chain
of assignments behind a name with the place where its graph was probably cut, and the writes into a tensor. Nothing is run. A source is no
record: which of its lines ran, and on what, is a guess, and whoever shows it says so.
"""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from minigrad.core import provenance
from minigrad.tracing import naming

from .failure import Failure

CUTS = {
    "detach": "`.detach()` gives the numbers without the graph",
    "item": "`.item()` gives a plain Python number",
    "tolist": "`.tolist()` gives plain Python numbers",
    "numpy": "`.numpy()` leaves the graph, because numpy records nothing",
    "data": "`.data` gives the number or array without the graph",
    "argmax": "`argmax` gives whole numbers, which have no derivative",
    "argmin": "`argmin` gives whole numbers, which have no derivative",
    "round": "`round` is flat almost everywhere",
}
PLAIN = {"float": "`float(...)` gives a plain Python number", "int": "`int(...)` gives a plain Python number"}
MAKERS = (
    "tensor",
    "as_tensor",
    "zeros",
    "ones",
    "rand",
    "randn",
    "full",
    "arange",
    "linspace",
    "from_numpy",
    "empty",
    "eye",
)
OFF = ("no_grad", "inference_mode")


class CutReason(NamedTuple):
    """Why a graph ends: the sentence, and what kind of cut it is."""

    why: str
    kind: str = "numbers"  # "numbers": leaves the graph; "no_grad"; "frozen": a model's parameters; "constant": never had a graph


class Statement(NamedTuple):
    name: str
    code: str
    cut: CutReason | None  # None where the graph continues
    line: int


def recorded(thing: object) -> Statement | None:
    """Where the history of a tensor was cut off, as the engine noted it when it happened; None if there is no note."""
    cut: Any = getattr(thing, "cut", None)
    result = (
        naming.source_of(types.SimpleNamespace(_code=cut.code, _offset=cut.offset), None) if cut is not None else None
    )
    if cut is None or result is None:
        return None
    off = cut.how == "no_grad"
    reason = CutReason("recording was off when this line ran", "no_grad") if off else CutReason(CUTS["detach"])
    return Statement("", result["text"], reason, result["line"])


def made(thing: Any) -> Statement | None:
    """The line that a result was computed in, as the engine noted it; None if there is no note."""
    note = provenance.read(thing.edge[0]) if getattr(thing, "edge", None) else None
    result = (
        naming.source_of(types.SimpleNamespace(_code=note.code, _offset=note.offset), None)
        if note is not None
        else None
    )
    return Statement("", result["text"], None, result["line"]) if result else None


def statements(failure: Failure) -> list[ast.stmt]:
    """The simple statements that may have run before the line at fault, in the order of the source."""
    t = failure.here
    code = t.tb_frame.f_code
    lines = linecache.getlines(code.co_filename)
    current = _parse("".join(lines))
    if code.co_name != "<module>":
        for node in ast.walk(current) if current is not None else ():
            if (
                isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                and node.name == code.co_name
                and node.lineno <= t.tb_lineno <= (node.end_lineno or 0)
            ):
                return list(_simple(node.body, False))
        return []
    earlier = list(failure.shell.user_ns.get("In", [])) if failure.shell is not None else []
    if earlier and earlier[-1].strip() == "".join(lines).strip():  # the running cell is there already
        earlier.pop()
    trees = [tree for source in earlier if source and (tree := _parse(source)) is not None]
    results = [s for tree in trees for s in _simple(tree.body, False)]
    if current is not None:
        results += [s for s in _simple(current.body, False) if s.lineno <= t.tb_lineno]
    return results


def _parse(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def _simple(body: list[ast.stmt], off: bool) -> Iterator[ast.stmt]:
    """The simple statements of a block, also of nested ones. Those inside a no_grad block get the attribute `off`."""
    for s in body:
        inner_off = off
        if isinstance(s, (ast.With, ast.AsyncWith)) and any(_called(item.context_expr) in OFF for item in s.items):
            inner_off = True
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        nested = [getattr(s, part, []) for part in ("body", "orelse", "finalbody")]
        if any(nested):
            for part in nested:
                yield from _simple(part, inner_off)
        else:
            s.off = inner_off  # type: ignore[attr-defined]
            yield s


def _called(node: ast.expr) -> str:
    """ "detach" for x.detach() and for detach(x)."""
    if isinstance(node, ast.Call):
        f = node.func
        return f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else ""
    return ""


def _targets(s: ast.stmt) -> list[str]:
    results = (
        s.targets if isinstance(s, ast.Assign) else [s.target] if isinstance(s, (ast.AugAssign, ast.AnnAssign)) else []
    )
    return [n.id for t in results for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def cut_in(e: ast.AST | None, names: dict[str, Any]) -> str:
    """Why the result of an expression has no graph, as far as its text tells; "" otherwise. `h / h.sum().item()` still has one, by h."""
    if isinstance(e, ast.Call):
        name, method = _called(e), isinstance(e.func, ast.Attribute) and not _is_module(e.func.value, names)
        if (method and name in CUTS) or name in ("argmax", "argmin", "round"):
            return CUTS[name]
        if isinstance(e.func, ast.Name) and name in PLAIN and e.args:
            return PLAIN[name]
        if name in ("tensor", "as_tensor") and any(
            isinstance(n, ast.Name) and not _is_module(n, names) for a in e.args for n in ast.walk(a)
        ):
            return f"`{name}(...)` makes a new tensor from the numbers and leaves the graph behind"
        return _all_cut([e.func.value, *e.args] if method else e.args, names)  # type: ignore[attr-defined]
    if isinstance(e, ast.Attribute):
        return CUTS["data"] if e.attr == "data" else cut_in(e.value, names)
    if isinstance(e, ast.Compare):
        return "a comparison gives True or False, which have no derivative"
    if isinstance(e, (ast.UnaryOp, ast.Subscript, ast.Starred, ast.NamedExpr, ast.Await)):
        return cut_in(e.operand if isinstance(e, ast.UnaryOp) else e.value, names)
    parts = {
        ast.BinOp: ("left", "right"),
        ast.IfExp: ("body", "orelse"),
        ast.ListComp: ("elt",),
        ast.GeneratorExp: ("elt",),
    }.get(type(e), ())
    return _all_cut([getattr(e, part) for part in parts] or list(getattr(e, "elts", [])), names)


def _all_cut(parts: list[ast.expr], names: dict[str, Any]) -> str:
    reasons = [cut_in(part, names) for part in parts if not isinstance(part, ast.Constant)]
    return reasons[0] if reasons and all(reasons) else ""


def _is_module(node: ast.expr, names: dict[str, Any]) -> bool:
    return isinstance(node, ast.Name) and type(names.get(node.id)).__name__ in ("module", "_Package")


def chain(failure: Failure, start: ast.expr | None) -> list[Statement]:
    """The assignments behind an expression, oldest first, ending at it; with the place where the graph was cut, if the source shows it."""
    if start is None:
        return []
    if not isinstance(start, ast.Name):
        reason = _cut(start, failure)
        if reason is not None:
            return [Statement(ast.unparse(start), ast.unparse(start), reason, start.lineno)]
        chains = [chain(failure, n) for n in ast.walk(start) if isinstance(n, ast.Name)]
        return next((result for result in chains if any(s.cut for s in result)), [])
    return list(reversed(_behind(start.id, statements(failure), failure, set())))


def _behind(name: str, before: list[ast.stmt], failure: Failure, seen: set[str]) -> list[Statement]:
    """Newest first. Of several inputs the one whose chain shows a cut."""
    if name in seen or len(seen) > 12:
        return []
    seen.add(name)
    for i in range(len(before) - 1, -1, -1):
        s = before[i]
        value = getattr(s, "value", None)
        if name not in _targets(s) or value is None:
            continue
        code = ast.unparse(s)
        reason = (
            CutReason("recording was off, because the line is in a `no_grad` block", "no_grad")
            if getattr(s, "off", False)
            else _cut(value, failure)
        )
        if reason is None and _only_makes(value, failure.names):
            reason = CutReason("made without `requires_grad=True`", "constant")
        step = Statement(name, code, reason, s.lineno)
        if reason is not None:
            return [step]
        inputs = [n.id for n in ast.walk(value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        chains = [result for n in inputs if (result := _behind(n, before[:i], failure, seen))]
        return [
            step,
            *next(
                (c for c in chains if c[-1].cut and c[-1].cut.kind != "constant"),
                next((c for c in chains if c[-1].cut), []),
            ),
        ]
    return []


def _only_makes(value: ast.AST, names: dict[str, Any]) -> bool:
    """torch.ones(2) * 2: new tensors and constants, and nothing that could require gradients."""
    calls = [n for n in ast.walk(value) if isinstance(n, ast.Call)]
    inputs = [
        n
        for n in ast.walk(value)
        if isinstance(n, ast.Name) and not _is_module(n, names) and not callable(names.get(n.id))
    ]
    request = any(k.arg == "requires_grad" for c in calls for k in c.keywords) or any(
        _called(c) in ("requires_grad_", "Parameter") for c in calls
    )
    return (
        any(_called(c) in MAKERS for c in calls) and not request and not any(_is_graph(names.get(n.id)) for n in inputs)
    )


def _is_graph(thing: object) -> bool:
    return getattr(type(thing), "__module__", "").startswith("minigrad") and bool(getattr(thing, "requires_grad", True))


def _cut(value: ast.AST, failure: Failure) -> CutReason | None:
    """Where an expression loses its graph: in itself, in a function that it calls, or because a model is frozen."""
    why = cut_in(value, failure.names)
    return CutReason(why) if why else _inside_functions(value, failure) or _frozen(value, failure)


def _inside_functions(value: ast.AST, failure: Failure) -> CutReason | None:
    """A cut inside a function of the learner's that the expression calls."""
    import inspect
    import textwrap

    for node in ast.walk(value):
        function = (
            failure.names.get(node.func.id) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
        )
        if not isinstance(function, types.FunctionType):
            continue
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        except (OSError, SyntaxError, TypeError):
            continue
        definition = tree.body[0]
        if isinstance(definition, ast.FunctionDef):
            for decorator in definition.decorator_list:
                if (_called(decorator) or getattr(decorator, "attr", "")) in OFF:
                    why = f"`{function.__name__}` is decorated with no_grad, so nothing in it is recorded"
                    return CutReason(why, "no_grad")
            for s in ast.walk(definition):
                if isinstance(s, (ast.With,)) and any(_called(item.context_expr) in OFF for item in s.items):
                    return CutReason(f"`{function.__name__}` computes in a `no_grad` block", "no_grad")
                if (
                    isinstance(s, (ast.Assign, ast.Return, ast.AugAssign))
                    and s.value is not None
                    and (reason := cut_in(s.value, function.__globals__))
                ):
                    return CutReason(f"in `{function.__name__}`, {reason}")
    return None


def _frozen(value: ast.AST, failure: Failure) -> CutReason | None:
    """A model that is called here and whose parameters all require no gradient."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            parameters = getattr(failure.names.get(node.func.id), "parameters", None)
            if callable(parameters) and hasattr(failure.names[node.func.id], "_modules"):
                results = list(parameters())
                if results and not any(p.requires_grad for p in results):
                    return CutReason(
                        f"all parameters of `{node.func.id}` are frozen (requires_grad is False)", "frozen"
                    )
    return None


def writes(failure: Failure, name: str) -> list[Statement]:
    """The statements so far that write into the tensor called `name`, oldest first: not those into one that had the name before."""
    results: list[Statement] = []
    for s in statements(failure):
        value = getattr(s, "value", None)
        if isinstance(s, (ast.Assign, ast.AnnAssign)) and name in _targets(s):
            results.clear()
        if isinstance(s, ast.AugAssign) and ast.unparse(s.target).split("[")[0] == name:
            results.append(Statement(name, ast.unparse(s), None, s.lineno))
        elif isinstance(s, ast.Assign) and any(
            isinstance(t, ast.Subscript) and ast.unparse(t.value) == name for t in s.targets
        ):
            results.append(Statement(name, ast.unparse(s), None, s.lineno))
        elif (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr.endswith("_")
            and value.func.attr[:1] != "_"
        ):
            if ast.unparse(value.func.value).split("[")[0] == name and value.func.attr not in (
                "requires_grad_",
                "retain_grad_",
            ):
                results.append(Statement(name, ast.unparse(s), None, s.lineno))
    return results


def reassigned(failure: Failure, name: str, thing: object) -> tuple[Statement | None, bool]:
    """The last assignment `name = ... name ...`, in which a leaf became a result; and whether the engine recorded that it made `thing`."""
    note = made(thing)
    for s in reversed(statements(failure)):
        if not isinstance(s, ast.Assign) or name not in _targets(s):
            continue
        if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(s.value)):
            return Statement(name, ast.unparse(s), None, s.lineno), note is not None and note.line == s.lineno
    return None, False
