"""What an exercise is: plain data that the notebook's check, the grader, the documentation and the tests all read.

What lives here: the dataclasses and the loading of an answer from source. What does not: running an answer (guard.py), judging what
came out (judge.py), or any particular exercise (exercises/chNN.py).
"""

from __future__ import annotations

import ast
import json
import random
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal

from ..core.call_log import not_the_learners
from . import drivers


class Kind(Enum):
    """The task of an exercise."""

    PREDICT = "predict"
    WARM_UP = "warm-up"
    PUZZLE = "puzzle"
    BUILD = "build"
    DEBUG = "debug"
    OPTIONAL = "optional"
    FILL_IN = "fill in"
    EXPLAIN = "explain or choose"
    IN_THE_WIDGET = "answer in the widget"


STARS = {1: "easy", 2: "medium", 3: "hard"}


class _FromSolution:
    def __repr__(self) -> str:
        return "FROM_SOLUTION"


FROM_SOLUTION = _FromSolution()


@dataclass(frozen=True)
class Probe:
    """One question put to an answer: inputs, how they become a call, and how the outcome is judged.

    `driver(entry, *args)` runs next to the learner's code and returns plain data; everything else here stays with the judge.
    """

    name: str
    args: tuple = ()
    want: Any = FROM_SOLUTION  # plain data; or a function of args; or what the reference solution gives
    driver: Callable[..., Any] = drivers.call
    weight: float = 1.0
    rtol: float = 1e-9  # inside the tolerance counts as right ("≈"); equal to 1e-12 is "✓"
    atol: float = 1e-12
    raises: tuple[str, ...] = ()  # instead of a value: one of these exception names
    accept: Callable[..., str | None] | None = (
        None  # instead of `want`: property(got, *args) -> None, or a sentence about the mistake
    )
    draw: Callable[[random.Random], tuple] | None = None  # fresh inputs for grading
    reads_as: Callable[[Any], Any] | None = None  # an answer that is right as well becomes the one in `want`
    parts: tuple[str, ...] = ()  # names for the places of a result that is a tuple
    note: Callable[..., str] | None = None  # a remark on a right answer: note(got, *args) -> a sentence, or ""
    idea: str = ""  # the idea that it tests, if points are given by idea


@dataclass(frozen=True)
class Wrong:
    """One wrong answer that learners really give, and the hint that it gets.

    `answer` is a value (for a variable) or source that replaces the stub. It is recognised when the learner's outcomes are the
    ones this answer gives, on the probes named in `on` (all of them if empty), or by `when(seen)`.
    """

    name: str
    answer: Any
    hint: str
    on: tuple[str, ...] = ()
    when: Callable[[Seen], bool] | None = None
    rtol: float = 1e-6


@dataclass(frozen=True)
class Seen:
    """What a `when` rule may look at: the outcome of every probe, as plain data."""

    outcomes: Mapping[str, dict]
    right: Collection[str] = ()  # the names of the probes that went right

    def value(self, probe: str) -> Any:
        return self.outcomes.get(probe, {}).get("got")

    def error(self, probe: str) -> str:
        return (self.outcomes.get(probe, {}).get("error") or {}).get("type", "")

    def message(self, probe: str) -> str:
        return (self.outcomes.get(probe, {}).get("error") or {}).get("message", "")

    @property
    def late(self) -> bool:
        return any(o.get("late") for o in self.outcomes.values())


@dataclass(frozen=True)
class Hints:
    """Three tiers, each asked for separately: a nudge, the rule, and a worked example with other numbers."""

    nudge: str
    rule: str
    twin: str

    def __iter__(self):
        return iter((("Nudge", self.nudge), ("Rule", self.rule), ("Worked example", self.twin)))


@dataclass(frozen=True)
class Fresh:
    """A question of the same kind with other numbers, offered after the solution was shown."""

    question: str
    answer: Any
    rtol: float = 1e-3
    wrong: tuple[tuple[Any, str], ...] = ()


@dataclass(frozen=True)
class Limits:
    """What one run of an answer may use. `recursion` counts the frames above the check's own."""

    seconds: float = 2.0  # of processor time
    recursion: int = 900
    printed: int = 2000  # characters kept
    wall: float = 20.0  # seconds on the wall, which a busy machine uses up without the answer


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise. `stub` is the exact source of the notebook's cell; `solution` is the source that replaces it."""

    id: str
    title: str
    kind: Kind
    points: int
    minutes: int
    difficulty: Literal[1, 2, 3]
    question: str
    entry: str  # the name that the cell defines and that `check` receives
    stub: str
    solution: str
    probes: tuple[Probe, ...]
    bank: tuple[Wrong, ...]
    hints: Hints
    reveal: str  # a few sentences beside the solution
    fresh: Callable[[random.Random], Fresh]
    limits: Limits = field(default_factory=Limits)
    reused: bool = False  # later chapters use the answer: a pass offers to write it to my_engine.py
    needs: tuple[str, ...] = ()  # the exercises whose answers it calls by name
    variants: tuple[str, ...] = ()  # other right programs, in whose breaks a mistake is looked for as in the solution's
    working: str = (
        ""  # of an answer that is a number: a function `working()` that computes it, in which slips are looked for
    )
    losses: bool = False  # the answer trains a model and returns the loss of each step (and perhaps more)
    choices: tuple[str, ...] = ()  # the words that the question offers, where the stub does not quote them
    # The part of the points that each idea is worth; empty: probes by weight
    ideas: Mapping[str, float] = field(default_factory=dict)

    @property
    def graded(self) -> bool:
        """False for a prediction, which earns no points: its cell calls `check.predict`, and `load` reads the guess from that call."""
        return self.points > 0

    @property
    def counted_points(self) -> int:
        """What the exercise adds to the maximum: nothing where it is optional, because its points come on top."""
        return 0 if self.kind is Kind.OPTIONAL else self.points

    @property
    def parts(self) -> tuple[tuple[str, float, tuple[Probe, ...]], ...]:
        """(name, fraction of the points, probes that must all be right): one for each idea, else one for each probe."""
        if self.ideas:
            return tuple(
                (idea, worth, tuple(p for p in self.probes if p.idea == idea)) for idea, worth in self.ideas.items()
            )
        full = sum(probe.weight for probe in self.probes)
        return tuple((probe.name, probe.weight / full, (probe,)) for probe in self.probes)

    def earned(self, right: Collection[str]) -> tuple[tuple[str, float, bool], ...]:
        """(name, its part of the points, whether it is earned) of each of `parts`, when the probes named in `right` are right."""
        return tuple((name, worth, all(probe.name in right for probe in probes)) for name, worth, probes in self.parts)

    @property
    def chapter(self) -> str:
        return self.id[:2]

    @property
    def by_entry(self) -> bool:
        """True when the answer is a dict that is judged, and earns points, entry by entry."""
        return self.probes[0].driver is drivers.entry

    @property
    def is_value(self) -> bool:
        """True when the answer is a value in a variable rather than a function or a class."""
        return not (f"def {self.entry}(" in self.solution or f"class {self.entry}" in self.solution)

    def load(self, source: str) -> Any:
        """Run `source` in place of the stub cell, and return the object that it binds to the entry's name."""
        if not self.graded:
            return _guess(source)
        code = compile(source, f"<{self.id}>", "exec")
        not_the_learners.add(code.co_filename)
        namespace: dict[str, Any] = {"__name__": f"exercise_{self.id.replace('.', '')}"}
        exec(code, namespace)
        return namespace[self.entry]

    def source_of(self, wrong: Wrong) -> str:
        """The cell source of a wrong answer: values are written as an assignment."""
        if not self.graded:
            return f'check.predict("{self.id}", {wrong.answer!r})\n'
        return f"{self.entry} = {wrong.answer!r}\n" if self.is_value else wrong.answer


def _guess(source: str) -> Any:
    """The literal that a cell hands to `check.predict`."""
    calls = [
        n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call) and ast.unparse(n.func) == "check.predict"
    ]
    return ast.literal_eval(calls[-1].args[1])


def about(idea: str, *probes: Probe) -> tuple[Probe, ...]:
    """Probes that test one idea."""
    return tuple(replace(probe, idea=idea) for probe in probes)


def but(source: str, old: str, new: str, count: int = -1) -> str:
    """A program with one piece of it replaced, for the bank of wrong answers."""
    assert old in source, old
    return source.replace(old, new, count)


def ask(
    id: str,
    title: str,
    kind: Kind,
    *,
    minutes: int,
    level: Literal[1, 2, 3],
    text: str,
    answer: Any,
    wrong: tuple[tuple, ...],
    hints: tuple[str, str, str],
    reveal: str,
    fresh: Callable[[random.Random], Fresh],
    points: int = 1,
    rtol: float = 1e-6,
    comment: str | None = None,
    also: Mapping[str, tuple] | None = None,
    working: str = "",
    choices: tuple[str, ...] = (),
) -> Exercise:
    """An exercise whose answer is a number, a text or a list in one variable, or a dict of them to be filled in.

    `wrong` holds (name, value, hint). For a dict the value names only the entries that make the mistake; each entry earns its points.
    The stub is a comment (`comment`, else the question) and the variable, with None for everything that is asked. With `points=0` it is
    a prediction: the stub calls `check.predict` instead, and a cell further down that begins with `%%predict` opens once a guess is noted.
    `also` names, for entries of a dict, the answers that are right as well. `working` is the body of a function that computes the answer
    step by step: a number that comes out when one of its steps is broken is recognised, and the step's mistake is told.
    """
    entry = "answer_" + id.replace(".", "")
    text_lines = (comment or f"{text} Replace None by your answer{'s' if isinstance(answer, dict) else ''}.").split(
        "\n"
    )
    # Blanks between columns stay
    wrapped = [textwrap.wrap(line, 110, drop_whitespace=False) or [""] for line in text_lines]
    remark = "\n".join(
        f"# {part if k == 0 else part.lstrip()}".rstrip() for parts in wrapped for k, part in enumerate(parts)
    )
    blank = dict.fromkeys(answer) if isinstance(answer, dict) else None

    def quoted(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)

    def cell(value: Any) -> str:
        body = (
            "{\n" + "".join(f"    {quoted(k)}: {quoted(v)},\n" for k, v in value.items()) + "}"
            if isinstance(value, dict)
            else quoted(value)
        )
        return f"{remark}\n{entry} = {body}\n" if points else f'{remark}\ncheck.predict("{id}", {body})\n'

    def mistake(name: str, value: Any, hint: str) -> Wrong:
        if not isinstance(answer, dict):
            return Wrong(name, value, hint, rtol=max(rtol, 1e-4))
        return Wrong(name, {**answer, **value}, hint, on=tuple(value), rtol=max(rtol, 1e-4))

    return Exercise(
        id=id,
        title=title,
        kind=kind,
        points=points,
        minutes=minutes,
        difficulty=level,
        question=text,
        entry=entry,
        stub=cell(blank),
        solution=cell(answer),
        probes=entries(answer, rtol, also or {})
        if isinstance(answer, dict)
        else (Probe("answer", (), answer, drivers.answer, rtol=rtol),),
        bank=tuple(mistake(*w) for w in wrong),
        hints=Hints(*hints),
        reveal=reveal,
        fresh=fresh,
        working=steps(working) if working else "",
        choices=choices,
    )


def steps(body: str) -> str:
    """The body of a function as `Exercise.working`."""
    return "def working():\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


def entries(
    answer: Mapping[str, Any], rtol: float = 1e-6, also: Mapping[str, tuple] | None = None
) -> tuple[Probe, ...]:
    """A probe for every entry of an answer that is a dict. `also` names, for some entries, the answers that are right as well."""

    def probe(key: str, want: Any) -> Probe:
        others = (also or {}).get(key, ())
        return Probe(
            key,
            (key, None in others),
            lambda *_: want,
            drivers.entry,
            rtol=rtol,
            reads_as=(lambda got: want if got in others else got) if others else None,
        )

    return tuple(probe(key, want) for key, want in answer.items())
