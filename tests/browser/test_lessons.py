"""Every lesson in one real JupyterLab: opened, reached by the keyboard, judged by axe, photographed in light and dark.

What lives here: what holds for all of them. What does not: working a single lesson's controls (test_chapter_*.py), its numbers
(tests/widgets/test_lessons_*.py).
"""

import json

import pytest
from playwright.sync_api import expect

SETUP = """\
import minigrad as torch
from minigrad import Value
from widgets import lessons
from widgets.lessons import *
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * x).sum()"""
LESSONS = {
    "bars": "bars(lambda k: [1.0] * k, 1, 5)", "heads": "heads('ab', [[[1, 0], [0.9, 0.1]]], lambda at, off: {'a': 1.0})",
    "bucket": "bucket(passes=2)", "chain": "chain()", "contents": "contents()", "diamonds": "diamonds(30)",
    "draw": "draw([1, 2, 3, 4], lambda: [1, 4, 9, 4], high=10)",
    "dual": "dual()", "fit_line": "fit_line()", "grow": "grow()", "growth": "growth()",
    "hook_tap": "hook_tap(do='scale')", "hvp_cost": "hvp_cost()", "inspector": "inspector(y)", "jacobian_heat": "jacobian_heat()",
    "jacobian_size": "jacobian_size()",
    "ledger": "ledger(filled=2)", "loss_scaling": "loss_scaling()", "memory": "memory(depth=16)", "memory_depth": "memory_depth()",
    "micro_batches": "micro_batches()", "nan_tracer": "nan_tracer()", "op_card": "op_card(doc='A smooth ReLU.')",
    "order_game": "order_game()",
    "own_engine": "own_engine(Value)", "passes": "passes()", "pick_u": "pick_u()", "pick_v": "pick_v()",
    "playground": "playground(steps=60)",
    "race": "race()", "recap": "recap(5)", "rules": "rules()", "scissors": "scissors(tool='detach', at='b', passes=1)",
    "stacked": "stacked()", "step_size": "step_size()", "stepper": "stepper(at='end')", "surrogate": "surrogate()",
    "two_loops": "two_loops()", "uses": "uses()",
    "versions": "versions()", "will_it_fit": "will_it_fit()", "progress": "for _ in progress(range(5), 'five steps'): pass",
}  # fmt: skip
STANDS_STILL = {"growth", "recap", "progress"}  # nothing to operate


def test_all_lessons(open_notebook):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    nb = open_notebook([SETUP, *LESSONS.values(), f"assert set(lessons.__all__) == {set(LESSONS)!r}"])
    nb.run_all()
    assert nb.cell_errors() == []
    shown = {name: nb.cell(k).locator(".jp-OutputArea-output").last for k, name in enumerate(LESSONS, 1)}
    for name, box in shown.items():
        expect(box.locator("svg:visible, .mg-root, .mf-root, .widget-hprogress").first).to_be_visible()
        if name not in STANDS_STILL:
            stops = box.locator(
                "button:enabled:visible, input:enabled:visible, select:enabled:visible, [tabindex='0']:visible"
            )
            assert stops.count() > 0, f"{name} cannot be reached by the keyboard"
            stops.first.focus()
            assert stops.first.evaluate("e => document.activeElement === e"), name
    serious = {}
    for theme in ("light", "dark"):
        nb.theme(theme)
        for name, box in shown.items():
            nb.shot(f"lesson-{name}-{theme}", box)
        rules = {"runOnly": ["color-contrast"]} if theme == "dark" else {}  # a theme changes colours and nothing else
        for fault in axe.run(nb.page, context=".jp-OutputArea-output", options=rules).response["violations"]:
            if fault["impact"] in ("serious", "critical"):
                serious[fault["id"], theme] = [node["html"][:300] for node in fault["nodes"]][:8]
    assert not serious, "\n".join(f"{key}: {nodes}" for key, nodes in serious.items())


def test_what_a_head_looks_at_follows_the_pointer(open_notebook):
    nb = open_notebook([
        "from widgets.lessons import heads",
        "n = 20\nmaps = [[[float(j == max(i - d, 0)) for j in range(n)] for i in range(n)] for d in (0, 2)]",
        "heads('abcdefghijklmnopqrst', maps, lambda at, off: {'x': 0.6, 'y': 0.4})",
    ]).run_all()  # fmt: skip
    lesson = nb.cell(2).locator(".mg-lesson-root:visible")
    row = lesson.locator("[data-point]")
    row.scroll_into_view_if_needed()
    box = row.bounding_box()
    nb.page.mouse.move(box["x"] + box["width"] * 4.5 / 20, box["y"] + 10)
    said = lesson.get_by_role("status")
    expect(said).to_contain_text(
        "At character 5, “e”, head 1 looks most at the character itself (100 %); head 2 looks most at “c”, 2 back"
    )
    nb.page.mouse.move(box["x"] + box["width"] * 9.5 / 20, box["y"] + 10)
    expect(said).to_contain_text("At character 10, “j”")
    lesson.get_by_role("checkbox", name="head 2").press("Space")
    expect(said).to_contain_text("head 2 is off")
    lesson.get_by_role("slider").press("Home")
    expect(said).to_contain_text("At character 1, “a”")


def test_a_curve_is_drawn_with_one_stroke_and_with_the_keyboard(open_notebook):
    nb = open_notebook([
        "from widgets.lessons import draw",
        "guess = draw([1, 2, 3, 4, 5], lambda: [1, 4, 9, 4, 1], high=10, xlabel='x', ylabel='height')\nguess",
    ])  # fmt: skip
    nb.run_all()
    lesson = nb.cell(1).locator(".mg-lesson-root:visible")
    board = lesson.locator("[data-draw]")
    board.scroll_into_view_if_needed()
    box = board.bounding_box()
    nb.page.mouse.move(box["x"] + 0.02 * box["width"], box["y"] + 0.9 * box["height"])
    nb.page.mouse.down()
    nb.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.1 * box["height"])
    nb.page.mouse.move(box["x"] + 0.98 * box["width"], box["y"] + 0.9 * box["height"], steps=8)
    nb.page.mouse.up()
    nb.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.95 * box["height"])  # the pen is up
    last = lesson.get_by_role("slider").last
    expect(last).to_have_attribute("aria-valuetext", "1")
    last.focus()
    nb.page.keyboard.press("ArrowUp")
    expect(last).to_have_attribute("aria-valuetext", "1.1")
    heights = [float(e.get_attribute("aria-valuetext")) for e in lesson.get_by_role("slider").all()]
    assert heights[0] == 1 and 4 <= heights[1] <= 6 and heights[2] >= 8, "a fast stroke leaves out no place"
    nb.shot("draw-drawn-light", lesson)
    lesson.get_by_role("button", name="Show what happens").click()
    expect(lesson.locator(".mg-words")).to_contain_text("Both rise first and then fall.")
    expect(lesson.get_by_role("slider")).to_have_count(0)
    for theme in ("light", "dark"):
        nb.theme(theme)
        nb.shot(f"draw-shown-{theme}", lesson)


def test_what_was_drawn_and_ticked_is_in_the_saved_notebook(open_notebook, lab_root):
    nb = open_notebook([
        "%load_ext minigrad\nfrom minigrad.course import check\nfrom widgets.lessons import draw",
        "draw([1, 2, 3], lambda: [1, 4, 9], high=10, xlabel='x', ylabel='height')",
        "check.explain('05', 'Its gradient is a sum over all of its uses, and earlier it would pass on only a part.')",
    ]).run_all()  # fmt: skip
    lesson = nb.cell(1).locator(".mg-lesson-root:visible")
    lesson.get_by_role("slider").first.press("Home")
    expect(lesson).to_contain_text("yours")
    lesson.get_by_role("button", name="Show what happens").click()
    expect(lesson).to_contain_text("it is")
    box = nb.cell(2).get_by_role("checkbox", name="the gradient is a sum over all uses")
    box.check()
    nb.wait_idle()
    nb.shot("explained", nb.cell(2))
    nb.command("docmanager:save")
    saved = json.loads((lab_root / nb.path).read_text("utf-8"))["cells"]
    drawn = "".join("".join(output["data"].get("text/html", "")) for output in saved[1]["outputs"])
    assert "it%20is" in drawn or "it is" in drawn
    compared = "".join("".join(output["data"].get("text/html", "")) for output in saved[2]["outputs"])
    assert compared.count("<input") == 2 and compared.count(" checked") == 1
    nb.python('get_ipython().run_cell(\'again = check.explain("05", "one two three four five six seven")\')')
    assert nb.python("print(again.ticked)") == "(0,)"
