"""The tables: for spreadsheets, for Canvas and Moodle, and of programs that are alike.

What lives here: turning the rows of a class into cells that no spreadsheet runs. What does not: where the rows come from (roll.py), pages.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ..exercise import Exercise
from ..exercises import exercises
from .notebooks import line_prints, shingles
from .roll import RosterRow
from .settings import Setting

ALIKE = 0.9  # of the sampled pieces of two programs
FEWEST, SHARED = 4, 0.6  # unusual lines that two programs share, and their part of the shorter one's
LONGEST = 30_000  # characters in a cell: spreadsheets refuse more than 32,767
SOLUTION = "(the course's own solution)"


@dataclass(frozen=True)
class Class:
    """Everything that the tables and pages show."""

    rows: Sequence[RosterRow]
    used: Sequence[Exercise]  # of which anybody handed in a trace
    counted: frozenset[str]  # the exercises that make up the maximum
    parts: Mapping[str, float]  # what the instructor marks, with its maximum
    flags: Sequence[tuple[str, str, str, str]]
    complaints: Sequence[str]
    setting: Setting
    name: str = "minigrad"

    @property
    def top(self) -> float:
        full = sum(ex.counted_points for ex in self.used if ex.id in self.counted) + sum(self.parts.values())
        return int(full) if full == int(full) else full

    def measured(self, row: RosterRow) -> float | None:
        """What a student has of the maximum: the total without points that are on top of it."""
        if row.total is None or "all" in row.points:
            return row.total
        request = {ex.id for ex in self.used if ex.id in self.counted and ex.counted_points} | set(self.parts)
        return round(sum(points for what, points in row.points.items() if what in request), 4)


def counted(records: Sequence[Mapping[str, Any]], ids: Sequence[str], only: Sequence[str]) -> frozenset[str]:
    """The exercises that make up the maximum: those that were asked for, else of chapters that at least half of the class handed in.

    So one notebook of another chapter, handed in by mistake, does not raise the maximum of everybody. Points for it count all the same.
    """
    if only:
        return frozenset(ids)
    graded = [{id[:2] for id in r["grades"]} for r in records if r["grades"]]
    many = {chapter for chapter in {id[:2] for id in ids} if 2 * sum(chapter in g for g in graded) >= len(graded)}
    return frozenset(id for id in ids if id[:2] in many) or frozenset(ids)


# ---- tables ---------------------------------------------------------------------------------------------------------------------------

FORMULA = "=+-@\t\r\n|%＝＋－＠"


def safe(x: Any) -> Any:
    """A value that a spreadsheet will not run, whatever separates its columns: text like a formula gets an apostrophe in front."""
    if not isinstance(x, str):
        return x
    x = re.sub(r"([;\t]\s*)(?=[=+\-@|%＝＋－＠])", r"\1'", x)
    x = "'" + x if x.lstrip(" \u00a0\ufeff")[:1] in tuple(FORMULA) else x
    return x if len(x) <= LONGEST else x[: LONGEST - 1] + "…"


def to_csv(rows: Sequence[Sequence[Any]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC).writerows(
        [[safe(x) for x in row] for row in rows]
    )
    return file.getvalue()


def blank(x: float | None) -> float | str:
    return "" if x is None else x


def long(c: Class) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = [
        ("student", "exercise", "title", "points", "of", "score", "state", "mistake", "found by", "remark")
    ]
    for row in c.rows:
        for ex in c.used:
            g, remark = row.grades.get(ex.id), row.changed.get(ex.id, "")
            points = row.points.get(ex.id, 0.0)
            score = round(points / ex.points, 4)
            if g is None:
                state = "not found" if row.state == "graded" else row.state
                rows.append((row.student, ex.id, ex.title, points, ex.points, score, state, "", "", remark))
            else:
                rows.append(
                    (row.student, ex.id, ex.title, points, ex.points, score, g["ran"], g["mistake"], g["by"], remark)
                )
        rows += [
            (row.student, part, part, row.points.get(part, 0.0), of, "", row.state, "", "", "")
            for part, of in c.parts.items()
        ]
    return rows


def wide(c: Class) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = [("student", "total", "of", *(ex.id for ex in c.used), *c.parts, "state", "remarks")]
    for row in c.rows:
        points = [row.points.get(what, "") for what in (*(ex.id for ex in c.used), *c.parts)]
        rows.append((row.student, blank(row.total), c.top, *points, row.state, "; ".join(row.remarks)))
    return rows


def canvas(c: Class) -> list[Sequence[Any]]:
    """Canvas matches rows by its own ID, or by login where there is none. Unsettled grades are left empty, not zero."""
    rows: list[Sequence[Any]] = [("Student", "ID", "SIS User ID", "SIS Login ID", "Section", c.name)]
    rows.append(("    Points Possible", "", "", "", "", c.top))
    for row in c.rows:
        id, sis = row.lms.get("canvas", ""), row.lms.get("sis", "")
        login = row.lms.get("login", "") or ("" if id or sis or "anonymous" in row.lms else row.student)
        rows.append((row.lms.get("name", row.student), id, sis, login, row.lms.get("section", ""), blank(row.exported)))
    return rows


def moodle(c: Class) -> list[Sequence[Any]]:
    """Moodle's offline grading worksheet; without Moodle's ids the student's name is the username.

    Moodle skips a grade above the maximum, so points on top of it are only in the comment.
    """
    rows: list[Sequence[Any]] = [("Identifier", "Full name", "Username", "Grade", "Maximum Grade", "Feedback comments")]
    for row in c.rows:
        id = row.lms.get("moodle", "")
        id = f"Participant {id}" if id.isdigit() else id
        total = row.exported
        remark = "; ".join(row.remarks) or f"{blank(row.total)} of {c.top} points"
        if total is not None and total > c.top:
            remark += f" ({total:g} points, of which Moodle takes {c.top:g})"
            total = c.top
        login = row.lms.get("login", "") or ("" if id else row.student)
        rows.append((id, row.lms.get("name", row.student), login, blank(total), c.top, remark))
    return rows


def file_names(students: Sequence[str]) -> dict[str, str]:
    """A file name for each student: their name where that is harmless and unique, else with a piece of its hash."""
    plain = {s: re.sub(r"[^\w.-]+", "_", s).strip("._")[:80] for s in students}
    count = Counter(p.lower() for p in plain.values())
    return {
        s: p
        if p == s and count[p.lower()] == 1
        else f"{p or 'student'}-{hashlib.sha256(s.encode('utf-8', 'replace')).hexdigest()[:8]}"
        for s, p in plain.items()
    }


# ---- likeness ------------------------------------------------------------------------------------------------------------------------


def similar(records: Sequence[Mapping[str, Any]], ids: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """Pairs of students whose answers to an exercise are nearly the same program, as (exercise, student, other, similarity).

    Answers near the reference solution or a known mistake are left out, and so is a program that many share: it is the obvious one. An
    answer that is the reference solution itself, word for word, has a row of its own: it shows that the exercise was completed. Notebooks
    with the same cells and outputs are named whatever they contain.
    """
    flags = _same_files(records)
    many = max(3, len(records) // 10)
    for id in ids:
        ex = exercises[id]
        flags += [(id, r["student"], SOLUTION, "100 %") for r in records if r["grades"].get(id, {}).get("as_solution")]
        reference = [set(s) for s in (shingles(ex.solution), *(shingles(ex.source_of(w)) for w in ex.bank)) if s]
        groups: dict[tuple[int, ...], list[str]] = defaultdict(list)
        for r in records:
            if print_ := r["grades"].get(id, {}).get("shingles"):
                groups[tuple(print_)].append(r["student"])
        sets = {p: set(p) for p in groups if not any(_alike(set(p), k) >= ALIKE for k in reference)}
        pairs: dict[tuple[str, str], str] = {}
        for p in sets:
            if 2 <= len(groups[p]) <= many:
                pairs |= dict.fromkeys(combinations(sorted(groups[p]), 2), "100 %")
        for p, q in combinations(sets, 2):
            if len(groups[p]) <= many and len(groups[q]) <= many and (share := _alike(sets[p], sets[q])) >= ALIKE:
                pairs |= {(min(a, b), max(a, b)): f"{round(100 * share)} %" for a in groups[p] for b in groups[q]}
        pairs = _reworked(ex, records, many) | pairs
        flags += [(id, a, b, alike) for (a, b), alike in pairs.items()]
    return sorted(flags)


def _same_files(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Students who handed in one and the same notebook, each with the first of them by name."""
    owners: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for r in records:
        for content, name in r.get("files", {}).items():
            owners[content].append((r["student"], name))
    flags = []
    for group in owners.values():
        (first, name), *others = sorted(group)
        flags += [(name, first, other, "the same cells and outputs") for other, _ in others]
    return flags


def _reworked(ex: Exercise, records: Sequence[Mapping[str, Any]], many: int) -> dict[tuple[str, str], str]:
    """Pairs who share most of their unusual lines, in whichever order and with whichever names.

    A line is usual that many have, or that is in the stub, the solution or a known mistake.
    """
    if ex.is_value:
        return {}
    prints = {r["student"]: set(r["grades"].get(ex.id, {}).get("line_prints", ())) for r in records}
    count = Counter(line for lines in prints.values() for line in lines)
    usual = {line for line, n in count.items() if n > many}
    for source in (ex.stub, ex.solution, *ex.variants, *(ex.source_of(w) for w in ex.bank)):
        usual |= set(line_prints(source))
    unusual = {student: lines - usual for student, lines in prints.items() if len(lines - usual) >= FEWEST}
    results = {}
    for a, b in combinations(sorted(unusual), 2):
        both = len(unusual[a] & unusual[b])
        share = both / min(len(unusual[a]), len(unusual[b]))
        if both >= FEWEST and share >= SHARED:
            results[a, b] = f"{both} unusual lines, {round(100 * share)} %"
    return results


def _alike(a: set[int], b: set[int]) -> float:
    """An estimate of the share of pieces that two programs have in common, from the smallest hashes of each."""
    sample = sorted(a | b)[: max(len(a), len(b))]
    return sum(h in a and h in b for h in sample) / len(sample) if sample else 0.0
