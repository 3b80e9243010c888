"""Validate messages from the page. Messages that the front end never sends are dropped.

How a valid message is handled: widgets/graph.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

KERNELS_OWN = {
    "part",
    "front",
    "trace",
    "leaves",
    "recorded",
    "sweeps",
    "notice",
    "picture",
    "quiz",
    "brief",
    "can_fold",
    "network",
    "forms",
    "revision",
}
ABOUT = {
    "want": "node",
    "fold": "what",
    "find": "text",
    "open": "node",
    "look": "cell",
    "slide": "parameter",
    "save": "kind",
    "narrow": "type",
    "back": "fold",
}


def allowed(state: Mapping[str, Any], total: int, inputs: Mapping[str, float]) -> dict[str, Any]:
    """The valid part of a state that the page sent: the step, clamped to 0..total, and the positions of existing sliders."""
    state = {key: value for key, value in state.items() if key not in KERNELS_OWN}
    step, moved = state.pop("step", None), state.pop("inputs", None)
    if type(step) is int:
        state["step"] = min(max(step, 0), total)
    if isinstance(moved, dict) and moved.keys() == inputs.keys():
        if all(type(x) in (int, float) and math.isfinite(x) for x in moved.values()):
            state["inputs"] = moved
    return state


def request(content: Any) -> tuple[str, Any]:
    """(type, content) of a custom message; ("", None) for an invalid one."""
    if not isinstance(content, dict):
        return "", None
    about = ABOUT.get(str(content.get("type")))
    what = content.get(about) if about else None
    return (content["type"], what) if type(what) in (int, str) else ("", None)
