"""Records one call of a step: its operations with their inputs and results, and its side effects.

`Recorder` is the handler that records every operation of forward, backward and hand-written updates, and detects everything else that a
step does with tensors. Python's own state is in surroundings.py, the program's text in text.py.

The call is a real one, not a trace with placeholder numbers. While it runs, two slots of every tensor are patched. `_grad`, because
gradients are assigned and read without an operation. And `array`: the engine itself reads it freely, any other code gets a `Spy`,
which has shape and dtype and reports any use of its numbers. So no function has to declare that it reads numbers: `item()`,
`if loss < 0.1`, masks that choose, `print` and numpy are all reported alike, and a step that uses any of them is not compiled.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd import engine
from ..core.constants import number_of
from ..core.dispatch import Handler, Running, state
from ..core.node import FREED, LIVE
from ..core.op import ELEMENTWISE, _names, on_arrays
from ..core.slow_path import prepare
from ..core.storage import SHAPE_ONLY
from ..core.variable import Variable, wrap
from ..nn.functional.linear import check_rows
from ..nn.functional.loss import _check_classes
from ..nn.functional.norm import follow
from ..ops.elementwise import add, mul
from ..ops.index import _check_bounds
from ..ops.linalg import bmm_, bmm_n, mm_
from ..ops.lookup import addmm_
from ..ops.shape import t as transpose
from ..random import default_generator
from ..tensors.indexing import check_bounds
from .surroundings import NotCompilable, Surroundings, fixed

if TYPE_CHECKING:
    from ..core.node import Node
    from ..core.op import Op
    from ..tensors.tensor import Tensor

ROOT = Path(__file__).parents[1]
# The engine, which may read arrays.
_FREE = tuple(str(ROOT / room) + "/" for room in ("core", "autograd", "kernels", "tracing", "func", "program"))
_MAKERS = tuple([  # factories: any read of other tensors is reported, so their results are the same at every call
    str(ROOT / file)
    for file in ("tensors/create.py", "core/constants.py", "autograd/engine.py", "autograd/backward.py", "nn/functional/_arguments.py")
])  # fmt: skip
_INPLACE, _ACCUMULATE = str(ROOT / "autograd/inplace.py"), str(ROOT / "autograd/accumulate.py")
# Of create.py: functions that copy numbers
_COPYING = {
    "tensor",
    "as_tensor",
    "asarray",
    "__new__",
    "__call__",
    "_plain",
    "logspace",
}
# Functions that read numbers only to raise an error, and one that changes two tensors. A program calls them again at their place.
CHECKS = {f.__code__: f for f in (_check_classes, check_bounds, check_rows, _check_bounds, follow)}
_SHAPE = {
    "shape", "dtype", "ndim", "size", "flags", "itemsize", "nbytes", "strides", "base", "ctypes", "of", "__class__", "__array_finalize__",
    "__array_ufunc__", "__array_function__", "__len__", "__init__", "__new__", "__getattribute__", "__del__", "__init_subclass__",
    "__subclasshook__", "__dict__", "__doc__", "__module__", "__array_priority__", "__array_interface__", "__array_struct__", "__dir__",
    "__sizeof__", "__setattr__", "__delattr__", "__hash__", "__class_getitem__", "__array_wrap__", "__array__", "__weakref__",
    "__array_prepare__", "__array_namespace__", "__buffer__", "__dlpack__", "__dlpack_device__", "__reduce__", "__reduce_ex__",
}  # fmt: skip
_PRODUCTS = {addmm_, mm_, bmm_, bmm_n, transpose}
_numpy_view = np.ndarray.view


class Val:
    """One array of the program.

    line    what computes it; None for memory that is there before: an argument, a tensor from around the step, a constant
    base    the Val whose memory it shows
    """

    __slots__ = ("array", "base", "line", "name")

    def __init__(self, array: np.ndarray, line: Any = None, base: Any = None, name: Any = None) -> None:
        self.array, self.line, self.name, self.base = array, line, name, self if base is None else base.base


class Line:
    """One recorded operation or side effect.

    kind    "op", "copy", "check" or "cast", which compute; "write", "grad", "update", "add", "follow", which change something
    what    an Op, a function, or the thing that changes
    ins     Vals, numbers
    """

    __slots__ = ("back", "ins", "kind", "outs", "params", "place", "what")

    def __init__(self, kind: str, what: Any, ins: Sequence[Val], params: Sequence[Any], place: Sequence[Any]) -> None:
        self.kind, self.what, self.ins, self.params = kind, what, ins, params
        self.outs: tuple[Any, ...] = ()
        self.place, self.back = place


class Spy(np.ndarray):
    """An array as code outside of the engine sees it while a step is recorded."""

    of: Any

    def __array_finalize__(self, other: Any) -> None:
        if type(other) is Spy:  # a view made by numpy, which calls no method of Spy
            self.of = _numpy_view(self, np.ndarray)

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, out: Any = (), **kwargs: Any) -> Any:
        _report(self, ufunc.__name__, sys._getframe(1))
        outs = {"out": tuple([plain(o) for o in out])} if out else {}
        return getattr(ufunc, method)(*[plain(x) for x in inputs], **outs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> np.ndarray:
        if function not in SHAPE_ONLY:
            _report(self, function.__name__, sys._getframe(1))
        return function(*plain(args), **{k: plain(v) for k, v in kwargs.items()})


def _reporting(name: Any) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        _report(self, name, sys._getframe(1))
        return getattr(self.of, name)(*[plain(a) for a in args], **{k: plain(v) for k, v in kwargs.items()})

    return method


for _name in dir(np.ndarray):
    if _name not in _SHAPE and callable(getattr(np.ndarray, _name)):
        setattr(Spy, _name, _reporting(_name))


def _reported(spy: Spy, name: str) -> Any:
    _report(spy, name, sys._getframe(1))
    return getattr(spy.of, name)


for _name in ("T", "mT", "flat", "real", "imag", "data"):
    setattr(
        Spy,
        _name,
        property(functools.partial(_reported, name=_name)),
    )


def plain(x: Any) -> Any:
    """The array behind a Spy, also inside tuples and lists."""
    if type(x) is Spy:
        return x.of
    if isinstance(x, (tuple, list)) and any([isinstance(p, (Spy, tuple, list)) for p in x]):
        parts = [plain(p) for p in x]
        if isinstance(x, list):
            return parts
        out = type(x)(parts) if not hasattr(x, "_fields") else type(x)(*parts)
        vars(out).update(vars(x)) if hasattr(x, "__dict__") else None
        return out
    return x


def _report(spy: Spy, name: str, frame: FrameType) -> None:
    """Code outside of the engine uses the numbers of a tensor."""
    if _now is not None and threading.get_ident() == _now.thread:
        _now.used(spy.of, name, frame)


class _Slot:
    """Replaces a slot of Variable while a step is recorded."""

    def __init__(self, slot: Any, get: Callable[..., Any], put: Callable[..., Any]) -> None:
        self.slot, self.get, self.put, self.thread = slot, get, put, threading.get_ident()

    def __get__(self, t: Tensor, kind: type | None = None) -> Tensor | np.ndarray | None:
        if t is None:
            return self
        value = self.slot.__get__(t)
        return self.get(t, value, sys._getframe(1)) if threading.get_ident() == self.thread else value

    def __set__(self, t: Tensor, value: Tensor | np.ndarray | None) -> None:
        if threading.get_ident() == self.thread:
            value = self.put(t, value, sys._getframe(1))
        self.slot.__set__(t, value)


_ARRAY, _GRAD = Variable.__dict__["array"], Variable.__dict__["_grad"]
one_at_a_time = threading.Lock()  # slots are patched for one thread; if the lock is held, the step runs eagerly
_now: Any = None  # the active Recorder


class Recorder(Handler):
    """Records one call of a step. `why`: None, or the sentence why it cannot be compiled."""

    needs_tensors = True  # so that a backward pass runs its rules on Tensors, and its operations are recorded

    def __init__(self, around: Surroundings, names: list[str], args: tuple) -> None:
        self.lines: list[Line] = []
        self.vals: dict[int, Val] = {}  # by the id of an array
        self.alive: list[Any] = []  # keeps objects alive, so that no id is reused
        self.outside = {**around.tensors, **{id(t): (name, t) for name, t in zip(names, args, strict=True)}}
        self.why: str | None = None
        self.start: dict[int, np.ndarray] = {}  # what the step's own tensors held at first
        self.makers: dict[int, str] = {}  # the functions that made arrays which no operation computed
        self.entry: dict[
            int, tuple[Variable, Val | None]
        ] = {}  # the .grad of tensors from outside, as the step finds them
        self.overwritten: set[int] = set()  # tensors from outside whose .grad is replaced before it is read
        self.nodes: dict[Any, Any] = {}  # by node of the graph: the place of the operation that made it
        self.of_nodes: dict[Any, tuple[list[Line], list[Line]]] = {}  # and its lines, forward and going back
        self.root: Variable | None = None  # where the first backward pass begins
        self.root_name = ""
        self.tensors: dict[Any, Variable] = {}  # by node: the tensor that it made
        self.copied: Val | None = None  # what the next .grad is a copy of
        self.updating, self.scheduling = False, 0
        self.checked: set[int] = set()
        self.thread = threading.get_ident()
        self.dice, self.mode = _dice(), (state.grad, state.inference)
        for name, t in self.outside.values():
            array = _ARRAY.__get__(t)
            if id(array) in self.vals:
                if any(t is a for a in args):
                    other = self.vals[id(array)].name
                    raise NotCompilable(
                        f"the argument {name} has the memory of {other}, which the step also reads; use one name."
                    )
                continue
            self.is_now(array, Val(array, name=name))

    def __enter__(self) -> Recorder:
        global _now
        _now = self
        watched: Any = Variable  # its slots are exchanged for descriptors that report
        watched.array, watched._grad = _Slot(_ARRAY, self.read, self.put), _Slot(_GRAD, self.grad_read, self.grad_put)
        return super().__enter__()

    def __exit__(self, *exc: Any) -> None:
        global _now
        super().__exit__(*exc)
        watched: Any = Variable
        watched.array, watched._grad, _now = _ARRAY, _GRAD, None
        if exc[0] is None and self.why is None and self.dice != _dice():
            self.why = "it draws random numbers; draw them outside and pass them in."
        elif exc[0] is None and self.why is None and self.mode != (state.grad, state.inference):
            self.why = "it leaves another grad mode behind; use `with torch.no_grad():`."

    # Values ------------------------------------------------------------------------------------------------------

    def is_now(self, array: np.ndarray, val: Val) -> Val:
        self.vals[id(array)] = val
        self.alive.append(array)
        return val

    def val(self, x: Any) -> Val:
        """The Val behind a tensor or an array."""
        array = _ARRAY.__get__(x) if isinstance(x, Variable) else plain(x)
        result = self.vals.get(id(array))
        if result is not None:
            return result
        maker = self.makers.get(id(array), "")
        if isinstance(x, Variable) and number_of(x) is not None or maker.startswith(_MAKERS):
            return self.is_now(array, Val(array, name="constant"))
        what = maker.rpartition(":")[2] if maker else "something that the step does not name"
        raise NotCompilable(
            f"it uses a tensor made by {what} in a way that cannot be recorded; make the tensor outside and pass it in."
        )

    def place(self, frame: Any) -> Any:
        """((code, line), going back, node): the learner's line that runs; in a backward pass, the forward line of the node that runs.

        Each frame of the engine's loop on the stack belongs to one backward pass, the innermost to `state.running`.
        """
        back, rule_of = False, None
        running: Running | None = state.running
        while frame is not None:
            code = frame.f_code
            if code is engine.run_nodes.__code__:
                node, running = (running.node, running.outer) if running else (None, None)
                rule_of = node if rule_of is None and node in self.of_nodes else rule_of
                if node in self.nodes:
                    return self.nodes[node], True, rule_of
                back = True
            if _is_learners(code):
                return (code, frame.f_lineno), back, rule_of
            frame = frame.f_back
        return None, back, rule_of

    def refuse(self, sentence: str, frame: FrameType) -> None:
        if self.why is None:
            place, *_ = self.place(frame)
            self.why = sentence if place is None else f"line {place[1]} of {place[0].co_name}: {sentence}"

    def line(
        self,
        kind: str,
        what: Any,
        ins: Sequence[Val],
        params: Sequence[Any],
        arrays: Sequence[np.ndarray],
        frame: FrameType,
        bases: Sequence[Val] = (),
    ) -> Line:
        *place, node = self.place(frame)
        line = Line(kind, what, ins, params, place)
        if node is not None:
            self.of_nodes[node][1].append(line)
        line.outs = tuple([self.is_now(a, Val(a, line, _base_of(a, bases))) for a in arrays])
        self.lines.append(line)
        return line

    # Events ------------------------------------------------------------------------------------------------------

    def __call__(self, op: Any, inputs: tuple[Tensor, ...], params: tuple[Any, ...]) -> Tensor | tuple[Tensor, ...]:
        inputs, params = plain(inputs), plain(params)
        out = op(*inputs, *params)
        if self.why is None and not self.updating:
            try:
                self.note(op, inputs, params, out if isinstance(out, tuple) else (out,), sys._getframe(1))
            except NotCompilable as reason:
                self.refuse(str(reason), sys._getframe(1))
        return out

    def note(
        self, op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...], frame: FrameType
    ) -> None:
        flat = inputs[0] if op.tensor_list else inputs
        tensors, arrays = prepare(op, flat)
        ins = []
        for x, t, a in zip(flat, tensors, arrays, strict=True):
            if not isinstance(x, (Variable, np.ndarray)) or number_of(t) is not None:
                ins.append(self.is_now(a, Val(a, name="constant")))
                continue
            val = self.val(x)
            if val.array is not a:
                val = self.line("cast", a.dtype, [val], (), [a], frame).outs[0]
            ins.append(val)
        arrays_out = [_ARRAY.__get__(t) for t in outs]
        if len(arrays_out) == 1 and any([arrays_out[0] is v.array for v in ins]):
            return  # the same array: nothing to do
        before = len(self.lines)
        if op is addmm_:  # two lines, so that a sum can share a loop
            bias, *factors = ins
            ins = [
                self.line("op", _product(mm_, factors), factors, (), [np.empty_like(arrays_out[0])], frame).outs[0],
                bias,
            ]
            op = add
        op = _product(op, ins)
        line = self.line("op", op, ins, self.of_params(params), arrays_out, frame, ins)
        for t in outs:
            if t.edge is not None:
                self.of_nodes.setdefault(t.edge[0], (self.lines[before:], []))
                self.tensors.setdefault(t.edge[0], t)
                if line.place is not None:
                    self.nodes.setdefault(t.edge[0], line.place)

    def found_root(self, node: Node, frame: Any) -> None:
        """A backward pass begins at `node`: the tensor there, and what the step calls it."""
        self.root = self.tensors.get(node)
        while frame is not None and not _is_learners(frame.f_code):
            frame = frame.f_back
        names = [] if frame is None else [name for name, t in frame.f_locals.items() if t is self.root]
        self.root_name = names[0] if names else ""

    def of_params(self, params: Any) -> Any:
        """Parameters, with Vals for the arrays among them that the step computes or finds."""
        if isinstance(params, np.ndarray):
            params = plain(params)
            return self.vals.get(id(params), params)
        if isinstance(params, Variable):
            return self.val(params)
        if isinstance(params, (tuple, list)):
            return (list if isinstance(params, list) else tuple)([self.of_params(p) for p in params])
        return params

    def written(self, x: Tensor, out: Tensor) -> None:
        if self.why is None and not self.updating:
            try:
                self.line("write", x, [self.val(x), self.val(out)], (), (), sys._getframe(1))
            except NotCompilable as reason:
                self.refuse(str(reason), sys._getframe(1))

    def rule(
        self, node: Node, g: Tensor | list[Tensor | None], edges: tuple[Any, ...]
    ) -> list[Tensor | None] | tuple[Tensor | None, ...]:
        """Run one node. The rules of elementwise rows and products are recorded as operations; others run on arrays, as one line."""
        op = node.op
        if self.root is None:
            self.found_root(node, sys._getframe(1))
        if (state.grad or self.why is not None or op is None or op.kind == ELEMENTWISE or op.fused is not None or op in _PRODUCTS
                or op.tensor_list or node.status != LIVE or not op.rules):  # fmt: skip
            return node.run_graph(g, edges)
        arrays = [None if t is None else _ARRAY.__get__(t) for t in g] if isinstance(g, list) else _ARRAY.__get__(g)
        outs = [None if a is None else np.asarray(a) for a in node.run(arrays, edges)]
        try:
            self.note_rules(node, op, g, edges, outs, sys._getframe(1))
        except NotCompilable as reason:
            self.refuse(str(reason), sys._getframe(1))
        return tuple([None if a is None else wrap(a) for a in outs])

    def note_rules(
        self,
        node: Node,
        op: Op,
        g: Tensor | list[Tensor | None],
        edges: tuple[Any, ...],
        outs: list[np.ndarray | None],
        frame: FrameType,
    ) -> None:
        joint = op.joint_rule and None not in edges
        rules = [(op.joint_rule, range(len(outs)))] if joint else [
            (op.rules[i], [n]) for n, i in enumerate(op.inputs) if op.rules[i] is not None and edges[n] is not None
        ]  # fmt: skip
        for rule, places in rules:
            first, *names = _names(rule)
            gs: Any = [None if t is None else self.val(t) for t in g] if isinstance(g, list) else self.val(g)
            gs = gs[0] if isinstance(gs, list) and first != "gs" else gs
            saved = [getattr(node, name) for name in names]
            arguments = [gs, *[self.of_params(plain(v)) if v is not None else None for v in saved]]
            arrays_out = [outs[n] for n in places]
            if len(arrays_out) == 1 and (arrays_out[0] is None or id(arrays_out[0]) in self.vals):
                continue
            bases = [v for v in all_vals(arguments)]
            title = op.name + "_back" + ("" if joint or len(op.inputs) == 1 else "_" + op.inputs[places[0]])
            line = self.line(
                "rule",
                (title, on_arrays(rule), bool(joint)),
                [],
                arguments,
                [a for a in arrays_out if a is not None],
                frame,
                bases,
            )
            line.outs = tuple([None if a is None else self.vals[id(a)] for a in arrays_out])

    def accumulated(self, x: Tensor, g: Tensor) -> None:
        """The engine adds `g` to x.grad, without recording it."""
        if self.why is not None:
            return
        try:
            old, val = _GRAD.__get__(x), self.val(g)
            if old is None:
                self.copied = val
            else:
                self.grad_read(x, old, sys._getframe(1))
                self.line("add", old, [self.val(old), val], (), (), sys._getframe(1))
        except NotCompilable as reason:
            self.refuse(str(reason), sys._getframe(1))

    def updates(self, optimizer: Any, begins: bool) -> None:
        """`optimizer` begins, or ends, to change its parameters: one line, whatever happens in between."""
        self.updating = begins
        if begins:
            for group in optimizer.param_groups:
                if group.get("differentiable"):
                    self.refuse("an optimiser with differentiable=True is not recorded.", sys._getframe(1))
            self.line("update", optimizer, (), (), (), sys._getframe(1))

    def schedules(self, scheduler: Any, args: tuple[Tensor | float, ...] | None) -> None:
        """`scheduler` sets the rates: one line, which does it again. Those that it steps in turn are part of it."""
        self.scheduling += -1 if args is None else 1
        if args is not None and self.scheduling == 1 and self.why is None:
            try:
                self.line("schedule", scheduler, [], tuple([self.tensor_or(x) for x in args]), (), sys._getframe(1))
            except NotCompilable as reason:
                self.refuse(str(reason), sys._getframe(1))
        self.updating = self.scheduling > 0

    def used(self, array: np.ndarray, name: str, frame: FrameType) -> None:
        """Code outside of the engine uses numbers."""
        if self.updating or self.check(frame):
            return
        if name.startswith("__set") or name in ("fill", "put", "sort", "partition", "copyto"):
            self.refuse("numbers are written in a way that cannot be recorded (the running statistics of an instance norm, for example); "
                        "call .eval(), or leave this out of the step.", frame)  # fmt: skip
            return
        by = frame.f_code.co_name if frame.f_code.co_filename.startswith(str(ROOT)) else name
        self.refuse(f"the numbers of a tensor are read ({by}), so what follows may depend on them; "
                    "return the tensor and read it outside, or use torch.where.", frame)  # fmt: skip

    def check(self, frame: FrameType) -> bool:
        """Is this a function that the program calls, too?"""
        function = CHECKS.get(frame.f_code)
        if function is None:
            return False
        if id(frame) not in self.checked and self.why is None:
            self.checked.add(id(frame))
            self.alive.append(frame)
            code, local = frame.f_code, frame.f_locals
            try:
                arguments = [local[name] for name in code.co_varnames[: code.co_argcount]]
                params = tuple([self.tensor_or(x) for x in arguments])
                changed = [*all_vals(params[:2])] if function is follow else []
                self.line("follow" if function is follow else "check", function, changed, params, (), frame)
            except NotCompilable as reason:
                self.refuse(str(reason), frame)
        return True

    def tensor_or(self, x: Any) -> Any:
        return ("tensor", self.val(x)) if isinstance(x, Variable) else self.of_params(plain(x))

    # Slots --------------------------------------------------------------------------------------------------------------

    def read(self, t: Tensor, array: np.ndarray, frame: FrameType) -> np.ndarray:
        code = frame.f_code
        if self.updating or code.co_filename.startswith(_FREE) or code.co_filename.startswith("<minigrad row"):
            return array
        if type(array) is not np.ndarray:
            return array
        if code.co_filename == _MAKERS[0] and code.co_name in _COPYING:
            self.used(array, code.co_name, frame)
            return array
        spy = _numpy_view(array, Spy)
        spy.of = array
        return spy

    def put(self, t: Tensor, array: np.ndarray, frame: FrameType) -> np.ndarray:
        array = plain(array)
        if self.updating or id(array) in self.vals or type(array) is not np.ndarray or self.why is not None:
            return array
        while frame.f_back is not None and frame.f_code.co_name in ("wrap", "_wrap", "_finish"):
            frame = frame.f_back
        maker = frame.f_code
        if maker.co_filename == _INPLACE:
            try:
                old = self.vals.get(id(_ARRAY.__get__(t)))
                if old is not None:
                    self.line("cast", array.dtype, [old], (), [array], frame)
            except AttributeError:
                pass
        elif id(array) not in self.makers:
            self.makers[id(array)] = f"{maker.co_filename}:{maker.co_name}"
            self.alive.append(array)
            if maker.co_filename.startswith(_MAKERS):
                self.start[id(array)] = array.copy()
            if maker.co_filename == _MAKERS[0] and self.dice != _dice():
                self.refuse(f"random numbers are drawn ({maker.co_name}); draw them outside and pass them in.", frame)
        return array

    def grad_read(self, t: Tensor, grad: Tensor | None, frame: FrameType) -> Tensor | None:
        recorded = id(t) in self.entry or id(t) in self.overwritten
        if id(t) in self.outside and not recorded and self.why is None and not self.updating:
            val = None
            if grad is not None:
                array = _ARRAY.__get__(grad)
                if id(array) in self.vals:
                    self.refuse("a .grad is known by another name, too (an argument, another .grad); copy it.", frame)
                val = self.is_now(array, Val(array, name="grad"))
                self.alive.append(grad)
                if grad.requires:
                    self.refuse("a .grad that has a graph is not recorded; use zero_grad().", frame)
            self.entry[id(t)] = t, val
        return grad

    def grad_put(self, t: Tensor, grad: Tensor | None, frame: FrameType) -> Tensor | None:
        if self.why is not None or self.updating:
            return grad
        if id(t) not in self.outside and (grad is None or frame.f_code.co_filename != _ACCUMULATE):
            return grad
        if id(t) in self.outside and id(t) not in self.entry:
            self.overwritten.add(id(t))
        try:
            val = None
            if grad is not None:
                array = _ARRAY.__get__(grad)
                if self.copied is not None and id(array) not in self.vals:
                    val = self.line("copy", None, [self.copied], (), [array], frame).outs[0]
                else:
                    val = self.val(grad)
                self.copied = None
                if grad.requires:
                    raise NotCompilable(
                        "a .grad that has a graph is not recorded; use autograd.grad for higher derivatives."
                    )
            if id(t) in self.outside:
                self.line("grad", t, [val] if val is not None else [], (grad,), (), frame)
        except NotCompilable as reason:
            self.refuse(str(reason), frame)
        return grad

    # Results ------------------------------------------------------------------------------------------------------------

    def results(self, out: Any) -> tuple[Any, ...]:
        """What the step returns, with ("tensor", Val, the tensor) for the tensors in it."""
        if isinstance(out, Variable):
            if out.requires and out.edge is not None and not _used_up(out.edge[0]):
                raise NotCompilable(
                    "its result still has a graph, so a gradient could go back through it; call backward() inside, "
                    "or return .detach()."
                )
            if id(out) in self.outside:
                return "outside", out
            return "tensor", self.val(out), out
        if fixed(out):
            return "fixed", out
        if type(out) in (tuple, list):
            return type(out).__name__, [self.results(o) for o in out]
        if type(out) is dict:
            return "dict", {k: self.results(o) for k, o in out.items()}
        raise NotCompilable(f"it returns {type(out).__name__}; return tensors, or tuples, lists and dicts of them.")


def _is_learners(code: CodeType) -> bool:
    file = code.co_filename
    return not file.startswith((str(ROOT), "<minigrad", "<frozen")) or "/minigrad/course/" in file


def _product(op: Op, ins: list[Val]) -> Op:
    """The product of a column and a row as an elementwise product, which can share a loop with other operations."""
    return mul if op is mm_ and ins[0].array.shape[1] == 1 else op


def _base_of(array: np.ndarray, inputs: Sequence[Val]) -> Any:
    """Of `inputs`, the Val whose memory `array` lies in."""
    return next((v for v in inputs if array.size and np.may_share_memory(array, v.array)), None)


def all_vals(values: Any) -> Iterator[Any]:
    for v in values:
        if isinstance(v, Val):
            yield v
        elif isinstance(v, (list, tuple)):
            yield from all_vals(v)


def _used_up(node: Node) -> bool:
    """Has a backward pass gone through this graph and freed it?"""
    seen, todo = {node}, [node]
    for n in todo:  # grows
        if n.status == FREED:
            return True
        for edge in n.edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                todo.append(edge[0])
    return False


def _dice() -> tuple[Any, ...]:
    """What changes with every draw of a random number."""
    key: Any = default_generator.twister.get_state(legacy=True)
    return key[2], key[1][:3].tobytes(), default_generator.spare
