"""Chapter 07, gradients add up: two predictions, a loop with two faults, momentum, micro-batches, and a backward that may run twice."""

from __future__ import annotations

from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but

# ---- 07.a: thirty steps ---------------------------------------------------------------------------------------------------------

EX_A = ask(
    "07.a",
    "Thirty steps",
    Kind.PREDICT,
    points=0,
    minutes=1,
    level=1,
    text="After two steps the loop that never clears is far ahead. Where is its loss after thirty steps?",
    comment="After two steps the broken loop is far ahead.\nWhat does its loss do in the next twenty-eight?\n"
    '  "stays ahead"  it got down first, and stays down\n'
    '  "swings"       it goes down, up and down again\n'
    '  "explodes"     it grows without end\n'
    "Replace None by one of the three, in quotes.",
    answer="swings",
    wrong=(
        ("stays ahead", "stays ahead", "It arrives first. Which gradients does it still carry with it at that moment?"),
        (
            "explodes",
            "explodes",
            "Once w has gone too far, the new gradients point the other way. What do they do to the sum?",
        ),
    ),
    hints=(
        "What does the update of the broken loop read in step 3?",
        "The broken loop reads the sum of all gradients so far. What happens to this sum once w is past the best place?",
        "A child on a sledge, without friction: fast at the bottom of the valley. And then?",
    ),
    reveal="At the lowest point the sum of all gradients is at its largest, so w runs past it and up the other side, until the new "
    "gradients have used the sum up. Then it comes back.",
    fresh=lambda r: (
        lambda g1, g2: Fresh(
            f"Two steps have the gradients {g1} and {g2}, and nothing is cleared. Which number does the second update read?",
            g1 + g2,
            wrong=((g2, "The first gradient is still there."),),
        )
    )(r.randint(11, 19), r.randint(2, 9)),
)

# ---- 07.a2: three passes --------------------------------------------------------------------------------------------------------

EX_A2 = ask(
    "07.a2",
    "Three passes",
    Kind.PREDICT,
    points=0,
    minutes=2,
    level=1,
    text="y = 3x² at x = 1 is built, and backward runs; then the same again, and again. What is x.grad after each of the three?",
    comment="y = 3x² at x = 1 is built, and backward runs. Then both happen again, and again.\n"
    "What is x.grad after each of the three passes? A list of three numbers.",
    answer=[6, 12, 18],
    wrong=(
        ("replaced", [6, 6, 6], "backward adds to .grad, as `+=` does. What was there stays there."),
        ("doubled", [6, 12, 24], "Each pass adds the same contribution. It does not double what is there."),
        ("multiplied", [6, 36, 216], "Contributions of different passes are added, not multiplied."),
        ("values", [3, 3, 3], "That is y. Its derivative is what goes into .grad."),
        ("values, added", [3, 6, 9], "They do add up, but what is added is the derivative and not the value."),
    ),
    hints=(
        "Nothing clears x.grad between the passes.",
        "Every backward pass adds the gradient that it computes to whatever .grad already holds.",
        "z = 2t at t = 5, two passes: the first leaves 2 in t.grad, the second 4.",
    ),
    reveal="Each pass computes the same derivative, 6x, and adds it to what the passes before have left.",
    fresh=lambda r: (
        lambda k, n: Fresh(
            f"y = {k}x, {n} passes without clearing. What is x.grad at the end?", k * n, wrong=((k, "+=, not =."),)
        )
    )(r.randint(4, 9), r.randint(3, 6)),
)

# ---- 07.b: a loop with two faults -----------------------------------------------------------------------------------------------

STUB_B = '''\
def train(w, data, steps, lr):
    """Fit y = w * x by gradient descent. w is a Value; data is a list of pairs (x, y).

    Returns the gradient at the start, and w.data at the end.
    """
    loss = sum((w * x - y) ** 2 for x, y in data)
    backward(loss)
    at_the_start = w.grad                        # only a look

    for _ in range(steps):
        loss = sum((w * x - y) ** 2 for x, y in data)
        backward(loss)
        w.data = w.data - lr * w.grad
    return at_the_start, w.data
'''

SOLUTION_B = but(STUB_B, "    for _ in range(steps):\n", "    for _ in range(steps):\n        w.grad = 0.0\n")
_b = partial(but, SOLUTION_B)
CLEAR = "        w.grad = 0.0\n"
STEP = "        w.data = w.data - lr * w.grad\n"

DATA = [(1.0, 2.0), (2.0, 4.5), (3.0, 5.5)]


def _slope(w, data):
    return sum(2 * (w * x - y) * x for x, y in data)


def _train(start, data, steps, lr):
    w = start
    for _ in range(steps):
        w -= lr * _slope(w, data)
    return {"w.data": w, "returned": [_slope(start, data), w]}


def _draw_training(r, steps):
    data = [(x, round(y + r.uniform(-1, 1), 2)) for x, y in DATA]
    return round(r.uniform(-1, 1), 2), data, steps, round(r.uniform(0.005, 0.02), 4)


def _training(name, steps, weight=1.0):
    first = (0.5, DATA, steps, 0.01)
    return Probe(name, first, _train, drivers.train_value, weight, draw=lambda r: _draw_training(r, steps))


EX_B = Exercise(
    id="07.b",
    title="A loop with two faults",
    kind=Kind.DEBUG,
    points=2,
    minutes=8,
    difficulty=2,
    question="This loop looks at the gradient once and then trains. It has two faults. Repair it.",
    needs=("05.b",),
    entry="train",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(_training("one step", 1), _training("two steps", 2), _training("twenty steps", 20, 2.0)),
    bank=(
        Wrong("cleared after the step only", _b(CLEAR, "").replace(STEP, STEP + CLEAR),
              "From the second step on it is right. But the first update reads two gradients: that of the look, and its own.",
              on=("one step", "two steps")),
        Wrong("cleared before the loop only", _b(CLEAR, "").replace("    for _", "    w.grad = 0.0\n    for _"),
              "The look no longer disturbs the first step. But each further update still reads the gradients of all the steps before it.",
              on=("one step", "two steps")),
        Wrong("cleared between backward and the update", _b(CLEAR, "").replace(STEP, CLEAR + STEP),
              "Now w stays where it is: the gradient is cleared before the update has used it.", on=("one step", "twenty steps")),
        Wrong("cleared before the look is remembered", _b("    at_the_start = w.grad", "    w.grad = 0.0\n    at_the_start = w.grad"),
              "The gradient at the start is what the caller wants to see; it is cleared before it has been remembered.",
              when=lambda seen: all(isinstance(o["got"], dict) and isinstance(o["got"]["returned"], list)
                                    and o["got"]["returned"][0] == 0.0 for o in seen.outcomes.values())),
        Wrong("one loss for all steps", _b("        loss = sum((w * x - y) ** 2 for x, y in data)\n        backward", "        backward"),
              "The loss is computed before the loop and never again. It does not change when w.data does: compute it in each step.",
              on=("two steps", "twenty steps")),
        Wrong("None for a Value", _b(CLEAR, "        w.grad = None\n"),
              "None is how PyTorch clears a tensor's gradient. Your rules add to the number that is there, so there has to be one.",
              when=lambda seen: seen.error("one step") == "TypeError"),
        Wrong("uphill", _b("w.data - lr", "w.data + lr"), "The gradient points uphill, and the loss falls the other "
        "way.", on=("one step",)),
        Wrong("a new w", _b("w.data = w.data - lr * w.grad", "w = w - lr * w.grad"),
              "w = w - ... makes a new Value. The caller's w stays as it was, and the graph grows with every step. Change w.data.",
              when=lambda seen: isinstance(got := seen.value("one step"), dict) and got["w.data"] != got["returned"][-1]),
        Wrong("averages", _b("lr * w.grad", "lr * w.grad / len(data)"),
              "The loss is a sum and may stay one. The update must not be divided by the number of pairs.", on=("one step", "two steps")),
    ),
    hints=Hints(
        nudge="Follow w.grad with a pencil: what does it hold after the look, after the first backward in the loop, after the second?",
        rule="When an update reads w.grad, it must hold the gradient of this step and nothing else. Whatever came earlier has to be "
        "cleared "
        "before this step's backward begins.",
        twin="A shop counts its takings every evening, so the till is set to zero each morning. If the owner tries it out before the shop "
        "opens, that must not count either. So the right moment is directly before the first customer, every day.",
    ),
    reveal="One line repairs both: clear directly before backward, in every step. Then it does not matter what happened earlier.",
    fresh=lambda r: (
        lambda g0, g1: Fresh(
            f"You look at a gradient of {g0} and clear nothing. The first step computes {g1}. Which number does its update read?",
            g0 + g1,
            wrong=((g1, "The gradient of the look is still there."),),
        )
    )(r.randint(11, 19), r.randint(2, 9)),
)  # fmt: skip

# ---- 07.c: momentum -------------------------------------------------------------------------------------------------------------

STUB_C = '''\
def with_momentum(w, data, steps, lr, mu):
    """Fit y = w * x, as train does, but like torch.optim.SGD with momentum mu.

    Returns w.data at the end.
    """
    for _ in range(steps):
        w.grad = 0.0                             # change this line, and no other
        backward(sum((w * x - y) ** 2 for x, y in data))
        w.data = w.data - lr * w.grad
    return w.data
'''

SOLUTION_C = but(
    STUB_C, "w.grad = 0.0                             # change this line, and no other", "w.grad = mu * w.grad"
)
_c = partial(but, SOLUTION_C)


def _momentum(start, data, steps, lr, mu):
    """By differences of w alone: each move is mu times the one before, and the gradient's part."""
    before = w = start
    for _ in range(steps):
        before, w = w, w + mu * (w - before) - lr * _slope(w, data)
    return {"w.data": w, "returned": w}


def _draw_momentum(mu, steps):
    def draw(r):
        start, data, _, lr = _draw_training(r, steps)
        return start, data, steps, lr, round(r.uniform(0.3, 0.95), 2) if 0 < mu < 1 else mu

    return draw


def _moving(name, mu, steps):
    return Probe(
        name, (0.5, DATA, steps, 0.01, mu), _momentum, drivers.train_value, rtol=1e-11, draw=_draw_momentum(mu, steps)
    )


EX_C = Exercise(
    id="07.c",
    title="Momentum in one line",
    kind=Kind.BUILD,
    points=2,
    minutes=8,
    difficulty=2,
    question="Change the line that clears, so that the loop is SGD with momentum mu.",
    needs=("05.a", "05.b"),
    entry="with_momentum",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        _moving("momentum 0: every step forgets", 0.0, 3),
        _moving("momentum 1: nothing is forgotten", 1.0, 3),
        _moving("one step", 0.9, 1),
        _moving("two steps", 0.9, 2),
        _moving("forty steps", 0.9, 40),
    ),
    bank=(
        Wrong("nothing is cleared", _c("        w.grad = mu * w.grad\n", ""),
              "Now nothing is ever forgotten, which is momentum 1. How much of the old sum may stay, when mu is 0.9? And when it is 0?",
              on=("momentum 0: every step forgets", "two steps")),
        Wrong("scales after backward", _c("        w.grad = mu * w.grad\n", "").replace(
            "        w.data", "        w.grad = mu * w.grad\n        w.data"),
              "You scale after backward, so the newest gradient is made smaller as well. Only what is left from earlier steps should be.",
              on=("one step", "two steps")),
        Wrong("scales the update", _c("        w.grad = mu * w.grad\n", "").replace("lr * w.grad", "lr * mu * w.grad"),
              "You scale the update. That is a smaller learning rate, and the sum of all gradients is still never forgotten.",
              on=("one step", "two steps")),
        Wrong("forgets the wrong part", _c("mu * w.grad", "(1 - mu) * w.grad"),
              "It is the other way round: mu is the part that stays, and 1 - mu is the part that is forgotten.", on=("two steps",)),
        Wrong("a moving average", _c("        w.grad = mu * w.grad\n", "        old, w.grad = w.grad, 0.0\n").replace(
            "        w.data", "        w.grad = mu * old + (1 - mu) * w.grad\n        w.data"),
              "That is a moving average, in which the new gradient counts only 1 - mu. In PyTorch's momentum it counts in full.",
              on=("one step", "two steps")),
        Wrong("a product with the old weight", _c("w.grad = mu * w.grad", "w.grad = mu * w.data"),
              "It is the old gradients that are partly kept. Where are they at this moment?", on=("one step", "two steps")),
        Wrong("sets it to mu", _c("w.grad = mu * w.grad", "w.grad = mu"),
              "This starts every step with the number mu. The old sum should be kept in part.", on=("one step", "two steps")),
    ),
    hints=Hints(
        nudge="With mu = 0 it must clear, and with mu = 1 it must leave everything. What lies between?",
        rule="Before backward adds the new gradient, w.grad still holds the sum of the old ones. Momentum keeps a part of this sum, mu, "
        "and "
        "forgets the rest.",
        twin="A bath holds 10 litres, and in every minute a tenth runs out before 5 more come in: 0.9 × 10 + 5 = 14 litres, then "
        "0.9 × 14 + 5 = 17.6. What comes in is never made smaller; only what was there before is.",
    ),
    reveal="Clearing is momentum 0, and forgetting to clear is momentum 1. Everything between them is useful.",
    fresh=lambda r: (
        lambda old, new: Fresh(
            f"The sum holds {old}, the momentum is 0.5, and this step's gradient is {new}. Which number does the update read?",
            0.5 * old + new,
            wrong=((0.5 * (old + new), "The new gradient counts in full."), (old + new, "Half of the old sum is forgotten.")),
        )
    )(r.choice([8, 14, 20, 26]), r.randint(2, 9)),
)  # fmt: skip

# ---- 07.d: micro-batches of unequal size ----------------------------------------------------------------------------------------

STUB_D = '''\
def accumulate(w, batches):
    """Leave in w.grad the gradient of the mean of (w * x - y) ** 2 over all the pairs of all the batches.

    w is a Value, and its gradient may be an old one. Each batch is a list of pairs (x, y), of any length.
    Build and run one graph for each batch: together they would not fit into memory.
    """
    ...
'''

SOLUTION_D = '''\
def accumulate(w, batches):
    """Leave in w.grad the gradient of the mean of (w * x - y) ** 2 over all the pairs of all the batches."""
    total = sum(len(batch) for batch in batches)
    w.grad = 0.0
    for batch in batches:
        backward(sum((w * x - y) ** 2 for x, y in batch) / total)
'''
_d = partial(but, SOLUTION_D)
LOSS = "sum((w * x - y) ** 2 for x, y in batch) / total"

UNEQUAL = [[(1.0, 2.0), (2.0, 3.0), (0.5, -1.0)], [(3.0, 1.0)], [(0.5, 4.0), (2.0, 2.5)]]
EQUAL = [[(1.0, 2.0), (2.0, 3.0)], [(3.0, 1.0), (-1.0, 2.0)]]


def _accumulate(w, batches, _old=0.0):
    pairs = [p for b in batches for p in b]
    return _slope(w, pairs) / len(pairs)


def _batches(r, sizes):
    return [[(round(r.uniform(-3, 3), 2), round(r.uniform(-3, 3), 2)) for _ in range(n)] for n in sizes]


def _collecting(name, batches, *old, weight=1.0):
    sizes = [len(batch) for batch in batches]
    return Probe(name, (1.5, batches, *old), _accumulate, drivers.accumulate_value, weight, rtol=1e-10,
                 draw=lambda r: (round(r.uniform(0.5, 2), 2), _batches(r, sizes), *old))  # fmt: skip


EX_D = Exercise(
    id="07.d",
    title="Micro-batches of any size",
    kind=Kind.BUILD,
    points=2,
    minutes=8,
    difficulty=2,
    question="Collect the gradient of one large batch from micro-batches of different sizes.",
    needs=("05.a", "05.b"),
    entry="accumulate",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        _collecting("one batch", UNEQUAL[:1]),
        _collecting("two of equal size", EQUAL),
        _collecting("three, two and one pair", UNEQUAL, weight=2.0),
        _collecting("an old gradient", UNEQUAL, 7.0),
        Probe("one graph for each batch", (1.5, UNEQUAL), {"backward passes": 3, "pairs in the largest graph": 3},
              drivers.accumulate_passes, draw=lambda r: (1.5, _batches(r, [3, 1, 2]))),
    ),
    bank=(
        Wrong("divides by their number", _d(LOSS, "sum((w * x - y) ** 2 for x, y in batch) / len(batch) / len(batches)"),
              "Dividing by the number of batches is right when all have the same size. Here a pair in a small batch counts more than "
              "one in "
              "a large batch.", on=("three, two and one pair", "two of equal size")),
        Wrong("divides by its own size", _d(LOSS, "sum((w * x - y) ** 2 for x, y in batch) / len(batch)"),
              "Each batch is averaged on its own, and then the averages are added. What is the mean over all pairs?",
              on=("three, two and one pair", "two of equal size", "one batch")),
        Wrong("no division", _d(" / total", ""),
              "This is the gradient of the sum over all pairs. The mean is asked for.", on=("three, two and one pair", "one batch")),
        Wrong("divides by the number of batches", _d("/ total", "/ len(batches)"),
              "You divide by the number of batches, but the sum runs over pairs.", on=("three, two and one pair", "one batch")),
        Wrong("old gradient kept", _d("    w.grad = 0.0\n", ""),
              "There is still an old gradient in w, and everything is added to it.", on=("an old gradient", "three, two and one pair")),
        Wrong("clears in the loop", _d("    w.grad = 0.0\n    for batch in batches:\n", "    for batch in batches:\n        w.grad = "
        "0.0\n"),
              "Only the contribution of the last batch is left. Clear once, before the "
              "first.", on=("three, two and one pair", "one batch")),
        Wrong("one large graph", _d("    for batch in batches:\n        backward(" + LOSS + ")\n",
                                    "    backward(sum((w * x - y) ** 2 for batch in batches for x, y in batch) / total)\n"),
              "The gradient is right, but all pairs are in one graph, which does not fit into memory. Run backward once for each batch.",
              on=("three, two and one pair", "one graph for each batch")),
        Wrong("one graph for each pair", _d("        backward(" + LOSS + ")\n",
                                            "        for x, y in batch:\n            backward((w * x - y) ** 2 / total)\n"),
              "The gradient is right, but every pair has a graph and a backward pass of its own, which makes training slow. Build the loss "
              "of a whole batch first, then call backward once.",
              when=lambda seen: isinstance(got := seen.value("one graph for each batch"), dict) and got.get("backward passes", 0) > 3
              and got.get("pairs in the largest graph") == 1),
        Wrong("divides the bucket each time", _d("        backward(" + LOSS + ")\n",
                                                 "        backward(sum((w * x - y) ** 2 for x, y in batch))\n        w.grad = w.grad / "
                                                 "total\n"),
              "w.grad is divided after every batch, so the early contributions are divided again and again.",
              on=("three, two and one pair", "one batch")),
    ),
    hints=Hints(
        nudge="With how much weight does a single pair enter the mean over all pairs? Does it depend on its batch?",
        rule="Clear once. Then call backward for each batch, on something whose gradients add up to the gradient of the mean: every pair "
        "has to count equally, wherever it is.",
        twin="The average mark of two classes, 20 pupils with a mean of 2 and 5 pupils with a mean of 4: not (2 + 4)/2 = 3, but all the "
        "marks added up and divided by all the pupils, (40 + 20)/25 = 2.4.",
    ),
    reveal="Add up within a batch and divide by the number of all pairs: then each pair counts the same. It is the same to take the mean "
    "of each batch and weight it with the batch's part of all pairs.",
    fresh=lambda r: (
        lambda a, b: Fresh(
            f"A micro-batch of 3 pairs has a mean loss with gradient {a}, one of a single pair has {b}. What is the gradient of the mean "
            "over all four pairs?",
            (3 * a + b) / 4,
            wrong=(((a + b) / 2, "The first batch has three of the four pairs."), (a + b, "The mean is asked for.")),
        )
    )(r.choice([8, 12, 16]), r.choice([0, 4, 20])),
)  # fmt: skip

# ---- 07.e: twice on one graph ---------------------------------------------------------------------------------------------------

STUB_E = '''\
def backward_again(root):
    """Like backward(root), but it may be called several times on the same graph.

    Each call adds to the gradients of the leaves, which have no ._prev. The values in between hold
    their gradient of the last call only.
    """
    ...
'''

SOLUTION_E = '''\
def backward_again(root):
    """Like backward(root), but it may be called several times on the same graph."""
    order, seen = [], set()

    def visit(v):
        if v not in seen:
            seen.add(v)
            for parent in v._prev:
                visit(parent)
            order.append(v)

    visit(root)
    for v in order:
        if v._prev:
            v.grad = 0.0
    root.grad = 1.0
    for v in reversed(order):
        v._backward()
'''
_e = partial(but, SOLUTION_E)


def _times(calls, middle, leaves):
    return middle | {name: calls * grad for name, grad in leaves.items()}


def _chain_again(graph, calls, x):
    u = 3 * x + 2
    return _times(calls, {"y": 1.0, "u": 2 * u, "p": 2 * u}, {"x": 6 * u})


def _diamond_again(graph, calls, a, b):
    c, d = a + b, a * b
    return _times(
        calls,
        {"y": 1.0, "f": 1.0, "e": 1.0, "d": 1 + c, "c": 1 + d},
        {"b": (1 + d) + a * (1 + c), "a": (1 + d) + b * (1 + c)},
    )


def _ladder_again(graph, calls, x, rungs):
    return _times(calls, {f"s{rungs}": 1.0}, {"x": 2.0**rungs})


def _whole(r):
    return float(r.randint(2, 7))


EX_E = Exercise(
    id="07.e",
    title="Twice on one graph",
    kind=Kind.OPTIONAL,
    points=2,
    minutes=8,
    difficulty=2,
    question="Write a backward that may be called several times on the same graph.",
    entry="backward_again",
    stub=STUB_E,
    solution=SOLUTION_E,
    probes=(
        Probe("one call", ("diamond", 1, 2.0, 3.0), _diamond_again, drivers.backward_repeated,
              draw=lambda r: ("diamond", 1, _whole(r), _whole(r))),
        Probe("two calls on a chain", ("chain", 2, 1.0), _chain_again, drivers.backward_repeated, draw=lambda r: ("chain", 2, _whole(r))),
        Probe("two calls on the diamond", ("diamond", 2, 2.0, 3.0), _diamond_again, drivers.backward_repeated,
              draw=lambda r: ("diamond", 2, _whole(r), _whole(r))),
        Probe("three calls on four doublings", ("ladder", 3, 5.0, 4), _ladder_again, drivers.backward_repeated,
              draw=lambda r: ("ladder", 3, _whole(r), r.randint(3, 6))),
        Probe("an input that is the root", ("leaf", 1, 4.0), {"x": 1.0}, drivers.backward_repeated, 0.5,
              draw=lambda r: ("leaf", 1, _whole(r))),
    ),
    bank=(
        Wrong("nothing is cleared", _e("    for v in order:\n        if v._prev:\n            v.grad = 0.0\n", ""),
              "The second call finds the gradients of the first one in the values between, and passes them on once more.",
              on=("two calls on a chain", "one call")),
        Wrong("everything is cleared", _e("        if v._prev:\n            v.grad = 0.0\n", "        v.grad = 0.0\n"),
              "The leaves' gradients are cleared as well, and those should add up: each call is a contribution.",
              on=("two calls on a chain", "two calls on the diamond")),
        Wrong("only the leaves are cleared", _e("if v._prev:", "if not v._prev:"),
              "You clear the leaves, which should add up, and leave the values in between, whose old gradients are passed on again.",
              on=("two calls on a chain", "two calls on the diamond")),
        Wrong("only the root is cleared", _e("    for v in order:\n        if v._prev:\n            v.grad = "
        "0.0\n", "    root.grad = 0.0\n"),
              "The second call finds the gradients of the first one in the values between, and passes them on once more.",
              on=("two calls on a chain", "two calls on the diamond")),
        Wrong("the root adds up", _e("    root.grad = 1.0\n", "    root.grad += 1.0\n").replace(
            "if v._prev:", "if v._prev and v is not root:"),
              "The root keeps its 1 of the first call, and the second call adds another: it starts with 2. A call starts at 1.",
              on=("one call", "two calls on a chain")),
        Wrong("the root is cleared at the end", _e("        v._backward()\n", "        v._backward()\n    root.grad = 0.0\n"),
              "Only the root is wrong: its gradient with respect to itself is 1, also when the call is over. Clear at the start of a call.",
              when=lambda seen: (seen.value("one call") or {}).get("y") == 0 and (seen.value("one call") or {}).get("a") != 0),
        Wrong("the root starts at nothing", _e("    root.grad = 1.0\n", ""),
              "All gradients are 0, because the root did not get its 1 after the clearing.",
              on=("one call", "two calls on a chain")),
        Wrong("cleared too late", _e("    for v in order:\n        if v._prev:\n            v.grad = 0.0\n", "").replace(
            "        v._backward()\n", "        if v._prev and v is not root:\n            v.grad = 0.0\n        v._backward()\n"),
              "You clear each value when its turn comes. By then it has received what it should pass on.",
              on=("one call", "two calls on a chain")),
    ),
    hints=Hints(
        nudge="Which values hold something from the first call when the second one begins? Which of them should?",
        rule="Leaves collect over all calls. A value in between passes on everything that it holds, so it must begin each call with 0.",
        twin="Water meters and pipes: what the meters at the ends show may add up from day to day, but the pipes in between have to be "
        "empty "
        "before the next bucket is poured in at the top, or yesterday's water is counted again.",
    ),
    reveal="Once the order is known, clear every value that was computed, and leave the leaves alone.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"x goes through {n} operations. Backward runs, x.grad is set to 0, and backward runs again on the same graph, with nothing "
            f"else cleared. How many times too large is x.grad?",
            n,
            wrong=((2, "The leftovers are passed on, and each further value adds its "
            "own."), (n + 1, "The root's gradient is set, not added.")),
        )
    )(r.randint(3, 6)),
)  # fmt: skip

EXERCISES = (EX_A, EX_A2, EX_B, EX_C, EX_D, EX_E)
