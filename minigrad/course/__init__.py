"""The course's exercises: their definitions, the check that answers in a notebook, hints, progress and grading.

    from minigrad.course import check, exercises

What lives here: everything that judges a learner's answer. Only the engine is imported; numpy is loaded by the exercises that need arrays,
and only when they are checked.
"""

from .checking import check
from .exercises import exercises

__all__ = ["check", "exercises"]
