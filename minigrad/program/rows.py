"""Sums, softmax and the loss of classification as loops over rows, which share a compiled function with the loops around them.

What lives here: which lines have such a text, and the text. What does not: elementwise lines and which loops are one function (loops.py).

Only small ones: these loops add in order, where numpy adds in pairs and the compiled kernels of whole rows as vectors (kernels/neural.py),
which is more exact and faster from a few thousand numbers on. Sums over the first dimension add in numpy's order, so they may be larger.
"""
import re
from collections.abc import Callable
from typing import Any

from .recorder import Line, Val

SMALL = 2048  # numbers
ROWS = 16_384  # numbers of a matrix whose rows are added
FLOATS = ("float32", "float64")

# The text of each: {x} and the like are arrays, {R} rows of {C} numbers; `top`, `total` and `count` become names that are free.
SOFTMAX = """\
for i in range({R}):
    top = {x}[i, 0]
    for j in range({C}):
        top = top if top > {x}[i, j] else {x}[i, j]
    total = 0.0
    for j in range({C}):
"""
TEXTS = {
    "softmax": SOFTMAX + """\
        {out}[i, j] = exp({x}[i, j] - top)
        total += {out}[i, j]
    for j in range({C}):
        {out}[i, j] = {out}[i, j] / total
""",
    "softmax_back": """\
for i in range({R}):
    total = 0.0
    for j in range({C}):
        total += {g}[i, j] * {y}[i, j]
    for j in range({C}):
        {out}[i, j] = {y}[i, j] * ({g}[i, j] - total)
""",
    "log_softmax": SOFTMAX + """\
        total += exp({x}[i, j] - top)
    total = log(total)
    for j in range({C}):
        {out}[i, j] = {x}[i, j] - top - total
""",
    "log_softmax_back": """\
for i in range({R}):
    total = 0.0
    for j in range({C}):
        total += {g}[i, j]
    for j in range({C}):
        {out}[i, j] = {g}[i, j] - exp({y}[i, j]) * total
""",
    "nll_loss": """\
total = 0.0
count = 0.0
for i in range({R}):
    if {y}[i] != {ignored}:
        total -= {x}[i, {y}[i]]
        count += 1.0
{out}[()] = total / count
""",
    "nll_loss_back_x": """\
count = 0.0
for i in range({R}):
    count += 1.0 if {y}[i] != {ignored} else 0.0
for i in range({R}):
    for j in range({C}):
        {out}[i, j] = 0.0
    if {y}[i] != {ignored}:
        {out}[i, {y}[i]] = -{g} / count
""",
    "index_back": """\
for i in range({R}):
    for j in range({C}):
        {out}[i, j] = 0.0
for i in range({N}):
    for j in range({C}):
        {out}[{index}[i], j] += {g}[i, j]
""",
    "sum of numbers": """\
total = 0.0
for i in range({R}):
    total += {x}[i]
{out}[()] = total{over}
""",
    "sum of all": """\
total = 0.0
for i in range({R}):
    for j in range({C}):
        total += {x}[i, j]
{out}[()] = total{over}
""",
    "sum of columns": """\
for j in range({C}):
    {out}[j] = 0.0
for i in range({R}):
    for j in range({C}):
        {out}[j] += {x}[i, j]
""",
    "sum of rows": """\
for i in range({R}):
    total = 0.0
    for j in range({C}):
        total += {x}[i, j]
    {out}[{place}] = total{over}
""",
}  # fmt: skip


def kind_of_rows(line: Line, written: set[int], checked: set[Any]) -> Any:
    """(key of TEXTS, dtype, {word: its value}) of a line that is a loop over rows, else None. `checked`: classes in range."""
    name = line.what.name if line.kind == "op" else line.what[0] if line.kind == "rule" else None
    if len(line.outs) != 1 or line.outs[0] is None or name not in READERS:
        return None
    out = line.outs[0]
    found = READERS[name](line, checked)
    if found is None or out.base is not out or id(out) in written or not out.array.flags.c_contiguous:
        return None
    key, words = found
    arrays = [v.array for v in words.values() if isinstance(v, Val)]
    largest = max([a.size for a in [*arrays, out.array]])
    floats = {a.dtype.name for a in [*arrays, out.array] if a.dtype.kind == "f"}
    if len(floats) != 1 or not floats <= set(FLOATS) or not 0 < largest <= (ROWS if key == "sum of columns" else SMALL):
        return None
    return key, floats.pop(), words | {"out": out}


def _of_rows(line: Line, checked: set[Any]) -> Any:
    x, *_ = line.ins
    a = x.array
    return (line.what.name, {"x": x, "R": a.shape[0], "C": a.shape[1]}) if a.ndim == 2 and tuple(line.params) == (1,) else None


def _of_rows_back(line: Line, checked: set[Any]) -> Any:
    g, y, dim = line.params
    shape = y.array.shape
    plain = len(shape) == 2 and dim == 1 and g.array.shape == shape
    return (line.what[0], {"g": g, "y": y, "R": shape[0], "C": shape[1]}) if plain else None


def _loss(line: Line, checked: set[Any]) -> Any:
    (x, y), (weight, reduction, ignored) = line.ins, line.params
    plain = x.array.ndim == 2 and weight is None and reduction == "mean" and type(ignored) is int and (id(y), x.array.shape[1]) in checked
    return ("nll_loss", {"x": x, "y": y, "R": x.array.shape[0], "ignored": ignored}) if plain else None


def _loss_back(line: Line, checked: set[Any]) -> Any:
    g, y, shape, weight, reduction, ignored = line.params
    plain = len(shape) == 2 and weight is None and reduction == "mean" and type(ignored) is int and (id(y), shape[1]) in checked
    return ("nll_loss_back_x", {"g": g, "y": y, "R": shape[0], "C": shape[1], "ignored": ignored}) if plain else None


def _index_back(line: Line, checked: set[Any]) -> Any:
    g, shape, indices = line.params
    (index, *more), a = indices, g.array
    plain = not more and isinstance(index, Val) and index.array.ndim == 1 and len(shape) == a.ndim == 2 and (id(index), shape[0]) in checked
    return ("index_back", {"g": g, "index": index, "R": shape[0], "C": shape[1], "N": a.shape[0]}) if plain else None


def _sums(line: Line, checked: set[Any]) -> Any:
    (x,), (dims, keep) = line.ins, (*line.params, None, None)[:2]
    shape, mean = x.array.shape, line.what.name == "mean"
    if dims is None or (len(shape) == 1 and not keep):
        if not 1 <= len(shape) <= 2:
            return None
        rows, columns = (*shape, 1)[:2]
        key = "sum of numbers" if len(shape) == 1 else "sum of all"
        return key, {"x": x, "R": rows, "C": columns, "over": f" / {float(x.array.size)}" if mean else ""}
    if len(shape) != 2 or len(dims) != 1:
        return None
    if dims[0] == 1:
        over = f" / {float(shape[1])}" if mean else ""
        return "sum of rows", {"x": x, "R": shape[0], "C": shape[1], "place": "i, 0" if keep else "i", "over": over}
    return ("sum of columns", {"x": x, "R": shape[0], "C": shape[1]}) if not mean and not keep else None


READERS: dict[str, Callable[[Line, set[int]], Any]] = {
    "softmax": _of_rows, "log_softmax": _of_rows, "softmax_back": _of_rows_back, "log_softmax_back": _of_rows_back, "nll_loss": _loss,
    "nll_loss_back_x": _loss_back, "sum": _sums, "mean": _sums, "index_back": _index_back,
}  # fmt: skip


def looked_up(line: Line) -> Any:
    """(positions, how many there are to choose from, the number that means none) of a line that checks positions; else None."""
    what, params = line.what.__name__, line.params
    if what == "check_bounds" and isinstance(params[0], Val):
        return params[0], params[2], None
    if what == "_check_classes" and params[0][1].array.ndim == 2 and type(params[3]) is int:
        return params[1][1], params[0][1].array.shape[1], params[3]
    return None


def text_of_check(name: str, array: str, count: int, size: int, none: Any) -> str:
    """A function that says whether one of the positions is out of range."""
    i = next(letter for letter in "ijk" if letter != array)
    test = f"{array}[{i}] < 0 or {array}[{i}] >= {size}"
    test = test if none is None else f"{array}[{i}] != {none} and ({test})"
    return f"def {name}({array}):\n    for {i} in range({count}):\n        if {test}:\n            return True\n    return False\n"


def text_of_rows(key: str, words: dict[str, Any], free: Callable[[str], str]) -> list[str]:
    """The lines of a text with its words put in. `free` gives a name that is not taken."""
    text = re.sub(r"(?<![{\w])(i|j|top|total|count)\b", lambda m: "{" + m.group() + "}", TEXTS[key])
    names = {name: free(name) for name in dict.fromkeys(re.findall(r"\{(i|j|top|total|count)\}", text))}
    place = re.sub(r"\bi\b", names.get("i", "i"), words.get("place", ""))
    return text.format(**words | names | {"place": place}).splitlines()
