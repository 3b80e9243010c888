"""Dual numbers and passes: tangents against forward mode on tensors, against central differences and by hand; passes against counting."""

import math

import pytest

import minigrad as torch
from widgets.lessons import dual, passes, recap


def both(x, y):
    p = x * y
    q = p.exp()
    z = q / (x + 3) - y**3
    return z


def branch(x):
    return x * x if x > 0 else -3 * x + 1


def again(x):
    for _ in range(3):
        x = (x * 1.5).sin()
    return x


def test_the_first_picture_by_hand():
    state = dual().figure
    assert [(line.name, line.value, line.tangent) for line in state.lines] == [
        ("a", 1, 1), ("b", 2, 0), ("p", 2, 2), ("s", 3, 3), ("y", 9, 18),
    ]  # fmt: skip
    assert state.grad == {"a": 18, "b": 6} and state.last == 3


@pytest.mark.parametrize("f, inputs, u", [
    (both, {"x": 0.4, "y": -0.7}, [1, 0]), (both, {"x": 0.4, "y": -0.7}, [0.3, -2]), (branch, {"x": 2.0}, [1]), (branch, {"x": -1.0}, [2]),
    (again, {"x": 0.5}, [1]), (lambda x: x.tanh() + x, {"x": 0.3}, [1]), (lambda a, b: a + 0 * b, {"a": 1.0, "b": 2.0}, [0, 1]),
])  # fmt: skip
def test_the_last_tangent_is_the_engines_jvp(f, inputs, u):
    state = dual(f, u, **inputs).figure
    at = tuple(torch.tensor(x, dtype=torch.float64) for x in inputs.values())
    y, moved = torch.func.jvp(f, at, tuple(torch.tensor(float(w), dtype=torch.float64) for w in u))
    assert state.lines[-1].value == pytest.approx(y.item(), rel=1e-12)
    assert state.tangent == pytest.approx(moved.item(), rel=1e-12, abs=1e-15)
    assert state.tangent == pytest.approx(
        sum(g * w for g, w in zip(state.grad.values(), u, strict=True)), rel=1e-12, abs=1e-15
    )


def test_every_line_against_central_differences():
    h, u = 1e-5, {"x": 0.3, "y": -2.0}
    ends = [dual(both, u, x=0.4 + s * h * u["x"], y=-0.7 + s * h * u["y"]).figure for s in (1, -1)]
    for line, right, left in zip(dual(both, u, x=0.4, y=-0.7).figure.lines, *(end.lines for end in ends), strict=True):
        assert line.tangent == pytest.approx((right.value - left.value) / (2 * h), rel=1e-7, abs=1e-8), line.name


def test_a_program_as_text():
    state = dual("q = x*y; sin(q)", [0.1, 0.2], x=2, y=3).figure
    assert state.tangent == pytest.approx(math.cos(6) * (0.1 * 3 + 0.2 * 2), rel=1e-12)


def move(lesson, name, value):
    lesson._on_message(None, {"number": 1, "set": name, "value": value}, [])


def test_buttons_step_and_aim():
    lesson = dual()
    assert "Step forward" in lesson.scene["say"] and lesson.figure.last == 3
    for step, said in enumerate(
        ("dp = b · da + a · db = 2 · 1 + 1 · 0 = 2", "ds = dp + da", "dy = 2s · ds = 6 · 3 = 18"), 1
    ):
        move(lesson, "step", step)
        assert said in lesson.scene["say"]
    assert "18 for a, 6 for b" in lesson.scene["say"]
    lesson.press("only b")
    assert lesson.figure.tangent == 6 and lesson.figure.u == {"a": 0, "b": 1}
    move(lesson, "step", 2)
    assert "2 of 3 operations have run" in lesson.scene["svg"] and "operations have run" not in lesson.picture()
    move(lesson, "a", 3)
    assert lesson.figure.lines[-1].value == 81 and lesson.figure.tangent == 2 * 9 * 3


def test_own_program_typed_in():
    lesson = dual()
    move(lesson, "step", 1)
    move(lesson, "f", "t = a**3; t*c")
    assert list(lesson.figure.inputs) == ["a", "c"] and lesson.figure.tangent == 3 and lesson.figure.step == 0
    move(lesson, "f", "t = a **")
    assert "cannot read" in lesson.scene["say"] and lesson.figure.tangent == 3


def test_a_slider_that_leads_out_of_the_domain_is_answered():
    lesson = dual(lambda x: x.log(), x=1.0)
    move(lesson, "x", -1.0)
    assert "The picture still shows" in lesson.scene["say"] and lesson.figure.inputs == {"x": 1.0}


@pytest.mark.parametrize("nonsense, said", [
    ({"f": 3}, "needs a program"), ({"f": "x**"}, "cannot read"), ({"f": lambda x: x.log(), "x": -1}, "no finite value"),
    ({"u": [1]}, "2, not 1"), ({"u": {"q": 1}}, "u names q"), ({"z": 1}, "no input z"), ({"f": lambda: 3}, "takes 0"),
    ({"f": lambda x: x**x.q, "x": 1}, "cannot draw this"), ({"u": ["much", 1]}, "is no number"),
    ({"f": "a+a+a+a+a+a+a+a+a+a+a+a+a+a"}, "room for 12"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(nonsense, said):
    lesson = dual(**nonsense)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


@pytest.mark.parametrize(
    "n, m, cheaper", [(3, 1000, "forward"), (124_439_808, 1, "reverse"), (5, 5, "either"), (7, 2, "reverse")]
)
def test_passes(n, m, cheaper):
    lesson = passes(n, m)
    assert lesson.figure.cheaper == cheaper and f"{m:,} × {n:,} entries" in lesson.text()
    assert lesson.picture() == passes(n, m).picture()


@pytest.mark.parametrize("n, m", [(1, 3), (3, 2), (4, 4)])
def test_passes_are_what_the_engine_needs(n, m):
    """The Jacobian built pass by pass, from both sides: as many passes as the lesson says, and the same table."""

    def f(x):
        return torch.stack([(x * (i + 1)).sin().sum() * x[0] for i in range(m)])

    x = torch.linspace(0.2, 1.0, n, dtype=torch.float64)
    columns = [torch.func.jvp(f, (x,), (torch.eye(n, dtype=torch.float64)[j],))[1] for j in range(n)]
    rows = [torch.func.vjp(f, x)[1](torch.eye(m, dtype=torch.float64)[i])[0] for i in range(m)]
    assert torch.allclose(torch.stack(columns, dim=1), torch.stack(rows))
    text = passes(n, m).text()
    assert f"forward mode {len(columns)} pass" in text and f"reverse mode {len(rows)} pass" in text


def test_presets_and_sliders_of_passes():
    lesson = passes()
    for button, (n, m) in zip(
        lesson.scene["presets"], ((3, 1000), (124_439_808, 1), (1000, 1000), (1, 1000)), strict=True
    ):
        lesson.press(button)
        assert [control["text"] for control in lesson.scene["controls"]] == [f"{n:,}", f"{m:,}"]
        assert f"J with {m:,} × {n:,} entries" in lesson.scene["say"]
    lesson._on_message(None, {"number": 1, "set": "n", "value": 4}, [])
    assert lesson.figure.n == 10 and "10 passes" in lesson.scene["say"]


@pytest.mark.parametrize("nonsense", [{"n": 0}, {"m": -3}, {"n": 10**10}, {"n": "many"}])
def test_passes_of_nonsense(nonsense):
    assert "cannot draw this" in passes(**nonsense).text()


def test_static_twins_are_the_same_twice():
    for make in (dual, passes, lambda: recap(12)):
        one, two = make()._repr_mimebundle_(), make()._repr_mimebundle_()
        assert (
            all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain"))
            and "<title>" in one["image/svg+xml"]
        )


def test_the_recap_by_hand():
    text = recap(12).text()
    assert "rows [4, 1] and [3, 2]" in text and "the column [4, 3]" in text and "the row [4, 1]" in text
