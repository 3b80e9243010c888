"""Which call of the learner's own code made a node: functions, methods with their objects, calls of minigrad's modules.

What lives here: the log, one entry for each call and one for each change of call, filled while lines are recorded. What does not: names,
groups and pictures (tracing/groups.py). Nodes have numbers in the order of their creation, so no node carries anything for it.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from types import CodeType, FrameType
from typing import Any, NamedTuple
from weakref import ref

not_the_learners: set[str] = set()  # files: nodes made in them are attributed to the line that called them
KEPT = 20_000  # calls, and changes of call; a training loop forgets its oldest ones

_ENGINE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
_MICRO, _NN = os.path.join(_ENGINE, "micro.py"), os.path.join(_ENGINE, "nn", "")
_LIBRARY, _PACKAGES = os.path.join(os.path.dirname(os.__file__), ""), os.sep + os.path.join("site-packages", "")
_PARTS = {"<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"}

FUNCTION, METHOD, PART, ENGINE, OUTERMOST = range(5)


class Call(NamedTuple):
    """One call. `parent` is the call it was made in, -1 for none; `place` the code and the offset in it that made the call."""

    parent: int
    code: CodeType
    owner: Any  # weak reference to `self`, or None
    place: tuple[CodeType, int] | None


class CallLog:
    """The calls in which nodes were made. Calls have numbers from 0 on; the oldest ones are forgotten."""

    def __init__(self) -> None:
        self.calls: list[tuple] = []  # the fields of Calls
        self.forgotten = 0  # so many calls are no longer in the list
        self.turns: list[
            tuple[float, int]
        ] = []  # (number of a node, the call it and those after it were made in, or -1)
        self._stack: list[tuple[FrameType, int]] = []  # the calls around the last node, outermost first
        self._kinds: dict[int, tuple[int, CodeType]] = {}  # by id: hashing a code object reads all of it, every time

    def note(self, number: float, frame: FrameType) -> tuple[FrameType, FrameType | None]:
        """The node with this number was made in `frame`, or by a function that it called. Returns the frame of the user's call, and the
        frame inside it that is not the user's own: as long as one of them makes nodes, there is nothing new to note."""
        inner, kind = None, self._kind(frame)
        while kind == PART or kind == ENGINE:
            inner = frame if kind == PART else None
            if frame.f_back is None:
                break
            frame = frame.f_back
            kind = self._kind(frame)
        if not self._stack or self._stack[-1][0] is not frame:
            self._enter(frame)
        call = self._stack[-1][1] if self._stack else -1
        if not self.turns or self.turns[-1][1] != call:
            self.turns.append((number, call))
        return frame, inner

    def release(self, number: float) -> None:
        """Drop all references to frames; nodes from this number on were made in no known call."""
        self._stack.clear()
        if self.turns and self.turns[-1][1] != -1:
            self.turns.append((number, -1))
        if len(self.turns) > KEPT:
            del self.turns[: KEPT // 2]
        if len(self.calls) > KEPT:
            self.forgotten += KEPT // 2
            del self.calls[: KEPT // 2]

    def call_of(self, number: float) -> int:
        """The call in which the node with this number was made; -1 if it is not known."""
        i = bisect_right(self.turns, (number, float("inf"))) - 1
        return self.turns[i][1] if i >= 0 and self.turns[i][1] >= self.forgotten else -1

    def __getitem__(self, call: int) -> Call:
        return Call(*self.calls[call - self.forgotten])

    def _enter(self, frame: FrameType) -> None:
        stack = self._stack
        new: list[FrameType] = []
        at: FrameType | None = frame
        depth = 0
        while at is not None:
            depth = len(stack)
            while depth and stack[depth - 1][0] is not at:
                depth -= 1
            if depth:
                break
            kind = self._kind(at)
            if kind <= METHOD:
                new.append(at)
            at = None if kind == OUTERMOST else at.f_back
        del stack[depth:]
        for inner in reversed(new):
            parent = self._stack[-1][1] if self._stack else -1
            self.calls.append((parent, inner.f_code, self._owner(inner), self._place(inner)))
            self._stack.append((inner, self.forgotten + len(self.calls) - 1))

    def _kind(self, frame: FrameType) -> int:
        code = frame.f_code
        try:
            return self._kinds[id(code)][0]
        except KeyError:
            kind = _kind_of(code, frame)
            self._kinds[id(code)] = kind, code
            return kind

    def _owner(self, frame: FrameType) -> Any:
        if self._kind(frame) != METHOD:
            return None
        try:
            return ref(frame.f_locals[frame.f_code.co_varnames[0]])
        except (TypeError, KeyError):  # a class without __weakref__; `del self`
            return None

    def _place(self, frame: FrameType) -> tuple[CodeType, int] | None:
        caller = frame.f_back
        while caller is not None and self._kind(caller) == ENGINE:
            caller = caller.f_back
        return None if caller is None else (caller.f_code, caller.f_lasti)


def _kind_of(code: CodeType, frame: FrameType) -> int:
    if code.co_name in _PARTS:
        return PART
    is_method = code.co_argcount > 0 and code.co_qualname.rpartition(".")[0].rpartition(".")[2] not in ("", "<locals>")
    if code.co_filename.startswith(_ENGINE):
        module = (
            code.co_filename == _MICRO
            and code.co_name == "__call__"
            or code.co_filename.startswith(_NN)
            and code.co_name == "forward"
        )
        return METHOD if module and is_method else ENGINE
    if code.co_name == "<module>" or code.co_filename.startswith(_LIBRARY) or _PACKAGES in code.co_filename:
        return OUTERMOST
    if is_method:
        owner = frame.f_locals.get(code.co_varnames[0])
        return ENGINE if hasattr(owner, "_prev") else METHOD  # a method of a number's own class is an operation
    return FUNCTION


VALUES = CallLog()
