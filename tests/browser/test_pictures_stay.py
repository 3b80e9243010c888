"""A saved notebook keeps its pictures: reopened, autosaved, untrusted, without a kernel, exported with and without a network.

What lives here: the days of one notebook in a JupyterLab that is started as README's pip route starts it, without any setting of ours; with
JupyterLab's own setting "save widget state" off and on. What does not: what the pictures show.
"""

import json
import subprocess
import sys

import nbformat
import pytest

from tools import lab

CELLS = [
    "%load_ext minigrad\nfrom minigrad import Value\nx = Value(2.0, label='x')\ny = (3*x + 2)**2",
    "%graph y",
    "from widgets.lessons import stepper\nstepper()",
    "from widgets import duel\nduel(y, (3*x + 1)**2)",
    "6 * 7",
]
PICTURES = 3

# For each output of a view: is a live view seen, is its still picture seen, is JupyterLab's complaint seen?
SEEN = """() => {
    const seen = element => !!element && element.getBoundingClientRect().height > 20;
    const views = '.mg-stored, .mg-root, .mg-lesson-root';
    const cells = [...document.querySelectorAll('.jp-CodeCell')].filter(cell => cell.querySelector(views));
    return cells.map(cell => {
        const image = cell.querySelector('.mg-stored img');
        return {
            live: seen(cell.querySelector('.mg-root, .mg-lesson-root')),
            still: seen(image) && image.complete && image.naturalWidth > 0,
            complaint: cell.innerText.includes('Error displaying widget') || cell.innerText.includes('Loading widget'),
        };
    }); }"""
LIVE = [{"live": True, "still": False, "complaint": False}] * PICTURES
STILL = [{"live": False, "still": True, "complaint": False}] * PICTURES
EITHER = f"() => {{ const now = ({SEEN})(); return now.length === {PICTURES} && now.every(o => o.live !== o.still && !o.complaint); }}"


@pytest.fixture(params=[False, True], ids=["state not saved", "state saved"])
def plain_lab(request, tmp_path, chromium_path, browser_context):
    """A function that opens a notebook of this folder, in a JupyterLab without our settings."""
    home, root = tmp_path / "home", tmp_path / "root"
    root.mkdir()
    manager = home / "settings/@jupyter-widgets/jupyterlab-manager/plugin.jupyterlab-settings"
    manager.parent.mkdir(parents=True)
    manager.write_text(json.dumps({"saveState": request.param}))
    pages = []
    with lab.lab_server(root, home, config=home / "none") as address:

        def open_(name):
            page = lab.NotebookPage(browser_context.new_page(), address, name)
            pages.append(page)
            return page

        open_.root, open_.saves_state = root, request.param
        yield open_
        for page in pages:
            page.close()


def save(nb):
    nb.command("docmanager:save")


def written(path, cells=CELLS):
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    nb.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nb, path)


def test_the_days_of_a_notebook(plain_lab, browser_context):
    root = plain_lab.root
    written(root / "it.ipynb")
    first = plain_lab("it.ipynb").open_in().run_all()
    first.page.wait_for_function(EITHER)
    assert first.page.evaluate(SEEN) == LIVE
    save(first)
    first.close()

    for day in (2, 3):  # a save under a new kernel drops the states that the notebook has
        nb = plain_lab("it.ipynb").open_in()
        nb.page.wait_for_function(EITHER)
        if day == 3 or not plain_lab.saves_state:
            assert nb.page.evaluate(SEEN) == STILL
        nb.shot(f"pictures-stay-day-{day}-{plain_lab.saves_state}")
        save(nb)
        nb.close()

    notebook = nbformat.read(root / "it.ipynb", 4)
    notebook.cells[-1].source += " + 1"  # what was not written by JupyterLab is not trusted
    nbformat.write(notebook, root / "untrusted.ipynb")
    nb = plain_lab("untrusted.ipynb").open_in()
    nb.page.wait_for_function(EITHER)
    assert nb.page.evaluate(SEEN) == STILL
    assert nb.page.locator(".mg-stored img").first.get_attribute("alt").startswith("y = (3*x + 2)**2")
    nb.run_all()
    nb.page.wait_for_function(EITHER)
    assert nb.page.evaluate(SEEN) == LIVE


def test_without_a_kernel(plain_lab):
    root = plain_lab.root
    written(root / "it.ipynb")
    first = plain_lab("it.ipynb").open_in().run_all()
    first.page.wait_for_function(EITHER)
    save(first)
    first.close()
    notebook = nbformat.read(root / "it.ipynb", 4)
    notebook.metadata.kernelspec = {"name": "gone", "display_name": "Gone", "language": "python"}
    nbformat.write(notebook, root / "it.ipynb")
    page = plain_lab("it.ipynb").page
    page.goto(
        f"{first.address}/lab/workspaces/none/tree/it.ipynb?reset&token={lab.TOKEN}", wait_until="domcontentloaded"
    )
    page.locator(".jp-Dialog button", has_text="No Kernel").click(timeout=60_000)
    page.wait_for_selector(".jp-CodeCell")
    page.wait_for_timeout(2000)
    found = page.evaluate(SEEN)
    assert len(found) == PICTURES and all(output["still"] or output["live"] for output in found)


@pytest.mark.parametrize("state", [False, True])
def test_an_exported_page_shows_every_picture_without_a_network(tmp_path, browser_context, state):
    written(tmp_path / "it.ipynb")
    run = [
        sys.executable,
        "-m",
        "nbconvert",
        "--to",
        "html",
        "--execute",
        "it.ipynb",
        f"--ExecutePreprocessor.store_widget_state={state}",
    ]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    page = browser_context.new_page()
    page.route(
        "**/*", lambda route: route.continue_() if route.request.url.startswith(("file:", "data:")) else route.abort()
    )
    page.goto((tmp_path / "it.html").as_uri())
    drawn = "n => [...document.querySelectorAll('.mg-stored img')].filter(i => i.naturalWidth > 100).length === n"
    page.wait_for_function(drawn, arg=PICTURES)
    assert all(image.bounding_box()["height"] > 100 for image in page.locator(".mg-stored img").all())
    assert all(image.get_attribute("alt").strip() for image in page.locator(".mg-stored img").all())
    page.close()
