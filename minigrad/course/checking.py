"""`check`: the interface for learners.

    check("05.b", backward)      judge an answer          check.hint("05.b")      one more hint each time
    check.predict("01.a", 30)    note a guess first       check.reveal("05.b")    the solution, then fresh numbers
    check.recall()               a question from earlier     check.sicken()          a loop with a fault in it
    check.explain("05", "...")   two sentences, compared  check.keep("05.b")      write your answer to my_engine.py
    check.progress()             what has passed so far   check.engine()          your Value and backward, for later chapters
    check.hand_in()              what the grader will find in the saved notebook, and a zip file to hand in

Running an answer is in guard.py, judging in judge.py.
"""

from __future__ import annotations

import ast
import random
import re
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ..words import listed
from . import own, progress, recall
from .bank import safely
from .claims import Claim, fingerprint
from .drivers import DRAWN, tidy
from .drivers import value as value_driver
from .exercise import STARS, Exercise, Fresh
from .exercises import exercises
from .explain import QUESTIONS
from .guard import run, run_probes
from .judge import GLYPH, OFF, Line, Verdict, compare, judge, wanted
from .plain import describe, plain
from .raised import error_sentence
from .result import Comparison, Note, Result
from .symptoms import choices_of

_MISSING = object()
WORDS = 5  # an explanation of fewer words has not been tried yet


class Check:
    """Judges answers to exercises and keeps the conversation about them. Use the ready-made `check`."""

    def __init__(self) -> None:
        self._tried: set[str] = set()
        self._hints: dict[str, int] = {}
        self._fresh: dict[str, int] = {}
        self._predictions: dict[str, Any] = {}  # by id; _MISSING where the cell was opened without one
        self._asked: dict[str, str] = {}  # by id: the guess of another kind that was asked about, once
        self._compared: dict[str, str] = {}  # by id: the cell that has compared the newest guess
        self._passed: dict[str, Any] = {}  # the answers that passed in this kernel
        self._judged: dict[str, Claim] = {}  # by id: the last verdict in this kernel
        self._known_good: set[tuple[Any, str]] = set()  # (id, source) of answers in my_engine.py that pass
        self._reference: dict[str, Any] = {}
        self._exam = False
        self._recalled: recall.Question | None = None
        self.where: Callable[[Any], str] | None = (
            None  # %where's sentence about an engine, once `%load_ext minigrad` has brought it
        )
        self.cells: Callable[[], list[str]] | None = (
            None  # the texts of the cells that were run, once the extension is loaded
        )
        self.last: tuple[Exercise, Any, Result] | None = (
            None  # the last answer that was judged: %where shows where it went wrong
        )

    def __repr__(self) -> str:
        return 'check("05.b", backward) judges an answer; see also check.hint, check.reveal, check.predict, check.progress, check.hand_in'

    def __call__(self, id: str, answer: Any = _MISSING) -> Result:
        """Judge an answer: a function, a class or a value, depending on the exercise. Raises KeyError for an unknown exercise."""
        if isinstance(id, str) and id.endswith("+"):
            return self._check_fresh(_find(id[:-1]), answer)
        ex = _find(id)
        if answer is _MISSING:
            call = f'check("{ex.id}", {ex.entry})' if ex.graded else f'check.predict("{ex.id}", your_guess)'
            return Result(ex.id, ex.title, "untried", say=f"has no answer to judge: write `{call}`.")
        if untouched(ex, answer):
            what = f"replace None in {ex.entry}" if ex.stub.rstrip().endswith("None") else f"complete {ex.entry}"
            what = what if ex.graded else "put your guess in place of None in check.predict"
            return Result(
                ex.id,
                ex.title,
                "untried",
                say=f"not tried yet: {what} in the cell above, run that cell, then this one again.",
            )
        if any(answer is lent for lent in self._reference.values()):
            say = f"this {ex.entry} is the course's, from check.mine or check.engine. Run the cell of your own answer, then this one again."
            return Result(ex.id, ex.title, "untried", say=say)
        if broken := self._broken(ex):
            return Result(ex.id, ex.title, "untried", say=broken)
        self._tried.add(ex.id)
        if not ex.is_value and not callable(answer):
            kind = "class" if f"class {ex.entry}" in ex.solution else "function"
            say = f"the {kind} itself is needed, this is {describe(_safe(answer))}"
            hint = f'Hand over {ex.entry} without calling it: check("{ex.id}", {ex.entry}).'
            return Result(ex.id, ex.title, "failed", 0.0, ex.points, (Line(ex.entry, OFF, say),), hint)
        outcomes = run_probes(ex, answer)
        verdict = judge(ex, outcomes)
        complaint = progress.update(ex.id, tries=1, best=round(verdict.score, 4), passed=verdict.passed)
        footer = "" if verdict.passed else f'More: check.hint("{ex.id}")'
        if verdict.passed:
            self._passed[ex.id] = answer
            offer = f'check.keep("{ex.id}") writes it to {own.FILE}, beside this notebook, for later chapters and for programs of your own.'
            footer = offer if ex.reused else ""
        if not (verdict.passed or verdict.mistake):
            self._hints.setdefault(ex.id, 1)  # the first hint has just been given
        if verdict.first_wrong and drawn(ex):
            footer += f". Step to the first wrong node{'' if self.where else ', after %load_ext minigrad'}: %where"
        if ex.graded:
            program = "" if ex.is_value else fingerprint(safely(own.source_of, answer, otherwise=""))
            self._judged[ex.id] = Claim(ex.id, round(verdict.score, 4), program)
        first = next(
            (outcomes[line.probe] for line in verdict.lines if line.level == OFF and line.probe in outcomes), None
        )
        # If the first failing probe returned a wrong value, its hint is shown and not the next missing method
        missing = (
            ""
            if verdict.passed or (first and not first["error"] and first["got"] is not None)
            else unwritten(ex, answer)
        )
        hint = self._hint(ex, answer, verdict)
        if missing and verdict.mistake in {wrong.name for wrong in ex.bank}:
            if verdict.mistake != "forgets to return the result":  # an unwritten method returns nothing, too
                missing = ""  # the hint explains a mistake in a method that is written
        elif missing:
            hint = ""  # a missing part explains more than its symptoms
        elif f"def {missing.strip('`')}(" not in ex.stub:
            missing = ""  # a reflected form: the hint names the one that is needed first
        result = Result(
            ex.id,
            ex.title,
            "passed" if verdict.passed else "failed",
            verdict.score,
            ex.points,
            verdict.lines,
            hint,
            verdict.mistake,
            verdict.first_wrong,
            verdict.notes + ((complaint,) if complaint else ()),
            footer=footer,
            ideas=verdict.ideas,
            next=missing,
            claim=self._judged.get(ex.id),
        )
        self.last = (ex, answer, result)
        return result

    def _hint(self, ex: Exercise, answer: Any, verdict: Verdict) -> str:
        """The verdict's hint. Of a whole engine with a mistake that its bank does not know, %where can say at which step it goes wrong."""
        recognised = verdict.passed or verdict.mistake in {wrong.name for wrong in ex.bank}
        if recognised or verdict.endless or self.where is None or not drawn(ex) or unwritten(ex, answer):
            return verdict.hint
        return safely(self.where, answer, otherwise="") or verdict.hint

    def _broken(self, ex: Exercise) -> str:
        """A sentence if the newest cell that defines the entry is no valid Python, so that an older version is bound; else ""."""
        begins = re.compile(rf"^(def|class) +{ex.entry}\b|^{ex.entry} *=[^=]", re.M)
        newest = next((text for text in reversed(self.cells() if self.cells else []) if begins.search(text)), "")
        try:
            compile(newest, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except SyntaxError as error:
            line = (error.text or "").strip()
            at = f"line {error.lineno}" + (f", `{line}`" if line else "")
            return (
                f"not judged: the newest text of {ex.entry} did not run. {type(error).__name__} in {at}: {error.msg}. "
                "Correct that line, run the cell, then this one again."
            )
        except ValueError:  # a null character
            return ""
        return ""

    def again(self, id: str, probe: str, answer: Any, *inputs: Any) -> Note:
        """One probe with the inputs of a graded copy, as its feedback page writes the call after the deadline."""
        ex = _find(id)
        one = {p.name: p for p in ex.probes}[probe]
        args = inputs or one.args
        outcome = run(one.driver, answer, args, ex.limits)
        line = next(line for line in judge(ex, {probe: outcome}, {probe: args}).lines if line.probe == probe)
        gave = (
            error_sentence(outcome["error"])
            if outcome["error"]
            else "nothing in time"
            if outcome["late"]
            else _show(outcome["got"])
        )
        return Note(
            f"{GLYPH[line.level]} {ex.id} {probe}{': ' + line.say if line.say else ''}", f"Your answer gave: {gave}"
        )

    def exam(self) -> Note:
        """From here on neither hints nor solutions, in this kernel: the notebooks of an exam call it."""
        self._exam = True
        return Note("This is an exam", "check judges your answers, and gives neither hints nor solutions.")

    def about(self, id: str) -> Note:
        """The question, its kind, minutes and difficulty."""
        ex = _find(id)
        points = f"{ex.points} point{'s' * (ex.points != 1)}" if ex.graded else "no points"
        return Note(
            f"{ex.id} {ex.title} ({ex.kind.value}, {STARS[ex.difficulty]}, about {ex.minutes} min, {points})",
            ex.question,
        )

    def hint(self, id: str) -> Note:
        """The next of three tiers: a nudge, the rule, a worked example."""
        ex = _find(id)
        if self._exam:
            return self.exam()
        request = self._hints.get(ex.id, 0)
        tiers = list(ex.hints)
        self._hints[ex.id] = min(request + 1, len(tiers))
        if request >= len(tiers):
            return Note(
                f"{ex.id}: that was the last hint",
                f'All three again:\n{chr(10).join(f"{n}: {t}" for n, t in tiers)}\nThe solution: check.reveal("{ex.id}")',
            )
        progress.update(ex.id, hints=request + 1)
        name, text = tiers[request]
        more = (
            f'\nNext: check.hint("{ex.id}") again gives the {tiers[request + 1][0].lower()}.'
            if request + 1 < len(tiers)
            else ""
        )
        return Note(f"{ex.id}, hint {request + 1} of {len(tiers)}: {name}", text + more)

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

    def predict(self, id: str, guess: Any = None, *, skip: bool = False) -> Note:
        """Note a guess before running the code, which opens the cell that begins with `%%predict`. It says nothing about right or wrong.

        `skip=True` opens that cell without a guess. Both are remembered after a restart of the kernel.
        """
        ex = _find(id)
        if skip:
            self._compared.pop(ex.id, None)
            self._predictions.setdefault(ex.id, _MISSING)
            progress.update(ex.id, skipped=True)
            what = "a prediction" if ex.is_value else "an answer"
            return Note(f"○ {ex.id}: opened without {what}", f"Run the cell that begins with %%predict {ex.id}.")
        if guess is None or (ex.is_value and untouched(ex, guess)):
            if self.predicted(id) and (earlier := self._guess(ex)) is not _MISSING:
                return Note(
                    f"○ {ex.id}: you predicted {_show(earlier)} earlier",
                    "That still counts. A new guess takes its place.",
                )
            if not ex.is_value:
                return Note(
                    f"○ {ex.id}: not passed yet",
                    f"This cell opens once your answer to {ex.id} has passed its check, "
                    f'or after check.predict("{ex.id}", skip=True).',
                )
            where = "None" if guess is None else "each None"
            return Note(
                f"○ {ex.id}: no prediction yet",
                f"Put your guess in place of {where}. A wrong one costs nothing and makes the answer stick. "
                f'To see the answer without a guess: check.predict("{ex.id}", skip=True)',
            )
        outcome = run(value_driver, guess, (), ex.limits)
        problem = _other_kind(outcome["got"], ex.load(ex.solution), _offered(ex)) if ex.is_value else ""
        if problem and self._asked.get(ex.id) != (asked := _show(outcome["got"])):
            self._asked[ex.id] = asked
            return Note(
                f"○ {ex.id}: not noted yet", f"{problem} Correct it, or run the cell again to keep it as it is."
            )
        self._predictions[ex.id] = outcome["got"]
        self._compared.pop(ex.id, None)
        progress.update(ex.id, predicted=True, guess=outcome["got"], **({} if ex.graded else {"passed": True}))
        return Note(f"○ {ex.id}: noted, you predict {_show(outcome['got'])}", "Now run the code and compare.")

    def predicted(self, id: str) -> bool:
        """Was a guess noted, or skipped, or has the exercise passed? In this kernel or an earlier one."""
        ex = _find(id)
        if ex.id in self._predictions or ex.id in self._passed:
            return True
        entry = progress.load()[0].get(ex.id, {})
        return "guess" in entry or bool(entry.get("passed") or entry.get("skipped"))

    def compares_first(self, id: str, cell: str) -> bool:
        """Whether this is the first cell that opens after the newest guess. Only that one compares the guess."""
        return self._compared.setdefault(id, cell) == cell

    def _guess(self, ex: Exercise) -> Any:
        """The guess that was noted, else the answer that passed, else _MISSING."""
        earlier = progress.load()[0].get(ex.id, {}).get("guess", _MISSING)
        for guess in (
            self._predictions.get(ex.id, _MISSING),
            earlier,
            self._passed.get(ex.id, _MISSING) if ex.is_value else _MISSING,
        ):
            if guess is not _MISSING:
                return guess
        return _MISSING

    def compare(self, id: str, measured: Any = _MISSING) -> Note:
        """Compare the recorded prediction with the measured result, or, without one, with the exercise's answer."""
        ex = _find(id)
        if not self.predicted(id):
            return Note(
                f"○ {ex.id}: no prediction was noted",
                f'Next time call check.predict("{ex.id}", your_guess) before the code runs.',
            )
        guess = self._guess(ex)
        gave = "the run gave" if measured is not _MISSING else "it is"
        if measured is _MISSING:
            if not ex.is_value:
                return Note(f"✓ {ex.id}: passed")
            measured = ex.load(ex.solution)
        real = run(value_driver, measured, (), ex.limits)["got"]
        if guess is _MISSING:
            return Note(f"○ {ex.id}: {gave} {_show(real)}", "No prediction was noted.")
        if ex.by_entry and isinstance(guess, dict):
            return self._compare_entries(ex, guess, real, gave)
        level, say, _ = compare(tidy(guess), tidy(real), ex.probes[0].rtol, ex.probes[0].atol, coy=True)
        if level != OFF:
            return Note(f"✓ {ex.id}: you predicted {_show(guess)}, {gave} {_show(real)}", "They agree.")
        verdict = judge(ex, run_probes(ex, guess)) if ex.is_value else None
        return Note(
            f"✗ {ex.id}: you predicted {_show(guess)}, {gave} {_show(real)}",
            verdict.hint if verdict and verdict.mistake else f"Your prediction is {say}. Where does it come from?",
        )

    def _compare_entries(self, ex: Exercise, guess: dict, real: Any, gave: str) -> Note:
        """A line for every entry of a prediction that is a dict; the run may give a dict or the entries in order."""
        names = [probe.name for probe in ex.probes]
        real = (
            dict(zip(names, real, strict=False)) if isinstance(real, list) else real if isinstance(real, dict) else {}
        )
        lines = []
        for probe in ex.probes:
            guessed, its = (probe.driver(entries, *probe.args) for entries in (guess, real))
            guessed, its = (probe.reads_as(x) if probe.reads_as else x for x in (guessed, its))
            agree = compare(guessed, its, probe.rtol, probe.atol, coy=True)[0] != OFF
            both = f"you predicted {_show(guess.get(probe.name))}, {gave} {_show(real.get(probe.name))}"
            lines.append((agree, f"{'✓' if agree else '✗'} {probe.name}: {both}"))
        right = sum(agree for agree, _ in lines)
        verdict = judge(ex, run_probes(ex, guess))
        hints = [verdict.hint] if right < len(lines) and verdict.mistake else []
        sign = "✓" if right == len(lines) else "✗"
        return Note(
            f"{sign} {ex.id}: {right} of {len(lines)} predictions agree",
            "\n".join([*(text for _, text in lines), *hints]),
        )

    def recall(self, knew: bool | None = None) -> Note:
        """One question from a chapter that you have begun. Then `check.recall(True)` if you knew the answer, else `check.recall(False)`.

        What you knew comes back after 1, 3, 7, 21 and 60 days, what you did not know tomorrow.
        """
        today, said = recall.day(), ""
        if knew is not None and self._recalled is not None:
            days = recall.answered(self._recalled, knew, progress.load()[0], today)
            said = f"The last one comes back in {days} day{'s' * (days != 1)}. "
        waiting = recall.due(Path.cwd(), progress.load()[0], today)
        self._recalled = waiting[0] if waiting else None
        if self._recalled is None:
            return Note(
                "○ nothing to recall today",
                said + "Questions come from chapters in which an exercise of yours has passed.",
            )
        return Note(
            f"Chapter {int(self._recalled.chapter)}: {self._recalled.question}",
            f"{said}{len(waiting) - 1} more today. Answer aloud, open the answer, then call check.recall(True) or check.recall(False).",
            folded=self._recalled.answer,
        )

    def explain(self, chapter: str, text: str = "") -> Note:
        """A chapter's question for two sentences. An answer, and three weaker ones, are shown once there is a text. It is not graded."""
        if chapter not in QUESTIONS:
            return Note(
                f"○ {chapter}: no question",
                f"There is one in each of the chapters {', '.join(QUESTIONS)}. Write the number in quotes.",
            )
        one = QUESTIONS[chapter]
        if len(text.split()) < WORDS:
            return Note(
                f"○ {chapter}: {one.question}",
                "Write two sentences between the quotes, and run the cell. Then compare.",
            )
        weak = "\n".join(f"“{answer}” {lacks}" for answer, lacks in one.weak)
        entry = f"explain {chapter}"
        return Comparison(
            f"{chapter}: compare. Tick the ideas that your text has.",
            f"One good answer: “{one.good}”\nThree weaker ones:\n{weak}",
            ticks=one.ideas,
            ticked=tuple(ticks) if isinstance(ticks := progress.load()[0].get(entry, {}).get("ticks"), list) else (),
            entry=entry,
        )

    # ---- the learner's own code, in later chapters ----

    def keep(self, id: str) -> Note:
        """Write the cell of an answer that has passed to my_engine.py, beside the notebook. A later pass replaces it there."""
        ex = _find(id)
        if not ex.reused:
            return Note(f"○ {ex.id}: nothing to keep", "No later chapter uses this answer.")
        if ex.id not in self._passed:
            return Note(
                f"○ {ex.id}: not passed in this kernel",
                f'Run the cell of your answer and check("{ex.id}", {ex.entry}) first.',
            )
        return own.keep(ex, self._passed[ex.id], Path.cwd())

    def mine(self, id: str) -> Any:
        """Your answer to an exercise: from this kernel if it has passed here, else from my_engine.py if it still passes, else the course's.

        Prints one line that says which.
        """
        ex = _find(id)
        entry, where = self._mine(ex)
        print(f"{ex.entry}: {where}.")
        return entry

    def piece(self, id: str) -> tuple[Any, str]:
        """What `mine` returns, and whose it is ("yours, from my_engine.py"), without a printed line."""
        return self._mine(_find(id))

    def engine(self, kind: str = "scalar") -> tuple[Any, Any]:
        """`Value, backward` of chapter 05: yours if `mine` finds them, else the course's. Prints which.

        `engine("tensor")` returns `Tensor, backward`: the class of chapter 09 on your Value, with your rules, and the same backward.
        """
        pieces = {
            "Value": self._mine(_find("05.a")),
            "backward": self._mine(_find("05.b")),
            **({"Tensor": self._mine(_find("09.e"))} if kind == "tensor" else {}),
        }
        by_place: dict[str, list[str]] = {}
        for name, (_, where) in pieces.items():
            by_place.setdefault(where, []).append(name)
        print(" ".join(f"{listed(names)}: {where}." for where, names in by_place.items()))
        value, backward = pieces["Value"][0], pieces["backward"][0]
        if kind != "tensor":
            return value, backward
        from .growing import frame  # the course's numpy code, for tensors only

        tensor = frame(value)
        pieces["Tensor"][0](tensor)
        return tensor, backward

    def _mine(self, ex: Exercise) -> tuple[Any, str]:
        if ex.id in self._passed:
            return self._passed[ex.id], "yours, from this notebook"
        entry, complaint = own.load(ex, Path.cwd())
        if entry is not None:
            self._lend(entry, ex)
        if entry is not None and (entry, ex.id) not in self._known_good:
            complaint = "" if judge(ex, run_probes(ex, entry)).passed else f"{own.FILE} no longer passes {ex.id}"
            self._known_good |= {(entry, ex.id)} if not complaint else set()
        where = f"yours, from {own.FILE}"
        if entry is None or complaint:
            if ex.id not in self._reference:
                self._reference[ex.id] = ex.load(ex.solution)
            entry = self._reference[ex.id]
            until = "you have kept your own" if ex.reused else "yours passes"
            if not ex.reused and progress.load()[0].get(ex.id, {}).get("passed"):
                until = "yours has run and passed its check in this kernel, too"
            where = f"the course's ({complaint})" if complaint else f"the course's, until {until}"
            self._lend(entry, ex)
        return entry, where

    def _lend(self, entry: Any, ex: Exercise) -> None:
        """The answers to earlier exercises that this one calls by name: yours where there are some."""
        if ex.id not in ex.needs:
            own.lend(entry, **{_find(id).entry: self._mine(_find(id))[0] for id in ex.needs})

    def portfolio(self) -> Note:
        """Write portfolio.html beside the notebook: one page with the results of your own code, to share."""
        from . import portfolio  # trains, with numpy

        ids = ("05.a", "05.b", "09.e", "09.f", "17.b", "19.b")
        path, cards = portfolio.write({id: self._mine(_find(id)) for id in ids}, Path.cwd())
        if not cards:
            path.unlink()
            return Note("○ no page yet", "A card needs answers that are yours: 05.a and 05.b, 09.e and 09.f, or 19.b.")
        return Note(
            f"✓ {path.name} is written",
            f"It has {cards} card{'s' * (cards != 1)}, and needs neither this notebook nor a network.",
        )

    def sicken(self, number: int | None = None) -> Any:
        """A training loop on your engine with one fault in it, to be found with few measurements. `number` chooses a patient again."""
        from .clinic import Patient, any_number  # trains, with numpy

        pieces = {_find(id).entry: self._mine(_find(id))[0] for id in ("05.a", "05.b", "09.e", "09.f", "14.c2")}
        return Patient(pieces, any_number() if number is None else number)

    def hand_in(self, notebook: str | Path | None = None) -> Note:
        """Read the saved notebook like the grader, list the cell that it finds for each exercise, and write a zip file to hand in."""
        if (
            sys.platform == "emscripten"
        ):  # a page of the book: nothing is saved beside it, and the grader's files are not there
            return Note(
                "○ Nothing was written",
                "This is a page. Press ⋯ in the bar under its title and choose “Download as notebook”: that file is what you hand in.",
            )
        from .hand_in import hand_in  # the grader's files are needed by nothing else here

        return hand_in(notebook, self._judged)

    def progress(self) -> Note:
        """A table of the exercises that have passed, from the file on this machine: this notebook's chapter first."""
        entries, complaint = progress.load()
        notebook = own.this_notebook()
        chapter = notebook.name[:2] if notebook else ""
        rows = [("exercise", "title", "state", "best", "tries", "hints")]
        done = {True: 0, False: 0}  # exercises, and predictions
        for id, ex in sorted(exercises.items(), key=lambda item: item[1].chapter != chapter):
            e = entries.get(id, {})
            ok = bool(e.get("passed"))
            done[ex.graded] += ok
            state = "✓ passed" if ok else "✗ not yet" if e.get("tries") else "○ open"
            state = "✓ predicted" if ok and e.get("predicted") and not ex.graded else state
            state += " (solution seen)" if e.get("revealed") else ""
            best = f"{round(100 * e['best'])} %" if isinstance(e.get("best"), (int, float)) else ""
            rows.append((id, ex.title, state, best, str(e.get("tries", "")), str(e.get("hints", ""))))
        graded = sum(ex.graded for ex in exercises.values())
        head = f"{done[True]} of {graded} exercises passed, {done[False]} of {len(exercises) - graded} predictions made"
        return Note(head, complaint, rows=tuple(rows))

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
            return Result(
                id,
                ex.title,
                "failed",
                lines=(Line("your answer", OFF, f"{outcome['error']['type']} while reading it"),),
            )
        level, say, _ = compare(outcome["got"], fresh.answer, fresh.rtol, 1e-12, coy=True)
        if level != OFF:
            note = progress.update(ex.id, fresh=True)
            return Result(
                id, ex.title, "passed", 1.0, lines=(Line("fresh numbers", level),), notes=(note,) if note else ()
            )
        hint = next(
            (h for value, h in fresh.wrong if compare(outcome["got"], plain(value), fresh.rtol, 1e-12)[0] != OFF), ""
        )
        return Result(
            id,
            ex.title,
            "failed",
            lines=(Line("fresh numbers", OFF, say),),
            hint=hint,
            footer=f'More: check.hint("{ex.id}")',
        )


def drawn(ex: Exercise) -> bool:
    """Is the answer an engine, or a part of one, that a graph view can run step by step?"""
    return any(probe.driver in DRAWN for probe in ex.probes)


def _find(id: str) -> Exercise:
    return exercises[id]


def _offered(ex: Exercise) -> list[str]:
    """The words that a question offers, and those of its known mistakes: "error" may be a guess where a number is right."""
    guesses = [each for wrong in ex.bank for each in _leaves(wrong.answer)]
    return list(dict.fromkeys([*choices_of(ex), *(guess for guess in guesses if isinstance(guess, str))]))


def _leaves(answer: Any) -> Iterable[Any]:
    return answer.values() if isinstance(answer, dict) else [answer]


def _other_kind(guess: Any, solution: Any, choices: Sequence[str]) -> str:
    """Why this cannot be a guess at such a solution, in a sentence that does not tell the solution; "" if it can. choices: `_offered`."""
    if isinstance(guess, str) and guess.strip().lower() in [word.lower() for word in choices]:
        return ""
    if isinstance(solution, dict):
        if not isinstance(guess, dict):
            return (
                f"There are {len(solution)} questions here. Fill in the value behind each of them, and keep the braces."
            )
        if left := [key for key in solution if guess.get(key) is None]:
            return f"There is no guess yet for: {'; '.join(left)}."
        return next((f"For “{k}”: {why}" for k in solution if (why := _other_kind(guess[k], solution[k], choices))), "")
    if isinstance(solution, str):
        if not isinstance(guess, str):
            return f'This asks for a word or a letter in quotes, as in "a", and {_show(guess)} is none.'
        among = solution.lower() not in [word.lower() for word in choices]
        return "" if among else f"“{_show(guess)}” is not among the choices: {', '.join(choices)}."
    many = isinstance(solution, (list, tuple))
    numbers = guess if many and isinstance(guess, (list, tuple)) else [guess]
    if (many and numbers is not guess) or not all(isinstance(n, (int, float)) for n in numbers):
        kind = "several numbers in brackets, as in [1, 2]," if many else "a number, in digits,"
        if isinstance(guess, str) and re.fullmatch(r"\s*-?\d[\d.,\s]*", guess):
            return f'This asks for {kind} and "{_show(guess)}" is a text. Leave out the quotes.'
        return f"This asks for {kind} and {_show(guess)} is something else."
    return ""


def _safe(x: Any) -> Any:
    try:
        return plain(x)
    except Exception:
        return {"!": "an object that cannot be read"}


def _show(x: Any) -> str:
    if isinstance(x, float):
        return f"{x:.6g}"
    if isinstance(x, dict) and "!" in x:
        return describe(x)
    if isinstance(x, dict):
        return ", ".join(f"{_show(value)} ({key})" for key, value in x.items())
    return "[" + ", ".join(map(_show, x)) + "]" if isinstance(x, list) else str(x)[:60]


def unwritten(ex: Exercise, answer: Any) -> str:
    """The first method of the solution's class that the answer's does not have, or has as in the stub; "" of a function."""
    if not isinstance(answer, type):
        return ""
    stub, solution = (vars(ex.load(source)) for source in (ex.stub, ex.solution))
    for name, method in solution.items():
        if not isinstance(method, types.FunctionType) or not (name in stub or name.startswith("__")):
            continue
        if name in stub and _same_code(stub[name], method):
            continue  # it was given, such as __repr__
        own = getattr(answer, name, None)
        as_in_stub = name in stub and _same_code(own, stub[name])
        if own is None or own is getattr(object, name, None) or as_in_stub:
            return f"`{name}`"
    return ""


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
        # __func__: of static methods
        fa, fb = ({k: getattr(f, "__func__", f) for k, f in vars(c).items()} for c in (a, b))
        fa, fb = ({k: f for k, f in members.items() if isinstance(f, types.FunctionType)} for members in (fa, fb))
        return fa.keys() == fb.keys() and all(_same_code(fa[k], fb[k]) for k in fa)
    a, b = (getattr(f, "__code__", f) for f in (a, b))
    if not (isinstance(a, types.CodeType) and isinstance(b, types.CodeType)):
        return type(a) is type(b) and repr(a) == repr(b)
    same = (
        a.co_code == b.co_code
        and a.co_names == b.co_names
        and a.co_varnames == b.co_varnames
        and len(a.co_consts) == len(b.co_consts)
    )
    return same and all(_same_code(x, y) for x, y in zip(a.co_consts, b.co_consts, strict=True))


check = Check()
__all__ = ["Check", "check", "untouched", "wanted"]
