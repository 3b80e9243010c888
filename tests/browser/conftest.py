"""Fixtures of the browser tests: one JupyterLab, one browser, and a page that shows one notebook after the other.

    def test_it(open_notebook):
        nb = open_notebook("01_three_ways.ipynb")          # a copy: the committed notebook is never touched
        nb = open_notebook(["x = 6", "x * 7"])             # or a new notebook with these cells
        nb.run_all()
        nb.shot("what-it-looks-like")

When a test ends, its pages must have reported no console error and asked for nothing outside the server; a test that provokes an error
on purpose empties `nb.errors`. A failed test leaves a screenshot. On CI a skipped browser test is a failure.

A browser, a server and a kernel share the machine with the other tests, so each test here may be tried three times; pytest's last line
counts the repetitions ("2 rerun"), and a test that needs them often has a race to mend: wait for what a click changed before the next one.
"""

import os
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from tools import lab

from ..thorough import part

HERE = Path(__file__).parent
FAILED = pytest.StashKey[bool]()
USES = 12  # of one page: what JupyterLab keeps of closed notebooks adds up
expect.set_options(timeout=30_000)  # the default of 5 s is too short for a busy machine


def pytest_collection_modifyitems(config, items):
    """Each chapter runs here from its first cell to its last, as it does in the strict run: some of them every day, the others in
    `make thorough`, and when somebody asks for them. All lessons are in test_lessons.py."""
    files = sorted(
        {item.path.name for item in items if item.path.parent == HERE and item.path.name.startswith("test_chapter_")}
    )
    asked = config.option.keyword or any("test_chapter_" in argument for argument in config.args)
    today = set(files if asked else part(files, 1, always=["test_chapter_05.py"]))
    later = [item for item in items if item.path.parent == HERE and item.path.name in set(files) - today]
    config.hook.pytest_deselected(items=later)
    items[:] = [item for item in items if item not in later]
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.fixture(scope="session")
def lab_root(tmp_path_factory):
    """The folder that the server shows."""
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="session")
def lab_address(lab_root, chromium_path, tmp_path_factory):
    with lab.lab_server(lab_root, tmp_path_factory.mktemp("lab-home")) as address:
        yield address


@pytest.fixture(scope="session")
def chromium_path():
    return lab.find_chromium() or pytest.skip(lab.NO_CHROMIUM)


# Not for the whole session: while Playwright's synchronous interface is open, no other test in this process can use asyncio.
@pytest.fixture(scope="package")
def browser_context(chromium_path):
    with lab.chromium(chromium_path) as context:
        yield context


@pytest.fixture(scope="package")
def loaded(browser_context):
    """Pages whose JupyterLab has loaded and shows nothing now: loading it takes longer than most tests. Each with how often it was used."""
    return []


@pytest.fixture
def open_notebook(request, lab_root, lab_address, browser_context, loaded):
    """A function: the name of a file in notebooks/, or a list of code cells -> a `lab.NotebookPage`. `fresh`: nothing was shown in the page
    before, for tests that count what is in its memory."""
    name = re.sub(r"\W+", "-", request.node.name)
    pages = []

    def open_(what, fresh=False) -> lab.NotebookPage:
        folder = lab_root / f"{name}-{len(pages)}-{len(list(lab_root.iterdir()))}"
        folder.mkdir()
        if isinstance(what, str):
            path = shutil.copy(lab.ROOT / "notebooks" / what, folder)
        else:
            nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in what])
            nb.metadata.kernelspec = {
                "name": "python3",
                "display_name": "Python 3",
                "language": "python",
            }  # else Lab asks for a kernel
            path = folder / "test.ipynb"
            nbformat.write(nb, path)
        where, used = loaded.pop() if loaded and not fresh else (browser_context.new_page(), 0)
        page = lab.NotebookPage(where, lab_address, os.path.relpath(path, lab_root))
        pages.append((page, used + 1))
        return page.open_in()

    yield open_
    failed = request.node.stash.get(FAILED, False)
    for i, (page, used) in enumerate(pages):
        if failed:
            page.shot(f"failed-{name}-{i}")
        if page.close(keep=not failed and used < USES):
            loaded.append((page.page, used))
    pages = [page for page, _ in pages]
    assert [error for page in pages for error in page.errors] == []
    assert [url for page in pages for url in page.outside] == []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    # Python for pages is 30 MB of downloads that not every machine can make: the one reason to skip
    needed = report.skipped and "there is no whole Pyodide" not in str(report.longrepr)
    if needed and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        report.outcome, report.longrepr = (
            "failed",
            f"skipped, and on CI no browser test may be skipped: {report.longrepr[2]}",
        )
    return report


def pytest_terminal_summary(terminalreporter):
    if lab.find_chromium() is None:
        terminalreporter.write_line(f"minigrad: {lab.NO_CHROMIUM}", yellow=True)
