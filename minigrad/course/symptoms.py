"""Words for mistakes that no exercise's bank knows: what the numbers themselves say about a wrong answer.

What lives here: `symptom`, which finds a lost sign, factor or upstream gradient, a transposed or reordered result and the like, and the
slips in a program or in an answer's working. What does not: words for exceptions (raised.py), the mistakes of particular exercises
(exercises/chNN.py). No sentence contains the expected value, but for one of a program that is not recognised, on the published inputs.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain, product
from typing import Any

from .bank import STUB, Frozen, alike, outcome_of, safely, wanted
from .comparing import has_nan, pairs, place, structure
from .drivers import DRAWN, call, call_arrays, call_by_hand, custom
from .exercise import Exercise, Kind, Limits, Probe
from .exercises import exercises
from .guard import run
from .mutants import UPSTREAM, confusions, mutants
from .plain import MISSING, is_odd, shape_of
from .raised import raised

SIGN = "Every sign is reversed. Which way does the result move when the input grows?"
MEASURE = "Measure before you repair: which two numbers, or shapes, should be equal?"
UNKNOWN = "I don't recognise this one. Here is a first hint: "


def symptom(
    ex: Exercise, outcomes: Mapping[str, dict], wrong: list[str], inputs: Mapping[str, tuple]
) -> tuple[str, str]:
    """(hint, name) for an answer with these wrong probes; the name is "" when only the exercise's own first hint is left."""
    hint, name = _violent(ex, list(outcomes.values()), outcomes[wrong[0]] if wrong else {})
    if not hint:
        cases = [
            _Case(p, inputs.get(p.name, p.args), outcomes[p.name]["got"], wanted(ex, p, inputs.get(p.name, p.args)))
            for p in ex.probes
            if p.name in wrong and not p.raises and p.name in outcomes and not outcomes[p.name]["error"]
        ]
        compared = [c for c in cases if c.probe.accept is None] or [c for c in cases if c.same_form]
        name, hint = (_value(ex, compared) if ex.is_value else _code(ex, compared)) if compared else ("", "")
        if not hint and not ex.is_value:
            broken = _untouched(ex, outcomes, inputs) or _mutant(ex, outcomes, wrong, inputs)
            name, hint = broken or _manner(ex, compared, outcomes, wrong, inputs)
    if not hint and any(o["mutated"] for o in outcomes.values()):
        return "The answer changes its inputs. Work on a copy, or make new values instead.", "changes its inputs"
    return (hint, name) if hint else (_shown(ex, outcomes, wrong, inputs) + UNKNOWN + ex.hints.nudge, "")


def _written(x: Any) -> str:
    """Plain data with its numbers to six digits."""
    if is_odd(x):
        return str(x["!"])
    if isinstance(x, dict):
        return ", ".join(f"{key}: {_written(value)}" for key, value in x.items())
    if isinstance(x, list):
        return f"[{', '.join(map(_written, x))}]"
    return f"{x:.6g}" if type(x) is float else str(x)


def _shown(ex: Exercise, outcomes: Mapping[str, dict], wrong: list[str], inputs: Mapping[str, tuple]) -> str:
    """The smallest wrong probe of a program: its result and the expected one. "" if either is long, and for inputs that were drawn for a
    student."""
    if inputs or ex.is_value or _repairs(ex):
        return ""
    lines = []
    for p in ex.probes:
        if (
            p.name in wrong
            and p.accept is None
            and not p.raises
            and p.name in outcomes
            and not outcomes[p.name]["error"]
        ):
            args = inputs.get(p.name, p.args)
            got, want = _written(outcomes[p.name]["got"]), _written(wanted(ex, p, args))
            if len(got) + len(want) <= 90:
                lines.append(f"In “{p.name}” {got} came back, and {want} is wanted. ")
    return min(lines, key=len, default="")


def _violent(ex: Exercise, outcomes: list[dict], first: dict) -> tuple[str, str]:
    """What went wrong before there was anything to compare. first: the outcome that is reported first."""
    errors = [o["error"] for o in outcomes if o["error"]]
    types = [e["type"] for e in errors]
    got = [o["got"] for o in outcomes if not o["error"] and not o["late"]]
    if any(o.get("idle") for o in outcomes):
        return (
            "This machine is busy: run the check again. If it stops again, your answer waits for something, such as a sleep or an input.",
            "waited",
        )
    if first.get("late"):
        work = (
            "work that doubles with every step, a matrix far larger than the result (np.eye of a whole vocabulary), or a search through a "
            "long list in each step (x in a list; a set knows at once)"
        )
        return f"The answer did not come back in time: is there a loop that never ends, {work}?", "never ends"
    if any(o["raised_limit"] for o in outcomes):
        return (
            "Please leave sys.setrecursionlimit alone: the exercise can be solved within it.",
            "raises the recursion limit",
        )
    if "Borrowed" in types:
        return f"Write {ex.entry} yourself: the next chapters build on what you find out here.", "imported"
    if "ByHand" in types:
        return (
            f"Work out the formula and write it down: while {ex.entry} is judged, nothing differentiates for you.",
            "not by hand",
        )
    if (first.get("error") or {}).get("type") == "RecursionError":
        return "A function calls itself without end, or too deeply. What stops it?", "recursion"
    if errors and (len(errors) == len(outcomes) or (outcomes[0]["error"] and all(g is None for g in got))):
        return raised(ex, errors[0])
    if not ex.is_value and got and all(g is None for g in got):
        return "Nothing came back: is a return missing?", "returns nothing"
    if any(isinstance(g, dict) and "complex" in str(g.get("!")) for part in got for g in _nested(part)):
        return (
            "A complex number came out: a root, or a power with a fraction, was taken of a negative number.",
            "complex",
        )
    if any(has_nan(g) for g in got):
        where = "0/0, inf - inf, the log of a negative number, or steps so large that the numbers grew without end"
        return f"A nan appeared: look for {where}.", "nan"
    return "", ""


def _odd(what: str) -> tuple[str, str]:
    """(hint, name) for something that came back and is no plain data."""
    if "call it" in what:
        return "A function came back in place of its result: are the parentheses of a call missing?", "not called"
    if "the class" in what:
        return "The class came back, not an object of it: are the parentheses missing?", "not called"
    if " must " in what:  # a sentence of the exercise's own
        return f"{what[:1].upper()}{what[1:]}.", "another object"
    return (
        f"There is {what} where something simple belongs. A value of an engine holds its number in .data and its gradient in .grad.",
        "not numbers",
    )


def _untouched(ex: Exercise, outcomes: Mapping[str, dict], inputs: Mapping[str, tuple]) -> tuple[str, str] | None:
    """The answer does in every probe what the stub does."""

    def same(p: Probe) -> bool:
        return alike(outcomes[p.name], outcome_of(ex, STUB, p, inputs.get(p.name, p.args)), 1e-9)

    if all(p.name in outcomes for p in ex.probes) and all(map(same, ex.probes)):
        if _repairs(ex):
            return (
                "repairs nothing",
                f"Every number is still that of the given program: what you changed is not the fault. {MEASURE}",
            )
        return "like the stub", "It does exactly what the stub did: is what you added ever reached, and in time?"
    if not _repairs(ex):
        return None
    for p in (p for p in ex.probes if p.accept is None and p.name in outcomes and not outcomes[p.name]["error"]):
        args = inputs.get(p.name, p.args)
        got, stub, want = outcomes[p.name]["got"], outcome_of(ex, STUB, p, args)["got"], wanted(ex, p, args)
        if got is None or structure(got, want) or structure(stub, want):
            continue
        numbers = zip(pairs(got, want), pairs(stub, want), strict=True)
        if any(_near(g, of_stub) and not _near(g, w) for (_, g, w), (_, of_stub, _) in numbers):
            return (
                "the fault is still there",
                "Some numbers are still those of the given program, and wrong: the fault is there, "
                f"and something else was changed. {MEASURE}",
            )
    return None


def _repairs(ex: Exercise) -> bool:
    """Whether a program is given that has a fault, and the question is which one, or its repair."""
    return ex.kind is Kind.DEBUG or ex.chapter == "15" and ex.graded


class _Case:
    """One wrong probe: its inputs, its result, and the expected result."""

    def __init__(self, probe: Probe, args: tuple, got: Any, want: Any, inside: tuple = ()):
        self.probe, self.args, self.got, self.want = probe, args, got, want
        self.inside = inside  # the keys that lead from the whole result to this part of it
        self.same_form = not structure(got, want) and got is not None
        results = list(pairs(got, want)) if self.same_form else []
        self.leaves = [(g, w) for _, g, w in results if _number(g) and _number(w)]
        self.off = [path for path, g, w in results if not _near(g, w)]
        self.numeric = bool(results) and len(self.leaves) == len(results)

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


def _value(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
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
        return _text(ex, got, want, case.probe.name)
    if _number(want):
        if isinstance(got, list) and len(set(map(repr, _flat(got)))) == 1:
            return "in brackets", "One number is asked: write it once, without brackets."
        return _single(ex, case) if _number(got) else ("", "")
    if isinstance(want, list):
        results = (_form(ex, case), _list(case), _parts([case]) or ("", ""), _multiple(case))
        return next((f for f in results if f[0]), ("", "") if case.same_form else _other_form(case))
    return "", ""


def _words(ex: Exercise) -> Iterator[Any]:
    """Every word that is right, or a known mistake, somewhere in an answer that is a dict."""
    yield from (wanted(ex, p, p.args) for p in ex.probes)
    yield from (word for wrong in ex.bank for word in wrong.answer.values())


def choices_of(ex: Exercise) -> list[str]:
    """The words among which a question lets one choose: those that its comment quotes; [] if it quotes none."""
    return list(dict.fromkeys([*re.findall(r'"([^"\n]{1,30})"', _request(ex)), *ex.choices]))


def _request(ex: Exercise) -> str:
    """What the comment above a prediction says."""
    return ex.stub.partition("check.predict(")[0].partition("{")[0]


def _text(ex: Exercise, got: Any, want: str, name: str) -> tuple[str, str]:
    choices = choices_of(ex)
    among = want.lower() in (c.lower() for c in choices)
    if not isinstance(got, str):
        return "no text", "The answer is a text: put it between quotation marks."
    if len(want) == 1 and len(got.strip()) != 1:
        return "no letter", "Answer with one of the letters alone, between quotation marks."
    if among and got.strip().lower() not in (c.lower() for c in choices):
        return "none of the choices", f"Choose one of these: {', '.join(choices)}."
    others = [str(wanted(ex, p, p.args)).lower() for p in ex.probes if ex.by_entry and p.name != name]
    if _repairs(ex) and ex.by_entry:
        if got.strip().lower() in others and got.strip().lower() not in map(str.lower, choices):
            return (
                "another entry's answer",
                f"“{got}” is right, but for another entry. Read the question's order once more.",
            )
        if len(want) == 1:
            return (
                "another line",
                f"Line {got} does what it should. Measure before it and after it: from which line on is something wrong?",
            )
        vocabulary = {str(k).lower() for e in exercises.chapter(ex.chapter).values() if e.by_entry for k in _words(e)}
        if got.strip().lower() not in vocabulary:
            return "none of the words", "That is none of the words in the list of causes: copy one from there."
        return (
            "another cause",
            f"“{got}” would show in another way. Which measurement would find it, and what does that say here?",
        )
    if ex.by_entry and among and got.strip().lower() in others:
        return "another entry's answer", f"“{got}” belongs to another entry. What distinguishes the two?"
    if ex.by_entry and among:
        return (
            "another choice",
            f"“{got}” is one of the choices, but not for this entry. What would the entry look like if it were?",
        )
    if (
        ex.by_entry
        and len(want) == 1
        and (meant := re.search(rf"(?:^|\s){re.escape(got.strip())}  +(.+?)(?:\s\s|$)", _request(ex), re.M))
    ):
        return (
            "another choice",
            f"{got.strip()} says “{meant[1].strip()}”. What would you see if that were so, and is it there?",
        )
    if len(want) > 2 and got != want and sorted(got) == sorted(want):
        return (
            "another order",
            "Nothing is missing; two or more are in the wrong order. What does each of them need before it can happen?",
        )
    return "", ""


SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 16, 25, 100, 1000)


def _single(ex: Exercise, case: _Case) -> tuple[str, str]:
    """(name, hint) of a number where another one is right."""
    got, want = case.got, case.want
    if re.search(r"\brow$|\bline$|\bstep$", case.probe.name):  # a place, not a quantity: its size says nothing
        return (
            "another place",
            "It is not that one. Start at the top: which is the first that does not follow from those above it?",
        )
    counts = re.search(r"\b(how many|how often|number of)\b", ex.question + ex.stub, re.I)
    if not got and want:
        if counts:
            return "zero", "None at all? Take one of them, and look whether it counts."
        return "zero", "Zero would mean that nothing changes. Move the input a little: does the result stay the same?"
    if want and _near(got, -want, 0.01):
        return "sign", "Only the sign is not right. Does the result grow or fall when the input grows?"
    others = (wanted(ex, p, p.args) for p in ex.probes if ex.by_entry and p.name != case.probe.name)
    if any(_number(o) and abs(o) != 1 and _near(got, o, 1e-3) for o in others):
        return "another entry's answer", "That number is right for another entry. What distinguishes the two?"
    if result := _derived(ex, case):
        return result, f"Your number is what comes out when {result}."
    if counts and type(got) is type(want) is int and abs(got - want) == 1:
        return "off by one", "You are off by one: where does the count begin, and is the last one part of it?"
    if want and abs(got - want) <= 0.1 * abs(want):
        return (
            "close",
            "You are close, so the idea may be right. Check the arithmetic of each step, and round only at the end.",
        )
    if any(_near(got, float(n), 1e-9) for n in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?", ex.question + ex.stub)):
        return "a number of the question", "The question itself contains that number. What has to be done with it?"
    if want and any(_near(got, k * want, 5e-3) for k in SIZES):
        return "too large by a factor", "Something was multiplied in, or counted, once too often."
    if want and any(_near(got * k, want, 5e-3) for k in SIZES):
        return (
            "too small by a factor",
            "A factor is missing. Write down every step, and check what each of them contributes.",
        )
    if want and any(_near(got * q, want * p, 1e-4) for p in range(2, 8) for q in range(2, 6)):
        return (
            "a fraction",
            "Some of it is counted too often, or too seldom. List everything that contributes, and count again.",
        )
    if want and not 0.1 < abs(got / want) < 10:
        size = "large" if abs(got) > abs(want) else "small"
        return (
            f"far too {size}",
            f"That is more than ten times too {size}. Estimate it first, then see which step leads so far away.",
        )
    return "", ""


@cache
def _derivations(id: str) -> tuple[tuple[Any, str], ...]:
    """(what comes out, the kind of slip) for every slip in the working of an exercise that shows its working."""
    how, result = exercises[id].working, []
    for source, kind in (*((source, kind) for _, source, kind in mutants(how)), *confusions(how)) if how else ():
        namespace: dict[str, Any] = {}
        try:
            exec(source, namespace)
            result.append((namespace["working"](), kind))
        except Exception:  # many slips make no program
            continue
    return tuple(result)


def _derived(ex: Exercise, case: _Case) -> str:
    """The slip in the working that leads to this number, or ""."""
    if exercises.get(ex.id) is not ex:
        return ""
    tolerance = max(case.probe.rtol, 5e-4)
    for out, kind in _derivations(ex.id):
        value = out.get(case.probe.name) if isinstance(out, dict) else out
        if _number(value) and value and _near(case.got, value, tolerance) and not _near(value, case.want, tolerance):
            return kind
    return ""


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _list(case: _Case) -> tuple[str, str]:
    if len(case.off) == 1:
        return "one entry", f"All entries are right but one: look at {place(case.off[0], case.probe.parts)} again."
    return "", ""


def _multiple(case: _Case) -> tuple[str, str]:
    if case.ratio() is not None:
        return (
            "a factor",
            "The zeros are in the right places, and everything else is wrong by the same factor: which one?",
        )
    return "", ""


# ---- answers that are code --------------------------------------------------------------------------------------------------------------


def _code(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
    rules = (_forms, _returned_input, _argument, _ratio, _powers, _ignored)
    alike_asked = [c for c in cases if c.probe.driver is cases[0].probe.driver]
    tried = (
        rule(ex, some) for some in (cases, *([alike_asked] if len(alike_asked) < len(cases) else [])) for rule in rules
    )
    return next(
        (result for result in chain(tried, (_in_one_part(ex, alike_asked) for _ in "1")) if result[0]), ("", "")
    )


def _in_one_part(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
    """A sign, a factor, a form, when it is in one part of the result and all other parts are right."""
    keys = {path[:1] for c in cases for path in c.off}
    if not all(c.same_form and c.off and isinstance(c.want, (list, dict)) for c in cases) or len(keys) != 1:
        return "", ""
    (key,) = keys.pop()
    parts = cases[0].probe.parts
    where = place((key,), parts)
    if isinstance(key, int) and key >= len(parts):  # an entry of a list, which has no name
        if not isinstance(cases[0].want[key], list) or key > 2:
            return "", ""
        where = f"the {('first', 'second', 'third')[key]} of them"
    inner = [_Case(replace(c.probe, parts=()), c.args, c.got[key], c.want[key], (*c.inside, key)) for c in cases]
    for rule in (_forms, _returned_input, _argument, _ratio, _ignored):
        name, hint = rule(ex, inner)
        if name:
            return f"{where}: {name}", f"{where}: {hint[:1].lower()}{hint[1:]}"
    return _in_one_part(ex, inner)


def _forms(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
    """What `_form` says, when it says the same of every wrong probe, or of all that have another form: a small one looks like anything."""
    other = [c for c in cases if not c.same_form]
    results = [_form(ex, c) for c in (other if 2 * len(other) >= len(cases) else cases)]
    if results[0][0] and all(f[0] == results[0][0] for f in results):
        return results[0]
    if 2 * len(other) >= len(cases) and other:
        if results[0][0]:
            return results[0]
        in_part = (
            _form_of_a_part(ex, other[0])
            if isinstance(other[0].got, list) and isinstance(other[0].want, list)
            else ("", "")
        )
        return in_part if in_part[0] else _other_form(other[0])
    return "", ""


def _over_an_axis(case: _Case) -> tuple[str, str]:
    """A sum or a mean over one axis of a table is missing, or there once too often."""
    a, b = case.got, case.want
    shapes = shape_of(a), shape_of(b)
    if (
        None in shapes
        or 0 in chain(*shapes)  # type: ignore[arg-type]
        or sorted(map(len, shapes)) != [1, 2]  # type: ignore[arg-type]
        or not all(map(_number, chain(_flat(a), _flat(b))))
    ):
        return "", ""
    table, row = (a, b) if len(shapes[0]) == 2 else (b, a)  # type: ignore[arg-type]
    for lines in (list(zip(*table, strict=True)), table):
        for n, what in ((1, "added up"), (len(lines[0]), "averaged")):
            if len(lines) == len(row) and all(_near(sum(line) / n, x) for line, x in zip(lines, row, strict=True)):
                if table is a:
                    return (
                        "not summed",
                        "The entries are right, but there is one axis too many: over which one must they be added up?",
                    )
                return (
                    f"{what} over an axis",
                    f"The result is {what} over an axis, but every entry is needed by itself. Where was that?",
                )
    return "", ""


def _other_form(case: _Case) -> tuple[str, str]:
    if (result := _over_an_axis(case))[0]:
        return result
    if isinstance(case.got, list) and isinstance(case.want, list):
        return (
            "another shape",
            "The shape is not the one that is needed. What does each axis, or each entry, of the result stand for?",
        )
    return (
        "another kind of result",
        "Compare what you return with what is asked for: one number, a list, an array or a dict?",
    )


def _form(ex: Exercise, case: _Case) -> tuple[str, str]:
    """The right numbers in another form: transposed, flattened, in another order, texts, one of several."""
    got, want = case.got, case.want
    if odd := next((part["!"] for part in _nested(got) if is_odd(part)), ""):
        return _odd(odd)[::-1] if odd not in ("...", MISSING) else ("", "")
    if isinstance(got, dict):
        return _dict_form(ex, case)
    a, b = list(_flat(got)), list(_flat(want))
    if not isinstance(want, list):
        if isinstance(got, list) and _number(want):
            contained = any(_near(g, want) for g in a)
            return ("a list", "One number is needed, not a list.") if contained or len(a) == 1 else ("", "")
        return ("texts", "Write numbers, not texts.") if isinstance(got, str) and _number(want) else ("", "")
    if a and all(isinstance(g, str) for g in a) and all(_number(w) for w in b):
        return "given as text", "Write numbers, without quotation marks."
    if not isinstance(got, list):
        one = "one number", "One number came back; a list is needed, with one number for each entry."
        return one if _number(got) else ("", "")
    return _arrangement(case, a, b) or _form_of_a_part(ex, case)


def _arrangement(case: _Case, a: list, b: list) -> tuple[str, str] | None:
    """The right numbers in another arrangement; ("", "") if the form is right, None if it is something else. a, b: the numbers of both."""
    got, want = case.got, case.want
    shape, other = shape_of(got), shape_of(want)
    if (
        shape
        and other
        and len(other) == 2
        and shape == other[::-1]
        and all(_near(got[j][i], want[i][j]) for i in range(other[0]) for j in range(other[1]))
        and got != want
    ):
        return (
            "transposed",
            "The result is transposed: its rows should be its columns. Which index belongs to the output?",
        )
    if case.same_form and not case.off:
        return "", ""
    if (
        len(want) > 1
        and len(got) == len(want)
        and case.off != []
        and all(_alike(g, w) for g, w in zip(got, want[::-1], strict=True))
    ):
        two = len(want) == 2
        return (
            "another order",
            f"{'Both parts are right, but exchanged' if two else 'The entries are right, but in the opposite order'}.",
        )
    if len(a) == len(b) and _same_numbers(a, b):
        if not case.same_form:
            return (
                "another form",
                "The numbers are right. They must come in the form that was asked for: compare the brackets.",
            )
        return "another order", "The numbers are right, but some of them are in each other's places."
    if case.same_form or not a or not b:
        return None
    if len(b) > len(a) and all(any(_near(g, w) for w in b) for g in a):
        return "something is missing", "Something is missing: an entry for every output, or for every input, is needed."
    if len(a) > len(b) and all(any(_near(g, w) for g in a) for w in b):
        return "too much", "The right numbers are there, together with others that were not asked for."
    return None


def _dict_form(ex: Exercise, case: _Case) -> tuple[str, str]:
    got, want = case.got, case.want
    if _number(want):
        return "a dict", "A whole dict came back. One number is needed: which of its entries?"
    if isinstance(want, list):
        return "a dict", "A dict came back: return the results themselves, one after the other."
    if isinstance(want, dict) and any(key not in got for key in want):
        return "entries are missing", "Some entries are missing at the end: does every name get one, and keep it?"
    if isinstance(want, dict):
        inner = (_form(ex, _Case(case.probe, case.args, got[k], w)) for k, w in want.items() if isinstance(w, list))
        return next((f for f in inner if f[0]), ("", ""))
    return "", ""


def _form_of_a_part(ex: Exercise, case: _Case) -> tuple[str, str]:
    """One of several results has another form than it should have."""
    if not case.probe.parts or len(case.got) != len(case.want):
        return "", ""
    for part, got, want in zip(case.probe.parts, case.got, case.want, strict=False):
        if not (structure(got, want) if isinstance(want, (list, dict)) else isinstance(got, (list, dict))):
            continue
        if _number(got):
            return (
                f"{part} is one number",
                f"{part}: everything was added up to one number. Which axis alone has to be summed?",
            )
        for i, x in enumerate(case.args):
            if isinstance(x, (list, tuple)) and _alike(got, x):
                return (
                    f"{part} is an input",
                    f"{part}: that is {_argument_name(ex, case, i)} itself. What has to be done with it?",
                )
        case = _Case(case.probe, case.args, got, want)
        inner = next((f for f in (_over_an_axis(case), _form(ex, case)) if f[0]), ("", ""))
        name, hint = inner if inner[0] else ("another shape", "look at its shape first. Whose shape must it have?")
        return f"{part}: {name}", f"{part}: {hint}"
    return "", ""


def _alike(a: Any, b: Any) -> bool:
    """Whether two structures hold the same numbers in the same places."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_alike, a, b))
    return _near(a, b)


def _returned_input(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
    """The result is one of the inputs, in every wrong probe."""
    for i in range(min(len(c.args) for c in cases)):
        if all(_alike(c.got, c.args[i]) and not _number(c.got) for c in cases):
            name = _argument_name(ex, cases[0], i)
            return "an input comes back", f"What comes back is {name} itself. What has to be done with it?"
    return "", ""


def _flat(x: Any) -> Iterator[Any]:
    if isinstance(x, (list, dict)):
        yield from chain.from_iterable(map(_flat, x.values() if isinstance(x, dict) else x))
    else:
        yield x


def _nested(x: Any) -> Iterator[Any]:
    """Everything inside a structure, the structure included."""
    yield x
    for item in (x.values() if isinstance(x, dict) else x) if isinstance(x, (list, dict)) else ():
        yield from _nested(item)


def _same_numbers(a: list, b: list) -> bool:
    if not all(_number(x) and math.isfinite(x) for x in (*a, *b)) or len(set(b)) < NEEDED:
        return False
    return all(_near(x, y) for x, y in zip(sorted(a), sorted(b), strict=True))


NEEDED = 3  # independent wrong numbers that a general fingerprint must fit: one or two fit something by chance


def _evidence(cases: list[_Case]) -> int:
    """How many different pairs of a wrong number and the right one there are."""
    return len({(round(g, 9), round(w, 9)) for c in cases for g, w in c.leaves if math.isfinite(g) and not _near(g, w)})


def _ratio(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
    """One factor everywhere."""
    ratios = [c.ratio() for c in cases]
    if _evidence(cases) < NEEDED:
        return "", ""
    if all(k is not None and _near(k, -1.0) for k in ratios):
        return "sign", SIGN
    sizes = [_sizes(c) for c in cases]
    if all(k and n for k, n in zip(ratios, sizes, strict=True)):
        if all(any(_near(k, m) for m in n) for k, n in zip(ratios, sizes, strict=True)):  # type: ignore[arg-type]
            return (
                "sum for mean",
                "Everything is n times too large, where n is the number of entries: you took a sum in place of a mean.",
            )
        if all(any(_near(k * m, 1) for m in n) for k, n in zip(ratios, sizes, strict=True)):  # type: ignore[operator]
            return "mean for sum", "Everything is divided by the number of entries: you took a mean in place of a sum."
        if all(any(_near(k * k, m) or _near(k * k * m, 1) for m in n) for k, n in zip(ratios, sizes, strict=True)):  # type: ignore[operator]
            return (
                "root of n",
                "Everything is wrong by the root of the number of entries: where is a mean taken, and where a sum?",
            )
    first = ratios[0]
    if first is not None and all(k is not None and _near(k, first) for k in ratios):
        for k, words in (
            (2.0, "twice too large"),
            (0.5, "half of what it should be"),
            (-2.0, "twice too large, with the wrong sign"),
        ):
            if _near(first, k):
                return "factor 2", f"Everything is {words}: where does a factor 2 come in, or get lost?"
        return (
            "a factor",
            f"Everything is wrong by the same factor, about {first:.3g}: which constant is missing, or there once too often?",
        )
    return "", ""


def _sizes(case: _Case) -> set[int]:
    """The lengths of the lists that go in and come out, and their products: what a sum or a mean may be over."""
    lengths = {len(part) for x in (case.args, case.want) for part in _lists(x)} - {0, 1}
    return lengths | {a * b for a in lengths for b in lengths} if len(lengths) < 8 else lengths


def _lists(x: Any) -> Iterator[Any]:
    if isinstance(x, (list, tuple, dict)):
        if not isinstance(x, dict):
            yield x
        for item in x.values() if isinstance(x, dict) else x:
            yield from _lists(item)


def _argument(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
    """One of the inputs is missing as a factor, or there once too often."""
    numeric = [c for c in cases if c.numeric]
    if not numeric or len(numeric) < len(cases) or _evidence(cases) < NEEDED:
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
                return (
                    "upstream gradient ignored",
                    f"That is the local derivative. Multiply it by {name}, the upstream gradient.",
                )
            return "a factor is missing", f"A factor is missing: {name}."
        if all(_near(g, w * x) for c, f in both for (g, w), x in zip(c.leaves, f, strict=True)):
            if name in UPSTREAM:
                return "upstream gradient twice", f"{name} is multiplied in twice: once is enough."
            return "a factor too many", f"A factor is there once too often: {name}."
    return "", ""


def _ignored(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
    """What comes out is right for another number in the place of one argument: 0, 1, False or True."""
    if exercises.get(ex.id) is not ex or ex.limits.seconds > 5 or not all(c.same_form for c in cases):
        return "", ""
    for i in range(min(len(c.args) for c in cases)):
        if not all(isinstance(c.args[i], (int, float)) for c in cases):
            continue
        for instead in (False, True) if isinstance(cases[0].args[i], bool) else (0, 1):
            if all(c.args[i] != instead and _right_for(ex, c, i, instead) for c in cases):
                name = _argument_name(ex, cases[0], i)
                if name == UNNAMED:  # it is the driver's, and nothing in the learner's code
                    continue
                return (
                    "an argument is ignored",
                    f"That would be right if {name} were {instead}. Is {name} used wherever it matters?",
                )
    return "", ""


def _right_for(ex: Exercise, case: _Case, i: int, instead: float) -> bool:
    args = (*case.args[:i], type(case.args[i])(instead), *case.args[i + 1 :])
    other = _outcome_of_mutant(ex.id, ex.solution, case.probe.name, Frozen(args))
    if other is None or other["error"] or other["late"]:
        return False
    part = other["got"]
    for key in case.inside:
        try:
            part = part[key]
        except (IndexError, KeyError, TypeError):  # with this argument the result has another form
            return False
    return alike({**other, "got": case.got}, {**other, "got": part}, 1e-6)


def _as_factor(x: Any, case: _Case) -> list[float] | None:
    """An input as one factor for each number of the result."""
    flat = [v for v in _flat(x)] if isinstance(x, (list, tuple)) else [x]
    if not all(_number(v) for v in flat):
        return None
    if len(flat) == 1:
        return [float(flat[0])] * len(case.leaves)
    return [float(v) for v in flat] if len(flat) == len(case.leaves) else None


UNNAMED = "one of the inputs"


def _argument_name(ex: Exercise, case: _Case, i: int) -> str:
    """What the learner's function calls the i-th input of a probe."""
    drivers: dict[Callable[..., Any], list[str]] = {custom: ["x", "g"]}
    if case.probe.driver in (call, call_by_hand, call_arrays):
        signature = re.search(rf"def {ex.entry}\(([^)]*)\)", ex.solution)
        names = [part.split("=")[0].strip() for part in signature.group(1).split(",")] if signature else []
    else:
        names = drivers.get(case.probe.driver, [])
        signature = re.search(rf"def {ex.entry}\(([^)]*)\)", ex.solution)
        if not names and signature and signature.group(1).count(",") + 1 == len(case.args):
            names = [part.split("=")[0].strip() for part in signature.group(1).split(",")]
    return names[i] if i < len(names) else UNNAMED


def _powers(ex: Exercise, cases: list[_Case]) -> tuple[str, str]:
    """One place is wrong by a product of powers of the inputs that are single numbers."""
    if not all(c.numeric and c.off for c in cases):
        return "", ""
    path = cases[0].off[0]
    each = []
    for c in cases:
        results = {where: (g, w) for where, g, w in pairs(c.got, c.want)}
        numbers = [float(x) for x in _flat(list(c.args)) if _number(x)][:4]
        if path not in results or not results[path][1] or not results[path][0] or 0.0 in numbers:
            return "", ""
        each.append((results[path][0] / results[path][1], numbers))
    if len({len(numbers) for _, numbers in each}) != 1 or not each[0][1]:
        return "", ""
    if len({round(k, 6) for k, _ in each}) < NEEDED:
        return "", ""
    for powers in product((0, 1, -1, 2, -2), repeat=len(each[0][1])):
        if all(_near(k, math.prod(x**p for x, p in zip(numbers, powers, strict=True))) for k, numbers in each):
            where = place(path, cases[0].probe.parts)
            what = "too often" if min(powers) >= 0 else "too seldom" if max(powers) <= 0 else "in the wrong place"
            return (
                "powers of the inputs",
                f"{where or 'The result'}: an input is multiplied in {what}. Write the derivative out once more.",
            )
    return "", ""


# ---- right answers with one mistake --------------------------------------------------------------------------------------------------

QUICK = Limits(seconds=0.05, wall=1.0)
_endless: set[tuple[str, str]] = set()  # mutants that have exceeded the time limit


@cache
def _mutants(id: str, source: str) -> tuple[tuple[str, str], ...]:
    slow = exercises[id].limits.seconds > 5  # an answer that trains a network: a search would take minutes
    return (*((text, kind) for _, text, kind in mutants(source)), *(() if slow else confusions(source)))


@lru_cache(maxsize=4096)
def _outcome_of_mutant(id: str, source: str, probe: str, args: Frozen) -> dict | None:
    ex = exercises[id]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the compiler: a mutant may be a strange program
            entry = ex.load(source)
    except Exception:
        return None
    return run(next(p for p in ex.probes if p.name == probe).driver, entry, args.it, QUICK)


def _mutant(
    ex: Exercise, outcomes: Mapping[str, dict], wrong: list[str], inputs: Mapping[str, tuple]
) -> tuple[str, str] | None:
    """A mutant of the reference solution that gives the results of the answer in every wrong probe."""
    if exercises.get(ex.id) is not ex:
        return None
    probes = [p for p in ex.probes if p.name in wrong and p.name in outcomes and not outcomes[p.name]["late"]]
    # Those that judge a property are slow, and say little
    probes = [p for p in probes if p.accept is None] or probes[:1]
    if all(outcomes[p.name]["error"] for p in probes):
        return None
    # Right there as well
    rest = [p for p in ex.probes if p.name not in wrong and p.name in outcomes and p.accept is None]
    tried = [(p.name, Frozen(inputs.get(p.name, p.args))) for p in (*probes, *rest)]
    for source, kind in chain.from_iterable(
        _mutants(ex.id, right) for right in _alike_solutions(ex, outcomes, probes[0], inputs)
    ):
        if (ex.id, source) not in _endless and _fits(ex, source, tried, outcomes):
            return kind, f"These are exactly the results of a right answer in which {kind}."
    return None


def _alike_solutions(
    ex: Exercise, outcomes: Mapping[str, dict], probe: Probe, inputs: Mapping[str, tuple]
) -> Iterator[str]:
    """The right programs whose results have the words that this answer's have: of several tasks to choose from, those of the chosen one."""

    def words(outcome: dict) -> list[str]:
        return [part for part in _flat(outcome["got"]) if isinstance(part, str)]

    if not ex.variants:
        yield ex.solution
        return
    for source in (ex.solution, *ex.variants):
        right = _outcome_of_mutant(ex.id, source, probe.name, Frozen(inputs.get(probe.name, probe.args)))
        # Late: its mutants would be, too
        if right is not None and not right["late"] and words(right) == words(outcomes[probe.name]):
            yield source


def _fits(ex: Exercise, source: str, tried: list[tuple[str, Frozen]], outcomes: Mapping[str, dict]) -> bool:
    """Whether a mutant gives what the answer gives in every probe that is quick enough to try, the first of them included."""
    for n, (name, args) in enumerate(tried):
        broken = _outcome_of_mutant(ex.id, source, name, args)
        if broken is not None and broken["late"]:
            if n == 0:
                _endless.add((ex.id, source))
                return False
        elif broken is None or not alike(outcomes[name], broken, 1e-6):
            return False
    return True


# ---- how it fails -----------------------------------------------------------------------------------------------------------------------


def _manner(
    ex: Exercise, cases: list[_Case], outcomes: Mapping[str, dict], wrong: list[str], inputs: Mapping[str, tuple]
) -> tuple[str, str]:
    """Which parts are right, from where on it goes wrong, whether the numbers explode, vanish, or are off by a constant."""
    errors = [outcomes[name]["error"] for name in wrong if name in outcomes and outcomes[name]["error"]]
    if errors and (len(errors) == len(wrong) or not cases):
        return raised(ex, errors[0])[::-1]
    cases = [c for c in cases if c.probe.driver is cases[0].probe.driver]
    if cases and all(c.numeric and c.off for c in cases):
        if all(_near(abs(g), abs(w)) for c in cases for g, w in c.leaves):
            where = place(cases[0].off[0], cases[0].probe.parts)
            return "some signs", f"The sizes are right, but not all signs: start with {where or 'the first'}."
        if not any(g for c in cases for g, _ in c.leaves):
            where = "everywhere" if len(wrong) == len(ex.probes) else "where another number is wanted"
            return (
                "all zero",
                f"Zero comes back {where}: is something multiplied by 0, rounded away, or not added up yet?",
            )
        if result := _same_entry(cases):
            return result
        if len(cases) > 1 and all(c.ratio() is not None for c in cases) and _evidence(cases) - len(cases) >= NEEDED:
            return (
                "a factor of the inputs",
                "Each time everything is wrong by one factor, and it depends on the inputs: which of them?",
            )
        moved = [{where: g - w for where, g, w in pairs(c.got, c.want) if where == cases[0].off[0]} for c in cases]
        if len(cases) >= NEEDED and all(
            m and m.keys() == moved[0].keys() and all(_near(m[k], moved[0][k]) for k in m) for m in moved
        ):
            where = place(cases[0].off[0], cases[0].probe.parts)
            return (
                "a constant",
                f"{where or 'The result'} is off by the same amount every time: a term that does not depend on the inputs.",
            )
        if any(abs(g) > 1e6 * max(abs(w), 1.0) for c in cases for g, w in c.leaves):
            return (
                "explodes",
                "Some numbers are more than a million times too large. Print them step by step: where does that begin?",
            )
        if all(_near(g, w, 1e-3) for c in cases for g, w in c.leaves):
            return (
                "nearly",
                "Nearly right everywhere: is a constant rounded, a difference one-sided, or a formula only an approximation?",
            )
    return (
        _between(ex, cases)
        or _parts(cases)
        or (raised(ex, errors[0])[::-1] if errors else _simplest(ex, outcomes, wrong, inputs))
    )


def _between(ex: Exercise, cases: list[_Case]) -> tuple[str, str] | None:
    """In a list of losses, one for each step, the first is wrong already, or only those that come after a step."""
    if not ex.losses or not cases or not all(c.same_form and c.off for c in cases):
        return None
    first = {path[-1] for path in (c.off[0] for c in cases)}
    if first == {0}:
        return (
            "another first loss",
            "Already the first loss is neither right nor that of the given program, and no step was made "
            "before it. So the data, the first weights, the model or the loss has become another one.",
        )
    if first == {1}:
        return (
            "after the first step",
            "The first loss is right, so the data, the model and the loss are. It goes wrong between the "
            "first loss and the second: look at the gradient, at what is cleared, and at the step.",
        )
    return None


def _same_names(cases: list[_Case]) -> bool:
    """False for dicts of graphs with different names, and for reports of a driver, whose keys learners do not know."""
    names = [set(c.want) if isinstance(c.want, dict) else None for c in cases]
    fixed = (*DRAWN, call, call_by_hand, custom)
    return all(n == names[0] and (not n or c.probe.driver in fixed) for n, c in zip(names, cases, strict=True))


def _parts(cases: list[_Case]) -> tuple[str, str] | None:
    """Some of the outermost parts are right in every case, or it goes wrong only from some place on."""
    if any(c.probe.accept for c in cases):
        return None  # many answers are right, so there is nothing to compare part by part
    if not cases or not all(c.same_form and isinstance(c.want, (list, dict)) and c.off for c in cases):
        return None
    if not _same_names(cases):
        return None
    named = cases[0].probe.parts or isinstance(cases[0].want, dict) or any(isinstance(w, list) for w in cases[0].want)
    bad = {path[:1] for c in cases for path in c.off}
    right = {path[:1] for c in cases for path, *_ in pairs(c.got, c.want)} - bad
    if named and right:
        lines = [
            " and ".join(place(key, cases[0].probe.parts) for key in sorted(keys, key=str)) for keys in (right, bad)
        ]
        return "one part", f"Right already: {lines[0]}. Look at {lines[1]}."
    if all(isinstance(c.want, list) and len(c.want) > 2 and any(c.off[0]) for c in cases):
        return (
            "later ones",
            f"It is right up to {place(cases[0].off[0], cases[0].probe.parts)}. What is different there?",
        )
    return None


def _simplest(
    ex: Exercise, outcomes: Mapping[str, dict], wrong: list[str], inputs: Mapping[str, tuple]
) -> tuple[str, str]:
    """Another probe with the same driver and other inputs is right."""
    failed = next((p for p in ex.probes if p.name in wrong), None)
    if failed is None:
        return "", ""
    for p in ex.probes:
        same = (
            p.driver is failed.driver
            and bool(p.raises) == bool(failed.raises)
            and bool(p.accept) == bool(failed.accept)
        )
        if same and p.name not in wrong and p.name in outcomes:
            contrast = f"It is right for “{p.name}” and not for “{failed.name}”. What is new in the second?"
            comparison = _shown(ex, outcomes, wrong, inputs)  # says more, and the nudge is about this exercise
            return "some inputs", f"{comparison}{ex.hints.nudge}" if comparison else contrast
    if len(wrong) == 1 and len(outcomes) > 1 and failed.accept:
        message = safely(
            failed.accept, outcomes[failed.name]["got"], *inputs.get(failed.name, failed.args), otherwise=""
        )
        if message:
            return failed.name, f"Everything else is right, and this is left: {message}."
    if len(wrong) == 1 and len(outcomes) > 1:
        return "one test", f"Everything else is right. What is different in “{failed.name}”?"
    return "", ""


def _same_entry(cases: list[_Case]) -> tuple[str, str] | None:
    """Only one place is off, the same in every wrong probe."""
    if all(c.same_form and len(c.off) == 1 and isinstance(c.want, (list, dict)) for c in cases) and _same_names(cases):
        where = {place(c.off[0], c.probe.parts) for c in cases}
        if len(where) == 1 and len(list(_flat(cases[0].want))) > 1:
            return "one entry", f"Everything else is right: look at {where.pop()} alone."
    return None
