"""What comes out of grading: tables, files for Canvas and Moodle, a page for every student, and a page about the class.

What lives here: turning the journal's records into files, the same bytes for the same records. What does not: grading. No page for students
shows an input or an expected value until `reveal` says so.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .exercise import Exercise
from .exercises import exercises
from .judge import GLYPH
from .submissions import shingles
from .worker import draw_inputs

if TYPE_CHECKING:
    from .grade import Setting

ALIKE = 0.9  # of the sampled pieces of two programs
HOLDS = {
    "files": "files other than Python's own, and writing outside its own empty folder",
    "rights": "changing the rights, owner, time or attributes of a file",
    "links": "making links",
    "network": "the network",
    "processes": "starting processes",
    "signals": "signals to other processes",
    "scheduling": "the priority and processors of other processes",
    "memory": "more memory than allowed",
    "disk": "many files, or more of them than 16 MB",
    "root": "being root",
}
STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: left; padding: .3rem .8rem; border-bottom: 1px solid var(--line); }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
section { border-top: 1px solid var(--line); margin-top: 1.5rem; }
ul { list-style: none; padding-left: .5rem; }
code { background: var(--soft); padding: 0 .2rem; }
figure { margin: 1rem 0; overflow-x: auto; }
figure svg { background: white; border-radius: 6px; max-width: 100%; height: auto; }
.hint { border-left: 4px solid #b26a00; padding-left: .8rem; }
"""


def write_report(records: Sequence[Mapping[str, Any]], out: Path, setting: Setting, reveal: bool = False) -> None:
    """Write everything into `out`. Exercises of which nobody handed in a trace are left out of the tables."""
    from .grade import replace

    ids = [id for id in setting.ids if any(id in r["grades"] for r in records)]
    used = [exercises[id] for id in ids]
    flags = similar(records, ids)
    replace(out / "long.csv", _csv(_long(records, used)))
    replace(out / "wide.csv", _csv(_wide(records, used)))
    replace(out / "canvas.csv", _csv(_canvas(records, used)))
    replace(out / "moodle.csv", _csv(_moodle(records, used)))
    replace(out / "similar.csv", _csv([("exercise", "student", "other student", "alike"), *flags]))
    names = file_names([r["student"] for r in records])
    for record in records:
        replace(out / "feedback" / f"{names[record['student']]}.html", feedback(record, used, setting if reveal else None))
    for old in (out / "feedback").glob("*.html"):
        if old.stem not in names.values():
            old.unlink()
    replace(out / "summary.html", summary(records, used, flags, setting))


def total(record: Mapping[str, Any]) -> float:
    return round(sum(g["points"] for g in record["grades"].values()), 4)


# ---- tables ---------------------------------------------------------------------------------------------------------------------------


def safe(x: Any) -> Any:
    """A value that a spreadsheet will not run: text that begins like a formula gets an apostrophe in front."""
    if isinstance(x, str) and x.lstrip(" \u00a0\ufeff")[:1] in ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠"):
        return "'" + x
    return x


def _csv(rows: Sequence[Sequence[Any]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\r\n").writerows([[safe(x) for x in row] for row in rows])
    return file.getvalue()


def _long(records: Sequence[Mapping[str, Any]], used: Sequence[Exercise]) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = [("student", "exercise", "title", "points", "of", "score", "state", "mistake", "found by")]
    for r in records:
        for ex in used:
            g = r["grades"].get(ex.id)
            if g is None:
                state = "not found" if r["state"] == "graded" else r["state"]
                rows.append((r["student"], ex.id, ex.title, 0.0, ex.points, 0.0, state, "", ""))
            else:
                rows.append((r["student"], ex.id, ex.title, g["points"], ex.points, round(g["score"], 4), g["ran"], g["mistake"], g["by"]))
    return rows


def _wide(records: Sequence[Mapping[str, Any]], used: Sequence[Exercise]) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = [("student", "total", "of", *(ex.id for ex in used), "state", "remarks")]
    for r in records:
        points = [r["grades"][ex.id]["points"] if ex.id in r["grades"] else "" for ex in used]
        whole = total(r) if r["state"] == "graded" else ""
        rows.append((r["student"], whole, sum(ex.points for ex in used), *points, r["state"], "; ".join(r["problems"])))
    return rows


def _canvas(records: Sequence[Mapping[str, Any]], used: Sequence[Exercise]) -> list[Sequence[Any]]:
    """Canvas matches rows by its own ID, or by login where there is none. An ungraded submission is left empty, not zero."""
    rows: list[Sequence[Any]] = [("Student", "ID", "SIS User ID", "SIS Login ID", "Section", "minigrad")]
    rows.append(("    Points Possible", "", "", "", "", sum(ex.points for ex in used)))
    for r in records:
        id = r["lms"].get("canvas", "")
        login = "" if id else r["student"]
        rows.append((r["lms"].get("name", r["student"]), id, "", login, "", total(r) if r["state"] == "graded" else ""))
    return rows


def _moodle(records: Sequence[Mapping[str, Any]], used: Sequence[Exercise]) -> list[Sequence[Any]]:
    """Moodle's offline grading worksheet; without Moodle's ids the student's name stands as username."""
    top = sum(ex.points for ex in used)
    rows: list[Sequence[Any]] = [("Identifier", "Full name", "Username", "Grade", "Maximum Grade", "Feedback comments")]
    for r in records:
        id = r["lms"].get("moodle", "")
        remark = "; ".join(r["problems"]) or f"{total(r):g} of {top} points"
        grade = total(r) if r["state"] == "graded" else ""
        rows.append((f"Participant {id}" if id else "", r["lms"].get("name", r["student"]), "" if id else r["student"], grade, top, remark))
    return rows


def file_names(students: Sequence[str]) -> dict[str, str]:
    """A file name for each student: their name where that is harmless and unique, else with a piece of its hash."""
    plain = {s: re.sub(r"[^\w.-]+", "_", s).strip("._")[:80] for s in students}
    count = Counter(p.lower() for p in plain.values())
    return {
        s: p if p == s and count[p.lower()] == 1 else f"{p or 'student'}-{hashlib.sha256(s.encode('utf-8', 'replace')).hexdigest()[:8]}"
        for s, p in plain.items()
    }


# ---- pages ------------------------------------------------------------------------------------------------------------------------------


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n{body}</body></html>\n"
    )


def _code(text: str) -> str:
    parts = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 and i < len(parts) - 1 else p for i, p in enumerate(parts))


def feedback(record: Mapping[str, Any], used: Sequence[Exercise], reveal: Setting | None = None) -> str:
    """A student's page: each probe's verdict and the hint. With `reveal` (the setting) the inputs that were drawn as well."""
    parts = [f"<p>{escape(p)}</p>" for p in record["problems"]]
    if record["state"] == "graded":
        parts.append(f"<p><strong>{total(record):g} of {sum(ex.points for ex in used)} points</strong></p>")
    else:
        parts.append("<p><strong>Not graded.</strong> Nothing could be read; please hand in the notebook again or ask.</p>")
    for ex in used:
        g = record["grades"].get(ex.id)
        parts.append(f"<section><h2>{ex.id} {escape(ex.title)}</h2>")
        if g is None:
            parts.append("<p>No answer was found.</p></section>")
            continue
        parts.append(f"<p>{g['points']:g} of {ex.points} points{'; not tried' if g['ran'] == 'untried' else ''}</p>")
        if g["ran"] not in ("ok", "untried"):
            parts.append(f"<p>{escape(g['ran'])}</p>")
        inputs = draw_inputs(ex, reveal.key, record["student"], reveal.round) if reveal else {}
        items = []
        for (probe, level, say), definition in zip(g["lines"], ex.probes, strict=False):
            given = escape(repr(inputs.get(probe, definition.args))[:400])
            shown = f"<br>inputs: <code>{given}</code>" if reveal and not ex.is_value else ""
            items.append(f"<li>{GLYPH[level]} {_code(probe)}{': ' + _code(say) if say else ''}{shown}</li>")
        parts.append(f"<ul>{''.join(items)}</ul>" if items else "")
        parts.append(f'<p class="hint"><strong>Hint:</strong> {_code(g["hint"])}</p>' if g["hint"] else "")
        parts.append("</section>")
    parts.append("<p>✓ exact, ≈ within the tolerance, ✗ off, ○ not run</p>")
    return _page(f"Feedback for {record['student']}", "\n".join(p for p in parts if p))


def summary(records: Sequence[Mapping[str, Any]], used: Sequence[Exercise], flags: Sequence[Sequence[Any]], setting: Setting) -> str:
    """The class on one page: the spread of points, which mistake how many made, what was not graded, what really was refused."""
    graded = [r for r in records if r["state"] == "graded"]
    top = sum(ex.points for ex in used)
    counts = f"{len(graded)} of {len(records)} submissions graded, {len(used)} exercises, {top} points"
    parts = [f"<p>{counts}, round {escape(setting.round)}.</p>"]
    if graded:
        totals = sorted(total(r) for r in graded)
        middle = totals[len(totals) // 2]
        parts.append(f"<p>Points: lowest {totals[0]:g}, middle {middle:g}, highest {totals[-1]:g}.</p>")
    mistakes: dict[tuple[str, str], int] = Counter(
        (ex.id, g["mistake"]) for r in records for ex in used if (g := r["grades"].get(ex.id)) and g["mistake"]
    )
    common = sorted(mistakes.items(), key=lambda item: (-item[1], item[0]))
    if common:
        parts += ["<h2>Which mistake how many made</h2>", f"<figure>{_chart(common[:20])}</figure>"]
        rows = "".join(f"<tr><td>{id}</td><td>{escape(name)}</td><td class=n>{n}</td></tr>" for (id, name), n in common)
        parts.append(f"<details><summary>As a table</summary><table><tr><th>exercise<th>mistake<th>students</tr>{rows}</table></details>")
    parts.append("<h2>Exercises</h2><table><tr><th>exercise<th>title<th>full points<th>part<th>none<th>not tried or not found</tr>")
    for ex in used:
        scores = [r["grades"].get(ex.id) for r in graded]
        tried = [g["score"] for g in scores if g and g["ran"] != "untried"]
        full, none = sum(s >= 1 for s in tried), sum(s <= 0 for s in tried)
        cells = "".join(f"<td class=n>{n}</td>" for n in (full, len(tried) - full - none, none, len(graded) - len(tried)))
        parts.append(f"<tr><td>{ex.id}</td><td>{escape(ex.title)}</td>{cells}</tr>")
    parts.append("</table>")
    odd = [r for r in records if r["problems"]]
    if odd:
        parts.append("<h2>To look at by hand</h2><table><tr><th>student<th>state<th>what happened</tr>")
        parts += [f"<tr><td>{escape(r['student'])}</td><td>{r['state']}</td><td>{escape('; '.join(r['problems']))}</td></tr>" for r in odd]
        parts.append("</table>")
    if flags:
        parts.append("<h2>Alike</h2><p>These programs are nearly the same when names, comments and layout are ignored. That is a reason to")
        parts.append("look, not a finding: short exercises have few right answers.</p>")
        parts.append("<table><tr><th>exercise<th>student<th>other student<th>alike</tr>")
        parts += [f"<tr><td>{a}</td><td>{escape(b)}</td><td>{escape(c)}</td><td class=n>{d}</td></tr>" for a, b, c, d in flags[:200]]
        parts.append("</table>")
    parts += ["<h2>What was really refused</h2>", _isolation(graded, bool(setting.container))]
    return _page("Summary of the class", "\n".join(parts))


def _isolation(graded: Sequence[Mapping[str, Any]], container: bool) -> str:
    """What each submission's process was found not to be able to do. It was tried, in a process of the same kind, before the first one."""
    seen = [r["isolation"] for r in graded if r["isolation"]]
    if not seen:
        return "<p>Nothing was run.</p>"
    rows = []
    for name, words in HOLDS.items():
        held = sum(bool(i.get(name)) for i in seen)
        by = "by the operating system" if held == len(seen) else f"for {held} of {len(seen)} submissions"
        if not held:
            by = {"root": "no: it ran as root", "memory": "no", "scheduling": "no", "disk": "only by looking, some 20 times a second"}.get(
                name, "only by Python's audit hook"
            )
        rows.append(f"<tr><td>{words}</td><td>{by}</td></tr>")
    inside = "in containers, and there in limited processes" if container else "in limited processes, without a container"
    return f"<p>Answers ran {inside}. Tried beforehand, and refused:</p><table><tr><th>what<th>refused</tr>{''.join(rows)}</table>"


def _chart(common: Sequence[tuple[tuple[str, str], int]]) -> str:
    """A bar for each mistake, as SVG text that is the same every time."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    def clip(text: str) -> str:
        return text if len(text) <= 44 else text[:43] + "…"

    with matplotlib.rc_context({"svg.hashsalt": "minigrad", "svg.fonttype": "none", "font.size": 10, "text.parse_math": False}):
        figure = Figure(figsize=(9, 0.32 * len(common) + 0.9), layout="constrained")
        axes = figure.add_subplot()
        labels = [f"{id}  {clip(name)}" for (id, name), _ in common][::-1]
        counts = [n for _, n in common][::-1]
        axes.barh(range(len(labels)), counts, color="#1b6fb3")
        axes.set_yticks(range(len(labels)), labels)
        axes.bar_label(axes.containers[0], padding=3)  # type: ignore[arg-type]
        axes.set_xlabel("students")
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.margins(x=0.08, y=0.01)
        file = io.StringIO()
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None, "Creator": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    return svg.replace("<svg ", '<svg role="img" aria-label="How many students made each mistake" ', 1)


# ---- likeness ------------------------------------------------------------------------------------------------------------------------


def similar(records: Sequence[Mapping[str, Any]], ids: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """Pairs of students whose answers to an exercise are nearly the same program, as (exercise, student, other, per cent).

    Answers near the reference solution or a known mistake are left out, and so is a program that many share: it is the obvious one.
    """
    flags = []
    for id in ids:
        ex = exercises[id]
        known = [set(s) for s in (shingles(ex.solution), *(shingles(ex.source_of(w)) for w in ex.bank)) if s]
        groups: dict[tuple[int, ...], list[str]] = defaultdict(list)
        for r in records:
            if print_ := r["grades"].get(id, {}).get("shingles"):
                groups[tuple(print_)].append(r["student"])
        sets = {p: set(p) for p in groups if not any(_alike(set(p), k) >= ALIKE for k in known)}
        many = max(3, len(records) // 10)
        for p in sets:
            if 2 <= len(groups[p]) <= many:
                flags += [(id, a, b, "100 %") for a, b in combinations(groups[p], 2)]
        for p, q in combinations(sets, 2):
            if len(groups[p]) <= many and len(groups[q]) <= many and (share := _alike(sets[p], sets[q])) >= ALIKE:
                flags += [(id, a, b, f"{round(100 * share)} %") for a in groups[p] for b in groups[q]]
    return sorted(flags)


def _alike(a: set[int], b: set[int]) -> float:
    """An estimate of the share of pieces that two programs have in common, from the smallest hashes of each."""
    sample = sorted(a | b)[: max(len(a), len(b))]
    return sum(h in a and h in b for h in sample) / len(sample) if sample else 0.0
