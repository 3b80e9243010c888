"""A gradient that is infinite or nan passes open gates only: 0 * inf would be nan, and PyTorch sends 0.

What lives here: one case for each operation with a part that no gradient reaches, with where it does. The masks were checked against
PyTorch 2.13 when the file was written.
"""

import math

import numpy as np
import pytest

import minigrad as torch

XS = [-3.0, -1.0, -0.5, 0.0, 0.25, 1.5, 7.0]


def _write(y, key, value):
    y[key] = value
    return y


OPEN = {  # operation: where its gradient is 1
    "relu": (lambda x: x.relu(), [0, 0, 0, 0, 1, 1, 1]),
    "relu6": (lambda x: torch.nn.functional.relu6(x), [0, 0, 0, 0, 1, 1, 0]),
    "clamp": (lambda x: x.clamp(-1, 1), [0, 1, 1, 1, 1, 0, 0]),
    "hardtanh": (lambda x: torch.nn.functional.hardtanh(x), [0, 0, 1, 1, 1, 0, 0]),
    "threshold": (lambda x: torch.nn.functional.threshold(x, 0.3, 5.0), [0, 0, 0, 0, 0, 1, 1]),
    "hardshrink": (lambda x: torch.nn.functional.hardshrink(x), [1, 1, 0, 0, 0, 1, 1]),
    "masked_fill": (lambda x: x.masked_fill(x > 0, 1.0), [1, 1, 1, 1, 0, 0, 0]),
    "where": (lambda x: torch.where(x > 0, x, torch.zeros_like(x)), [0, 0, 0, 0, 1, 1, 1]),
    "max": (lambda x: x.max(), [0, 0, 0, 0, 0, 0, 1]),
    "min": (lambda x: x.min(), [1, 0, 0, 0, 0, 0, 0]),
    "median": (lambda x: x.median(), [0, 0, 0, 1, 0, 0, 0]),
    "floor": (lambda x: x.floor(), [0] * 7),
    "ceil": (lambda x: x.ceil(), [0] * 7),
    "round": (lambda x: x.round(), [0] * 7),
    "trunc": (lambda x: x.trunc(), [0] * 7),
    "sign": (lambda x: x.sign(), [0] * 7),
    "zero_": (lambda x: (x * 1).zero_(), [0] * 7),
    "fill_": (lambda x: (x * 1).fill_(2.0), [0] * 7),
    "fill_ with a tensor": (lambda x: (x * 1).fill_(torch.tensor(2.0)), [0] * 7),
    "copy_": (lambda x: (x * 1).copy_(torch.ones(7)), [0] * 7),
    "x[:2] = 0": (lambda x: _write(x * 1, slice(2), 0.0), [0, 0, 1, 1, 1, 1, 1]),
    "x[1] = tensor": (lambda x: _write(x * 1, 1, torch.tensor(3.0)), [1, 0, 1, 1, 1, 1, 1]),
    "pow 0": (lambda x: x**0, [0] * 7),
}


@pytest.mark.parametrize("arriving", [math.inf, -math.inf, math.nan, 2.0])
@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_only_open_gates(name, dtype, arriving):
    f, gates = OPEN[name]
    x = torch.tensor(XS, dtype=dtype, requires_grad=True)
    y = f(x)
    y.backward(torch.full_like(y, arriving))
    np.testing.assert_array_equal(x.grad.numpy(), np.where(np.array(gates) == 1, arriving, 0.0))


@pytest.mark.parametrize("shape", [(3, 5), (40, 50), (130, 131), (2, 3, 90, 91)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_relu_of_any_size_and_order(shape, dtype):
    a = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    a.reshape(-1)[:4] = [math.nan, -math.inf, math.inf, -0.0]
    for x in (a, np.asfortranarray(a), a[..., ::-1]):
        out = torch.relu(torch.from_numpy(x.copy(order="K"))).numpy()
        np.testing.assert_array_equal(out, np.maximum(0, x))
        assert out.dtype == dtype


def test_a_compiled_gate_is_as_shut():
    pytest.importorskip("numba")
    f = torch.compile(lambda x: torch.relu(x) * 1.0)
    x = torch.tensor(XS, requires_grad=True)
    f(x).backward(torch.full_like(x, math.inf))
    assert f.why is None and x.grad.tolist() == [0, 0, 0, 0, math.inf, math.inf, math.inf]
