"""Chapter 06 in a real JupyterLab: the card's tangent moved by keys, operations and engines chosen, a curve from a learner's rules."""

import nbformat
import pytest
from playwright.sync_api import expect

from minigrad.course import exercises
from tools.lab import ROOT

NOTEBOOK = "06_rule_book.ipynb"
ON_PURPOSE = ("modified by an inplace operation", "has no attribute 'exp'")


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if not any(text in e for text in ON_PURPOSE)]
    return nb


def lesson(nb, name, nth=0):
    box = nb.page.locator(f".{name}").nth(nth)
    box.scroll_into_view_if_needed()
    return box


def nothing_is_given_away(chapter):
    for text in ("you predicted", "wrong gradients", "Rules by what they keep"):
        expect(chapter.page.locator(".jp-OutputArea-output", has_text=text)).to_have_count(0)


def the_card(chapter):
    box = lesson(chapter, "mg-rules")
    expect(box).to_contain_text("At x = 0.5, out is 0.4794. With g = 1 from upstream, x receives 0.8776.")
    box.get_by_role("slider", name="x").focus()
    chapter.page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("At x = 0.55, out is 0.5227.")
    box.get_by_role("slider", name="g").focus()
    chapter.page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("With g = 1.1 from upstream")
    operation = box.get_by_label("operation")
    operation.select_option(label="*")
    expect(box).to_contain_text("x receives 2.2, y receives 0.605.")  # 1.1 · 2 and 1.1 · 0.55
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


def test_chapter(chapter):
    assert len(chapter.cell_errors()) == 2 and all(any(t in e for t in ON_PURPOSE) for e in chapter.cell_errors())
    nothing_is_given_away(chapter)
    the_card(chapter)
    for theme in chapter.themes():
        lesson(chapter, "mg-rules")
        chapter.shot(f"chapter-06-{theme}")


def test_the_learners_rules_draw_the_curve(open_notebook):
    """The reference solutions stand in for a learner's answers: passed, used, and drawn."""
    stored = nbformat.read(ROOT / "notebooks" / NOTEBOOK, as_version=4)
    cells = {cell.id: cell.source for cell in stored.cells}
    solved = [
        exercises[id].solution + f'\ncheck("{id}", {exercises[id].entry})' for id in ("05.a", "05.b", "06.b", "06.c")
    ]
    shown = [
        cells[f"c06-{id}"] for id in ("points", "sin", "sigmoid", "works-open", "uses-open", "book-open", "curve-open")
    ]
    nb = open_notebook([cells["c06-setup"], *solved, *shown]).run_all()
    assert nb.cell_errors() == []
    expect(nb.cell(8).locator(".mg-root, svg").first).to_be_visible()
    expect(nb.cell(9)).to_contain_text("wrong sigmoid  wrong gradients: [0]")
    expect(nb.cell(10)).to_contain_text("g × out × (1 − out)")
    expect(nb.cell(11).locator("svg.plot")).to_contain_text("the probability of a pass is 0.61")
    for theme in nb.themes():
        nb.shot(f"chapter-06-curve-{theme}", nb.cell(11))
        nb.shot(f"chapter-06-book-{theme}", nb.cell(10))
