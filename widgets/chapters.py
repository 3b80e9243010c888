"""The chapters of the course: number, title, notebook, minutes, and the chapters that each one builds on.

What lives here: the one table that links to chapters are made from, and who needs whom.
"""

from __future__ import annotations

from typing import NamedTuple


class Chapter(NamedTuple):
    number: int
    title: str
    notebook: str
    minutes: int = 0
    needs: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"chapter {self.number:02d}, {self.title}"


_TITLES = {
    "00_start_here": "Start here", "01_three_ways": "Going downhill",
    "02_the_graph": "Running your code builds the graph",
    "03_chain_rule": "The chain rule", "04_backward_by_hand": "Backward by hand", "05_build_the_engine": "Build the engine",
    "06_rule_book": "The rule book", "07_accumulation": "Gradients add up", "08_non_scalar": "When the output is not one number",
    "09_tensors": "Tensors",
    "10_controlling_the_graph": "Controlling the graph", "11_derivatives_of_derivatives": "Derivatives of derivatives",
    "12_forward_and_reverse": "Forward mode and reverse mode", "13_your_own_function": "Your own function",
    "14_softmax_and_layernorm": "Softmax, cross-entropy, normalisation", "15_bug_clinic": "Bug clinic",
    "16_memory": "Memory and checkpointing",
    "17_training_loop": "The training loop", "18_instruments": "Instruments", "19_where_next": "Where it goes next",
}  # fmt: skip
# chapter: minutes (how they are estimated: tests/notebooks/test_times.py), and the chapters it says it needs in its first cell
_PLAN = {
    0: (15, ()), 1: (55, ()), 2: (55, (1,)), 3: (60, (2,)), 4: (55, (2, 3)), 5: (100, (1, 2, 3, 4)), 6: (100, (3, 4, 5)),
    7: (65, (1, 2, 3, 4, 5)), 8: (60, (5, 7)), 9: (90, (6, 8)), 10: (65, (2, 7)), 11: (55, (8, 10)), 12: (55, (8, 11)),
    13: (75, (4, 8, 11)), 14: (85, (5, 8, 9)), 15: (60, (7, 10, 13)), 16: (65, (2, 4, 6)), 17: (95, (7, 14)),
    18: (60, (5, 7, 14)), 19: (85, (6, 13, 18)),
}  # fmt: skip
CHAPTERS = {
    int(name[:2]): Chapter(int(name[:2]), title, f"{name}.ipynb", *_PLAN[int(name[:2])])
    for name, title in _TITLES.items()
}
