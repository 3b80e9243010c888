"""The course as plain web pages whose pictures move: `make book`, or `python -m tools.book`. They lie in build/book.

What lives here: one page for each chapter, from the stored notebook (what everybody sees) and a run of it with everything answered, which
brings the live pictures and what predictions reveal. What does not: recording them (record.py), moving them (widgets/front/src/page.js),
the words of a page (words.py), how it looks (conf.py, book.css). Sphinx has an environment of its own, whose Python is given with --sphinx.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import blake2b
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output

from minigrad.course import exercises
from tools.opened import answered
from tools.pictures import film
from tools.store import svg_of
from widgets.front_end import built
from widgets.stored import NOTE

from . import pyodide, words
from .record import MIME

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
START = "from tools.book import record; record.install({!r}); del record"
# Cells that take minutes in a page: running all leaves them, and what needs them, as they were recorded
SLOW = {"ch17-36"}
PLOT = 700  # pixels: pictures that are wider have small words, which a phone must not make smaller
# Lessons with more states than a page should carry. Of any other lesson, a missing state is an error of the build.
PARTLY = {
    "bucket",
    "dual",
    "grow",
    "jacobian_heat",
    "memory",
    "own_engine",
    "pick_u",
    "pick_v",
    "rules",
    "two_loops",
    "will_it_fit",
}


def chapter(path: Path, source: Path, pages: set[str]) -> list[dict[str, Any]]:
    """Write a chapter where Sphinx looks for it; it links to these pages only. Returns the record of its lessons."""
    live = source / "_static/live"
    live.mkdir(parents=True, exist_ok=True)
    nb = nbformat.read(path, as_version=4)
    ran = recorded(path, live)
    cells: list[NotebookNode] = []
    lessons: list[dict[str, Any]] = []
    terms = words.Terms(path.stem, pages)
    for cell, done in zip(nb.cells, ran.cells, strict=False):  # the run's last cell has the chapter's claims
        cells.append(cell)
        if cell.cell_type != "code":
            cell.source = terms.link(words.links(words.for_pages(cell.source), pages))
            if len(cells) > 1:
                cell.source = words.under_title(cell.source)
            elif path.stem != "glossary":
                cells.append(new_markdown_cell(words.bar(path.name)))
            continue
        exercise = cell.metadata.get("minigrad", {}).get("exercise")
        if cell.source.startswith("%%predict"):
            left = filter(None, map(words.without_verdict, done.outputs))
            cell.outputs = [figure(output, output, live, lessons) for output in left]
            cells += opened(cell, cells)
        elif exercise and not exercises[exercise].graded:
            cell.outputs = []
            cells.append(new_markdown_cell(guess(exercise)))
        elif exercise:
            cells.append(new_markdown_cell(words.buttons(exercise)))
        elif cell.source.startswith("check("):  # code is checked elsewhere
            cell.outputs = []
        else:
            cell.outputs = [figure(output, other, live, lessons) for output, other in pairs(cell, done)]
        if cell.id in SLOW:
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "mg-slow"]
        if not exercise and (what := words.folded(cell.source)):
            tags = cell.metadata.get("tags", [])
            cell.metadata["tags"] = [*tags, "mg-fold-" + what.replace(" ", "-")]
        for output in cell.outputs:
            if html := output.get("data", {}).get("text/html"):
                output.data["text/html"] = words.hrefs(html.replace(NOTE, ""), pages)
    nb.cells = cells
    nbformat.write(nb, source / path.name)
    return [{"chapter": path.stem[:2], **about} for about in lessons]


def recorded(path: Path, live: Path) -> NotebookNode:
    """The chapter with everything answered, and in `live` what moves its pictures. Recording takes minutes: it is kept in build/book-runs
    until the notebook or the code that it runs changes."""
    code = [
        p for room in ("minigrad", "widgets") for p in sorted((ROOT / room).rglob("*.py")) if p.name != "page_kernel.py"
    ]
    code += [HERE / "record.py", HERE / "opened.py"]
    stamp = blake2b(b"".join(p.read_bytes() for p in [path, *code]), digest_size=8).hexdigest()
    kept = ROOT / "build/book-runs" / f"{path.stem}-{stamp}"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            new = Path(folder, "new")
            (new / "live").mkdir(parents=True)
            ran = answered(path, Path(folder), START.format(str(new / "live")))
            nbformat.write(ran, new / "ran.ipynb")
            for old in kept.parent.glob(f"{path.stem}-*"):
                shutil.rmtree(old)
            new.rename(kept)
    shutil.copytree(kept / "live", live, dirs_exist_ok=True)
    return nbformat.read(kept / "ran.ipynb", as_version=4)


def told(lesson: dict[str, Any]) -> str:
    """The line of the build's report for a lesson, or for a graph whose cards open; ✗ if it is a fault."""
    if "graph" in lesson:
        beyond = ", and there are more" if lesson["cut"] else ""
        return f"  {lesson['chapter']} graph of {lesson['graph']}: {lesson['pictures']} pictures of its cards{beyond}"
    sign = "✗" if lesson["cut"] and lesson["lesson"] not in PARTLY else " "
    return f"{sign} {lesson['chapter']} {lesson['lesson']}: {lesson['states']} states{', and there are more' if lesson['cut'] else ''}"


def pairs(cell: NotebookNode, done: NotebookNode) -> list[tuple[NotebookNode, NotebookNode | None]]:
    """The outputs of a cell, and for each picture the same one of the run. Where the run shows other numbers than are stored, as a training
    does, its own picture is taken, because the one that moves has them too."""
    pictures = [o for o in done.outputs if svg_of(o)]
    same = {o.data["text/plain"]: o for o in pictures}
    stored = [o.get("data", {}).get("text/plain") for o in cell.outputs if svg_of(o)]
    moving = iter([o for o in pictures if MIME in o.data and o.data["text/plain"] not in stored])
    found = []
    for output in cell.outputs:
        data = output.get("data", {})
        other = same.get(data.get("text/plain"))
        if svg_of(output) and other is None and (other := next(moving, None)):
            output = other
        found.append((output, other))
    if stored and (left := list(moving)):
        raise ValueError(
            f"nothing is stored of what the run shows and moves: {left[0].data['text/plain'][:200]}\n{cell.source}"
        )
    return found


def figure(output: NotebookNode, ran: NotebookNode | None, live: Path, lessons: list[dict[str, Any]]) -> NotebookNode:
    """An output whose picture is an image with words, and moves where the run has recorded how."""
    data = output.get("data", {})
    data.pop("application/vnd.jupyter.widget-view+json", None)
    svg = svg_of(output)
    if not svg:
        return output
    name = blake2b(svg.encode(), digest_size=6).hexdigest() + ".svg"
    (live / name).write_text(svg, encoding="utf-8")
    size = "".join(re.findall(r' (?:width|height)="[\d.]+"', svg[: svg.find(">")]))
    width = float((re.search(r'width="([\d.]+)"', size) or [0, 0])[1])
    least = f' style="--least: {0.84 * width:.0f}px"' if width > PLOT else ""  # as small as a lesson gets (lesson.js)
    about = (ran or {}).get("data", {}).get(MIME, {})
    if "lesson" in about or "graph" in about:
        lessons.append(about)
    moves = f' data-live="{about["key"]}" data-from="_static/live"' if about.get("key") else ""
    alt = escape(data["text/plain"].strip())
    image = f'<img src="_static/live/{name}"{size}{least} alt="{alt}" loading="lazy">'
    html = f'<figure class="mg-live"{moves}>{image}</figure>{words.limits(about)}'
    return new_output("display_data", {"text/html": html})


def first(page: Path, taken: Collection[str]) -> str:
    """The picture by which the first page knows a chapter: the first that moves and is not `taken`, else the first; "" if there is none."""
    figures = re.findall(r'<figure class=\\"mg-live\\"(.*?)><img src=\\"(.+?)\\"', page.read_text(encoding="utf-8"))
    moving = [picture for live, picture in figures if live and picture not in taken]
    return next(iter([*moving, *(picture for _, picture in figures)]), "")


def guess(exercise: str) -> str:
    """The form in which a prediction is made: a field, or one for each entry."""
    (call,) = (n for n in ast.walk(ast.parse(exercises[exercise].stub)) if isinstance(n, ast.Call))
    entries = ast.literal_eval(call.args[1])
    return words.form(
        exercise, list(entries) if isinstance(entries, dict) else ["Your prediction"], "Note it, and show what happens"
    )


def opened(cell: NotebookNode, before: list[NotebookNode]) -> list[NotebookNode]:
    """The form below a %%predict cell: its output is hidden until the prediction is made or, for an exercise, until a button is pressed."""
    exercise = cell.source.split("\n", 1)[0].split()[1]
    if not cell.outputs:
        return []
    name = words.anchor(exercise)
    cell.metadata["tags"] = ["mg-answer", f"mg-for-{name}"]
    if any(f'id="guess-{name}"' in c.source for c in before):
        return [new_markdown_cell(words.waits(exercise))]
    return [
        new_markdown_cell(
            words.form(exercise, [], "Show it", "Once the exercise has passed, ▶ runs it with your code.")
        )
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.book", description=__doc__)
    parser.add_argument(
        "--sphinx", default=sys.executable, help="the Python that has Sphinx, myst-nb, furo and latex2mathml"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build/book")
    parser.add_argument(
        "--pyodide", type=Path, help="a folder of Pyodide (`make pyodide`), for a book that needs no network"
    )
    parser.add_argument("--disk", action="store_true", help="with Python for pages that are opened from a disk")
    parser.add_argument("chapters", nargs="*", help="first letters of notebooks; all by default")
    given = parser.parse_args()
    source = given.out.with_name("book-source").resolve()
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(given.out, ignore_errors=True)
    (source / "_static").mkdir(parents=True)
    paths = [
        p
        for p in sorted((ROOT / "notebooks").glob("*.ipynb"))
        if not given.chapters or p.name.startswith(tuple(given.chapters))
    ]
    with ProcessPoolExecutor(2) as pool:
        lessons = [
            one
            for found in pool.map(partial(chapter, source=source, pages={p.stem for p in paths}), paths)
            for one in found
        ]
    print(*map(told, lessons), sep="\n", flush=True)
    pictures: dict[str, str] = {}
    for path in paths:
        pictures[path.stem] = first(source / path.name, pictures.values())
    (source / "index.md").write_text(words.index(paths, pictures), encoding="utf-8")
    sheet = (HERE / "cheat_sheet.md").read_text(encoding="utf-8")
    (source / "cheat_sheet.md").write_text(words.links(sheet, {p.stem for p in paths}), encoding="utf-8")
    for name in ("page.js", "film.js", "views.css", "book/bar.js", "book/live.js", "book/embed.js"):
        (source / "_static" / name.rpartition("/")[2]).write_text(built(name), encoding="utf-8")
    film().save(source / "_static/moons.html")
    for name in ("book.js", "math.woff2", "math-OFL.txt"):
        shutil.copy(HERE / name, source / "_static")
    look = (HERE / "book.css").read_text(encoding="utf-8") + built("book/bar.css")
    (source / "_static/book.css").write_text(look, encoding="utf-8")
    shutil.copy(ROOT / ".github/images/film-light.png", source / "_static/share.png")
    held = pyodide.build(source / "_static", given.pyodide, given.disk)
    for path in paths:
        notebook = json.dumps(json.loads(path.read_text(encoding="utf-8")), ensure_ascii=False, separators=(",", ":"))
        (source / f"_static/python/{path.stem}.js").write_text(f'mgHand("nb:{path.stem}",{notebook})', encoding="utf-8")
    about = {p.stem: words.about(p, words.chapters().get(p.stem, "")) for p in paths}
    about |= {"index": words.INTRODUCTION, "book": words.BOOK}
    megabytes = round(sum(held["files"][name]["bytes"] for name in held["start"]) / 1e6)
    (source / "context.json").write_text(json.dumps({"about": about, "megabytes": megabytes}), encoding="utf-8")
    command = [given.sphinx, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "2", "-c", str(HERE)]
    command += ["-d", str(source / "_doctrees"), str(source), str(given.out)]
    code = subprocess.run(command, check=False).returncode
    shutil.copy(HERE / "embed.html", given.out)
    return code or int(any(told(lesson).startswith("✗") for lesson in lessons))


if __name__ == "__main__":
    sys.exit(main())
