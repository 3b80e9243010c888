"""Chapter 12, forward mode and reverse mode: its exercises."""

from __future__ import annotations

import math
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

X, Y = [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]
COS70 = math.cos(70.0)

EX_A = ask(
    "12.a",
    "A directional derivative",
    Kind.PREDICT,
    minutes=5,
    level=2,
    text="z = sin(x · y), x = [1, 2, 3, 4], y = [5, 6, 7, 8], so x · y = 70 and cos(70) = 0.6333. Along u, 0.1 for every x and "
    "0.2 for every y: what is the JVP?",
    answer=COS70 * (0.1 * sum(Y) + 0.2 * sum(X)),
    rtol=1e-3,
    wrong=(
        ("without the cosine", 4.6, "That is how fast x · y changes along u. Multiply by cos(70), the outer factor."),
        ("the value", 0.7739, "That is z itself. How fast does it move?"),
        ("x only", 1.6466, "Only the x moved. The y move as well, by 0.2 each."),
        ("y only", 1.2666, "Only the y moved. The x move as well, by 0.1 each."),
        ("directions exchanged", 3.8632, "0.1 belongs to x, whose derivatives are the y; 0.2 belongs to y."),
        ("direction only", 0.3, "That adds up the direction itself. How fast does x · y change along it?"),
        ("sign", -2.913, "cos(70) is positive, and so is the change of x · y along u."),
    ),
    hints=(
        "How fast does x · y change when every x grows by 0.1 and every y by 0.2?",
        "JVP: push the direction forward, step by step. d(x · y) = dx · y + x · dy, then times cos(x · y).",
        "z = exp(a · b), a = 1, b = 2, direction (1, 10): d(a·b) = 1·2 + 1·10 = 12, and z changes at 12·exp(2) = 88.67.",
    ),
    reveal="d(x · y) = 0.1 · 26 + 0.2 · 10 = 4.6, times 0.6333 is 2.913.",
    fresh=lambda r: (
        lambda u: Fresh(
            f"The same point, direction {u} for every x and 0 for every y. What is the JVP?",
            COS70 * 26 * u,
            wrong=((26 * u, "Multiply by cos(70)."),),
        )
    )(r.choice([0.3, 0.4, 0.5])),
)

STUB_B = '''\
class Dual:
    """A number that carries its derivative along: value + derivative · ε, where ε² = 0."""

    def __init__(self, value, derivative=0.0):
        self.value = value
        self.derivative = derivative

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, ...)

    def __mul__(self, other):
        ...

    def sin(self):
        ...

    # still to come: 2 + d and 2 * d
'''

SOLUTION_B = '''\
from math import cos, sin


class Dual:
    """A number that carries its derivative along: value + derivative · ε, where ε² = 0."""

    def __init__(self, value, derivative=0.0):
        self.value = value
        self.derivative = derivative

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.derivative + other.derivative)

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value * other.value, self.derivative * other.value + self.value * other.derivative)

    def sin(self):
        return Dual(sin(self.value), cos(self.value) * self.derivative)

    __radd__ = __add__
    __rmul__ = __mul__
'''


_b = partial(but, SOLUTION_B)


def _dual(name, want):
    return Probe(name, (name, 1.5), want, drivers.dual, rtol=1e-12, draw=lambda r: (name, round(r.uniform(0.5, 2), 2)))


EX_B = Exercise(
    id="12.b",
    title="Dual numbers",
    kind=Kind.FILL_IN,
    points=3,
    minutes=10,
    difficulty=2,
    question="Complete Dual: +, *, sin, and plain numbers on either side.",
    entry="Dual",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        _dual("x + x", lambda n, x: [2 * x, 2.0]),
        _dual("x * x", lambda n, x: [x * x, 2 * x]),
        _dual("x * x * x", lambda n, x: [x**3, 3 * x * x]),
        _dual("sin(x)", lambda n, x: [math.sin(x), math.cos(x)]),
        _dual("sin(x * x)", lambda n, x: [math.sin(x * x), 2 * x * math.cos(x * x)]),
        _dual("x * 3 + 1", lambda n, x: [3 * x + 1, 3.0]),
        _dual("1 + 3 * x", lambda n, x: [1 + 3 * x, 3.0]),
    ),
    bank=(
        Wrong(
            "product of derivatives",
            _b("self.derivative * other.value + self.value * other.derivative", "self.derivative * other.derivative"),
            "That is ε² times something, and ε² = 0. Multiply (a + a'ε)(b + b'ε) out and keep what stands before ε.",
            on=("x * x",),
        ),
        Wrong(
            "half of the product rule",
            _b("self.derivative * other.value + self.value * other.derivative", "self.derivative * other.value"),
            "One of the two terms of the product rule is missing: the other factor moves as well.",
            on=("x * x",),
        ),
        Wrong(
            "sine forgets the inside",
            _b("cos(self.value) * self.derivative", "cos(self.value)"),
            "The inside moves at its own rate: multiply by its derivative.",
            on=("sin(x * x)", "sin(x)"),
        ),
        Wrong(
            "sine's sign",
            _b("cos(self.value) * self", "-cos(self.value) * self"),
            "The derivative of sin is cos, with a plus sign.",
            on=("sin(x)",),
        ),
        Wrong(
            "no reflected forms",
            _b("    __radd__ = __add__\n    __rmul__ = __mul__\n", ""),
            "Python tried int.__mul__ first; an int knows nothing about Dual, so Python asks for Dual.__rmul__ (and __radd__).",
            when=lambda seen: seen.error("1 + 3 * x") == "TypeError" and not seen.error("x * 3 + 1"),
        ),
        Wrong(
            "a constant that moves",
            SOLUTION_B.replace("else Dual(other)", "else Dual(other, 1.0)"),
            "A plain number does not move when x moves: its derivative is 0.",
            on=("x * 3 + 1", "x * x"),
        ),
        Wrong(
            "constants not wrapped",
            SOLUTION_B.replace("        other = other if isinstance(other, Dual) else Dual(other)\n", ""),
            "A plain number has no .value: wrap it in a Dual first.",
            when=lambda seen: seen.error("x * 3 + 1") == "AttributeError" and not seen.error("x * x"),
        ),
        Wrong(
            "sine returns a number",
            _b("return Dual(sin(self.value), cos(self.value) * self.derivative)", "return sin(self.value)"),
            "sin returns a plain number, so the derivative is lost. Return a Dual with both.",
            when=lambda seen: seen.error("sin(x)") == "AttributeError" and not seen.error("x * x"),
        ),
        Wrong(
            "sum multiplies",
            _b("self.derivative + other.derivative", "self.derivative * other.derivative"),
            "In a sum the derivatives are added: (a + a'ε) + (b + b'ε) = (a + b) + (a' + b')ε.",
            on=("x + x",),
        ),
        Wrong(
            "product changes self",
            _b(
                "        return Dual(self.value * other.value,",
                "        self.value = self.value * other.value\n        return Dual(self.value,",
            ),
            "The product writes into self, so the number is wrong wherever it is used again. Make a new Dual and leave both factors alone.",
            on=("x * x", "x * 3 + 1"),
        ),
    ),
    hints=Hints(
        "Multiply (a + a'ε)(b + b'ε) out, and drop ε².",
        "Value and derivative travel together: each operation computes its result and, by its local rule, the result's derivative.",
        "Division by a constant c: Dual(value / c, derivative / c). exp: Dual(e, e · derivative) with e = exp(value).",
    ),
    reveal="(a + a'ε)(b + b'ε) = ab + (a'b + ab')ε. No graph is kept: the derivative arrives together with the value.",
    fresh=lambda r: (
        lambda a, da, b: Fresh(
            f"Dual({a}, {da}) * Dual({b}, 1). What is the derivative?",
            da * b + a,
            wrong=((da, "Two terms."), (da * b, "The second term is missing.")),
        )
    )(r.randint(2, 9), r.randint(2, 5), r.randint(2, 9)),
)

EX_C = ask(
    "12.c",
    "Which way round?",
    Kind.PREDICT,
    minutes=4,
    level=2,
    text="g(x) = [x0² + x1, x0 · x1] at x = [2, 3]. What does jacrev(g) give? Answer with a list of two rows.",
    answer=[[4, 1], [3, 2]],
    wrong=(
        ("transposed", [[4, 3], [1, 2]], "row = output, column = input: you have it the other way round."),
        ("product's factors exchanged", [[4, 1], [2, 3]], "The derivative of x0 · x1 with respect to x0 is the *other* factor."),
        ("values", [7, 6], "Those are the two outputs. The Jacobian has a row of derivatives for each."),
        ("summed", [7, 3], "That is one backward with v = ones: the rows are added. The Jacobian keeps them apart."),
        ("x0 in the sum", [[4, 0], [3, 2]], "The first output is x0² + x1: it does depend on x1."),
        ("slope of the square", [[2, 1], [3, 2]], "The slope of x0² is not constant: it depends on x0."),
    ),
    hints=(
        "Write down the gradient of each output by itself.",
        "J[i][j] = derivative of output i with respect to input j.",
        "h(a, b) = [a·b, 5a, b] at (10, 7): rows [7, 10], [5, 0], [0, 1].",
    ),
    reveal="First output: [2x0, 1]; second: [x1, x0].",
    fresh=lambda r: (
        lambda a, b: Fresh(
            f"g(x) = [x0·x1, x0] at [{a}, {b}]. What is the Jacobian?", [[b, a], [1, 0]], wrong=(([[b, 1], [a, 0]], "row = output."),)
        )
    )(r.randint(2, 5), r.randint(6, 9)),
)

EX_D = ask(
    "12.d",
    "A slip in a textbook",
    Kind.EXPLAIN,
    minutes=3,
    level=2,
    text="A text says: backward functions compute a Jacobian-vector product (JVP). Right or wrong?",
    comment='A text says: "each backward function computes a Jacobian-vector product (JVP)". Choose the letter.\n'
    '  "a" right: g is a vector and is multiplied by the Jacobian       "b" wrong: it is vᵀJ, a vector-Jacobian product\n'
    '  "c" wrong: the whole Jacobian is computed                        "d" right for scalars, wrong for tensors\nReplace None '
    "by the letter, in quotes.",
    answer="b",
    wrong=(
        ("right", "a", "On which side of J does the vector stand, and is it as long as the output or as the input?"),
        ("whole Jacobian", "c", "The Jacobian is never built: that is why backward is cheap."),
        ("scalars", "d", "For scalars both are the same number; the question is which of the two is meant."),
    ),
    hints=(
        "Is g as long as the function's output or as its input?",
        "J·u: u lives at the inputs, the result at the outputs (forward). vᵀJ: v lives at the outputs, the result at the inputs "
        "(backward).",
        "f: 3 numbers to 1000. A vector of 1000 that comes in at the output's end and leaves as 3 belongs to reverse mode.",
    ),
    reveal="b: backward receives a vector at the output and returns vᵀJ at the input. J·u is forward mode.",
    fresh=lambda r: (
        lambda n, m: Fresh(
            f"f maps {n} numbers to {m}. How many passes does the cheaper mode need for the whole Jacobian?",
            min(n, m),
            wrong=((max(n, m), "The other mode is cheaper."),),
        )
    )(r.randint(2, 9), r.randint(100, 1000)),
)

STUB_E = '''\
def per_sample_gradients(w, samples):
    """The loss of one sample (x, y) is (w*x - y)². Return a list: each sample's own gradient with respect to w."""
    ...
'''

SOLUTION_E = """\
def per_sample_gradients(w, samples):
    return [2 * (w * x - y) * x for x, y in samples]
"""

SAMPLES = [[1.0, 2.0], [2.0, 3.0], [-1.0, 0.5]]


def _per_sample(w, samples):
    """Central differences: exact for a parabola."""
    return [((w + 1) * x - y) ** 2 / 2 - ((w - 1) * x - y) ** 2 / 2 for x, y in samples]


EX_E = Exercise(
    id="12.e",
    title="A gradient for each sample",
    kind=Kind.FILL_IN,
    points=2,
    minutes=6,
    difficulty=2,
    question="backward gives the gradient of a sum. Privacy and diagnosis need one gradient per sample: "
    "write it for a line through the origin.",
    entry="per_sample_gradients",
    stub=STUB_E,
    solution=SOLUTION_E,
    probes=(
        Probe(
            "three samples",
            (1.5, SAMPLES),
            _per_sample,
            rtol=1e-9,
            draw=lambda r: (round(r.uniform(-2, 2), 2), [[round(r.uniform(-3, 3), 2), round(r.uniform(-3, 3), 2)] for _ in range(3)]),
        ),
        Probe(
            "a perfect fit",
            (2.0, [[1.0, 2.0], [3.0, 6.0]]),
            [0.0, 0.0],
            draw=lambda r: (lambda w: (w, [[x, w * x] for x in (2.0, -3.0)]))(float(r.randint(2, 9))),
        ),
        Probe("one sample", (-1.0, [[4.0, 2.0]]), _per_sample, rtol=1e-9, draw=lambda r: (-1.5, [[float(r.randint(2, 9)), 1.0]])),
    ),
    bank=(
        Wrong(
            "summed",
            "def per_sample_gradients(w, samples):\n    return sum(2 * (w * x - y) * x for x, y in samples)\n",
            "That is the gradient of the summed loss, one number. Keep the samples apart: a list.",
            on=("three samples",),
        ),
        Wrong(
            "mean",
            "def per_sample_gradients(w, samples):\n    return [2 * (w * x - y) * x / len(samples) for x, y in samples]\n",
            "Each sample's own loss has no division by the number of samples.",
            on=("three samples",),
        ),
        Wrong(
            "inside forgotten",
            SOLUTION_E.replace(" * x for", " for"),
            "w is multiplied by x before the square: the inside brings a factor.",
            on=("three samples",),
        ),
        Wrong("factor two", SOLUTION_E.replace("2 * (", "("), "The square brings a factor.", on=("three samples",)),
        Wrong(
            "losses",
            "def per_sample_gradients(w, samples):\n    return [(w * x - y) ** 2 for x, y in samples]\n",
            "Those are the losses. Their derivatives with respect to w are wanted.",
            on=("three samples",),
        ),
        Wrong(
            "sign",
            SOLUTION_E.replace("w * x - y", "y - w * x"),
            "The sign is reversed: which way does the loss move when w grows?",
            on=("three samples",),
        ),
        Wrong(
            "a dict",
            "def per_sample_gradients(w, samples):\n    return {x: 2 * (w * x - y) * x for x, y in samples}\n",
            "A list is asked, in the order of the samples. A dict would lose a sample whose x occurs twice.",
            when=lambda seen: isinstance(seen.value("three samples"), dict),
        ),
        Wrong(
            "w for x",
            SOLUTION_E.replace(" * x for", " * w for"),
            "The derivative of w·x with respect to w is the other factor, x.",
            on=("three samples",),
        ),
    ),
    hints=Hints(
        "Differentiate one sample's loss by hand.",
        "d/dw (w·x - y)² = 2 · (w·x - y) · d(w·x - y)/dw.",
        "For the loss |w·x - y| it would be sign(w·x - y)·x, one number for each sample.",
    ),
    reveal="2 (wx - y) x for each sample. vmap(grad(loss)) does this for any loss in one sweep.",
    fresh=lambda r: (
        lambda w, x: Fresh(
            f"loss = (w·x)², w = {w}, x = {x}. What is this sample's gradient?",
            2 * w * x * x,
            wrong=((2 * w * x, "The inside brings a factor."),),
        )
    )(r.randint(2, 5), r.randint(2, 5)),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D, EX_E)
