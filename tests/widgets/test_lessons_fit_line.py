"""fit_line: its loss is the mean of the squared misses, and it says when the slider cannot do better."""

import pytest

from widgets.lessons import fit_line
from widgets.lessons.fit_line import POINTS


def loss(w, points=POINTS):
    return sum((w * x - y) ** 2 for x, y in points) / len(points)


@pytest.mark.parametrize("w", [-1.0, 0.5, 2.0, 4.5])
def test_the_loss_is_the_mean_of_the_squared_misses(w):
    assert fit_line(w=w).figure.loss == pytest.approx(loss(w))


def test_the_best_place_of_the_slider_is_the_one_that_is_praised():
    places = [round(-1 + 0.05 * k, 2) for k in range(121)]
    praised = [w for w in places if fit_line(w=w).figure.sentence().startswith("✓")]
    assert praised == [min(places, key=loss)]


def test_own_points():
    lesson = fit_line([(1, 2), (2, 1)], w=0.8)
    assert "1.2 and 0.6" in lesson.text() and lesson.figure.loss == pytest.approx(loss(0.8, [(1, 2), (2, 1)]))


@pytest.mark.parametrize("points", [3, [1, 2], [(1, 2)], [(0, 1), (1, 2)], "ab"])
def test_nonsense_gets_a_sentence(points):
    assert "fit_line" in fit_line(points).text()
