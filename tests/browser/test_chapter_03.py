"""Chapter 03 in a real JupyterLab: predictions open cells, the chain by keyboard, paths that merge, an own program."""

import pytest
from playwright.sync_api import expect

from minigrad.course import exercises

NOTEBOOK = "03_chain_rule.ipynb"


@pytest.fixture
def chapter(open_notebook):
    return open_notebook(NOTEBOOK).run_all()


def lesson(nb, name, k=0):
    box = nb.page.locator(f".mg-{name}").nth(k)
    box.scroll_into_view_if_needed()
    return box


def nothing_is_given_away(chapter):
    assert chapter.cell_errors() == []
    expect(chapter.page.get_by_text("no prediction yet").first).to_be_visible()
    assert "0.363195" not in chapter.page.content() and "0.0339609" not in chapter.page.content()


def the_slider_by_keyboard(chapter):
    box = lesson(chapter, "chain")
    expect(box).to_contain_text("10 × 1 × 3 = 30")
    box.get_by_role("slider", name="x").focus()
    chapter.page.keyboard.press("End")
    expect(box.get_by_role("status")).to_contain_text(f"At x = 3: dy/dx = 22 × 1 × 3 = {6 * (3 * 3 + 2)}.")
    box.get_by_role("radio", name="from the start").click()
    expect(box.get_by_role("status")).to_contain_text("3 × 1 × 22 = 66")


def paths_double_and_merge(chapter):
    box = lesson(chapter, "diamonds")
    status = box.get_by_role("status")
    expect(status).to_contain_text("n = 3: 8 paths lead from x to y.")
    box.get_by_label("n", exact=True).first.focus()
    chapter.page.keyboard.press("End")
    expect(status).to_contain_text("1,073,741,824 paths")
    expect(status).to_contain_text("9 hours")
    box.get_by_text("add up at each node").first.click()
    expect(status).to_contain_text("the graph has only 60 edges")


def own_program_and_nonsense(chapter):
    box = lesson(chapter, "chain", 1)
    field = box.locator("input[type=text]").first
    field.fill("a = x*x; y = a*x")
    field.press("Enter")
    expect(box).to_contain_text("4 + 4 + 4 = 12")
    field.fill("x*(")
    field.press("Enter")
    expect(box.get_by_role("status")).to_contain_text("cannot read")
    expect(box.locator("svg")).to_contain_text("4 + 4 + 4 = 12")


def test_chapter(chapter):
    for act in (nothing_is_given_away, the_slider_by_keyboard, paths_double_and_merge, own_program_and_nonsense):
        act(chapter)
    for theme in chapter.themes():
        lesson(chapter, "diamonds")
        chapter.shot(f"chapter-03-{theme}")


def test_a_prediction_and_a_pass_open_their_cells(open_notebook):
    setup = (
        "%load_ext minigrad\nimport matplotlib.pyplot as plt\nfrom minigrad.course import check\n"
        "from widgets.lessons import chain\nfrom widgets.plots import plot"
    )
    nb = open_notebook([
        setup, 'check.predict("03.a2", 0.357)', '%%predict 03.a2 --show\nchain("u = x**2; v = exp(u); y = sin(v)", x=0.5)',
        exercises["03.b"].solution + '\ncheck("03.b", slope)', "%%predict 03.b --show\nprint('opened')",
    ]).run_all()  # fmt: skip
    assert nb.cell_errors() == []
    expect(nb.page.get_by_text("rounded too early")).to_be_visible()
    expect(nb.page.locator(".mg-chain").first).to_contain_text("0.363195")
    expect(nb.cell(4)).to_contain_text("opened")
