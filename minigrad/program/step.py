"""`CompiledStep`: a step that runs as it is until its program is known, and then as its program.

What lives here: when a step is recorded, when a program is trusted, and what `why` says. What does not: how (recorder.py, text.py).
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import types
import weakref
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from ..core.dispatch import state
from ..core.errors import warn
from ..core.variable import Variable
from .recorder import Recorder, one_at_a_time
from .surroundings import NotCompilable, Surroundings, fixed
from .text import MISS, Program, RecordedCall

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

TRIES = 8  # recordings that differ from the one before, until a step is taken to change from call to call
PATIENCE = 100  # calls of a program until its loops are compiled
PATIENT = 4  # calls in a row of which nothing could be made, until some are left out
OWNERS = 8  # objects whose method is remembered as a step
PROGRAMS = 8  # kinds of arguments for which a program is kept
NAMES = {"backward", "grad", "step", "no_grad", "enable_grad", "zero_grad", "inference_mode", "detach"}


def is_step(function: Callable[..., Any]) -> bool:
    """Does the function, or a helper of it, go back through a graph or change anything? Else it is one that others differentiate."""
    todo: list[Any] = [getattr(function, "__func__", function)]
    seen: set[Any] = set()
    for f in todo:  # grows
        if (
            not isinstance(f, types.FunctionType)
            or f in seen
            or (seen and (f.__module__ or "").startswith("minigrad."))
        ):
            continue
        seen.add(f)
        codes = [f.__code__]
        for code in codes:  # grows
            if NAMES.intersection(code.co_names):
                return True
            codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        todo += [f.__globals__.get(name) for code in codes for name in code.co_names]
        todo += [cell.cell_contents for cell in f.__closure__ or () if _filled(cell)]
    return isinstance(function, types.MethodType)


def _filled(cell: Any) -> bool:
    try:
        return isinstance(cell.cell_contents, types.FunctionType)
    except ValueError:
        return False


class Looped:
    """A program whose loops are compiled beside it after a number of calls; until then it runs line by line."""

    def __init__(self, plain: Program, program: Program) -> None:
        self.plain, self.program = plain, program
        program.scope["in_lines"] = plain.run
        self.run = self._count
        self.ready = False  # may `run` be kept by who calls it?
        self.error: Exception | None = None
        self._calls = 0
        self._thread = threading.Thread(target=self._compile, name="minigrad compiles loops", daemon=True)

    def _count(self, *args: Any) -> Any:
        self._calls += 1
        if self._calls == PATIENCE:
            self._thread.start()
        return self.plain.run(*args)

    def _compile(self) -> None:
        from ..kernels.fused_numba import build_loop

        try:
            for name, loop in self.program.loops.items():
                if loop not in _loops:
                    _loops[loop] = build_loop(*loop)
                self.program.scope[name] = _loops[loop]
            self.run = self._first
        except Exception as error:  # noqa: BLE001 (whatever it is: the lines run)
            self.error, self.run, self.ready = error, self.plain.run, True

    def _first(self, *args: Any) -> Any:
        """The first call through the loops: numba looks at what each is given. Later it need not, which takes longer than a small loop:
        the guards hold, so it will be the same again."""
        out = self.program.run(*args)
        if out is not MISS:
            for name in self.program.loops:
                overloads = [*getattr(self.program.scope[name], "overloads", {}).values()]
                if len(overloads) == 1:
                    self.program.scope[name] = overloads[0].entry_point
            self.run, self.ready = self.program.run, True
        return out

    def hand_on(self, otherwise: Callable[..., Any]) -> None:
        for program in (self.plain, self.program):
            program.hand_on(otherwise)

    @property
    def shown(self) -> Program:
        """The program to read."""
        return self.plain if self.error else self.program

    def warm(self) -> None:
        if self._calls < PATIENCE:
            self._calls = PATIENCE
            self._thread.start()
        self._thread.join()
        if self.error:
            raise RuntimeError(f"the loops of {self.plain.name_of_step} cannot be compiled") from self.error


_loops: dict[Any, Any] = {}  # (text, dtype, arrays): the compiled function


def pickled(compiled: Any, function: Callable[..., Any]) -> str | tuple[Any, ...]:
    """What `__reduce__` gives. A program is of the tensors of one process: a copy has none and compiles the function again."""
    owner: Any = sys.modules.get(compiled.__module__)
    name = compiled.__qualname__
    if isinstance(function, types.MethodType):
        owner, name = function.__self__, function.__name__
    attribute = functools.reduce(lambda place, part: getattr(place, part, None), name.split("."), owner)
    if attribute is not compiled:
        return type(compiled), (function,)
    return (getattr, (owner, name)) if isinstance(function, types.MethodType) else name


class CompiledStep:
    """What `compile` returns for a step: call it as the step.

    source  the newest program, as Python; None while there is none
    why     None, or the sentence why the step runs as it is
    """

    # What a call of it calls: once the newest program is ready, that itself
    __slots__ = (
        "__call__",
        "__dict__",
        "__weakref__",
    )

    __name__: str
    __wrapped__: Any

    def __init__(self, step: Callable[..., Any]) -> None:
        functools.update_wrapper(self, step)
        self._looks = functools.partial(CompiledStep._look, cast(CompiledStep, weakref.proxy(self)))  # without a cycle
        self.__call__ = functools.partial(self._looks, None)
        self.step: Any = step
        self.why: str | None = None
        self._programs: list[Any] = []
        self._last: dict[Any, str] = {}  # by kind of arguments: the text of the last recording
        self._tries: dict[Any, int] = {}
        self._calls = 0
        self._failures: dict[Any, int] = {}  # by kind of arguments: how often nothing could be made of a call
        self._rest: dict[Any, int] = {}  # and how many calls are not recorded after that
        self._warned: set[str] = set()
        self._signature = inspect.signature(step)
        self._plain = all(
            [p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in self._signature.parameters.values()]
        )
        self._owners: dict[int, CompiledStep] = {}
        self.quiet = False

    def __reduce__(self) -> str | tuple[Any, ...]:
        return pickled(self, self.step)

    def __get__(self, owner: Any, kind: Any = None) -> CompiledStep:
        """As a method: a step of its own for each object, of which the last are remembered."""
        if owner is None:
            return self
        result = self._owners.get(id(owner))
        if result is None or result.step.__self__ is not owner:
            result = self._owners[id(owner)] = CompiledStep(types.MethodType(self.step, owner))
            for old in list(self._owners)[:-OWNERS]:
                del self._owners[old]
        return result

    def _look(self, after: Any, /, *args: Tensor, **kwargs: Any) -> Any:
        """Call the first program whose guards hold, of those that come after one."""
        if kwargs:
            try:
                args, kwargs = self._by_position(args, kwargs)
            except TypeError:  # the step itself raises the error
                return self.step(*args, **kwargs)
            if not kwargs:
                return self(*args)
        else:
            first = self._programs.index(after) + 1 if after in self._programs else 0
            for number, program in enumerate(self._programs[first:], first):
                out = program.run(*args)
                if out is not MISS:
                    if number == 0 and program.ready:  # from now on it is called at once, and looks for another itself
                        program.hand_on(functools.partial(self._looks, program))
                        self.__call__ = program.run
                    return out
        return self._slow(args, kwargs)

    def _by_position(self, args: tuple[Tensor, ...], kwargs: Any) -> tuple[Any, ...]:
        """Arguments given by keyword, as if given by position; as they are where that cannot be."""
        bound = self._signature.bind(*args, **kwargs)
        if bound.kwargs:
            bound.apply_defaults()
        return (args, kwargs) if bound.kwargs else (bound.args, {})

    def _names(self, count: Any) -> list[str]:
        """What the first arguments are called."""
        result: list[str] = []
        for name, p in self._signature.parameters.items():
            if p.kind is p.VAR_POSITIONAL:
                result += [f"{name}_{i}" for i in range(count - len(result))]
            elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                result.append(name)
        return result[:count]

    @property
    def shown(self) -> Program | None:
        """The newest program, to read."""
        newest = self._programs[0] if self._programs else None
        return newest.shown if isinstance(newest, Looped) else newest

    @property
    def source(self) -> str | None:
        return None if self.shown is None else self.shown.source

    def warm(self) -> None:
        """Wait until the loops of all its programs are compiled, which otherwise happens beside them."""
        for program in self._programs:
            if isinstance(program, Looped):
                program.warm()

    def _slow(self, args: tuple[Tensor, ...], kwargs: dict[Any, Any]) -> Any:
        """Run the step as usual, and record it where that is possible."""
        self._calls += 1
        if self._calls == 1 or state.handlers or state.anomaly:  # optimisers make their state in the first step
            return self.step(*args, **kwargs)
        key = tuple([(a.array.shape, a.array.dtype, a.requires) if isinstance(a, Variable) else repr(a) for a in args])
        rest = self._rest.get(key, 0)
        if self._tries.get(key, 0) > TRIES or rest:
            self._rest[key] = rest - 1
            return self.step(*args, **kwargs)
        if not one_at_a_time.acquire(blocking=False):
            return self.step(*args, **kwargs)
        try:
            return self._record(key, args, kwargs)
        finally:
            one_at_a_time.release()

    def _record(self, key: Any, args: Any, kwargs: dict[Any, Any]) -> Any:
        try:
            self._check(args, kwargs)
            around = Surroundings(self.step)
            recorder = Recorder(around, *self._tensors_of(args))
        except NotCompilable as reason:
            self._unfit(str(reason), key)
            return self.step(*args, **kwargs)
        with recorder:
            out = self.step(*args, **kwargs)
        try:
            if recorder.why:
                raise NotCompilable(recorder.why)
            if around.changed():
                raise NotCompilable(
                    "it changes what it reads from around it (an attribute, a list, a number), which a program would not repeat; "
                    "return the new value, or change it outside."
                )
            plain = self._plain and len(args) == len(self._signature.parameters)
            call = RecordedCall(self.__name__, recorder, out, around, self._names(len(args)), args, plain)
            program = Program(call)
            if self._trust(key, program) and find_spec("numba"):
                program = Program(call, loops=True)
                if program.loops:
                    self._programs[0] = Looped(self._programs[0], program)
        except NotCompilable as reason:
            self._unfit(str(reason), key)
        return out

    def _tensors_of(self, args: tuple[Tensor | float, ...]) -> tuple[Any, ...]:
        tensors = [(n, a) for n, a in zip(self._names(len(args)), args, strict=False) if isinstance(a, Variable)]
        return [n for n, _ in tensors], tuple([a for _, a in tensors])

    def _check(self, args: tuple[Tensor | float, ...], kwargs: dict[Any, Any]) -> None:
        names = self._names(len(args))
        if kwargs or len(args) > len(names):
            raise NotCompilable("it has arguments that can only be given by keyword; give them by position.")
        seen = set()
        for name, a in zip(names, args, strict=True):
            if isinstance(a, Variable):
                graph = a.edge is not None or (a.view_meta is not None and a.view_meta.base.requires)
                if a.batched or graph or (a.meta is not None and a.meta.hooks is not None):
                    raise NotCompilable(f"the argument {name} has a graph or hooks from outside; detach it.")
                if vars(a):
                    raise NotCompilable(
                        f"the argument {name} has attributes of its own ({', '.join(vars(a))}); pass them as arguments."
                    )
                if id(a.array) in seen:
                    raise NotCompilable(f"the argument {name} is given twice.")
                seen.add(id(a.array))
            elif not fixed(a):
                raise NotCompilable(f"the argument {name} is a {type(a).__name__}; pass tensors and numbers.")

    def _trust(self, key: tuple[Any, ...], program: Program) -> bool:
        """A program is trusted once two recordings in a row gave the same text: that finds what changes from call to call."""
        if self._last.get(key) == program.text:
            self._programs.insert(0, program)
            del self._programs[PROGRAMS:]
            self.__call__ = functools.partial(self._looks, None)
            self.why = None
            self._tries.pop(key, None)
            return True
        self._last[key] = program.text
        self._tries[key] = self._tries.get(key, 0) + 1
        if self._tries[key] > TRIES:
            self._unfit(f"it changes from call to call: {TRIES} recordings differed.")
        return False

    def _unfit(self, sentence: str, key: Any = None) -> None:
        """It runs as it is. What fails again and again is tried more and more rarely: recording costs more than the step."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        if failures > PATIENT:
            self._rest[key] = 2 ** min(failures, 10)
        self.why = f"{self.__name__} runs as it is: {sentence}"
        if self.why not in self._warned and not self.quiet:
            self._warned.add(self.why)
            warn(self.why)
