"""Numbers at the ends of a dtype: small integers, float16 sums, products that overflow. The expected values are what PyTorch 2.13 gave."""

import math

import numpy as np
import pytest

import minigrad as torch
import minigrad.nn.functional as F

U = torch.tensor([10, 200, 44, 255], dtype=torch.uint8)
WHOLE = ["uint8", "int8", "int16", "int32", "int64"]


@pytest.mark.parametrize("line, expected", [
    ("U > 300", [False, True, False, True]), ("U == 300", [False, False, True, False]), ("U != -1", [True, True, True, False]),
    ("U + 1000", [242, 176, 20, 231]), ("U * -1", [246, 56, 212, 1]), ("torch.where(U > 50, U, -1)", [255, 200, 255, 255]),
    ("U // 300", [0, 4, 1, 5]), ("U % 300", [10, 24, 0, 35]), ("U.clamp(-1)", [255] * 4), ("torch.full_like(U, -1)", [255] * 4),
    ("U.masked_fill(U > 0, -1)", [255] * 4), ("torch.tensor([-1], dtype=torch.uint8)", [255]), ("U.clone().eq_(300)", [0, 0, 1, 0]),
    ("torch.ones(2, dtype=torch.int32) * 2**40", [0, 0]), ("torch.ones(2, dtype=torch.int32) < 2**40", [False, False]),
    ("torch.tensor([1]) + 2**63", [-(2**63) + 1]),
])  # fmt: skip
def test_a_number_beside_small_integers_wraps_as_in_pytorch(line, expected):
    assert eval(line).tolist() == expected


@pytest.mark.parametrize("line", [
    "U.clamp(-5, 300)", "U.clamp_max(300)", "U.clone().fill_(300)", "torch.full((2,), 300, dtype=torch.uint8)", "U.masked_fill(U > 0, 300)",
    "torch.tensor([300], dtype=torch.uint8)", "torch.tensor(300, dtype=torch.int8)", "U.index_fill(0, torch.tensor([0]), 300)",
    "U.scatter(0, torch.tensor([0]), 300)", "torch.tensor([2**40], dtype=torch.int32)", "torch.tensor([1.5e10], dtype=torch.int32)",
    "torch.tensor([-1.], dtype=torch.uint8)", "U.clone().__setitem__(0, 300)", "torch.tensor([math.nan], dtype=torch.int32)",
    "torch.full((1,), 1e300)", "torch.ones(1).fill_(1e300)", "torch.ones(1).clamp(max=1e300)",
    "torch.ones(1).masked_fill(torch.tensor([True]), 1e300)", "torch.ones(1, dtype=torch.float16).fill_(70000)",
])  # fmt: skip
def test_a_number_that_is_stored_must_fit(line):
    with pytest.raises(RuntimeError, match=r"value cannot be converted to type [\w:]+ without overflow"):
        eval(line)


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("f", [
    torch.sum, torch.nansum, lambda x: torch.sum(x, 0), lambda x: x.sum(0, keepdim=True), lambda x: torch.outer(x, x).trace(),
])  # fmt: skip
def test_sums_of_whole_numbers_are_int64_and_usable(f, kind):
    out = f(torch.tensor([100, 27, 100], dtype=getattr(torch, kind)))
    assert out.dtype is torch.int64
    assert (out + 1).tolist() is not None and "tensor" in repr(out) and (out / 3).dtype is torch.float32


def test_an_image_of_bytes_is_summed():
    image = torch.full((3, 4), 200, dtype=torch.uint8)
    assert (image.sum().item(), image.sum(0).tolist(), image.nansum().item(), image.trace().item()) == (
        2400,
        [600] * 4,
        2400,
        600,
    )


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("f", [
    lambda b, x: torch.pow(b, x), lambda b, x: torch.xlogy(x, b), lambda b, x: torch.atan2(b, x), lambda b, x: torch.hypot(x, b),
    lambda b, x: b / x, lambda b, x: x / b, lambda b, x: torch.logaddexp(x, b), lambda b, x: x**b,
])  # fmt: skip
@pytest.mark.parametrize("graph", [False, True])
def test_a_gradient_beside_small_integers_has_all_its_digits(f, kind, graph):
    b, x = (
        torch.tensor([3, 100], dtype=getattr(torch, kind)),
        torch.tensor([1.5, 1.25], dtype=torch.float64, requires_grad=True),
    )
    wanted = torch.autograd.grad(f(b.double(), x).sum(), x)[0]
    assert torch.allclose(torch.autograd.grad(f(b, x).sum(), x, create_graph=graph)[0], wanted, rtol=1e-13, atol=0)


HALF = torch.full((4096,), 0.1, dtype=torch.float16)
PLACE = torch.zeros(4096, dtype=torch.int64)


@pytest.mark.parametrize("line, expected", [
    ("HALF.cumsum(0)[-1]", 409.5), ("torch.zeros(1, dtype=torch.float16).scatter_add(0, PLACE, HALF)", 409.5), ("HALF.sum()", 409.5),
    ("torch.zeros(1, dtype=torch.float16).scatter_reduce(0, PLACE, HALF, 'sum')", 409.5), ("HALF.logcumsumexp(0)[-1]", 8.4140625),
    ("torch.full((4096,), 1.002, dtype=torch.float16).cumprod(0)[-1]", 2958.0), ("torch.cumulative_trapezoid(HALF)[-1]", 409.5),
    ("torch.full((1 << 20,), .1).cumsum(0)[-1]", 104857.6015625), ("F.rms_norm(torch.full((1, 8), .1, dtype=torch.float16), (8,))[0, 0]", 1.0),  # noqa: E501
    ("F.rms_norm(torch.full((1, 8), 300., dtype=torch.float16), (8,))[0, 0]", 1.0),
])  # fmt: skip
def test_sums_are_accumulated_in_a_wider_dtype(line, expected):
    assert eval(line).item() == expected


WIDE = [
    F.softplus, F.silu, F.gelu, F.mish, torch.sigmoid, torch.tanh, F.elu, F.selu, F.hardswish, F.hardsigmoid, F.logsigmoid, F.relu6,
    lambda x: F.gelu(x, approximate="tanh"), lambda x: torch.lerp(x, -x, 0.5), lambda x: torch.addcmul(x, x, -x, value=0.5),
    lambda x: torch.addcdiv(x, x, x + 1, value=0.5),
]  # fmt: skip


@pytest.mark.parametrize("f", WIDE)
@pytest.mark.parametrize(
    "number", [-60000.0, -300.0, -20.0, -12.0, -5.0, -0.1, 0.0, 0.1, 12.0, 19.0, 20.0, 300.0, 60000.0]
)
def test_a_function_of_a_float16_is_that_of_the_float32_rounded(f, number):
    x = torch.tensor([number], dtype=torch.float16)
    wanted, got = f(x.float()).half().item(), f(x).item()
    near = abs(got - wanted) <= 2 * np.spacing(np.float16(abs(wanted))) if math.isfinite(wanted) else got == wanted
    assert near, (got, wanted)


@pytest.mark.parametrize("x, expected", [
    ([1e20, 1e20, 0, 2], [0.0, 0.0, math.inf, 0.0]), ([1e20, 1e20, 0, 0], [0.0] * 4), ([0, 0, 1e20, 1e20], [0.0] * 4),
    ([1e20, 0, 1e20, 0, 1e20], [0.0] * 5), ([2, 3, 4], [12.0, 8.0, 6.0]), ([0, 3, 4], [12.0, 0.0, 0.0]),
])  # fmt: skip
@pytest.mark.parametrize("dim", [None, 0])
@pytest.mark.parametrize("graph", [False, True])
def test_the_gradient_of_a_product_beside_overflow_and_zeros(x, expected, dim, graph):
    x = torch.tensor(x, dtype=torch.float32, requires_grad=True)
    out = x.prod() if dim is None else x.prod(dim)
    assert torch.autograd.grad(out, x, create_graph=graph)[0].tolist() == expected


def test_a_product_of_infinite_numbers_keeps_its_nan():
    x = torch.tensor([math.inf, 0.0, 0.0], requires_grad=True)
    assert math.isnan(torch.autograd.grad(x.prod(0), x)[0][1].item())


Z = torch.zeros(3, 2)


@pytest.mark.parametrize("line, kind, sentence", [
    ("Z.index_add(0, torch.tensor([0, 1]), torch.ones(2))", RuntimeError, "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = [3, 2] source.shape = [2]"),  # noqa: E501
    ("Z.index_add(0, torch.tensor([0, 1]), torch.ones(2, 1))", RuntimeError, "source tensor shape must match"),
    ("Z.index_add(0, torch.tensor([5]), torch.ones(1, 2))", RuntimeError, "index 5 is out of bounds for dimension 0 with size 3"),
    ("Z.index_add(0, torch.tensor([-1]), torch.ones(1, 2))", RuntimeError, "index -1 is out of bounds for dimension 0 with size 3"),
    ("Z.index_add(0, torch.tensor([[0]]), torch.ones(1, 2))", IndexError, "index_add_(): Index is supposed to be a vector, but got dim: 2 with type: Long and size: [1, 1]"),  # noqa: E501
    ("Z.index_add(0, torch.tensor([0.]), torch.ones(1, 2))", RuntimeError, "index_add_(): Expected dtype int32/int64 for index but got: Float"),  # noqa: E501
    ("Z.index_copy(0, torch.tensor([0, 1]), torch.ones(2))", IndexError, "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source dimensionality (1), destination dimensionality (2)"),  # noqa: E501
    ("Z.index_copy(0, torch.tensor([0, 1]), torch.ones(2, 3))", RuntimeError, "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: 2 at dimension 0 and source slice shape: 3 at dimension 0."),  # noqa: E501
    ("Z.index_copy(0, torch.tensor([0]), torch.ones(1, 1))", RuntimeError, "index_copy_(): Source/destination tensor must have same slice shapes."),  # noqa: E501
    ("Z.index_copy(0, torch.tensor([5]), torch.ones(1, 2))", IndexError, "index_copy_(): index 5 is out of bounds for dimension 0 with size 3"),  # noqa: E501
    ("Z.index_copy(0, torch.tensor([0.]), torch.ones(1, 2))", RuntimeError, "index_copy_(): Expected a long tensor for index, but got Float"),  # noqa: E501
    ("Z.index_fill(0, torch.tensor([5]), 1)", IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
    ("Z.index_fill(0, torch.tensor([[0]]), 1)", RuntimeError, "Index has to be a vector/scalar"),
    ("Z.scatter(0, torch.tensor([[0, 0, 0]]), torch.ones(1, 3))", RuntimeError, "Expected index [1, 3] to be no larger than self [3, 2] apart from dimension 0 and to be no larger size than src [1, 3]"),  # noqa: E501
    ("Z.scatter(0, torch.zeros(1, 3, dtype=torch.int64), 1.)", RuntimeError, "Expected index [1, 3] to be no larger than self [3, 2] apart from dimension 0"),  # noqa: E501
    ("Z.scatter_add(0, torch.tensor([0]), torch.ones(1, 2))", RuntimeError, "Index tensor must have the same number of dimensions as self tensor"),  # noqa: E501
    ("Z.scatter(0, torch.tensor([0]), 1.)", RuntimeError, "Index tensor must have the same number of dimensions as self tensor"),
])  # fmt: skip
def test_slices_and_positions_that_do_not_fit_are_refused(line, kind, sentence):
    with pytest.raises(kind) as error:
        eval(line)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize("target, ignored, weight", [
    ([0, 1], -100, [0.0, 0.0, 1.0]), ([0, -100], -100, [0.0, 0.0, 1.0]), ([1, 1], 2, [0.0, 0.0, 0.0]),
])  # fmt: skip
def test_a_mean_over_weights_that_are_all_zero_is_nan_with_its_gradient(target, ignored, weight):
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor(target), weight=torch.tensor(weight), ignore_index=ignored)
    loss.backward()
    assert math.isnan(loss.item())
    counted = [t != ignored for t in target]
    assert [bool(row.isnan().all()) for row in x.grad] == counted


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_whole_numbers_as_targets_of_logits_are_refused(dtype):
    x, y = torch.zeros(3, requires_grad=True), torch.tensor([0, 1, 1], dtype=getattr(torch, dtype))
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type"):
        torch.nn.BCEWithLogitsLoss()(x, y)
    torch.nn.BCEWithLogitsLoss()(x, y.float()).backward()
