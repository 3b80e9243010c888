"""The minutes of a chapter follow from what is in it, for somebody who meets it for the first time.

An estimate, not a measurement: 200 words a minute, 24 seconds for each cell that is run and another 2.4 for each of its lines, 72 seconds
to play with a picture, and the minutes that its exercises and "find the bug" ask for.
"""

import re

import nbformat
import pytest

from minigrad.course import exercises
from minigrad.course.exercise import Kind
from tools.store import NOTEBOOKS
from widgets.chapters import CHAPTERS

PICTURE = re.compile(r"%graph\b|(?!print|plot|check)[a-z_]+\(.*\)$")


def estimate(number: int) -> float:
    cells = nbformat.read(NOTEBOOKS / CHAPTERS[number].notebook, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    words = len(re.sub(r"\$\$.*?\$\$|</?[a-z][^>]*>", "", prose, flags=re.S).split())
    code = [
        c.source
        for c in cells
        if c.cell_type == "code" and "minigrad" not in c.metadata and not c.source.startswith("check(")
    ]
    lines = sum(len(source.splitlines()) for source in code)
    pictures = sum(bool(PICTURE.match(source.splitlines()[-1])) for source in code)
    asked = exercises.chapter(f"{number:02d}").values() if f"{number:02d}" in exercises.chapters() else []
    work = sum(ex.minutes for ex in asked if ex.kind is not Kind.OPTIONAL)
    bugs = sum(map(int, re.findall(r"\*\*Find the bug\*\* \((\d+) minutes", prose)))
    return words / 200 + 0.4 * len(code) + 0.04 * lines + 1.2 * pictures + work + bugs


@pytest.mark.parametrize("number", CHAPTERS)
def test_minutes_follow_from_what_is_there(number):
    planned = CHAPTERS[number].minutes
    assert abs(planned - estimate(number)) <= 8, f"planned {planned}, estimated {estimate(number):.0f}"
