"""The nan tracer: the first bad operation forward and backward, against derivatives by hand; anomaly mode against the engine's own."""

import math
import re
import warnings

import pytest

import minigrad as torch
from widgets.lessons import nan_tracer, recap
from widgets.lessons.nan_tracer import show

CASES = [
    # program, inputs, first inf, first nan, anomaly mode raises
    ("a = log(x); b = a*x; c = b + 1; loss = c*2", {"x": 0}, ("forward", "a"), ("forward", "b"), "LogBackward0"),
    ("p = exp(x); q = p - p; r = q + 1", {"x": 100}, ("forward", "p"), ("forward", "q"), "ExpBackward0"),
    ("a = sqrt(x); y = a * 0", {"x": 0}, None, ("backward", "a → x"), "SqrtBackward0"),
    ("d = x**2 - 1; z = 1 / d", {"x": 1}, ("forward", "·"), None, ""),
    ("y = sqrt(x)", {"x": 0}, ("backward", "y → x"), None, ""),
    ("y = log(x)", {"x": -1}, None, ("forward", "y"), ""),
    ("y = sqrt(x) - sqrt(x)", {"x": 0}, ("backward", "sqrt → x"), ("backward", "at x"), ""),
    ("y = 1000*x", {"x": 1e36}, ("forward", "y"), None, ""),
    ("y = x*x", {"x": 3}, None, None, ""),
]


@pytest.mark.parametrize(
    "program, inputs, inf, nan, node", CASES, ids=lambda x: x if isinstance(x, str) and "=" in x else ""
)
def test_first_of_each_kind(program, inputs, inf, nan, node):
    tracer = nan_tracer(program, **inputs).figure.tracer
    for bad, wanted in (("inf", inf), ("nan", nan)):
        found = tracer.first(bad)
        assert (found and (found[0], found[1].name)) == wanted, bad
    assert tracer.fires == bool(node) and (node in tracer.message or not node)


@pytest.mark.parametrize("program, inputs", [(case[0], case[1]) for case in CASES])
def test_the_gradient_is_what_backward_gives(program, inputs):
    """What the last edges send adds up to what an ordinary backward pass leaves in x.grad, nan and inf included."""
    from widgets.lessons.tensor_program import run

    tracer = nan_tracer(program, **inputs).figure.tracer
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root, named = run(program, inputs)
        root.backward()
    sent = [e.what.split(" = ")[1] for e in tracer.backward if e.name.endswith("→ x")]
    total = sum(math.inf if s == "∞" else -math.inf if s == "−∞" else float(s.replace("−", "-")) for s in sent)
    real = named["x"].grad.item()
    assert math.isnan(real) == math.isnan(total) and (math.isnan(real) or real == pytest.approx(total))


def test_reasons_are_said():
    text = nan_tracer("a = log(x); b = a*x; c = b + 1; loss = c*2", x=0).text()
    assert (
        "log(0) = −∞   ✗ first inf" in text
        and "0 times infinity has no value" in text
        and "nan + 1 = nan   · nan" in text
    )
    assert "0 × ∞ = nan   ✗ first nan" in nan_tracer().text()
    assert "Infinity minus infinity" in nan_tracer("p = exp(x); q = p - p", x=100).text()
    assert "too large for float32" in nan_tracer("p = exp(x)", x=100).text()
    assert "it looks for nan only" in nan_tracer("y = 1/x", x=0).text()
    assert "no backward rule returned one" in nan_tracer("y = log(x)", x=-1).text()
    assert "no backward rule returned nan; the sum did" in nan_tracer("y = sqrt(x) - sqrt(x)", x=0).text()


def test_where_and_its_cure():
    sick = nan_tracer(lambda x: torch.where(x > 0, torch.sqrt(x), x).sum(), x=[4.0, 0.0]).figure.tracer
    assert (
        sick.first("nan")[1].name == "sqrt → x" and math.isnan(sick.grads["x"][1].item())
        if sick.grads["x"] is not None
        else True
    )
    cured = nan_tracer(
        lambda x: torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, 1.0)), x).sum(), x=[4.0, 0.0]
    ).figure.tracer
    assert not cured.first("nan") and not cured.first("inf") and "finite" in cured.sentences()[0]


def test_short_vectors_are_shown_whole_and_of_long_ones_the_entry_that_matters():
    def loss(x):
        return (torch.log(x) * x).sum()

    text = nan_tracer(loss, x=[1.0, 0.0]).text()
    assert "log([1, 0]) = [0, −∞]   ✗ first inf" in text and "[0, −∞] × [1, 0] = [0, nan]   ✗ first nan" in text
    assert "[1, 0] × [1, ∞] = [1, nan]" in text and "First nan: forward, entry 1: −∞ × 0 = nan." in text
    text = nan_tracer(loss, x=[1.0, 2.0, 3.0, 4.0, 0.0, 5.0]).text()
    assert "entry 4: log(0) = −∞   ✗ first inf" in text and "First nan: forward, entry 4: −∞ × 0 = nan." in text
    assert "entry (1, 0): log(0) = −∞" in nan_tracer(lambda x: torch.log(x).sum(), x=[[1.0, 2.0], [0.0, 3.0]]).text()


@pytest.mark.parametrize("x, width", [(0.0, 376), ([1.0, 0.0], 776)])
def test_vectors_get_the_whole_width(x, width):
    """Two panels beside each other have room for numbers; vectors need rows as wide as the picture, one panel below the other."""
    picture = nan_tracer(lambda x: (torch.log(x) * x).sum(), x=x)._repr_mimebundle_()["image/svg+xml"]
    rects = [[float(n) for n in re.search(r'x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', r).groups()]
             for r in re.findall(r'<rect class="panel"[^>]*>', picture)]  # fmt: skip
    (x1, y1, w1, h1), (x2, y2, w2, _) = rects
    assert {w1, w2} == {width + 16.0} and (x1 + w1 <= x2 if width < 400 else y1 + h1 <= y2)


def test_a_row_is_cut_only_where_its_mark_begins():
    def three_points(z):  # the chapter's
        p, target = torch.sigmoid(z), torch.tensor([1.0, 1.0, 0.0])
        return -(target * torch.log(p) + (1 - target) * torch.log(1 - p)).mean()

    picture = nan_tracer(three_points, z=[-0.5, 16.64, -2.0])._repr_mimebundle_()["image/svg+xml"]
    rows = re.findall(r'class="num t">([^<]* = [^<]*)<', re.sub(r' [xy]="[^"]*"', "", picture))
    assert max(map(len, rows)) > 64 and not any("…" in row for row in rows)


def test_typing_and_moving():
    lesson = nan_tracer("a = log(x); y = a*x", x=0)
    lesson.set(x=0.5)
    assert "Every value and every gradient is finite" in lesson.scene["say"]
    lesson.set(f="y = x / w")
    assert [c["name"] for c in lesson.scene["controls"]] == ["f", "x", "w"]
    lesson._on_message(None, {"number": 1, "set": "w", "value": "0"}, [])
    assert "A division by 0" in lesson.scene["say"]
    shown = lesson.scene["svg"]
    lesson._on_message(None, {"number": 2, "set": "f", "value": "y = blub(x)"}, [])
    assert lesson.scene["mood"] == "bad" and "blub" in lesson.scene["say"] and lesson.scene["svg"] == shown


@pytest.mark.parametrize("nonsense, said", [
    ({"f": 3}, "needs a program"), ({"f": "y = x*x", "w": 1}, "no input w"), ({"f": "y = x; 3 +"}, "cannot"),
    ({"f": lambda x: 5}, "not with int"), ({"f": lambda x: x * 2, "x": [1, 2]}, "reduce it to one"), ({"x": "a"}, "cannot draw this"),
    ({"f": lambda x: sum((x * k for k in range(40)), x)}, "room for 40"),
])  # fmt: skip
def test_nonsense_gets_a_sentence(nonsense, said):
    lesson = nan_tracer(**nonsense)
    assert said in lesson.text() and "image/svg+xml" not in lesson._repr_mimebundle_()


def test_numbers_as_people_write_them():
    assert [show(x) for x in (0.0, math.inf, -math.inf, math.nan, -2.5)] == ["0", "∞", "−∞", "nan", "−2.5"]


def test_no_warning_escapes_and_the_twin_is_the_same_twice():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, two = nan_tracer()._repr_mimebundle_(), nan_tracer()._repr_mimebundle_()
    assert all(one[kind] == two[kind] for kind in ("image/svg+xml", "text/plain")) and "<title>" in one["image/svg+xml"]


def test_recap_reads_its_instruments():
    text = recap(18).text()
    readings = (
        "x³ against differences: True",
        "mul of −inf and 0",
        "6 before the hook, 3 after",
        "tanh: 4 of 9 outputs",
        "0.weight, 0.bias",
    )
    for reading in readings:
        assert reading in text
    assert recap(18).picture() == recap(18).picture()
