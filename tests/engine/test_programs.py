"""Random programs and drawn index expressions, in minigrad and in PyTorch: values, gradients, second order, versions, refusals.

The stored programs are those of the seeds 0 to 199, with PyTorch's results; where torch can be imported, hypothesis draws more.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import minigrad

from .reference import programs
from .reference.make import not_yet

STORED = json.loads((Path(__file__).parent / "reference" / "programs.json").read_text())
EXAMPLES = int(os.environ.get("MINIGRAD_FUZZ", "150"))  # more, for a night: MINIGRAD_FUZZ=20000 pytest tests/engine/test_programs.py
numbers = st.integers(0, 2**16 - 1)


LISTED = not_yet()
XFAIL = pytest.mark.xfail(strict=True, reason="reference/not_yet.txt")


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[XFAIL] if f"programs/{seed}" in LISTED else []) for seed in STORED])
def test_stored(seed):
    program = programs.seeded(int(seed))
    what = programs.difference(programs.run(minigrad, program), STORED[seed], program)
    assert what is None, what


def test_the_stored_programs_are_worth_running():
    steps = [step[0] for seed in STORED for step in programs.seeded(int(seed))["steps"]]
    for table in (
        programs.ELEMENTWISE,
        programs.BINARY,
        programs.REDUCE,
        programs.ALONG,
        programs.SHAPES,
        programs.SEVERAL,
        programs.WRITES,
    ):
        for operation in table:
            assert steps.count(operation) >= 5, f"{operation} hardly occurs"
    assert sum("grad" in answer for answer in STORED.values()) > 120
    assert sum("second" in answer for answer in STORED.values()) > 30
    assert sum("error" in answer for answer in STORED.values()) > 5
    assert max(len(programs.seeded(int(seed))["steps"]) for seed in STORED) == 200


def test_a_program_is_plain_data_and_shrinks():
    program = programs.seeded(19)
    assert json.loads(json.dumps(program)) == program
    small = programs.shrink(program, lambda p: any(step[0] == "index" for step in p["steps"]))
    assert [step[0] for step in small["steps"]].count("index") == 1
    assert len(small["steps"]) < len(program["steps"])


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    inputs=st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=1, max_size=4),
    steps=st.lists(st.lists(numbers, min_size=4, max_size=12), max_size=200),
    writes=st.booleans(),
)
def test_live(inputs, steps, writes):
    torch = pytest.importorskip("torch")
    program = programs.build(inputs, steps, writes)
    what = programs.difference(programs.run(minigrad, program), programs.run(torch, program), program)
    assert what is None, f"{what}\n{program}"


@pytest.mark.parametrize("seed", range(100_000, 100_000 + 2 * EXAMPLES))
def test_live_seeded(seed):
    torch = pytest.importorskip("torch")

    def what(program):
        return programs.difference(programs.run(minigrad, program), programs.run(torch, program), program)

    program = programs.seeded(seed)
    if what(program):
        program = programs.shrink(program, lambda p: bool(what(p)))
        pytest.fail(f"{what(program)}\n{program}")


# Index expressions: any mixture, valid or not

part = st.one_of(
    st.integers(-4, 4),
    st.builds(slice, *[st.none() | st.integers(-5, 5)] * 2, st.none() | st.integers(1, 3)),
    st.just(None),
    st.just(...),
    st.lists(st.integers(-3, 3), min_size=1, max_size=3),
    st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=1, max_size=2),
    st.lists(st.booleans(), min_size=1, max_size=4),
    st.booleans(),
)


@settings(max_examples=4 * EXAMPLES, deadline=None)
@given(
    shape=st.lists(st.integers(0, 4), max_size=4),
    parts=st.lists(part, max_size=4).filter(lambda parts: sum(p is ... for p in parts) < 2),
    alone=st.booleans(),
    write=st.sampled_from(["", "number", "tensor"]),
)
def test_live_index(shape, parts, alone, write):
    torch = pytest.importorskip("torch")

    def answer(torch):
        index = tuple(torch.tensor(p) if isinstance(p, list) else p for p in parts)
        if alone and len(index) == 1:
            index = index[0]
        x = torch.tensor(np.arange(float(np.prod(shape, dtype=int))).reshape(shape) + 1, requires_grad=True)
        v = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
        try:
            y = x * 1
            selected = y[index].numel()
            if write:
                y[index] = v if write == "tensor" else 7.0
            else:
                y = y[index]
            if not y.numel():
                return selected, list(y.shape), y.tolist()
            gradients = torch.autograd.grad(
                (y * torch.tensor(np.cos(np.arange(y.numel())).reshape(tuple(y.shape)))).sum(), [x, v], allow_unused=True
            )
            return selected, list(y.shape), y.tolist(), [None if g is None else np.round(g.numpy(), 9).tolist() for g in gradients]
        except Exception as e:
            return type(e).__name__

    mine, theirs = answer(minigrad), answer(torch)
    if mine == "IndexError" and theirs[0] == 0:
        return  # PyTorch does not look at the numbers of an index that selects nothing
    if theirs[0] == 0:  # nor is a gradient of nothing worth a difference between None and 0
        mine, theirs = mine[:3], theirs[:3]
    assert mine == theirs


@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(
    a=st.lists(st.integers(0, 3), max_size=4),
    b=st.lists(st.integers(0, 3), max_size=4),
    operation=st.sampled_from(["add", "mul", "maximum", "sub", "atan2"]),
)
def test_live_broadcast(a, b, operation):
    torch = pytest.importorskip("torch")

    def answer(torch):
        x, y = (torch.tensor(programs.numbers_of(k, tuple(shape)), requires_grad=True) for k, shape in enumerate((a, b)))
        try:
            z = getattr(torch, operation)(x, y)
            gradients = torch.autograd.grad((z * z).sum(), [x, y])
            return list(z.shape), np.round(z.detach().numpy(), 9).tolist(), [np.round(g.numpy(), 9).tolist() for g in gradients]
        except Exception as e:
            return type(e).__name__, str(e).split("\n")[0]

    assert answer(minigrad) == answer(torch)
