"""Chapter 03, the chain rule: its exercises."""

from __future__ import annotations

import math

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask

SOLUTION_A = '''\
from math import cos, exp


def local_derivatives(x):
    """For u = x², v = exp(u), y = sin(v): the three numbers (du/dx, dv/du, dy/dv)."""
    u = x**2
    v = exp(u)
    return 2 * x, v, cos(v)
'''

STUB_A = '''\
from math import cos, exp


def local_derivatives(x):
    """For u = x², v = exp(u), y = sin(v): the three numbers (du/dx, dv/du, dy/dv)."""
    u = x**2
    v = exp(u)
    return ..., ..., ...
'''


def _locals(x):
    v = math.exp(x * x)
    return [2 * x, v, math.cos(v)]


def _a(new):
    return SOLUTION_A.replace("2 * x, v, cos(v)", new)


EX_A = Exercise(
    id="03.a",
    title="Three local derivatives",
    kind=Kind.FILL_IN,
    points=2,
    minutes=6,
    difficulty=1,
    question="y = sin(exp(x²)). Give the local derivative of each of the three steps.",
    entry="local_derivatives",
    stub=STUB_A,
    solution=SOLUTION_A,
    probes=tuple(
        Probe(f"at x = {x:g}", (x,), _locals, drivers.call, rtol=1e-9, draw=lambda r: (round(r.uniform(0.2, 1.2), 3),))
        for x in (0.5, 1.0, -0.7)
    ),
    bank=(
        Wrong("cos at the wrong place", _a("2 * x, v, cos(x)"), "dy/dv is taken where sin is applied: at v, not at x."),
        Wrong("cos of u", _a("2 * x, v, cos(u)"), "dy/dv is taken where sin is applied: at v, not at u."),
        Wrong("exp at x", _a("2 * x, exp(x), cos(v)"), "dv/du is taken where exp is applied: at u, not at x."),
        Wrong("without the 2", _a("x, v, cos(v)"), "du/dx: the slope of x² is 2x, not x."),
        Wrong(
            "exp of v",
            _a("2 * x, exp(v), cos(v)"),
            "dv/du is exp at u, which is v itself: v has the exponential in it already.",
        ),
        Wrong(
            "sign of cos",
            _a("2 * x, v, -cos(v)"),
            "The derivative of sin is cos, with a plus sign; the minus belongs to the derivative of cos.",
        ),
        Wrong(
            "sin itself",
            "from math import sin\n" + _a("2 * x, v, sin(v)"),
            "That is y. Its derivative with respect to v is another function.",
        ),
        Wrong(
            "power rule for exp",
            _a("2 * x, u * exp(u - 1), cos(v)"),
            "The power rule is for x**n. The derivative of exp is exp itself.",
        ),
        Wrong(
            "already multiplied",
            _a("2 * x, v * 2 * x, cos(v) * v * 2 * x"),
            "These are products along the chain. Wanted are the three single factors.",
        ),
        Wrong("reversed", _a("cos(v), v, 2 * x"), "The three are right, in the other order: du/dx comes first."),
    ),
    hints=Hints(
        "Look at one step at a time and pretend that its input is an ordinary variable.",
        "Each local derivative is taken at that step's own input: the square at x, exp at u, sin at v.",
        "y = cos(3x): u = 3x, du/dx = 3; y = cos(u), dy/du = -sin(u), and u is 3x, not x.",
    ),
    reveal="2x, then exp(u), which is v again, then cos(v). Multiplied they are dy/dx.",
    fresh=lambda r: (
        lambda x: Fresh(
            f"y = exp(x²) at x = {x}. What is dy/dx?", 2 * x * math.exp(x * x), wrong=((math.exp(x * x), "The inside changes as well."),)
        )
    )(round(r.uniform(0.5, 1.2), 1)),
)

EX_B = ask(
    "03.b",
    "Multiply along the chain",
    Kind.PREDICT,
    minutes=4,
    level=2,
    text="y = sin(exp(x²)). What is dy/dx at x = 0.5, to three digits?",
    comment="y = sin(exp(x²)). What is dy/dx at x = 0.5? Three digits are enough; a calculator is allowed.\nReplace None by your number.",
    answer=math.cos(math.exp(0.25)) * math.exp(0.25),
    rtol=1.4e-3,
    wrong=(
        ("only the outer factor", 0.2829, "That is cos(exp(x²)), only the outer factor. Two more factors follow."),
        ("rounded too early", 0.3570, "Close, and wrong: cos(1.284) was rounded too early."),
        ("rounded to two digits", 0.36, "On the right way, but rounded too far: three digits are needed."),
        ("sign", -0.3632, "The derivative of sin is cos, with a plus sign, and cos(1.284) is positive."),
        ("exp only", 1.284, "That is exp(x²), one of the three factors."),
        ("y itself", 0.9592, "That is y. How fast does it change?"),
        ("twice", 0.7265, "At x = 0.5 the factor 2x is 1, not 2."),
    ),
    hints=(
        "Compute u, v and y first, then the three local derivatives at those values.",
        "dy/dx = du/dx · dv/du · dy/dv. Keep all digits until the end.",
        "y = exp(sin(x)) at x = 1: cos(1) = 0.5403, exp(sin 1) = 2.3198, and the product is 1.2534.",
    ),
    reveal="du/dx = 1, dv/du = 1.28403, dy/dv = cos(1.28403) = 0.28286; the product is 0.3632.",
    fresh=lambda r: (
        lambda x: Fresh(
            f"y = exp(sin(x)) at x = {x}. What is dy/dx?",
            math.cos(x) * math.exp(math.sin(x)),
            wrong=((math.exp(math.sin(x)), "That is y: one factor is missing."),),
        )
    )(round(r.uniform(0.2, 1.2), 1)),
)

STUB_C = '''\
from math import exp, log, log1p, tanh


def log_slope(x, n=50):
    """The natural logarithm of dy/dx, where y is tanh applied n times to x."""
    ...
'''

SOLUTION_C = """\
from math import exp, log, log1p, tanh


def log_slope(x, n=50):
    total = 0.0
    for _ in range(n):
        a = abs(x)
        total += 2 * (log(2) - a - log1p(exp(-2 * a)))   # log of 1 - tanh(x)², without the subtraction
        x = tanh(x)
    return total
"""


def _log_slope(x, n=50):
    from fractions import Fraction  # an oracle of another kind: exact arithmetic on the exponentials' float values

    total = 0.0
    for _ in range(n):
        e = Fraction(math.exp(2 * min(abs(x), 300)))
        step = 4 * e / (e + 1) ** 2
        total += math.log(step.numerator) - math.log(step.denominator)
        x = math.tanh(x)
    return total


NAIVE = (
    "from math import log, tanh\n\n\ndef log_slope(x, n=50):\n    slope = 1.0\n    for _ in range(n):\n        {}\n    return log(slope)\n"
)

EX_C = Exercise(
    id="03.c",
    title="Fifty times tanh",
    kind=Kind.PUZZLE,
    points=2,
    minutes=10,
    difficulty=3,
    question="tanh(tanh(... tanh(x))), fifty times. How steep is it? Return the logarithm of the slope, so that it survives being tiny.",
    entry="log_slope",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe("50 at x = 0.5", (0.5, 50), _log_slope, rtol=1e-9, draw=lambda r: (round(r.uniform(0.3, 0.9), 2), 50)),
        Probe("one at x = 1", (1.0, 1), _log_slope, rtol=1e-9, draw=lambda r: (round(r.uniform(0.6, 2), 2), 1)),
        Probe("50 at x = -2", (-2.0, 50), _log_slope, rtol=1e-9, draw=lambda r: (-round(r.uniform(1, 3), 2), 50)),
        Probe("a very flat place, x = 30", (30.0, 3), _log_slope, rtol=1e-9, draw=lambda r: (round(r.uniform(25, 40), 1), 3)),
        Probe("5,000 at x = 0.5", (0.5, 5000), _log_slope, rtol=1e-9, draw=lambda r: (round(r.uniform(0.3, 0.9), 2), 5000)),
    ),
    bank=(
        Wrong(
            "slope underflows",
            NAIVE.format("slope *= 1 - tanh(x) ** 2; x = tanh(x)"),
            "In a flat place 1 - tanh(x)² is rounded to 0 and the product dies. Add logarithms, and write that factor without "
            "the subtraction.",
            on=("50 at x = 0.5", "one at x = 1", "a very flat place, x = 30"),
        ),
        Wrong(
            "always at x",
            "from math import log, tanh\n\n\ndef log_slope(x, n=50):\n    return n * log(1 - tanh(x) ** 2)\n",
            "Each tanh is taken at what came out of the one before: x changes along the chain.",
            on=("50 at x = 0.5", "one at x = 1"),
        ),
        Wrong(
            "derivative at the output",
            NAIVE.format("x = tanh(x); slope *= 1 - tanh(x) ** 2"),
            "1 - tanh(x)² takes the input of this tanh; you have already moved on to its output.",
            on=("50 at x = 0.5", "one at x = 1"),
        ),
        Wrong(
            "input instead of output squared",
            NAIVE.format("slope *= 1 - x ** 2; x = tanh(x)"),
            "The rule 1 - y² takes the output y of tanh, not its input.",
            on=("50 at x = 0.5",),
        ),
        Wrong(
            "no logarithm",
            NAIVE.format("slope *= 1 - tanh(x) ** 2; x = tanh(x)").replace("log(slope)", "slope"),
            "That is the slope. Wanted is its logarithm, which stays a reasonable number.",
            on=("50 at x = 0.5", "one at x = 1"),
        ),
        Wrong(
            "value instead of slope",
            NAIVE.format("x = tanh(x); slope = x"),
            "That is the value at the end of the chain. The slope is a product of local derivatives.",
            on=("50 at x = 0.5",),
        ),
    ),
    hints=Hints(
        "What happens to 1 - tanh(30)² in floating point, and what is it really?",
        "log of a product = sum of logs. And 1 - tanh(a)² = (2 / (e^a + e^-a))²: take its logarithm by hand, for a = |x|.",
        "log(1 - s(x)) for the sigmoid s: 1 - s(x) = 1 / (1 + e^x), so for large x it is about -x, where 1 - s(x) itself is rounded away.",
    ),
    reveal="Each factor is sech²; its logarithm is 2 (log 2 - a - log(1 + e^-2a)). Sums of logarithms do not underflow.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"{n} factors of 0.5 are multiplied. What is the natural logarithm of the product?",
            -n * math.log(2),
            wrong=((0.5**n, "That is the product itself."), (n * math.log(2), "A number below 1 has a negative logarithm.")),
        )
    )(r.randint(20, 90)),
)

EX_D = ask(
    "03.d",
    "Two terms",
    Kind.PREDICT,
    minutes=2,
    level=1,
    text="y = x² + 3x. What is dy/dx at x = 2?",
    answer=7,
    wrong=(
        ("y itself", 10, "That is y, the value at x = 2."),
        ("only the square", 4, "That is the slope of x² alone. x has a second way to reach y."),
        ("only the line", 3, "That is the slope of 3x alone. x has a second way to reach y."),
        ("multiplied", 12, "The two paths from x to y are added, not multiplied."),
        ("derivative of the wrong term", 5, "The slope of x² is 2x, and here x is not 1."),
    ),
    hints=(
        "x reaches y along two paths. What does each contribute?",
        "Multiply along a path, add over paths.",
        "y = x³ + 4x at x = 1: the first path gives 3x² = 3, the second 4, together 3 + 4.",
    ),
    reveal="2x = 4 along the first path, 3 along the second: 7.",
    fresh=lambda r: (
        lambda k, x: Fresh(f"y = x² + {k}x at x = {x}. What is dy/dx?", 2 * x + k, wrong=((x * x + k * x, "That is y, the value itself."),))
    )(r.randint(4, 9), r.randint(3, 8)),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
