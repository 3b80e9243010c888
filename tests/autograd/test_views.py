"""Views where minigrad's answer is not PyTorch's (refused, where PyTorch's is chance), and what a snippet cannot show."""

import pytest

import minigrad as torch


@pytest.mark.parametrize("view", [lambda y: torch.as_strided(y, (2, 2), (1, 1)), lambda y: y.unfold(0, 2, 1)])
def test_a_view_with_elements_in_one_place_is_not_written_to(view):
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    with pytest.raises(
        RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"
    ):
        view(y).mul_(2)
    y.sum().backward()
    assert y.tolist() == x.grad.tolist() == [1, 1, 1, 1]


def test_views_that_only_look_alike_are_written_to():
    x = torch.arange(12.0).reshape(3, 4)
    for view in (x.unfold(1, 2, 2), x.t()[1:3, ::2], x[:, 3:], x.permute(1, 0)):
        view.mul_(1)


def test_a_chain_of_views_is_linked():
    x = torch.ones(1, requires_grad=True) * 1
    v = x.view(1)
    for _ in range(3):
        before, v = v, v.view(1)
        assert v.view_meta.view_func.before is before.view_meta.view_func and v._base is x
    x.mul_(3)
    assert list(v.view_meta.view_func)[0] == list(before.view_meta.view_func)[0] and v.sum().item() == 3
