"""The built book in a real Chromium, opened from the disk: `make book-check`, or `python -m tools.book.check [folder]`.

Each page opens without an error and asks for nothing but its own files; predictions open what they should; every graph is stepped to its
end and shows the engine's gradients there; the controls of each lesson show what the lesson showed; links lead somewhere; nothing scrolls
sideways on a phone; axe finds nothing serious, in light and dark; the first chapter is light; and each chapter, run in its page, shows what
its notebook has stored (runs.py). What does not live here: building (__main__.py), and whether a recording is what the lesson shows
(tests/browser/test_book.py).
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Locator, Page, TimeoutError

from tools.book import runs
from tools.lab import NO_CHROMIUM, ROOT, chromium, find_chromium

LIGHT = 300_000  # bytes, compressed, of all requests of the first chapter
WALKED = "01"  # the page that is gone through with Tab, which takes a while
NAMED = {
    "button",
    "checkbox",
    "combobox",
    "image",
    "img",
    "link",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "tab",
    "textbox",
}
SAID = "e => e.querySelector('.mg-words').textContent"
SHOWN = "e => ['.mg-figure', '.mg-words', '.mg-note', '.mg-code-line', '.mg-below'].map((part) => e.querySelector(part)?.innerHTML).join()"
DARK = """() => [...document.querySelectorAll("body, article *")].filter((e) => e.checkVisibility()).filter((e) => {
    const [red, green, blue, seen = 1] = getComputedStyle(e).backgroundColor.match(/[\\d.]+/g).map(Number);
    return seen > 0.5 && red + green + blue < 300 }).map((e) => e.outerHTML.slice(0, 100))"""
CUT = "all => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)"
TABLE = """(e, html) => { const told = document.createElement("template"); told.innerHTML = html;
    return e.querySelector(".mg-numbers:not([hidden]) table") && e.querySelector(".mg-note").textContent === told.content.textContent }"""
WAY = """() => { window.mgWay = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter(
    (e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true })); mgWay[0].focus(); return mgWay.length }"""
AXE = "Failed to execute 'postMessage'"  # axe posts messages to frames, which pages from the disk may not
HERE = """() => { const e = document.activeElement;
    const parts = ["outline", "boxShadow", "stroke", "borderColor", "backgroundColor", "transform", "content"];
    const of = (style) => parts.map((part) => style[part]).join();
    const look = (one) => of(getComputedStyle(one)) + of(getComputedStyle(one, "::after"));
    const looks = () => [e.closest(".highlight") ?? e.parentElement ?? e, e, ...e.querySelectorAll("*")].map(look).join();
    const focused = looks();
    e.blur();
    const seen = looks() !== focused;
    e.focus();
    return [mgWay.indexOf(e), seen, e.outerHTML.slice(0, 120)] }"""
CARDS = """e => [...e.querySelectorAll('.mg-card')].map((card) =>
    [card.getAttribute('aria-label').split(/ = |, |: /)[0], card.querySelector('.mg-grad')?.textContent ?? ''])"""


def problems_of(context: BrowserContext, file: Path) -> tuple[list[str], int]:
    """The faults of a page as sentences, and its compressed size with all its requests."""
    page, problems, asked = context.new_page(), [], {file}
    page.on(
        "console",
        lambda message: (
            problems.append(f"console: {message.text}")
            if message.type in ("error", "warning") and not message.text.startswith(AXE)
            else None
        ),
    )
    page.on("pageerror", lambda error: problems.append(f"script: {error}"))

    def ask(request):
        if request.url.startswith(file.parent.as_uri()):
            asked.add(Path(url2pathname(urlsplit(request.url).path)))
        elif not request.url.startswith(("data:", "blob:")):
            problems.append(f"asks for {request.url}")

    page.on("request", ask)
    page.goto(file.as_uri())
    page.set_default_timeout(30_000)
    problems += predictions(page)
    for figure in page.locator("[data-live]").all():
        figure.scroll_into_view_if_needed()
        try:
            page.wait_for_function("e => e.dataset.open", arg=figure.element_handle())
            problems += (
                moved(figure, file.parent)
                if figure.get_attribute("data-open") == "yes"
                else ["a picture does not open"]
            )
        except TimeoutError as error:
            problems.append(f"{figure.get_attribute('data-live')}: {error}")
    problems += links(page, file) + printed(page) + heard(page) + (walked(page) if file.name.startswith(WALKED) else [])
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.body.dataset.theme = theme }", theme)
        problems += barriers(page, theme)
        if page.evaluate(
            "theme => [...document.images].some((plot) => getComputedStyle(plot).colorScheme != theme)", theme
        ):
            problems.append(f"{theme}: a plot follows another theme than its page")
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(100)  # formulas are fitted in
    problems += [f"a formula is cut: {text}" for text in page.locator(".math").evaluate_all(CUT)]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        problems.append("scrolls sideways on a phone")
    page.close()
    weight = sum(len(gzip.compress(path.read_bytes())) for path in asked if path.exists())
    if file.name.startswith("00") and weight > LIGHT:
        problems.append(f"weighs {weight} bytes")
    return problems, weight


def predictions(page: Page) -> list[str]:
    """Nothing is shown before a prediction is made, and everything that waits for it afterwards."""
    hidden = page.locator(".tag_mg-answer .cell_output")
    problems = ["an answer is shown before the prediction"] if hidden.locator("visible=true").count() else []
    for form in page.locator(".mg-guess").all():
        answers = page.locator(f".tag_mg-for-{form.get_attribute('data-for')} .cell_output")
        form.locator("button").evaluate("e => e.click()")
        if form.locator("input").count() and answers.locator("visible=true").count():
            problems.append("an answer opens without a prediction")
        for field in form.locator("input").all():
            field.fill("7")
        if form.locator("button").count():
            form.locator("button").click()
        if not answers.count():
            problems.append(f"a prediction opens nothing: {form.get_attribute('data-for')}")
    return problems + (["an answer stays closed"] if hidden.count() != hidden.locator("visible=true").count() else [])


def held(folder: Path, key: str) -> dict[str, Any]:
    """The recording under a name."""
    script = (folder / f"_static/live/{key}.js").read_text()
    return json.loads(zlib.decompress(base64.b64decode(script.split('"')[3])))


def moved(figure: Locator, folder: Path) -> list[str]:
    """Step a graph to its end, move each control of a lesson and press each button, and compare with what Python recorded."""
    key = figure.get_attribute("data-live")
    data = held(folder, key)
    about = data.get("kind", data["part"])
    problems = stepped(figure, data["state"]["trace"]) if data["part"] == "graph" else []
    if data["part"] == "film" and not figure.locator("button").count():
        problems = ["a film without its controls"]
    problems += opened(figure, data, folder) if "opens" in data else []
    if data["part"] == "lesson":
        problems, end = played(figure, data["table"])
        scene = data["table"]["scenes"][data["table"]["at"][end]]
        problems += (
            ["the numbers beside the picture are not those that Python wrote"] if not tabled(figure, scene) else []
        )
        below = scene["below"]
        roots = figure.locator(".mg-root").all()
        for name, root in zip(below, roots, strict=False) if not problems else ():
            problems += stepped(root.locator("xpath=.."), data["table"]["children"][name]["trace"])
    return [f"{about} {key}: {problem}" for problem in problems]


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
    late = [(label, number(text), last_place(text)) for label, text in root.evaluate(CARDS)]
    problems = (
        []
        if (start, root.get_attribute("data-step")) == ("0", str(len(trace["steps"])))
        else ["does not step to its end"]
    )
    problems += ["shows gradients before it starts"] if any(x is not None for x in early) else []
    for label, shown, last in late:
        if (
            shown is not None
            and label in grads
            and not any(abs(shown - g) <= max(0.006 * abs(g), last / 2) + 1e-9 for g in grads[label])
        ):
            problems.append(f"{label} has the gradient {shown}, and the engine says {grads[label]}")
    if grads and not any(shown is not None for _, shown, _ in late) and root.locator(".mg-card").count():
        problems.append("shows no gradient at its end")
    return problems


def opened(figure: Locator, data: dict[str, Any], folder: Path) -> list[str]:
    """Open each card that is closed at first, step the picture to its end each time, and close what can be closed."""
    opens, problems, here, at = data["opens"], [], 0, data["state"]

    def go(word: str, do: Callable[[], None]) -> None:
        nonlocal here, at
        key = int(word.split()[1]) if word[-1].isdigit() else None
        here = opens["states"][here]["moves"].get(word, opens["alone"].get(str(key), [0])[0])
        file = opens["states"][here]["file"]
        at = {**data["state"], **(held(folder, file) if file else {})}
        do()
        there = [figure.element_handle(), len(at["picture"]["cards"])]
        try:
            figure.page.wait_for_function(f"([e, n]) => ({CARDS})(e).length === n", arg=there)
            problems.extend(f"{word}: {problem}" for problem in stepped(figure, at["trace"]))
        except TimeoutError:
            problems.append(f"{word}: another picture than was recorded")

    for key in [node["fold"] for node in at["trace"]["nodes"] if "fold" in node]:
        node = next((node["id"] for node in at["trace"]["nodes"] if node.get("fold") == key), None)
        if node is not None:
            card = figure.locator(f'.mg-fold[data-node="{node}"]')
            go(f"fold {key}", partial(card.press, "Enter"))
    if at["can_fold"]:
        go("fold all", figure.get_by_role("button", name="close all folds").click)
    return problems


def last_place(text: str) -> float:
    """What one more in the last digit would be: a narrow card shows two digits. 0 of a number without a point."""
    match = re.search(r"\.(\d+)$", text.strip())
    return 10.0 ** -len(match[1]) if match else 0.0


def tabled(figure: Locator, scene: dict[str, Any]) -> bool:
    """Whether the table, the picture's text alternative, has the text that Python wrote. True where there is none."""
    return not scene["table"] or bool(figure.evaluate(TABLE, scene["table"]))


def number(text: str) -> float | None:
    match = re.fullmatch(r"[▴▾]? ?(-?[\d.]+(?:e-?\d+)?)", text.strip().replace("−", "-").replace(",", ""))
    return float(match[1]) if match else None


def played(figure: Locator, table: dict[str, Any]) -> tuple[list[str], str]:
    """Move each control as far as it goes, and press each button: the page shows the recording. Returns the state in which it ends."""
    problems: list[str] = []
    here, tried = table["start"], set()
    scene = lambda: table["scenes"][table["at"][here]]  # noqa: E731
    while control := next((c for c in scene()["controls"] if c["name"] not in tried), None):
        tried.add(control["name"])
        if table["film"] and control["name"] == table["film"]["at"]:
            problems += rolled(figure, control)
            continue
        reached = {control["value"]: here} | {
            place: to for place, to in places(table, here, control) if to in table["at"]
        }
        place = max(reached) if max(reached) != control["value"] else min(reached)
        if place != control["value"]:
            to = reached[place]
            problems += led(
                figure, table, (here, to), f"{control['label']} = {place}", lambda c=control, p=place: put(figure, c, p)
            )
            here = to
    pressed: set[str] = set()
    while button := next(
        (b for b in scene()["buttons"] if b["label"] not in pressed), None
    ):  # a press may bring others
        pressed.add(button["label"])
        to = table["moves"].get(here, {}).get(button["name"], [[0, here]])[0][1]
        if to != here:
            press = figure.get_by_role("button", name=button["label"], exact=True).first.click
            problems += led(figure, table, (here, to), button["label"], press)
            here = to
    return problems, here


def led(figure: Locator, table: dict[str, Any], way: tuple[str, str], move: str, do: Callable[[], None]) -> list[str]:
    """Does a move from one state lead to the other?"""
    old, new = (table["scenes"][table["at"][key]] for key in way)
    before = figure.evaluate(SHOWN)
    do()
    if (old["svg"], old["say"]) != (new["svg"], new["say"]) and not changed(figure, before):
        return [f"nothing changes: {move}"]
    shown = figure.evaluate(SAID)
    return (
        []
        if table["film"] or shown.strip() == new["say"].strip()
        else [f"{move} says {shown!r}, and Python said {new['say']!r}"]
    )


def rolled(figure: Locator, control: dict[str, Any]) -> list[str]:
    """A film goes to its other end, and stays there."""
    slider, before = row(figure, control).locator("input"), figure.evaluate(SHOWN)
    end = "max" if slider.input_value() != slider.get_attribute("max") else "min"
    slider.press({"max": "End", "min": "Home"}[end])
    moves = changed(figure, before) and slider.input_value() == slider.get_attribute(end)
    return [] if moves else [f"{control['label']} does not move"]


def row(figure: Locator, control: dict[str, Any]) -> Locator:
    name = figure.page.locator(".mg-name-of").get_by_text(control["label"], exact=True)
    return figure.locator(".mg-control, .mg-bar").filter(has=name).first


def put(figure: Locator, control: dict[str, Any], place: Any) -> None:
    """Put a control at a place: the last one that was recorded."""
    held = row(figure, control)
    if control["kind"] == "toggle":
        held.locator("input").click()
    elif control["kind"] != "choice":
        held.locator("input").press("End" if place > control["value"] else "Home")
    elif held.locator("select").count():
        held.locator("select").select_option(str(place))
    else:
        held.get_by_role("radio").nth(place).click()


def changed(figure: Locator, before: str) -> bool:
    """Is something else shown than before, within a moment?"""
    try:
        figure.page.wait_for_function(
            f"([e, before]) => ({SHOWN})(e) !== before", arg=[figure.element_handle(), before], timeout=10_000
        )
    except TimeoutError:
        return False
    return True


def places(table: dict[str, Any], here: str, control: dict[str, Any]) -> list[tuple[Any, str]]:
    """The places of a control, and the states to which they lead."""
    names = [c["name"] for c in table["scenes"][table["at"][here]]["controls"]]
    i, now = names.index(control["name"]), json.loads(here.partition("\n")[0])
    plain = [(to[i], key) for key in table["at"] if "\n" not in key and len(to := json.loads(key)) == len(now)
             and [*to[:i], *to[i + 1 :]] == [*now[:i], *now[i + 1 :]]]  # fmt: skip
    return [*plain, *table["moves"].get(here, {}).get(control["name"], ())]


def printed(page: Page) -> list[str]:
    """On paper are the stored pictures, without controls; and formulas, on the page too, have their own font and no TeX left in them."""
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_timeout(100)  # the page hears of it
    problems = [f"paper is dark: {html}" for html in page.evaluate(DARK)]
    problems += (
        ["controls are printed"]
        if page.locator(".mg-live[data-open=yes] > div").locator("visible=true").count()
        else []
    )
    problems += [
        f"{what} is printed"
        for what in (".mg-guess", ".skip-to-content")
        if page.locator(what).locator("visible=true").count()
    ]
    stored = page.locator(".mg-live[data-open=yes] > img")
    problems += ["a stored picture is not printed"] if stored.count() != stored.locator("visible=true").count() else []
    page.emulate_media(media="screen", color_scheme="light")
    if formulas := page.locator("math").all_text_contents():
        problems += [f"a formula shows TeX: {text}" for text in formulas if re.search(r"\\|\d(?:pt|em)\b", text)]
        page.evaluate("document.fonts.ready")
        if "loaded" not in page.evaluate("[...document.fonts].map((font) => font.status)"):
            problems.append("the font for mathematics does not load")
    return problems


def heard(page: Page) -> list[str]:
    """What a screen reader would come across, from Chromium's accessibility tree: every control and picture has a name, headings go down
    one level at a time from a single title, there is one main part, and each graph says its last step where it is announced."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    shown = [(n["role"]["value"], n.get("name", {}).get("value", ""), n) for n in nodes if not n["ignored"]]
    problems = [f"a {role} has no name" for role, name, _ in shown if role in NAMED and not name.strip()]
    levels = [
        next(p["value"]["value"] for p in n["properties"] if p["name"] == "level")
        for role, _, n in shown
        if role == "heading"
    ]
    problems += ["headings do not begin with the one title"] if levels[:1] != [1] or levels.count(1) != 1 else []
    problems += ["a heading skips a level"] if any(b > a + 1 for a, b in zip(levels, levels[1:], strict=False)) else []
    problems += [f"there are {n} main parts" for n in [sum(role == "main" for role, _, _ in shown)] if n != 1]
    for root in page.locator("[data-live] .mg-root").all():
        root.locator(".mg-start").evaluate("e => e.click()")
        before = (say := root.locator("[aria-live=polite]").first).text_content()
        root.locator(".mg-end").evaluate("e => e.click()")
        problems += ["a graph does not announce its steps"] if not before or say.text_content() == before else []
    lessons = page.locator(".mg-lesson").all()
    problems += [
        "a lesson announces nothing" for one in lessons if not one.locator("[aria-live], [role=status]").count()
    ]
    return problems


def walked(page: Page) -> list[str]:
    """By Tab alone a reader comes to every link and control, from top to bottom, sees where, and is caught nowhere."""
    count, way, problems = page.evaluate(WAY), [0], []
    for _ in range(2 * count):
        page.keyboard.press("Tab")
        place, seen, html = page.evaluate(HERE)
        if html.startswith("<body"):
            break
        problems += [] if seen else [f"the keyboard's place is not seen: {html}"]
        way += [place] if place >= 0 else []
    missed = [k for k in range(count) if k not in way]
    problems += [
        f"the keyboard does not come to {page.evaluate('k => mgWay[k].outerHTML.slice(0, 120)', k)}" for k in missed
    ]
    return problems + (["the keyboard jumps back"] if way != sorted(way) else [])


def links(page: Page, file: Path) -> list[str]:
    """Links that lead to no file, or to no place in it."""
    problems = []
    for href in {a.get_attribute("href") for a in page.locator("article a[href]").all()}:
        name, _, place = href.partition("#")
        to = file.parent / name if name else file
        if "://" in href or href.startswith("mailto:"):
            continue
        if not to.exists() or (place and f'id="{place}"' not in to.read_text(encoding="utf-8")):
            problems.append(f"a link leads nowhere: {href}")
    return problems


def barriers(page: Page, theme: str) -> list[str]:
    problems = Axe().run(page, options={"resultTypes": ["violations"], "preload": False}).response["violations"]
    for v in problems:  # the text of an editor takes the focus, which axe does not count
        v["nodes"] = [node for node in v["nodes"] if 'class="cm-scroller"' not in node["html"]]
    problems = [v for v in problems if v["nodes"]]
    return [
        f"{theme}: {v['id']}: {v['help']} ({len(v['nodes'])} times, first {v['nodes'][0]['html'][:160]})"
        for v in problems
    ]


def run(context: BrowserContext, folder: Path, names: tuple[str, ...]) -> int:
    """Run all chapters cell by cell in their pages. Returns how many show something else than their notebooks have stored."""
    count = 0
    with runs.served(folder) as address:
        for file in sorted(folder.glob("[0-9]*.html")):
            if names and not file.name.startswith(names):
                continue
            page = context.new_page()
            try:
                wrong, cells, seconds = runs.run_all(page, address, file.stem)
            except RuntimeError as error:  # a book that takes Python from the public host
                print(f"no page was run: {error}")
                return count
            count += bool(wrong)
            same = f"{cells - len(wrong)} of {cells} cells show what is stored"
            print(f"{'✗' if wrong else '✓'} {file.stem} runs in {seconds:.0f} s: {same}", *wrong, sep="\n    ", flush=True)  # fmt: skip
            page.close()
    return count


def main(folder: str = str(ROOT / "build/book"), *names: str) -> int:
    path = find_chromium()
    if path is None:
        sys.exit(NO_CHROMIUM)
    wrong = 0
    # That one is a frame
    pages = sorted({*Path(folder).resolve().glob("*.html")} - {Path(folder).resolve() / "embed.html"})
    with chromium(path) as context:
        for file in [file for file in pages if not names or file.name.startswith(names)]:
            problems, weight = problems_of(context, file)
            wrong += bool(problems)
            print(f"{'✗' if problems else '✓'} {file.name} ({weight // 1000} kB)", *problems, sep="\n    ", flush=True)
        wrong += run(context, Path(folder).resolve(), names)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
