"""Grade a class: `python -m minigrad.course.grade submissions/ -o grades/`.

The work is done in the package grading.

One submission is one unit of work and one line of the journal, which is on the disk before the next is begun. A run that was stopped is
started again with the same command: what is in the journal is not done again, unless what was handed in, the exercises, the key or the
round changed since. Grades depend on nothing else: no clock, no order, no chance.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .exercises import exercises
from .grading.files import replace
from .grading.journal import FORMAT, Journal
from .grading.pool import BY_HAND, grade_all, grade_with_dask, lost
from .grading.report import write_report
from .grading.roll import call_the_roll, order, read_students
from .grading.settings import Setting, Task
from .grading.submissions import collect, printable

MOST_KILLED = 3  # runs that were killed while one submission was being graded: after that it is left


def grade(
    submissions: Path,
    out: Path,
    *,
    key: bytes | None = None,
    round: str = "1",
    only: Sequence[str] = (),
    jobs: int = 0,
    dask: str = "",
    container: Sequence[str] = (),
    reveal: bool = False,
    students: Path | None = None,
    name: str = "minigrad",
    say: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """Grade `submissions` into the folder `out` and return the records, one per student. Records in its journal are reused."""
    out.mkdir(parents=True, exist_ok=True)
    key = key or _key(out)
    ids = tuple(id for id, ex in exercises.items() if ex.graded and (not only or id in only or id[:2] in only))
    if not ids:
        raise SystemExit(
            f"No exercise is named {', '.join(only)}. Chapters: {', '.join(exercises.chapters())}; an exercise: 05.b"
        )
    result = collect(submissions)
    setting = Setting(key, round, ids, (str(submissions.resolve()), str(out.resolve())), tuple(container))
    about = _about(setting)
    tasks = [
        Task(s.student, hashlib.sha256(f"{about} {s.fingerprint()}".encode()).hexdigest(), tuple(s.sources), tuple(s.problems),
             tuple(sorted(s.lms.items())))
        for s in result
    ]  # fmt: skip
    # Computed after the tasks, so editing the roster does not regrade
    missing = call_the_roll(result, read_students(students)) if students else []

    def report(graded: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Write what comes out of the records of all students."""
        records = list(missing)
        for submission, task in zip(result, tasks, strict=True):
            record, message = graded[task.student], [text for text in submission.problems if text not in task.problems]
            records.append({**record, "lms": submission.lms, "problems": [*record["problems"], *message]})
        records.sort(key=lambda r: order(r["student"]))
        for text in write_report(records, out, setting, reveal, only, name):
            say(f"{printable(text)}\n")
        return records

    with Journal(out / "journal.jsonl") as journal:
        graded = _grade_tasks(tasks, journal, setting, jobs, dask, report, say)
    return report(graded)


def _grade_tasks(
    tasks: Sequence[Task],
    journal: Journal,
    setting: Setting,
    jobs: int,
    dask: str,
    report: Callable[[Mapping[str, dict[str, Any]]], Any],
    say: Callable[[str], None],
) -> dict[str, dict[str, Any]]:
    """The records of all tasks, by student. Those during which earlier runs were killed come last and alone, after a report of the rest."""
    todo = [t for t in tasks if journal.records.get(t.student, {}).get("fingerprint") != t.fingerprint]
    say(f"{len(tasks)} submissions, {len(tasks) - len(todo)} already graded\n")
    killed = {t.student: journal.unfinished(t.student, t.fingerprint) for t in todo}
    suspects = sorted((t for t in todo if killed[t.student]), key=lambda t: killed[t.student])
    todo = [t for t in todo if not killed[t.student]]
    jobs = max(1, min(jobs or os.cpu_count() or 1, len(todo)))

    def begin(task: Task) -> None:
        journal.begin(task.student, task.fingerprint)

    def records() -> dict[str, dict[str, Any]]:
        by_key = {t.student: journal.records.get(t.student, {}) for t in tasks}
        for t in suspects:
            if by_key[t.student].get("fingerprint") != t.fingerprint:
                times = "a run" if killed[t.student] == 1 else f"{killed[t.student]} times a run"
                by_key[t.student] = lost(
                    t, f"{times} was killed while this was being graded, so it is not graded: {BY_HAND}"
                )
        return by_key

    if todo:
        results = grade_with_dask(todo, setting, jobs, dask) if dask else grade_all(todo, setting, jobs, begin)
        for record in _progress(results, len(todo), say):
            journal.add(record)
    if suspects:
        report(records())  # whatever they do, the class has its grades
        names = ", ".join(printable(t.student) for t in suspects)
        say(f"An earlier run was killed while these were being graded: {names}. They are graded last, one at a time.\n")
    for task in suspects:
        if killed[task.student] < MOST_KILLED:
            for record in grade_all([task], setting, 1, begin):
                journal.add(record)
    return records()


def _about(setting: Setting) -> str:
    """A fingerprint of everything besides the submissions that grades depend on: definitions, engine, key, round."""
    digest = hashlib.sha256(repr((FORMAT, setting.round, setting.ids)).encode())
    digest.update(hmac.new(setting.key, b"fingerprint", hashlib.sha256).digest())
    for path in sorted(Path(__file__).resolve().parent.parent.rglob("*.py")):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _key(out: Path) -> bytes:
    """The key of this folder of grades, made on first use. Who has it can compute every student's inputs."""
    path = out / "key"
    try:
        return bytes.fromhex(path.read_text().strip())
    except FileNotFoundError:
        key = secrets.token_bytes(32)
        replace(path, key.hex() + "\n", private=True)
        return key
    except ValueError:
        raise SystemExit(
            "The key in the folder of grades is damaged: put the old one back, or delete it to get a new one."
        ) from None


def _progress(records: Iterable[dict[str, Any]], total: int, say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Pass the records on and draw a bar: on a terminal in place, elsewhere a line for every tenth."""
    start, terminal, message = time.monotonic(), sys.stderr.isatty(), -1
    for number, record in enumerate(records, 1):
        yield record
        took = time.monotonic() - start
        left = took / number * (total - number)
        bar = "#" * (24 * number // total)
        line = f"[{bar:<24}] {number}/{total}  {number / max(took, 1e-9):.1f} per second, {left:.0f} s left"
        if terminal:
            say(f"\r{line}   {record['student'][:24]:<24}")
        elif 10 * number // total > message:
            message = 10 * number // total
            say(line + "\n")
    if terminal:
        say("\n")


def container_command(engine: str, image: str) -> tuple[str, ...]:
    """The server inside a container: no network, nothing writable but a small /tmp, no rights, few processes, limited memory."""
    begin = "import sys; sys.path.insert(0, '/kit'); from minigrad.course.grading.child import main; main()"
    return (engine, "run", "--rm", "--interactive", "--network=none", "--read-only", "--tmpfs=/tmp:rw,size=64m,mode=1777", "--cap-drop=ALL",
            "--security-opt=no-new-privileges", "--user=65534:65534", "--pids-limit=128", "--memory=3g", "--env=PYTHONHASHSEED=0",
            "--env=OPENBLAS_NUM_THREADS=1", "--env=OMP_NUM_THREADS=1", "--env=MPLBACKEND=Agg", "--volume={kit}:/kit:ro", image,
            "python", "-s", "-P", "-B", "-c", begin)  # fmt: skip


@contextmanager
def _friendly() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit("\nStopped. The same command goes on where this one ended; nothing is lost.") from None
    except (FileNotFoundError, NotADirectoryError, PermissionError, RuntimeError) as error:
        raise SystemExit(f"minigrad: {error}") from None


def main(arguments: Sequence[str] | None = None) -> None:
    about = "Grade a folder or a zip file of submitted notebooks."
    parser = argparse.ArgumentParser(prog="python -m minigrad.course.grade", description=about)
    parser.add_argument(
        "submissions", type=Path, help="a folder (nbgrader's layout, one each, or flat), or the zip of Canvas or Moodle"
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        default=Path("grades"),
        help="the folder for everything that comes out (default: grades)",
    )
    parser.add_argument(
        "-e", "--exercises", nargs="+", default=(), metavar="ID", help="only these chapters (05) or exercises (05.b)"
    )
    parser.add_argument(
        "-j", "--jobs", type=int, default=0, help="how many at a time (default: one for each processor)"
    )
    parser.add_argument("--round", default="1", help="another round draws other inputs for everybody (default: 1)")
    parser.add_argument(
        "--key", type=Path, help="a file with the key that inputs are drawn with (default: OUT/key, made on first use)"
    )
    parser.add_argument(
        "--students",
        type=Path,
        metavar="FILE",
        help="the class: a CSV export of Canvas or Moodle, or a name in each line",
    )
    parser.add_argument(
        "--name", default="minigrad", help="the name of the column in the gradebook (default: minigrad)"
    )
    parser.add_argument(
        "--reveal",
        action="store_true",
        help="let the feedback show the inputs, what was right, and how to see it again",
    )
    parser.add_argument(
        "--dask", default="", metavar="ADDRESS", help='grade on a Dask cluster: its address, or "local"'
    )
    parser.add_argument("--container", choices=("docker", "podman"), help="run submissions inside containers as well")
    parser.add_argument(
        "--image", default="minigrad-grader", help="the container's image: Python with numpy (default: minigrad-grader)"
    )
    options = parser.parse_args(arguments)

    def say(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    if sys.platform == "win32":
        raise SystemExit("Grading needs Linux or macOS, where processes can be limited. On Windows use WSL.")
    with _friendly():
        key = options.key.read_bytes().strip() if options.key else None
        if key is not None and len(key) < 16:
            raise SystemExit(f"The key in {options.key.name} is too short: 16 bytes or more, from a random source.")
        records = grade(
            options.submissions,
            options.out,
            key=key,
            round=options.round,
            only=options.exercises,
            jobs=options.jobs,
            dask=options.dask,
            container=container_command(options.container, options.image) if options.container else (),
            reveal=options.reveal,
            students=options.students,
            name=options.name,
            say=say,
        )
    ungraded = [r for r in records if r["state"] != "graded"]
    for record in ungraded:
        say(f"not graded: {record['student']}: {'; '.join(record['problems'])}\n")
    print(f"{len(records) - len(ungraded)} of {len(records)} submissions graded; open {options.out / 'summary.html'}")


if __name__ == "__main__":
    from minigrad.course.grade import main as _main

    _main()
