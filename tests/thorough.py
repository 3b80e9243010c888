"""`make test` and `make thorough`: what is a soak by nature runs whole only in the second.

Random programs by the thousand, every mutant on other inputs, the class once more as another user, each chapter a second time with answers
and a third time in a browser: the first of them find what is broken, and the rest cost minutes. So `make test` takes a part, drawn from a
seed and the same for everybody, with the cases in it that once found something; `make thorough` (MINIGRAD_THOROUGH=1) takes all. CI runs
that every week.
"""

from __future__ import annotations

import os
import random
from collections.abc import Collection, Iterable
from typing import TypeVar

T = TypeVar("T")
THOROUGH = bool(os.environ.get("MINIGRAD_THOROUGH"))


def part(cases: Iterable[T], count: int, always: Collection[T] = ()) -> list[T]:
    """All cases in a thorough run; otherwise those of `always` and `count` others, in their order."""
    cases = list(cases)
    if THOROUGH:
        return cases
    others = [case for case in cases if case not in always]
    drawn = random.Random(0).sample(others, min(count, len(others)))
    return [case for case in cases if case in drawn or case in always]
