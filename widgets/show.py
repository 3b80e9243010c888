"""Small cards of text: what the magics and the error panels show, as plain text and as HTML.

What lives here: `Panel` and its parts (lines, code, tables, chains, shapes). Plain text is the equal twin of the HTML: a terminal and a
test read the same facts. Equal cards give equal bytes: no id, no address, no time. Text is always escaped; a pair of backticks in it marks
code. Colours are JupyterLab's, then VS Code's, then the system's; nothing is said by colour alone.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

WIDTH = 100  # of plain text
TICK = "`"

STYLE = re.sub(r"/\*.*?\*/|\n", "", (Path(__file__).parent / "front/note.css").read_text(encoding="utf-8"), flags=re.S)

# Sorting by a click; the order is that of the numbers in data-v, else of the text. Where scripts are not trusted the table stays as it is.
SORT = (
    "var h=this.parentNode,t=h.closest('table'),b=t.tBodies[0],i=h.cellIndex,d=h.getAttribute('aria-sort')==='ascending'?-1:1,"
    "k=function(r){var c=r.cells[i];return c.dataset.v===undefined?c.textContent:+c.dataset.v};"
    "t.querySelectorAll('th[aria-sort]').forEach(function(x){x.setAttribute('aria-sort','none')});"
    "h.setAttribute('aria-sort',d>0?'ascending':'descending');"
    "Array.from(b.rows).map(function(r,n){return [k(r),n,r]}).sort(function(x,y){var p=x[0],q=y[0];"
    "return (typeof p!==typeof q?(typeof p==='number'?-1:1):d*(p<q?-1:p>q?1:0))||x[1]-y[1]}).forEach(function(x){b.appendChild(x[2])})"
)


def html(text: str) -> str:
    """Escaped text; what stands between backticks is code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 and i < len(parts) - 1 else part for i, part in enumerate(parts))


def wrapped(text: str, indent: str = "", first: str | None = None) -> str:
    """Plain text in lines of at most WIDTH; code stays on its line."""
    match = re.sub(r"`[^`]*`", lambda m: m[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(match, WIDTH, initial_indent=indent if first is None else first, subsequent_indent=indent, break_long_words=False,
                          break_on_hyphens=False)  # fmt: skip
    return "\n".join(lines).replace("\0", " ").replace("`", "")


class Line:
    """A paragraph."""

    def __init__(self, say: str, soft: bool = False):
        self.say, self.soft = say, soft

    def text(self) -> str:
        return wrapped(self.say)

    def html(self) -> str:
        return f"<p{' class=mg-soft' if self.soft else ''}>{html(self.say)}</p>"


class Code:
    """Lines of code, with one part of one line marked."""

    def __init__(self, code: str, span: tuple[int, int] | None = None, where: str = ""):
        self.code, self.span, self.where = code, span, where

    def text(self) -> str:
        out = [self.where + ":"] if self.where else []
        out += ["    " + line for line in self.code.splitlines()]
        if self.span and "\n" not in self.code:
            out.append("    " + " " * self.span[0] + "^" * (self.span[1] - self.span[0]))
        return "\n".join(out)

    def html(self) -> str:
        code = escape(self.code)
        if self.span:
            a, b = self.span
            code = f"{escape(self.code[:a])}<mark>{escape(self.code[a:b])}</mark>{escape(self.code[b:])}"
        where = f'<p class="mg-soft">{escape(self.where)}</p>' if self.where else ""
        return f"{where}<pre>{code}</pre>"


class Facts:
    """Labels and sentences: (label, sentence), (label, sentence, code to write), or (label, (text, address)) for a link."""

    def __init__(self, *facts: tuple):
        self.facts = [(label, say, code[0] if code else "") for label, say, *code in facts if say]

    def text(self) -> str:
        out = []
        for label, say, code in self.facts:
            out.append(wrapped(say if isinstance(say, str) else say[0], "  ", f"{label}: "))
            out += ["      " + line for line in code.splitlines()]
        return "\n".join(out)

    def html(self) -> str:
        out = []
        for label, say, code in self.facts:
            sentence = html(say) if isinstance(say, str) else f'<a href="{escape(say[1])}">{escape(say[0])}</a>'
            out.append(f"<dt>{escape(label)}</dt><dd>{sentence}{f'<pre>{escape(code)}</pre>' if code else ''}</dd>")
        return f"<dl>{''.join(out)}</dl>"


Cell = str | tuple[str, float]  # the text; or the text and the number to sort by


class Table:
    """A real table. A column whose cells are (text, number) is set right and sorts by its numbers. `bad`: cells (row, column) to mark."""

    def __init__(
        self,
        head: Sequence[str],
        rows: Sequence[Sequence[Any]],
        sortable: bool = False,
        caption: str = "",
        bad: Any = frozenset(),
        wide: str = "",
    ) -> None:
        self.head, self.rows, self.sortable, self.caption, self.bad, self.wide = (
            head,
            rows,
            sortable,
            caption,
            bad,
            wide,
        )

    def text(self) -> str:
        cells = [[c if isinstance(c, str) else c[0] for c in row] for row in self.rows]
        cells = [
            [c.replace("`", "") + (" ✗" if (i, j) in self.bad else "") for j, c in enumerate(row)]
            for i, row in enumerate(cells)
        ]
        widths = [max(len(row[j]) for row in [list(self.head), *cells]) for j in range(len(self.head))]
        right = [any(not isinstance(row[j], str) for row in self.rows) for j in range(len(self.head))]
        out = [self.caption] if self.caption else []
        for row in [list(self.head), *cells]:
            out.append(
                "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)).rstrip()
            )
        return "\n".join(out)

    def html(self) -> str:
        right = [any(not isinstance(row[j], str) for row in self.rows) for j in range(len(self.head))]
        head = "".join(self._head(name, right[j]) for j, name in enumerate(self.head))
        body = "".join(
            "<tr>" + "".join(self._cell(i, j, c, right[j]) for j, c in enumerate(row)) + "</tr>"
            for i, row in enumerate(self.rows)
        )
        caption = f'<p class="mg-soft">{escape(self.caption)}</p>' if self.caption else ""
        return (
            f'{caption}<div class="mg-scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        )

    def _head(self, name: str, right: bool) -> str:
        kind = ' class="mg-n"' if right else ""
        if not self.sortable:
            return f'<th scope="col"{kind}>{escape(name)}</th>'
        return f'<th scope="col"{kind} aria-sort="none"><button type="button" onclick="{escape(SORT)}">{escape(name)}</button></th>'

    def _cell(self, i: int, j: int, cell: Cell, right: bool) -> str:
        text, value = (cell, None) if isinstance(cell, str) else cell
        kinds = " ".join(["mg-n"] * right + ["mg-c"] * (self.head[j] == self.wide) + ["mg-bad"] * ((i, j) in self.bad))
        kinds = f' class="{kinds}"' if kinds else ""
        tag, scope = ("th", ' scope="row"') if j == 0 else ("td", "")
        by = f' data-v="{value!r}"' if value is not None and self.sortable else ""
        return f"<{tag}{scope}{kinds}{by}>{html(text)}</{tag}>"


class Link:
    """One place in a chain: a label, a remark below it, and a "
    "state: "" as it should be, "bad" (here it goes wrong), "off" (nothing arrives)."""

    def __init__(self, label: str, remark: str = "", state: str = ""):
        self.label, self.remark, self.state = label, remark, state


class Chain:
    """A small graph that has no branches: places in a row, arrows between them."""

    def __init__(self, *links: Link):
        self.links = links

    def text(self) -> str:
        glyph = {"": " ", "bad": "✂", "off": "·"}
        width = max(len(link.label) for link in self.links)
        return "\n".join(
            f"  {glyph[k.state]} {k.label:{width}}  {k.remark.replace(TICK, '')}".rstrip() for k in self.links
        )

    def html(self) -> str:
        items = []
        for k in self.links:
            kind = f' class="mg-{k.state}"' if k.state else ""
            remark = f"<small>{'✂ ' * (k.state == 'bad')}{html(k.remark)}</small>" if k.remark else ""
            items.append(f"<li{kind}><span><code>{escape(k.label)}</code>{remark}</span></li>")
        return f'<ol class="mg-chain">{"".join(items)}</ol>'


class Panel:
    """A panel with a title and parts. `warn` marks the explanation of an error."""

    def __init__(self, title: str, *parts: Any, warn: bool = False) -> None:
        self.title, self.parts, self.warn = title, [part for part in parts if part is not None], warn

    def __repr__(self) -> str:
        return "\n".join([wrapped(self.title), *(part.text() for part in self.parts)])

    def _repr_html_(self) -> str:
        kind, role = ("mg-note mg-warn", "note") if self.warn else ("mg-note", "group")
        body = "".join(part.html() for part in self.parts)
        return f'<style>{STYLE}</style><div class="{kind}" role="{role}"><p class="mg-h">{html(self.title)}</p>{body}</div>'
