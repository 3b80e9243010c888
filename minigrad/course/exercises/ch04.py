"""Chapter 04, backward by hand: a ledger to fill in, ledgers to audit, and a program that fills them in."""

from __future__ import annotations

from functools import partial

from ...scalar import Value
from ...scalar import max as largest
from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, about, ask, but

EX_A = ask(
    "04.a",
    "A value with two users",
    Kind.WARM_UP,
    minutes=6,
    level=1,
    points=1,
    text="x = 5, a = 4x, b = a², c = b + 3a. The seed on c is 1. Fill in the ledger.",
    comment="x = 5, a = 4x, b = a², c = b + 3a. The seed on c is 1.\nFill in the ledger: replace each None by a number.",
    answer={"db/da": 40, "b.grad": 1, "a.grad": 43, "x.grad": 172},
    wrong=(
        (
            "value instead of derivative",
            {"db/da": 400},
            "db/da: that is the value of b. How fast does a² change with a?",
        ),
        ("a instead of 2a", {"db/da": 20}, "db/da: the derivative of a² is 2a, not a."),
        ("one user of a", {"a.grad": 40}, "a.grad: a has a second user. c uses it directly, not only through b."),
        ("the other user of a", {"a.grad": 3}, "a.grad: a has a second user. b uses it as well."),
        (
            "multiplied where paths meet",
            {"a.grad": 120},
            "a.grad: where two contributions meet they are added, not multiplied.",
        ),
        ("×4 still to do", {"x.grad": 43}, "x.grad: one row is missing. a = 4x has a local derivative, too."),
        (
            "local without upstream",
            {"x.grad": 4},
            "x.grad: that is the local derivative. Multiply it by the gradient of a.",
        ),
        ("one path only", {"x.grad": 160}, "x.grad: only one of the two contributions to a has been counted."),
        ("the other path only", {"x.grad": 12}, "x.grad: only one of the two contributions to a has been counted."),
        ("b's value", {"b.grad": 400}, "b.grad: that is the value of b. How far does c move when b moves by a little?"),
    ),
    hints=(
        "First the values. Then go backward, one row at a time, and ask at each node how many users it has.",
        "A row: upstream gradient × local derivative. A node's gradient is the sum of the rows that end in it.",
        "x = 3, a = 2x, b = a², c = b + 7a: a = 6, so db/da = 12 and a.grad = 12 + 7 = 19. Then x.grad = 19 · 2 = 38.",
    ),
    working="""
        x = 5
        a = 4 * x
        b_grad = 1
        db_da = 2 * a
        a_grad = db_da * b_grad + 3
        return {"db/da": db_da, "b.grad": b_grad, "a.grad": a_grad, "x.grad": a_grad * 4}
    """,
    reveal="b gets the seed. a gets 2a = 40 through b and 3 directly, together 43; the row of a = 4x makes 172 of it at x.",
    fresh=lambda r: (
        lambda k, m, x: Fresh(
            f"x = {x}, a = {k}x, b = a², c = b + {m}a. What is x.grad?",
            (2 * k * x + m) * k,
            wrong=((2 * k * x * k, "a has a second user."), (2 * k * x + m, f"The step ×{k} is still to do.")),
        )
    )(r.randint(2, 5), r.randint(3, 9), r.randint(2, 6)),
)

EX_B = ask(
    "04.b",
    "The auditor",
    Kind.PUZZLE,
    minutes=6,
    level=2,
    points=2,
    text="In each of the three ledgers one row is the cause of all that is wrong. Which row, and what is the mistake?",
    comment="For each ledger the number of the row where it first goes wrong, and the mistake:\n"
    '"swap" (the wrong factor of a product), "upstream" (not multiplied by the upstream gradient),\n'
    '"sum" (a contribution is missing where paths meet) or "sign".',
    answer={"A: row": 4, "A: mistake": "swap", "B: row": 5, "B: mistake": "sum", "C: row": 3, "C: mistake": "upstream"},
    wrong=(
        (
            "A: the consequence",
            {"A: row": 6},
            "A: row: that row only adds up what the rows above say. One of them is wrong already.",
        ),
        (
            "A: the right half",
            {"A: row": 5},
            "A: row: the local derivative of u·v with respect to v is u, as the row has it.",
        ),
        *(
            (f"A: row {n}", {"A: row": n}, "A: row: that row follows from those above it. Look further down.")
            for n in (1, 2, 3)
        ),
        *(
            (f"B: row {n}", {"B: row": n}, "B: row: that row follows from those above it. Look further down.")
            for n in (1, 2, 3)
        ),
        *(
            (f"C: row {n}", {"C: row": n}, "C: row: that row follows from those above it. Look further down.")
            for n in (1, 2)
        ),
        ("A: sign", {"A: mistake": "sign"}, "A: mistake: nothing in this program has a minus sign."),
        ("B: sign", {"B: mistake": "sign"}, "B: mistake: nothing in this program has a minus sign."),
        ("C: sum", {"C: mistake": "sum"}, "C: mistake: no value has two users here, so no paths meet."),
        ("A: sum", {"A: mistake": "sum"}, "A: mistake: both contributions to u are there. Is each of them right?"),
        (
            "A: upstream",
            {"A: mistake": "upstream"},
            "A: mistake: the upstream gradient is in the row. Look at its other factor.",
        ),
        ("B: the consequence", {"B: row": 6}, "B: row: its arithmetic is right; the number it starts from is not."),
        (
            "B: the last product",
            {"B: row": 4},
            "B: row: upstream times local is right there. What happens to it afterwards?",
        ),
        ("B: upstream", {"B: mistake": "upstream"}, "B: mistake: each product is right. How many rows end in a?"),
        ("B: swap", {"B: mistake": "swap"}, "B: mistake: there is no product of two values in this program."),
        (
            "C: another row",
            {"C: row": 4},
            "C: row: that row is upstream gradient times the value of w, as it should be.",
        ),
        (
            "C: the last row",
            {"C: row": 5},
            "C: row: t has a minus sign in front of it, so the sign of its gradient is right.",
        ),
        ("C: sign", {"C: mistake": "sign"}, "C: mistake: the sign is wrong as well, but something larger is missing."),
        (
            "C: swap",
            {"C: mistake": "swap"},
            "C: mistake: the local derivative is the right factor. It is alone, though.",
        ),
    ),
    hints=(
        "Compute each ledger yourself, from the top, and stop at the first row that differs.",
        "Three checks for every row: is the upstream gradient complete, is the local derivative right, is the product right?",
        "p = u·v with u = 10, v = 7 and upstream gradient 9: the row to u has 9 · 7. A row that says 9 · 10 has swapped the factors, and "
        "everything that u passes on is wrong as a consequence.",
    ),
    reveal="A, row 4: the local derivative to u is v. B, row 5: of the two rows that end in a, one is missing. C, row 3: local alone.",
    fresh=lambda r: (
        lambda u, v, g: Fresh(
            f"p = u·v with u = {u}, v = {v}, and p.grad = {g}. What does p pass to u?",
            g * v,
            wrong=((g * u, "The *other* factor."),),
        )
    )(r.randint(2, 5), r.randint(6, 9), r.randint(2, 7)),
)

# ---- 04.c: a program that fills in ledgers --------------------------------------------------------------------------------------

STUB_C = '''\
def run_ledger(rows, seed=1.0):
    """The gradient of every name in the ledger, as a dict.

    rows: (result, operation, [(name, value), (name, value)]), the last operation first.
    The operations are "+", "-", "*" and "max". For L = w * x + b, at w = 3, x = 2, b = 1:

        [("L", "+", [("p", 6.0), ("b", 1.0)]), ("p", "*", [("w", 3.0), ("x", 2.0)])]

    seed: the gradient of the first row's result.
    """
    ...
'''

SOLUTION_C = (
    STUB_C[: STUB_C.index("    ...")]
    + """\
    grads = {rows[0][0]: seed}
    for result, operation, ((a, left), (b, right)) in rows:
        if operation == "*":
            to_a, to_b = right, left
        elif operation == "max":
            to_a, to_b = (1.0, 0.0) if left > right else (0.0, 1.0)
        else:
            to_a, to_b = 1.0, -1.0 if operation == "-" else 1.0
        grads[a] = grads.get(a, 0.0) + to_a * grads[result]
        grads[b] = grads.get(b, 0.0) + to_b * grads[result]
    return grads
"""
)

_c = partial(but, SOLUTION_C)

# name: the leaves, and the program in the order in which it runs
PROGRAMS = {
    "a line": ("wxb", [("p", "*", "w", "x"), ("L", "+", "p", "b")]),
    "a difference": ("at", [("L", "-", "a", "t")]),
    "max passes to the larger": ("abc", [("m", "max", "a", "b"), ("L", "*", "m", "c")]),
    "a value with two users": ("ab", [("p", "*", "a", "b"), ("q", "-", "p", "a"), ("L", "*", "q", "p")]),
    "a product with itself": ("xt", [("d", "-", "x", "t"), ("L", "*", "d", "d")]),
    "a long and a short path": (
        "xy",
        [("p", "*", "x", "y"), ("q", "+", "p", "y"), ("r", "*", "q", "p"), ("L", "-", "r", "x")],
    ),
    "with another seed": ("wxb", [("p", "*", "w", "x"), ("L", "*", "p", "b")]),
}
COMPUTE = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "max": lambda x, y: largest(x, y)}


def _ledger(name, numbers, seed):
    """A program at some inputs as rows in backward order, with the value of every input."""
    leaves, program = PROGRAMS[name]
    at = {leaf: Value(x) for leaf, x in zip(leaves, numbers, strict=True)}
    rows = []
    for result, operation, a, b in program:
        at[result] = COMPUTE[operation](at[a], at[b])
        rows.append((result, operation, [(a, at[a].data), (b, at[b].data)]))
    return rows[::-1], seed


def _gradients(rows, seed):
    """By minigrad's own engine, from the program that the rows describe."""
    made: dict[str, Value] = {}
    for result, operation, pairs in reversed(rows):
        a, b = (made.setdefault(name, Value(value)) for name, value in pairs)
        made[result] = COMPUTE[operation](a, b)
    made[rows[0][0]].backward()
    return {name: seed * value.grad for name, value in made.items()}


def _probe(name, numbers, seed=1.0):
    def draw(r):
        drawn = [float(r.choice([-1, 1]) * size) for size in r.sample(range(2, 8), len(numbers))]
        return _ledger(name, drawn, float(r.randint(2, 9)) if seed != 1 else 1.0)

    return Probe(name, _ledger(name, numbers, seed), _gradients, drivers.call, draw=draw)


def _shares(got, rows, seed):
    """None when the two inputs of a tie get together what arrives: one of them all of it, or each a part."""
    names = [name for name, _ in rows[0][2]]
    shares = [got[name] for name in names if isinstance(got, dict) and isinstance(got.get(name), (int, float))]
    if len(shares) < len(names):
        return "gradients for a and b are needed"
    if min(shares) >= 0 and abs(sum(shares) - seed) < 1e-9:
        return None
    return f"{seed:g} arrives at L, and a and b get {sum(shares):g} together"


EX_C = Exercise(
    id="04.c",
    title="The ledger fills itself in",
    kind=Kind.BUILD,
    points=3,
    minutes=10,
    difficulty=2,
    question="Write run_ledger(rows, seed): it goes through the rows of a backward pass and returns every gradient.",
    entry="run_ledger",
    stub=STUB_C,
    solution=SOLUTION_C,
    ideas={"sum and product": 0.2, "difference": 0.15, "max": 0.15, "accumulation": 0.3, "seed": 0.2},
    probes=(
        *about("sum and product", _probe("a line", [3.0, 2.0, 1.0])),
        *about("difference", _probe("a difference", [5.0, 2.0])),
        *about(
            "max",
            _probe("max passes to the larger", [3.0, 7.0, 2.0]),
            Probe(
                "max of two equal inputs",
                ([("L", "max", [("a", 2.0), ("b", 2.0)])], 1.0),
                accept=_shares,
                draw=lambda r: ([("L", "max", [("a", x := float(r.randint(2, 8))), ("b", x)])], float(r.randint(1, 5))),
            ),
        ),
        *about(
            "accumulation",
            _probe("a value with two users", [2.0, 5.0]),
            _probe("a product with itself", [7.0, 4.0]),
            _probe("a long and a short path", [2.0, 3.0]),
        ),
        *about("seed", _probe("with another seed", [3.0, 2.0, 4.0], 10.0)),
    ),
    bank=(
        Wrong(
            "overwrites",
            SOLUTION_C.replace("grads.get(a, 0.0) + ", "").replace("grads.get(b, 0.0) + ", ""),
            "A second contribution replaces the first. Where paths meet, add to what is already there.",
            on=("a value with two users", "a product with itself"),
        ),
        Wrong(
            "seed forgotten",
            _c("{rows[0][0]: seed}", "{rows[0][0]: 1.0}"),
            "The gradient of the result is always 1 in your ledger. Start with the seed that you are given.",
            on=("with another seed",),
        ),
        Wrong(
            "product does not swap",
            _c("to_a, to_b = right, left", "to_a, to_b = left, right"),
            "In a product the local derivative is the *other* factor: what multiplies a is b.",
            on=("a line", "a value with two users"),
        ),
        Wrong(
            "difference without the minus",
            _c("-1.0 if operation", "1.0 if operation"),
            "In a − b the result falls when b grows: the local derivative to b has a minus sign.",
            on=("a difference",),
        ),
        Wrong(
            "max passes to both",
            _c("(1.0, 0.0) if left > right else (0.0, 1.0)", "1.0, 1.0"),
            "Only the larger input decides the maximum. Moving the smaller one a little changes nothing.",
            on=("max passes to the larger",),
        ),
        Wrong(
            "a product with itself counted once",
            _c("grads[b] = grads.get(b, 0.0) + to_b", "if b != a:\n            grads[b] = grads.get(b, 0.0) + to_b"),
            "The same name can come twice in a row, as in d * d. Each of the two contributes, so d gets 2 · d times what arrived.",
            on=("a product with itself",),
        ),
        Wrong(
            "the result left out",
            _c("{rows[0][0]: seed}", "{}").replace("* grads[result]", "* grads.get(result, seed)"),
            "Each name has a gradient, the result too: that of L is the seed. Write it down before the first row.",
            on=("a line",),
        ),
        Wrong(
            "both at a tie",
            _c("(1.0, 0.0) if left > right else (0.0, 1.0)", "float(left >= right), float(right >= left)"),
            "When both inputs of a maximum are equal, both get all of it, twice what arrived. Pass it to one, or half to each.",
            on=("max of two equal inputs",),
        ),
        Wrong(
            "max passes to the smaller",
            _c("left > right", "left < right"),
            "The gradient of a maximum goes to the larger input, not to the smaller one.",
            on=("max passes to the larger",),
        ),
        Wrong(
            "local without upstream",
            _c("to_a * grads[result]", "to_a").replace("to_b * grads[result]", "to_b"),
            "Each row passes on only its local derivative. Multiply it by the gradient of the row's result.",
            on=("a value with two users", "a long and a short path"),
        ),
        Wrong(
            "local without upstream in the product",
            _c("right, left", "right / grads[result], left / grads[result]"),
            "The product passes on only its local derivative. Multiply it by the gradient of the row's result.",
            on=("a value with two users", "a long and a short path"),
        ),
        Wrong(
            "the minus on the wrong side",
            _c('1.0, -1.0 if operation == "-" else 1.0', '(-1.0 if operation == "-" else 1.0), 1.0'),
            "In a − b it is b that pulls the result down: the minus sign belongs to the second input.",
            on=("a difference",),
        ),
        Wrong(
            "a sum passes values",
            _c('1.0, -1.0 if operation == "-" else 1.0', 'left, -right if operation == "-" else right'),
            "In a sum each input moves the result just as far as it moves itself: the local derivative is 1, not the value.",
            on=("a line", "a difference"),
        ),
        Wrong(
            "max passes the value",
            _c("(1.0, 0.0) if left > right else (0.0, 1.0)", "(left, 0.0) if left > right else (0.0, right)"),
            "Where the maximum follows an input it moves just as far: the local derivative is 1, not the value.",
            on=("max passes to the larger",),
        ),
        Wrong(
            "rows from the other end",
            _c("in rows:", "in rows[::-1]:").replace("* grads[result]", "* grads.get(result, 0.0)"),
            "The rows come with the last operation first, which is the order that you need. From the other end, the gradient of a row's "
            "result is not there yet.",
            on=("a line", "a value with two users"),
        ),
    ),
    hints=Hints(
        nudge="Fill in the ledger of L = w * x + b by hand once more. What do you look up, what do you compute, where do you write it?",
        rule="For each row: take the gradient of its result, multiply it by the local derivative to each input, and add that to what the "
        "input has already. + passes it to both, - turns the sign for the second, * swaps the values, max passes it to the larger.",
        twin="A ledger with one operation, 'double', and rows (result, name): grads = {first result: seed}; each row adds twice the "
        "gradient of its result to the gradient of its name, which is 0 if it has none yet.",
    ),
    reveal="Each row: look up the result's gradient, multiply by the local derivatives, add. Chapter 5 only adds the order.",
    fresh=lambda r: (
        lambda a, b: Fresh(
            f"p = a·b and L = p + a, at a = {a}, b = {b}, seed 1. What is a.grad?",
            b + 1,
            wrong=(
                (b, "a has a second user, the sum."),
                (1, "The product contributes as well."),
                (a + 1, "The *other* factor."),
            ),
        )
    )(r.randint(6, 9), r.randint(3, 5)),
)

EXERCISES = (EX_A, EX_B, EX_C)
