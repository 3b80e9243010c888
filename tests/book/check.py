"""The built book in a real Chromium, opened from the disk: `make book-check`, or `python -m tests.book.check [folder]`.

Each page opens without an error and asks for nothing but its own files; predictions open what they should; every graph is stepped to its
end and shows the engine's gradients there; the controls of each lesson show what the lesson showed; links lead somewhere; nothing scrolls
sideways on a phone; axe finds nothing serious, in light and dark; the first chapter is light. What does not live here: building
(__main__.py), and whether a recording is what the lesson shows (tests/browser/test_book.py).
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Locator, Page, TimeoutError

from tests.book.record import rounded
from tests.browser.lab import NO_CHROMIUM, ROOT, chromium, find_chromium

LIGHT = 300_000  # bytes, compressed, of everything that the first chapter asks for
SAID = "e => e.querySelector('.mg-words').textContent"
SHOWN = "e => ['.mg-figure', '.mg-words', '.mg-note', '.mg-code-line', '.mg-below'].map((part) => e.querySelector(part)?.innerHTML).join()"
CARDS = """e => [...e.querySelectorAll('.mg-card')].map((card) =>
    [card.getAttribute('aria-label').split(/ = |, |: /)[0], card.querySelector('.mg-grad')?.textContent ?? ''])"""


def problems(context: BrowserContext, file: Path) -> tuple[list[str], int]:
    """What is wrong with a page, in sentences; and what it weighs, compressed, with all that it asks for."""
    page, found, asked = context.new_page(), [], {file}
    page.on("console", lambda message: found.append(f"console: {message.text}") if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: found.append(f"script: {error}"))

    def ask(request):
        if request.url.startswith(file.parent.as_uri()):
            asked.add(Path(url2pathname(urlsplit(request.url).path)))
        elif not request.url.startswith(("data:", "blob:")):
            found.append(f"asks for {request.url}")

    page.on("request", ask)
    page.goto(file.as_uri())
    page.set_default_timeout(30_000)
    found += predictions(page)
    for figure in page.locator("[data-live]").all():
        figure.scroll_into_view_if_needed()
        try:
            page.wait_for_function("e => e.dataset.open === 'yes'", arg=figure.element_handle())
            found += moved(figure, file.parent)
        except TimeoutError as error:
            found.append(f"{figure.get_attribute('data-live')}: {error}")
    found += links(page, file)
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.body.dataset.theme = theme }", theme)
        found += serious(page, theme)
    page.set_viewport_size({"width": 390, "height": 844})
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("scrolls sideways on a phone")
    page.close()
    weight = sum(len(gzip.compress(path.read_bytes())) for path in asked)
    if file.name.startswith("00") and weight > LIGHT:
        found.append(f"weighs {weight} bytes")
    return found, weight


def predictions(page: Page) -> list[str]:
    """Nothing is shown before a prediction is made, and everything that waits for it afterwards."""
    hidden = page.locator(".tag_mg-answer .cell_output")
    found = ["an answer is shown before the prediction"] if hidden.locator("visible=true").count() else []
    for form in page.locator(".mg-guess").all():
        answers = page.locator(f".tag_mg-for-{form.get_attribute('data-for')} .cell_output")
        form.locator("button").evaluate("e => e.click()")
        if form.locator("input").count() and answers.locator("visible=true").count():
            found.append("an answer opens without a prediction")
        for field in form.locator("input").all():
            field.fill("7")
        if form.locator("button").count():
            form.locator("button").click()
        if not answers.count():
            found.append(f"a prediction opens nothing: {form.get_attribute('data-for')}")
    return found + (["an answer stays closed"] if hidden.count() != hidden.locator("visible=true").count() else [])


def moved(figure: Locator, folder: Path) -> list[str]:
    """Step a graph to its end, move each control of a lesson and press each button, and compare with what Python recorded."""
    key = figure.get_attribute("data-live")
    script = (folder / f"_static/live/{key}.js").read_text()
    data = json.loads(zlib.decompress(base64.b64decode(script.split('"')[3])))
    about = data.get("kind", "graph")
    found = [] if data["part"] == "lesson" else stepped(figure, data["state"]["trace"])
    if data["part"] == "lesson":
        found = played(figure, data["table"])
        below = data["table"]["scenes"][data["table"]["at"][data["table"]["start"]]]["below"]
        roots = figure.locator(".mg-root").all()
        for name, root in zip(below, roots, strict=False) if not found else ():
            found += stepped(root.locator("xpath=.."), data["table"]["children"][name]["trace"])
    return [f"{about} {key}: {problem}" for problem in found]


def stepped(figure: Locator, trace: dict[str, Any]) -> list[str]:
    """At its end, a graph shows the gradients of the engine; at its start it shows none."""
    root = figure.locator(".mg-root").first
    grads: dict[str, list[float]] = {}
    for node in trace["nodes"]:
        if isinstance(node.get("grad"), (int, float)):
            grads.setdefault(node["label"], []).append(node["grad"])
    root.locator(".mg-start").first.evaluate("e => e.click()")
    start = root.get_attribute("data-step")
    early = [number(text) for _, text in root.evaluate(CARDS)]
    root.locator(".mg-end").first.evaluate("e => e.click()")
    late = [(label, number(text)) for label, text in root.evaluate(CARDS)]
    found = [] if (start, root.get_attribute("data-step")) == ("0", str(len(trace["steps"]))) else ["does not step to its end"]
    found += ["shows gradients before it starts"] if any(x is not None for x in early) else []
    for label, shown in late:
        if shown is not None and label in grads and not any(abs(shown - g) <= 0.006 * abs(g) + 1e-9 for g in grads[label]):
            found.append(f"{label} has the gradient {shown}, and the engine says {grads[label]}")
    if grads and not any(shown is not None for _, shown in late) and root.locator(".mg-card").count():
        found.append("shows no gradient at its end")
    return found


def number(text: str) -> float | None:
    found = re.fullmatch(r"[▴▾]? ?(-?[\d.]+(?:e-?\d+)?)", text.strip().replace("−", "-").replace(",", ""))
    return float(found[1]) if found else None


def played(figure: Locator, table: dict[str, Any]) -> list[str]:
    """Each control at its last place, and each button, shows the recorded sentence; and something changes."""
    found, changes = [], 0
    start = table["start"]
    scene = table["scenes"][table["at"][start]]
    sliders = figure.locator(".mg-controls input[type=range]")
    for n, control in enumerate([c for c in scene["controls"] if c["kind"] in ("slider", "moments")]):
        slider = sliders.nth(n)
        if n >= sliders.count() or slider.is_disabled() or control["min"] == control["max"]:
            continue
        before = figure.evaluate(SHOWN)
        last = "End" if control["value"] != control["max"] else "Home"
        place = control["max"] if last == "End" else control["min"]
        slider.press(last)
        moves = changed(figure, before)
        changes += moves
        stays = not moves or slider.input_value() != slider.get_attribute("max" if last == "End" else "min")
        if stays and table["film"] and control["name"] == table["film"]["at"]:
            found.append(f"{control['label']} does not move")
        if not table["film"]:
            found += said(figure, table, table["at"].get(target(table, start, control["name"], place)), f"{control['label']} = {place}")
        slider.fill(str(control["value"]))
        if not table["film"] and table["moves"]:  # it may not lead back: only the first control starts where the lesson starts
            break
    if not table["moves"]:
        return found if changes or not sliders.count() else [*found, "nothing changes when it is moved"]
    if not changes:
        for button in [b for b in scene["buttons"] if b["enabled"] and b["name"] in table["moves"].get(start, {})][:1]:
            before = figure.evaluate(SHOWN)
            figure.get_by_role("button", name=button["label"], exact=True).first.click()
            changes += changed(figure, before)
            found += said(figure, table, table["at"][table["moves"][start][button["name"]][0][1]], button["label"])
    return found if changes else [*found, "nothing changes when it is moved"]


def changed(figure: Locator, before: str) -> bool:
    """Is something else shown than before, within a moment?"""
    try:
        figure.page.wait_for_function(f"([e, before]) => ({SHOWN})(e) !== before", arg=[figure.element_handle(), before], timeout=10_000)
    except TimeoutError:
        return False
    return True


def target(table: dict[str, Any], here: str, name: str, place: Any) -> str:
    """The state to which a control's place leads."""
    known = [to for at, to in table["moves"].get(here, {}).get(name, ()) if at == place]
    places = json.loads(here.partition("\n")[0])
    controls = table["scenes"][table["at"][here]]["controls"]
    place = rounded(place)
    plain = [place if control["name"] == name else at for control, at in zip(controls, places, strict=True)]
    return known[0] if known else json.dumps(plain)


def said(figure: Locator, table: dict[str, Any], at: int | None, move: str) -> list[str]:
    if at is None:
        return [f"{move} was not recorded"]
    wanted, shown = table["scenes"][at]["say"], figure.evaluate(SAID)
    return [] if shown.strip() == wanted.strip() else [f"{move} says {shown!r}, and Python said {wanted!r}"]


def links(page: Page, file: Path) -> list[str]:
    """Links that lead to no file, or to no place in it."""
    found = []
    for href in {a.get_attribute("href") for a in page.locator("article a[href]").all()}:
        name, _, place = href.partition("#")
        to = file.parent / name if name else file
        if "://" in href or href.startswith("mailto:"):
            continue
        if not to.exists() or (place and f'id="{place}"' not in to.read_text(encoding="utf-8")):
            found.append(f"a link leads nowhere: {href}")
    return found


def serious(page: Page, theme: str) -> list[str]:
    answer = Axe().run(page, options={"resultTypes": ["violations"], "preload": False})
    bad = [v for v in answer.response["violations"] if v["impact"] in ("serious", "critical")]
    return [f"{theme}: {v['id']}: {v['help']} ({len(v['nodes'])} times, first {v['nodes'][0]['html'][:160]})" for v in bad]


def main(folder: str = str(ROOT / "build/book"), *names: str) -> int:
    path = find_chromium()
    if path is None:
        sys.exit(NO_CHROMIUM)
    wrong = 0
    pages = [file for file in sorted(Path(folder).resolve().glob("*.html")) if file.name not in ("search.html", "genindex.html")]
    with chromium(path) as context:
        for file in [file for file in pages if not names or file.name.startswith(names)]:
            found, weight = problems(context, file)
            wrong += bool(found)
            print(f"{'✗' if found else '✓'} {file.name} ({weight // 1000} kB)", *found, sep="\n    ", flush=True)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
