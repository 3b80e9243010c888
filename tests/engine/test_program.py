"""minigrad.compile of a step: its program does what the step does, and where it cannot it says so; never an answer of yesterday."""

import __future__

import ast
import copy
import gc
import inspect
import linecache
import math
import os
import pickle
import random
import re
import subprocess
import sys
import threading
import tracemalloc
import warnings
import weakref

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.autograd import engine
from minigrad.kernels import fused_numba
from minigrad.program import step as program_step
from minigrad.program.step import CompiledStep
from tools.benchmarks import workloads

F = nn.functional


@pytest.fixture(autouse=True)
def loops_in_python(request, monkeypatch):
    """Loops run as the Python that their text is: numba would spend minutes on them. Tests with `compiled_loops` compile them."""
    if "compiled_loops" not in request.fixturenames:
        monkeypatch.setattr(fused_numba, "build_loop", in_python)
        monkeypatch.setattr(program_step, "_loops", {})


@pytest.fixture
def compiled_loops():
    pytest.importorskip("numba")


def in_python(text, kind, arrays):
    scope = {
        name: getattr(np, name) for name in ("exp", "log", "sin", "cos", "tanh", "sqrt", "power", "abs", "inf", "nan")
    }
    scope["sigmoid"] = lambda x: 1 / (1 + np.exp(-x))
    scope["cdf"] = lambda x: np.float32(math.erf(x * math.sqrt(0.5)) + 1) / 2
    scope["gelu_derivative"] = lambda x: scope["cdf"](x) + x * np.exp(x * x * -0.5) / np.float32(math.sqrt(2 * math.pi))
    exec(text, scope)
    return scope[text[4 : text.index("(")]]


def compiled(step):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.compile(step)


def numbers(out):
    if isinstance(out, torch.Tensor):
        return out.detach().numpy().copy()
    return (
        [numbers(o) for o in (out.values() if isinstance(out, dict) else out)]
        if isinstance(out, (tuple, list, dict))
        else out
    )


def same(a, b, what):
    if isinstance(a, list):
        assert len(a) == len(b), what
        for x, y in zip(a, b, strict=True):
            same(x, y, what)
    elif isinstance(a, np.ndarray):
        assert a.shape == b.shape and a.dtype == b.dtype, what
        assert np.allclose(a, b, rtol=2e-5 if a.dtype == np.float32 else 1e-9, atol=1e-6, equal_nan=True), (what, a, b)
    else:
        assert a == b, what


def watch(leaves):
    return [
        [numbers(p) for p in leaves],
        [None if p.grad is None else numbers(p.grad) for p in leaves],
        [p._version for p in leaves],
    ]


def side_by_side(make, arguments, calls=7, change=None):
    """Run the step of make() eagerly and compiled, and compare all that can be seen after each call. Returns the compiled step."""
    torch.manual_seed(0)
    eager, ours, box = make()
    torch.manual_seed(0)
    step, theirs, other = make()
    fast = compiled(step)
    for number in range(calls):
        if change is not None:
            for place in (box, other):
                change(number, place)
        given = [arguments(np.random.RandomState(number)) for _ in range(2)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            a, b = eager(*given[0]), fast(*given[1])
        fast.warm()
        same(numbers(a), numbers(b), f"result of call {number}\n{fast.source}")
        seen = [watch([*leaves, *args]) for leaves, args in zip((ours, theirs), given, strict=True)]
        same(*seen, f"tensors after call {number}\n{fast.source}")
    return fast


def batch(rng):
    return torch.tensor(rng.randn(6, 4).astype(np.float32)), torch.tensor(rng.randint(0, 3, 6))


def network(optimizer, *layers):
    def make():
        model = nn.Sequential(*[layer() for layer in layers])
        opt = optimizer(model.parameters())

        def step(x, y):
            opt.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            return loss

        return step, [*model.parameters(), *model.buffers()], {"model": model, "opt": opt}

    return make


def tiny(optimizer):
    return network(optimizer, lambda: nn.Linear(4, 5), nn.Tanh, lambda: nn.Linear(5, 3))


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, amsgrad=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_training_step(name):
    assert side_by_side(tiny(OPTIMIZERS[name]), batch).why is None


LAYERS = {
    "relu and norm": (lambda: nn.Linear(4, 8), nn.ReLU, lambda: nn.LayerNorm(8), lambda: nn.Linear(8, 3)),
    "gelu, softmax": (lambda: nn.Linear(4, 8), nn.GELU, lambda: nn.Softmax(-1), lambda: nn.Linear(8, 3)),
    "images": (
        lambda: nn.Unflatten(1, (1, 2, 2)),
        lambda: nn.Conv2d(1, 3, 2, padding=1),
        nn.ReLU,
        lambda: nn.MaxPool2d(2),
        nn.Flatten,
    ),
    "dropout that rests": (lambda: nn.Linear(4, 3), lambda: nn.Dropout(0.5).eval()),
    "running norm that rests": (lambda: nn.Linear(4, 3), lambda: nn.BatchNorm1d(3).eval()),
    "running norm": (
        lambda: nn.Linear(4, 3),
        lambda: nn.BatchNorm1d(3),
        nn.Tanh,
        lambda: nn.BatchNorm1d(3, affine=False),
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    assert side_by_side(network(OPTIMIZERS["sgd"], *LAYERS[name]), batch).why is None


def leaf_step(body, *shapes):
    """make() of a step on leaves: body(leaves, x, y)."""

    def make():
        leaves = [torch.randn(shape).requires_grad_() for shape in shapes]
        return (lambda x, y: body(leaves, x, y)), leaves, {"leaves": leaves}

    return make


def by_hand(leaves, x, y):
    w, b = leaves
    loss = ((x @ w + b).tanh() ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in leaves:
            p -= 0.1 * p.grad
            p.grad = None
    return loss


def adds_to_old_gradients(leaves, x, y):
    loss = (x @ leaves[0]).sigmoid().sum()
    loss.backward()
    return loss


def zeros_in_place(leaves, x, y):
    if leaves[0].grad is not None:
        leaves[0].grad.zero_()
    ((x @ leaves[0]) ** 2).mean().backward()


def double(leaves, x, y):
    loss = ((x @ leaves[0]).tanh() @ leaves[1]).pow(2).mean()
    gs = torch.autograd.grad(loss, leaves, create_graph=True)
    return torch.autograd.grad(gs, leaves, [p.detach() for p in leaves])


def penalty(leaves, x, y):
    leaves[0].grad = None
    loss = (x @ leaves[0]).tanh().sum()
    (g,) = torch.autograd.grad(loss, leaves[0], create_graph=True)
    (loss + (g * g).sum()).backward()
    return {"norm": g.detach().norm(), "all": [leaves[0].grad, 3.0, None]}


def writes_inside(leaves, x, y):
    w = leaves[0]
    h = x @ w
    h = h * 2
    h[0] = 0.5
    h[:, 1] += h[:, 2]
    h.mul_(3)
    z = torch.zeros(2, 3)
    z += h[:2]
    w.grad = None
    (h.exp().mean() + z.sum()).backward()
    return h.detach(), z.detach(), w.grad


def picks(leaves, x, y):
    w, table = leaves
    w.grad = table.grad = None
    loss = (
        (F.embedding(y, table) * w[y]).sum()
        + x[torch.arange(6), y].sum() * w[[0, 2]].sum()
        + w.gather(0, y[:3].unsqueeze(0)).sum()
    )
    loss.backward()
    return loss


def on_the_input(leaves, x, y):
    (g,) = torch.autograd.grad((x.requires_grad_() @ leaves[0]).relu().sum(), x)
    x.requires_grad_(False)
    return g


def writes_to_the_input(leaves, x, y):
    with torch.no_grad():
        x += 1
        leaves[0][1:3] *= 0.9
        leaves[0].clamp_(-1, 1)
    return x.sum()


def factories(leaves, x, y):
    leaves[0].grad = None
    total = torch.zeros(())
    for i in range(3):
        total = total + (x[i] @ leaves[0] * torch.tensor([1.0, 2.0, float(i)])).sum() * i
    total.backward()
    return total, torch.eye(2), torch.full_like(x, 2.0)


def functional(leaves, x, y):
    f = lambda w: (x @ w).tanh().pow(2).sum()  # noqa: E731
    with torch.no_grad():
        w = leaves[0].detach()
        return torch.func.grad(f)(w), torch.func.vmap(torch.func.grad(lambda w, r: (r @ w).exp().sum()), (None, 0))(
            w, x
        )


def numbers_of_one(leaves, x, y):
    a, b = leaves
    a.grad = b.grad = None
    c = a * b + a.tanh() / (b.exp() + 2) - a**3
    (c.relu() + c * 0.5).backward()
    return c.detach(), a.grad


def large(leaves, x, y):
    leaves[0].grad = None
    (x.repeat(300, 1) @ leaves[0]).softmax(-1).log().mean().backward()


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


def many_rows(leaves, x, y):
    w = leaves[0]
    w.grad = None
    h = Cube.apply(x @ w)
    a, b = h.split([1, 2], 1)
    best, place = h.max(1)
    joined = torch.cat([a, b.sort(1)[0], torch.stack([best, best * 2], 1)], 1)
    total = (
        torch.einsum("ij,kj->ik", joined, joined).std()
        + joined.cumsum(0).norm()
        + h.unbind(0)[1].prod()
        + h.var(0).sum()
    )
    total = total + F.layer_norm(h, (3,)).logsumexp(1).sum() + h.topk(2)[0].sum()
    total.backward()
    return place, total.detach(), h.detach().argmax(), w.grad.t()


def sums_of_rows(leaves, x, y):
    w, b = leaves
    w.grad = b.grad = None
    h = x @ w + b
    p, q = h.softmax(1), h.log_softmax(1)
    loss = (
        F.cross_entropy(h * 2, y)
        + F.nll_loss(q, y, ignore_index=1)
        + p.mean()
        + (p * q).sum(1).mean()
        + (h.sum(0) * b).sum()
    )
    loss = loss + (h.mean(1, keepdim=True) * h).sum() + b.mean(0) + (h.sum(1, keepdim=True) * q).mean(1).sum()
    loss.backward()
    return loss, p.detach(), h.detach().sum(1), h.detach().sum(0)


def sums_of_doubles(leaves, x, y):
    w, b = leaves
    w.grad = b.grad = None
    top, total, i, j = (x.double() @ w.double()).log_softmax(-1), (x @ w).double(), x.double() * 2, y
    loss = (
        F.nll_loss(top, j, ignore_index=0)
        - (top.softmax(1) * total).sum()
        + (i.sum(0).mean() + i.sum(1).sum() * b.double().sum())
    )
    loss.backward()
    return loss


def normalised(leaves, x, y):
    """Layer, group, batch, instance and rms norm of rows, images and sequences; with weights, without, and of what needs no gradient."""
    w, b, c, d = leaves
    for p in leaves:
        p.grad = None
    h = x @ w
    loss = (
        (F.layer_norm(h, (4,), c, d, 1e-3).exp() * x).sum()
        + (F.layer_norm(h, (4,)) * h).sum()
        + F.layer_norm(x, (4,), c, b).cos().sum()
    )
    images, sequence = h.view(2, 4, 3, 1), h.reshape(2, 3, 4)
    for groups in (1, 2, 4):
        loss = (
            loss + (F.group_norm(images, groups, c, d) * images).sin().sum() + F.group_norm(h, groups, d).sum() * groups
        )
    loss = (
        loss
        + (F.batch_norm(images, None, None, c, d, True) * images.flip(0)).sum()
        + F.instance_norm(images, eps=0.1).exp().sum()
    )
    loss = (
        loss
        + (F.batch_norm(h, None, None, d, b, training=True) * x).sum()
        + (F.rms_norm(sequence, (3, 4)) * sequence.flip(1)).sum()
    )
    both = F.layer_norm(sequence, (3, 4), torch.cat([c, d, b]).view(3, 4)) * sequence.softmax(-1)
    loss = loss + both.sum((0, 1)).norm() + both.mean((1, 2)).exp().sum() + both.sum(2, keepdim=True).mean(0).sum()
    loss.backward()
    return loss, both.detach().sum(1)


def follows(leaves, x, y):
    """Running statistics that other lines read before and after they move, and some that the step makes."""
    w, mean, variance = leaves
    w.grad = None
    mean, variance, own = mean.detach(), variance.detach(), torch.zeros(3)
    h = x @ w
    a = F.batch_norm(h * 2, mean, variance, training=True) * mean + F.batch_norm(h, mean, variance.abs())
    b = F.batch_norm(a + h, mean, None, training=True, momentum=0.5) * (own + 1)
    F.batch_norm(h, own, torch.ones(3), training=True)
    loss = (b.exp() * variance).mean() + (own * h).sum() + own.sum()
    loss.backward()
    return loss, own


BODIES = {
    follows: [(4, 3), (3,), (3,)],
    normalised: [(4, 4), (4,), (4,), (4,)],
    sums_of_rows: [(4, 3), (3,)], sums_of_doubles: [(4, 3), (3,)],
    by_hand: [(4, 3), (3,)], adds_to_old_gradients: [(4, 3)], zeros_in_place: [(4, 3)], double: [(4, 3), (3, 1)], penalty: [(4, 3)],
    writes_inside: [(4, 3)], picks: [(3, 5), (3, 5)], on_the_input: [(4, 3)], writes_to_the_input: [(4, 3)], factories: [(4, 3)],
    functional: [(4, 3)], many_rows: [(4, 3)], numbers_of_one: [(), ()], large: [(4, 3)],
}  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_steps_of_all_kinds(body):
    fast = side_by_side(leaf_step(body, *BODIES[body]), batch)
    assert fast.why is None and fast.source


def half(leaves, x, y):
    w, b = leaves
    w.grad = b.grad = None
    h = (x.double() @ w.double()).relu() * 0.1 - b.double().t()
    loss = torch.where(h > 0.2, h.abs(), -0.5 * h**3).sigmoid() + (h.t() / 3).t().exp()
    (loss.sum() + loss.float().rsqrt().mean()).backward()
    return loss.detach(), w.grad


def masked(leaves, x, y):
    (w,) = leaves
    w.grad = None
    later = torch.ones(6, 6).tril() == 0
    scores = ((x @ w) @ (x @ w).t() * 0.5).masked_fill(later, float("-inf"))
    once = (x @ w).masked_fill(later[:, :3], -2).masked_fill(later[0, 1:4], torch.tensor(0.5))
    loss = (scores.softmax(-1) * scores.masked_fill(later, 0)).sum() + (once * once).mean()
    loss.backward()
    return loss, scores.detach()


def norm_of_doubles(leaves, x, y):
    scale, x, w = leaves[0].double(), x.double(), leaves[1].double()  # names that a loop over rows uses, too
    leaves[0].grad = leaves[1].grad = None
    mean = F.layer_norm(x * scale, (4,), w, w * scale.mean())
    loss = (mean * x).sum()
    loss.backward()
    return loss, mean.detach()


def rounded(leaves, x, y):
    """A sum may be added up in another order, but a line is rounded as it is written."""
    leaves[0].grad = None
    h = (x @ leaves[0] + 3e7) - 3e7
    (h.exp().sum(1) * h.sum()).mean().backward()
    return h.sum(1).detach()


LOOPED = {
    follows: [(4, 3), (3,), (3,)],
    rounded: [(4, 3)],
    normalised: [(4, 4), (4,), (4,), (4,)], norm_of_doubles: [(6, 4), (4,)],
    sums_of_rows: [(4, 3), (3,)], sums_of_doubles: [(4, 3), (3,)], by_hand: [(4, 3), (3,)], double: [(4, 3), (3, 1)],
    numbers_of_one: [(), ()], half: [(4, 3), (3, 6)], writes_inside: [(4, 3)],
}  # fmt: skip


@pytest.mark.parametrize("body", LOOPED, ids=lambda body: body.__name__)
def test_compiled_loops(body, compiled_loops):
    fast = side_by_side(leaf_step(body, *LOOPED[body]), batch)
    assert fast.why is None and "def loop1(" in fast.source and fast._programs[0].run is fast._programs[0].program.run


def test_a_loop_reads_an_old_gradient_as_it_lies(compiled_loops):
    """A compiled loop goes through memory in the order that it was compiled for."""

    def add_up(leaves, x, y):
        (w,) = leaves
        old = w.grad.clone() if w.grad is not None else torch.zeros(4, 3)
        (x @ w + old.sum()).tanh().sum().backward()
        return (w.grad * 2 - old).tanh()

    def change(number, place):
        if number == 7:
            place["leaves"][0].grad = torch.linspace(-1, 1, 12).reshape(3, 4).t()

    fast = side_by_side(leaf_step(add_up, (4, 3)), batch, 10, change)
    assert fast.why is None and "def loop1(" in fast.source


def test_a_mask_is_a_choice_in_a_loop(compiled_loops):
    fast = side_by_side(leaf_step(masked, (4, 3)), batch)
    assert fast.why is None and re.search(r"= -inf if (\w+) else v\d+.*= 0\.0 if \1 else v\d+", fast.source, re.DOTALL)
    assert len(re.findall(r"= masked_fill\d*\(", fast.source)) == 1  # the one with a tensor's number


def test_places_from_the_end_and_out_of_range(compiled_loops):
    w, g = torch.randn(5, 3, requires_grad=True), torch.randn(4, 3)
    v = torch.zeros_like(w).requires_grad_()

    def step(p, index):
        p.grad = None
        p[index].backward(g)

    fast = compiled(lambda index: step(w, index))
    for places in [[0, 1, 1, 4]] * 5 + [[-1, 0, -5, -1], [2, 2, 2, 2]]:
        fast(torch.tensor(places))
        fast.warm()
        step(v, torch.tensor(places))
        same(numbers(w.grad), numbers(v.grad), places)
    assert "outside(index)" in fast.source and "+= g[" in fast.source
    for number in (5, -6):
        with pytest.raises(IndexError, match=f"index {number} is out of bounds for dimension 0 with size 5"):
            fast(torch.tensor([0, number, 1, 1]))


def test_a_class_out_of_range_is_not_looked_up(compiled_loops):
    w = torch.randn(4, 3, requires_grad=True)

    def step(x, y):
        w.grad = None
        loss = F.cross_entropy(x @ w, y, ignore_index=-1)
        loss.backward()
        return loss

    fast, x = compiled(step), torch.randn(6, 4)
    for _ in range(5):
        fast(x, torch.tensor([0, 1, 2, 2, -1, 0]))
    fast.warm()
    assert "count += 1.0" in fast.source
    for number in (3, -2, 10**9):
        with pytest.raises(IndexError, match=f"Target {number} is out of bounds"):
            fast(x, torch.tensor([0, 1, number, 2, 1, 0]))
    ignored = torch.full((6,), -1)
    assert math.isnan(fast(x, ignored).item()) and math.isnan(step(x, ignored).item())


def test_loops_are_compiled_beside_the_program(compiled_loops, monkeypatch):
    """No call waits for numba: until a loop is compiled, its lines run one by one."""
    monkeypatch.setattr(program_step, "PATIENCE", 3)
    built, go = [], threading.Event()
    monkeypatch.setattr(
        fused_numba, "build_loop", lambda *loop: (go.wait(60), built.append(loop), in_python(*loop))[-1]
    )
    w = torch.ones(3, requires_grad=True)

    def step(x):
        w.grad = None
        ((w * x).tanh() * 2).sum().backward()
        return w.grad

    fast = compiled(step)
    for _ in range(20):
        fast(torch.ones(3))
    assert not built and "def loop1(" in fast.source
    go.set()
    fast.warm()
    assert len(built) == 1 and np.allclose(fast(torch.ones(3)).numpy(), step(torch.ones(3)).numpy())


SCHEDULERS = {
    "steps": lambda opt: torch.optim.lr_scheduler.StepLR(opt, 3, 0.5),
    "cosine": lambda opt: torch.optim.lr_scheduler.CosineAnnealingLR(opt, 5),
    "a function": lambda opt: torch.optim.lr_scheduler.LambdaLR(opt, lambda epoch: 0.9**epoch),
    "one cycle": lambda opt: torch.optim.lr_scheduler.OneCycleLR(opt, 0.5, total_steps=20),
    "a tensor": lambda opt: torch.optim.lr_scheduler.ExponentialLR(opt, 0.7),
    "warm restarts": lambda opt: torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 3),
    "one after the other": lambda opt: torch.optim.lr_scheduler.SequentialLR(
        opt, [torch.optim.lr_scheduler.ConstantLR(opt, 0.1), torch.optim.lr_scheduler.ExponentialLR(opt, 0.8)], [6]),
    "together": lambda opt: torch.optim.lr_scheduler.ChainedScheduler(
        [torch.optim.lr_scheduler.StepLR(opt, 5), torch.optim.lr_scheduler.ExponentialLR(opt, 0.8)]),
}  # fmt: skip


@pytest.mark.parametrize("inside", [True, False], ids=["inside", "outside"])
@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_scheduler_sets_the_rate_of_the_next_call(name, inside):
    def make():
        w = torch.ones(4, 3, requires_grad=True)
        opt = torch.optim.SGD([w], lr=torch.tensor(0.5) if name == "a tensor" else 0.5)
        scheduler = SCHEDULERS[name](opt)

        def step(x, y):
            opt.zero_grad()
            loss = F.cross_entropy(x @ w, y)
            loss.backward()
            opt.step()
            if inside:
                scheduler.step()
            return loss

        return step, [w], {"scheduler": scheduler, "opt": opt}

    def change(number, place):
        if number and not inside:
            place["scheduler"].step()

    fast = side_by_side(make, batch, 12, change)
    assert fast.why is None and ("scheduler.step()" in fast.source) == inside


@pytest.mark.parametrize("of", ["a result", "a number", "an argument"])
def test_a_scheduler_that_waits_for_a_plateau_reads_the_loss_of_each_call(of):
    def make():
        w = torch.ones(4, 3, requires_grad=True)
        opt = torch.optim.SGD([w], lr=0.5)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)

        def step(x, y):
            opt.zero_grad()
            loss = F.cross_entropy(x @ w, y)
            loss.backward()
            opt.step()
            scheduler.step(loss.detach() * 2 if of == "a result" else 0.5 if of == "a number" else x.sum())
            return loss

        return step, [w], {"scheduler": scheduler, "opt": opt}

    def change(number, place):
        rates.append(place["opt"].param_groups[0]["lr"])

    rates = []
    fast = side_by_side(make, batch, 14, change)
    assert fast.why is None and "scheduler.step(" in fast.source and len(set(rates)) > 2


@pytest.mark.parametrize("kind", ["StepLR", "CosineAnnealingWarmRestarts"])
def test_an_epoch_that_a_scheduler_is_given_stays(kind):
    def make():
        w = torch.ones(4, 3, requires_grad=True)
        opt = torch.optim.SGD([w], lr=0.5)
        scheduler = getattr(torch.optim.lr_scheduler, kind)(opt, 1)

        def step(x, y):
            opt.zero_grad()
            F.cross_entropy(x @ w, y).backward()
            opt.step()
            scheduler.step(1.5)

        return step, [w], {"opt": opt}

    assert "scheduler.step(1.5)" in side_by_side(make, batch).source


class Halving(torch.optim.lr_scheduler.LRScheduler):
    def step(self, epoch=None):
        self.last_epoch += 1
        for group in self.optimizer.param_groups:
            group["lr"] *= 0.5


def test_a_scheduler_with_a_step_of_its_own_runs_as_it_is():
    w = torch.ones(3, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.5)
    scheduler = Halving.__new__(Halving)
    scheduler.optimizer, scheduler.last_epoch = opt, 0

    def step(x):
        opt.zero_grad()
        (w * x).sum().backward()
        opt.step()
        scheduler.step()

    fast = compiled(step)
    for _ in range(5):
        fast(torch.ones(3))
    assert "Halving, whose step is not heard; call scheduler.step() after the step" in fast.why
    assert opt.param_groups[0]["lr"] == 0.5**6


def test_what_a_scheduler_knows_is_no_constant():
    w = torch.ones(3, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.5)
    scheduler = torch.optim.lr_scheduler.StepLR(opt, 5, 0.1)

    def step(x):
        opt.zero_grad()
        (w * x).sum().backward()
        opt.step()
        scheduler.step()
        return x * scheduler.get_last_lr()[0]

    fast = compiled(step)
    assert [round(fast(torch.ones(1)).item(), 4) for _ in range(12)] == [0.5] * 4 + [0.05] * 5 + [0.005] * 3
    assert "get_last_lr" in fast.why


LOOP = "def loop1(x, y):\n    # a comment\n    for i in range(3):\n        y[i] = tanh(x[i]) * 0.1 + sin(x[i])\n"


BUILDS = """
import sys
import numpy as np
from minigrad.kernels.fused_numba import build_loop
for text, factor in ((sys.argv[1], 0.1), (sys.argv[1].replace("a comment", "another"), 0.1), (sys.argv[1].replace("0.1", "0.2"), 0.2)):
    loop = build_loop(text, "float32", (("float32", 1, "C", False),) * 2)
    x, y = np.float32([1, 2, 3]), np.zeros(3, np.float32)
    loop(x, y)
    assert np.allclose(y, np.tanh(x) * factor + np.sin(x), rtol=1e-6)
    print(sum(loop.stats.cache_hits.values()))
"""


def test_a_compiled_loop_is_kept_on_disk(compiled_loops, tmp_path):
    """The comments in a loop make no difference, its numbers do."""

    def hits(folder):
        env = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
        return subprocess.run(
            [sys.executable, "-c", BUILDS, LOOP], env=env, capture_output=True, text=True, check=True
        ).stdout.split()

    assert hits(tmp_path) == ["0", "1", "0"] and len(list((tmp_path / "loops").glob("*.py"))) == 2
    assert hits(tmp_path) == ["1", "1", "1"]
    (tmp_path / "file").write_text("in the way")
    assert hits(tmp_path / "file") == ["0", "0", "0"]


def test_a_call_within_a_call_has_buffers_of_its_own():
    w = torch.randn(3, 3, requires_grad=True)

    def step(x):
        w.grad = None
        ((x @ w).tanh() @ w * 2).tanh().sum().backward()
        return w.grad

    fast = compiled(step)
    for _ in range(5):
        fast(torch.ones(2, 3))
    fast.warm()
    program = fast._programs[0].program
    assert "empty(" in program.source
    wanted = step(torch.ones(2, 3)).numpy()
    program.scope["free"].pop()  # another call is running
    assert np.allclose(fast(torch.ones(2, 3)).numpy(), wanted)
    program.scope["free"].append(True)
    assert np.allclose(fast(torch.ones(2, 3)).numpy(), wanted)


# What changes between calls --------------------------------------------------------------------------------------------------


def swap(place):
    w = place["leaves"][0]
    w.data = w.detach() * 2


CHANGES = {
    "captured memory": swap,
    "captured numbers": lambda place: place["leaves"][0].data.mul_(0.5),
    "what requires gradients": lambda place: place["leaves"][1].requires_grad_(not place["leaves"][1].requires_grad),
    "a gradient that is there": lambda place: setattr(place["leaves"][0], "grad", torch.ones(4, 3)),
    "a gradient that is gone": lambda place: setattr(place["leaves"][0], "grad", None),
    "the list of parameters": lambda place: place["leaves"].reverse(),
}


def sensitive(leaves, x, y):
    h = x
    for p in leaves:
        h = (h @ p).tanh() if p.shape[0] == h.shape[1] else h
    h.sum().backward()
    return h.detach()


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_around_the_step_is_noticed(name):
    def change(number, place):
        if number in (5, 6, 9):
            CHANGES[name](place)

    assert side_by_side(leaf_step(sensitive, (4, 3), (3, 4)), batch, 12, change).why is None


class Knob:
    def __init__(self):
        self.factor = 1.0


def hooked():
    layer = nn.Linear(4, 4)
    layer.register_forward_hook(lambda module, given, out: out * 3)
    return layer


REPLACED: dict = {
    "the attributes of an object": lambda knob, layer: setattr(knob, "__dict__", {"factor": 2.0}),
    "the attributes of a module": lambda knob, layer: setattr(layer, "__dict__", {**vars(hooked())}),
    "the parameters of a module": lambda knob, layer: setattr(layer, "_parameters", nn.Linear(4, 4)._parameters),
    "the hooks of a module": lambda knob, layer: setattr(layer, "_forward_hooks", hooked()._forward_hooks),
}


@pytest.mark.parametrize("name", REPLACED)
def test_what_is_replaced_as_a_whole_is_noticed(name):
    def make():
        knob, layer = Knob(), nn.Linear(4, 4)

        def step(x, y):
            layer.zero_grad()
            loss = (layer(x) * knob.factor).tanh().sum()
            loss.backward()
            return loss.detach()

        return step, [*layer.parameters()], {"knob": knob, "layer": layer}

    def change(number, place):
        if number == 6:
            torch.manual_seed(1)
            REPLACED[name](**place)

    side_by_side(make, batch, 10, change)


def test_modes_shapes_dtypes_and_numbers_are_guarded():
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)).eval()

    class Setting:
        factor = 2.0

        def __init__(self):
            self.bias = 1.0

        def twice(self, x):
            return x * self.factor + self.bias

    setting, table = Setting(), {"k": 3.0}

    def step(x, n=1):
        with torch.no_grad():
            return setting.twice(model(x) * n + table["k"])

    fast = compiled(step)

    def check(*args):
        for _ in range(4):
            torch.manual_seed(5)
            wanted = step(*args)
            torch.manual_seed(5)
            same(numbers(wanted), numbers(fast(*args)), args)

    x = torch.ones(2, 3)
    check(x)
    assert fast.source
    for args in ((torch.ones(4, 3),), (x, 2), (x, 2.0), (x, True), (torch.ones(3),), (x,)):
        check(*args)
    table["k"] = 4.0
    check(x)
    setting.bias = 5.0
    check(x)
    Setting.factor = 1.5
    check(x)
    Setting.twice = lambda self, x: x - self.bias
    check(x)
    model[0] = nn.Linear(3, 3)
    check(x)
    model.train()
    check(x)
    model.eval()
    check(x)
    model[0].register_forward_hook(lambda m, i, o: o * 2)
    check(x)
    with torch.autocast("cpu", dtype=torch.bfloat16) if hasattr(torch, "bfloat16") else torch.inference_mode():
        same(numbers(step(x)), numbers(fast(x)), "under another handler")
    assert np.allclose(torch.vmap(fast)(torch.ones(5, 2, 3)).numpy(), torch.vmap(step)(torch.ones(5, 2, 3)).numpy())


def test_a_program_that_is_called_at_once_looks_for_the_one_that_fits():
    w = torch.tensor([1.0, 2.0], requires_grad=True)

    def step(x, scale=1.0):
        w.grad = None
        (w * x.sum() * scale).sum().backward()
        return w.grad

    fast = compiled(step)
    given = [(torch.ones(2),), (torch.ones(3),), (torch.ones(2), 2.0), (torch.ones(5),)]
    for args in given[:3]:
        for _ in range(4):
            fast(*args)
        fast.warm()
        fast(*args)
    assert fast.__call__.__name__ == "run"  # the program, and no method around it
    recorded = fast._calls
    for args in [*given[:3], given[2], *given[2::-1]]:
        assert torch.equal(fast(*args).clone(), step(*args))
    assert torch.equal(fast(x=given[1][0]).clone(), step(given[1][0])) and torch.equal(
        fast(scale=2.0, x=given[0][0]), step(*given[2])
    )
    assert fast._calls == recorded
    assert torch.equal(fast(*given[3]).clone(), step(*given[3])) and fast._calls == recorded + 1
    seen = weakref.ref(fast)
    gc.disable()
    try:
        del fast
        assert seen() is None  # freed without the collector
    finally:
        gc.enable()


def test_keywords_defaults_stars_and_methods():
    w = torch.ones(3, requires_grad=True)

    def step(x, scale=1.0, *rest):
        w.grad = None
        (w * x * scale + sum(rest)).sum().backward()
        return w.grad

    class Trainer:
        def __init__(self, rate):
            self.w, self.rate = torch.ones(3, requires_grad=True), rate

        @torch.compile
        def step(self, x, factor=1.0):
            self.w.grad = None
            (self.w * x * factor).sum().backward()
            with torch.no_grad():
                self.w -= self.rate * self.w.grad
            return self.w.detach().clone()

    fast = compiled(step)
    for call in (
        lambda f: f(x=torch.ones(3)),
        lambda f: f(torch.ones(3), scale=2.0),
        lambda f: f(torch.ones(3), 3.0, torch.ones(3), 2),
    ):
        for _ in range(4):
            same(numbers(call(step)), numbers(call(fast)), "keywords")
    assert len(fast._programs) == 3 and fast.why is None
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        fast(torch.ones(3), y=1)
    one, two = Trainer(0.5), Trainer(0.25)
    for number in range(1, 7):
        assert one.step(torch.ones(3)).tolist() == [1 - 0.5 * number] * 3
        assert two.step(torch.ones(3), factor=2.0).tolist() == [1 - 0.5 * number] * 3
    assert one.step.source and two.step.source and one.step is not two.step and "def step(x_tensor" in one.step.source


def test_names_that_a_program_would_make_of_others_are_told_apart():
    w = torch.ones(3, requires_grad=True)

    def step(x, x_tensor, n):
        x.grad = w.grad = None
        (w * x * x_tensor.sum() * n).sum().backward()
        return x.grad

    fast = compiled(step)
    for number in range(6):
        one, two = torch.ones(3).requires_grad_(), torch.ones(3).requires_grad_()
        other = torch.full((2,), float(number))
        wanted, mine = numbers(step(one, other, 2.0)), numbers(w.grad)
        same([wanted, mine], [numbers(fast(x_tensor=other, n=2.0, x=two)), numbers(w.grad)], number)
    assert fast.source and fast.why is None
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        fast(one, other)


class Pickled:
    def __init__(self):
        self.w = torch.ones(3, requires_grad=True)
        self.held = torch.compile(self.plain)

    def plain(self, x):
        self.w.grad = None
        (self.w * x).sum().backward()
        return self.w.grad

    decorated = torch.compile(plain)


@torch.compile
def pickled_step(x):
    with torch.no_grad():
        return x * 2


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "deepcopy", "pickle"]
)
@pytest.mark.parametrize("calls", [0, 6])
def test_a_copy_of_a_compiled_step_compiles_anew(copied, calls):
    held = Pickled()
    fused = torch.compile(fused_function)
    for number in range(calls):
        for fast in (held.held, held.decorated, pickled_step, fused):
            fast(torch.full((3,), number + 1.0))
    # Under its name another function is found
    assert copied(pickled_step) is pickled_step and copied(fused) is not fused
    new = copied(held)
    assert (new.w is held.w) == (copied is copy.copy) and copied(new.decorated).step.__self__.w.shape == (3,)
    steps = [copied(held.held), copied(held.decorated), new.held, copied(fused)]
    del held
    for number in range(6):
        x = torch.full((3,), number + 2.0)
        assert all([fast(x).tolist() == x.tolist() for fast in steps]), number
    assert all([fast.source and fast.why is None for fast in steps])


def fused_function(x):
    return (x * x) / x


def test_a_function_that_is_no_step_and_no_loop_may_be_a_program():
    w = torch.randn(3, 2)

    def f(x):
        return (x @ w).relu().sum(1)

    fast = compiled(f)
    with pytest.warns(UserWarning, match="is not fused to one loop: mm is not one of the operations|it reads w"):
        fast(torch.ones(4, 3))
    for _ in range(4):
        same(numbers(f(torch.ones(4, 3))), numbers(fast(torch.ones(4, 3))), "a program")
    assert fast.why is None and "matmul(" in fast.source
    x = torch.ones(5, 3, requires_grad=True)
    for _ in range(3):
        assert fast(x).requires_grad
    assert "its result still has a graph" in fast.why


@pytest.mark.parametrize("call", [
    lambda: (fast := compiled(asks), fast(torch.ones(3)), fast(torch.ones(3))), lambda: compiled(lambda x: x @ x)(torch.ones(3)),
    lambda: (fast := compiled(asks), fast(x=torch.ones(3)), fast(x=torch.ones(3))), lambda: torch.compile(torch.nn.Linear(2, 1)),
])  # fmt: skip
def test_a_warning_names_the_line_that_called(call):
    with pytest.warns(UserWarning, match="as it is|not fused") as seen:
        call()
    assert [(w.filename, w.lineno) for w in seen] == [(__file__, call.__code__.co_firstlineno)]


def test_what_fails_again_and_again_is_recorded_ever_more_rarely(monkeypatch):
    recorded = []
    plain = CompiledStep._record
    monkeypatch.setattr(CompiledStep, "_record", lambda self, *args: (recorded.append(1), plain(self, *args))[1])
    fast = compiled(asks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(400):
            fast(torch.ones(3))
    assert 5 <= len(recorded) <= 12


def test_what_hangs_on_a_tensor_is_guarded():
    w = torch.ones(3, requires_grad=True)
    w.scale = 2.0

    def step(x):
        w.grad = None
        (w * x * w.scale).sum().backward()
        return w.grad

    fast = compiled(step)
    for scale in (2.0, 2.0, 2.0, 2.0, 3.0, 3.0):
        w.scale = scale
        assert fast(torch.ones(3)).tolist() == [scale] * 3
    assert fast.source


def test_errors_of_arguments_stay_errors():
    table = torch.randn(3, 2, requires_grad=True)

    def step(i):
        table.grad = None
        F.embedding(i, table).sum().backward()
        return table[i].detach()

    fast = compiled(step)
    for _ in range(5):
        fast(torch.tensor([0, 2]))
    assert fast.source
    for wrong in ([0, 3], [-1, 0]):
        with pytest.raises(IndexError, match="index out of range"):
            fast(torch.tensor(wrong))
    with pytest.raises(TypeError):
        fast()


def test_results_of_one_call_are_not_those_of_the_next():
    w = torch.ones(3, requires_grad=True)

    def step(x):
        w.grad = None
        y = (x * w).sum()
        y.backward()
        return y, w.grad, x * 2

    fast = compiled(step)
    for _ in range(4):
        fast(torch.ones(3))
    first = fast(torch.ones(3))
    before = numbers(first)
    fast(torch.full((3,), 7.0))
    same(before, numbers(first), "kept")
    assert first[1] is not w.grad and fast.source
    for other in (
        torch.ones(3, dtype=torch.float64),
        torch.ones(3, dtype=torch.int64),
        torch.ones(1),
        torch.ones(3).requires_grad_(),
    ):
        for _ in range(4):
            one, two = [torch.ones_like(other).requires_grad_(other.requires_grad) for _ in range(2)]
            same(numbers(step(one)), numbers(fast(two)), "another kind of argument")
            same(watch([one]), watch([two]), "its gradient")


def put_down(w, v, kept):
    w.grad, v.grad = v.grad, w.grad


TOUCHED = {
    "nothing": lambda w, v, out, kept: None,
    "a tensor": lambda w, v, out, kept: kept.append(w.grad),
    "a result": lambda w, v, out, kept: kept.append(out),
    "an array": lambda w, v, out, kept: kept.append(w.grad.numpy()),
    "a part of an array": lambda w, v, out, kept: kept.append(w.grad.numpy()[1:]),
    "another tensor on the array": lambda w, v, out, kept: kept.append(w.grad.detach()),
    "an attribute": lambda w, v, out, kept: setattr(w.grad, "note", 1),
    "requires": lambda w, v, out, kept: w.grad.requires_grad_(),
    "a graph": lambda w, v, out, kept: kept.append(w.grad.requires_grad_() * 2),
    "a write": lambda w, v, out, kept: w.grad.mul_(0.5),
    "another shape": lambda w, v, out, kept: w.grad.unsqueeze_(0),
    "other memory": lambda w, v, out, kept: setattr(w.grad, "data", torch.zeros(3)),
    "the memory of another": lambda w, v, out, kept: setattr(w.grad, "data", v.grad.data),
    "a hook": lambda w, v, out, kept: w.grad.requires_grad_().register_hook(lambda g: g),
    "no gradient": lambda w, v, out, kept: setattr(w, "grad", None),
    "gradients change places": lambda w, v, out, kept: put_down(w, v, kept),
    "one gradient for two": lambda w, v, out, kept: setattr(w, "grad", v.grad),
    "a gradient's gradient": lambda w, v, out, kept: setattr(w.grad, "grad", torch.ones(3)),
}


@pytest.mark.parametrize("touch", TOUCHED)
def test_memory_is_used_again_only_if_nobody_can_tell(touch):
    def make():
        w, v = torch.ones(3, requires_grad=True), torch.full((3,), 2.0, requires_grad=True)

        def step(x):
            w.grad = v.grad = None
            y = (x * w * v).tanh() * w
            y.sum().backward()
            return y.detach()

        return step, w, v, []

    def seen(w, v, out, kept):
        told = [(p.grad is None) or (numbers(p.grad), p.grad.requires_grad, p.grad._version, dict(vars(p.grad)), p.grad.is_leaf,
                                     p.grad.shape, p.grad.grad is None) for p in (w, v)]  # fmt: skip
        return str([told, numbers(out), numbers(tuple(kept)), w.grad is v.grad])

    (eager, *mine), (step, *theirs) = make(), make()
    fast = compiled(step)
    for number in range(12):
        x = torch.full((3,), number - 5.0)
        wanted, found = eager(x), fast(x)
        fast.warm()
        assert seen(*mine[:2], wanted, mine[2]) == seen(*theirs[:2], found, theirs[2]), number
        if number % 3:
            TOUCHED[touch](*mine[:2], wanted, mine[2])
            TOUCHED[touch](*theirs[:2], found, theirs[2])
        del wanted, found
    program = fast._programs[0].program
    assert (
        "spare.append" in linecache.getlines(program.run.__code__.co_filename)[-2] and len(program.scope["spare"]) == 1
    )


def test_names_of_a_learner_s_own_hide_nothing():
    p = torch.ones(3, requires_grad=True)
    opt = torch.optim.SGD([p], lr=0.5)

    def update(array, state, wrap, slice):
        opt.zero_grad()
        (p * array[slice] * wrap + state).sum().backward()
        opt.step()
        return array[:, torch.tensor([1, 0])].sum() + array[1:].sum()

    fast = compiled(update)
    for _ in range(5):
        out = fast(torch.ones(2, 3), torch.ones(3), torch.ones(3), 1)
    assert fast.source and fast.why is None and out.item() == 7 and p.tolist() == [-1.5] * 3


@pytest.mark.parametrize("size, kept", [(20, True), (200, False)])
def test_only_small_memory_is_held_between_calls(size, kept):
    w = torch.randn(size, size, requires_grad=True)

    def step(x):
        w.grad = None
        ((x @ w).tanh() * 2 @ w).tanh().sum().backward()

    fast = compiled(step)
    for _ in range(4):
        fast(torch.ones(size, size))
    assert ("buffer1 = empty(" in fast.source) == kept and ("del v" in fast.source) != kept


def peak(step):
    """By how many bytes a call of the step goes beyond what is held before it."""
    for _ in range(2):
        step()
    gc.collect()
    tracemalloc.start()
    try:
        step()
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        step()
        return tracemalloc.get_traced_memory()[1] - held
    finally:
        tracemalloc.stop()


MAKERS = workloads.small_mlp, workloads.hessian_vector_product, workloads.small_elementwise


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_program_needs_no_more_memory_than_its_step(make):
    """Its buffers, which it holds between calls, are counted, too."""
    fast = compiled(make(torch))
    for _ in range(4):
        fast()
    fast.warm()
    buffers = [a for name, a in fast.shown.scope.items() if name.startswith("buffer") and isinstance(a, np.ndarray)]
    assert sum(a.nbytes for a in buffers) + peak(fast) <= peak(make(torch)) and fast.why is None


def test_a_column_times_a_row_is_part_of_a_loop():
    def make():
        w, v = torch.ones(4, 3, requires_grad=True), torch.randn(3, 1).requires_grad_()

        def step(x, y):
            w.grad = v.grad = None
            ((x @ w).tanh() @ v).pow(2).mean().backward()

        return step, [w, v], {}

    fast = side_by_side(make, batch)
    outer = [n for n in fast.shown.pictured.became if n.op.name == "mm"][0]
    assert fast.source.count("matmul(") == 4 and any(
        name.startswith("loop") for name in fast.shown.pictured.became[outer]["backward"]
    )


@pytest.mark.parametrize("count, dtype, loops", [(300, "float32", 1), (200, "float32", 0), (300, "float64", 0)])
def test_tanh_alone_is_a_loop_where_numpy_s_is_slow(count, dtype, loops):
    """Of many float32 numbers a loop's exp, log and tanh take a third of the time of numpy's."""
    w = torch.linspace(-10, 10, count, dtype=getattr(torch, dtype))

    def step():
        with torch.no_grad():
            return w.tanh()

    fast = torch.compile(step)
    for _ in range(3):
        fast()
    fast.warm()
    assert fast.source.count("def loop") == loops, fast.source
    assert np.allclose(fast().numpy(), np.tanh(w.numpy()), rtol=3e-7, atol=0)


def test_numbers_and_arrays_of_a_loop_have_different_names():
    w = torch.tensor([-1.0, 2.0, 3.0], requires_grad=True)

    def step(x, x_, i, tanh):
        w.grad = None
        y = (x * w).relu() * x_ + i.abs() * tanh.tanh()
        (torch.where(x > x_, x, x_) * y).sum().backward()
        return y.detach(), w.grad

    fast = compiled(step)
    given = [torch.tensor(v) for v in ([1.0, 2.0, -3.0], [2.0, 1.0, 0.5], [1.0, -1.0, 3.0], [0.1, 0.2, 0.3])]
    for _ in range(5):
        fast(*given)
    fast.warm()
    same(numbers(step(*given)), numbers(fast(*given)), "names")
    assert "x__ = x" in fast.source


def test_gradients_have_memory_of_their_own():
    a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)

    def step(x):
        a.grad = b.grad = None
        seed = x * 2
        (a + b).backward(seed)
        return seed

    fast = compiled(step)
    for _ in range(5):
        seed = fast(torch.ones(3))
    memory = [seed.numpy(), a.grad.numpy(), b.grad.numpy()]
    assert fast.source and not any(np.shares_memory(x, y) for i, x in enumerate(memory) for y in memory[:i])


# What is not compiled --------------------------------------------------------------------------------------------------------

SEEN: list[float] = []
COUNT = 0
W = torch.ones(3, requires_grad=True)
HOOKED = torch.ones(3, requires_grad=True)
HOOKED.register_hook(lambda g: g * 2)
NORM = nn.BatchNorm1d(3, momentum=None)


def _loss(x):
    W.grad = None
    loss = (W * x).sum()
    loss.backward()
    return loss


def asks(x):
    return x if _loss(x) > 0 else -x


def asks_item(x):
    return _loss(x).item()


def prints(x):
    print(_loss(x))


def uses_numpy(x):
    return torch.tensor(_loss(x).detach().numpy() * 2)


def appends(x):
    SEEN.append(1)
    return _loss(x)


def counts(x):
    global COUNT
    COUNT += 1
    return _loss(x) * COUNT


def draws(x):
    return _loss(x) + torch.rand(()) + F.dropout(x).sum()


def chooses(x):
    return _loss(x).detach(), x[x > 0]


def hooks(x):
    HOOKED.grad = None
    (HOOKED * x).sum().backward()
    return HOOKED.grad


def hooks_inside(x):
    W.grad = None
    y = W * x
    y.register_hook(lambda g: g * 3)
    y.sum().backward()
    return W.grad


def norms(x):
    with torch.no_grad():
        return NORM(x.expand(4, 3) + torch.arange(4.0)[:, None])


def leaves_a_graph(x):
    torch.autograd.grad((W * x).sum(), W)
    return (W * x).sum()


def numpy_inside(x):
    return _loss(x) + np.float32(len(SEEN))


def counts_on_a_function(x):
    counts_on_a_function.calls = getattr(counts_on_a_function, "calls", 0) + 1
    return _loss(x) * counts_on_a_function.calls


class Rates(dict):
    pass


RATES, OPT = Rates(k=1.0), torch.optim.SGD([W], lr=0.1)


class OwnStep(torch.optim.SGD):
    def step(self):
        return super().step()


OWN = OwnStep([W], lr=0.0)


def reads_a_dict_of_its_own(x):
    return _loss(x) * RATES["k"]


def changes_the_rate(x):
    OPT.param_groups[0]["lr"] *= 0.5
    return _loss(x)


def has_a_step_of_its_own(x):
    loss = _loss(x)
    OWN.step()
    return loss


REASONS = {
    reads_a_dict_of_its_own: "RATES, a Rates that may change", changes_the_rate: "param_groups", has_a_step_of_its_own: "step of its own",
    asks: "line {1} of asks: the numbers of a tensor are read", asks_item: "numbers of a tensor are read (item)", prints: "print",
    uses_numpy: "numbers of a tensor are read", appends: "changes what it reads", counts: "assigns COUNT", draws: "random numbers",
    chooses: "numbers of a tensor are read", hooks: "HOOKED has hooks", hooks_inside: "register_hook", norms: "written|read",
    leaves_a_graph: "still has a graph", numpy_inside: "the module numpy", counts_on_a_function: "changes what it reads",
}  # fmt: skip


@pytest.mark.parametrize("step", REASONS, ids=lambda step: step.__name__)
def test_what_cannot_be_compiled_runs_and_says_why(step, capsys):
    fast = torch.compile(step)
    if not isinstance(fast, CompiledStep):
        fast = CompiledStep(step)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for number in range(6):
            x = torch.full((3,), number - 2.0)
            for place in (SEEN, NORM.running_mean.zero_(), NORM.running_var.fill_(1)):
                place.clear() if place is SEEN else None
            torch.manual_seed(number)
            globals()["COUNT"] = number
            counts_on_a_function.calls = number
            found = numbers(fast(x))
            SEEN.clear()
            NORM.running_mean.zero_(), NORM.running_var.fill_(1)
            torch.manual_seed(number)
            globals()["COUNT"] = number
            counts_on_a_function.calls = number
            same(numbers(step(x)), found, step.__name__)
    assert fast.source is None and fast.why.startswith(f"{step.__name__} runs as it is: ")
    pieces = REASONS[step].replace("{1}", str(step.__code__.co_firstlineno + 1)).split("|")
    assert any(piece in fast.why for piece in pieces), fast.why
    assert [str(w.message) for w in said].count(fast.why) == 1


# What is to be read ----------------------------------------------------------------------------------------------------------


def of_its_graph(fast):
    """What became of each operation of a compiled step, in order: {name of the node: (forward, backward)}."""
    found = sorted(fast.shown.pictured.became.items(), key=lambda item: item[0].number)
    return [(node.op.name, what["forward"], what["backward"]) for node, what in found]


def test_a_program_needs_no_name_of_the_engine_s_locals(monkeypatch):
    """The recorder takes the running node from `state`: with every local of the engine's loop renamed, the text is the same."""
    w = torch.ones(3, 3, requires_grad=True)

    def step(x):
        w.grad = None
        h = torch.tanh(w @ x)
        loss = (h * h).sum()
        loss.backward()
        return loss

    def source():
        fast = compiled(step)
        for _ in range(3):
            fast(torch.ones(3, 2))
        return fast.source

    before = source()
    assert all(f"going back: {line}\n" in before for line in ("h = torch.tanh(w @ x)", "loss = (h * h).sum()"))
    tree = ast.parse(inspect.getsource(engine.run_nodes))
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    assert {"node", "g", "target"} < names
    for n in ast.walk(tree):
        if isinstance(n, ast.Name) and n.id in names:
            n.id += "_renamed"
    scope = dict(vars(engine))
    flags = __future__.annotations.compiler_flag  # as in engine.py: types are not evaluated
    exec(compile(tree, engine.__file__.replace("engine.py", "renamed.py"), "exec", flags), scope)
    monkeypatch.setattr(engine, "run_nodes", scope["run_nodes"])
    assert source() == before


def test_what_became_of_each_operation():
    """Of two that look alike, too: the first tanh is one loop with what follows it, the second is behind a product."""
    w, v = torch.ones(3, requires_grad=True), torch.ones(3, 3, requires_grad=True)

    def step(x):
        w.grad = v.grad = None
        h = ((x * w).tanh() @ v).t().tanh()
        unused = h * 2  # noqa: E702, F841
        loss = (h - h.sum()).sum()
        loss.backward()
        return loss

    fast = compiled(step)
    for _ in range(3):
        fast(torch.ones(2, 3))
    assert of_its_graph(fast) == [
        ("mul", ["loop1"], ["loop3"]),
        ("tanh", ["loop1"], ["loop3"]),
        ("mm", ["matmul"], ["matmul"]),
        ("t", ["view"], ["view"]),
        ("tanh", ["loop2"], ["loop2"]),
        *[(name, ["loop2"], ["constant"]) for name in ("sum", "sub", "sum")],
    ]
    assert fast.shown.pictured.names["loss"] is fast.shown.pictured.root and fast.shown.pictured.names["w"] is w


def test_a_normalisation_is_part_of_a_loop():
    """With its three gradients, and without the statistics that no line reads."""
    x, w, b, v = [torch.randn(4, requires_grad=True) for _ in range(4)]

    def step(scale):
        x.grad = w.grad = b.grad = v.grad = None
        h = F.layer_norm(x * scale, (4,), w, b)
        loss = (F.group_norm(h.reshape(3, 4), 2, v) * h).sum()
        loss.backward()
        return loss

    fast = compiled(step)
    for _ in range(3):
        fast(torch.randn(3, 1))
    norms = [(name, *where) for name, *where in of_its_graph(fast) if "norm" in name]
    assert norms == [("native_layer_norm", ["loop1"], ["loop3"]), ("native_group_norm", ["loop2"], ["loop2"])]
    assert "norm" not in fast.source.replace("layer_norm(x * scale", "").replace("group_norm(h.", "")
    assert fast.source.count("scale_ = 1.0 / sqrt(total / 4.0 + 1e-05)") == 2  # of the learner's names none is taken
    assert re.search(r"def loop1\((.*)\)", fast.source)[1] == "x, scale, w, b, v1, v2"


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_a_line_of_an_operation_is_a_line_of_its_loop(body):
    fast = side_by_side(leaf_step(body, *BODIES[body]), batch)
    texts = {text[4 : text.index("(")]: text for text in re.split(r"\n(?=def )", fast.source)}
    for node, what in fast.shown.pictured.became.items() if fast.shown.pictured else ():
        loops = [name for name in {*what["forward"], *what["backward"]} if name.startswith("loop")]
        places = [texts[name] for name in (*loops, [*texts][-1])]
        assert all(any(line in text for text in places) for line in what["lines"]), (node, what)
        assert all(any(line in texts[name] for line in what["lines"]) for name in loops), (node, what)


def test_no_picture_of_a_graph_that_is_still_alive():
    w = torch.ones(3, requires_grad=True)

    def keeps(x):
        w.grad = None
        (g,) = torch.autograd.grad((w * x).tanh().sum(), w, create_graph=True)
        return g.detach()

    fast = compiled(keeps)
    for _ in range(3):
        fast(torch.ones(3))
    assert fast.source and fast.shown.pictured is None


def test_the_source_is_python_with_the_learner_s_names_and_lines():
    w = torch.randn(4, 3, requires_grad=True)

    def step(x, unused):
        unused * 2 + 1  # nobody reads it
        loss = (x @ w).tanh().sum()
        loss.backward()
        with torch.no_grad():
            w.sub_(0.1 * w.grad)
        w.grad = None
        return loss

    fast = compiled(step)
    for _ in range(4):
        fast(torch.ones(2, 4), torch.ones(3))
    first = step.__code__.co_firstlineno
    assert "matmul(x, w, buffer1)" in fast.source and f"# line {first + 2}: loss = (x @ w).tanh().sum()" in fast.source
    assert (
        f"# line {first + 2}, going back: loss" in fast.source
        and "unused *" not in fast.source
        and "copyto(w, " in fast.source
    )
    assert "\ndef step(x_tensor, unused_tensor):" in fast.source and fast(torch.zeros(2, 4), torch.ones(3)).item() == 0


# Random steps ----------------------------------------------------------------------------------------------------------------

KINDS = [
    "unary",
    "binary",
    "number",
    "write",
    "matmul",
    "row",
    "reduce",
    "view",
    "where",
    "pick",
    "inner",
    "norm",
    "dims",
]
MORE = [*KINDS, "mode", "double", "chain", "chain", "cat", "place", "compare", "mask", "running"]
UNARY = ["tanh", "sigmoid", "relu", "exp", "neg", "abs", "square", "sin"]


def loss_reads(value):
    return value.mean().item()


def affine(x, b, v, i):
    """Weight and bias of a norm: two leaves, one that is computed, none."""
    return [(v, v * 2), (x.mean(0), None), (None, None)][i % 3]


RANDOM_ROWS = {  # of a matrix (4, 4), a tensor that broadcasts, a vector and a number
    "norm": [
        lambda x, b, v, i: F.layer_norm(x, (4,), *affine(x, b, v, i), 0.1),
        lambda x, b, v, i: F.layer_norm(x.view(2, 2, 4), (4,), *affine(x, b, v, i), 0.1).sum(1).mean(0),
        lambda x, b, v, i: F.group_norm(x.view(2, 4, 2), 1 + i % 2, *affine(x, b, v, i), 0.1).sum((0, 2)),
        lambda x, b, v, i: (
            F.batch_norm(x.view(2, 4, 2), None, None, *affine(x, b, v, i), True, eps=0.1).mean((0, 2)) * b
        ),
        lambda x, b, v, i: F.rms_norm(x, (4,), v + 1, 0.1),
    ],
    "dims": [
        lambda x, b, v, i: (x.view(2, 2, 4) * b.mean()).softmax(-1).sum((0, 1)),
        lambda x, b, v, i: x.view(2, 2, 4).mean((1, 2), True)[0, 0],
        lambda x, b, v, i: (x.view(2, 2, 4) * b.mean()).sum((0, 1)),
        lambda x, b, v, i: x.view(2, 2, 4).log_softmax(2).mean(1).sum(0, keepdim=True)[0],
    ],
}


def random_step(seed):
    """make() of a step whose course is drawn from the seed, in the same way for both."""
    dice = random.Random(seed)
    plan = [
        (
            dice.choice(MORE if seed >= 40 else KINDS),
            dice.choice(UNARY),
            dice.randrange(9),
            dice.randrange(9),
            dice.uniform(-1, 1),
        )
        for _ in range(dice.randrange(4, 14))
    ]
    reads = seed >= 40 and dice.randrange(12) == 0  # a step that reads a number
    ending, reset, result = (
        dice.choice(["hand", "sgd", "adam", "grad", "none"]),
        dice.choice(["none", "zero", "keep"]),
        dice.randrange(3),
    )

    def make():
        leaves = [torch.randn(4, 4).requires_grad_(), torch.randn(4).requires_grad_(), torch.randn(()).requires_grad_()]
        still, running = torch.randn(4, 4), torch.zeros(4)
        optimizer = {
            "sgd": lambda: torch.optim.SGD(leaves, lr=0.01, momentum=0.5),
            "adam": lambda: torch.optim.Adam(leaves, lr=0.01),
        }
        opt = optimizer[ending]() if ending in optimizer else None

        def step(x):
            values = [x, *leaves, still]
            if reset == "none":
                for p in leaves:
                    p.grad = None
            elif reset == "zero":
                for p in leaves:
                    if p.grad is not None:
                        p.grad.zero_()
            for kind, name, i, j, number in plan:
                a, b = values[i % len(values)], values[j % len(values)]
                if kind == "unary":
                    out = getattr(a.clamp(-2, 2), name)()
                elif kind == "binary":
                    out = a * b - a if i % 2 else a / (b * b + 1)
                elif kind == "number":
                    out = number * a + 1
                elif kind == "write":
                    out = a * 1.5
                    out += b.mean()
                    if out.ndim == 2:
                        out[j % 4] = number
                elif kind == "matmul":
                    out = (a if a.ndim == 2 else still) @ leaves[0] * 0.1
                elif kind == "row":
                    out = (a + still).softmax(-1)
                elif kind == "reduce":
                    out = a.sum() if a.ndim < 2 else a.mean(0)
                elif kind == "view":
                    out = (a + still).t()[1:3].reshape(2, 4)[:, :4].mean(0)
                elif kind == "where":
                    out = torch.where(a > number, a, b)
                elif kind == "pick":
                    out = (a + still)[torch.tensor([0, 2, 2])].sum(0)
                elif kind == "mode":
                    with torch.no_grad():
                        out = (a * 2 + b).tanh() if a.ndim == b.ndim else a.exp().detach() * 0.5
                elif kind == "double":
                    out = (a.double() * number + b.mean().double()).tanh().float()
                elif kind == "chain":
                    out = ((a + leaves[2]) * 0.5 - leaves[1]).relu() * (still.t() if j % 2 else leaves[1]) + a.sigmoid()
                elif kind == "cat":
                    out = torch.cat([(a + still) * 2, still + b], j % 2).mean(j % 2)
                elif kind == "place":
                    out = (a + still) * 0.5
                    kept = out[1:3]
                    out.mul_(number).add_(b)
                    out = out * kept.sum()
                elif kind == "mask":
                    out = (a * 2).masked_fill(still > number, number) + b
                elif kind in ("norm", "dims"):
                    out = RANDOM_ROWS[kind][j % 5 if kind == "norm" else j % 4](a + still, b, leaves[1], i)
                elif kind == "running":
                    out = F.batch_norm(a + still, running, None, leaves[1], training=True, eps=0.1) + running * b
                elif kind == "compare":
                    out = torch.where((a >= b) | (a < number), a.clamp(-1, 1), (b * b + 0.1).sqrt()) * (a != b).float()
                else:
                    (g,) = torch.autograd.grad((leaves[0] * a).tanh().sum(), leaves[0], create_graph=True)
                    out = g.sum(0)
                values.append(out)
            if reads and loss_reads(values[-1]) > 0:
                values.append(values[-1] * 2)
            loss = sum(v.clamp(-3, 3).mean() for v in values[5:]) + sum((p * p).sum() for p in leaves)
            if ending == "grad":
                return torch.autograd.grad(loss, leaves)
            loss.backward()
            if ending == "hand":
                with torch.no_grad():
                    for p in leaves:
                        if p.grad is not None:
                            p -= 0.01 * p.grad
            elif opt is not None:
                opt.step()
            return [loss, values[-1].detach(), leaves[0].grad][result]

        return step, [*leaves, running], {"leaves": leaves, "opt": opt}

    def change(number, place):
        roll = random.Random(seed * 100 + number).randrange(12)
        if number > 3 and roll == 0:
            place["leaves"][1].data = place["leaves"][1].detach() + 1
        elif number > 3 and roll == 1:
            place["leaves"][2].grad = None
        elif roll == 2 and place["opt"] is not None:
            place["opt"].param_groups[0]["lr"] *= 0.5
        elif number > 3 and roll == 3 and ending != "grad":
            place["leaves"][1].requires_grad_(False)
        elif number > 3 and roll == 4:
            place["leaves"][1].requires_grad_(True)
        elif seed >= 40 and roll == 5 and place["leaves"][0].requires_grad:
            place["hook"] = place["leaves"][0].register_hook(lambda g: g * 0.5)
        elif seed >= 40 and roll == 6 and "hook" in place:
            place.pop("hook").remove()
        elif seed >= 40 and roll == 7:
            with torch.no_grad():
                place["leaves"][0].mul_(0.5)

    def arguments(rng):
        return (torch.tensor(rng.randn(*((4, 4) if rng.randint(5) else (4,))).astype(np.float32)),)

    return make, arguments, change


@pytest.mark.parametrize("block", range(5))
def test_random_steps(block):
    ran = 0
    for seed in range(block * 8, block * 8 + 8):
        make, arguments, change = random_step(seed)
        fast = side_by_side(make, arguments, 10, change)
        ran += fast.source is not None
    assert ran >= 6


if __name__ == "__main__":  # python -m tests.engine.test_program FIRST COUNT: many more of them
    fuzzed, start, count = 0, *map(int, sys.argv[1:])
    fused_numba.build_loop = in_python
    for seed in range(start, start + count):
        program_step._loops.clear()
        make, arguments, change = random_step(seed)
        try:
            fuzzed += side_by_side(make, arguments, 12, change).source is not None
        except Exception as error:
            print(seed, type(error).__name__, str(error)[:300].replace("\n", " | "), flush=True)
    print(f"{count} random steps from {start}, {fuzzed} of them compiled")
