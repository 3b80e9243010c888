"""The page of a class in a browser: light and dark, every exercise and everybody shown, and links that lead to feedback."""

import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.course.classroom import make_class


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    root = tmp_path_factory.mktemp("class")
    make_class(root / "in", 6)
    (root / "in" / "ada").mkdir()
    (root / "in" / "ada" / "05_x.html").write_text("<html>", encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "minigrad.course.grade", "in", "-o", "out", "-e", "08", "09"], cwd=root, check=True
    )
    return root / "out"


@pytest.mark.parametrize("theme, dark", [("light", False), ("dark", True)])
def test_class_page(grades, browser_context, theme, dark):
    page = browser_context.browser.new_page(viewport={"width": 1400, "height": 1000})
    page.emulate_media(color_scheme=theme)
    faults = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.goto((grades / "summary.html").as_uri())
    back, ink = (page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color"))
    assert (brightness(back) < brightness(ink)) is dark and abs(brightness(back) - brightness(ink)) > 150
    for id in ("08.b", "08.c", "09.b", "09.c", "09.d"):
        expect(page.get_by_role("cell", name=id, exact=True).first).to_be_visible()
    expect(page.locator("body")).to_contain_text("no notebook was handed in, only 05_x.html")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "nothing sticks out of a narrow window"
    long = "[...document.querySelectorAll('td')].filter((cell) => cell.innerText.length > 20 && cell.offsetWidth)"
    assert page.evaluate(f"Math.min(...{long}.map((cell) => cell.offsetWidth))") > 120, (
        "a title is not broken into letters"
    )
    page.get_by_role("link", name="student000").first.click()
    expect(page.locator("h1")).to_contain_text("student000")
    assert faults == []
    page.close()


def brightness(colour):
    red, green, blue = (float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return 0.3 * red + 0.59 * green + 0.11 * blue
