"""Chapter 06, a rule book: its exercises."""

from __future__ import annotations

import math
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

STUB_A = '''\
def rule(op, g, x, out):
    """The gradient that reaches x when g arrives at out, for op "exp", "log", "sigmoid" or "tanh" (plain numbers)."""
    if op == "exp":
        return ...
    if op == "log":
        return ...
    if op == "sigmoid":
        return ...
    if op == "tanh":
        return ...
'''

SOLUTION_A = '''\
def rule(op, g, x, out):
    """The gradient that reaches x when g arrives at out, for op "exp", "log", "sigmoid" or "tanh" (plain numbers)."""
    if op == "exp":
        return g * out
    if op == "log":
        return g / x
    if op == "sigmoid":
        return g * out * (1 - out)
    if op == "tanh":
        return g * (1 - out * out)
'''

POINTS = [0.1 + 0.15 * i for i in range(20)]

SLOPES = {
    "exp": math.exp,
    "log": lambda x: 1 / x,
    "sigmoid": lambda x: 0.25 / math.cosh(x / 2) ** 2,
    "tanh": lambda x: 1 / math.cosh(x) ** 2,
}


def _want(op, g, points):
    return [g * SLOPES[op](x) for x in points]


def _draw(op):
    return lambda r: (op, round(r.uniform(0.5, 2), 2), [round(r.uniform(0.1, 3), 3) for _ in range(20)])


_a = partial(but, SOLUTION_A)


EX_A = Exercise(
    id="06.a",
    title="Four rules",
    kind=Kind.FILL_IN,
    points=3,
    minutes=8,
    difficulty=2,
    question="Write the backward rules of exp, log, sigmoid and tanh. Each is checked on 20 points.",
    entry="rule",
    stub=STUB_A,
    solution=SOLUTION_A,
    probes=tuple(
        Probe(
            f"{op} on 20 points",
            (op, 0.7, POINTS),
            _want,
            drivers.rule_on_points,
            rtol=1e-9,
            draw=_draw(op),
        )
        for op in SLOPES
    ),
    bank=(
        Wrong(
            "sigmoid of the input",
            _a("g * out * (1 - out)", "g * x * (1 - x)"),
            "s(1 - s) is about s, the value that sigmoid gave: reuse the OUTPUT, not the input.",
            on=("sigmoid on 20 points",),
        ),
        Wrong(
            "tanh of the input",
            _a("g * (1 - out * out)", "g * (1 - x * x)"),
            "1 - t² is about t, the value that tanh gave: reuse the OUTPUT, not the input.",
            on=("tanh on 20 points",),
        ),
        Wrong(
            "exp of the input",
            _a("g * out\n", "g * x\n"),
            "exp is its own derivative: what you need has already been computed, and it is not x.",
            on=("exp on 20 points",),
        ),
        Wrong(
            "power rule for exp",
            _a("g * out\n", "g * x * out\n"),
            "exp is not a power of x: no factor comes down.",
            on=("exp on 20 points",),
        ),
        Wrong(
            "log with the output",
            _a("g / x", "g / out"),
            "The derivative of log is one over the number that went in, not over the logarithm.",
            on=("log on 20 points",),
        ),
        Wrong(
            "log upside down",
            _a("g / x", "x / g"),
            "g and x are exchanged: what arrives is multiplied by the local derivative 1/x.",
            on=("log on 20 points",),
        ),
        Wrong(
            "sigmoid without a factor",
            _a("g * out * (1 - out)", "g * (1 - out)"),
            "One factor is missing: the sigmoid's slope vanishes at both ends, near 0 and near 1.",
            on=("sigmoid on 20 points",),
        ),
        Wrong(
            "tanh's output not squared",
            _a("g * (1 - out * out)", "g * (1 - out)"),
            "tanh's slope is the same at x and -x: the output must appear squared.",
            on=("tanh on 20 points",),
        ),
        Wrong(
            "g ignored",
            SOLUTION_A.replace("g * ", "").replace("g / x", "1 / x"),
            "These are local derivatives. Multiply each by g, the gradient that arrives.",
            on=("exp on 20 points", "sigmoid on 20 points"),
        ),
        Wrong(
            "log multiplies",
            _a("g / x", "g * x"),
            "The slope of the logarithm falls as x grows: where it is flat, little gradient passes. Multiply g by 1/x, not by x.",
            on=("log on 20 points",),
        ),
        Wrong(
            "a rule without g",
            _a("g * (1 - out * out)", "1 - out * out"),
            "One of the four rules returns its local derivative alone. Multiply it by g, the upstream gradient.",
            on=("tanh on 20 points",),
        ),
    ),
    hints=Hints(
        "For three of the four, the derivative can be written with the output alone. For which one can it not?",
        "Local derivative × g. If s = sigmoid(x), then ds/dx is a product of s and what is missing to 1.",
        "sqrt: out = √x has derivative 1 / (2√x), so its rule is g / (2 * out), without x.",
    ),
    reveal="exp, sigmoid and tanh need only their output; log needs its input.",
    fresh=lambda r: (
        lambda s: Fresh(
            f"A sigmoid gave {s} and the gradient 2 arrives. What does its input get?",
            2 * s * (1 - s),
            wrong=((s * (1 - s), "Multiply by what arrives."),),
        )
    )(r.choice([0.1, 0.2, 0.3, 0.4, 0.6])),
)

EX_B = ask(
    "06.b",
    "What must be saved?",
    Kind.EXPLAIN,
    minutes=5,
    level=2,
    points=2,
    text='What does each backward rule need to keep? Answer "input", "output", "inputs" (both factors) or "nothing", the least '
    "that is enough.",
    answer={"exp": "output", "log": "input", "tanh": "output", "a + b": "nothing", "a * b": "inputs", "sigmoid": "output"},
    wrong=(
        (
            "exp keeps its input",
            {"exp": "input"},
            "exp: from the input it would have to be computed again. The output is enough, and it is there.",
        ),
        ("exp keeps input and output", {"exp": "both"}, "exp: the output is enough, and it is there already."),
        ("another word", {"a * b": "both"}, "a * b: both factors, yes; the word for them stands in the question."),
        ("exp keeps both", {"exp": "inputs"}, "exp: it has one input, and the output is enough."),
        ("log keeps its output", {"log": "output"}, "log: its rule divides by the number that went in."),
        ("sums keep inputs", {"a + b": "inputs"}, "a + b: its local derivatives are 1 whatever a and b are."),
        (
            "products keep the output",
            {"a * b": "output"},
            "a * b: each side's gradient needs the other factor; the product alone does not tell them.",
        ),
        ("products keep nothing", {"a * b": "nothing"}, "a * b: each side's gradient needs the other factor."),
        ("tanh keeps its input", {"tanh": "input"}, "tanh: 1 - t² needs only t."),
        ("sigmoid keeps its input", {"sigmoid": "input"}, "sigmoid: s(1 - s) needs only s."),
        (
            "products keep one input",
            {"a * b": "input"},
            "a * b: the gradient of each factor needs the other one. How many numbers is that?",
        ),
        ("exp keeps nothing", {"exp": "nothing"}, "exp: its local derivative depends on where you are, so something must be kept."),
        ("log keeps inputs", {"log": "inputs"}, "log: it has a single input. The word for one is asked."),
        ("tanh keeps nothing", {"tanh": "nothing"}, "tanh: its slope is not the same everywhere, so something must be kept."),
        ("log keeps nothing", {"log": "nothing"}, "log: its local derivative depends on x, so something must be kept."),
        ("sums keep an input", {"a + b": "input"}, "a + b: write its two local derivatives down. Does a letter occur in them?"),
    ),
    hints=(
        "Write each rule down. Which letters occur in it besides g?",
        "A rule that can be written with what came out need not keep what went in. Keeping less is memory saved.",
        "sqrt keeps its result (g / (2 · out)); a - b keeps nothing; a / b keeps both.",
    ),
    reveal="exp, tanh and sigmoid keep the output, log the input, a product both factors, a sum nothing.",
    fresh=lambda r: Fresh(
        'What is the least that relu must keep so that its rule works: "nothing", or "sign" (where the input was positive)?',
        "sign",
        wrong=(("nothing", "Where was the input below zero?"),),
    ),
)

STUB_C = '''\
def log_backward(g, x):
    """Backward rule of log: the gradient that reaches x when g arrives. Lists of numbers of the same length."""
    return [xi / gi for gi, xi in zip(g, x)]      # wrong: find out why
'''

SOLUTION_C = '''\
def log_backward(g, x):
    """Backward rule of log: the gradient that reaches x when g arrives. Lists of numbers of the same length."""
    return [gi / xi for gi, xi in zip(g, x)]
'''


def _divided(g, x):
    return [b / a for a, b in zip(x, g, strict=True)]


def _above_zero(r, n):
    return [round(r.uniform(0.2, 4), 2) for _ in range(n)]


EX_C = Exercise(
    id="06.c",
    title="A rule with a bug",
    kind=Kind.DEBUG,
    points=1,
    minutes=4,
    difficulty=1,
    question="This rule passes a test with g = x, and fails all others. Repair it.",
    entry="log_backward",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe("g = 1", ([1.0, 1.0, 1.0], [0.5, 2.0, 4.0]), _divided, draw=lambda r: ([1.0] * 3, _above_zero(r, 3))),
        Probe("g = x", ([3.0, 5.0], [3.0, 5.0]), [1.0, 1.0], draw=lambda r: (lambda x: (x, list(x)))(_above_zero(r, 2))),
        Probe(
            "any g",
            ([2.0, -1.0, 0.5], [4.0, 0.5, 2.0]),
            _divided,
            draw=lambda r: ([round(r.uniform(-2, 2), 2) for _ in range(3)], _above_zero(r, 3)),
        ),
        Probe("no gradient arrives", ([0.0, 0.0], [2.0, 3.0]), [0.0, 0.0], draw=lambda r: ([0.0, 0.0], _above_zero(r, 2))),
    ),
    bank=(
        Wrong(
            "multiplies",
            SOLUTION_C.replace("gi / xi", "gi * xi"),
            "The derivative of log(x) falls as x grows: dividing, not multiplying.",
            on=("any g",),
        ),
        Wrong(
            "one over the product",
            SOLUTION_C.replace("gi / xi", "1 / (gi * xi)"),
            "g is what arrives: it is always multiplied in, never divided by.",
            when=lambda seen: seen.error("no gradient arrives") == "ZeroDivisionError" and seen.value("any g") is not None,
        ),
        Wrong(
            "ignores g",
            SOLUTION_C.replace("gi / xi", "1 / xi"),
            "That is the local derivative. Multiply it by g, the gradient that arrives.",
            on=("any g", "g = 1"),
        ),
        Wrong(
            "changes its input",
            "def log_backward(g, x):\n    for i in range(len(g)):\n        g[i] = -g[i] / x[i]\n    return g\n",
            "The sign is reversed, and the caller's list g was overwritten: return a new list.",
            on=("any g",),
        ),
    ),
    hints=Hints(
        "Try x = 2 with g = 1 and compare with a central difference of log at 2.",
        "Gradient = local derivative × g. A rule is linear in g: when g is 0, nothing arrives at x.",
        "The rule of sqrt divides: g / (2 · out). Doubling g doubles the result.",
    ),
    reveal="g / x. The buggy version agreed with it only where g and x were equal: a test must use a g of its own.",
    fresh=lambda r: (
        lambda g, x: Fresh(f"g = {g} arrives at log(x), x = {x}. What reaches x?", g / x, wrong=((x / g, "Exchanged."), (g * x, "Divide.")))
    )(r.randint(3, 9), r.choice([4, 5, 8, 10])),
)

EXERCISES = (EX_A, EX_B, EX_C)
