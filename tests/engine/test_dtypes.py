"""Dtypes against PyTorch: every pair promoted, every kind of operand combined, limits, names."""

import copy
import json
import pickle
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import minigrad as torch
import minigrad.core.dtypes as dtypes

from .reference import cases_dtypes

STORED = json.loads((Path(__file__).parent / "reference" / "dtypes.json").read_text())


@pytest.fixture(autouse=True)
def default_dtype():
    yield
    dtypes.set_default_dtype(dtypes.float32)


def ours():
    def tensor(name, ndim):
        return SimpleNamespace(dtype=getattr(dtypes, name), ndim=ndim)

    return cases_dtypes.answers(dtypes, tensor)


@pytest.mark.parametrize("question", STORED)
def test_answers(question):
    mine = json.loads(json.dumps(ours()[question]))
    assert mine == STORED[question]


def test_answers_of_live_torch():
    torch = pytest.importorskip("torch")
    theirs = cases_dtypes.answers(torch, lambda name, ndim: torch.ones((2,) * ndim, dtype=getattr(torch, name)))
    assert json.loads(json.dumps(theirs)) == STORED


def test_there_is_one_of_each():
    for d in dtypes.ALL:
        assert copy.deepcopy(d) is d
        assert pickle.loads(pickle.dumps(d)) is d
    assert dtypes.float is dtypes.float32
    assert dtypes.long is dtypes.int64
    assert {dtypes.bool: 1}[dtypes.bool_] == 1
    with pytest.raises(TypeError, match="cannot create 'torch.dtype' instances"):
        dtypes.dtype("float128")
    with pytest.raises(AttributeError, match="no attribute 'sise'"):
        _ = dtypes.float32.sise


def test_numpy_correspondence():
    for d in dtypes.ALL:
        if d is not dtypes.bfloat16:
            assert dtypes.from_numpy_dtype(np.zeros(1, d.numpy).dtype) is d
            assert d.numpy.itemsize == d.itemsize
    with pytest.raises(TypeError, match="can't convert np.ndarray of type numpy.complex128"):
        dtypes.from_numpy_dtype(np.dtype(complex))
    with pytest.raises(TypeError, match="can't convert np.ndarray of type numpy.str_"):
        dtypes.from_numpy_dtype(np.array(["a"]).dtype)
    with pytest.raises(ValueError, match="byte order"):
        dtypes.from_numpy_dtype(np.dtype(">f4"))


def test_bfloat16_says_what_to_use_instead():
    with pytest.raises(TypeError, match=r"torch\.bfloat16 is known by name only.*Use torch\.float32"):
        _ = dtypes.bfloat16.numpy
    with pytest.raises(TypeError, match="known by name only"):
        dtypes.set_default_dtype(dtypes.bfloat16)
    assert dtypes.get_default_dtype() is dtypes.float32


def test_as_dtype():
    assert [dtypes.as_dtype(d) for d in (float, int, bool, dtypes.int8)] == [
        dtypes.float64,
        dtypes.int64,
        dtypes.bool_,
        dtypes.int8,
    ]
    for bad, name in (("float32", "str"), (np.float32, "type"), ([], "list")):
        with pytest.raises(TypeError, match=rf"zeros\(\): argument 'dtype' must be torch.dtype, not {name}"):
            dtypes.as_dtype(bad, "zeros")


def test_result_type_of_ndarrays_and_of_several():
    f2, i4, b = np.ones(2, "float16"), np.ones(2, "int32"), np.ones((), bool)
    assert dtypes.result_type(f2, i4, b, 2.0) is dtypes.float16
    assert dtypes.result_type(i4, b, True) is dtypes.int32
    assert dtypes.result_type(b, 1) is dtypes.int64
    # 0-d float64 is a tensor: it beats the number
    assert dtypes.result_type(i4, np.ones((), "float64"), 2.5) is dtypes.float64
    with pytest.raises(TypeError, match="not str"):
        dtypes.result_type("1", 2)
    with pytest.raises(TypeError, match="at least one"):
        dtypes.result_type()


def test_promotion_is_symmetric_idempotent_and_rises():
    for a, b in product(dtypes.ALL, dtypes.ALL):
        c = dtypes.promote_types(a, b)
        assert c is dtypes.promote_types(b, a)
        assert dtypes.promote_types(c, a) is c
        assert dtypes.can_cast(a, c)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dtypes.finfo(dtypes.int32), "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"),
        (lambda: dtypes.iinfo(dtypes.float32), "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"),
        (lambda: dtypes.iinfo(dtypes.bool), "torch.bool is not supported by torch.iinfo"),
        (lambda: dtypes.finfo(3), "finfo(): argument 'type' (position 1) must be torch.dtype, not int"),
        (lambda: dtypes.set_default_dtype(dtypes.int32), "only floating-point types are supported as the default type"),
        (lambda: dtypes.set_default_dtype("x"), "invalid dtype object: only floating-point types are supported as the default type"),
        (lambda: dtypes.promote_types(dtypes.int32, 3), "promote_types(): argument 'type2' (position 2) must be torch.dtype, not int"),
        (lambda: dtypes.can_cast(1, dtypes.int32), "can_cast(): argument 'from_' (position 1) must be torch.dtype, not int"),
    ],
)  # fmt: skip
def test_errors_are_pytorchs(call, message):
    with pytest.raises(TypeError) as e:
        call()
    assert str(e.value).split("\n\n")[0] == message


def test_limits_compare_by_dtype():
    assert dtypes.finfo() == dtypes.finfo(dtypes.float32) != dtypes.finfo(dtypes.float64)
    assert dtypes.iinfo(dtypes.int8) == dtypes.iinfo(dtypes.int8) != dtypes.iinfo(dtypes.int16)
    assert len({dtypes.iinfo(dtypes.int8), dtypes.iinfo(dtypes.int8)}) == 1


UNPICKLED = {  # ways in for the arrays of others
    "from_numpy": lambda a: torch.from_numpy(a),
    "as_tensor": lambda a: torch.as_tensor(a),
    "asarray": lambda a: torch.asarray(a),
    "tensor": lambda a: torch.tensor(a),
    "tensor of rows": lambda a: torch.tensor(list(a)),
    "dtype": lambda a: torch.tensor(a, dtype=torch.float32),
    "new_tensor": lambda a: torch.ones(1).new_tensor(a),
    "Tensor": lambda a: torch.Tensor(a),
    "collate": lambda a: torch.utils.data.default_collate(list(a)),
    "operator": lambda a: torch.as_tensor(1) * a,
    "reflected": lambda a: a * torch.as_tensor(1),
    "pickled tensor": lambda a: pickle.loads(pickle.dumps(torch.from_numpy(a))),
    "parameter": lambda a: torch.nn.Parameter(torch.from_numpy(a)),
}


@pytest.mark.parametrize("way", UNPICKLED)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_an_array_that_was_pickled_enters_with_numpys_own_dtype(way, dtype):
    """Its dtype equals numpy's, but is another object; the engine compares dtypes with `is`."""
    if way in ("parameter", "operator", "reflected") and not dtype.startswith("float"):
        pytest.skip("no gradient, or another dtype")
    array = pickle.loads(pickle.dumps(np.ones((4, 8), dtype)))
    assert array.dtype is not np.dtype(dtype)
    kind = UNPICKLED[way](array).array.dtype
    assert kind is np.dtype(kind.name)


def test_a_layer_takes_an_array_that_was_pickled():
    array = pickle.loads(pickle.dumps(np.ones((1, 4, 8), "float32")))
    x = torch.from_numpy(array)
    assert torch.nn.Linear(8, 2)(x).shape == (1, 4, 2)
    assert torch.nn.Conv1d(4, 2, 3)(x).shape == (1, 2, 6)
    assert torch.nn.LSTM(8, 3)(x)[0].shape == (1, 4, 3)
    assert torch.nn.functional.scaled_dot_product_attention(x, x * 1, x).shape == (1, 4, 8)
    assert torch.nn.functional.binary_cross_entropy(x, x * 1) == 0
