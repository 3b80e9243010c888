"""What the side panel is told by a kernel. The panel itself is looked at in tests/browser/test_first_days.py."""

import json

import pytest

from minigrad.course import exercises, progress
from widgets import side_panel


@pytest.fixture
def kernel(monkeypatch, tmp_path):
    """In an empty folder with chapter 05, without any progress."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "progress.json"))
    (tmp_path / "05_build_the_engine.ipynb").write_text("{}")


def asked(answer):
    return json.loads(json.dumps(answer._repr_json_()))


def test_the_chapter_of_the_notebook_and_what_is_next(kernel):
    state = asked(side_panel.state())
    assert state["chapter"] == "05" and [row["id"] for row in state["exercises"]] == list(exercises.chapter("05"))
    assert state["next"] == "05.a" and not any(row["passed"] or row["tried"] for row in state["exercises"])
    progress.update("05.a", tries=1, passed=True)
    progress.update("05.a2", tries=1, passed=False)
    state = asked(side_panel.state())
    assert state["next"] == "05.a2" and state["exercises"][0]["passed"] and state["exercises"][1]["tried"]
    assert {row["number"]: row["passed"] for row in state["chapters"] if row["passed"]} == {5: 1}
    assert [row["number"] for row in state["chapters"]] == list(range(20))


def test_another_notebook_has_no_exercises(kernel, tmp_path):
    (tmp_path / "05_build_the_engine.ipynb").rename(tmp_path / "notes.ipynb")
    state = asked(side_panel.state())
    assert state["exercises"] == [] and state["next"] == "" and len(state["chapters"]) == 20


def test_a_hint_and_a_solution_are_those_of_check(kernel):
    assert "hint 1 of 3" in asked(side_panel.hint("05.a"))["html"]
    assert "hint 2 of 3" in asked(side_panel.hint("05.a"))["html"]
    assert "05.a" in asked(side_panel.reveal("05.a"))["html"]


def test_words_have_their_entries_as_plain_text():
    words = asked(side_panel.glossary())["words"]
    assert len(words) > 70 and words["topological order"]["text"].startswith(
        "An order in which every node comes after its parents."
    )
    assert not any(sign in entry["text"] for entry in words.values() for sign in ("`", "](", "**"))
