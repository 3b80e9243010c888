"""%lesson: how far you are, and where to go next. %%predict: first the guess, then the run. %where: the wrong node.

What lives here: two tables from the local progress file. Nothing leaves the machine.
"""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.display import display

from ..chapters import CHAPTERS
from ..show import Facts, Line, Panel, Table
from .reading import CellProgram, Sorry, in_a_sentence


@magics_class
class CourseMagics(Magics):
    """%lesson, %%predict and %where."""

    shell: Any

    @line_magic
    @in_a_sentence
    def lesson(self, line: str) -> Any:
        """Your progress in the course, and where to go next.

            %lesson            every chapter, and the next exercise
            %lesson 5          the exercises of chapter 5

        Progress is kept in a file on this machine; nothing leaves it.
        """
        from minigrad.course import exercises, progress
        from minigrad.course.exercise import Kind

        entries, complaint = progress.load()
        request = line.strip().lstrip("0") or ("0" if line.strip() else "")
        if request:
            if not request.isdigit() or int(request) not in CHAPTERS:
                raise Sorry(
                    f"%lesson takes the number of a chapter, 0 to {max(CHAPTERS)}, not {line.strip()!r}. Without a number: all chapters."
                )
            return self._chapter(int(request), exercises, entries)
        rows, following, done = [], None, 0
        with_exercises = exercises.chapters()
        for n, chapter in CHAPTERS.items():
            results = list(exercises.chapter(n).values()) if f"{n:02d}" in with_exercises else []
            passed = [e for e in results if entries.get(e.id, {}).get("passed")]
            open_ = [e for e in results if e not in passed and e.kind is not Kind.OPTIONAL]
            done += len(passed)
            following = following or (open_[0] if open_ else None)
            state = (
                ""
                if not results
                else "✓ done"
                if not open_
                else "… started"
                if passed or any(e.id in entries for e in results)
                else "○ open"
            )
            rows.append([f"{n:02d}", chapter.title, f"{len(passed)} of {len(results)}" if results else "–", state])
        if following is None:
            title, facts = f"All {done} exercises passed. What you can create, you understand.", Facts()
        else:
            chapter = CHAPTERS[int(following.id[:2])]
            title = f"Next: {following.id} {following.title}"
            facts = Facts(
                ("Question", following.question),
                ("About", f"{following.minutes} minutes"),
                ("Chapter", (str(chapter), chapter.notebook)),
            )
        return Panel(
            title,
            facts,
            Table(("", "chapter", "exercises", "state"), rows),
            Line(complaint, soft=True) if complaint else None,
        )

    @cell_magic
    @in_a_sentence
    def predict(self, line: str, cell: str) -> Any:
        """Run the cell only after its result was predicted, and compare the two.

            check.predict("07.a2", [6, 6, 6])       in a cell before: your guess

            %%predict 07.a2
            results                                 the last line is what you predicted

            %%predict 07.a2 --show
            picture                                 the last line is shown; the guess is compared with the exercise's answer (once:
                                                    further cells with the same id only show)

        A wrong prediction costs nothing and makes the answer stick; without one the cell stays closed. An answer that has passed counts
        as a prediction, and check.predict("07.a2", skip=True) opens the cell for readers.
        """
        from minigrad.course import check, exercises

        id, *options = line.split() or [""]
        if id not in exercises:
            raise Sorry(f"%%predict needs the id of an exercise, for example: %%predict 01.a, not {id!r}." if id else
                        "%%predict needs the id of an exercise, for example: %%predict 01.a.")  # fmt: skip
        if options not in ([], ["--show"]):
            raise Sorry(f"%%predict {id} takes one option, --show, not {' '.join(options)!r}.")
        if not check.predicted(id):
            return check.predict(id)
        program = CellProgram(self.shell, cell, "%%predict")
        result = program.run(self.shell.user_ns)
        first = check.compares_first(id, cell)
        if not options:
            return check.compare(id, result)
        if first and exercises[id].is_value:  # code that has passed was told so by its check
            display(check.compare(id))
        return result if program.last is not None else None

    @line_magic
    @in_a_sentence
    def where(self, line: str) -> Any:
        """Go to the first wrong node of the answer that was judged last.

            check("05.b", backward)        ✗
            %where                         your code beside minigrad's Value, at the step where they part

        For answers that are an engine or a part of one. Of other answers it names the place in words.
        """
        from minigrad.course import check
        from minigrad.course.checking import drawn

        from ..lessons.own_engine import first_fault

        if line.strip():
            raise Sorry(f"%where takes nothing on its line, but found {line.strip()!r}. It goes by the last check.")
        if check.last is None:
            raise Sorry("Nothing was judged yet. Run a cell with check(...) first, then %where.")
        exercise, answer, result = check.last
        if result.passed:
            raise Sorry(f"{exercise.id} is passed: there is no wrong node to go to.")
        if drawn(exercise) and (hit := first_fault(answer)):
            return hit
        wrong = result.first_wrong
        if wrong is None:
            raise Sorry(
                f"The judge of {exercise.id} could not name one place that is wrong. check.hint({exercise.id!r}) helps further."
            )
        raise Sorry(f"{exercise.id}, {wrong['probe']}: the first wrong place is {wrong['node']}, it is {wrong['say']}.")

    def _chapter(self, n: int, exercises: Any, entries: Any) -> Panel:
        chapter = CHAPTERS[n]
        results = list(exercises.chapter(n).values()) if f"{n:02d}" in exercises.chapters() else []
        rows = []
        for e in results:
            entry = entries.get(e.id, {})
            state = "✓ passed" if entry.get("passed") else "✗ not yet" if entry.get("tries") else "○ open"
            rows.append([e.id, e.title, state, f"{e.minutes} min"])
        table = Table(("exercise", "title", "state", "about"), rows) if rows else Line("This chapter has no exercises.")
        return Panel(
            f"Chapter {n:02d}: {chapter.title}", table, Facts(("Notebook", (chapter.notebook, chapter.notebook)))
        )
