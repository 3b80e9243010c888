"""Chapter 15 in a real JupyterLab: nothing is given away, version counters by mouse and keyboard, a patient diagnosed and repaired."""

import nbformat
import pytest
from playwright.sync_api import expect

from minigrad.course import exercises
from tools.store import NOTEBOOKS

NOTEBOOK = "15_bug_clinic.ipynb"


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = []  # errors are shown on purpose
    return nb


def nothing_is_given_away(chapter):
    expect(chapter.page.get_by_text("no prediction yet").first).to_be_visible()
    assert "ExpBackward0 saves y" not in chapter.page.locator(".mg-versions").first.inner_text()


def versions_by_mouse_and_keyboard(chapter):
    page = chapter.page
    box = page.locator(".mg-versions").first
    box.scroll_into_view_if_needed()
    expect(box).to_contain_text("Nothing has run yet. x is a leaf, at version 0.")
    box.get_by_role("button", name="run next line (→)", exact=True).click()
    expect(box).to_contain_text("ExpBackward0 saves y at version 0.")
    box.get_by_role("button", name="run next line (→)", exact=True).press("Enter")
    expect(box).to_contain_text("What ExpBackward0 saved is overwritten.")
    for theme in chapter.themes():
        box.scroll_into_view_if_needed()
        chapter.shot(f"chapter-15-{theme}")
    box.get_by_role("slider", name="line").focus()
    page.keyboard.press("End")
    expect(box).to_contain_text("is at version 1; expected version 0 instead.")
    box.get_by_role("radio", name="behind its back", exact=True).click()
    expect(box).to_contain_text("without an error, and x.grad = [2, 3.718, 1.135] is wrong")
    box.locator("textarea").fill("y = x.sin()\ny.mul_(2)")
    box.get_by_role("button", name="run it", exact=True).click()
    expect(box).to_contain_text("x.grad = [2, 1.081, −0.8323], and central differences agree")  # 2 cos x


def test_chapter(chapter):
    nothing_is_given_away(chapter)
    versions_by_mouse_and_keyboard(chapter)
    chapter.errors[:] = []


def test_a_patient_is_diagnosed_and_repaired(open_notebook):
    page = [cell.source for cell in nbformat.read(NOTEBOOKS / NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]
    symptom = next(source for source in page if source.startswith("remembered, restored = patient_4()"))
    answered = [exercises["15.e"].solution, symptom]
    answered += [exercises["15.e2"].solution + 'check("15.e2", answer_15e2)', 'check("15.e", patient_4)']
    half = exercises["15.e"].source_of(exercises["15.e"].bank[0])
    nb = open_notebook(
        ["%load_ext minigrad\nfrom minigrad.course import check", *answered, half, 'check("15.e", patient_4)']
    ).run_all()
    assert nb.cell_errors() == []
    for text in ("✓ 15.e2", "✓ 15.e"):
        expect(nb.page.get_by_text(text).first).to_be_visible()
    expect(nb.cell(6)).to_contain_text("state_dict() hands out the parameters' own memory")
    nb.cell(6).scroll_into_view_if_needed()
    for theme in nb.themes():
        nb.shot(f"chapter-15-repaired-{theme}")
