"""Operators between a tensor and an ndarray, and what a refused one leaves behind. The dtypes are what PyTorch 2.13 gave."""

import operator

import numpy as np
import pytest

import minigrad as torch

OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.matmul,
]
WRITING = [
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
]
KINDS = ["float64", "float32", "float16", "int64", "int32", "uint8"]


def works():
    """What a class writes in every second cell."""
    assert (torch.ones(2) * np.ones(2)).tolist() == [1, 1]
    assert (np.ones(2) + torch.ones(2)).tolist() == [2, 2]
    assert (torch.tensor([1, 0]) == np.array([1, 1])).tolist() == [True, False]
    assert (torch.ones(2) * 0.5).tolist() == [0.5, 0.5]
    assert (torch.ones(2) - np.float32(0.5)).tolist() == [0.5, 0.5]


REFUSED = {
    "add": lambda x, a: torch.add(x, a), "sub": lambda x, a: torch.sub(x, a), "mul": lambda x, a: torch.mul(x, a),
    "div": lambda x, a: torch.div(x, a), "pow": lambda x, a: torch.pow(x, a), "eq": lambda x, a: torch.eq(x, a),
    "maximum": lambda x, a: torch.maximum(x, a), "where": lambda x, a: torch.where(x > 0, x, a),
    "fmod": lambda x, a: torch.fmod(x, a), "clamp": lambda x, a: x.clamp(np.array(0.0)),
    "lerp": lambda x, a: x.lerp(x, np.array(0.5)), "atan2": lambda x, a: torch.atan2(x, a), "add_": lambda x, a: x.add_(a),
    "sub_": lambda x, a: x.sub_(a), "mul_": lambda x, a: x.mul_(a), "pow_": lambda x, a: x.pow_(a),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_array_is_named_and_changes_nothing_for_later_lines(name):
    with pytest.raises(TypeError, match=r"must be Tensor, not numpy\.ndarray"):
        REFUSED[name](torch.ones(2), np.ones(2))
    works()


OPERANDS = [np.ones(2), np.array(0.5), [1.0, 2.0], {1: 2}, {1}, "a", None, object(), b"a"]


@pytest.mark.parametrize("value", OPERANDS, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize(
    "line", [torch.add, torch.Tensor.mul_, operator.iadd, operator.pow, torch.maximum, torch.Tensor.clamp_min]
)
def test_no_operand_of_any_type_changes_what_later_lines_do(line, value):
    try:
        line(torch.ones(2), value)
    except (TypeError, RuntimeError):
        pass
    works()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ours", KINDS)
@pytest.mark.parametrize("f", OPERATORS, ids=lambda f: f.__name__)
def test_an_operator_with_an_array_gives_numpy_s_dtype(f, ours, kind):
    x, a = np.array([2, 3], ours), np.array([1, 2], kind)
    expected = f(x, a)
    got = f(torch.from_numpy(x.copy()), a)
    assert isinstance(got, torch.Tensor)
    wanted = expected.dtype
    if f is operator.truediv and x.dtype.kind != "f" and a.dtype.kind != "f":
        wanted = np.dtype("float64")
    assert str(got.dtype) == f"torch.{wanted}"
    assert np.allclose(got.numpy(), expected, rtol=1e-3 if wanted == np.float16 else 1e-6)


@pytest.mark.parametrize("f", WRITING, ids=lambda f: f.__name__)
def test_an_operator_that_writes_makes_a_new_tensor_of_an_array(f):
    x = alias = torch.tensor([2.0, 3.0])
    x = f(x, np.array([1.0, 2.0]))
    plain = getattr(operator, f.__name__[1:])
    assert x.dtype is torch.float64 and x.tolist() == plain(np.array([2.0, 3.0]), np.array([1.0, 2.0])).tolist()
    assert alias.tolist() == [2.0, 3.0]


@pytest.mark.parametrize("name", ["iand", "ior", "ixor", "ilshift", "irshift"])
def test_an_operator_on_bits_that_writes_reaches_every_name_of_the_tensor(name):
    x = alias = torch.tensor([5, 6])
    x = getattr(operator, name)(x, torch.tensor([1, 2]))
    assert x is alias and x.tolist() == getattr(operator, name)(np.array([5, 6]), np.array([1, 2])).tolist()
