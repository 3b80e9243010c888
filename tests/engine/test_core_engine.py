"""The backward loop: order, sums, hooks, freeing, memory."""

import gc
import weakref
from sys import getrefcount

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import engine
from minigrad.core.ownership import LENT, holders
from minigrad.core.variable import leaf_edge


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_stepping_drives_the_loop_that_backward_runs():
    x = leaf(2.0)
    y = (x * x + x).exp()
    names = []
    for node, _arrived, _sent in engine.steps([((y.grad_fn, 0), torch.ones(1, dtype=torch.float64))]):
        names.append(type(node).__name__)
        if names == ["ExpBackward0"]:
            assert x.grad is None  # nothing has reached the leaf yet
    assert names == ["ExpBackward0", "AddBackward0", "MulBackward0", "AccumulateGrad"]
    assert x.grad.item() == pytest.approx(5 * 403.4287934927351)


def test_newest_first_and_a_leaf_as_soon_as_it_is_complete():
    order = []
    a, b, c = leaf(1.0), leaf(1.0), leaf(1.0)
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_post_accumulate_grad_hook(lambda t, name=name: order.append(name))
    y = ((a * b).sin() * c + a).exp() * b
    stack = [y.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node.next_functions:
            node.register_hook(lambda *_, node=node: order.append(node.name()))
            stack += [n for n, _ in node.next_functions]
    y.sum().backward()
    # the order of PyTorch 2.13 for this program
    assert order == [
        "MulBackward0",
        "ExpBackward0",
        "AddBackward0",
        "MulBackward0",
        "c",
        "SinBackward0",
        "MulBackward0",
        "a",
        "b",
    ]


def test_deep_chains_need_no_recursion():
    x = leaf(2.0)
    y = x
    for _ in range(50_000):
        y = y * 1.0
    y.sum().backward()
    assert x.grad.tolist() == [1.0]
    del y  # nor does freeing them


def test_diamonds_are_visited_once():
    x = leaf(1.0)
    y = x
    for _ in range(60):  # 2**60 paths
        y = y + y
    y.sum().backward()
    assert x.grad.item() == 2.0**60


def test_leaves_do_not_share_their_gradients():
    x, z = leaf(1.0, 2.0), leaf(1.0, 2.0)
    (x + z).backward(g := torch.ones(2, dtype=torch.float64))
    x.grad.add_(5)
    assert z.grad.tolist() == [1.0, 1.0] and g.tolist() == [1.0, 1.0]


def test_a_gradient_that_a_rule_alone_made_is_kept_without_a_copy():
    x = leaf(*[1.0] * 100)
    made = []
    y = x * 2
    for node, arrived, sent in engine.steps([((y.grad_fn, 0), torch.ones(100, dtype=torch.float64))]):
        if sent:
            made.append(sent[0].ctypes.data)
        del node, arrived, sent
    assert x.grad.array.ctypes.data == made[0]


def test_who_else_holds_an_object():
    def lent(x):
        return getrefcount(x)

    x = object()
    assert holders(x) == 0 and lent(x) == LENT
    y = x
    assert holders(x) == 1 and lent(x) == LENT + 1
    kept = [x, y]
    del y
    assert holders(x) == 2 and lent(kept) == LENT


@pytest.mark.parametrize("give", [lambda g: g, lambda g: g[::-1], lambda g: g.reshape(2, 50)[:1]])
def test_a_gradient_that_somebody_else_holds_is_copied(give):
    """Rules that hand on what others still have, or a part of it."""
    kept = []
    leaf_grads = []
    for again in (False, True):
        x = leaf(*[1.0] * len(give(np.ones(100)).reshape(-1)))
        arriving = np.ones(100)
        if again:
            kept.append(arriving)
        g = give(arriving).reshape(-1)
        del arriving
        accumulator = leaf_edge(x)[0]
        for _ in engine.steps([((accumulator, 0), g)]):
            pass
        g[0] = 7.0
        leaf_grads.append(x.grad[0].item())
    assert leaf_grads == [1.0, 1.0]


def test_leaves_of_one_node_come_in_the_order_of_its_edges():
    """Also where a newer node fed one of them before."""
    a, b, c = leaf(1.0), leaf(1.0), leaf(1.0)
    y = torch.cat([a, b, c]).sum() + b + c + b
    names = {id(leaf_edge(t)[0]): name for t, name in ((a, "a"), (b, "b"), (c, "c"))}
    assert [names.get(id(node), node.name()) for node in engine.topological_order([y.grad_fn])] == [
        "AddBackward0", "AddBackward0", "AddBackward0", "SumBackward0", "CatBackward0", "a", "b", "c",
    ]  # fmt: skip


def test_the_graph_is_freed_and_says_so():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0]
    with pytest.raises(
        RuntimeError, match=r"^Trying to backward through the graph a second time \(or directly access saved tensors"
    ):
        y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        _ = y.grad_fn.next_functions[0][0]._saved_self
    z = (x + x).sum()  # nothing saved, nothing freed
    z.backward()
    z.backward()


@pytest.mark.parametrize("function, first, second", [
    (lambda x: x.exp(), 2.718281828459045, 2.718281828459045),
    (lambda x: x.tanh(), 0.41997434161402614, -0.6397000084492246),
    (lambda x: x.sqrt(), 0.5, -0.25),
    (lambda x: x.sigmoid(), 0.19661193324148185, -0.09085774767294841),
    (lambda x: 1 / x, -1.0, 2.0),
    (lambda x: x**3, 3.0, 6.0),
    (lambda x: x.log(), 1.0, -1.0),
])  # fmt: skip
def test_second_derivatives_see_saved_outputs(function, first, second):
    x = leaf(1.0)
    (g,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
    assert g.item() == pytest.approx(first, rel=1e-14)
    assert torch.autograd.grad(g.sum(), x)[0].item() == pytest.approx(second, rel=1e-13)


def test_grad_touches_no_grad_and_runs_only_what_it_needs():
    x, w = leaf(3.0), leaf(4.0)
    inner = x * 2
    ran = []
    side = w.exp()
    side.grad_fn.register_hook(lambda *_: ran.append("side"))
    y = (inner * side).sum()
    assert torch.autograd.grad(y, inner, retain_graph=True)[0].item() == pytest.approx(54.598150033144236)
    assert ran == [] and x.grad is None
    y.backward(inputs=[x])
    assert ran == [] and w.grad is None and x.grad.item() == pytest.approx(2 * 54.598150033144236)


def test_unused_inputs():
    x, z = leaf(1.0), leaf(1.0)
    with pytest.raises(
        RuntimeError, match="^The differentiated Tensor at index 1 appears to not have been used in the graph"
    ):
        torch.autograd.grad((x * 2).sum(), [x, z])
    assert torch.autograd.grad((x * 2).sum(), [x, z], allow_unused=True)[1] is None
    assert torch.autograd.grad((x * 2).sum(), [x, z], materialize_grads=True)[1].tolist() == [0.0]


def test_hooks_may_replace_gradients():
    x = leaf(1.0, 1.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    handle = x.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert x.grad.tolist() == [31.0, 31.0]
    handle.remove()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_leaf_that_only_the_graph_holds_still_runs_its_hook():
    seen = []

    def build():
        x = leaf(1.0)
        x.register_hook(lambda g: seen.append(g.item()))
        return (x + 1).sum()

    build().backward()
    assert seen == [1.0]


def test_one_accumulate_node_per_leaf_and_it_does_not_outlive_the_graph():
    x = leaf(1.0)
    y = x * x
    (first, _), (second, _) = y.grad_fn.next_functions
    assert first is second and first.variable is x
    ref = weakref.ref(first)
    del y, first, second
    assert ref() is None


def _plain():
    x = leaf(1.0, 2.0)
    y = ((x * x).exp().tanh().sqrt() / 2 + x[0]).sum()
    y.backward()


def _second_order_kept():
    x = leaf(1.0, 2.0)
    y = x.exp().sqrt().sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    torch.autograd.grad(g.sum(), x, create_graph=True)


def _writes():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    v = y[1:]
    v.mul_(2)
    y.exp_()
    v.add_(1)
    y[y > 2] = 3
    v * 2


def _hooks():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda a, b: None)
    y.sum().backward()


def _dual():
    forward_ad = torch.autograd.forward_ad
    x = leaf(1.0, 2.0)
    with forward_ad.dual_level():
        y = forward_ad.make_dual(x, leaf(1.0, 1.0)).exp().tanh().softmax(0).sum()
        torch.autograd.grad(y, x)


def test_a_leafs_gradient_is_numbers_of_its_own():
    x = leaf(1.0, 2.0, 3.0)
    x.sum().backward()  # the rule passes on one number, expanded
    x.grad[0] = 5.0
    assert x.grad.tolist() == [5.0, 1.0, 1.0]


def test_adding_to_a_gradient_is_a_write():
    x = leaf(1.0, 2.0)
    loss = (x * x).sum()
    loss.backward(retain_graph=True)
    saves = (leaf(1.0, 1.0) * x.grad).sum()
    loss.backward()
    assert x.grad._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saves.backward()


def test_negative_indices_count_from_the_end():
    x = leaf(1.0, 2.0, 3.0)
    x[-1].backward()
    assert x[-3].item() == 1.0 and x.grad.tolist() == [0.0, 0.0, 1.0]


def _packed():
    x = leaf(1.0, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        (x.exp() * x).sum()


@pytest.mark.parametrize("program", [_plain, _second_order_kept, _writes, _hooks, _dual, _packed])
def test_no_reference_cycles(program):
    program()
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            program()
        assert gc.collect() == 0
    finally:
        gc.enable()
