"""Chapter 17, the training loop: its exercises."""

from __future__ import annotations

import math
import random

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Limits, Probe, Wrong, ask, but
from .ch10 import HIDDEN

# ---- 17.a: six lines ----------------------------------------------------------------------------------------------------------------

EX_A = ask(
    "17.a",
    "After which line?",
    Kind.PREDICT,
    points=0,
    minutes=3,
    level=1,
    text="The six lines above are run once, from the start. After which line is each of these true for the first time?",
    comment="The six lines above are run once, and nothing was run before. After which of them is each sentence true\n"
    "for the first time? Replace each None by the number of the line.",
    answer={"a graph exists": 2, ".grad is filled": 4, "the weight has changed": 5},
    wrong=(
        ("backward moves the weight", {"the weight has changed": 4}, "The weight: backward() fills .grad. Which line reads it?"),
        ("the weight only changes in the next round", {"the weight has changed": 1},
         "The weight: by the time the next round begins, it has already moved."),
        ("step computes the gradient", {".grad is filled": 5}, ".grad: an optimizer only reads it. Who computed it?"),
        ("zero_grad fills with zeros", {".grad is filled": 1}, ".grad: zero_grad() leaves None behind, not zeros (chapter 7)."),
        ("gradients appear with the loss", {".grad is filled": 3}, ".grad: the loss is a number with a graph. No backward pass "
         "has run yet."),
        ("the graph begins at the loss", {"a graph exists": 3}, "The graph: it is recorded while the model computes."),
        ("backward builds the graph", {"a graph exists": 4}, "The graph: backward() uses it. It is recorded while the model computes."),
    ),
    hints=(
        "Which line reads .grad, and which line writes it?",
        "Recording happens while the model runs; backward() writes .grad; only the optimizer writes to a parameter.",
        "In chapter 1 you moved the weight yourself: first the slope, then `w -= lr * slope`. The second of the two is step().",
    ),
    reveal="The graph grows from line 2 on, line 4 fills .grad, and only line 5 moves the weight.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"backward() is called {n} times on fresh graphs, and step() never. How many times has the weight moved?",
            0,
            wrong=((n, "backward() writes .grad, and no parameter."), (1, "Only step() moves a parameter.")),
        )
    )(r.randint(2, 9)),
)  # fmt: skip

# ---- 17.b: AdamW after clipping -----------------------------------------------------------------------------------------------------

STUB_B = '''\
import minigrad as torch


def step(params, state, lr=0.01, max_norm=1.0, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
    """One step of AdamW for a list of tensors that require gradients and have them in .grad.

    First all gradients are scaled by one factor, so that the norm of all of them together is at most max_norm.
    Then each tensor shrinks by the factor 1 - lr * decay. Then comes Adam's step, with the scaled gradients.
    `state` is an empty dict before the first step. Keep in it whatever the next step needs.
    """
    ...
'''

SOLUTION_B = """\
import minigrad as torch


@torch.no_grad()
def step(params, state, lr=0.01, max_norm=1.0, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
    t = state["t"] = state.get("t", 0) + 1
    norm = sum((p.grad**2).sum() for p in params) ** 0.5
    for i, p in enumerate(params):
        g = p.grad * (max_norm / max(norm, max_norm))
        m, v = state.get(i, (0.0, 0.0))
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        state[i] = m, v
        p *= 1 - lr * decay
        p -= lr * (m / (1 - b1**t)) / ((v / (1 - b2**t)) ** 0.5 + eps)
"""


def _b(*changes: tuple[str, str]) -> str:
    out = SOLUTION_B
    for old, new in changes:
        out = but(out, old, new)
    return out


ADAM = "lr * (m / (1 - b1**t)) / ((v / (1 - b2**t)) ** 0.5 + eps)"
FACTOR = "p.grad * (max_norm / max(norm, max_norm))"
PLAIN_ADAM = {"max_norm": 1e9, "decay": 0.0}


def _flat(x):
    return [n for item in x for n in _flat(item)] if isinstance(x, list) else [x]


def _adamw(params, grads, settings):
    """The same number by number: what each parameter is after each step."""
    s = {"lr": 0.01, "max_norm": 1.0, "b1": 0.9, "b2": 0.999, "eps": 1e-8, "decay": 0.01} | settings
    w = [n for p in params for n in _flat(p)]
    m, v, path = [0.0] * len(w), [0.0] * len(w), []
    for t, at_step in enumerate(grads, start=1):
        g = [n for p in at_step for n in _flat(p)]
        norm = math.hypot(*g)
        for i in range(len(w)):
            slope = g[i] * s["max_norm"] / norm if norm > s["max_norm"] else g[i]
            m[i] += (1 - s["b1"]) * (slope - m[i])
            v[i] += (1 - s["b2"]) * (slope * slope - v[i])
            w[i] -= s["lr"] * s["decay"] * w[i]
            w[i] -= s["lr"] * m[i] / (1 - s["b1"] ** t) / (math.sqrt(v[i] / (1 - s["b2"] ** t)) + s["eps"])
        path.append(list(w))
    return path


def _steps(name, sizes, weight=1.0, same=False, **settings):
    """A matrix and a vector, and a gradient of about each of these sizes; with `same`, one gradient again and again."""

    def of(r):
        def numbers(size):
            return [[[round(r.choice([-1, 1]) * r.uniform(0.4, 1.6) * size, 4) for _ in range(3)] for _ in range(2)],
                    [round(r.choice([-1, 1]) * r.uniform(0.4, 1.6) * size * 3, 4) for _ in range(2)]]  # fmt: skip

        start = numbers(1.0)
        grads = [numbers(size) for size in sizes[:1]] * len(sizes) if same else [numbers(size) for size in sizes]
        return start, grads, settings

    return Probe(name, of(random.Random(name)), _adamw, drivers.adamw_steps, weight, rtol=2e-6, draw=of)


EX_B = Exercise(
    id="17.b",
    title="AdamW, after clipping",
    kind=Kind.BUILD,
    points=4,
    minutes=14,
    difficulty=3,
    reused=True,
    question="One step of AdamW on a list of tensors, after clipping all gradients by their common norm.",
    entry="step",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        _steps("the first step", (1.0,), **PLAIN_ADAM),
        _steps("five steps of plain Adam", (1.0, 0.3, 2.0, 1.0, 0.1), **PLAIN_ADAM),
        _steps("the same gradient four times", (0.2,) * 4, same=True, **PLAIN_ADAM),
        _steps("with a large eps and other betas", (1.0, 0.5, 2.0), b1=0.8, b2=0.9, eps=0.5, lr=0.1, **PLAIN_ADAM),
        _steps("clipped after a quiet start", (0.1, 0.2, 30.0, 0.1), 2.0, decay=0.0, lr=0.1),
        _steps("nothing to clip", (0.05, 0.1, 0.02), decay=0.0),
        _steps("with weight decay", (1.0, 0.3, 2.0), 2.0, max_norm=1e9, decay=0.5, lr=0.1),
        _steps("all of it", (0.1, 5.0, 0.2, 50.0, 0.1), 2.0, max_norm=0.8, decay=0.3, lr=0.05),
        Probe(
            "the tensors stay what they are",
            ([[0.5, -1.0], [2.0, 3.0]], [[[1.0, 2.0], [-1.0, 0.5]]] * 2),
            {"changed in place": True, "still leaves": True, "still require gradients": True, "nothing recorded": True},
            drivers.adamw_leaves,
            reads_as=lambda got: got | {"nothing recorded": bool(got["nothing recorded"])},
            note=lambda got, *_: HIDDEN if got["nothing recorded"] is not True else "",
        ),
        Probe("gradients of zero", ([[0.5, -1.0], [2.0]], [[[0.0, 0.0], [0.0]]] * 2, {"decay": 0.0}), _adamw, drivers.adamw_steps, 0.5),
    ),
    bank=(
        Wrong("a norm for each tensor", _b((FACTOR, "p.grad * (max_norm / max((p.grad**2).sum() ** 0.5, max_norm))")),
              "Each tensor was clipped by its own norm, which turns the direction. There is one norm: of all gradients together.",
              on=("clipped after a quiet start",)),
        Wrong("sum of the norms", _b(("sum((p.grad**2).sum() for p in params) ** 0.5", "sum((p.grad**2).sum() ** 0.5 for p in params)")),
              "The norms of the tensors were added. The norm of all gradients together is the root of the sum of all their squares.",
              on=("clipped after a quiet start",)),
        Wrong("not clipped", _b((FACTOR, "p.grad")),
              "Nothing is clipped: the one large gradient dominates both averages for many steps.",
              on=("clipped after a quiet start",)),
        Wrong("scaled up as well", _b((FACTOR, "p.grad * (max_norm / norm)")),
              "Gradients whose norm is below max_norm must stay as they are. Here they are stretched to max_norm.",
              on=("nothing to clip",)),
        Wrong("clipped by value", _b((FACTOR, "p.grad.clamp(-max_norm, max_norm)")),
              "Each number was cut off by itself, which turns the direction. Scale all of them by one factor.",
              on=("clipped after a quiet start",)),
        Wrong("norm squared", _b((" for p in params) ** 0.5", " for p in params)")),
              "That is the square of the norm: the root is missing.", on=("clipped after a quiet start",)),
        Wrong("decay inside the averages", _b(("p.grad * (max_norm / max(norm, max_norm))",
              "p.grad * (max_norm / max(norm, max_norm)) + decay * p"), ("        p *= 1 - lr * decay\n", "")),
              "The decay went into the gradient, and so into both averages: Adam then divides it away again. In AdamW the decay "
              "never enters the averages.", on=("with weight decay",)),
        Wrong("no decay", _b(("        p *= 1 - lr * decay\n", "")), "The weights never shrink: the factor 1 − lr · decay is missing.",
              on=("with weight decay",)),
        Wrong("decay without lr", _b(("1 - lr * decay", "1 - decay")), "The factor is 1 − lr · decay. Without lr it is far too strong.",
              on=("with weight decay",)),
        Wrong("decay after the step", _b(("        p *= 1 - lr * decay\n", ""), (ADAM, ADAM + "\n        p *= 1 - lr * decay")),
              "The order counts: the tensor shrinks first, and Adam's step follows.", on=("with weight decay",)),
        Wrong("no correction", _b((ADAM, "lr * m / (v**0.5 + eps)")),
              "Both averages start at 0, so both are too small at first, but not equally: your first step is 3.16 times too long "
              "(0.1/√0.001). Divide each by its own 1 − βᵗ.", on=("the first step",)),
        Wrong("only m corrected", _b(("(v / (1 - b2**t))", "v")), "v starts at 0 as well: correct it by its own 1 − βᵗ.",
              on=("the first step",)),
        Wrong("only v corrected", _b(("(m / (1 - b1**t))", "m")), "m starts at 0 as well: correct it by its own 1 − βᵗ.",
              on=("the first step",)),
        Wrong("t is not counted", _b(("t = state[\"t\"] = state.get(\"t\", 0) + 1", "t = 1")),
              "The corrections are those of the first step, in every step. Count the steps in `state`.",
              on=("the same gradient four times",)),
        Wrong("t counted for each tensor", _b(("    t = state[\"t\"] = state.get(\"t\", 0) + 1\n", ""),
              ("        g = ", "        t = state[\"t\"] = state.get(\"t\", 0) + 1\n        g = ")),
              "t goes up with every tensor. It counts the steps: once for each call.", on=("the first step",)),
        Wrong("corrections kept", _b(("        state[i] = m, v\n", "        m, v = m / (1 - b1**t), v / (1 - b2**t)\n"
              "        state[i] = m, v\n"), (ADAM, "lr * m / (v**0.5 + eps)")),
              "The corrected averages were written back into the state, so that the next step corrects them again.",
              on=("the same gradient four times",)),
        Wrong("one state for all tensors", _b(("state.get(i, (0.0, 0.0))", "state.get(0, (0.0, 0.0))"),
              ("state[i] = m, v", "state[0] = m, v")),
              "All tensors share one pair of averages. Each needs its own.",
              when=lambda seen: seen.error("the first step") == "RuntimeError" and not seen.error("the tensors stay what they are")),
        Wrong("forgets", _b(("        state[i] = m, v\n", "")), "The averages start at 0 in every step. Keep them in `state`.",
              on=("the same gradient four times",)),
        Wrong("no square root", _b(("(v / (1 - b2**t)) ** 0.5", "(v / (1 - b2**t))")),
              "Divide by the root of the mean square, so that the units cancel.", on=("the first step",)),
        Wrong("eps inside the root", _b(("((v / (1 - b2**t)) ** 0.5 + eps)", "(v / (1 - b2**t) + eps) ** 0.5")),
              "eps is added after the root, outside it.", on=("with a large eps and other betas",)),
        Wrong("recorded", _b(("@torch.no_grad()\n", "")),
              "The update is recorded as a part of the computation. An update is not part of the model: use torch.no_grad().",
              when=lambda seen: seen.error("the tensors stay what they are") == "RuntimeError"),
        Wrong("new tensors", _b(("p *= 1 - lr * decay", "p = p * (1 - lr * decay)"), ("p -= lr", "p = p - lr")),
              "A new tensor was made, and the model still has the old one. Change p in place.",
              when=lambda seen: (seen.value("the tensors stay what they are") or {}).get("changed in place") is False),
        Wrong("uphill", _b(("p -= lr", "p += lr")), "The gradient points uphill: go the other way.", on=("the first step",)),
        Wrong("plain descent", _b((ADAM, "lr * g")), "That is SGD: m and v are computed and not used.", on=("the first step",)),
        Wrong("betas exchanged", _b(("b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2", "b2 * m + (1 - b2) * g, b1 * v + (1 - b1) * g**2")),
              "The betas are exchanged: b1 belongs to m, b2 to v.", on=("the first step",)),
    ),
    hints=Hints(
        "Do it in the order of the docstring: one number for all tensors first (the factor), and only then a loop over the tensors.",
        "norm² is the sum of the squares of all gradients. t, and m and v for each tensor, live in state. The update is in place, under "
        "no_grad.",
        "Two tensors with gradients [3] and [4], max_norm 1: the norm is 5, and the scaled gradients are [0.6] and [0.8]. With "
        "two norms they "
        "would both be [1].",
    ),
    reveal="One norm, one factor; averages and step count in state; shrink, then step, all of it in place and unrecorded.",
    fresh=lambda r: (
        lambda lr: Fresh(
            f"AdamW with lr = {lr}, decay 0, no clipping, first gradient 1000. By about how much does w move?",
            lr,
            rtol=1e-3,
            wrong=((1000 * lr, "m̂/√v̂ is 1 in the first step."), (3.16 * lr, "That is the step without the corrections.")),
        )
    )(r.choice([0.01, 0.02, 0.05])),
)  # fmt: skip


# ---- 17.c: attention ----------------------------------------------------------------------------------------------------------------

STUB_C = '''\
import minigrad as torch


def attention(q, k, v, causal):
    """Attention for tensors of shape (samples, heads, positions, features).

    Each position of q is compared with every position of k; the result mixes the rows of v accordingly.
    With causal=True a position mixes only what is at its own place and before it.
    """
    ...
'''

SOLUTION_C = """\
import minigrad as torch


def attention(q, k, v, causal):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        later = torch.ones(q.shape[-2], k.shape[-2]).triu(1) > 0
        scores = scores.masked_fill(later, -torch.inf)
    return torch.softmax(scores, dim=-1) @ v
"""


def _c(*changes: tuple[str, str]) -> str:
    out = SOLUTION_C
    for old, new in changes:
        out = but(out, old, new)
    return out


def _one_head(q, k, v, causal):
    """Row by row in plain Python."""
    out = []
    for i, asks in enumerate(q):
        seen = range(i + 1 if causal else len(k))
        e = [math.exp(sum(a * b for a, b in zip(asks, k[j], strict=True)) / math.sqrt(len(asks))) for j in seen]
        out.append([sum(e[j] * v[j][n] for j in seen) / sum(e) for n in range(len(v[0]))])
    return out


def _attention(q, k, v, causal, g):
    """The output, and the gradients of its product with g by central differences."""

    def heads(x):
        return [head for sample in x for head in sample]

    def out():
        return [_one_head(*one, causal) for one in zip(heads(q), heads(k), heads(v), strict=True)]

    def loss():
        return math.fsum(a * b for a, b in zip(_flat(out()), _flat(g), strict=True))

    def slope(row, n, h=1e-4):
        x = row[n]
        ends = []
        for x_h in (x + h, x - h, x + 2 * h, x - 2 * h):
            row[n] = x_h
            ends.append(loss())
        row[n] = x
        return (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * h)

    def slopes(x):
        return [slopes(item) for item in x] if isinstance(x[0], list) else [slope(x, n) for n in range(len(x))]

    per_sample, found = len(q[0]), out()
    return [[found[s * per_sample : (s + 1) * per_sample] for s in range(len(q))], slopes(q), slopes(k), slopes(v)]


def _heads(name, samples, heads, rows, keys, d, width, causal, weight=1.0):
    def of(r):
        def numbers(*shape):
            return [numbers(*shape[1:]) for _ in range(shape[0])] if shape else round(r.uniform(-2, 2), 2)

        return (numbers(samples, heads, rows, d), numbers(samples, heads, keys, d), numbers(samples, heads, keys, width), causal,
                numbers(samples, heads, rows, width))  # fmt: skip

    return Probe(name, of(random.Random(name)), _attention, drivers.attention_of, weight, rtol=1e-6, atol=1e-8, draw=of,
                 parts=("output", "gradient at q", "gradient at k", "gradient at v"))  # fmt: skip


EX_C = Exercise(
    id="17.c",
    title="Attention",
    kind=Kind.BUILD,
    points=3,
    minutes=12,
    difficulty=3,
    question="Scores, mask, softmax, mixture: attention from its four parts, for any number of samples and heads.",
    entry="attention",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        _heads("one head, nothing hidden", 1, 1, 3, 3, 2, 2, False),
        _heads("one head, causal", 1, 1, 4, 4, 2, 2, True),
        _heads("three heads of two samples", 2, 3, 3, 3, 2, 4, True),
        _heads("as many positions as features", 1, 2, 3, 3, 3, 3, True),
        _heads("more keys than questions", 2, 1, 2, 5, 4, 3, False),
        _heads("a single position", 1, 2, 1, 1, 3, 2, True, 0.5),
    ),
    bank=(
        Wrong("not divided", _c((" / q.shape[-1] ** 0.5", "")),
              "The scores are not divided by √d, where d is the number of features of a head.", on=("one head, nothing hidden",)),
        Wrong("divided by d", _c(("q.shape[-1] ** 0.5", "q.shape[-1]")), "The scores are divided by d. The root is missing.",
              on=("one head, nothing hidden",)),
        Wrong("divided by the root of the positions", _c(("q.shape[-1] ** 0.5", "q.shape[-2] ** 0.5")),
              "The scores are divided by the root of the number of positions. It is the number of features of a head that counts.",
              on=("one head, nothing hidden",)),
        Wrong("mask after softmax", "import minigrad as torch\n\n\ndef attention(q, k, v, causal):\n"
              "    weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)\n    if causal:\n"
              "        weights = weights.tril()\n    return weights @ v\n",
              "The mask comes after the softmax, so the weights of a row no longer add up to 1. Hide the later positions before it.",
              on=("one head, causal",)),
        Wrong("softmax over the questions", _c(("dim=-1", "dim=-2")),
              "The softmax runs along the wrong axis. For each question, the weights of all keys add up to 1.",
              on=("one head, nothing hidden",)),
        Wrong("looks one ahead", _c(("triu(1)", "triu(2)")), "Each position also sees the one after it, which is the character "
         "it has to predict.",
              on=("one head, causal",)),
        Wrong("sees neither itself nor what came before", _c(("triu(1) > 0", "tril() > 0")),
              "The mask is the wrong way round: it hides what came before, and its own place as well.",
              when=lambda seen: _is_nan(_causal_row(seen, -1)) and not _is_nan(_causal_row(seen, 0))),
        Wrong("does not see itself", _c(("triu(1)", "triu(0)")), "A position may see its own place. The first one sees nothing else.",
              when=lambda seen: _is_nan(seen.value("a single position"))),
        Wrong("sees only what comes later", _c(("triu(1) > 0", "tril(-1) > 0")), "The mask is the wrong way round: it hides "
         "what came before.",
              on=("one head, causal",)),
        Wrong("always causal", _c(("    if causal:\n        later", "    if True:\n        later")),
              "Without causal, every position sees all the others.", on=("one head, nothing hidden",)),
        Wrong("never causal", _c(("if causal", "if False")), "With causal=True nothing is hidden yet.", on=("one head, causal",)),
        Wrong("q and k exchanged", _c(("q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)")),
              "The rows of the scores belong to the keys here. Each row belongs to a question: q comes first.",
              on=("one head, nothing hidden",)),
        Wrong("keys mixed instead of values", _c(("dim=-1) @ v", "dim=-1) @ k")), "The keys are mixed. k is only compared with; "
         "v is what gets mixed.",
              on=("one head, nothing hidden",)),
        Wrong("no softmax", _c(("torch.softmax(scores, dim=-1)", "scores")), "The scores are no weights yet: the softmax is missing.",
              on=("one head, nothing hidden",)),
        Wrong("masked with 0", _c(("-torch.inf", "0.0")), "A score of 0 still gets a weight, because exp(0) is 1. Which score gets none?",
              on=("one head, causal",)),
        Wrong("from the library", "import minigrad as torch\n\n\ndef attention(q, k, v, causal):\n"
              "    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)\n",
              "The library's function is switched off while this is judged. Write the four parts yourself.",
              when=lambda seen: seen.error("one head, nothing hidden") == "Borrowed"),
        Wrong("without a graph", _c(("    return torch.softmax(scores, dim=-1) @ v", "    return (torch.softmax(scores, dim=-1) "
         "@ v).detach()")),
              "The output has no graph, so nothing can be trained through it: use tensor operations all the way, and no detach.",
              when=lambda seen: seen.value("one head, nothing hidden") == {"!": "an output without a graph"}),
    ),
    hints=Hints(
        "Which shape do the scores have? One number for every pair of a question and a key, so (samples, heads, questions, keys).",
        "scores = q kᵀ / √d; later positions get −inf; softmax along the keys; then a matrix product with v. @ and transpose(-2, -1) leave "
        "samples and heads alone.",
        "One question [1, 0], keys [1, 0] and [0, 1], values [10] and [20], d = 2: scores 0.707 and 0, weights 0.67 and 0.33, output 13.3.",
    ),
    reveal="Four lines, and the first two axes take care of themselves, because every operation works on the last two.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"All scores of a causal attention are equal. Which weight does the first position have for position number {n}?",
            1 / n,
            wrong=((1.0, "Position number n sees n positions."), (1 / (n + 1), "Position number n sees itself and the n − 1 before it.")),
        )
    )(r.randint(3, 9)),
)  # fmt: skip


def _causal_row(seen, k):
    """Row k of the output of a single head."""
    got = seen.value("one head, causal")
    return got[0][0][0][k] if isinstance(got, list) else None


def _is_nan(got):
    return got is not None and any(isinstance(n, float) and n != n for n in _flat(got) if not isinstance(n, dict))


# ---- 17.c2: what a head looks at -----------------------------------------------------------------------------------------------------

STUB_C2 = '''\
def looks_back(weights):
    """For each head, how many characters back it looks: the distance that gets the most attention on average.

    weights: a tensor of shape (heads, n, n). Row i of a head holds what position i gives to each position, and
    what comes after i gets 0. For d = 0, 1, 2, ... up to n // 2, only the positions that have a character d back count.
    """
    ...
'''

SOLUTION_C2 = """\
def looks_back(weights):
    found = []
    for w in weights:
        n = len(w)
        means = [sum(w[i, i - d].item() for i in range(d, n)) / (n - d) for d in range(n // 2 + 1)]
        found.append(means.index(max(means)))
    return found
"""


def _c2(*changes: tuple[str, str]) -> str:
    out = SOLUTION_C2
    for old, new in changes:
        out = but(out, old, new)
    return out


MEANS = "means = [sum(w[i, i - d].item() for i in range(d, n)) / (n - d) for d in range(n // 2 + 1)]"
DISTANCE, MEAN, FIRST = "the distance", "a mean for each distance", "not fooled by the first character"


def _looks_back(maps):
    """The same from the entries: each belongs to one distance."""
    found = []
    for w in maps:
        entries: dict[int, list[float]] = {}
        for i, row in enumerate(w):
            for j, weight in enumerate(row[: i + 1]):
                entries.setdefault(i - j, []).append(weight)
        mean = {d: math.fsum(each) / len(each) for d, each in entries.items() if d <= len(w) // 2}
        found.append(max(mean, key=lambda d: mean[d]))
    return found


def _maps(r, heads, first=0.0, astray=False):
    """Heads that look a fixed number of characters back, each with some noise. first: what every position gives to the first character.
    astray: the last position looks somewhere else."""
    n, maps = r.randint(11, 14), []
    for d in r.sample(range(5), heads):
        w = [[r.uniform(0, 0.1) for _ in range(i + 1)] + [0.0] * (n - i - 1) for i in range(n)]
        for i, row in enumerate(w):
            row[max(i - d, 0)] += 1.0
            row[0] += first
        w[-1][0] += 20 * first  # one entry at the largest distance
        if astray:
            w[-1] = [0.0] * n
            w[-1][4] = 1.0
        maps.append([[round(x / sum(row), 4) for x in row] for row in w])
    return maps


def _far(r):
    """A head that looks five back, and nearly as much at the position itself, which every row has."""
    n = r.randint(12, 14)
    w = [[0.0] * n for _ in range(n)]
    for i, row in enumerate(w):
        row[max(i - 5, 0)] += 0.57
        row[i] += 0.43
    return ([w],)


def _lookers(name, heads, idea, **how):
    def of(r):
        return (_maps(r, heads, **how),)

    return Probe(name, of(random.Random(name)), _looks_back, drivers.on_a_tensor, draw=of, idea=idea)


EX_C2 = Exercise(
    id="17.c2",
    title="Which head looks where?",
    kind=Kind.BUILD,
    points=2,
    minutes=8,
    difficulty=2,
    question="For each head, the distance back that gets the most attention on average.",
    entry="looks_back",
    stub=STUB_C2,
    solution=SOLUTION_C2,
    ideas={DISTANCE: 0.5, MEAN: 0.25, FIRST: 0.25},
    probes=(
        _lookers("three heads", 3, DISTANCE),
        _lookers("two heads, of which the last row looks elsewhere", 2, DISTANCE, astray=True),
        Probe("a head that looks far back", _far(random.Random(3)), _looks_back, drivers.on_a_tensor, draw=_far, idea=MEAN),
        _lookers("every position also looks at the first character", 3, FIRST, first=0.8),
    ),
    bank=(
        Wrong("zero for each head", _c2((MEANS, "means = [sum(w[i, j].item() for i in range(n)) for j in range(n)]")),
              "Zero for each head. The fullest column is the first one, because early positions have nowhere else to look; and "
              "w[i - d, i], what an earlier position gives to a later one, is always 0. Row i looks back at column i - d.",
              on=("three heads",)),
        Wrong("the mean distance",
              _c2((f"        {MEANS}\n        found.append(means.index(max(means)))",
                   "        found.append(round(sum(w[i, j].item() * (i - j) for i in range(n) for j in range(i + 1)) / n))")),
              "The mean of the distances is none of them, if a head looks one back from most positions and far back from a few. Average "
              "the weights of each distance instead.", on=("every position also looks at the first character",)),
        Wrong("the last row only", _c2((MEANS, "means = [w[n - 1, n - 1 - d].item() for d in range(n // 2 + 1)]")),
              "You look at the last position alone, and it may look somewhere else than the others. Average over all positions.",
              on=("two heads, of which the last row looks elsewhere",)),
        Wrong("a sum in place of the mean", _c2((" / (n - d) for", " for")),
              "A longer distance has fewer positions, so its sum is smaller, whatever the head does. Divide by how many there are, n - d.",
              on=("a head that looks far back", "three heads")),
        Wrong("every distance", _c2(("range(n // 2 + 1)", "range(n)")),
              "At the largest distances hardly any position counts, and one entry decides. Try d up to n // 2.",
              on=("every position also looks at the first character",)),
        Wrong("the mean, not the distance", _c2(("found.append(means.index(max(means)))", "found.append(max(means))")),
              "That is how much attention the distance gets. The distance itself is asked for.", on=("three heads",)),
    ),
    hints=Hints(
        "If a head always looks two characters back, where in its square of weights are the large numbers?",
        "The entries w[i, i - d] with the same d lie on a diagonal. Average each diagonal, and take the d with the largest average.",
        "How far back in time a shop sells most of what it buys: for each number of days, average over all days that have a day so long "
        "before.",
    ),
    reveal="One average for each diagonal. The first column is full because early positions have nowhere else to look.",
    fresh=lambda r: (
        lambda n, d: Fresh(
            f"A head's square of weights has {n} rows. How many entries are there at the distance {d}?",
            n - d,
            wrong=((n, f"The first {d} positions have no character so far back."), (n - d - 1, "Position d itself has one, too.")),
        )
    )(r.randint(20, 40), r.randint(2, 6)),
)  # fmt: skip

# ---- 17.d: read the curves ----------------------------------------------------------------------------------------------------------

CAUSES = ("overfits", "learning rate too high", "not shuffled", "leak")
EX_D = ask(
    "17.d",
    "Four runs, four faults",
    Kind.PUZZLE,
    points=2,
    minutes=6,
    level=2,
    text="Which fault does each of the four runs have, and what would you change?",
    comment="Which fault does each run have, and what would you change? One letter for each.\n"
    "faults:   a  it overfits                     b  the learning rate is too high\n"
    "          c  the data are not shuffled       d  validation images are also among the training images\n"
    "changes:  p  a smaller lr                    q  draw each batch at random\n"
    "          r  stop at the lowest point, and get more data     s  train longer\n"
    "          t  separate the two sets again, before any copies are made",
    answer={"A": "c", "A: change": "q", "B": "d", "B: change": "t", "C": "a", "C: change": "r", "D": "b", "D: change": "p"},
    wrong=(
        ("A by its jumps", {"A": "b"}, "A: it does jump, but look at when: again and again at the same distance. A learning "
         "rate that is too "
         "high has no such rhythm."),
        ("A by its gap", {"A": "a"}, "A: a run that overfits has a smooth training curve. What could repeat every five steps?"),
        ("B is perfect", {"B: change": "s"}, "B: both curves are already near zero. Compare with the number above the picture."),
        ("B overfits", {"B": "a"}, "B: when a run overfits, the two curves part. These lie on each other. What does the number above the "
         "picture say?"),
        ("B shuffled", {"B": "c"}, "B: there is no pattern in time. Why can validation be so much better than new digits?"),
        ("C trains on", {"C: change": "s"}, "C: which of the two curves do you care about, and where is it lowest?"),
        ("C by the train curve alone", {"C": "d"}, "C: with a leak, the validation curve would fall as well. Look at both curves."),
        ("C slower", {"C: change": "p"}, "C: a smaller lr only arrives there later. Look at where the validation curve is lowest."),
        ("D trains on", {"D: change": "s"}, "D: neither curve goes anywhere, however long you wait."),
        ("D unshuffled", {"D": "c"}, "D: is there a rhythm in it? And how far down does the training curve ever come?"),
        ("D overfits", {"D": "a"}, "D: to overfit, a run must at least learn its training data. This one does not."),
        ("A slower", {"A: change": "p"}, "A: the step size is fine. What is in a batch, and what was in the one before it?"),
        ("A longer", {"A: change": "s"}, "A: it would go on like this. What repeats?"),
        ("B stops", {"B: change": "r"}, "B: the validation curve cannot tell you where to stop, because it measures the wrong thing. Why?"),
        ("D stops", {"D: change": "r"}, "D: the lowest point of a run that does not learn is an accident."),
    ),
    hints=(
        "Look at the validation curve first, then at the training curve, then at the time axis: does anything repeat?",
        "Overfitting: the curves part. Too high a learning rate: neither falls. Sorted data: a rhythm as long as a pass through the data. "
        "A leak: validation looks far better than new data.",
        "A run whose two curves lie on each other at 1.2, and still fall, has none of these faults: it has not been trained long enough.",
    ),
    reveal="A repeats itself with every pass through sorted data. B's validation set has been seen in training, as the new "
     "digits show. C learns "
    "its few images by heart. D jumps over every valley.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"Training loss 0.01, validation loss 2.1, lowest at step {n} with 0.9. At which step would you have stopped?",
            n,
            wrong=((0, "At the lowest point of the validation curve."),),
        )
    )(r.randint(200, 900)),
)  # fmt: skip

# ---- 17.e: small and good -----------------------------------------------------------------------------------------------------------

STUB_E = '''\
import minigrad as torch
from minigrad import nn
from minigrad.nn import functional as F


def small(images, labels):
    """Train a model with at most 1,000 parameters on the images (1287, 1, 10, 10) of ten forms, and return it.

    Their ink is from 0 to 1. It is judged on 500 moved digits of the four other forms. You have about ten seconds.
    """
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(100, 10))  # 1,010 parameters, and far from enough
    ...
    return model
'''

SOLUTION_E = """\
import minigrad as torch
from minigrad import nn
from minigrad.nn import functional as F


def small(images, labels):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 18, 3), nn.ReLU(), nn.MaxPool2d(4), nn.Flatten(), nn.Linear(72, 10))
    adam = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(400):
        batch = torch.randint(0, len(images), (64,))
        adam.zero_grad()
        loss = F.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        adam.step()
    return model
"""

LEAST = 420  # of 500: nearly what the hidden layer of section 2 reads with 7,114 parameters


def _small_enough(got, *_):
    if not isinstance(got, dict) or "parameters" not in got:
        return "a model must come back: a Module that takes images (n, 1, 10, 10) and returns ten scores for each"
    if got["parameters"] > 1000:
        return f"the model has {got['parameters']:,} parameters, and 1,000 are allowed"
    return None


def _good_enough(got, *_):
    if _small_enough(got):
        return _small_enough(got)
    return None if got["right"] >= LEAST else f"{got['right']} of 500 are right, and {LEAST} are needed"


LAYERS = "nn.Conv2d(1, 18, 3), nn.ReLU(), nn.MaxPool2d(4), nn.Flatten(), nn.Linear(72, 10)"


def _e(*changes: tuple[str, str]) -> str:
    out = SOLUTION_E
    for old, new in changes:
        out = but(out, old, new)
    return out


EX_E = Exercise(
    id="17.e",
    title="Small, and good",
    kind=Kind.OPTIONAL,
    points=1,
    minutes=20,
    difficulty=3,
    question=f"At most 1,000 parameters, trained on ten forms of moved digits, and at least {LEAST} of 500 digits of other forms right.",
    entry="small",
    stub=STUB_E,
    solution=SOLUTION_E,
    limits=Limits(seconds=15.0, wall=120.0),
    probes=(
        Probe("at most 1,000 parameters, and right on digits it never saw", (17,), driver=drivers.small_model, accept=_good_enough,
              draw=lambda r: (r.randint(501, 10_000),)),
    ),
    bank=(
        Wrong("a linear model", _e((LAYERS, "nn.Flatten(), nn.Linear(100, 10, bias=False)")),
              "A linear model has one weight for each pixel and class. When the digit moves, the pixels change their meaning. Which layer "
              "looks for the same pattern in every place?",
              when=lambda seen: 130 <= _right(seen) < 340 and _parameters(seen) <= 1000),
        Wrong("too large", _e((LAYERS, "nn.Flatten(), nn.Linear(100, 64), nn.ReLU(), nn.Linear(64, 10)")),
              "That is more than 1,000 parameters. A convolution shares its few weights between all places.",
              when=lambda seen: _parameters(seen) > 1000),
        Wrong("never trained", _e(("        adam.step()\n", "")),
              "The model guesses: about one in ten is right. Do its parameters change? Look at the six lines again.",
              when=lambda seen: 0 <= _right(seen) < 130),
        Wrong("not long enough", _e(("range(400)", "range(60)")),
              "It learns, but it is not there yet: train longer, or take larger steps, and follow the loss of some images that "
              "you keep aside.",
              when=lambda seen: 340 <= _right(seen) < LEAST and _parameters(seen) <= 1000),
    ),
    hints=Hints(
        "Which layer has few parameters, and finds a stroke wherever it is?",
        "A convolution, relu, pooling, and one linear layer. Count the parameters before you train, and keep some of the images "
        "for validation.",
        "Conv2d(1, 4, 3) has 4 · 9 + 4 = 40 parameters. Its output is 4 × 8 × 8. MaxPool2d(4) makes 4 × 2 × 2 of it, so a linear layer for "
        "ten classes adds 170.",
    ),
    reveal="One convolution with eighteen kernels, pooled, and a linear layer: 910 parameters.",
    fresh=lambda r: (
        lambda c: Fresh(
            f"How many parameters does Conv2d(1, {c}, 3) have, with its biases?",
            10 * c,
            wrong=((9 * c, "Each kernel has a bias, too."), (c, "Each kernel has 3 × 3 weights.")),
        )
    )(r.choice([4, 8, 12, 24])),
)  # fmt: skip


def _of(seen, key):
    first: dict = next(iter(seen.outcomes.values()), {})
    got = first.get("got")
    return got.get(key, -1) if isinstance(got, dict) else -1


def _right(seen):
    return _of(seen, "right")


def _parameters(seen):
    return _of(seen, "parameters")


EXERCISES = (EX_A, EX_B, EX_C, EX_C2, EX_D, EX_E)
