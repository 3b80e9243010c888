"""Spaced recall: the chapters' own questions, only of chapters that were begun, later when known and tomorrow when not."""

import json
import shutil
from pathlib import Path

import pytest

from minigrad.course import progress, recall
from minigrad.course.checking import Check

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "progress.json"))
    for name in ("02_the_graph", "05_build_the_engine", "07_accumulation"):
        shutil.copy(NOTEBOOKS / f"{name}.ipynb", tmp_path)
    (tmp_path / "09_broken.ipynb").write_text("{")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_chapter_has_questions_of_its_own():
    by_chapter = {}
    for one in recall.questions(NOTEBOOKS):
        assert one.question and one.answer and "<" not in one.question.replace("< ", ""), one
        by_chapter.setdefault(one.chapter, []).append(one)
    assert set(by_chapter) == {f"{n:02d}" for n in range(1, 20)} and all(
        len(found) >= 2 for found in by_chapter.values()
    )
    keys = [one.key for found in by_chapter.values() for one in found]
    assert len(set(keys)) == len(keys) > 50


def test_what_was_known_comes_later_and_what_was_not_tomorrow(folder, monkeypatch):
    check, today = Check(), 1000
    monkeypatch.setattr(recall, "day", lambda: today)
    assert repr(check.recall()).startswith("○ nothing to recall today")
    progress.update("05.b", passed=True)
    note = check.recall()
    assert repr(note).startswith("Chapter 5: ") and "<details><summary>The answer</summary>" in note._repr_html_()
    first = check._recalled
    assert first.answer not in repr(note), "the text does not give it away"
    assert "comes back in 1 day." in repr(check.recall(False))
    second = check._recalled
    assert second != first and second.chapter == "05"
    assert "comes back in 1 day." in repr(check.recall(True))
    today += 1
    assert {one.key for one in recall.due(folder, progress.load()[0], today)} >= {first.key, second.key}
    assert recall.answered(second, True, progress.load()[0], today) == 3
    today += 1
    left = [one.key for one in recall.due(folder, progress.load()[0], today)]
    assert left[0] == first.key and second.key not in left
    assert all(
        key.startswith("recall ") or key == "05.b"
        for key in json.loads((folder / "progress.json").read_text())["exercises"]
    )
    assert "1 of" in repr(Check().progress()), "the questions are no exercises"
