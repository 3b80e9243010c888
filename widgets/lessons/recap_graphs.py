"""The recap pictures of chapters 02, 03 and 04. Their numbers are computed by the engine when they are drawn.

What lives here: one drawing function for each chapter, which recap.py lists.
"""

from __future__ import annotations

import minigrad as torch
from minigrad import Value

from .chain import DEFS, chain
from .grow import Growth
from .inspector import short
from .kit import made
from .ledger import Book, Key
from .lesson import label, number, svg, tag

PROGRAM = "if x > 0:\n    y = x ** 2\nelse:\n    y = -3 * x + 1"


def the_graph() -> tuple[str, str]:
    ran = Growth(PROGRAM, {"x": -1.0})
    graph, _, height = ran.body()
    root = ran.nodes[-1]
    slopes = {n.label: n.obj for n in ran.nodes}
    root.obj.backward()
    x = torch.tensor(-1.0, requires_grad=True)  # type: ignore[operator]  # mypy takes the module of this name
    node, walked = (-3 * x + 1).grad_fn, []
    while node is not None:
        walked.append(short(node))
        node = next((parent for parent, _ in node.next_functions if parent is not None), None)

    out = tag("rect", "panel", x=10, y=8, width=820, height=height + 30, rx=9) + label(
        26, 32, "Run: only what ran is recorded", "h"
    )
    out += tag("g", "", graph, transform="translate(16,32)")
    top = height + 50
    panels = (
        ("Remember", "each result keeps its parents;", "newer points to older: never a cycle", ""),
        ("Walk", "grad_fn, then next_functions:", " → ".join(n.removesuffix("Backward0") for n in walked), ""),
        ("Gradients", "before backward: x.grad is None", "after it:", f"x.grad = {number(slopes['x'].grad)}"),
    )
    for k, (title, one, two, three) in enumerate(panels):
        left = 10 + 277 * k
        out += tag("rect", "panel", x=left, y=top, width=266, height=84, rx=9)
        out += (
            label(left + 16, top + 25, title, "h")
            + label(left + 16, top + 47, one)
            + label(left + 16, top + 67, two, "t soft")
        )
        out += label(left + 84, top + 67, three, "num t b bwd") if three else ""
    words = (
        f"The graph of the branch that ran: {ran.sentence()} The other branch is not in it. Each result keeps its parents, so newer "
        f"points to older and there is no cycle. Walking back: {', '.join(walked)}. x.grad is None before backward, "
        f"{number(slopes['x'].grad)} after it."
    )
    return svg(840, top + 94, out, words), words


def chain_rule() -> tuple[str, str]:
    along = made(chain, "u = x**3; v = cos(u); y = exp(v)", x=0.8)
    over = made(chain, "a = x**2; b = 3*x; y = a + b", x=2.0)
    shares = [p.product for p in over.paths]
    out = DEFS + tag("rect", "panel", x=10, y=8, width=800, height=226, rx=9)
    out += label(26, 32, "Multiply along a path", "h") + label(
        216, 32, "each step knows only its own slope, at its own input", "t soft"
    )
    out += along.lane(along.paths[0], 42, 0, 820)

    out += tag("rect", "panel", x=10, y=246, width=394, height=126, rx=9)
    out += label(26, 270, "Add over the paths", "h") + label(26, 292, "y = x² + 3x at x = 2", "t soft")
    for k, path in enumerate(over.paths):
        names = " → ".join(["x", *(f.target for f in path.factors)])
        slopes = " × ".join(number(f.slope) for f in reversed(path.factors))
        out += label(26, 316 + 20 * k, names, "num t") + label(
            150, 316 + 20 * k, f"{slopes} = {number(path.product)}", "num t bwd b"
        )
    out += label(270, 326, f"sum {number(over.slope)}", "num d bwd b")

    x = y = Value(1.0)  # x = x + x: all slopes are 1, so the derivative counts the paths
    edges = 0
    for _ in range(30):
        y = y + y
        edges += len(y.operands)
    y.backward()
    out += tag("rect", "panel", x=416, y=246, width=394, height=126, rx=9)
    out += label(432, 270, "Use each edge once", "h") + label(432, 292, "x = x + x, thirty times", "t soft")
    out += label(432, 316, f"{x.grad:,.0f} paths, {edges} edges", "num t")
    out += label(432, 342, "add up at each node, pass on the sum", "t bwd")
    sums = " + ".join(number(share) for share in shares)
    words = (
        f"The chain rule. Along a path, multiply: exp(cos(x³)) at 0.8 has the derivative {number(along.slope)}. Over several paths, add: "
        f"x² + 3x at 2 has the derivative {sums} = {number(over.slope)}. Use each edge once: x = x + x, thirty times, has {x.grad:,.0f} "
        f"paths and {edges} edges; add up at each node and pass on the sum."
    )
    return svg(820, 384, out, words), words


def the_ledger() -> tuple[str, str]:
    book = Book("p = w*x; q = p + x; y = q**2", {"w": 3.0, "x": 1.0})
    while book.open:
        book.step_back()
    grad = {book.name(n): number(book.expected(Key("arrives", n))) for n in book.leaves}
    graph, wide, high = book.drawing()
    width = max(wide, sum(book.WIDTHS) + 28)
    table, height = book.table_drawing(14, high + 4)
    out = tag("g", "", graph, transform=f"translate({(width - wide) / 2:.1f},0)") + table
    top = high + height + 12
    shares = [
        number(book.expected(Key("sends", e))) + f" from {book.name(book.ends(e)[0])}"
        for e in book.users(book.leaves[-1])
    ]
    panels = (
        ("Start", "the result's own gradient", "dy/dy = 1, the seed"),
        ("Each row", "upstream × local = passed on", "local: at the values of this run"),
        ("Each node", "adds up what its users pass on", f"x: {' + '.join(shares)} = {grad['x']}"),
    )
    for k, (title, one, two) in enumerate(panels):
        left = 10 + k * (width - 10) / 3
        out += tag("rect", "panel", x=left, y=top, width=(width - 10) / 3 - 10, height=84, rx=9)
        out += (
            label(left + 16, top + 25, title, "h")
            + label(left + 16, top + 47, one)
            + label(left + 16, top + 67, two, "t bwd")
        )
    words = (
        f"The ledger of y = (w·x + x)² at w = 3, x = 1. It starts with the seed 1. Each row: the upstream gradient, times the local "
        f"derivative, is passed on. Each node adds up what its users pass on: {' + '.join(shares)} = {grad['x']}. "
        f"dy/dw = {grad['w']}, dy/dx = {grad['x']}."
    )
    return svg(width, top + 94, out, words), words
