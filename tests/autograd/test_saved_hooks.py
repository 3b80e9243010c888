"""Hooks on saved tensors, and checkpoints made of them, take tensors whatever was written to them before they were saved."""

import pytest

import minigrad as torch
from minigrad import nn
from minigrad.autograd.graph import saved_tensors_hooks
from minigrad.utils.checkpoint import checkpoint


def mask():
    m = torch.ones(2, 2)
    m[0, 1] = 0
    return m


def frozen(make):
    layer = make()
    for p in layer.parameters():
        p.requires_grad_(False)
    return layer


def xavier():
    layer = nn.Linear(2, 2)
    nn.init.xavier_uniform_(layer.weight)
    return layer


def trained():
    layer = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(torch.ones(2, 2)).sum().backward()
    optimizer.step()
    return layer


def positions():
    table = torch.zeros(2, 2)
    table[:, 0::2] = torch.sin(torch.arange(2.0))[:, None]
    table[:, 1::2] = torch.cos(torch.arange(2.0))[:, None]
    return table


def ids():
    index = torch.zeros(2, dtype=torch.int64)
    index[0] = 1
    return index


def used(norm):
    norm(torch.randn(4, 2))
    return norm.eval()


def with_tensor(f, tensor):
    return lambda x: f(x, tensor)


WRITTEN = {
    "mask": lambda: with_tensor(lambda x, m: x * m, mask()),
    "batch": lambda: with_tensor(lambda x, b: b @ x, torch.empty(2, 2).uniform_()),
    "position table": lambda: with_tensor(lambda x, t: (x * t).exp(), positions()),
    "token ids": lambda: with_tensor(lambda x, i: x[i].tanh(), ids()),
    "frozen linear": lambda: frozen(lambda: nn.Linear(2, 2)),
    "frozen after init": lambda: frozen(xavier),
    "frozen after training": lambda: frozen(trained),
    "batch norm in eval": lambda: nn.BatchNorm1d(2).eval(),
    "trained batch norm in eval": lambda: used(nn.BatchNorm1d(2)),
}


WAYS = {
    "checkpoint": lambda f, x: checkpoint(f, x, use_reentrant=False),
    "hooks that pass through": lambda f, x: _hooked(f, x, lambda t: t, lambda t: t),
    "hooks that clone": lambda f, x: _hooked(f, x, lambda t: t.clone(), lambda t: t),
    "hooks with a tuple": lambda f, x: _hooked(f, x, lambda t: (t,), lambda t: t[0]),
}


def _hooked(f, x, pack, unpack):
    with saved_tensors_hooks(pack, unpack):
        return f(x)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WRITTEN)
def test_a_saved_tensor_that_was_written_to_before_is_no_reason_to_refuse(name, way):
    torch.manual_seed(0)
    f = WRITTEN[name]()
    x = torch.randn(2, 2, requires_grad=True)
    (expected,) = torch.autograd.grad(f(x).square().sum(), x)
    (got,) = torch.autograd.grad(WAYS[way](f, x).square().sum(), x)
    assert torch.equal(got, expected)
    twice = torch.autograd.grad(WAYS[way](f, x).square().sum(), x, create_graph=True)
    assert torch.equal(twice[0], expected)
