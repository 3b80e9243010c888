"""Chapter 03, the chain rule: its exercises."""

from __future__ import annotations

import math
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Limits, Probe, Wrong, ask, but

EX_A = ask(
    "03.a",
    "Fifty tanh",
    Kind.PREDICT,
    minutes=1,
    level=1,
    points=0,
    text="tanh is applied fifty times, starting from 0.5. How much of a tiny nudge on the start comes out at the end?",
    comment="tanh, fifty times, starting from 0.5.\nHow much of a tiny nudge comes out: 0.9, 0.5 or 0.03?",
    answer=0.03,
    wrong=(
        ("one step's worth", 0.9, "That is about what one step lets through, and there are fifty of them."),
        ("half", 0.5, "Each step lets through a little less than all of it. Multiply fifty such factors."),
        ("nothing", 0.0, "It becomes small, but something always comes through."),
        ("everything", 1.0, "Then tanh would change nothing. What does one step do to a small nudge?"),
    ),
    hints=(
        "What does one step let through, when its input is about 0.3?",
        "Each step lets a part through, a little below 1. Fifty such parts are multiplied.",
        "Twenty steps that let 0.8 through, one after the other, leave 0.8 multiplied by itself twenty times, and that is only 0.012.",
    ),
    reveal="Fifty factors, most of them between 0.9 and 0.97: about 0.03 is left.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"{n} steps let 0.9 through, one after the other. What part comes out?",
            0.9**n,
            wrong=((0.9, "That is one step."),),
        )
    )(r.randint(12, 40)),
)

EX_A2 = ask(
    "03.a2",
    "Three local slopes",
    Kind.PREDICT,
    minutes=4,
    level=2,
    points=0,
    text="y = sin(exp(x²)). What is dy/dx at x = 0.5, to three digits?",
    comment="y = sin(exp(x²)). What is dy/dx at x = 0.5?\nThree digits are enough; a calculator is allowed.",
    answer=math.cos(math.exp(0.25)) * math.exp(0.25),
    rtol=1.4e-3,
    wrong=(
        ("only the outer factor", 0.2829, "That is cos(exp(x²)), only the outer factor. Two more factors follow."),
        (
            "rounded too early",
            0.3570,
            "Close, and wrong: the cosine was rounded too early. Keep all digits until the end.",
        ),
        ("rounded to two digits", 0.36, "The idea is right, but three digits are needed."),
        ("sign", -0.3632, "The derivative of sin is cos, with a plus sign, and the cosine is positive here."),
        ("exp only", 1.284, "That is exp(x²), one of the three factors."),
        ("y itself", 0.9592, "That is y. How fast does it change?"),
        ("twice", 0.7265, "At x = 0.5 the factor 2x is not 2."),
    ),
    hints=(
        "Give every step a name: u = x², v = exp(u), y = sin(v). Compute u and v, then the local slope of each step.",
        "dy/dx = dy/dv · dv/du · du/dx, each factor taken at that step's own input. Keep all digits until the end.",
        "y = exp(sin(x)) at x = 1: the sine's factor is cos(1) = 0.5403, the exponential's is exp(sin 1) = 2.3198, the product 1.2534.",
    ),
    working="""
        from math import cos, exp
        x = 0.5
        u = x ** 2
        v = exp(u)
        return cos(v) * exp(u) * (2 * x)
    """,
    reveal="2x = 1, exp(u) = 1.28403 and cos(v) = 0.28286: the product is 0.3632.",
    fresh=lambda r: (
        lambda x: Fresh(
            f"y = exp(sin(x)) at x = {x}. What is dy/dx?",
            math.cos(x) * math.exp(math.sin(x)),
            wrong=((math.exp(math.sin(x)), "That is y: one factor is missing."),),
        )
    )(round(r.uniform(0.2, 1.2), 1)),
)

# ---- 03.b: sum over paths, merged -----------------------------------------------------------------------------------------------

STUB_B = '''\
def slope(graph, root, leaf):
    """The derivative of root with respect to leaf.

    graph gives for each name its inputs, as a list of pairs (name, local slope).
    Inputs come before what is made from them. For y = a + b, a = x², b = 3x, at x = 2:

        {"x": [], "a": [("x", 4.0)], "b": [("x", 3.0)], "y": [("a", 1.0), ("b", 1.0)]}
    """
    ...
'''

HEAD_B = STUB_B[: STUB_B.index("    ...")]

SOLUTION_B = (
    HEAD_B
    + """\
    total = {root: 1.0}
    for name, inputs in reversed(graph.items()):
        for source, local in inputs:
            total[source] = total.get(source, 0.0) + local * total.get(name, 0.0)
    return total.get(leaf, 0.0)
"""
)

_b = partial(but, SOLUTION_B)

EVERY_PATH = """\
def slope(graph, root, leaf):
    if root == leaf:
        return 1.0
    return sum(local * slope(graph, source, leaf) for source, local in graph[root])
"""

SEEN = """\
def slope(graph, root, leaf):
    total, seen = {root: 1.0}, set()

    def visit(name):
        if name in seen:
            return
        seen.add(name)
        for source, local in graph[name]:
            total[source] = total.get(source, 0.0) + local * total[name]
            visit(source)

    visit(root)
    return total.get(leaf, 0.0)
"""


def _slopes(r, n):
    """Local slopes of which no two are alike, and none is 0 or 1."""
    return [round(r.uniform(1.2, 3.0) * r.choice((-1, 1)), 2) for _ in range(n)]


def _paths(program, root, leaf, numbers):
    """The sum over paths, written out for each of the programs."""
    p, q, r, s, t = (*numbers, *[0.0] * 5)[:5]
    if program == "diamonds":
        return math.prod(a * b + c * d for a, b, c, d in zip(*[iter(numbers)] * 4, strict=True))
    return {
        ("chain", "y", "x"): p * q * r,
        ("chain", "y", "a"): q * r,
        ("two paths", "y", "x"): p * r + q * s,
        ("twice", "y", "x"): p + q,
        ("long and short", "y", "x"): t + p * q * r + p * s,
        ("beside", "y", "x"): p * r,
        ("beside", "y", "w"): 0.0,
        ("beside", "y", "y"): 1.0,
    }[program, root, leaf]


def _probe(name, program, root, leaf, *numbers, weight=1.0):
    def draw(r):
        return program, root, leaf, _slopes(r, len(numbers))

    return Probe(name, (program, root, leaf, list(numbers)), _paths, drivers.slope_on, weight, draw=draw)


def _sixty(r):
    return "diamonds", "y60", "y0", [round(r.uniform(0.5, 0.9), 2) for _ in range(4 * 60)]


EX_B = Exercise(
    id="03.b",
    title="A billion billion paths",
    kind=Kind.BUILD,
    points=3,
    minutes=12,
    difficulty=3,
    question="Write slope(graph, root, leaf) for any graph. The last test has sixty diamonds in a row, with 2⁶⁰ paths through them.",
    entry="slope",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        _probe("one path", "chain", "y", "x", 2.0, 5.0, -3.0),
        _probe("from the middle of a path", "chain", "y", "a", 2.0, 5.0, -3.0),
        _probe("two paths", "two paths", "y", "x", 4.0, 3.0, 2.0, 5.0),
        _probe("an input that is used twice", "twice", "y", "x", 2.0, 5.0),
        Probe(
            "twice with the same slope",
            ("twice", "y", "x", [3.0, 3.0]),
            _paths,
            drivers.slope_on,
            draw=lambda r: ("twice", "y", "x", _slopes(r, 1) * 2),
        ),
        _probe("a long and a short path", "long and short", "y", "x", 2.0, 3.0, -2.0, 5.0, 7.0),
        _probe("other results beside the root", "beside", "y", "x", 2.0, 3.0, 5.0, 7.0, 4.0),
        _probe("an input that has no part in it", "beside", "y", "w", 2.0, 3.0, 5.0, 7.0, 4.0, weight=0.5),
        _probe("the root itself", "beside", "y", "y", 2.0, 3.0, 5.0, 7.0, 4.0, weight=0.5),
        Probe(
            "60 diamonds",
            ("diamonds", "y60", "y0", [0.6 + 0.01 * (7 * k % 31) for k in range(4 * 60)]),
            _paths,
            drivers.slope_on,
            7,  # as much as all others together: following every path is what the chapter is against
            draw=_sixty,
        ),
    ),
    bank=(
        Wrong(
            "in the order of the alphabet",
            but(SOLUTION_B, "reversed(graph.items())", "sorted(graph.items(), reverse=True)"),
            "You sort the names, and they say nothing about the order: n10 comes before n9. The graph has an order. Go through it from "
            "the end.",
            on=("60 diamonds",),
        ),
        Wrong(
            "passed on before all has arrived",
            HEAD_B
            + """\
    total, todo = {root: 1.0}, [root]
    while todo:
        name = todo.pop()
        for source, local in graph[name]:
            total[source] = total.get(source, 0.0) + local * total[name]
            todo.append(source)
    return total.get(leaf, 0.0)
""",
            "Each time that something arrives at a node, you pass on all that it has, so the first part is passed on twice. Wait until "
            "everything has arrived: the graph from its end has the right order.",
            on=("a long and a short path",),
        ),
        Wrong(
            "every path",
            EVERY_PATH,
            "You follow 2⁶⁰ paths one by one. They share their ends: what is known at a node once need not be found again. Add up at each "
            "node, and pass on only the sum.",
            when=lambda seen: seen.late and seen.value("two paths") is not None,
        ),
        Wrong(
            "overwrites",
            _b("total.get(source, 0.0) + local", "local"),
            "What came over one edge is replaced by what comes over the next. Where paths meet, add.",
            on=("two paths", "an input that is used twice"),
        ),
        Wrong(
            "passes on too early",
            SEEN,
            "A node passed its sum on before all of its users had contributed. In which order do the rows come, and which order "
            "do you need?",
            on=("a long and a short path", "two paths"),
        ),
        Wrong(
            "only one path",
            EVERY_PATH.replace(
                "sum(local * slope(graph, source, leaf) for source, local in graph[root])",
                "graph[root][0][1] * slope(graph, graph[root][0][0], leaf) if graph[root] else 0.0",
            ),
            "Only the first input of each row is followed. The other inputs lead to the leaf, too.",
            on=("two paths", "an input that is used twice"),
        ),
        Wrong(
            "adds along a path",
            _b("local * total.get(name, 0.0)", "local + total.get(name, 0.0)"),
            "Along a path the slopes are multiplied. Only where paths meet are the products added.",
            on=("one path", "two paths"),
        ),
        Wrong(
            "no seed",
            _b("{root: 1.0}", "{}"),
            "Nothing starts the sum: how far does the root move when the root itself moves?",
            on=("one path", "an input that is used twice", "the root itself"),
        ),
        Wrong(
            "every input counts",
            """\
def slope(graph, root, leaf):
    at = {}
    for name, inputs in graph.items():
        at[name] = sum(local * at[source] for source, local in inputs) if inputs else 1.0
    return at[root]
""",
            "Every name without inputs counts as if it were the leaf. Only the leaf that is asked for moves; all others stand still.",
            on=("other results beside the root", "from the middle of a path", "an input that has no part in it"),
        ),
        Wrong(
            "multiplies where paths meet",
            """\
def slope(graph, root, leaf):
    at = {leaf: 1.0}
    for name, inputs in graph.items():
        if name != leaf:
            at[name] = 1.0 if inputs else 0.0
            for source, local in inputs:
                at[name] *= local * at.get(source, 0.0)
    return at[root]
""",
            "Where paths meet, the contributions are added. You multiply them.",
            on=("two paths", "an input that is used twice", "one path"),
        ),
        Wrong(
            "everything starts at one",
            """\
def slope(graph, root, leaf):
    total = dict.fromkeys(graph, 1.0)
    for name, inputs in reversed(graph.items()):
        for source, local in inputs:
            total[source] += local * total[name]
    return total[leaf]
""",
            "Every name starts with 1. Only the root does: for all others nothing has been added up yet.",
            on=("one path", "two paths"),
        ),
        Wrong(
            "from the wrong end",
            _b("reversed(graph.items())", "graph.items()"),
            "Only the edges that leave the root are counted: a row whose sum was still 0 has nothing to pass on. The root comes first, and "
            "it has the last row.",
            on=("one path", "two paths"),
        ),
        Wrong(
            "starts at the last row",
            _b("{root: 1.0}", "{list(graph)[-1]: 1.0}"),
            "The last row of the table need not be the root: start where you are told to start.",
            on=("other results beside the root",),
        ),
        Wrong(
            "stumbles where nothing arrives",
            _b("total.get(leaf, 0.0)", "total[leaf]").replace("total.get(name, 0.0)", "total[name]"),
            "Some names never receive anything, because the root does not depend on them. Their slope is zero, not an error.",
            when=lambda seen: (
                seen.error("an input that has no part in it") == "KeyError" and not seen.error("two paths")
            ),
        ),
    ),
    hints=Hints(
        "Follow the paths of the smallest diamond by hand. Which piece of work do you do twice?",
        "Keep one number for each name: the sum of everything that has arrived there, from the root. Go through the rows so that a "
        "name's sum is complete before you pass it on: local slope × sum, to each input.",
        "{'x': [], 'a': [('x', 2.0)], 'y': [('a', 10.0), ('x', 5.0)]}: the root starts with 1. Its row gives a ten and x five. "
        "The row of a gives x another twenty: 25 in all.",
    ),
    reveal="Read from the end, each name's sum is complete when its row comes. Each edge is used once, however many paths there are.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"{n} diamonds in a row, each with 4 edges. How many edges does your loop use, and not how many paths?",
            4 * n,
            wrong=((2**n, "That is the number of paths."), (2 * n, "A diamond has four edges.")),
        )
    )(r.randint(12, 40)),
    limits=Limits(seconds=1.0),
)

# ---- 03.c: bracketing -----------------------------------------------------------------------------------------------------------

EX_C = ask(
    "03.c",
    "Where to put the brackets",
    Kind.PUZZLE,
    minutes=8,
    level=2,
    points=2,
    text="Two chains of four Jacobians: find the fewest multiplications, and say which end one has to begin at.",
    comment="Chain A: (5×20)(20×4)(4×3)(3×30). Chain B: (40×50)(50×2)(2×60)(60×30).\n"
    "The last step is on the left. Find the fewest multiplications over all bracketings,\n"
    'and how they are reached: "reverse" (from the left), "forward" or "neither".',
    answer={"A: multiplications": 910, "A: mode": "reverse", "B: multiplications": 10_000, "B: mode": "neither"},
    wrong=(
        (
            "cheapest pair first",
            {"A: multiplications": 990},
            "A: multiplications: that is the cheapest pair first, (20×4)(4×3). A cheap first step can make a later one expensive.",
        ),
        (
            "from the right",
            {"A: multiplications": 5760},
            "A: multiplications: that is from the right. Try the other end, and the middle.",
        ),
        (
            "middle pair, then right",
            {"A: multiplications": 5040},
            "A: multiplications: that is one of the five bracketings, not the best.",
        ),
        (
            "both ends",
            {"A: multiplications": 1360},
            "A: multiplications: that is both ends first. There are five bracketings in all.",
        ),
        (
            "counts numbers",
            {"A: multiplications": 282},
            "A: multiplications: that is the size of the matrices. (a×b)(b×c) takes a·b·c.",
        ),
        (
            "only the last product",
            {"A: multiplications": 450},
            "A: multiplications: that is one of the three products. Add all three.",
        ),
        (
            "from the left",
            {"B: multiplications": 80_800},
            "B: multiplications: that is from the left. Is there a narrow place?",
        ),
        (
            "right to left in B",
            {"B: multiplications": 66_600},
            "B: multiplications: that is from the right. Is there a narrow place?",
        ),
        (
            "forgets the last product",
            {"B: multiplications": 7600},
            "B: multiplications: two products are there. The third joins them.",
        ),
        (
            "A neither",
            {"A: mode": "neither"},
            "A: mode: five bracketings are possible, and the cheapest does begin at an end.",
        ),
        (
            "A forward",
            {"A: mode": "forward"},
            "A: mode: there are fewer outputs, on the left, than inputs. Which end is cheaper?",
        ),
        (
            "B reverse",
            {"B: mode": "reverse"},
            "B: mode: from the left you build a matrix of 40 rows and 60 columns. Is it needed?",
        ),
        (
            "B forward",
            {"B: mode": "forward"},
            "B: mode: from the right you build a matrix of 50 rows and 30 columns. Is it needed?",
        ),
    ),
    hints=(
        "There are five ways to bracket four factors. Write them down before you count.",
        "(a×b)(b×c) is an (a×c) matrix and takes a·b·c multiplications. Never swap two factors; their shapes would not fit.",
        "(2×9)(9×3)(3×7): from the left 2·9·3 + 2·3·7 = 96, from the right 9·3·7 + 2·9·7 = 315. So begin on the left: reverse mode.",
    ),
    working="""
        return {"A: multiplications": 5 * 20 * 4 + 5 * 4 * 3 + 5 * 3 * 30,
                "B: multiplications": 40 * 50 * 2 + 2 * 60 * 30 + 40 * 2 * 30}
    """,
    reveal="A: from the left, 400 + 60 + 450. B: first both pairs, through the bottleneck of 2, then their product: 4000 + 3600 + 2400.",
    fresh=lambda r: (
        lambda a, b, c, d: Fresh(
            f"({a}×{b})({b}×{c})({c}×{d}). What is the smallest number of multiplications?",
            min(a * b * c + a * c * d, b * c * d + a * b * d),
            wrong=((max(a * b * c + a * c * d, b * c * d + a * b * d), "That is the dearer of the two bracketings."),),
        )
    )(r.randint(2, 4), r.randint(20, 30), r.randint(5, 9), r.randint(10, 19)),
)

EXERCISES = (EX_A, EX_A2, EX_B, EX_C)
