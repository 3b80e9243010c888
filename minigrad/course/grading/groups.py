"""groups.html: for each exercise the wrong answers, those together that do the same with the published inputs.

What lives here: the page. What does not: what an answer does (answers.py), and the marks and remarks for a group (roll.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from html import escape

from ..exercise import Exercise
from ..judge import GLYPH, OFF, SKIPPED
from .pages import code, many, number, page
from .roll import RosterRow
from .tables import Class


def groups_page(c: Class, links: Mapping[str, str]) -> str:
    """The page. Each group has a name, with which one line of marks.csv is for all of its students."""
    parts = [
        "<h1>Answers that do the same</h1>",
        "<p>Each group gave the same results for the inputs in the notebook. Copy its line into <code>marks.csv</code>: with a number of "
        "points it replaces the grader's for all of the group, without one the remark alone is added to their feedback. A line with a "
        'student\'s name counts more. Back to <a href="summary.html">the class</a>.</p>',
    ]
    for ex in c.used:
        groups = of_exercise(c, ex)
        if groups:
            right = sum(row.grades.get(ex.id, {}).get("score") == 1 for row in c.rows)
            parts.append(
                f"<h2>{ex.id} {escape(ex.title)}</h2><p class=soft>{many(right, 'answer')} with full points</p>"
            )
            parts += [_group(ex, name, rows, links) for name, rows in groups.items()]
    if len(parts) == 2:
        parts.append("<p>There is no answer without full points.</p>")
    return page(f"{c.name}: answers that do the same", "\n".join(parts))


def of_exercise(c: Class, ex: Exercise) -> dict[str, list[RosterRow]]:
    """The groups of an exercise by name, the largest first."""
    results: dict[str, list[RosterRow]] = defaultdict(list)
    for row in c.rows:
        if does := row.grades.get(ex.id, {}).get("behaviour"):
            results[f"{ex.id}-{does}"].append(row)
    return dict(sorted(results.items(), key=lambda item: (-len(item[1]), item[0])))


def _group(ex: Exercise, name: str, rows: list[RosterRow], links: Mapping[str, str]) -> str:
    grades = [row.grades[ex.id] for row in rows]
    earned = sorted({number(g["points"]) for g in grades})
    head = f"{many(len(rows), 'student')}<span>{' or '.join(earned)} of {many(ex.points, 'point')}</span>"
    failed = [(level, probe, say) for probe, level, say in grades[0]["lines"] if level in (OFF, SKIPPED)]
    remarks = "".join(
        f"<li>{GLYPH[level]} {code(probe)}{': ' + code(say) if say else ''}</li>" for level, probe, say in failed[:6]
    )
    more = f"<li>and {many(len(failed) - 6, 'more probe')}</li>" if len(failed) > 6 else ""
    stopped = f"<p>{code(grades[0]['ran'])}</p>" if grades[0]["ran"] != "ok" else ""
    mistake = f"<p>Recognised: {code(grades[0]['mistake'])}</p>" if grades[0]["mistake"] else ""
    people = ", ".join(
        f'<a href="{escape(links[row.student])}">{escape(row.student)}</a>' for row in rows if row.student in links
    )
    sources = sorted({g["source"].strip() for g in grades if g.get("source")}, key=lambda text: (len(text), text))
    source = (
        f"<details><summary>The shortest of their answers</summary><pre>{escape(sources[0])}</pre></details>"
        if sources
        else ""
    )
    line = f"<p>For marks.csv: <code>group {name},,,,your remark</code></p>"
    return f"<section><h2>{head}</h2>{mistake}{stopped}<ul class=remarks>{remarks}{more}</ul><p>{people}</p>{source}{line}</section>"
