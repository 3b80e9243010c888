"""What the loaded notebook extension costs: `python -m tools.benchmarks.extension`, a part of `make bench`.

What is measured: CPU time in one IPython, loaded and unloaded in turn, median of the rounds. A cell without minigrad; cells that run the
engines, in which every node notes its line (the first few thousand of a cell do); and the cells of the course, whose lines are counted in
one run and whose time is taken in another, without lines. Only the ratios mean something.
"""

import contextlib
import io
import json
import math
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

ROUNDS = 15
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
CELLS = {  # what: (cell that prepares, cell that is timed, repetitions)
    "a cell without minigrad": ("", "y = [i * i for i in range(100)]", 200),
    "500 Values, forward and backward": (
        """
from minigrad import Value
def values():
    a, b = Value(2.0), Value(0.5)
    for _ in range(167):
        a = (a * b + 1.0).tanh()
    a.backward()
""",
        "values()",
        20,
    ),
    "40 Tensor operations on a batch of 32, forward and backward": (
        """
import minigrad as torch
w, h0 = torch.randn(64, 64, requires_grad=True), torch.randn(32, 64)
def tensors():
    h = h0
    for _ in range(20):
        h = (h @ w).tanh()
    h.sum().backward()
""",
        "tensors()",
        20,
    ),
    "100 training steps of a perceptron, 2-16-1": (
        """
import minigrad as torch
from minigrad import nn
model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, t = torch.randn(100, 2), torch.randn(100, 1)
def train():
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), t).backward()
        optimizer.step()
""",
        "train()",
        1,
    ),
}


def measure(shell, prepare: str, cell: str, times: int, rounds: int = ROUNDS) -> tuple[float, list[float]]:
    """Seconds of the cell without the extension (median), and per round the ratio with / without."""
    shell.run_cell(prepare).raise_error()

    def seconds() -> float:
        begun = time.process_time()
        for _ in range(times):
            shell.run_cell(cell).raise_error()
        return (time.process_time() - begun) / times

    seconds()
    plain, ratios = [], []
    for _ in range(rounds):
        plain.append(seconds())
        shell.run_line_magic("load_ext", "minigrad")
        seconds()  # each row writes its second text once
        ratios.append(seconds() / plain[-1])
        shell.run_line_magic("unload_ext", "minigrad")
    return statistics.median(plain), sorted(ratios)


# The course


def cells_of(chapter: Path, count: bool) -> list[tuple[float, int, int]]:
    """Of each code cell: CPU seconds without lines, or with `count` how many scalar and Tensor nodes kept their line."""
    import minigrad
    from minigrad import scalar
    from minigrad.core import provenance

    minigrad.tensor  # noqa: B018  the Tensor engine is loaded at first use, and switches its notes on then
    counted = [0, 0]
    if count:

        def counting(i, get, depth):
            counted[i] += 1
            return get(depth + 1)

        scalar._frame, provenance._getframe = (
            partial(counting, 0, scalar._frame),
            partial(counting, 1, provenance._getframe),
        )
    else:
        scalar.record_lines = provenance.record_lines = lambda *_, **__: None
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    found = []
    cells = json.loads(chapter.read_text(encoding="utf-8"))["cells"]
    os.chdir(chapter.parent)
    for cell in cells:
        if cell["cell_type"] == "code":
            counted[:] = 0, 0
            begun = time.process_time()
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                shell.run_cell("".join(cell["source"]))  # some are meant to fail
            found.append((time.process_time() - begun, *counted))
    return found


def seconds_of_a_line(shell) -> list[float]:
    """The cost of noting the source line of one scalar node, and of one Tensor node."""
    from minigrad import scalar
    from minigrad.core import provenance

    seconds = []
    for module, cell, nodes, function in [
        (scalar, "500 Values, forward and backward", 501, "values"),
        (provenance, "40 Tensor operations on a batch of 32, forward and backward", 41, "tensors"),
    ]:
        shell.run_cell(CELLS[cell][0]).raise_error()
        run = shell.user_ns[function]
        best = [math.inf, math.inf]
        for i in range(600):
            module.record_lines(bool(i % 2))
            begun = time.process_time()
            run()
            best[i % 2] = min(best[i % 2], time.process_time() - begun)
        module.record_lines(False)
        seconds.append((best[1] - best[0]) / nodes)
    return seconds


def course(shell) -> None:
    scalar_line, tensor_line = seconds_of_a_line(shell)
    print(f"a line costs {scalar_line * 1e9:.0f} ns for a Value, {tensor_line * 1e9:.0f} ns for a Tensor")
    shares, all_cells, all_lines = [], 0.0, 0.0
    for chapter in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        timed, counted = (
            json.loads(
                subprocess.run(
                    [sys.executable, "-m", __spec__.name, how, chapter], check=True, capture_output=True
                ).stdout
            )
            for how in ("time", "count")
        )
        for number, ((seconds, _, _), (_, values, tensors)) in enumerate(zip(timed, counted, strict=True), 1):
            lines = values * scalar_line + tensors * tensor_line
            all_cells, all_lines = all_cells + seconds, all_lines + lines
            shares.append((100 * lines / seconds, f"{chapter.name}, code cell {number}"))
    shares.sort(reverse=True)
    print(
        f"lines cost {100 * all_lines / all_cells:.2f} % of the {len(shares)} cells of the course; the most in one cell:"
    )
    for share, cell in shares[:5]:
        print(f"    {share:4.1f} %  {cell}")


def main() -> None:
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.ast_node_interactivity = "none"
    for what, (prepare, cell, times) in CELLS.items():
        plain, ratios = measure(shell, prepare, cell, times)
        print(
            f"{what}: {plain * 1e3:.2f} ms; with the extension {100 * (statistics.median(ratios) - 1):+.1f} % "
            f"(middle half {100 * (ratios[len(ratios) // 4] - 1):+.1f} to {100 * (ratios[-len(ratios) // 4] - 1):+.1f} %)"
        )
    course(shell)


if __name__ == "__main__":
    if sys.argv[1:2] in (["time"], ["count"]):
        print(json.dumps(cells_of(Path(sys.argv[2]), sys.argv[1] == "count")))
    else:
        main()
