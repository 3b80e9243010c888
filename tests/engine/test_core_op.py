"""How a row becomes an operation: what is read, what is saved, what is rejected."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import minigrad as torch
from minigrad.core.constants import constant
from minigrad.core.op import ELEMENTWISE, GENERAL, LINEAR, TABLE, Op, on_arrays
from minigrad.ops import lookup


@pytest.fixture
def table():
    """Rows made in a test are taken out of the table again."""
    before = dict(TABLE)
    yield TABLE
    for name in TABLE.keys() - before.keys():
        del TABLE[name]


def numbers(*values, **kwargs):
    return torch.tensor(values, dtype=torch.float64, **kwargs)


def test_adding_an_operation_is_one_row(table):
    cube = Op("cube", lambda x: x**3, ELEMENTWISE, x=lambda g, x: g * 3 * x * x)
    x = numbers(1.0, 2.0, requires_grad=True)
    y = cube(x)
    assert repr(y) == "tensor([1., 8.], dtype=torch.float64, grad_fn=<CubeBackward0>)"
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [3.0, 12.0]
    assert torch.autograd.grad(g.sum(), x)[0].tolist() == [6.0, 12.0]
    assert cube(np.array([2.0])).tolist() == [8.0]  # on ndarrays it computes
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, numbers(1.0, 10.0))
        assert torch.autograd.forward_ad.unpack_dual(cube(dual)).tangent.tolist() == [3.0, 120.0]


def test_operations_in_a_rule_of_the_package_are_functions_on_ndarrays():
    rule = lookup.addmm_.rules["x"]
    fast = on_arrays(rule)
    assert fast is not rule and fast.__globals__["mm_"] is lookup.mm_.forward and rule.__globals__["mm_"] is lookup.mm_
    assert on_arrays(TABLE["mul"].rules["x"]) is TABLE["mul"].rules["x"]  # nothing to replace


def test_numpy_s_warnings_in_such_a_rule_stay_unsaid():
    """log(0) is -inf without a word, and so is a gradient that overflows: in a fresh Python, because pytest has filters of its own."""
    code = """if True:
        import minigrad as torch
        w = torch.full((1, 2), 1e30, requires_grad=True)
        x = torch.full((2, 1), 1e30)
        (w @ x).backward(torch.full((1, 1), 1e30))
        torch.nn.functional.linear(torch.ones(2, 2), w).backward(torch.full((2, 1), 3e38))
        print(w.grad.tolist())
    """
    run = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert run.stdout == "[[inf, inf]]\n" and run.stderr == ""


def test_what_a_learner_s_rule_reads_may_be_defined_again(table):
    scope = {"half": TABLE["mul"], "__name__": "__main__"}
    row = Op("own", lambda x: x * 0.5, ELEMENTWISE, x=eval("lambda g: half(g, 0.5)", scope))
    x = numbers(3.0, requires_grad=True)
    row(x).sum().backward()
    scope["half"] = lambda g, factor: g * 7
    row(x).sum().backward()  # once as it was, once as it is
    assert x.grad.tolist() == [0.5 + 7]


def test_unknown_names_are_rejected_naming_the_row():
    with pytest.raises(
        TypeError, match=r"row 'bad': the rule for 'x' asks for 'z', which is none of its inputs \(x, y\)"
    ):
        Op("bad", np.multiply, ELEMENTWISE, x=lambda g, z: g * z, y=lambda g, x: g * x)
    with pytest.raises(TypeError, match="row 'bad': kind 'wrong'"):
        Op("bad", np.exp, "wrong", x=lambda g: g)


def test_a_node_saves_what_its_rules_need_and_no_more():
    x, c = numbers(1.0, requires_grad=True), numbers(2.0)
    node = (x * c).grad_fn
    assert node._saved_other is c and node._saved_self is None  # the rule for c will not run
    assert node._saved_y is c
    assert not hasattr((x + c).grad_fn, "_saved_self")
    assert (x.sum(0)).grad_fn._saved_dim == (0,)


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (7, "tensor(7)"),
        (7.0, "tensor(7., dtype=torch.float64)"),
        (True, "tensor(True)"),
        (0.5, "tensor(0.5000, dtype=torch.float64)"),
    ],
)
def test_a_saved_number_is_a_number_and_nobody_can_change_it(number, shown):
    x = torch.ones(2, requires_grad=True)
    saved = (x * number).grad_fn._saved_other
    assert repr(saved) == shown  # as PyTorch
    saved.zero_()
    assert (torch.ones(2) * number).tolist() == [number] * 2
    with pytest.raises(ValueError, match="read-only"):
        constant(number, torch.float32).array[...] = 3


def test_hooks_on_saved_tensors_do_not_hear_numbers():
    packed = []
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.clone()) or t.mul_(5), lambda t: t):
        (x * 3 / 4).sum().backward()
    assert packed == []
    assert x.grad.tolist() == [0.75, 0.75]
    assert (torch.ones(2) * 3).tolist() == [3, 3]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda f, d: f @ d, "expected m1 and m2 to have the same dtype, but got: float != double"),
        (lambda f, d: torch.addmm(d, f, f), "self and mat2 must have the same dtype, but got Double and Float"),
        (lambda f, d: torch.addmm(f, d, f), "mat1 and mat2 must have the same dtype, but got Double and Float"),
        (
            lambda f, d: torch.nn.functional.linear(f, d, d[0]),
            "mat1 and mat2 must have the same dtype, but got Float and Double",
        ),
        (lambda f, d: f[None] @ d[None], "expected scalar type Float but found Double"),
        (
            lambda f, d: torch.mv(f, d[0]),
            "addmv input tensors must have the same dtype, but got Double, Float, and Double",
        ),
        (
            lambda f, d: torch.dot(f[0], d[0]),
            "dot : expected both vectors to have same dtype, but found Float and Double",
        ),
        (lambda f, d: torch.nn.functional.conv1d(f[None], d[None]), "expected scalar type Float but found Double"),
        (
            lambda f, d: torch.nn.functional.conv1d(f[None], f[:, :, None], d[0]),
            "Input type (float) and bias type (double) should be the same",
        ),
    ],
)
def test_products_of_several_dtypes_are_refused_in_pytorchs_words(call, sentence):
    f = torch.ones(2, 2)
    with pytest.raises(RuntimeError) as caught:
        call(f, f.double())
    assert str(caught.value).split("\n")[0] == sentence


def test_a_saved_output_is_attached_to_its_own_node():
    x = numbers(1.0, requires_grad=True)
    y = x.exp()
    again = y.grad_fn._saved_result
    assert again is not y and again.grad_fn is y.grad_fn and again.tolist() == y.tolist()


def test_several_inputs_and_several_outputs(table):
    both = Op("both", lambda x, y: (x + y, x * y), GENERAL, outputs=("total", "product"),
              x=lambda gs, y: (0 if gs[0] is None else gs[0]) + (0 if gs[1] is None else gs[1] * y),
              y=lambda gs, x: (0 if gs[0] is None else gs[0]) + (0 if gs[1] is None else gs[1] * x))  # fmt: skip
    x, y = numbers(2.0, requires_grad=True), numbers(5.0, requires_grad=True)
    total, product = both(x, y)
    assert (total.output_nr, product.output_nr) == (0, 1)
    (total + 10 * product).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([51.0], [21.0])
    with torch.autograd.forward_ad.dual_level():  # neither linear nor elementwise, no jvp=: reverse over reverse
        dual = torch.autograd.forward_ad.make_dual(x, numbers(1.0))
        tangents = [torch.autograd.forward_ad.unpack_dual(t).tangent.tolist() for t in both(dual, y)]
        assert tangents == [[1.0], [5.0]]


def test_many_inputs(table):
    total = Op(
        "total", lambda xs: sum(xs[1:], xs[0]), LINEAR, tensor_list=True, x=lambda g, x_shape: [g for _ in x_shape]
    )
    a, b = numbers(1.0, requires_grad=True), numbers(2.0, requires_grad=True)
    total([a, b, a]).sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([2.0], [1.0])


def test_numbers_zero_dim_tensors_and_dtypes():
    x = torch.ones(2)
    assert (x + 1.5).dtype is torch.float32
    assert (torch.arange(2) + 1.5).dtype is torch.float32
    assert (x.double() * x).dtype is torch.float64
    assert (x * torch.tensor(2.0, dtype=torch.float64)).dtype is torch.float32
    assert torch.arange(2).sin().dtype is torch.float32
    # 0.0 is not looked up for -0.0
    assert (torch.tensor(1.0) * -0.0).item() == 0 and np.signbit((torch.tensor(1.0) * -0.0).item())


def test_gradients_come_back_in_the_tensor_s_dtype_and_shape():
    x = torch.ones(3, requires_grad=True)
    y = torch.ones(2, 1, dtype=torch.float64, requires_grad=True)
    (x * y).sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (torch.float32, [2.0, 2.0, 2.0])
    assert (y.grad.dtype, y.grad.tolist()) == (torch.float64, [[3.0], [3.0]])


def test_the_source_can_be_read():
    torch.ones(1) * torch.ones(1)
    assert "node.y = other" in TABLE["mul"].source and "rule_x(g, y)" in TABLE["mul"].source
