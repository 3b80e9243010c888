"""The pages of a built book run in a real Chromium, and what they then show is compared with what their notebooks have stored.

What lives here: serving a book, pressing its buttons, comparing. What does not: the recorded pictures and everything that needs no Python
(check.py); exercises, stopping, keeping (tests/browser/test_book_runs.py).
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

START = 180_000  # ms for Python to be there
# Cells that show other numbers in a page, by their ids: why.
OTHER = {
    "f6a72e49": "a loss of 0.69315, which rounds one way or the other",
    "compile-step": "a page has no numba, so the compiled step has no loop of its own",
    "compile-graph": "the same step, drawn",
}
IGNORED = "nbval-ignore-output"  # a cell that shows other numbers on every machine, for the notebooks' own tests, too
QUIET = "!globalThis.mgActing && globalThis.mgKernel?.state === 'ready' && !document.querySelector('.mgb-queued, .mgb-busy')"
SAID = ".mgb-bar-say"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path, port: int = 0) -> Iterator[str]:
    """The address at which a folder can be read."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()


def joined(text: Any) -> str:
    return "".join(text) if isinstance(text, list) else text or ""


def told(cell: dict[str, Any]) -> list[tuple[str, str]]:
    """What a cell of a notebook shows, as words: what it printed in one piece, as stored notebooks have it, then everything else."""
    printed: dict[str, str] = {}
    found = []
    for output in cell["outputs"]:
        kind = output["output_type"]
        if kind == "stream":
            printed[output["name"]] = printed.get(output["name"], "") + joined(output["text"])
        elif kind == "error":
            found.append((kind, output["ename"]))
        else:
            found.append(("data", joined(output["data"].get("text/plain")).strip()))
    return [(name, text.strip()) for name, text in printed.items()] + found


def code(notebook: str) -> dict[str, dict[str, Any]]:
    """{id: cell} of the code cells of a notebook file."""
    return {cell["id"]: cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"}


def quiet(page: Page, seconds: float = 60) -> None:
    """Wait until what was pressed is done."""
    page.wait_for_timeout(100)
    page.wait_for_function(QUIET, timeout=seconds * 1000)
    page.wait_for_timeout(100)


def start(page: Page, selector: str = ".mgb-start") -> None:
    """Press a button, and wait until Python is there. Raises RuntimeError with what the page says if it does not come."""
    page.locator(selector).click()
    page.wait_for_function("globalThis.mgTimes || document.querySelector('.mgb-bad')", timeout=START)
    if page.locator(".mgb-bad").count():
        raise RuntimeError(page.locator(SAID).inner_text())


def notebook(page: Page) -> str:
    """The page as a notebook file."""
    return page.evaluate("mgPage.notebook()")


def run_all(page: Page, address: str, stem: str, seconds: float = 600) -> tuple[list[str], int, float]:
    """Run a chapter from top to bottom. Returns the cells that show something else than is stored, with both; how many cells there are; and
    the seconds it took."""
    page.goto(f"{address}{stem}.html")
    begun = time.monotonic()
    start(page)
    quiet(page, seconds)
    stored = code(page.evaluate("JSON.stringify(mgPage.base)"))
    shown = code(notebook(page))
    wrong = [
        f"{id}: {told(shown[id])!r:.300} is not {told(cell)!r:.300}"
        for id, cell in stored.items()
        if id not in OTHER and IGNORED not in cell["metadata"].get("tags", ()) and told(shown[id]) != told(cell)
    ]
    return wrong, len(stored), time.monotonic() - begun
