"""Which node was made inside which module's call: what a picture needs to fold a graph by module.

What lives here: the log, one entry for each call. Nodes have numbers in the order of their creation, so a call is a range of numbers, and
no node carries anything for it. What does not: modules (nn/module.py, which writes the entries), names and folds (trace_tensor.py).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from typing import Any

KEPT = 2_000  # calls; a training loop forgets its oldest ones

LOG: deque[tuple[int, int, Any]] = deque(maxlen=KEPT)  # (first number, last number, weak reference to the module), inner calls first


def around(numbers: Iterable[int]) -> dict[int, list[tuple[int, int, Any]]]:
    """For each of these node numbers the calls that it was made in, outermost first. Numbers made in no call are left out."""
    entries = sorted(LOG, key=lambda call: (call[0], -call[1]))
    starts = [call[0] for call in entries]
    out: dict[int, list[tuple[int, int, Any]]] = {}
    parent: list[int] = []  # of each entry the entry that it lies in, or -1
    stack: list[int] = []
    for i, call in enumerate(entries):
        while stack and entries[stack[-1]][1] < call[0]:
            stack.pop()
        parent.append(stack[-1] if stack else -1)
        stack.append(i)
    for number in numbers:
        i, found = bisect_right(starts, number) - 1, []
        while i >= 0:
            if entries[i][1] > number:
                found.append(entries[i])
            i = parent[i]
        if found:
            out[number] = found[::-1]
    return out
