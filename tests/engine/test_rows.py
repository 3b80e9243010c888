"""What must hold for every row of the derivatives table, whatever it computes; the rows and their samples are found, not listed.

adjoint     <u, J v> = <J^T u, v>: reverse and forward mode are one derivative; exact, so no step size hides anything
differences J v is what (f(x + h v) - f(x - h v)) / 2h says: the derivative is that of the function
graph       `create_graph=True` gives the same gradient, bit for bit, in float64 and float32
second      the gradient's own derivative, against differences of the gradient; forward over reverse agrees
kinks       at 0, -0, ties, inf and nan: both modes of the backward pass agree bit for bit
saved       writing to what a node saved is refused, writing to what it did not save is allowed
freed       nothing that a forward and backward pass made outlives it, with the garbage collector off
views       a row that says `view` returns a view, any other does not write through
"""

import gc
import weakref
from functools import cache

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import forward_ad
from minigrad.core.op import DISCRETE, ELEMENTWISE, LINEAR, TABLE

from .reference.make import not_yet
from .samples import Sample, samples

STEP = 1e-5  # for LINEAR rows 1: any step is exact, and a result in float32 has no digits to lose


def leaf(array):
    return torch.tensor(array, requires_grad=True)


def floats(outs):
    return [y for y in outs if y.dtype.is_floating_point]


def like(arrays, seed, symmetric=False):
    rng = np.random.RandomState(seed)
    drawn = [rng.uniform(0.5, 1.5, np.shape(a)) for a in arrays]
    return [(a + a.swapaxes(-1, -2)) / 2 for a in drawn] if symmetric else drawn


def inner(a, b):
    return sum(float((np.asarray(x) * np.asarray(y)).sum()) for x, y in zip(a, b, strict=True))


def values(sample: Sample, arrays) -> list[np.ndarray]:
    return [y.numpy() for y in floats(sample.call(arrays, torch.tensor))]


def gradient(sample: Sample, arrays, us, create_graph=False):
    xs = [leaf(a) for a in arrays]
    inputs = iter(xs)
    outs = [y for y in floats(sample.call(arrays, lambda _: next(inputs)))]
    roots = [(y, torch.tensor(u.astype(y.array.dtype))) for y, u in zip(outs, us, strict=True) if y.requires_grad]
    if not roots:
        return xs, [None] * len(xs)
    ys, us = zip(*roots, strict=True)
    return xs, torch.autograd.grad(ys, xs, us, create_graph=create_graph, allow_unused=True)


def filled(gs, arrays):
    return [np.zeros(np.shape(a)) if g is None else g.detach().numpy() for g, a in zip(gs, arrays, strict=True)]


def tangents(sample: Sample, arrays, vs):
    with forward_ad.dual_level():
        pairs = iter(zip(arrays, vs, strict=True))

        def dual(_):
            a, v = next(pairs)
            return forward_ad.make_dual(torch.tensor(a), torch.tensor(v))

        outs = [forward_ad.unpack_dual(y).tangent for y in floats(sample.call(arrays, dual))]
        return [None if t is None else t.numpy() for t in outs]


@cache
def differentiable(key) -> list[Sample]:
    return [sample for sample in samples()[key] if sample.differentiable() and _has_a_derivative(sample)]


def _has_a_derivative(sample: Sample) -> bool:
    xs = sample.arrays()
    if sample.row == "linalg_svd" and sample.params[0] and len({*xs[0].shape[-2:]}) > 1:
        return False  # full_matrices=True: some vectors are free to turn, and PyTorch documents that their gradients are ignored
    outs = sample.call(xs, leaf)
    if not any(y.requires_grad for y in outs) or not all(np.isfinite(y).all() for y in values(sample, xs)):
        return False
    return True


SYMMETRIC = {"linalg_cholesky_ex", "linalg_eigh"}  # defined for symmetric matrices: moved along those only
# As in PyTorch: their rules raise, and cases in tests/engine/reference hold the sentences.
NO_DERIVATIVE = {"floor_divide", "heaviside", "unique", "unique_dim", "unique_consecutive"}
DIFFERENTIABLE = [
    key
    for key, op in TABLE.items()
    if op.kind != DISCRETE and key not in NO_DERIVATIVE and any(rule is not None for rule in op.rules.values())
]
LISTED = not_yet()


def rows(check, keys):
    """The rows to run a check on. Those in reference/not_yet.txt ("rows/check row: fails") must fail: no line outlives its reason."""
    xfail = pytest.mark.xfail(strict=True, reason="reference/not_yet.txt")
    marked = [pytest.param(key, marks=[xfail] if f"rows/{check} {key}" in LISTED else []) for key in keys]
    return pytest.mark.parametrize("key", marked)


# Made by the engine itself after a write; the cases of reference/cases_inplace.py are about it
UNHEARD = {"as_strided"}


@rows("sample", [key for key in TABLE if key not in UNHEARD])
def test_has_a_sample(key):
    assert samples()[key], f"no case in tests/engine/reference runs the row '{key}': add one line to cases_*.py"
    if key in DIFFERENTIABLE:
        assert differentiable(key), f"no case runs the row '{key}' on floating-point numbers with a finite result"


@rows("adjoint", DIFFERENTIABLE)
def test_adjoint_and_differences(key):
    for sample in differentiable(key):
        xs = sample.arrays()
        us, vs = like(values(sample, xs), 1), like(xs, 2, key in SYMMETRIC)
        _, gs = gradient(sample, xs, us)
        outs = tangents(sample, xs, vs)
        pushed = [np.zeros(np.shape(u)) if t is None else t for t, u in zip(outs, us, strict=True)]
        there, back = inner(us, pushed), inner(filled(gs, xs), vs)
        exact = 1e-9 if all(y.dtype == np.float64 for y in values(sample, xs)) else 1e-6
        assert there == pytest.approx(back, rel=exact, abs=exact), (
            f"{sample.origin}: <u, Jv> = {there}, <J^T u, v> = {back}"
        )
        h = 1.0 if sample.op.kind == LINEAR else STEP
        up, down = (values(sample, [x + s * h * v for x, v in zip(xs, vs, strict=True)]) for s in (1, -1))
        slope = inner(us, [(a - b) / (2 * h) for a, b in zip(up, down, strict=True)])
        assert back == pytest.approx(slope, rel=2e-6, abs=2e-6), (
            f"{sample.origin}: the rules say {back}, differences {slope}"
        )


@rows("graph", DIFFERENTIABLE)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_fast_mode_is_graph_mode_bit_for_bit(key, dtype):
    for sample in differentiable(key):
        xs = sample.arrays(dtype)
        us = like(values(sample, xs), 3)
        _, fast = gradient(sample, xs, us)
        _, graph = gradient(sample, xs, us, create_graph=True)
        for a, b in zip(fast, graph, strict=True):
            assert (a is None) == (b is None), sample.origin
            if a is not None:
                assert a.dtype is b.dtype, sample.origin
                assert np.array_equal(a.numpy(), b.detach().numpy(), equal_nan=True), (
                    f"{sample.origin}: {a} without, {b} with create_graph"
                )


@rows("second", DIFFERENTIABLE)
def test_second_order(key):
    for sample in differentiable(key):
        xs = sample.arrays()
        us = like(values(sample, xs), 4)
        vs, ws = like(xs, 5, key in SYMMETRIC), like(xs, 6, key in SYMMETRIC)

        def slope(arrays):  # of <J^T u, w>, a number  # noqa: B023
            return inner(filled(gradient(sample, arrays, us)[1], arrays), ws)  # noqa: B023

        leaves, gs = gradient(sample, xs, us, create_graph=True)
        parts = [(g * torch.tensor(w)).sum() for g, w in zip(gs, ws, strict=True) if g is not None and g.requires_grad]
        second = torch.autograd.grad(parts, leaves, allow_unused=True) if parts else [None] * len(xs)
        found = inner(filled(second, xs), vs)
        up, down = (slope([x + s * STEP * v for x, v in zip(xs, vs, strict=True)]) for s in (1, -1))
        expected = (up - down) / (2 * STEP)
        assert found == pytest.approx(expected, rel=5e-6, abs=5e-6), (
            f"{sample.origin}: the rules say {found}, differences {expected}"
        )


KINKS = np.array([-np.inf, -2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf, np.nan])


@rows("kinks", [key for key in DIFFERENTIABLE if TABLE[key].kind == ELEMENTWISE])
def test_kinks(key):
    with np.errstate(all="ignore"):
        for sample in samples()[key]:
            count = len(sample.differentiable())
            shapes = [x.shape for x in sample.inputs if isinstance(x, np.ndarray)]
            others = len(shapes) > count  # a mask or the like has its own shape
            if not count or others:
                continue
            xs = [g.ravel() for g in np.meshgrid(*[KINKS] * count)]
            us = like(values(sample, xs), 7)
            _, fast = gradient(sample, xs, us)
            _, graph = gradient(sample, xs, us, create_graph=True)
            for a, b in zip(fast, graph, strict=True):
                if a is not None:
                    assert np.array_equal(a.numpy(), b.detach().numpy(), equal_nan=True), sample.origin


@rows("saved", DIFFERENTIABLE)
def test_saved_values_are_protected_and_only_they(key):
    for sample in differentiable(key):
        op, xs = sample.op, sample.arrays()
        if op.tensor_list or op.outputs == ... or not op.single:
            continue
        for position, i in enumerate(sample.differentiable()):
            leaves = [leaf(a) for a in xs]
            middle = [x * 1 for x in leaves]
            given = iter(middle)
            out = sample.call(xs, lambda _, given=given: next(given))[0]
            if out._is_view() or out is middle[position]:
                continue
            name = op.inputs[i]
            protected = name in out.grad_fn.saves and getattr(out.grad_fn, name) is not None
            with torch.no_grad():
                middle[position].zero_()
            if protected:
                with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                    out.sum().backward()
            else:
                out.sum().backward()
        given = iter([leaf(a) for a in xs])
        out = sample.call(xs, lambda _, given=given: next(given))[0]
        if not out._is_view() and out.array.flags.writeable:
            root = out.sum()
            protected = "out" in out.grad_fn.saves
            with torch.no_grad():
                out.zero_()
            if protected:
                with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                    root.backward()
            else:
                root.backward()


@rows("freed", DIFFERENTIABLE)
@pytest.mark.parametrize("create_graph", [False, True])
def test_nothing_outlives_the_pass(key, create_graph):
    for sample in differentiable(key)[:2]:
        xs = sample.arrays()
        us = like(values(sample, xs), 8)
        gradient(sample, xs, us, create_graph)  # first use writes the row out
        gc.disable()
        try:
            leaves = [leaf(a) for a in xs]
            given = iter(leaves)
            outs = [y for y in floats(sample.call(xs, lambda _, given=given: next(given))) if y.requires_grad]
            gs = torch.autograd.grad(
                [(y * y).sum() for y in outs], leaves, create_graph=create_graph, allow_unused=True
            )
            held = [weakref.ref(t) for t in (*outs, *leaves)] + [weakref.ref(y.grad_fn) for y in outs]
            held += [weakref.ref(g) for g in gs if g is not None]
            del leaves, given, outs, gs
            alive = [r() for r in held if r() is not None]
            assert not alive, (
                f"{sample.origin}: {alive} still held; by {[type(x).__name__ for x in gc.get_referrers(*alive)]}"
            )
        finally:
            gc.enable()


@rows("views", TABLE)
def test_views(key):
    op = TABLE[key]
    for sample in samples()[key]:
        if op.tensor_list or not isinstance(sample.inputs[0], np.ndarray) or not sample.inputs[0].size:
            continue
        x = torch.tensor(sample.inputs[0])
        others = [torch.tensor(a) if isinstance(a, np.ndarray) else a for a in sample.inputs[1:]]
        with np.errstate(all="ignore"):
            out = op(x, *others, *sample.params)
        for y in out if isinstance(out, tuple) else (out,):
            if op.view and y.numel():
                assert np.shares_memory(x.array, y.array), sample.origin
                assert y._is_view() and y.version is x.version, sample.origin


@rows("linear", [key for key in DIFFERENTIABLE if TABLE[key].kind == LINEAR])
def test_linear_rows_are_linear(key):
    for sample in differentiable(key):
        if all(x.dtype.kind == "f" for x in sample.inputs if isinstance(x, np.ndarray)):
            xs = sample.arrays()
            for a, b in zip(values(sample, xs), values(sample, [3 * x for x in xs]), strict=True):
                np.testing.assert_allclose(
                    b, 3 * a, rtol=1e-12 if a.dtype == np.float64 else 1e-6, err_msg=sample.origin
                )


@rows("discrete", [key for key, op in TABLE.items() if op.kind == DISCRETE])
def test_discrete_rows_have_no_gradient(key):
    for sample in samples()[key]:
        inputs = [
            leaf(x)
            if isinstance(x, np.ndarray) and x.dtype.kind == "f"
            else torch.tensor(x)
            if isinstance(x, np.ndarray)
            else x
            for x in sample.inputs
        ]
        out = sample.op(*inputs, *sample.params)
        assert not out.requires_grad
        assert out.grad_fn is None
