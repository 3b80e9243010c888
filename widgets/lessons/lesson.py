"""What every lesson shares: a column of widgets with a static twin, and the parts of hand-drawn figures.

What lives here: `Lesson` (children for a live kernel; one SVG and one text for a saved notebook, GitHub and nbconvert), sentences, and
small helpers for drawing and for numbers. What does not: any lesson, the colours (front/lessons.css), the graph view.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable
from pathlib import Path

import anywidget
import ipywidgets
from ipywidgets.widgets.widget_link import Link

from minigrad import words as formats

from .. import cells
from ..graph import GraphView

_SHEET = (Path(__file__).parents[1] / "front" / "lessons.css").read_text(encoding="utf-8")
STYLE = "<style>" + re.sub(r"/\*.*?\*/|\n\s*", "", _SHEET, flags=re.S) + "</style>"


def esc(text: object) -> str:
    return html.escape(str(text), quote=True)


def tag(name: str, cls: str = "", text: str | None = None, **attributes: object) -> str:
    """One SVG element. Underscores in attribute names stand for hyphens; numbers are rounded to one digit; `text` is not escaped.

    >>> tag("rect", "card", x=1.25, width=10)
    '<rect class="card" x="1.2" width="10"/>'
    """
    parts = [f'class="{cls}"'] if cls else []
    for key, value in attributes.items():
        shown = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else esc(value)
        parts.append(f'{key.replace("_", "-")}="{shown}"')
    head = " ".join([name, *parts])
    return f"<{head}/>" if text is None else f"<{head}>{text}</{name}>"


def label(x: float, y: float, text: str, cls: str = "t", anchor: str = "") -> str:
    """One line of text in a figure; `text` is escaped."""
    return tag("text", cls, esc(text), x=float(x), y=float(y), **({"text_anchor": anchor} if anchor else {}))


def svg(width: float, height: float, body: str, alt: str) -> str:
    """A complete SVG image that also works inline in a page: `alt` is what a screen reader says."""
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return (
        f'<svg class="mgl" xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{esc(alt)}" style="max-width:100%;height:auto">'
        f'<title>{esc(alt)}</title>{STYLE}<rect class="bg" width="{width:g}" height="{height:g}" rx="8"/>{body}</svg>'
    )


def say(text: str, kind: str = "") -> str:
    """A sentence that screen readers speak when it changes. kind: "", "good", "bad", "plain" or "warn"."""
    role = "alert" if kind == "bad" else "status"
    return f'<div class="mgl say {kind}" role="{role}" aria-live="polite">{STYLE}{esc(text)}</div>'


def verdict(text: str) -> str:
    """A sentence whose first sign says what kind it is: ✓ good, ✗ bad."""
    return say(text, {"✓": "good", "✗": "bad"}.get(text[:1], ""))


def number(x: object, digits: int = 6, power: bool = False) -> str:
    """A number as people write it (minigrad.words), no digits that are rounding noise. Other things as they are.

    >>> number(-2.2760000000001), number(25.0), number(1e-5), number(None)
    ('−2.276', '25', '1e−5', '·')
    """
    if x is None:
        return "·"
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        return repr(x)
    return formats.number(x, digits, power)


def same(a: object, b: object, rel: float = 1e-9) -> bool:
    """Whether two results agree up to rounding; nan agrees with nan, and what is not a number agrees with nothing."""
    if not isinstance(a, (int, float)) or not isinstance(b, (int, float)) or isinstance(a, bool):
        return False
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=rel, abs_tol=1e-12)


def wrap(*children: ipywidgets.Widget) -> ipywidgets.HBox:
    """A row that breaks where the page is narrow."""
    return ipywidgets.HBox(children, layout=ipywidgets.Layout(flex_flow="row wrap", align_items="center", grid_gap="2px 8px"))


class Names(anywidget.AnyWidget):
    """Invisible: gives a lesson's sliders and fields the names that a screen reader says, which ipywidgets leaves out."""

    _esm = (Path(__file__).parents[1] / "front" / "names.js").read_text(encoding="utf-8")
    # JupyterLab's light theme draws a slider's knob in white with a line of the lightest grey
    _css = ".mg-lesson .widget-slider .noUi-target .noUi-handle { border-color: var(--jp-ui-font-color2, GrayText); }"


def moved(state, change, words: ipywidgets.HTML) -> bool:
    """Run `state` with the input whose slider moved. Where that fails the input stays as it was, and `words` say so: then False."""
    name, before = change["owner"].description, dict(state.inputs)
    state.inputs[name] = change["new"]
    try:
        state.run()
    except Exception as error:
        state.inputs = before
        words.value = say(f"At {name} = {number(change['new'])}: {error} The picture still shows {number(before[name])}.", "bad")
        return False
    return True


class Lesson(ipywidgets.VBox):
    """A column of widgets that is a picture and a text wherever no kernel runs.

    `picture()` gives the SVG of the present state (or "" when there is nothing to draw), `text()` the same in words.
    """

    def __init__(self, children, picture: Callable[[], str], text: Callable[[], str]):
        super().__init__(children=[*children, *([Names()] if len(children) > 1 else [])], _dom_classes=["mg-lesson"])
        self.picture, self.text = picture, text
        self.cells: set[str] = set()

    def __repr__(self) -> str:
        return self.text()

    def close(self) -> None:
        """Take the lesson and all its parts out of the browser and out of ipywidgets' books. Showing it again brings it back."""
        for part in [*cells.parts(self), *self._links()]:
            if part is not self:
                part.close()
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets hides it

    def _links(self) -> list[ipywidgets.Widget]:
        """What ties parts together in the browser and is itself no part: kept as an attribute of the lesson."""
        return [thing for thing in vars(self).values() if isinstance(thing, Link)]

    def _repr_mimebundle_(self, **kwargs):
        if self.comm is None:  # put away since
            for part in [*cells.parts(self), *self._links()]:
                part._again() if isinstance(part, GraphView) else part.open()
                part.__dict__.pop("_repr_mimebundle_", None)
        cells.shown(self)
        data = dict(super()._repr_mimebundle_(**kwargs) or {})
        data["text/plain"] = self.text()
        picture = self.picture()
        if picture:
            data["image/svg+xml"] = picture
        return data


PLAINLY = (
    (r"<function ((?:\w|<|>|\.)+) at 0x[0-9a-f]+>", r"\1"),
    (r"<(?:[\w.]*\.)?(\w+) object at 0x[0-9a-f]+>", r"a \1"),
    (r"(?:float|int)\(\) argument must be a string.*? real number, not '(\w+)'", r"a number is needed, not \1"),
    (r"could not convert string to float: ('.*')", r"\1 is no number"),
    (r"invalid literal for int\(\) with base 10: ('.*')", r"\1 is no whole number"),
    (r"cannot convert float NaN to integer", "nan is no whole number"),
    (r"cannot convert float infinity to integer", "inf is no whole number"),
    (r"'(\w+)' object is not iterable", r"several numbers are needed, not \1"),
)


def plainly(message: str) -> str:
    """A message as one sentence of bearable length: no addresses, no lines after a blank one, Python's words about numbers in plain ones.

    >>> plainly("cannot run this: could not convert string to float: 'two'")
    "cannot run this: 'two' is no number"
    """
    text = " ".join(message.strip().split("\n\n")[0].split())
    for pattern, words in PLAINLY:
        text = re.sub(pattern, words, text)
    return text if len(text) <= 400 else text[:399] + "…"


class Sentence(Lesson):
    """What a lesson shows when it cannot show its picture: one sentence that says why and what to do."""

    def __init__(self, message: str):
        message = plainly(message)
        super().__init__([ipywidgets.HTML(say(message, "warn"))], picture=lambda: "", text=lambda: message)
