"""The recap pictures of chapters 18 and 19: which instrument answers which question, and the years.

What lives here: one drawing function for each, listed in recap.py; every reading of an instrument is taken when it is drawn.
"""

from __future__ import annotations

import numpy as np

import minigrad as torch
from minigrad.autograd import first_nan, gradcheck
from minigrad.tensors.create import tensor

from .lesson import label, number, svg, tag

YEARS = (
    (1964, "Wengert", "forward mode: a list of operations, evaluated with slopes"),
    (1970, "Linnainmaa", "reverse mode, for rounding errors"),
    (1980, "Speelpenning", "a compiler that writes the gradient of a program"),
    (1986, "Rumelhart, Hinton, Williams", "backpropagation learns features"),
    (2010, "Theano", "a graph compiled before it runs"),
    (2015, "Chainer, HIPS autograd", "a graph recorded while it runs"),
    (2017, "PyTorch", "the same, with fast kernels for everything"),
    (2018, "JAX", "functions traced, then transformed"),
    (2023, "torch.compile", "recorded, then compiled"),
)


def _readings() -> list[tuple[str, str, str]]:
    """(question, instrument, its output on a small example)."""
    x = tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    right = gradcheck(lambda t: t**3, (x,))
    with np.errstate(all="ignore"):
        origin = first_nan(lambda t: (t.log() * t).sum(), tensor([0.0]))
    seen: list[float] = []
    (x * 6).sum().backward()
    assert x.grad is not None
    before = x.grad[0].item()
    del x.grad

    def half(g):
        seen.append(g[0].item())
        return g * 0.5

    x.register_hook(half)
    (x * 6).sum().backward()
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    with torch.profiler.profile() as prof:
        model(torch.ones(4, 2))
    calls = sum(event.count for event in prof.key_averages())
    flat: list[int] = []
    layer, inputs = torch.nn.Tanh(), torch.linspace(-4, 4, 9)
    layer.register_forward_hook(lambda layer, inputs, y: flat.append(int((y.abs() > 0.97).sum())))
    layer(inputs)
    model[0].requires_grad_(False)
    model(torch.ones(4, 2)).sum().backward()
    none = [name for name, p in model.named_parameters() if p.grad is None]
    assert seen == [before] and origin is not None
    return [
        ("Is my rule right?", "gradcheck", f"x³ against differences: {right}"),
        (
            "Where was the nan made?",
            "first_nan, anomaly mode",
            f"{origin.op} of {number(origin.inputs[0])} and {number(origin.inputs[1])}",
        ),
        ("What flows here?", "register_hook", f"{number(seen[0])} before the hook, {number(x.grad[0].item())} after"),
        ("Is a layer saturated?", "register_forward_hook", f"tanh: {flat[0]} of {len(inputs)} outputs"),
        ("What takes the time?", "torch.profiler", f"{calls} calls in one forward pass"),
        ("What did I build?", "%graph, make_dot", f"the loss of {sum(1 for _ in model.parameters())} parameters"),
        ("Who gets no gradient?", "grad is None", ", ".join(none)),
    ]


def instruments() -> tuple[str, str]:
    rows = _readings()
    out = (
        label(30, 36, "the question", "t soft")
        + label(270, 36, "the instrument", "t soft")
        + label(530, 36, "what it says", "t soft")
    )
    for k, (question, name, says) in enumerate(rows):
        top = 48.0 + 42 * k
        out += tag("rect", "panel", x=18, y=top, width=784, height=36, rx=7)
        out += (
            label(30, top + 23, question, "v b")
            + label(270, top + 23, name, "num v fwd")
            + label(530, top + 23, says, "num t bwd")
        )
    words = "Which instrument for which question. " + " ".join(f"{q} {name}: {says}." for q, name, says in rows)
    return svg(820, 56 + 42 * len(rows), out, words), words


def where_next() -> tuple[str, str]:
    out = tag("line", "rule", x1=110, x2=110, y1=30, y2=36 + 44 * len(YEARS) - 20)
    for k, (year, who, what) in enumerate(YEARS):
        y = 40.0 + 44 * k
        out += tag("circle", "badge", cx=110, cy=y, r=7) + label(90, y + 5, str(year), "num v b", "end")
        out += label(130, y + 5, who, "v b") + label(370, y + 5, what, "t soft")
    words = "From the idea to today. " + " ".join(f"{year}: {who}, {what}." for year, who, what in YEARS)
    return svg(820, 36 + 44 * len(YEARS), out, words), words
