"""Reads a row of the derivatives table: runs it, records it, differentiates it.

What lives here: `Op`, one operation, and how its row becomes straight-line Python. What does not: the rows (ops/) and the backward loop.

A row gives a name, a function on ndarrays, a kind, and for each tensor input a rule:

    mul = Op("mul", np.multiply, ELEMENTWISE, x=lambda g, y: g * y, y=lambda g, x: g * x)

A rule's first parameter is the gradient of the output; *the names of the others are what the node saves*:

    an input's name       that tensor                    x_shape     only that input's shape
    an output's name      that output (`out`)            other names a parameter of the operation (dim, keepdim, ...)

The inputs are the rules, in order; an input without derivative has the rule None. Every other parameter of the function on ndarrays is a
parameter of the operation. A rule is written once, with operators and other Ops: called on ndarrays an Op computes, called on Tensors it
records, so the same rule serves the fast backward pass and `create_graph=True`. Rules need not undo broadcasting: the engine does.

On first use a row is written out as Python source (as dataclasses do), because a loop over names and rules would cost more than small
arithmetic. `print(mul.source)` shows it.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import linecache
import sys
import threading
import warnings
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from . import errors, variable
from .arguments import recover
from .constants import number_of
from .dispatch import state
from .meta import asarray
from .node import FREED, LIVE, Node, next_number
from .row_options import OPTIONS, ArgumentOptions, GraphOptions, TextOptions
from .row_source import (
    DISCRETE,
    ELEMENTWISE,
    GENERAL,  # noqa: F401
    KINDS,
    LINEAR,  # noqa: F401
    MULTILINEAR,  # noqa: F401
    calls_source,
    saved_by,
    slots_of,
    source_of,
)  # noqa: F401
from .saved import (
    as_floats,
    check_output,
    check_saved,
    drop_packed,
    open_saved,
    output_of,
    record_several,
    view_of,
)
from .slow_path import failed, general, is_ours, on_ndarrays
from .variable import INFERENCE, edge_of, leaf_edge, refresh, wrap

if TYPE_CHECKING:
    from .row_source import Saved

# As in PyTorch, log(0) is -inf and no warning. Silence numpy's warnings about arithmetic, inside this package only.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")

TABLE: dict[str, Op] = {}  # every row by its name
written: list = []  # each of these functions is called with every row that has just been written out (provenance.py)


class Op(ArgumentOptions, GraphOptions, TextOptions):
    """One operation. Call it on Tensors (records), or on ndarrays (computes).

    name      PyTorch's
    forward   on ndarrays (and parameters)
    kind      one of `KINDS`
    row       input=rule for each input, see the top of this file; the other keywords are in row_options.py
    """

    # `call` is read for every operation: a slot is found faster than an entry of a dict
    __slots__ = (
        "__dict__",
        "__weakref__",
        "call",
    )

    node_class: type[Node]  # this and the next, once the row is written out
    source: str
    noting_text: Any  # its `call` and `record` with notes (provenance.py)

    def __init__(self, name: str, forward: Callable[..., Any], kind: str, **row: Any) -> None:
        options = {option: row.pop(option) for option in OPTIONS.intersection(row)}
        vars(self).update(options)
        self.name = self.__name__ = name
        self.forward, self.kind, self.rules = forward, kind, row
        self.ours = is_ours(sys._getframe(1), "ops.")
        self.words = self.words or {}
        self.inputs = tuple(row)
        self.node_name = self.node or "".join(part.capitalize() for part in name.split("_")) + "Backward0"
        own_names = {torch_name: own_name for own_name, torch_name in (self.saved_as or {}).items()}
        self.saved_as = {"self": "x", "other": "y", "result": "out", "self_sym_sizes": "x_shape", **own_names}
        self.params = _parameters(self)
        if self.args:
            self.args = tuple(self.args.split())
        elif self.tensor_list:
            self.args = ("tensors",)
        else:
            self.args = {1: ("input",), 2: ("input", "other")}.get(len(self.inputs), self.inputs)
        self.promoted = tuple(
            i for i in self.inputs if kind == DISCRETE or (kind == ELEMENTWISE and row[i] is not None)
        )
        self.single = self.outputs == ("out",)
        _check(self)
        self.__doc__ = self.doc or forward.__doc__
        self.call: Callable[..., Any] = self._first_call
        TABLE[self.node_name if name in TABLE else name] = self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self.call(*args, **kwargs)
        except TypeError as error:
            return recover(
                _in_pytorchs_words(error, self), self.call, self.name, (*self.args, *self.params), args, kwargs
            )

    def __repr__(self) -> str:
        return f"<minigrad.{self.name}>"

    def __reduce__(self) -> Any:
        return (_find, (next(key for key, op in TABLE.items() if op is self),))

    def _first_call(self, *args: Any, **kwargs: Any) -> Any:
        _write_out(self)
        return self.call(*args, **kwargs)

    def record(self, r: Any, *args: Any) -> Any:
        """Wrap the result `r` of the inputs and parameters `args`, and record the operation if an input requires gradients."""
        _write_out(self)  # which puts the real method in the place of this one
        return self.record(r, *args)

    def saves_of(self, rule: Callable[..., Any] | None) -> tuple[str, ...]:
        """The names of the values that a rule saves, in order."""
        return _names(rule)[1:] if rule else ()

    def saved(self, node: Node, name: str) -> Any:
        """The value behind `node._saved_<name>`. Raises if it has been freed."""
        if name in node.saves and node.status:
            node = open_saved(node)
        if name in self.tensor_params:
            if node.status == FREED:
                raise errors.freed()
            return getattr(node, name).tensors()
        if name in node.saves and name not in self.inputs:
            return output_of(node, name)
        value = getattr(node, name)
        number = number_of(value)
        return value if number is None else wrap(np.array(number))


def _in_pytorchs_words(error: BaseException, op: Op) -> BaseException:
    """Python's error about the arguments of a call, as PyTorch puts it: missing 1 required positional arguments: "input"."""
    text = str(error).replace("call()", f"{op.name}()", 1)
    if "missing" in text and text.startswith(op.name + "()"):
        text = text.replace("argument: ", "arguments: ").replace("'", '"').replace('" and "', '", "')
    return error if text == str(error) else TypeError(text)


def _find(key: Any) -> Any:
    return TABLE[key]


def _names(function: Any) -> Any:
    """The names of a function's parameters. Plain functions say them at once: with `inspect` a third of the import would be spent here."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_kwonlyargcount or code.co_flags & _STARRED or "__signature__" in vars(function):
        return tuple(inspect.signature(function).parameters)
    return code.co_varnames[: code.co_argcount]


_STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def _parameters(op: Op) -> dict[str, type]:
    """The parameters of the operation: those of its function on ndarrays after the inputs, as {name: default or Parameter.empty}."""
    if isinstance(op.forward, np.ufunc):
        return {}
    if type(op.forward) is FunctionType and not op.forward.__defaults__ and not op.forward.__code__.co_flags & _STARRED:
        if "__signature__" not in vars(op.forward) and not op.forward.__code__.co_kwonlyargcount:
            return dict.fromkeys(_names(op.forward)[len(op.inputs) :], inspect.Parameter.empty)
    try:
        parameters = list(inspect.signature(op.forward).parameters.values())
    except ValueError:  # written in C without a signature
        return {}
    return {p.name: p.default for p in parameters[len(op.inputs) :] if p.kind == p.POSITIONAL_OR_KEYWORD}


def _check(op: Op) -> None:
    """Reject a row that cannot work when it is read, naming it."""
    outputs = () if op.outputs is ... else op.outputs
    savable = {*op.inputs, *(f"{i}_shape" for i in op.inputs), *outputs, *op.params}
    if op.kind not in KINDS:
        raise errors.new(TypeError, f"row '{op.name}': kind {op.kind!r} is not one of {', '.join(KINDS)}")
    for name in {name for rule in op.rules.values() for name in op.saves_of(rule)}:
        if name in Node.__slots__:  # a value saved under that name would be overwritten
            raise errors.new(
                TypeError,
                f"row '{op.name}': '{name}' is a field of every node ({', '.join(Node.__slots__)}); choose another name",
            )
    for name in op.saves_of(op.joint_rule):
        if not any(name in op.saves_of(rule) for rule in op.rules.values()):
            raise errors.new(
                TypeError, f"row '{op.name}': `joint_rule` asks for '{name}', which none of the rules saves"
            )
    for where, rule in [*op.rules.items(), ("jvp", op.jvp)]:
        for name in op.saves_of(rule):
            if name not in savable:
                raise errors.new(
                    TypeError,
                    f"row '{op.name}': the rule for '{where}' asks for '{name}', which is none of its inputs ({', '.join(op.inputs)}), "
                    f"their shapes ({', '.join(i + '_shape' for i in op.inputs)}), its outputs ({', '.join(outputs)}) "
                    f"and its parameters ({', '.join(op.params) or 'none'})",
                )


# Writing a row out ---------------------------------------------------------------------------------------------------


_writing = threading.RLock()


def _write_out(op: Op) -> None:
    """Make op.call, op.record and the node class from the row: once, whichever thread comes first."""
    with _writing:
        if hasattr(op, "source"):
            return
        saved = saved_by(op)
        op.node_class = _node_class(op, saved)
        source = source_of(op, saved)
        scope = _compiled(op, source, f"<minigrad row '{op.name}'>")
        for name in ("run", "run_graph", "release"):
            setattr(op.node_class, name, scope[name])
        op.source, op.call = source, scope["call"]
        op.record = scope["record"]  # type: ignore[method-assign]  # the method is a placeholder
        for function in written:
            function(op)


def _node_class(op: Op, saved: Saved) -> type:
    """The class of the row's nodes: a slot for each saved value, and `_saved_x` under its name here and in PyTorch."""
    slots = slots_of(saved)
    # `_saved_x` and PyTorch's name for it are properties, not __getattr__, which would make every other attribute of a node slow.
    attributes = {s: s for s in slots if not s.endswith(("_version", "_counter"))}
    attributes.update(
        {torch_name: own_name for torch_name, own_name in (op.saved_as or {}).items() if own_name in attributes}
    )
    saves = (*saved.inputs, *saved.outputs)
    members: dict[str, Any] = {
        "__slots__": slots,
        "op": op,
        "saves": saves,
        "frees": (*saves, *op.tensor_params),
        "__module__": "torch.autograd",
    }
    members.update(
        {
            f"_saved_{torch_name}": property(functools.partial(op.saved, name=own_name))
            for torch_name, own_name in attributes.items()
        }
    )
    tensors = [(torch_name, own_name) for torch_name, own_name in attributes.items() if own_name in saves]
    members.update(
        {
            f"_raw_saved_{torch_name}": property(functools.partial(_raw_saved, name=own_name))
            for torch_name, own_name in tensors
        }
    )
    return type(op.node_name, (Node,), members)


def _raw_saved(node: Node, name: str) -> Any:
    return node.raw_saved(node, name)


def calls_with_notes(
    op: Op, leave_note: Callable[..., Any], constants: Callable[..., Any], leave_cut: Callable[..., Any]
) -> Any:
    """`call` and `record` of a row as `_write_out` makes them, with the lines that leave notes on nodes (provenance.py)."""
    text = calls_source(op, saved_by(op), noting=True)
    scope = _compiled(
        op,
        text,
        f"<minigrad row '{op.name}' with notes>",
        leave_note=leave_note,
        constants=constants,
        leave_cut=leave_cut,
    )
    return scope["call"], scope["record"]


def _compiled(op: Op, source: str, filename: str, **more: Any) -> Any:
    """What the functions of a row's source are, by name."""
    scope = {
        "__name__": __name__, "op": op, "new": object.__new__, "Tensor": variable.TENSOR, "ndarray": ndarray, "asarray": asarray,
        "state": state, "forward": op.forward, "NodeClass": op.node_class, "next_number": next_number, "LIVE": LIVE,
        "general": general, "refresh": refresh, "edge_of": edge_of, "leaf_edge": leaf_edge, "view_of": view_of,
        "record_several": record_several, "open_saved": open_saved, "drop_packed": drop_packed,
        "as_floats": as_floats, "on_ndarrays": on_ndarrays,
        "check_saved": check_saved, "output_of": output_of, "check_output": check_output,
        "failed": failed, "INFERENCE": INFERENCE, "_defaults": op.params, **more,
    }  # fmt: skip
    for name, rule in [*((f"rule_{i}", rule) for i, rule in op.rules.items()), ("joint_rule", op.joint_rule)]:
        scope[name], scope[name + "_on_arrays"] = rule, on_arrays(rule)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)  # tracebacks show these lines
    exec(compile(source, filename, "exec"), scope)  # noqa: S102
    return scope


def on_arrays(rule: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """The rule as the fast backward pass runs it: the operations it calls are their functions on ndarrays, two Python calls less for each.

    Only for the rows of this package: elsewhere what a rule reads may be defined again.
    """
    if not isinstance(rule, FunctionType) or not (rule.__module__ or "").startswith(
        __package__.partition(".")[0] + "."
    ):
        return rule
    codes, calls_rows = [rule.__code__], False
    # The name, so that numpy's warnings stay unsaid there, too
    scope = {
        "__builtins__": builtins,
        "__name__": rule.__module__,
    }
    for code in codes:  # grows: functions inside
        codes += [c for c in code.co_consts if isinstance(c, CodeType)]
        for name in code.co_names:
            if name in rule.__globals__:
                value = scope[name] = rule.__globals__[name]
                if isinstance(value, Op):
                    scope[name], calls_rows = value.forward, True
    return (
        FunctionType(rule.__code__, scope, rule.__name__, rule.__defaults__, rule.__closure__) if calls_rows else rule
    )
