"""Warm the caches that make a first use slow: `python -m widgets.warm`.

Runs once after installing (`make lab`, `make test`, Binder's postBuild), so that the first cell of a learner is fast. A step that fails is
reported and skipped.
"""

from __future__ import annotations

import os
import time


def kernels() -> None:
    """Compile the numba kernels into their caches."""
    import minigrad.kernels

    minigrad.kernels.warm()


def layout() -> None:
    """Let Graphviz lay out one graph: fontconfig writes its cache."""
    from minigrad import Value
    from widgets import graph

    graph(Value(2.0) * Value(3.0))


def plots() -> None:
    """Let matplotlib list the fonts of this machine, and draw once."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure()
    figure.text(0.5, 0.5, "warm")
    figure.savefig(os.devnull, format="svg")


def main() -> None:
    for step in (kernels, layout, plots):
        started = time.perf_counter()
        try:
            step()
            outcome = f"{time.perf_counter() - started:.1f} s"
        except Exception as error:  # what follows is slower the first time, and works
            outcome = f"left out: {type(error).__name__}: {error}"
        print(f"  {str(step.__doc__).split(': ')[0].rstrip('.')}: {outcome}", flush=True)


if __name__ == "__main__":
    main()
