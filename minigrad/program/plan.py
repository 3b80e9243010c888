"""What a program does with the recorded lines before it is written: which are needed, which copies and views are only names, and when a
value is read last.

Nothing is reordered across a line that writes to memory, so these passes only select lines, merge them into loops, and look ahead.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..ops.shape import reshape_alias, view
from ..ops.shape import t as transpose
from .loops import connect, fold, joined
from .recorder import Line, Val, all_vals

LARGE = 4096  # bytes: smaller values are freed only when the program returns, which keeps the text short
# Kinds of lines that are needed even if no line reads a result of theirs
EFFECTS = (
    "grad",
    "update",
    "schedule",
    "check",
    "follow",
)
# Views of the same numbers in the same order if shape and strides are equal
KEEPS_NUMBERS = {
    transpose,
    view,
    reshape_alias,
}


def with_loops(lines: list[Line], returned: list[Val], written: set[int]) -> list[Line]:
    """The lines, with loops in the place of runs of elementwise ones."""
    lines = joined(fold(lines, written), written)
    connect(lines, returned, written)
    lines = needed(lines, returned)
    connect(lines, returned, written)
    return lines


def needed(lines: list[Line], results: list[Val]) -> list[Line]:
    """The lines whose results are read later, or that change something outside of the program."""
    live: set[int] = set()

    def need(values: Iterable[Any]) -> None:
        for v in all_vals(values):
            live.update((id(v), id(v.base)))

    need(results)
    selected = []
    for line in reversed(lines):
        if line.kind in ("write", "add"):
            base = line.ins[0].base
            is_needed = id(base) in live or (base.line is None and base.name != "constant")
        else:
            is_needed = line.kind in EFFECTS or any([id(v) in live for v in line.outs])
        if is_needed:
            selected.append(line)
            need(line.ins)
            need(line.params)
    return selected[::-1]


def identity_views(lines: list[Line]) -> dict[int, Val]:
    """{view: the value it equals} of the views that change nothing: the transpose of a transpose, and those that keep the shape."""
    sources: dict[int, Val] = {}
    for line in lines:
        if line.kind == "op" and line.what.view and line.what.single and len(line.ins) == 1:
            source, out = line.ins[0], line.outs[0]
            if line.what is transpose and source.line is not None and source.line.what is transpose:
                source = source.line.ins[0]
            a, b = source.array, out.array
            same_memory = out.base is source.base and (a.shape, a.strides, a.dtype) == (b.shape, b.strides, b.dtype)
            if same_memory and line.what in KEEPS_NUMBERS:
                sources[id(out)] = source
    return sources


def omitted_copies(lines: list[Line], returned: list[Val], written: set[int], recorded: set[int]) -> set[int]:
    """The copies that are not needed, by id: those of fresh memory that is referenced nowhere else and never written to.

    recorded  ids of the arrays of all Vals
    """
    escapes = [id(v.base) for v in returned] + [id(v.base) for line in lines if line.kind == "grad" for v in line.ins]
    sources = [id(line.ins[0].base) for line in lines if line.kind == "copy"]
    omitted: set[int] = set()
    for line in lines:
        if line.kind == "copy":
            v, out = line.ins[0], line.outs[0]
            base = v.base
            owner = base.array if base.array.base is None else base.array.base
            computed = base.line is not None and base.line.kind in ("op", "rule") and owner.size == v.array.size
            unshared = owner is base.array or (type(owner) is np.ndarray and id(owner) not in recorded)
            unwritten = not {id(base), id(out)} & written
            if computed and unshared and unwritten and sources.count(id(base)) == 1 and id(base) not in escapes:
                omitted.add(id(line))
    return omitted


def escaping(lines: list[Line], returned: list[Val], omitted: set[int]) -> set[int]:
    """The memory that may still be referenced after the program has run."""
    results = [*returned, *[v for line in lines if line.kind == "grad" for v in line.ins]]
    return {id(v.base) for v in results} | {id(line.ins[0].base) for line in lines if id(line) in omitted}


def last_reads(
    lines: list[Line], returned: list[Val], aliases: dict[int, Val], buffers: dict[int, Any]
) -> dict[int, list[Val]]:
    """{number of a line: the large values that no later line reads}. Their memory is freed there, as it is without a program.

    aliases  {value: another whose name it shares}
    buffers  values whose memory is kept
    """

    def named(v: Val) -> Val:
        while id(v) in aliases:
            v = aliases[id(v)]
        return v

    last: dict[int, tuple[int, Val]] = {}
    for number, line in enumerate(lines):
        for v in map(named, all_vals([*line.ins, *line.params, *line.outs])):
            if v.line is not None and v.base.array.nbytes >= LARGE and id(v.base) not in buffers:
                last[id(v)] = number, v
    for v in returned:
        last.pop(id(named(v)), None)
    ends: dict[int, list[Val]] = {}
    for number, v in last.values():
        ends.setdefault(number, []).append(v)
    return ends
