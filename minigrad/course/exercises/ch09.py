"""Chapter 09, tensors: its exercises."""

from __future__ import annotations

import itertools
import math
import random

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

# ---- 09.a: a row --------------------------------------------------------------------------------------------------------------------

EX_A = ask(
    "09.a",
    "The gradient of a row",
    Kind.PREDICT,
    points=0,
    minutes=3,
    level=1,
    text="x is a tensor of shape (2, 2), y = x[0] * 2, y.sum().backward(). What is x.grad? Answer with a list of lists.",
    comment="x is a tensor of shape (2, 2), y = x[0] * 2, y.sum().backward().\n"
    "What is x.grad? Replace None by a list of lists.",
    answer=[[2, 2], [0, 0]],
    wrong=(
        ("only the row", [2, 2], "x.grad has the shape of x, also where x was not used."),
        ("everywhere", [[2, 2], [2, 2]], "The second row never entered y: what happens to y when it moves?"),
        ("columns", [[2, 0], [2, 0]], "x[0] is the first row, not the first column."),
        (
            "values of y",
            [[2, 4], [0, 0]],
            "That is y for one particular x. How fast does a double grow, whatever x is?",
        ),
        ("ones", [[1, 1], [0, 0]], "The factor in y is missing."),
        ("ones everywhere", [[1, 1], [1, 1]], "Only the first row enters y. And does y grow just as fast as x[0]?"),
    ),
    hints=(
        "Which entries of x does y depend on?",
        "Entries that were not selected get a gradient of zero; the others get the upstream gradient times the factor.",
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

# ---- 09.b: a linear layer -----------------------------------------------------------------------------------------------------------

STUB_B = '''\
def linear_backward(g, x, W):
    """y = x @ W.T + b, with one sample in each row of x and of y. g is the gradient at y.

    Return three numpy arrays: the gradient at W, the gradient at x, the gradient at b.
    """
    ...
'''

SOLUTION_B = """\
def linear_backward(g, x, W):
    return g.T @ x, g @ W, g.sum(axis=0)
"""

_b = lambda new: but(SOLUTION_B, "g.T @ x, g @ W, g.sum(axis=0)", new)  # noqa: E731
PARTS = ("gradient at W", "gradient at x", "gradient at b")


def _linear(g, x, W):
    """Every use of every entry, added up one by one."""
    samples, outputs, inputs = range(len(x)), range(len(W)), range(len(W[0]))
    at_W = [[sum(g[s][i] * x[s][j] for s in samples) for j in inputs] for i in outputs]
    at_x = [[sum(g[s][i] * W[i][j] for i in outputs) for j in inputs] for s in samples]
    return [at_W, at_x, [sum(g[s][i] for s in samples) for i in outputs]]


def _numbers(r, rows, columns):
    return [[float(r.choice([-4, -3, -2, 2, 3, 5])) for _ in range(columns)] for _ in range(rows)]


def _layer(name, samples, outputs, inputs, weight=1.0):
    def of(r):
        return _numbers(r, samples, outputs), _numbers(r, samples, inputs), _numbers(r, outputs, inputs)

    return Probe(name, of(random.Random(name)), _linear, drivers.call_arrays, weight, parts=PARTS, draw=of)


EX_B = Exercise(
    id="09.b",
    title="Backward of a linear layer",
    kind=Kind.BUILD,
    points=3,
    minutes=10,
    difficulty=2,
    reused=True,
    question="A layer as PyTorch has it, with a sample in each row: the gradients at the weights, at the input and at the bias.",
    entry="linear_backward",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        _layer("four samples, three inputs, two outputs", 4, 2, 3),
        _layer("five samples, two inputs, four outputs", 5, 4, 2),
        _layer("everything square", 3, 3, 3),
        _layer("a single sample", 1, 2, 3, 0.5),
    ),
    bank=(
        Wrong("the rule for columns", _b("g @ x.T, W.T @ g, g.sum(axis=1)"),
              "Those are the rules for y = W x, where samples are columns. Here they are rows: write out one entry of y once more."),
        Wrong("the columns' rules, bias summed over the samples", _b("g @ x.T, W.T @ g, g.sum(axis=0)"),
              "Those are the rules for y = W x, where samples are columns. Here they are rows: write out one entry of y once more."),
        Wrong("the columns' rules, bias as mean", _b("g @ x.T, W.T @ g, g.mean(axis=0)"),
              "Those are the rules for y = W x, where samples are columns. Here they are rows: write out one entry of y once more."),
        Wrong("W's gradient transposed", _b("x.T @ g, g @ W, g.sum(axis=0)"),
              "The gradient at W is transposed: it must have W's shape, with one row for each output.",
              on=("everything square", "five samples, two inputs, four outputs")),
        Wrong("W transposed for x", _b("g.T @ x, g @ W.T, g.sum(axis=0)"),
              "Each output i gives x[j] the contribution g[i] · W[i][j]: the sum runs over the rows of W.",
              on=("everything square",)),
        Wrong("bias as mean", _b("g.T @ x, g @ W, g.mean(axis=0)"),
              "Every sample uses the same b in full, so its contributions are added, not averaged.",
              on=("four samples, three inputs, two outputs",)),
        Wrong("bias not summed", _b("g.T @ x, g @ W, g"),
              "b was stretched over the samples. Its gradient has the shape of b: add up the contributions of all samples.",
              on=("four samples, three inputs, two outputs",)),
        Wrong("bias of one sample", _b("g.T @ x, g @ W, g[0]"),
              "That is the contribution of the first sample. All of them use b.", on=("four samples, three inputs, two outputs",)),
        Wrong("bias summed over the outputs", _b("g.T @ x, g @ W, g.sum(axis=1)"),
              "The bias has one entry for each output. Sum over the samples, not over the outputs.",
              on=("everything square",)),
        Wrong("mean over the samples", _b("g.T @ x / len(x), g @ W, g.mean(axis=0)"),
              "Nothing is divided here: if the loss is a mean over the samples, g already contains that factor.",
              on=("four samples, three inputs, two outputs",)),
        Wrong("W and x exchanged", _b("g @ W, g.T @ x, g.sum(axis=0)"),
              "The first two are exchanged: first the gradient at W, then the gradient at x."),
        Wrong("upstream gradient ignored for b", "import numpy as np\n\n\n" + _b("g.T @ x, g @ W, np.ones(len(W)) * len(x)"),
              "That is the bias's gradient when g is all ones. Each contribution is g of that sample.",
              on=("four samples, three inputs, two outputs",)),
    ),
    hints=Hints(
        "Write y[s][i] as a sum: which entries of x, W and b does it contain?",
        "y[s][i] = Σ_j x[s][j] · W[i][j] + b[i]. W[i][j] is used once for every sample s, x[s][j] once for every output i.",
        "With one sample and one output, y = x0·w0 + x1·w1 + b: the gradients are g·[x0, x1], g·[w0, w1] and g.",
    ),
    reveal="Each entry of W is used by every sample, so the sum over samples becomes a matrix product, and the same sum is the bias's.",
    fresh=lambda r: (
        lambda n, k: Fresh(
            f"A layer has {n} inputs and one output, {k} samples go in, and g is all ones. What is the gradient at the bias?",
            k,
            wrong=((1, "Each sample contributes."), (n, "The bias does not meet the inputs.")),
        )
    )(r.randint(2, 4), r.randint(5, 9)),
)  # fmt: skip

# ---- 09.c: broadcasting -------------------------------------------------------------------------------------------------------------

STUB_C = '''\
def unbroadcast(g, shape):
    """Bring g, the gradient at a broadcast result, back to the shape of one operand.

    g is a numpy array, and `shape` is a tuple of numbers.
    """
    ...
'''

SOLUTION_C = '''\
def unbroadcast(g, shape):
    """Bring g, the gradient at a broadcast result, back to the shape of one operand.

    g is a numpy array, and `shape` is a tuple of numbers.
    """
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g
'''

SHAPES = [
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((2, 3), (2, 1)),
    ((4, 2, 3), (1, 3)),
    ((2, 3), ()),
    ((5, 1, 2, 4, 3), (2, 1, 3)),
]
SHAPES += [((8, 3, 4), (1, 3, 1))]


def _draw_shapes(r, big, small):
    """The same broadcast with other sizes: what was 1 stays 1."""
    drawn = [n if n == 1 else r.randint(2, 5) for n in big]
    start = len(big) - len(small)
    return tuple(drawn), tuple(1 if n == 1 else drawn[start + i] for i, n in enumerate(small))


def _draw_any(r):
    """Two shapes of three to five axes, of which the operand may have lost one in front and has two 1s among the others."""
    big = [r.randint(2, 4) for _ in range(r.randint(3, 5))]
    small = big[r.randint(0, 1) :]
    for axis in r.sample(range(len(small)), 2):
        small[axis] = 1
    return tuple(big), tuple(small)


def _unbroadcast(big, small):
    """Every entry of the broadcast result goes back to the one entry of the operand that it came from (an oracle by indices)."""
    out: dict[tuple, float] = {}
    for n, index in enumerate(itertools.product(*(range(s) for s in big))):
        tail = index[len(index) - len(small) :]
        key = tuple(0 if s == 1 else i for i, s in zip(tail, small, strict=True))
        out[key] = out.get(key, 0.0) + drivers.ramp(n)
    flat: list = [out[k] for k in itertools.product(*(range(s) for s in small))]
    for size in reversed(small[1:]):
        flat = [flat[i : i + size] for i in range(0, len(flat), size)]
    assert math.prod(small) >= 1
    return flat if small else flat[0]


EX_C = Exercise(
    id="09.c",
    title="Undo a broadcast",
    kind=Kind.BUILD,
    points=3,
    minutes=10,
    difficulty=3,
    question="An operand was broadcast to a larger shape. Bring the gradient back to the operand's own shape, for seven pairs of shapes.",
    entry="unbroadcast",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=tuple(
        Probe(
            f"{big} back to {small}",
            (big, small),
            _unbroadcast,
            drivers.unbroadcast_ramp,
            draw=lambda r, big=big, small=small: _draw_shapes(r, big, small),  # type: ignore[misc]
        )
        for big, small in SHAPES
    )
    + (Probe("up to five axes", ((3, 2, 4, 2), (2, 1, 1)), _unbroadcast, drivers.unbroadcast_ramp, draw=_draw_any),),
    bank=(
        Wrong(
            "returned as it came",
            "def unbroadcast(g, shape):\n    return g\n",
            "The gradient of an operand has the operand's shape: entries that were copied must be added up.",
        ),
        Wrong(
            "leading axes kept",
            SOLUTION_C.replace("    while g.ndim > len(shape):\n        g = g.sum(axis=0)\n", ""),
            "Axes that broadcasting added in front must disappear. Sum over the first axis until g has as many axes as `shape`.",
            on=("(2, 3) back to (3,)", "(4, 2, 3) back to (1, 3)"),
        ),
        Wrong(
            "leading axes only",
            SOLUTION_C.replace("if size == 1", "if False"),
            "New leading axes are summed. Axes that were 1 and got stretched must be summed as well, and kept as 1.",
            on=("(2, 3) back to (2, 1)", "(2, 3) back to (3,)"),
        ),
        Wrong(
            "axis index 1",
            SOLUTION_C.replace("if size == 1", "if axis == 1"),
            "Look for axes that were 1, not for axis index 1.",
            on=("(2, 3) back to (2, 3)",),
        ),
        Wrong(
            "axis dropped",
            SOLUTION_C.replace(", keepdims=True", ""),
            "The summed axis must stay as an axis of size 1: keepdims=True.",
            on=("(2, 3) back to (2, 1)",),
        ),
        Wrong(
            "mean instead of sum",
            SOLUTION_C.replace(".sum(", ".mean("),
            "Every copy contributes in full: the contributions are summed, not averaged.",
            on=("(2, 3) back to (3,)", "(2, 3) back to (2, 1)"),
        ),
        Wrong(
            "trailing axes first",
            SOLUTION_C.replace("g.sum(axis=0)", "g.sum(axis=-1)"),
            "Broadcasting adds new axes at the front: those are the ones to sum away.",
            on=("(2, 3) back to (3,)",),
        ),
        Wrong(
            "only the first stretched axis",
            SOLUTION_C.replace(
                "    for axis, size in enumerate(shape):\n        if size == 1:\n"
                "            g = g.sum(axis=axis, keepdims=True)\n",
                "    if 1 in shape:\n        g = g.sum(axis=shape.index(1), keepdims=True)\n",
            ),
            "Only one of the stretched axes is summed. A shape such as (1, 3, 1) has two of them.",
            on=("(8, 3, 4) back to (1, 3, 1)", "(2, 3) back to (2, 1)"),
        ),
        Wrong(
            "the axes shift",
            SOLUTION_C.replace(
                "g = g.sum(axis=axis, keepdims=True)\n    return g", "g = g.sum(axis=axis)\n    return g.reshape(shape)"
            ),
            "When an axis has been summed away, all later axes have another number, so the second sum runs over the wrong one. "
            "keepdims=True leaves them where they are.",
            when=lambda seen: (
                seen.error("(8, 3, 4) back to (1, 3, 1)") in ("AxisError", "ValueError")
                and not seen.error("(2, 3) back to (2, 1)")
            ),
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
            when=lambda seen: (
                seen.error("(2, 3) back to (2, 3)") == "ValueError" and not seen.error("(2, 3) back to ()")
            ),
        ),
        Wrong(
            "reshaped only",
            "def unbroadcast(g, shape):\n    return g.reshape(shape)\n",
            "The entries do not fit into that shape. A gradient that comes back from copies has more of them: add them up first, along the "
            "axes that were copied.",
            when=lambda seen: (
                seen.error("(2, 3) back to (3,)") == "ValueError" and not seen.error("(2, 3) back to (2, 3)")
            ),
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
            wrong=((1, "Every row contributes."), (3 * n, "Each entry of b has its own column.")),
        )
    )(r.randint(4, 9)),
)

# ---- 09.d: convolution --------------------------------------------------------------------------------------------------------------

STUB_D = '''\
import numpy as np


def conv1d_backward(g, x, k):
    """y[i] = k[0] * x[i] + k[1] * x[i + 1] + ..., for every i where all of k fits into x.

    Given g, the gradient at y, return two numpy arrays: the gradient at x and the gradient at k.
    """
    ...
'''

SOLUTION_D = """\
import numpy as np


def conv1d_backward(g, x, k):
    at_x, at_k = np.zeros(len(x)), np.zeros(len(k))
    for i in range(len(g)):
        for j in range(len(k)):
            at_x[i + j] += g[i] * k[j]
            at_k[j] += g[i] * x[i + j]
    return at_x, at_k
"""

_d = lambda old, new: but(SOLUTION_D, old, new)  # noqa: E731


def _convolution(g, x, k):
    """Each entry by itself: the sum over the places of the output that use it."""
    at_x = [sum(g[i] * k[n - i] for i in range(len(g)) if 0 <= n - i < len(k)) for n in range(len(x))]
    return [at_x, [sum(g[i] * x[i + j] for i in range(len(g))) for j in range(len(k))]]


def _signal(name, length, size, weight=1.0):
    def of(r):
        x, k, g = (_numbers(r, 1, n)[0] for n in (length, size, length - size + 1))
        k[0], k[-1] = 1.0, 7.0  # a kernel that looks the same from both ends would hide a reversal
        return g, x, k

    return Probe(name, of(random.Random(name)), _convolution, drivers.call_arrays, weight,
                 parts=("gradient at x", "gradient at k"), draw=of)  # fmt: skip


EX_D = Exercise(
    id="09.d",
    title="Backward of a convolution",
    kind=Kind.BUILD,
    points=3,
    minutes=12,
    difficulty=3,
    reused=True,
    question="A kernel slides over a signal. Find the gradients at the signal and at the kernel, by adding up all uses.",
    entry="conv1d_backward",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        _signal("six numbers, a kernel of three", 6, 3),
        _signal("seven numbers, a kernel of two", 7, 2),
        _signal("a kernel as long as the signal", 4, 4),
        _signal("twenty numbers, a kernel of five", 20, 5),
    ),
    bank=(
        Wrong("kernel not flipped", "import numpy as np\n\n\ndef conv1d_backward(g, x, k):\n"
              "    return np.convolve(g, k[::-1]), np.correlate(x, g, 'valid')\n",
              "The gradient at x runs over the kernel the wrong way round: x[n] was multiplied by k[0] in the output y[n], and by k[1] "
              "in the output one place before it.", on=("six numbers, a kernel of three",)),
        Wrong("convolved with the kernel's gradient", "import numpy as np\n\n\ndef conv1d_backward(g, x, k):\n"
              "    return np.convolve(g, k), np.convolve(x, g, 'valid')\n",
              "np.convolve reverses one of its arguments. The gradient at x needs that, the gradient at k does not: k[j] collects g[i] · "
              "x[i + j], where both run forwards.", on=("six numbers, a kernel of three",)),
        Wrong("convolved the wrong way round", "import numpy as np\n\n\ndef conv1d_backward(g, x, k):\n"
              "    return np.convolve(g, k[::-1]), np.convolve(x, g, 'valid')\n",
              "np.convolve reverses one of its arguments. Write out which g and which k reach x[1], and which g and x reach k[0]; then "
              "see which of the two needs the reversal.", on=("six numbers, a kernel of three",)),
        Wrong("one use of each", _d("+=", "="),
              "Each x and each k is used by several outputs. With = the last contribution replaces the others: they add up.",
              on=("six numbers, a kernel of three",)),
        Wrong("the last output left out", _d("range(len(g))", "range(len(g) - 1)"),
              "The last output contributes nothing. Where does your loop end?", on=("six numbers, a kernel of three",)),
        Wrong("one use of x only", _d("at_x[i + j] += g[i] * k[j]", "at_x[i + j] = g[i] * k[j]"),
              "Each x is used by several outputs, one for every position of the kernel over it. Their contributions add up.",
              on=("six numbers, a kernel of three",)),
        Wrong("one use of k only", _d("at_k[j] += g[i] * x[i + j]", "at_k[j] = g[i] * x[i + j]"),
              "Each entry of k is used at every position. Their contributions add up.", on=("six numbers, a kernel of three",)),
        Wrong("kernel's gradient reversed", _d("at_k[j] += g[i] * x[i + j]", "at_k[len(k) - 1 - j] += g[i] * x[i + j]"),
              "The gradient at k is reversed. k[0] meets the first number under the kernel.", on=("six numbers, a kernel of three",)),
        Wrong("upstream gradient ignored", "import numpy as np\n\n\ndef conv1d_backward(g, x, k):\n    n = len(x) - len(k) + 1\n"
              "    return np.convolve(np.ones(n), k), np.correlate(x, np.ones(n), 'valid')\n",
              "That is right when every g is 1. Each output contributes with its own g.", on=("six numbers, a kernel of three",)),
        Wrong("x without its place", _d("g[i] * x[i + j]", "g[i] * x[i]"),
              "At position i the entry k[j] meets the number j places further on.", on=("six numbers, a kernel of three",)),
    ),
    hints=Hints(
        "Write out y[0], y[1] and y[2] for a kernel of two. In which of them does x[1] appear, and with which factor?",
        "Output i multiplies x[i + j] by k[j]. So it gives x[i + j] the contribution g[i] · k[j], and k[j] the other factor times g[i].",
        "x = [x0, x1], k = [k0]: y = [k0·x0, k0·x1], so the gradients are [g0·k0, g1·k0] and [g0·x0 + g1·x1].",
    ),
    reveal="Two loops visit every product of the forward run once and hand each factor the other one, times g. A compiled "
    "convolution does the same in a better order.",
    fresh=lambda r: (
        lambda n, k: Fresh(
            f"A signal of {n} numbers, a kernel of {k}: how many outputs use the first number of the kernel?",
            n - k + 1,
            wrong=((1, "The kernel slides: its first number is used at every position."), (n, "The kernel has to fit into the signal.")),
        )
    )(r.randint(9, 14), r.randint(3, 5)),
)  # fmt: skip

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
