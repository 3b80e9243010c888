"""`python -m minigrad.course FOLDER --update`: bring the newest edition into a folder with a learner's work.

A chapter that nobody changed is replaced. One that was changed gets the new edition with the learner's answers in it, found as the grader
finds them, and the old file is kept in `before-update/`. `RECORD`, a file in the folder, says which edition each copy was made from. It
holds a hash of the cells without their outputs, because running a chapter changes nothing that a learner wrote.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from ..words import listed, plural
from . import exercises
from .explain import QUESTIONS
from .grading.notebooks import find_answer, read_notebook
from .published import Chapter

RECORD = ".minigrad.json"
BEFORE = "before-update"
INSERTED = "a cell of the learner's"
RANDOM = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}"  # the id of a cell that a front end made


def edition(content: bytes) -> str:
    """A hash of what a notebook's cells say, without outputs and metadata; "" if it cannot be read."""
    try:
        cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(content)["cells"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:24]


def recorded(folder: Path) -> dict[str, str]:
    """The edition of each copy by the name of its file; {} without a record."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def write(path: Path, content: bytes) -> None:
    """Write a file so that it is either the old one or the whole new one."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def record(folder: Path, editions: dict[str, str]) -> None:
    """Add to the record of the folder."""
    write(folder / RECORD, json.dumps({**recorded(folder), **editions}, indent=1, sort_keys=True).encode())


def update(folder: Path, chapters: list[Chapter]) -> list[str]:
    """Bring each of `chapters` into the folder. Returns a line for each file that changed.

    Raises OSError where a file cannot be written; every file is then whole, and the same call goes on."""
    lines = []
    known = recorded(folder)
    for name, content in chapters:
        path, new = folder / name, edition(content)
        if not path.exists():
            write(path, content)
            lines.append(f"{name}: copied")
        elif known.get(name) == new:  # no new edition
            continue
        elif (old := edition(mine := path.read_bytes())) != new:
            if old == known.get(name):
                write(path, content)
                lines.append(f"{name}: the new edition (you had not changed it)")
            else:
                saved = _keep(path, mine)
                merged, carried = with_answers(content, mine)
                write(path, merged)
                ids = [id for id in carried if id in exercises]
                parts = [f"your answers to {listed(ids)}"] if ids else []
                parts += ["your explanation"] if any(id in QUESTIONS for id in carried) else []
                added = carried.count(INSERTED)
                parts += [f"the {plural(added, 'cell')} that you had inserted"] if added else []
                answers = f"with {listed(parts)}" if parts else "which has none of your answers"
                lines.append(f"{name}: the new edition, {answers}; your file is now {saved.relative_to(folder)}")
        record(folder, {name: new})
    return lines


def _keep(path: Path, content: bytes) -> Path:
    """Keep the old file in `before-update/`, under a free name."""
    folder = path.parent / BEFORE
    folder.mkdir(exist_ok=True)
    saved, number = folder / path.name, 2
    while os.path.lexists(saved):
        saved, number = folder / f"{path.stem}-{number}.ipynb", number + 1
    write(saved, content)
    return saved


def with_answers(content: bytes, mine: bytes) -> tuple[bytes, list[str]]:
    """The notebook `content` with the answers of the notebook `mine`, and the ids of their exercises. A prediction is an answer; a
    chapter's "Explain it" has the chapter's number, and a cell that the learner inserted is an INSERTED. What a cell showed when the
    learner ran it stays below it."""
    nb = json.loads(content)
    try:
        book, cells = read_notebook(mine), json.loads(mine)["cells"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return content, []
    tagged = {cell["metadata"].get("minigrad", {}).get("exercise") for cell in nb["cells"]}
    answers = {
        id: answer for id in tagged if id in exercises and (answer := find_answer(exercises[id], book)) and answer.tried
    }
    known = "\n".join(
        ["".join(cell["source"]) for cell in nb["cells"]] + [answer.source for answer in answers.values()]
    )
    carried, texts = [], []
    for cell in nb["cells"]:
        id = cell["metadata"].get("minigrad", {}).get("exercise")
        if (answer := answers.get(id)) is None:
            if cell["cell_type"] == "code" and (id := _with_words(cell, cells)):
                carried.append(id)
            continue
        helpers = [text.strip() for text in answer.helpers if text.strip() not in known]
        texts += [*helpers, answer.source]
        cell["source"] = "\n\n\n".join([*helpers, _as_written(answer.source, cells).strip()])
        carried.append(id)
    _bring_outputs(nb["cells"], cells)
    carried += [INSERTED] * _bring_inserted(nb["cells"], cells, "\n".join(texts))
    return (json.dumps(nb, ensure_ascii=False, indent=1) + "\n").encode(), carried


def _with_words(cell: dict[str, Any], cells: list[dict[str, Any]]) -> str:
    """Put the learner's prediction or explanation into a cell of the new edition. Returns its id; "" where there is none that fits."""
    source = "".join(cell["source"])
    if (new := _call(source)) is None:
        return ""
    for old in reversed(cells):
        text = "".join(old["source"])
        if old["cell_type"] != "code" or (call := _call(text)) is None or call[:2] != new[:2]:
            continue
        if _is_empty(call[2]) or _questions(call[2]) != _questions(new[2]):
            continue
        lines = [line.encode() for line in source.splitlines(keepends=True)]
        first, last = new[2].lineno - 1, (new[2].end_lineno or 0) - 1
        before, after = lines[first][: new[2].col_offset], lines[last][new[2].end_col_offset :]
        words = (ast.get_source_segment(text, call[2]) or "").encode()
        cell["source"] = b"".join([*lines[:first], before, words, after, *lines[last + 1 :]]).decode()
        return new[1]
    return ""


def _call(source: str) -> tuple[str, str, ast.expr] | None:
    """Of a cell that is `check.predict(id, guess)` or `check.explain(id, text)`: the method, the id, and the second argument."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return None
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    if not (isinstance(call, ast.Call) and len(call.args) == 2 and isinstance(call.args[0], ast.Constant)):
        return None
    method = ast.unparse(call.func)
    return (method, str(call.args[0].value), call.args[1]) if method in ("check.predict", "check.explain") else None


def _is_empty(answer: ast.expr) -> bool:
    if isinstance(answer, ast.Dict):
        return all(map(_is_empty, answer.values))
    return isinstance(answer, ast.Constant) and not str(answer.value or "").strip() and answer.value != 0


def _questions(answer: ast.expr) -> list[str] | None:
    return [ast.unparse(key) for key in answer.keys if key] if isinstance(answer, ast.Dict) else None


def _bring_outputs(new: list[dict[str, Any]], old: list[dict[str, Any]]) -> None:
    """Keep what a cell showed when the learner ran it, where the cell is unchanged: a verdict, or a picture of their own engine."""
    ran = {_key(cell): cell for cell in old if cell["cell_type"] == "code" and cell.get("execution_count")}
    for cell in new:
        if cell["cell_type"] == "code" and (before := ran.get(_key(cell))) is not None:
            cell["outputs"], cell["execution_count"] = before["outputs"], before["execution_count"]


def _key(cell: dict[str, Any]) -> str:
    """What a code cell does: of a prediction or an explanation the call, whatever comments are around it."""
    source = "".join(cell["source"]).strip()
    call = _call(source)
    return f"{call[0]} {call[1]} {ast.unparse(call[2])}" if call else source


def _bring_inserted(new: list[dict[str, Any]], old: list[dict[str, Any]], carried: str) -> int:
    """Put the cells that the learner inserted behind the cells that they stood behind. Returns how many. Jupyter gives a new cell a random
    id, and the course's cells have ids of their own. carried: the answers that have come along, which may have been in such a cell."""
    published = {cell["id"]: k for k, cell in enumerate(new)}
    random = any(
        re.fullmatch(RANDOM, id) for id in published
    )  # a chapter with such ids of its own: a long one is still a learner's
    behind, inserted = -1, []
    for cell in old:
        id, source = cell.get("id", ""), "".join(cell["source"]).strip()
        if id in published:
            behind = published[id]
        elif re.fullmatch(RANDOM, id) and (len(id) > 8 or not random) and source and source not in carried:
            inserted.append((behind, cell))
    for place, cell in reversed(inserted):
        new.insert(place + 1, cell)
    return len(inserted)


def _as_written(source: str, cells: list[dict[str, Any]]) -> str:
    """The text of the cell that was read as `source`: reading it made the lines harmless that only IPython understands."""
    for cell in reversed(cells):
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and text.strip().splitlines()[-1:] == source.strip().splitlines()[-1:]:
            read = read_notebook(json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]}).encode()).cells
            if read and read[0].source.strip() == source.strip():
                return text
    return source
