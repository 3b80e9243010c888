"""In-place operations, views and versions."""

import pytest

import minigrad as torch


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def first_line(error):
    return str(error.value).split("\n")[0]


HINT = " Hint: enable anomaly detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."  # fmt: skip # noqa: E501


def test_a_saved_output_that_was_written_to():
    x = leaf(1.0, 1.0, 1.0)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError) as error:
        y.sum().backward()
    assert first_line(error) == (
        "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [3]], which is "
        "output 0 of Exp, is at version 1; expected version 0 instead." + HINT
    )
    assert "ExpBackward0 saved a tensor of shape (3,)" in error.value.__notes__[0]


def test_a_saved_weight_that_was_updated():
    w = leaf(1.0, 2.0)
    loss = w.sin().sum()
    with torch.no_grad():
        w -= 0.1
    with pytest.raises(RuntimeError, match=r"\[torch.FloatTensor \[2\]\] is at version 1; expected version 0"):
        loss.backward()


def test_a_detached_alias_shares_the_version_data_does_not():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.data.zero_()
    assert y._version == 0
    y.detach().zero_()
    assert y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_what_is_written_over_is_kept_for_the_rule_that_needs_it():
    x = leaf(1.0, 2.0)
    y = x * 1
    y.mul_(x)  # the rule for x needs the old y
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("write, sentence", [
    (lambda x: x.add_(1), "a leaf Variable that requires grad is being used in an in-place operation."),
    (lambda x: x.__setitem__(0, 1.0), "a view of a leaf Variable that requires grad is being used in an in-place operation."),
    (lambda x: x.view(-1).mul_(2), "a view of a leaf Variable that requires grad is being used in an in-place operation."),
    (lambda x: (x * 1).unbind(0)[1].mul_(2), "Output 1 of Unbind is a view and is being modified inplace. This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one."),  # noqa: E501
    (lambda x: torch.ones(2).expand(2, 2).add_(1), "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation."),  # noqa: E501
    (lambda x: torch.ones(3).add_(torch.ones(2, 3)), "output with shape [3] doesn't match the broadcast shape [2, 3]"),
    (lambda x: torch.ones(3, dtype=torch.int64).mul_(1.5), "result type Float can't be cast to the desired output type Long"),
])  # fmt: skip
def test_forbidden_writes(write, sentence):
    with pytest.raises(RuntimeError) as error:
        write(leaf(1.0, 2.0))
    assert first_line(error) == sentence


def test_a_write_through_a_view_reaches_the_base():
    a = torch.ones(2, 3, requires_grad=True)
    b = a * 2
    v = b[0]
    v.mul_(3)
    assert (b.grad_fn.name(), v.grad_fn.name()) == ("torch::autograd::CopySlices", "AsStridedBackward0")
    assert v._base is b and b._version == v._version == 1
    b.sum().backward()
    assert a.grad.tolist() == [[6.0, 6.0, 6.0], [2.0, 2.0, 2.0]]


def test_a_write_to_the_base_reaches_the_view():
    a = torch.ones(2, 3, requires_grad=True)
    b = a * 2
    v = b[0]
    b.mul_(3)
    (v * v).sum().backward()
    assert v.tolist() == [6.0, 6.0, 6.0]
    assert a.grad.tolist() == [[72.0, 72.0, 72.0], [0.0, 0.0, 0.0]]


def test_views_of_views_transposed_and_stepped():
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    z = y.t()
    z[0].mul_(3)
    w = z.view_as(z)[1:]
    w.add_(1)
    (y**2).sum().backward()
    assert y.tolist() == [[3.0, 2.0], [3.0, 2.0]]
    assert x.grad.tolist() == [[18.0, 4.0], [18.0, 4.0]]


def test_a_constant_becomes_part_of_the_graph_when_a_result_is_written_into_it():
    b = leaf(1.0, 1.0)
    a = torch.zeros(4)
    v, u = a[:2], a[1:]
    v.add_(b)
    u.mul_(3)
    assert v.requires_grad and v.tolist() == [1.0, 3.0]
    (v * a.sum()).sum().backward()
    # a = [b0, 3 b1, 0, 0]: (b0 + 3 b1)^2
    assert b.grad.tolist() == [8.0, 24.0]


def test_setitem_with_masks_and_positions():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x.clone()
    y[torch.tensor([0, 1]), torch.tensor([1, 1])] = torch.tensor([5.0, 6.0])
    y[y > 5.5] = 0
    y[:, 0] = y[:, 2]
    (y * y).sum().backward()
    assert y.tolist() == [[2.0, 5.0, 2.0], [5.0, 0.0, 5.0]]
    assert x.grad.tolist() == [[0.0, 0.0, 8.0], [0.0, 0.0, 20.0]]


def test_retain_grad_follows_a_write():
    x = leaf(1.0, 1.0)
    y = x * 1
    y.retain_grad()
    y.mul_(2)
    y.sum().backward()
    assert (y.grad.tolist(), x.grad.tolist()) == ([1.0, 1.0], [2.0, 2.0])


@pytest.mark.parametrize(
    "pick",
    [
        lambda x, i: x[i],
        lambda x, i: x[:, i],
        lambda x, i: x.index_select(0, i),
        lambda x, i: x.take(i),
        lambda x, i: x.gather(0, i.reshape(2, 1)),
        lambda x, i: (x * 1).index_put((i,), x[:2]),
        lambda x, i: x.index_add(0, i, x[:2] * 1),
        lambda x, i: x.index_copy(0, i, x[:2] * 1),
    ],
)
def test_a_saved_index_that_was_written_to(pick):
    x, i = torch.arange(9.0).reshape(3, 3).requires_grad_(), torch.tensor([0, 2])
    pick(x, i).sum().backward()  # unchanged: fine
    y = pick(x, i)
    i.zero_()
    with pytest.raises(
        RuntimeError,
        match=r"modified by an inplace operation: \[torch.LongTensor .* is at version 1; expected version 0",
    ):
        y.sum().backward()
