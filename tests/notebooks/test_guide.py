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
    assert sum(points) == 10 and points[0] == exercises["19.b"].points


def test_no_line_is_wider_than_a_screen():
    """A row of a table cannot be broken."""
    assert not [line for line in GUIDE.split("\n") if len(line) > 140 and not line.startswith("|")]


PROMISES = {  # what the guide says, word by word, and the tests that show it
    "No file ends the grading of the class": "test_whole_class: everybody_gets_what_is_theirs, nobody_is_forgotten",
    "names who is missing, and who is not in the list": "test_grade: the_list_of_students_names_who_is_missing",
    "names the column in the gradebook": "test_grade: the_column_in_the_gradebook_has_a_name",
    "what the answer gave, what is right, and a line that shows it again": "test_grade: feedback_names_probe_and_hint",
    "yours: the grader reads it and never writes into it": "test_grade: the_instructors_marks_are_entered_and_survive",
    "copies the notebooks into the folder `exam` without the hints and solutions": "test_copy: a_copy_for_an_exam_offers_neither",
    "What is in the journal is not graded twice, and the grades": "test_grade: killed_and_resumed_gives_the_same_bytes",
    "A submission that was replaced is graded again": "test_grade: only_what_changed_is_graded_again",
    "newest": "test_grade: layouts",
    "what the untouched stub passes too earns nothing": "test_check: no_points_for_what_the_untouched_stub_passes_too",
    "All of it is tried before the first answer": "test_whole_class: every_wall_was_measured_and_holds",
    "It sees neither expected values nor the": "test_worker: the_kit_holds_no_answer, the_reference_files_cannot_be_read",
    "Similar programs are flagged; nobody is accused.": "test_grade: copies_are_flagged_and_the_obvious_answer_is_not",
    "uses a Dask cluster": "test_grade: through_dask_on_a_local_cluster",
    "Without it, students' code runs in a kernel beside your grades": "test_nbgrader: without_the_configuration_the_grade_cell",
}


def test_what_is_promised_is_tested():
    words = " ".join(GUIDE.split())
    for promise, shown in PROMISES.items():
        assert promise in words, promise
        file, _, names = shown.partition(": ")
        source = (ROOT / f"tests/course/{file}.py").read_text(encoding="utf-8")
        assert all(f"def test_{name}" in source for name in names.split(", ")), shown
