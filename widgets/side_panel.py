"""What the side panel of JupyterLab asks a kernel: the chapter's exercises and their state, a hint, a solution, the glossary.

The panel itself is JavaScript (front/src/panel). It evaluates the functions below in the notebook's kernel, silently, so its questions are
no cells. Everything that it shows can also be had by typing: check.progress(), check.hint(id), check.reveal(id), glossary.ipynb.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from minigrad.course import check, exercises, own, progress
from minigrad.course.published import chapters

from .chapters import CHAPTERS


class Answer:
    """A dictionary that reaches the panel as JSON."""

    def __init__(self, **content: Any) -> None:
        self.content = content

    def _repr_json_(self) -> dict[str, Any]:
        return self.content


def state() -> Answer:
    """Where the learner is: the exercises of this chapter, the next open one, and how much of each chapter has passed."""
    entries, _ = progress.load()

    def passed(id: str) -> bool:
        return bool(entries.get(id, {}).get("passed"))

    notebook = own.this_notebook()
    number = notebook.name[:2] if notebook else ""
    here = exercises.chapter(number) if number in exercises.chapters() else {}
    rows = [{"id": id, "title": ex.title, "passed": passed(id), "tried": bool(entries.get(id, {}).get("tries")),
             "graded": ex.graded} for id, ex in here.items()]  # fmt: skip
    table = []
    for chapter in CHAPTERS.values():
        ids = (
            list(exercises.chapter(f"{chapter.number:02d}")) if f"{chapter.number:02d}" in exercises.chapters() else []
        )
        table.append({"number": chapter.number, "title": chapter.title, "notebook": chapter.notebook, "minutes": chapter.minutes,
                      "passed": sum(map(passed, ids)), "of": len(ids)})  # fmt: skip
    following = next((row["id"] for row in rows if not row["passed"]), "")
    return Answer(chapter=number, exercises=rows, next=following, chapters=table)


def hint(id: str) -> Answer:
    """The next hint of an exercise, as check.hint gives it."""
    return Answer(html=check.hint(id)._repr_html_())


def reveal(id: str) -> Answer:
    """The solution of an exercise, as check.reveal gives it: after an honest try."""
    return Answer(html=check.reveal(id)._repr_html_())


@cache
def glossary() -> Answer:
    """The entries of the glossary by their word in small letters, as plain text; none where the course is not installed."""
    pages = [content for name, content in chapters() if name == "glossary.ipynb"]
    cells = json.loads(pages[0])["cells"] if pages else []
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    entries = re.findall(r"^### ([^\n]+)\n(.*?)(?=\n\n)", text, re.M | re.S)
    return Answer(words={word.lower(): {"word": word, "text": _plain(entry)} for word, entry in entries})


def _plain(markdown: str) -> str:
    """Markdown without its marks: links by their words, code and emphasis as they read."""
    return re.sub(r"[*`]", "", re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", markdown)).replace("\n", " ")
