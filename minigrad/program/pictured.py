"""The graph of the recorded call, and what became of each of its operations in the program: what `%graph` shows of a compiled step.

What lives here: `Spots`, which notes where the text of each line begins, and `Pictured`. What does not: the text (text.py), the recording,
which knows the lines of each node (recorder.py), the picture (widgets/). Nothing is matched by name: a node's lines are those that were
heard while it was made, and while its rule ran.
"""

import re
from typing import Any, NamedTuple

from ..core.node import FREED
from ..core.variable import Variable
from ..tracing.schema import CONSTANT, UNUSED, VIEW, Became
from .recorder import Line, Recorder


class Pictured(NamedTuple):
    """root    the result that the step went back from; its graph is freed, so that it holds no numbers
    names   what the step calls it, and the tensors around it
    became  by node of the graph
    """

    root: Variable
    names: dict[str, Variable]
    became: dict[Any, Became]


class Spots:
    """Where the text of each line is."""

    def __init__(self) -> None:
        self.begun: list[tuple[Line | None, list[str], int, str]] = []

    def begin(self, line: Line | None, body: list[str], loop: str = "") -> None:
        """The text of `line` begins at the end of `body`, in the function `loop` or else in the program itself; None ends the last."""
        self.begun.append((line, body, len(body), loop))

    def found(self) -> dict[int, tuple[str, list[str]]]:
        """{value: (the loop or function that computes it, its lines)}"""
        ends: dict[int, int] = {}
        found = {}
        for line, body, start, loop in reversed(self.begun):
            text = [t for t in body[start : ends.get(id(body), len(body))] if not t.startswith(("#", "del "))]
            ends[id(body)] = start
            if line is None or line.kind == "loop" or not text:
                continue
            call = re.search(r"= (?:asarray\()?(\w+)\(", text[0])
            where = loop or (call[1] if call else line.what.name if line.kind == "op" else line.kind)
            found.update({id(v): (where, text) for v in line.outs if v is not None})
        return found

    def pictured(self, recorder: Recorder, names: dict[str, Variable]) -> Pictured | None:
        """None where no graph is left that holds no numbers: the step goes back nowhere, or it keeps its graph."""
        root = recorder.root
        nodes = _behind(root.edge[0]) if root is not None and root.edge is not None else []
        if root is None or not nodes or any((node.saves or node.frees) and node.status != FREED for node in nodes):
            return None
        found = self.found()

        def of(lines: list[Line]) -> tuple[list[str], list[str]]:
            where: dict[str, None] = {}  # in order
            text: list[str] = []
            free = UNUSED if lines else ""
            for line in lines:
                view = line.kind == "op" and line.what.view
                for v in filter(None, line.outs):
                    name, more = found.get(id(v), ("", []))
                    where.update({name: None} if name and not view else {})
                    text += [t for t in more if t not in text]
                    free = CONSTANT if v.name == "constant" else VIEW if view else free
            return [*where] or [free] * bool(free), text

        became = {}
        for node in nodes:
            if node in recorder.of_nodes:
                (forward, lines), (backward, more) = map(of, recorder.of_nodes[node])
                became[node] = Became(forward=forward, backward=backward, lines=lines + more)
        return Pictured(root, {**names, recorder.root_name: root} if recorder.root_name else names, became)


def _behind(root: Any) -> list[Any]:
    """A node, and all that it was computed from."""
    found = [root]
    seen = {root}
    for node in found:  # grows
        new = [edge[0] for edge in node.edges if edge is not None and edge[0] not in seen]
        found += dict.fromkeys(new)
        seen.update(new)
    return found
