"""A line that failed changes nothing for later lines: a notebook's kernel is one long process.

Every kind of failing line runs in random order, and each is followed by lines that every class writes (canaries) and by cases of the
reference, whose answers must be those that they gave before anything had failed. `make test` takes a part of the cases, a thorough run all.
"""

import random
import warnings

import numpy as np
import pytest

import minigrad as torch
import minigrad.nn.functional as F
from minigrad import nn
from minigrad.autograd import forward_ad
from minigrad.autograd.graph import save_on_cpu, saved_tensors_hooks
from minigrad.core import dispatch
from minigrad.utils.checkpoint import checkpoint

from ..thorough import part
from .reference.case import all_cases
from .reference.make import stored
from .reference.record import record

ARRAY = np.ones(2)


def leaf(*shape):
    return torch.ones(*shape or (2,), requires_grad=True)


def stop(*_):
    raise ZeroDivisionError("a mistake of one's own")


def within(context, line):
    with context:
        line()


class Wrong(torch.autograd.Function):
    """A Function whose backward pass fails."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        stop()


def failing_hook(x):
    y = x * 2
    y.register_hook(stop)
    return y


def freed():
    y = leaf().exp().sum()
    y.backward()
    y.backward()


def written():
    x = leaf()
    y = x.exp()
    y.add_(1)
    y.sum().backward()


def step():
    x = leaf()

    @torch.compile
    def f():
        x.grad = None
        x.exp().sum().backward()
        stop()

    for _ in range(4):
        try:
            f()
        except ZeroDivisionError:
            pass
    stop()


FAILING = {
    # arguments
    "array to a function": lambda: torch.add(leaf(), ARRAY),
    "array to a method in place": lambda: torch.ones(2).mul_(ARRAY),
    "array to clamp": lambda: leaf().clamp(np.array(0.0)),
    "array of texts": lambda: torch.ones(2) + np.array(["a", "b"]),
    "list for a tensor": lambda: torch.mean([1.0, 2.0]),
    "text for a tensor": lambda: torch.ones(2) * "a",
    "dict for a tensor": lambda: torch.ones(2).add({1: 2}),
    "None for a tensor": lambda: torch.maximum(leaf(), None),
    "unknown argument": lambda: torch.sum(leaf(), dimension=0),
    "unknown name": lambda: torch.fft,
    "unknown method": lambda: leaf().summe(),
    "huge number": lambda: torch.ones(2, dtype=torch.int64) + 2**80,
    "number that does not fit": lambda: torch.zeros(2, dtype=torch.uint8).fill_(300),
    # shapes and dtypes
    "shapes": lambda: leaf(2) + leaf(3),
    "product": lambda: leaf(2, 3) @ leaf(2, 3),
    "dtypes of a product": lambda: torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.float64),
    "index": lambda: leaf()[5],
    "index by a mask": lambda: leaf()[torch.tensor([True])],
    "view": lambda: leaf(2, 3).t().view(6),
    "cat": lambda: torch.cat([leaf(2, 2), leaf(3)]),
    "einsum": lambda: torch.einsum("ij,jk->il", leaf(2, 2), leaf(2, 2)),
    "layer": lambda: nn.Linear(3, 2)(leaf(2, 2)),
    "loss": lambda: F.cross_entropy(leaf(2, 3), torch.tensor([0, 5])),
    "singular": lambda: torch.linalg.inv(torch.zeros(2, 2)),
    # the graph
    "backward of a vector": lambda: leaf().backward(),
    "backward without a graph": lambda: torch.ones(()).backward(),
    "backward twice": freed,
    "written over": written,
    "write into a leaf": lambda: leaf().add_(1),
    "grad of what is not used": lambda: torch.autograd.grad(leaf().sum(), leaf()),
    "backward of one's own": lambda: Wrong.apply(leaf()).sum().backward(),
    "hook of one's own": lambda: failing_hook(leaf()).sum().backward(),
    "backward of one's own, recorded": lambda: torch.autograd.grad(Wrong.apply(leaf()).sum(), leaf(), create_graph=True),
    # contexts and transforms
    "in no_grad": lambda: within(torch.no_grad(), stop),
    "in inference_mode": lambda: within(torch.inference_mode(), stop),
    "in enable_grad": lambda: within(torch.enable_grad(), lambda: torch.ones(2) + leaf(3)),
    "in autocast": lambda: within(torch.autocast("cpu", dtype=torch.float16), lambda: leaf(2, 3) @ leaf(2, 3)),
    "in anomaly mode": lambda: within(torch.autograd.detect_anomaly(), lambda: (leaf() * 0).log().mul(0).sum().backward() or stop()),
    "in dual_level": lambda: within(forward_ad.dual_level(), lambda: forward_ad.make_dual(leaf(), leaf(3))),
    "in hooks": lambda: within(saved_tensors_hooks(stop, lambda x: x), lambda: leaf().exp()),
    "in hooks, coming back": lambda: within(saved_tensors_hooks(lambda x: x, stop), lambda: leaf().exp().sum().backward()),
    "in save_on_cpu": lambda: within(save_on_cpu(), stop),
    "in fork_rng": lambda: within(torch.random.fork_rng(), stop),
    "in the profiler": lambda: within(torch.autograd.profiler.profile(), stop),
    "in vmap": lambda: torch.vmap(stop)(leaf(2, 2)),
    "in vmap, an item": lambda: torch.vmap(lambda x: x.sum().item())(torch.ones(2, 2)),
    "in grad": lambda: torch.func.grad(stop)(leaf()),
    "in grad of a vector": lambda: torch.func.grad(lambda x: x)(torch.ones(2)),
    "in jvp": lambda: torch.func.jvp(stop, (torch.ones(2),), (torch.ones(2),)),
    "in vmap of grad": lambda: torch.vmap(torch.func.grad(stop))(torch.ones(2, 2)),
    "in jacrev": lambda: torch.func.jacrev(stop)(torch.ones(2)),
    "in functional_call": lambda: torch.func.functional_call(nn.Linear(2, 2), {"weight": leaf(3, 3)}, (leaf(),)),
    "in checkpoint": lambda: checkpoint(stop, leaf(), use_reentrant=False),
    "in the second run of checkpoint": lambda: checkpoint(lambda x: failing_hook(x).exp(), leaf(), use_reentrant=False).sum().backward(),
    "in a compiled step": step,
    "in a module's hook": lambda: nn.Linear(2, 2).register_forward_hook(stop) and None or stop(),
    "in an optimizer's closure": lambda: torch.optim.LBFGS([leaf()]).step(stop),
    "in a decorated function": lambda: torch.no_grad()(stop)(),
    "in gradcheck": lambda: torch.autograd.gradcheck(Wrong.apply, (torch.ones(2, dtype=torch.float64, requires_grad=True),)),
}  # fmt: skip


def canaries():
    """Lines that every class writes, and the state that a process starts with."""
    w = torch.ones(2)
    assert (w * ARRAY).tolist() == [1, 1] and (ARRAY + w).tolist() == [2, 2]
    assert (torch.tensor([1, 0]) == np.array([1, 1])).tolist() == [True, False]
    assert (w * 0.5 + 1 - True * 1).tolist() == [0.5, 0.5] and (2**w).tolist() == [2, 2]
    assert torch.tensor([1.0]).dtype is torch.float32 and torch.get_default_dtype() is torch.float32
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled() and not torch.is_autocast_enabled()
    assert dispatch.state.handlers == () and dispatch.state.transforms == 0 and dispatch.state.vmap is None
    assert (
        dispatch.state.running is dispatch.NOT_RUNNING
        and not dispatch.state.anomaly
        and dispatch.state.no_saved_hooks is None
    )
    x = leaf()
    (x.exp() * x).sum().backward()
    assert torch.allclose(x.grad, torch.tensor(2 * np.e, dtype=torch.float32).expand(2))
    assert torch.vmap(torch.func.grad(lambda x: (x * x).sum()))(torch.ones(2, 2)).tolist() == [[2, 2], [2, 2]]
    assert checkpoint(lambda x: x.exp(), x, use_reentrant=False).grad_fn is not None
    assert repr(torch.tensor([1.5])) == "tensor([1.5000])"


def fail(name):
    """Run a line that must fail. (Some of its warnings are beside the point.)"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception):  # noqa: B017
            FAILING[name]()


@pytest.mark.parametrize("name", FAILING)
def test_a_failed_line_leaves_everything_as_it_was(name):
    fail(name)
    canaries()


def test_all_failed_lines_one_after_the_other_leave_everything_as_it_was():
    order = list(FAILING)
    random.Random(1).shuffle(order)
    for name in order:
        fail(name)
    canaries()


def answered(case):
    torch.manual_seed(0)  # failed lines draw numbers, too
    return repr(record(torch, case))


def test_the_answers_of_the_reference_are_the_same_after_failures():
    cases, draw = all_cases(), random.Random(0)
    always = [key for key, answer in stored().items() if "error" in answer][::40]
    keys = part(cases, 250, always)
    before = {key: answered(cases[key]) for key in keys}
    draw.shuffle(keys)
    for key in keys:
        name = draw.choice(list(FAILING))
        fail(name)
        assert answered(cases[key]) == before[key], f"{cases[key]!r} after {name!r}"
    canaries()
