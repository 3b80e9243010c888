"""Scissors: each tool at each line against derivatives by hand and against the same lines run without the lesson."""

import math

import pytest

import minigrad as torch
from widgets.lessons import recap, scissors
from widgets.lessons.scissors import TOOLS


def plain(tool, place, x=2.0):
    """c = a² + a for a = 3x, with a tool at one line, written out: the three values and x."""
    x = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    values = [x]
    for k, line in enumerate((lambda x: 3 * x, lambda x, a: a**2, lambda x, a, b: b + a)):
        if k == place and tool in ("no_grad", "inference_mode"):
            with getattr(torch, tool)():
                values.append(line(*values))
        else:
            value = line(*values)
            values.append(value.detach() if k == place and tool == "detach" else value)
    return values[-1], x


@pytest.mark.parametrize("retain", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("tool", list(TOOLS))
def test_each_tool_at_each_line_does_what_the_lines_do(tool, place, retain):
    lesson = scissors(tool=tool, at="abc"[place], retain_graph=retain, passes=2)
    c, x = plain(tool, place)
    for call, said, worked in lesson.figure.state.log:
        assert call == f"c.backward({'retain_graph=True' if retain else ''})"
        try:
            c.backward(retain_graph=retain)
        except RuntimeError as error:
            assert not worked and said.removeprefix("RuntimeError: ").rstrip(".") in str(error)
        else:
            assert worked and said == f"x.grad = {x.grad.item():g}"
    grad = lesson.figure.state.leaves["x"].grad
    assert (grad is None) == (x.grad is None) and (grad is None or grad.item() == x.grad.item())
    cards = {card.name: card for card in lesson.figure.state.cards}
    assert cards["c"].value.item() == 42 and cards["c"].requires_grad == (tool == "nothing" or place == 1)


def test_what_was_saved_is_freed_by_the_pass_unless_it_is_retained():
    before, after, kept = scissors(), scissors(passes=1), scissors(passes=1, retain_graph=True)
    states = [[lesson.figure.state.state(i) for i in range(4)] for lesson in (before, after, kept)]
    assert states[0] == ["", "saved 1: kept", "saved 1: kept", "saved nothing"] == states[2]
    assert states[1] == ["", "saved 1: freed", "saved 1: freed", "saved nothing"]


def test_gradients_on_the_way():
    cards = {card.name: card.arrived.item() for card in scissors(passes=1).figure.state.cards}
    assert cards == {"c": 1, "b": 1, "a": 13, "x": 39}
    second = scissors(passes=2).figure.state
    assert [card.arrived is None for card in second.cards] == [False, True, False, False] and second.reason(
        1
    ) == "never reached"


def test_a_cut_between_two_parts_is_silent():
    source = "code = tanh(0.5*w1); out = code*w2; loss = (out - 1)**2"
    cut, whole = (scissors(source, w1=1.0, w2=0.8, tool=tool, at="code", passes=1) for tool in ("detach", "nothing"))
    code = math.tanh(0.5)
    miss = code * 0.8 - 1
    assert cut.figure.state.leaves["w1"].grad is None and "w1 learns nothing" in cut.text()
    for lesson in (cut, whole):
        assert lesson.figure.state.leaves["w2"].grad.item() == pytest.approx(2 * miss * code, rel=1e-12)
    assert whole.figure.state.leaves["w1"].grad.item() == pytest.approx(2 * miss * 0.8 * (1 - code**2) * 0.5, rel=1e-12)
    state = cut.figure.state
    assert state.reason(2) == "detached here" and (2, 3, False) in state.links and (1, 3, True) in state.links


def two_parts(w1, w2):
    """A docstring."""
    code = w1.tanh()
    for _ in range(2):
        code = code * w2
    return (code - 1) ** 2


def test_a_function_with_a_loop():
    lesson = scissors(two_parts, w1=0.5, w2=2.0, passes=1)
    miss = 4 * math.tanh(0.5) - 1
    assert lesson.figure.state.leaves["w2"].grad.item() == pytest.approx(2 * miss * 2 * 2 * math.tanh(0.5))
    cut = scissors(two_parts, w1=0.5, w2=2.0, tool="detach", at="result", passes=1)
    assert "does not require grad" in cut.scene["say"] and "((code - 1) ** 2).detach()" in cut.text()


def test_a_name_that_is_stored_twice_and_written_in_place():
    lesson = scissors("u = x * 2; u += 1; y = u ** 2", passes=1)
    assert [card.value.item() for card in lesson.figure.state.cards] == [2, 4, 5, 25]
    assert lesson.figure.state.leaves["x"].grad.item() == 2 * 5 * 2
    assert lesson.scene["controls"][1]["texts"] == ["u, line 1", "u, line 2", "y"]
    lesson.set(tool="detach", at=1)
    assert "u = u.detach()" in lesson.text() and lesson.figure.state.leaves["x"].grad is None


def test_inference_mode_fails_where_its_tensor_would_be_saved():
    lesson = scissors("a = 3*x; b = a*x; c = b + 1", tool="inference_mode", at="a", passes=1)
    assert "Inference tensors cannot be saved for backward" in lesson.scene["say"] and lesson.figure.state.failed
    assert [lesson.figure.state.reason(i) for i in (1, 3)] == ["in inference_mode", "not computed"]


def test_the_sentence_names_the_first_pass_that_stops():
    assert "Pass 1 stops" in scissors(tool="inference_mode", at="a", passes=2).figure.state.sentence()  # both do
    assert "Pass 2 stops" in scissors(passes=2).figure.state.sentence()  # the first has used the graph up


def test_buttons():
    lesson = scissors()
    lesson.set(passes=1)
    assert "x.grad = 39" in lesson.scene["say"]
    lesson.set(passes=2)
    assert "a second time" in lesson.scene["say"]
    lesson.set(retain_graph=True)
    assert "x.grad = 78" in lesson.scene["say"] and "added" in lesson.scene["say"]
    lesson.set(tool="no_grad", at=2)
    assert "c is computed under no_grad" in lesson.scene["say"] and "with torch.no_grad():" in lesson.picture()
    lesson.set(tool="nothing")
    assert "x.grad = 78" in lesson.scene["say"]


@pytest.mark.parametrize("given, said", [
    (((3,), {}), "needs a function"), ((("a = (",), {}), "not Python"), ((("a = 3",), {}), "1 to 4 inputs"), ((("a = 1/0 * x",), {}), ""),
    (((lambda x: x,), {}), "lambda"), ((("a, b = x, x",), {}), "stores 2 names"), ((("print(x); a = x",), {}), "stores nothing"),
    (((), {"tool": "saw"}), "tool is one of"), (((), {"at": "q"}), "no line stores q"),
    (((), {"passes": 7}), "passes is one of 0, 1, 2, not 7"),
    (((), {"y": 1.0}), "no input y"), (((), {"x": "two"}), "cannot draw this"), ((("a = x; " * 9,), {}), "room for 1 to 8"),
    (((max,), {}), "source are not known"), ((("",), {}), "room for 1 to 8"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(given, said):
    args, more = given
    text = scissors(*args, **more).text()
    assert said in text and "Traceback" not in text and len(text) < 400


def test_more_numbers_than_one_get_the_engines_own_error():
    lesson = scissors("a = 2*x", x=[1.0, 2.0], passes=1)
    assert "grad can be implicitly created only for scalar outputs" in lesson.scene["say"]
    assert scissors("a = 2*x; s = a.sum()", x=[1.0, 2.0], passes=1).figure.state.leaves["x"].grad.tolist() == [2, 2]


def test_static_twins_are_the_same_twice_and_escaped():
    one, two = scissors(passes=1)._repr_mimebundle_(), scissors(passes=1)._repr_mimebundle_()
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain")) and "<title>" in one["image/svg+xml"]
    assert "x &lt; 3" in scissors("a = (x < 3) * x", passes=1).picture()


def test_recap():
    text = recap(10).text()
    assert "plain backward(): the graph is used once; backward once: x.grad = 39, twice: RuntimeError" in text
    assert "twice: x.grad = 78" in text and recap(10).picture() == recap(10).picture()
