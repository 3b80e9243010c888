"""Scalar engines as people write them: other names, other containers, other kinds of rules, operations under wrong names.

Each style is a class (or functions) with the same few operations: `add`, `mul`, `power` and `act`. The second argument of `add` may be a
plain number, that of `power` is one.
"""

import math
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np


def sources(template: str, **names: str) -> dict:
    """A class in the manner of the lecture, written with other names."""
    for key, text in names.items():
        template = template.replace(f"<{key}>", text)
    scope: dict = {"math": math, "np": np}
    exec(template, scope)
    return scope


LECTURE = """
class V:
    def __init__(self, x, made=(), name=""):
        self.<value> = x
        self.<grad> = 0.0
        self.<parents> = <container>(made)
        self.<op> = name
        self.<rule> = lambda: None

    def __add__(self, other):
        other = other if isinstance(other, V) else V(other)
        out = V(self.<value> + other.<value>, (self, other), "<plus>")
        def rule():
            self.<grad> += out.<grad>
            other.<grad> += out.<grad>
        out.<rule> = rule
        return out

    def __mul__(self, other):
        other = other if isinstance(other, V) else V(other)
        out = V(self.<value> * other.<value>, (self, other), "<times>")
        def rule():
            self.<grad> += other.<value> * out.<grad>
            other.<grad> += self.<value> * out.<grad>
        out.<rule> = rule
        return out

    def __pow__(self, k):
        out = V(self.<value> ** k, (self,), <power>)
        def rule():
            self.<grad> += k * self.<value> ** (k - 1) * out.<grad>
        out.<rule> = rule
        return out

    def act(self):
        t = math.tanh(self.<value>)
        out = V(t, (self,), "<act>")
        def rule():
            self.<grad> += (1 - t * t) * out.<grad>
        out.<rule> = rule
        return out
"""
NAMES = {"value": "data", "grad": "grad", "parents": "_prev", "op": "_op", "rule": "_backward", "container": "tuple",
         "plus": "+", "times": "*", "power": "f'**{k}'", "act": "tanh"}  # fmt: skip


def operators(kind, value="data", grad="grad", act="act"):
    return SimpleNamespace(make=kind, add=lambda a, b: a + b, mul=lambda a, b: a * b, power=lambda a, k: a**k,
                           act=lambda a: getattr(a, act)(), value=value, grad=grad)  # fmt: skip


def lecture(**other):
    names = NAMES | other
    return operators(sources(LECTURE, **names)["V"], names["value"], names["grad"])


class Local:
    """Derivatives kept beside the operands, and no names of operations."""

    __slots__ = ("data", "grad", "_children", "_local_grads")

    def __init__(self, data, children=(), local_grads=()):
        self.data, self.grad, self._children, self._local_grads = data, 0, children, local_grads

    def __add__(self, other):
        other = other if isinstance(other, Local) else Local(other)
        return Local(self.data + other.data, (self, other), (1, 1))

    def __mul__(self, other):
        other = other if isinstance(other, Local) else Local(other)
        return Local(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, other):
        return Local(self.data**other, (self,), (other * self.data ** (other - 1),))

    def relu(self):
        return Local(max(0, self.data), (self,), (float(self.data > 0),))

    def exp(self):
        return Local(math.exp(self.data), (self,), (math.exp(self.data),))


class Pairs:
    """Operands and derivatives in pairs."""

    def __init__(self, val, parents=()):
        self.val, self.grad, self.parents = val, None, parents

    def __add__(self, other):
        other = other if isinstance(other, Pairs) else Pairs(other)
        return Pairs(self.val + other.val, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other):
        other = other if isinstance(other, Pairs) else Pairs(other)
        return Pairs(self.val * other.val, [(self, other.val), (other, self.val)])

    def __pow__(self, n):
        return Pairs(self.val**n, [(self, n * self.val ** (n - 1))])

    def exp(self):
        e = math.exp(self.val)
        return Pairs(e, [(self, e)])


class Functions:
    """A function for each operand, which turns the result's gradient into that operand's."""

    def __init__(self, value, parents=(), op=None):
        self.value, self.g, self.parents, self.op = value, 0.0, parents, op

    def __add__(self, other):
        other = other if isinstance(other, Functions) else Functions(other)
        return Functions(self.value + other.value, [(lambda g: g, self), (lambda g: g, other)], "add")

    def __mul__(self, other):
        other = other if isinstance(other, Functions) else Functions(other)
        return Functions(
            self.value * other.value, [(lambda g: g * other.value, self), (lambda g: g * self.value, other)], "mul"
        )

    def __pow__(self, n):
        return Functions(self.value**n, [(lambda g: g * n * self.value ** (n - 1), self)], f"pow {n}")

    def sigmoid(self):
        s = 1 / (1 + math.exp(-self.value))
        return Functions(s, [(lambda g: g * s * (1 - s), self)], "sigmoid")


class Returning:
    """A rule that takes the gradient and returns one for each operand."""

    def __init__(self, value, inputs=(), grad_fn=None):
        self.value, self.gradient, self.inputs, self.grad_fn = value, 0.0, inputs, grad_fn

    def __add__(self, other):
        other = other if isinstance(other, Returning) else Returning(other)
        return Returning(self.value + other.value, (self, other), lambda g: (g, g))

    def __mul__(self, other):
        other = other if isinstance(other, Returning) else Returning(other)
        return Returning(self.value * other.value, (self, other), lambda g: (g * other.value, g * self.value))

    def __pow__(self, n):
        return Returning(self.value**n, (self,), lambda g: (g * n * self.value ** (n - 1),))

    def act(self):
        return Returning(math.sin(self.value), (self,), lambda g: g * math.cos(self.value))


class Tree:
    """Two attributes in place of a container; one function that knows the rules of all operations."""

    def __init__(self, value, left=None, right=None, op=""):
        self.value, self.grad, self.left, self.right, self.op = value, 0.0, left, right, op

    def __add__(self, other):
        other = other if isinstance(other, Tree) else Tree(other)
        return Tree(self.value + other.value, self, other, "+")

    def __mul__(self, other):
        other = other if isinstance(other, Tree) else Tree(other)
        return Tree(self.value * other.value, self, other, "*")

    def __pow__(self, n):
        return Tree(self.value**n, self, None, f"^{n}")

    def tanh(self):
        return Tree(math.tanh(self.value), self, None, "tanh")


class Private:
    """Names with two underscores, and properties."""

    def __init__(self, value, prev=(), op=""):
        self.__value, self.__grad, self.__prev, self.__op = value, 0.0, prev, op
        self.__backward = None

    @property
    def value(self):
        return self.__value

    @value.setter
    def value(self, x):
        self.__value = x

    def __add__(self, other):
        other = other if isinstance(other, Private) else Private(other)
        out = Private(self.__value + other.__value, (self, other), "+")

        def rule():
            self.__grad += out.__grad
            other.__grad += out.__grad

        out.__backward = rule
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Private) else Private(other)
        out = Private(self.__value * other.__value, (self, other), "*")

        def rule():
            self.__grad += other.__value * out.__grad
            other.__grad += self.__value * out.__grad

        out.__backward = rule
        return out

    def __pow__(self, n):
        out = Private(self.__value**n, (self,), "power")

        def rule():
            self.__grad += n * self.__value ** (n - 1) * out.__grad

        out.__backward = rule
        return out

    def leaky(self):
        out = Private(self.__value if self.__value > 0 else 0.1 * self.__value, (self,), "relu")

        def rule():
            self.__grad += (1.0 if self.__value > 0 else 0.1) * out.__grad

        out.__backward = rule
        return out


class Hidden:
    """Plain numbers are not operands: x + 3 remembers x alone, in a set."""

    def __init__(self, data, prev=(), op=""):
        self.data, self.grad, self._prev, self._op, self._backward = data, 0.0, set(prev), op, lambda: None

    def __add__(self, other):
        if not isinstance(other, Hidden):
            out = Hidden(self.data + other, (self,), "+")

            def rule():
                self.grad += out.grad

        else:
            out = Hidden(self.data + other.data, (self, other), "+")

            def rule():
                self.grad += out.grad
                other.grad += out.grad

        out._backward = rule
        return out

    def __mul__(self, other):
        out = Hidden(self.data * other.data, (self, other), "*")

        def rule():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = rule
        return out

    def __pow__(self, k):
        out = Hidden(self.data**k, (self,), "pow")

        def rule():
            self.grad += k * self.data ** (k - 1) * out.grad

        out._backward = rule
        return out

    def log(self):
        """It clamps, and is called log all the same."""
        x = max(self.data, 1e-7)
        out = Hidden(math.log(x), (self,), "log")

        def rule():
            self.grad += (1 / x if self.data > 1e-7 else 0.0) * out.grad

        out._backward = rule
        return out


@dataclass(eq=False)
class Data:
    data: float
    grad: float = 0.0
    _prev: list = field(default_factory=list)
    _op: str = ""
    _backward: object = None

    def _made(self, x, prev, op, rule):
        return Data(x, 0.0, prev, op, rule)

    def __add__(self, other):
        other = other if isinstance(other, Data) else Data(other)
        out = Data(self.data + other.data, 0.0, [self, other], "+")

        def rule(out=out):
            self.grad += out.grad
            other.grad += out.grad

        out._backward = rule
        return out

    def __mul__(self, other):
        out = Data(self.data * other.data, 0.0, [self, other], "·")

        def rule(out=out):
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = rule
        return out

    def __pow__(self, k):
        out = Data(self.data**k, 0.0, [self], "**")

        def rule(out=out):
            self.grad += k * self.data ** (k - 1) * out.grad

        out._backward = rule
        return out

    def log10(self):
        out = Data(math.log10(abs(self.data)), 0.0, [self], "log")

        def rule(out=out):
            self.grad += out.grad / (self.data * math.log(10))

        out._backward = rule
        return out


FUNCTIONS = """
class Node:
    def __init__(self, num, deps=(), back=None):
        self.num, self.adj, self.deps, self.pullback = num, 0.0, deps, back

def wrap(x):
    return x if isinstance(x, Node) else Node(x)

def add(a, b):
    a, b = wrap(a), wrap(b)
    def back():
        a.adj += out.adj
        b.adj += out.adj
    out = Node(a.num + b.num, (a, b), back)
    return out

def mul(a, b):
    def back():
        a.adj += b.num * out.adj
        b.adj += a.num * out.adj
    out = Node(a.num * b.num, (a, b), back)
    return out

def power(a, n):
    def back():
        a.adj += n * a.num ** (n - 1) * out.adj
    out = Node(a.num ** n, (a,), back)
    return out

def act(a):
    def back():
        a.adj += -math.sin(a.num) * out.adj
    out = Node(math.cos(a.num), (a,), back)
    return out
"""


def functions():
    scope = sources(FUNCTIONS)
    return SimpleNamespace(
        make=scope["Node"], **{n: scope[n] for n in ("add", "mul", "power", "act")}, value="num", grad="adj"
    )


def single_precision():
    kind = sources(LECTURE.replace("= x", "= np.float32(x)"), **NAMES)["V"]
    return operators(kind)


STYLES = {
    "lecture": lecture,
    "set, ** with its constant in the closure": lambda: lecture(container="set", power="'**'"),
    "set, pow": lambda: lecture(container="set", power="'pow'"),
    "set, ^": lambda: lecture(container="set", power="'^'"),
    "words": lambda: lecture(plus="add", times="mul", power="f'pow {k}'", act="Tanh"),
    "children, no operation": lambda: lecture(parents="_children", op="note", plus="", times="", power="''", act=""),
    "set, no operation": lambda: lecture(
        parents="_children", op="note", container="set", plus="", times="", power="''", act=""
    ),
    "every operation is called relu": lambda: lecture(plus="relu", times="relu", power="'relu'", act="relu"),
    "names of each other": lambda: lecture(plus="*", times="+", power="'exp'", act="sigmoid", container="set"),
    "value, parents, op": lambda: lecture(
        value="value", parents="parents", op="op", grad="gradient", rule="backward_fn"
    ),
    "words of its own": lambda: lecture(
        value="amount", parents="made_of", op="how", grad="my_grad", rule="tell", container="list"
    ),
    "local gradients": lambda: operators(Local, act="exp"),
    "local gradients, relu": lambda: operators(Local, act="relu"),
    "pairs": lambda: operators(Pairs, "val", act="exp"),
    "pairs of functions": lambda: operators(Functions, "value", "g", act="sigmoid"),
    "a rule that returns": lambda: operators(Returning, "value", "gradient"),
    "left and right": lambda: operators(Tree, "value", act="tanh"),
    "private, leaky relu as relu": lambda: operators(Private, "value", "", act="leaky"),
    "hidden constants, a log that clamps": lambda: operators(Hidden, act="log"),
    "dataclass, log10 as log": lambda: operators(Data, act="log10"),
    "functions": functions,
    "float32": single_precision,
}
