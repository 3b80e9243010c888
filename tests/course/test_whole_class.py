"""Whatever one student hands in, the class is graded: everybody has a row, nobody loses points by it, and what needs a person is named.

What lives here: odd and hostile submissions, each a student of one class that the real command grades, as this user and, where that is
root, as an ordinary one. What does not: hostile answers one by one (test_worker.py, test_grade.py), random bytes (test_submissions_fuzz.py).
"""

# ruff: noqa: E501  the odd ones are one line each

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from minigrad.course import exercises
from minigrad.course import grade as grading
from minigrad.course.submissions import collect, printable
from minigrad.course.worker import Grade

from .classroom import ROOT, chapter_notebook, code, notebook

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")

IDS = ("02.d", "05.b", "05.c", "19.b")
B, C = exercises["05.b"], exercises["05.c"]
SOLVED = {"05.b": B.solution, "05.c": C.solution}
FULL = float(B.points + C.points)


def book(cells=(), **answers):
    """Chapter 05, solved but for `answers` ("05.b" as b), with further cells in front. For another chapter only what is named."""
    named = {(id.replace("_", ".") if "_" in id else f"05.{id}"): source for id, source in answers.items()}
    chapter = next(iter(named), "05")[:2]
    nb = chapter_notebook(chapter, {**(SOLVED if chapter == "05" else {}), **named})
    nb["cells"][1:1] = [code(c) for c in cells]
    return json.dumps(nb)


def zipped(files, damage=None):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in files.items():
            z.writestr(name, content)
    data = bytearray(raw.getvalue())
    for at in damage or ():
        data[at] ^= 0xFF
    return bytes(data)


# name of the student -> (files, points or None where it is not graded, what the remarks must say)
ODD = {
    "a right one": ({"05_x.ipynb": book()}, FULL, ""),
    "a hexadecimal number of 4,000 digits": ({"05_x.ipynb": book(b=B.solution + f"\nlarge = [0x{'f' * 4000}, {', '.join('123456789')}]")}, FULL, ""),
    "a helper of 900 terms": ({"05_x.ipynb": book([f"k = {'+'.join('1' * 900)}"], b=B.solution.replace("1.0", "1.0 * (k / k)"))}, FULL, ""),
    "a thousand elif": ({"05_x.ipynb": book(["if 0:\n    k = 0\n" + "".join(f"elif {n} < 0:\n    k = {n}\n" for n in range(1000))])}, FULL, ""),
    "Jos\udce9": ({"05_x.ipynb": book()}, FULL, ""),
    "x\x1b[2J\x1b]0;owned\x07": ({"05_x.ipynb": book()}, FULL, ""),
    "a damaged zip": ({"mine.zip": zipped({"05_x.ipynb": book()}, damage=range(60, 90))}, None, "cannot be read"),
    "half a zip": ({"mine.zip": zipped({"05_x.ipynb": book()})[:200]}, None, "not a zip file that can be read"),
    "nodes without names": ({"02_x.ipynb": book(**{"02_d": exercises["02.d"].stub.split(":\n")[0] + ":\n    class N: pass\n"
                             "    a, b, c = N(), N(), N()\n    a.name, b.name, c.name = None, 'a', 3\n    return [a, b, c]\n"})}, 0.0, ""),
    "a replaced driver": ({"19_x.ipynb": book(**{"19_b": "import minigrad.course.drivers as d\nfor n in dir(d):\n    if n[:1] != '_' and n not in "
                          "('Any', 'call', 'Mutated') and callable(getattr(d, n)): setattr(d, n, lambda *a, **k: [None, 'a'])\n"
                          + exercises["19.b"].stub})}, 0.0, ""),
}  # fmt: skip


def hand_in(folder, odd):
    """The class on disk: `folder`/STUDENT/FILE."""
    for student, (files, *_) in odd.items():
        for name, content in files.items():
            path = folder / student / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture(scope="session")
def ordinary_python(tmp_path_factory):
    """A command that starts Python as nobody; skipped where the tests run as an ordinary user anyhow, or nobody can start any Python."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("this is an ordinary user already, or there is no setpriv")
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    own = tmp_path_factory.mktemp("python")
    for path in (own, own.parent, own.parent.parent):
        path.chmod(0o755)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for python in (sys.executable, f"/usr/bin/{version}"):  # a Python in root's own folder starts for nobody and finds no library
        if not os.path.exists(python):
            continue
        subprocess.run([python, "-m", "venv", "--without-pip", "--clear", str(own)], check=True)
        site = own / "lib" / version / "site-packages"
        (site / "tests.pth").write_text("\n".join([str(ROOT), *(p for p in sys.path if p.endswith("-packages"))]))
        ask = "import numpy, subprocess as s, sys; s.run([sys.executable, '-c', ''], check=True)"
        if subprocess.run([*become, own / "bin/python", "-c", ask], capture_output=True).returncode == 0:
            return [*become, str(own / "bin/python")]
    pytest.skip("no Python that an ordinary user could start")


def grade_class(folder, out, *more, python=(sys.executable,), timeout=300):
    """The command, as a person gives it. Returns what it said and its tables."""
    command = [*python, "-m", "minigrad.course.grade", str(folder), "-o", str(out), "-j", "2", "-e", *IDS, *more]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, env=dict(os.environ, HOME=str(out.parent)))
    assert ran.returncode == 0, ran.stderr[-4000:]
    with open(out / "wide.csv", newline="", encoding="utf-8") as file:
        return ran, {row["student"].lstrip("'"): row for row in csv.DictReader(file)}


USERS = ["this user", "an ordinary user"]


@pytest.fixture(scope="module", params=USERS)
def the_class(request, tmp_path_factory):
    ordinary = request.param != USERS[0]
    python = request.getfixturevalue("ordinary_python") if ordinary else [sys.executable]
    root = tmp_path_factory.mktemp("class")
    hand_in(root / "in", ODD)
    (root / "out").mkdir()
    if ordinary:
        for path in (root, *root.rglob("*")):
            os.chown(path, 65534, 65534)
        for path in (root, *root.parents):
            if path != Path("/tmp") and len(path.parts) > 2:
                path.chmod(0o755)
    return (*grade_class(root / "in", root / "out", python=python), root)


@pytest.mark.parametrize("student", ODD, ids=ascii)
def test_everybody_gets_what_is_theirs(the_class, student):
    _, rows, _ = the_class
    _, points, remark = ODD[student]
    row = rows[printable(student).strip()]
    if points is None:
        assert row["state"] == "graded" or row["total"] == ""
    else:
        assert row["state"] == "graded" and float(row["total"]) == points, row
    assert remark in row["remarks"]


def test_nobody_is_forgotten(the_class):
    _, rows, _ = the_class
    assert len(rows) == len(ODD)


def test_an_exercise_that_the_judge_cannot_judge_costs_that_exercise_and_is_named(monkeypatch, tmp_path):
    def fall(ex, *_, **__):
        if ex is B:
            raise TypeError("max() of a text and a number")
        return Grade(ex.id, 1.0, 2.0, 2, "ok")

    monkeypatch.setattr(grading, "grade_answer", fall)
    hand_in(tmp_path, {"ada": ({"05_x.ipynb": book()},)})
    record = grading.grade_submission(grading.Task("ada", "", tuple(collect(tmp_path)[0].sources), (), ()), grading.Setting(b"k", "1", ("05.b", "05.c")))
    assert record["problems"] == ["05.b could not be judged (TypeError): look at it by hand"]
    assert record["state"] == "graded" and [g["points"] for g in record["grades"].values()] == [0.0, 2.0]


def test_no_name_reaches_the_terminal_raw(the_class):
    ran, *_ = the_class
    assert "\x1b" not in ran.stdout + ran.stderr
