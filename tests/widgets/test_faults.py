"""What must not hurt: messages that no honest page sends, names that are HTML, absurd numbers, a clock that goes backwards.

What lives here: faults of the view that need no browser. What does not: a killed kernel, a cut connection, two tabs
(tests/browser/test_faults.py); HTML in names and in students' notebooks, opened (tests/browser/test_hostile_pages.py); messages to lessons
(test_lessons_all.py); a full disk and a wrong clock at a check (tests/course/test_check.py); hostile submissions
(tests/course/test_grade.py); a hundred re-runs (test_graph.py, test_cells.py).
"""

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad as torch
from minigrad import Value
from widgets import graph

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    max_leaves=8,
)
TRAITS = [
    "part",
    "front",
    "trace",
    "step",
    "leaves",
    "recorded",
    "inputs",
    "sweeps",
    "notice",
    "picture",
    "version",
    "tooltip",
    "nonsense",
]


def message(state):
    """What ipywidgets gets when a page changes traits."""
    return {"content": {"data": {"method": "update", "state": state}}, "metadata": {}, "buffers": []}


@pytest.fixture
def view():
    x = Value(1.0)
    view = graph((3 * x + 2) ** 2, names={"x": x})
    view.learners = x
    yield view
    view.close()


def picture(view):
    return view.trace, view.leaves, view.recorded, view.picture, view.part, view.front, view.svg(4)


@given(state=st.dictionaries(st.sampled_from(TRAITS), JSON), content=JSON)
@settings(max_examples=150, deadline=None)
def test_no_page_can_change_what_was_recorded(state, content):
    x = Value(1.0)
    view = graph((3 * x + 2) ** 2, names={"x": x})
    before = picture(view)
    view._handle_msg(message(state))
    view._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "metadata": {}, "buffers": []})
    assert picture(view) == before
    assert 0 <= view.step <= view.total
    assert all(math.isfinite(v) for v in view.inputs.values()) and x.data == 1.0
    view.close()


@pytest.mark.parametrize("giant", [1e300, -1e300, 5e-324, 10**40])
def test_absurd_slider_values(view, giant):
    (leaf,) = view.inputs
    view._handle_msg(message({"inputs": {leaf: giant}}))
    assert view.inputs == {leaf: giant} and view.shown_now()["nodes"][int(leaf)]["value"] == float(giant)
    view._handle_msg(message({"inputs": {leaf: 2.0}}))
    assert view.inputs == {leaf: 2.0} and view.shown_now()["nodes"][view.trace["root"]]["value"] == 64.0
    assert view.learners.data == 1.0


@pytest.mark.parametrize("bad", ["7", None, [1.0], {"a": 1}, math.nan, math.inf, True])
def test_slider_values_that_are_no_numbers(view, bad):
    view._handle_msg(message({"inputs": dict.fromkeys(view.inputs, bad)}))
    view._handle_msg(message({"inputs": {"99": 1.0}}))
    assert view.learners.data == 1.0 and list(view.inputs.values()) == [1.0]


@pytest.mark.parametrize("bad, becomes", [(-5, 0), (10**9, 8), ("3", 4), (2.5, 4), (None, 4), (True, 4)])
def test_steps_that_do_not_exist(view, bad, becomes):
    view._handle_msg(message({"step": bad}))
    assert view.step == becomes


def test_html_in_names_stays_text():
    evil = "<img src=q onerror=alert(1)>"
    for thing in (Value(2.0, label=evil) * 3, torch.tensor([1.0, 2.0], requires_grad=True) * 2):
        view = graph(thing, names={evil: thing})
        bundle = view._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        assert "<img" not in data.get("text/html", "") and "<img" not in view.svg()
        view.close()


def test_a_clock_that_goes_backwards(monkeypatch):
    """Order in the graph and in the trace comes from counting, never from the time."""
    ticks = iter(range(10**6, 0, -1))
    for name in ("time", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: float(next(ticks)))
    x = Value(3.0)
    y = x * x + x
    y.backward()
    view = graph(y, names={"x": x, "y": y})
    assert x.grad == 7.0 and [e["phase"] for e in view.trace["steps"]] == sorted(
        (e["phase"] for e in view.trace["steps"]), reverse=True
    )
    view.close()
