"""Three days of a learner in a JupyterLab that `make lab` would start: any cell first, a server that was stopped, a new edition.

What lives here: the copy of the course, its kernel, what a restart and an update keep. What does not: what the pictures show
(test_pictures_stay.py), the command that copies and updates (tests/course/test_copy.py).
"""

import json

import pytest
from playwright.sync_api import expect

from minigrad.course import __main__ as course
from minigrad.course import exercises, update
from tools import lab

ENGINE, START = "05_build_the_engine.ipynb", "00_start_here.ipynb"


@pytest.fixture
def days(tmp_path, chromium_path, browser_context, monkeypatch):
    """A function: a new JupyterLab on the same folder and home; returns how to open a notebook in it."""
    home, folder = tmp_path / "home", tmp_path / "my-course"
    home.mkdir()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(home / "data"))  # the server's, so that it trusts the copies
    course.trust(course.copy(folder)[0])
    pages, servers = [], []

    def stop():
        while pages:
            pages.pop().close()
        while servers:
            servers.pop().__exit__(None, None, None)

    def day():
        stop()
        servers.append(lab.lab_server(folder, home))
        address = servers[-1].__enter__()

        def open_(name):
            pages.append(lab.NotebookPage(browser_context.new_page(), address, name))
            return pages[-1].open()

        return open_

    day.folder = folder
    yield day
    stop()


def run(nb, index):
    """Run one cell, whatever was run before."""
    nb.page.evaluate("index => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index; }", index)
    nb.command("notebook:run-cell")
    nb.wait_idle()
    return nb.cell(index)


def index_of(nb, piece):
    """The place of the first code cell that holds `piece`."""
    cells = json.loads(
        nb.page.evaluate("() => JSON.stringify(window.jupyterapp.shell.currentWidget.content.model.toJSON().cells)")
    )
    return next(i for i, cell in enumerate(cells) if cell["cell_type"] == "code" and piece in "".join(cell["source"]))


def errors(nb):
    """What went wrong, but for the one that chapter 05 shows on purpose."""
    return [text for text in nb.cell_errors() if "'int' and 'Tiny'" not in text]


def write(nb, index, text):
    nb.page.evaluate("([index, text]) => window.jupyterapp.shell.currentWidget.content.model.cells.get(index).sharedModel.setSource(text)",
                     [index, text])  # fmt: skip


def test_three_days(days):
    open_ = days()
    nb = open_(START)
    assert nb.page.locator(".jp-InputPrompt").all_inner_texts().count("[ ]:") > 2, "nothing says that it has run"
    nb.page.set_viewport_size({"width": 1280, "height": 800})
    alive = nb.page.locator(".mg-stored .mg-fit-line")
    expect(alive).to_be_visible()
    for theme in nb.themes():
        nb.shot(f"opened-1280-{theme}")
    slider = alive.get_by_role("slider", name="w")
    expect(slider).to_be_in_viewport()
    expect(alive.get_by_role("status")).to_contain_text("15.2")
    slider.focus()
    nb.page.keyboard.press("End")
    expect(alive.get_by_role("status")).not_to_contain_text("15.2")  # nothing has run
    nb.page.set_viewport_size({"width": 820, "height": 1000})
    for theme in nb.themes():
        nb.shot(f"opened-820-{theme}")
    nb.page.set_viewport_size({"width": 1400, "height": 1000})
    place = alive.bounding_box()
    picture = run(nb, index_of(nb, "fit_line()"))  # the first cell was not run
    expect(picture.locator(".mg-lesson-root")).to_be_visible()
    expect(alive).to_be_hidden()
    live = picture.locator(".mg-lesson-root").bounding_box()
    assert abs(live["y"] - place["y"]) < 12 and abs(live["height"] - place["height"]) < 12, "it has jumped"
    assert errors(nb) == []
    for theme in nb.themes():
        nb.shot(f"day-1-{theme}")

    nb = open_(ENGINE)
    answer = index_of(nb, "class Value:")
    write(nb, answer, exercises["05.a"].solution)
    run(nb, answer)
    expect(run(nb, answer + 1)).to_contain_text("05.a Values that remember: passed")
    write(nb, answer + 1, 'check.keep("05.a")')
    expect(run(nb, answer + 1)).to_contain_text("kept in my_engine.py")
    nb.command("docmanager:save")

    open_ = days()
    nb = open_(ENGINE)
    second = run(nb, index_of(nb, "check.engine()"))  # the second sitting begins here
    expect(second).to_contain_text(
        "Welcome back: 05.a has passed, 05.a is loaded from my_engine.py, 05.b: The backward pass is next."
    )
    second.get_by_role("link", name="05.b: The backward pass").click()
    expect(nb.page.get_by_role("heading", name="Exercise 05.b")).to_be_in_viewport()
    expect(run(nb, answer + 6)).not_to_contain_text("Welcome")
    assert errors(nb) == []
    for theme in nb.themes():
        nb.shot(f"day-2-{theme}")
    nb.command("docmanager:save")

    record = days.folder / update.RECORD
    record.write_text(json.dumps({**json.loads(record.read_text()), ENGINE: "an edition before"}))
    changes = update.update(days.folder, [published(name) for name in (START, ENGINE)])
    assert changes == [f"{ENGINE}: the new edition, with your answers to 05.a; your file is now before-update/{ENGINE}"]
    open_ = days()
    nb = open_(ENGINE)
    assert "self.grad" in nb.cell(index_of(nb, "class Value:")).inner_text()
    graph = run(nb, index_of(nb, "%graph y"))
    expect(graph.locator(".mg-root")).to_be_visible()
    assert errors(nb) == []
    for theme in nb.themes():
        nb.shot(f"day-3-{theme}")


def test_the_side_panel(days):
    nb = days()(ENGINE)
    page = nb.page
    page.get_by_role("tab", name="minigrad").click()
    panel = page.get_by_role("region", name="minigrad: this chapter")
    expect(panel).to_contain_text("0 of 5 exercises have passed.")
    panel.get_by_role("button", name="Hint").press("Enter")
    expect(panel.locator(".mgp-note")).to_contain_text("05.a, hint 1 of 3")
    page.locator(".jp-RenderedMarkdown strong", has_text="topological order").first.click()
    expect(panel).to_contain_text("An order in which every node comes after its parents.")
    panel.get_by_role("button", name="05.c").click()
    expect(page.get_by_role("heading", name="Exercise 05.c")).to_be_in_viewport()
    answer = index_of(nb, "class Value:")
    write(nb, answer, exercises["05.a"].solution)
    run(nb, answer)
    run(nb, answer + 1)
    expect(panel).to_contain_text("1 of 5 exercises have passed.")
    expect(panel.locator(".mgp-next")).to_contain_text("05.a2")
    assert errors(nb) == []
    panel.get_by_text("All chapters").click()
    for theme in nb.themes():
        nb.shot(f"side-panel-{theme}")
    panel.get_by_role("button", name="6 · The rule book").click()
    expect(page.get_by_role("tab", name="06_")).to_be_visible()
    expect(panel).to_contain_text("0 of 5 exercises have passed.")


def published(name):
    (content,) = [content for there, content in course.chapters() if there == name]
    return course.Chapter(name, course.for_a_learner(content, kernel=course.has_kernel()))
