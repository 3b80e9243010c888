"""S2, the growing graph: a program runs line by line, and after each line the graph is drawn as far as it exists.

What lives here: `grow(program, x)`, for a few lines of text, to which the learner adds the next one, or for a function with its loops and
branches. The program really runs, once, under Python's own line events; stepping replays what was noted. What does not: where cards
stand (widgets.layout), derivatives, the graph of Tensors (inspector.py).
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, Literal

from minigrad import Value, scalar
from minigrad.scalar import Constant
from minigrad.tracing.naming import numbered
from minigrad.tracing.trace import Edge, Node, Trace, walk
from minigrad.words import listed, plural

from ..layout import CARD_PAD, fitted
from ..show import Table
from .cards import ROOM, card, places, wire
from .duel import SUPERSCRIPT, TIMES
from .kit import END, Control, Figure, Inputs, Moments, ProgramText, Text, action, lesson
from .lesson import number, svg, tag
from .line_by_line import HERE, TooLong, follow, listing, source

CANNED = "a = x * 2\nb = a + 5\nc = b ** 2"
STEPS = 300  # lines that run; beyond this it is a program for a computer, not for a reader
NODES = 60
LENGTH = 2000  # characters of typed text
FUNCTIONS = ("exp", "log", "sin", "cos", "tanh", "sigmoid", "relu", "sqrt")
_run = itertools.count(1)


@dataclass
class Born:
    """One node of the graph: `obj` and the ids of its parents; `moment` is when it was first seen."""

    id: int
    obj: Value
    parents: tuple[int, ...]
    moment: int
    name: str = ""  # the learner's; "" if it never had one
    label: str = ""
    expr: str = ""  # both as they are at the moment that is shown: a variable may lead elsewhere later

    @property
    def kind(self) -> Literal["leaf", "constant", "operation"]:
        return "constant" if isinstance(self.obj, Constant) else "operation" if self.parents else "leaf"


@dataclass
class GraphState:
    """The state after one line has run. line: its index, None at the start. held: the nodes that some variable still leads to."""

    line: int | None
    new: list[int] = field(default_factory=list)
    held: set[int] = field(default_factory=set)


class Growth:
    """One run of a program, noted line by line, and its picture after `at` lines."""

    def __init__(self, program: str | Callable, inputs: dict[str, float], base: dict[str, Any] | None = None):
        self.program, self.base = program, base or {}
        if isinstance(program, str):
            self.lines, self.first = program.splitlines(), 1
            self.inputs = {n: float(v) for n, v in inputs.items()}
        else:
            self.lines, self.first = source(program)
            names = list(inspect.signature(program).parameters)
            if unknown := [n for n in inputs if n not in names]:
                raise ValueError(f"the function has no input {unknown[0]}; it takes {', '.join(names) or 'none'}.")
            self.inputs = {n: float(inputs.get(n, 1.0)) for n in names}
        self.nodes: list[Born] = []
        self.moments: list[GraphState] = []
        self._ids: dict[int, int] = {}
        self.run()
        self.at = len(self.moments) - 1
        self.name(self.at)
        self.drawn = places(self._as_trace()) if self.nodes else None

    # Running ------------------------------------------------------------------------------------------------------------------
    def run(self) -> None:
        leaves = {n: Value(v, label=n) for n, v in self.inputs.items()}
        if isinstance(self.program, str):
            if len(self.program) > LENGTH:
                raise ValueError(f"this program has more than {LENGTH:,} characters.")
            code = compile(self.program, f"<grow {next(_run)}>", "exec")
            tools = {"Value": Value, **{name: getattr(scalar, name) for name in FUNCTIONS}}
            space: dict[str, Any] = {**self.base, **tools}
            before = dict(space)
            space.update(leaves)
            self._watched(code, lambda: exec(code, space), before)
        else:
            program = self.program
            if not hasattr(program, "__code__"):
                raise TypeError("this callable is not a Python function whose lines can be followed.")
            self._watched(program.__code__, lambda: program(**leaves), {})

    def _watched(self, code: CodeType, call: Callable[[], object], before: dict[str, Any]) -> None:
        """Call, and note a moment after each line of `code`. What `before` names is the notebook's, not the program's."""
        missing = object()

        def note(frame: FrameType, last: int | None, result: object) -> None:
            new_names = {
                n: v for n, v in frame.f_locals.items() if n != "__builtins__" and v is not before.get(n, missing)
            }
            if isinstance(result, Value):
                new_names.setdefault("result", result)
            self._note(None if last is None else last - self.first, new_names)

        follow(code, call, note)

    def _note(self, line: int | None, variables: dict[str, Any]) -> None:
        if len(self.moments) > STEPS:
            raise TooLong(f"more than {STEPS} lines have run and the program has not ended. Show a shorter run.")
        moment = GraphState(line)
        names = [(text, thing) for text, thing in walk(variables) if isinstance(thing, Value)]
        result = _behind([thing for _, thing in names])
        for obj in sorted(result, key=lambda v: v.age):  # parents were made first
            if id(obj) not in self._ids:
                if len(self.nodes) >= NODES:
                    raise TooLong(
                        f"the graph has more than {NODES} nodes, too many to watch one by one. Show a shorter run."
                    )
                self._ids[id(obj)] = len(self.nodes)
                parents = tuple(self._ids[id(p)] for p in obj._prev)
                self.nodes.append(Born(len(self.nodes), obj, parents, len(self.moments)))
                moment.new.append(len(self.nodes) - 1)
        moment.held = {self._ids[id(obj)] for obj in result}
        for text, thing in names:
            born = self.nodes[self._ids[id(thing)]]
            born.name = born.name or text
        self.moments.append(moment)

    def name(self, at: int) -> None:
        """Labels after `at` lines: the learner's name, h₁ of what h was before; else the expression if it is short; else v1, v2, ..."""
        held: dict[str, list[Born]] = {}
        for n in self.nodes:
            if n.name and n.moment <= at:
                held.setdefault(n.name, []).append(n)
        unnamed = itertools.count(1)
        for n in self.nodes:
            n.expr = self._expression(n)
            if n.kind == "constant":
                n.label = number(n.obj.data)
            elif n.name:
                turns = held.get(n.name, [n])
                n.label = n.name if n is turns[-1] or n not in turns else numbered(n.name, turns.index(n) + 1)
            else:
                n.label = n.expr if len(n.expr) <= 11 else f"v{next(unnamed)}"

    def _expression(self, n: Born) -> str:
        if not n.parents:
            return ""
        parts = [self.nodes[p].label for p in n.parents]
        op = n.obj._op
        if op.startswith("**") and len(parts) == 1:
            return _closed(parts[0]) + op[2:].translate(SUPERSCRIPT)
        if op == "neg":
            return "−" + _closed(parts[0])
        if len(parts) == 1:
            return f"{op}({parts[0]})"
        return TIMES.get(op, f" {op} ").join(p if op == "+" else _closed(p) for p in parts)

    def _as_trace(self) -> Trace:
        """The whole graph in the form that the layout reads."""
        nodes: list[Node] = []
        edges: list[Edge] = []
        for n in self.nodes:
            nodes.append(Node(
                id=n.id, kind=n.kind, op=n.obj._op, label=n.label, named=True, expr="" if n.expr == n.label else n.expr, value=0.0,
                grad=None, requires_grad=True, rule="", saved=[], source=None, scope="",
            ))  # fmt: skip
            for slot, p in enumerate(n.parents):
                edges.append(
                    Edge(id=len(edges), source=p, target=n.id, slot=slot, local=None, local_text="", carries_grad=False)
                )
        return Trace(version=1, engine="value", title="", root=len(nodes) - 1, nodes=nodes, edges=edges, steps=[])

    # The picture --------------------------------------------------------------------------------------------------------------
    @property
    def moment(self) -> GraphState:
        return self.moments[self.at]

    @property
    def finished(self) -> bool:
        return self.at == len(self.moments) - 1

    def svg(self) -> str:
        body, width, height = self.body()
        return svg(max(820, width), height, body, self.sentence())

    def body(self) -> tuple[str, float, float]:
        """The program and its graph, side by side where there is room, without the frame; width and height."""
        code, width, height = self._code()
        if self.drawn is None:
            return DEFS + code, width, height
        w, h = self.drawn["w"], self.drawn["h"]
        if width + w <= ROOM:
            graph = tag("g", "", self._graph(), transform=f"translate({width:.1f},{max(height - h, 0) / 2:.1f})")
            return DEFS + code + graph, width + w, max(height, h)
        return DEFS + code + tag("g", "", self._graph(), transform=f"translate(0,{height:.1f})"), w, height + h

    def _code(self) -> tuple[str, float, float]:
        """The program's lines: the one that has just run is marked, and those that never ran are pale in the end."""
        ran = [m.line for m in self.moments[: self.at + 1]]
        return listing(self.lines, ran, self.finished)

    def _graph(self) -> str:
        assert self.drawn is not None
        self.name(self.at)
        ends = [(p, n.id) for n in self.nodes for p in n.parents]  # by edge id
        out = ""
        for w in self.drawn["wires"]:
            source, target = ends[w["id"]]
            if self.nodes[target].moment <= self.at:
                out += wire(
                    w["d"], kind="new" if target in self.moment.new else "" if target in self.moment.held else "gone"
                )
        for place in self.drawn["cards"]:
            n, held = self.nodes[place["id"]], place["id"] in self.moment.held
            if n.moment > self.at:
                continue
            rows = [("value", number(n.obj.data, 5), "fwd"), *([] if held else [("", "let go", "")])]
            kind = ("new " if n.id in self.moment.new else "") + {"constant": "constant", "leaf": "leaf"}.get(
                n.kind, ""
            )
            name, expr = fitted(n.label, "" if n.expr == n.label else n.expr, place["w"] - 2 * CARD_PAD)
            placed = {**place, "name": name, "expr": _what(n, expr)}
            out += card(placed, [] if n.kind == "constant" else rows, kind.strip(), "" if held else "gone")
        return out

    # Text alternative ----------------------------------------------------------------------------------------------------------
    def sentence(self, at: int | None = None) -> str:
        at = self.at if at is None else at
        self.name(at)
        m = self.moments[at]
        if m.line is None:
            names = [n.label for n in self.nodes if n.moment == 0]
            return f"Nothing has run yet. {listed([*names])} {'is a leaf' if len(names) == 1 else 'are leaves'}: given, not computed."
        line = self.lines[m.line].strip() if m.line < len(self.lines) else ""
        out = f"{line.rstrip(':')}: "
        results = [self.nodes[i] for i in m.new if self.nodes[i].kind != "constant"]
        if results:
            out += " ".join(self._birth(n) for n in results)
        elif line.startswith(("if ", "elif ", "while ", "for ")):
            out += "Python decided where to go on. The graph got no node."
        else:
            out += "no new node."
        lost = (
            [
                self.nodes[i].label
                for i in sorted(self.moments[at - 1].held - m.held)
                if self.nodes[i].kind != "constant"
            ]
            if at
            else []
        )
        return out + (f" No variable leads to {listed([*lost])} any more." if lost else "")

    def _birth(self, n: Born) -> str:
        if n.kind == "leaf":
            return f"{n.label} is a new leaf, {number(n.obj.data, 5)}."
        return f"{n.label} is {number(n.obj.data, 5)} and remembers {listed([self.nodes[p].label for p in n.parents])}."

    def count(self) -> str:
        present = [n for n in self.nodes if n.moment <= self.at]
        kinds = {k: sum(n.kind == k for n in present) for k in ("leaf", "operation", "constant")}
        edges = sum(len(n.parents) for n in present)
        return (
            f"So far {plural(len(present), 'node')} ({kinds['leaf']} leaf{'' if kinds['leaf'] == 1 else 's'}, "
            f"{plural(kinds['operation'], 'operation')}, {plural(kinds['constant'], 'constant')}) and {plural(edges, 'edge')}."
        ).replace("leafs", "leaves")

    HEAD = ("node", "computed as", "value", "remembers", "made by")

    def rows(self) -> list[tuple[str, ...]]:
        out: list[tuple[str, ...]] = []
        self.name(self.at)
        for n in self.nodes:
            if n.moment <= self.at and n.kind != "constant":
                line = self.moments[n.moment].line
                text = "given" if line is None else self.lines[line].strip() if line < len(self.lines) else ""
                out.append(
                    (
                        n.label,
                        n.expr or "–",
                        number(n.obj.data),
                        ", ".join(self.nodes[p].label for p in n.parents) or "–",
                        text,
                    )
                )
        return out

    def table(self) -> Table:
        return Table(self.HEAD, self.rows(), caption=self.count())

    def text(self) -> str:
        """Every line that has run, in its order."""
        return "\n".join([*(f"{k:>2}  {self.sentence(k)}" for k in range(self.at + 1)), self.count()])


DEFS = f"<style>{HERE}</style>"


def _behind(values: list[Value]) -> list[Value]:
    """The values and everything that they were made from."""
    seen: dict[int, Value] = {}
    todo = list(values)
    while todo:
        obj = todo.pop()
        if id(obj) not in seen:
            seen[id(obj)] = obj
            todo += obj._prev
    return list(seen.values())


def _closed(text: str) -> str:
    return f"({text})" if " " in text and not text.endswith(")") else text


def _what(n: Born, expr: str) -> str:
    return expr if n.kind == "operation" else ("input" if n.moment == 0 else "leaf") if n.kind == "leaf" else ""


class _Line(Text):
    """The next line, for a program that is text."""

    def shown(self, figure: Any) -> bool:
        return isinstance(figure.program, str)


@lesson
class grow(Figure):
    """Run a program line by line and watch the graph grow; add the next line yourself.

    program: lines of Python as text, or your own function of Values, with its loops and branches. In text, x is 3 unless you give other
    inputs, and your notebook's own functions can be called. at: where to begin: "start", "end", or a number of lines.
    inputs: the leaves, for example x=2, w=-1.
    Returns a widget; where the program cannot run, a widget with one sentence that says why.

    >>> from widgets.lessons import grow
    >>> print(grow(x=3).text().splitlines()[-1])
    So far 6 nodes (1 leaf, 3 operations, 2 constants) and 5 edges.
    """

    program = ProgramText(CANNED, "lines of Python such as 'a = x * 2', or a function of Values")
    at = Moments("line", on="run next line ▸")
    line = _Line("next line", "", hint="for example d = c - x; Enter adds it and runs it")
    inputs = Inputs(4.0, 0.1)
    space: dict[str, Any] | None = {}
    run: Any = None  # a Growth; None until setup

    def controls(self) -> list[Control]:
        return [control for control in super().controls() if control.name != "program"]

    def setup(self) -> None:
        text = isinstance(self.program, str)
        if text and not self.program.strip():
            raise ValueError("it needs at least one line of Python, for example 'a = x * 2'.")
        if text and not self.inputs:
            self.inputs = {"x": 3.0}
        try:
            self.run = Growth(self.program, self.inputs, self.space if text else {})
        except Exception as error:
            raise ValueError(_said(error)) from error
        if not self.run.nodes:
            raise ValueError("no Value took part in it.")
        self.inputs, self.last = self.run.inputs, len(self.run.moments) - 1

    def moved(self, name: str) -> None:
        if name == "line":
            line, self.line = self.line.strip().replace("−", "-").replace("·", "*"), ""
            if not line:
                return
            self.program, self.at = self.program.rstrip("\n") + "\n" + line, END
        self.at = self.at if self.at < self.last else END
        self.setup()

    @action("take the last line off", when=lambda self: isinstance(self.program, str) and "\n" in self.program.strip())
    def off(self) -> None:
        self.program, self.at = "\n".join(self.program.splitlines()[:-1]), END
        self.setup()

    def actions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        return super().actions() if isinstance(self.program, str) else iter(())

    def _now(self) -> Growth:
        self.run.at = self.at
        return self.run

    def _shown(self) -> Growth:
        """For a page without a kernel: the present moment; the last one if nothing has run yet."""
        self.run.at = self.at or self.last
        return self.run

    def sentence(self) -> str:
        return f"{self._now().sentence()} {self.run.count()}"

    def draw(self) -> str:
        return self._now().svg()

    def still(self) -> str:
        return self._shown().svg()

    def table(self) -> Table:
        return self._now().table()

    def text(self) -> str:
        return self._shown().text()


def _said(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"Python cannot read line {error.lineno}: {error.msg}."
    return str(error) if isinstance(error, (ValueError, TooLong)) else f"{type(error).__name__}: {error}"
