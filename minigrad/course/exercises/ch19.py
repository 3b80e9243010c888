"""Chapter 19, where it goes next: the capstone, an operation of the learner's own inside random graphs.

The learner chooses logsumexp (19.b) or gelu (19.c); one of the two is the capstone, both is a hobby.
"""

from __future__ import annotations

import math
from functools import partial

from .. import drivers, random_graphs
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

EX_A = ask(
    "19.a",
    "In which year?",
    Kind.EXPLAIN,
    minutes=3,
    level=1,
    text="When did each of these appear?",
    comment="In which year? 1986, 2010 or 2017. Replace each None by a number.",
    answer={"Rumelhart, Hinton and Williams on backpropagation": 1986, "Theano": 2010, "PyTorch": 2017},
    wrong=(
        ("PyTorch as old as Theano", {"PyTorch": 2010}, "PyTorch: first came the framework that compiled a graph ahead of time."),
        ("Theano first", {"Theano": 1986}, "Theano: the mathematics was there two decades before such frameworks."),
        (
            "the paper late",
            {"Rumelhart, Hinton and Williams on backpropagation": 2010},
            "The paper: it came long before any framework.",
        ),
    ),
    hints=(
        "Order them first: an idea, a compiler of graphs, a graph recorded while running.",
        "The paper made the method popular, then a static-graph framework automated it, then define-by-run spread.",
        "Torch7, a library for Lua, lies between the last two.",
    ),
    reveal="1986, 2010, 2017.",
    fresh=lambda r: Fresh(
        "Which of the three compiled the graph before running it? Answer with its name.",
        "Theano",
        wrong=(("PyTorch", "It records while running."),),
    ),
)

STUB_B = '''\
from math import exp, log


def logsumexp(xs):
    """log(exp(x1) + ... + exp(xn)) for a list of numbers, without overflow: (value, list of the derivatives)."""
    ...
'''

SOLUTION_B = """\
from math import exp, log


def logsumexp(xs):
    top = max(xs)
    es = [exp(x - top) for x in xs]
    total = sum(es)
    return top + log(total), [e / total for e in es]
"""


def _lse(xs):
    top = max(xs)
    value = top + math.log(math.fsum(math.exp(x - top) for x in xs))
    return [value, [math.exp(x - value) for x in xs]]


_b = partial(but, SOLUTION_B)


def _graphs(driver, truth, one):
    """A probe that puts the operation into 200 random graphs, which the judge builds from its values and derivatives."""

    def args(seed):
        return random_graphs.points(truth, 200, seed), seed

    def complaint(got, points, seed):
        right = max(random_graphs.errors(got, truth, 200, seed, one)) <= 1e-6
        return None if right else "in some of the graphs the gradient differs from central differences"

    return Probe("200 random graphs", args(19), driver=driver, accept=complaint, weight=3, draw=lambda r: args(r.randint(20, 10_000)))


EX_B = Exercise(
    id="19.b",
    title="Capstone: logsumexp",
    kind=Kind.FILL_IN,
    points=5,
    minutes=20,
    difficulty=3,
    question="Add one operation with its rule. It is put into 200 random graphs and compared with central differences.",
    entry="logsumexp",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe("three numbers", ([0.1, 1.0, -2.0],), _lse, rtol=1e-9, draw=lambda r: ([round(r.uniform(-2, 2), 2) for _ in range(3)],)),
        Probe("one number", ([5.0],), _lse, rtol=1e-9, draw=lambda r: ([round(r.uniform(2, 9), 2)],)),
        Probe(
            "large numbers",
            ([1000.0, 999.0, 1001.0],),
            _lse,
            rtol=1e-9,
            draw=lambda r: ([1000.0 + round(r.uniform(-2, 2), 2) for _ in range(3)],),
        ),
        Probe(
            "very small numbers", ([-1000.0, -1000.0],), _lse, rtol=1e-9, draw=lambda r: ([-1000.0, -1000.0 + round(r.uniform(-2, 2), 2)],)
        ),
        Probe("far apart", ([0.0, 2000.0],), _lse, rtol=1e-9, draw=lambda r: ([round(r.uniform(-2, 2), 2), 2000.0],)),
        _graphs(drivers.op_on_points, lambda xs: _lse(xs)[0], one=False),
    ),
    bank=(
        Wrong(
            "overflows",
            "from math import exp, log\n\n\ndef logsumexp(xs):\n    es = [exp(x) for x in xs]\n    return log(sum(es)), [e / sum(es) "
            "for e in es]\n",
            "exp(1000) is too large for a float. Subtract the largest x first and add it again at the end.",
            when=lambda seen: seen.error("large numbers") == "OverflowError",
        ),
        Wrong(
            "mean subtracted",
            _b("top = max(xs)", "top = sum(xs) / len(xs)"),
            "Subtracting the mean still overflows where one x is far above the others. Subtract the largest x.",
            when=lambda seen: seen.error("far apart") == "OverflowError" and not seen.error("large numbers"),
        ),
        Wrong(
            "largest not added again",
            _b("top + log(total)", "log(total)"),
            "The largest x was subtracted and never added again.",
            on=("three numbers",),
        ),
        Wrong(
            "derivatives not normalised",
            _b("e / total", "e"),
            "The derivative of log(u) is 1/u: each exponential is divided by their sum.",
            on=("three numbers",),
        ),
        Wrong(
            "all ones",
            _b("[e / total for e in es]", "[1.0 for e in es]"),
            "The derivatives differ: the largest x counts most. They add up to 1.",
            on=("three numbers",),
        ),
        Wrong(
            "only the largest",
            _b("[e / total for e in es]", "[1.0 if x == top else 0.0 for x in xs]"),
            "That is the derivative of max. logsumexp is its smooth sister: each x gets a share.",
            on=("three numbers",),
        ),
        Wrong(
            "mean instead of sum",
            _b("total = sum(es)", "total = sum(es) / len(es)"),
            "That is the logarithm of a mean. The exponentials are summed.",
            on=("three numbers",),
        ),
        Wrong(
            "only the value",
            _b("return top + log(total), [e / total for e in es]", "return top + log(total)"),
            "Both are asked: the value and the list of derivatives.",
            on=("three numbers",),
        ),
    ),
    hints=Hints(
        "What does adding the same number to every x do to the result?",
        "logsumexp(x) = m + log Σ exp(x − m) for any m; its gradient is softmax(x).",
        "log Σ 10^x to base 10 with x = (300, 299): 300 + log10(1 + 0.1), and the shares are 1/1.1 and 0.1/1.1.",
    ),
    reveal="With m = max(x) nothing overflows; the derivatives are softmax(x), which adds up to 1.",
    fresh=lambda r: (
        lambda x: Fresh(
            f"logsumexp([{x}, {x}]): what is the value?",
            x + math.log(2),
            wrong=((2 * x, "That is a sum of logarithms."), (x, "Two of them add log 2.")),
        )
    )(r.randint(3, 9)),
)

STUB_C = '''\
from math import erf, exp, pi, sqrt


def gelu(x):
    """x times the probability that a standard normal number is below x: (value, derivative) for a number x."""
    ...
'''

SOLUTION_C = """\
from math import erf, exp, pi, sqrt


def gelu(x):
    below = 0.5 * (1 + erf(x / sqrt(2)))
    density = exp(-x * x / 2) / sqrt(2 * pi)
    return x * below, below + x * density
"""


def _gelu(x):
    below = 0.5 * math.erfc(-x / math.sqrt(2))
    return [x * below, below + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)]


_c = partial(but, SOLUTION_C)


def _at(r):
    return (round(r.uniform(0.3, 2.5), 2),)


EX_C = Exercise(
    id="19.c",
    title="Capstone: gelu",
    kind=Kind.FILL_IN,
    points=5,
    minutes=20,
    difficulty=3,
    question="The other choice: the smooth gate of today's transformers. It, too, is put into 200 random graphs.",
    entry="gelu",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe("above zero", (1.2,), _gelu, rtol=1e-9, draw=_at),
        Probe("below zero", (-0.7,), _gelu, rtol=1e-9, draw=lambda r: (-_at(r)[0],)),
        Probe("zero", (0.0,), _gelu, rtol=1e-9),
        Probe("far out", (30.0,), _gelu, rtol=1e-9, draw=lambda r: (round(r.uniform(20, 35), 1),)),
        _graphs(drivers.op_on_sums, lambda xs: _gelu(sum(xs))[0], one=True),
    ),
    bank=(
        Wrong(
            "product rule forgotten",
            _c("below + x * density", "below"),
            "gelu is a product of x and Φ(x), and both move with x: the product rule has two terms.",
            on=("above zero", "zero"),
        ),
        Wrong(
            "first term forgotten",
            _c("below + x * density", "x * density"),
            "The product rule has two terms, and the one in which x itself moves is missing.",
            on=("above zero", "zero"),
        ),
        Wrong(
            "tanh in place of erf",
            SOLUTION_C.replace("from math import erf, exp, pi, sqrt", "from math import exp, pi, sqrt, tanh").replace(
                "erf(x / sqrt(2))", "tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))"
            ),
            "That is the tanh approximation of gelu, off in the fourth digit. Here Φ is meant exactly: with erf.",
            on=("above zero",),
        ),
        Wrong(
            "density not normalised",
            _c(" / sqrt(2 * pi)", ""),
            "The density of the normal distribution has a factor in front, so that its area is 1.",
            on=("above zero",),
        ),
        Wrong(
            "erf without its scale",
            _c("erf(x / sqrt(2))", "erf(x)"),
            "erf belongs to the density exp(−t²), the normal distribution to exp(−t²/2): the argument must be scaled.",
            on=("above zero",),
        ),
        Wrong(
            "relu",
            "def gelu(x):\n    return max(x, 0.0), float(x > 0)\n",
            "That is relu, gelu's sharp sister: its gate is 0 or 1, gelu's a probability between.",
            on=("above zero",),
        ),
        Wrong(
            "only the value",
            _c("return x * below, below + x * density", "return x * below"),
            "Both are asked: the value and the derivative.",
            on=("above zero",),
        ),
        Wrong(
            "sigmoid approximation",
            "from math import exp\n\n\ndef gelu(x):\n    s = 1 / (1 + exp(-1.702 * x))\n    return x * s, s + 1.702 * x * s * (1 - s)\n",
            "That is the sigmoid approximation of gelu, off in the second digit. Here Φ is meant exactly: with erf.",
            on=("above zero", "zero"),
        ),
        Wrong(
            "half instead of root two",
            _c("erf(x / sqrt(2))", "erf(x / 2)"),
            "Inside erf stands x/√2, so that its exponent becomes -x²/2.",
            on=("above zero",),
        ),
        Wrong(
            "density without x",
            _c("below + x * density", "below + density"),
            "The second term of the product rule is x times the density: one factor is missing.",
            on=("above zero",),
        ),
        Wrong(
            "sign of the second term",
            _c("below + x * density", "below - x * density"),
            "The two terms of the product rule are added.",
            on=("above zero",),
        ),
    ),
    hints=Hints(
        "gelu is a product. Which rule belongs to a product, and what is the derivative of a probability Φ(x)?",
        "Φ(x) = (1 + erf(x/√2))/2 and Φ′(x) = exp(−x²/2)/√(2π); the derivative of x·Φ(x) is Φ(x) + x·Φ′(x).",
        "The same for x·sigmoid(x): with s = sigmoid(x), s′ = s(1 − s), the derivative is s + x·s(1 − s).",
    ),
    reveal="Product rule: Φ(x) + x·φ(x), with φ the density of the standard normal distribution.",
    fresh=lambda r: (
        lambda x: Fresh(
            f"gelu(x) − gelu(−x) is simple. What is it at x = {x}?",
            x,
            wrong=((0, "gelu is not even."), (2 * x, "Φ(x) and Φ(−x) add up to one.")),
        )
    )(r.choice([0.5, 2.0, 3.0, 7.0])),
)

EXERCISES = (EX_A, EX_B, EX_C)
