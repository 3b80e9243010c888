"""The course as plain web pages whose pictures move: `make book`, or `python -m tests.book`. They lie in build/book.

What lives here: one page for each chapter, from the stored notebook (what everybody sees) and a run of it with everything answered, which
brings the live pictures and what predictions reveal. What does not: recording them (record.py), moving them (widgets/front/src/page.js),
how the pages look (conf.py, book.css). Sphinx has an environment of its own, whose Python is given with --sphinx.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from html import escape
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output

from minigrad.course import exercises
from tests.notebooks.opened import exercise_cells
from widgets.chapters import CHAPTERS
from widgets.front_end import built

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BINDER = re.search(r"^\[binder\]: (\S+?)00_start_here.ipynb$", README, re.M)[1]
KEY = re.compile(r"[0-9a-f]{12}")
START = "import sys; sys.path.insert(0, {root!r}); from tests.book import record; record.install({folder!r}); del sys, record"


def run(path: Path, live: Path) -> NotebookNode:
    """The notebook with everything answered, run with the recorder beside it."""
    nb = nbformat.read(path, as_version=4)
    for id, cell in exercise_cells(nb).items():
        cell.source = exercises[id].solution
    with tempfile.TemporaryDirectory() as home:
        start = Path(home) / "profile_default/startup/00-book.py"
        start.parent.mkdir(parents=True)
        start.write_text(START.format(root=str(ROOT), folder=str(live)))
        env = os.environ | {"IPYTHONDIR": home, "MINIGRAD_PROGRESS": str(Path(home) / "progress.json")}
        NotebookClient(nb, kernel_name="python3", timeout=600, allow_errors=True, resources={"metadata": {"path": home}}).execute(env=env)
    return nb


def chapter(path: Path, source: Path) -> None:
    """Write a chapter where Sphinx looks for it."""
    live = source / "_static/live"
    nb, ran = nbformat.read(path, as_version=4), run(path, live)
    cells = []
    for cell, answered in zip(nb.cells, ran.cells, strict=True):
        cells.append(cell)
        if cell.cell_type != "code":
            cell.source = linked(cell.source)
            continue
        cell.outputs = [figure(output, other, live) for output, other in zip_outputs(cell, answered)]
        exercise = cell.metadata.get("minigrad", {}).get("exercise")
        if cell.source.startswith("%%predict"):
            shown = [figure(output, output, live) for output in answered.outputs]
            cells += reveal(cell, shown)
        elif "check.predict(" in cell.source or cell.source.startswith("check("):  # the page asks for a guess; code is checked elsewhere
            cell.outputs = []
        elif exercise:
            link = f'<a href="{BINDER}{path.name}">do it on Binder</a>'
            cells.append(new_markdown_cell(f'<p class="mg-exercise">Exercise {exercise} answers in the notebook: {link}, or run '
                                           f"<code>make lab</code> and open <code>{path.name}</code>.</p>"))  # fmt: skip
    nb.cells = cells
    nbformat.write(nb, source / path.name)


def linked(text: str) -> str:
    """Links as the book has them: anchors in small letters, and no link to files that are not in it."""
    text = re.sub(r"\]\(((?:\w+\.ipynb)?#)([^)]+)\)", lambda m: f"]({m[1]}{m[2].lower()})", text)
    return re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"\1", text)


def zip_outputs(cell: NotebookNode, answered: NotebookNode) -> list[tuple[NotebookNode, NotebookNode | None]]:
    """The stored outputs of a cell, and for each picture the same one of the run."""
    made = [o for o in answered.get("outputs", ()) if "image/svg+xml" in o.get("data", {})]
    same = {o.data["text/plain"]: o for o in made}
    return [(o, same.get(o.get("data", {}).get("text/plain"))) for o in cell.outputs]


def figure(output: NotebookNode, ran: NotebookNode | None, live: Path) -> NotebookNode:
    """An output whose picture is an image with words, and moves where the run has recorded how."""
    data = output.get("data", {})
    data.pop("application/vnd.jupyter.widget-view+json", None)
    svg = data.get("image/svg+xml")
    if not svg:
        return output
    live.mkdir(parents=True, exist_ok=True)
    name = blake2b(svg.encode(), digest_size=6).hexdigest() + ".svg"
    (live / name).write_text(svg, encoding="utf-8")
    size = "".join(re.findall(r' (?:width|height)="[\d.]+"', svg[: svg.find(">")]))
    key = (ran or {}).get("data", {}).get("text/html", "")
    moves = f' data-live="{key}" data-from="_static/live"' if KEY.fullmatch(key) else ""
    words = escape(data["text/plain"].strip())
    html = f'<figure class="mg-live"{moves}><img src="_static/live/{name}"{size} alt="{words}" loading="lazy"></figure>'
    return new_output("display_data", {"text/html": html})


def reveal(cell: NotebookNode, shown: list[NotebookNode]) -> list[NotebookNode]:
    """What a prediction's cell shows once a guess is made: hidden until the reader has written one."""
    if not shown:
        return []
    about = cell.source.split("\n", 1)[0].split()[1]
    form = (f'<form class="mg-guess" data-for="{about}"><label>Your prediction <input name="guess" autocomplete="off"></label> '
            '<button class="mg-button">Note it, and show what happens</button></form>')  # fmt: skip
    answer = nbformat.v4.new_code_cell("", outputs=shown, metadata={"tags": ["mg-answer", "remove-input"]})
    cell.outputs = []
    return [new_markdown_cell(form), answer]


def index(paths: list[Path]) -> str:
    """The first page: the chapters with their minutes and what one can do afterwards, as README has it."""
    can = dict(re.findall(r"\(notebooks/(\w+)\.ipynb\) \| (.+?) \|$", README, re.M))
    minutes = {Path(c.notebook).stem: f"{c.minutes} min" for c in CHAPTERS.values()}
    rows = "\n".join(f"| [{title_of(p)}]({p.name}) | {minutes.get(p.stem, '')} | {can.get(p.stem, '')} |" for p in paths)
    names = "\n".join(f"{title_of(p)} <{p.stem}>" for p in paths)
    return (HERE / "index.md").read_text(encoding="utf-8").replace("%ROWS%", rows).replace("%NAMES%", names).replace("%BINDER%", BINDER)


def title_of(path: Path) -> str:
    first = next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    return re.search(r"^# (.+)$", first, re.M)[1]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.book", description=__doc__)
    parser.add_argument("--sphinx", default=sys.executable, help="the Python that has Sphinx, myst-nb, furo and latex2mathml")
    parser.add_argument("--out", type=Path, default=ROOT / "build/book")
    parser.add_argument("chapters", nargs="*", help="first letters of notebooks; all by default")
    given = parser.parse_args()
    source = given.out.with_name("book-source").resolve()
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(given.out, ignore_errors=True)
    (source / "_static").mkdir(parents=True)
    paths = [p for p in sorted((ROOT / "notebooks").glob("*.ipynb")) if not given.chapters or p.name.startswith(tuple(given.chapters))]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda p: chapter(p, source), paths))
    (source / "index.md").write_text(index(paths), encoding="utf-8")
    (source / "_static/page.js").write_text(built("page.js"), encoding="utf-8")
    (source / "_static/book.css").write_text(built("views.css") + (HERE / "book.css").read_text(encoding="utf-8"), encoding="utf-8")
    shutil.copy(HERE / "book.js", source / "_static")
    command = [given.sphinx, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "2", "-c", str(HERE), str(source), str(given.out)]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
