"""Notebook 7 instead of JupyterLab: the view draws, steps, slides, folds and survives a kernel restart. One server of its own.

What lives here: that server and this one test. What does not: what the view does (test_graph_view.py); the rules of other hosts, which
need no browser (tests/widgets/test_graph_hosts.py).
"""

from importlib.util import find_spec

import nbformat
import pytest
from playwright.sync_api import expect

from tools import lab

CELLS = ["%load_ext minigrad\nfrom minigrad import Value\nx = Value(1.0)\ny = (3*x + 2)**2", "%graph y"]


@pytest.fixture
def notebook7(tmp_path):
    """The address of a Notebook 7 that shows a folder with test.ipynb in it."""
    if find_spec("notebook") is None:
        pytest.skip("Notebook 7 is not installed")
    folder = tmp_path / "files"
    folder.mkdir()
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    nb.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nb, folder / "test.ipynb")
    with lab.lab_server(folder, tmp_path / "home", app="notebook") as address:
        yield address


def test_the_view_in_notebook_7(notebook7, browser_context):
    page = browser_context.browser.new_page(viewport={"width": 1400, "height": 1000})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{notebook7}/notebooks/test.ipynb?token={lab.TOKEN}", wait_until="domcontentloaded")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    page.wait_for_function("() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'",
                           timeout=60_000)  # fmt: skip
    errors.clear()  # Notebook's own, before any cell has run
    run = "(name) => window.jupyterapp.commands.execute(name).then(() => null)"
    page.evaluate(run, "notebook:run-all-cells")
    root = page.locator(".mg-root")
    expect(root).to_have_attribute("data-ready", "1")
    expect(root).to_have_attribute("data-step", "4")
    root.focus()
    page.keyboard.press("End")
    expect(root).to_have_attribute("data-step", "8")
    assert root.locator('.mg-card[aria-label^="x"] .mg-grad').first.text_content() == "▴ 30"
    root.locator('.mg-card[aria-label^="y"]').click()  # the line that made it is highlighted in its cell
    page.wait_for_function("() => [...(CSS.highlights.get('minigrad-source') ?? [])].join() === '(3*x + 2)**2'")
    slider = root.get_by_role("slider", name="x", exact=True)
    slider.evaluate("(e) => { e.value = 100; e.dispatchEvent(new Event('input', {bubbles: true})); }")
    expect(root.locator('.mg-card[aria-label^="y"] .mg-value').first).to_have_text("64")
    lab.SCREENSHOTS.mkdir(exist_ok=True)
    root.screenshot(path=str(lab.SCREENSHOTS / "notebook7.png"))
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    expect(root.locator(".mg-badge")).to_be_visible()
    root.focus()
    page.keyboard.press("Home")
    expect(root).to_have_attribute("data-step", "0")
    assert errors == []
    page.close()
