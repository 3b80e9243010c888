"""The contents: read from the progress file, and true to the notebooks: minutes, needs, every chapter once."""

import json
import re

import nbformat
import pytest

from minigrad.course import exercises, progress
from minigrad.course.exercise import Kind
from tools.store import NOTEBOOKS
from widgets.chapters import CHAPTERS
from widgets.lessons import contents
from widgets.lessons.contents import PARTS, following


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A function: exercise ids that have passed, ids that were tried -> the contents."""
    path = tmp_path / "progress.json"
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(path))

    def write(passed=(), tried=()):
        entries = {**{id: {"tries": 1} for id in tried}, **{id: {"tries": 1, "passed": True} for id in passed}}
        path.write_text(json.dumps({"edition": progress.EDITION, "exercises": entries}))
        return contents()

    return write


def of(*chapters):
    """The exercises of these chapters, without the optional ones: nothing waits for those."""
    return [id for n in chapters for id, ex in exercises.chapter(n).items() if ex.kind is not Kind.OPTIONAL]


def test_untouched(book):
    lesson = book()
    assert "Nothing has passed yet. Next: chapter 1" in lesson.text() and "✓" not in lesson.text()
    assert all(s.passed == 0 and s.of == len(of(n)) for n, s in lesson.figure.states.items())


def test_it_says_how_far_you_are_and_where_to_go(book):
    lesson = book(passed=[*of(1, 2), "03.a"], tried=["05.a"])
    assert [lesson.figure.states[n].word for n in (1, 2, 3, 4, 5)] == ["done", "done", "started", "open", "started"]
    assert (
        f"2 of 19 chapters done, {len(of(1, 2)) + 1} of {len(of(*range(1, 20)))} exercises passed. Go on with chapter 3"
        in lesson.text()
    )
    assert following(book(passed=of(1, 2)).figure.states).chapter.number == 3
    assert following(book(passed=of(1, 2, 3, 4, 5)).figure.states).chapter.number == 6
    assert following(book(passed=of(*range(1, 20))).figure.states) is None
    assert "have passed" in book(passed=of(*range(1, 20))).text()


def test_what_is_begun_comes_before_what_is_open(book):
    assert following(book(passed=of(1, 2), tried=["12.a"]).figure.states).chapter.number == 12


def test_look_again_reads_the_file_once_more(book):
    lesson = book()
    book(passed=of(1))
    lesson.press("again")
    assert "1 of 19 chapters done" in lesson.scene["say"] and "1 of 19 chapters done" in lesson.picture()


def test_a_damaged_file_is_said(book, tmp_path):
    book()
    (tmp_path / "progress.json").write_text("{")
    assert "was damaged" in contents().text()


def test_every_chapter_once_and_needs_point_back():
    assert [n for numbers in PARTS.values() for n in numbers] == list(range(1, 20)) == list(CHAPTERS)[1:]
    assert all(need < n and need in CHAPTERS for n, chapter in CHAPTERS.items() for need in chapter.needs)


def numbers_in(text):
    """The chapters that a sentence names: "chapters 1 to 4" and "chapter 2's graph and chapter 3" and "chapters 4 and 7"."""
    found = set()
    for first, last in re.findall(r"[Cc]hapters? (\d+) to (\d+)", text):
        found |= set(range(int(first), int(last) + 1))
    for numbers in re.findall(r"[Cc]hapters? (\d+(?:(?:, | and )\d+)*)", text):
        found |= {int(n) for n in re.findall(r"\d+", numbers)}
    return found


@pytest.mark.parametrize("chapter", CHAPTERS.values(), ids=lambda chapter: chapter.notebook)
def test_the_table_says_what_the_notebook_says(chapter):
    cells = nbformat.read(NOTEBOOKS / chapter.notebook, as_version=4).cells[:3]  # chapter 00 begins with a picture
    head = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert re.match(rf"# {chapter.number} · ", head)
    time, needs = re.search(r"\*\*Time\*\* (\d+) minutes.*?\*\*You need\*\* (.*?)(?:\n\n|$)", head, re.S).groups()
    assert int(time) == chapter.minutes
    required = [sentence for sentence in needs.split(". ") if not re.search(r"\bif\b|\bfor `", sentence)]
    assert numbers_in(". ".join(required)) == set(chapter.needs)


def test_boxes_of_many_exercises_leave_room_for_the_minutes(book):
    picture = book().picture()
    cards = re.findall(r'<rect class="panel" x="([\d.]+)" y="([\d.]+)" width="152"', picture)
    boxes = [
        tuple(map(float, box))
        for box in re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="7"', picture)
    ]
    assert len(cards) == 19 and boxes
    for x, y in ((float(x), float(y)) for x, y in cards):
        assert all(left + width <= x + 100 for left, top, width in boxes if top == y + 80 and x < left < x + 152 + 8)
