"""Chapter 19, where it goes next: four lines of derivatives.yaml, and the capstone.

For the capstone the learner chooses one of six operations and adds it to an engine like the one of chapter 5. The judge's side of the six
is in _capstone.py; here are their reference rules, of which `check.reveal` shows the first, and the mistakes that are recognised.
"""

from __future__ import annotations

import textwrap
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Limits, Probe, Wrong, ask, but
from . import _capstone

EX_A = ask(
    "19.a",
    "Which operation is it?",
    Kind.PUZZLE,
    minutes=4,
    level=2,
    text="Which operation does each line of derivatives.yaml belong to?",
    choices=("abs", "exp", "log", "neg", "reciprocal", "rsqrt", "sqrt", "tanh"),
    comment="Which operation does each line belong to? Choose from abs, exp, log, neg, reciprocal (1/x), rsqrt (1/√x), sqrt and tanh.",
    answer={
        "grad / (2 * result)": "sqrt",
        "-grad * (result * result)": "reciprocal",
        "grad * self.sgn()": "abs",
        "grad * result": "exp",
    },
    wrong=(
        ("a root in the denominator", {"grad / (2 * result)": "rsqrt"},
         "The first line: differentiate 1/√x as a power of x. Its exponent is not the one that this line needs."),
        ("log by the quotient", {"grad / (2 * result)": "log"}, "The first line: the rule of log divides by its input, and this "
         "line has no self."),
        ("tanh by the square", {"-grad * (result * result)": "tanh"}, "The second line: tanh has 1 minus the square. Here the 1 "
         "is missing."),
        ("log by the minus", {"-grad * (result * result)": "log"}, "The second line: a minus sign says that the function falls."),
        ("rsqrt by the minus", {"-grad * (result * result)": "rsqrt"},
         "The second line: it falls, as 1/√x does. But the derivative of 1/√x is a third power of the result, times one half."),
        ("neg by the minus", {"-grad * (result * result)": "neg"}, "The second line: negation has the same slope everywhere. It "
         "would not need its result."),
        ("neg by the sign", {"grad * self.sgn()": "neg"}, "The third line: the slope is 1 or −1, depending on the sign of the input."),
        ("tanh by the sign", {"grad * self.sgn()": "tanh"}, "The third line: only two slopes occur, and 0 at 0. tanh has all "
         "slopes between 0 and 1."),
        ("tanh is its own slope", {"grad * result": "tanh"}, "The last line: a function that is its own derivative. tanh levels "
         "off where it is largest."),
        ("sqrt is its own slope", {"grad * result": "sqrt"}, "The last line: the larger the result, the steeper. A root gets flatter."),
    ),
    hints=(
        "Start with the one that is its own derivative.",
        "Write each candidate as a power of x if it is one, differentiate, and express the derivative by the result y instead of x.",
        "For the sigmoid, y = 1/(1 + exp(−x)), the derivative is y(1 − y), so its line is grad * (1 - result) * result.",
    ),
    reveal="√x has the derivative 1/(2√x). 1/x has −1/x², which is minus the square of the result. |x| has the sign of x. exp "
     "is its own derivative.",
    fresh=lambda r: (
        lambda y: Fresh(
            f"The line is -0.5 * grad * result.pow(3), grad is 1, and the result is {y}. What is passed on?",
            -0.5 * y**3,
            wrong=((0.5 * y**3, "Mind the sign."), (-0.5 * y, "The third power of the result.")),
        )
    )(r.choice([2.0, 4.0, 0.5])),
)  # fmt: skip

# ---- 19.b: the capstone ---------------------------------------------------------------------------------------------------------

STUB_B = '''\
import math


def capstone(Value):
    """One of the six operations for a Value class like the one of chapter 5: its name in the table, and a function."""
    name = "logsumexp"  # or "gelu", "conv1d", "batch_norm", "fixed_point", "lstm_cell"

    def operation(*inputs):  # with the inputs that the table names
        ...  # compute, remember the inputs, attach the rule, return

    return name, operation
'''


def _source(name: str, body: str) -> str:
    return f'import math\n\n\ndef capstone(Value):\n{textwrap.indent(body.strip(chr(10)), "    ")}\n\n    return "{name}", {name}\n'


RULES = {
    "logsumexp": """
def logsumexp(xs):
    top = max(x.data for x in xs)
    exps = [math.exp(x.data - top) for x in xs]
    total = sum(exps)
    out = Value(top + math.log(total), (*xs,), "logsumexp")

    def _backward():
        for x, e in zip(xs, exps):
            x.grad += e / total * out.grad

    out._backward = _backward
    return out
""",
    "gelu": """
def gelu(x):
    below = 0.5 * (1 + math.erf(x.data / math.sqrt(2)))
    density = math.exp(-x.data * x.data / 2) / math.sqrt(2 * math.pi)
    out = Value(x.data * below, (x,), "gelu")

    def _backward():
        x.grad += (below + x.data * density) * out.grad

    out._backward = _backward
    return out
""",
    "conv1d": """
def conv1d(x, k):
    def one(window):
        out = Value(sum(a.data * b.data for a, b in zip(window, k)), (*window, *k), "conv1d")

        def _backward():
            for a, b in zip(window, k):
                a.grad += b.data * out.grad
                b.grad += a.data * out.grad

        out._backward = _backward
        return out

    return [one(x[i : i + len(k)]) for i in range(len(x) - len(k) + 1)]
""",
    "batch_norm": """
def batch_norm(xs, eps):
    n = len(xs)
    mean = sum(x.data for x in xs) / n
    deviation = (sum((x.data - mean) ** 2 for x in xs) / n + eps) ** 0.5
    hats = [(x.data - mean) / deviation for x in xs]

    def one(i):
        out = Value(hats[i], (*xs,), "batch_norm")

        def _backward():
            for j, x in enumerate(xs):
                x.grad += ((i == j) - 1 / n - hats[i] * hats[j] / n) / deviation * out.grad

        out._backward = _backward
        return out

    return [one(i) for i in range(n)]
""",
    "fixed_point": """
def fixed_point(a):
    x = 1.0
    for _ in range(100):
        x = math.cos(a.data * x)
    out = Value(x, (a,), "fixed_point")

    def _backward():
        sine = math.sin(a.data * x)
        a.grad += -x * sine / (1 + a.data * sine) * out.grad

    out._backward = _backward
    return out
""",
    "lstm_cell": """
def lstm_cell(c, f, i, g, o):
    def sigmoid(v):
        return 0.5 * (1 + math.tanh(v / 2))

    forget, write, new, show = sigmoid(f.data), sigmoid(i.data), math.tanh(g.data), sigmoid(o.data)
    state = Value(forget * c.data + write * new, (c, f, i, g), "state")
    squashed = math.tanh(state.data)
    out = Value(show * squashed, (state, o), "output")

    def from_state():
        c.grad += forget * state.grad
        f.grad += c.data * forget * (1 - forget) * state.grad
        i.grad += new * write * (1 - write) * state.grad
        g.grad += write * (1 - new * new) * state.grad

    def from_output():
        state.grad += show * (1 - squashed * squashed) * out.grad
        o.grad += squashed * show * (1 - show) * out.grad

    state._backward, out._backward = from_state, from_output
    return state, out
""",
}
REFERENCES = {name: _source(name, body) for name, body in RULES.items()}
SOLUTION_B = REFERENCES["logsumexp"]

VALUE, GRADS = "the value", "the gradient, upstream gradient not 1"
TWICE = "an input that is used twice and already holds a gradient"
FAR, FAR_GRADS = "extreme numbers", "the gradient at extreme numbers"
NODES, GRAPHS = "one node for each result", "200 random graphs"


def _value_probe(name, case, weight=1.0):
    return Probe(name, (_capstone.inputs(case, 19),), driver=drivers.capstone_values, weight=weight, accept=_capstone.value_complaint,
                 draw=lambda r: (_capstone.inputs(case, r.random()),))  # fmt: skip


def _gradient_probe(name, case, scale, old=0.0, twice=False):
    def args(seed, factor):
        return _capstone.inputs(case, seed, twice), factor, old, twice

    return Probe(name, args(19, scale), driver=drivers.capstone_gradients, accept=_capstone.gradient_complaint,
                 draw=lambda r: args(r.random(), float(r.randint(2, 5))))  # fmt: skip


def _graph_args(seed):
    return _capstone.points(seed, 200), seed, 200


def _bank():
    for name, source in REFERENCES.items():
        yield Wrong(f"{name} overwrites", source.replace("+=", "="), "An input that is used twice receives two contributions. Here the "
                    "second one replaces the first: use +=.", on=(TWICE,))  # fmt: skip
        ends = (" * out.grad", " * state.grad")
        without = source.replace(ends[0], "").replace(ends[1], "")
        yield Wrong(f"{name} forgets the upstream gradient", without, "This is the local derivative alone. A contribution is the local "
                    "derivative times the gradient of the result, out.grad.", on=(GRADS,))  # fmt: skip


_lse, _gelu, _norm = (partial(but, REFERENCES[name]) for name in ("logsumexp", "gelu", "batch_norm"))
_conv, _fixed, _lstm = (partial(but, REFERENCES[name]) for name in ("conv1d", "fixed_point", "lstm_cell"))
LATE_CONV = _source(
    "conv1d",
    """
def conv1d(x, k):
    outs = []
    for i in range(len(x) - len(k) + 1):
        window = x[i : i + len(k)]
        out = Value(sum(a.data * b.data for a, b in zip(window, k)), (*window, *k), "conv1d")

        def _backward():
            for a, b in zip(window, k):
                a.grad += b.data * out.grad
                b.grad += a.data * out.grad

        out._backward = _backward
        outs.append(out)
    return outs
""",
)
LATE_NORM = _source(
    "batch_norm",
    """
def batch_norm(xs, eps):
    n = len(xs)
    mean = sum(x.data for x in xs) / n
    deviation = (sum((x.data - mean) ** 2 for x in xs) / n + eps) ** 0.5
    hats, outs = [(x.data - mean) / deviation for x in xs], []
    for i in range(n):
        out = Value(hats[i], (*xs,), "batch_norm")

        def _backward():
            for j, x in enumerate(xs):
                x.grad += ((i == j) - 1 / n - hats[i] * hats[j] / n) / deviation * out.grad

        out._backward = _backward
        outs.append(out)
    return outs
""",
)
LATE = (
    "The formula is right, but every _backward that was made in the loop uses the last result. A function looks up out and i when it "
    "runs, and by then the loop has ended. Make each result in a function of its own, or write def _backward(i=i, out=out)."
)
PRODUCT = "(below + x.data * density)"
NORM = "((i == j) - 1 / n - hats[i] * hats[j] / n)"

EX_B = Exercise(
    id="19.b",
    title="The capstone",
    kind=Kind.BUILD,
    points=5,
    minutes=40,
    difficulty=3,
    question="Add one of the six operations to your engine, with its rule. It is put into 200 random graphs.",
    entry="capstone",
    stub=STUB_B,
    solution=SOLUTION_B,
    variants=tuple(source for source in REFERENCES.values() if source != SOLUTION_B),
    reused=True,
    probes=(
        _value_probe(VALUE, "ordinary"),
        _gradient_probe(GRADS, "ordinary", 3.0),
        _gradient_probe(TWICE, "ordinary", 1.0, old=5.0, twice=True),
        _value_probe(FAR, "extreme"),
        _gradient_probe(FAR_GRADS, "extreme", 2.0),
        Probe(NODES, (_capstone.inputs("ordinary", 19),), driver=drivers.capstone_nodes, accept=_capstone.node_complaint,
              draw=lambda r: (_capstone.inputs("ordinary", r.random()),)),
        Probe(GRAPHS, _graph_args(19), driver=drivers.capstone_in_graphs, accept=_capstone.graph_complaint, weight=3,
              draw=lambda r: _graph_args(r.randint(20, 10_000))),
    ),
    bank=(
        Wrong("overflows", _lse("math.exp(x.data - top)", "math.exp(x.data)").replace("top + ", ""),
              "An exponential overflows for a large input. logsumexp and the sigmoid can both be rewritten so that exp never sees a "
              "positive number (chapters 6 and 14).",
              when=lambda seen: seen.error(FAR) == "OverflowError" and not seen.error(VALUE)),
        Wrong("largest not added again", _lse("top + math.log(total)", "math.log(total)"),
              "logsumexp: the largest input was subtracted and never added again.", on=(VALUE,)),
        Wrong("logarithm of the mean", _lse("math.log(total)", "math.log(total / len(xs))"),
              "logsumexp: that is the logarithm of a mean. The exponentials are summed.", on=(VALUE,)),
        Wrong("the complement", _lse("e / total * out.grad", "(1 - e / total) * out.grad"),
              "logsumexp: the derivatives of n inputs add up to 1, and yours to n − 1.", on=(GRADS,)),
        Wrong("not divided by the sum", _lse("e / total * out.grad", "e * out.grad"),
              "logsumexp: the derivative of log(u) is 1/u, so each exponential is divided by their sum.", on=(GRADS,)),
        Wrong("all inputs alike", _lse("e / total * out.grad", "out.grad"),
              "logsumexp: the derivatives differ from input to input, and they add up to 1.", on=(GRADS,)),
        Wrong("the rule of max", _lse("e / total * out.grad", "(x.data == top) * out.grad"),
              "logsumexp: that is the derivative of max. logsumexp is smooth, so each input receives a part of the gradient.", on=(GRADS,)),
        Wrong("the rule of softmax", _lse("e / total * out.grad", "e / total * (1 - e / total) * out.grad"),
              "logsumexp: s(1 − s) is the derivative of softmax, which is itself the derivative of logsumexp. This is one derivative "
              "too many.", on=(GRADS,)),
        Wrong("relu", _gelu("0.5 * (1 + math.erf(x.data / math.sqrt(2)))", "float(x.data > 0)"),
              "gelu: a gate that is 0 or 1 makes it a relu. Here the gate is the probability Φ(x).", on=(VALUE,)),
        Wrong("product rule forgotten", _gelu(PRODUCT, "below"),
              "gelu: both factors of x·Φ(x) move with x, so the product rule has two terms.", on=(GRADS,)),
        Wrong("first term forgotten", _gelu(PRODUCT, "x.data * density"),
              "gelu: the term of the product rule in which x itself moves is missing.", on=(GRADS,)),
        Wrong("density without x", _gelu(PRODUCT, "(below + density)"),
              "gelu: the second term of the product rule is x times the density, and x is missing.", on=(GRADS,)),
        Wrong("sign of the second term", _gelu(PRODUCT, "(below - x.data * density)"),
              "gelu: the two terms of the product rule are added.", on=(GRADS,)),
        Wrong("density not normalised", _gelu(" / math.sqrt(2 * math.pi)", ""),
              "gelu: the density of the normal distribution has a factor in front, which makes its area 1.", on=(GRADS,)),
        Wrong("tanh in place of erf", _gelu("math.erf(x.data / math.sqrt(2))",
                                            "math.tanh(math.sqrt(2 / math.pi) * (x.data + 0.044715 * x.data**3))"),
              "gelu: that is the tanh approximation, which is off in the fourth digit. Here Φ is meant exactly, with erf.", on=(VALUE,)),
        Wrong("sigmoid approximation", _gelu("0.5 * (1 + math.erf(x.data / math.sqrt(2)))", "1 / (1 + math.exp(-1.702 * x.data))"),
              "gelu: that is the sigmoid approximation, which is off in the second digit. Here Φ is meant exactly, with erf.", on=(VALUE,)),
        Wrong("erf without its scale", _gelu("x.data / math.sqrt(2)", "x.data"),
              "gelu: erf belongs to the density exp(−t²), and the normal distribution to exp(−t²/2), so the argument must be scaled.",
              on=(VALUE,)),
        Wrong("half in place of the root", _gelu("x.data / math.sqrt(2)", "x.data / 2"),
              "gelu: the argument of erf is squared in the exponent. Which scale turns −t² into −x²/2?", on=(VALUE,)),
        Wrong("kernel reversed", _conv("    def one(window):\n", "    k = k[::-1]\n\n        def one(window):\n"),
              "conv1d: the kernel is reversed. That is the convolution of mathematics. The table's slides the kernel as it is, as PyTorch "
              "does.",
              on=(VALUE,)),
        Wrong("kernel gets nothing", _conv("                    b.grad += a.data * out.grad\n", ""),
              "conv1d: the kernel is an input as well, and its entries receive no gradient.", on=(GRADS,)),
        Wrong("conv1d made in a loop", LATE_CONV, LATE, on=(TWICE,)),
        Wrong("batch_norm made in a loop", LATE_NORM, LATE, on=(TWICE,)),
        Wrong("mean and deviation are constants", _norm(NORM, "(i == j)"),
              "batch norm: mean and deviation were treated as constants, but every input is in both of them.", on=(GRADS,)),
        Wrong("deviation is a constant", _norm(" - hats[i] * hats[j] / n", ""),
              "batch norm: the deviation was treated as a constant, but every input is in it.", on=(GRADS,)),
        Wrong("mean is a constant", _norm(" - 1 / n", ""), "batch norm: the mean was treated as a constant, but every input is in it.",
              on=(GRADS,)),
        Wrong("one sample less", _norm("/ n + eps", "/ (n - 1) + eps"),
              "batch norm: the variance of the batch is divided by n. n − 1 is for the running estimate.", on=(VALUE,)),
        Wrong("eps outside the root", _norm(" / n + eps) ** 0.5", " / n) ** 0.5 + eps"), "batch norm: eps belongs under the root.",
              on=(VALUE,)),
        Wrong("batch norm composed", _source("batch_norm", """
def batch_norm(xs, eps):
    mean = sum(xs) * (1 / len(xs))
    deviation = (sum((x - mean) ** 2 for x in xs) * (1 / len(xs)) + eps) ** 0.5
    return [(x - mean) / deviation for x in xs]
"""), "Every number is right, because your engine already knows sums, products and powers. But the capstone asks for one node with a "
      "rule of its own for each result.", on=(NODES,)),
        Wrong("only the last step", _fixed(" / (1 + a.data * sine)", ""),
              "fixed_point: that differentiates the last step only. x is on both sides of x = cos(a·x), so it moves on both.", on=(GRADS,)),
        Wrong("sign of the denominator", _fixed("(1 + a.data * sine)", "(1 - a.data * sine)"),
              "fixed_point: the denominator is 1 minus the derivative of the right-hand side by x. Mind the sign of cos′.", on=(GRADS,)),
        Wrong("sign of the numerator", _fixed("-x * sine", "x * sine"),
              "fixed_point: cos falls where its argument grows, so a minus sign is missing in the numerator.", on=(GRADS,)),
        Wrong("the output does not reach the state", _lstm("            state.grad += show * (1 - squashed * squashed) * out.grad\n", ""),
              "lstm_cell: h′ depends on c′, so its gradient continues into c′ and from there into four inputs.", on=(GRADS,)),
        Wrong("the gates' slopes", _lstm("* (1 - forget)", "").replace("* (1 - write)", "").replace("* (1 - show)", ""),
              "lstm_cell: the derivative of a sigmoid is σ(1 − σ). Your gates have σ alone.", on=(GRADS,)),
        *_bank(),
    ),
    hints=Hints(
        nudge="Write the function on plain numbers first, and nudge each input to see what the derivatives must be. Only then write the "
        "rule: every input of a node receives local derivative × out.grad, with +=.",
        rule="logsumexp: any number may be subtracted first, and the gradient is a softmax (14). gelu: the product rule; Φ′ is the density "
        "exp(−x²/2)/√(2π). conv1d: each entry is used in several results (9). batch_norm: three ways lead from an input to a result (14). "
        "fixed_point: differentiate both sides of x = cos(a·x) by a (13). lstm_cell: let h′ be a node with the parents c′ and o.",
        twin="swish, x·σ(x), as one operation: with s = σ(x.data), out = Value(x.data * s, (x,), \"swish\"), and in _backward "
        "x.grad += (s + x.data * s * (1 - s)) * out.grad.",
    ),
    reveal="This is logsumexp, the first of the six. With the largest input subtracted nothing overflows, and the rule is softmax times "
    "the upstream gradient.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"logsumexp of {n} equal numbers: which derivative does each of them get?",
            1 / n,
            wrong=((1, "They add up to 1."), (0, "A common shift moves the result as far.")),
        )
    )(r.choice([4, 5, 8])),
    limits=Limits(seconds=3.0),
)  # fmt: skip

EXERCISES = (EX_A, EX_B)
