"""S2, the growing graph, and the inspector: what is recorded after each line, against what the program says; branches, loops, nonsense."""

import sys

import pytest

import minigrad as torch
from minigrad import Value
from widgets.lessons import grow, inspector


def branches(x):
    """Two ways."""
    if x > 0:
        y = x**2
    else:
        y = -3 * x + 1
    return y


def power(w, h):
    for _ in range(3):
        h = w * h
    return h


def twice_used(x):
    return x * 2 + x


def labels(lesson):
    state = lesson.figure.run
    return [n.label for n in state.nodes if n.moment <= state.at and n.kind != "constant"]


def value(lesson, name):
    return next(n.obj.data for n in lesson.figure.run.nodes if n.label == name)


# ---- growing


def test_one_line_after_another():
    lesson = grow(at="start")
    assert labels(lesson) == ["x"] and lesson.figure.last == 3
    for k, (name, number) in enumerate([("a", 6), ("b", 11), ("c", 121)], 1):
        lesson.set(at=k)
        assert labels(lesson)[-1] == name and value(lesson, name) == number
    lesson.set(at=2)
    assert labels(lesson) == ["x", "a", "b"]


def test_the_learners_next_line():
    lesson = grow()
    lesson.set(line="d = c - x")
    assert lesson.figure.line == ""
    assert value(lesson, "d") == 118 and [
        lesson.figure.run.nodes[p].label for p in lesson.figure.run.nodes[-1].parents
    ] == ["c", "x"]
    count = len(lesson.figure.run.nodes)
    lesson.set(line="e = d")
    assert len(lesson.figure.run.nodes) == count and "no new node" in lesson.scene["say"]
    lesson.set(line="for _ in range(2): d = d * x")
    assert labels(lesson)[-3:] == ["d₁", "d₂", "d"] and value(lesson, "d") == 118 * 9
    lesson.press("off")
    lesson.press("off")
    assert labels(lesson)[-1] == "d"


def test_only_the_branch_that_ran():
    lesson = grow(branches, x=2)
    assert labels(lesson) == ["x", "y"] and value(lesson, "y") == 4
    lesson.set(x=-1)
    assert labels(lesson) == ["x", "−3 × x", "y"] and value(lesson, "y") == 4
    picture = lesson.picture()
    assert picture.count("never ran") == 1 and "y = x**2" in picture
    root = lesson.figure.run.nodes[-1].obj
    root.backward()
    assert lesson.figure.run.nodes[0].obj.grad == -3


def test_a_loop_unrolls():
    lesson = grow(power, w=2, h=1)
    assert labels(lesson) == ["w", "h₁", "h₂", "h₃", "h"] and value(lesson, "h") == 8
    assert "h is 4 and remembers w and h₂" in lesson.text(), "the name moves on while the program runs"
    w = next(n.id for n in lesson.figure.run.nodes if n.label == "w")
    assert sum(p == w for n in lesson.figure.run.nodes for p in n.parents) == 3
    assert "5 nodes (2 leaves, 3 operations, 0 constants) and 6 edges" in lesson.text()
    assert all(p < n.id for n in lesson.figure.run.nodes for p in n.parents)


def test_what_no_variable_holds_is_let_go():
    lesson = grow("a = x * 2\na = Value(5.0)", x=1)
    assert "No variable leads to a₁ any more" in lesson.text() and "let go" in lesson.picture()
    assert "no new node" in grow("x * 2", x=1).text()


def test_the_notebooks_own_function_can_be_called():
    assert "y is 9 and remembers" in grow("y = twice_used(x)", x=3).text()


def test_a_result_without_a_name():
    assert labels(grow(twice_used, x=1))[-1] == "result"


def test_tracing_is_given_back():
    def mine(frame, event, arg):
        return None

    before = sys.gettrace()
    sys.settrace(mine)
    try:
        grow("a = x / 0")
        assert sys.gettrace() is mine
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("line, said", [
    ("d = ", "cannot read"),
    ("d = nothing", "NameError"),
    ("1/0", "division by zero"),
    ("while True: x = x + 1", "more than 60 nodes"),
    ("while True: pass", "Show a shorter run"),
])  # fmt: skip
def test_a_bad_line_is_not_added(line, said):
    lesson = grow()
    before = lesson.scene["svg"]
    lesson._on_message(None, {"number": 1, "set": "line", "value": line}, [])
    assert said in lesson.scene["say"] and lesson.scene["mood"] == "bad"
    assert lesson.scene["svg"] == before and lesson.figure.run.program.count("\n") == 2


@pytest.mark.parametrize("program, inputs, said", [
    (7, {}, "needs lines"),
    ("a =", {}, "cannot read line 1"),
    (branches, {"z": 1}, "no input z"),
    (branches, {"x": "one"}, "is no number"),
    (lambda x: x.nothing(), {}, "nothing"),
    (max, {}, "grow cannot draw this"),
    (lambda: 3, {}, "no Value"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(program, inputs, said):
    lesson = grow(program, **inputs)
    assert said in lesson.text() and "Traceback" not in lesson.text()


def test_the_twin_shows_the_end_even_where_the_widget_starts_empty():
    data = grow(at="start")._repr_mimebundle_()
    assert ">121</text>" in data["image/svg+xml"] and "c is 121" in data["text/plain"]
    assert data["image/svg+xml"] == grow(at="start")._repr_mimebundle_()["image/svg+xml"]
    assert ">121</text>" not in grow(at="start").scene["svg"]


# ---- the inspector


def sin_of_dot():
    x = torch.arange(1.0, 5.0, requires_grad=True)
    y = torch.arange(5.0, 9.0, requires_grad=True)
    return x, y, torch.sin(torch.dot(x, y))


def test_the_walk_is_the_code_that_it_shows():
    x, y, z = sin_of_dot()
    lesson = inspector(z)
    assert [b["label"] for b in lesson.scene["buttons"]] == ["◂ root", "next_functions[0] → DotBackward0"]
    lesson.press("next0")
    lesson.press("next1")
    assert lesson.figure.walk.code == "z.grad_fn.next_functions[0][0].next_functions[1][0]"
    assert eval(lesson.figure.walk.code).variable is y is lesson.figure.walk.here.variable
    assert (
        "adds the gradient it receives to y.grad" in lesson.scene["say"]
        and lesson.figure.walk.code == lesson.scene["code"]
    )
    lesson.press("root")
    assert lesson.figure.walk.here is z.grad_fn
    assert x.grad is None


def test_every_node_and_every_none():
    a = torch.tensor(2.0, requires_grad=True)
    c = 3 * a**2 + 1
    lesson = inspector(c)
    assert [name for name, _ in lesson.figure.walk.rows()] == [
        "AddBackward0",
        "MulBackward0",
        "PowBackward0",
        "AccumulateGrad",
    ]
    assert lesson.picture().count("nothing to visit") == 2 and "→ a.grad" in lesson.picture()
    assert not lesson.scene["buttons"][2]["enabled"]


def test_a_node_used_twice_is_one_card():
    e = torch.exp(torch.tensor([1.0, 2.0], requires_grad=True))
    assert len(inspector((e * 2.0 + e).sum()).figure.walk.nodes) == 5


@pytest.mark.parametrize("what, said", [
    (lambda: 3, "given int"),
    (lambda: Value(1.0), "%graph"),
    (lambda: torch.tensor(1.0, requires_grad=True), "leaf"),
    (lambda: torch.tensor(1.0) * 2, "nothing that requires gradients"),
])  # fmt: skip
def test_where_there_is_nothing_to_walk(what, said):
    assert said in inspector(what()).text()


def test_a_graph_too_big_to_draw():
    y = torch.tensor(1.0, requires_grad=True)
    for _ in range(100):
        y = y + 1
    assert "more than 60" in inspector(y).text()
