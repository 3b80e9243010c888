"""Answers are found where learners leave them, in every notebook of the course, and what is uncertain is for a person to look at."""

import ast
import json
import re
import sys

import pytest

from minigrad.course import exercises
from minigrad.course.grading import answers
from minigrad.course.grading.answers import AnswerServer, grade_answer
from minigrad.course.grading.pool import close, grade_submission
from minigrad.course.grading.reader import read
from minigrad.course.grading.settings import Setting, Task
from minigrad.course.grading.submissions import collect

from .classroom import ROOT, code, notebook

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")

KEY = b"a key for tests, long enough"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
IDS = tuple(id for id, ex in exercises.items() if ex.graded)


def stored(path):
    nb = json.loads(path.read_text(encoding="utf-8"))
    for cell in nb["cells"]:
        cell["source"] = "".join(cell["source"])
    return nb


def exercise_of(cell):
    id = cell["metadata"].get("minigrad", {}).get("exercise", "")
    return id if id in IDS else ""


def in_place(nb):
    for cell in nb["cells"]:
        if id := exercise_of(cell):
            cell["source"] = exercises[id].solution
    return nb


def below_the_stub(nb):
    cells = []
    for cell in nb["cells"]:
        cells.append(cell)
        if id := exercise_of(cell):
            cells.append(code(exercises[id].solution))
    return {**nb, "cells": cells}


def at_the_end(nb):
    return {
        **nb,
        "cells": [*nb["cells"], *(code(exercises[id].solution) for cell in nb["cells"] if (id := exercise_of(cell)))],
    }


def without_metadata(nb):
    for cell in nb["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)
    return nb


def renamed(ex, source):
    """The solution under another name, and what is handed to `check`."""
    return re.sub(rf"\b{ex.entry}\b", f"my_{ex.entry}", source)


def another_name(nb):
    for cell in nb["cells"]:
        if id := exercise_of(cell):
            cell["source"] = renamed(exercises[id], exercises[id].solution)
        for id in re.findall(r'^check\("(\d\d\.[a-z]\d?)"', cell["source"], re.M):
            if id in IDS:
                cell["source"] = cell["source"].replace(f", {exercises[id].entry})", f", my_{exercises[id].entry})")
    return nb


def another_name_below(nb):
    stubs = {id: cell["source"] for cell in nb["cells"] if (id := exercise_of(cell))}
    nb = another_name(nb)
    cells = []
    for cell in nb["cells"]:
        if id := exercise_of(cell):
            cells.append({**cell, "source": stubs[id]})
            cell = code(cell["source"])
        cells.append(cell)
    return {**nb, "cells": cells}


def with_grade_ids(nb):
    for cell in nb["cells"]:
        if id := exercise_of(cell):
            cell["source"] = exercises[id].solution
            cell["metadata"] = {"nbgrader": {"grade_id": "answer-" + id.replace(".", "-")}}
    return nb


def with_comments(nb):
    for cell in nb["cells"]:
        if id := exercise_of(cell):
            cell["source"], cell["metadata"] = f"# exercise {id}\n" + exercises[id].solution, {}
    return nb


LEFT = {
    "in place": in_place,
    "a new cell below the stub": below_the_stub,
    "new cells at the end": at_the_end,
    "no metadata": lambda nb: without_metadata(in_place(nb)),
    "a new cell, no metadata": lambda nb: without_metadata(below_the_stub(nb)),
    "another name for check": another_name,
    "another name, below the stub": another_name_below,
    "another name, no metadata": lambda nb: without_metadata(another_name(nb)),
    "nbgrader's ids": with_grade_ids,
    "marker comments": with_comments,
}


def answers_in(nb, name):
    found = read({"text": json.dumps(nb), "name": name, "ids": IDS})
    assert len(found.books) == 1, found.problems
    return found.books[0].answers, found.problems


@pytest.fixture(scope="module")
def score():
    """What an answer earns, each program once."""
    known = {}
    with answers.kit() as folder, AnswerServer(folder) as server:

        def score(id, answer):
            program = (id, answer.source, answer.helpers, answer.after)
            if program not in known:
                known[program] = grade_answer(
                    exercises[id], answer.source, server, helpers=answer.helpers, after=answer.after
                )
            return known[program].score

        yield score


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_an_answer_is_found_wherever_it_was_left(path, score):
    mine = [id for id in IDS if id[:2] == path.name[:2]]
    for how, change in LEFT.items():
        found, problems = answers_in(change(stored(path)), path.name)
        assert problems == (), how
        assert sorted(found) == mine, how
        for id in mine:
            assert found[id].tried and not found[id].doubt, (how, id, found[id].doubt)
            assert score(id, found[id]) == 1, (how, id, found[id])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_an_untouched_notebook_has_tried_nothing(path):
    for change in (lambda nb: nb, without_metadata):
        found, problems = answers_in(change(stored(path)), path.name)
        assert problems == () and not [id for id, answer in found.items() if answer.tried or answer.doubt]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_what_the_course_lends_is_no_answer(path):
    """Without any stub, and with the course's cells that take an answer by `check.mine`."""
    nb = stored(path)
    nb["cells"] = [cell for cell in nb["cells"] if not exercise_of(cell)]
    found, _ = answers_in(nb, path.name)
    assert not [id for id, answer in found.items() if answer.tried]


# ---- one answer in several cells

A, B = exercises["05.a"], exercises["05.b"]
RADD = "    __radd__ = __add__\n"
assert "    def __radd__(" in A.solution or RADD in A.solution


def without_method(source, name):
    tree = ast.parse(source)
    node = next(n for c in tree.body if isinstance(c, ast.ClassDef) for n in c.body
                if getattr(n, "name", "") == name or (isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == name))  # fmt: skip
    lines = source.splitlines(keepends=True)
    return "".join(lines[: node.lineno - 1] + lines[node.end_lineno :])


SPREAD = {
    "an attribute": "def __radd__(self, other):\n    return self + other\nValue.__radd__ = __radd__",
    "setattr": "def later(self, other):\n    return self + other\nsetattr(Value, '__radd__', later)",
    "a class of the same name": "class Value(Value):\n    def __radd__(self, other):\n        return self + other",
    "a decorator": "def add(cls):\n    cls.__radd__ = lambda self, other: self + other\n    return cls\nValue = add(Value)",
}


@pytest.mark.parametrize("metadata", [True, False])
@pytest.mark.parametrize("rest", SPREAD.values(), ids=SPREAD)
def test_a_class_in_two_cells_is_one_answer(rest, metadata, score):
    most = without_method(A.solution, "__radd__")
    cells = [code(most, "05.a"), code(rest), code('check("05.a", Value)')]
    nb = notebook(cells) if metadata else without_metadata(notebook(cells))
    alone, _ = answers_in(notebook([code(most, "05.a")]), "05_x.ipynb")
    found, _ = answers_in(nb, "05_x.ipynb")
    assert score("05.a", alone["05.a"]) < 1 and score("05.a", found["05.a"]) == 1


def test_a_later_recursive_attempt_does_not_replace_the_tagged_answer():
    wrong = "def backward(root):\n    for v in root._prev:\n        backward(v)\n"
    found, _ = answers_in(
        notebook([code(B.solution, "05.b"), code(wrong), code('check("05.b", backward)')]), "05_x.ipynb"
    )
    assert found["05.b"].source == B.solution and not found["05.b"].after


def test_an_engine_under_another_name_serves_the_answers_that_use_it():
    nb = another_name(stored(ROOT / "notebooks/05_build_the_engine.ipynb"))
    found, _ = answers_in(nb, "05_build_the_engine.ipynb")
    assert found["05.b"].by == "check's argument" and "my_backward" in found["05.b"].source


# ---- what is uncertain is for a person


def records(tmp_path, nb, name="05_x.ipynb", ids=("05.a", "05.b")):
    path = tmp_path / "eve" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(nb), encoding="utf-8")
    try:
        return grade_submission(Task("eve", "1", tuple(collect(tmp_path)[0].sources), (), ()), Setting(KEY, "1", ids))
    finally:
        close()


WRONG = "def backward(root):\n    pass\n"
UNSURE = {
    "an answer in a text cell": ([code(B.stub, "05.b"), {"cell_type": "markdown", "source": B.solution, "metadata": {}}], "text cell"),
    "the name was changed": ([code(renamed(B, B.solution), "05.b")], "defines no backward"),
    "two different answers": ([code(B.solution), code(WRONG), code('check("05.b", backward)')], "the last one was run"),
    "by name alone": ([code(WRONG)], "by the name backward alone"),
    "in another exercise's cell": ([code(A.solution + "\n" + WRONG, "05.a"), code(B.stub, "05.b")], "the cell of another exercise"),
    "checked under another name": ([code(WRONG, "05.b"), code(renamed(B, B.solution)), code('check("05.b", my_backward)')], "also checked"),
}  # fmt: skip


@pytest.mark.parametrize("cells, said", UNSURE.values(), ids=UNSURE)
def test_what_is_uncertain_is_for_a_person(cells, said, tmp_path):
    record = records(tmp_path, notebook(cells))
    about = [text for text in record["problems"] if said in text]
    assert len(about) == 1 and "look at it by hand" in about[0], record["problems"]
    assert "05.b" in record["unsure"]


def test_a_right_answer_needs_no_remark_however_it_was_found(tmp_path):
    record = records(tmp_path, notebook([code(WRONG), code(B.solution)]))
    assert record["grades"]["05.b"]["score"] == 1 and record["problems"] == [] == record["unsure"]


@pytest.mark.parametrize("cells", [
    ["import pandas\ndef fit(x, y):\n    return 1\nValue = 3"], ["class Value:\n    pass\ndef backward(root):\n    pass"],
])  # fmt: skip
def test_a_notebook_of_another_course_is_not_graded(cells, tmp_path):
    record = records(tmp_path, notebook([code(text) for text in cells]), "homework.ipynb", ("05.a", "05.b", "05.c"))
    assert (
        record["state"] == "ungraded" and record["grades"] == {} and "belongs to this course" in record["problems"][0]
    )


@pytest.mark.parametrize(
    "line", ["for step in range(3): pass", "step = 3", "with open('x') as step: pass", "step = [1, 2]"]
)
def test_a_variable_is_not_taken_for_a_function(line):
    nb = without_metadata(stored(ROOT / "notebooks/17_training_loop.ipynb"))
    nb["cells"].append(code(line))
    found, problems = answers_in(nb, "17_training_loop.ipynb")
    assert not found["17.b"].tried and problems == ()
