"""Chapter 07, accumulation: its exercises."""

from __future__ import annotations

from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

EX_A = ask(
    "07.a",
    "Three times without emptying",
    Kind.PREDICT,
    minutes=4,
    level=1,
    text="y = 3x², x = 1. The program builds y and runs backward, three times over, and never clears x.grad. What is x.grad "
    "after each pass?",
    comment="y = 3x², x = 1. The program builds y and runs backward, three times over,\n"
    "and never clears x.grad. What is x.grad after each pass? Replace None by your answers.",
    answer={"after 1": 6, "after 2": 12, "after 3": 18},
    wrong=(
        ("replaced", {"after 2": 6, "after 3": 6}, "backward adds to .grad, as `+=` does, not `=`: what was there stays."),
        ("doubled each time", {"after 3": 24}, "Each pass adds the same share; it does not double what is there."),
        ("compounded", {"after 2": 36}, "Shares of different passes are added, not multiplied."),
        ("value of y", {"after 1": 3}, "That is y. Its derivative is what goes into .grad."),
    ),
    hints=(
        "Think of x.grad as a bucket. Who empties it?",
        "Every backward adds the gradient of its own pass to what .grad already holds.",
        "z = 2t at t = 5, two passes: the first leaves 2 in t.grad, the second 4.",
    ),
    reveal="dy/dx = 6x = 6 in each pass; the bucket holds 6, then 12, then 18.",
    fresh=lambda r: (
        lambda k, n: Fresh(f"y = {k}x, {n} passes without clearing. What is x.grad at the end?", k * n, wrong=((k, "+=, not =."),))
    )(r.randint(4, 9), r.randint(3, 6)),
)

STUB_B = '''\
def train(w, data, steps, lr):
    """Fit y = w * x by gradient descent.

    w is a Value, data a list of pairs (x, y). Returns w.data at the end.
    """
    for _ in range(steps):
        loss = sum((w * x - y) ** 2 for x, y in data)
        loss.backward()
        w.data = w.data - lr * w.grad      # something is missing in this loop
    return w.data
'''

SOLUTION_B = '''\
def train(w, data, steps, lr):
    """Fit y = w * x by gradient descent.

    w is a Value, data a list of pairs (x, y). Returns w.data at the end.
    """
    for _ in range(steps):
        w.grad = 0.0
        loss = sum((w * x - y) ** 2 for x, y in data)
        loss.backward()
        w.data = w.data - lr * w.grad
    return w.data
'''


def _train(start, data, steps, lr):
    w = start
    for _ in range(steps):
        w -= lr * sum(2 * (w * x - y) * x for x, y in data)
    return {"w.data": w, "returned": w}


DATA = [(1.0, 2.0), (2.0, 4.5), (3.0, 5.5)]


def _draw_training(r, steps):
    data = [(x, round(y + r.uniform(-1, 1), 2)) for x, y in DATA]
    return round(r.uniform(-1, 1), 2), data, steps, round(r.uniform(0.005, 0.02), 4)


_b = partial(but, SOLUTION_B)


EX_B = Exercise(
    id="07.b",
    title="A loop that never empties the bucket",
    kind=Kind.DEBUG,
    points=2,
    minutes=6,
    difficulty=2,
    question="This training loop swings back and forth and never settles. Repair it.",
    entry="train",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe("one step", (0.0, DATA, 1, 0.01), _train, drivers.train_value, draw=lambda r: _draw_training(r, 1)),
        Probe("two steps", (0.0, DATA, 2, 0.01), _train, drivers.train_value, draw=lambda r: _draw_training(r, 2)),
        Probe(
            "twenty steps",
            (0.5, DATA, 20, 0.02),
            _train,
            drivers.train_value,
            2,
            draw=lambda r: _draw_training(r, 20),
        ),
    ),
    bank=(
        Wrong(
            "emptied before use",
            _b("        w.grad = 0.0\n", "").replace("        loss.backward()\n", "        loss.backward()\n        w.grad = 0.0\n"),
            "You empty the bucket before drinking: clear it before backward or after the update, not in between.",
            on=("one step", "twenty steps"),
        ),
        Wrong(
            "None for a Value",
            _b("        w.grad = 0.0\n", "        w.grad = None\n"),
            "None is a tensor's empty bucket. A Value adds to the number that is there: clear it with w.grad = 0.0.",
            when=lambda seen: seen.error("one step") == "TypeError",
        ),
        Wrong(
            "emptied once",
            _b("    for _ in range(steps):\n        w.grad = 0.0\n", "    w.grad = 0.0\n    for _ in range(steps):\n"),
            "Cleared once, before the loop: every further step adds to the gradients of all steps before it.",
            on=("two steps",),
        ),
        Wrong("wrong sign", _b("w.data - lr", "w.data + lr"), "The gradient points uphill: go the other way.", on=("one step",)),
        Wrong(
            "a new w",
            _b("w.data = w.data - lr * w.grad", "w = w - lr * w.grad"),
            "w = w - ... makes a new Value: the caller's w stays as it was, and the graph grows with every step. Change w.data.",
            on=("one step",),
        ),
        Wrong(
            "averages",
            _b("lr * w.grad", "lr * w.grad / len(data)"),
            "The loss is a sum and is to stay one: the step must not be divided by the number of pairs.",
            on=("one step", "two steps"),
        ),
    ),
    hints=Hints(
        "What is in w.grad when the second backward begins?",
        "Each step: clear, forward, backward, update. The gradient of this step only must be in .grad when the update reads it.",
        "A shop counts its takings each evening: set the till to zero in the morning, not between counting and writing down.",
    ),
    reveal="w.grad = 0.0 at the top of the loop. That is what optimizer.zero_grad() does.",
    fresh=lambda r: (
        lambda g1, g2: Fresh(
            f"Two steps have gradients {g1} and {g2}; nobody clears. Which number does the second update use?",
            g1 + g2,
            wrong=((g2, "Nobody cleared."),),
        )
    )(r.randint(11, 19), r.randint(2, 9)),
)

STUB_C = '''\
def accumulate(w, batches):
    """Fill w.grad with the gradient of the mean loss over all batches together, one batch at a time.

    w is a Value; batches is a list of lists of pairs (x, y), all of the same length.
    """
    w.grad = 0.0
    for batch in batches:
        loss = sum((w * x - y) ** 2 for x, y in batch) * (1 / len(batch))
        ...  # one line is missing, or two
'''

SOLUTION_C = """\
def accumulate(w, batches):
    w.grad = 0.0
    for batch in batches:
        loss = sum((w * x - y) ** 2 for x, y in batch) * (1 / len(batch))
        (loss * (1 / len(batches))).backward()
"""

FOUR = [[(1.0, 2.0), (2.0, 3.0)], [(3.0, 1.0), (-1.0, 2.0)], [(0.5, 4.0), (2.0, 2.5)], [(1.5, 1.0), (4.0, 3.0)]]


def _accumulate(w, batches):
    pairs = [p for b in batches for p in b]
    return sum(2 * (w * x - y) * x for x, y in pairs) / len(pairs)


def _draw_batches(r, n):
    return round(r.uniform(0.5, 2), 2), [[(round(r.uniform(-3, 3), 2), round(r.uniform(-3, 3), 2)) for _ in range(2)] for _ in range(n)]


EX_C = Exercise(
    id="07.c",
    title="Four small batches for a large one",
    kind=Kind.FILL_IN,
    points=2,
    minutes=6,
    difficulty=2,
    question="Four micro-batches must leave the same gradient in w.grad as one batch of all their pairs.",
    entry="accumulate",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe("four batches", (1.5, FOUR), _accumulate, drivers.accumulate_value, 2, rtol=1e-12, draw=lambda r: _draw_batches(r, 4)),
        Probe("one batch", (1.5, FOUR[:1]), _accumulate, drivers.accumulate_value, rtol=1e-12, draw=lambda r: _draw_batches(r, 1)),
        Probe("three batches", (-0.5, FOUR[1:]), _accumulate, drivers.accumulate_value, rtol=1e-12, draw=lambda r: _draw_batches(r, 3)),
    ),
    bank=(
        Wrong(
            "forgot the division",
            SOLUTION_C.replace("(loss * (1 / len(batches))).backward()", "loss.backward()"),
            "With four batches the gradient is 4× too big: a mean of means divides once more.",
            on=("four batches",),
        ),
        Wrong(
            "divides the bucket each time",
            SOLUTION_C.replace("(loss * (1 / len(batches))).backward()", "loss.backward()\n        w.grad = w.grad / len(batches)"),
            "This divides the bucket in every round, so early shares are divided again and again. Divide each loss, or the bucket once at "
            "the end.",
            on=("four batches", "three batches"),
        ),
        Wrong(
            "divides by a fixed 4",
            SOLUTION_C.replace("1 / len(batches)", "1 / 4"),
            "Four is written into the code: divide by the number of batches that came.",
            on=("four batches", "three batches"),
        ),
        Wrong(
            "clears in the loop",
            SOLUTION_C.replace("        loss =", "        w.grad = 0.0\n        loss ="),
            "Only the last batch's share is left: is .grad cleared between batches, or does backward stand after the loop?",
            on=("four batches",),
        ),
        Wrong(
            "only the last batch",
            SOLUTION_C.replace("        (loss", "    (loss"),
            "Only the last batch's share is left: is .grad cleared between batches, or does backward stand after the loop?",
            on=("four batches",),
        ),
        Wrong(
            "divides by pairs again",
            SOLUTION_C.replace("1 / len(batches)", "1 / len(batch) / len(batches)"),
            "The batch's own mean is already taken in the loss: only the number of batches is left.",
            on=("four batches", "one batch"),
        ),
        Wrong(
            "no backward",
            STUB_C.replace("        ...  # one line is missing, or two\n", "        loss = loss * (1 / len(batches))\n"),
            "The loss is scaled, but nothing walks its graph: who fills w.grad?",
            on=("four batches", "one batch"),
        ),
        Wrong(
            "divides by the pairs of a batch",
            SOLUTION_C.replace("1 / len(batches)", "1 / len(batch)"),
            "len(batch) counts the pairs in one batch, which the loss has used already. Divide by the number of batches.",
            on=("three batches", "one batch"),
        ),
    ),
    hints=Hints(
        "What is the mean of four means, compared with their sum?",
        "backward adds by itself: call it for every batch, with that batch's loss divided by the number of batches.",
        "The average mark of three classes of equal size is (m1 + m2 + m3) / 3: each class contributes a third of its own average.",
    ),
    reveal="Scale each loss by 1 / number of batches, then backward: accumulation does the rest.",
    fresh=lambda r: (
        lambda a, b: Fresh(
            f"Two micro-batches have mean-loss gradients {a} and {b}. What is the gradient of the mean over both?",
            (a + b) / 2,
            wrong=((a + b, "2× too big."),),
        )
    )(r.randint(10, 20), r.randint(2, 9)),
)

EX_D = ask(
    "07.d",
    "One leaf, two uses",
    Kind.PREDICT,
    minutes=2,
    level=1,
    text="y = 3x + x² at x = 2, one backward. What is x.grad?",
    answer=7,
    wrong=(
        ("last use only", 4, "Both uses send a share, and x.grad is their sum."),
        ("first use only", 3, "Both uses send a share, and x.grad is their sum."),
        ("the value", 10, "That is y, the value itself."),
        ("slope of x² without x", 5, "The slope of x² is 2x, and here x is 2."),
        ("product", 12, "Shares are added, not multiplied."),
    ),
    hints=(
        "How many arrows leave x?",
        "Within one pass too, .grad accumulates: each use adds its share.",
        "z = 5t + t³ at t = 1: 5 from the first use, 3 from the second, 8 in t.grad.",
    ),
    reveal="3 from 3x and 4 from x².",
    fresh=lambda r: (lambda k, x: Fresh(f"y = {k}x + x² at x = {x}. What is x.grad?", k + 2 * x, wrong=((2 * x, "Both uses count."),)))(
        r.randint(5, 9), r.randint(5, 9)
    ),
)

EX_E = ask(
    "07.e",
    "What zero_grad leaves behind",
    Kind.EXPLAIN,
    minutes=4,
    level=2,
    text="A graph of Values is built once and backward is run on it twice. Before the second run every parameter's grad is set "
    "to 0. Which grads are still wrong?",
    comment="A micrograd graph is built once, and y.backward() runs on it twice. Before the second\n"
    "run the grads of all parameters (leaves) are set to 0. In micrograd, which grads hold\n"
    "something from the first run when the second begins?\n"
    '  "a" none                  "b" those of the values in between\n'
    '  "c" the root\'s only       "d" those of the inputs only\n'
    "Replace None by the letter, in quotes.",
    answer="b",
    wrong=(
        ("none", "a", "zero_grad goes over the parameters. Who clears the values in between, when the same graph is used again?"),
        ("the root", "c", "The root's grad is set to 1 at the start of each run. Others are not set by anybody."),
        ("inputs", "d", "Inputs are leaves too, but they are not the ones whose leftovers are multiplied and passed on."),
    ),
    hints=(
        "Which nodes have a grad, which of them does zero_grad know?",
        "zero_grad clears what it is given: the parameters. A value between parameters and loss keeps its grad as long as the graph lives.",
        "Emptying all kitchens' sinks at the end of the pipes leaves the water that stands in the pipes.",
    ),
    reveal="The values in between: the second pass adds to their old grads, so too much flows on. PyTorch (and minigrad) keep no "
    "such leftovers.",
    fresh=lambda r: Fresh(
        'If the graph is built anew in every step, is the problem there: "yes" or "no"?',
        "no",
        wrong=(("yes", "New nodes start with grad 0."),),
    ),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D, EX_E)
