"""Chapter 08, outputs that are not one number: its exercises."""

from __future__ import annotations

from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask

EX_A = ask(
    "08.a",
    "An outer product with v = 1",
    Kind.PREDICT,
    minutes=5,
    level=2,
    text="z = outer(x, y) with x = [1, 2, 3, 4] and y = [5, 6, 7, 8]; z.backward(v) with v all ones. What are the entries of "
    "x.grad and of y.grad?",
    comment="z = outer(x, y) with x = [1, 2, 3, 4] and y = [5, 6, 7, 8]; z.backward(v) with v all ones.\n"
    "What are the entries of x.grad and of y.grad? Replace None by your answers.",
    answer={"each entry of x.grad": 26, "each entry of y.grad": 10},
    wrong=(
        (
            "mean instead of sum",
            {"each entry of x.grad": 1.625},
            "That is mean(): divided by the 16 entries of z. With v = 1 they are summed.",
        ),
        (
            "mean instead of sum, for y",
            {"each entry of y.grad": 0.625},
            "That is mean(): divided by the 16 entries of z. With v = 1 they are summed.",
        ),
        (
            "exchanged",
            {"each entry of x.grad": 10, "each entry of y.grad": 26},
            "x[i] is multiplied by every y[j], so its gradient is made of the y.",
        ),
        (
            "mean over a row",
            {"each entry of x.grad": 6.5, "each entry of y.grad": 2.5},
            "That is a mean over four. With v = 1 each of the four terms counts in full: add them.",
        ),
        ("one entry only", {"each entry of x.grad": 5}, "x[0] appears in a whole row of z, not only in its first entry."),
        ("v counted", {"each entry of x.grad": 4}, "That counts the terms in the sum. Each term is also multiplied by an entry of y."),
        (
            "v counted, for y",
            {"each entry of y.grad": 4},
            "That counts the terms in the sum. Each term is also multiplied by an entry of x.",
        ),
        (
            "x's for y",
            {"each entry of y.grad": 26},
            "That is built from the entries of y. The gradient of y[j] is made of the x that it was multiplied by.",
        ),
        (
            "y's for x",
            {"each entry of x.grad": 10},
            "That is built from the entries of x. The gradient of x[i] is made of the y that it was multiplied by.",
        ),
    ),
    hints=(
        "In which entries of z does x[0] appear, and with which factor?",
        "x[i].grad = sum over j of v[i, j] · y[j]. With v all ones: the sum of all y, for every i.",
        "x = [1, 2], y = [3, 4]: x.grad is [7, 7] and y.grad is [3, 3].",
    ),
    reveal="The sum of y is 26, the sum of x is 10.",
    fresh=lambda r: (
        lambda y: Fresh(
            f"z = outer(x, y), y = {y}, v all ones. What is each entry of x.grad?",
            sum(y),
            wrong=((sum(y) / (3 * len(y)), "That is mean()."),),
        )
    )([r.randint(2, 9) for _ in range(3)]),
)

STUB_B = '''\
def pullback(jacobian, v):
    """vᵀJ: what arrives at the inputs when v arrives at the outputs.

    jacobian is a list of rows, one per output; v has one number per output.
    Raises ValueError when v has another length than the output.
    """
    ...
'''

SOLUTION_B = """\
def pullback(jacobian, v):
    if len(v) != len(jacobian):
        raise ValueError(f"v has {len(v)} numbers, the output has {len(jacobian)}")
    return [sum(vi * row[j] for vi, row in zip(v, jacobian)) for j in range(len(jacobian[0]))]
"""


def _pullback(jacobian, v):
    out = [0.0] * len(jacobian[0])
    for i, row in enumerate(jacobian):
        for j, entry in enumerate(row):
            out[j] += v[i] * entry
    return out


J23 = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
J22 = [[4.0, 1.0], [3.0, 2.0]]


def _draw_b(r, columns=3):
    return [[float(r.choice([-5, -4, -3, -2, 2, 3, 4, 5])) for _ in range(columns)] for _ in range(2)], [float(r.choice([-3, -2, 3])), 2.0]


EX_B = Exercise(
    id="08.b",
    title="Backward with a v",
    kind=Kind.FILL_IN,
    points=2,
    minutes=8,
    difficulty=2,
    question="Write what backward(v) computes, for a Jacobian that is given: and refuse a v of the wrong length.",
    entry="pullback",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe("two outputs, three inputs", (J23, [1.0, -2.0]), _pullback, draw=_draw_b),
        Probe("two and two", (J22, [1.0, 5.0]), _pullback, draw=lambda r: _draw_b(r, 2)),
        Probe("v picks one output", (J23, [0.0, 1.0]), _pullback, draw=lambda r: (_draw_b(r)[0], [0.0, 1.0])),
        Probe("v too short", (J23, [1.0]), raises=("ValueError",), draw=lambda r: (_draw_b(r)[0], [float(r.randint(1, 9))])),
        Probe("v too long", (J23, [1.0, 2.0, 3.0]), raises=("ValueError",), draw=lambda r: (_draw_b(r)[0], [2.0, -1.0, 3.0])),
    ),
    bank=(
        Wrong(
            "no check of v",
            SOLUTION_B.replace("len(v) != len(jacobian)", "False"),
            "The numbers are right. A v of the wrong length must be refused with a ValueError: zip silently drops what has no partner.",
            on=("two outputs, three inputs", "two and two", "v too long"),
        ),
        Wrong(
            "compares with the columns",
            SOLUTION_B.replace("len(v) != len(jacobian)", "len(v) != len(jacobian[0])"),
            "v has one number for each output, and the outputs are the rows. Your check counts the columns, the inputs.",
            on=("two outputs, three inputs", "two and two"),
        ),
        Wrong(
            "J times v",
            "def pullback(jacobian, v):\n    if len(v) != len(jacobian):\n        raise ValueError(len(v))\n    return [sum(a * "
            "b for a, b in zip(row, v)) for row in jacobian]\n",
            "That is J·v, forward mode: it combines the inputs. vᵀJ combines the rows, one weight per output.",
            on=("two and two",),
        ),
        Wrong(
            "v ignored",
            SOLUTION_B.replace("vi * row[j]", "row[j]"),
            "v is ignored: every output is weighted by 1.",
            on=("two outputs, three inputs", "two and two"),
        ),
        Wrong(
            "mean",
            SOLUTION_B.replace("row[j] for vi, row in zip(v, jacobian))", "row[j] for vi, row in zip(v, jacobian)) / len(v)"),
            "The rows are added with their weights, not averaged.",
            on=("two outputs, three inputs", "two and two"),
        ),
        Wrong(
            "another error",
            SOLUTION_B.replace("raise ValueError(", "raise IndexError("),
            "The wrong v is noticed. The error for a wrong value is ValueError.",
            when=lambda seen: seen.error("v too long") not in ("", "ValueError"),
        ),
        Wrong(
            "prints instead of raising",
            SOLUTION_B.replace("raise ValueError(", "return print("),
            "A message on the screen stops nobody: raise the ValueError.",
            when=lambda seen: seen.value("two and two") is not None and not seen.error("v too long") and seen.value("v too long") is None,
        ),
    ),
    hints=Hints(
        "Entry j of the result: which numbers of the Jacobian belong to input j?",
        "result[j] = sum over outputs i of v[i] · J[i][j]. The result has one number per input.",
        "J = [[2, 0], [1, 3]], v = [10, 1]: input 0 gets 10·2 + 1·1 = 21, input 1 gets 10·0 + 1·3 = 3.",
    ),
    reveal="A weighted sum of the rows. backward never builds J: it computes this sum directly.",
    fresh=lambda r: (
        lambda a, b: Fresh(
            f"J = [[{a}, 1], [{b}, 2]], v = [1, 10]. What is the first number of vᵀJ?", a + 10 * b, wrong=((a + 10, "That is J·v."),)
        )
    )(r.randint(2, 9), r.randint(2, 9)),
)

EX_C = ask(
    "08.c",
    "Square every entry",
    Kind.PREDICT,
    minutes=3,
    level=1,
    text="x = [1, 2, 3], y = x ** 2, y.backward(ones). What is x.grad? Answer with a list.",
    comment="x = [1, 2, 3], y = x ** 2, y.backward(ones). What is x.grad?\nReplace None by a list.",
    answer=[2, 4, 6],
    wrong=(
        ("the slope at 1 everywhere", [2, 2, 2], "The slope of x² is 2x: each entry has its own x."),
        ("the whole table", [[2, 0, 0], [0, 4, 0], [0, 0, 6]], "That is the whole Jacobian. backward(v) adds its rows, each times its v."),
        ("added up", 12, "x.grad has the shape of x: one number for each entry."),
        ("the values", [1, 4, 9], "That is y. Its derivative is what goes into x.grad."),
        ("the mean's", [2 / 3, 4 / 3, 2], "That is mean(): with v = ones the entries are summed, not averaged."),
        ("one number", [12], "x.grad has the shape of x: one number for each entry."),
        ("the input", [1, 2, 3], "One factor is missing: the derivative of a square."),
    ),
    hints=(
        "Which entries of y depend on x[1]?",
        "Entry by entry: y[i] depends on x[i] only, with derivative 2·x[i], times v[i].",
        "x = [5, 10], y = 3·x, v = [1, 100]: x.grad is [3, 300].",
    ),
    reveal="2x for every entry, since v = 1: [2, 4, 6].",
    fresh=lambda r: (
        lambda a, b: Fresh(
            f"x = [{a}, {b}], y = x ** 2, v = [1, 10]. What is x.grad? Answer with a list.",
            [2 * a, 20 * b],
            wrong=(([2 * a, 2 * b], "v weights the entries."),),
        )
    )(r.randint(2, 9), r.randint(2, 9)),
)

EX_D = ask(
    "08.d",
    "Read the error",
    Kind.EXPLAIN,
    minutes=3,
    level=1,
    text='"grad can be implicitly created only for scalar outputs": what happened, and what repairs it?',
    comment='y.backward() stopped with "grad can be implicitly created only for scalar outputs".\nWhat happened?\n'
    '  "a" y needs requires_grad=True\n'
    '  "b" y has several entries, and backward does not know how to weight them\n'
    '  "c" x must be a single number\n'
    '  "d" backward ran twice\n'
    "Replace None by the letter, in quotes.",
    answer="b",
    wrong=(
        ("requires_grad", "a", 'That is another error ("does not require grad"). Here y is in the graph, but it is not one number.'),
        ("x must be scalar", "c", "x may have any shape. Which tensor's shape matters for starting backward?"),
        ("twice", "d", 'That is another error ("backward through the graph a second time").'),
    ),
    hints=(
        "Which number would be put on y as the seed?",
        "For one number the seed is 1. For several there are many possible seeds, so you must give one: backward(v), or reduce y first.",
        '"Rate this hotel" has one answer; "rate these five hotels" has none before you say how they are weighted.',
    ),
    reveal="y is not a scalar: call y.backward(v), or y.sum().backward(), which is v = ones.",
    fresh=lambda r: Fresh(
        "y has 4 entries. y.mean().backward() equals y.backward(v) with which number in every entry of v?",
        0.25,
        wrong=((1, "That is sum()."),),
    ),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
