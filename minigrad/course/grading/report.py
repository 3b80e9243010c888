"""What comes out of grading: tables, files for Canvas and Moodle, a page for every student, and a page about the class.

What lives here: turning the journal's records into these files, the same bytes for the same records. What does not: grading, what the
instructor decides (roll.py), what is in the tables (tables.py), how the pages look (pages.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..exercises import exercises
from .explanations import explanations_page
from .files import replace
from .groups import groups_page
from .pages import feedback, summary
from .roll import join, read_marks
from .settings import Setting
from .tables import Class, canvas, counted, file_names, long, moodle, similar, to_csv, wide


def write_report(
    records: Sequence[Mapping[str, Any]],
    out: Path,
    setting: Setting,
    reveal: bool = False,
    only: Sequence[str] = (),
    name: str = "minigrad",
) -> list[str]:
    """Write everything into `out`. Returns what the instructor should know about marks.csv."""
    marks, unread = read_marks(out / "marks.csv")
    ids = [id for id in setting.ids if any(id in r["grades"] for r in records)]
    rows, parts, unknown = join(records, marks, sum(exercises[id].points for id in ids))
    used, flags = [exercises[id] for id in ids], similar(records, ids)
    full = Class(rows, used, counted(records, ids, only), parts, flags, [*unread, *unknown], setting, name)
    for file, table in (("long", long), ("wide", wide), ("canvas", canvas), ("moodle", moodle)):
        replace(out / f"{file}.csv", to_csv(table(full)))
    replace(out / "similar.csv", to_csv([("exercise", "student", "other student", "alike"), *full.flags]))
    names = file_names([row.student for row in rows])
    for row in rows:
        replace(out / "feedback" / f"{names[row.student]}.html", feedback(row, full, reveal))
    for old in (out / "feedback").glob("*.html"):
        if old.stem not in names.values():
            old.unlink()
    links = {s: f"feedback/{n}.html" for s, n in names.items()}
    replace(out / "groups.html", groups_page(full, links))
    replace(out / "explanations.html", explanations_page(full, links))
    replace(out / "summary.html", summary(full, links))
    return list(full.complaints)
