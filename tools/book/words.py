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
BOOK = re.search(r"^\[book\]: (\S+)$", README, re.M)[1]
BINDER = re.search(r"^\[binder\]: (\S+?)00_start_here.ipynb$", README, re.M)[1]
INTRODUCTION = "Automatic differentiation that you can read, step through and question: twenty chapters whose code runs in the page."
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
    return f'<p class="mg-exercise" data-waits="{name}">This opens with <a href="#guess-{name}">{what}</a>.</p>'


def buttons(exercise: str) -> str:
    """What an exercise offers below the cell of its answer, and the place where hints appear."""
    offers = {"check": "Check", "hint": "Hint", "reveal": "Solution"} | (
        {"keep": "Keep it"} if exercises[exercise].reused else {}
    )
    offered = "".join(f'<button type="button" data-do="{do}">{label}</button>' for do, label in offers.items())
    return (f'<div class="mg-exercise" data-exercise="{exercise}"><span>Exercise {exercise} <span class="mgb-mark">✓ passed</span></span>'
            f'{offered}</div><div class="mgb-aside cell_output"></div>')  # fmt: skip


def limits(about: dict[str, Any]) -> str:
    """What a lesson can do once its cell has run, and not before."""
    if "lesson" not in about or not (about.get("cut") or about.get("thin") or not about["key"]):
        return ""
    now = "Some of its positions are recorded" if about["key"] else "This picture is still"
    return f'<p class="mg-partly">{now}; press ▶, and it moves freely.</p>'


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


def bar(notebook: str) -> str:
    """The bar below a chapter's title, from which Python is started (widgets/front/src/book/bar.js)."""
    about = f'data-state="none" data-chapter="{Path(notebook).stem}" data-notebook="{notebook}" data-away="{BINDER}"'
    said = "Everything here has run already, and the pictures move. Run it yourself: Python starts in this tab, %MEGABYTES% MB once."
    return (f'<div class="mgb-place"><div class="mgb-bar" role="region" aria-label="Python on this page" {about}>'
            f'<button class="mgb-start" type="button">▶ Run this page</button>'
            f'<span class="mgb-bar-say" role="status">{said}</span></div></div>')  # fmt: skip


# What a page calls things, where a notebook has cells and a menu. A notebook's own text for a page follows the text that it replaces, in a
# comment, which notebooks do not show: "... <!--lab-->Press Shift+Enter.<!--book: Press ▶.-->"; without <!--lab-->, all of its line.
PAGES = {
    r"\bRun the next cell\b": "Run the code below",
    r"\bThe next cell\b": "The code below",
    r"\bthe (?:next cell|cell below)\b": "the code below",
    r"\bin the next cell\b": "in the code below",
    r"\b[Tt]he next cells use\b": "the code below uses",
    r"\bRun the cell\b": "Press ▶",
    r"\brun the cell\b": "press ▶",
    r"\bRun both cells\b": "Run both",
    r"\brun its cell and the one with the symptom again\b": "run it and the code with the symptom again",
    r"\bthe program in its own cell\b": "the program where it stands",
    r", beside this notebook\b": ", which stays in this browser",
    r"\bfrom this notebook or\b": "from this page or",
}


def for_pages(text: str) -> str:
    """The text of a notebook's cell as a page says it."""
    text = re.sub(r"<!--lab-->.*?<!--book:(.*?)-->", lambda m: m[1].strip(), text, flags=re.S)
    text = re.sub(r"^(- )?.*?<!--book:(.*?)-->", lambda m: (m[1] or "") + m[2].strip(), text, flags=re.M)
    for pattern, words in PAGES.items():
        text = re.sub(pattern, words, text)
    return text


def folded(source: str) -> str:
    """What a page says of code that it folds: what runs a check, imports, or draws with many lines. "" if it is not folded."""
    if source.startswith("check("):
        return "the check"
    if source.startswith("%%") or "%graph" in source:
        return ""
    lines = [line for line in source.splitlines() if line.strip()]
    if all(re.match(r"%load_ext|import |from |[ )]", line) for line in lines):
        return "what this page imports"
    draws = [line for line in lines if re.search(r"\b(?:ax|axes|fig|plt)\b|\bplot\(", line)]
    return "the code that draws this" if len(draws) >= 5 and 2 * len(draws) >= len(lines) else ""


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


SIDE = '<small class="mg-margin">'


class Terms:
    """Links from the first place where a page uses a word of the glossary, and what it means, for the margin (book.css): one note for each
    paragraph."""

    def __init__(self, page: str, pages: set[str]):
        text = "\n".join(cell.source for cell in nbformat.read(ROOT / "notebooks/glossary.ipynb", as_version=4).cells)
        names = {*re.findall(r"^### (.+)$", text, re.M)} - PLAIN if page != "glossary" and "glossary" in pages else ()
        self.left = {name.lower(): name for name in names}
        plain = re.sub(r"\[([^\]]+)\]\([^)]*\)|\*+([^*]+)\*+", r"\1\2", text)
        self.means = dict(re.findall(r"^### (.+)\n+(.+?\.)(?=\s|$)", plain, re.M))

    def link(self, text: str) -> str:
        out, at = [], 0
        for apart in [*APART.finditer(text), None]:
            out.append(self._prose(text[at : apart.start() if apart else len(text)]))
            if apart:
                out.append(apart[0])
                at = apart.end()
        parts = re.split(r"(\n\n+|\n(?=[|-]))", "".join(out))
        return "".join(map(self._aside, parts))

    @staticmethod
    def _aside(paragraph: str) -> str:
        """With its first note only, and none in a table."""
        left = iter(() if paragraph.startswith("|") else (True,))
        return re.sub(rf"{SIDE}.*?</small>", lambda note: note[0] if next(left, False) else "", paragraph)

    def _prose(self, text: str) -> str:
        if not self.left:
            return text
        names = "|".join(map(re.escape, sorted(self.left, key=len, reverse=True)))

        def one(match: re.Match) -> str:
            name = self.left.pop(match[0].lower(), "")
            note = f"{SIDE}<b>{name}</b> {self.means[name]}</small>" if name in self.means else ""
            return f"[{match[0]}](glossary.ipynb#{name.lower().replace(' ', '-')}){note}" if name else match[0]

        return re.sub(rf"(?<![\w.-])(?:{names})(?![\w-])", one, text, flags=re.I)


def chapters() -> dict[str, str]:
    """{chapter's file: what one can do afterwards}, as docs/course.md has it."""
    text = (ROOT / "docs/course.md").read_text(encoding="utf-8")
    return dict(re.findall(r"/notebooks/(\w+)\.ipynb\) \| (.+?) \|$", text, re.M))


def about(path: Path, can: str) -> str:
    """A chapter in one sentence, for the page that links to it."""
    plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", can).replace("`", "").replace("*", "")
    return f"{plain[:1].upper()}{plain[1:]}." if plain else title_of(path)


def card(path: Path, can: str, minutes: str, picture: str) -> str:
    """A chapter on the first page: its first picture, its title, its minutes, its sentence."""
    image = f'<img src="{picture}" alt="" loading="lazy">' if picture else ""
    return (f'<a class="mg-chapter" href="{path.stem}.html"><span class="mg-look">{image}</span><strong>{escape(title_of(path))}</strong>'
            f"<small>{minutes}</small><span>{escape(about(path, can))}</span></a>")  # fmt: skip


def index(paths: list[Path], pictures: dict[str, str]) -> str:
    """The first page: a film, and the chapters with a picture and a sentence each."""
    can, minutes = chapters(), {Path(c.notebook).stem: f"{c.minutes} min" for c in CHAPTERS.values()}
    cards = [card(p, can.get(p.stem, ""), minutes.get(p.stem, ""), pictures.get(p.stem, "")) for p in paths]
    names = "\n".join(f"{title_of(p)} <{p.stem}>" for p in paths)
    text = (HERE / "index.md").read_text(encoding="utf-8")
    return text.replace("%CARDS%", "\n".join(cards)).replace("%NAMES%", names).replace("%BINDER%", BINDER)


def title_of(path: Path) -> str:
    first = next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    return re.search(r"^# (.+)$", first, re.M)[1]
