"""Words for mistakes that no exercise's bank knows: what the numbers themselves say about a wrong answer.

What lives here: `symptom`, which finds a lost sign, factor or upstream gradient, a transposed or reordered result and the like, and the
sentences for exceptions. What does not: the mistakes of particular exercises (exercises/chNN.py). No sentence contains the expected value.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from .bank import wanted
from .comparing import has_nan, pairs, place, structure
from .drivers import call, call_arrays, function, rule_on_points
from .exercise import Exercise, Probe
from .plain import shape_of

UPSTREAM = ("g", "v", "grad", "upstream", "grad_output")  # names of the gradient that a backward rule receives
SIGN = "Every sign is reversed. Which way does the result move when the input grows?"
UNKNOWN = "I don't recognise this one. Here is a first hint: "


def symptom(ex: Exercise, outcomes: Mapping[str, dict], wrong: list[str], inputs: Mapping[str, tuple]) -> tuple[str, str]:
    """(hint, name) for an answer with these wrong probes; the name is "" when only the exercise's own first hint is left."""
    hint, name = _violent(ex, list(outcomes.values()))
    if not hint:
        cases = [
            _Case(p, inputs.get(p.name, p.args), outcomes[p.name]["got"], wanted(ex, p, inputs.get(p.name, p.args)))
            for p in ex.probes
            if p.name in wrong and p.accept is None and not p.raises and p.name in outcomes and not outcomes[p.name]["error"]
        ]
        name, hint = (_value(cases) if ex.is_value else _code(ex, cases)) if cases else ("", "")
    if not hint and any(o["mutated"] for o in outcomes.values()):
        return "The answer changes its inputs. Work on a copy, or make new values instead.", "changes its inputs"
    return (hint, name) if hint else (UNKNOWN + ex.hints.nudge, "")


def _violent(ex: Exercise, outcomes: list[dict]) -> tuple[str, str]:
    """What went wrong before there was anything to compare."""
    errors = [o["error"] for o in outcomes if o["error"]]
    types = [e["type"] for e in errors]
    got = [o["got"] for o in outcomes if not o["error"] and not o["late"]]
    if any(o.get("idle") for o in outcomes):
        return (
            "This machine is busy: run the check again. If it stops again, your answer waits for something, such as a sleep or an input.",
            "waited",
        )
    if any(o["late"] for o in outcomes):
        return "The answer did not come back: is there a loop that never ends, or work that doubles with every step?", "never ends"
    if any(o["raised_limit"] for o in outcomes):
        return "Please leave sys.setrecursionlimit alone: the exercise can be solved within it.", "raises the recursion limit"
    if "Borrowed" in types:
        return f"Write {ex.entry} yourself: the next chapters build on what you find out here.", "imported"
    if "RecursionError" in types:
        return "A function calls itself without end, or too deeply. What stops it?", "recursion"
    if errors and len(errors) == len(outcomes):
        return f"Every probe ends in {types[0]}. Call {ex.entry} yourself in a cell to see where.", "raises"
    if not ex.is_value and got and all(g is None for g in got):
        return "Nothing came back: is a return missing?", "returns nothing"
    if any(has_nan(g) for g in got):
        return "A nan appeared: look for 0/0, inf - inf, or the log of a negative number.", "nan"
    return "", ""


class _Case:
    """One wrong probe: its inputs, what came back, and what should have."""

    def __init__(self, probe: Probe, args: tuple, got: Any, want: Any):
        self.probe, self.args, self.got, self.want = probe, args, got, want
        self.same_form = not structure(got, want) and got is not None
        found = list(pairs(got, want)) if self.same_form else []
        self.leaves = [(g, w) for _, g, w in found if _number(g) and _number(w)]
        self.off = [path for path, g, w in found if not _near(g, w)]
        self.numeric = bool(found) and len(self.leaves) == len(found)

    def ratio(self) -> float | None:
        """got / want, when that is one number, finite and not 1."""
        some = [(g, w) for g, w in self.leaves if g or w]
        if not self.numeric or not some or not all(w for _, w in some):
            return None
        k = some[0][0] / some[0][1]
        return k if k not in (0.0, 1.0) and math.isfinite(k) and all(_near(g, k * w) for g, w in some) else None


def _number(x: Any) -> bool:
    return type(x) in (int, float)


def _near(g: Any, w: Any, rtol: float = 1e-6) -> bool:
    if _number(g) and _number(w):
        return abs(g - w) <= rtol * max(abs(g), abs(w)) + 1e-12
    return type(g) is type(w) and g == w


# ---- answers that are values ------------------------------------------------------------------------------------------------------------


def _value(cases: list[_Case]) -> tuple[str, str]:
    """(name, hint) of a single value. No factor is told: it would give the answer away."""
    case = cases[0]
    got, want = case.got, case.want
    if got is None:
        return "not filled in", "Replace None by your answer. A guess is better than nothing: it costs no points."
    if isinstance(got, str) and (_number(want) or isinstance(want, (list, bool))):
        read = _literal(got)
        if isinstance(read, (int, float, list, tuple, bool)):
            return "given as text", "Write it without the quotation marks: with them it is a text."
        return "a word", "The answer is a number, or a list of numbers, without words and units."
    if isinstance(want, str):
        if not isinstance(got, str):
            return "no text", "The answer is a text: put it between quotation marks."
        if len(want) == 1 and len(got.strip()) != 1:
            return "no letter", "Answer with one of the letters alone, between quotation marks."
        if len(want) > 2 and sorted(got) == sorted(want):
            return (
                "another order",
                "Nothing is missing; two or more stand in the wrong order. What does each of them need before it can happen?",
            )
        return "", ""
    if _number(want):
        if isinstance(got, list) and len(list(_flat(got))) == 1:
            return "in brackets", "One number is asked: write it without brackets."
        if not _number(got):
            return "", ""
        if not got:
            return "zero", "Zero would mean that nothing changes. Move the input a little: does the result stay the same?"
        if not want:
            return "", ""
        if _near(got, -want):
            return "sign", "Only the sign is not right. Does the result grow or fall when the input grows?"
        if abs(got - want) <= max(min(0.06 * abs(want), 3.0), float(type(got) is type(want) is int)):
            return "close", "You are close, so the idea may be right. Check the arithmetic of each step, and round only at the end."
        for k in (2, 3, 4, 5, 6, 7, 8, 10, 16, 100, 1000):
            if _near(got * k, want):
                return (
                    "too small by a factor",
                    "A factor is missing. Write down every step, and check what each of them contributes.",
                )
            if _near(got, want * k):
                return "too large by a factor", "Something was multiplied in, or counted, once too often."
        return "", ""
    if isinstance(want, list):
        return _form(case) or _list(case)
    return "", ""


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _list(case: _Case) -> tuple[str, str]:
    if len(case.off) == 1:
        return "one entry", f"All entries are right but one: look at {place(case.off[0], case.probe.parts)} again."
    return "", ""


# ---- answers that are code --------------------------------------------------------------------------------------------------------------


def _code(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
    rules: tuple[Callable[[Exercise, list[_Case]], tuple[str, str]], ...] = (
        lambda ex, cases: next((found for c in cases if (found := _form(c))[0]), ("", "")),
        _ratio,
        _argument,
        lambda ex, cases: _same_entry(cases),
    )
    return next((found for rule in rules if (found := rule(ex, cases))[0]), ("", ""))


def _form(case: _Case) -> tuple[str, str]:
    """The right numbers in another form: transposed, flattened, in another order, texts, one of several."""
    got, want = case.got, case.want
    if isinstance(got, dict) and isinstance(want, dict):
        found = (_form(_Case(case.probe, case.args, got[k], w)) for k, w in want.items() if k in got and isinstance(w, list))
        return next((f for f in found if f[0]), ("", ""))
    a, b = list(_flat(got)), list(_flat(want))
    if not isinstance(want, list):
        if isinstance(got, list) and _number(want) and any(_near(g, want) for g in a):
            return "a list", "One number is needed, not a list."
        return ("texts", "Write numbers, not texts.") if isinstance(got, str) and _number(want) else ("", "")
    if a and all(isinstance(g, str) for g in a) and all(_number(w) for w in b):
        return "given as text", "Write numbers, without quotation marks."
    if not isinstance(got, list):
        return ("one number", "One number came back; a list is needed, with one number for each entry.") if _number(got) else ("", "")
    sg, sw = shape_of(got), shape_of(want)
    if sg and sw and len(sw) == 2 and sg == sw[::-1] and all(_near(got[j][i], want[i][j]) for i in range(sw[0]) for j in range(sw[1])):
        if got != want:
            return "transposed", "The result is transposed: its rows should be its columns. Which index belongs to the output?"
    if case.same_form and not case.off:
        return "", ""
    if len(a) == len(b) and _same_numbers(a, b):
        if sg != sw:
            return "another form", "The numbers are right. They must come in the form that was asked for: compare the brackets."
        what = "Both parts are right" if len(want) == 2 else "The numbers are right"
        return "another order", f"{what} and stand in another order."
    if not case.same_form and a and b:
        if len(b) > len(a) and all(any(_near(g, w) for w in b) for g in a):
            return "something is missing", "Something is missing: an entry for every output, or for every input, is needed."
        if len(a) > len(b) and all(any(_near(g, w) for g in a) for w in b):
            return "too much", "The right numbers are there, together with others that were not asked for."
    return "", ""


def _flat(x: Any) -> Iterator[Any]:
    if isinstance(x, (list, dict)):
        yield from chain.from_iterable(map(_flat, x.values() if isinstance(x, dict) else x))
    else:
        yield x


def _same_numbers(a: list, b: list) -> bool:
    if not all(_number(x) and math.isfinite(x) for x in (*a, *b)):
        return False
    return all(_near(x, y) for x, y in zip(sorted(a), sorted(b), strict=True))


def _ratio(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
    """One factor everywhere."""
    ratios = [c.ratio() for c in cases]
    if all(k is not None and _near(k, -1.0) for k in ratios):
        return "sign", SIGN
    sizes = [{len(part) for part in _lists(c.args)} | {len(part) for part in _lists(c.want)} for c in cases]
    if all(k and len(n) for k, n in zip(ratios, sizes, strict=True)):
        if all(any(_near(k, m) for m in n if m > 1) for k, n in zip(ratios, sizes, strict=True)):  # type: ignore[arg-type]
            return "sum for mean", "Everything is n times too large, where n is the number of entries: a sum stands where a mean belongs."
        if all(any(_near(k * m, 1) for m in n if m > 1) for k, n in zip(ratios, sizes, strict=True)):  # type: ignore[operator]
            return "mean for sum", "Everything is divided by the number of entries: a mean stands where a sum belongs."
    first = ratios[0]
    if first is not None and all(k is not None and _near(k, first) for k in ratios):
        for k, words in ((2.0, "twice too large"), (0.5, "half of what it should be"), (-2.0, "twice too large, with the wrong sign")):
            if _near(first, k):
                return "factor 2", f"Everything is {words}: where does a factor 2 come in, or get lost?"
        return "a factor", f"Everything is wrong by the same factor, about {first:.3g}: which constant is missing, or there once too often?"
    return "", ""


def _lists(x: Any) -> Iterator[Any]:
    if isinstance(x, (list, tuple, dict)):
        if not isinstance(x, dict):
            yield x
        for item in x.values() if isinstance(x, dict) else x:
            yield from _lists(item)


def _argument(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
    """One of the inputs is missing as a factor, or there once too often."""
    numeric = [c for c in cases if c.numeric]
    if not numeric or len(numeric) < len(cases):
        return "", ""
    for i in range(len(numeric[0].args)):
        if any(i >= len(c.args) for c in numeric):
            continue
        name = _argument_name(ex, numeric[0], i)
        both = [(c, f) for c in numeric if (f := _as_factor(c.args[i], c)) is not None]
        if len(both) < len(numeric) or all(_near(x, 1.0) for _, f in both for x in f):
            continue
        if all(_near(g * x, w) for c, f in both for (g, w), x in zip(c.leaves, f, strict=True)):
            if name in UPSTREAM:
                return "upstream gradient ignored", f"That is the local derivative. Multiply it by {name}, the upstream gradient."
            return "a factor is missing", f"A factor is missing: {name}."
        if all(_near(g, w * x) for c, f in both for (g, w), x in zip(c.leaves, f, strict=True)):
            if name in UPSTREAM:
                return "upstream gradient twice", f"{name} is multiplied in twice: once is enough."
            return "a factor too many", f"A factor is there once too often: {name}."
    return "", ""


def _as_factor(x: Any, case: _Case) -> list[float] | None:
    """An input as one factor for each number of the result."""
    flat = [v for v in _flat(x)] if isinstance(x, (list, tuple)) else [x]
    if not all(_number(v) for v in flat):
        return None
    if len(flat) == 1:
        return [float(flat[0])] * len(case.leaves)
    return [float(v) for v in flat] if len(flat) == len(case.leaves) else None


def _argument_name(ex: Exercise, case: _Case, i: int) -> str:
    """What the learner's function calls the i-th input of a probe."""
    drivers: dict[Callable[..., Any], list[str]] = {rule_on_points: ["op", "g", "x"], function: ["x", "g"]}
    if case.probe.driver in (call, call_arrays):
        signature = re.search(rf"def {ex.entry}\(([^)]*)\)", ex.solution)
        names = [part.split("=")[0].strip() for part in signature.group(1).split(",")] if signature else []
    else:
        names = drivers.get(case.probe.driver, [])
    return names[i] if i < len(names) else "one of the inputs"


def _same_entry(cases: list[_Case]) -> tuple[str, str]:
    """Only one place is off, the same in every wrong probe."""
    if all(c.same_form and len(c.off) == 1 and isinstance(c.want, (list, dict)) for c in cases):
        where = {place(c.off[0], c.probe.parts) for c in cases}
        if len(where) == 1 and len(list(_flat(cases[0].want))) > 1:
            return "one entry", f"Everything else is right: look at {where.pop()} alone."
    return "", ""


# ---- exceptions --------------------------------------------------------------------------------------------------------------------------


def error_sentence(error: Mapping[str, Any]) -> str:
    """What was raised and where, for a person. A traceback is not shown: the cell itself gives one when it is run."""
    if error["type"] == "Borrowed":
        return str(error["message"])
    where = error.get("where")
    at = ""
    if where:
        at = f" in line {where['line']}" + (f", `{where['text']}`" if where["text"] else "")
    if error["type"] == "RecursionError":
        return f"RecursionError{at}: a function called itself too deeply"
    if error["type"] in ("SystemExit", "GeneratorExit"):
        return f"{error['type']}{at}: an answer must not end the program"
    message = str(error["message"])
    message = message.partition(" Hint: ")[0]  # the engine's advice is about the whole program, and long
    if "gufunc" in message:  # numpy's own words for a matrix product of the wrong shapes
        message = "these two shapes do not fit into a matrix product"
    return f"{error['type']}{at}" + (f": {message}" if message else "")
