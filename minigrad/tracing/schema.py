"""The contract between engine and views: a recorded computation as plain data.

What lives here: the types, and nothing that computes. The data is deterministic: ids are indices in creation order, never `id()`, and the
same program gives the same trace in every process. It is JSON as it stands (not-a-number and infinities travel as the strings "nan",
"inf", "-inf").
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Number = float | str  # a float64, or "nan", "inf", "-inf"


class Source(TypedDict):
    """The line of the learner's own code that made a node."""

    cell: str  # "In [4]" in a notebook, else the file's base name
    line: int  # 1-based, within the cell or the file
    text: str  # the line, without its indentation
    span: NotRequired[tuple[int, int]]  # columns of the expression inside `text`, when Python knows them


class Saved(TypedDict):
    """A value that a node keeps from the forward pass for its backward rule."""

    name: str
    shape: list[int]
    dtype: str
    bytes: int
    version: NotRequired[int]
    stale: NotRequired[bool]  # the tensor was overwritten since it was saved
    now: NotRequired[int]  # its version now


class Numbers(TypedDict):
    """An array as a picture needs it: true statistics of its finite entries, and at most 16 by 16 cells.

    Rows are the leading dimensions, columns the last; a long vector is wrapped. A cell for a block of entries shows the one
    of the largest magnitude."""

    shape: list[int]
    dtype: str
    low: float | None  # None: no finite entry
    high: float | None
    mean: float | None
    std: float | None
    odd: int  # how many entries are nan or infinite
    rows: int
    cols: int
    block: list[int]  # entries per cell, down and across
    cells: list[Number | None]  # row by row; None beyond the end of a wrapped vector


class View(TypedDict):
    """A tensor that shares its numbers with another."""

    base: int  # node id
    version: NotRequired[int]  # how often the shared numbers were written to, where known


# Operations without cost in a compiled step: views, results that are the same in every call, and results that are not used.
FREE = VIEW, CONSTANT, UNUSED = ("view", "constant", "left out")


class Became(TypedDict):
    """What became of an operation in the program of a compiled step: see minigrad/program/pictured.py."""

    forward: list[str]  # loops and functions of the program: ["loop1"]
    backward: list[str]
    lines: list[str]  # of the program's text; of a fold none


class Cut(TypedDict):
    """What a tensor outside of the graph was made from: detach() or no_grad() cut its history off there."""

    sources: list[int]  # node ids, as far as they are in the graph; the line is the node's own
    how: str  # "h.detach()", "no_grad()"


class Broadcast(TypedDict):
    shape: list[int]  # of the parent
    to: list[int]  # of the result
    axes: list[int]  # the dimensions over which the backward pass sums


class Node(TypedDict):
    id: int  # index in `nodes`; a node's parents have smaller ids
    # Constant: a plain number that the engine wrapped, no gradient is shown
    kind: Literal["leaf", "constant", "operation", "fold"]
    op: str  # "" for leaf and constant; else "+", "*", "**", "tanh", ... ; for tensors grad_fn's name
    label: str  # the learner's variable name; else a short made-up one. Unique, except that constants are called by their number
    named: bool  # True when the label is the learner's own
    expr: str  # its formula in the parents' labels: "3 × x", "u²", "tanh(n)"; the number of a constant; "" for a leaf
    value: Number  # tensors: the one number of a scalar, else a string summary
    # D root / d node in this pass (None: no gradient flows here). The learner's own .grad is not touched
    grad: Number | None
    requires_grad: bool
    rule: str  # the local rule as text, e.g. "d(u²)/du = 2u"; "" for leaf and constant
    saved: list[Saved]
    source: Source | None
    scope: str  # module path such as "layers.0", "" outside modules
    formula: NotRequired[list]  # `expr` as a tree, in which a parent is ["node", id]: see notation.py
    inside: NotRequired[list[str]]  # the module calls that it was made in, outermost first, each with a name of its own
    folded: NotRequired[bool]  # replaces the nodes before it, which are not shown
    # only for kind "fold": one card for many nodes (see widgets/fold.py)
    fold: NotRequired[int]  # which fold
    members: NotRequired[int]  # how many nodes it replaces
    operations: NotRequired[int]  # how many of these are operations
    outs: NotRequired[int]  # how many results leave it; if it is one, value and grad are that one's
    # What happens in it that its card would hide: "h.detach() in line 8", writes in place, views
    within: NotRequired[list[str]]
    views: NotRequired[int]  # how many of these, the last ones, are views
    # only for tensors
    shape: NotRequired[list[int]]
    dtype: NotRequired[str]
    function: NotRequired[str]  # the operation's everyday name: "mul" for MulBackward0
    array: NotRequired[int | None]  # its numbers, index in `arrays`; None: not kept
    grad_array: NotRequired[int | None]
    view: NotRequired[View]
    version: NotRequired[int]  # of a living tensor's numbers, if they were written to
    stops: NotRequired[str]  # why no gradient passes this node
    cut: NotRequired[Cut]
    layer: NotRequired[int]  # 1: made by the backward pass itself (create_graph)
    made_by: NotRequired[list[int]]  # of layer 1: the edges whose rule made it
    became: NotRequired[Became]  # in a compiled step


class Edge(TypedDict):
    id: int  # index in `edges`
    source: int  # the parent: the value flows source -> target, the gradient target -> source
    target: int
    slot: int  # which argument of the target; a + a has two edges, slots 0 and 1
    local: Number | None  # d target / d source through this slot, at the recorded values
    local_text: str  # the same, as a formula in the labels: "3", "2u", "cos(q)"
    # `local_text` as a tree; for arrays, what the rule makes of the upstream gradient ["name", "g"]
    slope: NotRequired[list]
    carries_grad: bool  # False into a constant: no backward step uses it
    amount: NotRequired[bool]  # at a fold: `local` is not a factor but all that is sent
    # True where a gate (relu below 0, the smaller of max) lets nothing through: it passes 0 back, even for inf
    shut: NotRequired[bool]
    # only for tensors
    custom: NotRequired[bool]  # the rule is the backward of a custom Function: no factor is known
    broadcast: NotRequired[Broadcast]
    stops: NotRequired[str]  # why no gradient goes this way
    words: NotRequired[str]  # what the rule does, where `local_text` is empty or no formula that helps
    makes: NotRequired[list[int]]  # the nodes of layer 1 that this edge's rule makes


class Step(TypedDict):
    """One event. Forward: "input" (a leaf has its value), "compute" (an operation gets its value). Backward: "seed" (the root's
    gradient is 1), "send" (one edge carries local × upstream to a parent, where it is added); for tensors also "accumulate" (a leaf's
    gradient is complete) and "error" (the pass cannot go on: `say` tells why). Numbers that follow from values,
    gradients and locals are not repeated, so that a slider can change them: incoming = gradient of `node` so far, sends = local × incoming,
    before/after = the running sum at the parent."""

    phase: Literal["forward", "backward"]
    kind: Literal["input", "compute", "seed", "send", "accumulate", "error"]
    node: int  # who acts: the node that gets its value, or the node that passes its gradient back
    edge: int | None  # for "send"
    # only for tensors, indices in `arrays`
    sends: NotRequired[int]  # what the edge carries, in the parent's shape
    raw: NotRequired[int]  # the same before it was summed over broadcast dimensions
    after: NotRequired[int]  # the parent's sum after it was added
    start: NotRequired[Number]  # of "seed" in a part of a graph: the upstream gradient, if it is not 1
    say: str  # one sentence, **bold** allowed; the view fills in {value}, {incoming}, {local}, {sends}, {before} and {after}


class Repeats(TypedDict):
    """The program went on like its last recorded sample: the operations from `first` on, `count` times `period` of them."""

    first: int
    period: int
    count: int


class Group(TypedDict):
    """A call of the learner's code, or a group of calls and operations. See tracing/groups.py."""

    id: int  # index in `groups`; a group's parent has a smaller one
    kind: Literal["call", "samples", "column", "layers", "steps", "loop", "turn"]
    name: str  # the owner's name in the namespace ("net.layers[0]"), "Neuron 3 of 4", a function's name, "4 × Neuron", ...
    function: str  # of a call: "MLP.__call__"
    owner: str  # of a call of a method: the owner's name in the namespace, "" if it has none
    parent: int | None
    groups: list[int]  # the groups inside it
    members: list[int]  # the nodes made in it and in no group inside it
    repeats: NotRequired[Repeats]  # of "samples", if more came than were recorded


class Trace(TypedDict):
    version: Literal[1]
    engine: Literal["value", "tensor"]
    title: str  # the source line of the root if known ("y = (3*x + 2)**2"), else the root's label
    root: int
    nodes: list[Node]
    edges: list[Edge]
    steps: list[Step]  # all forward events in creation order, then all backward events in the engine's own order
    # Sentences about the whole graph: it was used up, an input was overwritten, a value is nan, ...
    notices: NotRequired[list[str]]
    groups: NotRequired[list[Group]]  # if calls were recorded
    # only for tensors
    arrays: NotRequired[list[Numbers]]
    unused: NotRequired[list[str]]  # names of leaves that require gradients and have no part in the root
