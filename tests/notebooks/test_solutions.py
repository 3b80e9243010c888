"""With every reference solution in the place of its stub, each chapter runs and every check in it says passed.

An exercise's cell carries its id in the metadata, {"minigrad": {"exercise": "05.b"}}; its definition is in minigrad.course.
"""
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from minigrad.course import exercises

from .store import all_notebooks, execute


def chapter_of(path):
    """The exercises that belong to a notebook: 05_build_the_engine.ipynb -> those of chapter 05."""
    number = path.stem[:2]
    return exercises.chapter(number) if number in exercises.chapters() else {}


def stubs(nb):
    """The exercises' cells, by id."""
    found = [(cell.metadata.get("minigrad", {}).get("exercise"), cell) for cell in nb.cells if cell.cell_type == "code"]
    return {id: cell for id, cell in found if id}


def verdicts(nb, id):
    """What each cell that calls `check` for this exercise shows, as text."""
    called = re.compile(rf"\bcheck\(\s*[\"']{re.escape(id)}[\"']")
    return ["\n".join(output.get("data", {}).get("text/plain") or output.get("text", "") for output in cell.outputs)
            for cell in nb.cells if cell.cell_type == "code" and called.search(cell.source)]


def not_passed(nb, folder):
    """Run the notebook in `folder`; the exercises whose checks do not all say passed, with what they say."""
    execute(nb, folder)
    bad = {}
    for id in stubs(nb):
        said = verdicts(nb, id)
        if not said or not all(re.search(rf"^✓ {re.escape(id)} .*: passed", text, re.M) for text in said):
            bad[id] = said
    return bad


@pytest.mark.parametrize("path", all_notebooks(), ids=lambda path: path.stem)
def test_stubs_are_the_ones_of_the_definitions(path):
    nb = nbformat.read(path, as_version=4)
    assert {id: cell.source.strip() for id, cell in stubs(nb).items()} == {id: ex.stub.strip() for id, ex in chapter_of(path).items()}


@pytest.mark.parametrize("path", all_notebooks(), ids=lambda path: path.stem)
def test_untouched_stubs_are_not_passed(path):
    """What is stored beside a stub is a helpful sentence: neither a pass nor an error."""
    nb = nbformat.read(path, as_version=4)
    for id in stubs(nb):
        assert verdicts(nb, id)
        assert all(text.startswith(f"○ {id} not tried yet") for text in verdicts(nb, id)), verdicts(nb, id)


@pytest.mark.parametrize("path", [path for path in all_notebooks() if chapter_of(path)], ids=lambda path: path.stem)
def test_every_solution_passes_its_check(path, tmp_path):
    nb = nbformat.read(path, as_version=4)
    for id, cell in stubs(nb).items():
        cell.source = exercises[id].solution
    assert not_passed(nb, tmp_path) == {}


def test_a_wrong_answer_is_seen(tmp_path):
    id = next(id for id, ex in exercises.items() if not ex.is_value)
    ex = exercises[id]
    for source, ok in ((ex.solution, True), (ex.source_of(ex.bank[0]), False), (ex.stub, False)):
        cells = [new_code_cell("from minigrad.course import check"), new_code_cell(source), new_code_cell(f'check("{id}", {ex.entry})')]
        cells[1].metadata["minigrad"] = {"exercise": id}
        assert (not_passed(new_notebook(cells=cells), tmp_path) == {}) == ok, source
