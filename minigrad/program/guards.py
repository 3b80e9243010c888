"""The guards of a program: expressions that hold as long as the program does what the step would do."""

import re
from typing import TYPE_CHECKING, Any

from ..core import dtypes
from ..core.dispatch import state
from ..core.variable import Variable

if TYPE_CHECKING:
    from .text import Writer


def conditions(writer: "Writer", tensors: list[str], args: tuple) -> list[str]:
    """The guards: of the modes, of each argument, of the gradients at entry, of everything else that the step reads."""
    default = writer.thing(dtypes.get_default_dtype(), "default")
    tests = [
        f"not modes['handlers'] and modes['grad'] is {state.grad} and not modes['inference'] and not modes['anomaly']",
        f"dtypes._default is {default}",
    ]
    for text, x in zip(tensors, args, strict=True):
        tests += (
            of_tensor(writer, text, x) if isinstance(x, Variable) else [f"same({text}, {writer.thing(x, 'value')})"]
        )
    arguments = [t for t, x in zip(tensors, args, strict=True) if isinstance(x, Variable)]
    tests += [f"{a}.array is not {b}.array" for i, a in enumerate(arguments) for b in arguments[:i]]
    writer.scope["ids"].update({id(t): t for _, t in writer.around.tensors.values()})
    for t, grad in writer.entry.values():
        name = writer.tensor(t)
        tests.append(f"{name}._grad is {'None' if grad is None else 'not None'}")
        if grad is not None and id(grad) in writer.texts:  # it is read
            tests.append(f"not {name}._grad.requires and {name}._grad.array.strides == {grad.array.strides}")
    names = {key: writer.thing(value, key) for key, value in writer.around.scope.items()}
    return tests + [re.sub(r"\b(k\d+|MISSING|same)\b", lambda m: names[m.group()], g) for g in writer.around.guards]


def of_tensor(writer: "Writer", text: str, x: Any) -> list[str]:
    """The guards of an argument that is a tensor: type, shape, dtype, layout, and that it has no graph, hooks or attributes."""
    a = x.array
    kind, dtype = writer.thing(type(x), "kind"), writer.thing(a.dtype, "dtype")
    return [
        f"type({text}) is {kind} and {text}.array.shape == {tuple(a.shape)} and {text}.array.dtype is {dtype}",
        f"{text}.array.strides == {a.strides} and ({text}.view_meta is None) is {x.view_meta is None}",
        f"not vars({text})",
        f"{text}.requires is {x.requires} and {text}.edge is None",
        f"({text}.meta is None or {text}.meta.hooks is None)",
        *([f"id({text}) not in ids"] if x.requires else []),
    ]


def guarded(names: list[str] | None, tensors: list[str], guards: list[str], body: list[str], buffers: bool) -> str:
    """The text of the function that runs: the program behind its guards.

    names    of the step's parameters, if Python itself may check and sort the arguments; that takes less time than doing it in this text
    buffers  the program has memory of its own. A call that finds it in use, by another thread, runs the program without loops instead
    """
    if names is None:
        head, args = "*args, **named", "*args"
        lines = [f"if named or len(args) != {len(tensors)}:", "    return otherwise(*args, **named)"]
        lines += [f"{', '.join(tensors)}, = args"] if tensors else []
    else:
        head, args = ", ".join(names), ", ".join(tensors)
        lines = [f"{args} = {head}"] if names != tensors else []
    lines.append("modes = state.__dict__")
    lines += ["if not (" + "\n            and ".join(dict.fromkeys(guards)) + "):", f"    return otherwise({args})"]
    if buffers:
        lines += ["try:", "    free.pop()", "except IndexError:", f"    return in_lines({args})", "try:"]
        lines += ["    " + line for line in body]
        lines += ["finally:", "    free.append(True)"]
    else:
        lines += body
    return f"def run({head}):\n    " + "\n    ".join([line for line in lines if line]) + "\n"
