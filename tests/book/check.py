"""The built book in a real Chromium, opened from the disk: `make book-check`, or `python -m tests.book.check [folder]`.

Each page opens without an error and without asking for anything but its own files; every picture that can move does; links lead somewhere;
nothing scrolls sideways on a phone; axe finds nothing serious, in light and dark; the first chapter is light. What does not live here:
building (__main__.py), and whether the pictures say what the engine says (tests/browser/test_book.py).
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page

from tests.browser.lab import NO_CHROMIUM, ROOT, chromium, find_chromium

LIGHT = 300_000  # bytes, compressed, of everything that the first chapter asks for


def problems(context: BrowserContext, file: Path) -> list[str]:
    """What is wrong with a page, in sentences."""
    page, found, asked = context.new_page(), [], {file}
    page.on("console", lambda message: found.append(f"console: {message.text}") if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: found.append(f"script: {error}"))

    def ask(request):
        if request.url.startswith(file.parent.as_uri()):
            asked.add(Path(request.url.removeprefix("file://").partition("?")[0]))
        elif not request.url.startswith(("data:", "blob:")):
            found.append(f"asks for {request.url}")

    page.on("request", ask)
    page.goto(file.as_uri())
    for figure in page.locator("[data-live]").all():
        figure.scroll_into_view_if_needed()
        page.wait_for_function("e => e.dataset.open === 'yes'", arg=figure.element_handle())
        found += moved(figure)
    for href in {a.get_attribute("href").partition("#")[0] for a in page.locator("article a[href]").all()}:
        if href and "://" not in href and not (file.parent / href).exists():
            found.append(f"a link leads nowhere: {href}")
    if file.name.startswith("00") and (weight := sum(len(gzip.compress(path.read_bytes())) for path in asked)) > LIGHT:
        found.append(f"weighs {weight} bytes")
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.body.dataset.theme = theme }", theme)
        found += serious(page, theme)
    page.set_viewport_size({"width": 390, "height": 844})
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("scrolls sideways on a phone")
    page.close()
    return found


def moved(figure) -> list[str]:
    """Move the first control of a lesson by one place, or a graph to its end."""
    if figure.locator(".mg-lesson").count():
        slider = figure.locator("input[type=range]:not([disabled])").first
        if not slider.count():
            return []
        before = slider.input_value()
        slider.press("ArrowRight" if before != slider.get_attribute("max") else "ArrowLeft")
        return [f"a slider does not move: {figure.get_attribute('data-live')}"] if slider.input_value() == before else []
    return []


def serious(page: Page, theme: str) -> list[str]:
    answer = Axe().run(page, options={"resultTypes": ["violations"]})
    bad = [v for v in answer.response["violations"] if v["impact"] in ("serious", "critical")]
    return [f"{theme}: {v['id']}: {v['help']} ({len(v['nodes'])} times, first {v['nodes'][0]['html'][:160]})" for v in bad]


def main(folder: str = str(ROOT / "build/book")) -> int:
    path = find_chromium()
    if path is None:
        sys.exit(NO_CHROMIUM)
    wrong = 0
    with chromium(path) as context:
        pages = [file for file in sorted(Path(folder).resolve().glob("*.html")) if file.name not in ("search.html", "genindex.html")]
        for file in pages:
            found = problems(context, file)
            wrong += bool(found)
            print(f"{'✗' if found else '✓'} {file.name}", *found, sep="\n    ")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
