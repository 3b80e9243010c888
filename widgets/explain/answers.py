"""The form of an explanation: what happened, the line, a picture, how to mend it, what will not mend it, the chapter.

What lives here: Row (which error) and Answer (what to say). What does not: any particular error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ..chapters import CHAPTERS
from ..show import Card, Code, Facts, Line
from .moment import Moment


@dataclass
class Answer:
    """`fix` and `what` are sentences with `code` in them; `no` are pairs: a popular way out that is none, and why."""

    title: str
    what: str
    fix: str
    no: tuple[str, str] | None = None
    picture: list = field(default_factory=list)
    chapter: int | None = None
    code: str = ""  # what to write instead

    def card(self, moment: Moment) -> Card:
        facts: list[tuple] = [("How to fix it", self.fix, self.code)]
        if self.no:
            facts.append(("Will not help", f"{self.no[0]}: {self.no[1]}."))
        if self.chapter is not None:
            chapter = CHAPTERS[self.chapter]
            facts.append(("Read", (str(chapter), chapter.notebook)))
        facts.append(("More", "`%tb` shows the ordinary traceback."))
        line = Code(moment.line, moment.span, moment.where) if moment.line else None
        return Card(self.title, Line(self.what), line, *self.picture, Facts(*facts), warn=True)


class Row(NamedTuple):
    kinds: tuple[type[BaseException], ...]
    pattern: re.Pattern
    answer: Callable[[Moment, re.Match], Answer | None]
    python: bool

    def fits(self, moment: Moment) -> bool:
        """The same words in an error of somebody else's say nothing about minigrad."""
        return isinstance(moment.error, self.kinds) and (moment.by_python if self.python else moment.in_engine)


def row(kinds, pattern: str, python: bool = False):
    """Put a function into the file's ROWS: it answers errors of these kinds that minigrad raises and whose first paragraph matches.

    python=True: errors that Python itself raises in the learner's line; the function then looks whether they are about tensors at all.
    """
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)

    def add(function):
        function.__globals__["ROWS"].append(Row(kinds, re.compile(pattern), function, python))
        return function

    return add


def from_message(moment: Moment) -> Answer | None:
    """Errors without a row of their own: the engine's own explanation, which follows its first sentence, in the same form."""
    what, fix, chapter = [], "", None
    for line in moment.detail.splitlines():
        if line.startswith("Instead: "):
            fix = line.removeprefix("Instead: ")
        elif found := re.match(r"Read: chapter (\d+)", line):
            chapter = int(found[1])
        elif line.strip():
            what.append(line.strip())
    if not fix:
        return None
    fix = fix[0].upper() + fix[1:]
    return Answer("What this means", " ".join(what) or "The engine cannot do this.", fix, chapter=chapter if chapter in CHAPTERS else None)


def shape(x) -> str:
    return str(tuple(x.shape))
