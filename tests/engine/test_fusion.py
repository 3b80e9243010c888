"""minigrad.compile: what it fuses agrees with the plain function, what it cannot fuse it says and runs."""

import itertools
import sys
import threading
import warnings

import numpy as np
import pytest

import minigrad as torch

pytest.importorskip("numba")


def smooth(x, y):
    h = torch.tanh(x * y + x) - torch.sigmoid(2.0 * x - y)
    return (h * h + torch.exp(-x * x) * 0.5 - y / (1.0 + h * h)) ** 3 + 1 / (x**2 + 1) - torch.sin(x) * torch.cos(y)


def kinked(x, y):
    h = torch.relu(x + y) + torch.abs(x - y)
    return (
        torch.maximum(h, x) * torch.minimum(y, 1 - x * y)
        + torch.sqrt(h + 1)
        + torch.log(h + 2.0)
        + torch.nn.functional.gelu(x)
    )


def unused(x, y):
    return -x.square().reciprocal()


def leaves(kind, shape=(7, 301), seed=0):
    rng = np.random.RandomState(seed)
    arrays = [(rng.standard_normal(shape) * 2).astype(kind) for _ in range(2)]
    return [torch.tensor(a, requires_grad=True) for a in arrays], torch.tensor(rng.standard_normal(shape).astype(kind))


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("function", [smooth, kinked, unused])
def test_agrees_with_the_plain_function(function, kind):
    fused = torch.compile(function)
    for seed in range(3):
        found = []
        for f in (function, fused):
            (x, y), g = leaves(kind, seed=seed)
            out = f(x, y)
            out.backward(g)
            found.append([out.detach().numpy(), *[np.zeros(1) if t.grad is None else t.grad.numpy() for t in (x, y)]])
        digits = 1e-12 if kind == "float64" else 3e-5
        for a, b in zip(*found, strict=True):
            assert np.abs(a - b).max() <= digits * max(1, np.abs(a).max())
    assert fused.why is None and "for i in range" in fused.source


@pytest.mark.parametrize("value", [0.0, -0.0, 1e-42, 1e-5, 20.0, -20.0, 100.0, -100.0, np.inf, -np.inf, np.nan])
def test_edges(value):
    x = torch.tensor(np.full(40, value, np.float32), requires_grad=True)
    for f in EDGES:
        plain, fused = f.__wrapped__(x), f(x)
        assert f.why is None
        a, b = (torch.autograd.grad(out.sum(), x)[0].numpy() for out in (plain, fused))
        for ours, theirs in ((plain.detach().numpy(), fused.detach().numpy()), (a, b)):
            assert np.allclose(ours, theirs, rtol=2e-6, atol=1e-37, equal_nan=True), f.__wrapped__.__code__.co_names


EDGES = [
    torch.compile(f)
    for f in (
        lambda x: torch.exp(x) * 1.0, lambda x: torch.log(x) * 1.0, lambda x: torch.tanh(x) * 1.0, lambda x: torch.relu(x) * 1.0,
        lambda x: torch.abs(x) * 1.0, lambda x: torch.sqrt(x) * 1.0,
    )
]  # fmt: skip


def test_everything_of_autograd_holds():
    fused = torch.compile(smooth)
    (x, y), _ = leaves("float64", (5,))
    second = []
    for f in (smooth, fused):
        (g,) = torch.autograd.grad(f(x, y).sum(), x, create_graph=True)
        second.append(torch.autograd.grad((g * g).sum(), y)[0].numpy())
    assert np.allclose(*second, rtol=1e-10)
    out = fused(x, y)
    with torch.no_grad():
        x.mul_(2)
        assert not fused(x, y).requires_grad
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
    tangent = torch.func.jvp(fused, (x.detach(), y.detach()), (y.detach(), x.detach()))[1]
    assert np.allclose(
        tangent.numpy(), torch.func.jvp(smooth, (x.detach(), y.detach()), (y.detach(), x.detach()))[1].numpy()
    )
    assert np.allclose(torch.vmap(fused)(x.detach(), y.detach()).numpy(), smooth(x, y).detach().numpy())


def test_what_one_call_keeps_is_not_another_s():
    """The memory of the kept values is used again, but only once no graph holds it."""
    fused = torch.compile(smooth)
    (x, y), g = leaves("float32")
    (u, v), _ = leaves("float32", seed=1)
    first, second = fused(x, y), fused(u, v)
    address = second.grad_fn._saved_kept.ctypes.data
    for plain, out, inputs in (
        (smooth(x, y), first, (x, y)),
        (smooth(u, v), second, (u, v)),
        (smooth(x, y), first, (x, y)),
    ):
        wanted = torch.autograd.grad(plain, inputs, g)
        found = torch.autograd.grad(out, inputs, g, retain_graph=True)
        for a, b in zip(wanted, found, strict=True):
            assert np.abs(a.numpy() - b.numpy()).max() <= 3e-5 * max(1, np.abs(a.numpy()).max())
    assert first.grad_fn._saved_kept.ctypes.data != address
    del out, second
    assert fused(u, v).grad_fn._saved_kept.ctypes.data == address


def test_threads_do_not_share_what_is_kept():
    fused = torch.compile(smooth)
    (x, y), _ = leaves("float64", (300,))
    fused(x, y)
    wrong, done = [], []

    def work(seed):
        (a, b), g = leaves("float64", (300,), seed)
        wanted = torch.autograd.grad(smooth(a, b), (a, b), g)
        for _ in range(100):
            out = fused(a, b)
            found = torch.autograd.grad(out, (a, b), g)
            if not all(
                np.allclose(u.numpy(), v.numpy(), rtol=1e-8, atol=1e-10) for u, v in zip(wanted, found, strict=True)
            ):
                wrong.append(seed)
        done.append(seed)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong and len(done) == 4


def test_only_what_the_backward_pass_needs_is_kept():
    kept = {}
    for name, f in {
        "cheap": lambda x: (x * x + 1) * x,
        "unused": lambda x: torch.exp(x) + 1.0 * torch.sin(x),
        "both": lambda x: torch.exp(x) * torch.sin(x),
    }.items():
        out = torch.compile(f)(torch.ones(5, requires_grad=True))
        kept[name] = out.grad_fn._saved_kept.shape
    assert kept == {"cheap": (0, 5), "unused": (1, 5), "both": (2, 5)}


def test_numbers_that_change_are_noticed():
    factor = 2.0

    @torch.compile
    def f(x, n):
        return x * factor + n

    x = torch.ones(3)
    assert f(x, 1).tolist() == [3, 3, 3] and f.why is None
    factor = 5.0
    assert f(x, 1).tolist() == [6, 6, 6] and f(x, 2).tolist() == [7, 7, 7] and f.why is None


TABLE = {"k": 0.0}


def test_what_changes_inside_of_what_is_read_is_noticed():
    f = torch.compile(lambda x: x * TABLE["k"])
    for k in (0.0, -0.0, 2.0):  # 0.0 == -0.0, and they are not the same
        TABLE["k"] = k
        out = f(torch.ones(2)).numpy()
        assert (out == k).all() and (np.signbit(out) == np.signbit(k)).all() and f.why is None


@pytest.mark.parametrize("loss", [lambda x: x, lambda x: (x * x).sum()])
@pytest.mark.parametrize("asked", [lambda x: x._version, lambda x: 2 if x.is_contiguous() else 3])
def test_what_no_guard_asks_for_is_never_stale(asked, loss):
    def step(x):
        return loss(x * asked(x))

    f = torch.compile(step)
    with pytest.warns(UserWarning, match="may change from call to call"):
        for x in [torch.ones(2, 2) for _ in range(4)] + [torch.ones(2, 2).add_(1), torch.ones(2, 2).T.add_(1).add_(0)]:
            assert torch.equal(f(x), step(x))


OTHER = torch.ones(3)
COUNT = itertools.count()


@pytest.mark.parametrize(
    "function, arguments, reason",
    [
        (lambda x: x if x.sum() > 0 else -x, 1, "sum is not one of the operations"),
        (lambda x: x * x[0].item(), 1, "not fused"),
        (lambda x: -x if x.max() else x, 1, "not fused"),
        (lambda x: x * OTHER, 1, "it reads OTHER, a tensor that may change"),
        (lambda x: x * next(COUNT), 1, "it reads COUNT, a count that may change"),
        (lambda x: x * torch.rand(1).item(), 1, "it reads rand, which is no operation"),
        (lambda x: x * (2 if torch.is_grad_enabled() else 3), 1, "it reads is_grad_enabled, which is no operation"),
        (lambda x: x * (2 if x.requires_grad else 3), 1, "it reads requires_grad, which is no operation"),
        (lambda x: x * x.stride()[0], 1, "it reads stride, which is no operation"),
        (lambda x: x * hash(object()), 1, "calls hash"),
        (lambda x, y: x + y, 2, "must have one shape"),
        (lambda x: torch.cumsum(x, 0), 1, "cumsum is not one of the operations"),
        (lambda x: 3, 1, "must return one tensor"),
    ],
)
def test_what_cannot_be_fused_is_said_and_runs(function, arguments, reason):
    given = [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([[1.0], [2.0]])][:arguments]
    fused = torch.compile(function)
    with pytest.warns(UserWarning, match=reason):
        out = fused(*given)
    plain = function(*given)
    same_each_time = "COUNT" not in reason and "rand" not in reason and "hash" not in reason
    assert not same_each_time or (
        out == plain if isinstance(plain, int) else np.array_equal(out.numpy(), plain.numpy())
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        fused(*given)


def test_writing_ends_the_trace():
    def f(x):
        y = x * 2
        y += 1
        return y

    with pytest.warns(UserWarning, match="not fused"):
        assert torch.compile(f)(torch.ones(2)).tolist() == [3, 3]
