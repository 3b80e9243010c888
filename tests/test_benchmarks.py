"""Every workload runs on minigrad, and its gradients are numbers. Nothing here looks at a clock."""

import gc
import math
import tracemalloc

import numpy as np
import pytest

import minigrad
from minigrad.kernels import warm
from tools.benchmarks import workloads
from tools.benchmarks.run import ROWS, scalars

TENSOR_ROWS = [row for row in ROWS if row.kind is not scalars and row.peer == "torch"]


@pytest.mark.parametrize("row", TENSOR_ROWS, ids=lambda row: row.key)
def test_tensor_workload(row):
    step = row.make(row.kind("minigrad"))
    step = minigrad.compile(step) if row.mine else step  # not `row.mine`, which waits for numba
    for _ in range(2 if row.mine is None else 4):
        out = step()
    assert row.mine is None or step.source, step.why
    assert np.isfinite(out.detach().numpy()).all()


@pytest.mark.parametrize("row", [row for row in ROWS if row.peer == "jax"], ids=lambda row: row.key)
def test_the_same_in_jax(row):
    pytest.importorskip("jax")
    import jax

    found = jax.tree.leaves(row.theirs(row.kind("jax"))())
    assert found and all(np.isfinite(np.asarray(out)).all() for out in found)


def test_forward_over_reverse_gives_the_same_product():
    torch = TENSOR_ROWS[0].kind("minigrad")
    both = [
        make(torch)().detach().numpy()
        for make in (workloads.hessian_vector_product, workloads.hessian_vector_product_by_jvp)
    ]
    np.testing.assert_allclose(*both, rtol=1e-4, atol=1e-6)


def test_training_workloads_learn():
    for make in (workloads.small_mlp, workloads.lenet):
        step = make(TENSOR_ROWS[0].kind("minigrad"))
        losses = [step().item() for _ in range(12)]
        assert losses[-1] < losses[0]


def test_readme_expression():
    # micrograd's README: a.grad is 138.8338
    assert math.isclose(workloads.readme_expression(scalars("minigrad"))(), 138.83381924198252, rel_tol=1e-12)


def test_moons_step_and_its_tape_agree():
    Value = scalars("minigrad")
    plain, taped = workloads.moons_step(Value), workloads.moons_on_tape(Value)
    assert [plain() for _ in range(3)] == pytest.approx([taped() for _ in range(3)], rel=1e-9)


def test_chain():
    assert math.isfinite(workloads.chain(scalars("minigrad"), 1000)())


def test_sweep():
    step, nodes = workloads.sweep()
    values, grads, _ = step()
    assert values.shape == grads.shape and values.shape[0] == 101 and values.shape[1] >= nodes
    assert np.isfinite(values).all()


def test_memory_is_given_back_without_the_garbage_collector():
    """The peak of a step, and what is left after many, in bytes of arrays: reference counting alone frees each graph."""
    warm()  # else numba is loaded meanwhile
    step = workloads.transformer(TENSOR_ROWS[0].kind("minigrad"))
    for _ in range(3):
        step()
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        step()
        tracemalloc.reset_peak()
        first, _ = tracemalloc.get_traced_memory()
        for _ in range(10):
            step()
        last, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert last - first < 100_000
    assert peak - first < 100 * 2**20
