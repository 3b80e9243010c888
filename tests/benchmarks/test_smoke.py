"""Every workload runs on minigrad, and its gradients are numbers. Nothing here looks at a clock."""
import math

import numpy as np
import pytest

from . import workloads
from .run import ROWS, scalars

TENSOR_ROWS = [row for row in ROWS if row.kind is not scalars]


@pytest.mark.parametrize("row", TENSOR_ROWS, ids=lambda row: row.key)
def test_tensor_workload(row):
    step = row.make(row.kind("minigrad"))
    for _ in range(2):
        out = step()
    assert np.isfinite(out.detach().numpy()).all()


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
