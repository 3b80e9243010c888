"""Chapter 05 in a real JupyterLab: the order game played, the duel stepped, and the learner's own class run in it."""

import nbformat
import pytest
from playwright.sync_api import expect

from minigrad.course import exercises
from tools.lab import ROOT

NOTEBOOK = "05_build_the_engine.ipynb"


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [
        e for e in nb.errors if "unsupported operand" not in e
    ]  # the error that the chapter shows on purpose
    return nb


def press(box, name):
    box.get_by_role("button", name=name, exact=True).click()


def only_the_error_on_purpose(chapter):
    assert (
        len(chapter.cell_errors()) == 1
        and "unsupported operand type(s) for *: 'int' and 'Tiny'" in chapter.cell_errors()[0]
    )


def the_game_by_mouse_and_keyboard(chapter):
    box = chapter.page.locator(".mg-order-game")
    for name in "yecfd":
        press(box, name)
        expect(box.get_by_role("button", name=name, exact=True)).to_be_disabled()
    expect(box).to_contain_text("a.grad = 19 (right: 25)")
    expect(box).to_contain_text("c runs too early")
    press(box, "start again")
    for name in "yfedc":
        button = box.get_by_role("button", name=name, exact=True)
        expect(button).to_be_enabled()
        button.press("Enter")
        expect(button).to_be_disabled()
    expect(box).to_contain_text("a.grad = 25, b.grad = 19")
    expect(box.get_by_role("button", name="plain recursion")).to_have_count(0)  # what it gives is asked further down


def nothing_is_given_away(chapter):
    for text in ("29, not 25", "decision boundary of your network"):
        expect(chapter.page.locator(".jp-OutputArea-output", has_text=text)).to_have_count(0)
    assert chapter.page.get_by_text("no prediction yet").count() >= 2
    expect(chapter.page.get_by_text("05.c: not passed yet").first).to_be_visible()


def the_untouched_class_gets_a_sentence(chapter):
    box = chapter.page.locator(".mg-own-engine").first
    expect(box.get_by_role("status")).to_contain_text("gives None: its operator has no return yet")


def test_chapter(chapter):
    for act in (
        only_the_error_on_purpose,
        nothing_is_given_away,
        the_game_by_mouse_and_keyboard,
        the_untouched_class_gets_a_sentence,
    ):
        act(chapter)
    for theme in chapter.themes():
        chapter.page.locator(".mg-order-game").scroll_into_view_if_needed()
        chapter.shot(f"chapter-05-{theme}")


def test_the_duel_opens_after_a_prediction_and_is_stepped(open_notebook):
    stored = nbformat.read(ROOT / "notebooks" / NOTEBOOK, as_version=4)
    cells = {cell.id: cell.source for cell in stored.cells}
    nb = open_notebook(
        [cells["c05-setup"], cells["c05-recursion"], exercises["05.a2"].solution, cells["c05-duel-recursion"]]
    ).run_all()
    box = nb.page.locator(".mg-own-engine")
    box.scroll_into_view_if_needed()
    expect(box).to_contain_text("c runs too early")
    expect(box).to_contain_text("29, not 25")
    box.get_by_role("slider", name="step").focus()
    nb.page.keyboard.press("Home")
    expect(box).to_contain_text("Forward is done: 7 values")
    press(box, "step (→)")
    expect(box).not_to_contain_text("Forward is done: 7 values")
    press(box, "step (→)")
    expect(box).to_contain_text("y passes its gradient back to e: e.grad goes from 0 to 1")
    expect(box).not_to_contain_text("29, not 25")


def test_the_learners_class_runs_in_the_widget(open_notebook):
    """The reference solutions stand in for a learner's answer."""
    stored = nbformat.read(ROOT / "notebooks" / NOTEBOOK, as_version=4)
    line = next(cell.source for cell in stored.cells if cell.source.startswith("own_engine(Value"))
    nb = open_notebook(
        ["from widgets.lessons import own_engine", exercises["05.a"].solution, exercises["05.b"].solution, line]
    ).run_all()
    box = nb.page.locator(".mg-own-engine")
    expect(box).to_contain_text("All 7 values and all 7 gradients agree")
    box.get_by_label("program").select_option("y = (3x + 2)²")
    expect(box).to_contain_text("All 6 values")
    expect(box).to_contain_text("✓ 30")
    box.get_by_role("slider", name="x").focus()  # from 1 to 2 in steps of 0.1
    for _ in range(10):
        nb.page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("✓ 48")
    assert nb.cell_errors() == []
