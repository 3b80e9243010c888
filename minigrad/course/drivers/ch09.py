"""Drivers of chapter 09: arrays."""

from __future__ import annotations

from typing import Any

from ..plain import plain
from .calls import Mutated, by_hand


def call_arrays(entry: Any, *args: Any) -> Any:
    """Call with every list as a numpy array, and notice when one of them is changed."""
    import numpy as np

    arrays = [np.array(a, dtype=float) if isinstance(a, (list, tuple)) else a for a in args]
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in arrays]
    with by_hand():
        out = plain(entry(*arrays))
    changed = any(
        isinstance(a, np.ndarray) and not np.array_equal(a, b, equal_nan=True)
        for a, b in zip(arrays, before, strict=True)
    )
    return Mutated(out) if changed else out


def ramp(n: int) -> float:
    """Numbers that are all different, for gradients in a probe."""
    return float((7 * n) % 31 - 11)


def unbroadcast_ramp(entry: Any, big: tuple, small: tuple) -> Any:
    """Hand a gradient of shape `big` to the learner's unbroadcast. A result of another shape is shown as its shape."""
    import numpy as np

    g = np.array([ramp(n) for n in range(int(np.prod(big)))]).reshape(big)
    out = entry(g, tuple(small))
    return out
