"""Chapter 18, instruments: its exercises."""

from __future__ import annotations

from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

STUB_A = '''\
def gradcheck(f, df, x, h=1e-6, rtol=1e-4, atol=1e-6):
    """True when df(x) agrees with the central difference of f at x within atol + rtol * |difference|."""
    ...
'''

SOLUTION_A = '''\
def gradcheck(f, df, x, h=1e-6, rtol=1e-4, atol=1e-6):
    """True when df(x) agrees with the central difference of f at x within atol + rtol * |difference|."""
    numeric = (f(x + h) - f(x - h)) / (2 * h)
    return abs(df(x) - numeric) <= atol + rtol * abs(numeric)
'''


_a = partial(but, SOLUTION_A)


def _gp(name, case, want, x, low=None, high=None):
    draw = (lambda r: (case, round(r.uniform(low, high), 2))) if low is not None else None
    return Probe(name, (case, x), want, drivers.gradcheck_case, draw=draw)


EX_A = Exercise(
    id="18.a",
    title="Your own gradcheck",
    kind=Kind.FILL_IN,
    points=3,
    minutes=8,
    difficulty=2,
    question="A check that cannot fail is none: it must pass right derivatives, of every size, and catch wrong ones.",
    entry="gradcheck",
    stub=STUB_A,
    solution=SOLUTION_A,
    probes=(
        _gp("right: sin", "sin", True, 0.7, 0.2, 1.2),
        _gp("right, and large: 1e6·x²", "large", True, 3.3, 2, 5),
        _gp("right, large and falling: -1e6·x²", "falling", True, 3.3, 2, 5),
        _gp("right, and zero: x² at 0", "zero", True, 0.0),
        _gp("right, and zero: 1e6·x² at 0", "large", True, 0.0),
        _gp("off by one in 20,000", "close", True, 0.5, 0.2, 2),
        _gp("off by 1.5e-6, where atol and rtol add up to 2e-6", "edge", True, 0.5, 0.2, 2),
        _gp("wrong by a sign", "sign", False, 0.7, 0.2, 1.2),
        _gp("wrong by one in a thousand", "thousandth", False, 0.7, 0.2, 1.2),
        _gp("wrong and much too small", "small", False, 1.0, 0.5, 2),
        _gp("not a number", "nan", False, 0.7, 0.2, 1.2),
    ),
    bank=(
        Wrong(
            "absolute only",
            _a(" + rtol * abs(numeric)", ""),
            "Large derivatives have large rounding errors: without the relative part a right one of size 1e7 is refused.",
            on=("right, and large: 1e6·x²", "right: sin", "wrong by one in a thousand"),
        ),
        Wrong(
            "relative only",
            _a("atol + rtol", "rtol").replace("<=", "<"),
            "At a derivative of 0 the relative tolerance is 0: the absolute part is needed there.",
            on=("right, and zero: x² at 0", "right: sin"),
        ),
        Wrong(
            "the larger of the two tolerances",
            _a("atol + rtol * abs(numeric)", "max(atol, rtol * abs(numeric))"),
            "The docstring adds the two tolerances, atol + rtol * |difference|. math.isclose takes the larger of the two, which is less.",
            on=("off by 1.5e-6, where atol and rtol add up to 2e-6", "right: sin", "right, and zero: x² at 0", "right, and large: 1e6·x²"),
        ),
        Wrong(
            "one-sided",
            _a("(f(x + h) - f(x - h)) / (2 * h)", "(f(x + h) - f(x)) / h"),
            "A one-sided difference is off by about h times the curvature: step to both sides.",
            on=("right, and zero: 1e6·x² at 0", "right: sin", "wrong by a sign"),
        ),
        Wrong(
            "no abs",
            _a("abs(df(x) - numeric)", "df(x) - numeric"),
            "A difference far below zero passes: compare its size, abs().",
            on=("wrong by a sign", "wrong and much too small", "not a number"),
        ),
        Wrong(
            "nan passes",
            _a("return abs(df(x) - numeric) <=", "return not abs(df(x) - numeric) >"),
            "Comparisons with nan are False, and `not` made that True: write the test so that nan fails.",
            on=("not a number", "right: sin", "wrong by a sign"),
        ),
        Wrong(
            "always true",
            "def gradcheck(f, df, x, h=1e-6, rtol=1e-4, atol=1e-6):\n    return True\n",
            "A check that cannot fail is none.",
            on=("right: sin", "wrong by a sign", "not a number"),
        ),
        Wrong(
            "divided by h",
            _a("(2 * h)", "h"),
            "Right derivatives are refused: divide by the distance of the two points, and leave room for rounding (no ==).",
            on=("right: sin", "right, and large: 1e6·x²"),
        ),
    ),
    hints=Hints(
        "Which of the two tolerances matters when the derivative is a million, and which when it is 0?",
        "|analytic − numeric| ≤ atol + rtol · |numeric|, so that nan, too, fails.",
        "Comparing weights: 'within 1 g plus 0.1 %' works for letters and for elephants.",
    ),
    reveal="Both tolerances together. Always in double precision: float32's rounding alone would raise false alarms.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"atol = 0.001, rtol = 0.01, numeric = {n}. How large may the difference be?",
            0.001 + 0.01 * n,
            wrong=((0.01 * n, "Plus atol."),),
        )
    )(r.choice([2, 5, 10])),
)

EX_B = ask(
    "18.b",
    "The first nan",
    Kind.PREDICT,
    minutes=4,
    level=2,
    text="x = 0: a = log(x), b = a * x, c = b + 1, loss = c * 2. Which of the four is the first to hold a nan?",
    comment="x = 0: a = log(x), b = a * x, c = b + 1, loss = c * 2.\nWhich is the first to hold a nan? Replace None by its name, "
    "in quotes.",
    answer="b",
    wrong=(
        ("the log", "a", "log(0) is minus infinity, which is a number of its own kind, and no nan yet."),
        ("the loss", "loss", "The nan is seen there. Where was it made?"),
        ("the sum", "c", "It arrives there already: nan + 1 is nan."),
        ("the input", "x", "x is 0, an ordinary number. Compute the four in order."),
    ),
    hints=(
        "Compute the four by hand: what is log(0)?",
        "inf is no nan. inf − inf, 0 · inf and 0 / 0 make one.",
        "p = exp(800) is inf; q = p − p is the first nan; q + 1 only passes it on.",
    ),
    reveal="a is −inf; b = −inf · 0 is nan.",
    fresh=lambda r: Fresh(
        "p = exp(1000.) (a tensor), q = 1 / p, r = p * q. Which one is the first nan?",
        "r",
        wrong=(("p", "That is inf."), ("q", "1 / inf is 0.")),
    ),
)

EX_C = ask(
    "18.c",
    "Does anomaly mode fire?",
    Kind.EXPLAIN,
    minutes=3,
    level=2,
    text="With set_detect_anomaly(True), does backward raise in each case? Answer True or False.",
    answer={"a gradient is inf": False, "a gradient is nan": True, "the loss itself is large": False},
    wrong=(
        (
            "inf counts",
            {"a gradient is inf": True},
            "Anomaly mode looks for nan only: an infinite gradient passes.",
        ),
        ("nan is missed", {"a gradient is nan": False}, "That is exactly what it is for: it names the forward line."),
        ("large counts", {"the loss itself is large": True}, "A large number is an ordinary number."),
    ),
    hints=(
        "What exactly is tested after each backward rule?",
        "It tests for nan in what a rule returns. inf is let through.",
        "sqrt at 0 has an infinite gradient: no alarm. Multiplied by 0 it becomes nan: alarm.",
    ),
    reveal="It fires for nan only, never for inf.",
    fresh=lambda r: Fresh(
        "y = sqrt(x) at x = 0, y.backward(): does anomaly mode raise? True or False.", False, wrong=((True, "The gradient is inf."),)
    ),
)

STUB_D = '''\
def half(grad):
    """A hook: receives the gradient that arrives at a tensor and returns what should go on instead, half of it."""
    ...
'''

SOLUTION_D = """\
def half(grad):
    return grad * 0.5
"""

EX_D = Exercise(
    id="18.d",
    title="A hook",
    kind=Kind.FILL_IN,
    points=1,
    minutes=4,
    difficulty=1,
    question="Write a hook that halves a gradient on its way.",
    entry="half",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        Probe(
            "y = 3x with the hook on x",
            ([1.0, 2.0], 3.0),
            lambda x, k: [k / 2] * len(x),
            drivers.hooked,
            draw=lambda r: ([1.0, 2.0], float(r.randint(2, 9))),
        ),
        Probe(
            "what arrives is left alone",
            ([4.0, -6.0],),
            lambda g: g,
            drivers.hook_leaves_input,
            draw=lambda r: ([float(r.randint(2, 9)), -6.0],),
        ),
        Probe("below zero", ([5.0], -8.0), lambda x, k: [k / 2], drivers.hooked, draw=lambda r: ([5.0], -float(r.randint(2, 9)))),
    ),
    bank=(
        Wrong(
            "in place",
            "def half(grad):\n    grad.mul_(0.5)\n    return grad\n",
            "The gradient that arrived was changed in place: others may hold it too. Return a new tensor.",
            on=("what arrives is left alone",),
        ),
        Wrong(
            "nothing returned",
            "def half(grad):\n    grad = grad * 0.5\n",
            "A hook that returns None leaves the gradient as it was: return the new one.",
            on=("y = 3x with the hook on x",),
        ),
        Wrong("doubles", SOLUTION_D.replace("* 0.5", "* 2"), "That is twice, not half.", on=("y = 3x with the hook on x",)),
        Wrong(
            "constant",
            "def half(grad):\n    return grad * 0 + 0.5\n",
            "Half of what arrives, not the number one half.",
            on=("y = 3x with the hook on x",),
        ),
        Wrong(
            "subtracts",
            "def half(grad):\n    return grad - 0.5\n",
            "Half of the gradient is a product: multiply by one half, don't subtract it.",
            on=("y = 3x with the hook on x",),
        ),
        Wrong(
            "half of the entries",
            "def half(grad):\n    return grad[: len(grad) // 2]\n",
            "Half of the entries was returned. The shape must stay: every entry is halved.",
            when=lambda seen: (
                seen.error("y = 3x with the hook on x") != ""
                or seen.value("what arrives is left alone") is not None
                and len(seen.value("y = 3x with the hook on x") or [0, 0]) == 1
            ),
        ),
    ),
    hints=Hints(
        "What does the engine do with what a hook returns?",
        "None: go on with the gradient as it is. A tensor: go on with that instead.",
        "A hook that clips: return grad.clamp(-1, 1).",
    ),
    reveal="return grad * 0.5.",
    fresh=lambda r: (
        lambda g: Fresh(f"Two such hooks are registered on one tensor and {g} arrives. What goes on?", g / 4, wrong=((g / 2, "Both run."),))
    )(r.choice([8, 12, 20])),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
