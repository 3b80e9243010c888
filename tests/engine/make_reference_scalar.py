"""Writes reference_scalar.json: what PyTorch's float64 scalars answer, at ordinary numbers and at every edge.

Run with a Python that has torch (the stored file came from torch 2.13.0, CPU): `python tests/engine/make_reference_scalar.py`.
Each row is [operands, incoming gradient, value, gradient of each operand that is a tensor]. Text stands for nan and the infinities.
"""

import json
import math
from pathlib import Path

import torch

inf, nan = math.inf, math.nan
UNARY_AT = [
    -inf,
    -1e308,
    -1000.0,
    -40.0,
    -2.5,
    -1.0,
    -0.3,
    -1e-320,
    -0.0,
    0.0,
    1e-320,
    1e-8,
    0.3,
    0.5,
    1.0,
    2.0,
    3.0,
    7.25,
    40.0,
    709.5,
    710.0,
    1e308,
    inf,
    nan,
]
BINARY_AT = [-inf, -2.5, -2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0, inf, nan]
EXPONENTS = [-inf, -3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, inf, nan]
INCOMING = [1.0, inf]

UNARY = {
    "neg": torch.neg, "abs": torch.abs, "exp": torch.exp, "log": torch.log, "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh,
    "sigmoid": torch.sigmoid, "sqrt": torch.sqrt, "relu": torch.relu,
}  # fmt: skip
BINARY = {
    "+": torch.add, "-": torch.sub, "*": torch.mul, "/": torch.div, "**": torch.pow, "max": torch.maximum, "min": torch.minimum,
}  # fmt: skip


def plain(x):
    return x if math.isfinite(x) else str(x)


def row(f, operands, incoming):
    tensors = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in operands]
    out = f(*tensors)
    out.backward(torch.tensor(incoming, dtype=torch.float64))
    return [[plain(v) for v in operands], plain(incoming), plain(out.item()), [plain(t.grad.item()) for t in tensors]]


table = {}
for name, f in UNARY.items():
    table[name] = [row(f, [x], g) for x in UNARY_AT for g in [*INCOMING, 0.0, nan]]
for name, f in BINARY.items():
    table[name] = [row(f, [x, y], g) for x in BINARY_AT for y in BINARY_AT for g in INCOMING]
table["x ** number"] = [
    [*row(lambda x, n=n: x**n, [x], g)[:3], row(lambda x, n=n: x**n, [x], g)[3] + [plain(n)]]
    for n in EXPONENTS
    for x in BINARY_AT
    for g in INCOMING
]
table["number ** x"] = [
    [*row(lambda x, n=n: n**x, [x], g)[:3], row(lambda x, n=n: n**x, [x], g)[3] + [plain(n)]]
    for n in BINARY_AT
    for x in BINARY_AT
    for g in INCOMING
]
text = ",\n".join(f'"{name}": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]" for name, rows in table.items())
Path(__file__).with_name("reference_scalar.json").write_text("{\n" + text + "\n}\n")
