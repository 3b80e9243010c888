"""What the loaded notebook extension costs: `python -m tests.benchmarks.extension`, a part of `make bench`.

What is measured: CPU time in one IPython, loaded and unloaded in turn, median of the rounds. A cell without minigrad; cells that run the
engines, in which every node notes its line (the first few thousand of a cell do). Only the ratios mean something.
"""
import statistics
import time

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

ROUNDS = 15
CELLS = {  # what: (cell that prepares, cell that is timed, repetitions)
    "a cell without minigrad": ("", "y = [i * i for i in range(100)]", 200),
    "500 Values, forward and backward": ("""
from minigrad import Value
def values():
    a, b = Value(2.0), Value(0.5)
    for _ in range(167):
        a = (a * b + 1.0).tanh()
    a.backward()
""", "values()", 20),
    "40 Tensor operations on a batch of 32, forward and backward": ("""
import minigrad as torch
w, h0 = torch.randn(64, 64, requires_grad=True), torch.randn(32, 64)
def tensors():
    h = h0
    for _ in range(20):
        h = (h @ w).tanh()
    h.sum().backward()
""", "tensors()", 20),
    "100 training steps of a perceptron, 2-16-1": ("""
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
""", "train()", 1),
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


def main() -> None:
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.ast_node_interactivity = "none"
    for what, (prepare, cell, times) in CELLS.items():
        plain, ratios = measure(shell, prepare, cell, times)
        print(f"{what}: {plain * 1e3:.2f} ms; with the extension {100 * (statistics.median(ratios) - 1):+.1f} % "
              f"(middle half {100 * (ratios[len(ratios) // 4] - 1):+.1f} to {100 * (ratios[-len(ratios) // 4] - 1):+.1f} %)")


if __name__ == "__main__":
    main()
