"""Memory: what the widget measured against counting by hand, against what the engine says it holds, and against tracemalloc."""

import asyncio
import gc
import importlib
import math
import re
import tracemalloc

import pytest

import minigrad as torch
from minigrad import nn
from minigrad.autograd.graph import saved_bytes
from widgets.lessons import memory, memory_depth
from widgets.lessons.memory import BATCH, DEPTHS, WIDTH, Layer, canned, canned_input, choices, measure

ONE = 4 * WIDTH * BATCH  # bytes of one activation


def counted(n, k):
    """The peak by hand, in activations; x itself does not count. Before segment j, j inputs of segments are kept."""
    if not k:
        return n
    sizes = [min(k, n - first) for first in range(0, n, k)]
    forward = max(j + 1 + (size > 1) for j, size in enumerate(sizes))  # and a layer's result, and what it was made from
    back = max(j + size for j, size in enumerate(sizes))  # and one segment, run again
    return max(forward, back)


@pytest.mark.parametrize("n", [1, 2, 5, 9, 16, 30, 100])
def test_peaks_are_those_that_one_counts(n):
    for k in choices(n):
        peak = max(m.total for m in measure(canned(n), canned_input(), k))
        assert peak == ONE * counted(n, k), (n, k, peak / ONE)


@pytest.mark.parametrize("every", [0, 1, 2, 3, 5])
def test_every_moment_is_told_in_order(every):
    run = measure(canned(7), canned_input(), every)
    kinds = [m.kind for m in run]
    assert (
        [m.layer for m in run if m.kind == "forward"]
        == list(range(7))
        == [m.layer for m in run if m.kind == "backward"][::-1]
    )
    assert kinds.count("recompute") == (7 if every else 0) and kinds[-1] == "end" and run[-1].total == 0
    for k, m in enumerate(run):
        if m.kind == "recompute":  # a segment is run again only when the gradient stands at its end
            end = min((m.layer // every + 1) * every, 7) - 1
            assert ("backward", end) in [(b.kind, b.layer) for b in run[:k]]


def test_after_forward_it_agrees_with_what_the_engine_says_it_holds():
    layers, x = canned(6), canned_input()
    h = x
    for layer in layers:
        h = layer(h)
    held = saved_bytes(h.sum())  # with the batch, which the widget leaves out
    turn = [m for m in measure(layers, x) if m.kind == "forward"][-1]
    assert held == turn.total + ONE


@pytest.mark.parametrize("every, most", [(0, 1.3), (5, 0.75)])
def test_tracemalloc_agrees(every, most):
    """Python's own count of allocated bytes, which knows nothing of layers: with gradients and temporaries it is a little more."""
    layers = [Layer(64) for _ in range(25)]
    x = torch.randn(2000, 64)
    plain = 25 * 2000 * 64 * 4
    measured = max(m.total for m in measure(layers, x, every))
    for layer in layers:
        layer.zero_grad()
    gc.collect()
    tracemalloc.start()
    try:
        measure(layers, x, every)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert measured <= peak <= most * plain


def test_gradients_are_those_without_the_widget():
    layers, x = [nn.Linear(3, 4), nn.Dropout(0.5), nn.Tanh(), nn.Linear(4, 2)], torch.ones(5, 3)
    grads = []
    for every in (0, 2):
        torch.manual_seed(5)
        measure(layers, x, every)
        grads.append([p.grad.tolist() for p in (layers[0].weight, layers[3].bias)])
        for layer in layers:
            layer.zero_grad()
    assert grads[0] == grads[1]  # dropout draws the same numbers when its segment is run again


def shown(lesson, name):
    return next(c["text"] for c in lesson.scene["controls"] if c["name"] == name)


def test_the_film():
    lesson = memory()
    assert lesson.figure.chain.n == 36 and shown(lesson, "every") == "every 6 layers"
    assert "11 layers hold 45.1 kB" in lesson.scene["say"]  # 5 kept and 6 run again
    lesson.set(depth=100)
    assert shown(lesson, "every") == "every 10 layers" and "19 layers hold" in lesson.scene["say"]
    lesson.set(every=0)
    lesson.set(depth=9)
    assert shown(lesson, "every") == "no checkpoints" and "9 layers hold" in lesson.scene["say"]


def test_own_layers():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    lesson = memory(model, torch.ones(10, 4), every=0)
    run = lesson.figure.chain.runs[0]
    turn = [m for m in run if m.kind == "forward"][-1]
    # The linear map's result is dropped: relu keeps its own; the last is alive for the sum
    assert turn.first == (
        0,
        10 * 8 * 4,
        10 * 4,
    )
    assert "depth" not in [c["name"] for c in lesson.scene["controls"]] and all(
        p.grad is None for p in model.parameters()
    )


def test_the_chart_of_depths():
    found = memory_depth().figure.found
    for depth, plain, tens, roots in zip(DEPTHS, *found.values(), strict=True):
        assert plain == depth * ONE
        assert tens == max(m.total for m in measure(canned(depth), canned_input(), min(10, depth)))
        assert roots <= max(2 * math.sqrt(depth), 1) * ONE


@pytest.mark.parametrize("nonsense, said", [
    ({"model": nn.Linear(2, 2), "x": torch.ones(1, 2)}, "an nn.Sequential, not Linear"),
    ({"model": nn.Sequential(nn.ReLU())}, "memory(model, x)"),
    ({"model": [nn.ReLU()], "x": torch.ones(2)}, "nothing to differentiate"), ({"model": [3], "x": torch.ones(2)}, "int is no layer"),
    ({"model": [nn.Linear(3, 1)], "x": torch.ones(1, 2)}, "memory cannot draw this"), ({"depth": 0}, "layers may be 1 to 100"),
    ({"depth": 1000}, "1000 is outside"), ({"every": 7}, "0, 1, 2, 5, 6, 10, 20"), ({"depth": "deep"}, "memory cannot draw this"),
    ({"model": [lambda x: 3], "x": torch.ones(2)}, "returned int"), ({"model": [], "x": torch.ones(2)}, "not for 0"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(nonsense, said):
    lesson = memory(**nonsense)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


def test_static_twin_is_the_same_twice():
    one, two = memory(depth=9)._repr_mimebundle_(), memory(depth=9)._repr_mimebundle_()
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain")) and "<title>" in one["image/svg+xml"]


def test_another_depth_is_measured_in_turns_with_other_work():
    async def scene():
        lesson = memory(depth=9)
        turns, words = 0, set()
        lesson.set(depth=16)
        assert lesson.figure.busy and lesson.scene["busy"] and lesson.figure.chain.n == 9
        assert [b["name"] for b in lesson.scene["buttons"]] == ["stop"]
        while lesson.figure.busy:
            await asyncio.sleep(0)  # what another cell would do
            turns += 1
            words |= set(re.findall(r"\d of 6 runs \w+", lesson.scene["say"]))
        assert turns >= 10 and {"1 of 6 runs measured", "6 of 6 runs measured"} <= words
        assert lesson.scene["buttons"] == [] and "runs" not in lesson.scene["say"]
        assert repr(lesson) == repr(memory(depth=16)) and lesson.film == memory(depth=16).film

    asyncio.run(scene())


def test_a_measurement_can_be_stopped():
    async def scene():
        lesson = memory(depth=9)
        before = repr(lesson), lesson.picture()
        lesson.set(depth=25)
        await asyncio.sleep(0)
        assert "of 6 runs measured" in lesson.scene["say"]
        lesson.set(moment=2)  # looked at meanwhile
        lesson.press("stop")
        assert not lesson.figure.busy and lesson.figure.depth == 9 and lesson.figure.moment == 2
        lesson.set(depth=25)
        task = lesson.figure.task
        lesson.set(depth=4)  # the newest wish counts
        while lesson.figure.busy:
            await asyncio.sleep(0)
        assert task.cancelled() and lesson.figure.chain.n == 4
        lesson.set(depth=9)
        while lesson.figure.busy:
            await asyncio.sleep(0)
        assert (repr(lesson), lesson.picture()) == before
        lesson.set(depth=25)
        task = lesson.figure.task
        lesson.close()
        await asyncio.sleep(0)
        assert task.cancelled() and lesson.figure.task is None

    asyncio.run(scene())


def test_a_million_layers_are_refused_before_one_is_made(monkeypatch):
    monkeypatch.setattr(importlib.import_module("widgets.lessons.memory"), "canned", lambda depth: pytest.fail("made"))
    assert "layers may be 1 to 100, and 1e6 is outside" in memory(depth=10**6).text()
