"""The tape: replay and sweep, in numpy and compiled, against the engine computing the same thing afresh."""

import gc
import json
import math
import subprocess
import sys
import warnings
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad.tape as tape_module
from minigrad.micro import MLP
from minigrad.scalar import Value
from minigrad.tape import Tape, warm
from minigrad.tracing.trace import trace
from tests.engine.test_scalar import BINARY, UNARY, run, same
from tests.engine.test_trace import Own

OPS = BINARY | UNARY | {"**2": lambda x: x**2, "**-1.5": lambda x: x**-1.5, "**0": lambda x: x**0}
KERNELS = ["numpy", "numba"]
NUMBERS = st.one_of(st.floats(-3, 3), st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 0.5]))


@pytest.fixture(params=KERNELS)
def kernel(request, monkeypatch):
    """Both halves of every test: with the compiled loops and without."""
    if request.param == "numba":
        assert warm()
    else:
        monkeypatch.setattr(tape_module, "_compiled", None)
        monkeypatch.setattr(tape_module, "_warm_soon", lambda: None)
    return request.param


def number(x):
    return math.nan if x is None else float(x)


def close(a, b):
    return all(
        same(float(x), float(y), 1e-10) or abs(x - y) < 1e-12 for x, y in zip(np.ravel(a), np.ravel(b), strict=True)
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(OPS)), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=10),
    st.lists(NUMBERS, min_size=1, max_size=3),
    st.lists(NUMBERS, min_size=1, max_size=3),
    st.sampled_from(KERNELS),
)
def test_a_sweep_is_the_trace_at_every_point(program, at, points, kernel):
    def build(first):
        leaves = [Value(first), *map(Value, at[1:])]
        return leaves, run(program, list(leaves), {**OPS, "abs": abs})

    leaves, y = build(at[0])
    t = trace(y)
    if (
        not any(n["kind"] == "leaf" and n["id"] == 0 for n in t["nodes"])
        or y is leaves[0]
        or t["nodes"][0]["value"] != at[0]
    ):
        return
    try:
        tape = Tape(y)
        values, grads, slopes = tape.sweep(leaves[0], points, kernel)
    except TypeError:
        return  # the first leaf is not part of the result
    for p, point in enumerate(points):
        t = trace(build(point)[1])
        assert close(values[p], [number(n["value"]) for n in t["nodes"]])
        if all(abs(v) < 1e150 for v in values[p]):
            carries = [e["id"] for e in t["edges"] if e["carries_grad"]]
            assert close(slopes[p][carries], [number(t["edges"][e]["local"]) for e in carries])
            assert close(grads[p], [number(n["grad"]) for n in t["nodes"]])


def test_every_operation_at_every_edge_of_pytorchs(kernel):
    """The stored answers of torch, at infinities, zeros, nan: one sweep for each row of the reference."""
    reference = json.loads(Path(__file__).with_name("reference_scalar.json").read_text())
    for name in BINARY | UNARY:
        x, y = Value(1.0), Value(1.0)
        tape = Tape(BINARY[name](x, y) if name in BINARY else UNARY[name](x))
        for operands, incoming, value, grads in reference[name]:
            if incoming != 1.0:
                continue
            if name in BINARY:
                tape.set(y, float(operands[1]))
            values, got, _ = tape.sweep(x, [float(operands[0])], kernel)
            expected = [float(v) for v in (*operands, value)]
            assert all(same(a, b, 1e-13) for a, b in zip(values[0], expected, strict=True)), (name, operands, values)
            assert all(same(a, float(b), 1e-9) for a, b in zip(got[0], grads, strict=False)), (
                name,
                operands,
                got,
                grads,
            )


def test_replay_reads_the_leaves_and_leaves_the_truth_behind(kernel):
    model = MLP(3, [4, 4, 1], rng=3, nonlin="tanh")
    data = [([0.5, -1.0, 2.0], 1.0), ([1.5, 0.3, -0.7], -1.0)]

    def loss():
        return sum((1 + -target * model(x)).relu() for x, target in data) / 2 + 1e-3 * sum(
            p * p for p in model.parameters()
        )

    first = loss()
    tape = Tape(first)
    for step in range(5):
        for p in model.parameters():
            p.data += 0.1 * (step + 1) * p.data - 0.01
        tape.replay()
        replayed = [p.grad for p in model.parameters()]
        fresh = loss()
        model.zero_grad()
        fresh.backward()
        assert first.data == pytest.approx(fresh.data, rel=1e-13) and first.grad == 1.0
        assert replayed == pytest.approx([p.grad for p in model.parameters()], rel=1e-11, abs=1e-14)
    tape.replay()
    tape.replay()
    assert [p.grad for p in model.parameters()] == pytest.approx(replayed, rel=1e-11, abs=1e-14)  # set, not added to


def test_numbers_outside_a_domain_are_data_not_warnings(kernel):
    x = Value(1.0)
    y = x.log() + x.sqrt() + 1 / x + x.exp() ** x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values, grads, slopes = Tape(y).sweep(x, [-1.0, 0.0, 1e3, math.inf, math.nan], kernel)
    assert (
        math.isnan(values[0, -1])
        and values[1, 1] == -math.inf
        and values[2, -1] == math.inf
        and math.isnan(values[4, 0])
    )


def test_shapes_numbering_and_where_the_trace_has_no_gradient(kernel):
    x, w = Value(1.0), Value(5.0)
    y = (3 * x + w) ** 2 + (x + x)
    t = trace(y)
    values, grads, slopes = Tape(y).sweep(0, [1.0, 2.0, 3.0], kernel)
    assert values.shape == grads.shape == (3, len(t["nodes"])) and slopes.shape == (3, len(t["edges"]))
    assert values.dtype == grads.dtype == slopes.dtype == np.float64 and all(
        a.flags.c_contiguous for a in (values, grads, slopes)
    )
    assert values[1].tolist() == [2.0, 5.0, 3.0, 6.0, 11.0, 121.0, 4.0, 125.0]
    assert grads[1].tolist()[:2] == [68.0, 22.0] and math.isnan(grads[1, 2])
    assert x.data == 1.0 and x.grad == 0.0 and y.data == 66.0


def test_the_other_leaves_stand_where_they_were_put(kernel):
    x, w = Value(1.0), Value(5.0)
    tape = Tape(x * w)
    w.data = 7.0
    assert tape.sweep(x, [2.0], kernel)[0][0, -1] == 10.0  # as recorded
    tape.set(w, 6.0)
    assert tape.sweep(x, [2.0], kernel)[0][0, -1] == 12.0 and w.data == 7.0
    tape.replay()
    assert tape.sweep(x, [2.0], kernel)[0][0, -1] == 14.0


def test_a_program_of_the_same_shape_can_take_over_another_cannot(kernel):
    def program(a, b):
        return (a * b + 2).relu() if a.data > 0 else a - b

    a, b = Value(2.0), Value(3.0)
    tape = Tape(program(a, b))
    c, d = Value(4.0), Value(-1.0)
    other = program(c, d)
    tape.rebind(other)
    c.data = 5.0
    d.data = 1.0
    tape.replay()
    assert other.data == 7.0 and (c.grad, d.grad, a.grad) == (1.0, 5.0, 0.0)
    with pytest.raises(
        ValueError,
        match=r"changed its shape: where '\*' of number 1 and number 2 was computed, now '-' of .*Tape\(root\)",
    ):
        tape.rebind(program(Value(-4.0), d))
    with pytest.raises(ValueError, match="changed its shape"):
        tape.rebind(other + 1)
    with pytest.raises(ValueError, match="changed its shape"):
        Tape(a**2).rebind(a**3)


def test_mistakes_are_explained():
    x = Value(1.0)
    y = x * 2
    tape = Tape(y)
    with pytest.raises(ValueError, match="node 1 is not a leaf of this tape.*The leaves are 0"):
        tape.sweep(1, [1.0])
    with pytest.raises(TypeError, match="must be one of the Values"):
        tape.sweep(Value(1.0), [1.0])
    with pytest.raises(TypeError, match="has a graph"):
        Tape([y])
    with pytest.raises(ValueError, match="an operation called 'swish': it knows"):
        Tape(Own(1.0, (Own(2.0),), "swish"))
    x.data = "2"
    with pytest.raises(TypeError, match=r"Value\(float\(text\)\)"):
        tape.replay()


def test_a_learners_own_class_and_its_powers(kernel):
    x = Own(2.0)
    y = (x * 3 + 1) ** 3 + x.relu()
    tape = Tape(y)
    x.data = -1.0
    tape.replay()
    assert y.data == -8.0 and x.grad == 36.0


def test_a_leaf_alone(kernel):
    x = Value(2.0)
    tape = Tape(x)
    x.data = 3.0
    tape.replay()
    assert (x.data, x.grad) == (3.0, 1.0) and tape.sweep(x, [4.0], kernel)[0].tolist() == [[4.0]]


def test_the_tape_keeps_no_value_alive(kernel):
    w = Value(2.0)
    y = w * Value(3.0)
    gone = weakref.ref(y)
    tape = Tape(y)
    gc.disable()
    try:
        del y
        assert gone() is None
    finally:
        gc.enable()
    tape.replay()
    assert w.grad == 3.0


def test_a_deep_chain(kernel):
    x = y = Value(1.0)
    for _ in range(3_000):
        y = y * 1.0001 + x
    tape = Tape(y)
    y.backward()
    expected = x.grad
    tape.replay()
    assert x.grad == pytest.approx(expected, rel=1e-12)


def test_nothing_compiles_until_it_is_wanted():
    code = (
        "import sys, minigrad.tape\nfrom minigrad import Value\nx = Value(1.0)\nt = minigrad.tape.Tape(x * x)\n"
        "t.sweep(x, [1.0, 2.0])\nprint('numba' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (out.stdout, out.stderr) == ("False\n", "")


def test_replay_loads_the_compiled_loops_beside_the_program():
    code = (
        "import sys, minigrad.tape as m\nfrom minigrad import Value\nx = Value(3.0)\ny = x * x\nt = m.Tape(y)\nt.replay()\n"
        "first = m._compiled\nm._loading.join()\nx.data = 4.0\nt.replay()\nprint(first is None, m._compiled is not None, y.data, x.grad)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (out.stdout, out.stderr) == ("True True 16.0 8.0\n", "")
