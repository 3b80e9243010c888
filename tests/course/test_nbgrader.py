"""nbgrader really runs on what is built for it: right, untouched, wrong and hostile submissions get what they deserve."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from minigrad.course import exercises
from minigrad.course.nbgrader import solution_cell

from ..thorough import THOROUGH
from .classroom import ROOT, chapter_notebook

pytest.importorskip("nbgrader")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")

CHAPTER, NAME = "05", "05_chapter"
LEFT_OUT = "05.c"  # it trains for seconds, for every student
# A prediction is worth no points and has no grade cell.
EXS = {id: ex for id, ex in exercises.chapter(CHAPTER).items() if ex.points and id != LEFT_OUT}
# What a known mistake is worth is for test_exercises.py and test_worker.py: two students show that it gets here.
WRONG = range(max(len(ex.bank) for ex in EXS.values())) if THOROUGH else range(2)
FULL = float(sum(ex.points for ex in EXS.values()))

HOSTILE = {  # in place of an answer
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
# It does not matter which answer they replace
OTHERS = [name for name, source in HOSTILE.items() if "backward" not in source]
HAND_IN = [  # three students: by exercise, what they are
    {"05.b": "equal to everything", **dict(zip(("05.a", "05.d"), OTHERS[:2], strict=True))},
    {"05.b": "patched asserts", **dict(zip(("05.a", "05.d"), OTHERS[2:], strict=True))},
    {"05.b": "patched numpy"},
]


def nbgrader(folder, *arguments, fine=(0,)):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])  # it runs `alembic` by name
    env = dict(
        os.environ,
        PATH=path,
        PYTHONPATH=str(ROOT),
        JUPYTER_CONFIG_DIR=str(folder / "none"),
        JUPYTER_DATA_DIR=str(folder / "none"),
    )
    command = [sys.executable, "-m", "nbgrader", *arguments]
    run = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=600)
    assert run.returncode in fine, run.stderr[-3000:]
    return run.stderr


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A course whose assignment is released, before anybody hands in. To be copied."""
    folder = tmp_path_factory.mktemp("nbgrader")
    learner = folder / "notebooks"
    learner.mkdir(parents=True)
    nb = chapter_notebook(CHAPTER, {})
    nb["cells"] = [cell for cell in nb["cells"] if LEFT_OUT not in json.dumps(cell)]
    (learner / f"{NAME}.ipynb").write_text(json.dumps(nb), encoding="utf-8")
    command = [sys.executable, "-m", "minigrad.course.nbgrader", str(folder / "course"), "--notebooks", str(learner)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    nbgrader(folder / "course", "generate_assignment", NAME, "--create")
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


def no_metadata(nb):
    for cell in nb["cells"]:
        cell["metadata"] = {}


def own_grade_cells(nb):
    for cell in nb["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["source"] = "99.0"
            cell["outputs"] = [
                {"output_type": "execute_result", "data": {"text/plain": "99.0"}, "metadata": {}, "execution_count": 1}
            ]


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory):
    """One run of nbgrader over everybody: (course folder, score of every student)."""
    course = shutil.copytree(released, tmp_path_factory.mktemp("graded") / "course")
    loud = "import sys, warnings\nprint('x', file=sys.stderr)\nwarnings.warn('w')\n" + SOLVED["05.b"]
    hand_in(course, "solved", SOLVED)
    hand_in(
        course,
        "odd",
        {**SOLVED, "05.b": loud + f"\nlarge = [0x{'f' * 4000}, {', '.join('123456789')}]"},
        no_grade_cells,
    )
    hand_in(course, "bare", SOLVED, no_metadata)
    hand_in(course, "stub")
    hand_in(course, "edited", change=lambda nb: (every_point_raised(nb), own_grade_cells(nb)))
    for number in WRONG:  # the first known mistake of every exercise, the second, ...
        hand_in(
            course, f"wrong{number:02d}", {id: ex.source_of(ex.bank[number % len(ex.bank)]) for id, ex in EXS.items()}
        )
    for number, kinds in enumerate(HAND_IN):
        hand_in(course, f"hostile{number}", {id: HOSTILE[kind] for id, kind in kinds.items()})
    nbgrader(course, "autograde", NAME, "--create")
    return course, scores(course)


def test_without_its_preprocessor_nbgrader_does_nothing(released, tmp_path):
    """nbgrader goes on when its configuration cannot be read, and would run students' code in a kernel."""
    course = shutil.copytree(released, tmp_path / "course")
    hand_in(course, "eve", {"05.b": f"open({str(tmp_path / 'it-ran')!r}, 'w')"})
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text().replace("import preprocessors", "import no_such_preprocessors"))
    said = nbgrader(course, "autograde", NAME, "--create", fine=(1,))
    assert (
        "students' code would run beside your grades (cannot import name 'no_such_preprocessors'" in said
        and "Nothing was done" in said
    )
    assert not (tmp_path / "it-ran").exists() and not (course / "autograded").exists()


def test_the_source_is_valid_and_the_release_has_no_solution(graded):
    from nbgrader.nbgraderformat import read

    course, _ = graded
    nb = read(str(course / "source" / NAME / f"{NAME}.ipynb"), as_version=4)  # validates schema 3
    kinds = [cell.metadata.nbgrader for cell in nb.cells if "nbgrader" in cell.metadata]
    assert {m.schema_version for m in kinds} == {3}
    assert sum(m.get("points", 0) for m in kinds) == sum(ex.counted_points for ex in EXS.values()) < FULL
    assert sum(m.solution for m in kinds) == len(EXS)
    release = (course / "release" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert "SOLUTION" not in release and "reversed(order)" not in release
    cells = {
        c["metadata"]["minigrad"]["exercise"]: c["source"]
        for c in json.loads(release)["cells"]
        if "minigrad" in c["metadata"]
    }
    for id, ex in EXS.items():
        source = cells[id] if isinstance(cells[id], str) else "".join(cells[id])
        assert source.startswith(f"# exercise {id}\n{ex.stub}")
    assert "### END SOLUTION" in solution_cell(EXS["05.b"])


def test_solved_gets_everything_and_the_stub_nothing(graded):
    assert graded[1]["solved"] == graded[1]["odd"] == graded[1]["bare"] == FULL
    assert graded[1]["stub"] == graded[1]["edited"] == 0


def test_a_known_mistake_gets_not_all_points(graded):
    for number in WRONG:
        points = points_of(graded[0], f"wrong{number:02d}")
        for id, ex in EXS.items():
            assert 0 <= points[id] < ex.points, (id, ex.bank[number % len(ex.bank)].name)


def test_a_hostile_answer_gets_nothing(graded):
    assert {kind for kinds in HAND_IN for kind in kinds.values()} == set(HOSTILE)
    for number, kinds in enumerate(HAND_IN):
        points = points_of(graded[0], f"hostile{number}")
        assert {kind: points[id] for id, kind in kinds.items()} == dict.fromkeys(kinds.values(), 0)
        assert graded[1][f"hostile{number}"] == 0


def test_feedback_names_probe_and_hint(graded):
    course, _ = graded
    wrong = EXS["05.b"].bank[0]
    nbgrader(course, "generate_feedback", NAME, "--student", "wrong00")
    page = (course / "feedback" / "wrong00" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", page)))
    assert "✗ diamond" in text and "Hint: " + wrong.hint[:60] in text


def test_without_the_configuration_the_grade_cell_itself_asks_the_worker(released, graded, tmp_path):
    """nbgrader's own kernel: the same grades but for extra credit, nothing on stderr, a builtin float."""
    course = shutil.copytree(released, tmp_path / "course")
    text = (course / "nbgrader_config.py").read_text()
    (course / "nbgrader_config.py").write_text(
        "\n".join(line for line in text.splitlines() if "preprocessors" not in line)
    )
    hand_in(course, "wrong", {**SOLVED, "05.b": EXS["05.b"].bank[0].answer})
    nbgrader(course, "autograde", NAME, "--create")
    without_extra = {id: min(points, EXS[id].counted_points) for id, points in points_of(graded[0], "solved").items()}
    assert points_of(course, "wrong") == {**without_extra, "05.b": points_of(graded[0], "wrong00")["05.b"]}
