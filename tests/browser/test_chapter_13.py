"""Chapter 13 in a real JupyterLab: the surrogate's slider and buttons, a Function in the graph, a prediction, the learner's own rule."""

import pytest
from playwright.sync_api import expect

NOTEBOOK = "13_your_own_function.ipynb"
ON_PURPOSE = (
    "returned an incorrect number of gradients",
    "it must override the setup_context",
    "trying to differentiate twice",
)


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if not any(text in e for text in ON_PURPOSE)]
    return nb


def lesson(nb, name, nth=0):
    box = nb.page.locator(f".{name}").nth(nth)
    box.scroll_into_view_if_needed()
    return box


def the_staircase(chapter):
    box = lesson(chapter, "mg-surrogate")
    expect(box).to_contain_text("torch.round at x = 0.7: value 1. Its slope is 0, and backward returns 0: the same.")
    box.get_by_role("slider", name="x").press("ArrowRight")
    expect(box).to_contain_text("at x = 0.8")
    box.get_by_role("radio", name="straight-through round", exact=True).click()
    expect(box).to_contain_text("straight-through round at x = 0.8: value 1. Its slope is 0, but backward returns 1")
    box.get_by_role("radio", name="torch.round", exact=True).press("Enter")
    expect(box).to_contain_text("Its slope is 0, and backward returns 0: the same.")
    handle = box.get_by_role("slider", name="x").bounding_box()
    chapter.page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    chapter.page.mouse.down()
    chapter.page.mouse.move(handle["x"] + handle["width"] / 2 + 120, handle["y"] + handle["height"] / 2, steps=4)
    chapter.page.mouse.up()
    expect(box).not_to_contain_text("x = 0.8")


def a_function_in_the_graph_and_one_of_their_own(chapter):
    view = lesson(chapter, "mg-stage")
    expect(view).to_contain_text("Square(x)")
    own = lesson(chapter, "mg-surrogate", 1)
    expect(own).to_contain_text("Spike at x = 0.4: value 1. Its slope is 0, but backward returns 0.6: a surrogate.")
    own.get_by_role("slider", name="x").press("ArrowLeft")
    expect(own).to_contain_text("Spike at x = 0.3: value 1. Its slope is 0, but backward returns 0.7")


def a_prediction_opens_its_cell(chapter):
    page = chapter.page
    ask = page.locator(".jp-CodeCell", has_text="check.predict").first
    opened = page.locator(".jp-CodeCell", has_text="%%predict 13.a").first
    expect(opened).to_contain_text("no prediction yet")
    ask.scroll_into_view_if_needed()
    ask.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text('check.predict("13.a", {"MyReLU": [0, 0, 0, 1, 1], "torch.relu": [0, 0, 0, 1, 1]})')
    page.keyboard.press("Control+Enter")
    expect(ask).to_contain_text("noted")
    opened.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(opened).to_contain_text("1 of 2 predictions agree")


def what_it_looks_like(chapter):
    for theme in chapter.themes():
        lesson(chapter, "mg-surrogate")
        expect(chapter.page.locator("svg.plot").first).to_be_attached()
        chapter.shot(f"chapter-13-{theme}")


def test_the_chapter_by_mouse_and_keyboard(chapter):
    assert len(chapter.cell_errors()) == 3
    the_staircase(chapter)
    a_prediction_opens_its_cell(chapter)
    a_function_in_the_graph_and_one_of_their_own(chapter)
    what_it_looks_like(chapter)
