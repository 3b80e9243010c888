"""A curve that is drawn before it is computed: what is kept, what is said of both, and what is refused."""

import re

import pytest

from widgets.lessons import draw


@pytest.fixture(autouse=True)
def progress_file(monkeypatch, tmp_path):
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "progress.json"))


def stroke(guess, *heights):
    for k, y in enumerate(heights):
        guess.set(**{f"at {k}": y})


def test_nothing_is_computed_before_the_button_is_pressed():
    calls = []
    guess = draw([1, 2, 3], lambda: calls.append(1) or [1, 4, 9], high=10)
    stroke(guess, 2.0, 3.0)
    assert calls == [] and "it is" not in guess.picture() and guess.figure.drawn == [2.0, 3.0, 5.0]
    guess.press("show")
    assert calls == [1] and [row[2] for row in guess.figure.table().rows] == ["1", "4", "9"]
    with pytest.raises(ValueError, match="cannot be pressed now"):
        guess.press("show")
    guess.press("again")
    assert [c.name for c in guess.figure.controls()] == ["at 0", "at 1", "at 2"] and guess.figure.drawn == [
        2.0,
        3.0,
        5.0,
    ]


def test_a_drawn_curve_outlives_its_kernel(progress_file):
    def squares():
        return draw([1, 2, 3], lambda: [1, 4, 9], high=10)

    guess = squares()
    stroke(guess, 2.0, 3.0, 9.0)
    guess.press("show")
    again = squares()
    assert again.figure.drawn == [2.0, 3.0, 9.0] and again.figure.heights is None and "yours" in again.picture()
    other = draw([1, 2, 3], lambda: [1, 4, 9], high=10, xlabel="another picture")
    assert other.figure.drawn == [5.0, 5.0, 5.0] and "drag here" in other.picture()


@pytest.mark.parametrize(
    "drawn, real, said",
    [
        ([1, 4, 9], [1.2, 4.1, 9.3], "as far as a hand can draw it"),
        (
            [9, 5, 1],
            [1, 4, 9],
            "at 1: you drew 9, and it is 1. Yours falls all the way. The real one rises all the way.",
        ),
        ([1, 2, 4], [1, 4, 9], "at 3: you drew 4, and it is 9. Both rise all the way."),
        ([5, 5, 5], [1, 4, 1], "Yours stays where it is. The real one rises first and then falls."),
        ([9, 8, 9], [9, 2, 9], "at 2: you drew 8, and it is 2. Both fall first and then rise."),
        (
            [1, 1, 1],
            [1, 1, float("inf")],
            "you drew 1, and it is inf. Yours stays where it is. The real one rises all the way.",
        ),
    ],
)
def test_both_curves_in_a_sentence(drawn, real, said):
    guess = draw([1, 2, 3], lambda: real, high=10)
    stroke(guess, *drawn)
    guess.press("show")
    assert said in guess.figure.sentence(), guess.figure.sentence()


def test_powers_of_ten():
    guess = draw(["a", "b", "c"], lambda: [1e-2, 1e-6, 0.0], low=-8, high=0, log=True)
    guess.press("show")
    assert guess.figure.heights == [-2, -6, -8] and "10⁻⁶" in guess.text()
    assert all(f">10{power}<" in guess.picture() for power in ("⁰", "⁻²", "⁻⁴", "⁻⁶", "⁻⁸"))


def test_what_is_wrong_is_said_in_a_sentence():
    assert "3 to 12 places, and x has 2" in repr(draw([1, 2], lambda: []))
    assert "needs a function that computes the curve" in repr(draw([1, 2, 3], [1, 4, 9]))
    assert "low is 3 and high is 1" in repr(draw([1, 2, 3], lambda: [], low=3, high=1))
    guess = draw([1, 2, 3], lambda: [1, 2])
    guess._on_message(None, {"press": "show"}, [])
    assert "There are 3 places, and real() gave 2 numbers" in guess.scene["say"] and guess.scene["mood"] == "bad"
    guess._on_message(None, {"set": "at 0", "value": 7.0}, [])
    assert guess.figure.drawn == [0.5, 0.5, 0.5], "outside of the axis"
    guess = draw([1, 2, 3], lambda: [nowhere, 1, 2])  # noqa: F821
    guess._on_message(None, {"press": "show"}, [])
    assert "'nowhere' is not defined. Run the cell above that defines it" in guess.scene["say"]


def test_the_two_words_at_the_end_do_not_lie_on_one_another():
    for drawn in (4.0, 5.0, 4.6, 5.4, 9.0):
        guess = draw([1, 2, 3], lambda: [5, 5, 5], high=10)
        stroke(guess, drawn, drawn, drawn)
        guess.press("show")
        places = {word: float(y) for y, word in re.findall(r'y="([\d.]+)"[^>]*>(yours|it is)<', guess.picture())}
        assert abs(places["yours"] - places["it is"]) > 15
