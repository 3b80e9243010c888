"""Where and how an exception happened: the learner's frames of a traceback, the line and the expression at fault, the names in reach.

A Failure holds frames, so it is dropped as soon as the panel is built.
"""

from __future__ import annotations

import ast
import dis
import linecache
import os
import types
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

import minigrad
from minigrad.core.errors import Explanation

_ENGINE = (str(Path(minigrad.__file__).parent) + os.sep, "<minigrad ")
_OURS = (*_ENGINE, str(Path(__file__).parents[1]) + os.sep)
_MACHINERY = (
    "IPython/",
    "ipykernel/",
    "IPython\\",
    "ipykernel\\",
    "asyncio/",
    "traitlets/",
    "contextlib.py",
    "nbclient/",
    "runpy.py",
)


def _is_raise(entry: Any) -> bool:
    """Did a `raise` statement stop this frame?"""
    return dis.opname[entry.tb_frame.f_code.co_code[entry.tb_lasti]] == "RAISE_VARARGS"


def is_engine(filename: str) -> bool:
    return filename.startswith(_ENGINE)


def is_ours(filename: str) -> bool:
    """Is it a file of the engine, or of the pictures?"""
    return filename.startswith(_OURS)


def is_learners(filename: str) -> bool:
    return (
        not filename.startswith(_OURS)
        and not any(part in filename for part in _MACHINERY)
        and "site-packages" not in filename
    )


def learners_frames(tb: TracebackType | None) -> list[TracebackType]:
    """The learner's own frames, outermost first. The line that IPython writes for a cell magic is none where a line of that cell failed."""
    frames = []
    while tb is not None:
        if is_learners(tb.tb_frame.f_code.co_filename):
            frames.append(tb)
        tb = tb.tb_next
    if len(frames) > 1 and "run_cell_magic" in frames[0].tb_frame.f_code.co_names:
        del frames[0]
    return frames


def whole(error: BaseException) -> str:
    """What the error says, with its notes."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


class Failure:
    """One exception. `sentence` is its first paragraph, PyTorch's own words; `explanation` what minigrad says besides, `facts` what the
    error is about (minigrad.core.facts); None for errors that are not minigrad's.

    `in_engine`: minigrad raised it. `by_python`: the interpreter did, in the learner's own line (not a `raise`, not another library).
    """

    def __init__(self, error: BaseException, tb: TracebackType | None, shell: Any = None) -> None:
        self.error, self.shell = error, shell
        self.sentence = str(error).split("\n\n")[0]
        message = getattr(error, "minigrad", None)
        self.explanation = message if isinstance(message, Explanation) else None
        self.facts = self.explanation.facts if self.explanation else None
        frames = []
        while tb is not None:
            frames.append(tb)
            tb = tb.tb_next
        self.in_engine = bool(frames) and is_engine(frames[-1].tb_frame.f_code.co_filename)
        self.frames = learners_frames(frames[0] if frames else None)
        self.by_python = bool(self.frames) and frames[-1] is self.frames[-1] and not _is_raise(frames[-1])

    @property
    def here(self) -> Any:
        """The learner's innermost frame, as a traceback entry; None if there is none."""
        return self.frames[-1] if self.frames else None

    @cached_property
    def names(self) -> dict[str, Any]:
        """What can be called by name at the line at fault."""
        frame = self.here.tb_frame
        return {**frame.f_globals, **frame.f_locals}

    @cached_property
    def line(self) -> str:
        t = self.here
        return linecache.getline(t.tb_frame.f_code.co_filename, t.tb_lineno).strip() if t is not None else ""

    @cached_property
    def span(self) -> tuple[int, int] | None:
        """Where in `line` the expression at fault stands."""
        t = self.here
        code = t.tb_frame.f_code
        first, last, start, end = next(islice(code.co_positions(), t.tb_lasti // 2, None), (None,) * 4)
        full = linecache.getline(code.co_filename, t.tb_lineno)
        indent = len(full) - len(full.lstrip())
        if first is None or first != last or first != t.tb_lineno or start is None or end is None:
            return None
        raw = full.encode()
        a, b = len(raw[:start].decode(errors="ignore")) - indent, len(raw[:end].decode(errors="ignore")) - indent
        return (a, b) if 0 <= a < b <= len(self.line) and (a, b) != (0, len(self.line)) else None

    @property
    def where(self) -> str:
        """The same on every run: no execution counts, no paths."""
        t = self.here
        code = t.tb_frame.f_code
        inside = "" if code.co_name == "<module>" else f" in {code.co_name}"
        cell = self.frames[0].tb_frame.f_code.co_filename
        if code.co_filename == cell:
            return f"Line {t.tb_lineno}{inside}"
        if "ipykernel_" in code.co_filename or code.co_filename.startswith("<ipython-input"):
            return f"Line {t.tb_lineno}{inside} (another cell)"
        return f"Line {t.tb_lineno}{inside} ({Path(code.co_filename).name})"

    @cached_property
    def tree(self) -> ast.AST | None:
        """The line at fault, parsed, if it is a whole statement."""
        text = self.line
        for attempt in (text, text + "\n    pass", text.rstrip(":")):
            try:
                return ast.parse(attempt)
            except (SyntaxError, ValueError):
                continue
        return None

    @staticmethod
    def owner(node: ast.expr) -> str:
        """How an expression is written before a dot: with parentheses where it needs them."""
        return ast.unparse(ast.Attribute(value=node, attr="_"))[:-2]

    def calls(self, method: str) -> ast.expr | None:
        """What stands before `.method(` in the line at fault."""
        for node in ast.walk(self.tree) if self.tree is not None else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
                return node.func.value
        return None

    def value(self, node: ast.expr | None) -> Any:
        """The object of a name, or of names with dots and constant indices; None if finding it would run code."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.value(node.value)
            inside = getattr(owner, "__dict__", None)
            if type(inside) is not dict or isinstance(owner, types.ModuleType):
                return None
            for part in (inside, inside.get("_parameters"), inside.get("_modules")):
                if isinstance(part, dict) and node.attr in part:
                    return part[node.attr]
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            owner = self.value(node.value)
            if type(owner) in (list, tuple, dict):
                try:
                    return owner[node.slice.value]
                except (LookupError, TypeError):
                    return None
        return None

    def tensors(self) -> Iterator[tuple[str, Any]]:
        """The tensors that the line at fault names, in order: (text, tensor)."""
        from minigrad.tracing.trace import is_tensor

        seen = set()
        for node in sorted((n for n in ast.walk(self.tree) if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript))),
                           key=lambda n: (n.lineno, n.col_offset)) if self.tree is not None else ():  # fmt: skip
            thing, text = self.value(node), ast.unparse(node)
            if is_tensor(thing) and text not in seen:
                seen.add(text)
                yield text, thing

    def name_of(self, accept: Callable[[Any], bool]) -> str:
        """The shortest path to the first named object that `accept` returns true for; "" if there is none."""
        from minigrad.tracing.trace import walk

        for text, thing in islice(walk(self.names), 5000):
            if accept(thing):
                return text
        return ""
