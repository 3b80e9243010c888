"""Chapter 12, forward mode and reverse mode: its exercises."""

from __future__ import annotations

import math
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

# ---- 12.a: one direction ------------------------------------------------------------------------------------------------------------

X, Y = [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]
COS70 = math.cos(70.0)

EX_A = ask(
    "12.a",
    "A directional derivative",
    Kind.PREDICT,
    points=0,
    minutes=5,
    level=2,
    text="z = sin(x · y) with x = [1, 2, 3, 4] and y = [5, 6, 7, 8], so x · y = 70 and cos(70) = 0.6333. Every x moves at the speed 0.1 "
    "and every y at the speed 0.2. How fast does z move? Give three decimals.",
    comment="z = sin(x · y) with x = [1, 2, 3, 4] and y = [5, 6, 7, 8].\nSo x · y = 70, and cos(70) = 0.6333.\n"
    "Every x moves at the speed 0.1, every y at the speed 0.2. How fast does z move? Give three decimals.\nReplace None by a number.",
    answer=COS70 * (0.1 * sum(Y) + 0.2 * sum(X)),
    rtol=1e-3,
    wrong=(
        (
            "without the cosine",
            4.6,
            "That is how fast x · y moves. Multiply by cos(70), the derivative of the sine there.",
        ),
        ("the value", 0.7739, "That is z itself. How fast does it move?"),
        ("the cosine alone", 0.6333, "That is the outer factor alone. How fast does x · y move inside?"),
        ("x only", 1.6466, "Only the x moved. The y move as well, at the speed 0.2."),
        ("y only", 1.2666, "Only the y moved. The x move as well, at the speed 0.1."),
        (
            "x only, without the cosine",
            2.6,
            "That is the part of x in the speed of x · y. The y move as well, and the sine comes after.",
        ),
        ("speeds exchanged", 3.9265, "0.1 belongs to x, whose derivatives are the y; 0.2 belongs to y."),
        ("speeds only", 0.3, "That adds up the two speeds. How fast does x · y change because of them?"),
        (
            "speeds exchanged, without the cosine",
            6.2,
            "0.1 belongs to x, whose derivatives are the y; 0.2 belongs to y. Then comes the sine.",
        ),
        (
            "one sum for both",
            1.9,
            "Both speeds were multiplied by the sum of x. The speed of x belongs to the y, and the speed of y to the x.",
        ),
        (
            "one sum for both, without the cosine",
            3.0,
            "Both speeds were multiplied by the sum of x. The speed of x belongs to the y, and the speed of y to the x.",
        ),
        (
            "one entry of y",
            1.5,
            "Both speeds were multiplied by the first y. All four pairs contribute, and in each of them both factors move.",
        ),
        (
            "one pair",
            0.7,
            "That is how fast one pair of entries moves. All four contribute to x · y, and the sine comes after.",
        ),
        (
            "speeds times both",
            2.0,
            "That is the part of y in the speed of x · y. The x move as well, and the sine comes after.",
        ),
        ("one entry", 0.4433, "That is one pair of entries. All four contribute to x · y."),
        ("sign", -2.913, "cos(70) is positive, and so is the speed of x · y."),
    ),
    hints=(
        "How fast does x · y move when every x grows at the speed 0.1 and every y at 0.2?",
        "Push the speeds through the program, step by step: d(x · y) = dx · y + x · dy, and then times cos(x · y).",
        "z = exp(a · b) with a = 1, b = 2 and speeds 1 and 10: d(a·b) = 1·2 + 1·10 = 12, and z moves at 12·exp(2) = 88.67.",
    ),
    reveal="d(x · y) = 0.1 · 26 + 0.2 · 10 = 4.6, and times 0.6333 that is 2.913.",
    fresh=lambda r: (
        lambda u: Fresh(
            f"The same point, with the speed {u} for every x and 0 for every y. How fast does z move?",
            COS70 * 26 * u,
            wrong=((26 * u, "Multiply by cos(70)."),),
        )
    )(r.choice([0.3, 0.4, 0.5])),
)

# ---- 12.b: dual numbers -------------------------------------------------------------------------------------------------------------

STUB_B = '''\
from math import cos, exp, sin


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

    def __truediv__(self, other):
        ...

    def __pow__(self, n):
        ...  # n is a plain number

    def sin(self):
        ...

    def exp(self):
        ...

    # still to come: -d, d - 1, 1 - d, 1 + d, 2 * d, 2 / d, and the comparisons < and >
'''

SOLUTION_B = '''\
from math import cos, exp, sin


def lift(x):
    return x if isinstance(x, Dual) else Dual(x)


class Dual:
    """A number that carries its derivative along: value + derivative · ε, where ε² = 0."""

    def __init__(self, value, derivative=0.0):
        self.value = value
        self.derivative = derivative

    def __add__(self, other):
        other = lift(other)
        return Dual(self.value + other.value, self.derivative + other.derivative)

    def __mul__(self, other):
        other = lift(other)
        return Dual(self.value * other.value, self.derivative * other.value + self.value * other.derivative)

    def __truediv__(self, other):
        other = lift(other)
        top = self.derivative * other.value - self.value * other.derivative
        return Dual(self.value / other.value, top / other.value**2)

    def __pow__(self, n):
        return Dual(self.value**n, n * self.value ** (n - 1) * self.derivative)

    def sin(self):
        return Dual(sin(self.value), cos(self.value) * self.derivative)

    def exp(self):
        return Dual(exp(self.value), exp(self.value) * self.derivative)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + other * -1

    def __rsub__(self, other):
        return -self + other

    def __rtruediv__(self, other):
        return lift(other) / self

    def __lt__(self, other):
        return self.value < lift(other).value

    def __gt__(self, other):
        return self.value > lift(other).value
'''

_b = partial(but, SOLUTION_B)


def _dual(expression, want, weight=1.0):
    return Probe(expression, (expression, 1.5), want, drivers.dual, weight, rtol=1e-11, parts=("value", "derivative"),
                 draw=lambda r: (expression, round(r.uniform(0.6, 1.9), 2)))  # fmt: skip


def _loop(x, steps):
    """The program of drivers.dual_loop, its derivative by hand in each branch."""
    y, dy = x, 1.0
    for _ in range(steps):
        if y > 2:
            y, dy = y / 3 - 1, dy / 3
        elif y < 1:
            y, dy = y * y + x, 2 * y * dy + 1
        else:
            y, dy = 3 - x * y, -y - x * dy
    return [y, dy]


EX_B = Exercise(
    id="12.b",
    title="Dual numbers",
    kind=Kind.BUILD,
    points=3,
    minutes=12,
    difficulty=2,
    question="Complete Dual, so that a program with a loop and an `if` in it runs on it and delivers its derivative.",
    entry="Dual",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        _dual("x + x", lambda n, x: [2 * x, 2.0], 0.5),
        _dual("x * x * x", lambda n, x: [x**3, 3 * x * x]),
        _dual("(x + 1) * x", lambda n, x: [x * x + x, 2 * x + 1], 0.5),  # an operation must leave its operands alone
        _dual("x * 3 + 1", lambda n, x: [3 * x + 1, 3.0], 0.5),
        _dual("1 + 3 * x", lambda n, x: [1 + 3 * x, 3.0], 0.5),
        _dual("(x * x - x) - 4", lambda n, x: [x * x - x - 4, 2 * x - 1]),
        _dual("1 - x * x", lambda n, x: [1 - x * x, -2 * x]),
        _dual("-x", lambda n, x: [-x, -1.0], 0.5),
        _dual("x / (x * x + 1)", lambda n, x: [x / (x * x + 1), (1 - x * x) / (x * x + 1) ** 2]),
        _dual("2 / x", lambda n, x: [2 / x, -2 / x**2]),
        _dual("x / 4", lambda n, x: [x / 4, 0.25], 0.5),
        _dual("(2 * x) ** 3", lambda n, x: [8 * x**3, 24 * x * x]),
        _dual("sin(x * x)", lambda n, x: [math.sin(x * x), 2 * x * math.cos(x * x)]),
        _dual("exp(2 * x)", lambda n, x: [math.exp(2 * x), 2 * math.exp(2 * x)]),
        Probe("comparisons", (2.0, 3.0), lambda x, y: [x < y, x > y, y < x, y > x], drivers.dual_side,
              draw=lambda r: (float(r.randint(1, 4)), float(r.randint(5, 9)))),
        Probe("a loop with an if", (0.7, 6), _loop, drivers.dual_loop, 2.0, rtol=1e-11, parts=("value", "derivative"),
              draw=lambda r: (round(r.uniform(0.5, 0.95), 2), 6)),
    ),
    bank=(
        Wrong("product of derivatives", _b("self.derivative * other.value + self.value * other.derivative",
                                           "self.derivative * other.derivative"),
              "That is the coefficient of ε², which is 0. Multiply (a + a'ε)(b + b'ε) out, and keep the factor of ε.",
              on=("x * x * x",)),
        Wrong("half of the product rule", _b("self.derivative * other.value + self.value * other.derivative",
                                             "self.derivative * other.value"),
              "One of the two terms of the product rule is missing: the other factor moves as well.", on=("x * x * x",)),
        Wrong("quotient with a plus", _b("other.value - self.value * other.derivative", "other.value + self.value * other.derivative"),
              "In the quotient rule the second term is subtracted: when the denominator grows, the quotient shrinks.",
              on=("x / (x * x + 1)", "2 / x")),
        Wrong("denominator not squared", _b("top / other.value**2", "top / other.value"),
              "In the derivative of a quotient, the denominator is squared.", on=("x / (x * x + 1)", "2 / x")),
        Wrong("a constant that moves", _b("else Dual(x)", "else Dual(x, 1.0)"),
              "A plain number does not move when x moves: its derivative is 0.", on=("x * 3 + 1", "x * x * x")),
        Wrong("constants not lifted", _b("x if isinstance(x, Dual) else Dual(x)", "x"),
              "A plain number has no .value. Make a Dual of it first, with derivative 0.",
              when=lambda seen: seen.error("x * 3 + 1") == "AttributeError" and not seen.error("x * x * x")),
        Wrong("no reflected forms", _b("    __radd__ = __add__\n    __rmul__ = __mul__\n", ""),
              "In 3 * x Python asks the int first, which knows nothing about Dual. Then it asks for Dual.__rmul__ (and __radd__).",
              when=lambda seen: seen.error("1 + 3 * x") == "TypeError" and not seen.error("x * 3 + 1")),
        Wrong("difference turned round", _b("return -self + other", "return self + other * -1"),
              "1 - d calls d.__rsub__(1), where self is what is subtracted. You have d - 1.", on=("1 - x * x",)),
        Wrong("quotient turned round", _b("lift(other) / self", "self / lift(other)"),
              "2 / d calls d.__rtruediv__(2), where self is the denominator.", on=("2 / x", "x / 4")),
        Wrong("inside of the sine forgotten", _b("cos(self.value) * self", "cos(self.value) * 1 + 0 * self"),
              "The inside moves at its own speed: multiply the cosine by its derivative.", on=("sin(x * x)",)),
        Wrong("inside of the exponential forgotten", _b("exp(self.value) * self.derivative", "exp(self.value)"),
              "The inside moves at its own speed: multiply by its derivative.", on=("exp(2 * x)",)),
        Wrong("inside of the power forgotten", _b("(n - 1) * self.derivative", "(n - 1)"),
              "The inside of the power moves at its own speed: multiply by its derivative.", on=("(2 * x) ** 3",)),
        Wrong("sine's sign", _b("cos(self.value) * self", "-cos(self.value) * self"),
              "The derivative of sin is cos, with a plus sign.", on=("sin(x * x)",)),
        Wrong("derivatives compared", _b("self.value < lift(other).value", "self.derivative < lift(other).derivative").replace(
              "self.value > lift(other).value", "self.derivative > lift(other).derivative"),
              "A comparison decides which branch the program takes, and that depends on the values alone.", on=("comparisons",)),
        Wrong("no comparisons", _b("__lt__", "less").replace("__gt__", "greater"),
              "A program with an `if` compares numbers: Dual needs __lt__ and __gt__.",
              when=lambda seen: seen.error("comparisons") == "TypeError" and not seen.error("2 / x")),
        Wrong("an operation changes its operand", _b("        return Dual(self.value + other.value, self.derivative + other.derivative)",
              "        self.value += other.value\n        self.derivative += other.derivative\n        return self"),
              "An operation makes a new Dual and leaves its operands as they are: the same x may be used again further on.",
              on=("(x + 1) * x",)),
        Wrong("sine returns a number", _b("return Dual(sin(self.value), cos(self.value) * self.derivative)", "return sin(self.value)"),
              "sin returns a plain number, so the derivative is lost. Return a Dual with both.",
              when=lambda seen: seen.error("sin(x * x)") == "AttributeError" and not seen.error("x * x * x")),
    ),
    hints=Hints(
        "Multiply (a + a'ε)(b + b'ε) out, and drop ε².",
        "Value and derivative travel together: each operation computes its result and, by its own rule, the derivative of the result. The "
        "reflected forms follow from the others, and a comparison looks at the values only.",
        "The logarithm would be Dual(log(self.value), self.derivative / self.value): the value, and the local derivative times the speed "
        "of the inside.",
    ),
    reveal="(a + a'ε)(b + b'ε) = ab + (a'b + ab')ε. No graph is kept, because the derivative is computed together with the value.",
    fresh=lambda r: (
        lambda a, da, b: Fresh(
            f"Dual({a}, {da}) * Dual({b}, 1). What is the derivative?",
            da * b + a,
            wrong=((da, "The product rule has two terms."), (da * b, "The second term is missing.")),
        )
    )(r.randint(2, 9), r.randint(2, 5), r.randint(2, 9)),
)  # fmt: skip

# ---- 12.c: the Jacobian, the cheaper way --------------------------------------------------------------------------------------------

STUB_C = '''\
import minigrad as torch


def jacobian(f, x):
    """The Jacobian of f at x, in the cheaper mode: one row for each output, one column for each input.

    f takes a tensor with n entries and returns one with m entries. Use torch.func.jvp or
    torch.func.vjp, and torch.func.vmap to run all directions at once. With m = n take reverse mode.
    """
    ...
'''

SOLUTION_C = """\
import minigrad as torch


def jacobian(f, x):
    n, m = len(x), len(f(x))
    if m > n:
        push = lambda u: torch.func.jvp(f, (x,), (u,))[1]
        return torch.func.vmap(push)(torch.eye(n, dtype=x.dtype)).T
    _, pull = torch.func.vjp(f, x)
    (rows,) = torch.func.vmap(pull)(torch.eye(m, dtype=x.dtype))
    return rows
"""

_c = partial(but, SOLUTION_C)
WRONG_SIZE = ("The identity has the wrong size. pull takes a v with one number for each output, so it needs m rows; jvp takes a u with "
              "one number for each input, so it needs n.")  # fmt: skip
ALWAYS_REVERSE = _c("    if m > n:\n        push = lambda u: torch.func.jvp(f, (x,), (u,))[1]\n"
                    "        return torch.func.vmap(push)(torch.eye(n, dtype=x.dtype)).T\n", "")  # fmt: skip


def _J(name, x):
    """By hand."""
    a, b, *c = x
    return {
        "three to seven": lambda: {"J": [*([math.sin(b + k), a * math.cos(b + k), 0.0] for k in range(6)), [0.0, 0.0, 1.0]],
                                   "mode": "forward"},
        "four to two": lambda: {"J": [[b, a, 0.0, 1.0], [c[0] ** 2, 0.0, 2 * a * c[0], 0.0]], "mode": "reverse"},
        "five to one": lambda: {"J": [[3 * v * v for v in x]], "mode": "reverse"},
        "two to two": lambda: {"J": [[b, a], [2 * a, 0.0]], "mode": "reverse"},
        "two to three": lambda: {"J": [[b, a], [2 * a, 0.0], [0.0, 3.0]], "mode": "forward"},
    }[name]()  # fmt: skip


def _jacobian(name, x, weight=1.0):
    def draw(r):
        return name, [float(k * r.choice([-1, 1])) for k in r.sample(range(2, 9), len(x))]

    return Probe(name, (name, x), _J, drivers.jacobian_by, weight, draw=draw)


EX_C = Exercise(
    id="12.c",
    title="The Jacobian, the cheaper way",
    kind=Kind.BUILD,
    points=2,
    minutes=8,
    difficulty=2,
    question="Build the Jacobian from jvp, vjp and vmap, in the mode that needs fewer passes.",
    entry="jacobian",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        _jacobian("three to seven", [2.0, 0.5, -3.0]),
        _jacobian("four to two", [2.0, 3.0, 5.0, 7.0]),
        _jacobian("five to one", [1.0, 2.0, 3.0, 4.0, 5.0]),
        _jacobian("two to three", [2.0, 7.0]),
        _jacobian("two to two", [2.0, 7.0], 0.5),
    ),
    bank=(
        Wrong("columns as rows", _c("dtype=x.dtype)).T\n", "dtype=x.dtype))\n"),
              "Each jvp gives a column of J, and vmap has put the columns down as rows. Transpose the result.",
              on=("three to seven", "two to three")),
        Wrong("rows as columns", _c("    return rows\n", "    return rows.T\n"),
              "Each pull gives a row of J, so what vmap returns is J already.", on=("four to two", "five to one")),
        Wrong("the dearer mode", _c("if m > n:", "if m < n:"),
              "That takes the dearer mode each time. A forward pass gives a column, a reverse pass a row: how many are there of each?",
              on=("three to seven", "four to two")),
        Wrong("always reverse mode", ALWAYS_REVERSE,
              "The numbers are right. But with more outputs than inputs, forward mode needs fewer passes: one for each input.",
              on=("three to seven", "two to three")),
        Wrong("always forward mode", _c("if m > n:", "if True:"),
              "The numbers are right. But with fewer outputs than inputs, reverse mode needs fewer passes: one for each output.",
              on=("four to two", "five to one")),
        Wrong("forward on ties", _c("if m > n:", "if m >= n:"),
              "The numbers are right. Where both modes need as many passes, reverse mode is asked for.",
              on=("two to two",)),
        Wrong("a tuple", _c("(rows,) = ", "rows = ").replace("return rows", "return torch.stack(list(rows))"),
              "pull returns a tuple with a gradient for each input of f, here with a single one. Take it out of the tuple.",
              on=("four to two",)),
        Wrong("the tuple itself", _c("(rows,) = ", "rows = "),
              "pull returns a tuple with a gradient for each input of f, here with a single one. Take it out of the tuple.",
              when=lambda seen: "'tuple' object" in seen.message("four to two")),
        Wrong("the library's Jacobian", "import minigrad as torch\n\n\ndef jacobian(f, x):\n    return torch.func.jacrev(f)(x)\n",
              "jacrev and jacfwd are what you build here, so they are switched off. A line of section 4 shows how vmap builds one of them.",
              when=lambda seen: "built from jvp, vjp and vmap" in seen.message("four to two") + seen.message("three to seven")),
        Wrong("an identity of the wrong size for vjp", _c("torch.eye(m,", "torch.eye(n,"), WRONG_SIZE,
              when=lambda seen: "grad_output" in seen.message("four to two")),
        Wrong("an identity of the wrong size for jvp", _c("torch.eye(n,", "torch.eye(m,"), WRONG_SIZE,
              when=lambda seen: "forward gradient" in seen.message("three to seven")),
        Wrong("value and tangent together", _c("(u,))[1]", "(u,))"),
              "jvp returns the value and the tangent. Take the tangent inside the function that vmap runs.",
              when=lambda seen: "'tuple' object" in seen.message("three to seven")),
        Wrong("point and direction exchanged", _c("(x,), (u,)", "(u,), (x,)"),
              "jvp takes the point first and the direction second. Yours differentiates at the rows of the identity.",
              on=("three to seven", "two to three")),
        Wrong("all outputs in every row", _c("torch.eye(m, dtype=x.dtype)", "torch.ones(m, m, dtype=x.dtype)"),
              "With v = ones you get the sum of all rows. Each row by itself needs a v with a single 1.", on=("four to two",)),
        Wrong("one direction", _c("torch.func.vmap(pull)(torch.eye(m, dtype=x.dtype))", "pull(torch.ones(m, dtype=x.dtype))"),
              "With v = ones you get the sum of all rows. Each row by itself needs a v with a single 1.", on=("four to two",)),
        Wrong("the value", _c("(u,))[1]", "(u,))[0]"),
              "jvp returns the value and the tangent. You took the value.", on=("three to seven", "two to three")),
    ),
    hints=Hints(
        "Which of the two modes gives a whole column in one pass, and how many columns are there?",
        "Columns: vmap a function that takes u and returns the tangent of jvp, over the rows of torch.eye(n), and transpose. Rows: vmap "
        "the function that vjp returns, over torch.eye(m). Compare m and n first.",
        "A function from 2 numbers to 50: two forward passes, with u = [1, 0] and [0, 1], give two columns of 50 numbers. Reverse mode "
        "would need 50 passes.",
    ),
    reveal="Forward mode for tall Jacobians, reverse mode for wide ones. jacfwd and jacrev of torch.func are these two branches.",
    fresh=lambda r: (
        lambda n, m: Fresh(
            f"f maps {n} numbers to {m}. How many passes does the cheaper mode need for the whole Jacobian?",
            min(n, m),
            wrong=((max(n, m), "The other mode is cheaper."),),
        )
    )(r.randint(2, 9), r.randint(100, 1000)),
)  # fmt: skip

# ---- 12.d: clip each sample's gradient ----------------------------------------------------------------------------------------------

STUB_D = '''\
import minigrad as torch


def clipped_gradient(model, inputs, targets, most):
    """A dict from each parameter's name to the sum of all samples' clipped gradients.

    The loss of one sample is ((model(x) - y)**2).sum(). If the norm of a sample's gradient, taken over
    all parameters together, is larger than `most`, that gradient is scaled down to this norm.
    """
    ...
'''

SOLUTION_D = """\
import minigrad as torch


def clipped_gradient(model, inputs, targets, most):
    weights = {name: p.detach() for name, p in model.named_parameters()}

    def loss(weights, x, y):
        return ((torch.func.functional_call(model, weights, (x,)) - y) ** 2).sum()

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(weights, inputs, targets)
    norms = sum((g.flatten(1) ** 2).sum(1) for g in each.values()) ** 0.5
    factors = (most / norms).clamp(max=1)
    return {name: torch.tensordot(factors, g, dims=1) for name, g in each.items()}
"""

_d = partial(but, SOLUTION_D)


def _one_by_one(inputs, targets):
    """(norm, gradients) of each sample: the same network in plain Python."""

    def numbers(count, k):
        return [math.sin(0.7 * i + k) for i in range(count)]

    w, b, v, c = numbers(6, 0), numbers(3, 1), numbers(6, 2), numbers(2, 3)
    for (p, q), wanted in zip(inputs, targets, strict=True):
        h = [math.tanh(w[2 * i] * p + w[2 * i + 1] * q + b[i]) for i in range(3)]
        g = [2 * (sum(v[3 * k + i] * h[i] for i in range(3)) + c[k] - y) for k, y in enumerate(wanted)]
        back = [sum(g[k] * v[3 * k + i] for k in range(2)) * (1 - h[i] * h[i]) for i in range(3)]
        grads = {
            "0.weight": [k * z for k in back for z in (p, q)],
            "0.bias": back,
            "2.weight": [gk * hi for gk in g for hi in h],
            "2.bias": g,
        }
        yield math.sqrt(sum(k * k for part in grads.values() for k in part)), grads


def _clip_by_hand(inputs, targets, most):
    total = {"0.weight": [0.0] * 6, "0.bias": [0.0] * 3, "2.weight": [0.0] * 6, "2.bias": [0.0] * 2}
    for norm, grads in _one_by_one(inputs, targets):
        for name, part in grads.items():
            total[name] = [t + min(1.0, most / norm) * k for t, k in zip(total[name], part, strict=True)]
    first, last = total["0.weight"], total["2.weight"]
    return total | {"0.weight": [first[:2], first[2:4], first[4:]], "2.weight": [last[:3], last[3:]]}


def _samples(r):
    def numbers(*ends):
        return [round(r.uniform(*end), 2) for end in ends]

    return [numbers((-2, 2), (-2, 2)) for _ in range(4)], [numbers(*ends) for ends in (((3, 6), (-1, 1)), ((-6, -3), (1, 2)),
                                                                                       ((0, 1), (0, 1)), ((2, 5), (-2, -1)))]  # fmt: skip


def _two_of_four(inputs, targets):
    """A limit that two of the four norms exceed."""
    norms = sorted(norm for norm, _ in _one_by_one(inputs, targets))
    return inputs, targets, round((norms[1] + norms[2]) / 2, 3)


SAMPLES = [[1.0, 0.5], [-1.0, 2.0], [0.3, -0.7], [1.5, 1.2]], [[4.0, 1.0], [-3.5, 1.5], [0.4, 0.2], [2.5, -1.0]]
SOME, ALL, NONE = "some are clipped", "all are clipped", "none is clipped"


def _clips(name, args, draw, weight=1.0):
    """The tolerance is for clip_grad_norm_, which divides by the norm and 1e-6 more."""
    return Probe(name, args, _clip_by_hand, drivers.clipped, weight, rtol=1e-4, atol=1e-6, draw=draw)


EX_D = Exercise(
    id="12.d",
    title="No sample may pull too hard",
    kind=Kind.OPTIONAL,
    points=3,
    minutes=10,
    difficulty=3,
    question="Clip the gradient of each sample by itself, then add: the first half of private training.",
    entry="clipped_gradient",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        _clips(SOME, _two_of_four(*SAMPLES), lambda r: _two_of_four(*_samples(r)), 2.0),
        _clips(ALL, (*SAMPLES, 0.01), lambda r: (*_samples(r), 0.01)),
        _clips(NONE, (*SAMPLES, 1000.0), lambda r: (*_samples(r), 1000.0)),
    ),
    bank=(
        Wrong("the weights are mapped", _d("in_dims=(None, 0, 0)", "in_dims=0"),
              "vmap looks for a dimension of samples in the weights, and there is none. in_dims names one entry for each argument: None "
              "for the weights, which all samples share.", when=lambda seen: "mapped dimension" in seen.message(NONE)),
        Wrong("the gradients are not added", _d("torch.tensordot(factors, g, dims=1)", "(factors * g.movedim(0, -1)).movedim(-1, 0)"),
              "The gradients of the samples are still apart, in the first dimension. Add them up.",
              when=lambda seen: isinstance(seen.value(NONE)["2.bias"][0], list)),
        Wrong("a loss that is a mean", _d("** 2).sum()\n", "** 2).mean()\n"),
              "The loss of a sample is the sum of the squares over its outputs, and yours is their mean.", on=(NONE,)),
        Wrong("one norm for the batch", _d("sum((g.flatten(1) ** 2).sum(1) for g in each.values()) ** 0.5",
                                           "(sum((g ** 2).sum() for g in each.values()) ** 0.5).expand(len(inputs))"),
              "Your norm is taken over all samples together. Each sample has a norm of its own: leave out the first dimension when you add "
              "the squares up.", on=(SOME, ALL)),
        Wrong("one factor for all samples", _d("torch.tensordot(factors, g, dims=1)", "(factors.mean() * g).sum(0)"),
              "Every sample has a factor of its own. Scale each gradient by it before the samples are added up.", on=(SOME, ALL)),
        Wrong("the first sample's factor", _d("torch.tensordot(factors, g, dims=1)", "(factors[0] * g).sum(0)"),
              "Every sample has a factor of its own. Scale each gradient by it before the samples are added up.", on=(SOME, ALL)),
        Wrong("a norm for each parameter", _d("(g.flatten(1) ** 2).sum(1) for g in each.values()) ** 0.5",
                                              "(g.flatten(1) ** 2).sum(1) ** 0.5 for g in each.values())"),
              "The norms of the parameters are added. One norm over all of them is the root of the sum of all squares.",
              on=(ALL, SOME)),
        Wrong("each entry is clipped", _d("torch.tensordot(factors, g, dims=1)", "g.clamp(-most, most).sum(0)"),
              "Each entry is cut off by itself, which turns the gradient. Clipping by the norm scales the whole gradient of a sample.",
              on=(ALL, SOME)),
        Wrong("the sum is clipped",
              _d("    norms = ", "    each = {name: g.sum(0, keepdim=True) for name, g in each.items()}\n    norms = "),
              "You clip the gradient of the whole batch. One sample can still outweigh all the others in it: clip each one, then add.",
              on=(SOME, ALL)),
        Wrong("a norm for each tensor", "import minigrad as torch\n\n\ndef clipped_gradient(model, inputs, targets, most):\n"
              "    weights = {name: p.detach() for name, p in model.named_parameters()}\n\n    def loss(weights, x, y):\n"
              "        return ((torch.func.functional_call(model, weights, (x,)) - y) ** 2).sum()\n\n"
              "    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(weights, inputs, targets)\n"
              "    return {name: torch.tensordot((most / (g.flatten(1) ** 2).sum(1) ** 0.5).clamp(max=1), g, dims=1)\n"
              "            for name, g in each.items()}\n",
              "Every tensor got a norm of its own. A sample's gradient is one long vector over all parameters: it has one norm.",
              on=(SOME, ALL)),
        Wrong("never clipped", _d("(most / norms).clamp(max=1)", "torch.ones_like(norms)"),
              "Nothing is clipped here: these are the plain gradients, added up.", on=(SOME, NONE)),
        Wrong("always scaled", _d("(most / norms).clamp(max=1)", "most / norms"),
              "Small gradients were stretched to the limit. Only those that are too long are scaled.",
              on=(SOME, NONE)),
        Wrong("limited at the wrong end", _d("clamp(max=1)", "clamp(min=1)"),
              "Long gradients keep their length here, and short ones are stretched. Limit the factor from above.",
              on=(SOME, ALL, NONE)),
        Wrong("mean", _d("torch.tensordot(factors, g, dims=1)", "torch.tensordot(factors, g, dims=1) / len(inputs)"),
              "That is the mean over the samples. The sum is asked for.", on=(SOME, NONE)),
        Wrong("no root", _d(" ** 0.5\n", "\n"),
              "The norm is the root of the sum of squares, and the root is missing.", on=(SOME, ALL)),
    ),
    hints=Hints(
        "First get a gradient for each sample: vmap of grad, with the weights the same for all of them.",
        "functional_call(model, weights, (x,)) runs the model with the weights of a dict. Square and add each sample's gradients over all "
        "tensors, take the root, and scale with min(1, most / norm).",
        "Two samples with norms 3 and 12, and most = 6: the factors are 1 and 0.5. So the first gradient stays, and the second is halved.",
    ),
    reveal="Because every sample's gradient has at most the norm `most`, changing one person's data changes the sum by a bounded amount. "
    "Private training then adds noise of a size that hides this.",
    fresh=lambda r: (
        lambda norm: Fresh(
            f"A sample's gradient has norm {norm}, and most is 2. By which factor is it multiplied?",
            min(1.0, 2 / norm),
            wrong=((norm / 2, "The other way round."), (2 / norm, "Short gradients stay as they are.")),
        )
    )(r.choice([0.5, 4, 5, 8])),
)  # fmt: skip

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
