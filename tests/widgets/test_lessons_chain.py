"""S3, the chain: local slopes, running products and sums over paths, against closed forms; the learner's own programs; nonsense."""

import math
import re

import pytest

from minigrad import Value
from widgets.lessons import chain


def slopes(lesson, path=0):
    return [f.slope for f in lesson.figure.paths[path].factors]


def test_the_canned_start():
    lesson = chain()
    assert slopes(lesson) == [3, 1, 10]
    assert lesson.figure.paths[0].running("from the end") == [30, 10, 10, 1]
    assert lesson.figure.paths[0].running("from the start") == [1, 3, 3, 30]
    assert lesson.figure.slope == 30


def test_sin_exp_square_is_not_the_misprint():
    x = 0.5
    lesson = chain("u = x**2; v = exp(u); y = sin(v)", x=x)
    u = x * x
    assert slopes(lesson) == pytest.approx([2 * x, math.exp(u), math.cos(math.exp(u))], rel=1e-15)
    h = 1e-5
    nudged = (math.sin(math.exp((x + h) ** 2)) - math.sin(math.exp((x - h) ** 2))) / (2 * h)
    assert lesson.figure.slope == pytest.approx(nudged, rel=1e-9) == pytest.approx(0.3632, abs=5e-5)
    assert [f.formula for f in lesson.figure.paths[0].factors] == ["2x", "exp(u)", "cos(v)"]


def test_paths_are_added():
    lesson = chain("a = x**2; b = 3*x; y = a + b", x=2)
    assert [p.product for p in lesson.figure.paths] == [4, 3]
    assert lesson.figure.slope == 7 and "1 × 4 + 1 × 3 = 7" in lesson.text()
    lesson = chain("x*x*x", x=3)
    assert sum(p.product for p in lesson.figure.paths) == lesson.figure.slope == 27
    assert len(lesson.figure.paths) == 3


def test_a_learners_function_and_its_other_inputs():
    def own(x, w, b):
        n = w * x + b
        return n.tanh()

    lesson = chain(own, x=0.5, w=2, b=-0.25)
    assert lesson.figure.slope == pytest.approx(2 * (1 - math.tanh(0.75) ** 2), rel=1e-14)
    assert [c["name"] for c in lesson.scene["controls"]] == ["direction", "x", "w", "b"]
    move(lesson, "w", -1)
    assert lesson.figure.slope == pytest.approx(-(1 - math.tanh(-0.75) ** 2), rel=1e-14)


def test_a_name_used_again_is_still_the_input():
    def deep(x):
        for _ in range(50):
            x = x.tanh()
        return x

    lesson = chain(deep, x=0.5)
    product, at = 1.0, 0.5
    for _ in range(50):
        product, at = product * (1 - math.tanh(at) ** 2), math.tanh(at)
    assert len(slopes(lesson)) == 50 and lesson.figure.slope == pytest.approx(product, rel=1e-12)
    assert "50 local slopes" in lesson.text() and "dy/dx" in lesson.text()
    assert chain(deep, x=30).figure.slope == 0 and "zero" in chain(deep, x=30).picture()


def move(lesson, name, value):
    lesson._on_message(None, {"number": 1, "set": name, "value": value}, [])


def test_the_slider_and_the_direction():
    lesson = chain()
    move(lesson, "x", 2)
    assert "= 48" in lesson.scene["say"] and lesson.figure.slope == 48
    move(lesson, "direction", 1)
    assert "3 × 1 × 16 = 48" in lesson.scene["say"]
    assert "product from the start" in lesson.scene["table"]


def test_a_place_without_a_value_keeps_the_picture():
    lesson = chain("log(x)", x=2)
    before = lesson.picture()
    move(lesson, "x", -1)
    assert lesson.picture() == before and lesson.scene["mood"] == "bad" and "finite" in lesson.scene["say"]
    move(lesson, "x", 4)
    assert lesson.figure.slope == 0.25 and lesson.scene["mood"] == ""


def test_another_program():
    lesson = chain()
    move(lesson, "f", "x*w")
    assert lesson.figure.slope == 1 and [c["name"] for c in lesson.scene["controls"]] == ["f", "direction", "x", "w"]
    move(lesson, "f", "x +")
    assert "cannot read" in lesson.scene["say"] and lesson.figure.slope == 1
    move(lesson, "f", "+".join(["x"] * 9))
    assert "too many" in lesson.scene["say"]


@pytest.mark.parametrize("f, inputs, said", [
    (7, {}, "needs a program"),
    (lambda x: 3, {}, "returned int"),
    (lambda x: x, {}, "unchanged"),
    (lambda: Value(1.0), {}, "at least one input"),
    (lambda x: x * 2, {"z": 1}, "no input z"),
    (lambda x, w: w * 2, {}, "x has no part"),
    (lambda x: 1 / 0, {}, "division by zero"),
    ("log(x - 1)", {}, "no finite value"),
    ("x*x", {"x": "one"}, "is no number"),
    ("x*x", {"direction": "sideways"}, "from the start"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(f, inputs, said):
    lesson = chain(f, **inputs)
    assert said in lesson.text() and "Traceback" not in lesson.text()


def test_the_twin():
    data = chain()._repr_mimebundle_()
    assert data["image/svg+xml"] == chain()._repr_mimebundle_()["image/svg+xml"]
    assert re.search(r"<title>At x = 1: dy/dx = 10 × 1 × 3 = 30\.</title>", data["image/svg+xml"])
    assert "product from the end" in data["text/plain"]
