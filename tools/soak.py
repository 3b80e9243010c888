"""An hour of random clicking, memory flat: `python -m tools.soak --minutes 60`, or `make soak`.

What lives here: a JupyterLab with a Value view, a Tensor view and lessons; random clicks, keys, drags and cell runs in it; and what the
page and the kernel hold meanwhile. What does not: tests. It prints a line each minute, and ends with 1 if the page reported an error, if a
view no longer answers, or if elements, the kernel or JavaScript's heap grow in the second half. JupyterLab's own are kept out of it: it
keeps the toolbar of every cell that was ever active (75 kB each time, in a notebook of plain buttons too), so the toolbars are off; and the
drawing of every plain ipywidgets.HTML whose cell ran again, so only the views' cells are run again. One remains: each comm of JupyterLab
listens to its kernel connection and never stops, so the model of every widget that was ever made stays until the page is left, closed or
not. That is some 30 kB for each run of a cell, and the heap may grow by 50. `--control` shows it: the same actions on plain buttons and
sliders, with nothing of minigrad in the page.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from . import lab

CELLS = [
    "%load_ext minigrad\nimport minigrad as torch\nfrom minigrad import Value\nfrom widgets.lessons import *",
    "x, w = Value(1.0), Value(0.5)\ny = (3*x + 2)**2 * w.tanh()",
    "%graph y",
    "a = torch.randn(3, 2, requires_grad=True)\nloss = (a @ a.T).relu().mean()",
    "%graph loss",
    "stepper()",
    "chain()",
    "bucket()",
]
CONTROL = [  # as many cells of plain ipywidgets; a cell that runs again closes its widget, as %graph does
    "from ipywidgets import Button, FloatSlider, IntSlider, Label, VBox\nshown = {}\n"
    "def show(place, widget):\n    if place in shown: shown.pop(place).close()\n    shown[place] = widget\n    return widget\n"
    "def box():\n    label, buttons = Label('0'), [Button(description=f'button {i}') for i in range(6)]\n"
    "    for b in buttons: b.on_click(lambda b: setattr(label, 'value', str(int(label.value) + 1)))\n"
    "    return VBox([*buttons, FloatSlider(), label])",
    "1",
    "show('a', IntSlider())",
    "2",
    "show('b', Button(description='again'))",
    "box()",
    "box()",
    "box()",
]
SLIDERS = {False: "input[type=range]", True: ".jp-OutputArea-output .noUi-handle:visible"}
KEYS = ["ArrowRight", "ArrowLeft", "Home", "End", "Space", "Enter", "Tab", "Escape"]


def kept(nb) -> tuple[int, int, float]:
    """Elements in the page, elements of minigrad's that are in no page any more and yet are kept alive, and JavaScript's heap in MB.

    A connection of its own each time: the list of lost elements keeps them alive for as long as the connection that asked stands."""
    devtools = nb.page.context.new_cdp_session(nb.page)
    devtools.send("DOM.enable")
    devtools.send("HeapProfiler.collectGarbage")
    heap = devtools.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    lost = sum(ours(tree["treeNode"]) for tree in devtools.send("DOM.getDetachedDomNodes")["detachedNodes"])
    devtools.send("DOM.disable")
    devtools.detach()
    return nb.page.evaluate("() => document.querySelectorAll('*').length"), lost, heap


def ours(node: dict) -> int:
    """Elements with a class of minigrad's in this tree."""
    attributes = node.get("attributes", [])
    classes = dict(zip(attributes[::2], attributes[1::2], strict=True)).get("class", "")
    return ("mg" in classes) + sum(ours(child) for child in node.get("children", []))


def kernel_megabytes(nb) -> float:
    """What the kernel holds now, not its peak: a peak cannot show that something was freed."""
    return float(nb.python("import gc, psutil; gc.collect(); print(psutil.Process().memory_info().rss / 1e6)"))


def act(nb, rng: random.Random, control: bool) -> bool:
    """One random action of a hand: on a button, a slider, the keyboard, or a whole cell again (then True)."""
    kind = rng.random()
    if kind < 0.05:
        nb.cell(rng.choice([2, 4])).locator(".jp-InputPrompt").click()
        nb.command("notebook:run-cell")
        return True
    wanted = SLIDERS[control] if kind < 0.25 else ".jp-OutputArea-output button:visible"
    found = nb.page.locator(wanted)
    count = found.count()
    if not count:
        return False
    target = found.nth(rng.randrange(count))
    if kind < 0.25 and control:
        target.focus()
        nb.page.keyboard.press(rng.choice(["PageUp", "PageDown", "Home", "End"]))
    elif kind < 0.25:
        target.evaluate(
            "(e, t) => { e.value = +e.min + t * (e.max - e.min); e.dispatchEvent(new Event('input', {bubbles: true}));"
            " e.dispatchEvent(new Event('change', {bubbles: true})); }",
            rng.random(),
        )
    elif kind < 0.7:
        name = (target.get_attribute("title") or target.inner_text() or "").lower()
        if not any(word in name for word in ("save", "html", "svg", "png", "gif", "export", "dot")):  # no downloads
            target.click(timeout=2000, force=True)
    else:
        target.focus()
        for _ in range(rng.randrange(1, 6)):
            if not nb.page.evaluate("() => !!document.activeElement.closest('.jp-OutputArea')"):
                return False  # the key would go to the notebook: Enter would write into its cells
            nb.page.keyboard.press(rng.choice(KEYS))
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--control", action="store_true", help="plain ipywidgets and nothing of minigrad: what JupyterLab itself keeps"
    )
    options = parser.parse_args()
    rng, samples = random.Random(options.seed), []
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder, "notebooks"), Path(folder, "home")
        root.mkdir(), home.mkdir()
        book = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in (CONTROL if options.control else CELLS)]
        )
        book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(book, root / "soak.ipynb")
        page_config = home / "config/labconfig/page_config.json"
        page_config.parent.mkdir(parents=True)
        page_config.write_text('{"disabledExtensions": {"@jupyterlab/cell-toolbar-extension": true}}')
        with (
            lab.lab_server(root, home) as address,
            lab.chromium(lab.find_chromium() or sys.exit(lab.NO_CHROMIUM)) as context,
        ):
            nb = lab.NotebookPage(context.new_page(), address, "soak.ipynb").open().run_all()
            begun, actions, missed, runs = time.monotonic(), 0, 0, 0
            while time.monotonic() < begun + 60 * options.minutes:
                until = time.monotonic() + min(60, 6 * options.minutes)
                while time.monotonic() < until:
                    try:
                        runs += act(nb, rng, options.control)
                    except Exception:  # the element was redrawn between the query and the click
                        missed += 1
                    actions += 1
                nb.page.keyboard.press("Escape")
                nb.wait_idle()
                samples.append((*kept(nb), kernel_megabytes(nb), runs))
                inside, outside, heap, held, _ = samples[-1]
                print(
                    f"{(time.monotonic() - begun) / 60:5.1f} min: {actions} actions ({runs} cells run again, {missed} missed), "
                    f"{inside} elements in the page, {outside} of minigrad's outside of it, JavaScript {heap:.1f} MB, "
                    f"kernel {held:.1f} MB",
                    flush=True,
                )
            nb.run_all()
            alive = nb.page.locator(".widget-vbox" if options.control else ".mg-root[data-ready='1']").count()
    half = samples[len(samples) // 2 :]
    grown = [last - first for first, last in zip(half[0], half[-1], strict=True)]
    each = 1000 * grown[2] / max(grown[4], 1)  # JupyterLab's own, by --control: some 30 kB
    print(
        f"second half: {grown[0]:+d} elements in the page, {grown[1]:+d} outside of it, {grown[2]:+.1f} MB of JavaScript "
        f"({each:.0f} kB for each of {grown[4]} cells run again), {grown[3]:+.1f} MB in the kernel; "
        f"{len(nb.errors)} errors in the console, {alive} views answer"
    )
    print(*nb.errors[:5], sep="\n")
    grows = grown[0] > 500 or grown[1] > 500 or grown[2] > 3 and each > 50 or grown[3] > 30
    sys.exit(1 if nb.errors or alive < 2 or grows else 0)


if __name__ == "__main__":
    main()
