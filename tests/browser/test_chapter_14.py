"""Chapter 14 in a real JupyterLab: nothing is given away; a guess opens the heat map, which moves by mouse and keyboard; answers pass."""

import nbformat
import pytest
from playwright.sync_api import expect

from minigrad.course import exercises
from tools.store import NOTEBOOKS

NOTEBOOK = "14_softmax_and_layernorm.ipynb"
ON_PURPOSE = ("Jacobian mismatch",)


def test_nothing_is_given_away(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    expect(nb.page.get_by_text("no prediction yet").first).to_be_visible()
    expect(nb.page.locator(".mg-jacobian-heat")).to_have_count(1)  # of the softmax that comes later, which is open
    assert len(nb.cell_errors()) == 1 and ON_PURPOSE[0] in nb.cell_errors()[0]
    for theme in nb.themes():
        nb.shot(f"chapter-14-{theme}")
    nb.errors[:] = [e for e in nb.errors if not any(text in e for text in ON_PURPOSE)]


@pytest.fixture
def answered(open_notebook):
    """The cells around exercises 14.a and 14.b, with the answers in them."""
    page = [cell.source for cell in nbformat.read(NOTEBOOKS / NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]
    asked = {exercises[id].stub.strip(): exercises[id].solution for id in ("14.a", "14.b")}
    begins = ("%load_ext", "%%predict 14.a", "def mine", "Value, backward", 'check("14.b"', "%%predict 14.b --show")
    nb = open_notebook(
        [asked.get(source, source) for source in page if source in asked or source.startswith(begins)]
    ).run_all()
    assert nb.cell_errors() == []
    return nb


def the_heat_map_by_mouse_and_keyboard(nb):
    page, box = nb.page, nb.page.locator(".mg-jacobian-heat").first
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
    row.focus()
    page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("Row 1 adds up to 0.")
    track = size.bounding_box()
    page.mouse.click(track["x"] + track["width"] - 2, track["y"] + track["height"] / 2)
    expect(box).to_contain_text("layer norm of 24 numbers: 576 of the 576")
    own = page.locator(".mg-jacobian-heat").nth(1)
    own.scroll_into_view_if_needed()
    expect(own.get_by_role("radio", name="mine", exact=True)).to_be_visible()
    expect(own).to_contain_text("mine of 12 numbers: 144 of the 144")


def test_answers_open_their_cells(answered):
    page = answered.page
    expect(page.get_by_text("✓ 14.b").first).to_be_visible()
    picture = page.get_by_role("img", name="three regions with straight borders").first
    picture.scroll_into_view_if_needed()
    expect(picture).to_be_visible()
    for theme in answered.themes():
        picture.scroll_into_view_if_needed()
        answered.shot(f"chapter-14-regions-{theme}")
    the_heat_map_by_mouse_and_keyboard(answered)
    answered.shot("chapter-14-heat-dark")
