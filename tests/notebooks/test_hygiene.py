"""Committed notebooks are fit to be committed, and `problems` sees each kind of unfitness."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools.hygiene import problems
from tools.store import KERNEL, ROOT, WIDGET, all_notebooks, clean, execute, store, svg_of, without_paths


@pytest.mark.parametrize("path", all_notebooks(), ids=lambda path: path.stem)
def test_notebook_is_fit(path):
    assert problems(nbformat.read(path, as_version=4)) == []


def test_there_are_notebooks():
    assert all_notebooks()


@pytest.mark.parametrize("path", all_notebooks(), ids=lambda path: path.stem)
def test_who_only_reads_never_meets_seven_closed_cells_in_a_row(path):
    closed = 0
    for cell in nbformat.read(path, as_version=4).cells:
        shown = str(cell.get("outputs") or "")
        waits = any(words in shown for words in ("no prediction yet", "not passed yet", "not tried yet"))
        closed = closed + 1 if waits else 0 if shown else closed
        assert closed < 7, f"{cell.source[:60]!r} is the seventh"


def test_stored_graphs_are_legible_in_a_small_window():
    """A column of 530 pixels, in a window of 640, shrinks a wider picture, and its words of 11 pixels to less than 9."""
    found = [re.match(r'<svg [^>]*?width="(\d+)"', svg_of(output))[1]
             for path in all_notebooks() for cell in nbformat.read(path, as_version=4).cells for output in cell.get("outputs", [])
             if "<title>computation graph of" in svg_of(output)]  # fmt: skip
    assert len(found) > 9 and max(map(int, found)) <= 647


def svg(text):
    return new_output("display_data", {"image/svg+xml": f"<svg><title>{text}</title></svg>", "text/plain": text})


def good():
    error = new_output("error", ename="ZeroDivisionError", evalue="division by zero", traceback=["Cell In[2], line 1"])
    nb = new_notebook(
        cells=[
            new_markdown_cell("Look: ![a graph of three nodes](three.svg)"),
            new_code_cell("picture", execution_count=1, outputs=[svg("three nodes")]),
            new_code_cell("1 / 0", execution_count=2, metadata={"tags": ["raises-exception"]}, outputs=[error]),
        ]
    )
    nb.metadata.kernelspec = KERNEL
    return nb


def test_good_notebook_has_no_problem():
    assert problems(good()) == []


SPOIL = {
    "kernelspec": lambda nb: nb.metadata.kernelspec.update(name="my-env"),
    "metadata.widgets": lambda nb: nb.metadata.update(widgets={}),
    "Python version": lambda nb: nb.metadata.update(language_info={"name": "python", "version": "3.11.7"}),
    "ids": lambda nb: nb.cells[1].update(id=nb.cells[0].id),
    "execution count is None": lambda nb: nb.cells[1].update(execution_count=None),
    "execution count is 7": lambda nb: nb.cells[2].update(execution_count=7),
    "a line of 129 characters": lambda nb: nb.cells[1].update(source="x" * 129),
    "empty": lambda nb: nb.cells[0].update(source="\n"),
    "no alternative text": lambda nb: nb.cells[0].update(source="![](three.svg)"),
    "links to ../minigrad/scalar.py": lambda nb: nb.cells[0].update(source="[the engine](../minigrad/scalar.py)"),
    "<img src='a.png'> has no alternative": lambda nb: nb.cells[0].update(source="<img src='a.png'>"),
    "error: ZeroDivisionError": lambda nb: nb.cells[2].metadata.update(tags=[]),
    "stores no error": lambda nb: nb.cells[2].update(outputs=[]),
    "stderr: careful": lambda nb: nb.cells[1].outputs.append(new_output("stream", name="stderr", text="careful")),
    "widget view": lambda nb: nb.cells[1].outputs[0].data.update({WIDGET: {"model_id": "1"}}),
    "neither picture nor text": lambda nb: nb.cells[1].update(outputs=[new_output("display_data", {})]),
    "without a <title>": lambda nb: nb.cells[1].outputs[0].data.update({"image/svg+xml": "<svg><title></title></svg>"}),
    "path of one machine: /home/ada": lambda nb: nb.cells[1].outputs.append(
        new_output("stream", text="in /home/ada/x.py")
    ),
    "path of one machine: ~/minigrad": lambda nb: (
        nb.cells[2].outputs[0].update(traceback=["File \x1b[32m~/minigrad/scalar.py:3"])
    ),
    "not drawn: cannot draw this": lambda nb: (
        nb.cells[1].outputs[0].data.update({"text/plain": "chain cannot draw this: too long"})
    ),
    "which warnings are shown": lambda nb: nb.cells[1].update(
        source="with warnings.catch_warnings():\n    f()\nwarnings.simplefilter('ignore')"
    ),
    "memory address": lambda nb: nb.cells[1].outputs.append(
        new_output("stream", text="<object object at 0x7f516ae7ccc0>")
    ),
}


@pytest.mark.parametrize("said", SPOIL)
def test_each_problem_is_seen(said):
    nb = good()
    SPOIL[said](nb)
    found = problems(nb)
    assert len(found) == 1 and said in found[0]


def test_paths_in_tracebacks_are_shortened():
    assert without_paths(f"File {ROOT}/minigrad/scalar.py:12, in f") == "File minigrad/scalar.py:12, in f"
    assert (
        without_paths(f"\x1b[32m{ROOT}/minigrad/autograd/__init__.py:9\x1b[39m")
        == "\x1b[32mminigrad/autograd/__init__.py:9\x1b[39m"
    )
    assert without_paths("File /usr/lib/python3.11/json/decoder.py:337, in f") == "File decoder.py:337, in f"
    assert without_paths(r"File C:\Users\ada\lib\decoder.py:337, in f") == "File decoder.py:337, in f"
    assert without_paths("x / y and 1/2.5") == "x / y and 1/2.5"


def test_storing_twice_writes_the_same_bytes_that_pass(tmp_path):
    path = tmp_path / "small.ipynb"
    cells = ["print('a')\nprint('b')", "import json\njson.loads('{')", "import ipywidgets\nipywidgets.IntSlider(3)"]
    nb = new_notebook(cells=[new_code_cell(source) for source in cells])
    nb.cells[1].metadata.tags = ["raises-exception"]
    nbformat.write(nb, path)
    store(path)
    first = path.read_bytes()
    store(path)
    assert path.read_bytes() == first
    assert problems(nbformat.read(path, as_version=4)) == []
    # and the raw run would not have been fit: cleaning is what made it so
    assert problems(execute(nb, tmp_path)) != []
    assert problems(clean(nb)) == []


def test_only_code_cells_are_given_outputs():
    nb = clean(new_notebook(cells=[new_markdown_cell("a text"), new_code_cell("1")]))
    assert "outputs" not in nb.cells[0] and nb.cells[1].outputs == []
    cells = [cell for path in all_notebooks() for cell in nbformat.read(path, as_version=4).cells]
    assert not [cell.id for cell in cells if cell.cell_type == "markdown" and "outputs" in cell]
