"""Chapter 09 in a real JupyterLab: shapes stepped forward and back by button and key, a broadcast undone, light and dark."""

import pytest
from playwright.sync_api import expect

NOTEBOOK = "09_tensors.ipynb"
ON_PURPOSE = ("cannot be multiplied", "view size is not compatible")


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if not any(text in e for text in ON_PURPOSE)]
    return nb


def lesson(nb, name, nth=0):
    box = nb.page.locator(f".{name}").nth(nth)
    box.scroll_into_view_if_needed()
    return box


def test_shape_flow(chapter):
    assert len(chapter.cell_errors()) == 2 and all(any(t in e for t in ON_PURPOSE) for e in chapter.cell_errors())

    box = lesson(chapter, "mg-shape-flow")
    status = box.get_by_role("status")
    expect(status).to_contain_text("x (4, 3) and W (3, 2) make (4, 2)")
    box.get_by_role("button", name="step (→)").click()
    expect(status).to_contain_text("b is stretched to (4, 2)")
    handle = box.get_by_role("slider", name="step")
    for said in ("z (4, 2) makes ()", "Back through sum(z)", "summed over axis 0 to (2,)"):
        handle.focus()
        chapter.page.keyboard.press("ArrowRight")
        expect(status).to_contain_text(said)
    expect(lesson(chapter, "mg-shape-flow", 1)).to_contain_text("summed over axis 0 to (3,)")

    for theme in chapter.themes():
        lesson(chapter, "mg-shape-flow")
        expect(chapter.page.locator("svg.plot")).to_have_count(2)
        chapter.shot(f"chapter-09-{theme}")
