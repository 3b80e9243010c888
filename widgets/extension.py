"""`%load_ext minigrad`: the `%graph` magic and source lines for the graph view.

What lives here: what IPython calls when the extension is loaded and unloaded, and the line magic. What does not: the view (graph.py).
A mistake in the line gets one or two sentences, never a traceback.
"""
from __future__ import annotations

import ast
import re
import sys
from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class

from minigrad import scalar
from minigrad.core.call_log import VALUES
from minigrad.tracing.trace import is_tensor

from . import kernel


@magics_class
class MinigradMagics(Magics):
    """The magics of minigrad."""

    shell: Any  # the running IPython

    @line_magic
    def graph(self, line: str):
        """Show how a Value or a Tensor was computed, as a graph that you can step through.

            %graph y                     the graph behind y
            %graph (3*x + 2)**2          of any expression
            %graph y --start             before the first event (also --end)
            %graph y --second            of a Tensor: also the graph of its gradient

        In the view: arrow keys step, Home and End jump, Space plays, Enter inspects the node in focus. The sliders move the inputs.
        The same as a function, with more options: from widgets import graph; graph(y).
        """
        from .graph import GraphView, not_a_graph

        line, second = re.subn(r"\s--second\b", "", " " + line)
        text, flags = re.subn(r"\s--(start|end)\s*$", "", " " + line)
        step = re.search(r"--(start|end)\s*$", line)[1] if flags else None  # type: ignore[index]
        text = text.strip()
        if not text:
            return _say("%graph needs something to show, for example: %graph y. Type %graph? for help.")
        try:
            code = compile(ast.parse(text, mode="eval"), "<%graph>", "eval")
        except SyntaxError as error:
            return _say(f"%graph cannot read {text!r} as an expression: {error.msg}. Write the name of a result, for example: %graph y.")
        try:
            root = eval(code, self.shell.user_global_ns, self.shell.user_ns)
        except NameError as error:
            name = error.name or "that name"
            near = [n for n in self.shell.user_ns if not n.startswith("_") and n.lower() == name.lower()]
            advice = f"Did you mean {near[0]!r}?" if near else "Run the cell that defines it, then this one again."
            return _say(f"There is no variable {name!r} yet. {advice}")
        except Exception as error:
            return _say(f"{text!r} could not be computed: {type(error).__name__}: {error}")
        explain = not_a_graph(root)
        if explain:
            return _say(explain)
        return GraphView(root, step=step, second=bool(second))

    def complete(self, _shell, event) -> list[str]:
        """Names to offer after `%graph `: the Values and Tensors of the notebook, newest first."""
        names = reversed(self.shell.user_ns.items())
        return [name for name, thing in names if (isinstance(thing, scalar.Value) or is_tensor(thing)) and name[:1] != "_"]


def _say(text: str) -> None:
    print(text, file=sys.stdout)


_loaded: MinigradMagics | None = None


def load_ipython_extension(ipython) -> None:
    """Register %graph, its completion, and the recording of source lines. Loading twice changes nothing."""
    global _loaded
    scalar.record_lines(True, VALUES)
    if _loaded is not None and _loaded.shell is ipython:
        return
    _loaded = MinigradMagics(ipython)
    ipython.events.register("pre_run_cell", _record_lines_of_cell)
    ipython.events.register("post_run_cell", _release_frames)
    ipython.register_magics(_loaded)
    ipython.set_hook("complete_command", _loaded.complete, re_key=r"^\s*%?graph\s")
    kernel.load(ipython)


def unload_ipython_extension(ipython) -> None:
    """Take %graph away again and stop recording lines."""
    global _loaded
    scalar.record_lines(False)
    if notes := sys.modules.get("minigrad.core.provenance"):
        notes.record_lines(False)
    if _loaded is not None:
        ipython.events.unregister("pre_run_cell", _record_lines_of_cell)
        ipython.events.unregister("post_run_cell", _release_frames)
    ipython.magics_manager.magics["line"].pop("graph", None)
    kernel.unload(ipython)
    _loaded = None


def _release_frames(_result) -> None:
    scalar.release_frames()


def _record_lines_of_cell(_info) -> None:
    """Lines are kept for the first few thousand nodes of a cell (and after each backward), so that big graphs cost nothing."""
    scalar.record_lines(True, VALUES)
    if "minigrad.core.op" in sys.modules:  # else minigrad.api switches it on, once it is loaded
        from minigrad.core import provenance

        provenance.record_lines(True)
