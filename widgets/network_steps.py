"""A network as a trace of its columns: one card's worth of events for each layer, and the whole as text.

What lives here: `network_trace`, whose steps are runs of the engine's steps (all samples of a layer together), and `network_text`. What
does not: finding the network (network.py), drawing it. The order inside a step is the engine's; "operations" steps in it.
"""

from __future__ import annotations

import math
from typing import Any, NotRequired, TypedDict, cast

import numpy

from minigrad.tracing.schema import Node, Source, Step, Trace
from minigrad.tracing.text import differential, json_number
from minigrad.words import listed, number, plural

from .layout import Picture
from .network import Network, Plan

ROWS = 8  # neurons of a layer in the text


class Numbers:
    """The numbers of a network picture by their meaning. The browser's version is front/src/network/numbers.js."""

    def __init__(self, plan: Plan, row: numpy.ndarray):
        cells, parameters = len(plan["cells"]), len(plan["parameters"])
        self.loss, self.loss_grad, self.rest = (float(x) for x in row[:3])
        self.parameters, self.parameter_grads = row[3 : 3 + parameters], row[3 + parameters : 3 + 2 * parameters]
        samples = row[3 + 2 * parameters :].reshape(plan["samples"], 4 * cells + 2)
        self.values, self.grads, self.deltas = (samples[:, k * cells : (k + 1) * cells] for k in range(3))
        self.errors, self.error_grads = samples[:, -2], samples[:, -1]


def parts(plan: Plan) -> list[str]:
    """The parts of the picture from left to right: its columns by number, then those of "error", "rest" and "loss" that exist."""
    return [*map(str, range(len(plan["columns"]))), *(name for name in ("error", "rest", "loss") if name in plan)]


def network_trace(network: Network, numbers: Numbers, title: str, sources: dict[str, Source | None]) -> Trace:
    """The computation, column by column. sources: for each part the line that made it."""
    plan, names = network.plan, parts(network.plan)
    many = plan["samples"] > 1
    each = f" for each of {plan['samples']} samples" if many else ""
    nodes: list[Node] = []
    steps: list[Step] = []
    for name in names:
        column = plan["columns"][int(name)] if name.isdigit() else None
        count = len(column["cells"]) if column else 1
        label = column["name"] if column else cast(Any, plan)[name]
        about = (
            column["about"]
            if column
            else {"error": "of each sample", "rest": "from the weights alone", "loss": ""}[name]
        )
        node: dict[str, Any] = dict(
            id=len(nodes), kind="fold", op="", label=label, named=False, expr=about, value="nan", grad=None, requires_grad=name != "0",
            rule="", saved=[], source=sources.get(name), scope="", members=count, outs=count,
        )  # fmt: skip
        if name == "loss":
            node |= {"kind": "operation", "value": json_number(numbers.loss), "grad": 1.0}
        nodes.append(cast(Node, node))
        say = {"0": f"**The {about} that come in have their values**{each}.", "error": f"**{label} is computed**{each}.",
               "rest": f"**{label} is computed** from the parameters alone.", "loss": f"**{label} becomes {{value}}.**"}  # fmt: skip
        plainly = f"**{label} computes {plural(count, 'number')}**{each}."
        kind = "input" if name == "0" else "compute"
        steps.append(
            Step(phase="forward", kind=cast(Any, kind), node=node["id"], edge=None, say=say.get(name, plainly))
        )
    chain = [k for k, name in enumerate(names) if name != "rest"]
    edges: list[Any] = []
    last = nodes[chain[-1]]
    seed = f"**The gradient of {last['label']} starts at 1:** how fast it changes with itself."
    steps.append(Step(phase="backward", kind="seed", node=last["id"], edge=None, say=seed))
    for source, target in zip(chain, chain[1:], strict=False):
        edges.append(
            dict(
                id=len(edges),
                source=source,
                target=target,
                slot=0,
                local=None,
                local_text="",
                carries_grad=True,
                amount=True,
            )
        )
    for edge in reversed(edges):
        sender, to = nodes[edge["target"]], nodes[edge["source"]]
        if edge["source"] == 0:
            say_back = f"**{sender['label']} has its gradients:** each of its weights gets what its neuron was sent, times what came in."
        else:
            say_back = f"**{sender['label']} passes its gradients back to {to['label']}**{each}."
        steps.append(Step(phase="backward", kind="send", node=sender["id"], edge=edge["id"], say=say_back))
    return Trace(version=1, engine="value", title=title, root=last["id"], nodes=nodes, edges=edges, steps=steps)


def network_text(plan: Plan, numbers: Numbers, title: str, sample: int = 0) -> str:
    """The network as plain text: what a terminal or a screen reader gets in place of the picture."""
    result = plan.get("loss", "the result")
    columns = [f"{column['name']}: {column['about']}" for column in plan["columns"]]
    lines = [
        title,
        "",
        f"{plan['name'] or 'network'}: {listed(columns)}, {plural(plan['samples'], 'sample')}, {plan['nodes']:,} nodes",
        "",
    ]
    head = f"sample {sample + 1} of {plan['samples']}" if plan["samples"] > 1 else "neuron"
    table = [[head, "output", f"{differential(result)}/doutput"]]
    for column in plan["columns"]:
        for i in column["cells"][:ROWS]:
            grad = float(numbers.grads[sample, i])
            name = plan["cells"][i]["name"]
            table.append([name, number(float(numbers.values[sample, i])), "none" if math.isnan(grad) else number(grad)])
        if len(column["cells"]) > ROWS:
            table.append([f"… {len(column['cells']) - ROWS} more of {column['name']}", "", ""])
    if "error" in plan:
        table.append([plan["error"], number(float(numbers.errors[sample])), number(float(numbers.error_grads[sample]))])
    if "loss" in plan:
        table.append([result, number(numbers.loss), "1"])
    widths = [max(len(row[k]) for row in table) for k in range(3)]
    return "\n".join(
        [*lines, *("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in table)]
    )


class Product(TypedDict):
    """What one input does in an opened neuron: nodes of the trace that is shown."""

    source: int  # the cell at its start
    input: int
    parameter: int  # the plan's
    weight: int
    product: int
    sum: int  # the sum that the product goes into, or -1


class Inner(TypedDict):
    """A neuron that is opened in its place, in one sample; its operations are nodes of the trace from `first` on."""

    cell: int
    sample: int
    first: int
    products: list[Product]
    sums: int  # what the last sum is, or -1: the neuron is no weighted sum
    biases: list[tuple[int, int]]  # parameters that meet no input, each with its node
    out: int
    picture: NotRequired[Picture]


def opened(
    visible: Trace, network: Network, cell: int, sample: int, inner: Trace, ids: list[int]
) -> tuple[Trace, Inner]:
    """The trace of a network with the operations of one neuron: the steps of its layer come after its own."""
    plan, first, edge = network.plan, len(visible["nodes"]), len(visible["edges"])
    at = {old: first + new for new, old in enumerate(ids)}
    nodes = [*visible["nodes"], *(cast(Node, {**n, "id": first + n["id"]}) for n in inner["nodes"])]
    edges = [*visible["edges"]]
    for e in inner["edges"]:
        edges.append(
            cast(Any, {**e, "id": edge + e["id"], "source": first + e["source"], "target": first + e["target"]})
        )
    column = next(k for k, c in enumerate(plan["columns"]) if cell in c["cells"])
    moved: list[Step] = []
    for step in inner["steps"]:
        if step["kind"] != "input":
            moved.append(
                {**step, "node": first + step["node"], "edge": None if step["edge"] is None else edge + step["edge"]}
            )
    steps: list[Step] = []
    for step in visible["steps"]:
        target = None if step["edge"] is None else visible["edges"][step["edge"]]["target"]
        if step["kind"] == "compute" and step["node"] == column:
            steps += [one for one in moved if one["phase"] == "forward"]
        elif step["kind"] == "send" and target == column:
            steps += [one for one in moved if one["phase"] == "backward"]
        steps.append(step)
    into: dict[int, int] = {}
    for e in edges[edge:]:
        if nodes[e["target"]]["op"] == "+":
            into.setdefault(e["source"], e["target"])
    products: list[Product] = []
    for w in plan["wires"]:
        if w["target"] == cell and w["parameter"] >= 0:
            weight = at[plan["parameters"][w["parameter"]]["node"]]
            products.append(
                Product(source=w["source"], input=-1, parameter=w["parameter"], weight=weight, product=-1, sum=-1)
            )
    for one in products:
        for e in edges[edge:]:
            if e["source"] == one["weight"] and nodes[e["target"]]["op"] == "*":
                one["product"] = e["target"]
                one["sum"] = into.get(e["target"], -1)
                one["input"] = next(
                    (x["source"] for x in edges[edge:] if x["target"] == e["target"] and x["slot"] != e["slot"]), -1
                )
                break
    met = {one["parameter"] for one in products}
    biases = [
        (k, at[p["node"]])
        for k, p in enumerate(plan["parameters"])
        if p["cell"] == cell and k not in met and p["node"] in at
    ]
    total = int(network.deltas[sample, cell])
    plain = all(one["product"] >= 0 and one["sum"] >= 0 for one in products) and len(products) > 0
    shape = Inner(cell=cell, sample=sample, first=first, products=products, sums=at[total] if plain and total in at else -1, biases=biases,
                  out=at[int(network.outs[sample, cell])])  # fmt: skip
    return {**visible, "nodes": nodes, "edges": edges, "steps": steps}, shape
