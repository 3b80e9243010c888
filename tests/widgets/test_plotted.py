"""plotted: a matplotlib figure in the page's colours, with words, the same bytes each time, and closed."""

import xml.etree.ElementTree as ET

import pytest

from widgets.lessons import plotted

plt = pytest.importorskip("matplotlib.pyplot")
WORDS = "One line falls from 1 to 0."


def line(**more):
    fig, ax = plt.subplots(figsize=(3, 2))
    ax.plot([0, 1], [1, 0], label="loss", **more)
    ax.set_title("A loss")
    ax.legend()
    return fig


def test_colours_follow_the_theme_and_others_stay():
    svg = plotted(line(), WORDS).picture()
    assert "stroke: var(--fwd)" in svg and "#1f77b4" not in svg and "fill: var(--bg)" in svg
    assert "#123456" in plotted(line(color="#123456"), WORDS).picture()


def test_it_has_words_and_text_and_speaks_only_of_itself():
    shown = plotted(line(), WORDS)
    root = ET.fromstring(shown.picture())
    assert root.find("{*}title").text == WORDS == shown.text() and "A loss</text>" in shown.picture()
    assert "*{" not in shown.picture(), "a rule for every element of the page"


def test_the_same_plot_is_the_same_bytes_and_no_figure_is_left_open():
    before = plt.get_fignums()
    assert plotted(line(), WORDS).picture() == plotted(line(), WORDS).picture()
    assert plt.get_fignums() == before


@pytest.mark.parametrize("given, said", [((3, WORDS), "needs a matplotlib figure"), ((line, ""), "needs a sentence")])
def test_what_it_cannot_show_it_says(given, said):
    fig = given[0]() if callable(given[0]) else given[0]
    assert said in plotted(fig, given[1]).text()
    plt.close("all")
