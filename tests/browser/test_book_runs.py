"""Two chapters of the book work in a browser as a reader works them: run, edited, answered, reloaded, handed in; and what goes wrong there.

Needs a folder of Pyodide: PYODIDE=folder, or build/pyodide (`make pyodide`), whose files must have the hashes that Pyodide published.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from minigrad.course import exercises
from minigrad.course.grade import grade
from tools import lab
from tools.book import pyodide, runs

from ..thorough import THOROUGH

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("PYODIDE") or ROOT / "build/pyodide")
OWN = ROOT / "build/book-venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
HERE = all(map(importlib.util.find_spec, ("furo", "latex2mathml", "myst_nb")))
SPHINX = sys.executable if HERE else str(OWN) if OWN.exists() else ""
FAULTS = pyodide.faults(FOLDER)
pytestmark = [
    pytest.mark.skipif(
        bool(FAULTS), reason=f"there is no whole Pyodide in {FOLDER} ({FAULTS[:1]}): run `make pyodide`"
    ),
    pytest.mark.skipif(not SPHINX, reason="Sphinx is not installed: make build/book-venv/made"),
    pytest.mark.skipif(lab.find_chromium() is None, reason=lab.NO_CHROMIUM),
]
CHAPTERS = {"00": "00_start_here", "05": "05_build_the_engine"}
if THOROUGH:
    CHAPTERS |= {"01": "01_three_ways", "02": "02_the_graph", "09": "09_tensors"}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
OWN_WORDS = 'stepper("y = x*x*x", at="forward", x=2, brief=True)'
LOOP = "while True:\n    pass"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The address of a book with two chapters. MINIGRAD_BOOK=folder takes one that has been built already."""
    out = Path(os.environ.get("MINIGRAD_BOOK") or tmp_path_factory.mktemp("book") / "pages")
    if not out.exists():
        command = [sys.executable, "-m", "tools.book", "--sphinx", SPHINX, "--out", out, "--pyodide", FOLDER, *CHAPTERS]
        built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert built.returncode == 0, built.stdout + built.stderr
    with runs.served(out) as address:
        yield address


@pytest.fixture(scope="module")
def browser(chromium_path):
    with lab.chromium(chromium_path) as context:
        yield context.browser


@pytest.fixture
def visitor(browser, book):
    """A function: a new reader's page, whose scripts must report no error and ask for nothing from elsewhere."""
    said, contexts, own = [], [], [book]

    def new(**how):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **how})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda r: said.append(r.url) if not r.url.startswith((*own, "blob:", "data:")) else None)
        page.set_default_timeout(60_000)
        return page

    new.own = own
    yield new
    for context in contexts:
        context.close()
    assert not said


def put(page, cell, text):
    """Replace a cell's text, as typing does."""
    page.locator(f'[data-cell="{cell}"]').scroll_into_view_if_needed()
    page.locator(f'[data-cell="{cell}"] .cell_input').click()
    editor = page.locator(f'[data-cell="{cell}"] .cm-content')
    editor.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)


def press(page, cell, seconds=60):
    page.locator(f'[data-cell="{cell}"] .mgb-run').click()
    runs.quiet(page, seconds)


def shown(page, cell):
    return page.locator(f'[data-cell="{cell}"] .cell_output').inner_text()


def said(page):
    return page.locator(runs.SAID).inner_text()


def exercise_cells(page):
    cells = runs.code(page.evaluate("JSON.stringify(mgPage.base)"))
    return {c["metadata"]["minigrad"]["exercise"]: id for id, c in cells.items() if "minigrad" in c["metadata"]}


@pytest.mark.parametrize("stem", CHAPTERS.values())
def test_a_page_shows_what_its_notebook_has_stored(stem, book, visitor):
    wrong, count, _ = runs.run_all(visitor(), book, stem)
    assert not wrong and count > 3


def test_a_page_that_is_read_fetches_no_python(book, visitor):
    page, asked = visitor(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{book}{CHAPTERS['05']}.html")
    page.mouse.wheel(0, 3000)
    page.wait_for_timeout(500)
    assert asked and not [url for url in asked if "/python/" in url or "live.js" in url]
    assert page.locator("[data-exercise]").count() == 4 and not page.locator(".mgb-passed").count()


def test_a_cell_brings_what_it_needs_and_draws_the_readers_code(book, visitor):
    page = visitor()
    page.goto(f"{book}{CHAPTERS['05']}.html")
    put(page, "c05-graph", "u = minigrad.Value(3.0)\nw = u * u + 4\nw.backward()\n%graph w")
    runs.start(page, '[data-cell="c05-graph"] .mgb-run')
    runs.quiet(page)
    assert "Ran 1 cell above, which this one needs." in said(page)
    live = page.locator('[data-cell="c05-graph"] .mg-root')
    expect(live).to_have_count(1)
    expect(live).to_contain_text("13")
    expect(page.locator('[data-cell="c05-graph"] .mg-stored:visible')).to_have_count(0)


@pytest.mark.parametrize("number", CHAPTERS)
@pytest.mark.parametrize("how", [{}, PHONE] if THOROUGH else [{}], ids=["desktop", "phone"][: 1 + THOROUGH])
def test_a_chapter_is_answered_left_and_handed_in(number, how, book, visitor, tmp_path):
    """Every exercise; two reloads; the notebook, graded by the real grader; the same notebook opened by another reader."""
    stem, page = CHAPTERS[number], visitor(**how)
    page.goto(f"{book}{stem}.html")
    runs.start(page)
    runs.quiet(page, 120)
    cells = exercise_cells(page)
    for id, cell in cells.items():
        put(page, cell, exercises[id].solution)
        if exercises[id].graded:
            page.locator(f'[data-exercise="{id}"] [data-do=check]').click()
            runs.quiet(page, 120)
            expect(page.locator(f'[data-exercise="{id}"]')).to_have_class("mg-exercise mgb-passed")
            if exercises[id].reused:
                page.locator(f'[data-exercise="{id}"] [data-do=keep]').click()
                runs.quiet(page)
    graded = [id for id in cells if exercises[id].graded]
    if number == "00":  # it has no exercises: its pictures are for trying
        put(page, "c00-stepper", OWN_WORDS)
        press(page, "c00-stepper")
    for _ in range(2):
        page.reload()
        expect(page.locator(".mgb-passed")).to_have_count(len(graded))
        page.wait_for_function("globalThis.mgPage?.cells.size")
        assert not graded or f"{len(graded)} of {len(graded)} exercises passed" in said(page)
    if number == "05":
        press(page, "c05-engine", 120)
        assert "yours, from my_engine.py" in shown(page, "c05-engine")
    page.locator(".mgb-more summary").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Download as notebook").click()
    (tmp_path / "class/ada").mkdir(parents=True)
    file = tmp_path / "class/ada" / f"{stem}.ipynb"
    download.value.save_as(file)
    if graded:
        (record,) = grade(tmp_path / "class", tmp_path / "grades", only=[number])
        scores = {id: g["score"] for id, g in record["grades"].items() if id in graded}
        assert record["state"] == "graded" and scores == dict.fromkeys(graded, 1)
    else:
        assert OWN_WORDS in {runs.joined(cell["source"]) for cell in json.loads(file.read_text())["cells"]}

    other = visitor()
    other.goto(f"{book}{stem}.html")
    other.locator("[data-cell] .cell_input pre >> visible=true").first.click()
    other.locator(".mgb-more summary").click()
    with other.expect_file_chooser() as chooser:
        other.get_by_role("menuitem", name="Open a notebook").click()
    chooser.value.set_files(file)
    expect(other.locator(runs.SAID)).to_contain_text(re.compile(r"^(\d+) of \1 cells come from"))
    before, after = (json.loads(text)["cells"] for text in (file.read_text(), runs.notebook(other)))
    assert [(c["id"], runs.joined(c["source"])) for c in before] == [(c["id"], runs.joined(c["source"])) for c in after]


@pytest.mark.parametrize(
    "code", [LOOP, "import numpy\na = numpy.zeros(200)\nwhile True:\n    a = a + 1", "while True:\n    print('x')"]
)
def test_an_endless_loop_is_stopped_and_variables_stay(code, book, visitor):
    page = visitor()
    page.goto(f"{book}{CHAPTERS['05']}.html")
    put(page, "c05-tiny", "here = 41")
    runs.start(page, '[data-cell="c05-tiny"] .mgb-run')
    runs.quiet(page)
    put(page, "c05-operators", code)
    page.locator('[data-cell="c05-operators"] .mgb-run').click()
    page.wait_for_function("mgKernel.state === 'busy'")
    page.wait_for_timeout(500)
    begun = time.monotonic()
    page.locator('[data-cell="c05-operators"] .mgb-run').click()
    runs.quiet(page)
    assert "KeyboardInterrupt" in shown(page, "c05-operators") and time.monotonic() - begun < 3
    put(page, "c05-overwrite", "here + 1")
    press(page, "c05-overwrite")
    assert shown(page, "c05-overwrite").strip() == "42"


def test_python_that_does_not_answer_is_ended(book, visitor):
    page = visitor()
    page.goto(f"{book}{CHAPTERS['05']}.html")
    put(page, "c05-tiny", "import time\ntime.sleep(600)")
    runs.start(page, '[data-cell="c05-tiny"] .mgb-run')
    page.wait_for_selector('[data-cell="c05-tiny"].mgb-busy')
    page.locator('[data-cell="c05-tiny"] .mgb-run').click()
    expect(page.locator(runs.SAID)).to_contain_text("Python did not answer, so it was ended.")
    put(page, "c05-tiny", "print(6 * 7)")
    press(page, "c05-tiny")
    assert shown(page, "c05-tiny").strip() == "42"


def test_no_network(book, visitor):
    page = visitor()
    page.route("**/python/*.gz", lambda route: route.abort())
    page.goto(f"{book}{CHAPTERS['00']}.html")
    page.locator(".mgb-start").click()
    expect(page.locator(runs.SAID)).to_contain_text("there is no network. The pictures still move")
    page.unroute("**/python/*.gz")
    runs.start(page)  # the way on


def test_python_from_the_public_host(book, visitor, tmp_path):
    """As `make book` builds it without a folder: pinned addresses, and their hashes. The host is played by the folder."""
    manifest = pyodide.build(tmp_path, None)
    assert all(file["url"].startswith(pyodide.CDN) or file["gzip"] for file in manifest["files"].values())
    page, asked = visitor(), []
    visitor.own.append(pyodide.CDN)

    def answer(route):
        name = route.request.url.rsplit("/", 1)[-1].partition("?")[0]
        asked.append(name)
        from_host = route.request.url.startswith(pyodide.CDN)
        route.fulfill(
            path=(FOLDER if from_host else tmp_path / "python") / name, headers={"Access-Control-Allow-Origin": "*"}
        )

    page.route(f"{pyodide.CDN}**", answer)
    page.route(re.compile(rf"{re.escape(book)}_static/python/(?!\d)"), answer)
    page.goto(f"{book}{CHAPTERS['00']}.html")
    runs.start(page)
    runs.quiet(page)
    files = {manifest["files"][name]["url"].rsplit("/", 1)[-1] for name in manifest["start"]}
    assert {"manifest.js", *files} <= {*asked} and "Python runs in this tab" in said(page)


def test_a_file_that_was_changed_is_not_run(book, visitor):
    page = visitor()
    page.route("**/python/course.bin.gz", lambda route: route.fulfill(body=b"changed"))
    page.goto(f"{book}{CHAPTERS['00']}.html")
    page.locator(".mgb-start").click()
    expect(page.locator(runs.SAID)).to_contain_text("did not arrive as it was published, so it was not started")


@pytest.mark.parametrize(
    "script, sentence",
    [
        ("delete globalThis.DecompressionStream", "This browser is too old to run Python"),
        ("IDBFactory.prototype.open = () => { throw new Error('no') }", "This browser keeps nothing for this page."),
    ],
)
def test_an_old_browser_and_one_that_keeps_nothing(script, sentence, book, visitor):
    page = visitor()
    page.add_init_script(script)
    page.goto(f"{book}{CHAPTERS['00']}.html")
    page.locator(".mgb-start").click()
    expect(page.locator(runs.SAID)).to_contain_text(sentence)


def test_storage_that_is_full(book, visitor):
    page = visitor()
    page.add_init_script(
        "IDBObjectStore.prototype.put = () => { throw new DOMException('full', 'QuotaExceededError') }"
    )
    page.goto(f"{book}{CHAPTERS['05']}.html")
    put(page, "c05-tiny", "print(6 * 7)")
    expect(page.locator(runs.SAID)).to_contain_text("storage is full")
    press_first = '[data-cell="c05-tiny"] .mgb-run'
    runs_anyway = page.locator(press_first)
    runs_anyway.click()
    page.wait_for_function("globalThis.mgTimes", timeout=runs.START)
    runs.quiet(page)
    assert shown(page, "c05-tiny").strip() == "42"


def test_on_a_phone(book, visitor):
    page = visitor(**PHONE)
    page.goto(f"{book}{CHAPTERS['05']}.html")
    page.locator('[data-cell="c05-graph"]').scroll_into_view_if_needed()
    runs.start(page, '[data-cell="c05-graph"] .mgb-run')
    runs.quiet(page)
    assert page.locator('[data-cell="c05-graph"] .mg-root').count() == 1
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_one_script_tag_puts_a_live_graph_into_another_page(book, visitor, tmp_path):
    (tmp_path / "blog.html").write_text(
        f'<!doctype html><h1>A blog</h1><script src="{book}_static/embed.js" data-graph="(3*x + 2)**2" data-x="1" async></script>'
    )
    page = visitor()
    with runs.served(tmp_path) as blog:
        visitor.own.append(blog)
        page.goto(f"{blog}blog.html")
        frame = page.frame_locator("iframe")
        frame.locator(".mgb-start").click()
        expect(frame.locator(".mg-root")).to_contain_text("25", timeout=120_000)
        expect(frame.locator(".mg-root")).to_contain_text("30")
