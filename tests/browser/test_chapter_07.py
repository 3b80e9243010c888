"""Chapter 07 in a real JupyterLab: buckets filled and emptied by mouse and keyboard, two loops compared, the learner's own loops."""

import nbformat
import pytest
from playwright.sync_api import expect

from minigrad.course import exercises
from tools.lab import ROOT

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
    press(box, "optimizer.zero_grad()")
    press(box, "x.grad.zero_()")
    expect(box.get_by_role("status")).to_contain_text("AttributeError")
    press(box, "start again")
    expect(box).to_contain_text("nothing yet")


def two_loops(chapter):
    box = lesson(chapter, "mg-two-loops")
    expect(box).to_contain_text(
        "the update of step 2 reads −94.6, the right one −39.6. Loss after it: 3.552 against 15."
    )
    assert len(box.locator("polyline.forward").first.get_attribute("points").split()) == 3
    keys(chapter, box, "step", "ArrowRight", 1)  # there is no step that would answer 07.a
    expect(box).to_contain_text("the update of step 2 reads")
    keys(chapter, box, "step", "ArrowLeft", 1)
    expect(box).to_contain_text("the update of step 1 reads −55, the right one −55")
    box.get_by_role("radio", name="zero_grad before step").click()
    expect(box).to_contain_text("w stays at 0")
    box.get_by_role("radio", name="zero_grad after step").click()
    expect(box).to_contain_text("the same numbers in all 2 steps")


def nothing_is_given_away(chapter):
    for text in ("38.65", "you predicted", "after 60 steps", "6, 12, 18"):
        expect(chapter.page.locator(".jp-OutputArea-output", has_text=text)).to_have_count(0)


def micro_batches(chapter):
    box = lesson(chapter, "mg-micro-batches")
    expect(box).to_contain_text("✓ 4 micro-batches of 2, each loss divided by 4: w.grad = 7.5.")
    box.locator("input[type=checkbox]").uncheck()
    expect(box).to_contain_text("w.grad = 30. One batch of 8 gives 7.5. 4 times too much.")
    keys(chapter, box, "micro-batches", "ArrowRight", 1)
    expect(box).to_contain_text("8 times too much")


def test_chapter(chapter):
    for act in (
        only_the_error_on_purpose,
        nothing_is_given_away,
        two_loops,
        the_bucket_by_mouse_and_keyboard,
        micro_batches,
    ):
        act(chapter)
    for theme in chapter.themes():
        lesson(chapter, "mg-two-loops")
        chapter.shot(f"chapter-07-{theme}")


def test_the_learners_loops(open_notebook):
    """The reference solutions stand in for a learner's answers: the repaired loop beside the right one, and three momenta drawn."""
    stored = nbformat.read(ROOT / "notebooks" / NOTEBOOK, as_version=4)
    cells = {cell.id: cell.source for cell in stored.cells}
    solved = [exercises[id].solution + f'\ncheck("{id}", {exercises[id].entry})' for id in ("07.b", "07.c")]
    nb = open_notebook(
        [cells["c07-setup"], cells["c07-sum"], *solved, cells["c07-07b-loops"], cells["c07-curves-open"]]
    ).run_all()
    assert nb.cell_errors() == []
    expect(nb.page.locator(".mg-two-loops")).to_contain_text("✓ your train: the same numbers in all 30 steps")
    expect(nb.cell(5).locator("svg.plot")).to_contain_text("momentum 0 reaches the lowest loss")
    for theme in nb.themes():
        nb.shot(f"chapter-07-momentum-{theme}", nb.cell(5))
