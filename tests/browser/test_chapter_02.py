"""Chapter 02 in a real JupyterLab: the graph grown by mouse and keyboard, the learner's next line, a branch switched, the walk."""

import pytest
from playwright.sync_api import expect

NOTEBOOK = "02_the_graph.ipynb"


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [
        e for e in nb.errors if "does not require grad" not in e
    ]  # the error that the chapter shows on purpose
    return nb


def grown(nb, k):
    """The chapter's growing graphs: 0 the program of the opening, 1 the branch."""
    box = nb.page.locator(".mg-grow").nth(k)
    box.scroll_into_view_if_needed()
    return box


def only_the_error_on_purpose(chapter):
    assert [text for text in chapter.cell_errors() if "does not require grad" not in text] == []


def grow_by_mouse_and_add_a_line(chapter):
    box = grown(chapter, 0)
    expect(box).to_contain_text("Nothing has run yet")
    for said in ("h is 2", "y is 2 and remembers 2 and w2", "loss is 9"):
        box.get_by_role("button", name="run next line").click()
        expect(box.get_by_role("status")).to_contain_text(said)
    field = box.locator("input[type=text]").first
    field.fill("d = loss - h")
    field.press("Enter")
    expect(box.get_by_role("status")).to_contain_text("d is 7 and remembers loss and h")
    field.fill("d = (")
    field.press("Enter")
    expect(box.get_by_role("status")).to_contain_text("cannot read")
    expect(field).to_have_value("d = (")  # there to be corrected


def step_by_keyboard(chapter):
    box = grown(chapter, 0)
    box.get_by_role("slider", name="line").focus()
    chapter.page.keyboard.press("End")
    expect(box.get_by_role("status")).to_contain_text("loss is 9")
    chapter.page.keyboard.press("Home")
    expect(box.get_by_role("status")).to_contain_text("Nothing has run yet")


def the_slider_switches_the_branch(chapter):
    box = grown(chapter, 1)
    expect(box.locator("svg").first).to_contain_text("x²")
    box.get_by_role("slider", name="x").focus()
    chapter.page.keyboard.press("Home")
    expect(box.locator("svg").first).to_contain_text("−3 × x + 1")
    expect(box.locator("svg").first).to_contain_text("13")  # -3 · (-4) + 1


def walk_the_graph(chapter):
    box = chapter.page.locator(".mg-inspector")
    box.scroll_into_view_if_needed()
    box.get_by_role("button", name="next_functions[0] → DotBackward0").click()
    box.get_by_role("button", name="next_functions[1] → AccumulateGrad").click()
    expect(box).to_contain_text("z.grad_fn.next_functions[0][0].next_functions[1][0]")
    expect(box.get_by_role("status")).to_contain_text("y.grad")
    box.get_by_role("button", name="root").click()
    expect(box.get_by_role("status")).to_contain_text("DotBackward0")


def test_chapter(chapter):
    for act in (
        only_the_error_on_purpose,
        step_by_keyboard,
        grow_by_mouse_and_add_a_line,
        the_slider_switches_the_branch,
        walk_the_graph,
    ):
        act(chapter)
    for theme in chapter.themes():
        grown(chapter, 1)
        chapter.shot(f"chapter-02-{theme}")
