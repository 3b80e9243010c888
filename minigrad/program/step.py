"""`CompiledStep`: a step that runs as it is until its program is known, and then as its program.

What lives here: when a step is recorded, when a program is trusted, and what `why` says. What does not: how (recorder.py, text.py).
"""
import functools
import inspect
import types
import warnings
from typing import Any

from ..core.dispatch import state
from ..core.variable import Variable
from .recorder import Recorder, one_at_a_time
from .surroundings import Surroundings, Unfit, fixed
from .text import MISS, Program

TRIES = 8  # recordings that differ from the one before, until a step is taken to change from call to call
PROGRAMS = 8  # kinds of arguments for which a program is kept
NAMES = {"backward", "grad", "step", "no_grad", "enable_grad", "zero_grad", "inference_mode", "detach"}


def is_step(function) -> bool:
    """Does the function, or a helper of it, go back through a graph or change anything? Else it is one that others differentiate."""
    todo: list[Any] = [getattr(function, "__func__", function)]
    seen: set[Any] = set()
    for f in todo:  # grows
        if not isinstance(f, types.FunctionType) or f in seen or (seen and (f.__module__ or "").startswith("minigrad.")):
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


def _filled(cell) -> bool:
    try:
        return isinstance(cell.cell_contents, types.FunctionType)
    except ValueError:
        return False


class CompiledStep:
    """What `compile` returns for a step: call it as the step.

    source  the program that ran last, as Python; None while there is none
    why     None, or the sentence why the step runs as it is
    """

    def __init__(self, step):
        functools.update_wrapper(self, step)
        self.step = step
        self.why: str | None = None
        self.source: str | None = None
        self._programs: list[Program] = []
        self._last: dict[Any, str] = {}  # by kind of arguments: the text of the last recording
        self._tries: dict[Any, int] = {}
        self._calls = 0
        self._said: set[str] = set()
        self._names = _names_of(step)

    def __call__(self, *args, **kwargs):
        if not kwargs:
            for program in self._programs:
                out = program.run(*args)
                if out is not MISS:
                    return out
        return self._slow(args, kwargs)

    def _slow(self, args, kwargs):
        """Run the step as usual, and record it where that is possible."""
        self._calls += 1
        if self._calls == 1 or state.handlers or state.anomaly:  # optimisers make their state in the first step
            return self.step(*args, **kwargs)
        key = tuple([(a.array.shape, a.array.dtype, a.requires) if isinstance(a, Variable) else repr(a) for a in args])
        if self._tries.get(key, 0) > TRIES:
            return self.step(*args, **kwargs)
        if not one_at_a_time.acquire(blocking=False):
            return self.step(*args, **kwargs)
        try:
            return self._record(key, args, kwargs)
        finally:
            one_at_a_time.release()

    def _record(self, key, args, kwargs):
        try:
            self._check(args, kwargs)
            around = Surroundings(self.step)
            recorder = Recorder(around, *self._given(args))
        except Unfit as reason:
            self._unfit(str(reason))
            return self.step(*args, **kwargs)
        with recorder:
            out = self.step(*args, **kwargs)
        try:
            if recorder.why:
                raise Unfit(recorder.why)
            if around.changed():
                raise Unfit("it changes what it reads from around it (an attribute, a list, a number), which a program would not repeat; "
                            "return the new value, or change it outside.")  # fmt: skip
            program = Program(self.__name__, recorder, out, around, list(self._names[: len(args)]), args)
        except Unfit as reason:
            self._unfit(str(reason))
            return out
        self._trust(key, program)
        return out

    def _given(self, args):
        tensors = [(n, a) for n, a in zip(self._names, args, strict=False) if isinstance(a, Variable)]
        return [n for n, _ in tensors], tuple([a for _, a in tensors])

    def _check(self, args, kwargs):
        if kwargs or len(args) > len(self._names):
            raise Unfit("its arguments are given by keyword, or as *args; give them by position.")
        seen = set()
        for name, a in zip(self._names, args, strict=False):
            if isinstance(a, Variable):
                graph = a.edge is not None or (a.view_meta is not None and a.view_meta.base.requires)
                if a.batched or graph or (a.meta is not None and a.meta.hooks is not None):
                    raise Unfit(f"the argument {name} has a graph or hooks from outside; detach it.")
                if vars(a):
                    raise Unfit(f"the argument {name} has attributes of its own ({', '.join(vars(a))}); pass them as arguments.")
                if id(a.array) in seen:
                    raise Unfit(f"the argument {name} is given twice.")
                seen.add(id(a.array))
            elif not fixed(a):
                raise Unfit(f"the argument {name} is a {type(a).__name__}; pass tensors and numbers.")

    def _trust(self, key, program):
        """A program is trusted once two recordings in a row gave the same text: that finds what changes from call to call."""
        if self._last.get(key) == program.text:
            self._programs.insert(0, program)
            del self._programs[PROGRAMS:]
            self.source, self.why = program.source, None
            self._tries.pop(key, None)
            return
        self._last[key] = program.text
        self._tries[key] = self._tries.get(key, 0) + 1
        if self._tries[key] > TRIES:
            self._unfit(f"it changes from call to call: {TRIES} recordings differed.")

    def _unfit(self, sentence):
        self.why = f"{self.__name__} runs as it is: {sentence}"
        if self.why not in self._said:
            self._said.add(self.why)
            warnings.warn(self.why, stacklevel=4)


def _names_of(step):
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in inspect.signature(step).parameters.values() if p.kind in kinds]
