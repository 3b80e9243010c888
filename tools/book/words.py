"""The book's own text around the chapters: forms, buttons, links, the first page. The text of a chapter is in its notebook."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from minigrad.course import exercises
from widgets.chapters import CHAPTERS

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BINDER = re.search(r"^\[binder\]: (\S+?)00_start_here.ipynb$", README, re.M)[1]
LITE = re.search(r"^\[lite\]: (\S+)$", README, re.M)[1]
LAB = "http://localhost:8888/lab/tree/"  # where `make lab` shows the notebooks
# Code, formulas, links, HTML and headings: nothing in them becomes a link.
PLAIN = {"view", "rule", "module", "seed", "tangent"}  # words of the glossary that have other meanings as well
APART = re.compile(r"""```.*?``` | `[^`]*` | \$\$.*?\$\$ | \$[^$\n]+\$ | !?\[[^\]]*\]\([^)]*\) | ^<.*?(?:\n\n|\Z) | <[^>]+> | ^\#+[^\n]*
                       | https?:\S+""", re.S | re.M | re.X)  # fmt: skip


def anchor(exercise: str) -> str:
    return exercise.replace(".", "-")


def form(exercise: str, fields: list[str], button: str, remark: str = "") -> str:
    """The form that opens what waits for an exercise."""
    asked = "".join(f'<label>{escape(field)} <input autocomplete="off"></label> ' for field in fields)
    name = anchor(exercise)
    return f'<form class="mg-guess" id="guess-{name}" data-for="{name}">{asked}<button class="mg-button">{button}</button> {remark}</form>'


def waits(exercise: str) -> str:
    name, what = anchor(exercise), f"your prediction of {exercise}" if not exercises[exercise].graded else exercise
    return f'<p class="mg-exercise" data-waits="{name}">What this cell shows opens with <a href="#guess-{name}">{what}</a>.</p>'


def invitation(exercise: str, notebook: str) -> str:
    """Where an exercise can be done."""
    return (f'<p class="mg-exercise">Exercise {exercise} answers in the notebook: '
            f'<a class="mg-button" href="{BINDER}{notebook}">do it on Binder</a> '
            f'<a class="mg-button" href="{LAB}{notebook}">in your JupyterLab</a> (started with <code>make lab</code>).</p>')  # fmt: skip


def limits(about: dict[str, Any]) -> str:
    """What a lesson can do in the notebook and not on the page."""
    if "lesson" not in about:
        return ""
    if not about["key"]:
        return '<p class="mg-partly">This lesson needs Python, so you see its stored picture. In the notebook it moves.</p>'
    if about.get("cut"):
        return f'<p class="mg-partly">This page holds the first {about["states"]:,} positions of it. The notebook has them all.</p>'
    if about.get("thin"):
        return (
            '<p class="mg-partly">Here the sliders stop at some of their places. In the notebook they stop at all.</p>'
        )
    return ""


def without_verdict(output: NotebookNode) -> NotebookNode | None:
    """An output of a %%predict cell without the praise for the guess that the run supplied. None if nothing is left."""
    if output.output_type == "stream":
        output.text = re.sub(r"^\w+: yours, from this notebook\.\n", "", output.text)
        return output if output.text.strip() else None
    data = output.get("data", {})
    if not data.get("text/plain", "").startswith("✓ "):
        return output
    for kind in {"text/plain", "text/html"} & {*data}:
        data[kind] = re.sub(r"✓ ([^✓]*?): you predicted .*?, (the run gave|it is) ", r"\1: \2 ", data[kind], flags=re.S)
        praise = r"(?:<div>)?They agree\.(?:</div>)?|<strong>✓ [^<]*(?:predictions agree|passed)</strong>|✓ .*(?:agree|passed)"
        data[kind] = re.sub(praise, "", data[kind])
    return output if data["text/plain"].strip() else None


def banner(notebook: str) -> str:
    """The note below a chapter's title: the chapter's text addresses readers who run its cells."""
    return (f'<p class="mg-partly">On this page everything has run already, and the pictures move. Run it yourself: '
            f'<a href="{BINDER}{notebook}">on Binder</a>, <a href="{LAB}{notebook}">in your JupyterLab</a>.</p>')  # fmt: skip


def links(text: str, pages: set[str]) -> str:
    """Links as the book has them: anchors in small letters, and no link to files that are not in it."""
    text = hrefs(text, pages)
    text = re.sub(r"\]\(((?:\w+\.ipynb)?#)([^)]+)\)", lambda m: f"]({m[1]}{m[2].lower()})", text)
    text = re.sub(r"\[([^\]]+)\]\((\w+)\.ipynb[^)]*\)", lambda m: m[0] if m[2] in pages else m[1], text)
    return re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"\1", text)


def hrefs(html: str, pages: set[str]) -> str:
    """The same for links that are written as HTML."""
    page = lambda m: f'<a href="{m[1]}.html{m[2]}>{m[3]}</a>' if m[1] in pages else m[3]  # noqa: E731
    return re.sub(r'<a href="(\w+)\.ipynb([^>]*)>(.*?)</a>', page, html)


def under_title(text: str) -> str:
    """A page has one title: others become headings."""
    parts = re.split(r"(```.*?```)", text, flags=re.S)
    return "".join(part if part.startswith("```") else re.sub(r"^# ", "## ", part, flags=re.M) for part in parts)


class Terms:
    """Links from the first place where a page uses a word of the glossary."""

    def __init__(self, page: str, pages: set[str]):
        text = "\n".join(cell.source for cell in nbformat.read(ROOT / "notebooks/glossary.ipynb", as_version=4).cells)
        names = {*re.findall(r"^### (.+)$", text, re.M)} - PLAIN if page != "glossary" and "glossary" in pages else ()
        self.left = {name.lower(): name for name in names}

    def link(self, text: str) -> str:
        out, at = [], 0
        for apart in [*APART.finditer(text), None]:
            out.append(self._prose(text[at : apart.start() if apart else len(text)]))
            if apart:
                out.append(apart[0])
                at = apart.end()
        return "".join(out)

    def _prose(self, text: str) -> str:
        if not self.left:
            return text
        names = "|".join(map(re.escape, sorted(self.left, key=len, reverse=True)))

        def one(match: re.Match) -> str:
            name = self.left.pop(match[0].lower(), "")
            return f"[{match[0]}](glossary.ipynb#{name.lower().replace(' ', '-')})" if name else match[0]

        return re.sub(rf"(?<![\w.-])(?:{names})(?![\w-])", one, text, flags=re.I)


def index(paths: list[Path]) -> str:
    """The first page: the chapters with their minutes and what one can do afterwards, as docs/course.md has it."""
    can = dict(
        re.findall(
            r"/notebooks/(\w+)\.ipynb\) \| (.+?) \|$", (ROOT / "docs/course.md").read_text(encoding="utf-8"), re.M
        )
    )
    minutes = {Path(c.notebook).stem: f"{c.minutes}&nbsp;min" for c in CHAPTERS.values()}
    rows = "\n".join(
        f"| [{title_of(p)}]({p.name}) | {minutes.get(p.stem, '')} | {can.get(p.stem, '')} |" for p in paths
    )
    names = "\n".join(f"{title_of(p)} <{p.stem}>" for p in paths)
    text = (HERE / "index.md").read_text(encoding="utf-8")
    return text.replace("%ROWS%", rows).replace("%NAMES%", names).replace("%BINDER%", BINDER).replace("%LITE%", LITE)


def title_of(path: Path) -> str:
    first = next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    return re.search(r"^# (.+)$", first, re.M)[1]
