"""Times the workloads on minigrad and its peers and prints one table: `make bench`, or `python -m tools.benchmarks`.

    python -m tools.benchmarks                 every workload; a peer that is not installed is said, its rows are left out
    python -m tools.benchmarks T1 T6           only these
    python -m tools.benchmarks --write         also put the table into docs/benchmarks.md, and four ratios into README.md

What is measured: CPU time, one thread, engines in turn in one process (S2: one process per engine, because its garbage collector would
see the other's objects), several rounds; per round the ratio peer / minigrad; its median, and the middle half of the rounds. Only these
ratios mean something: machines differ and are shared. Nothing of minigrad is switched off.
"""

import argparse
import gc
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import workloads

PAGE = Path(__file__).parents[2] / "docs/benchmarks.md"
README = Path(__file__).parents[2] / "README.md"
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
BOUND = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
BENCHMARKS = "<!-- benchmarks: written by make bench -->", "<!-- end of benchmarks -->"
FIGURES = "<!-- figures: written by make bench -->", "<!-- end of figures -->"
IN_README = {  # rows of the table -> what README calls them
    "S2": "micrograd's demo network, in single numbers",
    "T3": "a perceptron of three layers, batch 256",
    "T4": "two transformer blocks",
    "C2": "a small perceptron, compiled by `minigrad.compile`",
}


def as_measured(environment: Mapping[str, str]) -> dict[str, str]:
    """With one thread for every library, and without what would bind one of them to the kernels of another processor."""
    return {k: v for k, v in environment.items() if k not in BOUND} | dict.fromkeys(ONE_THREAD, "1")


def scalars(name: str) -> Any:
    """The class of scalars of an engine."""
    if name == "minigrad":
        from minigrad import Value
    elif name == "micrograd":
        from micrograd.engine import Value
    else:
        import torch

        def Value(x):  # noqa: N802
            return torch.tensor(x, dtype=torch.float64, requires_grad=True)

    return Value


def tensors(name: str) -> Any:
    if name == "minigrad":
        import minigrad

        return minigrad
    if name == "jax":
        from . import jax_twins

        return jax_twins
    import torch

    torch.set_num_threads(1)
    return torch


def missing(peer: str) -> str | None:
    """Why a peer cannot run here."""
    module = peer.partition(".")[0]
    if importlib.util.find_spec(module) is None:
        return f"{module} is not installed (make bench installs the peers)"
    if peer == "torch.compile" and not (shutil.which("c++") or shutil.which("g++")):
        return "torch.compile needs a C++ compiler"
    return None


@dataclass
class Row:
    key: str
    what: str
    peer: str
    goal: float
    make: Any
    kind: Any = tensors
    own_process: bool = False
    mine: Any = None  # minigrad's own way, where it is another program
    theirs: Any = None  # the peer's


W = workloads
COMPILED: list[tuple[str, Any, dict[str, float]]] = [  # key, workload, goals
    ("S1", W.expression_of_tensors, {"torch": 147, "torch.compile": 76, "jax": 5.7}),
    ("T1", W.small_elementwise, {"torch": 200, "torch.compile": 104, "jax": 6.8}),
    ("T2", W.small_mlp, {"torch": 4.1, "torch.compile": 3.6, "jax": 2.5}),
    ("T4", W.transformer, {"torch": 1.3, "torch.compile": 1}),
    ("T5", W.lenet, {"torch": 1.3, "torch.compile": 1}),
    ("T7s", W.index_small, {"torch": 10, "torch.compile": 35, "jax": 2}),
    ("T8", W.hessian_vector_product, {"torch": 5.5, "torch.compile": 2, "jax": 1.5}),
]


def compiled_key(key: str) -> str:
    return "C" + key.removeprefix("T")


JAX = {"expression_of_tensors": "expression"}
DYNAMO = {W.hessian_vector_product: W.hessian_vector_product_by_jvp}
ROWS = [
    Row("S1", "micrograd's README expression", "micrograd", 4, W.readme_expression, scalars),
    Row("S1t", "the same", "torch", 15, W.readme_expression, scalars),
    Row("S2", "moons step, MLP 2-16-16-1, 100 samples", "micrograd", 12, W.moons_step, scalars, own_process=True),
    Row("S2r", "the same, replayed on the tape", "micrograd", 2000, W.moons_step, scalars, own_process=True, mine=W.moons_on_tape),
    Row("S3", "chain of 100,000 scalar operations", "torch", 7, W.chain, scalars, own_process=True),
    Row("T1", "20 elementwise operations on 4 floats", "torch", 2, W.small_elementwise),
    Row("T2", "MLP 64-256-128-10, batch 32, Adam", "torch", 2, W.small_mlp),
    Row("T2f", "the same, against the fused Adam", "torch", 1.3, W.small_mlp_fused),
    Row("T3", "MLP 784-512-512-10, batch 256, Adam", "torch", 1.05, W.large_mlp),
    Row("T4", "two transformer blocks, AdamW", "torch", 1, W.transformer),
    Row("T5", "LeNet step, batch 32", "torch", 1, W.lenet),
    Row("T6s", "softmax, (256, 1024)", "torch", 1.4, W.softmax),
    Row("T6l", "layer_norm, (256, 1024)", "torch", 1.4, W.layer_norm),
    Row("T6c", "cross_entropy, (256, 1024)", "torch", 1.6, W.cross_entropy),
    Row("T6g", "gelu, (256, 1024)", "torch", 1.4, W.gelu),
    Row("T7e", "embedding gradient, 8192×64 into 1000", "torch", 2, W.embedding),
    Row("T7i", "index gradient, 100,000 into 10,000", "torch", 2.5, W.index_flat),
    Row("T7s", "index gradient, 96 rows into 27×10", "torch", 2, W.index_small),
    Row("F1", "compiled chain of 14 elementwise operations, 4,096 numbers", "torch", 8, W.fused_small),
    Row("F2", "the same, 1,000,000 numbers", "torch", 8, W.fused_large),
    Row("T8", "Hessian-vector product, 3-layer tanh MLP", "torch", 1.3, W.hessian_vector_product),
    *[Row(compiled_key(key) + letter, f"{key} as a compiled step", peer, {"minigrad": 1, **goals}[peer], make, mine=W.compiled(make),
          theirs=theirs(make))
      for letter, peer, theirs in (
          ("", "torch", lambda make: None), ("e", "minigrad", lambda make: None),
          ("j", "jax", lambda make: lambda jax: getattr(jax, JAX.get(make.__name__, make.__name__))()),
          ("c", "torch.compile", lambda make: lambda torch: torch.compile(DYNAMO.get(make, make)(torch))))
      for key, make, goals in COMPILED if peer in {"minigrad": 1, **goals}],
]  # fmt: skip


def seconds_per_step(step: Any, budget: float) -> float:
    """CPU seconds of one step, from as many as fit into the budget. The clock is read rarely: reading it takes as long as a small step."""
    count, spent, batch = 0, 0.0, 1
    while spent < budget:
        started = time.process_time()
        for _ in range(batch):
            step()
        took = time.process_time() - started
        count, spent = count + batch, spent + took
        if took < budget / 100:
            batch *= 2
    return spent / count


def interleaved(row: Row, rounds: int, budget: float) -> tuple[list[float], list[float]]:
    engines = [(row.mine or row.make)(row.kind("minigrad")), (row.theirs or row.make)(row.kind(row.peer))]
    for step in engines:
        for _ in range(3):
            step()
    mine, theirs = [], []
    for number in range(rounds):
        order = [(engines[0], mine), (engines[1], theirs)]
        for step, times in order if number % 2 else order[::-1]:
            times.append(seconds_per_step(step, budget))
    return mine, theirs


def in_processes(row: Row, rounds: int, budget: float) -> tuple[list[float], list[float]]:
    mine, theirs = [], []
    for number in range(rounds):
        order = [("minigrad", mine), (row.peer, theirs)]
        for name, times in order if number % 2 else order[::-1]:
            command = [sys.executable, "-m", "tools.benchmarks", "--child", row.key, name, "--budget", str(budget)]
            out = subprocess.run(command, capture_output=True, text=True, check=True)
            times.append(json.loads(out.stdout.splitlines()[-1]))
    return mine, theirs


def child(key: str, name: str, budget: float) -> None:
    row = next(r for r in ROWS if r.key == key)
    make = row.mine if name == "minigrad" and row.mine else row.make
    step = make(row.kind(name))
    step()
    print(json.dumps(seconds_per_step(step, budget)))


def imports(rounds: int) -> str:
    """What `import minigrad` costs beside numpy's import."""

    def cost(code: str) -> float:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        script = f"import time; t = time.process_time(); {code}; print(time.process_time() - t)"
        return float(
            subprocess.run(
                [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
            ).stdout
        )

    found = {code: statistics.median([cost(code) for _ in range(rounds)]) * 1e3
             for code in ("import numpy", "import minigrad; minigrad.tensor", "import minigrad.scalar")}  # fmt: skip
    numpy, tensor, scalar = found.values()
    goals = f"minigrad with tensors {tensor:.0f} ms (goal numpy + 30); minigrad.scalar {scalar:.0f} ms (goal 10)"
    return f"import: numpy {numpy:.0f} ms; {goals}"


def sweep(rounds: int) -> str:
    """What a slider's whole range costs on the tape."""
    step, nodes = W.sweep()
    step()
    best = statistics.median([seconds_per_step(step, 0.05) for _ in range(rounds)])
    return f"sweep: 101 points of {nodes:,} nodes in {best * 1e3:.1f} ms (goal 5)"


def peak_bytes(name: str) -> int:
    """By how many bytes this process grows at most during transformer steps; the libraries are in memory before, from a smaller one."""

    def status(field: str) -> int:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))

    engine = tensors(name)
    if name == "minigrad":
        from minigrad.kernels import warm

        warm()
    for _ in range(2):
        W.transformer(engine, batch=1)()
    gc.collect()
    before = status("VmRSS")
    step = W.transformer(engine)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak counts from here
    for _ in range(8):
        step()
    return status("VmHWM") - before


def memory() -> str:
    """The peak of a transformer step in a process of its own, for both engines."""

    def measured(name: str) -> int:
        command = [sys.executable, "-m", "tools.benchmarks", "--memory", name]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])

    if not os.access("/proc/self/clear_refs", os.W_OK):
        return "memory: this system does not say what a process's peak was"
    mine = measured("minigrad")
    if importlib.util.find_spec("torch") is None:
        return f"memory: peak of T4 {mine / 2**20:.0f} MB (torch is not installed)"
    theirs = measured("torch")
    return f"memory: peak of T4 {mine / 2**20:.0f} MB, torch {theirs / 2**20:.0f} MB, {mine / theirs:.2f} times (goal at most 1.3)"


def blas() -> str:
    """The kernels that numpy's OpenBLAS has chosen for this processor."""
    env = os.environ | {"OPENBLAS_VERBOSE": "2"}
    chosen = subprocess.run([sys.executable, "-c", "import numpy"], env=env, capture_output=True, text=True)
    return "".join(f" (OpenBLAS for {line[6:]})" for line in chosen.stderr.splitlines() if line.startswith("Core: "))


def number(x: float) -> str:
    return f"{x:,.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def duration(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def table(rows: list[tuple[Row, list[float], list[float]]]) -> str:
    lines = ["| | workload | against | minigrad | times faster | middle half | goal |", "|---|---|---|--:|--:|:-:|--:|"]
    for row, mine, theirs in rows:
        ratios = sorted(b / a for a, b in zip(mine, theirs, strict=True))
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        middle = statistics.median(ratios)
        mark = "" if middle >= row.goal else "\N{NO-BREAK SPACE}(not\N{NO-BREAK SPACE}yet)"
        lines.append(
            f"| {row.key} | {row.what} | {row.peer} | {duration(statistics.median(mine))} | **{number(middle)}** "
            f"| {number(low)} to {number(high)} | {number(row.goal)}{mark} |"
        )
    return "\n".join(lines)


def figures(measured: str) -> str:
    """The four ratios of README, from the table; "" if one of their rows was not measured."""
    rows = {
        row[1]: row for line in measured.splitlines() if len(row := [cell.strip() for cell in line.split("|")]) == 9
    }
    if not IN_README.keys() <= rows.keys():
        return ""
    peers = {"torch": "PyTorch"}
    lines = ["| one training step of | compared with | times as fast |", "|---|---|--:|"]
    for key, what in IN_README.items():
        peer, ratio = rows[key][3], rows[key][5].strip("*")
        lines.append(f"| {what} | {peers.get(peer, peer)} | {ratio} |")
    return "\n".join(lines)


def put(page: Path, marks: tuple[str, str], text: str) -> None:
    """Replace the text between the two marks of a page."""
    begin, end = marks
    before, rest = page.read_text(encoding="utf-8").split(begin)
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("keys", nargs="*", help="workloads to run, such as T1 S2 (default: all)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--budget", type=float, default=0.15, help="CPU seconds per engine and round")
    parser.add_argument(
        "--write", action="store_true", help="put the table into docs/benchmarks.md, and four ratios into README.md"
    )
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    options = parser.parse_args()
    env = as_measured(os.environ)
    if env != os.environ:  # read when the libraries load, so it must be set before this process starts
        os.execve(sys.executable, [sys.executable, "-m", "tools.benchmarks", *sys.argv[1:]], env)
    if options.child:
        return child(*options.child, options.budget)
    if options.memory:
        return print(peak_bytes(options.memory))
    from minigrad.kernels import warm

    warm()
    done = []
    for row in ROWS:
        if options.keys and not any(row.key.startswith(key) for key in options.keys):
            continue
        if reason := missing(row.peer):
            print(f"{row.key} is left out: {reason}")
            continue
        if row.own_process:
            mine, theirs = in_processes(row, min(options.rounds, 5), options.budget)
        else:
            mine, theirs = interleaved(row, options.rounds, options.budget)
        done.append((row, mine, theirs))
        print(table([(row, mine, theirs)]).splitlines()[-1], flush=True)
    versions = [
        f"{m} {importlib.import_module(m).__version__}" for m in ("numpy", "torch") if importlib.util.find_spec(m)
    ]
    versions[0] += blas()
    machine = f"Python {platform.python_version()}, {', '.join(versions)}; {platform.machine()}, one thread, CPU time."
    text = f"{table(done)}\n\n{imports(5)}; {sweep(5)}; {memory()}.\n\n{machine}"
    print("\n" + text)
    if options.write:
        put(PAGE, BENCHMARKS, text)
        if short := figures(table(done)):
            put(README, FIGURES, short)


if __name__ == "__main__":
    main()
