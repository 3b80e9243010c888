"""Chapter 10 in a real JupyterLab: scissors by mouse and by keyboard, the learner's own function, the plots, light and dark."""

from playwright.sync_api import expect

NOTEBOOK = "10_controlling_the_graph.ipynb"


def test_scissors_by_mouse_and_keyboard(open_notebook):
    chapter = open_notebook(NOTEBOOK).run_all()
    assert chapter.cell_errors() == []
    page = chapter.page
    box = page.locator(".mg-scissors").first
    box.scroll_into_view_if_needed()
    expect(box).to_contain_text("c.requires_grad is True")
    box.get_by_role("radio", name="once", exact=True).click()
    expect(box).to_contain_text("After 1 pass: x.grad = 39.")
    box.get_by_role("radio", name="detach", exact=True).click()
    box.get_by_role("radio", name="b", exact=True).click()
    expect(box).to_contain_text("After 1 pass: x.grad = 3.")  # no error: another gradient
    box.get_by_role("radio", name="nothing", exact=True).click()
    box.get_by_role("radio", name="twice", exact=True).press("Enter")
    expect(box).to_contain_text("Pass 2 stops: RuntimeError: Trying to backward through the graph a second time")
    box.get_by_role("radio", name="backward(retain_graph=True)", exact=True).click()
    expect(box).to_contain_text("After 2 passes: x.grad = 78.")
    box.get_by_role("radio", name="no_grad", exact=True).press("Enter")
    expect(box).to_contain_text("b is computed under no_grad")
    box.get_by_role("radio", name="a", exact=True).click()
    expect(box).to_contain_text("a is computed under no_grad")
    box.get_by_role("radio", name="inference_mode", exact=True).click()
    expect(box).to_contain_text("a is made in inference_mode")
    for theme in chapter.themes():
        box.scroll_into_view_if_needed()
        chapter.shot(f"chapter-10-{theme}")
    own = page.locator(".mg-scissors").nth(1)
    own.scroll_into_view_if_needed()
    expect(own).to_contain_text("No error, and w1 learns nothing.")
    own.get_by_role("radio", name="nothing", exact=True).press("Enter")
    expect(own).to_contain_text("Nothing is cut. After 1 pass: w1.grad = −0.39")
    chapter.shot("chapter-10-own")
    bars = page.locator(".mg-bars")
    bars.scroll_into_view_if_needed()
    expect(bars).to_contain_text("k = 1: 1 bar is above 0")
    bars.get_by_role("slider", name="k").press("End")
    expect(bars).to_contain_text("k = 12: 12 bars are above 0")
    chapter.shot("chapter-10-bars")
    page.locator("svg.plot").scroll_into_view_if_needed()
    chapter.shot("chapter-10-plot")
    expect(page.locator("svg.plot")).to_have_count(1)
