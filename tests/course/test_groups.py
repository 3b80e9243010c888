"""groups.html: answers that do the same are together, and one line of marks.csv is for all of them."""

import csv
import json
import re
import sys

import pytest

from minigrad.course import exercises
from minigrad.course.grade import grade

from .classroom import chapter_notebook

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")

KEY = b"a key for tests, long enough"
B = exercises["05.b"]
RECURSION = """\
def backward(root):
    root.grad = 1.0
    def down(v):
        v._backward()
        for p in v._prev:
            down(p)
    down(root)
"""
THE_SAME = """\
def backward(x):
    x.grad = 1.0
    todo = [x]
    while todo:
        v = todo.pop()
        v._backward()
        todo += reversed(v._prev)
"""
ANSWERS = {
    "ada": B.solution,
    "ben": RECURSION,
    "cyd": THE_SAME,
    "dan": "def backward(root):\n    root.grad = 2.0\n",
    "eve": "def backward(root):\n    root.grad = 2.0\nso this works",
    "fay": B.stub,
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("groups")
    for name, source in ANSWERS.items():
        path = root / "in" / name / "05_x.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(chapter_notebook("05", {"05.b": source})), encoding="utf-8")
    return root


def graded(root, marks=""):
    """(records by student, rows of wide.csv by student, groups.html, what was said)"""
    (root / "out").mkdir(exist_ok=True)
    (root / "out/marks.csv").write_text("student,what,points,of,remark\n" + marks, encoding="utf-8")
    said = []
    records = grade(root / "in", root / "out", key=KEY, only=["05.b"], jobs=1, say=said.append)
    with open(root / "out/wide.csv", newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    return (
        {r["student"]: r for r in records},
        rows,
        (root / "out/groups.html").read_text(encoding="utf-8"),
        "".join(said),
    )


def group(records, student):
    return records[student]["grades"]["05.b"]["behaviour"]


def test_answers_that_do_the_same_are_together_although_their_inputs_differ(root):
    records, _, page, _ = graded(root)
    assert group(records, "ben") == group(records, "cyd") != group(records, "dan") != group(records, "eve")
    assert group(records, "ada") == group(records, "fay") == "", "full points, and not tried"
    names = re.findall(r"group (05\.b-[0-9a-f]{6}),,,,your remark", page)
    assert len(names) == 3 and names[0] == f"05.b-{group(records, 'ben')}", "the largest first"
    assert "2 students<span>" in page and "1 answer with full points" in page
    assert 'href="feedback/ben.html"' in page and 'href="groups.html"' in (root / "out/summary.html").read_text(
        encoding="utf-8"
    )


def test_one_line_is_for_all_of_a_group(root):
    name = f"group 05.b-{group(graded(root)[0], 'ben')}"
    _, rows, _, said = graded(root, f"{name},,1.5,,count the users first\ncyd,05.b,3,,talked to me\n")
    assert (rows["ben"]["05.b"], rows["cyd"]["05.b"]) == ("1.5", "3.0"), "a student's own line counts more"
    assert "marks.csv" not in said
    ben, dan = ((root / f"out/feedback/{name}.html").read_text(encoding="utf-8") for name in ("ben", "dan"))
    assert "Marked by hand: count the users first" in ben and "count the users" not in dan


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_the_lines_does_not_matter(root, order):
    name = f"group 05.b-{group(graded(root)[0], 'ben')}"
    lines = [f"{name},05.b,1,,\n", "ben,05.b,2,,\n"][::order]
    assert graded(root, "".join(lines))[1]["ben"]["05.b"] == "2.0"


def test_a_remark_without_a_mark_changes_no_points(root):
    records, before, *_ = graded(root)
    _, rows, _, said = graded(root, f"group 05.b-{group(records, 'ben')},,,,draw the diamond\nada,05.b,,,well done\n")
    assert (
        rows["ben"]["total"] == before["ben"]["total"]
        and rows["ada"]["total"] == before["ada"]["total"]
        and "line" not in said
    )
    for student, text in (("ben", "draw the diamond"), ("cyd", "draw the diamond"), ("ada", "well done")):
        assert f"From your instructor: {text}" in (root / f"out/feedback/{student}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("mark, said", [("group 05.b-000000,,1,,", "there is no student group 05.b-000000"),
                                        ("group 05.b-{ben},,9,,", "more than the 4 points of 05.b"),
                                        ("group 05.b-{ben},,,,", "nothing is not a number of points")])  # fmt: skip
def test_a_line_that_cannot_be_entered_is_named(root, mark, said):
    assert said in graded(root, mark.replace("{ben}", group(graded(root)[0], "ben")) + "\n")[3]


def test_a_page_without_wrong_answers(tmp_path):
    path = tmp_path / "in/ada/05_x.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(chapter_notebook("05", {"05.b": B.solution})), encoding="utf-8")
    _, _, page, _ = graded(tmp_path)
    assert "There is no answer without full points." in page and "<script" not in page
