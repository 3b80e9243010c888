"""The small programs that lessons start from, and a way to run one and learn its variable names.

What lives here: plain functions that work with any class of numbers (minigrad's Value or the learner's), `run_named`, and the source lines
of a function.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any


def run_named(
    f: Callable, inputs: Mapping[str, Any], results: dict[str, Any] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Call f(**inputs); return its result and its local variables as they were when it ended.

    found: a dict to fill with these variables; it is filled even when f raises.

    >>> def program(x):
    ...     a = 3 * x
    ...     return a + 2
    >>> run_named(program, {"x": 1})
    (5, {'x': 1, 'a': 3})
    """
    code = getattr(f, "__code__", None)
    results = {} if results is None else results

    def watch(frame, event, _arg):
        if event == "return" and frame.f_code is code:
            results.update(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        result = f(**inputs)
    finally:
        sys.setprofile(before)
    return result, results


def lines_of(f: Callable) -> list[str]:
    """The source lines of `f` below its `def`, without indentation and docstring; [] where Python does not know them."""
    try:
        text = inspect.getsource(f)
    except (OSError, TypeError):
        return []
    return [
        line.strip()
        for line in text.splitlines()[1:]
        if line.strip() and not line.strip().startswith(('"""', "return"))
    ]


def square_line(x):
    p = 3 * x
    u = p + 2
    y = u**2
    return y


def diamond(a, b):
    c = a + b
    d = a * b
    e = c + d
    f = c * d
    y = e + f
    return y


def twice(x):
    a = x * x
    y = a + a
    return y


def short_and_long(x):
    p = x * x
    q = p + x
    r = q * x
    y = r + p
    return y


def neuron(x1, x2, w1, w2, b):
    p = w1 * x1
    q = w2 * x2
    s = p + q
    n = s + b
    out = n.relu()
    return out


def two_layers(x1, x2, w1, w2, b1, w3, b2):
    p = w1 * x1
    q = w2 * x2
    s = p + q
    n = s + b1
    h = n.relu()
    o = w3 * h
    out = o + b2
    miss = out - 1
    loss = miss**2
    return loss


def cube(x):
    s = x * x
    y = s * x
    return y


def plus_times_minus(x):
    p = x + 1
    m = x - 1
    y = p * m
    return y


def shifted_relu(x):
    s = x - 2
    y = s.relu()
    return y


# name shown in the menu -> the program and where its inputs start
PROGRAMS: dict[str, tuple[Callable, dict[str, float]]] = {
    "y = (3x + 2)²": (square_line, {"x": 1.0}),
    "diamond": (diamond, {"a": 2.0, "b": 3.0}),
    "x·x, used twice": (twice, {"x": 3.0}),
    "a short and a long way": (short_and_long, {"x": 2.0}),
    "x³": (cube, {"x": 2.0}),
    "(x + 1)(x − 1)": (plus_times_minus, {"x": 3.0}),
    "relu(x − 2)": (shifted_relu, {"x": 5.0}),
    "neuron": (neuron, {"x1": 2.0, "x2": 3.0, "w1": 0.5, "w2": -0.3, "b": 0.1}),
    "two-layer net": (two_layers, {"x1": 1.5, "x2": -2.0, "w1": 0.8, "w2": 0.6, "b1": 0.1, "w3": 1.2, "b2": -0.5}),
}
