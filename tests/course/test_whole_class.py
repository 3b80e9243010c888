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
import tempfile
import time
import zipfile
from pathlib import Path

import pytest

from minigrad.course import exercises
from minigrad.course.grading import pool
from minigrad.course.grading.answers import Grade
from minigrad.course.grading.pages import HOLDS
from minigrad.course.grading.settings import Setting, Task
from minigrad.course.grading.submissions import collect, printable
from minigrad.course.grading.tables import safe

from ..thorough import part
from .classroom import ROOT, chapter_notebook, code, notebook

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading needs processes that can be limited")

IDS = ("02.d", "05.b", "05.d", "19.b")
B, D = exercises["05.b"], exercises["05.d"]
SOLVED = {"05.b": B.solution, "05.d": D.solution}
FULL = float(B.points + D.points)


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
            content, when = content if isinstance(content, tuple) else (content, EARLY)
            info = zipfile.ZipInfo(name, time.gmtime(when)[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, content)
    data = bytearray(raw.getvalue())
    for at in damage or ():
        data[at] ^= 0xFF
    return bytes(data)


def deep(levels):
    """`try ... return ... finally` so deep that a compiler copies it for hours."""
    lines = [line for n in range(levels) for line in ("    " * n + "    try:",)]
    lines += ["    " * levels + "    return 1"]
    lines += [
        line for n in reversed(range(levels)) for line in ("    " * n + "    finally:", "    " * n + "        return 2")
    ]
    return "def helper():\n" + "\n".join(lines) + "\n"


ENTRY = exercises["02.d"].entry
ORDER_OF_ODD_NODES = (f"def {ENTRY}(root):\n    class N: pass\n    a, b, c = N(), N(), N()\n"
                      "    a.name, b.name, c.name = None, 'a', 3\n    return [a, b, c]\n")  # fmt: skip
WRONG = B.bank[0].answer
EARLY, LATER = 1_600_000_000, 1_700_000_000
TEXT_ONLY = json.dumps(
    {
        "cells": [{"cell_type": "markdown", "source": B.solution, "metadata": {}}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)


def attack(program):
    """A right answer behind a program that must not succeed: where it does, it raises, and the answer is worth nothing. CLASS, VICTIM and
    GRADES are the real folders, because a path may be guessed."""
    lines = "\n".join("    " + line for line in program.split("\n"))
    setup = "import os, sys, gc\nCLASS, GRADES = (bytes.fromhex(p).decode() for p in ('@CLASS@', '@GRADES@'))\nVICTIM = CLASS + '/a right one/05_x.ipynb'\n"
    return {"05_x.ipynb": book(b=f"{setup}try:\n{lines}\nexcept (OSError, AttributeError, ImportError, ValueError):\n    pass\n"
                                 f"else:\n    raise SystemExit('it worked')\n{B.solution}")}  # fmt: skip


NO_PATH = """\
seen = [sys.argv, sys.orig_argv, sys.path, list(map(str, sys.meta_path)), list(sys.path_importer_cache), dict(os.environ)]
frame = sys._getframe()
while frame:
    seen.append({k: v for k, v in frame.f_locals.items() if k not in ('CLASS', 'VICTIM', 'GRADES', 'source', 'job', 'seen', 'args')})
    frame = frame.f_back
seen += [o for o in gc.get_objects() if type(o) in (list, tuple, dict) and o is not seen]
here = {'CLASS', 'VICTIM', 'GRADES'}
for o in seen:
    texts = [*o, *o.values()] if isinstance(o, dict) else o
    if not isinstance(o, dict) or not here <= set(o):
        assert not [t for t in texts if type(t) is str and t.startswith(CLASS) and len(t) < 1000], 'a path'
raise OSError('none was found')"""

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
    "nodes without names": ({"02_x.ipynb": book(**{"02_d": ORDER_OF_ODD_NODES})}, 0.0, ""),
    "a replaced driver": ({"19_x.ipynb": book(**{"19_b": "import minigrad.course.drivers as d\nfor n in dir(d):\n    if n[:1] != '_' and n not in "
                          "('Any', 'call', 'Mutated') and callable(getattr(d, n)): setattr(d, n, lambda *a, **k: [None, 'a'])\n"
                          + exercises["19.b"].stub})}, 0.0, ""),
    # files that cost the reader more than they are worth
    "20,000 empty lines": ({"05_x.ipynb": book(["\n" * 20_000 + "x = 1"])}, FULL, ""),
    "a million empty lines": ({"05_x.ipynb": book(["\n" * 1_000_000 + "x = ("])}, FULL, ""),
    "180 kB of magics": ({"05_x.ipynb": book(["%a\n" * 60_000])}, FULL, ""),
    "magics in the answer": ({"05_x.ipynb": book(b=B.solution + "%a\n" * 1200)}, FULL, ""),
    "deep finally": ({"05_x.ipynb": book([deep(18)], b=B.solution + "\nhelper\n")}, None, ""),
    "many empty cells": ({"05_x.zip": lambda: zipped({"05_x.ipynb": '{"cells": [' + ",".join(['{"source": ""}'] * 3_000_000) + "]}"})}, None, "05_x.ipynb has 3,000,000 cells"),
    "a chain of 3,000 helpers": ({"05_x.ipynb": book(["def f0(): pass\n" + "".join(f"def f{n}(): f{n - 1}()\n" for n in range(1, 3000))], b=B.solution + "\nf2999\n")}, None, ""),
    "3,000 names in 3,000 cells": ({"05_x.ipynb": book([f"a{n} = {n}" for n in range(3000)], b=B.solution + "\n" + "\n".join(f"a{n}" for n in range(3000)))}, FULL, ""),
    "a huge answer": ({"05_x.ipynb": book(b=B.solution + "\nx = 1" * 50_000)}, FULL - B.points, "longer than 100,000 characters"),
    "a bomb of nulls": ({"05_x.zip": lambda: zipped({"05_x.ipynb": "[" + "null," * 60_000_000 + "null]"})}, None, "05_x.ipynb"),
    "a zip that unpacks to 400 MB": ({"05_x.zip": lambda: zipped({"05_x.ipynb": bytes(400 << 20)})}, None, "larger than 300 MB when unpacked"),
    "600 notebooks": ({"05_x.zip": zipped({f"{n}.ipynb": "{}" for n in range(600)})}, None, "more than 500 notebooks"),
    "a zip in a zip in a zip": ({"a.zip": zipped({"b.zip": zipped({"c.zip": zipped({"05_x.ipynb": book()})})})}, FULL, ""),
    "deep brackets": ({"05_x.ipynb": book(["(" * 50_000, "[" * 3000 + "]" * 3000, "-" * 100_000 + "1"])}, FULL, ""),
    # handed in more than once
    "the browser's second copy": ({"05_x.ipynb": book(b=WRONG), "05_x (1).ipynb": book()}, FULL, "05_x (1).ipynb is the newer one and counts, 05_x.ipynb does not"),
    "the browser's tenth copy": ({"05_x (9).ipynb": book(b=WRONG), "05_x (10).ipynb": book()}, FULL, "05_x (10).ipynb is the newer one"),
    "JupyterLab's copy": ({"05_x-Copy1.ipynb": book(), "05_x.ipynb": book(b=WRONG)}, FULL, "05_x-Copy1.ipynb is the newer one"),
    "Canvas' second": ({"05_x.ipynb": book(b=WRONG), "05_x-1.ipynb": book()}, FULL, "05_x-1.ipynb is the newer one"),
    "another name, newer": ({"05_x.ipynb": (book(b=WRONG), EARLY), "05_a.ipynb": (book(), LATER)}, FULL, "05_a.ipynb is the newer one"),
    "another name, older": ({"05_a.ipynb": (book(b=WRONG), EARLY), "05_x.ipynb": (book(), LATER)}, FULL, "05_x.ipynb is the newer one"),
    "in a zip, newer": ({"mine.zip": zipped({"05_a.ipynb": (book(), LATER), "05_x.ipynb": (book(b=WRONG), EARLY)})}, FULL, "05_a.ipynb is the newer one"),
    "two of one age": ({"05_a.ipynb": (book(), EARLY), "05_x.ipynb": (book(), EARLY)}, FULL, "nothing says which is newer"),
    "a newer one that is empty": ({"05_x.ipynb": book(), "05_x (1).ipynb": book(b=B.stub, d=D.stub)}, FULL, "05_x (1).ipynb is newer but has no answers"),
    "half and half": ({"05_a.ipynb": (book(d=D.stub), LATER), "05_x.ipynb": (book(b=B.stub), EARLY)}, float(B.points), "05_a.ipynb is the newer one"),
    "one exercise in each": ({"05_a.ipynb": json.dumps(notebook([code(B.solution, "05.b")])), "05_x.ipynb": json.dumps(notebook([code(D.solution, "05.d")]))}, FULL, ""),
    # what an answer must not do to files, and to others (each of them is a right answer afterwards)
    **{name: (attack(program), FULL, "") for name, program in {
        "chmod of the class": "os.chmod(CLASS, 0)",
        "chmod of a classmate's file": "os.chmod(VICTIM, 0)",
        "fchmod through a directory": "os.chmod(VICTIM, 0, dir_fd=os.open('/', os.O_PATH))",
        "chmod of the grades": "os.chmod(GRADES, 0o777)",
        "the key made readable": "os.chmod(GRADES + '/key', 0o644)",
        "chown": "os.chown(VICTIM, os.getuid(), os.getgid())",
        "utime": "os.utime(VICTIM, (0, 0))",
        "xattr": "os.setxattr(VICTIM, 'user.note', b'x')",
        "reads a classmate": "open(VICTIM).read()",
        "writes a classmate": "open(VICTIM, 'w').write('{}')",
        "deletes a classmate": "os.unlink(VICTIM)",
        "renames a classmate": "os.rename(VICTIM, 'mine')",
        "truncates a classmate": "os.truncate(VICTIM, 0)",
        "links a classmate": "os.link(VICTIM, 'mine')",
        "a symbolic link": "os.symlink(VICTIM, 'mine')",
        "a device": "os.mknod('null', 0o20666, os.makedev(1, 3))",
        "lists the class": "os.listdir(CLASS)",
        "moves into the class": "os.chdir(CLASS); open('note', 'w')",
        "reads the key": "open(GRADES + '/key').read()",
        "reads the journal": "open(GRADES + '/journal.jsonl').read()",
        "writes the grades": "open(GRADES + '/wide.csv', 'w')",
        "a note for the next one": "open('../note', 'w')",
        "a note beside the runs": "open('../../note', 'w')",
        "a note in the folder for temporary files": "open('/tmp/note-of-a-student', 'w')",
        "a note in shared memory": "open('/dev/shm/note-of-a-student', 'w')",
        "120 files of 1 MB": "for n in range(120): open(f'f{n}', 'wb').write(bytes(1_000_000))",
        "10,000 files": "for n in range(10_000): open(f'f{n}', 'wb')",
        "one large file": "open('f', 'wb').write(bytes(3_000_000))",
        "the grader pinned": "os.sched_setaffinity(os.getppid(), {0})",
        "itself pinned": "os.sched_setaffinity(0, {0})",
        "the grader's priority": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
        "real time for itself": "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
        "signal 0 to the grader": "os.kill(os.getppid(), 0)",
        "the grader's memory": "open(f'/proc/{os.getppid()}/mem', 'rb')",
        "the grader's command": "open(f'/proc/{os.getppid()}/cmdline', 'rb')",
        "its own command": "open('/proc/self/cmdline', 'rb')",
        "the passwords": "open('/etc/passwd')",
        "the host's name": "open('/etc/hostname')",
        "a mount": "import ctypes; ctypes.CDLL(None).mount(b'none', b'/', None, 0, None)",
        "a namespace": "os.unshare(0x10000000)",
        "limits raised": "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1)); open('f', 'wb').write(bytes(3_000_000))",
        "a socket": "import socket; socket.socket()",
        "a local socket": "import socket; socket.socketpair()[0].sendto(b'x', '/run/systemd/notify')",
        "the paths of the instructor": NO_PATH,
    }.items()},
    "an error with a path in it": ({"05_x.ipynb": book(b="import sys\nopen(sys.prefix + '/none')\n" + B.solution)}, FULL - B.points, ""),
    "a traceback printed": ({"05_x.ipynb": book(b="import sys\nraise OSError(repr(sys.path))\n" + B.solution)}, FULL - B.points, ""),
    "a folder that nobody may enter": ({"05_x.ipynb": book(b="import os\nos.mkdir('x', 0)\nos.umask(0o777)\n" + B.solution)}, FULL, ""),
    # not what was asked for
    "a web page": ({"05_x.html": "<html>"}, None, "no notebook was handed in, only 05_x.html"),
    "a pdf beside it": ({"05_x.ipynb": book(), "05_y.pdf": "%PDF"}, FULL, "not a notebook, so not read: 05_y.pdf"),
    "data beside it": ({"05_x.ipynb": book(), "data.csv": "1,2"}, FULL, ""),
    "an empty folder": ({}, None, "no notebook was handed in"),
    "a zip without any": ({"mine.zip": zipped({"x.html": "<html>"})}, None, "mine.zip holds no notebook"),
    "a text instead of a zip": ({"mine.zip": "sorry"}, None, "not a zip file that can be read"),
    "a notebook of nothing": ({"05_x.ipynb": json.dumps(notebook([]))}, None, "no answer was found in 05_x.ipynb: look at it by hand"),
    "the answers as text": ({"05_x.ipynb": TEXT_ONLY}, None, "the answer to 05.b in 05_x.ipynb is in a text cell"),
    "UTF-16": ({"05_x.ipynb": book().encode("utf-16")}, FULL, ""),
    "a byte order mark": ({"05_x.ipynb": book().encode("utf-8-sig")}, FULL, ""),
    "cut off": ({"05_x.ipynb": book()[:500]}, None, "not valid JSON"),
    "an empty file": ({"05_x.ipynb": ""}, None, "not valid JSON"),
    "a picture with the wrong name": ({"05_x.ipynb": b"\x89PNG\r\n\x1a\n" + bytes(range(256))}, None, "not valid JSON"),
    "a surrogate in the text": ({"05_x.ipynb": book([chr(0xDC80)])}, FULL, ""),
    "a surrogate in the answer": ({"05_x.ipynb": book(b=B.solution + "\nx = '" + chr(0xD800) + "'")}, None, ""),
    "a null in the answer": ({"05_x.ipynb": book(b=B.solution + "\x00")}, FULL, ""),
    "names another student in a zip": ({"mine.zip": zipped({"a right one/05_z.ipynb": book(b=WRONG)})}, None, ""),
    "names another student in a folder": ({"lovelaceada_101_7_05_x.ipynb": book(b=WRONG)}, None, ""),
    "=1+1": ({"05_x.ipynb": book()}, FULL, ""),
    "x;=1+1": ({"05_x.ipynb": book()}, FULL, ""),
}  # fmt: skip


def hand_in(folder, odd):
    """The class on disk: `folder`/STUDENT/FILE."""
    for student, (files, *_) in odd.items():
        (folder / student).mkdir(parents=True)
        for name, content in files.items():
            content, when = content if isinstance(content, tuple) else (content, EARLY)
            content = content() if callable(content) else content
            if isinstance(content, str):
                content = content.replace("@CLASS@", os.fsencode(folder).hex()).replace(
                    "@GRADES@", os.fsencode(folder.parent / "out").hex()
                )
            path = folder / student / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            os.utime(path, (when, when))


@pytest.fixture(scope="session")
def open_folder():
    """A folder that everybody can enter; pytest shuts its own to other users whenever one of its sessions begins."""
    with tempfile.TemporaryDirectory(prefix="minigrad-tests-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def ordinary_python(open_folder):
    """A command that starts Python as nobody; skipped where the tests run as an ordinary user anyhow, or nobody can start any Python."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("this is an ordinary user already, or there is no setpriv")
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    own = open_folder / "python"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    # A Python in root's own folder starts for nobody and finds no library
    for python in (
        sys.executable,
        f"/usr/bin/{version}",
    ):
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
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, env=dict(os.environ, HOME=str(out.parent))
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    with open(out / "wide.csv", newline="", encoding="utf-8") as file:
        return ran, {row["student"]: row for row in csv.DictReader(file)}


# A class for each. What a file costs its reader, and which of two counts, is the same for every user.
COSTLY = list(ODD)[list(ODD).index("20,000 empty lines") : list(ODD).index("the browser's second copy")]
# test_worker.py has others
ATTACKS = list(ODD)[list(ODD).index("chmod of the class") : list(ODD).index("an error with a path in it")]
SOME = {
    *part(COSTLY, 2, always=["many empty cells"]),
    *part(ATTACKS, 12, always=["chmod of the class", "the paths of the instructor"]),
}
USERS = {"this user": [student for student in ODD if student in SOME or student not in {*COSTLY, *ATTACKS}],
         "an ordinary user": part(ODD, 16, always=["a right one", "chmod of the class", "reads a classmate"])}  # fmt: skip


@pytest.fixture(scope="module", params=USERS)
def the_class(request, open_folder):
    ordinary = request.param == "an ordinary user"
    python = request.getfixturevalue("ordinary_python") if ordinary else [sys.executable]
    root = open_folder / request.param
    hand_in(root / "in", {student: ODD[student] for student in USERS[request.param]})
    (root / "out").mkdir()
    for path in (root, *root.rglob("*")) if ordinary else ():
        os.chown(path, 65534, 65534)
    before = state_of(root / "in")
    ran, rows = grade_class(root / "in", root / "out", python=python)
    return ran, rows, root, before, USERS[request.param]


def state_of(folder):
    """Rights, owner, time, attributes and size of everything."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        stat = path.stat()
        found[path] = (
            stat.st_mode,
            stat.st_uid,
            stat.st_mtime_ns,
            stat.st_size,
            os.listxattr(path) if sys.platform == "linux" else [],
        )
    return found


def test_everybody_gets_what_is_theirs_and_nobody_is_forgotten(the_class):
    _, rows, *_, students = the_class
    assert len(rows) == len(students)
    for student in students:
        _, points, remark = ODD[student]
        row = rows[safe(printable(student).strip())]
        if points is None:
            assert row["state"] == "graded" or row["total"] == "", ascii(student)
        else:
            assert row["state"] == "graded" and float(row["total"]) == points, (ascii(student), row)
        assert remark in row["remarks"], (ascii(student), row)


def test_an_exercise_that_the_judge_cannot_judge_costs_that_exercise_and_is_named(monkeypatch, tmp_path):
    def fall(ex, *_, **__):
        if ex is B:
            raise TypeError("max() of a text and a number")
        return Grade(ex.id, 1.0, 2.0, 2, "ok")

    monkeypatch.setattr(pool, "grade_answer", fall)
    hand_in(tmp_path, {"ada": ({"05_x.ipynb": book()},)})
    record = pool.grade_submission(
        Task("ada", "", tuple(collect(tmp_path)[0].sources), (), ()), Setting(b"k", "1", ("05.b", "05.d"))
    )
    assert record["problems"] == ["05.b could not be judged (TypeError): look at it by hand"]
    assert record["state"] == "graded" and [g["points"] for g in record["grades"].values()] == [0.0, 2.0]


def test_nothing_of_the_class_and_the_grades_was_touched(the_class):
    _, _, root, before, _ = the_class
    assert state_of(root / "in") == before
    assert (root / "out/key").stat().st_mode & 0o777 == 0o600 and (root / "out").stat().st_mode & 0o002 == 0
    assert not [p for p in ("/tmp/note-of-a-student", "/dev/shm/note-of-a-student") if os.path.exists(p)]


def test_no_page_and_no_table_names_a_folder_of_this_machine(the_class):
    root = the_class[2]
    for path in (root / "out").rglob("*.*"):
        if path.suffix in (".html", ".csv"):
            text = path.read_text(encoding="utf-8")
            assert str(root) not in text and sys.prefix not in text and sys.base_prefix + "/" not in text, path.name


def test_every_wall_was_measured_and_holds(the_class):
    page = (the_class[2] / "out/summary.html").read_text(encoding="utf-8")
    if sys.platform == "linux":
        assert page.count("by the operating system") == len(HOLDS)


def test_no_name_reaches_the_terminal_raw(the_class):
    ran, *_ = the_class
    assert "\x1b" not in ran.stdout + ran.stderr
