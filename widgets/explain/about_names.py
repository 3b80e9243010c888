"""Errors about names: a library that is not here, a variable or an attribute that is nearly another one."""

from __future__ import annotations

import builtins
from typing import Any

from ..magics.reading import close, is_number_with_graph
from .answers import Answer, Row, row
from .moment import Moment

ROWS: list[Row] = []

INSTEAD = {  # what programs from elsewhere import, and what it is called here
    "torch": ("import minigrad as torch", "minigrad has PyTorch's names, so the rest of the program stays as it is."),
    "torchviz": (
        "from minigrad.viz import make_dot",
        "`make_dot` draws the same graph here; `%graph loss` draws one that you can step through.",
    ),
    "micrograd": (
        "from minigrad import Value",
        "`Value` is micrograd's class with the same attributes. For its `nn` write `from minigrad import micro`.",
    ),
}


@row(ModuleNotFoundError, r"^No module named '(torch|torchviz|micrograd)\b", python=True)
def not_installed(m: Moment, found) -> Answer:
    code, why = INSTEAD[found[1]]
    return Answer(f"{found[1]} is not installed", f"This program was written for {found[1]}. {why}", "Write this line instead:",
                  chapter=None if found[1] == "micrograd" else 0, code=code)  # fmt: skip


def _of_minigrad(thing: object) -> bool:
    """Numbers with a graph, modules, optimizers, the package itself."""
    return is_number_with_graph(thing) or any(
        kind.__module__.split(".")[0] == "minigrad" for kind in type(thing).__mro__
    )


@row(NameError, r"^name '(\w+)' is not defined", python=True)
def misspelt(m: Moment, found) -> Answer | None:
    near = [name for name in close(found[1], m.names) if _of_minigrad(m.names[name])]
    if not near or hasattr(builtins, found[1]):
        return None
    return Answer(f"There is no `{found[1]}`", f"No variable of that name exists here, but there is `{near[0]}`.",
                  f"If you meant `{near[0]}`, correct the name. If not, run the cell that defines `{found[1]}` first.", chapter=0)  # fmt: skip


LOADED_BY = {
    "check": "from minigrad.course import check",
    "torch": "import minigrad as torch",
    "Value": "from minigrad import Value",
    "math": "import math",
    "random": "import random",
    "np": "import numpy as np",
    "plt": "import matplotlib.pyplot as plt",
}


@row(NameError, r"^name '(\w+)' is not defined", python=True)
def unknown_name(m: Moment, found) -> Answer:
    name = found[1]
    what = "No variable of that name exists in this kernel. After a restart of the kernel nothing exists until its cell is run again."
    if name in LOADED_BY:
        return Answer(
            f"`{name}` is not loaded", what, "Run the first cells of the notebook, or this line:", code=LOADED_BY[name]
        )
    return Answer(
        f"`{name}` is not defined",
        what,
        f'Run the cell that defines `{name}`. A text needs quotation marks: `"{name}"`.',
    )


@row(AttributeError, r"object has no attribute '(\w+)'", python=True)
def misspelt_attribute(m: Moment, found) -> Answer | None:
    thing: Any = getattr(m.error, "obj", None)
    near = close(found[1], dir(thing)) if _of_minigrad(thing) else []
    if not near:
        return None
    return Answer(f"There is no `.{found[1]}`", f"A {type(thing).__name__} has no attribute of that name, but it has `.{near[0]}`.",
                  f"If you meant `.{near[0]}`, correct the name.")  # fmt: skip
