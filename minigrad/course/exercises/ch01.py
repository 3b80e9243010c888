"""Chapter 01, three ways to differentiate a program: its exercises."""

from __future__ import annotations

import math

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, entries

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
    if not (isinstance(got, list) and len(got) == len(hs) and all(isinstance(g, (int, float)) and math.isfinite(g) for g in got)):
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


def _fresh_01a(rng):
    k, c, x = rng.randint(4, 7), rng.randint(1, 5), rng.randint(2, 4)
    u = k * x + c
    return Fresh(
        f"y = ({k}x + {c})² at x = {x}. What is dy/dx?",
        2 * u * k,
        wrong=((2 * u, "That is the square's own derivative; the inside has one too."), (u * u, "That is y itself.")),
    )


EX_A = Exercise(
    id="01.a",
    title="Predict the slope",
    kind=Kind.PREDICT,
    points=1,
    minutes=3,
    difficulty=1,
    question="y = (3x + 2)². What is dy/dx at x = 1? Work it out before you run anything.",
    entry="answer_01a",
    stub="""\
# y = (3x + 2)². What is dy/dx at x = 1? Replace None by your number.
answer_01a = None
""",
    solution="""\
# y = u² with u = 3x + 2. At x = 1: u = 5, dy/du = 2u = 10, du/dx = 3, and the two multiply.
answer_01a = 30
""",
    probes=(Probe("dy/dx at x = 1", want=30, driver=drivers.value, rtol=1e-6),),
    bank=(
        Wrong("stopped at the square", 10, "You stopped at the square. The inside, 3x + 2, changes too: multiply by its derivative."),
        Wrong("dropped u", 6, "You dropped u = 5. The derivative of u² is 2u, not 2; then comes the inside."),
        Wrong("y itself", 25, "That is y, the value. The question is how fast y changes when x moves."),
        Wrong("forgot the 2 of the square", 15, "u² has derivative 2u: one factor is missing."),
        Wrong("the inside's slope twice", 90, "The inside contributes its slope 3 once; somewhere it came in a second time."),
        Wrong("derivative of the inside only", 3, "That is the derivative of the inside. The square around it multiplies it by 2u."),
    ),
    hints=Hints(
        nudge="Give the inside a name: u = 3x + 2. How fast does y change with u, and u with x?",
        rule="Chain rule: dy/dx = dy/du · du/dx, both factors taken at the same point. For y = u², dy/du = 2u.",
        twin="Another one: y = (2x + 1)² at x = 4. u = 9, dy/du = 2 · 9 = 18, du/dx = 2, so dy/dx = 36.",
    ),
    reveal="u = 5, so the square contributes 2 · 5 = 10; the inside contributes 3; together 30.",
    fresh=_fresh_01a,
)


def _fresh_01b(rng):
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


EX_B = Exercise(
    id="01.b",
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
        Probe("x² at 3", ("x²", 3.0), _slope, drivers.slope, rtol=1e-8, draw=lambda r: ("x²", round(r.uniform(1, 5), 3))),
        Probe("x³ at -2", ("x³", -2.0), _slope, drivers.slope, rtol=1e-8, draw=lambda r: ("x³", round(r.uniform(-4, -1), 3))),
        Probe("sin at 1", ("sin", 1.0), _slope, drivers.slope, rtol=1e-8, draw=lambda r: ("sin", round(r.uniform(0.2, 1.2), 3))),
        Probe("exp at 0.5", ("exp", 0.5), _slope, drivers.slope, rtol=1e-8, draw=lambda r: ("exp", round(r.uniform(0.2, 2), 3))),
        Probe("1/x at 2", ("1/x", 2.0), _slope, drivers.slope, rtol=1e-8, draw=lambda r: ("1/x", round(r.uniform(1.5, 4), 3))),
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
            "The function computes something and gives back nothing: a return is missing.",
        ),
    ),
    hints=Hints(
        nudge="Which two points lie at equal distance to the left and to the right of x?",
        rule="Slope = (change of f) / (distance between the two points). Count that distance in steps of h.",
        twin="f(x) = x² at x = 10 with h = 1: the neighbours are 11 and 9, f changes by 121 - 81 = 40 over a distance of 2, so "
        "the slope is 20.",
    ),
    reveal="The two points are x - h and x + h, a distance 2h apart. Their errors of first order cancel; an error of order h² is left.",
    fresh=_fresh_01b,
)


def _rounding_dominates(seen):
    """The estimates do not depend on the h that was passed, and are of the right size."""
    got = seen.value("error against h")
    if not (isinstance(got, list) and len(got) == 3 and all(isinstance(g, float) for g in got)):
        return False
    sine = seen.value("sin at 1")  # a slope of sin is at most 1, and rounding does not make it twice as large
    return max(got) == min(got) > 1 and isinstance(sine, float) and abs(sine) < 1.4


FORWARD_DIFFERENCE, RUNS_FORWARD, RUNS_BACKWARD = (
    "forward difference, runs of the program",
    "reverse-mode AD, runs forward",
    "reverse-mode AD, runs backward",
)
COUNTS = {FORWARD_DIFFERENCE: 101, RUNS_FORWARD: 1, RUNS_BACKWARD: 1}


def _fresh_01c(rng):
    n = rng.choice([7, 12, 40, 250])
    return Fresh(
        f"{n} parameters. How many runs of f does a forward difference need for the whole gradient?",
        n + 1,
        wrong=((n, "Plus the base run, f(x) itself."), (2 * n, "f(x) is computed once and used for every parameter.")),
    )


EX_C = Exercise(
    id="01.c",
    title="What a gradient costs",
    kind=Kind.EXPLAIN,
    points=1,
    minutes=3,
    difficulty=1,
    question="A loss depends on N = 100 parameters. How many runs of the program does the whole gradient take, each way?",
    entry="answer_01c",
    stub="""\
# A loss depends on N = 100 parameters. How many runs does the whole gradient take? Replace each None by a number.
answer_01c = {
    "forward difference, runs of the program": None,
    "reverse-mode AD, runs forward": None,
    "reverse-mode AD, runs backward": None,
}
""",
    solution="""\
answer_01c = {
    "forward difference, runs of the program": 101,
    "reverse-mode AD, runs forward": 1,
    "reverse-mode AD, runs backward": 1,
}
""",
    probes=entries(COUNTS),
    bank=tuple(
        Wrong(name, {**COUNTS, which: count}, hint, on=(which,))
        for name, which, count, hint in (
            (
                "two runs for each parameter",
                FORWARD_DIFFERENCE,
                200,
                "A forward difference reuses f(x): it is computed once and serves every parameter.",
            ),
            (
                "forgot the base run",
                FORWARD_DIFFERENCE,
                100,
                "One run for each moved parameter, plus the base run that they are all compared with.",
            ),
            (
                "a backward pass for each parameter",
                RUNS_BACKWARD,
                100,
                "One backward pass visits every node once, and every parameter is a node: it does not start again for each of them.",
            ),
            (
                "a forward run for each parameter",
                RUNS_FORWARD,
                101,
                "That is how nudging works. Recording runs the program once, and the record serves all parameters.",
            ),
            (
                "a forward run for each parameter, without the base run",
                RUNS_FORWARD,
                100,
                "That is how nudging works. Recording runs the program once, and the record serves all parameters.",
            ),
            (
                "no backward pass",
                RUNS_BACKWARD,
                0,
                "The record alone is no gradient. The backward pass turns it into one.",
            ),
        )
    ),
    hints=Hints(
        nudge="A difference needs two values of f. Which of the two can all parameters share?",
        rule="Forward difference: one base run, and one more for each parameter. Reverse mode: the cost does not depend on N.",
        twin="With N = 3: f(x), then f with the first, the second and the third parameter moved: 4 runs. Reverse mode needs a "
        "single pass each way.",
    ),
    reveal="Forward difference: 100 moved runs and 1 base run. Reverse mode: 1 forward and 1 backward, for 100 parameters or for "
    "a billion.",
    fresh=_fresh_01c,
)


def _fresh_01d(rng):
    x = rng.randint(2, 5)
    return Fresh(
        f"The same program at x = {x}. Which number is the fifth event, the first one of the backward half?",
        1,
        wrong=(((3 * x + 2) ** 2, "That is the last event of the forward half."), (2 * (3 * x + 2), "Something comes before it.")),
    )


EX_D = Exercise(
    id="01.d",
    title="Eight events in order",
    kind=Kind.IN_THE_WIDGET,
    points=1,
    minutes=4,
    difficulty=1,
    question="Put the eight events of y = (3x + 2)² at x = 1 into the order in which they happen.",
    entry="answer_01d",
    stub="""\
# The eight events of y = (3x + 2)² at x = 1, shuffled. Write the letters in the order in which they happen.
#   A  the gradient 1 is placed on y          E  u = p + 2 is computed: 5
#   B  p = 3x is computed: 3                  F  x receives the gradient 30
#   C  u receives the gradient 10             G  y = u² is computed: 25
#   D  x gets its value: 1                    H  p receives the gradient 10
answer_01d = ""
""",
    solution="""\
# Forward: x, p, u, y. Backward: the seed on y, then u, p, x.
answer_01d = "DBEGACHF"
""",
    probes=(Probe("the order", want="DBEGACHF", driver=drivers.letters),),
    bank=(
        Wrong("backward half in forward order", "DBEGFHCA", "The backward half runs the other way round: it starts at y and ends at x."),
        Wrong("backward half before the seed", "DBEGCHFA", "Nothing can be multiplied before there is a gradient: y gets its 1 first."),
        Wrong(
            "backward first",
            "ACHFDBEG",
            "The backward half needs the values of the forward half: the derivative of u² is 2u, and u must be known.",
        ),
        Wrong("the two halves mixed", "DFBHECGA", "The program runs to its end first; only then does the first gradient move."),
        Wrong("p and u exchanged", "DEBGACHF", "u = p + 2 cannot be computed before p is there."),
        Wrong(
            "a letter missing",
            "DBEGACH",
            "Each of the eight letters must appear exactly once.",
            when=lambda seen: isinstance(seen.value("the order"), str) and sorted(seen.value("the order")) != sorted("ABCDEFGH"),
        ),
    ),
    hints=Hints(
        nudge="Step through the widget above and watch which card changes.",
        rule="Forward: every value after the values it is made of. Backward: every gradient after the gradients that are pushed "
        "into it, the root first.",
        twin="For z = (2t)³: t gets its value, 2t, then z; then the gradient 1 on z, the gradient of 2t, the gradient of t.",
    ),
    reveal="Forward D B E G (1, 3, 5, 25), then backward A C H F (1, 10, 10, 30).",
    fresh=_fresh_01d,
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
