"""Chapter 08 in a real JupyterLab: v picked by slider and button, the table resized, its cost, the plots, and a prediction that opens."""

import pytest
from playwright.sync_api import expect

NOTEBOOK = "08_non_scalar.ipynb"
ON_PURPOSE = ("grad can be implicitly created only for scalar outputs", "Mismatch in shape")


@pytest.fixture
def chapter(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if not any(text in e for text in ON_PURPOSE)]
    return nb


def lesson(nb, name, nth=0):
    box = nb.page.locator(f".{name}").nth(nth)
    box.scroll_into_view_if_needed()
    return box


def press(box, name):
    box.get_by_role("button", name=name, exact=True).click()


def keys(nb, handle, key, times):
    handle.focus()
    for _ in range(times):
        nb.page.keyboard.press(key)


def pick_v_by_mouse_and_keyboard(chapter):
    box = lesson(chapter, "mg-pick-v")
    expect(box).to_contain_text("leaves x.grad = [4, 4]. This is y.sum().backward().")
    press(box, "only y₀")
    expect(box).to_contain_text("leaves x.grad = [3, 2]. This is y[0].backward()")
    box.get_by_role("button", name="all 1/2", exact=True).press("Enter")
    expect(box).to_contain_text("leaves x.grad = [2, 2]. This is y.mean().backward().")
    press(box, "all 1")
    expect(box).to_contain_text("v = [1, 1]")  # the kernel has moved the slider back before the keys move it on
    keys(chapter, box.get_by_role("slider", name="v₀"), "ArrowRight", 5)
    expect(box).to_contain_text("v = [1.5, 1] leaves x.grad = [5.5, 5]")  # 1.5·3 + 1, 1.5·2 + 2


def other_sizes(chapter):
    box = lesson(chapter, "mg-pick-v")
    keys(chapter, box.get_by_role("slider", name="n inputs"), "ArrowRight", 1)
    expect(box).to_contain_text("2 × 3 = 6 numbers, 2 passes")
    keys(chapter, box.get_by_role("slider", name="m outputs"), "ArrowRight", 2)
    expect(box).to_contain_text("4 × 3 = 12 numbers, 4 passes")
    expect(box.get_by_role("button", name="only y₃", exact=True)).to_be_visible()


def what_the_table_costs(chapter):
    box = lesson(chapter, "mg-jacobian-size")
    expect(box).to_contain_text("4 MB in float32")
    for name in ("n inputs", "m outputs"):
        keys(
            chapter, box.get_by_role("slider", name=name), "ArrowRight", 6
        )  # a thousand to a million, half a power of ten each
    expect(box).to_contain_text("1,000,000,000,000 numbers, 4 TB in float32")


def a_prediction_opens_its_cell(nb):
    page = nb.page
    ask = page.locator(".jp-CodeCell", has_text="check.predict").first
    opened = page.locator(".jp-CodeCell", has_text="%%predict 08.a").first
    expect(opened).to_contain_text("no prediction yet")
    assert "26" not in opened.locator(".jp-OutputArea").inner_text()
    ask.scroll_into_view_if_needed()
    ask.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    guess = {"x.grad, v all ones": 4, "y.grad, v all ones": 10, "x.grad, mean": 1, "y.grad, mean": 1}
    page.keyboard.insert_text(f'check.predict("08.a", {guess})')
    page.keyboard.press("Control+Enter")
    expect(ask).to_contain_text("noted, you predict 4")
    opened.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(opened).to_contain_text("1 of 4 predictions agree")


def test_chapter(chapter):
    assert len(chapter.cell_errors()) == 2 and all(any(t in e for t in ON_PURPOSE) for e in chapter.cell_errors())
    for act in (pick_v_by_mouse_and_keyboard, other_sizes, what_the_table_costs, a_prediction_opens_its_cell):
        act(chapter)
    for theme in chapter.themes():
        lesson(chapter, "mg-pick-v")
        expect(chapter.page.locator("svg.plot").first).to_be_attached()
        chapter.shot(f"chapter-08-{theme}")


def test_own_function(open_notebook):
    nb = open_notebook(
        [
            "from widgets.lessons import pick_v",
            "pick_v(lambda x: x.sin(), [0.0, 1.0])",
            "pick_v(lambda x: x + 'a', [1.0])",
        ]
    )
    nb.run_all()
    expect(nb.page.locator(".mg-pick-v")).to_contain_text("leaves x.grad = [1, 0.5403]")
    expect(nb.page.locator(".jp-Cell").nth(2)).to_contain_text("pick_v cannot draw this")
    assert nb.cell_errors() == []
