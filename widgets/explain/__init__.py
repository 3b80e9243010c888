"""Errors that teach: what an exception of the engine means, for people.

    explain(error, traceback, shell) -> a Card, or None if there is nothing to add

What lives here: the front door. Where it happened is moment.py, what the code did before is history.py, what each error means is in
answers.py (the form) and about_*.py (one file per subject). How it gets on the screen is error_panel.py, one folder up.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from ..show import Card
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
from .moment import Moment

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


def explain(error: BaseException, tb: TracebackType | None, shell: Any = None) -> Card | None:
    """The card for an exception; None if it is not about gradients or tensors."""
    moment = Moment(error, tb, shell)
    if moment.here is None:
        return None
    answer = find(moment)
    return answer.card(moment) if answer is not None else None


def find(moment: Moment) -> Answer | None:
    for row in ROWS:
        if (subject := row.subject(moment)) is not None and (answer := row.answer(moment, subject)) is not None:
            return answer
    return from_message(moment)
