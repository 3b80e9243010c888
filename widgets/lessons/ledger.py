"""S4, the ledger: a backward pass as a table that the learner fills in, one row for each gradient that is sent.

What lives here: `Book`, the right numbers of every cell and what a wrong one would be the result of; `ledger(f, x=2)`, the table to fill
in under a picture that fills with it. What does not: derivatives (minigrad.Value), the walk back and formulas (minigrad.tracing.trace),
typed programs (stepper.py), where cards stand (widgets.layout).
"""

from __future__ import annotations

import ast
import copy
import math
import operator
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, Literal, NamedTuple

from minigrad.tracing.text import differential
from minigrad.tracing.trace import Edge, Node, fmt, trace
from minigrad.tracing.trace import ledger as sent_rows
from minigrad.words import listed
from widgets.layout import shorten

from .cards import card, pill, places, wire
from .kit import Control, Field, Figure, Given, Inputs, ProgramText, action, lesson
from .lesson import Judgement, bracketed, label, number, svg, tag
from .stepper import inputs_of, run_program, started

CANNED = "a = x*3; b = a + 1; c = b**2"
LONGEST = 12  # rows: more is no exercise
HEAD = ("node", "value", "upstream", "", "local derivative", "", "passes on", "to")
NEAR = 5e-3  # three digits are enough where a number has more than six

_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_FUNCTIONS = {"exp": math.exp, "log": math.log, "sin": math.sin, "cos": math.cos, "tanh": math.tanh, "sqrt": math.sqrt}
_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


class Key(NamedTuple):
    """One cell: the upstream gradient of a node, or the local derivative or the downstream gradient of an edge."""

    kind: Literal["arrives", "local", "sends"]
    id: int  # of the node, or of the edge


def close(got: float, right: float) -> bool:
    """Whether `got` is `right`; where `right` has more than six digits, three of them are enough.

    >>> close(1001, 1000), close(0.633, 0.6333192)
    (False, True)
    """
    short = math.isclose(right, float(f"{right:.6g}"), rel_tol=1e-12)
    return math.isclose(got, right, rel_tol=1e-9 if short else NEAR, abs_tol=1e-12)


def read(text: str, values: dict[str, float]) -> float:
    """A number that a learner typed, or a small formula in the names of the ledger. Raises ValueError with one plain sentence.

    >>> read("2b", {"b": 7.0}), read("14", {}), read("-1/4", {})
    (14.0, 14.0, -0.25)
    """
    message = text.strip()
    plain = message
    for sign, python in {"−": "-", "·": "*", "×": "*", "^": "**", "²": "**2", "³": "**3"}.items():
        plain = plain.replace(sign, python)
    plain = re.sub(r"(?<=\d),(?=\d)", ".", plain)
    plain = re.sub(r"(?<![\w.])(\d+\.?\d*)(?![eE][-+]?\d)\s*(?=[^\W\d]|\()", r"\1*", plain)
    try:
        got = _value(ast.parse(plain, mode="eval").body, values)
    except ZeroDivisionError:
        raise ValueError(f"{message} divides by zero.") from None
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        why = str(error) if isinstance(error, UnknownName) else "Write a number, or a formula such as 2*b."
        raise ValueError(f"{message[:40]!r} is not a number. {why}") from None
    if not math.isfinite(got):
        raise ValueError(f"{message[:40]!r} is not a finite number.")
    return got


class UnknownName(ValueError):
    """A name that a typed formula uses and the ledger does not have."""


def _value(tree: ast.AST, values: dict[str, float]) -> float:
    match tree:
        case ast.Constant(value=int() | float() as x) if not isinstance(x, bool):
            return float(x)
        case ast.Name(id=name):
            if name not in values:
                raise UnknownName(f"The ledger has no {name}.")
            return values[name]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=x):
            return -_value(x, values) if isinstance(op, ast.USub) else _value(x, values)
        case ast.BinOp(left=x, op=op, right=y) if type(op) in _BINARY:
            out = _BINARY[type(op)](_value(x, values), _value(y, values))
            if isinstance(out, float):
                return out
        case ast.Call(func=ast.Name(id=name), args=[x], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(x, values))
    raise ValueError


class Book:
    """A program at its inputs, the rows of its backward pass, and the entries of the cells so far."""

    def __init__(self, f: str | Callable, inputs: dict[str, float]):
        self.f, self.inputs = f, started(f, inputs)
        root, named = run_program(f, self.inputs)
        self.trace = trace(root, named)
        self.nodes: list[Node] = self.trace["nodes"]
        self.edges: list[Edge] = self.trace["edges"]
        self.root = self.trace["root"]
        self.rows = [row["edge"] for row in sent_rows(self.trace) if row["edge"] is not None]  # in the engine's order
        if len(self.rows) > LONGEST:
            raise ValueError(f"this program has {len(self.rows)} rows: take one with at most {LONGEST}.")
        if any(not math.isfinite(self.local(e)) for e in self.rows):
            raise ValueError("one of its steps has no derivative there.")
        self.leaves = [n["id"] for n in self.nodes if n["kind"] == "leaf" and self.users(n["id"])]
        if not self.leaves:
            raise ValueError("none of its inputs has a part in the result.")
        self.cells = [
            key for line in self.lines() for key in line if key is not None and key != Key("arrives", self.root)
        ]
        self.got: dict[Key, float] = {}  # the entries, right or wrong
        self.helped: set[Key] = set()  # the cells that were filled in for the learner

    # The right numbers --------------------------------------------------------------------------------------------------------
    def local(self, e: int) -> float:
        slope = self.edges[e]["local"]
        return math.nan if slope is None else float(slope)

    def users(self, n: int) -> list[int]:
        """The edges along which gradients come to node n."""
        return [e for e in self.rows if self.edges[e]["source"] == n]

    def expected(self, key: Key) -> float:
        if key.kind == "local":
            return self.local(key.id)
        if key.kind == "sends":
            return self.local(key.id) * self.expected(Key("arrives", self.edges[key.id]["target"]))
        return 1.0 if key.id == self.root else sum(self.expected(Key("sends", e)) for e in self.users(key.id))

    def value(self, n: int) -> float:
        return float(self.nodes[n]["value"])

    def lines(self) -> Iterator[tuple[Key | None, Key | None, Key | None]]:
        """The rows of the table: arrives (only where a node has its first row), local, sends; last one row for each input."""
        seen = set()
        for e in self.rows:
            n = self.edges[e]["target"]
            yield (None if n in seen else Key("arrives", n)), Key("local", e), Key("sends", e)
            seen.add(n)
        for n in self.leaves:
            yield Key("arrives", n), None, None

    # Filling in ---------------------------------------------------------------------------------------------------------------
    def right(self, key: Key) -> bool:
        return key == Key("arrives", self.root) or (key in self.got and close(self.got[key], self.expected(key)))

    @property
    def open(self) -> list[Key]:
        return [key for key in self.cells if not self.right(key)]

    def step_back(self) -> str:
        """Fill in the first incomplete row; returns a sentence about it."""
        for line in self.lines():
            missing = [key for key in line if key is not None and not self.right(key)]
            if missing:
                for key in missing:
                    self.got[key] = self.expected(key)
                    self.helped.add(key)
                return self.confirm(line[2] or missing[-1])
        return self.summary()

    def answer(self, key: Key, got: float) -> Judgement:
        """Enter a number into a cell. Returns why it is right, or which mistake gives it."""
        self.got[key] = got
        self.helped.discard(key)
        if not self.right(key):
            return Judgement(False, self.explain(key, got))
        return Judgement(True, self.confirm(key))

    # Words --------------------------------------------------------------------------------------------------------------------
    def name(self, n: int) -> str:
        return self.nodes[n]["label"]

    def ends(self, e: int) -> tuple[int, int]:
        """The node that sends along this edge, and the one that receives."""
        return self.edges[e]["target"], self.edges[e]["source"]

    def slope_name(self, e: int) -> str:
        n, p = self.ends(e)
        return f"{differential(self.name(n))}/{differential(self.name(p))}"

    def to(self, e: int) -> str:
        """Where a row goes; of x·x, which of the two places it is."""
        n, p = self.ends(e)
        twins = [i for i in self.rows if self.ends(i) == (n, p)]
        return self.name(p) + (f" ({twins.index(e) + 1} of {len(twins)})" if len(twins) > 1 else "")

    def title(self, key: Key) -> str:
        """What a cell is called, for its tooltip and for screen readers."""
        if key.kind == "arrives":
            return f"{self.name(key.id)}.grad: the upstream gradient of {self.name(key.id)}"
        if key.kind == "local":
            return f"local derivative {self.slope_name(key.id)}, row to {self.to(key.id)}"
        return f"what {self.name(self.ends(key.id)[0])} passes to {self.to(key.id)}"

    def confirm(self, key: Key) -> str:
        entry = number(self.expected(key))
        if key.kind == "local":
            e = self.edges[key.id]
            n, p = self.ends(key.id)
            formula = f"{e['local_text']} = " if not re.fullmatch(r"[−\d.]+", e["local_text"] or "0") else ""
            at = f" at {self.name(p)} = {number(self.value(p))}" if formula else ""
            return f"{self.slope_name(key.id)} = {formula}{entry}{at}."
        if key.kind == "sends":
            n, p = self.ends(key.id)
            arrived = bracketed(self.expected(Key("arrives", n)))
            return f"{self.name(n)} passes {arrived} × {bracketed(self.local(key.id))} = {entry} to {self.name(p)}."
        shares = [bracketed(self.expected(Key("sends", e))) for e in self.users(key.id)]
        total = f"{' + '.join(shares)} = {entry}" if len(shares) > 1 else entry
        return f"{self.name(key.id)}.grad = {total}: all that was passed to {self.name(key.id)}."

    def rule(self, key: Key) -> str:
        """What a cell asks for, without the number."""
        if key.kind == "local":
            n, p = self.ends(key.id)
            return f"This cell asks how fast {self.nodes[n]['expr']} changes when only {self.name(p)} moves."
        if key.kind == "sends":
            return "This cell asks for the upstream gradient of this row, times its local derivative."
        senders = list(dict.fromkeys(self.name(self.ends(e)[0]) for e in self.users(key.id)))
        several = len(senders) > 1
        return f"This cell asks for what {listed(senders)} {'pass on, added up' if several else 'passes on'}."

    def explain(self, key: Key, got: float) -> str:
        """Which mistake gives a wrong entry, and what the cell asks for."""
        if follows := self._follows(key, got):
            return follows
        entry = fmt(got)
        for value, words in self._usual(key):
            if close(got, value) and not close(value, self.expected(key)):
                return f"{entry} {words}"
        nearby = self._around(key)
        for value, words in [*nearby, *self._everywhere()]:
            if close(got, value):
                return f"{entry} is {words}. {self.rule(key)}"
        for (x, of_x), (y, of_y) in combinations(nearby, 2):
            for sign, result in (("×", x * y), ("+", x + y)):
                idle = 0 in (x, y) or (sign == "×" and 1 in (x, y))
                if not idle and close(got, result):
                    return (
                        f"{entry} would be {bracketed(x)} {sign} {bracketed(y)}: {of_x} {sign} {of_y}. {self.rule(key)}"
                    )
        return f"{entry} is not made from the numbers of this row in one step. {self.rule(key)}"

    def _follows(self, key: Key, got: float) -> str:
        """A wrong number that is the right consequence of an earlier wrong one."""
        if key.kind == "local":
            return ""
        if key.kind == "sends":
            before = [Key("arrives", self.ends(key.id)[0]), Key("local", key.id)]
        else:
            before = [Key("sends", e) for e in self.users(key.id)]
        typed = [1.0 if k == Key("arrives", self.root) else self.got.get(k) for k in before]
        wrong = [k for k, x in zip(before, typed, strict=True) if x is not None and not self.right(k)]
        entries = [x for x in typed if x is not None]
        if (
            not wrong
            or len(entries) < len(typed)
            or not close(got, math.prod(entries) if key.kind == "sends" else sum(entries))
        ):
            return ""
        culprit = wrong[0]
        what = {"arrives": "the upstream gradient", "local": "the local derivative", "sends": "what is passed on"}[
            culprit.kind
        ]
        return f"{fmt(got)} follows from your {fmt(self.got[culprit])} ({what}), which is not right yet. Correct that cell first."

    def _usual(self, key: Key) -> Iterator[tuple[float, str]]:
        """The mistakes that people make in this cell: the number that each gives, and the rest of a sentence about it."""
        want = self.expected(key)
        if key.kind != "local":
            yield (
                0.0,
                f"would mean that {self.name(self.root)} does not change when {self._receiver(key)} moves. {self.rule(key)}",
            )
        if key.kind == "arrives":
            yield from self._usual_arrives(key.id)
        else:
            n, p = self.ends(key.id)
            one, other, expr = self.name(n), self.name(p), self.nodes[n]["expr"]
            arrives, local = self.expected(Key("arrives", n)), self.local(key.id)
            twins = [e for e in self.rows if self.ends(e)[0] == n and self.ends(e)[1] != p]
            if key.kind == "local":
                yield 0.0, f"would mean that {one} does not change when {other} moves."
                for e in twins:
                    q = self.to(e)
                    reminder = f"This row goes to {other}: keep {q} fixed and move {other}."
                    yield self.local(e), f"is the derivative with respect to {q}. {reminder}"
                yield self.value(p), f"is the value of {other}. {self.rule(key)}"
                yield self.value(n), f"is the value of {one}. {self.rule(key)}"
                for edge in self.edges:
                    if edge["target"] == n and self.nodes[edge["source"]]["kind"] == "constant":
                        yield self.value(edge["source"]), f"is the constant in {expr}. {self.rule(key)}"
                if power := self._exponent(n):
                    yield power, f"is the exponent alone. {self.rule(key)}"
                yield (
                    arrives * local,
                    f"is multiplied already: it is what {one} passes on. The local derivative alone belongs here.",
                )
                yield arrives, f"is the upstream gradient of {one}, which has a column of its own. {self.rule(key)}"
            else:
                yield arrives, f"is the upstream gradient of {one}, not multiplied by {self.slope_name(key.id)} yet."
                yield local, f"is the local derivative alone. Multiply it by the upstream gradient of {one}."
                for e in twins:
                    yield (
                        self.expected(Key("sends", e)),
                        f"is what {one} passes to {self.to(e)}. This row goes to {other}.",
                    )
                yield arrives + local, "is the sum of the two. Along a path, multiply."
        if want:
            yield -want, "has the right size and the wrong sign."

    def _receiver(self, key: Key) -> str:
        return self.name(key.id if key.kind == "arrives" else self.ends(key.id)[1])

    def _exponent(self, n: int) -> float | None:
        """The number in b², where node n is such a power."""
        match = re.search(r"[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+$", self.nodes[n]["expr"])
        return float(match[0].translate(_RAISED)) if match and self.nodes[n]["op"].startswith("**") else None

    def _usual_arrives(self, n: int) -> Iterator[tuple[float, str]]:
        name, users = self.name(n), self.users(n)
        sent = {e: self.expected(Key("sends", e)) for e in users}
        for size in range(1, len(users)):
            for some in combinations(users, size):
                came = listed([*dict.fromkeys(self.name(self.ends(e)[0]) for e in some)])
                rest = listed([*dict.fromkeys(self.name(self.ends(e)[0]) for e in users if e not in some)])
                more = f"{rest} {'passes' if size == len(users) - 1 else 'pass'} something to {name}, too: add"
                if came == rest:  # x * x
                    more = f"{name} is used {len(users)} times in {came}, and each use contributes: add"
                yield (
                    sum(sent[e] for e in some),
                    f"is what {came} {'passes' if size == 1 else 'pass'} to {name}. {more}.",
                )
        if len(users) > 1:
            yield (
                math.prod(sent.values()),
                "is the product of the contributions. Along a path one multiplies; where paths meet, one adds.",
            )
        for e in users:
            sender = self.ends(e)[0]
            yield (
                self.expected(Key("arrives", sender)),
                f"is the upstream gradient of {self.name(sender)}, which passes it on multiplied by {self.slope_name(e)}.",
            )
            request = f"This cell asks for what {self.name(sender)} passes on."
            yield self.local(e), f"is the local derivative {self.slope_name(e)} alone. {request}"
        for e in self.rows:
            if self.ends(e)[0] == n:
                yield self.expected(Key("sends", e)), f"is what {name} passes on to {self.to(e)}: one step too far."
        yield self.value(n), f"is the value of {name}. This cell asks for its gradient."

    def _around(self, key: Key) -> list[tuple[float, str]]:
        """The numbers of this row, with their names."""
        if key.kind == "arrives":
            edges = self.users(key.id)
            out = [(self.expected(Key("sends", e)), f"what {self.name(self.ends(e)[0])} passes on") for e in edges]
            out += [(self.value(key.id), f"the value of {self.name(key.id)}")]
            out += [(self.value(self.ends(e)[0]), f"the value of {self.name(self.ends(e)[0])}") for e in edges]
        else:
            n, p = self.ends(key.id)
            out = [(self.expected(Key("arrives", n)), f"the upstream gradient of {self.name(n)}")]
            if key.kind == "sends":
                out += [(self.local(key.id), f"the local derivative {self.slope_name(key.id)}")]
            parents = dict.fromkeys([p, *(e["source"] for e in self.edges if e["target"] == n)])
            kinds = {
                q: "the constant" if self.nodes[q]["kind"] == "constant" else f"the value of {self.name(q)}"
                for q in parents
            }
            out += [
                (self.value(n), f"the value of {self.name(n)}"),
                *((self.value(q), kind) for q, kind in kinds.items()),
            ]
            if power := self._exponent(n):
                out.append((power, "the exponent"))
        return out

    def _everywhere(self) -> Iterator[tuple[float, str]]:
        for n in self.nodes:
            if n["kind"] != "constant":
                yield self.value(n["id"]), f"the value of {n['label']}"
        for e in self.rows:
            yield self.expected(Key("sends", e)), f"what {self.name(self.ends(e)[0])} passes to {self.to(e)}"
            yield self.local(e), f"the local derivative {self.slope_name(e)}"

    def summary(self) -> str:
        """The state of the ledger in one sentence."""
        root = self.name(self.root)
        at = ", ".join(f"{n} = {number(v)}" for n, v in self.inputs.items())
        if self.open:
            done = len(self.cells) - len(self.open)
            begin = f"At {at}: {root} = {number(self.value(self.root))}, and {root} starts with the seed 1."
            return (
                f"{begin} {done} of {len(self.cells)} cells are filled in."
                if done
                else f"{begin} Fill in the {len(self.cells)} cells."
            )
        ends = ", ".join(
            f"d{root}/{differential(self.name(n))} = {number(self.expected(Key('arrives', n)))}" for n in self.leaves
        )
        unaided = len(self.cells) - len(self.helped)
        by = (
            ""
            if not unaided
            else " All of it is yours."
            if unaided == len(self.cells)
            else f" {unaided} of {len(self.cells)} cells are yours."
        )
        return f"The ledger is complete. At {at}: {ends}.{by}"

    # The picture and the table --------------------------------------------------------------------------------------------------
    def cell_text(self, key: Key | None) -> str:
        if key is None:
            return ""
        return number(self.expected(key), 5) if self.right(key) else "?"

    def table_rows(self) -> list[tuple[str, ...]]:
        """The ledger as text, under HEAD; ? where a cell is not right yet."""
        out: list[tuple[str, ...]] = []
        for arrives, local, sends in self.lines():
            n = arrives.id if arrives else self.ends(local.id)[0]  # type: ignore[union-attr]  # one of the two is there
            texts = (self.computes(n), number(self.value(n), 5)) if arrives else ("", "")
            if local is None or sends is None:
                out.append((*texts, self.cell_text(arrives), "", f"= {self.name(n)}.grad", "", "", ""))
            else:
                middle = f"{self.slope_name(local.id)} = {self.cell_text(local)}"
                out.append(
                    (*texts, self.cell_text(arrives), "×", middle, "=", self.cell_text(sends), f"→ {self.to(local.id)}")
                )
        return out

    def computes(self, n: int) -> str:
        name, expr = self.name(n), self.nodes[n]["expr"]
        return name if not expr or expr == name else f"{name} = {expr}"

    def drawing(self) -> tuple[str, float, float]:
        """The graph with every gradient of the ledger: its drawing, width and height."""
        drawn = places(self.trace)
        wires, pills = "", ""
        for w in drawn["wires"]:
            e = w["id"]
            travels = e in self.rows
            sent = travels and self.right(Key("sends", e))
            wires += wire(w["d"], sent)
            if sent:
                pills += pill(w["px"], w["py"], number(self.expected(Key("sends", e)), 4), "sent")
            elif travels:
                right = self.right(Key("local", e))
                pills += pill(w["px"], w["py"], f"× {number(self.local(e), 4) if right else '?'}", "idle", "soft")
        cards = ""
        for place in drawn["cards"]:
            n = self.nodes[place["id"]]
            rows = [
                ("value", number(self.value(n["id"]), 5), "fwd"),
                ("grad", self.cell_text(Key("arrives", n["id"])), "bwd"),
            ]
            kind = {"constant": "constant", "leaf": "leaf"}.get(n["kind"], "")
            cards += card(place, rows[: 1 if kind == "constant" else 2], kind)
        return wires + cards + pills, drawn["w"], drawn["h"]

    WIDTHS = (176.0, 74.0, 84.0, 22.0, 176.0, 24.0, 84.0, 110.0)

    def table_drawing(self, left: float, top: float) -> tuple[str, float]:
        """The table for a picture, and its height."""
        out, y = "", top + 20
        edges = [left + sum(self.WIDTHS[:k]) for k in range(len(self.WIDTHS))]
        for k, text in enumerate(HEAD):
            out += label(edges[k] + 8, y, text, "t soft")
        for row in self.table_rows():
            y += 26
            out += tag("line", "grid", x1=left, x2=left + sum(self.WIDTHS), y1=y - 18, y2=y - 18)
            for k, text in enumerate(row):
                colour = "d b" if k == 0 else "num v fwd" if k == 1 else "num v bwd b" if k in (2, 6) else "num v"
                out += label(edges[k] + 8, y, shorten(text, 22), colour) if text else ""
        return out, y - top + 12

    def picture(self) -> str:
        body, w, h = self.drawing()
        width = max(w, sum(self.WIDTHS) + 28)
        table, height = self.table_drawing(14, h + 8)
        body = tag("g", "", body, transform=f"translate({(width - w) / 2:.1f},0)")
        return svg(width, h + 8 + height, body + table, self.summary())

    def text(self) -> str:
        rows = [HEAD, *self.table_rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEAD))]
        return "\n".join(
            [
                self.summary(),
                "",
                *("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows),
            ]
        )


class Sheet(Control):
    """The ledger as a table with cells to type in."""

    kind = "sheet"

    def spec(self, figure: ledger) -> dict[str, Any]:  # type: ignore[override]
        book, rows = figure.book, []

        def cell(key: Key | None) -> Any:
            if key is None:
                return ""
            if key == Key("arrives", book.root):
                return "1 (seed)"
            right, typed = book.right(key), figure.typed.get(key, "")
            mood = ("helped" if key in book.helped else "right") if right else "wrong" if typed.strip() else ""
            return {"key": book.cells.index(key), "value": typed, "mood": mood, "title": book.title(key)}

        for arrives, local, sends in book.lines():
            n = arrives.id if arrives else book.ends(local.id)[0]  # type: ignore[union-attr]
            first = (book.computes(n), number(book.value(n), 5)) if arrives else ("", "")
            if local is None or sends is None:
                rows.append([*first, cell(arrives), "=", f"{book.name(n)}.grad", "", "", "", ""])
            else:
                slope = (f"{book.slope_name(local.id)} =", cell(local))
                rows.append(
                    [
                        *first,
                        cell(arrives) if arrives else "as above",
                        "×",
                        *slope,
                        "=",
                        cell(sends),
                        f"→ {book.to(local.id)}",
                    ]
                )
        head = (*HEAD[:4], "", *HEAD[4:])  # the local derivative takes two columns: its name and its field
        return {
            "kind": self.kind,
            "name": self.name,
            "label": self.label,
            "value": figure.tries,
            "hint": "",
            "head": head,
            "cells": rows,
        }

    def get(self, figure: Any) -> ledger:
        return figure

    def read(self, sent: Any, figure: ledger) -> tuple[Key, str]:
        match sent:
            case [int() as k, str() as text] if (
                not isinstance(k, bool) and 0 <= k < len(figure.book.cells) and len(text) <= 200
            ):
                return figure.book.cells[k], text
        raise ValueError("A cell takes a number.")

    def put(self, figure: Any, typed: tuple[Key, str]) -> None:
        figure.enter(*typed)


@lesson
class ledger(Figure):
    """A backward pass by hand: fill in each node's upstream gradient, its local derivatives, and its downstream gradients.

    f: a program as text, which can then be edited in the widget, or your own function of one or more Values.
    filled: how many rows are filled in already, or "all". inputs: the numbers to start from; x = 2 in the course's own program, else 1.
    Returns a widget; where there is nothing to fill in, a widget with one sentence that says why.

    >>> from widgets.lessons import ledger
    >>> print(ledger(filled="all").text().splitlines()[0])
    The ledger is complete. At x = 2: dc/dx = 42.
    """

    f = ProgramText(CANNED, "a program such as 'a = 3*x; a**2', or a function of Values")
    filled = Given(0)
    inputs = Inputs(typed=True)
    book: Any = None  # a Book; None until setup
    message = ""
    tries = 0  # wrong entries so far: the cell of a new one shakes
    typed: dict[Key, str] = {}

    def fields(self) -> dict[str, Field]:
        return {"cells": Sheet("ledger").named("cells"), **super().fields()}

    def setup(self) -> None:
        if isinstance(self.filled, bool) or not (
            self.filled == "all" or (isinstance(self.filled, int) and self.filled >= 0)
        ):
            raise ValueError(f"filled is a number of rows, or 'all'. It was given {self.filled!r}.")
        self._open({"x": 2.0, **self.inputs} if self.f == CANNED else self.inputs)
        rows = LONGEST + len(self.inputs) if self.filled == "all" else self.filled
        while self.book.open and rows > 0:
            self._fill()
            rows -= 1
        self.message = ""

    def _open(self, inputs: dict[str, float]) -> None:
        """An empty ledger."""
        self.book, self.typed, self.message = Book(self.f, inputs), {}, ""
        self.inputs = self.book.inputs

    def moved(self, name: str) -> None:
        if name != "cells":
            self._open({n: v for n, v in self.inputs.items() if n in inputs_of(self.f)})

    def _copied(self) -> Book:
        book = self.book = copy.copy(self.book)
        book.got, book.helped, self.typed = dict(book.got), set(book.helped), dict(self.typed)
        return book

    def enter(self, key: Key, text: str) -> None:
        """Type into a cell; "" empties it."""
        book = self._copied()
        self.typed[key] = text
        book.got.pop(key, None)
        book.helped.discard(key)
        if not text.strip():
            self.message = ""
            return
        try:
            self.message = book.answer(
                key, read(text, {n["label"]: book.value(n["id"]) for n in book.nodes if n["kind"] != "constant"})
            )
        except ValueError as error:
            self.message = Judgement(False, str(error))
        self.tries += not self.message.good
        if not book.open:
            self.message = ""

    def _fill(self) -> str:
        book = self._copied()
        before = book.open
        message = book.step_back()
        self.typed |= {key: number(book.expected(key)) for key in before if book.right(key)}
        return message

    @action("◂ step back", "fill in the next row", when=lambda self: self.book.open)
    def back(self) -> None:
        self.message = self._fill()

    @action("empty the ledger", "forget all entries")
    def clear(self) -> None:
        self._open(self.inputs)

    def caption(self) -> str:
        book = self.book
        if book.open:
            return self.message or book.summary()
        return Judgement(
            True,
            f"{self.message} {book.summary()}"
            if self.message and not isinstance(self.message, Judgement)
            else book.summary(),
        )

    def sentence(self) -> str:
        return self.book.summary()

    def draw(self) -> str:
        body, w, h = self.book.drawing()
        return svg(w, h, body, f"The graph with the gradients found so far. {self.book.summary()}")

    def still(self) -> str:
        return self.book.picture()

    def text(self) -> str:
        return self.book.text()
