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

import builtins
import inspect
import linecache
import sys
import threading
import warnings
from types import CodeType, FunctionType

import numpy as np
from numpy import asarray, ndarray

from ..scalar import Value
from . import dtypes, errors, permissions, variable
from .arguments import recover
from .constants import constant, number_of
from .dispatch import NOT_RUNNING, state
from .facts import ArgumentType
from .node import FREED, LIVE, PACKED, Node, next_number, short_name
from .on_values import on_values
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
from .variable import INFERENCE, Variable, ViewFunc, ViewMeta, edge_of, leaf_edge, only_detached, refresh, wrap

# As in PyTorch log(0) is -inf without a word: silence numpy's warnings about arithmetic inside this package only.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")

TABLE: dict[str, "Op"] = {}  # every row by its name
written: list = []  # each of these functions is called with every row that has just been written out (provenance.py)


class Op:
    """One operation. Call it on Tensors (records), or on ndarrays (computes).

    name      PyTorch's; `node` is the name of its grad_fn if it is not NameBackward0
    forward   on ndarrays (and parameters)
    rules     input=rule, see the top of this file
    args      the names that callers may use for the inputs; PyTorch's `input`, `other` unless said
    view      True: forward returns a numpy view, and the result is a view in PyTorch's sense
    floats    True: integer inputs become the default float dtype first (sin, div)
    tensor_list  True: the one input is a sequence of tensors (cat); its rule returns as many gradients; `x_shape` is a tuple of shapes
    outputs   their names; with more than one, forward returns a tuple and a rule's `g` is the gradient of the first. A rule whose first
              parameter is `gs` gets the list of all gradients (None where nothing arrived). `outputs=...`: as many as forward returns,
              rules get `gs`.
    jvp       forward mode, where the kind does not give it: jvp(t, <saves>), `t` the tangent of the one input, or `ts` the list of tangents
              (None for constants); returns the tangent of the (first) output
    joint_rule  one rule that returns the gradients of all inputs as a tuple. It is used if every input needs its gradient, where the
              rules would repeat the same work. It saves nothing that the rules do not
    one_dtype the inputs are not promoted but must share a dtype: {"x y": PyTorch's sentence if the dtypes of x and y differ}, with {x} for
              Float and {x_c} for float
    bools     False: True and False are refused, as in PyTorch, where numpy would compute
    refuses   (characters of numpy's dtypes, PyTorch's name of the kernel): dtypes that PyTorch's kernel does not have, and numpy has
    tensors_only  True: PyTorch takes no number in the place of a tensor; minigrad does, and warns (permissions.py)
    tensor_params  parameters that hold tensors (the indices of index): freed after the backward pass like everything that a node saves
    saved_as  PyTorch's names for `_saved_*` where they differ: {"x": "self"} is understood

    What other rooms know of the operation, so that nothing is listed by name elsewhere:
    formula   how it is written, as Python source over its inputs: "x * y". Pictures, `minigrad.compile` and `Value` read it
    words     {input: what its rule does to g, in words} for rules that are no short formula: {"x": "g where {x} > 0, else 0"}
    fused     the source of the compiled loop (compiler.py) where formula and rules are not it: (result, gradient of each input)
    batch     the batching rule (func/batching.py) if vmap should not run the samples one by one; elementwise rows need none
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "call",
    )  # read for every operation: a slot is found faster than an entry of the dict

    def __init__(self, name, forward, kind, *, node=None, args=None, view=False, floats=False, tensor_list=False, outputs=("out",),
                 jvp=None, joint_rule=None, one_dtype=None, bools=True, refuses=None, tensors_only=False,
                 tensor_params=(), saved_as=None, doc=None,
                 formula=None, words=None, fused=None, batch=None, **rules):  # fmt: skip
        self.name = self.__name__ = name
        self.forward, self.kind, self.rules = forward, kind, rules
        self.view, self.floats, self.tensor_list, self.outputs, self.jvp, self.bools = (
            view,
            floats,
            tensor_list,
            outputs,
            jvp,
            bools,
        )
        self.joint_rule, self.one_dtype, self.tensor_params = joint_rule, one_dtype, tensor_params
        self.refuses, self.tensors_only = refuses, tensors_only
        self.ours = _is_ours(sys._getframe(1), "ops.")
        self.formula, self.words, self.fused, self.batch = formula, words or {}, fused, batch
        self.inputs = tuple(rules)
        self.node_name = node or "".join(part.capitalize() for part in name.split("_")) + "Backward0"
        self.saved_as = {
            "self": "x",
            "other": "y",
            "result": "out",
            "self_sym_sizes": "x_shape",
            **{v: k for k, v in (saved_as or {}).items()},
        }
        self.params = _parameters(self)
        self.args = (
            tuple(args.split()) if args else {1: ("input",), 2: ("input", "other")}.get(len(self.inputs), self.inputs)
        )
        if tensor_list and not args:
            self.args = ("tensors",)
        self.promoted = tuple(
            i for i in self.inputs if kind == DISCRETE or (kind == ELEMENTWISE and rules[i] is not None)
        )
        self.single = outputs == ("out",)
        _check(self)
        self.__doc__ = doc or forward.__doc__
        self.call = self._first_call
        TABLE[self.node_name if name in TABLE else name] = self

    def __call__(self, *args, **kwargs):
        try:
            return self.call(*args, **kwargs)
        except TypeError as error:
            return recover(
                _in_torch_s_words(error, self), self.call, self.name, (*self.args, *self.params), args, kwargs
            )

    def __repr__(self):
        return f"<minigrad.{self.name}>"

    def __reduce__(self):
        return (_find, (next(key for key, op in TABLE.items() if op is self),))

    def _first_call(self, *args, **kwargs):
        _write_out(self)
        return self.call(*args, **kwargs)

    def record(self, r, *args):
        """Wrap the result `r` of the inputs and parameters `args`, and record the operation if an input requires gradients."""
        _write_out(self)  # which puts the real method in the place of this one
        return self.record(r, *args)

    def saves_of(self, rule):
        """The names that a rule asks to be saved, in order."""
        return _names(rule)[1:] if rule else ()

    def saved(self, node, name):
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


def _in_torch_s_words(error, op):
    """Python's error about the arguments of a call, as PyTorch puts it: missing 1 required positional arguments: "input"."""
    text = str(error).replace("call()", f"{op.name}()", 1)
    if "missing" in text and text.startswith(op.name + "()"):
        text = text.replace("argument: ", "arguments: ").replace("'", '"').replace('" and "', '", "')
    return error if text == str(error) else TypeError(text)


def _find(key):
    return TABLE[key]


def _names(function):
    """The names of a function's parameters. Plain functions say them at once: with `inspect` a third of the import would be spent here."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_kwonlyargcount or code.co_flags & _STARRED or "__signature__" in vars(function):
        return tuple(inspect.signature(function).parameters)
    return code.co_varnames[: code.co_argcount]


_STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def _parameters(op):
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


def _check(op):
    """Reject a row that cannot work when it is read, naming it."""
    outputs = () if op.outputs is ... else op.outputs
    known = {*op.inputs, *(f"{i}_shape" for i in op.inputs), *outputs, *op.params}
    if op.kind not in KINDS:
        raise errors.new(TypeError, f"row '{op.name}': kind {op.kind!r} is not one of {', '.join(KINDS)}")
    for name in {name for rule in op.rules.values() for name in op.saves_of(rule)}:
        if name in Node.__slots__:  # what is saved under it would be overwritten
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
            if name not in known:
                raise errors.new(
                    TypeError,
                    f"row '{op.name}': the rule for '{where}' asks for '{name}', which is none of its inputs ({', '.join(op.inputs)}), "
                    f"their shapes ({', '.join(i + '_shape' for i in op.inputs)}), its outputs ({', '.join(outputs)}) "
                    f"and its parameters ({', '.join(op.params) or 'none'})",
                )


# Writing a row out ---------------------------------------------------------------------------------------------------


_writing = threading.RLock()


def _write_out(op):
    """Make op.call, op.record and the node class from the row: once, whichever thread comes first."""
    with _writing:
        if hasattr(op, "source"):
            return
        saved = saved_by(op)
        op.node_class = _node_class(op, saved)
        source = source_of(op, saved)
        scope = _compiled(op, source, f"<minigrad row '{op.name}'>")
        op.node_class.run, op.node_class.run_graph, op.node_class.release = (
            scope["run"],
            scope["run_graph"],
            scope["release"],
        )
        op.record, op.call, op.source = scope["record"], scope["call"], source
        for function in written:
            function(op)


def _node_class(op, saved):
    """The class of the row's nodes: a slot for each thing that it saves, and `_saved_x` under its name here and in PyTorch."""
    slots = slots_of(saved)
    # `_saved_x` and PyTorch's name for it are properties, not __getattr__, which would make every other attribute of a node slow.
    shown = {s: s for s in slots if not s.endswith(("_version", "_counter"))}
    shown.update({theirs: ours for theirs, ours in op.saved_as.items() if ours in shown})
    saves = (*saved.inputs, *saved.outputs)
    members = {
        "__slots__": slots,
        "op": op,
        "saves": saves,
        "frees": (*saves, *op.tensor_params),
        "__module__": "torch.autograd",
    }
    members.update(
        {f"_saved_{theirs}": property(lambda node, ours=ours: op.saved(node, ours)) for theirs, ours in shown.items()}
    )
    tensors = [(theirs, ours) for theirs, ours in shown.items() if ours in saves]
    members.update(
        {
            f"_raw_saved_{theirs}": property(lambda node, ours=ours: node.raw_saved(node, ours))
            for theirs, ours in tensors
        }
    )
    return type(op.node_name, (Node,), members)


def calls_with_notes(op, leave_note, constants, leave_cut):
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


def _compiled(op, source, filename, **more):
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


def on_arrays(rule):
    """The rule as the fast backward pass runs it: the operations it calls are their functions on ndarrays, two Python calls less for each.

    Only for the rows of this package: elsewhere what a rule reads may be defined again.
    """
    if not isinstance(rule, FunctionType) or not (rule.__module__ or "").startswith(
        __package__.partition(".")[0] + "."
    ):
        return rule
    codes, found = [rule.__code__], False
    scope = {
        "__builtins__": builtins,
        "__name__": rule.__module__,
    }  # the name, so that numpy's warnings stay unsaid there, too
    for code in codes:  # grows: functions inside
        codes += [c for c in code.co_consts if isinstance(c, CodeType)]
        for name in code.co_names:
            if name in rule.__globals__:
                value = scope[name] = rule.__globals__[name]
                if isinstance(value, Op):
                    scope[name], found = value.forward, True
    return FunctionType(rule.__code__, scope, rule.__name__, rule.__defaults__, rule.__closure__) if found else rule


# What the written-out code calls ----------------------------------------------------------------------------------------


def general(op, inputs, params):
    """The way of everything that is not plain: handlers, ndarrays, Python numbers, mixed dtypes, sequences."""
    flat = inputs[0] if op.tensor_list else inputs
    if not any([isinstance(x, Variable) for x in flat]):
        if any([isinstance(x, Value) for x in flat]):
            return on_values(op, inputs, params)
        if any([isinstance(x, (ndarray, np.generic)) for x in flat]):
            return on_ndarrays(op, *inputs, *params)
    handlers = state.handlers
    if handlers:
        state.handlers = handlers[:-1]
        try:
            return handlers[-1](op, inputs, params)
        finally:
            state.handlers = handlers
    tensors, arrays = prepare(op, flat)
    try:
        r = op.forward(arrays, *params) if op.tensor_list else op.forward(*arrays, *params)
    except (ValueError, TypeError) as error:
        raise failed(op, arrays, error) from None
    return op.record(r, tensors, *params) if op.tensor_list else op.record(r, *tensors, *params)


def on_ndarrays(op, *given):
    """The numbers alone: for rules in the fast backward pass, and for forward() of another row. Raises TypeError for anybody else:
    PyTorch's functions take no arrays, and a result without a graph would go unnoticed."""
    if op.ours and state.running is NOT_RUNNING and _called_by_others():
        arrays = given[0] if op.tensor_list else given[: len(op.inputs)]
        raise wrong_type(op, *next((i, x) for i, x in enumerate(arrays) if isinstance(x, (ndarray, np.generic))))
    return op.forward(*given)


def _called_by_others():
    """Is the code that called the operation outside of this package, and no rule or forward() that the package runs?"""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((__file__, "<minigrad")):
        frame = frame.f_back
    if _is_ours(frame, ""):
        return False
    return not (frame.f_back and (_is_ours(frame.f_back, "core.") or _is_ours(frame.f_back, "kernels.")))


def _is_ours(frame, room):
    return frame.f_globals.get("__name__", "").startswith(__package__.partition(".")[0] + "." + room)


def prepare(op, inputs):
    """Tensors for the record and arrays, promoted to their common dtype, for the computation."""
    if not any([isinstance(x, Variable) for x in inputs]):
        raise wrong_type(op, 0, inputs[0] if inputs else None)
    if op.promoted or op.floats:
        names = op.inputs
        chosen = [x for x, name in zip(inputs, names, strict=True) if name in op.promoted] if op.promoted else inputs
        for position, x in enumerate(inputs):
            if not isinstance(x, (Variable, np.generic, builtins.bool, int, float)):
                raise wrong_type(op, position, x)
            if op.tensors_only and not isinstance(x, Variable) and _called_by_others():
                permissions.allow("number for a tensor", wrong_type(op, position, x))
        if not op.bools:
            bools = [
                (x.array.dtype.kind == "b") if isinstance(x, Variable) else isinstance(x, builtins.bool) for x in inputs
            ]
            if any(bools):
                raise errors.no_bools(op.name, all(bools))
        common = dtypes.result_type(*chosen)
        _check_kernel(op, common.numpy)
        if op.floats and not common.is_floating_point:
            common = dtypes.get_default_dtype()
        tensors, arrays = [], []
        for x, name in zip(inputs, names, strict=True):
            kind = common if name in op.promoted or not op.promoted else None
            t = x if isinstance(x, Variable) else constant(x, kind)
            a = t.array
            tensors.append(t)
            arrays.append(a.astype(kind.numpy) if kind is not None and a.dtype is not kind.numpy else a)
        return tensors, arrays
    tensors = []
    for position, x in enumerate(inputs):
        if isinstance(x, Variable):
            tensors.append(x)
        elif (
            isinstance(x, (ndarray, np.generic)) and not _called_by_others()
        ):  # a constant in a rule under create_graph
            tensors.append(wrap(asarray(x)))
        else:
            raise wrong_type(op, position, x)
    arrays = [t.array for t in tensors]
    _check_kernel(op, arrays[0].dtype)
    if op.one_dtype:
        _check_one_dtype(op, dict(zip(op.inputs, arrays, strict=True)))
    return tensors, arrays


def _check_kernel(op, dtype):
    """Raise PyTorch's error if its kernel does not have the dtype."""
    if op.refuses and dtype.char in op.refuses[0]:
        raise errors.no_kernel(op.refuses[1], dtype)


def _check_one_dtype(op, arrays):
    """Raise if inputs that must share a dtype do not. Here, after the handlers: autocast may have given them one."""
    for pair, sentence in op.one_dtype.items():
        a, b = pair.split()
        if arrays[a].dtype != arrays[b].dtype:
            raise errors.dtypes_differ(sentence, {i: array.dtype.name for i, array in arrays.items()})


def wrong_type(op, position, x):
    name = op.args[min(position, len(op.args) - 1)]
    sentence = f"{op.name}(): argument '{name}' (position {position + 1}) must be Tensor, not {errors.type_name(x)}"
    facts = ArgumentType(op.name, position + 1, type(x).__name__)
    if isinstance(x, ndarray):
        why = "Functions and methods take tensors; only operators, x * array, take an ndarray."
        return errors.new(TypeError, sentence, why=why, instead="torch.from_numpy(array).", facts=facts)
    return errors.new(TypeError, sentence, facts=facts)


def failed(op, arrays, error):
    """The error to raise for numpy's `error`: about broadcasting or about bools, if that was it."""
    if isinstance(error, TypeError):
        bools = [a.dtype.kind == "b" for a in arrays]
        if any(bools):
            return errors.no_bools(op.name, all(bools))
        if "ufunc" in str(error):
            kind = errors.TYPE_NAMES.get(arrays[0].dtype.name, "").removesuffix("Tensor")
            return errors.new(
                NotImplementedError,
                f"\"{op.name}_cpu\" not implemented for '{kind}'",
                instead="compare first, (x > 0) & (x < 1), or convert with .long().",
            )
        return error
    if op.kind in (ELEMENTWISE, DISCRETE):
        return errors.broadcast(arrays, error)
    return error


def view_of(out, x, op, params, number):
    """Make `out` a view of `x`: it shares the storage and the version, and knows how to be made again from the base."""
    out.version = x.version
    if x.version is INFERENCE:  # as in PyTorch, its base is never asked for
        return
    step = (op, params, number)
    created = "inference" if state.inference else "no_grad" if not state.grad else "" if number is None else "multiple"
    if x.view_meta is None:
        out.view_meta = ViewMeta(x, ViewFunc(step, None, x.array.strides), x.version[0], created)
    else:
        view = x.view_meta
        out.view_meta = ViewMeta(view.base, ViewFunc(step, view.view_func), x.version[0], created or view.creation_meta)


def record_several(op, arrays, node, source):
    """The outputs of an operation with several, as a tuple; integer outputs have no gradient."""
    arrays = [asarray(a) for a in arrays]
    outs = []
    for number, a in enumerate(arrays):
        out = wrap(a)
        if source is not None:
            view_of(out, source[0], op, source[1], number)
        if node is not None and a.dtype.kind == "f" and out.version is not INFERENCE:
            out.edge, out.requires = (node, number), True
        elif source is not None:  # a view made in no_grad is to PyTorch a leaf like its base
            out.requires = out.view_meta is not None and out.view_meta.base.requires
        if not state.grad:
            out.detached_by = "no_grad"
        outs.append(out)
    if node is not None:
        node.shape, node.dtype = [a.shape for a in arrays], [a.dtype for a in arrays]
        for name in node.saves:
            if op.outputs is not ... and name in op.outputs:
                number = op.outputs.index(name)
                setattr(node, name, arrays[number])
                setattr(node, name + "_counter", outs[number].version)
                setattr(node, name + "_version", outs[number].version[0])
    return tuple(outs)


def output_of(node, name):
    """A saved output as a Tensor, attached to its own node. The node keeps only the array, or the two would hold each other for ever."""
    value = getattr(node, name)
    out = wrap(value) if type(value) is ndarray else value.shell()  # inside vmap
    out.version = getattr(node, name + "_counter")
    number = node.op.outputs.index(name)
    if out.array.dtype.kind == "f":
        out.edge, out.requires = ((node.info or {}).get("original", node), number), True
    if node.info is not None and "tangents" in node.info:
        for restore in node.info["tangents"]:  # forward mode is on: the saved output has a tangent
            restore(out)
    return out


def check_saved(node: Node, slot: str, tensor, version: int) -> None:
    """Raise if the saved input was detached in place or written to since."""
    if tensor.version[0] != version:
        if tensor.meta is not None and tensor.meta.detached_at > version and tensor.edge is None:
            raise errors.new(
                RuntimeError,
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use "
                "out-of-place `.detach()` instead",
                why="the derivative formula needs this tensor with its history, and detach_() has removed that.",
                instead="y = x.detach() makes a new tensor and leaves x in its graph.",
            )
        if only_detached(tensor.version, version):  # another tensor with this storage
            return
        edge = edge_of(tensor)
        origin = f"{edge[1]} of {short_name(edge[0])}" if edge is not None and edge[0].edges else ""
        raise errors.modified(node.name(), slot, tensor.array, *_writes(tensor.version, version), origin)


def _writes(counter, version) -> tuple[int, int]:
    """How many writes there were until now, and until `version`: both without the detach_() calls, which PyTorch does not count."""
    now, then = [at - sum([call <= at for call in counter[1:]]) for at in (counter[0], version)]
    return now, then


def as_floats(x, dtype):
    """A saved input of whole numbers in the dtype of the result."""
    return x.astype(dtype) if isinstance(x, ndarray) else wrap(x.array.astype(dtype))


def check_output(node, name):
    if only_detached(getattr(node, name + "_counter"), getattr(node, name + "_version")):
        return
    raise errors.modified(
        node.name(), name, getattr(node, name), *_writes(getattr(node, name + "_counter"), getattr(node, name + "_version")),
        f"{node.op.outputs.index(name)} of {short_name(node)}",
    )  # fmt: skip


def open_saved(node):
    """The node with its saved tensors at hand: raises if they were freed, unpacks them if hooks packed them."""
    if node.status == PACKED:
        return node.info["unpack"](node)
    raise errors.freed()


def drop_packed(node):
    """What hooks packed goes with the rest: a checkpoint's inputs hang on it."""
    node.info.pop("packed", None), node.info.pop("unpack", None)
