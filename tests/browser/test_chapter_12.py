"""Chapter 12 in a real JupyterLab: the dual-number stepper by mouse and keyboard, a program typed in, u picked, passes counted."""

from playwright.sync_api import expect

NOTEBOOK = "12_forward_and_reverse.ipynb"
ON_PURPOSE = ("Expected f(*args) to return a scalar Tensor",)


def lesson(nb, name, nth=0):
    box = nb.page.locator(f".{name}").nth(nth)
    box.scroll_into_view_if_needed()
    return box


def press(box, name):
    box.get_by_role("button", name=name, exact=True).click()


def test_the_chapter_by_mouse_and_keyboard(open_notebook):
    nb = open_notebook(NOTEBOOK).run_all()
    nb.errors[:] = [e for e in nb.errors if not any(text in e for text in ON_PURPOSE)]
    box = lesson(nb, "mg-dual")
    expect(box).to_contain_text("The inputs carry the direction: da = 1, db = 0.")
    press(box, "step (→)")
    expect(box).to_contain_text("p = 2, and dp = b · da + a · db = 2 · 1 + 1 · 0 = 2.")
    box.get_by_role("button", name="step (→)", exact=True).press("Enter")
    expect(box).to_contain_text("ds = dp + da = 1 · 2 + 1 · 1 = 3.")
    box.get_by_role("slider", name="operation").press("ArrowRight")
    expect(box).to_contain_text("dy = 2s · ds = 6 · 3 = 18. One reverse pass gives the gradient: 18 for a, 6 for b")
    press(box, "only b")
    expect(box).to_contain_text("one forward pass: the derivative along u, 6")
    box.get_by_role("slider", name="da").press("ArrowRight")  # da, from 0 to 0.1
    expect(box).to_contain_text("one forward pass: the derivative along u, 7.8")  # 0.1 · 18 + 6
    field = box.locator("input[type=text]").first
    field.fill("t = a**3; t*b")
    field.press("Enter")
    expect(box).to_contain_text("t = a³")
    press(box, "step (→)")
    expect(box).to_contain_text("1 of 2 operations have run")

    box = lesson(nb, "mg-pick-u")
    press(box, "only x₀")
    expect(box).to_contain_text("y moves along Ju = [3, 1]. This is column 0 of the Jacobian.")
    box = lesson(nb, "mg-passes")
    press(box, "a training loss (GPT-2)")
    expect(box).to_contain_text("Reverse mode needs 124,439,808 times fewer.")
    box.get_by_role("slider", name="m outputs").press("ArrowRight")
    expect(box).to_contain_text("reverse mode 2 passes")

    for theme in nb.themes():
        lesson(nb, "mg-dual")
        nb.shot(f"chapter-12-{theme}")
    lesson(nb, "mg-passes")
    nb.shot("chapter-12-passes")
