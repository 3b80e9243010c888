"""The bucket lessons: what .grad holds against school derivatives, micro-batches against one batch, training loops against plain floats."""

import math
import re

import pytest

from widgets.lessons import bucket, micro_batches, two_loops
from widgets.lessons.bucket import EIGHT, LOOPS, PAIRS, right, run_loop


def press(lesson, label):
    lesson._on_message(
        None, {"number": 1, "press": next(b["name"] for b in lesson.scene["buttons"] if b["label"] == label)}, []
    )


def level(lesson):
    return lesson.figure.level


def test_three_passes_add():
    lesson = bucket()
    assert level(lesson) is None
    for wanted in (6, 12, 18):
        press(lesson, "y.backward()")
        assert level(lesson) == wanted
    assert "12 + 6 = 18" in lesson.scene["say"] and "x.grad = 18" in lesson.picture()


@pytest.mark.parametrize("f, x, slope", [
    (lambda x: x**2, 2.0, 4.0), (lambda x: x**2, 3.0, 6.0), (lambda x: x.exp(), 0.5, math.exp(0.5)),
    (lambda x: 3 * x + x**2, 2.0, 7.0), (lambda x: -x, 1.0, -1.0), (lambda x: x.sin() * x, 1.2, math.sin(1.2) + 1.2 * math.cos(1.2)),
])  # fmt: skip
def test_each_pass_adds_the_slope_of_the_learners_function(f, x, slope):
    lesson = bucket(f, x=x, passes=4)
    assert [p.share for p in lesson.figure.pours] == pytest.approx([slope] * 4, rel=1e-12)
    assert level(lesson) == pytest.approx(4 * slope, rel=1e-12)


def test_a_moved_x_pours_its_own_slope():
    lesson = bucket(lambda x: x**2, x=2, passes=1)
    lesson.set(x=-1.5)
    press(lesson, "y.backward()")
    assert level(lesson) == 4 - 3 and lesson.figure.pours[-1].share == -3


def test_zero_and_none_differ():
    lesson = bucket(passes=2)
    press(lesson, "x.grad.zero_()")
    assert level(lesson) == 0 and "empty" in lesson.scene["say"]
    press(lesson, "y.backward()")
    press(lesson, "optimizer.zero_grad()")
    assert level(lesson) is None and "gone" in lesson.scene["say"] and "no bucket yet" in lesson.picture()
    press(lesson, "x.grad.zero_()")
    assert level(lesson) is None and "has no attribute 'zero_'" in lesson.scene["say"]
    press(lesson, "y.backward()")
    assert level(lesson) == 6
    press(lesson, "start again")
    assert level(lesson) is None and lesson.figure.log == []


def test_many_passes_still_fit():
    lesson = bucket(passes=20)
    assert level(lesson) == 120 and lesson.picture().count('class="pill"') <= 9
    assert bucket(passes=20).picture() == lesson.picture()


@pytest.mark.parametrize("nonsense, said", [
    ({"f": 3}, "needs a function of one tensor"), ({"f": lambda x: 1.0}, "returned float"), ({"f": lambda x: x / 0}, "no finite slope"),
    ({"f": lambda x: 1 / (x - x)}, "no finite slope"), ({"f": lambda x, y: x}, "missing 1 required"), ({"x": "two"}, "is no number"),
    ({"passes": "many"}, "is no whole number"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(nonsense, said):
    lesson = bucket(**nonsense)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


def test_a_function_that_fails_later_is_said_and_survived():
    lesson = bucket(lambda x: x.log() if x > 0 else 1.0, x=1)
    lesson.set(x=-1.0)
    press(lesson, "y.backward()")
    assert "returned float" in lesson.scene["say"] and lesson.scene["mood"] == "bad"
    lesson.set(x=2.0)
    press(lesson, "y.backward()")
    assert level(lesson) == 0.5


# ---- micro-batches -------------------------------------------------------------------------------------------------------------


def slope_of_the_mean(w, pairs):
    return sum(2 * (w * x - y) * x for x, y in pairs) / len(pairs)


@pytest.mark.parametrize("parts", [1, 2, 4, 8])
def test_cups_add_up_to_one_batch(parts):
    lesson = micro_batches(parts=parts)
    size = 8 // parts
    shares = [slope_of_the_mean(2.0, EIGHT[k * size : (k + 1) * size]) / parts for k in range(parts)]
    assert [p.share for p in lesson.figure.pours] == pytest.approx(shares, rel=1e-12)
    assert lesson.figure.level == pytest.approx(slope_of_the_mean(2.0, EIGHT), rel=1e-12) == pytest.approx(7.5)
    assert lesson.text().startswith("✓")
    lesson.set(divide=False)
    assert lesson.figure.level == pytest.approx(parts * 7.5)
    assert parts == 1 or f"{parts} times too much" in lesson.text()


def test_the_learners_own_pairs():
    pairs = [(1, 5), (2, -1), (0.5, 0.25)]
    lesson = micro_batches(pairs, w=-1)
    assert lesson.figure.choices == [1, 3] and lesson.figure.whole == pytest.approx(slope_of_the_mean(-1, pairs))
    lesson.set(parts=1)
    assert lesson.figure.level == pytest.approx(slope_of_the_mean(-1, pairs))


@pytest.mark.parametrize("nonsense, said", [
    ({"data": []}, "empty"), ({"data": 3}, "needs pairs"), ({"data": [(1, 2, 3)]}, "needs pairs"), ({"w": "one"}, "is no number"),
    ({"parts": 3}, "can be cut into 1, 2, 4, 8"),
])  # fmt: skip
def test_micro_batches_of_nonsense(nonsense, said):
    assert said in micro_batches(**nonsense).text()


# ---- two loops -----------------------------------------------------------------------------------------------------------------


def plainly(steps, lr, keep):
    """Gradient descent on floats; keep: how much of the old gradient is still in the bucket (0 or 1)."""
    w, held, ws, reads = 0.0, 0.0, [0.0], []
    for _ in range(steps):
        held = keep * held + sum(2 * (w * x - y) * x for x, y in PAIRS)
        reads.append(held)
        w -= lr * held
        ws.append(w)
    return ws, reads


@pytest.mark.parametrize("name, keep", [("right", 0), ("no zero_grad", 1), ("zero_grad after step", 0)])
def test_loops_against_plain_floats(name, keep):
    run = run_loop(right if name == "right" else LOOPS[name], 0.01, 30)
    ws, reads = plainly(30, 0.01, keep)
    assert run.w == pytest.approx(ws, rel=1e-9) and run.grad == pytest.approx(reads, rel=1e-6, abs=1e-9)
    assert run.loss == pytest.approx([sum((w * x - y) ** 2 for x, y in PAIRS) for w in ws], rel=1e-9)


def test_a_loop_that_never_clears_swings_for_ever():
    """No friction: as far up on the other side as it started, again and again; the right loop is at the bottom long before."""
    bad, good = run_loop(LOOPS["no zero_grad"], 0.01, 60), run_loop(right, 0.01, 60)
    for part in (bad.loss[20:40], bad.loss[40:60]):
        assert max(part) > 0.9 * bad.loss[0] and min(part) < 0.05 * bad.loss[0]
    best = sum(x * y for x, y in PAIRS) / sum(x * x for x, _ in PAIRS)
    assert good.w[-1] == pytest.approx(best, rel=1e-6)


def test_later_steps_are_hidden():
    """Chapter 07 opens at step 2 and asks where step 30 ends: neither the curve nor the table may tell."""
    lesson = two_loops(at=2)
    assert "38.65" not in lesson.text() + lesson.picture() and "38.65" in two_loops().text()
    assert [len(points.split()) for points in re.findall(r'<polyline[^>]*points="([^"]*)"', lesson.picture())] == [3, 3]


def test_clearing_before_the_step_stands_still():
    lesson = two_loops()
    lesson.set(loop="zero_grad before step")
    assert lesson.figure.other.w == [0.0] * 31 and "w stays at 0" in lesson.text()
    lesson.set(loop="zero_grad after step")
    assert lesson.text().startswith("✓")


def test_the_step_slider_reads_both_gradients():
    lesson = two_loops()
    lesson.set(at=3)
    _, wrong = plainly(3, 0.01, 1)
    _, good = plainly(3, 0.01, 0)
    assert f"{-wrong[2]:.4g}" in lesson.text().splitlines()[0] and f"{-good[2]:.4g}" in lesson.text().splitlines()[0]
    lesson.set(lr=0.02)
    assert lesson.figure.good.w == pytest.approx(plainly(30, 0.02, 0)[0], rel=1e-9)


def test_the_learners_train():
    def train(w, data, steps, lr):
        for _ in range(steps):
            w.grad = 0.0
            sum((w * x - y) ** 2 for x, y in data).backward()
            w.data = w.data - lr * w.grad
        return w.data

    assert two_loops(train).text().startswith("✓ your train: the same numbers in all 30 steps")

    def forgetful(w, data, steps, lr):
        for _ in range(steps):
            sum((w * x - y) ** 2 for x, y in data).backward()
            w.data = w.data - lr * w.grad

    lesson = two_loops(forgetful)
    assert lesson.figure.other.w == pytest.approx(plainly(30, 0.01, 1)[0], rel=1e-9)
    assert lesson.figure.other.grad == pytest.approx(plainly(30, 0.01, 1)[1], rel=1e-6)
    assert "w stays at 0" in two_loops(lambda w, data, steps, lr: None).text()


@pytest.mark.parametrize("nonsense, said", [
    ({"train": 3}, "needs your function"), ({"train": lambda: 1}, "cannot draw this"),
    ({"train": lambda w, d, s, lr: 1 / 0}, "division by zero"),
    ({"steps": 0}, "steps must lie"), ({"lr": -1}, "lr between"), ({"lr": "fast"}, "is no number"),
])  # fmt: skip
def test_two_loops_of_nonsense(nonsense, said):
    assert said in two_loops(**nonsense).text()


def test_static_twins_are_the_same_twice():
    for make in (lambda: bucket(passes=3), micro_batches, two_loops):
        one, two = make()._repr_mimebundle_(), make()._repr_mimebundle_()
        for kind in ("image/svg+xml", "text/plain"):
            assert one[kind] == two[kind] and " at 0x" not in one[kind]
