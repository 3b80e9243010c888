"""Close widgets whose cell runs again.

A cell that runs again discards its output, but ipywidgets keeps the models in the kernel and in the browser. So this file records which
cell displays which view, and closes a view once no cell displays it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator
from typing import Any, Protocol

import ipywidgets


class View(Protocol):
    cells: set[str]  # where it is shown

    def close(self) -> None: ...


_shown: dict[str, tuple[str, list[View]]] = {}  # cell -> the run that last showed views in it, and these views


def ipython() -> Any:
    """The running IPython, or None; never imports it."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module else None


def made_beside(names: list[str], others: Collection[str]) -> list[str]:
    """Of `names`, those that some cell assigns together with one of `others`, and those that no cell assigns.

    A name that is only assigned in other cells is part of another program in the same session. Of "a.b[0]" the variable a is looked up.
    """
    shell = ipython()
    variables = {*map(_variable, others)}
    combined: set[str] = set()
    assigned: set[str] = set()
    for source in shell.user_ns.get("In", ()) if shell and names else ():
        try:
            results = {
                n.id for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
        except (SyntaxError, ValueError):
            continue
        assigned |= results
        if not results.isdisjoint(variables):
            combined |= results
    return [name for name in names if _variable(name) in combined or _variable(name) not in assigned]


def _variable(name: str) -> str:
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def running() -> tuple[str, str] | None:
    """The cell that is running and the run, as the front end names them; None outside a notebook."""
    kernel = getattr(ipython(), "kernel", None)
    parent = kernel.get_parent() if kernel is not None and hasattr(kernel, "get_parent") else {}
    cell, run = (parent.get("metadata") or {}).get("cellId"), (parent.get("header") or {}).get("msg_id")
    return (cell, run) if cell and run else None


def shown(view: View) -> None:
    """Record that the running cell displays this view. Close views of its earlier run that no other cell displays."""
    at = running()
    if at is None:
        return
    cell, run = at
    last, views = _shown.get(cell, ("", []))
    if last != run:
        _shown[cell] = (run, [view])
        view.cells.add(cell)
        for old in views:
            if old is not view:
                old.cells.discard(cell)
                if not old.cells:
                    old.close()
                    _forget(old)
    elif view not in views:
        views.append(view)
        view.cells.add(cell)


def _forget(view: View) -> None:
    """Remove a closed view from IPython's `Out`, which would keep its 80 kB until the kernel ends."""
    shell = ipython()
    saved = shell.user_ns.get("_oh", {}) if shell else {}
    for number in [number for number, value in saved.items() if value is view]:
        del saved[number]
        shell.del_var(f"_{number}", by_name=True)
        getattr(shell.history_manager, "outputs", {}).pop(number, None)  # newer IPython keeps the picture's text, too


def parts(widget: ipywidgets.Widget, seen: set[int] | None = None) -> Iterator[ipywidgets.Widget]:
    """A widget and all widgets that it is made of (children, layouts, styles), the innermost first, without what others share."""
    seen = set() if seen is None else seen
    if id(widget) in seen:
        return
    seen.add(id(widget))
    for name in widget.keys:
        value = getattr(widget, name)
        for part in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(part, ipywidgets.Widget) and not getattr(part, "shared", False):
                yield from parts(part, seen)
    yield widget
