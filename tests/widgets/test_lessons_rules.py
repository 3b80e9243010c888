"""The rule book: every row of both engines has a card, and each gradient on a card is what central differences say."""

import math

import pytest

import minigrad.api  # noqa: F401  the table is full once the API is there
from minigrad.core.op import TABLE
from minigrad.tracing.formulas import RULES
from widgets.lessons.rules import NUMBERS, TENSORS, _Rules, rules

KINKED = {"round", "floor", "ceil", "trunc", "remainder", "fmod", "floor_divide"}  # their steps, at the numbers below


@pytest.mark.parametrize("x", [0.55, 1.3])
@pytest.mark.parametrize("name", RULES)
def test_numbers_agree_with_differences(name, x):
    state = _Rules(name, x, 1.7, -2.0, NUMBERS)
    assert len(state.sent) == len(state.row.inputs) and all(map(state.agrees, range(len(state.sent))))
    assert "✗" not in state.svg()


@pytest.mark.parametrize("name", list(TABLE))
def test_every_row_of_the_table_has_a_card(name):
    state = _Rules(name, 0.55, 1.7, -2.0, TENSORS)
    rows = state.row.rows()
    assert len(rows) == sum(rule is not None for rule in TABLE[name].rules.values()) and all(
        rule and keeps for _, rule, keeps in rows
    )
    assert state.svg().startswith("<svg") and state.sentence() in state.text()
    if state.sent and name not in KINKED:
        assert all(map(state.agrees, range(len(state.sent)))), (state.sent, state.differences)


@pytest.mark.parametrize("name, slope", [
    ("exp", math.exp(0.5)), ("log", 2.0), ("tanh", 1 / math.cosh(0.5) ** 2), ("sigmoid", 0.25 / math.cosh(0.25) ** 2),
    ("sin", math.cos(0.5)), ("sqrt", 0.5 / math.sqrt(0.5)),
])  # fmt: skip
@pytest.mark.parametrize("engine", [NUMBERS, TENSORS])
def test_slopes_known_by_heart(name, slope, engine):
    assert _Rules(name, 0.5, 2.0, 3.0, engine).sent == pytest.approx([3 * slope], rel=1e-12)


def test_what_is_kept():
    kept = {name: rules(name, engine="tensors").figure.state.row.rows()[0][2]
            for name in ("exp", "tanh", "sigmoid", "log", "mul", "add", "sum")}  # fmt: skip
    assert kept == {
        "exp": "out",
        "tanh": "out",
        "sigmoid": "out",
        "log": "x",
        "mul": "y",
        "add": "nothing",
        "sum": "x_shape",
    }


def controls(lesson):
    return {control["name"]: control for control in lesson.scene["controls"]}


def test_menus_and_sliders():
    lesson = rules()
    lesson.set(engine="tensors")
    assert lesson.figure.state.row.name == "tanh" and "keeps out" in lesson.picture()
    lesson.set(op="matmul")
    assert list(controls(lesson)) == ["engine", "op"] and "g @ yᵀ" in lesson.picture()
    lesson.set(op="mul")
    lesson.set(x=3.0, y=2.0, g=2.0)
    assert "x receives 4, y receives 6." in lesson.scene["say"]
    lesson.set(x=-2.0)
    lesson.set(op="log")  # x comes along as far as log is defined
    assert lesson.figure.state.x == controls(lesson)["x"]["value"] == controls(lesson)["x"][
        "min"
    ] > 0 and "y" not in controls(lesson)
    lesson.set(engine="numbers")
    assert lesson.figure.state.row.name == "log" and controls(lesson)["op"]["texts"] == list(RULES)
    for name in RULES:
        lesson.set(op=name)
        assert lesson.figure.state.row.name == name == lesson.figure.op


def test_a_kink_is_called_one():
    said = "x receives 0. Differences disagree, because at a kink or an edge the rule is a convention."
    assert said in rules("relu", 0).text() and "at a kink" not in rules("relu", -1).text()


@pytest.mark.parametrize("given, said", [
    (("nope",), "there is no operation"), ((3,), "needs the name"),
    (("tanh", float("nan")), "x needs a number, not nan"), (("tanh", "a"), "is no number"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(given, said):
    assert said in rules(*given).text() and "image/svg+xml" not in rules(*given)._repr_mimebundle_()


def test_no_value_gets_a_sentence():
    assert "no finite value at x = −3" in rules("log", -3).text()
    assert (
        "knows two engines" in rules("exp", engine="jax").text()
        and "numbers have no" in rules("softmax", engine="numbers").text()
    )


def test_static_twin_is_the_same_twice():
    one, two = rules("*")._repr_mimebundle_(), rules("*")._repr_mimebundle_()
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain")) and "<title>" in one["image/svg+xml"]
