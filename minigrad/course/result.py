"""What a check shows: a small object with plain text and a little HTML, the same every time for the same answer.

What lives here: Result (a check's answer) and Note (hints, reveals, tables).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape

from .claims import Claim
from .judge import APPROX, EXACT, GLYPH, OFF, Line, by_idea

STATES = {
    "passed": ("✓", "--jp-success-color1, #2e7d32"),
    "failed": ("✗", "--jp-warn-color1, #b26a00"),
    "untried": ("○", "--jp-info-color1, #1976d2"),
}


FEW = 6  # probes that are listed one by one


def _line(line: Line) -> str:
    return f"{GLYPH[line.level]} {line.probe}" + (f": {line.say}" if line.say else "")


def _points(x: float) -> str:
    """To one decimal, never rounded up: only a full mark reads like one."""
    return f"{math.floor(10 * x + 1e-6) / 10:g}"


def _code_html(text: str) -> str:
    """Escaped text with `code` between backticks."""
    parts = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 and i < len(parts) - 1 else p for i, p in enumerate(parts))


# JupyterLab shows stored SVG pictures at full width, however narrow the column. Nearly every page has a stored output with this rule.
FIT = "<style>.jp-RenderedSVG img{max-width:100%;height:auto}</style>"


def _box(state: str, inner: str) -> str:
    style = f"border-left:4px solid var({STATES[state][1]});padding:2px 12px;margin:4px 0"
    return f'{FIT}<div class="mg-check" role="status" style="{style}">{inner}</div>'


@dataclass(frozen=True, repr=False)
class Result:
    """What `check` returns. True in an `if` when the exercise is passed."""

    id: str
    title: str
    state: str  # "passed", "failed" or "untried"
    score: float = 0.0  # between 0 and 1
    max_points: int = 0
    lines: tuple[Line, ...] = ()
    hint: str = ""
    mistake: str = ""
    first_wrong: dict[str, str] | None = None  # {"probe", "node", "say"}: where a graph view may point
    notes: tuple[str, ...] = ()
    say: str = ""
    footer: str = ""
    ideas: tuple[tuple[str, bool], ...] = ()  # each idea that earns points, and whether it is there
    next: str = ""  # a sentence about the part that is not written yet
    claim: Claim | None = None  # for the grader, in the metadata of the output

    @property
    def passed(self) -> bool:
        return self.state == "passed"

    @property
    def points(self) -> float:
        return self.score * self.max_points

    def __bool__(self) -> bool:
        return self.passed

    def _head(self) -> str:
        if self.state == "untried":
            return f"{STATES['untried'][0]} {self.id} {self.say}"
        of = f"{_points(self.points)} of {self.max_points} point{'' if self.max_points == 1 else 's'}"
        word = f" ({of})" if self.max_points else ""
        return f"{STATES[self.state][0]} {self.id} {self.title}: {'passed' if self.passed else 'not yet'}{word}"

    def _folded(self) -> tuple[list[Line], list[Line], str]:
        """(the probes to show, those to fold away, the words for these). Of a long list only the first that fails is shown."""
        if len(self.lines) <= FEW:
            return list(self.lines), [], ""
        works = [line for line in self.lines if line.level in (EXACT, APPROX)]
        if len(works) == len(self.lines):
            return [], works, f"{GLYPH[EXACT]} all {len(works)} probes"
        first = next((line for line in self.lines if line.level == OFF), self.lines[0])
        full = 10 * len(works) // len(self.lines)
        bar = "▰" * full + "▱" * (10 - full)
        return (
            [first],
            [line for line in self.lines if line is not first],
            f"{bar} {len(works)} of {len(self.lines)} work",
        )

    def _advice(self) -> list[tuple[str, str]]:
        """What helps, before what fails: ("Next" or "Hint", sentence)."""
        return [("Next", self.next)] * bool(self.next) + [("Hint", hint) for hint in self.hint.split("\n") if hint]

    def __repr__(self) -> str:
        visible, folded, words = self._folded()
        rows = [self._head()]
        rows += [f"  {by_idea(self.ideas)}"] if self.ideas and not self.passed else []
        rows += [f"{what}: {text}" for what, text in self._advice()]
        rows += [f"  {_line(line)}" for line in visible]
        rows += [f"  {words}"] if folded else []
        rows += [f"  {note}" for note in self.notes]
        rows += [self.footer] if self.footer else []
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        def listed(lines: list[Line]) -> str:
            items = "".join(f"<li>{_code_html(_line(line))}</li>" for line in lines)
            return f'<ul style="list-style:none;padding-left:0.6em;margin:2px 0">{items}</ul>' if items else ""

        visible, folded, words = self._folded()
        inner = f"<strong>{_code_html(self._head())}</strong>"
        inner += f"<div>{_code_html(by_idea(self.ideas))}</div>" if self.ideas and not self.passed else ""
        inner += "".join(f"<div><strong>{what}:</strong> {_code_html(text)}</div>" for what, text in self._advice())
        inner += listed(visible)
        inner += f"<details><summary>{escape(words)}</summary>{listed(folded)}</details>" if folded else ""
        inner += "".join(f"<div>{_code_html(note)}</div>" for note in self.notes)
        inner += f"<div>{_code_html(self.footer)}</div>" if self.footer else ""
        return _box(self.state, inner)

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict[str, str], dict]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}, self.claim.metadata if self.claim else {}


@dataclass(frozen=True, repr=False)
class Note:
    """A few sentences, a piece of code, or a small table."""

    head: str
    body: str = ""
    code: str = ""
    rows: tuple[tuple[str, ...], ...] = field(default=())  # the first row is the header
    folded: str = ""  # an answer that opens with a click

    def __repr__(self) -> str:
        parts = [self.head]
        if self.rows:
            widths = [max(len(row[i]) for row in self.rows) for i in range(len(self.rows[0]))]
            parts += [
                "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in self.rows
            ]
        parts += self._boxes_as_text()
        parts += [f"The answer, upside down: {self.folded[::-1]}"] if self.folded else []
        parts += [part for part in (self.code.rstrip(), self.body) if part]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        inner = f"<strong>{_code_html(self.head)}</strong>"
        if self.rows:
            head = "".join(f'<th scope="col" style="text-align:left">{escape(c)}</th>' for c in self.rows[0])
            body = "".join(
                "<tr>" + "".join(f'<td style="text-align:left">{escape(c)}</td>' for c in row) + "</tr>"
                for row in self.rows[1:]
            )
            inner += f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        inner += self._boxes()
        inner += f"<details><summary>The answer</summary>{_code_html(self.folded)}</details>" if self.folded else ""
        inner += f"<pre>{escape(self.code.rstrip())}</pre>" if self.code else ""
        inner += "".join(f"<div>{_code_html(line)}</div>" for line in self.body.split("\n")) if self.body else ""
        return _box("untried", inner)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _boxes(self) -> str:
        return ""

    def _boxes_as_text(self) -> list[str]:
        return []


@dataclass(frozen=True, repr=False)
class Comparison(Note):
    """A learner's explanation compared with others: a check box for each idea. widgets/ticks.py stores the boxes; nothing grades them."""

    ticks: tuple[str, ...] = ()
    ticked: tuple[int, ...] = ()  # the places of those that are ticked
    entry: str = ""  # of the progress file

    def _boxes(self) -> str:
        checked = [" checked" * (k in self.ticked) for k in range(len(self.ticks))]
        rows = zip(checked, self.ticks, strict=True)
        return "".join(f'<div><label><input type="checkbox"{on}> {_code_html(text)}</label></div>' for on, text in rows)

    def _boxes_as_text(self) -> list[str]:
        return [f"{'☑' if k in self.ticked else '☐'} {text}" for k, text in enumerate(self.ticks)]
