"""Which points rest on inputs that are drawn for each student.

What lives here: `fresh_share`, measured by grading on drawn inputs what the reference solution gives for the published ones. Where that
passes, the probe judges a property (a count, a yes or no), and a program could claim it without any work on its own inputs.
"""

from __future__ import annotations

import random
from functools import cache

from ..bank import SOLUTION, outcome_of
from ..exercise import Exercise, Probe
from ..exercises import exercises
from ..judge import RIGHT, judge_probe

DRAWS = 3


def fresh_share(ex: Exercise) -> float:
    """The part of an exercise's points for which the results of the published inputs earn nothing on drawn ones."""
    return _share(ex.id)


@cache
def _share(id: str) -> float:
    ex = exercises[id]
    return sum(
        worth for _, worth, probes in ex.parts if any(probe.draw and not replayed(ex, probe) for probe in probes)
    )


def replayed(ex: Exercise, probe: Probe) -> bool:
    """Whether the right outcome for the published inputs passes for drawn ones, too."""
    assert probe.draw is not None
    published = outcome_of(ex, SOLUTION, probe, probe.args)
    for number in range(DRAWS):
        args = probe.draw(random.Random(f"{ex.id} {probe.name} {number}"))
        if judge_probe(ex, probe, args, published)[0].level not in RIGHT:
            return False
    return True


__all__ = ["fresh_share", "replayed"]
