"""The step-size lesson: its errors against closed forms, its digits, and what it says to nonsense."""

import math

import pytest

from widgets.lessons import step_size
from widgets.lessons.lesson import STYLE
from widgets.lessons.step_size import EXPONENTS, quotient


def cube(x):
    return x * x * x


def test_errors_of_a_cube_are_the_ones_of_school_algebra():
    """(x+h)³ leaves 3xh + h², both sides leave h²: as long as rounding is far smaller."""
    for h in (1.0, 0.1, 0.01, 0.001):
        q = quotient(cube, 2.0, h)
        assert q.slope == 12.0
        assert q.error("forward") == pytest.approx(3 * 2 * h + h * h, rel=1e-6)
        assert q.error("central") == pytest.approx(h * h, rel=1e-6)


def test_slopes_of_the_two_curves_on_log_paper():
    errors = {
        kind: [quotient(lambda x: x.exp(), 1.0, h).error(kind) for h in (1e-1, 1e-3)] for kind in ("forward", "central")
    }
    order = {kind: math.log10(a / b) / 2 for kind, (a, b) in errors.items()}
    assert order["forward"] == pytest.approx(1, abs=0.02)
    assert order["central"] == pytest.approx(2, abs=0.02)
    assert quotient(lambda x: x.exp(), 1.0, 0.1).slope == pytest.approx(math.e, rel=1e-15)


def test_rounding_wins_for_tiny_steps():
    state = step_size(cube, x=2).figure
    best = state.best("central")
    assert 1e-6 <= best.h <= 1e-4 and best.error("central") < 1e-9
    assert quotient(cube, 2.0, 1e-13).error("central") > 1e6 * best.error("central")
    assert quotient(cube, 2.0, 1e-16).error("central") == 12.0  # 2 + h is 2: nothing was nudged
    assert state.best("forward").h < best.h
    assert len(state.steps) == len(EXPONENTS) == 65


def test_every_shown_number_is_the_float_that_python_gives():
    lesson = step_size(cube, x=2, h=1e-5)
    right, left = (2 + 1e-5) ** 3, (2 - 1e-5) ** 3
    for number in (right, left):
        assert f"{number:.15f}"[:17] in lesson.picture()
    assert "12.000000000000000" in lesson.picture()


def test_the_slider_moves_everything():
    lesson = step_size(cube, x=2)
    before = lesson.scene
    lesson.set(h=1e-13)
    assert lesson.scene["svg"] != before["svg"] and lesson.scene["say"] != before["say"]
    assert "1e−13" in lesson.picture() and lesson.scene["svg"] == lesson.picture().replace(STYLE, "")
    assert "rounding" in lesson.text().splitlines()[0]


def test_static_twin_is_the_same_twice():
    def bundle():
        data = step_size(cube, x=2)._repr_mimebundle_()
        return {kind: data[kind] for kind in ("image/svg+xml", "text/plain")}

    assert bundle() == bundle()
    assert "<title>" in bundle()["image/svg+xml"] and " 0x" not in bundle()["text/plain"]


def test_gaps_where_the_function_has_no_value():
    lesson = step_size(lambda x: x.log(), x=0.5, h=1.0)
    assert "no value" in lesson.text()
    lesson.set(h=1e-5)
    assert lesson.figure.now.slope == 2.0
    assert lesson.figure.now.central == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("nonsense, said", [
    ({"f": 3}, "needs a function"),
    ({"f": lambda x: 1}, "returned int"),
    ({"f": lambda x: x.log(), "x": -1}, "no finite value"),
    ({"f": lambda x: x / 0}, "no finite value"),
    ({"f": lambda x, y: x}, "missing 1 required positional argument"),
    ({"x": "two"}, "is no number"),
    ({"x": float("nan")}, "no finite value"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(nonsense, said):
    lesson = step_size(**nonsense)
    assert said in lesson.text()
    assert "image/svg+xml" not in lesson._repr_mimebundle_()
