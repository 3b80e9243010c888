"""What the graph view costs in a real JupyterLab, beside the naive way: `python -m tools.benchmarks view` (also a part of `make bench`).

For graphs of 10, 50, 500, 1,000 and 10,000 nodes: how long until it is painted, how long a slider's frame and a step take (p50 and p95
of many), how far apart a drag's frames are on the screen, and how many bytes are sent to the browser when it opens and for every move of
a slider. The view opens large graphs folded; the lines that say "all open" draw every card, and "at the end" is the same with the
backward pass stepped to its end, when every edge and every row of the ledger has numbers. The naive way, for comparison, is what
notebooks usually do: an ipywidgets slider whose every change renders the graph again with Graphviz into an Output; with at most 1,000
nodes, and NAIVE_SECONDS until its first picture stands and as long again for its moves. Where it takes longer, the table says so. Times
are wall-clock times of one machine and only mean something beside each other.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import nbformat

from tools import lab

SETUP = """
import math
from minigrad import Value
from widgets import graph
def computation(nodes):
    x, w = Value(0.5), Value(0.9)
    h = x
    for _ in range((nodes - 2) // 3):
        h = (h * w + x).tanh()
    return x, h
computations = {n: computation(n) for n in (10, 50, 500, 1000, 10000)}
graph(computations[10][1])
"""
NAIVE = """
import ipywidgets, pygraphviz
from IPython.display import SVG, display
from minigrad.tracing.trace import trace
from minigrad.scalar import recompute
from minigrad.tracing.trace import record
def naive(n):
    x, y = computations[n]
    out, slider = ipywidgets.Output(), ipywidgets.FloatSlider(value=0.5, min=-2, max=2, step=0.01)
    def draw(_=None):
        x.data = slider.value
        recompute(record(y).objects)
        t = trace(y, {"x": x, "y": y})
        g = pygraphviz.AGraph(directed=True, strict=False, rankdir="LR")
        g.node_attr["shape"] = "record"
        for node in t["nodes"]:
            g.add_node(node["id"], label=f"{node['label']}|data {node['value']:.4f}|grad {node['grad']:.4f}")
        for edge in t["edges"]:
            g.add_edge(edge["source"], edge["target"], edge["id"])
        svg = g.draw(format="svg", prog="dot").decode()
        with out:
            out.clear_output(wait=True)
            display(SVG(svg))
    slider.observe(draw, "value")
    draw()
    return ipywidgets.VBox([slider, out])
"""
NAIVE_SECONDS = 60
# In the page: run a cell and say when its code was done and when the result was painted; null if it is not within `seconds`.
RUN = """async ([cell, ready, seconds]) => {
  const panel = window.jupyterapp.shell.currentWidget, notebook = panel.content;
  notebook.activeCellIndex = cell;
  const begun = performance.now(), kernel = panel.sessionContext.session.kernel;
  let ended = 0;
  const onStatus = (_, status) => { if (status === 'idle') ended = performance.now(); };
  kernel.statusChanged.connect(onStatus);
  let done = false;
  window.jupyterapp.commands.execute('notebook:run-cell').then(() => { done = true; });
  const where = notebook.widgets[cell].node;
  while (!done || !where.querySelector(ready)) {
    await new Promise(requestAnimationFrame);
    if (performance.now() - begun > 1000 * (seconds ?? 1e6)) return null;
  }
  await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
  const painted = performance.now();
  kernel.statusChanged.disconnect(onStatus);
  return [painted - begun, ended ? Math.max(0, painted - ended) : 0];
}"""
# One frame each: the event, the view's own work and the layout that the browser does for it; and the time from frame to frame.
FRAMES = """async ([cell, count, what]) => {
  const root = window.jupyterapp.shell.currentWidget.content.widgets[cell].node.querySelector('.mg-root'), times = [], gaps = [];
  const range = root.querySelector('.mg-input input[type=range]'), inputs = root.querySelector('.mg-inputs');
  if (what === 'step') { root.focus(); root.dispatchEvent(new KeyboardEvent('keydown', {key: 'Home', bubbles: true})); }
  else {
    inputs.dispatchEvent(new PointerEvent('pointerenter'));  // a mouse comes to the slider before it moves it
    await new Promise((r) => setTimeout(r, 500));
    range.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}));
  }
  let last = 0;
  for (let i = 0; i < count; i++) {
    const now = await new Promise(requestAnimationFrame);
    if (last) gaps.push(now - last);
    last = now;
    const begun = performance.now();
    if (what === 'slide') {
      range.value = String((i * 7) % (Number(range.max) + 1));
      range.dispatchEvent(new Event('input', {bubbles: true}));
    } else root.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
    root.querySelector('.mg-svg').getBoundingClientRect();
    times.push(performance.now() - begun);
  }
  if (what === 'slide') {
    range.dispatchEvent(new PointerEvent('pointerup', {bubbles: true}));
    range.dispatchEvent(new Event('change', {bubbles: true}));
    inputs.dispatchEvent(new PointerEvent('pointerleave'));
  }
  return [times, gaps];
}"""
# The naive slider by its keys; a move ends when the new picture is in the page.
KEYS = """async ([cell, count, seconds]) => {
  const node = window.jupyterapp.shell.currentWidget.content.widgets[cell].node, times = [];
  const handle = node.querySelector('.noUi-handle');
  const started = performance.now();
  for (let i = 0; i < count && performance.now() - started < 1000 * seconds; i++) {
    const old = node.querySelector('.jp-OutputArea-output img, .jp-OutputArea-output svg');
    const begun = performance.now();
    handle.focus();
    handle.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
    for (;;) {
      await new Promise(requestAnimationFrame);
      const now = node.querySelector('.jp-OutputArea-output img, .jp-OutputArea-output svg');
      if ((now && now !== old) || performance.now() - begun > 10000) break;
    }
    times.push(performance.now() - begun);
  }
  return times;
}"""


def p(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def kilo(count: float) -> str:
    return f"{count / 1000:,.1f} kB"


def measure(sizes: list[int]) -> list[list[str]]:
    """A row of the table for each size and way."""
    ways = [(n, "view", f"graph(computations[{n}][1])") for n in sizes]
    ways += [
        (n, way, f"graph(computations[{n}][1], limit=1_000{more})")
        for n in sizes
        if 120 < n <= 1000
        for way, more in (("view, all open", ""), ("view, at the end", ", step='end'"))
    ]
    # The largest last: a kernel inside Graphviz handles no message
    ways += [(n, "naive", f"naive({n})") for n in sorted(sizes) if n <= 1000]
    chromium = lab.find_chromium()
    if chromium is None:
        raise SystemExit(f"minigrad: {lab.NO_CHROMIUM}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "files"
        root.mkdir()
        nb = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(c) for c in (SETUP, NAIVE, *(code for _, _, code in ways))]
        )
        nb.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(nb, root / "bench.ipynb")
        with lab.lab_server(root, Path(folder) / "home") as address, lab.chromium(chromium) as context:
            page = context.new_page()
            received = [0]

            def count(message) -> None:
                received[0] += len(message.encode() if isinstance(message, str) else message)

            page.on("websocket", lambda socket: socket.on("framereceived", count))
            notebook = lab.NotebookPage(page, address, "bench.ipynb").open()
            page.set_default_timeout(120_000)
            for cell in (0, 1):
                notebook.command("notebook:run-cell")
                page.evaluate(RUN, [cell, ".jp-OutputArea"])
                notebook.wait_idle()
            for k, (n, way, _) in enumerate(ways):
                cell = k + 2
                received[0] = 0
                ready = ".noUi-handle" if way == "naive" else '.mg-root[data-ready="1"]'
                if way == "naive":
                    ready = (
                        ".jp-OutputArea-output .jp-OutputArea-output img, .widget-output img, .jp-OutputArea-output svg"
                    )
                timed = page.evaluate(RUN, [cell, ready, NAIVE_SECONDS if way == "naive" else 120])
                if timed is None:
                    rows += [[f"{size:,}", other, f"over {NAIVE_SECONDS} s", *[""] * 6] for size, other, _ in ways[k:]]
                    print("  ".join(rows[-1]), flush=True)
                    break
                whole, after = timed
                page.wait_for_timeout(400)  # messages that arrive until then are part of the opening
                opened, received[0] = received[0], 0
                if way == "naive":
                    slide, step, gaps = page.evaluate(KEYS, [cell, 12, NAIVE_SECONDS]), [], []
                    moves = len(slide)
                else:
                    moves = 60
                    has = notebook.cell(cell).locator(".mg-input").count() > 0
                    slide, gaps = page.evaluate(FRAMES, [cell, moves, "slide"]) if has else ([], [])
                page.wait_for_timeout(600)
                per_move = received[0] / moves
                if way != "naive":
                    step, _ = page.evaluate(FRAMES, [cell, 60, "step"])
                    page.wait_for_timeout(300)
                frame, apart, steps = (
                    f"{p(times, 0.5):.1f} / {p(times, 0.95):.1f}" if times else "" for times in (slide, gaps, step)
                )
                rows.append(
                    [
                        f"{n:,}",
                        way,
                        f"{whole:.0f}",
                        f"{after:.0f}",
                        frame or "none",
                        apart,
                        steps,
                        kilo(opened),
                        kilo(per_move),
                    ]
                )
                print("  ".join(rows[-1]), flush=True)
                if way != "naive":
                    notebook.wait_idle()
    return rows


SIZES = [10, 50, 500, 1000, 10_000]
HEAD = ["nodes", "way", "run to paint, ms", "of it after the cell's end", "slider frame p50 / p95, ms", "frames apart p50 / p95, ms",
        "step p50 / p95, ms", "sent to open", "sent per move"]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks view", description=__doc__.split("\n")[0])
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    rows = measure(parser.parse_args(arguments).sizes or SIZES)
    print("\n| " + " | ".join(HEAD) + " |\n|" + "--:|" * len(HEAD))
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
