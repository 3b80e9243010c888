"""What the wrong answers of an exercise's bank give, and which of them an answer looks like.

What lives here: running the bank's own sources (never a learner's), remembering what came out, and `recognise`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

from .comparing import OFF, level_of, pairs, structure
from .exercise import FROM_SOLUTION, Exercise, Probe, Seen, Wrong
from .guard import run
from .plain import plain

SOLUTION, STUB = "solution", "stub"


def recognise(
    ex: Exercise, outcomes: Mapping[str, dict], wrong: Collection[str], inputs: Mapping[str, tuple] | None = None
) -> list[Wrong]:
    """The known mistakes that the outcomes show, given the names of the probes that went `wrong`.

    An answer that is one piece makes one mistake, the first that fits and that goes wrong in the first wrong probe as well (or in the
    first idea that is not there): of two mistakes the one that is reported first is explained. Where each entry of an answer is a probe,
    each wrong entry can have its own, and a mistake of several entries explains all of them.
    """
    results: list[Wrong] = []
    left, seen = set(wrong), Seen(outcomes, set(outcomes) - set(wrong))
    first = [probe for probe in ex.probes if probe.name in wrong]
    first = [probe for probe in first if probe.idea == first[0].idea] if ex.ideas else first[:1]
    for mistake in ex.bank:
        if not ex.by_entry:
            # What shows it is right: another mistake only looks like it
            elsewhere = mistake.on and not left & set(mistake.on)
            if (
                not elsewhere
                and _shown(ex, mistake, seen, inputs or {})
                and _goes_wrong(ex, mistake, first, inputs or {})
            ):
                return [mistake]
        elif left & set(mistake.on) and set(mistake.on) <= set(wrong) and _shown(ex, mistake, seen, inputs or {}):
            results.append(mistake)
            left -= set(mistake.on)
    return results


def _goes_wrong(ex: Exercise, mistake: Wrong, probes: list[Probe], inputs: Mapping[str, tuple]) -> bool:
    """Whether an answer with this mistake, and no other, goes wrong in one of the probes."""
    for probe in probes:
        args = inputs.get(probe.name, probe.args)
        outcome, right = outcome_of(ex, mistake, probe, args), outcome_of(ex, SOLUTION, probe, args)
        if outcome["raised_limit"] or outcome["late"]:
            return True
        if probe.accept is not None and not outcome["error"]:
            if safely(probe.accept, outcome["got"], *args, otherwise="of another form"):
                return True
        elif not alike(outcome, right, probe.rtol):
            return True
    return not probes


def _shown(ex: Exercise, mistake: Wrong, seen: Seen, inputs: Mapping[str, tuple]) -> bool:
    if mistake.when is not None:
        return bool(safely(mistake.when, seen, otherwise=False))
    outcomes = seen.outcomes
    probes = [p for p in ex.probes if p.name in mistake.on or not mistake.on]
    return all(
        p.name in outcomes
        and alike(outcomes[p.name], outcome_of(ex, mistake, p, inputs.get(p.name, p.args)), mistake.rtol)
        for p in probes
    )


def safely(function: Callable[..., Any], *data: Any, otherwise: Any) -> Any:
    """Call an exercise's function on data of an answer; `otherwise` if it raises, because the data may have any form."""
    try:
        return function(*data)
    except Exception:
        return otherwise


def wanted(ex: Exercise, probe: Probe, args: tuple) -> Any:
    """The expected plain data of a probe: written down, a closed form of the inputs, or what the reference solution gives."""
    if probe.want is FROM_SOLUTION or (args != probe.args and not callable(probe.want)):
        return outcome_of(ex, SOLUTION, probe, args)["got"]
    return _closed_form(_ById(ex), ex.probes.index(probe), Frozen(args)) if callable(probe.want) else plain(probe.want)


@lru_cache(maxsize=512)
def _closed_form(ex: _ById, probe: int, args: Frozen) -> Any:
    return plain(ex.it.probes[probe].want(*args.it))


def outcome_of(ex: Exercise, wrong: Wrong | str, probe: Probe, args: tuple) -> dict:
    """What a wrong answer, the SOLUTION or the STUB gives."""
    which = wrong if isinstance(wrong, str) else ex.bank.index(wrong)
    return _outcome_cached(_ById(ex), which, ex.probes.index(probe), Frozen(args))


@lru_cache(maxsize=2048)
def _outcome_cached(ex: _ById, wrong: int | str, probe: int, args: Frozen) -> dict:
    source = (
        {SOLUTION: ex.it.solution, STUB: ex.it.stub}[wrong]
        if isinstance(wrong, str)
        else ex.it.source_of(ex.it.bank[wrong])
    )
    return run(ex.it.probes[probe].driver, ex.it.load(source), args.it, ex.it.limits)


class _ById:
    """An exercise as a cache key."""

    def __init__(self, it: Exercise):
        self.it = it

    def __hash__(self) -> int:
        return hash(self.it.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.it is other.it


class Frozen:
    """Plain arguments as a cache key."""

    def __init__(self, it: tuple):
        self.it, self.key = it, repr(it)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frozen) and self.key == other.key


def alike(a: Mapping[str, Any], b: Mapping[str, Any], rtol: float) -> bool:
    """Whether two outcomes are the same: both late, the same exception, or the same data."""
    if a["late"] or b["late"]:
        return bool(a["late"] and b["late"])
    if a["error"] or b["error"]:
        return bool(a["error"] and b["error"] and a["error"]["type"] == b["error"]["type"])
    if structure(a["got"], b["got"]) or (a["got"] is None) != (b["got"] is None):
        return False
    try:
        return all(_same_leaf(g, w, rtol) for _, g, w in pairs(a["got"], b["got"]))
    except (KeyError, IndexError, TypeError):
        return False


def _same_leaf(g: Any, w: Any, rtol: float) -> bool:
    if type(w) in (int, float) and type(g) in (int, float):
        return level_of(float(g), float(w), rtol, 1e-12)[0] != OFF
    return type(g) is type(w) and g == w
