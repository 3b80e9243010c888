"""docs/dev/operation.md says that an operation is one row, in five steps. This file takes them with a row that is thrown away again."""

import numpy as np
import pytest

import minigrad as torch
from minigrad import Value
from minigrad.core.op import ELEMENTWISE, TABLE, Op
from minigrad.ops.elementwise import cos, sin
from minigrad.scalar import ROWS
from minigrad.tape import Tape
from minigrad.tracing.trace import trace

from . import test_rows
from .samples import Sample, samples

X, Y = np.array([[0.3, -1.2, 0.7], [1.9, 0.4, -0.6]]), np.array([1.5, -0.5, 2.0])


@pytest.fixture
def new_row(request):
    """Steps 1 to 3: a function on ndarrays, a rule for each input, and a case that runs it (here given as its sample)."""
    rules = {"x": lambda g, x, y: g * y * cos(x), "y": lambda g, x: g * sin(x), **getattr(request, "param", {})}
    op = Op("wave", lambda x, y: y * np.sin(x), ELEMENTWISE, formula="y * sin(x)", **rules)
    samples()["wave"] = [Sample("wave", [X, Y], (), "here")]
    test_rows.differentiable.cache_clear()
    yield op
    del TABLE["wave"], samples()["wave"]
    ROWS.pop("wave", None)
    test_rows.differentiable.cache_clear()


CHECKS = [
    lambda: test_rows.test_has_a_sample("wave"),
    lambda: test_rows.test_adjoint_and_differences("wave"),
    lambda: test_rows.test_fast_mode_is_graph_mode_bit_for_bit("wave", "float64"),
    lambda: test_rows.test_fast_mode_is_graph_mode_bit_for_bit("wave", "float32"),
    lambda: test_rows.test_second_order("wave"),
    lambda: test_rows.test_kinks("wave"),
    lambda: test_rows.test_saved_values_are_protected_and_only_they("wave"),
    lambda: test_rows.test_nothing_outlives_the_pass("wave", False),
    lambda: test_rows.test_nothing_outlives_the_pass("wave", True),
    lambda: test_rows.test_views("wave"),
]


def test_the_row_brings_its_tests(new_row):
    for check in CHECKS:
        check()


def test_the_row_brings_the_rest(new_row):
    x, y = torch.tensor(X, requires_grad=True), torch.tensor(Y, requires_grad=True)
    out = new_row(x, y)
    np.testing.assert_allclose(out.detach().numpy(), Y * np.sin(X))
    assert type(out.grad_fn).__name__ == "WaveBackward0"
    assert [type(node).__name__ for node, _ in out.grad_fn.next_functions] == ["AccumulateGrad", "AccumulateGrad"]
    assert out.grad_fn._saved_x is x and out.grad_fn._saved_self is x and out.grad_fn._saved_other is y

    (slope,) = torch.autograd.grad(out.sum(), x, create_graph=True)  # the same rule, recorded
    (bend,) = torch.autograd.grad(slope.sum(), x)
    np.testing.assert_allclose(bend.numpy(), -Y * np.sin(X))

    with torch.autograd.forward_ad.dual_level():  # the same rule, pushed forward
        dual = torch.autograd.forward_ad.make_dual(x.detach(), torch.ones_like(x))
        tangent = torch.autograd.forward_ad.unpack_dual(new_row(dual, y.detach())).tangent
    np.testing.assert_allclose(tangent.numpy(), Y * np.cos(X))

    out = new_row(x, y)
    with torch.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):  # the version of exactly what is saved
        out.sum().backward()

    assert new_row(torch.tensor([1]), torch.tensor([2.5])).dtype == torch.float32  # promotion
    assert new_row(torch.ones(2, 1), torch.ones(3)).shape == (2, 3)  # broadcasting
    with pytest.raises(RuntimeError, match="must match the size"):
        new_row(torch.ones(2), torch.ones(3))
    with pytest.raises(TypeError, match=r"wave\(\): argument 'other' \(position 2\) must be Tensor, not str"):
        new_row(torch.ones(2), "a")


def test_the_transforms_know_the_row(new_row):
    x, y = torch.tensor(X), torch.tensor(Y)
    out, tangent = torch.func.jvp(new_row, (x, y), (torch.ones_like(x), torch.ones_like(y)))
    np.testing.assert_allclose(out.numpy(), Y * np.sin(X))
    np.testing.assert_allclose(tangent.numpy(), Y * np.cos(X) + np.sin(X))
    np.testing.assert_array_equal(torch.func.vmap(new_row)(x.T, y).numpy(), (Y * np.sin(X)).T)
    assert torch.autograd.gradcheck(new_row, (x.requires_grad_(), y.requires_grad_()), check_forward_ad=True)


def test_pictures_know_the_row(new_row):
    x, y = torch.tensor(X, requires_grad=True), torch.tensor(Y, requires_grad=True)
    t = trace(new_row(x, y), {"x": x, "y": y})
    assert t["nodes"][-1]["expr"] == "y × sin(x)"
    assert [edge["local_text"] for edge in t["edges"]] == ["g × y × cos(x)", "g × sin(x)"]


def test_the_compiler_knows_the_row(new_row):
    pytest.importorskip("numba")
    fused = torch.compile(lambda x, y: new_row(x, y).exp())
    x, y = (torch.tensor(a, requires_grad=True) for a in (X, X[::-1].copy()))
    out = fused(x, y)
    assert fused.why is None and "sin(x0)" in fused.source
    np.testing.assert_allclose(out.detach().numpy(), np.exp(X[::-1] * np.sin(X)))
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp(X[::-1] * np.sin(X)) * X[::-1] * np.cos(X))
    np.testing.assert_allclose(y.grad.numpy(), np.exp(X[::-1] * np.sin(X)) * np.sin(X))


def test_values_and_their_tape_know_the_row(new_row):
    x, y = Value(0.3, "x"), Value(1.5, "y")
    out = new_row(x, y) * 2
    out.backward()
    assert [out.data, x.grad, y.grad] == pytest.approx([3 * np.sin(0.3), 3 * np.cos(0.3), 2 * np.sin(0.3)])
    t = trace(out, {"x": x, "y": y})
    wave = next(node for node in t["nodes"] if node["op"] == "wave")
    assert wave["expr"] == "y × sin(x)"
    assert [edge["local_text"] for edge in t["edges"]][:2] == ["y × cos(x)", "sin(x)"]

    tape = Tape(out)
    x.data, y.data = -1.2, 0.5
    tape.replay()
    assert [out.data, x.grad, y.grad] == pytest.approx([np.sin(-1.2), np.cos(-1.2), 2 * np.sin(-1.2)])
    values, grads, slopes = tape.sweep(x, [0.0, 1.0, 2.0])
    np.testing.assert_allclose(values[:, -1], np.sin([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(grads[:, tape._id(x)], np.cos([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(slopes[:, 0], 0.5 * np.cos([0.0, 1.0, 2.0]))


@pytest.mark.parametrize("number", [0.0, -1.5, 0.7])
@pytest.mark.parametrize("name", ["exp", "sin", "tanh", "sigmoid", "relu", "abs"])
def test_a_row_on_values_agrees_with_the_operation_that_value_has(name, number):
    x, z = Value(number), Value(number)
    getattr(torch, name)(x).backward()
    (abs(z) if name == "abs" else getattr(z, name)()).backward()
    assert x.grad == pytest.approx(z.grad, rel=1e-15, abs=1e-15)


@pytest.mark.parametrize(
    "new_row", [{"x": lambda g, x, y: g * cos(x)}, {"y": lambda g, x: g * sin(x) * 1.001}], indirect=True
)
def test_a_wrong_rule_does_not_pass(new_row):
    with pytest.raises(AssertionError):
        test_rows.test_adjoint_and_differences("wave")


def test_a_rule_that_asks_for_what_does_not_exist_is_refused_when_it_is_read():
    with pytest.raises(TypeError, match="row 'broken': the rule for 'x' asks for 'z'"):
        Op("broken", np.sin, ELEMENTWISE, x=lambda g, z: g)
    assert "broken" not in TABLE
