"""Sums, softmax, normalisation and the loss of classification as loops over rows, which share a compiled function with the loops around
them.

What lives here: which lines have such a text, and the text. What does not: elementwise lines and which loops are one function (loops.py).

Only small ones: beyond, numpy and the compiled kernels of whole rows (kernels/neural.py) are as fast and need no compiling. Sums over the
first dimensions add in numpy's order, so they may be larger; other sums may be reordered by the compiler (kernels/fused_numba.py).
"""

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

from .recorder import Line, Val, all_vals

SMALL = 8192  # numbers
ROWS = 16_384  # numbers of a matrix whose rows are added
FLOATS = ("float32", "float64")
LETTERS = "ijklmn"  # of the dimensions of an array, in order, while a text has not been told which letters are free

# The text of each. `for row` and `for column` become loops over the dimensions that are kept apart and those that are taken together,
# [all] the place of a number, [row] that of a row, [first] that of a row's first number, [affine] that of a weight. {x} and the like are
# arrays; names such as `total` become names that are free. A line about a result that no other reads is left out.
SOFTMAX = """\
for row:
    top = {x}[first]
    for column:
        top = top if top > {x}[all] else {x}[all]
    total = 0.0
    for column:
"""
STATISTICS = """\
for row:
    mean = 0.0
    for column:
        mean += {x}[all]
    mean = mean / {size}
    total = 0.0
    for column:
        total += ({x}[all] - mean) * ({x}[all] - mean)
    scale = 1.0 / sqrt(total / {size} + {eps})
"""
TEXTS = {
    "softmax": SOFTMAX + """\
        {out}[all] = exp({x}[all] - top)
        total += {out}[all]
    for column:
        {out}[all] = {out}[all] / total
""",
    "softmax_back": """\
for row:
    total = 0.0
    for column:
        total += {g}[all] * {y}[all]
    for column:
        {out}[all] = {y}[all] * ({g}[all] - total)
""",
    "log_softmax": SOFTMAX + """\
        total += exp({x}[all] - top)
    total = log(total)
    for column:
        {out}[all] = {x}[all] - top - total
""",
    "log_softmax_back": """\
for row:
    total = 0.0
    for column:
        total += {g}[all]
    for column:
        {out}[all] = {g}[all] - exp({y}[all]) * total
""",
    "norm": STATISTICS + """\
    {out_mean}[row] = mean
    {out_rstd}[row] = scale
    for column:
        {out}[all] = ({x}[all] - mean) * scale * {weight}[affine] + {bias}[affine]
""",
    "norm_back": """\
for weight:
    {by_weight}[affine] = 0.0
    {by_bias}[affine] = 0.0
""" + STATISTICS + """\
    total = 0.0
    along = 0.0
    for column:
        x_hat = ({x}[all] - mean) * scale
        total += {g}[all] * {weight}[affine]
        along += {g}[all] * {weight}[affine] * x_hat
        {by_weight}[affine] += {g}[all] * x_hat
        {by_bias}[affine] += {g}[all]
    total = total / {size}
    along = along / {size}
    for column:
        {out}[all] = ({g}[all] * {weight}[affine] - total - ({x}[all] - mean) * scale * along) * scale
""",
    "norm_back_weight": """\
for weight:
    {by_weight}[affine] = 0.0
""" + STATISTICS + """\
    for column:
        {by_weight}[affine] += {g}[all] * ({x}[all] - mean) * scale
""",
    "nll_loss": """\
total = 0.0
count = 0.0
for row:
    if {y}[row] != {ignored}:
        total -= {x}[row, {y}[row]]
        count += 1.0
{out}[()] = total / count
""",
    "nll_loss_back_x": """\
count = 0.0
for row:
    count += 1.0 if {y}[row] != {ignored} else 0.0
for row:
    for column:
        {out}[all] = 0.0
    if {y}[row] != {ignored}:
        {out}[row, {y}[row]] = -{g} / count
""",
    "index_back": """\
for row:
    for column:
        {out}[all] = 0.0
for i in range({N}):
    for column:
        {out}[{index}[i], column] += {g}[i, column]
""",
    "sum": """\
for row:
    total = 0.0
    for column:
        total += {x}[all]
    {out}[row] = total{over}
""",
    "sum of rows": """\
for column:
    {out}[column] = 0.0
for row:
    for column:
        {out}[column] += {x}[all]
""",
}  # fmt: skip


def kind_of_rows(line: Line, written: set[int], checked: set[Any]) -> Any:
    """(key of TEXTS, dtype, {word: its value}) of a line that is a loop over rows, else None. `checked`: classes in range."""
    name = line.what.name if line.kind == "op" else line.what[0] if line.kind == "rule" else None
    if (
        name not in READERS
        or None in line.outs
        or any([v.array.ndim >= len(LETTERS) for v in all_vals([*line.ins, *line.params])])
    ):
        return None
    reading = READERS[name](line, checked)
    if reading is None or any(
        [v.base is not v or id(v) in written or not v.array.flags.c_contiguous for v in line.outs]
    ):
        return None
    key, words, *outs = reading
    if len(outs := outs or ["out"]) != len(line.outs):
        return None
    words |= dict(zip(outs, line.outs, strict=True))
    arrays = [v.array for v in words.values() if isinstance(v, Val)]
    sizes = [a.size for a in arrays]
    floats = {a.dtype.name for a in arrays if a.dtype.kind == "f"}
    if (
        len(floats) != 1
        or not floats <= set(FLOATS)
        or not 0 < min(sizes)
        or max(sizes) > (ROWS if key == "sum of rows" else SMALL)
    ):
        return None
    return key, floats.pop(), words


def _places(shape: tuple[int, ...], columns: Any) -> dict[str, Any]:
    """The loops over an array whose dimensions `columns` are taken together, and the places in it."""
    letters = [letter if n > 1 else "0" for letter, n in zip(LETTERS, shape, strict=False)]
    row, column = ([d for d in range(len(shape)) if (d in columns) is combined] for combined in (False, True))
    return {
        "for row": [(letters[d], shape[d]) for d in row if shape[d] > 1], "row": ", ".join([letters[d] for d in row]) or "()",
        "for column": [(letters[d], shape[d]) for d in column if shape[d] > 1], "column": ", ".join([letters[d] for d in column]),
        "all": ", ".join(letters), "first": ", ".join(["0" if d in columns else letter for d, letter in enumerate(letters)]),
    }  # fmt: skip


def _of_rows(line: Line, checked: set[Any]) -> Any:
    x, *_ = line.ins
    shape = x.array.shape
    return (
        (line.what.name, {"x": x, **_places(shape, line.params)})
        if shape and tuple(line.params) == (len(shape) - 1,)
        else None
    )


def _of_rows_back(line: Line, checked: set[Any]) -> Any:
    g, y, dim = line.params
    shape = y.array.shape
    plain = shape and dim == len(shape) - 1 and g.array.shape == shape
    return (line.what[0], {"g": g, "y": y, **_places(shape, (dim,))}) if plain else None


def _norm(line: Line, checked: set[Any]) -> Any:
    # The statistics are computed by other lines
    if len(line.params) != (4 if line.kind == "op" else 7) or isinstance(line.params[3], Val):
        return None
    if line.kind == "op":
        (x, weight, bias), (arranged, axes, affine, eps) = line.ins, line.params
        places = _arrangement(x.array.shape, weight, tuple(arranged), tuple(axes), affine)
        return places and (
            "norm",
            {"x": x, "weight": weight, "bias": bias, "eps": float(eps), **places},
            "out",
            "out_mean",
            "out_rstd",
        )
    g, x, weight, arranged, axes, affine, eps = line.params
    places = (
        _arrangement(x.array.shape, weight, tuple(arranged), tuple(axes), affine)
        if g.array.shape == x.array.shape
        else None
    )
    words = {"g": g, "x": x, "weight": weight, "eps": float(eps), **(places or {})}
    if line.what[0].endswith("weight"):
        return places and ("norm_back_weight", words, "by_weight")
    return places and ("norm_back", words, *("out", "by_weight", "by_bias")[: len(line.outs)])


def _arrangement(
    shape: tuple[int, ...], weight: Val, arranged: tuple[int, ...], axes: tuple[int, ...], affine: Any
) -> Any:
    """The places in the input of a normalisation, and in its weight, whose shape is one dimension or that of the normalised part."""
    if arranged == shape:
        places = _places(shape, axes)
        letters = places["all"].split(", ")[len(shape) - len(affine) :]
    else:  # channels in groups
        groups, each = arranged[1], shape[1] // arranged[1]
        places = _places((shape[0], groups, each, *shape[2:]), range(2, len(shape) + 1))
        n, group, one, *rest = places["all"].split(", ")
        letters = [one if groups == 1 else group if each == 1 else f"{group} * {each} + {one}"]
        places |= {"all": ", ".join([n, *letters, *rest]), "first": f"{n}, {group}, 0"}
    letters = letters[: weight.array.ndim]
    names = set(re.findall(r"[a-z]", "".join(letters)))
    loops = [loop for loop in [*places["for row"], *places["for column"]] if loop[0] in names]
    return places | {"row": places["first"], "affine": ", ".join(letters), "for weight": loops,
                    "size": float(math.prod([n for _, n in places["for column"]]))}  # fmt: skip


def _loss(line: Line, checked: set[Any]) -> Any:
    (x, y), (weight, reduction, ignored) = line.ins, line.params
    plain = (
        x.array.ndim == 2
        and weight is None
        and reduction == "mean"
        and type(ignored) is int
        and (id(y), x.array.shape[1]) in checked
    )
    return ("nll_loss", {"x": x, "y": y, "ignored": ignored, **_places(x.array.shape, (1,))}) if plain else None


def _loss_back(line: Line, checked: set[Any]) -> Any:
    g, y, shape, weight, reduction, ignored = line.params
    plain = (
        len(shape) == 2
        and weight is None
        and reduction == "mean"
        and type(ignored) is int
        and (id(y), shape[1]) in checked
    )
    return ("nll_loss_back_x", {"g": g, "y": y, "ignored": ignored, **_places(shape, (1,))}) if plain else None


def _index_back(line: Line, checked: set[Any]) -> Any:
    g, shape, indices = line.params
    (index, *more), a = indices, g.array
    plain = (
        not more
        and isinstance(index, Val)
        and index.array.ndim == 1
        and len(shape) == a.ndim == 2
        and (id(index), shape[0]) in checked
    )
    return ("index_back", {"g": g, "index": index, "N": a.shape[0], **_places(shape, (1,))}) if plain else None


def _sums(line: Line, checked: set[Any]) -> Any:
    (x,), (dims, keep) = line.ins, (*line.params, None, None)[:2]
    shape, mean = x.array.shape, line.what.name == "mean"
    if not shape or dims == ():
        return None
    dims = tuple(range(len(shape))) if dims is None else tuple([d % len(shape) for d in dims])
    words = {"x": x, **_places(shape, dims)}
    if len(dims) < len(shape) and dims == tuple(range(len(dims))):
        words |= {
            "for row": words["for column"],
            "for column": words["for row"],
            "column": words["first"] if keep else words["row"],
        }
        return None if mean else ("sum of rows", words)
    over = f" / {float(math.prod([shape[d] for d in dims]))}" if mean else ""
    return "sum", words | {"over": over, "row": words["first"] if keep else words["row"]}


READERS: dict[str, Callable[[Line, set[int]], Any]] = {
    "softmax": _of_rows, "log_softmax": _of_rows, "softmax_back": _of_rows_back, "log_softmax_back": _of_rows_back, "nll_loss": _loss,
    "nll_loss_back_x": _loss_back, "sum": _sums, "mean": _sums, "index_back": _index_back,
    **{f"native_{kind}_norm{way}": _norm for kind in ("layer", "batch", "group") for way in ("", "_back", "_back_x", "_back_weight")},
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


NAMES = rf"[{LETTERS}]|top|total|count|mean|scale|along|x_hat"  # of the numbers that a text works with


def text_of_rows(key: str, words: dict[str, Any], free: Callable[[str], str]) -> list[str]:
    """The lines of a text with its words put in. `free` gives a name that is not taken."""
    lines = [line for line in TEXTS[key].splitlines() if {*re.findall(r"{(\w+)}", line)} <= words.keys()]
    text = "\n".join(_nested(lines, words))
    text = re.sub(r"\b(all|row|column|first|affine)\b", lambda m: words[m.group()], text)
    text = re.sub(rf"(?<![{{\w])({NAMES})\b", r"{\1}", text)
    names = {name: free(name) for name in dict.fromkeys(re.findall(rf"{{({NAMES})}}", text))}
    return text.format(**words | names).splitlines()


def _nested(lines: list[str], words: dict[str, Any]) -> list[str]:
    """The lines with a loop for each dimension; none without anything in it."""
    nested = []
    while lines:
        head, *lines = lines
        inner = [line[4:] for line in itertools.takewhile(lambda line: line[0] == " ", lines)]
        del lines[: len(inner)]
        if not head.endswith(":"):
            nested.append(head)
        elif body := _nested(inner, words):
            name = head.removesuffix(":")
            heads = [f"for {letter} in range({n}):" for letter, n in words[name]] if name in words else [head]
            nested += ["    " * depth + line for depth, line in enumerate(heads)]
            nested += ["    " * len(heads) + line for line in body]
    return nested
