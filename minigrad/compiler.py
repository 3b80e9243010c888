"""`minigrad.compile(f)`: an elementwise function as one compiled loop, with its backward pass. Steps become programs (program/).

What lives here: the trace of f, the guards that notice when the trace no longer holds, the text of the loop. What does not: how the text is
compiled (kernels/fused_numba.py), and PyTorch's compiler, which does far more.

f runs once on tensors without numbers: every operation on them is written down, and whatever wants to read a number (`if x > 0`, `item()`)
ends the trace. If all operations are elementwise, on tensors of one shape and dtype, a loop is made that holds a whole chain in
registers, where eager code writes every intermediate result to memory; only results of functions like exp are kept for the backward pass.
Otherwise f simply runs, and `why` says in one sentence why.
"""

import functools
import re
import types
from importlib.util import find_spec
from typing import Any

import numpy as np

import minigrad

from .core.constants import number_of
from .core.dispatch import Handler, state
from .core.errors import warn
from .core.op import GENERAL, TABLE, Op
from .core.ownership import holders
from .core.variable import Variable, wrap
from .func import vjp
from .func.batching import NumbersNeeded, Sample
from .ops import elementwise as E
from .program.formulas import COSTLY, NotCompilable, filled, loop_source, power
from .program.step import CompiledStep, is_step, pickled
from .program.surroundings import Surroundings

_FIXED = (int, float, bool, str, bytes, complex, type(None))
_kernels: dict[Any, Any] = {}  # (source, dtype): the compiled functions


class Trace(Handler):
    """Writes operations down instead of running them."""

    def __init__(self, inputs: list[Variable]):
        self.names = {id(t): f"x{i}" for i, t in enumerate(inputs)}
        self.kept: list[Any] = list(inputs)  # so that no id is used twice
        self.first = inputs[0].array
        self.lines: list[tuple[Op, tuple[str, ...], str, float | None]] = []

    def __call__(self, op, inputs, params):
        number = float(params[0]) if op is E.pow_number else None
        if number is None and (params or loop_source(op) is None):
            row_names = ", ".join(sorted({row.name for row in TABLE.values() if loop_source(row) is not None}))
            raise NotCompilable(f"{op.name} is not one of the operations that can be fused ({row_names}, pow).")
        names = tuple([self.name_of(x, op) for x in inputs])
        if not any(name[0] in "xv" for name in names):
            raise NotCompilable(f"{op.name} is computed from numbers alone; use Python's arithmetic for that.")
        out = wrap(self.first)
        self.kept.append(out)
        self.names[id(out)] = f"v{len(self.lines)}"
        self.lines.append((op, names, f"v{len(self.lines)}", number))
        return out

    def name_of(self, x, op):
        if isinstance(x, Variable):
            if id(x) in self.names:
                return self.names[id(x)]
            if number_of(x) is None:
                raise NotCompilable(
                    f"{op.name} uses a tensor that is not an argument of the function; make it an argument."
                )
            x = number_of(x)
        elif not isinstance(x, (int, float)):
            raise NotCompilable(f"{op.name} is applied to {type(x).__name__}; only tensors and numbers can be fused.")
        return repr(float(x))

    def source(self, result: str, count: int) -> tuple[str, int]:
        """The text of the two loops, and how many values the forward loop keeps for the backward loop, which computes the others again."""
        inputs = [f"x{i}" for i in range(count)]
        values, slopes = [], []
        for op, names, out, number in self.lines:
            value, *rules = (loop_source(op) or ()) if number is None else power(number)
            words = dict(zip(op.inputs, names, strict=True)) | {"out": out, "g": "g_" + out}
            values.append((out, names, filled(value, words)))
            slopes.append(
                (out, [(f"g_{x}", filled(rule, words)) for x, rule in zip(names, rules, strict=True) if x[0] in "xv"])
            )
        sums, lines = {f"g_{result}"}, []
        for out, step in reversed(slopes):
            if f"g_{out}" not in sums:  # nothing that the result depends on
                continue
            for target, text in step:
                lines.append(f"{target} = {target} + ({text})" if target in sums else f"{target} = {text}")
                sums.add(target)
        saved, again = _to_keep(values, lines)
        load = [f"{x} = {x}_[i]" for x in inputs]
        keep = [f"kept[{n}, i] = {out}" for n, out in enumerate(saved)]
        argument = ", ".join(x + "_" for x in inputs)
        forward = [*load, *[f"{out} = {text}" for out, _, text in values], *keep, f"out[i] = {result}"]
        fetch = [f"{out} = kept[{n}, i]" for n, out in enumerate(saved)]
        store = [f"d{i}[i] = {f'g_x{i}' if f'g_x{i}' in sums else 0}" for i in range(count)]
        backward = [*load, *fetch, *again, f"g_{result} = g[i]", *lines, *store]
        return (
            f"def forward({argument}, kept, out):\n    for i in range(out.size):\n" + _body(forward)
            + f"\ndef backward(g, {argument}, kept, {', '.join(f'd{i}' for i in range(count))}):\n    for i in range(g.size):\n"
            + _body(backward)
        ), len(saved)  # fmt: skip


def _to_keep(values, lines):
    """Of the values that the backward lines read: those to keep, because a function would have to be called, and lines for the rest."""
    needed = set(re.findall(r"\bv\d+\b", "\n".join(lines)))
    selected, again = [], []
    for out, names, text in reversed(values):
        if out not in needed:
            continue
        if any(call in text for call in COSTLY):
            selected.append(out)
        else:
            again.append(f"{out} = {text}")
            needed.update(names)
    return selected, again[::-1]


def _body(lines: list[str]) -> str:
    return "".join(f"        {line}\n" for line in lines)


# Attributes about a tensor's place in the graph and in memory. Reading them is no operation, so the trace does not record it, and they may
# differ at the next call.
_OF_ITS_PLACE = {"grad", "grad_fn", "is_leaf", "is_inference", "requires_grad", "retains_grad", "stride"}
_RECORDED = ("minigrad.core.op", "minigrad.ops.", "minigrad.nn.functional", "minigrad.tensors.indexing")


def _surroundings(function) -> Surroundings:
    """What the function reads besides its arguments. Raises NotCompilable for what a loop would not repeat, or could change unnoticed."""
    around = Surroundings(function)
    if around.tensors:
        name, _ = next(iter(around.tensors.values()))
        raise NotCompilable(f"it reads {name}, a tensor that may change between calls; make it an argument.")
    for name in sorted(around.attributes_read):
        makes = getattr(getattr(minigrad, name, None), "__module__", None) or "minigrad.ops."
        if name in _OF_ITS_PLACE or (makes.startswith("minigrad.") and not makes.startswith(_RECORDED)):
            raise NotCompilable(
                f"it reads {name}, which is no operation and may change between calls; make it an argument."
            )
    return around


def _always() -> bool:
    return True


class CompiledFunction:
    """What `compile` returns: call it as the function. `why` is None while it is fused or a program, else the reason in a
    sentence; `source` is the text of the loop or program.
    """

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function
        self._step = CompiledStep(function)  # what cannot be one loop may be a program
        self._step.quiet = True
        self._loop: str | None = None
        self._reason: str | None = None
        self._rows: dict[Any, Any] = {}
        self._warned: set[str] = set()

    def __call__(self, *args, **kwargs):
        key: list[Any] = []
        for a in args:
            if isinstance(a, Variable):
                if a.batched:
                    return self.function(*args, **kwargs)
                key.append((a.array.shape, a.array.dtype.char))
            else:
                key.append((type(a), a) if isinstance(a, _FIXED) else None)
        if kwargs or state.handlers or state.anomaly or None in key:
            return self._step(*args, **kwargs)
        entry = self._rows.get(tuple(key))
        if entry is None or not entry[1]():
            entry = self._rows[tuple(key)] = self._trace(args)
        fused, _, self._reason = entry
        return self._step(*args) if fused is None else fused(*[a for a in args if isinstance(a, Variable)])

    def __reduce__(self):
        return pickled(self, self.function)

    def __get__(self, owner, kind=None):
        return self if owner is None else self._step.__get__(owner)

    @property
    def why(self) -> str | None:
        if self._reason is None or self._step._programs and self._step.why is None:
            return None
        inner = self._step.why
        return inner or f"{self.function.__name__} runs as it is so far: {self._reason}"

    @property
    def source(self) -> str | None:
        return self._loop if self._reason is None else self._step.source

    def warm(self) -> None:
        self._step.warm()

    def _trace(self, args):
        holds = _always
        try:
            if not find_spec("numba"):
                raise NotCompilable("numba is not installed.")
            holds = _surroundings(self.function).holds()
            return self._fused(args), holds, None
        except NotCompilable as reason:
            why = str(reason)
        except NumbersNeeded:
            why = "it reads the numbers of a tensor, so its course depends on them."
        if why not in self._warned:
            self._warned.add(why)
            warn(f"{self.function.__name__} is not fused to one loop: {why}")
        return None, holds, why

    def _fused(self, args):
        tensors = [a for a in args if isinstance(a, Variable)]
        if not tensors:
            raise NotCompilable("no argument is a tensor.")
        kinds, shapes = {t.array.dtype.name for t in tensors}, {t.array.shape for t in tensors}
        if len(kinds) > 1 or not kinds <= {"float32", "float64"}:
            raise NotCompilable(f"the arguments must be all float32 or all float64, not {', '.join(sorted(kinds))}.")
        if len(shapes) > 1:
            raise NotCompilable(
                f"the arguments must have one shape, not {', '.join(map(str, sorted(shapes)))}; expand them first."
            )
        (kind,) = kinds
        blanks = [wrap(np.empty(t.array.shape, t.array.dtype).view(Sample)) for t in tensors]
        trace = Trace(blanks)
        saved_values = iter(blanks)
        with trace:
            result = self.function(*[next(saved_values) if isinstance(a, Variable) else a for a in args])
        if not isinstance(result, Variable) or not trace.lines or id(result) not in trace.names:
            raise NotCompilable("it must return one tensor that it has computed.")
        self._loop, saved = trace.source(trace.names[id(result)], len(tensors))
        key = self._loop, kind
        if key not in _kernels:
            from .kernels.fused_numba import build

            _kernels[key] = build(*key)
        row = _make_row(self.function, args, *_kernels[key])

        spare: list[
            np.ndarray
        ] = []  # the last call's, used again once no graph holds it: fresh memory costs more than the loop

        def fused(*tensors):
            try:
                values = spare.pop()  # list.pop is atomic, so no other thread can hold it
            except IndexError:
                values = None
            if values is None or holders(values):
                first = tensors[0].array
                values = np.empty((saved, first.size), first.dtype)
            out = row.call(*tensors, values)
            spare[:] = (values,)
            return out

        return fused


def _make_row(function, args, forward, backward) -> Op:
    """The row of one fused function. It is in no table: its derivative beyond the first is that of the plain function.

    What the forward loop keeps goes into an array that the caller brings, the row's one parameter: a row per value.
    """
    places = [i for i, a in enumerate(args) if isinstance(a, Variable)]
    names = [f"x{i}" for i in range(len(places))]

    def plain(*tensors):
        values = list(args)
        for place, t in zip(places, tensors, strict=True):
            values[place] = t
        return function(*values)

    args = [None if isinstance(a, Variable) else a for a in args]  # hold no tensor

    def run(kept, *arrays):
        out = np.empty(arrays[0].shape, arrays[0].dtype)
        forward(*[a.ravel() for a in arrays], kept, out.ravel())
        return out

    def pull(g, kept, *xs):
        if type(g) is not np.ndarray:
            return vjp(plain, *xs)[1](g)
        out = [np.empty(x.shape, x.dtype) for x in xs]
        backward(g.ravel(), *[a.ravel() for a in xs], kept, *[d.ravel() for d in out])
        return tuple(out)

    listed = ", ".join(names)
    scope: dict[str, Any] = {"run": run, "pull": pull}
    joint_rule = f"lambda g, {listed}, kept: pull(g, kept, {listed})"
    rules = "".join(
        f"    '{x}': lambda g, {listed}, kept: pull(g, kept, {listed})[{i}],\n" for i, x in enumerate(names)
    )
    exec(
        f"forward = lambda {listed}, kept: run(kept, {listed})\njoint_rule = {joint_rule}\nrules = {{\n{rules}}}", scope
    )  # noqa: S102
    row = Op("fused", scope["forward"], GENERAL, args=" ".join(names), joint_rule=scope["joint_rule"], **scope["rules"])
    for key in [key for key, other in TABLE.items() if other is row]:
        del TABLE[key]
    return row


def compile(function=None, **options):
    """What `minigrad.compile` is (api.py). PyTorch's options (mode, fullgraph, ...) are accepted and change nothing."""
    if function is None:
        return functools.partial(compile, **options)
    if isinstance(function, (types.FunctionType, types.MethodType)) and is_step(function):
        return CompiledStep(function)
    if not isinstance(function, types.FunctionType):
        name = f"{getattr(function, '__name__', type(function).__name__)}"
        warn(f"{name} runs as it is, not fused: only plain functions of tensors can be.")
        return function
    return CompiledFunction(function)
