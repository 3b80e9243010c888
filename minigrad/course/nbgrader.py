"""nbgrader: `python -m minigrad.course.nbgrader OUT` makes its course folder from the notebooks and the exercises' definitions.

What lives here: the source tree (solutions between nbgrader's markers, a grade cell for each exercise), the configuration beside it, the
preprocessor that takes the place of nbgrader's kernel, and what a grade cell calls where nbgrader runs without that configuration. Both
ways hand the answer to the worker; a grade is always a builtin float between 0 and the exercise's points.

With the configuration, no student's code runs in nbgrader's process or in a kernel, so patched asserts, patched builtins and a kernel that
ends itself change nothing. Without it the grade cell runs in the student's kernel: the judge is still another process, but a student who
replaces the function that the cell calls can show any number.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .exercise import Exercise
from .exercises import exercises
from .grading.answers import Grade, draw_inputs, grade_answer
from .grading.pool import answer_server, close, server
from .grading.reader import Reader
from .grading.settings import Setting
from .judge import RIGHT, ideas
from .published import Chapter, chapters, read
from .result import Line, Result

REMARK = "# Change the lines above, or write your answer here."
CONFIG = """\
# nbgrader's settings for this course, made by `python -m minigrad.course.nbgrader`.
import os

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "minigrad"
c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))
c.ClearSolutions.code_stub = {"python": "%s"}
# Answers run in minigrad's limited processes, not in a kernel beside the grades. Of an error here nbgrader would only
# make a line of its log, and go on with a kernel: so end it.
try:
    from minigrad.course.nbgrader import preprocessors

    c.Autograde.autograde_preprocessors = preprocessors(c.CourseDirectory.root)
except Exception as error:
    raise SystemExit(f"nbgrader_config.py: students' code would run beside your grades ({error}). Nothing was done.") from error
"""


# ---- the source tree --------------------------------------------------------------------------------------------------------------------


def write_course(out: Path, notebooks: Sequence[Chapter]) -> list[str]:
    """Write OUT/source/NAME/NAME.ipynb for each notebook that has exercises, the configuration and a key. Returns their names."""
    import nbformat

    results = []
    for chapter in notebooks:
        nb = nbformat.reads(chapter.content.decode("utf-8"), as_version=4)
        if _add_grade_cells(nb):
            stem = chapter.name.removesuffix(".ipynb")
            folder = out / "source" / stem
            folder.mkdir(parents=True, exist_ok=True)
            nbformat.write(nb, folder / chapter.name)
            results.append(stem)
    if results:
        (out / "nbgrader_config.py").write_text(CONFIG % REMARK)
        if not (out / "key").exists():
            handle = os.open(out / "key", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(handle, secrets.token_hex(32).encode())
            os.close(handle)
    return results


def _add_grade_cells(nb: Any) -> int:
    """Turn a learner's notebook into nbgrader's source version, in place. Returns how many exercises it has."""
    from nbformat.v4 import new_code_cell

    cells, pending, count = [], None, 0
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        id = cell.metadata.get("minigrad", {}).get("exercise")
        if pending is not None and not (cell.cell_type == "code" and f'check("{pending.id}"' in cell.source):
            cells.append(_grade_cell(pending, new_code_cell))
            pending = None
        if id and cell.cell_type == "code" and exercises[id].graded:
            pending, count = exercises[id], count + 1
            cell.source = solution_cell(pending)
            cell.metadata["nbgrader"] = _metadata(
                f"answer-{_dashed(pending)}", grade=False, solution=True, locked=False
            )
            cells.append(cell)
            continue
        cells.append(cell)
        if pending is not None:
            cells.append(_grade_cell(pending, new_code_cell))
            pending = None
    if pending is not None:
        cells.append(_grade_cell(pending, new_code_cell))
    nb.cells = cells
    nb.nbformat, nb.nbformat_minor = 4, 5
    return count


def solution_cell(ex: Exercise) -> str:
    """The stub as students get it, and below it the solution between nbgrader's markers."""
    return f"# exercise {ex.id}\n{ex.stub}### BEGIN SOLUTION\n{ex.solution}### END SOLUTION"


def _grade_cell(ex: Exercise, new_code_cell: Any) -> Any:
    name = ex.id.replace(".", "_")
    source = (
        f"# Exercise {ex.id}, {ex.points} point{'s' * (ex.points != 1)}: graded after you hand it in. Please leave this cell as it is.\n"
        f"from minigrad.course.nbgrader import points as points_of_{name}\n\n"
        f'points_of_{name}("{ex.id}")'
    )
    metadata = {
        "nbgrader": _metadata(f"grade-{_dashed(ex)}", grade=True, solution=False, locked=True, points=ex.counted_points)
    }
    return new_code_cell(source, metadata=metadata, id=f"grade-{_dashed(ex)}")


def _dashed(ex: Exercise) -> str:
    return ex.id.replace(".", "-")


def _metadata(grade_id: str, **flags: Any) -> dict[str, Any]:
    return {"schema_version": 3, "grade_id": grade_id, "task": False, "cell_type": "code", **flags}


# ---- grading, in nbgrader's process ----------------------------------------------------------------------------------------------------


def preprocessors(root: str) -> list[type]:
    """nbgrader's own list for autograding, with `GradeApart` in the place where it runs a kernel."""
    from nbconvert.preprocessors import ClearMetadataPreprocessor
    from nbgrader.preprocessors import (
        AssignLatePenalties,
        CheckCellMetadata,
        IgnorePattern,
        LimitOutput,
        NbGraderPreprocessor,
        SaveAutoGrades,
    )

    class SaveGrades(SaveAutoGrades):
        """nbgrader's own, and the points of optional exercises as extra credit: they have no part in the maximum."""

        def _add_score(self, cell: Any, resources: Any) -> None:
            super()._add_score(cell, resources)
            ex = _graded_by(cell)
            if ex is not None and ex.counted_points < ex.points:
                given = (cell.metadata["nbgrader"]["grade_id"], self.notebook_id, self.assignment_id, self.student_id)
                self.gradebook.find_grade(*given).extra_credit = _clipped(resources["minigrad"][ex.id], ex.points)
                self.gradebook.db.commit()

    class GradeApart(NbGraderPreprocessor):
        """Fills the outputs of grade cells: a line for every probe, the hint, and the points. Everything else stays as it was handed in."""

        def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
            from nbformat.v4 import new_code_cell, new_output

            student = resources["nbgrader"]["student"]
            key = bytes.fromhex((Path(root) / "key").read_text().strip())
            setting = Setting(key, "1", (), (root,))
            grades = _grade_notebook(nb.cells, resources["nbgrader"]["notebook"], setting, student)
            resources["minigrad"] = {id: grade.points for id, grade in grades.items()}
            present = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in nb.cells}
            about = resources["nbgrader"]
            handed_out = _grade_ids(Path(root) / "source" / about["assignment"] / f"{about['notebook']}.ipynb")
            for ex in exercises.values():  # restore a grade cell that was deleted or has lost its metadata
                if f"grade-{_dashed(ex)}" in handed_out - present:
                    nb.cells.append(_grade_cell(ex, new_code_cell))
            for cell in nb.cells:
                if (graded := _graded_by(cell)) is not None:
                    grade = grades[graded.id]
                    points = repr(_clipped(grade.points, graded.counted_points))
                    value = new_output("execute_result", {"text/plain": points}, execution_count=1)
                    cell.outputs = [new_output("stream", name="stdout", text=_say(graded, grade) + "\n"), value]
                    cell.execution_count = 1
            return nb, resources

    return [
        GradeApart,
        IgnorePattern,
        ClearMetadataPreprocessor,
        LimitOutput,
        SaveGrades,
        AssignLatePenalties,
        CheckCellMetadata,
    ]


def _grade_ids(path: Path) -> set[str]:
    """The ids of the grade cells of an assignment's source."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.exists() else []
    return {cell["metadata"].get("nbgrader", {}).get("grade_id", "") for cell in cells}


def _graded_by(cell: Any) -> Exercise | None:
    metadata = cell.metadata.get("nbgrader", {})
    if cell.cell_type != "code" or not metadata.get("grade"):
        return None
    chapter, _, letter = metadata.get("grade_id", "").removeprefix("grade-").partition("-")
    return exercises[f"{chapter}.{letter}"] if f"{chapter}.{letter}" in set(exercises) else None


def _grade_notebook(
    cells: Sequence[Any], name: str, setting: Any, student: str, only: Sequence[str] = ()
) -> dict[str, Grade]:
    """The grade of every exercise of the course in this notebook, or of `only` these. Nothing in it can make this raise."""
    plain = [{"cell_type": c["cell_type"], "source": c["source"], "metadata": c.get("metadata", {})} for c in cells]
    only = only or tuple(id for id, ex in exercises.items() if ex.graded)
    read = server("reader", Reader).read_text(json.dumps({"cells": plain}), name, only)
    answers = read.books[0].answers if read.books else {}
    grades = {}
    for id in only:
        ex = exercises[id]
        grades[id] = Grade(id, 0.0, 0.0, ex.points, "not found" if read.books else "; ".join(read.problems))
        if answer := answers.get(id):
            try:
                if not answer.source:
                    raise ValueError(answer.doubt)
                inputs = draw_inputs(ex, setting.key, student, setting.round)
                grades[id] = grade_answer(
                    ex, answer.source, answer_server(setting), inputs, helpers=answer.helpers, after=answer.after
                )
            except ValueError as error:
                grades[id] = Grade(id, 0.0, 0.0, ex.points, f"{error}: look at it by hand")
            except Exception as error:
                grades[id] = Grade(
                    id, 0.0, 0.0, ex.points, f"could not be judged ({type(error).__name__}): look at it by hand"
                )
    return grades


def _clipped(points: Any, most: int) -> float:
    return min(max(float(points), 0.0), float(most))


def _say(ex: Exercise, grade: Grade) -> str:
    if grade.ran in ("untried", "not found"):
        return f"○ {ex.id} {ex.title}: {'not tried' if grade.ran == 'untried' else 'no answer was found'}"
    lines = tuple(Line(*line) for line in grade.lines)
    state = "passed" if grade.score == 1 else "failed"
    notes = () if grade.ran == "ok" else (grade.ran,)
    return repr(
        Result(
            ex.id,
            ex.title,
            state,
            grade.score,
            ex.points,
            lines,
            grade.hint,
            grade.mistake,
            notes=notes,
            ideas=ideas(ex, [line.probe for line in lines if line.level in RIGHT]),
        )
    )


# ---- grading, from a grade cell in a kernel -------------------------------------------------------------------------------------------


def points(id: str) -> float | str:
    """What a grade cell shows: the points of the answer that this kernel ran, judged in another process. Only while nbgrader is grading."""
    if os.environ.get("NBGRADER_EXECUTION") is None:
        return "graded after you hand it in"
    ran = [str(source) for source in vars(sys.modules["__main__"]).get("In", [])]  # what the kernel was given so far
    job = json.dumps({"id": id, "cells": ran})
    judge = [sys.executable, "-s", "-P", "-c", f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}; "
             "from minigrad.course.nbgrader import _judge_stdin; _judge_stdin()"]  # fmt: skip
    done = subprocess.run(judge, input=job.encode("utf-8", "replace"), capture_output=True, timeout=120)
    return _clipped(json.loads(done.stdout)["points"], exercises[id].counted_points) if done.returncode == 0 else 0.0


def _judge_stdin() -> None:
    job = json.loads(sys.stdin.buffer.read())
    cells = [{"cell_type": "code", "source": source} for source in job["cells"]]
    grades = _grade_notebook(
        cells, "the notebook", Setting(b"a key that every student may know", "1", ()), "", [job["id"]]
    )
    close()
    print(json.dumps(asdict(grades[job["id"]])))


# ---- the command ------------------------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m minigrad.course.nbgrader", description="Make nbgrader's course folder."
    )
    parser.add_argument("out", type=Path, help="the folder to write: source/, nbgrader_config.py, key")
    parser.add_argument("--notebooks", type=Path, help="the learner's notebooks (default: the course's)")
    options = parser.parse_args(arguments)
    paths = options.notebooks
    result = chapters() if paths is None else read(sorted(paths.glob("*.ipynb")) if paths.is_dir() else [paths])
    if not result:
        where = "this installation" if paths is None else paths
        raise SystemExit(f"There are no notebooks in {where}: say where they are with --notebooks.")
    output = write_course(options.out, result)
    if not output:
        raise SystemExit(
            "None of these notebooks has an exercise (a cell with the metadata {'minigrad': {'exercise': ...}})."
        )
    print(
        f"{len(output)} assignments in {options.out / 'source'}. Next, in {options.out}: nbgrader generate_assignment {output[0]} --create"
    )


if __name__ == "__main__":
    from minigrad.course.nbgrader import main as _main

    _main()
