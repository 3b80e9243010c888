"""Find the submissions of a class, and unpack them.

Supported layouts: nbgrader's, one folder per student, a flat folder, the zip files of Canvas and Moodle. Functions that open a student's
file are called by reader.py, in a process with limits. Zip files are never unpacked to disk.
"""

from __future__ import annotations

import calendar
import hashlib
import io
import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

MAX_FILE = 300 << 20  # bytes of one notebook: outputs of 50 MB are real
MOST_MEMBERS = 500  # notebooks in one student's zip file
SKIPPED_FOLDERS = {".ipynb_checkpoints", "__MACOSX", ".git", "node_modules"}
# Of Canvas: a file, a text entry or a link; anonymous assignments have a short text in the place of a number.
CANVAS = re.compile(r"^(?:(?P<anonymous>anonymous)|(?P<name>[^_]+))_(?P<late>LATE_)?(?P<id>(?(anonymous)[A-Za-z0-9]+|\d+))_"
                    r"(?:(?P<file>\d+)_(?P<rest>.+)|(?P<entry>text|link)\.html?)$")  # fmt: skip
MOODLE = re.compile(r"^(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)$")
WRITTEN = {
    ".html",
    ".htm",
    ".pdf",
    ".py",
    ".txt",
    ".md",
    ".doc",
    ".docx",
    ".odt",
    ".rtf",
    ".rar",
    ".7z",
    ".tar",
    ".gz",
    ".tgz",
    ".json",
}


# ---- who handed in what ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """One file that was handed in, a notebook or a zip file: on disk, or a member of the zip file of the class."""

    path: str
    member: str = ""

    @property
    def name(self) -> str:
        return PurePosixPath(self.member.replace("\\", "/") or self.path.replace(os.sep, "/")).name


@dataclass
class Submission:
    """Everything of one student. `lms` holds the ids that Canvas or Moodle gave, for the file that goes back to them."""

    student: str
    sources: list[Source] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    lms: dict[str, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)  # names of files that are not notebooks
    contents: dict[Source, str] = field(default_factory=dict)  # of members of a zip file: what changes when they do

    def fingerprint(self) -> str:
        """Changes when anything that was handed in changes."""
        digest = hashlib.sha256(ascii((self.student, self.problems)).encode())
        for source in sorted(self.sources, key=self._age):
            digest.update(ascii((source.name, self.contents.get(source) or _hash(source.path))).encode())
        return digest.hexdigest()

    def _age(self, source: Source) -> tuple[float, str]:
        return (0.0 if source.member else _modified(source.path), source.name)


def _hash(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return type(error).__name__


def _modified(path: str) -> float:
    try:
        return os.path.getmtime(path)
    except OSError:
        return 0.0


class _Found:
    """The submissions that were found so far, by student. `folders` is None in a zip file."""

    def __init__(self, on_disk: bool) -> None:
        self.submissions: dict[str, Submission] = {}
        self.folders: dict[str, str] | None = {} if on_disk else None  # by student: the folder's name

    def student_of(self, inside: PurePosixPath) -> tuple[str, str]:
        """The name without stray blanks and with composed accents; of a second folder on the disk with that name, its own and the first."""
        raw = _who(inside)[0]
        student = printable(" ".join(unicodedata.normalize("NFC", raw).split())) or "unnamed"
        first = raw if self.folders is None else self.folders.setdefault(student, raw)
        return (student, "") if first == raw else (f"{student} ({ascii(raw)})", student)

    def give(self, inside: PurePosixPath, source: Source | None, problem: str = "", content: str = "") -> Submission:
        """Note a file, or only a problem, of the student whose place `inside` is."""
        lms = _who(inside)[1]
        student, other = self.student_of(inside)
        submission = self.submissions.setdefault(student, Submission(student))
        if other:
            problem = (
                problem or f"this folder and that of {other} have nearly the same name: do they belong to one student?"
            )
        submission.lms |= lms
        if lms.get("late"):
            problem = problem or "handed in late (so Canvas says)"
        if problem and (problem := printable(problem)) not in submission.problems:
            submission.problems.append(problem)
        if source is not None:
            submission.sources.append(source)
            submission.contents |= {source: content} if content else {}
        return submission

    def give_file(self, inside: PurePosixPath, source: Source, content: str = "") -> None:
        if inside.suffix.lower() in (".ipynb", ".zip"):
            self.give(inside, source, content=content)
        elif (
            len(inside.parts) > 1
            or inside.suffix.lower() in WRITTEN
            and not inside.stem.lower().startswith("readme")
            or _who(inside)[1]
        ):
            submission = self.give(inside, None)  # who has handed in something else is named, not forgotten
            if inside.name != "timestamp.txt":  # nbgrader's own
                submission.others.append(printable(inside.name))


def collect(root: Path) -> list[Submission]:
    """The submissions below `root` (a folder or the zip file of the class), by student, in order of their names.

    Symbolic links are refused, and so are members of the zip file that point outside or are links; each refusal is a problem of that
    student. A zip file in a folder belongs to the student whose folder it is in, or whose name it has. Nothing that a student has
    packed is opened here (reader.py does that), so nothing in it can name another student.
    """
    root = root.resolve()
    if not root.exists():
        raise FileNotFoundError(f"{root.name} does not exist: give the folder or the zip file with the submissions.")
    files = [(root, PurePosixPath(root.name))] if root.is_file() else list(_walk(root, root))
    result = _Found(on_disk=True)
    if (
        len(files) == 1
        and files[0][0].suffix.lower() == ".zip"
        and len(files[0][1].parts) == 1
        and not _who(files[0][1])[1]
    ):
        try:
            result = _collect_class(files[0][0])
            files = []
        except FileNotFoundError:
            if root.is_file():
                raise  # else it may be the broken one of the only student
    for path, inside in files:
        if path.is_symlink():
            result.give(inside, None, f"{inside.name} is a symbolic link: refused")
        elif path.is_dir():
            result.give(inside / "x", None)  # an empty folder is a submission, too
        else:
            result.give_file(inside, Source(str(path)))
    for submission in result.submissions.values():
        submission.sources.sort(key=lambda s: (s.path, s.member))
        written = [name for name in submission.others if PurePosixPath(name).suffix.lower() in WRITTEN]
        if not submission.sources:
            only = f", only {_some(submission.others)}" if submission.others else ""
            submission.problems.append(f"no notebook was handed in{only}")
        elif written:
            submission.problems.append(f"not a notebook, so not read: {_some(written)}")
    return [result.submissions[name] for name in sorted(result.submissions)]


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def printable(text: str) -> str:
    """`text` with every character that a terminal would act on, or no file can hold, written as an escape: a name may be anything."""
    return "".join(
        c if c.isprintable() or c in "\u200c\u200d" else c.encode("unicode_escape", "surrogatepass").decode()
        for c in text
    )


def _walk(folder: Path, root: Path) -> Iterator[tuple[Path, PurePosixPath]]:
    """The files below `folder`, links, and the folders directly in it."""
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        path = Path(entry.path)
        inside = PurePosixPath(path.relative_to(root).as_posix())
        if entry.is_symlink():
            yield path, inside
        elif entry.is_dir():
            if entry.name not in SKIPPED_FOLDERS and len(inside.parts) < 12:
                if len(inside.parts) == 1:
                    yield path, inside
                yield from _walk(path, root)
        elif entry.is_file() and not entry.name.startswith("."):
            yield path, inside


def _collect_class(path: Path) -> _Found:
    """The zip file of the class, as an LMS makes it. Zip files in it are the students'."""
    try:
        with zipfile.ZipFile(path) as z:
            members = z.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise FileNotFoundError(f"{path.name} is not a zip file that can be read ({error}).") from None
    result = _Found(on_disk=False)
    for info in members:
        name, problem = _place(info)
        inside = PurePosixPath(*[p for p in PurePosixPath(name).parts if p not in ("..", "/", ".")] or ["unnamed"])
        if SKIPPED_FOLDERS & {*inside.parts}:
            continue
        if problem:
            result.give(inside, None, problem)
        elif info.is_dir():
            if len(inside.parts) == 1:
                result.give(inside / "x", None)
        elif not inside.name.startswith("."):
            result.give_file(
                inside, Source(str(path), info.filename), f"{info.CRC:08x} {info.file_size} {info.date_time}"
            )
    return result


def _place(info: zipfile.ZipInfo) -> tuple[str, str]:
    """The name of a member with slashes, and why it is refused or ""."""
    name = info.filename.replace("\\", "/")
    short = PurePosixPath(name).name
    if name.startswith("/") or ".." in PurePosixPath(name).parts or re.match(r"^[A-Za-z]:", name):
        return name, f"a member of the zip file points outside of it ({short}): refused"
    if stat.S_ISLNK(info.external_attr >> 16):
        return name, f"a member of the zip file is a symbolic link ({short}): refused"
    return name, ""


def _who(inside: PurePosixPath) -> tuple[str, dict[str, str]]:
    """Whose a file is, from its place: the ids of Canvas or Moodle, else the first folder, else the file's name without the chapter's.

    Only the first part of the place counts: what is below it, the student has named.
    """
    first = inside.parts[0]
    if (m := CANVAS.match(first)) and m["anonymous"]:
        return f"anonymous {m['id']}", {"anonymous": m["id"], "name": f"anonymous {m['id']}"} | (
            {"late": "late"} if m["late"] else {}
        )
    if m:
        return f"{m['name']} {m['id']}", {"canvas": m["id"], "name": m["name"]} | (
            {"late": "late"} if m["late"] else {}
        )
    if m := MOODLE.match(first):
        return f"{m['name']} {m['id']}", {"moodle": m["id"], "name": m["name"]}
    if len(inside.parts) > 1:
        return first, {}
    stem = re.sub(r"(?:^|[_\-. ])\d\d_[a-z0-9_]+$", "", inside.stem)
    return stem or inside.stem, {}


# ---- the contents of a file: only in a limited process (reader.py) ------------------------------------------------------------------


Part = tuple[str, float, Callable[[], bytes]]  # the name of a notebook, its time, and its bytes when they are wanted


def expand(source: Source) -> tuple[list[Part], list[str]]:
    """(notebooks, problems) of a submitted file: a notebook, or a zip file, which may contain further ones."""
    parts: list[Part] = []
    problems: list[str] = []
    try:
        if source.member:
            with zipfile.ZipFile(source.path) as z:
                info = z.getinfo(source.member)
                top = (source.name, _packed(info), lambda: _unpack(source.path, info))
                if not source.name.lower().endswith(".zip"):
                    return [top], []
                _expand_zip(io.BytesIO(top[2]()), 1, parts, problems)
        elif source.name.lower().endswith(".zip"):
            _expand_zip(source.path, 0, parts, problems)
        else:
            return [(source.name, _modified(source.path), lambda: _from_disk(source))], []
    except Exception as error:  # every way of unpacking has its own
        problems.append(_unreadable(source.name, error))
    if not parts and not problems:
        problems.append(f"{source.name} holds no notebook")
    return parts, problems


def _expand_zip(file: Any, depth: int, parts: list[Part], problems: list[str]) -> None:
    with zipfile.ZipFile(file) as z:
        members = [
            i for i in z.infolist() if not i.is_dir() and not SKIPPED_FOLDERS & {*PurePosixPath(i.filename).parts}
        ]
    for info in members:
        name, problem = _place(info)
        short = PurePosixPath(name).name
        if problem:
            problems.append(problem)
        elif short.lower().endswith(".ipynb"):
            if len(parts) == MOST_MEMBERS:
                problems.append(f"more than {MOST_MEMBERS} notebooks in one zip file: the rest was not read")
                return
            parts.append((short, _packed(info), partial(_unpack, file, info)))
        elif short.lower().endswith(".zip") and depth < 2:
            try:
                _expand_zip(io.BytesIO(_unpack(file, info)), depth + 1, parts, problems)
            except Exception as error:
                problems.append(_unreadable(short, error))


def _unpack(file: Any, info: zipfile.ZipInfo) -> bytes:
    short = PurePosixPath(info.filename.replace("\\", "/")).name
    try:
        with zipfile.ZipFile(file) as z, z.open(info) as f:
            data = f.read(MAX_FILE + 1)
    except MemoryError:
        raise
    except Exception as error:  # zlib.error and its like
        raise ValueError(f"{short} in the zip file cannot be read ({error})") from error
    if len(data) > MAX_FILE:
        raise ValueError(f"{short} is larger than {MAX_FILE >> 20} MB when unpacked")
    return data


def _unreadable(name: str, error: Exception) -> str:
    if isinstance(error, zipfile.BadZipFile):
        return f"{name} is not a zip file that can be read ({error})"
    return str(error) if isinstance(error, ValueError) else f"{name} cannot be read ({type(error).__name__})"


def _from_disk(source: Source) -> bytes:
    try:
        if os.path.getsize(source.path) > MAX_FILE:
            raise ValueError(f"{source.name} is larger than {MAX_FILE >> 20} MB")
        return Path(source.path).read_bytes()
    except OSError as error:
        raise ValueError(f"{source.name} cannot be read ({error.strerror or type(error).__name__})") from None


def _packed(info: zipfile.ZipInfo) -> float:
    """When a member of a zip file was last changed, in seconds."""
    try:
        return float(calendar.timegm((*info.date_time, 0, 0, 0)))
    except (ValueError, OverflowError):
        return 0.0
