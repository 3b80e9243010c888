"""Drawn index expressions and broadcasts, in minigrad and in PyTorch (needs torch). Whole programs: tests/autograd/fuzz.py."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad

# More, for a night: MINIGRAD_FUZZ=20000 pytest tests/engine/test_drawn.py
EXAMPLES = int(os.environ.get("MINIGRAD_FUZZ", "150"))

# Index expressions: any mixture, valid or not

part = st.one_of(
    st.integers(-4, 4),
    st.builds(slice, *[st.none() | st.integers(-5, 5)] * 2, st.none() | st.integers(1, 3)),
    st.just(None),
    st.just(...),
    st.lists(st.integers(-3, 3), min_size=1, max_size=3),
    st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=1, max_size=2),
    st.lists(st.booleans(), min_size=1, max_size=4),
    st.booleans(),
)


@settings(max_examples=4 * EXAMPLES, deadline=None)
@given(
    shape=st.lists(st.integers(0, 4), max_size=4),
    parts=st.lists(part, max_size=4).filter(lambda parts: sum(p is ... for p in parts) < 2),
    alone=st.booleans(),
    write=st.sampled_from(["", "number", "tensor"]),
)
def test_live_index(shape, parts, alone, write):
    torch = pytest.importorskip("torch")

    def answer(torch):
        index = tuple(torch.tensor(p) if isinstance(p, list) else p for p in parts)
        if alone and len(index) == 1:
            index = index[0]
        x = torch.tensor(np.arange(float(np.prod(shape, dtype=int))).reshape(shape) + 1, requires_grad=True)
        v = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
        try:
            y = x * 1
            selected = y[index].numel()
            if write:
                y[index] = v if write == "tensor" else 7.0
            else:
                y = y[index]
            if not y.numel():
                return selected, list(y.shape), y.tolist()
            gradients = torch.autograd.grad(
                (y * torch.tensor(np.cos(np.arange(y.numel())).reshape(tuple(y.shape)))).sum(),
                [x, v],
                allow_unused=True,
            )
            return (
                selected,
                list(y.shape),
                y.tolist(),
                [None if g is None else np.round(g.numpy(), 9).tolist() for g in gradients],
            )
        except Exception as e:
            return type(e).__name__

    mine, theirs = answer(minigrad), answer(torch)
    if mine == "IndexError" and theirs[0] == 0:
        return  # PyTorch does not look at the numbers of an index that selects nothing
    if theirs[0] == 0:  # nor is a gradient of nothing worth a difference between None and 0
        mine, theirs = mine[:3], theirs[:3]
    assert mine == theirs


@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(
    a=st.lists(st.integers(0, 3), max_size=4),
    b=st.lists(st.integers(0, 3), max_size=4),
    operation=st.sampled_from(["add", "mul", "maximum", "sub", "atan2"]),
)
def test_live_broadcast(a, b, operation):
    torch = pytest.importorskip("torch")

    def answer(torch):
        numbers = [np.random.RandomState(1000 + k).uniform(-1, 1, tuple(shape)) for k, shape in enumerate((a, b))]
        x, y = (torch.tensor(n, requires_grad=True) for n in numbers)
        try:
            z = getattr(torch, operation)(x, y)
            gradients = torch.autograd.grad((z * z).sum(), [x, y])
            return (
                list(z.shape),
                np.round(z.detach().numpy(), 9).tolist(),
                [np.round(g.numpy(), 9).tolist() for g in gradients],
            )
        except Exception as e:
            return type(e).__name__, str(e).split("\n")[0]

    assert answer(minigrad) == answer(torch)
