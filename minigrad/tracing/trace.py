"""`trace`: convert a recorded computation into plain data, the only input of the views.

This is the entry for Values and Tensors. The Tensor half is imported only for a Tensor, so that a page without numpy works.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, cast

from ..words import number as fmt
from .naming import walk
from .readers import LedgerRow, ledger, replay_steps, to_text, unused_words
from .scalar_trace import GraphCycleError, ScalarRecording, record, trace_value, unused_inputs
from .schema import Edge, Group, Node, Number, Numbers, Saved, Source, Step, Trace
from .text import array_text

__all__ = [
    "trace",
    "is_tensor",
    "record",
    "ScalarRecording",
    "GraphCycleError",
    "walk",
    "replay_steps",
    "ledger",
    "to_text",
    "unused_words",
]
__all__ += [
    "unused_inputs",
    "array_text",
    "fmt",
    "Edge",
    "Group",
    "Node",
    "Number",
    "Numbers",
    "LedgerRow",
    "Saved",
    "Source",
    "Step",
    "Trace",
]


def trace(
    root: object, names: Mapping[str, object] | None = None, *, title: str | None = None,
    cell_name: Mapping[str, str] | Callable[[str], str | None] | None = None, second: bool = False,
) -> Trace:  # fmt: skip
    """Everything that was computed on the way to `root`, as plain data.

    `root` is a `Value`, a Tensor, or an object of a learner's own class with micrograd's names (`data`, `_prev`, `_op`, perhaps `label`);
    or what `record` returned for one of these two, so that a trace and a tape of one recording number their nodes alike.
    `names` maps variable names to objects, such as a notebook's namespace: a node gets the first name that is bound to it or that
    leads to it through lists, dicts and attributes ("w[0]", "model.layers[0].b"); names that start with "_" are not looked at.
    An object's own `label` wins. `cell_name` translates the file name of recorded source lines ("In [4]"). `second` (Tensors only) adds the
    graph of the gradient, which create_graph=True would record, as layer 1.
    Nothing is changed and nothing is kept alive.

    >>> from minigrad import Value
    >>> x = Value(1.0)
    >>> t = trace((3 * x + 2) ** 2, {"x": x})
    >>> [(node["label"], node["value"], node["grad"]) for node in t["nodes"] if node["kind"] != "constant"]
    [('x', 1.0, 30.0), ('3x', 3.0, 10.0), ('3x + 2', 5.0, 10.0), ('(3x + 2)²', 25.0, 1.0)]

    Raises TypeError if `root` is not such an object, GraphCycleError if the graph bites its own tail.
    """
    if is_tensor(root):
        from . import tensor_trace

        return tensor_trace.trace_tensor(cast(Any, root), names, title, cell_name, second)
    return trace_value(root if isinstance(root, ScalarRecording) else record(root, names), names, title, cell_name)


def is_tensor(thing: object) -> bool:
    """Is this a minigrad Tensor? Does not load the Tensor engine."""
    module = sys.modules.get("minigrad.core.variable")
    return module is not None and isinstance(thing, module.Variable)
