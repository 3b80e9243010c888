"""Scissors: no_grad, detach, inference_mode and retain_graph, put at a chosen line of the learner's own program.

What lives here: `scissors(program, **inputs)`. The program that is shown is the program that runs; what flows, what was freed and which
error comes are read off the engine afterwards. What does not: the modes themselves (minigrad), stepping through a pass (ledger.py).
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import minigrad as torch
from minigrad.core.errors import a_kind
from minigrad.tensors.create import tensor

from ..layout import CARD_PAD, fitted
from ..show import Table
from .cards import card, wire
from .kit import Choice, Field, Figure, Given, Inputs, lesson
from .lesson import Judgement, esc, label, number, svg, tag

CANNED = "a = 3*x\nb = a**2\nc = b + a"  # two paths from a to c: a cut at b leaves a gradient, and another one
FUNCTIONS = ("exp", "log", "relu", "sigmoid", "sin", "cos", "sqrt", "tanh")  # what a typed program may call by name
TOOLS = {"nothing": "", "no_grad": "torch.no_grad()", "detach": ".detach()", "inference_mode": "torch.inference_mode()"}
MOST = 8  # lines that have room
CARD, TALL, GAP = 148.0, 112.0, 44.0

_LOOK = (
    "<style>.mgl .card.cut{stroke:var(--soft);stroke-dasharray:4 3}.mgl .dead{fill:none;stroke:var(--soft);stroke-dasharray:2 5}"
    ".mgl .changed{fill:var(--fwd-soft)}</style>"
)


class UnsuitableProgram(ValueError):
    """The program cannot be shown; the message says why and what to do."""


@dataclass
class ProgramLine:
    """One line of the program: its target, the names that it reads, and its source."""

    target: str
    reads: list[str]
    code: str
    node: ast.stmt


@dataclass
class ValueCard:
    """One value: what the line made, and what happened to it in the backward passes."""

    name: str
    expr: str
    parents: list[int]
    value: Any = None
    ran: bool = False
    grad_fn: Any = None
    requires_grad: bool = False
    leaf: bool = False
    inference: bool = False
    nodes: list[Any] = field(default_factory=list)  # the graph's nodes that this line recorded
    saving: list[tuple[Any, str]] = field(default_factory=list)  # (node, attribute) of each tensor that they saved
    arrived: Any = None  # the gradient of the last pass that reached it

    @property
    def freed(self) -> int:
        return sum(_is_freed(node, name) for node, name in self.saving)


def _is_freed(node: Any, name: str) -> bool:
    try:
        getattr(node, name)
    except RuntimeError:
        return True
    return False


def read_program(program: str | Callable) -> tuple[list[str], list[ProgramLine], str, dict[str, Any]]:
    """The inputs, the lines, the name of the result, and the names that the program may use. Raises UnsuitableProgram."""
    space: dict[str, Any] = {"torch": torch}
    if isinstance(program, str):
        source = (
            "\n".join(part.strip() for part in program.split(";")) if "\n" not in program else textwrap.dedent(program)
        )
        space |= {name: getattr(torch, name) for name in FUNCTIONS}
        try:
            body = ast.parse(source).body
        except SyntaxError as error:
            raise UnsuitableProgram(
                f"this is not Python: {error.msg}, in {(error.text or source).strip()!r}."
            ) from None
        inputs = None
    else:
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(program))).body[0]
        except (OSError, TypeError, SyntaxError, IndexError):
            raise UnsuitableProgram(
                "its lines of source are not known. Define the function in a cell, with def."
            ) from None
        if not isinstance(tree, ast.FunctionDef):
            raise UnsuitableProgram("it needs a function made with def: a lambda has no lines to cut between.")
        body, inputs = tree.body, list(inspect.signature(program).parameters)
        around = inspect.getclosurevars(program)
        space |= {**around.globals, **around.nonlocals}
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # a docstring
    known: list[str] = []
    steps: list[ProgramLine] = []
    result = ""
    for place, line in enumerate(body):
        if isinstance(line, (ast.Return, ast.Expr)):
            if place < len(body) - 1 or line.value is None:
                raise UnsuitableProgram(
                    f"the line {ast.unparse(line)!r} stores nothing. Give each result a name, and return the last."
                )
            if isinstance(line.value, ast.Name):
                result = line.value.id
                continue
            line = ast.copy_location(
                ast.Assign([ast.Name("result", ast.Store())], line.value, lineno=line.lineno), line
            )
        if any(isinstance(part, ast.Return) for part in ast.walk(line)):
            raise UnsuitableProgram("a return in the middle leaves no line to cut at. Return once, at the end.")
        names = [part for part in ast.walk(line) if isinstance(part, ast.Name)]
        stored = list(dict.fromkeys(n.id for n in names if isinstance(n.ctx, ast.Store)))
        loop = {n.id for part in ast.walk(line) if isinstance(part, (ast.For, ast.comprehension))
                for n in ast.walk(part.target) if isinstance(n, ast.Name)}  # fmt: skip
        stored = [name for name in stored if name not in loop]
        if len(stored) != 1:
            raise UnsuitableProgram(
                f"the line {ast.unparse(line).splitlines()[0]!r} stores {len(stored)} names. Let each line store one."
            )
        reads = [n.id for n in names if isinstance(n.ctx, ast.Load)]
        if isinstance(line, ast.AugAssign):
            reads.append(stored[0])
        known += [n for n in reads if n not in known and n not in loop and n not in {s.target for s in steps}]
        steps.append(ProgramLine(stored[0], list(dict.fromkeys(reads)), ast.unparse(line), line))
        result = stored[0]
    if inputs is None:
        inputs = [n for n in known if n not in space and not hasattr(builtins, n)]
    if not 1 <= len(steps) <= MOST:
        raise UnsuitableProgram(f"there is room for 1 to {MOST} lines, and it has {len(steps)}.")
    if not 1 <= len(inputs) <= 4:
        raise UnsuitableProgram(f"it needs 1 to 4 inputs, and it has {len(inputs)}.")
    if result not in {*inputs, *(s.target for s in steps)}:
        raise UnsuitableProgram(f"its result {result} is made in none of its lines.")
    return inputs, steps, result, space


class CutProgram:
    """The program with one tool at one line, run, and its result sent backward `passes` times."""

    def __init__(self, program: str | Callable, values: Mapping[str, Any]):
        self.inputs, self.steps, self.result, self.space = read_program(program)
        if unknown := [name for name in values if name not in self.inputs]:
            raise UnsuitableProgram(f"the program has no input {unknown[0]}; it takes {', '.join(self.inputs)}.")
        self.values = {name: values.get(name, 2.0) for name in self.inputs}
        self.tool, self.place, self.retain, self.passes = "nothing", min(1, len(self.steps) - 1), False, 0
        self.run()

    # Running -----------------------------------------------------------------------------------------------------------------------
    def line(self, k: int) -> str:
        """Line k as it runs, with the tool if it is there."""
        step = self.steps[k]
        if k != self.place or self.tool == "nothing":
            return step.code
        if self.tool == "detach":
            if isinstance(step.node, ast.Assign):
                value = ast.unparse(step.node.value)
                bare = isinstance(step.node.value, (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
                return f"{step.target} = {value if bare else f'({value})'}.detach()"
            return f"{step.code}\n{step.target} = {step.target}.detach()"
        return f"with {TOOLS[self.tool]}:\n" + textwrap.indent(step.code, "    ")

    def run(self) -> None:
        """The whole program, forward and backward, on fresh leaves."""
        space = dict(self.space)
        self.cards: list[ValueCard] = []
        self.log: list[tuple[str, str, bool]] = []  # (call, result or error, whether it succeeded)
        self.leaves = {}
        at: dict[str, int] = {}
        seen: set[int] = set()
        keep: list[Any] = []
        for name, value in self.values.items():
            leaf = tensor(
                value.tolist() if isinstance(value, torch.Tensor) else value, dtype=torch.float64, requires_grad=True
            )
            self.leaves[name] = space[name] = leaf
            at[name] = len(self.cards)
            self.cards.append(ValueCard(name, "", [], leaf.detach(), True, requires_grad=True, leaf=True))
        failed = False
        for k, step in enumerate(self.steps):
            card = ValueCard(step.target, _right_side(step), [at[n] for n in step.reads if n in at])
            at[step.target] = len(self.cards)
            self.cards.append(card)
            if failed:
                continue
            try:
                exec(compile(self.line(k), "<scissors>", "exec"), space)
            except Exception as error:
                self.log.append((self.line(k).splitlines()[-1].strip(), _first_line(error), False))
                failed = True
                continue
            self._note(card, space[step.target], seen, keep)
        root = space.get(self.result)
        for _ in range(0 if failed else self.passes):
            call = f"{self.result}.backward({'retain_graph=True' if self.retain else ''})"
            if not isinstance(root, torch.Tensor):
                self.log.append((call, f"AttributeError: {a_kind(root)} has no backward.", False))
                continue
            for card in self.cards:
                card.arrived = None
            try:
                root.backward(retain_graph=self.retain)
            except Exception as error:
                self.log.append((call, _first_line(error), False))
            else:
                self.log.append(
                    (call, ", ".join(f"{n}.grad = {_show(leaf.grad)}" for n, leaf in self.leaves.items()), True)
                )
        for card, leaf in zip(self.cards, self.leaves.values(), strict=False):
            card.arrived = leaf.grad
        self.failed = failed
        self._count()

    def _note(self, card: ValueCard, value: Any, seen: set[int], keep: list[Any]) -> None:
        """What the line made, before anything runs backward."""
        card.ran, card.value = True, value
        if not isinstance(value, torch.Tensor):
            return
        card.value = value.detach().clone()  # a later line may write into it
        card.grad_fn, card.requires_grad = value.grad_fn, value.requires_grad
        card.inference, card.leaf = value.is_inference(), value.is_leaf and value.requires_grad
        todo = [value.grad_fn]
        while todo:
            node = todo.pop()
            if node is None or id(node) in seen or hasattr(node, "variable"):
                continue
            seen.add(id(node))
            keep.append(node)  # an id is reused once its object is freed
            card.nodes.append(node)
            todo += [parent for parent, _ in node.next_functions]
        for node in card.nodes:
            remaining: list[Any] = []
            # A row's; PyTorch's names for the same come on top of them
            own = [f"_saved_{name}" for name in getattr(node, "saves", ())]
            for name in own or [name for name in dir(node) if name.startswith("_saved_")]:
                thing = getattr(node, name)
                if isinstance(thing, torch.Tensor) and not any(thing is other for other in remaining):
                    remaining.append(thing)
                    if (
                        sum(known is node for known, _ in card.saving) < len(getattr(node, "saves", ()))
                        or not card.saving
                    ):
                        card.saving.append((node, name))
        if value.requires_grad:
            value.register_hook(lambda g, card=card: setattr(card, "arrived", g.detach()))

    def _count(self) -> None:
        """The lines that a gradient can cross: the graph of the target leads to the source."""
        self.links: list[tuple[int, int, bool]] = []
        for i, one in enumerate(self.cards):
            for j in one.parents:
                self.links.append((j, i, one.ran and self._leads(one, self.cards[j])))

    def _leads(self, card: ValueCard, source: ValueCard) -> bool:
        for node in card.nodes:
            for parent, _ in node.next_functions:
                if parent is None:
                    continue
                if source.grad_fn is not None and parent is source.grad_fn:
                    return True
                if source.grad_fn is None and getattr(parent, "variable", None) is self.leaves.get(source.name, self):
                    return True
        return card.grad_fn is not None and card.grad_fn is source.grad_fn

    # Words -------------------------------------------------------------------------------------------------------------------------
    def reason(self, i: int) -> str:
        """Why this value carries no gradient; "" if it does, or if nothing has run backward that could have reached it."""
        card = self.cards[i]
        if not card.ran:
            return "not computed"
        if card.inference:
            return "in inference_mode"
        if not card.requires_grad:
            at_tool = i - len(self.inputs) == self.place
            if at_tool and self.tool == "no_grad":
                return "made under no_grad"
            if at_tool and self.tool == "detach":
                return "detached here"
            return "nothing behind it" if card.parents else "a constant"
        if card.arrived is None and card.grad_fn and self.log and not self.log[-1][2]:
            return "never reached"
        if card.arrived is None and any(ok for _, _, ok in self.log):
            return "no gradient came"
        return ""

    def state(self, i: int) -> str:
        """What the nodes of this value have saved."""
        card = self.cards[i]
        if not card.nodes:
            return ""
        if not card.saving:
            return "saved nothing"
        return f"saved {len(card.saving)}: freed" if card.freed else f"saved {len(card.saving)}: kept"

    def sentence(self) -> str:
        name = self.steps[self.place].target
        doing = {
            "nothing": "Nothing is cut.", "no_grad": f"{name} is computed under no_grad: its line records nothing.",
            "detach": f"{name} is detached: the same number, without its history.",
            "inference_mode": f"{name} is made in inference_mode: no history, and none later.",
        }[self.tool]  # fmt: skip
        if self.failed:
            return Judgement(False, f"{doing} The program stops at {self.log[-1][0]}: {self.log[-1][1]}")
        if not self.passes:
            end = self.cards[max(i for i, c in enumerate(self.cards) if c.name == self.result)]
            then = "backward can start there" if end.requires_grad else "backward has nowhere to start"
            return f"{doing} {self.result}.requires_grad is {end.requires_grad}: {then}."
        if not self.log[-1][2]:
            first = next(k for k, entry in enumerate(self.log, 1) if not entry[2])
            return Judgement(False, f"{doing} Pass {first} stops: {self.log[first - 1][1]}")
        none = [n for n, leaf in self.leaves.items() if leaf.grad is None]
        quiet = f" No error, and {' and '.join(none)} learn{'s' * (len(none) == 1)} nothing." if none else ""
        more = " It is added to what the first pass left." if self.passes > 1 and len(none) < len(self.leaves) else ""
        return f"{doing} After {self.passes} pass{'es' * (self.passes > 1)}: {self.log[-1][1]}.{quiet}{more}"

    # The picture -------------------------------------------------------------------------------------------------------------------
    def _places(self) -> list[tuple[float, float]]:
        depth: list[int] = []
        for one in self.cards:
            depth.append(max((depth[j] + 1 for j in one.parents), default=0))
        for j in range(len(self.inputs)):  # an input stands just before the line that needs it
            depth[j] = min((depth[i] - 1 for i, card in enumerate(self.cards) if j in card.parents), default=0)
        rows: dict[int, int] = {}
        places: dict[int, tuple[float, float]] = {}
        for i in sorted(range(len(depth)), key=lambda i: (i < len(self.inputs), i)):  # results are above the inputs
            places[i] = 20 + depth[i] * (CARD + GAP), 34 + rows.get(depth[i], 0) * (TALL + 20)
            rows[depth[i]] = rows.get(depth[i], 0) + 1
        return [places[i] for i in range(len(depth))]

    def svg(self) -> str:
        places = self._places()
        out = _LOOK
        for j, i, flows in self.links:
            out += self._link(places[j], places[i], flows, self.cards[i])
        for i in range(len(self.cards)):
            x, y = places[i]
            out += self._card(i, x, y)
        top = max(y for _, y in places) + TALL + 30
        body, height = self._code(top)
        width = max(820.0, max(x for x, _ in places) + CARD + 20)
        return svg(width, top + height, out + body, self.sentence())

    def _link(self, a: tuple[float, float], b: tuple[float, float], flows: bool, target: ValueCard) -> str:
        far = b[0] - a[0] > CARD + GAP + 1 and a[1] == b[1]
        if far:  # over the cards between
            x0, x1, y = a[0] + CARD - 24, b[0] + 24, a[1]
            d, middle = (
                f"M{x0:.0f} {y:.0f}C{x0 + 30:.0f} {y - 34:.0f} {x1 - 30:.0f} {y - 34:.0f} {x1:.0f} {y:.0f}",
                ((x0 + x1) / 2, y - 25),
            )
        else:
            x0, x1, y0, y1 = a[0] + CARD, b[0], a[1] + TALL / 2, b[1] + TALL / 2
            mid = (x0 + x1) / 2
            d, middle = (
                f"M{x0:.0f} {y0:.0f}C{mid:.0f} {y0:.0f} {mid:.0f} {y1:.0f} {x1:.0f} {y1:.0f}",
                (mid, (y0 + y1) / 2),
            )
        if not target.ran:
            return tag("path", "dead", d=d)
        back = flows and target.arrived is not None
        if flows and not far:
            return wire(d, back)
        if flows:
            out = tag("path", "wire sent" if back else "wire", d=d)
            return out + label(
                middle[0], middle[1] + 5, "◂" if back else "▸", f"h {'bwd' if back else 'fwd'} halo", "middle"
            )
        return tag("path", "dead", d=d) + label(middle[0], middle[1] + 6, "✂", "h halo", "middle")

    def _card(self, i: int, x: float, y: float) -> str:
        at, why = self.cards[i], self.reason(i)
        name, expr = fitted(at.name, at.expr, CARD - 2 * CARD_PAD)
        grad = "None" if at.arrived is None else _show(at.arrived)
        node = "a leaf" if at.leaf else at.grad_fn.name() if at.grad_fn else "no grad_fn" if at.ran else ""
        below = (why, node) if why and not at.grad_fn else (node, why or self.state(i))
        important = {why, self.state(i)} if at.freed else {why}
        rows = [
            ("value", _show(at.value) if at.ran else "·", "soft" if why else "fwd"),
            ("grad", grad, "soft" if at.arrived is None else "bwd"),
            *((text, "", "b" if text in important else "") for text in below),
        ]
        place = {"x": x, "y": y, "w": CARD, "h": TALL, "name": name, "expr": expr}
        return card(place, rows, "cut" if why else "leaf" if at.leaf else "")

    def _code(self, top: float) -> tuple[str, float]:
        rows: list[tuple[str, bool]] = []
        for k in range(len(self.steps)):
            rows += [(text, k == self.place and self.tool != "nothing") for text in self.line(k).splitlines()]
        out, y = tag("line", "grid", x1=20, x2=800, y1=top - 12, y2=top - 12), top + 12
        for text, changed in rows:
            if changed:
                out += tag("rect", "changed", x=14, y=y - 15, width=300, height=21, rx=4)
            out += tag("text", "num t", esc(_fit(text, 40)), x=22.0, y=y, style="white-space:pre")
            y += 21
        at = top + 12
        if not self.log:
            out += label(340, at, "backward has not run", "t soft")
        for call, message, ok in self.log:
            out += label(340, at, f"{'✓' if ok else '✗'} {call}", f"num t b {'good' if ok else 'bad'}")
            for line in textwrap.wrap(message, 66)[:3]:
                at += 18
                out += label(358, at, line, "t" + (" bwd" if ok else ""))
            at += 26
        return out, max(y, at) - top + 8

    def rows(self) -> list[tuple[Any, ...]]:
        """Each value: its name, number, gradient, node, and state."""
        rows = []
        for i, one in enumerate(self.cards):
            node = one.grad_fn.name() if one.grad_fn else "a leaf" if one.leaf else "no grad_fn"
            grad = "None" if one.arrived is None else _show(one.arrived)
            rows.append((one.name, _show(one.value) if one.ran else "·", grad, node, self.reason(i) or self.state(i)))
        return rows

    def text(self) -> str:
        rows = [("", "value", "grad", "graph", ""), *self.rows()]
        wide = [max(len(row[k]) for row in rows) + 2 for k in range(5)]
        table = ["".join(cell.ljust(w) for cell, w in zip(row, wide, strict=True)).rstrip() for row in rows]
        code = [line for k in range(len(self.steps)) for line in self.line(k).splitlines()]
        return "\n".join([*code, *(call for call, _, _ in self.log if call not in code), "", *table, self.sentence()])


def _right_side(step: ProgramLine) -> str:
    return ast.unparse(step.node.value) if isinstance(step.node, ast.Assign) else step.code.splitlines()[0]


def _unique(steps: list[ProgramLine]) -> list[str]:
    """The names that the lines store; the second of a name with its line."""
    names = [step.target for step in steps]
    return [f"{name}, line {k + 1}" if names.count(name) > 1 else name for k, name in enumerate(names)]


def _fit(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _show(value: Any) -> str:
    """A number; else up to three entries; else the shape."""
    if value is None:
        return "None"
    if not isinstance(value, torch.Tensor):
        return _fit(number(value, 5) if isinstance(value, (int, float)) else type(value).__name__, 12)
    if value.numel() == 1:
        entry = value.item()
        return number(entry, 5) if isinstance(entry, (int, float)) and math.isfinite(entry) else str(entry)
    if value.dim() == 1 and value.numel() <= 3:
        return "[" + ", ".join(number(entry, 2) for entry in value.tolist()) + "]"
    return f"shape {tuple(value.shape)}"


def _first_line(error: BaseException) -> str:
    """The kind of error and the first sentence of its text."""
    text = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {text.partition('. ')[0].rstrip('.')}."


@lesson
class scissors(Figure):
    """Put no_grad, detach or inference_mode at one line of a program, run it, and send its result backward up to twice.

    program: a few lines of Python ("a = 3*x; b = a**2"), or a function of Tensors; inputs: a number or a list for each (2 if left out).
    tool: "nothing", "no_grad", "detach" or "inference_mode"; at: the name that the line stores. retain_graph, passes (0 to 2): of backward.
    Returns a widget, or one sentence that says what is wrong.

    >>> print(scissors(tool="detach", at="b", passes=1).text().splitlines()[1])
    b = (a ** 2).detach()
    """

    program = Given(None)
    tool = Choice(list(TOOLS), "tool", "nothing")
    at = Given(None)
    retain_graph = Choice({"backward()": False, "backward(retain_graph=True)": True}, "backward", False)
    passes = Choice({"not yet": 0, "once": 1, "twice": 2}, "how often", 0)
    inputs = Inputs(fixed=True)
    state: Any = None  # a Cut; None until setup

    def fields(self) -> dict[str, Field]:
        result = super().fields()
        if self.state is not None:
            places = {name: k for k, name in enumerate(_unique(self.state.steps))}
            result["at"] = Choice(places, "at", 0).named("at")
        return result

    def setup(self) -> None:
        if self.program is not None and not isinstance(self.program, str) and not callable(self.program):
            kind = type(self.program).__name__
            raise TypeError(
                f"it needs a function, or lines of Python such as 'a = 3*x; b = a**2'. It was given {kind}."
            )
        state = CutProgram(CANNED if self.program is None else self.program, self.inputs)
        names = [step.target for step in state.steps]
        if isinstance(self.at, str) and self.at in names:
            self.at = names.index(self.at)
        elif self.at is None:
            self.at = state.place
        elif self.state is None or not isinstance(self.at, int):
            raise UnsuitableProgram(f"no line stores {self.at}; the lines store {', '.join(names)}.")
        state.tool, state.place, state.retain, state.passes = self.tool, self.at, self.retain_graph, self.passes
        state.run()
        self.state = state

    def sentence(self) -> str:
        return self.state.sentence()

    def draw(self) -> str:
        return self.state.svg()

    def table(self) -> Table:
        return Table(("value", "number", "gradient", "node", "what came of it"), self.state.rows())

    def text(self) -> str:
        return self.state.text()
