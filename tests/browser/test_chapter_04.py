"""Chapter 04 in a real JupyterLab: the ledger filled in by keyboard, wrong cells explained, step back, the learner's own program."""

import re

import pytest
from playwright.sync_api import expect

NOTEBOOK = "04_backward_by_hand.ipynb"


@pytest.fixture
def chapter(open_notebook):
    return open_notebook(NOTEBOOK).run_all()


def lesson(nb, k):
    """The chapter's ledgers: 0 the canned start, 1 two paths (filled in), 2 a line, 3 a function."""
    box = nb.page.locator(".mg-ledger").nth(k)
    box.scroll_into_view_if_needed()
    return box


def no_error(chapter):
    assert chapter.cell_errors() == []


def the_ledger_by_keyboard_alone(chapter):
    box, keyboard = lesson(chapter, 0), chapter.page.keyboard
    first = box.get_by_title("local derivative dc/db, row to b")
    first.focus()
    keyboard.type("7")
    keyboard.press("Enter")
    expect(box.get_by_role("status")).to_contain_text("7 is the value of b")
    expect(box.locator("[data-mood=wrong]")).to_have_count(1)
    first.fill("")
    for done, text in enumerate(
        ("2b", "14", "14", "1", "14", "14", "3", "42", "42"), 1
    ):  # Tab goes through the cells row by row
        keyboard.type(text)
        keyboard.press("Tab")
        expect(box.locator(".mg-sheet [data-mood=right]")).to_have_count(done)
    expect(box.get_by_role("status")).to_contain_text(
        "The ledger is complete. At x = 2: dc/dx = 42. All of it is yours."
    )
    expect(box.locator(".mg-sheet [data-mood=right]")).to_have_count(9)
    expect(box.locator("[data-mood=wrong]")).to_have_count(0)
    expect(box.locator("svg").first).to_contain_text("grad42")


def step_back_and_another_input(chapter):
    box = lesson(chapter, 0)
    box.get_by_role("button", name="empty the ledger").click()
    expect(box).to_contain_text("Fill in the 9 cells.")
    box.get_by_role("button", name="step back").click()
    expect(box).to_contain_text("c passes 1 × 14 = 14 to b")
    for said in ("b passes 14 × 1 = 14 to a", "a passes 14 × 3 = 42 to x"):
        box.get_by_role("button", name="step back").press("Enter")
        expect(box).to_contain_text(said)
    box.get_by_role("button", name="step back").press("Enter")
    expect(box).to_contain_text("The ledger is complete. At x = 2: dc/dx = 42.")
    field = box.get_by_label("x", exact=True)
    field.fill("-1")
    field.press("Enter")
    expect(box).to_contain_text("At x = −1: c = 4, and c starts with the seed 1. Fill in the 9 cells.")
    expect(box.get_by_role("button", name="step back")).to_be_enabled()


def paths_are_added(chapter):
    box = lesson(chapter, 1)
    expect(box).to_contain_text("dc/dx = 11")
    box.get_by_role("button", name="empty the ledger").click()
    last = box.get_by_title(re.compile(r"^x\.grad"))
    expect(last).to_have_value("")  # the kernel has emptied it
    last.fill("30")
    last.press("Enter")
    expect(box.get_by_role("status")).to_contain_text("30 is the product of the contributions")


def own_program_and_nonsense(chapter):
    box = lesson(chapter, 2)
    field = box.get_by_label("program")
    field.fill("y = x*x")
    field.press("Enter")
    expect(box.locator(".mg-sheet .mg-field")).to_have_count(5)
    field.fill("x*(")
    field.press("Enter")
    expect(box.get_by_role("status")).to_contain_text("cannot read")
    expect(box.locator(".mg-sheet .mg-field")).to_have_count(5)
    expect(lesson(chapter, 3)).to_contain_text("out = q − x")


def reduced_motion_and_motion(chapter):
    box = lesson(chapter, 0)
    first = box.get_by_title("local derivative dc/db, row to b")
    count = "window.shaken = 0; const old = Element.prototype.animate; Element.prototype.animate = function (...x) { "
    chapter.page.evaluate(f"() => {{ {count} window.shaken++; return old.apply(this, x); }}; }}")
    for motion, typed, shaken in (("reduce", "6", 0), ("no-preference", "7", 1)):
        chapter.page.emulate_media(reduced_motion=motion)
        first.fill(typed)
        first.press("Enter")
        expect(box.get_by_role("status")).to_contain_text(f"{typed} ")
        expect(box.locator("[data-mood=wrong]")).to_have_count(1)
        assert chapter.page.evaluate("window.shaken") == shaken


def a_wrong_number(chapter):
    box = lesson(chapter, 0)
    field = box.get_by_label("x", exact=True)
    field.fill("2")
    field.press("Enter")
    expect(box).to_contain_text("At x = 2: c = 49, and c starts with the seed 1. Fill in the 9 cells.")
    box.get_by_role("button", name="step back").click()
    expect(box).to_contain_text("c passes 1 × 14 = 14 to b")
    second = box.get_by_title("what b passes to a")
    second.fill("1")
    second.press("Enter")
    expect(box.get_by_role("status")).to_contain_text("1 is the local derivative alone")


def test_chapter(chapter):
    for act in (
        no_error,
        the_ledger_by_keyboard_alone,
        step_back_and_another_input,
        paths_are_added,
        own_program_and_nonsense,
        reduced_motion_and_motion,
        a_wrong_number,
    ):
        act(chapter)
    for theme in chapter.themes():
        expect(lesson(chapter, 0).get_by_role("status")).to_contain_text("1 is the local derivative alone")
        chapter.shot(f"chapter-04-{theme}")
