"""The notebook front end: graph view, stored pictures, the %load_ext extension, lessons.

It turns the engine's plain data (`minigrad.trace`) into pictures and controls. Recording and differentiation are the engine's, which never
imports this package.
"""

from __future__ import annotations

import minigrad

if not hasattr(minigrad, "load_ipython_extension"):
    raise ImportError(
        f"The package minigrad in {list(minigrad.__path__)} is another project of the same name. This course's distribution is called "
        "minigrad-course. Run: pip uninstall minigrad, then install minigrad-course again as you did before, with --force-reinstall "
        "--no-deps."
    )

# `%load_ext widgets` is another way to say `%load_ext minigrad`.
from minigrad import load_ipython_extension, unload_ipython_extension

# Bound here, after the submodule of the same name has loaded, so that `widgets.graph` is always the function that people call.
from widgets.duel import Duel, duel
from widgets.film import watch
from widgets.graph import GraphView, graph

__all__ = ["Duel", "GraphView", "duel", "graph", "load_ipython_extension", "unload_ipython_extension", "watch"]
