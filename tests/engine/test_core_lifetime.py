"""How long things live and how deep they may go: no recursion, no cycles, nothing shared between threads but the tensors."""

import gc
import sys
import threading

import pytest

import minigrad as torch

DEPTH = 100_000


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


CHAINS = {
    "constants": lambda y: y * 1.0,
    "saved inputs": lambda y: y * y,
    "saved outputs": lambda y: y.sigmoid(),
    "views": lambda y: y.view(-1),
    "two arrows": lambda y: y + y.detach() - y.detach(),
    "several outputs": lambda y: y.sort().values,
}


@pytest.mark.parametrize("step", CHAINS.values(), ids=CHAINS)
def test_a_hundred_thousand_nodes_forward_backward_and_gone(step):
    x = leaf(1.0)
    y = x
    # A view's way from its base grows with each step
    for _ in range(DEPTH if step is not CHAINS["views"] else DEPTH // 100):
        y = step(y)
    first = torch.autograd.grad(y.sum(), x, retain_graph=True)[0]
    y.sum().backward()
    assert torch.equal(first, x.grad)
    del y  # freed node by node, not by recursion


def test_a_deep_graph_that_was_never_used_is_freed():
    y = leaf(1.0)
    for _ in range(DEPTH):
        y = y * y
    del y


def test_deep_second_order():
    x = leaf(0.5)
    y = x
    for _ in range(DEPTH // 10):
        y = y * 1.0
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    assert torch.autograd.grad(g.sum(), x)[0].item() == 2.0


def test_a_thousand_training_steps_leave_nothing_behind():
    """With the garbage collector off: reference counting alone frees every graph."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.LayerNorm(8), torch.nn.Linear(8, 2))
    inputs, targets = torch.randn(16, 3), torch.randint(2, (16,))

    def step():
        model.zero_grad()
        hidden = model(inputs)
        scaled = hidden.clone()
        scaled[0].mul_(0.5)  # a write through a view
        loss = (
            torch.nn.functional.cross_entropy(scaled, targets) + sum((p * p).sum() for p in model.parameters()) * 1e-3
        )
        (g,) = torch.autograd.grad(loss, model[0].weight, create_graph=True)
        (loss + (g * g).sum() * 1e-3).backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
        return loss.item()

    first = step()
    gc.collect()
    gc.disable()
    try:
        for _ in range(600):  # Python's own free lists fill up
            last = step()
        before = sys.getallocatedblocks()
        for _ in range(400):
            last = step()
        growth = sys.getallocatedblocks() - before
        assert gc.collect() == 0
    finally:
        gc.enable()
    assert last < first
    assert growth < 200, f"{growth} blocks more after 400 steps: less than one each, or something is kept"


def test_threads_have_their_own_modes():
    """Each thread: its own grad mode, inference mode, anomaly mode, forward mode; all at once, many times."""
    seen, barrier = {}, threading.Barrier(4)

    def recording():
        barrier.wait()
        for _ in range(200):
            x = leaf(1.0, 2.0)
            (x * x).sum().backward()
            seen.setdefault("recording", set()).add((torch.is_grad_enabled(), tuple(x.grad.tolist())))

    def not_recording():
        with torch.no_grad():
            barrier.wait()
            for _ in range(200):
                seen.setdefault("not recording", set()).add(((leaf(1.0) * 2).requires_grad, torch.is_grad_enabled()))

    def inferring():
        with torch.inference_mode():
            barrier.wait()
            for _ in range(200):
                seen.setdefault("inferring", set()).add((leaf(1.0) * 2).is_inference())

    def pushing():
        forward_ad = torch.autograd.forward_ad
        barrier.wait()
        for _ in range(200):
            with forward_ad.dual_level():
                x = forward_ad.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
                seen.setdefault("pushing", set()).add(tuple(forward_ad.unpack_dual(x * x).tangent.tolist()))

    threads = [threading.Thread(target=f) for f in (recording, not_recording, inferring, pushing)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert seen == {
        "recording": {(True, (2.0, 4.0))},
        "not recording": {(False, False)},
        "inferring": {True},
        "pushing": {(2.0, 0.0)},
    }


def test_threads_may_share_a_leaf():
    x = leaf(1.0)

    def work():
        for _ in range(100):
            torch.autograd.grad((x * 2).sum(), x)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    (x * 2).sum().backward()
    assert x.grad.item() == 2.0


def test_backward_lets_go_of_what_a_checkpoint_waits_with():
    """When the walk has passed a checkpointed part, its input is free, though the graph's nodes still stand."""
    import weakref

    from minigrad.utils.checkpoint import checkpoint

    x = leaf(0.5, 1.0)
    h = checkpoint(lambda x: x.sin().exp(), x.exp(), use_reentrant=False)
    entered = weakref.ref(h.grad_fn.info["packed"]["out"].values[0].region.args[0].array)
    assert entered() is not None
    h.sum().backward()
    assert entered() is None and h.grad_fn is not None
