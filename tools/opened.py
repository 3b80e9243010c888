"""A second run of each chapter, with everything answered: solutions in place of stubs, a guess for every prediction, claims at its end.

What lives here: that run, and what its `%%predict` cells show, which is stored in opened/ and not in the notebook, where it would give the
answer away. `python -m tools.opened [notebook ...]` stores it (and so does tools.store). What does not: the tests of it
(test_solutions.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from minigrad.course import exercises

from .store import all_notebooks, execute

HERE = Path(__file__).parents[1] / "tests/notebooks"  # the claims, and what opened cells show


def chapter_of(path: Path) -> dict:
    """The exercises of a notebook: 05_build_the_engine.ipynb -> those of chapter 05."""
    number = path.stem[:2]
    return exercises.chapter(number) if number in exercises.chapters() else {}


def exercise_cells(nb: NotebookNode) -> dict[str, NotebookNode]:
    """The cells that learners fill in, by the id of their exercise."""
    found = [(cell.metadata.get("minigrad", {}).get("exercise"), cell) for cell in nb.cells if cell.cell_type == "code"]
    return {id: cell for id, cell in found if id}


def reveals(nb: NotebookNode, id: str = "") -> list[NotebookNode]:
    """The cells that begin with `%%predict`, of one exercise or of all."""
    first = [(cell, cell.source.split("\n", 1)[0].split()) for cell in nb.cells if cell.cell_type == "code"]
    return [cell for cell, words in first if words[:1] == ["%%predict"] and (not id or words[1:2] == [id])]


def claims(path: Path) -> str:
    """The file of a chapter that asserts what its sentences state and no cell shows; "" where there is none."""
    file = HERE / "claims" / f"{path.stem[:2]}.py"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def answered(path: Path, folder: Path, startup: str = "", instead: Sequence[tuple[str, str]] = ()) -> NotebookNode:
    """The notebook at `path`, run in `folder` with every answer and guess supplied, and its claims as one more cell.

    `startup` is a program that its kernel runs first. `instead` are pieces of its cells, and what to run in their place."""
    nb = nbformat.read(path, as_version=4)
    for old, new in instead:
        assert any(old in cell.source for cell in nb.cells), old
        for cell in nb.cells:
            cell.source = cell.source.replace(old, new)
    for id, cell in exercise_cells(nb).items():
        cell.source = exercises[id].solution
    if claims(path):
        nb.cells.append(nbformat.v4.new_code_cell(claims(path)))
    return execute(nb, folder, startup)


def text_of(cell: NotebookNode) -> str:
    """Everything that a cell shows, as text."""
    return "\n".join(
        o.get("text") or o.get("data", {}).get("text/plain", "") or o.get("evalue", "") for o in cell.outputs
    ).strip()


def shown(nb: NotebookNode) -> dict[str, list[str]]:
    """What each opened cell shows, as lines of text, by the cell's id."""
    return {cell.id: text_of(cell).splitlines() for cell in reveals(nb)}


def file_of(path: Path) -> Path:
    return HERE / "opened" / f"{path.stem}.json"


def stored(path: Path) -> dict[str, list[str]]:
    file = file_of(path)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def store_opened(path: Path, folder: Path) -> None:
    """Run the chapter with all answers and write what its opened cells show."""
    if not reveals(nbformat.read(path, as_version=4)):
        file_of(path).unlink(missing_ok=True)
        return
    file_of(path).parent.mkdir(exist_ok=True)
    text = json.dumps(shown(answered(path, folder)), ensure_ascii=False, indent=1)
    file_of(path).write_text(text + "\n", encoding="utf-8")


def main(paths: list[str]) -> None:
    import tempfile

    for path in [Path(p) for p in paths] or all_notebooks():
        with tempfile.TemporaryDirectory() as folder:
            store_opened(path, Path(folder))
        print(f"opened {path.name}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
