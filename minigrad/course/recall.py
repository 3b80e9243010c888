"""Spaced repetition of the chapters' recall questions: one that you knew returns after a longer interval, another one tomorrow.

The questions are those at the end of the notebooks beside this one. What you said is in the progress file, on this machine only.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from . import progress

DAYS = (1, 3, 7, 21, 60)  # after the first, second, … time that you knew it
ASKED = re.compile(r"<summary><b>\d+\.</b> (.*?)</summary>(.*?)</details>", re.S)


class Question(NamedTuple):
    """A recall question, its answer and the chapter where it is asked."""

    chapter: str
    question: str
    answer: str

    @property
    def key(self) -> str:
        return "recall " + hashlib.sha256(self.question.encode()).hexdigest()[:12]


def plain(text: str) -> str:
    """HTML of a recall question as text."""
    for tag in (r"</?code>", r"</?b>", r"</?su[bp]>"):
        text = re.sub(tag, "`" if "code" in tag else "", text)
    return " ".join(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").split())


def questions(folder: Path) -> Iterator[Question]:
    """The questions that are new in each chapter; those from earlier chapters stand there, too."""
    for path in sorted(folder.glob("[01][0-9]_*.ipynb")):
        try:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        except (OSError, ValueError, KeyError, TypeError):
            continue
        for question, answer in ASKED.findall(text):
            if not re.match(r"\(Chapters? \d", question):
                yield Question(path.stem[:2], plain(question), plain(answer))


def day() -> int:
    """Today as a number."""
    return datetime.date.today().toordinal()


def due(folder: Path, entries: Mapping[str, Mapping[str, Any]], today: int) -> list[Question]:
    """What may be asked today, of chapters in which something has passed: the longest overdue first, then what was never asked."""
    begun = {id[:2] for id, entry in entries.items() if entry.get("passed")}
    found = []
    for number, one in enumerate(questions(folder)):
        if one.chapter in begun:
            known, when = entries.get(one.key, {}).get("recall", (0, today))
            if when <= today:
                found.append((when, one.key not in entries, number, one))
    return [one for *_, one in sorted(found, key=lambda item: item[:3])]


def answered(one: Question, knew: bool, entries: Mapping[str, Mapping[str, Any]], today: int) -> int:
    """Note an answer, and return after how many days it is asked again."""
    known = entries.get(one.key, {}).get("recall", (0, today))[0]
    known = min(known + 1, len(DAYS)) if knew else 0
    days = DAYS[max(known - 1, 0)]
    progress.update(one.key, recall=[known, today + days])
    return days
