"""%%graph and %step: two more ways into the graph view.

What lives here: the magics. What does not: the view (graph.py) and %graph (extension.py).
"""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class

from .reading import Program, Sorry, evaluate, in_a_sentence


def view_of(root, **options):
    """The graph view of a result. Raises Sorry if there is no graph to show."""
    from ..graph import GraphView, not_a_graph

    explain = not_a_graph(root)
    if explain:
        raise Sorry(explain)
    return GraphView(root, **options)


@magics_class
class GraphMagics(Magics):
    """%step and %%graph."""

    shell: Any

    @line_magic
    @in_a_sentence
    def step(self, line: str):
        """Step through the backward pass of a result, from its first event.

            %step loss               starts at the seed: d loss / d loss = 1
            %step (3*x + 2)**2       of any expression

        Arrow keys step, Home and End jump, Space plays. Your own .grad is not touched.
        """
        root = evaluate(self.shell, line, "%step")
        view = view_of(root)
        view.step = min(view.step + 1, view.total)
        return view

    @cell_magic("graph")
    @in_a_sentence
    def graph_of_cell(self, line: str, cell: str):
        """Run the cell, then show the graph of what it computed: its last expression, or else its last result.

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
        program = Program(self.shell, cell, "%%graph")
        root = program.run(self.shell.user_ns)
        if root is None:
            raise Sorry("The cell ran, but computed nothing that has a graph. End it with the name of a result, for example: loss")
        return view_of(root)
