"""Read submissions in a separate process with limits of processor time, memory and size.

`Reader` is a fork server. It runs no learner's code, but does not trust learners' files either: a child unpacks one, reads the notebooks
and chooses the answers (notebooks.py). A file that is too large, too deep or too costly ends the child; the grader gets one sentence and
continues.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..claims import Claim
from ..exercises import exercises
from . import sandbox
from .notebooks import Answer, Book, Notebook, explained, find_answer, read_notebook, strange, unclear
from .server import Box, ForkServer, fork, serve, write_all
from .submissions import Source, expand, printable

LIMITS = Box(wall=60.0, cpu=20, memory=3 << 30)
LONGEST = 100_000  # characters of one answer, or of its helpers


@dataclass(frozen=True)
class Read:
    """What one file holds: its notebooks, and what a person has to know about it."""

    books: tuple[Book, ...] = ()
    problems: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()  # chapters with unreadable parts; "*" for an unknown chapter


class Reader(ForkServer):
    """The server's own side is `main`; this is the grader's."""

    def __init__(self, box: Box = LIMITS):
        begin = "import sys; sys.path.insert(0, sys.argv[1]); from minigrad.course.grading.reader import main; main()"
        package = Path(__file__).resolve().parents[3]
        super().__init__(
            [sys.executable, "-s", "-P", "-B", "-c", begin, str(package)], dict(os.environ, PYTHONHASHSEED="0")
        )
        self.box = box

    def read(self, source: Source, ids: Sequence[str]) -> Read:
        """The notebooks in one file that was handed in."""
        return self._ask({"path": source.path, "member": source.member, "ids": ids}, source.name)

    def read_text(self, text: str, name: str, ids: Sequence[str]) -> Read:
        """The notebook in `text`."""
        return self._ask({"text": text, "ids": ids}, name)

    def _ask(self, job: Mapping[str, Any], name: str) -> Read:
        raw, end = self.run({**job, "name": name, "box": asdict(self.box)}, self.box.wall)
        try:
            data = json.loads(raw.rstrip(b"\n\x00"))
            books = tuple(map(_book_of, data["books"]))
            return Read(books, tuple(data["problems"]), tuple(data["unread"]))
        except ValueError:
            why = f"more than {self.box.cpu} s" if end == "late" or "24" in end else end or "no result"
            sentence = f"{printable(name)} takes too much time or memory to read ({why}): look at it by hand"
            return Read((), (sentence,), tuple(_chapters(name)))


def _book_of(b: Mapping[str, Any]) -> Book:
    """JSON has lists only."""
    lists = ("helpers", "after", "shingles", "lines")
    answers = {id: Answer(**{**a, **{name: tuple(a[name]) for name in lists}}) for id, a in b["answers"].items()}
    return Book(
        b["name"], b["when"], answers, {id: Claim(**c) for id, c in b["claims"].items()}, b["content"], b["explained"]
    )


# ---- the server's side ----------------------------------------------------------------------------------------------------------------


def main() -> None:
    """Load every definition once, then read each requested file in a limited child."""
    list(exercises.values())
    serve({}, lambda job: fork(lambda put: _child(job, put), job["box"]["wall"]))


def _child(job: Mapping[str, Any], put: int) -> None:
    sandbox.limit(job["box"])
    result = read(job)
    write_all(
        put,
        json.dumps(
            {"books": [asdict(b) for b in result.books], "problems": result.problems, "unread": result.unread}
        ).encode(),
    )


def read(job: Mapping[str, Any]) -> Read:
    """The contents of a job's file. An error in one part becomes a sentence in `problems`."""
    books: list = []
    problems: list = []
    unread: set[str] = set()
    if "text" in job:
        parts = [(job["name"], 0.0, lambda: job["text"].encode("utf-8", "replace"))]
    else:
        parts, problems = expand(Source(job["path"], job["member"]))
        unread |= _chapters(job["name"]) if problems else set()
    for name, when, content in parts:
        try:
            book, message = _book(content(), name, when, job["ids"])
            books.append(book)
            problems += message
            unread |= {"*"} if message else set()
        except MemoryError:
            problems.append(f"{name} needs too much memory to read")
            unread |= _chapters(name)
        except Exception as error:
            problems.append(
                str(error) if isinstance(error, ValueError) else f"{name} cannot be read ({type(error).__name__})"
            )
            unread |= _chapters(name)
    return Read(tuple(books), tuple(printable(p) for p in problems), tuple(sorted(unread)))


def _chapters(name: str) -> set[str]:
    """The chapters that a file's name names, or "*"."""
    return Notebook(name, []).chapters or {"*"}


def _book(data: bytes, name: str, when: float, ids: Sequence[str]) -> tuple[Book, list[str]]:
    nb = read_notebook(data, name)
    answers: dict[str, Answer] = {}
    for id in ids:
        try:
            answer = find_answer(exercises[id], nb)
            doubt = "" if answer is not None and answer.tried else unclear(exercises[id], nb)
        except Exception as error:  # RecursionError, say: this exercise only
            answer, doubt = None, f"{id} in {printable(name)} cannot be read ({type(error).__name__})"
        if answer is not None and max(len(answer.source), sum(map(len, (*answer.helpers, *answer.after)))) > LONGEST:
            doubt = f"the answer to {id} in {printable(name)} is longer than {LONGEST:,} characters"
        if doubt:
            answers[id] = Answer("", doubt=printable(doubt))
        elif answer is not None:
            answers[id] = replace(answer, doubt=printable(answer.doubt), where=printable(answer.where))
    sentence = "" if answers else strange(nb, [exercises[id] for id in ids])
    claims = {claim.exercise: claim for cell in nb.cells for claim in cell.claims if claim.exercise in answers}
    texts = {chapter: "\n".join(map(printable, text.splitlines())) for chapter, text in explained(nb).items()}
    return Book(printable(name), when, answers, claims, nb.content, texts), [sentence] if sentence else []
