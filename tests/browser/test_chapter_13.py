"""Chapter 13 in a real JupyterLab: the surrogate's slider and buttons, a Function in the graph, the learner's own rule."""

from playwright.sync_api import expect

NOTEBOOK = "13_your_own_function.ipynb"
ON_PURPOSE = ("returned an incorrect number of gradients",)


def lesson(nb, name, nth=0):
    box = nb.page.locator(f".{name}").nth(nth)
    box.scroll_into_view_if_needed()
    return box


def test_the_chapter_by_mouse_and_keyboard(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if not any(text in e for text in ON_PURPOSE)]
    box = lesson(nb, "mg-surrogate")
    expect(box).to_contain_text("x = −1: value 0. Its slope is 0, but backward sends 1: a surrogate.")
    box.get_by_role("slider", name="x").press("ArrowRight")
    expect(box).to_contain_text("at x = −0.9")
    box.get_by_role("radio", name="straight-through round", exact=True).click()
    expect(box).to_contain_text("straight-through round at x = −0.9: value −1.")
    box.get_by_role("radio", name="torch.round", exact=True).press("Enter")
    expect(box).to_contain_text("Its slope is 0, and backward sends 0: the same.")
    handle = box.get_by_role("slider", name="x").bounding_box()
    nb.page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    nb.page.mouse.down()
    nb.page.mouse.move(handle["x"] + handle["width"] / 2 + 120, handle["y"] + handle["height"] / 2, steps=4)
    nb.page.mouse.up()
    expect(box).not_to_contain_text("x = −0.9")

    view = nb.page.locator(".mg-stage").first
    view.scroll_into_view_if_needed()
    expect(view).to_contain_text("Square(x)")
    own = lesson(nb, "mg-surrogate", 2)
    expect(own).to_contain_text("Spike at x = 0.4: value 1. Its slope is 0, but backward sends 0.6: a surrogate.")
    own.get_by_role("slider", name="x").press("ArrowLeft")
    expect(own).to_contain_text("Spike at x = 0.3: value 1. Its slope is 0, but backward sends 0.7")

    for theme in ("light", "dark"):
        nb.theme(theme)
        lesson(nb, "mg-surrogate")
        nb.shot(f"chapter-13-{theme}")
    view.scroll_into_view_if_needed()
    nb.shot("chapter-13-graph")
