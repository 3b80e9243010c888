"""Chapter 14 in a real JupyterLab: the Jacobian's heat map by mouse and by keyboard, and the learner's own function."""

import pytest
from playwright.sync_api import expect

NOTEBOOK = "14_softmax_and_layernorm.ipynb"
ON_PURPOSE = ("Jacobian mismatch",)


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if not any(text in e for text in ON_PURPOSE)]
    return nb


def test_heat_map_by_mouse_and_keyboard(chapter):
    page = chapter.page
    box = page.locator(".mg-jacobian-heat").first
    box.scroll_into_view_if_needed()
    expect(box).to_contain_text("softmax of 6 numbers: 36 of the 36 entries are not zero. Row 0 adds up to 0.")
    box.get_by_role("radio", name="tanh", exact=True).click()
    expect(box).to_contain_text("tanh of 6 numbers: 6 of the 36 entries are not zero.")
    box.get_by_role("radio", name="layer norm", exact=True).press("Enter")
    expect(box).to_contain_text("layer norm of 6 numbers: 36 of the 36")
    size, row = box.get_by_role("slider", name="n"), box.get_by_role("slider", name="row")
    size.focus()
    page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("layer norm of 7 numbers: 49 of the 49")
    page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("layer norm of 8 numbers: 64 of the 64")
    row.focus()
    page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("Row 1 adds up to 0.")
    track = size.bounding_box()
    page.mouse.click(track["x"] + track["width"] - 2, track["y"] + track["height"] / 2)
    expect(box).to_contain_text("layer norm of 24 numbers: 576 of the 576")
    for theme in ("light", "dark"):
        chapter.theme(theme)
        box.scroll_into_view_if_needed()
        chapter.shot(f"chapter-14-{theme}")
    own = page.locator(".mg-jacobian-heat").nth(2)
    own.scroll_into_view_if_needed()
    expect(own).to_contain_text("mine of 12 numbers: 144 of the 144")
    expect(own.get_by_role("radio", name="mine", exact=True)).to_be_visible()
    chapter.shot("chapter-14-own")
