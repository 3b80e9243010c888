"""`listen(cls, program, inputs)`: observe a scalar class while it runs forward and backward, and find its first mistake.

The learner's class runs beside the engine's Value. The result is plain data: the nodes, every write to a `grad`, and a verdict. It works
with any class that has data, grad, _prev, _op and backward(), however the backward pass is written, because only reads and writes of
`grad` are observed. Drawing is in own_engine.py.
"""

from __future__ import annotations

import contextlib
import inspect
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from minigrad import Value
from minigrad.core.errors import a_kind
from minigrad.scalar import Constant
from minigrad.words import listed

from .lesson import number, same
from .programs import lines_of, run_named

NODE_LIMIT = 400  # more cards are no picture
WRITE_LIMIT = 20_000  # a backward pass that never ends is stopped here
_MISSING = object()
NAMES = {"**": "pow", "+": "add", "-": "sub", "*": "mul", "/": "truediv"}


@dataclass
class Write:
    """One assignment to `node.grad` during the learner's backward()."""

    node: int
    # The node whose gradient was read for it; None for the start value and for classes that keep no order
    sender: int | None
    before: float
    after: float
    incoming: float | None  # the sender's gradient at that moment
    added: bool = True  # the old gradient was read first, as += does


@dataclass
class DuelNode:
    """One node of the learner's graph beside the same node of the engine."""

    id: int
    label: str
    op: str
    parents: list[int]
    value: object
    grad: object = 0.0
    right_value: float | None = None  # None: the engine's graph has no such node
    right_grad: float | None = None
    constant: bool = False  # a plain number that an operator wrapped

    @property
    def value_ok(self) -> bool:
        return self.right_value is None or same(self.value, self.right_value)

    @property
    def grad_ok(self) -> bool:
        return self.right_grad is None or same(self.grad, self.right_grad)


@dataclass
class Observation:
    """What happened, as plain data. `good` only if every value and every gradient is right."""

    nodes: list[DuelNode] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    # (node, parent) -> the engine's local derivatives
    locals: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    verdict: str = ""
    good: bool = False
    wrong_node: int | None = None  # the first node where the two part
    wrong_write: int | None = None  # the first write that the engine does not make
    phase: str = "missing"  # "missing" nothing could run, "forward", "backward", "done"

    def named(self, label: str) -> DuelNode:
        return next(n for n in self.nodes if n.label == label)


class _Stopped(RuntimeError):
    pass


class _Ear:
    """Replaces `cls.grad` by a property that reports, for the time of one backward pass."""

    def __init__(self, cls: type):
        self.cls, self.original = cls, inspect.getattr_static(cls, "grad", _MISSING)
        self.own = cls.__dict__.get("grad", _MISSING)
        self.reads: list = []
        self.receiver_read = False  # whether any grad was read before it was written, as += does
        self.writes: list[tuple[object, object, float, float, float | None, bool]] = []

    def get(self, obj: Any) -> Any:
        if self.original is not _MISSING and hasattr(self.original, "__get__"):
            return self.original.__get__(obj, type(obj))
        return obj.__dict__.get("grad", 0.0 if self.original is _MISSING else self.original)

    def set(self, obj: Any, new: Any) -> None:
        if self.original is not _MISSING and hasattr(self.original, "__set__"):
            self.original.__set__(obj, new)
        else:
            obj.__dict__["grad"] = new

    def _read(self, obj: Any) -> Any:
        value = self.get(obj)
        if not any(r is obj for r in self.reads[-4:]):
            self.reads.append(obj)
        return value

    def _write(self, obj: Any, new: Any) -> None:
        try:
            before = self.get(obj)
        except AttributeError:  # the first assignment, in __init__ of a node that backward() makes
            before = 0.0
        self.set(obj, new)
        added = any(r is obj for r in self.reads)
        self.receiver_read |= added
        sender = self._sender(obj, sys._getframe(1))
        if sender is None and same(before, new):
            self.reads.clear()
            return
        self.reads.clear()
        self.writes.append((obj, sender, before, new, None if sender is None else self.get(sender), added))
        if len(self.writes) > WRITE_LIMIT:
            raise _Stopped(f"stopped after {WRITE_LIMIT:,} writes to grad: backward() does not come to an end.")

    def _sender(self, obj: Any, frame: FrameType) -> Any:
        """The user of `obj` whose contribution is being written: one in the frame's variables, or one whose gradient was just read."""
        read = [r for r in reversed(self.reads) if r is not obj and any(p is obj for p in parents_of(r))]
        # A rule's caller knows whose rule it runs
        at_hand = self._children_in(frame, obj) or self._children_in(frame.f_back, obj)
        both = [r for r in read[:1] if any(r is v for v in at_hand)]
        return next(iter(both or at_hand[::-1] or read), None)  # of several variables the newest, which is not `root`

    def _children_in(self, frame: FrameType | None, obj: Any) -> list:
        results = [] if frame is None else frame.f_locals.values()
        return [v for v in results if isinstance(v, self.cls) and v is not obj and any(p is obj for p in parents_of(v))]

    @contextlib.contextmanager
    def listening(self) -> Iterator[_Ear]:
        cls: Any = self.cls
        cls.grad = property(self._read, self._write)
        try:
            yield self
        finally:
            if self.own is _MISSING:
                del cls.grad
            else:
                cls.grad = self.own


def parents_of(node: object) -> tuple:
    """The nodes that `node` was made from; () where it does not say."""
    parents = getattr(node, "_prev", ())
    return tuple(parents) if isinstance(parents, (tuple, list, set, frozenset)) else ()


def order_of(root: object) -> list:
    """Every node that the root was made from, parents first, the root last. No recursion; a cycle cannot hang it."""
    done, seen, stack = [], set(), [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            done.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(p, False) for p in reversed(parents_of(node)) if id(p) not in seen]
    return done


def _pairs(root: Any, names: dict[str, Any], right_root: Value, right_names: dict[str, Any]) -> dict[int, Value]:
    """id(learner's node) -> the engine's node: by variable name first, then, from the root down, by equal numbers and by position."""
    match = {id(names[n]): right_names[n] for n in names if n in right_names and isinstance(right_names[n], Value)}
    match[id(root)] = right_root
    for node in reversed(order_of(root)):
        right = match.get(id(node))
        operands, other = parents_of(node), parents_of(right)
        if right is None or len(operands) != len(other):
            continue
        free = [t for t in other if not any(match.get(id(m)) is t for m in operands)]
        ordered = isinstance(node._prev, (tuple, list)) and str(getattr(node, "_op", "")) == right._op
        for k, m in enumerate(operands):
            if id(m) in match:
                continue
            twin = next(
                (t for t in free if same(getattr(m, "data", None), t.data)),
                other[k] if ordered and other[k] in free else None,
            )
            if twin is not None:
                match[id(m)] = twin
                free.remove(twin)
    return match


def _not_returned(names: dict[str, object], inputs: dict[str, float], cls: type, program: Callable) -> str:
    """The first variable of the program that should hold one of the learner's objects and does not; "" if there is none."""
    for name, value in names.items():
        if name not in inputs and not isinstance(value, (cls, int, float)):
            line = next((line for line in lines_of(program) if line.replace(" ", "").startswith(f"{name}=")), name)
            gives = (
                "gives None: its operator has no return yet"
                if value is None
                else f"gives {a_kind(value)}, not a {cls.__name__}"
            )
            return f"{line}   {gives}."
    return ""


def _stopped(error: Exception, cls: type, program: Callable) -> str:
    """Where and why the program stopped, and, for an operator, which method is missing."""
    code, tb, line = getattr(program, "__code__", None), error.__traceback__, ""
    while tb is not None:
        if tb.tb_frame.f_code is code:
            line = linecache.getline(code.co_filename, tb.tb_lineno).strip()
        tb = tb.tb_next
    if isinstance(error, RecursionError):
        return f"{line}   never ends: an operator of {cls.__name__} calls itself."
    return f"{line}   stops with {_say_error(error)}.{_missing_method(error, cls)}"


def _missing_method(error: BaseException, cls: type) -> str:
    """What a TypeError of an operator means: which method Python looked for and did not find."""
    text = str(error)
    if not isinstance(error, TypeError) or "unsupported operand" not in text or cls.__name__ not in text:
        return ""
    op = next((o for o in ("**", "+", "-", "*", "/") if f"for {o}" in text), "")
    kinds = re.findall(r"'(\w+)'", text)
    if op in NAMES and kinds[:1] in (["int"], ["float"]):
        name = NAMES[op]
        return f" Python asks the number first ({kinds[0]}.__{name}__), then {cls.__name__}.__r{name}__, which is not there yet."
    return f" {cls.__name__} has no __{NAMES[op]}__ yet." if op and not hasattr(cls, f"__{NAMES[op]}__") else ""


def _say_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


class _End(Exception):
    """The run cannot go on; the message is the verdict."""


def listen(cls: type, program: Callable, inputs: dict[str, float], backward: Callable | None = None) -> Observation:
    """Run `program` on `cls` and on Value, forward and backward, and compare. Never raises for what the learner's code does.

    backward: a function of the root that fills in the gradients; without it, the root's own method backward() is called.
    """
    out = Observation()
    right_root, right_names = run_named(program, {name: Value(float(v)) for name, v in inputs.items()})
    try:
        root, names = _forward(cls, program, inputs)
        order = order_of(root)
        if len(order) > NODE_LIMIT:
            raise _End(
                f"The program makes {len(order):,} nodes, too many to compare by eye: take one with at most {NODE_LIMIT}."
            )
        _compare(out, order, names, inputs, right_root, right_names)
        _backward(out, cls, order, backward)
    except _End as end:
        out.verdict = str(end)
    return out


def _forward(cls: type, program: Callable, inputs: dict[str, float]) -> tuple[Any, dict[str, Any]]:
    """The learner's result and variables."""
    try:
        leaves: dict[str, Any] = {name: cls(float(v)) for name, v in inputs.items()}
    except Exception as error:
        raise _End(f"{cls.__name__}(2.0) does not work yet: {_say_error(error)}") from None
    first = next(iter(leaves.values()), None)
    for need, why in (
        ("data", "the number"),
        ("grad", "the gradient, 0.0 at first"),
        ("_prev", "the parents, () for an input"),
    ):
        if not hasattr(first, need):
            raise _End(f"{cls.__name__}(2.0) has no .{need} yet ({why}): set it in __init__.")
    names: dict[str, Any] = {}
    try:
        root, _ = run_named(program, leaves, names)
    except Exception as error:
        raise _End(_not_returned(names, inputs, cls, program) or _stopped(error, cls, program)) from None
    if not isinstance(root, cls):
        raise _End(
            _not_returned(names, inputs, cls, program) or f"The program gave {a_kind(root)}, not a {cls.__name__}."
        )
    for node in order_of(root):
        if not isinstance(node, cls):
            raise _End(f"_prev holds {a_kind(node)}: it may only hold {cls.__name__} objects.")
    if not parents_of(root):
        raise _End("The result does not remember its parents: _prev is empty, so a backward pass has no way to go.")
    return root, names


def _compare(
    out: Observation, order: list, names: dict, inputs: dict[str, float], right_root: Value, right_names: dict
) -> None:
    """Fill in the nodes, beside each the engine's value, gradient and local derivatives. Ends at the first wrong value."""
    match = _pairs(order[-1], names, right_root, right_names)
    index = {id(node): i for i, node in enumerate(order)}
    label_of = {id(v): n for n, v in reversed(names.items())}
    if "y" not in names:
        label_of.setdefault(id(order[-1]), "y")
    facts = _facts(right_root)
    for i, node in enumerate(order):
        right, parents = match.get(id(node)), parents_of(node)
        twin = DuelNode(
            id=i,
            label=label_of.get(id(node)) or (f"t{i}" if parents else number(node.data)),
            op=str(getattr(node, "_op", "") or ""),
            parents=[index[id(p)] for p in parents],
            value=node.data,
            constant=not parents and label_of.get(id(node)) not in inputs,
        )
        if right is not None:
            twin.right_value, (twin.right_grad, edges) = right.data, facts[id(right)]
            for parent, local in edges:
                j = next((j for j, n in enumerate(order) if match.get(id(n)) is parent), None)
                if j is not None:
                    out.locals.setdefault((i, j), []).append(local)
        out.nodes.append(twin)
    for n, node in zip(out.nodes, order, strict=True):
        if not n.parents and parents_of(match.get(id(node))):
            out.wrong_node = n.id
            raise _End(f"{n.label} remembers no parents: its _prev is empty, so no gradient can flow on from it.")
    out.phase = "forward"
    for n in out.nodes:
        if not n.value_ok:
            out.wrong_node = n.id
            wrong = f"{n.label} is {number(n.value)} in your class, and {number(n.right_value)} is right"
            raise _End(f"Forward already differs: {wrong}. Look at the forward part of {_op_name(n)}.")


def _backward(out: Observation, cls: type, order: list, backward: Callable | None) -> None:
    """Run the learner's backward pass with an ear on every grad, and judge it."""
    root = order[-1]
    start = getattr(root, "backward", None) if backward is None else lambda: backward(root)
    if not callable(start):
        raise _End(f"All {len(order)} values are right. {cls.__name__} has no backward() yet.")
    ear, trouble, endless = _Ear(cls), "", False
    try:
        with ear.listening():
            start()
    except _Stopped as error:
        trouble, endless = f"backward() was {error}", True
    except Exception as error:
        trouble = f"backward() stopped:  {_say_error(error)}"
    out.phase = "backward"
    index = {id(node): i for i, node in enumerate(order)}
    written = [id(node) for node, *_ in ear.writes]
    # Each grad set once, and never read before: the sums are kept elsewhere, and who sent what cannot be seen.
    hidden = len(set(written)) == len(written) and not ear.receiver_read
    for node, sender, before, after, incoming, added in ear.writes:
        if id(node) in index:
            out.writes.append(
                Write(index[id(node)], None if hidden else index.get(id(sender)), before, after, incoming, added)
            )
    for n, node in zip(out.nodes, order, strict=True):
        n.grad = node.grad
    if all(n.grad_ok for n in out.nodes) and not trouble:
        out.good, out.phase = True, "done"
        count = sum(n.right_grad is not None for n in out.nodes)
        out.verdict = f"All {len(out.nodes)} values and all {count} gradients agree with minigrad's own Value."
    elif endless or not _find_first_wrong_write(out):
        out.verdict = trouble or _first_wrong_gradient(out)


def _facts(right_root: Value) -> dict[int, tuple[float | None, list[tuple[Value, float]]]]:
    """id(engine node) -> (its gradient, None for a constant; [(parent, local derivative)] of the edges that carry a gradient)."""
    right_root.backward()
    facts = {}
    for node in order_of(right_root):
        edges = [
            (p, d)
            for p, d in zip(node.operands, node.slopes, strict=True)
            if d is not None and not isinstance(p, Constant)
        ]
        facts[id(node)] = (None if isinstance(node, Constant) else node.grad, edges)
    return facts


def _op_name(node: DuelNode) -> str:
    return f"the operator {node.op}" if node.op else "that operator"


def _find_first_wrong_write(out: Observation) -> bool:
    """Set the verdict to the first write that the engine would not make. False if every write that can be judged is right."""
    sent: dict[tuple[int, int], int] = {}
    for k, w in enumerate(out.writes):
        slots = [] if w.sender is None else out.locals.get((w.sender, w.node), [])
        if w.sender is None or not slots or out.nodes[w.sender].right_grad is None:
            continue
        if same(w.before, 0.0) and same(w.after, 0.0) and same(w.incoming, out.nodes[w.sender].right_grad):
            continue  # 0.0 put where 0.0 was: no share
        sent[w.sender, w.node] = sent.get((w.sender, w.node), 0) + 1
        out.verdict = _what_is_wrong(out, w, slots, sent)
        if out.verdict:
            early = not same(w.incoming, out.nodes[w.sender].right_grad)
            out.wrong_node, out.wrong_write = w.sender if early else w.node, k
            return True
    return False


def _what_is_wrong(out: Observation, w: Write, slots: list[float], sent: dict[tuple[int, int], int]) -> str:
    """One sentence about a wrong write; "" for a right one. `sent` counts the contributions along each edge, this one included."""
    node, sender = out.nodes[w.node], out.nodes[w.sender]  # type: ignore[index]
    name, complete = sender.label, sender.right_grad
    right = [local * complete for local in slots] + [sum(slots) * complete]  # type: ignore[operator]
    amount = w.after - w.before if isinstance(w.after, (int, float)) else None
    fits = any(same(amount, r) for r in right)
    if not fits and same(w.after, 0.0) and not same(w.before, 0.0):
        reset = f"{node.label}.grad is set back to 0 although it was {number(w.before)} already"
        return f"{reset}. Clear the gradients before the pass, not during it."
    if not same(w.incoming, complete):
        waiting = sorted(
            {
                out.nodes[t].label
                for (t, p), all_ in out.locals.items()
                if p == w.sender and sent.get((t, p), 0) < len(all_)
            }
        )
        if sender.id == len(out.nodes) - 1:
            return f"The pass must start with {name}.grad = 1: d{name}/d{name} = 1."
        if same(w.incoming, 0.0):
            return f"{name} passes on 0 because its own gradient is still 0. You ran {name} before the nodes that were made from it."
        if waiting:
            before = f"before {listed(waiting)} {'has' if len(waiting) == 1 else 'have'} contributed"
            so_far = f"its gradient is only {number(w.incoming)} {before}"
            return f"{name} runs too early: {so_far}. The complete gradient is {number(complete)}."
        return f"{name} runs with gradient {number(w.incoming)}, and {number(complete)} is right."
    if not fits and not w.added and not same(w.before, 0.0) and any(same(w.after, r) for r in right):
        lost = f"{node.label} already had {number(w.before)}, and {name} replaced it by {number(w.after)}"
        return f"{lost}. Contributions must be added: += instead of =."
    if not fits:
        why = f"local derivative {number(slots[0])} times upstream gradient {number(complete)}"
        wrong = f"{name} passes {number(amount)} back to {node.label}, and {number(right[0])} is right"
        return f"{wrong} ({why}). Look at the local rule of {_op_name(sender)}."
    if sent[sender.id, node.id] > len(slots):
        return f"{name} passes its gradient to {node.label} a second time: every node may run only once."
    return ""


def _first_wrong_gradient(out: Observation) -> str:
    """One sentence about the wrong gradient that is nearest the root."""
    n = next(n for n in reversed(out.nodes) if not n.grad_ok)
    out.wrong_node = n.id
    if not out.writes:
        return f"All values are right. backward() ran and changed no gradient; start with {out.nodes[-1].label}.grad = 1.0."
    if n is out.nodes[-1]:
        return f"{n.label}.grad is {number(n.grad)}: a backward pass starts with 1, because d{n.label}/d{n.label} = 1."
    if not any(w.node == n.id for w in out.writes):
        return (
            f"Nothing was ever added to {n.label}.grad: it stays {number(n.grad)}, and {number(n.right_grad)} is right."
        )
    return f"{n.label}.grad is {number(n.grad)}, and {number(n.right_grad)} is right."
