"""Formulas as trees: the text of a tree is the text that a trace has, numbers can stand for names, and MathML is well-formed."""

import json
import math
import xml.etree.ElementTree as ET

import pytest

import minigrad as torch
from minigrad import Value
from minigrad.tracing.formulas import rule_for
from minigrad.tracing.notation import Text, formula, mathml, number, read, words, write
from minigrad.tracing.tensor_formulas import without_g
from minigrad.tracing.trace import fmt, trace


def scalar_programs(a, b):
    yield (a + b) * (a - b) / (a * b)
    yield -(a * b) + (-a) * b - (-b)
    yield (2 * a + 1) ** 3 - a**-2 + a**0.5 + a**-0.5 + 2**a + a**1 + 0.5 * a**-1
    yield (-2 * a) * b - (-3.5)
    yield (a + b).tanh().exp().log().sin().cos().sigmoid().sqrt().relu().abs()
    yield a.max(b) + (a.min(b) - (a - b)) / (b / a)


def tensor_programs(x, w, s):
    yield ((w @ x).tanh() * 3 + 1).sum()
    yield (x * -2 - x.exp() / x).pow(3).mean()
    yield s**2 * s.sin() / (-s) + s.relu()
    yield torch.nn.functional.cross_entropy(w, torch.tensor([0, 1]))
    yield w.softmax(1).log().sum()
    yield (w.t() @ w)[0].sum() + (w[:, 0] * x).std() + x.unbind()[0] * s


def traces():
    for k in range(6):
        a, b = Value(0.7), Value(1.3)
        yield trace(list(scalar_programs(a, b))[k], {"a": a, "b": b})
    for k in range(6):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        w, s = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), torch.tensor(2.0, requires_grad=True)
        yield trace(list(tensor_programs(x, w, s))[k], {"x": x, "w": w, "s": s})


def labels(t):
    """What the text of each node is, as a part of another formula; a tree refers to it by the node's id."""

    def label(i):
        n = t["nodes"][i]
        if n["kind"] == "constant" and not n["label"][:1].isalpha():
            return number(n["label"])
        return write(n["formula"], label) if n["label"] == n["expr"] and "formula" in n else Text(n["label"])

    return label


@pytest.mark.parametrize("t", list(traces()), ids=lambda t: t["title"][:30])
def test_text_and_mathml_come_from_the_tree(t):
    assert json.loads(json.dumps(t)) == json.loads(json.dumps(t)) and t["nodes"][t["root"]]["formula"]
    label = labels(t)
    for n in t["nodes"]:
        assert ("formula" in n) == (n["kind"] == "operation")
        if "formula" in n:
            assert write(n["formula"], label).text == n["expr"]
            ET.fromstring(f"<math>{mathml(n['formula'], label)}</math>")
    for e in t["edges"]:
        if "slope" in e:
            assert write(e["slope"], label).text == e["local_text"]
            ET.fromstring(f"<math>{mathml(e['slope'], label)}</math>")
        else:
            assert e["local_text"] == "" or e["local_text"].endswith(".backward(g)")


@pytest.mark.parametrize("t", list(traces()), ids=lambda t: t["title"][:30])
def test_with_numbers_for_names_a_formula_gives_the_value(t):
    """Each node in a formula replaced by its number, and the text evaluated by Python."""
    scope = {name: getattr(math, name) for name in ("exp", "log", "sin", "cos", "tanh", "sqrt")}
    scope |= {
        "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
        "sign": lambda x: math.copysign(1, x),
        "relu": lambda x: max(x, 0.0),
    }
    for n in t["nodes"]:
        if t["engine"] == "value" and "formula" in n:
            assert calculate(n["formula"], t["nodes"], scope) == pytest.approx(n["value"], rel=1e-12)
    for e in t["edges"]:
        if "slope" in e and t["engine"] == "value" and not e.get("shut"):
            assert calculate(e["slope"], t["nodes"], scope) == pytest.approx(e["local"], rel=1e-12), e["local_text"]


def calculate(tree, nodes, scope):
    head, *parts = tree
    if head == "node":
        return nodes[parts[0]]["value"]
    if head == "number":
        return float(parts[0].replace("−", "-"))
    if head == "call":
        return (scope.get(parts[0]) or {"max": max, "min": min, "abs": abs}[parts[0]])(
            *(calculate(p, nodes, scope) for p in parts[1:])
        )
    a, *rest = [calculate(p, nodes, scope) for p in parts]
    if head == "if":
        return a if rest[0] else rest[1]
    do = {"+": lambda b: a + b, "−": lambda b: a - b, "×": lambda b: a * b, "times": lambda b: a * b, "/": lambda b: a / b,
          "^": lambda b: a**b, "neg": lambda: -a, "abs": lambda: abs(a), ">": lambda b: a > b, "<": lambda b: a < b}  # fmt: skip
    return do[head](*rest)


def test_numbers_may_stand_where_names_stand():
    a, b = Value(0.7), Value(-1.3)
    t = trace((a + b) / b, {"a": a, "b": b})
    text = write(t["edges"][-1]["slope"], lambda i: number(fmt(t["nodes"][i]["value"]))).text
    assert text == "−(−0.6) / (−1.3)²" or text == "−(−0.6) / −1.3²"


@pytest.mark.parametrize(
    "made, text",
    [
        (lambda x, y: formula("+", x, formula("neg", y)), "x + (−y)"),
        (lambda x, y: formula("×", formula("neg", x), y), "−x × y"),
        (lambda x, y: formula("+", x, formula("×", number("−2"), y)), "x + (−2 × y)"),
        (lambda x, y: formula("^", number("−2"), number("2")), "(−2)²"),
        (lambda x, y: formula("−", x, formula("−", x, y)), "x − (x − y)"),
        (lambda x, y: formula("/", x, formula("×", x, y)), "x / (x × y)"),
        (lambda x, y: formula("^", formula("+", x, y), number("−3")), "(x + y)⁻³"),
        (lambda x, y: formula("^", x, number("0.5")), "x^0.5"),
        (lambda x, y: formula("T", formula("@", x, y)), "(x @ y)ᵀ"),
        (lambda x, y: formula("method", formula("+", x, y), "sum", words("1")), "(x + y).sum(1)"),
        (lambda x, y: formula("if", x, formula(">", x, y), number("0")), "x if x > y, else 0"),
        (lambda x, y: formula("tuple", x, y), "(x, y)"),
        (lambda x, y: formula("times", number("3"), formula("^", x, number("2"))), "3x²"),
        (lambda x, y: formula("where", x, y), "x where y > 0, else 0"),
    ],
)
def test_parentheses(made, text):
    made = made(Text("x"), Text("y"))
    assert made.text == text == write(made.tree, None).text
    ET.fromstring(f"<math>{mathml(made.tree)}</math>")


def test_mathml_reads_as_the_formula():
    x, y = Text("x"), Text("y")
    assert mathml(formula("×", formula("+", x, y), formula("neg", y)).tree) == (
        "<mrow><mrow><mo>(</mo><mrow><mi>x</mi><mo>+</mo><mi>y</mi></mrow><mo>)</mo></mrow><mo>×</mo>"
        "<mrow><mo>(</mo><mrow><mo>−</mo><mi>y</mi></mrow><mo>)</mo></mrow></mrow>")  # fmt: skip
    assert (
        mathml(formula("/", formula("+", x, y), y).tree)
        == "<mfrac><mrow><mi>x</mi><mo>+</mo><mi>y</mi></mrow><mi>y</mi></mfrac>"
    )
    assert (
        mathml(formula("where", x, y).tree)
        == "<mrow><mi>x</mi><mtext> where </mtext><mi>y</mi><mtext> &gt; 0, else 0</mtext></mrow>"
    )
    assert (
        mathml(["call", "f<", ["words", "a<b"]])
        == "<mrow><mi>f&lt;</mi><mo>(</mo><mtext>a&lt;b</mtext><mo>)</mo></mrow>"
    )


def test_a_rule_without_g_is_its_factor():
    import ast

    for source, factor in {"g": "1", "-g": "−1", "g * x": "x", "-g * x": "−x", "g / x": "1 / x", "g * (1 - x)": "1 − x",
                           "g * x * y": "x × y", "-g * x / y": "−x / y", "x * g": None, "g + x": None}.items():  # fmt: skip
        found = without_g(read(ast.parse(source, mode="eval").body, {}).tree)
        assert (found and write(found, None).text) == factor, source


def test_a_fixed_power_is_written_as_people_do():
    said = {n: rule_for(f"**{n}", 1) for n in (3, 2, 1, 0, -1, -2, 0.5, -0.5)}
    assert [rule.write(rule.locals[0], Text("u")).text for rule in said.values()] == [
        "3u²", "2u", "1", "0", "−u⁻²", "−2u⁻³", "0.5 × u^(−0.5)", "−0.5 × u^(−1.5)"]  # fmt: skip


def test_a_folded_trace_refers_to_the_nodes_that_are_shown():
    from widgets import graph

    x = Value(0.5, label="x")
    y = x
    for k in range(60):
        y = (y * 0.9 + x).tanh() if k % 2 else y + 0.1
    view = graph(y, names={"x": x}, limit=10)
    shown = dict(view.trace)
    assert len(shown["nodes"]) < len(view.whole["nodes"])
    told = 0
    for n in shown["nodes"]:
        if "formula" in n:
            sources = {e["source"] for e in shown["edges"] if e["target"] == n["id"]}
            named = nodes_in(n["formula"])
            assert named <= sources
            told += len(named)
    assert told
    assert all(nodes_in(e["slope"]) <= {e["source"], e["target"], *(o["source"] for o in shown["edges"] if o["target"] == e["target"])}
               for e in shown["edges"] if "slope" in e)  # fmt: skip


def nodes_in(tree):
    return (
        {tree[1]}
        if tree[0] == "node"
        else set().union(*(nodes_in(part) for part in tree if isinstance(part, list)), set())
    )


def test_a_constant_in_a_formula_is_written_like_every_other_number():
    x = Value(1.0)
    assert trace(x * 1e-9, {"x": x})["nodes"][2]["expr"] == "x × 1e−9" == f"x × {fmt(1e-9)}"
    assert trace(x + 123456789.0, {"x": x})["nodes"][2]["expr"] == "x + 1.23457e8"
