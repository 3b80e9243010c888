"""What a node does not need for its gradient, and a reader wants to know: the line that made it, its constants, its parameters.

What lives here: the switch `record_lines`, which has every row leave a note on each node it makes, and how to read the note. What does
not: rows (op.py), what is made of the notes (tensor_trace.py). While the switch is off the rows run code without any mention of notes;
switching it on gives each row the calls that leave notes (row_source.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from . import op as op_module
from .call_log import not_the_learners
from .op import TABLE

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor
    from .node import Node
    from .op import Op

KEPT = 5000  # notes are left on this many nodes, and again after each cell: a long training loop runs without them
SMALL = 512  # bytes: constants up to this size are copied, so they are known even after the tensor is freed
_FOLDER = Path(__file__).parents[1]
_remaining = 0
_on = False


class Note(NamedTuple):
    code: object  # the learner's code object and the place in it, or None
    offset: int
    # per input: None if the graph leads to it, else (weak reference, array if small, detached_by, cut); None: no constants
    inputs: tuple | None
    versions: tuple  # of the inputs, when the operation ran; () if one of them has none
    params: tuple


class Cut(NamedTuple):
    """Where the history of a tensor was cut off, and from what."""

    sources: tuple  # of each tensor that it would have led to: weak references to it and to its node (None: a leaf), number of the output
    how: str  # "detach" or "no_grad"
    code: object  # the learner's code object and the place in it, or None
    offset: int


def read(node: Node) -> Note | None:
    """The note on a node, if notes were on when it was made."""
    note = getattr(node, "provenance", None)
    return None if note is None else Note(*note)


def record_lines(on: bool = True, kept: int = KEPT) -> None:
    """Leave notes on the next `kept` nodes, or stop doing so. Off by default; the notebook extension calls it before every cell."""
    global _remaining, _on
    _remaining = kept if on else 0
    if on and _fit not in op_module.written:
        not_the_learners.update(str(path) for path in _FOLDER.rglob("*.py"))
        not_the_learners.add("<minigrad methods>")
        not_the_learners.update(f"<minigrad row '{op.name}'>" for op in TABLE.values())
        op_module.written.append(_fit)
    if on != _on:
        _on = on
        for op in TABLE.values():
            if hasattr(op, "source"):
                _fit(op)


def recording() -> bool:
    """Are notes being left now?"""
    return _on


def leave(node: Node, inputs: Any) -> None:
    """Leave a note on the node of a custom Function, while notes are on. Rows do it in their own text."""
    if _on:
        try:
            versions = [x.version[0] for x in inputs]
        except RuntimeError:  # an inference tensor has no version
            versions = []
        node.provenance = _note(None if all([x.requires for x in inputs]) else _constants(inputs), versions, ())


def cut(out: Tensor, inputs: tuple[Tensor, ...], how: str) -> None:
    """Note on a tensor outside of the graph its sources, if notes are on. how: the call that detached it; "": its inputs are detached."""
    if not _on:
        return
    sources_now = [(ref(x), x.edge and ref(x.edge[0]), x.edge[1] if x.edge else 0) for x in inputs if x.requires]
    older = [c for x in inputs if (c := getattr(x, "cut", None)) is not None]
    if sources_now or older:
        sources = tuple(dict.fromkeys((*sources_now, *(one for c in older for one in c.sources))))
        out.cut = Cut(sources, how, *_place(2)) if sources_now else older[0]._replace(sources=sources)


def _fit(op: Op) -> None:
    """Give a row the text with notes or the one without."""
    plain = vars(op).setdefault("plain_text", (op.call, op.record))
    if not _on:
        op.call, op.record = plain  # type: ignore[method-assign]  # see op.py
        return
    if "noting_text" not in vars(op):
        not_the_learners.add(f"<minigrad row '{op.name}' with notes>")
        op.noting_text = op_module.calls_with_notes(op, _note, _constants, cut)
    op.call, op.record = op.noting_text  # type: ignore[method-assign]


def _note(
    constants: tuple[Any, ...] | None, versions: Sequence[int], params: tuple[Any, ...]
) -> tuple[Any, ...] | None:
    global _remaining
    _remaining -= 1
    if _remaining < 0:
        record_lines(False)
        return None
    return *_place(4), constants, versions, params  # beyond this, the row's call and the method (or Op.__call__)


def _place(depth: int) -> tuple:
    """The learner's code that is running, and where: the nearest one, looked for from `depth` frames above."""
    frame: FrameType | None = _getframe(depth)
    while frame is not None:
        code = frame.f_code
        if code.co_filename not in not_the_learners:
            return code, frame.f_lasti
        frame = frame.f_back
    return None, 0


def _constants(inputs: Sequence[Tensor]) -> tuple[Any, ...]:
    return tuple([None if x.requires else _constant(x) for x in inputs])


def _constant(x: Tensor) -> tuple[Any, ...]:
    array = x.array if x.array.nbytes <= SMALL else None
    if array is not None and array.base is not None:
        array = array.copy()  # the view would keep all of its base alive
    return ref(x), array, getattr(x, "detached_by", ""), getattr(x, "cut", None)
