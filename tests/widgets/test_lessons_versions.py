"""Version counters: the patients' outcomes, counts against _version, gradients against known ones, the editor, nonsense."""

import math

import pytest

import minigrad as torch
from widgets.lessons import versions
from widgets.lessons.versions import PATIENTS, Run

EXP = [math.exp(v) for v in (0.0, 1.0, -2.0)]


def run(name):
    return Run(PATIENTS[name], [0.0, 1.0, -2.0])


def test_the_first_patient():
    lesson = versions()
    last = lesson.figure.run.moments[-1]
    assert [(c.names, c.count) for c in last.counters] == [("x", 0), ("y", 1)]
    (name, (kept,), _), add = last.nodes
    assert name == "ExpBackward0" and (kept.name, kept.then, kept.now, kept.stale) == ("result", 0, 1, True)
    assert add[:2] == ("AddBackward0", [])
    assert (
        "modified by an inplace operation" in last.error
        and "is at version 1; expected version 0 instead." in lesson.scene["say"]
    )
    assert "✗ is v 1" in lesson.picture() and 'class="over"' in lesson.picture()


@pytest.mark.parametrize("name, fails, grad, agree", [
    ("exp, then add_", True, None, None), ("times 2, then add_", False, [2.0, 2.0, 2.0], True), ("a new tensor", False, EXP, True),
    ("behind its back", False, [v + 1 for v in EXP], False), ("through a view", True, None, None),
])  # fmt: skip
def test_what_backward_says(name, fails, grad, agree):
    state = run(name)
    assert bool(state.moments[-1].error) == fails and state.agree is agree
    assert state.grad == (None if grad is None else pytest.approx(grad))
    assert ("✗" in state.sentence()) == (fails or agree is False)


def test_a_new_tensor_leaves_the_old_one_in_the_graph():
    last = run("a new tensor").moments[-2]
    assert [(c.names, c.count) for c in last.counters] == [("x", 0), ("old y", 0), ("y", 0)]
    assert not any(k.stale for _, kept, _ in last.nodes for k in kept)


def test_a_view_has_its_base_s_counter():
    state = run("through a view")
    assert "y and z share one storage and one counter" in state.sentence(2)
    assert "y and z were written to: version 0 is now 1" in state.sentence(3)


@pytest.mark.parametrize("writes", [1, 2, 5])
def test_counts_are_the_tensors_own(writes):
    def f(x):
        y = x.tanh()
        for _ in range(writes):
            y.mul_(2)
        seen.append(y._version)
        return y

    seen = []
    state = versions(f).figure.run
    y = next(c for c in state.moments[-1].counters if c.names == "y")
    assert y.count == seen[0] == writes and f"is at version {writes}; expected version 0" in state.moments[-1].error


def test_own_function_with_two_saved_values_and_the_repaired_one():
    def bad(x):
        y = x.sigmoid()
        z = y * y
        y.zero_()
        return z

    def good(x):
        y = x.sigmoid()
        return y * y

    stale = [(name, k.name) for name, kept, _ in versions(bad).figure.run.moments[-1].nodes for k in kept if k.stale]
    assert stale == [("SigmoidBackward0", "result"), ("MulBackward0", "self"), ("MulBackward0", "other")]
    s = 1 / (1 + math.exp(-0.5))
    state = versions(good, [0.5]).figure.run
    assert state.agree and state.grad == pytest.approx([2 * s * s * (1 - s)])


def test_a_leaf_written_while_recording_and_under_no_grad():
    assert "a leaf Variable that requires grad" in versions("x.add_(1)").text()
    late = versions("y = x**2\nwith torch.no_grad():\n    x.add_(1)").figure.run
    assert "What PowBackward0 saved is overwritten" in late.sentence(3) and late.moments[-1].error
    harmless = versions("y = x.exp()\nwith torch.no_grad():\n    x.add_(1)").figure.run
    assert harmless.agree and [c.count for c in harmless.moments[-1].counters] == [1, 0]


def test_a_program_that_calls_backward_itself():
    state = versions("y = x**2\ny.sum().backward()", [3.0]).figure.run
    assert state.lines[-1] == "y.sum().backward()" and state.grad == [6.0] and "x.grad = [6]" in state.sentence()
    twice = versions("y = x.exp()\ny.sum().backward()\ny.sum().backward()").figure.run
    assert "a second time" in twice.moments[-1].error


def test_an_error_of_backward_s_own_is_the_last_line_s():
    state = versions("x.backward()").figure.run
    assert "only for scalar outputs" in state.sentence() and state.moments[-1].error


def test_controls():
    lesson = versions(at="start")
    assert "Nothing has run yet" in lesson.scene["say"] and "overwritten" in lesson.text(), (
        "the saved notebook shows the end"
    )
    lesson.set(at=1)
    assert "ExpBackward0 saves y at version 0" in lesson.scene["say"]
    lesson.set(at=2)
    assert "What ExpBackward0 saved is overwritten" in lesson.scene["say"] and "✗ overwritten" in lesson.scene["table"]
    assert lesson.scene["mood"] == "bad"
    lesson.set(patient="times 2, then add_")
    assert "central differences agree" in lesson.scene["say"] and lesson.scene["mood"] == "good"
    assert lesson.figure.program == "y = x * 2\ny.add_(1)"


def test_editor():
    lesson = versions()
    lesson.set(program="y = x.sin()\ny.mul_(2)")
    assert lesson.figure.run.agree and lesson.figure.run.grad == pytest.approx(
        [2 * math.cos(v) for v in (0.0, 1.0, -2.0)]
    )
    lesson._on_message(None, {"number": 1, "set": "program", "value": "y = x.sin("}, [])
    assert (
        "cannot read line 1" in lesson.scene["say"]
        and "what it showed before" in lesson.scene["say"]
        and lesson.figure.run.agree
    )
    lesson.set(program="y = x.cos()")
    assert "central differences agree" in lesson.scene["say"]


def test_the_notebook_s_functions_can_be_called():
    state = versions("y = helper(x)").figure.run
    assert state.agree and state.grad == [3.0, 3.0, 3.0]


def helper(x):
    return 3 * x


@pytest.mark.parametrize("program, said", [
    (3, "needs lines of Python"), ("y = (", "cannot read line 1"), ("a = 1", "no place to start"), ("y = no_such", "NameError"),
    ("while True: pass", "Show a shorter run"), ("y = x + 'a'", "TypeError"), ("y = x.exp().detach()", "no place to start"),
    ("y = x.exp()\n" * 20, "room for 8"), ("y = x.exp()\n" * 100, "1,000 characters"), ("", "no place to start"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(program, said):
    lesson = versions(program)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


@pytest.mark.parametrize("x", [[], [1.0] * 9, "ab"])
def test_nonsense_for_x(x):
    assert "versions cannot draw this" in versions(None, x).text()


def test_static_twin_is_the_same_twice():
    one, two = versions()._repr_mimebundle_(), versions()._repr_mimebundle_()
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain")) and "<title>" in one["image/svg+xml"]
    assert isinstance(torch.tensor(1.0)._version, int)
