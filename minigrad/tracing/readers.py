"""Reading a trace: its steps with their numbers, the ledger of the backward pass, and the whole as plain text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, TypedDict, cast

from ..words import listed, number
from .schema import Number, Numbers, Trace
from .text import array_text, as_float, differential, json_number


class LedgerRow(TypedDict):
    """One step with its numbers."""

    step: int  # 1-based
    phase: Literal["forward", "backward"]
    kind: Literal["input", "compute", "seed", "send", "accumulate", "error"]
    node: int
    edge: int | None
    value: Number | None  # of `node`
    incoming: Number | None  # the upstream gradient of `node`; None in the forward half
    local: Number | None
    sends: Number | None  # the downstream gradient
    to: int | None  # the parent that it is passed to
    before: Number | None  # the parent's gradient before and after
    after: Number | None
    sentence: str  # `say` with the numbers in it, **bold** kept


def replay_steps(trace: Trace) -> list[LedgerRow]:
    """The numbers of every step: upstream gradient, local derivative, their product, and the sum at the parent before and after.

    >>> from minigrad import Value
    >>> from minigrad.tracing.trace import trace
    >>> x = Value(1.0)
    >>> [row["after"] for row in replay_steps(trace((3 * x + 2) ** 2)) if row["phase"] == "backward"]
    [1.0, 10.0, 10.0, 30.0]
    """
    nodes, edges = trace["nodes"], trace["edges"]
    if trace["engine"] == "tensor":
        return _replay_tensor(trace)
    sums: list[float | None] = [0.0] * len(nodes)  # None once an unknown amount was added
    rows: list[LedgerRow] = []
    for k, step in enumerate(trace["steps"], 1):
        i = step["node"]
        incoming = local = sends = to = before = after = None
        if step["kind"] == "seed":
            sums[i] = after = as_float(step.get("start", 1.0))
        elif step["edge"] is not None:
            edge = edges[step["edge"]]
            to, local, incoming = edge["source"], as_float(edge["local"]), sums[i]
            before = sums[to]
            if edge.get("shut"):
                sends = 0.0
            elif edge.get("amount"):
                sends = local
            elif local is not None and incoming is not None:
                sends = local * incoming
            sums[to] = after = None if sends is None or before is None else before + sends
        value = as_float(nodes[i]["value"])
        live = dict(value=value, incoming=incoming, local=local, sends=sends, before=before, after=after)
        rows.append(
            LedgerRow(
                step=k,
                phase=step["phase"],
                kind=step["kind"],
                node=i,
                edge=step["edge"],
                value=json_number(value),
                incoming=json_number(incoming),
                local=json_number(local),
                sends=json_number(sends),
                to=to,
                before=json_number(before),
                after=json_number(after),
                sentence=_fill(step["say"], live),
            )
        )
    return rows


def _fill(say: str, live: dict[str, float | None]) -> str:
    return re.sub(r"\{(value|incoming|local|sends|before|after)\}", lambda m: number(live[m[1]]), say)


def _replay_tensor(trace: Trace) -> list[LedgerRow]:
    """The rows of a Tensor's trace: numbers where there is one number, else the sentence has the range."""
    nodes, edges, arrays = trace["nodes"], trace["edges"], trace["arrays"]
    sums: list[int | None] = [None] * len(nodes)
    rows: list[LedgerRow] = []
    for k, step in enumerate(trace["steps"], 1):
        i, edge = step["node"], None if step["edge"] is None else edges[step["edge"]]
        to = None if edge is None else edge["source"]
        incoming = sums[i] if step["phase"] == "backward" and step["kind"] != "seed" else None
        before = None if to is None else sums[to]
        after = step.get("after")
        sums[i if to is None else to] = (
            after if step["phase"] == "backward" and after is not None else sums[i if to is None else to]
        )
        at = {
            "value": nodes[i].get("array"),
            "incoming": incoming,
            "sends": step.get("sends"),
            "before": before,
            "after": after,
        }
        live: dict[str, Any] = {key: None if a is None else _single(arrays[a]) for key, a in at.items()}
        live["local"] = None if edge is None else edge["local"]
        texts = {
            key: array_text(arrays[a]) if a is not None else "not kept" if key == "value" else "?"
            for key, a in at.items()
        }
        texts["local"] = number(as_float(live["local"]))
        sentence = re.sub(r"\{(value|incoming|local|sends|before|after)\}", partial(_look_up, texts), step["say"])
        if edge is not None and before is None and "sends" in step and arrays[step["sends"]]["shape"] == []:
            live["before"] = 0.0
        row = dict(
            step=k, phase=step["phase"], kind=step["kind"], node=i, edge=step["edge"], to=to, sentence=sentence, **live
        )
        rows.append(cast(LedgerRow, row))
    return rows


def _look_up(message: Mapping[str, str], match: re.Match[str]) -> str:
    return message[match[1]]


def _single(a: Numbers) -> Number | None:
    return a["cells"][0] if math.prod(a["shape"]) == 1 else None


def ledger(trace: Trace) -> list[LedgerRow]:
    """The rows in which a gradient travels along an edge, in the engine's order."""
    return [row for row in replay_steps(trace) if row["kind"] == "send"]


def to_text(trace: Trace) -> str:
    """The trace as plain text: what a screen reader, a terminal or a saved notebook shows in place of the picture.

    >>> from minigrad import Value
    >>> from minigrad.tracing.trace import trace
    >>> x = Value(3.0)
    >>> print(to_text(trace(x * x, {"x": x})))
    x × x
    <BLANKLINE>
    node   computes  value  d(x × x)/dnode
    x      input     3      6
    x × x  x × x     9      1
    <BLANKLINE>
    backward   local  upstream  downstream  sum
    x × x → x  x = 3  1         3           3
    x × x → x  x = 3  1         3           3 + 3 = 6
    """
    if trace["engine"] == "tensor":
        return _tensor_text(trace)
    nodes, edges = trace["nodes"], trace["edges"]
    root = nodes[trace["root"]]["label"]
    visible = [n for n in nodes if n["kind"] != "constant"]
    lines = [trace["title"], ""]
    table = [["node", "computes", "value", f"{differential(root)}/dnode"]]
    for n in visible:
        table.append(
            [n["label"], n["expr"] or "input", number(n["value"]), "none" if n["grad"] is None else number(n["grad"])]
        )
    lines += _columns(table)
    sends = ledger(trace)
    if sends:
        table = [["backward", "local", "upstream", "downstream", "sum"]]
        for row in sends:
            edge = edges[row["edge"]]  # type: ignore[index]
            local = number(row["local"]) if row["local"] is not None else "unknown"
            if edge.get("amount"):
                where = f"{nodes[row['node']]['label']} → {nodes[edge['source']]['label']}"
                table.append([where, "folded", "", number(row["sends"]), number(row["after"])])
                continue
            if edge["local_text"] and not re.fullmatch(r"−?[\d.]+", edge["local_text"]):
                local = f"{edge['local_text']} = {local}"
            total = number(row["after"])
            if row["before"] != 0:
                total = f"{number(row['before'])} + {number(row['sends'])} = {total}"
            where = f"{nodes[row['node']]['label']} → {nodes[edge['source']]['label']}"
            table.append([where, local, number(row["incoming"]), number(row["sends"]), total])
        lines += ["", *_columns(table)]
    return "\n".join(lines)


def _tensor_text(trace: Trace) -> str:
    nodes, edges, arrays = trace["nodes"], trace["edges"], trace["arrays"]

    def numbers(i: int | None, missing: str) -> str:
        return missing if i is None else array_text(arrays[i])

    root = nodes[trace["root"]]["label"]
    lines = [trace["title"], ""]
    table = [["node", "made by", "computes", "shape", "value", f"{differential(root)}/dnode"]]
    for n in nodes:
        if n["kind"] == "constant" and n["label"] == n["expr"]:
            continue
        shape = str(tuple(n["shape"])) if "shape" in n else ""
        computes = n["expr"] or "input"
        computes += f" (view of {nodes[n['view']['base']]['label']})" if "view" in n else ""
        if became := n.get("became"):
            ways = [
                way + ", ".join(result)
                for way, result in (("", became["forward"]), ("going back ", became["backward"]))
                if result
            ]
            computes += f" (compiled: {'; '.join(ways)})"
        table.append(
            [
                n["label"],
                n["op"],
                computes,
                shape,
                numbers(n.get("array"), "not kept"),
                numbers(n.get("grad_array"), "none"),
            ]
        )
    lines += _columns(table)
    sends = [(step, edges[step["edge"]]) for step in trace["steps"] if step["edge"] is not None]
    if sends:
        table = [["backward", "rule", "downstream", "shape", "sum"]]
        for step, edge in sends:
            rule = edge.get("words") or edge["local_text"] or "its rule"
            if edge["local"] is not None:
                rule = f"g × {number(as_float(edge['local']))}"
            if "broadcast" in edge:
                rule += f", summed over {listed([str(a) for a in edge['broadcast']['axes']])}"
            sent = arrays[step["sends"]] if "sends" in step else None
            where = f"{nodes[edge['target']]['label']} → {nodes[edge['source']]['label']}"
            texts = (array_text(sent), str(tuple(sent["shape"]))) if sent else ("several", "")
            table.append([where, rule, *texts, array_text(arrays[step["after"]])])
        lines += ["", *_columns(table)]
    notes = [n["stops"] for n in nodes if "stops" in n]
    notes += [row["sentence"].replace("**", "") for row in replay_steps(trace) if row["kind"] == "error"]
    notes += trace["notices"]
    notes += unused_words(trace)
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _variable(name: str) -> str:
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def unused_words(trace: Trace, unused: list[str] | None = None) -> list[str]:
    """A sentence about the named leaves that require gradients and that the root does not depend on; none if there are none.

    unused: their names, by default those of the trace."""
    names = trace.get("unused") if unused is None else unused
    root = trace["nodes"][trace["root"]]["label"]
    if not names:
        return []
    used = {_variable(n["label"]) for n in trace["nodes"]}
    beside = [_variable(name) for name in names]  # of a list or an object that has no part at all the variable says it
    names = list(
        dict.fromkeys(
            of if of not in used and beside.count(of) > 1 else name for name, of in zip(names, beside, strict=True)
        )
    )
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return [f"{listed(names, 4, 'nodes')} {are} not part of {root}, so no gradient reaches {them}."]


def _columns(table: list[list[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
