"""Chapter 17 in a real JupyterLab: training that pauses and leaves the kernel to others, the race without a kernel, both themes."""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from tools.lab import ROOT

NOTEBOOK = "17_training_loop.ipynb"
CELLS = ("%load_ext minigrad", "playground()", "race()", "four_runs()", "recap(17)")


@pytest.fixture
def chapter(open_notebook):
    """The chapter's lessons, as the notebook shows them, without its minute of training."""
    stored = nbformat.read(ROOT / "notebooks" / NOTEBOOK, as_version=4)
    sources = [cell.source for cell in stored.cells if cell.cell_type == "code" and cell.source.startswith(CELLS)]
    assert len(sources) == len(CELLS)
    nb = open_notebook([*sources, "6 * 7"])
    nb.run_all()
    assert nb.cell_errors() == []
    return nb


def lesson(nb, name, nth=0):
    box = nb.page.locator(f".{name}").nth(nth)
    box.scroll_into_view_if_needed()
    return box


def press(box, name):
    box.get_by_role("button", name=name, exact=True).click()


def the_playground_trains_pauses_and_lets_others_run(chapter):
    box = lesson(chapter, "mg-playground")
    film = box.locator(".mf-root")
    expect(film).to_contain_text("2-8-8-2")  # before anything is trained
    press(box, "one step")
    expect(box).to_contain_text("After 1 step:")
    press(box, "start")
    expect(box).to_contain_text(re.compile(r"After \d{2,} steps"))
    expect(film).to_contain_text(re.compile(r"step \d{2,}"))  # the film follows
    for theme in chapter.themes():
        chapter.shot(f"chapter-17-playground-training-{theme}", box)
    chapter.page.locator(".jp-Cell").last.click()
    chapter.command("notebook:run-cell")  # another cell answers while the network learns
    expect(chapter.page.locator(".jp-Cell").last.locator(".jp-OutputArea-output")).to_contain_text("42")
    press(box, "pause")
    expect(box.get_by_role("button", name="start", exact=True)).to_be_visible()
    expect(box.locator(".mg-words").first).to_contain_text("new ones right")
    box.get_by_role("button", name="graph of one batch", exact=True).press("Enter")
    expect(box.locator(".mg-root")).to_contain_text("p0_weight")
    press(box, "hide the graph")
    expect(box.locator(".mg-root")).to_have_count(0)
    press(box, "reset")
    expect(box.locator(".mg-words").first).to_contain_text("After 0 steps")
    for theme in chapter.themes():
        chapter.shot(f"chapter-17-playground-{theme}", box)


def the_race_needs_no_kernel(chapter):
    box = lesson(chapter, "mg-race")
    expect(box.locator(".mg-words")).to_contain_text("Each at its best lr, after 60 steps")
    chapter.restart()  # nothing of Python is left behind the picture
    box.get_by_role("slider", name="step").focus()
    chapter.page.keyboard.press("Home")
    expect(box.locator(".mg-words")).to_contain_text(
        "after 0 steps: height SGD 1.69, momentum 0.9 1.69"
    )  # 2.6²/4 + 0.04²
    chapter.page.keyboard.press("ArrowRight")
    expect(box.locator(".mg-words")).to_contain_text("after 1 step: height")
    box.get_by_role("slider", name="lr").focus()
    chapter.page.keyboard.press("End")
    expect(box.locator(".mg-words")).to_contain_text("lr = 0.9, after 1 step")
    press(box, "play (Space)")
    expect(box.get_by_role("slider", name="step")).to_have_value("60")
    expect(box.get_by_role("button", name="play (Space)")).to_be_visible()
    for theme in chapter.themes():
        chapter.shot(f"chapter-17-race-{theme}", box)
    runs = chapter.page.locator("svg.plot").first
    runs.scroll_into_view_if_needed()
    expect(runs.locator("title").first).to_contain_text("Loss on new digits: A ")
    chapter.shot("chapter-17-four-runs", runs)


def test_chapter(chapter):
    for act in (the_playground_trains_pauses_and_lets_others_run, the_race_needs_no_kernel):
        act(chapter)
