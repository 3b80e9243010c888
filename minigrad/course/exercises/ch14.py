"""Chapter 14, softmax, cross-entropy and normalisation: its exercises. numpy is imported only when an answer is run."""

from __future__ import annotations

import math
import random
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Limits, Probe, Wrong, ask, but
from ._truths import network_truth

EX_A = ask(
    "14.a",
    "Who depends on whom?",
    Kind.PREDICT,
    points=0,
    minutes=3,
    level=1,
    text="Each function turns five numbers into five. How many of the entries of its Jacobian are not zero, in general?",
    comment="Each function turns five numbers into five.\nHow many of the entries of its Jacobian are not zero, in general?",
    answer={"softmax": 25, "layer norm": 25, "tanh, entry by entry": 5, "x[::-1], reversed": 5},
    wrong=(
        (
            "softmax diagonal",
            {"softmax": 5},
            "softmax divides by a sum over all entries, so each output depends on each input.",
        ),
        (
            "layer norm diagonal",
            {"layer norm": 5},
            "layer norm: mean and standard deviation contain every x, and every output uses both.",
        ),
        ("tanh dense", {"tanh, entry by entry": 25}, "tanh: output i depends on input i alone."),
        ("tanh has none", {"tanh, entry by entry": 0}, "tanh: output i moves when input i moves."),
        (
            "reversal has none",
            {"x[::-1], reversed": 0},
            "Reversed: each output is one of the inputs, with derivative 1, in another place.",
        ),
        (
            "reversal dense",
            {"x[::-1], reversed": 25},
            "Reversed: each output is one of the inputs and does not depend on the others.",
        ),
        ("softmax without its diagonal", {"softmax": 20}, "softmax: an output moves with its own input as well."),
        (
            "layer norm without its diagonal",
            {"layer norm": 20},
            "layer norm: an output moves with its own input as well.",
        ),
    ),
    hints=(
        "Move one input by a little. Which outputs move?",
        "The entry in row i and column j is zero when output i does not depend on input j.",
        "cumsum of 4 numbers: output i contains the inputs 0 to i, so 10 of the 16 entries are not zero.",
    ),
    reveal="Softmax divides by a sum and layer norm by a standard deviation, so everything depends on everything. The others do not mix.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"softmax of {n} numbers: how many entries of the Jacobian are not zero?",
            n * n,
            wrong=((n, "Each output depends on each input."),),
        )
    )(r.randint(6, 12)),
)

EX_A2 = ask(
    "14.a2",
    "The sum of a row",
    Kind.PREDICT,
    points=0,
    minutes=3,
    level=2,
    text="s = softmax(z). Take one row of its Jacobian: the derivatives of one s by all the z. What do they add up to?",
    comment="s = softmax(z). Take one row of its Jacobian: the derivatives of one s by all the z.\nWhat do they add up to?",
    answer=0,
    wrong=(
        ("the outputs' sum", 1, "The outputs add up to 1. A row of the Jacobian says how one of them moves."),
        ("the number itself", "s", "Adding up the row means moving all z together. What does that do to s?"),
        (
            "it depends",
            "it depends",
            "It is the same number for every row and every z. Move all z by the same amount and see.",
        ),
    ),
    hints=(
        "To add up a row is to move all inputs together. What happens to softmax when the same number is added to every z?",
        "A common factor in the numerator and in the sum below it cancels.",
        "For the mean of z, moving all entries by h moves the mean by h, so its row adds up to 1.",
    ),
    reveal="Adding the same number to every z multiplies every exponential by the same factor, which cancels, so no s moves.",
    fresh=lambda r: (
        lambda a, b: Fresh(
            f"A row of a 3×3 softmax Jacobian begins {a}, {b}. What is its third entry?",
            -(a + b),
            wrong=((1 - a - b, "A row of this Jacobian does not add up to what the outputs add up to."),),
        )
    )(r.choice([0.21, 0.16, 0.24]), r.choice([-0.06, -0.1, -0.14])),
)

# ---- 14.b: cross-entropy on the learner's engine --------------------------------------------------------------------------------

STUB_B = '''\
import math


def cross_entropy(scores, target):
    """The cross-entropy of one sample, -log softmax(scores)[target], as one operation of your engine.

    scores: a list of Values, one for each class. target: the number of the right class.
    Returns a Value, whose parents are the scores. Scores of 1000 and -1000 must work, too.
    """
    ...
'''

SOLUTION_B = '''\
import math


def cross_entropy(scores, target):
    """The cross-entropy of one sample, as one operation."""
    top = max(s.data for s in scores)
    exps = [math.exp(s.data - top) for s in scores]
    total = sum(exps)
    out = Value(math.log(total) + top - scores[target].data, (*scores,), "cross_entropy")

    def _backward():
        for i, s in enumerate(scores):
            s.grad += (exps[i] / total - (i == target)) * out.grad

    out._backward = _backward
    return out
'''


def _softmax(z):
    top = max(z)
    e = [math.exp(v - top) for v in z]
    total = math.fsum(e)
    return [v / total for v in e]


def _one_sample(z, target, seed=1.0, places=None):
    """By the Jacobian of softmax times the gradient of the logarithm, entry by entry; a score may be used in several places."""
    places = places or list(range(len(z)))
    at = [z[p] for p in places]
    s = _softmax(at)
    slopes = [((i == target) - s[i]) * -seed for i in range(len(at))]
    grads = [math.fsum(slope for slope, p in zip(slopes, places, strict=True) if p == k) for k in range(len(z))]
    loss = max(at) + math.log(math.fsum(math.exp(v - max(at)) for v in at)) - at[target]
    return {"loss": loss, "gradients": grads}


def _numbers(r, n, size=2.0):
    return [round(r.uniform(-size, size), 2) for _ in range(n)]


def _sample(name, numbers, target, seed=1.0, places=None, weight=1.0, shift=0.0):
    def draw(r):
        drawn = [v - shift if k == target else v + shift for k, v in enumerate(_numbers(r, len(numbers)))]
        return drawn, target, float(r.randint(2, 5)) if seed != 1 else 1.0, places

    return Probe(name, (numbers, target, seed, places), _one_sample, drivers.cross_entropy_value, weight, draw=draw)


_b = partial(but, SOLUTION_B)
GRAD = "(exps[i] / total - (i == target)) * out.grad"
THREE, FOUR_B, TWICE, LARGE = (
    "three classes",
    "four classes, upstream gradient not 1",
    "the same score twice",
    "scores of a thousand",
)
BOTH = "a score that is the right class and a wrong one"

EX_B = Exercise(
    id="14.b",
    title="Cross-entropy for your engine",
    kind=Kind.BUILD,
    points=2,
    minutes=10,
    difficulty=2,
    question="Give your engine cross_entropy(scores, target), as one operation with a backward rule of its own.",
    needs=("05.a",),
    entry="cross_entropy",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        _sample(THREE, [0.5, -1.0, 2.0], 0),
        _sample(FOUR_B, [1.0, 0.2, -0.7, 1.5], 2, 3.0),
        _sample(TWICE, [0.3, 1.1], 1, 1.0, [0, 1, 0]),
        _sample(BOTH, [0.3, 1.1], 0, 2.0, [0, 1, 0]),
        _sample(LARGE, [-1000.0, 1000.0, 999.0], 0, shift=1000.0),
        Probe("one operation", ([0.5, -1.0, 2.0],), {"a Value": True, "parents are the scores": True}, drivers.cross_entropy_records,
              draw=lambda r: (_numbers(r, 3),)),
    ),
    bank=(
        Wrong(
            "overflow",
            _b("s.data - top", "s.data").replace("+ top", ""),
            "exp(1000) is too large for a floating-point number. Take the largest score off first, and add it again to the logarithm.",
            when=lambda seen: seen.error(LARGE) == "OverflowError" and not seen.error(THREE),
        ),
        Wrong(
            "softmax, then log",
            _b("math.log(total) + top - scores[target].data", "-math.log(exps[target] / total)"),
            "A probability of exp(−2000) is 0 in floating point, and 0 has no logarithm. Take the logarithm of the sum instead, and "
            "subtract the score: then nothing is too small.",
            when=lambda seen: seen.error(LARGE) == "ValueError" and not seen.error(THREE),
        ),
        Wrong(
            "the top is not put back",
            _b("math.log(total) + top", "math.log(total)"),
            "The gradients are right and the loss is not: what was taken off before exp must be added to the logarithm again.",
            on=(THREE, FOUR_B),
        ),
        Wrong(
            "upstream gradient forgotten",
            _b(" * out.grad", ""),
            "The rule is right for a loss at the end of the program. As an operation it has to multiply by its own upstream gradient.",
            on=(FOUR_B,),
        ),
        Wrong(
            "overwrites",
            _b("s.grad +=", "s.grad ="),
            "A score that is used twice keeps only the second contribution: add to its gradient.",
            on=(TWICE,),
        ),
        Wrong(
            "compares by identity",
            _b("(i == target)", "(s is scores[target])"),
            "Where the same Value is the score of two classes, both are taken for the right one. The right class is a position: compare i "
            "with target.",
            on=(BOTH, TWICE),
        ),
        Wrong("the right class is not treated", _b(GRAD, "exps[i] / total * out.grad"),
              "That is the derivative of log-sum-exp alone. The loss also contains the score of the right class, with a minus sign.",
              on=(THREE,)),
        Wrong("only the right class", _b(GRAD, "(exps[i] / total - 1) * (i == target) * out.grad"),
              "The other scores are in the denominator: when one of them grows, the right class loses probability.", on=(THREE,)),
        Wrong("sigmoid's rule", _b(GRAD, "exps[i] / total * (1 - exps[i] / total) * out.grad"),
              "p(1 − p) is the diagonal of softmax's Jacobian. The logarithm and the other outputs are missing.", on=(THREE,)),
        Wrong("sign", _b(GRAD, "((i == target) - exps[i] / total) * out.grad"),
              "The sign is reversed: a larger score of the right class makes the loss smaller.", on=(THREE,)),
        Wrong("the probability", _b("math.log(total) + top - scores[target].data", "exps[target] / total"),
              "The result is the probability of the right class. The loss is minus its logarithm.", on=(THREE,)),
        Wrong("log without minus", _b("math.log(total) + top - scores[target].data", "scores[target].data - math.log(total) - top"),
              "The logarithm of a probability is negative, so the loss needs a minus sign: it should fall when the probability grows.",
              on=(THREE,)),
        Wrong("the rule is not attached", _b("    out._backward = _backward\n", ""),
              "No gradient reaches the scores. backward runs what is stored in out._backward: is your rule there?",
              when=lambda seen: not any(seen.value(THREE)["gradients"]) and not any(seen.value(FOUR_B)["gradients"])),
        Wrong(
            "parents are not the scores",
            _b("(*scores,)", "(scores[target],)"),
            "The loss must be one operation: a Value whose parents are all the scores, and nothing else. Compute with their .data, so that "
            "no other Value comes in between; backward visits only what it reaches through the parents.",
            when=lambda seen: (seen.value("one operation") or {}).get("parents are the scores") is False,
        ),
    ),
    hints=Hints(
        nudge="Loss and rule need the same two things: the exponentials and their sum. Compute them once, in the forward part.",
        rule="The loss is the logarithm of the sum of exponentials, minus the score of the right class. Its derivative by a score is that "
        "score's probability, and 1 less for the right class. Each goes into a gradient as upstream × local, with +=.",
        twin="The mean of some Values as one operation: out = Value(sum of their data / n, parents, \"mean\"), and in _backward every "
        "parent's grad += out.grad / n.",
    ),
    reveal="One node instead of a dozen, and no number on the way is ever too large or too small.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"{k} classes, all scores equal. What is the derivative of the cross-entropy by the score of a wrong class?",
            1 / k,
            wrong=((1 / k - 1, "That is for the right class."), (0, "A wrong class has a probability, too.")),
        )
    )(r.choice([4, 5, 8, 10])),
)  # fmt: skip

# ---- 14.b2: a batch of rows -----------------------------------------------------------------------------------------------------

STUB_B2 = '''\
import numpy as np


def cross_entropy_rows(z, targets, smoothing=0.0):
    """The mean cross-entropy of a batch, and its gradient at z.

    z: (N, C), a row of scores for each sample. targets: N integers, the right classes.
    smoothing: the part of each target that is spread evenly over all C classes.
    Rows far above and far below zero must work, too.
    """
    ...
'''

SOLUTION_B2 = """\
import numpy as np


def cross_entropy_rows(z, targets, smoothing=0.0):
    n, classes = z.shape
    shifted = z - z.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    y = np.full(z.shape, smoothing / classes)
    y[np.arange(n), targets] += 1 - smoothing
    return -(y * log_p).sum() / n, (np.exp(log_p) - y) / n
"""


def _batch(z, targets, smoothing):
    """Sample by sample and class by class, the smoothed target as a mixture of the losses of all classes."""
    n, classes = len(z), len(z[0])
    loss, grads = 0.0, []
    for row, target in zip(z, targets, strict=True):
        ones = [_one_sample(row, c) for c in range(classes)]
        weights = [smoothing / classes + (1 - smoothing) * (c == target) for c in range(classes)]
        loss += math.fsum(w * one["loss"] for w, one in zip(weights, ones, strict=True)) / n
        grads.append(
            [
                math.fsum(w * one["gradients"][j] for w, one in zip(weights, ones, strict=True)) / n
                for j in range(classes)
            ]
        )
    return [loss, grads]


def _rows(name, n, classes, smoothing, weight=1.0, far=False):
    def of(r):
        z = [_numbers(r, classes) for _ in range(n)]
        if far:
            z = [[v + (1000.0 if i % 2 else -1000.0) for v in row] for i, row in enumerate(z)]
            z[0][1] += 3000.0  # so that the target's probability is 0 in floating point
        targets = [0, *(r.randrange(classes) for _ in range(n - 1))]
        return z, targets, smoothing and round(r.uniform(0.1, 0.4), 2)

    return Probe(name, of(random.Random(name)), _batch, drivers.cross_entropy_rows, weight, rtol=1e-9, atol=1e-12,
                 parts=("loss", "gradient at z"), draw=of)  # fmt: skip


def _vocabulary(rows, classes, seed):
    z, targets = drivers.vocabulary(rows, classes, seed)
    loss, at_targets, squares = 0.0, [], 0.0
    for row, target in zip(z.tolist(), targets.tolist(), strict=True):
        p, y = _softmax(row), 0.1 / classes
        top = max(row)
        lse = top + math.log(math.fsum(math.exp(v - top) for v in row))
        loss += (lse - 0.9 * row[target] - y * math.fsum(row)) / rows
        at_targets.append((p[target] - 0.9 - y) / rows)
        squares += math.fsum((v - y - 0.9 * (j == target)) ** 2 for j, v in enumerate(p)) / rows**2
    return {"loss": loss, "gradient at the targets": at_targets, "length of the gradient": math.sqrt(squares)}


BY_SUMS = """\
import numpy as np


def cross_entropy_rows(z, targets, smoothing=0.0):
    n, classes = z.shape
    top = z.max(axis=1, keepdims=True)
    exps = np.exp(z - top)
    sums = exps.sum(axis=1, keepdims=True)
    y = np.full(z.shape, smoothing / classes)
    y[np.arange(n), targets] += 1 - smoothing
    return ((np.log(sums) + top)[:, 0] - (y * z).sum(axis=1)).mean(), (exps / sums - y) / n
"""  # as the page writes the loss, which is another number where a row of y does not add up to 1


def _two_forms(name, hint, *changes, on):
    """A mistake in y, in both ways to write the loss."""
    return [
        Wrong(name + how, but(source, *changes), hint, on=on)
        for how, source in (("", SOLUTION_B2), (", by sums", BY_SUMS))
    ]


def _only_far(seen):
    """Right for ordinary rows; inf or nan where one row is far below another."""
    numbers = [seen.value(FAR)[0], *(v for row in seen.value(FAR)[1] for v in row)]
    return not all(map(math.isfinite, numbers)) and math.isfinite(seen.value(PLAIN)[0])


_b2 = partial(but, SOLUTION_B2)
PLAIN, SMOOTH, FAR = "four rows, three classes", "with label smoothing", "rows far apart"

EX_B2 = Exercise(
    id="14.b2",
    title="Cross-entropy for a batch",
    kind=Kind.BUILD,
    points=3,
    minutes=12,
    difficulty=3,
    question="Write loss and gradient of cross-entropy for a batch of rows in numpy, with label smoothing, safe for scores of any size.",
    reused=True,
    entry="cross_entropy_rows",
    stub=STUB_B2,
    solution=SOLUTION_B2,
    probes=(
        _rows(PLAIN, 4, 3, 0.0, 2),
        _rows(SMOOTH, 3, 5, 0.1, 2),
        _rows("everything square", 3, 3, 0.1),
        _rows(FAR, 4, 3, 0.0, 1, far=True),
        Probe("a vocabulary of 50,257", (2, 50_257, 3), _vocabulary, drivers.cross_entropy_vocabulary, rtol=1e-8,
              draw=lambda r: (2, 50_257, r.randint(1, 9999))),
    ),
    bank=(
        Wrong("sum for mean", _b2(".sum() / n, (np.exp(log_p) - y) / n", ".sum(), np.exp(log_p) - y"),
              "Loss and gradient are those of the sum over the rows. The mean divides both by their number.", on=(PLAIN,)),
        Wrong("gradient not divided", _b2("(np.exp(log_p) - y) / n", "np.exp(log_p) - y"),
              "The loss is right and its gradient is too large: the loss is a mean over the rows, so every entry of its gradient is, too.",
              on=(PLAIN,)),
        Wrong("divided by everything", _b2("(np.exp(log_p) - y) / n", "(np.exp(log_p) - y) / z.size"),
              "The mean is over the rows, not over all entries of z.", on=(PLAIN,)),
        Wrong("softmax, then log", _b2("shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))",
                                       "np.log(np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True))"),
              "A probability became 0, and the logarithm of 0 is −∞. Stay with logarithms: scores minus the logarithm of the sum.",
              on=(PLAIN, FAR)),
        Wrong("nothing taken off", _b2("z - z.max(axis=1, keepdims=True)", "z"),
              "exp overflows. Take the largest score of each row off first; the loss does not change.", on=(PLAIN, FAR)),
        Wrong("the largest of everything", _b2("z.max(axis=1, keepdims=True)", "z.max()"),
              "One maximum for the whole batch does not help a row far below it: all its exponentials become 0. Each row needs its own.",
              when=_only_far),
        Wrong("sums down the columns", _b2("np.exp(shifted).sum(axis=1,", "np.exp(shifted).sum(axis=0,"),
              "Your sum runs down the columns, over the samples. The classes of one sample compete, so sum along each row.", on=(PLAIN,)),
        Wrong("the gradient alone", _b2("return -(y * log_p).sum() / n, ", "return "),
              "Return two things: the loss, which is one number, and its gradient.",
              when=lambda seen: all(isinstance(row, list) and len(row) == 3 for row in seen.value(PLAIN))),
        Wrong("along the wrong axis", _b2("axis=1", "axis=0"),
              "Your sums run down the columns, over the samples. The classes of one sample compete, so sum along each row.",
              on=("everything square",)),
        Wrong("smoothing ignored", _b2("smoothing / classes", "0.0").replace("1 - smoothing", "1"),
              "Without smoothing it is right. With it, a part of each target belongs to all classes alike.", on=(SMOOTH,)),
        Wrong("spread over the others only", _b2("smoothing / classes)", "smoothing / (classes - 1))").replace("+= 1 -", "= 1 -"),
              "You spread the smoothing over the wrong classes only. As in PyTorch, all classes get the same part of it.",
              on=(SMOOTH,)),
        *_two_forms("the right class loses its part", "The targets of a row add up to less than 1: the right class gets its part of the "
                    "smoothing as well.", "+= 1 - smoothing", "= 1 - smoothing", on=(SMOOTH,)),
        *_two_forms("the right class keeps all", "The targets of a row add up to more than 1: what is spread over all classes has to be "
                    "taken from the right one.", "+= 1 - smoothing", "+= 1", on=(SMOOTH,)),
        *_two_forms("nothing is spread", "The targets of a row add up to less than 1: the right class lost ε, and no class got it.",
                    "np.full(z.shape, smoothing / classes)", "np.zeros(z.shape)", on=(SMOOTH,)),
        *_two_forms("a part too large", "Divide ε by the number of all classes, C. Then a row of targets adds up to 1.",
                    "smoothing / classes", "smoothing / (classes - 1)", on=(SMOOTH,)),
        Wrong("sign", _b2("(np.exp(log_p) - y)", "(y - np.exp(log_p))"),
              "The sign of the gradient is reversed: raising the right score must lower the loss.", on=(PLAIN,)),
        Wrong("softmax's diagonal", _b2("(np.exp(log_p) - y)", "np.exp(log_p) * (1 - np.exp(log_p))"),
              "p(1 − p) is the diagonal of softmax's Jacobian. Logarithm and target on top of it leave something simpler.", on=(PLAIN,)),
        Wrong("probabilities only", _b2("(np.exp(log_p) - y)", "np.exp(log_p)"),
              "That is the gradient of log-sum-exp alone: the targets are missing.", on=(PLAIN,)),
    ),
    hints=Hints(
        nudge="Two arrays of the shape of z are enough: the logarithms of the probabilities, and the targets y as rows that add up to 1.",
        rule="Loss: minus y times log p, added up along each row, mean over the rows. Gradient: p − y, divided by the number of rows. "
        "With smoothing ε and C classes, y is ε/C everywhere and 1 − ε more at the right class.",
        twin="Squared error of rows: error = z - y; return (error**2).sum() / n, 2 * error / n. One-hot rows: y = np.zeros(z.shape); "
        "y[np.arange(n), targets] = 1.",
    ),
    reveal="log p once, for both: the loss averages y · log p, the gradient is (p − y)/N, and p is the exponential of log p.",
    fresh=lambda r: (
        lambda n, p: Fresh(
            f"One of {n} samples in a batch gives its right class the probability {p}. What is the mean loss's gradient at that score?",
            (p - 1) / n,
            wrong=((p - 1, "The loss is a mean over the batch."), (p / n, "For the right class, y is 1.")),
        )
    )(r.choice([4, 5, 10]), r.choice([0.2, 0.4, 0.7])),
)  # fmt: skip

EX_B3 = ask(
    "14.b3",
    "A printed formula",
    Kind.PREDICT,
    points=0,
    minutes=3,
    level=3,
    text="x.grad = γ/σ · (g − mean(g) − x̂ · mean(g·x̂)). For which normalisation is it right, when the entries of γ differ?",
    comment="x.grad = gamma / sigma * (g - mean(g) - x_hat * mean(g * x_hat))\n"
    'For which is it right, when the entries of gamma differ? "layer norm", "batch norm", "both" or "neither".',
    answer="batch norm",
    wrong=(
        (
            "layer norm",
            "layer norm",
            "In layer norm the mean runs over entries that have different γ. Can γ be taken out of such a mean?",
        ),
        ("both", "both", "γ can be taken out of a mean only where it is the same for all entries that are averaged."),
        ("neither", "neither", "Ask along which axis the mean runs. Along one of the two axes, γ does not change."),
    ),
    hints=(
        "When may a factor be taken out of a mean?",
        "Layer norm takes means along a row, batch norm down a column. γ has one entry for each column.",
        "mean([2·3, 2·5]) is 2·mean([3, 5]). mean([2·3, 4·5]) cannot be computed from mean([3, 5]) and the factors 2 and 4.",
    ),
    reveal="Batch norm averages down a column, where γ is one and the same number, so it may be taken out of the means.",
    fresh=lambda r: (
        lambda a, b: Fresh(
            f"g = [1, 1], γ = [{a}, {b}]. What is the mean of γ·g?", (a + b) / 2, wrong=((1, "That is the mean of g."),)
        )
    )(r.randint(2, 5), r.randint(6, 9)),
)

# ---- 14.c: RMSNorm --------------------------------------------------------------------------------------------------------------

STUB_C = '''\
import numpy as np


def rms_norm_backward(g, x, gamma, eps=1e-5):
    """y = gamma * x / rms, where rms is the root of (the mean of x² over a row, plus eps).

    x and g, the gradient at y, are (N, d), one sample in each row. gamma is (d,).
    Return two numpy arrays: the gradient at x and the gradient at gamma.
    """
    ...
'''

SOLUTION_C = """\
import numpy as np


def rms_norm_backward(g, x, gamma, eps=1e-5):
    rms = np.sqrt((x * x).mean(axis=1, keepdims=True) + eps)
    x_hat = x / rms
    g_hat = gamma * g
    at_x = (g_hat - x_hat * (g_hat * x_hat).mean(axis=1, keepdims=True)) / rms
    return at_x, (g * x_hat).sum(axis=0)
"""


def _rms_norm(g, x, gamma, eps=1e-5):
    """Row by row with the whole Jacobian, whose entry is δ_ij / r − x_i x_j / (d r³)."""
    at_x, at_gamma = [], [0.0] * len(gamma)
    for g_row, row in zip(g, x, strict=True):
        d = len(row)
        r = math.sqrt(math.fsum(v * v for v in row) / d + eps)
        at_x.append(
            [
                math.fsum(g_row[i] * gamma[i] * ((i == j) / r - row[i] * row[j] / (d * r**3)) for i in range(d))
                for j in range(d)
            ]
        )
        at_gamma = [old + g_row[i] * row[i] / r for i, old in enumerate(at_gamma)]
    return [at_x, at_gamma]


def _norm_probe(name, n, d, weight=1.0, size=2.0, equal=False):
    def of(r):
        gamma = [1.5] * d if equal else _numbers(r, d)
        return [_numbers(r, d) for _ in range(n)], [[v * size for v in _numbers(r, d, 1.0)] for _ in range(n)], gamma

    return Probe(name, of(random.Random(name)), _rms_norm, drivers.call_arrays, weight, rtol=1e-9, atol=1e-12,
                 parts=("gradient at x", "gradient at gamma"), draw=of)  # fmt: skip


_c = partial(but, SOLUTION_C)
AT_X = "(g_hat - x_hat * (g_hat * x_hat).mean(axis=1, keepdims=True)) / rms"
ROWS, SQUARE, SMALL = "three rows of four", "four rows of four", "numbers so small that eps matters"

EX_C = Exercise(
    id="14.c",
    title="A normalisation of your own",
    kind=Kind.BUILD,
    points=3,
    minutes=12,
    difficulty=3,
    question="RMSNorm divides each row by its root mean square and subtracts no mean. Derive and write its backward pass.",
    reused=True,
    entry="rms_norm_backward",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        _norm_probe(ROWS, 3, 4, 2),
        _norm_probe(SQUARE, 4, 4),
        _norm_probe("a single row", 1, 3),
        _norm_probe("gamma the same everywhere", 5, 3, equal=True),
        _norm_probe(SMALL, 2, 3, size=0.005),
    ),
    bank=(
        Wrong("layer norm's formula", _c(AT_X, "(g_hat - g_hat.mean(axis=1, keepdims=True) - x_hat * (g_hat * x_hat).mean(axis=1, "
                                               "keepdims=True)) / rms"),
              "One term too many: in layer norm it comes from the mean that is subtracted, and here no mean is subtracted.", on=(ROWS,)),
        Wrong("the variance in place of the mean square", _c("(x * x).mean(axis=1, keepdims=True)", "x.var(axis=1, keepdims=True)"),
              "var() takes the mean away before it squares. RMSNorm takes nothing away: r is the root of the mean of the squares of x.",
              on=("three rows of four", "a single row")),
        Wrong("layer norm altogether", _c("(x * x).mean(axis=1, keepdims=True)", "x.var(axis=1, keepdims=True)").replace(
                  "x_hat = x / rms", "x_hat = (x - x.mean(axis=1, keepdims=True)) / rms").replace(
                  "(g_hat - x_hat", "(g_hat - g_hat.mean(axis=1, keepdims=True) - x_hat"),
              "That is layer norm. RMSNorm subtracts no mean, neither forward nor backward.", on=(ROWS,)),
        Wrong("gamma outside the mean", _c(AT_X, "gamma * (g - x_hat * (g * x_hat).mean(axis=1, keepdims=True)) / rms"),
              "γ differs from entry to entry, so it cannot be taken out of a mean. First multiply g by γ: the gradient at x / rms.",
              on=(ROWS,)),
        Wrong("gamma lost", _c(AT_X, "(g - x_hat * (g * x_hat).mean(axis=1, keepdims=True)) / rms"),
              "γ is missing from the gradient at x: y is γ times x̂, so the gradient at x̂ is γ times g.", on=(ROWS,)),
        Wrong("gamma's gradient not summed", _c("(g * x_hat).sum(axis=0)", "g * x_hat"),
              "Every row uses the same γ, so its gradient is added up over the rows and has γ's shape.", on=(ROWS,)),
        Wrong("gamma's gradient as mean", _c("(g * x_hat).sum(axis=0)", "(g * x_hat).mean(axis=0)"),
              "Every row uses γ in full: its contributions are added, not averaged.", on=(ROWS,)),
        Wrong("gamma's gradient along the rows", _c("(g * x_hat).sum(axis=0)", "(g * x_hat).sum(axis=1)"),
              "γ has one entry for each column: add up down the columns, over the samples.", on=(SQUARE,)),
        Wrong("x for x_hat", _c("(g * x_hat).sum(axis=0)", "(g * x).sum(axis=0)"),
              "What γ multiplies is x̂, not x: that is its local derivative.", on=(ROWS,)),
        Wrong("gamma in its own gradient", _c("(g * x_hat).sum(axis=0)", "(g_hat * x_hat).sum(axis=0)"),
              "The derivative of γ·x̂ by γ is x̂. γ itself is not in its own gradient.", on=(ROWS,)),
        Wrong("rms as a constant", _c(AT_X, "g_hat / rms"),
              "rms was treated as a constant. It contains every x of the row, so every x contributes a second term.", on=(ROWS,)),
        Wrong("sum for mean", _c("(g_hat * x_hat).mean(axis=1, keepdims=True)", "(g_hat * x_hat).sum(axis=1, keepdims=True)"),
              "The second term is too large: rms contains a mean over the row, and the factor 1/d comes from there.", on=(ROWS,)),
        Wrong("plus", _c("(g_hat - x_hat", "(g_hat + x_hat"), "The second term has the wrong sign: a larger rms makes every x̂ smaller.",
              on=(ROWS,)),
        Wrong("over the batch", _c("axis=1, keepdims=True", "axis=0, keepdims=True"),
              "Your means run down the columns. RMSNorm looks at one sample at a time: along the rows.", on=(SQUARE,)),
        Wrong("not divided by rms", _c(AT_X, AT_X.removesuffix(" / rms")), "x̂ moves 1/rms times as much as x: that factor is missing.",
              on=(ROWS,)),
        Wrong("eps forgotten", _c(" + eps", ""), "Right for ordinary numbers. For very small ones eps counts: it belongs under the root.",
              on=(SMALL,)),
        Wrong("eps outside the root", _c(".mean(axis=1, keepdims=True) + eps)", ".mean(axis=1, keepdims=True)) + eps"),
              "eps belongs under the root, beside the mean of the squares.", on=(SMALL,)),
    ),
    hints=Hints(
        nudge="In how many ways does x_j reach y_i? Layer norm has three. Which of them are left when no mean is subtracted?",
        rule="Write x̂_i = x_i / r. Its derivative by x_j has one part from the numerator, for i = j, and one from r, which contains every "
        "x_j. Multiply by the gradient at x̂ and add up over i. γ is used by every row.",
        twin="x̂ = x / s with s the plain sum of a row: the gradient at x is (ĝ − the sum of ĝ·x̂) / s. The second term is there because "
        "s contains every x; here the root and the squares change it.",
    ),
    reveal="Two terms: the direct one, and one through rms. The third of layer norm came from the mean, which is not there.",
    fresh=lambda r: (
        lambda a: Fresh(
            f"RMSNorm with γ = 1 of the single number x = {a}, eps = 0. What is dy/dx?",
            0,
            wrong=((1 / a, "rms changes with x, too."), (1, "x / |x| does not change when x grows.")),
        )
    )(r.randint(2, 7)),
)  # fmt: skip

# ---- 14.c2: two operations for the learner's tensors ---------------------------------------------------------------------------------

STUB_C2 = '''\
import numpy as np


def dense_operations(Tensor):
    """Two operations for tensors of this class, each a single node: cross_entropy and rms_norm.

    cross_entropy_rows and rms_norm_backward are your functions of 14.b2 and 14.c.
    """

    def cross_entropy(z, targets, smoothing=0.0):
        """The mean loss of a batch, a tensor that holds one number. targets: N integers."""
        ...

    def rms_norm(x, gamma, eps=1e-5):
        """gamma * x / rms, row by row."""
        ...

    return cross_entropy, rms_norm
'''

SOLUTION_C2 = '''\
import numpy as np


def dense_operations(Tensor):
    """Two operations for tensors of this class, each a single node: cross_entropy and rms_norm.

    cross_entropy_rows and rms_norm_backward are your functions of 14.b2 and 14.c.
    """

    def cross_entropy(z, targets, smoothing=0.0):
        loss, at_z = cross_entropy_rows(z.data, targets, smoothing)
        out = Tensor(loss, (z,), "cross_entropy")

        def _backward():
            z.grad += at_z * out.grad

        out._backward = _backward
        return out

    def rms_norm(x, gamma, eps=1e-5):
        rms = np.sqrt((x.data**2).mean(axis=1, keepdims=True) + eps)
        out = Tensor(gamma.data * x.data / rms, (x, gamma), "rms_norm")

        def _backward():
            at_x, at_gamma = rms_norm_backward(out.grad, x.data, gamma.data, eps)
            x.grad += at_x
            gamma.grad += at_gamma

        out._backward = _backward
        return out

    return cross_entropy, rms_norm
'''

_c2 = lambda old, new: but(SOLUTION_C2, old, new)  # noqa: E731


def _operation(idea, name, which, shapes, low=-2.0, high=2.0, uses=2, **settings):
    def of(r):
        def numbers(shape):
            return [numbers(shape[1:]) for _ in range(shape[0])] if shape else round(r.uniform(low, high), 5)

        given = dict(settings)
        if which == "cross-entropy":
            rows, classes = shapes[0]
            given["targets"] = [r.randrange(classes) for _ in range(rows)]
        inputs = {
            letter: numbers(shape)
            for letter, shape in zip(("z",) if which == "cross-entropy" else ("x", "gamma"), shapes, strict=True)
        }
        return which, inputs, given, float(r.choice([2, 3, 5])) if uses == 2 else -1.0, uses

    want = lambda *args: drivers.two_operations(drivers.library_operations, *args)  # noqa: E731
    return Probe(name, of(random.Random(name)), want, drivers.two_operations, draw=of, idea=idea, rtol=1e-6)


LOSS, FURTHER, NORM = "cross-entropy", "used further on", "norm, both gradients"
EX_C2 = Exercise(
    id="14.c2",
    title="Two operations for your tensors",
    kind=Kind.BUILD,
    points=3,
    minutes=10,
    difficulty=2,
    question="Cross-entropy and RMSNorm as single nodes of your tensor engine, made of your functions of 14.b2 and 14.c.",
    entry="dense_operations",
    stub=STUB_C2,
    solution=SOLUTION_C2,
    reused=True,
    needs=("14.b2", "14.c"),
    ideas={LOSS: 1 / 3, FURTHER: 1 / 3, NORM: 1 / 3},
    probes=(
        _operation(LOSS, "a batch", "cross-entropy", ((4, 3),), uses=1),
        _operation(LOSS, "scores of a thousand", "cross-entropy", ((2, 3),), low=900.0, high=1100.0, uses=1),
        _operation(FURTHER, "an upstream gradient", "cross-entropy", ((3, 4),)),
        _operation(FURTHER, "with smoothing", "cross-entropy", ((3, 2),), smoothing=0.2),
        _operation(NORM, "rows of four", "norm", ((2, 4), (4,))),
        _operation(NORM, "tiny numbers", "norm", ((3, 3), (3,)), low=0.001, high=0.005),
        _operation(NORM, "another eps", "norm", ((2, 3), (3,)), eps=0.5),
    ),
    bank=(
        Wrong("upstream gradient forgotten", _c2("at_z * out.grad", "at_z"),
              "(p − y)/N is the gradient for an upstream gradient of 1. The loss may be part of something larger: multiply by out.grad.",
              on=("an upstream gradient",)),
        Wrong("loss overwrites", _c2("z.grad += at_z", "z.grad = at_z"),
              "The scores may be used elsewhere, too. Add the contribution with +=.", on=("an upstream gradient",)),
        Wrong("smoothing not handed on", _c2("(z.data, targets, smoothing)", "(z.data, targets)"),
              "Hand `smoothing` on to cross_entropy_rows.", on=("with smoothing",)),
        Wrong("gamma is no parent", _c2("(x, gamma), ", "(x,), "),
              "gamma's gradient never arrives. It has to be among the parents of the result, and _backward has to add its part.",
              on=("rows of four",)),
        Wrong("normed input handed on", _c2("rms_norm_backward(out.grad, x.data,", "rms_norm_backward(out.grad, out.data,"),
              "rms_norm_backward needs the x that went in, not what came out.", on=("rows of four",)),
        Wrong("eps not handed on", _c2("gamma.data, eps)", "gamma.data)"), "Hand `eps` on to rms_norm_backward.", on=("another eps",)),
        Wrong("eps left out forward", _c2("keepdims=True) + eps)", "keepdims=True))"),
              "eps belongs under the root in the forward pass, too. It matters where the numbers of a row are small.",
              on=("tiny numbers", "another eps")),
        Wrong("without gamma", _c2("gamma.data * x.data / rms", "x.data / rms"), "The result is multiplied by gamma.",
              on=("rows of four",)),
    ),
    hints=Hints(
        "Each of them is a node like those of 09.e: compute, name the parents, attach the rule, return.",
        "cross_entropy_rows gives you the loss and (p − y)/N at once. Keep the second for _backward, and multiply it by out.grad there. "
        "rms_norm_backward wants out.grad, x and gamma.",
        "For a mean it would be `out = Tensor(x.data.mean(), (x,), \"mean\")`, and its rule `x.grad += out.grad / x.data.size`.",
    ),
    reveal="Your two functions know the mathematics. An operation adds what the engine needs: parents, out.grad, and +=.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"The loss of a batch is multiplied by {n} before backward. By what is its gradient at the scores multiplied?",
            n,
            wrong=((1, "What comes from above is a factor of every gradient."),),
        )
    )(r.randint(3, 9)),
)  # fmt: skip

# ---- 14.d: a whole network by hand ----------------------------------------------------------------------------------------------

FORWARD_D = '''\
import numpy as np


def network_gradients(chars, targets, C, W1, b1, gamma, beta, W2, b2):
    """The gradient of the mean cross-entropy at twelve arrays of a network, as a dict.

    chars: (N, 3), three letters of each sample as numbers. targets: N numbers, the letter that follows.
    """
    n = len(chars)
    emb = C[chars]                                  # (N, 3, 2): each letter is replaced by its row of C
    e = emb.reshape(n, -1)                          # (N, 6)
    h = e @ W1.T + b1                               # (N, 5)
    std = np.sqrt(h.var(axis=0) + 1e-5)             # batch norm: down the columns
    h_hat = (h - h.mean(axis=0)) / std
    y = gamma * h_hat + beta
    a = np.tanh(y)
    z = a @ W2.T + b2                               # (N, 4): a score for each letter
    grads = {}
'''

STUB_D = (
    FORWARD_D
    + """\
    # From the loss backward: grads["z"] = ..., then "W2", "b2", "a", "y", "gamma", "beta", "h",
    # "W1", "b1", "e" and "C". Run the check after each line.
    return grads
"""
)

SOLUTION_D = (
    FORWARD_D
    + """\
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(n), targets] -= 1
    grads["z"] = p / n
    grads["W2"] = grads["z"].T @ a
    grads["b2"] = grads["z"].sum(axis=0)
    grads["a"] = grads["z"] @ W2
    grads["y"] = (1 - a * a) * grads["a"]
    grads["gamma"] = (grads["y"] * h_hat).sum(axis=0)
    grads["beta"] = grads["y"].sum(axis=0)
    up = gamma * grads["y"]
    grads["h"] = (up - up.mean(axis=0) - h_hat * (up * h_hat).mean(axis=0)) / std
    grads["W1"] = grads["h"].T @ e
    grads["b1"] = grads["h"].sum(axis=0)
    grads["e"] = grads["h"] @ W1
    grads["C"] = np.zeros_like(C)
    np.add.at(grads["C"], chars, grads["e"].reshape(emb.shape))
    return grads
"""
)

TWELVE = ("z", "W2", "b2", "a", "y", "gamma", "beta", "h", "W1", "b1", "e", "C")
LARGE_Z = "z, with scores of a thousand"


def _layer_gradient(name, label=None, top=0.0, weight=1.0):
    return Probe(label or name, (name, 14, top), network_truth, drivers.network_gradient, weight, rtol=1e-9, atol=1e-12,
                 draw=lambda r: (name, r.randint(1, 9999), top))  # fmt: skip


_d = partial(but, SOLUTION_D)
BATCH_NORM = "(up - up.mean(axis=0) - h_hat * (up * h_hat).mean(axis=0)) / std"

EX_D = Exercise(
    id="14.d",
    title="A whole network by hand",
    kind=Kind.OPTIONAL,
    points=5,
    minutes=40,
    difficulty=3,
    question="Embedding, linear, batch norm, tanh, linear, cross-entropy: write the twelve gradients of this network by hand.",
    entry="network_gradients",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(*(_layer_gradient(name) for name in TWELVE), _layer_gradient("z", LARGE_Z, 1000.0, 0.5)),
    bank=(
        Wrong("z not divided by N", _d("p / n", "p"), "z: the loss is a mean over the samples, so 1/N is missing.", on=("z",)),
        Wrong("the right letters not treated", _d("    p[np.arange(n), targets] -= 1\n", ""),
              "z: those are the probabilities alone. At the right letter, 1 is subtracted.", on=("z",)),
        Wrong("overflow", _d("z - z.max(axis=1, keepdims=True)", "z"),
              "Scores of a thousand overflow in exp: take the largest of each row off first.", on=("z", LARGE_Z)),
        Wrong("W2 transposed", _d('grads["z"].T @ a', 'a.T @ grads["z"]'),
              "W2: the gradient is transposed. It has W2's shape, one row for each letter.", on=("W2",)),
        Wrong("b2 as mean", _d('grads["z"].sum(axis=0)', 'grads["z"].mean(axis=0)'),
              "b2: each sample uses it in full. Add up; the 1/N of the loss is in the gradient at z already.", on=("b2",)),
        Wrong("tanh at the wrong place", _d("(1 - a * a)", "(1 - y * y)"),
              "y: the derivative of tanh is 1 minus the square of its output, not of its input.", on=("y",)),
        Wrong("tanh's upstream gradient forgotten", _d('(1 - a * a) * grads["a"]', "1 - a * a"),
              "y: that is the local derivative of tanh alone. The upstream gradient is missing.", on=("y",)),
        Wrong("gamma not summed", _d('(grads["y"] * h_hat).sum(axis=0)', 'grads["y"] * h_hat'),
              "gamma: every sample uses it, so its gradient is added up over the samples.", on=("gamma",)),
        Wrong("gamma meets h", _d('(grads["y"] * h_hat).sum', '(grads["y"] * h).sum'),
              "gamma: it is multiplied by the normalised h, not by h.", on=("gamma",)),
        Wrong("mean and std are constants", _d(BATCH_NORM, "up / std"),
              "h: mean and standard deviation were treated as constants. Both contain every h of the column.", on=("h",)),
        Wrong("the mean is a constant", _d("up - up.mean(axis=0) - h_hat", "up - h_hat"),
              "h: the mean contains every h of the column, so it contributes a term.", on=("h",)),
        Wrong("the std is a constant", _d(BATCH_NORM, "(up - up.mean(axis=0)) / std"),
              "h: the standard deviation contains every h of the column, so it contributes a term.", on=("h",)),
        Wrong("layer norm's direction", _d(BATCH_NORM, BATCH_NORM.replace("axis=0", "axis=1, keepdims=True")),
              "h: those means run along the rows. Batch norm takes them down the columns, over the samples.", on=("h",)),
        Wrong("gamma left out", _d('gamma * grads["y"]', 'grads["y"]'),
              "h: γ is missing. The gradient at the normalised h is γ times the gradient at y.", on=("h",)),
        Wrong("e transposed", _d('grads["h"] @ W1', '(W1.T @ grads["h"].T)'), "e: the gradient is transposed.", on=("e",)),
        Wrong("repeated letters overwrite", _d('np.add.at(grads["C"], chars, ', 'grads["C"][chars] += ('),
              "C: where a letter occurs several times, only one of its contributions was kept. numpy's [chars] += counts each row once; "
              "np.add.at adds all of them.", on=("C",)),
    ),
    hints=Hints(
        nudge="One line of the forward pass at a time, from the last to the first. Which inputs does the line have, and how is each used?",
        rule="z: (p − y)/N. Linear layers: exercise 09.b. tanh: 1 minus its output squared. Batch norm: the rule of section 5 with means "
        "down the columns. C: every use of a row of C adds to it.",
        twin="Two rows of a table T picked by [1, 1]: both contributions belong to row 1. grad = np.zeros_like(T); "
        "np.add.at(grad, [1, 1], g) adds both, grad[[1, 1]] += g only the second.",
    ),
    reveal="Every line is a rule of chapters 6, 9 or 14, applied from the last line to the first. b1's gradient is 0: batch norm "
    "subtracts the mean, and the bias with it.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"A letter occurs {k} times in a batch, and every occurrence gets the gradient 0.5. What does its row of C get?",
            k / 2,
            wrong=((0.5, "Every occurrence contributes."),),
        )
    )(r.randint(3, 9)),
    limits=Limits(seconds=5.0),
)  # fmt: skip

EXERCISES = (EX_A, EX_A2, EX_B, EX_B2, EX_B3, EX_C, EX_C2, EX_D)
