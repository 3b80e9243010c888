"""A matplotlib figure in the page's colours, with a text alternative, and the same bytes each time."""

import re
import xml.etree.ElementTree as ET

import matplotlib
import pytest

from widgets.plots import THEME, plot, themed

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def figure():
    fig, ax = plt.subplots(figsize=(6, 3))
    for k in range(4):
        ax.plot([0, 1, 2], [k, 2, 1], "o-", label=f"curve {k}")
    ax.axhline(0, color="gray")
    ax.set_xlabel("step <n>")
    ax.legend()
    return fig


def test_every_colour_follows_the_theme():
    svg = themed(figure(), "Four curves & a line.")
    root = ET.fromstring(svg)
    assert root[0].text == root.get("aria-label") == "Four curves & a line."
    drawn = svg.split("</style>", 1)[1]
    assert not re.findall(r"#[0-9a-f]{6}\b", drawn) and {
        "var(--fwd)",
        "var(--bwd)",
        "var(--good)",
        "var(--bad)",
    } <= set(re.findall(r"var\(--\w+\)", drawn))
    assert "step &lt;n&gt;" in drawn and set(THEME.values()) >= set(re.findall(r"var\(--\w+\)", drawn))


def test_black_is_the_pages_ink_though_matplotlib_does_not_write_it():
    fig, ax = plt.subplots()
    ax.plot([1, 2], "o", color="black")
    assert "fill:var(--ink)" in ET.fromstring(themed(fig, "t")).get("style")


def test_the_same_figure_gives_the_same_bytes_and_is_closed():
    assert themed(figure(), "t") == themed(figure(), "t")
    assert plt.get_fignums() == []


@pytest.mark.parametrize("mime, part", [("text/plain", "It falls."), ("image/svg+xml", "<title>It falls.</title>")])
def test_a_page_without_a_kernel_has_picture_and_words(mime, part):
    assert part in plot(figure(), "It falls.")._repr_mimebundle_()[mime]
