"""Chapter 18 in a real JupyterLab: an edge tapped by menu and keyboard, the nan traced, predicted and typed away, light and dark."""

import re

import pytest
from playwright.sync_api import expect

NOTEBOOK = "18_instruments.ipynb"
ON_PURPOSE = ("returned nan values", "has changed the size of value")
OPENED = 7  # the cell that begins with %%predict 18.a


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if not any(text in e for text in ON_PURPOSE)]
    return nb


def lesson(nb, name, nth=0):
    box = nb.page.locator(f".{name}").nth(nth)
    box.scroll_into_view_if_needed()
    return box


def test_tap_and_trace(chapter):
    assert len(chapter.cell_errors()) == 2 and all(any(t in e for t in ON_PURPOSE) for e in chapter.cell_errors())

    box = lesson(chapter, "mg-hook-tap")
    expect(box).to_contain_text("1 flows here. The hook only looks; nothing changes.")
    box.get_by_role("radio", name="u → x").click()
    expect(box).to_contain_text("Edge u → x: 36 flows here")
    box.get_by_role("radio", name="multiply by").click()
    expect(box).to_contain_text("the hook turned 36 into 18, so x.grad is 19 in place of 37")
    amount = box.get_by_label("amount")
    amount.fill("1")
    amount.press("Enter")
    expect(box).to_contain_text("the hook turned 36 into 36, and no leaf's gradient changes")
    expect(box).to_contain_text("u.grad_fn.register_hook(lambda gi, go: (gi[0], gi[1] * 1))")

    expect(chapter.page.locator("svg.plot")).to_have_count(4)
    box = lesson(
        chapter, "mg-nan-tracer"
    )  # the one that the prediction would open comes before it, and is still closed
    expect(box).to_contain_text("First nan: forward, entry 1: 0 × (−∞) = nan.")
    lesson(chapter, "mg-nan-tracer", 1)
    expect(lesson(chapter, "mg-nan-tracer", 1)).to_contain_text("First nan: backward sqrt → x, entry 1")
    for theme in chapter.themes():
        lesson(chapter, "mg-nan-tracer")
        chapter.shot(f"chapter-18-vectors-{theme}")

    expect(chapter.cell(OPENED)).to_contain_text("no prediction yet")
    chapter.cell(OPENED - 1).locator(".cm-content").click()
    chapter.page.keyboard.press("Control+End")
    for _ in range(5):
        chapter.page.keyboard.press("Backspace")
    chapter.page.keyboard.type('"c")')
    chapter.page.keyboard.press("Shift+Enter")
    expect(chapter.cell(OPENED - 1)).to_contain_text("you predict c")
    chapter.cell(OPENED).locator(".cm-content").click()
    chapter.page.keyboard.press("Shift+Enter")
    expect(chapter.cell(OPENED)).to_contain_text("you predicted c, it is b")
    box = lesson(chapter, "mg-nan-tracer")
    expect(box).to_contain_text("First nan: forward at b")
    x = box.get_by_label("x", exact=True)
    x.fill("0.5")
    x.press("Enter")
    expect(box).to_contain_text("Every value and every gradient is finite.")
    program = box.get_by_label("program")
    program.fill("y = log(x) + blub(x)")
    program.press("Enter")
    expect(box.get_by_role("status")).to_contain_text("blub(…) is not known here")
    program.fill("p = exp(1000*x); q = p - p")
    program.press("Enter")
    expect(box.get_by_role("status")).to_contain_text(
        re.compile("First infinity: forward at p, .*First nan: forward at q")
    )

    for theme in chapter.themes():
        lesson(chapter, "mg-nan-tracer")
        chapter.shot(f"chapter-18-tracer-{theme}")
        lesson(chapter, "mg-hook-tap")
        chapter.shot(f"chapter-18-{theme}")
