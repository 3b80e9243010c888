"""Chapter 13, your own function: its exercises. They run in the real engine, as subclasses of autograd.Function."""

from __future__ import annotations

import math
import re
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

# ---- 13.a: the corner of ReLU -------------------------------------------------------------------------------------------------------

EX_A = ask(
    "13.a",
    "The corner of ReLU",
    Kind.PREDICT,
    points=0,
    minutes=3,
    level=1,
    text="MyReLU's backward copies g and sets it to 0 where x < 0. For x = [-2, -1, 0, 1, 2], with every upstream gradient equal to 1: "
    "which gradient does it leave in x.grad, and which one does torch.relu leave?",
    comment="x = [-2, -1, 0, 1, 2], and every upstream gradient is 1.\n"
    "Which gradients do MyReLU and torch.relu leave in x.grad? Replace each None by a list of five numbers.",
    answer={"MyReLU": [0, 0, 1, 1, 1], "torch.relu": [0, 0, 0, 1, 1]},
    wrong=(
        ("MyReLU like torch", {"MyReLU": [0, 0, 0, 1, 1]}, "MyReLU: the mask decides what happens in the middle. Is 0 < 0?"),
        ("torch like MyReLU", {"torch.relu": [0, 0, 1, 1, 1]},
         "torch.relu: at a corner there is no derivative, so one has to be chosen, and PyTorch chose the slope on the left."),
        ("half", {"torch.relu": [0, 0, 0.5, 1, 1]}, "torch.relu: the average of both sides would be possible, but PyTorch "
        "does not take it."),
        ("half in MyReLU", {"MyReLU": [0, 0, 0.5, 1, 1]}, "MyReLU: its code only copies g or writes a 0. It cannot give a half."),
        ("the values", {"MyReLU": [0, 0, 0, 1, 2]}, "MyReLU: those are the outputs of forward. What does backward return?"),
        ("torch's values", {"torch.relu": [0, 0, 0, 1, 2]}, "torch.relu: those are the outputs. What is the gradient?"),
        ("the inputs", {"MyReLU": [-2, -1, 0, 1, 2]}, "MyReLU: those are the inputs. What does backward return?"),
        ("everything passes", {"torch.relu": [1, 1, 1, 1, 1]},
         "torch.relu: where x is negative the output does not move with x, so no gradient passes."),
        ("MyReLU passes everything", {"MyReLU": [1, 1, 1, 1, 1]}, "MyReLU: g is set to 0 only where the mask is true."),
        ("turned round", {"MyReLU": [1, 1, 0, 0, 0]}, "MyReLU: that keeps the gradient where x is negative. It is the other way round."),
    ),
    hints=(
        "Evaluate the mask x < 0 at each of the five entries, also at the one in the middle.",
        "Where the mask is true the gradient becomes 0, elsewhere g passes. The library's ReLU had to choose a number at 0, too.",
        "abs has a corner at 0 as well, with slopes -1 and 1 on its two sides. There torch.abs passes the number 0.",
    ),
    reveal="x < 0 is false at 0, so MyReLU lets the 1 pass in the middle. PyTorch's relu takes 0 there.",
    fresh=lambda r: (
        lambda k: Fresh(f"A backward sets g to 0 where x <= {k}. g is 1, and x is {k}. What comes out?", 0, wrong=((1, f"Is {k} <= {k}?"),))
    )(r.randint(1, 9)),
)  # fmt: skip

# ---- 13.b: multiply and add ---------------------------------------------------------------------------------------------------------

STUB_B = '''\
import minigrad as torch


class MultiplyAdd(torch.autograd.Function):
    """out = a * b + c, entry by entry, for three tensors of one shape."""

    @staticmethod
    def forward(a, b, c):
        ...

    @staticmethod
    def setup_context(ctx, inputs, output):
        ...

    @staticmethod
    def backward(ctx, g):
        ...
'''

SOLUTION_B = """\
import minigrad as torch


class MultiplyAdd(torch.autograd.Function):
    @staticmethod
    def forward(a, b, c):
        return a * b + c

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b, c = inputs
        ctx.save_for_backward(a, b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        to_a = g * b if ctx.needs_input_grad[0] else None
        to_b = g * a if ctx.needs_input_grad[1] else None
        return to_a, to_b, g
"""

OLD_STYLE = """\
import minigrad as torch


class MultiplyAdd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, c):
        ctx.save_for_backward(a, b)
        return a * b + c

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        to_a = g * b if ctx.needs_input_grad[0] else None
        to_b = g * a if ctx.needs_input_grad[1] else None
        return to_a, to_b, g
"""

_b = partial(but, SOLUTION_B)
NEEDS = "        to_a = g * b if ctx.needs_input_grad[0] else None\n        to_b = g * a if ctx.needs_input_grad[1] else None\n"


def _times(*lists):
    return [math.prod(numbers) for numbers in zip(*lists, strict=True)]


def _plus(*lists):
    return [sum(numbers) for numbers in zip(*lists, strict=True)]


def _muladd(inputs, g):
    a, b, c = inputs
    return {"out": _plus(_times(a, b), c), "gradients": [_times(g, b), _times(g, a), g]}


def _muladd_partly(inputs, g, needs):
    a, b, _ = inputs
    grads = [_times(g, b), _times(g, a), g]
    return {
        "gradients": [grad if need else None for grad, need in zip(grads, needs, strict=True)],
        "multiplications": needs[0] + needs[1],
    }


def _muladd_twice(inputs):
    """L = sum(out²) has dL/da = 2 out b, whose sum has these gradients."""
    a, b, c = inputs
    out = _plus(_times(a, b), c)
    two = [2.0] * len(a)
    return [_times(two, b, b), _times(two, _plus(out, _times(a, b))), _times(two, b)]


def _three(r):
    sizes = [float(k * r.choice([-1, 1])) for k in r.sample([2, 3, 4, 5, 6, 7], 6)]
    return [sizes[:2], sizes[2:4], sizes[4:]]


def _saved(seen):
    return (seen.value("how much is saved") or {}).get("saved tensors")


TWO = [[3.0, -2.0], [5.0, 4.0], [7.0, -6.0]]

EX_B = Exercise(
    id="13.b",
    title="Multiply and add",
    kind=Kind.WARM_UP,
    points=2,
    minutes=8,
    difficulty=2,
    question="Write a * b + c as an operation of your own. Save what the rule needs, and skip the gradients that are not needed.",
    entry="MultiplyAdd",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe("value and gradients", (TWO, [2.0, -1.5]), _muladd, drivers.custom, 2.0, draw=lambda r: (_three(r), [2.5, -1.5])),
        Probe("how much is saved", (TWO,), {"saved tensors": 2}, drivers.custom_saved, 0.5),
        Probe("only c needs a gradient", (TWO, [2.0, -1.5], [False, False, True]), _muladd_partly, drivers.custom_multiplications,
              draw=lambda r: (_three(r), [2.5, -1.5], [False, False, True])),
        Probe("only a needs a gradient", (TWO, [2.0, -1.5], [True, False, False]), _muladd_partly, drivers.custom_multiplications,
              draw=lambda r: (_three(r), [2.5, -1.5], [True, False, False])),
        Probe("only b needs a gradient", (TWO, [2.0, -1.5], [False, True, False]), _muladd_partly, drivers.custom_multiplications,
              draw=lambda r: (_three(r), [2.5, -1.5], [False, True, False])),
        Probe("under torch.func.grad", (TWO,), lambda inputs: _muladd(inputs, [1.0, 1.0])["gradients"], drivers.custom_transformed,
              draw=lambda r: (_three(r),)),
        Probe("differentiated twice", (TWO,), _muladd_twice, drivers.custom_twice, draw=lambda r: (_three(r),)),
    ),
    bank=(
        Wrong("an empty backward", re.sub(r"(def backward\(ctx, g\):\n).*", r"\1        ...\n", SOLUTION_B, flags=re.S),
              "backward returns nothing yet, or one gradient. It returns one for each input of forward, in their order.",
              when=lambda seen: "expected 3, got 1" in seen.message("value and gradients")),
        Wrong("swapped", _b(NEEDS, NEEDS.replace("g * b", "g * x").replace("g * a", "g * b").replace("g * x", "g * a")),
              "The derivative with respect to one factor is the *other* factor.", on=("value and gradients",)),
        Wrong("old style", OLD_STYLE,
              "The rule is right, but forward saves and computes at the same time, so torch.func cannot use it. Take ctx out "
              "of forward, and "
              "save in setup_context.",
              when=lambda seen: seen.error("under torch.func.grad") == "RuntimeError" and not seen.error("value and gradients")),
        Wrong("kept as attributes", _b("ctx.save_for_backward(a, b)", "ctx.pair = a, b").replace("ctx.saved_tensors", "ctx.pair"),
              "The gradients are right. But tensors belong into ctx.save_for_backward, which notices when one is overwritten "
              "and frees them "
              "after use. Attributes are for numbers, shapes and flags.",
              when=lambda seen: _saved(seen) == 0 and not seen.error("value and gradients")),
        Wrong("saves all and unpacks two", _b("save_for_backward(a, b)", "save_for_backward(*inputs)"),
              "Three tensors are saved, and backward unpacks two. c is in none of the derivatives: do not save it.",
              when=lambda seen: "too many values to unpack" in seen.message("value and gradients")),
        Wrong("ctx in forward", _b("forward(a, b, c)", "forward(ctx, a, b, c)"),
              "In the style with setup_context, forward gets the inputs alone: forward(a, b, c). ctx is handed to the other two methods.",
              when=lambda seen: "missing a required argument" in seen.message("value and gradients")),
        Wrong("a plain number for c", _b("to_b, g\n", "to_b, 1\n"),
              "backward returns tensors. The local derivative with respect to c is 1, and it has to be multiplied by g like every other.",
              when=lambda seen: "expected Variable or None" in seen.message("value and gradients")),
        Wrong("nothing for c", _b("to_b, g\n", "to_b, None\n"),
              "c gets no gradient. When c grows, the result grows with it, so what is the derivative with respect to c?",
              when=lambda seen: "'NoneType' object has no attribute" in seen.message("value and gradients")),
        Wrong("saves all", _b("save_for_backward(a, b)", "save_for_backward(a, b, c)").replace("a, b = ctx", "a, b, c = ctx"),
              "The gradients are right. But c is saved and never used, and a saved tensor occupies memory until the backward pass.",
              on=("how much is saved",)),
        Wrong("two gradients", _b("return to_a, to_b, g", "return to_a, to_b"),
              "forward has three inputs, so backward returns three results. The one for c is missing.",
              when=lambda seen: "incorrect number of gradients" in seen.message("value and gradients")),
        Wrong("g forgotten for c", _b("to_b, g\n", "to_b, torch.ones_like(g)\n"),
              "The local derivative with respect to c is 1, and it has to be multiplied by the upstream gradient like every other.",
              on=("value and gradients", "only c needs a gradient")),
        Wrong("g forgotten", _b(NEEDS, "        to_a, to_b = b, a\n"),
              "Those are the local derivatives. Multiply each by g, the upstream gradient.", on=("value and gradients",)),
        Wrong("computes what nobody needs", _b(NEEDS, "        to_a, to_b = g * b, g * a\n"),
              "All gradients are right, but some were computed for an input that needs none. ctx.needs_input_grad has a flag "
              "for each input.",
              on=("only c needs a gradient", "only a needs a gradient")),
        Wrong("flags exchanged", _b("needs_input_grad[0]", "needs_input_grad[2]").replace("needs_input_grad[1]", "needs_input_grad[0]"),
              "The flags of ctx.needs_input_grad are in the order of forward's inputs: a, b, c.",
              on=("only a needs a gradient", "only b needs a gradient")),
        Wrong("nothing saved", _b("        ctx.save_for_backward(a, b)\n", "        pass\n"),
              "backward finds nothing that was saved: hand the tensors it needs to ctx.save_for_backward in setup_context.",
              when=lambda seen: seen.error("value and gradients") == "ValueError"
              and _saved(seen) == 0),
        Wrong("cut off", _b("(a, b)\n", "(a.detach(), b.detach())\n"),
              "The first derivatives are right. The second ones are not, because the saved tensors were detached: save the "
              "inputs themselves.",
              on=("differentiated twice", "value and gradients")),
        Wrong("one of them asks", _b("g * b if ctx.needs_input_grad[0] else None", "g * b"),
              "All gradients are right, but one was computed for an input that needs none. ctx.needs_input_grad has a flag for each input.",
              when=lambda seen: "value and gradients" in seen.right and any(
                  (seen.value(f"only {name} needs a gradient") or {}).get("multiplications", 0) > most
                  for name, most in (("a", 1), ("b", 1), ("c", 0)))),
    ),
    hints=Hints(
        "Write down the three derivatives of a·b + c. Which of the inputs occur in them?",
        "forward(a, b, c) only computes. setup_context(ctx, inputs, output) saves what the derivatives contain. backward "
        "returns one result "
        "for each input: local derivative × g, or None where ctx.needs_input_grad says that it is not needed.",
        "out = a - b²: save b alone. backward returns g for a, and -2 * b * g for b if ctx.needs_input_grad[1], else None.",
    ),
    reveal="The derivatives are b, a and 1, so c is not saved. Its gradient is g itself, which costs no multiplication.",
    fresh=lambda r: (lambda a, b, g: Fresh(f"out = a·b + c with a = {a}, b = {b}, c = 1, and the upstream gradient is {g}. What is the "
                                           "gradient of a?", g * b, wrong=((g * a, "The *other* factor."), (b, "Times g."))))(
        r.randint(2, 4), r.randint(5, 9), r.randint(2, 5)
    ),
)  # fmt: skip

# ---- 13.c: quantise ------------------------------------------------------------------------------------------------------------------

STUB_C = '''\
import minigrad as torch


class Quantise(torch.autograd.Function):
    """Moves each entry of x to the nearest of 2**bits levels, equally spaced from -1 to 1.

    Both ends are levels. The gradient goes straight through where -1 <= x <= 1, and is 0 outside.
    """

    @staticmethod
    def forward(x, bits):
        ...

    @staticmethod
    def setup_context(ctx, inputs, output):
        ...

    @staticmethod
    def backward(ctx, g):
        ...
'''

SOLUTION_C = """\
import minigrad as torch


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(x, bits):
        gap = 2 / (2**bits - 1)
        return torch.round((x.clamp(-1, 1) + 1) / gap) * gap - 1

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, bits = inputs
        ctx.save_for_backward(x.abs() <= 1)

    @staticmethod
    def backward(ctx, g):
        inside, = ctx.saved_tensors
        return g * inside, None
"""

_c = partial(but, SOLUTION_C)


def _levels(bits):
    return [2 * k / (2**bits - 1) - 1 for k in range(2**bits)]


def _quantised(inputs, g):
    x, bits = inputs
    return {
        "out": [min(_levels(bits), key=lambda level: abs(level - v)) for v in x],
        "gradients": [[gi if -1 <= v <= 1 else 0.0 for v, gi in zip(x, g, strict=True)]],
    }


def _between(bits):
    """Numbers inside, each clearly nearer to one level than to any other."""
    gap = 2 / (2**bits - 1)

    def draw(r):
        x = [
            level + gap * r.choice([-1, 1]) * r.uniform(0.1, 0.4)
            for level in r.sample(_levels(bits)[1:-1], min(3, 2**bits - 2))
        ]
        return [[round(v, 6) for v in x], bits], [round(r.uniform(1.5, 3), 2) * r.choice([-1, 1]) for _ in x]

    return draw


def _quantise(name, x, bits, g, draw, weight=1.0):
    return Probe(name, ([x, bits], g), _quantised, drivers.custom, weight, draw=draw)


def _only_the_levels(got):
    """The gradients of "two bits" are there, every one of them passed on, and the levels are others."""
    levels = _levels(2)
    return all(got["gradients"][0]) and any(min(abs(v - level) for level in levels) > 1e-6 for v in got["out"])


EX_C = Exercise(
    id="13.c",
    title="A few bits for each weight",
    kind=Kind.BUILD,
    points=2,
    minutes=10,
    difficulty=2,
    question="Write the operation that rounds to 2**bits levels between -1 and 1, with a straight-through gradient that stops outside.",
    entry="Quantise",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        _quantise("two bits", [-0.6, 0.1, 0.5], 2, [2.0, -3.0, 0.5], lambda r: (
            [[round(v + r.uniform(-0.1, 0.1), 4) for v in (-0.5, 0.2, 0.5)], 2], [2.5, -3.0, 0.75])),
        _quantise("three bits", [-0.9, 0.2, 0.6], 3, [2.0, -3.0, 0.5], _between(3)),
        _quantise("four bits", [-0.35, 0.01, 0.72], 4, [2.0, -3.0, 0.5], _between(4)),
        _quantise("outside", [-1.7, 0.4, 1.2], 3, [2.0, -3.0, 0.5], lambda r: (
            [[-round(r.uniform(1.3, 3), 2), 0.4, round(r.uniform(1.3, 3), 2)], 3], [2.5, -3.0, 0.75]), 2.0),
        _quantise("at the limits", [-1.0, 1.0], 2, [4.0, -3.0], lambda r: ([[-1.0, 1.0], r.randint(2, 5)], [4.5, -2.5]), 0.5),
    ),
    bank=(
        Wrong("gradient everywhere", _c("return g * inside, None", "return g, None"),
              "Outside of the limits forward has moved x to the end, so pushing x further changes nothing. Let no gradient pass there.",
              on=("outside",)),
        Wrong("strictly inside", _c("x.abs() <= 1", "x.abs() < 1"),
              "At the limits themselves the gradient should pass: a weight that sits at the end must be able to come back.",
              on=("at the limits", "outside")),
        Wrong("passes outside", _c("x.abs() <= 1", "x.abs() > 1"),
              "That is the wrong side of the limit: the gradient passes outside and stops inside.", on=("outside", "two bits")),
        Wrong("the levels of four_bits", _c(
            "torch.round((x.clamp(-1, 1) + 1) / gap) * gap - 1",
            "torch.round(x * 2 ** (bits - 1)).clamp(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) / 2 ** (bits - 1)"),
              "Those are the levels of four_bits, with one at 0 and none at 1. Spread them evenly from −1 to 1, with both ends.",
              on=("two bits", "three bits", "at the limits")),
        Wrong("one level too many", _c("(2**bits - 1)", "2**bits"),
              "That makes one level too many. Between n levels there are n − 1 gaps.", on=("two bits", "three bits")),
        Wrong("levels from 0", _c("torch.round((x.clamp(-1, 1) + 1) / gap) * gap - 1", "torch.round(x.clamp(-1, 1) / gap) * gap"),
              "Those are the multiples of the gap, with a level at 0. The levels start at −1: measure from there, and go back afterwards.",
              on=("two bits", "three bits")),
        Wrong("gaps of half the size", _c("gap = 2 / ", "gap = 1 / ").replace("(x.clamp(-1, 1) + 1) / gap) * gap - 1",
                                                                                  "x.clamp(-1, 1) / gap) * gap"),
              "That makes almost twice as many levels, and one of them is 0. From −1 to 1 the distance is 2: how large are the gaps?",
              on=("two bits", "three bits")),
        Wrong("true derivative", _c("return g * inside, None", "return 0 * g, None"),
              "That is the true derivative of a staircase, and nothing can be learned with it. Pass g on as if nothing had been rounded.",
              on=("two bits",)),
        Wrong("never clamped", _c("x.clamp(-1, 1)", "x"),
              "Outside of the limits there are no levels: forward must stop at −1 and 1.", on=("outside", "two bits")),
        Wrong("one result", _c("return g * inside, None", "return g * inside"),
              "forward has two inputs, x and bits, so backward returns two results: the gradient of x, and None for bits, a plain number.",
              when=lambda seen: seen.error("two bits") == seen.error("outside") == "RuntimeError"),
        Wrong("g forgotten", _c("return g * inside, None", "return inside.double(), None"),
              "A slope of 1 is pretended, and it has to be multiplied by the upstream gradient.", on=("two bits", "outside")),
        Wrong("cuts off", _c("torch.round(", "torch.floor("),
              "floor goes to the level below. Go to the nearest level.", on=("two bits", "three bits")),
        Wrong("values from 0 to 1", _c(" * gap - 1", " / (2**bits - 1)"),
              "Those are levels from 0 to 1. Stretch them to −1 to 1.", on=("two bits", "three bits")),
        Wrong("other levels", _c("(2**bits - 1)", "bits"),
              "The gradients are right and the levels are not. Print yours for two bits: they should be −1, −1/3, 1/3 and 1.",
              when=lambda seen: _only_the_levels(seen.value("two bits"))),
    ),
    hints=Hints(
        "Two bits have four levels. How far apart are they, if the first is −1 and the last is 1?",
        "Move x so that the lowest level is at 0, divide by the gap, round, and undo both. In setup_context keep which "
        "entries were inside; "
        "backward multiplies g by that mask, and returns None for bits.",
        "Rounding to whole percent between 0 and 1: torch.round(x.clamp(0, 1) * 100) / 100, and g passes where (x >= 0) & (x <= 1).",
    ),
    reveal="n levels have n − 1 gaps between them. The mask of what was inside is all that backward needs, and a mask takes one byte for "
    "each entry.",
    fresh=lambda r: (
        lambda bits: Fresh(
            f"{bits} bits, levels from −1 to 1. How far apart are two neighbouring levels?",
            2 / (2**bits - 1),
            wrong=((2 / 2**bits, "How many gaps are there between the levels?"),),
        )
    )(r.randint(3, 7)),
)  # fmt: skip

# ---- 13.d: a fixed point -------------------------------------------------------------------------------------------------------------

STUB_D = '''\
import minigrad as torch


def fixed_point(f, a):
    """The x with x = f(x, a), for tensors of one number.

    Start at x = 1 and repeat x = f(x, a) until x no longer changes, at most 1,000 times. The result is
    differentiable with respect to a, and its graph does not contain the repetitions.
    """
    ...
'''

SOLUTION_D = """\
import minigrad as torch


class FixedPoint(torch.autograd.Function):
    @staticmethod
    def forward(f, a):
        x = torch.ones_like(a)
        for _ in range(1000):
            before, x = x, f(x, a)
            if x == before:
                break
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.f, a = inputs
        ctx.save_for_backward(output, a)

    @staticmethod
    def backward(ctx, g):
        x, a = [t.detach().requires_grad_() for t in ctx.saved_tensors]
        with torch.enable_grad():
            to_x, to_a = torch.autograd.grad(ctx.f(x, a), (x, a))
        return None, g * to_a / (1 - to_x)


def fixed_point(f, a):
    return FixedPoint.apply(f, a)
"""

UNROLLED = """\
import minigrad as torch


def fixed_point(f, a):
    x = torch.ones_like(a)
    for _ in range(1000):
        before, x = x, f(x, a)
        if x == before:
            break
    return x
"""

ONE_MORE = """\
import minigrad as torch


def fixed_point(f, a):
    with torch.no_grad():
        x = torch.ones_like(a)
        for _ in range(1000):
            x = f(x, a)
    return f(x, a)
"""

_d = partial(but, SOLUTION_D)
SLOPES = {  # (∂f/∂x, ∂f/∂a) of drivers.FIXED_POINTS
    "exp(-a x)": lambda x, a: (-a * math.exp(-a * x), -x * math.exp(-a * x)),
    "a + sin(x) / 2": lambda x, a: (math.cos(x) / 2, 1.0),
    "(x + a / x) / 2": lambda x, a: (0.5 - a / (2 * x * x), 1 / (2 * x)),
    "0.9 x + a": lambda x, a: (0.9, 1.0),
}
EQUATION = {  # x - f(x, a), for bisection
    "exp(-a x)": lambda x, a: x - math.exp(-a * x),
    "a + sin(x) / 2": lambda x, a: x - a - math.sin(x) / 2,
    "(x + a / x) / 2": lambda x, a: x * x - a,
    "0.9 x + a": lambda x, a: 0.1 * x - a,
}


def _rest(name, a, k):
    """By bisection, which knows nothing of repeating."""
    low, high = 1e-9, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if EQUATION[name](middle, a) < 0 else (low, middle)
    to_x, to_a = SLOPES[name](middle, a)
    return {"x": middle, "derivative": k * to_a / (1 - to_x)}


def _rests(name, a, k, low, high, weight=1.0):
    return Probe(name, (name, a, k), _rest, drivers.fixed_point, weight, rtol=1e-8,
                 draw=lambda r: (name, round(r.uniform(low, high), 3), float(r.choice([-2, 3, 5]))))  # fmt: skip


def _small_graph(got, *cases):
    most = max(got["nodes"])
    if most > 40:
        return f"the graph behind the result has {most:,} nodes: it contains the repetitions"
    return None if min(got["nodes"]) else "the result has no graph, so nothing can be differentiated"


def _nodes(seen):
    return (seen.value("size of the graph") or {}).get("nodes", [0])


EX_D = Exercise(
    id="13.d",
    title="A fixed point is an operation",
    kind=Kind.BUILD,
    points=3,
    minutes=12,
    difficulty=3,
    question="Find the x with x = f(x, a), and make it differentiable with respect to a without recording the search.",
    entry="fixed_point",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        _rests("a + sin(x) / 2", 0.7, 3.0, 0.3, 1.2),
        _rests("exp(-a x)", 0.6, -2.0, 0.3, 0.9),
        _rests("0.9 x + a", 0.3, 5.0, 0.2, 0.9),
        _rests("(x + a / x) / 2", 7.0, 3.0, 2.0, 9.0),
        Probe("size of the graph", (("0.9 x + a", 0.3), ("(x + a / x) / 2", 7.0)), driver=drivers.fixed_point_nodes, accept=_small_graph),
    ),
    bank=(
        Wrong("a start at zero", but(SOLUTION_D, "torch.ones_like(a)", "torch.zeros_like(a)"),
              "The search begins at 0, where (x + a / x) / 2 divides by 0. Begin at 1.", on=("(x + a / x) / 2",)),
        Wrong("a negative difference stops", _d("x == before", "x - before < 1e-6"),
              "A search from above has negative differences, and those are smaller than any bound. Compare the size of the difference.",
              on=("a + sin(x) / 2", "exp(-a x)")),
        Wrong("unrolled", UNROLLED,
              "The numbers are right, but every repetition is in the graph. Search without recording, and give the result a backward rule.",
              when=lambda seen: max(_nodes(seen)) > 40),
        Wrong("last step only", ONE_MORE,
              "That differentiates the last repetition alone, as if its x were a constant. But x depends on a as well.",
              on=("a + sin(x) / 2", "exp(-a x)")),
        Wrong("sign of the denominator", _d("(1 - to_x)", "(1 + to_x)"),
              "Bring both terms with dx/da to one side: which sign does ∂f/∂x get there?", on=("a + sin(x) / 2", "exp(-a x)")),
        Wrong("difference turned round", _d("(1 - to_x)", "(to_x - 1)"),
              "Your slope has the right size and the wrong sign: look at the difference in the denominator.",
              on=("a + sin(x) / 2", "exp(-a x)")),
        Wrong("g forgotten", _d("g * to_a", "to_a"),
              "That is dx/da. backward has to multiply it by the upstream gradient.", on=("a + sin(x) / 2", "exp(-a x)")),
        Wrong("upside down", _d("g * to_a / (1 - to_x)", "g * (1 - to_x) / to_a"),
              "The quotient is upside down. Solve the equation for dx/da once more.", on=("a + sin(x) / 2", "exp(-a x)")),
        Wrong("too few repetitions", _d("range(1000)", "range(10)"),
              "Ten repetitions are not enough everywhere. Repeat until x no longer changes.",
              on=("0.9 x + a",)),
        *(Wrong(f"{n} repetitions", _d("range(1000)", f"range({n})"),
                f"{n} repetitions are not enough everywhere. Repeat until x no longer changes.", on=("0.9 x + a",)) for n in (20, 50)),
        Wrong("stops a little early", _d("x == before", "abs(x - before) < 1e-6"),
              "The search stops while x still moves a little, and with small steps that adds up. Repeat until x no longer changes at all.",
              on=("0.9 x + a",), rtol=1e-4),
        Wrong("no gradient", "import minigrad as torch\n\n\ndef fixed_point(f, a):\n    with torch.no_grad():\n"
              "        x = torch.ones_like(a)\n        for _ in range(1000):\n            x = f(x, a)\n    return x\n",
              "The search is not recorded, which is right. But then the result needs a backward rule: write a Function around the search.",
              when=lambda seen: seen.error("exp(-a x)") == "RuntimeError" and _nodes(seen) == [0, 0]),
        Wrong("slope in the wrong variable", _d("g * to_a / (1 - to_x)", "g * to_x / (1 - to_a)"),
              "∂f/∂x and ∂f/∂a are exchanged.", on=("a + sin(x) / 2", "exp(-a x)")),
        Wrong("one result", _d("return None, g * to_a / (1 - to_x)", "return g * to_a / (1 - to_x)"),
              "forward has two inputs, f and a, so backward returns two results: None for the function.",
              when=lambda seen: "incorrect number of gradients" in seen.message("exp(-a x)")),
        Wrong("results exchanged", _d("return None, g * to_a / (1 - to_x)", "return g * to_a / (1 - to_x), None"),
              "backward returns its results in the order of forward's inputs. The one for the function is None.",
              when=lambda seen: "gradient different than None" in seen.message("exp(-a x)")),
        Wrong("nothing is recorded inside backward", _d("        with torch.enable_grad():\n", "        if True:\n"),
              "f was called, and nothing was recorded. Inside backward you need two things: copies of the saved x and a that are detached "
              "and require gradients, and torch.enable_grad() around the call of f.",
              when=lambda seen: "does not require grad" in seen.message("exp(-a x)") and min(_nodes(seen))),
        Wrong("the saved tensors themselves", _d("x, a = [t.detach().requires_grad_() for t in ctx.saved_tensors]",
                                                 "x, a = ctx.saved_tensors"),
              "The saved x is the result of this very operation, so its derivative leads back into this backward, without end. Call f with "
              "detached copies of x and a that require gradients.", when=lambda seen: seen.error("exp(-a x)") == "RecursionError"),
    ),
    hints=Hints(
        "The search does not need a graph, but its result needs a backward rule. Solve the differentiated equation for dx/da.",
        "Write a Function with forward(f, a), which searches. Its backward calls f once, at the saved x and a, detached and under "
        "torch.enable_grad(), and takes both partial derivatives with torch.autograd.grad. For f it returns None.",
        "x = a·x/4 + 1 with a = 2: x is 2, ∂f/∂x is a/4 = 1/2 and ∂f/∂a is x/4 = 1/2. So dx/da = 1/2 · dx/da + 1/2, and dx/da is 1. "
        "Check: x = 4 / (4 − a).",
    ),
    reveal="dx/da = ∂f/∂x · dx/da + ∂f/∂a gives dx/da = ∂f/∂a / (1 − ∂f/∂x). One call of f replaces the whole search in the backward pass.",
    fresh=lambda r: (
        lambda p, q: Fresh(
            f"At the fixed point ∂f/∂x is {p} and ∂f/∂a is {q}. What is dx/da?",
            q / (1 - p),
            wrong=((q, "x depends on a as well."), (q / (1 + p), "Which sign does ∂f/∂x get on the left side?")),
        )
    )(r.choice([0.5, 0.75, -0.6]), r.randint(2, 9)),
)  # fmt: skip

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
