"""The course runs where numba and pygraphviz do not exist, as in a browser: the numpy twins and the layout in plain Python say the same.

What lives here: some chapters, run in a kernel that finds neither. Pictures may differ (another layout); every text is the stored one.
"""

import os

import nbformat
import pytest
from nbclient import NotebookClient

from tools.store import NOTEBOOKS, WIDGET, clean_home

from ..thorough import part

HIDE = '''
"""Python imports this file when it starts: numba and pygraphviz are not found, as if they were not installed."""
from importlib.machinery import PathFinder
find = PathFinder.find_spec
def find_spec(name, path=None, target=None):
    return None if name.split(".")[0] in ("numba", "llvmlite", "pygraphviz") else find(name, path, target)
PathFinder.find_spec = staticmethod(find_spec)
'''
ASK = "import importlib.util as found; print(*[found.find_spec(name) for name in ('numba', 'pygraphviz')])"


def texts(cell):
    """What a cell shows as text."""
    return [
        output.get("text") or output.get("data", {}).get("text/plain") or output.get("evalue", "")
        for output in cell.outputs
        if list(output.get("data", {})) != [WIDGET]  # a live view, which has no text of its own
    ]


@pytest.mark.parametrize(
    "chapter", part(["01_three_ways", "05_build_the_engine", "09_tensors"], 0, always=["09_tensors"])
)
def test_a_chapter_without_numba_and_pygraphviz(chapter, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(HIDE)
    nb = nbformat.read(NOTEBOOKS / f"{chapter}.ipynb", as_version=4)
    stored = [texts(cell) for cell in nb.cells if cell.cell_type == "code"]
    # Times
    changing = ["nbval-ignore-output" in cell.metadata.get("tags", []) for cell in nb.cells if cell.cell_type == "code"]
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    nb.cells.append(nbformat.v4.new_code_cell(ASK))
    with clean_home():
        os.environ["PYTHONPATH"] = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
        NotebookClient(
            nb,
            kernel_name="python3",
            timeout=120,
            coalesce_streams=True,
            store_widget_state=False,
            resources={"metadata": {"path": str(NOTEBOOKS)}},
        ).execute()
    *shown, hidden = [texts(cell) for cell in nb.cells if cell.cell_type == "code"]
    assert hidden == ["None None\n"], "numba or pygraphviz was found, so this test shows nothing"
    for now, before, skipped in zip(shown, stored, changing, strict=True):
        assert skipped and len(now) == len(before) or now == before
