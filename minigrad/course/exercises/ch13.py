"""Chapter 13, your own function: its exercises. Forward and backward are written as in autograd.Function and run with a small ctx."""

from __future__ import annotations

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask

EX_A = ask(
    "13.a",
    "ReLU at zero",
    Kind.PREDICT,
    minutes=3,
    level=1,
    text="MyReLU's backward copies g and sets it to 0 where x < 0. x = [-2, -1, 0, 1, 2], g all ones. Which gradient does it "
    "give, and which does torch.relu give?",
    answer={"MyReLU": "0 0 1 1 1", "torch.relu": "0 0 0 1 1"},
    also={
        "MyReLU": ("0,0,1,1,1", "0, 0, 1, 1, 1", "[0, 0, 1, 1, 1]", [0, 0, 1, 1, 1]),
        "torch.relu": ("0,0,0,1,1", "0, 0, 0, 1, 1", "[0, 0, 0, 1, 1]", [0, 0, 0, 1, 1]),
    },
    wrong=(
        ("MyReLU like torch", {"MyReLU": "0 0 0 1 1"}, "MyReLU: the mask decides. Is 0 < 0?"),
        (
            "torch like MyReLU",
            {"torch.relu": "0 0 1 1 1"},
            "torch.relu: at 0 there is no derivative, so a convention is needed, and torch picks the left one.",
        ),
        ("half", {"torch.relu": "0 0 0.5 1 1"}, "torch.relu: the average would be possible, and is not what torch picks."),
        (
            "g times x",
            {"MyReLU": "-2 -1 0 1 2"},
            "MyReLU: those are the inputs. Asked is the gradient: g where it passes, 0 where it does not.",
        ),
        (
            "everything passes",
            {"torch.relu": "1 1 1 1 1"},
            "torch.relu: where x is negative the output does not move with x, so no gradient passes.",
        ),
        (
            "the inputs",
            {"torch.relu": "-2 -1 0 1 2"},
            "torch.relu: those are the inputs. Asked is the gradient: g where it passes, 0 where it does not.",
        ),
        ("MyReLU passes everything", {"MyReLU": "1 1 1 1 1"}, "MyReLU: g is set to 0 where the mask says so."),
    ),
    hints=(
        "Evaluate the mask at each entry, also in the middle.",
        "ReLU'(0) is a convention, not a fact. The code's comparison decides it.",
        "abs at 0: torch.abs gives 0 there, between the slopes -1 and 1 of its two sides.",
    ),
    reveal="x < 0 is false at 0, so MyReLU lets the 1 pass: 0 0 1 1 1. torch gives 0 0 0 1 1. Write the answers with blanks in between.",
    comment="MyReLU's backward copies g and sets it to 0 where x < 0. x = [-2, -1, 0, 1, 2], and g is all ones.\n"
    'Which gradient comes out, there and from torch.relu? Answer with five numbers in quotes, such as "1 1 1 1 1".',
    fresh=lambda r: Fresh("A backward sets g to 0 where x <= 1. g = 1 arrives; x = 1. What comes out?", 0, wrong=((1, "Is 1 <= 1?"),)),
)

STUB_B = '''\
class StraightThrough:
    """Rounds forward; backward pretends that nothing was rounded."""

    @staticmethod
    def forward(ctx, x):
        ...

    @staticmethod
    def backward(ctx, g):
        ...
'''

SOLUTION_B = """\
class StraightThrough:
    @staticmethod
    def forward(ctx, x):
        return round(x)

    @staticmethod
    def backward(ctx, g):
        return g
"""

EX_B = Exercise(
    id="13.b",
    title="The straight-through estimator",
    kind=Kind.FILL_IN,
    points=2,
    minutes=5,
    difficulty=1,
    question="Rounding has derivative 0 almost everywhere, so nothing would ever be learned through it. Round forward, pass g backward.",
    entry="StraightThrough",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe("2.7", ([2.7], 1.0), {"out": 3.0, "gradients": [1.0]}, drivers.function, draw=lambda r: ([r.randint(2, 9) + 0.7], 1.0)),
        Probe(
            "-1.2", ([-1.2], 0.25), {"out": -1.0, "gradients": [0.25]}, drivers.function, draw=lambda r: ([-r.randint(2, 9) - 0.2], 0.25)
        ),
        Probe(
            "a large g",
            ([0.9], -40.0),
            {"out": 1.0, "gradients": [-40.0]},
            drivers.function,
            draw=lambda r: ([0.9], -float(r.randint(30, 60))),
        ),
    ),
    bank=(
        Wrong(
            "true derivative",
            SOLUTION_B.replace("return g", "return 0.0 * g"),
            "That is the true derivative, and it stops all learning. The trick is to lie: pass on what arrives.",
            on=("2.7",),
        ),
        Wrong(
            "no rounding",
            SOLUTION_B.replace("round(x)", "x"),
            "The lie is told backward only. Forward, the number is really rounded.",
            on=("2.7",),
        ),
        Wrong(
            "always one",
            SOLUTION_B.replace("return g", "return 1.0"),
            "The slope is taken to be 1: multiply it by what arrives.",
            on=("2.7", "-1.2"),
        ),
        Wrong(
            "rounds the gradient",
            SOLUTION_B.replace("return g", "return round(g)"),
            "Only the number is rounded; the gradient passes as it is.",
            on=("2.7", "-1.2"),
        ),
        Wrong(
            "cuts off",
            SOLUTION_B.replace("round(x)", "int(x)"),
            "int() cuts off towards zero; round to the nearest whole number.",
            on=("2.7",),
        ),
    ),
    hints=Hints(
        "What does a staircase look like from far away?",
        "forward: round. backward: the rule of the identity, whatever forward did.",
        "Sign with a straight-through backward: forward gives 1 or -1, backward g.",
    ),
    reveal="return round(x), and return g.",
    fresh=lambda r: (lambda x, g: Fresh(f"STE at x = {x}, g = {g}. What gradient reaches x?", g, wrong=((0, "The trick is to lie."),)))(
        r.choice([3.4, 7.8]), r.randint(2, 9)
    ),
)

STUB_C = '''\
class Clamp:
    """Keeps x between low and high. Backward passes g where x was inside (limits included), 0 elsewhere."""

    @staticmethod
    def forward(ctx, x, low, high):
        ...

    @staticmethod
    def backward(ctx, g):
        ...
'''

SOLUTION_C = """\
class Clamp:
    @staticmethod
    def forward(ctx, x, low, high):
        ctx.inside = low <= x <= high
        return min(max(x, low), high)

    @staticmethod
    def backward(ctx, g):
        return (g if ctx.inside else 0.0), None, None
"""


def _clamp(inputs, g):
    x, low, high = inputs
    return {"out": sorted((low, x, high))[1], "gradients": [g if low <= x <= high else 0.0, None, None]}


def _cp(name, x, g, low=-1.0, high=1.0):
    def draw(r):
        move, k = r.uniform(-5, 5), r.uniform(0.5, 2)  # the same place between limits that were moved and stretched
        return [x * k + move, low * k + move, high * k + move], round(r.uniform(0.5, 3), 2)

    return Probe(name, ([x, low, high], g), _clamp, drivers.function, draw=draw)


EX_C = Exercise(
    id="13.c",
    title="Clamp",
    kind=Kind.FILL_IN,
    points=2,
    minutes=8,
    difficulty=2,
    question="Write Clamp. backward must return one thing for every argument of forward.",
    entry="Clamp",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        _cp("inside", 0.3, 2.0),
        _cp("above", 5.0, 2.0),
        _cp("below", -5.0, 2.0),
        _cp("at the limit", 1.0, 3.0),
        _cp("other limits", 2.5, -1.5, 2.0, 4.0),
    ),
    bank=(
        Wrong(
            "one gradient",
            SOLUTION_C.replace(", None, None", ""),
            "function ClampBackward returned an incorrect number of gradients (expected 3, got 1): None for what is not a tensor.",
            on=("inside",),
        ),
        Wrong(
            "zeros for the limits",
            SOLUTION_C.replace("None, None", "0.0, 0.0"),
            "The limits are plain numbers without a gradient. For those return None, which is not the same as zero.",
            on=("inside",),
        ),
        Wrong(
            "g everywhere",
            SOLUTION_C.replace("(g if ctx.inside else 0.0)", "g"),
            "Outside the limits the result does not move with x: nothing may pass.",
            on=("above", "inside"),
        ),
        Wrong(
            "strictly inside",
            SOLUTION_C.replace("low <= x <= high", "low < x < high"),
            "At the limits themselves, by this exercise's convention (and torch's), the gradient passes.",
            on=("at the limit", "inside"),
        ),
        Wrong(
            "limits exchanged",
            SOLUTION_C.replace("min(max(x, low), high)", "max(min(x, low), high)"),
            "min and max are exchanged: the larger of x and low, then the smaller of that and high.",
            on=("inside",),
        ),
        Wrong(
            "saves nothing",
            SOLUTION_C.replace("        ctx.inside = low <= x <= high\n", ""),
            "backward has no x to look at: forward must keep on ctx what backward needs.",
            when=lambda seen: seen.error("inside") == "AttributeError",
        ),
    ),
    hints=Hints(
        "What must backward know that only forward has seen?",
        "Keep on ctx where x was inside. Return g there, 0 elsewhere, and None for each argument that is not a tensor.",
        "Scale(x, k) with a plain number k: forward keeps k, backward returns (g * k, None).",
    ),
    reveal="ctx.inside remembers; three results for three arguments.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"forward(ctx, ...) takes {n} arguments besides ctx. How many things must backward return?",
            n,
            wrong=((1, "One for each argument."),),
        )
    )(r.randint(2, 6)),
)

STUB_D = '''\
class MultiplyAdd:
    """out = a * b + c."""

    @staticmethod
    def forward(ctx, a, b, c):
        ...

    @staticmethod
    def backward(ctx, g):
        ...
'''

SOLUTION_D = """\
class MultiplyAdd:
    @staticmethod
    def forward(ctx, a, b, c):
        ctx.save_for_backward(a, b)
        return a * b + c

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a, g
"""


def _muladd(inputs, g):
    a, b, c = inputs
    return {"out": a * b + c, "gradients": [g * b, g * a, g]}


EX_D = Exercise(
    id="13.d",
    title="Multiply and add",
    kind=Kind.FILL_IN,
    points=2,
    minutes=6,
    difficulty=1,
    question="Write forward and backward of a * b + c, saving the least that is needed.",
    entry="MultiplyAdd",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        Probe(
            "(3, 2, 1)",
            ([3.0, 2.0, 1.0], 1.0),
            _muladd,
            drivers.function,
            draw=lambda r: ([float(r.randint(6, 9)), float(r.randint(2, 5)), 1.0], 1.0),
        ),
        Probe(
            "g = -2",
            ([0.5, -4.0, 7.0], -2.0),
            _muladd,
            drivers.function,
            draw=lambda r: ([float(r.randint(2, 9)), float(r.randint(-9, -2)), 1.0], -2.0),
        ),
        Probe(
            "how much is saved",
            ([3.0, 2.0, 1.0],),
            driver=drivers.saved_count,
            accept=lambda got, *_: (
                None if got == 2 else "nothing is saved" if not got else f"{'more' if got > 2 else 'less'} is saved than the rules need"
            ),
        ),
    ),
    bank=(
        Wrong(
            "swapped",
            SOLUTION_D.replace("g * b, g * a", "g * a, g * b"),
            "The derivative with respect to one factor is the *other* factor.",
            on=("(3, 2, 1)",),
        ),
        Wrong(
            "kept as attributes",
            SOLUTION_D.replace("ctx.save_for_backward(a, b)", "ctx.kept = a, b").replace("ctx.saved_tensors", "ctx.kept"),
            "The numbers are right. Tensors go through ctx.save_for_backward: it notices when one is overwritten, and frees it after use. "
            "Attributes are for numbers, shapes and flags.",
            when=lambda seen: seen.value("how much is saved") == 0 and not seen.error("(3, 2, 1)"),
        ),
        Wrong(
            "saves all",
            SOLUTION_D.replace("save_for_backward(a, b)", "save_for_backward(a, b, c)").replace("a, b = ctx", "a, b, c = ctx"),
            "The numbers are right. c is saved and never used: every saved tensor costs memory until backward.",
            on=("how much is saved",),
        ),
        Wrong(
            "g forgotten for c",
            SOLUTION_D.replace("g * a, g\n", "g * a, 1.0\n"),
            "c's local derivative is 1, to be multiplied by what arrives.",
            on=("(3, 2, 1)", "g = -2"),
        ),
        Wrong(
            "g forgotten",
            SOLUTION_D.replace("g * b, g * a, g\n", "b, a, 1.0\n"),
            "Those are local derivatives: multiply each by g.",
            on=("(3, 2, 1)", "g = -2"),
        ),
        Wrong(
            "two gradients",
            SOLUTION_D.replace("g * a, g\n", "g * a\n"),
            "function MultiplyAddBackward returned an incorrect number of gradients: c needs one as well.",
            on=("(3, 2, 1)",),
        ),
        Wrong(
            "adds instead of multiplying",
            SOLUTION_D.replace("g * b, g * a, g", "g + b, g + a, g"),
            "Gradient = local derivative × g: multiply, don't add.",
            on=("(3, 2, 1)", "g = -2"),
        ),
        Wrong(
            "nothing saved",
            SOLUTION_D.replace("        ctx.save_for_backward(a, b)\n", ""),
            "backward finds nothing that was saved: forward must hand the tensors it needs to ctx.save_for_backward.",
            when=lambda seen: seen.error("(3, 2, 1)") == "ValueError" and seen.value("how much is saved") == 0,
        ),
    ),
    hints=Hints(
        "Which of a, b, c occur in the three local derivatives?",
        "One gradient for each argument, in the order of forward: local derivative × g.",
        "out = a - k·b with a fixed k: nothing but k is needed, and backward returns (g, -k * g).",
    ),
    reveal="Save a and b; return g * b, g * a, g.",
    fresh=lambda r: (lambda a, b, g: Fresh(f"a = {a}, b = {b}, g = {g}. What reaches a?", g * b, wrong=((g * a, "The *other* factor."),)))(
        r.randint(2, 4), r.randint(5, 9), r.randint(2, 5)
    ),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
