"""Save a view as a file: the supported formats, and the content of each.

SVG is drawn by static.py; export.py converts it to PNG and PDF.
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
# What an exported page needs
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
    "forms",
)


def kind_of(path: Path) -> str:
    """The file format for a path, by its suffix. Raises ValueError for an unknown one."""
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
    """The content of a file. view: a GraphView; step: of a picture, by default the present one; width: of the page, in pixels."""
    at = view.step if step is None else step
    if kind == "svg":
        return view.svg(at, width).encode()
    if kind == "png":
        return export.png(view.svg(at, width), dark=dark)
    if kind == "dot":
        return export.dot(view.whole if view.forms.get("plan") else view.shown_now()).encode()
    if kind == "html":
        return static.page(view.trace["title"], {**alone(view), "step": at}).encode()
    return export.animation(view.drawing(width), view.stops, kind, dark)


def alone(view: Any) -> dict[str, Any]:
    """The state of a page without a kernel. It includes the layouts for narrow pages, which such a page cannot request."""
    state = {name: getattr(view, name) for name in STATE} | {"trace": sent(view.trace), "standalone": True}
    if view.picture["cards"]:
        state["picture"] = {**view.picture, "wraps": view.narrower()}
    if view.has_trait("brief"):  # a first look
        state["brief"] = view.brief
    return state
