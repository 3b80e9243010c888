"""Chapter 11 in a real JupyterLab: stacked graphs and the cost of a Hessian, by mouse and by keyboard."""

from playwright.sync_api import expect

NOTEBOOK = "11_derivatives_of_derivatives.ipynb"
ON_PURPOSE = ("element 0 of tensors does not require grad",)


def test_stacked_and_cost_by_mouse_and_keyboard(open_notebook):
    chapter = open_notebook(NOTEBOOK).run_all()
    chapter.errors[:] = [e for e in chapter.errors if not any(text in e for text in ON_PURPOSE)]
    page = chapter.page
    box = page.locator(".mg-stacked").first
    box.scroll_into_view_if_needed()
    expect(box).to_contain_text("Its rule makes 2 nodes: cos(x), 1 × x × cos(x).")
    box.get_by_role("radio", name="2: a → y", exact=True).click()
    expect(box).to_contain_text("Its rule makes 1 node: 1 × x.")
    box.get_by_role("radio", name="create_graph=False", exact=True).press("Enter")
    expect(box).to_contain_text("does not have a grad_fn")
    box.get_by_role("radio", name="create_graph=True", exact=True).click()
    expect(box).to_contain_text("Its rule makes 1 node: 1 × x.")
    box.get_by_role("radio", name="1: x → a", exact=True).press("Enter")
    expect(box).to_contain_text("Its rule makes 2 nodes")
    for theme in chapter.themes():
        box.scroll_into_view_if_needed()
        chapter.shot(f"chapter-11-{theme}")
    cost = page.locator(".mg-hvp-cost")
    cost.scroll_into_view_if_needed()
    expect(cost).to_contain_text("H has 400 numbers")
    cost.get_by_role("slider", name="n").focus()
    page.keyboard.press("ArrowRight")
    expect(cost).to_contain_text("H has 2,500 numbers")
    chapter.shot("chapter-11-cost")
