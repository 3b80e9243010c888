"""The harness itself: a notebook runs in the page, the theme turns, and an error or an outside request would be seen."""

import sys

from tools.lab import ROOT


def test_runs_a_notebook_with_this_python(open_notebook):
    which = "import sys\nfrom importlib.util import find_spec\nprint(sys.executable, find_spec('minigrad').origin)"
    nb = open_notebook([which, "print(6 * 7)"])
    nb.run_all()
    assert nb.cell_errors() == []
    assert nb.cell(0).locator(".jp-OutputArea-output").inner_text().split() == [
        sys.executable,
        str(ROOT / "minigrad/__init__.py"),
    ]
    assert nb.cell(1).locator(".jp-OutputArea-output").inner_text().strip() == "42"
    assert nb.page.locator(".jp-toast, .Toastify__toast").count() == 0  # no news, no questions
    assert (
        nb.page.get_by_text("Nbgrader").count() == 0
    )  # a learner's JupyterLab, also where the teachers' tools are installed


def test_theme_changes_the_page(open_notebook):
    nb = open_notebook(["1"])
    background = "() => getComputedStyle(document.querySelector('.jp-Notebook')).backgroundColor"
    colours = []
    for theme in ("dark", "light"):
        nb.theme(theme)
        colours.append(nb.page.evaluate(background))
    assert colours[0] != colours[1]


def test_sees_errors_and_outside_requests(open_notebook):
    nb = open_notebook(["raise ValueError('no')"])
    nb.run_all()
    assert "ValueError: no" in nb.cell_errors()[0]
    nb.page.evaluate(
        "console.error('seen'); fetch('http://192.0.2.1/').catch(() => null); null"
    )  # an address that never answers
    nb.page.wait_for_timeout(200)
    assert "seen" in nb.errors and nb.outside == ["http://192.0.2.1/"]
    nb.errors.clear()
    nb.outside.clear()


def test_restart_forgets_names(open_notebook):
    nb = open_notebook(
        ["try:\n    again\nexcept NameError:\n    again = True\n    print('first')\nelse:\n    print('second')"]
    )
    output = nb.cell(0).locator(".jp-OutputArea-output")
    texts = []
    for before in (lambda: None, lambda: None, nb.restart):
        before()
        nb.run_all()
        texts.append(output.inner_text().strip())
    assert texts == ["first", "second", "first"]
