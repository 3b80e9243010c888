"""With every reference solution and guess supplied, each chapter runs, every check in it says passed, and its predictions open.

An exercise's cell carries its id in the metadata, {"minigrad": {"exercise": "05.b"}}; its definition is in minigrad.course.
"""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from minigrad.course import exercises
from tools.opened import answered, chapter_of, exercise_cells, reveals, shown, stored, text_of
from tools.store import all_notebooks, execute

from ..thorough import THOROUGH, part


def verdicts(nb, id):
    """What each cell that calls `check` for this exercise shows, as text; for a prediction, the cells it opens that say how it compares."""
    if id in exercises and not exercises[id].graded:
        opened = reveals(nb, id)
        return [
            text_of(cell)
            for cell in opened
            if cell is opened[0] or not cell.source.split("\n", 1)[0].endswith("--show")
        ]
    called = re.compile(rf"\bcheck\(\s*[\"']{re.escape(id)}[\"']")
    return [text_of(cell) for cell in nb.cells if cell.cell_type == "code" and called.search(cell.source)]


def not_passed(nb):
    """The exercises whose checks do not all say passed, and the predictions that the run does not confirm, with what they say."""
    bad = {}
    for id in exercise_cells(nb):
        said = verdicts(nb, id)
        right = rf"^✓ {re.escape(id)} .*: passed" if exercises[id].graded else rf"^✓ {re.escape(id)}: "
        if not said or not all(re.search(right, text, re.M) for text in said):
            bad[id] = said
    return bad


@pytest.mark.parametrize("path", all_notebooks(), ids=lambda path: path.stem)
def test_stubs_are_the_ones_of_the_definitions(path):
    nb = nbformat.read(path, as_version=4)
    there = {id: cell.source.strip() for id, cell in exercise_cells(nb).items()}
    assert there == {id: ex.stub.strip() for id, ex in chapter_of(path).items()}


@pytest.mark.parametrize("path", all_notebooks(), ids=lambda path: path.stem)
def test_untouched_stubs_are_not_passed(path):
    """What is stored beside a stub is a helpful sentence: neither a pass nor an error. What is stored of a prediction tells nothing."""
    nb = nbformat.read(path, as_version=4)
    for id in exercise_cells(nb):
        said, nothing = (
            verdicts(nb, id),
            f"○ {id} not tried yet" if exercises[id].graded else f"○ {id}: no prediction yet",
        )
        assert said and all(text.startswith(nothing) for text in said), said
    for cell in reveals(nb):
        assert text_of(cell).startswith("○ ") and len(cell.outputs) == 1, "nothing is shown before the answer"


HEADER = re.compile(r"\s*(import|from|def|class|return|for|while|with|if|else)\b|\s*out\._backward = ")


def bare(line):
    return re.sub(r"\s+", "", line.partition("#")[0])


def solution_lines_above(nb):
    """For each exercise of code, the lines of its solution that can be copied from a cell above it: those that say more than a header."""
    found, above = {}, ""
    for cell in nb.cells:
        ex = exercises.get(cell.metadata.get("minigrad", {}).get("exercise"))
        if ex is not None and not ex.is_value:
            given = {bare(line) for line in ex.stub.split("\n")}
            lines = {bare(line) for line in ex.solution.split("\n") if not HEADER.match(line)} - given
            found |= (
                {ex.id: copied} if (copied := [line for line in lines if len(line) >= 18 and line in above]) else {}
            )
        above += bare_text(cell.source)
    return found


def bare_text(source):
    return "\n".join(map(bare, source.split("\n"))) + "\n"


@pytest.mark.parametrize("path", all_notebooks(), ids=lambda path: path.stem)
def test_no_line_of_a_solution_can_be_copied_from_above(path):
    nb = nbformat.read(path, as_version=4)
    assert solution_lines_above(nb) == {}


def test_a_copied_line_would_be_found():
    nb = nbformat.read(next(p for p in all_notebooks() if p.stem.startswith("09")), as_version=4)
    nb.cells.insert(0, new_code_cell("W_grad, x_grad, b_grad = g.T @ x, g @ W, g.sum(axis=0)"))
    assert not solution_lines_above(nb)
    nb.cells.insert(0, new_code_cell(exercises["09.c"].solution))
    assert list(solution_lines_above(nb)) == ["09.c"]


# The strict run of notebooks/ trains this to the end.
TRAINS = {"17_training_loop": [("STEPS = 700\n", "STEPS = 100\n"), ("write(800)", "write(100)")]}


# Of all chapters in `make thorough`: that each solution passes its checks is shown in tests/course, and the strict run is of all.
ANSWERED = part(all_notebooks(), 2)  # test_strict.py runs them all, with the stubs


@pytest.mark.parametrize("path", ANSWERED, ids=lambda path: path.stem)
def test_answered_chapter(path, tmp_path):
    """The claims at its end hold, too: an assertion that fails stops the run."""
    nb = answered(path, tmp_path, instead=() if THOROUGH else TRAINS.get(path.stem, ()))
    assert not_passed(nb) == {}
    assert shown(nb) == stored(path), "python -m tools.opened stores what opened cells show"


def test_a_wrong_answer_is_seen(tmp_path):
    id = next(id for id, ex in exercises.items() if not ex.is_value)
    ex = exercises[id]
    for source, ok in ((ex.solution, True), (ex.source_of(ex.bank[0]), False), (ex.stub, False)):
        cells = [
            new_code_cell("from minigrad.course import check"),
            new_code_cell(source),
            new_code_cell(f'check("{id}", {ex.entry})'),
        ]
        cells[1].metadata["minigrad"] = {"exercise": id}
        assert (not_passed(execute(new_notebook(cells=cells), tmp_path)) == {}) == ok, source
