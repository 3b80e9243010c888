"""The graph of the recorded call, and what became of each of its operations in the program: what `%graph` shows of a compiled step.

Nothing is matched by name. The recorder notes the lines that were recorded while a node was made and while its rule ran, and every
statement of the program refers to its line.
"""

from typing import Any, NamedTuple

from ..core.node import FREED
from ..core.variable import Variable
from ..tracing.schema import CONSTANT, UNUSED, VIEW, Became
from .recorder import Line, Recorder
from .statements import Statement


class Pictured(NamedTuple):
    """root    the result that the step called backward on; its graph is freed, so that it holds no numbers
    names   what the step calls it, and the tensors around it
    became  by node of the graph
    """

    root: Variable
    names: dict[str, Variable]
    became: dict[Any, Became]


def pictured(recorder: Recorder, names: dict[str, Variable], statements: list[Statement]) -> Pictured | None:
    """None where no freed graph is left: the step does not call backward, or it keeps its graph."""
    root = recorder.root
    nodes = _ancestors(root.edge[0]) if root is not None and root.edge is not None else []
    if root is None or not nodes or any((node.saves or node.frees) and node.status != FREED for node in nodes):
        return None
    places = _places(statements)

    def of(lines: list[Line]) -> tuple[list[str], list[str]]:
        functions: dict[str, None] = {}  # in order
        text: list[str] = []
        no_function = UNUSED if lines else ""
        for line in lines:
            view = line.kind == "op" and line.what.view
            for v in filter(None, line.outs):
                function, of_value = places.get(id(v), ("", []))
                functions.update({function: None} if function and not view else {})
                text += [t for t in of_value if t not in text]
                no_function = CONSTANT if v.name == "constant" else VIEW if view else no_function
        return [*functions] or [no_function] * bool(no_function), text

    became = {}
    for node in nodes:
        if node in recorder.of_nodes:
            (forward, lines), (backward, more) = map(of, recorder.of_nodes[node])
            became[node] = Became(forward=forward, backward=backward, lines=lines + more)
    return Pictured(root, {**names, recorder.root_name: root} if recorder.root_name else names, became)


def _places(statements: list[Statement]) -> dict[int, tuple[str, list[str]]]:
    """{id of a value: (the loop or function that computes it, the text of its line)}"""
    of_lines: dict[int, list[Statement]] = {}
    for statement in statements:
        if statement.line is not None and statement.line.kind != "loop":
            of_lines.setdefault(id(statement.line), []).append(statement)
    places = {}
    for group in of_lines.values():
        line = group[0].line
        function = next((s.calls for s in group if s.calls), line.what.name if line.kind == "op" else line.kind)
        places.update({id(v): (function, [s.text for s in group]) for v in line.outs if v is not None})
    return places


def _ancestors(root: Any) -> list[Any]:
    """A node, and all that it was computed from."""
    nodes = [root]
    seen = {root}
    for node in nodes:  # grows
        new = [edge[0] for edge in node.edges if edge is not None and edge[0] not in seen]
        nodes += dict.fromkeys(new)
        seen.update(new)
    return nodes
