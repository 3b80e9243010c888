"""Chapter 19 in a real JupyterLab: the graph of a compiled step, and the card of an operation moved by keyboard until its bug shows, light
and dark."""

from playwright.sync_api import expect

NOTEBOOK = "19_where_next.ipynb"


def lesson(nb, name, nth=0):
    box = nb.page.locator(f".{name}").nth(nth)
    box.scroll_into_view_if_needed()
    return box


def test_cards(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    assert nb.cell_errors() == []

    box = lesson(nb, "mg-root")
    card = box.locator(".mg-card", has_text="tanh(")
    expect(card.locator(".mg-became text")).to_have_text(["loop1", "loop1"])
    card.focus()
    nb.page.keyboard.press("Enter")
    expect(box.locator(".mg-program")).to_contain_text("v2 = tanh(v1[i])")
    for theme in nb.themes():
        lesson(nb, "mg-root")
        nb.shot(f"chapter-19-compiled-{theme}")

    box = lesson(nb, "mg-op-card")
    expect(box).to_contain_text("200 of 200 random graphs")
    expect(box.locator("mjx-container").first).to_be_visible()  # the formula is typeset
    box.get_by_role("slider", name="x0").focus()
    nb.page.keyboard.press("Home")
    expect(box).to_contain_text("x0 = −3")

    box = lesson(nb, "mg-op-card", 1)
    expect(box).to_contain_text("Right here, but only")
    box.get_by_role("slider", name="x").focus()
    nb.page.keyboard.press("Home")
    expect(box).to_contain_text("The derivative by x is not what differences say.")

    for theme in nb.themes():
        lesson(nb, "mg-op-card", 1)
        nb.shot(f"chapter-19-bug-{theme}")
        lesson(nb, "mg-op-card")
        nb.shot(f"chapter-19-{theme}")
