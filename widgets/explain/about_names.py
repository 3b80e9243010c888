"""Errors about names: a library that is not here, a variable or an attribute that is nearly another one."""

from __future__ import annotations

import ast
import builtins
import json
import re
from pathlib import Path

from minigrad.course import own

from ..magics.reading import close, is_number_with_graph
from .answers import Answer, Explainer, row
from .failure import Failure

ROWS: list[Explainer] = []

INSTEAD = {  # module that other programs import: (the line to write here, why)
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


@row(ModuleNotFoundError)
def not_installed(m: Failure, error: ModuleNotFoundError) -> Answer | None:
    name = (error.name or "").partition(".")[0]
    if name not in INSTEAD:
        return None
    code, why = INSTEAD[name]
    return Answer(f"{name} is not installed", f"This program was written for {name}. {why}", "Write this line instead:",
                  chapter=None if name == "micrograd" else 0, code=code)  # fmt: skip


def _of_minigrad(thing: object) -> bool:
    """Numbers with a graph, modules, optimizers, the package itself."""
    return is_number_with_graph(thing) or any(
        kind.__module__.split(".")[0] == "minigrad" for kind in type(thing).__mro__
    )


@row(NameError)
def misspelt(m: Failure, error: NameError) -> Answer | None:
    name = error.name or ""  # empty for a local variable that has no value yet
    near = [other for other in close(name, m.names) if _of_minigrad(m.names[other])]
    if not near or hasattr(builtins, name):
        return None
    return Answer(f"There is no `{name}`", f"No variable of that name exists here, but there is `{near[0]}`.",
                  f"If you meant `{near[0]}`, correct the name. If not, run the cell that defines `{name}` first.", chapter=0)  # fmt: skip


LOADED_BY = {
    "check": "from minigrad.course import check",
    "torch": "import minigrad as torch",
    "Value": "from minigrad import Value",
    "math": "import math",
    "random": "import random",
    "np": "import numpy as np",
    "plt": "import matplotlib.pyplot as plt",
    "plot": "from widgets.plots import plot",
    "graph": "from widgets import graph",
    "nn": "from minigrad import nn",
    "F": "from minigrad.nn import functional as F",
    "backward": "Value, backward = check.engine()",
}


def _loaded_by() -> dict[str, str]:
    """The line that brings each name of the course."""
    from .. import lessons  # it loads the pictures of all chapters, which only somebody who has them can miss

    return {**{name: f"from widgets.lessons import {name}" for name in lessons.__all__}, **LOADED_BY}


def heading_above(path: Path, name: str, cell: str) -> str:
    """The heading above the cell of a notebook that defines a name: the last such cell before `cell`, else the first; "" if there is
    none."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        results: list[str] = []
        heading, at = "", 0
        for c in cells:
            text = "".join(c["source"])
            if c["cell_type"] == "markdown":
                lines = re.sub(r"```.*?```", "", text, flags=re.S).splitlines()
                heading = ([line.lstrip("# ") for line in lines if line.startswith("#")] or [heading])[-1]
            elif results and text.strip() == cell.strip():
                at = len(results) - 1
                break
            elif c["cell_type"] == "code" and name in text and name in _defined(text):
                results.append(heading)
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return results[at] if results else ""


def _defined(text: str) -> set[str]:
    """The functions, classes and variables that a cell defines, without imports."""
    try:
        tree = ast.parse("\n".join("" if line.startswith(("%", "!")) else line for line in text.splitlines()))
    except SyntaxError:
        return set()
    defined = {s.name for s in tree.body if isinstance(s, (ast.FunctionDef, ast.ClassDef))}
    return defined | {n.id for s in tree.body if not isinstance(s, (ast.FunctionDef, ast.ClassDef))
                      for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}  # fmt: skip


@row(NameError)
def unknown_name(m: Failure, error: NameError) -> Answer | None:
    name = error.name
    if not name:
        return None
    what = "No variable of that name exists in this kernel. After a restart of the kernel nothing exists until its cell is run again."
    path, cell = own.this_notebook(), m.shell.history_manager.input_hist_raw[-1] if m.shell is not None else ""
    if path is not None and (heading := heading_above(path, name, cell)):
        return Answer(
            f"`{name}` is not defined yet",
            what,
            f"Run the cell of this notebook that defines `{name}`. It is below the heading “{heading}”.",
        )
    lines = _loaded_by()
    if name in lines:
        return Answer(
            f"`{name}` is not loaded", what, "Run the first cell of the notebook, or this line:", code=lines[name]
        )
    if near := close(name, lines):
        fix = f"If you meant `{near[0]}`, correct the name. If not, run the cell that defines `{name}` first."
        return Answer(f"There is no `{name}`", f"The course has a `{near[0]}`.", fix)
    return Answer(
        f"`{name}` is not defined",
        what,
        f'Run the cell that defines `{name}`. A text needs quotation marks: `"{name}"`.',
    )


@row(AttributeError)
def misspelt_attribute(m: Failure, error: AttributeError) -> Answer | None:
    thing, name = error.obj, error.name or ""
    near = close(name, dir(thing)) if _of_minigrad(thing) else []
    if not near:
        return None
    return Answer(f"There is no `.{name}`", f"A {type(thing).__name__} has no attribute of that name, but it has `.{near[0]}`.",
                  f"If you meant `.{near[0]}`, correct the name.")  # fmt: skip
