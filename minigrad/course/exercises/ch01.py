"""Chapter 01, going downhill: three ways to differentiate a program. Its exercises."""

from __future__ import annotations

import math

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but, steps


def _fresh_01a(rng):
    k, c, x = rng.randint(4, 7), rng.randint(1, 5), rng.randint(2, 4)
    u = k * x + c
    return Fresh(
        f"y = ({k}x + {c})² at x = {x}. What is dy/dx?",
        2 * u * k,
        wrong=((2 * u, "That is the square's own derivative; the inside has one too."), (u * u, "That is y itself.")),
    )


EX_A = Exercise(
    id="01.a",
    title="Predict the slope",
    kind=Kind.PREDICT,
    points=0,
    minutes=3,
    difficulty=1,
    question="y = (3x + 2)². What is dy/dx at x = 1? Work it out before you run anything.",
    entry="answer_01a",
    stub="""\
# y = (3x + 2)². How fast does y change at x = 1?
# Put your guess for dy/dx in place of None.
check.predict("01.a", None)
""",
    solution="""\
# y = u² with u = 3x + 2. At x = 1: u = 5, dy/du = 2u = 10, du/dx = 3, and the two multiply.
check.predict("01.a", 30)
""",
    probes=(Probe("dy/dx at x = 1", want=30, driver=drivers.value, rtol=1e-6),),
    bank=(
        Wrong(
            "stopped at the square",
            10,
            "You stopped at the square. The inside, 3x + 2, changes too: multiply by its derivative.",
        ),
        Wrong("dropped u", 6, "You dropped u = 5. The derivative of u² is 2u, not 2; then comes the inside."),
        Wrong("y itself", 25, "That is y, the value. The question is how fast y changes when x moves."),
        Wrong("forgot the 2 of the square", 15, "u² has derivative 2u: one factor is missing."),
        Wrong(
            "the inside's slope twice",
            90,
            "The inside contributes its slope 3 once; somewhere it came in a second time.",
        ),
        Wrong(
            "derivative of the inside only",
            3,
            "That is the derivative of the inside. The square around it multiplies it by 2u.",
        ),
    ),
    hints=Hints(
        nudge="Give the inside a name: u = 3x + 2. How fast does y change with u, and u with x?",
        rule="Chain rule: dy/dx = dy/du · du/dx, both factors taken at the same point. For y = u², dy/du = 2u.",
        twin="Another one: y = (2x + 1)² at x = 4. u = 9, dy/du = 2 · 9 = 18, du/dx = 2, so dy/dx = 36.",
    ),
    reveal="u = 5, so the square contributes 2 · 5 = 10; the inside contributes 3; together 30.",
    fresh=_fresh_01a,
    working=steps("""
        x = 1
        u = 3 * x + 2
        at_u = 2 * u
        return at_u * 3
    """),
)


# ---- 01.a2: what a gradient costs -----------------------------------------------------------------------------------------------


def _fresh_01a2(rng):
    n = rng.choice([7, 12, 40, 250])
    return Fresh(
        f"{n} weights. How many runs of the program does nudging need for the whole gradient, one side only?",
        n + 1,
        wrong=(
            (n, "One more: the run without any nudge, which all the others are compared with."),
            (2 * n, "The run without a nudge is shared."),
        ),
    )


ONE_SIDE, BOTH_SIDES, FORWARD, BACKWARD = (
    "nudge to one side: runs", "nudge to both sides: runs", "AD: runs forward", "AD: runs backward"
)  # fmt: skip

EX_A2 = ask(
    "01.a2",
    "The price of a gradient",
    Kind.PREDICT,
    points=0,
    minutes=2,
    level=1,
    text="A loss depends on a hundred weights, and you need its derivative with respect to each. How many times does the program run?",
    comment="A loss depends on a hundred weights, and you need all hundred derivatives.\n"
    "How many times does the program run with each method?",
    answer={ONE_SIDE: 101, BOTH_SIDES: 200, FORWARD: 1, BACKWARD: 1},
    wrong=(
        (
            "forgets the run without a nudge",
            {ONE_SIDE: 100},
            "A nudge shows how much the loss changes. What do you compare it with?",
        ),
        (
            "as many as with both sides",
            {ONE_SIDE: 200},
            "To one side, all nudged runs are compared with the same one, the run without a nudge.",
        ),
        ("one nudge for all", {ONE_SIDE: 1}, "One nudged run tells you about one weight. How many weights are there?"),
        ("one side of each pair", {BOTH_SIDES: 100}, "Each weight is nudged twice, up and down."),
        (
            "two runs forward",
            {FORWARD: 2},
            "Nothing is nudged here, so there is only one point at which to run the program.",
        ),
        ("two runs backward", {BACKWARD: 2}, "How many slopes did one backward pass give you for y = (3x + 2)²?"),
        (
            "no run forward",
            {FORWARD: 0},
            "The backward pass goes through what a run has recorded. Something has to record it first.",
        ),
        (
            "compares with the middle",
            {BOTH_SIDES: 201},
            "To both sides, the two of a pair are compared; the run in the middle is not used.",
        ),
        (
            "one backward for each weight",
            {BACKWARD: 100},
            "How many slopes did one backward pass give you for y = (3x + 2)²?",
        ),
        (
            "one forward for each weight",
            {FORWARD: 100},
            "Nothing is nudged here, so there is only one point at which to run the program.",
        ),
    ),
    hints=(
        "Count for three weights first, with a pencil: which runs are needed, and which can be shared?",
        "One side: (loss(w + h) - loss(w)) / h for each weight. Both sides: (loss(w + h) - loss(w - h)) / 2h for each weight.",
        "Three weights, one side: one run as it is and three with one weight nudged, so four. Both sides: two for each weight, so six.",
    ),
    working="""
        n = 100
        return {"nudge to one side: runs": n + 1, "nudge to both sides: runs": 2 * n, "AD: runs forward": 1, "AD: runs backward": 1}
    """,
    reveal="One side shares the unnudged run, both sides share nothing, and a backward pass fills in every derivative at once.",
    fresh=_fresh_01a2,
)


# ---- 01.b: descend --------------------------------------------------------------------------------------------------------------

SLOPES = {  # of drivers.LOSSES, by hand
    "a parabola": lambda w: [2 * (w[0] - 3)],
    "a bowl": lambda w: [2 * (w[0] - 3), 4 * (w[1] + 1)],
    "a slanted bowl": lambda w: [2 * (w[0] + 2 * w[1] - 4) + 2 * (w[0] - w[1]), 4 * (w[0] + 2 * w[1] - 4) - 2 * (w[0] - w[1])],
    "a line through three points": lambda w: [
        2 * sum((w[0] * x + w[1] - y) * x for x, y in drivers.THREE_POINTS) / 3,
        2 * sum(w[0] * x + w[1] - y for x, y in drivers.THREE_POINTS) / 3,
    ],
    "three weights": lambda w: [w[1] * math.cos(w[0] * w[1]), w[0] * math.cos(w[0] * w[1]) + 2 * w[1], 2 * (w[2] - 1)],
}  # fmt: skip


def _walked(name, ws, lr, steps):
    """Gradient descent with the exact derivatives."""
    for _ in range(steps):
        ws = [w - lr * s for w, s in zip(ws, SLOPES[name](ws), strict=True)]
    return ws


def _walk(title, name, ws, lr, steps, weight=1.0):
    def draw(r):
        return (name, [round(w + r.uniform(-0.4, 0.4), 3) for w in ws], round(lr * r.uniform(0.8, 1.2), 4), steps)

    return Probe(title, (name, ws, lr, steps), _walked, drivers.descends, weight, rtol=1e-4, atol=1e-5, draw=draw)


SOLUTION_B = '''\
def descend(loss, ws, lr, steps, h=1e-6):
    """Where the weights are after `steps` steps of gradient descent, as a list.

    loss(ws) gives one number for a list of weights; lr is the learning rate.
    """
    for _ in range(steps):
        here = loss(ws)
        slopes = []
        for i in range(len(ws)):
            nudged = list(ws)
            nudged[i] += h
            slopes.append((loss(nudged) - here) / h)
        ws = [w - lr * slope for w, slope in zip(ws, slopes)]
    return ws
'''

INNER = """\
        here = loss(ws)
        slopes = []
        for i in range(len(ws)):
            nudged = list(ws)
            nudged[i] += h
            slopes.append((loss(nudged) - here) / h)
        ws = [w - lr * slope for w, slope in zip(ws, slopes)]
"""


def _fresh_01b(rng):
    w, lr = rng.randint(4, 8), rng.choice([0.1, 0.25])
    return Fresh(
        f"The loss is (w - 1)², the weight is {w}, the learning rate {lr}. Where is the weight after one step of gradient descent?",
        w - lr * 2 * (w - 1),
        wrong=(
            (w + lr * 2 * (w - 1), "That is a step uphill: move against the slope."),
            (w - 2 * (w - 1), "The slope has to be multiplied by the learning rate."),
            (w - lr * (w - 1) ** 2, "A step is the learning rate times the slope of the loss, not times the loss."),
        ),
    )


KEPT = "the list that was handed over stays as it was"

EX_B = Exercise(
    id="01.b",
    title="Downhill with many weights",
    kind=Kind.BUILD,
    points=3,
    minutes=12,
    difficulty=2,
    question="Write gradient descent for a list of weights. Find every slope by nudging, then take the step.",
    entry="descend",
    stub='''\
def descend(loss, ws, lr, steps, h=1e-6):
    """Where the weights are after `steps` steps of gradient descent, as a list.

    loss(ws) gives one number for a list of weights; lr is the learning rate.
    """
    ...
''',
    solution=SOLUTION_B,
    probes=(
        _walk("one weight, one step", "a parabola", [5.0], 0.1, 1),
        _walk("one weight, ten steps", "a parabola", [-1.0], 0.1, 10),
        _walk("two weights", "a bowl", [5.0, 2.0], 0.05, 3),
        _walk("two weights that depend on each other", "a slanted bowl", [0.5, -1.0], 0.05, 6, weight=2),
        _walk("a line through three points", "a line through three points", [0.5, 0.4], 0.08, 20),
        _walk("three weights", "three weights", [0.8, 1.5, -2.0], 0.1, 4),
        _walk("no step at all", "a bowl", [5.5, 2.5], 0.05, 0, weight=0.5),
        Probe(
            KEPT,
            ("a bowl", [5.0, 2.0], 0.05, 3),
            lambda name, ws, lr, steps: ws,
            drivers.descends_from,
            draw=lambda r: ("a bowl", [round(r.uniform(3, 6), 3), round(r.uniform(1, 3), 3)], 0.05, 3),
        ),
    ),
    bank=(
        Wrong(
            "in place",
            but(
                SOLUTION_B,
                "        ws = [w - lr * slope for w, slope in zip(ws, slopes)]\n",
                """\
        for i in range(len(ws)):
            ws[i] -= lr * slopes[i]
""",
            ),
            "The steps are right, but they are written into the list that the caller handed over, so the caller's starting point is gone. "
            "Work on a copy: ws = list(ws).",
            on=(KEPT, "two weights", "two weights that depend on each other"),
        ),
        Wrong(
            "uphill",
            but(SOLUTION_B, "w - lr * slope", "w + lr * slope"),
            "You are walking uphill: the loss grows. Where the slope is positive, more weight means more loss. Which way is down?",
            on=("one weight, one step", "two weights"),
        ),
        Wrong(
            "one weight after the other",
            but(
                SOLUTION_B,
                INNER,
                """\
        for i in range(len(ws)):
            nudged = list(ws)
            nudged[i] += h
            ws[i] -= lr * (loss(nudged) - loss(ws)) / h
""",
            ),
            "You move the first weight before you have looked at the second, so the slopes belong to different points. "
            "A step uses the slopes of one point: collect them all, then move.",
            on=("two weights that depend on each other", "a line through three points"),
        ),
        Wrong(
            "change instead of slope",
            but(SOLUTION_B, "(loss(nudged) - here) / h", "loss(nudged) - here"),
            "The weights hardly move. The nudge tells you how much the loss changes; a slope is that change for each unit of w.",
            on=("one weight, one step", "two weights"),
        ),
        Wrong(
            "learning rate forgotten",
            but(SOLUTION_B, "w - lr * slope", "w - slope"),
            "Each step is too long by the same factor: the slope has to be multiplied by the learning rate.",
            on=("one weight, one step", "two weights"),
        ),
        Wrong(
            "nudges stay",
            but(SOLUTION_B, "nudged = list(ws)", "nudged = ws"),
            "Each nudge stays in ws, so the next slope is measured from another point. Nudge a copy, or take the nudge back.",
            on=("two weights", "three weights"),
        ),
        Wrong(
            "both losses at one place",
            but(but(SOLUTION_B, "nudged = list(ws)", "nudged = ws"), "- here) / h", "- loss(ws)) / h"),
            "The slopes are 0, because both losses are computed at the same place: nudged = ws is a second name for the same list. "
            "list(ws) makes a copy.",
            on=("one weight, one step", "two weights"),
        ),
        Wrong(
            "both sides over one h",
            but(SOLUTION_B, "(loss(nudged) - here) / h", "2 * (loss(nudged) - here) / h"),
            "Each step is twice too long. From w - h to w + h the distance is 2h: divide by that, or nudge to one side only.",
            on=("one weight, one step", "two weights"),
        ),
        Wrong(
            "one step too few",
            but(SOLUTION_B, "range(steps)", "range(steps - 1)"),
            "There is one step too few. How many times does the loop run for steps = 1?",
            on=("one weight, one step", "one weight, ten steps"),
        ),
        Wrong(
            "the step alone",
            but(SOLUTION_B, "w - lr * slope", "-lr * slope"),
            "That is the step. The new weight is the old one plus the step.",
            on=("one weight, one step", "two weights"),
        ),
        Wrong(
            "loss instead of slope",
            but(SOLUTION_B, "(loss(nudged) - here) / h", "here"),
            "You subtract the loss itself. How high you are does not tell you which way is down; the slope does.",
            on=("one weight, one step", "two weights"),
        ),
        Wrong(
            "all weights nudged together",
            but(SOLUTION_B, "nudged = list(ws)\n            nudged[i] += h", "nudged = [w + h for w in ws]"),
            "All weights move by the same amount. When you nudge them together, you cannot tell which of them changed the loss.",
            on=("two weights", "three weights"),
        ),
        Wrong(
            "only one step",
            but(SOLUTION_B, "    return ws\n", "        return ws\n    return ws\n"),
            "There is one step, however many were asked for. Look at the indentation of return.",
            on=("one weight, one step", "one weight, ten steps"),
        ),
        Wrong(
            "slopes of the start",
            but(
                SOLUTION_B,
                "    for _ in range(steps):\n" + INNER,
                """\
    here = loss(ws)
    slopes = []
    for i in range(len(ws)):
        nudged = list(ws)
        nudged[i] += h
        slopes.append((loss(nudged) - here) / h)
    for _ in range(steps):
        ws = [w - lr * slope for w, slope in zip(ws, slopes)]
""",
            ),
            "Every step uses the slopes of the starting point. The ground changes as you walk: measure again before each step.",
            on=("one weight, ten steps", "two weights"),
        ),
        Wrong(
            "returns the loss",
            but(SOLUTION_B, "    return ws\n", "    return loss(ws)\n"),
            "This is how high you are in the end. The list of weights is needed: where you are.",
            on=("one weight, one step", "two weights"),
        ),
        Wrong(
            "no return",
            but(SOLUTION_B, "    return ws\n", ""),
            "The function takes its steps and then returns nothing: a return is missing.",
        ),
    ),
    hints=Hints(
        nudge="With one weight you could look at one slope and go. With two weights: at which point do you measure the second slope?",
        rule="One step: for every weight, nudge it alone by h, see how much the loss changes, and divide by h. Only when all slopes are "
        "known, move each weight by lr times its slope, downhill.",
        twin="loss = u·v at u = 2, v = 5 with lr = 0.1. Nudging u shows the slope 5, nudging v shows 2, both at (2, 5). "
        "So u becomes 2 - 0.5 = 1.5 and v becomes 5 - 0.2 = 4.8.",
    ),
    reveal="All slopes are measured at one point, each with a single weight nudged; then all weights move at once. "
    "That list of slopes is called the gradient.",
    fresh=_fresh_01b,
)


# ---- 01.c: fool the nudge ---------------------------------------------------------------------------------------------------------


def _fooled(got):
    """None if nudging is wrong by more than a tenth where AD is right; otherwise what is missing."""
    if isinstance(got, dict) and "changes" in got:
        return "called twice with the same x, it returns two values: noise is no function of x"
    if not isinstance(got, dict) or "not smooth" in got:
        return f"refused: {got['not smooth']}" if isinstance(got, dict) else "the function has to return a number"
    exact, ad, nudged = got["exact"], got["ad"], got["nudged"]
    if not all(isinstance(x, (int, float)) and math.isfinite(x) for x in (exact, ad, nudged)):
        return "a value or a slope there is not a finite number"
    if exact == 0:
        return "the slope there is 0, so an error cannot be compared with it"
    if abs(ad - exact) > 1e-6 * abs(exact):
        return "AD is wrong there, too"
    if abs(nudged - exact) > 0.1 * abs(exact):
        return None
    return f"nudging is off by {abs(nudged / exact - 1):.0e} of the slope, which is not enough"


def _close_by(low, high):
    def when(seen):
        got = seen.value("near x = 1")
        if not isinstance(got, dict) or "exact" not in got or not got["exact"]:
            return False
        return low <= abs(got["nudged"] / got["exact"] - 1) < high

    return when


def _wild_in_one_place(seen):
    got = seen.value("near x = 1")
    return isinstance(got, dict) and got.get("largest error", 0) > 0.1 and _fooled(got) is not None


STUB_C = '''\
def fooled(x):
    """A smooth function whose slope nudging gets wrong by more than 10 %, at every x between 0.8 and 1.2.

    The nudge is h = 1e-5, to both sides. Use + - * / ** and .sin() .cos() .exp() .log() .tanh()
    """
    return x ** 3  # here it is right to ten digits
'''

EX_C = Exercise(
    id="01.c",
    title="Fool the nudge",
    kind=Kind.PUZZLE,
    points=2,
    minutes=8,
    difficulty=2,
    question="Find a smooth function whose slopes around x = 1 AD gets right, and a central difference with h = 1e-5 wrong by over 10 %.",
    entry="fooled",
    stub=STUB_C,
    solution=but(STUB_C, "x ** 3  # here it is right to ten digits", "(1_000_000 * x).sin()"),
    probes=(
        Probe(
            "near x = 1",
            (1.0,),
            None,
            drivers.fooled,
            accept=lambda got, *_: _fooled(got),
            draw=lambda r: (round(r.uniform(0.9, 1.1), 3),),
        ),
    ),
    bank=(
        Wrong(
            "flat there",
            but(STUB_C, "x ** 3", "(x - 3) ** 0"),
            "Where the slope is 0, no error can be measured in percent. The function has to rise or fall at x = 1.",
            when=lambda seen: (
                seen.value("near x = 1").get("exact") == 0 or "not depend" in seen.value("near x = 1").get("!", "")
            ),
        ),
        Wrong(
            "a pole",
            but(STUB_C, "x ** 3", "(x - 2).log()"),
            "The function has no value at x = 1. It has to be smooth there: wild, but defined.",
            when=lambda seen: seen.error("near x = 1") in ("ZeroDivisionError", "ValueError"),
        ),
        Wrong(
            "wild in one place",
            but(STUB_C, "x ** 3", "(1_000_000 * (x - 1)).tanh() + x"),
            "At x = 1 it works, and a little beside it the function is tame. Find one that is wild everywhere between 0.8 and 1.2.",
            when=_wild_in_one_place,
        ),
        Wrong(
            "a function of the module math",
            "import math\n\n\n" + but(STUB_C, "x ** 3", "math.sin(1_000_000 * x)"),
            "A function of the module math makes a plain number of x, and AD sees nothing of it. Use the method: x.exp() for math.exp(x).",
            when=lambda seen: "module math" in str((seen.value("near x = 1") or {}).get("not smooth", "")),
        ),
        Wrong(
            "a kink",
            but(STUB_C, "x ** 3", "(x - 1).relu() + x"),
            "A kink fools every step size, but the function has to be smooth: + - * / ** and the five methods are enough.",
            when=lambda seen: "not smooth" in (seen.value("near x = 1") or {}),
        ),
        Wrong(
            "a large factor",
            but(STUB_C, "x ** 3", "1_000_000 * x ** 3"),
            "A factor in front makes the slope and its error larger together, so the share of the error stays what it was.",
            when=lambda seen: _close_by(0, 1e-8)(seen) and abs(seen.value("near x = 1")["exact"]) > 1000,
        ),
        Wrong(
            "not wild enough",
            but(STUB_C, "x ** 3", "(10_000 * x).sin()"),
            "You are on the right track: the error has grown. Go further in the same direction.",
            when=_close_by(1e-8, 0.1),
        ),
        Wrong(
            "an ordinary function",
            but(STUB_C, "x ** 3", "(x * x).exp()"),
            "For ordinary functions h = 1e-5 is a good choice. Think of the two errors: how could the step be too coarse for a function, "
            "or how could its digits run out?",
            when=_close_by(0, 1e-8),
        ),
    ),
    hints=Hints(
        nudge="There are two ways to a bad slope: the step is too coarse for this function, or its digits run out. Choose one.",
        rule="Too coarse: the function must do a lot between x - h and x + h. Digits: a float keeps about 16 of them, so what happens to a "
        "small change of x when it is added to something huge?",
        twin="With h = 0.1 the function (50x).sin() is too much: between x - 0.1 and x + 0.1 it goes through more than one and a half "
        "waves, and the difference of the two ends says nothing about the slope in the middle.",
    ),
    reveal="A sine that swings a million times as fast goes up and down between the two points. x + 1e12 works too: there the digits "
    "run out. AD multiplies exact slopes and never looks at a second point.",
    fresh=lambda rng: Fresh(
        f"f(x) = sin(kx) with k = {(k := rng.choice([1000, 4000, 20000]))}. At 0 the central difference is sin(kh)/h. With h = 1e-3?",
        math.sin(k * 1e-3) / 1e-3,
        rtol=1e-3,
        wrong=((float(k), "That is the true slope k; the central difference gives something else."),),
    ),
)

EXERCISES = (EX_A, EX_A2, EX_B, EX_C)
