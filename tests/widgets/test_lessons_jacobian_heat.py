"""The Jacobian heat map: tables against central differences and the formulas, bytes against arithmetic, controls, nonsense."""

import math

import pytest

import minigrad as torch
from widgets.lessons import jacobian_heat
from widgets.lessons.jacobian_heat import FUNCTIONS, MOST, inputs


def differences(f, x, h=1e-5):
    """The Jacobian by central differences, row by row."""
    columns = []
    for j in range(len(x)):
        ends = []
        for sign in (1, -1):
            moved = [value + sign * h * (k == j) for k, value in enumerate(x)]
            ends.append(f(torch.tensor(moved, dtype=torch.float64)).reshape(-1).tolist())
        columns.append([(right - left) / (2 * h) for right, left in zip(*ends, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("n", [2, 5, 9, MOST])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tables_against_differences(name, n):
    state = jacobian_heat(name, n=n).figure.state
    for row, wanted in zip(state.J, differences(FUNCTIONS[name], inputs(n)), strict=True):
        assert row == pytest.approx(wanted, rel=1e-6, abs=1e-8)
    assert state.agree and state.product == pytest.approx(state.dense, rel=1e-9, abs=1e-14)


def test_softmax_against_its_formula():
    state = jacobian_heat("softmax", [0.1, 1.2, -0.4, 0.7]).figure.state
    e = [math.exp(v) for v in state.x]
    s = [v / sum(e) for v in e]
    for i in range(4):
        assert state.J[i] == pytest.approx([s[i] * ((i == j) - s[j]) for j in range(4)])
        assert state.row_sum(i) == 0
    g = sum(a * b for a, b in zip(s, state.v, strict=True))
    assert state.product == pytest.approx([a * (v - g) for a, v in zip(s, state.v, strict=True)])


@pytest.mark.parametrize("name, full", [("softmax", 36), ("layer norm", 36), ("tanh", 6)])
def test_who_depends_on_whom(name, full):
    lesson = jacobian_heat(name)
    assert lesson.figure.state.full == full and f"{full} of the 36 entries" in lesson.text()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_memory_is_what_the_nodes_hold(name):
    """float64 has 8 bytes; softmax and tanh save their output alone, layer norm something that grows like n."""
    costs = jacobian_heat(name, n=7).figure.state.costs
    assert [n for n, _, _ in costs] == [4, 7, 16, 64, 256]
    assert all(table == 8 * n * n for n, table, _ in costs)
    slopes = {(b - costs[0][2]) / (n - costs[0][0]) for n, _, b in costs[1:]}
    assert len(slopes) == 1 and (slopes == {8.0} or name == "layer norm")
    assert name == "layer norm" or all(saved == 8 * n for n, _, saved in costs)


def test_own_function_of_any_size_and_of_one():
    lesson = jacobian_heat(lambda x: x.cumsum(0), n=5)
    assert lesson.figure.state.full == 15 and lesson.scene["controls"][0]["texts"][0] == "your function"
    lesson.set(n=10)
    assert lesson.figure.state.full == 55
    fixed = jacobian_heat(lambda x: x[:2] * x[2], [1.0, 2.0, 3.0])
    assert fixed.figure.state.J == [[3, 0, 1], [0, 3, 2]] and fixed.figure.state.costs == [
        (3, 48, fixed.figure.state.saved_bytes)
    ]
    fixed.set(f="softmax")
    assert fixed.figure.state.n == 3 and fixed.figure.state.full == 9
    assert jacobian_heat(lambda x: x * 0 + 1, n=3).figure.state.full == 0


def test_a_function_of_your_own_called_softmax_does_not_hide_the_real_one():
    def softmax(x):
        return x.exp() / x.exp().sum()

    lesson = jacobian_heat(softmax)
    assert lesson.scene["controls"][0]["texts"][:2] == ["your softmax", "softmax"]
    mine = lesson.figure.state.J
    lesson.set(f="softmax")
    for a, b in zip(mine, lesson.figure.state.J, strict=True):
        assert a == pytest.approx(b)


def test_controls():
    lesson = jacobian_heat()
    lesson.set(row=3)
    assert "Row 3 adds up to 0" in lesson.scene["say"]
    lesson.set(n=2)
    assert (
        lesson.scene["controls"][-1]["max"] == 1
        and "Row 1 adds" in lesson.scene["say"]
        and lesson.figure.state.full == 4
    )
    lesson.set(f="tanh")
    assert "tanh of 2 numbers: 2 of the 4" in lesson.scene["say"]
    lesson.set(n=MOST)
    assert "24 × 24" in lesson.picture() and "dash in a cell: negative" in lesson.picture()


def test_a_function_that_takes_one_size_only_keeps_its_picture():
    lesson = jacobian_heat(lambda x: x * torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64), n=4)
    lesson._on_message(None, {"number": 1, "set": "n", "value": 5}, [])
    assert "The picture still shows what it showed before" in lesson.scene["say"] and lesson.figure.state.n == 4
    assert [n for n, _, _ in lesson.figure.state.costs] == [4]


@pytest.mark.parametrize("arguments, said", [
    ((3,), "needs a function"), (("sofmax",), "does not know"), ((lambda x: 5,), "returned int"), ((lambda x: x.log(),), "no finite value"),
    ((None, None, 1), "room for 2 to 24 inputs"), ((None, [1.0] * 30), "room for 2 to 24"), ((lambda x: x.no_such(),), "no_such"),
    ((lambda x: torch.outer(x, x),), "room for 1 to 24 outputs"), ((None, "abc"), "is no number"), ((None, None, "many"), "many"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(arguments, said):
    lesson = jacobian_heat(*arguments)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


def test_static_twin_is_the_same_twice():
    one, two = jacobian_heat()._repr_mimebundle_(), jacobian_heat()._repr_mimebundle_()
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain")) and "<title>" in one["image/svg+xml"]
