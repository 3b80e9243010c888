"""Faults around an open view: the kernel killed in the middle of stepping, the connection cut and back, two tabs on one notebook.

What lives here: that nothing is lost and the page says what is the matter. What does not: a restart by hand and a cell run again and again
(test_graph_view.py), forged messages (tests/widgets/test_faults.py), an hour of random clicks (soak.py).
"""

import pytest
from playwright.sync_api import expect

from tools import lab

from .test_graph_view import SETUP, SQUARE, View, sliders

PROGRAM = [SETUP, *SQUARE]


@pytest.fixture(autouse=True)
def online(browser_context):
    """Whatever a test did, the next one finds the server."""
    yield
    browser_context.set_offline(False)


def connected(nb, wanted: bool) -> None:
    nb.page.wait_for_function(
        "want => want === (window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.connectionStatus"
        " === 'connected')",
        arg=wanted,
        timeout=60_000,
    )


def test_the_kernel_dies_in_the_middle_of_stepping(open_notebook):
    nb = open_notebook(PROGRAM).run_all()
    view = View(nb)
    view.press("start")
    view.press("next")
    nb.page.evaluate("""() => { const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
        kernel.requestExecute({code: 'import os; os._exit(1)'}).done.catch(() => 0); }""")
    expect(view.root.locator(".mg-badge")).to_be_visible(
        timeout=60_000
    )  # the server has started a fresh one, and the view says so
    if nb.page.locator(".jp-Dialog").count():
        nb.page.keyboard.press("Escape")
    assert view.step() == 1
    view.press("next")
    view.press("end")
    assert view.step() == 8 and view.grad("x") == "▴ 30"
    nb.wait_idle()
    nb.errors.clear()  # JupyterLab itself reports the kernel's death
    nb.run_all()
    expect(View(nb).root.locator(".mg-badge")).to_be_hidden()


def test_the_connection_is_cut_and_comes_back(open_notebook):
    nb = open_notebook(PROGRAM)
    nb.run_all()
    view = View(nb)
    nb.page.context.set_offline(True)
    nb.page.evaluate("""() => { const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
        (kernel._ws || kernel._connection?._ws)?.close(); }""")
    connected(nb, False)
    view.press("end")  # what was sent is enough to step and to slide
    x = view.slide("x", 100)
    assert view.step() == 8 and view.value("y") == (3 * x + 2) ** 2
    nb.page.context.set_offline(False)
    nb.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.reconnect()")
    connected(nb, True)
    nb.wait_idle()
    nb.errors.clear()  # the browser's own words about the cut
    x = view.slide("x", 40)
    assert view.value("y") == (3 * x + 2) ** 2
    for _ in range(100):  # the kernel knows where the slider stands again, as soon as the page's message has arrived
        if sliders(nb) == [x]:
            break
    else:
        raise AssertionError(f"the kernel knows {sliders(nb)}, the slider stands at {x}")


def test_two_tabs_on_one_notebook(open_notebook, browser_context):
    nb = open_notebook(PROGRAM).run_all()
    View(nb).press("end")
    nb.command("docmanager:save")
    page = lab.NotebookPage(browser_context.new_page(), nb.address, nb.path)
    page.page.goto(
        f"{nb.address}/lab/workspaces/other/tree/{nb.path}?reset&token={lab.TOKEN}", wait_until="domcontentloaded"
    )
    page.page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
    page.wait_idle()
    page.page.set_default_timeout(30_000)
    assert page.python("print(x.data)") == "1.0"  # the same kernel
    second = page.page.locator(".mg-root, .jp-OutputArea-output svg, .jp-RenderedImage img").first
    expect(second).to_be_visible()  # the live view, or its still picture: never an error
    page.run_all()
    view = View(page)
    view.press("end")
    assert view.step() == 8 and view.grad("x") == "▴ 30"
    # The cell ran again, so the kernel has put its old view away; running it in the first tab brings one there.
    nb.run_all()
    first = View(nb)
    first.press("start")
    assert first.step() == 0 and nb.cell_errors() == page.cell_errors() == []
    nb.errors[:] = [e for e in nb.errors if "409" not in e]
    page.page.close()
