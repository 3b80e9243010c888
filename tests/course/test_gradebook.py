"""What goes back to Canvas, Moodle and nbgrader: whose it is, what the maximum is, and nothing that is not settled."""

import csv
import json
import re
import sys
import unicodedata
import zipfile

import pytest

from minigrad.course import exercises
from minigrad.course.grade import grade
from minigrad.course.grading.notebooks import Answer, Book, choose
from minigrad.course.grading.roll import keys, order
from minigrad.course.grading.submissions import collect
from minigrad.course.nbgrader import _grade_cell

from .classroom import chapter_notebook, code, notebook

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")

KEY = b"a key for tests, long enough"
B, D = exercises["05.b"], exercises["05.d"]
IDS = ["05.b", "05.d"]  # 05.d is optional
SOLVED = {"05.b": B.solution, "05.d": D.solution}


def put(path, nb):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nb if isinstance(nb, str) else json.dumps(nb), encoding="utf-8")


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def graded(root, marks="", students=""):
    """(rows of wide.csv, of canvas.csv, of moodle.csv by student, what was said)"""
    (root / "out").mkdir(exist_ok=True)
    (root / "out/marks.csv").write_text("student,what,points,of,remark\n" + marks, encoding="utf-8")
    if students:
        (root / "students.csv").write_text(students, encoding="utf-8")
    said = []
    grade(
        root / "in",
        root / "out",
        key=KEY,
        jobs=1,
        only=IDS,
        say=said.append,
        students=root / "students.csv" if students else None,
    )
    wide = {row["student"]: row for row in table(root / "out/wide.csv")}
    canvas = {row["Student"]: row for row in table(root / "out/canvas.csv")[1:]}
    return wide, canvas, {row["Full name"]: row for row in table(root / "out/moodle.csv")}, "".join(said)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """ada has everything, ben one damaged notebook of two, cyd stray text after a right answer, eve the answer in a text cell."""
    root = tmp_path_factory.mktemp("small")
    put(root / "in/ada/05_x.ipynb", chapter_notebook("05", SOLVED))
    put(root / "in/ben/05_x.ipynb", chapter_notebook("05", SOLVED))
    put(root / "in/ben/06_x.ipynb", '{"cells": [')
    put(root / "in/cyd/05_x.ipynb", chapter_notebook("05", {**SOLVED, "05.b": B.solution + "so this works!\n"}))
    text = chapter_notebook("05", {"05.d": D.solution})
    text["cells"].append({"cell_type": "markdown", "source": B.solution, "metadata": {}})
    put(root / "in/eve/05_x.ipynb", text)
    put(root / "in/abe/05_x.ipynb", chapter_notebook("05", {}))
    put(root / "in/José/05_x.ipynb", chapter_notebook("05", {}))
    return root


def test_moodle_gets_no_grade_above_the_maximum(small):
    _, canvas, moodle, _ = graded(small)
    assert float(moodle["ada"]["Maximum Grade"]) == B.points and float(moodle["ada"]["Grade"]) == B.points
    assert f"{B.points + D.points} points" in moodle["ada"]["Feedback comments"]
    assert float(canvas["ada"]["minigrad"]) == B.points + D.points, "Canvas takes what is above"


def test_what_is_partly_damaged_is_no_silent_total(small):
    wide, canvas, moodle, _ = graded(small)
    assert float(wide["ben"]["total"]) == B.points + D.points
    assert (
        canvas["ben"]["minigrad"] == moodle["ben"]["Grade"] == ""
        and "no total goes to Canvas or Moodle" in wide["ben"]["remarks"]
    )
    assert canvas["eve"]["minigrad"] == "" and "for 05.b" in wide["eve"]["remarks"]


@pytest.mark.parametrize("marks, points", [
    ("ben,all,accepted,,", B.points + D.points), ("ben,06,accepted,,", B.points + D.points), ("ben,all,2,,", 2.0),
    ("eve,05.b,3,,", 3.0 + D.points), ("eve,05.b,accepted,,", D.points),
])  # fmt: skip
def test_the_instructor_settles_it(small, marks, points):
    student = marks.partition(",")[0]
    wide, canvas, _, _ = graded(small, marks + "\n")
    assert float(canvas[student]["minigrad"]) == points and "no total goes" not in wide[student]["remarks"]


@pytest.mark.parametrize("mark, said", [
    ("ada,05.b,9,,", "9 is more than the 4 points of 05.b"), ("ada,Talk,6,5,", "more than the 5 points of Talk"),
    ("ada,all,100,,", "more than the"),
])  # fmt: skip
def test_a_mark_above_the_maximum_is_refused_with_a_sentence(small, mark, said):
    wide, _, _, text = graded(small, mark + "\n")
    assert said in text and float(wide["ada"]["total"]) == B.points + D.points
    assert said in (small / "out/summary.html").read_text(encoding="utf-8")


def test_stray_text_is_one_sentence_with_the_line(small):
    wide, *_ = graded(small)
    page = (small / "out/feedback/cyd.html").read_text(encoding="utf-8")
    number = len(B.solution.splitlines()) + 1
    assert page.count("SyntaxError") == 2, "among the remarks, and at the exercise"
    assert f"in line {number}, <code>so this works!</code>" in page
    assert "so this works!" in wide["cyd"]["remarks"]


def test_names_are_sorted_as_people_do(small):
    assert list(graded(small)[0]) == ["abe", "ada", "ben", "cyd", "eve", "José"]
    assert sorted(["Zoe", "Émile", "abe", "Eva"], key=order) == ["abe", "Émile", "Eva", "Zoe"]


def test_a_decomposed_name_is_the_same_student(tmp_path):
    name = "José García"
    put(
        tmp_path / "in" / unicodedata.normalize("NFD", name) / "05_x.ipynb",
        chapter_notebook("05", {"05.b": B.solution}),
    )
    marks = f"{unicodedata.normalize('NFD', name)},05.b,3,,\n"
    wide, canvas, *_, said = graded(tmp_path, marks, f"Student,ID,SIS Login ID,Section\n{name},77,jose,A\n")
    assert (
        list(wide) == [name]
        and wide[name]["remarks"] == ""
        and (canvas[name]["ID"], canvas[name]["minigrad"]) == ("77", "3.0")
    )
    assert keys([name]) == keys([unicodedata.normalize("NFD", name)]) and keys(["José"]) != keys(["Jose"])


def test_two_folders_that_differ_in_blanks_are_two_students(tmp_path):
    for name in ("alice", "alice ", "bob"):
        put(tmp_path / name / "05_x.ipynb", chapter_notebook("05", {}))
    found = {s.student: s for s in collect(tmp_path)}
    assert [len(s.sources) for s in found.values()] == [1, 1, 1] and "alice ('alice ')" in found
    assert "nearly the same name" in found["alice ('alice ')"].problems[0]
    with zipfile.ZipFile(tmp_path.parent / "all.zip", "w") as z:
        z.writestr("alice/05_x.ipynb", "{}")
        z.writestr("alice /06_x.ipynb", "{}")
    assert [(s.student, len(s.sources)) for s in collect(tmp_path.parent / "all.zip")] == [("alice", 2)]


# ---- Canvas


def test_canvas_text_entries_and_links_belong_to_their_student(tmp_path):
    for name in ("eve_1004_text.html", "eve_1004_9_05_x.ipynb", "dan_LATE_1005_link.html", "bob_1006_text.html"):
        put(tmp_path / name, notebook([]))
    found = {s.student: s for s in collect(tmp_path)}
    assert {name: s.lms["canvas"] for name, s in found.items()} == {
        "eve 1004": "1004",
        "dan 1005": "1005",
        "bob 1006": "1006",
    }
    assert (
        "handed in late" in found["dan 1005"].problems[0] and "only bob_1006_text.html" in found["bob 1006"].problems[0]
    )
    assert len(found["eve 1004"].sources) == 1 and "eve_1004_text.html" in found["eve 1004"].problems[0]


def test_an_anonymous_student_is_one(tmp_path):
    for name in ("anonymous_aB3dE_900_05_x.ipynb", "anonymous_aB3dE_901_06_x.ipynb", "anonymous_LATE_12345_902_05_x.ipynb",
                 "anonymous_xY9zQ_text.html"):  # fmt: skip
        put(tmp_path / "in" / name, chapter_notebook("05", {"05.b": B.solution}))
    found = {s.student: len(s.sources) for s in collect(tmp_path / "in")}
    assert found == {"anonymous 12345": 1, "anonymous aB3dE": 2, "anonymous xY9zQ": 0}
    canvas = graded(tmp_path)[1]
    assert (canvas["anonymous aB3dE"]["ID"], canvas["anonymous aB3dE"]["SIS Login ID"]) == ("", "")


@pytest.mark.parametrize("old, new", [
    ("carol_3_9999_05_x.ipynb", "carol_3_10012_05_x-1.ipynb"), ("carol_3_9999_05_x.ipynb", "carol_3_10012_05_other.ipynb"),
    ("carol_3_10012_05_x.ipynb", "carol_3_9999_05_x-1.ipynb"), ("carol_LATE_3_9_05_x (9).ipynb", "carol_LATE_3_8_05_x (10).ipynb"),
])  # fmt: skip
def test_the_newer_of_two_uploads_counts(old, new):
    books = [Book(name, 0.0, {"05.b": Answer(name)}) for name in (new, old)]
    for order_ in (books, books[::-1]):
        counts, problems = choose(order_)
        assert counts["05.b"][0].name == new and f"{new} is the newer one and counts" in problems[0]


# ---- one maximum


def test_nbgrader_and_the_batch_have_one_maximum(small):
    from nbformat.v4 import new_code_cell

    maximum = {id: _grade_cell(exercises[id], new_code_cell).metadata["nbgrader"]["points"] for id in IDS}
    assert sum(maximum.values()) == float(graded(small)[0]["ada"]["of"]) and maximum["05.d"] == 0


def test_a_two_letter_exercise_is_found_by_its_grade_id_and_comment():
    from minigrad.course.grading.notebooks import find_answer, read_notebook

    ex = exercises["15.b2"]
    for cell in (code(ex.solution, nbgrader={"grade_id": "answer-15-b2"}), code("# exercise 15.b2\n" + ex.solution)):
        answer = find_answer(ex, read_notebook(json.dumps(notebook([cell])).encode(), "n.ipynb"))
        assert answer is not None and answer.by in ("grade id", "marker comment")


# ---- the page about the class


def test_the_squares_stand_under_their_names(small):
    graded(small)
    page = (small / "out/summary.html").read_text(encoding="utf-8")
    everybody = page.partition("<h2>Everybody</h2>")[2].partition("</table>")[0]
    names = re.findall(r"<span class=name>(\S+)</span>", everybody)
    rows = [re.findall(r'class="?cell[^>]* data-id="([^"]+)"', row) for row in everybody.split("<tr>")[2:]]
    assert names == IDS and len(rows) == 6 and all(row == names for row in rows)


def test_a_narrow_screen_has_the_name_of_a_column_at_each_cell(small):
    graded(small)
    page = (small / "out/summary.html").read_text(encoding="utf-8")
    assert "min-width: 38rem" not in page
    for table_ in page.split("<table>")[1:]:
        head, _, body = table_.partition("<tbody>")
        width = head.count("<th") - head.count("<thead")
        assert all(
            row.count("<td") == row.count("data-label=") == width
            for row in body.partition("</table>")[0].split("<tr>")[1:]
        )


def test_the_median_is_of_the_points_that_make_up_the_maximum(small):
    wide, *_ = graded(small)
    page = (small / "out/summary.html").read_text(encoding="utf-8")
    assert f"<strong>0–{B.points}</strong>" in page and float(wide["ada"]["total"]) > B.points
    assert f"median of {B.points}, optional points apart" in page
