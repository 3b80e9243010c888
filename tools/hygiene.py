"""What a notebook must be in order to be committed: readable without a kernel, the same on every machine, usable by everyone.

What lives here: `problems`, which lists in plain words what is wrong. What does not: repairing it (store.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from .store import KERNEL, WIDGET, svg_of

ABSOLUTE = re.compile(
    r"(?<![\w.:/<~-])(?:~|/(?:home|root|tmp|Users|private|var|usr|opt|work|mnt|srv|builds)|[A-Z]:\\)[/\\][\w.-]+"
)

NOT_DRAWN = re.compile(r"\b(?:cannot|can't|could not) (?:be )?(?:draw|drawn|shown)\b[^\n<]{0,60}|\btoo many to draw\b")
LINE = 122  # characters of code that a window of 1,400 pixels shows


def problems(nb: NotebookNode) -> list[str]:
    """Everything that is wrong with `nb`, one line each; an empty list for a good notebook."""
    return [*_of_the_file(nb), *_of_the_cells(nb)]


def _of_the_file(nb: NotebookNode) -> Iterator[str]:
    if nb.metadata.get("kernelspec") != KERNEL:
        yield f"the kernelspec is {nb.metadata.get('kernelspec')}, not {KERNEL}"
    if "widgets" in nb.metadata:
        yield "it holds widget state (metadata.widgets)"
    if "version" in nb.metadata.get("language_info", {}):
        yield "it names the Python version that it was run with (metadata.language_info)"
    ids = [cell.get("id", "") for cell in nb.cells]
    if len({*ids}) < len(ids) or not all(ids):
        yield "cell ids are missing or not unique"
    chapter = nb.cells and re.match(r"# \d+ · ", nb.cells[0].source)
    if chapter and not any(cell.cell_type == "code" for cell in nb.cells):
        yield "it is a chapter and has no code"


def _of_the_cells(nb: NotebookNode) -> Iterator[str]:
    count = 0
    for number, cell in enumerate(nb.cells):
        where = f"cell {number} ({cell.source.strip().splitlines()[0][:40] if cell.source.strip() else 'empty'})"
        if not cell.source.strip():
            yield f"{where}: it is empty"
        if cell.cell_type == "markdown":
            yield from (f"{where}: {problem}" for problem in _of_markdown(cell.source))
        if cell.cell_type != "code":
            continue
        count += 1
        if cell.execution_count != count:
            yield f"{where}: its execution count is {cell.execution_count}, not {count}"
        if (longest := max(map(len, cell.source.splitlines()), default=0)) > LINE:
            yield f"{where}: a line of {longest} characters runs past the cell's edge"
        if _silences(cell.source):
            yield f"{where}: it changes which warnings are shown from here on; write it below `with warnings.catch_warnings()`"
        yield from (f"{where}: {problem}" for problem in _of_outputs(cell))


def _silences(source: str) -> bool:
    """Does it choose which warnings are shown, other than within a `with` that undoes it?"""
    around: list[tuple[int, str]] = []
    for line in source.splitlines():
        deep = len(line) - len(line.lstrip())
        around = [(d, text) for d, text in around if d < deep] if line.strip() else around
        if re.search(r"\bwarnings\.(simplefilter|filterwarnings)\(", line) and not any(
            "catch_warnings(" in text for _, text in around
        ):
            return True
        around.append((deep, line))
    return False


def _of_markdown(source: str) -> Iterator[str]:
    for link in re.findall(r"\]\((\.\./[^)]*)\)", source):
        yield f"it links to {link}, which is not there when the notebooks are copied"
    for image in re.findall(r"!\[\s*\]\([^)]*\)", source):
        yield f"the picture {image} has no alternative text"
    for image in re.findall(r"<img\b[^>]*>", source):
        if not re.search(r"\balt\s*=\s*([\"'])\s*\S", image):
            yield f"the picture {image} has no alternative text"


def _of_outputs(cell: NotebookNode) -> Iterator[str]:
    expected = "raises-exception" in cell.metadata.get("tags", [])
    errors = [output for output in cell.outputs if output.output_type == "error"]
    if expected and not errors:
        yield "it is tagged raises-exception and stores no error"
    if errors and not expected:
        yield f"it stores an error: {errors[0].ename}: {errors[0].evalue}"
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr":
            yield f"it stores stderr: {output.text.strip()[:80]}"
        data = output.get("data", {})
        if WIDGET in data:
            yield "it stores a widget view, which shows an error where there is no kernel"
        if output.output_type in ("display_data", "execute_result") and not data.keys() - {WIDGET}:
            yield "it shows a widget that has neither picture nor text without a kernel"
        if (svg := svg_of(output)) and not re.search(r"<title[^>]*>\s*[^\s<]", svg):
            yield "it stores an SVG picture without a <title>"
        text = (
            json.dumps(output, ensure_ascii=False)
            if output.output_type != "error"
            else "\n".join([output.evalue, *output.traceback])
        )
        if told := NOT_DRAWN.search(text):
            yield f"it stores that something was not drawn: {told[0]}"
        for path in sorted({*ABSOLUTE.findall(re.sub(r"\x1b\[[0-9;]*m", "", text))}):
            yield f"it stores a path of one machine: {path}"
        for address in sorted({*re.findall(r"\bat 0x[0-9a-fA-F]{6,}", text)}):
            yield f"it stores a memory address: {address}"
