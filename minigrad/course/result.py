"""What a check shows: a small object with plain text and a little HTML, the same every time for the same answer.

What lives here: Result (a check's answer) and Note (hints, reveals, tables). What does not: judging, and IPython: a notebook finds
`_repr_html_` by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from .claims import Claim
from .judge import GLYPH, Line

STATES = {
    "passed": ("✓", "--jp-success-color1, #2e7d32"),
    "failed": ("✗", "--jp-warn-color1, #b26a00"),
    "untried": ("○", "--jp-info-color1, #1976d2"),
}


def _points(x: float) -> str:
    return f"{x:.2f}".rstrip("0").rstrip(".")


def _code_html(text: str) -> str:
    """Escaped text with `code` between backticks."""
    parts = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 and i < len(parts) - 1 else p for i, p in enumerate(parts))


# JupyterLab shows stored SVG pictures at full width, however narrow the column. Nearly every page has a check's stored output to say so.
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

    def _grouped(self) -> list[tuple[str, str, str]]:
        """(level, probes, sentence) per shown line. Neighbours with the same sentence share a line; so do silent ones in a long list."""
        shown: list[tuple[str, str, str]] = []
        for line in self.lines:
            if shown and shown[-1][0] == line.level and shown[-1][2] == line.say and (line.say or len(self.lines) > 9):
                shown[-1] = (line.level, f"{shown[-1][1]}; {line.probe}", line.say)
            else:
                shown.append((line.level, line.probe, line.say))
        return shown

    def __repr__(self) -> str:
        rows = [self._head()]
        rows += [f"  {GLYPH[level]} {probes}" + (f": {say}" if say else "") for level, probes, say in self._grouped()]
        rows += [f"  {note}" for note in self.notes]
        rows += [f"Hint: {hint}" for hint in self.hint.split("\n") if hint]
        rows += [self.footer] if self.footer else []
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li>{GLYPH[level]} {_code_html(probes)}" + (f": {_code_html(say)}" if say else "") + "</li>"
            for level, probes, say in self._grouped()
        )
        inner = f"<strong>{_code_html(self._head())}</strong>"
        inner += f'<ul style="list-style:none;padding-left:0.6em;margin:2px 0">{items}</ul>' if items else ""
        inner += "".join(f"<div>{_code_html(note)}</div>" for note in self.notes)
        inner += "".join(f"<div><strong>Hint:</strong> {_code_html(hint)}</div>" for hint in self.hint.split("\n") if hint)
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

    def __repr__(self) -> str:
        parts = [self.head]
        if self.rows:
            widths = [max(len(row[i]) for row in self.rows) for i in range(len(self.rows[0]))]
            parts += ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in self.rows]
        parts += [part for part in (self.code.rstrip(), self.body) if part]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        inner = f"<strong>{_code_html(self.head)}</strong>"
        if self.rows:
            head = "".join(f'<th scope="col" style="text-align:left">{escape(c)}</th>' for c in self.rows[0])
            body = "".join(
                "<tr>" + "".join(f'<td style="text-align:left">{escape(c)}</td>' for c in row) + "</tr>" for row in self.rows[1:]
            )
            inner += f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        inner += f"<pre>{escape(self.code.rstrip())}</pre>" if self.code else ""
        inner += "".join(f"<div>{_code_html(line)}</div>" for line in self.body.split("\n")) if self.body else ""
        return _box("untried", inner)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
