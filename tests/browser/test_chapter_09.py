"""Chapter 09 in a real JupyterLab: the uses of a weight marked by button and key, the digits, light and dark."""

import pytest
from playwright.sync_api import expect

NOTEBOOK = "09_tensors.ipynb"
ON_PURPOSE = "cannot be multiplied"


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if ON_PURPOSE not in e]
    return nb


def test_uses(chapter):
    assert [ON_PURPOSE in e for e in chapter.cell_errors()] == [True]

    box = chapter.page.locator(".mg-uses").first
    box.scroll_into_view_if_needed()
    status = box.get_by_role("status")
    box.get_by_role("button", name="y₁₂: x₁₁ · w₂₁").click()
    expect(status).to_contain_text("belongs to w₂₁")
    first = box.get_by_role("button", name="y₁₁: x₁₁ · w₁₁")
    first.focus()
    chapter.page.keyboard.press("Enter")
    expect(status).to_contain_text("What is it multiplied by")
    box.get_by_role("button", name="x₁₁", exact=True).click()
    box.get_by_role("button", name="y₂₁: x₂₁ · w₁₁").click()
    box.get_by_role("button", name="x₂₁", exact=True).click()
    expect(status).to_contain_text("add up to 13")

    for theme in chapter.themes():
        box.scroll_into_view_if_needed()
        expect(chapter.page.locator("svg.plot")).to_have_count(1)
        chapter.shot(f"chapter-09-{theme}")
