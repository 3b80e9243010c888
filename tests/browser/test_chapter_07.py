"""Chapter 07 in a real JupyterLab: buckets filled and emptied by mouse and keyboard, two loops compared, the learner's own loop."""

import nbformat
import pytest
from playwright.sync_api import expect

from minigrad.course import exercises

from .lab import ROOT

NOTEBOOK = "07_accumulation.ipynb"


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if "NoneType" not in e]  # the error that the chapter shows on purpose
    return nb


def lesson(nb, name, nth=0):
    box = nb.page.locator(f".{name}").nth(nth)
    box.scroll_into_view_if_needed()
    return box


def press(box, name):
    box.get_by_role("button", name=name, exact=True).click()


def keys(nb, box, slider, key, times):
    box.get_by_role("slider", name=slider, exact=True).focus()
    for _ in range(times):
        nb.page.keyboard.press(key)


def only_the_error_on_purpose(chapter):
    assert len(chapter.cell_errors()) == 1 and "'NoneType' object has no attribute 'zero_'" in chapter.cell_errors()[0]


def the_bucket_by_mouse_and_keyboard(chapter):
    box = lesson(chapter, "mg-bucket")
    expect(box).to_contain_text("no bucket yet")
    for held in (6, 12, 18):
        press(box, "y.backward()")
        expect(box).to_contain_text(f"x.grad = {held}")
    keys(chapter, box, "x", "ArrowRight", 10)  # x from 1 to 2: the next pass adds 12
    expect(box).to_contain_text("The next pass takes x = 2.")
    box.get_by_role("button", name="y.backward()", exact=True).press("Enter")
    expect(box.get_by_role("status")).to_contain_text("18 + 12 = 30")
    press(box, "x.grad.zero_()")
    expect(box).to_contain_text("the bucket is there, and empty")
    press(box, "x.grad = None")
    press(box, "x.grad.zero_()")
    expect(box.get_by_role("status")).to_contain_text("AttributeError")
    press(box, "start again")
    expect(box).to_contain_text("nothing yet")


def the_graph_of_two_uses(chapter):
    view = chapter.page.locator(".mg-next").first
    for _ in range(5):
        view.click()
    expect(chapter.page.locator(".jp-Cell", has=view).first).to_contain_text("x")
    expect(chapter.page.locator(".jp-Cell", has=view).first).to_contain_text("7")


def two_loops(chapter):
    box = lesson(chapter, "mg-two-loops")
    expect(box).to_contain_text("the update of step 30 reads 37.75, the right one −0.004009")
    keys(chapter, box, "step", "ArrowLeft", 27)
    # w after 2 right steps is 3.3777..., and so on: gradients of sum (wx - y)² on (1, 2), (2, 4.5), (3, 5.5), lr 0.01
    expect(box).to_contain_text("the update of step 3 reads −107.7, the right one −28.51")
    box.get_by_role("radio", name="zero_grad before step").click()
    expect(box).to_contain_text("w stays at 0")
    box.get_by_role("radio", name="zero_grad after step").click()
    expect(box).to_contain_text("the same numbers in all 30 steps")


def micro_batches(chapter):
    box = lesson(chapter, "mg-micro-batches")
    expect(box).to_contain_text("✓ 4 micro-batches of 2, each loss divided by 4: w.grad = 7.5.")
    box.locator("input[type=checkbox]").uncheck()
    expect(box).to_contain_text("w.grad = 30. One batch of 8 gives 7.5. 4 times too much.")
    keys(chapter, box, "micro-batches", "ArrowRight", 1)
    expect(box).to_contain_text("8 times too much")


def test_chapter(chapter):
    for act in (only_the_error_on_purpose, the_bucket_by_mouse_and_keyboard, the_graph_of_two_uses, two_loops, micro_batches):
        act(chapter)
    for theme in ("light", "dark"):
        chapter.theme(theme)
        lesson(chapter, "mg-two-loops")
        chapter.shot(f"chapter-07-{theme}")


def test_the_learners_loop_runs_in_the_widget(open_notebook):
    stored = nbformat.read(ROOT / "notebooks" / NOTEBOOK, as_version=4)
    line = next(cell.source for cell in stored.cells if cell.source == "two_loops(train)")
    nb = open_notebook(["from widgets.lessons import two_loops", exercises["07.b"].solution, line]).run_all()
    expect(nb.page.locator(".mg-two-loops")).to_contain_text("✓ your train: the same numbers in all 30 steps")
    assert nb.cell_errors() == []
