"""A matplotlib figure as the course shows it: in the colours of the page, light or dark, with the words that a screen reader says.

What lives here: `plotted(fig, words)`. What does not: any plot; chapters draw them in plain matplotlib.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import ipywidgets

from .lesson import STYLE, Lesson, Sentence, esc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# matplotlib's own colours, and the theme's that take their place. Other colours stay as they are.
COLOURS = {
    "#1f77b4": "fwd", "#ff7f0e": "bwd", "#2ca02c": "good", "#d62728": "bad", "#000000": "ink", "#262626": "ink", "#808080": "soft",
    "#7f7f7f": "soft", "#b0b0b0": "line", "#cccccc": "line", "#ffffff": "bg",
}  # fmt: skip


def plotted(fig: Figure, words: str) -> Lesson:
    """Show a matplotlib figure and close it. C0 to C3, black, grey and white follow the theme.

    fig: the figure, of plt.subplots() for example. words: what the plot shows, in one or two sentences, for readers who do not see it.
    """
    if not hasattr(fig, "savefig"):
        return Sentence(f"plotted needs a matplotlib figure first, as plt.subplots() returns it. It was given {type(fig).__name__}.")
    if not isinstance(words, str) or len(words.split()) < 4:
        return Sentence("plotted needs a sentence that says what the plot shows, for readers who do not see it.")
    import matplotlib
    from matplotlib import pyplot

    file = io.StringIO()
    # text stays text, and ids and dates do not depend on the run: the same plot is the same bytes
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "minigrad"}):
        fig.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    pyplot.close(fig)
    picture = themed(file.getvalue(), words)
    return Lesson([ipywidgets.HTML(picture)], picture=lambda: picture, text=lambda: words)


def themed(source: str, words: str) -> str:
    """The SVG that matplotlib wrote, with the theme's colours, the lessons' style sheet and a title."""
    body = source[source.index("<svg") :]
    head = body[: body.index(">") + 1]
    _, _, width, height = re.search(r'viewBox="([^"]*)"', head)[1].split()  # type: ignore[index]
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", body[len(head) :], flags=re.S)  # its style speaks of every element
    body = re.sub(r"#[0-9a-f]{6}\b", lambda m: f"var(--{COLOURS[m[0]]})" if m[0] in COLOURS else m[0], body)
    body = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", body)  # the page's own font
    return (
        '<svg class="mgl" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width} {height}" width="{float(width) * 4 / 3:g}" height="{float(height) * 4 / 3:g}" role="img" '
        f'aria-label="{esc(words)}" style="max-width:100%;height:auto"><title>{esc(words)}</title>{STYLE}{body}'
    )
