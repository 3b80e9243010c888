"""`check`: the one thing a learner calls.

    check("05.b", backward)      judge an answer          check.hint("05.b")      one more hint each time
    check.predict("01.a", 30)    note a guess first       check.reveal("05.b")    the solution, then fresh numbers
    check.progress()             what has passed so far

What lives here: the conversation. What does not: running (guard.py), judging (judge.py), the exercises themselves.
"""

from __future__ import annotations

import ast
import random
import types
from typing import Any

from . import progress
from .drivers import DRAWN
from .drivers import value as value_driver
from .exercise import STARS, Exercise, Fresh
from .exercises import exercises
from .guard import run, run_probes
from .judge import GLYPH, OFF, Line, compare, judge, wanted
from .plain import describe, plain
from .result import Note, Result
from .symptoms import error_sentence

_MISSING = object()


class Check:
    """Judges answers to exercises and keeps the conversation about them. Use the ready-made `check`."""

    def __init__(self) -> None:
        self._tried: set[str] = set()
        self._hints: dict[str, int] = {}
        self._fresh: dict[str, int] = {}
        self._predictions: dict[str, Any] = {}
        self._exam = False
        self.last: tuple[Exercise, Any, Result] | None = None  # the last answer that was judged: %where shows where it went wrong

    def __repr__(self) -> str:
        return 'check("05.b", backward) judges an answer; see also check.hint, check.reveal, check.predict, check.progress'

    def __call__(self, id: str, answer: Any = _MISSING) -> Result:
        """Judge an answer: a function, a class or a value, as the exercise asks. Raises KeyError for an unknown exercise."""
        if isinstance(id, str) and id.endswith("+"):
            return self._check_fresh(_find(id[:-1]), answer)
        ex = _find(id)
        if answer is _MISSING:
            return Result(ex.id, ex.title, "untried", say=f'has no answer to judge: write `check("{ex.id}", {ex.entry})`.')
        if untouched(ex, answer):
            what = f"replace None in {ex.entry}" if ex.stub.rstrip().endswith("None") else f"complete {ex.entry}"
            return Result(ex.id, ex.title, "untried", say=f"not tried yet: {what} in the cell above, run that cell, then this one again.")
        self._tried.add(ex.id)
        if not ex.is_value and not callable(answer):
            kind = "class" if f"class {ex.entry}" in ex.solution else "function"
            say = f"the {kind} itself is needed, this is {describe(_safe(answer))}"
            hint = f'Hand over {ex.entry} without calling it: check("{ex.id}", {ex.entry}).'
            return Result(ex.id, ex.title, "failed", 0.0, ex.points, (Line(ex.entry, OFF, say),), hint)
        verdict = judge(ex, run_probes(ex, answer))
        complaint = progress.update(ex.id, tries=1, best=round(verdict.score, 4), passed=verdict.passed)
        footer = "" if verdict.passed else f'More: check.hint("{ex.id}")'
        if not (verdict.passed or verdict.mistake):
            self._hints.setdefault(ex.id, 1)  # the first hint has just been given
        if verdict.first_wrong and drawn(ex):
            footer += ". Step to the first wrong node, after %load_ext minigrad: %where"
        result = Result(
            ex.id,
            ex.title,
            "passed" if verdict.passed else "failed",
            verdict.score,
            ex.points,
            verdict.lines,
            verdict.hint,
            verdict.mistake,
            verdict.first_wrong,
            verdict.notes + ((complaint,) if complaint else ()),
            footer=footer,
        )
        self.last = (ex, answer, result)
        return result

    def again(self, id: str, probe: str, answer: Any, *inputs: Any) -> Note:
        """One probe with the inputs of a graded copy, as its feedback page writes the call after the deadline."""
        ex = _find(id)
        one = {p.name: p for p in ex.probes}[probe]
        args = inputs or one.args
        outcome = run(one.driver, answer, args, ex.limits)
        line = next(line for line in judge(ex, {probe: outcome}, {probe: args}).lines if line.probe == probe)
        gave = error_sentence(outcome["error"]) if outcome["error"] else "nothing in time" if outcome["late"] else _show(outcome["got"])
        return Note(f"{GLYPH[line.level]} {ex.id} {probe}{': ' + line.say if line.say else ''}", f"Your answer gave: {gave}")

    def exam(self) -> Note:
        """From here on neither hints nor solutions, in this kernel: the notebooks of an exam call it."""
        self._exam = True
        return Note("This is an exam", "check judges your answers, and gives neither hints nor solutions.")

    def about(self, id: str) -> Note:
        """The question, its kind, minutes and difficulty."""
        ex = _find(id)
        points = f"{ex.points} point{'s' * (ex.points != 1)}"
        return Note(f"{ex.id} {ex.title} ({ex.kind.value}, {STARS[ex.difficulty]}, about {ex.minutes} min, {points})", ex.question)

    def hint(self, id: str) -> Note:
        """The next of three tiers: a nudge, the rule, a worked twin."""
        ex = _find(id)
        if self._exam:
            return self.exam()
        asked = self._hints.get(ex.id, 0)
        tiers = list(ex.hints)
        self._hints[ex.id] = min(asked + 1, len(tiers))
        if asked >= len(tiers):
            return Note(
                f"{ex.id}: that was the last hint",
                f'All three again:\n{chr(10).join(f"{n}: {t}" for n, t in tiers)}\nThe solution: check.reveal("{ex.id}")',
            )
        progress.update(ex.id, hints=asked + 1)
        name, text = tiers[asked]
        more = f'\nNext: check.hint("{ex.id}") again gives the {tiers[asked + 1][0].lower()}.' if asked + 1 < len(tiers) else ""
        return Note(f"{ex.id}, hint {asked + 1} of {len(tiers)}: {name}", text + more)

    def reveal(self, id: str, even_so: bool = False) -> Note:
        """The solution, after an honest try (any answer that differs from the stub) or with `even_so=True`; then fresh numbers."""
        ex = _find(id)
        if self._exam:
            return self.exam()
        if not even_so and ex.id not in self._tried and not progress.load()[0].get(ex.id, {}).get("tries"):
            return Note(
                f"{ex.id}: try it once first",
                f"Any honest attempt counts: it is remembered far better than a solution that was only read.\nStuck? "
                f'check.hint("{ex.id}"). '
                f'Really now? check.reveal("{ex.id}", even_so=True)',
            )
        progress.update(ex.id, revealed=True)
        self._fresh.setdefault(ex.id, 0)
        return Note(f"{ex.id} {ex.title}: a solution", f"{ex.reveal}\n{self._fresh_text(ex)}", ex.solution)

    def fresh(self, id: str) -> Note:
        """Another question of the same kind with new numbers."""
        ex = _find(id)
        self._fresh[ex.id] = self._fresh.get(ex.id, -1) + 1
        return Note(f"{ex.id}+ fresh numbers", self._fresh_text(ex))

    def predict(self, id: str, guess: Any = None) -> Note:
        """Note a guess before running the code. It says nothing about right or wrong; `check.compare` does, afterwards."""
        ex = _find(id)
        if guess is None or guess is Ellipsis:
            return Note(
                f"○ {ex.id}: no prediction yet", "Put your guess in place of None. A wrong one costs nothing and makes the answer stick."
            )
        outcome = run(value_driver, guess, (), ex.limits)
        self._predictions[ex.id] = outcome["got"]
        progress.update(ex.id, predicted=True)
        return Note(
            f"○ {ex.id}: noted, you predict {_show(outcome['got'])}", f'Now run the code, then check.compare("{ex.id}", what_it_gave).'
        )

    def predicted(self, id: str) -> bool:
        """Was a guess noted since the kernel started?"""
        return _find(id).id in self._predictions

    def compare(self, id: str, measured: Any) -> Note:
        """Say how the noted prediction compares with what the code really gave."""
        ex = _find(id)
        if ex.id not in self._predictions:
            return Note(f"○ {ex.id}: no prediction was noted", f'Next time call check.predict("{ex.id}", your_guess) before the code runs.')
        guess, real = self._predictions[ex.id], run(value_driver, measured, (), ex.limits)["got"]
        level, say, _ = compare(guess, real, ex.probes[0].rtol, ex.probes[0].atol, coy=True)
        if level != OFF:
            return Note(f"✓ {ex.id}: you predicted {_show(guess)}, the run gave {_show(real)}", "They agree.")
        verdict = judge(ex, run_probes(ex, guess)) if ex.is_value else None
        return Note(
            f"✗ {ex.id}: you predicted {_show(guess)}, the run gave {_show(real)}",
            verdict.hint if verdict and verdict.mistake else f"Your prediction is {say}. Where does it come from?",
        )

    def progress(self) -> Note:
        """A small table of what has passed, from the file on this machine."""
        entries, complaint = progress.load()
        rows = [("exercise", "title", "state", "best", "tries", "hints")]
        passed = 0
        for id, ex in exercises.items():
            e = entries.get(id, {})
            ok = bool(e.get("passed"))
            passed += ok
            state = "✓ passed" if ok else ("✗ not yet" if e.get("tries") else "○ open")
            state += " (solution seen)" if e.get("revealed") else ""
            best = f"{round(100 * e['best'])} %" if isinstance(e.get("best"), (int, float)) else ""
            rows.append((id, ex.title, state, best, str(e.get("tries", "")), str(e.get("hints", ""))))
        return Note(f"{passed} of {len(exercises)} exercises passed", complaint, rows=tuple(rows))

    # ---- fresh variants ----

    def _current(self, ex: Exercise) -> Fresh:
        return ex.fresh(random.Random(f"{ex.id}:{self._fresh.get(ex.id, 0)}"))

    def _fresh_text(self, ex: Exercise) -> str:
        question = self._current(ex).question
        return f'Now with fresh numbers: {question}\nAnswer with check("{ex.id}+", your_answer); another one: check.fresh("{ex.id}").'

    def _check_fresh(self, ex: Exercise, answer: Any) -> Result:
        fresh, id = self._current(ex), f"{ex.id}+"
        if answer is _MISSING or answer is None or answer is Ellipsis:
            return Result(id, ex.title, "untried", say=f"not tried yet: {fresh.question}")
        outcome = run(value_driver, answer, (), ex.limits)
        if outcome["error"]:
            return Result(id, ex.title, "failed", lines=(Line("your answer", OFF, f"{outcome['error']['type']} while reading it"),))
        level, say, _ = compare(outcome["got"], fresh.answer, fresh.rtol, 1e-12, coy=True)
        if level != OFF:
            note = progress.update(ex.id, fresh=True)
            return Result(id, ex.title, "passed", 1.0, lines=(Line("fresh numbers", level),), notes=(note,) if note else ())
        hint = next((h for value, h in fresh.wrong if compare(outcome["got"], plain(value), fresh.rtol, 1e-12)[0] != OFF), "")
        return Result(id, ex.title, "failed", lines=(Line("fresh numbers", OFF, say),), hint=hint, footer=f'More: check.hint("{ex.id}")')


def drawn(ex: Exercise) -> bool:
    """Is the answer an engine, or a part of one, that a graph view can run step by step?"""
    return any(probe.driver in DRAWN for probe in ex.probes)


def _find(id: str) -> Exercise:
    return exercises[id]


def _safe(x: Any) -> Any:
    try:
        return plain(x)
    except Exception:
        return {"!": "an object that cannot be read"}


def _show(x: Any) -> str:
    if isinstance(x, float):
        return f"{x:.6g}"
    return describe(x) if isinstance(x, dict) and "!" in x else str(x)[:60]


def untouched(ex: Exercise, answer: Any) -> bool:
    """Whether an answer is still the stub: the same value, or functions with the same code (comments and layout do not count)."""
    if answer is Ellipsis or (answer is None and ex.is_value):
        return True
    stub = ex.load(ex.stub)
    if ex.is_value:
        try:
            return repr(plain(answer)) == repr(plain(stub))
        except Exception:
            return False
    return _same_code(answer, stub) or _same_code(answer, _by_statements(ex))


def _by_statements(ex: Exercise) -> Any:
    """The stub as a notebook compiles it, one statement at a time: Python 3.11 calls np.sqrt by other bytecode where it sees the import."""
    namespace: dict[str, Any] = {}
    for statement in ast.parse(ex.stub).body:
        exec(compile(ast.Module([statement], []), f"<{ex.id}>", "exec"), namespace)
    return namespace[ex.entry]


def _same_code(a: Any, b: Any) -> bool:
    if isinstance(a, type) and isinstance(b, type):
        fa, fb = ({k: getattr(f, "__func__", f) for k, f in vars(c).items()} for c in (a, b))  # __func__: of static methods
        fa, fb = ({k: f for k, f in members.items() if isinstance(f, types.FunctionType)} for members in (fa, fb))
        return fa.keys() == fb.keys() and all(_same_code(fa[k], fb[k]) for k in fa)
    a, b = (getattr(f, "__code__", f) for f in (a, b))
    if not (isinstance(a, types.CodeType) and isinstance(b, types.CodeType)):
        return type(a) is type(b) and repr(a) == repr(b)
    same = a.co_code == b.co_code and a.co_names == b.co_names and a.co_varnames == b.co_varnames and len(a.co_consts) == len(b.co_consts)
    return same and all(_same_code(x, y) for x, y in zip(a.co_consts, b.co_consts, strict=True))


check = Check()
__all__ = ["Check", "check", "untouched", "wanted"]
