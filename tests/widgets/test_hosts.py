"""The extension where no browser is: run by nbclient, by nbconvert into HTML, by papermill, and in the kernel "Python 3 (minigrad)".

What lives here: one notebook of a learner's, and what each host must make of it. What does not: the magics' own tests (test_magics.py).
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

from widgets.stored import picture_of

ROOT = Path(__file__).parents[2]
CELLS = [
    "a = 3.0",
    "from minigrad import Value\nimport minigrad as torch\nx = Value(a)\ny = (3*x + 2)**2",
    "%graph y",
    "y.backward()\nx.grad",
    "%grads",
    "w = torch.ones(2, requires_grad=True)\nz = w.exp()\nz.add_(1)\nz.sum().backward()",
    "import asyncio\nawait asyncio.sleep(0)\n'still here'",
    "%memory y",
]
SENTENCE = "one of the variables needed for gradient computation has been modified by an inplace operation"


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """Jupyter finds the project's own kernelspec, installed or not."""
    shutil.copytree(ROOT / "widgets/kernelspec", tmp_path / "jupyter/kernels/minigrad")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))


def notebook(cells=CELLS, load="%load_ext minigrad"):
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in [load, *cells] if source])
    nb.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for cell in nb.cells:
        if "add_" in cell.source:
            cell.metadata.tags = ["raises-exception"]
        if cell.source == "a = 3.0":
            cell.metadata.tags = ["parameters"]
    return nb


def outputs(nb):
    """{a piece of the source: the outputs}, of all code cells."""
    return {cell.source: cell.outputs for cell in nb.cells if cell.cell_type == "code"}


def holds(nb, grad):
    got = outputs(nb)
    assert [o.output_type for cell in got.values() for o in cell].count("error") == 1
    assert not [o for cell in got.values() for o in cell if o.get("name") == "stderr"]
    graph = got["%graph y"][0].data
    assert "(3*x + 2)**2" in graph["text/plain"] and "<svg" in picture_of(graph["text/html"])
    assert got["y.backward()\nx.grad"][0].data["text/plain"] == grad
    table = got["%grads"][0].data["text/plain"]
    assert re.search(rf"\bx\b.* {float(grad):g} ", table), table
    error = next(o for o in got[CELLS[5]] if o.output_type == "error")
    assert error.ename == "RuntimeError" and error.evalue.startswith(SENTENCE)
    assert got[CELLS[6]][0].data["text/plain"] == "'still here'"
    assert got["%memory y"]


def test_nbclient():
    nb = notebook()
    nbclient.NotebookClient(nb, timeout=60).execute()
    holds(nb, "66.0")


def test_the_kernel_of_its_own_needs_no_line(kernels):
    nb = notebook(load="")
    nbclient.NotebookClient(nb, kernel_name="minigrad", timeout=60).execute()
    holds(nb, "66.0")


def test_nbconvert_makes_a_page_that_can_be_read_without_a_kernel(tmp_path):
    """Without the widgets' state; a page with it fetches the widgets' front end from the network when it is opened."""
    nbformat.write(notebook(), tmp_path / "it.ipynb")
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "nbconvert",
            "--to",
            "html",
            "--execute",
            "it.ipynb",
            "--ExecutePreprocessor.store_widget_state=False",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    page = (tmp_path / "it.html").read_text("utf-8")
    assert "data:image/svg+xml" in page and SENTENCE in page and "66.0" in page


def test_papermill_with_another_parameter(tmp_path):
    papermill = pytest.importorskip("papermill")
    nbformat.write(notebook(), tmp_path / "it.ipynb")
    # papermill stops at an error even where the cell announces one: the learner's own, PyTorch's sentence first
    with pytest.raises(papermill.PapermillExecutionError, match=SENTENCE):
        papermill.execute_notebook(
            str(tmp_path / "it.ipynb"), str(tmp_path / "out.ipynb"), {"a": 1.0}, progress_bar=False
        )
    got = outputs(nbformat.read(tmp_path / "out.ipynb", 4))
    assert got["y.backward()\nx.grad"][0].data["text/plain"] == "30.0"
