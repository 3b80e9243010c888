"""The recap picture of chapter 10, controlling the graph, its numbers computed by the engine when it is drawn.

What lives here: `controlling`, listed in recap.py. What does not: anything to operate (scissors.py).
"""

from __future__ import annotations

from .lesson import label, number, svg, tag
from .scissors import CANNED, CutProgram

_ROWS = (  # tool, retain_graph, its object, its purpose
    ("nothing", False, "the graph is used once", "an ordinary training step"),
    ("no_grad", False, "a stretch of code", "evaluation, updates by hand"),
    ("inference_mode", False, "a stretch of code, for good", "serving a model"),
    ("detach", False, "one tensor", "targets, frozen features, logs"),
    ("nothing", True, "the graph stays", "several losses, one graph"),
)


def controlling() -> tuple[str, str]:
    """x -> a -> b -> c with each tool at b: what backward does, once and twice."""
    out = label(30, 36, "x = 2;  a = 3x;  b = a²;  c = b + a;  the tool is put at b", "num t b")
    heads = ((30, "tool"), (200, "acts on"), (396, "backward once"), (534, "and once more"), (672, "use it for"))
    for x, head in heads:
        out += label(x, 66, head, "t soft")
    out += tag("line", "rule", x1=30, x2=856, y1=74, y2=74)
    sentences = []
    for k, (tool, retain, acts, use) in enumerate(_ROWS):
        results = []
        for passes in (1, 2):
            state = CutProgram(CANNED, {})
            state.tool, state.place, state.retain, state.passes = tool, 1, retain, passes
            state.run()
            grad = state.leaves["x"].grad
            results.append(f"x.grad = {number(grad.item())}" if state.log[-1][2] else "RuntimeError")
        name = (
            "retain_graph=True"
            if retain
            else "plain backward()"
            if tool == "nothing"
            else "detach()"
            if tool == "detach"
            else tool
        )
        y = 84.0 + 42 * k
        if k % 2 == 0:
            out += tag("rect", "panel", x=18, y=y, width=850, height=38, rx=6, style="stroke:none")
        out += label(30, y + 24, name, "num t b fwd") + label(200, y + 24, acts, "t")
        for x, result in zip((396, 534), results, strict=True):
            good = result != "RuntimeError"
            out += label(x, y + 24, result if good else f"✗ {result}", f"num t b {'bwd' if good else 'bad'}")
        out += label(672, y + 24, use, "t")
        sentences.append(f"{name}: {acts}; backward once: {results[0]}, twice: {results[1]}; for {use}.")
    out += label(30, 316, "requires_grad_(False) freezes a parameter; gradients still get through its layer.", "t soft")
    out += label(540, 316, "autograd.grad returns gradients, and fills no .grad.", "t soft")
    words = "Five ways to treat the graph of c = (3x)² + 3x at x = 2. " + " ".join(sentences)
    return svg(886, 334, out, words), words
