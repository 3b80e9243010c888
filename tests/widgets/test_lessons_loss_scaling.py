"""Loss scaling: counts against struct's own float16, limits against the format, and the learner's own gradients."""

import struct

import pytest

import minigrad as torch
from minigrad import nn
from widgets.lessons import loss_scaling
from widgets.lessons.loss_scaling import LARGE, SMALL, TINY, canned


def half(x):
    """float16 without numpy."""
    try:
        return struct.unpack("e", struct.pack("e", x))[0]
    except OverflowError:
        return float("inf")


def test_limits_are_those_of_the_format():
    assert half(TINY) == TINY and half(TINY / 2) == 0 and half(TINY * 0.51) == TINY
    assert half(LARGE) == LARGE and half(65520.0) == float("inf") and half(SMALL) == SMALL


@pytest.mark.parametrize("k", range(25))
def test_counts(k):
    gradients = [3e-10, 2e-8, 4e-8, 1e-6, 7e-5, 0.01, 1.0, 900.0]
    state = loss_scaling(gradients).figure
    held = [half(g * 2.0**k) for g in gradients]
    good = sum(abs(h / 2.0**k - g) <= 1e-3 * g for h, g in zip(held, gradients, strict=True))
    assert state.counts[k] == (held.count(0.0), held.count(float("inf")), good)


def test_the_canned_net_needs_scaling():
    lesson = loss_scaling()
    zero, many, good = lesson.figure.counts[0]
    assert zero > 50 and many == 0 and lesson.figure.counts[lesson.figure.best] == (0, 0, len(canned()))
    assert lesson.figure.counts[-1][1] > 0  # too much ruins it again
    lesson.set(doublings=10)
    assert "Loss × 1,024" in lesson.scene["say"] and ">loss × 1,024</text>" in lesson.picture()


def test_own_gradients():
    model = nn.Linear(3, 2)
    assert "run backward first" in loss_scaling(model).text()
    (model(torch.ones(1, 3)).sum() * 1e-9).backward()
    lesson = loss_scaling(model, scale=2**15)
    assert lesson.figure.counts[0][0] == 8 and lesson.figure.doublings == 15 and lesson.figure.counts[15] == (0, 0, 8)
    assert len(loss_scaling(torch.tensor([1e-9, -2.0])).figure.all) == 2


@pytest.mark.parametrize("nonsense, said", [
    ({"gradients": []}, "finite number other than 0"), ({"gradients": [0.0, float("nan")]}, "finite number"), ({"gradients": 3}, "not int"),
    ({"gradients": "abc"}, "not str"), ({"scale": 3}, "power of 2"), ({"scale": 2**30}, "power of 2"), ({"scale": 0}, "cannot draw"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(nonsense, said):
    assert said in loss_scaling(**nonsense).text()
