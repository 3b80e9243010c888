"""The form of an explanation: what happened, the line, a picture, how to mend it, what will not mend it, the chapter.

What lives here: Row (which error) and Answer (what to say). What does not: any particular error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
    answer: Callable[[Moment, Any], Answer | None]
    python: bool
    facts: type | None = None

    def found(self, moment: Moment) -> Any:
        """What the answer is made of, the error's facts or the match; None if this row is about another error."""
        if self.facts is not None:
            return moment.facts if type(moment.facts) is self.facts else None
        # The same words in an error of somebody else's say nothing about minigrad.
        ours = isinstance(moment.error, self.kinds) and (moment.by_python if self.python else moment.in_engine)
        return self.pattern.search(moment.sentence) if ours else None


def row(kinds, pattern: str = "", python: bool = False):
    """Put a function into the file's ROWS: it answers errors that carry these facts (minigrad.core.facts).

    Errors without facts: of these kinds, if minigrad raises them and their first paragraph matches. python=True: errors that Python itself
    raises in the learner's line; the function then looks whether they are about tensors at all.
    """
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    facts = None if issubclass(kinds[0], BaseException) else kinds[0]

    def add(function):
        function.__globals__["ROWS"].append(Row(kinds, re.compile(pattern), function, python, facts))
        return function

    return add


def from_message(moment: Moment) -> Answer | None:
    """Errors without a row of their own: the engine's own explanation, in the same form."""
    said = moment.explanation
    if said is None or not said.instead:
        return None
    what = " ".join(part for part in (said.did, said.why) if part)
    chapter = int(said.chapter.split()[1].rstrip(",")) if said.chapter.startswith("chapter ") else None
    fix = said.instead[0].upper() + said.instead[1:]
    return Answer(
        "What this means", what or "The engine cannot do this.", fix, chapter=chapter if chapter in CHAPTERS else None
    )


def shape(x) -> str:
    return str(tuple(x.shape))
