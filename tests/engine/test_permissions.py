"""What minigrad runs and PyTorch refuses: the table, its warnings, strict(), and the page about it; and what is refused always."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import minigrad as torch
import minigrad.nn.functional as F
from minigrad.core import permissions
from tools import compatibility


@pytest.fixture
def strict():
    torch.strict()
    yield
    torch.strict(False)


@pytest.fixture(autouse=True)
def nothing_warned(monkeypatch):
    monkeypatch.setattr(permissions, "_warned", set())


def leaf():
    return torch.ones(2, requires_grad=True)


ALLOWED = [
    (
        "array and gradient",
        lambda: leaf() * np.ones(2),
        RuntimeError,
        "Can't call numpy() on Tensor that requires grad.",
    ),
    (
        "array and gradient",
        lambda: np.ones(2) - leaf(),
        RuntimeError,
        "Can't call numpy() on Tensor that requires grad.",
    ),
    (
        "array and gradient",
        lambda: leaf() @ np.ones(2),
        RuntimeError,
        "Can't call numpy() on Tensor that requires grad.",
    ),
    (
        "number for a tensor",
        lambda: torch.maximum(leaf(), 0),
        TypeError,
        "maximum(): argument 'other' (position 2) must be Tensor, not int",
    ),  # noqa: E501
    (
        "number for a tensor",
        lambda: leaf().minimum(0.5),
        TypeError,
        "minimum(): argument 'other' (position 2) must be Tensor, not float",
    ),
    (
        "number for a tensor",
        lambda: torch.max(leaf(), 0.0),
        TypeError,
        "maximum(): argument 'other' (position 2) must be Tensor, not float",
    ),  # noqa: E501
    ("number for a tensor", lambda: torch.logical_and(leaf() > 0, True), TypeError, "logical_and(): argument 'other'"),
    (
        "number for a tensor",
        lambda: torch.atan2(leaf(), 1.0),
        TypeError,
        "atan2(): argument 'other' (position 2) must be Tensor, not float",
    ),  # noqa: E501
]


@pytest.mark.parametrize("row, line, kind, sentence", ALLOWED)
def test_what_is_allowed_warns_once_with_pytorch_s_sentence(row, line, kind, sentence):
    with pytest.warns(UserWarning, match="PyTorch refuses this: ") as caught:
        line()
    assert sentence in str(caught[0].message) and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        line()


@pytest.mark.parametrize("row, line, kind, sentence", ALLOWED)
def test_strict_makes_it_pytorch_s_error(row, line, kind, sentence, strict):
    with pytest.raises(kind) as error:
        line()
    assert str(error.value).startswith(sentence)
    assert permissions.TABLE[row].warns


def test_every_row_that_warns_is_tried():
    assert {row for row, *_ in ALLOWED} == {row for row, p in permissions.TABLE.items() if p.warns}


def test_a_gradient_that_no_array_reaches_is_no_matter_of_permission(strict):
    with torch.no_grad():
        assert (leaf() * np.ones(2)).tolist() == [1, 1]
    assert (torch.ones(2) * np.ones(2)).tolist() == [1, 1]


def test_the_engine_s_own_numbers_are_no_matter_of_permission(strict):
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    for f in (
        F.relu6,
        F.hardswish,
        lambda x: F.triplet_margin_loss(x[None], x[None], x[None], swap=True),
        lambda x: F.normalize(x, dim=0),
    ):
        torch.autograd.grad(f(x).sum(), x, create_graph=True)[0].sum()


def test_the_page_has_both_tables():
    page = compatibility.PAGE.read_text(encoding="utf-8")
    assert compatibility.written(page) == page, "run `python -m tools.compatibility`"


def test_a_page_that_is_out_of_date_is_written_again():
    page = compatibility.PAGE.read_text(encoding="utf-8")
    old = page.replace("`cdist` of float16", "`cdist` of float64")
    assert old != page == compatibility.written(old)


REFUSED = [
    (
        lambda: torch.relu(np.ones(2)),
        TypeError,
        "relu(): argument 'input' (position 1) must be Tensor, not numpy.ndarray",
    ),
    (
        lambda: torch.exp(np.float64(2)),
        TypeError,
        "exp(): argument 'input' (position 1) must be Tensor, not numpy.float64",
    ),
    (
        lambda: torch.sum(np.ones(2)),
        TypeError,
        "sum(): argument 'input' (position 1) must be Tensor, not numpy.ndarray",
    ),
    (lambda: torch.mean([1.0, 2.0]), TypeError, "mean(): argument 'input' (position 1) must be Tensor, not list"),
    (
        lambda: torch.isclose(leaf(), np.ones(2)),
        TypeError,
        "isclose(): argument 'other' (position 2) must be Tensor, not numpy.ndarray",
    ),
    (lambda: leaf().isclose(np.ones(2)), TypeError, "isclose(): argument 'other'"),
    (lambda: torch.pow(2, 3), TypeError, "pow(): argument"),
    (lambda: torch.ones(2).copy_([1, 2]), TypeError, "copy_(): argument 'other' (position 1) must be Tensor, not list"),
    (
        lambda: torch.tensor([1.0], requires_grad="yes"),
        TypeError,
        "tensor(): argument 'requires_grad' must be bool, not str",
    ),
    (lambda: torch.zeros(2, requires_grad=1), TypeError, "zeros(): argument 'requires_grad' must be bool, not int"),
    (
        lambda: leaf().requires_grad_("no"),
        TypeError,
        "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not str",
    ),
    (
        lambda: torch.from_numpy(np.arange(3)[::-1]),
        ValueError,
        "At least one stride in the given numpy array is negative",
    ),
    (
        lambda: torch.tensor(np.ones((2, 2))[:, ::-1]),
        ValueError,
        "At least one stride in the given numpy array is negative",
    ),
    (lambda: leaf().max(False), TypeError, "max(): argument 'dim' must be int, not bool"),
    (lambda: leaf().sum(True), TypeError, "argument 'dim' must be int or tuple of ints, not bool"),
    (lambda: leaf().sum("a"), TypeError, "argument 'dim' must be int or tuple of ints, not str"),
    (lambda: leaf().softmax(1.5), TypeError, "argument 'dim' must be int, not float"),
    (lambda: torch.autograd.grad("a", leaf()), AssertionError, "Expected output to be a torch.Tensor"),
    (
        lambda: torch.tensor([True]) % torch.tensor([True]),
        NotImplementedError,
        "\"remainder_cpu\" not implemented for 'Bool'",
    ),
    (lambda: torch.tensor([True]).median(), NotImplementedError, "\"median_cpu\" not implemented for 'Bool'"),
    (
        lambda: torch.tensor([1, 2]).softmax(0),
        NotImplementedError,
        "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'",
    ),
    (
        lambda: torch.randn(2, dtype=torch.int64),
        NotImplementedError,
        "\"normal_kernel_cpu\" not implemented for 'Long'",
    ),
    (
        lambda: torch.zeros(2, dtype=torch.int64).normal_(),
        NotImplementedError,
        "\"normal_kernel_cpu\" not implemented for 'Long'",
    ),
    (
        lambda: torch.rand(2, dtype=torch.uint8),
        NotImplementedError,
        "\"check_uniform_bounds\" not implemented for 'Byte'",
    ),
    (
        lambda: torch.bernoulli(torch.tensor([0, 1])),
        NotImplementedError,
        "\"bernoulli_tensor_cpu_p_\" not implemented for 'Long'",
    ),
    (
        lambda: F.binary_cross_entropy_with_logits(leaf(), torch.tensor([0, 1])),
        RuntimeError,
        "result type Float can't be cast to the desired",
    ),  # noqa: E501
]


@pytest.mark.parametrize("line, kind, sentence", REFUSED)
def test_what_would_teach_something_false_is_refused(line, kind, sentence):
    with pytest.raises(kind) as error:
        line()
    assert str(error.value).startswith(sentence)


def test_what_pytorch_warns_of():
    for line, sentence in (
        (lambda: torch.ones(2, 3, 4).T, "The use of `x.T` on tensors of dimension other than 2"),
        (lambda: torch.meshgrid(torch.ones(2), torch.ones(3)), "it will be required to pass the indexing argument"),
        (lambda: torch.from_numpy(np.broadcast_to(np.ones(1), 3)), "The given NumPy array is not writable"),
    ):
        with pytest.warns(UserWarning, match=sentence):
            line()


def test_a_rule_of_one_s_own_still_computes_on_arrays():
    program = (
        "import numpy as np, minigrad as torch\nfrom minigrad.core.op import ELEMENTWISE, Op\n"
        "cube = Op('cube', lambda x: x ** 3 + np.exp(x), ELEMENTWISE, x=lambda g, x: g * (3 * x * x + torch.exp(x)))\n"
        "x = torch.zeros(2, requires_grad=True)\ncube(x).sum().backward()\nprint(x.grad.tolist())\n"
    )
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        == "[1.0, 1.0]\n"
    )


def test_whole_numbers_never_come_to_require_gradients():
    z = torch.zeros(2, dtype=torch.int64)
    z[0] = torch.ones((), requires_grad=True)
    assert not z.requires_grad and z.is_leaf
    assert not z.copy_(leaf()).requires_grad and not z.add_(torch.ones(2, dtype=torch.int64)).requires_grad


def test_copy_takes_a_number():
    assert torch.ones(2).copy_(3).tolist() == [3, 3]


@pytest.mark.parametrize("arguments, shape", [
    ([[0, 1], [1, 2], [0, 2]], (2, 2)), ([[0, 1], [1, 2]], (2, 2)), ([[0, 1], [1, 2], []], ()),
])  # fmt: skip
def test_einsum_with_numbers_for_names(arguments, shape):
    a, b = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(3, 2)
    out = torch.einsum(a, arguments[0], b, arguments[1], *arguments[2:])
    expected = np.einsum(a.numpy(), arguments[0], b.numpy(), arguments[1], *arguments[2:])
    assert tuple(out.shape) == shape and np.array_equal(out.numpy(), expected)


def test_a_single_sample_with_its_class_in_a_vector():
    logits = torch.tensor([1.0, 2.0, 3.0])
    assert F.cross_entropy(logits, torch.tensor([1])).item() == F.cross_entropy(logits, torch.tensor(1)).item()
    with pytest.raises(ValueError, match="For 1D input, 1D target must have size 1, but got target size: 2"):
        F.cross_entropy(logits, torch.tensor([1, 2]))


def test_gumbel_softmax_draws_pytorch_s_numbers():
    torch.manual_seed(0)
    wanted = [0.09141199290752411, 0.26065272092819214, 0.5214310884475708, 0.12650418281555176]
    assert np.allclose(F.gumbel_softmax(torch.zeros(4)).numpy(), wanted, rtol=1e-6)
