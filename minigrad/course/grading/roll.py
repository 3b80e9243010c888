"""Who is in the class, and what the instructor has decided: the list of students, and marks.csv.

What lives here: reading both, joining them with the records of the journal, and the rows that all tables and pages are made of. A line
that cannot be understood is named and never stops the rest.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..exercises import exercises
from .submissions import Submission, printable

HEADER = ("student", "what", "points", "of", "remark")
# In place of a student: all who gave the same wrong answer to an exercise
GROUP = re.compile(r"group (\d\d\.[a-z]\d?)-([0-9a-f]{6})")
EXCUSED, ACCEPTED = "excused", "accepted"
IDENTITY = {"student": "name", "name": "name", "full name": "name", "student name": "name", "id": "canvas", "sis user id": "sis",
            "sis login id": "login", "login": "login", "username": "login", "user": "login", "identifier": "moodle", "email": "email",
            "email address": "email", "section": "section"}  # fmt: skip


@dataclass
class RosterRow:
    """A student in all tables: the points that count, by exercise and by part that the instructor has marked."""

    student: str
    state: str  # "graded", "ungraded", "missing" or "excused"
    lms: Mapping[str, str]
    grades: Mapping[str, Mapping[str, Any]]
    remarks: list[str]
    isolation: Mapping[str, bool] = field(default_factory=dict)
    points: dict[str, float] = field(default_factory=dict)
    # By exercise: what the instructor wrote beside a mark that replaces the grader's
    changed: dict[str, str] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)  # by exercise: a remark of the instructor's without a mark
    # Exercises and chapters on which the instructor has not decided; "*" for all of it
    unsure: set[str] = field(default_factory=set)
    less: bool = False  # the notebook's check gave more points to an answer than the grader
    explained: Mapping[str, str] = field(default_factory=dict)  # by chapter: the student's explanation, not graded

    @property
    def total(self) -> float | None:
        """None where no number is right: nothing was graded, or the student is excused."""
        if self.state == EXCUSED or (self.state != "graded" and not self.points):
            return None
        return round(sum(self.points.values()), 4)

    @property
    def exported(self) -> float | None:
        """The total for the gradebook: None as well where something could not be read or judged and the instructor has not decided."""
        return None if self.unsure else self.total


# ---- the list of students ---------------------------------------------------------------------------------------------------------------


def read_students(path: Path) -> list[dict[str, str]]:
    """The students of a class: Canvas' or Moodle's export, any table with a column of names, or a name in each line."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    first = text.split("\n", 1)[0]
    rows = list(csv.reader(io.StringIO(text), delimiter=";" if first.count(";") > first.count(",") else ","))
    columns = [IDENTITY.get(cell.strip().lower(), "") for cell in rows[0]] if rows else []
    if "name" not in columns and "login" not in columns:
        return [{"name": " ".join(line.split())} for line in text.splitlines() if line.strip()]
    results = []
    for row in rows[1:]:
        person = {kind: cell.strip() for kind, cell in zip(columns, row, strict=False) if kind and cell.strip()}
        who = person.get("name") or person.get("login", "")
        if who and "points possible" not in who.lower() and who != "Student, Test":
            results.append(person | {"name": who})
    return results


def keys(texts: Iterable[str]) -> set[str]:
    """Ways to write one name, made alike: composed accents (a Mac packs decomposed ones), without case, blanks and punctuation."""
    return {key for text in texts if (key := re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold())}


def order(name: str) -> tuple[str, str]:
    """Sorts names as people do: without case and accents."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return plain.casefold(), name


def call_the_roll(result: Sequence[Submission], students: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Give each submission the ids of its student in the list, name those that are not in it, and return records of the missing."""
    index: dict[str, set[int]] = {}
    for number, person in enumerate(students):
        for key in keys(text for kind, text in person.items() if kind != "section"):
            index.setdefault(key, set()).add(number)
    present = set()
    for submission in result:
        ids = [submission.lms[kind] for kind in ("canvas", "moodle") if kind in submission.lms]
        hits: set[int] = set()
        for group in (ids, [submission.student, submission.lms.get("name", "")]):  # an id counts more than a name
            hits = hits or {number for key in keys(group) for number in index.get(key, ())}
        if len(hits) == 1:
            number = hits.pop()
            present.add(number)
            submission.lms |= {kind: text for kind, text in students[number].items() if kind != "email"}
        else:
            submission.problems.append(
                "fits more than one line of the list of students" if hits else "not in the list of students"
            )
    return [
        {"student": printable(person["name"]), "fingerprint": "", "state": "missing", "problems": ["nothing was handed in"],
         "lms": {k: v for k, v in person.items() if k != "email"}, "isolation": {}, "grades": {}}
        for number, person in enumerate(students) if number not in present
    ]  # fmt: skip


# ---- the instructor's marks -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    student: str
    what: str  # an exercise, "all", or the name of a part
    points: float | str  # or EXCUSED, or ACCEPTED, or "" for a remark only
    of: float
    remark: str


def composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


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
        group = GROUP.fullmatch(line["student"])
        what = line.get("what", "") or (group[1] if group else "all")
        try:
            only_remark = not given and what in exercises and line.get("remark")
            points = (
                given.lower() if given.lower() in (EXCUSED, ACCEPTED) or only_remark else float(given.replace(",", "."))
            )
            most = float(of.replace(",", ".")) if of else 0.0
            if not (0 <= (0 if isinstance(points, str) else points) < 1e6 and 0 <= most < 1e6):
                raise ValueError
        except ValueError:
            sentence = f"{given or 'nothing'} is not a number of points, nor {EXCUSED} or {ACCEPTED}"
            complaints.append(f"{path.name}, line {table.line_num}: {sentence}")
            continue
        top = float(exercises[what].points) if what in exercises else most
        if not isinstance(points, str) and top and points > top:
            sentence = f"{points:g} is more than the {top:g} points of {what}, so it is not entered"
            complaints.append(f"{path.name}, line {table.line_num}: {sentence}")
            continue
        marks.append(Mark(line["student"].lstrip("'"), what, points, most, line.get("remark", "")))
    return marks, complaints


def _for_each(marks: Sequence[Mark], rows: Sequence[RosterRow]) -> list[Mark]:
    """The marks with those of a group as one for each of its students, before all others: a student's own mark counts more."""
    results = []
    for mark in marks:
        if (group := GROUP.fullmatch(mark.student)) is not None:
            them = [row.student for row in rows if row.grades.get(group[1], {}).get("behaviour") == group[2]]
            results += [replace(mark, student=student, what=group[1]) for student in them] or [mark]
    return [*results, *(mark for mark in marks if not GROUP.fullmatch(mark.student))]


def join(
    records: Sequence[Mapping[str, Any]], marks: Sequence[Mark], most: float
) -> tuple[list[RosterRow], dict[str, float], list[str]]:
    """The rows of the class, the parts that the instructor has marked with their maximum, and the marks that cannot be entered.

    `most` is the sum of the points of all exercises.
    """
    rows = [
        RosterRow(r["student"], r["state"], r["lms"], r["grades"], list(r["problems"]), r["isolation"],
            {id: grade["points"] for id, grade in r["grades"].items()}, unsure=set(r.get("unsure", ())), less=bool(r.get("less")),
            explained=r.get("explained", {}))
        for r in records
    ]  # fmt: skip
    by_name: dict[str, RosterRow] = {composed(row.student): row for row in rows}
    for row in rows:
        for other in (row.lms.get("login", ""), row.lms.get("name", "")):
            by_name.setdefault(composed(other), row)
    parts: dict[str, float] = {}
    complaints = []
    for mark in _for_each(marks, rows):
        row = by_name.get(composed(mark.student))  # type: ignore[assignment]
        if row is None:
            complaints.append(f"marks.csv: there is no student {mark.student}")
            continue
        sentence = f": {mark.remark}" if mark.remark else ""
        if mark.what == "all":
            full = most + sum(m.of for m in {m.what: m for m in marks if m.what not in exercises}.values())
            if not isinstance(mark.points, str) and mark.points > full:
                sentence = f"{mark.points:g} for {mark.student} is more than the {full:g} points of all"
                complaints.append(f"marks.csv: {sentence}, so it is not entered")
                continue
            row.unsure = set()
            if mark.points == EXCUSED:
                row.state = EXCUSED
                row.remarks.append(f"excused{sentence}")
            elif mark.points == ACCEPTED:
                row.remarks.append(f"{ACCEPTED} as it is graded, by the instructor{sentence}")
            elif not isinstance(mark.points, str):
                row.points = {"all": mark.points}
                row.state = "graded"
                row.remarks.append(f"{mark.points:g} points in all, by the instructor{sentence}")
            continue
        if mark.points == ACCEPTED:
            row.unsure -= {mark.what}
            continue
        if mark.points == "":
            row.comments[mark.what] = mark.remark
            continue
        if isinstance(mark.points, str):
            complaints.append(f"marks.csv: {mark.student} can be {EXCUSED} of all only, not of {mark.what}")
            continue
        row.points[mark.what] = mark.points
        row.unsure -= {mark.what}
        if mark.what in exercises:
            row.changed[mark.what] = mark.remark or "by the instructor"
        else:
            parts[mark.what] = max(parts.get(mark.what, 0.0), mark.of)
    for row in rows:
        if row.unsure and row.state == "graded":
            about = ", ".join(sorted("everything" if what == "*" else what for what in row.unsure))
            row.remarks.append(
                f"no total goes to Canvas or Moodle until marks.csv has a mark, or {ACCEPTED}, for {about}"
            )
    return rows, parts, complaints
