"""Finding what was handed in: the notebooks of a class, and in each the cells that answer an exercise.

What lives here: the layouts in which submissions arrive (nbgrader's, one folder each, a flat folder, the zip files of Canvas and Moodle),
reading notebooks of format 3 and 4 however damaged, and choosing the answer to an exercise with the helper definitions that it needs.
What does not: running anything. Everything here only reads text and syntax trees; zip files are never unpacked to disk.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import re
import stat
import symtable
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from .exercise import Exercise
from .exercises import exercises
from .worker import is_stub

MAX_FILE = 300 << 20  # bytes of one notebook: outputs of 50 MB are real
SKIPPED_FOLDERS = {".ipynb_checkpoints", "__MACOSX", ".git", "node_modules"}
CANVAS = re.compile(r"^(?P<name>[^_]+)_(?:LATE_)?(?P<id>\d+)_(?P<file>\d+)_(?P<rest>.+)$")
MOODLE = re.compile(r"^(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)$")


# ---- who handed in what ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """One notebook: a file, or a member of a zip file (or of a zip file inside it)."""

    path: str
    members: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return PurePosixPath((self.members or (self.path.replace(os.sep, "/"),))[-1]).name

    def read(self) -> bytes:
        """The bytes. Raises OSError or ValueError, in words, when there are none to be had."""
        if not self.members:
            if os.path.getsize(self.path) > MAX_FILE:
                raise ValueError(f"{self.name} is larger than {MAX_FILE >> 20} MB")
            return Path(self.path).read_bytes()
        file: Any = self.path
        for member in self.members:
            try:
                with zipfile.ZipFile(file) as z, z.open(member) as f:
                    data = f.read(MAX_FILE + 1)
            except Exception as error:  # zlib.error and its like: every way of unpacking has its own
                raise ValueError(f"{member} in the zip file cannot be read ({error})") from error
            if len(data) > MAX_FILE:
                raise ValueError(f"{member} is larger than {MAX_FILE >> 20} MB when unpacked")
            file = io.BytesIO(data)
        return data


@dataclass
class Submission:
    """Everything of one student. `lms` holds the ids that Canvas or Moodle gave, for the file that goes back to them."""

    student: str
    sources: list[Source] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    lms: dict[str, str] = field(default_factory=dict)

    def fingerprint(self) -> str:
        """Changes when anything that was handed in changes."""
        digest = hashlib.sha256(ascii((self.student, self.problems)).encode())
        for source in self.sources:
            digest.update(ascii(source.members or Path(source.path).name).encode())
            try:
                digest.update(hashlib.sha256(source.read()).digest())
            except (OSError, ValueError) as error:
                digest.update(ascii(str(error)).encode())
        return digest.hexdigest()


def collect(root: Path) -> list[Submission]:
    """The submissions below `root` (a folder or a zip file), by student, in order of their names.

    Symbolic links are refused, and so are members of zip files that point outside or are links; each refusal is a problem of that student.
    """
    found: dict[str, Submission] = {}

    def give(student: str, source: Source | None, problem: str = "", lms: dict[str, str] | None = None) -> None:
        student = printable(" ".join(student.split())) or "unnamed"
        problem = printable(problem)
        submission = found.setdefault(student, Submission(student))
        submission.lms |= lms or {}
        if source is not None:
            submission.sources.append(source)
        if problem and problem not in submission.problems:
            submission.problems.append(problem)

    root = root.resolve()
    if not root.exists():
        raise FileNotFoundError(f"{root.name} does not exist: give the folder or the zip file with the submissions.")
    files = [(root, PurePosixPath(root.name))] if root.is_file() else list(_walk(root, root))
    for path, inside in files:
        if path.is_symlink():
            give(*_who(inside)[:1], None, f"{inside.name} is a symbolic link: refused")
        elif path.suffix.lower() == ".zip":
            _collect_zip(path, inside, give)
        elif path.suffix.lower() == ".ipynb":
            student, lms = _who(inside)
            give(student, Source(str(path)), lms=lms)
        elif len(inside.parts) > 1 or MOODLE.match(inside.name) or CANVAS.match(inside.name):
            student, lms = _who(inside)
            give(student, None, lms=lms)  # a student whose folder has no notebook is named, not forgotten
    for submission in found.values():
        submission.sources.sort(key=lambda s: (s.path, s.members))
        if not submission.sources and not submission.problems:
            submission.problems.append("no notebook was handed in")
    return [found[name] for name in sorted(found)]


def printable(text: str) -> str:
    """`text` with every character that a terminal would act on, or no file can hold, written as an escape: a name may be anything."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def _walk(folder: Path, root: Path) -> Iterator[tuple[Path, PurePosixPath]]:
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        path = Path(entry.path)
        if entry.is_symlink():
            yield path, PurePosixPath(path.relative_to(root).as_posix())
        elif entry.is_dir():
            if entry.name not in SKIPPED_FOLDERS and len(path.relative_to(root).parts) < 12:
                yield from _walk(path, root)
        elif entry.is_file() and not entry.name.startswith("."):
            yield path, PurePosixPath(path.relative_to(root).as_posix())


def _collect_zip(path: Path, inside: PurePosixPath, give: Any) -> None:
    """A zip file of the whole class, or of one student when it lies in that student's folder or is named as Canvas names files."""
    own = inside if len(inside.parts) > 1 or CANVAS.match(inside.name) or MOODLE.match(inside.name) else None
    fallback = _who(inside)[0]
    try:
        members = list(_members(path, ()))
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError) as error:
        give(fallback, None, f"{inside.name} is not a zip file that can be read ({error})")
        return
    for chain, problem in members:
        name = PurePosixPath(chain[0].replace("\\", "/"))
        safe = PurePosixPath(*[p for p in name.parts if p not in ("..", "/", ".")] or ["unnamed"])
        student, lms = _who(own or safe)
        if len(safe.parts) == 1 and own is None and not lms and path.suffix and len(members) == 1:
            student = fallback
        give(student, None if problem else Source(str(path), chain), problem, lms)


def _members(file: Any, chain: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    with zipfile.ZipFile(file) as z:
        for info in z.infolist():
            name = info.filename.replace("\\", "/")
            parts = PurePosixPath(name).parts
            if info.is_dir() or SKIPPED_FOLDERS & {*parts}:
                continue
            here = (*chain, info.filename)
            if name.startswith("/") or ".." in parts or re.match(r"^[A-Za-z]:", name):
                yield here, f"a member of the zip file points outside of it ({PurePosixPath(name).name}): refused"
            elif stat.S_ISLNK(info.external_attr >> 16):
                yield here, f"a member of the zip file is a symbolic link ({PurePosixPath(name).name}): refused"
            elif name.lower().endswith(".ipynb"):
                yield here, "" if info.file_size <= MAX_FILE else f"{PurePosixPath(name).name} is too large when unpacked: refused"
            elif name.lower().endswith(".zip") and len(chain) < 1:
                try:
                    yield from _members(io.BytesIO(Source(str(file), here).read()), here)
                except (zipfile.BadZipFile, ValueError, OSError, RuntimeError, NotImplementedError) as error:
                    yield here, f"{PurePosixPath(name).name} is not a zip file that can be read ({error})"


def _who(inside: PurePosixPath) -> tuple[str, dict[str, str]]:
    """Whose a file is, from its place: the ids of Canvas or Moodle, else the first folder, else the file's name without the chapter's."""
    for part in inside.parts:
        if m := MOODLE.match(part):
            return f"{m['name']} {m['id']}", {"moodle": m["id"], "name": m["name"]}
        if m := CANVAS.match(part):
            return f"{m['name']} {m['id']}", {"canvas": m["id"], "name": m["name"]}
    if len(inside.parts) > 1:
        return inside.parts[0], {}
    stem = re.sub(r"(?:^|[_\-. ])\d\d_[a-z0-9_]+$", "", inside.stem)
    return stem or inside.stem, {}


# ---- reading a notebook ---------------------------------------------------------------------------------------------------------------


@dataclass
class Cell:
    """A code cell: its source with IPython's own lines made harmless, and the exercise that its metadata or a comment names."""

    source: str
    graded: str = ""  # by nbgrader's grade id
    tagged: str = ""  # by {"minigrad": {"exercise": ...}}
    marked: str = ""  # by a comment: # exercise 05.b

    @cached_property
    def body(self) -> list[ast.stmt]:
        try:
            return ast.parse(self.source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []

    def text(self, node: ast.stmt | ast.expr) -> str:
        """The part of the source that `node` was read from, decorators included."""
        first = min((node, *getattr(node, "decorator_list", ())), key=lambda n: n.lineno)
        lines = [line.encode() for line in self.lines[first.lineno - 1 : node.end_lineno]]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][first.col_offset - (first is not node) :]  # a decorator begins after its @
        return b"\n".join(lines).decode()

    @cached_property
    def lines(self) -> list[str]:
        return self.source.split("\n")

    @cached_property
    def names(self) -> set[str]:
        """What the cell binds; for a cell with a syntax error, what its text seems to bind."""
        if self.body:
            return {name for statement in self.body for name in bound(statement)}
        return {a or b for a, b in re.findall(r"^(?:def|class)\s+(\w+)|^(\w+)\s*=", self.source, re.M)}


@dataclass
class Notebook:
    name: str
    cells: list[Cell]

    @cached_property
    def calls(self) -> dict[str, tuple[int, ast.expr | None]]:
        """For each exercise the first cell that calls `check` for it, and what is handed over."""
        found: dict[str, tuple[int, ast.expr | None]] = {}
        for number, cell in enumerate(self.cells):
            if "check" not in cell.source:
                continue
            for node in (n for statement in cell.body for n in ast.walk(statement)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check" and node.args:
                    first = node.args[0]
                    if isinstance(first, ast.Constant) and isinstance(first.value, str):
                        found.setdefault(first.value, (number, node.args[1] if len(node.args) > 1 else None))
        return found

    @cached_property
    def chapters(self) -> set[str]:
        named = {id[:2] for c in self.cells for id in (c.graded, c.tagged, c.marked) if id} | {id[:2] for id in self.calls}
        in_name = re.findall(r"(?:^|\D)(\d\d)[_\- ]", self.name)
        return named | {n for n in in_name if n in exercises.chapters()}


def read_notebook(data: bytes, name: str = "") -> Notebook:
    """The code cells of a notebook of format 3 or 4, whatever else is in it. Raises ValueError in words for what is none."""
    try:
        raw = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise ValueError(f"{name or 'the notebook'} is not valid JSON{where}") from error
    if not isinstance(raw, dict):
        raise ValueError(f"{name or 'the file'} is JSON, but not a notebook")
    cells = raw.get("cells")
    if cells is None and isinstance(raw.get("worksheets"), list):  # format 3
        cells = [c for sheet in raw["worksheets"] if isinstance(sheet, dict) for c in _list(sheet.get("cells"))]
    if not isinstance(cells, list):
        raise ValueError(f"{name or 'the file'} is JSON, but not a notebook: it has no cells")
    return Notebook(name, [cell for raw_cell in cells if (cell := _cell(raw_cell)) is not None])


def _list(x: Any) -> list:
    return x if isinstance(x, list) else []


def _dict(x: Any) -> dict[str, Any]:
    return x if isinstance(x, dict) else {}


def _cell(raw: Any) -> Cell | None:
    if not isinstance(raw, dict) or raw.get("cell_type", "code") != "code":
        return None
    text = raw.get("source", raw.get("input", ""))
    text = "".join(t for t in text if isinstance(t, str)) if isinstance(text, list) else text
    if not isinstance(text, str):
        return None
    metadata = _dict(raw.get("metadata"))
    graded, tagged = _dict(metadata.get("nbgrader")), _dict(metadata.get("minigrad"))
    by_grade = re.fullmatch(r"answer-(\d\d)-([a-z])", str(graded.get("grade_id", "")))
    marker = re.search(r"^\s*#+\s*(?:minigrad\s+)?exercise\s*:?\s*(\d\d\.[a-z])\b", text, re.M | re.I)
    id = tagged.get("exercise")
    return Cell(without_magics(text), ".".join(by_grade.groups()) if by_grade else "", id if isinstance(id, str) else "",
                marker.group(1).lower() if marker else "")  # fmt: skip


def without_magics(text: str) -> str:
    """The cell as Python: %magic, !command and help? lines become `pass`, with as many lines as before."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    if text.lstrip().startswith("%%"):
        head, _, rest = text.lstrip().partition("\n")
        above = "\n" * (len(text) - len(text.lstrip()))
        text = f"{above}#{head}\n{rest}" if re.match(r"%%(time|timeit|capture|prun)\b", head) else ""
    lines = text.split("\n")
    for _ in range(len(lines)):
        try:
            ast.parse("\n".join(lines))
            return "\n".join(lines)
        except SyntaxError as error:
            at = (error.lineno or 1) - 1
            if at >= len(lines) or not re.match(r"\s*([%!?]|\w+\s*=\s*[%!]|[\w.]+\?\??\s*$)", lines[at]):
                return text
            lines[at] = re.sub(r"^(\s*)\S.*$", r"\1pass", lines[at])
        except (ValueError, RecursionError, MemoryError):
            return text
    return text


# ---- choosing the answer --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """The cell that answers an exercise, the definitions of other cells that it uses, and by what it was found."""

    source: str
    helpers: tuple[str, ...] = ()
    by: str = ""


def find_answer(ex: Exercise, notebooks: Iterable[Notebook]) -> Answer | None:
    """The answer to one exercise in a student's notebooks: by grade id, cell metadata, marker comment, then the name that it defines.

    Of several cells the last one that is not the untouched stub counts. None when there is no trace of the exercise.
    """
    untouched: Answer | None = None
    books = [nb for nb in notebooks if ex.chapter in nb.chapters or not nb.chapters]
    for by, pick in (
        ("grade id", lambda nb: [i for i, c in enumerate(nb.cells) if c.graded == ex.id]),
        ("cell metadata", lambda nb: [i for i, c in enumerate(nb.cells) if c.tagged == ex.id]),
        ("marker comment", lambda nb: [i for i, c in enumerate(nb.cells) if c.marked == ex.id]),
        ("name", lambda nb: _by_name(ex, nb)),
    ):
        for nb in reversed(books):
            named = [i for i in pick(nb) if ex.entry in nb.cells[i].names]
            for i in reversed(named):
                if not is_stub(nb.cells[i].source, ex.stub):
                    return Answer(nb.cells[i].source, helpers(nb, i), by)
                untouched = untouched or Answer(nb.cells[i].source, (), by)
    for nb in reversed(books):  # defined under another name and handed to check
        given = nb.calls.get(ex.id, (0, None))[1]
        if given is None or (isinstance(given, ast.Name) and given.id == ex.entry):
            continue
        name = given.id if isinstance(given, ast.Name) else None
        where = [i for i, c in enumerate(nb.cells) if name in c.names]
        if where:
            return Answer(f"{nb.cells[where[-1]].source}\n{ex.entry} = {name}\n", helpers(nb, where[-1]), "check's argument")
        if name is None:
            number = nb.calls[ex.id][0]
            source = f"{ex.entry} = ({nb.cells[number].text(given)}\n)\n"
            return Answer(source, helpers(nb, number, source), "check's argument")
    return untouched


def _by_name(ex: Exercise, nb: Notebook) -> list[int]:
    """Cells that define the exercise's name. Where other exercises of the chapter use the same name, the ones just before its check."""
    binding = [i for i, c in enumerate(nb.cells) if ex.entry in c.names and {c.graded, c.tagged, c.marked} <= {"", ex.id}]
    rivals = [other.id for other in exercises.values() if other.entry == ex.entry and other.id != ex.id]
    if ex.id in nb.calls:
        at = nb.calls[ex.id][0]
        since = max((nb.calls[r][0] for r in rivals if r in nb.calls and nb.calls[r][0] < at), default=-1)
        before = [i for i in binding if since < i <= at] if rivals else binding
        return before or ([] if rivals else binding)
    return [] if any(r[:2] == ex.chapter for r in rivals) or (rivals and not nb.chapters) else binding


def helpers(nb: Notebook, at: int, source: str | None = None) -> tuple[str, ...]:
    """The top-level statements of other cells that the cell needs: definitions, imports and assignments of the names that it uses.

    A name counts as its last definition before the cell, else its first one after it. Statements that set an attribute of something used
    (`Value.__radd__ = ...`) come along.
    """
    cell = Cell(source) if source is not None else nb.cells[at]
    own = cell.names
    todo = sorted(needed(cell.source) - own)
    taken: dict[tuple[int, int], ast.stmt] = {}
    done: set[str] = set()
    while todo:
        name = todo.pop()
        if name in done:
            continue
        done.add(name)
        places = [
            (i, j)
            for i, c in enumerate(nb.cells)
            if (i != at or source is not None) and name in c.names
            for j, s in enumerate(c.body)
            if name in bound(s) and not isinstance(s, (ast.For, ast.While))
        ]
        if not places:
            continue
        before = [p for p in places if p[0] < at]
        place = before[-1] if before else places[0]
        statement = nb.cells[place[0]].body[place[1]]
        taken[place] = statement
        todo += sorted(needed(nb.cells[place[0]].text(statement)) - done - own)
    for i, c in enumerate(nb.cells):
        if i != at:
            for j, s in enumerate(c.body):
                if (i, j) not in taken and _changes(s) in done:
                    taken[i, j] = s
    return tuple(nb.cells[i].text(taken[i, j]) for i, j in sorted(taken))


def bound(statement: ast.stmt) -> set[str]:
    """The names that a statement binds in the notebook's namespace."""
    names: set[str] = set()
    todo = [statement]
    while todo:  # a loop, because a thousand `elif` are a thousand levels
        s = todo.pop()
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(s.name)
        elif isinstance(s, (ast.Import, ast.ImportFrom)):
            names |= {(a.asname or a.name).partition(".")[0] for a in s.names}
        for target in getattr(s, "targets", [getattr(s, "target", None)]):
            if target is not None:
                names |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if isinstance(s, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            todo += [inner for part in ("body", "orelse", "finalbody") for inner in getattr(s, part, [])]
            todo += [inner for handler in getattr(s, "handlers", []) for inner in handler.body]
    return names


def needed(source: str) -> set[str]:
    """The names of the namespace that a program, or a function defined in it, looks up. Nothing is compiled: that can take for ever."""
    try:
        todo = [symtable.symtable(source, "<cell>", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return set()
    names: set[str] = set()
    for table in todo:
        names |= {n.get_name() for n in table.get_symbols() if n.is_referenced() and (n.is_global() or table.get_type() == "module")}
        todo += table.get_children()
    return names - {"check", "get_ipython"}


def _changes(statement: ast.stmt) -> str:
    """The name of which a statement sets an attribute, or ""."""
    target: Any = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return target.value.id if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) else ""


# ---- likeness ------------------------------------------------------------------------------------------------------------------------


def shingles(source: str, size: int = 6, keep: int = 64) -> list[int]:
    """A small fingerprint of a program that names, comments and layout do not change; [] for one too short to tell."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    words: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Load, ast.Store, ast.Expr)):
            continue
        detail = node.attr if isinstance(node, ast.Attribute) else ""
        if isinstance(node, ast.Constant) and not isinstance(node.value, str):
            detail = ascii(node.value)[:20] if not isinstance(node.value, int) else hex(node.value)[:20]
        words.append(type(node).__name__ + detail)
    if len(words) < 30:
        return []
    grams = {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)}
    return sorted(int.from_bytes(hashlib.blake2b(g.encode(), digest_size=6).digest(), "big") for g in grams)[:keep]
