"""Chapter 05, build the engine: the learner's own Value class, its backward pass, a small network, and a very long chain."""

from __future__ import annotations

from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Probe, Wrong, but

# ---- 05.a: class Value ----------------------------------------------------------------------------------------------------------

STUB_A = '''\
class Value:
    """One number that remembers how it was made."""

    def __init__(self, data, _prev=(), _op=""):
        self.data = data                 # the number
        self.grad = 0.0                  # d(root) / d(this number), filled in by the backward pass
        self._prev = _prev               # the values it was made from, as a tuple
        self._op = _op                   # "+", "*", ...; "" for a leaf
        self._backward = lambda: None    # adds this value's share to the grad of each parent

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            ...  # local derivative × out.grad, for self and for other

        out._backward = _backward
        return out

    def __mul__(self, other):
        ...  # like __add__

    def __pow__(self, n):
        ...  # n is a plain number

    def relu(self):
        ...

    # still to come: 1 + x, 3 * x, -x, x - 1, 1 - x
'''

HEAD = STUB_A[: STUB_A.index("    def __add__")]

ADD = """\
    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

"""

MUL = """\
    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

"""

POW = """\
    def __pow__(self, n):
        out = Value(self.data ** n, (self,), f"**{n}")

        def _backward():
            self.grad += n * self.data ** (n - 1) * out.grad

        out._backward = _backward
        return out

"""

RELU = """\
    def relu(self):
        out = Value(self.data if self.data > 0 else 0.0, (self,), "relu")

        def _backward():
            self.grad += (1.0 if self.data > 0 else 0.0) * out.grad

        out._backward = _backward
        return out

"""

REST = """\
    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other
"""

UPSTREAM = "Each contribution is the local derivative × the gradient of the result."

SOLUTION_A = HEAD + ADD + MUL + POW + RELU + REST


_a = partial(but, SOLUTION_A)


def _draw(names, positive=(), negative=()):
    """Whole numbers for the leaves, of different sizes, and never 0, 1 or -1: those would hide a lost or exchanged factor."""

    def draw(r):
        sizes = dict(zip(names, r.sample([2, 3, 4, 5, 6], len(names)), strict=True))
        return {n: float(size if n in positive else -size if n in negative else r.choice([-size, size])) for n, size in sizes.items()}

    return draw


def _grads(expression, inputs, want, weight=1.0, name="", **signs):
    draw = _draw(tuple(inputs), **signs)
    return Probe(
        name or f"gradients of {expression}", (expression, inputs), want, drivers.value_grads, weight, draw=lambda r: (expression, draw(r))
    )


def _forward(name, expression, inputs, want, **signs):
    draw = _draw(tuple(inputs), **signs)
    return Probe(name, (expression, inputs), want, drivers.value_forward, draw=lambda r: (expression, draw(r)))


def _fresh_05a(rng):
    a, b = rng.randint(4, 8), rng.randint(2, 3)
    return Fresh(
        f"out = a * b + a with a = {a}, b = {b}, and out.grad = 1. What is a.grad after the backward pass?",
        b + 1,
        wrong=(
            (b, "a is used twice: the sum sends its share as well."),
            (a, "The local derivative of a product is the *other* factor."),
            (1, "The product's share was overwritten: use +=."),
        ),
    )


EX_A = Exercise(
    id="05.a",
    title="Values that remember",
    kind=Kind.FILL_IN,
    points=4,
    minutes=15,
    difficulty=2,
    question="Complete the class: +, *, ** and relu with their local rules, and the forms 1 + x, 3 * x, -x, x - 1, 1 - x.",
    entry="Value",
    stub=STUB_A,
    solution=SOLUTION_A,
    probes=(
        _forward("a + b, a * b and a ** 3 compute", "a + b * a ** 3", {"a": 2.0, "b": 5.0}, 42.0),
        Probe(
            "a product remembers its parents",
            ("a * b", {"a": 2.0, "b": 5.0}),
            {"a": True, "b": True, "_op is a text": True, "grad starts at": 0.0},
            drivers.value_records,
        ),
        _grads("a + b", {"a": 2.0, "b": 5.0}, {"a": 1.0, "b": 1.0}),
        _grads("a * b", {"a": 4.0, "b": 7.0}, {"a": 7.0, "b": 4.0}),
        _grads("a ** 3", {"a": 2.0}, {"a": 12.0}),
        _grads("relu(a)", {"a": 3.0}, {"a": 1.0}, positive=("a",)),
        Probe(
            "relu below zero",
            ("relu(a)", {"a": -3.0}),
            {"a": 0.0},
            drivers.value_grads,
            draw=lambda r: ("relu(a)", {"a": -float(r.randint(2, 9))}),
        ),
        _forward("relu computes", "relu(a) + relu(b)", {"a": 3.0, "b": -4.0}, 3.0, positive=("a",), negative=("b",)),
        # each rule once with an upstream gradient that is not 1 ...
        _grads("(a + b) * c", {"a": 2.0, "b": 3.0, "c": 4.0}, {"a": 4.0, "b": 4.0, "c": 5.0}),
        _grads("(a * b) * c", {"a": 2.0, "b": 3.0, "c": 4.0}, {"a": 12.0, "b": 8.0, "c": 6.0}),
        _grads("a ** 3 * b", {"a": 2.0, "b": 5.0}, {"a": 60.0, "b": 8.0}),
        _grads(
            "relu(a) * b + relu(c) * b", {"a": 3.0, "b": 5.0, "c": -4.0}, {"a": 5.0, "b": 3.0, "c": 0.0}, positive=("a",), negative=("c",)
        ),
        # ... and once into an input that already holds a contribution
        _grads("a + a", {"a": 5.0}, {"a": 2.0}),
        _grads("a * b + a * c", {"a": 2.0, "b": 3.0, "c": 4.0}, {"a": 7.0, "b": 2.0, "c": 2.0}),
        _grads("(a + b) * (a + c) * (b + a)", {"a": 2.0, "b": 3.0, "c": 4.0}, {"a": 85.0, "b": 60.0, "c": 25.0}),
        _grads("(a + b) * (c + b) * (b + c)", {"a": 2.0, "b": 3.0, "c": 4.0}, {"a": 49.0, "b": 119.0, "c": 70.0}),
        _grads("a ** 2 + a ** 3", {"a": 2.0}, {"a": 16.0}),
        _grads("relu(a) + a", {"a": 3.0}, {"a": 2.0}, positive=("a",)),
        _grads("(a * b) ** 2", {"a": 2.0, "b": 3.0}, {"a": 36.0, "b": 24.0}),
        _grads("relu(a * b) + (a + b) * b", {"a": 2.0, "b": 3.0}, {"a": 6.0, "b": 10.0}),
        _grads("x * 3", {"x": 4.0}, {"x": 3.0}, name="x * 3"),
        _grads("3 * x", {"x": 4.0}, {"x": 3.0}, name="3 * x"),
        _forward("1 + x", "1 + x", {"x": 4.0}, 5.0),
        _forward("-x", "-x", {"x": 4.0}, -4.0),
        _forward("x - 1", "x - 1", {"x": 4.0}, 3.0),
        _forward("1 - x", "1 - x", {"x": 4.0}, -3.0),
        _grads("(1 - a) * b - a", {"a": 3.0, "b": 5.0}, {"a": -6.0, "b": -2.0}),
        _grads("(3 * x + 2) ** 2", {"x": 1.0}, {"x": 30.0}, weight=2),
    ),
    bank=(
        Wrong(
            "no reflected product",
            _a("    def __rmul__(self, other):\n        return self * other\n\n", ""),
            "Python tried int.__mul__ first; an int knows nothing about Value, so Python then asked for Value.__rmul__. Define it.",
            when=lambda seen: seen.error("3 * x") == "TypeError" and seen.error("x * 3") == "",
        ),
        Wrong(
            "no reflected sum",
            _a("    def __radd__(self, other):\n        return self + other\n\n", ""),
            "Python tried int.__add__ first; an int knows nothing about Value, so Python then asked for Value.__radd__. Define it.",
            when=lambda seen: seen.error("1 + x") == "TypeError" and not seen.error("x * 3"),
        ),
        Wrong(
            "overwrites in the sum",
            _a("self.grad += out.grad\n            other.grad += out.grad", "self.grad = out.grad\n            other.grad = out.grad"),
            "A value that is used twice gets two shares. With = the second wipes out the first: use +=.",
            when=lambda seen: _number(seen, "gradients of a + a", "a") == 1.0,
        ),
        Wrong(
            "overwrites everywhere",
            SOLUTION_A.replace(".grad += ", ".grad = "),
            "A value that is used twice gets two shares. With = the second wipes out the first: use +=.",
            when=lambda seen: _number(seen, "gradients of a + a", "a") == 1.0,
        ),
        *(
            Wrong(
                f"{name} overwrites",
                _a(rule, rule.replace(".grad += ", ".grad = ")),
                f"A value that is used twice gets two contributions; in the {name} the second one replaces the first. Use += there, too.",
                on=(f"gradients of {shows}",),
            )
            for name, rule, shows in (
                ("product", MUL, "a * b + a * c"),
                ("power", POW, "a ** 2 + a ** 3"),
                ("relu", RELU, "relu(a) + a"),
            )
        ),
        *(
            Wrong(
                f"{name} ignores the upstream gradient",
                _a(rule, rule.replace(" * out.grad", "")),
                f"{UPSTREAM} out.grad is missing in {where}.",
                on=(f"gradients of {shows}", f"gradients of {right}"),
            )
            for name, where, rule, shows, right in (
                ("power", "the power", POW, "a ** 3 * b", "a ** 3"),
                ("relu", "relu", RELU, "relu(a) * b + relu(c) * b", "relu(a)"),
            )
        ),
        Wrong(
            "product's factors exchanged",
            _a(
                "self.grad += other.data * out.grad\n            other.grad += self.data * out.grad",
                "self.grad += self.data * out.grad\n            other.grad += other.data * out.grad",
            ),
            "In a product the local derivative is the *other* factor: what multiplies a is b.",
            on=("gradients of a * b",),
        ),
        Wrong(
            "product ignores what arrives",
            _a(
                "self.grad += other.data * out.grad\n            other.grad += self.data * out.grad",
                "self.grad += other.data\n            other.grad += self.data",
            ),
            f"{UPSTREAM} out.grad is missing in the product.",
            on=("gradients of (a * b) * c", "gradients of a * b"),
        ),
        Wrong(
            "sum ignores what arrives",
            _a("self.grad += out.grad\n            other.grad += out.grad", "self.grad += 1.0\n            other.grad += 1.0"),
            f"{UPSTREAM} out.grad is missing in the sum.",
            on=("gradients of relu(a * b) + (a + b) * b", "gradients of a + b"),
        ),
        Wrong(
            "power keeps its exponent",
            _a("n * self.data ** (n - 1)", "n * self.data ** n"),
            "The derivative of a power has an exponent one smaller.",
            on=("gradients of a ** 3",),
        ),
        Wrong(
            "power without its factor",
            _a("n * self.data ** (n - 1)", "self.data ** (n - 1)"),
            "The derivative of a power also brings the old exponent down as a factor.",
            on=("gradients of a ** 3",),
        ),
        Wrong(
            "relu lets everything through",
            _a("(1.0 if self.data > 0 else 0.0) * out.grad", "out.grad"),
            "Where relu cut the number off, moving the input changes nothing: no gradient may pass there.",
            on=("relu below zero", "gradients of relu(a)"),
        ),
        Wrong(
            "relu passes data instead of gradient",
            _a("(1.0 if self.data > 0 else 0.0) * out.grad", "out.data * out.grad"),
            "Above zero relu is the identity: what is the slope of the identity? It is not the number itself.",
            on=("gradients of relu(a)",),
        ),
        Wrong(
            "1 - x the wrong way round",
            _a("return -self + other", "return self - other"),
            "__rsub__ is called for other - self: the plain number stands on the left.",
            on=("1 - x",),
        ),
        Wrong(
            "no reflected difference",
            _a("    def __rsub__(self, other):\n        return -self + other\n", ""),
            "Python tried int.__sub__ first; an int knows nothing about Value, so Python then asked for Value.__rsub__. Define it.",
            when=lambda seen: seen.error("1 - x") == "TypeError" and seen.error("x - 1") == "",
        ),
        Wrong(
            "plain numbers not wrapped",
            _a("        other = other if isinstance(other, Value) else Value(other)\n", ""),
            "A plain number has no .data: wrap it in a Value first, as __add__ of the stub does.",
            when=lambda seen: seen.error("x * 3") == "AttributeError" and seen.error("gradients of a * b") == "",
        ),
        Wrong(
            "rule called instead of kept",
            _a("out._backward = _backward\n", "out._backward = _backward()\n"),
            "out._backward = _backward() runs the rule at once and keeps its result, None. Keep the function itself: no parentheses.",
            when=lambda seen: seen.error("gradients of a * b") == "TypeError" and seen.error("a + b, a * b and a ** 3 compute") == "",
        ),
        Wrong(
            "rule never attached",
            _a("        out._backward = _backward\n", ""),
            "The local rule is written but never attached: each result needs out._backward = _backward.",
            when=lambda seen: _number(seen, "gradients of a + b", "a") == 0.0 and _number(seen, "gradients of a * b", "a") == 0.0,
        ),
        Wrong(
            "forgets to return the result",
            _a("        out._backward = _backward\n        return out\n", "        out._backward = _backward\n"),
            "An operation gives back nothing: each of them must end with return out.",
            when=lambda seen: seen.error("gradients of a * b") == "AttributeError" and seen.error("x * 3") == "AttributeError",
        ),
        Wrong(
            "parents forgotten",
            _a('(self, other), "*")', '(), "*")'),
            "The product does not remember what it was made from: pass (self, other) as _prev.",
            when=lambda seen: (
                isinstance(seen.value("a product remembers its parents"), dict) and not seen.value("a product remembers its parents")["a"]
            ),
        ),
    ),
    hints=Hints(
        nudge="For each operation: if this input moves by a little, by how many times as much does the result move?",
        rule="Each parent gets += (derivative of the result with respect to that parent) × (gradient of the result). "
        "For 3 * x Python calls Value.__rmul__ once int.__mul__ has given up.",
        twin="Division by a number k, out = a / k: the result moves 1/k times as much, so the rule is self.grad += (1 / k) * out.grad, "
        "and __truediv__ returns out with _prev = (self,).",
    ),
    reveal="Every rule has the same form: local derivative × out.grad, added to the parent. The reflected forms only turn the call round.",
    fresh=_fresh_05a,
    reused=True,
)


def _number(seen, probe, key):
    got = seen.value(probe)
    return got.get(key) if isinstance(got, dict) else None


# ---- 05.b: backward -------------------------------------------------------------------------------------------------------------

STUB_B = '''\
def backward(root):
    """Fill in .grad of every value that root was made from.

    Each value has .grad (0.0 so far), ._prev (the values it was made from) and
    ._backward(), which adds its share to the .grad of each of its ._prev.
    """
    ...  # your code here: start the root's gradient, then decide who goes when
'''

SOLUTION_B = '''\
def backward(root):
    """Fill in .grad of every value that root was made from: a value goes only after everything that uses it."""
    order, seen = [], set()

    def visit(v):
        if v not in seen:
            seen.add(v)
            for parent in v._prev:
                visit(parent)
            order.append(v)      # after its parents

    visit(root)
    root.grad = 1.0
    for v in reversed(order):    # so reversed: before its parents
        v._backward()
'''


def _diamond(graph, a, b):
    c, d = a + b, a * b
    return {"y": 1.0, "f": 1.0, "e": 1.0, "d": 1 + c, "c": 1 + d, "b": (1 + d) + a * (1 + c), "a": (1 + d) + b * (1 + c)}


def _chain(graph, x):
    u = 3 * x + 2
    return {"y": 1.0, "u": 2 * u, "p": 2 * u, "x": 6 * u}


def _long_and_short(graph, x):
    return {"y": 1.0, "r": 1.0, "q": 1.0, "p": 1 + x, "x": 2 * x + 3 * x * x + 1}


def _ladder(graph, x, rungs):
    return {f"s{rungs}": 1.0, "x": 2.0**rungs}


def _draw_ladder(rng):
    return "ladder", _whole(-4, 6)(rng), rng.randint(8, 14)


def _whole(low, high):
    return lambda r: float(r.choice([n for n in range(low, high) if n not in (-1, 0, 1)]))


USE_PLUS = "An earlier share was wiped out by a later one. Shares add up: use +=, and clear nothing on the way."


def _fresh_05b(rng):
    a, b = rng.choice([(3, 4), (2, 5), (4, 2), (5, 3)])
    want = _diamond("", a, b)["a"]
    return Fresh(
        f"The same diamond (c = a + b, d = a * b, e = c + d, f = c * d, y = e + f) with a = {a}, b = {b}. What is a.grad?",
        want,
        wrong=((_diamond("", a, b)["b"], "That is b.grad."), (b + 1, "c and d also receive shares from f.")),
    )


EX_B = Exercise(
    id="05.b",
    title="The backward pass",
    kind=Kind.FILL_IN,
    points=4,
    minutes=15,
    difficulty=3,
    question="Write backward(root). It must be right when a value is used more than once, as c and d are in the diamond.",
    entry="backward",
    stub=STUB_B,
    solution=SOLUTION_B,
    probes=(
        Probe("chain y = (3x + 2)²", ("chain", 1.0), _chain, drivers.backward_on, draw=lambda r: ("chain", _whole(-4, 6)(r))),
        Probe(
            "diamond", ("diamond", 2.0, 3.0), _diamond, drivers.backward_on, 2, draw=lambda r: ("diamond", _whole(2, 8)(r), _whole(2, 8)(r))
        ),
        Probe("y = a + a", ("a + a", 5.0), {"y": 1.0, "a": 2.0}, drivers.backward_on, draw=lambda r: ("a + a", _whole(-4, 6)(r))),
        Probe("a leaf as root", ("leaf", 4.0), {"x": 1.0}, drivers.backward_on, draw=lambda r: ("leaf", _whole(-4, 6)(r))),
        Probe(
            "a long and a short path",
            ("long and short", 2.0),
            _long_and_short,
            drivers.backward_on,
            draw=lambda r: ("long and short", _whole(2, 7)(r)),
        ),
        Probe("twelve doublings", ("ladder", 1.0, 12), _ladder, drivers.backward_on, draw=_draw_ladder),
        Probe(
            "each rule runs once",
            ("diamond", 2.0, 3.0),
            driver=drivers.backward_calls,
            accept=lambda got, *_: (
                None
                if isinstance(got, dict) and all(n in (0, 1) for n in got.values()) and got.get("c") == 1
                else "some values ran their rule more than once, or never"
            ),
            draw=lambda r: ("diamond", _whole(2, 8)(r), _whole(2, 8)(r)),
        ),
        Probe(
            "other graphs are left alone",
            (2.0,),
            {"other": 7.0, "other's parent": 0.0},
            drivers.backward_leaves_alone,
            0.5,
            draw=lambda r: (_whole(-4, 6)(r),),
        ),
    ),
    bank=(
        Wrong(
            "plain recursion",
            """\
def backward(root):
    def go(v):
        v._backward()
        for parent in v._prev:
            go(parent)

    root.grad = 1.0
    go(root)
""",
            "You left c before its grad was complete: it passed on a part, and later passed on that part again. Wait until every "
            "user of c has paid in.",
            on=("diamond",),
        ),
        Wrong(
            "depth first from the root",
            """\
def backward(root):
    seen = set()

    def go(v):
        if v not in seen:
            seen.add(v)
            v._backward()
            for parent in v._prev:
                go(parent)

    root.grad = 1.0
    go(root)
""",
            "c was processed once, too early: what f paid in afterwards never reached a and b.",
            on=("diamond",),
        ),
        Wrong(
            "only the root's rule",
            "def backward(root):\n    root.grad = 1.0\n    root._backward()\n",
            "Only the root passed its gradient on. Its parents have parents too.",
            on=("diamond", "each rule runs once"),
        ),
        Wrong(
            "leaves before the root",
            """\
def backward(root):
    order, seen = [], set()

    def visit(v):
        if v not in seen:
            seen.add(v)
            for parent in v._prev:
                visit(parent)
            order.append(v)

    visit(root)
    root.grad = 1.0
    for v in order:
        v._backward()
""",
            "You ran leaves before the root: they had nothing to pass on yet. The order is right; read it from the other end.",
            on=("diamond",),
        ),
        Wrong(
            "breadth first",
            """\
def backward(root):
    root.grad = 1.0
    queue, seen = [root], {root}
    while queue:
        v = queue.pop(0)
        v._backward()
        for parent in v._prev:
            if parent not in seen:
                seen.add(parent)
                queue.append(parent)
""",
            "Level by level works in the diamond by luck: a value with a short and a long path to the root runs before the long "
            "path has paid in.",
            on=("diamond", "a long and a short path"),
        ),
        Wrong(
            "clears each parent first",
            SOLUTION_B.replace(
                "        v._backward()\n", "        for parent in v._prev:\n            parent.grad = 0.0\n        v._backward()\n"
            ),
            USE_PLUS,
            on=("diamond",),
        ),
        Wrong(
            "keeps only the last share",
            SOLUTION_B.replace(
                "        v._backward()\n",
                "        before = [parent.grad for parent in v._prev]\n        v._backward()\n"
                "        for parent, old in zip(v._prev, before):\n            parent.grad = parent.grad - old\n",
            ),
            USE_PLUS,
            on=("diamond",),
        ),
        Wrong(
            "clears each value before it runs",
            SOLUTION_B.replace("        v._backward()\n", "        if v is not root:\n            v.grad = 0.0\n        v._backward()\n"),
            USE_PLUS,
            on=("diamond", "each rule runs once"),
        ),
        Wrong(
            "no seed",
            SOLUTION_B.replace("    root.grad = 1.0\n", ""),
            "Nothing starts the pass: what is the derivative of the root with respect to itself?",
            on=("a leaf as root", "diamond"),
        ),
        Wrong(
            "seed is the root's value",
            SOLUTION_B.replace("root.grad = 1.0", "root.grad = root.data"),
            "The seed is the derivative of the root with respect to itself, not the root's value.",
            on=("a leaf as root",),
        ),
        Wrong(
            "visits its way without the root",
            SOLUTION_B.replace("reversed(order)", "reversed(order[:-1])"),
            "The root never ran its own rule, so nothing left it.",
            on=("diamond", "chain y = (3x + 2)²"),
        ),
        Wrong(
            "depth first with a stack",
            """\
def backward(root):
    root.grad = 1.0
    stack, seen = [root], set()
    while stack:
        v = stack.pop()
        if v in seen:
            continue
        seen.add(v)
        v._backward()
        stack.extend(v._prev)
""",
            "A value ran before all of its users had run, so what came later never went on to its parents. %where shows which value.",
            on=("diamond", "each rule runs once", "a long and a short path"),
        ),
    ),
    hints=Hints(
        nudge="In the diamond, c feeds both e and f. When is the gradient of c complete?",
        rule="A value may run its rule only after every value that uses it has run: reverse topological order. "
        "Depth-first search that appends a value after its parents gives the opposite order.",
        twin="For p = x * x, q = p + x, y = q * p, a possible order is y, q, p, x: p waits for y and for q, x waits for all. "
        "Search from y and append after the parents: x, p, q, y. Then read it backwards.",
    ),
    reveal="Append each value after its parents, read the list from its end: then everything that uses a value runs before it. "
    "The root starts with 1.",
    fresh=_fresh_05b,
    reused=True,
)

# ---- 05.c: a network ------------------------------------------------------------------------------------------------------------

STUB_C = '''\
def network(x1, x2, w1, w2, b1, w3, b2, target):
    """Two inputs, one hidden unit, one output; every argument is a Value.

    h    = relu of (w1 times x1, plus w2 times x2, plus b1)
    out  = w3 times h, plus b2
    loss = the square of (out minus target)
    """
    h = ...
    out = ...
    loss = ...
    return h, out, loss
'''

SOLUTION_C = """\
def network(x1, x2, w1, w2, b1, w3, b2, target):
    h = (w1 * x1 + w2 * x2 + b1).relu()
    out = w3 * h + b2
    loss = (out - target) ** 2
    return h, out, loss
"""

INPUTS = {"x1": 1.5, "x2": -2.0, "w1": 0.8, "w2": 0.6, "b1": 0.1, "w3": 1.2, "b2": -0.5, "target": 1.0}
NEURON = {**INPUTS, "x1": 2.0, "x2": 3.0, "w1": 0.5, "w2": -0.3}
ASLEEP = {**INPUTS, "b1": -3.0}


def _network(inputs, of):
    i = inputs
    pre = i["w1"] * i["x1"] + i["w2"] * i["x2"] + i["b1"]
    on, h = float(pre > 0), max(pre, 0.0)
    out = i["w3"] * h + i["b2"]
    miss = out - i["target"]
    down, to_out = (1.0, 0.0) if of == "h" else (2 * miss * i["w3"], 2 * miss)
    return {
        "h": h,
        "out": out,
        "loss": miss**2,
        "w1": down * on * i["x1"],
        "w2": down * on * i["x2"],
        "b1": down * on,
        "w3": to_out * h,
        "b2": to_out,
    }


def _draw_network(rng, of):
    inputs = {name: round(rng.uniform(0.3, 2.0), 2) for name in INPUTS}
    return inputs, of


def _draw_asleep(rng):
    inputs, of = _draw_network(rng, "loss")
    return {**inputs, "b1": -round(rng.uniform(9, 12), 2), "b2": -round(rng.uniform(0.3, 2), 2)}, of


_c = partial(but, SOLUTION_C)


def _fresh_05c(rng):
    x, w, b, t = rng.randint(2, 4), rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 4)
    miss = w * x + b - t
    return Fresh(
        f"loss = (w * x + b - t)² with w = {w}, x = {x}, b = {b}, t = {t}. What is w.grad?",
        2 * miss * x,
        wrong=((2 * miss, "That is b.grad; w is multiplied by x."), (miss * x, "The square brings a factor 2.")),
    )


EX_C = Exercise(
    id="05.c",
    title="A network from Values",
    kind=Kind.FILL_IN,
    points=2,
    minutes=8,
    difficulty=2,
    question="Build the loss of a two-layer network from Values and let the engine differentiate it.",
    entry="network",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe(
            "loss and its gradients",
            (INPUTS, "loss"),
            _network,
            drivers.network_grads,
            2,
            rtol=1e-9,
            draw=lambda r: _draw_network(r, "loss"),
        ),
        Probe("the neuron alone", (NEURON, "h"), _network, drivers.network_grads, rtol=1e-9, draw=lambda r: _draw_network(r, "h")),
        Probe("a neuron that is off", (ASLEEP, "loss"), _network, drivers.network_grads, rtol=1e-9, draw=_draw_asleep),
    ),
    bank=(
        Wrong(
            "no relu",
            _c(".relu()", ""),
            "A neuron below zero must give 0 and pass no gradient: relu is missing.",
            on=("a neuron that is off", "the neuron alone"),
        ),
        Wrong(
            "relu around the output",
            _c("w3 * h + b2", "(w3 * h + b2).relu()"),
            "relu belongs to the hidden unit only; the output of this network may be negative.",
            on=("a neuron that is off", "loss and its gradients"),
        ),
        Wrong(
            "no square",
            _c("(out - target) ** 2", "out - target"),
            "The loss is the square of the miss: without it, a lower output would always be better.",
            on=("loss and its gradients",),
        ),
        Wrong(
            "target added",
            _c("out - target", "out + target"),
            "The miss is the difference of output and target; the sign of target is reversed.",
            on=("loss and its gradients",),
        ),
        Wrong(
            "output bias missing",
            _c(" + b2", ""),
            "b2 never enters the graph, so it can receive no gradient.",
            on=("loss and its gradients",),
        ),
        Wrong(
            "hidden bias missing",
            _c(" + b1", ""),
            "b1 never enters the graph, so it can receive no gradient.",
            on=("loss and its gradients",),
        ),
        Wrong(
            "computes with plain numbers",
            SOLUTION_C.replace(
                "    return",
                "    from minigrad import Value\n\n    h, out, loss = Value(h.data), Value(out.data), Value(loss.data)\n    return",
            ),
            ".data leaves the graph: what you build from it is a new leaf, and no gradient finds the way back to the weights.",
            on=("the neuron alone", "loss and its gradients"),
        ),
        Wrong(
            "w2 used twice",
            _c("w1 * x1", "w2 * x1"),
            "w1 never enters the graph: each input has a weight of its own.",
            on=("loss and its gradients",),
        ),
    ),
    hints=Hints(
        nudge="Write the three formulas exactly as the docstring says them; Values know +, *, -, ** and relu().",
        rule="relu is a method of the whole sum: put the sum in parentheses. Never take .data in between.",
        twin="One unit without a bias and with a tripled miss: h = (w * x).relu(); out = v * h; loss = ((out - t) * 3) ** 2.",
    ),
    reveal="Three lines of ordinary arithmetic. The engine recorded every step, so loss.backward() needs no further thought.",
    fresh=_fresh_05c,
)

# ---- 05.d: a long chain ---------------------------------------------------------------------------------------------------------

STUB_D = '''\
def backward_deep(root):
    """Like backward(root) of exercise 05.b, but for chains of 10,000 values and more."""
    ...  # a function that calls itself 10,000 times deep stops with a RecursionError: use a list as your own stack
'''

SOLUTION_D = '''\
def backward_deep(root):
    """Like backward(root), with a list in place of Python's call stack."""
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        v, parents_done = stack.pop()
        if parents_done:
            order.append(v)
        elif v not in seen:
            seen.add(v)
            stack.append((v, True))                        # come back to v when its parents are done
            stack.extend((p, False) for p in v._prev)
    root.grad = 1.0
    for v in reversed(order):
        v._backward()
'''

RECURSIVE_D = SOLUTION_B.replace("def backward(", "def backward_deep(")


def _fresh_05d(rng):
    n = rng.choice([500, 2000, 30_000])
    return Fresh(
        f"s = x; then s = s + 1, {n} times; y = s * x, at x = 3. What is x.grad?",
        n + 6,
        wrong=((n + 3, "x is used twice: once in the product and once at the bottom of the chain."), (3, "x is used twice.")),
    )


EX_D = Exercise(
    id="05.d",
    title="Ten thousand values deep",
    kind=Kind.PUZZLE,
    points=2,
    minutes=10,
    difficulty=3,
    question="A chain of 10,000 operations must not hit Python's recursion limit. Write the same pass with a stack of your own.",
    entry="backward_deep",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        Probe(
            "diamond", ("diamond", 2.0, 3.0), _diamond, drivers.backward_on, draw=lambda r: ("diamond", _whole(2, 8)(r), _whole(2, 8)(r))
        ),
        Probe(
            "a long and a short path",
            ("long and short", 2.0),
            _long_and_short,
            drivers.backward_on,
            draw=lambda r: ("long and short", _whole(2, 7)(r)),
        ),
        Probe(
            "10,000 values deep",
            (10_000,),
            lambda n: {"y": 1.0, "sum": 2.0, "x": n + 4.0, "1": 2.0 * n},
            drivers.backward_long_chain,
            2,
            draw=lambda r: (r.randint(9_000, 11_000),),
        ),
        Probe("twelve doublings", ("ladder", 1.0, 12), _ladder, drivers.backward_on, draw=_draw_ladder),
    ),
    bank=(
        Wrong(
            "recursive",
            RECURSIVE_D,
            "Each level of recursion costs a frame of Python's stack, and the stack is limited: iterative post-order with a "
            "stack of your own.",
            when=lambda seen: seen.error("10,000 values deep") == "RecursionError",
        ),
        Wrong(
            "breadth first",
            """\
def backward_deep(root):
    root.grad = 1.0
    queue, seen = [root], {root}
    for v in queue:
        v._backward()
        for parent in v._prev:
            if parent not in seen:
                seen.add(parent)
                queue.append(parent)
""",
            "Level by level works in the diamond by luck: a value with a short and a long path to the root runs before the long path has "
            "paid in.",
            on=("diamond", "a long and a short path"),
        ),
        Wrong(
            "raises the limit",
            "import sys\n" + RECURSIVE_D.replace("    order, seen", "    sys.setrecursionlimit(1_000_000)\n    order, seen"),
            "Raising the recursion limit only moves the cliff, and on some systems Python itself then crashes: use a stack of your own.",
            when=lambda seen: any(o.get("raised_limit") for o in seen.outcomes.values()),
        ),
        Wrong(
            "stack without the second visit",
            SOLUTION_D.replace(
                """\
        v, parents_done = stack.pop()
        if parents_done:
            order.append(v)
        elif v not in seen:
            seen.add(v)
            stack.append((v, True))                        # come back to v when its parents are done
""",
                """\
        v, _ = stack.pop()
        if v not in seen:
            seen.add(v)
            order.append(v)
""",
            ).replace("reversed(order)", "order"),
            "This is the order in which you first meet the values; c is met before all its users are done. Come back to a value "
            "after its parents.",
            on=("diamond",),
        ),
        Wrong(
            "not reversed",
            SOLUTION_D.replace("reversed(order)", "order"),
            "You ran leaves before the root: they had nothing to pass on yet. The order is right; read it from the other end.",
            on=("diamond",),
        ),
    ),
    hints=Hints(
        nudge="What does Python's own stack remember for you while visit() is inside a parent? Put that on a list.",
        rule="Push (value, False). On popping False: push (value, True), then the parents with False. On popping True: append the value.",
        twin="Printing a nested list without recursion: stack = [data]; pop; if it is a list, push its items in reverse; "
        "otherwise print it.",
    ),
    reveal="The pair (value, parents_done) says where you were, which is what a frame of the call stack would have remembered.",
    fresh=_fresh_05d,
)

EXERCISES = (EX_A, EX_B, EX_C, EX_D)
