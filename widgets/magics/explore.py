"""%%explore: a cell as a function of its sliders.

What lives here: the magic. What does not: the widget (explore.py, one folder up), which is loaded when the magic is first used.
"""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, cell_magic, magics_class

from .reading import CellProgram, in_a_sentence


@magics_class
class ExploreMagics(Magics):
    """%%explore."""

    shell: Any

    @cell_magic
    @in_a_sentence
    def explore(self, line: str, cell: str) -> Any:
        """The cell as a function of its sliders: move one, and the cell runs again and its graph is drawn again.

            %%explore x=1.0 w=(-2.0, 2.0, 0.1) n=(1, 5)
            h = x
            for i in range(n):
                h = (w * h).tanh() if h > 0 else w * h
            h

        x=1.0 is a Value with a slider around 1; (low, high) and (low, high, step) are ranges. Whole numbers, as in n=3 or n=(1, 5), stay
        plain ints, for loops and branches. With --tensor the inputs are tensors; in a cell that computes with a scalar class of your own,
        they are objects of that class. The cell runs in a copy of your names: nothing outside
        changes. The result is the last expression, or what the last line assigned.
        """
        from ..explore import Exploration, read_inputs

        words = line.split()
        tensors = "--tensor" in words
        program = CellProgram(self.shell, cell, "%%explore")
        return Exploration(self.shell, program, read_inputs(" ".join(w for w in words if w != "--tensor")), tensors)
