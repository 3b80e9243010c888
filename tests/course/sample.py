"""An exercise of the tests' own, 98.b: a function of a function, small enough for what the tests put in place of its answer."""

from __future__ import annotations

import math

from minigrad.course import drivers
from minigrad.course.exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong

SLOPES = {
    "x²": lambda x: 2 * x,
    "x³": lambda x: 3 * x * x,
    "sin": math.cos,
    "exp": math.exp,
    "1/x": lambda x: -1.0 / (x * x),
    "(3x + 2)²": lambda x: 6 * (3 * x + 2),
}


def _slope(name, x, *rest):
    return SLOPES[name](x)


def _shrinks_like_h_squared(got, name, x, hs):
    """Dividing h by 10 must divide the error by about 100."""
    if not (
        isinstance(got, list)
        and len(got) == len(hs)
        and all(isinstance(g, (int, float)) and math.isfinite(g) for g in got)
    ):
        return "one finite number per step h is needed"
    errors = [abs(g - SLOPES[name](x)) for g in got]
    if errors[0] == 0 or errors[-1] == 0:
        return "the error does not depend on h: is h used?"
    order = (math.log(errors[0]) - math.log(errors[-1])) / (math.log(hs[0]) - math.log(hs[-1]))
    if order < 0.5:
        return "the error does not shrink with h"
    if order < 1.5:
        return "the error shrinks like h"
    return None if order < 2.5 else "the error shrinks faster than two points allow"


def _fresh(rng):
    x, h = rng.randint(2, 5), rng.choice([0.5, 0.25, 2.0])
    f = lambda t: t**3  # noqa: E731
    return Fresh(
        f"f(x) = x³. What does the central difference at x = {x} give with the large step h = {h}? (Not the true derivative.)",
        (f(x + h) - f(x - h)) / (2 * h),
        rtol=1e-6,
        wrong=(
            ((f(x + h) - f(x)) / h, "That is the forward difference."),
            (3 * x * x, "That is the true derivative; with so large a step the estimate differs from it."),
        ),
    )


SAMPLE = Exercise(
    id="98.b",
    title="The central difference",
    kind=Kind.FILL_IN,
    points=2,
    minutes=6,
    difficulty=1,
    question="Estimate f'(x) from two values of f, one on each side of x.",
    entry="central_difference",
    stub='''\
def central_difference(f, x, h=1e-5):
    """Estimate the derivative of f at x from two values of f, one on each side of x."""
    ...  # your code here: one line is enough
''',
    solution='''\
def central_difference(f, x, h=1e-5):
    """Estimate the derivative of f at x from two values of f, one on each side of x."""
    return (f(x + h) - f(x - h)) / (2 * h)
''',
    probes=(
        Probe(
            "x² at 3", ("x²", 3.0), _slope, drivers.slope, rtol=1e-8, draw=lambda r: ("x²", round(r.uniform(1, 5), 3))
        ),
        Probe(
            "x³ at -2",
            ("x³", -2.0),
            _slope,
            drivers.slope,
            rtol=1e-8,
            draw=lambda r: ("x³", round(r.uniform(-4, -1), 3)),
        ),
        Probe(
            "sin at 1",
            ("sin", 1.0),
            _slope,
            drivers.slope,
            rtol=1e-8,
            draw=lambda r: ("sin", round(r.uniform(0.2, 1.2), 3)),
        ),
        Probe(
            "exp at 0.5",
            ("exp", 0.5),
            _slope,
            drivers.slope,
            rtol=1e-8,
            draw=lambda r: ("exp", round(r.uniform(0.2, 2), 3)),
        ),
        Probe(
            "1/x at 2",
            ("1/x", 2.0),
            _slope,
            drivers.slope,
            rtol=1e-8,
            draw=lambda r: ("1/x", round(r.uniform(1.5, 4), 3)),
        ),
        Probe(
            "error against h",
            ("exp", 1.0, [1e-1, 1e-2, 1e-3]),
            driver=drivers.slopes_over_h,
            accept=_shrinks_like_h_squared,
            weight=2,
            draw=lambda r: ("exp", round(r.uniform(0.5, 1.5), 3), [1e-1, 1e-2, 1e-3]),
        ),
    ),
    bank=(
        Wrong(
            "forward difference",
            "def central_difference(f, x, h=1e-5):\n    return (f(x + h) - f(x)) / h\n",
            "This is the forward difference: its error shrinks like h. Wanted is h²: look at both sides of x, at equal distance.",
            on=("error against h",),
            rtol=1e-9,
        ),
        Wrong(
            "backward difference",
            "def central_difference(f, x, h=1e-5):\n    return (f(x) - f(x - h)) / h\n",
            "This is the backward difference: its error shrinks like h. Wanted is h²: look at both sides of x, at equal distance.",
            on=("error against h",),
            rtol=1e-9,
        ),
        Wrong(
            "h ignored",
            "def central_difference(f, x, h=1e-5):\n    return (f(x + 1e-5) - f(x - 1e-5)) / 2e-5\n",
            "Your step is written into the code: use the h that is given, or nobody can study how the error depends on it.",
            on=("error against h",),
            rtol=1e-12,
        ),
        Wrong(
            "h far too small",
            "def central_difference(f, x, h=1e-15):\n    h = 1e-15\n    return (f(x + h) - f(x - h)) / (2 * h)\n",
            "So small a step subtracts two almost equal numbers, and rounding is all that is left: try 1e-5, and use the h that is given.",
            when=lambda seen: _rounding_dominates(seen),
        ),
        Wrong(
            "divided by h",
            "def central_difference(f, x, h=1e-5):\n    return (f(x + h) - f(x - h)) / h\n",
            "Everything is twice too large: how far apart are the two points at which you look?",
        ),
        Wrong(
            "missing parentheses",
            "def central_difference(f, x, h=1e-5):\n    return (f(x + h) - f(x - h)) / 2 * h\n",
            "Python reads a / 2 * h from left to right, as (a / 2) * h. Put the divisor in parentheses.",
        ),
        Wrong(
            "adds the two values",
            "def central_difference(f, x, h=1e-5):\n    return (f(x + h) + f(x - h)) / (2 * h)\n",
            "A slope is change divided by distance, and change is a difference: subtract the two values.",
            on=("x² at 3", "error against h"),
        ),
        Wrong(
            "divides only one value",
            "def central_difference(f, x, h=1e-5):\n    return f(x + h) - f(x - h) / (2 * h)\n",
            "Python divides before it subtracts, so only one value is divided here: put the difference in parentheses.",
            on=("x² at 3", "error against h"),
        ),
        Wrong(
            "no division",
            "def central_difference(f, x, h=1e-5):\n    return f(x + h) - f(x - h)\n",
            "That is how much f changes. A slope is change divided by distance.",
        ),
        Wrong(
            "sides exchanged",
            "def central_difference(f, x, h=1e-5):\n    return (f(x - h) - f(x + h)) / (2 * h)\n",
            "Every sign is reversed: the value on the right comes first.",
        ),
        Wrong(
            "no return",
            "def central_difference(f, x, h=1e-5):\n    slope = (f(x + h) - f(x - h)) / (2 * h)\n",
            "The function computes something and returns nothing: a `return` is missing.",
        ),
    ),
    hints=Hints(
        nudge="Which two points lie at equal distance to the left and to the right of x?",
        rule="Slope = (change of f) / (distance between the two points). Count that distance in steps of h.",
        twin="f(x) = x² at x = 10 with h = 1: the neighbours are 11 and 9, f changes by 121 - 81 = 40 over a distance of 2, so "
        "the slope is 20.",
    ),
    reveal="The two points are x - h and x + h, a distance 2h apart. Their errors of first order cancel; an error of order h² is left.",
    fresh=_fresh,
)


def _rounding_dominates(seen):
    """The estimates do not depend on the h that was passed, and are of the right size."""
    got = seen.value("error against h")
    if not (isinstance(got, list) and len(got) == 3 and all(isinstance(g, float) for g in got)):
        return False
    sine = seen.value("sin at 1")  # a slope of sin is at most 1, and rounding does not make it twice as large
    return max(got) == min(got) > 1 and isinstance(sine, float) and abs(sine) < 1.4
