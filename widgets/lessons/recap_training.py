"""The recap pictures of the chapters on training (16 and 17), their numbers computed by the engine when they are drawn.

What lives here: one drawing function for each chapter, listed in recap.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import minigrad as torch
from minigrad.tensors.create import tensor

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
    row("optimizer.zero_grad()", "none", "clears the gradients")
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
    heads = (
        (30, "the line", ""),
        (330, "w", "end"),
        (420, "w.grad", "end"),
        (452, "graph", ""),
        (548, "what it does", ""),
    )
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
    foot = "Blue: the engine records. Orange: the backward pass. The other lines are not the engine's. Bold numbers have just changed."
    out += label(30, 330, foot, "t soft")
    words = "One iteration, line by line. " + " ".join(
        f"{k}: {code}: w = {at}, w.grad = {grad}, graph {graph}; {does}."
        for k, (code, at, grad, graph, does) in enumerate(rows, 1)
    )
    return svg(822, 346, out, words), words


def memory_and_checkpoints() -> tuple[str, str]:
    """Memory with and without checkpoints, and the precision of float16, as measured."""
    import numpy as np

    from .memory import canned, canned_input, measure

    one, n, k = 4096, 36, 6
    runs = {every: [m.total // one for m in measure(canned(n), canned_input(), every)] for every in (0, k)}
    halved, again = list(halving(n)), sum(1 for _ in halving(n)) - n
    heads = (
        (14, "Forward keeps, back frees", f"{n} layers, one activation each"),
        (282, "Forget, and compute again", f"a checkpoint every {k} layers"),
        (550, "Halve, and halve again", "one input for each level"),
    )
    out = ""
    for x, title, line in heads:
        out += tag("rect", "panel", x=x, y=14, width=256, height=250, rx=9)
        out += label(x + 16, 40, title, "h") + label(x + 16, 60, line, "t soft")
    for x, run, colour, more in (
        (14, runs[0], "fwd", " activations"),
        (282, runs[k], "bwd", f", {n} layers run again"),
        (550, halved, "bwd", f", {again} layers run again"),
    ):
        base, left, width = 216.0, x + 22, 212
        points = " ".join(
            f"{left + width * j / (len(run) - 1):.1f},{base - 130 * total / n:.1f}" for j, total in enumerate(run)
        )
        style = f"fill:var(--{colour}-soft);stroke:var(--{colour});stroke-width:2"
        out += tag("polygon", points=f"{left},{base} {points} {left + width},{base}", style=style)
        out += tag("line", "rule", x1=left, x2=left + width, y1=base, y2=base)
        out += label(left, 244, f"peak {max(run)}{more}", f"t b {colour}")
    lost, scale = float(np.float16(1e-8)), 2.0**15
    held = float(np.float16(1e-8 * scale))
    rows = (
        ("as it is", number(lost)),
        (f"times {scale:,.0f}", number(held, 3)),
        ("divided in float32", number(held / scale, 3)),
    )
    out += tag("rect", "panel", x=14, y=276, width=792, height=52, rx=9) + label(30, 308, "1e−8 in float16", "h")
    for right, (text, value) in zip((362, 566, 790), rows, strict=True):
        out += label(right - 102, 307, text, "t", "end") + tag(
            "rect", "pill", x=right - 92, y=287, width=92, height=30, rx=6
        )
        out += label(right - 46, 307, value, "num v b bwd", "middle")
    words = (
        f"{n} layers: without checkpoints {max(runs[0])} activations are alive at the peak; with one every {k} layers {max(runs[k])}, and "
        f"{n} layers run again; with the chain halved again and again {max(halved)}, and {again} run again. In float16 a gradient of 1e−8 "
        f"is {number(lost)}; times {scale:,.0f} it is {number(held, 3)}, and divided in float32 {number(held / scale, 3)}."
    )
    return svg(820, 342, out, words), words


def halving(n: int, stored: int = 1) -> Iterator[int]:
    """How many inputs are stored at each moment of a backward pass that halves a chain of n layers: while one layer runs or goes back."""
    if n == 1:
        yield stored
        return
    for _ in range(n // 2):  # run to the middle, and store that state
        yield stored
    yield from halving(n - n // 2, stored + 1)
    yield from halving(n // 2, stored)
