"""Find the name that the graph view shows for a node, and the line of code that made it.

What lives here: the search through a namespace, numbered names, source lines. What does not: formulas (formulas.py). The
order below is coded in `names_and_paths` (1 to 3) and in `_labels` of scalar_trace.py and tensor_trace.py (the rest).

Which name is shown. The first of these that exists:

1. Its own label, `Value(1.0, label="bias")`, if no other node of the graph has the same label. Nodes that share a label keep it, as bias
   and bias₂, only where they have no other name. (Tensors have no labels.)
2. A variable that holds it, `x`. If several do, the one that comes first in the namespace. Names that begin with `_` do not count.
3. The shortest path that leads to it, `net.layers[0].b` or `m.weight`: the namespace is searched breadth first through lists, tuples, dicts
   and attributes, at most six steps deep. Of an object that holds Values, such as a network, the paths win over variables if at most one
   in three of its Values have one, because `for p in net.parameters()` leaves its last parameter behind in `p`. Of a list they win over
   variables that are newer than the list: in `hs = [x]` the older x keeps its name.
4. A tensor that was detached: `x.detach()`. A constant: its number.
5. In the graph of a gradient: `dL/dx`.
6. What a variable held before it was assigned again: h₁, h₂, ... (former_names), where the lines of the program are recorded.
7. Its expression, if that has at most ten characters: `x × w`.
8. v1, v2, ... in the order of the computation.

All names but those of constants differ. Where two nodes would get the same one by 1 to 5, the second is x₂ (twin_label); by 6 and 7, it
takes the next rule.

>>> from minigrad import Value
>>> from minigrad.tracing.trace import trace
>>> x, w = Value(2.0), Value(3.0, label="weight")
>>> h = x * x + w
>>> y = (h * h + x).tanh()
>>> [node["label"] for node in trace(y, {"y": y, "net": [x, w]})["nodes"]]
['net[0]', 'weight', 'v1', 'v2', 'v2 × v2', 'v3', 'y']
"""

from __future__ import annotations

import ast
import linecache
import re
import types
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

from .schema import Source


def names_of(objects: list, names: Mapping[str, object] | None) -> list[str]:
    """For each object its label, else the first name that leads to it, else ""."""
    return names_and_paths(objects, names)[0]


def names_and_paths(objects: list, names: Mapping[str, object] | None) -> tuple[list[str], list[str]]:
    """(names, paths) of objects; "" where there is none. A path is the expression that leads to an object: "net.layers[0].b".

    The name is the object's label, or its path. A label that several objects share counts only where they
    have no path, because it does not distinguish them. After
    `for p in net.parameters()` the variable p still refers to the last parameter, which keeps its path as its name, like the others.
    """
    labels = {id(obj): str(label) if (label := getattr(obj, "label", "")) else "" for obj in objects}
    bare: dict[int, str] = {}
    inner: dict[int, str] = {}
    for text, obj in walk(names, labels.__contains__):
        if (key := id(obj)) in labels:
            (bare if text.isidentifier() else inner).setdefault(key, text)
            if len(inner) == len(labels) or len(bare) == len(labels):
                break
    combined: dict[str, list[int]] = {}  # what one variable holds
    for key, text in inner.items():
        combined.setdefault(re.split(r"\W", text)[0], []).append(key)
    paths = {**inner, **bare}
    order = {name: place for place, name in enumerate(names or ())}
    for container, keys in combined.items():
        left = [key for key in keys if key in bare]
        of_an_object = any("." in inner[key] for key in keys)
        if len(keys) >= 3 * len(left) and (of_an_object or all(order[bare[key]] > order[container] for key in left)):
            paths.update((key, inner[key]) for key in left)
    times = Counter(labels.values())
    called = {
        key: label if label and (times[label] == 1 or key not in paths) else paths.get(key, "")
        for key, label in labels.items()
    }
    return [called[id(obj)] for obj in objects], [paths.get(id(obj), "") for obj in objects]


def walk(
    names: Mapping[str, object] | None, stop: Callable[[int], bool] = lambda _: False
) -> Iterable[tuple[str, object]]:
    """Everything that names lead to, with the text that leads there. Breadth first, so that short names come first; bounded,
    because a namespace can hold anything. Nothing inside an object with `stop(id(object))` is looked at."""
    queue = [
        (name, obj, 0) for name, obj in (names or {}).items() if not name.startswith("_") and name not in _NOT_NAMES
    ]
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
    # An nn.Module
    if isinstance(modules := attributes.get("_modules"), dict) and isinstance(attributes.get("_parameters"), dict):
        members = {**attributes["_parameters"], **attributes.get("_buffers", {}), **modules}
        return [
            (f"[{key}]" if key.isdigit() else f".{key}", inner) for key, inner in members.items() if inner is not None
        ]
    return [(f".{key}", inner) for key, inner in attributes.items() if isinstance(key, str) and not key.startswith("_")]


def numbered(name: str, number: int) -> str:
    """`name` with a number that is no part of it.

    >>> numbered("h", 12)
    'h₁₂'
    """
    return name + str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def twin_label(name: str, used: set[str], occupied: set[str]) -> str:
    """`name`, or name₂, name₃, ... if another node has it."""
    label, twin = name, 1
    while label in used or (twin > 1 and label in occupied):
        twin += 1
        label = numbered(name, twin)
    return label


def former_names(names: list[str], codes: list, sources: list[Source | None]) -> list[str]:
    """h₁, h₂, ... for the nodes that a variable h held before it became another node of the graph, as their lines tell; "" for the others.

    names: what each node is called now, or "". codes: the code objects of their lines, or None. A line in a function counts where the
    variable's present node was made in the same function.
    """
    now = {name: code for name, code in zip(names, codes, strict=True) if name.isidentifier()}
    turns: dict[str, int] = {}
    seen: dict[tuple, str] = {}
    out = []
    for name, code, source in zip(names, codes, sources, strict=True):
        variable = ""
        if not name and code is not None and source is not None and "span" in source:
            line = source["text"], *source["span"]
            if line not in seen:
                seen[line] = _assigned(*line)
            variable = seen[line]
        if variable in now and (code.co_name == "<module>" or code is now[variable]):
            turns[variable] = turns.get(variable, 0) + 1
            out.append(numbered(variable, turns[variable]))
        else:
            out.append("")
    return out


def _assigned(text: str, first: int, last: int) -> str:
    """The variable that a line gives the value of one of its expressions; "" if the expression is a part of something else.

    >>> _assigned("h = w * h", 4, 9), _assigned("h = w * h + 1", 4, 9), _assigned("a, h = f(1), f(2)", 13, 17), _assigned("h += 1", 0, 6)
    ('h', '', 'h', 'h')
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:  # part of a longer statement
        return ""
    start, end = len(text[:first].encode()), len(text[:last].encode())
    for s in ast.walk(tree):
        pairs: list[tuple[ast.expr, ast.AST]] = []
        if isinstance(s, ast.Assign):
            for target in s.targets:
                combined = (
                    isinstance(target, ast.Tuple)
                    and isinstance(s.value, ast.Tuple)
                    and len(target.elts) == len(s.value.elts)
                )
                pairs += zip(target.elts, s.value.elts, strict=True) if combined else [(target, s.value)]  # type: ignore[attr-defined]
        elif isinstance(s, ast.AugAssign):
            pairs = [(s.target, s)]
        for target, value in pairs:
            if isinstance(target, ast.Name) and (value.col_offset, value.end_col_offset) == (start, end):  # type: ignore[attr-defined]
                return target.id
    return ""


def source_of(obj: object, cell_name: Mapping[str, str] | Callable[[str], str | None] | None) -> Source | None:
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


def headline(source: Source) -> str:
    """The statement that made a result, of the one or several in its line.

    >>> headline({"cell": "In [1]", "line": 1, "text": "L = (3 * a).sum(); L.backward()", "span": (4, 17)})
    'L = (3 * a).sum()'
    """
    text, span = source["text"], source.get("span")
    if span is None or ";" not in text:
        return text
    try:
        statements = [ast.get_source_segment(text, node) or "" for node in ast.parse(text).body]
    except SyntaxError:  # part of a longer statement
        return text
    at = 0
    for one in statements:
        at = text.index(one, at) + len(one)
        if span[1] <= at:
            return one
    return text


def _file_name(filename: str) -> str:
    if cell := re.match(r"<ipython-input-(\d+)-", filename):
        return f"In [{cell[1]}]"
    if re.search(r"ipykernel_\d+[/\\][^/\\]*$", filename):
        return "this notebook"
    return re.split(r"[/\\]", filename)[-1]
