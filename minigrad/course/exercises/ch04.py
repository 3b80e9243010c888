"""Chapter 04, backward by hand: its exercises, which are ledgers to fill in."""

from __future__ import annotations

from ..exercise import Fresh, Kind, ask

EX_A = ask(
    "04.a",
    "The ledger of c = (3x + 1)²",
    Kind.FILL_IN,
    minutes=6,
    level=1,
    points=2,
    text="x = 2, a = 3x, b = a + 1, c = b², and the seed on c is 1. Fill in the local derivative of the square and the three gradients.",
    comment="x = 2, a = 3x, b = a + 1, c = b². The seed on c is 1. Fill in the ledger: replace each None by a number.",
    answer={"dc/db": 14, "b.grad": 14, "a.grad": 14, "x.grad": 42},
    wrong=(
        (
            "nothing was multiplied",
            {"b.grad": 1, "a.grad": 1, "x.grad": 3},
            "Only local derivatives are filled in. Multiply each of them by the gradient that comes from the line below.",
        ),
        (
            "stopped before ×3",
            {"x.grad": 14},
            "x.grad: the step ×3 is still to do. Multiply what arrives at a by its local derivative.",
        ),
        ("b instead of 2b", {"dc/db": 7}, "dc/db: the derivative of b² is 2b, not b."),
        ("b instead of 2b, in the gradient", {"b.grad": 7}, "b.grad: the derivative of b² is 2b, not b."),
        ("value of c", {"dc/db": 49}, "dc/db: that is the value of c. How fast does b² change with b?"),
        (
            "×3 one step early",
            {"a.grad": 42},
            "a.grad: between a and b stands only +1, which passes the gradient on as it is. The ×3 comes later.",
        ),
        ("only the last local", {"x.grad": 3}, "x.grad: 3 is the local derivative. Multiply it by the gradient that arrives at a."),
        ("local derivative of +1", {"a.grad": 1}, "a.grad: 1 is the local derivative. Multiply it by the gradient of b."),
        (
            "local derivative of the last step",
            {"b.grad": 1},
            "b.grad: 1 is the seed on c. Multiply it by the local derivative of the square.",
        ),
    ),
    hints=(
        "First the values: what is b? Then go backwards, one line at a time.",
        "Gradient of an input = local derivative × gradient of the output. A sum has local derivative 1.",
        "x = 2, a = 5x, b = a + 2, c = b²: b = 12, so dc/db = 24. b.grad and a.grad are 24, and x.grad is 5 · 24 = 120.",
    ),
    reveal="b = 7, so dc/db = 14; +1 passes 14 on to a; ×3 makes 42 of it at x.",
    fresh=lambda r: (
        lambda k, x: Fresh(
            f"x = {x}, a = {k}x, b = a + 1, c = b². What is x.grad?",
            2 * (k * x + 1) * k,
            wrong=((2 * (k * x + 1), f"The step ×{k} is still to do."),),
        )
    )(r.randint(4, 6), r.randint(3, 5)),
)

EX_B = ask(
    "04.b",
    "Two paths",
    Kind.PREDICT,
    minutes=3,
    level=1,
    text="c = x² + 5x. What is dc/dx at x = 3?",
    answer=11,
    wrong=(
        ("only the square", 6, "That is one of two paths from x to c: add what the other one brings."),
        ("only the line", 5, "That is one of two paths from x to c: add what the other one brings."),
        ("slope of x² without the 2", 8, "The slope of x² is 2x, not x."),
        ("multiplied", 30, "Add over paths, do not multiply: multiplication is for the steps along one path."),
        ("the value", 24, "That is c itself."),
    ),
    hints=(
        "How many arrows leave x in the graph?",
        "Each path contributes the product of its local derivatives; the contributions are added.",
        "c = x³ + 2x at x = 2: 3 · 4 = 12 along the first path, 2 along the second, together 14.",
    ),
    reveal="2 · 3 = 6 and 5: the gradient at x is their sum, 11.",
    fresh=lambda r: (
        lambda k, x: Fresh(f"c = x² + {k}x at x = {x}. What is dc/dx?", 2 * x + k, wrong=((2 * x * k, "Add, do not multiply."),))
    )(r.randint(2, 9), r.randint(4, 9)),
)

EX_C = ask(
    "04.c",
    "A line",
    Kind.FILL_IN,
    minutes=3,
    level=1,
    text="y = w·x + b with w = 3, x = 2, b = 1. Fill in the three gradients.",
    answer={"w.grad": 2, "x.grad": 3, "b.grad": 1},
    wrong=(
        ("swapped", {"w.grad": 3, "x.grad": 2}, "In a product, the derivative with respect to one factor is the *other* factor."),
        ("b's value forgotten", {"b.grad": 0}, "b is not a constant here: moving b by a little moves y by as much."),
        ("the value of y", {"b.grad": 7}, "b.grad: that is y. How far does y move when b moves by a little?"),
        ("values", {"w.grad": 6}, "w.grad: that is the value of the product. How fast does it change with w?"),
    ),
    hints=(
        "Move one of the three by 0.1 and see by how much y moves.",
        "∂(wx)/∂w = x and ∂(wx)/∂x = w. A sum passes its gradient to both sides.",
        "y = w·x + b with w = 10, x = 7, b = 4: w.grad is 7, x.grad is 10, and b receives the seed unchanged.",
    ),
    reveal="w gets x = 2, x gets w = 3, b gets 1.",
    fresh=lambda r: (
        lambda w, x: Fresh(f"y = w·x + b with w = {w}, x = {x}, b = 1. What is w.grad?", x, wrong=((w, "The *other* factor."),))
    )(r.randint(5, 9), r.randint(10, 19)),
)

EX_D = ask(
    "04.d",
    "Fan-out",
    Kind.FILL_IN,
    minutes=5,
    level=2,
    text="x = 2, y = x·x, a = y + 1, b = 2y, c = a + b. What is dc/dx?",
    answer=12,
    wrong=(
        ("one user of y", 8, "y is used twice, by a and by b: both send a share."),
        ("the other user only", 4, "y is used twice, by a and by b: both send a share."),
        ("y's gradient", 3, "That is the gradient of y. One more step back: y = x·x."),
        ("one slot of x·x", 6, "x stands in both slots of x·x, and each slot receives a share."),
        ("the value of c", 13, "That is the value of c."),
        ("a and b multiplied", 24, "Contributions of different users are added; you may have multiplied somewhere they meet."),
    ),
    hints=(
        "Compute the gradient of y first. Who sends something to y?",
        "A value's gradient is the sum of what all its users send. Only when it is complete does the value send on.",
        "p = x·x at x = 5, q = 3p, s = q + p: p receives 3 + 1 = 4, so ds/dx = 4 · 2 · 5 = 40.",
    ),
    reveal="y receives 1 from a and 2 from b, together 3; the local derivative of x·x is 2x = 4; 3 · 4 = 12.",
    fresh=lambda r: (
        lambda k, x: Fresh(
            f"x = {x}, y = x·x, a = y + 1, b = {k}y, c = a + b. What is dc/dx?",
            (k + 1) * 2 * x,
            wrong=((k * 2 * x, "a sends a share as well."),),
        )
    )(r.randint(3, 7), r.randint(3, 6)),
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
