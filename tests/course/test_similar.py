"""similar.csv: copies, reworked copies and copies of copies are named; two people who found the same short program are not."""

import json
import re
import sys

import pytest

from minigrad.course import exercises
from minigrad.course.grading.notebooks import find_answer, line_prints, read_notebook, shingles
from minigrad.course.grading.reader import read
from minigrad.course.grading.tables import SOLUTION, similar

from .classroom import chapter_notebook, code, notebook
from .unseen import SOURCES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")

ADA = """\
def backward(root):
    todo, order, seen = [root], [], {}
    while todo:
        node = todo[-1]
        state = seen.get(id(node), 0)
        if state == 0:
            seen[id(node)] = 1
            todo.extend(p for p in node._prev if id(p) not in seen)
        else:
            todo.pop()
            if state == 1:
                seen[id(node)] = 2
                order.insert(0, node)
    root.grad = 1.0
    for node in order:
        node._backward()
"""


def renamed(source):
    for old, new in {
        "todo": "stack",
        "order": "sorted_nodes",
        "seen": "marks",
        "node": "v",
        "state": "s",
        "p": "parent",
    }.items():
        source = re.sub(rf"(?<![._])\b{old}\b(?!\()", new, source)
    return source


def reworked(source):
    """Other names, two neighbouring lines exchanged, an assignment written in another way, and a different loop."""
    source = renamed(source)
    source = source.replace("                marks[id(v)] = 2\n                sorted_nodes.insert(0, v)\n",
                            "                sorted_nodes.insert(0, v)\n                marks[id(v)] = 2\n")  # fmt: skip
    three_lines = "    stack = [root]\n    sorted_nodes = []\n    marks = {}\n"
    source = source.replace("    stack, sorted_nodes, marks = [root], [], {}\n", three_lines)
    return source.replace("    for v in sorted_nodes:\n        v._backward()\n",
                          "    k = 0\n    while k < len(sorted_nodes):\n        sorted_nodes[k]._backward()\n        k += 1\n")  # fmt: skip


def record(student, source, id="05.b"):
    answer = find_answer(exercises[id], read_notebook(json.dumps(notebook([code(source, id)])).encode(), "n.ipynb"))
    grade = {"shingles": list(answer.shingles), "line_prints": list(answer.lines), "as_solution": answer.as_solution}
    return {"student": student, "grades": {id: grade}}


def test_a_reworked_copy_is_named():
    assert reworked(ADA) != renamed(ADA) != ADA
    flags = similar([record("ada", ADA), record("sam", reworked(ADA))], ["05.b"])
    assert [(a, b) for _, a, b, _ in flags] == [("ada", "sam")] and "unusual lines" in flags[0][3]


def test_names_and_order_change_no_line():
    a, b = "x = f(y, 1)\nz = x.data + y\n", "# c\nq = s.data + r\ns = g(r, 1)\n"
    assert line_prints(a) == line_prints(b) and len(line_prints(a)) == 2
    assert line_prints("x = y + 1") != line_prints("x = x + 1") and line_prints("x = len(y)") != line_prints(
        "x = sum(y)"
    )


@pytest.mark.parametrize("id", [id for id, wrong in SOURCES.items() if len(wrong) > 2 and not exercises[id].is_value])
def test_people_with_answers_of_their_own_are_not_named(id):
    """Mistakes that differ, and the bank's: no pair of them is a copy, although all solve one task."""
    ex = exercises[id]
    sources = [ex.solution, *(ex.source_of(w) for w in ex.bank), *sources_of(SOURCES[id])]
    flags = similar([record(f"s{n:02d}", source, id) for n, source in enumerate(sources)], [id])
    assert [flag for flag in flags if flag[2] != SOLUTION and "unusual lines" in flag[3]] == []


def sources_of(wrong):
    return [source for source in (wrong.values() if isinstance(wrong, dict) else wrong) if isinstance(source, str)]


def handed_in(student, nb):
    book = read({"text": json.dumps(nb), "name": "05_x.ipynb", "ids": ("05.b",)}).books[0]
    tried = any(a.tried for a in book.answers.values())
    return {"student": student, "grades": {}, "files": {book.content: book.name} if tried else {}}


def test_a_copy_of_a_copied_solution_is_named():
    ex = exercises["05.b"]
    nb = chapter_notebook("05", {"05.b": ex.solution})
    nb["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "12:03:11\n"}]
    other = json.loads(json.dumps(nb))
    other["cells"][2]["outputs"][0]["text"] = "12:09:40\n"
    moved = {**nb, "metadata": {"another": "editor"}}
    records = [handed_in("ada", nb), handed_in("sam", nb), handed_in("tom", moved), handed_in("eve", other)]
    same = "the same cells and outputs"
    assert similar(records, []) == [("05_x.ipynb", "ada", "sam", same), ("05_x.ipynb", "ada", "tom", same)]


def test_an_untouched_notebook_is_nobodys_copy():
    records = [handed_in(name, chapter_notebook("05", {})) for name in ("ada", "ben")]
    assert similar(records, []) == []


def test_the_same_programs_still_have_the_same_shingles():
    assert shingles(ADA) == shingles(renamed(ADA)) != []
