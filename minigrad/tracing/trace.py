"""A recorded computation as plain data: the only thing the widgets read.

What lives here: the contract between engine and views (the TypedDicts below), `trace`, which fills it, and its readers `replay_steps`,
`ledger` and `to_text`. What does not: anything that knows a screen, a notebook or a colour. The data is deterministic: ids are indices
in creation order, never `id()`, and the same program gives the same trace in every process. It is JSON as it stands (not-a-number and
infinities travel as the strings "nan", "inf", "-inf").
"""
from __future__ import annotations

import hashlib
import linecache
import math
import re
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import partial
from itertools import islice
from typing import Any, Literal, NotRequired, TypedDict, cast

from ..core.errors import a_kind
from ..scalar import Constant, Value, _number, backward_order
from . import module_calls
from .formulas import ATOM, PRODUCT, SUM, Rule, Text, latex, number_text, rule_for

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

    Rows are the leading dimensions, columns the last; a long vector is wrapped. A cell that stands for a block of entries shows the one
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


class Broadcast(TypedDict):
    shape: list[int]  # of the parent
    to: list[int]  # what it was stretched to
    axes: list[int]  # the dimensions over which the backward pass sums


class Node(TypedDict):
    id: int  # index in `nodes`; a node's parents have smaller ids
    kind: Literal["leaf", "constant", "operation", "fold"]  # constant: a plain number that the engine wrapped, no gradient is shown
    op: str  # "" for leaf and constant; else "+", "*", "**", "tanh", ... ; for tensors grad_fn's name
    label: str  # the learner's variable name; else a short made-up one. Unique, except that constants are called by their number
    named: bool  # True when the label is the learner's own
    expr: str  # what it computes, with the parents' labels: "3 × x", "u²", "tanh(n)"; the number itself for a constant; "" for a leaf
    value: Number  # tensors: the one number of a scalar, else a string summary
    grad: Number | None  # d root / d node in this pass (None: no gradient flows here). The learner's own .grad is not touched
    requires_grad: bool
    rule: str  # the local rule as text, e.g. "d(u²)/du = 2u"; "" for leaf and constant
    rule_latex: str
    saved: list[Saved]
    source: Source | None
    scope: str  # module path such as "layers.0", "" outside modules
    inside: NotRequired[list[str]]  # the module calls that it was made in, outermost first, each with a name of its own
    folded: NotRequired[bool]  # stands for what lies before it and is not shown
    # only for kind "fold": one card for many nodes (see widgets/fold.py)
    fold: NotRequired[int]  # which fold
    members: NotRequired[int]  # how many nodes it stands for
    outs: NotRequired[int]  # how many results leave it; if it is one, value and grad are that one's
    # only for tensors
    shape: NotRequired[list[int]]
    dtype: NotRequired[str]
    function: NotRequired[str]  # the operation's everyday name: "mul" for MulBackward0
    array: NotRequired[int | None]  # its numbers, index in `arrays`; None: not kept
    grad_array: NotRequired[int | None]
    view: NotRequired[View]
    version: NotRequired[int]  # of a living tensor's numbers, if they were written to
    stops: NotRequired[str]  # why no gradient goes on from here
    layer: NotRequired[int]  # 1: made by the backward pass itself (create_graph)
    made_by: NotRequired[list[int]]  # of layer 1: the edges whose rule made it


class Edge(TypedDict):
    id: int  # index in `edges`
    source: int  # the parent: the value flows source -> target, the gradient target -> source
    target: int
    slot: int  # which argument of the target; a + a has two edges, slots 0 and 1
    local: Number | None  # d target / d source through this slot, at the recorded values
    local_text: str  # the same, as a formula in the labels: "3", "2u", "cos(q)"
    carries_grad: bool  # False into a constant: no backward step uses it
    amount: NotRequired[bool]  # at a fold: `local` is not a factor but all that is sent
    shut: NotRequired[bool]  # True where a gate (relu below 0, the smaller of max) lets nothing through: it sends 0 even if inf arrives
    # only for tensors
    broadcast: NotRequired[Broadcast]
    stops: NotRequired[str]  # why no gradient goes this way
    words: NotRequired[str]  # what the rule does, where `local_text` is empty or no formula that helps
    makes: NotRequired[list[int]]  # the nodes of layer 1 that this edge's rule makes


class Step(TypedDict):
    """One event. Forward: "input" (a leaf has its value), "compute" (an operation gets its value). Backward: "seed" (the root's
    gradient is 1), "send" (one edge carries local × incoming to a parent, where it is added); for tensors also "accumulate" (a leaf's
    gradient is complete) and "error" (the pass cannot go on: `say` tells why). Numbers that follow from values,
    gradients and locals are not repeated, so that a slider can change them: incoming = gradient of `node` so far, sends = local × incoming,
    before/after = the running sum at the parent."""

    phase: Literal["forward", "backward"]
    kind: Literal["input", "compute", "seed", "send", "accumulate", "error"]
    node: int  # who acts: the node that gets its value, or the node that sends
    edge: int | None  # for "send"
    # only for tensors, indices in `arrays`
    sends: NotRequired[int]  # what the edge carries, in the parent's shape
    raw: NotRequired[int]  # the same before it was summed over broadcast dimensions
    after: NotRequired[int]  # the parent's sum after it was added
    say: str  # one sentence; {value}, {incoming}, {local}, {sends}, {before}, {after} are filled in with the live numbers; **bold** allowed


class Trace(TypedDict):
    version: Literal[1]
    engine: Literal["value", "tensor"]
    title: str  # the source line of the root if known ("y = (3*x + 2)**2"), else the root's label
    root: int
    nodes: list[Node]
    edges: list[Edge]
    steps: list[Step]  # all forward events in creation order, then all backward events in the engine's own order
    # only for tensors
    arrays: NotRequired[list[Numbers]]
    notices: NotRequired[list[str]]  # sentences about the whole graph: it was used up, an input was overwritten, ...
    unused: NotRequired[list[str]]  # names of leaves that require gradients and have no part in the root


def trace(
    root: object,
    names: Mapping[str, object] | None = None,
    *,
    title: str | None = None,
    cell_name: Mapping[str, str] | Callable[[str], str | None] | None = None,
    second: bool = False,
) -> Trace:
    """Everything that was computed on the way to `root`, as plain data.

    `root` is a `Value`, a Tensor, or an object of a learner's own class with micrograd's names (`data`, `_prev`, `_op`, perhaps `label`);
    or what `record` returned for one of these two, so that a trace and a tape of one recording number their nodes alike.
    `names` maps variable names to objects, such as a notebook's namespace: a node gets the first name that is bound to it or that
    leads to it through lists, dicts and attributes ("w[0]", "model.layers[0].b"); names that start with "_" are not looked at.
    An object's own `label` wins. `cell_name` translates the file name of recorded source lines ("In [4]"). `second` (Tensors only) adds the
    graph of the gradient, which create_graph=True would record, as layer 1.
    Nothing is changed and nothing is kept alive.

    >>> x = Value(1.0)
    >>> t = trace((3 * x + 2) ** 2, {"x": x})
    >>> [(node["label"], node["value"], node["grad"]) for node in t["nodes"] if node["kind"] != "constant"]
    [('x', 1.0, 30.0), ('3x', 3.0, 10.0), ('3x + 2', 5.0, 10.0), ('(3x + 2)²', 25.0, 1.0)]

    Raises TypeError if `root` is not such an object, GraphCycleError if the graph bites its own tail.
    """
    if is_tensor(root):
        from . import tensor_trace

        return tensor_trace.trace_tensor(cast(Any, root), names, title, cell_name, second)
    graph = root if isinstance(root, Recorded) else record(root, names)
    texts, named = _labels(graph)
    sources = [_source(obj, cell_name) for obj in graph.objects]
    grads = graph.gradients()
    scopes = _scopes(graph, names)
    edges: list[Edge] = []
    nodes: list[Node] = []
    for i, parents in enumerate(graph.parents):
        rule, out, of = graph.rules[i], texts[i], [texts[p] for p in parents]
        expr = _expression(graph, i, of)
        rules, saved = {}, []
        for slot, parent in enumerate(parents):
            local = graph.locals[i][slot]
            carries = graph.requires_grad[parent]
            local_text = rule.write(rule.locals[slot], *of, out=out).text if rule else ""
            edge = Edge(id=len(edges), source=parent, target=i, slot=slot, local=_json(local), local_text=local_text, carries_grad=carries)
            if graph.shut[i][slot]:
                edge["shut"] = True
            edges.append(edge)
            if carries and rule:
                top, bottom = _d(expr), _d(texts[parent].text)
                rules[f"{top}/{bottom} = {local_text}"] = rf"\frac{{d\,{latex(top[1:])}}}{{d\,{latex(bottom[1:])}}} = {latex(local_text)}"
                if rule.saves[slot]:
                    saved.append(Saved(name=f"{_d(out.text)}/{bottom}", shape=[], dtype="float64", bytes=8))
        constant = graph.kinds[i] == "constant"
        nodes.append(
            Node(
                id=i,
                kind=graph.kinds[i],
                op=rule.name if rule else graph.ops[i],
                label=out.text,
                named=named[i],
                expr=number_text(graph.data[i]) if constant else expr,
                value=_json(graph.data[i]) or 0.0,
                grad=_json(grads[i]),
                requires_grad=graph.requires_grad[i],
                rule="; ".join(rules),
                rule_latex=r",\quad ".join(rules.values()),
                saved=saved,
                source=sources[i],
                scope=scopes[i][-1] if i in scopes else "",
            )
        )
        if i in scopes:
            nodes[-1]["inside"] = scopes[i]
    if title is None:
        line = sources[graph.root]
        title = line["text"] if line else nodes[graph.root]["label"]
    return Trace(version=1, engine="value", title=title, root=graph.root, nodes=nodes, edges=edges, steps=_steps(graph, nodes, edges))


def is_tensor(thing: object) -> bool:
    """Is this a minigrad Tensor? Does not load the Tensor engine."""
    module = sys.modules.get("minigrad.core.variable")
    return module is not None and isinstance(thing, module.Variable)


def _d(text: str) -> str:
    """The differential of a name or a formula: dx, d(3x + 2)."""
    return f"d{text}" if text.isidentifier() else f"d({text})"


# The recorded graph


class GraphCycleError(ValueError):
    """A node is, through its parents, an ancestor of itself: no order can compute such a graph."""


class Recorded:
    """A computation by indices: parents before children, what `trace` and the tape both start from.

    `order` lists the operations as `backward()` visits them. `locals[i][slot]` is None where nothing can be known (an unknown
    operation), `shut[i][slot]` says that a gate lets nothing through, whatever arrives.
    """

    objects: list  # the learner's objects, only while this lives
    names: list[str]  # found in the namespace or the label; "" if there is none
    kinds: list[Literal["leaf", "constant", "operation"]]
    ops: list[str]
    rules: list[Rule | None]
    data: list[float]
    parents: list[tuple[int, ...]]
    locals: list[tuple[float | None, ...]]
    shut: list[tuple[bool, ...]]
    requires_grad: list[bool]
    order: list[int]
    root: int

    def gradients(self) -> list[float | None]:
        """d root / d node for every node; None where no gradient flows or an unknown operation is in the way."""
        known: list[float | None] = [None] * len(self.objects)
        lost: set[int] = set()
        known[self.root] = 1.0 if self.requires_grad[self.root] else None
        for i in self.order:
            incoming = known[i]
            for parent, local, shut in zip(self.parents[i], self.locals[i], self.shut[i], strict=True):
                if not self.requires_grad[parent]:
                    continue
                if i in lost or (local is None and not shut):
                    lost.add(parent)
                elif incoming is not None and local is not None:
                    known[parent] = (known[parent] or 0.0) + (0.0 if shut else local * incoming)
        return [None if i in lost else grad for i, grad in enumerate(known)]


def record(root: object, names: Mapping[str, object] | None = None) -> Recorded:
    """The graph behind `root` by indices: in creation order for a `Value`, parents first for a learner's own class."""
    graph = Recorded()
    if isinstance(root, Value):
        _record_value(graph, root)
        graph.names = _names(graph.objects, names)
        graph.kinds = ["operation" if obj._op else "constant" if type(obj) is Constant else "leaf" for obj in graph.objects]
    else:
        _check_like_value(root)
        _record_other(graph, root, names)
    graph.requires_grad = []
    for kind, parents in zip(graph.kinds, graph.parents, strict=True):
        graph.requires_grad.append(kind == "leaf" or any(graph.requires_grad[p] for p in parents))
    return graph


def _record_value(graph: Recorded, root: Value) -> None:
    operations = backward_order(root)
    found = {id(root): root}
    for node in operations:
        for obj in (node, *node._prev):
            found[id(obj)] = obj
            if obj._seq > node._seq:
                raise GraphCycleError(_CYCLE)
    graph.objects = objects = sorted(found.values(), key=lambda node: node._seq)
    index = {id(obj): i for i, obj in enumerate(objects)}
    graph.order = [index[id(node)] for node in operations]
    graph.root = index[id(root)]
    graph.ops = [obj._op for obj in objects]
    graph.data = [obj.data for obj in objects]
    graph.parents = [tuple(index[id(p)] for p in obj._prev) for obj in objects]
    graph.rules = [rule_for(obj._op, len(obj._prev)) if obj._op else None for obj in objects]
    graph.locals = [tuple(0.0 if d is None else d for d in obj._local) for obj in objects]
    graph.shut = [tuple(d is None for d in obj._local) for obj in objects]


_CYCLE = (
    "this graph has a cycle: a node is its own ancestor, so no value can be computed before the others. A result's parents must be "
    "the operands it was computed from, never the result itself or anything made from it."
)


# A learner's own class: `data`, `_prev` (a tuple, list or set), `_op`, and perhaps `label`


def _like_value(obj: object) -> bool:
    return all(hasattr(obj, name) for name in ("data", "_prev", "_op")) and not isinstance(obj, type)


def _check_like_value(root: object) -> None:
    if _like_value(root):
        return
    kind = type(root).__name__
    do = "Pass the result of a computation, such as y after y = x * 2."
    if isinstance(root, (list, tuple, set, dict)):
        do = f"Pass one of the elements of this {kind}, or their sum."
    elif isinstance(root, (int, float)):
        do = "A plain number has no history: start with x = Value(1.0) and compute with x."
    elif isinstance(root, type):
        do = f"This is the class itself: make an object of it, x = {root.__name__}(1.0), and compute with x."
    raise TypeError(f"only a Value (or an object with data, _prev and _op) has a graph, and this is {a_kind(root)}. {do}")


def _parents(obj: Any) -> Iterable:
    return obj._prev or ()


def _data(obj: Any) -> float:
    try:
        return _number(obj.data)
    except TypeError as error:
        what = f"the result of {obj._op!r}" if obj._op else "a leaf"
        raise TypeError(f"{what} in this graph has data that is not a number: {error}") from None


def _record_other(graph: Recorded, root: object, names: Mapping[str, object] | None) -> None:
    found = _postorder(root)  # any order, to see what is there
    given = _names(found, names)
    name_of = {id(obj): name for obj, name in zip(found, given, strict=True)}
    rank = {name: i for i, name in enumerate(names or ())}
    print_of: dict[int, tuple] = {}

    def parents_in_order(obj) -> list:
        """The parents by slot. A set has lost the order, and one of the two arrows of a + a: find both again as far as possible."""
        parents = list(_parents(obj))
        if not isinstance(obj._prev, (set, frozenset)):
            return parents
        parents.sort(key=lambda p: print_of[id(p)])
        op = str(obj._op)
        if len(parents) == 1 and (rule_for(op, 1) is None or not _gives(op, parents, obj)) and rule_for(op, 2):
            return parents * 2
        if len(parents) == 2 and not _gives(op, parents, obj) and _gives(op, parents[::-1], obj):
            return parents[::-1]
        return parents

    for obj in found:  # parents first; a fingerprint that is the same in every process, so that sets get one fixed order
        parts = sorted(print_of[id(p)][1:] for p in _parents(obj))
        digest = hashlib.blake2b(repr((str(obj._op), repr(obj.data), name_of[id(obj)], parts)).encode(), digest_size=12).hexdigest()
        print_of[id(obj)] = (rank.get(name_of[id(obj)], len(rank)), digest)
    graph.objects = objects = _postorder(root, parents_in_order)
    index = {id(obj): i for i, obj in enumerate(objects)}
    graph.names = [name_of[id(obj)] for obj in objects]
    graph.ops = [str(obj._op) for obj in objects]
    graph.data = [_data(obj) for obj in objects]
    parents = [parents_in_order(obj) for obj in objects]
    graph.parents = [tuple(index[id(p)] for p in of) for of in parents]
    # Whoever writes 3 * x wraps the 3 in a node of its own. It has no name; the learner's inputs have one.
    anonymous = bool(names) and any(name and not of for name, of in zip(graph.names, parents, strict=True))
    graph.kinds = []
    for name, of in zip(graph.names, parents, strict=True):
        graph.kinds.append("operation" if of else "constant" if anonymous and not name else "leaf")
    graph.rules = [rule_for(op, len(of)) if of else None for op, of in zip(graph.ops, parents, strict=True)]
    computed = [_apply(rule, of) if rule else None for rule, of in zip(graph.rules, parents, strict=True)]
    graph.locals = [
        (None,) * len(of) if made is None else tuple(0.0 if d is None else d for d in made._local)
        for of, made in zip(parents, computed, strict=True)
    ]
    graph.shut = [
        (False,) * len(of) if made is None else tuple(d is None for d in made._local) for of, made in zip(parents, computed, strict=True)
    ]
    graph.order = [i for i in reversed(range(len(objects))) if parents[i]]
    graph.root = index[id(root)]


def _apply(rule: Rule, parents: list) -> Value:
    """The operation again, on Values: their local derivatives are the ones that the numbers of the learner's nodes call for."""
    return rule.compute(*(Value(p.data) for p in parents))


def _gives(op: str, parents: list, obj: Any) -> bool:
    """Is `obj.data` what this operation computes from these parents?"""
    rule = rule_for(op, len(parents))
    if rule is None:
        return False
    data, made = obj.data, _apply(rule, parents).data
    return made == data or (made != made and data != data)


def _postorder(root: Any, parents_of: Callable[[Any], Iterable] = _parents) -> list:
    """Every node behind `root`, parents before children. Without recursion: a learner's chain may be long."""
    order: list = []
    state: dict[int, bool] = {}  # False while its parents are being visited, True once it is done
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        obj, parents_done = stack.pop()
        if parents_done:
            state[id(obj)] = True
            order.append(obj)
            continue
        if id(obj) in state:
            if not state[id(obj)]:
                raise GraphCycleError(_CYCLE)
            continue
        state[id(obj)] = False
        stack.append((obj, True))
        for parent in reversed(list(parents_of(obj))):
            if not _like_value(parent):
                raise TypeError(
                    f"a parent of the result of {obj._op!r} is a plain {type(parent).__name__} ({parent!r}): "
                    "wrap it in your class first, so that every parent has data, _prev and _op."
                )
            if state.get(id(parent)) is False:
                raise GraphCycleError(_CYCLE)
            if id(parent) not in state:
                stack.append((parent, False))
    return order


# Names


def _names(objects: list, names: Mapping[str, object] | None) -> list[str]:
    """For each object its label, else the first name that leads to it, else ""."""
    found = {id(obj): str(label) if (label := getattr(obj, "label", "")) else "" for obj in objects}
    missing = {key for key, name in found.items() if not name}
    for text, obj in walk(names, found.__contains__):
        if id(obj) in missing:
            found[id(obj)] = text
            missing.discard(id(obj))
            if not missing:
                break
    return [found[id(obj)] for obj in objects]


def walk(names: Mapping[str, object] | None, stop: Callable[[int], bool] = lambda _: False) -> Iterable[tuple[str, object]]:
    """Everything that names lead to, with the text that leads there. Breadth first, so that short names come first; bounded,
    because a namespace can hold anything. Nothing inside an object with `stop(id(object))` is looked at."""
    queue = [(name, obj, 0) for name, obj in (names or {}).items() if not name.startswith("_") and name not in _NOT_NAMES]
    seen: set[int] = set()
    for text, obj, depth in queue:
        yield text, obj
        if id(obj) not in seen and not stop(id(obj)) and depth < 6 and len(queue) < 50_000:
            seen.add(id(obj))
            queue.extend((text + step, inner, depth + 1) for step, inner in _inside(obj))


_NOT_NAMES = {"In", "Out", "exit", "quit", "get_ipython"}  # IPython's own, which hold everything that was ever computed


def _inside(obj: Any) -> list[tuple[str, object]]:
    """What a container holds, with the text that leads to it. Only plain containers and plain objects: nothing is computed."""
    if type(obj) is list or type(obj) is tuple:
        return [(f"[{i}]", inner) for i, inner in enumerate(obj[:2000]) if not isinstance(inner, (int, float, str))]
    if type(obj) is dict:
        return [(f"[{key!r}]", inner) for key, inner in list(obj.items())[:2000] if isinstance(key, (str, int))]
    if isinstance(obj, (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
        return []
    attributes = getattr(obj, "__dict__", None)
    if type(attributes) is not dict:
        return []
    if isinstance(modules := attributes.get("_modules"), dict) and isinstance(attributes.get("_parameters"), dict):  # an nn.Module
        own = {**attributes["_parameters"], **attributes.get("_buffers", {}), **modules}
        return [(f"[{key}]" if key.isdigit() else f".{key}", inner) for key, inner in own.items() if inner is not None]
    return [(f".{key}", inner) for key, inner in attributes.items() if isinstance(key, str) and not key.startswith("_")]


def _labels(graph: Recorded) -> tuple[list[Text], list[bool]]:
    """A label for every node: the learner's name, else a short expression, else v1, v2, ... All differ, except constants'."""
    taken = {name for name in graph.names if name}
    used: set[str] = set()
    texts: list[Text] = []
    named: list[bool] = []
    made_up = 0
    for i, name in enumerate(graph.names):
        if name:
            text = Text(twin_label(name, used, taken))
        elif graph.kinds[i] == "constant":
            text = Text(number_text(graph.data[i]), ATOM if math.copysign(1.0, graph.data[i]) > 0 else SUM)
        else:
            short = _short_expression(graph, i, texts) if graph.parents[i] else None
            if short is None or short.text in taken or short.text in used:
                made_up += 1
                while f"v{made_up}" in taken or f"v{made_up}" in used:
                    made_up += 1
                short = Text(f"v{made_up}")
            text = short
        if graph.kinds[i] != "constant":
            used.add(text.text)
        texts.append(text)
        named.append(bool(name))
    return texts, named


def twin_label(name: str, used: set[str], taken: set[str]) -> str:
    """`name`, or name₂, name₃, ... if another node has it."""
    label, twin = name, 1
    while label in used or (twin > 1 and label in taken):
        twin += 1
        label = name + str(twin).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
    return label


def _short_expression(graph: Recorded, i: int, texts: list[Text]) -> Text | None:
    rule, parents = graph.rules[i], [texts[p] for p in graph.parents[i]]
    if rule is None:
        return None
    text = rule.write(rule.expr, *parents)
    if rule.name == "*" and graph.kinds[graph.parents[i][0]] == "constant" and re.match(r"[\d.]+$", parents[0].text):
        if parents[1].level == ATOM and re.match(r"[^\W\d]", parents[1].text):
            text = Text(parents[0].text + parents[1].text, PRODUCT)  # 3x
    return text if len(text.text) <= 10 else None


def _expression(graph: Recorded, i: int, parents: list[Text]) -> str:
    if not parents:
        return ""
    if rule := graph.rules[i]:
        return rule.write(rule.expr, *parents).text
    return f"{graph.ops[i] or 'unknown'}({', '.join(p.text for p in parents)})"


# Source lines


def _source(obj: object, cell_name: Mapping[str, str] | Callable[[str], str | None] | None) -> Source | None:
    code, offset = getattr(obj, "_code", None), getattr(obj, "_offset", None)
    if code is None or offset is None:
        return None
    line, end_line, start, end = next(islice(code.co_positions(), offset // 2, None), (None, None, None, None))
    if line is None:
        return None
    full = linecache.getline(code.co_filename, line).rstrip("\n")
    text = full.strip()
    if not text:
        return None
    name = cell_name(code.co_filename) if callable(cell_name) else (cell_name or {}).get(code.co_filename)
    source = Source(cell=name or _file_name(code.co_filename), line=line, text=text)
    if start is not None and end is not None:  # columns count bytes of UTF-8
        raw, indent = full.encode(), len(full) - len(full.lstrip())
        first = len(raw[:start].decode(errors="ignore")) - indent
        last = len(raw[:end].decode(errors="ignore")) - indent if end_line == line else len(text)
        if 0 <= first < last <= len(text):
            source["span"] = (first, last)
    return source


def _file_name(filename: str) -> str:
    if cell := re.match(r"<ipython-input-(\d+)-", filename):
        return f"In [{cell[1]}]"
    if re.search(r"ipykernel_\d+[/\\][^/\\]*$", filename):
        return "this notebook"
    return re.split(r"[/\\]", filename)[-1]


# Modules


def _scopes(graph: Recorded, names: Mapping[str, object] | None) -> dict[int, list[str]]:
    """For each operation made in the call of a network of micro.py: the names of the calls around it, outermost first.

    A module that was called twice has two calls, the second called "model (call 2)".
    """
    numbers = {i: obj._seq for i, obj in enumerate(graph.objects) if type(obj) is Value and obj._op}
    low, high = min(numbers.values(), default=0), max(numbers.values(), default=0)
    if not any(low <= last and first <= high for first, last, _ in module_calls.VALUES):
        return {}
    paths: dict[int, str] = {}
    networks: list[Any] = []
    for text, thing in walk(names):
        own = getattr(thing, "__dict__", {})
        if type(own) is dict and (type(own.get("neurons")) is list or type(own.get("layers")) is list and own["layers"]):
            if paths.setdefault(id(thing), text) == text and "layers" in own:
                networks.append(thing)
    around = module_calls.around(numbers.values(), module_calls.of_values(networks))
    called: dict[str, int] = {}
    texts: dict[tuple[int, int, str], str] = {}  # call -> a name of its own; a layer of one neuron and that neuron are one range
    out: dict[int, list[str]] = {}
    for i, number in numbers.items():
        for first, last, module, place in around.get(number, ()):
            path = paths.get(id(module)) or type(module).__name__
            path += "" if place is None else f".neurons[{place}]"
            if (call := (first, last, path)) not in texts:
                called[path] = turn = called.get(path, 0) + 1
                texts[call] = path if turn == 1 else f"{path} (call {turn})"
            out.setdefault(i, []).append(texts[call])
    return out


# Steps


def _steps(graph: Recorded, nodes: list[Node], edges: list[Edge]) -> list[Step]:
    steps: list[Step] = []
    for node in nodes:
        label, expr = node["label"], node["expr"]
        if node["kind"] == "leaf":
            say = f"**{label} is {{value}}:** an input, nothing to compute."
            steps.append(Step(phase="forward", kind="input", node=node["id"], edge=None, say=say))
        elif node["kind"] == "operation":
            what = "" if expr == label else f" it is {expr}"
            say = f"**{label} becomes {{value}}" + (f":**{what}." if what else ".**")
            steps.append(Step(phase="forward", kind="compute", node=node["id"], edge=None, say=say))
    root = nodes[graph.root]
    if not root["requires_grad"]:
        return steps
    say = f"**The gradient of {root['label']} starts at 1:** how fast {root['label']} changes with itself."
    steps.append(Step(phase="backward", kind="seed", node=graph.root, edge=None, say=say))
    into: list[list[Edge]] = [[] for _ in nodes]
    for edge in edges:
        into[edge["target"]].append(edge)
    senders: list[list[int]] = [[] for _ in nodes]
    for i in graph.order:
        for edge in into[i]:
            if edge["carries_grad"]:
                say = _say_send(nodes, edge, senders, graph.root)
                steps.append(Step(phase="backward", kind="send", node=i, edge=edge["id"], say=say))
                if i not in senders[edge["source"]]:
                    senders[edge["source"]].append(i)
    return steps


def _say_send(nodes: list[Node], edge: Edge, senders: list[list[int]], root: int) -> str:
    node, parent = nodes[edge["target"]], nodes[edge["source"]]
    label, to = node["label"], parent["label"]
    if edge["local"] is None:
        return (
            f"**{label} sends an unknown amount to {to}:** this engine does not know an operation called “{node['op']}”, "
            "so it cannot tell the local derivative."
        )
    if edge["target"] == root:
        arrived = "the {incoming} it started with"
    else:
        arrived = f"{{incoming}} that arrived from {_and([nodes[s]['label'] for s in senders[edge['target']]])}"
    say = f"**{label} sends {{sends}} to {to}:** the local derivative of {node['expr']} with respect to {to} is {{local}}, times {arrived}."
    if senders[edge["source"]]:
        say += f" Added to the {{before}} that was already there, {to} now has {{after}}."
    return say


def _and(names: list[str]) -> str:
    if len(names) > 4:
        return f"{len(names)} nodes"
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


# Reading a trace


class Row(TypedDict):
    """One step with its numbers."""

    step: int  # 1-based
    phase: Literal["forward", "backward"]
    kind: Literal["input", "compute", "seed", "send", "accumulate", "error"]
    node: int
    edge: int | None
    value: Number | None  # of `node`
    incoming: Number | None  # what had arrived at `node`; None in the forward half
    local: Number | None
    sends: Number | None
    to: int | None  # the parent that receives
    before: Number | None  # the parent's gradient before and after
    after: Number | None
    sentence: str  # `say` with the numbers in it, **bold** kept


def replay_steps(trace: Trace) -> list[Row]:
    """The numbers of every step: what arrived, what it was multiplied with, what was sent, what was there before and after.

    >>> x = Value(1.0)
    >>> [row["after"] for row in replay_steps(trace((3 * x + 2) ** 2)) if row["phase"] == "backward"]
    [1.0, 10.0, 10.0, 30.0]
    """
    nodes, edges = trace["nodes"], trace["edges"]
    if trace["engine"] == "tensor":
        return _replay_tensor(trace)
    sums: list[float | None] = [0.0] * len(nodes)  # None once an unknown amount has arrived
    rows: list[Row] = []
    for k, step in enumerate(trace["steps"], 1):
        i = step["node"]
        incoming = local = sends = to = before = after = None
        if step["kind"] == "seed":
            sums[i] = after = 1.0
        elif step["edge"] is not None:
            edge = edges[step["edge"]]
            to, local, incoming = edge["source"], _float(edge["local"]), sums[i]
            before = sums[to]
            if edge.get("shut"):
                sends = 0.0
            elif edge.get("amount"):
                sends = local
            elif local is not None and incoming is not None:
                sends = local * incoming
            sums[to] = after = None if sends is None or before is None else before + sends
        value = _float(nodes[i]["value"])
        live = dict(value=value, incoming=incoming, local=local, sends=sends, before=before, after=after)
        rows.append(
            Row(
                step=k,
                phase=step["phase"],
                kind=step["kind"],
                node=i,
                edge=step["edge"],
                value=_json(value),
                incoming=_json(incoming),
                local=_json(local),
                sends=_json(sends),
                to=to,
                before=_json(before),
                after=_json(after),
                sentence=_fill(step["say"], live),
            )
        )
    return rows


def _fill(say: str, live: dict[str, float | None]) -> str:
    return re.sub(r"\{(value|incoming|local|sends|before|after)\}", lambda m: fmt(live[m[1]]), say)


def _replay_tensor(trace: Trace) -> list[Row]:
    """The rows of a Tensor's trace: numbers where there is one number, else the sentence has the range."""
    nodes, edges, arrays = trace["nodes"], trace["edges"], trace["arrays"]
    sums: list[int | None] = [None] * len(nodes)
    rows: list[Row] = []
    for k, step in enumerate(trace["steps"], 1):
        i, edge = step["node"], None if step["edge"] is None else edges[step["edge"]]
        to = None if edge is None else edge["source"]
        incoming = sums[i] if step["phase"] == "backward" and step["kind"] != "seed" else None
        before = None if to is None else sums[to]
        after = step.get("after")
        sums[i if to is None else to] = after if step["phase"] == "backward" and after is not None else sums[i if to is None else to]
        at = {"value": nodes[i].get("array"), "incoming": incoming, "sends": step.get("sends"), "before": before, "after": after}
        live: dict[str, Any] = {key: None if a is None else _single(arrays[a]) for key, a in at.items()}
        live["local"] = None if edge is None else edge["local"]
        said = {key: array_text(arrays[a]) if a is not None else "not kept" if key == "value" else "?" for key, a in at.items()}
        said["local"] = fmt(_float(live["local"]))
        sentence = re.sub(r"\{(value|incoming|local|sends|before|after)\}", partial(_look_up, said), step["say"])
        if edge is not None and before is None and "sends" in step and arrays[step["sends"]]["shape"] == []:
            live["before"] = 0.0
        row = dict(step=k, phase=step["phase"], kind=step["kind"], node=i, edge=step["edge"], to=to, sentence=sentence, **live)
        rows.append(cast(Row, row))
    return rows


def _look_up(said: Mapping[str, str], match: re.Match[str]) -> str:
    return said[match[1]]


def _single(a: Numbers) -> Number | None:
    return a["cells"][0] if math.prod(a["shape"]) == 1 else None


def array_text(a: Numbers) -> str:
    """An array in a few characters: its one number, or the range of its entries.

    >>> array_text({"shape": [9], "low": -1.0, "high": 3.0, "odd": 1})
    '−1 … 3, 1 not finite'
    >>> array_text({"shape": [2], "low": -1.0, "high": 3.0, "odd": 0, "cells": [3.0, -1.0]})
    '[3, −1]'
    """
    if math.prod(a["shape"]) == 1:
        return fmt(a["cells"][0])
    if len(a["shape"]) == 1 and 1 < a["shape"][0] <= 4:
        return f"[{', '.join(fmt(c) for c in a['cells'])}]"
    if a["low"] is None:
        return "empty" if 0 in a["shape"] else "nothing finite"
    text = fmt(a["low"]) if a["low"] == a["high"] else f"{fmt(a['low'])} … {fmt(a['high'])}"
    return text + (f", {a['odd']} not finite" if a["odd"] else "")


def ledger(trace: Trace) -> list[Row]:
    """The rows in which a gradient travels along an edge, in the engine's order."""
    return [row for row in replay_steps(trace) if row["kind"] == "send"]


def to_text(trace: Trace) -> str:
    """The trace as plain text: what a screen reader, a terminal or a saved notebook shows in place of the picture.

    >>> x = Value(3.0)
    >>> print(to_text(trace(x * x, {"x": x})))
    x × x
    <BLANKLINE>
    node   computes  value  d(x × x)/dnode
    x      input     3      6
    x × x  x × x     9      1
    <BLANKLINE>
    backward   local  incoming  sends  sum
    x × x → x  x = 3  1         3      3
    x × x → x  x = 3  1         3      3 + 3 = 6
    """
    if trace["engine"] == "tensor":
        return _tensor_text(trace)
    nodes, edges = trace["nodes"], trace["edges"]
    root = nodes[trace["root"]]["label"]
    shown = [n for n in nodes if n["kind"] != "constant"]
    lines = [trace["title"], ""]
    table = [["node", "computes", "value", f"{_d(root)}/dnode"]]
    for n in shown:
        table.append([n["label"], n["expr"] or "input", fmt(n["value"]), "none" if n["grad"] is None else fmt(n["grad"])])
    lines += _columns(table)
    sends = ledger(trace)
    if sends:
        table = [["backward", "local", "incoming", "sends", "sum"]]
        for row in sends:
            edge = edges[row["edge"]]  # type: ignore[index]
            local = fmt(row["local"]) if row["local"] is not None else "unknown"
            if edge.get("amount"):
                where = f"{nodes[row['node']]['label']} → {nodes[edge['source']]['label']}"
                table.append([where, "folded", "", fmt(row["sends"]), fmt(row["after"])])
                continue
            if edge["local_text"] and not re.fullmatch(r"−?[\d.]+", edge["local_text"]):
                local = f"{edge['local_text']} = {local}"
            total = fmt(row["after"]) if row["before"] == 0 else f"{fmt(row['before'])} + {fmt(row['sends'])} = {fmt(row['after'])}"
            where = f"{nodes[row['node']]['label']} → {nodes[edge['source']]['label']}"
            table.append([where, local, fmt(row["incoming"]), fmt(row["sends"]), total])
        lines += ["", *_columns(table)]
    return "\n".join(lines)


def _tensor_text(trace: Trace) -> str:
    nodes, edges, arrays = trace["nodes"], trace["edges"], trace["arrays"]

    def numbers(i: int | None, missing: str) -> str:
        return missing if i is None else array_text(arrays[i])

    root = nodes[trace["root"]]["label"]
    lines = [trace["title"], ""]
    table = [["node", "made by", "computes", "shape", "value", f"{_d(root)}/dnode"]]
    for n in nodes:
        if n["kind"] == "constant" and n["label"] == n["expr"]:
            continue
        shape = str(tuple(n["shape"])) if "shape" in n else ""
        computes = n["expr"] or "input"
        computes += f" (view of {nodes[n['view']['base']]['label']})" if "view" in n else ""
        table.append([n["label"], n["op"], computes, shape, numbers(n.get("array"), "not kept"), numbers(n.get("grad_array"), "none")])
    lines += _columns(table)
    sends = [(step, edges[step["edge"]]) for step in trace["steps"] if step["edge"] is not None]
    if sends:
        table = [["backward", "rule", "sends", "shape", "sum"]]
        for step, edge in sends:
            rule = edge["local_text"] or "its rule"
            if edge["local"] is not None:
                rule = f"g × {fmt(_float(edge['local']))}"
            if "broadcast" in edge:
                rule += f", summed over {_and([str(a) for a in edge['broadcast']['axes']])}"
            sent = arrays[step["sends"]] if "sends" in step else None
            where = f"{nodes[edge['target']]['label']} → {nodes[edge['source']]['label']}"
            shown = (array_text(sent), str(tuple(sent["shape"]))) if sent else ("several", "")
            table.append([where, rule, *shown, array_text(arrays[step["after"]])])
        lines += ["", *_columns(table)]
    notes = [n["stops"] for n in nodes if "stops" in n]
    notes += [row["sentence"].replace("**", "") for row in replay_steps(trace) if row["kind"] == "error"]
    notes += trace["notices"]
    notes += unused_words(trace)
    return "\n".join([*lines, *([""] if notes else []), *notes])


def unused_words(trace: Trace, unused: list[str] | None = None) -> list[str]:
    """A sentence about the named leaves that require gradients and that the root does not depend on; none if there are none.

    unused: their names, by default those of the trace."""
    names = trace.get("unused") if unused is None else unused
    root = trace["nodes"][trace["root"]]["label"]
    return [f"No part in {root}: {_and(names)}. No gradient reaches {'it' if len(names) == 1 else 'them'}."] if names else []


def _columns(table: list[list[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def fmt(x: float | str | None) -> str:
    """A number as people read it: up to six significant digits, no trailing zeros, -0 as 0, a true minus sign; "?" if unknown.

    >>> [fmt(v) for v in (30.0, -0.0, 1 / 3, 1234567.0, -2.5e-7, "inf")]
    ['30', '0', '0.333333', '1.23457e6', '−2.5e−7', 'inf']
    """
    if x is None:
        return "?"
    x = float(x)
    if x != x or math.isinf(x):
        return str(x).replace("-", "−")
    if x == 0.0:
        return "0"
    rounded = Context(prec=6, rounding=ROUND_HALF_UP).create_decimal(Decimal(x))  # ties as JavaScript's toPrecision has them
    if 1e-4 <= abs(x) < 1e6:
        text = f"{rounded:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        head, tail = f"{rounded:e}".split("e")
        text = (head.rstrip("0").rstrip(".") if "." in head else head) + "e" + str(int(tail))
    return text.replace("-", "−")


def _json(x: float | None) -> Number | None:
    """JSON has no nan and no infinity."""
    return x if x is None or math.isfinite(x) else str(x)


def _float(x: Number | None) -> float | None:
    return None if x is None else float(x)
