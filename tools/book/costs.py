"""What a page that runs costs: `python -m tools.book.costs [folder]`, on a quiet machine.

Seconds from the press at a cell to its live graph, on a first visit and on later ones; what a cell costs beside its own work; the first
paint of a page that is only read; the bytes of a start.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tools.book import runs
from tools.lab import CHROMIUM_FLAGS, ROOT, find_chromium

PAGE, CELL = "05_build_the_engine", "c05-graph"
TIMES = 5
OVERHEAD = """async (id) => { const cell = mgPage.cells.get(id), took = [];
    cell.put("1"); await mgPage.run([cell]);
    for (let k = 0; k < 20; k++) { const begun = performance.now(); await cell.execute(); took.push(performance.now() - begun); }
    cell.reset(); return took.sort((a, b) => a - b)[10]; }"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def pressed(page: Page, address: str) -> float:
    """Seconds from the press to the live graph."""
    page.goto(f"{address}{PAGE}.html")
    run = page.locator(f'[data-cell="{CELL}"] .mgb-run')
    run.scroll_into_view_if_needed()
    page.wait_for_timeout(1000)
    begun = time.monotonic()
    run.click()
    page.wait_for_selector(f'[data-cell="{CELL}"] .mgb-view .mg-root, .mgb-bad', timeout=runs.START)
    taken = time.monotonic() - begun
    if page.locator(".mgb-bad").count():
        raise RuntimeError(page.locator(runs.SAID).inner_text())
    return taken


def main(folder: str = str(ROOT / "build/book")) -> None:
    first, later, paints, overheads = [], [], [], []
    with sync_playwright() as playwright, runs.served(Path(folder)) as address:
        for _ in range(TIMES):
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            first.append(pressed(page := context.new_page(), address))
            runs.quiet(page)
            overheads.append(page.evaluate(OVERHEAD, CELL))
            page.wait_for_timeout(500)  # until the cell is kept as it was
            page.close()
            later.append(pressed(page := context.new_page(), address))
            reader = context.new_page()
            reader.goto(f"{address}{PAGE}.html")
            reader.wait_for_timeout(800)
            paints.append(reader.evaluate(PAINT))
            browser.close()
    manifest = json.loads((Path(folder) / "_static/python/manifest.js").read_text()[len('mgHand("python",') : -1])
    size = sum(manifest["files"][name]["bytes"] for name in manifest["start"])
    print(f"{PAGE}, medians of {TIMES} at a load of {os.getloadavg()[0]:.1f}")
    print(
        f"press to live graph: {statistics.median(first):.1f} s on a first visit, {statistics.median(later):.1f} s on later ones"
    )
    print(f"a cell beside its own work: {statistics.median(overheads):.0f} ms")
    print(f"first paint of a page that is read: {statistics.median(paints):.0f} ms")
    print(f"bytes of a start: {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
