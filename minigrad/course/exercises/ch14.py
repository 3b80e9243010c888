"""Chapter 14, softmax and layer norm: its exercises. numpy is imported only when an answer is run."""

from __future__ import annotations

import math
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

STUB_A = '''\
import numpy as np


def softmax_backward(g, z):
    """s = softmax(z). Given g, the gradient at s: the gradient at z. Numpy arrays of the same length."""
    ...
'''

SOLUTION_A = '''\
import numpy as np


def softmax_backward(g, z):
    """s = softmax(z). Given g, the gradient at s: the gradient at z. Numpy arrays of the same length."""
    e = np.exp(z - z.max())
    s = e / e.sum()
    return s * (g - (s * g).sum())
'''


def _numbers(r, n):
    return [round(r.uniform(-2, 2), 2) for _ in range(n)]


def _softmax(z):
    top = max(z)
    e = [math.exp(v - top) for v in z]
    return [v / math.fsum(e) for v in e]


def _softmax_backward(g, z):
    """By the whole Jacobian, diag(s) - s sᵀ."""
    s = _softmax(z)
    return [math.fsum(((s[i] if i == j else 0.0) - s[i] * s[j]) * g[i] for i in range(len(s))) for j in range(len(s))]


_a = partial(but, SOLUTION_A)


TRUE = "s * (g - (s * g).sum())"
MAIN = "four numbers"

EX_A = Exercise(
    id="14.a",
    title="Backward of softmax",
    kind=Kind.FILL_IN,
    points=3,
    minutes=10,
    difficulty=3,
    question="Write softmax's backward rule without building its Jacobian, and let it survive z = 1000.",
    entry="softmax_backward",
    stub=STUB_A,
    solution=SOLUTION_A,
    probes=(
        Probe(
            MAIN,
            ([1.0, -2.0, 0.5, 3.0], [0.1, 1.2, -0.4, 0.7]),
            _softmax_backward,
            drivers.call_arrays,
            2,
            rtol=1e-9,
            atol=1e-14,
            draw=lambda r: (_numbers(r, 4), _numbers(r, 4)),
        ),
        Probe(
            "two numbers",
            ([1.0, 0.0], [2.0, 0.0]),
            _softmax_backward,
            drivers.call_arrays,
            rtol=1e-9,
            atol=1e-14,
            draw=lambda r: ([1.0, 0.0], _numbers(r, 2)),
        ),
        Probe(
            "large z",
            ([1.0, 2.0, 5.0], [1000.0, 1001.0, 999.0]),
            _softmax_backward,
            drivers.call_arrays,
            rtol=1e-9,
            atol=1e-14,
            draw=lambda r: (_numbers(r, 3), [1000.0 + z for z in _numbers(r, 3)]),
        ),
        Probe(
            "the same g everywhere",
            ([3.0, 3.0, 3.0], [0.2, 0.5, -1.0]),
            [0.0, 0.0, 0.0],
            drivers.call_arrays,
            atol=1e-12,
            draw=lambda r: ([3.0] * 3, _numbers(r, 3)),
        ),
        Probe(
            "2,000 numbers, memory used",
            (2000,),
            driver=drivers.softmax_memory,
            accept=lambda got, n: None if got["numbers"] < 100 * n else "the whole Jacobian was built: it has 4,000,000 entries",
            draw=lambda r: (r.randint(1900, 2000),),
        ),
    ),
    bank=(
        Wrong(
            "builds the Jacobian",
            _a(f"return {TRUE}", "return (np.diag(s) - np.outer(s, s)) @ g"),
            "The numbers are right, and the whole n × n matrix was built for them. Multiply its two parts by g by hand: each is cheap.",
            when=lambda seen: seen.value("2,000 numbers, memory used")["numbers"] > 1_000_000,
        ),
        Wrong(
            "diagonal only",
            _a(TRUE, "s * (1 - s) * g"),
            "Those are the diagonal terms. Off the diagonal the Jacobian has −s_i s_j: every s depends on every z.",
            on=(MAIN,),
        ),
        Wrong(
            "bracket forgotten",
            _a(TRUE, "s * g - (s * g).sum()"),
            "The weighted average belongs inside the bracket: s multiplies the whole difference.",
            on=(MAIN,),
        ),
        Wrong("nothing subtracted", _a(TRUE, "s * g"), "Subtract s·⟨s, g⟩: raising one z lowers all other s.", on=(MAIN,)),
        Wrong(
            "overflow",
            _a("np.exp(z - z.max())", "np.exp(z)"),
            "exp(1000) is infinite, and inf/inf is nan. Subtract the largest z first: softmax does not change.",
            on=(MAIN, "large z"),
        ),
        Wrong(
            "sum of g only",
            _a("(s * g).sum()", "g.sum()"),
            "What is subtracted is the average of g weighted by s, not the plain sum.",
            on=(MAIN,),
        ),
        Wrong(
            "mean of g",
            _a("(s * g).sum()", "g.mean()"),
            "What is subtracted is the average of g weighted by s, not the plain mean.",
            on=(MAIN,),
        ),
        Wrong("forward", _a(TRUE, "s"), "That is softmax itself. Its backward rule is wanted.", on=(MAIN,)),
        Wrong(
            "changes z",
            _a("    e = np.exp(z - z.max())", "    z -= z.max() + 0.0\n    e = np.exp(z)").replace(TRUE, "-" + TRUE),
            "The sign is reversed: raising z raises its own s. (And z -= ... changes the caller's array.)",
            on=(MAIN,),
        ),
        Wrong(
            "loss's gradient",
            _a(TRUE, "s - g"),
            "That is the gradient of cross-entropy, with g as the target. Here g is the upstream gradient at s: it is multiplied in.",
            on=("four numbers",),
        ),
        Wrong(
            "s and g exchanged",
            _a(TRUE, "g * (s - (s * g).sum())"),
            "s and g are exchanged: the weighted average is taken off g, and s multiplies the difference.",
            on=("four numbers",),
        ),
    ),
    hints=Hints(
        "If all z grow by the same amount, s does not change. What must the gradient at z add up to?",
        "J = diag(s) − s sᵀ is symmetric. Multiply it by g without building it: one dot product, one elementwise product.",
        "Normalising, s = z / sum(z): the rule is (g − ⟨s, g⟩) / sum(z), again with a weighted average of g taken off.",
    ),
    reveal="s ⊙ (g − ⟨s, g⟩): O(n) instead of n².",
    fresh=lambda r: (
        lambda p: Fresh(
            f"Two classes, s = [{p}, {1 - p:g}], g = [1, 0]. What is the first entry of the gradient at z?",
            p * (1 - p),
            wrong=((p, "Subtract s·⟨s, g⟩."),),
        )
    )(r.choice([0.2, 0.3, 0.6, 0.8])),
)

STUB_B = '''\
def row_sums(f, z, h=1e-5):
    """The sum of each row of f's Jacobian at z, by central differences. f turns a list into a list of the same length.

    Row i holds the derivatives of f(z)[i] with respect to every z[j]. Call f only twice, however long z is.
    """
    ...  # a row's sum is itself a derivative: along which direction?
'''

SOLUTION_B = """\
def row_sums(f, z, h=1e-5):
    up, down = f([v + h for v in z]), f([v - h for v in z])
    return [(u - d) / (2 * h) for u, d in zip(up, down)]
"""

ROW_SUMS = {  # by hand
    "softmax": lambda z: [0.0] * len(z),
    "squares": lambda z: [2 * v for v in z],
    "neighbours": lambda z: [a + b for a, b in zip(z, [*z[1:], z[0]], strict=True)],
}


_b = partial(but, SOLUTION_B)


def _rows(name, f, z):
    def draw(r):
        return f, [round(r.uniform(-2, 2), 2) for _ in z]

    return Probe(name, (f, z), lambda f, z: ROW_SUMS[f](z), drivers.row_sums, rtol=1e-7, atol=1e-8, draw=draw)


EX_B = Exercise(
    id="14.b",
    title="What a row adds up to",
    kind=Kind.PUZZLE,
    points=1,
    minutes=6,
    difficulty=2,
    question="Write the sum of every row of a Jacobian, with two calls of the function. Then try it on softmax.",
    entry="row_sums",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        _rows("softmax of three numbers", "softmax", [0.1, 1.0, -0.5]),
        _rows("every entry squared", "squares", [1.0, 2.0, 3.0, -4.0, 5.0]),
        _rows("each entry times the next", "neighbours", [3.0, 0.5, -2.0]),
        Probe(
            "calls of f",
            ("squares", [0.5] * 40),
            driver=drivers.row_sum_calls,
            draw=lambda r: ("squares", _numbers(r, 40)),
            accept=lambda got, *_: None if got["calls"] <= 2 else "f was called more than twice: no column has to be computed by itself",
        ),
    ),
    bank=(
        Wrong(
            "one z moves",
            _b("f([v + h for v in z]), f([v - h for v in z])", "f([z[0] + h, *z[1:]]), f([z[0] - h, *z[1:]])"),
            "That is one column: only z[0] moved. For the sum over all j, every z[j] moves by the same amount.",
            on=("each entry times the next",),
        ),
        Wrong(
            "every column",
            """\
def row_sums(f, z, h=1e-5):
    sums = [0.0] * len(z)
    for j in range(len(z)):
        up, down = f([v + h * (i == j) for i, v in enumerate(z)]), f([v - h * (i == j) for i, v in enumerate(z)])
        sums = [s + (u - d) / (2 * h) for s, u, d in zip(sums, up, down)]
    return sums
""",
            "The numbers are right, and each column was computed by itself. The sum needs one direction only: all of z moves at once.",
            when=lambda seen: seen.value("calls of f")["calls"] > 2,
        ),
        Wrong(
            "not divided by two",
            _b("(2 * h)", "h"),
            "Twice too large: how far apart are the two points at which f is called?",
            on=("each entry times the next", "every entry squared"),
        ),
        Wrong(
            "what softmax gives",
            "def row_sums(f, z, h=1e-5):\n    return [0.0] * len(z)\n",
            "That is what you may expect of softmax. Measure it, and the other functions as well.",
            on=("each entry times the next", "every entry squared"),
        ),
        Wrong(
            "one total",
            _b("[(u - d) / (2 * h) for u, d in zip(up, down)]", "sum((u - d) / (2 * h) for u, d in zip(up, down))"),
            "One sum for each row is wanted, not the sum of everything.",
            on=("each entry times the next",),
        ),
        Wrong(
            "the values",
            _b("(u - d) / (2 * h)", "(u + d) / 2"),
            "That is f itself. How does it change when all of z grows together?",
            on=("each entry times the next",),
        ),
        Wrong(
            "ones",
            _b("(u - d) / (2 * h)", "1.0"),
            "Softmax's outputs add up to 1, but those are columns of values. Asked is how fast each output moves.",
            on=("each entry times the next", "every entry squared"),
        ),
    ),
    hints=Hints(
        "What happens to softmax when the same number is added to every z?",
        "Sum over j of ∂s_i/∂z_j is the derivative of s_i along (1, 1, ..., 1): move all z together.",
        "For the mean of z, moving all entries together by h moves the mean by h: its row adds up to 1.",
    ),
    reveal="Softmax ignores a common shift, so its derivative along (1, ..., 1) is 0: that is each row's sum.",
    fresh=lambda r: (
        lambda a, b: Fresh(
            f"A row of a 3×3 softmax Jacobian begins {a}, {b}. What is its third entry?",
            -(a + b),
            wrong=((1 - a - b, "Rows of J add up to 0, not to 1."),),
        )
    )(r.choice([0.21, 0.16, 0.24]), r.choice([-0.06, -0.1, -0.14])),
)

STUB_C = '''\
import numpy as np


def layer_norm_backward(g, x, gamma, eps=1e-5):
    """y = gamma * (x - mean) / std. Given g at y, the gradient at x. All are numpy arrays of the same length."""
    std = np.sqrt(x.var() + eps)
    x_hat = (x - x.mean()) / std
    return gamma / std * (g - g.mean() - x_hat * (g * x_hat).mean())      # wrong when gamma's entries differ
'''

SOLUTION_C = '''\
import numpy as np


def layer_norm_backward(g, x, gamma, eps=1e-5):
    """y = gamma * (x - mean) / std. Given g at y, the gradient at x. All are numpy arrays of the same length."""
    std = np.sqrt(x.var() + eps)
    x_hat = (x - x.mean()) / std
    g_hat = gamma * g
    return (g_hat - g_hat.mean() - x_hat * (g_hat * x_hat).mean()) / std
'''


def _layer_norm(g, x, gamma, eps=1e-5):
    """By the whole Jacobian of x_hat: (δ_ij − 1/n − x̂_i x̂_j / n) / std."""
    n = len(x)
    mean = math.fsum(x) / n
    std = math.sqrt(math.fsum((v - mean) ** 2 for v in x) / n + eps)
    hat = [(v - mean) / std for v in x]
    return [math.fsum(g[i] * gamma[i] * ((i == j) - 1 / n - hat[i] * hat[j] / n) / std for i in range(n)) for j in range(n)]


_c = partial(but, SOLUTION_C)


FOUR = ([1.0, -1.0, 2.0, 0.5], [0.3, 2.0, -1.0, 0.7], [0.5, 2.0, 1.0, -3.0])

EX_C = Exercise(
    id="14.c",
    title="Layer norm from a sketch",
    kind=Kind.DEBUG,
    points=2,
    minutes=10,
    difficulty=3,
    question="This formula is printed in a text. It is right only when gamma is one number: repair it.",
    entry="layer_norm_backward",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe(
            "gamma of four different numbers",
            FOUR,
            _layer_norm,
            drivers.call_arrays,
            2,
            rtol=1e-9,
            atol=1e-12,
            draw=lambda r: (_numbers(r, 4), _numbers(r, 4), _numbers(r, 4)),
        ),
        Probe(
            "gamma the same everywhere",
            (FOUR[0], FOUR[1], [2.0] * 4),
            _layer_norm,
            drivers.call_arrays,
            rtol=1e-9,
            atol=1e-12,
            draw=lambda r: (_numbers(r, 4), _numbers(r, 4), [1.5] * 4),
        ),
        Probe(
            "six numbers",
            ([1.0, 0.0, -2.0, 3.0, 1.0, 1.0], [5.0, 4.0, 4.5, 3.0, 6.0, 5.5], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            _layer_norm,
            drivers.call_arrays,
            rtol=1e-9,
            atol=1e-12,
            draw=lambda r: (_numbers(r, 6), _numbers(r, 6), _numbers(r, 6)),
        ),
    ),
    bank=(
        Wrong(
            "gamma left outside one mean",
            _c("(g_hat * x_hat).mean()", "(g * x_hat).mean()"),
            "gamma belongs inside both means: ĝ = gamma · g is what arrives at x̂.",
            on=("gamma of four different numbers",),
        ),
        Wrong(
            "gamma outside the other mean",
            _c("g_hat.mean() -", "g.mean() -"),
            "gamma belongs inside both means: ĝ = gamma · g is what arrives at x̂.",
            on=("gamma of four different numbers",),
        ),
        Wrong(
            "gamma twice",
            _c(
                "(g_hat - g_hat.mean() - x_hat * (g_hat * x_hat).mean()) / std",
                "gamma / std * (g_hat - g_hat.mean() - x_hat * (g_hat * x_hat).mean())",
            ),
            "gamma is in twice: ĝ has it already, and outside stands 1/std alone.",
            on=("gamma of four different numbers",),
        ),
        Wrong(
            "gamma's mean",
            STUB_C.replace("return gamma / std", "return gamma.mean() / std"),
            "An average gamma loses which entry had which: gamma goes into ĝ = gamma · g, entry by entry.",
            on=("gamma of four different numbers",),
        ),
        Wrong(
            "mean as a constant",
            _c(" - g_hat.mean()", ""),
            "The mean depends on every x: its share was dropped.",
            on=("gamma of four different numbers",),
        ),
        Wrong(
            "std as a constant",
            _c(" - x_hat * (g_hat * x_hat).mean()", ""),
            "The standard deviation depends on every x: its share was dropped.",
            on=("gamma of four different numbers",),
        ),
        Wrong(
            "sum for mean",
            _c("(g_hat * x_hat).mean()", "(g_hat * x_hat).sum()"),
            "A sum stands where a mean belongs: it is n times too large.",
            on=("gamma of four different numbers",),
        ),
        Wrong(
            "gamma lost",
            _c("gamma * g", "g"),
            "gamma is gone: y is gamma times x̂, so what arrives at x̂ is gamma · g.",
            on=("gamma of four different numbers",),
        ),
        Wrong(
            "mean and std as constants",
            _c("(g_hat - g_hat.mean() - x_hat * (g_hat * x_hat).mean()) / std", "gamma * g / std"),
            "Mean and standard deviation are treated as constants. Both depend on every x, and each contributes a term.",
            on=("gamma of four different numbers",),
        ),
        Wrong(
            "divided by gamma",
            _c("(g_hat - g_hat.mean() - x_hat * (g_hat * x_hat).mean()) / std", "g / gamma"),
            "y is gamma times x̂, so gamma multiplies the gradient on its way to x̂. And mean and std contribute terms of their own.",
            on=("gamma of four different numbers",),
        ),
        Wrong(
            "nothing divided by std",
            _c(".mean()) / std", ".mean())"),
            "1/std is missing: x̂ moves 1/std times as much as x.",
            on=("gamma of four different numbers",),
        ),
        Wrong(
            "the printed formula, retyped",
            _c(
                "(g_hat - g_hat.mean() - x_hat * (g_hat * x_hat).mean()) / std",
                "gamma * (g - g.mean() - x_hat * (g * x_hat).mean()) / std",
            ),
            "This is the printed formula again. A factor that differs from entry to entry cannot stand outside the means.",
            on=("gamma of four different numbers",),
        ),
    ),
    hints=Hints(
        "Split it: y = gamma · x̂ first. What arrives at x̂?",
        "Everything after that sees only what arrives at x̂. A factor that differs from entry to entry cannot be pulled out of a mean.",
        "mean(a·b) with a = [1, 3], b = [1, 1]: 2. With b = [1, 5] it is 8, and mean(a) times anything from outside does not repair it.",
    ),
    reveal="ĝ = gamma · g first, then the formula with ĝ in both means and 1/std outside.",
    fresh=lambda r: (
        lambda a, b: Fresh(f"g = [1, 1], gamma = [{a}, {b}]. What is the mean of ĝ?", (a + b) / 2, wrong=((1, "That is the mean of g."),))
    )(r.randint(2, 5), r.randint(6, 9)),
)

EX_D = ask(
    "14.d",
    "Who depends on whom?",
    Kind.PREDICT,
    minutes=3,
    level=1,
    text="How many of the entries are not zero, in general, in the 5×5 Jacobian of each?",
    answer={"softmax": 25, "layer norm": 25, "tanh, entry by entry": 5, "x[::-1], reversed": 5},
    wrong=(
        ("softmax diagonal", {"softmax": 5}, "softmax divides by a sum over all entries: each output depends on each input."),
        ("layer norm diagonal", {"layer norm": 5}, "Mean and standard deviation depend on every x_j, and y_i depends on both."),
        ("tanh dense", {"tanh, entry by entry": 25}, "tanh: output i sees input i alone."),
        (
            "reversal has none",
            {"x[::-1], reversed": 0},
            "Reversed: each output is one of the inputs, with derivative 1, only not at the same place.",
        ),
        ("softmax without its diagonal", {"softmax": 20}, "softmax: the diagonal entries are s(1 - s), which is not zero either."),
        ("layer norm without its diagonal", {"layer norm": 20}, "layer norm: y_i moves with x_i as well, so the diagonal is not empty."),
        ("reversal dense", {"x[::-1], reversed": 25}, "Reversed: each output is one of the inputs and sees no other."),
        ("tanh has none", {"tanh, entry by entry": 0}, "tanh: output i moves when input i moves."),
    ),
    hints=(
        "Move one input. Which outputs move?",
        "Entry (i, j) is zero when output i does not see input j.",
        "cumsum of 4 numbers: output i sees inputs 0 to i, so 10 entries are not zero.",
    ),
    reveal="Softmax and layer norm are dense (25); tanh and reversal have one entry per row (5).",
    fresh=lambda r: (
        lambda n: Fresh(
            f"softmax of {n} numbers: how many entries of the Jacobian are not zero?", n * n, wrong=((n, "Each output sees each input."),)
        )
    )(r.randint(6, 12)),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
