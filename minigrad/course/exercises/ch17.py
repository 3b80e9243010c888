"""Chapter 17, the training loop: its exercises."""

from __future__ import annotations

import math
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, but

EX_A = Exercise(
    id="17.a",
    title="Six lines in order",
    kind=Kind.IN_THE_WIDGET,
    points=1,
    minutes=4,
    difficulty=1,
    question="Put the six steps of one training iteration into order.",
    entry="answer_17a",
    stub="""\
# One iteration of a training loop, shuffled. Write the letters in the right order; start with emptying the gradients.
#   A  loss.backward()                    D  print(loss.item())
#   B  optimizer.zero_grad()              E  loss = loss_fn(prediction, target)
#   C  prediction = model(x)              F  optimizer.step()
answer_17a = ""
""",
    solution="""\
answer_17a = "BCEAFD"
""",
    probes=(Probe("the order", want="BCEAFD", driver=drivers.letters),),
    bank=(
        Wrong("step before backward", "BCEFAD", "step reads .grad: backward must have filled it first."),
        Wrong(
            "zero_grad before step",
            "CEABFD",
            "You empty the bucket before drinking: zero_grad between backward and step leaves step nothing to use.",
        ),
        Wrong("loss before the prediction", "BECAFD", "The loss compares the prediction with the target: the prediction must be there."),
        Wrong("backward before the loss", "BCAEFD", "backward starts at the loss: the loss must be there."),
        Wrong("printed first", "DBCEAF", "There is no loss to print yet."),
        Wrong(
            "letters missing",
            "BCEAF",
            "Each of the six letters must appear exactly once.",
            when=lambda seen: isinstance(seen.value("the order"), str) and sorted(seen.value("the order")) != list("ABCDEF"),
        ),
    ),
    hints=Hints(
        "What does each line need, and which line makes it?",
        "Empty, forward, loss, backward, update; then look.",
        "Baking: clean the bowl, mix, taste, decide, correct, write it down.",
    ),
    reveal="zero_grad, model, loss, backward, step, print.",
    fresh=lambda r: Fresh(
        "Which step changes the parameters: backward or step?", "step", wrong=(("backward", "backward only fills .grad."),)
    ),
)

STUB_B = '''\
def adam(w, grads, lr=0.1, b1=0.9, b2=0.999, eps=1e-8):
    """Plain Adam on one number w: one step for every gradient in the list. Returns w after each step, as a list."""
    m = v = 0.0
    path = []
    for t, g in enumerate(grads, start=1):
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        ...  # correct the bias of m and v, and update w
        path.append(w)
    return path
'''

SOLUTION_B = '''\
def adam(w, grads, lr=0.1, b1=0.9, b2=0.999, eps=1e-8):
    """Plain Adam on one number w: one step for every gradient in the list. Returns w after each step, as a list."""
    m = v = 0.0
    path = []
    for t, g in enumerate(grads, start=1):
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        w = w - lr * (m / (1 - b1**t)) / ((v / (1 - b2**t)) ** 0.5 + eps)
        path.append(w)
    return path
'''


def _adam(w, grads, lr=0.1, b1=0.9, b2=0.999, eps=1e-8):
    """Without running sums: each mean is written out as a weighted average of all gradients so far."""
    path = []
    for t in range(1, len(grads) + 1):
        w1 = [b1 ** (t - i) for i in range(1, t + 1)]
        w2 = [b2 ** (t - i) for i in range(1, t + 1)]
        m = math.fsum(a * g for a, g in zip(w1, grads[:t], strict=True)) / math.fsum(w1)
        v = math.fsum(a * g * g for a, g in zip(w2, grads[:t], strict=True)) / math.fsum(w2)
        w -= lr * m / (math.sqrt(v) + eps)
        path.append(w)
    return path


GRADS = [0.5, -1.0, 2.0, 0.1, 0.3]


_b = partial(but, SOLUTION_B)


EX_B = Exercise(
    id="17.b",
    title="Adam, with its correction",
    kind=Kind.FILL_IN,
    points=3,
    minutes=10,
    difficulty=2,
    question="Complete Adam. Five steps are compared to ten digits.",
    entry="adam",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe(
            "five steps",
            (1.0, GRADS),
            _adam,
            rtol=1e-10,
            weight=2,
            draw=lambda r: (round(r.uniform(-1, 1), 2), [round(r.uniform(0.2, 2), 2) for _ in range(5)]),
        ),
        Probe("first step", (0.0, [0.004]), _adam, rtol=1e-10, draw=lambda r: (0.0, [r.randint(2, 9) / 1000])),
        Probe(
            "other settings",
            (2.0, [1.0, 1.0, -3.0], 0.01, 0.8, 0.9),
            _adam,
            rtol=1e-10,
            draw=lambda r: (2.0, [1.0, round(r.uniform(0.5, 2), 2), -3.0], 0.01, 0.8, 0.9),
        ),
        Probe("no gradient", (3.0, [0.0, 0.0]), [3.0, 3.0], draw=lambda r: (float(r.randint(-9, 9)), [0.0, 0.0])),
    ),
    bank=(
        Wrong(
            "no correction",
            _b("(m / (1 - b1**t)) / ((v / (1 - b2**t)) ** 0.5 + eps)", "m / (v**0.5 + eps)"),
            "Both means start at 0 and need 1 - β^t: without it your first step is 3.16× too big (0.1/√0.001).",
            on=("five steps", "first step"),
        ),
        Wrong(
            "only m corrected",
            _b("(v / (1 - b2**t))", "v"),
            "v starts at 0 as well: correct it by its own 1 - β^t.",
            on=("five steps", "first step"),
        ),
        Wrong(
            "only v corrected",
            _b("(m / (1 - b1**t))", "m"),
            "m starts at 0 as well: correct it by its own 1 - β^t.",
            on=("five steps", "first step"),
        ),
        Wrong(
            "correction without t",
            _b("b1**t", "b1").replace("b2**t", "b2"),
            "The correction fades with time: it is 1 - β to the power t.",
            on=("five steps",),
        ),
        Wrong(
            "corrections kept",
            _b(
                "        w = w - lr * (m / (1 - b1**t)) / ((v / (1 - b2**t)) ** 0.5 + eps)",
                "        m = m / (1 - b1**t)\n        v = v / (1 - b2**t)\n        w = w - lr * m / (v**0.5 + eps)",
            ),
            "The corrected means were written back into m and v, so the next step corrects them again: use names of their own.",
            on=("five steps",),
        ),
        Wrong(
            "no square root",
            _b(" ** 0.5", ""),
            "Divide by the root of the mean square, so that the units cancel.",
            on=("five steps",),
        ),
        Wrong(
            "eps inside the root",
            _b(") ** 0.5 + eps)", " + eps) ** 0.5)"),
            "eps stands outside the root, added last.",
            on=("five steps", "first step"),
            rtol=1e-9,
        ),
        Wrong(
            "eps forgotten",
            _b(" + eps)", ")"),
            "Without eps, a gradient that is always 0 gives 0 / 0. eps stands outside the root, added last.",
            when=lambda seen: seen.error("no gradient") == "ZeroDivisionError" and not seen.error("five steps"),
        ),
        Wrong(
            "beta times t",
            _b("b1**t", "b1 * t").replace("(v / (1 - b2**t))", "abs(v / (1 - b2 * t))"),
            "The correction is 1 - β to the power t, not times t.",
            on=("first step", "five steps"),
        ),
        Wrong(
            "plain descent",
            _b("(m / (1 - b1**t)) / ((v / (1 - b2**t)) ** 0.5 + eps)", "g"),
            "That is SGD: m and v are computed and not used.",
            on=("five steps",),
        ),
        Wrong("uphill", _b("w - lr", "w + lr"), "The gradient points uphill: go the other way.", on=("five steps",)),
        Wrong(
            "correction multiplied",
            _b("(m / (1 - b1**t))", "(m * (1 - b1**t))"),
            "The mean starts at 0, so it is too small in the first steps. Dividing by 1 - β^t enlarges it.",
            on=("five steps", "first step"),
        ),
        Wrong(
            "one beta for both",
            SOLUTION_B.replace("b1 * m + (1 - b1) * g", "b2 * m + (1 - b2) * g"),
            "m is averaged with b2. b1 belongs to m, b2 to v.",
            on=("five steps",),
        ),
        Wrong(
            "g for m",
            _b("(m / (1 - b1**t))", "(g / (1 - b1**t))"),
            "The step uses g itself. The numerator is m, the average of the gradients.",
            on=("five steps",),
        ),
        Wrong(
            "steps counted from zero",
            _b("b1**t", "b1**(t-1)").replace("b2**t", "b2**(t-1)"),
            "t - 1 is 0 in the first step, so the correction divides by zero. Steps are counted from 1, as the loop does.",
            when=lambda seen: seen.error("first step") == "ZeroDivisionError",
        ),
        Wrong(
            "m's steps counted from zero",
            _b("b1**t", "b1**(t-1)"),
            "t - 1 is 0 in the first step, so the correction divides by zero. Steps are counted from 1, as the loop does.",
            when=lambda seen: seen.error("first step") == "ZeroDivisionError",
        ),
    ),
    hints=Hints(
        "With m = 0 at the start, how large is m after the first gradient?",
        "m̂ = m / (1 - β1^t), v̂ = v / (1 - β2^t), w -= lr · m̂ / (√v̂ + eps).",
        "A mean that starts at 0 with β = 0.5 reads 0.5·g after one step; dividing by 1 - 0.5 makes it g.",
    ),
    reveal="Divide each mean by 1 - β^t before use; the first step is then lr, whatever the size of g.",
    fresh=lambda r: (
        lambda lr: Fresh(
            f"Adam with lr = {lr}, first gradient 1000. By about how much does w move?",
            lr,
            rtol=1e-3,
            wrong=((1000 * lr, "m̂/√v̂ is 1 in the first step."),),
        )
    )(r.choice([0.01, 0.02, 0.05])),
)


STUB_C = '''\
def clip_grad_norm(grads, max_norm):
    """Scale the list grads in place, so that its Euclidean norm is at most max_norm. Returns the norm of before."""
    ...
'''

SOLUTION_C = """\
def clip_grad_norm(grads, max_norm):
    norm = sum(g * g for g in grads) ** 0.5
    if norm > max_norm:
        for i in range(len(grads)):
            grads[i] *= max_norm / norm
    return norm
"""


def _clip(grads, max_norm):
    norm = math.hypot(*grads)
    return {"returned": norm, "grads": [g * min(1.0, max_norm / norm) if norm else g for g in grads]}


_c = partial(but, SOLUTION_C)


EX_C = Exercise(
    id="17.c",
    title="Clip by norm",
    kind=Kind.FILL_IN,
    points=2,
    minutes=6,
    difficulty=1,
    question="Gradients that explode are scaled down together. Return the norm before clipping.",
    entry="clip_grad_norm",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe(
            "too long",
            ([3.0, 4.0], 1.0),
            _clip,
            drivers.clip,
            rtol=1e-6,  # PyTorch divides by the norm + 1e-6
            draw=lambda r: ([float(r.randint(3, 9)), -float(r.randint(3, 9))], 1.5),
        ),
        Probe(
            "short enough",
            ([0.3, -0.4], 1.0),
            _clip,
            drivers.clip,
            rtol=1e-6,
            draw=lambda r: ([round(r.uniform(0.1, 0.5), 2), -0.4], 1.0),
        ),
        Probe(
            "three numbers",
            ([-2.0, 3.0, -6.0], 3.5),
            _clip,
            drivers.clip,
            rtol=1e-6,
            draw=lambda r: ([-2.0, float(r.randint(3, 9)), -6.0], 3.5),
        ),
        Probe("all zero", ([0.0, 0.0], 1.0), _clip, drivers.clip, draw=lambda r: ([0.0] * r.randint(2, 5), 1.0)),
    ),
    bank=(
        Wrong(
            "each by value",
            "def clip_grad_norm(grads, max_norm):\n    norm = sum(g * g for g in grads) ** 0.5\n    for i, g in "
            "enumerate(grads):\n        grads[i] = max(-max_norm, min(max_norm, g))\n    return norm\n",
            "That clips each number by itself and turns the direction. Scale all by one factor.",
            on=("too long",),
        ),
        Wrong(
            "always scaled",
            _c("if norm > max_norm", "if norm"),
            "A gradient that is short enough must stay as it is: do not stretch it.",
            on=("short enough", "too long"),
        ),
        Wrong(
            "returns the new norm",
            _c("    return norm", "    return min(norm, max_norm)"),
            "Return the norm from before clipping: it is what one watches for explosions.",
            on=("too long",),
        ),
        Wrong(
            "a new list",
            _c(
                "        for i in range(len(grads)):\n            grads[i] *= max_norm / norm\n",
                "        grads = [g * max_norm / norm for g in grads]\n",
            ),
            "The caller's list stays as it was: a new list, or only the loop's own variable, was changed. Write to grads[i].",
            on=("too long",),
        ),
        Wrong(
            "sum of sizes",
            _c("sum(g * g for g in grads) ** 0.5", "sum(abs(g) for g in grads)"),
            "That is the sum of sizes. The Euclidean norm is the root of the sum of squares.",
            on=("too long",),
        ),
        Wrong(
            "divides by zero",
            _c(
                "    if norm > max_norm:\n        for i in range(len(grads)):\n            grads[i] *= max_norm / norm",
                "    scale = min(1.0, max_norm / norm)\n    for i in range(len(grads)):\n        grads[i] *= scale",
            ),
            "When all gradients are zero the norm is 0: do not divide by it.",
            when=lambda seen: seen.error("all zero") == "ZeroDivisionError",
        ),
        Wrong(
            "scaled to length one",
            _c("max_norm / norm", "1 / norm"),
            "The list has length 1 now. It may be as long as max_norm.",
            on=("three numbers",),
        ),
        Wrong(
            "largest entry",
            _c("sum(g * g for g in grads) ** 0.5", "max(abs(g) for g in grads)"),
            "That is the largest entry. The Euclidean norm is the root of the sum of squares.",
            on=("too long",),
        ),
        Wrong("no root", _c(" ** 0.5", ""), "The root is missing: that is the norm squared.", on=("too long",)),
        Wrong(
            "entries replaced",
            _c("grads[i] *= max_norm / norm", "grads[i] = max_norm / norm"),
            "Each gradient is replaced by the factor. Multiply it by the factor: *=.",
            on=("too long",),
        ),
    ),
    hints=Hints(
        "How long is the whole list, seen as one arrow?",
        "One factor for all: max_norm / norm, and only when norm is larger than max_norm.",
        "[6, 8] has norm 10; clipped to 5 it is [3, 4], and 10 is returned.",
    ),
    reveal="One common factor keeps the direction.",
    fresh=lambda r: (
        lambda k: Fresh(
            f"grads = [{3 * k}, {4 * k}], max_norm = 1. What does clipping return?",
            5 * k,
            wrong=((1, "The norm before clipping."), (7 * k, "Euclidean: root of the sum of squares.")),
        )
    )(r.randint(2, 9)),
)

STUB_D = '''\
from minigrad import Value


def train(w, steps):
    """Minimise (w - 3)² by gradient descent. Every step is slower than the one before."""
    for _ in range(steps):
        loss = (w - 3) ** 2
        loss.backward()
        new = w - 0.1 * w.grad       # a hidden chain: find out why
        w = new
    return w
'''

SOLUTION_D = '''\
from minigrad import Value


def train(w, steps):
    """Minimise (w - 3)² by gradient descent, with a graph that stays small."""
    for _ in range(steps):
        w.grad = 0.0
        loss = (w - 3) ** 2
        loss.backward()
        w.data -= 0.1 * w.grad
    return w
'''


def _leaf(got, *_):
    if not isinstance(got, dict) or not isinstance(got.get("nodes"), int):
        return "a Value must come back"
    return None if got["nodes"] == 1 else "the result drags a whole graph behind it"


EX_D = Exercise(
    id="17.d",
    title="The graph that grows",
    kind=Kind.DEBUG,
    points=2,
    minutes=8,
    difficulty=2,
    question="Every step of this loop makes the graph longer. Repair the update.",
    entry="train",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        Probe(
            "value after 1 step",
            (0.0, 1),
            lambda w, n: 3 + (w - 3) * 0.8**n,
            drivers.train_leaf,
            rtol=1e-9,
            draw=lambda r: (round(r.uniform(-2, 2), 2), 1),
        ),
        Probe(
            "value after 20 steps",
            (0.0, 20),
            lambda w, n: 3 + (w - 3) * 0.8**n,
            drivers.train_leaf,
            rtol=1e-9,
            draw=lambda r: (round(r.uniform(-2, 2), 2), 20),
        ),
        Probe(
            "nodes behind the result",
            (0.0, 20),
            driver=drivers.train_nodes,
            accept=_leaf,
            weight=2,
            draw=lambda r: (0.5, r.randint(15, 30)),
        ),
    ),
    bank=(
        Wrong(
            "still recorded",
            STUB_D.replace("        loss =", "        w.grad = 0.0\n        loss ="),
            "The new w is computed from the old one, so it remembers all earlier steps. Change w.data, or start a new leaf.",
            when=lambda seen: (seen.value("nodes behind the result") or {}).get("nodes", 0) > 20,
        ),
        Wrong(
            "never cleared",
            SOLUTION_D.replace("        w.grad = 0.0\n", ""),
            "The graph stays small now, and the gradients pile up: clear w.grad in every step.",
            on=("value after 20 steps", "value after 1 step"),
        ),
        Wrong(
            "uphill",
            SOLUTION_D.replace("-= 0.1", "+= 0.1"),
            "The gradient points uphill: go the other way.",
            on=("value after 1 step",),
        ),
        Wrong(
            "updates nothing",
            SOLUTION_D.replace("w.data -= 0.1 * w.grad", "w.data - 0.1 * w.grad"),
            "w never moves. Either the new number is computed and not assigned to w.data, or the gradient is cleared before it is used.",
            on=("value after 1 step", "value after 20 steps"),
        ),
        Wrong(
            "returns a number",
            SOLUTION_D.replace("return w", "return w.data"),
            "A Value is to come back, as before: only its graph must stay small.",
            when=lambda seen: seen.error("value after 1 step") == "AttributeError",
        ),
        Wrong(
            "the answer written in",
            SOLUTION_D.replace("w.data -= 0.1 * w.grad", "w.data = 3.0"),
            "That is where the steps lead, written in by hand. Make the steps: each moves w.data by lr times the gradient.",
            on=("value after 1 step", "value after 20 steps"),
        ),
    ),
    hints=Hints(
        "Of what is the new w made, as far as the engine can see?",
        "An update is not part of the model: change the number inside the leaf (w.data), as torch.no_grad() allows for tensors.",
        "Keeping a running average: avg.data = 0.9 * avg.data + 0.1 * x.data, not avg = 0.9 * avg + 0.1 * x.",
    ),
    reveal="w.data -= lr * w.grad keeps w a leaf. w = w - lr * w.grad makes each step a node of the next one's graph.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"After w = w - 0.1 * w.data has run {n} times, how many subtractions hang behind w?",
            n,
            wrong=((1, "Each one keeps the one before."),),
        )
    )(r.randint(5, 30)),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
