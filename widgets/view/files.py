"""The view as a file: which kinds there are, and what is in each.

What lives here: choosing. What does not: drawing (static.py) and painting (export.py).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from minigrad.tracing.trace import Trace

from .. import export, page, static
from ..contract import sent

KINDS = {
    "html": "text/html",
    "svg": "image/svg+xml",
    "png": "image/png",
    "gif": "image/gif",
    "apng": "image/apng",
    "dot": "text/plain",
}
STATE = (
    "trace",
    "picture",
    "leaves",
    "inputs",
    "recorded",
    "sweeps",
    "step",
    "notice",
    "quiz",
    "network",
)  # what an exported page needs


def kind_of(path: Path) -> str:
    """What kind of file a name asks for. Raises ValueError if there is none such."""
    kind = {"htm": "html"}.get(ending := path.suffix.lower().lstrip("."), ending)
    if kind not in KINDS:
        raise ValueError(f"save writes {', '.join('.' + k for k in KINDS)} files, and the name {path.name!r} is none of them. "
                         "Try view.save('graph.html').")  # fmt: skip
    return kind


def name_of(trace: Trace, kind: str) -> str:
    """A name for a file that a page saves."""
    name = re.sub(r"\W+", "_", trace["nodes"][trace["root"]]["label"]).strip("_") or "graph"
    return f"{name}.{kind}"


def content(view: Any, kind: str, step: int | None = None, dark: bool = False, width: float = page.WIDTH) -> bytes:
    """The content of a file of this kind. view: a GraphView; step: of a picture, by default as it stands; width: of the page it is for."""
    at = view.step if step is None else step
    if kind == "svg":
        return view.svg(at, width).encode()
    if kind == "png":
        return export.png(view.svg(at, width), dark=dark)
    if kind == "dot":
        return export.dot(view.shown_now()).encode()
    if kind == "html":
        return static.page(view.trace["title"], {**alone(view), "step": at}).encode()
    return export.animation(view.drawing(width), view.total, kind, dark)


def alone(view: Any) -> dict[str, Any]:
    """What a page without a kernel shows: with the pictures for every width, because it cannot ask for them."""
    state = {name: getattr(view, name) for name in STATE} | {"trace": sent(view.trace), "standalone": True}
    if view.picture["cards"]:
        state["picture"] = {**view.picture, "wraps": view.narrower()}
    return state
