"""A lesson of the kit in a real JupyterLab: the keyboard, quick moves, a refused entry, a choice, a preset, the theme."""

from playwright.sync_api import expect

CELLS = [
    """
from widgets.lessons.kit import *
from widgets.lessons.lesson import label, svg
@lesson
class double(Figure):
    n = Slider("n", 3, 0, 10)
    k = Choice(["one", "two"], "k", "one")
    t = Text("letters", "ab")
    presets = {"seven": {"n": 7}}
    def setup(self):
        if not self.t.isalpha(): raise ValueError(f"{self.t} has other signs than letters.")
    def sentence(self): return f"2 × {self.n} = {2 * self.n}, {self.k}, {self.t}"
    def draw(self): return svg(300, 60, label(20, 35, self.sentence()), self.sentence())
view = double(); view
""",
]


def test_by_keyboard_and_mouse(open_notebook):
    nb = open_notebook(CELLS)
    nb.run_all()
    box = nb.cell(0).locator(".mg-lesson-root")
    words = box.locator(".mg-words")
    expect(box).to_have_attribute("aria-label", "lesson: double")
    slider = box.get_by_role("slider", name="n")
    slider.focus()
    for _ in range(5):
        nb.page.keyboard.press("ArrowRight")
    expect(words).to_have_text("2 × 8 = 16, one, ab")
    expect(slider).to_be_focused()
    expect(slider).to_have_attribute("aria-valuetext", "8")
    expect(box.locator("svg text").first).to_have_text("2 × 8 = 16, one, ab")

    box.get_by_role("radio", name="one").focus()
    nb.page.keyboard.press("ArrowRight")
    expect(words).to_have_text("2 × 8 = 16, two, ab")
    expect(box.get_by_role("radio", name="two")).to_be_focused()

    field = box.get_by_role("textbox", name="letters")
    field.fill("a1")
    field.press("Enter")
    expect(words).to_contain_text("a1 has other signs than letters. The picture still shows what it showed before.")
    expect(box).to_have_attribute("data-mood", "bad")
    expect(field).to_have_value("a1")  # there to be corrected
    expect(box.locator("svg text").first).to_have_text("2 × 8 = 16, two, ab")

    box.get_by_role("button", name="seven").click()
    expect(words).to_have_text("2 × 7 = 14, two, ab")
    expect(slider).to_have_value("7")
    nb.theme("dark")
    light, ground = "rgb(255, 255, 255)", "e => getComputedStyle(e).backgroundColor"
    assert box.evaluate(ground) != light
