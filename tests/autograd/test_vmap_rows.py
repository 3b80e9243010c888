"""vmap of every operation that the reference has a case for: the same as running the function sample by sample, forward and backward.

The oracle is the function itself on each sample, which needs no batching rule at all.
"""

import warnings
from collections import Counter

import numpy as np
import pytest

import minigrad as torch
from minigrad.core.op import TABLE
from minigrad.func import grad
from minigrad.func.batching import batching_rule
from tests.engine.reference.case import all_cases
from tests.engine.reference.record import _function

FAMILIES = ("elementwise", "reduce", "shape", "index", "linalg", "neural")
# PyTorch refuses these, too: item(), if, masks, random numbers, foreign in-place targets
REFUSED = (
    "vmap:",
    "Vmap",
    "Batch norm got a batched tensor",
    "Cannot access data pointer",
)
SAMPLES = 3


def _cases():
    for key, case in all_cases().items():
        if key.endswith(" changed"):  # the first sample would change the index of the second
            continue
        if key.split("/")[0] in FAMILIES and key != "shape/base" and any(spec.grad for spec in case.inputs.values()):
            yield key, case


CASES = dict(_cases())


def _batches(case):
    """The case's inputs, those that require grad as a batch: the case's numbers, and the same in another order and size."""
    arrays, batched, others = case.arrays(), {}, {}
    for name, spec in case.inputs.items():
        a = arrays[name]
        if spec.grad:
            # The same numbers: whatever domain they are in
            rolled = [np.roll(a, i).reshape(a.shape) for i in range(SAMPLES)]
            if "invertible" in str(spec.kind):
                rolled = [a * (1 + i / 4) for i in range(SAMPLES)]
            batched[name] = torch.tensor(np.stack(rolled))
        else:
            others[name] = torch.tensor(a)
    return batched, others


def _call(case, names, values, others):
    out = _function(case.code)({"torch": torch, "np": np, **others, **dict(zip(names, values, strict=True))})
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    return [o for o in outs if isinstance(o, torch.Tensor)]


def _same(a, b, case):
    coarse = a.dtype == torch.float32 or any("float32" in x.dtype for x in case.inputs.values())
    tolerance = 1e-5 if coarse else 1e-9
    return (
        a.shape == b.shape
        and a.dtype == b.dtype
        and np.allclose(a.array, b.array, tolerance, tolerance, equal_nan=True)
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("ignore")
def test_vmap_is_the_loop(family):
    compared = Counter()
    for key, case in CASES.items():
        if key.split("/")[0] == family:
            try:
                compared[_compare(case)] += 1
            except Exception as error:
                error.add_note(f"in {case!r}")
                raise
    assert compared["forward"] + compared["both"] > compared["refused"], compared
    assert compared["both"], compared


def _compare(case):
    """Assert that both ways agree. How far the case goes: "refused", "forward", or "both" with the gradient."""
    batched, others = _batches(case)
    names = list(batched)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            samples = [_call(case, names, [batched[n][i] for n in names], others) for i in range(SAMPLES)]
        except Exception:
            return "refused"  # the case is about an error
        if not samples[0]:
            return "refused"
        try:
            found = torch.vmap(lambda *xs: tuple(_call(case, names, xs, others)))(*[batched[n] for n in names])
        except RuntimeError as error:
            if str(error).startswith(REFUSED):
                return "refused"  # by PyTorch, too
            sizes = {tuple(o.shape for o in s) for s in samples}
            if len(sizes) > 1 and "stack expects each tensor to be equal size" in str(error):
                return "refused"  # the samples have results of different sizes
            raise
        for i, column in enumerate(zip(*samples, strict=True)):
            assert _same(found[i], torch.stack(list(column)), case), f"output {i} of {case!r}"

        def total(*xs):
            outs = [o for o in _call(case, names, xs, others) if o.dtype.is_floating_point]
            return sum([(o * o).sum() + 3 * o.sum() for o in outs])

        try:
            wanted = [grad(total, tuple(range(len(names))))(*[batched[n][i] for n in names]) for i in range(SAMPLES)]
        except Exception:
            return "forward"  # without a gradient, as in PyTorch
        found = torch.vmap(grad(total, tuple(range(len(names)))))(*[batched[n] for n in names])
        for i, column in enumerate(zip(*wanted, strict=True)):
            assert _same(found[i], torch.stack(list(column)), case), f"gradient by {names[i]} of {case!r}"
    return "both"


def test_most_cases_run_batched(monkeypatch):
    """How much falls back: counted, so that it can only be changed knowingly."""
    from minigrad.func import batching
    from minigrad.func import transforms as func

    fallbacks = Counter()
    one_by_one, by_sample = batching._one_by_one, func._sample_by_sample
    monkeypatch.setattr(
        batching, "_one_by_one", lambda level, op, *rest: fallbacks.update(["row"]) or one_by_one(level, op, *rest)
    )
    monkeypatch.setattr(func, "_sample_by_sample", lambda *rest: fallbacks.update(["function"]) or by_sample(*rest))
    ran = 0
    for key in list(CASES)[::7]:
        batched, others = _batches(CASES[key])
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                torch.vmap(lambda *xs: tuple(_call(CASES[key], list(batched), xs, others)))(*batched.values())  # noqa: B023
                ran += 1
            except Exception:  # noqa: S112
                continue
    assert ran > 100
    assert fallbacks["row"] + fallbacks["function"] < 0.35 * ran, fallbacks


def test_every_batching_rule_that_a_row_names_exists():
    named = {op.name for op in TABLE.values() if isinstance(op.batch, str) and callable(batching_rule(op))}
    assert {"transpose", "amax", "avg_pool2d", "upsample_nearest1d", "softmax", "linalg_det", "gather"} <= named
