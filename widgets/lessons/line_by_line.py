"""A program followed line by line: Python's own line events, the lines of a function, and the listing that marks where it stands.

What lives here: `follow`, `source`, `listing`. What does not: what a lesson notes at each line (grow.py, versions.py).
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import Any

from .lesson import esc, label, tag

OPCODES = 50_000  # of Python's bytecode, in the program's own lines
HERE = ".mgl .here{fill:var(--fwd-soft)}"


class TooLong(Exception):
    pass


def follow(code: CodeType, call: Callable[[], object], note: Callable[[FrameType, int | None, object], None]) -> None:
    """Call `call`, and after each line of `code` note(frame, line number, returned value). The number is None before the first line."""
    last: int | None = None
    ran = 0

    def local(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal last, ran
        if event == "opcode":  # in Python 3.11 an empty loop has no line events
            ran += 1
            if ran > OPCODES:
                raise TooLong("this line runs on and on. Show a shorter run.")
        elif event == "line":
            note(frame, last, None)
            last = frame.f_lineno
        elif event == "return":
            note(frame, last, arg)
        return local

    def watch(frame: FrameType, event: str, _arg: object) -> Any:
        if frame.f_code is not code:
            return None
        frame.f_trace_opcodes = True
        return local

    outer = sys.gettrace()
    sys.settrace(watch)
    try:
        call()
    finally:
        sys.settrace(outer)


def source(f: Callable) -> tuple[list[str], int]:
    """The lines of a function's body as people read them, and the number of the first; without its head and docstring."""
    try:
        lines, first = inspect.getsourcelines(f)
        if f.__name__ == "<lambda>":
            return [line.strip() for line in lines], first
        body = ast.parse(textwrap.dedent("".join(lines))).body[0].body  # type: ignore[attr-defined]
    except (OSError, TypeError, SyntaxError, AttributeError):
        return [], getattr(getattr(f, "__code__", None), "co_firstlineno", 0)
    start = body[1 if ast.get_docstring(ast.parse(textwrap.dedent("".join(lines))).body[0]) and len(body) > 1 else 0]  # type: ignore[arg-type]
    text = textwrap.dedent("".join(lines[start.lineno - 1 :])).rstrip()
    return text.splitlines(), first + start.lineno - 1


def listing(
    lines: Sequence[str], ran: Sequence[int | None], finished: bool, failed: bool = False
) -> tuple[str, float, float]:
    """The program's lines as a drawing, its width and height. ran: the indices of the lines that have run; the last of them is marked, with
    a cross if it failed. Lines that never ran are pale in the end."""
    wide = max([len(line) for line in lines], default=0)
    width, out = 88 + 8.2 * wide, ""
    for i, line in enumerate(lines):
        y, times = 34.0 + 24 * i, ran.count(i)
        if ran and i == ran[-1]:
            out += tag("rect", "here", x=10, y=y - 16, width=width - 44, height=23, rx=5)
            out += label(16, y, "✗", "t b bad") if failed else label(16, y, "▶", "t fwd")
        never = finished and not times and line.strip() not in ("else:", "")
        pale = " gone" if not times else ""
        out += tag("text", f"num d{pale}", esc(line), x=34.0, y=y, style="white-space:pre")
        if times > 1 or never:
            note = f"×{times}" if times > 1 else "never ran"
            out += label(width - 40 if never else width - 30, y, note, "t soft")
    return out, width + (30 if finished and "never ran" in out else 0), 24 * len(lines) + 34.0
