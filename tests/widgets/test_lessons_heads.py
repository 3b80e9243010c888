"""What a head looks at, which character is likely while heads are off; and bars of a list that depends on a number."""

import pytest

from widgets.lessons import bars, heads

MAPS = [[[1, 0, 0], [0.9, 0.1, 0], [0.8, 0.1, 0.1]], [[1, 0, 0], [0.2, 0.8, 0], [0.1, 0.2, 0.7]]]


def test_a_place_says_what_each_head_looks_at():
    view = heads("a b", MAPS)
    assert (
        "At character 3, “b”, head 1 looks most at “a”, 2 back (80 %); head 2 looks most at the character itself (70 %)."
        in view.text()
    )
    view.set(at=1)
    assert "At character 2, “␣”, head 1 looks most at “a”, 1 back (90 %)" in view.text()
    assert [control.name for control in view.figure.controls()] == ["at"]  # nothing can be switched off without a model


def test_a_head_that_is_off_changes_what_follows():
    asked = []

    def following(at, off):
        asked.append((at, off))
        return {"b": 0.9, "a": 0.1} if off else {"b": 0.2, "a": 0.8}

    view = heads("aab", MAPS, following, at=1)
    assert "Most likely to follow: “a” (80 %). The verse goes on with “b” (20 %)." in view.text()
    view.set(**{"head 2": False})
    assert asked[-1] == (1, [1]) and "head 2 is off. Most likely to follow: “b” (90 %)." in view.text()
    view.set(at=2)
    assert asked[-1] == (2, [1]) and "goes on" not in view.text()


@pytest.mark.parametrize("line, weights, says", [
    ("ab", MAPS, "needs 2 rows of 2 weights"), ("a", MAPS, "needs 2 to 40 characters"), ("abc", [], "needs 3 rows"),
])  # fmt: skip
def test_what_does_not_fit_is_said(line, weights, says):
    assert says in heads(line, weights).text()


def test_bars_keep_one_scale():
    calls = []
    view = bars(lambda k: calls.append(k) or [0.0] * (3 - k) + [k / 10] * k, 1, 3, name="k", ylabel="gradient")
    assert calls == [1, 2, 3] and "k = 1: 1 bar is above 0, and the highest is 0.1." in view.text()
    low = view.picture()
    view.set(k=3)
    assert "3 bars are above 0, and the highest is 0.3" in view.text() and calls == [1, 2, 3]
    assert low.count(">0.3<") == view.picture().count(">0.3<") == 1  # the axis


@pytest.mark.parametrize("f, low, high, says", [
    (3, 1, 2, "bars needs a function"), (lambda k: [], 1, 2, "has to return 1 to 40 numbers"), (lambda k: [-1], 1, 2, "numbers from 0 on"),
    (lambda k: [1], 2, 2, "at most 40 places"),
])  # fmt: skip
def test_bars_say_what_they_cannot_draw(f, low, high, says):
    assert says in bars(f, low, high).text()
