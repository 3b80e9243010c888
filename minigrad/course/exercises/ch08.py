"""Chapter 08, outputs that are not one number: its exercises."""

from __future__ import annotations

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

# ---- 08.a: an outer product ---------------------------------------------------------------------------------------------------------

ALL, MEAN = "x.grad, v all ones", "x.grad, mean"
ALL_Y, MEAN_Y = "y.grad, v all ones", "y.grad, mean"

EX_A = ask(
    "08.a",
    "An outer product, summed and averaged",
    Kind.PREDICT,
    points=0,
    minutes=5,
    level=2,
    text="z = outer(x, y) with x = [1, 2, 3, 4] and y = [5, 6, 7, 8]. Every entry of x.grad is the same number, and so is every entry of "
    "y.grad. Which numbers are they after z.backward(v) with v all ones, and which after z.mean().backward()?",
    comment="z[i, j] = x[i] * y[j] with x = [1, 2, 3, 4] and y = [5, 6, 7, 8]: 16 entries.\n"
    "What is each entry of the two gradients? Replace each None by a number.",
    answer={ALL: 26, ALL_Y: 10, MEAN: 1.625, MEAN_Y: 0.625},
    wrong=(
        (
            "the sum twice",
            {MEAN: 26, MEAN_Y: 10},
            "The mean counts each of the 16 entries for one sixteenth; v = 1 counts each in full.",
        ),
        (
            "the mean twice",
            {ALL: 1.625, ALL_Y: 0.625},
            "That is the mean's gradient. With v = 1 each of the 16 entries counts in full.",
        ),
        ("exchanged", {ALL: 10, ALL_Y: 26}, "x[i] is multiplied by every y[j], so its gradient is made of the y."),
        ("x of x", {ALL: 10}, "That is made of the x, so it belongs to y. Which numbers multiply x[0]?"),
        ("y of y", {ALL_Y: 26}, "That is made of the y, so it belongs to x. Which numbers multiply y[0]?"),
        ("x of x, mean", {MEAN: 0.625}, "That is made of the x, so it belongs to y. Which numbers multiply x[0]?"),
        ("y of y, mean", {MEAN_Y: 1.625}, "That is made of the y, so it belongs to x. Which numbers multiply y[0]?"),
        (
            "entries counted",
            {ALL: 16},
            "z has 16 entries, but each x[i] is in four of them only, and they are not multiplied by 1.",
        ),
        ("mean over a row", {MEAN: 6.5, MEAN_Y: 2.5}, "That is a mean over four entries, but z has 16."),
        ("one entry only", {ALL: 5}, "x[0] appears in a whole row of z, not only in its first entry."),
        (
            "terms counted",
            {ALL: 4, ALL_Y: 4},
            "That counts the terms in the sum. Each of them is an entry of the other vector.",
        ),
    ),
    hints=(
        "In which entries of z does x[0] appear, and with which factor?",
        "x[i].grad is the sum over j of v[i, j] · y[j]. For the mean, every v[i, j] is 1 divided by the number of entries.",
        "With x = [1, 2], y = [3, 4] and v all ones, x.grad is [7, 7] and y.grad is [3, 3]; for the mean they are a quarter of that.",
    ),
    working="""
        x, y = [1, 2, 3, 4], [5, 6, 7, 8]
        v = 1 / (len(x) * len(y))
        return {"x.grad, v all ones": sum(y), "y.grad, v all ones": sum(x), "x.grad, mean": v * sum(y), "y.grad, mean": v * sum(x)}
    """,
    reveal="x[i] meets every y[j], so with v = 1 its gradient is their sum; y[j] gets the sum of the x. The mean divides both by 16.",
    fresh=lambda r: (
        lambda y: Fresh(
            f"z = outer(x, y), y = {y}, and v is all ones. What is each entry of x.grad?",
            sum(y),
            wrong=((sum(y) / (3 * len(y)), "That is what the mean would give for three x."),),
        )
    )([r.randint(2, 9) for _ in range(3)]),
)

# ---- 08.b: find v -------------------------------------------------------------------------------------------------------------------

STUB_B = '''\
def find_v(J, wanted):
    """The v for which y.backward(v) leaves x.grad == wanted.

    Return a list of two numbers, or None if no v does that.
    J is the Jacobian at x, as a list of two rows: J[i][j] is the derivative of y[i] with respect to x[j].
    """
    ...
'''

SOLUTION_B = """\
def find_v(J, wanted):
    (a, b), (c, d) = J
    p, q = wanted
    det = a * d - b * c
    if det != 0:
        return [(p * d - q * c) / det, (a * q - b * p) / det]
    for k in (0, 1):  # the rows are parallel: what both can reach, one of them reaches alone
        first, second = J[k]
        size = p / first if first else q / second if second else 0.0
        if [size * first, size * second] == [p, q]:
            return [0.0] * k + [size] + [0.0] * (1 - k)
    return None
"""

_b = lambda old, new: but(SOLUTION_B, old, new)  # noqa: E731


def _leaves_wanted(got, J, wanted):
    if got is None:
        return "no v was found, but there is one"
    if not (isinstance(got, list) and len(got) == 2 and all(type(v) in (int, float) for v in got)):
        return "a list of two numbers is needed"
    arrives = [got[0] * J[0][j] + got[1] * J[1][j] for j in (0, 1)]
    if all(abs(x - w) <= 1e-6 * (1 + abs(w)) for x, w in zip(arrives, wanted, strict=True)):
        return None
    return "with this v, x.grad is something else"


def _must_be_none(got, J, wanted):
    return None if got is None else "no v leaves this gradient, but one came back"


def _matrix(r):
    """Four different sizes, so that neither the transpose nor an exchange goes unnoticed, and a determinant that is not 0."""
    while True:
        a, b, c, d = (float(k * r.choice([-1, 1])) for k in r.sample([2, 3, 4, 5, 6, 7], 4))
        if a * d != b * c:
            return [[a, b], [c, d]]


def _draw_v(r):
    return _matrix(r), [float(r.choice([-9, -8, 7, 11])), float(r.choice([-5, 3, 6, 10]))]


def _draw_parallel(r, reached):
    a, b, k = float(r.choice([2, 3, 5])), float(r.choice([-4, 7])), float(r.choice([-2, 3]))
    t = float(r.choice([-3, 2, 4]))
    return [[a, b], [k * a, k * b]], [t * a, t * b if reached else t * b + 1.0]


EX_B = Exercise(
    id="08.b",
    title="Which v was it?",
    kind=Kind.PUZZLE,
    points=2,
    minutes=15,
    difficulty=3,
    question="Find the v for which y.backward(v) leaves the wanted x.grad. For some Jacobians and gradients there is none.",
    entry="find_v",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe("one row is asked for", ([[3.0, 4.0], [5.0, -2.0]], [5.0, -2.0]), accept=_leaves_wanted,
              draw=lambda r: (lambda J: (J, list(J[r.randint(0, 1)])))(_matrix(r))),
        Probe("a mixture of both rows", ([[3.0, 4.0], [5.0, -2.0]], [11.0, 6.0]), accept=_leaves_wanted, draw=_draw_v),
        Probe("another mixture", ([[-2.0, 7.0], [3.0, 5.0]], [-8.0, 10.0]), accept=_leaves_wanted, draw=_draw_v),
        Probe("a row of zeros", ([[0.0, 0.0], [0.0, 3.0]], [0.0, 6.0]), accept=_leaves_wanted,
              draw=lambda r: ([[0.0, 0.0], [0.0, float(r.randint(2, 5))]], [0.0, float(r.randint(6, 9))]), weight=0.5),
        Probe("parallel rows, out of reach", ([[2.0, 7.0], [-4.0, -14.0]], [6.0, 22.0]), accept=_must_be_none,
              draw=lambda r: _draw_parallel(r, False)),
        Probe("parallel rows, within reach", ([[2.0, 7.0], [-4.0, -14.0]], [6.0, 21.0]), accept=_leaves_wanted,
              draw=lambda r: _draw_parallel(r, True), weight=0.5),
    ),
    bank=(
        Wrong("parallel rows give up", _b("for k in (0, 1)", "for k in ()"),
              "Parallel rows still reach every multiple of a row. Only what lies outside that line is out of reach.",
              on=("parallel rows, within reach", "parallel rows, out of reach", "a mixture of both rows")),
        Wrong("solved with J", _b("[(p * d - q * c) / det, (a * q - b * p) / det]", "[(p * d - q * b) / det, (a * q - c * p) / det]"),
              "That solves J v = wanted. But v weights the rows, one for each output: it multiplies J from the left.",
              on=("a mixture of both rows", "another mixture")),
        Wrong("multiplied", "def find_v(J, wanted):\n    return [wanted[0] * J[0][j] + wanted[1] * J[1][j] for j in (0, 1)]\n",
              "That is x.grad when v is `wanted`. The question goes the other way: x.grad is known, and v is not.",
              on=("a mixture of both rows",)),
        Wrong("only the first row", "def find_v(J, wanted):\n    return [wanted[0] / J[0][0], 0.0]\n",
              "That uses only the first row. With two rows, two conditions hold at once: one for each entry of x.grad.",
              on=("a mixture of both rows",)),
        Wrong("each entry by itself", "def find_v(J, wanted):\n    return [wanted[0] / J[0][0], wanted[1] / J[1][1]]\n",
              "That would be right if J had zeros outside its diagonal. Each entry of x.grad gets a contribution from both rows.",
              on=("a mixture of both rows",)),
        Wrong("signs of the inverse", SOLUTION_B.replace("p * d - q * c", "p * d + q * c").replace("a * q - b * p", "a * q + b * p"),
              "The two equations are solved with a wrong sign: put your v into vᵀJ for the first test, and see which entry is off.",
              on=("a mixture of both rows",)),
        Wrong("the nearest v", "import numpy as np\n\n\ndef find_v(J, wanted):\n    return list(np.linalg.pinv(np.array(J).T) @ wanted)\n",
              "A pseudoinverse gives the v that comes nearest. If it does not give the wanted gradient, the answer is None.",
              on=("parallel rows, out of reach", "parallel rows, within reach")),
        Wrong("no solution is not noticed", _b("if [size * first, size * second] == [p, q]:", "if True:"),
              "When the rows are parallel, x.grad is always a multiple of them. Check whether the wanted one is.",
              on=("parallel rows, out of reach", "a mixture of both rows")),
        Wrong("divides by zero", "def find_v(J, wanted):\n    (a, b), (c, d) = J\n    p, q = wanted\n    det = a * d - b * c\n"
              "    return [(p * d - q * c) / det, (a * q - b * p) / det]\n",
              "When the rows are parallel, the determinant is 0 and there is nothing to divide by. Then v exists only for some gradients.",
              on=("parallel rows, out of reach",),
              when=lambda seen: seen.error("parallel rows, out of reach") in ("ZeroDivisionError", "LinAlgError")
              and not seen.error("a mixture of both rows")),
        Wrong("multiplied by J", "def find_v(J, wanted):\n    return [row[0] * wanted[0] + row[1] * wanted[1] for row in J]\n",
              "That multiplies J by `wanted`. The question goes the other way: v is unknown, and vᵀJ is known.",
              on=("a mixture of both rows",)),
    ),
    hints=Hints(
        "Write down vᵀJ for two unknown numbers v0 and v1. What must each of its two entries be?",
        "Two equations for v0 and v1, one for each column of J: the first is v0·J[0][0] + v1·J[1][0] = wanted[0]. When both rows point in "
        "the same direction, only multiples of that direction can be reached.",
        "J = [[1, 2], [0, 1]] and wanted = [3, 4]: the first column gives v0 = 3, the second 2·3 + v1 = 4, so v1 = −2.",
    ),
    reveal="vᵀJ = wanted is one equation for each column. The rows of J span what any v can reach: for independent rows that is "
    "everything, for parallel rows only one direction.",
    fresh=lambda r: (
        lambda a, d, v: Fresh(
            f"J = [[{a}, 1], [0, {d}]] and x.grad is [{a * v[0]}, {v[0] + d * v[1]}]. What was v? Answer with a list.",
            v,
            wrong=(([a * v[0] / a, (v[0] + d * v[1]) / d], "The first output contributes to the second entry as well."),),
        )
    )(r.randint(2, 5), r.randint(2, 5), [r.randint(2, 4), r.randint(-3, -1)]),
)  # fmt: skip

# ---- 08.c: the Jacobian, by your own engine -----------------------------------------------------------------------------------------

STUB_C = '''\
def jacobian(f, xs, Value, backward):
    """The Jacobian of f at the numbers xs, as a list of rows.

    Entry [i][j] is the derivative of output i with respect to input j.
    f takes a list of Values and returns a list of Values. Value and backward are the engine:
    yours, or any like it.
    Use one backward pass for each output.
    """
    ...
'''

SOLUTION_C = """\
def jacobian(f, xs, Value, backward):
    rows = []
    for i in range(len(f([Value(x) for x in xs]))):
        leaves = [Value(x) for x in xs]
        backward(f(leaves)[i])
        rows.append([leaf.grad for leaf in leaves])
    return rows
"""

ONE_GRAPH = """\
def jacobian(f, xs, Value, backward):
    leaves = [Value(x) for x in xs]
    rows = []
    for y in f(leaves):
        backward(y)
        rows.append([leaf.grad for leaf in leaves])
    return rows
"""

CLEARED = "        for leaf in leaves:\n            leaf.grad = 0.0\n        backward(y)\n"


def _J(name, xs):
    """The Jacobians of drivers.MANY_OUTPUTS, by hand."""
    a, b, *c = xs
    h = a * b
    return {
        "product and sum": lambda: [[b, a], [1.0, 2 * b]],
        "three to two": lambda: [[b, a, 3.0], [c[0] ** 2, -1.0, 2 * a * c[0]]],
        "two to three": lambda: [[3 * a * a, 0.0], [b, a], [2.0, -5.0]],
        "shared": lambda: [[2 * h * b, 2 * h * a], [b + 1.0, a], [b, a]],
        "an input is an output": lambda: [[0.0, 1.0], [b, a], [0.0, 1.0]],
        "one output": lambda: [[b * 2, a * 2]],
    }[name]()


def _numbers(n):
    return lambda r: [float(k * r.choice([-1, 1])) for k in r.sample([2, 3, 4, 5, 6, 7], n)]


def _rows(name, label, xs, weight=1.0):
    draw = _numbers(len(xs))
    return Probe(label, (name, xs), _J, drivers.jacobian_of, weight, draw=lambda r: (name, draw(r)))


EX_C = Exercise(
    id="08.c",
    title="A Jacobian from your own engine",
    kind=Kind.BUILD,
    points=3,
    minutes=12,
    difficulty=2,
    reused=True,
    question="Build the Jacobian of any function of Values, with one backward pass for each output.",
    entry="jacobian",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        _rows("product and sum", "two outputs of two inputs", [2.0, 5.0]),
        _rows("three to two", "two outputs of three inputs", [2.0, 3.0, 5.0]),
        _rows("two to three", "three outputs of two inputs", [2.0, 7.0]),
        _rows("shared", "outputs that share a value in between", [3.0, 4.0], 2.0),
        _rows("an input is an output", "an output that is an input", [3.0, 5.0]),
        _rows("one output", "one output", [4.0, 3.0], 0.5),
        Probe("backward passes", ("two to three", [2.0, 7.0]), {"backward passes": 3}, drivers.jacobian_passes,
              draw=lambda r: ("two to three", _numbers(2)(r)), weight=0.5),
    ),
    bank=(
        Wrong("rows accumulate", ONE_GRAPH,
              "Each row contains the rows before it: backward adds to .grad. Start every row with values that hold nothing.",
              on=("two outputs of two inputs", "three outputs of two inputs")),
        Wrong("only the inputs are cleared", but(ONE_GRAPH, "        backward(y)\n", CLEARED),
              "The inputs start at 0, but values in between still hold what an earlier row left there. A fresh graph for every row has "
              "no leftovers.", on=("outputs that share a value in between",)),
        Wrong("transposed", but(SOLUTION_C, "return rows", "return [list(column) for column in zip(*rows)]"),
              "A row belongs to an output, a column to an input: yours is the other way round.",
              on=("two outputs of two inputs", "two outputs of three inputs")),
        Wrong("the sum's gradient in every row",
              "def jacobian(f, xs, Value, backward):\n    leaves = [Value(x) for x in xs]\n    ys = f(leaves)\n"
              "    backward(sum(ys[1:], ys[0]))\n    return [[leaf.grad for leaf in leaves] for _ in ys]\n",
              "Every row is the same: that is the gradient of the sum of all outputs. Start a backward pass at each output by itself.",
              on=("two outputs of two inputs", "three outputs of two inputs")),
        Wrong("one output too few", but(SOLUTION_C, "range(len(f([Value(x) for x in xs])))", "range(len(xs))"),
              "There is a row for each output, and there may be more outputs than inputs, or fewer.",
              on=("three outputs of two inputs",)),
        Wrong("values in the place of gradients", but(SOLUTION_C, "leaf.grad", "leaf.data"),
              "Those are the inputs. After backward the derivatives are in .grad.", on=("two outputs of two inputs", "one output")),
        Wrong("nudged", "def jacobian(f, xs, Value, backward, h=1e-6):\n    columns = []\n    for j in range(len(xs)):\n"
              "        up, down = ([Value(x + (k == j) * s) for k, x in enumerate(xs)] for s in (h, -h))\n"
              "        columns.append([(u.data - d.data) / (2 * h) for u, d in zip(f(up), f(down))])\n"
              "    return [list(row) for row in zip(*columns)]\n",
              "These are nudges: a little inexact, and without any backward pass. Let the engine run a backward pass from each output.",
              on=("backward passes",)),
    ),
    hints=Hints(
        "One backward pass gives the derivatives of one output by all inputs. Which part of the Jacobian is that?",
        "For each output: make fresh Values from xs, run f, start the backward pass at that output, and read .grad of every input.",
        "f = [x0 · x1] at [2, 3]: two leaves, one product; backward from it leaves 3 and 2, so the Jacobian is [[3, 2]].",
    ),
    reveal="Fresh leaves and a fresh graph for each row cost one more run of f, but nothing can be left over from the row before.",
    fresh=lambda r: (
        lambda a, b: Fresh(
            f"f = [x0 · x1, x0 + {a}·x1] at [2, {b}]: the two backward passes run on one graph, and nothing is cleared. What do the inputs "
            "hold after the second? Answer with a list.",
            [b + 1, 2 + a],
            wrong=(([1, a], "That is the second row alone. What did the first pass leave behind?"),),
        )
    )(r.randint(3, 6), r.randint(4, 8)),
)  # fmt: skip

EX_C2 = ask(
    "08.c2",
    "Five times as many samples",
    Kind.PREDICT,
    points=0,
    minutes=3,
    level=2,
    text="At w = 0, four samples and a v of ones give w.grad = -72. What do five times as many samples of the same kind give, with a v of "
    "ones, and with a v whose entries are all 1/20?",
    comment="At w = 0, four samples and a v of ones give w.grad = -72.\n"
    "What do twenty samples of the same kind give? Replace each None by a number.",
    answer={"20 samples, v all ones": -360, "20 samples, v all 1/20": -18},
    wrong=(
        ("no difference", {"20 samples, v all ones": -72}, "With ones, each sample adds its own derivative in full."),
        ("the sum, again", {"20 samples, v all 1/20": -360}, "Every entry of v is a twentieth of what it was with ones."),
        ("that of four", {"20 samples, v all 1/20": -72}, "That is the sum over four samples. A mean over them would be a quarter of it."),
        ("divided twice", {"20 samples, v all 1/20": -3.6}, "Twenty samples are added up, and each is divided by twenty, not more."),
    ),
    hints=(
        "How much does one sample contribute on average, if four of them make -72?",
        "A v of ones adds up the rows, so five times as many rows make five times the sum. A v of 1/n averages them.",
        "Three samples that give 5 each: ones make 15, and 1/3 each makes 5. Thirty such samples make 150 and again 5.",
    ),
    reveal="Ones add up, so the gradient becomes five times as long. The mean stays what it is for four samples.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"{n} samples give the gradient {7 * n} with v all ones. What do {3 * n} of the same kind give with v all 1/{3 * n}?",
            7,
            wrong=((21 * n, "That is the sum."), (7 * n, "That is the sum over fewer samples.")),
        )
    )(r.randint(11, 20)),
)  # fmt: skip

EXERCISES = (EX_A, EX_B, EX_C, EX_C2)
