"""An answer ends no process but its own and changes no file, also under older kernels, where Landlock knows neither signals nor truncation;
whoever ends a run is named in the next ones."""

import json
import os
import signal
import subprocess
import sys

import pytest

from minigrad.course import exercises
from minigrad.course import grade as the_command
from minigrad.course.grade import grade
from minigrad.course.grading.journal import Journal
from minigrad.course.grading.pool import close, grade_submission

from .classroom import HOOK_OUT, ROOT, chapter_notebook
from .test_whole_class import open_folder, ordinary_python  # noqa: F401  (fixtures)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Landlock and seccomp are Linux'")

KEY = b"a key for tests, long enough"
B = exercises["05.b"]

# Each sends SIGKILL to the process VICTIM by way of the kernel, which raises no call of kill.
SETUP = "import os, fcntl, struct\nget, put = os.pipe()\nflags = fcntl.fcntl(put, fcntl.F_GETFL)\n"
ASYNC = "fcntl.fcntl({end}, fcntl.F_SETFL, flags | os.O_ASYNC)\n"
WAYS = {
    "F_SETOWN": SETUP
    + "fcntl.fcntl(get, 8, VICTIM)\nfcntl.fcntl(get, 10, 9)\n"
    + ASYNC.format(end="get")
    + "os.write(put, b'x')\n",
    "F_SETOWN_EX": SETUP
    + "fcntl.fcntl(get, 15, struct.pack('=ii', 1, VICTIM))\nfcntl.fcntl(get, 10, 9)\n"
    + ASYNC.format(end="get")
    + "os.write(put, b'x')\n",
    "without a signal": SETUP + "fcntl.fcntl(get, 8, VICTIM)\n" + ASYNC.format(end="get") + "os.write(put, b'x')\n",
    "only a signal": SETUP + "fcntl.fcntl(get, 10, 9)\n",
    "FIOSETOWN": SETUP + "fcntl.ioctl(get, 0x8901, struct.pack('=i', VICTIM))\n",
    "SIOCSPGRP": SETUP + "fcntl.ioctl(get, 0x8902, struct.pack('=i', VICTIM))\n",
}
# Each changes the file FILE, which its user may write. With the first version of Landlock, which is that of the kernel 5.15.
CHANGES = {
    "truncate": "import os\nos.truncate(FILE, 0)",
    "write": "open(FILE, 'r+b')",
    "append": "open(FILE, 'ab')",
    "remove": "import os\nos.remove(FILE)",
    "rename": "import os\nos.rename(FILE, FILE + '2')",
    "take": "import os\nos.rename(FILE, 'mine')",
    "link": "import os\nos.link(FILE, 'mine')",
    "mode": "import os\nos.chmod(FILE, 0)",
    "date": "import os\nos.utime(FILE, (0, 0))",
    "a folder": "import os\nos.mkdir(FILE + '2')",
    "read": "open(FILE, 'rb').read()",
}
RUN = """
import json, os, subprocess, sys, time
sys.path.insert(0, {root!r})
from minigrad.course import exercises
from minigrad.course.grading import answers
ways = json.loads(sys.stdin.read())
who = dict(user=65534, group=65534, extra_groups=[]) if os.geteuid() == 0 else dict()
said = dict()
with answers.kit() as kit:
    sandbox = kit / "minigrad/course/grading/sandbox.py"
    text = sandbox.read_text()
    assert "    if abi < 1:" in text
    sandbox.write_text(text.replace("    if abi < 1:", "    abi = min(abi, {abi})\\n    if abi < 1:"))
    with answers.AnswerServer(kit) as server:
        said["isolation"] = server.isolation
        for name, program in ways.items():
            victim = subprocess.Popen(["/bin/sleep", "60"], **who)
            lines = "\\n".join("    " + line for line in program.splitlines())
            source = f"VICTIM, FILE = {{victim.pid}}, {{{file!r}!r}}\\ntry:\\n{{lines}}\\nexcept OSError:\\n    pass\\n"
            source += "else:\\n    raise SystemExit('it worked')\\n"
            ex = exercises["05.b"]
            grade = answers.grade_answer(ex, source + ex.solution, server)
            time.sleep(0.1)
            said[name] = [grade.score, victim.poll()]
            victim.kill()
            victim.wait()
print(json.dumps(said))
"""


def tried(ways, user, request, abi, file):
    """What became of each way, tried with Python's own hook and without it: points, and how the victim ended."""
    python = request.getfixturevalue("ordinary_python") if user == "an ordinary user" else [sys.executable]
    ways = {
        f"{name}{', hook out' * out}": HOOK_OUT * out + program
        for name, program in ways.items()
        for out in (False, True)
    }
    ran = subprocess.run(
        [*python, "-c", RUN.format(root=str(ROOT), abi=abi, file=str(file))],
        input=json.dumps(ways),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    said = json.loads(ran.stdout)
    return said.pop("isolation"), {name: result for name, result in said.items() if result != [1.0, None]}


USERS = ["this user", "an ordinary user"]


@pytest.mark.parametrize("user", USERS)
def test_the_kernel_sends_no_signal_for_an_answer(user, request, tmp_path):
    """With Landlock as kernels before 6.12 have it, which knows no signals."""
    isolation, happened = tried(WAYS, user, request, 4, tmp_path)
    assert happened == {}, "refused, and the victim is alive"
    assert isolation["signals"] is True


@pytest.mark.parametrize("user", USERS)
def test_no_file_is_changed_under_an_older_kernel(user, request, open_folder):  # noqa: F811
    folder = open_folder / f"marks of {user}"
    folder.mkdir()
    file = folder / "marks.csv"
    file.write_text("the marks")
    for path in (folder, file):
        path.chmod(0o777)
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)
    before = file.stat()
    assert tried(CHANGES, user, request, 1, file)[1] == {}
    after = file.stat()
    assert file.read_text() == "the marks" and [*folder.iterdir()] == [file]
    assert (before.st_mode, before.st_mtime, before.st_nlink) == (after.st_mode, after.st_mtime, after.st_nlink)


# ---- whoever ends a run

MORTAL = """
import os, signal, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from minigrad.course import grade as the_command
from minigrad.course.grading.pool import grade_submission

def here(tasks, setting, jobs, begin):
    for task in tasks:
        begin(task)
        if task.student == "mallory":
            os.kill(os.getpid(), signal.SIGKILL)
        yield grade_submission(task, setting)

the_command.grade_all = here
the_command.grade(Path(sys.argv[1]), Path(sys.argv[2]), key={key!r}, only=["05.b"], jobs=1, say=sys.stdout.write)
"""


def test_who_ends_every_run_is_named_and_the_class_has_its_grades(tmp_path):
    for name in ("ada", "ben", "mallory", "zoe"):
        path = tmp_path / "in" / name / "05_x.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(chapter_notebook("05", {"05.b": B.solution})), encoding="utf-8")
    command = [
        sys.executable,
        "-c",
        MORTAL.format(root=str(ROOT), key=KEY),
        str(tmp_path / "in"),
        str(tmp_path / "out"),
    ]
    ends, said, reports = [], [], []
    for _ in range(4):
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
        ends.append(ran.returncode)
        said.append(ran.stdout)
        page = tmp_path / "out/wide.csv"
        reports.append(page.read_text(encoding="utf-8") if page.exists() else "")
    assert ends == [-signal.SIGKILL, -signal.SIGKILL, -signal.SIGKILL, 0]
    for report in reports[1:]:
        assert all(f'"{name}",4.0' in report for name in ("ada", "ben", "zoe")) and '"mallory",""' in report
        assert "was killed while this was being graded" in report
    assert "3 times a run was killed" in reports[3]


def test_one_killed_run_costs_nobody_anything(tmp_path, monkeypatch):
    for name in ("ada", "ben"):
        path = tmp_path / "in" / name / "05_x.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(chapter_notebook("05", {"05.b": B.solution})), encoding="utf-8")
    stop = True

    def here(tasks, setting, jobs, begin):
        for task in tasks:
            begin(task)
            if stop:
                raise KeyboardInterrupt
            yield grade_submission(task, setting)

    monkeypatch.setattr(the_command, "grade_all", here)
    for _ in range(4):  # stopped by a person: nobody is suspected
        with pytest.raises(KeyboardInterrupt):
            grade(tmp_path / "in", tmp_path / "out", key=KEY, only=["05.b"])
    with Journal(tmp_path / "out/journal.jsonl") as journal:
        assert not any(times for _, times in journal.begun.values())
        journal.begin("ada", next(iter(journal.begun.values()))[0])
    stop, said = False, []
    records = grade(tmp_path / "in", tmp_path / "out", key=KEY, only=["05.b"], say=said.append)
    close()
    assert [r["grades"]["05.b"]["score"] for r in records] == [1, 1] and [r["problems"] for r in records] == [[], []]
    assert "graded last, one at a time" in "".join(said)
