"""Display Values and Tensors as small cards, if %config Minigrad.rich = True.

The default is plain printing, as in PyTorch. The cards need IPython's formatters.
"""

from __future__ import annotations

from typing import Any

from traitlets import Bool
from traitlets.config import Configurable

from minigrad.words import number

from .show import Facts, Panel, Table

SIDE = 8  # rows and columns of a matrix that are shown


class Minigrad(Configurable):
    """The switches of the extension: %config Minigrad shows them."""

    rich = Bool(
        False, help="Show a Value or Tensor at the end of a cell as a small card instead of PyTorch's text."
    ).tag(config=True)
    panels = Bool(True, help="After an error of the engine, explain it in a panel.").tag(config=True)

    def __init__(self, shell: Any) -> None:
        super().__init__(parent=shell)
        self.shell = shell
        self.observe(self._switch, names=["rich"])
        self._switch()

    def _switch(self, _change: Any = None) -> None:
        formatter = self.shell.display_formatter.formatters["text/html"]
        for module, name, card in (
            ("minigrad.scalar", "Value", value_card),
            ("minigrad.tensors.tensor", "Tensor", tensor_card),
        ):
            key = (module, name)
            import sys

            loaded = getattr(sys.modules.get(module), name, None)
            formatter.deferred_printers.pop(key, None)
            if loaded is not None:
                formatter.type_printers.pop(loaded, None)
            if self.rich:
                formatter.for_type_by_name(module, name, lambda thing, card=card: card(thing)._repr_html_())

    def remove(self) -> None:
        self.rich = False


def value_card(x: Any) -> Panel:
    text = f"{x._op} of {', '.join(number(p.data) for p in x._prev)}" if x._op else "a leaf: nothing made it"
    slopes = ", ".join("shut" if d is None else number(d) for d in x.slopes)
    return Panel(
        f"Value {x.label}".strip(),
        Facts(
            ("value", number(x.data)), ("gradient", number(x.grad)), ("made by", text), ("local derivatives", slopes)
        ),
    )


def tensor_card(x: Any) -> Panel:
    shape = " × ".join(map(str, x.array.shape)) or "one number"
    text = "a leaf" if x.edge is None else type(x.edge[0]).__name__
    grad = "None: never computed" if x._grad is None else "there, see .grad"
    facts = Facts(
        ("shape", shape),
        ("dtype", str(x.dtype)),
        ("made by", text),
        ("requires_grad", str(x.requires)),
        ("gradient", grad),
    )
    if not x.array.size or x.array.ndim > 2:
        return Panel("Tensor", facts)
    rows = x.array.reshape(-1, x.array.shape[-1] if x.array.ndim else 1)
    columns = min(rows.shape[1], SIDE)
    head = ["", *map(str, range(columns)), *["…"] * (rows.shape[1] > SIDE)]
    cells: list[list[str | tuple[str, float]]]
    cells = [[str(i) if x.array.ndim == 2 else "", *[(number(float(v)), float(v)) for v in row[:columns]], *["…"] * (rows.shape[1] > SIDE)]
             for i, row in enumerate(rows[:SIDE])]  # fmt: skip
    if rows.shape[0] > SIDE:
        cells.append(["…", *[("…", 0.0)] * columns, *["…"] * (rows.shape[1] > SIDE)])
    return Panel("Tensor", Table(head, cells), facts)
