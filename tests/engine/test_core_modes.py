"""Recording on and off, inference tensors, anomaly mode, forward mode."""

import threading
import warnings

import pytest

import minigrad as torch
import minigrad.autograd.forward_ad as forward_ad


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def test_contexts_decorators_and_calls():
    x = leaf(1.0)

    @torch.no_grad()
    def with_brackets():
        return (x * 2).requires_grad

    @torch.no_grad
    def without_brackets():
        return (x * 2).requires_grad

    assert not with_brackets() and not without_brackets()
    with torch.no_grad():
        with torch.enable_grad():
            assert (x * 2).requires_grad
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert torch.is_grad_enabled()


def test_a_decorated_generator_switches_only_while_its_body_runs():
    @torch.no_grad()
    def generator():
        received = yield torch.is_grad_enabled()
        yield received, torch.is_grad_enabled()

    g = generator()
    assert next(g) is False
    assert torch.is_grad_enabled()
    assert g.send("hello") == ("hello", False)
    assert torch.is_grad_enabled()


def test_an_error_inside_switches_back():
    with pytest.raises(KeyError):
        with torch.no_grad():
            raise KeyError
    assert torch.is_grad_enabled()


def test_each_thread_has_its_own_switch():
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_inference_tensors():
    x = leaf(1.0)
    with torch.inference_mode():
        y = x * 2
        view = x[:]
    assert y.is_inference() and not y.requires_grad and not view.is_inference()
    with pytest.raises(RuntimeError, match="^Inference tensors do not track version counter."):
        _ = y._version
    with pytest.raises(RuntimeError, match="^Inference tensors cannot be saved for backward"):
        x * y
    with pytest.raises(RuntimeError, match="^Inplace update to inference tensor outside InferenceMode is not allowed"):
        y.add_(1)
    assert (x * 2.0).requires_grad  # numbers used inside stay usable outside


def test_views_of_inference_tensors_are_read():
    """A layer on a batch of sequences looks at its input through a view."""
    layer = torch.nn.Linear(2, 3)
    x = torch.ones(4, 5, 2)
    with torch.inference_mode():
        y = layer(torch.ones(4, 5, 2)).chunk(3, -1)[0].reshape(5, 4)
    assert y.is_inference() and torch.equal(y, layer(x).chunk(3, -1)[0].reshape(5, 4))


def test_anomaly_mode_names_the_node_and_shows_the_line():
    x = leaf(0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            y = (x.sqrt() * 0).sum()  # this very line is shown
            with pytest.raises(RuntimeError, match="^Function 'SqrtBackward0' returned nan values in its 0th output."):
                y.backward()
    assert "this very line is shown" in str(caught[-1].message)
    (x.sqrt() * 0).sum().backward()  # off again
    assert x.grad.isnan().tolist() == [True]


def test_forward_mode():
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        primal, tangent = forward_ad.unpack_dual(dual * dual + x)
        assert (primal.tolist(), tangent.tolist()) == ([2.0, 6.0], [2.0, 40.0])
        assert repr(dual * 1) == "tensor([1., 2.], tangent=tensor([ 1., 10.]))"
        written = dual * 2
        written[0] = 7
        written.view(2)[1:].mul_(3)
        assert forward_ad.unpack_dual(written).tangent.tolist() == [0.0, 60.0]
    assert forward_ad.unpack_dual(dual).tangent is None
    with pytest.raises(RuntimeError, match="no level exists"):
        forward_ad.make_dual(x, t)


def test_forward_over_reverse_is_the_hessian_vector_product():
    x, v = leaf(1.0, 2.0), torch.tensor([1.0, 10.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        y = (dual**3).sum() + (dual.exp() * dual).sum()
        (g,) = torch.autograd.grad(y, dual)
        product = forward_ad.unpack_dual(g).tangent
    # d2/dx2 (x^3 + x e^x) = 6 x + (2 + x) e^x
    assert product.tolist() == pytest.approx([6 + 3 * 2.718281828, 10 * (12 + 4 * 7.389056099)], rel=1e-6)


def test_saved_tensors_hooks():
    log = []
    x = leaf(1.0, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: log.append("pack") or t * 2, lambda t: log.append("unpack") or t / 2
    ):
        y = (x.exp() * x).sum()
    assert log == ["pack"] * 3
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert log == ["pack"] * 3 + ["unpack"] * 3
    assert g.tolist() == pytest.approx([5.43656, 22.16717], rel=1e-5)
    assert torch.autograd.grad(g.sum(), x)[0].tolist() == pytest.approx([8.15485, 29.55622], rel=1e-5)
