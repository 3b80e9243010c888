"""What the kernel "Python 3 (minigrad)" does before the first cell: the imports of the chapter, the answers that were kept, one line."""

import json
from types import SimpleNamespace

import pytest

from minigrad.course import check, exercises, own, progress
from widgets import kernel, sitting

FIRST = "%load_ext minigrad\nimport math\nfrom minigrad.course import check\nf64 = {'x': math.pi}\nmath.missing()\nnever = 1"


class Shell:
    """Of IPython what an opening uses."""

    def __init__(self):
        self.user_ns, self.begin = {}, []
        self.events = SimpleNamespace(
            register=lambda _, run: self.begin.append(run), unregister=lambda _, run: self.begin.remove(run)
        )

    def run(self, source, history=True):
        for begin in list(self.begin):
            begin(SimpleNamespace(raw_cell=source, store_history=history))


@pytest.fixture
def shown(monkeypatch):
    """What was displayed, each as HTML."""
    outputs = []
    monkeypatch.setattr(sitting, "publish_display_data", lambda data: outputs.append(data["text/html"]))
    return outputs


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """A kernel of chapter 05 in an empty folder, without any progress."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(kernel, "load", lambda shell: None)
    cells = [
        {"cell_type": "markdown", "source": "# 5"},
        {"cell_type": "code", "source": FIRST.splitlines(keepends=True)},
    ]
    (tmp_path / "05_build_the_engine.ipynb").write_text(json.dumps({"cells": cells}))
    shell = Shell()
    sitting.load_ipython_extension(shell)
    return shell


def test_any_cell_may_be_the_first(shell, shown):
    shell.run("y = 1", history=False)  # a completion, say
    shell.run("  ")
    assert set(shell.user_ns) == {"check"}
    shell.run("y = 1")
    assert shell.user_ns["math"] and shell.user_ns["f64"] and shell.user_ns["check"] is check
    assert shell.user_ns["never"] == 1, "an assignment; the call above it is left out"
    assert shown == [] and not shell.begin


def test_the_first_cell_itself_is_not_run_twice(shell):
    shell.run(FIRST)
    assert "math" not in shell.user_ns


def keep(id, folder):
    (folder / own.FILE).write_text(f"# ---- {id} ----\n{exercises[id].solution}\n# ---- end of {id} ----\n")


def test_what_was_kept_is_there_and_one_line_says_so(shell, shown, tmp_path):
    progress.update("05.a", passed=True)
    progress.update("05.b", passed=True)
    keep("05.a", tmp_path)
    shell.run("y = 1")
    assert shown == [
        "<p>Welcome back: 05.a and 05.b have passed, 05.a is loaded from my_engine.py, "
        '<a href="#Exercise-05.c:-A-network-that-learns">05.c: A network that learns</a> is next.</p>'
    ]
    assert (shell.user_ns["Value"](2.0) * 3).data == 6.0
    shell.run("y = 2")
    assert len(shown) == 1


def test_a_name_of_the_learner_is_left_alone(shell, shown, tmp_path):
    progress.update("05.a", passed=True)
    keep("05.a", tmp_path)
    shell.user_ns["Value"] = "mine"
    shell.run("y = 1")
    assert shell.user_ns["Value"] == "mine" and "loaded" not in shown[0]


def test_a_chapter_that_is_done(shell, shown):
    for id, ex in exercises.chapter("05").items():
        if ex.graded:
            progress.update(id, passed=True)
    shell.run("y = 1")
    assert shown[0].endswith("have passed, every exercise of this chapter is done.</p>")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": 3}', '{"cells": [{"cell_type": "code", "source": "x = 1"}]}',
                                     '{"cells": [{"cell_type": "code", "source": "%load_ext minigrad\\nimport ("}]}'])  # fmt: skip
def test_any_other_notebook_opens_as_ever(shell, shown, tmp_path, content):
    (tmp_path / "05_build_the_engine.ipynb").write_text(content)
    shell.run("y = 1")
    assert set(shell.user_ns) == {"check"} and shown == []


def test_the_table_of_progress_begins_with_this_chapter(shell):
    rows = check.progress().rows
    assert [row[0][:2] for row in rows[1:]][0] == "05" and [row[0][:2] for row in rows[1:]].count("01") == len(
        exercises.chapter("01")
    )
