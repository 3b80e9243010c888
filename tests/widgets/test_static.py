"""The static twin: the same bytes for the same graph, everything escaped, readable without a program."""

import re
import xml.etree.ElementTree as ET
from html import unescape
from urllib.parse import unquote

import pytest

import minigrad as torch
from minigrad import Value
from minigrad.tracing.trace import to_text
from widgets import graph, lessons, static, stored
from widgets.static import badge
from widgets.stored import picture_of


def view(**kw):
    x = Value(1.0)
    a = 3 * x
    return graph((a + 2) ** 2, names={"x": x, "a": a}, **kw)


def words(svg):
    return [e.text for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_shows_every_number():
    svg = view().svg(width=2400)
    text = words(svg)
    assert "25" in text and "▴ 30" in text and "▴ 10" in text and "× 3" in text and "× 10" in text
    assert any("= 25" in t and "∂x = 30" in t for t in text)


def test_steps_show_what_was_known_then():
    v = view()
    start = words(v.svg(0, 2400))
    assert "25" not in start and "▴ 30" not in start and "·" in start
    assert None not in start and 'class="r ' not in v.svg(0, 2400), (
        "a label with nothing on it is not drawn, as in the view"
    )
    assert [v.svg(k, 2400).count('class="r ') for k in range(v.total + 1)] == [0, 0, 0, 0, 0, 0, 1, 2, 3], (
        "slopes come with the gradient"
    )
    forward = words(v.svg(4, 2400))
    assert "25" in forward and "▴ 30" not in forward
    assert "▴ 30" in words(v.svg(v.total, 2400)) and v.svg(width=2400) == v.svg(v.total, 2400)
    assert any("backward, step 3 of 4" in t for t in words(v.svg(7, 2400)))


def test_a_tensors_gradient_takes_the_place_of_its_value():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
    c = torch.tensor([[3.0, 0.0], [0.0, -4.0]])
    v = graph((x * c).sum(), names={"x": x, "c": c})
    forward = sum(e["phase"] == "forward" for e in v.trace["steps"])
    before, then, after = (v.svg(k, 2400) for k in (0, forward, None))
    assert before.count('class="u"') == 3, "an empty place for each"
    assert [then.count(f'class="h{kind}"') for kind in ("n", "gn", "gp")] == [3, 0, 0]
    assert [after.count(f'class="h{kind}"') for kind in ("n", "gn", "gp")] == [1, 1, 2], "the constant keeps its value"
    assert (
        "norm 5" in words(after) and "norm" not in words(then) and "−2…4" in words(then) and "−2…4" not in words(after)
    )


def test_a_long_sentence_goes_on_in_the_next_line():
    v = view()
    k = next(k for k, step in enumerate(v.trace["steps"], 1) if step["kind"] == "send")
    svg = v.svg(k)
    lines = re.findall(r'class="q" x="18" y="([\d.]+)">([^<]*)<', svg)
    height, width = (float(re.search(rf'{name}="(\d+)"', svg)[1]) for name in ("height", "width"))
    assert (
        len(lines) == 2
        and all(7 * len(text) < width for _, text in lines)
        and max(float(y) for y, _ in lines) < height - 8
    )
    assert " ".join(text for _, text in lines).endswith("it started with.")


def test_deterministic_and_without_ids():
    first, second = view().svg(), view().svg()
    assert first == second
    assert " id=" not in first and "0x" not in first
    drawing = re.sub(r"<desc>.*?</desc>|>[^<]*<", "", first, flags=re.S)
    assert not re.search(r"\d\.\d{3,}", drawing), "a coordinate with more than two digits"


def test_alternative_text():
    v = view()
    root = ET.fromstring(v.svg())
    assert root.find("{http://www.w3.org/2000/svg}title").text.startswith("computation graph of")
    assert root.find("{http://www.w3.org/2000/svg}desc").text == to_text(v.trace)


def test_markup_in_a_name_is_text():
    x = Value(1.0, label="<script>alert(1)</script>&")
    svg = graph(x * 2).svg()
    assert "<script>" not in svg
    assert "<script>alert(1)</script>&" in ET.fromstring(svg).find("{http://www.w3.org/2000/svg}desc").text


def test_both_grounds():
    assert "prefers-color-scheme:dark" in view().svg()


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_undefined_numbers_are_drawn(value):
    x = Value(value)
    ET.fromstring(graph(x.log() * 2, names={"x": x}).svg())


def test_page(tmp_path):
    file = view().save(tmp_path / "g.html", step=8)
    page = file.read_text()
    names = re.sub(r"http://www\.w3\.org/(2000/svg|1998/Math/MathML)", "", page)  # names of languages, not addresses
    assert "http://" not in names and "https://" not in names
    assert '"step": 8' in page and "export default" not in page
    with pytest.raises(ValueError, match=r"\.html, \.svg, \.png"):
        view().save(tmp_path / "g.pdf")
    assert view().save(tmp_path / "g.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("value", [-1.5, 0.25, -0.0123456, 1234567.0, -1.5e-10, 12.0, -3.0])
def test_a_narrow_pill_shows_the_number_and_no_other(value):
    """x * w has the local derivative w: its formula is one letter, its number may be long."""
    x, w = Value(2.0), Value(value)
    drawn = graph(x * w, names={"x": x, "w": w}).svg()
    pills = re.findall(
        r'<rect class="r [^>]* width="([\d.]+)" height="20"[^>]*/><text class="p [^>]*>× ([^<]+)</text>', drawn
    )
    assert len(pills) == 2
    ((wide, text),) = [(float(wide), text) for wide, text in pills if text != "2"]
    shown = float(text.replace("−", "-"))
    assert shown == pytest.approx(value, rel=0.05) and len(text) * 6.9 + 24 < wide + 6.9, (text, wide)


def test_a_rule_that_is_no_factor_is_not_called_nan():
    import minigrad as torch

    class Odd(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Odd.apply(torch.stack([x.sum(), x.prod()])).sum()
    view = graph(y, names={"x": x, "y": y})
    unknown = [e for e in view.trace["edges"] if e["local"] is None]
    assert unknown and "nan" not in view.svg()


def test_a_view_says_of_what_and_which_version():
    """In as few characters as there is room for; and an operation with several results says what each of them is."""
    x = torch.ones(2, 6, requires_grad=True)
    a_long_name = torch.sigmoid(x)
    left, right = a_long_name.chunk(2, 1)
    y = (left * right).sum()
    with torch.no_grad():
        a_long_name.add_(1)
    v = graph(y, names={"x": x, "y": y, "a_long_name": a_long_name})
    said = words(v.svg(width=2400))
    assert said.count("(2, 3)") >= 4 and "several" in said and "⚠ stale" in said
    views = [n for n in v.trace["nodes"] if "view" in n]
    assert {badge(v.trace, n) for n in views} == {"view of a_long_n…, version 1"}, "never v1, which is a name"
    assert {badge(v.trace, n, 4, False) for n in views} == {"view of a_l…"}
    assert "view of a_long_n…" in said


@pytest.fixture
def displayed(monkeypatch):
    """The HTML that a notebook stores of a view."""
    shown = []
    monkeypatch.setattr(stored, "publish_display_data", lambda data, metadata=None, **_: shown.append(data))

    def html(view):
        shown.clear()
        view._ipython_display_()
        return shown[0]["text/html"]

    return html


def test_a_wide_window_shows_a_graph_as_the_live_view_does(displayed):
    """The diamond needs 850 pixels: a narrow page shows less of it. A small graph is the same on both."""
    a, b = Value(2.0), Value(3.0)
    c, d = a + b, a * b
    y = (c + d) + c * d
    view = graph(y, names={"a": a, "b": b, "c": c, "d": d, "y": y})
    html = displayed(view)
    (found,) = re.findall(
        r"<source media='\(min-width:1200px\)' srcset='data:image/svg\+xml;charset=utf-8,([^' ]*)'", html
    )
    wide, narrow = unescape(unquote(found)), picture_of(html)
    assert (
        wide == view.svg(width=1000)
        and narrow == view.svg()
        and html.index("<source") < html.index("<img class='mg-picture'")
    )
    assert abs(float(re.search(r'viewBox="0 0 ([\d.]+)', wide)[1]) - view.picture["w"]) < 20 and "× 5" in words(wide)
    assert float(re.search(r'viewBox="0 0 ([\d.]+)', narrow)[1]) <= 680
    x = Value(3.0)
    assert "<source" not in displayed(graph(x * x, names={"x": x}))
    assert "<source" in displayed(lessons.stepper())


def test_only_a_picture_that_moves_says_so(displayed):
    assert [
        stored.NOTE in displayed(lesson) for lesson in (lessons.fit_line(), lessons.order_game(), lessons.stepper())
    ] == [True] * 3
    still = lessons.recap(1), lessons.fit_line(points="none")
    assert [stored.NOTE in displayed(lesson) for lesson in still] == [False] * 2


def test_the_frame_lies_inside_of_the_picture():
    """It was half a pixel too wide at widths such as 774.5, and lost its right side."""
    v = view()
    for width in (774.4, 774.5, 774.6, 775.5):
        drawn = static.svg(v.trace, {**v.picture, "w": width, "h": width}, 1)
        outer, frame = (
            re.search(rf'<{tag}[^>]* width="(\d+)" height="(\d+)"', drawn).groups() for tag in ("svg", "rect")
        )
        assert [int(n) - 1 for n in outer] == [int(n) for n in frame], width
