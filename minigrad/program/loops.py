"""Runs of elementwise lines as loops over their numbers, and memory that is made once.

What lives here: which lines share a loop, the loop's text, which values share a buffer. What does not: what a row computes for one number
(formulas.py), sums and the like (rows.py), how the text is compiled (kernels/fused_numba.py), and the lines around it (text.py).

A line joins the last loop over its shape that what it reads allows; small loops over other shapes are a function together, one part after
the other. Nothing is moved across a line that writes to memory.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .formulas import filled, number_row
from .recorder import Line, Val, all_vals
from .rows import kind_of_rows, looked_up, text_of_rows
from .statements import Statement

LETTERS = "ijklmnabcdefgh"
FLOATS = ("float32", "float64")
SMALL = 4096  # bytes of a constant that is computed once
FEW = 256  # numbers that numpy takes less time for than the call of a loop
SHARED = (
    65_536  # bytes of the largest array of loops over several shapes that are one function: larger ones are freed early
)
HELD = 8192  # bytes of the largest buffer kept between calls. Larger ones are freed, so a program holds no more than eager code
# Not before the check that nothing outside of the memory is read or written
LOOK_UP = (
    "nll_loss",
    "nll_loss_back_x",
    "index_back",
)
WRITES = ("write", "add", "update", "schedule")


class Part:
    """Lines that share one loop over a shape; or one line that is a loop over rows, with the words of its text."""

    def __init__(self, line: Line, rows: Any = None) -> None:
        self.lines, self.shape, self.rows = [line], None if rows else line.outs[0].array.shape, rows


class Loop(Line):
    """Several lines in one function. `ins` are arrays that it reads, `outs` those that it fills; `alone`: its first line, as recorded."""

    __slots__ = ("alone", "dtype", "parts")

    def __init__(self, part: Part, dtype: Any, alone: Line) -> None:
        super().__init__("loop", None, [], (), (alone.place, alone.back))
        self.parts, self.dtype, self.alone = [part], dtype, alone

    @property
    def lines(self) -> list[Line]:
        return [line for part in self.parts for line in part.lines]


def number_of(v: Val, written: set[int]) -> Any:
    """The one number that a constant is everywhere, or None."""
    a = v.array
    if (
        v.name != "constant"
        or id(v) in written
        or a.dtype.kind not in "fib"
        or not a.size
        or a.nbytes > SMALL
        and any(a.strides)
    ):
        return None
    number = a[(0,) * a.ndim]
    return number if np.isfinite(number) and (not any(a.strides) or (a == number).all()) else None


def fold(lines: list[Line], written: set[int]) -> list[Line]:
    """Without the lines that compute the same at every call, from constants alone: their results become constants."""
    remaining = []
    for line in lines:
        operands = list(all_vals([*line.ins, *line.params]))
        constant = line.kind in ("op", "rule", "cast") and all(
            [v.name == "constant" and id(v.base) not in written for v in operands]
        )
        outs = [v for v in line.outs if v is not None]
        if constant and operands and all([v.array.nbytes <= SMALL or not any(v.array.strides) for v in outs]) and not any(
                [id(v.base) in written or id(v) in written for v in outs]):  # fmt: skip
            for v in outs:
                v.name, v.line = "constant", None
        else:
            remaining.append(line)
    return remaining


def each(line: Line, written: set[int]) -> Any:
    """The dtype of a line that can be in a loop: every number of its result depends on one number of each input. Else None."""
    if line.kind != "op" or len(line.outs) != 1 or line.what.tensor_list or number_row(line.what, line.params) is None:
        return None
    out = line.outs[0].array
    kinds = {v.array.dtype.name for v in line.ins if v.array.dtype.kind != "b"} | ({out.dtype.name} - {"bool"})
    if len(kinds) != 1 or not kinds <= set(FLOATS) or not out.size or out.ndim > len(LETTERS):
        return None
    unshared = line.outs[0].base is line.outs[0] and id(line.outs[0]) not in written
    return kinds.pop() if unshared and layout(out) is not None else None


def seen_through(line: Line) -> Line:
    """The line with the sources of expanded inputs, because a loop broadcasts without them."""
    ins = list(line.ins)
    for n, v in enumerate(ins):
        while v.line is not None and v.line.kind == "op" and v.line.what.name == "expand":
            v = v.line.ins[0]
        ins[n] = v
    if ins == line.ins:
        return line
    new = Line(line.kind, line.what, ins, line.params, (line.place, line.back))
    new.outs = line.outs
    return new


def small(lines: list[Line]) -> bool:
    """May they share a function with loops over other shapes? Large memory is freed early, which one function for all would not."""
    return all([v.array.nbytes <= SHARED for line in lines for v in all_vals([*line.ins, *line.params, *line.outs])])


def joined(lines: list[Line], written: set[int]) -> list[Line]:
    """The lines, with loops where two or more can share one. `connect` then sets which arrays they read and fill."""
    steps: list[Line] = []
    positions: dict[int, tuple[int, int]] = {}  # the step that computes a Val, and the part of it
    checked: set[tuple[int, int]] = set()  # positions, and how many there are to choose from
    start = last_check = 0
    read = {id(v.base) for line in lines if line.kind != "follow" for v in all_vals([*line.ins, *line.params])}
    for line in lines:
        dtype = each(line, written)
        rows = kind_of_rows(line, written, checked) if dtype is None else None
        at = len(steps), 0
        if dtype is not None or rows is not None:
            wide = line if rows else seen_through(line)
            first = max(
                [(start, 0), *[positions[id(v)] for v in all_vals([*wide.ins, *wide.params]) if id(v) in positions]]
            )
            if rows:
                first, dtype = max(first, (last_check if rows[0] in LOOK_UP else 0, 0)), rows[1]
            at = placed(steps, wide, Part(wide, rows), first, dtype, line)
        else:
            steps.append(line)
            start = (
                len(steps)
                if line.kind in WRITES or line.kind == "follow" and any([id(v.base) in read for v in line.ins])
                else start
            )
            if line.kind == "check":
                checked.update([(id(lookup[0]), lookup[1])] if (lookup := looked_up(line)) else ())
                last_check = len(steps)
        positions.update([(id(v), at) for v in line.outs if v is not None])
    return [
        step.alone if isinstance(step, Loop) and len(step.lines) == 1 and quick(step.alone) else step for step in steps
    ]


def placed(
    steps: list[Line], line: Line, part: Part, first: tuple[int, int], dtype: Any, alone: Line
) -> tuple[int, int]:
    """Put a line into the last loop from `first` on that it can share, else into one of its own. Returns (step, part)."""
    for number in range(len(steps) - 1, first[0] - 1, -1):
        step = steps[number]
        if not isinstance(step, Loop) or step.dtype != dtype:
            continue
        least = first[1] if number == first[0] else 0
        same = [k for k in range(least, len(step.parts)) if part.rows is None and step.parts[k].shape == part.shape]
        if same:
            step.parts[same[-1]].lines.append(line)
            return number, same[-1]
        if small([line, *step.lines]):
            step.parts.append(part)
            return number, len(step.parts) - 1
    steps.append(Loop(part, dtype, alone))
    return len(steps) - 1, 0


def quick(line: Line) -> bool:
    """Is the row one call of numpy's, which a loop of its own would not beat? Of many float32 numbers exp, log and tanh are vector code in
    loops, three to five times as fast as numpy's."""
    if line.kind != "op" or not isinstance(line.what.forward, (np.ufunc, types.BuiltinFunctionType)):
        return False
    a = line.outs[0].array
    return line.what.forward not in (np.exp, np.log, np.tanh) or a.dtype != np.float32 or a.size <= FEW


def connect(steps: list[Line], returned: list[Val], written: set[int]) -> None:
    """Tell every loop which arrays it reads and which of its values others read."""
    used = {id(v) for v in returned}
    for step in steps:
        if not isinstance(step, Loop):
            used.update([id(v) for v in all_vals([*step.ins, *step.params])])
    parts = [(step, part) for step in steps if isinstance(step, Loop) for part in step.parts]
    inside = {id(v): (step, part) for step, part in parts for line in part.lines for v in line.outs}
    read: dict[int, list[Val]] = {}
    for step, part in parts:
        for v in read_by(part, written):
            maker, its_part = inside.get(id(v), (None, None))
            if maker is not step:
                read.setdefault(id(step), []).append(v)
            if its_part is not part:
                used.add(id(v))
    for step in steps:
        if isinstance(step, Loop):
            step.ins = list(dict.fromkeys(read.get(id(step), [])))
            step.outs = tuple([v for line in step.lines for v in line.outs if id(v) in used])


def read_by(part: Part, written: set[int]) -> list[Val]:
    """The arrays that a part reads."""
    vals = [v for line in part.lines for v in line.ins] if part.rows is None else [
        v for v in part.rows[2].values() if isinstance(v, Val) and v not in part.lines[0].outs
    ]  # fmt: skip
    return [v for v in vals if number_of(v, written) is None or (part.rows and v.array.ndim)]


def planned(steps: list[Line], escaping: set[int]) -> dict[int, np.ndarray]:
    """{value: the memory that is made for it once}, for values not referenced afterwards. Values not alive at once share it."""
    last: dict[int, int] = {}  # the step that reads a memory last
    for number, step in enumerate(steps):
        last.update([(id(v.base), number) for v in all_vals([*step.ins, *step.params, *step.outs])])
    buffers: dict[int, np.ndarray] = {}
    spare: dict[Any, list[np.ndarray]] = {}
    ends: dict[int, list[int]] = {}
    for number, step in enumerate(steps):
        loop = step.kind == "loop"
        call = step.kind == "op" and isinstance(step.what.forward, np.ufunc) and not step.params and step.what.single
        for v in step.outs if loop or call else ():
            key = layout(v.array)
            if (
                v.base is v
                and id(v) not in escaping
                and (v.array.ndim or loop)
                and key is not None
                and v.array.nbytes <= HELD
            ):
                free = spare.setdefault(key, [])
                buffers[id(v)] = free.pop() if free else np.empty(*key)
                ends.setdefault(last[id(v)], []).append(id(v))
        for v in ends.get(number, ()):
            spare[layout(buffers[v])].append(buffers[v])
    return buffers


def layout(a: np.ndarray) -> Any:
    """What np.empty needs to make an array like this one; None where its numbers lie in another order."""
    return (
        (a.shape, a.dtype, "C" if a.flags.c_contiguous else "F")
        if a.flags.c_contiguous or a.flags.f_contiguous
        else None
    )


def element(name: str, array: Any, letters: list[str]) -> str:
    """How a loop reads one number of an array that may have to be broadcast."""
    places = [
        letter if size > 1 else "0"
        for size, letter in zip(array.shape, letters[len(letters) - array.ndim :], strict=True)
    ]
    return f"{name}[{', '.join(places) or '()'}]"


def arrays_of(loop: Loop, names: dict[int, str]) -> list[Val]:
    """The arrays that a loop takes: one for each name."""
    return list({names[id(v)]: v for v in [*loop.ins, *loop.outs]}.values())


def number_in(name: str, used_names: set[str]) -> str:
    """The name of the number that was read from an array, or goes to it: the array's, with underscores."""
    free = next(name + "_" * n for n in range(1, len(used_names) + 2) if name + "_" * n not in used_names)
    used_names.add(free)
    return free


def text_of(
    loop: Loop, name: str, names: dict[int, str], written: set[int], comment: Callable[[Line], list[Statement]]
) -> tuple[str, list[Statement]]:
    """The loop as a Python function, and its statements, without indentation.

    names  of the arrays that it reads and fills, and of the values in between, by the id of the Val
    """
    used_names = set(names.values())
    text = [f"def {name}({', '.join(names[id(v)] for v in arrays_of(loop, names))}):"]
    statements: list[Statement] = []
    for part in loop.parts:
        write = of_rows if part.rows else of_numbers
        heads, body = write(part, loop, name, names, written, comment, used_names)
        text += ["    " + head for head in heads]
        text += ["    " * (1 + len(heads)) + statement.text for statement in body]
        statements += body
    return "\n".join(text) + "\n", statements


def of_rows(
    part: Part,
    loop: Loop,
    name: str,
    names: dict[int, str],
    written: set[int],
    comment: Callable[[Line], list[Statement]],
    used_names: set[str],
) -> tuple[list[str], list[Statement]]:
    """The text of a part that is a loop over rows, without results that no line reads."""
    key, _, words = part.rows
    line = part.lines[0]
    outs = line.outs

    def word(v: Any) -> Any:
        if not isinstance(v, Val):
            return v
        if v.array.ndim or v in outs:
            return names[id(v)]
        number = number_of(v, written)
        return names[id(v)] + "[()]" if number is None else f"({float(number)})" if number < 0 else str(float(number))

    letters = [letter for letter in LETTERS if letter not in used_names]
    local = dict(zip("ijklmn", letters, strict=False))

    def free(base: str) -> str:
        return local.get(base) or (number_in(base, set(used_names)) if base in used_names else base)

    used = {k: word(v) for k, v in words.items() if v not in outs or v in loop.outs}
    return [], [*comment(line), *[Statement(text, line, name) for text in text_of_rows(key, used, free)]]


def of_numbers(
    part: Part,
    loop: Loop,
    name: str,
    names: dict[int, str],
    written: set[int],
    comment: Callable[[Line], list[Statement]],
    used_names: set[str],
) -> tuple[list[str], list[Statement]]:
    """The heads of the loops over the numbers that elementwise lines share, and the statements inside."""
    letters = [letter for letter in LETTERS if letter not in used_names][: len(part.shape or ())]
    words: dict[int, str] = {}  # {id of a Val: how the loop writes its number}
    inside = {id(line.outs[0]) for line in part.lines}
    for line in part.lines:
        for v in line.ins:
            if id(v) not in inside and number_of(v, written) is None:
                words[id(v)] = element(names[id(v)], v.array, letters)
    body: list[Statement] = []
    stored = {id(v) for v in loop.outs}
    read_in_part = {id(v) for line in part.lines for v in line.ins}
    for line in part.lines:
        body += comment(line)
        for v in line.ins:
            if id(v) not in words:
                number = number_of(v, written)
                words[id(v)] = str(number) if v.array.dtype.kind != "f" or number != int(number) else str(float(number))
        out, row = line.outs[0], number_row(line.what, line.params) or ""
        # Numbers are read before the choice: a choice between numbers is vectorised, one between loads is not
        if " if " in row:
            for v in line.ins:
                if "[" in words[id(v)]:
                    number = number_in(names[id(v)], used_names)
                    body.append(Statement(f"{number} = {words[id(v)]}", line, name))
                    words[id(v)] = number
        value = filled(row, dict(zip(line.what.inputs, [words[id(v)] for v in line.ins], strict=True)))
        target = names[id(out)]
        if id(out) not in stored:
            body.append(Statement(f"{target} = {value}", line, name))
            words[id(out)] = target
        else:
            place = element(target, out.array, letters)
            inner = number_in(target, used_names)
            target = f"{place} = {inner}" if id(out) in read_in_part else place
            body.append(Statement(f"{target} = {value}", line, name))
            words[id(out)] = inner
    sizes = [(letter, size) for letter, size in zip(letters, part.shape or (), strict=True) if size > 1]
    return ["    " * depth + f"for {letter} in range({size}):" for depth, (letter, size) in enumerate(sizes)], body
