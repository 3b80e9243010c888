"""Chapter 10 in a real JupyterLab: scissors by mouse and by keyboard, and the learner's own function."""

from playwright.sync_api import expect

NOTEBOOK = "10_controlling_the_graph.ipynb"
ON_PURPOSE = ("Inference tensors cannot be saved", "backward through the graph a second time", "element 0 of tensors does not require grad")


def test_scissors_by_mouse_and_keyboard(open_notebook):
    chapter = open_notebook(NOTEBOOK).run_all()
    chapter.errors[:] = [e for e in chapter.errors if not any(text in e for text in ON_PURPOSE)]
    page = chapter.page
    box = page.locator(".mg-scissors").first
    box.scroll_into_view_if_needed()
    expect(box).to_contain_text("c.requires_grad is True")
    box.get_by_role("radio", name="once", exact=True).click()
    expect(box).to_contain_text("After 1 pass: x.grad = 36.")
    box.get_by_role("radio", name="twice", exact=True).press("Enter")
    expect(box).to_contain_text("Pass 2 stops: RuntimeError: Trying to backward through the graph a second time")
    box.get_by_role("radio", name="backward(retain_graph=True)", exact=True).click()
    expect(box).to_contain_text("After 2 passes: x.grad = 72.")
    box.get_by_role("radio", name="no_grad", exact=True).press("Enter")
    expect(box).to_contain_text("b is computed under no_grad")
    box.get_by_role("radio", name="a", exact=True).click()
    expect(box).to_contain_text("a is computed under no_grad")
    box.get_by_role("radio", name="inference_mode", exact=True).click()
    expect(box).to_contain_text("a is made in inference_mode")
    for theme in ("light", "dark"):
        chapter.theme(theme)
        box.scroll_into_view_if_needed()
        chapter.shot(f"chapter-10-{theme}")
    own = page.locator(".mg-scissors").nth(1)
    own.scroll_into_view_if_needed()
    expect(own).to_contain_text("No error, and w1 learns nothing.")
    own.get_by_role("radio", name="nothing", exact=True).press("Enter")
    expect(own).to_contain_text("Nothing is cut. After 1 pass: w1.grad = −0.39")
    chapter.shot("chapter-10-own")
