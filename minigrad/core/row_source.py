"""The Python source of a row: `call`, `record`, `run`, `run_graph` and `release`, for one operation each.

What lives here: all source text that is generated from rows. What does not: what the text calls, and its compilation (op.py).
A test gives the text of every row to a type checker.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, NamedTuple

from .node import FREED

if TYPE_CHECKING:
    from .op import Op

ELEMENTWISE = "elementwise"  # each output element depends on one element of each (broadcast) input; dtypes are promoted
DISCRETE = "discrete"  # elementwise and without derivative: comparisons, isnan; dtypes are promoted
LINEAR = "linear"  # linear in all inputs together: sum, reshape, cat
MULTILINEAR = "multilinear"  # linear in each input: matmul
GENERAL = "general"  # everything else
KINDS = (ELEMENTWISE, DISCRETE, LINEAR, MULTILINEAR, GENERAL)


class Saved(NamedTuple):
    """The names of the values that a node of the row saves, by kind."""

    inputs: list[str]
    outputs: list[str]
    shapes: list[str]  # of these inputs
    params: list[str]


def saved_by(op: Op) -> Saved:
    """The values that the rules of a row need saved."""
    requested = [name for rule in op.rules.values() for name in op.saves_of(rule)]
    outputs = [] if op.outputs is ... else [o for o in op.outputs if o in requested]
    return Saved(
        [i for i in op.inputs if i in requested],
        outputs,
        [i for i in op.inputs if f"{i}_shape" in requested],
        [p for p in op.params if p in requested],
    )


def slots_of(saved: Saved) -> tuple[str, ...]:
    """The slots of the row's nodes."""
    tensors = [*saved.inputs, *saved.outputs]
    counters = [f"{n}_counter" for n in saved.outputs]
    return (
        *tensors,
        *(f"{n}_version" for n in tensors),
        *counters,
        *(f"{i}_shape" for i in saved.shapes),
        *saved.params,
    )


def source_of(op: Op, saved: Saved) -> str:
    """All functions of the row."""
    return "\n".join(
        [calls_source(op, saved), _run_source(op, saved, False), _run_source(op, saved, True), _release_source(op)]
    )


def calls_source(op: Op, saved: Saved, noting: bool = False) -> str:
    """`call` and `record`; noting: with the lines that leave a note on each node (provenance.py)."""
    record = _record_source(op, saved, noting)  # written into `call`, too: one Python call less
    inside = record if op.tensor_list else _record_source(op, saved, noting, "modes['grad']")
    return _call_source(op) + inside.split("\n", 1)[1] + "\n" + record


def _call_source(op: Op) -> str:
    """`call` up to the result: inputs that are Tensors of one dtype; everything else goes to `general`."""
    params = [n if d is inspect.Parameter.empty else f"{n}=_defaults['{n}']" for n, d in op.params.items()]
    parameters = ", ".join([*op.args, *op.params])
    lines = [f"def call({', '.join([*op.args, *params])}):"]
    detour = f"return general(op, ({', '.join(op.args)},), ({''.join(p + ', ' for p in op.params)}))"
    if op.tensor_list:
        lines += [
            "    try:",
            f"        arrays = [t.array for t in {op.args[0]}]",
            "    except AttributeError:",
            f"        {detour}",
        ]
        lines += [
            "    if state.handlers:",
            f"        {detour}",
            "    try:",
            f"        r = forward({', '.join(['arrays', *op.params])})",
            "    except TypeError:",
            f"        {detour}",
            "",
        ]
        return "\n".join(lines)
    lines += [
        f"    if {' and '.join(f'type({a}) is ndarray' for a in op.args)}:",
        f"        return on_ndarrays(op, {parameters})",
    ]
    arrays = dict(zip(op.inputs, (f"{a}_array" for a in op.args), strict=True))
    lines += ["    try:", *(f"        {arrays[i]} = {a}.array" for i, a in zip(op.inputs, op.args, strict=True))]
    lines += ["    except AttributeError:", f"        {detour}"]
    # Of this thread: asked once, two fields of it are read in the time of one
    lines.append("    modes = state.__dict__")
    test = ["modes['handlers']"]
    alike = op.promoted or (op.inputs if op.one_dtype else ())
    test += [f"{arrays[i]}.dtype is not {arrays[alike[0]]}.dtype" for i in alike[1:]]
    test += [f"{arrays[(alike or op.inputs)[0]]}.dtype.char in {op.refuses[0]!r}"] if op.refuses else []
    lines += [f"    if {' or '.join(test)}:", f"        {detour}"]
    lines += ["    try:", f"        r = forward({', '.join([*arrays.values(), *op.params])})"]
    lines += [
        "    except ValueError as error:",
        f"        raise failed(op, ({', '.join(arrays.values())},), error) from None",
    ]
    lines += ["    except TypeError:", f"        {detour}"]
    if op.kind == ELEMENTWISE:
        lines += [f"    if r.dtype is not {arrays[op.promoted[0]]}.dtype:", f"        {detour}"]
    return "\n".join([*lines, ""])


def _record_source(op: Op, saved: Saved, noting: bool, recorded: str = "state.grad") -> str:
    """`record`: wrap the result and, if an input requires gradients, make the node."""
    args = dict(zip(op.inputs, op.args, strict=True))
    head = f"def record(r, {', '.join([*op.args, *op.params])}):"
    body = []
    saves = {i: op.saves_of(rule) for i, rule in op.rules.items() if rule is not None}
    differentiable = list(saves)
    if op.tensor_list:
        body += [f"for t in {op.args[0]}:", "    if t.view_meta is not None:", "        refresh(t)"]
    elif op.kind != DISCRETE:
        for i in op.inputs:
            body += [f"if {args[i]}.view_meta is not None:", f"    refresh({args[i]})"]
    some = " or ".join(f"{args[i]}.requires" for i in differentiable) or "False"
    if op.tensor_list:
        some = f"any([t.requires for t in {op.args[0]}])"
    if op.single:
        body += ["if type(r) is not ndarray:", "    r = asarray(r)"]
        body += [
            "out = new(Tensor)",
            "out.array = r",
            "out._grad = out.meta = out.view_meta = None",
            "out.version = counter = [0]",
        ]
        if op.view:
            body += [
                f"view_of(out, {op.args[0]}, op, ({''.join(p + ', ' for p in op.params)}), None)",
                "counter = out.version",
            ]
    if op.kind == DISCRETE or not differentiable:
        body += (
            ["out.requires = False", "out.edge = None", "return out"]
            if op.single
            else ["return record_several(op, r, None, None)"]
        )
        return "\n".join([head, *("    " + line for line in body), ""])
    body += [f"if {recorded}{' and counter is not INFERENCE' if op.view and op.single else ''}:", f"    if {some}:"]
    inner = [
        "node = new(NodeClass)",
        "node.number = next_number()",
        "node.status = LIVE",
        "node.hooks = node.info = None",
    ]
    if op.tensor_list:
        inner += [f"node.edges = tuple([t.edge or (leaf_edge(t) if t.requires else None) for t in {op.args[0]}])"]
    else:
        edges = [
            f"{args[i]}.edge or (leaf_edge({args[i]}) if {args[i]}.requires else None)" if i in saves else "None"
            for i in op.inputs
        ]
        inner += [f"node.edges = ({', '.join(edges)},)"]
    for i in saved.inputs:
        a = args[i]
        users = [args[j] for j, names in saves.items() if i in names]
        keep = [f"node.{i} = {a}", f"node.{i}_version = {a}.version[0]"]
        if op.tensor_list:
            keep[1] = f"node.{i}_version = [t.version[0] for t in {a}]"
        if len(users) < len(differentiable):  # not every rule needs it: only if one that does will run
            keep = [
                f"if {' or '.join(f'{u}.requires' for u in users)}:",
                *("    " + k for k in keep),
                "else:",
                f"    node.{i} = None",
            ]
        inner += keep
    shape_of = "[t.array.shape for t in {}]" if op.tensor_list else "{}.array.shape"
    inner += [f"node.{i}_shape = " + shape_of.format(args[i]) for i in saved.shapes]
    inner += [f"node.{p} = {p}" for p in saved.params]
    inner += _note(op) if noting else []
    if op.single:
        inner += ["node.shape = r.shape", "node.dtype = r.dtype"]
        if saved.outputs:
            inner += ["node.out = r", "node.out_counter = counter", "node.out_version = counter[0]"]
        body += ["        " + line for line in [*inner, "out.edge = (node, 0)", "out.requires = True", "return out"]]
        body += ["else:", "    out.detached_by = 'no_grad'", "out.edge = None"]
        if noting:
            operands = op.args[0] if op.tensor_list else f"({''.join(a + ', ' for a in op.args)})"
            body += [f"leave_cut(out, {operands}, '' if state.grad else 'no_grad')"]
        body += [
            f"out.requires = {'out.version is not INFERENCE and out.view_meta.base.requires' if op.view else 'False'}",
            "return out",
        ]
    else:
        source = f"({op.args[0]}, ({''.join(p + ', ' for p in op.params)}))" if op.view else "None"
        body += ["        " + line for line in [*inner, f"return record_several(op, r, node, {source})"]]
        body += [f"return record_several(op, r, None, {source})"]
    return "\n".join([head, *("    " + line for line in body), ""])


def _note(op: Op) -> list[str]:
    """The lines that leave a note on `node`: its constants, the versions of its inputs, its parameters."""
    if op.tensor_list:
        noted_constants, versions = f"constants({op.args[0]})", f"[t.version[0] for t in {op.args[0]}]"
    else:
        noted_constants = f"None if {' and '.join(f'{a}.requires' for a in op.args)} else constants(({''.join(a + ', ' for a in op.args)}))"
        versions = f"({''.join(f'{a}.version[0], ' for a in op.args)})"
    # In the text of a row with one output, `out` is the result, not numpy's parameter of that name.
    params = "".join("None, " if p == "out" and op.single else p + ", " for p in op.params)
    without = f"leave_note({noted_constants}, (), ({params}))"  # an inference tensor has no version
    noted = f"leave_note({noted_constants}, {versions}, ({params}))"
    return ["try:", f"    node.provenance = {noted}", "except RuntimeError:", f"    node.provenance = {without}"]


def _run_source(op: Op, saved: Saved, graph: bool) -> str:
    """`run` (ndarrays) or `run_graph` (Tensors): the rules, on the saved values, for the edges that exist."""
    saves = {i: op.saves_of(rule) for i, rule in op.rules.items() if rule is not None}
    lines = [f"def {'run_graph' if graph else 'run'}(node: NodeClass, g, edges):"]
    if saved.inputs or saved.outputs or op.tensor_params:
        lines += ["    if node.status:", "        node = open_saved(node)"]
    for i in saved.inputs:
        if op.tensor_list:
            lines += [f"    {i} = [check_saved(node, '{i}', t, v) or t for t, v in zip(node.{i}, node.{i}_version)]"]
            lines += [] if graph else [f"    {i} = [t.array for t in {i}]"]
            continue
        lines += [f"    {i} = node.{i}", f"    if {i} is not None:"]
        lines += [
            f"        if {i}.version[0] != node.{i}_version:",
            f"            check_saved(node, '{i}', {i}, node.{i}_version)",
        ]
        lines += [] if graph else [f"        {i} = {i}.array"]
        # The rule sees numbers as forward saw them: log of an int8 is a float16 to numpy
        if len(op.promoted) > 1 and i in op.promoted:
            array = f"{i}.array" if graph else i
            lines += [f"        if {array}.dtype is not node.dtype and {array}.dtype.kind != 'f':"]
            lines += [f"            {i} = as_floats({i}, node.dtype)"]
    for o in saved.outputs:
        lines += [f"    if node.{o}_counter[0] != node.{o}_version:", f"        check_output(node, '{o}')"]
        lines += [f"    {o} = output_of(node, '{o}')" if graph else f"    {o} = node.{o}"]
    for name in dict.fromkeys(name for names in saves.values() for name in names):
        if name not in saved.inputs and name not in saved.outputs:
            lines += [f"    {name} = node.{name}"]
    fast = "" if graph else "_on_arrays"
    call = {i: f"rule_{i}{fast}({', '.join([_gradient(op, i), *names])})" for i, names in saves.items()}
    if op.tensor_list:
        lines += [f"    return {call[op.inputs[0]]}"]
    elif len(saves) == 1 and len(op.inputs) == 1:
        lines += [f"    return ({call[op.inputs[0]]},)"]
    else:
        if op.joint_rule:
            arguments = ", ".join([_gradient(op, op.inputs[0]), *op.saves_of(op.joint_rule)])
            lines += ["    if None not in edges:", f"        return joint_rule{fast}({arguments})"]
        names = [f"edge_{i}" for i in op.inputs]
        lines += [f"    {', '.join(names)}, = edges"]
        sent = [f"None if edge_{i} is None else {call[i]}" if i in call else "None" for i in op.inputs]
        lines += [f"    return ({', '.join(sent)},)"]
    return "\n".join([*lines, ""])


def _gradient(op: Op, i: str) -> str:
    """What a rule's first parameter gets: the one gradient, or for several outputs the first or the list."""
    first = next(iter(inspect.signature(op.rules[i]).parameters))
    return "g" if op.single or first == "gs" else "g[0]"


def _release_source(op: Op) -> str:
    """`release`: free what the node saved."""
    freed = [f"    node.{name} = None" for name in op.node_class.frees]
    lines = [
        "def release(node: NodeClass):",
        *freed,
        f"    node.status = {FREED}",
        "    if node.info:",
        "        drop_packed(node)",
    ]
    return "\n".join([*lines, ""])
