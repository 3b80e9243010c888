"""The network in a recorded graph of numbers: its neurons in columns, their wires, its samples, its loss. What the network pictures draw.

What lives here: `find`, which reads the columns out of the calls of a program, or where they show none out of its operations
(units.py), and `Network`: the plan, and where in the graph each of its numbers is. What does not: groups (tracing/groups.py), geometry
and drawing (network_picture.py, front/src/network/), widgets. Grouping changes what is drawn, never what is computed: every number is
one of the recorded graph's, looked up by its id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy

from minigrad.scalar import Value
from minigrad.tracing.naming import walk
from minigrad.tracing.notation import Text, number_text
from minigrad.tracing.scalar_trace import ScalarRecording, expression, rule_for
from minigrad.tracing.schema import Group
from minigrad.tracing.units import units_of

MOST_CELLS, MOST_SAMPLES = 300, 1000  # more of them are no picture any more
TEXT = 22  # characters of the formula on the card of a sample's error


class Column(TypedDict):
    name: str  # "layers[0]"
    about: str  # "4 × tanh"
    cells: list[int]  # from top to bottom


class Cell(TypedDict):
    name: str  # "net.layers[0].neurons[2]"
    short: str  # "neurons[2]"


class Link(TypedDict):
    source: int  # a cell
    target: int
    parameter: int  # the weight on it, or -1


class Parameter(TypedDict):
    name: str
    short: str  # within its cell: "w[1]"
    cell: int
    node: int  # id in the whole trace


class Plan(TypedDict):
    """What a network picture is drawn from, without its numbers."""

    name: str  # of the network
    samples: int
    nodes: int  # of the recorded graph
    columns: list[Column]  # the inputs first
    cells: list[Cell]  # inputs first, then column by column
    wires: list[Link]
    parameters: list[Parameter]
    error: NotRequired[str]  # the error of each sample, a formula in the network's output: "(out − y)²"
    rest: NotRequired[str]  # a term of the parameters alone, such as regularisation
    loss: NotRequired[str]  # the name of the result, if it is not what the last neuron computes


class _Found(TypedDict):
    """One neuron in one sample."""

    group: int
    out: int
    members: set[int]
    products: dict[int, tuple[int, int]]  # parameter -> (product, the other factor)
    plain: list[int]  # inputs that no parameter multiplies
    fixed: list[int]  # its parameters, those without a product among them
    name: str
    owner: str  # the object whose parameters these are, if that is known


class Network:
    """A plan, and for each of its numbers the node of the graph that has it."""

    plan: Plan

    def __init__(
        self, plan: Plan, outs: numpy.ndarray, deltas: numpy.ndarray, errors: numpy.ndarray, rest: int, root: int
    ):
        """Ids in the graph, -1 for none: of each sample's outputs of cells, of the sums whose gradients are their deltas, of its error."""
        self.plan, self.outs, self.deltas, self.errors, self.rest, self.root = plan, outs, deltas, errors, rest, root
        self.operations = 0  # of the graph
        self.members: list[list[list[int]]] = []  # the operations of each cell in each sample
        self.parameters = numpy.array([p["node"] for p in plan["parameters"]], numpy.intp)

    def numbers(self, values: numpy.ndarray, grads: numpy.ndarray) -> numpy.ndarray:
        """The numbers of the picture in a row, selected from those of all nodes (last axis): the loss and its gradient; the term of the
        parameters alone; values, then gradients of the parameters; then for each sample values and gradients of the cells, gradient
        (delta) and value of the sum of each, and the error and its gradient."""

        def of(table: numpy.ndarray, ids: numpy.ndarray) -> numpy.ndarray:
            result = table[..., numpy.maximum(ids, 0)]
            return numpy.where(ids >= 0, result, numpy.nan)

        head = numpy.array([self.root])
        rest = numpy.array([self.rest])
        rows = [of(values, self.outs), of(grads, self.outs), of(grads, self.deltas), of(values, self.deltas)]
        rows += [of(values, self.errors[:, None]), of(grads, self.errors[:, None])]
        samples = numpy.concatenate(rows, axis=-1)
        parts = [
            of(values, head),
            of(grads, head),
            of(values, rest),
            of(values, self.parameters),
            of(grads, self.parameters),
        ]
        return numpy.concatenate([*parts, samples.reshape(*samples.shape[:-2], -1)], axis=-1)

    def place(self, node: int) -> tuple[str, int, int] | None:
        """Where a node of the graph is in the picture: the part, the cell (-1: none) and the sample; None if it is in no single place."""
        plan = self.plan
        if node == self.root and "loss" in plan:
            return "loss", -1, 0
        column = {i: str(c) for c, of in enumerate(plan["columns"]) for i in of["cells"]}
        for sample, cells in enumerate(self.members):
            for cell, members in enumerate(cells):
                if node in members or node == self.outs[sample, cell]:
                    return column[cell], cell, sample
            if node == self.errors[sample]:
                return "error", -1, sample
        owner = next((p["cell"] for p in plan["parameters"] if p["node"] == node), None)
        return None if owner is None else (column[owner], owner, 0)


def find(graph: ScalarRecording, groups: Sequence[Group], names: Mapping[str, object] | None = None) -> Network | None:
    """The network in a recorded graph; None if neither its calls nor its operations show one. names: where the owners of its neurons are
    looked up."""
    finder = _Finder(graph, groups, names)
    if not any(finder._structured(g["id"]) for g in groups):
        return finder.network_of_units() or finder.network()
    result = finder.network()
    if result and isinstance(graph.objects[graph.root], Value):
        return result
    # of another class no calls are noted, only who owns its numbers: where that and its operations differ, the operations are right
    units = _Finder(graph, groups, names).network_of_units()
    return result if result and (units is None or _sizes(result) == _sizes(units)) else units


def _sizes(network: Network) -> list[int]:
    return [len(column["cells"]) for column in network.plan["columns"]]


def _alike(samples: Sequence[Sequence[Sequence[Any]]]) -> bool:
    """Have all samples equally many neurons in each column?"""
    return all([len(column) for column in one] == [len(column) for column in samples[0]] for one in samples)


class _Finder:
    def __init__(self, graph: ScalarRecording, groups: Sequence[Group], names: Mapping[str, object] | None = None):
        self.graph, self.groups = graph, groups
        self.own = self._own_names(names)
        self._inside: dict[int, list[int]] = {}  # group -> its operations
        self.ops = graph.order[::-1]  # the operations in the order of the program
        self.position = {node: k for k, node in enumerate(self.ops)}

    def network(self) -> Network | None:
        calls, repeats = self._samples()
        results = [self._cells(one) for one in calls]
        if not results or not 2 <= sum(map(len, results[0])) <= MOST_CELLS or not _alike(results):
            return None
        samples = []
        fixed = self._fixed(results)
        for columns in results:
            one = [[self._read(call, fixed) for call in column] for column in columns]
            if any(cell is None for column in one for cell in column):
                return None
            samples.append([[cell for cell in column if cell] for column in one])
        samples = [self._with_between(sample) for sample in samples]
        if not _alike(samples):
            return None
        self.columns = self._ordered(samples)
        if self.columns is None:
            return None
        if any(
            len({tuple(cell["fixed"]) for cell in column}) < len(column) for column in samples[0] if column[0]["fixed"]
        ):
            return None  # cells of one column that share their parameters are samples of one
        samples = [[[cell for c in place for cell in sample[c]] for place in self.columns] for sample in samples]
        return self._written(samples, repeats, [sorted({m for k in one for m in self._members(k)}) for one in calls])

    def network_of_units(self) -> Network | None:
        """The network that the operations show, whatever holds its parameters."""
        result = units_of(self.graph)
        if result is None or not 2 <= sum(map(len, result[0])) <= MOST_CELLS:
            return None
        roots = {
            re.split(r"\W", self.graph.paths[p])[0] for column in result[0] for unit in column for p in unit.fixed
        } - {""}
        self.name = roots.pop() if len(roots) == 1 else ""
        samples = [[[_Found(group=-1, out=u.out, members={*u.members}, products=u.products, plain=[], fixed=u.fixed,
                            name=u.name if u.name not in ("", self.name) else "output" if len(column) == 1 else f"unit {k}", owner=u.name)
                     for k, u in enumerate(column)] for column in sample] for sample in result]  # fmt: skip
        samples = [self._with_between(sample) for sample in samples]
        self.columns = self._ordered(samples) if _alike(samples) else None
        if self.columns is None:
            return None
        samples = [[[cell for c in place for cell in sample[c]] for place in self.columns] for sample in samples]
        return self._written(
            samples,
            None,
            [sorted({m for column in one for cell in column for m in cell["members"]}) for one in samples],
        )

    def _own_names(self, names: Mapping[str, object] | None) -> dict[int, str]:
        """What each parameter is called within its neuron ("w[1]"), whatever else leads to it: by id of its object."""
        expected, out = {g["owner"] for g in self.groups if g["owner"] and not g["groups"]}, dict[int, str]()
        if not expected:
            return out
        first = dict.fromkeys(re.split(r"\W", text)[0] for text in expected)
        for text, thing in (
            pair for name in first if name in (names or {}) for pair in walk({name: (names or {})[name]})
        ):
            if text in expected:
                expected.discard(text)
                for path, inner in walk({"n": thing}):
                    out.setdefault(id(inner), path.removeprefix("n").removeprefix("."))
                if not expected:
                    break
        return out

    # Samples and calls

    def _samples(self) -> tuple[list[list[int]], Any]:
        """For each sample its calls; and how often the program went on like the last of them."""
        tops = [g["id"] for g in self.groups if g["parent"] is None]
        queue = list(tops)
        for k in queue:
            group = self.groups[k]
            if group["kind"] == "samples" and self._structured(k):
                self.name = re.sub(r", \d+ samples?$", "", group["name"])
                return [[call] for call in group["groups"]], group.get("repeats")
            queue += group["groups"]
        self.name = next((g["name"] for g in self.groups if g["kind"] == "call" and self._structured(g["id"])), "")
        return [tops], None

    def _structured(self, k: int) -> bool:
        """Are there several calls in a column or a row inside it?"""
        group = self.groups[k]
        inner = group["groups"]
        return any(self.groups[i]["kind"] in ("column", "layers", "steps") or self._structured(i) for i in inner)

    def _cells(self, calls: Iterable[int]) -> list[list[int]]:
        """The calls that are neurons, by column, in the order of the program."""
        out: list[list[int]] = []

        def walk(k: int, column: list[int] | None) -> None:
            group = self.groups[k]
            inner = [i for i in group["groups"] if self.groups[i]["kind"] not in ("loop", "turn")]
            if group["kind"] != "call":
                # functions have no owners, so those of a layer look like samples of one
                beside = group["kind"] in ("column", "samples")
                column = [] if beside and not any(self._structured(i) for i in inner) else None
                for i in inner:
                    walk(i, column)
                if column:
                    out.append(column)
            elif self._structured(k) or len(inner) == 1 and not self._own(k):
                for i in inner:
                    walk(i, column)
            elif column is not None:
                column.append(k)
            else:
                out.append([k])

        for k in calls:
            walk(k, None)
        return out

    def _own(self, k: int) -> list[int]:
        """The operations of a call outside of its inner calls."""
        group = self.groups[k]
        loops = [i for i in group["groups"] if self.groups[i]["kind"] in ("loop", "turn")]
        return [*group["members"], *(m for i in loops for m in self._own(i))]

    def _members(self, k: int) -> list[int]:
        if k not in self._inside:
            group = self.groups[k]
            self._inside[k] = [*group["members"], *(m for i in group["groups"] for m in self._members(i))]
        return self._inside[k]

    # One neuron

    def _leaves(self, k: int) -> set[int]:
        parents, kinds = self.graph.parents, self.graph.kinds
        return {p for m in self._members(k) for p in parents[m] if kinds[p] == "leaf"}

    def _fixed(self, result: list[list[list[int]]]) -> set[int]:
        """The parameters: leaves that a neuron uses in each sample; of a single sample those of its owner, or that no other neuron of its
        column uses."""
        first = [[self._leaves(k) for k in column] for column in result[0]]
        if len(result) > 1:
            second = [[self._leaves(k) for k in column] for column in result[1]]
            return set().union(*(a & b for x, y in zip(first, second, strict=True) for a, b in zip(x, y, strict=True)))
        out: set[int] = set()
        for column, calls in zip(first, result[0], strict=True):
            shared = Counter(p for leaves in column for p in leaves)
            for leaves, k in zip(column, calls, strict=True):
                owner, names = self.groups[k]["owner"], self.graph.paths
                mine = {
                    p
                    for p in leaves
                    if owner and (names[p].startswith(owner + ".") or id(self.graph.objects[p]) in self.own)
                }
                out |= mine or {p for p in leaves if shared[p] == 1} - (
                    self._multiplied(k) if len(column) == 1 else set()
                )
        return out

    def _multiplied(self, k: int) -> set[int]:
        """Leaves that are multiplied with leaves, so that nothing tells which of the two is a parameter."""
        products = [self.graph.parents[m] for m in self._members(k) if self.graph.ops[m] == "*"]
        return {p for of in products if all(self.graph.kinds[q] == "leaf" for q in of) for p in of}

    def _read(self, k: int, fixed: set[int]) -> _Found | None:
        parents = self.graph.parents
        members = set(self._members(k))
        used = {p for m in members for p in parents[m]}
        outs = [m for m in members if m not in used]
        mine = used & fixed
        if len(outs) != 1 or not mine:
            return None
        products: dict[int, tuple[int, int]] = {}
        for m in sorted(members, key=self.position.__getitem__):
            of = parents[m]
            if self.graph.ops[m] == "*" and len(of) == 2 and (of[0] in mine) != (of[1] in mine):
                p, other = of if of[0] in mine else of[::-1]
                if other not in members:
                    products.setdefault(p, (m, other))
        met = {m for m, _ in products.values()}
        plain = [
            p
            for m in members - met
            for p in parents[m]
            if p not in members and p not in mine and self.graph.kinds[p] != "constant"
        ]
        return _Found(group=k, out=outs[0], members=members, products=products, plain=[*dict.fromkeys(plain)], fixed=self._sorted(mine),
                      name=self.groups[k]["name"], owner=self.groups[k]["owner"])  # fmt: skip

    def _sorted(self, parameters: Iterable[int]) -> list[int]:
        def key(p: int) -> tuple:
            name = self.own.get(id(self.graph.objects[p]), "") or self.graph.paths[p]
            return [(int(x), "") if x.isdigit() else (0, x) for x in re.split(r"(\d+)", name)], p

        return sorted(parameters, key=key)

    # Operations between neurons

    def _with_between(self, sample: list[list[_Found]]) -> list[list[_Found]]:
        """Add operations between the columns. A function of one neuron's result is part of that neuron; any other is a separate cell."""
        parents = self.graph.parents
        inside = {m for column in sample for cell in column for m in cell["members"]}
        of = {cell["out"]: cell for column in sample for cell in column}
        behind: set[int] = set()  # operations that a neuron's inputs are made of
        stack = [p for m in inside for p in parents[m] if p not in inside and parents[p]]
        while stack:
            node = stack.pop()
            if node not in behind and node not in inside:
                behind.add(node)
                stack += [p for p in parents[node] if parents[p]]
        loose: list[_Found] = []
        from_cell: set[int] = set()
        for node in sorted(behind, key=self.position.__getitem__):
            sources = [p for p in dict.fromkeys(parents[node]) if p in of or p in from_cell]
            if not sources:
                continue  # made of inputs only: it is an input
            from_cell.add(node)
            others = [p for p in parents[node] if p not in sources and self.graph.kinds[p] != "constant"]
            if len(sources) == 1 and not others and sources[0] in of:
                cell = of.pop(sources[0])
                cell["members"].add(node)
                cell["out"] = node
            else:
                name = self.graph.names[node] or self.graph.ops[node]
                plain = [*dict.fromkeys(parents[node])]
                cell = _Found(
                    group=-1, out=node, members={node}, products={}, plain=plain, fixed=[], name=name, owner=""
                )
                loose.append(cell)
            of[node] = cell
        return [*sample, *([cell] for cell in loose)]

    def _ordered(self, samples: list[list[list[_Found]]]) -> list[list[int]] | None:
        """Which columns stand where, from left to right: by how many neurons are before them."""
        first = samples[0]
        of = {cell["out"]: c for c, column in enumerate(first) for cell in column}
        comes = [{of[x] for cell in column for x in self._entering(cell) if x in of} for column in first]
        depth: dict[int, int] = {}

        def deep(c: int, seen: tuple[int, ...] = ()) -> int:
            if c in seen:
                raise RecursionError
            if c not in depth:
                depth[c] = 1 + max((deep(b, (*seen, c)) for b in comes[c] if b != c), default=0)
            return depth[c]

        try:
            for c in range(len(first)):
                deep(c)
        except RecursionError:
            return None
        places = sorted(set(depth.values()))
        return [[c for c in range(len(first)) if depth[c] == place] for place in places]

    def _entering(self, cell: _Found) -> list[int]:
        return [*(other for _, other in cell["products"].values()), *cell["plain"]]

    # The plan

    def _written(self, samples: list[list[list[_Found]]], repeats: Any, members: list[list[int]]) -> Network | None:
        graph, first = self.graph, samples[0]
        flat = [[cell for column in sample for cell in column] for sample in samples]
        of = [{cell["out"]: i for i, cell in enumerate(cells)} for cells in flat]
        inputs = self._inputs(flat, of)
        if inputs is None:
            return None
        names, at = inputs  # of the inputs; for each sample which node each input is
        count = len(names)
        cells = [Cell(name=name, short=name) for name in names]
        for cell in flat[0]:
            name = cell["name"]
            cells.append(Cell(name=name, short=re.sub(r"^.*\.(?=[^.]+$)", "", name)))
        parameters, wires = self._links(flat[0], of[0], at[0], cells)
        outs = [[*at[s], *(cell["out"] for cell in cells_)] for s, cells_ in enumerate(flat)]
        deltas = [[*[-1] * count, *map(self._delta, cells_)] for cells_ in flat]
        members = [sorted(one, key=self.position.__getitem__) for one in members]
        if len(members) == 1 and not repeats:
            members = [[m for cell in flat[0] for m in cell["members"]]]
        if repeats:
            self._repeat(repeats, flat, outs, deltas, members, count)
        if len(outs) > MOST_SAMPLES:
            return None
        columns = [Column(name="inputs", about=f"{count} number{'s' * (count != 1)}", cells=[*range(count)])]
        i = count
        for column in first:
            name = self._column_name(column, len(columns))
            columns.append(Column(name=name, about=self._about(column), cells=[*range(i, i + len(column))]))
            i += len(column)
        plan = Plan(name=self.name, samples=len(outs), nodes=len(graph.objects), columns=columns, cells=cells, wires=wires,
                    parameters=parameters)  # fmt: skip
        if graph.root not in outs[0]:
            plan["loss"] = graph.names[graph.root] or "result"
        errors, rest = self._tail(plan, members, outs)
        result = Network(plan, numpy.array(outs), numpy.array(deltas), numpy.array(errors), rest, graph.root)
        result.operations = len(self.ops)
        result.members = [[[]] * count + [sorted(cell["members"]) for cell in one] for one in flat]
        for by in self._shifts(repeats):
            result.members.append(
                [[self.ops[self.position[m] + by] for m in of_cell] for of_cell in result.members[len(flat) - 1]]
            )
        return result

    def _links(
        self, first: list[_Found], of: dict[int, int], at: list[int], cells: list[Cell]
    ) -> tuple[list[Parameter], list[Link]]:
        """The parameters of the first sample's cells, and their incoming wires. of: the cell of each number; at: the inputs."""
        graph, count = self.graph, len(at)
        parameters: list[Parameter] = []
        place: dict[tuple[int, int], int] = {}
        wires: list[Link] = []
        for i, cell in enumerate(first):
            for k, p in enumerate(cell["fixed"]):
                owner = cell["owner"]
                if cell["group"] < 0:
                    short, name = graph.paths[p].removeprefix(owner).removeprefix("."), graph.paths[p]
                else:
                    short = self.own.get(id(graph.objects[p]), "") if owner else ""
                    name = f"{owner}.{short}" if short else graph.names[p]
                name = name or graph.names[p] or f"{cells[count + i]['short']}, parameter {k + 1}"
                short = short or name
                place[i, p] = len(parameters)
                parameters.append(Parameter(name=name, short=short, cell=count + i, node=p))
            for p, (_, other) in cell["products"].items():
                source = count + of[other] if other in of else at.index(other) if other in at else self.merged[i, p]
                wires.append(Link(source=source, target=count + i, parameter=place[i, p]))
            for other in cell["plain"]:
                if other in of or other in at:
                    source = count + of[other] if other in of else at.index(other)
                    wires.append(Link(source=source, target=count + i, parameter=-1))
        return parameters, wires

    def _inputs(self, flat: list[list[_Found]], of: list[dict[int, int]]) -> tuple[list[str], list[list[int]]] | None:
        """The inputs' names, and for each sample their nodes. A plain number is a node for each of its uses: equal ones at equal places
        of neurons of one column are one input."""
        graph, data = self.graph, self.graph.data
        keys: list[Any] = []
        self.merged: dict[tuple[int, int], int] = {}
        by_node: dict[int, int] = {}
        by_place: dict[tuple[int, float], int] = {}
        for i, cell in enumerate(flat[0]):
            k = 0
            ordered = [p for p in cell["fixed"] if p in cell["products"]]
            for p in ordered:
                other = cell["products"][p][1]
                if other in of[0]:
                    continue
                if other in by_node:
                    index = by_node[other]
                elif graph.kinds[other] == "constant" and (k, data[other]) in by_place:
                    index = by_place[k, data[other]]
                else:
                    index = len(keys)
                    keys.append((i, p))
                    by_place[k, data[other]] = index
                by_node[other] = index
                self.merged[i, p] = index
                k += 1
            for other in cell["plain"]:
                if other not in of[0] and other not in by_node and graph.kinds[other] != "constant":
                    by_node[other] = len(keys)
                    keys.append((i, -1 - cell["plain"].index(other)))
        if len(keys) > MOST_CELLS:
            return None
        at = [[cells[i]["products"][p][1] if p >= 0 else cells[i]["plain"][-1 - p] for i, p in keys] for cells in flat]
        for s, cells in enumerate(flat):  # merged in the first sample, they must be one number in each
            for (i, p), index in self.merged.items():
                a, b = data[cells[i]["products"][p][1]], data[at[s][index]]
                if a != b and (a == a or b == b):
                    return None
        named = [graph.names[x] for x in at[0]]
        return [name if name and len(flat) == 1 else f"x[{k}]" for k, name in enumerate(named)], at

    def _delta(self, cell: _Found) -> int:
        """The node whose gradient reaches all products of a neuron: its sum. -1 if there is none."""
        products = [m for m, _ in cell["products"].values()]
        if not products:
            return -1
        users: dict[int, list[int]] = {}
        for m in cell["members"]:
            for p in self.graph.parents[m]:
                users.setdefault(p, []).append(m)
        ends = set()
        for m in products:
            while self.graph.ops[m] == "*" or self.graph.ops[m] == "+":
                next_ = users.get(m, [])
                if len(next_) != 1 or self.graph.ops[next_[0]] != "+":
                    break
                m = next_[0]
            ends.add(m)
        return ends.pop() if len(ends) == 1 else -1

    def _repeat(self, repeats: Any, flat: Any, outs: list, deltas: list, members: list, count: int) -> None:
        """The samples that were not recorded, each like the last one that was, so many operations later."""
        ops, parents = self.ops, self.graph.parents
        last, position = len(outs) - 1, self.position
        ways: list[tuple[int, int]] = []  # of each input, the operation that uses it, and where
        for x in outs[last][:count]:
            for cell in flat[last]:
                hit = next(((m, parents[m].index(x)) for m in cell["members"] if x in parents[m]), None)
                if hit:
                    ways.append(hit)
                    break
        for by in self._shifts(repeats):

            def later(node: int, by: int = by) -> int:
                return ops[position[node] + by] if node >= 0 else -1

            outs.append([*(parents[later(m)][slot] for m, slot in ways), *(later(n) for n in outs[last][count:])])
            deltas.append([later(n) for n in deltas[last]])
            members.append([later(n) for n in members[last]])

    @staticmethod
    def _shifts(repeats: Any) -> list[int]:
        """By how many operations each sample that was not recorded comes later than the last one that was."""
        return [repeats["period"] * (r + 1) for r in range(repeats["count"])] if repeats else []

    def _column_name(self, column: list[_Found], k: int) -> str:
        group = column[0]["group"]
        if group < 0:
            return f"layer {k}" if column[0]["products"] else self.graph.ops[column[0]["out"]]
        up = self.groups[group]["parent"]
        while up is not None and self.groups[up]["kind"] != "call":
            up = self.groups[up]["parent"]
        name = self.groups[up]["name"] if up is not None else ""
        if not name or name == self.name:
            name = self.groups[group]["name"] if len(column) == 1 else f"layer {k}"
        return name.removeprefix(self.name + ".") if self.name else name

    def _about(self, column: list[_Found]) -> str:
        ops = {self.graph.ops[cell["out"]] for cell in column}
        op = ops.pop() if len(ops) == 1 else ""
        function = (
            op.lower() if re.fullmatch(r"[A-Za-z]\w*", op) else "linear" if op == "+" and column[0]["products"] else ""
        )
        return str(len(column)) if not function else function if len(column) == 1 else f"{len(column)} × {function}"

    # What comes after the network

    def _tail(self, plan: Plan, members: list[list[int]], outs: list[list[int]]) -> tuple[list[int], int]:
        """The error of each sample, and the term of the parameters alone."""
        graph = self.graph
        none = [-1] * len(outs)
        sample = numpy.full(len(graph.objects), -1)
        inside = numpy.zeros(len(graph.objects), bool)
        for s, one in enumerate(members):
            sample[one] = s
            inside[one] = True
        of: dict[int, list[int]] = {}
        for node in self.ops:
            if inside[node]:
                continue
            marks = {int(sample[p]) for p in graph.parents[node]} - {-1}
            sample[node] = -1 if not marks else marks.pop() if len(marks) == 1 else -2
            of.setdefault(int(sample[node]), []).append(node)
        ends = {s: self._end(nodes) for s, nodes in of.items()}
        rest = ends.get(-1, -1)
        if rest >= 0 and len(of[-1]) > 1:
            plan["rest"] = graph.names[rest] or "the weights alone"
        else:
            rest = -1
        if len(outs) < 2 or any(ends.get(s, -1) < 0 for s in range(len(outs))):
            return none, rest
        plan["error"] = self._formula([ends[s] for s in range(len(outs))], [set(one) for one in outs]).text
        if len(plan["error"]) > TEXT:
            plan["error"] = "error"
        return [ends[s] for s in range(len(outs))], rest

    def _end(self, nodes: list[int]) -> int:
        """The one of these operations that the others lead to; -1 if there are several."""
        graph = self.graph
        used = {p for node in nodes for p in graph.parents[node]}
        ends = [node for node in nodes if node not in used]
        end = ends[0] if len(ends) == 1 else -1
        while end >= 0 and graph.ops[end] == "+":  # sum() begins with 0 +
            zero = [p for p in graph.parents[end] if graph.kinds[p] == "constant" and graph.data[p] == 0.0]
            other = [p for p in graph.parents[end] if p not in zero and p in used and graph.parents[p]]
            if len(zero) != 1 or len(other) != 1 or other[0] not in nodes:
                break
            end = other[0]
        return end

    def _formula(self, nodes: list[int], outs: list[set[int]]) -> Text:
        """The formula of a sample's error, in "out" for the network's result and "y" for a number that differs between samples."""
        graph = self.graph
        if any(node in out for node, out in zip(nodes, outs, strict=True)):
            return Text("out")
        parents = [graph.parents[node] for node in nodes]
        # Some classes keep their operands in a set, so in no order
        if len(parents[0]) == 2 and graph.ops[nodes[0]] in "+*":
            looks = [
                [(p in out, bool(graph.parents[p]), graph.ops[p]) for p in of]
                for of, out in zip(parents, outs, strict=True)
            ]
            parents = [
                of[::-1] if look != looks[0] and look[::-1] == looks[0] else of
                for of, look in zip(parents, looks, strict=True)
            ]
        if not parents[0] or any(len(of) != len(parents[0]) for of in parents):
            same = len({graph.data[node] for node in nodes}) == 1
            return Text(number_text(graph.data[nodes[0]]) if same and not parents[0] else "y")
        of = [self._formula([p[slot] for p in parents], outs) for slot in range(len(parents[0]))]
        results = [bool(graph.parents[p]) for p in parents[0]]
        if graph.ops[nodes[0]] == "+" and not isinstance(graph.objects[nodes[0]], Value):
            for y, out in ((1, 0), (0, 1)):
                # Micrograd computes out - y as out + (-y), so y is negated
                if of[y].text == "y" and not results[y] and results[out]:
                    minus = rule_for("-", 2)
                    return minus.write(minus.expr, of[out], of[y])  # type: ignore[union-attr]
        return expression(graph, nodes[0], of) or Text("y")
