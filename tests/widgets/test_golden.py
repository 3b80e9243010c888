"""What learners see is pinned: each lesson's words and pictures, graphs at several moments (tests/golden)."""

import re

import pytest

import minigrad as torch
from minigrad import Value, nn, scalar
from tests.widgets.test_lessons_all import LESSONS, make, own_progress  # noqa: F401  (a fixture that all of these tests use)
from tools import golden
from widgets import graph
from widgets.lessons.kit import LessonView, Text


def parts(view) -> str:
    return f"{view.text()}\n\n{golden.scene(view.picture())}"


def other_place(figure, control):
    """Another value that this control can be moved to, or None."""
    here = control.get(figure)
    places = [] if isinstance(control, Text) or not hasattr(control, "places") else control.places(here)
    return next((place for place in reversed(places) if place != here), None)


def moves(name) -> str:
    """What a lesson says after each single move: of each control, each button, each preset."""
    figure, out = make(name).figure, []
    for control in figure.controls():
        if (value := other_place(figure, control)) is not None:
            out.append(f"{control.name} = {value!r}:\n{_after(make(name), 'set', **{control.name: value})}")
    for button in [*(button for button, _ in figure.actions()), *figure.presets]:
        out.append(f"{button}:\n{_after(make(name), 'press', button)}")
    return "\n\n".join(out)


def _after(view, what, *args, **kwargs) -> str:
    try:
        getattr(view, what)(*args, **kwargs)
        return view.text()
    except ValueError as error:
        return f"refused: {error}"


@pytest.mark.parametrize("name", LESSONS)
def test_lesson_golden(name):
    view = make(name)
    file = f"lessons/{name}.txt"
    golden.check(file, "start", parts(view))
    if LESSONS[name][1] is not None:
        golden.check(file, "own input", parts(make(name, own=True)))
    if isinstance(view, LessonView):
        golden.check(file, "one move", moves(name))
        for name_ in [control.name for control in view.figure.controls()]:
            # A move may take another control away
            control = next((c for c in view.figure.controls() if c.name == name_), None)
            if control is not None and (value := other_place(view.figure, control)) is not None:
                view.set(**{name_: value})
        golden.check(file, "all moved", parts(view))


def square():
    x = Value(1.0)
    y = (3 * x + 2) ** 2
    return graph(y, names={"x": x, "y": y})


def diamond():
    a, b = Value(2.0), Value(-3.0)
    c, d = a + b, a * b
    return graph((c + d).tanh() + c * c, names={"a": a, "b": b, "c": c, "d": d})


def tensors():
    x = torch.tensor([[1.0, -2.0], [0.5, 3.0]])
    w = torch.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
    b = torch.tensor([0.1, -0.2], requires_grad=True)
    h = (x @ w + b).tanh()
    target = h.detach() * 2
    loss = ((h - target) ** 2).mean()
    return graph(loss, names={"x": x, "w": w, "b": b, "h": h, "target": target, "loss": loss})


def network():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
    loss = nn.functional.cross_entropy(model(torch.tensor([[1.0, 2.0]])), torch.tensor([1]))
    return graph(loss, names={"model": model, "loss": loss})


def views():
    base = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    h = base * 1
    h.view(2, 2)[0].mul_(3)
    return graph(h.sum(), names={"base": base, "h": h})


GRAPHS = [square, diamond, tensors, network, views]


@pytest.mark.parametrize("build", GRAPHS, ids=lambda build: build.__name__)
def test_graph_golden(build):
    scalar.record_lines(False)  # whatever another file's extension has left on
    view = build()
    forward = sum(event["phase"] == "forward" for event in view.trace["steps"])
    golden.check("graphs.txt", f"{build.__name__} as text", repr(view))
    for step in (1, forward, forward + 2, view.total) if build is square else (forward, view.total):
        golden.check("graphs.txt", f"{build.__name__} after {step:02}", golden.scene(view.svg(step)))


def test_every_golden_file_is_a_lessons():
    assert {path.stem for path in (golden.HERE / "lessons").iterdir()} == set(LESSONS)


def test_a_scene_has_all_that_is_written_in_a_picture():
    svg = make("passes").picture()
    seen = [re.sub("<[^>]*>", "", text) for text in re.findall(r"<text[^>]*>(.*?)</text>", svg)]
    assert (
        golden.words(golden.scene(svg)) == [" ".join(golden.unescape(text).split()) for text in seen] and len(seen) > 5
    )
    assert (
        golden.scene(golden.picture(golden.scene(svg), "<style/>")).splitlines()[1:]
        == golden.scene(svg).splitlines()[1:]
    )
