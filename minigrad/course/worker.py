"""Running one exercise of one submission in a process of its own, and judging what comes back.

What lives here: `grade_answer` (the judge's side: draws the inputs, has them run, judges plain data), `Nursery` (a process that has
imported the engine and forks a fresh, limited child for every exercise), the child's side, and the kit: a copy of the engine and of the
drivers without any solution, which is all that a child can import. What does not: reading notebooks, spreadsheets, many students.

A child gets a source text, driver names and inputs; it returns outcomes as JSON through a pipe of its own, and what it prints is thrown
away. The judge never imports, executes or unpickles what a student wrote. A forged result is only a wrong answer: expected values are
not in the child. What the operating system really refuses is measured (sandbox.py) and said in the report.
"""

from __future__ import annotations

import ast
import hashlib
import hmac
import json
import linecache
import os
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

TRAVELS = ("plain.py", "guard.py", "drivers.py", "exercise.py", "worker.py", "sandbox.py")  # no solution, no expected value, no hint
MAX_RESULT = 4_000_000  # bytes read from a child that runs an answer
MAX_MESSAGE = 64 << 20  # bytes of a job, or of what a fork server answers
END = b"\n\x00"  # a child's last word: a process that it left behind may hold the pipe open
MUTE = """\
class _Mute:
    def __call__(self, *args, **names):
        return None

    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(name)
        return self


check = _Mute()  # a cell may call check(...) beside its answer; here it says nothing
"""


class NotStarted(RuntimeError):
    """The process that runs submissions did not start."""


@dataclass(frozen=True)
class Box:
    """What one process may use."""

    wall: float = 20.0
    cpu: int = 15
    memory: int = 2 << 30
    file_size: int = 1 << 20


@dataclass(frozen=True)
class Grade:
    """The grade of one exercise. `ran` says how the process ended: "ok", "untried", or a sentence."""

    id: str
    score: float  # between 0 and 1
    points: float
    max_points: int
    ran: str
    hint: str = ""
    mistake: str = ""
    lines: tuple[tuple[str, str, str], ...] = ()  # (probe, level, sentence)
    got: tuple[str, ...] = ()  # for each line what the answer gave, in short


# ---- the judge's side -------------------------------------------------------------------------------------------------------------


@contextmanager
def kit() -> Iterator[Path]:
    """A folder from which a child imports: the engine and the drivers, and nothing that gives an answer away."""
    package = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory(prefix="minigrad-kit-") as folder:
        to = Path(folder) / "minigrad"
        shutil.copytree(package, to, ignore=lambda d, names: [n for n in names if n in ("course", "__pycache__")])
        (to / "course").mkdir()
        (to / "course" / "__init__.py").write_text(MUTE)
        for name in TRAVELS:
            shutil.copy(package / "course" / name, to / "course" / name)
        os.chmod(folder, 0o755)  # its reader may be another user
        yield Path(folder)


def draw_inputs(ex: Any, key: bytes, student: str, round: str) -> dict[str, tuple]:
    """The inputs of one student in one round: the same for the same key, others for everybody else."""
    seed = hmac.new(key, "\0".join((student, round, ex.id)).encode("utf-8", "surrogateescape"), hashlib.sha256).digest()
    rng = random.Random(int.from_bytes(seed, "big"))
    return {probe.name: probe.draw(rng) for probe in ex.probes if probe.draw}


def grade_answer(ex: Any, source: str, where: Path | Nursery, inputs: Mapping[str, tuple] | None = None, box: Box | None = None,
                 helpers: Sequence[str] = ()) -> Grade:  # fmt: skip
    """Grade the source that stands in for an exercise's stub, with the probes' own inputs or drawn ones, in a fresh process.

    `helpers` are statements of other cells that run before it, one by one; one that fails is left out.

    `where` is a nursery, or a kit's folder for a nursery that lives for this one answer.
    """
    from .judge import judge

    if is_stub(source, ex.stub):
        return Grade(ex.id, 0.0, 0.0, ex.points, "untried")
    box = box or Box(wall=max(20.0, 2 * ex.limits.seconds))
    if isinstance(where, Nursery):
        outcomes, ran = run_apart(ex, source, where, inputs or {}, box, helpers)
    else:
        with Nursery(where) as nursery:
            outcomes, ran = run_apart(ex, source, nursery, inputs or {}, box, helpers)
    verdict = judge(ex, outcomes, inputs)
    lines = tuple((line.probe, line.level, line.say) for line in verdict.lines)
    score = min(max(float(verdict.score), 0.0), 1.0) if outcomes else 0.0
    got = tuple(brief(outcomes[line.probe]) if line.probe in outcomes else "" for line in verdict.lines)
    return Grade(ex.id, score, round(score * ex.points, 4), ex.points, ran, verdict.hint if outcomes else "", verdict.mistake, lines, got)


def run_apart(
    ex: Any, source: str, nursery: Nursery, inputs: Mapping[str, tuple], box: Box, helpers: Sequence[str] = ()
) -> tuple[dict[str, dict], str]:
    """The outcomes of a submission's probes, and "ok" or how the process ended."""
    job = {
        "source": source.encode("utf-8", "replace").decode(),
        "helpers": [h.encode("utf-8", "replace").decode() for h in helpers],
        "entry": ex.entry,
        "probes": [{"name": p.name, "driver": p.driver.__name__, "args": inputs.get(p.name, p.args)} for p in ex.probes],
        "limits": asdict(ex.limits),
        "box": asdict(box),
    }
    raw, end = nursery.run(job, box.wall)
    outcomes = _parse(raw, ex)
    if end == "late":
        return outcomes, f"stopped after {box.wall:g} s"
    if len(outcomes) == len(ex.probes) or any(o["late"] for o in outcomes.values()):
        return outcomes, "ok"
    return outcomes, f"the process ended early ({end})" if end else "the process ended without a result"


class ForkServer:
    """A process that is asked for one job at a time and does each in a fresh child. What it says first is in `hello`."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | Path | None = None):
        self.command, self.env, self.cwd = list(command), env, cwd
        self.first: Any = None  # what it is told once, before any job
        self.hello: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def run(self, job: Mapping[str, Any], wall: float) -> tuple[bytes, str]:
        """What the child wrote, and "" or how it ended: "late", or a phrase."""
        if self._process is None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        try:
            _send(self._process.stdin.fileno(), json.dumps(job).encode())
            answer = _receive(self._process.stdout, time.monotonic() + wall + 10)  # type: ignore[arg-type]
            end, _, raw = answer.partition(b"\n")
            return raw, end.decode("ascii", "replace")
        except (OSError, ValueError, EOFError):
            self._stop()  # the next job starts a new one
            return b"", "the process around it ended too"

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True, env=self.env,
            cwd=self.cwd,
        )  # fmt: skip
        try:
            if self.first is not None:
                _send(self._process.stdin.fileno(), json.dumps(self.first).encode())  # type: ignore[union-attr]
            self.hello = json.loads(_receive(self._process.stdout, time.monotonic() + 120))  # type: ignore[arg-type]
        except (OSError, EOFError, ValueError) as error:
            self._stop()
            raise NotStarted(f"The process that runs submissions did not start: {' '.join(self.command[:3])} ...") from error

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            try:
                pipe.close()  # type: ignore[union-attr]
            except OSError:
                pass
        try:
            process.wait(5)  # the end of its input is the end of it; its child dies with the job
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Nursery(ForkServer):
    """The one that runs answers: it has imported the engine, and nothing of any student.

    `command` starts it elsewhere, in a container say: a list in which "{kit}" stands for the kit's folder. `hidden` are folders that no
    child may read. What the system was found to refuse is in `isolation`.
    """

    def __init__(self, folder: Path, hidden: Sequence[str | Path] = (), command: Sequence[str] = ()):
        # -s and -P: no folder of the user's and not the working folder on the path. The environment is empty, and with one hash seed a set
        # of texts has the same order in every run.
        begin = "import sys; sys.path.insert(0, sys.argv[1]); from minigrad.course.worker import nursery; nursery()"
        env = {"PATH": "/nonexistent", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg", "MINIGRAD_PROGRESS": "off"}
        env |= {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA", "VECLIB_MAXIMUM")}
        env |= {k: v for k, v in os.environ.items() if k in ("SYSTEMROOT", "LD_LIBRARY_PATH")}
        elsewhere = [part.replace("{kit}", str(folder)) for part in command]
        here = [sys.executable, "-s", "-P", "-B", "-c", begin, str(folder)]
        super().__init__(elsewhere or here, dict(os.environ) if elsewhere else env, folder)
        self.first = [] if elsewhere else [str(Path(__file__).resolve().parent), *map(str, hidden)]

    @property
    def isolation(self) -> dict[str, bool]:
        return self.hello


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _send(fd: int, data: bytes) -> None:
    write_all(fd, struct.pack("!I", len(data)) + data)


def _receive(pipe: Any, until: float) -> bytes:
    """One message: four bytes of length, then so many bytes. EOFError when it does not come whole or in time."""
    fd = pipe.fileno() if hasattr(pipe, "fileno") else pipe
    data, need = bytearray(), 4
    while len(data) < need:
        left = until - time.monotonic()
        part = os.read(fd, min(need - len(data), 1 << 16)) if left > 0 and select.select([fd], [], [], left)[0] else b""
        if not part:
            raise EOFError
        data += part
        if len(data) == 4 == need:
            need = 4 + struct.unpack("!I", data)[0]
            if need > MAX_MESSAGE:
                raise EOFError
    return bytes(data[4:])


def _parse(raw: bytes, ex: Any) -> dict[str, dict]:
    """Outcomes from the child's lines, one JSON object each. Whatever is not of the right form is left out."""
    outcomes: dict[str, dict] = {}
    names = [p.name for p in ex.probes]
    for line in raw.rstrip(b"\x00").split(b"\n"):
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict) and data.get("probe") in names and data["probe"] not in outcomes:
            outcomes[data["probe"]] = _clean(data)
    return outcomes


def _clean(data: Mapping[str, Any]) -> dict[str, Any]:
    from .plain import plain

    error = data.get("error")
    if isinstance(error, dict):
        where = error.get("where")
        if not (isinstance(where, dict) and isinstance(where.get("line"), int)):
            where = None
        error = {
            "type": str(error.get("type", ""))[:60] or "Error",
            "mro": [str(m)[:60] for m in error.get("mro", []) if isinstance(m, str)] if isinstance(error.get("mro"), list) else [],
            "message": str(error.get("message", ""))[:200],
            "where": where and {"line": where["line"], "text": str(where.get("text", ""))[:80], "function": ""},
        }
    else:
        error = None
    flags = {k: data.get(k) is True for k in ("late", "idle", "mutated", "raised_limit")}
    return {"got": plain(data.get("got")), "error": error, "printed": str(data.get("printed", ""))[:2000], **flags}


def brief(outcome: Mapping[str, Any]) -> str:
    """What an answer gave, for a person."""
    if outcome["late"]:
        return "nothing in time"
    return str(outcome["error"]["type"]) if outcome["error"] else in_short(outcome["got"])


def in_short(x: Any, most: int = 300) -> str:
    """Plain data for a person: numbers to six digits, and not too long."""
    from .plain import describe, is_odd

    text = describe(x) if is_odd(x) else re.sub(r"-?\d+\.\d{6,}(?:e[+-]?\d+)?", lambda m: f"{float(m[0]):.6g}", repr(x))
    return text if len(text) <= most else text[: most - 1] + "…"


def is_stub(source: str, stub: str) -> bool:
    """The same program, comments and layout apart. Reading a syntax tree executes nothing."""
    try:
        return ast.dump(ast.parse(source)) == ast.dump(ast.parse(stub))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


# ---- the nursery's side -------------------------------------------------------------------------------------------------------------


def nursery() -> None:
    """Import what answers need, give up what can be given up at once, then fork a child for every job that arrives on stdin.

    The first message names the folders that no answer may read. Nothing here keeps their names: a child would inherit them.
    """
    from . import sandbox

    folder = tempfile.mkdtemp(prefix="minigrad-runs-")
    os.chmod(folder, 0o711)
    runs = os.path.join(folder, "runs")
    os.mkdir(runs, 0o711)
    offline, small_disk = sandbox.own_world(runs)
    _only_the_kit()
    _preload()
    secret = os.path.join(folder, "hidden")
    with open(secret, "w") as file:
        file.write("a file that no submission may read")
    rules, hidden = _rules(runs)
    setting = {"rules": rules, "who": sandbox.nobody(rules), "own_users": offline, "hidden": hidden, "small_disk": small_disk}
    try:
        raw, _ = _run_apart({"measure": secret, "box": asdict(Box()) | {"memory": 1 << 30}}, setting, runs, 20)
        serve(json.loads(raw.split(b"\n")[0] or b"{}"), lambda job: _run_apart(job, setting, runs, job["box"]["wall"]))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _rules(runs: str) -> tuple[int | None, frozenset[bytes]]:
    from . import sandbox

    hidden = json.loads(_receive(0, time.monotonic() + 60))
    return sandbox.file_rules([str(Path(__file__).resolve().parents[2])], runs, hidden), sandbox.hashes(hidden)


def _only_the_kit() -> None:
    """Forget where else minigrad is installed: an editable installation leaves the folder of its source in a finder or on the path."""
    kit = str(Path(__file__).resolve().parents[2])
    sys.meta_path[:] = [f for f in sys.meta_path if not getattr(f, "__module__", "").startswith("__editable__")]
    for name in [n for n in sys.modules if n.startswith("__editable__")]:
        del sys.modules[name]
    source = [p for p in sys.path if p != kit and not p.endswith("-packages") and os.path.isdir(os.path.join(p, "minigrad", "course"))]
    sys.path[:] = [p for p in sys.path if p not in source and not p.startswith("__editable__")]
    sys.path_hooks[:] = [h for h in sys.path_hooks if not getattr(h, "__module__", "").startswith("__editable__")
                         and "__editable__" not in getattr(getattr(h, "__self__", h), "__module__", "")]  # fmt: skip
    sys.path_importer_cache.clear()


def _preload() -> None:
    """Import the engine here, so that no child has to."""
    import gc
    import importlib

    for name in ("numpy", "minigrad.api", "minigrad.nn", "minigrad.optim", "minigrad.func", "minigrad.autograd", "minigrad.course.drivers",
                 "minigrad.course.guard", "dataclasses", "collections", "functools", "itertools", "heapq", "random"):  # fmt: skip
        try:
            importlib.import_module(name)
        except ImportError:
            pass  # it is imported where it is used, and the message appears there
    gc.collect()
    gc.freeze()


def serve(hello: Mapping[str, Any], work: Callable[[Any], tuple[bytes, str]]) -> None:
    """Say `hello`, then do every job that arrives on stdin, and end with it."""
    _send(1, json.dumps(hello).encode())
    while True:
        try:
            job = json.loads(_receive(0, time.monotonic() + 10**7))
        except EOFError:
            return
        raw, end = work(job)
        _send(1, end.encode() + b"\n" + raw)


def _run_apart(job: Mapping[str, Any], setting: Mapping[str, Any], runs: str, wall: float) -> tuple[bytes, str]:
    """Run one job in a child with an empty folder of its own; what it wrote, and "" or how it ended."""
    empty = tempfile.mkdtemp(dir=runs)
    if setting["who"]:
        os.chown(empty, *setting["who"][:2])
    try:
        too_much = None if setting["small_disk"] else lambda: _too_much(empty)
        return fork(lambda put: _child(job, setting, put, empty), wall, MAX_RESULT, too_much)
    finally:
        if setting["who"]:
            os.chown(empty, 0, 0)
        _remove(empty)


def _remove(folder: str) -> None:
    """Delete a folder whatever rights its folders were made with."""
    for path, folders, _ in os.walk(folder):
        for name in folders:
            if not os.path.islink(inner := os.path.join(path, name)):
                os.chmod(inner, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _too_much(folder: str) -> bool:
    """Whether an answer has written more than it may: asked again and again where there is no small disk to write on."""
    from .sandbox import DISK, FILES

    sizes = [os.lstat(os.path.join(path, name)).st_size for path, _, names in os.walk(folder) for name in names]
    return sum(sizes) > DISK or len(sizes) > FILES


def fork(
    work: Callable[[int], None], wall: float, most: int = MAX_MESSAGE - 100, too_much: Callable[[], bool] | None = None
) -> tuple[bytes, str]:
    """Call `work(pipe)` in a child; what it wrote, and "" or how it ended. When this returns, nothing of it is left.

    It is ended when it has written `most` bytes, after `wall` seconds, or as soon as `too_much()`.
    """
    get, put = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            os.close(get)
            work(put)
        finally:
            os._exit(1 if sys.exc_info()[0] else 0)
    os.close(put)
    raw, late = _read(get, time.monotonic() + wall, most, too_much)
    os.close(get)
    for kill in (os.killpg, os.kill):  # whatever it left running
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    status = os.waitpid(pid, 0)[1]
    if late:
        return raw, "late"
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return raw, "" if code in (0, -signal.SIGKILL) else f"code {code}"


def _read(fd: int, until: float, most: int, too_much: Callable[[], bool] | None) -> tuple[bytes, bool]:
    parts: list[bytes] = []
    size = 0
    while (left := until - time.monotonic()) > 0 and size < most:
        if not select.select([fd], [], [], min(left, 0.05) if too_much else left)[0]:
            if too_much is not None and too_much():
                break
            continue
        part = os.read(fd, 65536)
        if not part:
            return b"".join(parts), False
        parts.append(part)
        size += len(part)
        if part.endswith(END):
            return b"".join(parts), False
    return b"".join(parts)[:most], True


# ---- the child's side -------------------------------------------------------------------------------------------------------------


def _child(job: Mapping[str, Any], setting: Mapping[str, Any], put: int, empty: str) -> None:
    """Run a job under limits and write one line of JSON for every probe to the pipe `put`. Does not return."""
    from . import drivers, sandbox
    from .exercise import Limits
    from .guard import run

    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.set_inheritable(put, False)
    os.chdir(empty)
    os.environ.update(HOME=empty, TMPDIR=empty)
    tempfile.tempdir = None
    rules = setting["rules"]
    top = 256 if rules is None else rules
    for fd in range(3, max(top, put) + 64):
        if fd not in (put, rules):
            try:
                os.close(fd)
            except OSError:
                pass
    sandbox.enter(job["box"], empty, rules, setting["who"], setting["own_users"])
    if "measure" in job:
        os.write(put, json.dumps(sandbox.measured(job["measure"], job["box"]["memory"])).encode() + END)
        os._exit(0)
    sandbox.watch(setting["hidden"])
    _same_chance()
    limits, write, dump = Limits(**job["limits"]), os.write, json.dumps

    def say(data: bytes) -> None:  # not write_all: an answer could replace that
        view = memoryview(data)
        while view:
            view = view[write(put, view) :]

    measures = [getattr(drivers, probe["driver"]) for probe in job["probes"]]  # before the answer, which could replace them
    loaded = run(_load, (job["source"], job["entry"], job["helpers"]), (), limits)
    if _entry and not loaded["late"]:
        loaded["error"] = None  # as in a notebook: what was defined before the error is there
    for probe, driver in zip(job["probes"], measures, strict=True):
        outcome = loaded
        if not (loaded["error"] or loaded["late"]):
            outcome = run(driver, _entry[0], tuple(probe["args"]), limits)
        say(dump({"probe": probe["name"], **outcome}).encode() + b"\n")
        if outcome["late"]:
            break
    say(END)
    os._exit(0)  # not the student's atexit handlers and threads


def _same_chance() -> None:
    """One seed for every generator that an answer may use: the same answer gets the same grade in every run."""
    random.seed(0)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(0)
    engine = sys.modules.get("minigrad")
    if hasattr(engine, "manual_seed"):
        engine.manual_seed(0)  # type: ignore[union-attr]


_entry: list[Any] = []


def _load(job: tuple[str, str, list[str]]) -> None:
    source, entry, helpers = job
    namespace: dict[str, Any] = {"__name__": "submission"}
    for number, helper in enumerate(helpers):
        try:
            exec(compile(helper, f"<helper {number}>", "exec"), namespace)
        except Exception:  # what it would have defined is missed where it is used, and named there
            pass
    namespace.pop(entry, None)
    linecache.cache["<submission>"] = (len(source), None, [line + "\n" for line in source.split("\n")], "<submission>")
    try:
        exec(compile(source, "<submission>", "exec"), namespace)
    finally:
        if entry in namespace:
            _entry[:] = [namespace[entry]]
    if not _entry:
        raise NameError(f"the answer defines no {entry}")
