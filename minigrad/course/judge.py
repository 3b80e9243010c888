"""Judge outcomes: whether a probe's result is exact, close or off, the score of the answer, and its hint.

Pure functions on plain data, shared by the notebook's check and the batch grader. Judging is safe in the instructor's process, because
no object of a learner reaches it: plain.py converts all results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .bank import STUB, outcome_of, recognise, safely, wanted
from .comparing import APPROX, EXACT, OFF, SKIPPED, compare, has_nan
from .exercise import Exercise, Probe
from .plain import describe
from .raised import error_sentence
from .symptoms import symptom

GLYPH = {EXACT: "✓", APPROX: "≈", OFF: "✗", SKIPPED: "○"}
RIGHT = (EXACT, APPROX)


@dataclass(frozen=True)
class Line:
    """The verdict on one probe: its level, and a sentence for a person."""

    probe: str
    level: str
    say: str = ""


@dataclass(frozen=True)
class Verdict:
    """The verdict on an answer. `score` is between 0 and 1; `mistake` is the name of a recognised mistake, of the bank or a general one."""

    lines: tuple[Line, ...]
    passed: bool
    score: float
    hint: str = ""  # a line for each wrong entry, where an answer has entries
    mistake: str = ""
    first_wrong: dict[str, str] | None = None
    notes: tuple[str, ...] = field(default=())
    ideas: tuple[tuple[str, bool], ...] = ()  # each idea that the exercise gives points for, and whether it is there
    endless: bool = False  # whether a probe ran out of time or of stack


def judge(ex: Exercise, outcomes: Mapping[str, dict], inputs: Mapping[str, tuple] | None = None) -> Verdict:
    """The verdict on the outcomes of all probes. `inputs` are the arguments that were used where they differ from the probes' own.

    The score is what the ideas earn, or the probes: whatever mistake is recognised, more right is never fewer points.
    """
    inputs = inputs or {}
    lines: list[Line] = []
    wrong_at: dict[str, dict[str, str]] = {}
    for probe in ex.probes:
        if probe.name not in outcomes:
            lines.append(Line(probe.name, SKIPPED, "not run"))
            continue
        line, where = judge_probe(ex, probe, inputs.get(probe.name, probe.args), outcomes[probe.name])
        lines.append(line)
        if where is not None and line.level == OFF:
            wrong_at[probe.name] = {"probe": probe.name, **where} | ({"node": probe.name} if ex.by_entry else {})
    right = {line.probe for line in lines if line.level in RIGHT}
    if len(right) == len(ex.probes):
        return Verdict(
            tuple(lines), True, 1.0, notes=(*_remarks(ex, outcomes, inputs), *_notes(outcomes)), ideas=ideas(ex, right)
        )
    score = sum(worth for _, worth, earned in ex.earned(right) if earned)
    if right <= _passed_by_stub(ex, inputs):
        score = 0.0  # no points for what the untouched stub passes too
    hint, mistake, shown_by = _hint(ex, outcomes, [line.probe for line in lines if line.level == OFF], inputs)
    shows = [wrong_at[name] for name in (*shown_by, *wrong_at) if name in wrong_at]
    return Verdict(
        tuple(lines),
        False,
        score,
        hint,
        mistake,
        shows[0] if shows else None,
        _notes(outcomes),
        ideas(ex, right),
        any(o["late"] or (o["error"] or {}).get("type") == "RecursionError" for o in outcomes.values()),
    )


def ideas(ex: Exercise, right: Collection[str]) -> tuple[tuple[str, bool], ...]:
    """Each idea of the exercise and whether it is there, when these probes are right; () where the points are not given by idea."""
    return tuple((name, earned) for name, _, earned in ex.earned(right)) if ex.ideas else ()


def by_idea(result: Iterable[tuple[str, bool]]) -> str:
    """ "order ✗ · each value once ✓", or ""."""
    return " · ".join(f"{name} {GLYPH[EXACT if earned else OFF]}" for name, earned in result)


def _hint(
    ex: Exercise, outcomes: Mapping[str, dict], wrong: list[str], inputs: Mapping[str, tuple]
) -> tuple[str, str, tuple[str, ...]]:
    """(hint, the mistake's name, the probes that show it): of the bank if it has this mistake, otherwise of a general kind."""
    recognised = recognise(ex, outcomes, wrong, inputs)
    if not ex.by_entry:
        if recognised:
            return recognised[0].hint, recognised[0].name, recognised[0].on
        # What goes wrong first is explained: of a wrong number and an exception further on, the number, and the other way round
        explained = [name for name in wrong if bool(outcomes[name]["error"]) == bool(outcomes[wrong[0]]["error"])]
        others = {name: outcome for name, outcome in outcomes.items() if name in explained or name not in wrong}
        hint, name = symptom(ex, others, explained, inputs)
        return hint, name, ()
    results = [(mistake.on, mistake.hint, mistake.name) for mistake in recognised]
    for entry in wrong:
        if not any(entry in mistake.on for mistake in recognised):
            results.append(((entry,), *symptom(ex, {entry: outcomes[entry]}, [entry], inputs)))
    results.sort(key=lambda part: wrong.index(next(entry for entry in part[0] if entry in wrong)))
    plain = len(results) == 1
    lines = [
        h if plain or ":" in h[:40] or h.lower().startswith(on[0].lower()) else f"{' and '.join(on)}: {h}"
        for on, h, _ in results
    ]
    return "\n".join(lines), next((name for *_, name in results if name), ""), ()


def _passed_by_stub(ex: Exercise, inputs: Mapping[str, tuple]) -> set[str]:
    judged = {}
    for probe in ex.probes:
        args = inputs.get(probe.name, probe.args)
        judged[probe.name] = judge_probe(ex, probe, args, outcome_of(ex, STUB, probe, args))[0].level
    return {name for name, level in judged.items() if level in RIGHT}


def judge_probe(ex: Exercise, probe: Probe, args: tuple, outcome: dict) -> tuple[Line, dict[str, str] | None]:
    error, got = outcome["error"], outcome["got"]
    if outcome["late"]:
        waited = f"stopped after {ex.limits.wall:g} s, of which the answer computed for very little"
        return Line(probe.name, OFF, waited if outcome.get("idle") else f"stopped after {ex.limits.seconds:g} s"), None
    if outcome["raised_limit"]:
        return Line(probe.name, OFF, "the recursion limit was raised"), None
    if probe.raises:
        if error and set(error["mro"]) & set(probe.raises):
            return Line(probe.name, EXACT), None
        what = f"{error['type']} was raised" if error else "nothing was raised"
        return Line(probe.name, OFF, f"{what}; this input must be refused with {' or '.join(probe.raises)}"), None
    if error:
        return Line(probe.name, OFF, error_sentence(error)), None
    if probe.accept is not None:
        complaint = "not a number" if has_nan(got) else safely(probe.accept, got, *args, otherwise=_form(got))
        return Line(probe.name, OFF if complaint else EXACT, complaint or ""), None
    if ex.by_entry and got is None:
        return Line(probe.name, OFF, "still None"), None
    if probe.reads_as is not None:
        got = safely(probe.reads_as, got, otherwise=got)
    level, say, where = compare(
        got, wanted(ex, probe, args), probe.rtol, probe.atol, coy=ex.is_value, parts=probe.parts
    )
    return Line(probe.name, level, say), where


def _form(got: Any) -> str:
    return "nothing came back (None)" if got is None else f"this is not of the form that was asked for: {describe(got)}"


def _remarks(ex: Exercise, outcomes: Mapping[str, dict], inputs: Mapping[str, tuple]) -> tuple[str, ...]:
    """What the probes have to remark on a right answer, each sentence once."""
    message = (
        safely(p.note, outcomes[p.name]["got"], *inputs.get(p.name, p.args), otherwise="")
        for p in ex.probes
        if p.note is not None
    )
    return tuple(dict.fromkeys(text for text in message if text))


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


__all__ = ["APPROX", "EXACT", "GLYPH", "OFF", "SKIPPED", "Line", "Verdict", "compare", "judge", "recognise", "wanted"]
