"""The trace of a `Value`, or of an object of a scalar class of the learner's own.

What lives here: the recorded graph by indices (`record`), its labels, edges and steps. What does not: the contract (schema.py), names and
lines (naming.py), formulas (formulas.py), Tensors (tensor_trace.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from ..core import errors
from ..core.errors import a_kind
from ..core.facts import GraphCycle
from ..scalar import Constant, Value, backward_order, checked_number, is_own_operation
from ..words import listed, number
from . import module_calls
from .formulas import ATOM, Rule, exponent, rule_for
from .groups import groups, groups_by_owner
from .naming import former_names, headline, names_and_paths, names_of, source_of, twin_label, walk
from .notation import Text, formula, number_text
from .notation import node as node_in
from .notation import number as number_as_text
from .own_classes import METHODS, NO_OBJECT, Call, Reader, as_number, confirmed, measured, quiet, why_no_graph
from .schema import Edge, Group, Node, Saved, Source, Step, Trace
from .text import differential, json_number


def trace_value(
    graph: ScalarRecording, names: Mapping[str, object] | None = None, title: str | None = None,
    cell_name: Mapping[str, str] | Callable[[str], str | None] | None = None,
) -> Trace:  # fmt: skip
    """The recording as plain data. See `minigrad.tracing.trace.trace`."""
    sources = [source_of(obj, cell_name) for obj in graph.objects]
    texts, named = _labels(graph, sources)
    grads = graph.gradients()
    scopes = _scopes(graph, names)
    edges: list[Edge] = []
    nodes: list[Node] = []
    for i, parents in enumerate(graph.parents):
        rule, out, of = graph.rules[i], node_in(texts[i], i), [node_in(texts[p], p) for p in parents]
        computes = expression(graph, i, of)
        expr = computes.text if computes else ""
        rules: list[str] = []
        saved: list[Saved] = []
        for slot, parent in enumerate(parents):
            local = graph.locals[i][slot]
            carries = graph.requires_grad[parent]
            slope = rule.write(rule.locals[slot], *of, out=out) if rule else None
            local_text = slope.text if slope else ""
            edge = Edge(
                id=len(edges), source=parent, target=i, slot=slot, local=json_number(local), local_text=local_text, carries_grad=carries
            )  # fmt: skip
            if slope:
                edge["slope"] = slope.tree
            if graph.shut[i][slot]:
                edge["shut"] = True
            edges.append(edge)
            if carries and rule:
                top, bottom = differential(expr), differential(texts[parent].text)
                rules.append(f"{top}/{bottom} = {local_text}")
                if rule.saves[slot]:
                    saved.append(Saved(name=f"{differential(out.text)}/{bottom}", shape=[], dtype="float64", bytes=8))
        constant = graph.kinds[i] == "constant"
        nodes.append(
            Node(
                id=i,
                kind=graph.kinds[i],
                op=rule.name if rule else graph.ops[i],
                label=out.text,
                named=named[i],
                expr=number_text(graph.data[i]) if constant else expr,
                value=json_number(graph.data[i]) or 0.0,
                grad=json_number(grads[i]),
                requires_grad=graph.requires_grad[i],
                rule="; ".join(dict.fromkeys(rules)),
                saved=saved,
                source=sources[i],
                scope=scopes[i][-1] if i in scopes else "",
            )
        )
        if computes:
            nodes[-1]["formula"] = computes.tree
        if i in scopes:
            nodes[-1]["inside"] = scopes[i]
    if title is None:
        line = sources[graph.root]
        title = headline(line) if line else nodes[graph.root]["label"]
    steps = _steps(graph, nodes, edges)
    result = Trace(version=1, engine="value", title=title, root=graph.root, nodes=nodes, edges=edges, steps=steps)
    if notices := _undefined(graph, nodes):
        result["notices"] = notices
    if not graph.ids and (hit := groups_of(graph, names)):
        result["groups"] = hit
    return result


def newest(graph: ScalarRecording, count: int) -> ScalarRecording:
    """The newest operations of a recording as one of its own, with their objects. What enters them are its leaves."""
    one = part(graph, graph.order[:count], graph.root, graph.seed)
    for name in ("objects", "paths"):
        setattr(one, name, [getattr(graph, name)[i] for i in one.ids])
    one.told, one.unchecked = [], []
    return one


def part(graph: ScalarRecording, members: Sequence[int], out: int, seed: float) -> ScalarRecording:
    """Some operations of a recording as a separate one. Operands from outside become leaves, and `seed` is the gradient at `out`.

    The caller sets its `objects`, which are needed for source lines.
    """
    inside = set(members)
    ids = sorted(inside.union(p for m in members for p in graph.parents[m]))
    at = {old: new for new, old in enumerate(ids)}
    one = ScalarRecording()
    for name in ("names", "ops", "rules", "data", "requires_grad"):
        setattr(one, name, [getattr(graph, name)[i] for i in ids])
    one.kinds = ["operation" if i in inside else "constant" if graph.kinds[i] == "constant" else "leaf" for i in ids]
    one.parents = [tuple(at[p] for p in graph.parents[i]) if i in inside else () for i in ids]
    one.locals, one.shut = (
        [getattr(graph, name)[i] if i in inside else () for i in ids] for name in ("locals", "shut")
    )
    one.ops = [op if i in inside else "" for op, i in zip(one.ops, ids, strict=True)]
    one.rules = [rule if i in inside else None for rule, i in zip(one.rules, ids, strict=True)]
    one.order = [at[i] for i in graph.order if i in inside]
    one.root, one.seed = at[out], seed
    one.ids = ids
    return one


def groups_of(graph: ScalarRecording, names: Mapping[str, object] | None) -> list[Group]:
    """The groups of a recording, by the ids that its nodes have in the trace. `repeats` counts operations, in the order of the program."""
    root = graph.objects[graph.root]
    if not isinstance(root, Value):
        return groups_by_owner(graph.paths, graph.parents, [kind == "constant" for kind in graph.kinds], names)
    ids = graph.order[::-1]
    return [Group(**{**group, "members": [ids[i] for i in group["members"]]}) for group in groups(root, names)]  # type: ignore[typeddict-item]


# The recorded graph


class GraphCycleError(ValueError):
    """A node is, through its parents, an ancestor of itself: no order can compute such a graph."""


class ScalarRecording:
    """A computation by indices: parents before children, what `trace` and the tape both start from.

    `order` lists the operations as `backward()` visits them. `locals[i][slot]` is None where nothing can be known (an unknown
    operation), `shut[i][slot]` says that a gate lets nothing through, whatever the upstream gradient.
    """

    objects: list  # the learner's objects
    names: list[str]  # found in the namespace or the label; "" if there is none
    paths: list[str]  # the name that leads to it, whatever its label says
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
    said = ""  # of a class of the learner's: where its parts were found
    value_name, grad_name = "data", "grad"  # the attributes of its objects
    grads: Sequence[float | None] = ()  # the gradients that the learner's objects hold
    told: list[Sequence[float | None] | None]  # the derivatives that its own rules tell
    outdated = False  # did inputs move after their results were computed? The numbers here are those of the inputs as they are now
    lost: Sequence[int] = ()  # what could not be computed again
    unchecked: list[int]  # operations whose derivatives rest on the operation's name alone
    ids: Sequence[int] = ()  # of a part: what its nodes are called in the whole
    seed: float = 1.0  # the gradient at the root; of a part of a graph, the upstream gradient there

    def gradients(self) -> list[float | None]:
        """d root / d node for every node; None where no gradient flows or an unknown operation is in the way."""
        grads: list[float | None] = [None] * len(self.objects)
        lost: set[int] = set()
        grads[self.root] = self.seed if self.requires_grad[self.root] else None
        for i in self.order:
            incoming = grads[i]
            for parent, local, shut in zip(self.parents[i], self.locals[i], self.shut[i], strict=True):
                if not self.requires_grad[parent]:
                    continue
                if i in lost or (local is None and not shut):
                    lost.add(parent)
                elif incoming is not None and local is not None:
                    grads[parent] = (grads[parent] or 0.0) + (0.0 if shut else local * incoming)
        return [None if i in lost else grad for i, grad in enumerate(grads)]


def record(root: object, names: Mapping[str, object] | None = None) -> ScalarRecording:
    """The graph behind `root` by indices: in creation order for a `Value`, parents first for a learner's own class."""
    graph = ScalarRecording()
    graph.told, graph.unchecked = [], []
    if isinstance(root, Value):
        _record_value(graph, root)
        graph.names, graph.paths = names_and_paths(graph.objects, names)
        graph.kinds = [
            "operation" if obj._op else "constant" if type(obj) is Constant else "leaf" for obj in graph.objects
        ]
    else:
        _check_has_graph(root)
        _record_other(graph, root, names)
    needs: list[bool] = []
    graph.requires_grad = needs
    for kind, parents in zip(graph.kinds, graph.parents, strict=True):
        needs.append(kind == "leaf" or any([needs[p] for p in parents]))
    return graph


OPEN = (), (False,), (False, False)  # for so many operands: each of them passes a gradient on


def _record_value(graph: ScalarRecording, root: Value) -> None:
    operations = backward_order(root)
    results = {id(root): root}
    made_of: dict[int, tuple[Value, ...]] = {}
    for node in operations:
        results[id(node)] = node
        made_of[id(node)] = parents = node._prev
        for obj in parents:
            results[id(obj)] = obj
            if obj._seq > node._seq:
                raise errors.new(GraphCycleError, _CYCLE, facts=GraphCycle())
    graph.objects = objects = sorted(results.values(), key=attrgetter("_seq"))
    index = {id(obj): i for i, obj in enumerate(objects)}
    graph.order = [index[id(node)] for node in operations]
    graph.root = index[id(root)]
    graph.ops = [obj._op for obj in objects]
    graph.data = [obj.data for obj in objects]
    graph.parents, graph.rules, graph.locals, graph.shut = [], [], [], []
    for obj, op in zip(objects, graph.ops, strict=True):
        parents = made_of.get(id(obj), ())
        count = len(parents)
        if is_own_operation(obj):
            rule, slopes = _own_operation(obj)
        else:
            rule, slopes = rule_for(op, count) if op else None, obj._local
        graph.parents.append(tuple([index[id(p)] for p in parents]))
        graph.rules.append(rule)
        if slopes is not None and None in slopes:
            graph.locals.append(tuple(0.0 if d is None else d for d in slopes))
            graph.shut.append(tuple(d is None for d in slopes))
        else:
            graph.locals.append((None,) * count if slopes is None else slopes)
            graph.shut.append(OPEN[count] if count < len(OPEN) else (False,) * count)


def _own_operation(obj: Value) -> tuple[Rule | None, tuple[float | None, ...] | None]:
    """The row with this operation's name, if it computes the same, and the derivatives; None if they are unknown."""
    try:
        slopes = obj._local
    except Exception:  # the learner's rule fails: backward() will say why, and the picture shows the rest
        return None, None
    parents = obj._prev
    if all(d is None for d in slopes):  # no rule was given
        return None, None
    if (rule := rule_for(obj._op, len(parents))) is None:
        return None, slopes
    recomputed = _apply(rule, [p.data for p in parents])
    compared = [(recomputed.data, obj.data)]
    for parent in parents:  # of a − a a function can tell only the sum, 0; the row says 1 and −1
        row_sum, told_sum = (
            sum(d or 0.0 for p, d in zip(parents, of, strict=True) if p is parent) for of in (recomputed._local, slopes)
        )
        compared.append((row_sum, told_sum))
    same = all(math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12) for x, y in compared)
    return (rule, recomputed._local) if same else (None, slopes)


_CYCLE = (
    "this graph has a cycle: a node is its own ancestor, so no value can be computed before the others. A result's parents must be "
    "the operands it was computed from, never the result itself or anything made from it."
)


# A class of the learner's own, or of another library: own_classes.py reads its objects


def _check_has_graph(root: object) -> None:
    why = why_no_graph(root)
    if not why:
        return
    kind = type(root).__name__
    do = "Pass the result of a computation, such as y after y = x * 2."
    if isinstance(root, (list, tuple, set, dict)):
        do = f"Pass one of the elements of this {kind}, or their sum."
    elif isinstance(root, (int, float)):
        do = "A plain number has no history: start with x = Value(1.0) and compute with x."
    elif isinstance(root, type):
        do = f"This is the class itself: make an object of it, x = {root.__name__}(1.0), and compute with x."
    elif why != NO_OBJECT:
        do = why[0].upper() + why[1:] + "."
    raise TypeError(f"only a Value (or an object of a class like it) has a graph, and this is {a_kind(root)}. {do}")


def _record_other(graph: ScalarRecording, root: object, names: Mapping[str, object] | None) -> None:
    reader = Reader(root)
    with quiet():
        operands = _operands_in_order(reader, root, names)
        graph.objects = objects = _postorder(
            root, lambda obj: operands[id(obj)].parents if id(obj) in operands else [], reader
        )
        index = {id(obj): i for i, obj in enumerate(objects)}
        in_order = [operands[id(obj)] if id(obj) in operands else _Operands([], None, "") for obj in objects]
        graph.names, graph.paths = names_and_paths(objects, names)
        graph.ops = [of.op for of in in_order]
        graph.data = [_data(reader, obj) for obj in objects]
        graph.parents = [tuple(index[id(p)] for p in of.parents) for of in in_order]
        graph.kinds = _kinds(graph, bool(names))
        graph.order = [i for i in reversed(range(len(objects))) if graph.parents[i]]
        graph.root = index[id(root)]
        graph.said, graph.value_name, graph.grad_name = reader.said(), reader.layout.value, reader.layout.grad
        graph.grads = [reader.grad(obj) for obj in objects]
        graph.rules = [None] * len(objects)
        graph.locals, graph.shut = [()] * len(objects), [()] * len(objects)
        graph.told = [None] * len(objects)
        stored, moved, lost = [*graph.data], [False] * len(objects), [False] * len(objects)
        for i in reversed(graph.order):
            one = _Operation(reader, graph, i, in_order[i].call)
            parents = graph.parents[i]
            state = one.again(stored[i], any(moved[p] for p in parents))
            if state == "moved":
                moved[i] = True
                for p in parents:
                    moved[p] = (
                        moved[p] or not graph.parents[p] and not any(moved[q] for q in parents if graph.parents[q])
                    )
            lost[i] = state == "lost" or any(lost[p] for p in parents) or in_order[i].call is AMBIGUOUS
            if lost[i]:
                graph.locals[i], graph.shut[i] = (None,) * len(parents), (False,) * len(parents)
            else:
                one.differentiate(any(moved[p] for p in parents))
        unsure = {
            i
            for i in graph.order
            if (call := in_order[i].call) and call.solved or call is None and graph.rules[i] is None
        }
        for i in reversed(graph.order):  # x + 3 of an x that has moved, where nothing remembers the 3
            if any(lost[p] for p in graph.parents[i]) or i in unsure and any(moved[p] for p in graph.parents[i]):
                lost[i] = True
                graph.locals[i], graph.shut[i] = (None,) * len(graph.parents[i]), (False,) * len(graph.parents[i])
        graph.outdated, graph.lost = any(moved) or any(lost), [i for i, gone in enumerate(lost) if gone]


def _data(reader: Reader, obj: Any) -> float:
    held = reader.number(obj)
    if (result := as_number(held)) is not None:
        return result
    op = reader.op(obj)
    what = f"the result of {op!r}" if op else "a result" if reader.operands(obj) else "a leaf"
    try:
        return checked_number(held)
    except TypeError as error:
        raise TypeError(f"{what} in this graph has data that is not a number: {error}") from None


def _kinds(graph: ScalarRecording, with_names: bool) -> list[Literal["leaf", "constant", "operation"]]:
    """Tell constants from inputs. A class that computes 3 * x wraps the 3 in a node without a name and with one use, beside an operand that
    is not such a node. Inputs have names, or several uses."""
    unnamed = [not of and not name for name, of in zip(graph.names, graph.parents, strict=True)]
    anonymous = with_names and any(name and not of for name, of in zip(graph.names, graph.parents, strict=True))
    uses = [0] * len(unnamed)
    alone = [False] * len(unnamed)
    for of in graph.parents:
        for p in of:
            uses[p] += 1
            alone[p] = alone[p] or all(unnamed[other] for other in of)
    kinds: list[Literal["leaf", "constant", "operation"]] = []
    for i, (obj, of) in enumerate(zip(graph.objects, graph.parents, strict=True)):
        wrapped = anonymous and unnamed[i] and uses[i] == 1 and not alone[i]
        kinds.append("operation" if of else "constant" if wrapped or type(obj) is Constant else "leaf")
    return kinds


class _Operands(NamedTuple):
    parents: list  # by slot
    call: Call | None  # how to run the operation again
    op: str


def _operands_in_order(reader: Reader, root: object, names: Mapping[str, object] | None) -> dict[int, _Operands]:
    """For each operation its operands by slot, with the constants that its class keeps to itself (the 3 of x + 3, the 2 of x ** 2)."""
    result = _postorder(root, reader.operands, reader)  # in any order
    print_of = (
        _fingerprints(reader, result, names_of(result, names), names) if any(map(reader.in_a_set, result)) else {}
    )
    out: dict[int, _Operands] = {}
    for obj in result:
        parents = reader.operands(obj)
        if not parents:
            continue
        a_set, op = reader.in_a_set(obj), reader.op(obj)
        if a_set:  # it has lost the order, and one of the two arrows of a + a
            parents.sort(key=lambda p: print_of[id(p)])
        if behind := reader.call_behind(obj, parents):
            call, parents = behind
        else:
            call = None
        numbers = [_data(reader, p) for p in parents]
        if call is None:
            call, parents = _call_by_name(reader, obj, parents, numbers)
            if call is not None and not op and call is not AMBIGUOUS:
                op = _name_of(call)
            if a_set and call is None:
                parents = _guessed_order(reader, op, parents, obj)
        elif (
            a_set
            and len(parents) == 2
            and not _commutes(op)
            and (value := reader.value(call, numbers, obj)) is not None
        ):
            if not _gives(reader, op, parents, value) and _gives(reader, op, parents[::-1], value):
                parents.reverse()
                call = Call(call.function, tuple((k, 1 - x) if k else (k, x) for k, x in call.arguments))
        remaining = [x for is_operand, x in call.arguments if not is_operand] if call else []
        if call and len(remaining) == len(parents) == 1 and rule_for(op, 1) is None and rule_for(op, 2):
            value = reader.value(call, numbers, obj)
            if value is not None and rule_for(op, 2).name == "**" and not call.arguments[1][0]:  # type: ignore[union-attr]
                name = f"**{plain_text(remaining[0])}"
                op = name if _gives(reader, name, parents, value) else op
            elif value is not None:
                constant = Constant(remaining[0])
                both = [parents[0] if is_operand else constant for is_operand, _ in call.arguments]
                parents = both if _gives(reader, op, both, value) else parents
        out[id(obj)] = _Operands(parents, call, op)
    return out


def _commutes(op: str) -> bool:
    rule = rule_for(op, 2)
    return rule is not None and rule.name in ("+", "*", "max", "min")


def _fingerprints(
    reader: Reader, result: list, labels: list[str], names: Mapping[str, object] | None
) -> dict[int, tuple]:
    """A sort key for each node that is the same in every process: rank of its name, depth, digest. Sets of operands are sorted by it."""
    rank = {name: i for i, name in enumerate(names or ())}
    print_of: dict[int, tuple] = {}
    depth: dict[int, int] = {}
    for obj, name in zip(result, labels, strict=True):
        parents = reader.operands(obj)
        depth[id(obj)] = 1 + max((depth[id(p)] for p in parents), default=0)
        parts = sorted(print_of[id(p)][1:] for p in parents)
        text = repr((reader.op(obj), repr(reader.number(obj)), name, parts))
        digest = hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
        # A running sum is deeper than the term that is added to it, so sorting by depth restores the order of the program.
        print_of[id(obj)] = (rank.get(name, len(rank)), -depth[id(obj)], digest)
    return print_of


def _guessed_order(reader: Reader, op: str, parents: list, obj: Any) -> list:
    """The operands of a set by slot, as far as the result's number tells."""
    data = _data(reader, obj)
    if _gives(reader, op, parents, data):
        return parents
    if len(parents) == 2 and _gives(reader, op, parents[::-1], data):
        return parents[::-1]
    if len(parents) == 1 and _gives(reader, op, parents * 2, data):
        report = reader.slopes(obj, parents)
        twice = _apply(rule_for(op, 2), [_data(reader, p) for p in parents * 2])._local  # type: ignore[arg-type]
        if report is None or reader.same(report[0], sum(d or 0.0 for d in twice)):
            return parents * 2
    return parents


def _call_by_name(reader: Reader, obj: Any, parents: list, numbers: list[float]) -> tuple[Call | None, list]:
    """An operator or method of the class that makes such objects, and the operands by slot. Without a name for the operation, one that
    makes this very one."""
    op, a_set, count = reader.op(obj), reader.in_a_set(obj), len(parents)
    tried = [(call, [*range(count)]) for call in reader.calls_named(obj, count)]
    if a_set and count == 2:
        tried += [(call, [1, 0]) for call, _ in tried]
    if a_set and count == 1:
        tried += [(call, [0, 0]) for call in reader.calls_named(obj, 2)]
    results: list[tuple[Call, list[int], Any]] = []
    for call, places in tried:
        arguments = tuple((k, float(places[int(x)]) if k else x) for k, x in call.arguments)
        result = reader.run(Call(call.function, arguments), numbers, obj)
        if result is None:
            continue
        operands = reader.operands(result[0])
        if not all(any(p is one for one in result[1]) for p in operands):
            reader.indirect.add(call.function)  # a - b as a + (-b): it makes other objects on the way, and no such one
        elif reader.op(result[0]) == op and len(operands) == count:
            results.append((call, places, result[0]))
    data = _data(reader, obj)
    if op:  # of a set: in another order its operands would give another number, or an input has moved since
        fits = [one for one in results if not a_set or reader.same(_data(reader, one[2]), data)]
        return (fits[0][0], [parents[k] for k in fits[0][1]]) if fits else (None, parents)
    slopes = reader.slopes(obj, parents)
    now = [one for one in results if _matches(reader, one[2], slopes, data)]
    if not now and slopes is not None and any(not reader.operands(p) for p in parents):
        before = [one for one in results if _matched_before(reader, obj, parents, one[0], numbers, slopes, data)]
        if len(before) > 1:
            return AMBIGUOUS, parents
        now = before
    return (now[0][0], [parents[k] for k in now[0][1]]) if len(now) == 1 else (None, parents)


AMBIGUOUS = Call(len, ())  # an input has moved, and several operations may have been the one that was computed before


def _matches(reader: Reader, out: Any, slopes: Sequence[float] | None, data: float) -> bool:
    """Does an operation of the class make such an object, by its number and its derivatives?"""
    if not reader.same(_data(reader, out), data):
        return False
    other = reader.slopes(out, reader.operands(out))
    if other is None or slopes is None:
        return other is slopes
    return len(other) == len(slopes) and all(map(reader.same, other, slopes))


def _matched_before(
    reader: Reader, obj: Any, parents: list, call: Call, numbers: list[float], slopes: Sequence[float], data: float
) -> bool:  # fmt: skip
    """Could it have made `obj` before its inputs moved? The numbers that they had are looked for."""
    if (
        len(slopes) == 2
        and (result := reader.run(call, slopes[::-1], obj))
        and _matches(reader, result[0], slopes, data)
    ):
        return True  # a product: its derivatives are the numbers that its operands had
    inputs = [k for k, p in enumerate(parents) if not reader.operands(p)]
    numbers = [*numbers]
    for _ in range(30):
        result = reader.run(call, numbers, obj)
        slopes_now = result and reader.slopes(result[0], reader.operands(result[0]))
        if not result or not slopes_now or len(slopes_now) != len(numbers):
            return False
        if _matches(reader, result[0], slopes, data):
            return True
        steep = sum(slopes_now[k] ** 2 for k in inputs)
        by = data - _data(reader, result[0])
        if not steep or not math.isfinite(steep) or reader.same(by + data, data):
            return False
        for k in inputs:
            numbers[k] += by / steep * slopes_now[k]
    return False


def _name_of(call: Call) -> str:
    name = call.function.__name__
    power = [x for is_operand, x in call.arguments if not is_operand]
    if name == "__pow__" and power:
        return f"**{plain_text(power[0])}"
    return next((op for op, method in METHODS.items() if method == name), name)


def plain_text(x: float) -> str:
    return str(int(x)) if x == int(x) else repr(x)


class _Operation:
    """One operation of a graph that is being recorded: its number at its operands' present numbers, and its derivatives there. Each is
    checked against what the class itself computes, as far as that can be asked."""

    def __init__(self, reader: Reader, graph: ScalarRecording, i: int, call: Call | None):
        self.reader, self.graph, self.i = reader, graph, i
        self.call = None if call is AMBIGUOUS else call
        self.obj, self.parents = graph.objects[i], graph.parents[i]
        self.numbers = [graph.data[p] for p in self.parents]
        # Slots of the class's own operands
        self.real = [k for k, p in enumerate(self.parents) if not isinstance(graph.objects[p], Value)]
        self.row: Value | None = None
        self.centre: float | None = None
        rule = rule_for(graph.ops[i], len(self.parents)) if graph.ops[i] else None
        if rule is not None:
            graph.rules[i] = rule
            with contextlib.suppress(Exception):
                self.row = _apply(rule, self.numbers)

    def value(self, numbers: Sequence[float]) -> float | None:
        """What the class's own operation computes."""
        return self.reader.value(self.call, [numbers[k] for k in self.real], self.obj) if self.call else None

    def near(self, numbers: Sequence[float]) -> float | None:
        """`value` for differences, which ask for the number at the operands' present numbers several times."""
        if numbers != self.numbers:
            return self.value(numbers)
        if self.centre is None:
            self.centre = self.value(numbers)
        return self.centre

    def again(self, stored: float, parents_moved: bool) -> str:
        """Compute it again. "same", "moved" (and then the graph has the new number), or "lost": it should be computed again, and cannot."""
        same = self.reader.same
        if self.row is not None and same(self.row.data, stored):
            return "same"
        self.reader.undefined = False
        fresh = self.value(self.numbers)
        if fresh is None or same(fresh, stored):
            undefined = fresh is None and self.reader.undefined
            self._not_this_rule()
            return "lost" if fresh is None and (parents_moved or undefined) else "same"
        could = parents_moved or any(not self.graph.parents[p] for p in self.parents)
        if not could or self.value(self.numbers) != fresh:  # it is not what made this object: say no more about it
            self.call = None
            self._not_this_rule()
            return "lost" if parents_moved else "same"
        self.graph.data[self.i] = fresh
        if self.row is not None and not same(self.row.data, fresh):
            self._not_this_rule()
        return "moved"

    def _not_this_rule(self) -> None:
        self.graph.rules[self.i] = self.row = None

    def differentiate(self, moved: bool) -> None:
        graph, i = self.graph, self.i
        told = self._own(moved)
        row = None if self.row is None else self.row._local
        groups: dict[int, list[int]] = {}  # an operand that is used twice has one derivative to compare
        for k in self.real:
            groups.setdefault(self.parents[k], []).append(k)
        slots = [*groups.values()]

        def totals(slopes: Sequence[float | None]) -> list[float]:
            return [sum([slopes[k] or 0.0 for k in of]) for of in slots]

        def true(slopes: Sequence[float | None]) -> bool:
            return all(confirmed(self.near, self.numbers, of, d) for of, d in zip(slots, totals(slopes), strict=True))

        near = 1e-5 if self.reader.coarse else 1e-7
        agree = told is not None and row is not None and all(
            [x == y or (x != x and y != y) or math.isclose(x, y, rel_tol=near, abs_tol=near * 1e-2)
             for x, y in zip(totals(told), totals(row), strict=True)]
        )  # fmt: skip
        graph.told[i] = told
        slopes: Sequence[float | None] | None
        if agree:
            slopes = row
        elif told is None and row is None:
            slopes = self._measured(slots) if self.call else None
        elif self.call and told is not None and true(told):
            slopes, graph.rules[i] = told, None
        elif self.call and row is not None and true(row):
            slopes = row
        elif self.call and (result := self._measured(slots)) is not None:
            slopes, graph.rules[i] = result, None
        elif row is None:
            slopes = told
        else:
            slopes = row
            graph.unchecked.append(i)
        count = len(self.parents)
        graph.locals[i] = (None,) * count if slopes is None else tuple(0.0 if d is None else d for d in slopes)
        graph.shut[i] = (False,) * count if slopes is None else tuple(d is None for d in slopes)

    def _own(self, moved: bool) -> list[float | None] | None:
        """The derivatives that the class's own rule tells, where its inputs stand now."""
        reader, obj = self.reader, self.obj
        operands = [self.graph.objects[self.parents[k]] for k in self.real]
        if moved:
            result = reader.run(self.call, [self.numbers[k] for k in self.real], obj) if self.call else None
            if result is None:
                return None
            obj, operands = result
        report = reader.slopes(obj, operands)
        if report is None:
            return None
        out: list[float | None] = [None] * len(self.parents)
        for k, d in zip(self.real, report, strict=True):
            out[k] = d
        for k in range(len(out)):
            if k not in self.real and self.row is not None:
                out[k] = self.row._local[k]
        return out

    def _measured(self, slots: list[list[int]]) -> list[float | None] | None:
        out: list[float | None] = [None] * len(self.parents)
        for of in slots:
            if (d := measured(self.near, self.numbers, of)) is None:
                return None
            for k in of:
                out[k] = d / len(of)
        return out


def _apply(rule: Rule, numbers: Sequence[float]) -> Value:
    """The operation on Values: their local derivatives are the ones that these numbers call for."""
    return rule.compute(*map(Value, numbers))


def _gives(reader: Reader, op: str, parents: list, data: float) -> bool:
    """Is this number what an operation of this name computes from these parents?"""
    rule = rule_for(op, len(parents))
    return rule is not None and reader.same(_apply(rule, [_data(reader, p) for p in parents]).data, data)


def _postorder(root: Any, parents_of: Callable[[Any], Iterable], reader: Reader) -> list:
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
                raise errors.new(GraphCycleError, _CYCLE, facts=GraphCycle())
            continue
        state[id(obj)] = False
        stack.append((obj, True))
        for parent in reversed(list(parents_of(obj))):
            if not isinstance(parent, Value) and reader.layout_for(parent) is None:
                raise TypeError(
                    f"a parent of the result of {reader.op(obj) or 'an operation'!r} is a plain {type(parent).__name__} ({parent!r}): "
                    "wrap it in your class first, so that every parent is an object of it."
                )
            if state.get(id(parent)) is False:
                raise errors.new(GraphCycleError, _CYCLE, facts=GraphCycle())
            if id(parent) not in state:
                stack.append((parent, False))
    return order


# Labels and expressions


def _labels(graph: ScalarRecording, sources: list[Source | None]) -> tuple[list[Text], list[bool]]:
    """A label for every node: the learner's name, or h₁ if it was h before, else a short expression, else v1, v2, ... All differ, except
    constants'."""
    former = former_names(graph.names, [getattr(obj, "_code", None) for obj in graph.objects], sources)
    occupied = {name for name in graph.names if name}
    used: set[str] = set()
    texts: list[Text] = []
    named: list[bool] = []
    made_up = 0
    for i, name in enumerate(graph.names):
        if name:
            text = Text(twin_label(name, used, occupied))
        elif graph.kinds[i] == "constant":
            text = number_as_text(number_text(graph.data[i]))
        elif former[i] and former[i] not in occupied and former[i] not in used:
            text = Text(former[i])
        else:
            short = _short_expression(graph, i, texts) if graph.parents[i] else None
            if short is None or short.text in occupied or short.text in used:
                made_up += 1
                while f"v{made_up}" in occupied or f"v{made_up}" in used:
                    made_up += 1
                short = Text(f"v{made_up}")
            text = short
        if graph.kinds[i] != "constant":
            used.add(text.text)
        texts.append(text)
        named.append(bool(name))
    return texts, named


def _short_expression(graph: ScalarRecording, i: int, texts: list[Text]) -> Text | None:
    rule, parents = graph.rules[i], [node_in(texts[p], p) for p in graph.parents[i]]
    if rule is None:
        return None
    text = rule.write(rule.expr, *parents)
    if rule.name == "*" and graph.kinds[graph.parents[i][0]] == "constant" and re.match(r"[\d.]+$", parents[0].text):
        if parents[1].level == ATOM and re.match(r"[^\W\d]", parents[1].text):
            text = formula("times", *parents)  # 3x
    return text if len(text.text) <= 10 else None


def expression(graph: ScalarRecording, i: int, parents: list[Text]) -> Text | None:
    if not parents:
        return None
    if rule := graph.rules[i]:
        return rule.write(rule.expr, *parents)
    return formula("call", graph.ops[i] or "unknown", *parents)


# Where a number stops being one

_UNDEFINED: dict[str, list[tuple[Callable[..., bool], str]]] = {  # operation: (is it this case?, why)
    "log": [(lambda x: x < 0, "a negative number has no logarithm"), (lambda x: x == 0, "the logarithm of 0 is −inf")],
    "sqrt": [(lambda x: x < 0, "a negative number has no square root")],
    "/": [(lambda x, y: y == 0, "it is divided by 0")],
    "**": [(lambda x, n: x < 0 and n != int(n), "a negative number has no power with a fractional exponent"),
           (lambda x, n: x == 0 and n < 0, "a negative power of 0 is infinite")],
}  # fmt: skip


def _undefined(graph: ScalarRecording, nodes: list[Node]) -> list[str]:
    """A sentence about the first operation that makes nan or an infinity of finite numbers."""
    for i, parents in enumerate(graph.parents):
        operands = [graph.data[p] for p in parents]
        if not parents or math.isfinite(graph.data[i]) or not all(map(math.isfinite, operands)):
            continue
        rule, label = graph.rules[i], nodes[i]["label"]
        if rule and rule.name == "**" and len(operands) == 1:
            operands.append(exponent(graph.ops[i]))
        why = next((why for test, why in _UNDEFINED.get(rule.name if rule else "", ()) if test(*operands)), "")
        if not why:
            why = (
                "the result is too large for a float"
                if math.isinf(graph.data[i])
                else "its operation is not defined there"
            )
        with_ = listed(
            [f"{nodes[p]['label']} = {number(graph.data[p])}" for p in parents if graph.kinds[p] != "constant"]
        )
        expr = "" if nodes[i]["expr"] == label else f" = {nodes[i]['expr']}"
        return [f"{label}{expr} is {number(graph.data[i])}: {why}" + (f" ({with_})." if with_ else ".")]
    return []


# Inputs without a part


def unused_inputs(things: list, names: Mapping[str, object]) -> list[str]:
    """Names of inputs that were created for a graph but are not used in it. `things` are the Values of the graph.

    Such an input was created between the graph's first input and its result, or by the same cell. A Value does not know its users, so the
    order of creation decides.
    """
    inside, first, last = (
        {id(thing) for thing in things},
        min(thing.age for thing in things),
        max(thing.age for thing in things),
    )
    cells = {file for thing in things if (file := _made_in(thing))}
    results: dict[int, str] = {}
    for name, thing in walk(names, inside.__contains__):
        if isinstance(thing, Value) and not thing._op and id(thing) not in inside and thing.age < last:
            if thing.age > first or _made_in(thing) in cells:
                results.setdefault(id(thing), name)
    return [*results.values()]


def _made_in(thing: Value) -> str | None:
    return getattr(getattr(thing, "_code", None), "co_filename", None)


# Modules


def _scopes(graph: ScalarRecording, names: Mapping[str, object] | None) -> dict[int, list[str]]:
    """For each operation made in the call of a network of micro.py: the names of the calls around it, outermost first.

    A module that was called twice has two calls, the second called "model (call 2)".
    """
    numbers = {i: obj._seq for i, obj in enumerate(graph.objects) if isinstance(obj, Value) and obj._op}
    low, high = min(numbers.values(), default=0), max(numbers.values(), default=0)
    if not any(low <= last and first <= high for first, last, _ in module_calls.VALUES):
        return {}
    paths: dict[int, str] = {}
    networks: list[Any] = []
    for text, thing in walk(names):
        attributes = getattr(thing, "__dict__", {})
        if type(attributes) is dict and (
            type(attributes.get("neurons")) is list or type(attributes.get("layers")) is list and attributes["layers"]
        ):
            if paths.setdefault(id(thing), text) == text and "layers" in attributes:
                networks.append(thing)
    around = module_calls.around(numbers.values(), module_calls.of_values(networks))
    called: dict[str, int] = {}
    texts: dict[
        tuple[int, int, str], str
    ] = {}  # call -> a name of its own; a layer of one neuron and that neuron are one range
    out: dict[int, list[str]] = {}
    for i, recomputed in numbers.items():
        for first, last, module, place in around.get(recomputed, ()):
            path = paths.get(id(module)) or type(module).__name__
            path += "" if place is None else f".neurons[{place}]"
            if (call := (first, last, path)) not in texts:
                called[path] = turn = called.get(path, 0) + 1
                texts[call] = path if turn == 1 else f"{path} (call {turn})"
            out.setdefault(i, []).append(texts[call])
    return out


# Steps


def _steps(graph: ScalarRecording, nodes: list[Node], edges: list[Edge]) -> list[Step]:
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
    if graph.ids:
        steps[-1] |= {
            "say": f"**{root['label']} has received {{after}}** from what uses it.",
            "start": json_number(graph.seed) or 0.0,
        }
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
            f"**{label} passes an unknown amount back to {to}:** this engine does not know an operation called “{node['op']}”, "
            "so it cannot tell the local derivative."
        )
    if edge["target"] == root:
        upstream = "the {incoming} it started with"
    else:
        upstream = f"the upstream gradient {{incoming}} from {listed([nodes[s]['label'] for s in senders[edge['target']]], 4, 'nodes')}"
    say = f"**{label} passes {{sends}} back to {to}:** the local derivative of {node['expr']} with respect to {to} is {{local}}, "
    say += f"times {upstream}."
    if senders[edge["source"]]:
        say += f" Added to the {{before}} that was already there, {to} now has {{after}}."
    return say
