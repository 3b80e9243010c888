"""Grade a class: `python -m minigrad.course.grade submissions/ -o grades/`.

What lives here: the command line, the journal that survives a power cut, and the pool of processes (or a Dask cluster, or containers) that
does the work. What does not: finding answers (submissions.py), running them (worker.py), the tables and pages (report.py).

One submission is one unit of work and one line of the journal, which is on the disk before the next is begun. A run that was stopped is
started again with the same command: what is in the journal is not done again, unless what was handed in, the exercises, the key or the
round changed since. Grades depend on nothing else: no clock, no order, no chance.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import hmac
import json
import multiprocessing
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import worker
from .exercises import exercises
from .grading.files import replace
from .grading.report import write_report
from .grading.roll import call_the_roll, read_students
from .grading.settings import Setting, Task
from .reader import Reader
from .submissions import Book, choose, collect, printable
from .worker import ForkServer, Grade, NotStarted, Nursery, draw_inputs, grade_answer

FORMAT = 2  # of the journal's lines


# ---- one submission -------------------------------------------------------------------------------------------------------------------


BY_HAND = "look at it by hand"
MOST_REMARKS = 12
READING, RUNNING = 120.0, 240.0  # seconds on the wall for one submission, far more than an honest one needs: the whole course takes one


def grade_submission(task: Task, setting: Setting) -> dict[str, Any]:
    """The record of one submission: plain data for the journal. Nothing that a student wrote can make it raise."""
    problems = list(task.problems)
    books: list[Book] = []
    reader = _server("reader", Reader)
    until = time.monotonic() + READING
    for source in task.sources:
        if time.monotonic() > until:
            problems.append(f"reading took longer than {READING:g} s, {source.name} and what follows was not read: {BY_HAND}")
            break
        read = reader.read(source, setting.ids)
        books += read.books
        problems += read.problems
    answers, said = choose(books)
    problems += said
    if books and not answers and not problems:
        problems.append(f"no answer was found in {', '.join(book.name for book in books[:5])}: {BY_HAND}")
    grades: dict[str, dict[str, Any]] = {}
    isolation: dict[str, bool] = {}
    if answers:
        fork_server = _nursery(setting)
        until = time.monotonic() + RUNNING
        for id, (_, answer) in sorted(answers.items(), key=lambda item: setting.ids.index(item[0])):
            ex = exercises[id]
            failed, grade = "", None
            try:
                if time.monotonic() < until:
                    inputs = draw_inputs(ex, setting.key, task.student, setting.round)
                    grade = grade_answer(ex, answer.source, fork_server, inputs, helpers=answer.helpers)
                else:
                    failed = f"was not run, because the answers before it took {RUNNING:g} s"
            except NotStarted:  # nothing can be graded: the person who runs this has to know at once
                raise
            except Exception as error:
                failed = f"could not be judged ({type(error).__name__})"
            if grade is None:
                problems.append(f"{id} {failed}: {BY_HAND}")
                grade = Grade(id, 0.0, 0.0, ex.points, f"{failed}: {BY_HAND}")
            grades[id] = {k: v for k, v in asdict(grade).items() if k not in ("id", "max_points")} | {"by": answer.by}
            if answer.tried:
                grades[id] |= {"source": answer.source, "shingles": answer.shingles, "as_solution": answer.as_solution}
        isolation = fork_server.isolation
    if len(problems) > MOST_REMARKS:
        problems[MOST_REMARKS:] = [f"and {len(problems) - MOST_REMARKS} more remarks"]
    return {"student": task.student, "fingerprint": task.fingerprint, "state": "graded" if grades else "ungraded", "problems": problems,
            "lms": dict(task.lms), "isolation": isolation, "grades": grades}  # fmt: skip


_here = threading.local()  # fork servers are kept per process, and per thread where Dask uses threads


def _server(kind: Hashable, make: Callable[[], ForkServer]) -> Any:
    """The fork server of a kind, started on first use."""
    kept = _here.__dict__.setdefault("servers", {})
    if kind not in kept:
        kept[kind] = make().__enter__()
    return kept[kind]


def _nursery(setting: Setting) -> Nursery:
    if not hasattr(_here, "kit"):
        _here.kit = worker.kit()
        _here.folder = _here.kit.__enter__()
    kind = (setting.hidden, setting.container)
    return _server(kind, lambda: Nursery(_here.folder, setting.hidden, setting.container))


def _close() -> None:
    for server in _here.__dict__.pop("servers", {}).values():
        server.__exit__()
    if kit := _here.__dict__.pop("kit", None):
        kit.__exit__(None, None, None)


def _begin(parent: int) -> None:
    """In a new process of the pool: end with the main one, even if that is killed."""
    import atexit

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        _close()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    atexit.register(_close)


# ---- many ---------------------------------------------------------------------------------------------------------------------------


def grade_all(tasks: Sequence[Task], setting: Setting, jobs: int) -> Iterator[dict[str, Any]]:
    """The records, as they are ready. A task that ends the very process of the judge is tried once more alone, then named and left."""
    todo: list[Task] = list(tasks)
    suspects: list[Task] = []
    while todo or suspects:
        alone = not todo
        batch = [suspects.pop()] if alone else todo
        todo = [] if not alone else todo
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(1 if alone else jobs, context, _begin, (os.getpid(),)) as pool:
            waiting = {}
            queue = iter(batch)
            for task in queue:
                waiting[pool.submit(grade_submission, task, setting)] = task
                if len(waiting) >= 2 * jobs:
                    break
            while waiting:
                done, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                broken = False
                for future in done:
                    task = waiting.pop(future)
                    try:
                        yield future.result()
                    except concurrent.futures.process.BrokenProcessPool:
                        broken = True
                        if alone:
                            yield _lost(task)
                        else:
                            suspects.append(task)
                    except NotStarted:  # nothing can be graded: the person who runs this has to know at once
                        raise
                    except Exception as error:
                        yield _lost(task, f"could not be judged ({type(error).__name__}): {BY_HAND}")
                if broken:
                    suspects += [] if alone else list(waiting.values())
                    todo += list(queue)
                    break
                for task in queue:
                    waiting[pool.submit(grade_submission, task, setting)] = task
                    if len(waiting) >= 2 * jobs:
                        break


def _lost(task: Task, problem: str = f"reading it ended the grader's own process, twice: {BY_HAND}") -> dict[str, Any]:
    return {"student": task.student, "fingerprint": task.fingerprint, "state": "ungraded", "problems": [*task.problems, problem],
            "lms": dict(task.lms), "isolation": {}, "grades": {}}  # fmt: skip


def grade_with_dask(tasks: Sequence[Task], setting: Setting, jobs: int, address: str) -> Iterator[dict[str, Any]]:
    """The same through Dask: `address` of a scheduler, or "local" for a cluster on this machine. The workers must see the same files."""
    try:
        from distributed import Client, LocalCluster, as_completed
    except ImportError:
        raise SystemExit("--dask needs Dask's distributed: pip install distributed") from None
    cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None) if address == "local" else None
    with Client(cluster or address) as client:
        futures = {client.submit(grade_submission, task, setting, pure=False, retries=1): task for task in tasks}
        for future in as_completed(list(futures)):
            yield _lost(futures[future]) if future.status == "error" else future.result()
            future.release()
    if cluster is not None:
        cluster.close()


# ---- the journal ----------------------------------------------------------------------------------------------------------------------


class Journal:
    """An append-only file of records, one line each, with a checksum. A line that a power cut left unfinished is cut off on opening."""

    def __init__(self, path: Path):
        self.path = path
        self.records: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Journal:
        self._file = open(self.path, "a+b")
        try:
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass
        except OSError:
            self._file.close()
            where = self.path.parent.name
            raise SystemExit(f"Another run is grading into {where}: wait for it, or choose another folder with -o.") from None
        self._file.seek(0)
        good = 0
        for line in self._file:
            record = self._record(line)
            if record is None:
                break
            self.records[record["student"]] = record
            good += len(line)
        self._file.truncate(good)
        self._file.seek(good)
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @staticmethod
    def _record(line: bytes) -> dict[str, Any] | None:
        check, _, text = line.partition(b" ")
        if not line.endswith(b"\n") or hashlib.sha256(text).hexdigest()[:16].encode() != check:
            return None
        record = json.loads(text)
        return record if record.get("format") == FORMAT else None

    def add(self, record: dict[str, Any]) -> None:
        """Write one record and wait until it is on the disk."""
        record = {**record, "format": FORMAT}
        text = json.dumps(record, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace") + b"\n"
        self._file.write(hashlib.sha256(text).hexdigest()[:16].encode() + b" " + text)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.records[record["student"]] = json.loads(text)


# ---- the command ----------------------------------------------------------------------------------------------------------------------


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
    """Grade `submissions` into the folder `out` and return the records, one per student. What is already in its journal is kept."""
    out.mkdir(parents=True, exist_ok=True)
    key = key or _key(out)
    ids = tuple(id for id in exercises if not only or id in only or id[:2] in only)
    if not ids:
        raise SystemExit(f"No exercise is named {', '.join(only)}. Chapters: {', '.join(exercises.chapters())}; an exercise: 05.b")
    found = collect(submissions)
    setting = Setting(key, round, ids, (str(submissions.resolve()), str(out.resolve())), tuple(container))
    about = _about(setting)
    tasks = [
        Task(s.student, hashlib.sha256(f"{about} {s.fingerprint()}".encode()).hexdigest(), tuple(s.sources), tuple(s.problems),
             tuple(sorted(s.lms.items())))
        for s in found
    ]  # fmt: skip
    with Journal(out / "journal.jsonl") as journal:
        todo = [t for t in tasks if journal.records.get(t.student, {}).get("fingerprint") != t.fingerprint]
        say(f"{len(tasks)} submissions, {len(tasks) - len(todo)} already graded\n")
        jobs = max(1, min(jobs or os.cpu_count() or 1, len(todo)))
        if todo:
            results = grade_with_dask(todo, setting, jobs, dask) if dask else grade_all(todo, setting, jobs)
            for record in _progress(results, len(todo), say):
                journal.add(record)
        records = [journal.records[t.student] for t in tasks]
    missing = call_the_roll(found, read_students(students)) if students else []  # after the tasks: a new list grades nobody again
    for number, (submission, task) in enumerate(zip(found, tasks, strict=True)):
        said = [text for text in submission.problems if text not in task.problems]
        records[number] = {**records[number], "lms": submission.lms, "problems": [*records[number]["problems"], *said]}
    records = sorted([*records, *missing], key=lambda r: r["student"])
    for text in write_report(records, out, setting, reveal, only, name):
        say(f"{printable(text)}\n")
    return records


def _about(setting: Setting) -> str:
    """A fingerprint of what decides the grades besides what was handed in: the definitions, the engine, the key, the round."""
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
        raise SystemExit("The key in the folder of grades is damaged: put the old one back, or delete it to get a new one.") from None


def _progress(records: Iterable[dict[str, Any]], total: int, say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Pass the records on and draw a bar: on a terminal in place, elsewhere a line for every tenth."""
    start, terminal, said = time.monotonic(), sys.stderr.isatty(), -1
    for number, record in enumerate(records, 1):
        yield record
        took = time.monotonic() - start
        left = took / number * (total - number)
        bar = "#" * (24 * number // total)
        line = f"[{bar:<24}] {number}/{total}  {number / max(took, 1e-9):.1f} per second, {left:.0f} s left"
        if terminal:
            say(f"\r{line}   {record['student'][:24]:<24}")
        elif 10 * number // total > said:
            said = 10 * number // total
            say(line + "\n")
    if terminal:
        say("\n")


def container_command(engine: str, image: str) -> tuple[str, ...]:
    """The nursery inside a container: no network, nothing writable but a small /tmp, no rights, few processes, limited memory."""
    begin = "import sys; sys.path.insert(0, '/kit'); from minigrad.course.worker import nursery; nursery()"
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
    parser.add_argument("submissions", type=Path, help="a folder (nbgrader's layout, one each, or flat), or the zip of Canvas or Moodle")
    parser.add_argument("-o", "--out", type=Path, default=Path("grades"), help="the folder for everything that comes out (default: grades)")
    parser.add_argument("-e", "--exercises", nargs="+", default=(), metavar="ID", help="only these chapters (05) or exercises (05.b)")
    parser.add_argument("-j", "--jobs", type=int, default=0, help="how many at a time (default: one for each processor)")
    parser.add_argument("--round", default="1", help="another round draws other inputs for everybody (default: 1)")
    parser.add_argument("--key", type=Path, help="a file with the key that inputs are drawn with (default: OUT/key, made on first use)")
    parser.add_argument("--students", type=Path, metavar="FILE", help="the class: a CSV export of Canvas or Moodle, or a name in each line")
    parser.add_argument("--name", default="minigrad", help="the name of the column in the gradebook (default: minigrad)")
    parser.add_argument("--reveal", action="store_true", help="let the feedback show the inputs, what was right, and how to see it again")
    parser.add_argument("--dask", default="", metavar="ADDRESS", help='grade on a Dask cluster: its address, or "local"')
    parser.add_argument("--container", choices=("docker", "podman"), help="run submissions inside containers as well")
    parser.add_argument("--image", default="minigrad-grader", help="the container's image: Python with numpy (default: minigrad-grader)")
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
    from minigrad.course.grade import main as _main  # not as __main__: other processes import this module by its name

    _main()
