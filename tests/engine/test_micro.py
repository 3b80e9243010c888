"""Neuron, Layer, MLP over Value: what they compute, how they are seeded, that they learn."""

import math
import random

import pytest

from minigrad.micro import MLP, Layer, Module, Neuron
from minigrad.scalar import Value


def test_a_neuron_is_a_weighted_sum_and_an_activation():
    known = {
        None: lambda v: v,
        "tanh": math.tanh,
        "sigmoid": lambda v: 1 / (1 + math.exp(-v)),
        "relu": lambda v: max(v, 0),
    }
    for nonlin, f in known.items():
        n = Neuron(3, nonlin, rng=4)
        n.b.data = 0.3
        x = [0.5, -1.0, 2.0]
        out = n(x)
        assert out.data == pytest.approx(f(0.3 + sum(w.data * v for w, v in zip(n.w, x, strict=True))), rel=1e-15)
        assert n.parameters() == [*n.w, n.b] and all(-1 <= w.data <= 1 for w in n.w)


def test_gradients_of_a_small_network_against_central_differences():
    model = MLP(2, [3, 3, 2], nonlin="tanh", rng=0)

    def loss():
        a, b = model([0.5, Value(-1.2)])
        return (a * b - 1) ** 2 + a.sigmoid()

    loss().backward()
    h = 1e-6
    for p in model.parameters():
        at = p.data
        p.data = at + h
        up = loss().data
        p.data = at - h
        down = loss().data
        p.data = at
        assert p.grad == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-8)


def test_counts_shapes_and_shown_form():
    model = MLP(2, [16, 16, 1])
    assert len(model.parameters()) == len(set(model.parameters())) == 337 and isinstance(model, Module)
    assert type(model([1, 2])) is Value and len(Layer(2, 3)([1.0, 2.0])) == 3
    assert (
        repr(MLP(1, [2, 1], nonlin="tanh"))
        == "MLP of [Layer of [TanhNeuron(1), TanhNeuron(1)], Layer of [LinearNeuron(2)]]"
    )
    assert repr(Neuron(4)) == "ReLUNeuron(4)" and repr(Neuron(4, nonlin=False)) == "LinearNeuron(4)"  # micrograd's
    assert (
        Neuron(4).nonlin is True
        and Neuron(4, nonlin=False).nonlin is False
        and MLP(1, [1]).layers[0].neurons[0].nonlin is False
    )
    assert MLP(2, [1, 1], rng=0)([1.0, 2.0]).data is not None  # a layer of one in the middle


def test_seeding():
    def weights(rng):
        return [p.data for p in MLP(2, [3, 1], rng=rng).parameters()]

    assert weights(7) == weights(7) == weights(random.Random(7)) != weights(8)
    random.seed(1)
    first = weights(None)
    random.seed(1)
    assert weights(None) == first


def test_zero_grad_and_learning():
    model = MLP(2, [8, 1], nonlin="tanh", rng=2)
    data = [([0, 0], -1), ([0, 1], 1), ([1, 0], 1), ([1, 1], -1)]
    losses = []
    for _ in range(150):
        loss = sum((model(x) - y) ** 2 for x, y in data)
        model.zero_grad()
        loss.backward()
        for p in model.parameters():
            p.data -= 0.05 * p.grad
        losses.append(loss.data)
    assert losses[-1] < 0.05 < losses[0]
    model.zero_grad()
    assert all(p.grad == 0.0 for p in model.parameters())


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match="2 weights, one for each input, but was given 3 inputs"):
        Neuron(2)([1, 2, 3])
    with pytest.raises(ValueError, match="nonlin='swish' is not known: use 'relu'"):
        Neuron(2, nonlin="swish")
    with pytest.raises(ValueError, match="number of inputs must be a whole number from 1 up, but is 0"):
        Neuron(0)
    with pytest.raises(ValueError, match="at least one layer"):
        MLP(2, [])
