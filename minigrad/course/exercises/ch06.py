"""Chapter 06, the rule book: what a rule keeps, which tests catch a wrong one, new operations for the learner's engine, and gradcheck."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, about, ask, but

# ---- 06.a: what must a rule keep? -----------------------------------------------------------------------------------------------

EX_A = ask(
    "06.a",
    "What must a rule keep?",
    Kind.PREDICT,
    points=0,
    minutes=4,
    level=2,
    text="What does each backward rule have to keep from the forward pass, by the criterion above?",
    comment='What does each backward rule have to keep, by the criterion above?\n"output", "input", "both inputs" or "nothing"',
    answer={"exp": "output", "log": "input", "tanh": "output", "relu": "output", "a + b": "nothing", "a * b": "both inputs"},
    wrong=(
        ("exp keeps its input", {"exp": "input"}, "exp: from the input, the exponential would have to be computed a second time."),
        ("exp keeps everything", {"exp": "both"}, "exp: one of the two is enough. Which of them would be kept anyway?"),
        ("exp keeps nothing", {"exp": "nothing"}, "exp: its derivative depends on where you are, so something must be kept."),
        ("log keeps its output", {"log": "output"}, "log: its derivative divides by a number. Is that the one that went in, or the one "
         "that came out?"),
        ("log keeps nothing", {"log": "nothing"}, "log: its derivative depends on where you are, so something must be kept."),
        ("tanh keeps its input", {"tanh": "input"}, "tanh: write e = exp(2x) and tanh x = (e - 1)/(e + 1). Can its derivative be "
         "written with tanh x alone, as that of the sigmoid with σ?"),
        ("tanh keeps nothing", {"tanh": "nothing"}, "tanh: it is steep in the middle and flat at both ends, so something must be kept."),
        ("relu keeps its input", {"relu": "input"}, "relu: that works, but look at the output. Can you tell from it where the input was "
         "positive?"),
        ("relu keeps nothing", {"relu": "nothing"}, "relu: it has to know where the input was below zero."),
        ("sums keep their inputs", {"a + b": "both inputs"}, "a + b: write its two derivatives down. Does a letter occur in them?"),
        ("products keep the output", {"a * b": "output"}, "a * b: each input needs the other factor, and the product alone does not "
         "tell it."),
        ("products keep nothing", {"a * b": "nothing"}, "a * b: what multiplies a is b, so b is needed later."),
        ("products keep one input", {"a * b": "input"}, "a * b: the gradient of each factor needs the other one. How many is that?"),
    ),
    hints=(
        "Write each derivative down. Which letters occur in it?",
        "If a derivative can be written with the result alone, keep the result: the next operation often keeps it as well.",
        "The square root has the derivative 1/(2√x), which is 1/(2 · out), so it keeps its output. a - b keeps nothing.",
    ),
    reveal="exp, tanh and relu need only what came out of them, log what went in, a product both factors, and a sum nothing at all.",
    fresh=lambda r: (
        lambda pair: Fresh(
            f'What does {pair[0]} keep, by the same criterion: "input", "output", "both inputs" or "nothing"?',
            pair[1],
            wrong=(("both inputs" if pair[1] != "both inputs" else "nothing", "Write its derivatives down: which letters occur?"),),
        )
    )(r.choice([("1/x", "output"), ("x³", "input"), ("sin x", "input"), ("a - b", "nothing"), ("a / b", "both inputs")])),
)  # fmt: skip

# ---- 06.a2: four rules, one test ------------------------------------------------------------------------------------------------

EX_A2 = ask(
    "06.a2",
    "Four rules, one test",
    Kind.PREDICT,
    points=0,
    minutes=2,
    level=2,
    text="y = √x at x = 1, one backward pass, each rule in turn. How many of the four leave the right gradient in x?",
    comment="y = √x at x = 1, one backward pass, with each rule in turn.\nHow many of the four leave the right gradient, 0.5, in x.grad?",
    answer=4,
    wrong=(
        (
            "only the right one",
            1,
            "Put the numbers in: here out is 1 and x is 1, and y is the root of the graph, so g is 1 as well.",
        ),
        (
            "the overwriting one fails",
            3,
            "= and += differ only where something is there already. What was in x.grad before?",
        ),
        ("the one with x fails", 2, "Put the numbers in: what is the square root of 1?"),
    ),
    hints=(
        "Which numbers are x, out and g in this test? Put them into each of the four.",
        "A test can tell two rules apart only where they give different numbers.",
        "x² at x = 2: the right rule, 2x, and the wrong ones, x² and x + 2, all give the same number.",
    ),
    reveal="x, √x and g are all 1 here, and x.grad is 0 before: this test cannot tell the rules apart.",
    fresh=lambda r: Fresh(
        "The rule of x³ is written as 3x instead of 3x², and tested with g = 1. At which x, other than 0, does the test pass?",
        1,
        wrong=((3, "At 3 the two give 9 and 27."),),
    ),
)

# ---- 06.b: teach your engine ----------------------------------------------------------------------------------------------------

STUB_B = '''\
import math


def teach(Value):
    """Attach exp, log, tanh and atan2 to a Value class like the one of chapter 5."""

    def exp(self):
        ...  # as sin above: compute, remember the inputs, attach the rule, return

    def log(self):
        ...

    def tanh(self):
        ...

    def atan2(self, other):
        ...  # the angle at which the point (other, self) is seen: math.atan2(self.data, other.data)

    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2
'''

EXP = """\
    def exp(self):
        out = Value(math.exp(self.data), (self,), "exp")

        def _backward():
            self.grad += out.data * out.grad

        out._backward = _backward
        return out

"""
LOG = """\
    def log(self):
        out = Value(math.log(self.data), (self,), "log")

        def _backward():
            self.grad += out.grad / self.data

        out._backward = _backward
        return out

"""
TANH = """\
    def tanh(self):
        out = Value(math.tanh(self.data), (self,), "tanh")

        def _backward():
            self.grad += (1 - out.data * out.data) * out.grad

        out._backward = _backward
        return out

"""
ATAN2 = """\
    def atan2(self, other):
        out = Value(math.atan2(self.data, other.data), (self, other), "atan2")

        def _backward():
            r2 = self.data * self.data + other.data * other.data
            self.grad += other.data / r2 * out.grad
            other.grad -= self.data / r2 * out.grad

        out._backward = _backward
        return out

"""
SOLUTION_B = (
    STUB_B[: STUB_B.index("    def exp")] + EXP + LOG + TANH + ATAN2
    + "    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n"
)  # fmt: skip

_b = partial(but, SOLUTION_B)
OVERWRITES = "An input that is used twice receives two contributions; here the second one replaces the first. Use +=."
UPSTREAM = "This is the derivative alone. A contribution is the derivative × out.grad, the upstream gradient."

_slopes: dict[str, Callable] = {  # in another form than a solution would use
    "exp": lambda x: (math.e**x,),
    "log": lambda x: (x**-1,),
    "tanh": lambda x: (math.cosh(x) ** -2,),
    "atan2": lambda y, x: (x / math.hypot(x, y) ** 2, -y / math.hypot(x, y) ** 2),
}
_calls = {"exp": "a.exp()", "log": "a.log()", "tanh": "a.tanh()", "atan2": "a.atan2(b)"}
_values: dict[str, Callable[..., float]] = {"exp": math.exp, "log": math.log, "tanh": math.tanh, "atan2": math.atan2}


def _numbers(names):
    """One and a half to three, all different: no rule is right there by chance, and nothing overflows."""
    return lambda r: dict(
        zip(names, (round(k / 4 + r.uniform(-0.1, 0.1), 3) for k in r.sample([6, 7, 9, 11], len(names))), strict=True)
    )


def _forward(op):
    names = "ab" if op == "atan2" else "a"
    draw = _numbers(names)
    first = {"a": 1.75, "b": -2.25} if op == "atan2" else {"a": 1.75}

    def want(_, inputs):
        return _values[op](*inputs.values())

    def drawn(r):
        inputs = draw(r)
        if op == "atan2":
            inputs["b"] = -abs(inputs["b"])  # to the left, where the angle is not the arctangent of the quotient
        return _calls[op], inputs

    return Probe(f"{op} computes", (_calls[op], first), want, drivers.taught_forward, draw=drawn)


def _grads(op, times="", plus=False):
    """The gradients of op, of op times another input, or of op plus its own inputs."""
    names = ("ab" if op == "atan2" else "a") + times
    expression = (
        _calls[op]
        + (f" * {times}" if times else "")
        + (" + a + b" if plus and op == "atan2" else " + a" if plus else "")
    )
    draw = _numbers(names)

    def want(_, inputs):
        own = [inputs[n] for n in "ab" if n in names and n != times]
        g = inputs[times] if times else 1.0
        grads = {n: slope * g + plus for n, slope in zip("ab", _slopes[op](*own), strict=False)}
        return grads | ({times: _values[op](*own)} if times else {})

    first = dict(zip(names, (1.6, 2.3, 2.8), strict=False))
    return Probe(
        f"gradients of {expression}",
        (expression, first),
        want,
        drivers.taught_grads,
        draw=lambda r: (expression, draw(r)),
    )


def _inside(op):
    """The gradients of op, of two computed inputs, times another input."""
    names = "abc" if op == "atan2" else "ab"
    last = names[-1]
    expression = f"(2 * a).atan2(3 * b) * {last}" if op == "atan2" else f"(2 * a).{op}() * {last}"
    factors = (2.0, 3.0)
    draw = _numbers(names)

    def want(_, inputs):
        own = [k * inputs[n] for k, n in zip(factors, names[:-1], strict=False)]
        slopes = zip(names[:-1], _slopes[op](*own), factors, strict=False)
        return {n: slope * k * inputs[last] for n, slope, k in slopes} | {last: _values[op](*own)}

    first = dict(zip(names, (1.6, 2.3, 2.8), strict=False))
    return Probe(
        f"gradients of {expression}",
        (expression, first),
        want,
        drivers.taught_grads,
        draw=lambda r: (expression, draw(r)),
    )


UP = "atan2 straight up, where b is 0"


def _straight_up(_, inputs):
    return {"a": 0.0, "b": -inputs["c"] / inputs["a"], "c": math.pi / 2}


def _alone(op):
    return f"gradients of {_calls[op]}"


def _timed(op):
    return f"gradients of {_calls[op]} * {'c' if op == 'atan2' else 'b'}"


def _twice(op):
    return f"gradients of {_calls[op]} + a" + (" + b" if op == "atan2" else "")


def _fresh_06b(rng):
    x, g = rng.choice([0.5, 0.25, 2.0]), rng.randint(3, 7)
    return Fresh(
        f"The upstream gradient {g} reaches y = 1/x at x = {x}. What does x receive?",
        -g / x**2,
        wrong=(
            (g / x**2, "1/x falls when x grows: the sign."),
            (-1 / x**2, "That is the derivative alone. Multiply by the upstream gradient."),
        ),
    )


EX_B = Exercise(
    id="06.b",
    title="Teach your engine",
    kind=Kind.BUILD,
    points=4,
    minutes=20,
    difficulty=2,
    question="Write exp, log, tanh and atan2 for your engine, each with its backward rule.",
    entry="teach",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        *(_forward(op) for op in _calls),
        *(_grads(op) for op in _calls),
        *(_grads(op, times="c" if op == "atan2" else "b") for op in _calls),
        *(_grads(op, plus=True) for op in _calls),
        *(_inside(op) for op in _calls),
        Probe(UP, ("a.atan2(b) * c", {"a": 2.0, "b": 0.0, "c": 3.0}), _straight_up, drivers.taught_grads, 0.5,
              draw=lambda r: ("a.atan2(b) * c", {"a": float(r.randint(2, 5)), "b": 0.0, "c": float(r.randint(6, 9))})),
        Probe("tanh far out", ("a.tanh() * b", {"a": 800.0, "b": 2.0}), {"a": 0.0, "b": 1.0}, drivers.taught_grads, 0.5,
              draw=lambda r: ("a.tanh() * b", {"a": float(r.randint(750, 900)), "b": 2.0})),
    ),
    bank=(
        Wrong("operands dropped", SOLUTION_B.replace("(self,), ", "(), ").replace("(self, other), ", "(), "),
              "The results do not remember what they were made from, so the backward pass ends at them. Their second argument is the tuple "
              "of inputs, as in sin.",
              on=("gradients of (2 * a).exp() * b", "gradients of (2 * a).atan2(3 * b) * c")),
        Wrong("exp by the power rule", _b("out.data * out.grad", "self.data * math.exp(self.data - 1) * out.grad"),
              "exp: the power rule is for x to a fixed power. Here x is the exponent, and the function is its own derivative.",
              on=(_alone("exp"),)),
        Wrong("exp of the input", _b("out.data * out.grad", "self.data * out.grad"),
              "exp: its derivative is not the number that went in. It has been computed already, in the forward "
              "pass.", on=(_alone("exp"),)),
        Wrong("log with the output", _b("out.grad / self.data", "out.grad / out.data"),
              "log: the derivative is one over the number that went in, not over the logarithm.", on=(_alone("log"),)),
        Wrong("log multiplies", _b("out.grad / self.data", "out.grad * self.data"),
              "log: the curve gets flatter as x grows, so its derivative must fall. Yours rises.", on=(_alone("log"), _timed("log"))),
        Wrong("log upside down", _b("out.grad / self.data", "self.data / out.grad"),
              "log: the upstream gradient and the input have changed places. Nothing is ever divided by an upstream gradient.",
              on=(_alone("log"), _timed("log"))),
        Wrong("tanh of the input", _b("1 - out.data * out.data", "1 - self.data * self.data"),
              "tanh: you know a formula of the form 1 - t². In it, t is the value of tanh and not the input.", on=(_alone("tanh"),)),
        Wrong("tanh not squared", _b("1 - out.data * out.data", "1 - out.data"),
              "tanh: it is as steep at -x as at x, so the sign of the output must not matter. A square is missing.", on=(_alone("tanh"),)),
        Wrong("tanh as the sigmoid", _b("(1 - out.data * out.data)", "out.data * (1 - out.data)"),
              "tanh: this is the rule of the sigmoid. tanh runs from -1 to 1, and is steepest where it is 0.", on=(_alone("tanh"),)),
        Wrong("tanh by exponentials", _b(TANH, """\
    def tanh(self):
        e = (self * 2).exp()
        return (e - 1) / (e + 1)

"""), "Far out an exponential or a cosh overflows, or a quotient loses digits. math.tanh does not, and its rule needs only its result.",
              when=lambda seen: seen.error("tanh far out") in ("OverflowError", "ZeroDivisionError") and not seen.error(_alone("tanh"))),
        Wrong("atan2 divides by its second input", _b("r2 = self.data * self.data + other.data * other.data",
                                                      "r2 = (1 + (self.data / other.data) ** 2) * other.data**2"),
              "atan2: straight up, the second input is 0, and the quotient of the two does not exist. Write the rule with a² + b², which "
              "is not 0 there.", when=lambda seen: seen.error(UP) == "ZeroDivisionError"),
        Wrong("atan2 remembers one input", _b('(self, other), "atan2"', '(self,), "atan2"'),
              "atan2: the result remembers only one of its two inputs, so the backward pass does not go on to the other one.",
              on=("gradients of (2 * a).atan2(3 * b) * c",)),
        Wrong("atan2's second sign", _b("other.grad -=", "other.grad +="),
              "atan2: when the point moves to the right, is the angle larger or smaller? Look at the sign for the second input.",
              on=(_alone("atan2"),)),
        Wrong("atan2's inputs exchanged", _b("self.grad += other.data / r2 * out.grad\n            other.grad -= self.data / r2 * out.grad",
                                             "self.grad += self.data / r2 * out.grad\n            other.grad -= other.data / r2 * "
                                             "out.grad"),
              "atan2: draw the point and push it upwards. The angle changes most when the point is far to the right of the axis and "
              "not when it is high up.", on=(_alone("atan2"),)),
        Wrong("atan2 without the square", _b("r2 = self.data * self.data + other.data * other.data",
                                             "r2 = math.hypot(self.data, other.data)"),
              "atan2: a point twice as far away sweeps half the angle for the same push. Yours does not: look at the power of the "
              "distance.",
              on=(_alone("atan2"),)),
        Wrong("atan2 forgets one input", _b("            other.grad -= self.data / r2 * out.grad\n", ""),
              "atan2 has two inputs, and the angle depends on both: the second one receives nothing.", on=(_alone("atan2"),)),
        Wrong("atan2 the wrong way round", _b("math.atan2(self.data, other.data)", "math.atan2(other.data, self.data)"),
              "atan2: the first argument is the height. In a.atan2(b) that is a.", on=("atan2 computes",)),
        Wrong("no rule multiplies by out.grad", SOLUTION_B.replace(" * out.grad", "").replace("out.grad / ", "1 / "), UPSTREAM,
              on=tuple(_timed(op) for op in _calls)),
        Wrong("every rule overwrites", SOLUTION_B.replace("other.grad -=", "other.grad = -").replace("+=", "="), OVERWRITES,
              on=tuple(_twice(op) for op in _calls)),
        *(Wrong(f"{op} ignores the upstream gradient", _b(rule, rule.replace(" * out.grad", "").replace("out.grad / ", "1 / ")),
                f"{op}: {UPSTREAM[0].lower()}{UPSTREAM[1:]}", on=(_timed(op), _alone(op)))
          for op, rule in (("exp", EXP), ("log", LOG), ("tanh", TANH), ("atan2", ATAN2))),
        *(Wrong(f"{op} overwrites", _b(rule, rule.replace("+=", "=")), f"{op}: {OVERWRITES[0].lower()}{OVERWRITES[1:]}",
                on=(_twice(op), _alone(op))) for op, rule in (("exp", EXP), ("log", LOG), ("tanh", TANH))),
        Wrong("math on a Value", _b("math.exp(self.data)", "math.exp(self)"),
              "The functions of math need plain numbers: hand them self.data, and other.data, not the Values.",
              when=lambda seen: "TypeError" in {seen.error(f"{op} computes") for op in _calls}),
        Wrong("atan of the quotient", _b("math.atan2(self.data, other.data)", "math.atan(self.data / other.data)"),
              "The quotient does not tell which of the two numbers is negative, so math.atan finds the angle in one half of the plane "
              "only. math.atan2 takes both numbers.", on=("atan2 computes", "exp computes")),
        Wrong("returns nothing", SOLUTION_B.replace("        return out\n", ""),
              "An operation returns nothing. Each of them ends with return out.",
              when=lambda seen: seen.error("exp computes") == "AttributeError" and seen.error(_timed("exp")) == "TypeError"),
        Wrong("never attached", _b("    Value.exp, Value.log, Value.tanh, Value.atan2 = exp, log, tanh, atan2\n", ""),
              "The functions are written, but the class does not know them: Value.exp = exp, and so on, at the end of teach.",
              when=lambda seen: all(seen.error(f"{op} computes") == "AttributeError" for op in _calls)),
    ),
    hints=Hints(
        nudge="Each operation has the four steps of sin: compute a number, remember the inputs, attach the rule, return. What is the "
        "derivative of each, and can it be written with out.data?",
        rule="A contribution is += (derivative with respect to that input) × out.grad. For atan2, differentiate the arctangent of "
        "self/other "
        "with the chain rule: arctan has the derivative 1/(1 + t²), and t depends on both inputs.",
        twin="The distance of a point, out = sqrt(a² + b²), has the derivatives a/out and b/out. So its rule adds a.data / out.data * "
        "out.grad "
        "to a.grad, and the same with b to b.grad.",
    ),
    reveal="exp and tanh are written with their output, log with its input. For atan2 the arctangent's 1/(1 + t²), with t = a/b, times "
    "1/b or -a/b² becomes b/(a² + b²) and -a/(a² + b²).",
    fresh=_fresh_06b,
    reused=True,
)  # fmt: skip


# ---- 06.c: gradcheck ------------------------------------------------------------------------------------------------------------

STUB_C = '''\
def gradcheck(f, xs):
    """Which gradients of f are wrong at the numbers xs? Their positions, as a list: [] if all are right.

    f takes as many Values as there are numbers, and returns one Value. One percent off is wrong.
    """
    ...  # compare what backward leaves in each input with a central difference
'''

SOLUTION_C = '''\
def gradcheck(f, xs):
    """Which gradients of f are wrong at the numbers xs? Their positions, as a list: [] if all are right."""
    inputs = [Value(x) for x in xs]
    backward(3 * f(*inputs) + 4 * f(*inputs))    # neither use has an upstream gradient of 1
    wrong = []
    for i, x in enumerate(xs):
        h = 1e-6 * x or 1e-6                     # small beside x
        above, below = ([*xs[:i], x + step, *xs[i + 1:]] for step in (h, -h))
        slope = 7 * (f(*map(Value, above)).data - f(*map(Value, below)).data) / (2 * h)
        if not abs(inputs[i].grad - slope) <= 1e-4 * abs(slope):      # so that nan is wrong, too
            wrong.append(i)
    return wrong
'''

_c = partial(but, SOLUTION_C)


def _rule(name, fault, xs, wrong):
    """One probe: the right rule has to be accepted and the wrong one rejected, with the positions of the wrong gradients."""

    def draw(r):
        return (name, fault, [x * r.uniform(1.1, 1.9) for x in xs])

    title = {"forgets g": "a rule that forgets the upstream gradient", "replaces": "a rule with = in place of +=",
             "nan": "a rule that gives nan"}.get(fault, name)  # fmt: skip
    return Probe(
        title, (name, fault, xs), driver=drivers.gradcheck_on, accept=lambda got, *_: _judged(got, wrong), draw=draw
    )


def _judged(got, wrong):
    """None if the right rule was accepted, and the wrong one rejected for its wrong gradients; otherwise what happened."""
    right, other = got["the right rule"], got["the wrong rule"]
    if not isinstance(right, list) or not isinstance(other, list):
        return "a list of positions is needed"
    if right:
        return "the right rule is rejected"
    if not other:
        return "the wrong rule is accepted"
    return (
        None
        if sorted(other) == wrong
        else "the wrong rule is rejected, but not for the input that receives a wrong gradient"
    )


def _verdict(seen, probe):
    got = seen.value(probe)
    got = got if isinstance(got, dict) else {}
    return got.get("the right rule"), got.get("the wrong rule")


def _fresh_06c(rng):
    x, k = rng.randint(2, 6), rng.choice([3, 4, 5])
    return Fresh(
        f"backward({k} * f(x) + 2 * f(x)) with f(x) = x² at x = {x}. Which number must be in x.grad if the rule of f is right?",
        (k + 2) * 2 * x,
        wrong=(
            (2 * x, "f is used twice, each time with its factor."),
            (k * 2 * x, "The second use contributes as well."),
        ),
    )


TINY, CLOSE, TOP = "a cube of something tiny", "a logarithm very close to zero", "a wave at its top"

EX_C = Exercise(
    id="06.c",
    title="A test that wrong rules fail",
    kind=Kind.BUILD,
    points=3,
    minutes=18,
    difficulty=3,
    question="Write gradcheck: it must accept right rules and reject wrong ones, and say which inputs received a wrong gradient.",
    needs=("05.a", "05.b"),
    entry="gradcheck",
    stub=STUB_C,
    solution=SOLUTION_C,
    ideas={"wrong formulas": 0.25, "upstream gradient": 0.15, "accumulation": 0.15, "zero, tiny and huge": 0.3, "nan": 0.15},
    probes=(
        *about(
            "wrong formulas",
            _rule("a square", "half of it", [3.0], [0]),
            _rule("a product", "exchanged", [2.0, 5.0], [0, 1]),
            _rule("a quotient", "last sign", [3.0, 4.0], [1]),
            _rule("a product of three", "last is missing", [1.5, -2.0, 0.7], [2]),
        ),
        *about(
            "zero, tiny and huge",
            _rule(TOP, "one hundredth more", [0.0, 2.0], [0]),
            _rule("relu below zero", "one hundredth more", [-2.0], [0]),
            _rule(CLOSE, "one hundredth more", [1e-8], [0]),
            _rule(TINY, "half of it", [2e-8], [0]),
            _rule("something huge times something tiny", "one hundredth more", [1e6, 1e-8], [0]),
        ),
        *about("upstream gradient", _rule("a third", "forgets g", [2.0], [0])),
        *about("accumulation", _rule("a square", "replaces", [1.5], [0])),
        *about("nan", _rule("a product", "nan", [1.2, 3.0], [0])),
    ),
    bank=(
        Wrong("accepts everything", "def gradcheck(f, xs):\n    return []\n",
              "This finds nothing wrong with any rule. A test that nothing can fail says nothing.",
              when=lambda seen: all(isinstance(o["got"], dict) and o["got"].get("the wrong rule") == [] for o in seen.outcomes.values())),
        Wrong("compares for equality", _c("if not abs(inputs[i].grad - slope) <= 1e-4 * abs(slope):", "if inputs[i].grad != slope:"),
              "Right rules are rejected. A difference quotient is never exact to the last digit, so allow a small error. If you do: is the "
              "difference multiplied by the same factors as what backward was called on?",
              when=lambda seen: all(isinstance(r := _verdict(seen, p)[0], list) and r
                                    for p in ("a square", "a product", "a quotient", "a product of three"))),
        Wrong("one absolute tolerance", _c("1e-4 * abs(slope)", "1e-6"),
              "The gradients run from the tiny to the huge, so no single number is a small error for all of them. Compare the error "
              "with the size of the gradient. If you do: a term that you add, such as + x, has the gradient 1, in which a tiny one drowns.",
              on=(TINY,),
              when=lambda seen: _verdict(seen, TINY) == ([], []) and _verdict(seen, "a quotient") == ([], [1])),
        Wrong("one step for all", _c("1e-6 * x or 1e-6", "1e-6"),
              "Beside an input of 1e-8, a step of 1e-6 is enormous. Make the step a small part of the input, and think of an input of 0.",
              when=lambda seen: seen.error(CLOSE) == "ValueError"),
        Wrong("no step at zero", _c("1e-6 * x or 1e-6", "1e-6 * x"),
              "A step that is a part of the input is no step at all when the input is 0.",
              when=lambda seen: seen.error(TOP) == "ZeroDivisionError"),
        Wrong("one-sided", _c("(h, -h)", "(h, 0)").replace("(2 * h)", "h"),
              "At the top of the wave the derivative is 0, and a difference to one side is not: its error is proportional to the step. "
              "Look to both sides.", on=(TOP, "a product")),
        Wrong("upstream gradient of 1", _c("3 * f(*inputs) + 4 * f(*inputs)", "f(*inputs)").replace("7 * (f", "(f"),
              "A rule that forgets the upstream gradient passes, because in your test that gradient is 1.",
              when=lambda seen: _verdict(seen, "a rule that forgets the upstream gradient") == ([], [])),
        Wrong("a single use", _c("3 * f(*inputs) + 4 * f(*inputs)", "7 * f(*inputs)"),
              "A rule that writes = in place of += passes, because in your test each input is used once. Use it twice.",
              when=lambda seen: _verdict(seen, "a rule with = in place of +=") == ([], []) and _verdict(seen, "a square") == ([], [0])),
        Wrong("two uses with g = 1", _c("3 * f(*inputs) + 4 * f(*inputs)", "f(*inputs) + f(*inputs)").replace("7 * (f", "2 * (f"),
              "A rule that forgets the upstream gradient passes, because in your test that gradient is 1.",
              on=("a rule that forgets the upstream gradient",)),
        Wrong("lets nan pass", _c("not abs(inputs[i].grad - slope) <= 1e-4 * "
        "abs(slope)", "abs(inputs[i].grad - slope) > 1e-4 * abs(slope)"),
              "A rule that gives nan passes: every comparison with nan is False, so nan is never larger than a tolerance. Ask whether the "
              "error is small, and reject if not.", when=lambda seen: _verdict(seen, "a rule that gives nan") == ([], [])),
        Wrong("only the first input", _c("enumerate(xs)", "enumerate(xs[:1])"),
              "Only the first input is compared. Each of them has a gradient of its own.", on=("a quotient", "a product of three")),
        Wrong("nudges all inputs", _c("[*xs[:i], x + step, *xs[i + 1:]]", "[y + step for y in xs]"),
              "All inputs are nudged together, which measures the sum of their derivatives. Nudge one and leave the others alone.",
              on=("a product", "a square")),
        Wrong("returns the gradients", _c("wrong.append(i)", "wrong.append(inputs[i].grad)"),
              "The positions of the wrong gradients are asked for: 0 for the first input, 1 for the second.", on=("a quotient",)),
        Wrong("says True and False", _c("    return wrong\n", "    return not wrong\n"),
              "A list is needed, which says where the rule is wrong: [] if it is right, [1] if the second input's gradient is wrong.",
              when=lambda seen: isinstance(_verdict(seen, "a square")[0], bool)),
    ),
    hints=Hints(
        nudge="Begin with one input and forget the tiny and the huge: fresh Values, backward, then a difference to both sides, compared "
        "with "
        "a tolerance. Then read the line of each probe that still fails.",
        rule="The difference is taken on plain runs, (f at x + h minus f at x - h) / 2h, with the other inputs as they were. Call "
        "backward on "
        "something that uses f twice, each time with another factor in front, and multiply the difference by the sum of the factors. "
        "Step and tolerance are small parts of what they are compared with.",
        twin="Is 6.0001 a good value for 6? The error 0.0001 is small beside 6. Is 0.0001 a good value for 0.0002? The error is the "
        "same, and "
        "it is half of the number. So compare the error with the number, never with a fixed bound.",
    ),
    reveal="Used twice, with factors that are not 1, a rule can neither forget its upstream gradient nor overwrite. Step and tolerance "
    "are relative, and the comparison is written so that nan fails.",
    fresh=_fresh_06c,
    reused=True,
)  # fmt: skip

# ---- 06.d: you against the mutants --------------------------------------------------------------------------------------------------

STUB_D = '''\
def accepts(Value, backward):
    """Is this engine right? True or False. Value and backward are like those of chapter 5.

    45 engines are tried, each with one mistake, and one without. A test that stops with an error rejects.
    """
    a, b = Value(2.0), Value(3.0)
    backward(a * b)
    return (a.grad, b.grad) == (3.0, 2.0)
'''

SOLUTION_D = '''\
def accepts(Value, backward):
    """Is this engine right? True or False. Value and backward are like those of chapter 5."""
    a, b = Value(2.0), Value(3.0)
    c, d = a + b, a * b
    backward((c + d) + c * d)
    diamond = (a.grad, b.grad) == (25.0, 19.0)

    x = Value(2.0)
    u = x * x
    backward(u + u * x)
    order = x.grad == 16.0

    x, y = Value(2.0), Value(4.0)
    z = (3 - x) * 2 + (1 + x * 5 - 4) / 2 + 6 / x - y + (x - y) / y
    backward(z)
    forms = (z.data, x.grad, y.grad) == (4.0, -0.75, -1.125)

    x, y, zero = Value(-1.5), Value(3.0), Value(0.0)
    z = 3 * (2 * x) ** 3 + 2 * x**2 + (-x).relu() * 4 + 2 * y.relu() + y.relu() + x.relu()
    backward(z)
    backward(5 * zero.relu())
    folds = (z.data, x.grad, y.grad, zero.grad) == (-61.5, 152.0, 3.0, 0.0)
    return diamond and order and forms and folds
'''


def _few(most):
    def complaint(got, *_):
        if not got["the right engine"]:
            return "your test rejects an engine without a mistake, so its verdict on the others counts for nothing"
        alive = got["survive"]
        if len(alive) <= most:
            return None
        if most:
            return f"{len(alive)} broken engines survive, and at most {most} may"
        if len(alive) == 1:
            return f"one broken engine survives: {alive[0]}"
        return f"{len(alive)} broken engines survive. In one of them {alive[0]}; in another one {alive[1]}"

    return complaint


def _factor(r):
    return (float(r.choice([2, 3, 5, -1])),)


def _left(words):
    return lambda seen: any(words in one for one in (seen.value("all but eight") or {}).get("survive", ()))


def _rejects_right(seen):
    return (seen.value("all but eight") or {}).get("the right engine") is False


MANY, FEW, ALL = "half of them", "all but eight", "all"
EX_D = Exercise(
    id="06.d",
    title="You against the mutants",
    kind=Kind.BUILD,
    points=3,
    minutes=18,
    difficulty=2,
    question="Write a test that accepts a right engine and rejects broken ones. How many of the broken engines survive?",
    entry="accepts",
    stub=STUB_D,
    solution=SOLUTION_D,
    ideas={MANY: 1 / 3, FEW: 1 / 3, ALL: 1 / 3},
    probes=tuple(
        Probe(name, (2.0,), driver=drivers.survivors, accept=_few(most), draw=_factor, idea=name)
        for name, most in ((MANY, 22), (FEW, 8), (ALL, 0))
    ),
    bank=(
        Wrong("rejects everything", "def accepts(Value, backward):\n    return False\n",
              "A test has to accept what is right. Compute by hand what the gradients of your program must be.", when=_rejects_right),
        Wrong("one diamond", SOLUTION_D.replace("return diamond and order and forms and folds", "return diamond"),
              "Engines survive in which a power, a relu or a form with a plain number is broken: your verdict does not depend on them. "
              "Use each of +, *, **, relu, and of 1 + x, 3 * x, 1 - x, x / 2, 2 / x, and compare the gradients.",
              when=_left("the power forgets")),
        Wrong("relu at zero not asked", SOLUTION_D.replace("    backward(5 * zero.relu())\n", ""),
              "relu survives with a slope of 1 at zero. Ask for its gradient at exactly 0.", when=_left("at zero, too")),
        Wrong("order not asked", SOLUTION_D.replace("diamond and order", "diamond"),
              "An engine survives that does not wait. Use a result twice, once directly and once by way of another result.",
              when=_left("as soon as it is met")),
    ),
    hints=Hints(
        "Look at the survivors that are named. What would a program have to contain to tell them from the right engine?",
        "Use every operation twice on the same input, with something after it, so that the gradient from above is not 1. Use each form "
        "with a plain number. Ask relu at 0, too.",
        "Against a division that forgets its past: x = Value(4.0), backward(x / 2), and x.grad has to be a half.",
    ),
    reveal="Four short programs are enough. What they have in common: inputs that are used twice, something after each operation, and the "
    "places where something special happens.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"backward({n} * x.relu()) at x = Value(0.0): which x.grad does a right engine of this course have?",
            0,
            wrong=((n, "That is right of zero."),),
        )
    )(r.randint(3, 9)),
)  # fmt: skip

EXERCISES = (EX_A, EX_A2, EX_B, EX_C, EX_D)
