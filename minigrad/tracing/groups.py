"""The groups of a computation: calls of the learner's functions and objects, and how they stand to each other. What network pictures read.

What lives here: the tree of groups of a graph of Values, from the calls that were noted (core/call_log.py) or, for a class that notes
none, from whose parameters an operation uses. Made without a trace: a graph of 65,000 operations takes a fraction of a second.

Calls made from the same place by the same call are siblings. Of siblings, three rules make a group (NETWORK: samples, columns, layers):
    same function and owner, none uses another's result      "samples"
    same function, different owners, none uses another's     "column": the neurons of a layer
    they use each other's results                            "layers" from left to right; with one owner "steps"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from ..core.call_log import VALUES, Call, CallLog
from ..scalar import Value, backward_order, operands_of
from ..words import plural
from .naming import source_of, walk
from .schema import Group, Repeats


class Operations(NamedTuple):
    """The operations behind a result in the order in which they were made: what groups are made of."""

    nodes: list[Value]
    parents: list[list[int]]  # by place in `nodes`; leaves are left out
    operands: list[list[tuple[int, int | None]]]  # of each node: their ids, and their places, None for a leaf


def operations(root: Value) -> Operations:
    nodes = backward_order(root)[::-1]
    place = {id(node): i for i, node in enumerate(nodes)}.get
    operands = [[(key := id(p), place(key)) for p in operands_of(node)] for node in nodes]
    return Operations(nodes, [[at for _, at in of if at is not None] for of in operands], operands)


def groups(root: Value, names: Mapping[str, object] | None = None, log: CallLog = VALUES) -> list[Group]:
    """The groups of a graph of Values, outer ones before inner ones. `members` are places in `operations(root).nodes`.

    names: a namespace in which the owners of methods are looked up. [] if no call was noted, or only the one that made everything.
    """
    of = operations(root)
    tree = _Tree(of, log)
    tree.from_calls([log.call_of(node.age) for node in of.nodes])
    return tree.written(names)


def groups_by_owner(
    labels: Sequence[str],
    parents: Sequence[Sequence[int]],
    constants: Sequence[bool],
    names: Mapping[str, object] | None,
) -> list[Group]:
    """The groups of a graph whose class records no calls, such as micrograd's: an operation is in the group of the object whose parameter
    it uses.

    labels: for each node its name, "net.layers[0].neurons[1].w[2]" for a parameter, "" if it has none. Parents precede children.
    A sum of results of one object, and a function of such a sum, is in the object's group until all its parameters have been used.
    """
    path = [label.rpartition(".")[0] if not of else "" for label, of in zip(labels, parents, strict=True)]
    things = _things({prefix for owner in path for prefix in _prefixes(owner)}, names)
    called = _without_loop_variables({id(thing): (text, thing) for text, thing in things.items()})
    path = [called[id(things[owner])] if owner in things else owner for owner in path]
    full: dict[str, set[int]] = {}  # owner -> its parameters
    for i, owner in enumerate(path):
        if owner:
            full.setdefault(owner, set()).add(i)
    call: list[_Owned | None] = [None] * len(labels)
    for i, of in enumerate(parents):
        owners = [path[p] for p in of if path[p]]
        calls = list(dict.fromkeys(result.now() for p in of if (result := call[p]) is not None))
        if owners:
            open_calls = [one for one in calls if one.owner == owners[0] and not one.complete]
        elif len(calls) == 1 and (len(of) == 1 or not calls[0].complete and all(call[p] or constants[p] for p in of)):
            open_calls = [] if calls[0].finished else calls
        else:
            open_calls = (
                calls
                if len({one.owner for one in calls}) == 1 and not any(one.complete or one.finished for one in calls)
                else []
            )
        if not owners and not open_calls:
            continue
        one = open_calls[0] if open_calls else _Owned(owners[0])
        one.finished = one.complete  # a function of the complete sum, its activation, is the last
        for other in open_calls[1:]:
            one.used |= other.used
            one.items += other.items
            other.merged = one
        one.used |= {p for p in of if path[p] == one.owner}
        one.items.append(i)
        one.complete = one.used >= full[one.owner]
        call[i] = one
    return _of_owners([one for one in dict.fromkeys(call) if one is not None and one.merged is None], parents, names)


def without_count(name: str) -> str:
    """The name of a group without its place among its likes, as `_called` writes it: "f (call 2)", "Neuron 3 of 4"."""
    return re.sub(r" of \d+$| \(call \d.*\)$", "", name)


def groups_of_modules(inside: Mapping[int, Sequence[str]], classes: Mapping[str, str]) -> list[Group]:
    """The groups of a graph of Tensors: the calls of nn modules that its operations were made in.

    inside: for each operation the names of the calls around it, outermost first ("net.layers[0]", "net.layers[0] (call 2)"); classes: for
    a module's name that of its class.
    """
    out: list[Group] = []
    at: dict[tuple[str, ...], int] = {}
    for i in sorted(inside):
        parent: int | None = None
        for depth in range(1, len(inside[i]) + 1):
            key = tuple(inside[i][:depth])
            if key not in at:
                at[key] = len(out)
                owner = without_count(key[-1])
                function = f"{classes[owner]}.forward" if owner in classes else ""
                group = Group(
                    id=len(out),
                    kind="call",
                    name=key[-1],
                    function=function,
                    owner=owner,
                    parent=parent,
                    groups=[],
                    members=[],
                )
                out.append(group)
                if parent is not None:
                    out[parent]["groups"].append(at[key])
            parent = at[key]
        if parent is not None:
            out[parent]["members"].append(i)
    return out


class _Owned:
    """A call that was not recorded: connected operations that use the parameters of one object."""

    def __init__(self, owner: str):
        self.owner, self.used, self.items = owner, set[int](), list[int]()
        self.complete = self.finished = False
        self.merged: _Owned | None = None

    def now(self) -> _Owned:
        one = self
        while one.merged is not None:
            one = one.merged
        return one


def _things(texts: set[str], names: Mapping[str, object] | None) -> dict[str, object]:
    """The objects behind names such as "net.layers[0]", by name."""
    first = dict.fromkeys(re.split(r"\W", text)[0] for text in texts)
    return {
        text: thing
        for name in first
        if name in (names or {})
        for text, thing in walk({name: (names or {})[name]})
        if text in texts
    }


def _of_owners(
    calls: list[_Owned], parents: Sequence[Sequence[int]], names: Mapping[str, object] | None
) -> list[Group]:
    requested = {prefix for one in calls for prefix in _prefixes(one.owner)}
    objects = _things(requested, names)
    tree = _Tree(Operations([], [list(of) for of in parents], []), None)
    spans: dict[tuple[int, str], _CallSpan] = {}
    order: list[_CallSpan] = []
    turn: dict[str, int] = {}  # owner -> how many calls it has had: the call's sample
    for one in sorted(calls, key=lambda one: min(one.items)):
        turn[one.owner] = sample = turn.get(one.owner, -1) + 1
        span = tree.top
        for prefix in _prefixes(one.owner):
            if prefix not in objects:
                continue
            if (sample, prefix) not in spans:
                code = _NoCode("__call__", f"{type(objects[prefix]).__name__}.__call__")
                place = (code, 0) if span is tree.top else (span.call.code, 0)
                call = Call(span.number, cast(Any, code), partial(objects.get, prefix), cast(Any, place))
                spans[sample, prefix] = _CallSpan(len(order), call, span)
                order.append(spans[sample, prefix])
            span = spans[sample, prefix]
        span.items += one.items
    tree.settle(order)
    return tree.written({text: objects[text] for text in objects}) if order else []


class _NoCode(NamedTuple):
    """What a call that was not noted has in place of a code object."""

    co_name: str
    co_qualname: str


def _counted(path: str) -> list:
    """A key that sorts neurons[2] before neurons[10]."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", path)]


def _prefixes(path: str) -> list[str]:
    """ "net.layers[0]": "net", "net.layers[0]"."""
    parts = path.split(".")
    return [".".join(parts[: k + 1]) for k in range(len(parts))]


class _CallSpan:
    """One recorded call, with the calls and operations inside it."""

    def __init__(self, number: int, call: Any, parent: _CallSpan | None):
        self.number, self.call, self.parent = number, call, parent
        self.items: list[_CallSpan | int] = []  # operations and calls in the order of the program
        self.first = self.last = -1
        self.size = 0

    def inner(self) -> list[_CallSpan]:
        return [item for item in self.items if isinstance(item, _CallSpan)]


class _Tree:
    def __init__(self, of: Operations, log: CallLog | None):
        self.of, self.log, self.groups = of, log, list[Group]()
        self.top = _CallSpan(-1, None, None)

    def written(self, names: Mapping[str, object] | None) -> list[Group]:
        self.owners = self._names(names)
        self._write(self.top, None)
        return self.groups

    # Calls

    def from_calls(self, calls: list[int]) -> None:
        """calls: for each operation the number of its call in the log."""
        spans: dict[int, _CallSpan] = {-1: self.top}
        for i, number in enumerate(calls):
            self._known(number, spans).items.append(i)
        order = sorted((span for span in spans.values() if span is not self.top), key=lambda span: span.number)
        self.settle(order)
        for span in order:  # a module's forward inside its __call__: one call of one object
            while (
                len(span.items) == 1
                and isinstance(only := span.items[0], _CallSpan)
                and _owner(only) is _owner(span) is not None
            ):
                span.items = only.items
        # The function in which everything was computed is
        while len(inner := self.top.inner()) == 1 and inner[0].call.owner is None:
            unknown = [i for i in self.top.items if isinstance(i, int)]  # the stage, and no box on it
            if any(hasattr(self.of.nodes[i], "_code") for i in unknown):
                break
            self.top = inner[0]
            self.top.items += unknown

    def settle(self, order: list[_CallSpan]) -> None:
        """Put calls, outer ones first, among the items of the call around them, where their first operation was made."""
        for span in order:
            span.parent.items.append(span)  # type: ignore[union-attr]
        for span in [*reversed(order), self.top]:
            spans = [(i, i, 1) if isinstance(i, int) else (i.first, i.last, i.size) for i in span.items]
            span.first, span.last = min((s[0] for s in spans), default=-1), max((s[1] for s in spans), default=-1)
            span.size = sum(s[2] for s in spans)
            span.items.sort(key=lambda item: item if isinstance(item, int) else item.first)

    def _known(self, number: int, spans: dict[int, _CallSpan]) -> _CallSpan:
        log, chain = cast(CallLog, self.log), []
        while number not in spans:
            if number < log.forgotten:
                number = -1
                break
            chain.append(number)
            number = log[number].parent
        span = spans[number]
        for number in reversed(chain):
            span = spans[number] = _CallSpan(number, log[number], span)
        return span

    # Siblings

    def _write(self, span: _CallSpan, parent: int | None) -> None:
        """The groups inside a call."""
        plain = [item for item in span.items if isinstance(item, int)]
        if parent is not None:
            self.groups[parent]["members"] = plain
        if not span.inner():
            if span.call is None or span.call.owner is None:
                self._loops(plain, parent)
            return
        same_place: dict[Any, list[_CallSpan]] = {}
        for inner in span.inner():
            same_place.setdefault(_place(inner), []).append(inner)
        kinds = self._kinds([siblings for siblings in same_place.values() if len(siblings) > 1])
        for siblings, kind in [*kinds, *(([one], "") for one, *more in same_place.values() if not more)]:
            holder, repeats = parent, None
            if kind:
                repeats = self._repeats(siblings) if kind == "samples" else None
                siblings = siblings[:-1] if repeats else siblings  # of the last one only the beginning was recorded
                count = len(siblings) + (repeats["count"] if repeats else 0)
                if kind == "column" and self.log is None:  # the order of a set's elements is no order
                    siblings = sorted(siblings, key=lambda one: _counted(self.owners.get(id(_owner(one)), "")))
                holder = self._new(kind, parent, _title(kind, siblings[0], count, self.owners), None)
                if repeats:
                    self.groups[holder]["repeats"] = repeats
            for turn, inner in enumerate(siblings, 1):
                self._write(inner, self._new("call", holder, self._called(inner, turn, len(siblings)), inner))

    def _kinds(self, families: list[list[_CallSpan]]) -> list[tuple[list[_CallSpan], str]]:
        """For each family of siblings its rule. One pass over the operations of the call around them finds who uses whose result."""
        bit: dict[int, int] = {}  # operation -> the sibling that it is part of
        for family in families:
            for k, sibling in enumerate(family):
                for i in _all(sibling):
                    bit[i] = k
        out = []
        for family in families:
            members = {i for sibling in family for i in _all(sibling)}
            results: dict[int, int] = {}  # operation -> the siblings whose results are behind it, as bits
            uses = False
            for i in range(family[0].first, family[-1].last + 1):
                behind = 0
                for p in self.of.parents[i]:
                    behind |= results.get(p, 0)
                if i in members:
                    uses = uses or bool(behind & ~(1 << bit[i]))
                    behind |= 1 << bit[i]
                if uses:
                    break
                if behind:
                    results[i] = behind
            one_owner = len({_whose(sibling) for sibling in family}) == 1
            out.append((family, ("steps" if one_owner else "layers") if uses else "samples" if one_owner else "column"))
        return out

    # Operations after the last recorded call

    def _repeats(self, siblings: list[_CallSpan]) -> Repeats | None:
        """How often the program went on as in its last complete recorded sample: compared operation by operation, to the first difference.

        An operation is known by its name, by how many operations back its operands lie, and by which leaf it uses; a leaf that is used
        for the first time since one sample ago (an input) by when that was.
        """
        nodes = self.of.nodes
        if (
            self.log is None
            or len(siblings) < 3
            or self.log.call_of(nodes[-1].age) >= 0
            or siblings[-1].last + 1 >= len(nodes)
        ):
            return None
        start, period = siblings[-1].first, siblings[-1].first - siblings[-2].first
        if period < siblings[-2].size or siblings[-1].size > siblings[-2].size:
            return None
        first_use: dict[int, int] = {}
        seen: list[list] = []
        for i, (node, operands) in enumerate(zip(nodes, self.of.operands, strict=True)):
            signature: list[Any] = [node._op]
            for key, at in operands:
                if at is None:
                    since = i - first_use.setdefault(key, i)
                    signature.append(("new", since) if since < period else key)
                else:
                    signature.append(i - at)
            if i < start - period:
                continue
            seen.append(signature)
            if i >= start and signature != seen[-1 - period]:
                break
        else:
            i = len(nodes)
        count = (i - start) // period
        return Repeats(first=start, period=period, count=count) if count else None

    # Loops

    def _loops(self, items: Sequence[int], parent: int | None) -> None:
        """Where the same places of the code come again and again: one group for the loop, one for each of its turns."""
        places = [
            (id(code), self.of.nodes[i]._offset) if (code := getattr(self.of.nodes[i], "_code", None)) else None
            for i in items
        ]
        final = {place: k for k, place in enumerate(places)}
        at = 0
        while at < len(items):
            last = final[places[at]]
            if last == at or places[at] is None:
                at += 1
                continue
            body, end = set(places[at : last + 1]), last + 1
            while end < len(items) and places[end] in body:
                end += 1
            starts = _turns(places[at:end], at)
            lines = [s["line"] for k in range(at, end) if (s := source_of(self.of.nodes[items[k]], None))]
            where = (
                f"line {lines[0]}"
                if lines and min(lines) == max(lines)
                else f"lines {min(lines)} to {max(lines)}"
                if lines
                else ""
            )
            full = self._new("loop", parent, f"loop, {where}" if where else "loop", None)
            for turn, (first, last) in enumerate(zip(starts, [*starts[1:], end], strict=True), 1):
                one = self._new("turn", full, f"turn {turn} of {len(starts)}", None)
                self.groups[one]["members"] = list(items[first:last])
                self._loops(items[first:last], one)
            if parent is not None:
                inside = set(items[at:end])
                self.groups[parent]["members"] = [i for i in self.groups[parent]["members"] if i not in inside]
            at = end

    # Words

    def _new(self, kind: Any, parent: int | None, name: str, span: _CallSpan | None) -> int:
        function = span.call.code.co_qualname.replace("<locals>.", "") if span and span.call and kind == "call" else ""
        owner = self.owners.get(id(_owner(span)), "") if span and kind == "call" else ""
        group = Group(
            id=len(self.groups),
            kind=kind,
            name=name,
            function=function,
            owner=owner,
            parent=parent,
            groups=[],
            members=[],
        )
        self.groups.append(group)
        if parent is not None:
            self.groups[parent]["groups"].append(group["id"])
        return group["id"]

    def _names(self, names: Mapping[str, object] | None) -> dict[int, str]:
        requested = {id(owner) for span in _everything(self.top) if (owner := _owner(span)) is not None}
        results: dict[int, tuple[str, object]] = {}
        for text, thing in walk(names) if requested else ():
            if id(thing) in requested:
                results.setdefault(id(thing), (text, thing))
                if len(results) == len(requested):
                    break
        return _without_loop_variables(results)

    def _called(self, span: _CallSpan, turn: int, count: int) -> str:
        name = self.owners.get(id(_owner(span)))
        if span.call.owner is None:  # a function
            return _kind_of(span) + (f" (call {turn} of {count})" if count > 1 else "")
        return name or _kind_of(span) + (f" {turn} of {count}" if count > 1 else "")


def _without_loop_variables(result: dict[int, tuple[str, object]]) -> dict[int, str]:
    """What objects are called, by their ids. `for layer in net.layers` leaves its last layer behind under a name of its own: it goes by
    net.layers[2], as long as the others are called like that."""
    called = {i: text for i, (text, _) in result.items()}
    for text, thing in result.values():
        for path, inner in walk({text: thing}) if text.isidentifier() else ():
            old, of = called.get(id(inner), ""), path[: path.rfind("[") + 1]
            if old.isidentifier() and path.endswith("]") and any(t.startswith(of) for t in called.values()):
                called = {i: path + t[len(old) :] if re.match(rf"{old}(\W|$)", t) else t for i, t in called.items()}
    return called


def _place(span: _CallSpan) -> tuple:
    """Which function was called from where. By id: hashing a code object reads all of it, every time."""
    code, place = span.call.code, span.call.place
    if isinstance(code, _NoCode):
        return code.co_qualname, place[0].co_qualname
    return id(code), place and (id(place[0]), place[1])


def _turns(places: list[Any], at: int) -> list[int]:
    """Where the turns of a loop begin. The place that comes least often is the outermost loop's own; others are of loops inside it."""
    count = {place: places.count(place) for place in dict.fromkeys(places)}
    least = min(count.values())
    if count[places[0]] == least or least == 1:  # 1: behind an if
        return [at + k for k, place in enumerate(places) if place == places[0]]
    ends_turn = [place for place in count if count[place] == least][-1]
    return [at, *(at + k + 1 for k, place in enumerate(places[:-1]) if place == ends_turn and k + 1 < len(places))]


def _owner(span: _CallSpan | None) -> Any:
    return None if span is None or span.call is None or span.call.owner is None else span.call.owner()


def _whose(span: _CallSpan) -> int:
    """Whose method was called, as a number, also of an object that is gone by now: all calls of one object have one weak reference."""
    owner = _owner(span)
    return id(span.call.owner if owner is None else owner)  # type: ignore[union-attr]


def _kind_of(span: _CallSpan) -> str:
    """The class whose method was called, or the function."""
    owner, code = _owner(span), span.call.code  # type: ignore[union-attr]
    if owner is not None:
        return type(owner).__name__
    path = code.co_qualname.split(".")
    return path[-2] if span.call.owner is not None and len(path) > 1 else code.co_name  # type: ignore[union-attr]


def _all(span: _CallSpan) -> Iterable[int]:
    for item in span.items:
        if isinstance(item, int):
            yield item
        else:
            yield from _all(item)


def _everything(span: _CallSpan) -> Iterable[_CallSpan]:
    yield span
    for inner in span.inner():
        yield from _everything(inner)


def _title(kind: str, one: _CallSpan, count: int, owners: Mapping[int, str]) -> str:
    name = _kind_of(one)
    if kind in ("samples", "steps") and (owner := _owner(one)) is not None:
        name = owners.get(id(owner), name)
    return {"samples": f"{name}, {plural(count, 'sample')}", "steps": f"{name}, {plural(count, 'step')}",
            "column": f"{count} × {name}", "layers": f"{count} × {name} in a row"}[kind]  # fmt: skip
