"""Chapter 03 in a real JupyterLab: the chain under its slider by keyboard, the learner's own program, paths, direction, table."""

import math

import pytest
from playwright.sync_api import expect

NOTEBOOK = "03_chain_rule.ipynb"


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if "ValueError" not in e]  # the error that the chapter shows on purpose
    return nb


def lesson(nb, k):
    """The chapter's chains: 0 the canned start, 1 sin(exp(x²)), 2 two paths, 3 fifty steps."""
    box = nb.page.locator(".mg-chain").nth(k)
    box.scroll_into_view_if_needed()
    return box


def only_the_error_on_purpose(chapter):
    assert len(chapter.cell_errors()) == 1 and "ValueError" in chapter.cell_errors()[0]


def the_slider_by_keyboard(chapter):
    box = lesson(chapter, 0)
    expect(box).to_contain_text("10 × 1 × 3 = 30")
    box.locator(".noUi-handle").focus()
    chapter.page.keyboard.press("End")
    expect(box.get_by_role("status").last).to_contain_text(f"At x = 3: dy/dx = 22 × 1 × 3 = {6 * (3 * 3 + 2)}.")
    chapter.page.keyboard.press("Home")
    expect(box.get_by_role("status").last).to_contain_text("= −42.")


def direction_and_table(chapter):
    box = lesson(chapter, 1)
    box.get_by_role("button", name="from the start").click()
    expect(box.get_by_role("status").last).to_contain_text("1 × 1.284 × 0.28286 = 0.363195")
    box.get_by_text("The same numbers as a table").click()
    expect(box.locator("table")).to_contain_text("dy/dv = cos(v)")
    expect(box.locator("table")).to_contain_text(f"{math.cos(math.exp(0.25)):.6g}")


def own_program_and_nonsense(chapter):
    box = lesson(chapter, 2)
    field = box.locator("input[type=text]").first
    field.fill("a = x*x; y = a*x")
    field.press("Enter")
    expect(box).to_contain_text("4 + 4 + 4 = 12")
    field.fill("x*(")
    field.press("Enter")
    expect(box.get_by_role("alert").first).to_contain_text("cannot read")
    expect(box).to_contain_text("4 + 4 + 4 = 12")


def test_chapter(chapter):
    for act in (only_the_error_on_purpose, the_slider_by_keyboard, direction_and_table, own_program_and_nonsense):
        act(chapter)
    for theme in ("light", "dark"):
        chapter.theme(theme)
        lesson(chapter, 1)
        chapter.shot(f"chapter-03-{theme}")
