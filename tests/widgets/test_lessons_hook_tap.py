"""The hook tap: what flows and what a tap does to it, against derivatives by hand, and against hooks registered by hand."""

import pytest

import minigrad as torch
from widgets.lessons import hook_tap
from widgets.lessons.tensor_program import inputs_of, run

EDGES = {"y → q": 1, "y → x": 1, "q → u": 12, "u → w": 24, "u → x": 36}  # y = (w·x)² + x at x = 2, w = 3


def grads(lesson):
    tap = lesson.figure.tap
    return {tap.trace["nodes"][i]["label"]: tap.now["grad"][i] for i in tap.leaves}


def pick(lesson, edge, do=None, amount=None):
    lesson.set(at=edge)
    if do:
        lesson.set(do=do)
    if amount is not None:
        lesson.set(amount=amount)
    return lesson


def test_the_first_picture_only_looks():
    lesson = hook_tap()
    tap = lesson.figure.tap
    assert {tap.name(e): tap.now["in"][e] for e in tap.edges} == EDGES
    assert tap.now == tap.plain and grads(lesson) == {"w": 24, "x": 37}
    assert "nothing changes" in lesson.scene["say"] and [c["name"] for c in lesson.scene["controls"]] == ["at", "do"]


@pytest.mark.parametrize(
    "edge, x, w", [("y → q", 19, 12), ("y → x", 36.5, 24), ("q → u", 19, 12), ("u → w", 37, 12), ("u → x", 19, 24)]
)  # fmt: skip
def test_half_on_each_edge(edge, x, w):
    lesson = pick(hook_tap(), edge, "scale", 0.5)
    assert grads(lesson) == {"x": x, "w": w}
    tap = lesson.figure.tap
    assert tap.now["in"][tap.at] == EDGES[edge] and tap.now["out"][tap.at] == EDGES[edge] / 2


def test_the_riddle_of_the_chapter():
    zero = {edge: grads(pick(hook_tap(), edge, "replace", 0.0)) for edge in EDGES}
    assert [edge for edge in EDGES if zero[edge]["x"] == 1] == ["y → q", "q → u", "u → x"]
    assert [edge for edge in EDGES if zero[edge]["w"] == 24] == ["y → x", "u → x"]


def test_clip_and_replace():
    lesson = pick(hook_tap(), "u → x", "clip", 5)
    assert grads(lesson) == {"x": 6, "w": 24} and "the hook turned 36 into 5" in lesson.scene["say"]
    pick(lesson, "y → q", "replace", -2.0)
    assert grads(lesson) == {"x": -2 * 36 + 1, "w": -48}
    pick(lesson, "y → q", "look")
    assert grads(lesson) == {"x": 37, "w": 24}


def code_of(lesson):
    return lesson.figure.tap.code()


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("do, amount", [("scale", 0.5), ("clip", 3.0), ("replace", 7.0)])
def test_the_code_that_is_shown_does_the_same(edge, do, amount):
    lesson = pick(hook_tap(), edge, do, amount)
    _, space = run("u = w*x; q = u**2; y = q + x", {"x": 2.0, "w": 3.0}, torch.float64)
    exec(code_of(lesson), {"torch": torch, **space})
    space["y"].backward()
    assert {name: space[name].grad.item() for name in "xw"} == pytest.approx(grads(lesson))


def test_own_function_and_own_hook():
    def half(grad):
        return grad * 0.5

    def f(x, w):
        a = x * w
        return torch.tanh(a).sum()

    lesson = hook_tap(f, x=[0.1, 0.2], w=[1.0, -1.0], hook=half)
    assert lesson.figure.do == "yours" and "half(g)" in lesson.scene["code"]
    at = lesson.figure.tap.at
    assert lesson.figure.tap.now["out"][at] == pytest.approx(lesson.figure.tap.now["in"][at] / 2)
    nothing = hook_tap(f, x=[0.1, 0.2], w=[1.0, -1.0], hook=lambda grad: None)
    assert nothing.figure.tap.now["out"] == nothing.figure.tap.plain["out"]


def test_one_tensor_twice_has_two_edges():
    lesson = hook_tap("y = x*x", x=3, do="scale")
    assert lesson.scene["controls"][0]["texts"] == ["y → x (slot 0)", "y → x (slot 1)"] and grads(lesson) == {"x": 4.5}


@pytest.mark.parametrize("nonsense, said", [
    ({"f": 3}, "needs a program"), ({"hook": 3}, "a function of the gradient"), ({"at": "z"}, "The edges are y → q"),
    ({"do": "eat"}, "do is one of"), ({"f": "y = foo(x)"}, "is not known here"), ({"f": "y = x*x", "w": 1}, "no input w"),
    ({"f": lambda x: 5}, "not with int"), ({"f": lambda x: x * 2, "x": [1, 2]}, "reduce it to one"), ({"f": lambda x: x}, "has no graph"),
    ({"hook": lambda g: 3}, "returns a Tensor or None"), ({"x": "a"}, "cannot draw this"),
    ({"f": lambda x: sum((x * k for k in range(40)), x)}, "more than 24 operations"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(nonsense, said):
    lesson = hook_tap(**nonsense)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


def test_a_hook_that_fails_later_keeps_the_picture():
    lesson = hook_tap(hook=lambda g: g if g.item() == 1 else g.reshape(7))
    before = lesson.scene["svg"]
    lesson._on_message(
        None, {"number": 1, "set": "at", "value": lesson.scene["controls"][0]["texts"].index("q → u")}, []
    )
    assert lesson.scene["mood"] == "bad" and lesson.scene["svg"] == before


def test_program_reader():
    assert inputs_of("u = w*x; u + b") == ["w", "x", "b"] and inputs_of(lambda a, b: a) == ["a", "b"]
    root, named = run("log(2) * x", {"x": 3.0})
    assert root.item() == pytest.approx(2.0794, rel=1e-4) and set(named) == {"x", "y"}


def test_static_twin_is_the_same_twice():
    one, two = hook_tap()._repr_mimebundle_(), hook_tap()._repr_mimebundle_()
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain")) and "<title>" in one["image/svg+xml"]
