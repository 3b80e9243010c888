"""Errors about shapes and positions: broadcasting, products, reshaping, joining, indexing. Shapes are drawn."""
from __future__ import annotations

import re

from ..show import Chain, Link, Table
from .answers import Answer, Row, row, shape
from .moment import Moment

ROWS: list[Row] = []


def aligned(named: list[tuple[str, tuple[int, ...]]], bad: set[int]) -> Table:
    """Shapes under each other, set right as broadcasting compares them. `bad`: dimensions from the right that do not fit."""
    width = max((len(s) for _, s in named), default=0)
    head = ["", *(str(i - width) for i in range(width))]
    rows = [[name, *[""] * (width - len(s)), *map(str, s)] for name, s in named]
    marked = {(r, width - d) for r, row in enumerate(rows) for d in bad if row[width - d]}
    return Table(head, rows, caption="the shapes, compared from the right", bad=marked)


def clash(shapes: list[tuple[int, ...]]) -> set[int]:
    """The dimensions, counted from the right and from 0, that do not broadcast."""
    bad = set()
    for d in range(max(map(len, shapes), default=0)):
        sizes = {s[-1 - d] for s in shapes if len(s) > d} - {1}
        if len(sizes) > 1:
            bad.add(d)
    return bad


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text))


@row(RuntimeError, r"^The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension")
def broadcast(m: Moment, found) -> Answer:
    named = [(text, tuple(t.shape)) for text, t in m.tensors()]
    said = re.search(r"tensors of shapes (.+)\.", m.detail)
    shapes = [_sizes(s) for s in re.findall(r"\([^)]*\)", said[1])] if said else []
    if shapes:  # the operands; by name where the line names tensors of just these shapes
        left = list(named)
        named = [next((n for n in left if n[1] == s), (f"operand {k + 1}", s)) for k, s in enumerate(shapes)]
    bad = clash([s for _, s in named])
    fix = "Add the missing dimension where it belongs: `x.unsqueeze(1)` or `x[:, None]`. Then say in words what each dimension is."
    if len(named) == 2 and len(named[0][1]) == 2 and len(named[1][1]) == 1 and named[0][1][0] == named[1][1][0]:
        fix = f"`{named[1][0]}` has one number for each row of `{named[0][0]}`: write `{named[1][0]}[:, None]`, which has shape ({named[1][1][0]}, 1)."
    return Answer("These shapes do not fit together",
                  f"{found[1]} against {found[2]}: shapes are compared from the right, and two sizes fit if they are equal or one of them is 1.", fix,
                  ("`reshape` until it runs", "it keeps the order of the numbers, so rows and columns may get mixed without an error"),
                  [aligned(named, bad)] if named else [], 9)  # fmt: skip


@row(RuntimeError, r"^(?:mat1 and mat2 shapes cannot be multiplied|size mismatch, got)")
def product(m: Moment, found) -> Answer:
    pair = re.search(r"\((\d+)x(\d+) and (\d+)x(\d+)\)", m.sentence)
    vec = re.search(r"mat \((\d+)x(\d+)\), vec \((\d+)\)", m.sentence)
    layer = re.search(r"The layer takes (\d+) features, the last dimension of the input of shape \((.*?)\) has (\d+)", m.detail)
    if layer:
        what = f"The layer takes {layer[1]} features, the input has {layer[3]} in its last dimension."
        fix = f"A layer with `in_features={layer[3]}`; or bring the {layer[1]} features to the last dimension (images: `x.flatten(1)` first)."
        picture = [aligned([("input", _sizes(layer[2])), ("takes", (int(layer[1]),))], {0})]
        return Answer("The layer was made for another width", what, fix,
                      ("transposing the input", "then the samples are taken for features"), picture, 17)  # fmt: skip
    if vec:
        n, k, p = vec.groups()
        first, second = f"({n}, {k})", f"({p},)"
    elif pair:
        n, k, p, q = pair.groups()
        first, second = f"({n}, {k})", f"({p}, {q})"
    else:
        return Answer("This product does not fit", "The columns of the first must be as many as the rows of the second.",
                      "Look at both shapes, and transpose the one whose dimensions are the wrong way round.", chapter=9)  # fmt: skip
    names = [text for text, t in m.tensors() if shape(t) in (first, second)]
    a, b = (names + ["a", "b"])[:2] if len(names) > 1 else ("a", "b")
    picture = [Table(["", "rows", "columns"], [[a, n, k], [b, p, q if pair else ""]], bad={(0, 2), (1, 1)}, caption="inner sizes must agree")]
    fix = f"Transpose the one that is the wrong way round: `{a} @ {b}.T`" if pair and k == q else "Check which dimension holds the features"
    if pair and n == p and not k == q:
        fix = f"Transpose the one that is the wrong way round: `{a}.T @ {b}`"
    return Answer("The inner sizes of the product differ", f"{a} has {k} columns, {b} has {p} rows. Each row of {a} is multiplied with a column of {b}.",
                  fix + ".", ("`*` instead of `@`", "it multiplies entry by entry: another computation, and often it broadcasts without an error"), picture, 9)  # fmt: skip


@row(RuntimeError, r"^shape '(\[.*?\])' is invalid for input of size (\d+)")
def reshaped(m: Moment, found) -> Answer:
    wanted = [int(n) for n in re.findall(r"-?\d+", found[1])]
    known = 1
    for n in wanted:
        known *= n if n != -1 else 1
    count = f"{' × '.join(str(n) for n in wanted if n != -1)} = {known}"
    return Answer("The new shape has another number of places", f"There are {found[2]} numbers, and the shape asks for {count}"
                  f"{', times something' if -1 in wanted else ''}.", "Let one size be computed: `x.reshape(len(x), -1)`. The product of the sizes must stay the same.",
                  ("`resize_` or cutting off the rest", "numbers are lost or made up, without an error"),
                  [Chain(Link(f"{found[2]} numbers"), Link(found[1], count, "bad"))], 9)  # fmt: skip


@row(RuntimeError, r"^view size is not compatible with input tensor's size and stride")
def viewed(m: Moment, _) -> Answer:
    said = re.search(r"of shape (\(.*?\)) has strides (\(.*?\))", m.detail)
    picture = [Table(["", ""], [["shape", said[1]], ["strides", said[2]]], caption="neighbours in a row are not neighbours in memory")] if said else []
    return Answer("These numbers do not lie in order",
                  "A view only reads the same memory in another way. After a transpose or permute the order in memory is not the order of reading.",
                  "`reshape(...)` copies where it must. `x.contiguous().view(...)` says so openly.",
                  ("giving `view` the sizes in another order", "it may run and mix rows with columns"), picture, 9)  # fmt: skip


@row(RuntimeError, r"^Sizes of tensors must match except in dimension (\d+)|^stack expects each tensor to be equal size")
def joined(m: Moment, found) -> Answer:
    named = [(text, tuple(t.shape)) for text, t in m.tensors()]
    picture = [Table(["", "shape"], [[n, str(s)] for n, s in named])] if named else []
    if found[1] is not None:
        return Answer("The pieces do not line up", f"`cat` joins along dimension {found[1]}; in all other dimensions the pieces must be equal.",
                      f"Join along the dimension in which they differ (`dim=...`), or make the others equal first. This call used dim={found[1]}.",
                      picture=picture, chapter=9)  # fmt: skip
    return Answer("Only equal shapes can be stacked", "`stack` makes a new dimension, so all pieces must have the same shape.",
                  "`cat` joins along a dimension that is there; pieces of different lengths must be padded first.", picture=picture, chapter=9)  # fmt: skip


@row(IndexError, r"^index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)")
def outside(m: Moment, found) -> Answer:
    i, d, n = found.groups()
    extra = " Counting starts at 0." if i == n else ""
    return Answer("There is no such entry", f"Dimension {d} has {n} entries, numbered 0 to {int(n) - 1} (or −{n} to −1 from the end). Asked for: {i}.{extra}",
                  "`x[-1]` is the last one. In a loop, `range(len(x))` never goes too far.", chapter=9)  # fmt: skip


@row(IndexError, r"^too many indices for tensor of dimension (\d+)")
def too_many(m: Moment, found) -> Answer:
    named = [(text, tuple(t.shape)) for text, t in m.tensors()]
    return Answer("The tensor has fewer dimensions than the key", f"It has {found[1]}, and the brackets name more.",
                  "Look at `x.shape`: an earlier step (`sum`, `x[0]`, `squeeze`) took a dimension away; `keepdim=True` keeps it.",
                  picture=[Table(["", "shape"], [[n, str(s)] for n, s in named])] if named else [], chapter=9)  # fmt: skip


@row(TypeError, r"^(len\(\) of|iteration over) a 0-d tensor")
def no_dimension(m: Moment, found) -> Answer:
    return Answer("A 0-d tensor is a single number", "It has no dimension to count or to walk along.",
                  "`x.item()` gives the number, `x.reshape(1)` a vector of one. If a list was expected: an earlier `sum` or `mean` has reduced it.", chapter=9)  # fmt: skip
