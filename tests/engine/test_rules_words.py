"""Every row of the derivatives table says what its rule does to the arriving gradient, and no word belongs to an input that is gone."""

import importlib
import pkgutil

import minigrad as torch
import minigrad.nn.functional  # noqa: F401
import minigrad.ops
from minigrad.core import provenance
from minigrad.core.op import TABLE
from minigrad.tracing.formula_words import said
from minigrad.tracing.formulas import Text
from minigrad.tracing.tensor_formulas import flow
from minigrad.tracing.trace import trace

for module in pkgutil.iter_modules(minigrad.ops.__path__):
    importlib.import_module(f"minigrad.ops.{module.name}")


def test_every_rule_of_the_table_has_a_text():
    silent = []
    for op in TABLE.values():
        outputs = () if op.outputs is ... else op.outputs
        labels = {name: Text(name) for name in (*op.inputs, *outputs)}
        if op.tensor_list:
            text = said(op, op.inputs[0], "", {op.inputs[0]: Text("x")})
            silent += [] if text else [(op.name, "all")]
            continue
        for name in op.inputs:
            if op.rules[name] is None:
                continue
            text = said(op, name, flow(op, op.rules[name], labels, {k: (2, 3) for k in op.inputs}, None), labels)
            if not text:
                silent.append((op.name, name))
            assert "{" not in text and len(text) <= 120, text
    assert silent == []


def test_words_belong_to_rows_and_say_something_about_g():
    for op in TABLE.values():
        for name, words in op.words.items():
            assert name in op.inputs and op.rules[name] is not None, (op.name, name)
            assert "g" in words or words.startswith(("both gradients", "none")), (op.name, words)


def test_the_trace_says_them():
    provenance.record_lines(True)
    a, b = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    y = torch.cat([a, b]).cumsum(0).sum()
    provenance.record_lines(False)
    t = trace(y, {"a": a, "b": b, "y": y})
    texts = {e["words"] for e in t["edges"] if "words" in e}
    assert {
        "the piece of g that came from a",
        "the piece of g that came from b",
        "g summed from each place to the end",
    } <= texts
