"""Every optimiser and scheduler against real PyTorch: the same gradients in, the same twenty steps, states and learning rates out."""

import pytest

import minigrad
from tests.nn.reference import cases, record
from tests.nn.reference.make import stored
from tests.nn.test_reference import agree

OPTIMIZERS, SCHEDULERS = stored("optimizers"), stored("schedulers")
# Relative to the largest number of a tensor, or to 0.1: a few units in the last place of float32; PyTorch sometimes rounds once less (fused
# multiply-add).
TOLERANCE = {"float32": 1e-6, "float64": 1e-11}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("make", cases.OPTIMIZERS)
def test_twenty_steps(make, dtype):
    agree(record.optimizer(minigrad, make, dtype), OPTIMIZERS[f"{make} {dtype}"], TOLERANCE[dtype])


@pytest.mark.parametrize(
    "make", [m for m in cases.OPTIMIZERS if not any(word in m for word in ("groups", "torch.tensor", "Adafactor"))]
)
def test_a_differentiable_step_is_the_same_step(make):
    params = [
        record.tensor(minigrad, record.seeded(f"parameter {i}", s)).requires_grad_().clone()
        for i, s in enumerate(record.SHAPES)
    ]
    o = eval(f"minigrad.optim.{make[:-1]}, differentiable=True)", {"minigrad": minigrad, "params": params})
    found = {}
    for step in (1, 2):
        for i, p in enumerate(params):
            p.grad = (
                None
                if (i, step) == (2, 2)
                else record.tensor(minigrad, record.seeded(f"gradient {i} {step}", record.SHAPES[i]))
            )
        o.step()
        found[f"after {step}"] = [record.numbers(p) for p in params]
    assert all(p.grad_fn is not None for p in params)
    # The rate of NAdam is kept in float32
    agree(found, {key: OPTIMIZERS[f"{make} float64"][key] for key in found}, 1e-8)


@pytest.mark.parametrize("make", cases.LBFGS)
def test_lbfgs(make):
    agree(record.lbfgs(minigrad, make), OPTIMIZERS[make], 1e-6)


@pytest.mark.parametrize("make", cases.SCHEDULERS)
def test_scheduler(make):
    agree(record.scheduler(minigrad, make), SCHEDULERS[make], 1e-12)


def test_the_stored_answers_are_those_of_the_cases():
    assert OPTIMIZERS.keys() == {f"{make} {dtype}" for make in cases.OPTIMIZERS for dtype in TOLERANCE} | set(
        cases.LBFGS
    )
    assert SCHEDULERS.keys() == set(cases.SCHEDULERS)
