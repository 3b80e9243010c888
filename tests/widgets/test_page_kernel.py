"""The kernel of a page without a browser: which cells a cell needs, what is printed. The rest: tests/browser/test_book_runs.py."""

import builtins
import json
from pathlib import Path

import pytest

from widgets import page_kernel

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("[0-9]*.ipynb"))


def needed(*cells, done=(), at=-1):
    return json.loads(page_kernel.needed(json.dumps(cells), json.dumps(done), at % len(cells)))


def test_a_cell_needs_what_gives_its_names_and_what_changes_them():
    cells = ["a = 1", "b = 2", "y = a * 3", "y.backward()", "print(b)", "y.grad"]
    assert needed(*cells) == [0, 2, 3]
    assert needed(*cells, done=[0, 2]) == [3]
    assert needed(*cells, at=4) == [1]


def test_functions_comprehensions_and_arguments():
    cells = ["import math", "k = 2", "x = 5", "def f(x):\n    return k * math.sin(x)", "[f(x) for x in range(3)]"]
    assert needed(*cells) == [0, 1, 3]


def test_a_name_that_is_given_again_needs_only_the_last_cell():
    assert needed("x = 1", "x = 2", "x") == [1]
    assert needed("x = 1", "x = x + 1", "x") == [0, 1]


def test_magics_and_what_loads_an_extension():
    assert needed("%load_ext minigrad", "x = 1", "y = 2 * x", "%graph y") == [0, 1, 2]
    assert needed("x = 1", "a mistake(", "%%explore w=1.0\nx * w") == [0]


def test_a_cell_that_python_cannot_read_runs_as_it_is():
    assert needed("x = 1", "x +") == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem[:2])
def test_no_cell_of_the_course_misses_a_name_that_a_cell_above_gives(path):
    cells = [
        "".join(c["source"]) for c in json.loads(path.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"
    ]
    names = [page_kernel._names(cell) for cell in cells]
    for k, here in enumerate(names):
        if here is None:
            continue
        run = [names[i] for i in needed(*cells, at=k)]
        given = {name.lstrip("~") for one in run if one for name in one[1]}
        above = {name for one in names[:k] if one for name in one[1] if name[0] != "~"}
        missed = (here[0] & above) - given - {*dir(builtins)}
        assert not missed, (cells[k], missed)


def test_what_is_printed_without_end_is_cut(monkeypatch):
    sent = []
    monkeypatch.setattr(page_kernel, "_send", lambda kind, **content: sent.append(content["text"]))
    stream = page_kernel.Stream("stdout")
    for _ in range(30_000):
        stream.write("0123456789")
    page_kernel._flush()
    text = "".join(sent)
    assert text.startswith("0123456789" * 100) and text.endswith("shows the first 200,000 characters.\n")
    assert len(text) < page_kernel.LONGEST + 100 and len(sent) < 100
