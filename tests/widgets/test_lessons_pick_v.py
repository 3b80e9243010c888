"""Pick v: the table and the row against derivatives by hand and against central differences; sizes against plain arithmetic."""

import pytest

import minigrad as torch
from widgets.lessons import jacobian_size, pick_u, pick_v
from widgets.lessons.pick_v import MOST, canned, in_bytes


def differences(f, x, h=1e-5):
    """The Jacobian by central differences, column by column."""
    columns = []
    for j in range(len(x)):
        ends = []
        for sign in (1, -1):
            moved = [value + sign * h * (k == j) for k, value in enumerate(x)]
            ends.append(f(torch.tensor(moved, dtype=torch.float64)).reshape(-1).tolist())
        columns.append([(right - left) / (2 * h) for right, left in zip(*ends, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


def weighted(v, table):
    return [sum(w * row[j] for w, row in zip(v, table, strict=True)) for j in range(len(table[0]))]


def test_the_first_picture():
    state = pick_v().figure.core
    assert state.J == [[3, 2], [1, 2]] and state.y == [6, 8] and state.grad == [4, 4]


@pytest.mark.parametrize(
    "v, grad", [([1, 0], [3, 2]), ([0, 1], [1, 2]), ([10, 1], [31, 22]), ([0.5, 0.5], [2, 2]), ([0, 0], [0, 0])]
)
def test_v_weights_the_rows(v, grad):
    assert pick_v(v=v).figure.core.grad == grad


@pytest.mark.parametrize("f, x", [
    (lambda x: x**2, [1.0, 2.0, 3.0]), (lambda x: x.exp() * x.sum(), [0.3, -0.2, 0.5]), (lambda x: x.sum(), [1.0, 2.0]),
    (lambda x: torch.outer(x, x), [1.5, -2.0]), (lambda x: torch.softmax(x, 0), [0.1, 0.7, -0.4, 0.0]),
    (lambda x: x[0] * x[1], [2.0, 5.0, 1.0]),
])  # fmt: skip
def test_own_functions_against_central_differences(f, x):
    m = f(torch.tensor(x)).numel()
    v = [1.0, -0.5, 2.0, 0.25][:m]
    state = pick_v(f, x, v).figure.core
    table = differences(f, x)
    for row, wanted in zip(state.J, table, strict=True):
        assert row == pytest.approx(wanted, rel=1e-6, abs=1e-8)
    assert state.grad == pytest.approx(weighted(v, table), rel=1e-6, abs=1e-8)
    assert state.grad == pytest.approx(weighted(v, state.J), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("f, x", [
    (lambda x: x**2, [1.0, 2.0, 3.0]), (lambda x: x.exp() * x.sum(), [0.3, -0.2, 0.5]), (lambda x: x.sum(), [1.0, 2.0]),
    (lambda x: torch.softmax(x, 0), [0.1, 0.7, -0.4, 0.0]), (None, [2.0, 3.0]),
])  # fmt: skip
def test_u_weights_the_columns(f, x):
    u = [1.0, -0.5, 2.0, 0.25][: len(x)]
    lesson = pick_u(f, x, u)
    table = differences(f or canned(2), x)
    assert lesson.figure.core.push == pytest.approx(
        [sum(w * e for w, e in zip(u, row, strict=True)) for row in table], rel=1e-6, abs=1e-8
    )
    lesson.press(lesson.scene["presets"][1])
    assert (
        lesson.figure.core.push == pytest.approx([row[0] for row in table], rel=1e-6, abs=1e-8)
        and "column 0" in lesson.scene["say"]
    )


def test_pick_u_of_other_sizes_and_of_nonsense():
    lesson = pick_u()
    lesson.set(n=5, m=3)
    assert (
        len(lesson.scene["controls"]) == 5 + 2
        and len(lesson.figure.core.push) == 3
        and "5 forward passes" in lesson.picture()
    )
    assert "needs a function" in pick_u(3).text() and "cannot draw this" in pick_u(u=[1, 2, 3]).text()
    assert pick_u().picture() == pick_u().picture()


def test_sum_mean_and_one_entry_are_what_their_buttons_say():
    lesson = pick_v()
    for button in lesson.scene["presets"]:
        lesson.press(button)
        x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
        y = canned(2)(x)
        {"all 1": y.sum, "all 1/2": y.mean, "only y₀": lambda y=y: y[0], "only y₁": lambda y=y: y[1]}[
            button
        ]().backward()
        assert lesson.figure.core.grad == x.grad.tolist(), button
    assert "y[1].backward()" in lesson.scene["say"]


def test_sliders_of_v():
    lesson = pick_v()
    lesson.set(w0=-1.5)
    assert lesson.figure.core.grad == [-1.5 * 3 + 1, -1.5 * 2 + 2]
    assert "(−1.5)" not in lesson.scene["say"] and "−3.5" in lesson.scene["say"]


@pytest.mark.parametrize("n", range(1, MOST + 1))
@pytest.mark.parametrize("m", [1, 3, MOST])
def test_every_size_draws_and_is_right(n, m):
    lesson = pick_v()
    lesson.set(n=n)
    lesson.set(m=m)
    state = lesson.figure.core
    assert (state.n, state.m, len(lesson.scene["controls"])) == (n, m, m + 2)
    table = differences(canned(m), state.x)
    for row, wanted in zip(state.J, table, strict=True):
        assert row == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    assert f"{m} × {n} = {m * n} numbers" in lesson.picture()
    if m > 1:
        lesson.press(lesson.scene["presets"][1])
        assert "y.mean()" in lesson.scene["say"] and lesson.figure.core.grad == pytest.approx(
            [g / m for g in weighted([1.0] * m, state.J)]
        )


@pytest.mark.parametrize("nonsense, said", [
    ({"f": 3}, "needs a function"), ({"f": lambda x: x**2, "x": []}, "room for 1 to 6"), ({"f": lambda x: x, "x": [1.0] * 9}, "not for 9"),
    ({"v": [1, 2, "x"]}, "is no number"), ({"f": lambda x: x**2, "x": [1, 2], "v": [1, 2, 3]}, "Mismatch in shape"),
    ({"f": lambda x: 5, "x": [1]}, "returned int"), ({"f": lambda x: x.log(), "x": [-1.0]}, "no finite value"),
    ({"x": "ab"}, "is no number"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(nonsense, said):
    lesson = pick_v(**nonsense)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


@pytest.mark.parametrize(
    "n, m, table, row",
    [
        (1000, 1000, "4 MB", "4 kB"),
        (10**6, 10**6, "4 TB", "4 MB"),
        (10**6, 1, "4 MB", "4 MB"),
        (1, 1, "4 bytes", "4 bytes"),
    ],
)
def test_sizes(n, m, table, row):
    lesson = jacobian_size(n, m)
    text = lesson.text()
    assert f"{n * m:,} number" in text and f"{table} in float32" in text and f"{row}, in one pass" in text
    assert ("more than a laptop" in text) == (4 * n * m > 16e9)
    assert lesson.picture() == jacobian_size(n, m).picture()


def test_size_sliders():
    lesson = jacobian_size()
    lesson.set(n=1e6, m=1e6)
    assert lesson.figure.bytes == 4 * 10**12 and in_bytes(lesson.figure.bytes) == "4 TB"


@pytest.mark.parametrize("nonsense", [{"n": 0}, {"m": -3}, {"n": 10**9}, {"n": "many"}])
def test_sizes_of_nonsense(nonsense):
    assert "cannot draw this" in jacobian_size(**nonsense).text()


def test_static_twin_is_the_same_twice():
    one, two = pick_v()._repr_mimebundle_(), pick_v()._repr_mimebundle_()
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain")) and "<title>" in one["image/svg+xml"]
