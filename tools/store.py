"""Run notebooks and store their outputs: `make store`, or `python -m tools.store [notebook ...]`.

What lives here: executing a notebook in a fresh kernel, and cleaning what came out so that running it again writes the same bytes and a
reader without a kernel sees every picture. What does not: the judgement whether a stored notebook is fit to be committed (hygiene.py).
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from widgets.stored import WIDGET, picture_of

from . import alive

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


def all_notebooks() -> list[Path]:
    """The chapters, in the order of the course."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def svg_of(output) -> str:
    """The picture of an output as SVG: stored as such, or in the HTML of a view's still picture; "" if there is none."""
    data = output.get("data", {})
    return "".join(data.get("image/svg+xml", "")) or picture_of("".join(data.get("text/html", ""))) or ""


def execute(nb: NotebookNode, folder: Path = NOTEBOOKS, startup: str = "") -> NotebookNode:
    """Run every cell in a fresh kernel that works in `folder`. An error stops it, except in a cell tagged raises-exception.

    The kernel knows nothing of this user: neither the IPython profile nor the course's progress. It runs `startup` before all cells.
    """
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nb.metadata["kernelspec"] = KERNEL
    with clean_home(startup):
        NotebookClient(
            nb,
            kernel_name="python3",
            timeout=600,
            record_timing=False,
            coalesce_streams=True,
            store_widget_state=False,
            resources={"metadata": {"path": str(folder)}},
        ).execute()
    return nb


@contextlib.contextmanager
def clean_home(startup: str = ""):
    """While it lasts, kernels that are started use this checkout, an IPython profile with this program only, and no record of progress."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as home:
        first = Path(home) / "profile_default/startup/00-first.py"
        first.parent.mkdir(parents=True)
        first.write_text(startup, encoding="utf-8")
        path = os.pathsep.join(filter(None, [str(ROOT), before.get("PYTHONPATH")]))
        os.environ.update(PYTHONPATH=path, IPYTHONDIR=home, MINIGRAD_PROGRESS=str(Path(home) / "progress.json"))
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def clean(nb: NotebookNode) -> NotebookNode:
    """Drop everything that would differ on the next run or on another machine, and everything that needs a kernel to be seen."""
    nb.metadata = NotebookNode(
        {**nb.metadata, "kernelspec": KERNEL, "language_info": {"name": "python", "file_extension": ".py"}}
    )
    nb.metadata.pop("widgets", None)
    for cell in nb.cells:
        for key in ("execution", "collapsed", "scrolled", "trusted"):
            cell.metadata.pop(key, None)
        if cell.cell_type != "code":
            continue
        # A live view is a separate output below its still picture (widgets/stored.py).
        cell.outputs = [output for output in cell.get("outputs", []) if list(output.get("data", {})) != [WIDGET]]
        for output in cell.outputs:
            output.get("data", {}).pop(WIDGET, None)
            output.get("metadata", {}).pop(WIDGET, None)
            if output.output_type == "error":
                output.traceback = [without_paths(line) for line in output.traceback]
    return nb


def without_paths(text: str) -> str:
    """Shorten the paths of a traceback: of this checkout to what lies inside it, of Python and its packages to the file's name."""
    folder = re.escape(str(ROOT))
    with contextlib.suppress(ValueError):  # IPython writes ~ for the home folder
        folder += "|" + re.escape("~/" + ROOT.relative_to(Path.home()).as_posix())
    text = re.sub(rf"(?:{folder})[/\\]", "", text)
    begins = r"(^|[\s('\"=]|\x1b\[[\d;]*m)"  # not in the middle of minigrad/autograd/__init__.py
    return re.sub(
        begins + r"(?:~|[A-Za-z]:)?[/\\][^\s:'\"]*[/\\](?=[^\s/\\:'\"]+\.py\b)", r"\1", text, flags=re.MULTILINE
    )


def store(path: Path) -> None:
    """Run the notebook at `path` and write it back."""
    nb = clean(execute(nbformat.read(path, as_version=4), path.parent))
    if path.name in alive.NOTEBOOKS:
        alive.record(nb, execute)
    nbformat.write(nb, path)


def main(paths: list[str]) -> None:
    from .hygiene import problems
    from .opened import store_opened

    found = []
    for path in [Path(p) for p in paths] or all_notebooks():
        store(path)
        with tempfile.TemporaryDirectory() as folder:
            store_opened(path, Path(folder))
        found += [f"{path.name}: {problem}" for problem in problems(nbformat.read(path, as_version=4))]
        print(f"stored {path.name}", flush=True)
    if found:
        sys.exit("\n".join(["", "These would not pass the tests:", *found]))


if __name__ == "__main__":
    main(sys.argv[1:])
