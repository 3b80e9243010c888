"""What holds for every lesson: a picture and words without a kernel, the learner's own input, a sentence for nonsense, no traces left.

What lives here: one table of all lessons, and the tests that run over it. A new lesson must be entered in it. What does not: the numbers of
each lesson (test_lessons_<name>.py), the browser (tests/browser/test_lessons.py).
"""

import inspect
import json
import math
import re
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from ipywidgets.widgets import widget

import minigrad as torch
from minigrad import Value, nn
from tools.store import svg_of
from widgets import lessons, page
from widgets.lessons.kit import Sentence

from ..thorough import part

HERE = Path(__file__).parent
NO_LESSON = {"progress"}  # a loop with a bar; test_lessons_progress.py


def result():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    return (x * x).sum()


class Number:
    """A learner's engine that has only begun."""

    def __init__(self, data, parents=()):
        self.data, self.grad, self._prev = data, 0.0, parents

    def __mul__(self, other):
        other = other if isinstance(other, Number) else Number(other)
        return Number(self.data * other.data, (self, other))


class TwoFaced(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return 2 * g


def cubic(x):
    u = x * x
    return u * x + x


def vector(x):
    return x * x


def half(g):
    return g / 2


def softplus(x):
    return math.log1p(math.exp(x)), 1 / (1 + math.exp(-x))


def steps_down(model, optimizer, x, y):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


class Sign(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self):
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    p -= group["lr"] * torch.sign(p.grad)


# name: (how it starts, the learner's own input). Every name in widgets.lessons stands here.
def squares():
    return [1.0, 4.0, 9.0]


MAPS = [[[1, 0, 0], [0.9, 0.1, 0], [0.8, 0.1, 0.1]], [[1, 0, 0], [0.2, 0.8, 0], [0.1, 0.2, 0.7]]]


def following(at, off):
    return {"a": 0.6, "b": 0.4} if 0 in off else {"a": 0.1, "b": 0.9}


LESSONS = {
    "heads": ({"line": "aba", "weights": MAPS}, {"line": "aba", "weights": MAPS, "following": following, "at": 1}),
    "bars": ({"f": lambda k: [1.0] * k}, {"f": lambda k: [k, 0.5], "low": 3, "high": 5, "name": "n"}),
    "bucket": ({}, {"f": cubic, "x": 2.0, "passes": 3}),
    "chain": ({}, {"f": cubic, "x": 2.0}),
    "contents": ({}, None),  # it shows this machine's progress
    "diamonds": ({}, {"n": 30, "way": "add up at each node"}),
    "draw": (
        {"x": (1, 2, 3), "real": squares, "high": 10},
        {"x": ("a", "b", "c"), "real": squares, "low": -2, "high": 2, "log": True},
    ),
    "dual": ({}, {"f": "w = a * b; sin(w) + a", "a": 2, "u": [1, 2]}),
    "fit_line": ({}, {"points": [(1, 2), (2, 1)], "w": 1.0}),
    "grow": ({}, {"program": cubic, "x": 2.0}),
    "growth": ({}, None),  # it shows this folder's my_engine.py
    "hook_tap": ({}, {"f": "y = sin(x * w)", "x": 2, "w": 3, "hook": half}),
    "hvp_cost": ({}, {"f": lambda x: (x**4).sum(), "n": 10}),
    "inspector": ({"y": result()}, {"y": result() * 2}),
    "jacobian_heat": ({}, {"f": vector, "x": [1.0, 2.0, 3.0]}),
    "jacobian_size": ({}, {"n": 10**6, "m": 3}),
    "ledger": ({"filled": 1}, {"f": cubic, "x": 2.0, "filled": "all"}),
    "loss_scaling": ({}, {"gradients": torch.tensor([1e-8, 0.5])}),
    "memory": (
        {"depth": 9},
        {"model": nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1)), "x": torch.ones(3, 2)},
    ),
    "memory_depth": ({}, None),  # one measured chart
    "micro_batches": ({}, {"data": [(1, 2), (2, 3), (3, 5), (4, 4)], "w": 0.5}),
    "nan_tracer": ({}, {"f": "y = log(x) * x", "x": 0.0}),
    "op_card": ({}, {"f": softplus, "x": 0.5, "doc": "A smooth ReLU."}),
    "order_game": ({}, {"f": cubic, "x": 2.0}),
    "own_engine": ({}, {"cls": Number, "f": lambda x: x * x, "x": 3.0}),
    "passes": ({}, {"n": 10, "m": 4}),
    "pick_u": ({}, {"f": vector, "x": [1.0, 2.0], "u": [1, -1]}),
    "pick_v": ({}, {"f": vector, "x": [1.0, 2.0], "v": [1, -1]}),
    "playground": (
        {"steps": 5},
        lambda: {"model": nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2)), "step": steps_down},
    ),
    "race": ({}, {"surface": lambda x, y: x * x + 3 * y * y, "optimizer": Sign}),
    "recap": ({"chapter": 1}, {"chapter": 19}),
    "rules": ({}, {"op": "matmul"}),
    "scissors": ({}, {"program": "a = 3*x; b = a**2", "x": 4.0, "tool": "detach", "at": "a", "passes": 1}),
    "stacked": ({}, {"program": "a = sin(x); y = a*x", "x": 1.0}),
    "step_size": ({}, {"f": cubic, "x": 1.0, "h": 1e-4}),
    "stepper": ({}, {"f": cubic, "x": 2.0, "at": "end"}),
    "surrogate": ({}, {"f": TwoFaced, "x": 0.7}),
    "uses": ({}, {"of": "convolution"}),
    "two_loops": ({"steps": 5}, {"lr": 0.02, "steps": 4}),
    "will_it_fit": ({}, {"precision": False, "batch": 1}),
    "versions": ({}, {"program": "y = x * 2\ny.add_(1)", "x": [1.0, 2.0]}),
}
each = pytest.mark.parametrize("name", LESSONS)


def make(name, own=False):
    start, learners = LESSONS[name]
    learners = learners() if callable(learners) else learners
    torch.manual_seed(0)
    return getattr(lessons, name)(**(learners if own and learners is not None else start))


@pytest.fixture(autouse=True)
def own_progress(monkeypatch, tmp_path):
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "progress.json"))


def test_the_table_is_complete():
    assert set(LESSONS) == set(lessons.__all__) - NO_LESSON
    tested = "".join(
        path.read_text(encoding="utf-8") for path in HERE.glob("test_lessons_*.py") if path != Path(__file__)
    )
    assert [name for name in LESSONS if not re.search(rf"\b{name}\(", tested)] == []


def smallest(svg: str) -> float:
    """How high the smallest words of a picture are, in pixels, where it has page.WIDTH pixels."""
    sizes = {"text": 14.0}  # class -> its size, in the sheets that the picture brings
    sheets = "".join(re.findall(r"<style>(.*?)</style>", svg))
    for selector, size in re.findall(r"([^{},]+)\{[^{}]*?font(?:-size)?:[^;{}]*?([\d.]+)px", sheets):
        sizes[selector.split(".")[-1].strip()] = float(size)
    found = []
    for looks, words in re.findall(r"<(?:text|tspan)\b([^>]*)>([^<]+)", svg):
        named = re.search(r'class="([^"]*)"', looks)
        own = re.search(r'font-size[=:]"?([\d.]+)', looks)
        of = [sizes[name] for name in named[1].split() if name in sizes] if named else []
        found += [float(own[1]) if own else of[-1] if of else sizes["text"]] * bool(words.strip())
    wide = re.search(r'<svg\b[^>]*? width="([\d.]+)"', svg)
    return min(found, default=99.0) * min(1.0, page.WIDTH / float(wide[1])) if wide else 99.0


def test_words_of_stored_pictures_are_legible_in_a_narrow_column():
    assert smallest('<svg width="1280"><style>.mgl .s{font-size:12px}</style><text class="s">a</text></svg>') == 6
    pictures = {}
    for path in sorted((HERE.parents[1] / "notebooks").glob("*.ipynb")):
        for k, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            for output in cell.get("outputs", ()):
                pictures[f"{path.stem} [{k}]"] = svg_of(output)
    low = {name: round(smallest(svg), 1) for name, svg in pictures.items() if svg and smallest(svg) < 9}
    assert not low, low


@each
@pytest.mark.parametrize("own", [False, True], ids=["start", "own"])
def test_it_is_a_picture_and_words_without_a_kernel(name, own, capfd):
    lesson = make(name, own)
    shown = lesson._repr_mimebundle_()
    again = make(name, own)
    assert repr(lesson) == repr(again) == shown["text/plain"] and repr(lesson).strip()
    assert again._repr_mimebundle_()["image/svg+xml"] == shown["image/svg+xml"]
    root = ET.fromstring(shown["image/svg+xml"])
    title = root.find("{*}title")
    assert root.tag.endswith("svg") and title is not None and len(title.text) > 20 and root.get("role") == "img"
    assert smallest(shown["image/svg+xml"]) >= 9 or own, "words that are too small in a narrow column"
    both = shown["image/svg+xml"] + shown["text/plain"]
    assert not re.search(r"\bat 0x[0-9a-f]+|Traceback|nan,nan|NaN|undefined", both)
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", both), "nothing is fetched"
    assert capfd.readouterr() == ("", "")


@each
def test_the_learners_own_input_changes_the_picture(name):
    if LESSONS[name][1] is None:
        pytest.skip("it takes nothing")
    mine, canned = make(name, own=True), make(name)
    assert mine.text() != canned.text() or mine.picture() != canned.picture()


@each
def test_put_away_it_leaves_nothing_behind(name):
    before = set(widget._instances)
    lesson = make(name)
    lesson._repr_mimebundle_()
    assert set(widget._instances) > before
    lesson.close()
    assert set(widget._instances) == before
    shown = lesson._repr_mimebundle_()  # shown again, it is back
    assert "application/vnd.jupyter.widget-view+json" in shown
    lesson.close()
    assert set(widget._instances) == before


def raises(*_args, **_named):
    raise RuntimeError("mine")


def endless(x):
    for _ in range(20_000):
        x = x + 1
    return x


class Silent:
    def __repr__(self):
        return "<Silent object at 0x7f0000000000>"


NONSENSE = {
    "None": None, "words": "no such thing !!", "nothing": "", "it raises": raises, "it returns None": lambda *_a, **_k: None,
    "it returns words": lambda *_a, **_k: "a", "nan": math.nan, "inf": math.inf, "a million": 10**6, "negative": -3, "zero": 0,
    "complex": 1j, "object": Silent(), "ragged": [[1.0, 2.0], [3.0]], "tensor": torch.ones(2, 3), "array": np.zeros((0, 3)), "empty": [],
    "nans": [math.nan, 1.0], "dict": {"a": Silent()}, "class": Silent, "Value": Value(3.0), "import": "import os", "long": endless,
    "division": lambda x: x / 0,
}  # fmt: skip


SOME = part(NONSENSE, 6, always=["None", "words", "it raises", "nan", "object", "a million"])


@each
@pytest.mark.filterwarnings("error:.*recommended to use:UserWarning")
def test_nonsense_gets_a_sentence(name, capfd):
    make_it = getattr(lessons, name)
    needed = {
        "own_engine": {"cls": Value},
        "inspector": {"y": result()},
        "recap": {"chapter": 1},
        "memory": {"depth": 2},
    }.get(name, {})
    for parameter in inspect.signature(make_it).parameters.values():
        for what, bad in ((what, NONSENSE[what]) for what in SOME):
            given = {**needed, **({"x": bad} if parameter.kind is parameter.VAR_KEYWORD else {parameter.name: bad})}
            start = time.process_time()
            lesson = make_it(**given)
            words = lesson.text()
            assert words.strip() and "Traceback" not in words and " at 0x" not in words, (
                f"{parameter.name} = {what}: {words}"
            )
            if isinstance(lesson, Sentence):
                assert "\n" not in words and len(words) <= 400 and lesson.picture() == "", (
                    f"{parameter.name} = {what}: {words}"
                )
                assert not re.search(
                    r"\b(float|int)\(\) argument|could not convert|unhashable|NoneType' object", words
                ), words
            lesson.close()
            assert time.process_time() - start < 20, f"{parameter.name} = {what}"
    assert capfd.readouterr() == ("", "")


FORGED = [None, True, -1, 10**9, 1e308, math.nan, "7", "<img src=q onerror=alert(1)>", [], [[1]], {"a": [None]}]


@each
def test_forged_messages_are_refused_or_taken_and_the_lesson_goes_on(name):
    """What no honest page sends, to each control and button, and to the lesson as a whole."""
    lesson = make(name)
    lesson._repr_mimebundle_()  # ipywidgets itself catches what a message raises, and logs it

    def send(content):
        lesson._handle_msg(
            {"content": {"data": {"method": "custom", "content": content}}, "metadata": {}, "buffers": []}
        )
        words, picture, scene = lesson.text(), lesson.picture(), lesson.scene
        assert words.strip() and "Traceback" not in words and "<img" not in picture + scene["svg"], (
            f"{content}: {words}"
        )
        assert "Traceback" not in scene["say"] and "object at 0x" not in scene["say"], f"{content}: {scene['say']}"
        if picture:
            ET.fromstring(picture)

    for content in (
        {"event": "click"},
        {"set": ["<b>"]},
        {"press": "__init__"},
        {"press": 3, "number": "x"},
        "click",
        None,
        7,
    ):
        send(content)
    for control in [control["name"] for control in lesson.scene["controls"]]:
        for bad in FORGED:
            send({"set": control, "value": bad, "number": 1})
    lesson.close()


@each
def test_each_control_and_button_works_and_says_what_it_shows(name):
    """From the start, one at a time: each control to its ends, each button once. Picture and words agree with the page."""
    start, moved = make(name), 0
    first = start.text(), start.picture()
    for control in start.scene["controls"]:
        for place in {"slider": (control.get("min"), control.get("max")), "moments": (0, control.get("max")), "toggle": (False, True),
                      "choice": (0, len(control.get("texts") or ()) - 1)}.get(control["kind"], ()):  # fmt: skip
            lesson = make(name)
            lesson._on_message(None, {"number": 1, "set": control["name"], "value": place}, [])
            scene = lesson.scene
            assert scene["answers"] == 1 and (scene["say"] or name in ("stepper", "memory_depth")), control
            if "still shows what it showed before" in scene["say"]:
                assert (lesson.text(), lesson.picture()) == first, control
                continue
            assert {c["name"]: c["value"] for c in scene["controls"]}[control["name"]] == pytest.approx(place), control
            moved += any(lesson.scene[key] != start.scene[key] for key in ("svg", "say")) or lesson.text() != first[0]
    for button in start.scene["buttons"]:
        lesson = make(name)
        if button["enabled"]:
            lesson.press(button["name"])
            assert "Traceback" not in lesson.text()
        else:
            with pytest.raises(ValueError, match="cannot be pressed now"):
                lesson.press(button["name"])
    assert moved or {c["kind"] for c in start.scene["controls"]} <= {"text", "sheet"}, "nothing moves anything"
