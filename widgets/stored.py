"""Display a view so that a picture remains in the notebook when the widget behind it is gone.

A saved notebook keeps a widget's id but not the widget. Reopened under another kernel, it shows "model not found" in place of the
picture, whatever else the same output holds. A view is therefore displayed as two outputs. The first is a still picture as HTML, which
every host can show, trusted or not; the second is the live widget and nothing else. While the live view is there the still picture is
hidden: by its own style sheet in JupyterLab and Notebook 7, and by the front end (index.js) in other hosts. No server setting and no
widget state is needed.
"""

from __future__ import annotations

import re
import uuid
from html import escape, unescape
from typing import Any

from IPython.display import publish_display_data

WIDGET = "application/vnd.jupyter.widget-view+json"
SVG = "image/svg+xml"

# `+` joins the output of the still picture and the next one, which is the widget's. JupyterLab's panel for a widget holds an element when
# the widget is live and only text while it loads; when no widget is found, the panel itself has the class jupyter-widgets. Until the
# widget has loaded, for at most 1.5 s, the still picture takes no room, so that a cell that runs does not jump. (:has cannot be nested in
# :has.)
_OUTPUT = ".jp-OutputArea-child"
_STILL = f"{_OUTPUT}:has(>.jp-OutputArea-output>.mg-stored)"
_PANEL = f"{_OUTPUT}>.lm-Panel"
STYLE = (
    f"{_STILL}:has(+{_PANEL}>*){{display:none}}"
    f"{_STILL}+{_OUTPUT}:has(>.jupyter-widgets){{display:none}}"
    f"{_STILL}:has(+{_PANEL}:not(.jupyter-widgets)){{animation:mg-wait 1.5s step-end}}"
    "@keyframes mg-wait{from{max-height:0;overflow:hidden;visibility:hidden}}"
)
# A caption below the picture, because otherwise a stored picture looks like a live one.
NOTE = (
    "<p style='margin:2px 0 8px;font:italic 12px system-ui,sans-serif;opacity:.75'>"
    "This picture is stored. Run its cell to make it interactive.</p>"
)
_PICTURE = re.compile(r"<img class='mg-picture' alt='[^']*' src='data:image/svg\+xml;charset=utf-8,([^']*)'")


ROOM = 1200  # pixels of a window, from which on the notebook beside a list of files has room for a wide picture


def still(svg: str | None, text: str, html: str | None = None, wide: str | None = None, moves: bool = True) -> str:
    """The still picture: the view's own HTML, else an <img> (hosts remove inline SVG from notebooks they do not trust), else the words.

    wide: the picture for wide windows. moves: can a reader do something with it after its cell has run?"""
    if html:
        inside = html
    elif svg:
        inside = f"<img class='mg-picture' alt='{_quoted(text)}' src='{_address(svg)}' style='max-width:100%'>"
        if wide and wide != svg:  # an address in a srcset ends at the first blank
            source = _address(wide).replace(" ", "%20").replace("\n", "%0A")
            inside = f"<picture><source media='(min-width:{ROOM}px)' srcset='{source}'>{inside}</picture>"
    else:
        inside = f"<pre>{escape(text)}</pre>"
    note = NOTE if moves and (svg or html) else ""
    return f"<div class='mg-stored'><style>{STYLE}</style>{inside}{note}</div>"


def _address(svg: str) -> str:
    return "data:image/svg+xml;charset=utf-8," + _quoted(svg.replace("%", "%25").replace("#", "%23"))


def _quoted(text: str) -> str:
    """The text as the value of an HTML attribute in single quotes: shorter than base64, and readable in a diff."""
    return text.replace("&", "&amp;").replace("'", "&#39;")


def picture_of(html: str) -> str | None:
    """The SVG that `still` has put into HTML, or None."""
    match = _PICTURE.search(html)
    return unescape(match[1]).replace("%23", "#").replace("%25", "%") if match else None


class Stored:
    """Mix-in for a widget with `_repr_mimebundle_`: display its stored picture, and the live view below."""

    def wide_picture(self) -> str | None:
        """The picture as SVG for a wide window, if it is another one there."""
        return None

    def moves(self) -> bool:
        """Has the live view something to step, slide or press?"""
        return True

    _shown = ""  # the id of the output with the stored picture

    def store_again(self, svg: str | None, text: str, html: str | None = None) -> None:
        """Put what the view shows now in the place of the stored picture: a curve that was drawn, boxes that were ticked."""
        if self._shown:
            data = {"text/plain": text, "text/html": still(svg, text, html, self.wide_picture(), self.moves())}
            publish_display_data(data, transient={"display_id": self._shown}, update=True)

    def _ipython_display_(self) -> None:
        bundle = self._repr_mimebundle_()  # type: ignore[attr-defined]
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        live = {WIDGET: data[WIDGET]} if WIDGET in data else {}
        rest: dict[str, Any] = {mime: value for mime, value in data.items() if mime not in (WIDGET, SVG)}
        wide = self.wide_picture()
        rest["text/html"] = still(data.get(SVG), data.get("text/plain", ""), data.get("text/html"), wide, self.moves())
        self._shown = uuid.uuid4().hex
        publish_display_data(rest, metadata, transient={"display_id": self._shown})
        if live:
            publish_display_data(live, metadata)
