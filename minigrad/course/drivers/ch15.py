"""Drivers of chapter 15: the programs that are to be repaired."""

from __future__ import annotations

from typing import Any


def first_losses(entry: Any, seed: int) -> Any:
    """The losses of patient 3 while everything trains, and the one that its last step leads to."""
    return entry(seed)[0][:16]


def last_losses(entry: Any, seed: int) -> Any:
    losses = entry(seed)[0]
    return {"before": losses[15], "after": losses[-1]}


def moved_in_the_end(entry: Any, seed: int) -> Any:
    return entry(seed)[1]
