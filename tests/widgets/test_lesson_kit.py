"""The kit that lessons are declared with: arguments, controls, messages, what goes wrong, frames. Lessons themselves: test_lessons_*.py."""

import inspect
import json
import math

import pytest

from minigrad import Value
from widgets import graph
from widgets.lessons.kit import Choice, Figure, Given, LessonView, Sentence, Slider, Steps, Text, Toggle, action, lesson
from widgets.lessons.lesson import STYLE, Judgement, label, svg
from widgets.show import Table


@lesson
class parabola(Figure):
    """a·f(x), at one place."""

    f = Given(lambda x: x * x)
    x = Slider("x", 2, -3, 3)
    h = Slider("h", 0.1, 1e-4, 1.0, 0.5, log=True)
    n = Steps([1, 2, 10], "n", 2)
    m = Steps([1, 10, 100], "m", 10, between=True)
    sign = Choice({"plus": 1, "minus": -1}, "sign", 1)
    big = Toggle("big letters", False)
    name = Text("name", "y")
    presets = {"origin": {"x": 0, "n": 1}}

    def setup(self):
        self.y = self.sign * self.n * self.f(self.x) + self.m * 0
        if self.y > 50:
            raise ValueError(f"{self.y} is too much.")

    def sentence(self):
        return Judgement(True, f"{self.name} = {self.y}")

    def draw(self):
        return svg(100, 40, label(4, 20, self.sentence()), self.sentence() + " in a picture")

    def table(self):
        return Table(["x", "y"], [[str(self.x), str(self.y)]])

    @action("Go back", when=lambda self: self.x > -3)
    def back(self):
        self.x -= 1
        self.setup()


def send(view, **content):
    view._on_message(None, {"number": 1, **content}, [])


def test_the_function_has_the_fields_as_arguments():
    assert list(inspect.signature(parabola).parameters) == ["f", "x", "h", "n", "m", "sign", "big", "name"]
    assert parabola.__name__ == "parabola" and parabola.__doc__ == "a·f(x), at one place."
    view = parabola(lambda x: x + 1, 3, m=7)
    assert isinstance(view, LessonView) and view.text() == "✓ y = 8\n\nx  y\n3  8"
    assert view._repr_mimebundle_()["text/plain"] == view.text() and "in a picture" in view.picture()


@pytest.mark.parametrize("given, says", [
    ({"x": 4}, "x may be −3 to 3, and 4 is outside."), ({"x": 1.5}, "x needs a whole number, not 1.5."),
    ({"x": math.nan}, "x needs a number"),
    ({"x": "a"}, "'a' is no number"), ({"x": True}, "x needs a number"), ({"n": 3}, "n may be 1, 2, 10, and 3 is none of these."),
    ({"m": 101}, "m may be 1 to 100."), ({"m": 1.5}, "m needs a whole number"), ({"sign": 2}, "sign is one of 1, -1, not 2."),
    ({"big": 1}, "big letters is True or False"), ({"x": 3, "n": 10}, "90 is too much."), ({"f": 3}, "'int' object is not callable"),
    ({"q": 3}, "got an unexpected keyword argument 'q'"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_said(given, says):
    view = parabola(**given)
    assert isinstance(view, Sentence) and view.text().startswith("parabola cannot draw this: ") and says in view.text()


@pytest.mark.parametrize("content, text", [
    ({"set": "x", "value": 1}, "✓ y = 2"),
    ({"set": "x", "value": 0.9999999}, "✓ y = 2"), ({"set": "n", "value": 2}, "✓ y = 40"), ({"set": "sign", "value": 1}, "✓ y = -8"),
    ({"set": "name", "value": "z"}, "✓ z = 8"), ({"press": "back"}, "✓ y = 2"), ({"press": "origin"}, "✓ y = 0"),
])  # fmt: skip
def test_what_the_browser_sends(content, text):
    view = parabola()
    send(view, **content)
    assert view.scene["say"] == text.removeprefix("✓ ") and view.scene["mood"] == "good" and view.scene["answers"] == 1
    assert view.text().startswith(text) and view.scene["svg"] == view.picture().replace(STYLE, "")


def test_controls_say_what_they_show():
    shown = {c["name"]: c for c in parabola(m=7).scene["controls"]}
    assert "f" not in shown
    assert (shown["x"]["value"], shown["x"]["min"], shown["x"]["max"], shown["x"]["text"]) == (2, -3, 3, "2")
    assert (
        shown["h"]["value"] == -1 and (shown["h"]["min"], shown["h"]["max"]) == (-4, 0) and shown["h"]["text"] == "0.1"
    )
    assert shown["m"]["texts"] == ["1", "7", "10", "100"] and shown["m"]["value"] == 1, (
        "a learner's own size is among the places"
    )
    assert shown["sign"]["texts"] == ["plus", "minus"] and shown["big"]["value"] is False


@pytest.mark.parametrize("content", [{"set": "x", "value": 99}, {"set": "n", "value": 9}, {"set": "n", "value": "1"},
                                     {"set": "name", "value": 7},
                                     {"press": "nothing"}, {"press": "draw"}, {"set": "h", "value": math.nan}])  # fmt: skip
def test_a_refused_move_leaves_the_picture_and_says_why(content):
    view = parabola()
    before = view.picture()
    send(view, **content)
    assert (
        view.picture() == before
        and view.scene["mood"] == "bad"
        and view.scene["say"].endswith("shows what it showed before.")
    )
    send(view, press="back")
    assert view.scene["mood"] == "good"


@pytest.mark.parametrize(
    "content", [None, 7, "click", [], {}, {"set": 3}, {"set": "f", "value": 1}, {"set": "nothing", "value": 1}]
)
def test_what_no_page_sends_is_ignored(content):
    view = parabola()
    before = view.scene
    view._on_message(None, content, [])
    assert view.scene == before


def test_a_move_that_fails_halfway_changes_nothing():
    view = parabola(n=10)
    send(view, set="x", value=3)
    assert "90 is too much" in view.scene["say"] and view.figure.x == 2 and view.figure.y == 40


def test_a_button_that_may_not_be_pressed_is_off():
    view = parabola(x=-3)
    assert view.scene["buttons"] == [{"name": "back", "label": "Go back", "hint": "", "enabled": False}]


def test_the_front_end_is_not_sent_with_each_lesson():
    state = parabola().get_state()
    assert state["front"] == graph(Value(1.0) + 1).get_state()["front"], (
        "one hidden model carries it, for lessons and graphs"
    )
    assert len(json.dumps(state)) - len(json.dumps(state["scene"])) < 3_000 and "_css" not in state


def test_a_page_that_cannot_draw_gets_the_picture(monkeypatch):
    view, sent = parabola(), []
    monkeypatch.setattr(view, "send", lambda content, buffers: sent.append((content, buffers)))
    send(view, type="save", kind="svg")
    assert sent == [({"type": "file", "mime": "image/svg+xml"}, [view.picture().encode()])]


def test_a_closed_lesson_comes_back():
    view = parabola()
    view.close()
    assert view.comm is None
    assert view._repr_mimebundle_()["text/plain"] == view.text() and view.comm is not None


def test_frames_are_what_the_kernel_would_have_drawn():
    view = parabola()
    frames = view.frames()
    assert frames["control"] == "x" and list(frames["scenes"]) == list(range(7))
    for k, x in enumerate(range(-3, 4)):
        send(view, set="x", value=x)
        assert frames["scenes"][k]["svg"] == view.picture()
