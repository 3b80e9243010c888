"""Grading a class: any layout, any damage, killed and resumed, and files that spreadsheets and students may safely open."""

# ruff: noqa: E501  the hostile programs are one line each

import csv
import io
import json
import os
import re
import stat
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from minigrad.course import exercises
from minigrad.course import grade as the_command
from minigrad.course.exercise import Kind
from minigrad.course.grade import container_command, grade
from minigrad.course.grading import answers, pool
from minigrad.course.grading.answers import AnswerServer, draw_inputs, grade_answer
from minigrad.course.grading.journal import Journal
from minigrad.course.grading.notebooks import find_answer, read_notebook, shingles, without_magics
from minigrad.course.grading.pool import grade_submission
from minigrad.course.grading.replay import fresh_share
from minigrad.course.grading.server import Box
from minigrad.course.grading.settings import Setting, Task
from minigrad.course.grading.submissions import collect, expand
from minigrad.course.grading.tables import SOLUTION, file_names, safe, similar, to_csv
from minigrad.course.guard import run_probes
from minigrad.course.judge import judge

from .classroom import (
    HOOK_OUT,
    ROOT,
    chapter_notebook,
    code,
    finish,
    grade_killed,
    graded_in,
    grader,
    make_class,
    notebook,
    outputs,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")

KEY = b"a key for tests, long enough"
B = exercises["05.b"]
B_SCORE = judge(B, run_probes(B, B.load(B.bank[0].answer))).score  # what plain recursion earns
# Which trains for seconds, for every student
SOLVED = {id: ex.solution for id, ex in exercises.chapter("05").items() if id != "05.c"}
FULL = sum(exercises[id].points for id in SOLVED)
# An optional one earns points on top
OF = sum(ex.points for ex in exercises.chapter("05").values() if ex.kind is not Kind.OPTIONAL)


def text(nb):
    return json.dumps(nb)


def put(path, nb):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nb if isinstance(nb, str) else text(nb), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def server():
    with answers.kit() as folder, AnswerServer(folder) as server:
        yield server


def answer_in(nb, id="05.b", name="05_chapter.ipynb"):
    return find_answer(exercises[id], read_notebook(text(nb).encode() if isinstance(nb, dict) else nb, name))


def score(nb, server, id="05.b", name="05_chapter.ipynb"):
    answer = answer_in(nb, id, name)
    return (
        None
        if answer is None
        else grade_answer(exercises[id], answer.source, server, helpers=answer.helpers, after=answer.after).score
    )


# ---- finding answers

CHECK = code('check("05.b", backward)')
IMPORT = code("import math\nfrom minigrad.course import check")
HALF = "def order_of(root):\n    order, seen = [], set()\n    def visit(v):\n        if v not in seen:\n            seen.add(v)\n" \
       "            for p in v._prev:\n                visit(p)\n            order.append(v)\n    visit(root)\n    return order\n"  # fmt: skip
USES = "def backward(root):\n    root.grad = 1.0\n    for v in reversed(order_of(root)):\n        v._backward()\n"


def format_3(cells):
    old = [
        {
            "cell_type": c["cell_type"],
            "input": c["source"],
            "language": "python",
            "metadata": c["metadata"],
            "outputs": [],
        }
        for c in cells
    ]
    return {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": old, "metadata": {}}],
    }


def colab(nb):
    for number, cell in enumerate(nb["cells"]):
        cell["metadata"] = {
            "id": f"x{number}",
            "colab": {"base_uri": "https://localhost:8080/"},
            "executionInfo": {"status": "ok"},
        }
        cell["source"] = cell["source"].splitlines(keepends=True)
    nb["metadata"] = {"colab": {"provenance": []}, "kernelspec": {"name": "python3"}}
    return nb


def vs_code(nb):
    for cell in nb["cells"]:
        cell["metadata"] = {"vscode": {"languageId": "python"}}
        cell["source"] = cell["source"].replace("\n", "\r\n")
        cell.pop("outputs", None)
    return nb


HONEST = {
    "as released": chapter_notebook("05", SOLVED),
    "format 3": format_3([code(B.solution, "05.b")]),
    "format 3, no metadata": format_3([code(B.solution), CHECK]),
    "Colab": colab(chapter_notebook("05", SOLVED)),
    "VS Code": vs_code(chapter_notebook("05", SOLVED)),
    "nbgrader's id only": notebook([code(B.solution, nbgrader={"grade_id": "answer-05-b", "solution": True})]),
    "marker comment only": notebook([code("# exercise 05.b\n" + B.solution)]),
    "function name only": notebook([code(B.solution)]),
    "the check's argument": notebook([code(B.solution.replace("def backward(", "def mine(")), code('check("05.b", mine)')]),
    "a helper in another cell": notebook([IMPORT, code(HALF), code(USES, "05.b"), CHECK]),
    "a helper further down": notebook([code(USES, "05.b"), code(HALF), CHECK]),
    "split in two": notebook([code(HALF, "05.b"), code(USES, "05.b"), CHECK]),
    "reordered": notebook([CHECK, code(USES, "05.b"), IMPORT, code(HALF)]),
    "duplicated, the copy untouched": notebook([code(B.solution, "05.b"), code(B.stub, "05.b")]),
    "duplicated, the last one right": notebook([code(B.bank[0].answer, "05.b"), code(B.solution, "05.b")]),
    "stub left, answer below": notebook([code(B.stub, "05.b"), code(B.solution), CHECK]),
    "magics in the cell": notebook([code("%matplotlib inline\n!pip list\n" + B.solution + "\nbackward?", "05.b")]),
    "%%time": notebook([code("%%time\n" + B.solution, "05.b")]),
    "check in the same cell": notebook([IMPORT, code(B.solution + '\ncheck("05.b", backward)\ncheck.hint("05.b")', "05.b")]),
    "an error after the definition": notebook([code(B.solution + "\nbackward(undefined)", "05.b")]),
    "prints": notebook([code(B.solution.replace("    root.grad = 1.0", "    print('hello')\n    root.grad = 1.0"), "05.b")]),
    "warns": notebook([code("import warnings\nwarnings.warn('careful')\n" + B.solution, "05.b")]),
    "numpy scalars": notebook([code("import numpy as np\n" + B.solution.replace("1.0", "np.float64(1.0)"), "05.b")]),
    "float32": notebook([code("import numpy as np\n" + B.solution.replace("1.0", "np.float32(1.0)"), "05.b")]),
    "a generator": notebook([code("def seen(order):\n    yield from reversed(order)\n" + USES.replace("reversed(order_of(root))",
                            "seen(order_of(root))") + HALF, "05.b")]),
    "unusual names": notebook([code("λ = lambda v: v._backward()\n" + HALF + USES.replace("v._backward()", "λ(v)"), "05.b")]),
    "type hints and a docstring": notebook([code("from __future__ import annotations\n" + USES.replace("root)", "root: 'Node') -> None", 1)
                                                 + HALF, "05.b")]),
    "a class with __call__": notebook([code(HALF + "class B:\n    def __call__(self, root):\n        root.grad = 1.0\n"
                                            "        for v in reversed(order_of(root)): v._backward()\nbackward = B()", "05.b")]),
    "matplotlib imported": notebook([code("import matplotlib.pyplot as plt"), code("plt.figure()\n" + B.solution, "05.b")]),
    "a thread": notebook([code("import threading\nt = threading.Thread(target=int)\nt.start()\nt.join()\n" + B.solution, "05.b")]),
    "an attribute set in another cell": notebook([code(USES + "order_of = None", "05.b"), code(HALF.replace("order_of", "other")),
                                                  code(USES.replace("order_of", "other"), "05.b")]),
    "byte order mark": b"\xef\xbb\xbf" + text(notebook([code(B.solution, "05.b")])).encode(),
}  # fmt: skip


@pytest.mark.parametrize("nb", HONEST.values(), ids=HONEST)
def test_an_honest_oddity_keeps_its_points(nb, server):
    assert score(nb, server) == 1.0


def test_there_are_thirty_honest_oddities():
    assert len(HONEST) >= 30


def test_an_untouched_or_deleted_answer_is_said_to_be_that(server):
    assert answer_in(chapter_notebook("05", {})).source == B.stub
    assert answer_in(notebook([code("x = 1"), IMPORT])) is None


def test_names_that_two_exercises_share_are_told_apart(monkeypatch):
    name = lambda text: text.replace("patient_2", "patient_1")  # noqa: E731
    one, two = exercises["15.b"], exercises["15.c"]
    two = replace(two, entry=one.entry, stub=name(two.stub), solution=name(two.solution))
    monkeypatch.setitem(exercises.chapter("15"), "15.c", two)
    cells = [
        code(one.solution),
        code(f'check("15.b", {one.entry})'),
        code(two.solution),
        code(f'check("15.c", {two.entry})'),
    ]
    assert answer_in(notebook(cells), "15.b", "n.ipynb").source == one.solution
    assert answer_in(notebook(cells), "15.c", "n.ipynb").source == two.solution


def test_a_function_of_another_chapter_is_not_taken_for_an_answer():
    nb = notebook([code("def backward(root):\n    return 1"), code('check("01.b", descend)')])
    assert answer_in(nb, "05.b", "01_three_ways.ipynb") is None


def test_lines_keep_their_numbers():
    assert without_magics("!ls\nx = (7\n % 3)\n%time y = 1").split("\n") == ["pass", "x = (7", " % 3)", "pass"]
    assert without_magics("x = (7\n % 3)") == "x = (7\n % 3)"


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'{"a": 1}', b'{"cells": 3}', b"[" * 100_000, b"PK\x03\x04", b"\xff\xfe\x00"]
)
def test_what_is_no_notebook_is_named(data):
    with pytest.raises(ValueError, match="JSON"):
        read_notebook(data, "x.ipynb")


def test_strange_cells_are_passed_over():
    cells = [None, 3, {"cell_type": "code"}, {"cell_type": "code", "source": 5}, {"cell_type": "code", "source": [1, "x = 1"], "metadata": 7},
             {"cell_type": "code", "source": "x=1", "metadata": {"nbgrader": [], "minigrad": "a"}}, code("(" * 5000), code("\x00")]  # fmt: skip
    nb = read_notebook(json.dumps({"cells": cells}).encode())
    assert all(find_answer(ex, nb) is None for ex in exercises.chapter("05").values())


# ---- layouts

LAYOUTS = {
    "nbgrader": (["ada/ps/05_x.ipynb", "ben/ps/05_x.ipynb"], ["ada", "ben"]),
    "a folder each": (["ada/05_x.ipynb", "ada/01_y.ipynb", "ben/x.ipynb"], ["ada", "ben"]),
    "flat": (["ada.ipynb", "ben_05_build_the_engine.ipynb"], ["ada", "ben"]),
    "canvas": (
        ["lovelaceada_101_7_x.ipynb", "babbageben_LATE_102_8_05_x-1.ipynb"],
        ["babbageben 102", "lovelaceada 101"],
    ),
    "moodle": (
        ["Ada L_33_assignsubmission_file_/x.ipynb", "Ben B_34_assignsubmission_file_x.ipynb"],
        ["Ada L 33", "Ben B 34"],
    ),
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("files, students", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts(files, students, zipped, tmp_path):
    root = tmp_path / "all.zip" if zipped else tmp_path / "all"
    if zipped:
        with zipfile.ZipFile(root, "w") as z:
            for name in files:
                z.writestr(name, text(notebook([])))
    else:
        for name in files:
            put(root / name, notebook([]))
    found = collect(root)
    assert [s.student for s in found] == students and sum(len(s.sources) for s in found) == len(files)
    for part in (part for s in found for source in s.sources for part in expand(source)[0]):
        assert read_notebook(part[2]()).cells == []


def test_zip_slips_links_and_damage_are_refused_and_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as z:
        z.writestr("good/x.ipynb", text(notebook([code(B.solution)])))
        z.writestr("../evil.ipynb", "{}")
        z.writestr("/etc/evil.ipynb", "{}")
        link = zipfile.ZipInfo("linked/x.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        z.writestr(link, "/etc/passwd")
        z.writestr("empty/readme.txt", "no notebook")
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as y:
            y.writestr("x.ipynb", text(notebook([])))
        z.writestr("nested/mine.zip", inner.getvalue())
        z.writestr("broken/mine.zip", b"PK not really")
    found = {s.student: s for s in collect(tmp_path / "class.zip")}
    assert len(found["good"].sources) == len(found["nested"].sources) == 1
    assert "symbolic link" in found["linked"].problems[0] and not found["linked"].sources
    assert [name for name, *_ in expand(found["nested"].sources[0])[0]] == ["x.ipynb"]
    assert "not a zip file that can be read" in expand(found["broken"].sources[0])[1][0]
    assert found["empty"].problems == ["no notebook was handed in, only readme.txt"]
    assert sum("outside" in p for s in found.values() for p in s.problems) == 2
    assert not (tmp_path.parent / "evil.ipynb").exists() and sorted(p.name for p in tmp_path.iterdir()) == ["class.zip"]


def test_links_on_disk_are_refused(tmp_path):
    secret = put(tmp_path / "secret.ipynb", notebook([]))
    (tmp_path / "all/eve").mkdir(parents=True)
    (tmp_path / "all/eve/x.ipynb").symlink_to(secret)
    (tmp_path / "all/mallory").symlink_to(tmp_path)
    found = collect(tmp_path / "all")
    assert [(s.student, len(s.sources)) for s in found] == [("eve", 0), ("mallory", 0)]
    assert all("symbolic link" in s.problems[0] for s in found)


# ---- a class


@pytest.fixture(scope="module")
def class_of_odd_ones(tmp_path_factory):
    """Graded once: a right answer, a known mistake, nothing, damage of several kinds, 50 MB of output, a formula for a name."""
    root, out = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("grades")
    put(root / "ada/ps/05_x.ipynb", chapter_notebook("05", SOLVED))
    put(root / "ben/ps/05_x.ipynb", chapter_notebook("05", {**SOLVED, "05.b": B.bank[0].answer}))
    put(root / "cyd/ps/05_x.ipynb", chapter_notebook("05", {}))
    put(root / "dan/ps/05_x.ipynb", '{"cells": [')
    put(root / "eve/ps/notes.txt", "sorry")
    put(root / "=cmd|' /C calc'!A0/ps/05_x.ipynb", chapter_notebook("05", SOLVED))
    loud = chapter_notebook("05", SOLVED)
    loud["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 50_000_000}]
    put(root / "fay/ps/05_x.ipynb", loud)
    crash = "import os\nos._exit(1)"
    put(root / "gil/ps/05_x.ipynb", chapter_notebook("05", {**SOLVED, "05.d": crash}))
    put(
        root / "<b>hal/ps/05_x.ipynb",
        chapter_notebook("05", {**SOLVED, "05.b": "def backward(root):\n    raise ValueError('<script>1</script>')"}),
    )
    records = {r["student"]: r for r in grade(root, out, key=KEY, jobs=2)}
    return root, out, records


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_everybody_has_a_row_and_what_they_earned(class_of_odd_ones):
    _, out, records = class_of_odd_ones
    rows = {row["student"]: row for row in table(out / "wide.csv")}
    assert len(rows) == 9 and float(rows["ada"]["total"]) == float(rows["fay"]["total"]) == FULL
    assert float(rows["ben"]["total"]) == pytest.approx(FULL - B.points * (1 - B_SCORE), abs=1e-3)
    assert float(rows["cyd"]["total"]) == 0 and rows["cyd"]["state"] == "graded"
    assert float(rows["gil"]["total"]) == FULL - exercises["05.d"].points, "a crash costs that exercise only"
    assert rows["dan"]["state"] == rows["eve"]["state"] == "ungraded" and rows["dan"]["total"] == ""
    assert "not valid JSON" in rows["dan"]["remarks"] and "no notebook" in rows["eve"]["remarks"]
    assert len(table(out / "long.csv")) == 9 * 4
    mistake = next(r for r in table(out / "long.csv") if r["student"] == "ben" and r["exercise"] == "05.b")
    assert mistake["mistake"] == B.bank[0].name and mistake["found by"] == "cell metadata"


def test_no_cell_of_any_table_is_a_formula(class_of_odd_ones):
    for name in ("wide.csv", "long.csv", "canvas.csv", "moodle.csv", "similar.csv"):
        for row in csv.reader(io.StringIO((class_of_odd_ones[1] / name).read_text(encoding="utf-8"))):
            assert not [cell for cell in row if cell[:1] in tuple("=+-@\t\r|")]
    assert safe("=1+1") == "'=1+1" and safe(" @x") == "' @x" and safe(-1.5) == -1.5 and safe("ada") == "ada"


def test_feedback_names_probe_and_hint_and_shows_inputs_only_when_told(class_of_odd_ones):
    root, out, records = class_of_odd_ones
    page = (out / "feedback/ben.html").read_text(encoding="utf-8")
    assert "✗</td><td>diamond" in page and "Hint:" in page and "<dt>inputs" not in page and "<dt>right" not in page
    assert f"✗</td><td>order</td><td class=n>0 of {B.points * B.ideas['order']:g}" in page, "points for each idea"
    assert f"✓</td><td>seed</td><td class=n>{B.points * B.ideas['seed']:g} of {B.points * B.ideas['seed']:g}" in page
    assert escape(B.bank[0].answer.strip()) in page, "and the student's own code"
    drawn = repr(draw_inputs(B, KEY, "ben", "1")["diamond"])
    assert drawn not in page
    grade(root, out, key=KEY, jobs=1, reveal=True)  # nothing is graded again: the journal has it
    page = (out / "feedback/ben.html").read_text(encoding="utf-8")
    assert f"<dt>inputs<dd><code>{escape(drawn[1:-1])}" in page and "<dt>it gave" in page and "<dt>right" in page
    assert f"check.again(&quot;05.b&quot;, &#x27;diamond&#x27;, backward, {escape(drawn[1:-1])})" in page
    grade(root, out, key=KEY, jobs=1)
    hal = next(p for p in (out / "feedback").glob("*hal*.html")).read_text(encoding="utf-8")
    assert "<script>" not in hal and "&lt;script&gt;" in hal and "<b>hal" not in hal


def test_summary_counts_mistakes_and_says_what_was_refused(class_of_odd_ones):
    page = (class_of_odd_ones[1] / "summary.html").read_text(encoding="utf-8")
    assert "7 of 9 submissions graded" in page and "The commonest mistakes" in page and B.bank[0].name in page
    assert (
        "To look at by hand" in page and "What the answers were refused" in page and "by the operating system" in page
    )
    assert "<b>hal" not in page and '<a href="feedback/ben.html">ben</a>' in page and "05.b: 4 of 4" in page
    tried, width = re.search(
        r'style="width:(\d+)%"></span></div></td><td class=n data-label="of those who tried">1 of (\d+)', page
    ).group(2, 1)
    assert int(width) == round(100 / int(tried)), "a bar is the part of those who tried, not of the commonest mistake"
    assert f"{100 * fresh_share(B):.0f} %" in page, "how many points rest on fresh inputs"


def test_a_semicolon_or_a_tab_starts_no_formula():
    """In a spreadsheet that separates columns by semicolons, or where text was pasted."""
    for text in ("x;=1+1", "x\t=1+1", "; @SUM(1)", "a;\t-1"):
        row = to_csv([(text, 1.5)])
        assert row.startswith('"') and row.endswith('",1.5\r\n') and not re.search(r"[;\t]\s*[=+@-]", row), row
    assert len(next(csv.reader(io.StringIO(to_csv([("x" * 200_000,)]))))[0]) <= 30_000


# ---- the list of students, and the instructor's marks

CLASS = {"ada": SOLVED, "ben": {**SOLVED, "05.b": B.bank[0].answer}, "cyd": SOLVED}


@pytest.fixture(scope="module")
def small_class(tmp_path_factory):
    root = tmp_path_factory.mktemp("small")
    for name, solved in CLASS.items():
        put(root / "in" / name / "05_x.ipynb", chapter_notebook("05", solved))
    put(
        root / "in/cyd/07_x.ipynb",
        chapter_notebook("07", {id: ex.solution for id, ex in exercises.chapter("07").items()}),
    )
    grade(root / "in", root / "out", key=KEY, jobs=1)
    return root


def again(root, marks="", **more):
    """The same class once more: the journal has it, so only the tables and pages are new."""
    (root / "out/marks.csv").write_text("student,what,points,of,remark\n" + marks, encoding="utf-8")
    said = []
    grade(root / "in", root / "out", key=KEY, jobs=1, say=said.append, **more)
    assert any("already graded" in line for line in said)
    return {row["student"]: row for row in table(root / "out/wide.csv")}, "".join(said)


def test_the_instructors_marks_are_entered_and_survive(small_class):
    rows, said = again(
        small_class,
        "ben,05.b,3.5,,only the order\nada,Talk,4,5,\ncyd,all,excused,,ill\nada,05.a,many,,\nzoe,05.a,1,,\n",
    )
    assert float(rows["ben"]["05.b"]) == 3.5 and float(rows["ben"]["total"]) == FULL - 0.5
    assert (float(rows["ada"]["total"]), float(rows["ada"]["of"]), rows["ada"]["Talk"]) == (FULL + 4, OF + 5, "4.0")
    assert rows["cyd"]["total"] == "" and rows["cyd"]["state"] == "excused" and "ill" in rows["cyd"]["remarks"]
    assert "line 5: many is not a number of points" in said and "no student zoe" in said
    assert "Marked by hand: only the order" in (small_class / "out/feedback/ben.html").read_text(encoding="utf-8")
    assert [r["minigrad"] for r in table(small_class / "out/canvas.csv")][1:] == [str(FULL + 4.0), str(FULL - 0.5), ""]
    assert "ben,05.b,3.5" in (small_class / "out/marks.csv").read_text(encoding="utf-8"), (
        "the grader never writes into it"
    )
    assert float(again(small_class)[0]["ben"]["05.b"]) == pytest.approx(B.points * B_SCORE, abs=1e-3)


@pytest.mark.parametrize("students", ["ada\nben\nBetty H\n", "Student,ID,SIS Login ID,Section\nPoints Possible,,,\nAda,1,ada,A\nBen,2,ben,B\nBetty H,3,bh,A\n",
                                      "Full name;Username\nada;a1\nben;b1\nBetty H;b2\n"], ids=["names", "Canvas", "Moodle"])  # fmt: skip
def test_the_list_of_students_names_who_is_missing_and_who_is_not_in_it(small_class, tmp_path, students):
    (tmp_path / "list.csv").write_text(students, encoding="utf-8")
    rows, _ = again(small_class, students=tmp_path / "list.csv")
    assert (
        rows["Betty H"]["state"] == "missing"
        and rows["Betty H"]["total"] == ""
        and "nothing was handed in" in rows["Betty H"]["remarks"]
    )
    assert "not in the list" in rows["cyd"]["remarks"] and not rows["ada"]["remarks"]
    canvas = {r["Student"]: r for r in table(small_class / "out/canvas.csv")}
    assert canvas["Betty H"]["minigrad"] == ""
    if "SIS Login ID" in students:
        assert (canvas["Ada"]["ID"], canvas["Ada"]["Section"]) == ("1", "A")


def test_a_notebook_of_another_chapter_raises_nobodys_maximum(small_class):
    rows, _ = again(small_class)
    assert {row["of"] for row in rows.values()} == {str(OF)} and float(rows["cyd"]["total"]) > FULL
    assert "Chapter 07 was handed in by less than half" in (small_class / "out/summary.html").read_text(
        encoding="utf-8"
    )


def test_the_column_in_the_gradebook_has_a_name(small_class):
    again(small_class, name="Autograd 1")
    assert "Autograd 1" in table(small_class / "out/canvas.csv")[0]


def test_a_zip_in_a_flat_folder_belongs_to_its_name(tmp_path):
    put(tmp_path / "alice.ipynb", notebook([code(B.solution)]))
    with zipfile.ZipFile(tmp_path / "mallory.zip", "w") as z:
        z.writestr("alice/zz.ipynb", text(notebook([])))
    assert [(s.student, len(s.sources)) for s in collect(tmp_path)] == [("alice", 1), ("mallory", 1)]


def test_a_name_further_down_belongs_to_nobody_else(tmp_path):
    put(tmp_path / "mallory/alice_101_7_x.ipynb", notebook([]))
    put(tmp_path / "mallory/Ada L_33_assignsubmission_file_/x.ipynb", notebook([]))
    assert [s.student for s in collect(tmp_path)] == ["mallory"]


def test_what_canvas_says_is_kept(tmp_path):
    put(tmp_path / "lovelaceada_LATE_101_7_x.ipynb", notebook([]))
    put(tmp_path / "babbagec_102_8_33_assignsubmission_file_x.ipynb", notebook([]))
    put(tmp_path / "hopperg_103_9_x.html", "<html>")
    found = {s.lms["canvas"]: s for s in collect(tmp_path)}
    assert found["101"].problems == ["handed in late (so Canvas says)"] and found["102"].problems == []
    assert found["103"].problems == ["no notebook was handed in, only hopperg_103_9_x.html"]


def test_file_names_of_feedback_are_harmless_and_unique():
    names = file_names(["ada", "Ada", "../../etc/passwd", "a/b", "a:b", "", "ß" * 300])
    assert len({n.lower() for n in names.values()}) == 7
    assert all("/" not in n and not n.startswith(".") and len(n.encode()) < 255 for n in names.values())


def test_lms_files_carry_their_ids(tmp_path):
    put(tmp_path / "c/lovelaceada_101_7_05_x.ipynb", notebook([code(B.solution, "05.b")]))
    put(tmp_path / "m/Ada L_33_assignsubmission_file_/05_x.ipynb", notebook([code(B.solution, "05.b")]))
    for name in ("c", "m"):
        grade(tmp_path / name, tmp_path / f"out-{name}", key=KEY, only=["05.b"], jobs=1)
    canvas = table(tmp_path / "out-c/canvas.csv")
    assert canvas[0]["Student"].strip() == "Points Possible" and canvas[0]["minigrad"] == str(B.points)
    assert (canvas[1]["Student"], canvas[1]["ID"], float(canvas[1]["minigrad"])) == ("lovelaceada", "101", B.points)
    moodle = table(tmp_path / "out-m/moodle.csv")[0]
    assert (moodle["Identifier"], moodle["Full name"], float(moodle["Grade"])) == ("Participant 33", "Ada L", B.points)


def test_copies_are_flagged_and_the_obvious_answer_is_not():
    odd = HALF + USES + "\ndef unused(a, b):\n    return [a * i + b for i in range(10) if i % 3]\n"
    renamed = odd.replace("order_of", "sorted_nodes").replace("visit", "go").replace("# ", "")
    assert shingles(odd) == shingles(renamed) != []
    record = lambda name, source: {"student": name, "grades": {"05.b": {"shingles": shingles(source)}}}  # noqa: E731
    assert similar([record("a", odd), record("b", renamed), record("c", B.bank[4].answer)], ["05.b"]) == [
        ("05.b", "a", "b", "100 %")
    ]
    assert similar([record("a", B.solution), record("b", B.solution)], ["05.b"]) == []
    same = record("a", B.solution)
    same["grades"]["05.b"]["as_solution"] = True
    assert similar([same, record("b", HALF + USES)], ["05.b"]) == [("05.b", "a", SOLUTION, "100 %")]


# ---- nothing lost, nothing twice


def test_killed_and_resumed_gives_the_same_bytes(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(KEY)
    make_class(tmp_path / "all", 5, ["01"])
    assert "5 submissions, 0 already graded" in finish(
        grader(tmp_path / "all", tmp_path / "straight", "--key", str(key))
    )
    grade_killed(tmp_path / "all", tmp_path / "killed", key, kills=2, longest=4.0, seed=4)
    assert outputs(tmp_path / "straight") == outputs(tmp_path / "killed") != {}
    assert sorted(graded_in(tmp_path / "killed")) == [f"student{n:03d}" for n in range(5)]


def test_the_journal_survives_a_torn_line_and_refuses_a_second_writer(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for name in "abc":
            journal.add({"student": name, "fingerprint": name})
        with pytest.raises(SystemExit, match="Another run"):
            Journal(path).__enter__()
    whole = path.read_bytes()
    for cut in (1, 10, len(whole.split(b"\n")[2])):
        path.write_bytes(whole[:-cut])
        with Journal(path) as journal:
            assert sorted(journal.records) == ["a", "b"]
            journal.add({"student": "c", "fingerprint": "c"})
        assert path.read_bytes() == whole
    path.write_bytes(whole[:30] + b"#" + whole[31:])
    with Journal(path) as journal:
        assert journal.records == {}


def test_only_what_changed_is_graded_again(tmp_path, monkeypatch):
    for name in ("ada", "ben"):
        put(tmp_path / "all" / name / "05_x.ipynb", notebook([code(B.solution, "05.b")]))
    done = []

    def here(tasks, setting, jobs, begin):
        for task in tasks:
            done.append(task.student)
            yield grade_submission(task, setting)

    monkeypatch.setattr(the_command, "grade_all", here)
    run = lambda **more: grade(tmp_path / "all", tmp_path / "out", only=["05.b"], **more)  # noqa: E731
    run()
    run()
    assert done == ["ada", "ben"]
    put(tmp_path / "all/ben/05_x.ipynb", notebook([code(B.bank[0].answer, "05.b")]))
    run()
    assert done == ["ada", "ben", "ben"]
    run(round="2")
    assert done[3:] == ["ada", "ben"]
    run(round="2", key=b"another key, long enough")
    assert done[5:] == ["ada", "ben"]
    # Minigrad itself, as it is hashed
    monkeypatch.setattr(the_command, "__file__", str(put(tmp_path / "newer/course/grade.py", "")))
    run(round="2", key=b"another key, long enough")
    assert done[7:] == ["ada", "ben"]
    assert stat.S_IMODE((tmp_path / "out/key").stat().st_mode) == 0o600


def test_a_submission_that_ends_the_judge_is_named_and_the_others_are_graded(tmp_path, monkeypatch):
    put(tmp_path / "ada/x.ipynb", notebook([code(B.solution, "05.b")]))
    setting = Setting(KEY, "1", ("05.b",))
    good = Task("ada", "1", tuple(collect(tmp_path)[0].sources), (), ())
    deadly = Task("eve", "2", (_Deadly(),), (), ())
    records = {r["student"]: r for r in pool.grade_all([deadly, good], setting, 1)}
    assert records["ada"]["grades"]["05.b"]["score"] == 1
    assert records["eve"]["state"] == "ungraded" and "look at it by hand" in records["eve"]["problems"][0]


class _Deadly:
    """Stands for a file that crashes the judge's own process."""

    name = "x.ipynb"

    @property
    def path(self):
        os._exit(1)


# ---- elsewhere


def test_through_dask_on_a_local_cluster(tmp_path):
    pytest.importorskip("distributed")
    make_class(tmp_path / "all", 2, ["01"])
    for name, dask in (("plain", ""), ("dask", "local")):
        grade(tmp_path / "all", tmp_path / name, key=KEY, jobs=1, dask=dask)
    assert outputs(tmp_path / "plain") == outputs(tmp_path / "dask")


def test_through_a_container_engine(tmp_path):
    """A stand-in for docker that checks its arguments and runs the command here: is what we ask for what we mean?"""
    engine = tmp_path / "docker"
    engine.write_text(f"""#!{sys.executable}
import os, sys
args = sys.argv[1:]
assert args[0] == "run" and {{"--network=none", "--read-only", "--cap-drop=ALL", "--interactive", "--user=65534:65534"}} <= set(args)
kit = next(a for a in args if a.startswith("--volume=")).split("=")[1].split(":")[0]
at = args.index("image") + 1
os.environ["PYTHONHASHSEED"] = "0"
os.execv({sys.executable!r}, [{sys.executable!r}, *[a.replace("/kit", kit) for a in args[at + 1:]]])
""")
    engine.chmod(0o755)
    with answers.kit() as folder, AnswerServer(folder, command=container_command(str(engine), "image")) as server:
        assert grade_answer(B, B.solution, server).score == 1


def test_a_container_engine_that_does_not_start_says_so(tmp_path):
    with answers.kit() as folder, pytest.raises(RuntimeError, match="did not start"):
        AnswerServer(folder, command=["false"]).__enter__()


# ---- hostile submissions

FALL = "\ndef backward(root):\n    pass\n"
HOSTILE = {
    "other students": "import glob\ntext = open(OTHER).read()\nexec(text)" + FALL,
    "lists the class": "import os\nnames = os.listdir(os.path.dirname(os.path.dirname(OTHER)))\nassert not names" + FALL,
    "the reference by path": "import os\nexec(open(REFERENCE).read())\nbackward = EX_B.load(EX_B.solution)",
    "the reference by import": "import sys\nsys.path.insert(0, ROOT)\nimport importlib\nfor n in list(sys.modules):\n"
                               "    if n.startswith('minigrad'): del sys.modules[n]\n"
                               "from minigrad.course.exercises.ch05 import EX_B\nbackward = EX_B.load(EX_B.solution)",
    "the bytecode of the reference": "import glob\nfor f in glob.glob(REFERENCE.replace('ch05.py', '__pycache__/*')):\n    open(f, 'rb')"
                                     + "\nbackward = lambda root: None",
    "/proc/self/mem": "open('/proc/self/mem', 'r+b')" + FALL,
    "parent's memory": "import os\nopen(f'/proc/{os.getppid()}/environ', 'rb').read()\nraise SystemExit" + FALL,
    "raises its limits": "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (10**6, 10**6))" + FALL,
    "SystemExit": "raise SystemExit(0)" + FALL,
    "signals ignored": "import signal\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except OSError: pass\nwhile 1: pass",
    "rewrites the drivers": "import minigrad.course.drivers as d\nd.Node.grad = property(lambda s: 7.0, lambda s, v: None)" + FALL,
    "rewrites plain": "import minigrad.course.plain as p, minigrad.course.guard as g\np.plain = g.plain = lambda x, d=0: {}" + FALL,
    "the hook taken out": HOOK_OUT + "open(REFERENCE).read()\nimport os\nos.fork()" + FALL,
    "hook out, network": HOOK_OUT + "import socket\nsocket.socket().connect(('127.0.0.1', 9))" + FALL,
    "pickled result": "import pickle, os\nfor fd in range(3, 40):\n    try: os.write(fd, pickle.dumps({'score': 1}))\n    except OSError: pass" + FALL,
    "shared memory": "from multiprocessing import shared_memory\nshared_memory.SharedMemory('grade', True, 100)" + FALL,
    "many threads": "import threading, time\nfor _ in range(10**5): threading.Thread(target=time.sleep, args=(9,)).start()" + FALL,
    "many files": "for i in range(10**5): open(f'f{i}', 'w').write('x' * 100)\nraise SystemExit" + FALL,
}  # fmt: skip


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_submission_gets_nothing_and_harms_nothing(source, class_of_odd_ones, server):
    root, out, _ = class_of_odd_ones
    reference = Path(exercises.__class__.__init__.__code__.co_filename).parent / "ch05.py"
    head = f"OTHER = {str(root / 'ada/ps/05_x.ipynb')!r}\nREFERENCE = {str(reference)!r}\nROOT = {str(reference.parents[3])!r}\n"
    before, start = outputs(out), time.monotonic()
    with answers.kit() as folder, AnswerServer(folder, hidden=[root, out]) as apart:
        result = grade_answer(B, head + source, apart, draw_inputs(B, KEY, "eve", "1"), Box(wall=8, cpu=4))
        assert result.score == 0, result
        assert time.monotonic() - start < 30
        assert grade_answer(B, B.solution, apart).score == 1, "the next student's answer is not harmed"
    assert outputs(out) == before


def test_there_are_thirty_hostile_submissions():
    from .test_worker import HOSTILE as more

    assert len({*HOSTILE, *more}) >= 30


# ---- what README.md and INSTRUCTORS.md promise


@pytest.mark.parametrize("page", ["README.md", "INSTRUCTORS.md"])
def test_the_three_commands(page, tmp_path):
    """The second and third command run as they are written; the first installs, which the tests' environment has done."""
    words = (ROOT / page).read_text(encoding="utf-8").partition("## Grade a class in three commands")[2]
    install, *commands = words.split("```")[1].strip().splitlines()
    assert install == 'python -m pip install --editable ".[instructors]"' and len(commands) == 2
    put(tmp_path / "submissions/ada/05_x.ipynb", chapter_notebook("05", {"05.b": B.solution}))
    for command in commands:
        python, *rest = command.split()
        assert python == "python"
        env = dict(os.environ, PYTHONPATH=str(ROOT))
        run = subprocess.run([sys.executable, *rest], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert run.returncode == 0 and "1 of 1 submissions graded" in run.stdout, run.stderr
    assert "already graded" in run.stderr and "1 already" in run.stderr
    assert "<dt>inputs" in (tmp_path / "grades/feedback/ada.html").read_text(encoding="utf-8")
