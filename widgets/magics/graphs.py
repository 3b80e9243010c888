"""%graph, %%graph and %step: the ways into the graph view. %audit: are the gradients in its objects right?

What lives here: the magics. What does not: the view (graph.py).
"""

from __future__ import annotations

import ast
import re
from typing import Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class

from .reading import CellProgram, Sorry, evaluate, in_a_sentence


def view_of(root: Any, **options: Any) -> Any:
    """The graph view of a result. Raises Sorry if there is no graph to show."""
    from ..graph import GraphView, not_a_graph

    explain = not_a_graph(root)
    if explain:
        raise Sorry(explain)
    return GraphView(root, **options)


def _called(text: str, root: object) -> dict[str, object]:
    """What the learner calls a result that no variable holds: `a.grad`, `losses[-1]`."""
    tree = ast.parse(text.strip("; "), mode="eval").body
    return {ast.unparse(tree): root} if isinstance(tree, (ast.Attribute, ast.Subscript)) else {}


@magics_class
class GraphMagics(Magics):
    """%graph, %%graph, %step and %audit."""

    shell: Any

    @line_magic
    @in_a_sentence
    def graph(self, line: str) -> Any:
        """Show how a Value or a Tensor was computed, as a graph that you can step through.

            %graph y                     the graph behind y
            %graph (3*x + 2)**2          of any expression
            %graph y --start             before the first event (also --end)
            %graph y --second            of a Tensor: also the graph of its gradient
            %graph compiled              of a compiled step: what each operation is in its program

        In the view: arrow keys step, Home and End jump, Space plays, Enter inspects the node in focus. The sliders show the
        graph at other inputs; your own variables stay as they are.
        The same as a function, with more options: from widgets import graph; graph(y).
        """
        flags = {*re.findall(r"\s--(start|end|second)\b", " " + line)}
        text = re.sub(r"\s--(start|end|second)\b", "", " " + line)
        if not text.strip():
            raise Sorry("%graph needs something to show, for example: %graph y. Type %graph? for help.")
        step = "start" if "start" in flags else "end" if "end" in flags else None
        root = evaluate(self.shell, text, "%graph")
        return view_of(root, names=_called(text, root), step=step, second="second" in flags)

    @line_magic
    @in_a_sentence
    def step(self, line: str) -> Any:
        """Step through the backward pass of a result, from its first event.

            %step loss               starts at the seed: d loss / d loss = 1
            %step (3*x + 2)**2       of any expression

        Arrow keys step, Home and End jump, Space plays. Your own .grad is not touched.
        """
        root = evaluate(self.shell, line, "%step")
        view = view_of(root, names=_called(line, root))
        view.step = min(view.step + 1, view.total)
        return view

    @line_magic
    @in_a_sentence
    def audit(self, line: str) -> None:
        """Compare the gradients that a backward pass left in the objects of a graph with the true ones, in one line.

        %audit y                 after y.backward(), of a class of your own: the first wrong rule, and the usual cause
        """
        from minigrad.tracing.trace import is_tensor, record

        from ..audit import audit
        from ..graph import not_a_graph

        root = evaluate(self.shell, line, "%audit")
        if explain := not_a_graph(root):
            raise Sorry(explain)
        if is_tensor(root):
            raise Sorry("%audit looks at the objects of a scalar class. For tensors there is %%gradcheck.")
        graph = record(root, {**self.shell.user_ns, **_called(line, root)})
        result = audit(graph)
        print("✓" if result.right else "✗", result.say)

    @cell_magic("graph")
    @in_a_sentence
    def graph_of_cell(self, line: str, cell: str) -> Any:
        """Run the cell, then show the graph of its last expression, or else of its last result.

            %%graph
            h = tanh(w * x + b)
            loss = (h - y)**2

        The cell runs in the notebook as any other: its variables are there afterwards.
        """
        __tracebackhide__ = True
        if line.strip():
            raise Sorry(
                f"%%graph takes nothing on its line, but got {line.strip()!r}. To show an expression without running a cell: "
                f"%graph {line.strip()}"
            )
        program = CellProgram(self.shell, cell, "%%graph")
        root = program.shown(self.shell.user_ns)
        if root is None:
            raise Sorry(
                "The cell ran, but computed nothing that has a graph. End it with the name of a result, for example: loss"
            )
        return view_of(root)
