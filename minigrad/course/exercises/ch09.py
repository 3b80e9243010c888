"""Chapter 09, tensors: its exercises."""

from __future__ import annotations

import itertools
import math
import random
import re
import textwrap

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Limits, Probe, Wrong, about, ask, but

# ---- 09.a: the shape of a difference ------------------------------------------------------------------------------------------------

EX_A = ask(
    "09.a",
    "The shape of the difference",
    Kind.PREDICT,
    points=0,
    minutes=2,
    level=1,
    text="predicted has the shape (3, 1), target has the shape (3,). Which shape has predicted - target? Answer with a list.",
    comment="predicted has the shape (3, 1), target has the shape (3,).\n"
    "Which shape has predicted - target? Replace None by a list, such as [3].",
    answer=[3, 3],
    wrong=(
        ("a column", [3, 1], "For that the target would need a second axis of size 1. Where does broadcasting put a new axis?"),
        ("a row", [3], "The result never has fewer axes than one of its operands, and predicted has two."),
        ("a flat row", [1, 3], "An axis of size 1 is stretched to the size of the other operand's axis, here to more than 1."),
    ),
    hints=(
        "Write the two shapes below each other, aligned on the right.",
        "A missing axis counts as 1, and an axis of size 1 is stretched to the size of the other one.",
        "(5, 1) and (2,) make (5, 2): the missing axis of the second is stretched to 5, and the 1 of the first to 2.",
    ),
    reveal="Aligned on the right, 1 meets 3 and 3 meets nothing. Both operands are stretched, to a square.",
    fresh=lambda r: (
        lambda n, k: Fresh(
            f"One tensor has the shape ({n}, 1), another the shape ({k},). Which shape has their product?",
            [n, k],
            wrong=(([n, 1], "The second axis is stretched."), ([n], "Neither axis disappears.")),
        )
    )(r.randint(4, 6), r.randint(7, 9)),
)  # fmt: skip

# ---- 09.b: a linear layer -----------------------------------------------------------------------------------------------------------

EX_B = ask(
    "09.b",
    "Collect the uses",
    Kind.WARM_UP,
    points=1,
    minutes=5,
    level=1,
    text="In y = x Wᵀ + b, with a sample in each row of x: one entry each of the gradients at W, at x and at b.",
    comment="y = x Wᵀ + b, with a sample in each row, and g is the gradient at y.\n"
    "x = [[1, 2], [3, -1]]    W = [[2, 1], [-3, 4]]    g = [[5, -2], [4, 3]]\n"
    "Collect the uses of each entry, and add up. Rows and columns count from 0 here, so row 0, column 1 is w₁₂ of the picture. "
    "Replace each None by a number.",
    answer={"W, row 0, column 1": 6, "x, row 1, column 0": -1, "b, entry 0": 9},
    wrong=(
        ("factors of the wrong sample", {"W, row 0, column 1": 17},
         "W: the column of g goes with the column of x, sample by sample. You have taken a row of x."),
        ("row and column exchanged", {"W, row 0, column 1": 7}, "W: this is the entry in row 1, column 0. Row 0 of W makes output 0."),
        ("g by rows", {"W, row 0, column 1": 12}, "W: output 0 is a column of g, with one entry for each sample."),
        ("one sample only", {"W, row 0, column 1": 10}, "W: the other sample uses this weight, too."),
        ("the other sample only", {"W, row 0, column 1": -4}, "W: the first sample uses this weight, too."),
        ("row of W", {"x, row 1, column 0": 11}, "x: input 0 is multiplied by a column of W, one weight for each output."),
        ("g by columns", {"x, row 1, column 0": 1}, "x: sample 1 is a row of g. Which weights does its input 0 meet?"),
        ("both the wrong way", {"x, row 1, column 0": 21}, "x: the row of g belongs to sample 1, and the weights are those of input 0."),
        ("one output only", {"x, row 1, column 0": 8}, "x: the second output uses this number, too."),
        ("mean over the samples", {"b, entry 0": 4.5}, "b: each sample uses it in full, so nothing is divided."),
        ("summed over the outputs", {"b, entry 0": 3}, "b: entry 0 belongs to output 0. Add up over the samples."),
        ("one sample", {"b, entry 0": 5}, "b: the second sample uses it as well."),
    ),
    hints=(
        "Write out y for one sample and one output: which entries of x, W and b does it contain?",
        "y of sample s and output i contains x[s][j] · W[i][j] for every j, and b[i]. Each use contributes g[s][i] times the other factor.",
        "With x = [[2], [3]], W = [[4]] and g = [[1], [5]]: the gradient at W is 1·2 + 5·3, at x [[4], [20]], and at b 1 + 5.",
    ),
    reveal="W: 5 · 2 + 4 · (−1). x: 4 · 2 + 3 · (−3). b: 5 + 4.",
    working="""
        x, W, g = ((1, 2), (3, -1)), ((2, 1), (-3, 4)), ((5, -2), (4, 3))
        at_W = sum(g[s][0] * x[s][1] for s in range(2))
        at_x = sum(g[1][i] * W[i][0] for i in range(2))
        at_b = sum(g[s][0] for s in range(2))
        return {"W, row 0, column 1": at_W, "x, row 1, column 0": at_x, "b, entry 0": at_b}
    """,
    fresh=lambda r: (
        lambda n, k: Fresh(
            f"A layer has {n} inputs and one output, {k} samples go in, and g is all ones. What is the gradient at the bias?",
            k,
            wrong=((1, "Each sample contributes."), (n, "The bias does not meet the inputs.")),
        )
    )(r.randint(2, 4), r.randint(5, 9)),
)  # fmt: skip


def _numbers(r, rows, columns):
    return [[float(r.choice([-4, -3, -2, 2, 3, 5])) for _ in range(columns)] for _ in range(rows)]


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

SHAPES: dict[str, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "in front": [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 3), ())],
    "stretched": [((2, 3), (2, 1)), ((4, 2, 3), (1, 3))],
    "more than one": [((5, 1, 2, 4, 3), (2, 1, 3)), ((8, 3, 4), (1, 3, 1)), ((4, 3, 2, 5), (1, 3, 1, 1))],
}


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
    question="An operand was broadcast to a larger shape. Bring the gradient back to the operand's own shape, for up to five axes.",
    entry="unbroadcast",
    reused=True,
    stub=STUB_C,
    solution=SOLUTION_C,
    ideas={"in front": 1 / 3, "stretched": 1 / 3, "more than one": 1 / 3},
    probes=tuple(
        Probe(
            f"{big} back to {small}",
            (big, small),
            _unbroadcast,
            drivers.unbroadcast_ramp,
            draw=lambda r, big=big, small=small: _draw_shapes(r, big, small),  # type: ignore[misc]
            idea=idea,
        )
        for idea, shapes in SHAPES.items()
        for big, small in shapes
    )
    + about(
        "more than one",
        Probe("up to five axes", ((3, 2, 4, 2), (2, 1, 1)), _unbroadcast, drivers.unbroadcast_ramp, draw=_draw_any),
    ),
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
    kind=Kind.OPTIONAL,
    points=3,
    minutes=12,
    difficulty=3,
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

# ---- 09.e: the rules of a tensor engine ---------------------------------------------------------------------------------------------

RULES_E = {  # name: (arguments, how it begins, result, label, rule)
    "add": ("self, other", "self.data + other.data", "(self, other)", "+",
            "self.grad += unbroadcast(out.grad, self.shape)\nother.grad += unbroadcast(out.grad, other.shape)"),
    "multiply": ("self, other", "self.data * other.data", "(self, other)", "*",
                 "self.grad += unbroadcast(out.grad * other.data, self.shape)\n"
                 "other.grad += unbroadcast(out.grad * self.data, other.shape)"),
    "matmul": ("self, other", "self.data @ other.data", "(self, other)", "@",
               "self.grad += out.grad @ other.data.T\nother.grad += self.data.T @ out.grad"),
    "transpose": ("self", "self.data.T", "(self,)", "T", "self.grad += out.grad.T"),
    "relu": ("self", "np.maximum(self.data, 0)", "(self,)", "relu", "self.grad += (self.data > 0) * out.grad"),
    "exp": ("self", "np.exp(self.data)", "(self,)", "exp", "self.grad += out.data * out.grad"),
    "log": ("self", "np.log(self.data)", "(self,)", "log", "self.grad += out.grad / self.data"),
    "power": ("self, n", "self.data**n", "(self,)", "**", "self.grad += n * self.data ** (n - 1) * out.grad"),
    "sum": ("self, axis=None", "self.data.sum(axis, keepdims=axis is not None)", "(self,)", "sum",
            "self.grad += out.grad  # numpy spreads it over the shape"),
}  # fmt: skip
SAYS_E = {
    "add": "other may be a tensor of another shape, or a plain number.",
    "transpose": "Of a matrix: rows become columns.",
    "power": "n is a plain number.",
    "sum": "All numbers, or those along one axis, which then stays as an axis of size 1.",
}
PLAIN_E = "other = other if isinstance(other, Tensor) else Tensor(other)"
ATTACHED_E = """\
    Tensor.__add__, Tensor.__mul__, Tensor.__matmul__, Tensor.T = add, multiply, matmul, property(transpose)
    Tensor.relu, Tensor.exp, Tensor.log, Tensor.__pow__, Tensor.sum = relu, exp, log, power, sum
"""
HEAD_E = '''\
import numpy as np


def teach_tensors(Tensor):
    """Attach nine operations to a Tensor class, each with its rule. `unbroadcast` is the function of 09.c."""
'''


def _method(name, written):
    arguments, result, parents, label, rule = RULES_E[name]
    lines = [f"def {name}({arguments}):"]
    if name in SAYS_E:
        lines.append(f'    """{SAYS_E[name]}"""')
    if not written:
        return "\n".join([*lines, "    ..."])
    if name in ("add", "multiply"):
        lines.append(f"    {PLAIN_E}")
    rules = "\n".join(f"        {line}" for line in rule.split("\n"))
    return "\n".join([*lines, f'    out = Tensor({result}, {parents}, "{label}")', "", "    def _backward():", rules, "",
                      "    out._backward = _backward", "    return out"])  # fmt: skip


def _teaching(written):
    methods = "\n\n".join(textwrap.indent(_method(name, written), "    ") for name in RULES_E)
    return f"{HEAD_E}\n{methods}\n\n{ATTACHED_E}"


SOLUTION_E = _teaching(True)
_e = lambda old, new, count=-1: but(SOLUTION_E, old, new, count)  # noqa: E731


def _tensors(idea, name, program, *shapes, low=0.4):
    def of(r):
        def numbers(shape):
            return [numbers(shape[1:]) for _ in range(shape[0])] if shape else round(r.uniform(low, 2.0), 2)

        return (
            program,
            {letter: numbers(shape) for letter, shape in zip("ab", shapes, strict=False)},
            float(r.randint(2, 5)),
        )

    return Probe(name, of(random.Random(name)), drivers.tensor_truth, drivers.tensor_rules, draw=of, idea=idea)


ALONE_E = {  # a probe in which only one operation is used
    "add": "a + b, both are stretched", "multiply": "a * b, a row is stretched", "matmul": "a @ b", "transpose": "a.T", "relu": "relu(a)",
    "exp": "exp(a)", "log": "log(a)", "power": "a**3", "sum": "all of a",
}  # fmt: skip


def _alone_overwrites(name):
    method = textwrap.indent(_method(name, True), "    ")
    return Wrong(f"{name} overwrites", but(SOLUTION_E, method, method.replace(".grad += ", ".grad = ")),
                 f"{name}: a tensor that is used twice receives two contributions, and the second one replaces the first. Add with +=.",
                 on=(ALONE_E[name],))  # fmt: skip


PLUS, STRETCH, MATMUL, EACH, SUM = "plus and times", "stretched operands", "matmul and T", "number by number", "sum"
EX_E = Exercise(
    id="09.e",
    title="Teach your engine tensors",
    kind=Kind.BUILD,
    points=5,
    minutes=25,
    difficulty=3,
    question="Nine operations on tensors with their rules. Each is used twice, on computed operands, and the upstream gradient is not 1.",
    entry="teach_tensors",
    stub=_teaching(False),
    solution=SOLUTION_E,
    reused=True,
    needs=("09.c",),
    ideas={PLUS: 0.15, STRETCH: 0.2, MATMUL: 0.3, EACH: 0.2, SUM: 0.15},
    probes=(
        _tensors(PLUS, "a * b + a, equal shapes", "a * b + a", (2, 3), (2, 3)),
        _tensors(PLUS, "2 * a + 1", "2 * a + 1", (2, 2)),
        _tensors(STRETCH, "a * b, a row is stretched", "a * b", (2, 3), (3,)),
        _tensors(STRETCH, "a + b, both are stretched", "a + b", (2, 1), (3,)),
        _tensors(STRETCH, "a * b + b, two stretched axes", "a * b + b", (4, 3, 2), (1, 3, 1)),
        _tensors(MATMUL, "a @ b", "a @ b", (2, 3), (3, 4)),
        _tensors(MATMUL, "a @ b, square", "a @ b", (3, 3), (3, 3)),
        _tensors(MATMUL, "a @ a", "a @ a", (2, 2)),
        _tensors(MATMUL, "a.T", "a.T", (3, 2)),
        _tensors(EACH, "relu(a)", "relu(a)", (2, 3), low=-2.0),
        _tensors(EACH, "exp(a)", "exp(a)", (2, 2)),
        _tensors(EACH, "log(a)", "log(a)", (3,)),
        _tensors(EACH, "a**3", "a**3", (2, 2)),
        _tensors(EACH, "a**-1", "a**-1", (3,)),
        _tensors(SUM, "all of a", "the sum of a", (2, 3)),
        _tensors(SUM, "each row", "the sums of the rows of a", (2, 3)),
        _tensors(SUM, "each column", "the sums of the columns of a", (3, 3)),
    ),
    bank=(
        Wrong("overwrites", _e(".grad += ", ".grad = "),
              "A tensor that is used twice receives two contributions. Here the second one replaces the first: add with +=.",
              on=("a * b + a, equal shapes", "a @ a", "exp(a)")),
        *map(_alone_overwrites, RULES_E),
        Wrong("upstream gradient forgotten", _e("out.data * out.grad", "out.data").replace("out.grad / self.data", "1 / self.data"),
              "Right where the upstream gradient is 1. Each number passes its local derivative times out.grad.", on=("exp(a)", "log(a)")),
        Wrong("plain numbers are refused", _e(f"        {PLAIN_E}\n", ""),
              "2 * a hands your rule a plain number. Make a Tensor of it first, as chapter 5 did with Value(other).",
              when=lambda seen: seen.error("2 * a + 1") == "AttributeError" and not seen.error("a * b + a, equal shapes")),
        Wrong("not brought back", _e("unbroadcast(out.grad * self.data, other.shape)", "out.grad * self.data"),
              "In a product, too, the second operand may have been stretched. Its gradient has to come back to its own shape.",
              when=lambda seen: seen.error("a * b, a row is stretched") == "ValueError" and not seen.error("a + b, both are stretched")),
        Wrong("never brought back", re.sub(r"unbroadcast\((.*), \w+\.shape\)", r"\1", SOLUTION_E),
              "An operand that was stretched gets a gradient in the shape of the result. Bring it back with unbroadcast.",
              when=lambda seen: seen.error("a * b, a row is stretched") == seen.error("a + b, both are stretched") == "ValueError"),
        Wrong("own factor", _e("out.grad * other.data, self.shape", "out.grad * self.data, self.shape"),
              "In a product, each operand's local derivative is the other operand.", on=("a * b + a, equal shapes",)),
        Wrong("factors of @ exchanged", but(_e("out.grad @ other.data.T", "other.data.T @ out.grad"), "self.data.T @ out.grad",
              "out.grad @ self.data.T"),
              "The factors of a matrix product cannot be exchanged. Square matrices hide it from their shapes, but not from the numbers: "
              "collect the uses of one entry.", on=("a @ b, square",)),
        Wrong("@ without a transpose", _e("out.grad @ other.data.T", "out.grad @ other.data"),
              "@: the entry in row i, column j of the first operand meets row j of the second, once for each column of the result. One of "
              "the factors has to be transposed.", on=("a @ b, square",)),
        Wrong("@ without the other transpose", _e("self.data.T @ out.grad", "self.data @ out.grad"),
              "@: the second operand's entry in row i, column j meets column i of the first. One of the factors has to be transposed.",
              on=("a @ b, square",)),
        Wrong("T passes g as it is", _e("self.grad += out.grad.T", "self.grad += out.grad"),
              "The gradient of the transpose has the shape of the transpose. Turn it back.",
              when=lambda seen: seen.error("a.T") == "ValueError"),
        Wrong("relu asks the gradient", _e("(self.data > 0) * out.grad", "(out.grad > 0) * out.grad"),
              "relu: what decides is the sign of the input, not of the gradient.", on=("relu(a)",)),
        Wrong("relu passes everything", _e("(self.data > 0) * out.grad", "out.grad"),
              "relu: where the input was negative, the output does not move.", on=("relu(a)",)),
        Wrong("exp from the input", _e("out.data * out.grad", "self.data * out.grad"),
              "exp: its derivative is its output.", on=("exp(a)",)),
        Wrong("log from the output", _e("out.grad / self.data", "out.grad / out.data"),
              "log: the derivative is one over the input.", on=("log(a)",)),
        Wrong("power keeps its exponent", _e("self.data ** (n - 1)", "self.data ** n"),
              "power: the exponent moves in front as a factor, and what is left is one power lower.", on=("a**3",)),
        Wrong("parents dropped", _e("(self,), ", "(), "),
              "The result does not know what it was made from, so the backward pass ends there. Look at the tuple of parents.",
              on=("exp(a)", "each row")),
        Wrong("sum as mean", _e("out.grad  # numpy", "out.grad / self.data.size  # numpy"),
              "sum: nothing is divided. Each number moves the sum as much as it moves itself.", on=("all of a", "each row")),
        Wrong("axis dropped", _e("keepdims=axis is not None", "keepdims=False"),
              "With an axis, that axis stays as one of size 1: keepdims. Then the gradient can be spread over the shape again.",
              when=lambda seen: seen.error("each row") in ("ValueError", "AxisError") and not seen.error("all of a")),
    ),
    hints=Hints(
        "Do one rule at a time, and run the check after each: it says which ideas are there.",
        "Number by number, the rules are those of chapters 5 and 6. Only three things are new: stretched operands, the product of "
        "matrices, and sum, which spreads its gradient over everything that was added.",
        "The square root would be `out = Tensor(np.sqrt(self.data), (self,), \"sqrt\")`, and its rule "
        "`self.grad += out.grad / (2 * out.data)`.",
    ),
    reveal="Numpy does the loops, so the scalar rules carry over. What is new is that an operand may have been stretched, and that a "
    "matrix product uses each entry many times.",
    fresh=lambda r: (
        lambda n, k: Fresh(
            f"a has the shape ({n}, {k}). y = a.sum(1) has the gradient 2 in every entry. What is the sum of all entries of a's gradient?",
            2 * n * k,
            wrong=((2 * n, "Each number of a row receives the gradient of its sum."), (2, "That is one entry.")),
        )
    )(r.randint(2, 4), r.randint(3, 6)),
)  # fmt: skip

# ---- 09.f: a network that reads -----------------------------------------------------------------------------------------------------

STUB_F = '''\
import numpy as np


def trainer(Tensor, backward):
    """Return a class Network and a function fit that work with this Tensor and this backward."""

    class Network:
        """y = relu(x @ W1.T + b1) @ W2.T + b2, with a sample in each row of the array x."""

        def __init__(self, inputs, hidden, outputs, rng):
            self.W1 = Tensor(rng.normal(0, (2 / inputs) ** 0.5, (hidden, inputs)))
            self.b1 = Tensor(np.zeros(hidden))
            self.W2 = Tensor(rng.normal(0, (1 / hidden) ** 0.5, (outputs, hidden)))
            self.b2 = Tensor(np.zeros(outputs))

        def parameters(self):
            return [self.W1, self.b1, self.W2, self.b2]

        def __call__(self, x):
            ...

    def fit(model, x, wanted, loss_of, rng, epochs=20, size=32, lr=0.1, update=None):
        """Train the model, and return the loss of each step as a plain number.

        An epoch uses every row of x once, in a new random order (rng.permutation), `size` rows at a time.
        For each batch the loss is loss_of(model(rows of x), rows of wanted). After backward, call
        update(model.parameters(), lr), which also clears the gradients. Without an update, take a step
        downhill and clear them yourself.
        """
        ...

    return Network, fit
'''

_LAYERS_F = "return (Tensor(x) @ self.W1.T + self.b1).relu() @ self.W2.T + self.b2"
_FIT_F = """\
        losses = []
        for _ in range(epochs):
            order = rng.permutation(len(x))
            for start in range(0, len(x), size):
                rows = order[start : start + size]
                loss = loss_of(model(x[rows]), wanted[rows])
                backward(loss)
                if update is not None:
                    update(model.parameters(), lr)
                else:
                    for p in model.parameters():
                        p.data = p.data - lr * p.grad
                        p.grad = np.zeros(p.shape)
                losses.append(float(loss.data))
        return losses
"""
SOLUTION_F = but(but(STUB_F, "        def __call__(self, x):\n            ...", f"        def __call__(self, x):\n            {_LAYERS_F}"),
                 '        """\n        ...\n', f'        """\n{_FIT_F}')  # fmt: skip
_f = lambda old, new: but(SOLUTION_F, old, new)  # noqa: E731


def _scores(weights, x):
    """The network's scores and the shapes of its parameters, number by number."""
    W1, b1, W2, b2 = weights
    out = []
    for row in x:
        h = [max(0.0, sum(w * v for w, v in zip(ws, row, strict=True)) + b) for ws, b in zip(W1, b1, strict=True)]
        out.append([sum(w * v for w, v in zip(ws, h, strict=True)) + b for ws, b in zip(W2, b2, strict=True)])
    return {"shapes": [[len(W1), len(W1[0])], [len(b1)], [len(W2), len(W2[0])], [len(b2)]], "scores": out}


def _layers(r):
    inputs, hidden, outputs = r.randint(2, 4), r.randint(3, 5), r.randint(2, 3)
    rows = lambda n, k: [[round(r.uniform(-2, 2), 2) for _ in range(k)] for _ in range(n)]  # noqa: E731
    return [rows(hidden, inputs), rows(1, hidden)[0], rows(outputs, hidden), rows(1, outputs)[0]], rows(4, inputs)


def _rows(samples, size, epochs, _seed):
    per = [size] * (samples // size) + [samples % size] * (samples % size > 0)
    return {"steps": epochs * len(per), "sizes of the first epoch": sorted(per), "each row once an epoch": [True] * epochs,
            "its own target": True, "not in the order of the file": True, "another order each epoch": True}  # fmt: skip


def _epochs(name, draw):
    return Probe(name, draw(random.Random(name)), _rows, drivers.fit_rows, draw=draw)


def _descent(start, slopes, lr):
    w, losses = start, []
    for slope in slopes:
        losses.append(w * slope)
        w -= lr * slope
    return {"the weight afterwards": w, "losses": losses, "backward passes": len(slopes),
            "what another update receives": [[1, lr, slope] for slope in slopes]}  # fmt: skip


def _slopes(r):
    return (
        round(r.uniform(1, 3), 2),
        [round(r.uniform(-2, 2), 2) for _ in range(r.randint(3, 5))],
        round(r.uniform(0.1, 0.4), 2),
    )


def _reads(got, _seed):
    if got["backward passes"] != 20 * 41:
        return f"20 epochs of 1,297 rows, 32 at a time, are {20 * 41} backward passes, and there were {got['backward passes']}"
    return None if got["right"] >= 460 else f"{got['right']} of the 500 digits are read, and at least 460 have to be"


LAYERS, EPOCH, STEP, READS = "the layers", "every row once an epoch", "the step", "it reads"
EX_F = Exercise(
    id="09.f",
    title="Read digits",
    kind=Kind.BUILD,
    points=4,
    minutes=20,
    difficulty=3,
    question="A network of two layers and its training loop, on your tensors. It has to read 460 of 500 digits that it has never seen.",
    entry="trainer",
    stub=STUB_F,
    solution=SOLUTION_F,
    reused=True,
    limits=Limits(seconds=30.0, wall=90.0),
    ideas={LAYERS: 0.25, EPOCH: 0.25, STEP: 0.25, READS: 0.25},
    probes=(
        *about(LAYERS, Probe("given weights", _layers(random.Random(9)), _scores, drivers.network_scores, draw=_layers)),
        *about(
            EPOCH,
            _epochs("eleven rows, four at a time", lambda r: (11, 4, 3, r.randint(1, 999))),
            _epochs("more than there are", lambda r: (r.randint(6, 9), 32, 2, r.randint(1, 999))),
        ),
        *about(STEP, Probe("slopes that change", _slopes(random.Random(9)), _descent, drivers.fit_steps, draw=_slopes)),
        *about(READS, Probe("digits", (0,), driver=drivers.digits_read, accept=_reads, draw=lambda r: (r.randint(1, 4),))),
    ),
    bank=(
        Wrong("no loop yet", _f("range(epochs)", "range(0)"), "fit has handed no batch to loss_of: its loop is still to be written.",
              on=("eleven rows, four at a time",)),
        Wrong("a new name for the parameter", _f("p.data = p.data - lr * p.grad", "p = p - lr * p.grad"),
              "p = p - … gives the name p to a new tensor, and the network's own stays as it was. Write to p.data.",
              on=("slopes that change",)),
        Wrong("never cleared", _f("                        p.grad = np.zeros(p.shape)\n", ""),
              "The gradients of earlier steps are still there, and backward adds to them. Clear them after each step.",
              on=("slopes that change",)),
        Wrong("uphill", _f("p.data - lr * p.grad", "p.data + lr * p.grad"), "The gradient points uphill: go the other way.",
              on=("slopes that change",)),
        Wrong("without lr", _f("lr * p.grad", "p.grad"), "The step is lr times the gradient.", on=("slopes that change",)),
        Wrong("the order of the file", _f("rng.permutation(len(x))", "np.arange(len(x))"),
              "The rows come in the same order in each epoch. Draw a new one with rng.permutation.", on=("eleven rows, four at a time",)),
        Wrong("one order for all epochs", _f("        for _ in range(epochs):\n            order = rng.permutation(len(x))\n",
              "        order = rng.permutation(len(x))\n        for _ in range(epochs):\n"),
              "One order was drawn before the first epoch, and used in all of them. Draw inside the loop over the epochs.",
              on=("eleven rows, four at a time",)),
        Wrong("drawn with repetition", _f("order[start : start + size]", "rng.integers(0, len(x), size)"),
              "Some rows come several times in an epoch, and others never. Draw one permutation, and cut it into pieces.",
              on=("eleven rows, four at a time",)),
        Wrong("last batch lost", _f("range(0, len(x), size)", "range(0, len(x) - size + 1, size)"),
              "The last batch is shorter, and it belongs to the epoch as well.", on=("eleven rows, four at a time",)),
        Wrong("targets not permuted", _f("wanted[rows]", "wanted[start : start + size]"),
              "The rows of x are permuted, and their targets are not. Use the same rows for both.", on=("eleven rows, four at a time",)),
        Wrong("relu forgotten", _f(".relu()", ""), "Without relu two layers are one: a line of a line is a line.", on=("given weights",)),
        Wrong("relu at the end, too", _f(_LAYERS_F, _LAYERS_F.replace("return ", "return (") + ").relu()"),
              "relu stands between the layers only. After the last one it would cut off every negative score.", on=("given weights",)),
        Wrong("second bias forgotten", _f(" @ self.W2.T + self.b2", " @ self.W2.T"), "The second layer has a bias, too.",
              on=("given weights",)),
        Wrong("losses as tensors", _f("float(loss.data)", "loss"),
              "Return the losses as plain numbers. A list of tensors keeps the graph of every step in memory.",
              when=lambda seen: seen.error("slopes that change") == "TypeError" and not seen.error("given weights")),
    ),
    hints=Hints(
        "Write __call__ first, and look at the check. Then the loop: epochs outside, batches inside, and in each of them four things.",
        "A batch is x[rows] and wanted[rows] with the same rows. After backward, each parameter gets a new p.data and a p.grad of zeros.",
        "For five rows in batches of two, an order such as [3, 0, 4, 1, 2] gives the batches [3, 0], [4, 1] and [2].",
    ),
    reveal="Two lines of a network, and a loop of ten: an order, a batch, a loss, a backward pass, a step.",
    fresh=lambda r: (
        lambda n, size: Fresh(
            f"{n} rows, {size} at a time: how many steps has an epoch?",
            -(-n // size),
            wrong=((n // size, "The rows that are left make a batch of their own."), (n, "A step uses several rows.")),
        )
    )(r.randint(101, 119), r.choice([8, 16])),
)  # fmt: skip

EXERCISES = (EX_A, EX_B, EX_C, EX_D, EX_E, EX_F)
