"""What a node does not need for its gradient, and a reader wants to know: the line that made it, its constants, its parameters.

What lives here: the switch `record_lines`, which has every row leave a note on each node it makes, and how to read the note. What does
not: rows (op.py), what is made of the notes (tensor_trace.py). While the switch is off the rows run code without any mention of notes;
switching it on gives each row the calls that leave notes (row_source.py).
"""

from pathlib import Path
from sys import _getframe
from typing import NamedTuple
from weakref import ref

from . import op as op_module
from .op import TABLE

KEPT = 5000  # notes are left on this many nodes, and again after each cell: a long training loop runs without them
SMALL = 512  # bytes: constants up to this size stay known even if the learner lets go of the tensor
_FOLDER = Path(__file__).parents[1]
_own: set[str] = set()  # lines in these files are not the learner's
_left = 0
_on = False


class Note(NamedTuple):
    code: object  # the learner's code object and the place in it, or None
    offset: int
    inputs: tuple | None  # per input: None if the graph leads to it, else (weak reference, array if small, detached_by); None: no constants
    versions: tuple  # of the inputs, when the operation ran; () if one of them has none
    params: tuple


def read(node) -> Note | None:
    """The note on a node, if notes were on when it was made."""
    note = getattr(node, "provenance", None)
    return None if note is None else Note(*note)


def record_lines(on: bool = True, kept: int = KEPT) -> None:
    """Leave notes on the next `kept` nodes, or stop doing so. Off by default; the notebook extension calls it before every cell."""
    global _left, _on
    _left = kept if on else 0
    if on and not _own:
        _own.update(str(path) for path in _FOLDER.rglob("*.py"))
        _own.add("<minigrad methods>")
        _own.update(f"<minigrad row '{op.name}'>" for op in TABLE.values())
        op_module.written.append(_fit)
    if on != _on:
        _on = on
        for op in TABLE.values():
            if hasattr(op, "source"):
                _fit(op)


def recording() -> bool:
    """Are notes being left now?"""
    return _on


def leave(node, inputs) -> None:
    """Leave a note on the node of a custom Function, while notes are on. Rows do it in their own text."""
    if _on:
        try:
            versions = [x.version[0] for x in inputs]
        except RuntimeError:  # an inference tensor has no version
            versions = []
        node.provenance = _note(None if all([x.requires for x in inputs]) else _constants(inputs), versions, ())


def _fit(op) -> None:
    """Give a row the text with notes or the one without."""
    plain = vars(op).setdefault("plain_text", (op.call, op.record))
    if not _on:
        op.call, op.record = plain
        return
    if "noting_text" not in vars(op):
        _own.add(f"<minigrad row '{op.name}' with notes>")
        op.noting_text = op_module.calls_with_notes(op, _note, _constants)
    op.call, op.record = op.noting_text


def _note(constants, versions, params):
    global _left
    _left -= 1
    if _left < 0:
        record_lines(False)
        return None
    frame = _getframe(3)  # beyond this, the row's call and the method (or Op.__call__)
    while frame is not None:
        code = frame.f_code
        if code.co_filename not in _own:
            return code, frame.f_lasti, constants, versions, params
        frame = frame.f_back
    return None, 0, constants, versions, params


def _constants(inputs):
    return tuple([None if x.requires else _constant(x) for x in inputs])


def _constant(x):
    return ref(x), x.array if x.array.nbytes <= SMALL and x.array.base is None else None, getattr(x, "detached_by", "")
