"""`plot(fig, "alternative text")`: a matplotlib figure that follows the page's theme and has a text alternative.

The chapter draws the figure with matplotlib. Here its SVG gets the theme's colours, which are defined in front/lessons.css.
"""

from __future__ import annotations

import io
import re
from typing import Any

from .lessons.kit import Figure, LessonView
from .lessons.lesson import STYLE, esc

# matplotlib's default colours, and what takes their place; the colour cycle C0 to C3 first
THEME = {
    "#1f77b4": "var(--fwd)",
    "#ff7f0e": "var(--bwd)",
    "#2ca02c": "var(--good)",
    "#d62728": "var(--bad)",
    "#000000": "var(--ink)",
    "#808080": "var(--soft)",
    "#b0b0b0": "var(--line)",
    "#cccccc": "var(--line)",
    "#ffffff": "var(--bg)",
}
SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "minigrad", "font.size": 11.0}
WIDTH = 620.0


class _Plot(Figure):
    """A picture and its words, with nothing to move."""

    def __init__(self, picture: str, text: str):
        super().__init__()
        self.picture, self.words = picture, text

    def draw(self) -> str:
        return self.picture

    def sentence(self) -> str:
        return self.words

    def caption(self) -> str:
        return ""


def plot(figure: Any, text: str) -> LessonView:
    """Show a matplotlib figure in the page's light or dark colours. `text` says in one or two sentences what can be seen in it.

    Use matplotlib's default colours (C0 to C3, "black", "gray", "white"): each has a counterpart in both themes.
    """
    return LessonView(_Plot(themed(figure, text), text))


def themed(figure: Any, text: str) -> str:
    """The figure as SVG with the theme's colours, its title and label being `text`. The figure is closed."""
    import matplotlib
    import matplotlib.pyplot as plt

    file = io.StringIO()
    with matplotlib.rc_context(SETTINGS):
        figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)  # otherwise Jupyter's inline backend displays it a second time, in white
    svg = file.getvalue()
    body = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|\n\s*", "", body, flags=re.S)
    body = re.sub(r"#[0-9a-f]{6}\b", lambda m: THEME.get(m[0], m[0]), body)
    body = re.sub(
        r"font-family: [^;\"]*|font: ([\d.]+px) [^;\"]*", lambda m: f"font-size: {m[1]}" if m[1] else "", body
    )
    wide, high = (float(n) for n in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())  # type: ignore[union-attr]
    size = f'viewBox="0 0 {wide:g} {high:g}" width="{WIDTH:g}" height="{WIDTH * high / wide:.0f}"'
    return (
        f'<svg class="mgl plot" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {size} role="img" '
        f'aria-label="{esc(text)}" style="max-width:100%;height:auto;fill:var(--ink)"><title>{esc(text)}</title>{STYLE}{body}</svg>'
    )
