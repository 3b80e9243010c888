"""The line of code that made each node, recorded only on demand.

Recording makes an operation a quarter slower. So it costs nothing while it is off: `record_lines` exchanges the function `_result` of
the engine, which makes the node of every operation, for one that also records. After `LINES_KEPT` nodes the plain one is put back.
"""

from __future__ import annotations

import os
import sys
from itertools import islice
from types import FrameType
from typing import Any

from .node import new, numbers

LINES_KEPT = 5_000  # after each call of `record_lines` and each backward()

last = -1  # the last creation number whose line is recorded
_on = False
_numbers_with_line = islice(numbers, 0)  # ends after as many numbers as lines are recorded
_frame = sys._getframe
_FOLDER = os.path.dirname(__file__)
_engine_files = {os.path.join(_FOLDER, name) for name in os.listdir(_FOLDER)}  # their lines are not the user's
_calls: Any = None  # a CallLog (core/call_log.py), which notes in which call a node was made, or None
_outer = _inner = None  # the frames of the last node: nearly always one of them made the next one, too
_engine: dict[str, Any] = {}  # the globals of scalar.py
_kind: Any = None
_plain_result: Any = None


def attach(engine: dict[str, Any], kind: type) -> None:
    """Called once by the engine, with its globals and the class of its results."""
    global _engine, _kind, _plain_result
    _engine, _kind, _plain_result = engine, kind, engine["_result"]
    path = engine["__file__"]
    _engine_files.update((path, path.replace("scalar.py", "micro.py")))


def record_lines(on: bool = True, calls: Any = None) -> None:
    """Record the line of code behind each of the next 5,000 Values, and after each `backward()` again; or stop doing so.

    calls: a `CallLog`, which then notes the calls of functions in which they were made. The notebook extension calls this before every
    cell. `trace` then shows each node's line, and its groups. Off by default.
    """
    global _on, _calls
    release_frames()
    _on, _calls = on, calls if on else None
    start()


def start() -> None:
    """Begin to count the recorded lines again, if recording is on."""
    global _numbers_with_line, last
    release_frames()
    _numbers_with_line = islice(numbers, LINES_KEPT)
    last = next(numbers) + LINES_KEPT if _on else -1
    _engine["_recording"], _engine["_last_line"] = _on, last
    _engine["_result"] = _result_with_line if _on else _plain_result


def release_frames() -> None:
    """Drop the references to the last call's frame, so that its local variables can be freed. The notebook extension calls it after every
    cell."""
    global _outer, _inner
    _outer = _inner = None
    if _calls is not None:
        _calls.release(next(numbers))


def recording() -> bool:
    """Are lines being recorded?"""
    return _on


def _result_with_line(op, data, a, da, b=None, db=None, k=None):  # type: ignore[no-untyped-def]  # as `_result`
    out = new(_kind)  # `_result` written out: calling it would be a third of the cost of recording
    out.data = data
    out.grad = 0.0
    out.label = ""
    out._op = op
    out._a = a
    out._da = da
    out._b = b
    out._db = db
    out._k = k
    try:
        out._seq = out._seen = next(_numbers_with_line)
    except StopIteration:
        release_frames()
        _engine["_result"] = _plain_result
        return _plain_result(op, data, a, da, b, db, k)
    frame = _frame(2)
    out._code = frame.f_code
    out._offset = frame.f_lasti
    if frame is not _outer and frame is not _inner:
        _record_outer(out, frame)
    return out


def _record_outer(node: Any, frame: FrameType) -> None:
    """Record the frame of the user's code: `frame`, or if that is the engine's, one further out."""
    global _outer, _inner
    if frame.f_code.co_filename in _engine_files:
        del node._code, node._offset
        record(node, frame)
        note_call(node._seq, frame)
    elif _calls is not None:
        _outer, _inner = _calls.note(node._seq, frame)
    else:
        _outer, _inner = frame, None


def note_call(number: float, frame: FrameType) -> None:
    """Note the call in which the node with this number was made."""
    global _outer, _inner
    _outer = _inner = None
    if _calls is not None:
        _calls.note(number, frame)


def record_made(node: Any, frame: FrameType) -> None:
    """Record the line of a node that was made without `_result`; of a custom operation, its call as well."""
    record(node, frame)
    if node._a is not None:
        note_call(node._seq, frame)


def record(node: Any, frame: FrameType | None) -> None:
    """Record the innermost line that is not the engine's."""
    while frame is not None and frame.f_code.co_filename in _engine_files:
        frame = frame.f_back
    if frame is not None:
        node._code, node._offset = frame.f_code, frame.f_lasti
