"""Chapter 09, tensors: its exercises. numpy is imported only when an answer is run."""

from __future__ import annotations

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask

STUB_A = '''\
def matmul_backward(g, W, x):
    """y = W @ x. Given g, the gradient at y: (gradient at W, gradient at x). All are numpy arrays of two dimensions."""
    ...
'''

SOLUTION_A = '''\
def matmul_backward(g, W, x):
    """y = W @ x. Given g, the gradient at y: (gradient at W, gradient at x). All are numpy arrays of two dimensions."""
    return g @ x.T, W.T @ g
'''


def _matmul(g, W, x):
    """Entry by entry: dW[i][j] = sum_k g[i][k] x[j][k], dx[j][k] = sum_i W[i][j] g[i][k]."""
    rows, inner, cols = range(len(W)), range(len(x)), range(len(x[0]))
    return [
        [[sum(g[i][k] * x[j][k] for k in cols) for j in inner] for i in rows],
        [[sum(W[i][j] * g[i][k] for i in rows) for k in cols] for j in inner],
    ]


def _rand(r, *shape):
    return [[float(r.randint(-9, 9)) for _ in range(shape[1])] for _ in range(shape[0])]


def _a(new):
    return SOLUTION_A.replace("g @ x.T, W.T @ g", new)


EX_A = Exercise(
    id="09.a",
    title="Backward of a matrix product",
    kind=Kind.FILL_IN,
    points=2,
    minutes=8,
    difficulty=2,
    question="y = W @ x, and g arrives at y. What arrives at W and at x? Let the shapes guide you.",
    entry="matmul_backward",
    stub=STUB_A,
    solution=SOLUTION_A,
    probes=(
        Probe(
            "shapes (2, 3) @ (3, 1)",
            ([[1.0], [-2.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0], [8.0], [9.0]]),
            _matmul,
            drivers.call_arrays,
            parts=("gradient of W", "gradient of x"),
            draw=lambda r: (_rand(r, 2, 1), _rand(r, 2, 3), _rand(r, 3, 1)),
        ),
        Probe(
            "shapes (2, 3) @ (3, 4)",
            (
                [[1.0, 0.5, -1.0, 2.0], [3.0, -2.0, 0.0, 1.0]],
                [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
                [[7.0, 1.0, 2.0, 0.0], [8.0, -1.0, 3.0, 5.0], [9.0, 4.0, 1.0, -2.0]],
            ),
            _matmul,
            drivers.call_arrays,
            parts=("gradient of W", "gradient of x"),
            draw=lambda r: (_rand(r, 2, 4), _rand(r, 2, 3), _rand(r, 3, 4)),
        ),
        Probe(
            "square",
            ([[1.0, 2.0], [3.0, 5.0]], [[2.0, -1.0], [0.5, 4.0]], [[1.0, 7.0], [-3.0, 2.0]]),
            _matmul,
            drivers.call_arrays,
            parts=("gradient of W", "gradient of x"),
            draw=lambda r: (_rand(r, 2, 2), _rand(r, 2, 2), _rand(r, 2, 2)),
        ),
    ),
    bank=(
        Wrong(
            "order turned round",
            _a("x @ g.T, W.T @ g"),
            "The gradient must have W's shape, (2, 3) in the first probe: this has the transposed one.",
            when=lambda seen: _shape(seen, 0) == (3, 2),
        ),
        Wrong(
            "x not transposed",
            _a("g @ x, W.T @ g"),
            "g @ x: the inner sizes do not fit. Transpose x, so that the result has W's shape.",
            on=("square", "shapes (2, 3) @ (3, 4)"),
        ),
        Wrong(
            "W not transposed",
            _a("g @ x.T, W @ g"),
            "W @ g: the inner sizes do not fit. Transpose W, so that the result has x's shape.",
            on=("square", "shapes (2, 3) @ (3, 4)"),
        ),
        Wrong(
            "neither transposed",
            _a("g @ x, W @ g"),
            "The inner sizes do not fit. Transpose the factor that is not g, so that each result has the shape of what it belongs to.",
            on=("square", "shapes (2, 3) @ (3, 4)"),
        ),
        Wrong(
            "order of the answers",
            _a("W.T @ g, g @ x.T"),
            "Both are right and in the wrong order: W's gradient first.",
            on=("square",),
        ),
        Wrong(
            "elementwise",
            _a("g * x.T, W.T * g.T"),
            "* multiplies entry by entry. Each entry of W meets a whole row of x: matrix products are needed.",
            on=("square",),
        ),
        Wrong("only one", _a("g @ x.T"), "Two gradients are asked: a pair, W's and x's.", on=("square",)),
        Wrong(
            "samples as rows",
            _a("x.T @ g, g @ W.T"),
            "That is the rule of y = x @ W, where samples are rows. Here W stands on the left: keep its order, and write the shapes down.",
            on=("square", "shapes (2, 3) @ (3, 4)"),
        ),
        Wrong(
            "elementwise, not transposed",
            _a("g * x, g * W"),
            "* multiplies entry by entry. Each entry of W meets a whole row of x: matrix products are needed.",
            on=("square",),
        ),
    ),
    hints=Hints(
        "Write the shapes down: g is like y. Which product of g and x has the shape of W?",
        "dL/dW = g @ xᵀ and dL/dx = Wᵀ @ g: the order is fixed by the shapes.",
        "s = a · b for plain numbers: the gradients are g·b and a·g. Matrices keep this order, with the other factor transposed.",
    ),
    reveal="g @ x.T and W.T @ g. The transposes make the shapes fit, and each entry is a sum over all uses.",
    fresh=lambda r: (
        lambda n, m: Fresh(
            f"W has shape ({n}, {m}), x has shape ({m}, 1). How many numbers has the gradient of W?", n * m, wrong=((m, "That is x's."),)
        )
    )(r.randint(3, 6), r.randint(7, 9)),
)


def _shape(seen, which):
    got = seen.value("shapes (2, 3) @ (3, 1)")
    return (len(got[which]), len(got[which][0])) if got else None


STUB_B = '''\
def unbroadcast(g, shape):
    """Bring g, the gradient at a broadcast result, back to `shape`, the shape of one operand. g is a numpy array."""
    ...
'''

SOLUTION_B = '''\
def unbroadcast(g, shape):
    """Bring g, the gradient at a broadcast result, back to `shape`, the shape of one operand. g is a numpy array."""
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g
'''

SHAPES = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 3), (2, 1)), ((4, 2, 3), (1, 3)), ((2, 3), ()), ((5, 1, 2, 4, 3), (2, 1, 3))]


def _draw_shapes(r, big, small):
    """The same broadcast with other sizes: what was 1 stays 1."""
    drawn = [n if n == 1 else r.randint(2, 5) for n in big]
    start = len(big) - len(small)
    return tuple(drawn), tuple(1 if n == 1 else drawn[start + i] for i, n in enumerate(small))


def _unbroadcast(big, small):
    """Every entry of the broadcast result goes back to the one entry of the operand that it came from (an oracle by indices)."""
    import itertools
    import math

    out: dict[tuple, float] = {}
    for n, index in enumerate(itertools.product(*(range(s) for s in big))):
        tail = index[len(index) - len(small) :]
        key = tuple(0 if s == 1 else i for i, s in zip(tail, small, strict=True))
        out[key] = out.get(key, 0.0) + drivers.ramp(n)
    flat = [out[k] for k in itertools.product(*(range(s) for s in small))]
    for size in reversed(small[1:]):
        flat = [flat[i : i + size] for i in range(0, len(flat), size)]
    assert math.prod(small) >= 1
    return flat if small else flat[0]


EX_B = Exercise(
    id="09.b",
    title="Undo a broadcast",
    kind=Kind.FILL_IN,
    points=3,
    minutes=10,
    difficulty=3,
    question="An operand was broadcast to a larger shape. Bring the gradient back to the operand's own shape, for six pairs of shapes.",
    entry="unbroadcast",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=tuple(
        Probe(
            f"{big} back to {small}",
            (big, small),
            _unbroadcast,
            drivers.unbroadcast_ramp,
            draw=lambda r, big=big, small=small: _draw_shapes(r, big, small),  # type: ignore[misc]
        )
        for big, small in SHAPES
    ),
    bank=(
        Wrong(
            "returned as it came",
            "def unbroadcast(g, shape):\n    return g\n",
            "The gradient of an operand has the operand's shape: entries that were copied must be added up.",
        ),
        Wrong(
            "leading axes only",
            SOLUTION_B.replace("if size == 1", "if False"),
            "New leading axes are summed. Axes that were 1 and got stretched must be summed as well, and kept as 1.",
            on=("(2, 3) back to (2, 1)", "(2, 3) back to (3,)"),
        ),
        Wrong(
            "axis index 1",
            SOLUTION_B.replace("if size == 1", "if axis == 1"),
            "Look for axes that were 1, not for axis index 1.",
            on=("(2, 3) back to (2, 3)",),
        ),
        Wrong(
            "axis dropped",
            SOLUTION_B.replace(", keepdims=True", ""),
            "The summed axis must stay as an axis of size 1: keepdims=True.",
            on=("(2, 3) back to (2, 1)",),
        ),
        Wrong(
            "mean instead of sum",
            SOLUTION_B.replace(".sum(", ".mean("),
            "Every copy sends its share: they are summed, not averaged.",
            on=("(2, 3) back to (3,)", "(2, 3) back to (2, 1)"),
        ),
        Wrong(
            "trailing axes first",
            SOLUTION_B.replace("g.sum(axis=0)", "g.sum(axis=-1)"),
            "Broadcasting adds new axes at the front: those are the ones to sum away.",
            on=("(2, 3) back to (3,)",),
        ),
        Wrong(
            "reshapes",
            "def unbroadcast(g, shape):\n    import math\n    return g.ravel()[: math.prod(shape)].reshape(shape)\n",
            "Cutting off does not add up: every entry that was copied has to be in some sum.",
            on=("(2, 3) back to (3,)", "(2, 3) back to (2, 1)"),
        ),
        Wrong(
            "everything summed",
            "def unbroadcast(g, shape):\n    return g.sum().reshape(shape)\n",
            "Everything was added up to one number. Add along the axes that were copied, and only along those.",
            when=lambda seen: seen.error("(2, 3) back to (2, 3)") == "ValueError" and not seen.error("(2, 3) back to ()"),
        ),
        Wrong(
            "reshaped only",
            "def unbroadcast(g, shape):\n    return g.reshape(shape)\n",
            "reshape keeps the number of entries. A gradient that came back from a copy has more of them: they must be added up.",
            when=lambda seen: seen.error("(2, 3) back to (3,)") == "ValueError" and not seen.error("(2, 3) back to (2, 3)"),
        ),
    ),
    hints=Hints(
        "A number that was copied five times influences the loss five times. What is its gradient?",
        "First sum away the axes that were added in front. Then, for each axis where shape has 1, sum over it and keep it.",
        "g of shape (3, 2), operand of shape (1, 2): one sum down each column, and the result keeps its two dimensions: (1, 2).",
    ),
    reveal="A broadcast is a copy; the backward of a copy is a sum. Front axes vanish, stretched axes stay as 1.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"b has shape (3,) and is added to a tensor of shape ({n}, 3); all of g is 1. What is each entry of b's gradient?",
            n,
            wrong=((1, "Every row sends its share."), (3 * n, "Each entry of b has its own column.")),
        )
    )(r.randint(4, 9)),
)

EX_C = ask(
    "09.c",
    "The gradient of a row",
    Kind.PREDICT,
    minutes=3,
    level=1,
    text="x is a tensor of shape (2, 2), y = x[0] * 2, y.sum().backward(). What is x.grad? Answer with a list of lists.",
    answer=[[2, 2], [0, 0]],
    wrong=(
        ("only the row", [2, 2], "x.grad has the shape of x, also where x was not used."),
        ("everywhere", [[2, 2], [2, 2]], "The second row never entered y: what happens to y when it moves?"),
        ("columns", [[2, 0], [2, 0]], "x[0] is the first row, not the first column."),
        ("values of y", [[2, 4], [0, 0]], "That is y for one particular x. How fast does a double grow, wherever x stands?"),
        ("ones", [[1, 1], [0, 0]], "The factor in y is missing."),
    ),
    hints=(
        "Which entries of x does y see?",
        "Entries that were not selected get a gradient of zero; the others get what arrives.",
        "x of shape (3,), y = x[2] * 5: x.grad is [0, 0, 5].",
    ),
    reveal="The first row gets 2 everywhere, the second 0.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"x has shape (2, 2), y = x[1] * {k}, y.sum().backward(). What is x.grad?",
            [[0, 0], [k, k]],
            wrong=(([k, k], "x.grad has the shape of x."),),
        )
    )(r.randint(3, 9)),
)

STUB_D = '''\
def mean_backward(g, x):
    """out = mean of the list x. Given g, the gradient at out (one number): the gradient at x, a list as long as x."""
    ...
'''

SOLUTION_D = """\
def mean_backward(g, x):
    return [g / len(x)] * len(x)
"""


def _draw_d(r, sign, n):
    return sign * round(r.uniform(1.5, 3), 2), [float(r.randint(-9, 9)) for _ in range(n)]


EX_D = Exercise(
    id="09.d",
    title="The mean's rule",
    kind=Kind.PUZZLE,
    points=1,
    minutes=3,
    difficulty=1,
    question="One line: what does each entry receive from a mean?",
    entry="mean_backward",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        Probe("five numbers", (3.0, [1.0, 2.0, 3.0, 4.0, 10.0]), [0.6] * 5, draw=lambda r: _draw_d(r, 1, 5)),
        Probe("one number", (3.0, [7.0]), lambda g, x: [g], draw=lambda r: _draw_d(r, 1, 1)),
        Probe("g below zero", (-1.5, [0.0, 0.0, 2.0]), lambda g, x: [g / 3] * 3, draw=lambda r: _draw_d(r, -1, 3)),
    ),
    bank=(
        Wrong(
            "the sum's rule",
            SOLUTION_D.replace("g / len(x)", "g"),
            "That is the rule of the sum. The mean divides.",
            on=("five numbers",),
        ),
        Wrong(
            "one number",
            "def mean_backward(g, x):\n    return g / len(x)\n",
            "One number is right for each entry; return a list with one for every entry of x.",
            on=("five numbers",),
        ),
        Wrong(
            "times the mean",
            "def mean_backward(g, x):\n    return [g * sum(x) / len(x)] * len(x)\n",
            "That multiplies g by the mean itself, the value. How far does the mean move when one entry moves?",
            on=("five numbers",),
        ),
        Wrong(
            "times x",
            "def mean_backward(g, x):\n    return [g * xi / len(x) for xi in x]\n",
            "The mean is linear: its derivative does not depend on the values.",
            on=("five numbers",),
        ),
        Wrong(
            "g ignored",
            SOLUTION_D.replace("g / len(x)", "1 / len(x)"),
            "That is the local derivative. Multiply it by g.",
            on=("five numbers",),
        ),
        Wrong(
            "multiplies",
            SOLUTION_D.replace("g / len(x)", "g * len(x)"),
            "Moving one entry moves the mean by less than that, not by more.",
            on=("five numbers",),
        ),
    ),
    hints=Hints(
        "Move one entry by 1. By how much does the mean move?",
        "Every entry has the same local derivative, one over the number of entries; multiply by g.",
        "The sum's rule is [g] * len(x): every entry moves the sum by as much as itself.",
    ),
    reveal="Each entry gets g / n.",
    fresh=lambda r: (
        lambda n, g: Fresh(
            f"g = {g} arrives at the mean of {n} numbers. What does each receive?", g / n, wrong=((g, "That is the sum's rule."),)
        )
    )(r.choice([4, 5, 8, 10]), r.randint(2, 9)),
)

EX_E = ask(
    "09.e",
    "Contiguous?",
    Kind.PREDICT,
    minutes=3,
    level=2,
    text="x is a fresh tensor of shape (2, 3, 4). Is it contiguous after each of these? Answer True or False.",
    answer={"x": True, "x.permute(2, 0, 1)": False, "x.reshape(6, 4)": True, "x[0]": True, "x.transpose(0, 2)": False},
    wrong=(
        ("permute copies", {"x.permute(2, 0, 1)": True}, "permute moves no number: it only reads the same memory in another order."),
        (
            "transpose copies",
            {"x.transpose(0, 2)": True},
            "transpose moves no number: it only reads the same memory in another order.",
        ),
        (
            "reshape breaks",
            {"x.reshape(6, 4)": False},
            "reshape keeps the order of the numbers in memory: neighbours stay neighbours.",
        ),
        ("a row is not", {"x[0]": False}, "x[0] is one unbroken stretch of memory."),
    ),
    hints=(
        "Write the numbers 0 to 23 in memory order. In which order does each expression read them?",
        "Contiguous: walking through the last index fastest visits memory without a jump.",
        "A book read column by column is the same book, but you jump at every word.",
    ),
    reveal="permute and transpose change the strides only; the others read memory straight through.",
    fresh=lambda r: Fresh(
        "x has shape (1, 5). Is x.transpose(0, 1) contiguous? True or False.",
        True,
        wrong=((False, "With one row there is nothing to jump over."),),
    ),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D, EX_E)
