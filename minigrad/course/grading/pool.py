"""Grading submissions, one after the other or many at a time: processes of this machine, or a Dask cluster.

What lives here: what is done with one submission, and who does it.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from ..claims import Claim, fingerprint
from ..exercise import Exercise
from ..exercises import exercises
from .answers import AnswerServer, Grade, behaviour, draw_inputs, grade_answer, kit
from .notebooks import Answer, Book, choose
from .reader import Reader
from .server import ForkServer, NotStarted
from .settings import Setting, Task

BY_HAND = "look at it by hand"
MOST_REMARKS = 12
# Seconds on the wall for one submission, far more than an honest one needs: the whole course takes ten
READING, RUNNING = (
    120.0,
    240.0,
)


def grade_submission(task: Task, setting: Setting) -> dict[str, Any]:
    """The record of one submission: plain data for the journal. Nothing that a student wrote can make it raise."""
    books, problems, unsure = _read_all(task, setting)
    answers, message = choose(books)
    problems += message
    if books and not answers and not problems:
        problems.append(f"no answer was found in {', '.join(book.name for book in books[:5])}: {BY_HAND}")
    grades: dict[str, dict[str, Any]] = {}
    less: list[str] = []  # where the notebook's own check has given more
    until = time.monotonic() + RUNNING
    for id, (book, answer) in sorted(answers.items(), key=lambda item: setting.ids.index(item[0])):
        grade, remark, decided = _grade_answer(id, answer, task, setting, until)
        problems += [f"{remark}: {BY_HAND}"] if remark else []
        unsure |= set() if decided else {id}
        less += _less(exercises[id], grade, answer, book.claims.get(id))
        grades[id] = {k: v for k, v in asdict(grade).items() if k not in ("id", "max_points")} | {"by": answer.by}
        if answer.tried and answer.source:
            grades[id] |= {"source": answer.source, "shingles": answer.shingles, "line_prints": answer.lines,
                           "as_solution": answer.as_solution}  # fmt: skip
    if not any(answer.source for _, answer in answers.values()):
        grades = {}  # nothing was run
    problems[:0] = less
    if len(problems) > MOST_REMARKS:
        problems[MOST_REMARKS:] = [f"and {len(problems) - MOST_REMARKS} more remarks"]
    isolation = answer_server(setting).isolation if answers else {}
    return {"student": task.student, "fingerprint": task.fingerprint, "state": "graded" if grades else "ungraded", "problems": problems,
            "lms": dict(task.lms), "isolation": isolation, "grades": grades, "unsure": sorted(unsure), "less": bool(less),
            "explained": {chapter: text for book in sorted(books, key=lambda b: b.when) for chapter, text in book.explained.items()},
            "files": {b.content: b.name for b in books if any(a.tried and a.source for a in b.answers.values())}}  # fmt: skip


def _read_all(task: Task, setting: Setting) -> tuple[list[Book], list[str], set[str]]:
    """The notebooks of a submission, what a person has to know of it, and the chapters ("*" for all) of which something was not read."""
    problems = list(task.problems)
    books: list[Book] = []
    unread: set[str] = set()
    reader = server("reader", Reader)
    until = time.monotonic() + READING
    for source in task.sources:
        if time.monotonic() > until:
            problems.append(
                f"reading took longer than {READING:g} s, {source.name} and what follows was not read: {BY_HAND}"
            )
            unread.add("*")
            break
        read = reader.read(source, setting.ids)
        books += read.books
        problems += read.problems
        unread |= set(read.unread)
    return books, problems, unread


def _grade_answer(id: str, answer: Answer, task: Task, setting: Setting, until: float) -> tuple[Grade, str, bool]:
    """The grade of one answer, a remark or "", and whether the grade can stand without a person's decision."""
    ex = exercises[id]
    try:
        if not answer.source:
            failed = answer.doubt
        elif time.monotonic() < until:
            inputs = draw_inputs(ex, setting.key, task.student, setting.round)
            grade = grade_answer(
                ex, answer.source, answer_server(setting), inputs, helpers=answer.helpers, after=answer.after
            )
            if grade.score < 1 and grade.ran != "untried":
                does = behaviour(ex, answer.source, answer_server(setting), answer.helpers, answer.after)
                grade = replace(grade, behaviour=does)
            if answer.doubt and grade.score < 1:
                return grade, answer.doubt, False
            return grade, f"{id}: {grade.ran}" if grade.ran.startswith("the cell stops") else "", True
        else:
            failed = f"was not run, because the answers before it took {RUNNING:g} s"
    except NotStarted:  # nothing can be graded: the person who runs this has to know at once
        raise
    except Exception as error:
        failed = f"could not be judged ({type(error).__name__})"
    return Grade(id, 0.0, 0.0, ex.points, f"{failed}: {BY_HAND}"), failed if id in failed else f"{id} {failed}", False


def _less(ex: Exercise, grade: Grade, answer: Answer, claim: Claim | None) -> list[str]:
    """A remark where the notebook's check has given an answer more than the grader."""
    if claim is None or claim.score <= grade.score + 1e-3:
        return []
    since = ", for another version of the cell" if claim.program not in ("", fingerprint(answer.source)) else ""
    notebook_says = (
        f"{'✓' if claim.score == 1 else '✗'} {claim.score * ex.points:g} of {ex.points} in the notebook{since}"
    )
    return [f"{ex.id}: {notebook_says}, {grade.points:g} here: {BY_HAND}"]


_here = threading.local()  # fork servers are kept per process, and per thread where Dask uses threads


def server(kind: Hashable, make: Callable[[], ForkServer]) -> Any:
    """The fork server of a kind, started on first use."""
    saved = _here.__dict__.setdefault("servers", {})
    if kind not in saved:
        saved[kind] = make().__enter__()
    return saved[kind]


def answer_server(setting: Setting) -> AnswerServer:
    if not hasattr(_here, "kit"):
        _here.kit = kit()
        _here.folder = _here.kit.__enter__()
    kind = (setting.hidden, setting.container)
    return server(kind, lambda: AnswerServer(_here.folder, setting.hidden, setting.container))


def close() -> None:
    for server in _here.__dict__.pop("servers", {}).values():
        server.__exit__()
    if kit := _here.__dict__.pop("kit", None):
        kit.__exit__(None, None, None)


def _begin(parent: int) -> None:
    """In a new process of the pool: end with the main one, even if that is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        close()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    atexit.register(close)


# ---- many ---------------------------------------------------------------------------------------------------------------------------


def grade_all(
    tasks: Sequence[Task], setting: Setting, jobs: int, begin: Callable[[Task], None] = lambda task: None
) -> Iterator[dict[str, Any]]:
    """The records, as they are ready; `begin` is called before each task. No more are begun than run at once.

    A task that ends the very process of the judge is tried once more alone, then named and left.
    """
    todo: list[Task] = list(tasks)
    suspects: list[Task] = []
    while todo or suspects:
        alone = not todo
        batch = [suspects.pop()] if alone else todo
        todo = [] if not alone else todo
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(1 if alone else jobs, context, _begin, (os.getpid(),)) as pool:
            waiting: dict[concurrent.futures.Future[dict[str, Any]], Task] = {}
            queue = iter(batch)

            def fill(pool=pool, waiting=waiting, queue=queue) -> None:
                while len(waiting) < jobs and (task := next(queue, None)) is not None:
                    begin(task)
                    waiting[pool.submit(grade_submission, task, setting)] = task

            fill()
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
                            yield lost(task)
                        else:
                            suspects.append(task)
                    except NotStarted:  # nothing can be graded: the person who runs this has to know at once
                        raise
                    except Exception as error:
                        yield lost(task, f"could not be judged ({type(error).__name__}): {BY_HAND}")
                if broken:
                    suspects += [] if alone else list(waiting.values())
                    todo += list(queue)
                    break
                fill()


def lost(task: Task, problem: str = f"reading it ended the grader's own process, twice: {BY_HAND}") -> dict[str, Any]:
    return {"student": task.student, "fingerprint": task.fingerprint, "state": "ungraded", "problems": [*task.problems, problem],
            "lms": dict(task.lms), "isolation": {}, "grades": {}, "unsure": ["*"]}  # fmt: skip


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
            yield lost(futures[future]) if future.status == "error" else future.result()
            future.release()
    if cluster is not None:
        cluster.close()
