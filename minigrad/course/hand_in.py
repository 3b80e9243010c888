"""`check.hand_in()`: what the grader will find in the saved notebook, and a zip file to hand in.

What lives here: reading the file by the grader's own reader, the table for the learner, the zip file with its manifest. What does not: how
an answer is found (grading/notebooks.py).
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from .claims import Claim, fingerprint
from .exercises import exercises
from .grading.notebooks import Answer, Book
from .grading.reader import read
from .own import this_notebook
from .result import Note

MANIFEST = "manifest.json"


def hand_in(name: str | Path | None, judged: Mapping[str, Claim]) -> Note:
    """Report which answers the grader finds in a saved notebook, and write NAME_hand_in.zip. judged: the verdicts in this kernel."""
    path = Path(name) if name is not None else this_notebook()
    if path is None or not path.is_file():
        notebooks = ", ".join(p.name for p in sorted(Path().glob("*.ipynb"))) or "none"
        what = f"There is no file {path}" if path is not None else "Jupyter does not say which notebook this is"
        return Note(
            "○ Nothing was written",
            f'{what}. Name it: check.hand_in("NAME.ipynb"). Notebooks in this folder: {notebooks}.',
        )
    ids = tuple(id for id, ex in exercises.items() if ex.graded)
    result = read({"path": str(path), "member": "", "name": path.name, "ids": ids})
    if not result.books or not result.books[0].answers:
        return Note(
            "✗ Nothing was written", "\n".join(result.problems) or f"The grader finds no answer in {path.name}."
        )
    book = result.books[0]
    rows = [("exercise", "found in", "by", "here")]
    rows += [
        (id, answer.where or "–", answer.by or "–", _state(id, answer, book, judged))
        for id, answer in book.answers.items()
    ]
    stale = [id for id, answer in book.answers.items() if _stale(id, answer, judged)]
    if stale:
        what = f"The saved file has another version of {', '.join(stale)} than the one that was checked."
        return Note(
            "✗ Nothing was written", f"{what} Save the notebook (Ctrl+S), then run this again.", rows=tuple(rows)
        )
    out = path.with_name(f"{path.stem}_hand_in.zip")
    try:
        _write(out, path, book)
    except OSError as error:
        why = error.strerror or type(error).__name__
        return Note("✗ Nothing was written", f"{out.name} could not be written ({why}).", rows=tuple(rows))
    doubts = [answer.doubt for answer in book.answers.values() if answer.doubt]
    saved = time.strftime("%H:%M", time.localtime(path.stat().st_mtime))
    body = [
        f"It holds the notebook as it was saved at {saved}. What you change later is not in it.",
        *doubts,
        *result.problems,
    ]
    return Note(f"✓ Hand in {out.name}", "\n".join(body), rows=tuple(rows))


def _stale(id: str, answer: Answer, judged: Mapping[str, Claim]) -> bool:
    claim = judged.get(id)
    return claim is not None and claim.program not in ("", fingerprint(answer.source))


def _state(id: str, answer: Answer, book: Book, judged: Mapping[str, Claim]) -> str:
    if not answer.tried:
        return "not tried"
    claim = judged.get(id) or book.claims.get(id)
    if answer.doubt and not answer.source:
        return "for a person to look at"
    if claim is None:
        return "not checked"
    if claim.program not in ("", fingerprint(answer.source)):
        return "changed since its check"
    return "✓ passed" if claim.score == 1 else f"✗ {claim.score:.0%} of the points"


def _write(out: Path, path: Path, book: Book) -> None:
    data = path.read_bytes()
    answers = {
        id: {"cell": a.where, "by": a.by, "tried": a.tried, "program": fingerprint(a.source)}
        for id, a in book.answers.items()
    }
    manifest = {"notebook": path.name, "sha256": hashlib.sha256(data).hexdigest(), "answers": answers}
    temporary = out.with_suffix(".tmp")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as z:
        z.write(path, path.name)
        z.writestr(MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False))
    os.replace(temporary, out)
