"""Who is in the class, and what the instructor has decided: the list of students, and marks.csv.

What lives here: reading both, joining them with the records of the journal, and the rows that all tables and pages are made of. What does
not: writing anything but the empty marks.csv of a first run. A line that cannot be understood is named and never stops the rest.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..exercises import exercises
from .submissions import Submission, printable

HEADER = ("student", "what", "points", "of", "remark")
EXCUSED = "excused"
IDENTITY = {"student": "name", "name": "name", "full name": "name", "student name": "name", "id": "canvas", "sis user id": "sis",
            "sis login id": "login", "login": "login", "username": "login", "user": "login", "identifier": "moodle", "email": "email",
            "email address": "email", "section": "section"}  # fmt: skip


@dataclass
class Row:
    """A student in all tables: the points that count, by exercise and by part that the instructor has marked."""

    student: str
    state: str  # "graded", "ungraded", "missing" or "excused"
    lms: Mapping[str, str]
    grades: Mapping[str, Mapping[str, Any]]
    remarks: list[str]
    isolation: Mapping[str, bool] = field(default_factory=dict)
    points: dict[str, float] = field(default_factory=dict)
    changed: dict[str, str] = field(default_factory=dict)  # by exercise: what the instructor wrote beside a mark that replaces the grader's

    @property
    def total(self) -> float | None:
        """None where no number is right: nothing was graded, or the student is excused."""
        if self.state == EXCUSED or (self.state != "graded" and not self.points):
            return None
        return round(sum(self.points.values()), 4)


# ---- the list of students ---------------------------------------------------------------------------------------------------------------


def read_students(path: Path) -> list[dict[str, str]]:
    """The students of a class: Canvas' or Moodle's export, any table with a column of names, or a name in each line."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    first = text.split("\n", 1)[0]
    rows = list(csv.reader(io.StringIO(text), delimiter=";" if first.count(";") > first.count(",") else ","))
    columns = [IDENTITY.get(cell.strip().lower(), "") for cell in rows[0]] if rows else []
    if "name" not in columns and "login" not in columns:
        return [{"name": " ".join(line.split())} for line in text.splitlines() if line.strip()]
    found = []
    for row in rows[1:]:
        person = {kind: cell.strip() for kind, cell in zip(columns, row, strict=False) if kind and cell.strip()}
        who = person.get("name") or person.get("login", "")
        if who and "points possible" not in who.lower() and who != "Student, Test":
            found.append(person | {"name": who})
    return found


def keys(texts: Iterable[str]) -> set[str]:
    """Ways to write one name, made alike: without case, blanks and punctuation."""
    return {key for text in texts if (key := re.sub(r"[\W_]+", "", text).casefold())}


def call_the_roll(found: Sequence[Submission], students: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Give each submission the ids of its student in the list, name those that are not in it, and return records of the missing."""
    index: dict[str, set[int]] = {}
    for number, person in enumerate(students):
        for key in keys(text for kind, text in person.items() if kind != "section"):
            index.setdefault(key, set()).add(number)
    there = set()
    for submission in found:
        ids = [submission.lms[kind] for kind in ("canvas", "moodle") if kind in submission.lms]
        hits: set[int] = set()
        for group in (ids, [submission.student, submission.lms.get("name", "")]):  # an id counts more than a name
            hits = hits or {number for key in keys(group) for number in index.get(key, ())}
        if len(hits) == 1:
            number = hits.pop()
            there.add(number)
            submission.lms |= {kind: text for kind, text in students[number].items() if kind != "email"}
        else:
            submission.problems.append("fits more than one line of the list of students" if hits else "not in the list of students")
    return [
        {"student": printable(person["name"]), "fingerprint": "", "state": "missing", "problems": ["nothing was handed in"],
         "lms": {k: v for k, v in person.items() if k != "email"}, "isolation": {}, "grades": {}}
        for number, person in enumerate(students) if number not in there
    ]  # fmt: skip


# ---- the instructor's marks -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    student: str
    what: str  # an exercise, "all", or the name of a part
    points: float | None  # None: excused
    of: float
    remark: str


def read_marks(path: Path) -> tuple[list[Mark], list[str]]:
    """The marks of the instructor and what could not be understood. The file is made, with its header only, when there is none."""
    if not path.exists():
        path.write_text(",".join(HEADER) + "\r\n", encoding="utf-8")
        return [], []
    marks, complaints = [], []
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    table = csv.DictReader(io.StringIO(text), delimiter=";" if text.split("\n", 1)[0].count(";") >= 2 else ",")
    for raw in table:
        line = {(k or "").strip().lower(): (v if isinstance(v, str) else "").strip() for k, v in raw.items()}
        if not line.get("student"):
            continue
        given, of = line.get("points", ""), line.get("of", "")
        try:
            points = None if given.lower() == EXCUSED else float(given.replace(",", "."))
            most = float(of.replace(",", ".")) if of else 0.0
            if not (0 <= (points or 0) < 1e6 and 0 <= most < 1e6):
                raise ValueError
        except ValueError:
            complaints.append(f"{path.name}, line {table.line_num}: {given or 'nothing'} is not a number of points, nor {EXCUSED}")
            continue
        marks.append(Mark(line["student"].lstrip("'"), line.get("what", "") or "all", points, most, line.get("remark", "")))
    return marks, complaints


def join(records: Sequence[Mapping[str, Any]], marks: Sequence[Mark]) -> tuple[list[Row], dict[str, float], list[str]]:
    """The rows of the class, the parts that the instructor has marked with their maximum, and the marks that fit nobody."""
    rows = [
        Row(r["student"], r["state"], r["lms"], r["grades"], list(r["problems"]), r["isolation"],
            {id: grade["points"] for id, grade in r["grades"].items()})
        for r in records
    ]  # fmt: skip
    by_name: dict[str, Row] = {row.student: row for row in rows}
    for row in rows:
        for other in (row.lms.get("login", ""), row.lms.get("name", "")):
            by_name.setdefault(other, row)
    parts: dict[str, float] = {}
    complaints = []
    for mark in marks:
        row = by_name.get(mark.student)  # type: ignore[assignment]
        if row is None:
            complaints.append(f"marks.csv: there is no student {mark.student}")
            continue
        said = f": {mark.remark}" if mark.remark else ""
        if mark.what == "all":
            if mark.points is None:
                row.state = EXCUSED
                row.remarks.append(f"excused{said}")
            else:
                row.points = {"all": mark.points}
                row.state = "graded"
                row.remarks.append(f"{mark.points:g} points in all, by the instructor{said}")
            continue
        if mark.points is None:
            complaints.append(f"marks.csv: {mark.student} can be {EXCUSED} of all only, not of {mark.what}")
            continue
        row.points[mark.what] = mark.points
        if mark.what in exercises:
            row.changed[mark.what] = mark.remark or "by the instructor"
        else:
            parts[mark.what] = max(parts.get(mark.what, 0.0), mark.of)
    return rows, parts, complaints
