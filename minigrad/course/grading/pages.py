"""The pages: one for each student, and one about the class. Static HTML with no script, readable in light and dark, on paper and aloud.

What lives here: how they look and what they say. What does not: the numbers (report.py, roll.py). No page for students shows an input or an
expected value until `reveal` allows it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from ..drivers import call
from ..exercise import Exercise, Probe
from ..judge import GLYPH, OFF, SKIPPED, wanted
from .answers import draw_inputs, in_short
from .replay import fresh_share
from .roll import RosterRow
from .tables import SOLUTION, Class

HOLDS = {
    "files": "Reading files other than Python's own, or writing outside its own empty folder",
    "rights": "Changing the rights, owner, time or attributes of a file",
    "links": "Making links",
    "network": "Using the network",
    "processes": "Starting processes",
    "signals": "Sending signals to other processes",
    "scheduling": "Changing the priority or the processors of other processes",
    "memory": "Using more memory than allowed",
    "disk": "Writing more than 16 MB, or very many files",
    "root": "Being root",
}
ELSE = {
    "root": "no: it ran as root",
    "memory": "no",
    "scheduling": "no",
    "disk": "by watching the folder, some 20 times a second",
}

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5d6b7e; --line: #dfe4ea; --paper: #fff; --panel: #f6f8fa; --blue: #1f6feb;
  --full: #2f9e60; --part: #e0a21b; --none: #d1495b; --idle: #c9d1da; --chip: #fff3cd; --chip-ink: #6b4e00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf2; --soft: #9aa7b8; --line: #313a46; --paper: #12161c; --panel: #1a2029;
  --blue: #79b0ff; --full: #3fb56f; --part: #d9a441; --none: #e06c75; --idle: #414c5a; --chip: #3d3312; --chip-ink: #f2d68a; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; color: var(--ink); background: var(--paper); max-width: 68rem;
  margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--blue); text-decoration: none; } a:hover, a:focus-visible { text-decoration: underline; }
.soft { color: var(--soft); } small { color: var(--soft); font-size: .85rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1.5rem 0; }
.tile { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: .75rem 1rem; }
.tile strong { display: block; white-space: nowrap; font-size: 1.35rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; font-size: .85rem; color: var(--soft); vertical-align: bottom; }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
td { vertical-align: top; overflow-wrap: anywhere; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; overflow-wrap: normal; }
td:has(> a) { min-width: 9rem; }
tbody tr:hover { background: var(--panel); }
.bar { display: flex; height: .8rem; min-width: 9rem; border-radius: 4px; overflow: hidden; background: var(--idle); margin-top: .4rem; }
.bar span { display: block; } .full { background: var(--full); } .part { background: var(--part); } .none { background: var(--none); }
.blue { background: var(--blue); } .thin { background: transparent; }
.cells { display: flex; gap: 3px; flex-wrap: wrap; }
.cell { width: 1.35rem; height: 1.35rem; border-radius: 4px; font-size: .75rem; line-height: 1.35rem; text-align: center; color: #fff; }
.cell.part { color: #241a00; } .cell.idle { background: transparent; border: 1px solid var(--idle); color: var(--soft);
  line-height: 1.25rem; }
.name { width: 1.35rem; writing-mode: vertical-rl; transform: rotate(180deg); font-size: .75rem; font-weight: 400; line-height: 1.35rem;
  text-align: left; }
.chip { display: inline-block; background: var(--chip); color: var(--chip-ink); border-radius: 99px; padding: 0 .6rem; font-size: .8rem;
  white-space: nowrap; }
.spread { display: flex; align-items: flex-end; gap: 4px; height: 9rem; margin-top: 1rem; }
.spread div { flex: 1; display: flex; flex-direction: column; justify-content: flex-end; height: 100%; text-align: center;
  font-size: .8rem; }
.spread div span { background: var(--blue); border-radius: 4px 4px 0 0; min-height: 1px; }
.axis { display: flex; gap: 4px; border-top: 1px solid var(--soft); font-size: .75rem; color: var(--soft); }
.axis div { flex: 1; text-align: center; }
.key { display: flex; gap: 1.25rem; flex-wrap: wrap; font-size: .85rem; color: var(--soft); margin: .5rem 0; }
.idle { background: var(--idle); }
.dot { display: inline-block; width: .8rem; height: .8rem; border-radius: 3px; margin-right: .4rem; vertical-align: -1px; }
.remarks { margin: 0; padding-left: 1.1rem; }
.probes td:first-child { width: 2rem; }
section { border: 1px solid var(--line); border-radius: 10px; padding: .25rem 1.25rem 1rem; margin: 1.25rem 0; }
section h2 { margin: 1rem 0 .25rem; display: flex; justify-content: space-between; gap: 1rem; align-items: baseline; }
section h2 span { white-space: nowrap; font-size: 1rem; color: var(--soft); font-weight: 400; font-variant-numeric: tabular-nums; }
code, pre { font: .875rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--panel); padding: 0 .25rem; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem; overflow-x: auto;
  margin: .5rem 0; }
summary { cursor: pointer; color: var(--blue); margin-top: .5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .75rem; margin: .25rem 0; font-size: .9rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.hint { border-left: 4px solid var(--part); background: var(--panel); padding: .5rem .9rem; border-radius: 0 8px 8px 0;
  margin-top: .75rem; }
@media (max-width: 40rem) { .wide, .wide table, .wide tbody, .wide tr, .wide td { display: block; min-width: 0; }
  .wide thead { display: none; }
  .wide tr { padding: .5rem 0; border-bottom: 1px solid var(--line); } .wide td { padding: .1rem 0; border: 0; text-align: left; }
  .wide td:empty { display: none; } .wide td[data-label]:not([data-label=""])::before { content: attr(data-label) ": "; color: var(--soft);
  font-size: .85rem; } .wide td:first-child { font-weight: 600; } .wide td:first-child::before { content: none !important; }
  .wide td .bar { min-width: 0; } .cells .cell { width: auto; padding: 0 .3rem; } .cells .cell::before { content: attr(data-id) " "; }
  .cells .cell:empty { display: none; }
  .tiles { grid-template-columns: 1fr 1fr; } .axis div { font-size: .6rem; } section { padding: .25rem .75rem .75rem; }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print { body { max-width: none; padding: 0; } section, tr { break-inside: avoid; } details > * { display: block; } }
"""


def page(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>{body}</body></html>\n"
    )


def code(text: str) -> str:
    parts = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 and i < len(parts) - 1 else p for i, p in enumerate(parts))


def number(x: float) -> str:
    return f"{x:.2f}".rstrip("0").rstrip(".")


def many(n: float, one: str, more: str = "") -> str:
    return f"{n} {one if n == 1 else more or one + 's'}"


def _table(head: str, rows: Iterable[Sequence[object]]) -> str:
    """A table of cells that are HTML already. `head` names the columns between bars; one that begins with # holds numbers.

    On a narrow screen each row is a block, and each cell that is not empty has its column's name in front.
    """
    columns = [(name.strip("#"), " class=n" if name.startswith("#") else "") for name in head.split("|")]
    labels = [" ".join(re.sub("<[^>]*>", " ", name if "<div" not in name else "").split()) for name, _ in columns]
    above = "".join(f"<th{kind}>{name}" for name, kind in columns)
    body = ""
    for row in rows:
        cells = zip(row, columns, labels, strict=True)
        body += (
            "<tr>"
            + "".join(f'<td{kind} data-label="{label}">{cell}</td>' for cell, (_, kind), label in cells)
            + "</tr>"
        )
    return f"<div class=wide><table><thead><tr>{above}</tr></thead><tbody>{body}</tbody></table></div>"


# ---- a student's page -----------------------------------------------------------------------------------------------------------------


def feedback(row: RosterRow, c: Class, reveal: bool = False) -> str:
    """Each exercise with the student's code, each probe's verdict and points, and the hint.

    With `reveal` the call, what the answer gave and what is right as well.
    """
    parts = [f"<h1>Feedback for {escape(row.student)}</h1>"]
    total = row.total
    if total is None:
        reason = (
            "You are excused."
            if row.state == "excused"
            else "<strong>Not graded.</strong> Nothing could be read. Please hand in the notebook again, or ask."
        )
        parts.append(f"<p>{reason}</p>")
    else:
        parts.append(f"<p><strong>{number(total)} of {c.top} points</strong></p>")
    if row.remarks:
        parts.append("<ul class=remarks>" + "".join(f"<li>{code(p)}</li>" for p in row.remarks) + "</ul>")
    for part, of in c.parts.items():
        if part in row.points:
            parts.append(
                f"<section><h2>{escape(part)}<span>{number(row.points[part])} of {number(of)} points</span></h2></section>"
            )
    handed_in = {id[:2] for id in row.grades}
    for ex in c.used:
        if ex.id in row.grades or (ex.id in c.counted and (ex.chapter in handed_in or row.state == "graded")):
            parts.append(_exercise(ex, row, c, reveal))
    parts.append(
        f"<p class=soft>{GLYPH['exact']} exact, {GLYPH['approx']} within the tolerance, {GLYPH[OFF]} off, {GLYPH[SKIPPED]} not run</p>"
    )
    return page(f"Feedback for {row.student}", "\n".join(parts))


def _exercise(ex: Exercise, row: RosterRow, c: Class, reveal: bool) -> str:
    g = row.grades.get(ex.id)
    points = number(row.points.get(ex.id, 0.0))
    parts = [f"<section><h2>{ex.id} {escape(ex.title)}<span>{points} of {many(ex.points, 'point')}</span></h2>"]
    if ex.id in row.changed:
        parts.append(f"<p>Marked by hand: {escape(row.changed[ex.id])}</p>")
    if ex.id in row.comments:
        parts.append(f"<p>From your instructor: {escape(row.comments[ex.id])}</p>")
    if g is None:
        return "".join((*parts, "<p>No answer was found.</p></section>"))
    if g["ran"] == "untried":
        return "".join((*parts, "<p>Not tried: the cell is as it was handed out.</p></section>"))
    if g["ran"] != "ok":
        parts.append(f"<p>{code(g['ran'])}</p>")
    inputs: Mapping[str, tuple] = draw_inputs(ex, c.setting.key, row.student, c.setting.round) if reveal else {}
    by_name = {probe.name: probe for probe in ex.probes}
    right = {name for name, level, _ in g["lines"] if level not in (OFF, SKIPPED)}
    worth = {probe.name: ex.points * part for _, part, (probe, *_) in ex.parts} if not ex.ideas else {}
    lines = []
    for (name, level, say), got in zip(g["lines"], g.get("got") or [""] * len(g["lines"]), strict=False):
        if (probe := by_name.get(name)) is None:
            continue
        of = _of(worth[name], name in right) if worth else ""
        text = _inside(ex, probe, inputs.get(name, probe.args), level, got) if reveal else ""
        lines.append(f"<tr><td>{GLYPH[level]}</td><td>{code(name)}{': ' + code(say) if say else ''}{text}</td>"
                     f"<td class=n>{of}</td></tr>")  # fmt: skip
    if lines and ex.ideas:
        rows = "".join(
            f"<tr><td>{GLYPH['exact' if earned else OFF]}</td><td>{code(idea)}</td><td class=n>{_of(ex.points * part, earned)}</td></tr>"
            for idea, part, earned in ex.earned(right)
        )
        parts.append(f"<table class=probes>{rows}</table>")
    table = f"<table class=probes>{''.join(lines)}</table>"
    if lines and all(level not in (OFF, SKIPPED) for _, level, _ in g["lines"]):
        parts.append(f"<details><summary>{many(len(lines), 'probe')}, all right</summary>{table}</details>")
    elif lines:
        parts.append(table)
    if not g["score"] and any(level not in (OFF, SKIPPED) for _, level, _ in g["lines"]) and ex.id not in row.changed:
        parts.append("<p>What this answer passes, the untouched cell passes too: that earns no points.</p>")
    parts += [f"<p>{code(note)}</p>" for note in g.get("notes", ())]
    if g["hint"]:
        hint = "<br>".join(map(code, g["hint"].split("\n")))
        parts.append(f'<p class="hint"><strong>Hint:</strong> {hint}</p>')
    if g.get("source"):
        parts.append(f"<details><summary>Your answer</summary><pre>{escape(g['source'].strip())}</pre></details>")
    return "".join((*parts, "</section>"))


def _of(worth: float, earned: bool) -> str:
    return f"{number(worth if earned else 0.0)} of {number(worth)}"


def _inside(ex: Exercise, probe: Probe, args: tuple, level: str, got: str) -> str:
    """Details of a probe for after the deadline: the call, the result, the expected result, and how to repeat it."""
    arguments = ", ".join(map(in_short, args))
    rows = []
    if not ex.is_value:
        rows.append(
            (
                "call" if probe.driver is call else "inputs",
                f"{ex.entry}({arguments})" if probe.driver is call else arguments or "none",
            )
        )
    if level in (OFF, SKIPPED):
        rows.append(("it gave", got or "nothing"))
        if right := _right(ex, probe, args):
            rows.append(("right", right))
        exact = ", ".join((f'"{ex.id}"', repr(probe.name), ex.entry, *map(repr, args)))
        if not ex.is_value and len(exact) < 400:
            rows.append(("see it", f"check.again({exact})"))
    return f"<dl>{''.join(f'<dt>{k}<dd><code>{escape(v)}</code>' for k, v in rows)}</dl>" if rows else ""


def _right(ex: Exercise, probe: Probe, args: tuple) -> str:
    if probe.raises:
        return " or ".join(probe.raises)
    if probe.accept is not None:
        return ""  # many results are right
    try:
        return in_short(wanted(ex, probe, args))
    except Exception:  # a definition's own fault must not cost anybody a page
        return ""


# ---- the page about the class ---------------------------------------------------------------------------------------------------------


def summary(c: Class, links: Mapping[str, str]) -> str:
    """The class on one page: who needs a look, how the points are spread, exercise by exercise, the commonest mistakes, everybody."""
    graded = [row for row in c.rows if row.state == "graded"]
    about = [
        f"{len(graded)} of {len(c.rows)} submissions graded",
        many(len(c.used), "exercise"),
        many(c.top, "point"),
        f"round {c.setting.round}",
    ]
    parts = [f"<h1>{escape(c.name)}: the class</h1><p class=soft>{escape(' · '.join(about))}</p>", _tiles(c, graded)]
    parts += [f"<p>{escape(text)}</p>" for text in c.complaints]
    if extra := sorted({ex.chapter for ex in c.used if ex.id not in c.counted}):
        parts.append(f"<p>Chapter {', '.join(extra)} was handed in by less than half of the class: it is not in the maximum of {c.top}. "
                     "Choose with <code>-e</code> what counts.</p>")  # fmt: skip
    if any(g.get("behaviour") for row in c.rows for g in row.grades.values()):
        parts.append('<p><a href="groups.html">Wrong answers that do the same</a> can be marked together.</p>')
    if any(row.explained for row in c.rows):
        parts.append('<p>What the class <a href="explanations.html">wrote in its own words</a>, to be read.</p>')
    parts += [
        _by_hand(c, links),
        _spread(c, graded),
        _exercises(c, graded),
        _mistakes(c),
        _people(c, links),
        _alike(c, links),
    ]
    parts.append(f"<h2>What the answers were refused</h2>{_isolation(c)}")
    return page(f"{c.name}: the class", "\n".join(p for p in parts if p))


def _link(student: str, links: Mapping[str, str]) -> str:
    return f'<a href="{escape(links[student])}">{escape(student)}</a>' if student in links else escape(student)


def _tiles(c: Class, graded: Sequence[RosterRow]) -> str:
    totals = sorted(t for row in c.rows if (t := c.measured(row)) is not None)
    tiles = []
    if totals:
        middle = (
            totals[len(totals) // 2]
            if len(totals) % 2
            else sum(totals[len(totals) // 2 - 1 : len(totals) // 2 + 1]) / 2
        )
        apart = ", optional points apart" if any(not ex.counted_points for ex in c.used) else ""
        tiles += [
            (number(middle), f"median of {c.top}{apart}"),
            (f"{number(totals[0])}–{number(totals[-1])}", "lowest to highest"),
        ]
    states = Counter(row.state for row in c.rows)
    tiles += [(str(len(graded)), "graded")]
    tiles += [
        (str(states[s]), words)
        for s, words in (("ungraded", "not graded"), ("missing", "missing"), ("excused", "excused"))
        if states[s]
    ]
    if look := sum(bool(row.remarks) for row in c.rows):
        tiles.append((str(look), "to look at by hand"))
    return (
        "<div class=tiles>"
        + "".join(f"<div class=tile><strong>{a}</strong><small>{b}</small></div>" for a, b in tiles)
        + "</div>"
    )


def _by_hand(c: Class, links: Mapping[str, str]) -> str:
    rows = []
    for row in sorted(c.rows, key=lambda row: not row.less):
        if row.remarks:
            chip = f"<span class=chip>{row.state}</span>" if row.state != "graded" else ""
            message = "".join(f"<li>{code(text)}</li>" for text in row.remarks)
            rows.append((_link(row.student, links), chip, f"<ul class=remarks>{message}</ul>"))
    return f"<h2>To look at by hand</h2>{_table('Student||What happened', rows)}" if rows else ""


def _spread(c: Class, graded: Sequence[RosterRow]) -> str:
    """How many students have how much of the maximum, in ten steps."""
    if not graded or not c.top:
        return ""
    bins = [0] * 10
    for row in graded:
        bins[max(0, min(9, int(10 * (c.measured(row) or 0.0) / c.top)))] += 1
    bars = "".join(f'<div>{n or ""}<span style="height:{100 * n / max(bins):.0f}%"></span></div>' for n in bins)
    axis = "".join(f"<div>{10 * k}–{10 * k + 10} %</div>" for k in range(10))
    message = ", ".join(f"{n} with {10 * k} to {10 * k + 10} %" for k, n in enumerate(bins) if n)
    return f'<h2>Points</h2><div class=spread role=img aria-label="{message}">{bars}</div><div class=axis aria-hidden=true>{axis}</div>'


def _exercises(c: Class, graded: Sequence[RosterRow]) -> str:
    rows = []
    for ex in c.used:
        tried = [
            row.points.get(ex.id, 0.0) / ex.points
            for row in graded
            if (g := row.grades.get(ex.id)) and g["ran"] != "untried"
        ]
        full, none = sum(s >= 1 for s in tried), sum(s <= 0 for s in tried)
        counts = (("full", full), ("part", len(tried) - full - none), ("none", none))
        idle = len(graded) - len(tried)
        bar = "".join(
            f'<span class={kind} style="width:{100 * n / max(1, len(graded)):.1f}%"></span>' for kind, n in counts
        )
        sentence = f"{full} full points, {counts[1][1]} part, {none} none, {idle} not tried or not found"
        mean = f"{100 * sum(tried) / len(tried):.0f} %" if tried else "–"
        same = sum(bool(row.grades.get(ex.id, {}).get("as_solution")) for row in graded)
        bar = f'<div class=bar role=img aria-label="{sentence}" title="{sentence}">{bar}</div>'
        rows.append((ex.id, escape(ex.title), bar, len(tried), mean, f"{100 * fresh_share(ex):.0f} %", same or ""))
    words = {"full": "full points", "part": "a part", "none": "none", "idle": "not tried or not found"}
    key = "".join(f"<span><span class='dot {kind}'></span>{text}</span>" for kind, text in words.items())
    head = "Exercise||Answers|#tried|#mean of<br>those|#points on<br>fresh inputs|#as in the<br>solution"
    return f"<h2>Exercises</h2><div class=key>{key}</div>{_table(head, rows)}"


def _mistakes(c: Class, most: int = 12) -> str:
    result = Counter(
        (ex.id, g["mistake"]) for row in c.rows for ex in c.used if (g := row.grades.get(ex.id)) and g["mistake"]
    )
    if not result:
        return ""
    tried = {ex.id: sum(g["ran"] != "untried" for row in c.rows if (g := row.grades.get(ex.id))) for ex in c.used}
    common = sorted(result.items(), key=lambda item: (-item[1], item[0]))

    rows = []
    for (id, name), n in common:
        bar = f'<div class="bar thin"><span class=blue style="width:{100 * n / (tried[id] or 1):.0f}%"></span></div>'
        rows.append((id, code(name), bar, f"{n} of {tried[id]}"))
    head = "Exercise|Mistake||#of those who tried"
    rest = (
        f"<details><summary>{many(len(rows) - most, 'more mistake')}</summary>{_table(head, rows[most:])}</details>"
        if rows[most:]
        else ""
    )
    return f"<h2>The commonest mistakes</h2>{_table(head, rows[:most])}{rest}"


def _people(c: Class, links: Mapping[str, str]) -> str:
    copies = Counter(student for _, student, other, _ in c.flags if other == SOLUTION)
    rows = []
    for row in c.rows:
        total = row.total
        cells = "".join(_cell(ex, row, c) for ex in c.used)
        bar = f'<div class="bar"><span class=blue style="width:{min(100.0, 100 * (total or 0) / (c.top or 1)):.1f}%"></span></div>'
        chips = (
            f"<span class=chip>{row.state}</span>"
            if row.state != "graded"
            else "<span class=chip>look</span>"
            if row.remarks
            else ""
        )
        parts = [number(row.points[part]) if part in row.points else "" for part in c.parts]
        points_cells = ("", "") if total is None else (number(total), bar)
        rows.append(
            (
                f"{_link(row.student, links)} {chips}",
                *points_cells,
                f"<div class=cells>{cells}</div>",
                *parts,
                copies[row.student] or "",
            )
        )
    heads = "".join(f"|#{escape(part.replace('|', '/'))}" for part in c.parts)
    names = "".join(f"<span class=name>{ex.id}</span>" for ex in c.used)
    squares = f"<div class=cells>{names}</div>"
    return f"<h2>Everybody</h2>{_table(f'Student|#of {c.top}||{squares}{heads}|#as in the<br>solution', rows)}"


def _cell(ex: Exercise, row: RosterRow, c: Class) -> str:
    g = row.grades.get(ex.id)
    name = f'data-id="{ex.id}"'
    if g is None and ex.id not in row.points and ex.id not in c.counted:
        return f"<span class=cell {name}></span>"  # it keeps the squares under their names
    by_hand = " by hand" if ex.id in row.changed else ""
    if ex.id not in row.points or (g is not None and g["ran"] == "untried" and not by_hand):
        return f'<span class="cell idle" {name} title="{ex.id} {"not tried" if g else "not found"}">·</span>'
    score = row.points[ex.id] / ex.points
    kind, sign = ("full", "✓") if score >= 1 else ("none", "✗") if score <= 0 else ("part", "◐")
    return f'<span class="cell {kind}" {name} title="{ex.id}: {number(row.points[ex.id])} of {ex.points}{by_hand}">{sign}</span>'


def _alike(c: Class, links: Mapping[str, str], most: int = 200) -> str:
    flags = [flag for flag in c.flags if flag[2] != SOLUTION]
    if not flags:
        return ""
    rows = [(id, _link(one, links), _link(other, links), alike) for id, one, other, alike in flags[:most]]
    return (
        "<h2>Alike</h2><p>These programs are nearly the same, or share most of their unusual lines, when names, comments and layout are "
        "ignored; or two notebooks have the same cells and outputs. That is a reason to look, and not a finding: short exercises have few "
        f"right answers.</p>{_table('Exercise|Student|Other student|#Alike', rows)}"
    )


def _isolation(c: Class) -> str:
    """What each submission's process was found not to be able to do. It was tried, in a process of the same kind, before the first one."""
    seen = [row.isolation for row in c.rows if row.isolation]
    if not seen:
        return "<p>Nothing was run.</p>"
    rows = []
    for name, words in HOLDS.items():
        held = sum(bool(i.get(name)) for i in seen)
        by = "by the operating system" if held == len(seen) else f"for {held} of {len(seen)} submissions"
        rows.append((words, by if held else ELSE.get(name, "only by the audit hook of Python")))
    inside = (
        "in containers, and there in limited processes"
        if c.setting.container
        else "in limited processes, without a container"
    )
    sentence = f"<p>Answers ran {inside}. Each of these was tried before the first answer:</p>"
    return sentence + _table("What|Refused", rows)
