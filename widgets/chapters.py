"""The chapters of the course: number, title, notebook.

What lives here: the one table that links to chapters are made from. What does not: what a chapter teaches (notebooks/), exercises.
"""

from __future__ import annotations

from typing import NamedTuple


class Chapter(NamedTuple):
    number: int
    title: str
    notebook: str

    def __str__(self) -> str:
        return f"chapter {self.number:02d}, {self.title}"


_TITLES = {
    "00_start_here": "Start here", "01_three_ways": "Three ways to differentiate a program",
    "02_the_graph": "The graph is executed into existence",
    "03_chain_rule": "Chain rule", "04_backward_by_hand": "Backward by hand", "05_build_the_engine": "Build the engine",
    "06_rule_book": "A rule book", "07_accumulation": "Accumulation", "08_non_scalar": "Non-scalar outputs",
    "09_tensors": "Tensors",
    "10_controlling_the_graph": "Controlling the graph", "11_derivatives_of_derivatives": "Derivatives of derivatives",
    "12_forward_and_reverse": "Forward mode, reverse mode", "13_your_own_function": "Your own function",
    "14_softmax_and_layernorm": "Softmax and LayerNorm", "15_bug_clinic": "Bug clinic", "16_memory": "Memory and checkpointing",
    "17_training_loop": "The training loop", "18_instruments": "Instruments", "19_where_next": "Where it goes next",
}  # fmt: skip
CHAPTERS = {int(name[:2]): Chapter(int(name[:2]), title, f"{name}.ipynb") for name, title in _TITLES.items()}
