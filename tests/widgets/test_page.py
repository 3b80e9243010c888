"""Pictures on a page: no wider than a narrow column, with all their words at full size, and the events of the view."""

import re

import pytest

import minigrad as torch
from minigrad import Value, nn
from tests.widgets.test_narrower import cards
from widgets import layout, page
from widgets.view.files import content


def square():
    x = Value(3.0)
    return cards((3 * x + 2) ** 2, names={"x": x})


def tensors():
    torch.manual_seed(0)
    x, w = torch.randn(4, 3), torch.randn(3, 2, requires_grad=True)
    return cards(((x @ w).tanh() ** 2).mean(), names={"x": x, "w": w})


def layers():
    torch.manual_seed(0)
    model = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(3, 3), nn.Tanh())])
    return cards(model(torch.randn(4, 3)).sum(), names={"model": model})


def long_chain():
    a = b = Value(0.5)
    for k in range(14):
        b = (b * a + k).tanh()
    return cards(b, names={"a": a})


def size(drawn):
    return tuple(int(n) for n in re.match(r'<svg [^>]*?width="(\d+)" height="(\d+)"', drawn).groups())


SMALLEST = 11.0  # pixels, of the words of static.STYLE


@pytest.mark.parametrize("build", [square, tensors, layers, long_chain])
def test_words_are_legible_in_a_notebooks_narrow_column(build):
    """In a window of 640 pixels the column has 530: what is wider shrinks, and its words with it."""
    view = build()
    assert view.picture["w"] > 640, "as it is, it would not fit"
    drawn = view._repr_mimebundle_()[0]["image/svg+xml"]
    sizes = [float(n) for n in re.findall(r"font-size:([\d.]+)px", drawn)]
    assert min(sizes) == SMALLEST and "scale(" not in drawn
    wide, high = size(drawn)
    assert SMALLEST * min(1, 530 / wide) >= 9
    assert high <= layout.TALL + 120
    assert all(float(x) <= wide for x in re.findall(r'<g transform="translate\(([\d.]+)', drawn))


def test_a_page_may_be_wider():
    view = square()
    assert size(view.svg(width=1000))[0] > 640 > size(view.svg())[0]
    assert view.svg(width=1000).count('class="p') == view.svg().count('class="p') > 0, "with the slopes on its wires"
    assert content(view, "svg", width=1000).decode() == view.svg(view.step, 1000)
    assert size(content(view, "svg").decode())[0] <= 640


@pytest.mark.parametrize("build", [square, tensors])
def test_all_cards_are_there_while_they_fit(build):
    view = build()
    trace, picture = page.fitting(lambda cards: None, (view.shown_now(), (), None), 640, view.picture)
    assert trace is view.shown_now() or trace == view.shown_now()
    assert len(picture["cards"]) == len(view.trace["nodes"])


def test_fewer_cards_are_at_the_same_moment():
    """The view has 57 cards, the page about ten: its picture of the end of the forward pass has every value and no gradient."""
    view = long_chain()
    trace, _ = page.fitting(
        lambda cards: view._fewer(view.shown_now(), cards), (view.shown_now(), (), None), 640, view.picture
    )
    assert len(trace["nodes"]) < len(view.trace["nodes"])
    forward = sum(event["phase"] == "forward" for event in view.trace["steps"])
    gradients = r'class="d"[^>]*>[^<·]'
    drawn = [view.svg(k) for k in (0, forward - 1, forward, forward + 1, view.total)]
    assert ["nothing has run yet" in drawn[0], "forward, step" in drawn[2], "backward, step 1 " in drawn[3]] == [
        True
    ] * 3
    assert [bool(re.search(gradients, d)) for d in drawn] == [False, False, False, True, True]
    assert drawn[4] == view.svg()


def test_a_long_title_stays_inside():
    a_result_with_quite_a_long_name = Value(1.0) * 2
    names = {"a_result_with_quite_a_long_name" * 4: a_result_with_quite_a_long_name}
    drawn = cards(a_result_with_quite_a_long_name, names=names).svg()
    (title,) = re.findall(r'class="t" x="18" y="28">([^<]*)<', drawn)
    assert 36 + 9.1 * len(title) <= size(drawn)[0] <= 640 and title.endswith("…")


@pytest.mark.parametrize("width", [0, -5, float("nan"), float("inf"), "wide", None])
def test_a_width_that_is_none_is_refused_and_the_file_stays(tmp_path, width):
    view, path = cards(Value(2.0) * 3), tmp_path / "loss.svg"
    path.write_text("before")
    with pytest.raises(ValueError, match="positive number of pixels"):
        view.save(path, width=width)
    assert path.read_text() == "before"
