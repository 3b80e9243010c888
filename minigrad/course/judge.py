"""Judging outcomes: is a probe's result exact, close, or off, and which known mistake is this?

What lives here: pure functions on plain data, shared by the notebook's check and the batch grader. What does not: any learner's code or
object. A judge is safe in the instructor's process, because it only ever sees what plain.py let through.
No sentence made here contains the expected value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .exercise import FROM_SOLUTION, Exercise, Probe, Seen, Wrong
from .guard import run
from .plain import describe, is_odd, plain, shape_of

EXACT, APPROX, OFF, SKIPPED = "exact", "approx", "off", "skipped"
GLYPH = {EXACT: "✓", APPROX: "≈", OFF: "✗", SKIPPED: "○"}
EXACT_RTOL = 1e-12
SOLUTION, STUB = "solution", "stub"


@dataclass(frozen=True)
class Line:
    """The verdict on one probe: its level, and a sentence for a person."""

    probe: str
    level: str
    say: str = ""


@dataclass(frozen=True)
class Verdict:
    """The verdict on an answer. `score` is between 0 and 1; `mistake` names the bank entry that was recognised."""

    lines: tuple[Line, ...]
    passed: bool
    score: float
    hint: str = ""
    mistake: str = ""
    first_wrong: dict[str, str] | None = None
    notes: tuple[str, ...] = field(default=())


def run_probes(ex: Exercise, entry: Any, inputs: Mapping[str, tuple] | None = None) -> dict[str, dict]:
    """Run every probe on an answer, in this process. After one that does not come back, the rest are not run."""
    outcomes: dict[str, dict] = {}
    for probe in ex.probes:
        outcomes[probe.name] = run(probe.driver, entry, (inputs or {}).get(probe.name, probe.args), ex.limits)
        if outcomes[probe.name]["late"]:
            break
    return outcomes


def judge(ex: Exercise, outcomes: Mapping[str, dict], inputs: Mapping[str, tuple] | None = None) -> Verdict:
    """The verdict on the outcomes of all probes. `inputs` are the arguments that were used where they differ from the probes' own."""
    inputs = inputs or {}
    earned, total = 0.0, 0.0
    lines: list[Line] = []
    wrong_at: dict[str, dict[str, str]] = {}
    for probe in ex.probes:
        args = inputs.get(probe.name, probe.args)
        total += probe.weight
        if probe.name not in outcomes:
            lines.append(Line(probe.name, SKIPPED, "not run"))
            continue
        line, where = _judge_probe(ex, probe, args, outcomes[probe.name])
        lines.append(line)
        if line.level in (EXACT, APPROX):
            earned += probe.weight
        elif where is not None:
            wrong_at[probe.name] = {"probe": probe.name, **where}
    raised_limit = any(o.get("raised_limit") for o in outcomes.values())
    passed = earned == total and not raised_limit
    score = earned / total
    if not passed and {line.probe for line in lines if line.level in (EXACT, APPROX)} <= _passed(ex, STUB, inputs).keys():
        score = 0.0  # no points for what the untouched stub passes too
    if passed:
        return Verdict(tuple(lines), True, 1.0, notes=(*_remarks(ex, outcomes, inputs), *_notes(outcomes)))
    mistake = recognise(ex, outcomes, inputs)
    shows = [wrong_at[name] for name in (*(mistake.on if mistake else ()), *wrong_at) if name in wrong_at]
    first_wrong = shows[0] if shows else None  # on the probe that shows the mistake, if there is one
    if mistake is not None:
        if mistake.credit is not None:  # given to who made this mistake, not to an answer that only looks like it where it shows
            score = mistake.credit if earned >= sum(_passed(ex, mistake, inputs).values()) else min(score, mistake.credit)
        return Verdict(tuple(lines), False, score, mistake.hint, mistake.name, first_wrong, _notes(outcomes))
    return Verdict(tuple(lines), False, score, _symptom(ex, outcomes), "", first_wrong, _notes(outcomes))


def _passed(ex: Exercise, wrong: Wrong | str, inputs: Mapping[str, tuple]) -> dict[str, float]:
    """The probes that a wrong answer of the bank, or the stub, passes, with their weights."""
    passed = {}
    for probe in ex.probes:
        args = inputs.get(probe.name, probe.args)
        if _judge_probe(ex, probe, args, _bank_outcome(ex, wrong, probe, args))[0].level in (EXACT, APPROX):
            passed[probe.name] = probe.weight
    return passed


def wanted(ex: Exercise, probe: Probe, args: tuple) -> Any:
    """The expected plain data of a probe: written down, a closed form of the inputs, or what the reference solution gives."""
    if probe.want is FROM_SOLUTION or (args != probe.args and not callable(probe.want)):
        return _bank_outcome(ex, SOLUTION, probe, args)["got"]
    return _closed_form(_ById(ex), ex.probes.index(probe), _Frozen(args)) if callable(probe.want) else plain(probe.want)


@lru_cache(maxsize=512)
def _closed_form(ex: _ById, probe: int, args: _Frozen) -> Any:
    return plain(ex.it.probes[probe].want(*args.it))


def recognise(ex: Exercise, outcomes: Mapping[str, dict], inputs: Mapping[str, tuple] | None = None) -> Wrong | None:
    """The first wrong answer of the bank whose fingerprint the outcomes show, or None."""
    inputs = inputs or {}
    for wrong in ex.bank:
        if wrong.when is not None:
            if _safely(wrong.when, Seen(outcomes), otherwise=False):
                return wrong
            continue
        names = wrong.on or tuple(p.name for p in ex.probes)
        probes = [p for p in ex.probes if p.name in names]
        if all(
            p.name in outcomes and _alike(outcomes[p.name], _bank_outcome(ex, wrong, p, inputs.get(p.name, p.args)), wrong.rtol)
            for p in probes
        ):
            return wrong
    return None


# ---- one probe --------------------------------------------------------------------------------------------------------------------


def _judge_probe(ex: Exercise, probe: Probe, args: tuple, outcome: dict) -> tuple[Line, dict[str, str] | None]:
    error, got = outcome["error"], outcome["got"]
    if outcome["late"]:
        waited = f"stopped after {ex.limits.wall:g} s, of which the answer computed for very little"
        return Line(probe.name, OFF, waited if outcome.get("idle") else f"stopped after {ex.limits.seconds:g} s"), None
    if probe.raises:
        if error and set(error["mro"]) & set(probe.raises):
            return Line(probe.name, EXACT), None
        what = f"{error['type']} was raised" if error else "nothing was raised"
        return Line(probe.name, OFF, f"{what}; this input must be refused with {' or '.join(probe.raises)}"), None
    if error:
        return Line(probe.name, OFF, error_sentence(error)), None
    if probe.accept is not None:
        complaint = "not a number" if _has_nan(got) else _safely(probe.accept, got, *args, otherwise=_form(got))
        return Line(probe.name, OFF if complaint else EXACT, complaint or ""), None
    if probe.reads_as is not None:
        got = _safely(probe.reads_as, got, otherwise=got)
    level, say, where = compare(got, wanted(ex, probe, args), probe.rtol, probe.atol, coy=ex.kind == "P")
    return Line(probe.name, level, say), where


def _safely(judge: Callable[..., Any], *data: Any, otherwise: Any) -> Any:
    """What an exercise's own function says of the data, or `otherwise`: an answer of another form must not stop the judge."""
    try:
        return judge(*data)
    except Exception:
        return otherwise


def _form(got: Any) -> str:
    return "nothing came back (None)" if got is None else f"this is not of the form that was asked for: {describe(got)}"


def compare(got: Any, want: Any, rtol: float, atol: float, coy: bool = False) -> tuple[str, str, dict[str, str] | None]:
    """(level, sentence, where it is off). With `coy` the size of the difference is not told: it would give a single number away."""
    mismatch = _structure(got, want)
    if mismatch:
        return OFF, mismatch, None
    level, worst, worst_path, first = EXACT, -1.0, "", None
    for path, g, w in _pairs(got, want):
        if isinstance(w, (str, bool)) or w is None:
            if type(g) is not type(w) or g != w:
                return OFF, f"{path + ': ' if path else ''}not the right answer", {"node": path, "say": "not the right answer"}
            continue
        if type(g) not in (int, float):
            return OFF, f"{path + ': ' if path else ''}one number is needed here, this is {_what(g)}", {"node": path, "say": f"{_what(g)}"}
        step, difference = _level(float(g), float(w), rtol, atol)
        if step == OFF and first is None:
            first = {"node": path, "say": _direction(float(g), float(w))}
        if step != EXACT and (difference > worst or difference != difference):
            worst, worst_path = difference, path
        level = max(level, step, key=(EXACT, APPROX, OFF).index)
    if level == EXACT:
        return level, "", None
    at = f" (at {worst_path})" if worst_path else ""
    if level == APPROX:
        return level, f"within the tolerance, largest difference {about(worst)}{at}", None
    assert first is not None
    say = f"{first['node'] + ' is ' if first['node'] else ''}{first['say']}"
    telling = (
        coy or not math.isfinite(worst) or any(about(worst) == about(abs(w)) for _, _, w in _pairs(got, want) if type(w) in (int, float))
    )
    return OFF, say if telling else f"{say}; largest difference about {about(worst)}{at}", first


def about(x: float) -> str:
    """A size to one digit: enough to see how far off an answer is, too little to correct it by subtraction."""
    rounded = float(f"{x:.0e}")
    return (
        f"{rounded:g}"
        if 1e-3 <= rounded < 1e6 or rounded == 0
        else f"{rounded:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    )


def _level(g: float, w: float, rtol: float, atol: float) -> tuple[str, float]:
    if g == w or (g != g and w != w):
        return EXACT, 0.0
    if not (math.isfinite(g) and math.isfinite(w)):
        return OFF, math.inf
    difference = abs(g - w)
    if difference <= EXACT_RTOL * max(abs(w), abs(g)):
        return EXACT, difference
    return (APPROX if difference <= atol + rtol * abs(w) else OFF), difference


def _direction(g: float, w: float) -> str:
    if g != g:
        return "nan (not a number)"
    if math.isinf(g):
        return "infinite"
    if g == 0:
        return "zero, and should not be"
    if w == 0:
        return "not zero, and should be"
    if (g < 0) != (w < 0):
        return "of the wrong sign"
    return "too large" if abs(g) > abs(w) else "too small"


def _structure(got: Any, want: Any) -> str:
    """What is wrong with the form of `got`, or ""."""
    if is_odd(got):
        return "not filled in yet (...)" if got["!"] == "..." else f"{describe(want)} is needed, this is {describe(got)}"
    if got is None and want is not None:
        return "nothing came back (None)"
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return f"{describe(want)} is needed, this is {describe(got)}"
        missing = [k for k in want if k not in got]
        if missing:
            return f"the entry {missing[0]!r} is missing"
        nested = ((k, _structure(got[k], w)) for k, w in want.items() if isinstance(w, (list, dict)))
        return next((f"{k}: {complaint}" for k, complaint in nested if complaint), "")
    if isinstance(want, list):
        if not isinstance(got, list):
            return f"{describe(want)} is needed, this is {describe(got)}"
        sg, sw = shape_of(got), shape_of(want)
        if sw is not None and sg is not None and sg != sw:
            return f"the shape is {sg}, it must be {sw}"
        if len(got) != len(want):
            return f"{len(want)} items are needed, there are {len(got)}"
        return next((m for g, w in zip(got, want, strict=True) if (m := _structure(g, w) if isinstance(w, (list, dict)) else "")), "")
    if isinstance(got, (list, dict)) or (type(want) in (int, float) and isinstance(got, (str, bool))):
        quotes = ": write the number without quotes" if isinstance(got, str) else ""
        return f"{describe(want) if type(want) in (int, float) else 'something else'} is needed, this is {describe(got)}{quotes}"
    if isinstance(want, str) and not isinstance(got, str):
        return f"a text is needed, this is {describe(got)}"
    return ""


def _what(g: Any) -> str:
    return "still None" if g is None else describe(g)


def _pairs(got: Any, want: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(want, dict):
        for k, w in want.items():
            yield from _pairs(got[k], w, f"{path}.{k}" if path else k)
    elif isinstance(want, list):
        for i, w in enumerate(want):
            yield from _pairs(got[i], w, f"{path}[{i}]")
    else:
        yield path, got, want


def _has_nan(x: Any) -> bool:
    if isinstance(x, (list, dict)):
        return any(_has_nan(item) for item in (x.values() if isinstance(x, dict) else x))
    return isinstance(x, float) and x != x


# ---- sentences ----------------------------------------------------------------------------------------------------------------------


def error_sentence(error: Mapping[str, Any]) -> str:
    """What was raised and where, for a person. A traceback is not shown: the cell itself gives one when it is run."""
    where = error.get("where")
    at = ""
    if where:
        at = f" in line {where['line']}" + (f", `{where['text']}`" if where["text"] else "")
    if error["type"] == "Borrowed":
        return str(error["message"])
    if error["type"] == "RecursionError":
        return f"RecursionError{at}: a function called itself too deeply"
    if error["type"] in ("SystemExit", "GeneratorExit"):
        return f"{error['type']}{at}: an answer must not end the program"
    return f"{error['type']}{at}" + (f": {error['message']}" if error["message"] else "")


def _symptom(ex: Exercise, outcomes: Mapping[str, dict]) -> str:
    """The general hint when no known mistake was recognised."""
    all_outcomes = list(outcomes.values())
    if any(o.get("idle") for o in all_outcomes):
        return "This machine is busy: run the check again. If it stops again, your answer waits for something, such as a sleep or an input."
    if any(o["late"] for o in all_outcomes):
        return "The answer did not come back: is there a loop that never ends, or work that doubles with every step?"
    if any(o["raised_limit"] for o in all_outcomes):
        return "Please leave sys.setrecursionlimit alone: the exercise can be solved within it."
    if any(o["error"] and o["error"]["type"] == "Borrowed" for o in all_outcomes):
        return f"Write {ex.entry} yourself: the next chapters build on what you find out here."
    errors = [o["error"] for o in all_outcomes if o["error"]]
    if any(e["type"] == "RecursionError" for e in errors):
        return "A function calls itself without end, or too deeply. What stops it?"
    if errors and len(errors) == len(all_outcomes):
        return f"Every probe ends in {errors[0]['type']}. Call {ex.entry} yourself in a cell to see where."
    got = [o["got"] for o in all_outcomes if not o["error"]]
    if not ex.is_value and got and all(g is None for g in got):
        return "Nothing came back: is a return missing?"
    if any(_has_nan(g) for g in got):
        return "A nan appeared: look for 0/0, inf - inf, or the log of a negative number."
    if any(o["mutated"] for o in all_outcomes):
        return "The answer changes its inputs. Work on a copy, or make new values instead."
    return f'This mistake is not in the book. check.hint("{ex.id}") gives a nudge.'


def _remarks(ex: Exercise, outcomes: Mapping[str, dict], inputs: Mapping[str, tuple]) -> tuple[str, ...]:
    """What the probes have to remark on a right answer, each sentence once."""
    said = (_safely(p.note, outcomes[p.name]["got"], *inputs.get(p.name, p.args), otherwise="") for p in ex.probes if p.note is not None)
    return tuple(dict.fromkeys(text for text in said if text))


def _notes(outcomes: Mapping[str, dict]) -> tuple[str, ...]:
    notes = []
    printed = next((o["printed"] for o in outcomes.values() if o["printed"].strip()), "")
    if printed:
        text = " ".join(printed.split())
        notes.append(f"It also printed: {text[:120]}{' ...' if len(text) > 120 else ''}")
    changed = [name for name, o in outcomes.items() if o["mutated"]]
    if changed:
        notes.append(f"It changed its inputs ({changed[0]}): each probe gets fresh copies, real callers do not.")
    return tuple(notes)


# ---- the bank ------------------------------------------------------------------------------------------------------------------------


def _bank_outcome(ex: Exercise, wrong: Wrong | str, probe: Probe, args: tuple) -> dict:
    """What a wrong answer, the SOLUTION or the STUB gives."""
    which = wrong if isinstance(wrong, str) else ex.bank.index(wrong)
    return _bank_outcome_cached(_ById(ex), which, ex.probes.index(probe), _Frozen(args))


@lru_cache(maxsize=2048)
def _bank_outcome_cached(ex: _ById, wrong: int | str, probe: int, args: _Frozen) -> dict:
    source = {SOLUTION: ex.it.solution, STUB: ex.it.stub}[wrong] if isinstance(wrong, str) else ex.it.source_of(ex.it.bank[wrong])
    return run(ex.it.probes[probe].driver, ex.it.load(source), args.it, ex.it.limits)


class _ById:
    """An exercise as a cache key."""

    def __init__(self, it: Exercise):
        self.it = it

    def __hash__(self) -> int:
        return hash(self.it.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.it is other.it


class _Frozen:
    """Plain arguments as a cache key."""

    def __init__(self, it: tuple):
        self.it, self.key = it, repr(it)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and self.key == other.key


def _alike(a: Mapping[str, Any], b: Mapping[str, Any], rtol: float) -> bool:
    """Whether two outcomes are the same: both late, the same exception, or the same data."""
    if a["late"] or b["late"]:
        return bool(a["late"] and b["late"])
    if a["error"] or b["error"]:
        return bool(a["error"] and b["error"] and a["error"]["type"] == b["error"]["type"])
    if _structure(a["got"], b["got"]) or (a["got"] is None) != (b["got"] is None):
        return False
    try:
        return all(_same_leaf(g, w, rtol) for _, g, w in _pairs(a["got"], b["got"]))
    except (KeyError, IndexError, TypeError):
        return False


def _same_leaf(g: Any, w: Any, rtol: float) -> bool:
    if type(w) in (int, float) and type(g) in (int, float):
        return _level(float(g), float(w), rtol, 1e-12)[0] != OFF
    return type(g) is type(w) and g == w
