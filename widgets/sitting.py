"""The start of a sitting: what the kernel "Python 3 (minigrad)" does before the first cell that a learner runs.

It loads the extension, binds `check`, runs the imports of the notebook's first cell, binds the learner's own answers of this chapter, and
says in one line where they were. So any cell of a chapter can be the first one. The notebook is the one that Jupyter names to its kernels;
where it names none, only the extension and `check` are there. Other kernels load the plain extension (extension.py) by the first cell.
"""

from __future__ import annotations

import ast
import json
import re
from html import escape
from pathlib import Path
from typing import Any

from IPython.display import publish_display_data

from minigrad.course import check, exercises, own, progress
from minigrad.words import listed

from . import kernel

LOADED = "%load_ext minigrad"


def load_ipython_extension(shell: Any) -> None:
    """Load the extension now and the chapter before the first cell that is run."""
    kernel.load(shell)
    shell.user_ns.setdefault("check", check)
    Opening(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take the extension out again. What was bound stays bound."""
    kernel.unload(shell)


class Opening:
    """Runs once, before the first cell that the learner runs."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        shell.events.register("pre_run_cell", self.begin)

    def begin(self, info: Any) -> None:
        if not info.store_history or not info.raw_cell.strip():  # a front end's own question, such as a completion
            return
        self.shell.events.unregister("pre_run_cell", self.begin)
        path = own.this_notebook()
        source = first_cell(path) if path else ""
        if not source:
            return
        if LOADED not in info.raw_cell:
            run_imports(source, self.shell.user_ns)
        if line := welcome(path.name[:2], path.parent, self.shell.user_ns):  # type: ignore[union-attr]
            publish_display_data({"text/plain": line.replace("*", ""), "text/html": linked(line)})


def first_cell(path: Path) -> str:
    """The Python of the first code cell of a chapter, without its magics; "" if the file is none of the course's chapters."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        source = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return ""
    return re.sub(r"^%.*$", "", source, flags=re.M) if source.startswith(LOADED) else ""


def run_imports(source: str, names: dict[str, Any]) -> None:
    """Run the imports, and the assignments that call nothing. What fails here is left for the cell itself, which says why."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return
    for statement in body:
        calls = any(isinstance(node, ast.Call) for node in ast.walk(statement))
        if isinstance(statement, (ast.Import, ast.ImportFrom)) or (isinstance(statement, ast.Assign) and not calls):
            try:
                exec(compile(ast.Module([statement], []), "<first cell>", "exec"), names)
            except Exception:
                return


def welcome(chapter: str, folder: Path, names: dict[str, Any]) -> str:
    """Bind the answers that were kept, and say what has passed and, between asterisks, what is next; "" if nothing has passed."""
    if chapter not in exercises.chapters():
        return ""
    entries, _ = progress.load()
    graded = [ex for ex in exercises.chapter(chapter).values() if ex.graded]
    passed = [ex for ex in graded if entries.get(ex.id, {}).get("passed")]
    if not passed:
        return ""
    loaded = []
    for ex in passed:
        answer, _ = own.load(ex, folder)
        if answer is not None and ex.entry not in names:
            names[ex.entry] = answer
            loaded.append(ex.id)
    after = [ex for ex in graded if ex not in passed]
    parts = [f"{listed([ex.id for ex in passed])} {'has' if len(passed) == 1 else 'have'} passed"]
    if loaded:
        parts.append(f"{listed(loaded)} {'is' if len(loaded) == 1 else 'are'} loaded from {own.FILE}")
    parts.append(f"*{after[0].id}: {after[0].title}* is next" if after else "every exercise of this chapter is done")
    return f"Welcome back: {', '.join(parts)}."


def linked(line: str) -> str:
    """The line as HTML. What is between asterisks leads to the exercise, because JupyterLab gives each heading its text as id."""

    def link(match: re.Match[str]) -> str:
        anchor = f"Exercise {match[1]}".replace(" ", "-")
        return f'<a href="#{escape(anchor)}">{escape(match[1])}</a>'

    return f"<p>{re.sub(r'[*](.+?)[*]', link, line)}</p>"
