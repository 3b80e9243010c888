"""Printing against PyTorch: stored texts, and, where torch can be imported, drawn ones."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minigrad.core.dtypes as dtypes
import minigrad.tensors.printing as tensor_str

from .reference import cases_printing

STORED = json.loads((Path(__file__).parent / "reference" / "printing.json").read_text())
CASES = cases_printing.cases()


def ours(array, dtype, facts):
    return tensor_str.tensor_str(
        array,
        getattr(dtypes, dtype),
        requires_grad=facts == "requires_grad",
        grad_fn="MulBackward0" if facts == "grad_fn" else None,
    )


def test_every_case_has_a_stored_text():
    assert CASES.keys() == STORED.keys()
    assert len(CASES) >= 300


@pytest.mark.parametrize("name", CASES)
def test_text(name):
    array, dtype, facts, options = CASES[name]
    with tensor_str.printoptions(**options):
        assert ours(array, dtype, facts) == STORED[name]


def test_tangent_and_prefix():
    one = np.ones(2, np.float32)
    assert (
        tensor_str.tensor_str(one, dtypes.float32, tangent="tensor([1., 1.])")
        == "tensor([1., 1.], tangent=tensor([1., 1.]))"
    )
    assert (
        tensor_str.tensor_str(
            2 * one, dtypes.float32, grad_fn="MulBackward0", tangent="tensor([2., 2.], grad_fn=<AddBackward0>)"
        )
        == "tensor([2., 2.], grad_fn=<MulBackward0>,\n       tangent=tensor([2., 2.], grad_fn=<AddBackward0>))"
    )
    assert (
        tensor_str.tensor_str(np.eye(2), dtypes.float32, prefix="MyTensor(")
        == "MyTensor([[1., 0.],\n          [0., 1.]])"
    )


def test_bfloat16_prints_the_numbers_it_is_given():
    assert (
        tensor_str.tensor_str(np.array([0.10009765625, 2]), dtypes.bfloat16)
        == "tensor([0.1001, 2.0000], dtype=torch.bfloat16)"
    )


def test_default_dtype_decides_the_suffix():
    one = np.ones(1)
    try:
        dtypes.set_default_dtype(dtypes.float64)
        assert tensor_str.tensor_str(one, dtypes.float64) == "tensor([1.])"
        assert tensor_str.tensor_str(one, dtypes.float32) == "tensor([1.], dtype=torch.float32)"
    finally:
        dtypes.set_default_dtype(dtypes.float32)


def test_options_are_kept_given_back_and_restored():
    before = tensor_str.get_printoptions()
    assert before == {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
    with pytest.raises(KeyError), tensor_str.printoptions(precision=1, sci_mode=True):
        assert tensor_str.get_printoptions() == {**before, "precision": 1, "sci_mode": True}
        tensor_str.set_printoptions(edgeitems=9)
        assert tensor_str.get_printoptions()["sci_mode"] is None  # as in PyTorch: sci_mode is set by every call
        raise KeyError
    assert tensor_str.get_printoptions() == before


@pytest.mark.parametrize("bad", [{"profile": "tall"}, {"precision": -1}, {"precision": 2.5}])
def test_bad_options_are_refused_when_set(bad):
    with pytest.raises(ValueError, match="set_printoptions"):
        tensor_str.set_printoptions(**bad)
    assert tensor_str.get_printoptions()["precision"] == 4


numbers = st.one_of(
    st.floats(width=32),
    st.floats(-1000, 1000, width=32),
    st.integers(-2000, 2000).map(float),
    st.sampled_from([0.0, -0.0, 1e8, 1.0001e-4, 1e-4, 9.99995, 0.5, 1e3, 1e5, float("nan"), float("inf")]),
)
drawn_options = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(0, 8),
        "threshold": st.sampled_from([0, 5, 20, 1000]),
        "edgeitems": st.integers(0, 4),
        "linewidth": st.integers(1, 130),
        "sci_mode": st.sampled_from([None, True, False]),
        "profile": st.sampled_from(["default", "short", "full"]),
    },
)


@settings(max_examples=600, deadline=None)
@given(
    array=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9).flatmap(
        lambda shape: hnp.arrays(np.float64, shape, elements=numbers, fill=numbers)
    ),
    dtype=st.sampled_from(["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool"]),
    facts=st.sampled_from(["", "requires_grad", "grad_fn"]),
    options=drawn_options,
)
@example(array=np.array([1.0, 1000.0]), dtype="bfloat16", facts="", options={})
def test_live(array, dtype, facts, options):
    torch = pytest.importorskip("torch")
    if "float" not in dtype:
        facts = ""
        array = np.nan_to_num(array, posinf=7, neginf=-7).clip(-(2**31), 2**31 - 1 if dtype != "uint8" else 255)
        array = abs(array) if dtype == "uint8" else array
    x = torch.from_numpy(np.array(array)).to(getattr(torch, dtype))
    data = x.double().numpy() if dtype == "bfloat16" else x.numpy().copy()
    if facts:
        x.requires_grad_()
    theirs = torch._tensor_str
    torch.set_printoptions(profile="default")
    try:
        torch.set_printoptions(**options)
        text = theirs._str(x * 1 if facts == "grad_fn" else x)
    finally:
        torch.set_printoptions(profile="default")
    with tensor_str.printoptions(**options):
        assert ours(data, dtype, facts) == text
