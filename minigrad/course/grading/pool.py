"""Grading submissions, one after the other or many at a time: processes of this machine, or a Dask cluster.

What lives here: what is done with one submission, and who does it. What does not: finding submissions, the journal, what comes out.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ..exercises import exercises
from .answers import AnswerServer, Grade, draw_inputs, grade_answer, kit
from .notebooks import Book, choose
from .reader import Reader
from .server import ForkServer, NotStarted
from .settings import Setting, Task

BY_HAND = "look at it by hand"
MOST_REMARKS = 12
READING, RUNNING = 120.0, 240.0  # seconds on the wall for one submission, far more than an honest one needs: the whole course takes ten


def grade_submission(task: Task, setting: Setting) -> dict[str, Any]:
    """The record of one submission: plain data for the journal. Nothing that a student wrote can make it raise."""
    problems = list(task.problems)
    books: list[Book] = []
    unsure: set[str] = set()  # exercises and chapters on which a person has to decide; "*" for all of it
    reader = server("reader", Reader)
    until = time.monotonic() + READING
    for source in task.sources:
        if time.monotonic() > until:
            problems.append(f"reading took longer than {READING:g} s, {source.name} and what follows was not read: {BY_HAND}")
            unsure.add("*")
            break
        read = reader.read(source, setting.ids)
        books += read.books
        problems += read.problems
        unsure |= set(read.unread)
    answers, said = choose(books)
    problems += said
    if books and not answers and not problems:
        problems.append(f"no answer was found in {', '.join(book.name for book in books[:5])}: {BY_HAND}")
    grades: dict[str, dict[str, Any]] = {}
    isolation: dict[str, bool] = {}
    if answers:
        fork_server = answer_server(setting)
        until = time.monotonic() + RUNNING
        for id, (_, answer) in sorted(answers.items(), key=lambda item: setting.ids.index(item[0])):
            ex = exercises[id]
            failed, grade = "", None
            try:
                if not answer.source:
                    failed = answer.doubt
                elif time.monotonic() < until:
                    inputs = draw_inputs(ex, setting.key, task.student, setting.round)
                    grade = grade_answer(ex, answer.source, fork_server, inputs, helpers=answer.helpers, after=answer.after)
                else:
                    failed = f"was not run, because the answers before it took {RUNNING:g} s"
            except NotStarted:  # nothing can be graded: the person who runs this has to know at once
                raise
            except Exception as error:
                failed = f"could not be judged ({type(error).__name__})"
            if grade is None:
                problems.append(f"{failed if id in failed else f'{id} {failed}'}: {BY_HAND}")
                grade = Grade(id, 0.0, 0.0, ex.points, f"{failed}: {BY_HAND}")
                unsure.add(id)
            elif answer.doubt and grade.score < 1:
                problems.append(f"{answer.doubt}: {BY_HAND}")
                unsure.add(id)
            elif grade.ran.startswith("the cell stops"):
                problems.append(f"{id}: {grade.ran}: {BY_HAND}")
            grades[id] = {k: v for k, v in asdict(grade).items() if k not in ("id", "max_points")} | {"by": answer.by}
            if answer.tried and answer.source:
                grades[id] |= {"source": answer.source, "shingles": answer.shingles, "as_solution": answer.as_solution}
        isolation = fork_server.isolation
    if not any(answer.source for _, answer in answers.values()):
        grades = {}  # nothing was run
    if len(problems) > MOST_REMARKS:
        problems[MOST_REMARKS:] = [f"and {len(problems) - MOST_REMARKS} more remarks"]
    return {"student": task.student, "fingerprint": task.fingerprint, "state": "graded" if grades else "ungraded", "problems": problems,
            "lms": dict(task.lms), "isolation": isolation, "grades": grades, "unsure": sorted(unsure)}  # fmt: skip


_here = threading.local()  # fork servers are kept per process, and per thread where Dask uses threads


def server(kind: Hashable, make: Callable[[], ForkServer]) -> Any:
    """The fork server of a kind, started on first use."""
    kept = _here.__dict__.setdefault("servers", {})
    if kind not in kept:
        kept[kind] = make().__enter__()
    return kept[kind]


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
