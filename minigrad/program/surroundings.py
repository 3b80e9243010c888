"""All that a step reads besides its arguments, and the guards that detect a change of it.

`Surroundings` is made before a step is recorded. The numbers of tensors are not part of it: a program reads them from memory at every
call.

A program repeats one course of Python code. So everything that the code can reach must be of a kind whose changes are detected: constants,
tensors, lists and dicts of them, modules, optimisers, plain objects, functions of the same sort. Anything else makes the step unfit: it
runs as it is.
"""

from __future__ import annotations

import builtins
import dis
import operator
import types
from collections.abc import Callable
from enum import Enum
from types import CodeType
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.devices import device
from ..core.errors import a_kind
from ..core.op import Op
from ..core.variable import Size, Variable
from ..nn.module import Module
from ..nn.module_hooks import every_module
from ..optim.lr_scheduler import LRScheduler
from ..optim.optimizer import Optimizer, _every_step_after, _every_step_before
from .formulas import NotCompilable

FIXED = (int, float, bool, str, bytes, complex, type(None), type(...), slice, range, dtypes.dtype, device, Size)
# Builtins without side effects whose results depend on nothing but their arguments.
PURE = {
    "abs", "all", "any", "bool", "callable", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "getattr", "hasattr", "int",
    "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min", "next", "object", "pow", "property", "range", "repr",
    "reversed", "round", "set", "slice", "sorted", "str", "sum", "super", "tuple", "type", "zip", "AssertionError", "Exception",
    "IndexError", "NotImplementedError", "RuntimeError", "TypeError", "ValueError",
}  # fmt: skip
ACTING = {
    "manual_seed", "save", "load", "state_dict", "load_state_dict", "set_default_dtype", "record_lines", "add_param_group", "param_groups",
}  # fmt: skip
# Attributes about a tensor's memory and version: they may differ in the next call, and no guard checks them.
OF_MEMORY = {"_version", "data_ptr", "is_contiguous", "storage_offset", "untyped_storage"}
RATES = {*vars(LRScheduler), "last_epoch", "_last_lr", "base_lrs", "_step_count", "getattr", "map"} - {"step"}
MODULES = ("minigrad", "math", "functools", "itertools", "operator")


def _of_engine(module: str) -> bool:
    return (module or "").partition(".")[0] == "minigrad" and not (module or "").startswith("minigrad.course")


class _Plain:
    pass


def fixed(value: Any) -> bool:
    """Is this a constant that cannot be changed in place?"""
    return type(value) in FIXED or isinstance(value, (np.generic, Enum))


def same(now: Any, then: Any) -> bool:
    """Has a constant the same type and value? 1, 1.0 and True are equal, but not the same."""
    return now is then or (type(now) is type(then) and fixed(then) and repr(now) == repr(then))


class Surroundings:
    """Everything that a function reads from around it.

    tensors   {id: (name, tensor)}: those it can reach
    guards    what must still hold, as expressions over `scope`
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.tensors: dict[int, tuple[str, Variable]] = {}
        self.guards: list[str] = []
        self.scope: dict[str, Any] = {"same": same, "MISSING": object()}
        self._seen: dict[int, Any] = {}
        self._names: dict[int, str] = {}
        if every_module or _every_step_before or _every_step_after:
            raise NotCompilable("there are hooks on all modules or on all optimisers; remove them.")
        self.guard(
            f"not ({self.name_of(every_module)} or {self.name_of(_every_step_before)} or {self.name_of(_every_step_after)})"
        )
        self._rates: set[str] = set()  # attributes of schedulers
        self.attributes_read: set[str] = set()  # of anything, and the names of our functions
        self._later: list[tuple[Any, str]] = []  # optimisers, so that parameters are named by their modules
        if isinstance(function, types.FunctionType):  # whoever wrote it
            self.function(function, function.__name__)
        else:
            self.look(function, getattr(function, "__name__", "step"), "the step")
        for optimizer, name in self._later:
            self.optimizer(optimizer, name)
        if read := self.attributes_read & OF_MEMORY:
            raise NotCompilable(f"it reads {min(read)}, which may change from call to call; make it an argument.")
        if read := self.attributes_read & self._rates:
            raise NotCompilable(
                f"it reads {min(read)}, which may be of a scheduler and change from call to call; make it an argument."
            )

    def name_of(self, thing: Any) -> str:
        """The guards' name for an object."""
        if id(thing) not in self._names:
            self._names[id(thing)] = f"k{len(self._names)}"
            self.scope[self._names[id(thing)]] = thing
        return self._names[id(thing)]

    def guard(self, text: str) -> None:
        self.guards.append(text)

    def holds(self) -> Callable[[], bool]:
        """All guards as one function."""
        return eval(f"lambda: {' and '.join(self.guards)}", self.scope)  # noqa: S307

    def changed(self) -> list[str]:
        """The guards that no longer hold, for a sentence."""
        return [guard for guard in self.guards if not eval(guard, self.scope)]  # noqa: S307

    def read(self, place: str, value: Any, name: str) -> None:
        """`place` is an expression that must go on giving `value`."""
        if fixed(value):
            expected = self.name_of(value)
            self.guard(f"({place} is {expected} or same({place}, {expected}))")
        else:
            self.guard(f"{place} is {self.name_of(value)}")
            self.look(value, name, name)

    def look(self, value: Any, name: str, says: str) -> None:
        """Guard the contents of a value, and everything that it reads."""
        if id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, Variable):
            self.tensor(value, name)
        elif _of_engine(type(value).__module__) and isinstance(
            getattr(value, "__wrapped__", None), (types.FunctionType, types.MethodType)
        ):
            self.look(value.__wrapped__, name, says)  # a compiled step: it is recorded as its function
        elif isinstance(value, types.MethodType):
            self.look(value.__self__, getattr(value.__self__, "__name__", "self"), says)
            self.look(value.__func__, name, says)
        elif isinstance(value, types.FunctionType):
            if not _of_engine(value.__module__):
                self.function(value, name)
            else:
                self.attributes_read.add(value.__name__)
        elif isinstance(value, (Op, types.BuiltinFunctionType, types.MethodDescriptorType)):
            owner = getattr(value, "__self__", None)
            if owner not in (None, builtins) and not isinstance(owner, types.ModuleType):
                raise NotCompilable(f"it calls {says}, a method of {a_kind(owner)}; call it outside of the step.")
        elif isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] not in MODULES:
                raise NotCompilable(
                    f"it uses the module {value.__name__}, whose work is not recorded; do that outside and pass the result in."
                )
        elif isinstance(value, type):
            self.functions_of(value, name, may_create=True)
        elif type(value) in (list, tuple, dict, set, frozenset):
            self.container(value, name)
        else:
            self.thing(value, name, says)

    def tensor(self, t: Variable, name: str) -> None:
        if t.batched or t.edge is not None or (t.view_meta is not None and t.view_meta.base.requires):
            raise NotCompilable(
                f"it reads {name}, which was computed with a graph outside of the step; detach it, or compute it inside."
            )
        if t.meta is not None and t.meta.hooks is not None:
            raise NotCompilable(
                f"{name} has hooks, which a program would not call; remove them, or change the gradient in the step itself."
            )
        k = self.name_of(t)
        self.tensors[id(t)] = (name, t)
        self.guard(f"{k}.array is {self.name_of(t.array)} and {k}.requires is {t.requires}")
        if t.requires:  # else it has no node, and no hook of it is called
            self.guard(f"{k}.edge is None and ({k}.meta is None or {k}.meta.hooks is None)")
        self.attributes(vars(t), name)  # users may set attributes on tensors

    def attributes(self, contents: dict[str, Any], name: str) -> None:
        """Guard a __dict__ by its contents; it stays the same dict, and reading the attribute takes longer than a lookup in it."""
        k = self.name_of(contents)
        self.guard(f"len({k}) == {len(contents)}" if contents else f"not {k}")
        for key, item in contents.items():
            self.read(f"{k}.get({key!r}, MISSING)", item, f"{name}.{key}")

    def function(self, f: types.FunctionType, name: str) -> None:
        k = self.name_of(f)
        self.guard(f"{k}.__code__ is {self.name_of(f.__code__)}")
        for attribute in ("__defaults__", "__kwdefaults__"):
            if getattr(f, attribute):
                self.read(f"{k}.{attribute}", getattr(f, attribute), f"the defaults of {name}")
        self.attributes(f.__dict__, name)
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        for code, free in _codes(f.__code__):
            for instruction in dis.get_instructions(code):
                self.instruction(instruction, f, cells, free, name)

    def instruction(self, instruction: Any, f: Callable[..., Any], cells: dict[str, Any], free: set, name: str) -> None:
        kind, what = instruction.opname, instruction.argval
        if kind in ("STORE_GLOBAL", "DELETE_GLOBAL") or (
            kind in ("STORE_DEREF", "DELETE_DEREF") and what in cells and what in free
        ):
            raise NotCompilable(
                f"{name} assigns {what}, a name outside of it, which a program would not repeat; return the new value."
            )
        if kind == "IMPORT_NAME":
            raise NotCompilable(f"{name} imports {what} while it runs; import it at the top.")
        if kind in ("YIELD_VALUE", "SEND") and f.__code__.co_flags & 0x20:
            raise NotCompilable(f"{name} is a generator; return a list.")
        if kind in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL") and (
            what in ACTING or str(what).startswith("register_")
        ):
            raise NotCompilable(
                f"{name} calls {what}, which acts outside of the step and would not be repeated; call it outside."
            )
        if kind in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL"):
            self.attributes_read.add(str(what))
        if kind in ("LOAD_GLOBAL", "LOAD_NAME"):
            self.global_name(f, what, name)
        elif kind in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_CLOSURE") and what in cells and what in free:
            try:
                value = cells[what].cell_contents
            except ValueError:
                raise NotCompilable(f"{name} reads {what} before it has a value.") from None
            self.read(f"{self.name_of(cells[what])}.cell_contents", value, what)

    def global_name(self, f: Callable[..., Any], what: str, name: str) -> None:
        outside = f.__globals__
        if what in outside:
            self.read(f"{self.name_of(outside)}.get({what!r}, MISSING)", outside[what], what)
        elif what not in PURE:
            raise NotCompilable(f"{name} calls {what}, which a program would not repeat; call it outside of the step.")
        else:
            self.guard(f"{what!r} not in {self.name_of(outside)}")

    def functions_of(self, kind: type, name: str, may_create: bool = False) -> None:
        """The methods of a class of the learner's; with `made`, of one whose objects the step may make."""
        for base in kind.__mro__:
            if not _of_engine(base.__module__) and base.__module__ != "builtins":
                k = self.name_of(base)
                self.guard(f"len({k}.__dict__) == {len(vars(base))}")
                for key, value in vars(base).items():
                    inner = getattr(value, "__func__", value)
                    inner = inner.fget if isinstance(inner, property) else inner
                    # A step
                    inner = getattr(inner, "__wrapped__", inner) if _of_engine(type(inner).__module__) else inner
                    if isinstance(inner, types.FunctionType):
                        self.guard(f"{k}.__dict__.get({key!r}) is {self.name_of(value)}")
                        if may_create or key != "__init__":
                            self.look(inner, f"{name}.{key}", key)
                    elif not key.startswith("__"):
                        self.read(f"{k}.__dict__.get({key!r}, MISSING)", value, f"{name}.{key}")

    def container(self, value: Any, name: str) -> None:
        k = self.name_of(value)
        self.guard(f"len({k}) == {len(value)}")
        if isinstance(value, (set, frozenset)):
            self.guard(f"{k} == {self.name_of(frozenset(value))}")
        elif isinstance(value, dict):
            for key, item in value.items():
                if not isinstance(key, (str, int, float, bool, tuple)):
                    raise NotCompilable(f"{name} has {a_kind(key)} as a key; use strings or numbers.")
                self.read(
                    f"{k}.get({self.name_of(key)}, MISSING)",
                    item,
                    f"{name}.{key}" if isinstance(key, str) else f"{name}[{key!r}]",
                )
        else:
            for i, item in enumerate(value):
                self.read(f"{k}[{i}]", item, f"{name}[{i}]")

    def thing(self, value: Any, name: str, says: str) -> None:
        """A module, an optimiser, or an object of a learner's own class."""
        kind, k = type(value), self.name_of(value)
        if isinstance(value, LRScheduler):  # its step() is a line of the program, so its attributes need no guards
            if not _of_engine(kind.step.__module__):
                raise NotCompilable(
                    f"it reads {name}, a {kind.__name__}, whose step is not heard; call {name}.step() after the step."
                )
            self._rates |= RATES | {*vars(value), *vars(kind)} - {"optimizer", "step"}
            self.guard(f"type({k}) is {self.name_of(kind)}")
            self.look(value.optimizer, f"{name}.optimizer", name)
            return
        # All that it holds must be in its __dict__: no list or dict underneath, no slots, nothing written in C.
        plain = not _of_engine(kind.__module__) and kind.__basicsize__ == _Plain.__basicsize__ and not kind.__itemsize__ and (
            hasattr(value, "__dict__") and not any("__slots__" in vars(base) for base in kind.__mro__))  # fmt: skip
        if not isinstance(value, (Module, Optimizer)) and not plain:
            raise NotCompilable(
                f"it reads {says}, {a_kind(value)} that may change between calls; make it an argument, or use it outside."
            )
        if isinstance(value, Optimizer) and any(
            "step" in vars(base) and not _of_engine(base.__module__) for base in kind.__mro__
        ):
            raise NotCompilable(
                f"{name} has a step of its own; define its `rule` or `update`, or write the update into the step."
            )
        self.guard(f"type({k}) is {self.name_of(kind)}")
        self.functions_of(kind, kind.__name__)
        attributes = vars(value)
        if isinstance(value, Optimizer):
            self._later.append((value, name))
            return
        d = self.attributes_of(value)
        if isinstance(value, Module):
            self.no_hooks(value, name)
            for key in ("_parameters", "_buffers", "_modules"):
                part, k = attributes[key], self.name_of(attributes[key])
                self.guard(f"{d}[{key!r}] is {k} and len({k}) == {len(part)}")
                for inner, item in part.items():
                    self.read(f"{k}.get({inner!r})", item, f"{name}.{inner}")
        self.guard(f"len({d}) == {len(attributes)}")
        for key, item in attributes.items():
            if not (isinstance(value, Module) and key.startswith("_") and key in _OF_MODULES):
                self.read(f"{d}.get({key!r}, MISSING)", item, f"{name}.{key}")

    def attributes_of(self, value: Any) -> str:
        """Expression for the object's __dict__; its identity is checked once, because reading it is slow."""
        d = self.name_of(vars(value))
        self.guard(f"{self.name_of(value)}.__dict__ is {d}")
        return d

    def no_hooks(self, value: Module | Optimizer, name: str) -> None:
        """Guard that it has no hooks, all kinds in one call, which takes as long as a single condition."""
        keys = [key for key in vars(value) if key.endswith("hooks")]
        if any([vars(value)[key] for key in keys]):
            raise NotCompilable(f"{name} has hooks, which a program would not call; remove them.")
        self.guard(f"not {self.name_of(any)}({self.name_of(operator.itemgetter(*keys))}({self.name_of(vars(value))}))")

    def optimizer(self, value: Optimizer, name: str) -> None:
        """An optimiser runs as it is, so only its parameters and hooks are guarded: zero_grad() uses them."""
        k = self.name_of(value)
        self.attributes_of(value)
        self.no_hooks(value, name)
        for i, group in enumerate(value.param_groups):
            self.read(f"{k}.param_groups[{i}]['params']", group["params"], f"{name}_{i}")
        self.guard(f"len({k}.param_groups) == {len(value.param_groups)}")


_OF_MODULES = frozenset(key for key in vars(Module()) if key.startswith("_"))


def _codes(code: CodeType, free: Any = None) -> list[Any]:
    """A code object and those inside it, each with its free variables of the outermost function."""
    free = set(code.co_freevars)
    pairs = [(code, free)]
    for inner, names in pairs:  # grows
        pairs += [(c, names - set(inner.co_cellvars)) for c in inner.co_consts if isinstance(c, types.CodeType)]
    return pairs
