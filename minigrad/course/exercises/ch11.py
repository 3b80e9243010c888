"""Chapter 11, derivatives of derivatives: its exercises."""

from __future__ import annotations

import math
from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, ask, but
from . import _truths

EX_A = ask(
    "11.a",
    "Twice",
    Kind.PREDICT,
    minutes=3,
    level=1,
    text="y = x³ at x = 2. What are the first and the second derivative?",
    answer={"first": 12, "second": 12},
    wrong=(
        ("value", {"first": 8}, "first: that is y, the value."),
        ("second of the square", {"second": 6}, "second: 6x, and x is not 1."),
        ("constant", {"second": 2}, "second: differentiate 3x² once more."),
        ("zero", {"second": 0}, "second: 3x² still depends on x. (PyTorch would not know it without create_graph.)"),
    ),
    hints=(
        "Write the first derivative as a formula and differentiate it again.",
        "The second derivative is the derivative of the first, as a function of x, before numbers are put in.",
        "y = x⁴ at x = 10: 4x³ gives 4,000, and differentiated again it gives 1,200.",
    ),
    reveal="3x² = 12 and 6x = 12: equal only at x = 2.",
    fresh=lambda r: (
        lambda x: Fresh(f"y = x³ at x = {x}. What is the second derivative?", 6 * x, wrong=((3 * x * x, "That is the first."),))
    )(r.randint(3, 9)),
)

STUB_B = '''\
from math import cos, sin


def derivatives(x, y):
    """For z = sin(x·y): the list [dz/dx, dz/dy, d²z/dx², d²z/dy²]."""
    return [..., ..., ..., ...]
'''

SOLUTION_B = '''\
from math import cos, sin


def derivatives(x, y):
    """For z = sin(x·y): the list [dz/dx, dz/dy, d²z/dx², d²z/dy²]."""
    q = x * y
    return [y * cos(q), x * cos(q), -y * y * sin(q), -x * x * sin(q)]
'''


_b = partial(but, SOLUTION_B)


def _draw_point(r, low, high):
    return round(r.uniform(0.5, 2), 2), round(r.uniform(low, high), 2)


def _derivatives(x, y):
    return [y * math.cos(x * y), x * math.cos(x * y), -y * y * math.sin(x * y), -x * x * math.sin(x * y)]


EX_B = Exercise(
    id="11.b",
    title="Second derivatives of sin(x·y)",
    kind=Kind.FILL_IN,
    points=2,
    minutes=6,
    difficulty=2,
    question="z = sin(x·y). Give both first and both second derivatives; at (2, 4) the first are about -0.58 and -0.29.",
    entry="derivatives",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe(
            "at (2, 4)",
            (2.0, 4.0),
            [-0.5820001352344542, -0.2910000676172271, -15.829731945974109, -3.957432986493527],
            rtol=1e-9,
            draw=lambda r: _draw_point(r, 2.1, 4),
        ),
        Probe("at (0.5, -1)", (0.5, -1.0), _derivatives, rtol=1e-9, draw=lambda r: _draw_point(r, -2, -0.5)),
        Probe("at (1.3, 0.7)", (1.3, 0.7), _derivatives, rtol=1e-9, draw=lambda r: _draw_point(r, 0.5, 2)),
    ),
    bank=(
        Wrong(
            "sign lost",
            _b("-y * y * sin(q), -x * x * sin(q)", "y * y * sin(q), x * x * sin(q)"),
            "The derivative of cos is -sin: both second derivatives have the wrong sign.",
            on=("at (2, 4)",),
        ),
        Wrong(
            "swapped",
            _b("-y * y * sin(q), -x * x * sin(q)", "-x * x * sin(q), -y * y * sin(q)"),
            "y² goes with x: each derivative with respect to x brings out one factor y.",
            on=("at (2, 4)",),
        ),
        Wrong(
            "first ones swapped",
            _b("y * cos(q), x * cos(q)", "x * cos(q), y * cos(q)"),
            "The derivative of x·y with respect to x is the *other* factor.",
            on=("at (2, 4)",),
        ),
        Wrong(
            "factor once",
            _b("-y * y * sin(q), -x * x * sin(q)", "-y * sin(q), -x * sin(q)"),
            "Each of the two differentiations brings out a factor: one is missing.",
            on=("at (2, 4)",),
        ),
        Wrong(
            "chain forgotten",
            _b("y * cos(q), x * cos(q)", "cos(q), cos(q)"),
            "Multiply by the derivative of the inside, x·y.",
            on=("at (2, 4)",),
        ),
        Wrong(
            "degrees",
            _b("    q = x * y", "    from math import radians\n    q = radians(x * y)"),
            "Angles in a program are in radians: nothing has to be converted.",
            on=("at (2, 4)",),
        ),
        Wrong(
            "mixed derivative",
            _b("-y * y * sin(q), -x * x * sin(q)", "cos(q) - q * sin(q), cos(q) - q * sin(q)"),
            "That is the mixed derivative, first by x and then by y. Wanted is twice by x, and twice by y.",
            on=("at (2, 4)",),
        ),
        Wrong(
            "one factor of each",
            _b("-y * y * sin(q), -x * x * sin(q)", "-x * y * sin(q), -x * y * sin(q)"),
            "Differentiating twice by x brings out the same factor twice: x and y do not mix.",
            on=("at (2, 4)",),
        ),
        Wrong(
            "no inner factor",
            _b("-y * y * sin(q), -x * x * sin(q)", "-sin(q), -sin(q)"),
            "The inside, x·y, contributes a factor at each differentiation: both are missing in the second derivatives.",
            on=("at (2, 4)",),
        ),
    ),
    hints=Hints(
        "Call the inside q. What is dq/dx, and does it depend on x?",
        "dz/dx = cos(q) · dq/dx. Differentiate again: dq/dx does not depend on x, so only cos(q) changes.",
        "z = exp(x·y): dz/dx = y·exp(q), d²z/dx² = y²·exp(q).",
    ),
    reveal="y cos(q), x cos(q), -y² sin(q), -x² sin(q).",
    fresh=lambda r: (
        lambda x: Fresh(
            f"z = sin(3x) at x = {x}. What is the second derivative?",
            -9 * math.sin(3 * x),
            wrong=((9 * math.sin(3 * x), "The derivative of cos is -sin."),),
        )
    )(round(r.uniform(0.2, 0.9), 1)),
)

EX_C = ask(
    "11.c",
    "Three names that sound alike",
    Kind.EXPLAIN,
    minutes=4,
    level=2,
    text="retain_grad, retain_graph or create_graph?",
    comment='Which one is it? Replace each None by "retain_grad", "retain_graph" or "create_graph".',
    answer={
        "see .grad of a value in the middle": "retain_grad",
        "run backward twice through the same graph": "retain_graph",
        "differentiate a gradient": "create_graph",
        "must be called before backward, on a tensor": "retain_grad",
        "a penalty on the size of the gradient": "create_graph",
    },
    wrong=(
        (
            "middle by retain_graph",
            {"see .grad of a value in the middle": "retain_graph"},
            "The middle: keeping the graph keeps saved values, not gradients. Ask the tensor itself to keep its own.",
        ),
        (
            "twice by create_graph",
            {"run backward twice through the same graph": "create_graph"},
            "Twice: it would work, and record a second graph that nobody needs.",
        ),
        (
            "penalty by retain_graph",
            {"a penalty on the size of the gradient": "retain_graph"},
            "Penalty: the gradient must itself have a history; keeping the old graph gives it none.",
        ),
        (
            "a method by its argument's name",
            {"must be called before backward, on a tensor": "retain_graph"},
            "On a tensor: retain_graph is an argument of backward. Which of the three is a method?",
        ),
        (
            "gradient by retain_graph",
            {"differentiate a gradient": "retain_graph"},
            "To differentiate a gradient, the backward pass itself must be recorded.",
        ),
        (
            "twice by retain_grad",
            {"run backward twice through the same graph": "retain_grad"},
            "Twice: retain_grad is a method of a tensor that keeps its own .grad. The question is what backward keeps or records.",
        ),
        (
            "gradient by retain_grad",
            {"differentiate a gradient": "retain_grad"},
            "Gradient: retain_grad is a method of a tensor that keeps its own .grad. The question is what backward keeps or records.",
        ),
        (
            "penalty by retain_grad",
            {"a penalty on the size of the gradient": "retain_grad"},
            "Penalty: retain_grad is a method of a tensor that keeps its own .grad. The question is what backward keeps or records.",
        ),
        (
            "middle by create_graph",
            {"see .grad of a value in the middle": "create_graph"},
            "The middle: recording the backward pass keeps no .grad. Ask the tensor itself to keep its own.",
        ),
        (
            "method by create_graph",
            {"must be called before backward, on a tensor": "create_graph"},
            "On a tensor: create_graph is an argument of backward. Which of the three is a method?",
        ),
    ),
    hints=(
        "What is kept, by whom, and for what?",
        "retain_grad is a method of a tensor; the other two are arguments of backward and autograd.grad.",
        "Newton's method needs f'' from f': the first pass must be recorded.",
    ),
    reveal="retain_grad keeps one tensor's .grad, retain_graph keeps saved values, create_graph records the backward pass.",
    fresh=lambda r: Fresh(
        "Two losses share an encoder and call backward one after the other. Which argument does the first call need?",
        "retain_graph",
        wrong=(("create_graph", "No gradient is differentiated here."), ("retain_grad", "That is a tensor's method.")),
    ),
)

STUB_D = '''\
def hvp(grad, x, v, h=1e-4):
    """The Hessian of f at x, times v, without building the Hessian.

    grad(x) gives the gradient of f at x. x and v are numpy arrays of the same length; so is the result.
    grad may be called twice, however long x is.
    """
    ...
'''

SOLUTION_D = """\
def hvp(grad, x, v, h=1e-4):
    return (grad(x + h * v) - grad(x - h * v)) / (2 * h)
"""

COLUMNS = (
    "import numpy as np\n\n\ndef hvp(grad, x, v, h=1e-4):\n    H = np.array([(grad(x + h * e) - grad(x - h * e)) / (2 * h) "
    "for e in np.eye(len(x))])\n    return H @ v\n"
)


def _few_calls(got, *args):
    if not isinstance(got, dict) or not isinstance(got.get("calls"), int):
        return "grad must be called, and a result returned"
    if got["calls"] > 2:
        return "grad was called more than twice, and more often the longer x is"
    return None


EX_D = Exercise(
    id="11.d",
    title="Hessian times vector",
    kind=Kind.FILL_IN,
    points=3,
    minutes=10,
    difficulty=3,
    question="The Hessian of 200 parameters has 40,000 entries. Multiply it by v with two gradient calls, without building it.",
    entry="hvp",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        Probe(
            "three parameters",
            (3, 1),
            driver=drivers.hvp_result,
            accept=lambda got, n, seed: _truths.hvp_complaint(got, n, seed),
            draw=lambda r: (3, r.randint(3, 99)),
        ),
        Probe(
            "200 parameters",
            (200, 2),
            driver=drivers.hvp_result,
            accept=lambda got, n, seed: _truths.hvp_complaint(got, n, seed),
            draw=lambda r: (200, r.randint(3, 99)),
        ),
        Probe("calls of grad", (200, 2), driver=drivers.hvp_calls, accept=_few_calls, draw=lambda r: (r.randint(150, 250), 2)),
    ),
    bank=(
        Wrong(
            "builds the Hessian",
            COLUMNS,
            "The numbers are right, but every column of the Hessian was computed. Only its product with v is wanted: step along v itself.",
            when=lambda seen: (seen.value("calls of grad") or {}).get("calls", 0) > 10,
        ),
        Wrong(
            "one-sided",
            SOLUTION_D.replace("grad(x - h * v)) / (2 * h)", "grad(x)) / h"),
            "A one-sided difference: its error shrinks only like h. Step to both sides.",
            on=("200 parameters",),
            rtol=1e-3,
        ),
        Wrong(
            "not divided by two",
            SOLUTION_D.replace("(2 * h)", "h"),
            "Twice too large: how far apart are the two points?",
            on=("200 parameters",),
            rtol=1e-3,
        ),
        Wrong(
            "gradient times v",
            "def hvp(grad, x, v, h=1e-4):\n    return grad(x) * v\n",
            "That is the gradient, entry by entry times v. Wanted is how the gradient changes along v.",
            when=lambda seen: (seen.value("calls of grad") or {}).get("calls") == 1,
        ),
        Wrong(
            "v ignored",
            SOLUTION_D.replace("h * v", "h"),
            "Every parameter moves by the same step: move along v.",
            on=("200 parameters",),
            rtol=1e-3,
        ),
        Wrong(
            "sign",
            "def hvp(grad, x, v, h=1e-4):\n    return (grad(x - h * v) - grad(x + h * v)) / (2 * h)\n",
            "The sign is reversed: the later point comes first.",
            on=("200 parameters",),
            rtol=1e-3,
        ),
        Wrong(
            "a whole step",
            "def hvp(grad, x, v, h=1e-4):\n    return (grad(x + v) - grad(x - v)) / 2\n",
            "A step of all of v is too long: the gradient bends on the way. Step by h·v, and divide by 2h.",
            on=("200 parameters",),
            rtol=1e-3,
        ),
        Wrong(
            "v normalised",
            "def hvp(grad, x, v, h=1e-4):\n    v = v / (v @ v) ** 0.5\n    return (grad(x + h * v) - grad(x - h * v)) / (2 * h)\n",
            "The direction was scaled to length one. The product is linear in v, so its length belongs to the result.",
            on=("200 parameters",),
            rtol=1e-3,
        ),
        Wrong(
            "a whole step to one side",
            "def hvp(grad, x, v, h=1e-4):\n    return grad(x + v) - grad(x)\n",
            "A step of all of v is too long: the gradient bends on the way. Step by h·v to both sides, and divide by 2h.",
            on=("200 parameters",),
            rtol=1e-3,
        ),
    ),
    hints=Hints(
        "How does the gradient change when x moves a little along v?",
        "H v is the directional derivative of the gradient along v: a central difference of grad, with x ± h·v.",
        "J v for a function F: (F(x + h v) - F(x - h v)) / (2h), whatever the size of J.",
    ),
    reveal="Two gradients, at x + hv and x - hv. With create_graph it takes one gradient and one more backward, and no h.",
    fresh=lambda r: (lambda n: Fresh(f"{n} parameters. How many numbers has the Hessian?", n * n, wrong=((n, "That is the gradient."),)))(
        r.choice([30, 50, 1000])
    ),
)


EXERCISES = (EX_A, EX_B, EX_C, EX_D)
