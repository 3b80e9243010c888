"""Drivers of chapter 03: the slopes along the edges of a program."""

from __future__ import annotations

from typing import Any

from .calls import by_hand


def edges(program: str, numbers: list[float]) -> dict[str, list[tuple[str, float]]]:
    """A graph as exercise 03.b receives it: for each name its inputs, with these local slopes."""
    if program == "diamonds":
        graph: dict[str, list[tuple[str, float]]] = {"y0": []}
        for k, (a, b, c, d) in enumerate(zip(*[iter(numbers)] * 4, strict=True)):
            graph |= {f"l{k}": [(f"y{k}", a)], f"r{k}": [(f"y{k}", c)], f"y{k + 1}": [(f"l{k}", b), (f"r{k}", d)]}
        return graph
    p, q, r, s, t = (*numbers, *[0.0] * 5)[:5]
    return {
        "chain": {"x": [], "a": [("x", p)], "b": [("a", q)], "y": [("b", r)]},
        "two paths": {"x": [], "a": [("x", p)], "b": [("x", q)], "y": [("a", r), ("b", s)]},
        "twice": {"x": [], "y": [("x", p), ("x", q)]},
        "long and short": {
            "x": [],
            "a": [("x", p)],
            "b": [("a", q)],
            "c": [("b", r), ("a", s)],
            "y": [("c", 1.0), ("x", t)],
        },
        "beside": {
            "x": [],
            "w": [],
            "a": [("x", p)],
            "z": [("x", q), ("w", t)],
            "y": [("a", r)],
            "later": [("y", s), ("z", t)],
        },
    }[program]


def slope_on(entry: Any, program: str, root: str, leaf: str, numbers: list[float]) -> Any:
    """Run the learner's sum over paths on a graph of plain numbers."""
    with by_hand():
        return entry(edges(program, numbers), root, leaf)
