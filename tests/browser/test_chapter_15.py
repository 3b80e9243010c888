"""Chapter 15 in a real JupyterLab: the version counters by mouse and by keyboard, another patient, a program of the learner's own."""

import pytest
from playwright.sync_api import expect

NOTEBOOK = "15_bug_clinic.ipynb"


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = []  # ten errors are shown on purpose
    return nb


def test_versions_by_mouse_and_keyboard(chapter):
    page = chapter.page
    box = page.locator(".mg-versions").first
    box.scroll_into_view_if_needed()
    expect(box).to_contain_text("is at version 1; expected version 0 instead.")
    for theme in ("light", "dark"):
        chapter.theme(theme)
        box.scroll_into_view_if_needed()
        chapter.shot(f"chapter-15-{theme}")
    box.get_by_role("slider", name="line").focus()
    page.keyboard.press("Home")
    expect(box).to_contain_text("Nothing has run yet. x is a leaf, at version 0.")
    box.get_by_role("button", name="run next line ▶", exact=True).click()
    expect(box).to_contain_text("ExpBackward0 saves y at version 0.")
    box.get_by_role("button", name="run next line ▶", exact=True).press("Enter")
    expect(box).to_contain_text("What ExpBackward0 saved is overwritten.")
    box.get_by_role("radio", name="behind its back", exact=True).click()
    expect(box).to_contain_text("without an error, and x.grad = [2, 3.718, 1.135] is wrong")
    box.locator("textarea").fill("y = x.sin()\ny.mul_(2)")
    box.get_by_role("button", name="run it", exact=True).click()
    expect(box).to_contain_text("x.grad = [2, 1.081, −0.8323], and central differences agree")  # 2 cos x
    chapter.errors[:] = []
