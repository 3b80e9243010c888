"""The start, the contents and the glossary in a real JupyterLab: a slider, progress after a check, words that lead to words."""

from playwright.sync_api import expect


def test_progress_shows_in_the_contents(open_notebook):
    nb = open_notebook(["from minigrad.course import check, exercises\nfrom widgets.lessons import contents\ncontents()",
                        "ex = exercises['19.a']\ncheck('19.a', ex.load(ex.solution))"])  # fmt: skip
    nb.run_all()
    box = nb.page.locator(".mg-contents")
    expect(box.locator("svg")).to_be_visible()
    box.get_by_role("button", name="look again").press("Enter")
    expect(box).to_contain_text("exercises passed. Go on with chapter")
    assert nb.cell_errors() == []


def test_words_lead_to_words(open_notebook):
    nb = open_notebook("glossary.ipynb").run_all()
    assert nb.cell_errors() == []
    nb.page.get_by_role("link", name="version counter").first.click()
    expect(nb.page.locator("h3", has_text="version counter")).to_be_in_viewport()
    for theme in nb.themes():
        nb.shot(f"glossary-{theme}")


def test_start_here(open_notebook):
    nb = open_notebook("00_start_here.ipynb").run_all()
    assert nb.cell_errors() == []
    box = nb.page.locator(".mg-fit-line")
    slider = box.get_by_role("slider", name="w", exact=True)
    slider.focus()
    for _ in range(36):  # from 0.5 to 2.3, where the loss is smallest
        nb.page.keyboard.press("ArrowRight")
    expect(box).to_contain_text("No other place of the slider gives less")
    for theme in nb.themes():
        box.scroll_into_view_if_needed()
        nb.shot(f"start-here-{theme}")
