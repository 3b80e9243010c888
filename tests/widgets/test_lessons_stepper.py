"""S1, the stepper: the numbers of y = (3x + 2)², the learner's own programs and functions, and what it says to nonsense."""

import math
import re

import pytest

from minigrad import Value, scalar
from widgets.lessons import stepper
from widgets.lessons.stepper import parse
from widgets.view import files


def node(lesson, label):
    return next(n for n in lesson.figure.graph.trace["nodes"] if n["label"] == label)


def test_the_canned_start_has_the_eight_events_of_the_course():
    lesson = stepper()
    assert lesson.figure.graph.step == 0 and lesson.figure.graph.total == 8
    assert [node(lesson, n)["value"] for n in "xpuy"] == [1, 3, 5, 25]
    assert [node(lesson, n)["grad"] for n in "yupx"] == [1, 10, 10, 30]


def test_the_stored_picture_and_text_do_not_give_the_prediction_away():
    lesson = stepper()
    data = lesson._repr_mimebundle_()
    assert "25" in data["image/svg+xml"] and "30" not in data["text/plain"]
    given_away = re.compile(r">[^<]*30</text>")
    assert not given_away.search(data["image/svg+xml"])
    assert given_away.search(stepper(at="end").picture()) and "30" in stepper(at="end").text()
    assert stepper()._repr_mimebundle_()["image/svg+xml"] == data["image/svg+xml"]


def move(lesson, text):
    lesson._on_message(None, {"number": 1, "set": "f", "value": text}, [])


def test_a_typed_program_replaces_the_picture():
    lesson = stepper()
    move(lesson, "w = x*y; sin(w) + x")
    assert node(lesson, "w")["value"] == 1
    assert node(lesson, "x")["grad"] == pytest.approx(math.cos(1) + 1, rel=1e-15)
    assert node(lesson, "y")["grad"] == pytest.approx(math.cos(1), rel=1e-15)
    assert lesson.children == [lesson.figure.graph] and lesson.scene["mood"] == ""


NONSENSE = {
    "sin(x": "cannot read",
    "x.data": "allowed",
    "__import__('os')": "not known",
    "3": "without an input",
    "": "Write a formula",
    "x": "nothing to its input",
    "log(x - 1)": "no finite value",
    "p = ; x": "not an assignment",
    "y = x*2; y = y*2": "taken",
    "sin": "write sin(x)",
    "x if x else 1": "allowed",
    "x*'a'": "not a number",
    "x" + "+x" * 300: "characters",
}


def test_a_bad_program_keeps_the_picture_and_says_why():
    lesson = stepper()
    view = lesson.figure.graph
    for text, said in NONSENSE.items():
        move(lesson, text)
        assert said in lesson.scene["say"] and lesson.scene["mood"] == "bad", text
        assert lesson.figure.graph is view
    move(lesson, "x*x")
    assert lesson.figure.graph is not view and lesson.scene["mood"] == ""


def test_a_learners_function_shows_its_own_names():
    def own(x, w):
        n = x * w
        return n.tanh()

    lesson = stepper(own, x=0.5, w=2)
    assert node(lesson, "n")["value"] == 1
    assert node(lesson, "y")["value"] == pytest.approx(math.tanh(1), rel=1e-15)
    assert node(lesson, "x")["grad"] == pytest.approx(2 * (1 - math.tanh(1) ** 2), rel=1e-14)
    assert lesson.figure.graph.trace["title"] == "own(x, w)"


def test_lines_beside_the_picture_are_the_learners():
    sources = [n["source"] for n in stepper().figure.graph.trace["nodes"] if n["source"]]
    assert [s["text"] for s in sources] == ["p = 3*x", "u = p + 2", "y = u**2"]
    assert scalar._recording is False


def test_functions_have_the_learners_lines_too():
    """The program that chapter 1 suggests, and one with plain numbers."""
    for program, lines in (
        ("w = x*y; sin(w) + x", {"w = x*y", "y2 = sin(w) + x"}),
        ("u = 2; v = sin(u)*x + exp(3); tanh(v)", {"v = sin(u)*x + exp(3)", "y = tanh(v)"}),
    ):
        sources = [n["source"] for n in stepper(program).figure.graph.trace["nodes"] if n["source"]]
        assert {s["text"] for s in sources} == lines
        assert all(s["cell"].startswith("your program") for s in sources)


def test_a_first_look_is_one_on_a_page_too():
    """Chapter 0's, stored to move before any cell has run: it had the ledger, and lost it when its cell ran."""
    assert files.alone(stepper("x*x", brief=True).figure.graph)["brief"] is True
    assert "brief" not in files.alone(stepper("x*x").figure.graph)


def test_a_slider_moves_the_graph_that_is_shown():
    lesson = stepper()
    x = next(n["id"] for n in lesson.figure.graph.trace["nodes"] if n["label"] == "x")
    lesson.figure.graph.inputs = {str(x): 2.0}
    now = {n["label"]: n for n in lesson.figure.graph.shown_now()["nodes"]}
    assert now["y"]["value"] == (3 * 2 + 2) ** 2 and now["x"]["grad"] == 6 * (3 * 2 + 2)
    assert lesson.figure.root.data == 25


@pytest.mark.parametrize("f, inputs, said", [
    (7, {}, "needs a formula"),
    (lambda x: 3, {}, "returned int"),
    (lambda x: x, {}, "unchanged"),
    (lambda x: x * 2, {"z": 1}, "no input z"),
    (lambda x: x.nothing(), {}, "nothing"),
    (lambda x: 1 / 0, {}, "division by zero"),
    ("2 +", {}, "cannot read"),
    ("x*x", {"x": "one"}, "is no number"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(f, inputs, said):
    lesson = stepper(f, **inputs)
    assert said in lesson.text() and "Traceback" not in lesson.text()


def test_parse_finds_the_inputs():
    assert parse("a*b + sin(a)") == ([("y", "a*b + sin(a)")], ["a", "b"])
    assert parse("y*y")[0] == [("y2", "y*y")]
    assert isinstance(stepper("y*y").figure.root, Value)
