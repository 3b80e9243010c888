"""The card of a learner's operation: right ones pass, wrong ones are seen, and what it says is what plain arithmetic says."""

import math

import pytest

from minigrad.course.random_graphs import op_in_random_graphs
from widgets.lessons import op_card, recap
from widgets.lessons.op_card import GRAPHS, example


def logsumexp(xs, slope=lambda e, total, top: e / total):
    top = max(xs)
    es = [math.exp(x - top) for x in xs]
    return top + math.log(sum(es)), [slope(e, sum(es), e == 1) for e in es]


def gelu(x, slope=lambda below, rest: below + rest):
    below, density = 0.5 * (1 + math.erf(x / math.sqrt(2))), math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return x * below, slope(below, x * density)


def test_the_example_is_softplus():
    for x in (-30.0, -1.0, 0.0, 2.0, 30.0):
        value, slope = example(x)
        assert value == pytest.approx(math.log1p(math.exp(x)) if x < 20 else x) and slope == pytest.approx(
            1 / (1 + math.exp(-x))
        )
    lesson = op_card()
    assert (
        lesson.figure.operation.rows()[0][4]
        and lesson.figure.operation.graphs == (GRAPHS, "")
        and lesson.text().startswith("softplus")
    )
    lesson.set(x0=0.0)
    assert lesson.figure.operation.rows()[0][2] == 0.5


@pytest.mark.parametrize("f, x", [(logsumexp, [1.0, 0.0, -1.0]), (logsumexp, [2.0]), (gelu, 0.5), (gelu, -2.0)])
def test_right_rules_pass(f, x):
    lesson = op_card(f, x, latex="e^x", doc="For something.")
    assert lesson.figure.operation.sentence().startswith("✓") and all(row[4] for row in lesson.figure.operation.rows())
    assert "For something." in lesson.text() and len(lesson.scene["controls"]) == (len(x) if isinstance(x, list) else 1)


@pytest.mark.parametrize("f, slope, x", [
    (logsumexp, lambda e, total, top: 1.0, [1.0, 0.0]), (logsumexp, lambda e, total, top: e, [1.0, 0.0]),
    (logsumexp, lambda e, total, top: float(top), [1.0, 0.0]), (gelu, lambda below, rest: below, 1.0),
    (gelu, lambda below, rest: rest, 1.0), (gelu, lambda below, rest: below + 2 * rest, 1.0),
], ids=["all ones", "not normalised", "the largest only", "no product rule", "first term forgotten", "twice the density"])  # fmt: skip
def test_wrong_derivatives_are_seen(f, slope, x):
    operation = op_card(lambda at: f(at, slope), x).figure.operation
    assert not all(row[4] for row in operation.rows()) and "differences say" in operation.sentence()
    assert operation.graphs[0] < GRAPHS and "✗" in operation.text()


def test_right_here_and_wrong_elsewhere():
    """The find-the-bug of chapter 19: |x| rounded, its sign lost."""
    lesson = op_card(lambda x: (math.sqrt(x * x + 1), abs(x) / math.sqrt(x * x + 1)), name="smooth_abs")
    assert lesson.figure.operation.rows()[0][4] and "Right here, but only" in lesson.text()
    lesson.set(x0=-1.0)
    assert not lesson.figure.operation.rows()[0][4] and "The derivative by x is not" in lesson.scene["say"]


def test_random_graphs_see_every_wrong_slope():
    assert max(op_in_random_graphs(lambda x: (math.sin(x), math.cos(x)), 200, 3, True)) < 1e-6
    assert sum(e > 1e-4 for e in op_in_random_graphs(lambda x: (math.sin(x), 1.01 * math.cos(x)), 200, 3, True)) > 150
    assert max(op_in_random_graphs(lambda xs: (sum(xs), [1.0] * len(xs)), 200, 3)) < 1e-6


@pytest.mark.parametrize("nonsense, said", [
    ({"f": 3}, "needs your operation"), ({"f": lambda x: None}, "must return (value, derivative)"),
    ({"f": lambda xs: (1.0, [1.0]), "x": [1.0, 2.0]}, "2 inputs and returned 1 derivatives"),
    ({"f": lambda xs: (1.0, 2.0), "x": [1.0]}, "list of derivatives"), ({"x": []}, "room for 1 to 5"), ({"x": "a"}, "is no number"),
    ({"f": lambda x: 1 / 0}, "division by zero"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(nonsense, said):
    lesson = op_card(**nonsense)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


def test_an_operation_that_stops_somewhere():
    lesson = op_card(lambda x: (math.log(x), 1 / x) if x > -3.5 and x else (0.0, 0.0))
    assert "cannot draw this" in lesson.text()  # it stops on the curve
    lesson = op_card(lambda xs: (xs[0] * xs[1], [xs[1], xs[0]]), [2.0, 3.0])
    assert (
        "stopped in a random graph" in lesson.figure.operation.sentence() or lesson.figure.operation.graphs[0] < GRAPHS
    )


def test_static_twin_is_the_same_twice():
    one, two = op_card()._repr_mimebundle_(), op_card()._repr_mimebundle_()
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain")) and "<title>" in one["image/svg+xml"]
    assert recap(19).picture() == recap(19).picture() and "1986" in recap(19).text()
