"""nbgrader really runs on what is built for it: right, untouched, wrong and hostile submissions get what they deserve."""

import csv
import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from minigrad.course import exercises
from minigrad.course.nbgrader import solution_cell

from .classroom import ROOT, chapter_notebook

pytest.importorskip("nbgrader")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")

CHAPTER, NAME = "05", "05_chapter"
EXS = {id: ex for id, ex in exercises.chapter(CHAPTER).items() if ex.points}  # a prediction is worth no points and has no grade cell
BANK = [(ex, wrong) for ex in EXS.values() for wrong in ex.bank]
FULL = float(sum(ex.points for ex in EXS.values()))

HOSTILE = {  # what replaces the answer to 05.b
    "ends the kernel": "import os\nos._exit(0)",
    "equal to everything": "class Y:\n    def __eq__(self, other): return True\nbackward = lambda root: setattr(root, 'grad', Y())",
    "patched asserts": "import builtins\nbuiltins.AssertionError = Exception\nbuiltins.float = lambda x: 4.0\n"
                       "def backward(root):\n    return 4.0",
    "patched grade function": "import minigrad.course.nbgrader as m\nm.points = lambda id: 4.0\nm._clipped = lambda *a: 4.0",
    "patched numpy": "import numpy\nnumpy.allclose = lambda *a, **k: True\nnumpy.testing.assert_allclose = lambda *a, **k: None\n"
                     "def backward(root):\n    pass",
    "endless": "while True:\n    pass",
    "reads the key": "print(open('../../../key').read())\nprint(open('../../../source/05_chapter/05_chapter.ipynb').read())",
}


def nbgrader(folder, *arguments, fine=(0,)):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])  # it runs `alembic` by name
    env = dict(os.environ, PATH=path, PYTHONPATH=str(ROOT), JUPYTER_CONFIG_DIR=str(folder / "none"), JUPYTER_DATA_DIR=str(folder / "none"))
    command = [sys.executable, "-m", "nbgrader", *arguments]
    run = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=600)
    assert run.returncode in fine, run.stderr[-3000:]
    return run.stderr


def make_course(folder):
    learner = folder / "notebooks"
    learner.mkdir(parents=True)
    (learner / f"{NAME}.ipynb").write_text(json.dumps(chapter_notebook(CHAPTER, {})), encoding="utf-8")
    command = [sys.executable, "-m", "minigrad.course.nbgrader", str(folder / "course"), "--notebooks", str(learner)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder / "course"


def hand_in(course, student, answers=None, change=lambda nb: None):
    """The released notebook with answers in the place of what its answer cells hold, as a submission."""
    nb = json.loads((course / "release" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8"))
    for cell in nb["cells"]:
        id = cell["metadata"].get("minigrad", {}).get("exercise")
        if id in (answers or {}):
            cell["source"] = answers[id]
    change(nb)
    path = course / "submitted" / student / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(nb), encoding="utf-8")


def points_of(course, student):
    """The points of each exercise, from nbgrader's own database."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        notebook = gradebook.find_submission_notebook(NAME, NAME, student)
        return {grade.name.removeprefix("grade-").replace("-", "."): grade.score for grade in notebook.grades}


def scores(course):
    nbgrader(course, "export", "--to", "grades.csv")
    with open(course / "grades.csv", newline="") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


SOLVED = {id: ex.solution for id, ex in EXS.items()}


def every_point_raised(nb):
    for cell in nb["cells"]:
        if "points" in cell["metadata"].get("nbgrader", {}):
            cell["metadata"]["nbgrader"]["points"] = 1000


def no_grade_cells(nb):
    nb["cells"] = [cell for cell in nb["cells"] if not cell["metadata"].get("nbgrader", {}).get("grade")]


def own_grade_cells(nb):
    for cell in nb["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["source"] = "99.0"
            cell["outputs"] = [{"output_type": "execute_result", "data": {"text/plain": "99.0"}, "metadata": {}, "execution_count": 1}]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """One run of nbgrader over everybody: (course folder, score of every student)."""
    course = make_course(tmp_path_factory.mktemp("nbgrader"))
    nbgrader(course, "generate_assignment", NAME, "--create")
    hand_in(course, "solved", SOLVED)
    hand_in(course, "stub")
    hand_in(course, "noisy", {**SOLVED, "05.b": "import sys, warnings\nprint('x', file=sys.stderr)\nwarnings.warn('w')\n" + SOLVED["05.b"]})
    hand_in(course, "edited", change=lambda nb: (every_point_raised(nb), own_grade_cells(nb)))
    hand_in(course, "deleted", SOLVED, no_grade_cells)
    hand_in(course, "odd", {**SOLVED, "05.b": SOLVED["05.b"] + f"\nlarge = [0x{'f' * 4000}, {', '.join('123456789')}]"})
    for number in range(max(len(ex.bank) for ex in EXS.values())):  # the first known mistake of every exercise, the second, ...
        hand_in(course, f"wrong{number:02d}", {id: ex.source_of(ex.bank[number % len(ex.bank)]) for id, ex in EXS.items()})
    for number, source in enumerate(HOSTILE.values()):
        hand_in(course, f"hostile{number}", {"05.b": source})
    nbgrader(course, "autograde", NAME, "--create")
    return course, scores(course)


def test_without_its_preprocessor_nbgrader_does_nothing(tmp_path):
    """nbgrader goes on when its configuration cannot be read, and would run students' code in a kernel."""
    course = make_course(tmp_path)
    nbgrader(course, "generate_assignment", NAME, "--create")
    hand_in(course, "eve", {"05.b": f"open({str(tmp_path / 'it-ran')!r}, 'w')"})
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text().replace("import preprocessors", "import no_such_preprocessors"))
    said = nbgrader(course, "autograde", NAME, "--create", fine=(1,))
    assert "students' code would run beside your grades (cannot import name 'no_such_preprocessors'" in said and "Nothing was done" in said
    assert not (tmp_path / "it-ran").exists() and not (course / "autograded").exists()


def test_the_source_is_valid_and_the_release_has_no_solution(graded):
    from nbgrader.nbgraderformat import read

    course, _ = graded
    nb = read(str(course / "source" / NAME / f"{NAME}.ipynb"), as_version=4)  # validates schema 3
    kinds = [cell.metadata.nbgrader for cell in nb.cells if "nbgrader" in cell.metadata]
    assert {m.schema_version for m in kinds} == {3}
    assert sum(m.get("points", 0) for m in kinds) == FULL and sum(m.solution for m in kinds) == len(EXS)
    release = (course / "release" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert "SOLUTION" not in release and "reversed(order)" not in release
    cells = {c["metadata"]["minigrad"]["exercise"]: c["source"] for c in json.loads(release)["cells"] if "minigrad" in c["metadata"]}
    for id, ex in EXS.items():
        source = cells[id] if isinstance(cells[id], str) else "".join(cells[id])
        assert source.startswith(f"# exercise {id}\n{ex.stub}")
    assert "### END SOLUTION" in solution_cell(EXS["05.b"])


def test_solved_gets_everything_and_the_stub_nothing(graded):
    assert graded[1]["solved"] == graded[1]["noisy"] == graded[1]["odd"] == graded[1]["deleted"] == FULL
    assert graded[1]["stub"] == graded[1]["edited"] == 0


@pytest.mark.parametrize("number", range(len(BANK)), ids=[f"{ex.id}-{wrong.name}" for ex, wrong in BANK])
def test_a_known_mistake_gets_not_all_points(graded, number):
    ex, wrong = BANK[number]
    points = points_of(graded[0], f"wrong{ex.bank.index(wrong):02d}")[ex.id]
    assert 0 <= points < ex.points


@pytest.mark.parametrize("number", range(len(HOSTILE)), ids=list(HOSTILE))
def test_a_hostile_answer_gets_nothing(graded, number):
    assert graded[1][f"hostile{number}"] == 0


def test_feedback_names_probe_and_hint(graded):
    course, _ = graded
    wrong = EXS["05.b"].bank[0]
    nbgrader(course, "generate_feedback", NAME, "--student", "wrong00")
    page = (course / "feedback" / "wrong00" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", page)))
    assert "✗ diamond" in text and "Hint: " + wrong.hint[:60] in text


def test_without_the_configuration_the_grade_cell_itself_asks_the_worker(graded, tmp_path):
    """nbgrader's own kernel: the same grades, nothing on stderr, a builtin float."""
    course = make_course(tmp_path)
    text = (course / "nbgrader_config.py").read_text()
    (course / "nbgrader_config.py").write_text("\n".join(line for line in text.splitlines() if "preprocessors" not in line))
    nbgrader(course, "generate_assignment", NAME, "--create")
    hand_in(course, "wrong", {**SOLVED, "05.b": EXS["05.b"].bank[0].answer})
    nbgrader(course, "autograde", NAME, "--create")
    assert points_of(course, "wrong") == {**points_of(graded[0], "solved"), "05.b": points_of(graded[0], "wrong00")["05.b"]}
