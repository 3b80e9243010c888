"""Chapter 05, build the engine: the learner's own Value class, its backward pass, a network that learns, and a very long chain."""

from __future__ import annotations

from functools import partial

from .. import drivers
from ..exercise import Exercise, Fresh, Hints, Kind, Limits, Probe, Wrong, about, ask, but

# ---- 05.a: class Value ----------------------------------------------------------------------------------------------------------

STUB_A = '''\
class Value:
    """One number that remembers how it was made."""

    def __init__(self, data, _prev=(), _op=""):
        self.data = data                 # the number
        self.grad = 0.0                  # d(root) / d(this number), filled in by the backward pass
        self._prev = _prev               # the values it was made from, as a tuple
        self._op = _op                   # "+", "*", ...; "" for a leaf
        self._backward = lambda: None    # adds local derivative × grad to the grad of each parent

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
        ...  # n is a plain number, such as 3 or -1

    def relu(self):
        ...  # at exactly 0, take 0 for its derivative, as PyTorch does

    # still to come: 1 + x, 3 * x, -x, x - 1, 1 - x, x / y, 1 / x
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

    def __truediv__(self, other):
        return self * other ** -1

    def __rtruediv__(self, other):
        return self ** -1 * other
"""

UPSTREAM = "Each contribution is the local derivative × the gradient of the result."

SOLUTION_A = HEAD + ADD + MUL + POW + RELU + REST


_a = partial(but, SOLUTION_A)


def _draw(names, positive=(), negative=()):
    """Whole numbers for the leaves, of different sizes, and never 0, 1 or -1: those would hide a lost or exchanged factor."""

    def draw(r):
        sizes = dict(zip(names, r.sample([2, 3, 4, 5, 6], len(names)), strict=True))
        return {
            n: float(size if n in positive else -size if n in negative else r.choice([-size, size]))
            for n, size in sizes.items()
        }

    return draw


def _grads(expression, inputs, want, name="", **signs):
    draw = _draw(tuple(inputs), **signs)
    return Probe(
        name or f"gradients of {expression}",
        (expression, inputs),
        want,
        drivers.value_grads,
        draw=lambda r: (expression, draw(r)),
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
            (b, "a is used twice: the sum contributes as well."),
            (a, "The local derivative of a product is the *other* factor."),
            (1, "The contribution of the product was overwritten: use +=."),
        ),
    )


EX_A = Exercise(
    id="05.a",
    title="Values that remember",
    kind=Kind.BUILD,
    points=4,
    minutes=20,
    difficulty=2,
    question="Complete the class: +, *, ** and relu with their local rules, and the forms 1 + x, 3 * x, -x, x - 1, 1 - x, x / y, 1 / x.",
    entry="Value",
    stub=STUB_A,
    solution=SOLUTION_A,
    ideas={
        "sum": 0.15,
        "product": 0.2,
        "power": 0.15,
        "relu": 0.15,
        "numbers on either side": 0.1,
        "minus and division": 0.15,
        "together": 0.1,
    },
    # each rule once by itself, once with an upstream gradient that is not 1, and once into an input that already holds a contribution
    probes=(
        *about(
            "sum",
            _grads("a + b", {"a": 2.0, "b": 5.0}, {"a": 1.0, "b": 1.0}),
            Probe(
                "a + b inside a longer expression",
                ("a + b", {"a": 2.0, "b": 3.0}, 4.0),
                {"a": 4.0, "b": 4.0},
                drivers.value_grads_from,
                draw=lambda r: ("a + b", _draw("ab")(r), float(r.randint(2, 9))),
            ),
            _grads("a + a", {"a": 5.0}, {"a": 2.0}),
        ),
        *about(
            "product",
            Probe(
                "a product remembers its parents",
                ("a * b", {"a": 2.0, "b": 5.0}),
                {"a": True, "b": True, "_op is a text": True, "grad starts at": 0.0},
                drivers.value_records,
            ),
            _grads("a * b", {"a": 4.0, "b": 7.0}, {"a": 7.0, "b": 4.0}),
            _grads("(a * b) * c", {"a": 2.0, "b": 3.0, "c": 4.0}, {"a": 12.0, "b": 8.0, "c": 6.0}),
            _grads("a * b + a * c", {"a": 2.0, "b": 3.0, "c": 4.0}, {"a": 7.0, "b": 2.0, "c": 2.0}),
        ),
        *about(
            "power",
            _grads("a ** 3", {"a": 2.0}, {"a": 12.0}),
            _grads("a ** 3 * b", {"a": 2.0, "b": 5.0}, {"a": 60.0, "b": 8.0}),
            _grads("a ** 2 + a ** 3", {"a": 2.0}, {"a": 16.0}),
            _grads("(a * b) ** 2", {"a": 2.0, "b": 3.0}, {"a": 36.0, "b": 24.0}),
            Probe(
                "a power at zero",
                ("a ** 2 * b", {"a": 0.0, "b": 5.0}),
                {"a": 0.0, "b": 0.0},
                drivers.value_grads,
                draw=lambda r: ("a ** 2 * b", {"a": 0.0, "b": float(r.randint(2, 9))}),
            ),
        ),
        *about(
            "relu",
            _grads("relu(a)", {"a": 3.0}, {"a": 1.0}, positive=("a",)),
            Probe(
                "relu below zero",
                ("relu(a)", {"a": -3.0}),
                {"a": 0.0},
                drivers.value_grads,
                draw=lambda r: ("relu(a)", {"a": -float(r.randint(2, 9))}),
            ),
            Probe("relu at zero", ("relu(a)", {"a": 0.0}), {"a": 0.0}, drivers.value_grads),
            _forward(
                "relu computes", "relu(a) + relu(b)", {"a": 3.0, "b": -4.0}, 3.0, positive=("a",), negative=("b",)
            ),
            _grads(
                "relu(a) * b + relu(c) * b",
                {"a": 3.0, "b": 5.0, "c": -4.0},
                {"a": 5.0, "b": 3.0, "c": 0.0},
                positive=("a",),
                negative=("c",),
            ),
            _grads("relu(a) + relu(a)", {"a": 3.0}, {"a": 2.0}, positive=("a",)),
        ),
        *about(
            "numbers on either side",
            _grads("x * 3", {"x": 4.0}, {"x": 3.0}, name="x * 3"),
            _grads("3 * x", {"x": 4.0}, {"x": 3.0}, name="3 * x"),
            _forward("1 + x", "1 + x", {"x": 4.0}, 5.0),
            # every form again inside a longer expression: its result has to remember what it was made from
            _grads("(1 + a) * b", {"a": 4.0, "b": 5.0}, {"a": 5.0, "b": 5.0}),
            _grads("(3 * a) * b", {"a": 4.0, "b": 5.0}, {"a": 15.0, "b": 12.0}),
        ),
        *about(
            "minus and division",
            _forward("-x", "-x", {"x": 4.0}, -4.0),
            _forward("x - 1", "x - 1", {"x": 4.0}, 3.0),
            _forward("1 - x", "1 - x", {"x": 4.0}, -3.0),
            _grads("-a * b", {"a": 4.0, "b": 5.0}, {"a": -5.0, "b": -4.0}),
            _grads("(a - 1) * b", {"a": 4.0, "b": 5.0}, {"a": 5.0, "b": 3.0}),
            _grads("(a - b) * c", {"a": 4.0, "b": 5.0, "c": 3.0}, {"a": 3.0, "b": -3.0, "c": -1.0}),
            _grads("(1 - a) * b", {"a": 4.0, "b": 5.0}, {"a": -5.0, "b": -3.0}),
            _grads("(1 - a) * b - a", {"a": 3.0, "b": 5.0}, {"a": -6.0, "b": -2.0}),
            _grads("a / 2 * b", {"a": 4.0, "b": 5.0}, {"a": 2.5, "b": 2.0}),
            _grads("1 / a * b", {"a": 4.0, "b": 5.0}, {"a": -0.3125, "b": 0.25}),
            _grads("a / b", {"a": 6.0, "b": 4.0}, {"a": 0.25, "b": -0.375}),
            _grads("3 / x", {"x": 4.0}, {"x": -0.1875}, name="3 / x"),
            _forward("x / 2", "x / 2", {"x": 5.0}, 2.5),
        ),
        *about(
            "together",
            _forward("a + b, a * b and a ** 3 compute", "a + b * a ** 3", {"a": 2.0, "b": 5.0}, 42.0),
            _grads("(a + b) * c", {"a": 2.0, "b": 3.0, "c": 4.0}, {"a": 4.0, "b": 4.0, "c": 5.0}),
            _grads("relu(a) + a", {"a": 3.0}, {"a": 2.0}, positive=("a",)),
            _grads("relu(a * b) + (a + b) * b", {"a": 2.0, "b": 3.0}, {"a": 6.0, "b": 10.0}),
            _grads("(a + b) * (a + c) * (b + a)", {"a": 2.0, "b": 3.0, "c": 4.0}, {"a": 85.0, "b": 60.0, "c": 25.0}),
            _grads("(a + b) * (c + b) * (b + c)", {"a": 2.0, "b": 3.0, "c": 4.0}, {"a": 49.0, "b": 119.0, "c": 70.0}),
            _grads("(3 * x + 2) ** 2", {"x": 1.0}, {"x": 30.0}),
        ),
    ),
    bank=(
        Wrong(
            "hands the work to minigrad",
            "import minigrad\n\n\nclass Value:\n    def __new__(cls, data, *rest):\n        return minigrad.Value(data)\n",
            "What comes out is minigrad's own Value. Write the operations yourself: later chapters build on what you find out here.",
            when=lambda seen: seen.error("gradients of a + b") == "Foreign",
        ),
        *(
            Wrong(
                f"{form} makes a number without a past",
                _a(old, new),
                f"No gradient reaches x through {form}: its result does not remember x, or has no rule. Build it from an operation "
                "that you have.",
                on=tuple(f"gradients of {of}" for of in (shows, "a + b", "a * b", "a ** 3", "-a * b")),
            )
            for form, old, new, shows in (
                ("1 + x", "        return self + other\n", "        return Value(other + self.data)\n", "(1 + a) * b"),
                (
                    "3 * x",
                    "    def __rmul__(self, other):\n        return self * other\n",
                    "    def __rmul__(self, other):\n        return Value(other * self.data)\n",
                    "(3 * a) * b",
                ),
                (
                    "x - 1",
                    "    def __sub__(self, other):\n",
                    "    def __sub__(self, other):\n        if not isinstance(other, Value):\n            return Value(self.data - other)\n",  # noqa: E501
                    "(a - 1) * b",
                ),
                ("1 - x", "        return -self + other\n", "        return Value(other - self.data)\n", "(1 - a) * b"),
                (
                    "x / 2",
                    "    def __truediv__(self, other):\n",
                    "    def __truediv__(self, other):\n"
                    "        if not isinstance(other, Value):\n            return Value(self.data / other)\n",
                    "a / 2 * b",
                ),
                (
                    "1 / x",
                    "        return self ** -1 * other\n",
                    "        return Value(other / self.data)\n",
                    "1 / a * b",
                ),
            )
        ),
        Wrong(
            "power divides by its base",
            _a("n * self.data ** (n - 1)", "n * out.data / self.data"),
            "At 0 the rule of the power divides by 0, although x² has a derivative there. Write it with an exponent that is one smaller.",
            when=lambda seen: (
                seen.error("a power at zero") == "ZeroDivisionError" and not seen.error("gradients of a ** 3")
            ),
        ),
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
            "wraps a Value again",
            _a(
                "        other = other if isinstance(other, Value) else Value(other)\n        out = Value(self.data + other.data",
                "        other = Value(other.data if isinstance(other, Value) else other)\n        out = Value(self.data + other.data",
            ),
            "The second operand receives nothing: what the sum remembers is a new Value made from its number, not the one it was given. "
            "Wrap plain numbers only.",
            when=lambda seen: (
                _number(seen, "gradients of a + b", "a") == 1.0 and _number(seen, "gradients of a + b", "b") == 0.0
            ),
        ),
        Wrong(
            "overwrites in the sum",
            _a(
                "self.grad += out.grad\n            other.grad += out.grad",
                "self.grad = out.grad\n            other.grad = out.grad",
            ),
            "A value that is used twice gets two contributions. With = the second one replaces the first: use +=.",
            when=lambda seen: _number(seen, "gradients of a + a", "a") == 1.0,
        ),
        Wrong(
            "overwrites everywhere",
            SOLUTION_A.replace(".grad += ", ".grad = "),
            "A value that is used twice gets two contributions. With = the second one replaces the first: use +=.",
            when=lambda seen: _number(seen, "gradients of a + a", "a") == 1.0,
        ),
        *(
            Wrong(
                f"{name} attaches no rule",
                _a(rule, rule.replace("        out._backward = _backward\n", "")),
                f"The {name} passes nothing on: its inputs receive 0. Does its result hold the rule (out._backward = _backward), and does "
                "the rule multiply by out.grad, which is filled in by then? self.grad and other.grad are still 0.",
                on=(f"gradients of {shows}", f"gradients of {right}"),
            )
            for name, rule, shows, right in (
                ("sum", ADD, "a + b", "a * b"),
                ("product", MUL, "a * b", "a + b"),
                ("power", POW, "a ** 3", "a * b"),
                ("relu", RELU, "relu(a)", "a * b"),
            )
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
            "product ignores the upstream gradient",
            _a(
                "self.grad += other.data * out.grad\n            other.grad += self.data * out.grad",
                "self.grad += other.data\n            other.grad += self.data",
            ),
            f"{UPSTREAM} out.grad is missing in the product.",
            on=("gradients of (a * b) * c", "gradients of a * b"),
        ),
        Wrong(
            "sum ignores the upstream gradient",
            _a(
                "self.grad += out.grad\n            other.grad += out.grad",
                "self.grad += 1.0\n            other.grad += 1.0",
            ),
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
            "power without its exponent",
            _a("n * self.data ** (n - 1)", "n * self.data"),
            "In the derivative of a power a power is left: of a ** 3 the derivative is 3 * a ** 2. Yours has no exponent.",
            on=("gradients of a ** 3",),
        ),
        Wrong(
            "power without its factor",
            _a("n * self.data ** (n - 1)", "self.data ** (n - 1)"),
            "In the derivative of a power the old exponent also appears as a factor.",
            on=("gradients of a ** 3",),
        ),
        Wrong(
            "relu lets everything through",
            _a("(1.0 if self.data > 0 else 0.0) * out.grad", "out.grad"),
            "Below zero relu is flat: moving the input changes nothing, so no gradient may pass there.",
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
            "__rsub__ is called for other - self: the plain number is on the left.",
            on=("1 - x",),
        ),
        Wrong(
            "no reflected difference",
            _a("    def __rsub__(self, other):\n        return -self + other\n", ""),
            "Python tried int.__sub__ first; an int knows nothing about Value, so Python then asked for Value.__rsub__. Define it.",
            when=lambda seen: seen.error("1 - x") == "TypeError" and seen.error("x - 1") == "",
        ),
        Wrong(
            "relu open at zero",
            _a("1.0 if self.data > 0 else 0.0", "1.0 if self.data >= 0 else 0.0"),
            "At exactly 0 the curve has a corner, and no derivative. By convention it is 0 there: > and not >=.",
            when=lambda seen: (
                _number(seen, "relu at zero", "a") == 1.0 and _number(seen, "relu below zero", "a") == 0.0
            ),
        ),
        Wrong(
            "no division",
            _a("    def __truediv__(self, other):\n        return self * other ** -1\n\n", ""),
            "x / y calls x.__truediv__(y). You have * and **, and 1 / y is y ** -1: nothing new has to be differentiated.",
            when=lambda seen: seen.error("gradients of a / b") == "TypeError" and not seen.error("x * 3"),
        ),
        Wrong(
            "no reflected quotient",
            _a("    def __rtruediv__(self, other):\n        return self ** -1 * other\n", ""),
            "Python tried int.__truediv__ first; an int knows nothing about Value, so Python then asked for Value.__rtruediv__. Define it.",
            when=lambda seen: seen.error("3 / x") == "TypeError" and not seen.error("gradients of a / b"),
        ),
        Wrong(
            "1 / x the wrong way round",
            _a("return self ** -1 * other", "return self * other ** -1"),
            "__rtruediv__ is called for other / self: the plain number is the numerator.",
            on=("3 / x",),
        ),
        Wrong(
            "plain numbers not wrapped",
            _a("        other = other if isinstance(other, Value) else Value(other)\n", ""),
            "A plain number has no .data: wrap it in a Value first, as __add__ of the stub does.",
            when=lambda seen: seen.error("x * 3") == "AttributeError" and seen.error("gradients of a * b") == "",
        ),
        Wrong(
            "-x without a past",
            _a("        return self * -1\n", "        return Value(-self.data)\n"),
            "-x makes a number that does not remember x, so no gradient reaches x. You have *: build it from that.",
            when=lambda seen: (
                _number(seen, "gradients of -a * b", "a") == 0.0 and _number(seen, "gradients of (a * b) * c", "a")
            ),
        ),
        Wrong(
            "x - y without a rule",
            _a(
                "        return self + (-other)\n",
                "        return Value(self.data - (other.data if isinstance(other, Value) else other), (self, other), '-')\n",
            ),
            "x - y makes a value without a rule of its own. You have + and -x: build it from those.",
            when=lambda seen: (
                _number(seen, "gradients of (a - b) * c", "a") == 0.0 and _number(seen, "gradients of -a * b", "a")
            ),
        ),
        Wrong(
            "x / y without a rule",
            _a("return self * other ** -1", "return Value(self.data / other.data, (self, other), '/')"),
            "x / y makes a value without a rule of its own. You have * and **, and 1 / y is y ** -1: build it from those.",
            when=lambda seen: (
                _number(seen, "gradients of a / b", "a") == 0.0 and _number(seen, "gradients of a * b", "a")
            ),
        ),
        Wrong(
            "power of the result",
            _a("n * self.data ** (n - 1)", "n * out.data ** (n - 1)"),
            "The derivative of a power is taken at the input, not at the result.",
            on=("gradients of a ** 3",),
        ),
        Wrong(
            "power computed as a product",
            _a("self.data ** n, (self,)", "self.data * n, (self,)"),
            "a ** 3 is a multiplied by itself, not by 3.",
            on=("a + b, a * b and a ** 3 compute",),
        ),
        Wrong(
            "relu returns whether",
            _a("Value(self.data if self.data > 0 else 0.0, (self,)", "Value(self.data > 0, (self,)"),
            "A comparison gives True or False, which count as 1 and 0. Above zero relu returns the number itself.",
            on=("relu computes",),
        ),
        Wrong(
            "a plain number as parent",
            _a('(self,), f"**{n}"', '(self, n), f"**{n}"'),
            "_prev holds a plain number. Only Values are parents: the exponent is not one.",
            when=lambda seen: "'int' object has no attribute '_prev'" in seen.message("gradients of a ** 3"),
        ),
        Wrong(
            "a tuple without its comma",
            _a('(self,), f"**{n}"', '(self), f"**{n}"'),
            "(self) is self in parentheses. A tuple with a single entry has a comma: (self,).",
            when=lambda seen: any(
                "'Value' object is not iterable" in seen.message(f"gradients of {of}") for of in ("a ** 3", "relu(a)")
            ),
        ),
        Wrong(
            "rule called instead of kept",
            _a("out._backward = _backward\n", "out._backward = _backward()\n"),
            "out._backward = _backward() runs the rule at once and stores its result, None. Store the function itself: no parentheses.",
            when=lambda seen: (
                any(
                    "'NoneType' object is not callable" in seen.message(f"gradients of {of}")
                    for of in ("a + b", "a * b", "a ** 3", "relu(a)")
                )
                and not seen.error("a + b, a * b and a ** 3 compute")
            ),
        ),
        Wrong(
            "rule never attached",
            _a("        out._backward = _backward\n", ""),
            "The local rule is written but never attached: each result needs out._backward = _backward.",
            when=lambda seen: (
                _number(seen, "gradients of a + b", "a") == 0.0 and _number(seen, "gradients of a * b", "a") == 0.0
            ),
        ),
        Wrong(
            "forgets to return the result",
            _a("        out._backward = _backward\n        return out\n", "        out._backward = _backward\n"),
            "An operation returns nothing: each of them must end with return out.",
            when=lambda seen: (
                seen.error("gradients of a * b") == "AttributeError" and seen.error("x * 3") == "AttributeError"
            ),
        ),
        Wrong(
            "parents forgotten",
            _a('(self, other), "*")', '(), "*")'),
            "The product does not remember what it was made from: pass (self, other) as _prev.",
            when=lambda seen: (
                isinstance(seen.value("a product remembers its parents"), dict)
                and not seen.value("a product remembers its parents")["a"]
            ),
        ),
        Wrong(
            "a reflected form that asks itself",
            _a("return -self + other\n", "return other - self\n"),
            "`other - self` inside __rsub__ asks the plain number again, which gives up again, and so on without end. The same holds for "
            "the other reflected forms: write each with an operator that has self on the left.",
            when=lambda seen: any(
                seen.error(probe) == "RecursionError" for probe in ("1 + x", "3 * x", "1 - x", "3 / x")
            ),
        ),
    ),
    hints=Hints(
        nudge="For each operation: if this input moves by a little, by how many times as much does the result move?",
        rule="Each parent gets += (derivative of the result with respect to that parent) × (gradient of the result). "
        "For 3 * x Python calls Value.__rmul__ once int.__mul__ has given up.",
        twin="A shift by a number, out = shift(a, k): the result moves just as far, so the rule adds 1.0 * out.grad to a.grad. Halving, "
        "out = a.half(): the rule adds 0.5 * out.grad. Both end with out._backward = _backward and return out.",
    ),
    reveal="Every rule has the same form: local derivative × out.grad, added to the parent. The reflected forms only turn the call round.",
    fresh=_fresh_05a,
    reused=True,
)


def _number(seen, probe, key):
    got = seen.value(probe)
    return got.get(key) if isinstance(got, dict) else None


# ---- 05.a2: the shortest program -------------------------------------------------------------------------------------------------

EX_A2 = ask(
    "05.a2",
    "The shortest program",
    Kind.PREDICT,
    minutes=2,
    level=2,
    points=0,
    text="In the diamond a.grad should be 25. What does plain recursion give: 25, less or more?",
    comment='a.grad should be 25. What will backward_by_recursion give: "25", "less" or "more"?',
    answer="more",
    wrong=(
        ("right", "25", "Follow c: two values use it, so it is visited twice. What does it pass on each time?"),
        (
            "less",
            "less",
            "Nothing is lost: every contribution is passed on at least once. Is any of it passed on twice?",
        ),
    ),
    hints=(
        "Write down the order in which the function visits the nodes. Which of them come more than once?",
        "A node that is visited twice passes on all it holds at the first visit, and all it holds at the second.",
        "p = x + x, y = p * p: y visits p twice. The first time p holds half of its gradient already, or all of it? Do it on paper.",
    ),
    reveal="c first passes on 1, later 7, of which 1 has already been passed on: a gets too much.",
    fresh=lambda r: (
        lambda n: Fresh(
            f"A node has {n} users and is visited once for each. How many of its visits come before its gradient is complete?",
            n - 1,
            wrong=((n, "At the last visit it is complete."),),
        )
    )(r.randint(3, 9)),
)

# ---- 05.b: backward -------------------------------------------------------------------------------------------------------------

STUB_B = '''\
def backward(root):
    """Fill in .grad of every value that root was made from.

    Each value has .grad (0.0 so far), ._prev (the values it was made from) and
    ._backward(), which adds local derivative × .grad to the .grad of each of its ._prev.
    """
    ...  # your code here: start the root's gradient, then decide which value goes when
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
    return {
        "y": 1.0,
        "f": 1.0,
        "e": 1.0,
        "d": 1 + c,
        "c": 1 + d,
        "b": (1 + d) + a * (1 + c),
        "a": (1 + d) + b * (1 + c),
    }


def _chain(graph, x):
    u = 3 * x + 2
    return {"y": 1.0, "u": 2 * u, "p": 2 * u, "x": 6 * u}


def _long_and_short(graph, x):
    return {"y": 1.0, "r": 1.0, "q": 1.0, "p": 1 + x, "x": 2 * x + 3 * x * x + 1}


def _ladder(graph, x, rungs):
    return {f"s{rungs}": 1.0, "x": 2.0**rungs}


def _falling(graph, x):
    return {"y": 1.0, "q": 1.0, "p": -1.0, "x": -2 * x}


def _written_twice(graph, a, b):
    return {"y": 1.0, "s": a + b, "t": a + b, "a": 2 * (a + b), "b": 2 * (a + b)}


def _square_and_more(graph, x):
    u = 3 * x
    s, t = u * u, u + 1
    grads = {"x": 3 * (4 * u * t + 2 * s), "u": 4 * u * t + 2 * s, "L": 1.0, "y": 1.0, "z": 1.0}
    return grads | {"s": t, "t": s, "s2": t, "t2": s}


def _draw_ladder(rng):
    return "ladder", _whole(-4, 6)(rng), rng.randint(8, 14)


def _draw_diamond(rng):
    return "diamond", _whole(2, 8)(rng), _whole(2, 8)(rng)


def _draw_equal(rng):
    """Inputs with a + b = a * b, so that c and d hold the same number."""
    return "diamond", *rng.choice([(3.0, 1.5), (1.5, 3.0), (5.0, 1.25), (1.25, 5.0), (9.0, 1.125), (-3.0, 0.75)])


def _whole(low, high):
    return lambda r: float(r.choice([n for n in range(low, high) if n not in (-1, 0, 1)]))


_b = partial(but, SOLUTION_B)
EQUAL = (
    "Two values can hold the same number and are still two nodes. Remember the values themselves, not what they hold."
)
ONLY_THE_ROOT = (
    "Only the root has a gradient in the end: every rule passed zeros on. Does the root get its 1 before the first rule runs, and does no "
    "line set a .grad back to 0 on the way?"
)
USE_PLUS = (
    "An earlier contribution was lost when a later one came. Contributions add up; clear nothing during the pass."
)


def _fresh_05b(rng):
    a, b = rng.choice([(3, 4), (2, 5), (4, 2), (5, 3)])
    want = _diamond("", a, b)["a"]
    return Fresh(
        f"The same diamond (c = a + b, d = a * b, e = c + d, f = c * d, y = e + f) with a = {a}, b = {b}. What is a.grad?",
        want,
        wrong=((_diamond("", a, b)["b"], "That is b.grad."), (b + 1, "c and d also receive contributions from f.")),
    )


EX_B = Exercise(
    id="05.b",
    title="The backward pass",
    kind=Kind.BUILD,
    points=4,
    minutes=15,
    difficulty=3,
    question="Write backward(root). It must be right when a value is used more than once, as c and d are in the diamond.",
    entry="backward",
    stub=STUB_B,
    solution=SOLUTION_B,
    ideas={"seed": 0.15, "order": 0.5, "each value once": 0.2, "leaves others alone": 0.15},
    probes=(
        *about(
            "seed",
            Probe(
                "y = a + a",
                ("a + a", 5.0),
                {"y": 1.0, "a": 2.0},
                drivers.backward_on,
                draw=lambda r: ("a + a", _whole(-4, 6)(r)),
            ),
            Probe(
                "a leaf as root",
                ("leaf", 4.0),
                {"x": 1.0},
                drivers.backward_on,
                draw=lambda r: ("leaf", _whole(-4, 6)(r)),
            ),
        ),
        *about(
            "order",
            Probe("diamond", ("diamond", 2.0, 3.0), _diamond, drivers.backward_on, draw=_draw_diamond),
            Probe(
                "a long and a short path",
                ("long and short", 2.0),
                _long_and_short,
                drivers.backward_on,
                draw=lambda r: ("long and short", _whole(2, 7)(r)),
            ),
            Probe(
                "y = 1 - x²",
                ("falling", 2.0),
                _falling,
                drivers.backward_on,
                draw=lambda r: ("falling", _whole(2, 8)(r)),
            ),
            Probe("two values that are equal", ("diamond", 2.0, 2.0), _diamond, drivers.backward_on, draw=_draw_equal),
            Probe(
                "a square, and another user",
                ("square and more", 2.0),
                _square_and_more,
                drivers.backward_on,
                draw=lambda r: ("square and more", _whole(2, 7)(r)),
            ),
        ),
        *about(
            "each value once",
            Probe(
                "chain y = (3x + 2)²",
                ("chain", 1.0),
                _chain,
                drivers.backward_on,
                draw=lambda r: ("chain", _whole(-4, 6)(r)),
            ),
            Probe("twelve doublings", ("ladder", 1.0, 12), _ladder, drivers.backward_on, draw=_draw_ladder),
            Probe(
                "y = (a + b) * (a + b)",
                ("written twice", 2.0, 3.0),
                _written_twice,
                drivers.backward_on,
                draw=lambda r: ("written twice", _whole(2, 8)(r), _whole(2, 8)(r)),
            ),
            Probe(
                "each rule runs once",
                ("diamond", 2.0, 3.0),
                driver=drivers.backward_calls,
                accept=lambda got, *_: (
                    None
                    if isinstance(got, dict) and all(n in (0, 1) for n in got.values()) and got.get("c") == 1
                    else "some values ran their rule more than once, or never"
                ),
                draw=_draw_diamond,
            ),
        ),
        *about(
            "leaves others alone",
            Probe(
                "a second call, from zero again",
                ("a + a", 5.0),
                {"y": 1.0, "a": 2.0},
                drivers.backward_again,
                draw=lambda r: ("a + a", _whole(-4, 6)(r)),
            ),
            Probe(
                "other graphs are left alone",
                (2.0,),
                {"other": 7.0, "other's parent": 0.0},
                drivers.backward_leaves_alone,
                draw=lambda r: (_whole(-4, 6)(r),),
            ),
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
            "c passed on its gradient before it was complete, and later passed on that first part again. It may run only after every value "
            "that uses it.",
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
            "c ran once, but too early: what f contributed afterwards never reached a and b.",
            on=("diamond",),
        ),
        Wrong(
            "the largest number first",
            _b(
                "for v in reversed(order):    # so reversed: before its parents",
                "for v in sorted(order, key=lambda v: -v.data):",
            ),
            "You take the values by size. How large a number is says nothing about which values were made from it: in 1 - x² the results "
            "are smaller than x.",
            on=("y = 1 - x²", "diamond"),
        ),
        Wrong(
            "equal values are taken for one",
            """\
def backward(root):
    order, seen = [], set()

    def visit(v):
        if (v.data, v._op) not in seen:
            seen.add((v.data, v._op))
            for parent in v._prev:
                visit(parent)
            order.append(v)

    visit(root)
    root.grad = 1.0
    for v in reversed(order):
        v._backward()
""",
            EQUAL,
            on=("y = (a + b) * (a + b)", "diamond"),
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
            "Level by level works in the diamond by luck. A value with a short and a long path to the root runs before the long path "
            "has contributed.",
            on=("diamond", "a long and a short path"),
        ),
        Wrong(
            "the seed comes last",
            _b(
                "    root.grad = 1.0\n    for v in reversed(order):    # so reversed: before its parents\n        v._backward()\n",
                "    for v in reversed(order):\n        v._backward()\n    root.grad = 1.0\n",
            ),
            ONLY_THE_ROOT,
            on=("diamond", "each rule runs once"),
        ),
        Wrong(
            "clears each parent first",
            SOLUTION_B.replace(
                "        v._backward()\n",
                "        for parent in v._prev:\n            parent.grad = 0.0\n        v._backward()\n",
            ),
            USE_PLUS,
            on=("diamond",),
        ),
        Wrong(
            "keeps only the last contribution",
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
            SOLUTION_B.replace(
                "        v._backward()\n",
                "        if v is not root:\n            v.grad = 0.0\n        v._backward()\n",
            ),
            ONLY_THE_ROOT,
            on=("diamond", "each rule runs once"),
        ),
        Wrong(
            "no seed",
            SOLUTION_B.replace("    root.grad = 1.0\n", ""),
            "Everything stays 0. What is the derivative of the root with respect to itself, and does a line set a .grad back to 0?",
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
            "The root never ran its own rule, so nothing left it. Is it in your order, and are there parentheses after _backward?",
            on=("diamond", "chain y = (3x + 2)²"),
        ),
        Wrong(
            "listed once for each use",
            SOLUTION_B.replace("if v not in seen", "if True"),
            "A value with two users is in your list twice, and runs its rule twice. Remember what you have listed.",
            on=("diamond", "a long and a short path"),
        ),
        Wrong(
            "values that are equal count as one",
            SOLUTION_B.replace("if v not in seen", "if v.data not in seen").replace("seen.add(v)", "seen.add(v.data)"),
            EQUAL,
            on=("two values that are equal", "diamond"),
        ),
        Wrong(
            "remembers the first call",
            """\
def backward(root, order=[], seen=set()):
    def visit(v):
        if v not in seen:
            seen.add(v)
            for parent in v._prev:
                visit(parent)
            order.append(v)

    visit(root)
    root.grad = 1.0
    while order:
        order.pop()._backward()
""",
            "The first call is right, the second is not: a list or a set is remembered between the calls. A default argument is made once, "
            "with the function; make it inside.",
            on=("a second call, from zero again", "diamond"),
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
            "A value ran before all the values that use it, so what came later never reached its parents. %where shows which value.",
            on=("diamond", "each rule runs once", "a long and a short path"),
        ),
        Wrong(
            "a turn each time a value is reached",
            """\
def backward(root):
    root.grad = 1.0
    queue = [root]
    while queue:
        v = queue.pop(0)
        v._backward()
        queue.extend(v._prev)
""",
            "A value has a turn each time it is reached, and passes on all that it holds, again and again. Every value has one turn, after "
            "all the values that were made from it.",
            on=("diamond",),
            when=lambda seen: (
                isinstance(got := seen.value("each rule runs once"), dict) and max(got.values(), default=0) > 1
            ),
        ),
    ),
    hints=Hints(
        nudge="In the diamond, c feeds both e and f. When is the gradient of c complete?",
        rule="A value may run its rule only after every value that uses it has run: reverse topological order. "
        "Depth-first search that appends a value after its parents gives the opposite order.",
        twin="For p = x * x, q = p + x, y = q * p, a possible order is y, q, p, x: p comes after y and q, which use it, and x after all. "
        "Search from y and append after the parents: x, p, q, y. Then read it backwards.",
    ),
    reveal="Append each value after its parents, read the list from its end: then everything that uses a value runs before it. "
    "The root starts with 1.",
    fresh=_fresh_05b,
    reused=True,
)

ALL_WELL = {"the gradients are cleared before each pass": True, "the parameters move": True, "downhill": True}

# ---- 05.c: a network that learns ------------------------------------------------------------------------------------------------

STUB_C = '''\
import random


class MLP:
    """Two inputs, a layer of ReLU units, and one output: the score of a point."""

    def __init__(self, hidden=8):
        ...  # weights and biases: Values, each starting at another random number

    def parameters(self):
        ...  # all of them, in one list

    def __call__(self, x1, x2):
        ...  # a unit: relu of a weighted sum of x1 and x2, plus a bias
        ...  # the score: a weighted sum of the units, plus a bias, without relu


def fit(points, labels, steps=300):
    """Train an MLP on points (x1, x2) with labels 1 and -1, and return it."""
    model = MLP()
    ...  # each step: the mean hinge loss of some 30 points, backward, and every parameter a little downhill
    return model
'''

SOLUTION_C = '''\
import random


class MLP:
    """Two inputs, a layer of ReLU units, and one output: the score of a point."""

    def __init__(self, hidden=8):
        self.units = [[Value(random.uniform(-1, 1)) for _ in range(3)] for _ in range(hidden)]
        self.output = [Value(random.uniform(-1, 1)) for _ in range(hidden + 1)]

    def parameters(self):
        return [p for unit in (*self.units, self.output) for p in unit]

    def __call__(self, x1, x2):
        score = self.output[-1]
        for (w1, w2, b), v in zip(self.units, self.output):
            score = score + v * (w1 * x1 + w2 * x2 + b).relu()
        return score


def fit(points, labels, steps=300):
    """Train an MLP on points (x1, x2) with labels 1 and -1, and return it."""
    model = MLP()
    for _ in range(steps):
        loss = Value(0.0)
        for i in random.sample(range(len(points)), 30):
            loss = loss + (1 - labels[i] * model(*points[i])).relu()
        for p in model.parameters():
            p.grad = 0.0
        backward(loss * (1 / 30))
        for p in model.parameters():
            p.data -= p.grad
    return model
'''

_c = partial(but, SOLUTION_C)


def _separated(got, seed):
    if not isinstance(got, dict) or not {"of 100 it was trained on", "of 100 others"} <= got.keys():
        return "fit must return the trained model, which gives a point's score when it is called"
    trained, others = got["of 100 it was trained on"], got["of 100 others"]
    return (
        None
        if trained >= 97 and others >= 90
        else f"{trained} of 100 points are on the right side, and {others} of 100 new ones"
    )


def _fresh_05c(rng):
    x, w, b = rng.randint(2, 4), rng.choice([-1, 1]), 0
    miss = 1 - w * x - b
    return Fresh(
        f"loss = relu(1 - (w * x + b)) for a point with label 1, at w = {w}, x = {x}, b = 0. What is w.grad?",
        -x if miss > 0 else 0,
        wrong=((x, "A larger score makes this loss smaller."), (-1, "That is b.grad; w is multiplied by x.")),
    )


def _seed(r):
    return (r.randint(1, 10_000),)


def _shows(seen, probe):
    got = seen.value(probe)
    return got if isinstance(got, dict) else {}


def _moons(seen):
    return _shows(seen, "two moons")


def _steps(seen):
    return _shows(seen, "three steps")


EX_C = Exercise(
    id="05.c",
    title="A network that learns",
    kind=Kind.BUILD,
    points=5,
    minutes=25,
    difficulty=3,
    question="Write MLP and fit. With your engine, they must put 97 of 100 points of two moons on the right side, and 90 of 100 new ones.",
    needs=("05.a", "05.b"),
    entry="fit",
    stub=STUB_C,
    solution=SOLUTION_C,
    probes=(
        Probe(
            "the score is one of your Values",
            (1,),
            {"a Value": True, "made from others": True},
            drivers.score_of,
            draw=_seed,
        ),
        Probe(
            "three steps",
            (1,),
            ALL_WELL,
            drivers.first_steps,
            2,
            draw=_seed,
        ),
        Probe("two moons", (1,), driver=drivers.two_moons, weight=3, accept=_separated, draw=_seed),
    ),
    bank=(
        Wrong(
            "plain numbers",
            _c("        return score\n", "        return Value(score.data)\n"),
            ".data leaves the graph: what you build from it is a new leaf, and no gradient finds its way back to the weights.",
            when=lambda seen: _shows(seen, "the score is one of your Values").get("made from others") is False,
        ),
        Wrong(
            "gradients never cleared",
            _c("        for p in model.parameters():\n            p.grad = 0.0\n", ""),
            "Each backward pass adds to the gradients of all earlier steps, which belong to weights that are no longer there. Set every "
            "grad to zero before the next pass, and check that parameters() returns all of them.",
            when=lambda seen: _steps(seen).get("the gradients are cleared before each pass") is False,
        ),
        Wrong(
            "cleared between backward and step",
            _c("        for p in model.parameters():\n            p.grad = 0.0\n", "").replace(
                "            p.data -= p.grad", "            p.grad = 0.0\n            p.data -= p.grad"
            ),
            "After three steps no parameter has moved. Is the gradient cleared before it is used? Does the update change p.data itself, "
            "and is it the same model in every step?",
            when=lambda seen: (
                seen.value("three steps") == {**ALL_WELL, "the parameters move": False, "downhill": False}
                and _moons(seen).get("scores differ")
            ),
        ),
        Wrong(
            "relu around the score",
            _c("        return score\n", "        return score.relu()\n"),
            "Your score is never negative, so no point can be put on the other side: the last layer has no relu.",
            when=lambda seen: _moons(seen).get("lowest score") == 0.0,
        ),
        Wrong(
            "all weights start at zero",
            _c("Value(random.uniform(-1, 1))", "Value(0.0)"),
            "All units start alike, at zero, where relu passes no gradient: they can never become different. Start each weight at a random "
            "number of its own.",
            when=lambda seen: (
                _steps(seen).get("the parameters move") is False and _moons(seen).get("scores differ") is False
            ),
        ),
        Wrong(
            "uphill",
            _c("p.data -= p.grad", "p.data += p.grad"),
            "The parameters move with the gradient, which is uphill. The loss falls the other way.",
            when=lambda seen: _steps(seen).get("downhill") is False and _steps(seen).get("the parameters move") is True,
        ),
        Wrong(
            "no relu in the units",
            _c("(w1 * x1 + w2 * x2 + b).relu()", "(w1 * x1 + w2 * x2 + b)"),
            "The units have no relu: a weighted sum of weighted sums is one straight line, and a line cannot separate the moons.",
            when=lambda seen: _moons(seen).get("straight") is True,
        ),
        Wrong(
            "to the wrong side",
            _c("1 - labels[i] *", "1 + labels[i] *"),
            "Nearly all points end on the wrong side. For a point on the right side label × score is positive: make its loss small.",
            when=lambda seen: (
                seen.value("three steps") == ALL_WELL and _moons(seen).get("of 100 it was trained on", 100) < 30
            ),
        ),
        Wrong(
            "steps too small",
            _c("p.data -= p.grad", "p.data -= 0.001 * p.grad"),
            "Downhill, but it does not get there. Look at the loss. If it still falls at the end, take longer steps (a learning rate of "
            "0.5 to 1 works well); if it jumps, shorter ones. If it stops early, the model is the reason: has every unit a bias, are there "
            "enough of them, and do they start with different numbers?",
            when=lambda seen: (
                seen.value("three steps") == ALL_WELL and _moons(seen).get("of 100 it was trained on", 100) < 97
            ),
        ),
    ),
    hints=Hints(
        nudge="First the model: does MLP()(0.5, 0.2) return a Value? Then one step: does the loss of the same points fall?",
        rule="Hinge loss of one point: relu(1 - label × score). A step: add it up over 30 points drawn with random.sample, divide by 30, "
        "clear all gradients, call backward, then move each parameter against its gradient. Learning rates from 0.5 to 1 are good.",
        twin="A line through points: pred = w * x + b, loss = (pred - y) ** 2, added up over the points. Clear w.grad and b.grad, call "
        "backward(loss), then w.data -= 0.01 * w.grad, and the same for b. Repeat 100 times.",
    ),
    reveal="Thirty-three Values are the network. Each step builds a graph of some two thousand more, runs backward once, and drops it.",
    fresh=_fresh_05c,
    limits=Limits(seconds=60.0, wall=300.0),
)

# ---- 05.d: a long chain ---------------------------------------------------------------------------------------------------------

STUB_D = '''\
def backward_deep(root):
    """Like backward(root) of exercise 05.b, but for chains of 100,000 values and more."""
    ...  # a function that calls itself so deep stops with a RecursionError: use a list as your own stack
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
        wrong=(
            (n + 3, "x is used twice: once in the product and once at the bottom of the chain."),
            (3, "x is used twice."),
        ),
    )


EX_D = Exercise(
    id="05.d",
    title="A hundred thousand values deep",
    kind=Kind.OPTIONAL,
    points=1,
    minutes=10,
    difficulty=3,
    question="A chain of 100,000 operations must not hit Python's recursion limit. Write the same pass with a stack of your own.",
    entry="backward_deep",
    stub=STUB_D,
    solution=SOLUTION_D,
    probes=(
        Probe(
            "diamond",
            ("diamond", 2.0, 3.0),
            _diamond,
            drivers.backward_on,
            draw=lambda r: ("diamond", _whole(2, 8)(r), _whole(2, 8)(r)),
        ),
        Probe(
            "a long and a short path",
            ("long and short", 2.0),
            _long_and_short,
            drivers.backward_on,
            draw=lambda r: ("long and short", _whole(2, 7)(r)),
        ),
        Probe(
            "100,000 values deep",
            (100_000,),
            lambda n: {"y": 1.0, "sum": 2.0, "x": n + 4.0, "1": 2.0 * n},
            drivers.backward_long_chain,
            2,
            draw=lambda r: (r.randint(90_000, 110_000),),
        ),
        Probe("twelve doublings", ("ladder", 1.0, 12), _ladder, drivers.backward_on, draw=_draw_ladder),
    ),
    bank=(
        Wrong(
            "recursive",
            RECURSIVE_D,
            "Each level of recursion costs a frame of Python's stack, and the stack is limited: iterative post-order with a "
            "stack of your own.",
            when=lambda seen: seen.error("100,000 values deep") == "RecursionError",
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
            "Level by level works in the diamond by luck. A value with a short and a long path to the root runs before the long path "
            "has contributed.",
            on=("diamond", "a long and a short path"),
        ),
        Wrong(
            "raises the limit",
            "import sys\n"
            + RECURSIVE_D.replace("    order, seen", "    sys.setrecursionlimit(1_000_000)\n    order, seen"),
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
    limits=Limits(seconds=10.0, wall=60.0),
)

EXERCISES = (EX_A, EX_A2, EX_B, EX_C, EX_D)
