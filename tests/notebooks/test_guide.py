"""The instructor's guide names chapters, minutes and exercises that exist."""

import re

from minigrad.course import exercises
from widgets.chapters import CHAPTERS

from .store import ROOT

GUIDE = (ROOT / "INSTRUCTORS.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", GUIDE, re.M)


def test_every_chapter_has_its_row_and_its_minutes():
    assert [int(row[0]) for row in ROWS] == list(range(1, 20))
    assert [int(row[1]) for row in ROWS] == [CHAPTERS[n].minutes for n in range(1, 20)]


def test_the_exercises_to_grade_exist_in_their_chapters():
    for number, *_, grade in ROWS:
        ids = re.findall(r"\d\d\.[a-z]", grade)
        assert ids and all(id in exercises.chapter(number) for id in ids), grade
    named = set(re.findall(r"(?<![\d.])\d\d\.[a-z]\b", GUIDE))
    assert all(id in exercises for id in named)


def test_the_rubric_adds_up():
    table = GUIDE[GUIDE.index("| part | points |") :]
    points = [int(n) for n in re.findall(r"^\| [^|]+ \| (\d+) \|", table, re.M)]
    assert sum(points) == 10 and points[0] == exercises["19.b"].points == exercises["19.c"].points
