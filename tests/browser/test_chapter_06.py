"""Chapter 06 in a real JupyterLab: the card's tangent moved by keys, operations and engines chosen, light and dark."""

import pytest
from playwright.sync_api import expect

NOTEBOOK = "06_rule_book.ipynb"
ON_PURPOSE = ("modified by an inplace operation", "Jacobian mismatch")


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if not any(text in e for text in ON_PURPOSE)]
    return nb


def lesson(nb, name, nth=0):
    box = nb.page.locator(f".{name}").nth(nth)
    box.scroll_into_view_if_needed()
    return box


def test_the_card(chapter):
    assert len(chapter.cell_errors()) == 2 and all(any(t in e for t in ON_PURPOSE) for e in chapter.cell_errors())

    box = lesson(chapter, "mg-rules")
    expect(box).to_contain_text("At x = 0.5 out is 0.4621. 1 arrives: x gets 0.7864.")
    box.get_by_role("slider", name="x").focus()
    chapter.page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("At x = 0.55 out is 0.5005.")
    box.get_by_role("slider", name="g").focus()
    chapter.page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("1.1 arrives")
    operation = box.get_by_label("operation")
    operation.select_option(label="*")
    expect(box).to_contain_text("x gets 2.2; y gets 0.605.")  # 1.1 · 2 and 1.1 · 0.55
    box.get_by_role("radio", name="tensors").click()
    expect(box).to_contain_text("out = mul(x, y)")
    operation.select_option(label="matmul")
    expect(box).to_contain_text("matmul(x, y): linear in each input.")
    operation.select_option(label="exp")
    expect(box).to_contain_text("keeps out")

    slider = box.get_by_role("slider", name="x").bounding_box()
    chapter.page.mouse.move(slider["x"] + slider["width"] * 0.2, slider["y"] + slider["height"] / 2)
    chapter.page.mouse.down()
    chapter.page.mouse.up()
    expect(box).to_contain_text("At x = −")

    for theme in ("light", "dark"):
        chapter.theme(theme)
        lesson(chapter, "mg-rules")
        chapter.shot(f"chapter-06-{theme}")
