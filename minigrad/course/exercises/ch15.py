"""Chapter 15, the bug clinic: four broken programs to repair."""

from __future__ import annotations

import math

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong

STUB_A = '''\
def loss_of(x):
    """sum(exp(x) + 1) for a tensor x. backward fails with "modified by an inplace operation": find out why."""
    y = x.exp()
    y.add_(1)
    return y.sum()
'''

SOLUTION_A = """\
def loss_of(x):
    y = x.exp()
    y = y + 1
    return y.sum()
"""


def _exp_plus_one(x):
    return {"loss": sum(math.exp(v) + 1 for v in x), "x.grad": [math.exp(v) for v in x]}


EX_A = Exercise(
    id="15.a",
    title="Modified by an in-place operation",
    kind=Kind.DEBUG,
    points=2,
    minutes=6,
    difficulty=2,
    question="exp keeps its output for backward, and add_ overwrites it. Repair the program without changing its result.",
    entry="loss_of",
    stub=STUB_A,
    solution=SOLUTION_A,
    probes=(
        Probe(
            "three numbers",
            ([0.0, 1.0, -2.0],),
            _exp_plus_one,
            drivers.tensor_loss,
            rtol=1e-9,
            weight=2,
            draw=lambda r: ([round(r.uniform(-1, 1), 2) for _ in range(3)],),
        ),
        Probe("one number", ([0.5],), _exp_plus_one, drivers.tensor_loss, rtol=1e-9, draw=lambda r: ([round(r.uniform(0.3, 2), 2)],)),
    ),
    bank=(
        Wrong(
            "clone of the input",
            STUB_A.replace("x.exp()", "x.clone().exp()"),
            "What exp saved is still overwritten: its output, y. A clone of x protects x, which was never in danger; "
            "no_grad and += write into the same memory.",
            when=lambda seen: "RuntimeError" in seen.error("three numbers"),
        ),
        Wrong(
            "through .data",
            STUB_A.replace("y.add_(1)", "y.data.add_(1)"),
            ".data hides the write from the engine: no error any more, and a wrong gradient, since the saved output is gone.",
            on=("three numbers",),
        ),
        Wrong(
            "detached",
            STUB_A.replace("x.exp()", "x.exp().detach().requires_grad_()").replace("y.add_(1)", "y = y + 1"),
            "detach cuts the graph: the error is gone, and so is x's gradient.",
            when=lambda seen: isinstance(seen.value("three numbers"), dict) and seen.value("three numbers").get("x.grad") is None,
        ),
        Wrong(
            "the addition dropped",
            STUB_A.replace("    y.add_(1)\n", ""),
            "The + 1 is gone, and with it the right loss.",
            on=("three numbers",),
        ),
        Wrong(
            "added to x",
            SOLUTION_A.replace("    y = x.exp()\n    y = y + 1\n", "    y = (x + 1).exp()\n"),
            "exp(x + 1) is not exp(x) + 1.",
            on=("three numbers",),
        ),
    ),
    hints=Hints(
        "Which tensor did exp save for its backward, and who writes to it?",
        "An in-place write to a saved tensor destroys it. Write the result to a new tensor instead.",
        "y = x.tanh(); y.mul_(2) fails for the same reason; y = y * 2 does not.",
    ),
    reveal="y = y + 1 makes a new tensor; exp's output stays as it was saved.",
    fresh=lambda r: Fresh(
        "y = x * 2; y.add_(1); y.sum().backward(): does it fail? yes or no?", "no", wrong=(("yes", "x * 2 saves no tensor."),)
    ),
)

STUB_B = '''\
import minigrad as torch


def step(w, lr):
    """One step of gradient descent: w is a leaf that requires a gradient and has one. It must stay the same leaf."""
    w.sub_(lr * w.grad)      # "a leaf Variable that requires grad is being used in an in-place operation"
'''

SOLUTION_B = """\
import minigrad as torch


def step(w, lr):
    with torch.no_grad():
        w.sub_(lr * w.grad)
"""


def _step(w, g, lr):
    return {"w": [a - lr * b for a, b in zip(w, g, strict=True)], "requires_grad": True, "is a leaf": True, "grad": list(g)}


HIDDEN_WRITE = (
    "Right, with a warning: .data hides the write from autograd. If a backward pass still needed the old numbers, it would compute wrong "
    "gradients without an error. Under torch.no_grad() it would notice."
)


def _hidden_write(got, *_):
    return "" if got["noticed"] else HIDDEN_WRITE


EX_B = Exercise(
    id="15.b",
    title="A leaf written in place",
    kind=Kind.DEBUG,
    points=2,
    minutes=5,
    difficulty=1,
    question="Update a parameter in place, so that it stays a leaf that requires a gradient.",
    entry="step",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe(
            "two numbers",
            ([1.0, 2.0], [0.5, -1.0], 0.1),
            _step,
            drivers.tensor_step,
            rtol=1e-9,
            draw=lambda r: ([round(r.uniform(-2, 2), 2) for _ in range(2)], [0.5, -1.0], 0.2),
            note=_hidden_write,
        ),
        Probe(
            "another step size",
            ([0.0], [4.0], 0.25),
            _step,
            drivers.tensor_step,
            rtol=1e-9,
            draw=lambda r: ([0.5], [float(r.randint(2, 9))], 0.25),
            note=_hidden_write,
        ),
    ),
    bank=(
        Wrong(
            "a new name",
            SOLUTION_B.replace("    with torch.no_grad():\n        w.sub_(lr * w.grad)", "    w = w - lr * w.grad"),
            "A new tensor is made and dropped; the caller's parameter is untouched. Write into the parameter itself.",
            on=("two numbers",),
        ),
        Wrong(
            "gradients switched off for good",
            SOLUTION_B.replace("    with torch.no_grad():\n        w", "    w.requires_grad_(False)\n    w"),
            "The write works now, and the parameter never learns again: it no longer requires a gradient.",
            on=("two numbers",),
        ),
        Wrong("uphill", SOLUTION_B.replace("sub_", "add_"), "The gradient points uphill: go the other way.", on=("two numbers",)),
        Wrong(
            "no step size",
            SOLUTION_B.replace("lr * w.grad", "w.grad"),
            "The step is the gradient times lr.",
            on=("two numbers",),
        ),
        Wrong(
            "gradient used up",
            SOLUTION_B + "    w.grad = None\n",
            "The update is right. Emptying .grad belongs to zero_grad: here somebody may still want to look at it.",
            on=("two numbers",),
        ),
        Wrong(
            "a copy",
            SOLUTION_B.replace("w.sub_(lr * w.grad)", "w.clone().sub_(lr * w.grad)"),
            "A new tensor is made and dropped; the caller's parameter is untouched. Write into the parameter itself.",
            on=("two numbers",),
        ),
        Wrong(
            "gradient zeroed",
            SOLUTION_B + "        w.grad.zero_()\n",
            "The update is right. Clearing .grad belongs to zero_grad: here the gradient must stay as it was.",
            on=("two numbers", "another step size"),
        ),
    ),
    hints=Hints(
        "Should the update be part of the graph?",
        "An update is not part of the model: switch recording off around it, and write in place.",
        "Initialising a layer: with torch.no_grad(): w.mul_(0.1) keeps w a leaf.",
    ),
    reveal="with torch.no_grad(): w.sub_(lr * w.grad).",
    fresh=lambda r: Fresh(
        "After w = w - 0.1 * w.grad outside no_grad, is w a leaf? yes or no?", "no", wrong=(("yes", "It is the result of an operation."),)
    ),
)

STUB_C = '''\
def loss_of(x):
    """The squared sum of x, a tensor. backward fails with "does not require grad": find out why."""
    total = x.sum().item()
    return x.mean() * 0 + total**2
'''

SOLUTION_C = """\
def loss_of(x):
    total = x.sum()
    return total**2
"""


def _squared_sum(x):
    return {"loss": sum(x) ** 2, "x.grad": [2 * sum(x)] * len(x)}


EX_C = Exercise(
    id="15.c",
    title="item() in the loss",
    kind=Kind.DEBUG,
    points=2,
    minutes=5,
    difficulty=1,
    question="The loss is right and the gradient is zero: somewhere the graph was left. Repair it.",
    entry="loss_of",
    stub=STUB_C.replace(
        'backward fails with "does not require grad": find out why.', "The loss is right, x.grad is all zero: find out why."
    ),
    solution=SOLUTION_C,
    probes=(
        Probe(
            "three numbers",
            ([1.0, 2.0, 4.0],),
            _squared_sum,
            drivers.tensor_loss,
            rtol=1e-9,
            draw=lambda r: ([round(r.uniform(-2, 2), 2) for _ in range(3)],),
        ),
        Probe(
            "two numbers",
            ([-0.5, 3.0],),
            _squared_sum,
            drivers.tensor_loss,
            rtol=1e-9,
            draw=lambda r: ([-0.5, round(r.uniform(2, 4), 2)],),
        ),
    ),
    bank=(
        Wrong(
            "float instead of item",
            SOLUTION_C.replace("x.sum()\n", "float(x.sum())\n").replace("total**2", "x.mean() * 0 + total**2"),
            "float() leaves the graph as item() does: what comes out is a plain number without a history.",
            on=("three numbers",),
        ),
        Wrong(
            "the loss made a leaf",
            "import minigrad as torch\n\n\ndef loss_of(x):\n    return torch.tensor(x.sum().item() ** 2, dtype=x.dtype, "
            "requires_grad=True)\n",
            "requires_grad=True on the loss makes it a leaf: the error falls silent, and nothing reaches x.",
            when=lambda seen: isinstance(seen.value("three numbers"), dict) and seen.value("three numbers").get("x.grad") is None,
        ),
        Wrong(
            "half of the square",
            SOLUTION_C.replace("total**2", "total * total.detach()"),
            "One of the two factors is detached, so half of the gradient is missing.",
            on=("three numbers",),
        ),
        Wrong(
            "squares of the entries",
            SOLUTION_C.replace("x.sum()\n    return total**2", "x\n    return (total**2).sum()"),
            "That is the sum of squares. The square of the sum is asked.",
            on=("three numbers",),
        ),
        Wrong(
            "not squared", SOLUTION_C.replace("total**2", "total"), "That is the sum itself. Its square is asked.", on=("three numbers",)
        ),
    ),
    hints=Hints(
        "Which lines give a tensor, and which a plain number?",
        "item(), float(), numpy() and tolist() leave the graph: use them for printing, not inside the loss.",
        "log.append(loss.item()) is right; total_loss += loss.item() cannot be differentiated.",
    ),
    reveal="Without item() the sum stays in the graph.",
    fresh=lambda r: (
        lambda a: Fresh(f"x = {a}; y = x * x.item(). What is x.grad after y.backward()?", a, wrong=((2 * a, "item() leaves the graph."),))
    )(r.randint(3, 9)),
)

STUB_D = '''\
import minigrad as torch


def fit(x, y, steps, lr):
    """Fit y = w * x, starting at w = 0. Fails in the second step: .grad is None. Find out why. Returns w as a float."""
    w = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    for _ in range(steps):
        loss = ((w * x - y) ** 2).mean()
        loss.backward()
        w = w - lr * w.grad
    return w.item()
'''

SOLUTION_D = """\
import minigrad as torch


def fit(x, y, steps, lr):
    w = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    for _ in range(steps):
        w.grad = None
        loss = ((w * x - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= lr * w.grad
    return w.item()
"""


def _fit(x, y, steps, lr):
    w = 0.0
    for _ in range(steps):
        w -= lr * sum(2 * (w * a - b) * a for a, b in zip(x, y, strict=True)) / len(x)
    return w


XS, YS = [1.0, 2.0, 3.0], [2.0, 3.5, 6.5]


def _draw_d(r, steps, lr):
    return XS, [round(r.uniform(1, 5), 2) for _ in range(3)], steps, lr


EX_D = Exercise(
    id="15.d",
    title="The parameter that is no leaf any more",
    kind=Kind.DEBUG,
    points=3,
    minutes=8,
    difficulty=2,
    question="w = w - lr * w.grad replaces the leaf by a result. Repair the loop.",
    entry="fit",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        Probe("one step", (XS, YS, 1, 0.05), _fit, drivers.tensor_fit, rtol=1e-9, draw=lambda r: _draw_d(r, 1, 0.05)),
        Probe("two steps", (XS, YS, 2, 0.05), _fit, drivers.tensor_fit, rtol=1e-9, draw=lambda r: _draw_d(r, 2, 0.05)),
        Probe(
            "thirty steps",
            (XS, YS, 30, 0.02),
            _fit,
            drivers.tensor_fit,
            2,
            rtol=1e-9,
            draw=lambda r: _draw_d(r, 30, 0.02),
        ),
        Probe(
            "the graph of a step is let go",
            (XS, YS, 3, 0.05),
            {"keeps": ""},
            drivers.tensor_fit_keeps,
            0.5,
            draw=lambda r: _draw_d(r, 3, 0.05),
            note=_hidden_write,
        ),
    ),
    bank=(
        Wrong(
            "retain_graph everywhere",
            STUB_D.replace("backward()", "backward(retain_graph=True)"),
            "retain_graph=True keeps a graph for one more pass through it. Here every step makes a graph of its own: nothing is cured, and "
            "memory is kept. Look at what w is after the first update.",
            when=lambda seen: seen.value("the graph of a step is let go")["keeps"] == "retain_graph",
        ),
        Wrong(
            "never emptied",
            SOLUTION_D.replace("        w.grad = None\n", ""),
            "w stays a leaf now, and its gradients pile up: empty .grad in every step.",
            on=("one step", "two steps"),
        ),
        Wrong(
            "still replaced",
            STUB_D.replace("w = w - lr * w.grad", "w = w - lr * (w.grad if w.grad is not None else 0)"),
            "Where there is no gradient, no step is made: only the first step counts. Find out why .grad is None.",
            on=("one step", "two steps"),
        ),
        Wrong(
            "retain_grad on the result",
            STUB_D.replace("        w = w - lr * w.grad\n", "        w = w - lr * w.grad\n        w.retain_grad()\n"),
            "The numbers are right, and w drags every earlier update along: each step walks back to the first w. Change the leaf itself, "
            "under no_grad.",
            when=lambda seen: seen.value("the graph of a step is let go")["keeps"] == "grows",
        ),
        Wrong(
            "unchanged in substance",
            STUB_D.replace("        w = w", "        w = 1.0 * w"),
            "w is the result of an operation after the first step, so backward fills no .grad. Change the leaf itself, under no_grad.",
            when=lambda seen: bool(seen.error("two steps")) and not seen.error("one step"),
        ),
        Wrong(
            "uphill",
            SOLUTION_D.replace("w -= lr", "w += lr"),
            "The gradient points uphill: go the other way.",
            on=("one step",),
        ),
        Wrong(
            "leaf in place, recorded",
            SOLUTION_D.replace("        with torch.no_grad():\n            w -= lr * w.grad", "        w -= lr * w.grad"),
            "A leaf that requires a gradient must not be written in place while recording: put the update under no_grad.",
            when=lambda seen: seen.error("one step") == "RuntimeError",
        ),
        Wrong(
            "closed form",
            "import minigrad as torch\n\n\ndef fit(x, y, steps, lr):\n    return ((x * y).sum() / (x * x).sum()).item()\n",
            "That is where the loop would end after very many steps. The loop itself is asked: so many steps, of this size.",
            on=("one step", "two steps"),
        ),
    ),
    hints=Hints(
        "What is w after the first update: a leaf, or a result?",
        "Only leaves get .grad. Update in place under torch.no_grad(), and empty .grad before each backward.",
        "scale = scale * 0.9 makes a result; with torch.no_grad(): scale *= 0.9 changes the leaf.",
    ),
    reveal="with torch.no_grad(): w -= lr * w.grad, and w.grad = None at the top.",
    fresh=lambda r: Fresh(
        "Two rounds of w = w - 0.1 * w.grad: in which round (1 or 2) is .grad None after backward?",
        2,
        wrong=((1, "In the first round w is still a leaf."),),
    ),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
