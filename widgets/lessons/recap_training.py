"""The recap pictures of the chapters on training (16 and 17), their numbers computed by the engine when they are drawn.

What lives here: one drawing function for each chapter, listed in recap.py. What does not: anything to operate.
"""

from __future__ import annotations

import minigrad as torch
from minigrad.create import tensor

from .lesson import label, number, svg, tag

PAIRS = ((1.0, 2.0), (2.0, 4.5), (3.0, 5.5))


def training_loop() -> tuple[str, str]:
    """One iteration on y = w·x, line by line."""
    w = tensor(0.0, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    x, y = (tensor([pair[k] for pair in PAIRS], dtype=torch.float64) for k in (0, 1))
    rows: list[tuple[str, str, str, str, str]] = []

    def row(code: str, graph: str, does: str) -> None:
        grad = "None" if w.grad is None else number(w.grad.item(), 4)
        rows.append((code, number(w.item(), 4), grad, graph, does))

    optimizer.zero_grad()
    row("optimizer.zero_grad()", "none", "empties the buckets")
    prediction = w * x
    row("prediction = model(x)", "grows", "records what backward will need")
    loss = ((prediction - y) ** 2).mean()
    row("loss = loss_fn(prediction, y)", "complete", f"one number: {number(loss.item(), 4)}")
    loss.backward()
    row("loss.backward()", "freed", "fills .grad; changes no parameter")
    optimizer.step()
    row("optimizer.step()", "none", "reads .grad; moves the parameters")
    with torch.no_grad():
        after = ((w * x - y) ** 2).mean().item()
    row("print(loss.item())", "none", f"a plain number; the next loss is {number(after, 3)}")

    out = ""
    heads = ((30, "the line", ""), (330, "w", "end"), (420, "w.grad", "end"), (452, "graph", ""), (548, "what it does", ""))
    for x0, head, anchor in heads:
        out += label(x0, 38, head, "t soft", anchor)
    out += tag("line", "rule", x1=30, x2=800, y1=48, y2=48)
    previous: tuple[str, ...] = ("", number(0.0), "None")
    for k, (code, at, grad, graph, does) in enumerate(rows):
        top = 58.0 + 42 * k
        owner = "fwd" if k in (1, 2) else "bwd" if k == 3 else ""
        style = f"fill:var(--{owner}-soft);stroke:none" if owner else "fill:none"
        out += tag("rect", x=18, y=top, width=786, height=36, rx=6, style=style)
        middle = top + 23
        out += label(30, middle, f"{k + 1}  {code}", f"num t b {owner}".strip())
        out += label(330, middle, at, "num t b" if at != previous[1] else "num t", "end")
        out += label(420, middle, grad, "num t b bwd" if grad != previous[2] else "num t", "end")
        out += label(452, middle, graph, "t") + label(548, middle, does, "t")
        previous = (code, at, grad)
    foot = "Blue: the engine records. Orange: the engine walks back. The rest is not the engine's; bold numbers have just changed."
    out += label(30, 330, foot, "t soft")
    words = "One iteration, line by line. " + " ".join(
        f"{k}: {code}: w = {at}, w.grad = {grad}, graph {graph}; {does}." for k, (code, at, grad, graph, does) in enumerate(rows, 1)
    )
    return svg(822, 346, out, words), words
