"""Chapter 01 in a real JupyterLab: stepped by mouse and keyboard, sliders moved, and every number read from the page."""

import nbformat
import pytest
from playwright.sync_api import expect

from tools.lab import ROOT

NOTEBOOK = "01_three_ways.ipynb"


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [
        e for e in nb.errors if "must be real number" not in e
    ]  # the error that the chapter shows on purpose
    return nb


def lesson(nb, name):
    box = nb.page.locator(f".{name}").first
    box.scroll_into_view_if_needed()
    return box


def button(box, name):
    """One of the view's buttons: "next" or "back"."""
    return box.locator(f".mg-{name}")


def only_the_error_on_purpose(chapter):
    assert len(chapter.cell_errors()) == 1 and "must be real number, not Value" in chapter.cell_errors()[0]


def step_to_the_end_by_mouse(chapter):
    box = lesson(chapter, "mg-stepper")
    expect(box).to_contain_text("0 / 8")
    for _ in range(4):
        button(box, "next").click()
    expect(box).to_contain_text("y becomes 25")
    for _ in range(4):
        button(box, "next").click()
    expect(box).to_contain_text("8 / 8")
    expect(box).to_contain_text("p passes 30 back to x")
    for _ in range(8):
        button(box, "back").click()
    expect(box).to_contain_text("0 / 8")


def step_to_the_end_by_keyboard(chapter):
    box = lesson(chapter, "mg-stepper")
    button(box, "next").focus()
    for _ in range(8):
        chapter.page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("8 / 8")
    expect(box).to_contain_text("p passes 30 back to x")
    chapter.page.keyboard.press("Home")
    expect(box).to_contain_text("0 / 8")
    chapter.page.keyboard.press("End")
    expect(box).to_contain_text("8 / 8")


def the_slider_gives_the_true_values(chapter):
    box = lesson(chapter, "mg-stepper")
    slider = box.get_by_role("slider", name="x", exact=True)
    slider.focus()
    for key, x in (("End", 3), ("Home", -3)):
        chapter.page.keyboard.press(key)
        expect(box).to_contain_text(str((3 * x + 2) ** 2))  # the kernel has answered
        button(box, "next").focus()
        chapter.page.keyboard.press("End")
        expect(box).to_contain_text(str((3 * x + 2) ** 2))
        expect(box).to_contain_text(str(abs(6 * (3 * x + 2))))
        slider.focus()


def own_program(chapter):
    box = lesson(chapter, "mg-stepper")
    field = box.locator("input[type=text]").first
    field.fill("x*x*x")
    field.press("Enter")
    expect(box).to_contain_text("x*x*x")
    field.fill("x +")
    field.press("Enter")
    expect(box.locator(".mg-words")).to_contain_text("cannot read")


def a_prediction_opens_its_cell(chapter):
    for number, source in enumerate(chapter_sources()):
        if source.startswith("%%predict 01.a\n"):
            opened = number
    asked = opened - 2
    expect(chapter.cell(opened)).to_contain_text("no prediction yet")
    chapter.cell(asked).locator(".cm-content").click()
    chapter.page.keyboard.press("Control+End")
    for _ in range(5):
        chapter.page.keyboard.press("Backspace")
    chapter.page.keyboard.type("10)")
    chapter.page.keyboard.press("Shift+Enter")
    expect(chapter.cell(asked)).to_contain_text("noted, you predict 10")
    chapter.cell(opened).locator(".cm-content").click()
    chapter.page.keyboard.press("Shift+Enter")
    expect(chapter.cell(opened)).to_contain_text("you predicted 10, the run gave 30")
    expect(chapter.cell(opened)).to_contain_text("You stopped at the square")


def chapter_sources():
    return [cell.source for cell in nbformat.read(ROOT / "notebooks" / NOTEBOOK, as_version=4).cells]


def the_step_size_slider(chapter):
    box = lesson(chapter, "mg-step-size")
    expect(box).to_contain_text("12.000000000000000")
    expect(box).to_contain_text(f"{(2.1**3 - 1.9**3) / 0.2:.13f}"[:14])
    box.get_by_role("slider", name="step h").focus()
    for _ in range(16):  # four powers of ten
        chapter.page.keyboard.press("ArrowLeft")
    expect(box).to_contain_text("h = 1e−5")
    expect(box.get_by_role("status")).to_contain_text("10 correct digits")


def test_chapter(chapter):
    for act in (
        only_the_error_on_purpose,
        step_to_the_end_by_mouse,
        step_to_the_end_by_keyboard,
        the_slider_gives_the_true_values,
        own_program,
        the_step_size_slider,
        a_prediction_opens_its_cell,
    ):
        act(chapter)
    for theme in chapter.themes():
        lesson(chapter, "mg-step-size")
        chapter.shot(f"chapter-01-{theme}")
