"""The notebook's verdict and the grader's are one: what `check` writes beside it, what `check.hand_in` finds, what the grader says."""

import json
import os
import subprocess
import sys
import zipfile

import pytest

from minigrad.course import exercises
from minigrad.course.checking import Check
from minigrad.course.claims import Claim, fingerprint, read_claim
from minigrad.course.grading.notebooks import read_notebook
from minigrad.course.grading.pool import close, grade_submission
from minigrad.course.grading.reader import read
from minigrad.course.grading.settings import Setting, Task
from minigrad.course.grading.submissions import collect

from .classroom import ROOT, chapter_notebook, code, notebook

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")

KEY = b"a key for tests, long enough"
A, B = exercises["05.a"], exercises["05.b"]
WRONG = "def backward(root):\n    root.grad = 1.0\n"


def graded(folder, ids=("05.a", "05.b")):
    try:
        return grade_submission(Task("ada", "1", tuple(collect(folder)[0].sources), (), ()), Setting(KEY, "1", ids))
    finally:
        close()


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A notebook that a kernel has run: two answers, their checks, and `check.hand_in()`. Its folder, and the notebook with outputs."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    folder = tmp_path_factory.mktemp("learner")
    cells = [code("from minigrad.course import check"), code(A.solution, "05.a"), code('check("05.a", Value)'),
             code("%matplotlib inline\n" + B.solution + "\nprint('done')", "05.b"), code('check("05.b", backward)'),
             code("check.hand_in()")]  # fmt: skip
    path = folder / "05_build_the_engine.ipynb"
    nb = nbformat.from_dict(notebook(cells))
    nbformat.write(nb, path)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)
    try:
        nbclient.NotebookClient(nb, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    finally:
        os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)
    return folder, json.loads(nbformat.writes(nb))


def test_a_verdict_carries_a_claim_that_the_grader_reads(done):
    _, nb = done
    claims = [claim for cell in read_notebook(json.dumps(nb).encode(), "05_x.ipynb").cells for claim in cell.claims]
    assert claims == [Claim("05.a", 1.0, fingerprint(A.solution)), Claim("05.b", 1.0, fingerprint(B.solution))]


def test_hand_in_says_what_it_found_and_writes_what_the_grader_accepts(done):
    folder, nb = done
    said = "".join(nb["cells"][-1]["outputs"][0]["data"]["text/plain"])
    assert "✓ Hand in 05_build_the_engine_hand_in.zip" in said and "cell 2 (class Value:)" in said
    assert said.count("✓ passed") == 2 and "cell metadata" in said
    with zipfile.ZipFile(folder / "05_build_the_engine_hand_in.zip") as z:
        assert sorted(z.namelist()) == ["05_build_the_engine.ipynb", "manifest.json"]
        manifest = json.loads(z.read("manifest.json"))
    assert manifest["answers"]["05.b"]["program"] == fingerprint(B.solution)
    (folder / "class/ada").mkdir(parents=True)
    (folder / "05_build_the_engine_hand_in.zip").rename(folder / "class/ada/05_build_the_engine_hand_in.zip")
    record = graded(folder / "class")
    assert [record["grades"][id]["score"] for id in ("05.a", "05.b")] == [1, 1] and record["problems"] == []


@pytest.mark.parametrize("source, said", [
    (WRONG, "05.b: ✓ 4 of 4 in the notebook, for another version of the cell, "),
    (B.solution.replace("root.grad = 1.0", "root.grad = float(open('a_file_of_mine').read())"), "05.b: ✓ "),
], ids=["changed", "works there only"])  # fmt: skip
def test_less_than_in_the_notebook_comes_first(done, tmp_path, source, said):
    nb = json.loads(json.dumps(done[1]))
    nb["cells"][3]["source"] = source
    nb["cells"][1]["source"] = "so this works"  # another remark, of the other exercise
    nb["cells"][2]["outputs"] = []
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada/05_x.ipynb").write_text(json.dumps(nb), encoding="utf-8")
    record = graded(tmp_path)
    assert (
        record["problems"][0].startswith(said)
        and "look at it by hand" in record["problems"][0]
        and len(record["problems"]) > 1
    )
    assert record["less"] is True


@pytest.mark.parametrize(
    "change",
    [
        {"score": 0.5},
        {"exercise": "05.a"},
        {"program": "x"},
        {"code": "é"},
        {"score": "1"},
        {"score": None},
        {"score": 10**400},
    ],
)
def test_a_claim_that_was_altered_is_none(change):
    data = Claim("05.b", 1.0, "abc").metadata
    assert read_claim(data) == Claim("05.b", 1.0, "abc")
    data["minigrad"]["score"] = 1  # as JupyterLab saves it
    assert read_claim(data) == Claim("05.b", 1.0, "abc")
    data["minigrad"] |= change
    assert read_claim(data) is None


@pytest.mark.parametrize(
    "metadata", [None, [], {}, {"minigrad": 3}, {"minigrad": {}}, {"minigrad": {"exercise": [], "score": {}}}]
)
def test_other_metadata_is_no_claim(metadata):
    assert read_claim(metadata) is None


def test_only_a_graded_answer_that_was_judged_has_a_claim():
    check = Check()
    assert check("05.b", B.load(B.stub))._repr_mimebundle_()[1] == {}
    assert check("01.a", 25)._repr_mimebundle_()[1] == {}, "a prediction"
    assert "minigrad" in check("05.b", B.load(WRONG))._repr_mimebundle_()[1]


def test_what_the_course_lends_earns_no_tick(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    check = Check()
    Value, backward = check.engine()
    for id, answer in (("05.a", Value), ("05.b", backward), ("01.b", check.mine("01.b"))):
        result = check(id, answer)
        assert result.state == "untried" and "is the course's" in result.say
    assert check("05.b", B.load(B.solution)).passed and check("05.b", check.mine("05.b")).passed


# ---- hand_in


def saved(folder, name="05_x.ipynb", **answers):
    (folder / name).write_text(
        json.dumps(chapter_notebook("05", {"05." + k: v for k, v in answers.items()})), encoding="utf-8"
    )


def test_an_unsaved_notebook_is_not_handed_in(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, b=WRONG)
    check = Check()
    check._judged["05.b"] = Claim("05.b", 1.0, fingerprint(B.solution))
    said = repr(check.hand_in())
    assert "another version of 05.b" in said and "Ctrl+S" in said and not list(tmp_path.glob("*.zip"))
    saved(tmp_path, b=B.solution)
    assert "✓ Hand in 05_x_hand_in.zip" in repr(check.hand_in())


def test_hand_in_needs_to_know_which_notebook(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    check = Check()
    assert "Notebooks in this folder: none" in repr(check.hand_in())
    saved(tmp_path)
    saved(tmp_path, "06_y.ipynb")
    assert "05_x.ipynb, 06_y.ipynb" in repr(check.hand_in())
    assert "There is no file z.ipynb" in repr(check.hand_in("z.ipynb"))
    assert "✓ Hand in 05_x_hand_in.zip" in repr(check.hand_in("05_x.ipynb"))
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "06_y.ipynb"))
    assert "06_y" in repr(check.hand_in())


def test_hand_in_says_what_the_grader_will_doubt(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    nb = chapter_notebook("05", {"05.a": A.solution})
    nb["cells"].append({"cell_type": "markdown", "source": B.solution, "metadata": {}})
    (tmp_path / "05_x.ipynb").write_text(json.dumps(nb), encoding="utf-8")
    said = repr(Check().hand_in())
    assert (
        "the answer to 05.b in 05_x.ipynb is in a text cell" in said and "not checked" in said and "not tried" in said
    )
    (tmp_path / "05_x.ipynb").write_text("{", encoding="utf-8")
    assert "not valid JSON" in repr(Check().hand_in()) and "Nothing was written" in repr(Check().hand_in())


def test_what_hand_in_finds_is_what_the_grader_finds(monkeypatch, tmp_path):
    """The same reader, in this process and in the grader's."""
    from minigrad.course.grading.reader import Reader
    from minigrad.course.grading.submissions import Source

    saved(tmp_path, a=A.solution, b=WRONG)
    path = str(tmp_path / "05_x.ipynb")
    with Reader() as reader:
        apart = reader.read(Source(path), ("05.a", "05.b", "05.c"))
    assert read({"path": path, "member": "", "name": "05_x.ipynb", "ids": ("05.a", "05.b", "05.c")}) == apart


def test_hand_in_loads_the_graders_files_only_when_asked():
    ask = "import sys, minigrad.course.checking; print(*(f'minigrad.course.{n}' in sys.modules for n in ('hand_in', 'grading.reader')))"
    assert (
        subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        == "False False\n"
    )


def test_a_page_of_the_book_says_which_button_hands_in(monkeypatch):
    monkeypatch.setattr(sys, "platform", "emscripten")
    note = Check().hand_in()
    assert "Press ⋯" in note.body and "Download as notebook" in note.body
