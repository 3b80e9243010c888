"""The form of an explanation: Answer (title, cause, fix, picture, chapter), and Explainer, which maps an error to one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..chapters import CHAPTERS
from ..show import Code, Facts, Line, Panel
from .failure import Failure


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

    def card(self, failure: Failure) -> Panel:
        facts: list[tuple] = [("How to fix it", self.fix, self.code)]
        if self.no:
            facts.append(("Will not help", f"{self.no[0]}: {self.no[1]}."))
        if self.chapter is not None:
            chapter = CHAPTERS[self.chapter]
            facts.append(("Read", (str(chapter), chapter.notebook)))
        facts.append(("More", "`%tb` shows the ordinary traceback."))
        line = Code(failure.line, failure.span, failure.where) if failure.line else None
        return Panel(self.title, Line(self.what), line, *self.picture, Facts(*facts), warn=True)


class Explainer(NamedTuple):
    about: type  # a class of minigrad.core.facts, or an exception of Python
    pattern: re.Pattern | None
    answer: Callable[[Failure, Any], Answer | None]

    def subject(self, failure: Failure) -> Any:
        """The second argument of `answer`; None if this row is about another error."""
        if not issubclass(self.about, BaseException):
            return failure.facts if type(failure.facts) is self.about else None
        if not (failure.by_python and isinstance(failure.error, self.about)):
            return None
        return self.pattern.search(failure.sentence) if self.pattern is not None else failure.error


def row(about: type, pattern: str = "") -> Any:
    """Register a function in its file's ROWS.

    about    a class of minigrad.core.facts: the function answers errors of minigrad that carry such facts, and receives them.
             An exception class: it answers errors that the interpreter raises in the learner's line, and receives the exception.
    pattern  of Python's sentence, for exceptions without fields, such as TypeError; the function receives the match

    The function returns None if the error does not concern tensors.
    """

    def add(function: Any) -> Any:
        function.__globals__["ROWS"].append(Explainer(about, re.compile(pattern) if pattern else None, function))
        return function

    return add


def from_message(failure: Failure) -> Answer | None:
    """Errors without a row of their own: the engine's own explanation, in the same form."""
    explanation = failure.explanation
    if explanation is None or not explanation.instead:
        return None
    what = " ".join(part for part in (explanation.did, explanation.why) if part)
    fix = explanation.instead[0].upper() + explanation.instead[1:]
    chapter = next((number for number, chapter in CHAPTERS.items() if str(chapter) == explanation.chapter), None)
    return Answer("What this means", what or "The engine cannot do this.", fix, chapter=chapter)


def shape(x: Any) -> str:
    return str(tuple(x.shape))
