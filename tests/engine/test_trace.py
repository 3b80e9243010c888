"""The trace: the fields, the numbers of every step against the engine, names, source lines, learners' own classes, determinism."""

import gc
import json
import linecache
import math
import subprocess
import sys
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad.scalar as scalar
from minigrad.micro import MLP
from minigrad.scalar import Value
from minigrad.tracing.trace import Edge, GraphCycleError, Node, Step, Trace, fmt, ledger, replay_steps, to_text, trace
from tests.engine.test_scalar import BINARY, ENGINE, run


def labels(t):
    return [n["label"] for n in t["nodes"]]


def by_label(t, label):
    return next(n for n in t["nodes"] if n["label"] == label)


def s1():
    x = Value(1.0)
    y = (3 * x + 2) ** 2
    return trace(y, {"x": x, "y": y})


# The contract


def test_the_fields_are_the_contracts():
    x = Value(-2.0)
    t = trace((x.relu() + 3 * x).max(1), {"x": x})
    for_tensors = {"arrays", "notices", "unused", "groups"}
    assert set(t) == set(Trace.__annotations__) - for_tensors
    optional = {
        key for kind in (Node, Edge, Step) for key, what in kind.__annotations__.items() if "NotRequired" in str(what)
    }
    for kind, items in ((Node, t["nodes"]), (Edge, t["edges"]), (Step, t["steps"])):
        for item in items:
            assert set(kind.__annotations__) - optional <= set(item) <= set(kind.__annotations__)
    assert [n["id"] for n in t["nodes"]] == list(range(len(t["nodes"]))) and [e["id"] for e in t["edges"]] == list(
        range(len(t["edges"]))
    )
    assert all(e["source"] < e["target"] for e in t["edges"])
    json.dumps(t, allow_nan=False)


@pytest.mark.parametrize(
    "compute, says",
    [
        (lambda x: (x - 3).log(), "log(x − 3) is nan: a negative number has no logarithm (x − 3 = −1)."),
        (lambda x: (x - 2).log() * 2, "log(x − 2) is −inf: the logarithm of 0 is −inf (x − 2 = 0)."),
        (lambda x: (-x).sqrt() + 1, "sqrt(−x) is nan: a negative number has no square root (−x = −2)."),
        (lambda x: x / (x - 2), "y = x / (x − 2) is inf: it is divided by 0 (x = 2 and x − 2 = 0)."),
        (
            lambda x: (x - 4) ** 0.5,
            "y = (x − 4)^0.5 is nan: a negative number has no power with a fractional exponent (x − 4 = −2).",
        ),
        (lambda x: (1000 * x).exp(), "exp(1000x) is inf: the result is too large for a float (1000x = 2000)."),
        (lambda x: x * Value(math.inf) + 1, None),
        (lambda x: x.log(), None),
    ],
)
def test_the_first_number_that_is_none_is_named(compute, says):
    x = Value(2.0)
    y = compute(x)
    assert trace(y, {"x": x, "y": y} if says and says.startswith("y") else {"x": x}).get("notices") == (
        [says] if says else None
    )


def test_the_eight_events_of_the_first_simulation():
    t = s1()
    rows = replay_steps(t)
    assert [r["value"] for r in rows if r["phase"] == "forward"] == [1.0, 3.0, 5.0, 25.0]
    assert [r["after"] for r in rows if r["phase"] == "backward"] == [1.0, 10.0, 10.0, 30.0]
    assert [r["kind"] for r in rows] == ["input", "compute", "compute", "compute", "seed", "send", "send", "send"]
    assert labels(t) == ["x", "3", "3x", "2", "3x + 2", "y"]
    assert [n["kind"] for n in t["nodes"]] == ["leaf", "constant", "operation", "constant", "operation", "operation"]
    assert [n["grad"] for n in t["nodes"]] == [30.0, None, 10.0, None, 10.0, 1.0]
    assert [n["op"] for n in t["nodes"]] == ["", "", "*", "", "+", "**"]
    assert by_label(t, "y")["expr"] == "(3x + 2)²" and by_label(t, "y")["rule"] == "d((3x + 2)²)/d(3x + 2) = 2(3x + 2)"
    assert [e["local"] for e in t["edges"] if e["carries_grad"]] == [3.0, 1.0, 10.0]
    assert sum(s["bytes"] for n in t["nodes"] for s in n["saved"]) == 16
    assert t["title"] == "y" and t["root"] == 5


def test_the_learners_grad_is_not_touched_and_trace_matches_a_fresh_backward():
    x = Value(1.0)
    y = x * x
    y.backward()
    x.grad = 123.0
    assert trace(y)["nodes"][0]["grad"] == 2.0 and x.grad == 123.0


def test_sentences_have_the_numbers_in_them_and_tell_of_adding():
    a = Value(2.0)
    b = a * 3
    c = a + b
    y = c * b
    rows = replay_steps(trace(y, {"a": a, "b": b, "c": c, "y": y}))
    said = [r["sentence"] for r in rows]
    assert said[0] == "**a is 2:** an input, nothing to compute."
    assert said[1] == "**b becomes 6:** it is a × 3."
    assert said[4] == "**The gradient of y starts at 1:** how fast y changes with itself."
    assert (
        said[5]
        == "**y passes 6 back to c:** the local derivative of c × b with respect to c is 6, times the 1 it started with."
    )
    assert said[8] == (
        "**c passes 6 back to b:** the local derivative of a + b with respect to b is 1, times the upstream gradient 6 from y. "
        "Added to the 8 that was already there, b now has 14."
    )
    assert said[9].endswith(
        "times the upstream gradient 14 from y and c. Added to the 6 that was already there, a now has 48."
    )
    assert a.grad == 0 and [r["to"] for r in ledger(trace(y))] == [3, 2, 0, 2, 0]


def test_both_arrows_of_a_plus_a():
    a = Value(2.0)
    t = trace(a + a, {"a": a})
    assert [(e["source"], e["target"], e["slot"], e["local"]) for e in t["edges"]] == [(0, 1, 0, 1.0), (0, 1, 1, 1.0)]
    assert t["nodes"][0]["grad"] == 2.0 and len(ledger(t)) == 2


def test_a_shut_gate_sends_exactly_zero():
    x = Value(-1.0)
    t = trace((x.relu() + 0).sqrt(), {"x": x})
    edge = next(e for e in t["edges"] if e["source"] == 0)
    assert edge["local"] == 0.0 and edge["shut"] and edge["local_text"] == "1 if x > 0, else 0"
    assert t["nodes"][0]["grad"] == 0.0 and replay_steps(t)[-1]["after"] == 0.0
    assert [e["local"] for e in t["edges"]][-1] == "inf"


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted({*ENGINE, "max"})), st.integers(0, 30), st.integers(0, 30)),
        min_size=1,
        max_size=12,
    ),
    st.lists(st.floats(-2, 2), min_size=1, max_size=3),
)
def test_steps_add_up_to_the_engines_gradients(program, at):
    ops = {**ENGINE, "max": Value.max}
    numbers = [Value(v) for v in at]
    leaves = list(numbers)
    y = run(program, numbers, ops)
    t = trace(y, {f"x{i}": leaf for i, leaf in enumerate(leaves)})
    y.backward()
    rows = replay_steps(t)
    last = {}
    for r in rows:
        if r["kind"] == "send":
            last[r["to"]] = r["after"]
    for i, leaf in enumerate(leaves):
        for n in t["nodes"]:
            if n["label"] == f"x{i}":
                assert n["grad"] == leaf.grad or n["grad"] in ("nan", "inf", "-inf")
                if leaf is not y:
                    assert last[n["id"]] == n["grad"]
    used = [n["label"] for n in t["nodes"] if n["kind"] != "constant"]
    assert len(set(used)) == len(used)
    json.dumps(t, allow_nan=False)


# Names


def test_names_are_found_by_identity_first_binding_wins():
    x = Value(1.0)
    y = x * 2
    t = trace(y, {"_": y, "_1": x, "Out": {1: x}, "x": x, "again": x, "n": 5})
    assert labels(t)[0] == "x" and t["nodes"][0]["named"] and not t["nodes"][-1]["named"]
    x.label = "speed"
    assert labels(trace(y, {"x": x}))[0] == "speed"


def test_names_lead_through_lists_dicts_and_attributes():
    w = [Value(1.0), Value(2.0)]
    table = {"bias": Value(0.5)}
    model = MLP(1, [1], rng=0)
    y = w[0] * w[1] + table["bias"] + model([1.0])
    found = labels(trace(y, {"w": w, "table": table, "model": model, "self_reference": [[]]}))
    assert {"w[0]", "w[1]", "table['bias']", "model.layers[0].neurons[0].w[0]", "model.layers[0].neurons[0].b"} <= set(
        found
    )


def test_a_namespace_that_contains_itself_is_no_problem():
    loop: list = []
    loop.append(loop)
    x = Value(1.0)
    assert labels(trace(x * 2, {"loop": loop, "x": x}))[0] == "x"


def test_the_same_label_twice_is_told_apart():
    a, b = Value(1.0, label="w"), Value(2.0, label="w")
    assert labels(trace(a * b))[:2] == ["w", "w₂"]


def test_made_up_labels_differ_from_each_other_and_from_names():
    x, v1 = Value(1.0), Value(2.0)
    y = (x * 2.5) * (x * 2.5) + (x * v1).tanh().exp().sin().cos()
    t = trace(y, {"x": x, "v1": v1})
    used = [n["label"] for n in t["nodes"] if n["kind"] != "constant"]
    assert len(set(used)) == len(used) and "2.5x" not in used and "x × 2.5" in used and "v2" in used


def test_brackets_where_they_are_needed():
    a, b, c = Value(1.0), Value(2.0), Value(3.0)
    names = {"a": a, "b": b, "c": c}

    def expr(y):
        return trace(y, names)["nodes"][-1]["expr"]

    assert expr((a + b) * c) == "(a + b) × c" and expr(a + b * c) == "a + b × c" and expr(a - (b - c)) == "a − (b − c)"
    assert (
        expr((a * b) ** 3) == "(a × b)³"
        and expr((a + 1) ** -1) == "(a + 1)⁻¹"
        and expr(a**0.5) == "a^0.5"
        and expr(2**a) == "2^a"
    )
    assert (
        expr(-(a + b)) == "−(a + b)"
        and expr(a * -2) == "a × (−2)"
        and expr(a.max(b)) == "max(a, b)"
        and expr(abs(a)) == "|a|"
    )
    assert expr(a / (b * c)) == "a / (b × c)" and expr((a + b).tanh()) == "tanh(a + b)"


def test_local_formulas_are_true():
    """Every `local_text` is evaluated as a formula and compared with the engine's number."""
    a, b = Value(0.7), Value(1.3)
    names = {"a": a, "b": b}
    scope = {name: getattr(math, name) for name in ("exp", "log", "sin", "cos", "tanh", "sqrt")} | {"a": 0.7, "b": 1.3}
    scope |= {"sigmoid": lambda x: 1 / (1 + math.exp(-x)), "sign": lambda x: math.copysign(1, x)}
    results = [f(a, b) for f in BINARY.values()] + [
        f(a) for f in (Value.exp, Value.log, Value.sin, Value.cos, Value.tanh, Value.sigmoid)
    ]
    results += [
        a.sqrt(),
        a.relu(),
        -a,
        abs(a),
        a**2,
        a**3,
        a**-1,
        a**-2,
        a**1,
        a**0.5,
        a**-0.5,
        2 / a,
        3 - a,
        (a**7),
        a * -2,
    ]
    for y in results:
        t = trace(y, names)
        for e in t["edges"]:
            text = e["local_text"].replace("−", "-").replace("×", "*").replace("^", "**")
            for digit, plain in zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True):
                text = text.replace(digit, plain if digit == "⁻" else plain)
            text = _powers(e["local_text"])
            if ", else" in text:
                text = "(" + text.replace(", else", " else") + ")"
            assert eval(text, {**scope, "__builtins__": {}}) == pytest.approx(e["local"], rel=1e-12), (
                t["nodes"][-1]["expr"],
                text,
            )


def _powers(text: str) -> str:
    import re

    text = re.sub(
        r"([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: "**" + m[1].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")), text
    )
    text = text.replace("−", "-").replace("×", "*").replace("^", "**")
    return re.sub(r"(\d)(?=[a-z(])", r"\1*", text)


# Source lines

CELL = """x = Value(1.0)
u = 3*x + 2  # été
y = (u
     ** 2)
z = model([y, 1.0])
été = x * 2
"""


@pytest.fixture
def cell():
    filename = "/tmp/ipykernel_1/123.py"
    linecache.cache[filename] = (len(CELL), None, CELL.splitlines(keepends=True), filename)
    scope = {"Value": Value, "model": MLP(2, [2, 1], rng=1)}
    scalar.record_lines()
    try:
        exec(compile(CELL, filename, "exec"), scope)
    finally:
        scalar.record_lines(False)
        yield scope
        del linecache.cache[filename]


def test_source_lines_and_spans(cell):
    names = {"/tmp/ipykernel_1/123.py": "In [4]"}
    t = trace(cell["y"], cell, cell_name=names)
    assert by_label(t, "x")["source"] == {"cell": "In [4]", "line": 1, "text": "x = Value(1.0)", "span": (4, 14)}
    product, total, y = (n for n in t["nodes"] if n["kind"] == "operation")
    assert (
        product["source"]["text"] == "u = 3*x + 2  # été"
        and product["source"]["span"] == (4, 7)
        and total["source"]["span"] == (4, 11)
    )
    assert y["source"]["line"] == 3 and t["title"] == "y = (u"
    assert by_label(trace(cell["été"], cell), "été")["source"]["span"] == (6, 11)  # in characters, not in bytes
    assert trace(cell["y"], cell, cell_name=lambda name: None)["nodes"][0]["source"]["cell"] == "this notebook"


def test_lines_inside_the_engine_are_not_the_learners(cell):
    t = trace(cell["z"], cell)
    made_by_model = [n["source"]["text"] for n in t["nodes"] if n["source"] and n["source"]["line"] == 5]
    assert len(made_by_model) > 5 and set(made_by_model) == {"z = model([y, 1.0])"}


def test_no_lines_unless_recorded():
    x = Value(1.0)
    assert all(n["source"] is None for n in trace(x * 2)["nodes"])


# A learner's own class


class Own:
    """micrograd's shape; `keep` decides how parents are stored."""

    keep = tuple

    def __init__(self, data, prev=(), op=""):
        self.data, self.grad, self._prev, self._op = data, 0.0, self.keep(prev), op

    def _wrap(self, other):
        return other if isinstance(other, Own) else type(self)(other)

    def __add__(self, other):
        other = self._wrap(other)
        return type(self)(self.data + other.data, (self, other), "+")

    def __mul__(self, other):
        other = self._wrap(other)
        return type(self)(self.data * other.data, (self, other), "*")

    def __sub__(self, other):
        other = self._wrap(other)
        return type(self)(self.data - other.data, (self, other), "-")

    def __pow__(self, n):
        return type(self)(self.data**n, (self,), f"**{n}")

    def relu(self):
        return type(self)(max(0, self.data), (self,), "ReLU")

    def tanh(self):
        return type(self)(math.tanh(self.data), (self,), "tanh")

    __radd__, __rmul__ = __add__, __mul__


class OwnSet(Own):
    keep = set


@pytest.mark.parametrize("kind", [Own, OwnSet])
def test_a_learners_class_is_traced_with_true_local_derivatives(kind):
    x, w = kind(0.5), kind(-2.0)
    h = (x * w + 3).tanh()
    u = h + h
    y = (u - x) ** 2 * w + u.relu()
    x2, w2 = Value(0.5), Value(-2.0)
    h2 = (x2 * w2 + 3).tanh()
    u2 = h2 + h2
    ((u2 - x2) ** 2 * w2 + u2.relu()).backward()
    t = trace(y, {"x": x, "w": w, "h": h, "u": u, "y": y})
    assert by_label(t, "x")["grad"] == pytest.approx(x2.grad, rel=1e-14) and by_label(t, "w")["grad"] == pytest.approx(
        w2.grad, rel=1e-14
    )
    assert by_label(t, "u")["expr"] == "h + h" and by_label(t, "3")["kind"] == "constant"
    assert x.grad == 0.0


@pytest.mark.parametrize("kind", [Own, OwnSet])
def test_the_eight_events_with_a_learners_class(kind):
    x = kind(1.0)
    y = (3 * x + 2) ** 2
    rows = replay_steps(trace(y, {"x": x, "y": y}))
    assert [r["value"] for r in rows if r["phase"] == "forward"] == [1.0, 3.0, 5.0, 25.0]
    assert [r["after"] for r in rows if r["phase"] == "backward"] == [1.0, 10.0, 10.0, 30.0]


def test_an_unknown_operation_is_said_not_guessed():
    x = Own(2.0)
    swish = Own(1.76, (x,), "swish")
    y = swish * 3
    t = trace(y, {"x": x, "swish": swish, "y": y})
    assert t["edges"][0]["local"] is None and by_label(t, "x")["grad"] is None and by_label(t, "swish")["grad"] == 3.0
    last = replay_steps(t)[-1]
    assert (
        last["sends"] is None
        and last["after"] is None
        and "does not know an operation called “swish”" in last["sentence"]
    )
    assert "swish → x" in to_text(t) and "unknown" in to_text(t)


@pytest.mark.parametrize("kind", [Own, OwnSet])
def test_an_operation_of_ones_own_tells_its_slopes_through_its_backward(kind):
    """In a class of the learner's, too: `_backward` is called once with a gradient of 1, and no gradient is changed."""

    def product3(a, b, c):
        out = kind(a.data * b.data * c.data, (a, b, c), "product3")

        def _backward():
            a.grad += b.data * c.data * out.grad
            b.grad += a.data * c.data * out.grad
            c.grad += a.data * b.data * out.grad

        out._backward = _backward
        return out

    x, w = kind(2.0), kind(5.0)
    x.grad, w.grad = 7.0, 8.0
    t = trace(product3(x, w, x) * 3 + x, {"x": x, "w": w})  # 3 w x² + x
    assert by_label(t, "x")["grad"] == 61.0 and by_label(t, "w")["grad"] == 12.0 and "unknown" not in to_text(t)
    assert (x.grad, w.grad) == (7.0, 8.0)

    zero = kind(0.0)  # a slope of 0 is known
    assert by_label(trace(product3(zero, zero, w), {"x": zero, "w": w}), "w")["grad"] == 0.0


@pytest.mark.parametrize("rule", [lambda: None, lambda: 1 / 0, lambda missing: None, "no function"])
def test_a_backward_that_tells_nothing_leaves_the_slope_unknown(rule):
    x = Own(2.0)
    y = Own(1.76, (x,), "swish")
    y._backward = rule
    assert by_label(trace(y, {"x": x, "y": y}), "x")["grad"] is None and (x.grad, y.grad) == (0.0, 0.0)


def test_a_cycle_is_an_error_that_says_so():
    x = Own(1.0)
    y = x + 1
    x._prev, x._op = (y,), "+"
    with pytest.raises(GraphCycleError, match="cycle"):
        trace(y)
    y._prev = (y, y)
    with pytest.raises(GraphCycleError):
        trace(y)
    v = Value(1.0)
    w = v * 2
    v._a, v._da, v._op = w, 1.0, "neg"
    with pytest.raises(GraphCycleError):
        trace(w)


def test_a_long_chain_of_a_learners_class_needs_no_recursion():
    x = y = Own(1.0)
    for _ in range(5_000):
        y = y + x
    assert trace(y, {"x": x})["nodes"][0]["grad"] == 5001.0
    while y._prev:  # Python's own destructor of such an object may recurse: take the chain apart
        y._prev, y = (), y._prev[0]


@pytest.mark.parametrize("bad", [3.0, "y", [Value(1.0)], None, Value, object()])
def test_something_without_a_graph(bad):
    with pytest.raises(TypeError, match="has a graph, and this is a"):
        trace(bad)


def test_broken_classes_of_learners_are_told_what_is_broken():
    with pytest.raises(TypeError, match=r"this is an Own. Its `data` is not a number: .*forgot its return"):
        trace(Own(None, (Own(1.0), Own(2.0)), "+"))
    with pytest.raises(
        TypeError, match=r"the result of '\+' in this graph has data that is not a number: .*forgot its return"
    ):
        trace(Own(1.0, (Own(None, (Own(1.0), Own(2.0)), "+"),), "relu"))
    with pytest.raises(TypeError, match=r"a parent of the result of '\*' is a plain int \(3\): wrap it"):
        trace(Own(6.0, (Own(2.0), 3), "*"))
    x = Own(2.0)
    x._prev = None
    assert trace(x * x, {"x": x})["nodes"][0]["grad"] == 4.0


# Data that lasts


def test_nothing_is_kept_alive_and_no_cycles_are_left():
    x = Value(1.0)
    y = x * 2 + 1
    gone = weakref.ref(y)
    gc.collect()
    gc.disable()
    try:
        t = trace(y, {"x": x, "y": y})
        del y
        assert gone() is None and t["nodes"]
    finally:
        gc.enable()


DETERMINISM = """
import json, hashlib, sys
sys.path.insert(0, ".")
from tests.engine.test_trace import OwnSet, Value, trace
from minigrad.micro import MLP
x, w, b = OwnSet(0.5), OwnSet(-2.0), OwnSet(0.25)
y = (x * w + b).tanh() * (w * b) - (b + x * 2) ** 3 + w * w
t = [trace(y), trace(y, {"w": w, "x": x}), trace(MLP(2, [3, 1], rng=5)([0.5, 2.0]))]
print(hashlib.sha256(json.dumps(t).encode()).hexdigest())
"""


def test_the_same_program_gives_the_same_trace_in_every_process():
    runs = {
        subprocess.run(
            [sys.executable, "-c", DETERMINISM],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        ).stdout
        for seed in ("1", "2", "77")
    }
    assert len(runs) == 1 and len(runs.pop()) == 65


def test_numbers_as_people_read_them():
    cases = {
        30.0: "30", -0.0: "0", 1 / 3: "0.333333", 0.1 + 0.2: "0.3", 1e-4: "0.0001", 0.00012345678: "0.000123457", 99999.96: "100000",
        999999.0: "999999", 1e6: "1e6", 1234567.0: "1.23457e6", -2.5e-7: "−2.5e−7", math.nan: "nan", math.inf: "inf", -math.inf: "−inf",
        5e-324: "4.94066e−324", 1.7976931348623157e308: "1.79769e308", 2.0000005: "2", 100000.5: "100001", 123456.5: "123457",
    }  # fmt: skip
    for number, text in cases.items():
        assert fmt(number) == text
    assert fmt("-inf") == "−inf" and fmt(None) == "?"


def test_the_text_twin():
    assert to_text(s1()) == (
        "y\n\n"
        "node    computes   value  dy/dnode\n"
        "x       input      1      30\n"
        "3x      3 × x      3      10\n"
        "3x + 2  3x + 2     5      10\n"
        "y       (3x + 2)²  25     1\n\n"
        "backward     local           upstream  downstream  sum\n"
        "y → 3x + 2   2(3x + 2) = 10  1         10          10\n"
        "3x + 2 → 3x  1               10        10          10\n"
        "3x → x       3               10        30          30"
    )
    assert to_text(trace(Value(2.0, label="x"))) == "x\n\nnode  computes  value  dx/dnode\nx     input     2      1"
