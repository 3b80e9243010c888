"""The duel of two computations: what is compared, what is named, and that two views have one step."""
import pytest

import minigrad as torch
from minigrad import Value
from widgets import duel
from widgets.duel import first_difference


class WrongTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y)  # should be y ** 2


class RightTanh(WrongTanh):
    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y * y)


def program(tanh, x):
    return (tanh(x * 2) * 3).sum()


def test_a_wrong_rule_is_named():
    x = torch.tensor([0.5, -1.0], requires_grad=True)
    d = duel(program(torch.tanh, x), program(WrongTanh.apply, x), names={"x": x})
    assert d.difference is not None and d.left.trace["nodes"][d.difference.left]["op"] == "TanhBackward0"
    assert d.sentence.startswith("They part in the backward pass at") and "WrongTanhBackward" in d.sentence
    assert "Up to there they agree" in d.sentence
    assert d.left.step == d.difference.step == d.right.step


def test_a_right_rule_agrees():
    x = torch.tensor([0.5, -1.0], requires_grad=True)
    d = duel(program(torch.tanh, x), program(RightTanh.apply, x), names={"x": x})
    assert d.difference is None and d.sentence == "They agree: every value and every gradient, at every step."


def test_two_views_have_one_step():
    x = Value(2.0)
    d = duel(x * x + 1, x * x + 2, names={"x": x})
    d.left.step = 2
    assert d.right.step == 2
    d.right.step = 3
    assert d.left.step == 3


@pytest.mark.parametrize("other, sentence", [
    (lambda x: x * x + 2, "They part at x × x + 1: the first computes 5, the second 6"),
    (lambda x: (x * x).tanh(), "They part at"),
    (lambda x: x * 3 + 1, "They part at"),
    (lambda x: x * x, "The first has 3 nodes, the second 2."),
])  # fmt: skip
def test_what_differs_in_the_forward_pass(other, sentence):
    x = Value(2.0)
    d = duel(x * x + 1, other(x), names={"x": x})
    assert sentence in d.sentence


def test_different_inputs_are_named():
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 2.5], requires_grad=True)
    d = duel((x * 2).sum(), (y * 2).sum(), names={"x": x, "y": y})
    assert d.sentence == "They part at x: the first starts with [1, 2], the second [1, 2.5]."


def test_text_and_comparison_of_a_trace_with_itself():
    x = Value(2.0)
    d = duel(x * x, x * x, names={"x": x})
    assert first_difference(d.left.trace, d.left.trace) is None
    text = d._repr_mimebundle_()[0]["text/plain"]
    assert text.startswith("They agree") and text.count("x × x") >= 2
