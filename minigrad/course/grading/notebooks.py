"""Reading a notebook, and finding in it the cells that answer the exercises.

What lives here: notebooks of format 3 and 4 however damaged, the answer to an exercise with the helper definitions that it needs, and which
of several copies counts. What does not: running anything, or limits; reader.py calls this in a process that has them. Everything here only
reads text and syntax trees, in time that grows with the size of the text.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import json
import re
import symtable
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..claims import Claim, read_claim
from ..exercise import Exercise
from ..exercises import exercises
from ..explain import QUESTIONS
from .submissions import CANVAS

MOST_CELLS = 20_000
LONGEST_TEXT = 2_000  # characters of an explanation
# As browsers, JupyterLab and Canvas name one
COPY = re.compile(r"(.*?)(?:[ _]?\((\d+)\)|[ _-]?Copy(\d*)|-(\d{1,2}))?\.ipynb", re.I | re.S)


# ---- reading a notebook ---------------------------------------------------------------------------------------------------------------


@dataclass
class Cell:
    """A code cell: its source with IPython's own lines made harmless, and the exercise that its metadata or a comment names."""

    source: str
    graded: str = ""  # by nbgrader's grade id
    tagged: str = ""  # by {"minigrad": {"exercise": ...}}
    marked: str = ""  # by a comment: # exercise 05.b
    number: int = 0  # its place among all cells of the notebook, from 1
    claims: tuple[Claim, ...] = ()  # verdicts of `check` in its outputs

    @property
    def ids(self) -> set[str]:
        """The exercises that it was handed out for."""
        return {self.graded, self.tagged, self.marked} - {""}

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
        lines = [line for line in self.lines if not re.search(r"\bcheck\s*\.\s*(?:mine|engine)\b", line)]
        return {a or b for a, b in re.findall(r"^(?:def|class)\s+(\w+)|^(\w+)\s*=(?!=)", "\n".join(lines), re.M)}

    @cached_property
    def written(self) -> dict[str, list[ast.stmt]]:
        """The statements that may be a learner's answer, by the name that they bind: definitions and assignments.

        What `check.mine` or `check.engine` gives is the course's, and the variable of a loop is nobody's answer.
        """
        results: dict[str, list[ast.stmt]] = {}
        for statement in self.body:
            if not isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)) and not lent(
                statement
            ):
                for name in bound(statement):
                    results.setdefault(name, []).append(statement)
        return results

    def answers(self, ex: Exercise) -> bool:
        """Whether the cell may hold the answer to an exercise. Where it does not parse, its text decides."""
        if not self.body:
            return ex.entry in self.names
        return any(ex.is_value or not _is_literal(statement) for statement in self.written.get(ex.entry, ()))

    def defines(self, name: str) -> bool:
        """Whether the cell has a `def` or `class` of this name."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return any(isinstance(s, kinds) for s in self.written.get(name, ())) if self.body else name in self.names

    @cached_property
    def title(self) -> str:
        """The first line that says something, for a person."""
        lines = [line.strip() for line in self.lines if line.strip() and line.strip() != "pass"]
        return next(
            (line for line in lines if not line.startswith(("#", "import ", "from "))), lines[0] if lines else ""
        )[:60]


@dataclass
class Notebook:
    name: str
    cells: list[Cell]
    texts: list[str] = field(default_factory=list)  # of the cells that are not code
    content: str = ""  # a hash of its cells with their outputs

    @cached_property
    def calls(self) -> dict[str, list[tuple[int, ast.expr | None]]]:
        """For each exercise the cells that call `check` for it, and the argument."""
        results: dict[str, list[tuple[int, ast.expr | None]]] = {}
        for number, cell in enumerate(self.cells):
            if "check" not in cell.source:
                continue
            for node in (n for statement in cell.body for n in ast.walk(statement)):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Name)
                    and node.func.id == "check"
                    and node.args
                ):
                    first = node.args[0]
                    if isinstance(first, ast.Constant) and isinstance(first.value, str):
                        results.setdefault(first.value, []).append(
                            (number, node.args[1] if len(node.args) > 1 else None)
                        )
        return results

    @cached_property
    def defined(self) -> dict[str, list[tuple[int, int]]]:
        """For each name the statements (cell, number) that define it, apart from loops, untouched stubs and what the course lends."""
        results: dict[str, list[tuple[int, int]]] = {}
        candidates = [ex for chapter in sorted(self.chapters) for ex in exercises.chapter(chapter).values()]
        stubs = {ex.entry: _program(ex.stub) for ex in candidates}
        for i, cell in enumerate(self.cells):
            if any(stubs[name] == _program(cell.source) for name in cell.names & stubs.keys()):
                continue
            for j, statement in enumerate(cell.body):
                if not isinstance(statement, (ast.For, ast.While)) and not lent(statement):
                    for name in bound(statement):
                        results.setdefault(name, []).append((i, j))
        return results

    @cached_property
    def aliases(self) -> dict[str, str]:
        """For the name of an exercise whose answer has another one, that name: `check("05.b", mine)`."""
        names = {exercises[id].entry: arg.id for id, calls in self.calls.items() if id in exercises for _, arg in calls
                 if isinstance(arg, ast.Name)}  # fmt: skip
        return {
            entry: name
            for entry, name in names.items()
            if entry != name and entry not in self.defined and name in self.defined
        }

    @cached_property
    def named_chapters(self) -> set[str]:
        """The chapters that a cell names: an exercise's cell, a call of `check`, the heading of an exercise."""
        headings = {
            n for text in self.texts for n in re.findall(r"^#+[ \t]*Exercise[ \t]+(\d\d)\.[a-z]\d?\b", text, re.M)
        }
        return ({id[:2] for c in self.cells for id in c.ids} | {id[:2] for id in self.calls} | headings) & set(
            exercises.chapters()
        )

    @cached_property
    def chapters(self) -> set[str]:
        in_name = re.findall(r"(?:^|\D)(\d\d)[_\- ]", self.name)
        return self.named_chapters | {n for n in in_name if n in exercises.chapters()}

    @cached_property
    def of_the_course(self) -> bool:
        """Whether anything besides the names that it binds identifies this as a notebook of the course."""
        return bool(self.chapters) or any("minigrad" in cell.source for cell in self.cells)


def read_notebook(data: bytes, name: str = "") -> Notebook:
    """The code cells of a notebook of format 3 or 4. Raises ValueError, with a sentence, for any other data."""
    try:
        raw = json.loads(data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace"))
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
    if len(cells) > MOST_CELLS:
        raise ValueError(f"{name or 'the notebook'} has {len(cells):,} cells; more than {MOST_CELLS:,} are not read")
    code = [cell for number, raw_cell in enumerate(cells, 1) if (cell := _cell(raw_cell, number)) is not None]
    parts = [[_source(c), c.get("outputs"), c.get("execution_count")] for c in cells if isinstance(c, dict)]
    content = hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "replace")).hexdigest()[:24]
    return Notebook(name, code, [t for c in cells if (t := _text(c))], content)


def _list(x: Any) -> list:
    return x if isinstance(x, list) else []


def _dict(x: Any) -> dict[str, Any]:
    return x if isinstance(x, dict) else {}


def _source(raw: dict[str, Any]) -> str:
    text = raw.get("source", raw.get("input", ""))
    text = "".join(t for t in text if isinstance(t, str)) if isinstance(text, list) else text
    return text if isinstance(text, str) and text.strip() else ""


def _text(raw: Any) -> str:
    return _source(raw) if isinstance(raw, dict) and raw.get("cell_type", "code") != "code" else ""


def _cell(raw: Any, number: int) -> Cell | None:
    if not isinstance(raw, dict) or raw.get("cell_type", "code") != "code" or not (text := _source(raw)):
        return None
    metadata = _dict(raw.get("metadata"))
    graded, tagged = _dict(metadata.get("nbgrader")), _dict(metadata.get("minigrad"))
    by_grade = re.fullmatch(r"answer-(\d\d)-([a-z]\d?)", str(graded.get("grade_id", "")))
    marker = re.search(
        r"^[^\S\n]*#+[^\S\n]*(?:minigrad[^\S\n]+)?exercise[^\S\n]*:?[^\S\n]*(\d\d\.[a-z]\d?)\b", text, re.M | re.I
    )
    id = tagged.get("exercise")
    return Cell(without_magics(text), ".".join(by_grade.groups()) if by_grade else "", id if isinstance(id, str) else "",
                marker.group(1).lower() if marker else "", number, _claims(raw))  # fmt: skip


def _claims(raw: dict[str, Any]) -> tuple[Claim, ...]:
    result = (read_claim(_dict(output).get("metadata")) for output in _list(raw.get("outputs")))
    return tuple(claim for claim in result if claim is not None)


def without_magics(text: str) -> str:
    """The cell as Python: %magic, !command and help? lines become `pass`, with as many lines as before."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    if text.lstrip().startswith("%%"):
        head, _, rest = text.lstrip().partition("\n")
        above = "\n" * (len(text) - len(text.lstrip()))
        text = f"{above}#{head}\n{rest}" if re.match(r"%%(time|timeit|capture|prun)\b", head) else ""
    try:
        ast.parse(text)
        return text
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    parts, at, depth, fresh = [], 0, 0, True
    while at < len(text):  # one pass: a second parse for every such line would take hours for a few thousand of them
        if fresh and (m := MAGIC.match(text, at)):
            parts.append(m[1] + "pass")
            at = m.end()
        else:
            m = TOKEN.match(text, at)
            assert m is not None  # the last alternative is any character
            parts.append(m[0])
            at, token = m.end(), m[0]
            depth = depth + 1 if token in ("(", "[", "{") else max(depth - 1, 0) if token in (")", "]", "}") else depth
        fresh = depth == 0 and parts[-1] == "\n"
    return "".join(parts)


# A line that only IPython understands; it counts where a statement may begin.
MAGIC = re.compile(r"([^\S\n]*)(?:[%!?][^\n]*|\w+[^\S\n]*=[^\S\n]*[%!][^\n]*|[\w.]+\?\??[^\S\n]*)(?=\n|\Z)")
# Strings, comments, what continues a line, runs of anything harmless, and single characters.
TOKEN = re.compile(r'''"{3}(?:[^"\\]|\\.|"(?!""))*(?:"{3}|\Z)|\'{3}(?:[^'\\]|\\.|'(?!''))*(?:'{3}|\Z)|"(?:[^"\\\n]|\\.)*"?|'''
                   r"""'(?:[^'\\\n]|\\.)*'?|\#[^\n]*|\\.|[^\n()\[\]{}"'#\\]+|.""", re.S)  # fmt: skip


# ---- choosing the answer --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """The cell that answers an exercise, the definitions of other cells that it uses, and how it was identified."""

    source: str
    helpers: tuple[str, ...] = ()
    by: str = ""
    tried: bool = True  # False: the stub as it was handed out
    shingles: tuple[int, ...] = ()
    as_solution: bool = False  # the reference solution, comments and layout apart
    after: tuple[str, ...] = ()  # statements of other cells that change what the cell defines
    lines: tuple[int, ...] = ()  # a hash of each statement, whatever its names and its place
    doubt: str = ""  # why this may be the wrong cell: with less than full points a person has to decide
    where: str = ""  # the cell, for a person


@dataclass(frozen=True)
class Book:
    """The graded part of a notebook: its name, its time of change, and its answers by exercise."""

    name: str
    when: float
    answers: dict[str, Answer]
    claims: dict[str, Claim] = field(default_factory=dict)  # by exercise: the last verdict of `check` in the notebook
    content: str = ""  # a hash of its cells with their outputs
    explained: dict[str, str] = field(default_factory=dict)  # by chapter: the text passed to `check.explain`


def explained(nb: Notebook) -> dict[str, str]:
    """By chapter the text that a notebook passes to `check.explain`."""
    texts = {}
    for node in (node for cell in nb.cells for part in cell.body for node in ast.walk(part)):
        match node:
            case ast.Call(ast.Attribute(attr="explain"), [ast.Constant(str(chapter)), ast.Constant(str(text))]):
                if chapter in QUESTIONS and text.strip():
                    texts[chapter] = text.strip()[:LONGEST_TEXT]
    return texts


def find_answer(ex: Exercise, nb: Notebook) -> Answer | None:
    """The answer to one exercise in a notebook: by grade id, cell metadata, marker comment, `check`'s argument, then the name it defines.

    Of several cells the last one that is not the untouched stub counts. None when there is no trace of the exercise.
    """
    if not nb.of_the_course or (nb.chapters and ex.chapter not in nb.chapters):
        return None
    untouched: Answer | None = None
    for by, pick in (
        ("grade id", lambda: [i for i, c in enumerate(nb.cells) if c.graded == ex.id]),
        ("cell metadata", lambda: [i for i, c in enumerate(nb.cells) if c.tagged == ex.id]),
        ("marker comment", lambda: [i for i, c in enumerate(nb.cells) if c.marked == ex.id]),
        ("check's argument", lambda: []),
        ("name", lambda: _by_name(ex, nb)),
        ("name", lambda: _in_another_cell(ex, nb)),
    ):
        if by == "check's argument":
            if (answer := _handed_over(ex, nb)) is not None:
                return answer
            continue
        places = [i for i in pick() if nb.cells[i].answers(ex)]
        tried = [i for i in places if not is_stub(nb.cells[i].source, ex.stub)]
        if (
            tried
            and by != "name"
            and _keeps_stub(ex, nb.cells[tried[-1]])
            and (answer := _handed_over(ex, nb)) is not None
        ):
            return answer  # the stub is still in the cell, and something else was given to check
        if tried:
            if not ex.is_value:  # a definition is an answer rather than an assignment
                tried = [i for i in tried if nb.cells[i].defines(ex.entry)] or tried
            while len(tried) > 1 and any(
                ex.entry in _used_at_once(s) for s in nb.cells[tried[-1]].written.get(ex.entry, ())
            ):
                tried.pop()  # `class Value(Value)` adds to the cell above it, as `helpers` finds
            return _answer(ex, nb, tried[-1], by, _doubt(ex, nb, tried, by))
        if places and untouched is None:
            untouched = Answer(nb.cells[places[-1]].source, (), by, tried=False, where=_where(nb.cells[places[-1]]))
    return untouched


def _handed_over(ex: Exercise, nb: Notebook) -> Answer | None:
    """The answer that was given to `check` under another name, or as an expression."""
    for number, argument in reversed(nb.calls.get(ex.id, [])):
        if argument is None or (isinstance(argument, ast.Name) and argument.id == ex.entry):
            continue
        if not isinstance(argument, ast.Name):
            if not lent(argument):
                source = f"{ex.entry} = ({nb.cells[number].text(argument)}\n)\n"
                return _answer(ex, nb, number, "check's argument", source=source, apart=True)
            continue
        where = [i for i, c in enumerate(nb.cells) if argument.id in c.written]
        if where:
            cell = nb.cells[where[-1]]
            return _answer(ex, nb, where[-1], "check's argument", source=f"{cell.source}\n{ex.entry} = {argument.id}\n")
    return None


def _answer(
    ex: Exercise, nb: Notebook, at: int, by: str, doubt: str = "", source: str = "", apart: bool = False
) -> Answer:
    """The answer in cell `at`, or in `source`, which replaces the cell (or, `apart`, is only a part of it)."""
    text = source or nb.cells[at].source
    used, after = helpers(nb, at, source if apart else None)
    where = _where(nb.cells[at])
    if ex.is_value:
        return Answer(text, used, by, after=after, doubt=doubt, where=where)
    return Answer(
        text,
        used,
        by,
        after=after,
        doubt=doubt,
        where=where,
        shingles=tuple(shingles(text)),
        lines=tuple(line_prints(text)),
        as_solution=is_stub(text, ex.solution),
    )


def _where(cell: Cell) -> str:
    return f"cell {cell.number} ({cell.title})"


def _keeps_stub(ex: Exercise, cell: Cell) -> bool:
    """Whether the cell, whatever else is in it, still defines the exercise's name as the stub does."""
    stub = Cell(ex.stub).written.get(ex.entry, [])
    definitions = cell.written.get(ex.entry, [])
    return bool(definitions and stub) and ast.dump(definitions[-1]) == ast.dump(stub[-1])


def _doubt(ex: Exercise, nb: Notebook, places: Sequence[int], by: str) -> str:
    """Why the last of these cells may not be the answer, or ""."""
    cells = [nb.cells[i] for i in places]
    last = _where(cells[-1])
    if len({_program(cell.source) for cell in cells}) > 1:
        others = " and ".join(f"cell {cell.number}" for cell in cells[:-1])
        return f"{ex.id} is answered in {others} and in {last}: the last one was run"
    if by == "name" and cells[-1].ids - {ex.id}:
        return f"{ex.id} was found in the cell of another exercise, {last}"
    if by == "name" and not nb.named_chapters:
        return f"{ex.id} was found by the name {ex.entry} alone, in {last}"
    arguments = {a.id for _, a in nb.calls.get(ex.id, []) if isinstance(a, ast.Name)} - {ex.entry}
    if elsewhere := sorted(name for name in arguments if any(name in c.written for c in nb.cells)):
        return f"{ex.id} was also checked as {', '.join(elsewhere)}, but {last} was run"
    return ""


def _program(source: str) -> str:
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source


def unclear(ex: Exercise, nb: Notebook) -> str:
    """What a person has to decide about an exercise for which no answer was found, or ""."""
    if in_text(ex, nb):
        return f"the answer to {ex.id} in {nb.name} is in a text cell, where it is not run"
    changed = [c for c in nb.cells if ex.id in c.ids and not is_stub(c.source, ex.stub) and c.source.strip(" \n\tpas")]
    if changed and not any(c.answers(ex) for c in nb.cells if ex.id in c.ids):
        return f"the cell of {ex.id} in {nb.name} was changed and defines no {ex.entry}"
    return ""


def strange(nb: Notebook, request: Sequence[Exercise]) -> str:
    """A remark on a notebook in which only names are like the course's, or ""."""
    names = sorted({ex.entry for ex in request if any(cell.answers(ex) for cell in nb.cells)})
    if nb.of_the_course or not names:
        return ""
    return f"nothing but the names {', '.join(names[:5])} says that {nb.name or 'the notebook'} belongs to this course, so it was not run"


def in_text(ex: Exercise, nb: Notebook) -> bool:
    """Whether a cell that is not code looks like the answer to an exercise."""
    like = re.compile(rf"^[ \t]*(?:(?:def|class)[ \t]+{ex.entry}\b|{ex.entry}[ \t]*=(?!=))", re.M)
    return (not nb.chapters or ex.chapter in nb.chapters) and any(like.search(text) for text in nb.texts)


def choose(books: Sequence[Book]) -> tuple[dict[str, tuple[Book, Answer]], list[str]]:
    """The answers that count, and what a person has to know. Of two notebooks with the same exercises the newest one counts, whole.

    Two copies of a chapter are never mixed. One that is as it was handed out is no submission: then the one with answers counts.
    """
    counts: dict[str, tuple[Book, Answer]] = {}
    problems: list[str] = []
    order = newest_first(books)
    for chapter in sorted({id[:2] for book in books for id in book.answers}):
        candidates = [(b, {id: a for id, a in b.answers.items() if id[:2] == chapter}) for b in order]
        tried = [(b, answers) for b, answers in candidates if any(a.tried for a in answers.values())]
        used: dict[str, Book] = {}
        for book, answers in tried or candidates:
            rival = next((used[id] for id in answers if id in used), None)
            if rival is None:
                used |= dict.fromkeys(answers, book)
                counts |= {id: (book, answer) for id, answer in answers.items()}
            elif tried:
                sentence = (
                    "is the newer one and counts" if _age_known(rival, book) else "counts (nothing says which is newer)"
                )
                problems.append(
                    f"chapter {chapter} was handed in more than once: {rival.name} {sentence}, {book.name} does not"
                )
        if tried and (new := next((b for b, answers in candidates if answers), None)) and new is not tried[0][0]:
            problems.append(f"chapter {chapter}: {new.name} is newer but has no answers, so {tried[0][0].name} counts")
    return counts, problems


def newest_first(books: Sequence[Book]) -> list[Book]:
    """By the number that a browser, JupyterLab or Canvas gave a copy of the same name, else by Canvas' number of the file or by date."""
    groups: dict[str, list[Book]] = {}
    for book in books:
        groups.setdefault(_copy(book)[0], []).append(book)
    full = sorted(groups.values(), key=lambda group: (max(map(_age, group)), group[0].name), reverse=True)
    return [b for group in full for b in sorted(group, key=lambda b: (_copy(b)[1], _age(b), b.name), reverse=True)]


def _age(book: Book) -> tuple[int, float]:
    """Canvas numbers files as they arrive, and writes the time of the download into its zip file."""
    m = CANVAS.match(book.name)
    return int(m["file"] or 0) if m else 0, book.when


def _copy(book: Book) -> tuple[str, int]:
    """The name that copies share, and the number of this one. What Canvas writes before a name is no part of it."""
    m = CANVAS.match(book.name)
    name = m["rest"] if m and m["rest"] else book.name
    m = COPY.fullmatch(name)
    if m is None:
        return name, 0
    marked = m[2] or m[3] or m[4]
    return m[1].lower(), int(marked) if marked else int(m[3] is not None)


def _age_known(a: Book, b: Book) -> bool:
    return _age(a) != _age(b) or (_copy(a)[0] == _copy(b)[0] and _copy(a)[1] != _copy(b)[1])


def _by_name(ex: Exercise, nb: Notebook) -> list[int]:
    """Cells that define the exercise's name. Where other exercises of the chapter use the same name, the ones just before its check."""
    binding = [i for i, c in enumerate(nb.cells) if c.answers(ex) and c.ids <= {ex.id}]
    near = nb.chapters or set(exercises.chapters())
    rivals = [
        other.id
        for other in exercises.values()
        if other.entry == ex.entry and other.id != ex.id and other.chapter in near
    ]
    if ex.id in nb.calls:
        at = nb.calls[ex.id][0][0]
        since = max((nb.calls[r][0][0] for r in rivals if r in nb.calls and nb.calls[r][0][0] < at), default=-1)
        before = [i for i in binding if since < i <= at] if rivals else binding
        return before or ([] if rivals else binding)
    return [] if any(r[:2] == ex.chapter for r in rivals) or (rivals and not nb.chapters) else binding


def _in_another_cell(ex: Exercise, nb: Notebook) -> list[int]:
    """Cells of other exercises that define the name, where their own stubs and solutions do not."""
    results = []
    for i, cell in enumerate(nb.cells):
        others = [exercises[id] for id in cell.ids if id != ex.id and id in exercises]
        if (
            others
            and cell.defines(ex.entry)
            and not any(ex.entry in Cell(o.stub).names | Cell(o.solution).names for o in others)
        ):
            results.append(i)
    return results


def helpers(nb: Notebook, at: int, source: str | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The top-level statements of other cells that the cell needs: what runs before it, and what runs after it.

    Before it: definitions, imports and assignments of the names that it uses, and statements that change one of them
    (`Value.__radd__ = ...`). A name counts as its last definition before the cell, else its first one after it. After it: statements that
    change what the cell itself defines, or bind it anew from what it was (`class Value(Value)`), with what they use.
    """
    cell = Cell(source) if source is not None else nb.cells[at]
    own = cell.names
    used: dict[tuple[int, int], ast.stmt] = {}
    done: set[str] = set()
    renamed: dict[tuple[int, int], str] = {}

    def take(names: set[str]) -> None:
        todo = sorted(names - own)
        while todo:
            name = todo.pop()
            if name in done:
                continue
            done.add(name)
            if alias := nb.aliases.get(name):
                renamed[nb.defined[alias][-1][0], len(used) + MOST_CELLS] = f"{name} = {alias}"
                todo.append(alias)
            places = [(i, j) for i, j in nb.defined.get(name, ()) if i != at or source is not None]
            if not places:
                continue
            before = [p for p in places if p[0] < at]
            place = before[-1] if before else places[0]
            statement = nb.cells[place[0]].body[place[1]]
            used[place] = statement
            todo += sorted(needed(nb.cells[place[0]].text(statement)) - done - own)

    take(needed(cell.source))
    others = [(i, j, s) for i, c in enumerate(nb.cells) if i != at for j, s in enumerate(c.body)]
    later: set[tuple[int, int]] = set()
    if source is None:
        for i, j, s in others:
            text = nb.cells[i].text(s)
            anew = nb.cells[i].ids <= cell.ids and bool(bound(s) & own & _used_at_once(s)) and not lent(s)
            if i > at and (anew or _changes(s) in own):
                used[i, j] = s
                later.add((i, j))
                take(needed(text))
    for i, j, s in others:
        if (i, j) not in used and _changes(s) in done:
            used[i, j] = s
    late = {
        (i, j) for i, j in used if (i, j) in later or (later and i > at and needed(nb.cells[i].text(used[i, j])) & own)
    }
    text_of = dict(sorted((renamed | {place: nb.cells[place[0]].text(s) for place, s in used.items()}).items()))
    return tuple(t for p, t in text_of.items() if p not in late), tuple(t for p, t in text_of.items() if p in late)


def _used_at_once(statement: ast.stmt) -> set[str]:
    """The names that a definition or an assignment looks up when it runs, not when the defined function is called."""
    parts: list[ast.AST] = []
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts = [*statement.decorator_list, *statement.args.defaults]
    elif isinstance(statement, ast.ClassDef):
        parts = [*statement.decorator_list, *statement.bases]
    elif isinstance(statement, ast.Assign):
        parts = [statement.value]
    return {
        n.id for part in parts if not isinstance(part, ast.Lambda) for n in ast.walk(part) if isinstance(n, ast.Name)
    }


def lent(node: ast.stmt | ast.expr) -> bool:
    """Whether a statement takes something from the course: `check.mine(...)` or `check.engine()`, outside of a definition."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    return any(
        isinstance(n, ast.Attribute)
        and n.attr in ("mine", "engine")
        and isinstance(n.value, ast.Name)
        and n.value.id == "check"
        for n in ast.walk(node)
    )


def _is_literal(statement: ast.stmt) -> bool:
    """Whether a statement assigns a number, a text, a container or a result of arithmetic, which is no function or class."""
    value = getattr(statement, "value", None)
    kinds = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.BinOp, ast.UnaryOp, ast.Compare, ast.JoinedStr, ast.ListComp,
             ast.SetComp, ast.DictComp, ast.GeneratorExp)  # fmt: skip
    targets = getattr(statement, "targets", [])
    unpacked = any(isinstance(t, (ast.Tuple, ast.List)) for t in targets)
    return isinstance(value, kinds) and not (unpacked and isinstance(value, (ast.Tuple, ast.List)))


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
    """The global names that a program, or a function defined in it, looks up. By the syntax tree, because compiling can take forever."""
    try:
        todo = [symtable.symtable(source, "<cell>", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return set()
    names: set[str] = set()
    for table in todo:
        names |= {
            n.get_name()
            for n in table.get_symbols()
            if n.is_referenced() and (n.is_global() or table.get_type() == "module")
        }
        todo += table.get_children()
    return names - {"check", "get_ipython"}


def _changes(statement: ast.stmt) -> str:
    """The name of which a statement sets an attribute or an item, or ""."""
    target: Any = None
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        target = statement.target
    elif isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call) and call.args:
        if isinstance(call.func, ast.Name) and call.func.id == "setattr" and isinstance(call.args[0], ast.Name):
            return call.args[0].id
    if not isinstance(target, (ast.Attribute, ast.Subscript)):
        return ""
    return target.value.id if isinstance(target.value, ast.Name) else ""


def is_stub(source: str, stub: str) -> bool:
    """The same program, comments and layout apart. Reading a syntax tree executes nothing."""
    try:
        return ast.dump(ast.parse(source)) == ast.dump(ast.parse(stub))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


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


def line_prints(source: str) -> list[int]:
    """A hash of each statement (of one with a body, of its head), in which variables have the names v0, v1, ... in the order of their use.

    Exchanged lines and other names change nothing, and a rewritten line changes only itself.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    prints = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or isinstance(node, (ast.Pass, ast.Break, ast.Continue)):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        names: dict[str, str] = {}
        words: list[str] = []
        todo: list[ast.AST] = [node]
        while todo:
            part = todo.pop()
            words.append(_word(part, names))
            inside = [child for child in ast.iter_child_nodes(part) if not isinstance(child, ast.stmt)]
            todo += reversed(inside)
        text = " ".join(words)
        prints.add(int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).digest(), "big"))
    return sorted(prints)


def _word(node: ast.AST, names: dict[str, str]) -> str:
    """A node of a statement as text: a variable by its number, the names of the language and of attributes as they are."""
    word = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
    if word:
        return word if hasattr(builtins, word) else names.setdefault(word, f"v{len(names)}")
    detail = node.attr if isinstance(node, ast.Attribute) else ""
    if isinstance(node, ast.Constant):  # Python refuses to write a very long number in decimal
        detail = (hex(node.value) if isinstance(node.value, int) else ascii(node.value))[:40]
    return type(node).__name__ + detail
