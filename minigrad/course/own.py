"""The learner's own code in `my_engine.py`, beside the notebook: what chapters write into it, and how later ones read it.

What lives here: which notebook this is, and that file. Each answer that was kept is a part of it, between two marks, and can be edited.
The parts stand in the order of the course and are run one by one, so a damaged one leaves the others as they are.
What does not: the decision whether an answer may be kept or still passes (checking.py).
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
import types
from pathlib import Path
from typing import Any

from .exercise import Exercise
from .result import Note

FILE = "my_engine.py"
HEAD = "# My own engine: answers from minigrad's course that have passed. Later chapters use what is in here; edit it as you like.\n"
BOUND = "__bound__"  # the names that the file itself binds: a check that runs an answer adds an engine to them
PART = re.compile(r"^# ---- (\d\d\.\w+) .*?^# ---- end of \1 ----\n", re.M | re.S)
_loaded: dict[
    tuple[str, str], tuple[types.ModuleType, dict[str, str]]
] = {}  # by path and content: a module, errors by part


def this_notebook() -> Path | None:
    """The notebook of this kernel, as named by Jupyter or VS Code; otherwise the only notebook in the folder."""
    main = vars(sys.modules["__main__"])
    for name in (os.environ.get("JPY_SESSION_NAME", ""), str(main.get("__vsc_ipynb_file__", ""))):
        for path in (Path(name), Path(Path(name).name)):
            if name.endswith(".ipynb") and path.is_file():
                return path
    results = sorted(Path().glob("*.ipynb"))
    return results[0] if len(results) == 1 else None


def keep(ex: Exercise, answer: Any, folder: Path) -> Note:
    """Put the cell that defines `answer` into the file, in place of an earlier one of the same exercise."""
    source = source_of(answer)
    if not source:
        return Note(
            f"○ {ex.id}: not kept",
            "The source of your answer was not found. Run its cell again, then its check, then this.",
        )
    part = f"# ---- {ex.id} {ex.title} ----\n{source}\n# ---- end of {ex.id} ----\n"
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else HEAD
        text = _with_part(text, ex.id, part)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        return Note(f"✗ {ex.id}: not kept", f"{FILE} could not be written ({error.strerror or type(error).__name__}).")
    return Note(
        f"✓ {ex.id}: kept in {FILE}",
        f"The course now takes your {ex.entry}. The file is yours, too: look at it, change it.",
    )


def _with_part(text: str, id: str, part: str) -> str:
    """The text with this part in place of an earlier one of the same exercise, or where the course has it."""
    for found in PART.finditer(text):
        if found[1] == id:
            return text[: found.start()] + part + text[found.end() :]
        if found[1] > id:
            return f"{text[: found.start()]}{part}\n\n{text[found.start() :]}"
    return f"{text.rstrip()}\n\n\n{part}"


def source_of(answer: Any) -> str:
    """The cell that a function or class was defined in, without the calls on it (`check(...)`, prints); "" if it cannot be found."""
    functions = (
        [f for f in vars(answer).values() if isinstance(f, types.FunctionType)]
        if isinstance(answer, type)
        else [answer]
    )
    files = {f.__code__.co_filename for f in functions if isinstance(f, types.FunctionType)}
    lines = (
        linecache.getlines(max(files, key=lambda name: sum(f.__code__.co_filename == name for f in functions)))
        if files
        else []
    )
    try:
        body = ast.parse("".join(lines)).body
    except SyntaxError:
        return ""
    for statement in reversed(body):
        if isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant):
            del lines[statement.lineno - 1 : statement.end_lineno]
    return "".join(lines).strip()


def load(ex: Exercise, folder: Path) -> tuple[Any, str]:
    """(the object that the file binds to the exercise's name, ""), or (None, an error sentence). (None, "") without file or name."""
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None, ""
    except (OSError, ValueError) as error:
        return None, f"{FILE} cannot be read: {error}"
    if (str(path), text) not in _loaded:
        _loaded[str(path), text] = _run(path, text)
    module, errors = _loaded[str(path), text]
    if ex.entry in getattr(module, BOUND):
        return getattr(module, ex.entry), ""
    return None, errors.get(ex.id) or errors.get("", "")


def lend(answer: Any, **names: Any) -> None:
    """Give an answer that was written for a notebook with an engine that engine, unless its file has one."""
    namespace = getattr(answer, "__globals__", {})
    namespace |= {name: what for name, what in names.items() if name not in namespace.get(BOUND, ())}


def _run(path: Path, text: str) -> tuple[types.ModuleType, dict[str, str]]:
    """The names that the file binds, and a sentence for each part that stops; "" is what the learner has written between the parts."""
    module, errors = types.ModuleType(path.stem), {}
    module.__file__ = str(path)
    parts = [(found[1], found.start(), found.end()) for found in PART.finditer(text)]
    between = list(text)
    for _, start, end in parts:
        between[start:end] = re.sub(r"[^\n]", " ", text[start:end])
    pieces = [(id, "\n" * text.count("\n", 0, start) + text[start:end]) for id, start, end in parts]
    for id, source in [*pieces, ("", "".join(between))]:
        try:
            exec(compile(source, str(path), "exec"), module.__dict__)
        except Exception as error:
            line = next(
                (tb.tb_lineno for tb in _frames(error) if tb.tb_frame.f_code.co_filename == str(path)),
                getattr(error, "lineno", None),
            )
            errors[id] = f"{FILE} stops with {type(error).__name__}" + (f" in line {line}" if line else "")
    setattr(module, BOUND, frozenset(vars(module)))
    return module, errors


def _frames(error: BaseException):
    tb = error.__traceback__
    while tb is not None:
        yield tb
        tb = tb.tb_next
