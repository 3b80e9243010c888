"""The compiled optimiser steps against their numpy twins: equal to the last bit, for every combination of options."""

import copy
import itertools
import weakref

import numpy as np
import pytest

import minigrad as torch
from minigrad.kernels import optimizers as kernels

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def unchanged(monkeypatch):
    monkeypatch.setattr(kernels, "_compiled", None)
    monkeypatch.setattr(kernels, "PATIENCE", float("inf"))


def both(run, arrays):
    """The arrays after twenty steps of the numpy twin and of the compiled kernel."""
    found = []
    for compiled in (False, True):
        kernels._compiled = None
        if compiled:
            assert kernels.warm()
        mine = [None if a is None else a.copy() for a in arrays]
        rng = np.random.default_rng(1)
        for step in range(1, 21):
            g = rng.standard_normal(mine[0].shape).astype(mine[0].dtype)
            before = g.copy()
            run(mine[0], g, *mine[1:], step)
            assert np.array_equal(g, before)
        found.append(mine)
    return found


def start(dtype, count, *keep):
    rng = np.random.default_rng(0)
    p = rng.standard_normal(count).astype(dtype)
    return [p, *[np.zeros_like(p) if k else None for k in keep]]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(37,), (3, 5), ()])
def test_adam(dtype, shape):
    for amsgrad, decay, decoupled, maximize, beta1 in itertools.product((0, 1), (0, 0.1), (0, 1), (0, 1), (0.9, 0.2)):
        numbers = (0.05, beta1, 0.99, 1e-6, decay, decoupled, maximize)
        a, b = both(
            lambda p, g, m, v, top, step, n=numbers: kernels.adam(p, g, m, v, top, step, *n),
            start(dtype, shape, 1, 1, amsgrad),
        )
        assert all(x is y is None or np.array_equal(x, y) for x, y in zip(a, b, strict=True)), numbers


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(37,), (3, 5), ()])
def test_sgd(dtype, shape):
    for momentum, dampening, decay, nesterov, maximize in itertools.product(
        (0, 0.9), (0, 0.3), (0, 0.1), (0, 1), (0, 1)
    ):
        options = (0.05, momentum, dampening, decay, nesterov, maximize)
        a, b = both(lambda p, g, buffer, step, o=options: kernels.sgd(p, g, buffer, *o), start(dtype, shape, momentum))
        assert all(x is y is None or np.array_equal(x, y) for x, y in zip(a, b, strict=True)), options


def test_what_the_kernels_do_not_take_goes_to_numpy():
    assert kernels.warm()
    strided = np.ones((4, 4), np.float32)[:, ::2]
    half = np.ones(3, np.float16)
    for p in (strided, half):
        assert kernels._fast(p, p) is None
        before = p.copy()
        kernels.sgd(p, np.ones_like(p), None, 0.5, 0, 0, 0, False, False)
        assert np.array_equal(p, before - 0.5)


def test_arrays_of_another_shape_go_to_numpy_which_refuses_them():
    """p.data = something larger, for example: the compiled kernels would read and write beyond the end of the state."""
    assert kernels.warm()
    large, small = np.ones((8, 4), np.float32), np.ones(8, np.float32)
    for others in ((small, small, small, None), (large, small, large, None), (large, large, large, small)):
        assert kernels._fast(large, *others) is None
    with pytest.raises(ValueError, match="broadcast"):
        kernels.sgd(large, small, None, 0.5, 0, 0, 0, False, False)


def test_short_programs_never_load_them():
    import subprocess
    import sys

    code = """
import sys, minigrad as torch
w = torch.ones(3, requires_grad=True)
o = torch.optim.Adam([w])
for _ in range(100):
    o.zero_grad(); (w * w).sum().backward(); o.step()
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def replaces_numbers(opt, ps):
    ps[1].data = ps[1].detach() * 2


def loads_a_state(opt, ps):
    opt.load_state_dict(copy.deepcopy(opt.state_dict()))


def leaves_a_gradient_out(opt, ps):
    ps[2].grad = None


def turns_a_gradient(opt, ps):
    ps[0].grad = ps[0].grad.t().clone().t()


def forgets_a_state(opt, ps):
    opt.state[ps[0]] = {name: torch.zeros_like(x) for name, x in opt.state[ps[0]].items()}


def counts_apart(opt, ps):
    opt.state[ps[1]]["step"].fill_(1)


def changes_options(opt, ps):
    opt.param_groups[0].update(lr=torch.tensor(0.1), betas=(0.3, 0.9), weight_decay=0.1, maximize=True)


def asks_for_the_largest(opt, ps):
    opt.param_groups[0]["amsgrad"] = True
    for p in ps:
        opt.state[p].setdefault("max_exp_avg_sq", torch.zeros_like(p))


CHANGES = (replaces_numbers, loads_a_state, leaves_a_gradient_out, turns_a_gradient, forgets_a_state, counts_apart, changes_options,
           asks_for_the_largest)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_call_for_all_parameters(change, dtype, monkeypatch):
    """Equal to one call for each, whatever is changed between two steps."""
    calls, of, step_of = [], kernels.Together.of, kernels.Together.step
    monkeypatch.setattr(
        kernels.Together, "step", lambda self, *options: calls.append(step_of(self, *options)) or calls[-1]
    )

    def trained(together):
        monkeypatch.setattr(kernels.Together, "of", of if together else lambda *_: None)
        torch.manual_seed(0)
        ps = [torch.randn(size, dtype=getattr(torch, dtype)).requires_grad_() for size in ((3, 4), (5,), (), (0, 2))]
        opt = torch.optim.Adam(ps, lr=0.05)
        for step in range(9):
            for p in ps:
                p.grad = torch.randn(tuple(p.shape), dtype=p.dtype)
            if step == 4:
                change(opt, ps)
            opt.step()
        states = [x for p in ps for x in opt.state[p].values()]
        return [x.detach().numpy().copy() for x in (*ps, *states)] + [np.array([p._version for p in ps])]

    assert kernels.warm()
    alone, together = trained(False), trained(True)
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))
    assert calls.count(True) >= 3


def test_one_call_holds_no_gradient_and_no_parameter_twice():
    assert kernels.warm()
    p = torch.ones(4, requires_grad=True)
    opt = torch.optim.Adam([p], lr=0.1)
    for _ in range(3):
        p.grad = torch.ones(4)
        array = weakref.ref(p.grad.array)
        opt.step()
    p.grad = None
    assert array() is None and "_together" not in opt.__getstate__() and "_together" not in copy.deepcopy(opt).__dict__
    with pytest.warns(UserWarning, match="duplicate parameters"):
        opt = torch.optim.Adam([p, p], lr=0.1)
    for _ in range(3):
        p.grad = torch.ones(4)
        opt.step()
    assert opt.state[p]["step"].item() == 6
