"""Explanations of exceptions, for the error panels.

    explain(error, traceback, shell) -> a Panel, or None if there is nothing to add

failure.py locates the error in the learner's code, history.py reads what the code did before, answers.py is the form of an explanation, and
about_*.py hold the explanations, one file per subject. ../error_panel.py displays them.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from ..show import Panel
from . import (
    about_functions,
    about_graph,
    about_names,
    about_python,
    about_shapes,
    about_training,
    about_values,
    about_writes,
)
from .answers import Answer, from_message
from .failure import Failure

SUBJECTS = (
    about_graph,
    about_writes,
    about_shapes,
    about_python,
    about_values,
    about_functions,
    about_training,
    about_names,
)
ROWS = [row for module in SUBJECTS for row in module.ROWS]


def explain(error: BaseException, tb: TracebackType | None, shell: Any = None) -> Panel | None:
    """The card for an exception; None if it is not about gradients or tensors."""
    failure = Failure(error, tb, shell)
    if failure.here is None:
        return None
    answer = find(failure)
    return answer.card(failure) if answer is not None else None


def find(failure: Failure) -> Answer | None:
    for row in ROWS:
        if (subject := row.subject(failure)) is not None and (answer := row.answer(failure, subject)) is not None:
            return answer
    return from_message(failure)
