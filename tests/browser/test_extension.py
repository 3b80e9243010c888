"""The kernel extension in a real JupyterLab: error panels, tables, the rule card, %%explore; light and dark, looked at by a person too."""

import pytest

from ..thorough import part

SETUP = """%load_ext minigrad
import minigrad as torch
from minigrad import Value
x, w = Value(2.0), Value(-1.0)
y = (x * w).tanh()
a = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
b = torch.zeros(2, requires_grad=True)
loss = ((a * 2 + b) ** 2).mean()"""
CUT = "w2 = torch.ones(3, requires_grad=True)\ncode = (w2 * 2).detach()\nscore = (code ** 2).sum()\nscore.backward()"
WRITTEN = "h = a.exp()\nh += 1\nh.sum().backward()"
SHAPES = "rows = torch.ones(3, 4)\nrow_sums = rows.sum(1)\nrows / row_sums"
LOOP = "q = torch.tensor(1., requires_grad=True)\nfor step in range(2):\n    l = (q - 3) ** 2\n    l.backward()\n    q = q - 0.1 * q.grad"
EXPLORE = "%%explore v=1.0 n=(1, 4)\nh = v\nfor i in range(n):\n    h = (h * 0.9).tanh() if h > 0 else h * 2\nh"


def ready(nb):
    """Run cells one after the other: a failing cell must not stop the next."""
    count = nb.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-CodeCell").count()
    for i in range(count):
        nb.cell(i).locator(".cm-content").click()
        nb.command("notebook:run-cell")
        nb.wait_idle()
    return nb


def contrast(nb, locator):
    """WCAG contrast of an element's text against the first ground behind it that has a colour."""
    return locator.evaluate("""node => {
      const rgb = c => { const d = document.createElement('canvas').getContext('2d'); d.fillStyle = c; d.fillRect(0, 0, 1, 1);
                         return [...d.getImageData(0, 0, 1, 1).data]; };
      const lum = c => { const v = c.slice(0, 3).map(x => x / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
                         return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
      let ground = node; while (ground && rgb(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
      const a = lum(rgb(getComputedStyle(node).color)), b = lum(rgb(getComputedStyle(ground).backgroundColor));
      return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); }""")


def test_error_panels(open_notebook):
    nb = ready(open_notebook([SETUP, CUT, WRITTEN, SHAPES, LOOP]))
    for theme in ("light", "dark"):
        nb.theme(theme)
        for i, says in ((1, "nowhere to go"), (2, "overwritten"), (3, "do not fit"), (4, "another tensor")):
            panel = nb.cell(i).locator(".mg-note")
            assert says in panel.inner_text()
            errors = [text.strip() for text in nb.cell(i).locator(".jp-OutputArea-output").all_inner_texts()]
            errors = [text for text in errors if text.startswith(("RuntimeError: ", "TypeError: "))]
            assert len(errors) == 1 and "minigrad/" not in errors[0]
            for element in (panel.locator("dt").first, panel.locator("dd").first, panel.locator("a").first):
                assert contrast(nb, element) >= 4.5
            nb.shot(f"panel-{i}-{theme}", nb.cell(i))
    assert "/10_controlling_the_graph.ipynb" in nb.cell(1).locator(".mg-note a").get_attribute(
        "href"
    )  # Lab makes it absolute


@pytest.mark.parametrize("theme", part(["light", "dark"], 0, always=["light"]))
def test_tables_and_cards(open_notebook, theme):
    nb = ready(
        open_notebook(
            [SETUP, "loss.backward(retain_graph=True)", "%grads", "%rule tanh 0.5", "%memory loss", "%lesson", EXPLORE]
        )
    )
    nb.theme(theme)
    table = nb.cell(2).locator("table")
    names = lambda: table.locator("tbody th").all_inner_texts()  # noqa: E731
    before = names()
    table.locator("th button").nth(1).focus()
    nb.page.keyboard.press("Enter")
    ascending = names()
    nb.page.keyboard.press("Enter")
    assert sorted(before) == sorted(ascending) and ascending != before and names() == ascending[::-1]
    assert table.locator("th[aria-sort=descending]").count() == 1
    for i, name in ((2, "grads"), (3, "rule"), (4, "memory"), (5, "lesson"), (6, "explore")):
        nb.shot(f"magic-{name}-{theme}", nb.cell(i))
    card = nb.cell(3)
    handle = card.locator(".noUi-handle").first
    handle.focus()
    for _ in range(10):
        nb.page.keyboard.press("ArrowRight")
    card.locator(".mg-note", has_text="at x = 1").first.wait_for()
    nodes = nb.cell(6).locator(".mg-card")
    count = nodes.count()
    handle = nb.cell(6).locator(".noUi-handle").nth(1)
    handle.focus()
    nb.page.keyboard.press("ArrowRight")
    more = "([n, was]) => document.querySelectorAll('.jp-Cell')[n].querySelectorAll('.mg-card').length > was"
    nb.page.wait_for_function(more, arg=[6, count])
    nb.shot(f"magic-explore-moved-{theme}", nb.cell(6))
