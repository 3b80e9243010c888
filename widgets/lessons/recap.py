"""The recap pictures: one figure for each finished chapter, its numbers computed by the engine when it is drawn.

What lives here: `recap(chapter)` and one drawing function for each chapter.
"""

from __future__ import annotations

from minigrad import Value

from .cards import straight
from .duel import Duel
from .kit import Figure, Given, lesson
from .lesson import label, number, svg, tag
from .listen import order_of
from .programs import diamond, run_named, square_line
from .recap_clinic import bug_clinic
from .recap_control import controlling
from .recap_custom import own_function
from .recap_graphs import chain_rule, the_graph, the_ledger
from .recap_instruments import instruments, where_next
from .recap_modes import two_modes
from .recap_normalizing import softmax_and_layernorm
from .recap_rules import rule_book
from .recap_second import second_order
from .recap_shapes import tensors
from .recap_tensors import accumulation, non_scalar
from .recap_training import memory_and_checkpoints, training_loop


def _box(x: float, y: float, width: float, *lines: tuple[str, str]) -> str:
    """A box with centred lines of (text, colour)."""
    out = tag("rect", "box", x=x, y=y, width=width, height=12 + 19 * len(lines), rx=7)
    for k, (text, colour) in enumerate(lines):
        out += label(x + width / 2, y + 20 + 19 * k, text, f"num v {colour}".strip(), "middle")
    return out


def _lane(top: float, title: str, cost: str, exact: str) -> str:
    panel = tag("rect", "panel", x=14, y=top, width=792, height=94, rx=9)
    return (
        panel
        + label(30, top + 30, title, "h")
        + label(30, top + 52, cost, "t soft")
        + label(30, top + 71, exact, "t soft")
    )


def _three_ways() -> tuple[str, str]:
    x, h = 2.0, 1e-5
    y, named = run_named(square_line, {"x": Value(x)})
    y.backward()
    chain = [named[n] for n in ("x", "p", "u", "y")]
    plus, minus = square_line(x + h), square_line(x - h)
    nudged = (plus - minus) / (2 * h)
    by_formula = number(6 * (3 * x + 2))

    out = _lane(14, "by formula", "a new formula, longer with every loop", "exact")
    out += _box(290, 44, 120, ("(3x + 2)²", "")) + straight(410, 466, 60) + _box(470, 44, 130, ("6 (3x + 2)", ""))
    out += straight(600, 676, 60) + _box(680, 44, 100, (by_formula, "bwd b"))

    out += _lane(118, "by nudging", "2 runs for each input", "never quite")
    out += _box(290, 128, 250, (f"f(x+h) = {plus:.10f}", ""), (f"f(x−h) = {minus:.10f}", "")) + straight(540, 622, 154)
    out += (
        label(552, 146, "÷ 2h", "t soft")
        + _box(626, 138, 154, (f"{nudged:.11f}", "bwd b"))
        + label(290, 202, "h = 0.00001", "t soft")
    )

    out += _lane(222, "by recording", "1 run forward, 1 back, all inputs", "exact up to rounding")
    for k, (name, node) in enumerate(zip("xpuy", chain, strict=True)):
        left = 270 + 134 * k
        out += _box(left, 236, 106, (f"{name} = {number(node.data)}", "fwd b"), (f"slope {number(node.grad)}", "bwd b"))
        if k:
            out += straight(left - 28, left, 250) + straight(left, left - 28, 274, back=True)
            local = node.slopes[[p is chain[k - 1] for p in node.operands].index(True)]
            out += label(left - 14, 304, f"× {number(local)}", "t bwd", "middle")
    words = (
        f"Three ways to the slope of (3x + 2)² at x = 2. By formula: 6(3x + 2) = {by_formula}. "
        f"By nudging with h = 0.00001: {nudged:.11f}, and two runs for each input. "
        f"By recording: forward {', '.join(number(n.data) for n in chain)}, back {', '.join(number(n.grad) for n in chain[::-1])}, "
        "for all inputs at once."
    )
    return svg(820, 330, out, words), words


def _engine() -> tuple[str, str]:
    sent: list[int] = []

    def backward(root: Value) -> None:
        nodes = order_of(root)
        index = {id(n): i for i, n in enumerate(nodes)}
        root.grad = 1.0
        for node in sorted(nodes, key=lambda n: n.age, reverse=True):  # newest first, as the engine does it
            if node._prev:
                sent.append(index[id(node)])
            node._backward()

    duel = Duel(Value, backward, diamond, {"a": 2.0, "b": 3.0})
    assert duel.drawn is not None
    out = duel.body()
    cards = {card["id"]: card for card in duel.drawn["cards"]}
    for k, i in enumerate(sent, 1):
        x, y = cards[i]["x"] + cards[i]["w"], cards[i]["y"]  # on the corner, beside what the card says
        out += tag("circle", "badge", cx=x, cy=y, r=10.5) + label(x, y + 4.5, str(k), "num t b", "middle")
    names = " ".join(duel.r.nodes[i].label for i in sent)
    a, b = number(duel.r.named("a").grad), number(duel.r.named("b").grad)
    width, top = max(duel.drawn["w"], 820), duel.drawn["h"] + 8
    out = tag("g", "", out, transform=f"translate({(width - duel.drawn['w']) / 2:.1f},0)")
    columns = (
        ("1  Remember", "every result keeps its parents", "and the local derivative to each"),
        ("2  Order", f"pass on what is complete: {names}", "reverse topological order"),
        ("3  Add", f"every contribution counts: {a} and {b}", "+= where paths meet"),
    )
    for k, (title, one, two) in enumerate(columns):
        left = 14 + k * (width - 14) / 3
        out += tag("rect", "panel", x=left, y=top, width=(width - 14) / 3 - 14, height=76, rx=9)
        out += (
            label(left + 14, top + 25, title, "h")
            + label(left + 14, top + 46, one)
            + label(left + 14, top + 64, two, "t soft")
        )
    words = (
        f"The engine on the diamond a = 2, b = 3. Order of turns: {names}. Gradients: a {a}, b {b}. "
        "Remember parents and local derivatives; pass on only what is complete; add every contribution."
    )
    return svg(width, top + 90, out, words), words


CHAPTERS = {
    1: _three_ways, 2: the_graph, 3: chain_rule, 4: the_ledger, 5: _engine, 6: rule_book, 7: accumulation, 8: non_scalar, 9: tensors,
    10: controlling, 11: second_order, 12: two_modes, 13: own_function, 14: softmax_and_layernorm, 15: bug_clinic,
    16: memory_and_checkpoints, 17: training_loop, 18: instruments, 19: where_next,
}  # fmt: skip


@lesson
class recap(Figure):
    """The chapter in one picture. chapter: its number, for example recap(1)."""

    chapter = Given()

    def setup(self) -> None:
        if not isinstance(self.chapter, int) or self.chapter not in CHAPTERS:
            raise ValueError(
                f"there are pictures for the chapters {', '.join(map(str, CHAPTERS))}, and none for {self.chapter!r}."
            )
        self.picture, self.words = CHAPTERS[self.chapter]()

    def draw(self) -> str:
        return self.picture

    def sentence(self) -> str:
        return self.words

    def caption(self) -> str:
        return ""
