"""Grading trusts nothing: what runs apart, what comes back, and what hostile submissions get."""

import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from minigrad.course import exercises
from minigrad.course import judge as judging
from minigrad.course.grading import answers
from minigrad.course.grading.answers import AnswerServer, draw_inputs, grade_answer
from minigrad.course.grading.server import Box
from minigrad.course.guard import run_probes
from minigrad.course.judge import judge

from ..thorough import part
from .sample import SAMPLE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the worker's pipe needs a POSIX system")

KEY = b"a key for tests"
SOLVED = [ex.id for ex in exercises.values() if ex.graded and ex.limits.seconds <= 5]
ONE_PER_CHAPTER = {id[:2]: id for id in reversed(SOLVED) if not exercises[id].is_value}.values()


@pytest.fixture(scope="module")
def folder():
    with answers.kit() as folder:
        yield folder


@pytest.fixture(scope="module")
def server(folder):
    with AnswerServer(folder) as server:
        yield server


# 10.c once asked for what the grader had not
@pytest.mark.parametrize("id", part(SOLVED, 0, always={*ONE_PER_CHAPTER, "10.c"}))
def test_a_solution_gets_full_marks_on_drawn_inputs(id, server):
    ex = exercises[id]
    inputs = draw_inputs(ex, KEY, "ada", "1")
    grade = grade_answer(ex, ex.solution, server, inputs)
    assert grade.ran == "ok" and grade.score == 1.0 and grade.points == ex.points, grade
    assert type(grade.points) is float


PLACES = """
solved = hvp


def hvp(*given):
    a = torch.arange(6.0)
    b = a[2:]
    assert b.storage_offset() == 2 and b.data_ptr() == a.data_ptr() + 8
    assert b.untyped_storage().data_ptr() == a.untyped_storage().data_ptr()
    w = torch.ones(4, requires_grad=True)
    c = w * 2
    c.as_strided((2,), (1,), 1).mul_(3)
    c.sum().backward()
    assert w.grad.tolist() == [2.0, 6.0, 6.0, 2.0]
    return solved(*given)
"""


def test_an_answer_may_ask_where_a_tensor_lies(server):
    ex = exercises["11.b"]
    grade = grade_answer(ex, ex.solution + PLACES, server, draw_inputs(ex, KEY, "ada", "1"))
    assert grade.ran == "ok" and grade.score == 1.0, grade


@pytest.mark.parametrize("id", ["98.b", "05.b", "14.c"])
def test_known_mistakes_get_their_hint_and_points_also_on_drawn_inputs(id, server):
    ex = exercises[id]
    wrong, inputs = ex.bank[0], draw_inputs(ex, KEY, "ben", "1")
    grade = grade_answer(ex, ex.source_of(wrong), server, inputs)
    here = judge(ex, run_probes(ex, ex.load(ex.source_of(wrong)), inputs), inputs)
    assert (grade.hint, grade.mistake, grade.score) == (wrong.hint, wrong.name, here.score)


def test_a_stub_is_untried_whatever_its_comments(server):
    ex = exercises["05.b"]
    assert grade_answer(ex, ex.stub, server).ran == "untried"
    assert grade_answer(ex, ex.stub.replace("# your code", "# my code"), server).score == 0


def test_inputs_depend_on_key_student_and_round():
    ex = exercises["05.b"]
    first = draw_inputs(ex, KEY, "ada", "1")
    assert first == draw_inputs(ex, KEY, "ada", "1")
    assert (
        len(
            {
                repr(draw_inputs(ex, *who))
                for who in ((KEY, "ada", "1"), (KEY, "ben", "1"), (KEY, "ada", "2"), (b"other", "ada", "1"))
            }
        )
        > 1
    )


def test_hard_coded_numbers_fail_on_drawn_inputs(server):
    known = "{0.5: (1.0, 1.2840254166877414, 0.28285838), 1.0: (2.0, 2.718281828459045, -0.911733914)}"
    source = f"def local_derivatives(x):\n    return {known}.get(x, (0, 0, 0))"
    assert grade_answer(exercises["03.a"], source, server, draw_inputs(exercises["03.a"], KEY, "eve", "1")).score == 0


def test_the_operating_system_refuses_what_it_can(server):
    """What is claimed was tried in a child, before the audit hook was there."""
    assert server.isolation["memory"] and server.isolation["root"]
    if sys.platform == "linux":
        assert server.isolation["files"] and server.isolation["network"] and server.isolation["processes"]


def test_a_killed_nursery_is_replaced_and_costs_one_exercise(folder):
    ex = SAMPLE
    with AnswerServer(folder) as server:
        os.kill(server._process.pid, signal.SIGKILL)
        assert grade_answer(ex, ex.solution, server).score == 0
        assert grade_answer(ex, ex.solution, server).score == 1


@pytest.mark.skipif(sys.platform != "linux", reason="/proc names what a process has mounted")
def test_a_server_that_ends_leaves_no_folder(folder):
    with AnswerServer(folder) as server:
        assert grade_answer(SAMPLE, SAMPLE.solution, server).score == 1
        mounted = Path(f"/proc/{server._process.pid}/mountinfo").read_text()
        if not (runs := re.findall(r"\S+/minigrad-runs-\S+", mounted)):
            pytest.skip("on this system no disk could be mounted")
        assert Path(runs[0]).parent.is_dir()
    assert not Path(runs[0]).parent.exists()


def test_the_kit_holds_no_answer(folder):
    course = folder / "minigrad" / "course"
    files = [path for path in course.rglob("*") if path.is_file()]
    drivers = {f"drivers/{path.name}" for path in (Path(answers.__file__).parents[1] / "drivers").glob("*.py")}
    others = {name for name in answers.TRAVELS if "*" not in name}
    assert {path.relative_to(course).as_posix() for path in files} == {"__init__.py", *others, *drivers}
    text = "".join(path.read_text() for path in files)
    assert "reversed(order)" not in text and "answer_01a" not in text


TAIL = "\ndef central_difference(f, x, h=1e-5):\n    return 0.0\n"

HOSTILE = {
    "_exit": "import os\nos._exit(0)",
    "_exit in the answer": "import os\ndef central_difference(f, x, h=0):\n    os._exit(0)",
    "endless": "while True: pass",
    "endless, deaf": "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass",
    "memory": "x = bytearray(8 << 30)" + TAIL,
    "disk": "f = open('big', 'wb')\nfor _ in range(1000): f.write(bytes(1 << 20))" + TAIL,
    "much output": "print('x' * 10_000_000)" + TAIL,
    "fork": "import os\nwhile True: os.fork()",
    "subprocess": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'pass'])" + TAIL,
    "network": "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)" + TAIL,
    "kills its parent": "import os, signal\nos.kill(os.getppid(), signal.SIGTERM)" + TAIL,
    "forged full marks": "import os\nfor fd in range(3, 30):\n"
    '    try: os.write(fd, b\'{"score": 1, "passed": true}\\n\')\n    except OSError: pass' + TAIL,
    "forged outcomes": "import os, json\nfor fd in range(3, 30):\n"
    "    try: os.write(fd, json.dumps({'probe': 'x² at 3', 'got': {'passed': 1}, 'error': 5, 'late': 'no'}).encode() + b'\\n')\n"
    "    except OSError: pass" + TAIL,
    "deep nesting": "x = []\nfor _ in range(100000): x = [x]\ndef central_difference(f, x_, h=0):\n    return x",
    "yes to everything": "class Y:\n    def __eq__(self, o): return True\n    def __float__(self): return self\ndef "
    "central_difference(f, x, h=0):\n    return Y()",
    "patched builtins": "import builtins, math\nbuiltins.abs = lambda x: 0\nbuiltins.all = lambda x: True\nmath.isfinite = lambda x: True"
    + TAIL,
    "patched json": "import json\njson.dumps = lambda x: '{\"passed\": true}'" + TAIL,
    "imports the definitions": "from minigrad.course.exercises import exercises\nexec(exercises['01.b'].solution)",
    "past Python": "import ctypes\nctypes.CDLL(None).system(b'true')" + TAIL,
    "past Python, insisting": "import sys\nsys.modules.pop('ctypes')\nimport ctypes" + TAIL,
    "stack inspection": "import sys\nf = sys._getframe()\nwhile f.f_back: f = f.f_back\ncentral_difference = f.f_globals.get('solution')",
    "huge number": "def central_difference(f, x, h=0):\n    return 10 ** 100000",
    "recursion": "def central_difference(f, x, h=0):\n    return central_difference(f, x, h)",
    "syntax error": "def central_difference(f, x, h=0)\n    return 1",
    "thread that outlives": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()" + TAIL,
    "exit handler": "import atexit\natexit.register(lambda: time.sleep(60))" + TAIL,
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_submission_gets_nothing_and_harms_nothing(source, server):
    ex, start = SAMPLE, time.monotonic()
    grade = grade_answer(ex, source, server, draw_inputs(ex, KEY, "eve", "1"), Box(wall=8, cpu=6))
    assert grade.score == 0 and grade.points == 0, grade
    assert time.monotonic() - start < 12
    assert not os.path.exists("big")


def test_the_reference_files_cannot_be_read(server):
    path = os.path.join(os.path.dirname(judging.__file__), "exercises", "ch01.py")
    source = f"namespace = {{}}\ntext = open({path!r}).read()\n" + SAMPLE.solution
    grade = grade_answer(SAMPLE, source, server)
    assert grade.score == 0 and "PermissionError" in grade.ran and grade.lines == ()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Landlock is Linux'")
def test_an_answer_may_ask_about_a_path_and_no_more(server):
    """No right of Landlock covers it. The instructor's guide says so."""
    path = os.path.join(os.path.dirname(judging.__file__), "exercises", "ch01.py")
    asks = f"import os\nassert os.stat({path!r}).st_size == {os.path.getsize(path)}\n"
    assert grade_answer(SAMPLE, asks + SAMPLE.solution, server).score == 1
    assert "PermissionError" in grade_answer(SAMPLE, asks + f"open({path!r})\n" + SAMPLE.solution, server).ran


HONEST = {
    "prints and warns": "import warnings\nprint('hello')\nwarnings.warn('careful')\n" + SAMPLE.solution,
    "numpy scalars": "import numpy as np\ndef central_difference(f, x, h=1e-5):\n    return np.float64((f(x + h) - f(x - h)) / (2 * h))",
    "a helper and a lambda": "half = lambda a: a / 2\ncentral_difference = lambda f, x, h=1e-5: half((f(x + h) - f(x - h)) / h)",
    "a generator on the way": "def central_difference(f, x, h=1e-5):\n    up, down = (f(t) for t in (x + h, x - h))\n    return (up - "
    "down) / (2 * h)",
    "logs to a small file": "open('log.txt', 'w').write('ok')\n" + SAMPLE.solution,
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST)
def test_an_honest_oddity_keeps_its_points(source, server):
    assert grade_answer(SAMPLE, source, server).score == 1.0


# ---- drivers

FORGED = {
    "its code": 'import minigrad.course.drivers as d\nd.fooled.__code__ = (lambda entry, x, h=1e-5: '
                '{"exact": 1.0, "ad": 1.0, "nudged": 9.0, "largest error": 8.0}).__code__\ndef fooled(x):\n    return x\n',
    "what it calls": 'import minigrad.course.drivers.ch01 as d\nd._slopes_at = lambda *a: {"exact": 1.0, "ad": 1.0, "nudged": 9.0}\n'
                     "def fooled(x):\n    return x\n",
    "its defaults": "import minigrad.course.drivers as d\nd.fooled.__defaults__ = (1e9,)\ndef fooled(x):\n    return x * x * x\n",
}  # fmt: skip


@pytest.mark.parametrize("source", FORGED.values(), ids=FORGED)
def test_a_driver_that_an_answer_changed_is_as_before(source, server):
    ex = exercises["01.c"]
    assert grade_answer(ex, source, server, draw_inputs(ex, KEY, "eve", "1")).score == 0


@pytest.mark.parametrize("source", ["import random\ndef fooled(x):\n    return x + random.random()\n",
                                    "calls = []\ndef fooled(x):\n    calls.append(x)\n    return x + len(calls) % 2 / 100\n"])  # fmt: skip
def test_noise_fools_nobody(source, server):
    ex = exercises["01.c"]
    assert grade_answer(ex, source, server).score == 0 and grade_answer(ex, ex.solution, server).score == 1
    verdict = judge(ex, run_probes(ex, ex.load(source)))
    assert "two values" in verdict.lines[0].say
