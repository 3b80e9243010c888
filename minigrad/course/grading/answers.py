"""Run one exercise of one submission in a separate process, and judge the outcomes. The judge's side; the process is child.py.

`grade_answer` draws inputs, has the answer run on them, and judges plain data. The kit is a copy of the engine and of the drivers without
any solution, and all that a child can import.

A child gets a source text, driver names and inputs. It returns outcomes as JSON through a pipe; its output is discarded. The judge never
imports, executes or unpickles a student's code. A forged result is only a wrong answer, because expected values are not in the child. The
restrictions of the operating system are measured (sandbox.py) and listed in the report.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..exercise import Exercise
from ..judge import judge
from ..plain import describe, is_odd, plain
from .notebooks import is_stub
from .server import Box, ForkServer

TRAVELS = ("plain.py", "guard.py", "drivers/*.py", "exercise.py", "growing.py", "grading/__init__.py", "grading/server.py",
           "grading/child.py", "grading/sandbox.py")  # no solution, no expected value, no hint  # fmt: skip
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


@dataclass(frozen=True)
class Grade:
    """The grade of one exercise. `ran` is how the process ended: "ok", "untried", or a sentence."""

    id: str
    score: float  # between 0 and 1
    points: float
    max_points: int
    ran: str
    hint: str = ""
    mistake: str = ""
    lines: tuple[tuple[str, str, str], ...] = ()  # (probe, level, sentence)
    got: tuple[str, ...] = ()  # for each line what the answer gave, in short
    notes: tuple[str, ...] = ()
    behaviour: str = ""  # of an answer without full points, for those that do the same


# ---- the judge's side -------------------------------------------------------------------------------------------------------------


@contextmanager
def kit() -> Iterator[Path]:
    """A folder from which a child imports: the engine and the drivers, and nothing that gives an answer away."""
    package = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory(prefix="minigrad-kit-") as folder:
        to = Path(folder) / "minigrad"
        shutil.copytree(package, to, ignore=lambda d, names: [n for n in names if n in ("course", "__pycache__")])
        for inner in ("grading", "drivers"):
            (to / "course" / inner).mkdir(parents=True)
        (to / "course" / "__init__.py").write_text(MUTE)
        for file in (file for pattern in TRAVELS for file in (package / "course").glob(pattern)):
            shutil.copy(file, to / file.relative_to(package))
        os.chmod(folder, 0o755)  # its reader may be another user
        yield Path(folder)


def draw_inputs(ex: Exercise, key: bytes, student: str, round: str) -> dict[str, tuple]:
    """The inputs of one student in one round: the same for the same key, others for everybody else."""
    seed = hmac.new(key, "\0".join((student, round, ex.id)).encode("utf-8", "surrogateescape"), hashlib.sha256).digest()
    rng = random.Random(int.from_bytes(seed, "big"))
    return {probe.name: probe.draw(rng) for probe in ex.probes if probe.draw}


def grade_answer(ex: Exercise, source: str, where: Path | AnswerServer, inputs: Mapping[str, tuple] | None = None, box: Box | None = None,
                 helpers: Sequence[str] = (), after: Sequence[str] = ()) -> Grade:  # fmt: skip
    """Grade the source that replaces an exercise's stub, with the probes' own inputs or drawn ones, in a fresh process.

    `helpers` are statements of other cells that run before it, and `after` those that run after it, one by one; one that fails is left
    out.

    `where` is a server, or a kit's folder for a server that lives for this one answer.
    """
    if is_stub(source, ex.stub):
        return Grade(ex.id, 0.0, 0.0, ex.points, "untried")
    box = box or Box(wall=max(20.0, 2 * ex.limits.seconds))
    if isinstance(where, AnswerServer):
        outcomes, ran = run_apart(ex, source, where, inputs or {}, box, helpers, after)
    else:
        with AnswerServer(where) as server:
            outcomes, ran = run_apart(ex, source, server, inputs or {}, box, helpers, after)
    verdict = judge(ex, outcomes, inputs)
    lines = tuple((line.probe, line.level, line.say) for line in verdict.lines)
    score = min(max(float(verdict.score), 0.0), 1.0) if outcomes else 0.0
    if not score and (stopped := _stopped(ex, source, outcomes)):
        match = re.search(r"\w+Error", stopped)
        hint = "" if match and match[0] in verdict.hint else verdict.hint  # the sentence says it already
        return Grade(ex.id, 0.0, 0.0, ex.points, stopped, hint, verdict.mistake)
    got = tuple(brief(outcomes[line.probe]) if line.probe in outcomes else "" for line in verdict.lines)
    return Grade(ex.id, score, round(score * ex.points, 4), ex.points, ran, verdict.hint if outcomes else "", verdict.mistake, lines, got,
                 tuple(without_folders(note) for note in verdict.notes))  # fmt: skip


def behaviour(
    ex: Exercise, source: str, server: AnswerServer, helpers: Sequence[str] = (), after: Sequence[str] = ()
) -> str:
    """A short name for what an answer does with the published inputs: the same for all answers that give the same results."""
    outcomes, _ = run_apart(ex, source, server, {}, Box(wall=max(20.0, 2 * ex.limits.seconds)), helpers, after)
    does = []
    for probe in ex.probes:
        outcome = outcomes.get(probe.name)
        failed = outcome is not None and (outcome["error"] or {}).get("type", "")
        does.append(
            "not run" if outcome is None else "late" if outcome["late"] else failed or in_short(outcome["got"], 2000)
        )
    return hashlib.sha256(repr(does).encode("utf-8", "replace")).hexdigest()[:6]


def _stopped(ex: Exercise, source: str, outcomes: Mapping[str, Mapping[str, Any]]) -> str:
    """One sentence, with the line, where the cell ended with an error before it defined the answer; else ""."""
    first = next(iter(outcomes.values()), None)
    if first is None or not first["error"] or not all(o["loading"] for o in outcomes.values()):
        return ""
    error, text = first["error"], ""
    where = error["where"] or {}
    line = where.get("line", 0)
    if match := re.search(r"\(<submission>, line (\d+)\)", error["message"]):
        line = int(match[1])
    lines = source.split("\n")
    if 0 < line <= len(lines):
        text = f" in line {line}, `{lines[line - 1].strip()[:80]}`"
    message = re.sub(r"\s*\(<submission>, line \d+\)", "", error["message"])
    return f"the cell stops before it defines {ex.entry}: {error['type']}{text}" + (f": {message}" if message else "")


def run_apart(
    ex: Exercise,
    source: str,
    server: AnswerServer,
    inputs: Mapping[str, tuple],
    box: Box,
    helpers: Sequence[str] = (),
    after: Sequence[str] = (),
) -> tuple[dict[str, dict], str]:
    """The outcomes of a submission's probes, and "ok" or how the process ended."""
    job = {
        "source": source.encode("utf-8", "replace").decode(),
        "helpers": [h.encode("utf-8", "replace").decode() for h in helpers],
        "after": [h.encode("utf-8", "replace").decode() for h in after],
        "entry": ex.entry,
        "probes": [
            {"name": p.name, "driver": p.driver.__name__, "args": inputs.get(p.name, p.args)} for p in ex.probes
        ],
        "limits": asdict(ex.limits),
        "box": asdict(box),
    }
    raw, end = server.run(job, box.wall)
    outcomes = _parse(raw, ex)
    if end == "late":
        return outcomes, f"stopped after {box.wall:g} s"
    if len(outcomes) == len(ex.probes) or any(o["late"] for o in outcomes.values()):
        return outcomes, "ok"
    return outcomes, f"the process ended early ({end})" if end else "the process ended without a result"


class AnswerServer(ForkServer):
    """The fork server that runs answers: it has imported the engine, and nothing of any student.

    `command` starts it elsewhere, in a container say: a list in which "{kit}" is replaced by the kit's folder. `hidden` are folders that no
    child may read. What the system was found to refuse is in `isolation`.
    """

    def __init__(self, folder: Path, hidden: Sequence[str | Path] = (), command: Sequence[str] = ()):
        # -s and -P: no folder of the user's and not the working folder on the path. The environment is empty, and with one hash seed a set
        # of texts has the same order in every run.
        begin = "import sys; sys.path.insert(0, sys.argv[1]); from minigrad.course.grading.child import main; main()"
        env = {
            "PATH": "/nonexistent",
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "MPLBACKEND": "Agg",
            "MINIGRAD_PROGRESS": "off",
        }
        env |= {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA", "VECLIB_MAXIMUM")}
        env |= {k: v for k, v in os.environ.items() if k in ("SYSTEMROOT", "LD_LIBRARY_PATH")}
        elsewhere = [part.replace("{kit}", str(folder)) for part in command]
        here = [sys.executable, "-s", "-P", "-B", "-c", begin, str(folder)]
        super().__init__(elsewhere or here, dict(os.environ) if elsewhere else env, folder)
        self.first = [] if elsewhere else [str(Path(__file__).resolve().parents[1]), *map(str, hidden)]

    @property
    def isolation(self) -> dict[str, bool]:
        return self.hello


def _parse(raw: bytes, ex: Exercise) -> dict[str, dict]:
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
    error = data.get("error")
    if isinstance(error, dict):
        where = error.get("where")
        if not (isinstance(where, dict) and isinstance(where.get("line"), int)):
            where = None
        error = {
            "type": str(error.get("type", ""))[:60] or "Error",
            "mro": [str(m)[:60] for m in error.get("mro", []) if isinstance(m, str)]
            if isinstance(error.get("mro"), list)
            else [],
            "message": without_folders(str(error.get("message", "")))[:200],
            "where": where and {"line": where["line"], "text": str(where.get("text", ""))[:80], "function": ""},
        }
    else:
        error = None
    flags = {k: data.get(k) is True for k in ("late", "idle", "mutated", "raised_limit", "loading")}
    return {"got": plain(data.get("got")), "error": error, "printed": str(data.get("printed", ""))[:2000], **flags}


def without_folders(text: str) -> str:
    """`text` with every absolute path shortened to its last part, so that no report reveals the grader's folders."""
    return re.sub(r"(?<![\w:/.])/(?:[^\s'\"/]+/)+", "…/", text)


def brief(outcome: Mapping[str, Any]) -> str:
    """What an answer gave, for a person."""
    if outcome["late"]:
        return "nothing in time"
    return str(outcome["error"]["type"]) if outcome["error"] else in_short(outcome["got"])


def in_short(x: Any, most: int = 300) -> str:
    """Plain data for a person: numbers to six digits, and not too long."""
    text = describe(x) if is_odd(x) else re.sub(r"-?\d+\.\d{6,}(?:e[+-]?\d+)?", lambda m: f"{float(m[0]):.6g}", repr(x))
    return text if len(text) <= most else text[: most - 1] + "…"
