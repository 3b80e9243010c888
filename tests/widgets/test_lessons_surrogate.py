"""Surrogate gradients: values and slopes against calculus, what backward returns against the engine run on a vector, and sentences."""

import math

import pytest

import minigrad as torch
from widgets.lessons import recap, surrogate
from widgets.lessons.surrogate import FUNCTIONS, H, MyReLU, StraightRound


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).double()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 - x.abs()).clamp(min=0)


def relu(x):
    return max(x, 0.0), float(x > 0)


def step(x):
    return float(round(x)), 0.0


def clamp(x):
    return min(max(x, -1.0), 1.0), float(-1 < x < 1)


@pytest.mark.parametrize("name, truth, sends", [
    ("torch.relu", relu, lambda x: float(x > 0)), ("MyReLU", relu, lambda x: float(x >= 0)), ("straight-through ReLU", relu, lambda x: 1.0),
    ("torch.round", step, lambda x: 0.0), ("straight-through round", step, lambda x: 1.0), ("clamp", clamp, lambda x: float(-1 <= x <= 1)),
])  # fmt: skip
def test_every_point_by_calculus(name, truth, sends):
    state = surrogate(name).figure.compared
    seen = 0
    for x in state.xs:
        value, true, _, _, sent = state.known[x]
        if true is not None:
            assert (value, true) == pytest.approx(truth(x), abs=1e-6), (name, x)
            seen += 1
        assert sent == sends(x), (name, x)
    assert seen >= 113


def test_all_functions_are_covered_above():
    assert set(FUNCTIONS) == {
        "torch.relu",
        "MyReLU",
        "straight-through ReLU",
        "torch.round",
        "straight-through round",
        "clamp",
    }


@pytest.mark.parametrize("f", [Spike, MyReLU, torch.tanh, lambda x: x**3 - x, lambda x: torch.sigmoid(2 * x)])
def test_what_backward_sends_is_what_it_sends_for_a_vector(f):
    state = surrogate(f, x=0.4).figure.compared
    x = torch.tensor(state.xs, dtype=torch.float64, requires_grad=True)
    (f.apply if isinstance(f, type) else f)(x).sum().backward()
    assert [state.known[at][4] for at in state.xs] == pytest.approx(x.grad.tolist(), rel=1e-12, abs=1e-15)


def test_smooth_functions_agree_with_their_slope():
    state = surrogate(torch.tanh, x=0.7).figure.compared
    assert state.agree and state.differing() == 0
    assert state.measure(0.7)[1] == pytest.approx(1 - math.tanh(0.7) ** 2, abs=1e-7) and H < 1e-5


def test_sentences():
    assert "Its slope is 0, but backward returns 1: a surrogate." in surrogate("straight-through round", 2.7).text()
    assert (
        "no slope, 0 on the left and 1 on the right; backward returns 1. That is a convention."
        in surrogate("MyReLU", 0).text()
    )
    assert "backward returns 0. That is a convention." in surrogate("torch.relu", 0).text()
    assert "the function jumps here" in surrogate("torch.round", 0.5).text()
    assert (
        "its slope is" not in surrogate("clamp", 1).text().lower()
        and "backward returns 1" in surrogate("clamp", 1).text()
    )


def test_slider_and_buttons():
    lesson = surrogate()
    lesson.set(x=-1.0)
    assert "x = −1: value 0. Its slope is 0, but backward returns 1" in lesson.scene["say"]
    lesson.set(f="torch.relu")
    assert (
        "Its slope is 0, and backward returns 0: the same" in lesson.scene["say"]
        and "backward returns: 0" in lesson.picture()
    )
    lesson.set(f="straight-through round", x=1.2)
    assert "value 1. Its slope is 0, but backward returns 1" in lesson.scene["say"]


def test_a_point_outside_of_the_domain_is_answered():
    lesson = surrogate(lambda x: x.log(), x=1.0)
    before = lesson.picture()
    lesson._on_message(None, {"set": "x", "value": -1.0, "number": 1}, [])
    assert (
        "no finite value and gradient at x = −1. The picture still shows what it showed before." in lesson.scene["say"]
    )
    assert lesson.picture() == before


def test_own_function_is_offered_beside_the_others():
    lesson = surrogate(Spike)
    names = lesson.scene["controls"][0]["texts"]
    assert names[0] == "Spike" and len(names) == len(FUNCTIONS) + 1
    assert surrogate(MyReLU).figure.f == "your MyReLU"


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g, None, 3


@pytest.mark.parametrize("f, x, said", [
    (3, 0, "needs an autograd.Function"), ("sinus", 0, "does not know 'sinus'"),
    (type("Plain", (), {}), 0, "Plain is a class without apply"),
    (Broken, 0, "returned an incorrect number of gradients"), (lambda x: 5, 0, "it returned int"), (torch.tanh, 9, "−3 to 3"),
    (lambda x: torch.stack([x, x]), 0, "a tensor of shape (2,)"), (lambda x: x.log(), -1, "no finite value"),
    (torch.tanh, "far", "is no number"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(f, x, said):
    lesson = surrogate(f, x)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


def test_static_twins_are_the_same_twice():
    for make in (surrogate, lambda: surrogate(Spike, 0.4), lambda: recap(13)):
        one, two = make()._repr_mimebundle_(), make()._repr_mimebundle_()
        assert (
            all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain"))
            and "<title>" in one["image/svg+xml"]
        )


def test_the_recap_by_hand():
    text = recap(13).text()
    assert "square at 3 gives 9 and passes 6 on" in text and "at 2.7 gives 1 and passes 0 on" in text
    assert "at 2.7 gives 3 and passes 1 on" in text
    assert "gradcheck True, gradgradcheck True; straight-through: gradcheck False" in text


def test_the_lie_is_caught():
    x = torch.tensor([0.3], dtype=torch.float64, requires_grad=True)
    assert not torch.autograd.gradcheck(StraightRound.apply, (x,), raise_exception=False)
