"""The built site in a real Chromium: `make site-check`, or `python -m tools.site.check [folder]`.

What lives here: opening the page as a learner does, the stored pictures without a kernel, and, as far as Pyodide's files are there, its
Python: a backward pass, the time limit of a check, progress that is still there after the page is loaded again. What does not: building
(__main__.py). It takes a minute, so it is a command of its own.
"""

from __future__ import annotations

import functools
import http.server
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from tools.lab import NO_CHROMIUM, ROOT, chromium, find_chromium

KERNEL_STARTS = 90_000  # milliseconds: Pyodide is compiled by the browser the first time
NOTEBOOK = ".jp-NotebookPanel:not(.lm-mod-hidden)"
CELLS = [  # what a learner's cell says, and what must stand under it; none needs numpy
    (
        "from minigrad import Value; x = Value(1.0); y = (3 * x + 2) ** 2; y.backward(); print(y.data, x.grad)",
        "25.0 30.0",
    ),
    ("import sys; print(sys.platform, 'numba' in sys.modules)", "emscripten False"),
    (
        "import minigrad.course.guard as guard, doctest, minigrad.scalar as scalar; print(doctest.testmod(scalar).failed)",
        "0",
    ),
    (
        "exec('def endless():\\n while True: pass'); from minigrad.course.exercise import Limits; "
        "print(guard.run(lambda f: f(), endless, (), Limits(seconds=0.2))['late'])",
        "True",
    ),
    ("from minigrad.course import progress; print(repr(progress.update('01.a', tries=1, passed=True)))", "''"),
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def ready(page: Page) -> None:
    """Wait until the kernel has started. Cells that run before that are lost silently, so they are run again."""
    until = time.monotonic() + KERNEL_STARTS / 1000
    while True:
        try:
            return run(page, "1 + 1", "2", 10_000)
        except AssertionError:
            if time.monotonic() > until:
                raise


def run(page: Page, code: str, expected: str, wait: float = KERNEL_STARTS) -> None:
    """Type `code` into a new cell at the end and run it."""
    page.locator(f"{NOTEBOOK} .jp-Cell").last.click()
    for key in ("Escape", "b", "Enter"):
        page.keyboard.press(key)
    page.keyboard.insert_text(code)
    page.keyboard.press("Control+Enter")
    active = page.locator(f"{NOTEBOOK} .jp-Cell.jp-mod-active")
    expect(active.locator(".jp-OutputArea-output")).to_have_text(expected, timeout=wait)
    print(f"  ran: {code.splitlines()[0][:90]} -> {expected}", flush=True)


def main(site: Path) -> None:
    config = json.loads((site / "jupyter-lite.json").read_text())["jupyter-config-data"]
    settings = config["litePluginSettings"]["@jupyterlite/pyodide-kernel-extension:kernel"]
    browser = find_chromium()
    if not browser:
        sys.exit(f"minigrad: {NO_CHROMIUM}")
    with served(site) as address, chromium(browser) as context:
        page = context.new_page()
        outside: set[str] = set()
        page.on("request", lambda r: outside.update([] if r.url.startswith((address, "data:", "blob:")) else [r.url]))
        page.goto(f"{address}/index.html")
        expect(page.locator(f"{NOTEBOOK} .jp-Cell").first).to_be_visible(timeout=60_000)
        names = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
        expect(page.locator(".jp-DirListing-item")).to_have_count(len(names))
        print(
            f"  the page opens on {page.locator('.jp-mod-current .lm-TabBar-tabLabel').first.inner_text()}, with {len(names)} notebooks"
        )
        page.locator(".jp-DirListing-item", has_text="01_three_ways").dblclick()
        pictures = page.locator(
            f"{NOTEBOOK} .jp-RenderedSVG img, {NOTEBOOK} .jp-RenderedSVG svg, {NOTEBOOK} .jp-RenderedImage img"
        )
        expect(pictures.first).to_be_attached(timeout=30_000)
        print("  chapter 01 shows its stored pictures")
        if "pyodideUrl" not in settings:
            print("  no cell was run: this site asks Pyodide's host for Python (make site PYODIDE=... has its own)")
            return
        ready(page)
        for code, expected in CELLS:
            run(page, code, expected)
        page.goto(f"{address}/lab/index.html?path=01_three_ways.ipynb")
        expect(page.locator(f"{NOTEBOOK} .jp-Cell").first).to_be_visible(timeout=60_000)
        ready(page)
        run(page, "from minigrad.course import progress; print(progress.load()[0]['01.a']['passed'])", "True")
        print(f"  asked for outside the site: {sorted(outside) or 'nothing'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/site").resolve())
